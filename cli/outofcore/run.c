/* The subcommand's part of a run out of core: what is asked for, the files, the report. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outofcore.h"
#include "../json.h"

/* ---- What must be the same when another run goes on ---- */

static void add(char *heading, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *heading, const char *format, ...) {
    const size_t used = strlen(heading);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(heading + used, HEADING - used, format, arguments);
    va_end(arguments);
}

static void describe(const struct outofcore *o, char heading[HEADING]) {
    const struct options *options = o->options;
    const distmap_problem *p = &o->job->problem;
    char boot[64] = "unknown\n";
    *heading = '\0';
    add(heading, "distmap %s out of core\n", distmap_version());
    add(heading, "input %s\nit is %s\n", options->input, o->job->source.identity);
    add(heading, "output %s\nindex %s\n", options->output, options->index ? options->index : "none");
    add(heading, "time %lld, channel %lld, sample %s\n", (long long)options->time, (long long)options->channel,
        distmap_sample_name(o->job->source.info->sample));
    add(heading, "dtype %s, shape", distmap_dtype_name(p->dtype));
    for (int a = 0; a < p->ndim; a++)
        add(heading, " %lld", (long long)p->shape[a]);
    add(heading, "\nspacing");
    for (int a = 0; a < p->ndim; a++)
        add(heading, " %.17g", p->spacing[a]);
    add(heading, "\nsites %d %.17g %.17g\nlimit %.17g\nborder %d\naxes %u\n", (int)p->sites.rule, p->sites.lo,
        p->sites.hi, p->limit, p->border, p->axes);
    if (nodata_applies(&o->job->source, options))
        add(heading, "no data %.17g, is %d\n", o->job->source.info->nodata, (int)options->nodata);
    add(heading, "fill %d %.17g\n", options->fill_given, options->fill);
    add(heading, "what %d, sign %d, surface %d\n", (int)p->input, (int)p->sign, (int)p->surface);
    add(heading, "distance %d, squared %d, index %d\n", (int)p->want.distance, (int)p->want.squared,
        (int)p->want.index);
    add(heading, "slabs and panels %d (by --memory)%s\n", o->steps.layout.size, o->steps.windows ? ", windows" : "");
    FILE *id = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (id && !fgets(boot, sizeof boot, id))
        strcpy(boot, "unknown\n");
    if (id)
        fclose(id);
    add(heading, "boot %s", boot);
}

/* ---- Files ---- */

/* A result that may be written in any order, in runs worth it, grows under a name that is known; else it is put together in the
 * scratch file, behind what is there, *bytes of it. */
static int open_result(struct outofcore *o, struct sink *sink, const char *path, distmap_dtype dtype, int64_t *bytes) {
    struct result *result = &o->results[o->result_count++];
    char part[PATHS];
    *result = (struct result){.sink = sink, .is_index = sink == &o->job->index, .fd = -1};
    int status =
        result->is_index ? 0 : fill_choose(&o->job->fill, o->options, &o->job->source, dtype, RESULT_DISTANCES);
    if (status == 0)
        status = sink_describe(sink, o->options, path, o->job->source.info, dtype,
                               result->is_index ? DISTMAP_KIND_LABELS : DISTMAP_KIND_INTENSITY,
                               result->is_index ? NULL : &o->job->fill);
    memset(sink->info.shard, 0, sizeof sink->info.shard); /* a row of them may take more than the memory */
    if (status == 0 && strcmp(path, "-") != 0)
        status = ledger_path(path, NULL, "part", part);
    if (status)
        return status;
    distmap_status opened = DISTMAP_ERROR_UNSUPPORTED;
    if (strcmp(path, "-") != 0 && !o->ledger.goes_on)
        unlink(part); /* a killed run's */
    if (strcmp(path, "-") != 0 && budget_runs_are_long(o) && (o->steps.one_pass || !ignored_any(o)))
        opened = distmap_writer_open_part(path, part, &sink->info, &sink->writer);
    if (opened == DISTMAP_OK) {
        result->fd = distmap_writer_descriptor(sink->writer, &result->offset);
        return 0;
    }
    if (opened == DISTMAP_ERROR_UNSUPPORTED)
        opened = distmap_writer_open(path, &sink->info, &sink->writer);
    result->in_order = true;
    result->offset = *bytes;
    *bytes += o->steps.one_pass
                  ? 0
                  : element_count(o->steps.normal.ndim, o->steps.normal.shape) * (int64_t)distmap_dtype_size(dtype);
    return opened ? fail_library() : 0;
}

static int result_size(struct outofcore *o, const struct result *result) {
    const size_t size = distmap_dtype_size(result->sink->info.dtype);
    return ledger_size(&o->ledger, result->fd, distmap_writer_part(result->sink->writer),
                       result->offset + element_count(o->steps.normal.ndim, o->steps.normal.shape) * (int64_t)size);
}

/* Whether a run that goes on finds a file gone: one was killed when its outputs had their names, or while it tidied up. */
static bool something_is_gone(const struct outofcore *o) {
    struct stat there;
    bool gone = access(o->ledger.scratch, F_OK) != 0;
    for (int r = 0; r < o->result_count && !gone; r++)
        gone = !o->results[r].in_order &&
               (fstat(o->results[r].fd, &there) || there.st_size <= o->results[r].offset); /* made just now */
    return gone;
}

static int open_files(struct outofcore *o, distmap_dtype map) {
    const struct options *options = o->options;
    const int64_t elements = element_count(o->steps.normal.ndim, o->steps.normal.shape);
    const int64_t index = (int64_t)distmap_dtype_size(o->steps.normal.want.index);
    char heading[HEADING];
    int status = 0;
    o->payload_at = elements * (int64_t)distmap_dtype_size(o->steps.samples);
    o->kinds_at = o->payload_at + elements * index;
    const int64_t kinds = o->steps.kinds == DMS_NO_KINDS ? 0 : elements;
    int64_t bytes = o->steps.windows ? windows_bytes(o) : o->steps.one_pass ? 0 : o->kinds_at + kinds;
    if ((status = source_identify(&o->job->source)))
        return status;
    describe(o, heading);
    const char *folder = options->scratch;
    if (!folder && strcmp(options->output, "-") == 0)
        folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    if ((status = ledger_path(options->output, folder, "state", o->ledger.state)) ||
        (status = ledger_path(options->output, folder, "scratch", o->ledger.scratch)) ||
        (status = ledger_open(&o->ledger, options, heading)) ||
        (status = open_result(o, &o->job->map, options->output, map, &bytes)))
        return status;
    if (options->index && (status = open_result(o, &o->job->index, options->index, o->steps.normal.want.index, &bytes)))
        return status;
    if (o->ledger.goes_on && something_is_gone(o)) {
        say(options, "distmap: files of the earlier run are missing; starting again");
        if ((status = ledger_begin_anew(&o->ledger, heading)))
            return status;
    }
    if ((status = ledger_reserve(&o->ledger, bytes)))
        return status;
    for (int r = 0; r < o->result_count && !status; r++)
        if (o->results[r].in_order)
            o->results[r].fd = o->ledger.scratch_fd;
        else
            status = result_size(o, &o->results[r]);
    if (status)
        return status;
    if (o->ledger.goes_on)
        say(options, "distmap: resuming after %lld slabs and %lld panels", (long long)o->ledger.slabs,
            (long long)o->ledger.panels);
    for (int r = 0; r < o->result_count && o->steps.one_pass; r++)
        if (o->results[r].in_order)
            o->ledger.panels = 0; /* what is written in order begins anew */
    return 0;
}

/* ---- The run ---- */

static int prepare(struct outofcore *o, distmap_dtype *map) {
    struct job *job = o->job;
    const struct options *options = o->options;
    int status;
    if ((status = job_state_parts(job, options, steps_watch, &o->steps, map)))
        return status;
    steps_begin(&o->steps, options, &job->work, &job->problem);
    o->steps.grain = job->source.info->chunk[0];
    if (element_count(o->steps.normal.ndim, o->steps.normal.shape) == 0)
        return fail("--memory: %s has no elements", options->input);
    if (o->steps.kinds != DMS_NO_KINDS && nodata_ignores(&job->source, options))
        return nodata_refuse(options, "--memory");
    if (dms_check_kind(&job->problem, "out of core") ||
        dms_find_samples(job->work.context, &job->problem, &o->steps.samples))
        return fail_library();
    o->seen = values_begin(&job->source, options);
    steps_try_windows(&o->steps);
    if ((status = nodata_check(&job->source, options, &o->steps.normal)))
        return status;
    if ((status = budget_choose(o)))
        return status;
    const distmap_problem slices = steps_slices(&o->steps, steps_slab_at(&o->steps, 0));
    if ((status = work_plan(&job->work, options, &slices))) /* for what is told about it */
        return status;
    distmap_plan_destroy(&job->work.plan);
    return 0;
}

static int compute(struct outofcore *o) {
    struct job *job = o->job;
    distmap_dtype map = DISTMAP_NONE;
    int status;
    if ((status = prepare(o, &map)) || (status = open_files(o, map)))
        return status;
    const double began = seconds_now();
    if ((status = passes_run(o)))
        return status;
    job->work.seconds = seconds_now() - began;
    job->work.flags = o->ledger.flags;
    if ((status = source_check_identity(&job->source)))
        return status;
    job_take_largest(job, ignored_any(o) && !o->steps.one_pass ? o->copied_largest : o->ledger.largest);
    job->least = o->ledger.least;
    if (o->looked == o->steps.layout.size && job->problem.input == DISTMAP_INPUT_MASK)
        job->sites = o->sites;
    warn_of_values(o->options, job->source.info->dtype, &o->seen);
    if ((status = job_judge(job, o->options)))
        return status;
    job->out_of_core.parts = o->steps.layout.size;
    job->out_of_core.limit = o->options->memory;
    job->out_of_core.peak = memory_peak();
    if ((status = sinks_commit((struct sink *const[]){&job->map, &job->index}, 2, o->options->no_sync)))
        return status;
    report_give(job, o->options);
    return 0;
}

int outofcore_run(const struct options *options) {
    struct job job = {.largest = -1, .components = -1, .sites = -1};
    struct outofcore o = {
        .options = options, .job = &job, .copied_largest = -1, .ledger = {.fd = -1, .scratch_fd = -1, .largest = -1}};
    const int status = compute(&o);
    const bool keep = status != 0 && status != EXIT_WARNED && options->resume && o.ledger.fd >= 0;
    for (int r = 0; r < o.result_count; r++)
        if (keep && !o.results[r].in_order)
            distmap_writer_leave(&o.results[r].sink->writer);
    if (keep && o.ledger.scratch_fd >= 0)
        say(options, "distmap: the work so far is kept; run the same command to continue");
    ledger_close(&o.ledger, keep);
    job_close(&job);
    return status;
}
