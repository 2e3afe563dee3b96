/* OME-Zarr's multiscales, read and written.
 *
 *     "multiscales": [{
 *         "axes": [{"name": "z", "type": "space", "unit": "micrometer"}, ...],
 *         "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [...]}, ...]}, ...],
 *         "coordinateTransformations": [...]    after those of the array, if there are any
 *     }]
 *
 * Transformations are done one after the other: a scale multiplies both what there is of scale and of translation, a translation
 * is added. Versions before 0.4 have axes as names alone, or none (then they are t, c, z, y, x), and no transformations.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/ome_zarr.h"
#include "io/zarr.h"

static const struct {
    distmap_axis_type kind;
    const char *type;
} kinds[] = {{DISTMAP_AXIS_SPACE, "space"}, {DISTMAP_AXIS_TIME, "time"}, {DISTMAP_AXIS_CHANNEL, "channel"}};

/* Names in the specification's way (UDUNITS-2) and in ours; lengths in powers of ten metres. */
enum { NO_LENGTH = 99 };
static const struct {
    const char *word, *unit;
    int power;
} units[] = {
    {"micrometer", "um", -6},         {"millimeter", "mm", -3},
    {"nanometer", "nm", -9},          {"meter", "m", 0},
    {"centimeter", "cm", -2},         {"kilometer", "km", 3},
    {"picometer", "pm", -12},         {"angstrom", "angstrom", -10},
    {"decimeter", "dm", -1},          {"second", "s", NO_LENGTH},
    {"millisecond", "ms", NO_LENGTH}, {"microsecond", "us", NO_LENGTH},
    {"nanosecond", "ns", NO_LENGTH},  {"minute", "min", NO_LENGTH},
    {"hour", "h", NO_LENGTH},         {"day", "d", NO_LENGTH},
    {"inch", "in", NO_LENGTH},
};
enum { KINDS = sizeof kinds / sizeof *kinds, UNITS = sizeof units / sizeof *units };

/* ---- Reading ---- */

static json_object *multiscales(json_object *attributes) {
    json_object *ome = dm_zarr_member(attributes, "ome");
    json_object *list = dm_zarr_member(ome ? ome : attributes, "multiscales");
    return json_object_is_type(list, json_type_array) ? json_object_array_get_idx(list, 0) : NULL;
}

bool dm_ome_is_image(json_object *attributes) { return multiscales(attributes) != NULL; }

static size_t count_of(json_object *list) {
    return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

static json_object *find_dataset(json_object *attributes, const char *path) {
    json_object *datasets = dm_zarr_member(multiscales(attributes), "datasets");
    for (size_t i = 0; i < count_of(datasets); i++) {
        json_object *dataset = json_object_array_get_idx(datasets, i);
        if (strcmp(dm_zarr_text(dm_zarr_member(dataset, "path")), path) == 0)
            return dataset;
    }
    return NULL;
}

bool dm_ome_has_path(json_object *attributes, const char *path) { return find_dataset(attributes, path) != NULL; }

distmap_status dm_ome_first_path(const dm_input *input, json_object *attributes, char path[512]) {
    json_object *datasets = dm_zarr_member(multiscales(attributes), "datasets");
    const char *first =
        count_of(datasets) ? dm_zarr_text(dm_zarr_member(json_object_array_get_idx(datasets, 0), "path")) : "";
    if (!*first || snprintf(path, 512, "%s", first) >= 512)
        return dm_broken(input, "its multiscales tell no path of an array");
    return DISTMAP_OK;
}

static distmap_status take_axis(const dm_input *input, json_object *axis, dm_ome *ome) {
    const int a = ome->ndim++;
    const char *name = json_object_is_type(axis, json_type_string) ? json_object_get_string(axis)
                                                                   : dm_zarr_text(dm_zarr_member(axis, "name")),
               *type = dm_zarr_text(dm_zarr_member(axis, "type")), *unit = dm_zarr_text(dm_zarr_member(axis, "unit"));
    if (!*name || strlen(name) >= DM_OME_NAME)
        return dm_broken(input, "an axis of its multiscales has no name, or an absurdly long one");
    strcpy(ome->axis[a].name, name);
    if (json_object_is_type(axis, json_type_string))
        type = strcmp(name, "t") == 0 ? "time" : strcmp(name, "c") == 0 ? "channel" : "space";
    ome->axis[a].kind = DISTMAP_AXIS_OTHER;
    for (int k = 0; k < KINDS; k++)
        if (strcmp(type, kinds[k].type) == 0)
            ome->axis[a].kind = kinds[k].kind;
    for (int u = 0; u < UNITS; u++)
        if (strcmp(unit, units[u].word) == 0)
            unit = units[u].unit;
    if (strlen(unit) < DM_OME_NAME)
        strcpy(ome->axis[a].unit, unit);
    ome->axis[a].scale = 1;
    return DISTMAP_OK;
}

static distmap_status take_axes(const dm_input *input, json_object *image, dm_ome *ome) {
    json_object *axes = dm_zarr_member(image, "axes");
    static const char *const oldest[] = {"t", "c", "z", "y", "x"};
    const size_t count = axes ? count_of(axes) : 5;
    if (count < 1 || count > DM_OME_AXES)
        return dm_broken(input, "its multiscales have no list of axes, or too long a one");
    for (size_t i = 0; i < count; i++) {
        json_object *axis =
            axes ? json_object_get(json_object_array_get_idx(axes, i)) : json_object_new_string(oldest[i]);
        const distmap_status status = take_axis(input, axis, ome);
        json_object_put(axis);
        TRY(status);
    }
    return DISTMAP_OK;
}

static distmap_status take_numbers(const dm_input *input, json_object *step, const char *type, const dm_ome *ome,
                                   double values[DM_OME_AXES]) {
    json_object *numbers = dm_zarr_member(step, type);
    if (count_of(numbers) != (size_t)ome->ndim)
        return dm_broken(input, "a %s of its multiscales has not as many numbers as there are axes", type);
    for (int a = 0; a < ome->ndim; a++) {
        json_object *number = json_object_array_get_idx(numbers, (size_t)a);
        values[a] = json_object_get_double(number);
        if ((!json_object_is_type(number, json_type_double) && !json_object_is_type(number, json_type_int)) ||
            !isfinite(values[a]))
            return dm_broken(input, "a %s of its multiscales is no list of finite numbers", type);
    }
    return DISTMAP_OK;
}

static distmap_status take_steps(const dm_input *input, json_object *steps, dm_ome *ome) {
    for (size_t i = 0; i < count_of(steps); i++) {
        json_object *step = json_object_array_get_idx(steps, i);
        const char *type = dm_zarr_text(dm_zarr_member(step, "type"));
        const bool scales = strcmp(type, "scale") == 0;
        double values[DM_OME_AXES];
        if (strcmp(type, "identity") == 0)
            continue;
        if (!scales && strcmp(type, "translation") != 0)
            return dm_unsupported(input,
                                  "its multiscales have a coordinateTransformation of type %.32s; identity, scale "
                                  "and translation are read",
                                  *type ? type : "none");
        if (dm_zarr_member(step, "path"))
            return dm_unsupported(input, "a %s of its multiscales is an array of its own, which is not read", type);
        TRY(take_numbers(input, step, type, ome, values));
        for (int a = 0; a < ome->ndim; a++) {
            ome->axis[a].scale *= scales ? values[a] : 1;
            ome->axis[a].translation =
                scales ? ome->axis[a].translation * values[a] : ome->axis[a].translation + values[a];
        }
    }
    return DISTMAP_OK;
}

distmap_status dm_ome_parse(const dm_input *input, json_object *attributes, const char *path, dm_ome *ome) {
    json_object *image = multiscales(attributes), *dataset = find_dataset(attributes, path);
    *ome = (dm_ome){0};
    TRY(take_axes(input, image, ome));
    TRY(take_steps(input, dm_zarr_member(dataset, "coordinateTransformations"), ome));
    TRY(take_steps(input, dm_zarr_member(image, "coordinateTransformations"), ome));
    for (int a = 0; a < ome->ndim; a++)
        if (!(ome->axis[a].scale > 0 && isfinite(ome->axis[a].scale) && isfinite(ome->axis[a].translation)))
            return dm_broken(input, "the scale of axis %s of its multiscales is not positive and finite",
                             ome->axis[a].name);
    return DISTMAP_OK;
}

/* ---- Writing ---- */

static json_object *numbers_of(const dm_ome *ome, bool scales) {
    json_object *list = json_object_new_array();
    for (int a = 0; a < ome->ndim; a++)
        dm_json_append(list, json_object_new_double(scales ? ome->axis[a].scale : ome->axis[a].translation));
    return list;
}

static void add_step(json_object *steps, const char *type, json_object *numbers) {
    json_object *step = json_object_new_object();
    dm_json_put(step, "type", json_object_new_string(type));
    dm_json_put(step, type, numbers);
    dm_json_append(steps, step);
}

static json_object *axis_of(const dm_ome *ome, int a) {
    json_object *axis = json_object_new_object();
    dm_json_put(axis, "name", json_object_new_string(ome->axis[a].name));
    for (int k = 0; k < KINDS; k++)
        if (ome->axis[a].kind == kinds[k].kind)
            dm_json_put(axis, "type", json_object_new_string(kinds[k].type));
    for (int u = 0; u < UNITS; u++)
        if (strcmp(ome->axis[a].unit, units[u].unit) == 0)
            dm_json_put(axis, "unit", json_object_new_string(units[u].word));
    return axis;
}

json_object *dm_ome_attributes(const dm_ome *ome, int zarr_version) {
    json_object *attributes = json_object_new_object(), *list = json_object_new_array(),
                *image = json_object_new_object(), *axes = json_object_new_array(), *datasets = json_object_new_array(),
                *dataset = json_object_new_object(), *steps = json_object_new_array(),
                *holder = zarr_version == 3 ? json_object_new_object() : attributes;
    bool moved = false;
    for (int a = 0; a < ome->ndim; a++) {
        dm_json_append(axes, axis_of(ome, a));
        moved |= ome->axis[a].translation != 0;
    }
    add_step(steps, "scale", numbers_of(ome, true));
    if (moved)
        add_step(steps, "translation", numbers_of(ome, false));
    dm_json_put(dataset, "path", json_object_new_string("0"));
    dm_json_put(dataset, "coordinateTransformations", steps);
    dm_json_append(datasets, dataset);
    dm_json_put(image, "axes", axes);
    dm_json_put(image, "datasets", datasets);
    if (zarr_version == 2)
        dm_json_put(image, "version", json_object_new_string("0.4"));
    dm_json_append(list, image);
    if (zarr_version == 3)
        dm_json_put(holder, "version", json_object_new_string("0.5"));
    dm_json_put(holder, "multiscales", list);
    if (zarr_version == 3)
        dm_json_put(attributes, "ome", holder);
    return attributes;
}

/* ---- What a reader tells, a writer is told ---- */

static int power_of(const char *unit) {
    for (int u = 0; u < UNITS; u++)
        if (strcmp(unit, units[u].unit) == 0)
            return units[u].power;
    return NO_LENGTH;
}

/* The row of x, y, z that a space axis goes along: by its name, else by its place, the last axis being x. */
static int row_of(const char *name, int from_last) {
    static const char names[] = "xyz";
    const char *found = strlen(name) == 1 ? strchr(names, *name) : NULL;
    return found ? (int)(found - names) : from_last;
}

/* Which row each space axis has, in the order of the axes; how many there are, or 0 where two have the same or there are more than
 * three. */
static int find_rows(const dm_ome *ome, int rows[3]) {
    int count = 0, left = 0;
    unsigned seen = 0;
    for (int a = 0; a < ome->ndim; a++)
        left += ome->axis[a].kind == DISTMAP_AXIS_SPACE;
    if (left > 3)
        return 0;
    for (int a = 0; a < ome->ndim; a++)
        if (ome->axis[a].kind == DISTMAP_AXIS_SPACE) {
            rows[count] = row_of(ome->axis[a].name, --left);
            seen |= 1u << rows[count++];
        }
    return __builtin_popcount(seen) == count ? count : 0;
}

/* Lengths are in the unit of the last axis in space: those in others are turned into it. */
static distmap_status take_unit(const dm_input *input, const dm_ome *ome, const char *unit, int a, int *power) {
    const int from = power_of(ome->axis[a].unit), to = power_of(unit);
    *power = 0;
    if (strcmp(ome->axis[a].unit, unit) == 0)
        return DISTMAP_OK;
    if (from == NO_LENGTH || to == NO_LENGTH)
        return dm_unsupported(input, "its multiscales have axes in %s and in %s", ome->axis[a].unit, unit);
    *power = from - to;
    return DISTMAP_OK;
}

/* A division where that is exact: 500 nm are 0.5 um. */
static double times_ten(double value, int power) {
    return power < 0 ? value / pow(10, -power) : value * pow(10, power);
}

distmap_status dm_ome_to_info(const dm_input *input, const dm_ome *ome, distmap_image_info *info) {
    const char *unit = "";
    bool all = true;
    int rows[3];
    const int count = find_rows(ome, rows);
    for (int a = 0; a < ome->ndim; a++)
        if (ome->axis[a].kind == DISTMAP_AXIS_SPACE) {
            unit = ome->axis[a].unit;
            all &= *unit != '\0';
        }
    for (int a = 0, s = 0; a < ome->ndim; a++) {
        distmap_axis *axis = &info->axis[a];
        int power = 0;
        *axis = (distmap_axis){.type = ome->axis[a].kind, .pitch = ome->axis[a].scale};
        strcpy(axis->name, ome->axis[a].name);
        if (axis->type != DISTMAP_AXIS_SPACE) {
            dm_unit_take(axis->unit, ome->axis[a].unit);
            continue;
        }
        if (all) {
            TRY(take_unit(input, ome, unit, a, &power));
            dm_unit_take(axis->unit, unit);
        }
        axis->pitch = times_ten(ome->axis[a].scale, power);
        if (count) { /* without a translation the first element is at 0 */
            info->world_ndim = rows[s] + 1 > info->world_ndim ? rows[s] + 1 : info->world_ndim;
            info->matrix[rows[s]][s] = axis->pitch;
            info->origin[rows[s++]] = times_ten(ome->axis[a].translation, power);
        }
    }
    return DISTMAP_OK;
}

/* The world's axis that a space axis goes along, upwards; -1 where it goes along none. */
static int row_along(const distmap_image_info *info, int s) {
    int row = -1;
    for (int w = 0; w < info->world_ndim; w++)
        if (info->matrix[w][s] != 0) {
            if (row >= 0 || info->matrix[w][s] < 0)
                return -1;
            row = w;
        }
    return row;
}

/* Whether multiscales can tell the place: they have no turned or mirrored axes. A part of a place would be a wrong one. */
static bool can_tell_place(const distmap_image_info *info) {
    int axes[DISTMAP_MAX_AXES];
    const int count = info->world_ndim ? dm_space_axes(info, axes) : 0;
    for (int s = 0; s < count; s++)
        if (row_along(info, s) < 0)
            return false;
    return count > 0;
}

void dm_ome_of_info(const distmap_image_info *info, dm_ome *ome) {
    const bool placed = can_tell_place(info);
    *ome = (dm_ome){.ndim = info->ndim};
    for (int a = 0, s = 0; a < info->ndim; a++) {
        const distmap_axis *axis = &info->axis[a];
        const bool space = axis->type == DISTMAP_AXIS_SPACE;
        strcpy(ome->axis[a].name, axis->name);
        ome->axis[a].kind = axis->type;
        ome->axis[a].scale = distmap_image_pitch(info, a);
        strcpy(ome->axis[a].unit, space ? distmap_image_unit(info) : axis->unit);
        if (space && placed)
            ome->axis[a].translation = info->origin[row_along(info, s++)];
    }
}
