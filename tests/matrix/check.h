/* Runs one case through every method, instruction set and thread count, and compares every byte with the oracle's. */
#ifndef TESTS_MATRIX_CHECK_H
#define TESTS_MATRIX_CHECK_H

#include "layout.h"
#include "oracle.h"

struct test_case {
    char name[96]; /* "2d #17 circle 63x64": says how to find it again, together with the seed */
    int number;
    distmap_problem problem; /* `want` stays empty here */
    void *input, *payload;   /* row-major; payload may be NULL */
    enum layout in, out; /* of the input and of the first output; */
    int turn;            /* the payload and each further output are laid out so many layouts on */
    bool loose_ties; /* FP64 with inexact products: any site at the right distance will do */
};

/* The contexts to run on, see runner.h; group and seed are told with failures. */
void check_open(const char *group, uint64_t seed);
void check_close(void);

/* One combination of outputs. Failures are printed and counted. */
void check_case(const struct test_case *c, const struct expected *e, const distmap_outputs *want);

/* How often a plan was executed so far, of any method. */
long check_ran(void);

/* Prints what ran. Returns the number of failures: a method that never ran counts as one if `all_run`, and so does a run of nothing. */
int check_report(bool all_run);

#endif
