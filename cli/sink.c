/* The output files: mapped and filled in place where the format allows it, else a buffer that is written by bands. None
 * gets its name before all are whole. */
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum { BAND_BYTES = 8 << 20, OPEN_FOLDERS = 16, SINKS = 8 };

/* ---- Which files are the same ---- */

/* The file that a name is of, without a dataset in it. */
static void file_of(const char *path, char file[PATH_MAX]) {
    snprintf(file, PATH_MAX, "%.*s", (int)distmap_path_file_bytes(path), path);
}

/* Whether what is written there is added to a file, which keeps what it holds. */
static bool is_dataset(const char *path) { return path[distmap_path_file_bytes(path)] != '\0'; }

/* The place where a file is or would be: its folder's real path and its own name. "" when there is no such folder. */
static void place_of(const char *path, char place[PATH_MAX + NAME_MAX + 2]) {
    char folder_copy[PATH_MAX], base_copy[PATH_MAX], folder[PATH_MAX];
    *place = '\0';
    snprintf(folder_copy, sizeof folder_copy, "%s", path);
    snprintf(base_copy, sizeof base_copy, "%s", path);
    if (realpath(dirname(folder_copy), folder))
        snprintf(place, PATH_MAX + NAME_MAX + 2, "%s/%s", folder, basename(base_copy));
}

static bool same_file(const char *name_a, const char *name_b) {
    if (strcmp(name_a, "-") == 0 || strcmp(name_b, "-") == 0)
        return false;
    char a[PATH_MAX], b[PATH_MAX];
    file_of(name_a, a);
    file_of(name_b, b);
    struct stat status_a, status_b;
    if (stat(a, &status_a) == 0 && stat(b, &status_b) == 0)
        return status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
    char place_a[PATH_MAX + NAME_MAX + 2], place_b[PATH_MAX + NAME_MAX + 2];
    place_of(a, place_a);
    place_of(b, place_b);
    return *place_a && strcmp(place_a, place_b) == 0;
}

int sinks_check(const struct options *o) {
    const struct {
        const char *option, *path;
    } files[] = {{"the input", o->input},
                 {"the input", o->other},
                 {"-o", o->output},
                 {o->command->bit == CVT ? "--labels" : "--index", o->index},
                 {"--preview", o->preview}};
    enum { inputs = 2 };
    for (int i = 0; i < 5; i++)
        for (int j = i < inputs ? inputs : i + 1; j < 5; j++)
            if (files[i].path && files[j].path && same_file(files[i].path, files[j].path) &&
                !(i < inputs && is_dataset(files[j].path)))
                return usage("%s %s is the same file as %s%s%s", files[j].option, files[j].path, files[i].option,
                             i < inputs ? "" : " ", i < inputs ? "" : files[i].path);
    return 0;
}

/* ---- One file ---- */

/* Takes one length for all axes, or one for each. */
static int take_lengths(const struct options *options, const char *option, const number_list *given, int ndim, int64_t *lengths) {
    if (given->count > 1 && given->count != ndim)
        return fail("%s: %d lengths given, but %s has %d axes; give one per axis or one for all", option, given->count,
                    options->input, ndim);
    for (int a = 0; a < ndim && given->count; a++)
        lengths[a] = (int64_t)given->values[given->count == 1 ? 0 : a];
    return 0;
}

static int take_layout(struct sink *sink, const struct options *o, bool asked) {
    distmap_image_info *info = &sink->info;
    const distmap_format_info *format = distmap_format_of(sink->path);
    if (o->zarr_format == 2)
        memset(info->shard, 0, sizeof info->shard); /* the input's */
    if (asked || (format && strcmp(format->name, "zarr") == 0))
        info->zarr_format = (int)o->zarr_format;
    info->chunk_asked = asked && o->chunks_of_output.count;
    info->shard_asked = asked && o->shards_of_output.count;
    const int status = take_lengths(o, "--chunks", &o->chunks_of_output, info->ndim, info->chunk);
    return status ? status : take_lengths(o, "--shards", &o->shards_of_output, info->ndim, info->shard);
}

int sink_describe(struct sink *sink, const struct options *options, const char *path, const distmap_image_info *input,
                  distmap_dtype dtype, distmap_image_kind kind, const struct fill *fill) {
    const bool is_output = path == options->output;
    sink->path = path;
    sink->info = *input;
    sink->info.dtype = dtype;
    sink->info.kind = kind;
    if (*options->compress) {
        memcpy(sink->info.packing, options->compress, sizeof sink->info.packing);
        sink->info.packing_asked = is_output;
    }
    sink->info.samples = 0;
    sink->info.sample = DISTMAP_SAMPLE_OPEN;
    sink->info.has_nodata = fill && fill->known; /* the input's value may mean something among the results */
    sink->info.nodata = sink->info.has_nodata ? fill->value : 0;
    signals_catch();
    return take_layout(sink, options, is_output);
}

int sink_open(struct sink *sink, const struct options *options, const char *path, const distmap_image_info *input,
              distmap_dtype dtype, distmap_image_kind kind, const struct fill *fill) {
    const int status = sink_describe(sink, options, path, input, dtype, kind, fill);
    if (status)
        return status;
    if (distmap_writer_open(path, &sink->info, &sink->writer))
        return fail_library();
    sink->view = distmap_writer_map(sink->writer);
    if (sink->view.data)
        return 0;
    const size_t bytes = (size_t)element_count(input->ndim, input->shape) * distmap_dtype_size(dtype);
    sink->buffer = malloc(bytes ? bytes : 1);
    if (!sink->buffer)
        return fail("%s: not enough memory for its %zu bytes", path, bytes);
    sink->view = distmap_view_make(sink->buffer, dtype, input->ndim, input->shape);
    return 0;
}

int sink_write(struct sink *sink, const struct options *options) {
    const int64_t slices = sink->info.shape[0];
    const int64_t elements = element_count(sink->info.ndim, sink->info.shape);
    if (!sink->path || !sink->buffer || elements == 0)
        return 0;
    const int64_t slice_bytes = elements / slices * (int64_t)distmap_dtype_size(sink->info.dtype);
    const int64_t row = distmap_writer_info(sink->writer)->chunk[0], least = row ? row : 1; /* so that none is gathered */
    const int64_t fit = BAND_BYTES / slice_bytes / least, band = (fit > 1 ? fit : 1) * least;
    progress_begin(options, "writing");
    for (int64_t first = 0; first < slices; first += band) {
        const int64_t count = first + band < slices ? band : slices - first;
        if (progress_step(NULL, (double)first / (double)slices))
            return fail("interrupted");
        if (distmap_writer_write(sink->writer, count, (char *)sink->buffer + first * slice_bytes))
            return fail_library();
    }
    progress_end();
    return 0;
}

void sink_close(struct sink *sink) {
    distmap_writer_abort(&sink->writer);
    free(sink->buffer);
    *sink = (struct sink){0};
}

/* ---- All files ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    remove(path);
    return 0;
}

void remove_all(const char *path) { nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS); }

int sinks_commit(struct sink *const *sinks, int count, bool no_sync) {
    distmap_writer *writers[SINKS];
    if (signal_caught() || cut_short())
        return fail("interrupted");
    for (int i = 0; i < count; i++) {
        writers[i] = sinks[i]->writer;
        sinks[i]->writer = NULL;
    }
    return distmap_writers_finish(writers, count, no_sync ? DISTMAP_FINISH_UNSYNCED : 0) ? fail_library() : 0;
}
