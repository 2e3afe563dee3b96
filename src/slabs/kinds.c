/* Labels and signed maps in slabs: the sites of an element are the elements of another kind, of another label or of the other side.
 *
 * In a slice that gives f, the squared distance to the nearest element of another kind. Along a line through (y, x)
 *
 *     out(z) = min over z' of F(z') + w^2 (z - z')^2,    F(z') = f(z') if z' is of the kind of z, else 0,
 *
 * since an element of another kind is a site itself. So the elements of a run of one kind see their own f between two zeros, and what
 * lies behind these is farther. Runs alternate between two *classes*: signed maps have two sides, and the runs of labels are numbered
 * along the line and taken modulo 2. If the samples of class 1 are zeros, the transform of the line is right for all elements of
 * class 0, and the other way round. Two transforms of sampled functions, of which each gives its class, are thus exact, in all
 * arithmetics and with all outputs; a zero is its own nearest site.
 */
#include <string.h>

#include "slabs/slabs.h"

enum dms_kinds dms_kinds_of(const distmap_problem *p) {
    return p->sign ? DMS_SIDES : p->input == DISTMAP_INPUT_LABELS ? DMS_LABELS : DMS_NO_KINDS;
}

distmap_dtype dms_kinds_dtype(const distmap_problem *p, enum dms_kinds kinds) {
    return kinds == DMS_NO_KINDS ? DISTMAP_NONE : kinds == DMS_LABELS ? p->dtype : DISTMAP_UINT8;
}

distmap_problem dms_without_sign(const distmap_problem *problem) {
    distmap_problem p = *problem;
    if (!p.sign)
        return p;
    p.input = DISTMAP_INPUT_LABELS;
    p.dtype = DISTMAP_UINT8;
    p.sites = (distmap_sites){.rule = DISTMAP_SITES_NONE};
    p.sign = DISTMAP_SIGN_NONE;
    p.surface = DISTMAP_SURFACE_CENTRE;
    return p;
}

/* Sites are the elements within half a pitch of one. */
distmap_problem dms_sides_of(const distmap_problem *normal, const int64_t shape[DISTMAP_MAX_NDIM]) {
    distmap_problem p = {.dtype = normal->dtype,
                         .ndim = normal->ndim,
                         .sites = normal->sites,
                         .limit = 0.5,
                         .want.within = DISTMAP_UINT8};
    memcpy(p.shape, shape, (size_t)p.ndim * sizeof *shape);
    return p;
}

/* ---- Changes of labels ---- */

/* changes[i] = whether a[i] and b[i] differ, or `by` that. */
#define DEFINE_DIFFER(T)                                                                                 \
    static void differ_##T(const T *a, const T *b, const uint8_t *by, int64_t count, uint8_t *changes) { \
        if (by)                                                                                          \
            for (int64_t i = 0; i < count; i++)                                                          \
                changes[i] = by[i] ^ (a[i] != b[i]);                                                     \
        else                                                                                             \
            for (int64_t i = 0; i < count; i++)                                                          \
                changes[i] = a[i] != b[i];                                                               \
    }
DEFINE_DIFFER(uint8_t)
DEFINE_DIFFER(uint16_t)
DEFINE_DIFFER(uint32_t)
DEFINE_DIFFER(uint64_t)

/* A byte of a bool may be any but 0. */
static void differ_truth(const uint8_t *a, const uint8_t *b, const uint8_t *by, int64_t count, uint8_t *changes) {
    for (int64_t i = 0; i < count; i++)
        changes[i] = (by ? by[i] : 0) ^ (!a[i] != !b[i]);
}

static void differ(distmap_dtype dtype, const void *a, const void *b, const uint8_t *by, int64_t count,
                   uint8_t *changes) {
    switch (dtype == DISTMAP_BOOL ? 0 : distmap_dtype_size(dtype)) {
    case 0: differ_truth(a, b, by, count, changes); break;
    case 1: differ_uint8_t(a, b, by, count, changes); break;
    case 2: differ_uint16_t(a, b, by, count, changes); break;
    case 4: differ_uint32_t(a, b, by, count, changes); break;
    default: differ_uint64_t(a, b, by, count, changes); break;
    }
}

void dms_find_changes(const distmap_view *labels, const void *before, uint8_t *changes) {
    const char *at = labels->data;
    int64_t slice = 1;
    for (int a = 1; a < labels->ndim; a++)
        slice *= labels->shape[a];
    const size_t bytes = (size_t)slice * distmap_dtype_size(labels->dtype);
    for (int64_t z = 0; z < labels->shape[0]; z++, at += bytes, changes += slice) {
        const void *last = z ? at - bytes : before;
        if (last)
            differ(labels->dtype, at, last, NULL, slice, changes);
        else
            memset(changes, 0, (size_t)slice);
    }
}

/* ---- Classes ---- */

bool dms_find_classes(const struct dms_layout *l, const distmap_view *kind, uint8_t *classes) {
    int64_t lines = 1, row = 1;
    for (int a = 0; a < kind->ndim; a++)
        *(a < l->axis ? &lines : &row) *= a == l->axis ? 1 : kind->shape[a];
    const int64_t n = kind->shape[l->axis], size = (int64_t)distmap_dtype_size(kind->dtype);
    const char *at = kind->data;
    uint8_t some = 0;
    if (l->kinds == DMS_SIDES)
        return true;
    for (int64_t i = 0; i < lines * n; i++, at += row * size, classes += row) {
        if (i % n == 0)
            memset(classes, 0, (size_t)row);
        else if (l->kinds == DMS_LABELS)
            differ(kind->dtype, at, at - row * size, classes - row, row, classes);
        else
            for (int64_t x = 0; x < row; x++)
                classes[x] ^= classes[x - row];
        for (int64_t x = 0; x < row; x++)
            some |= classes[x];
    }
    return some;
}

#define DEFINE_CLASSES(T)                                                                                 \
    /* Zeros in `own` where the class is 1, in `other` where it is 0. */                                  \
    static void divide_##T(const uint8_t *classes, int64_t count, T *own, T *other) {                     \
        for (int64_t i = 0; i < count; i++) {                                                             \
            const T mask = (T) - (T)classes[i], value = own[i];                                           \
            other[i] = value & mask;                                                                      \
            own[i] = value & ~mask;                                                                       \
        }                                                                                                 \
    }                                                                                                     \
    /* There the site is the element itself, number `from` and those that follow. */                      \
    static void divide_sites_##T(const uint8_t *classes, int64_t count, int64_t from, T *own, T *other) { \
        for (int64_t i = 0; i < count; i++) {                                                             \
            const T value = own[i], self = (T)(from + i);                                                 \
            other[i] = classes[i] ? value : self;                                                         \
            own[i] = classes[i] ? self : value;                                                           \
        }                                                                                                 \
    }                                                                                                     \
    static void join_##T(const uint8_t *classes, int64_t count, T *own, const T *other) {                 \
        for (int64_t i = 0; i < count; i++)                                                               \
            own[i] = classes[i] ? other[i] : own[i];                                                      \
    }
DEFINE_CLASSES(uint32_t)
DEFINE_CLASSES(uint64_t)

static int64_t elements_of(const distmap_view *view) {
    int64_t elements = 1;
    for (int a = 0; a < view->ndim; a++)
        elements *= view->shape[a];
    return elements;
}

static void divide_sites(const struct dms_layout *l, const struct dms_box *part, const uint8_t *classes,
                         const distmap_view *own, const distmap_view *other) {
    const int x = l->ndim - 1;
    const int64_t run = part->hi[x] - part->lo[x];
    int64_t done = 0, at[DISTMAP_MAX_NDIM];
    memcpy(at, part->lo, sizeof at);
    do {
        int64_t from = 0;
        for (int a = 0; a < l->ndim; a++)
            from = from * l->shape[a] + at[a];
        if (own->dtype == DISTMAP_INT32)
            divide_sites_uint32_t(classes + done, run, from, (uint32_t *)own->data + done,
                                  (uint32_t *)other->data + done);
        else
            divide_sites_uint64_t(classes + done, run, from, (uint64_t *)own->data + done,
                                  (uint64_t *)other->data + done);
        done += run;
    } while (dms_box_next(part, x, at));
}

void dms_classes_divide(const struct dms_layout *l, const struct dms_box *part, const uint8_t *classes,
                        struct dms_panel *own, struct dms_panel *other) {
    const int64_t count = elements_of(&own->sample);
    if (distmap_dtype_size(own->sample.dtype) == 4)
        divide_uint32_t(classes, count, own->sample.data, other->sample.data);
    else
        divide_uint64_t(classes, count, own->sample.data, other->sample.data);
    if (own->payload.data)
        divide_sites(l, part, classes, &own->payload, &other->payload);
}

void dms_classes_join(const uint8_t *classes, const distmap_view *own, const distmap_view *other) {
    if (!own->data)
        return;
    if (distmap_dtype_size(own->dtype) == 4)
        join_uint32_t(classes, elements_of(own), own->data, other->data);
    else
        join_uint64_t(classes, elements_of(own), own->data, other->data);
}

/* ---- Signs ---- */

/* As the core has it: the surface is rounded to the type, and so is the difference. */
#define DEFINE_SIGN(T)                                                                         \
    static void sign_##T(const uint8_t *shape, int64_t count, T surface, T within, T *value) { \
        for (int64_t i = 0; i < count; i++)                                                    \
            value[i] = (value[i] - surface) * (shape[i] ? within : -within);                   \
    }
DEFINE_SIGN(float)
DEFINE_SIGN(double)

/* Half a pitch, as the core understands it: the distance of two neighbours, less that half. */
distmap_status dms_find_surface(distmap_context *context, const distmap_problem *normal, double *surface) {
    uint8_t pair[2] = {0, 1};
    const int64_t shape[1] = {2};
    double distance[2] = {0};
    const distmap_arrays arrays = {.input = distmap_view_make(pair, DISTMAP_UINT8, 1, shape),
                                   .distance = distmap_view_make(distance, DISTMAP_FLOAT64, 1, shape)};
    *surface = 0;
    for (int a = 0; normal->surface == DISTMAP_SURFACE_HALF && a < normal->ndim; a++) {
        const distmap_problem p = {.dtype = DISTMAP_UINT8,
                                   .ndim = 1,
                                   .shape = {2},
                                   .spacing = {normal->spacing[a]},
                                   .sign = DISTMAP_SIGN_OUTSIDE,
                                   .surface = DISTMAP_SURFACE_HALF,
                                   .want.distance = DISTMAP_FLOAT64};
        distmap_plan *plan = NULL;
        size_t bytes = 0;
        if (!(normal->axes >> a & 1))
            continue;
        distmap_status status = dms_plan_make(context, &p, &plan, &bytes);
        if (status == DISTMAP_OK)
            status = distmap_plan_execute(plan, &arrays);
        if (status == DISTMAP_OK)
            status = distmap_plan_wait(plan);
        distmap_plan_destroy(&plan);
        TRY(status);
        *surface = *surface == 0 || distance[1] < *surface ? distance[1] : *surface;
    }
    return DISTMAP_OK;
}

void dms_sign(const distmap_problem *p, double surface, const uint8_t *shape, const distmap_view *view) {
    const int within = p->sign == DISTMAP_SIGN_INSIDE ? 1 : -1;
    if (!view->data)
        return;
    if (view->dtype == DISTMAP_FLOAT32)
        sign_float(shape, elements_of(view), (float)surface, (float)within, view->data);
    else
        sign_double(shape, elements_of(view), surface, within, view->data);
}
