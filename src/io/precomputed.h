/* Neuroglancer's precomputed volumes: a folder with `info`, JSON, and for each scale a folder of chunks that are files of their own.
 *
 *     vol.precomputed/info                           data_type, num_channels, type, scales: key, size, chunk_sizes, resolution, ...
 *     vol.precomputed/8_8_40/0-64_64-128_0-64        elements with x from 0 on to below 64, ...: x fastest, then y, z, channels
 *     vol.precomputed/8_8_40/0-64_64-128_0-64.gz     the same by gzip
 *
 * Lists are in the order x, y, z; places in names count from voxel_offset on; a chunk at the end of an axis is as much shorter, and one
 * that is not there is all zeros. Arrays here have DISTMAP_MAX_AXES axes as Zarr's have, whose boxes, packers and stores these are.
 */
#ifndef DISTMAP_IO_PRECOMPUTED_H
#define DISTMAP_IO_PRECOMPUTED_H

#include "io/zarr.h"

/* One scale of a volume. */
typedef struct dm_precomputed {
    distmap_dtype dtype;
    size_t bytes;      /* of an element */
    int64_t channels;
    bool labels;       /* "segmentation" */
    char key[DM_ZARR_PATH];
    int64_t offset[3]; /* x, y, z */
    double resolution[3];
    int64_t shape[DISTMAP_MAX_AXES], chunk[DISTMAP_MAX_AXES]; /* c z y x behind leading ones */
} dm_precomputed;

enum { DM_PRECOMPUTED_NAME = 160 };

/* ---- precomputed_info.c ---- */

/* The scale of that key, or the first one where it is NULL. */
distmap_status dm_precomputed_parse(const dm_input *input, json_object *info, const char *key, dm_precomputed *volume);
/* Sets the shape, axes and place. Three axes, and one of channels where there are several. */
void dm_precomputed_take(const dm_precomputed *volume, distmap_image_info *info);
/* The info of an image that is written, whose chunks are chosen; the caller frees it. NULL without memory. */
char *dm_precomputed_text(const distmap_image_info *info);
/* The shape of the chunk at that place of the grid, and its file's name. */
size_t dm_precomputed_chunk(const dm_precomputed *volume, const int64_t at[DISTMAP_MAX_AXES],
                            int64_t shape[DISTMAP_MAX_AXES], char name[DM_PRECOMPUTED_NAME]);
/* The size of the largest chunk. */
size_t dm_precomputed_chunk_bytes(const dm_precomputed *volume);
/* How many threads may hold as many bytes each. */
int dm_precomputed_workers(size_t bytes);

/* ---- precomputed_write.c, for the codec's row in precomputed_read.c ---- */

distmap_status dm_precomputed_place(const char *path, char **target);
distmap_status dm_precomputed_create(distmap_writer *writer);
distmap_status dm_precomputed_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_precomputed_put(distmap_writer *writer, const dm_box *box, const void *elements);
distmap_status dm_precomputed_finish(distmap_writer *writer);
void dm_precomputed_discard(distmap_writer *writer);

#endif
