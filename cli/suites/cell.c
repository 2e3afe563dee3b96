/* One cell: a method on an image, in turns with the production method, checked.
 *
 * Both go from host memory to host memory; phases (distmap_plan_phase_get) tell the time of the method alone from that of
 * transfers. The first run warms up, as every further one it may be the fastest. Results of other metrics are compared
 * with brute force's, on the GPU if there is one; the others as cell_check.c says.
 */
#include "cell.h"
#include "../json.h"

#include <math.h>
#include <stdio.h>
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
    snprintf(key, sizeof key, "%s %s %d %d", cell->method, cell->params ? cell->params : "", cell->threads,
             cell->metric);
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
    json_object_put(p->time.phases);
    *p = (struct player){0};
}

static distmap_arrays arrays_of(const struct suite *s, void *to) {
    const distmap_problem *p = &s->problem;
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
    *p = (struct player){.arrays = arrays_of(s, to), .time = {HUGE_VAL, HUGE_VAL, 0, NULL}};
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
    return player_open(s, cell, NULL, &problem, s->reference, p);
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
    struct suite_time *t = &p->time;
    if (seconds < t->seconds) {
        json_object *before = t->phases;
        t->phases = phases;
        phases = before;
        t->seconds = seconds;
    }
    json_object_put(phases);
    t->wall = fmin(t->wall, wall);
    t->runs++;
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

/* Puts into the reference what the result of another metric must be; NULL when that takes too long, as a mere check. */
static const char *refer(struct suite *s, const distmap_problem *problem) {
    const struct suite_cell brute = {.method = s->gpu ? "brute/cuda" : "brute/cpu",
                                     .work = fmax(1, s->density * (double)s->elements)};
    struct player p;
    distmap_status status = DISTMAP_ERROR_CANCELLED;
    bool stopped;
    if (predict(s, &brute, &stopped) <= s->cell_seconds / 10) {
        status = player_open(s, &brute, brute.method, problem, s->reference, &p);
        if (status == DISTMAP_OK)
            status = play(s, &p);
        player_close(&p);
    }
    return status == DISTMAP_OK ? brute.method : NULL;
}

/* Whether there is to be another run. The first one of a CPU's method has to wait for the pages of its scratch; what takes
 * seconds is not much disturbed by that. On a GPU there is nothing to warm up but the caches of small images. */
static bool goes_on(const struct suite *s, const struct player *p, double began) {
    const struct suite_time *t = &p->time;
    const double alone = p->context == s->cuda ? 5 * s->runs_seconds : s->once_seconds;
    if (t->runs == 0 || (t->runs < LEAST_RUNS && t->wall < alone))
        return true;
    return !s->quick && t->runs < MOST_RUNS && seconds_now() - began < s->runs_seconds;
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
        o->checked_against = cell->metric == DISTMAP_METRIC_EUCLIDEAN ? o->production : refer(s, problem);
        right = !o->checked_against || cell_agrees(s, s->result);
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
