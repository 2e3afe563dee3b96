/* ROS's maps: a YAML file and a picture that it names.
 *
 *     image: map.pgm               beside it, or at an absolute path, as map_saver writes it where it is given one
 *     resolution: 0.05             metres per pixel, along both axes
 *     origin: [-10.0, -7.5, 0.0]   x, y and yaw of the picture's lower left corner, metres and radians
 *     negate: 0, occupied_thresh: 0.65, free_thresh: 0.196, mode: trinary
 *
 * The picture's row 0 is at the top, and the map's y goes up.
 */
#ifndef DISTMAP_IO_ROS_MAP_H
#define DISTMAP_IO_ROS_MAP_H

#include "io/text.h"

typedef struct dm_ros_map {
    char *image; /* in the text */
    double resolution, origin[3];
    int64_t negate;
    double occupied, free; /* thresholds */
    const char *mode;      /* "trinary", "scale", "raw" */
} dm_ros_map;

/* Takes the YAML to pieces; the text is cut up. */
distmap_status dm_ros_parse(const dm_input *input, char *text, dm_ros_map *map);

/* The writing half, for the codec's row in ros_map_read.c. */
distmap_status dm_ros_create(distmap_writer *writer);
distmap_status dm_ros_write(distmap_writer *writer, int64_t count, const void *slices);

#endif
