/* What the subcommands that compute maps have in common: their outputs, and how a run ends. */
#include <math.h>

#include "cli.h"

distmap_image_kind job_kind(const struct options *options) {
    return options->command->bit & VORONOI || (options->command->bit & MORPH && options->labels) ? DISTMAP_KIND_LABELS
           : options->command->bit & (MORPH | SKELETON)                                          ? DISTMAP_KIND_MASK
                                                        : DISTMAP_KIND_INTENSITY;
}

int job_open_outputs(struct job *job, const struct options *options, distmap_dtype dtype, bool regions) {
    const distmap_image_info *info = job->source.info;
    int status = sink_open(&job->map, options->output, info, dtype, job_kind(options));
    if (status == 0 && options->index)
        status = sink_open(&job->index, options->index, info, job->problem.want.index, DISTMAP_KIND_LABELS);
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
    if ((status = source_read(&job->source, options)))
        return status;
    if (job->problem.input == DISTMAP_INPUT_MASK && (options->json || !options->quiet))
        job->sites = elements_count_sites(&job->source.view, &job->problem.sites);
    return 0;
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
    if ((status = sink_write(&job->map, options)) || (status = sink_write(&job->index, options)) ||
        (status = sinks_commit((struct sink *const[]){&job->map, &job->index, &job->preview.sink}, 3)))
        return status;
    job->write_seconds = seconds_now() - began;
    report_give(job, options);
    return 0;
}

void job_close(struct job *job) {
    preview_close(&job->preview);
    sink_close(&job->index);
    sink_close(&job->map);
    work_end(&job->work);
    source_close(&job->source);
}

double job_farthest(const struct job *job) { return fmax(job->largest, -job->least); }
