/* The timing of one cell, and what it says. */
#ifndef DISTMAP_CLI_CELL_H
#define DISTMAP_CLI_CELL_H

#include "suite.h"

enum { LEAST_RUNS = 3, MOST_RUNS = 20 };

int cell_watch(void *suite, double fraction); /* the contexts' distmap_progress */

/* A method at work, between host arrays. */
struct player {
    distmap_context *context;
    bool owns_context;
    distmap_plan *plan;
    distmap_arrays arrays;
    struct played {
        double seconds, wall;
        struct json_object *phases; /* owned */
    } runs[MOST_RUNS];
    int count;
    bool warm; /* one more run was before those, or was the only one and long */
    struct suite_time time;
};

struct outcome {
    const char *state;               /* timed, wrong, skipped, unsupported */
    char reason[256];                /* why it is one of the last two; else "" */
    bool slow;                       /* it is skipped because it takes long */
    const char *checked_against;     /* NULL: not checked */
    const char *production;          /* NULL: not timed */
    distmap_convergence convergence; /* of edge strengths: what the method says */
    double residual;                 /* the largest that was found in them */
    struct player method, best;      /* best: the production method */
};

/* ---- Checks (cell_check.c) ---- */

/* So that results of a cell before do not pass for this one's, and that no run has to wait for the pages. */
void cell_poison(const struct suite *s, void *buffer);
/* Whether a buffer and the reference are the same. */
bool cell_agrees(const struct suite *s, void *with);
/* Edge strengths in the suite's result, and in its reference. Says what they were checked against. */
bool cell_strengths_right(struct suite *s, const struct suite_cell *cell, struct outcome *o);

/* Adds it to the report, and prints it. */
void cell_give(struct suite *s, const struct suite_cell *cell, const struct outcome *o);

#endif
