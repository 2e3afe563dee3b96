/* Elements of any type: which are sites, and what values there are.
 *
 * The comparisons are exact: integers are never rounded to double. A rule becomes a closed interval (and for "nonzero" its
 * complement) in the element's own arithmetic: for integers [ceil(lo), floor(hi)] cut to int64 or uint64.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- Sites ---- */

typedef struct interval {
    bool inside; /* sites are inside, else outside */
    bool empty;
    int64_t low_int, high_int;
    uint64_t low_uint, high_uint;
    double low, high;
} interval;

static int64_t to_int(double value) {
    return value <= -0x1p63 ? INT64_MIN : value >= 0x1p63 ? INT64_MAX : (int64_t)value;
}
static uint64_t to_uint(double value) { return value <= 0 ? 0 : value >= 0x1p64 ? UINT64_MAX : (uint64_t)value; }

static interval interval_of(const distmap_sites *sites) {
    interval it = {.inside = sites->rule != DISTMAP_SITES_NONZERO};
    if (sites->rule == DISTMAP_SITES_VALUE)
        it.low = it.high = sites->lo;
    if (sites->rule == DISTMAP_SITES_RANGE) {
        it.low = sites->lo;
        it.high = sites->hi;
    }
    it.empty = sites->rule == DISTMAP_SITES_NONE;
    it.low_int = to_int(ceil(it.low));
    it.high_int = to_int(floor(it.high));
    it.low_uint = to_uint(ceil(it.low));
    it.high_uint = to_uint(floor(it.high));
    return it;
}

/* A range beyond what the type holds must not be cut to its last value. */
static bool misses_int(const interval *it) {
    return it->low >= 0x1p63 || it->high < -0x1p63 || ceil(it->low) > floor(it->high);
}
static bool misses_uint(const interval *it) {
    return it->low >= 0x1p64 || it->high < 0 || ceil(it->low) > floor(it->high);
}

#define SITES_OF(TYPE, WIDE, LOW, HIGH)                             \
    for (int64_t i = 0; i < count; i++) {                           \
        const WIDE value = *(const TYPE *)(bytes + i * stride);     \
        site[i] = (value >= (LOW) && value <= (HIGH)) == it.inside; \
    }                                                               \
    break
#define SITES_OF_FLOAT(TYPE)                                                           \
    for (int64_t i = 0; i < count; i++) {                                              \
        const double value = *(const TYPE *)(bytes + i * stride);                      \
        site[i] = (value >= it.low && value <= it.high) == it.inside && !isnan(value); \
    }                                                                                  \
    break

void elements_sites(const void *first, distmap_dtype dtype, int64_t stride, int64_t count, const distmap_sites *sites,
                    uint8_t *site) {
    const char *bytes = first;
    const interval it = interval_of(sites);
    const bool is_float = dtype == DISTMAP_FLOAT32 || dtype == DISTMAP_FLOAT64;
    const bool is_unsigned = dtype == DISTMAP_BOOL || dtype == DISTMAP_UINT8 || dtype == DISTMAP_UINT16 ||
                             dtype == DISTMAP_UINT32 || dtype == DISTMAP_UINT64;
    if (it.empty || (!is_float && (is_unsigned ? misses_uint(&it) : misses_int(&it)))) {
        memset(site, it.empty ? 0 : !it.inside, (size_t)count);
        return;
    }
    switch (dtype) {
    case DISTMAP_NONE: break;
    case DISTMAP_BOOL:
        for (int64_t i = 0; i < count; i++) {
            const uint64_t value = bytes[i * stride] != 0;
            site[i] = (value >= it.low_uint && value <= it.high_uint) == it.inside;
        }
        break;
    case DISTMAP_INT8: SITES_OF(int8_t, int64_t, it.low_int, it.high_int);
    case DISTMAP_INT16: SITES_OF(int16_t, int64_t, it.low_int, it.high_int);
    case DISTMAP_INT32: SITES_OF(int32_t, int64_t, it.low_int, it.high_int);
    case DISTMAP_INT64: SITES_OF(int64_t, int64_t, it.low_int, it.high_int);
    case DISTMAP_UINT8: SITES_OF(uint8_t, uint64_t, it.low_uint, it.high_uint);
    case DISTMAP_UINT16: SITES_OF(uint16_t, uint64_t, it.low_uint, it.high_uint);
    case DISTMAP_UINT32: SITES_OF(uint32_t, uint64_t, it.low_uint, it.high_uint);
    case DISTMAP_UINT64: SITES_OF(uint64_t, uint64_t, it.low_uint, it.high_uint);
    case DISTMAP_FLOAT32: SITES_OF_FLOAT(float);
    case DISTMAP_FLOAT64: SITES_OF_FLOAT(double);
    }
}

/* ---- Statistics ---- */

enum { COUNT_PART = 4096 }; /* elements that are examined together */

double element_value(const char *at, distmap_dtype dtype) {
    switch (dtype) {
    case DISTMAP_NONE: break;
    case DISTMAP_BOOL: return *at != 0;
    case DISTMAP_INT8: return *(const int8_t *)at;
    case DISTMAP_UINT8: return *(const uint8_t *)at;
    case DISTMAP_INT16: return *(const int16_t *)at;
    case DISTMAP_UINT16: return *(const uint16_t *)at;
    case DISTMAP_INT32: return *(const int32_t *)at;
    case DISTMAP_UINT32: return *(const uint32_t *)at;
    case DISTMAP_INT64: return (double)*(const int64_t *)at;
    case DISTMAP_UINT64: return (double)*(const uint64_t *)at;
    case DISTMAP_FLOAT32: return *(const float *)at;
    case DISTMAP_FLOAT64: return *(const double *)at;
    }
    return 0;
}

static void count_value(double value, int64_t count, struct statistics *s) {
    if (isnan(value)) {
        s->nans += count;
        return;
    }
    s->min = value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
    s->sum += value * (double)count;
    s->count += count;
    s->zeros += value == 0 ? count : 0;
}

/* Most of many images is one value, above all where nothing was written. Only where a product is the same sum, to the bit. */
static bool is_one_value(const char *at, distmap_dtype dtype, int64_t stride, int64_t count) {
    const size_t size = distmap_dtype_size(dtype);
    const double value = element_value(at, dtype);
    return stride == (int64_t)size && !memcmp(at, at + size, (size_t)(count - 1) * size) &&
           (value == 0 || isnan(value) || size <= 2);
}

static void count_row(const char *at, distmap_dtype dtype, int64_t stride, int64_t count, struct statistics *s) {
    for (int64_t first = 0; first < count; first += COUNT_PART) {
        const int64_t part = count - first < COUNT_PART ? count - first : COUNT_PART;
        const bool one = is_one_value(at, dtype, stride, part);
        for (int64_t i = 0; i < part; i += one ? part : 1)
            count_value(element_value(at + i * stride, dtype), one ? part : 1, s);
        at += part * stride;
    }
}

struct statistics statistics_make(void) {
    return (struct statistics){.min = HUGE_VAL, .max = -HUGE_VAL};
}

void elements_count(const distmap_view *view, struct statistics *statistics) {
    enum { N = DISTMAP_MAX_NDIM };
    int64_t shape[N] = {1, 1, 1, 1}, stride[N] = {0}; /* four axes, missing leading ones of length 1 */
    for (int a = 0; a < view->ndim; a++) {
        shape[N - view->ndim + a] = view->shape[a];
        stride[N - view->ndim + a] = view->strides[a];
    }
    if (element_count(view->ndim, view->shape) == 0) /* rows without elements can be 2^62 */
        return;
    for (int64_t t = 0; t < shape[0]; t++)
        for (int64_t z = 0; z < shape[1]; z++)
            for (int64_t y = 0; y < shape[2]; y++)
                count_row((const char *)view->data + t * stride[0] + z * stride[1] + y * stride[2], view->dtype,
                          stride[3], shape[3], statistics);
}

void dtype_limits(distmap_dtype dtype, double *least, double *most) {
    const bool is_unsigned = distmap_dtype_name(dtype)[0] == 'u';
    const int bits = (int)distmap_dtype_size(dtype) * 8;
    *most = dtype == DISTMAP_BOOL ? 1 : ldexp(1, is_unsigned ? bits : bits - 1) - 1;
    *least = is_unsigned || dtype == DISTMAP_BOOL ? 0 : -*most - 1;
}

/* Floats that are not negative order as their bits do, so that one integer maximum serves floats and integers alike: "no site"
 * is +inf, or the type's largest value, above which there is nothing. Less that value, and around, it is the least of all and the
 * others keep their order: so the maximum is plain, and compilers vectorise it. */
#define LARGEST(TYPE, NONE)                                              \
    TYPE largest = 0;                                                    \
    for (int64_t i = 0; i < count; i++) {                                \
        const TYPE below = (TYPE)(((const TYPE *)view->data)[i] - NONE); \
        largest = below > largest ? below : largest;                     \
    }                                                                    \
    *bits = (TYPE)(largest + NONE);                                      \
    return largest != 0;

/* The bits; false when there is none. */
static bool largest_16(const distmap_view *view, int64_t count, uint16_t none, uint16_t *bits) {
    LARGEST(uint16_t, none)
}
static bool largest_32(const distmap_view *view, int64_t count, uint32_t none, uint32_t *bits) {
    LARGEST(uint32_t, none)
}
static bool largest_64(const distmap_view *view, int64_t count, uint64_t none, uint64_t *bits) {
    LARGEST(uint64_t, none)
}

double elements_largest(const distmap_view *view) {
    const int64_t count = element_count(view->ndim, view->shape);
    float as_float;
    double as_double;
    uint16_t bits_16;
    uint32_t bits_32;
    uint64_t bits_64;
    switch (view->dtype) {
    case DISTMAP_UINT16: return largest_16(view, count, UINT16_MAX, &bits_16) ? bits_16 : -1;
    case DISTMAP_UINT32: return largest_32(view, count, UINT32_MAX, &bits_32) ? (double)bits_32 : -1;
    case DISTMAP_UINT64: return largest_64(view, count, UINT64_MAX, &bits_64) ? (double)bits_64 : -1;
    case DISTMAP_FLOAT32:
        if (!largest_32(view, count, 0x7f800000, &bits_32))
            return -1;
        memcpy(&as_float, &bits_32, sizeof as_float);
        return as_float;
    case DISTMAP_FLOAT64:
        if (!largest_64(view, count, 0x7ff0000000000000, &bits_64))
            return -1;
        memcpy(&as_double, &bits_64, sizeof as_double);
        return as_double;
    default: return -1;
    }
}

#define EXTENT(TYPE)                                        \
    TYPE low = 0, high = 0;                                 \
    for (int64_t i = 0; i < count; i++) {                   \
        const TYPE value = ((const TYPE *)view->data)[i];   \
        const TYPE finite = value - value == 0 ? value : 0; \
        low = finite < low ? finite : low;                  \
        high = finite > high ? finite : high;               \
    }                                                       \
    *least = low, *largest = high

void elements_extent(const distmap_view *view, double *least, double *largest) {
    const int64_t count = element_count(view->ndim, view->shape);
    if (view->dtype == DISTMAP_FLOAT32) {
        EXTENT(float);
    } else {
        EXTENT(double);
    }
}

/* ---- Counting ---- */

struct counting {
    const distmap_view *view;
    const distmap_sites *sites;
    int64_t rows, width, *counts; /* one for each task */
};

enum { COUNT_ROWS = 64 };

static void count_rows(void *arg, int64_t task) {
    const struct counting *c = arg;
    const distmap_view *view = c->view;
    const int last = view->ndim - 1;
    const int64_t first = task * COUNT_ROWS, end = first + COUNT_ROWS < c->rows ? first + COUNT_ROWS : c->rows;
    uint8_t site[COUNT_PART];
    int64_t count = 0;
    for (int64_t row = first; row < end; row++) {
        const char *at = view->data;
        int64_t rest = row;
        for (int a = last - 1; a >= 0; rest /= view->shape[a--])
            at += rest % view->shape[a] * view->strides[a];
        for (int64_t x = 0; x < c->width; x += COUNT_PART) {
            const int64_t n = c->width - x < COUNT_PART ? c->width - x : COUNT_PART;
            elements_sites(at + x * view->strides[last], view->dtype, view->strides[last], n, c->sites, site);
            for (int64_t i = 0; i < n; i++)
                count += site[i];
        }
    }
    c->counts[task] = count;
}

int64_t elements_count_sites(const distmap_view *view, const distmap_sites *sites) {
    struct counting c = {.view = view, .sites = sites, .width = view->shape[view->ndim - 1]};
    c.rows = element_count(view->ndim - 1, view->shape);
    const int64_t tasks = (c.rows + COUNT_ROWS - 1) / COUNT_ROWS;
    int64_t count = 0;
    if (tasks == 0 || !(c.counts = malloc((size_t)tasks * sizeof *c.counts)))
        return tasks ? -1 : 0;
    share_out(tasks, count_rows, &c);
    for (int64_t i = 0; i < tasks; i++)
        count += c.counts[i];
    free(c.counts);
    return count;
}
