/* Zarr version 3: an array's zarr.json. Its codecs are in zarr_codecs.c. */
#include <string.h>

#include "io/convert.h"
#include "io/zarr.h"

bool dm_zarr_may_ignore(json_object *extension) {
    json_object *must = dm_zarr_member(extension, "must_understand");
    return json_object_is_type(must, json_type_boolean) && !json_object_get_boolean(must);
}

const char *dm_zarr_name(json_object *extension) {
    return json_object_is_type(extension, json_type_string) ? json_object_get_string(extension)
                                                            : dm_zarr_text(dm_zarr_member(extension, "name"));
}

static json_object *configured(json_object *extension, const char *name) {
    return dm_zarr_member(dm_zarr_member(extension, "configuration"), name);
}

static bool is_one_of(const char *name, const char *const *names) {
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

/* Members that the specification does not have are extensions; so are storage transformers, of which there are none yet. */
static distmap_status check_members(const dm_input *input, json_object *array) {
    static const char *const known[] = {"zarr_format",          "node_type",  "shape",  "data_type",       "chunk_grid",
                                        "chunk_key_encoding",   "fill_value", "codecs", "dimension_names", "attributes",
                                        "storage_transformers", NULL};
    json_object_object_foreach(array, name, value) {
        if (!is_one_of(name, known) && value && !dm_zarr_may_ignore(value))
            return dm_unsupported(input, "its zarr.json has the extension %.48s, which is not known", name);
    }
    json_object *transformers = dm_zarr_member(array, "storage_transformers");
    const size_t count =
        json_object_is_type(transformers, json_type_array) ? json_object_array_length(transformers) : 0;
    for (size_t i = 0; i < count; i++) {
        json_object *transformer = json_object_array_get_idx(transformers, i);
        if (!dm_zarr_may_ignore(transformer))
            return dm_unsupported(input, "has the storage transformer %.48s, which is not known",
                                  dm_zarr_name(transformer));
    }
    return DISTMAP_OK;
}

static distmap_status take_type(const dm_input *input, json_object *type, dm_zarr *form) {
    const char *name = dm_zarr_name(type);
    for (int d = DISTMAP_BOOL; d <= DISTMAP_FLOAT64 && !form->dtype; d++)
        if (strcmp(name, distmap_dtype_name((distmap_dtype)d)) == 0)
            form->dtype = (distmap_dtype)d;
    form->size = distmap_dtype_size(form->dtype);
    return form->dtype
               ? DISTMAP_OK
               : dm_unsupported(input, "its element type is %.32s; bool, integers and float32, float64 are read",
                                *name ? name : "none");
}

static distmap_status take_keys(const dm_input *input, json_object *encoding, dm_zarr *form) {
    const char *name = dm_zarr_name(encoding);
    json_object *separator = configured(encoding, "separator");
    form->prefixed = strcmp(name, "default") == 0;
    if (!form->prefixed && strcmp(name, "v2") != 0)
        return dm_unsupported(input, "its chunk_key_encoding is %.32s; default and v2 are read", *name ? name : "none");
    const char *mark = separator ? dm_zarr_text(separator) : form->prefixed ? "/" : ".";
    if (strcmp(mark, ".") != 0 && strcmp(mark, "/") != 0)
        return dm_broken(input, "the separator of its chunk_key_encoding is neither . nor /");
    form->separator = *mark;
    return DISTMAP_OK;
}

static void take_names(json_object *names, dm_zarr *form) {
    if (!json_object_is_type(names, json_type_array) || json_object_array_length(names) != (size_t)form->ndim)
        return;
    for (int a = 0; a < form->ndim; a++) {
        const char *name = dm_zarr_text(json_object_array_get_idx(names, (size_t)a));
        if (strlen(name) < sizeof form->names[a])
            strcpy(form->names[a], name);
    }
}

distmap_status dm_zarr_parse_v3(const dm_input *input, json_object *array, dm_zarr *form) {
    json_object *grid = dm_zarr_member(array, "chunk_grid"), *fill = dm_zarr_member(array, "fill_value");
    TRY(check_members(input, array));
    if (strcmp(dm_zarr_name(grid), "regular") != 0)
        return dm_unsupported(input, "its chunk_grid is %.32s; regular ones are read",
                              *dm_zarr_name(grid) ? dm_zarr_name(grid) : "none");
    TRY(dm_zarr_take_shape(input, "zarr.json", dm_zarr_member(array, "shape"), configured(grid, "chunk_shape"), form));
    TRY(take_type(input, dm_zarr_member(array, "data_type"), form));
    TRY(take_keys(input, dm_zarr_member(array, "chunk_key_encoding"), form));
    if (!fill || !dm_zarr_take_fill(fill, form))
        return dm_unsupported(input, "its fill_value is no number that %s holds", distmap_dtype_name(form->dtype));
    take_names(dm_zarr_member(array, "dimension_names"), form);
    return dm_zarr_take_codecs(input, dm_zarr_member(array, "codecs"), form);
}

/* ---- As it is written: the first axis slowest; a float's chunk that is lost reads as NaN ---- */

static json_object *extension(const char *name, const char *member, json_object *value) {
    json_object *object = json_object_new_object(), *configuration = json_object_new_object();
    dm_json_put(object, "name", json_object_new_string(name));
    dm_json_put(configuration, member, value);
    dm_json_put(object, "configuration", configuration);
    return object;
}

static json_object *packer_as_written(const distmap_image_info *info) {
    if (strcmp(info->packing, "deflate") == 0)
        return extension("gzip", "level", json_object_new_int(DM_ZARR_GZIP_LEVEL));
    if (strcmp(info->packing, "blosc") == 0) {
        json_object *blosc = extension("blosc", "cname", json_object_new_string(DM_ZARR_BLOSC_NAME)),
                    *configuration = dm_zarr_member(blosc, "configuration");
        dm_json_put(configuration, "clevel", json_object_new_int(DM_ZARR_BLOSC_LEVEL));
        dm_json_put(configuration, "shuffle", json_object_new_string("shuffle"));
        dm_json_put(configuration, "typesize", json_object_new_int((int)distmap_dtype_size(info->dtype)));
        dm_json_put(configuration, "blocksize", json_object_new_int(0));
        return blosc;
    }
    json_object *zstd = extension("zstd", "level", json_object_new_int(DM_ZARR_ZSTD_LEVEL));
    dm_json_put(dm_zarr_member(zstd, "configuration"), "checksum", json_object_new_boolean(0));
    return zstd;
}

static json_object *codecs_as_written(const distmap_image_info *info) {
    json_object *list = json_object_new_array();
    dm_json_append(list, extension("bytes", "endian", json_object_new_string(DM_HOST_BIG ? "big" : "little")));
    if (strcmp(info->packing, "none") != 0)
        dm_json_append(list, packer_as_written(info));
    return list;
}

/* Shards of chunks that are packed one by one; the index is behind them. */
static json_object *shards_as_written(const distmap_image_info *info) {
    json_object *list = json_object_new_array(), *index = json_object_new_array(),
                *shard = extension("sharding_indexed", "chunk_shape", dm_zarr_lengths(info->ndim, info->chunk)),
                *configuration = dm_zarr_member(shard, "configuration"), *sum = json_object_new_object();
    dm_json_append(index, extension("bytes", "endian", json_object_new_string(DM_HOST_BIG ? "big" : "little")));
    dm_json_put(sum, "name", json_object_new_string("crc32c"));
    dm_json_append(index, sum);
    dm_json_put(configuration, "codecs", codecs_as_written(info));
    dm_json_put(configuration, "index_codecs", index);
    dm_json_put(configuration, "index_location", json_object_new_string("end"));
    dm_json_append(list, shard);
    return list;
}

char *dm_zarr_v3_text(const distmap_image_info *info) {
    const bool is_float = info->dtype == DISTMAP_FLOAT32 || info->dtype == DISTMAP_FLOAT64;
    json_object *array = json_object_new_object();
    dm_json_put(array, "zarr_format", json_object_new_int(3));
    dm_json_put(array, "node_type", json_object_new_string("array"));
    dm_json_put(array, "shape", dm_zarr_lengths(info->ndim, info->shape));
    dm_json_put(array, "data_type", json_object_new_string(distmap_dtype_name(info->dtype)));
    dm_json_put(
        array, "chunk_grid",
        extension("regular", "chunk_shape", dm_zarr_lengths(info->ndim, info->shard[0] ? info->shard : info->chunk)));
    dm_json_put(array, "chunk_key_encoding", extension("default", "separator", json_object_new_string("/")));
    dm_json_put(array, "fill_value",
                is_float                      ? json_object_new_string("NaN")
                : info->dtype == DISTMAP_BOOL ? json_object_new_boolean(0)
                                              : json_object_new_int(0));
    dm_json_put(array, "codecs", info->shard[0] ? shards_as_written(info) : codecs_as_written(info));
    dm_json_put(array, "dimension_names", dm_zarr_axis_names(info));
    dm_json_put(array, "attributes", dm_zarr_attributes(info));
    return dm_zarr_finished(array);
}
