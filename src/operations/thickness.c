/* See thickness.h. */
#include "operations/thickness.h"

#include "operations/inner.h"

distmap_problem th_inner(const distmap_plan *plan, th_volumes *v) {
    distmap_problem inner = op_counts(plan);
    inner.field = DISTMAP_FIELD_DISTANCE;
    *v = (th_volumes){.length = {1, 1, 1},
                      .axis = {-1, -1, -1},
                      .w2 = {1, 1, 1},
                      .w2f = {1, 1, 1},
                      .count = 1,
                      .number = plan->number,
                      .unit = plan->unit};
    inner.want.squared = v->number == DM_U32 ? DISTMAP_UINT32 : v->number == DM_U64 ? DISTMAP_UINT64 : DISTMAP_FLOAT64;
    for (int n = DM_NDIM - 1, k = TH_LAST; n >= 0; n--) {
        if (!plan->measured[n])
            continue;
        v->axis[k] = n;
        v->length[k] = plan->shape[n];
        v->w2[k] = plan->w2[n];
        v->w2f[k--] = plan->w2f[n];
    }
    for (int n = 0; n < DM_NDIM; n++)
        if (!plan->measured[n]) {
            v->batch[v->batches++] = n;
            v->count *= plan->shape[n];
        }
    v->rows = v->length[TH_Z] * v->length[TH_Y];
    v->elements = v->rows * v->length[TH_LAST];
    v->least = UINT64_MAX;
    for (int k = 0; k < TH_AXES; k++) {
        uint64_t key = v->w2[k];
        if (v->number == DM_F64)
            memcpy(&key, &v->w2f[k], sizeof key);
        v->least = v->length[k] > 1 && key < v->least ? key : v->least;
    }
    return inner;
}

distmap_view th_squares_view(const distmap_plan *plan, const th_volumes *v, void *squares) {
    const distmap_dtype dtype = v->number == DM_U32   ? DISTMAP_UINT32
                                : v->number == DM_U64 ? DISTMAP_UINT64
                                                      : DISTMAP_FLOAT64;
    distmap_view view = op_dense(plan, squares, dtype);
    int64_t stride = (int64_t)distmap_dtype_size(dtype);
    for (int k = TH_LAST; k >= 0; k--)
        if (v->axis[k] >= 0) {
            view.strides[v->axis[k] - (DM_NDIM - view.ndim)] = stride;
            stride *= v->length[k];
        }
    for (int i = v->batches - 1; i >= 0; i--) {
        const int a = v->batch[i] - (DM_NDIM - view.ndim);
        if (a < 0)
            continue;
        view.strides[a] = stride;
        stride *= view.shape[a];
    }
    return view;
}

int64_t th_offset(const distmap_plan *plan, const th_volumes *v, const dm_array *array, int64_t volume) {
    int64_t offset = 0;
    for (int i = v->batches - 1; i >= 0; i--) {
        const int n = v->batch[i];
        offset += volume % plan->shape[n] * array->stride[n];
        volume /= plan->shape[n];
    }
    return offset;
}

const char *th_refuses(const distmap_plan *plan) {
    int64_t elements = 1;
    for (int n = 0; n < DM_NDIM; n++)
        elements *= plan->measured[n] ? plan->shape[n] : 1;
    return elements > UINT32_MAX ? "needs fewer than 2^32 elements in a batch" : NULL;
}
