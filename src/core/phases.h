/* The phases of an execution of a timed plan. Methods see of this but dm_phase() (internal.h). */
#ifndef DISTMAP_CORE_PHASES_H
#define DISTMAP_CORE_PHASES_H

#include "distmap.h"

/* Phases by name, and on a GPU how often one may begin; what comes beyond counts to the last one. */
enum { DM_MAX_PHASES = 16, DM_MAX_MARKS = 64 };

typedef struct dm_phases {
    bool on;      /* the plan is timed, and executing */
    bool unnamed; /* the method runs, but has not yet said what it does */
    int count;
    int current;  /* CPU: the one under way, -1: none */
    double begun; /* CPU: when it began */
    distmap_phase phase[DM_MAX_PHASES];
} dm_phases;

#endif
