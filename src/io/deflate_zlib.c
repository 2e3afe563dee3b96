/* Deflate streams by zlib. Level 3 as in NIfTI: volumes of distances shrink little more at higher ones, at several times the time. */
#include <stdlib.h>
#include <zlib.h>

#include "io/deflate_engine.h"

enum { LEVEL = 3, WINDOW = 15, GZIP = 16, MEMORY = 8 };

struct dm_unpacker {
    z_stream z;
};

dm_unpacker *dm_unpacker_make(void) {
    dm_unpacker *u = calloc(1, sizeof *u);
    if (u && inflateInit2(&u->z, WINDOW) == Z_OK)
        return u;
    free(u);
    return NULL;
}

bool dm_unpacker_start(dm_unpacker *u, bool gzip) { return inflateReset2(&u->z, WINDOW + (gzip ? GZIP : 0)) == Z_OK; }

static void give(z_stream *z, const dm_flow *flow) {
    z->next_in = (Bytef *)flow->in; /* only read */
    z->avail_in = (uInt)flow->in_bytes;
    z->next_out = flow->out;
    z->avail_out = (uInt)flow->out_bytes;
}

static void take(const z_stream *z, dm_flow *flow) {
    flow->in = z->next_in;
    flow->in_bytes = z->avail_in;
    flow->out = z->next_out;
    flow->out_bytes = z->avail_out;
}

dm_flow_end dm_unpacker_run(dm_unpacker *u, dm_flow *flow) {
    give(&u->z, flow);
    const int code = inflate(&u->z, Z_NO_FLUSH);
    take(&u->z, flow);
    return code == Z_STREAM_END                  ? DM_FLOW_END
           : code == Z_OK || code == Z_BUF_ERROR ? DM_FLOW_MORE
           : code == Z_MEM_ERROR                 ? DM_FLOW_NO_MEMORY
                                                 : DM_FLOW_BROKEN;
}

void dm_unpacker_free(dm_unpacker *u) {
    if (u)
        inflateEnd(&u->z);
    free(u);
}

struct dm_packer {
    z_stream z;
};

dm_packer *dm_packer_make(bool gzip) {
    dm_packer *p = calloc(1, sizeof *p);
    if (p && deflateInit2(&p->z, LEVEL, Z_DEFLATED, WINDOW + (gzip ? GZIP : 0), MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
        return p;
    free(p);
    return NULL;
}

dm_flow_end dm_packer_run(dm_packer *p, dm_flow *flow, bool last) {
    give(&p->z, flow);
    const int code = deflate(&p->z, last ? Z_FINISH : Z_NO_FLUSH);
    take(&p->z, flow);
    return code == Z_STREAM_END ? DM_FLOW_END : DM_FLOW_MORE;
}

void dm_packer_free(dm_packer *p) {
    if (p)
        deflateEnd(&p->z);
    free(p);
}
