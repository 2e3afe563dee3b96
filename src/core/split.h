/* Problems with more axes than the normal form (split.c). */
#ifndef DISTMAP_CORE_SPLIT_H
#define DISTMAP_CORE_SPLIT_H

#include "distmap.h"

struct distmap_plan;

enum { DM_LOOPS = 4 }; /* largest number of loops: 8 less the axes of the normal form */

typedef struct dm_split {
    distmap_problem
        given; /* the caller's, with axes filled in; ndim 0: the plan's problem is the caller's, without a split */
    int measured;                /* number of measured axes, the last ones of the plan's problem */
    int batches;                 /* the axes before them */
    int axis[4];                 /* the caller's axis for each axis of the plan's problem */
    int loops, loop[DM_LOOPS];   /* the caller's axes that are not in the plan's problem, slowest first */
    struct distmap_plan *merged; /* all batches as one axis, for arrays whose strides allow it; NULL: none */
    bool ran_merged;             /* the last execution ran `merged` */
} dm_split;

#endif
