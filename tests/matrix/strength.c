/* strength GROUP [options of choice.h]: edge strengths by every method of the device, on every runner, with drawn parameters.
 *
 * steps, large: to the bit what the header's formula gives, computed here element by element. rest: the residual that
 * the header states, bounds, and for small images the solution of the linear equations by elimination in FP64; and the
 * same bits on all runners. DISTMAP_TEST_SEED and DISTMAP_TEST_SCALE are those of `matrix`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../seed.h"
#include "choice.h"
#include "drawn.h"

enum { MAX_METHODS = 64, SOLVED = 500 };

static struct {
    const char *group;
    uint64_t seed;
    struct runner runner[MAX_RUNNERS];
    int runners, failures;
    long ran[MAX_METHODS], refused[MAX_METHODS];
} state;

struct job {
    char name[DRAWN_NAME];
    distmap_problem problem;
    int64_t elements, pitch[4]; /* in elements */
    int axes[4], n;             /* those that count, the last one first */
    const uint8_t *shape;       /* 1 on it */
    unsigned flags;
    double *want; /* steps: what must come out. At rest: the solution, where it is known */
    struct placed input, output;
    unsigned char *first; /* at rest: the output of the first runner */
};

static bool fail(const struct job *j, const distmap_method_info *method, int number, const struct runner *runner,
                 const distmap_param *params) {
    const distmap_problem *p = &j->problem;
    if (++state.failures > SHOWN_FAILURES)
        return false;
    fprintf(stderr, "FAILED %s\n", j->name);
    choice_print_command(state.group, number, state.seed, method->name, runner->context, params, method->param_count);
    fprintf(stderr,
            "  %s, %s, %d threads; axes 0x%x, input %s, rho %.17g, dt %.17g, steps %" PRId64
            ", tolerance %g, %s: ",
            method->name, distmap_context_isa(runner->context), distmap_context_threads(runner->context), p->axes,
            distmap_dtype_name(p->dtype), p->esf.rho, p->esf.dt, p->esf.steps, p->esf.tolerance,
            distmap_dtype_name(p->want.strength));
    return true;
}

/* ---- The oracle ---- */

static int64_t beside(const struct job *j, int64_t i, int axis, int by) {
    const int64_t at = i / j->pitch[axis] % j->problem.shape[axis] + by;
    return at < 0 || at >= j->problem.shape[axis] ? i : i + by * j->pitch[axis];
}

#define DEFINE_STEPS(T)                                                                                         \
    static void steps_##T(const struct job *j, double dt_wanted) {                                              \
        T *v = calloc((size_t)j->elements, sizeof(T)), *next = calloc((size_t)j->elements, sizeof(T));          \
        REQUIRE(v &&next);                                                                                      \
        const double rho = j->problem.esf.rho, c = 2 * j->n + 1 / (rho * rho);                                  \
        const T dt = (T)dt_wanted, a = (T)(1 - (double)dt * c);                                                 \
        for (int64_t i = 0; i < j->elements; i++)                                                               \
            v[i] = j->shape[i];                                                                                 \
        for (int64_t step = 0; step < j->problem.esf.steps; step++) {                                           \
            for (int64_t i = 0; i < j->elements; i++) {                                                         \
                T pair[3] = {0, 0, 0};                                                                          \
                for (int k = 0; k < j->n; k++)                                                                  \
                    pair[k] = v[beside(j, i, j->axes[k], -1)] + v[beside(j, i, j->axes[k], 1)];                 \
                const T plane = pair[1] + pair[0], s = j->n > 1 ? j->n > 2 ? plane + pair[2] : plane : pair[0]; \
                const T kept = a * v[i], gained = dt * s, sum = kept + gained;                                  \
                next[i] = j->shape[i] ? 1 : sum;                                                                \
            }                                                                                                   \
            T *made = next;                                                                                     \
            next = v;                                                                                           \
            v = made;                                                                                           \
        }                                                                                                       \
        for (int64_t i = 0; i < j->elements; i++)                                                               \
            j->want[i] = v[i];                                                                                  \
        free(v);                                                                                                \
        free(next);                                                                                             \
    }
DEFINE_STEPS(float)
DEFINE_STEPS(double)

/* The equations of the state at rest, all batches in one matrix, by Gaussian elimination. */
static void solve(const struct job *j) {
    const size_t n = (size_t)j->elements;
    double *rows = calloc(n * (n + 1), sizeof *rows);
    REQUIRE(rows);
    for (size_t i = 0; i < n; i++) {
        double *row = rows + i * (n + 1);
        row[i] = j->shape[i] ? 1 : 1 / (j->problem.esf.rho * j->problem.esf.rho);
        row[n] = j->shape[i];
        for (int k = 0; k < 2 * j->n && !j->shape[i]; k++) {
            row[i] += 1;
            row[beside(j, (int64_t)i, j->axes[k / 2], k % 2 ? 1 : -1)] -= 1;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            const double by = rows[k * (n + 1) + i] / rows[i * (n + 1) + i];
            for (size_t x = i; by != 0 && x <= n; x++)
                rows[k * (n + 1) + x] -= by * rows[i * (n + 1) + x];
        }
    for (size_t i = n; i-- > 0;) {
        double sum = rows[i * (n + 1) + n];
        for (size_t x = i + 1; x < n; x++)
            sum -= rows[i * (n + 1) + x] * j->want[x];
        j->want[i] = sum / rows[i * (n + 1) + i];
    }
    free(rows);
}

/* ---- One run ---- */

static double value_at(const struct job *j, int64_t i) {
    const unsigned char *p = j->output.memory + layout_offset(&j->output, i);
    float single;
    double wide;
    memcpy(&single, p, sizeof single);
    memcpy(&wide, p, j->problem.want.strength == DISTMAP_FLOAT64 ? sizeof wide : sizeof single);
    return j->problem.want.strength == DISTMAP_FLOAT64 ? wide : single;
}

/* The output as it must be, or for the state at rest as the first runner had it. */
static bool bits_equal(const struct job *j) {
    if (!j->problem.esf.steps)
        return memcmp(j->first, j->output.memory, j->output.bytes) == 0;
    if (j->problem.want.strength == DISTMAP_FLOAT64)
        return layout_holds(&j->output, j->elements, j->want, sizeof *j->want);
    float *single = malloc((size_t)j->elements * sizeof *single);
    REQUIRE(single);
    for (int64_t i = 0; i < j->elements; i++)
        single[i] = (float)j->want[i];
    const bool equal = layout_holds(&j->output, j->elements, single, sizeof *single);
    free(single);
    return equal;
}

/* What the header says of the state at rest. Returns NULL, or what is wrong. */
static const char *judge_rest(const struct job *j, const distmap_convergence *convergence) {
    const distmap_problem *p = &j->problem;
    const bool single = p->want.strength == DISTMAP_FLOAT32;
    const double hidden = single ? 5e-7 : 1e-15, rho2 = p->esf.rho * p->esf.rho;
    const double tolerance = p->esf.tolerance != 0 ? p->esf.tolerance : single ? 1e-5 : 1e-10;
    double largest = 0;
    for (int64_t i = 0; i < j->elements; i++) {
        const double v = value_at(j, i);
        double r = -v / rho2;
        if (!(v >= 0 && v <= 1) || (j->shape[i] && v != 1))
            return "a value is not between 0 and 1, or not 1 on the shape";
        for (int k = 0; k < 2 * j->n; k++)
            r += value_at(j, beside(j, i, j->axes[k / 2], k % 2 ? 1 : -1)) - v;
        largest = j->shape[i] ? largest : fmax(largest, fabs(r));
        if (j->want && !(fabs(v - j->want[i]) <= rho2 * (tolerance + hidden) + 1e-9))
            return "the solution is farther away than rho^2 tolerance";
    }
    if (!(convergence->residual <= tolerance) || convergence->iterations < 0)
        return "the residual told is not within the tolerance";
    return fabs(largest - convergence->residual) <= hidden ? NULL : "the residual told is not that of the values";
}

static const char *run_plan(struct job *j, const struct runner *runner, distmap_plan *plan,
                            const unsigned char *input) {
    layout_poison(&j->output);
    distmap_arrays arrays = {.input = runner_send(runner, &j->input), .strength = runner_send(runner, &j->output)};
    if (distmap_plan_execute(plan, &arrays) || distmap_plan_wait(plan))
        return distmap_error_text();
    runner_fetch(runner, &j->input);
    runner_fetch(runner, &j->output);
    distmap_convergence convergence;
    REQUIRE(distmap_plan_convergence(plan, &convergence) == DISTMAP_OK);
    if (memcmp(input, j->input.memory, j->input.bytes) != 0)
        return "the input was changed";
    if (distmap_plan_flags(plan) != j->flags)
        return "other flags";
    if (j->problem.esf.steps) {
        if (convergence.iterations != j->problem.esf.steps || !isnan(convergence.residual))
            return "the convergence told is not that of steps";
        return bits_equal(j) ? NULL : "other bits";
    }
    const char *why = judge_rest(j, &convergence);
    if (!why && j->first && !bits_equal(j))
        why = "other bits than the first runner's";
    return why;
}

/* The same parameters on all runners: at rest they must give the same bits. */
static void run_method(struct job *j, size_t m, int number, const unsigned char *input) {
    const distmap_method_info *info = distmap_method_get(m);
    struct rng r = {(uint64_t)number * 1000003 + m * 101};
    distmap_param params[8];
    REQUIRE(info->param_count <= 8);
    for (size_t k = 0; k < info->param_count; k++) {
        const distmap_param_info *q = &info->params[k];
        const int64_t few = q->highest - q->lowest < 9 ? q->highest : q->lowest + 9;
        const int64_t draws[] = {q->fallback, q->fallback, q->lowest, q->highest, rng_range(&r, q->lowest, few)};
        params[k] = (distmap_param){q->name, draws[rng_range(&r, 0, 4)]};
    }
    choice_set_params(info, params);
    for (int i = 0; i < state.runners; i++) {
        const struct runner *runner = &state.runner[(number + i) % state.runners];
        if (!choice_takes_context(runner->context))
            continue;
        const distmap_plan_options options = {.method = info->name,
                                              .params = params,
                                              .param_count = info->param_count,
                                              .host_views = !runner->device_views};
        distmap_plan *plan = NULL;
        const distmap_status status = distmap_plan_create(runner->context, &j->problem, &options, &plan);
        if (status == DISTMAP_ERROR_UNSUPPORTED) {
            state.refused[m]++;
            continue;
        }
        const char *why = status ? distmap_error_text() : run_plan(j, runner, plan, input);
        if (!why && i == number % state.runners)
            why = run_plan(j, runner, plan, input); /* nothing may be left behind in the plan */
        if (why && fail(j, info, number, runner, params))
            fprintf(stderr, "%s\n", why);
        state.ran[m]++;
        if (!j->first && !why && !j->problem.esf.steps) {
            j->first = malloc(j->output.bytes);
            REQUIRE(j->first);
            memcpy(j->first, j->output.memory, j->output.bytes);
        }
        distmap_plan_destroy(&plan);
    }
    free(j->first);
    j->first = NULL;
}

/* ---- One case ---- */

static struct job job_make(const struct test_case *c, const uint8_t *shape) {
    struct job j = {.problem = c->problem, .shape = shape, .elements = 1};
    for (int a = j.problem.ndim - 1; a >= 0; a--) {
        j.pitch[a] = j.elements;
        j.elements *= j.problem.shape[a];
        if ((j.problem.axes == 0 || j.problem.axes >> a & 1) && j.problem.shape[a] > 1)
            j.axes[j.n++] = a;
    }
    /* Without a shape: the batch of an element has as many shape elements as there are where its counting axes vary. */
    for (int64_t i = 0; i < j.elements; i++) {
        bool first = true; /* of its batch */
        for (int k = 0; k < j.n; k++)
            first &= i / j.pitch[j.axes[k]] % j.problem.shape[j.axes[k]] == 0;
        bool any = false;
        int64_t at[3] = {0};
        const int64_t length[3] = {j.n > 0 ? j.problem.shape[j.axes[0]] : 1, j.n > 1 ? j.problem.shape[j.axes[1]] : 1,
                                   j.n > 2 ? j.problem.shape[j.axes[2]] : 1};
        for (at[2] = 0; first && at[2] < length[2]; at[2]++)
            for (at[1] = 0; at[1] < length[1]; at[1]++)
                for (at[0] = 0; at[0] < length[0]; at[0]++) {
                    int64_t element = i;
                    for (int k = 0; k < j.n; k++)
                        element += at[k] * j.pitch[j.axes[k]];
                    any |= shape[element];
                }
        if (first && !any)
            j.flags |= DISTMAP_FLAG_NO_SITE;
    }
    return j;
}

static void draw_problem(struct test_case *c, bool rest, bool large, struct rng *r) {
    static const double rhos[] = {0.3, 0.9, 1, 2, 4, 8, 16, 64, 300, 1e5};
    distmap_problem *p = &c->problem;
    unsigned measured = p->axes ? p->axes : (1u << p->ndim) - 1;
    while (__builtin_popcount(measured) > 3)
        measured &= measured - 1;
    p->axes = measured;
    const int axes = __builtin_popcount(measured);
    p->field = DISTMAP_FIELD_EDGE_STRENGTH;
    p->want = (distmap_outputs){.strength = strcmp(runner_device, "cpu") == 0 && rng_chance(r, 0.4) ? DISTMAP_FLOAT64
                                                                                                    : DISTMAP_FLOAT32};
    int64_t elements = 1;
    for (int a = 0; a < p->ndim; a++)
        elements *= p->shape[a];
    /* Far from the shape values are rounded to 0, of either sign where a < 0. */
    const bool faint = !rest && !large && rng_chance(r, 0.25);
    /* At rest where rho is large over-relaxation takes thousands of sweeps: of small images alone. */
    p->esf.rho = rhos[faint ? 0 : rng_range(r, 0, !rest ? 9 : elements <= SOLVED ? 8 : 6)];
    if (rest) {
        const double least = p->want.strength == DISTMAP_FLOAT32 ? 1e-6 : 1e-14;
        p->esf.tolerance = rng_chance(r, 0.3) ? 0 : least * pow(10, 3 * rng_unit(r));
        return;
    }
    const double limit = 2 / (4 * axes + 1 / (p->esf.rho * p->esf.rho));
    p->esf.steps = large ? rng_range(r, 1, 40) : rng_range(r, faint ? 80 : 1, faint || rng_chance(r, 0.3) ? 150 : 20);
    if (faint)
        p->esf.dt = limit * (0.7 + 0.29 * rng_unit(r));
    else if (1.0 / (2 * axes + 1) >= limit * 0.999 || rng_chance(r, 0.3)) /* also where a < 0 */
        p->esf.dt = limit * (0.05 + 0.94 * rng_unit(r));
}

static void run_case(const char *group, struct image *m, int pattern, int number, uint64_t seed, struct rng *r) {
    const bool rest = strcmp(group, "rest") == 0, large = strcmp(group, "large") == 0;
    struct test_case c = {.number = number};
    m->site = malloc((size_t)m->elements);
    REQUIRE(m->site);
    corpus_paint(pattern, m, r);
    recipe_make(&c, m,
                large ? 0 : VARY_LAYOUT | (rng_chance(r, 0.5) ? VARY_AXES : 0) | (rng_chance(r, 0.5) ? VARY_DTYPE : 0),
                r);
    draw_problem(&c, rest, large, r);
    for (int64_t i = 0; i < m->elements; i++)
        m->site[i] = oracle_offers(&c.problem, c.input, i);
    struct job j = job_make(&c, m->site);
    drawn_name(j.name, sizeof j.name, group, number, seed, pattern, m);
    for (int64_t i = 0; i < m->elements; i++) {
        const long double x = oracle_element(c.input, c.problem.dtype, i);
        j.flags |= x != x ? DISTMAP_FLAG_NAN : 0;
    }
    if (!rest || m->elements <= SOLVED) {
        j.want = calloc((size_t)m->elements, sizeof *j.want);
        REQUIRE(j.want);
    }
    int measured = __builtin_popcount(c.problem.axes);
    const double dt = c.problem.esf.dt != 0 ? c.problem.esf.dt : 1.0 / (2 * measured + 1);
    if (!rest)
        (c.problem.want.strength == DISTMAP_FLOAT32 ? steps_float : steps_double)(&j, dt);
    else if (j.want)
        solve(&j);
    j.input = drawn_place(c.in, c.problem.dtype, m, c.input);
    j.output = layout_place(c.out, c.problem.want.strength, m->ndim, m->shape);
    unsigned char *input = malloc(j.input.bytes);
    REQUIRE(input);
    memcpy(input, j.input.memory, j.input.bytes);
    for (size_t k = 0; distmap_method_get(k); k++) {
        const distmap_method_info *info = distmap_method_get(k);
        REQUIRE(k < MAX_METHODS);
        if (info->field == DISTMAP_FIELD_EDGE_STRENGTH && strcmp(info->device, runner_device) == 0 &&
            choice_takes_method(info->name))
            run_method(&j, k, number, input);
    }
    free(input);
    free(j.want);
    free(c.input);
    free(m->site);
    runner_drop(&j.input);
    runner_drop(&j.output);
}

static void draw_shape(struct image *m, bool large, int64_t most, struct rng *r) {
    static const int64_t lengths[] = {1,  2,  3,  5,  7,  8,   15,  16,  17,  31, 32,
                                      33, 48, 49, 64, 65, 100, 127, 128, 129, 300};
    static const int64_t larges[][3] = {{600, 2100}, {515, 60},     {1030, 17},   {40, 4100},
                                        {9000},      {130, 50, 40}, {60, 55, 270}};
    const int64_t *given = larges[rng_range(r, 0, 6)];
    do {
        m->ndim = large ? given[1] == 0 ? 1 : given[2] == 0 ? 2 : 3 : (int)rng_range(r, 1, 4);
        m->elements = 1;
        for (int a = 0; a < m->ndim; a++) {
            m->shape[a] = large ? given[a] : lengths[rng_range(r, 0, sizeof lengths / sizeof *lengths - 1)];
            m->elements *= m->shape[a];
        }
    } while (!large && m->elements > most);
}

static int report(void) {
    long ran = 0;
    for (size_t m = 0; distmap_method_get(m); m++) {
        const distmap_method_info *info = distmap_method_get(m);
        if (info->field != DISTMAP_FIELD_EDGE_STRENGTH || strcmp(info->device, runner_device) != 0)
            continue;
        printf("  %-16s ran %ld, does not take %ld\n", info->name, state.ran[m], state.refused[m]);
        ran += state.ran[m];
        if (state.ran[m] == 0 && !choice_is_partial()) {
            fprintf(stderr, "FAILED %s took none of the cases\n", info->name);
            state.failures++;
        }
    }
    if (ran == 0) {
        fprintf(stderr, "FAILED nothing ran\n");
        state.failures++;
    }
    if (state.failures)
        fprintf(stderr, "%d failures\n", state.failures);
    return state.failures != 0;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int cases;
        int64_t most;
    } groups[] = {{"steps", 400, 3000}, {"large", 12, 0}, {"rest", 250, 12000}};
    const char *usage = "steps|large|rest [--case N] [--method NAME] [--isa NAME] [--threads N] [--param NAME=VALUE]...";
    const char *group = choice_read(argc, argv, usage);
    const uint64_t seed = test_seed();
    for (size_t i = 0; group && i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(groups[i].name, group) != 0)
            continue;
        const int cases = drawn_count(groups[i].cases);
        choice_check_case(group, cases);
        printf("strength %s, seed %" PRIu64 ", %d cases\n", group, seed, cases);
        state.group = group;
        state.seed = seed;
        drawn_order(seed);
        state.runners = runner_open(state.runner);
        for (int number = 0; number < cases; number++) {
            struct rng r = {seed * 1000003 + (uint64_t)number * 7919 + i};
            struct image m = {0};
            rng_next(&r);
            draw_shape(&m, strcmp(group, "large") == 0, rng_chance(&r, 0.5) ? SOLVED : groups[i].most, &r);
            const int pattern = (int)rng_range(&r, 0, corpus_count - 1);
            if (choice_takes_case(number))
                run_case(group, &m, pattern, number, seed, &r);
        }
        const int status = report();
        runner_close(state.runner, state.runners);
        return status;
    }
    fprintf(stderr, "usage: strength %s\n", usage);
    return 2;
}
