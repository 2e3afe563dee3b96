/* The same problem with more axes: batches cut into two axes, and axes of length 1 in between. No element and no index changes. */
#ifndef TESTS_MATRIX_WIDEN_H
#define TESTS_MATRIX_WIDEN_H

#include <distmap.h>

#include "random.h"

struct widened {
    distmap_problem problem;
    int to[DISTMAP_MAX_AXES]; /* the last one of the axes that axis a became */
    int old;                  /* how many there were */
};

/* The problem with five to eight axes. It must have neither `coords` nor a window. */
struct widened widen(const distmap_problem *problem, struct rng *r);
/* A view of the problem's shape, so that it has that of the widened one; no view stays none. */
void widen_view(const struct widened *w, distmap_view *view);

#endif
