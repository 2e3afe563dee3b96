/* The table of suites, their images, and the report. */
#include "suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cell.h"
#include "../json.h"

static const struct suite_info *const suites[] = {&suite_man_edm, &suite_pba, &suite_psds, &suite_erosion, &suite_esf, &suite_cluster};
enum { SUITES = sizeof suites / sizeof *suites };

/* By ranks: distributed/cluster.c, to which the command has handed over where that is built. */
const struct suite_info suite_cluster = {.name = "cluster", .summary = "Shyu, Chou and Chia 2006: the two-pass scan on a cluster"};

/* Images and results, all in all, may take this share of the machine's memory: others want to live too. */
static const double memory_share = 0.25;

int suite_find(const char *option, const char *name, int *row) {
    char names[256] = "";
    for (*row = 0; *row < SUITES; ++*row) {
        if (strcmp(suites[*row]->name, name) == 0)
            return 0;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *row ? ", " : "", suites[*row]->name);
    }
    return usage("%s: there is no suite '%s'; there are %s", option, name, names);
}

const char *suite_side(char text[32], int ndim, int64_t side) {
    snprintf(text, 32, "%lld^%d", (long long)side, ndim);
    return text;
}

const char *suite_percent(char text[32], double density) {
    snprintf(text, 32, "%g%%", density * 100);
    return text;
}

/* ---- Images ---- */

/* Quick: small enough for seconds, large enough for a method's bands and tiles to be there. */
static int64_t side_now(const struct suite *s, int ndim, int64_t side) {
    const int64_t small = side / 32, least = ndim == 2 ? 64 : 24, most = ndim == 2 ? 128 : 32;
    return !s->quick ? side : small < least ? least : small > most ? most : small;
}

static void give_up_memory(struct suite *s) {
    free(s->mask);
    free(s->result);
    free(s->reference);
    free(s->first);
    s->mask = NULL;
    s->result = s->reference = s->first = NULL;
}

static int take_memory(struct suite *s) {
    const bool keeps_first = s->info->want.strength;
    const double bytes_each = 1 + (keeps_first ? 3 : 2) * 4;
    give_up_memory(s);
    if (bytes_each * (double)s->elements > memory_share * s->memory_bytes) {
        snprintf(s->why_not, sizeof s->why_not, "image and results take %.3g GB, over %g%% of the machine's memory",
                 bytes_each * 1e-9 * (double)s->elements, 100 * memory_share);
        return 0;
    }
    s->mask = malloc((size_t)s->elements);
    s->result = malloc((size_t)s->elements * 4);
    s->reference = malloc((size_t)s->elements * 4);
    s->first = keeps_first ? malloc((size_t)s->elements * 4) : NULL;
    return s->mask && s->result && s->reference && (s->first || !keeps_first)
               ? 0
               : fail("not enough memory for %s", s->column);
}

/* Lays out what the image needs. */
static int set_up(struct suite *s, const char *column, const char *pattern, int ndim, int64_t side) {
    const int64_t now = side_now(s, ndim, side), before = s->elements;
    snprintf(s->column, sizeof s->column, "%s", column);
    s->pattern = pattern;
    *s->first_by = '\0';
    s->problem =
        (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = ndim, .shape = {now, now, now}, .want = s->info->want};
    if (s->info->want.strength)
        s->problem.field = DISTMAP_FIELD_EDGE_STRENGTH;
    s->elements = element_count(ndim, s->problem.shape);
    if (s->elements == before)
        return 0;
    *s->why_not = '\0';
    return take_memory(s);
}

static int fill(struct suite *s, double density) {
    s->density = density;
    s->blank = !*s->why_not;
    return signal_caught() ? fail("interrupted") : 0;
}

void suite_draw(struct suite *s) {
    if (s->blank)
        pattern_fill(s->pattern, s->density < 0 ? 0 : s->density, s->seed, s->problem.ndim, s->problem.shape, s->mask);
    s->blank = false;
}

bool suite_wants(const struct suite *s, const struct suite_cell *cell) {
    char name[192];
    snprintf(name, sizeof name, "%s, %s, %s", cell->table, s->column, cell->row);
    const char *only = s->options->only, *without = s->options->without;
    return (!only || strstr(name, only)) && !(without && strstr(name, without));
}

int suite_image(struct suite *s, const char *column, const char *pattern, double density, int ndim, int64_t side) {
    const int status = set_up(s, column, pattern, ndim, side);
    return status ? status : fill(s, density);
}

int suite_points(struct suite *s, const char *column, int points, int ndim, int64_t side) {
    const int status = set_up(s, column, "points", ndim, side);
    return status ? status : fill(s, points / (double)s->elements);
}

distmap_problem suite_problem(const struct suite *s, const struct suite_cell *cell) {
    distmap_problem problem = s->problem;
    problem.metric = cell->metric;
    problem.esf = cell->esf;
    memcpy(problem.chamfer, cell->chamfer, sizeof problem.chamfer);
    if (cell->index)
        problem.want = (distmap_outputs){.index = DISTMAP_INT32};
    return problem;
}

/* ---- The report ---- */

static json_object *device_json(const struct suite *s) {
    distmap_device_info info;
    if (!s->gpu || distmap_device_describe(DISTMAP_DEVICE_CUDA, s->options->ordinals[0], &info))
        return NULL;
    json_object *box = json_object_new_object();
    char text[32];
    json_object_object_add(box, "name", json_object_new_string(info.name));
    json_object_object_add(box, "memory_bytes", json_object_new_int64((int64_t)info.memory_bytes));
    json_object_object_add(box, "multiprocessors", json_object_new_int(info.multiprocessors));
    snprintf(text, sizeof text, "%d.%d", info.driver[0], info.driver[1]);
    json_object_object_add(box, "driver", json_object_new_string(text));
    snprintf(text, sizeof text, "%d.%d", info.runtime[0], info.runtime[1]);
    json_object_object_add(box, "runtime", json_object_new_string(text));
    return box;
}

static json_object *report(const struct suite *s, double seconds) {
    json_object *object = json_object_new_object(), *rules = json_object_new_object();
    json_object_object_add(object, "suite", json_object_new_string(s->info->name));
    json_object_object_add(object, "quick", json_object_new_boolean(s->quick));
    json_object_object_add(object, "whole", json_object_new_boolean(!signal_caught()));
    char date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    json_object_object_add(object, "date", json_object_new_string(date));
    json_add_machine(object);
    json_object_object_add(object, "gpu", device_json(s));
    json_object_object_add(object, "isa", json_object_new_string(distmap_context_isa(s->cpu)));
    json_object_object_add(object, "threads", json_object_new_int(distmap_context_threads(s->cpu)));
    json_object_object_add(object, "seed", json_object_new_int64((int64_t)s->seed));
    json_object_object_add(object, "took_seconds", json_object_new_double(seconds));
    json_object_object_add(rules, "cell_seconds", json_object_new_double(s->cell_seconds));
    json_object_object_add(rules, "once_seconds", json_object_new_double(s->once_seconds));
    json_object_object_add(rules, "memory_share", json_object_new_double(memory_share));
    json_object_object_add(object, "limits", rules);
    json_object_object_add(object, "timed", json_object_new_int(s->timed));
    json_object_object_add(object, "not_timed", json_object_new_int(s->not_timed));
    json_object_object_add(object, "wrong", json_object_new_int(s->wrong));
    json_object_object_add(object, "cells", json_object_get(s->cells));
    return object;
}

static int give(struct suite *s, double seconds) {
    const struct options *options = s->options;
    if (!options->json && !options->output)
        return 0;
    json_object *object = report(s, seconds);
    int status = 0;
    if (options->output) {
        json_put(object, s->text.file);
        status = text_file_finish(&s->text, options->no_sync);
    }
    if (options->json)
        json_print(object);
    else
        json_object_put(object);
    return status;
}

/* ---- The run ---- */

static int open_contexts(struct suite *s) {
    const struct options *o = s->options;
    s->gpu = o->device == DISTMAP_DEVICE_CUDA;
    s->cell_seconds = 10;
    s->once_seconds = 10;
    if (s->info->patience > 0)
        s->cell_seconds *= s->info->patience;
    s->runs_seconds = s->gpu ? 0.03 : 0.2;
    distmap_context_options how = {.threads = o->threads, .progress = cell_watch, .progress_user = s};
    if (distmap_context_create(&how, &s->cpu))
        return fail_library();
    how.device = DISTMAP_DEVICE_CUDA;
    how.ordinal = o->ordinals[0];
    return s->gpu && distmap_context_create(&how, &s->cuda) ? fail_library() : 0;
}

int suite_run(const struct options *options) {
    int row = 0;
    int status = suite_find("--suite", options->suite, &row);
    if (status)
        return status;
    struct machine machine;
    machine_look(&machine);
    struct suite s = {.options = options,
                      .info = suites[row],
                      .quick = options->quick,
                      .seed = pattern_seed(options),
                      .memory_bytes = machine.memory_bytes,
                      .cells = json_object_new_array()};
    signals_catch();
    status = options->output ? text_file_open(&s.text, options->output) : 0;
    const bool opened = status == 0;
    if (status == 0)
        status = open_contexts(&s);
    if (status == 0)
        say(options, "%s%s, seed %" PRIu64 ", %d threads, %s", s.info->name, s.quick ? ", quick" : "", s.seed,
            distmap_context_threads(s.cpu), distmap_context_isa(s.gpu ? s.cuda : s.cpu));
    const double began = seconds_now();
    if (status == 0)
        status = s.info->run(&s);
    if (opened && (status == 0 || signal_caught())) { /* a run that is cut off leaves what it has */
        const int given = give(&s, seconds_now() - began);
        status = status ? status : given;
    }
    if (status == 0)
        say(options, "%d cells timed, %d not, in %.0f s", s.timed, s.not_timed, seconds_now() - began);
    if (status == 0 && s.wrong)
        status = fail("%d cells are wrong", s.wrong);
    give_up_memory(&s);
    text_file_drop(&s.text);
    json_object_put(s.cells);
    distmap_context_destroy(&s.cuda);
    distmap_context_destroy(&s.cpu);
    return status;
}
