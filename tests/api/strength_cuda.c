/* Edge strengths on GPUs: what only esf/cuda refuses, and what is known once an execution that was merely enqueued is
 * complete. */
#include <math.h>

#include "device_cuda.h"

static distmap_problem strengths(int64_t steps) {
    distmap_problem p = small_problem();
    p.want = (distmap_outputs){.strength = DISTMAP_FLOAT32};
    p.field = DISTMAP_FIELD_EDGE_STRENGTH;
    p.esf = (distmap_esf){.rho = 4, .steps = steps};
    return p;
}

static void test_rules(void **state) {
    (void)state;
    enum { BLOCKED, SHARED, TEXTURE, LINEAR };
    static const int64_t rows[] = {65000, 65000, 65536, 65000};
    distmap_context *context = open_gpu();
    distmap_plan *plan = NULL;
    distmap_plan_options options = {.method = "esf/cuda"};
    distmap_problem p = strengths(3);
    p.want.strength = DISTMAP_FLOAT64;
    REFUSE(distmap_plan_create(context, &p, &options, &plan), UNSUPPORTED, "float32");
    REFUSE(distmap_plan_create(context, &p, NULL, &plan), UNSUPPORTED, "no method");
    p = strengths(3);
    p.shape[0] = 1;
    p.shape[1] = ((int64_t)1 << 30) + 1;
    REFUSE(distmap_plan_create(context, &p, &options, &plan), UNSUPPORTED, "2^30");
    for (int wide = 0; wide < 2; wide++)
        for (int64_t kernel = BLOCKED; kernel <= LINEAR; kernel++) {
            options.params = &(distmap_param){"kernel", kernel};
            options.param_count = 1;
            p.shape[wide] = wide ? 131073 : rows[kernel] + 1;
            p.shape[1 - wide] = 2;
            if (kernel == TEXTURE)
                REFUSE(distmap_plan_create(context, &p, &options, &plan), UNSUPPORTED, "65536 rows of at most 131072");
            else if (kernel == LINEAR)
                REFUSE(distmap_plan_create(context, &p, &options, &plan), UNSUPPORTED, "65000 rows of at most 131072");
            else
                ACCEPT(distmap_plan_create(context, &p, &options, &plan));
            distmap_plan_destroy(&plan);
        }
    distmap_context_destroy(&context);
}

static void test_convergence(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    for (int64_t steps = 0; steps < 2; steps++) {
        const distmap_problem p = strengths(steps);
        distmap_plan *plan = NULL;
        distmap_convergence met;
        distmap_arrays a = {.input = device_arrays().input, .strength = device_arrays().distance};
        ACCEPT(distmap_plan_create(context, &p, NULL, &plan));
        ACCEPT(distmap_plan_execute(plan, &a));
        ACCEPT(distmap_plan_convergence(plan, &met));
        assert_true(steps ? met.iterations == 1 && isnan(met.residual)
                          : met.iterations > 1 && met.residual > 0 && met.residual <= 1e-5);
        CUDA(cudaMemset(device_mask, 1, PIXELS)); /* no zero, no shape */
        ACCEPT(distmap_plan_execute(plan, &a));
        assert_int_equal(distmap_plan_flags(plan), DISTMAP_FLAG_NO_SITE);
        CUDA(cudaMemcpy(distance, device_distance, sizeof distance, cudaMemcpyDeviceToHost));
        for (int i = 0; i < PIXELS; i++)
            assert_true(distance[i] == 0);
        CUDA(cudaMemcpy(device_mask, mask, sizeof mask, cudaMemcpyHostToDevice));
        distmap_plan_destroy(&plan);
    }
    distmap_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_convergence)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
