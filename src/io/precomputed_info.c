/* The `info` of a precomputed volume, both ways, and what follows from it: the shapes and names of chunks. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/precomputed.h"
#include "io/text.h"
#include "io/threads.h"
#include "io/vectors.h"

enum { C = DISTMAP_MAX_AXES - 4, HELD_BYTES = 32 << 20 };
static const double whole_enough = 1e-3; /* elements: what single precision leaves of a voxel offset */
static const double same_pitch = 1e-6;   /* relative */

static const struct {
    const char *name;
    distmap_dtype dtype;
} types[] = {{"uint8", DISTMAP_UINT8},   {"int8", DISTMAP_INT8},     {"uint16", DISTMAP_UINT16},
             {"int16", DISTMAP_INT16},   {"uint32", DISTMAP_UINT32}, {"int32", DISTMAP_INT32},
             {"uint64", DISTMAP_UINT64}, {"int64", DISTMAP_INT64},   {"float32", DISTMAP_FLOAT32}};
enum { TYPES = sizeof types / sizeof *types };

/* ---- Reading ---- */

static bool take_three(json_object *list, int64_t least, int64_t three[3]) {
    const int64_t most = (int64_t)1 << 53; /* JSON's whole numbers */
    if (!json_object_is_type(list, json_type_array) || json_object_array_length(list) != 3)
        return false;
    for (size_t i = 0; i < 3; i++) {
        json_object *number = json_object_array_get_idx(list, i);
        const double value = json_object_get_double(number); /* 64.0 is one too */
        if (!(json_object_is_type(number, json_type_int) || json_object_is_type(number, json_type_double)) ||
            !(value >= (double)least && value <= (double)most && value == trunc(value)))
            return false;
        three[i] = (int64_t)value;
    }
    return true;
}

static bool take_resolution(json_object *list, double three[3]) {
    if (!json_object_is_type(list, json_type_array) || json_object_array_length(list) != 3)
        return false;
    for (size_t i = 0; i < 3; i++) {
        json_object *number = json_object_array_get_idx(list, i);
        three[i] = json_object_get_double(number);
        if (!(json_object_is_type(number, json_type_int) || json_object_is_type(number, json_type_double)) ||
            !(three[i] > 0 && isfinite(three[i])))
            return false;
    }
    return true;
}

static distmap_status broken(const dm_input *input, const char *member) {
    return dm_broken(input, "broken info of a precomputed volume: %s", member);
}

static distmap_status take_type(const dm_input *input, json_object *info, dm_precomputed *v) {
    const char *type = dm_zarr_text(dm_zarr_member(info, "data_type"));
    json_object *channels = dm_zarr_member(info, "num_channels");
    for (int t = 0; t < TYPES; t++)
        if (!strcasecmp(type, types[t].name))
            v->dtype = types[t].dtype;
    if (!v->dtype)
        return dm_unsupported(input, "its data_type is %.40s; integers and float32 are read", type);
    v->bytes = distmap_dtype_size(v->dtype);
    v->channels = json_object_get_int64(channels);
    if (!json_object_is_type(channels, json_type_int) || v->channels < 1 || v->channels > INT16_MAX)
        return broken(input, "num_channels");
    v->labels = strcmp(dm_zarr_text(dm_zarr_member(info, "type")), "segmentation") == 0;
    return DISTMAP_OK;
}

/* An error that names a part of a scale that is not supported. */
static distmap_status refuse(const dm_input *input, json_object *scale, const char *key) {
    const char *encoding = dm_zarr_text(dm_zarr_member(scale, "encoding"));
    if (strcmp(encoding, "raw") != 0)
        return dm_unsupported(input, "scale %.80s is encoded as %.40s; raw is read", key, encoding);
    if (dm_zarr_member(scale, "sharding"))
        return dm_unsupported(input, "scale %.80s is sharded; chunks that are files of their own are read", key);
    if (!dm_zarr_path_is_good(key))
        return dm_unsupported(input, "scale %.80s is not within its folder", key);
    return DISTMAP_OK;
}

static distmap_status take_scale(const dm_input *input, json_object *scale, dm_precomputed *v) {
    const char *key = dm_zarr_text(dm_zarr_member(scale, "key"));
    json_object *chunks = dm_zarr_member(scale, "chunk_sizes"), *offset = dm_zarr_member(scale, "voxel_offset");
    int64_t size[3], chunk[3];
    TRY(refuse(input, scale, key));
    if (!*key || strlen(key) >= sizeof v->key)
        return broken(input, "key of a scale");
    strcpy(v->key, key);
    if (!take_three(dm_zarr_member(scale, "size"), 1, size))
        return broken(input, "size of a scale");
    if (!take_resolution(dm_zarr_member(scale, "resolution"), v->resolution))
        return broken(input, "resolution of a scale: pitches are finite and above 0");
    if (offset && !take_three(offset, -((int64_t)1 << 53), v->offset))
        return broken(input, "voxel_offset of a scale");
    if (!json_object_is_type(chunks, json_type_array) || json_object_array_length(chunks) < 1 ||
        !take_three(json_object_array_get_idx(chunks, 0), 1, chunk))
        return broken(input, "chunk_sizes of a scale");
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        v->shape[a] = v->chunk[a] = 1;
    v->shape[C] = v->chunk[C] = v->channels;
    int64_t bytes = (int64_t)v->bytes * v->channels;
    for (int i = 0; i < 3; i++) {
        const int a = DISTMAP_MAX_AXES - 1 - i;
        v->shape[a] = size[i];
        v->chunk[a] = chunk[i] < size[i] ? chunk[i] : size[i];
        if (__builtin_mul_overflow(bytes, v->chunk[a], &bytes) || bytes > INT32_MAX)
            return dm_unsupported(input, "chunks of scale %.80s are of 2 GiB or more", key);
    }
    return DISTMAP_OK;
}

distmap_status dm_precomputed_parse(const dm_input *input, json_object *info, const char *key, dm_precomputed *v) {
    json_object *scales = dm_zarr_member(info, "scales"), *found = NULL;
    const size_t count = json_object_is_type(scales, json_type_array) ? json_object_array_length(scales) : 0;
    char keys[200] = "";
    *v = (dm_precomputed){0};
    for (size_t s = 0; s < count; s++) {
        json_object *scale = json_object_array_get_idx(scales, s);
        const char *name = dm_zarr_text(dm_zarr_member(scale, "key"));
        dm_append(keys, sizeof keys, " ", name);
        if (!found && (!key || !strcmp(key, name)))
            found = scale;
    }
    if (!count)
        return broken(input, "there are no scales");
    if (!found)
        return dm_broken(input, "is no scale of its volume, which has %s", keys);
    TRY(take_type(input, info, v));
    return take_scale(input, found, v);
}

/* The corner of the first voxel is at voxel_offset, its centre half a voxel further on. */
void dm_precomputed_take(const dm_precomputed *v, distmap_image_info *info) {
    static const char *const names[] = {"x", "y", "z"};
    const int first = v->channels > 1;
    info->dtype = v->dtype;
    info->ndim = 3 + first;
    if (first) {
        info->shape[0] = info->chunk[0] = v->channels;
        dm_axis_take(&info->axis[0], "c");
    }
    info->world_ndim = 3;
    for (int i = 0; i < 3; i++) {
        const int a = first + 2 - i;
        info->shape[a] = v->shape[DISTMAP_MAX_AXES - 1 - i];
        info->chunk[a] = v->chunk[DISTMAP_MAX_AXES - 1 - i];
        dm_axis_take(&info->axis[a], names[i]);
        dm_unit_take(info->axis[a].unit, "nm");
        info->axis[a].pitch = info->matrix[i][2 - i] = v->resolution[i];
        info->origin[i] = ((double)v->offset[i] + 0.5) * v->resolution[i];
    }
    info->kind = v->labels ? DISTMAP_KIND_LABELS : DISTMAP_KIND_INTENSITY;
}

/* ---- Chunks ---- */

size_t dm_precomputed_chunk_bytes(const dm_precomputed *v) {
    size_t bytes = v->bytes;
    for (int a = C; a < DISTMAP_MAX_AXES; a++)
        bytes *= (size_t)v->chunk[a];
    return bytes;
}

int dm_precomputed_workers(size_t bytes) {
    const size_t fit = HELD_BYTES / bytes;
    const int most = dm_threads() < DM_ZARR_WORKERS ? dm_threads() : DM_ZARR_WORKERS;
    return fit < 1 ? 1 : fit < (size_t)most ? (int)fit : most;
}

size_t dm_precomputed_chunk(const dm_precomputed *v, const int64_t at[DISTMAP_MAX_AXES],
                            int64_t shape[DISTMAP_MAX_AXES], char name[DM_PRECOMPUTED_NAME]) {
    size_t bytes = v->bytes;
    int used = 0;
    for (int a = DISTMAP_MAX_AXES - 1; a >= 0; a--) {
        const int64_t begin = at[a] * v->chunk[a], left = v->shape[a] - begin;
        shape[a] = left < v->chunk[a] ? left : v->chunk[a];
        bytes *= (size_t)shape[a];
        if (a <= C)
            continue;
        const int64_t first = begin + v->offset[DISTMAP_MAX_AXES - 1 - a];
        used += snprintf(name + used, (size_t)(DM_PRECOMPUTED_NAME - used), "%s%lld-%lld", used ? "_" : "",
                         (long long)first, (long long)(first + shape[a]));
    }
    return bytes;
}

/* ---- Writing ---- */

/* Pitches in nm, and the offset in voxels where the place is of such a grid; else 0. */
static void find_place(const distmap_image_info *info, double resolution[3], int64_t offset[3]) {
    int axes[DISTMAP_MAX_AXES];
    dm_space_axes(info, axes);
    const char *unit = distmap_image_unit(info);
    const double ratio = distmap_unit_ratio(unit, "nm");
    bool fits = info->world_ndim == 3;
    for (int i = 0; i < 3; i++) {
        const int s = 2 - i, a = axes[s];
        offset[i] = 0;
        resolution[i] = dm_length_in(distmap_image_pitch(info, a), *info->axis[a].unit ? info->axis[a].unit : unit, "nm");
        for (int w = 0; w < 3 && fits; w++)
            fits = w == i ? fabs(info->matrix[w][s] * ratio - resolution[i]) <= same_pitch * resolution[i]
                          : info->matrix[w][s] == 0;
    }
    int64_t found[3] = {0};
    for (int i = 0; i < 3 && fits; i++) {
        const double place = info->origin[i] * ratio / resolution[i] - 0.5;
        fits = fabs(place) < 0x1p52 && fabs(place - round(place)) <= whole_enough;
        found[i] = fits ? (int64_t)round(place) : 0;
    }
    if (fits)
        memcpy(offset, found, sizeof found);
}

static json_object *three(const int64_t numbers[3]) { return dm_zarr_lengths(3, numbers); }

/* The number as its shortest text, which is a whole number where it can be. */
static json_object *number_json(double number) {
    char text[32];
    return json_object_new_double_s(number, dm_number_text(number, text));
}

char *dm_precomputed_text(const distmap_image_info *info) {
    json_object *volume = json_object_new_object(), *scale = json_object_new_object(),
                *scales = json_object_new_array(), *chunks = json_object_new_array(),
                *resolution = json_object_new_array();
    const bool has_channels = info->axis[0].type == DISTMAP_AXIS_CHANNEL;
    const distmap_dtype dtype = info->dtype == DISTMAP_BOOL ? DISTMAP_UINT8 : info->dtype;
    int64_t size[3], chunk[3], offset[3];
    double pitch[3];
    char key[100], number[3][32];
    const char *type = "";
    for (int i = 0; i < 3; i++) {
        size[i] = info->shape[info->ndim - 1 - i];
        chunk[i] = info->chunk[info->ndim - 1 - i];
    }
    for (int t = 0; t < TYPES; t++)
        type = types[t].dtype == dtype ? types[t].name : type;
    find_place(info, pitch, offset);
    for (int i = 0; i < 3; i++) {
        dm_json_append(resolution, number_json(pitch[i]));
        dm_number_text(pitch[i], number[i]);
    }
    snprintf(key, sizeof key, "%s_%s_%s", number[0], number[1], number[2]);
    dm_json_put(scale, "key", json_object_new_string(key));
    dm_json_put(scale, "size", three(size));
    dm_json_put(scale, "resolution", resolution);
    dm_json_put(scale, "voxel_offset", three(offset));
    dm_json_append(chunks, three(chunk));
    dm_json_put(scale, "chunk_sizes", chunks);
    dm_json_put(scale, "encoding", json_object_new_string("raw"));
    dm_json_append(scales, scale);
    const bool labels = info->kind == DISTMAP_KIND_LABELS && dtype != DISTMAP_FLOAT32;
    dm_json_put(volume, "@type", json_object_new_string("neuroglancer_multiscale_volume"));
    dm_json_put(volume, "type", json_object_new_string(labels ? "segmentation" : "image"));
    dm_json_put(volume, "data_type", json_object_new_string(type));
    dm_json_put(volume, "num_channels", json_object_new_int64(has_channels ? info->shape[0] : 1));
    dm_json_put(volume, "scales", scales);
    return dm_zarr_finished(volume);
}
