/* Writes rows: border, limit, then every wanted output in its type and stride.
 *
 * The border counts as sites on all sides of the measured axes, one element outside. Its squared distance from an element
 * is min over measured axes a of w[a]^2 * k^2, k = min(i + 1, n - i): the foot of the perpendicular always exists. It takes
 * the element only when strictly nearer, so a site inside wins ties. The limit comes after it and may remove either.
 *
 * Metrics other than the Euclidean have the distances themselves where squares stand here: the border is k steps away, and
 * distances are stored as they are.
 *
 * Distances and squares in floats are those of cpu/lengths.h.
 */
#include "cpu/lengths.h"
#include "cpu/rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 256 }; /* elements of a row that are processed at once with a buffer */

/* ---- Border and limit ---- */

/* Distance to the image's border along axis `a` from coordinate i of the plan's, in elements. */
static int64_t border_steps(const distmap_plan *plan, int a, int64_t i) {
    i += a == 2 ? plan->first_row : 0;
    const int64_t before = i + 1, after = dm_image_length(plan, a) - i;
    return before < after ? before : after;
}

static inline uint64_t border_integer(const distmap_plan *plan, int a, uint64_t k) {
    return plan->w2[a] * (k * k) + plan->chamfer.step[1] * k; /* one of the two is zero */
}
static inline double border_f64(const distmap_plan *plan, int a, double k) { return plan->w2f[a] * (k * k); }

/* T: type of squared distances; B: type of border distances, which may pass a narrow T before the minimum is taken. */
#define DEFINE_BORDER(T, B, cost, most)                                                                    \
    static void border_##T(const distmap_plan *plan, const int64_t at[DM_NDIM], int64_t count, T *squared, \
                           int64_t *site, const uint8_t *spared) {                                         \
        B row = most;                                                                                      \
        for (int a = 0; a < DM_X; a++)                                                                     \
            if (plan->measured[a]) {                                                                       \
                const B d = cost(plan, a, (B)border_steps(plan, a, at[a]));                                \
                row = d < row ? d : row;                                                                   \
            }                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                              \
            B nearest = row;                                                                               \
            if (plan->measured[DM_X]) {                                                                    \
                const B d = cost(plan, DM_X, (B)border_steps(plan, DM_X, at[DM_X] + i));                   \
                nearest = d < row ? d : row;                                                               \
            }                                                                                              \
            if (nearest < squared[i] && !(spared && spared[i])) {                                          \
                squared[i] = (T)nearest;                                                                   \
                if (site)                                                                                  \
                    site[i] = DISTMAP_INDEX_BORDER;                                                        \
            }                                                                                              \
        }                                                                                                  \
    }
DEFINE_BORDER(uint32_t, uint64_t, border_integer, UINT64_MAX)
DEFINE_BORDER(uint64_t, uint64_t, border_integer, UINT64_MAX)
DEFINE_BORDER(double, double, border_f64, (double)INFINITY)

/* Beyond `limit`: none. Returns whether the row has an element with no site. */
#define DEFINE_LIMIT(T, none)                                                  \
    static bool limit_##T(int64_t count, T limit, T *squared, int64_t *site) { \
        bool any = false;                                                      \
        for (int64_t i = 0; i < count; i++) {                                  \
            const bool far = squared[i] > limit;                               \
            squared[i] = far ? (none) : squared[i];                            \
            any |= far;                                                        \
        }                                                                      \
        for (int64_t i = 0; any && site && i < count; i++)                     \
            site[i] = squared[i] == (none) ? DISTMAP_INDEX_NONE : site[i];     \
        return any;                                                            \
    }
DEFINE_LIMIT(uint32_t, UINT32_MAX)
DEFINE_LIMIT(uint64_t, UINT64_MAX)
DEFINE_LIMIT(double, (double)INFINITY)

/* `spared`: elements for which the border is not a site; NULL: none. */
static void border_run(const distmap_plan *plan, const int64_t at[DM_NDIM], int64_t count, void *squared, int64_t *site,
                       const uint8_t *spared) {
    switch (plan->number) {
    case DM_U32: border_uint32_t(plan, at, count, squared, site, spared); break;
    case DM_U64: border_uint64_t(plan, at, count, squared, site, spared); break;
    case DM_F64: border_double(plan, at, count, squared, site, spared); break;
    }
}

/* In a signed map the outside of the image counts as the shape: it is a site for the elements outside the shape. */
static void apply_border(distmap_plan *plan, const dm_arrays *arrays, const int64_t at[DM_NDIM], int64_t count,
                         void *squared, int64_t *site) {
    if (!plan->problem.sign) {
        border_run(plan, at, count, squared, site, NULL);
        return;
    }
    const size_t size = dm_number_size(plan->number);
    int64_t from[DM_NDIM] = {at[0], at[1], at[2], at[3]};
    uint8_t shape[BLOCK];
    for (int64_t done = 0; done < count; done += BLOCK, from[DM_X] += BLOCK) {
        const int64_t n = count - done < BLOCK ? count - done : BLOCK;
        dm_row_sites(plan, &arrays->input, from, n, shape);
        border_run(plan, from, n, (char *)squared + (size_t)done * size, site ? site + done : NULL, shape);
    }
}

static void finish_row(distmap_plan *plan, const dm_arrays *arrays, const int64_t at[DM_NDIM], int64_t count,
                       void *squared, int64_t *site) {
    const bool limited = plan->limited;
    bool none = false;
    if (plan->problem.border)
        apply_border(plan, arrays, at, count, squared, site);
    switch (plan->number) {
    case DM_U32: none = limit_uint32_t(count, limited ? (uint32_t)plan->limit2 : UINT32_MAX - 1, squared, site); break;
    case DM_U64: none = limit_uint64_t(count, limited ? plan->limit2 : UINT64_MAX - 1, squared, site); break;
    case DM_F64: none = limit_double(count, limited ? fmin(plan->limit2f, DBL_MAX) : DBL_MAX, squared, site); break;
    }
    dm_flag(plan, none ? DISTMAP_FLAG_NO_SITE : 0);
}

/* ---- Distances ---- */

/* Stores f(x) for each x of a row as OUT; a contiguous row has its own loop so that it becomes SIMD. */
#define STORE_ROW(OUT, expression)                            \
    do {                                                      \
        if (stride == (int64_t)sizeof(OUT))                   \
            for (int64_t i = 0; i < count; i++)               \
                ((OUT *)p)[i] = (OUT)(expression);            \
        else                                                  \
            for (int64_t i = 0; i < count; i++)               \
                *(OUT *)(p + i * stride) = (OUT)(expression); \
    } while (0)

static void store_lengths(const distmap_plan *plan, dm_length length, const void *squared, int64_t count,
                          distmap_dtype dtype, char *p, int64_t stride) {
    const int64_t size = (int64_t)distmap_dtype_size(dtype), step = (int64_t)dm_number_size(plan->number);
    if (stride == size) {
        dm_lengths(plan, length, squared, count, dtype, p);
        return;
    }
    double block[BLOCK];
    for (int64_t done = 0; done < count; done += BLOCK) {
        const int64_t n = count - done < BLOCK ? count - done : BLOCK;
        dm_lengths(plan, length, (const char *)squared + done * step, n, dtype, block);
        for (int64_t i = 0; i < n; i++)
            memcpy(p + (done + i) * stride, (const char *)block + i * size, (size_t)size);
    }
}

/* Integers to integers, in the caller's unit: "none" is all ones in either width. Samples may carry a result beyond what the output
 * holds, which no check beforehand can tell. */
static void squared_integers(distmap_plan *plan, const void *squared, int64_t count, distmap_dtype dtype, char *p,
                             int64_t stride) {
    const uint32_t *narrow = squared;
    const uint64_t *wide = squared, whole = plan->unit.whole;
    const uint64_t most = (dtype == DISTMAP_UINT32 ? UINT32_MAX : UINT64_MAX) / whole;
    if (plan->number == DM_U32 && dtype == DISTMAP_UINT32 && whole == 1) {
        STORE_ROW(uint32_t, narrow[i]);
        return;
    }
    bool fits = true;
    for (int64_t i = 0; i < count; i++) {
        const bool none = plan->number == DM_U32 ? narrow[i] == UINT32_MAX : wide[i] == UINT64_MAX;
        const uint64_t n = plan->number == DM_U32 ? narrow[i] : wide[i], value = none ? UINT64_MAX : n * whole;
        fits &= none || (n <= most && value < dm_dtype_max(dtype));
        if (dtype == DISTMAP_UINT32)
            *(uint32_t *)(p + i * stride) = (uint32_t)value;
        else
            *(uint64_t *)(p + i * stride) = value;
    }
    if (!fits)
        dm_fail(plan, DISTMAP_ERROR_VALUE);
}

/* Whole distances as a type that holds them, and its largest value for "none". */
#define DEFINE_STORE_WHOLE(T, none)                                                                         \
    static void whole_##T(const T *distance, int64_t count, distmap_dtype dtype, char *p, int64_t stride) { \
        const uint64_t most = dm_dtype_max(dtype);                                                          \
        switch (distmap_dtype_size(dtype)) {                                                                \
        case 1: STORE_ROW(uint8_t, distance[i] == (none) ? most : distance[i]); break;                      \
        case 2: STORE_ROW(uint16_t, distance[i] == (none) ? most : distance[i]); break;                     \
        case 4: STORE_ROW(uint32_t, distance[i] == (none) ? most : distance[i]); break;                     \
        default: STORE_ROW(uint64_t, distance[i] == (none) ? most : distance[i]); break;                    \
        }                                                                                                   \
    }
DEFINE_STORE_WHOLE(uint32_t, UINT32_MAX)
DEFINE_STORE_WHOLE(uint64_t, UINT64_MAX)

static void emit_distance(distmap_plan *plan, const dm_array *out, char *p, int64_t count, const void *squared) {
    const int64_t stride = out->stride[DM_X];
    if (dm_is_euclidean(&plan->chamfer))
        store_lengths(plan, DM_DISTANCE, squared, count, out->dtype, p, stride);
    else if (dm_dtype_is_float(out->dtype))
        store_lengths(plan, DM_SQUARE, squared, count, out->dtype, p, stride); /* they are whole, as squares are */
    else if (plan->number == DM_U32)
        whole_uint32_t(squared, count, out->dtype, p, stride);
    else
        whole_uint64_t(squared, count, out->dtype, p, stride);
}

static void emit_squared(distmap_plan *plan, const dm_array *out, char *p, int64_t count, const void *squared) {
    if (dm_dtype_is_float(out->dtype))
        store_lengths(plan, DM_SQUARE, squared, count, out->dtype, p, out->stride[DM_X]);
    else
        squared_integers(plan, squared, count, out->dtype, p, out->stride[DM_X]);
}

/* ---- Sites: index, coordinates, label, a block at a time ---- */

static void store_integers(const int64_t *values, int64_t count, distmap_dtype dtype, char *p, int64_t stride) {
    switch (distmap_dtype_size(dtype)) { /* two's complement: signed and unsigned are stored alike */
    case 1:
        if (dtype == DISTMAP_BOOL)
            STORE_ROW(uint8_t, values[i] != 0);
        else
            STORE_ROW(uint8_t, values[i]);
        break;
    case 2: STORE_ROW(uint16_t, values[i]); break;
    case 4: STORE_ROW(uint32_t, values[i]); break;
    default: STORE_ROW(uint64_t, values[i]); break;
    }
}

/* Coordinate along each axis of every site of the block; a negative site is its own coordinate. */
static void split_sites(const distmap_plan *plan, const int64_t *site, int64_t count, int64_t coords[DM_NDIM][BLOCK]) {
    for (int64_t i = 0; i < count; i++) {
        uint64_t rest = site[i] < 0 ? 0 : (uint64_t)site[i];
        for (int a = DM_X; a >= 0; a--) {
            const uint64_t n = (uint64_t)plan->shape[a];
            /* 32-bit division is several times faster where it does. */
            const uint64_t slower = n == 1                                  ? rest
                                    : rest <= UINT32_MAX && n <= UINT32_MAX ? (uint32_t)rest / (uint32_t)n
                                                                            : rest / n;
            coords[a][i] = site[i] < 0 ? site[i] : (int64_t)(rest - slower * n);
            rest = slower;
        }
    }
}

static bool is_row_major(const distmap_plan *plan, const dm_array *array) {
    for (int a = 0; a < DM_NDIM; a++)
        if (plan->shape[a] > 1 && array->stride[a] != plan->linear[a] * (int64_t)distmap_dtype_size(array->dtype))
            return false;
    return true;
}

#define LOAD_INTEGERS(T, expression)                           \
    for (int64_t i = 0; i < count; i++)                        \
        if (site[i] >= 0) {                                    \
            const T x = *(const T *)(array->data + offset[i]); \
            values[i] = (int64_t)(expression);                 \
        }                                                      \
    break

/* values[i] = the array's element at the site, where there is one. */
static void load_at_sites(const distmap_plan *plan, const dm_array *array, const int64_t *site, int64_t count,
                          int64_t *values) {
    int64_t offset[BLOCK];
    if (is_row_major(plan, array)) {
        for (int64_t i = 0; i < count; i++)
            offset[i] = site[i] * (int64_t)distmap_dtype_size(array->dtype);
    } else {
        int64_t coords[DM_NDIM][BLOCK];
        split_sites(plan, site, count, coords);
        for (int64_t i = 0; i < count; i++) {
            offset[i] = 0;
            for (int a = 0; a < DM_NDIM; a++)
                offset[i] += coords[a][i] * array->stride[a];
        }
    }
    switch (array->dtype) {
    case DISTMAP_BOOL: LOAD_INTEGERS(uint8_t, x != 0);
    case DISTMAP_INT8: LOAD_INTEGERS(int8_t, x);
    case DISTMAP_UINT8: LOAD_INTEGERS(uint8_t, x);
    case DISTMAP_INT16: LOAD_INTEGERS(int16_t, x);
    case DISTMAP_UINT16: LOAD_INTEGERS(uint16_t, x);
    case DISTMAP_INT32: LOAD_INTEGERS(int32_t, x);
    case DISTMAP_UINT32: LOAD_INTEGERS(uint32_t, x);
    case DISTMAP_INT64: LOAD_INTEGERS(int64_t, x);
    case DISTMAP_UINT64: LOAD_INTEGERS(uint64_t, x);
    default: break; /* labels and payloads are integers */
    }
}

static void emit_index(const distmap_plan *plan, const dm_arrays *arrays, char *p, int64_t count, const int64_t *site) {
    int64_t values[BLOCK];
    const int64_t *index = site;
    if (arrays->payload.data) {
        for (int64_t i = 0; i < count; i++)
            values[i] = site[i];
        load_at_sites(plan, &arrays->payload, site, count, values);
        index = values;
    }
    store_integers(index, count, arrays->index.dtype, p, arrays->index.stride[DM_X]);
}

static void emit_sites(const distmap_plan *plan, const dm_arrays *arrays, const int64_t at[DM_NDIM], int64_t count,
                       const int64_t *site) {
    if (arrays->index.data)
        emit_index(plan, arrays, dm_row_address(&arrays->index, at), count, site);
    if (arrays->label.data) {
        int64_t label[BLOCK] = {0};
        load_at_sites(plan, &arrays->input, site, count, label);
        store_integers(label, count, arrays->label.dtype, dm_row_address(&arrays->label, at),
                       arrays->label.stride[DM_X]);
    }
    if (arrays->coords[DM_X].data) {
        int64_t coords[DM_NDIM][BLOCK];
        split_sites(plan, site, count, coords);
        for (int a = 0; a < DM_NDIM; a++)
            if (arrays->coords[a].data)
                store_integers(coords[a], count, arrays->coords[a].dtype, dm_row_address(&arrays->coords[a], at),
                               arrays->coords[a].stride[DM_X]);
    }
}

/* ---- Masks, a block at a time ---- */

#define FIND_NONE(T, none)              \
    for (int64_t i = 0; i < count; i++) \
    is_none[i] = ((const T *)squared)[first + i] == (none)

static void emit_masks(const distmap_plan *plan, const dm_arrays *arrays, const int64_t at[DM_NDIM], int64_t count,
                       const void *squared, int64_t first) {
    uint8_t is_none[BLOCK];
    switch (plan->number) {
    case DM_U32: FIND_NONE(uint32_t, UINT32_MAX); break;
    case DM_U64: FIND_NONE(uint64_t, UINT64_MAX); break;
    case DM_F64: FIND_NONE(double, (double)INFINITY); break;
    }
    if (arrays->within.data) {
        char *p = dm_row_address(&arrays->within, at);
        const int64_t stride = arrays->within.stride[DM_X];
        STORE_ROW(uint8_t, !is_none[i]);
    }
    if (arrays->beyond.data) {
        int64_t values[BLOCK];
        for (int64_t i = 0; i < count; i++)
            values[i] = 1;
        if (plan->problem.input == DISTMAP_INPUT_LABELS)
            dm_row_integers(&arrays->input, at, count, values);
        for (int64_t i = 0; i < count; i++)
            values[i] = is_none[i] ? values[i] : 0;
        store_integers(values, count, arrays->beyond.dtype, dm_row_address(&arrays->beyond, at),
                       arrays->beyond.stride[DM_X]);
    }
}

void dm_row_emit(distmap_plan *plan, const dm_arrays *arrays, const int64_t at[DM_NDIM], int64_t count, void *squared,
                 int64_t *site) {
    finish_row(plan, arrays, at, count, squared, site);
    if (arrays->distance.data)
        emit_distance(plan, &arrays->distance, dm_row_address(&arrays->distance, at), count, squared);
    if (arrays->squared.data)
        emit_squared(plan, &arrays->squared, dm_row_address(&arrays->squared, at), count, squared);
    if (plan->problem.sign)
        dm_row_sign(plan, arrays, at, count);
    if (!plan->wants_site && !plan->wants_mask)
        return;
    int64_t from[DM_NDIM] = {at[0], at[1], at[2], at[3]};
    for (int64_t done = 0; done < count; done += BLOCK, from[DM_X] += BLOCK) {
        const int64_t n = count - done < BLOCK ? count - done : BLOCK;
        if (plan->wants_site)
            emit_sites(plan, arrays, from, n, site + done);
        if (plan->wants_mask)
            emit_masks(plan, arrays, from, n, squared, done);
    }
}
