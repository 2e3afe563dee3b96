/* slabs [CASE]: masks, labels and signed maps spread over the ranks by drawn slabs, some of them empty, against brute force by one
 * process that holds all, to the bit: distances, squares, sites, flags. Views lie in odd places, and nothing beside them may change. The
 * seed is rank 0's; DISTMAP_TEST_SEED and DISTMAP_TEST_SCALE are those of `matrix`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <distmap/mpi.h>

#include "../matrix/drawn.h"
#include "../seed.h"

enum { CASES = 900, MOST = 1500, OUTPUTS = 3 };

static int rank, size, failures;
static distmap_context *contexts[2]; /* of one thread and of two */

struct job {
    char name[DRAWN_NAME];
    struct test_case test;
    int64_t elements;
    void *result[OUTPUTS]; /* brute force: distance, squared, index */
    unsigned flags;
    int axis;
    int64_t first, count;
    distmap_mpi_options options;
};

static distmap_dtype dtype_of(const distmap_outputs *want, int output) {
    return output == 0 ? want->distance : output == 1 ? want->squared : want->index;
}

/* ---- By one process ---- */

static void compute(struct job *j) {
    const distmap_problem *p = &j->test.problem;
    const distmap_plan_options options = {.method = "brute/cpu"};
    distmap_arrays arrays = {.input = distmap_view_make(j->test.input, p->dtype, p->ndim, p->shape)};
    distmap_view *const views[OUTPUTS] = {&arrays.distance, &arrays.squared, &arrays.index};
    for (int k = 0; k < OUTPUTS; k++) {
        const distmap_dtype dtype = dtype_of(&p->want, k);
        j->result[k] = malloc((size_t)j->elements * 8);
        REQUIRE(j->result[k]);
        if (dtype)
            *views[k] = distmap_view_make(j->result[k], dtype, p->ndim, p->shape);
    }
    distmap_plan *plan = NULL;
    REQUIRE(distmap_plan_create(contexts[0], p, &options, &plan) == DISTMAP_OK);
    REQUIRE(distmap_plan_execute(plan, &arrays) == DISTMAP_OK);
    j->flags = distmap_plan_flags(plan);
    distmap_plan_destroy(&plan);
}

/* ---- Drawing ---- */

static void draw_outputs(distmap_problem *p, struct rng *r) {
    static const distmap_dtype roots[] = {DISTMAP_NONE, DISTMAP_FLOAT32, DISTMAP_FLOAT64, DISTMAP_FLOAT32};
    static const distmap_dtype squares[] = {DISTMAP_NONE,    DISTMAP_NONE,   DISTMAP_FLOAT32,
                                            DISTMAP_FLOAT64, DISTMAP_UINT32, DISTMAP_UINT64};
    static const distmap_dtype sites[] = {DISTMAP_NONE, DISTMAP_NONE, DISTMAP_INT32, DISTMAP_INT64};
    size_t bytes;
    do
        p->want = (distmap_outputs){.distance = roots[rng_range(r, 0, 3)],
                                    .squared = squares[rng_range(r, 0, 5)],
                                    .index = sites[rng_range(r, 0, 3)]};
    while (distmap_scratch_bytes(contexts[0], p, NULL, &bytes) != DISTMAP_OK);
}

/* Labels in runs of a drawn length, or the sides of a signed map. */
static void draw_kinds(struct job *j, const struct image *m, struct rng *r) {
    distmap_problem *p = &j->test.problem;
    const size_t bytes = distmap_dtype_size(p->dtype);
    const int64_t run = rng_range(r, 1, 40), count = rng_range(r, 1, 5);
    const bool real = p->dtype == DISTMAP_FLOAT32 || p->dtype == DISTMAP_FLOAT64;
    if (rng_chance(r, 0.5)) {
        p->sign = rng_chance(r, 0.5) ? DISTMAP_SIGN_OUTSIDE : DISTMAP_SIGN_INSIDE;
        p->surface = rng_chance(r, 0.3) ? DISTMAP_SURFACE_HALF : DISTMAP_SURFACE_CENTRE;
        return;
    }
    if (real)
        return;
    p->input = DISTMAP_INPUT_LABELS;
    p->sites = (distmap_sites){.rule = rng_chance(r, 0.3) ? DISTMAP_SITES_NONE : DISTMAP_SITES_ZERO};
    memset(j->test.input, 0, (size_t)m->elements * bytes);
    for (int64_t i = 0; i < m->elements; i++) {
        /* Those of many bytes differ in the last ones, too. */
        unsigned char *at = (unsigned char *)j->test.input + (size_t)i * bytes;
        const unsigned char label = m->site[i] ? 0 : (unsigned char)(1 + i / run % count);
        at[label % bytes] = p->dtype == DISTMAP_BOOL ? label != 0 : label;
    }
}

/* Slabs of any thickness: ends are drawn, or even, or one rank has all. */
static void draw_slabs(struct job *j, struct rng *r) {
    const int64_t n = j->test.problem.shape[j->axis];
    const int kind = (int)rng_range(r, 0, 3), owner = (int)rng_range(r, 0, size - 1);
    int64_t end[64] = {0};
    REQUIRE(size < 64);
    for (int k = 0; k < size; k++)
        end[k + 1] = k + 1 == size ? n : rng_range(r, 0, n);
    for (int k = 1; k < size; k++)
        for (int i = k; i > 1 && end[i - 1] > end[i]; i--) {
            const int64_t swap = end[i];
            end[i] = end[i - 1];
            end[i - 1] = swap;
        }
    j->first = end[rank];
    j->count = end[rank + 1] - end[rank];
    if (kind == 0)
        REQUIRE(distmap_mpi_slab(n, size, rank, &j->first, &j->count) == DISTMAP_OK);
    if (kind == 1) {
        j->first = rank == owner ? 0 : 77; /* of no meaning where there are no slices */
        j->count = rank == owner ? n : 0;
    }
}

/* ---- One run ---- */

/* The place in the image of element i of this rank's slab. */
static int64_t whole_index(const struct job *j, int64_t i) {
    const distmap_problem *p = &j->test.problem;
    int64_t inner = 1;
    for (int a = j->axis + 1; a < p->ndim; a++)
        inner *= p->shape[a];
    const int64_t slab = j->count * inner;
    return i / slab * p->shape[j->axis] * inner + j->first * inner + i % slab;
}

static bool is_right(const struct job *j, int output, int64_t at, const unsigned char *got) {
    const distmap_problem *p = &j->test.problem;
    const size_t bytes = distmap_dtype_size(dtype_of(&p->want, output));
    const unsigned char *wanted = (unsigned char *)j->result[output] + (size_t)at * bytes;
    if (memcmp(got, wanted, bytes) == 0)
        return true;
    if (output != 2 || !j->test.loose_ties)
        return false;
    _Alignas(8) unsigned char pair[2][8];
    memcpy(pair[0], got, bytes);
    memcpy(pair[1], wanted, bytes);
    const int64_t site = (int64_t)oracle_element(pair[0], p->want.index, 0);
    const int64_t other = (int64_t)oracle_element(pair[1], p->want.index, 0);
    return site >= 0 && other >= 0 && site < j->elements && oracle_serves(p, j->test.input, at, site) &&
           oracle_distance_f64(p, j->test.input, at, site) == oracle_distance_f64(p, j->test.input, at, other);
}

static const char *judge(const struct job *j, int output, struct placed *placed, int64_t elements) {
    static char why[160];
    const size_t bytes = distmap_dtype_size(placed->view.dtype);
    for (int64_t i = 0; i < elements; i++) {
        unsigned char *got = placed->memory + layout_offset(placed, i);
        const int64_t at = whole_index(j, i);
        if (!is_right(j, output, at, got)) {
            _Alignas(8) unsigned char pair[2][8];
            memcpy(pair[0], got, bytes);
            memcpy(pair[1], (unsigned char *)j->result[output] + (size_t)at * bytes, bytes);
            snprintf(why, sizeof why, "%s at element %" PRId64 ": got %.20Lg, want %.20Lg",
                     output == 0   ? "distance"
                     : output == 1 ? "squared"
                                   : "index",
                     at, oracle_element(pair[0], placed->view.dtype, 0),
                     oracle_element(pair[1], placed->view.dtype, 0));
            return why;
        }
        for (size_t k = 0; k < bytes; k++) /* what is left must be the poison */
            got[k] = layout_poison_byte(placed, (size_t)(got - placed->memory) + k);
    }
    for (size_t i = 0; i < placed->bytes; i++)
        if (placed->memory[i] != layout_poison_byte(placed, i))
            return "memory outside an output was changed";
    return NULL;
}

static const char *execute(const struct job *j, distmap_mpi_plan *plan, enum layout in, enum layout out) {
    const distmap_problem *p = &j->test.problem;
    struct image slab = {.ndim = p->ndim, .elements = j->count};
    memcpy(slab.shape, p->shape, sizeof slab.shape);
    slab.shape[j->axis] = j->count;
    for (int a = 0; a < p->ndim; a++)
        slab.elements *= a == j->axis ? 1 : p->shape[a];
    const size_t bytes = distmap_dtype_size(p->dtype);
    char *own = malloc((size_t)slab.elements * bytes + 1);
    REQUIRE(own);
    for (int64_t i = 0; i < slab.elements; i++)
        memcpy(own + (size_t)i * bytes, (char *)j->test.input + (size_t)whole_index(j, i) * bytes, bytes);
    struct placed input = drawn_place(in, p->dtype, &slab, own), outputs[OUTPUTS] = {0};
    unsigned char *untouched = malloc(input.bytes);
    REQUIRE(untouched);
    memcpy(untouched, input.memory, input.bytes);
    distmap_arrays arrays = {.input = input.view};
    distmap_view *const views[OUTPUTS] = {&arrays.distance, &arrays.squared, &arrays.index};
    for (int k = 0; k < OUTPUTS; k++)
        if (dtype_of(&p->want, k)) {
            outputs[k] = layout_place(out, dtype_of(&p->want, k), p->ndim, slab.shape);
            *views[k] = outputs[k].view;
        }
    const char *why = distmap_mpi_plan_execute(plan, &arrays) ? distmap_error_text() : NULL;
    for (int k = 0; k < OUTPUTS && !why; k++)
        if (outputs[k].memory)
            why = judge(j, k, &outputs[k], slab.elements);
    if (!why && memcmp(untouched, input.memory, input.bytes) != 0)
        why = "the input was changed";
    if (!why && distmap_mpi_plan_flags(plan) != j->flags)
        why = "other flags";
    for (int k = 0; k < OUTPUTS; k++)
        free(outputs[k].memory);
    free(untouched);
    free(input.memory);
    free(own);
    return why;
}

static void tell(const struct job *j, const char *why) {
    const distmap_problem *p = &j->test.problem;
    if (++failures > 3)
        return;
    fprintf(stderr,
            "FAILED %s\n  rank %d of %d, slices %" PRId64 " + %" PRId64
            ", panels of %zu bytes, %d near; dtype %s, input %d, sign %d, surface %d, axes 0x%x",
            j->name, rank, size, j->first, j->count, j->options.panel_bytes, j->options.near_ranks,
            distmap_dtype_name(p->dtype), (int)p->input, (int)p->sign, (int)p->surface, p->axes);
    for (int a = 0; a < p->ndim; a++)
        fprintf(stderr, ", pitch %g", p->spacing[a]);
    fprintf(stderr, ", limit %.17g, border %d; want d %s, d2 %s, i %s: %s\n", p->limit, p->border,
            distmap_dtype_name(p->want.distance), distmap_dtype_name(p->want.squared),
            distmap_dtype_name(p->want.index), why);
}

static void run_case(int number, uint64_t seed, struct rng *r) {
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 40, 64, 65, 100, 300};
    struct image m = {0};
    drawn_shape(&m, lengths, sizeof lengths / sizeof *lengths, MOST, r);
    const int pattern = (int)rng_range(r, 0, corpus_count - 1);
    struct job j = {.elements = m.elements};
    m.site = malloc((size_t)m.elements);
    REQUIRE(m.site);
    corpus_paint(pattern, &m, r);
    const unsigned features = (rng_chance(r, 0.4) ? VARY_AXES : 0) | (rng_chance(r, 0.3) ? VARY_INTEGER_SPACING : 0) |
                              (rng_chance(r, 0.25) ? VARY_REAL_SPACING : 0) | (rng_chance(r, 0.3) ? VARY_LIMIT : 0) |
                              (rng_chance(r, 0.4) ? VARY_BORDER : 0) | (rng_chance(r, 0.5) ? VARY_DTYPE : 0);
    recipe_make(&j.test, &m, features, r);
    if (rng_chance(r, 0.6))
        draw_kinds(&j, &m, r);
    draw_outputs(&j.test.problem, r);
    drawn_name(j.name, sizeof j.name, "slabs", number, seed, pattern, &m);
    compute(&j);
    j.axis = j.test.problem.axes ? __builtin_ctz(j.test.problem.axes) : 0;
    j.options.panel_bytes = rng_chance(r, 0.5) ? (size_t)rng_range(r, 1, 20000) : 0;
    j.options.near_ranks = (int)rng_range(r, 0, 3); /* all by memory or by messages, or both */
    draw_slabs(&j, r);
    struct rng mine = {rng_next(r) + (uint64_t)rank}; /* where views lie is each rank's own affair */
    distmap_mpi_plan *plan = NULL;
    const char *why = NULL;
    if (distmap_mpi_plan_create(MPI_COMM_WORLD, contexts[number % 2], &j.test.problem, j.first, j.count, &j.options,
                                &plan))
        why = distmap_error_text();
    for (int time = 0; time < 2 && plan; time++) { /* nothing may be left behind in the plan */
        const enum layout in = (enum layout)rng_range(&mine, 0, LAYOUT_COUNT - 1);
        const char *found = execute(&j, plan, in, (enum layout)rng_range(&mine, 0, LAYOUT_COUNT - 1));
        why = why ? why : found;
    }
    distmap_mpi_plan_destroy(&plan);
    if (why)
        tell(&j, why);
    for (int k = 0; k < OUTPUTS; k++)
        free(j.result[k]);
    free(j.test.input);
    free(m.site);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 2; k++)
        REQUIRE(distmap_context_create(&(distmap_context_options){.threads = k + 1}, &contexts[k]) == DISTMAP_OK);
    uint64_t seed = test_seed();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    const int count = drawn_count(CASES);
    for (int number = 0; number < count; number++) {
        struct rng r = {seed * 1000003 + (uint64_t)number * 7919};
        rng_next(&r);
        if (argc < 2 || atoi(argv[1]) == number)
            run_case(number, seed, &r);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("slabs, seed %" PRIu64 ", %d cases on %d ranks, %d failures\n", seed, count, size, failures);
    for (int k = 0; k < 2; k++)
        distmap_context_destroy(&contexts[k]);
    MPI_Finalize();
    return failures > 0;
}
