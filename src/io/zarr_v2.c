/* Zarr version 2: .zarray and .zattrs. */
#include <string.h>

#include "io/convert.h"
#include "io/zarr.h"

/* The filters' and compressors' names. */
static const char *id_of(json_object *codec) {
    const char *id = dm_zarr_text(dm_zarr_member(codec, "id"));
    return *id ? id : "?";
}

static distmap_status take_packer(const dm_input *input, json_object *array, dm_zarr *form) {
    json_object *compressor = dm_zarr_member(array, "compressor"), *filters = dm_zarr_member(array, "filters");
    const bool is_list = json_object_is_type(filters, json_type_array);
    if (filters && !(is_list && json_object_array_length(filters) == 0))
        return dm_unsupported(input, "has the filter %.32s besides its compressor; filters are not read",
                              is_list ? id_of(json_object_array_get_idx(filters, 0)) : "?");
    if (!compressor)
        return DISTMAP_OK;
    char names[120];
    dm_zarr_packer_names(2, names, sizeof names);
    form->pipeline.packer[0] = dm_zarr_packer_find(2, id_of(compressor));
    form->pipeline.packers = 1;
    return form->pipeline.packer[0] ? DISTMAP_OK
                                    : dm_unsupported(input, "its chunks are packed by %.32s; %s and none are read",
                                                     id_of(compressor), names);
}

distmap_status dm_zarr_parse_v2(const dm_input *input, json_object *array, dm_zarr *form) {
    json_object *type = dm_zarr_member(array, "dtype"), *order = dm_zarr_member(array, "order"),
                *separator = dm_zarr_member(array, "dimension_separator");
    TRY(dm_zarr_take_shape(input, ".zarray", dm_zarr_member(array, "shape"), dm_zarr_member(array, "chunks"), form));
    const char *name = json_object_is_type(type, json_type_string) ? json_object_get_string(type) : "structured";
    dm_zarr_pipeline *pipeline = &form->pipeline;
    form->dtype = dm_numpy_dtype(name, &pipeline->swapped);
    if (!form->dtype)
        return dm_unsupported(input, "its element type is %.32s; bool, integers and float32, float64 are read", name);
    form->size = distmap_dtype_size(form->dtype);
    pipeline->swapped &= form->size > 1;
    const char *axes = order ? dm_zarr_text(order) : "C", *mark = separator ? dm_zarr_text(separator) : ".";
    if ((strcmp(axes, "C") != 0 && strcmp(axes, "F") != 0) || (strcmp(mark, ".") != 0 && strcmp(mark, "/") != 0))
        return dm_broken(input, "the order or dimension_separator in its .zarray is none");
    form->separator = *mark;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        pipeline->order[a] = *axes == 'F' ? DISTMAP_MAX_AXES - 1 - a : a;
    TRY(dm_zarr_size_pipeline(input, form, form->chunk, pipeline));
    if (!dm_zarr_take_fill(dm_zarr_member(array, "fill_value"), form))
        return dm_unsupported(input, "its fill_value is no number that %s holds", distmap_dtype_name(form->dtype));
    return take_packer(input, array, form);
}

/* ---- As it is written: the first axis slowest, no fill value ---- */

static json_object *packer_as_written(const char *packing) {
    json_object *packer = json_object_new_object();
    const bool is_blosc = strcmp(packing, "blosc") == 0, is_zstd = strcmp(packing, "zstd") == 0;
    dm_json_put(packer, "id", json_object_new_string(is_blosc ? "blosc" : is_zstd ? "zstd" : "gzip"));
    if (is_blosc) {
        dm_json_put(packer, "cname", json_object_new_string(DM_ZARR_BLOSC_NAME));
        dm_json_put(packer, "clevel", json_object_new_int(DM_ZARR_BLOSC_LEVEL));
        dm_json_put(packer, "shuffle", json_object_new_int(1));
        dm_json_put(packer, "blocksize", json_object_new_int(0));
    } else {
        dm_json_put(packer, "level", json_object_new_int(is_zstd ? DM_ZARR_ZSTD_LEVEL : DM_ZARR_GZIP_LEVEL));
    }
    return packer;
}

char *dm_zarr_v2_text(const distmap_image_info *info) {
    json_object *array = json_object_new_object();
    char type[8];
    dm_numpy_name(info->dtype, type);
    dm_json_put(array, "zarr_format", json_object_new_int(2));
    dm_json_put(array, "shape", dm_zarr_lengths(info->ndim, info->shape));
    dm_json_put(array, "chunks", dm_zarr_lengths(info->ndim, info->chunk));
    dm_json_put(array, "dtype", json_object_new_string(type));
    if (strcmp(info->packing, "none") != 0)
        dm_json_put(array, "compressor", packer_as_written(info->packing));
    else
        dm_json_put_null(array, "compressor");
    dm_json_put_null(array, "fill_value");
    dm_json_put(array, "order", json_object_new_string("C"));
    dm_json_put_null(array, "filters");
    dm_json_put(array, "dimension_separator", json_object_new_string("/"));
    return dm_zarr_finished(array);
}

/* With xarray's names of the axes. */
char *dm_zarr_v2_attributes_text(const distmap_image_info *info) {
    json_object *object = dm_zarr_attributes(info);
    dm_json_put(object, "_ARRAY_DIMENSIONS", dm_zarr_axis_names(info));
    return dm_zarr_finished(object);
}
