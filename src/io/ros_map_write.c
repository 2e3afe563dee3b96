/* Writing ROS maps: NAME.yaml, and NAME.pgm beside it, which takes its name first. The pitches must be one, in a unit of length, and the place a
 * turn in the plane: the format can tell of no other. How cells are to be understood comes from the map that the image came from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ros_map.h"
#include "io/vectors.h"

static const double same = 1e-6; /* relative */

static distmap_status refused(const distmap_writer *writer, const char *why) {
    return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: a ROS map has square cells in metres, y upwards; %s", writer->output.name, why);
}

/* The inverse of take_place() in ros_map_read.c. */
static distmap_status find_place(const distmap_writer *writer, dm_ros_map *map) {
    const distmap_image_info *info = &writer->info;
    const double ratio = distmap_unit_ratio(distmap_image_unit(info), "m");
    double pitch[2];
    if (!dm_axes_follow(info, "yx"))
        return dm_axes_refused(writer, "y x");
    for (int a = 0; a < 2; a++) {
        const char *unit = *info->axis[a].unit ? info->axis[a].unit : distmap_image_unit(info);
        pitch[a] = dm_length_in(distmap_image_pitch(info, a), unit, "m");
    }
    if (!(pitch[0] > 0 && pitch[1] > 0))
        return refused(writer, "this image's pitches are in no unit of length");
    if (fabs(pitch[0] - pitch[1]) > same * pitch[0])
        return refused(writer, "this image's pitches differ");
    const double r = map->resolution = pitch[1];
    if (!info->world_ndim)
        return DISTMAP_OK;
    const double c = info->matrix[0][1] * ratio / r, s = info->matrix[1][1] * ratio / r;
    if (info->world_ndim == 3 && (info->matrix[2][0] != 0 || info->matrix[2][1] != 0))
        return refused(writer, "this image lies upright in its world");
    if (fabs(hypot(c, s) - 1) > same || fabs(info->matrix[0][0] * ratio / r - s) > same || fabs(info->matrix[1][0] * ratio / r + c) > same)
        return refused(writer, "this image's rows and columns do not lie so in its world");
    const double right = r / 2, up = r * ((double)info->shape[0] - 0.5);
    map->origin[0] = info->origin[0] * ratio - c * right + s * up;
    map->origin[1] = info->origin[1] * ratio - s * right - c * up;
    map->origin[2] = atan2(s, c);
    return DISTMAP_OK;
}

/* The numbers of the map that the image came from, where they are these but for roundings; and how cells are to be understood. */
static distmap_status follow(const distmap_writer *writer, dm_ros_map *map) {
    const distmap_native *native = dm_native_find(&writer->info, "ros", "yaml");
    const dm_input messages = {.name = writer->output.name};
    dm_ros_map was;
    if (!native)
        return DISTMAP_OK;
    char *text = calloc(1, native->bytes + 1);
    if (!text)
        return dm_no_memory(messages.name);
    memcpy(text, native->data, native->bytes);
    if (!dm_ros_parse(&messages, text, &was)) {
        const double size = (double)(writer->info.shape[0] + writer->info.shape[1]) * map->resolution;
        const double turned = remainder(was.origin[2] - map->origin[2], 8 * atan(1));
        map->negate = was.negate, map->occupied = was.occupied, map->free = was.free, map->mode = was.mode;
        if (fabs(was.origin[0] - map->origin[0]) <= same * size && fabs(was.origin[1] - map->origin[1]) <= same * size && fabs(turned) <= same)
            memcpy(map->origin, was.origin, sizeof map->origin);
    }
    free(text);
    return DISTMAP_OK;
}

static void print(dm_text *text, const dm_ros_map *map, const char *image) {
    char number[32];
    dm_text_add(text, "image: \"%s\"\nmode: %s\nresolution: %s\n", image, map->mode, dm_number_text(map->resolution, number));
    for (int i = 0; i < 3; i++) {
        dm_number_text(map->origin[i], number);
        dm_text_add(text, "%s%s%s", i ? ", " : "origin: [", number, strpbrk(number, ".e") ? "" : ".0");
    }
    dm_text_add(text, "]\nnegate: %d\noccupied_thresh: %s\n", (int)map->negate, dm_number_text(map->occupied, number));
    dm_text_add(text, "free_thresh: %s\n", dm_number_text(map->free, number));
}

distmap_status dm_ros_create(distmap_writer *writer) {
    dm_ros_map map = {.occupied = 0.65, .free = 0.196, .mode = "trinary"};
    dm_text text = {0};
    char *name = NULL, head[64];
    TRY(find_place(writer, &map));
    TRY(follow(writer, &map));
    TRY(dm_beside_create(&writer->output, ".pgm", &writer->beside, &name));
    distmap_status status = DISTMAP_OK;
    if (strpbrk(name, "\"\\"))
        status = distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: a map's name must have no \" and no \\", writer->output.name);
    print(&text, &map, name);
    if (!status && text.failed)
        status = dm_no_memory(writer->output.name);
    if (!status)
        status = dm_output_write(&writer->output, text.data, text.bytes);
    const int bytes = snprintf(head, sizeof head, "P5\n%lld %lld\n255\n", (long long)writer->info.shape[1], (long long)writer->info.shape[0]);
    if (!status)
        status = dm_output_write(&writer->beside, head, (size_t)bytes);
    free(text.data);
    free(name);
    return status;
}

distmap_status dm_ros_write(distmap_writer *writer, int64_t count, const void *slices) {
    return dm_output_write(&writer->beside, slices, (size_t)count * writer->slice_bytes);
}
