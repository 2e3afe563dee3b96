/* The codec for HDF5: files are read by a child process (hdf5_serve.c), which libhdf5 may crash or keep for ever.
 *
 * Elements that lie in the file as they are need the child no more once it has told where (raw.c). For chunks that hdf5_unpack.c can
 * unpack it tells the places, row by row. All others it reads, into memory that both processes see, in two windows: while one is
 * copied to the caller, the child fills the other. A part that is asked for is whole rows of chunks where these are small, so that
 * none is unpacked twice; of large ones it is a run along the second axis.
 *
 * The child is believed in nothing: what it says of the image is checked like a header, and its end (hdf5_talk.c) is an error like that
 * of any broken file.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/hdf5.h"

enum { WINDOW_BYTES = 4 << 20, WINDOWS = 2 };

typedef struct state {
    dm_hdf5_child child;
    int64_t window_bytes;
    dm_hdf5_form form;
    dm_hdf5_chunks chunks; /* where form.ours */
} state;

bool dm_hdf5_in_process;

static bool hdf5_sniff(const uint8_t *head, size_t bytes) {
    static const uint8_t signature[] = "\x89HDF\r\n\x1a\n";
    for (size_t at = 0; at + 8 <= bytes; at = at ? 2 * at : 512) /* behind a block of the user's, if there is one */
        if (!memcmp(head + at, signature, 8))
            return true;
    return false;
}

/* ---- What it says ---- */

static bool is_text(const char *text, size_t bytes) { return memchr(text, '\0', bytes) != NULL; }

/* Whether what hdf5_unpack.c relies upon is so. */
static bool is_form(const dm_hdf5_form *form, const distmap_image_info *info) {
    int64_t bytes = (int64_t)distmap_dtype_size(info->dtype), row = 1;
    bool good = form->filters >= 0 && form->filters <= H5Z_MAX_NFILTERS;
    for (int a = 0; good && form->ours && a < info->ndim; a++) {
        good = form->chunk[a] > 0 && !__builtin_mul_overflow(bytes, form->chunk[a], &bytes) &&
               (a == 0 || !__builtin_mul_overflow(
                              row, info->shape[a] / form->chunk[a] + (info->shape[a] % form->chunk[a] > 0), &row));
    }
    for (int a = 0; good && a < 2; a++)
        good = form->chunk[a] >= 0;
    return good && (!form->ours || (bytes == form->bytes && bytes <= UINT32_MAX && row == form->row_chunks));
}

static distmap_status take_info(distmap_reader *reader, dm_hdf5_opened *opened) {
    state *s = reader->state;
    distmap_image_info *info = &opened->info;
    bool good = info->ndim >= 1 && info->ndim <= DISTMAP_MAX_AXES && distmap_dtype_size(info->dtype) > 0 &&
                is_text(info->stored, sizeof info->stored) && is_text(info->packing, sizeof info->packing) &&
                is_form(&opened->form, info);
    for (int a = 0; good && a < info->ndim; a++)
        good = info->shape[a] >= 0 && is_text(info->axis[a].name, sizeof info->axis[a].name) &&
               is_text(info->axis[a].unit, sizeof info->axis[a].unit);
    if (!good)
        return dm_broken(&reader->input, "broken HDF5: its reader talks nonsense");
    info->format = reader->info.format;
    info->crs = NULL;
    info->native = NULL;
    info->native_count = 0;
    info->samples = 0;
    info->sample = DISTMAP_SAMPLE_OPEN;
    reader->info = *info;
    s->form = opened->form;
    int64_t bytes;
    TRY(dm_shape_bytes(reader->input.name, info->ndim, info->shape, distmap_dtype_size(info->dtype), &bytes));
    reader->slice_bytes = (size_t)dm_slice_elements(info) * distmap_dtype_size(info->dtype);
    return opened->raw_offset < 0 ? DISTMAP_OK : dm_raw_open(reader, opened->raw_offset, opened->raw_swapped, false);
}

static distmap_status introduce(distmap_reader *reader, dm_hdf5_opened *opened) {
    state *s = reader->state;
    const dm_hdf5_hello hello = {0};
    TRY(dm_hdf5_child_start(&s->child, reader->input.fd, &hello, reader->input.dataset));
    TRY(dm_hdf5_hear(&s->child, opened, sizeof *opened, sizeof *opened));
    TRY(dm_hdf5_check_version(&s->child, opened->version));
    return dm_hdf5_take_reply(&s->child, &opened->reply);
}

/* ---- Elements ---- */

static int64_t part_bytes(const distmap_reader *reader, const dm_hdf5_part *part) {
    const int64_t rows = reader->info.ndim > 1 ? reader->info.shape[1] : 1;
    return part->count * part->rows * ((int64_t)reader->slice_bytes / rows);
}

/* The next part of slices [part->first + part->count, end), or of what is left of the same slices along the second axis. Whole rows
 * of chunks are cut along that, where they are large. */
static void next_part(const distmap_reader *reader, dm_hdf5_part *part, int64_t end) {
    const state *s = reader->state;
    const int64_t rows = reader->info.ndim > 1 ? reader->info.shape[1] : 1, slice = (int64_t)reader->slice_bytes;
    const int64_t deep = s->form.chunk[0] ? s->form.chunk[0] : 1, wide = s->form.chunk[1] ? s->form.chunk[1] : 1;
    if (part->row + part->rows < rows && part->count) {
        part->row += part->rows;
    } else {
        part->first += part->count;
        part->row = 0;
        part->rows = rows;
        const int64_t within = part->first % deep, left = end - part->first, fit = s->window_bytes / slice;
        const int64_t chunks_end = deep - within < left ? deep - within : left;
        const bool whole = within == 0 && (chunks_end == deep || end == reader->info.shape[0]);
        if (fit >= deep) /* several rows of chunks */
            part->count = fit / deep * deep - within < left ? fit / deep * deep - within : left;
        else if (whole || !s->form.keeps_row)
            part->count = chunks_end;
        else
            part->count = fit < 1 ? 1 : fit < chunks_end ? fit : chunks_end;
        const int64_t one = part_bytes(reader, part) / rows; /* of the second axis */
        if (part->count * slice > s->window_bytes && rows > 1) {
            const int64_t these = s->window_bytes / (one > 0 ? one : 1) / wide * wide;
            part->rows = these < wide ? wide : these;
        }
    }
    part->rows = part->rows < rows - part->row ? part->rows : rows - part->row;
}

/* From the window to the caller's slices, of which `first` is the first one. */
static void hand_over(const distmap_reader *reader, const dm_hdf5_part *part, const char *from, int64_t first,
                      char *out) {
    const int64_t slice = (int64_t)reader->slice_bytes, bytes = part_bytes(reader, part) / part->count;
    const int64_t row = part->rows ? bytes / part->rows : 0;
    if (bytes == slice) {
        memcpy(out + (part->first - first) * slice, from, (size_t)(part->count * slice));
        return;
    }
    for (int64_t i = 0; i < part->count; i++)
        memcpy(out + (part->first + i - first) * slice + part->row * row, from + i * bytes, (size_t)bytes);
}

/* Very large parts have one window, and the child waits. */
static int windows_for(const state *s, int64_t part) { return part > 4 * s->window_bytes ? 1 : WINDOWS; }

static distmap_status ask(distmap_reader *reader, const dm_hdf5_part *part, int64_t at) {
    state *s = reader->state;
    const dm_hdf5_request request = {.part = *part, .at = at, .bytes = part_bytes(reader, part)};
    return dm_hdf5_tell(&s->child, &request, sizeof request);
}

/* The largest part, so that windows need not grow while they are in use. */
static int64_t largest_part(const distmap_reader *reader, int64_t first, int64_t end) {
    int64_t largest = 0;
    const state *s = reader->state;
    const int64_t enough = first + 3 * (s->form.chunk[0] + s->window_bytes); /* then they are as before */
    for (dm_hdf5_part part = {.first = first}; part.first + part.count < end && part.first < enough;) {
        next_part(reader, &part, end);
        const int64_t bytes = part_bytes(reader, &part);
        largest = bytes > largest ? bytes : largest;
        part.rows = reader->info.ndim > 1 ? reader->info.shape[1] : 1; /* the others of these slices are no larger */
        part.row = 0;
    }
    return largest;
}

static bool is_last(const distmap_reader *reader, const dm_hdf5_part *part, int64_t end) {
    return part->first + part->count == end &&
           part->row + part->rows == (reader->info.ndim > 1 ? reader->info.shape[1] : 1);
}

static distmap_status read_parts(distmap_reader *reader, int64_t first, int64_t end, char *out) {
    state *s = reader->state;
    const int64_t window = (largest_part(reader, first, end) + 4095) / 4096 * 4096;
    const int windows = windows_for(s, window);
    TRY(dm_hdf5_grow(&s->child, DM_HDF5_HEAD + windows * window));
    dm_hdf5_part part = {.first = first}, next;
    next_part(reader, &part, end);
    TRY(ask(reader, &part, DM_HDF5_HEAD));
    for (int64_t i = 0;; i++, part = next) {
        const bool last = is_last(reader, &part, end), ahead = !last && windows > 1;
        const int64_t at = DM_HDF5_HEAD + i % windows * window, then = DM_HDF5_HEAD + (i + 1) % windows * window;
        next = part;
        if (!last)
            next_part(reader, &next, end);
        if (ahead)
            TRY(ask(reader, &next, then));
        dm_hdf5_reply reply;
        TRY(dm_hdf5_hear(&s->child, &reply, sizeof reply, sizeof reply));
        const distmap_status status = dm_hdf5_take_reply(&s->child, &reply);
        if (status && ahead)
            dm_hdf5_child_stop(&s->child, NULL, 0); /* with an answer on its way that nobody waits for */
        TRY(status);
        hand_over(reader, &part, s->child.memory + at, first, out);
        if (last)
            return DISTMAP_OK;
        if (!ahead)
            TRY(ask(reader, &next, then));
    }
}

/* ---- Places of chunks ---- */

/* The child again, where it was ended by an error, or is another process's. */
static distmap_status wake(distmap_reader *reader) {
    state *s = reader->state;
    dm_hdf5_opened opened;
    const distmap_image_info *was = &reader->info;
    if (s->child.helper.pid && s->child.owner == getpid())
        return DISTMAP_OK;
    dm_hdf5_child_stop(&s->child, NULL, 0);
    TRY(introduce(reader, &opened));
    const bool same = opened.info.dtype == was->dtype && opened.info.ndim == was->ndim &&
                      !memcmp(opened.info.shape, was->shape, sizeof was->shape) &&
                      !memcmp(&opened.form, &s->form, sizeof s->form);
    return same ? DISTMAP_OK : dm_broken(&reader->input, "changed while it was read");
}

static distmap_status locate(distmap_reader *reader, int64_t first, dm_hdf5_spot *places) {
    state *s = reader->state;
    const dm_hdf5_request request = {.locate = true,
                                     .part = {.first = first},
                                     .at = DM_HDF5_HEAD,
                                     .bytes = s->form.row_chunks * (int64_t)sizeof *places};
    dm_hdf5_reply reply;
    TRY(wake(reader));
    TRY(dm_hdf5_grow(&s->child, request.at + request.bytes));
    TRY(dm_hdf5_tell(&s->child, &request, sizeof request));
    TRY(dm_hdf5_hear(&s->child, &reply, sizeof reply, sizeof reply));
    TRY(dm_hdf5_take_reply(&s->child, &reply));
    memcpy(places, s->child.memory + request.at, (size_t)request.bytes);
    return DISTMAP_OK;
}

/* ---- The codec ---- */

static distmap_status open_by_child(distmap_reader *reader) {
    state *s = reader->state;
    dm_hdf5_opened opened;
    TRY(introduce(reader, &opened));
    TRY(take_info(reader, &opened));
    if (reader->raw.is)
        dm_hdf5_child_stop(&s->child, NULL, 0);
    else if (s->form.ours)
        return dm_hdf5_chunks_open(reader, &s->chunks, &s->form, locate);
    else if (reader->slice_bytes) {
        const int64_t part = largest_part(reader, 0, reader->info.shape[0]);
        reader->info.held_bytes += (size_t)(windows_for(s, part) * part);
    }
    return DISTMAP_OK;
}

static distmap_status hdf5_open(distmap_reader *reader) {
    if (dm_hdf5_in_process)
        return dm_hdf5_here_open(reader);
    state *s = reader->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(reader->input.name);
    s->child = dm_hdf5_child_of(reader->input.name, false);
    s->window_bytes = WINDOW_BYTES;
    return open_by_child(reader);
}

/* As the child and the caller's process do together. */
static distmap_status read_in_process(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    const dm_hdf5_set *s = reader->state;
    if (!s->form.ours) {
        const dm_hdf5_part part = {first, count, 0, reader->info.ndim > 1 ? reader->info.shape[1] : 1};
        return dm_hdf5_here_read(reader, &part, out);
    }
    dm_hdf5_chunks chunks;
    distmap_status status = dm_hdf5_chunks_open(reader, &chunks, &s->form, dm_hdf5_here_locate);
    if (!status)
        status = dm_hdf5_chunks_read(reader, &chunks, first, count, out);
    dm_hdf5_chunks_close(&chunks);
    return status;
}

static distmap_status hdf5_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    state *s = reader->state;
    if (reader->raw.is)
        return dm_raw_read(reader, first, count, out);
    if (dm_hdf5_in_process)
        return read_in_process(reader, first, count, out);
    if (s->form.ours)
        return dm_hdf5_chunks_read(reader, &s->chunks, first, count, out);
    TRY(wake(reader));
    return read_parts(reader, first, first + count, out);
}

static void hdf5_close(distmap_reader *reader) {
    if (dm_hdf5_in_process) {
        dm_hdf5_here_close(reader);
        return;
    }
    state *s = reader->state;
    if (s) {
        dm_hdf5_child_stop(&s->child, NULL, 0);
        dm_hdf5_chunks_close(&s->chunks);
    }
    free(s);
}

static const char *packings(const char *path) {
    (void)path;
    return "deflate none";
}

const dm_codec dm_codec_hdf5 = {
    .info = {.name = "hdf5",
             .endings = ".h5 .hdf5 .hdf",
             .reads = true,
             .writes = true,
             .summary = "HDF5, one dataset: FILE:/DATASET; chunks, any filter that libhdf5 has; written with gzip"},
    .sniff = hdf5_sniff,
    .by_name = true,
    .open = hdf5_open,
    .read = hdf5_read,
    .close = hdf5_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 1,
    .max_ndim = DISTMAP_MAX_AXES,
    .holds_empty = true,
    .holds_datasets = true,
    .packings = packings,
    .create = dm_hdf5_create,
    .write = dm_hdf5_write,
    .depth = dm_hdf5_depth,
    .pack = dm_hdf5_pack,
    .place = dm_hdf5_place,
    .finish = dm_hdf5_finish,
    .discard = dm_hdf5_discard,
};
