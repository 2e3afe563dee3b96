/* Signed maps: adds signs to rows that were stored without, and subtracts the surface. */
#include "cpu/rows.h"

/* A sign is a factor, since which side comes next cannot be foretold. Contiguous rows have their own loop so that it becomes
 * SIMD. */
#define DEFINE_SIGN(T)                                                                              \
    static void sign_##T(char *p, int64_t stride, int64_t count, T surface, const int8_t *factor) { \
        if (stride == (int64_t)sizeof(T))                                                           \
            for (int64_t i = 0; i < count; i++)                                                     \
                ((T *)p)[i] = (((T *)p)[i] - surface) * (T)factor[i];                               \
        else                                                                                        \
            for (int64_t i = 0; i < count; i++)                                                     \
                *(T *)(p + i * stride) = (*(T *)(p + i * stride) - surface) * (T)factor[i];         \
    }
DEFINE_SIGN(float)
DEFINE_SIGN(double)

static void sign_run(const distmap_plan *plan, const dm_array *out, const int64_t at[DM_NDIM], int64_t count,
                     const int8_t *factor) {
    if (!out->data)
        return;
    char *p = dm_row_address(out, at);
    if (out->dtype == DISTMAP_FLOAT32)
        sign_float(p, out->stride[DM_X], count, (float)plan->surface, factor);
    else
        sign_double(p, out->stride[DM_X], count, plan->surface, factor);
}

void dm_row_sign(distmap_plan *plan, const dm_arrays *arrays, const int64_t at[DM_NDIM], int64_t count) {
    enum { BLOCK = 256 };
    uint8_t shape[BLOCK];
    int8_t factor[BLOCK];
    const int within = plan->problem.sign == DISTMAP_SIGN_INSIDE ? 1 : -1;
    int64_t from[DM_NDIM] = {at[0], at[1], at[2], at[3]};
    for (int64_t done = 0; done < count; done += BLOCK, from[DM_X] += BLOCK) {
        const int64_t n = count - done < BLOCK ? count - done : BLOCK;
        dm_row_sites(plan, &arrays->input, from, n, shape);
        for (int64_t i = 0; i < n; i++)
            factor[i] = (int8_t)(within * (2 * shape[i] - 1));
        sign_run(plan, &arrays->distance, from, n, factor);
        sign_run(plan, &arrays->squared, from, n, factor);
    }
}

void dm_sign_floats(const distmap_plan *plan, const uint8_t *shape, int64_t count, float *distance) {
    const int within = plan->problem.sign == DISTMAP_SIGN_INSIDE ? 1 : -1;
    const float surface = (float)plan->surface;
    for (int64_t i = 0; i < count; i++)
        distance[i] = (distance[i] - surface) * (float)(within * (2 * shape[i] - 1));
}
