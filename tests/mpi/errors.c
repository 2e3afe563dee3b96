/* errors: what distmap/mpi.h refuses, on three ranks and more: the same status and text on all of them, nobody waits, no output
 * is touched; and what it tells and allows besides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <distmap/mpi.h>

#include "../require.h"

enum { N = 12, HEIGHT = 5, WIDTH = 7, SLICE = HEIGHT * WIDTH };

static int rank, size, failures;
static distmap_context *context;
static uint8_t mask[N * SLICE];
static float distance[N * SLICE], untouched[N * SLICE];

static distmap_problem small_problem(void) {
    return (distmap_problem){
        .dtype = DISTMAP_UINT8, .ndim = 3, .shape = {N, HEIGHT, WIDTH}, .want.distance = DISTMAP_FLOAT32};
}

struct slab {
    int64_t first, count;
};
static struct slab own_slab(void) {
    struct slab s;
    REQUIRE(distmap_mpi_slab(N, size, rank, &s.first, &s.count) == DISTMAP_OK);
    return s;
}

static distmap_arrays small_arrays(void) {
    const int64_t shape[] = {own_slab().count, HEIGHT, WIDTH};
    return (distmap_arrays){.input = distmap_view_make(mask, DISTMAP_UINT8, 3, shape),
                            .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 3, shape)};
}

/* The status and a text that holds the given one, here and, to the letter, everywhere. */
static void expect(distmap_status got, distmap_status want, const char *text, int line) {
    char first[512] = "";
    snprintf(first, sizeof first, "%s", got ? distmap_error_text() : "");
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (got == want && (!got || (strstr(first, text) && strcmp(first, distmap_error_text()) == 0)))
        return;
    failures++;
    fprintf(stderr, "line %d, rank %d: status %s, '%s'; rank 0 says '%s'; want %s with '%s'\n", line, rank,
            distmap_status_name(got), got ? distmap_error_text() : "", first, distmap_status_name(want), text);
}

/* A plan that must not be made; what is wrong is said of one rank, or of all. */
#define REFUSE_AS(status, text, ...)                                                                           \
    do {                                                                                                       \
        distmap_problem problem = small_problem(), *p = &problem;                                              \
        distmap_mpi_options options = {0};                                                                     \
        distmap_context *c = context;                                                                          \
        struct slab s = own_slab();                                                                            \
        distmap_mpi_plan *plan = (distmap_mpi_plan *)&s;                                                       \
        __VA_ARGS__;                                                                                           \
        expect(distmap_mpi_plan_create(MPI_COMM_WORLD, c, p, s.first, s.count, &options, &plan), status, text, \
               __LINE__);                                                                                      \
        REQUIRE(!plan);                                                                                        \
    } while (0)
#define REFUSE(text, ...) REFUSE_AS(DISTMAP_ERROR_ARGUMENT, text, __VA_ARGS__)
#define ON(r) if (rank == (r))

static void test_problems(void) {
    REFUSE("rank 1: problem.shape[1] is 6 here and 5 on rank 0", ON(1) p->shape[1]++);
    REFUSE("rank 2: problem.spacing[2] is 2 here and 1 on rank 0", ON(2) p->spacing[2] = 2);
    REFUSE("rank 1: problem.limit is 0 here and 3 on rank 0", ON(0) p->limit = 3);
    REFUSE("rank 2: problem.dtype is", ON(2) p->dtype = DISTMAP_INT8);
    REFUSE("rank 2: problem.dtype is 99, must be a dtype", ON(2) p->dtype = (distmap_dtype)99);
    REFUSE("rank 1: problem.sites.rule", ON(1) p->sites.rule = DISTMAP_SITES_NONZERO);
    REFUSE("rank 1: problem.border", ON(1) p->border = true);
    REFUSE("rank 1: problem.axes", ON(1) p->axes = 6);
    REFUSE("rank 2: problem.want.index", ON(2) p->want.index = DISTMAP_INT32);
    REFUSE("rank 1: options.panel_bytes", ON(1) options.panel_bytes = 1000);
    REFUSE("rank 1: options.near_ranks is 2 here and 0 on rank 0", ON(1) options.near_ranks = 2);
    REFUSE("rank 0: options.near_ranks is -1, must be at least 0", options.near_ranks = -1);
    REFUSE("rank 0: problem is NULL", ON(0) p = NULL);
    REFUSE("rank 2: context is NULL", ON(2) c = NULL);
    REFUSE("rank 0: problem.want names no output", p->want.distance = DISTMAP_NONE);
    REFUSE("rank 0: problem.shape[0] is -1", p->shape[0] = -1);
    REFUSE("rank 0: problem.want.squared is uint32", p->spacing[0] = 0.3, p->want.squared = DISTMAP_UINT32);
    REFUSE("rank 1: problem.input", ON(1) p->input = DISTMAP_INPUT_LABELS);
    REFUSE("rank 1: problem.input must be MASK or LABELS", ON(1) p->input = DISTMAP_INPUT_SAMPLED);
    REFUSE("rank 0: problem.metric must be EUCLIDEAN", p->metric = DISTMAP_METRIC_CITYBLOCK);
    REFUSE("rank 2: problem.sign", ON(2) p->sign = DISTMAP_SIGN_INSIDE);
    REFUSE("rank 2: problem.surface", p->sign = DISTMAP_SIGN_INSIDE; ON(2) p->surface = DISTMAP_SURFACE_HALF);
    REFUSE("rank 0: problem.field must be DISTANCE", p->field = DISTMAP_FIELD_SKELETON);
    REFUSE("rank 0: problem.want: only distance, squared and index are available over several ranks",
           p->want.coords = DISTMAP_INT32);
    REFUSE("rank 0: problem.want: only distance, squared and index are available over several ranks",
           p->want.within = DISTMAP_BOOL);
}

static void test_slabs(void) {
    REFUSE("rank 1: first is", ON(1) s.first++);
    REFUSE("rank 2: first is", ON(1) s.count--);
    REFUSE("rank 1: first is", ON(1) s.count = N);
    REFUSE("rank 1: first is", ON(1) s.count = INT64_MAX);
    REFUSE("rank 0: first is", ON(0) s.first = -1);
    REFUSE("rank 1: count is -1", ON(1) s.count = -1);
    REFUSE("of axis 0 are on no rank", ON(size - 1) s.count--);
    REFUSE("slices 0 to 11 of axis 0 are on no rank", s.count = 0);
    int64_t first, count;
    expect(distmap_mpi_slab(-1, 2, 0, &first, &count), DISTMAP_ERROR_ARGUMENT, "n is -1", __LINE__);
    expect(distmap_mpi_slab(5, 2, 2, &first, &count), DISTMAP_ERROR_ARGUMENT, "rank is 2 of 2", __LINE__);
    expect(distmap_mpi_slab(5, 0, 0, &first, &count), DISTMAP_ERROR_ARGUMENT, "rank is 0 of 0", __LINE__);
    expect(distmap_mpi_slab(5, 1, 0, NULL, &count), DISTMAP_ERROR_ARGUMENT, "first is NULL", __LINE__);
}

static void test_others(void) {
    const distmap_problem p = small_problem();
    const struct slab s = own_slab();
    distmap_mpi_plan *plan = NULL;
    expect(distmap_mpi_plan_create(MPI_COMM_NULL, context, &p, s.first, s.count, NULL, &plan), DISTMAP_ERROR_ARGUMENT,
           "comm is MPI_COMM_NULL", __LINE__);
    expect(distmap_mpi_plan_create(MPI_COMM_WORLD, context, &p, s.first, s.count, NULL, NULL), DISTMAP_ERROR_ARGUMENT,
           "plan is NULL", __LINE__);
    expect(distmap_mpi_plan_execute(NULL, NULL), DISTMAP_ERROR_ARGUMENT, "plan is NULL", __LINE__);
    REQUIRE(distmap_mpi_plan_flags(NULL) == 0);
    distmap_mpi_plan_describe(NULL, NULL);
    distmap_mpi_plan_destroy(NULL);
    distmap_mpi_plan_destroy(&plan);
}

/* MPI_Init() grants no threads. */
static void test_threads(void) {
    distmap_context *two = NULL;
    REQUIRE(distmap_context_create(&(distmap_context_options){.threads = 2}, &two) == DISTMAP_OK);
    REFUSE("rank 1: context has 2 threads", ON(1) c = two);
    distmap_context_destroy(&two);
}

/* ---- Views ---- */

static void refuse_arrays(distmap_mpi_plan *plan, const distmap_arrays *arrays, const char *text, int line) {
    memset(distance, 0x5a, sizeof distance);
    memcpy(untouched, distance, sizeof distance);
    expect(distmap_mpi_plan_execute(plan, arrays), DISTMAP_ERROR_ARGUMENT, text, line);
    REQUIRE(memcmp(distance, untouched, sizeof distance) == 0);
}

#define REFUSE_ARRAYS(text, ...)                 \
    do {                                         \
        distmap_arrays a = small_arrays();       \
        __VA_ARGS__;                             \
        refuse_arrays(plan, &a, text, __LINE__); \
    } while (0)

static void test_views(void) {
    const distmap_problem p = small_problem();
    const struct slab s = own_slab();
    distmap_mpi_plan *plan = NULL;
    REQUIRE(distmap_mpi_plan_create(MPI_COMM_WORLD, context, &p, s.first, s.count, NULL, &plan) == DISTMAP_OK);
    REFUSE_ARRAYS("rank 1: arrays.distance has dtype", ON(1) a.distance.dtype = DISTMAP_UINT32);
    REFUSE_ARRAYS("rank 2: arrays.input has shape[0]", ON(2) a.input.shape[0]++);
    REFUSE_ARRAYS("rank 1: arrays.distance is NULL", ON(1) a.distance.data = NULL);
    REFUSE_ARRAYS("rank 0: arrays.index is given", ON(0) a.index = a.distance);
    REFUSE_ARRAYS("rank 2: arrays.distance: its strides make", ON(2) a.distance.strides[0] = 4);
    REFUSE_ARRAYS("rank 0: arrays.input and arrays.distance overlap", ON(0) a.input.data = (char *)distance + 3);
    REFUSE_ARRAYS("rank 1: arrays.distance lies in a GPU's memory", ON(1) a.distance.space = DISTMAP_SPACE_CUDA);
    ON(1) refuse_arrays(plan, NULL, "rank 1: arrays is NULL", __LINE__);
    else REFUSE_ARRAYS("rank 1: arrays is NULL", (void)a);
    const distmap_arrays right = small_arrays();
    REQUIRE(distmap_mpi_plan_execute(plan, &right) == DISTMAP_OK);
    distmap_mpi_plan_destroy(&plan);
    REQUIRE(!plan);
}

/* ---- What one rank meets ---- */

static int countdown;
static int stop(void *user, double fraction) {
    (void)user;
    (void)fraction;
    return countdown >= 0 && --countdown < 0;
}

/* One rank is stopped, early or late: all are; and the plan lives. */
static void test_cancel(void) {
    const distmap_problem p = small_problem();
    const distmap_mpi_options panels = {.panel_bytes = 1};
    const struct slab s = own_slab();
    const distmap_arrays arrays = small_arrays();
    distmap_context *own = NULL;
    distmap_mpi_plan *plan = NULL;
    REQUIRE(distmap_context_create(&(distmap_context_options){.threads = 1, .progress = stop}, &own) == DISTMAP_OK);
    REQUIRE(distmap_mpi_plan_create(MPI_COMM_WORLD, own, &p, s.first, s.count, &panels, &plan) == DISTMAP_OK);
    for (int after = 0; after < 4; after++) {
        countdown = rank == 1 ? after : -1;
        const distmap_status status = distmap_mpi_plan_execute(plan, &arrays);
        expect(status, DISTMAP_ERROR_CANCELLED, "rank 1: cancelled", __LINE__);
    }
    countdown = -1;
    REQUIRE(distmap_mpi_plan_execute(plan, &arrays) == DISTMAP_OK);
    distmap_mpi_plan_destroy(&plan);
    distmap_context_destroy(&own);
}

static bool is_dry;
static void *allocate(void *user, size_t bytes, size_t alignment) {
    (void)user;
    return is_dry ? NULL : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void release(void *user, void *memory, size_t bytes) {
    (void)user;
    (void)bytes;
    free(memory);
}

static void test_memory(void) {
    distmap_context *own = NULL;
    const distmap_context_options mean = {.threads = 1, .allocator = {allocate, release, NULL}};
    REQUIRE(distmap_context_create(&mean, &own) == DISTMAP_OK);
    is_dry = rank == 2;
    REFUSE_AS(DISTMAP_ERROR_MEMORY, "rank 2: ", c = own);
    is_dry = false;
    distmap_context_destroy(&own);
}

/* ---- What it tells ---- */

static void test_description(void) {
    const distmap_problem p = small_problem();
    const struct slab s = own_slab();
    distmap_mpi_plan *plan = NULL;
    distmap_mpi_description d;
    REQUIRE(distmap_mpi_plan_create(MPI_COMM_WORLD, context, &p, s.first, s.count, NULL, &plan) == DISTMAP_OK);
    distmap_mpi_plan_describe(plan, &d);
    REQUIRE(d.axis == 0 && d.cut == (size <= HEIGHT ? 1 : 2) && d.panels == 1 && d.samples == DISTMAP_UINT32);
    /* Forth all of its slices that others finish, back all of its lines in others' slices: four bytes each. */
    const int64_t n = d.cut == 1 ? HEIGHT : WIDTH;
    int64_t first, count;
    REQUIRE(distmap_mpi_slab(n, size, rank, &first, &count) == DISTMAP_OK);
    const int64_t others = SLICE / n * (s.count * (n - count) + (N - s.count) * count);
    REQUIRE(d.sent_bytes == 4 * (uint64_t)others);
    /* At least one panel's samples and distances. */
    REQUIRE(d.scratch_bytes >= (uint64_t)(8 * N * count * (SLICE / n)));
    distmap_mpi_plan_destroy(&plan);
}

/* Ranks of two communicators go their own ways at the same time. */
static void test_communicators(void) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    int members, member;
    MPI_Comm_size(half, &members);
    MPI_Comm_rank(half, &member);
    const int64_t n = rank % 2 ? 9 : 40;
    int64_t first, count;
    REQUIRE(distmap_mpi_slab(n, members, member, &first, &count) == DISTMAP_OK);
    const distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 1, .shape = {n}, .want.squared = DISTMAP_UINT64};
    uint8_t line[40];
    uint64_t squared[40];
    for (int64_t i = 0; i < count; i++)
        line[i] = first + i > 0; /* one site, at the end */
    distmap_mpi_plan *plan = NULL;
    const distmap_arrays arrays = {.input = distmap_view_make(line, DISTMAP_UINT8, 1, &count),
                                   .squared = distmap_view_make(squared, DISTMAP_UINT64, 1, &count)};
    for (int time = 0; time < (rank % 2 ? 5 : 1); time++) {
        REQUIRE(distmap_mpi_plan_create(half, context, &p, first, count, NULL, &plan) == DISTMAP_OK);
        REQUIRE(distmap_mpi_plan_execute(plan, &arrays) == DISTMAP_OK && distmap_mpi_plan_flags(plan) == 0);
        distmap_mpi_plan_destroy(&plan);
        for (int64_t i = 0; i < count; i++)
            REQUIRE(squared[i] == (uint64_t)((first + i) * (first + i)));
    }
    MPI_Comm_free(&half);
}

/* A border that would be farther than 32 bits say, along axes that have one element, is never the nearest. */
static void test_far_border(void) {
    for (int with_index = 0; with_index < 2; with_index++) {
        const distmap_problem p = {
            .dtype = DISTMAP_UINT8,
            .ndim = 3,
            .shape = {N, 1, 1},
            .spacing = {1, 1 << 20, 1 << 20},
            .border = true,
            .want = {.squared = DISTMAP_UINT32, .index = with_index ? DISTMAP_INT32 : DISTMAP_NONE}};
        const struct slab s = own_slab();
        const int64_t shape[] = {s.count, 1, 1};
        uint32_t squared[N];
        int32_t index[N];
        distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, 3, shape),
                                 .squared = distmap_view_make(squared, DISTMAP_UINT32, 3, shape)};
        if (with_index)
            arrays.index = distmap_view_make(index, DISTMAP_INT32, 3, shape);
        memset(mask, 1, sizeof mask);
        distmap_mpi_plan *plan = NULL;
        expect(distmap_mpi_plan_create(MPI_COMM_WORLD, context, &p, s.first, s.count, NULL, &plan), DISTMAP_OK, "",
               __LINE__);
        expect(distmap_mpi_plan_execute(plan, &arrays), DISTMAP_OK, "", __LINE__);
        for (int64_t i = 0; i < s.count; i++) {
            const int64_t at = s.first + i, k = at + 1 < N - at ? at + 1 : N - at;
            REQUIRE(squared[i] == (uint32_t)(k * k) && (!with_index || index[i] == DISTMAP_INDEX_BORDER));
        }
        distmap_mpi_plan_destroy(&plan);
    }
}

/* Images without elements have nothing to compute, and still their rules. */
static void test_empty(void) {
    for (int axis = 0; axis < 3; axis++) {
        distmap_problem p = small_problem();
        p.shape[axis] = 0;
        p.border = true;
        p.want.index = DISTMAP_INT64;
        struct slab s;
        REQUIRE(distmap_mpi_slab(p.shape[0], size, rank, &s.first, &s.count) == DISTMAP_OK);
        int64_t shape[] = {s.count, p.shape[1], p.shape[2]};
        distmap_arrays arrays = {.input = distmap_view_make(NULL, DISTMAP_UINT8, 3, shape),
                                 .distance = distmap_view_make(NULL, DISTMAP_FLOAT32, 3, shape),
                                 .index = distmap_view_make(NULL, DISTMAP_INT64, 3, shape)};
        distmap_mpi_plan *plan = NULL;
        REQUIRE(distmap_mpi_plan_create(MPI_COMM_WORLD, context, &p, s.first, s.count, NULL, &plan) == DISTMAP_OK);
        REQUIRE(distmap_mpi_plan_execute(plan, &arrays) == DISTMAP_OK && distmap_mpi_plan_flags(plan) == 0);
        ON(1) arrays.index.dtype = DISTMAP_INT32;
        expect(distmap_mpi_plan_execute(plan, &arrays), DISTMAP_ERROR_ARGUMENT, "rank 1: arrays.index has dtype",
               __LINE__);
        distmap_mpi_plan_destroy(&plan);
    }
}

int main(int argc, char **argv) {
    const distmap_problem p = small_problem();
    distmap_mpi_plan *plan = NULL;
    if (distmap_mpi_plan_create(MPI_COMM_WORLD, NULL, &p, 0, 0, NULL, &plan) != DISTMAP_ERROR_ARGUMENT)
        failures++; /* before MPI_Init() */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(size >= 3);
    REQUIRE(distmap_context_create(&(distmap_context_options){.threads = 1}, &context) == DISTMAP_OK);
    test_problems();
    test_slabs();
    test_others();
    test_threads();
    test_views();
    test_cancel();
    test_memory();
    test_description();
    test_communicators();
    test_far_border();
    test_empty();
    /* A plan that outlives MPI is freed all the same. */
    const struct slab s = own_slab();
    REQUIRE(distmap_mpi_plan_create(MPI_COMM_WORLD, context, &p, s.first, s.count, NULL, &plan) == DISTMAP_OK);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("errors on %d ranks, %d failures\n", size, failures);
    MPI_Finalize();
    distmap_mpi_plan_destroy(&plan);
    distmap_context_destroy(&context);
    return failures > 0;
}
