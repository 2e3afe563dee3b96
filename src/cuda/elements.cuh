/* Elements in, results out, on the device: the only place in kernels that knows every dtype, stride, sites rule, border and
 * limit. The twin of src/cpu/rows_read.c and rows_emit.c, to the bit.
 *
 * Values are carried as dm_value whatever the plan's arithmetic: integers in 64 bits, all ones for "none", which says the
 * same as all ones in 32; FP64 with +inf for "none". Flags are gathered in a variable and raised once per thread.
 */
#ifndef DISTMAP_CUDA_ELEMENTS_CUH
#define DISTMAP_CUDA_ELEMENTS_CUH

#include <float.h>
#include <math.h>

#include "cuda/elements.h"
#include "cuda/launch.h"

union dm_value {
    uint64_t u64;
    double f64;
};

DM_DEVICE bool dm_value_is_none(const dm_elements *e, dm_value v) {
    return e->number == DM_F64 ? v.f64 > DBL_MAX : v.u64 == UINT64_MAX;
}

DM_DEVICE dm_value dm_value_none(const dm_elements *e) {
    dm_value v;
    if (e->number == DM_F64)
        v.f64 = (double)INFINITY;
    else
        v.u64 = UINT64_MAX;
    return v;
}

/* At the end of a kernel, with what its thread met. */
DM_DEVICE void dm_raise(const dm_elements *e, unsigned raised) {
    if (raised)
        atomicOr(e->flags, raised);
}

/* ---- Places ---- */

/* Coordinates of a linear index. 32-bit division is several times faster where it does. */
DM_DEVICE void dm_element_split(const dm_elements *e, int64_t linear, int64_t at[DM_NDIM]) {
    uint64_t rest = (uint64_t)linear;
#pragma unroll
    for (int a = DM_X; a > 0; a--) {
        const uint64_t n = (uint64_t)e->shape[a];
        const uint64_t slower = n == 1 ? rest : rest <= UINT32_MAX ? (uint32_t)rest / (uint32_t)n : rest / n;
        at[a] = (int64_t)(rest - slower * n);
        rest = slower;
    }
    at[0] = (int64_t)rest;
}

DM_DEVICE char *dm_element_address(const dm_array *array, const int64_t at[DM_NDIM]) {
    char *p = array->data;
#pragma unroll
    for (int a = 0; a < DM_NDIM; a++)
        p += at[a] * array->stride[a];
    return p;
}

/* ---- In ---- */

/* An integer element as int64 (uint64 by its bits). */
DM_DEVICE int64_t dm_load_integer(distmap_dtype dtype, const char *p) {
    switch (dtype) {
    case DISTMAP_BOOL: return *(const uint8_t *)p != 0;
    case DISTMAP_INT8: return *(const int8_t *)p;
    case DISTMAP_UINT8: return *(const uint8_t *)p;
    case DISTMAP_INT16: return *(const int16_t *)p;
    case DISTMAP_UINT16: return *(const uint16_t *)p;
    case DISTMAP_INT32: return *(const int32_t *)p;
    case DISTMAP_UINT32: return *(const uint32_t *)p;
    default: return *(const int64_t *)p;
    }
}

DM_DEVICE double dm_load_float(distmap_dtype dtype, const char *p) {
    return dtype == DISTMAP_FLOAT32 ? (double)*(const float *)p : *(const double *)p;
}

DM_DEVICE bool dm_dtype_floats(distmap_dtype dtype) { return dtype == DISTMAP_FLOAT32 || dtype == DISTMAP_FLOAT64; }

/* Whether the input's element at address `p` is a site by the plan's rule. */
DM_DEVICE bool dm_address_is_site(const dm_elements *e, const char *p, unsigned *raised) {
    const dm_array *input = &e->arrays.input;
    const dm_site_test *test = &e->sites;
    if (dm_dtype_floats(input->dtype)) {
        const double x = dm_load_float(input->dtype, p);
        if (x != x) {
            *raised |= DISTMAP_FLAG_NAN;
            return false;
        }
        return (x >= test->lo && x <= test->hi) != test->flip;
    }
    if (test->empty)
        return test->flip;
    bool inside;
    switch (input->dtype) {
    case DISTMAP_BOOL:
    case DISTMAP_INT8:
    case DISTMAP_UINT8: inside = (uint8_t)(*(const uint8_t *)p - test->first) <= test->span; break;
    case DISTMAP_INT16:
    case DISTMAP_UINT16: inside = (uint16_t)(*(const uint16_t *)p - test->first) <= test->span; break;
    case DISTMAP_INT32:
    case DISTMAP_UINT32: inside = (uint32_t)(*(const uint32_t *)p - test->first) <= test->span; break;
    default: inside = *(const uint64_t *)p - test->first <= test->span; break;
    }
    return inside != test->flip;
}

DM_DEVICE bool dm_element_is_site(const dm_elements *e, const int64_t at[DM_NDIM], unsigned *raised) {
    return dm_address_is_site(e, dm_element_address(&e->arrays.input, at), raised);
}

/* A sample in the plan's arithmetic. A bad one raises DM_RAISED_VALUE and offers nothing. */
DM_DEVICE dm_value dm_element_value(const dm_elements *e, const int64_t at[DM_NDIM], unsigned *raised) {
    const dm_array *input = &e->arrays.input;
    const char *p = dm_element_address(input, at);
    dm_value v = dm_value_none(e);
    if (dm_dtype_floats(input->dtype)) {
        const double x = dm_load_float(input->dtype, p);
        if (x >= 0)
            v.f64 = x + 0.0; /* -0 becomes 0 */
        else
            *raised |= x == x ? DM_RAISED_VALUE : (unsigned)DISTMAP_FLAG_NAN;
        return v;
    }
    const uint64_t x = (uint64_t)dm_load_integer(input->dtype, p);
    if (x == e->sample_none)
        return v;
    if (x > (uint64_t)1 << 61) /* negative ones lie above as unsigned */
        *raised |= DM_RAISED_VALUE;
    else if (e->number == DM_F64)
        v.f64 = (double)x;
    else
        v.u64 = x;
    return v;
}

/* The input's integer element: its label. */
DM_DEVICE int64_t dm_element_label(const dm_elements *e, const int64_t at[DM_NDIM]) {
    return dm_load_integer(e->arrays.input.dtype, dm_element_address(&e->arrays.input, at));
}

/* LABELS and signed maps: the element's kind, which is its label, or by the side of the shape 1 or 0. */
DM_DEVICE int64_t dm_element_kind(const dm_elements *e, const int64_t at[DM_NDIM], unsigned *raised) {
    return e->sign ? dm_element_is_site(e, at, raised) : dm_element_label(e, at);
}

/* Whether the element is at distance 0 from itself: a site; but not where a signed map asks for the other side. */
DM_DEVICE bool dm_element_is_zero(const dm_elements *e, const int64_t at[DM_NDIM], unsigned *raised) {
    return dm_element_is_site(e, at, raised) && !e->sign;
}

/* ---- Border and limit ---- */

/* The border one element outside takes the element when strictly nearer. */
DM_DEVICE void dm_apply_border(const dm_elements *e, const int64_t at[DM_NDIM], dm_value *squared, int64_t *site) {
    uint64_t nearest = UINT64_MAX;
    double nearest_f = (double)INFINITY;
#pragma unroll
    for (int a = 0; a < DM_NDIM; a++) {
        if (!e->measured[a])
            continue;
        const int64_t before = at[a] + 1, after = e->shape[a] - at[a];
        const uint64_t k = (uint64_t)(before < after ? before : after);
        if (e->number == DM_F64) {
            const double steps = (double)k;
            nearest_f = fmin(nearest_f, e->w2f[a] * (steps * steps));
        } else {
            const uint64_t d = e->w2[a] * (k * k) + e->chamfer.step[1] * k; /* one of the two is zero */
            nearest = d < nearest ? d : nearest;
        }
    }
    if (e->number == DM_F64 ? nearest_f < squared->f64 : nearest < squared->u64) {
        if (e->number == DM_F64)
            squared->f64 = nearest_f;
        else
            squared->u64 = nearest;
        *site = DISTMAP_INDEX_BORDER;
    }
}

/* ---- Out ---- */

DM_DEVICE void dm_store_distance(const dm_elements *e, const dm_array *out, char *p, dm_value v, bool none) {
    if (out->dtype == DISTMAP_FLOAT32)
        *(float *)p = none                  ? (float)INFINITY
                      : e->number == DM_F64 ? (float)sqrt(v.f64)
                                            : dm_unit_distancef(&e->unit, v.u64);
    else
        *(double *)p = none ? (double)INFINITY : e->number == DM_F64 ? sqrt(v.f64) : dm_unit_distance(&e->unit, v.u64);
}

DM_DEVICE void dm_store_squared(const dm_elements *e, const dm_array *out, char *p, dm_value v, bool none,
                                unsigned *raised) {
    switch (out->dtype) {
    case DISTMAP_FLOAT32:
        *(float *)p = none ? (float)INFINITY : e->number == DM_F64 ? (float)v.f64 : dm_unit_squaref(&e->unit, v.u64);
        break;
    case DISTMAP_FLOAT64:
        *(double *)p = none ? (double)INFINITY : e->number == DM_F64 ? v.f64 : dm_unit_square(&e->unit, v.u64);
        break;
    default: { /* samples may carry a result beyond what the output holds */
        const uint64_t most = out->dtype == DISTMAP_UINT32 ? UINT32_MAX : UINT64_MAX;
        const uint64_t value = none ? UINT64_MAX : v.u64 * e->unit.whole;
        if (!none && (v.u64 > most / e->unit.whole || value >= most))
            *raised |= DM_RAISED_VALUE;
        if (out->dtype == DISTMAP_UINT32)
            *(uint32_t *)p = (uint32_t)value;
        else
            *(uint64_t *)p = value;
        break;
    }
    }
}

/* Two's complement: signed and unsigned are stored alike. */
DM_DEVICE void dm_store_integer(distmap_dtype dtype, char *p, int64_t x) {
    switch (dtype) {
    case DISTMAP_BOOL: *(uint8_t *)p = x != 0; break;
    case DISTMAP_INT8:
    case DISTMAP_UINT8: *(uint8_t *)p = (uint8_t)x; break;
    case DISTMAP_INT16:
    case DISTMAP_UINT16: *(uint16_t *)p = (uint16_t)x; break;
    case DISTMAP_INT32:
    case DISTMAP_UINT32: *(uint32_t *)p = (uint32_t)x; break;
    default: *(int64_t *)p = x; break;
    }
}

/* A distance that is a whole number already, the metric not being the Euclidean. */
DM_DEVICE void dm_store_whole(const dm_elements *e, const dm_array *out, char *p, dm_value v, bool none) {
    if (out->dtype == DISTMAP_FLOAT32)
        *(float *)p = none ? (float)INFINITY : (float)v.u64;
    else if (out->dtype == DISTMAP_FLOAT64)
        *(double *)p = none ? (double)INFINITY : (double)v.u64;
    else
        dm_store_integer(out->dtype, p, (int64_t)(none ? e->distance_none : v.u64));
}

DM_DEVICE void dm_store_site(const dm_elements *e, const int64_t at[DM_NDIM], int64_t site) {
    const dm_arrays *out = &e->arrays;
    int64_t from[DM_NDIM] = {site, site, site, site};
    if (site >= 0)
        dm_element_split(e, site, from);
    if (out->index.data) {
        int64_t index = site;
        if (out->payload.data && site >= 0)
            index = dm_load_integer(out->payload.dtype, dm_element_address(&out->payload, from));
        dm_store_integer(out->index.dtype, dm_element_address(&out->index, at), index);
    }
    if (out->label.data)
        dm_store_integer(out->label.dtype, dm_element_address(&out->label, at),
                         site >= 0 ? dm_element_label(e, from) : 0);
#pragma unroll
    for (int a = 0; a < DM_NDIM; a++)
        if (out->coords[a].data)
            dm_store_integer(out->coords[a].dtype, dm_element_address(&out->coords[a], at), from[a]);
}

/* A stored distance, or square, of a signed map gets its sign, and is shortened to the surface. */
DM_DEVICE void dm_store_sign(const dm_elements *e, const dm_array *out, const int64_t at[DM_NDIM], unsigned *raised) {
    char *p = dm_element_address(out, at);
    const bool negative = dm_element_is_site(e, at, raised) != (e->sign == DISTMAP_SIGN_INSIDE);
    if (out->dtype == DISTMAP_FLOAT32) {
        const float distance = *(float *)p - (float)e->surface;
        *(float *)p = negative ? -distance : distance;
    } else {
        const double distance = *(double *)p - e->surface;
        *(double *)p = negative ? -distance : distance;
    }
}

/* One element's result: its squared distance, and the linear index of its site (-1: none; anything where no site is
 * wanted). Applies border and limit, converts, and stores into every wanted output. */
DM_DEVICE void dm_element_emit(const dm_elements *e, const int64_t at[DM_NDIM], dm_value squared, int64_t site,
                               unsigned *raised) {
    if (e->border && !(e->sign && dm_element_is_site(e, at, raised))) /* outside the image is of the shape */
        dm_apply_border(e, at, &squared, &site);
    const bool none = e->number == DM_F64 ? squared.f64 > e->limit2f : squared.u64 > e->limit2;
    if (none) {
        *raised |= DISTMAP_FLAG_NO_SITE;
        squared = dm_value_none(e);
        site = DISTMAP_INDEX_NONE;
    }
    const dm_arrays *out = &e->arrays;
    if (out->distance.data && dm_is_euclidean(&e->chamfer))
        dm_store_distance(e, &out->distance, dm_element_address(&out->distance, at), squared, none);
    else if (out->distance.data)
        dm_store_whole(e, &out->distance, dm_element_address(&out->distance, at), squared, none);
    if (out->squared.data)
        dm_store_squared(e, &out->squared, dm_element_address(&out->squared, at), squared, none, raised);
    if (e->sign && out->distance.data)
        dm_store_sign(e, &out->distance, at, raised);
    if (e->sign && out->squared.data)
        dm_store_sign(e, &out->squared, at, raised);
    if (out->within.data)
        *(uint8_t *)dm_element_address(&out->within, at) = !none;
    if (out->beyond.data)
        dm_store_integer(out->beyond.dtype, dm_element_address(&out->beyond, at),
                         !none                              ? 0
                         : e->input == DISTMAP_INPUT_LABELS ? dm_element_label(e, at)
                                                            : 1);
    if (out->index.data || out->label.data || out->coords[DM_X].data)
        dm_store_site(e, at, site);
}

#endif
