/* Reading NIfTI-1 and -2, plain and gzipped, of either byte order, in one file or in two. nifti_model.c says what headers mean.
 *
 * Elements are scaled by
 * slope * v + inter, in FP64, only where the header says something else than 1 and 0: to float32 where that holds the
 * stored type exactly, else to float64. gzipped files are read in order (deflate.c).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/convert.h"
#include "io/deflate.h"
#include "io/nifti.h"

typedef struct state {
    dm_inflate *gz; /* NULL: plain */
    dm_nifti header;
    distmap_dtype stored;
    bool scaled, colour; /* colour: three or four bytes */
    size_t stored_size;  /* of one element in the file */
    char chunk[1 << 16];
} state;

static bool nifti_sniff(const uint8_t *head, size_t bytes) {
    return (bytes >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8) || dm_nifti_is(head, bytes);
}

static distmap_status gz_open(distmap_reader *reader, state *s) {
    s->gz = dm_inflate_open(&reader->input, 0, reader->input.size);
    return s->gz ? DISTMAP_OK : dm_no_memory(reader->input.name);
}

/* ---- Opening ---- */

static distmap_status read_header(distmap_reader *reader, state *s) {
    uint8_t start[DM_NIFTI_START] = {0};
    uint8_t mark[2];
    size_t got;
    TRY(dm_input_at(&reader->input, 0, mark, 2));
    if (mark[0] == 0x1f && mark[1] == 0x8b) {
        TRY(gz_open(reader, s));
        TRY(dm_inflate_start(s->gz, start, sizeof start, &got));
    } else {
        TRY(dm_input_next(&reader->input, start, sizeof start, &got));
    }
    TRY(dm_nifti_parse(&reader->input, start, got, &s->header));
    return dm_native_add(reader, "nifti", "header", start, s->header.version == 1 ? DM_NIFTI_1 : DM_NIFTI_2);
}

/* NAME.img beside NAME.hdr, either of them gzipped, in whose place it comes. */
static distmap_status open_elements(distmap_reader *reader, state *s) {
    static const char *const headers[] = {".hdr", ".hdr.gz"}, *const endings[] = {".img", ".img.gz", ".IMG"};
    const char *file = reader->input.file;
    size_t stem = 0;
    for (int i = 0; i < 2; i++)
        if (dm_ends_with(file, headers[i]))
            stem = strlen(file) - strlen(headers[i]);
    if (!stem)
        return dm_broken(&reader->input, "is the header of a .hdr and .img pair, and not named so");
    char *name = malloc(stem + 8);
    if (!name)
        return dm_no_memory(reader->input.name);
    int found = -1;
    for (int i = 0; i < 3 && found < 0; i++) {
        sprintf(name, "%.*s%s", (int)stem, file, endings[i]);
        found = access(name, F_OK) ? -1 : i;
    }
    dm_input elements = {.fd = -1};
    distmap_status status = found < 0 ? dm_broken(&reader->input, "there is no %.*s.img beside it", (int)stem, file)
                                      : dm_input_open(&elements, name);
    free(name);
    if (status) {
        dm_input_close(&elements);
        return status;
    }
    dm_inflate_close(&s->gz);
    dm_input_close(&reader->input);
    reader->input = elements;
    uint8_t mark[2] = {0};
    size_t got;
    TRY(dm_input_next(&reader->input, mark, sizeof mark, &got));
    return mark[0] == 0x1f && mark[1] == 0x8b ? gz_open(reader, s) : DISTMAP_OK;
}

static distmap_status take_type(distmap_reader *reader, state *s) {
    const dm_nifti *h = &s->header;
    distmap_image_info *info = &reader->info;
    enum { RGB24 = 128, RGBA32 = 2304 };
    s->colour = h->datatype == RGB24 || h->datatype == RGBA32;
    if (s->colour)
        reader->info.samples = DM_SAMPLES_RGB | (h->datatype == RGBA32 ? DM_SAMPLES_ALPHA : 0u);
    s->stored = s->colour ? DISTMAP_UINT8 : dm_nifti_dtype(h->datatype);
    if (!s->stored)
        return dm_unsupported(
            &reader->input, "has elements of NIfTI type %d; integers, float32, float64 and RGB are read", h->datatype);
    s->stored_size = s->colour ? (h->datatype == RGB24 ? 3 : 4) : distmap_dtype_size(s->stored);
    s->scaled =
        !s->colour && isfinite(h->slope) && isfinite(h->inter) && h->slope != 0 && (h->slope != 1 || h->inter != 0);
    const bool small = distmap_dtype_size(s->stored) <= 2 || s->stored == DISTMAP_FLOAT32;
    info->dtype = !s->scaled ? s->stored : small ? DISTMAP_FLOAT32 : DISTMAP_FLOAT64;
    return DISTMAP_OK;
}

static distmap_status nifti_open(distmap_reader *reader) {
    state *s = reader->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(reader->input.name);
    TRY(read_header(reader, s));
    const dm_nifti *h = &s->header;
    TRY(take_type(reader, s));
    TRY(dm_nifti_take(reader, h));
    if (h->pair)
        TRY(open_elements(reader, s));
    char type[16] = "RGB";
    if (!s->colour)
        snprintf(type, sizeof type, "%s", distmap_dtype_name(s->stored));
    snprintf(reader->info.stored, sizeof reader->info.stored, "NIfTI-%d, %s, %s%s%s", h->version, type,
             h->swapped != DM_HOST_BIG ? "big-endian" : "little-endian", s->scaled ? ", scaled" : "",
             s->gz ? ", gzip" : "");
    dm_packing_take(&reader->info, s->gz ? "gzip" : "none");
    if (!s->gz && !s->scaled && !s->colour)
        return dm_raw_open(reader, h->offset, h->swapped, false);
    int64_t bytes;
    TRY(dm_shape_bytes(reader->input.name, reader->info.ndim, reader->info.shape, s->stored_size, &bytes));
    if (__builtin_add_overflow(bytes, h->offset, &bytes))
        return dm_broken(&reader->input, "absurd size");
    return dm_check_holds(&reader->input, bytes, s->gz ? DM_DEFLATE_RATIO : 1);
}

/* ---- Elements ---- */

/* `bytes` stored bytes from `at` on. */
static distmap_status read_stored(distmap_reader *reader, state *s, int64_t at, void *data, size_t bytes) {
    at += s->header.offset;
    if (!s->gz)
        return dm_input_at(&reader->input, at, data, bytes);
    return dm_inflate_read(s->gz, at, data, bytes,
                           s->header.offset + reader->info.shape[0] * reader->slice_elements * (int64_t)s->stored_size);
}

#define SCALE(type)                                 \
    for (size_t i = 0; i < count; i++) {            \
        type v;                                     \
        memcpy(&v, from + i * sizeof v, sizeof v);  \
        const double r = slope * (double)v + inter; \
        if (narrow)                                 \
            ((float *)out)[i] = (float)r;           \
        else                                        \
            ((double *)out)[i] = r;                 \
    }                                               \
    break
static void scale(const state *s, const char *from, size_t count, bool narrow, char *out) {
    const double slope = s->header.slope, inter = s->header.inter;
    switch (s->stored) {
    case DISTMAP_INT8: SCALE(int8_t);
    case DISTMAP_UINT8: SCALE(uint8_t);
    case DISTMAP_INT16: SCALE(int16_t);
    case DISTMAP_UINT16: SCALE(uint16_t);
    case DISTMAP_INT32: SCALE(int32_t);
    case DISTMAP_UINT32: SCALE(uint32_t);
    case DISTMAP_INT64: SCALE(int64_t);
    case DISTMAP_UINT64: SCALE(uint64_t);
    case DISTMAP_FLOAT32: SCALE(float);
    default: SCALE(double);
    }
}
#undef SCALE

static void convert(const state *s, int sample, char *from, size_t count, bool narrow, char *out) {
    if (s->colour) {
        const uint8_t *p = (const uint8_t *)from;
        for (size_t i = 0; i < count; i++, p += s->stored_size)
            out[i] = (char)dm_sample_of(sample, p[0], p[1], p[2], s->stored_size == 4 ? p[3] : 255);
        return;
    }
    if (s->header.swapped)
        dm_swap(from, count, s->stored_size);
    scale(s, from, count, narrow, out);
}

static distmap_status nifti_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    state *s = reader->state;
    if (reader->raw.is)
        return dm_raw_read(reader, first, count, out);
    const int64_t elements = count * reader->slice_elements;
    int64_t at = first * reader->slice_elements * (int64_t)s->stored_size;
    if (!s->scaled && !s->colour) {
        TRY(read_stored(reader, s, at, out, (size_t)elements * s->stored_size));
        if (s->header.swapped)
            dm_swap(out, (size_t)elements, s->stored_size);
        return DISTMAP_OK;
    }
    const int64_t room = (int64_t)(sizeof s->chunk / s->stored_size);
    const size_t size = distmap_dtype_size(reader->info.dtype);
    for (int64_t done = 0; done < elements;) {
        const int64_t n = elements - done < room ? elements - done : room;
        TRY(read_stored(reader, s, at, s->chunk, (size_t)n * s->stored_size));
        convert(s, (int)reader->info.sample, s->chunk, (size_t)n, reader->info.dtype == DISTMAP_FLOAT32,
                (char *)out + (size_t)done * size);
        done += n;
        at += n * (int64_t)s->stored_size;
    }
    return DISTMAP_OK;
}

static const char *packings(const char *path) { return dm_ends_with(path, ".gz") ? "deflate" : "none"; }

static void nifti_close(distmap_reader *reader) {
    state *s = reader->state;
    if (s)
        dm_inflate_close(&s->gz);
    free(s);
}

const dm_codec dm_codec_nifti = {
    .info = {.name = "nifti",
             .endings = ".nii .nii.gz .hdr",
             .reads = true,
             .writes = true,
             .summary =
                 "NIfTI-1 and -2, in one file or .hdr and .img; sform, qform, units kept; scaled; memory-mapped when "
                 "not gzipped"},
    .sniff = nifti_sniff,
    .open = nifti_open,
    .read = nifti_read,
    .close = nifti_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 1,
    .max_ndim = 7,
    .packings = packings,
    .create = dm_nifti_create,
    .write = dm_nifti_write,
    .finish = dm_nifti_finish,
    .discard = dm_nifti_discard,
};
