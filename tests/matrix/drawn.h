/* What the programs share that draw problems of one field: seeds, shapes, names, inputs in odd places, and the run of a plan on
 * every runner. */
#ifndef TESTS_MATRIX_DRAWN_H
#define TESTS_MATRIX_DRAWN_H

#include "recipe.h"
#include "runner.h"

enum { SHOWN_FAILURES = 12, DRAWN_NAME = 128 };

/* What a program whose methods run slowly does of all cases. */
#ifndef MATRIX_SHARE
#define MATRIX_SHARE 1
#endif

/* What share of all cases to run: DISTMAP_TEST_SCALE of the program's. And so many of `cases`, at least 1; all where one is chosen. */
double drawn_scale(void);
int drawn_count(int cases);
/* An emulated GPU then runs its threads in an order drawn from the seed. */
void drawn_order(uint64_t seed);

/* One to four axes of these lengths, at most `most` elements. */
void drawn_shape(struct image *m, const int64_t *lengths, int count, int64_t most, struct rng *r);
/* "skeleton 17 (seed 5): circle 63x64" */
void drawn_name(char *name, size_t size, const char *group, int number, uint64_t seed, int pattern,
                const struct image *m);
/* A view of that layout with the row-major elements of `data`. Free `memory`. */
struct placed drawn_place(enum layout layout, distmap_dtype dtype, const struct image *m, const void *data);

struct drawn_job {
    const char *name;
    int number; /* which runner begins, and executes its plan twice */
    const distmap_problem *problem;
    const char *(*run)(const struct drawn_job *job, const struct runner *runner,
                       distmap_plan *plan); /* what is wrong */
    void (*tell)(
        const struct drawn_job *job); /* after a failure: what the problem was, to stderr, one line without its end */
    void *more;
};

/* An output: where it lies, NULL if it is not wanted, and its view among the arrays. */
struct drawn_output {
    struct placed *placed;
    distmap_view *view;
};
/* Executes a plan from an input, of whose memory `untouched` is a copy, into poisoned outputs, and fetches all. Returns what is
 * wrong: the library's error, a changed input, other flags; else NULL. */
const char *drawn_execute(const struct runner *runner, distmap_plan *plan, distmap_arrays *arrays, struct placed *input,
                          const unsigned char *untouched, const struct drawn_output *outputs, int count,
                          unsigned flags);

/* A plan of every method of `field` on every runner. */
void drawn_run(const struct drawn_job *job, distmap_field field);

/* All cases of a program that draws one field's, or what its options choose (choice.h); the exit status, which is 1 as well where
 * nothing ran. `found` counts what there was to find, for the last line. */
int drawn_main(int argc, char **argv, const char *group, int cases, const char *found_what, const long *found,
               void (*run_case)(int number, uint64_t seed, struct rng *r));

#endif
