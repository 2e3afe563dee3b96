/* Deflate streams by ISA-L: two to five times as fast as zlib. Its level 1 shrinks volumes of distances about as far as zlib's level 3. */
#include <isa-l.h>
#include <stdlib.h>

#include "io/deflate_engine.h"

struct dm_unpacker {
    struct inflate_state s;
};

dm_unpacker *dm_unpacker_make(void) { return calloc(1, sizeof(dm_unpacker)); }

bool dm_unpacker_start(dm_unpacker *u, bool gzip) {
    isal_inflate_init(&u->s);
    u->s.crc_flag = gzip ? ISAL_GZIP : ISAL_ZLIB;
    return true;
}

dm_flow_end dm_unpacker_run(dm_unpacker *u, dm_flow *flow) {
    u->s.next_in = (uint8_t *)flow->in; /* only read */
    u->s.avail_in = (uint32_t)flow->in_bytes;
    u->s.next_out = flow->out;
    u->s.avail_out = (uint32_t)flow->out_bytes;
    const int code = isal_inflate(&u->s);
    flow->in = u->s.next_in;
    flow->in_bytes = u->s.avail_in;
    flow->out = u->s.next_out;
    flow->out_bytes = u->s.avail_out;
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT && code != ISAL_OUT_OVERFLOW)
        return DM_FLOW_BROKEN;
    if (u->s.block_state != ISAL_BLOCK_FINISH)
        return DM_FLOW_MORE;
    flow->back = u->s.read_in_length > 0 ? (size_t)u->s.read_in_length / 8 : 0; /* whole bytes among its bits */
    return DM_FLOW_END;
}

void dm_unpacker_free(dm_unpacker *u) { free(u); }

struct dm_packer {
    struct isal_zstream z;
    uint8_t room[ISAL_DEF_LVL1_DEFAULT];
};

dm_packer *dm_packer_make(bool gzip) {
    dm_packer *p = malloc(sizeof *p);
    if (!p)
        return NULL;
    isal_deflate_init(&p->z);
    p->z.level = 1;
    p->z.level_buf = p->room;
    p->z.level_buf_size = sizeof p->room;
    p->z.gzip_flag = gzip ? IGZIP_GZIP : IGZIP_ZLIB;
    return p;
}

dm_flow_end dm_packer_run(dm_packer *p, dm_flow *flow, bool last) {
    p->z.next_in = (uint8_t *)flow->in; /* only read */
    p->z.avail_in = (uint32_t)flow->in_bytes;
    p->z.next_out = flow->out;
    p->z.avail_out = (uint32_t)flow->out_bytes;
    p->z.end_of_stream = last;
    p->z.flush = NO_FLUSH;
    if (isal_deflate(&p->z) != COMP_OK)
        return DM_FLOW_BROKEN;
    flow->in = p->z.next_in;
    flow->in_bytes = p->z.avail_in;
    flow->out = p->z.next_out;
    flow->out_bytes = p->z.avail_out;
    return p->z.internal_state.state == ZSTATE_END ? DM_FLOW_END : DM_FLOW_MORE;
}

void dm_packer_free(dm_packer *p) { free(p); }
