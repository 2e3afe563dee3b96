/* The form of a Zarr array: what its two versions have in common. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/zarr.h"

enum { MOST_CHUNK = INT32_MAX - 64 };

distmap_status dm_zarr_parse(const dm_input *input, json_object *array, dm_zarr *form) {
    *form = (dm_zarr){.version = json_object_get_int(dm_zarr_member(array, "zarr_format"))};
    if (form->version != 2 && form->version != 3)
        return dm_unsupported(input, "is Zarr version %d; versions 2 and 3 are read", form->version);
    return form->version == 2 ? dm_zarr_parse_v2(input, array, form) : dm_zarr_parse_v3(input, array, form);
}

void dm_zarr_free_pipeline(dm_zarr_pipeline *pipeline) {
    if (!pipeline->shard)
        return;
    if (pipeline->shard->inner)
        dm_zarr_free_pipeline(pipeline->shard->inner);
    free(pipeline->shard->inner);
    free(pipeline->shard);
    pipeline->shard = NULL;
}

void dm_zarr_free(dm_zarr *form) { dm_zarr_free_pipeline(&form->pipeline); }

bool dm_zarr_take_lengths(json_object *array, int64_t least, int ndim, int64_t lengths[DISTMAP_MAX_AXES]) {
    if (!json_object_is_type(array, json_type_array) || json_object_array_length(array) != (size_t)ndim)
        return false;
    for (int a = 0; a < ndim; a++) {
        json_object *length = json_object_array_get_idx(array, (size_t)a);
        lengths[a] = json_object_get_int64(length);
        if (!json_object_is_type(length, json_type_int) || lengths[a] < least || lengths[a] == INT64_MAX)
            return false;
    }
    return true;
}

void dm_zarr_behind_ones(const dm_zarr *form, const int64_t lengths[DISTMAP_MAX_AXES], int64_t ours[DISTMAP_MAX_AXES]) {
    const int first = DISTMAP_MAX_AXES - form->ndim;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        ours[a] = a < first ? 1 : lengths[a - first];
}

distmap_status dm_zarr_take_shape(const dm_input *input, const char *file, json_object *shape, json_object *chunks,
                                  dm_zarr *form) {
    int64_t lengths[DISTMAP_MAX_AXES], chunk[DISTMAP_MAX_AXES];
    if (!json_object_is_type(shape, json_type_array))
        return dm_broken(input, "its %s tells no shape", file);
    const size_t ndim = json_object_array_length(shape);
    if (ndim < 1 || ndim > DISTMAP_MAX_AXES)
        return dm_unsupported(input, "has %zu axes; 1 to %d are read", ndim, DISTMAP_MAX_AXES);
    form->ndim = (int)ndim;
    if (!dm_zarr_take_lengths(shape, 0, form->ndim, lengths) || !dm_zarr_take_lengths(chunks, 1, form->ndim, chunk))
        return dm_broken(input, "the shape or chunks in its %s are no lists of as many lengths", file);
    dm_zarr_behind_ones(form, lengths, form->shape);
    dm_zarr_behind_ones(form, chunk, form->chunk);
    return DISTMAP_OK;
}

distmap_status dm_zarr_size_pipeline(const dm_input *input, const dm_zarr *form, const int64_t chunk[DISTMAP_MAX_AXES],
                                     dm_zarr_pipeline *pipeline) {
    int64_t bytes;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        pipeline->shape[a] = chunk[pipeline->order[a]];
    TRY(dm_shape_bytes(input->name, DISTMAP_MAX_AXES, chunk, form->size, &bytes));
    pipeline->bytes = (size_t)bytes;
    /* A shard is not unpacked in one piece, unless it is packed in one. */
    if (bytes > MOST_CHUNK && !(pipeline->shard && !pipeline->packers))
        return dm_unsupported(input, "its chunks have %lld bytes; up to %d are read", (long long)bytes, MOST_CHUNK);
    return DISTMAP_OK;
}

/* ---- What readers tell and writers are told; OME-Zarr's part of it is in ome_zarr.c ---- */

json_object *dm_zarr_axis_names(const distmap_image_info *info) {
    json_object *axes = json_object_new_array();
    for (int a = 0; a < info->ndim; a++)
        dm_json_append(axes, json_object_new_string(info->axis[a].name));
    return axes;
}

/* Attributes: spacing and unit as in our HDF5 files. */

json_object *dm_zarr_attributes(const distmap_image_info *info) {
    json_object *object = json_object_new_object(), *spacing = json_object_new_array();
    bool told = false;
    for (int a = 0; a < info->ndim; a++) {
        dm_json_append(spacing, json_object_new_double(distmap_image_pitch(info, a)));
        told |= info->axis[a].pitch > 0;
    }
    if (told)
        dm_json_put(object, "spacing", spacing);
    else
        json_object_put(spacing);
    if (*distmap_image_unit(info))
        dm_json_put(object, "unit", json_object_new_string(distmap_image_unit(info)));
    return object;
}

static bool is_list(json_object *list, int count) {
    return json_object_is_type(list, json_type_array) && json_object_array_length(list) == (size_t)count;
}

void dm_zarr_take_attributes(json_object *attributes, const dm_zarr *form, distmap_image_info *info) {
    json_object *names = dm_zarr_member(attributes, "_ARRAY_DIMENSIONS"),
                *spacing = dm_zarr_member(attributes, "spacing");
    const bool named = is_list(names, info->ndim);
    for (int a = 0; a < info->ndim; a++)
        dm_axis_take(&info->axis[a],
                     named ? dm_zarr_text(json_object_array_get_idx(names, (size_t)a)) : form->names[a]);
    for (int a = 0; is_list(spacing, info->ndim) && a < info->ndim; a++)
        info->axis[a].pitch = json_object_get_double(json_object_array_get_idx(spacing, (size_t)a));
    dm_unit_take_space(info, dm_zarr_text(dm_zarr_member(attributes, "unit")));
}
