/* Zarr's .zarray and .zattrs, by json-c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/zarr.h"

enum { MAX_TEXT = 1 << 20, MAX_CHUNK = INT32_MAX - DM_ZARR_MORE };

distmap_status dm_zarr_load(const dm_input *input, const char *file, char **text) {
    *text = NULL;
    const int fd = openat(input->fd, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return DISTMAP_OK;
    char *found = calloc(1, MAX_TEXT + 1);
    const int64_t bytes = found && fd >= 0 ? dm_read_at(fd, 0, found, MAX_TEXT) : -1;
    distmap_status status = DISTMAP_OK;
    if (!found)
        status = dm_no_memory(input->name);
    else if (bytes < 0)
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read its %s: %s", input->name, file, strerror(errno));
    else if (bytes == MAX_TEXT || strlen(found) != (size_t)bytes)
        status = dm_broken(input, "its %s is no text, or absurdly long", file);
    if (fd >= 0)
        close(fd);
    if (status)
        free(found);
    else
        *text = found;
    return status;
}

/* ---- .zarray ---- */

static json_object *member(json_object *object, const char *name) {
    json_object *found = NULL;
    json_object_object_get_ex(object, name, &found);
    return found;
}

/* Behind leading axes of length 1. */
static bool take_lengths(json_object *array, int64_t least, int ndim, int64_t lengths[DISTMAP_MAX_AXES]) {
    if (!json_object_is_type(array, json_type_array) || json_object_array_length(array) != (size_t)ndim)
        return false;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        lengths[a] = 1;
    for (int a = 0; a < ndim; a++) {
        json_object *length = json_object_array_get_idx(array, (size_t)a);
        const int64_t value = json_object_get_int64(length);
        if (!json_object_is_type(length, json_type_int) || value < least || value == INT64_MAX)
            return false;
        lengths[DISTMAP_MAX_AXES - ndim + a] = value;
    }
    return true;
}

/* Stores the number as a T; whether it is the same then. */
#define FILL(T, number) (memcpy(form->fill, &(T){(T)(number)}, sizeof(T)), (T)(number) == (number))
static bool take_fill(json_object *value, dm_zarr *form) {
    form->filled = value != NULL; /* null */
    if (!value)
        return true;
    const bool is_float = form->dtype == DISTMAP_FLOAT32 || form->dtype == DISTMAP_FLOAT64;
    double number = json_object_get_double(value);
    if (json_object_is_type(value, json_type_string)) {
        const char *text = json_object_get_string(value);
        number = strcmp(text, "NaN") == 0         ? (double)NAN
                 : strcmp(text, "Infinity") == 0  ? HUGE_VAL
                 : strcmp(text, "-Infinity") == 0 ? -HUGE_VAL
                                                  : 0;
        if (!is_float || number == 0)
            return false;
    } else if (json_object_is_type(value, json_type_double)) {
        if (!is_float && !(fabs(number) < 0x1p53 && number == trunc(number))) /* 3.0 is a whole number too */
            return false;
    } else if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_boolean))
        return false;
    if (is_float) {
        const float rounded = (float)number;
        memcpy(form->fill, form->dtype == DISTMAP_FLOAT32 ? (const void *)&rounded : &number, form->size);
        return true;
    }
    const int64_t whole = json_object_get_int64(value); /* each the nearest one */
    const uint64_t natural = json_object_get_uint64(value);
    switch (form->dtype) {
    case DISTMAP_BOOL: return FILL(uint8_t, whole != 0);
    case DISTMAP_INT8: return FILL(int8_t, whole);
    case DISTMAP_UINT8: return FILL(uint8_t, whole);
    case DISTMAP_INT16: return FILL(int16_t, whole);
    case DISTMAP_UINT16: return FILL(uint16_t, whole);
    case DISTMAP_INT32: return FILL(int32_t, whole);
    case DISTMAP_UINT32: return FILL(uint32_t, whole);
    case DISTMAP_INT64: return FILL(int64_t, whole) && (whole < 0 || natural == (uint64_t)whole);
    default: return FILL(uint64_t, natural) && whole >= 0;
    }
}
#undef FILL

static distmap_status take_packer(const dm_input *input, json_object *array, dm_zarr *form) {
    json_object *compressor = member(array, "compressor"), *filters = member(array, "filters");
    if (filters && !(json_object_is_type(filters, json_type_array) && json_object_array_length(filters) == 0))
        return dm_unsupported(input, "has filters besides its compressor, which are not read");
    json_object *id = compressor ? member(compressor, "id") : NULL;
    const char *name = compressor ? id ? json_object_get_string(id) : "?" : "";
    form->packer = dm_zarr_packer_find(name);
    return form->packer
               ? DISTMAP_OK
               : dm_unsupported(input, "its chunks are packed by %.32s; %s are read", name, dm_zarr_packer_names());
}

static distmap_status take_form(const dm_input *input, json_object *array, dm_zarr *form) {
    json_object *shape = member(array, "shape"), *type = member(array, "dtype"), *order = member(array, "order"),
                *separator = member(array, "dimension_separator"), *version = member(array, "zarr_format");
    if (json_object_get_int(version) != 2)
        return dm_unsupported(input, "is Zarr version %d; version 2 is read", json_object_get_int(version));
    if (!json_object_is_type(shape, json_type_array))
        return dm_broken(input, "its .zarray tells no shape");
    const size_t ndim = json_object_array_length(shape);
    if (ndim < 1 || ndim > DISTMAP_MAX_AXES)
        return dm_unsupported(input, "has %zu axes; 1 to %d are read", ndim, DISTMAP_MAX_AXES);
    form->ndim = (int)ndim;
    if (!take_lengths(shape, 0, form->ndim, form->shape) ||
        !take_lengths(member(array, "chunks"), 1, form->ndim, form->chunk))
        return dm_broken(input, "the shape or chunks in its .zarray are no lists of as many lengths");
    const char *name = json_object_is_type(type, json_type_string) ? json_object_get_string(type) : "structured";
    form->dtype = dm_numpy_dtype(name, &form->swapped);
    if (!form->dtype)
        return dm_unsupported(input, "its element type is %.32s; bool, integers and float32, float64 are read", name);
    form->size = distmap_dtype_size(form->dtype);
    form->swapped &= form->size > 1;
    const char *axes = order ? json_object_get_string(order) : "C";
    const char *mark = separator ? json_object_get_string(separator) : ".";
    if ((strcmp(axes, "C") != 0 && strcmp(axes, "F") != 0) || (strcmp(mark, ".") != 0 && strcmp(mark, "/") != 0))
        return dm_broken(input, "the order or dimension_separator in its .zarray is none");
    form->fortran = *axes == 'F';
    form->separator = *mark;
    int64_t bytes;
    TRY(dm_shape_bytes(input->name, DISTMAP_MAX_AXES, form->chunk, form->size, &bytes));
    if (bytes > MAX_CHUNK)
        return dm_unsupported(input, "its chunks have %lld bytes; up to %d are read", (long long)bytes, MAX_CHUNK);
    form->chunk_bytes = (size_t)bytes;
    if (!take_fill(member(array, "fill_value"), form))
        return dm_unsupported(input, "its fill_value is no number that %s holds", distmap_dtype_name(form->dtype));
    return take_packer(input, array, form);
}

distmap_status dm_zarr_parse(const dm_input *input, const char *text, dm_zarr *form) {
    json_object *array = json_tokener_parse(text);
    *form = (dm_zarr){0};
    const distmap_status status = json_object_is_type(array, json_type_object)
                                      ? take_form(input, array, form)
                                      : dm_broken(input, "its .zarray is no JSON object");
    json_object_put(array);
    return status;
}

static json_object *lengths_json(int ndim, const int64_t *lengths) {
    json_object *array = json_object_new_array();
    for (int a = 0; a < ndim; a++)
        json_object_array_add(array, json_object_new_int64(lengths[a]));
    return array;
}

/* As a text of its own. */
static char *finished(json_object *object) {
    char *text = NULL;
    if (asprintf(&text, "%s\n",
                 json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)) < 0)
        text = NULL;
    json_object_put(object);
    return text;
}

char *dm_zarr_form_text(const distmap_image_info *info) {
    json_object *array = json_object_new_object(), *packer = json_object_new_object();
    char type[8];
    dm_numpy_name(info->dtype, type);
    json_object_object_add(packer, "id", json_object_new_string("blosc"));
    json_object_object_add(packer, "cname", json_object_new_string("lz4"));
    json_object_object_add(packer, "clevel", json_object_new_int(5));
    json_object_object_add(packer, "shuffle", json_object_new_int(1));
    json_object_object_add(packer, "blocksize", json_object_new_int(0));
    json_object_object_add(array, "zarr_format", json_object_new_int(2));
    json_object_object_add(array, "shape", lengths_json(info->ndim, info->shape));
    json_object_object_add(array, "chunks", lengths_json(info->ndim, info->chunk));
    json_object_object_add(array, "dtype", json_object_new_string(type));
    json_object_object_add(array, "compressor", packer);
    json_object_object_add(array, "fill_value", NULL);
    json_object_object_add(array, "order", json_object_new_string("C"));
    json_object_object_add(array, "filters", NULL);
    json_object_object_add(array, "dimension_separator", json_object_new_string("/"));
    return finished(array);
}

/* ---- .zattrs: spacing and unit as in our HDF5 files, and xarray's names of the axes ---- */

char *dm_zarr_attributes_text(const distmap_image_info *info) {
    json_object *object = json_object_new_object(), *axes = json_object_new_array(), *spacing = json_object_new_array();
    bool told = false;
    for (int a = 0; a < info->ndim; a++) {
        json_object_array_add(axes, json_object_new_string(info->axis[a].name));
        json_object_array_add(spacing, json_object_new_double(distmap_image_pitch(info, a)));
        told |= info->axis[a].pitch > 0;
    }
    json_object_object_add(object, "_ARRAY_DIMENSIONS", axes);
    if (told)
        json_object_object_add(object, "spacing", json_object_get(spacing));
    json_object_put(spacing);
    if (*distmap_image_unit(info))
        json_object_object_add(object, "unit", json_object_new_string(distmap_image_unit(info)));
    return finished(object);
}

static bool is_list(json_object *list, int count) {
    return json_object_is_type(list, json_type_array) && json_object_array_length(list) == (size_t)count;
}

void dm_zarr_take_attributes(const char *text, distmap_image_info *info) {
    json_object *object = json_tokener_parse(text);
    const bool is_object = json_object_is_type(object, json_type_object);
    json_object *names = is_object ? member(object, "_ARRAY_DIMENSIONS") : NULL,
                *spacing = is_object ? member(object, "spacing") : NULL,
                *unit = is_object ? member(object, "unit") : NULL;
    for (int a = 0; is_list(names, info->ndim) && a < info->ndim; a++) {
        json_object *name = json_object_array_get_idx(names, (size_t)a);
        if (json_object_is_type(name, json_type_string))
            dm_axis_take(&info->axis[a], json_object_get_string(name));
    }
    for (int a = 0; is_list(spacing, info->ndim) && a < info->ndim; a++)
        info->axis[a].pitch = json_object_get_double(json_object_array_get_idx(spacing, (size_t)a));
    if (json_object_is_type(unit, json_type_string))
        dm_unit_take_space(info, json_object_get_string(unit));
    json_object_put(object);
}
