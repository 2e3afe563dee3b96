/* Squared distances to distances, and to squares in the caller's unit, rounded once (core/unit.h); of FP64 numbers sqrt(D2) and D2,
 * rounded to double and then to the type.
 *
 * Everyday rows are plain loops that compilers turn into vectors: with the unit 1, roots of integers that floats hold; else doubles
 * whose nearest floats are nearly always the results. Where one is not surely so, the row's elements are asked for one by one.
 */
#include "cpu/lengths.h"

#include <float.h>

#define DEFINE_LENGTHS(T, none)                                                                                  \
    static bool are_floats_##T(const T *n, int64_t count) {                                                      \
        T any = 0;                                                                                               \
        for (int64_t i = 0; i < count; i++)                                                                      \
            any |= n[i] == (none) ? 0 : n[i];                                                                    \
        return any < DM_UNIT_EXACT_FLOAT;                                                                        \
    }                                                                                                            \
    static void distance_floats_##T(const dm_unit *u, const T *n, int64_t count, float *out) {                   \
        if (u->is_one && are_floats_##T(n, count)) {                                                             \
            for (int64_t i = 0; i < count; i++)                                                                  \
                out[i] = n[i] == (none) ? (float)INFINITY : sqrtf((float)n[i]);                                  \
            return;                                                                                              \
        }                                                                                                        \
        const double high = u->high;                                                                             \
        unsigned unsure = 0;                                                                                     \
        for (int64_t i = 0; i < count; i++) {                                                                    \
            const double r = high * sqrt((double)n[i]);                                                          \
            unsure |= dm_is_between_floats(r);                                                                   \
            out[i] = n[i] == (none) ? (float)INFINITY : (float)r;                                                \
        }                                                                                                        \
        for (int64_t i = 0; unsure && i < count; i++)                                                            \
            out[i] = n[i] == (none) ? (float)INFINITY : dm_unit_distancef(u, n[i]);                              \
    }                                                                                                            \
    static void square_floats_##T(const dm_unit *u, const T *n, int64_t count, float *out) {                     \
        for (int64_t i = 0; i < count; i++)                                                                      \
            out[i] = n[i] == (none) ? (float)INFINITY : dm_unit_squaref(u, n[i]);                                \
    }                                                                                                            \
    static void distance_doubles_##T(const dm_unit *u, const T *n, int64_t count, double *out) {                 \
        for (int64_t i = 0; i < count; i++)                                                                      \
            out[i] = n[i] == (none) ? (double)INFINITY : dm_unit_distance(u, n[i]);                              \
    }                                                                                                            \
    static void square_doubles_##T(const dm_unit *u, const T *n, int64_t count, double *out) {                   \
        for (int64_t i = 0; i < count; i++)                                                                      \
            out[i] = n[i] == (none) ? (double)INFINITY : dm_unit_square(u, n[i]);                                \
    }                                                                                                            \
    static void lengths_##T(const distmap_plan *plan, dm_length length, const void *squared, int64_t count,      \
                            distmap_dtype dtype, void *out) {                                                    \
        if (dtype == DISTMAP_FLOAT32)                                                                            \
            (length == DM_SQUARE ? square_floats_##T : distance_floats_##T)(&plan->unit, squared, count, out);   \
        else                                                                                                     \
            (length == DM_SQUARE ? square_doubles_##T : distance_doubles_##T)(&plan->unit, squared, count, out); \
    }
DEFINE_LENGTHS(uint32_t, UINT32_MAX)
DEFINE_LENGTHS(uint64_t, UINT64_MAX)

/* +inf stays +inf. */
static void lengths_double(dm_length length, const double *squared, int64_t count, distmap_dtype dtype, void *out) {
    float *const floats = out;
    double *const doubles = out;
    if (dtype == DISTMAP_FLOAT32)
        for (int64_t i = 0; i < count; i++)
            floats[i] = (float)(length == DM_SQUARE ? squared[i] : sqrt(squared[i]));
    else
        for (int64_t i = 0; i < count; i++)
            doubles[i] = length == DM_SQUARE ? squared[i] : sqrt(squared[i]);
}

void dm_lengths(const distmap_plan *plan, dm_length length, const void *squared, int64_t count, distmap_dtype dtype,
                void *out) {
    switch (plan->number) {
    case DM_U32: lengths_uint32_t(plan, length, squared, count, dtype, out); break;
    case DM_U64: lengths_uint64_t(plan, length, squared, count, dtype, out); break;
    case DM_F64: lengths_double(length, squared, count, dtype, out); break;
    }
}
