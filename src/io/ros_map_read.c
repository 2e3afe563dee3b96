/* Reading ROS maps: the picture by its own codec, the place by the YAML.
 *
 * With (x0, y0, yaw) the pose of the lower left corner and r the resolution, the centre of the element in row i and column j of H rows lies at
 *
 *     (x0, y0) + R(yaw) r (j + 1/2, H - i - 1/2)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ros_map.h"

/* Lines that begin with these two keys. */
static bool ros_sniff(const uint8_t *head, size_t bytes) {
    char text[DM_SNIFF_BYTES + 2] = "\n";
    memcpy(text + 1, head, bytes);
    text[bytes + 1] = '\0';
    return strstr(text, "\nimage:") && (strstr(text, "\nresolution:") || strstr(text, "\norigin:"));
}

static void take_place(const dm_ros_map *map, distmap_image_info *info) {
    const double r = map->resolution, c = cos(map->origin[2]), s = sin(map->origin[2]);
    const double right = r / 2, up = r * ((double)info->shape[0] - 0.5);
    static const char *const names[] = {"y", "x"};
    for (int a = 0; a < 2; a++) {
        info->axis[a] = (distmap_axis){.pitch = r};
        dm_axis_take(&info->axis[a], names[a]);
        dm_unit_take(info->axis[a].unit, "m");
    }
    info->world_ndim = 2;
    info->matrix[0][0] = r * s, info->matrix[0][1] = r * c;
    info->matrix[1][0] = -r * c, info->matrix[1][1] = r * s;
    info->origin[0] = map->origin[0] + c * right - s * up;
    info->origin[1] = map->origin[1] + s * right + c * up;
    info->kind = DISTMAP_KIND_INTENSITY;
}

static distmap_status open_picture(distmap_reader *reader, const dm_ros_map *map) {
    const dm_input *input = &reader->input;
    distmap_reader *picture;
    char *path;
    uint8_t head[DM_SNIFF_BYTES];
    size_t got = 0;
    TRY(dm_beside_path(input, map->image, true, &path));
    dm_input file = {.fd = -1};
    distmap_status status = dm_input_open(&file, path);
    if (!status)
        status = dm_input_next(&file, head, sizeof head, &got);
    if (!status && ros_sniff(head, got)) /* which may name itself */
        status = dm_broken(&file, "is a ROS map, not a picture of one");
    dm_input_close(&file);
    if (!status)
        status = distmap_reader_open(path, &picture);
    free(path);
    if (status) {
        char text[300];
        snprintf(text, sizeof text, "%s", distmap_error_text());
        return status == DISTMAP_ERROR_MEMORY ? status : distmap_error_set(status, "%s: its picture: %s", input->name, text);
    }
    reader->state = picture;
    const distmap_image_info *info = distmap_reader_info(picture);
    if (info->ndim != 2)
        return dm_broken(input, "its picture, %.200s, has %d axes, not 2", map->image, info->ndim);
    reader->info.dtype = info->dtype;
    reader->info.ndim = 2;
    memcpy(reader->info.shape, info->shape, sizeof info->shape);
    reader->info.held_bytes = info->held_bytes;
    snprintf(reader->info.stored, sizeof reader->info.stored, "%s, %s", info->format, map->mode);
    return DISTMAP_OK;
}

static bool never(const char *line) {
    (void)line;
    return false;
}

static distmap_status ros_open(distmap_reader *reader) {
    dm_text text = {0};
    dm_ros_map map;
    distmap_status status = dm_text_load(&reader->input, never, &text);
    if (!status && text.bytes)
        status = dm_native_add(reader, "ros", "yaml", text.data, text.bytes);
    if (!status)
        status = dm_ros_parse(&reader->input, text.data, &map);
    if (!status)
        status = open_picture(reader, &map);
    if (!status)
        take_place(&map, &reader->info);
    free(text.data);
    return status;
}

static distmap_status ros_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    return distmap_reader_read(reader->state, first, count, out);
}

static void ros_close(distmap_reader *reader) {
    distmap_reader *picture = reader->state;
    distmap_reader_close(&picture);
}

const dm_codec dm_codec_ros_map = {
    .info = {.name = "rosmap",
             .endings = ".yaml",
             .reads = true,
             .writes = true,
             .summary = "ROS's map.yaml with its picture; resolution, origin and yaw kept; written with a PGM"},
    .sniff = ros_sniff,
    .open = ros_open,
    .read = ros_read,
    .close = ros_close,
    .holds = 1u << DISTMAP_UINT8,
    .min_ndim = 2,
    .max_ndim = 2,
    .create = dm_ros_create,
    .write = dm_ros_write,
};
