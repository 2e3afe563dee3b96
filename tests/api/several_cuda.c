/* The contracts of distmap.h about several GPUs as one device. Their bits on all kinds of problems are the matrix's affair
 * (tests/matrix/runner_several.c); here are slabs in their memories, refusals, progress, memory and faults. */
#include "device_cuda.h"

#include <math.h>

enum { GPUS = 3, DEPTH = 9, ROWS = 31, COLUMNS = 70, VOXELS = DEPTH * ROWS * COLUMNS, PAD = 5 };

static const int three[GPUS] = {2, 0, 1};
static const distmap_context_options team = {
    .device = DISTMAP_DEVICE_CUDA, .threads = 2, .ordinals = three, .ordinal_count = GPUS};
static const int64_t volume[3] = {DEPTH, ROWS, COLUMNS};

static distmap_context *open_team(void) {
    distmap_context *context = NULL;
    ACCEPT(distmap_context_create(&team, &context));
    return context;
}

static distmap_problem volume_problem(void) {
    return (distmap_problem){.dtype = DISTMAP_UINT8,
                             .ndim = 3,
                             .shape = {DEPTH, ROWS, COLUMNS},
                             .want = {.distance = DISTMAP_FLOAT32, .index = DISTMAP_INT32}};
}

static distmap_plan *plan_of(distmap_context *context, const distmap_problem *p, bool host_views) {
    distmap_plan *plan = NULL;
    ACCEPT(distmap_plan_create(context, p, &(distmap_plan_options){.host_views = host_views}, &plan));
    return plan;
}

static void test_open(void **state) {
    (void)state;
    distmap_context *context = NULL;
    distmap_context_options o = team;
    const int twice[] = {1, 0, 1}, unknown[] = {0, 99}, negative[] = {-1};
    o.ordinals = twice;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "ordinals[0] and ordinals[2] are both 1");
    o.ordinals = unknown, o.ordinal_count = 2;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "ordinals[1] is 99, must be 0 to");
    o.ordinals = negative, o.ordinal_count = 1;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "ordinals[0] is -1");
    o.ordinal_count = -1;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "ordinal_count is -1, must be at least 0");
    o.ordinal_count = DISTMAP_MAX_GPUS + 1;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "ordinal_count is 17, must be at most 16");
    o.ordinals = NULL;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "ordinals is NULL");
    o = team;
    o.ordinal = 1;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "ordinal is 1, must be 0 with ordinals");
    o = team;
    o.stream = &o;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "stream must be NULL with ordinals");
    o = team;
    o.device = DISTMAP_DEVICE_CPU;
    REFUSE(distmap_context_create(&o, &context), ARGUMENT, "there is one device cpu, and no ordinals of it");
    assert_null(context);
    context = open_team();
    assert_int_equal(strncmp(distmap_context_isa(context), "sm_", 3), 0);
    REFUSE(distmap_context_set_stream(context, NULL), UNSUPPORTED, "3 GPUs work on their default streams");
    distmap_context_destroy(&context);
}

/* ---- Slabs ---- */

/* GPU r's slab of an array in its memory, rows PAD elements longer than they are. */
struct slab {
    distmap_view view;
    size_t bytes;
};

static struct slab slab_make(distmap_dtype dtype, int64_t count) {
    const int64_t size = (int64_t)distmap_dtype_size(dtype), shape[3] = {DEPTH, count, COLUMNS};
    struct slab s = {.view = distmap_view_make(NULL, dtype, 3, shape)};
    s.view.strides[1] = (COLUMNS + PAD) * size;
    s.view.strides[0] = count * s.view.strides[1];
    s.view.space = DISTMAP_SPACE_CUDA;
    s.bytes = (size_t)(DEPTH * s.view.strides[0]);
    CUDA(cudaMalloc(&s.view.data, s.bytes));
    CUDA(cudaMemset(s.view.data, 0xA5, s.bytes));
    return s;
}

/* Between a slab and rows first.. of a volume in host memory. */
static void slab_copy(const struct slab *s, void *whole, int64_t first, bool out) {
    const size_t row = (size_t)(COLUMNS * s->view.strides[2]);
    for (int64_t z = 0; z < DEPTH; z++)
        for (int64_t y = 0; y < s->view.shape[1]; y++) {
            char *host = (char *)whole + (size_t)(z * ROWS + first + y) * row;
            char *device = (char *)s->view.data + z * s->view.strides[0] + y * s->view.strides[1];
            CUDA(cudaMemcpy(out ? host : device, out ? device : host, row, cudaMemcpyDefault));
        }
}

/* What lies between rows is as it was. */
static void check_padding(const struct slab *s) {
    unsigned char *all = malloc(s->bytes);
    assert_non_null(all);
    CUDA(cudaMemcpy(all, s->view.data, s->bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < s->bytes; i++)
        if (i % (size_t)s->view.strides[1] >= (size_t)(COLUMNS * s->view.strides[2]))
            assert_int_equal(all[i], 0xA5);
    free(all);
}

static void test_slabs(void **state) {
    (void)state;
    static uint8_t sites[VOXELS];
    static float by_cpu[VOXELS], got[VOXELS];
    static int32_t sites_by_cpu[VOXELS], sites_got[VOXELS];
    const distmap_problem p = volume_problem();
    distmap_context *context = open_team();
    distmap_plan *plan = plan_of(context, &p, false);
    distmap_arrays slabs[GPUS] = {0};
    struct slab in[GPUS], distances[GPUS], indices[GPUS];
    int64_t first[GPUS], count[GPUS], next = 0;
    for (int r = 0; r < GPUS; r++) {
        ACCEPT(distmap_plan_slab(plan, r, &first[r], &count[r]));
        assert_int_equal(first[r], next);
        next += count[r];
        CUDA(cudaSetDevice(three[r]));
        in[r] = slab_make(DISTMAP_UINT8, count[r]);
        distances[r] = slab_make(DISTMAP_FLOAT32, count[r]);
        indices[r] = slab_make(DISTMAP_INT32, count[r]);
        slabs[r] = (distmap_arrays){.input = in[r].view, .distance = distances[r].view, .index = indices[r].view};
    }
    CUDA(cudaSetDevice(0));
    assert_int_equal(next, ROWS);
    for (unsigned time = 0; time < 4; time++) { /* the last one without a site */
        paint(sites, VOXELS, time == 1 ? 2000 : 30, time);
        if (time == 3)
            memset(sites, 1, sizeof sites);
        unsigned flags;
        const distmap_arrays whole = {.input = distmap_view_make(sites, DISTMAP_UINT8, 3, volume),
                                      .distance = distmap_view_make(by_cpu, DISTMAP_FLOAT32, 3, volume),
                                      .index = distmap_view_make(sites_by_cpu, DISTMAP_INT32, 3, volume)};
        ACCEPT(distmap_transform(&p, &whole, &flags));
        for (int r = 0; r < GPUS; r++)
            slab_copy(&in[r], sites, first[r], false);
        ACCEPT(distmap_plan_execute_slabs(plan, slabs));
        ACCEPT(distmap_plan_wait(plan));
        for (int r = 0; r < GPUS; r++) {
            slab_copy(&distances[r], got, first[r], true);
            slab_copy(&indices[r], sites_got, first[r], true);
            check_padding(&distances[r]);
            check_padding(&indices[r]);
        }
        assert_memory_equal(got, by_cpu, sizeof got);
        assert_memory_equal(sites_got, sites_by_cpu, sizeof sites_got);
        assert_int_equal(distmap_plan_flags(plan), flags);
    }
    distmap_arrays wrong[GPUS];
    memcpy(wrong, slabs, sizeof wrong);
    wrong[1].input.data = slabs[2].input.data;
    REFUSE(distmap_plan_execute_slabs(plan, wrong), ARGUMENT,
           "slabs[1]: arrays.input: space is CUDA, but its data lies in another GPU's memory");
    wrong[1] = slabs[1];
    wrong[2].distance.shape[1]++;
    REFUSE(distmap_plan_execute_slabs(plan, wrong), ARGUMENT, "slabs[2]: arrays.distance has shape[1]");
    wrong[2] = slabs[2];
    wrong[0].input.space = DISTMAP_SPACE_HOST;
    REFUSE(distmap_plan_execute_slabs(plan, wrong), ARGUMENT, "slabs[0]: arrays.input lies in host memory");
    REFUSE(distmap_plan_execute_slabs(plan, NULL), ARGUMENT, "slabs is NULL");
    REFUSE(distmap_plan_execute_slabs(NULL, slabs), ARGUMENT, "plan is NULL");
    for (int r = 0; r < GPUS; r++) {
        CUDA(cudaFree(in[r].view.data));
        CUDA(cudaFree(distances[r].view.data));
        CUDA(cudaFree(indices[r].view.data));
    }
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* One device has one slab; GPUs without rows have nothing to do; nor has anybody in an empty image. */
static void test_few(void **state) {
    (void)state;
    distmap_context *cpu = NULL, *context = open_team();
    int64_t first, count;
    const distmap_problem p = small_problem();
    distmap_arrays a = small_arrays(mask, distance);
    ACCEPT(distmap_context_create(NULL, &cpu));
    distmap_plan *plan = plan_of(cpu, &p, false);
    ACCEPT(distmap_plan_slab(plan, 0, &first, &count));
    assert_true(first == 0 && count == HEIGHT);
    REFUSE(distmap_plan_slab(plan, 1, &first, &count), ARGUMENT, "i is 1, but the context has one device");
    memset(distance, 0, sizeof distance);
    ACCEPT(distmap_plan_execute_slabs(plan, &a));
    assert_memory_equal(distance, want, sizeof want);
    distmap_plan_destroy(&plan);

    distmap_problem low = p;
    low.shape[0] = 2;
    a.input.shape[0] = a.distance.shape[0] = 2;
    plan = plan_of(context, &low, true);
    ACCEPT(distmap_plan_slab(plan, 2, &first, &count));
    assert_int_equal(count, 0);
    REFUSE(distmap_plan_slab(plan, GPUS, &first, &count), ARGUMENT, "i is 3, but the context has 3 GPUs");
    REFUSE(distmap_plan_slab(plan, 0, NULL, &count), ARGUMENT, "first is NULL");
    static float two[2 * WIDTH];
    ACCEPT(distmap_edt(mask, 2, low.shape, two));
    ACCEPT(distmap_plan_execute(plan, &a));
    assert_memory_equal(distance, two, sizeof two);
    distmap_arrays slabs[GPUS] = {0};
    for (int r = 0; r < 2; r++) {
        slabs[r].input = distmap_view_make(mask + r * WIDTH, DISTMAP_UINT8, 2, (int64_t[]){1, WIDTH});
        slabs[r].distance = distmap_view_make(distance + r * WIDTH, DISTMAP_FLOAT32, 2, (int64_t[]){1, WIDTH});
    }
    memset(distance, 0, sizeof distance);
    ACCEPT(distmap_plan_execute_slabs(plan, slabs));
    assert_memory_equal(distance, two, sizeof two);
    distmap_plan_destroy(&plan);

    low.shape[0] = a.input.shape[0] = a.distance.shape[0] = 0;
    plan = plan_of(context, &low, true);
    ACCEPT(distmap_plan_execute(plan, &a));
    ACCEPT(distmap_plan_execute_slabs(plan, slabs));
    assert_int_equal(distmap_plan_flags(plan), 0);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    distmap_context_destroy(&cpu);
}

static void test_refused(void **state) {
    (void)state;
    distmap_context *context = open_team();
    distmap_plan *plan = NULL;
    distmap_plan_options o = {.scratch = &o, .scratch_bytes = SIZE_MAX};
    distmap_problem p = small_problem();
    REFUSE(distmap_plan_create(context, &p, &o, &plan), UNSUPPORTED, "options.scratch: a plan of several GPUs");
    o = (distmap_plan_options){.timed = true};
    REFUSE(distmap_plan_create(context, &p, &o, &plan), UNSUPPORTED, "options.timed: a plan of several GPUs");
    o = (distmap_plan_options){.method = "brute/cuda"};
    REFUSE(distmap_plan_create(context, &p, &o, &plan), UNSUPPORTED, "brute/cuda runs on one GPU");
    o = (distmap_plan_options){.method = "minplus/cuda"};
    p.border = true;
    REFUSE(distmap_plan_create(context, &p, &o, &plan), UNSUPPORTED, "minplus/cuda needs one GPU for other outputs");
    p = small_problem();
    p.want.distance = DISTMAP_FLOAT64;
    REFUSE(distmap_plan_create(context, &p, &o, &plan), UNSUPPORTED, "needs one GPU for other outputs");
    p = (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = 1, .shape = {99}, .want.distance = DISTMAP_FLOAT32};
    REFUSE(distmap_plan_create(context, &p, &o, &plan), UNSUPPORTED, "minplus/cuda needs two axes");
    REFUSE(distmap_plan_create(context, &p, NULL, &plan), UNSUPPORTED, "no method accepts this problem");
    assert_null(plan);

    const distmap_problem fine = small_problem();
    plan = plan_of(context, &fine, false);
    distmap_arrays a = small_arrays(mask, distance);
    REFUSE(distmap_plan_execute(plan, &a), ARGUMENT, "the plan's options must ask for host_views");
    a = device_arrays();
    REFUSE(distmap_plan_execute(plan, &a), ARGUMENT, "over several GPUs whole arrays are to be in host memory");
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* ---- Progress, memory, faults ---- */

struct heard {
    double last;
    int times, stop_at;
};

static int hear(void *user, double fraction) {
    struct heard *heard = user;
    assert_true(fraction >= heard->last && fraction <= 1);
    heard->last = fraction;
    return ++heard->times == heard->stop_at;
}

static void test_progress(void **state) {
    (void)state;
    struct heard heard = {0};
    distmap_context_options o = team;
    distmap_context *context = NULL;
    o.progress = hear;
    o.progress_user = &heard;
    ACCEPT(distmap_context_create(&o, &context));
    const distmap_problem p = small_problem();
    distmap_plan *plan = plan_of(context, &p, true);
    const distmap_arrays a = small_arrays(mask, distance);
    ACCEPT(distmap_plan_execute(plan, &a));
    assert_true(heard.times >= 2 * GPUS && fabs(heard.last - 1) < 1e-9);
    const int all = heard.times;
    for (int stop = 1; stop <= all; stop++) {
        heard = (struct heard){.stop_at = stop};
        REFUSE(distmap_plan_execute(plan, &a), CANCELLED, "cancelled");
        REFUSE(distmap_plan_wait(plan), CANCELLED, "cancelled");
    }
    heard = (struct heard){0};
    ACCEPT(distmap_plan_execute(plan, &a));
    assert_memory_equal(distance, want, sizeof want);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

static size_t free_memory(void) {
    size_t sum = 0;
    for (int r = 0; r < GPUS; r++) {
        size_t left, all;
        CUDA(cudaSetDevice(three[r]));
        CUDA(cudaMemGetInfo(&left, &all));
        sum += left;
    }
    CUDA(cudaSetDevice(0));
    return sum;
}

static void test_memory(void **state) {
    (void)state;
    if (!emulated)
        skip();
    const distmap_problem p = volume_problem();
    const distmap_plan_options o = {.host_views = true};
    distmap_context *context = open_team();
    distmap_plan *plan = NULL;
    distmap_description described;
    size_t stated, before = free_memory();
    ACCEPT(distmap_scratch_bytes(context, &p, &o, &stated));
    ACCEPT(distmap_plan_create(context, &p, &o, &plan));
    distmap_plan_describe(plan, &described);
    assert_int_equal(described.scratch_bytes, stated);
    assert_int_equal(before - free_memory(), stated);
    distmap_plan_destroy(&plan);
    assert_int_equal(free_memory(), before);
    setenv("DISTMAP_EMULATION_MEMORY", "20000", 1);
    REFUSE(distmap_plan_create(context, &p, &o, &plan), MEMORY, "but device cuda:2 has");
    unsetenv("DISTMAP_EMULATION_MEMORY");
    assert_null(plan);
    assert_int_equal(free_memory(), before);
    distmap_context_destroy(&context);
}

static void test_without_access(void **state) {
    (void)state;
    if (!emulated)
        skip();
    setenv("DISTMAP_EMULATION_PEERS", "0", 1);
    distmap_context *context = open_team();
    const distmap_problem p = small_problem();
    distmap_plan *plan = plan_of(context, &p, true);
    const distmap_arrays a = small_arrays(mask, distance);
    memset(distance, 0, sizeof distance);
    ACCEPT(distmap_plan_execute(plan, &a));
    assert_memory_equal(distance, want, sizeof want);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    unsetenv("DISTMAP_EMULATION_PEERS");
}

/* Whichever launch faults, on whichever GPU: an error, and no hang. */
static void test_fault(void **state) {
    (void)state;
    if (!emulated)
        skip();
    const distmap_problem p = small_problem();
    const distmap_arrays a = small_arrays(mask, distance);
    distmap_status status = DISTMAP_ERROR_DEVICE;
    int launch = 0;
    while (status != DISTMAP_OK) {
        char number[16];
        snprintf(number, sizeof number, "%d", ++launch);
        CUDA(cudaDeviceReset());
        setenv("DISTMAP_EMULATION_FAULT", number, 1);
        distmap_context *context = open_team();
        distmap_plan *plan = plan_of(context, &p, true);
        status = distmap_plan_execute(plan, &a);
        if (status != DISTMAP_OK) {
            check_text(status, DISTMAP_ERROR_DEVICE, "context is lost", __LINE__);
            REFUSE(distmap_plan_execute(plan, &a), DEVICE, "");
        }
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
        unsetenv("DISTMAP_EMULATION_FAULT");
    }
    assert_true(launch > GPUS);
    CUDA(cudaDeviceReset());
}

static int set_up_team(void **state) {
    setenv("DISTMAP_EMULATION_DEVICES", "3", 0);
    const int failed = set_up(state);
    if (!failed && distmap_device_count(DISTMAP_DEVICE_CUDA) < GPUS) {
        printf("SKIPPED: there are fewer than %d GPUs\n", (int)GPUS);
        exit(0);
    }
    return failed;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),           cmocka_unit_test(test_slabs),    cmocka_unit_test(test_few),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_progress), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_without_access), cmocka_unit_test(test_fault),
    };
    return cmocka_run_group_tests(tests, set_up_team, NULL);
}
