/* Element types: size, name, range; and the plain view. */
#include <string.h>

#include "core/internal.h"

static const struct {
    const char *name;
    size_t size;
    uint64_t max; /* 0 for floats */
} dtypes[] = {
    [DISTMAP_NONE] = {"none", 0, 0},           [DISTMAP_BOOL] = {"bool", 1, 1},
    [DISTMAP_INT8] = {"int8", 1, INT8_MAX},    [DISTMAP_UINT8] = {"uint8", 1, UINT8_MAX},
    [DISTMAP_INT16] = {"int16", 2, INT16_MAX}, [DISTMAP_UINT16] = {"uint16", 2, UINT16_MAX},
    [DISTMAP_INT32] = {"int32", 4, INT32_MAX}, [DISTMAP_UINT32] = {"uint32", 4, UINT32_MAX},
    [DISTMAP_INT64] = {"int64", 8, INT64_MAX}, [DISTMAP_UINT64] = {"uint64", 8, UINT64_MAX},
    [DISTMAP_FLOAT32] = {"float32", 4, 0},     [DISTMAP_FLOAT64] = {"float64", 8, 0},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

size_t distmap_dtype_size(distmap_dtype dtype) { return (unsigned)dtype < DTYPES ? dtypes[dtype].size : 0; }

const char *distmap_dtype_name(distmap_dtype dtype) { return (unsigned)dtype < DTYPES ? dtypes[dtype].name : NULL; }

distmap_dtype distmap_dtype_from_name(const char *name) {
    for (int i = DISTMAP_BOOL; name && i < DTYPES; i++)
        if (strcmp(name, dtypes[i].name) == 0)
            return (distmap_dtype)i;
    return DISTMAP_NONE;
}

uint64_t dm_dtype_max(distmap_dtype dtype) { return (unsigned)dtype < DTYPES ? dtypes[dtype].max : 0; }

distmap_view distmap_view_make(void *data, distmap_dtype dtype, int ndim, const int64_t *shape) {
    distmap_view view = {.data = data, .dtype = dtype, .ndim = ndim};
    int64_t stride = (int64_t)distmap_dtype_size(dtype);
    for (int a = (ndim < DISTMAP_MAX_AXES ? ndim : DISTMAP_MAX_AXES) - 1; shape && a >= 0; a--) {
        view.shape[a] = shape[a];
        view.strides[a] = stride;
        if (__builtin_mul_overflow(stride, shape[a] > 0 ? shape[a] : 1, &stride))
            stride = 0; /* such a shape is refused wherever the view is used */
    }
    return view;
}
