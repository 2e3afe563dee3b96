/* Problems of more axes than the normal form has (split.c). */
#ifndef DISTMAP_CORE_SPLIT_H
#define DISTMAP_CORE_SPLIT_H

#include "distmap.h"

struct distmap_plan;

enum { DM_LOOPS = 4 }; /* axes that are gone through one place after another: 8 less those of the normal form */

typedef struct dm_split {
    distmap_problem
        given; /* the caller's, with axes filled in; ndim 0: the plan's problem is the caller's, and nothing is split */
    int measured;                /* how many axes are: the last ones of the plan's problem */
    int batches;                 /* the axes before them */
    int axis[4];                 /* of the plan's problem: the caller's */
    int loops, loop[DM_LOOPS];   /* the caller's axes that the plan's problem has not, slowest first */
    struct distmap_plan *merged; /* all batches as one axis, for arrays whose strides allow it; NULL: none */
    bool ran_merged;             /* the last execution did it */
} dm_split;

#endif
