/* Shortest walks on the grid: the distances of the metrics that are made of steps, found by searching. */
#ifndef TESTS_MATRIX_WALKS_H
#define TESTS_MATRIX_WALKS_H

#include <distmap.h>

/* The lengths of the shortest walks from one element to all others, on a grid of the problem's measured axes that reaches
 * beyond its shape on all sides. */
struct walks {
    int ndim;
    int64_t shape[4], pitch[4], elements, origin;
    uint64_t *length;
};

struct walks walks_make(const distmap_problem *problem);
/* By an offset of at most the problem's shape along each measured axis, and of 0 along the others. */
uint64_t walks_length(const struct walks *walks, const int64_t offset[4]);
void walks_free(struct walks *walks);

#endif
