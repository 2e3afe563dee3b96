/* Shared by the subcommands that compute maps: their outputs, and the end of a run. */
#include <math.h>

#include "cli.h"

distmap_image_kind job_kind(const struct options *options) {
    return options->command->bit & VORONOI || (options->command->bit & MORPH && options->labels) ? DISTMAP_KIND_LABELS
           : options->command->bit & (MORPH | SKELETON)                                          ? DISTMAP_KIND_MASK
                                                        : DISTMAP_KIND_INTENSITY;
}

enum result_kind job_result(const struct options *options) {
    return options->command->bit & (EDT | PASS | THICKNESS) ? RESULT_DISTANCES
           : options->command->bit == VORONOI               ? RESULT_LABELS
                                                            : RESULT_MARKS;
}

int job_open_outputs(struct job *job, const struct options *options, distmap_dtype dtype, bool regions) {
    const distmap_image_info *info = job->source.info;
    int status = fill_choose(&job->fill, options, &job->source, dtype, job_result(options));
    if (status == 0)
        status = sink_open(&job->map, options, options->output, info, dtype, job_kind(options), &job->fill);
    if (status == 0 && options->index)
        status = sink_open(&job->index, options, options->index, info, job->problem.want.index, DISTMAP_KIND_LABELS,
                           NULL);
    if (status == 0)
        status = preview_open(&job->preview, options, &job->problem, info, regions);
    return status;
}

int job_state_parts(struct job *job, const struct options *options, distmap_progress *progress, void *user,
                    distmap_dtype *dtype) {
    struct work *work = &job->work;
    int status;
    if ((status = source_open(&job->source, options)) ||
        (status = problem_make(options, job->source.info, &job->problem)))
        return status;
    if (place_open_on(options, options->device, progress, user, &work->place, &work->context))
        return fail_library();
    if ((status = problem_want_distance(options, work->context, &job->problem, dtype)))
        return status;
    if (options->index)
        job->problem.want.index = index_dtype(&job->problem);
    return 0;
}

int job_begin(struct job *job, const struct options *options, distmap_dtype dtype, bool regions) {
    int status;
    if ((status = work_plan(&job->work, options, &job->problem)) ||
        (status = job_open_outputs(job, options, dtype, regions)))
        return status;
    if ((status = source_read(&job->source, options)) || (status = nodata_apply(&job->source, options, &job->problem)))
        return status;
    job_look(job, options);
    return 0;
}

void job_take_largest(struct job *job, double largest) {
    job->nowhere = largest < 0;
    job->largest = largest < 0 ? 0 : largest;
}

void job_look(struct job *job, const struct options *options) {
    if (job->problem.input != DISTMAP_INPUT_MASK || !warnings_heard(options))
        return;
    job->sites = elements_count_sites(&job->source.view, &job->problem.sites);
    struct values_seen seen = values_begin(&job->source, options);
    if (values_matter(options))
        values_look(&job->source.view, &seen);
    warn_of_values(options, job->source.view.dtype, &seen);
}

/* ---- What the run met ---- */

/* For each subcommand, without a site: the name of the missing thing, and the value that the result then has. */
static void warn_of_no_site(const struct job *job, const struct options *options) {
    const unsigned bit = options->command->bit;
    const char *none = bit == ESF                     ? "no shape"
                       : bit & (SKELETON | THICKNESS) ? "no background"
                                                      : "no site",
               *then = bit == ESF         ? "edge strengths are 0 there"
                       : bit == SKELETON  ? "nothing is on the skeleton there"
                       : bit == THICKNESS ? "thickness is infinite there"
                       : bit == VORONOI   ? "they get label 0, index -1"
                                          : "they get infinity or the type's largest value, index -1";
    if (bit == COMPARE)
        warn(options, "no-site", "%s, %s: there is nothing to measure from or to: at least one mask is empty",
             options->input, options->other);
    else if (job->sites == 0)
        warn(options, "no-site", "%s: there is %s at all among its %lld elements; %s", options->input, none,
             (long long)element_count(job->problem.ndim, job->problem.shape), then);
    else if (options->limit > 0) /* as it was asked for: no warning */
        say(options, "distmap: %s: some elements have no site within the limit; %s", options->input, then);
    else if (bit & (ESF | SKELETON | THICKNESS))
        warn(options, "no-site", "%s: there is %s in some slice; %s", options->input, none, then);
    else
        warn(options, "no-site", "%s: some elements have no site; %s", options->input, then);
}

int job_judge(const struct job *job, const struct options *options) {
    if (job->work.flags & DISTMAP_FLAG_NAN)
        warn(options, "nan", "%s: it holds NaN, which is never a site", options->input);
    if (job->work.flags & DISTMAP_FLAG_UNREST)
        warn(options, "unrest", "%s: the residual is still above the tolerance", options->input);
    warn_of_fill(options, &job->fill);
    if (job->work.flags & DISTMAP_FLAG_NO_SITE)
        warn_of_no_site(job, options);
    return warnings_judge(options);
}

int job_run(const struct options *options, int (*compute)(struct job *job, const struct options *options)) {
    struct job job = {.largest = -1, .components = -1, .sites = -1};
    const int status = compute(&job, options);
    job_close(&job);
    return status;
}

int job_finish(struct job *job, const struct options *options) {
    const double began = seconds_now();
    int status;
    if ((status = job_judge(job, options)) || (options->verify && (status = source_check_identity(&job->source))) ||
        (status = sink_write(&job->map, options)) || (status = sink_write(&job->index, options)) ||
        (status = sinks_commit((struct sink *const[]){&job->map, &job->index, &job->preview.sink, &job->text.sink}, 4,
                               options->no_sync)))
        return status;
    job->write_seconds = seconds_now() - began;
    report_give(job, options);
    return 0;
}

void job_close(struct job *job) {
    preview_close(&job->preview);
    text_file_drop(&job->text);
    sink_close(&job->index);
    sink_close(&job->map);
    work_end(&job->work);
    source_close(&job->source);
}

double job_farthest(const struct job *job) { return fmax(job->largest, -job->least); }
