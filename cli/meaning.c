/* What a run measured, said: along which axes, in which pitch, from what, and which sign means what. A number that looks right tells
 * nobody what it is the distance of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"

const char *sites_text(const distmap_sites *sites, char text[96]) {
    char lo[40], hi[40];
    switch (sites->rule) {
    case DISTMAP_SITES_ZERO: return strcpy(text, "zero");
    case DISTMAP_SITES_NONZERO: return strcpy(text, "not zero");
    case DISTMAP_SITES_NONE: return strcpy(text, "none");
    case DISTMAP_SITES_VALUE: snprintf(text, 96, "%s", number_text(sites->lo, lo)); return text;
    default:
        snprintf(text, 96, "%s..%s", sites->lo > -HUGE_VAL ? number_text(sites->lo, lo) : "",
                 sites->hi < HUGE_VAL ? number_text(sites->hi, hi) : "");
        return text;
    }
}

/* The rule as it was given. */
static const char *rule_text(const struct job *job, const struct options *options, char text[96]) {
    char number[40];
    if (!options->threshold_given)
        return sites_text(&job->problem.sites, text);
    snprintf(text, 96, "%s %s", job->problem.sites.hi < HUGE_VAL ? "below" : "at least",
             number_text(options->threshold, number));
    return text;
}

static const char *noun_of(const struct options *options) {
    const unsigned bit = options->command->bit;
    return bit & (SKELETON | THICKNESS) ? "background" : bit & MORPH ? "the set" : bit & ESF ? "the shape" : "sites";
}

static bool is_of_labels(const struct job *job) { return job->problem.input == DISTMAP_INPUT_LABELS; }

static const char *positive_of(const struct job *job, const struct options *options) {
    const bool on_sites = job->problem.sign == DISTMAP_SIGN_INSIDE;
    return !job->problem.sign                       ? NULL
           : on_sites == objects_are_sites(options) ? "inside the objects, negative outside"
                                                    : "outside the objects, negative inside";
}

static const char *const part_names[] = {"ignored", "sites", "objects"};

/* {"value": 255, "are": "ignored", "count": 12}; what there is where there is no distance. */
static void json_add_nodata(json_object *object, const struct job *job, const struct options *options) {
    json_object *nodata = NULL;
    if (nodata_applies(&job->source, options)) {
        nodata = json_object_new_object();
        json_object_object_add(nodata, "value", json_number(job->source.info->nodata));
        json_object_object_add(nodata, "are", json_object_new_string(part_names[options->nodata]));
        json_object_object_add(nodata, "count", json_object_new_int64(job->source.nodata_count));
    }
    json_object_object_add(object, "nodata", nodata);
    json_object_object_add(object, "fill", job->fill.known ? json_number(job->fill.value) : NULL);
}

void json_add_meaning(json_object *object, const struct job *job, const struct options *options) {
    char text[96];
    json_object *model = json_object_new_object(), *sites = json_object_new_object();
    json_add_model(model, job->source.info);
    json_object_object_add(object, "image", model);
    json_object_object_add(object, "spacing_from", json_object_new_string(pitch_origin(&job->source) + strlen("by ")));
    json_object_object_add(sites, "rule",
                           json_object_new_string(is_of_labels(job) ? "labels" : rule_text(job, options, text)));
    json_object_object_add(sites, "count", job->sites >= 0 ? json_object_new_int64(job->sites) : NULL);
    json_object_object_add(object, "sites", sites);
    const distmap_sample sample = job->source.info->sample;
    json_object_object_add(object, "sample", sample ? json_object_new_string(distmap_sample_name(sample)) : NULL);
    json_add_nodata(object, job, options);
    const char *positive = positive_of(job, options);
    if (positive)
        json_object_object_add(object, "positive", json_object_new_string(positive));
}

static void append(char *text, size_t size, const char *separator, const char *word) {
    snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? separator : "", word);
}

/* "along z=189 y=233 x=197, one for each t=5; pitch 1 mm, by the file; sites: zero, 12 of 300" */
void report_meaning(const struct job *job, const struct options *options) {
    const distmap_image_info *info = job->source.info;
    const distmap_problem *problem = &job->problem;
    char along[200] = "", each[200] = "", pitch[320], rule[96], count[64] = "", gaps[128] = "";
    const bool in_steps = problem->metric != DISTMAP_METRIC_EUCLIDEAN || options->command->bit == ESF;
    for (int a = 0; a < problem->ndim; a++) {
        char axis[48];
        snprintf(axis, sizeof axis, "%s=%lld", info->axis[a].name, (long long)info->shape[a]);
        append(problem->axes && !(problem->axes >> a & 1) ? each : along, sizeof along, " ", axis);
    }
    if (job->sites >= 0)
        snprintf(count, sizeof count, ", %lld of %lld", (long long)job->sites,
                 (long long)element_count(problem->ndim, problem->shape));
    if (job->source.nodata_count)
        snprintf(gaps, sizeof gaps, "; no data: %s, %lld %s", number_text(job->source.info->nodata, rule),
                 (long long)job->source.nodata_count, part_names[options->nodata]);
    const char *positive = positive_of(job, options);
    const distmap_sample sample = info->sample;
    say(options, "%s%salong %s%s%s; %s%s%s%s; %s: %s%s%s%s%s", sample ? distmap_sample_name(sample) : "",
        sample ? ", " : "", along, *each ? ", one for each " : "", each, in_steps ? "in steps" : "pitch ",
        in_steps ? "" : pitch_text(info, pitch), in_steps ? "" : ", ", in_steps ? "" : pitch_origin(&job->source),
        noun_of(options), is_of_labels(job) ? "other labels" : rule_text(job, options, rule),
        is_of_labels(job) ? "" : count, gaps, positive ? "; positive " : "", positive ? positive : "");
}
