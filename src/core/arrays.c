/* Checks the views given to execute against the plan and against each other, and brings them into normal form. */
#include <stdint.h>

#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

struct span {
    uintptr_t first, last; /* bytes touched: [first, last] */
};

/* First and last byte of a view with elements. False when its strides leave the address space. */
static bool view_span(const distmap_view *v, struct span *span) {
    int64_t low = 0, high = (int64_t)distmap_dtype_size(v->dtype) - 1;
    for (int a = 0; a < v->ndim; a++) {
        int64_t reach;
        if (__builtin_mul_overflow(v->strides[a], v->shape[a] - 1, &reach) ||
            __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
            return false;
    }
    const uintptr_t data = (uintptr_t)v->data;
    const uintptr_t below = 0 - (uintptr_t)low;
    if (below > data || (uintptr_t)high > UINTPTR_MAX - data)
        return false;
    span->first = data - below;
    span->last = data + (uintptr_t)high;
    return true;
}

/* Distinct elements of an output must not share bytes: sorted by size, each stride passes what the smaller ones span. With
 * `apart`, of the view and a second one like it, so many bytes away: one more axis, of length 2. */
static bool strides_overlap(const distmap_view *v, int64_t apart) {
    int64_t stride[DISTMAP_MAX_AXES + 1], length[DISTMAP_MAX_AXES + 1];
    int n = 0;
    for (int a = 0; a <= v->ndim; a++) {
        const int64_t count = a < v->ndim ? v->shape[a] : apart ? 2 : 1, step = a < v->ndim ? v->strides[a] : apart;
        if (count == 1)
            continue;
        const int64_t s = step < 0 ? -step : step;
        int at = n++;
        for (; at > 0 && stride[at - 1] > s; at--) {
            stride[at] = stride[at - 1];
            length[at] = length[at - 1];
        }
        stride[at] = s;
        length[at] = count;
    }
    uint64_t extent = distmap_dtype_size(v->dtype); /* at most twice a span that fits the address space */
    for (int i = 0; i < n; i++) {
        if ((uint64_t)stride[i] < extent)
            return true;
        extent += (uint64_t)stride[i] * (uint64_t)(length[i] - 1);
    }
    return false;
}

static bool are_alike(const distmap_view *a, const distmap_view *b) {
    for (int k = 0; k < a->ndim; k++)
        if (a->ndim != b->ndim || a->shape[k] != b->shape[k] || a->strides[k] != b->strides[k])
            return false;
    return a->dtype == b->dtype;
}

/* Views whose spans meet may still take turns, as coordinate planes of one interleaved array do: planes alike are one view
 * with an axis more. All of a view's addresses are equal modulo the common divisor of the strides, so views whose elements
 * stay apart modulo that never touch. */
static bool views_interleave(const distmap_view *a, const distmap_view *b) {
    if (a->data != b->data && are_alike(a, b) &&
        !strides_overlap(a, (int64_t)((uintptr_t)a->data - (uintptr_t)b->data)))
        return true;
    uint64_t divisor = 0;
    const distmap_view *const views[] = {a, b};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < views[i]->ndim; k++) {
            if (views[i]->shape[k] == 1)
                continue;
            const int64_t s = views[i]->strides[k];
            divisor = dm_common_divisor(divisor, s < 0 ? 0 - (uint64_t)s : (uint64_t)s);
        }
    if (divisor == 0)
        return false;
    const uint64_t gap = ((uintptr_t)b->data % divisor + divisor - (uintptr_t)a->data % divisor) % divisor;
    return gap >= distmap_dtype_size(a->dtype) && gap + distmap_dtype_size(b->dtype) <= divisor;
}

struct shape {
    int ndim;
    const int64_t *length;
};

static distmap_status check_view(const distmap_plan *plan, const char *name, const distmap_view *v, distmap_dtype dtype,
                                 struct shape shape, bool output, dm_array *normal, struct span *span) {
    if (dtype == DISTMAP_NONE) {
        if (v->data)
            return bad("arrays.%s is given, but the problem does not ask for it", name);
        return DISTMAP_OK;
    }
    if (v->dtype != dtype)
        return bad("arrays.%s has dtype %s, the problem says %s", name,
                   distmap_dtype_name(v->dtype) ? distmap_dtype_name(v->dtype) : "?", distmap_dtype_name(dtype));
    if (v->ndim != shape.ndim)
        return bad("arrays.%s has ndim %d, the problem says %d", name, v->ndim, shape.ndim);
    for (int a = 0; a < shape.ndim; a++)
        if (v->shape[a] != shape.length[a])
            return bad("arrays.%s has shape[%d] = %lld, the problem says %lld", name, a, (long long)v->shape[a],
                       (long long)shape.length[a]);
    if (plan->elements == 0)
        return DISTMAP_OK;
    if (!v->data)
        return bad("arrays.%s is NULL", name);
    const int64_t size = (int64_t)distmap_dtype_size(dtype);
    if ((uintptr_t)v->data % (uintptr_t)size)
        return bad("arrays.%s: data is not aligned to its %lld-byte elements", name, (long long)size);
    if (v->space != DISTMAP_SPACE_HOST && v->space != DISTMAP_SPACE_CUDA)
        return bad("arrays.%s: space is %d, must be HOST or CUDA", name, (int)v->space);
    TRY(plan->context->device->check_view(plan, name, v));
    *normal = (dm_array){.data = v->data, .dtype = dtype, .space = v->space};
    for (int a = 0; a < shape.ndim; a++) {
        if (v->strides[a] % size && v->shape[a] > 1)
            return bad("arrays.%s: strides[%d] = %lld is not a multiple of its %lld-byte elements", name, a,
                       (long long)v->strides[a], (long long)size);
        if (v->strides[a] == INT64_MIN)
            return bad("arrays.%s: strides[%d] is out of range", name, a);
        const int to = plan->split.given.ndim ? dm_split_place(&plan->split, a) : plan->place[a] + DM_NDIM - shape.ndim;
        if (to >= 0)
            normal->stride[to] = v->shape[a] > 1 ? v->strides[a] : 0;
    }
    if (!view_span(v, span))
        return bad("arrays.%s: strides reach beyond the address space", name);
    if (output && strides_overlap(v, 0))
        return bad("arrays.%s: its strides make elements overlap", name);
    return DISTMAP_OK;
}

/* Where the coordinates along an axis of the caller's go: those of batches are finished by split.c. */
static dm_array *coord_of(const distmap_plan *plan, const distmap_problem *p, int a, dm_arrays *normal,
                          dm_array *none) {
    if (plan->split.given.ndim)
        return p->axes >> a & 1 ? &normal->coords[dm_split_place(&plan->split, a)] : none;
    return a < p->ndim ? &normal->coords[a + DM_NDIM - p->ndim] : none;
}

distmap_status dm_arrays_check(const distmap_plan *plan, const distmap_arrays *arrays, dm_arrays *normal) {
    enum { INPUTS = 5, OTHERS = 16 }; /* how many of the entries are inputs, and how many there are but for coords */
    static const char *const coord_names[] = {"coords[0]", "coords[1]", "coords[2]", "coords[3]",
                                              "coords[4]", "coords[5]", "coords[6]", "coords[7]"};
    const dm_split *split = plan->split.given.ndim ? &plan->split : NULL;
    const distmap_problem *p = split ? &split->given : &plan->problem;
    if (!arrays)
        return bad("arrays is NULL");
    *normal = (dm_arrays){0};
    dm_array none[DISTMAP_MAX_AXES] = {{0}};
    int64_t extent[DISTMAP_MAX_AXES] = {0}; /* along the caller's axes */
    for (int a = 0; a < p->ndim; a++)
        extent[a] = split ? p->shape[a] : p->shape[plan->place[a]];
    extent[0] = p->window.count ? p->window.count : extent[0];
    const int64_t points[] = {p->cvt.points, p->ndim}, steps[] = {p->cvt.steps + 1};
    struct entry {
        const char *name;
        const distmap_view *view;
        distmap_dtype dtype;
        dm_array *normal;
    } entries[OTHERS + DISTMAP_MAX_AXES] = {
        {"input", &arrays->input, p->dtype, &normal->input},
        {"payload", &arrays->payload, p->payload, &normal->payload},
        {"other", &arrays->other, p->comparison.other, &normal->other},
        {"before", &arrays->before, p->window.count ? DISTMAP_INT32 : DISTMAP_NONE, &normal->before},
        {"after", &arrays->after, p->window.count ? DISTMAP_INT32 : DISTMAP_NONE, &normal->after},
        {"distance", &arrays->distance, p->want.distance, &normal->distance},
        {"squared", &arrays->squared, p->want.squared, &normal->squared},
        {"index", &arrays->index, p->want.index, &normal->index},
        {"label", &arrays->label, p->want.label, &normal->label},
        {"strength", &arrays->strength, p->want.strength, &normal->strength},
        {"within", &arrays->within, p->want.within, &normal->within},
        {"beyond", &arrays->beyond, p->want.beyond, &normal->beyond},
        {"mask", &arrays->mask, p->want.mask, &normal->mask},
        {"sites", &arrays->sites, p->want.sites, &normal->sites},
        {"centroids", &arrays->centroids, p->want.centroids, &normal->centroids},
        {"energies", &arrays->energies, p->want.energies, &normal->energies},
    };
    int count = OTHERS;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) /* those of axes that the problem has not must stay zero */
        entries[count++] =
            (struct entry){coord_names[a], &arrays->coords[a], a < p->ndim ? p->want.coords : DISTMAP_NONE,
                           coord_of(plan, p, a, normal, &none[a])};
    struct span spans[OTHERS + DISTMAP_MAX_AXES] = {{0, 0}};
    for (int i = 0; i < count; i++) {
        const struct entry *e = &entries[i];
        const struct shape shape =
            e->view == &arrays->sites || e->view == &arrays->centroids ? (struct shape){2, points}
            : e->view == &arrays->energies                             ? (struct shape){1, steps}
            : e->view == &arrays->before || e->view == &arrays->after  ? (struct shape){1, extent + 1}
                                                                       : (struct shape){p->ndim, extent};
        TRY(check_view(plan, e->name, e->view, e->dtype, shape, i >= INPUTS, e->normal, &spans[i]));
    }
    for (int i = INPUTS; i < count; i++)
        for (int j = 0; j < i; j++)
            if (entries[i].normal->data && entries[j].normal->data && spans[i].first <= spans[j].last &&
                spans[j].first <= spans[i].last && !views_interleave(entries[i].view, entries[j].view))
                return bad("arrays.%s and arrays.%s overlap in memory", entries[j].name, entries[i].name);
    return dm_window_rows_check(plan, normal);
}
