/* distmap/io.h: image and volume files, for libdistmap_io.
 *
 * A codec reads or writes one format. The content decides the format of an input, the ending of the name that of an output.
 * Reading and writing go by bands: runs of whole slices along the slowest axis, so that no second copy of an image is
 * ever held. Arrays are row-major, slowest axis first; a file's own axis order is mapped, and the axes' names show it.
 *
 * If the environment has DISTMAP_FORMATS, a list such as "npy,tiff", reading or writing other formats is an error.
 *
 * Every function returns a status of distmap.h and sets distmap_error_text() with the file's name in it. Before memory is allocated
 * for elements, the size in the header is compared with the file's size (except for Zarr and precomputed volumes, where chunks
 * may be missing). HDF5 is read only if the name says so, by libhdf5 in a child process, because it crashes on some files and never
 * returns from others; both are then errors of the file. HDF5 is written in the caller's process, by one thread at a time; a program
 * that calls libhdf5 itself from other threads needs a thread-safe libhdf5.
 */
#ifndef DISTMAP_IO_H
#define DISTMAP_IO_H

#include "../distmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The model of an image ----
 *
 * A file says what its elements mean: the axes, the pitches, the position in the world. Every codec fills in what its format has, and
 * writes what its format can hold. In all members zero means: not stated by the file or, for a writer, not known. An image has up to
 * DISTMAP_MAX_AXES axes; plans take DISTMAP_MAX_NDIM, see distmap_reader_select(). */

typedef enum distmap_axis_type {
    DISTMAP_AXIS_SPACE = 0, /* distances are measured along it */
    DISTMAP_AXIS_TIME,      /* this and the next ones: separate images */
    DISTMAP_AXIS_CHANNEL,
    DISTMAP_AXIS_OTHER, /* frequencies, components, ... */
} distmap_axis_type;

typedef struct distmap_axis {
    char name[16];          /* "x", or a file's own short name; unique. "": by position, ... w z y x */
    char unit[16];          /* of the pitch: "mm", "um", "s", ... */
    distmap_axis_type type;
    double pitch;           /* from one element to the next: finite, > 0; 0: not stated */
} distmap_axis;

typedef enum distmap_world {
    DISTMAP_WORLD_UNKNOWN = 0, /* coordinates x, y, z without a meaning */
    DISTMAP_WORLD_RAS,         /* x to a patient's right, y to the front (anterior), z to the head (superior): NIfTI */
    DISTMAP_WORLD_LPS,         /* x to the left, y to the back (posterior), z to the head: DICOM, ITK */
    DISTMAP_WORLD_PROJECTED,   /* x, y of a map, by distmap_image_info.crs */
    DISTMAP_WORLD_GEOGRAPHIC,  /* x is a longitude, y a latitude: angles, not lengths */
} distmap_world;

typedef enum distmap_image_kind {
    DISTMAP_KIND_UNKNOWN = 0,
    DISTMAP_KIND_MASK,
    DISTMAP_KIND_LABELS,
    DISTMAP_KIND_INTENSITY,
} distmap_image_kind;

/* The sample of an element that a reader presents, in formats whose elements have several: colour, opacity, a palette. */
typedef enum distmap_sample {
    DISTMAP_SAMPLE_OPEN = 0, /* no choice yet: see distmap_image_info.samples */
    DISTMAP_SAMPLE_INDEX,    /* the index of a colour in the picture's palette */
    DISTMAP_SAMPLE_LUMA,     /* integer Rec. 601; grey itself. 0 where elements are fully transparent */
    DISTMAP_SAMPLE_RED,      /* these as the file has them, whatever the opacity */
    DISTMAP_SAMPLE_GREEN,
    DISTMAP_SAMPLE_BLUE,
    DISTMAP_SAMPLE_ALPHA, /* the opacity */
} distmap_sample;

/* "red", ..., for OPEN "open"; NULL past the end. */
DISTMAP_API const char *distmap_sample_name(distmap_sample sample);

/* Data that only one family of formats understands, unchanged. A writer of that family uses those whose names it knows, as far
 * as they agree with the other members, which take precedence. */
typedef struct distmap_native {
    const char *family; /* "nifti", "geotiff", ... */
    const char *name;
    const void *data;
    size_t bytes;
} distmap_native;

/* A reader's pointers are valid until it is closed; a writer copies what it needs when it is opened. */
typedef struct distmap_image_info {
    const char *format;  /* "png", "tiff", ...: static text */
    distmap_dtype dtype; /* of the elements as read */
    int ndim;            /* 1 to DISTMAP_MAX_AXES */
    int64_t shape[DISTMAP_MAX_AXES];
    distmap_axis axis[DISTMAP_MAX_AXES]; /* in the order of `shape` */
    /* Where elements are: the centre of element i has the world's coordinate
     *     origin[w] + sum over s of matrix[w][s] * i[s]
     * along its axis w of x, y, z. s counts the space axes in the order of `shape`; there are at most three then, and columns of
     * the matrix are independent. In the unit of the space axes (GEOGRAPHIC: degrees). Pitches need not be the columns' lengths:
     * the matrix may stretch the image to fit another. */
    int world_ndim; /* how many w: 1 to 3, at least the number of space axes; 0: the file states no position */
    double matrix[3][3], origin[3];
    distmap_world world;
    const char *crs;  /* the name of the world's coordinate system, or its definition (WKT), for display; NULL: none */
    bool has_nodata;
    double nodata; /* elements of this value have no data */
    distmap_image_kind kind;
    const distmap_native *native;
    int native_count;
    /* Writers: the version of Zarr's format, 2 or 3; 0: that of the group, else 3. It is an error if the format is another one, or if the
     * array's group has the other version. Readers: 0. */
    int zarr_format;
    /* Readers: bit s is set if sample s can be chosen (distmap_reader_sample()); 0: an element is one number. `sample` is the one that
     * is presented, initially the index for a picture with a palette. While it is OPEN, elements are presented as luma. */
    unsigned samples;
    distmap_sample sample;
    /* The compression of the elements: "deflate" (also for gzip and zlib), "zstd", "lzw", "blosc", ...; "none"; "": not stated. A writer
     * whose format is always compressed (PNG, HDF5, Zarr) uses its own way. Others compress if the elements come from a compressed
     * file: in the same way, if the format has it, else in their own way. */
    char packing[16];
    bool packing_asked; /* writers: in that way only, else an error names the ways of the format; "yes": in the format's own way */
    bool chunk_asked, shard_asked; /* writers: with `chunk` and `shard` as given, or it is an error if the format has none */
    char stored[64];   /* how the file stores it: "8-bit palette", "tiles 256x256, LZW, 12 pages", ... */
    size_t held_bytes; /* the most memory that a reader uses for elements, beside the caller's buffers */
    int64_t chunk[DISTMAP_MAX_AXES]; /* the shape of chunks that are files of their own (Zarr, precomputed); else 0 */
    /* Zarr with several chunks in a file: the shape of these shards, in elements; else 0. A writer of version 3 makes such shards, of
     * whole chunks; they grow if necessary. In distmap_writer_info() `chunk` is then the shard, which boxes must not cut. */
    int64_t shard[DISTMAP_MAX_AXES];
} distmap_image_info;

/* The pitch of an axis, 1 if it is not stated. */
DISTMAP_API double distmap_image_pitch(const distmap_image_info *info, int axis);
/* The unit of the space axes: that of the last one that has a unit. "": none. Never NULL. */
DISTMAP_API const char *distmap_image_unit(const distmap_image_info *info);
/* Writes the names of the axes into `text`: "zyx", with commas if a name has several letters. Returns `text`. */
DISTMAP_API const char *distmap_image_axes(const distmap_image_info *info, char *text, size_t bytes);
/* Sets a pitch and scales the matrix likewise; the position of the first element does not change. */
DISTMAP_API void distmap_image_set_pitch(distmap_image_info *info, int axis, double pitch);
/* Converts RAS to LPS or back. Returns whether the world is now the given one; other worlds cannot be converted, and do not change. */
DISTMAP_API bool distmap_image_turn(distmap_image_info *info, distmap_world world);
/* Whether the elements of the two images have the same positions: shape, axes, pitches, units and, if both state it, the position in the
 * world, except for rounding (1e-5 of an element). RAS and LPS are comparable. If not, `text` (may be NULL) says what
 * differs, with the value of `b` first: "x has a pitch of 0.5 mm, not 1 mm". */
DISTMAP_API bool distmap_image_same_grid(const distmap_image_info *a, const distmap_image_info *b, char *text,
                                         size_t bytes);
/* The number of units `to` in one unit `from`, both of length or both of time: 1000 for mm and um. 1 for equal
 * words, 0 for unknown ones. */
DISTMAP_API double distmap_unit_ratio(const char *from, const char *to);

/* How names of files begin that are no results: outputs that are being written, what a run keeps for its next one, locks. A run that was
 * killed may leave some; a program that looks at all files of a folder passes over them. */
#define DISTMAP_TEMPORARY ".distmap-"

/* The number of bytes of `path` that name a file: all of them, except in "FILE:/DATASET" those of FILE, for formats in which one file
 * holds several images (HDF5). FILE is the part before the first ":/" that is a regular file or ends in .h5, .hdf5 or .hdf. */
DISTMAP_API size_t distmap_path_file_bytes(const char *path);

/* The largest number of threads that compress and decompress chunks in this process; 0: as many as it has processors. For calls that
 * begin afterwards. */
DISTMAP_API distmap_status distmap_io_set_threads(int threads);

/* `asked` is called when the handler of a signal interrupts a read, a write or a wait for a lock, which can last for ever on a stalled
 * pipe. A nonzero result ends the call with DISTMAP_ERROR_IO. NULL (initially): the call continues. For the whole process; any thread
 * that reads or writes may call the function. */
DISTMAP_API void distmap_io_on_interrupt(int (*asked)(void));

/* The child process that reads HDF5 is the program distmap-io-helper, which is installed with the library (libexec/distmap). A program
 * that calls this function first in main() is used instead of it: so a program that is linked with the static library needs no
 * other file. In such a child the function does not return. */
DISTMAP_API void distmap_io_own_helper(int argc, const char *const *argv);

/* ---- Reading ---- */

typedef struct distmap_reader distmap_reader;

/* Opens a file ("-": standard input, copied to an anonymous temporary file if the format needs to seek) and reads its
 * header. An element is presented as one number, in colours and palettes as one of its samples (distmap_reader_sample()). Samples of a
 * TIFF beyond colours and opacity are bands, an axis "c". In an HDF5 file with several datasets one must be named,
 * "vol.h5:/volumes/mask". Owned by the caller. */
DISTMAP_API distmap_status distmap_reader_open(const char *path, distmap_reader **reader);
/* The model of the image that the reader presents. The pointer is valid until the reader is closed. */
DISTMAP_API const distmap_image_info *distmap_reader_info(const distmap_reader *reader);
/* Selects index `place` of an axis: from now on the reader presents the image at that index, without the axis. This chooses
 * one time or channel of a file, or reduces a file to as many axes as plans take. `axis` counts the presented axes, of which one must
 * remain. */
DISTMAP_API distmap_status distmap_reader_select(distmap_reader *reader, int axis, int64_t place);
/* From now on presents that sample of the elements, one of distmap_image_info.samples; type and shape do not change. If an element
 * is one number, LUMA is that number. */
DISTMAP_API distmap_status distmap_reader_sample(distmap_reader *reader, distmap_sample sample);
/* Reads slices [first, first + count) of the slowest axis into `out`, a row-major buffer of count slices. Bands in rising
 * order are cheapest; in some formats an earlier band means to read again from the start. */
DISTMAP_API distmap_status distmap_reader_read(distmap_reader *reader, int64_t first, int64_t count, void *out);
/* Reads the box [first[a], first[a] + count[a]) along each axis a into `out`, row-major. For formats with uncompressed contiguous
 * elements, and those whose chunks are files of their own (NPY, Zarr, precomputed); others return DISTMAP_ERROR_UNSUPPORTED. */
DISTMAP_API distmap_status distmap_reader_read_box(distmap_reader *reader, const int64_t *first, const int64_t *count,
                                                   void *out);
enum { DISTMAP_IDENTITY_BYTES = 320 };
/* Writes the identity of the file into `text`, one line: inode, size and times, also of a file beside it; for a folder a digest over the
 * same of all its files, which are examined one by one. It is equal on all machines that see the file. Different identities mean
 * different or changed files; equal ones before and after reading mean that the file did not change meanwhile. */
DISTMAP_API distmap_status distmap_reader_identity(const distmap_reader *reader, char text[DISTMAP_IDENTITY_BYTES]);
/* The same from the bytes alone, for copies and for file systems whose times are unreliable: sizes, and digests (XXH3, 128 bits) of all
 * bytes of the file and of one beside it, or of the names and bytes of all files in a folder. Reads all of them. */
DISTMAP_API distmap_status distmap_reader_digest(const distmap_reader *reader, char text[DISTMAP_IDENTITY_BYTES]);
/* A read-only view of all elements, memory-mapped, valid until the reader is closed, if the file holds them uncompressed and contiguous
 * (NPY, NIfTI, PGM, some TIFF), with strides for Fortran order; otherwise, or with more than DISTMAP_MAX_NDIM axes, a view with data
 * NULL. If the file is cut short meanwhile, access to the missing elements raises SIGBUS, as in every mapping;
 * distmap_reader_read() returns an error. */
DISTMAP_API distmap_view distmap_reader_map(distmap_reader *reader);
DISTMAP_API void distmap_reader_close(distmap_reader **reader);

/* ---- Writing ---- */

typedef struct distmap_writer distmap_writer;

/* Starts a file of info->dtype and shape in the format of the name's ending, with as much of the other members as the format can hold
 * (chunk 0: the library chooses; format, stored and held_bytes are ignored). The file is written under a temporary name in the same
 * folder and gets its name in distmap_writer_finish(). Names work as in a shell's redirection: links are followed and kept; pipes and
 * devices are written directly; a file without write permission is an error. A file that replaces another one gets its mode and, if
 * permitted, its owner, its access list and the user's attributes (user.*). The next writer in a folder removes the temporary files of
 * killed processes. "-": standard output, as NPY. A dtype that the format cannot hold is an error that names those that it can hold; so are
 * axes, if it can hold none of that meaning in that order.
 *
 *     out.h5              a new file with the dataset /data
 *     out.h5:/a/b         adds a dataset to an existing file, on a copy of it; overwrites none. Waits for other processes that add to it
 *     out.zarr            a Zarr array of version 3, a folder, which must not exist
 *     out.zarr/a/b        an array in a group, in the group's version; makes missing groups; overwrites nothing; appears at once
 *     out.ome.zarr        an OME-Zarr image
 *     out.precomputed     a folder, which must not exist
 *     out.hdr .mhd .nhdr .yaml    headers; the elements go to a file beside them (.img, .raw or .zraw, .raw or .raw.gz, .pgm) */
DISTMAP_SIZED distmap_status distmap_writer_open(const char *path, const distmap_image_info *info, distmap_writer **writer);
/* The same for an 8-bit picture with a palette: 256 RGB colours. PNG only. */
DISTMAP_SIZED distmap_status distmap_writer_open_palette(const char *path, const distmap_image_info *info,
                                                         const uint8_t palette[256][3], distmap_writer **writer);
/* Appends `count` slices of the slowest axis, in rising order. */
DISTMAP_API distmap_status distmap_writer_write(distmap_writer *writer, int64_t count, const void *slices);
/* If the output can be memory-mapped (NPY to a file, uncompressed HDF5), a view to write all elements in place; else data NULL. Its space
 * on the disk is reserved first, so that a full disk is an error and not a signal. */
DISTMAP_API distmap_view distmap_writer_map(distmap_writer *writer);
/* For results that are written in any order, or over several runs. The file is written under the name `part`, in the same file system
 * as `path`; the content of an existing `part` is kept. distmap_writer_descriptor() returns the open file, and in
 * *offset the position of the first element: write all elements there, row-major, by pwrite(), before the writer is
 * finished. Only for formats with uncompressed contiguous elements (NPY); others return DISTMAP_ERROR_UNSUPPORTED. */
DISTMAP_SIZED distmap_status distmap_writer_open_part(const char *path, const char *part, const distmap_image_info *info,
                                                      distmap_writer **writer);
DISTMAP_API int distmap_writer_descriptor(const distmap_writer *writer, int64_t *offset);
/* Closes such a writer, but keeps the part for another run. */
DISTMAP_API void distmap_writer_leave(distmap_writer **writer);
/* For a result that several processes write, at the same time or not. The file is written under the name `part`, as above; the first
 * process creates it, and all must pass the same info. Elements are put by boxes, which begin and end at chunks, if the format has
 * them, or at the end of an axis. A box may be put repeatedly, with the same elements: a chunk is always either complete or
 * missing, even if a process dies. Every process leaves the writer; when everything is put the part is complete and may be renamed.
 * NPY, Zarr and precomputed; others return DISTMAP_ERROR_UNSUPPORTED. Processes on different machines need a file
 * system that shows each what others wrote; for NPY also within a page, which NFS does not. */
DISTMAP_SIZED distmap_status distmap_writer_open_shared(const char *path, const char *part,
                                                        const distmap_image_info *info, distmap_writer **writer);
/* The info that the writer was opened with, with the library's choices filled in. */
DISTMAP_API const distmap_image_info *distmap_writer_info(const distmap_writer *writer);
DISTMAP_API distmap_status distmap_writer_put(distmap_writer *writer, const int64_t *first, const int64_t *count,
                                              const void *elements);
/* Waits until all that was put is on the disk. */
DISTMAP_API distmap_status distmap_writer_sync(distmap_writer *writer);
/* Completes the file, waits until it is on the disk and gives it its name; *writer is freed in any case. After an error no file is left,
 * and an existing file of that name is unchanged. */
DISTMAP_API distmap_status distmap_writer_finish(distmap_writer **writer);
/* The same for several outputs as one: all get their names, or none does. writers[i] may be NULL, and is NULL afterwards. Outputs that
 * are written directly (standard output, pipes, devices) can only fail at their end. `flags`: 0, or DISTMAP_FINISH_UNSYNCED. If the
 * process or the machine dies meanwhile, some outputs may have their names, but each name has the complete old file or the complete new
 * one. An error that says that a folder could not be written to the disk comes after all have their names. */
DISTMAP_API distmap_status distmap_writers_finish(distmap_writer **writers, int count, unsigned flags);
enum { DISTMAP_FINISH_UNSYNCED = 1 }; /* does not wait for the disk: after a power failure files may be zeros, or the old ones */
/* A file of any bytes, by the same rules. Only distmap_writer_append(), the finish functions and distmap_writer_abort() accept it. */
DISTMAP_API distmap_status distmap_writer_open_bytes(const char *path, distmap_writer **writer);
DISTMAP_API distmap_status distmap_writer_append(distmap_writer *writer, const void *data, size_t bytes);
/* Removes what was written (for a shared writer nothing) and frees the writer. NULL and pointers to NULL are allowed. */
DISTMAP_API void distmap_writer_abort(distmap_writer **writer);

/* ---- One file by several processes ----
 *
 * NPY and HDF5 files consist of pieces (in compressed HDF5, chunks) that can be made separately. Every process has some slices of the
 * image, and one of them, the root, has the writer. The processes exchange the lengths and positions by their own means:
 *
 *     each    distmap_pieces_pack()      makes the pieces of its slices
 *     root    distmap_writer_place()     makes the positions from the lengths of all pieces
 *     each    distmap_pieces_put()       writes its pieces there
 *     root    distmap_writer_finish()    when all are done
 *
 * The file is the same for any number of processes, to the byte. All of them see the folder of the file, which may be on a network. */
typedef struct distmap_pieces distmap_pieces;

/* The number of slices of a piece (the last one may be thinner) in a file of that name and info. The slices of a process must begin and
 * end with pieces. Other formats return DISTMAP_ERROR_UNSUPPORTED. */
DISTMAP_SIZED distmap_status distmap_pieces_depth(const char *path, const distmap_image_info *info, int64_t *depth);
/* Makes the pieces of slices [first, first + count) of an image like `info`. Owned by the caller. The pieces of NPY and of uncompressed
 * HDF5 are `slices` itself, which must stay until they are put; those of compressed HDF5 are copies. */
DISTMAP_SIZED distmap_status distmap_pieces_pack(const char *path, const distmap_image_info *info, int64_t first,
                                               int64_t count, const void *slices, distmap_pieces **pieces);
/* The length of each piece, and their number. */
DISTMAP_API const uint64_t *distmap_pieces_bytes(const distmap_pieces *pieces, int64_t *count);
/* Makes the positions in the file from the lengths of all pieces of the image, in the order of its slices. Call it once, for a writer to
 * which nothing was written; then put all pieces before the file is finished. */
DISTMAP_API distmap_status distmap_writer_place(distmap_writer *writer, int64_t count, const uint64_t *bytes,
                                                int64_t *offsets);
/* The temporary name of the file, until it is finished; NULL if it is written directly (standard output, pipes). */
DISTMAP_API const char *distmap_writer_part(const distmap_writer *writer);
/* Writes the pieces to their positions, in the file with the temporary name `part`. */
DISTMAP_API distmap_status distmap_pieces_put(const distmap_pieces *pieces, const char *part, const int64_t *offsets);
/* Frees *pieces and sets it to NULL; NULL and pointers to NULL are allowed. */
DISTMAP_API void distmap_pieces_free(distmap_pieces **pieces);

/* ---- The codec table ---- */

typedef struct distmap_format_info {
    const char *name;     /* "png" */
    const char *endings;  /* ".png" or ".tif .tiff" */
    bool reads, writes;
    const char *summary;  /* the supported part of the format, one line */
    bool shares;          /* several processes can write one: distmap_writer_open_shared() */
    bool chunked;         /* chunks are files of their own, with the shape distmap_image_info.chunk */
} distmap_format_info;

/* Rows of the codec table; NULL past the end. Static memory. */
DISTMAP_API const distmap_format_info *distmap_format_get(size_t row);
/* The row of the format in which a file of that name is written: by its ending, or by the ending of the folder in which it is an
 * array ("vol.zarr/a"). NULL: none. */
DISTMAP_API const distmap_format_info *distmap_format_of(const char *path);

#ifdef __cplusplus
}
#endif

#include "io_sized.h"
#endif
