/* Version 3's codecs: first those that turn axes, then one that makes bytes of elements (or of smaller chunks), then packers.
 *
 * Each is a row of a table, whose function takes the codec's configuration into the pipeline. Packers are rows of another one
 * (zarr_packers.c).
 */
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/zarr.h"

enum stage { TURNING, MAKING_BYTES, PACKING };

/* What a pipeline is made of, and how far that is. */
typedef struct parsing {
    const dm_input *input;
    const dm_zarr *form;
    const int64_t *chunk;
    int depth;
    enum stage stage;
    dm_zarr_pipeline *pipeline;
} parsing;

static distmap_status take_codecs(const dm_input *input, json_object *codecs, const dm_zarr *form,
                                  const int64_t chunk[DISTMAP_MAX_AXES], int depth, dm_zarr_pipeline *pipeline);

/* ---- transpose: axis i of what is stored is axis order[i] of what there was ---- */

static distmap_status take_transpose(parsing *p, json_object *configuration) {
    const dm_zarr *form = p->form;
    json_object *order = dm_zarr_member(configuration, "order");
    int64_t places[DISTMAP_MAX_AXES];
    unsigned seen = 0;
    if (!dm_zarr_take_lengths(order, 0, form->ndim, places))
        return dm_broken(p->input, "the order of its codec transpose is no list of its axes");
    for (int a = 0; a < form->ndim; a++)
        seen |= places[a] < form->ndim ? 1u << places[a] : 0;
    if (seen != (1u << form->ndim) - 1)
        return dm_broken(p->input, "the order of its codec transpose has not every axis once");
    int before[DISTMAP_MAX_AXES];
    const int first = DISTMAP_MAX_AXES - form->ndim;
    memcpy(before, p->pipeline->order, sizeof before);
    for (int a = 0; a < form->ndim; a++)
        p->pipeline->order[first + a] = before[first + places[a]];
    return DISTMAP_OK;
}

/* ---- bytes: elements in a byte order ---- */

static distmap_status take_endian(const parsing *p, json_object *configuration, size_t size, bool *swapped) {
    json_object *endian = dm_zarr_member(configuration, "endian");
    const char *name = dm_zarr_text(endian);
    const bool big = strcmp(name, "big") == 0;
    if ((endian || size > 1) && !big && strcmp(name, "little") != 0)
        return dm_broken(p->input, "the endian of its codec bytes is neither little nor big");
    *swapped = size > 1 && big != DM_HOST_BIG;
    return DISTMAP_OK;
}

static distmap_status take_bytes(parsing *p, json_object *configuration) {
    return take_endian(p, configuration, p->form->size, &p->pipeline->swapped);
}

/* ---- sharding_indexed: smaller chunks ---- */

/* Only codecs that keep the length, so that it is known where the index is. */
static distmap_status take_index_codecs(const parsing *p, json_object *codecs, dm_zarr_shard *shard) {
    const size_t count = json_object_is_type(codecs, json_type_array) ? json_object_array_length(codecs) : 0;
    bool made = false;
    for (size_t i = 0; i < count; i++) {
        json_object *codec = json_object_array_get_idx(codecs, i);
        const char *name = dm_zarr_name(codec);
        if (!made && strcmp(name, "bytes") == 0) {
            made = true;
            TRY(take_endian(p, dm_zarr_member(codec, "configuration"), 8, &shard->index_swapped));
        } else if (made && !shard->index_summed && strcmp(name, "crc32c") == 0)
            shard->index_summed = true;
        else
            return dm_unsupported(p->input, "has the codec %.48s in its index_codecs; bytes, crc32c are read", name);
    }
    return made ? DISTMAP_OK : dm_broken(p->input, "its codec sharding_indexed tells no index_codecs");
}

static distmap_status take_shard(parsing *p, json_object *configuration) {
    const dm_zarr *form = p->form;
    dm_zarr_pipeline *pipeline = p->pipeline;
    json_object *location = dm_zarr_member(configuration, "index_location");
    const char *where = location ? dm_zarr_text(location) : "end";
    if (p->depth == DM_ZARR_SHARDS)
        return dm_unsupported(p->input, "has shards in shards, more than %d deep", DM_ZARR_SHARDS);
    dm_zarr_shard *shard = pipeline->shard = calloc(1, sizeof *shard);
    if (!shard)
        return dm_no_memory(p->input->name);
    if (strcmp(where, "start") != 0 && strcmp(where, "end") != 0)
        return dm_broken(p->input, "the index_location of its codec sharding_indexed is neither start nor end");
    shard->index_first = *where == 's';
    int64_t lengths[DISTMAP_MAX_AXES];
    if (!dm_zarr_take_lengths(dm_zarr_member(configuration, "chunk_shape"), 1, form->ndim, lengths))
        return dm_broken(p->input, "the chunk_shape of its codec sharding_indexed is no list of as many lengths");
    dm_zarr_behind_ones(form, lengths, shard->chunk);
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        const int64_t length = p->chunk[pipeline->order[a]];
        if (length % shard->chunk[a])
            return dm_broken(p->input, "the chunk_shape of its codec sharding_indexed does not divide its chunks");
        shard->grid[a] = length / shard->chunk[a];
    }
    TRY(take_index_codecs(p, dm_zarr_member(configuration, "index_codecs"), shard));
    TRY(dm_shape_bytes(p->input->name, DISTMAP_MAX_AXES, shard->grid, 32, &shard->index_bytes));
    shard->index_bytes = shard->index_bytes / 2 + (shard->index_summed ? 4 : 0);
    if (!(shard->inner = calloc(1, sizeof *shard->inner)))
        return dm_no_memory(p->input->name);
    return take_codecs(p->input, dm_zarr_member(configuration, "codecs"), form, shard->chunk, p->depth + 1,
                       shard->inner);
}

/* ---- All ---- */

static const struct {
    const char *name;
    enum stage stage, next;
    distmap_status (*take)(parsing *p, json_object *configuration);
} rows[] = {{"transpose", TURNING, TURNING, take_transpose},
            {"bytes", MAKING_BYTES, PACKING, take_bytes},
            {"sharding_indexed", MAKING_BYTES, PACKING, take_shard}};
enum { ROWS = sizeof rows / sizeof *rows };

static distmap_status misplaced(const parsing *p, const char *name) {
    return dm_broken(p->input, "its codec %.48s does not stand where it can", name);
}

static distmap_status take_codec(parsing *p, json_object *codec) {
    const char *name = dm_zarr_name(codec);
    for (int i = 0; i < ROWS; i++)
        if (strcmp(name, rows[i].name) == 0) {
            if (p->stage > rows[i].stage)
                return misplaced(p, name);
            p->stage = rows[i].next;
            return rows[i].take(p, dm_zarr_member(codec, "configuration"));
        }
    const dm_zarr_packer *packer = dm_zarr_packer_find(3, name);
    if (!packer)
        return dm_zarr_may_ignore(codec)
                   ? DISTMAP_OK
                   : dm_unsupported(p->input, "its chunks have the codec %.48s, which is not known",
                                    *name ? name : "without a name");
    if (p->stage != PACKING)
        return misplaced(p, name);
    if (p->pipeline->packers == DM_ZARR_PACKERS)
        return dm_unsupported(p->input, "its chunks are packed more than %d times", DM_ZARR_PACKERS);
    p->pipeline->packer[p->pipeline->packers++] = packer;
    return DISTMAP_OK;
}

static distmap_status take_codecs(const dm_input *input, json_object *codecs, const dm_zarr *form,
                                  const int64_t chunk[DISTMAP_MAX_AXES], int depth, dm_zarr_pipeline *pipeline) {
    parsing p = {.input = input, .form = form, .chunk = chunk, .depth = depth, .pipeline = pipeline};
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        pipeline->order[a] = a;
    const size_t count = json_object_is_type(codecs, json_type_array) ? json_object_array_length(codecs) : 0;
    for (size_t i = 0; i < count; i++)
        TRY(take_codec(&p, json_object_array_get_idx(codecs, i)));
    if (p.stage != PACKING)
        return dm_broken(input, "its codecs make no bytes of elements");
    return dm_zarr_size_pipeline(input, form, chunk, pipeline);
}

distmap_status dm_zarr_take_codecs(const dm_input *input, json_object *codecs, dm_zarr *form) {
    return take_codecs(input, codecs, form, form->chunk, 0, &form->pipeline);
}
