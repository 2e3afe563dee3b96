/* distmap/io.h: image and volume files, for libdistmap_io.
 *
 * A codec reads or writes one format; formats are recognised by content when read, by the name's ending when written.
 * Reading and writing go by bands: runs of whole slices along the slowest axis, so that no second copy of an image is
 * ever held. Arrays are row-major, slowest axis first; a file's own axis order is mapped and told in `axes`.
 *
 * Every function returns a status of distmap.h and sets distmap_error_text() with the file's name in it. Nothing is
 * allocated on a header's word alone: a size that the file cannot hold is an error first.
 */
#ifndef DISTMAP_IO_H
#define DISTMAP_IO_H

#include "../distmap.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct distmap_image_info {
    const char *format;     /* "png", "tiff", ...: static text */
    distmap_dtype dtype;    /* of the elements as read */
    int ndim;               /* 1 to 4 */
    int64_t shape[DISTMAP_MAX_NDIM];
    double spacing[DISTMAP_MAX_NDIM]; /* per axis of `shape`; 1 where the file says nothing */
    char unit[16];          /* of the spacing: "mm", "um", ... ; "" when unknown */
    char axes[8];           /* the axes' names in the order of `shape`: "yx", "zyx", "tzyx" */
    char stored[64];        /* how the file stores it: "8-bit palette", "tiles 256x256, LZW, 12 pages", ... */
} distmap_image_info;

/* ---- Reading ---- */

typedef struct distmap_reader distmap_reader;

/* Opens a file ("-": standard input, spooled to an anonymous temporary file when the format needs to seek) and reads its
 * header. Colours become one channel: integer Rec. 601 luma; opacity is applied: elements that are fully transparent read
 * as 0. Palettes are looked up. Owned by the caller. */
DISTMAP_API distmap_status distmap_reader_open(const char *path, distmap_reader **reader);
DISTMAP_API const distmap_image_info *distmap_reader_info(const distmap_reader *reader);
/* Reads slices [first, first + count) of the slowest axis into `out`, a row-major buffer of count slices. Bands in rising
 * order are cheapest; some formats then start again when asked to go back. */
DISTMAP_API distmap_status distmap_reader_read(distmap_reader *reader, int64_t first, int64_t count, void *out);
/* When the file's elements lie in it as they are (uncompressed NPY, NIfTI, PGM, TIFF in one piece), a read-only view of all
 * of them, memory-mapped, valid until the reader is closed; otherwise a view with data NULL. Fortran order is a view by
 * strides. */
DISTMAP_API distmap_view distmap_reader_map(distmap_reader *reader);
DISTMAP_API void distmap_reader_close(distmap_reader **reader);

/* ---- Writing ---- */

typedef struct distmap_writer distmap_writer;

/* Starts a file of info->dtype, shape, spacing and unit (other members ignored) in the format that the name's ending
 * tells. It is written beside its name and takes the name only in distmap_writer_finish(). "-": standard output, as NPY.
 * A dtype that the format cannot hold is an error that names those that it can. */
DISTMAP_API distmap_status distmap_writer_open(const char *path, const distmap_image_info *info, distmap_writer **writer);
/* The same for an 8-bit picture by palette: 256 RGB colours. PNG only. */
DISTMAP_API distmap_status distmap_writer_open_palette(const char *path, const distmap_image_info *info,
                                                       const uint8_t palette[256][3], distmap_writer **writer);
/* Appends `count` slices of the slowest axis, in rising order. */
DISTMAP_API distmap_status distmap_writer_write(distmap_writer *writer, int64_t count, const void *slices);
/* When the output can be memory-mapped (NPY to a file), a view to write all elements in place; else data NULL. Its space
 * on the disk is reserved first, so that a full disk is an error and not a signal. */
DISTMAP_API distmap_view distmap_writer_map(distmap_writer *writer);
/* Completes the file and gives it its name; *writer is gone in any case. On error no file is left. */
DISTMAP_API distmap_status distmap_writer_finish(distmap_writer **writer);
/* Gives up: removes what was written. NULL and pointers to NULL are fine. */
DISTMAP_API void distmap_writer_abort(distmap_writer **writer);

/* ---- The codec table ---- */

typedef struct distmap_format_info {
    const char *name;     /* "png" */
    const char *endings;  /* ".png" or ".tif .tiff" */
    bool reads, writes;
    const char *summary;  /* what of the format is supported, one line */
} distmap_format_info;

/* Rows of the codec table; NULL past the end. Static memory. */
DISTMAP_API const distmap_format_info *distmap_format_get(size_t row);

#ifdef __cplusplus
}
#endif
#endif
