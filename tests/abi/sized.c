/* Structs of every size: the library reads no byte beyond the size that it is told, takes zeros for what is missing, and tells what
 * it does not know. A struct ends where a page ends, and the next page can neither be read nor written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include <distmap/io.h>

enum { PAGES = 4, SIDE = 5 };

struct edge {
    char *memory;
    size_t bytes;
};

static struct edge edge_make(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct edge edge = {.bytes = PAGES * page};
    edge.memory = mmap(NULL, edge.bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(edge.memory != MAP_FAILED);
    assert_int_equal(mprotect(edge.memory + edge.bytes, page, PROT_NONE), 0);
    return edge;
}

/* The first `bytes` of a struct, so that they end where the page does. */
static void *edge_put(const struct edge *edge, const void *from, size_t bytes) {
    char *to = edge->memory + edge->bytes - bytes;
    memmove(to, from, bytes);
    return to;
}

static const distmap_problem problem = {
    .dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}, .want.distance = DISTMAP_FLOAT32};

static void check_text(distmap_status status, const char *part) {
    assert_int_equal(status, DISTMAP_ERROR_ARGUMENT);
    if (!strstr(distmap_error_text(), part))
        fail_msg("'%s' is not in '%s'", part, distmap_error_text());
}

/* Alignment is that of the platform's largest: structs are cut by whole 8 bytes. */
static void test_problems(void **state) {
    (void)state;
    const struct edge edge = edge_make();
    distmap_context *context = NULL;
    assert_int_equal(distmap_context_create(NULL, &context), DISTMAP_OK);
    const size_t enough = offsetof(distmap_problem, want) + offsetof(distmap_outputs, squared);
    size_t want, got;
    assert_int_equal(distmap_scratch_bytes(context, &problem, NULL, &want), DISTMAP_OK);
    for (size_t bytes = 8; bytes <= sizeof problem; bytes += 8) {
        const distmap_problem *cut = edge_put(&edge, &problem, bytes);
        const distmap_status status = distmap_scratch_bytes_sized(context, cut, bytes, NULL, 0, &got);
        distmap_plan *plan = NULL;
        assert_int_equal(distmap_plan_create_sized(context, cut, bytes, NULL, 0, &plan), status);
        if (bytes >= enough) {
            assert_int_equal(status, DISTMAP_OK);
            assert_int_equal(got, want);
        }
        distmap_plan_destroy(&plan);
    }
    distmap_context_destroy(&context);
}

static void test_arrays(void **state) {
    (void)state;
    const struct edge edge = edge_make();
    uint8_t mask[SIDE * SIDE] = {0};
    float distance[SIDE * SIDE];
    memset(mask, 1, sizeof mask - 1);
    const distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, 2, problem.shape),
                                   .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 2, problem.shape)};
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_context_create(NULL, &context), DISTMAP_OK);
    assert_int_equal(distmap_plan_create(context, &problem, NULL, &plan), DISTMAP_OK);
    for (size_t bytes = 8; bytes <= sizeof arrays; bytes += 8) {
        const distmap_arrays *cut = edge_put(&edge, &arrays, bytes);
        memset(distance, 0, sizeof distance);
        const distmap_status status = distmap_plan_execute_sized(plan, cut, bytes);
        if (bytes >= offsetof(distmap_arrays, squared)) {
            assert_int_equal(status, DISTMAP_OK);
            assert_float_equal(distance[SIDE - 1], SIDE - 1, 0);
            assert_int_equal(distmap_arrays_check_sized(context, &problem, sizeof problem, NULL, 0, cut, bytes),
                             DISTMAP_OK);
            assert_int_equal(distmap_transform_sized(&problem, sizeof problem, cut, bytes, NULL), DISTMAP_OK);
        }
    }
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

static void test_options(void **state) {
    (void)state;
    const struct edge edge = edge_make();
    const distmap_context_options where = {.threads = 1};
    const distmap_plan_options how = {.method = "brute/cpu"};
    for (size_t bytes = 8; bytes <= sizeof where; bytes += 8) {
        distmap_context *context = NULL;
        assert_int_equal(distmap_context_create_sized(edge_put(&edge, &where, bytes), bytes, &context), DISTMAP_OK);
        assert_int_equal(distmap_context_threads(context), 1);
        for (size_t part = 8; part <= sizeof how; part += 8) {
            distmap_plan *plan = NULL;
            distmap_description told;
            const distmap_plan_options *cut = edge_put(&edge, &how, part);
            assert_int_equal(distmap_plan_create_sized(context, &problem, sizeof problem, cut, part, &plan),
                             DISTMAP_OK);
            distmap_plan_describe(plan, &told);
            assert_string_equal(told.method, "brute/cpu");
            distmap_plan_destroy(&plan);
        }
        distmap_context_destroy(&context);
    }
}

/* Every size of what is filled, and zeros where the library has nothing. */
static void test_filled(void **state) {
    (void)state;
    const struct edge edge = edge_make();
    const distmap_plan_options how = {.method = "brute/cpu"};
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    distmap_description want;
    distmap_device_info info;
    assert_int_equal(distmap_context_create(NULL, &context), DISTMAP_OK);
    assert_int_equal(distmap_plan_create(context, &problem, &how, &plan), DISTMAP_OK);
    distmap_plan_describe(plan, &want);
    assert_int_equal(distmap_device_describe(DISTMAP_DEVICE_CPU, 0, &info), DISTMAP_OK);
    for (size_t bytes = 8; bytes <= 1000; bytes += 8) {
        char *told = edge.memory + edge.bytes - bytes;
        memset(edge.memory, 0x55, edge.bytes);
        distmap_plan_describe_sized(plan, (void *)told, bytes);
        const size_t both = bytes < sizeof want ? bytes : sizeof want;
        assert_memory_equal(&((distmap_description *)(void *)told)->method, &want.method, sizeof want.method);
        assert_true(bytes < sizeof want || memcmp(((distmap_description *)(void *)told)->multiples, want.multiples,
                                                  sizeof want.multiples) == 0);
        for (size_t i = both; i < bytes; i++)
            assert_int_equal(told[i], 0);
        assert_int_equal(told[-1], 0x55);
        assert_int_equal(distmap_device_describe_sized(DISTMAP_DEVICE_CPU, 0, (void *)told, bytes), DISTMAP_OK);
        assert_memory_equal(told, &info, bytes < sizeof info.name ? bytes : sizeof info.name);
    }
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* A size of 0 is told, and members that nobody knows. */
static void test_refused(void **state) {
    (void)state;
    struct {
        distmap_problem known;
        char beyond[24];
    } longer = {.known = problem};
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    check_text(distmap_context_create_sized(&(distmap_context_options){0}, 0, &context), "options_bytes is 0");
    assert_int_equal(distmap_context_create_sized(NULL, 0, &context),
                     DISTMAP_OK); /* none given: nothing to be told of it */
    check_text(distmap_plan_create_sized(context, &problem, 0, NULL, 0, &plan), "problem_bytes is 0");
    assert_int_equal(distmap_plan_create_sized(context, &longer.known, sizeof longer, NULL, 0, &plan), DISTMAP_OK);
    check_text(distmap_plan_execute_sized(plan, &(distmap_arrays){0}, 0), "arrays_bytes is 0");
    check_text(distmap_plan_execute_slabs_sized(plan, &(distmap_arrays){0}, 0), "slabs_bytes is 0");
    check_text(distmap_device_describe_sized(DISTMAP_DEVICE_CPU, 0, &(distmap_device_info){.name = ""}, 0),
               "info_bytes is 0");
    distmap_plan_destroy(&plan);
    for (size_t i = 0; i < sizeof longer.beyond; i++) {
        longer.beyond[i] = 1;
        check_text(distmap_plan_create_sized(context, &longer.known, sizeof longer, NULL, 0, &plan),
                   "problem has members that this library, version " DISTMAP_VERSION ", does not know");
        double unit;
        int64_t multiples[DISTMAP_MAX_AXES];
        check_text(distmap_problem_unit_sized(&longer.known, sizeof longer, &unit, multiples), "problem has members");
        longer.beyond[i] = 0;
    }
    distmap_problem reserved = problem;
    reserved.want.reserved[3] = DISTMAP_FLOAT32;
    check_text(distmap_plan_create(context, &reserved, NULL, &plan), "problem.want.reserved[3] is 10, must stay zero");
    distmap_context_destroy(&context);
}

static void test_images(void **state) {
    (void)state;
    const struct edge edge = edge_make();
    const distmap_image_info info = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}};
    struct {
        distmap_image_info known;
        char beyond[8];
    } longer = {.known = info, .beyond = "later"};
    int64_t depth;
    for (size_t bytes = 8; bytes <= sizeof info; bytes += 8) {
        const distmap_image_info *cut = edge_put(&edge, &info, bytes);
        const distmap_status status = distmap_pieces_depth_sized("a.npy", cut, bytes, &depth);
        assert_true(status == DISTMAP_OK || bytes < offsetof(distmap_image_info, axis));
        distmap_writer *writer = NULL;
        assert_int_equal(distmap_writer_open_sized("/dev/null/a.nothing", cut, bytes, &writer) == DISTMAP_OK, false);
        if (bytes >= offsetof(distmap_image_info, crs))
            assert_true(distmap_image_same_grid(cut, cut, NULL, 0));
    }
    check_text(distmap_pieces_depth_sized("a.npy", &longer.known, sizeof longer, &depth), "info has members");
    check_text(distmap_pieces_depth_sized("a.npy", &info, 0, &depth), "info_bytes is 0");
}

static void test_sizes(void **state) {
    (void)state;
    assert_int_equal(distmap_struct_bytes("distmap_problem"), sizeof(distmap_problem));
    assert_int_equal(distmap_struct_bytes("distmap_view"), sizeof(distmap_view));
    assert_int_equal(distmap_struct_bytes("distmap_image_info"), 0);
    assert_int_equal(distmap_struct_bytes(NULL), 0);
    assert_int_equal(distmap_io_struct_bytes("distmap_image_info"), sizeof(distmap_image_info));
    assert_int_equal(distmap_io_struct_bytes("distmap_problem"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems), cmocka_unit_test(test_arrays),  cmocka_unit_test(test_options),
        cmocka_unit_test(test_filled),   cmocka_unit_test(test_refused), cmocka_unit_test(test_images),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
