/* The search for a method's fastest parameters on one shape: coordinate descent from the defaults.
 *
 * One parameter at a time, the others held. Choices are all looked at. Of a number the powers of two within its range make
 * a ladder; the search goes up and down it from the present value until two rungs in a row are slower by half. The lowest
 * and the default value stand beside the ladder where they are no powers of two (0 often means "by the size"), and from
 * them the search starts in the ladder's middle. A look is a few runs, given up where they take over four times as long. The
 * three best looks then race against the present values: runs in turns, so that whatever else the machine does hits all
 * alike, of which each one's fastest counts. The winner must be 2% faster. When every parameter has been gone through
 * since the last gain, what was found races against the defaults once more.
 *
 * Time is the method's own, without transfers, as timed plans tell it; its geometric mean over all masks, so that each counts
 * alike, however long it takes.
 */
#include <math.h>
#include <string.h>

#include "cli.h"

enum { BEST_LOOKS = 3, LOOK_RUNS = 2, MOST_SWEEPS = 4, MOST_RUNGS = 63 };
static const double GAIN = 0.98, NEAR = 1.1, SLOW = 1.5, GIVEN_UP = 4, SLACK = 0.02 /* seconds */;

/* ---- Timing ---- */

struct trial {
    int64_t values[MAX_LIST];
    distmap_plan *plan;
    double fastest[MAX_LIST]; /* seconds of the method itself, by run; infinite: not run, or given up */
    double whole[MAX_LIST];   /* the same with the transfers, which a GPU needs from and to the host's memory */
    double seconds;           /* the geometric mean of `fastest` */
};

int search_watch(void *user, double fraction) {
    (void)fraction;
    const struct search *search = user;
    return progress_step(NULL, search->share) || seconds_now() > search->deadline;
}

/* Whether the method is for --param to set, not for us. */
static bool is_held(const struct search *s, const distmap_param_info *info) {
    for (int i = 0; i < s->options->param_count; i++)
        if (strcmp(s->options->params[i].name, info->name) == 0)
            return true;
    return false;
}

static void forget_times(const struct search *s, struct trial *trial) {
    for (int r = 0; r < s->runs; r++)
        trial->fastest[r] = trial->whole[r] = HUGE_VAL;
    trial->seconds = HUGE_VAL;
}

/* A plan with the trial's values, nothing timed yet. */
static distmap_status open_trial(const struct search *s, struct trial *trial) {
    distmap_param params[MAX_LIST];
    for (size_t p = 0; p < s->method->param_count; p++)
        params[p] = (distmap_param){s->method->params[p].name, trial->values[p]};
    forget_times(s, trial);
    const distmap_plan_options how = {.method = s->method->name,
                                      .params = params,
                                      .param_count = s->method->param_count,
                                      .host_views = true,
                                      .timed = true};
    return distmap_plan_create(s->context, s->problem, &how, &trial->plan);
}

static double computing_seconds(const distmap_plan *plan) {
    double seconds = 0;
    distmap_phase phase;
    for (size_t i = 0; i < distmap_plan_phase_count(plan); i++)
        if (distmap_plan_phase_get(plan, i, &phase) == DISTMAP_OK && phase.kind == DISTMAP_PHASE_COMPUTE)
            seconds += phase.seconds;
    return fmax(seconds, 1e-9);
}

/* One run, at most until `limit` seconds have passed, which then counts as for ever. */
static int run_once(struct search *s, struct trial *trial, int run, double limit) {
    const double began = seconds_now();
    s->deadline = began + limit;
    const distmap_status status = distmap_plan_execute(trial->plan, &s->arrays[run]);
    if (signal_caught())
        return fail("interrupted");
    if (status != DISTMAP_OK && status != DISTMAP_ERROR_CANCELLED)
        return fail_library();
    if (status == DISTMAP_OK) {
        trial->fastest[run] = fmin(trial->fastest[run], computing_seconds(trial->plan));
        trial->whole[run] = fmin(trial->whole[run], seconds_now() - began);
    }
    return 0;
}

static void average(const struct search *s, struct trial *trial) {
    double sum = 0;
    for (int r = 0; r < s->runs; r++)
        sum += log(trial->fastest[r]);
    trial->seconds = exp(sum / s->runs);
}

/* A short look at values: a run to warm up, then LOOK_RUNS of each. Values that the library refuses, for their memory say,
 * take for ever. */
static int look(struct search *s, const struct trial *best, struct trial *trial) {
    if (open_trial(s, trial))
        return 0;
    int status = run_once(s, trial, 0, GIVEN_UP * best->whole[0] + SLACK);
    bool going = isfinite(trial->fastest[0]);
    for (int i = 0; i < LOOK_RUNS; i++)
        for (int r = 0; status == 0 && going && r < s->runs; r++) {
            status = run_once(s, trial, r, GIVEN_UP * best->whole[r] + SLACK);
            going = trial->fastest[r] <= GIVEN_UP * best->fastest[r] + SLACK;
        }
    average(s, trial);
    distmap_plan_destroy(&trial->plan);
    return status;
}

/* A run of each mask by all in turns. */
static int race_round(struct search *s, struct trial *trials, int count) {
    int status = 0;
    for (int r = 0; r < s->runs; r++)
        for (int t = 0; status == 0 && t < count; t++)
            status = run_once(s, &trials[t], r, HUGE_VAL);
    return status;
}

/* Rounds, the first of which warms up, of at least `repeats` and until `patience` has passed. Each trial has a plan at the
 * same time, for which there must be memory. */
static int race(struct search *s, struct trial *trials, int count, int repeats, double patience) {
    int status = 0;
    for (int t = 0; status == 0 && t < count; t++)
        if (open_trial(s, &trials[t]))
            status = fail_library();
    if (status == 0)
        status = race_round(s, trials, count);
    for (int t = 0; t < count; t++)
        forget_times(s, &trials[t]);
    const double began = seconds_now();
    for (int i = 0; status == 0 && (i < repeats || seconds_now() - began < patience); i++)
        status = race_round(s, trials, count);
    for (int t = 0; t < count; t++) {
        average(s, &trials[t]);
        distmap_plan_destroy(&trials[t].plan);
    }
    return status;
}

/* ---- One parameter ---- */

/* The powers of two are `rungs`; what is beside them comes in `beside`. */
struct ladder {
    int64_t rungs[MOST_RUNGS], beside[2];
    int count, beside_count;
};

static bool is_power(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

static struct ladder make_ladder(const distmap_param_info *info) {
    struct ladder ladder = {0};
    for (int bit = 0; bit < 63; bit++)
        if ((int64_t)1 << bit >= info->lowest && (int64_t)1 << bit <= info->highest)
            ladder.rungs[ladder.count++] = (int64_t)1 << bit;
    if (!is_power(info->lowest))
        ladder.beside[ladder.beside_count++] = info->lowest;
    if (!is_power(info->fallback) && info->fallback != info->lowest)
        ladder.beside[ladder.beside_count++] = info->fallback;
    return ladder;
}

/* The best looks, best first. */
struct field {
    struct trial trials[1 + BEST_LOOKS]; /* [0]: the present values */
    int count, param;
    double step; /* a look's share of a sweep */
};

static int look_at(struct search *s, struct field *field, int64_t value, double *ratio) {
    const struct trial *best = &field->trials[0];
    struct trial trial = *best;
    trial.values[field->param] = value;
    *ratio = 1;
    if (value == best->values[field->param])
        return 0;
    const int status = look(s, best, &trial);
    s->share = fmin(1, s->share + field->step);
    *ratio = trial.seconds / best->seconds;
    if (status || *ratio > NEAR)
        return status;
    int at = field->count;
    while (at > 1 && trial.seconds < field->trials[at - 1].seconds)
        at--;
    if (at > BEST_LOOKS)
        return 0;
    field->count += field->count <= BEST_LOOKS;
    memmove(&field->trials[at + 1], &field->trials[at], (size_t)(field->count - 1 - at) * sizeof trial);
    field->trials[at] = trial;
    return 0;
}

static int walk(struct search *s, struct field *field, const struct ladder *ladder, int from, int step) {
    int slow = 0, status = 0;
    for (int i = from; status == 0 && slow < 2 && i >= 0 && i < ladder->count; i += step) {
        double ratio;
        status = look_at(s, field, ladder->rungs[i], &ratio);
        slow = ratio > SLOW ? slow + 1 : 0;
    }
    return status;
}

static int look_around(struct search *s, struct field *field, const distmap_param_info *info) {
    double ratio;
    int status = 0;
    for (int64_t value = info->lowest; info->names && status == 0 && value <= info->highest; value++)
        status = look_at(s, field, value, &ratio);
    if (info->names)
        return status;
    const struct ladder ladder = make_ladder(info);
    const int64_t present = field->trials[0].values[field->param];
    int from = ladder.count / 2;
    for (int i = 0; i < ladder.count; i++)
        from = ladder.rungs[i] == present ? i : from;
    for (int i = 0; status == 0 && i < ladder.beside_count; i++)
        status = look_at(s, field, ladder.beside[i], &ratio);
    if (status == 0)
        status = walk(s, field, &ladder, from, 1);
    return status ? status : walk(s, field, &ladder, from - 1, -1);
}

/* ---- All parameters ---- */

/* How many values there are to look at in a sweep. */
static int looks_of(const struct search *s) {
    int looks = 0;
    for (size_t p = 0; p < s->method->param_count; p++) {
        const distmap_param_info *info = &s->method->params[p];
        const struct ladder ladder = make_ladder(info);
        if (!is_held(s, info))
            looks += info->names ? (int)(info->highest - info->lowest) : ladder.count + ladder.beside_count - 1;
    }
    return looks > 0 ? looks : 1;
}

/* The values that a parameter takes instead of present->values[param], if any is faster; else as it was. */
static int improve(struct search *s, struct trial *present, int param, bool *gained) {
    struct field field = {.trials = {*present}, .count = 1, .param = param, .step = 1.0 / looks_of(s)};
    int status = look_around(s, &field, &s->method->params[param]);
    *gained = false;
    if (status || field.count == 1)
        return status;
    status = race(s, field.trials, field.count, s->repeats, s->patience);
    int winner = 0;
    for (int t = 1; t < field.count; t++)
        if (field.trials[t].seconds < GAIN * field.trials[0].seconds &&
            (winner == 0 || field.trials[t].seconds < field.trials[winner].seconds))
            winner = t;
    *gained = winner > 0;
    *present = field.trials[winner];
    return status;
}

static int descend(struct search *s, struct trial *present) {
    const int count = (int)s->method->param_count;
    int status = 0;
    for (int turn = 0, since = 0; status == 0 && since < count && turn < MOST_SWEEPS * count; turn++) {
        bool gained = false;
        const int param = turn % count;
        if (param == 0)
            s->share = 0;
        if (!is_held(s, &s->method->params[param]))
            status = improve(s, present, param, &gained);
        since = gained ? 1 : since + 1; /* 1: this one has just been gone through */
    }
    return status;
}

/* The values that the search starts from: what --param holds, and defaults. */
static void held_values(const struct search *s, int64_t values[MAX_LIST]) {
    for (int i = 0; i < s->options->param_count; i++)
        values[param_find(s->method, s->options->params[i].name) - s->method->params] = s->options->params[i].value;
}

int search_run(struct search *s) {
    enum { DEFAULTS, START, FOUND };
    struct trial trials[3] = {0};
    for (size_t p = 0; p < s->method->param_count; p++)
        trials[DEFAULTS].values[p] = s->method->params[p].fallback;
    trials[START] = trials[DEFAULTS];
    held_values(s, trials[START].values);
    progress_begin(s->options, "tuning");
    int status = race(s, &trials[START], 1, LOOK_RUNS, 0);
    trials[FOUND] = trials[START];
    if (status == 0)
        status = descend(s, &trials[FOUND]);
    if (status == 0)
        status = race(s, trials, 3, s->repeats, s->patience);
    progress_end();
    const bool faster = trials[FOUND].seconds < GAIN * trials[START].seconds;
    const struct trial *best = &trials[faster ? FOUND : START];
    memcpy(s->values, best->values, sizeof s->values);
    const bool same = memcmp(best->values, trials[DEFAULTS].values, sizeof best->values) == 0;
    s->seconds = best->seconds;
    s->default_seconds = same ? best->seconds : trials[DEFAULTS].seconds;
    return status;
}
