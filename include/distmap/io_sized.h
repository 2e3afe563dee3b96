/* distmap/io_sized.h: the same as distmap/sized.h for libdistmap_io. Part of io.h, which includes it. Later versions add members to
 * the ends of distmap_image_info and distmap_format_info. Readers and writers lend the library's own; a copy of one may be given to
 * a writer like any other. The functions about an image (distmap_image_*) look at members that every version has. */
#ifndef DISTMAP_IO_SIZED_H
#define DISTMAP_IO_SIZED_H

#include "io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* See distmap_struct_bytes(). */
DISTMAP_API size_t distmap_io_struct_bytes(const char *name);

/* The functions of distmap/io.h, with the size of each struct. */
DISTMAP_API distmap_status distmap_writer_open_sized(const char *path, const distmap_image_info *info,
                                                     size_t info_bytes, distmap_writer **writer);
DISTMAP_API distmap_status distmap_writer_open_palette_sized(const char *path, const distmap_image_info *info,
                                                             size_t info_bytes, const uint8_t palette[256][3],
                                                             distmap_writer **writer);
DISTMAP_API distmap_status distmap_writer_open_part_sized(const char *path, const char *part,
                                                          const distmap_image_info *info, size_t info_bytes,
                                                          distmap_writer **writer);
DISTMAP_API distmap_status distmap_writer_open_shared_sized(const char *path, const char *part,
                                                            const distmap_image_info *info, size_t info_bytes,
                                                            distmap_writer **writer);
DISTMAP_API distmap_status distmap_pieces_depth_sized(const char *path, const distmap_image_info *info,
                                                      size_t info_bytes, int64_t *depth);
DISTMAP_API distmap_status distmap_pieces_pack_sized(const char *path, const distmap_image_info *info,
                                                     size_t info_bytes, int64_t first, int64_t count,
                                                     const void *slices, distmap_pieces **pieces);

DISTMAP_SIZED distmap_status distmap_writer_open(const char *path, const distmap_image_info *info,
                                                 distmap_writer **writer) {
    return distmap_writer_open_sized(path, info, sizeof *info, writer);
}

DISTMAP_SIZED distmap_status distmap_writer_open_palette(const char *path, const distmap_image_info *info,
                                                         const uint8_t palette[256][3], distmap_writer **writer) {
    return distmap_writer_open_palette_sized(path, info, sizeof *info, palette, writer);
}

DISTMAP_SIZED distmap_status distmap_writer_open_part(const char *path, const char *part,
                                                      const distmap_image_info *info, distmap_writer **writer) {
    return distmap_writer_open_part_sized(path, part, info, sizeof *info, writer);
}

DISTMAP_SIZED distmap_status distmap_writer_open_shared(const char *path, const char *part,
                                                        const distmap_image_info *info, distmap_writer **writer) {
    return distmap_writer_open_shared_sized(path, part, info, sizeof *info, writer);
}

DISTMAP_SIZED distmap_status distmap_pieces_depth(const char *path, const distmap_image_info *info, int64_t *depth) {
    return distmap_pieces_depth_sized(path, info, sizeof *info, depth);
}

DISTMAP_SIZED distmap_status distmap_pieces_pack(const char *path, const distmap_image_info *info, int64_t first,
                                                 int64_t count, const void *slices, distmap_pieces **pieces) {
    return distmap_pieces_pack_sized(path, info, sizeof *info, first, count, slices, pieces);
}

#ifdef __cplusplus
}
#endif
#endif
