/* GPUs whose blocks may have little shared memory: minplus/cuda runs on them, by default and with the same bits, down to 64 KiB;
 * with less it is refused, and says why. Emulated, for a real GPU has what it has; there `--param shared` stands for less. */
#include "device_cuda.h"

enum { MOST = 33600 * 100, LEAST_KIB = 64 };

static uint8_t image[MOST];

/* Results of a problem, on the CPU and on the GPU. */
typedef struct results {
    float distance[MOST];
    int32_t index[MOST];
} results;
static results expected, got;

/* Images of which the tiles are searched near and far, and with lists; labels. In volumes z, too. */
typedef struct one {
    int ndim;
    int64_t shape[3];
    int per_mille; /* of sites, at random; 0: one in a corner */
    bool index, labels;
} one;
static const one some[] = {
    {2, {37, 53}, 40, false, false},    {2, {400, 90}, 0, false, false},   {2, {400, 90}, 0, true, false},
    {2, {300, 130}, 2, true, false},    {2, {300, 130}, 2, false, true},   {2, {128, 280}, 20, false, false},
    {3, {300, 9, 12}, 0, false, false}, {3, {300, 9, 12}, 0, true, false}, {3, {150, 16, 16}, 5, true, false},
    {3, {150, 16, 16}, 5, false, true}, {3, {5, 120, 64}, 1, true, false}, {3, {640, 3, 20}, 1, false, false},
};
/* Columns of more units than find room in the far search's shared memory, so that they are parted. */
static const one tall[] = {{2, {33600, 100}, 0, false, false}};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static int64_t elements_of(const one *of) {
    int64_t elements = 1;
    for (int a = 0; a < of->ndim; a++)
        elements *= of->shape[a];
    return elements;
}

static void fill(const one *of) {
    uint32_t drawn = 12345;
    const int64_t elements = elements_of(of);
    for (int64_t i = 0; i < elements; i++) {
        drawn = drawn * 1664525u + 1013904223u;
        const bool site = (int)(drawn >> 8) % 1000 < of->per_mille || i == 0;
        image[i] = of->labels ? (i && !site ? image[i - 1] : (uint8_t)(drawn >> 30)) : !site;
    }
}

/* `method`: the one that it must be, unless NULL. */
static void compute(distmap_context *context, const one *of, const distmap_plan_options *options, const char *method,
                    results *out) {
    distmap_problem p = {.dtype = DISTMAP_UINT8,
                         .ndim = of->ndim,
                         .input = of->labels ? DISTMAP_INPUT_LABELS : DISTMAP_INPUT_MASK,
                         .want = {.distance = DISTMAP_FLOAT32, .index = of->index ? DISTMAP_INT32 : DISTMAP_NONE}};
    memcpy(p.shape, of->shape, sizeof of->shape);
    distmap_arrays a = {.input = distmap_view_make(image, DISTMAP_UINT8, of->ndim, of->shape),
                        .distance = distmap_view_make(out->distance, DISTMAP_FLOAT32, of->ndim, of->shape)};
    if (of->index)
        a.index = distmap_view_make(out->index, DISTMAP_INT32, of->ndim, of->shape);
    distmap_plan *plan = NULL;
    distmap_description description;
    memset(out->distance, 0xA5, (size_t)elements_of(of) * 4);
    memset(out->index, 0xA5, (size_t)elements_of(of) * 4);
    ACCEPT(distmap_plan_create(context, &p, options, &plan));
    distmap_plan_describe(plan, &description);
    if (method)
        assert_string_equal(description.method, method);
    ACCEPT(distmap_plan_execute(plan, &a));
    ACCEPT(distmap_plan_wait(plan));
    distmap_plan_destroy(&plan);
}

/* All of them: by default; and, of minplus/cuda, without the direct search, and with as much as the parameter `shared` says. */
static void check_all(const one *all, size_t count, const char *method, int64_t most_shared) {
    distmap_context *gpu = open_gpu(), *cpu = NULL;
    ACCEPT(distmap_context_create(NULL, &cpu));
    for (size_t i = 0; i < count; i++) {
        fill(&all[i]);
        compute(cpu, &all[i], NULL, NULL, &expected);
        for (int64_t shared = -1; shared <= most_shared; shared++) {
            const distmap_param params[] = {{"direct", 0}, {"shared", shared}};
            const distmap_plan_options options = {.method = shared < 0 ? NULL : method,
                                                  .params = params,
                                                  .param_count = shared < 0 ? 0 : 2,
                                                  .host_views = true};
            compute(gpu, &all[i], &options, method, &got);
            assert_memory_equal(got.distance, expected.distance, (size_t)elements_of(&all[i]) * 4);
            if (all[i].index)
                assert_memory_equal(got.index, expected.index, (size_t)elements_of(&all[i]) * 4);
        }
    }
    distmap_context_destroy(&cpu);
    distmap_context_destroy(&gpu);
}

static void offer(int kib) {
    char text[16];
    snprintf(text, sizeof text, "%d", kib << 10);
    setenv("DISTMAP_EMULATION_SHARED", text, 1);
}

static void test_enough(void **state) {
    (void)state;
    static const int offered[] = {112, 111, 99, 98, 72, 71, LEAST_KIB};
    check_all(some, COUNT(some), "minplus/cuda", 2);
    if (!emulated)
        return;
    for (size_t i = 0; i < COUNT(offered); i++) {
        distmap_device_info info;
        offer(offered[i]);
        ACCEPT(distmap_device_describe(DISTMAP_DEVICE_CUDA, 0, &info));
        assert_int_equal(info.shared_bytes, offered[i] << 10);
        check_all(some, COUNT(some), "minplus/cuda", 0);
    }
    check_all(tall, COUNT(tall), "minplus/cuda", -1); /* with the least */
    unsetenv("DISTMAP_EMULATION_SHARED");
}

static void test_too_little(void **state) {
    (void)state;
    if (!emulated)
        skip();
    offer(LEAST_KIB - 1);
    distmap_context *context = open_gpu();
    const distmap_problem p = small_problem();
    distmap_plan *plan = NULL;
    REFUSE(distmap_plan_create(context, &p, &(distmap_plan_options){.method = "minplus/cuda"}, &plan), UNSUPPORTED,
           "64 KiB of shared memory");
    distmap_context_destroy(&context);
    check_all(some, COUNT(some), "envelope/cuda", -1);
    unsetenv("DISTMAP_EMULATION_SHARED");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enough), cmocka_unit_test(test_too_little)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
