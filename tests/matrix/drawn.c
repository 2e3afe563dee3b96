#include "drawn.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../seed.h"
#include "choice.h"

static struct {
    uint64_t seed;
    struct runner runner[MAX_RUNNERS];
    int runners, failures;
    long ran;
} state;

/* ---- Drawing ---- */

double drawn_scale(void) { return test_scale() * MATRIX_SHARE; }

int drawn_count(int cases) { return 1 + (int)(cases * (choice_is_one_case() ? fmax(1, drawn_scale()) : drawn_scale())); }

void drawn_order(uint64_t seed) {
    char order[24];
    snprintf(order, sizeof order, "%" PRIu64, seed);
    setenv("DISTMAP_EMULATION_SEED", order, 0);
}

void drawn_shape(struct image *m, const int64_t *lengths, int count, int64_t most, struct rng *r) {
    do {
        m->ndim = (int)rng_range(r, 1, 4);
        m->elements = 1;
        for (int a = 0; a < m->ndim; a++) {
            m->shape[a] = lengths[rng_range(r, 0, count - 1)];
            m->elements *= m->shape[a];
        }
    } while (m->elements > most);
}

void drawn_name(char *name, size_t size, const char *group, int number, uint64_t seed, int pattern,
                const struct image *m) {
    int end = snprintf(name, size, "%s %d (seed %" PRIu64 "): %s", group, number, seed, corpus_patterns[pattern].name);
    for (int a = 0; a < m->ndim; a++)
        end += snprintf(name + end, size - (size_t)end, "%c%" PRId64, a ? 'x' : ' ', m->shape[a]);
}

struct placed drawn_place(enum layout layout, distmap_dtype dtype, const struct image *m, const void *data) {
    struct placed made = layout_place(layout, dtype, m->ndim, m->shape);
    layout_fill(&made, m->elements, data, distmap_dtype_size(dtype));
    return made;
}

/* ---- Running ---- */

static void run_method(const struct drawn_job *j, const char *method) {
    for (int i = 0; i < state.runners; i++) {
        const struct runner *runner = &state.runner[(j->number + i) % state.runners];
        if (!choice_takes_context(runner->context))
            continue;
        const distmap_plan_options options = {.method = method, .host_views = !runner->device_views};
        distmap_plan *plan = NULL;
        const char *why = distmap_plan_create(runner->context, j->problem, &options, &plan) ? distmap_error_text()
                                                                                            : j->run(j, runner, plan);
        if (!why && i == j->number % state.runners)
            why = j->run(j, runner, plan); /* nothing may be left behind in the plan */
        distmap_plan_destroy(&plan);
        state.ran++;
        if (!why || ++state.failures > SHOWN_FAILURES)
            continue;
        fprintf(stderr, "FAILED %s\n", j->name);
        choice_print_command(NULL, j->number, state.seed, method, runner->context, NULL, 0);
        fprintf(stderr, "  %s, %s, %d threads; axes 0x%x, spacing", method,
                distmap_context_isa(runner->context), distmap_context_threads(runner->context), j->problem->axes);
        for (int a = 0; a < j->problem->ndim; a++)
            fprintf(stderr, " %g", j->problem->spacing[a]);
        const int *order = j->problem->order;
        fprintf(stderr, ", order {%d, %d, %d, %d}", order[0], order[1], order[2], order[3]);
        fprintf(stderr, ", ");
        j->tell(j);
        fprintf(stderr, ": %s\n", why);
    }
}

const char *drawn_execute(const struct runner *runner, distmap_plan *plan, distmap_arrays *arrays, struct placed *input,
                          const unsigned char *untouched, const struct drawn_output *outputs, int count,
                          unsigned flags) {
    arrays->input = runner_send(runner, input);
    for (int k = 0; k < count; k++)
        if (outputs[k].placed) {
            layout_poison(outputs[k].placed);
            *outputs[k].view = runner_send(runner, outputs[k].placed);
        }
    if (distmap_plan_execute(plan, arrays) || distmap_plan_wait(plan))
        return distmap_error_text();
    runner_fetch(runner, input);
    for (int k = 0; k < count; k++)
        if (outputs[k].placed)
            runner_fetch(runner, outputs[k].placed);
    if (memcmp(untouched, input->memory, input->bytes) != 0)
        return "the input was changed";
    return distmap_plan_flags(plan) == flags ? NULL : "other flags";
}

void drawn_run(const struct drawn_job *j, distmap_field field) {
    for (size_t k = 0; distmap_method_get(k); k++) {
        const distmap_method_info *info = distmap_method_get(k);
        if (info->field == field && strcmp(info->device, runner_device) == 0 && choice_takes_method(info->name))
            run_method(j, info->name);
    }
}

int drawn_main(int argc, char **argv, const char *group, int cases, const char *found_what, const long *found,
               void (*run_case)(int number, uint64_t seed, struct rng *r)) {
    choice_read(argc, argv, "[--case N] [--method NAME] [--isa NAME] [--threads N]");
    const uint64_t seed = test_seed();
    const int count = drawn_count(cases);
    choice_check_case(group, count);
    drawn_order(seed);
    state.seed = seed;
    state.runners = runner_open(state.runner);
    for (int number = 0; number < count; number++) {
        struct rng r = {seed * 1000003 + (uint64_t)number * 7919};
        rng_next(&r);
        if (choice_takes_case(number))
            run_case(number, seed, &r);
    }
    printf("%s, seed %" PRIu64 ", %d cases, %ld runs, %ld %s\n", group, seed, count, state.ran, *found, found_what);
    if (state.ran == 0)
        fprintf(stderr, "FAILED nothing ran\n");
    if (state.failures)
        fprintf(stderr, "%d failures\n", state.failures);
    runner_close(state.runner, state.runners);
    return state.failures != 0 || state.ran == 0;
}
