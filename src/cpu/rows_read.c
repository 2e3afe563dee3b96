/* Rows in: elements of any type and stride become site bytes, squared distances to start from, or labels.
 *
 * Every sites rule is one closed interval, taken as it is or flipped:
 *
 *     ZERO [0, 0]    NONZERO [0, 0] flipped    VALUE [lo, lo]    RANGE [lo, hi]    NONE empty
 *
 * For integers the ends are rounded inwards, ceil(lo) and floor(hi), and clipped to the type, once per row. That makes the
 * comparison with a double exact even for 64-bit elements, and it leaves one test per element in the element's own width,
 * (unsigned)(x - lo) <= hi - lo, which holds for signed types too and which compilers vectorise.
 */
#include "cpu/rows.h"

#include <math.h>
#include <string.h>

/* ---- Sites ---- */

struct interval {
    double lo, hi;
    bool flip; /* those outside count */
};

static struct interval sites_interval(const distmap_sites *sites) {
    switch (sites->rule) {
    case DISTMAP_SITES_NONZERO: return (struct interval){0, 0, true};
    case DISTMAP_SITES_VALUE: return (struct interval){sites->lo, sites->lo, false};
    case DISTMAP_SITES_RANGE: return (struct interval){sites->lo, sites->hi, false};
    case DISTMAP_SITES_NONE: return (struct interval){INFINITY, -INFINITY, false};
    default: return (struct interval){0, 0, false};
    }
}

/* The interval in the integers of a type of `bits` bits, ends as bit patterns. False when it is empty. */
static bool integer_interval(struct interval v, int bits, bool is_signed, uint64_t *first, uint64_t *last) {
    const double bottom = is_signed ? -ldexp(1, bits - 1) : 0, top = ldexp(1, is_signed ? bits - 1 : bits);
    const double lo = ceil(v.lo), hi = floor(v.hi);
    if (!(lo <= hi) || lo >= top || hi < bottom)
        return false;
    const uint64_t lowest = is_signed ? ~(uint64_t)0 << (bits - 1) : 0;
    const uint64_t highest = ~(uint64_t)0 >> (64 - bits + is_signed);
    *first = lo <= bottom ? lowest : is_signed ? (uint64_t)(int64_t)lo : (uint64_t)lo;
    *last = hi >= top ? highest : is_signed ? (uint64_t)(int64_t)hi : (uint64_t)hi;
    return true;
}

/* Any nonzero byte counts as 1, so the interval of 0 and 1 becomes one of bytes. */
static bool bool_interval(struct interval v, uint64_t *first, uint64_t *last) {
    const bool zero = v.lo <= 0 && 0 <= v.hi, one = v.lo <= 1 && 1 <= v.hi;
    *first = zero ? 0 : 1;
    *last = one ? UINT8_MAX : 0;
    return zero || one;
}

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

/* A NaN lies in no interval and outside none. Returns whether there was one. */
#define DEFINE_FLOAT_SITES(T)                                                                               \
    static bool sites_##T(const char *p, int64_t stride, int64_t count, struct interval v, uint8_t *site) { \
        unsigned nan = 0;                                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                               \
            const double x = *(const T *)(p + i * stride);                                                  \
            const unsigned number = x == x;                                                                 \
            site[i] = (uint8_t)((((x >= v.lo) & (x <= v.hi)) ^ v.flip) & number);                           \
            nan |= number ^ 1;                                                                              \
        }                                                                                                   \
        return nan;                                                                                         \
    }
DEFINE_FLOAT_SITES(float)
DEFINE_FLOAT_SITES(double)

void dm_row_sites(distmap_plan *plan, const dm_array *input, const int64_t at[DM_NDIM], int64_t count, uint8_t *site) {
    const char *p = dm_row_address(input, at);
    const int64_t stride = input->stride[DM_X];
    const struct interval v = sites_interval(&plan->problem.sites);
    if (dm_dtype_is_float(input->dtype)) {
        const bool nan = input->dtype == DISTMAP_FLOAT32 ? sites_float(p, stride, count, v, site)
                                                         : sites_double(p, stride, count, v, site);
        dm_flag(plan, nan ? DISTMAP_FLAG_NAN : 0);
        return;
    }
    const int bytes = (int)distmap_dtype_size(input->dtype);
    uint64_t first = 0, last = 0;
    if (!(input->dtype == DISTMAP_BOOL
              ? bool_interval(v, &first, &last)
              : integer_interval(v, 8 * bytes, dm_dtype_is_signed(input->dtype), &first, &last))) {
        memset(site, v.flip, (size_t)count);
        return;
    }
    const uint64_t span = last - first;
    switch (bytes) {
    case 1: sites_uint8_t(p, stride, count, (uint8_t)first, (uint8_t)span, v.flip, site); break;
    case 2: sites_uint16_t(p, stride, count, (uint16_t)first, (uint16_t)span, v.flip, site); break;
    case 4: sites_uint32_t(p, stride, count, (uint32_t)first, (uint32_t)span, v.flip, site); break;
    default: sites_uint64_t(p, stride, count, first, span, v.flip, site); break;
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
    int64_t from[DM_NDIM];
    memcpy(from, at, sizeof from);
    bool wrong = false;
    for (int64_t done = 0; done < count; done += BLOCK, from[DM_X] += BLOCK) {
        const int64_t n = count - done < BLOCK ? count - done : BLOCK;
        dm_row_integers(input, from, n, block);
        for (int64_t i = 0; i < n; i++) {
            const uint64_t x = (uint64_t)block[i];
            const bool offers = x != none;
            wrong |= offers && x > most;
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
