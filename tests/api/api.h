/* What the tests of the API share: cmocka, a small problem with its arrays, reproducible images. */
#ifndef TESTS_API_API_H
#define TESTS_API_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <distmap.h>

enum { HEIGHT = 37, WIDTH = 53, PIXELS = HEIGHT * WIDTH };

static const int64_t small_shape[2] = {HEIGHT, WIDTH};

/* A mask of 37 x 53 bytes to float distances. */
static inline distmap_problem small_problem(void) {
    return (distmap_problem){
        .dtype = DISTMAP_UINT8, .ndim = 2, .shape = {HEIGHT, WIDTH}, .want.distance = DISTMAP_FLOAT32};
}

static inline distmap_arrays small_arrays(const uint8_t *mask, float *distance) {
    return (distmap_arrays){.input = distmap_view_make((void *)mask, DISTMAP_UINT8, 2, small_shape),
                            .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 2, small_shape)};
}

/* The first row of the method table, from `row` on, that is one of the CPU. */
static inline size_t cpu_method(size_t row) {
    while (distmap_method_get(row) && strcmp(distmap_method_get(row)->device, "cpu") != 0)
        row++;
    return row;
}

/* About one element in `every` is a site, the same ones for the same seed. */
static inline void paint(uint8_t *mask, size_t count, unsigned every, uint32_t seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        mask[i] = (seed >> 8) % every != 0;
    }
}

#endif
