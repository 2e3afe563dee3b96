/* One cell: a method on an image, in turns with the production method, checked.
 *
 * Both go from host memory to host memory; phases (distmap_plan_phase_get) tell the time of the method alone from that of
 * transfers. The first run warms up and is not counted, unless it is so long that nothing of the kind matters, and then it
 * is the only one; of the others the median is reported. Results of other metrics are compared with brute force's, on the
 * GPU if there is one, or where that takes too long with another method's; the others as cell_check.c says.
 */
#include "cell.h"
#include "../json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cell_watch(void *suite, double fraction) {
    (void)fraction;
    const struct suite *s = suite;
    return signal_caught() || (s->deadline > 0 && seconds_now() > s->deadline);
}

/* ---- Predictions ---- */

static struct rate *find_rate(struct suite *s, const struct suite_cell *cell, bool add) {
    enum { RATES = sizeof s->rates / sizeof *s->rates };
    char key[sizeof s->rates->key];
    snprintf(key, sizeof key, "%s %s %d %d %d", cell->method, cell->params ? cell->params : "", cell->threads,
             cell->metric, cell->index);
    for (int i = 0; i < s->rate_count; i++)
        if (strcmp(s->rates[i].key, key) == 0)
            return &s->rates[i];
    if (!add)
        return NULL;
    struct rate *rate = &s->rates[s->rate_count < RATES ? s->rate_count++ : RATES - 1];
    snprintf(rate->key, sizeof rate->key, "%s", key);
    return rate;
}

static double work_of(const struct suite *s, const struct suite_cell *cell) {
    return (double)s->elements * (cell->work > 0 ? cell->work : 1);
}

/* Seconds; 0: not known. *stopped: it is more than that. */
static double predict(struct suite *s, const struct suite_cell *cell, bool *stopped) {
    const struct rate *rate = find_rate(s, cell, false);
    *stopped = rate && rate->stopped;
    return rate ? rate->seconds * work_of(s, cell) : 0;
}

static bool takes_too_long(struct suite *s, const struct suite_cell *cell) {
    bool stopped;
    const double seconds = predict(s, cell, &stopped);
    return stopped ? seconds >= s->cell_seconds : seconds > s->cell_seconds;
}

static void learn(struct suite *s, const struct suite_cell *cell, double seconds, bool stopped) {
    struct rate *rate = find_rate(s, cell, true);
    rate->seconds = seconds / work_of(s, cell);
    rate->stopped = stopped;
}

/* ---- Plans ---- */

static void player_close(struct player *p) {
    distmap_plan_destroy(&p->plan);
    if (p->owns_context)
        distmap_context_destroy(&p->context);
    for (int i = 0; i < p->count; i++)
        json_object_put(p->runs[i].phases);
    *p = (struct player){0};
}

static distmap_arrays arrays_of(const struct suite *s, const distmap_problem *p, void *to) {
    distmap_arrays arrays = {.input = distmap_view_make(s->mask, DISTMAP_UINT8, p->ndim, p->shape)};
    if (p->want.distance)
        arrays.distance = distmap_view_make(to, p->want.distance, p->ndim, p->shape);
    if (p->want.squared)
        arrays.squared = distmap_view_make(to, p->want.squared, p->ndim, p->shape);
    if (p->want.index)
        arrays.index = distmap_view_make(to, p->want.index, p->ndim, p->shape);
    if (p->want.strength)
        arrays.strength = distmap_view_make(to, p->want.strength, p->ndim, p->shape);
    return arrays;
}

enum { MOST_PARAMS = 8 };

/* `text` is cut up, and the names stay in it. */
static int read_params(char *text, const distmap_method_info *info, distmap_param params[MOST_PARAMS], int *count) {
    *count = 0;
    for (char *at = strtok(text, ","); at; at = strtok(NULL, ",")) {
        const int status = value_param("suite", at, info, &params[(*count)++]);
        if (status)
            return status;
    }
    return 0;
}

/* By its name: a build without CUDA has no such method. */
static bool is_of_gpu(const char *method) { return strcmp(strchr(method, '/'), "/cuda") == 0; }

/* The method, or with `method` NULL the production one, on the cell's device, to `to`. */
static distmap_status player_open(struct suite *s, const struct suite_cell *cell, const char *method,
                                  const distmap_problem *problem, void *to, struct player *p) {
    *p = (struct player){.arrays = arrays_of(s, problem, to), .time = {.seconds = HUGE_VAL, .wall = HUGE_VAL}};
    p->context = is_of_gpu(method ? method : cell->method) ? s->cuda : s->cpu;
    if (cell->threads) {
        const distmap_context_options how = {.threads = cell->threads, .progress = cell_watch, .progress_user = s};
        const distmap_status status = distmap_context_create(&how, &p->context);
        if (status)
            return status;
        p->owns_context = true;
    }
    char text[128];
    distmap_param params[MOST_PARAMS];
    distmap_plan_options how = {.method = method, .params = params, .host_views = true, .timed = true};
    int count = 0;
    snprintf(text, sizeof text, "%s", method && cell->params ? cell->params : "");
    if (read_params(text, distmap_method_find(method), params, &count))
        return DISTMAP_ERROR_ARGUMENT;
    how.param_count = (size_t)count;
    return distmap_plan_create(p->context, problem, &how, &p->plan);
}

/* The production method: of distances always the Euclidean ones. */
static distmap_status production_open(struct suite *s, const struct suite_cell *cell, struct player *p) {
    distmap_problem problem = s->problem;
    problem.esf = cell->esf;
    if (cell->index)
        problem.want = suite_problem(s, cell).want;
    return player_open(s, cell, NULL, &problem, s->reference, p);
}

static int by_seconds(const void *a, const void *b) {
    const struct played *p = a, *q = b;
    return (p->seconds > q->seconds) - (p->seconds < q->seconds);
}

static int by_wall(const void *a, const void *b) {
    const struct played *p = a, *q = b;
    return (p->wall > q->wall) - (p->wall < q->wall);
}

/* Medians and ends of the runs so far. */
static void sum_up(struct player *p) {
    struct played sorted[MOST_RUNS];
    const size_t n = (size_t)p->count, middle = (n - 1) / 2;
    if (n == 0)
        return;
    memcpy(sorted, p->runs, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_wall);
    p->time.wall = sorted[middle].wall;
    qsort(sorted, n, sizeof *sorted, by_seconds);
    p->time.seconds = sorted[middle].seconds;
    p->time.phases = sorted[middle].phases;
    p->time.least = sorted[0].seconds;
    p->time.most = sorted[n - 1].seconds;
    p->time.runs = p->count;
}

static distmap_status play(struct suite *s, struct player *p) {
    s->deadline = seconds_now() + s->cell_seconds;
    const double began = seconds_now();
    const distmap_status status = distmap_plan_execute(p->plan, &p->arrays);
    const double wall = seconds_now() - began;
    s->deadline = 0;
    if (status)
        return status;
    double seconds = 0;
    json_object *phases = json_object_new_object();
    distmap_phase phase;
    for (size_t i = 0; i < distmap_plan_phase_count(p->plan); i++) {
        distmap_plan_phase_get(p->plan, i, &phase);
        seconds += phase.kind == DISTMAP_PHASE_COMPUTE ? phase.seconds : 0;
        json_object_object_add(phases, phase.name, json_object_new_double(phase.seconds));
    }
    const bool warms_up = !p->warm && wall < s->once_seconds;
    p->warm = true;
    p->time.warmed_up |= warms_up;
    if (warms_up) {
        json_object_put(phases);
        return DISTMAP_OK;
    }
    p->runs[p->count++] = (struct played){seconds, wall, phases};
    sum_up(p);
    return DISTMAP_OK;
}

/* ---- The cell ---- */

/* Why it does not run, as far as that is known before. */
static void look_ahead(struct suite *s, const struct suite_cell *cell, struct outcome *o) {
    bool stopped;
    const double seconds = predict(s, cell, &stopped);
    o->state = "skipped";
    if (is_of_gpu(cell->method) && !s->gpu) {
        o->state = "unsupported";
        snprintf(o->reason, sizeof o->reason, "needs a GPU: --device cuda");
    } else if (*s->why_not) {
        snprintf(o->reason, sizeof o->reason, "%s", s->why_not);
    } else if (takes_too_long(s, cell)) {
        o->slow = true;
        if (stopped)
            snprintf(o->reason, sizeof o->reason, "would take over %g s, as a run before", s->cell_seconds);
        else
            snprintf(o->reason, sizeof o->reason, "would take about %.3g s, more than %g", seconds, s->cell_seconds);
    }
}

/* A status that is no reason to end: the cell has none then, and the text is its reason. */
static bool settle(struct suite *s, const struct suite_cell *cell, distmap_status status, struct outcome *o) {
    if (status == DISTMAP_ERROR_CANCELLED && !signal_caught()) {
        learn(s, cell, s->cell_seconds, true);
        o->slow = true;
        snprintf(o->reason, sizeof o->reason, "stopped after %g s", s->cell_seconds);
        return true;
    }
    if (status != DISTMAP_ERROR_UNSUPPORTED && status != DISTMAP_ERROR_MEMORY)
        return false;
    o->state = status == DISTMAP_ERROR_MEMORY ? "skipped" : "unsupported";
    snprintf(o->reason, sizeof o->reason, "%s", distmap_error_text());
    return true;
}

static distmap_status refer_to(struct suite *s, const struct suite_cell *cell, const distmap_problem *problem) {
    struct player p;
    distmap_status status = player_open(s, cell, cell->method, problem, s->reference, &p);
    if (status == DISTMAP_OK)
        status = play(s, &p);
    player_close(&p);
    return status;
}

/* Puts into the reference what the result of another metric must be: brute force's, or, as that is a mere check, where it
 * takes more than a second, another method's. Says whose. */
static distmap_status refer(struct suite *s, const struct suite_cell *cell, const distmap_problem *problem,
                            const char **whose) {
    const struct suite_cell brute = {.method = s->gpu ? "brute/cuda" : "brute/cpu",
                                     .work = fmax(1, s->density * (double)s->elements)};
    const bool is_raster = strcmp(cell->method, "raster/cpu") == 0;
    const struct suite_cell other = {.method = is_raster ? "chamfer/cpu" : "raster/cpu"};
    bool stopped;
    *whose = predict(s, &brute, &stopped) <= 1 ? brute.method : other.method;
    return refer_to(s, *whose == brute.method ? &brute : &other, problem);
}

/* Whether there is to be another run. */
static bool goes_on(const struct suite *s, const struct player *p, double began) {
    if (p->count == 0)
        return true;
    if (!p->time.warmed_up) /* a long one */
        return false;
    return p->count < LEAST_RUNS || (!s->quick && p->count < MOST_RUNS && seconds_now() - began < s->runs_seconds);
}

/* The production method on its own, or for what the cell's runs left to do. */
static distmap_status time_production(struct suite *s, const struct suite_cell *cell, struct outcome *o) {
    distmap_description description;
    distmap_status status = DISTMAP_OK;
    if (!o->best.plan)
        status = production_open(s, cell, &o->best);
    if (status != DISTMAP_OK)
        return status;
    distmap_plan_describe(o->best.plan, &description);
    o->production = description.method;
    const double began = seconds_now();
    while (status == DISTMAP_OK && goes_on(s, &o->best, began))
        status = play(s, &o->best);
    return status;
}

/* Compares the result with the expected one. */
static distmap_status check(struct suite *s, const struct suite_cell *cell, const distmap_problem *problem,
                            struct outcome *o) {
    bool right;
    if (problem->field == DISTMAP_FIELD_EDGE_STRENGTH) {
        const distmap_status status = distmap_plan_convergence(o->method.plan, &o->convergence);
        if (status != DISTMAP_OK)
            return status;
        right = cell_strengths_right(s, cell, o);
    } else {
        o->checked_against = o->production;
        const distmap_status status =
            cell->metric == DISTMAP_METRIC_EUCLIDEAN ? DISTMAP_OK : refer(s, cell, problem, &o->checked_against);
        if (status != DISTMAP_OK)
            return status;
        right = cell_agrees(s, s->result);
    }
    o->state = right ? "timed" : "wrong";
    return DISTMAP_OK;
}

static distmap_status time_cell(struct suite *s, const struct suite_cell *cell, struct outcome *o) {
    const distmap_problem problem = suite_problem(s, cell);
    distmap_status status = player_open(s, cell, cell->method, &problem, s->result, &o->method);
    if (status == DISTMAP_OK)
        status = production_open(s, cell, &o->best);
    if (status != DISTMAP_OK)
        return status;
    cell_poison(s, s->result);
    cell_poison(s, s->reference);
    const double began = seconds_now();
    while (goes_on(s, &o->method, began))
        if ((status = play(s, &o->method)) || (status = play(s, &o->best)))
            return status;
    if ((status = time_production(s, cell, o)))
        return status;
    learn(s, cell, o->method.time.wall, false);
    return check(s, cell, &problem, o);
}

int suite_cell(struct suite *s, const struct suite_cell *cell) {
    struct outcome o = {0};
    if (!suite_wants(s, cell))
        return signal_caught() ? fail("interrupted") : 0;
    suite_draw(s);
    look_ahead(s, cell, &o);
    distmap_status status = *o.reason ? DISTMAP_OK : time_cell(s, cell, &o);
    if (settle(s, cell, status, &o))
        status = DISTMAP_OK;
    if (status == DISTMAP_OK && o.slow) {
        status = time_production(s, cell, &o);
        if (o.best.time.runs == 0)
            o.production = NULL;
        if (status == DISTMAP_ERROR_CANCELLED && !signal_caught())
            status = DISTMAP_OK; /* it takes long as well */
    }
    if (status == DISTMAP_OK)
        cell_give(s, cell, &o);
    player_close(&o.method);
    player_close(&o.best);
    if (signal_caught())
        return fail("interrupted");
    return status == DISTMAP_OK ? 0 : fail_library();
}

int suite_try(struct suite *s, const struct suite_cell *cell, double *seconds) {
    struct outcome o = {0};
    *seconds = HUGE_VAL;
    suite_draw(s);
    look_ahead(s, cell, &o);
    if (*o.reason)
        return 0;
    const distmap_problem problem = suite_problem(s, cell);
    distmap_status status = player_open(s, cell, cell->method, &problem, s->result, &o.method);
    const double began = seconds_now();
    while (status == DISTMAP_OK && goes_on(s, &o.method, began))
        status = play(s, &o.method);
    *seconds = o.method.time.seconds;
    player_close(&o.method);
    return status == DISTMAP_OK || settle(s, cell, status, &o) ? 0 : fail_library();
}
