/* Reads rows: elements of any type and stride become site bytes, squared distances to start from, or labels.
 *
 * The sites rule comes as one interval test in the element's own width (core/sites.c), which compilers vectorise.
 */
#include "cpu/rows.h"

#include <math.h>
#include <string.h>

/* ---- Sites ---- */

/* T: an unsigned type as wide as the elements. The contiguous loop stands alone so that it becomes SIMD. */
#define DEFINE_SITES(T)                                                                                \
    static void sites_##T(const char *p, int64_t stride, int64_t count, T first, T span, uint8_t flip, \
                          uint8_t *site) {                                                             \
        if (stride == (int64_t)sizeof(T)) {                                                            \
            const T *x = (const T *)p;                                                                 \
            for (int64_t i = 0; i < count; i++)                                                        \
                site[i] = (uint8_t)(((T)(x[i] - first) <= span) ^ flip);                               \
            return;                                                                                    \
        }                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                            \
            site[i] = (uint8_t)(((T)(*(const T *)(p + i * stride) - first) <= span) ^ flip);           \
    }
DEFINE_SITES(uint8_t)
DEFINE_SITES(uint16_t)
DEFINE_SITES(uint32_t)
DEFINE_SITES(uint64_t)

/* A NaN is neither inside nor outside an interval. Returns whether there was one. */
#define DEFINE_FLOAT_SITES(T)                                                                               \
    static bool sites_##T(const char *p, int64_t stride, int64_t count, dm_site_test test, uint8_t *site) { \
        unsigned nan = 0;                                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                               \
            const double x = *(const T *)(p + i * stride);                                                  \
            const unsigned number = x == x;                                                                 \
            site[i] = (uint8_t)((((x >= test.lo) & (x <= test.hi)) ^ test.flip) & number);                  \
            nan |= number ^ 1;                                                                              \
        }                                                                                                   \
        return nan;                                                                                         \
    }
DEFINE_FLOAT_SITES(float)
DEFINE_FLOAT_SITES(double)

void dm_row_sites(distmap_plan *plan, const dm_array *input, const int64_t at[DM_NDIM], int64_t count, uint8_t *site) {
    const char *p = dm_row_address(input, at);
    const int64_t stride = input->stride[DM_X];
    const dm_site_test test = dm_site_test_make(&plan->problem.sites, input->dtype);
    if (dm_dtype_is_float(input->dtype)) {
        const bool nan = input->dtype == DISTMAP_FLOAT32 ? sites_float(p, stride, count, test, site)
                                                         : sites_double(p, stride, count, test, site);
        dm_flag(plan, nan ? DISTMAP_FLAG_NAN : 0);
        return;
    }
    if (test.empty) {
        memset(site, test.flip, (size_t)count);
        return;
    }
    const uint64_t first = test.first, span = test.span;
    const uint8_t flip = test.flip;
    switch (distmap_dtype_size(input->dtype)) {
    case 1: sites_uint8_t(p, stride, count, (uint8_t)first, (uint8_t)span, flip, site); break;
    case 2: sites_uint16_t(p, stride, count, (uint16_t)first, (uint16_t)span, flip, site); break;
    case 4: sites_uint32_t(p, stride, count, (uint32_t)first, (uint32_t)span, flip, site); break;
    default: sites_uint64_t(p, stride, count, first, span, flip, site); break;
    }
}

/* ---- Integers ---- */

#define READ_INTEGERS(T, expression)              \
    for (int64_t i = 0; i < count; i++) {         \
        const T x = *(const T *)(p + i * stride); \
        values[i] = (int64_t)(expression);        \
    }                                             \
    break

void dm_row_integers(const dm_array *array, const int64_t at[DM_NDIM], int64_t count, int64_t *values) {
    const char *p = dm_row_address(array, at);
    const int64_t stride = array->stride[DM_X];
    switch (array->dtype) {
    case DISTMAP_BOOL: READ_INTEGERS(uint8_t, x != 0);
    case DISTMAP_INT8: READ_INTEGERS(int8_t, x);
    case DISTMAP_UINT8: READ_INTEGERS(uint8_t, x);
    case DISTMAP_INT16: READ_INTEGERS(int16_t, x);
    case DISTMAP_UINT16: READ_INTEGERS(uint16_t, x);
    case DISTMAP_INT32: READ_INTEGERS(int32_t, x);
    case DISTMAP_UINT32: READ_INTEGERS(uint32_t, x);
    case DISTMAP_INT64: READ_INTEGERS(int64_t, x);
    case DISTMAP_UINT64: READ_INTEGERS(uint64_t, x);
    default: break; /* floats are not read as integers */
    }
}

/* ---- Kinds ---- */

void dm_row_kinds(distmap_plan *plan, const dm_array *input, const int64_t at[DM_NDIM], int64_t count, int64_t *kind,
                  uint8_t *background) {
    dm_row_sites(plan, input, at, count, background);
    if (!plan->problem.sign) {
        dm_row_integers(input, at, count, kind);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        kind[i] = background[i];
    memset(background, 0, (size_t)count);
}

/* ---- Sampled functions ---- */

/* A float sample as FP64; adding zero turns -0 into 0. */
static double float_value(double x, unsigned *nan, bool *wrong) {
    if (x >= 0)
        return x + 0.0;
    if (x == x)
        *wrong = true;
    else
        *nan = DISTMAP_FLAG_NAN;
    return INFINITY;
}

static void float_values(distmap_plan *plan, const char *p, int64_t stride, bool single, int64_t count,
                         double *values) {
    unsigned nan = 0;
    bool wrong = false;
    for (int64_t i = 0; i < count; i++, p += stride)
        values[i] = float_value(single ? (double)*(const float *)p : *(const double *)p, &nan, &wrong);
    dm_flag(plan, nan);
    if (wrong)
        dm_fail(plan, DISTMAP_ERROR_VALUE);
}

void dm_row_values(distmap_plan *plan, const dm_array *input, const int64_t at[DM_NDIM], int64_t count, void *values) {
    if (dm_dtype_is_float(input->dtype)) {
        float_values(plan, dm_row_address(input, at), input->stride[DM_X], input->dtype == DISTMAP_FLOAT32, count,
                     values);
        return;
    }
    enum { BLOCK = 256 };
    int64_t block[BLOCK];
    const uint64_t none = dm_dtype_max(input->dtype),
                   most = (uint64_t)1 << 61; /* negative ones lie above as unsigned */
    const uint64_t limit = plan->limited && plan->number != DM_F64 ? plan->limit2 : UINT64_MAX;
    int64_t from[DM_NDIM];
    memcpy(from, at, sizeof from);
    bool wrong = false;
    for (int64_t done = 0; done < count; done += BLOCK, from[DM_X] += BLOCK) {
        const int64_t n = count - done < BLOCK ? count - done : BLOCK;
        dm_row_integers(input, from, n, block);
        for (int64_t i = 0; i < n; i++) {
            const uint64_t x = (uint64_t)block[i];
            wrong |= x != none && x > most;
            const bool offers = x != none && x <= limit;
            switch (plan->number) {
            case DM_U32: ((uint32_t *)values)[done + i] = offers ? (uint32_t)x : UINT32_MAX; break;
            case DM_U64: ((uint64_t *)values)[done + i] = offers ? x : UINT64_MAX; break;
            case DM_F64: ((double *)values)[done + i] = offers ? (double)x : INFINITY; break;
            }
        }
    }
    if (wrong)
        dm_fail(plan, DISTMAP_ERROR_VALUE);
}
