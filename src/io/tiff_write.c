/* Writing TIFF: strips, one page per plane of a stack, BigTIFF when it would pass 4 GB; compressed where that is asked for, or the input was.
 *
 * bool is 1 bit, min-is-black. Bands come in any height: a strip that lies whole in a band is written from there, others
 * are gathered first. Strips are packed by several threads, some of them at a time, and written in order. Pages are planes in the order in which they come. Where ImageJ, whose pages have channels fastest, then slices,
 * then times, would take them for others, the chain of directories is put into its order at the end: a directory tells where the
 * next one is. And programs that see ImageJ's text (tifffile) take all planes to follow the first one with nothing between, where
 * its strips do; so there is a gap between those, or they are compressed. Bands of a map, and of what has been bands in the input, are samples of one page, each in a plane of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/threads.h"
#include "io/tiff_pack.h"

/* Classic TIFF has 32-bit offsets; what is left is for the directories and strip tables. */
#define CLASSIC_BYTES INT64_C(4000000000)
enum { STRIP_BYTES = 1 << 18, PAGE_BYTES = 1024, BATCH = 64 };

typedef struct state {
    dm_tiff file;
    dm_tiff_form form;
    int64_t pages;
    int64_t strip_rows;         /* of every strip but a page's last */
    int64_t strips;             /* of a page, or of a band */
    int64_t page, strip;        /* to be written next */
    int64_t row;                /* of its page: the next one that comes */
    size_t row_bytes;           /* as stored */
    uint8_t *rows;              /* of a strip that is not whole yet */
    int64_t gathered;           /* how many it holds */
    int64_t bands;              /* of one page, instead of pages; 0: none */
    bool is_imagej;             /* a stack with its text */
    bool moves;                 /* directories are to be put in its order */
    dm_tiff_strip batch[BATCH]; /* whole, and not written yet */
    int waiting;
} state;

static distmap_status failed(const distmap_writer *writer) {
    const state *s = writer->state;
    if (writer->output.error)
        return dm_output_failed(&writer->output);
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: %s", writer->output.name, s->file.message);
}

static int64_t height_of(const distmap_image_info *info) { return info->shape[info->ndim - 2]; }
static int64_t width_of(const distmap_image_info *info) { return info->shape[info->ndim - 1]; }

/* ---- Its form ---- */

/* At most one axis each of time, channel and space before y and x, or of a map one of whatever its pages are. */
static bool takes_axes(const distmap_image_info *info) {
    const int lead = info->ndim - 2;
    if (info->axis[lead].type != DISTMAP_AXIS_SPACE || info->axis[lead + 1].type != DISTMAP_AXIS_SPACE)
        return false;
    for (int a = 0; a < lead; a++) {
        if (info->axis[a].type == DISTMAP_AXIS_OTHER && (lead > 1 || !dm_tiff_geo_is(info)))
            return false;
        for (int b = 0; b < a; b++)
            if (info->axis[a].type == info->axis[b].type)
                return false;
    }
    return true;
}

static bool are_bands(const distmap_writer *writer) {
    const distmap_image_info *info = &writer->info;
    return info->ndim == 3 && info->axis[0].type == DISTMAP_AXIS_CHANNEL && info->shape[0] <= UINT16_MAX &&
           (dm_tiff_geo_is(info) || dm_native_find(info, "tiff", "bands")) && !dm_ome_wanted(writer) &&
           info->dtype != DISTMAP_BOOL;
}

/* Where plane `page`, as it comes, is in ImageJ's order. */
static int64_t rank_of(const distmap_image_info *info, int64_t page) {
    static const distmap_axis_type slowest_first[] = {DISTMAP_AXIS_TIME, DISTMAP_AXIS_SPACE, DISTMAP_AXIS_CHANNEL};
    int64_t place[DISTMAP_MAX_AXES], rank = 0;
    for (int a = info->ndim - 3; a >= 0; a--) {
        place[a] = page % info->shape[a];
        page /= info->shape[a];
    }
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < info->ndim - 2; a++)
            if (info->axis[a].type == slowest_first[k])
                rank = rank * info->shape[a] + place[a];
    return rank;
}

static bool moves(const distmap_writer *writer, const state *s) {
    for (int64_t p = 0; p < s->pages; p++)
        if (rank_of(&writer->info, p) != p)
            return true;
    return false;
}

/* The text of the first page, and a map's place. */
static distmap_status describe(distmap_writer *writer, state *s) {
    distmap_image_info page = writer->info;
    if (s->bands || page.axis[0].type == DISTMAP_AXIS_OTHER)
        dm_image_drop_axis(&page, 0, 0);
    if (dm_ome_wanted(writer))
        TRY(dm_ome_write(writer, &s->file));
    else if (page.ndim > 2 || !dm_tiff_geo_is(&page))
        dm_tiff_spacing_write(&s->file, &page);
    return dm_tiff_geo_write(writer, &s->file);
}

/* The tags of the page that begins. */
static distmap_status begin_page(distmap_writer *writer, state *s) {
    TIFF *t = s->file.tiff;
    const distmap_image_info *info = &writer->info;
    bool *refused = &s->file.refused;
    dm_tiff_form_set(t, refused, &s->form, (uint32_t)s->strip_rows);
    dm_tiff_set(t, refused, TIFFTAG_IMAGELENGTH, (uint32_t)height_of(info));
    dm_tiff_set(t, refused, TIFFTAG_SAMPLESPERPIXEL, s->bands ? (int)s->bands : 1);
    dm_tiff_set(t, refused, TIFFTAG_PLANARCONFIG, s->bands > 1 ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (s->bands > 1) {
        uint16_t *kinds = calloc((size_t)s->bands, sizeof *kinds); /* unspecified */
        if (!kinds)
            return dm_no_memory(writer->output.name);
        dm_tiff_set(t, refused, TIFFTAG_EXTRASAMPLES, (int)s->bands - 1, kinds);
        free(kinds);
    }
    if (!s->page)
        TRY(describe(writer, s));
    return *refused ? failed(writer) : DISTMAP_OK;
}

distmap_status dm_tiff_create(distmap_writer *writer) {
    const distmap_image_info *info = &writer->info;
    if (!writer->output.target)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: tiff needs a regular file to write to",
                                 writer->output.name);
    if (width_of(info) > UINT32_MAX || height_of(info) > UINT32_MAX)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: tiff holds at most 2^32 - 1 rows and columns",
                                 writer->output.name);
    if (!takes_axes(info))
        return dm_axes_refused(writer, "t c z (each may be missing, in any order) y x");
    state *s = writer->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(writer->output.name);
    s->pages = 1;
    for (int a = 0; a < info->ndim - 2; a++)
        s->pages *= info->shape[a];
    uint16_t compression = dm_tiff_compression(info->packing);
    if (are_bands(writer)) {
        s->bands = s->pages;
        s->pages = 1;
    }
    s->is_imagej = !s->bands && info->ndim > 2 && info->axis[0].type != DISTMAP_AXIS_OTHER && !dm_ome_wanted(writer);
    s->moves = s->is_imagej && moves(writer, s);
    const size_t width = (size_t)width_of(info);
    s->row_bytes = info->dtype == DISTMAP_BOOL ? (width + 7) / 8 : width * distmap_dtype_size(info->dtype);
    s->strip_rows = (int64_t)(STRIP_BYTES / s->row_bytes) + 1;
    if (s->strip_rows > height_of(info))
        s->strip_rows = height_of(info);
    if (s->is_imagej && s->pages > 1 && compression == COMPRESSION_NONE) {
        if (height_of(info) == 1)
            compression = COMPRESSION_ADOBE_DEFLATE;
        else if (s->strip_rows == height_of(info))
            s->strip_rows = (s->strip_rows + 1) / 2;
    }
    s->strips = (height_of(info) + s->strip_rows - 1) / s->strip_rows;
    s->form = dm_tiff_form_of(info, compression);
    if (!(s->rows = malloc((size_t)s->strip_rows * s->row_bytes)))
        return dm_no_memory(writer->output.name);
    const int64_t bytes = (int64_t)writer->slice_bytes * info->shape[0] + s->pages * PAGE_BYTES;
    TRY(dm_tiff_open_output(&s->file, &writer->output, bytes > CLASSIC_BYTES));
    return begin_page(writer, s);
}

/* ---- Strips ---- */

static distmap_status put(distmap_writer *writer, state *s, const void *data, size_t bytes) {
    static const char gap[8] = {0};
    if (s->strip == s->strips) {
        if (!s->bands && !TIFFWriteDirectory(s->file.tiff))
            return failed(writer);
        s->page++;
        s->strip = 0;
        if (!s->bands)
            TRY(begin_page(writer, s));
    }
    if (s->is_imagej && !s->page && s->strip == 1)
        TRY(dm_output_write(&writer->output, gap, sizeof gap));
    const uint32_t number = (uint32_t)((s->bands ? s->page * s->strips : 0) + s->strip++);
    return TIFFWriteRawStrip(s->file.tiff, number, (void *)data, (tmsize_t)bytes) < 0 ? failed(writer) : DISTMAP_OK;
}

static distmap_status pack(void *user, int worker, int64_t part) {
    (void)worker;
    const distmap_writer *writer = user;
    state *s = writer->state;
    dm_tiff_strip *strip = &s->batch[part];
    return dm_tiff_pack(writer->output.name, &s->form, strip->count * s->row_bytes, strip);
}

/* Writes the strips that wait. */
static distmap_status put_batch(distmap_writer *writer, state *s) {
    const bool packs = s->form.compression != COMPRESSION_NONE;
    distmap_status status = packs ? dm_threads_each(s->waiting, dm_threads(), pack, writer) : DISTMAP_OK;
    for (int i = 0; i < s->waiting; i++) {
        dm_tiff_strip *strip = &s->batch[i];
        if (!status)
            status = packs ? put(writer, s, strip->packed, strip->packed_bytes)
                           : put(writer, s, strip->rows, strip->count * s->row_bytes);
        free(strip->packed);
        strip->packed = NULL;
    }
    s->waiting = 0;
    return status;
}

static distmap_status add_strip(distmap_writer *writer, state *s, const void *rows, int64_t count) {
    s->batch[s->waiting++] = (dm_tiff_strip){.rows = rows, .count = (uint32_t)count};
    return s->waiting == BATCH ? put_batch(writer, s) : DISTMAP_OK;
}

distmap_status dm_tiff_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    const distmap_image_info *info = &writer->info;
    const size_t width = (size_t)width_of(info), row_bytes = width * distmap_dtype_size(info->dtype);
    const char *from = slices;
    for (int64_t left = (int64_t)((size_t)count * writer->slice_bytes / row_bytes), taken; left; left -= taken) {
        if (s->row == height_of(info))
            s->row = 0;
        const int64_t begin = s->row - s->gathered; /* of the strip */
        const int64_t rows = height_of(info) - begin < s->strip_rows ? height_of(info) - begin : s->strip_rows;
        if (!s->gathered && left >= rows && info->dtype != DISTMAP_BOOL) {
            taken = rows;
            TRY(add_strip(writer, s, from, rows));
        } else {
            uint8_t *to = s->rows + (size_t)s->gathered * s->row_bytes;
            if (info->dtype == DISTMAP_BOOL)
                dm_bits_pack((const uint8_t *)from, width, 0, to);
            else
                memcpy(to, from, row_bytes);
            taken = 1;
            if (++s->gathered == rows) {
                s->gathered = 0;
                TRY(add_strip(writer, s, s->rows, rows));
                TRY(put_batch(writer, s)); /* the rows' place is needed */
            }
        }
        s->row += taken;
        from += (size_t)taken * row_bytes;
    }
    return put_batch(writer, s);
}

/* ---- The chain of directories ---- */

/* Numbers of the file are in the host's byte order. */
static uint64_t number_at(const distmap_writer *writer, int64_t at, size_t bytes) {
    uint64_t eight = 0;
    uint32_t four = 0;
    uint16_t two = 0;
    void *to = bytes == 8 ? (void *)&eight : bytes == 4 ? (void *)&four : (void *)&two;
    if (dm_read_at(writer->output.fd, at, to, bytes) != (int64_t)bytes)
        return 0;
    return bytes == 8 ? eight : bytes == 4 ? four : two;
}

static distmap_status link_to(distmap_writer *writer, int64_t at, uint64_t offset, bool big) {
    const uint32_t four = (uint32_t)offset;
    return dm_output_write_at(&writer->output, at, big ? (const void *)&offset : (const void *)&four, big ? 8 : 4);
}

/* A directory is a count of entries, these, and where the next directory is. */
static distmap_status put_in_order(distmap_writer *writer, const state *s) {
    const bool big = number_at(writer, 2, 2) == 43;
    const int64_t head = big ? 8 : 4, count_bytes = big ? 8 : 2, entry_bytes = big ? 20 : 12;
    uint64_t *offset = calloc((size_t)s->pages, sizeof *offset);
    int64_t *next = calloc((size_t)s->pages, sizeof *next), *at_rank = calloc((size_t)s->pages, sizeof *at_rank);
    distmap_status status = offset && next && at_rank ? DISTMAP_OK : dm_no_memory(writer->output.name);
    int64_t from = head;
    for (int64_t p = 0; !status && p < s->pages; p++) {
        offset[p] = number_at(writer, from, big ? 8 : 4);
        from = next[p] = (int64_t)offset[p] + count_bytes +
                         entry_bytes * (int64_t)number_at(writer, (int64_t)offset[p], (size_t)count_bytes);
        at_rank[rank_of(&writer->info, p)] = p;
        if (!offset[p])
            status = distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read what was written", writer->output.name);
    }
    for (int64_t r = 0; !status && r < s->pages; r++)
        status = link_to(writer, r ? next[at_rank[r - 1]] : head, offset[at_rank[r]], big);
    if (!status)
        status = link_to(writer, next[at_rank[s->pages - 1]], 0, big);
    free(offset);
    free(next);
    free(at_rank);
    return status;
}

distmap_status dm_tiff_finish(distmap_writer *writer) {
    state *s = writer->state;
    if (!TIFFWriteDirectory(s->file.tiff) || writer->output.error)
        return failed(writer);
    return s->moves ? put_in_order(writer, s) : DISTMAP_OK;
}

void dm_tiff_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (!s)
        return;
    dm_tiff_close(&s->file);
    free(s->rows);
    free(s);
}
