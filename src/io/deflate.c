/* Deflate streams: see deflate.h. deflate_engine.h compresses and decompresses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/deflate.h"
#include "io/deflate_engine.h"

enum { PACKED_BYTES = 1 << 17, SKIP_BYTES = 1 << 16, PIECE_BYTES = 1 << 18, MOST = 1 << 30 };

struct dm_inflate {
    dm_unpacker *unpacker;
    const dm_input *input;
    int64_t offset, bytes; /* of the stream, packed */
    int64_t taken;         /* of those */
    int64_t at;            /* unpacked so far */
    bool within;           /* a part of the stream has begun and not ended */
    const uint8_t *next;   /* in `packed` */
    size_t left;
    uint8_t packed[PACKED_BYTES], skipped[SKIP_BYTES];
};

dm_inflate *dm_inflate_open(const dm_input *input, int64_t offset, int64_t bytes) {
    dm_inflate *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    s->unpacker = dm_unpacker_make();
    s->input = input;
    s->offset = offset;
    s->bytes = bytes;
    s->taken = s->at = 0;
    s->within = false;
    s->next = s->packed;
    s->left = 0;
    if (!s->unpacker)
        dm_inflate_close(&s);
    return s;
}

static distmap_status broken(const dm_inflate *s) {
    return dm_broken(s->input, "its packed elements are truncated or broken");
}

static void rewind_stream(dm_inflate *s) {
    s->taken = s->at = 0;
    s->within = false;
    s->left = 0;
}

/* At least two more packed bytes, if there are any. */
static distmap_status refill(dm_inflate *s) {
    if (s->left > 1 || s->taken == s->bytes)
        return DISTMAP_OK;
    memmove(s->packed, s->next, s->left);
    const int64_t rest = s->bytes - s->taken, room = PACKED_BYTES - (int64_t)s->left, n = rest < room ? rest : room;
    TRY(dm_input_at(s->input, s->offset + s->taken, s->packed + s->left, (size_t)n));
    s->taken += n;
    s->next = s->packed;
    s->left += (size_t)n;
    return DISTMAP_OK;
}

/* The first part, or another one of gzip's; *more: there is one. What else follows a part does not count. */
static distmap_status start_part(dm_inflate *s, bool *more) {
    const bool gzip = s->left > 1 && s->next[0] == 0x1f && s->next[1] == 0x8b;
    *more = gzip || s->at == 0;
    if (!*more || s->left < 2)
        return *more ? broken(s) : DISTMAP_OK;
    s->within = dm_unpacker_start(s->unpacker, gzip);
    return s->within ? DISTMAP_OK : dm_no_memory(s->input->name);
}

/* Up to `room` bytes from where it stands; *got is 0 only at the end. */
static distmap_status inflate_some(dm_inflate *s, void *data, size_t room, size_t *got) {
    dm_flow flow = {.out = data, .out_bytes = room};
    *got = 0;
    while (!*got) {
        bool more = true;
        TRY(refill(s));
        if (!s->within)
            TRY(start_part(s, &more));
        if (!more)
            return DISTMAP_OK;
        const size_t before = s->left;
        flow.in = s->next;
        flow.in_bytes = before;
        const dm_flow_end end = dm_unpacker_run(s->unpacker, &flow);
        s->next = flow.in;
        s->left = flow.in_bytes;
        s->within = end != DM_FLOW_END;
        *got = room - flow.out_bytes;
        if (end == DM_FLOW_NO_MEMORY)
            return dm_no_memory(s->input->name);
        if (end == DM_FLOW_BROKEN || (s->within && !*got && s->left == before && (before > 1 || s->taken == s->bytes)))
            return broken(s);
        if (flow.back) { /* they are read again */
            s->taken -= (int64_t)(s->left + flow.back);
            s->left = 0;
        }
    }
    s->at += (int64_t)*got;
    return DISTMAP_OK;
}

distmap_status dm_inflate_read(dm_inflate *s, int64_t at, void *data, size_t bytes, int64_t whole) {
    size_t got;
    if (at < s->at)
        rewind_stream(s);
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
    return s->at == whole && s->within ? inflate_some(s, s->skipped, 1, &got) : DISTMAP_OK;
}

distmap_status dm_inflate_start(dm_inflate *s, void *data, size_t bytes, size_t *got) {
    size_t some = 1;
    rewind_stream(s);
    for (*got = 0; *got < bytes && some; *got += some)
        TRY(inflate_some(s, (char *)data + *got, bytes - *got, &some));
    return DISTMAP_OK;
}

void dm_inflate_close(dm_inflate **stream) {
    if (*stream)
        dm_unpacker_free((*stream)->unpacker);
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

/* What the packer is given at once decides about what it makes of it: so it is pieces of one length, however the elements come, and the
 * same elements are the same file. */
struct dm_deflate {
    dm_packer *packer;
    dm_output *output;
    int64_t packed;
    size_t gathered; /* in `piece` */
    uint8_t piece[PIECE_BYTES], buffer[PACKED_BYTES];
};

dm_deflate *dm_deflate_open(dm_output *output, bool gzip) {
    dm_deflate *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    s->packer = dm_packer_make(gzip);
    s->output = output;
    s->packed = 0;
    s->gathered = 0;
    if (!s->packer)
        dm_deflate_close(&s);
    return s;
}

static distmap_status deflate_all(dm_deflate *s, const uint8_t *from, size_t bytes, bool last) {
    dm_flow flow = {.in = from, .in_bytes = bytes};
    dm_flow_end end;
    do {
        flow.out = s->buffer;
        flow.out_bytes = PACKED_BYTES;
        end = dm_packer_run(s->packer, &flow, last);
        if (end == DM_FLOW_BROKEN) {
            s->output->error = EIO;
            return dm_output_failed(s->output);
        }
        TRY(dm_output_write(s->output, s->buffer, PACKED_BYTES - flow.out_bytes));
        s->packed += (int64_t)(PACKED_BYTES - flow.out_bytes);
    } while (last ? end != DM_FLOW_END : flow.in_bytes || !flow.out_bytes);
    return DISTMAP_OK;
}

distmap_status dm_deflate_write(dm_deflate *s, const void *data, size_t bytes) {
    for (const uint8_t *from = data; bytes;) {
        const size_t room = PIECE_BYTES - s->gathered, n = bytes < room ? bytes : room;
        if (n == PIECE_BYTES) {
            TRY(deflate_all(s, from, n, false));
        } else {
            memcpy(s->piece + s->gathered, from, n);
            s->gathered += n;
            if (s->gathered == PIECE_BYTES) {
                s->gathered = 0;
                TRY(deflate_all(s, s->piece, PIECE_BYTES, false));
            }
        }
        from += n;
        bytes -= n;
    }
    return DISTMAP_OK;
}

distmap_status dm_deflate_finish(dm_deflate *s, int64_t *packed) {
    TRY(deflate_all(s, s->piece, s->gathered, true));
    *packed = s->packed;
    return DISTMAP_OK;
}

void dm_deflate_close(dm_deflate **stream) {
    if (*stream)
        dm_packer_free((*stream)->packer);
    free(*stream);
    *stream = NULL;
}
