/* Comparing two sets, what the CPU's and the GPU's rows share: two inner plans, from the points of one set to a map of squared
 * distances, and the memory for that.
 *
 * The map of B is looked up at A's points alone, whose values come to stand together: the elements, in linear order, are cut
 * into pieces, and a piece's values are moved to where its part of the map begins, behind what has been read. Then the other
 * way round, in the same memory. Largest values, counts and sums come with it; order statistics are selected from the values
 * afterwards, digit by digit from the highest (a radix selection): where a histogram of the values' digits passes the rank
 * wanted is the digit of the value of that rank, and the next digit's histogram is about values with this one only. */
#ifndef DISTMAP_OPERATIONS_COMPARISON_H
#define DISTMAP_OPERATIONS_COMPARISON_H

#include "core/internal.h"
#include "core/scratch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CO_DIGIT = 11, CO_BINS = 1 << CO_DIGIT };

/* Parts of the scratch; NULL if it is only counted. */
typedef struct co_memory {
    char *
        map; /* squared distances, of the plan's number type; then each piece's values (the CPU's: not 0), at its beginning */
    uint8_t *mask;   /* surfaces: one set's points, from which the map is computed */
    uint32_t *count; /* values of each piece */
    int64_t piece;   /* elements; the last one may have fewer */
    int64_t pieces;
} co_memory;

/* Walks over the scratch of the inner plans and of this. */
co_memory co_lay_out(const distmap_plan *plan, int64_t piece, dm_scratch *walk);

distmap_status co_prepare(distmap_plan *plan);

/* The map of the set that `direction` measures to: 0, from A to B. For surfaces its points are in memory->mask. */
distmap_status co_transform(distmap_plan *plan, int direction, const dm_arrays *arrays, const co_memory *memory);

/* Where the first of the digits begins, in bits from the lowest, that any key up to `largest` has. */
DM_ANYWHERE int co_first_shift(uint64_t largest) {
    int shift = 0;
    while (shift + CO_DIGIT < 64 && largest >> (shift + CO_DIGIT))
        shift += CO_DIGIT;
    return shift;
}

DM_ANYWHERE double co_square_of(dm_number number, uint64_t key) {
    union {
        uint64_t bits;
        double square;
    } value;
    value.bits = key;
    return number == DM_F64 ? value.square : (double)key;
}

/* Adds a distance, by its key; none (the other set is empty) adds nothing. */
DM_ANYWHERE void co_add(const dm_comparison *c, dm_number number, uint64_t key, dm_distances *to) {
    const double square = co_square_of(number, key);
    to->points++;
    to->within += key <= c->within;
    to->largest = key > to->largest ? key : to->largest;
    if (key == 0 || square > 1e300)
        return;
    uint64_t wide[2];
    dm_wide_of(dm_key_distance(c, number == DM_F64, key) * c->scale[0], wide);
    dm_wide_add(to->sum, wide[0], wide[1]);
    if (number != DM_F64) {
        dm_wide_add(to->squares, key, 0);
        return;
    }
    dm_wide_of(square * c->scale[1], wide);
    dm_wide_add(to->squares, wide[0], wide[1]);
}

#ifdef __cplusplus
}
#endif
#endif
