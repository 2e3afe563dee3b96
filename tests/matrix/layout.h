/* Arrays in odd places: strided, reversed, transposed and rotated views inside poisoned memory with room on all sides. */
#ifndef TESTS_MATRIX_LAYOUT_H
#define TESTS_MATRIX_LAYOUT_H

#include <distmap.h>
#include <stdbool.h>
#include <stddef.h>

#include "random.h"

enum layout { LAYOUT_PLAIN, LAYOUT_PADDED, LAYOUT_REVERSED, LAYOUT_TRANSPOSED, LAYOUT_ROTATED, LAYOUT_STEPPED, LAYOUT_COUNT };

struct placed {
    distmap_view view;
    unsigned char *memory;
    void *device; /* its twin in a device's memory, see runner.h; NULL: none yet */
    size_t bytes;
};

/* A view of that layout in fresh memory filled with poison. Free `memory`. */
struct placed layout_place(enum layout layout, distmap_dtype dtype, int ndim, const int64_t *shape);
void layout_poison(struct placed *placed);
unsigned char layout_poison_byte(const struct placed *placed, size_t at); /* at memory[at] */
/* The first `elements` elements, in row-major order, become those of `values`, which are `pitch` bytes apart (of wider integers
 * their low bytes); the rest stays. */
void layout_fill(struct placed *placed, int64_t elements, const void *values, size_t pitch);
/* Whether the memory is what poisoning and that filling leave, the room around the elements included. */
bool layout_holds(const struct placed *placed, int64_t elements, const void *values, size_t pitch);
/* Offset in `memory` of the element with that row-major index. */
size_t layout_offset(const struct placed *placed, int64_t linear);

extern const char *const layout_names[LAYOUT_COUNT];

#endif
