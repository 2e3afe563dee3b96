/* All kernels of skeleton/cpu for one instruction set. A skeleton_ISA.c defines SK_TABLE, the name of its table, and
 * includes this; CMake gives that file its compiler flags. */
#include <math.h>
#include <string.h>

#include "cpu/independent.h"
#include "cpu/simd.h"
#include "operations/skeleton_cpu.h"

static void set_bits(const sk_edges *p) {
    memset(p->pairs + p->n, 0, (size_t)(-(uint32_t)p->n % 64));
    for (int32_t x = 0; x < p->n; x += 64)
        p->passed[x / 64] = bytes_equal(p->pairs + x, 1);
}

#define T int16_t
#define NAME(operation) operation##_i16
#include "operations/kernel_coordinates.h"
#undef T
#undef NAME

#define T int32_t
#define NAME(operation) operation##_i32
#include "operations/kernel_coordinates.h"
#undef T
#undef NAME

#include "operations/kernel_screen.h"

const sk_kernels SK_TABLE = {
    {{split_32_i16, split_64_i16}, edges_i16}, {{split_32_i32, split_64_i32}, edges_i32}, screen_edges};
