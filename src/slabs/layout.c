/* The arithmetic of slabs, panels and parts. Everything is in 64 bits, and no count passes the length of an axis, so
 * that MPI may have it.
 *
 * Slabs divide `axis`, the slowest measured one. Lines along it are shared out by their place along another one, `cut`: rank r
 * owns an even share of its n_cut places, and a panel is the next `width` places of every rank's share. `cut` is the slowest
 * axis after `axis` that has a place for every rank, so that what one rank sends another consists of long runs; where there is
 * none, the longest.
 */
#include "slabs/slabs.h"

struct dms_slab dms_share(int64_t n, int parts, int i) {
    const int64_t each = n / parts, more = n % parts; /* the first `more` parts have one more */
    const int64_t first = each * i + (i < more ? i : more);
    return (struct dms_slab){first, each + (i < more)};
}

void dms_layout_make(const distmap_problem *p, int size, struct dms_layout *l) {
    l->ndim = p->ndim > 1 ? p->ndim : 2;
    l->size = size;
    for (int a = 0; a < DISTMAP_MAX_NDIM; a++)
        l->shape[a] = a < p->ndim ? p->shape[a] : 1;
    l->axis = p->axes ? __builtin_ctz(p->axes) : 0;
    l->kinds = dms_kinds_of(p);
    l->cut = l->axis == 0 ? 1 : 0;
    for (int a = 0; a < l->ndim; a++)
        if (a != l->axis && l->shape[a] > l->shape[l->cut])
            l->cut = a;
    for (int a = l->ndim - 1; a > l->axis; a--)
        if (l->shape[a] >= size)
            l->cut = a;
}

void dms_layout_panels(struct dms_layout *l, size_t bytes, size_t each) {
    const int64_t share = dms_share(l->shape[l->cut], l->size, 0).count; /* the largest */
    double sheet = (double)each;
    for (int a = 0; a < l->ndim; a++)
        sheet *= a == l->cut ? 1 : (double)l->shape[a];
    l->panels = l->width = 0;
    if (share == 0 || sheet == 0)
        return;
    const double fits = (double)bytes / sheet;
    l->width = fits < 1 ? 1 : fits < (double)share ? (int64_t)fits : share;
    l->panels = (share + l->width - 1) / l->width;
    l->width = (share + l->panels - 1) / l->panels; /* all of about the same size */
}

distmap_status dms_slabs_check(const struct dms_layout *l) {
    int64_t next = 0;
    for (int r = 0; r < l->size; r++) {
        const struct dms_slab *s = &l->slabs[r];
        if (s->count < 0)
            return bad("rank %d: count is %lld, must be at least 0", r, (long long)s->count);
        if (s->count == 0)
            continue;
        if (s->first != next || s->count > l->shape[l->axis] - next)
            return bad("rank %d: first is %lld and count %lld: slabs of axis %d must follow each other in the order of "
                       "the ranks, and the next slice is %lld of %lld",
                       r, (long long)s->first, (long long)s->count, l->axis, (long long)next,
                       (long long)l->shape[l->axis]);
        next += s->count;
    }
    if (next != l->shape[l->axis])
        return bad("slices %lld to %lld of axis %d are on no rank", (long long)next, (long long)l->shape[l->axis] - 1,
                   l->axis);
    return DISTMAP_OK;
}

int64_t dms_box_elements(const struct dms_layout *l, const struct dms_box *box) {
    int64_t elements = 1;
    for (int a = 0; a < l->ndim; a++)
        elements *= box->hi[a] - box->lo[a];
    return elements;
}

struct dms_box dms_panel_part(const struct dms_layout *l, int64_t panel, int rank) {
    struct dms_box box = {0};
    for (int a = 0; a < l->ndim; a++)
        box.hi[a] = l->shape[a];
    const struct dms_slab share = dms_share(l->shape[l->cut], l->size, rank);
    const int64_t skipped = panel * l->width < share.count ? panel * l->width : share.count;
    const int64_t left = share.count - skipped;
    box.lo[l->cut] = share.first + skipped;
    box.hi[l->cut] = box.lo[l->cut] + (left < l->width ? left : l->width);
    return box;
}

struct dms_box dms_box_in_slab(const struct dms_layout *l, struct dms_box lines, int rank) {
    lines.lo[l->axis] = l->slabs[rank].count ? l->slabs[rank].first : 0;
    lines.hi[l->axis] = lines.lo[l->axis] + l->slabs[rank].count;
    return lines;
}

bool dms_box_next(const struct dms_box *box, int axes, int64_t at[DISTMAP_MAX_NDIM]) {
    for (int a = axes - 1; a >= 0; a--) {
        if (++at[a] < box->hi[a])
            return true;
        at[a] = box->lo[a];
    }
    return false;
}

#define DEFINE_SHIFT(T)                                             \
    static void shift_##T(T *site, int64_t count, int64_t shift) {  \
        for (int64_t i = 0; i < count; i++)                         \
            site[i] = site[i] < 0 ? site[i] : (T)(site[i] + shift); \
    }
DEFINE_SHIFT(int32_t)
DEFINE_SHIFT(int64_t)

void dms_indices_shift(void *indices, distmap_dtype dtype, int64_t count, int64_t shift) {
    if (dtype == DISTMAP_INT32)
        shift_int32_t(indices, count, shift);
    else
        shift_int64_t(indices, count, shift);
}

/* With o the number of the batch before the axis, z the slice and p the place in it, of P, the slab says (o count + z) P + p
 * and the image (o n + first + z) P + p. */
int64_t dms_index_shift(const struct dms_layout *l, int rank, const int64_t at[DISTMAP_MAX_NDIM]) {
    int64_t batch = 0, slice = 1;
    for (int a = 0; a < l->axis; a++)
        batch = batch * l->shape[a] + at[a];
    for (int a = l->axis + 1; a < l->ndim; a++)
        slice *= l->shape[a];
    const struct dms_slab *s = &l->slabs[rank];
    return (batch * (l->shape[l->axis] - s->count) + s->first) * slice;
}
