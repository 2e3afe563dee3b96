/* Cases by recipe: which of a problem's features vary, and how. */
#ifndef TESTS_MATRIX_RECIPE_H
#define TESTS_MATRIX_RECIPE_H

#include "check.h"
#include "corpus.h"

enum feature {
    VARY_AXES = 1,
    VARY_INTEGER_SPACING = 2,
    VARY_REAL_SPACING = 4,
    VARY_LIMIT = 8,
    VARY_BORDER = 16,
    VARY_DTYPE = 32, /* and the sites rule, with values at the types' and the rule's edges */
    VARY_LAYOUT = 64,
    SAMPLED_INPUT = 128,
    LABELS_INPUT = 256,
    STEP_METRICS = 512, /* city-block, chessboard, chamfer: no spacing, a mask */
    ONE_SLOW_AXIS = 2048, /* samples in uint32 along one axis that is not the last, within a limit */
    SIGNED_MAP = 1024,  /* a mask: not with samples, labels and other metrics */
};

/* Fills problem, input and payload of `c` for image `m`, whose shape is set and sites are painted. Free both. */
void recipe_make(struct test_case *c, const struct image *m, unsigned features, struct rng *r);

/* A combination of outputs that the case's problem allows. Numbers 0 and 1 are the common ones; others are drawn. */
distmap_outputs recipe_outputs(const struct test_case *c, int number, struct rng *r);

#endif
