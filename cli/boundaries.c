/* The boundaries of regions (the skeleton by zones of influence, SKIZ): elements whose next neighbour along a measured axis
 * belongs to another region. They become 0 where they lie, in one pass: neighbours that are still to come are as they were.
 * So a boundary is one element thick, and on the side that comes first.
 */
#include <string.h>

#include "cli.h"

static bool is_zero(const char *element, size_t size) {
    static const char zero[8];
    return memcmp(element, zero, size) == 0;
}

void boundaries_clear(const distmap_view *labels, unsigned axes) {
    const size_t size = distmap_dtype_size(labels->dtype);
    const int64_t count = element_count(labels->ndim, labels->shape);
    int64_t at[DISTMAP_MAX_NDIM] = {0};
    char *element = labels->data;
    for (int64_t i = 0; i < count; i++, element += size) {
        bool boundary = false;
        for (int a = 0; a < labels->ndim; a++) {
            if ((axes && !(axes >> a & 1)) || at[a] + 1 == labels->shape[a])
                continue;
            const char *next = element + labels->strides[a];
            boundary = boundary || (memcmp(element, next, size) != 0 && !is_zero(next, size));
        }
        if (boundary)
            memset(element, 0, size);
        for (int a = labels->ndim - 1; a >= 0 && ++at[a] == labels->shape[a]; a--)
            at[a] = 0;
    }
}
