/* Element types as NumPy names them, '<f4': the byte order, the kind, the bytes. NPY and Zarr have them in their headers. */
#include <stdio.h>
#include <string.h>

#include "io/codec.h"
#include "io/convert.h"

static const struct {
    char code[4];
    distmap_dtype dtype;
} types[] = {
    {"b1", DISTMAP_BOOL},   {"i1", DISTMAP_INT8},    {"u1", DISTMAP_UINT8},   {"i2", DISTMAP_INT16},
    {"u2", DISTMAP_UINT16}, {"i4", DISTMAP_INT32},   {"u4", DISTMAP_UINT32},  {"i8", DISTMAP_INT64},
    {"u8", DISTMAP_UINT64}, {"f4", DISTMAP_FLOAT32}, {"f8", DISTMAP_FLOAT64},
};
enum { TYPES = sizeof types / sizeof *types };

distmap_dtype dm_numpy_dtype(const char *name, bool *swapped) {
    *swapped = name[0] == (DM_HOST_BIG ? '<' : '>');
    for (size_t t = 0; t < TYPES; t++)
        if (name[0] && strchr("<>=|", name[0]) && !strcmp(name + 1, types[t].code))
            return types[t].dtype;
    return DISTMAP_NONE;
}

void dm_numpy_name(distmap_dtype dtype, char name[8]) {
    const char order = distmap_dtype_size(dtype) == 1 ? '|' : DM_HOST_BIG ? '>' : '<';
    for (size_t t = 0; t < TYPES; t++)
        if (types[t].dtype == dtype)
            snprintf(name, 8, "%c%.2s", order, types[t].code);
}
