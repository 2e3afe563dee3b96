/* Deflate streams, by zlib: see deflate.h.
 *
 * Level 3 as in NIfTI: volumes of distances shrink little more at higher ones, at several times the time.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/convert.h"
#include "io/deflate.h"

enum { PACKED_BYTES = 1 << 17, SKIP_BYTES = 1 << 16, LEVEL = 3, WINDOW = 15, GZIP = 16, EITHER = 32, MOST = 1 << 30 };

struct dm_inflate {
    z_stream z;
    const dm_input *input;
    int64_t offset, bytes; /* of the stream, packed */
    int64_t taken;         /* of those */
    int64_t at;            /* unpacked so far */
    bool begun, ended;     /* ended: at the end of the stream, or of the last part */
    uint8_t packed[PACKED_BYTES];
    uint8_t skipped[SKIP_BYTES];
};

dm_inflate *dm_inflate_open(const dm_input *input, int64_t offset, int64_t bytes) {
    dm_inflate *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    memset(&s->z, 0, sizeof s->z);
    s->input = input;
    s->offset = offset;
    s->bytes = bytes;
    s->taken = s->at = 0;
    s->begun = s->ended = false;
    if (inflateInit2(&s->z, WINDOW + EITHER) == Z_OK)
        return s;
    free(s);
    return NULL;
}

static distmap_status broken(const dm_inflate *s) {
    return dm_broken(s->input, "its packed elements are truncated or broken%s%s", s->z.msg ? ": " : "",
                     s->z.msg ? s->z.msg : "");
}

static distmap_status rewind_stream(dm_inflate *s) {
    if (inflateReset2(&s->z, WINDOW + EITHER) != Z_OK)
        return dm_no_memory(s->input->name);
    s->z.avail_in = 0;
    s->taken = s->at = 0;
    s->begun = s->ended = false;
    return DISTMAP_OK;
}

/* More packed bytes, if there are any. */
static distmap_status refill(dm_inflate *s) {
    if (s->z.avail_in || s->taken == s->bytes)
        return DISTMAP_OK;
    const int64_t left = s->bytes - s->taken, n = left < PACKED_BYTES ? left : PACKED_BYTES;
    TRY(dm_input_at(s->input, s->offset + s->taken, s->packed, (size_t)n));
    s->taken += n;
    s->z.next_in = s->packed;
    s->z.avail_in = (uInt)n;
    return DISTMAP_OK;
}

/* Up to `room` bytes from where it stands; *got is 0 only at the end. */
static distmap_status inflate_some(dm_inflate *s, void *data, size_t room, size_t *got) {
    s->z.next_out = data;
    s->z.avail_out = (uInt)room;
    *got = 0;
    for (;;) {
        TRY(refill(s));
        if (s->ended) { /* another part of gzip's follows, or nothing that counts */
            if (s->z.avail_in < 2 || s->z.next_in[0] != 0x1f || s->z.next_in[1] != 0x8b)
                return DISTMAP_OK;
            if (inflateReset(&s->z) != Z_OK)
                return dm_no_memory(s->input->name);
            s->ended = false;
        }
        const int code = inflate(&s->z, Z_NO_FLUSH);
        s->ended = code == Z_STREAM_END;
        *got = room - s->z.avail_out;
        if (code == Z_MEM_ERROR)
            return dm_no_memory(s->input->name);
        if (!s->ended && code != Z_OK && code != Z_BUF_ERROR)
            return broken(s);
        if (!s->z.avail_out || (*got && s->ended))
            break;
        if (!s->ended && !s->z.avail_in && s->taken == s->bytes)
            return broken(s);
    }
    s->at += (int64_t)*got;
    return DISTMAP_OK;
}

distmap_status dm_inflate_read(dm_inflate *s, int64_t at, void *data, size_t bytes, int64_t whole) {
    size_t got;
    if (at < s->at)
        TRY(rewind_stream(s));
    while (s->at < at) {
        TRY(inflate_some(s, s->skipped, at - s->at < SKIP_BYTES ? (size_t)(at - s->at) : SKIP_BYTES, &got));
        if (!got)
            return broken(s);
    }
    char *to = data;
    while (bytes) {
        TRY(inflate_some(s, to, bytes < MOST ? bytes : MOST, &got));
        if (!got)
            return broken(s);
        to += got;
        bytes -= got;
    }
    if (s->at != whole)
        return DISTMAP_OK;
    TRY(inflate_some(s, s->skipped, 1, &got));
    return DISTMAP_OK;
}

void dm_inflate_close(dm_inflate **stream) {
    if (*stream)
        inflateEnd(&(*stream)->z);
    free(*stream);
    *stream = NULL;
}

/* ---- Elements ---- */

typedef struct elements {
    dm_inflate *stream;
    int64_t skip;
    bool swapped;
} elements;

distmap_status dm_packed_open(distmap_reader *reader, int64_t offset, int64_t bytes, int64_t skip, bool swapped) {
    elements *p = reader->state = calloc(1, sizeof *p);
    if (!p)
        return dm_no_memory(reader->input.name);
    p->skip = skip;
    p->swapped = swapped;
    p->stream = dm_inflate_open(&reader->input, offset, bytes);
    return p->stream ? DISTMAP_OK : dm_no_memory(reader->input.name);
}

distmap_status dm_packed_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    const elements *p = reader->state;
    const int64_t slice = (int64_t)reader->slice_bytes;
    TRY(dm_inflate_read(p->stream, p->skip + first * slice, out, (size_t)(count * slice),
                        p->skip + reader->info.shape[0] * slice));
    if (p->swapped)
        dm_swap(out, (size_t)(count * reader->slice_elements), distmap_dtype_size(reader->info.dtype));
    return DISTMAP_OK;
}

void dm_packed_close(distmap_reader *reader) {
    elements *p = reader->state;
    if (p)
        dm_inflate_close(&p->stream);
    free(p);
}

/* ---- Writing ---- */

struct dm_deflate {
    z_stream z;
    dm_output *output;
    int64_t packed;
    uint8_t buffer[PACKED_BYTES];
};

dm_deflate *dm_deflate_open(dm_output *output, bool gzip) {
    enum { MEMORY = 8 };
    dm_deflate *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    memset(&s->z, 0, sizeof s->z);
    s->output = output;
    s->packed = 0;
    if (deflateInit2(&s->z, LEVEL, Z_DEFLATED, WINDOW + (gzip ? GZIP : 0), MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
        return s;
    free(s);
    return NULL;
}

static distmap_status deflate_all(dm_deflate *s, int flush) {
    int code = Z_OK;
    do {
        s->z.next_out = s->buffer;
        s->z.avail_out = PACKED_BYTES;
        code = deflate(&s->z, flush);
        const size_t n = PACKED_BYTES - s->z.avail_out;
        TRY(dm_output_write(s->output, s->buffer, n));
        s->packed += (int64_t)n;
    } while (flush == Z_FINISH ? code != Z_STREAM_END : !s->z.avail_out);
    return DISTMAP_OK;
}

distmap_status dm_deflate_write(dm_deflate *s, const void *data, size_t bytes) {
    const uint8_t *from = data;
    while (bytes) {
        const size_t n = bytes < MOST ? bytes : MOST;
        s->z.next_in = (Bytef *)from; /* only read */
        s->z.avail_in = (uInt)n;
        TRY(deflate_all(s, Z_NO_FLUSH));
        from += n;
        bytes -= n;
    }
    return DISTMAP_OK;
}

distmap_status dm_deflate_finish(dm_deflate *s, int64_t *packed) {
    TRY(deflate_all(s, Z_FINISH));
    *packed = s->packed;
    return DISTMAP_OK;
}

void dm_deflate_close(dm_deflate **stream) {
    if (*stream)
        deflateEnd(&(*stream)->z);
    free(*stream);
    *stream = NULL;
}
