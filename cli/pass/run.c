/* The course of a pass over one shard. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pass.h"

enum {
    USUAL_MEMORY = 1 << 30,
    PIECES = 4,
    CHUNK_BITS = 18 /* of the number of elements of a chunk: 512 x 512, 64 x 64 x 64 */
};

/* ---- What is agreed on, and which part of it is ours ---- */

/* The chunk of the options, else the input's, else nearly a cube. Shards consist of whole chunks. */
static void choose_chunk(const struct pass *p, struct sink *sink) {
    const int ndim = p->problem.ndim;
    for (int a = 0; a < ndim; a++) {
        int64_t *chunk = &sink->info.chunk[a];
        if (!*chunk)
            *chunk = (int64_t)1 << CHUNK_BITS / ndim;
        *chunk = *chunk < p->problem.shape[a] ? *chunk : p->problem.shape[a];
        sink->info.shard[a] = (sink->info.shard[a] + *chunk - 1) / *chunk * *chunk;
    }
}

static int find_format(const char *path, const distmap_format_info **found) {
    const distmap_format_info *format;
    char known[64] = "";
    *found = distmap_format_of(path);
    if (*found && (*found)->shares)
        return 0;
    for (size_t row = 0; (format = distmap_format_get(row)); row++) {
        if (!format->shares)
            continue;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? " or " : "", format->endings);
    }
    return fail("-o %s: several processes can write only %s together", path, known);
}

static int begin_output(struct pass *p, struct sink *sink, struct state *state, const char *path, distmap_dtype dtype) {
    const distmap_format_info *format = NULL;
    const bool is_index = sink == &p->index;
    int status = sink_describe(sink, p->options, path, p->source.info, dtype,
                               is_index ? DISTMAP_KIND_LABELS : DISTMAP_KIND_INTENSITY, is_index ? NULL : &p->fill);
    if (status || (status = find_format(path, &format)))
        return status;
    if (!format->chunked && (p->options->chunks_of_output.count || p->options->shards_of_output.count))
        return fail("--%s: %s has no chunks: %s is contiguous",
                    p->options->chunks_of_output.count ? "chunks" : "shards", path, format->name);
    if (format->chunked) {
        choose_chunk(p, sink);
    } else {
        memset(sink->info.chunk, 0, sizeof sink->info.chunk);
        memset(sink->info.shard, 0, sizeof sink->info.shard);
    }
    return state_name(state, path);
}

/* The size of a part that is one file; 0 if there is none. */
static int64_t part_bytes(const struct state *state) {
    struct stat there;
    return stat(state->part, &there) == 0 && S_ISREG(there.st_mode) ? there.st_size : 0;
}

/* A shard's mark tells how long the part was. A shorter one has been cut since: what finished shards put into it would be zeros.
 * So this comes before it is opened, which makes it longer, and it stays as it was, for the next one to see. */
static int check_part(const struct pass *p, const struct state *state, int64_t bytes) {
    const int64_t found = bytes ? part_bytes(state) : 0;
    if (found >= bytes || access(state->output, F_OK) == 0) /* named meanwhile: the part was removed */
        return 0;
    return fail("%s: has %lld of its %lld bytes, but %lld shards are done; remove it and %s, and run all shards again",
                state->part, (long long)found, (long long)bytes, (long long)p->state.done, p->state.folder);
}

static distmap_status open_output(struct sink *sink, struct state *state) {
    if (!sink->path ||
        access(state->output, F_OK) == 0) /* an index, named before the map was: nothing is put into it */
        return DISTMAP_OK;
    return distmap_writer_open_shared(state->output, state->part, &sink->info, &sink->writer);
}

/* The outputs may have been named meanwhile by another process that does the same shard. */
static int open_outputs(struct pass *p, bool *whole) {
    if (open_output(&p->map, &p->state) == DISTMAP_OK && open_output(&p->index, &p->index_state) == DISTMAP_OK &&
        p->map.writer) {
        p->mark.bytes[0] = part_bytes(&p->state);
        p->mark.bytes[1] = part_bytes(&p->index_state);
        return 0;
    }
    const int status = state_begin(&p->state, p->plan, whole);
    return status || *whole ? status : fail_library();
}

static int64_t row_of(const distmap_image_info *info, int axis) {
    return info->shard[axis] ? info->shard[axis] : info->chunk[axis];
}

/* Places along the divided axis that a row of chunks has, or of shards, of both outputs. */
static int64_t grain_of(const struct pass *p) {
    const int64_t map = row_of(&p->map.info, p->divided), index = row_of(&p->index.info, p->divided);
    return map > 1 || index > 1 ? map > index ? map : index : 1;
}

/* The shard's places: whole chunks, evenly. */
static void take_share(struct pass *p, int64_t grain) {
    const int64_t n = p->problem.shape[p->divided];
    const struct dms_slab rows =
        dms_share((n + grain - 1) / grain, (int)p->options->shards, (int)p->options->shard - 1);
    const int64_t first = rows.first * grain, end = (rows.first + rows.count) * grain;
    p->share.first = first < n ? first : n;
    p->share.count = (end < n ? end : n) - p->share.first;
}

static double piece_bytes(struct pass *p, int64_t places) {
    const double bytes = p->last ? steps_panel_bytes(&p->steps, places) : steps_slab_bytes(&p->steps, places);
    return bytes < 0 ? bytes : bytes + gaps_bytes(p, places);
}

/* Several pieces, so that reading, work and writing overlap, unless they become smaller than a row of chunks; and within the memory. */
static int choose_piece(struct pass *p, int64_t grain) {
    const struct options *options = p->options;
    const double taken = (double)p->source.info->held_bytes + STEPS_OVERHEAD;
    const double room = (double)(options->memory ? options->memory : USUAL_MEMORY) - taken;
    const int64_t rows = (p->share.count + grain - 1) / grain;
    int64_t high = (rows + PIECES - 1) / PIECES, low = 1;
    const double least = piece_bytes(p, grain);
    if (least < 0)
        return fail_library();
    if (least > room && options->memory)
        return fail("--memory: %lld MiB are too little for %s: %lld place%s along %s need %.0f MiB",
                    (long long)(options->memory >> 20), options->input, (long long)grain, grain > 1 ? "s" : "",
                    p->source.info->axis[p->divided].name, (least + taken) / 0x1p20 + 1);
    while (low < high) {
        const int64_t middle = high - (high - low) / 2;
        if (piece_bytes(p, middle * grain) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    p->piece = low * grain;
    p->pieces = (p->share.count + p->piece - 1) / p->piece;
    return 0;
}

/* ---- The work ---- */

static struct dms_slab piece_of(const struct pass *p, int64_t item) {
    const int64_t first = p->share.first + item * p->piece, left = p->share.first + p->share.count - first;
    return (struct dms_slab){first, left < p->piece ? left : p->piece};
}

static void box_of(const struct pass *p, struct dms_slab piece, int64_t first[DISTMAP_MAX_NDIM],
                   int64_t count[DISTMAP_MAX_NDIM]) {
    for (int a = 0; a < p->problem.ndim; a++) {
        first[a] = a == p->divided ? piece.first : 0;
        count[a] = a == p->divided ? piece.count : p->problem.shape[a];
    }
}

static distmap_status fetch(void *user, int64_t item, int slot) {
    struct pass *p = user;
    const struct dms_slab piece = piece_of(p, item);
    int64_t first[DISTMAP_MAX_NDIM], count[DISTMAP_MAX_NDIM];
    box_of(p, piece, first, count);
    if (!p->last)
        TRY(distmap_reader_read(p->source.reader, piece.first, piece.count, p->steps.in[slot]));
    TRY(gaps_fetch(p, first, count, slot));
    if (!p->last)
        return DISTMAP_OK;
    TRY(distmap_reader_read_box(p->source.reader, first, count, p->steps.panel[slot].sample.data));
    return p->sites.reader ? distmap_reader_read_box(p->sites.reader, first, count, p->steps.panel[slot].payload.data)
                           : DISTMAP_OK;
}

static distmap_status work(void *user, int64_t item, int slot) {
    struct pass *p = user;
    TRY((p->last ? steps_panel : steps_slab)(&p->steps, item, slot, piece_of(p, item)));
    gaps_finish(p, piece_of(p, item).count, slot);
    p->mark.flags |= p->steps.flags[slot];
    p->mark.largest = p->steps.largest[slot] > p->mark.largest ? p->steps.largest[slot] : p->mark.largest;
    return DISTMAP_OK;
}

static distmap_status store(void *user, int64_t item, int slot) {
    struct pass *p = user;
    struct sink *const sinks[STEPS_OUTPUTS] = {&p->map, &p->index};
    int64_t first[DISTMAP_MAX_NDIM], count[DISTMAP_MAX_NDIM];
    box_of(p, piece_of(p, item), first, count);
    for (int r = 0; r < STEPS_OUTPUTS; r++)
        if (sinks[r]->path)
            TRY(distmap_writer_put(sinks[r]->writer, first, count,
                                   p->last ? steps_panel_result(&p->steps.panel[slot], r)->data
                                           : p->steps.out[slot][r]));
    return DISTMAP_OK;
}

static int do_share(struct pass *p) {
    const struct pipeline stages = {.end = p->pieces, .fetch = fetch, .work = work, .store = store, .user = p};
    const int64_t most = p->piece < p->share.count ? p->piece : p->share.count;
    distmap_status status = (p->last ? steps_hold_panels : steps_hold_slabs)(&p->steps, most);
    if (!status)
        status = gaps_hold(p, most);
    if (!status)
        status = steps_run(&p->steps, p->last ? "lines" : "slabs", stages);
    steps_let_go(&p->steps);
    gaps_let_go(p);
    if (!status)
        status = distmap_writer_sync(p->map.writer);
    if (!status && p->index.path)
        status = distmap_writer_sync(p->index.writer);
    return status ? fail_library() : 0;
}

/* ---- The end ---- */

static int name_outputs(struct pass *p) {
    int status = 0;
    if (p->index.path)
        status = state_take_name(p->index_state.part, p->index_state.output);
    if (status == 0)
        status = state_take_name(p->state.part, p->state.output); /* the last, for it tells that all is done */
    return status ? status : state_keep_output(&p->state);
}

static void report(const struct pass *p, bool again, double seconds) {
    const struct options *o = p->options;
    const bool whole = p->state.done == p->state.shards;
    char shape[96], took[32], axes[PASS_AXES];
    if (o->json) {
        json_object *object = json_object_new_object();
        json_object_object_add(object, "input", json_object_new_string(o->input));
        json_object_object_add(object, "output", json_object_new_string(o->output));
        json_object_object_add(object, "index", o->index ? json_object_new_string(o->index) : NULL);
        json_object_object_add(object, "axis", json_object_new_string(pass_axes_text(p, p->axes, axes)));
        json_object_object_add(object, "shard", json_object_new_int64(o->shard));
        json_object_object_add(object, "shards", json_object_new_int64(o->shards));
        json_object_object_add(object, "divided", json_object_new_string(p->source.info->axis[p->divided].name));
        json_object_object_add(object, "first", json_object_new_int64(p->share.first));
        json_object_object_add(object, "count", json_object_new_int64(p->share.count));
        json_object_object_add(object, "again", json_object_new_boolean(again));
        json_object_object_add(object, "done", json_object_new_int64(p->state.done));
        json_object_object_add(object, "ms", json_object_new_double(seconds * 1e3));
        json_print(object);
    }
    if (again)
        say(o, "%s: shard %lld/%lld is done already", o->output, (long long)o->shard, (long long)o->shards);
    else if (p->share.count == 0)
        say(o, "%s: shard %lld/%lld is empty: there are fewer rows of chunks along %s", o->output, (long long)o->shard,
            (long long)o->shards, p->source.info->axis[p->divided].name);
    else
        say(o, "%s: shard %lld/%lld along %s, %s from %lld to %lld, %s", o->output, (long long)o->shard,
            (long long)o->shards, pass_axes_text(p, p->axes, axes), p->source.info->axis[p->divided].name,
            (long long)p->share.first, (long long)(p->share.first + p->share.count - 1),
            time_text(seconds, took, sizeof took));
    warn_of_fill(o, &p->fill);
    if (!whole) {
        say(o, "%s: %lld of %lld shards are done", o->output, (long long)p->state.done, (long long)p->state.shards);
        return;
    }
    const struct job met = {.work.flags = p->state.told.flags, .problem = p->problem, .sites = -1};
    job_judge(&met, o);
    char most[40] = "no distance at all";
    if (p->state.told.largest >= 0)
        snprintf(most, sizeof most, "max %g", p->state.told.largest);
    shape_text(p->problem.ndim, p->problem.shape, shape, sizeof shape);
    if (p->last || p->steps.one_pass)
        say(o, "%s: %s %s, %s, whole", o->output, shape, distmap_dtype_name(p->map.info.dtype), most);
    else
        say(o, "%s: %s %s, whole; next: --axis %s", o->output, shape, distmap_dtype_name(p->map.info.dtype),
            p->source.info->axis[0].name);
}

static int compute(struct pass *p) {
    const struct options *options = p->options;
    const double began = seconds_now();
    distmap_dtype map = DISTMAP_NONE;
    bool whole = false;
    int status;
    p->state.shards = options->shards;
    if ((status = pass_problem(p, &map)) || (status = gaps_choose_fill(p, map)) ||
        (status = begin_output(p, &p->map, &p->state, options->output, map)) ||
        (options->index &&
         (status = begin_output(p, &p->index, &p->index_state, options->index, p->problem.want.index))))
        return status;
    take_share(p, grain_of(p));
    if ((status = choose_piece(p, grain_of(p))))
        return status;
    if ((status = source_identify(&p->source)))
        return status;
    p->plan = p->last ? plan_make_last(p, p->before) : plan_make_first(p);
    if ((status = state_begin(&p->state, p->plan, &whole)))
        return status;
    if (!whole &&
        ((status = check_part(p, &p->state, p->state.told.bytes[0])) ||
         (status = check_part(p, &p->index_state, p->state.told.bytes[1])) || (status = open_outputs(p, &whole))))
        return status;
    if (whole) { /* the process that named the outputs may have been killed before it removed the parts */
        state_tidy(&p->state);
        state_tidy(&p->index_state);
    }
    /* Behind the opening: see state.c. */
    const bool again = state_has(&p->state, options->shard);
    if (!again && ((status = do_share(p)) || (status = source_check_identity(&p->source)) || (status = gaps_end(p)) ||
                   (status = state_mark(&p->state, options->shard, &p->mark))))
        return status;
    if ((status = state_count(&p->state, NULL, 0)))
        return status;
    if (!whole && p->state.done == p->state.shards && (status = name_outputs(p)))
        return status;
    report(p, again, seconds_now() - began);
    return 0;
}

static int run(const struct options *options) {
    struct pass p = {.options = options, .mark.largest = -1};
    const int status = compute(&p);
    sink_close(&p.index);
    sink_close(&p.map);
    work_end(&p.work);
    source_close(&p.gaps);
    source_close(&p.sites);
    source_close(&p.source);
    json_object_put(p.plan);
    json_object_put(p.before);
    return status;
}

const struct command command_pass = {
    .name = "pass",
    .bit = PASS,
    .arguments = "INPUT -o OUTPUT --axis AXES --shard I/N",
    .summary = "one part of a distance map, for batch systems",
    .about =
        "Computes one shard of one of the two passes of an exact distance map, for an image of any size.\n"
        "The first pass runs along all measured axes but the slowest, and writes squared distances; the last pass\n"
        "reads these and runs along the slowest axis. The shards of a pass can run in any order, at the same time, on\n"
        "any machines that see the files, and can be killed and run again. The last pass starts when the first one is\n"
        "complete. OUTPUT (.npy, .zarr or .precomputed) is named OUTPUT.part until all its shards are done; the "
        "folder\n"
        "OUTPUT.pass records which are. --sites, --threshold, --labels, --signed, --spacing, --axes, --nodata, "
        "--border and\n"
        "--limit belong to the first pass, --metric squared, --fill and --dtype to the last. The bits are those of "
        "distmap edt.",
    .example = "  distmap pass data/mni152_gray_matter.nii.gz -o squares.npy --threshold 128 --axis y,x --shard 1/2\n"
               "  distmap pass data/mni152_gray_matter.nii.gz -o squares.npy --threshold 128 --axis y,x --shard 2/2\n"
               "  distmap pass squares.npy -o depth.npy --axis z --shard 1/1\n",
    .run = run,
};
