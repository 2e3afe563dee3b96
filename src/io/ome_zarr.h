/* OME-Zarr's `multiscales`: an image in several resolutions, each an array of a group whose attributes tell the axes and, for each
 * array, how its places become coordinates. Versions 0.4 (Zarr 2) and 0.5 (Zarr 3, attributes in "ome").
 */
#ifndef DISTMAP_IO_OME_ZARR_H
#define DISTMAP_IO_OME_ZARR_H

#include <json-c/json.h>

#include "io/codec.h"

enum { DM_OME_AXES = DISTMAP_MAX_AXES, DM_OME_NAME = 16 };

/* One array of an image: the coordinate along an axis is translation + scale times the place. */
typedef struct dm_ome {
    int ndim;
    struct {
        char name[DM_OME_NAME]; /* "x", ... */
        distmap_axis_type kind;
        char unit[DM_OME_NAME]; /* "um", "mm", "s", ...; "" where none is told */
        double scale, translation;
    } axis[DM_OME_AXES];
} dm_ome;

/* Whether a group's attributes have multiscales. */
bool dm_ome_is_image(json_object *attributes);
/* The path of the array of full resolution, within `size` bytes. */
distmap_status dm_ome_first_path(const dm_input *input, json_object *attributes, char path[512]);
/* Whether an array of the image has that path. */
bool dm_ome_has_path(json_object *attributes, const char *path);
/* The array at that path. */
distmap_status dm_ome_parse(const dm_input *input, json_object *attributes, const char *path, dm_ome *ome);

/* The attributes of a group whose one array is "0", for a Zarr version. */
json_object *dm_ome_attributes(const dm_ome *ome, int zarr_version);

/* ---- Between these and what a reader tells, a writer is told ---- */

distmap_status dm_ome_to_info(const dm_input *input, const dm_ome *ome, distmap_image_info *info);
void dm_ome_of_info(const distmap_image_info *info, dm_ome *ome);

#endif
