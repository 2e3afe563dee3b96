/* The contracts of distmap.h about executing on GPUs: spaces, staging, flags, errors, faults. */
#include "device_cuda.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Results ---- */

/* Every mixture of spaces, plain and page-locked host memory. */
static void test_spaces(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true);
    float *locked;
    CUDA(cudaMallocHost((void **)&locked, sizeof want));
    for (int kind = 0; kind < 6; kind++) {
        distmap_arrays a = small_arrays(mask, kind % 3 == 2 ? locked : distance);
        memset(a.distance.data, 0, sizeof want);
        if (kind >= 3)
            a.input = device_arrays().input;
        if (kind % 3 == 1) {
            CUDA(cudaMemset(device_distance, 0, sizeof want));
            a.distance = device_arrays().distance;
        }
        ACCEPT(distmap_plan_execute(plan, &a));
        ACCEPT(distmap_plan_wait(plan));
        if (kind % 3 == 1)
            CUDA(cudaMemcpy(distance, device_distance, sizeof want, cudaMemcpyDeviceToHost));
        assert_memory_equal(kind % 3 == 2 ? locked : distance, want, sizeof want);
        assert_int_equal(distmap_plan_flags(plan), 0);
    }
    CUDA(cudaFreeHost(locked));
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* By the method of choice: whichever axis has no elements, nothing is read or written, and no memory needed. */
static void test_empty_arrays(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    for (int ndim = 1; ndim <= 4; ndim++) {
        for (int bits = 1; bits < 1 << ndim; bits++) { /* the axes without elements, from the last on */
            const int64_t shape[4] = {bits & 8 ? 0 : 2, bits & 4 ? 0 : 3, bits & 2 ? 0 : 4, bits & 1 ? 0 : 5};
            const int64_t *last = shape + 4 - ndim;
            distmap_problem p = {.dtype = DISTMAP_UINT8,
                                 .ndim = ndim,
                                 .want = {.distance = DISTMAP_FLOAT32, .index = ndim % 2 ? DISTMAP_INT32 : 0}};
            memcpy(p.shape, last, (size_t)ndim * sizeof *last);
            distmap_arrays a = {.input = distmap_view_make(NULL, DISTMAP_UINT8, ndim, last),
                                .distance = distmap_view_make(NULL, DISTMAP_FLOAT32, ndim, last)};
            if (p.want.index)
                a.index = distmap_view_make(NULL, DISTMAP_INT32, ndim, last);
            size_t bytes = 1;
            ACCEPT(distmap_scratch_bytes(context, &p, NULL, &bytes));
            assert_int_equal(bytes, 0);
            distmap_plan *plan = NULL;
            ACCEPT(distmap_plan_create(context, &p, NULL, &plan));
            ACCEPT(distmap_plan_execute(plan, &a));
            ACCEPT(distmap_plan_wait(plan));
            distmap_plan_destroy(&plan);
        }
    }
    distmap_context_destroy(&context);
}

/* Arrays of many slots of staging memory, in strides. */
static void test_staging(void **state) {
    (void)state;
    enum { SIDE = 1500, STEP = 2 };
    const int64_t shape[2] = {SIDE, SIDE};
    uint8_t *big = malloc((size_t)SIDE * SIDE * STEP);
    double *out[2];
    assert_non_null(big);
    paint(big, (size_t)SIDE * SIDE * STEP, 3000, 5);
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}, .want.distance = DISTMAP_FLOAT64};
    distmap_arrays a = {.input = distmap_view_make(big, DISTMAP_UINT8, 2, shape)};
    a.input.strides[0] *= STEP;
    a.input.strides[1] *= STEP;
    for (int gpu = 0; gpu < 2; gpu++) {
        distmap_context *context = NULL;
        distmap_plan *plan = NULL;
        out[gpu] = malloc((size_t)SIDE * SIDE * sizeof **out);
        assert_non_null(out[gpu]);
        a.distance = distmap_view_make(out[gpu], DISTMAP_FLOAT64, 2, shape);
        ACCEPT(distmap_context_create(gpu ? &on_gpu : NULL, &context));
        ACCEPT(distmap_plan_create(context, &p, &(distmap_plan_options){.host_views = true}, &plan));
        ACCEPT(distmap_plan_execute(plan, &a));
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
    }
    assert_memory_equal(out[0], out[1], (size_t)SIDE * SIDE * sizeof **out);
    free(out[0]);
    free(out[1]);
    free(big);
}

static void test_flags(void **state) {
    (void)state;
    static uint8_t full[PIXELS];
    memset(full, 1, sizeof full);
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true);
    assert_int_equal(distmap_plan_flags(plan), 0);
    const distmap_arrays without = small_arrays(full, distance), with = device_arrays();
    ACCEPT(distmap_plan_execute(plan, &without));
    assert_true(isinf(distance[0]));
    assert_int_equal(distmap_plan_flags(plan), DISTMAP_FLAG_NO_SITE);
    ACCEPT(distmap_plan_execute(plan, &with));
    assert_int_equal(distmap_plan_flags(plan), 0);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

static void test_values(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = NULL;
    static float samples[PIXELS];
    void *device_samples;
    CUDA(cudaMalloc(&device_samples, sizeof samples));
    distmap_problem p = small_problem();
    p.input = DISTMAP_INPUT_SAMPLED;
    p.dtype = DISTMAP_FLOAT32;
    ACCEPT(distmap_plan_create(context, &p, &(distmap_plan_options){.host_views = true}, &plan));
    for (int bad = 1; bad >= 0; bad--) {
        samples[7] = bad ? -1 : 1;
        distmap_arrays a = {.input = distmap_view_make(samples, DISTMAP_FLOAT32, 2, small_shape),
                            .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 2, small_shape)};
        CUDA(cudaMemcpy(device_samples, samples, sizeof samples, cudaMemcpyHostToDevice));
        const distmap_status status = bad ? DISTMAP_ERROR_VALUE : DISTMAP_OK;
        check_text(distmap_plan_execute(plan, &a), status, bad ? "a sample is negative" : "", __LINE__);
        check_text(distmap_plan_wait(plan), status, "", __LINE__);
        a.input = on_device(a.input, device_samples);
        a.distance = on_device(a.distance, device_distance);
        ACCEPT(distmap_plan_execute(plan, &a));
        check_text(distmap_plan_wait(plan), status, bad ? "a sample is negative" : "", __LINE__);
    }
    CUDA(cudaFree(device_samples));
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* A plan whose scratch is the caller's may be destroyed while its work is under way. */
static void test_given_up(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    const distmap_problem p = small_problem();
    const distmap_arrays a = device_arrays();
    distmap_plan_options options = {0};
    distmap_plan *plan = NULL;
    ACCEPT(distmap_scratch_bytes(context, &p, &options, &options.scratch_bytes));
    CUDA(cudaMalloc(&options.scratch, options.scratch_bytes));
    CUDA(cudaMemset(device_distance, 0, sizeof want));
    ACCEPT(distmap_plan_create(context, &p, &options, &plan));
    ACCEPT(distmap_plan_execute(plan, &a));
    distmap_plan_destroy(&plan);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(options.scratch));
    CUDA(cudaMemcpy(distance, device_distance, sizeof want, cudaMemcpyDeviceToHost));
    assert_memory_equal(distance, want, sizeof want);
    distmap_context_destroy(&context);
}

static int stop_at_once(void *user, double fraction) {
    *(double *)user = fraction;
    return 1;
}

static void test_cancel(void **state) {
    (void)state;
    double fraction = -1;
    distmap_context_options options = on_gpu;
    options.progress = stop_at_once;
    options.progress_user = &fraction;
    distmap_context *context = NULL;
    ACCEPT(distmap_context_create(&options, &context));
    distmap_plan *plan = plan_small(context, true);
    const distmap_arrays a = small_arrays(mask, distance);
    REFUSE(distmap_plan_execute(plan, &a), CANCELLED, "cancelled");
    assert_true(fraction > 0 && fraction <= 1);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* ---- Faults ---- */

static void test_fault(void **state) {
    (void)state;
    if (!emulated)
        skip();
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true), *other = NULL;
    const distmap_problem p = small_problem();
    distmap_arrays a = small_arrays(mask, distance);
    CUDA(cudaDeviceSynchronize());
    for (int staged = 0; staged < 2; staged++) {
        char launch[16] = "1";
        setenv("DISTMAP_EMULATION_FAULT", launch, 1);
        CUDA(cudaDeviceReset());
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
        CUDA(cudaMalloc(&device_mask, PIXELS));
        CUDA(cudaMalloc(&device_distance, sizeof want));
        context = open_gpu();
        plan = plan_small(context, true);
        a = staged ? small_arrays(mask, distance) : device_arrays();
        distmap_status status = distmap_plan_execute(plan, &a);
        if (status == DISTMAP_OK)
            status = distmap_plan_wait(plan);
        check_text(status, DISTMAP_ERROR_DEVICE, "this context is lost", __LINE__);
        REFUSE(distmap_plan_execute(plan, &a), DEVICE, "");
        REFUSE(distmap_plan_create(context, &p, NULL, &other), DEVICE, "lost");
        REFUSE(distmap_context_set_stream(context, NULL), DEVICE, "lost");
        assert_null(other);
        assert_int_equal(distmap_plan_flags(plan), 0);
    }
    unsetenv("DISTMAP_EMULATION_FAULT");
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    CUDA(cudaDeviceReset());
    CUDA(cudaMalloc(&device_mask, PIXELS));
    CUDA(cudaMalloc(&device_distance, sizeof want));
    CUDA(cudaMemcpy(device_mask, mask, sizeof mask, cudaMemcpyHostToDevice));
}

static void test_fork(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true);
    const distmap_arrays a = small_arrays(mask, distance);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool told =
            distmap_plan_execute(plan, &a) == DISTMAP_ERROR_DEVICE && strstr(distmap_error_text(), "before a fork");
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
        _exit(told ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ACCEPT(distmap_plan_execute(plan, &a));
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* More axes than four, in device memory. Batches that do not follow each other there take several runs, and what one of them met is
 * not lost in the next; indices are for those that do. */
static void test_batches(void **state) {
    (void)state;
    enum { ALL = 2 * 3 * 2 * 5 * 4 };
    static uint8_t elements[ALL];
    static float host[ALL], got[ALL];
    distmap_context *context = open_gpu();
    distmap_problem p = {
        .dtype = DISTMAP_UINT8, .ndim = 5, .shape = {2, 3, 2, 5, 4}, .axes = 3u << 3, .want.distance = DISTMAP_FLOAT32};
    const int64_t apart[] = {20, 40, 120, 4, 1};    /* elements: the first two axes changed over */
    for (int without = 0; without < 3; without++) { /* sites: in the first run none, in the second none, in all */
        distmap_arrays a = {.input = distmap_view_make(elements, DISTMAP_UINT8, 5, p.shape),
                            .distance = distmap_view_make(host, DISTMAP_FLOAT32, 5, p.shape)};
        for (int i = 0; i < 5; i++) {
            a.input.strides[i] = apart[i];
            a.distance.strides[i] = apart[i] * (int64_t)sizeof *host;
        }
        for (int i = 0; i < ALL; i++)
            elements[i] = i / 120 == without || i % 7 != 0;
        unsigned flags;
        ACCEPT(distmap_transform(&p, &a, &flags));
        CUDA(cudaMemcpy(device_mask, elements, sizeof elements, cudaMemcpyHostToDevice));
        a.input = on_device(a.input, device_mask);
        a.distance = on_device(a.distance, device_distance);
        distmap_plan *plan = NULL;
        ACCEPT(distmap_plan_create(context, &p, NULL, &plan));
        for (int run = 0; run < 2; run++) {
            CUDA(cudaMemset(device_distance, 0, sizeof got));
            ACCEPT(distmap_plan_execute(plan, &a));
            assert_int_equal(distmap_plan_flags(plan), without < 2 ? DISTMAP_FLAG_NO_SITE : 0);
            assert_int_equal(flags, without < 2 ? DISTMAP_FLAG_NO_SITE : 0);
            CUDA(cudaMemcpy(got, device_distance, sizeof got, cudaMemcpyDeviceToHost));
            assert_memory_equal(got, host, sizeof got);
        }
        distmap_plan_destroy(&plan);
    }
    p.want = (distmap_outputs){.index = DISTMAP_INT32};
    distmap_plan *plan = NULL;
    ACCEPT(distmap_plan_create(context, &p, NULL, &plan));
    distmap_arrays a = {.input = on_device(distmap_view_make(NULL, DISTMAP_UINT8, 5, p.shape), device_mask),
                        .index = on_device(distmap_view_make(NULL, DISTMAP_INT32, 5, p.shape), device_distance)};
    ACCEPT(distmap_plan_execute(plan, &a)); /* without gaps: all at once */
    ACCEPT(distmap_plan_wait(plan));
    int32_t last;
    CUDA(cudaMemcpy(&last, (int32_t *)device_distance + ALL - 1, sizeof last, cudaMemcpyDeviceToHost));
    assert_true(last >= ALL - 20 && last < ALL && elements[last] == 0);
    for (int i = 0; i < 5; i++)
        a.input.strides[i] = apart[i];
    REFUSE(distmap_plan_execute(plan, &a), UNSUPPORTED, "arrays.index lies in a GPU's memory: with more than 4 axes");
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spaces),       cmocka_unit_test(test_staging), cmocka_unit_test(test_flags),
        cmocka_unit_test(test_empty_arrays), cmocka_unit_test(test_values),  cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_cancel),       cmocka_unit_test(test_fork),    cmocka_unit_test(test_fault),
        cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
