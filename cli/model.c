/* Writes the model of an image, its axes, pitches and position in the world, as text and as JSON, and reads it from JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

static const char *const type_names[] = {"space", "time", "channel", "other"},
                         *const world_names[] = {"unknown", "RAS", "LPS", "projected", "geographic"},
                         *const kind_names[] = {"unknown", "mask", "labels", "intensity"};
enum { TYPES = 4, WORLDS = 5, KINDS = 4 };

const char *number_text(double value, char text[40]) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

const char *axes_text(const distmap_image_info *info, char text[160]) { return distmap_image_axes(info, text, 160); }

static bool in_space(const distmap_image_info *info, int axis) { return info->axis[axis].type == DISTMAP_AXIS_SPACE; }

/* ---- For people ---- */

const char *pitch_text(const distmap_image_info *info, char text[320]) {
    const char *unit = distmap_image_unit(info);
    double one = 0;
    bool alike = true;
    for (int a = 0; a < info->ndim; a++)
        if (in_space(info, a)) {
            alike = alike && (one == 0 || one == distmap_image_pitch(info, a)) &&
                    (!*info->axis[a].unit || strcmp(info->axis[a].unit, unit) == 0);
            one = distmap_image_pitch(info, a);
        }
    char number[40];
    *text = '\0';
    if (alike && one > 0) {
        snprintf(text, 320, "%s%s%s", number_text(one, number), *unit ? " " : "", unit);
        return text;
    }
    for (int a = 0; a < info->ndim; a++)
        if (in_space(info, a))
            snprintf(text + strlen(text), 320 - strlen(text), "%s%s=%s%s", *text ? ", " : "", info->axis[a].name,
                     number_text(distmap_image_pitch(info, a), number),
                     strcmp(info->axis[a].unit, unit) ? info->axis[a].unit : "");
    if (*unit)
        snprintf(text + strlen(text), 320 - strlen(text), " %s", unit);
    return text;
}

const char *pitch_origin(const struct source *source) {
    bool told = false;
    for (int a = 0; a < source->info->ndim; a++)
        told |= in_space(source->info, a) && source->info->axis[a].pitch > 0;
    return source->respaced ? "by --spacing" : told ? "by the file" : "by default";
}

static void print_axis(const distmap_axis *axis, int64_t length) {
    char number[40];
    printf("axis     %s: %s, %lld long", axis->name, type_names[axis->type], (long long)length);
    if (axis->pitch > 0)
        printf(", pitch %s%s%s", number_text(axis->pitch, number), *axis->unit ? " " : "", axis->unit);
    else if (axis->type == DISTMAP_AXIS_SPACE)
        printf(", pitch not told, 1%s%s", *axis->unit ? " " : "", axis->unit);
    printf("\n");
}

void print_model(const distmap_image_info *info) {
    char number[40];
    for (int a = 0; a < info->ndim; a++)
        print_axis(&info->axis[a], info->shape[a]);
    for (int w = 0; w < info->world_ndim; w++) {
        printf("%-8s %c = %s", w ? "" : "world", "xyz"[w], number_text(info->origin[w], number));
        for (int a = 0, s = 0; a < info->ndim; a++)
            if (in_space(info, a)) {
                const double step = info->matrix[w][s++];
                if (step != 0)
                    printf(" %c %s %s", step < 0 ? '-' : '+', number_text(fabs(step), number), info->axis[a].name);
            }
        printf("\n");
    }
    if (info->world_ndim)
        printf("         %s%s%s%s%s\n", world_names[info->world], *distmap_image_unit(info) ? ", in " : "",
               distmap_image_unit(info), info->crs ? ", " : "", info->crs ? info->crs : "");
    if (info->has_nodata)
        printf("nodata   %s\n", number_text(info->nodata, number));
    if (info->kind)
        printf("kind     %s\n", kind_names[info->kind]);
    for (int i = 0; i < info->native_count; i++)
        printf("%-8s %s %s, %zu bytes\n", i ? "" : "native", info->native[i].family, info->native[i].name,
               info->native[i].bytes);
}

/* ---- JSON ---- */

static json_object *axes_json(const distmap_image_info *info) {
    json_object *axes = json_object_new_array();
    for (int a = 0; a < info->ndim; a++) {
        const distmap_axis *axis = &info->axis[a];
        json_object *one = json_object_new_object();
        json_object_object_add(one, "name", json_object_new_string(axis->name));
        json_object_object_add(one, "type", json_object_new_string(type_names[axis->type]));
        json_object_object_add(one, "pitch", axis->pitch > 0 ? json_decimal(axis->pitch) : NULL);
        json_object_object_add(one, "unit", json_object_new_string(axis->unit));
        json_object_array_add(axes, one);
    }
    return axes;
}

static json_object *world_json(const distmap_image_info *info) {
    if (!info->world_ndim)
        return NULL;
    json_object *world = json_object_new_object(), *matrix = json_object_new_array(), *origin = json_object_new_array();
    int columns = 0;
    for (int a = 0; a < info->ndim; a++)
        columns += in_space(info, a);
    for (int w = 0; w < info->world_ndim; w++) {
        json_object *row = json_object_new_array();
        for (int s = 0; s < columns; s++)
            json_object_array_add(row, json_decimal(info->matrix[w][s]));
        json_object_array_add(matrix, row);
        json_object_array_add(origin, json_decimal(info->origin[w]));
    }
    json_object_object_add(world, "name", json_object_new_string(world_names[info->world]));
    json_object_object_add(world, "matrix", matrix);
    json_object_object_add(world, "origin", origin);
    json_object_object_add(world, "crs", info->crs ? json_object_new_string(info->crs) : NULL);
    return world;
}

void json_add_model(json_object *object, const distmap_image_info *info) {
    json_object_object_add(object, "axes", axes_json(info));
    json_object_object_add(object, "world", world_json(info));
    json_object_object_add(object, "nodata", info->has_nodata ? json_number(info->nodata) : NULL);
    json_object_object_add(object, "kind", json_object_new_string(kind_names[info->kind]));
    json_object_object_add(object, "packing", json_object_new_string(info->packing));
}

static json_object *member(json_object *object, const char *name) {
    json_object *found = NULL;
    if (json_object_is_type(object, json_type_object))
        json_object_object_get_ex(object, name, &found);
    return found;
}

static const char *text_of(json_object *object, const char *name) {
    json_object *text = member(object, name);
    return json_object_is_type(text, json_type_string) ? json_object_get_string(text) : "";
}

static int find(const char *const *names, int count, const char *name) {
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 0;
}

static double number_of(json_object *list, int i) {
    return json_object_get_double(
        json_object_is_type(list, json_type_array) ? json_object_array_get_idx(list, (size_t)i) : NULL);
}

void model_from_json(json_object *object, distmap_image_info *info) {
    json_object *axes = member(object, "axes"), *world = member(object, "world");
    if (json_object_is_type(axes, json_type_array) && json_object_array_length(axes) == (size_t)info->ndim)
        for (int a = 0; a < info->ndim; a++) {
            json_object *one = json_object_array_get_idx(axes, (size_t)a);
            distmap_axis *axis = &info->axis[a];
            snprintf(axis->name, sizeof axis->name, "%s", text_of(one, "name"));
            snprintf(axis->unit, sizeof axis->unit, "%s", text_of(one, "unit"));
            axis->type = (distmap_axis_type)find(type_names, TYPES, text_of(one, "type"));
            axis->pitch = json_object_get_double(member(one, "pitch"));
        }
    json_object *matrix = member(world, "matrix"), *origin = member(world, "origin");
    const size_t rows = json_object_is_type(matrix, json_type_array) ? json_object_array_length(matrix) : 0;
    if (rows && rows <= 3) {
        info->world_ndim = (int)rows;
        info->world = (distmap_world)find(world_names, WORLDS, text_of(world, "name"));
        info->crs = *text_of(world, "crs") ? text_of(world, "crs") : NULL;
        for (int w = 0; w < (int)rows; w++) {
            info->origin[w] = number_of(origin, w);
            for (int s = 0; s < 3; s++)
                info->matrix[w][s] = number_of(json_object_array_get_idx(matrix, (size_t)w), s);
        }
    }
    info->kind = (distmap_image_kind)find(kind_names, KINDS, text_of(object, "kind"));
    snprintf(info->packing, sizeof info->packing, "%s", text_of(object, "packing"));
}
