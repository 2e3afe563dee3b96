#include "layout.h"

#include "../require.h"
#include <stdlib.h>
#include <string.h>

enum { GUARD = 128 };

const char *const layout_names[LAYOUT_COUNT] = {"plain", "padded", "reversed", "transposed", "rotated", "stepped"};

/* In arrays whose memory may serve as scratch, that is of 4 and 8 bytes to an element, something that would win as a squared
 * distance; in others no mask's value. */
unsigned char layout_poison_byte(const struct placed *placed, size_t at) {
    static const unsigned char square[4] = {5};
    return distmap_dtype_size(placed->view.dtype) >= sizeof square ? square[at % sizeof square] : 0xA5;
}

void layout_poison(struct placed *placed) {
    for (size_t i = 0; i < placed->bytes; i++)
        placed->memory[i] = layout_poison_byte(placed, i);
}

struct placed layout_place(enum layout layout, distmap_dtype dtype, int ndim, const int64_t *shape) {
    const int64_t size = (int64_t)distmap_dtype_size(dtype);
    struct placed p = {.view = {.dtype = dtype, .ndim = ndim}};
    int64_t stride = layout == LAYOUT_STEPPED ? 3 * size : size, first = 0;
    for (int k = 0; k < ndim; k++) {
        const int a = layout == LAYOUT_TRANSPOSED ? k : layout == LAYOUT_ROTATED ? (ndim - k) % ndim : ndim - 1 - k;
        const bool back = layout == LAYOUT_REVERSED && k % 2 == 0;
        p.view.shape[a] = shape[a];
        p.view.strides[a] = back ? -stride : stride;
        if (back && shape[a] > 0)
            first += stride * (shape[a] - 1);
        stride *= shape[a] > 0 ? shape[a] : 1;
        if (layout == LAYOUT_PADDED)
            stride += 5 * size;
    }
    p.bytes = (size_t)(stride + 2 * GUARD);
    p.memory = malloc(p.bytes);
    REQUIRE(p.memory);
    layout_poison(&p);
    p.view.data = p.memory + GUARD + first;
    return p;
}

size_t layout_offset(const struct placed *p, int64_t linear) {
    int64_t offset = (unsigned char *)p->view.data - p->memory;
    for (int a = p->view.ndim - 1; a >= 0; a--) {
        offset += linear % p->view.shape[a] * p->view.strides[a];
        linear /= p->view.shape[a];
    }
    return (size_t)offset;
}

void layout_fill(struct placed *placed, int64_t elements, const void *values, size_t pitch) {
    const size_t size = distmap_dtype_size(placed->view.dtype);
    for (int64_t i = 0; i < elements; i++)
        memcpy(placed->memory + layout_offset(placed, i), (const char *)values + (size_t)i * pitch, size);
}

bool layout_holds(const struct placed *placed, int64_t elements, const void *values, size_t pitch) {
    struct placed wanted = *placed;
    wanted.memory = malloc(placed->bytes);
    REQUIRE(wanted.memory);
    wanted.view.data = wanted.memory + ((unsigned char *)placed->view.data - placed->memory);
    layout_poison(&wanted);
    layout_fill(&wanted, elements, values, pitch);
    const bool same = memcmp(wanted.memory, placed->memory, placed->bytes) == 0;
    free(wanted.memory);
    return same;
}
