/* City-block, chessboard and chamfer metrics: the header's rules about them, and how they relate to each other, with one
 * thread and with several. */
#include "refuse.h"

#define CHAMFER(...) p.metric = DISTMAP_METRIC_CHAMFER, memcpy(p.chamfer, (int[3]){__VA_ARGS__}, sizeof p.chamfer)

static void test_metrics(void **state) {
    (void)state;
    ACCEPT(p.metric = DISTMAP_METRIC_CITYBLOCK);
    ACCEPT(p.metric = DISTMAP_METRIC_CHESSBOARD; p.spacing[0] = 1);
    ACCEPT(CHAMFER(3, 4); p.want.distance = DISTMAP_UINT8);
    ACCEPT(CHAMFER(5, 7, 11); p.axes = 1);
    ACCEPT(CHAMFER(3, 4, 5); p.ndim = 3; p.shape[2] = 3);
    ACCEPT(CHAMFER(5, 7, 11); p.shape[1] = 0; p.want.index = DISTMAP_INT32);
    REFUSE("problem.metric", p.metric = (distmap_metric)4);
    REFUSE("problem.metric", p.metric = (distmap_metric)-1);
    REFUSE("problem.metric", CHAMFER(1, 1, 1); p.ndim = 4; p.shape[2] = p.shape[3] = 2);
    REFUSE("problem.metric", CHAMFER(3, 4); p.input = DISTMAP_INPUT_LABELS);
    REFUSE("problem.metric", CHAMFER(3, 4); p.input = DISTMAP_INPUT_SAMPLED);
    REFUSE("problem.chamfer", p.chamfer[0] = 3);
    REFUSE("problem.chamfer", p.metric = DISTMAP_METRIC_CITYBLOCK; p.chamfer[2] = 1);
    REFUSE("problem.chamfer", CHAMFER(0));
    REFUSE("problem.chamfer[1]", CHAMFER(3, -4));
    REFUSE("problem.chamfer[0]", CHAMFER(65536, 65536));
    REFUSE("a <= b <= 2a", CHAMFER(3));
    REFUSE("a <= b <= 2a", CHAMFER(4, 3));
    REFUSE("a <= b <= 2a", CHAMFER(3, 7));
    REFUSE("c <= a + b", CHAMFER(5, 7, 9));
    REFUSE("c <= a + b", CHAMFER(5, 7, 13));
    REFUSE("c <= a + b", CHAMFER(5, 8, 11));
    REFUSE("three axes", CHAMFER(3, 4); p.ndim = 3; p.shape[2] = 3);
    REFUSE("three axes", CHAMFER(3, 4, 6); p.ndim = 3; p.shape[2] = 3);
    REFUSE("three axes", CHAMFER(3, 7, 8); p.ndim = 3; p.shape[2] = 3);
    REFUSE("problem.spacing[1]", p.metric = DISTMAP_METRIC_CITYBLOCK; p.spacing[1] = 2);
    REFUSE("problem.want.squared", p.metric = DISTMAP_METRIC_CITYBLOCK; p.want.squared = DISTMAP_UINT32);
    REFUSE("problem.want.distance", p.metric = DISTMAP_METRIC_CITYBLOCK; p.want.distance = DISTMAP_BOOL);
    REFUSE("problem.want.distance", CHAMFER(300, 400); p.want.distance = DISTMAP_UINT8);
    /* 254 must be left for "no site": a type's largest value is that. */
    ACCEPT(CHAMFER(127, 127); p.shape[0] = p.shape[1] = 3; p.want.distance = DISTMAP_UINT8);
    REFUSE("problem.want.distance", CHAMFER(128, 128); p.shape[0] = p.shape[1] = 3; p.want.distance = DISTMAP_UINT8);
    ACCEPT(CHAMFER(128, 128); p.shape[0] = p.shape[1] = 3; p.limit = 254; p.want.distance = DISTMAP_UINT8);
    REFUSE("problem.want.distance", p.want.distance = DISTMAP_UINT32);
    refuse(&(distmap_problem){.dtype = DISTMAP_UINT8,
                              .ndim = 1,
                              .shape = {9},
                              .want.distance = DISTMAP_FLOAT32,
                              .metric = DISTMAP_METRIC_CHESSBOARD},
           &(distmap_plan_options){.method = "minplus/cpu"}, DISTMAP_ERROR_UNSUPPORTED, "needs the Euclidean metric",
           __LINE__);
}

/* ---- Relations ---- */

enum { TALL = 300, WIDE = 1700, MANY = TALL * WIDE };

static uint8_t large[MANY];

struct map {
    uint32_t distance[MANY];
    int32_t index[MANY];
};
static struct map one, other;

static void measure(int threads, const distmap_problem *problem, struct map *map) {
    distmap_context *made = NULL;
    distmap_plan *plan = NULL;
    distmap_arrays arrays = {.input = distmap_view_make(large, DISTMAP_UINT8, 2, problem->shape)};
    arrays.distance = distmap_view_make(map->distance, DISTMAP_UINT32, 2, problem->shape);
    if (problem->want.index)
        arrays.index = distmap_view_make(map->index, DISTMAP_INT32, 2, problem->shape);
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = threads}, &made), DISTMAP_OK);
    assert_int_equal(distmap_plan_create(made, problem, NULL, &plan), DISTMAP_OK);
    memset(map, 0xA5, sizeof *map);
    assert_int_equal(distmap_plan_execute(plan, &arrays), DISTMAP_OK);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&made);
}

static distmap_problem large_problem(int a, int b, int c) {
    distmap_problem p = {.dtype = DISTMAP_UINT8,
                         .ndim = 2,
                         .shape = {TALL, WIDE},
                         .metric = DISTMAP_METRIC_CHAMFER,
                         .chamfer = {a, b, c},
                         .want.distance = DISTMAP_UINT32};
    return p;
}

static void assert_same(const struct map *a, const struct map *b) { assert_memory_equal(a, b, sizeof *a); }

/* Threads share a plane by strips of columns, which must not show. */
static void test_threads(void **state) {
    (void)state;
    static const int weights[][3] = {{1, 2, 0}, {1, 1, 0}, {3, 4, 0}, {5, 7, 11}, {20000, 30000, 0}};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        for (unsigned every = 50; every < 1000000; every *= 100) {
            distmap_problem p = large_problem(weights[i][0], weights[i][1], weights[i][2]);
            p.want.index = every % 3 ? DISTMAP_INT32 : DISTMAP_NONE;
            paint(large, MANY, every, 7 + every);
            measure(1, &p, &one);
            for (int threads = 2; threads <= 3; threads++) {
                measure(threads, &p, &other);
                assert_same(&one, &other);
            }
            p.want.index = DISTMAP_NONE; /* other lanes */
            measure(3, &p, &other);
            assert_memory_equal(one.distance, other.distance, sizeof one.distance);
        }
}

/* City-block and chessboard are chamfers, and weights scale. */
static void test_relations(void **state) {
    (void)state;
    static const distmap_metric metrics[] = {DISTMAP_METRIC_CITYBLOCK, DISTMAP_METRIC_CHESSBOARD};
    paint(large, MANY, 700, 1);
    for (int i = 0; i < 2; i++) {
        distmap_problem p = large_problem(1, 2 - i, 0);
        measure(1, &p, &one);
        p.metric = metrics[i];
        memset(p.chamfer, 0, sizeof p.chamfer);
        measure(2, &p, &other);
        assert_same(&one, &other);
    }
    distmap_problem p = large_problem(3, 4, 0), large_steps = large_problem(30000, 40000, 0);
    measure(1, &p, &one);
    measure(1, &large_steps, &other);
    for (size_t k = 0; k < MANY; k++)
        assert_int_equal(other.distance[k], 10000 * one.distance[k]);
}

static int open_context(void **state) {
    (void)state;
    return distmap_context_create(&(distmap_context_options){.threads = 1}, &context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_relations),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
