/* The tags of a map, between what they mean (tiff_geo_keys.c) and the codec's two sides (tiff_geo.c). */
#ifndef DISTMAP_IO_TIFF_GEO_H
#define DISTMAP_IO_TIFF_GEO_H

#include "io/tiff_file.h"

enum {
    SCALE = 33550,
    TIEPOINTS = 33922,
    TRANSFORMATION = 34264,
    KEYS = 34735,
    KEY_DOUBLES = 34736,
    KEY_TEXTS = 34737,
    GDAL_METADATA = 42112,
    GDAL_NODATA = 42113,
};

/* GeoKeys, and what their values mean. */
enum {
    MODEL_TYPE = 1024,
    RASTER_TYPE = 1025,
    CITATION = 1026,
    GEOGRAPHIC_TYPE = 2048,
    GEOGRAPHIC_CITATION = 2049,
    ANGULAR_UNITS = 2054,
    PROJECTED_TYPE = 3072,
    PROJECTED_CITATION = 3073,
    LINEAR_UNITS = 3076,
    LINEAR_UNIT_SIZE = 3077,
    PROJECTED = 1,
    GEOGRAPHIC = 2,
    POINT = 2,
    USER_DEFINED = 32767,
};

/* The content of the tags. */
typedef struct dm_geo {
    bool is_placed, is_point;
    double x[3], y[3]; /* X = x[0] + x[1] column + x[2] row, of centres; Y likewise */
    double scale_z, z;
    distmap_world world;
    double degrees; /* of which an angular unit is so many */
    char unit[16], crs[200];
} dm_geo;

/* Units of length that have a code. The first one is the metre. */
typedef struct dm_geo_length {
    unsigned code;
    double metres;
    const char *name;
} dm_geo_length;
extern const dm_geo_length dm_geo_lengths[]; /* ends with the name NULL */

/* That each key is there, and its values in their tag: the blocks of "geotiff" that a reader has added. */
distmap_status dm_geo_check_keys(const distmap_reader *reader);
/* Says what an image's blocks mean. Which rule they break, or NULL. */
const char *dm_geo_understand(const distmap_image_info *info, dm_geo *g);

#endif
