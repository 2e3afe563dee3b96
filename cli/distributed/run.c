/* The course of a run over ranks.
 *
 * Slabs divide the slowest axis evenly, but where pieces of the outputs do (output.c). Where that axis is not measured
 * its slices are problems of their own, and a slab is an image by itself.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <distmap/mpi.h>

#include "distributed.h"
#include "slabs/slabs.h"

struct distributed {
    struct options options; /* of all ranks the first alone says something */
    struct job job;
    bool joined; /* the slowest axis is measured */
    int64_t first, count;
    distmap_arrays arrays;
    distmap_mpi_plan *plan;
    double parts, part, told; /* for watch() */
};

/* The library tells of each stage by itself, from 0 to 1. The slices take about as long as all panels. */
static int watch(void *user, double fraction) {
    struct distributed *d = user;
    if (fraction < d->told || d->told >= 1)
        d->part++;
    d->told = fraction;
    const double panels = d->part > 0 ? (d->part - 1 + fraction) / (d->parts - 1) : 0;
    const double slices = d->part > 0 ? 1 : fraction;
    return progress_step(NULL, d->parts > 1 ? (slices + (panels < 1 ? panels : 1)) / 2 : fraction);
}

/* ---- What is asked for ---- */

static int64_t common_multiple(int64_t a, int64_t b) {
    int64_t divisor = a;
    for (int64_t rest = b; rest;) {
        const int64_t left = divisor % rest;
        divisor = rest;
        rest = left;
    }
    return a / divisor * b;
}

static int choose_slab(struct distributed *d) {
    const struct sink *const sinks[] = {&d->job.map, &d->job.index};
    int64_t depth = 1;
    for (int i = 0; i < 2; i++) {
        int64_t one = 1;
        const int status = sinks[i]->path ? output_depth(sinks[i], &one) : 0;
        if (status)
            return status;
        depth = common_multiple(depth, one);
    }
    const int64_t slices = d->job.problem.shape[0], steps = (slices + depth - 1) / depth;
    const struct dms_slab share = dms_share(steps, ranks_count(), ranks_own());
    const int64_t end = (share.first + share.count) * depth;
    d->first = share.first * depth < slices ? share.first * depth : slices;
    d->count = (end < slices ? end : slices) - d->first;
    return 0;
}

/* One GPU of those that were named, or of all: the ranks of a machine take them in turns. */
static void choose_gpu(struct options *options, int place) {
    const int named = options->ordinal_count, all = distmap_device_count(DISTMAP_DEVICE_CUDA);
    if (options->device != DISTMAP_DEVICE_CUDA)
        return;
    options->ordinals[0] = named ? options->ordinals[place % named] : all ? place % all : 0;
    options->ordinal_count = 1;
}

static int prepare(struct distributed *d, int place, int here) {
    const struct options *options = &d->options;
    struct job *job = &d->job;
    distmap_problem *problem = &job->problem;
    distmap_dtype map;
    struct stat file;
    char name[PATH_MAX];
    int status;
    d->options.threads = options->threads ? options->threads : ranks_threads(here);
    choose_gpu(&d->options, place);
    snprintf(name, sizeof name, "%.*s", (int)distmap_path_file_bytes(options->input), options->input);
    if (stat(name, &file) == 0 && !S_ISREG(file.st_mode))
        return fail("%s: is not a regular file, which every process could read", options->input);
    if ((status = job_state_parts(job, options, watch, d, &map)))
        return status;
    if ((status = source_identify(&job->source)))
        return status;
    d->joined = problem->axes == 0 || problem->axes & 1;
    if (dms_kinds_of(problem) != DMS_NO_KINDS && nodata_ignores(&job->source, options))
        return nodata_refuse(options, "--distributed");
    if ((status = nodata_check(&job->source, options, problem)) ||
        (status = fill_choose(&job->fill, options, &job->source, map, RESULT_DISTANCES)))
        return status;
    if ((status = sink_describe(&job->map, options, options->output, job->source.info, map, DISTMAP_KIND_INTENSITY,
                                &job->fill)) ||
        (options->index && (status = sink_describe(&job->index, options, options->index, job->source.info,
                                                   problem->want.index, DISTMAP_KIND_LABELS, NULL))))
        return status;
    output_guard();
    return choose_slab(d);
}

/* The settings that must be equal on all ranks before the plan is made, which checks the rest. */
static int same_everywhere(const struct distributed *d) {
    char text[3 * PATH_MAX], shape[96];
    const distmap_problem *p = &d->job.problem;
    snprintf(text, sizeof text, "%s, %s, by slices of axis 0 %s; -o %s%s%s", d->options.input,
             shape_text(p->ndim, p->shape, shape, sizeof shape), d->joined ? "together" : "apart", d->options.output,
             d->options.index ? " --index " : "", d->options.index ? d->options.index : "");
    const int status = ranks_same(text);
    if (status)
        return status;
    snprintf(text, sizeof text, "%s, %s", d->options.input, d->job.source.identity); /* which each has opened by itself */
    return ranks_same(text);
}

/* ---- Plans ---- */

/* For what the report tells: the method that takes the slices, which libdistmap_mpi asks the same library for. */
static int describe_slices(struct distributed *d) {
    struct work *work = &d->job.work;
    const distmap_plan_options how = {.host_views = true};
    const distmap_problem normal = dms_normal_problem(&d->job.problem);
    distmap_dtype samples;
    distmap_plan *plan = NULL;
    if (dms_find_samples(work->context, &d->job.problem, &samples))
        return fail_library();
    const distmap_problem slices = dms_slices_of(&normal, samples, 0, d->count);
    if (distmap_plan_create(work->context, &slices, &how, &plan))
        return fail_library();
    distmap_plan_describe(plan, &work->description);
    distmap_plan_destroy(&plan);
    return 0;
}

static int make_plan(struct distributed *d) {
    struct work *work = &d->job.work;
    if (!d->joined) {
        distmap_problem slab = d->job.problem;
        slab.shape[0] = d->count;
        return ranks_agree(work_plan(work, &d->options, &slab));
    }
    if (distmap_mpi_plan_create(MPI_COMM_WORLD, work->context, &d->job.problem, d->first, d->count, NULL, &d->plan))
        return ranks_agree(fail_library());
    const int status = ranks_agree(ranks_own() == 0 ? describe_slices(d) : 0);
    distmap_mpi_description described;
    distmap_mpi_plan_describe(d->plan, &described);
    work->description.scratch_bytes = described.scratch_bytes;
    d->parts = 1 + (double)described.panels;
    return status;
}

/* ---- Computing ---- */

static int reserve(const struct distributed *d, distmap_dtype dtype, distmap_view *view) {
    int64_t shape[DISTMAP_MAX_NDIM];
    memcpy(shape, d->job.problem.shape, sizeof shape);
    shape[0] = d->count;
    const int ndim = d->job.problem.ndim;
    const size_t bytes = (size_t)element_count(ndim, shape) * distmap_dtype_size(dtype);
    *view = distmap_view_make(dtype ? malloc(bytes + 1) : NULL, dtype, ndim, shape);
    return !dtype || view->data ? 0 : fail("not enough memory for the %zu bytes of a slab", bytes);
}

static int take_slab(struct distributed *d) {
    const distmap_outputs *want = &d->job.problem.want;
    int status;
    if ((status = reserve(d, want->distance, &d->arrays.distance)) ||
        (status = reserve(d, want->squared, &d->arrays.squared)) ||
        (status = reserve(d, want->index, &d->arrays.index)))
        return status;
    status = source_read_slices(&d->job.source, &d->options, d->first, d->count);
    if (status == 0)
        status = nodata_apply(&d->job.source, &d->options, &d->job.problem);
    d->arrays.input = d->job.source.view;
    if (status == 0 && d->job.problem.input == DISTMAP_INPUT_MASK)
        d->job.sites = elements_count_sites(&d->arrays.input, &d->job.problem.sites);
    return status;
}

static const distmap_view *map_of(const struct distributed *d) {
    return d->options.squared ? &d->arrays.squared : &d->arrays.distance;
}

static int compute(struct distributed *d) {
    struct work *work = &d->job.work;
    int status;
    if (d->joined) {
        progress_begin(&d->options, "computing");
        const double began = seconds_now();
        status = distmap_mpi_plan_execute(d->plan, &d->arrays) ? fail_library() : 0;
        work->seconds = seconds_now() - began;
        work->flags = distmap_mpi_plan_flags(d->plan);
        progress_end();
    } else {
        status = work_run(work, &d->options, &d->arrays);
        const int64_t slice = element_count(d->job.problem.ndim - 1, d->job.problem.shape + 1);
        if (status == 0 && d->arrays.index.data) /* which count from the slab's first element */
            dms_indices_shift(d->arrays.index.data, d->arrays.index.dtype, d->count * slice, d->first * slice);
    }
    if ((status = ranks_agree(status)))
        return status;
    struct job *job = &d->job;
    nodata_erase(map_of(d), job->source.ignored, RESULT_DISTANCES);
    nodata_erase(&d->arrays.index, job->source.ignored, RESULT_INDICES);
    double largest, least = 0;
    if (job->problem.sign)
        elements_extent(map_of(d), &least, &largest);
    else
        largest = elements_largest(map_of(d));
    fill_put(map_of(d), &job->fill, NULL);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    if (job->problem.sign && largest == 0 && least == 0) /* no signed distance is 0 */
        largest = -1;
    job->least = least;
    MPI_Allreduce(MPI_IN_PLACE, &job->fill.alike, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &job->source.nodata_count, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    job_take_largest(&d->job, largest);
    MPI_Allreduce(MPI_IN_PLACE, &d->job.sites, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &work->flags, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD);
    return 0;
}

/* ---- Files ---- */

static int open_outputs(struct job *job) {
    const int status = output_open(&job->map);
    return status || !job->index.path ? status : output_open(&job->index);
}

static int write_outputs(struct distributed *d) {
    struct job *job = &d->job;
    int status;
    const double began = seconds_now();
    progress_begin(&d->options, "writing");
    if ((status = output_write(&job->map, d->first, d->count, map_of(d)->data)))
        return status;
    if (job->index.path && (status = output_write(&job->index, d->first, d->count, d->arrays.index.data)))
        return status;
    if (ranks_own() == 0)
        status = sinks_commit((struct sink *const[]){&job->map, &job->index}, 2, d->options.no_sync);
    progress_end();
    job->write_seconds = seconds_now() - began;
    return ranks_agree(status);
}

/* ---- The run ---- */

static void let_go(struct distributed *d) {
    distmap_view *const views[] = {&d->arrays.distance, &d->arrays.squared, &d->arrays.index};
    for (int i = 0; i < 3; i++)
        free(views[i]->data);
    distmap_mpi_plan_destroy(&d->plan);
    job_close(&d->job);
}

static int run(struct distributed *d) {
    int here;
    const int place = ranks_here(&here);
    int status = ranks_agree(prepare(d, place, here));
    if (status || (status = same_everywhere(d)) || (status = make_plan(d)) ||
        (status = ranks_agree(ranks_own() == 0 ? open_outputs(&d->job) : 0)) || (status = ranks_agree(take_slab(d))) ||
        (status = compute(d)))
        return status;
    source_drop(&d->job.source);
    distmap_mpi_plan_destroy(&d->plan);
    if ((status = write_outputs(d)))
        return status;
    if (ranks_own() == 0) {
        job_judge(&d->job, &d->options);
        report_give(&d->job, &d->options);
    }
    return 0;
}

int distributed_run(const struct options *options) {
    struct distributed d = {.options = *options,
                            .job = {.largest = -1, .components = -1, .sites = -1, .ranks = ranks_count()}};
    d.options.quiet |= ranks_own() > 0;
    const int status = run(&d);
    let_go(&d);
    return status;
}
