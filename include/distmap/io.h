/* distmap/io.h: image and volume files, for libdistmap_io.
 *
 * A codec reads or writes one format; formats are recognised by content when read, by the name's ending when written.
 * Reading and writing go by bands: runs of whole slices along the slowest axis, so that no second copy of an image is
 * ever held. Arrays are row-major, slowest axis first; a file's own axis order is mapped and told by the axes' names.
 *
 * Where the environment has DISTMAP_FORMATS, a list such as "npy,tiff", files of other formats are errors, read or written.
 *
 * Every function returns a status of distmap.h and sets distmap_error_text() with the file's name in it. Nothing is
 * allocated on a header's word alone: a size that the file cannot hold is an error first (but Zarr and precomputed
 * volumes leave out chunks of one value, so that its word cannot be checked). HDF5 is read only where the name says
 * so, by libhdf5 in a child process, since there are files on which it crashes or never returns: that is an error of
 * the file then. It is written in the caller's process, by one thread at a time; a program that calls libhdf5 itself
 * from other threads needs one that is safe for that.
 */
#ifndef DISTMAP_IO_H
#define DISTMAP_IO_H

#include "../distmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What an image is ----
 *
 * Beside elements, a file tells what they mean: which axis is which, how far elements are from each other, where in the world they
 * are. Every codec fills in what its format has, and writes what its format holds. In all members zero means that the file says
 * nothing, and from a writer's caller that nothing is known. An image has up to DISTMAP_MAX_AXES axes, of which plans take
 * DISTMAP_MAX_NDIM: see distmap_reader_select(). */

typedef enum distmap_axis_type {
    DISTMAP_AXIS_SPACE = 0, /* distances are measured along it */
    DISTMAP_AXIS_TIME,      /* this and what follows: many images, one behind the other */
    DISTMAP_AXIS_CHANNEL,
    DISTMAP_AXIS_OTHER, /* frequencies, components, ... */
} distmap_axis_type;

typedef struct distmap_axis {
    char name[16];          /* "x", or a file's own short name; unique. "": by its place, ... w z y x */
    char unit[16];          /* of the pitch: "mm", "um", "s", ... */
    distmap_axis_type type;
    double pitch;           /* from one element to the next: finite, > 0; 0: not told */
} distmap_axis;

typedef enum distmap_world {
    DISTMAP_WORLD_UNKNOWN = 0, /* coordinates x, y, z of nobody knows what */
    DISTMAP_WORLD_RAS,         /* x to a patient's right, y to the front (anterior), z to the head (superior): NIfTI */
    DISTMAP_WORLD_LPS,         /* x to the left, y to the back (posterior), z to the head: DICOM, ITK */
    DISTMAP_WORLD_PROJECTED,   /* x, y of a map, by distmap_image_info.crs */
    DISTMAP_WORLD_GEOGRAPHIC,  /* x is a longitude, y a latitude: no lengths, but angles */
} distmap_world;

typedef enum distmap_image_kind {
    DISTMAP_KIND_UNKNOWN = 0,
    DISTMAP_KIND_MASK,
    DISTMAP_KIND_LABELS,
    DISTMAP_KIND_INTENSITY,
} distmap_image_kind;

/* What of an element is presented, in formats whose elements have several samples: pictures in colour, with opacity, by a palette. */
typedef enum distmap_sample {
    DISTMAP_SAMPLE_OPEN = 0, /* no choice yet: see distmap_image_info.samples */
    DISTMAP_SAMPLE_INDEX,    /* of a colour in the picture's palette */
    DISTMAP_SAMPLE_LUMA,     /* integer Rec. 601; grey itself. 0 where elements are fully transparent */
    DISTMAP_SAMPLE_RED,      /* these as the file has them, whatever the opacity */
    DISTMAP_SAMPLE_GREEN,
    DISTMAP_SAMPLE_BLUE,
    DISTMAP_SAMPLE_ALPHA, /* the opacity */
} distmap_sample;

/* "red"; NULL past the end, and for OPEN "open". */
DISTMAP_API const char *distmap_sample_name(distmap_sample sample);

/* What only the formats of one family understand, as they keep it. A writer of that family takes those whose names it knows, as far
 * as they agree with the other members, which count more. */
typedef struct distmap_native {
    const char *family; /* "nifti", "geotiff", ... */
    const char *name;
    const void *data;
    size_t bytes;
} distmap_native;

/* Pointers of a reader's are valid until it is closed; a writer copies what it needs when it is opened. */
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
    int world_ndim; /* how many w: 1 to 3, not less than space axes; 0: the file tells no place */
    double matrix[3][3], origin[3];
    distmap_world world;
    const char *crs;  /* the name of the world's coordinate system, or its definition (WKT), to be shown; NULL: none */
    bool has_nodata;
    double nodata; /* where elements have this value, there is nothing */
    distmap_image_kind kind;
    const distmap_native *native;
    int native_count;
    /* Writers: 2 or 3, the version of Zarr's format, or it is an error where the format is another one, or the group that the array is
     * put into is of the other version; 0: that of the group, else 3. Readers: 0. */
    int zarr_format;
    /* Readers: bit s is set where sample s can be chosen (distmap_reader_sample()); 0: an element is one number. And which is
     * presented: of a palette's picture first the index. While it is OPEN, elements are lumas, which nobody asked for. */
    unsigned samples;
    distmap_sample sample;
    /* What the elements are packed by: "deflate" (also gzip's and zlib's), "zstd", "lzw", "blosc", ...; "none": they are not; "": not
     * told. A writer that packs anyway (PNG, HDF5, Zarr) does so in its own way. Others pack where the elements come from a packed
     * file: by the same, if the format has that, else in its own way. */
    char packing[16];
    bool packing_asked; /* writers: by that and nothing else, or it is an error that names what the format has; "yes": in its own way */
    bool chunk_asked, shard_asked; /* writers: `chunk` and `shard` are kept, or it is an error where the format has none */
    char stored[64];   /* how the file stores it: "8-bit palette", "tiles 256x256, LZW, 12 pages", ... */
    size_t held_bytes; /* what a reader holds of the elements beside the buffers that it is given, at most */
    int64_t chunk[DISTMAP_MAX_AXES]; /* of a format whose chunks are files of their own (Zarr, precomputed): their shape; else 0 */
    /* Of Zarr whose chunks lie together in files: the shape of these shards, in elements; else 0. Version 3 is written so, in whole
     * chunks, for which shards grow where need be. In distmap_writer_info() `chunk` is then the shard, which boxes may not cut. */
    int64_t shard[DISTMAP_MAX_AXES];
} distmap_image_info;

/* The axis's pitch, 1 where it is not told. */
DISTMAP_API double distmap_image_pitch(const distmap_image_info *info, int axis);
/* The unit of the space axes: that of the last one that has any. "": none. Never NULL. */
DISTMAP_API const char *distmap_image_unit(const distmap_image_info *info);
/* The axes' names into `text`: "zyx", and with a comma between them where one has several letters. Returns `text`. */
DISTMAP_API const char *distmap_image_axes(const distmap_image_info *info, char *text, size_t bytes);
/* Sets a pitch and stretches the matrix by as much, so that the first element stays where it is. */
DISTMAP_API void distmap_image_set_pitch(distmap_image_info *info, int axis, double pitch);
/* Turns RAS to LPS or back. Whether it is such a world now; other worlds cannot be turned, and stay. */
DISTMAP_API bool distmap_image_turn(distmap_image_info *info, distmap_world world);
/* Whether elements of the two lie at the same places: shape, axes, pitches, units and, where both tell it, the place in the world, but
 * for roundings (1e-5 of an element). RAS and LPS are compared with each other. If not, `text` (may be NULL) says what
 * differs: "x has a pitch of 0.5 mm, not 1 mm", of `b` first. */
DISTMAP_API bool distmap_image_same_grid(const distmap_image_info *a, const distmap_image_info *b, char *text,
                                         size_t bytes);
/* How many of unit `to` one of unit `from` is, both of length or both of time: 1000 for mm and um. 1 where they are the same
 * word, 0 where nobody knows. */
DISTMAP_API double distmap_unit_ratio(const char *from, const char *to);

/* How many bytes of `path` name a file: all of them, but in "FILE:/DATASET" those of FILE, for formats in which one file
 * holds several images (HDF5). FILE is what stands before the first ":/" and is a regular file or ends in .h5, .hdf5 or .hdf. */
DISTMAP_API size_t distmap_path_file_bytes(const char *path);

/* How many threads pack and unpack chunks (Zarr), at most, in this process: 0, as many as there are processors for it. Of calls that
 * begin afterwards. */
DISTMAP_API distmap_status distmap_io_set_threads(int threads);

/* `asked` is called when a signal's handler interrupts a read, a write or a wait for a lock, which may last for ever where a pipe is
 * stalled: what is nonzero ends that with DISTMAP_ERROR_IO. NULL, as at the beginning: it goes on. For the whole process; the
 * function may be called by any thread that reads or writes. */
DISTMAP_API void distmap_io_on_interrupt(int (*asked)(void));

/* The child process that reads HDF5 is the program distmap-io-helper, which is installed with the library (libexec/distmap). A program
 * that calls this first of all in main() can be it too, and is so from then on: one that is linked with the static library needs no
 * other file. In such a child it does not return. */
DISTMAP_API void distmap_io_own_helper(int argc, const char *const *argv);

/* ---- Reading ---- */

typedef struct distmap_reader distmap_reader;

/* Opens a file ("-": standard input, spooled to an anonymous temporary file when the format needs to seek) and reads its
 * header. An element is presented as one number, of colours and palettes one of its samples (distmap_reader_sample()). Samples of a
 * TIFF that are more than colours and opacity are bands, an axis "c". Of an HDF5 file with several datasets one must be named,
 * "vol.h5:/volumes/mask". Owned by the caller. */
DISTMAP_API distmap_status distmap_reader_open(const char *path, distmap_reader **reader);
/* What is presented. The pointer is valid until the reader is closed. */
DISTMAP_API const distmap_image_info *distmap_reader_info(const distmap_reader *reader);
/* Takes place `place` of an axis alone: from now on the reader presents what the file holds there, an image without that axis, so that
 * one time or channel of a file is chosen, or a file of more axes than plans take becomes one. `axis` counts those that are
 * presented, of which one must be left. */
DISTMAP_API distmap_status distmap_reader_select(distmap_reader *reader, int axis, int64_t place);
/* Presents that sample of the elements from now on, one of those in distmap_image_info.samples; type and shape stay. Of elements that
 * are one number LUMA is that number. */
DISTMAP_API distmap_status distmap_reader_sample(distmap_reader *reader, distmap_sample sample);
/* Reads slices [first, first + count) of the slowest axis into `out`, a row-major buffer of count slices. Bands in rising
 * order are cheapest; some formats then start again when asked to go back. */
DISTMAP_API distmap_status distmap_reader_read(distmap_reader *reader, int64_t first, int64_t count, void *out);
/* Reads the box [first[a], first[a] + count[a]) along each axis a into `out`, row-major. Of formats whose elements lie in the file as
 * they are, and of those whose chunks are files of their own (NPY, Zarr, precomputed); others are DISTMAP_ERROR_UNSUPPORTED. */
DISTMAP_API distmap_status distmap_reader_read_box(distmap_reader *reader, const int64_t *first, const int64_t *count,
                                                   void *out);
enum { DISTMAP_IDENTITY_BYTES = 320 };
/* What tells the file from another one, and from itself after a change, into `text`, one line: inode, size and times, also of a file
 * beside it; of a folder a digest over the same of all files in it, which are looked at one by one. It is the same on all machines that
 * see the file. Two of them that differ are two inputs; equal ones before and after reading mean that nothing was changed meanwhile. */
DISTMAP_API distmap_status distmap_reader_identity(const distmap_reader *reader, char text[DISTMAP_IDENTITY_BYTES]);
/* The same by the bytes alone, for file systems whose times cannot be trusted, and for copies: sizes, and digests (XXH3, 128 bits) of all
 * bytes of the file, also of one beside it; of a folder of the bytes and names of all files in it. All of them are read. */
DISTMAP_API distmap_status distmap_reader_digest(const distmap_reader *reader, char text[DISTMAP_IDENTITY_BYTES]);
/* When the file's elements lie in it as they are (uncompressed NPY, NIfTI, PGM, TIFF in one piece), a read-only view of all
 * of them, memory-mapped, valid until the reader is closed, with strides for Fortran order; otherwise, or with more than DISTMAP_MAX_NDIM
 * axes, a view with data NULL. If the file is cut short meanwhile, whoever looks at what is gone gets a SIGBUS, as
 * of every mapping; distmap_reader_read() an error. */
DISTMAP_API distmap_view distmap_reader_map(distmap_reader *reader);
DISTMAP_API void distmap_reader_close(distmap_reader **reader);

/* ---- Writing ---- */

typedef struct distmap_writer distmap_writer;

/* Starts a file of info->dtype and shape in the format that the name's ending tells, with as much of the other members as the
 * format holds (chunk: 0 is chosen; format, stored and held_bytes are ignored). It is written beside its name and takes the name only
 * in distmap_writer_finish(). Names mean what they mean to a shell's redirection: links are followed, and stay; pipes
 * and devices are written as they are; a file that may not be written is refused. One that is replaced hands on its mode and, as far as this
 * process may, its owner, its access list and the user's attributes (user.*). What a killed process left beside its outputs is removed by the next one that writes into
 * the same folder. "-": standard output, as NPY. A dtype that the format cannot hold is an error that names those
 * that it can; so are axes, where it can hold none of that meaning in that order. "out.h5:/a/b" adds a dataset to the
 * HDF5 file if there is one, on a copy of it, and overwrites none; "out.h5" is a new file with the dataset /data. Who
 * adds to a file waits for others that do, until they have finished. "out.zarr" is a folder, and must not be there, a
 * Zarr array of version 3; so is "out.precomputed"; "out.ome.zarr" is an OME-Zarr image. "out.zarr/a/b" is an array
 * in a group, in the version of that, and makes the groups that are missing; nothing is overwritten, and all appears
 * at once. "out.hdr", "out.mhd", "out.nhdr" and "out.yaml" are headers, whose elements go to a file beside them
 * (out.img, .raw or .zraw, .raw or .raw.gz, .pgm). */
DISTMAP_SIZED distmap_status distmap_writer_open(const char *path, const distmap_image_info *info, distmap_writer **writer);
/* The same for an 8-bit picture by palette: 256 RGB colours. PNG only. */
DISTMAP_SIZED distmap_status distmap_writer_open_palette(const char *path, const distmap_image_info *info,
                                                         const uint8_t palette[256][3], distmap_writer **writer);
/* Appends `count` slices of the slowest axis, in rising order. */
DISTMAP_API distmap_status distmap_writer_write(distmap_writer *writer, int64_t count, const void *slices);
/* When the output can be memory-mapped (NPY to a file, HDF5 that is not packed), a view to write all elements in place; else data
 * NULL. Its space on the disk is reserved first, so that a full disk is an error and not a signal. */
DISTMAP_API distmap_view distmap_writer_map(distmap_writer *writer);
/* For results that come in no order, or over several runs. The file grows under the name `part`, which is in the same file system
 * as `path`; if there is such a file already, what it holds stays. distmap_writer_descriptor() tells the open file, and in
 * *offset where in it the first element lies: all elements are to be put there, row-major, by pwrite(), before the writer is
 * finished. Only for formats whose elements lie in the file as they are (NPY); others are DISTMAP_ERROR_UNSUPPORTED. */
DISTMAP_SIZED distmap_status distmap_writer_open_part(const char *path, const char *part, const distmap_image_info *info,
                                                      distmap_writer **writer);
DISTMAP_API int distmap_writer_descriptor(const distmap_writer *writer, int64_t *offset);
/* Gives up such a writer, but leaves the part for another run. */
DISTMAP_API void distmap_writer_leave(distmap_writer **writer);
/* For a result that several processes write, at the same time or not. It grows under the name `part`, as above, which the first of
 * them makes, and all must say the same of it. Elements are put by boxes, which begin and end between chunks where the format has
 * any, or at the end of an axis. A box may be put more often than once, with the same elements: whoever dies meanwhile, or reads,
 * a chunk is there as it should be, or not. All leave the writer; when everything is put the part is whole, and whoever knows that
 * may give it another name. NPY, Zarr and precomputed; others are DISTMAP_ERROR_UNSUPPORTED. Processes on different machines need a file
 * system that shows each what others wrote; for NPY also within a page, which NFS does not. */
DISTMAP_SIZED distmap_status distmap_writer_open_shared(const char *path, const char *part,
                                                        const distmap_image_info *info, distmap_writer **writer);
/* What the writer was opened with, all chosen. */
DISTMAP_API const distmap_image_info *distmap_writer_info(const distmap_writer *writer);
DISTMAP_API distmap_status distmap_writer_put(distmap_writer *writer, const int64_t *first, const int64_t *count,
                                              const void *elements);
/* Waits until all that was put is on the disk. */
DISTMAP_API distmap_status distmap_writer_sync(distmap_writer *writer);
/* Completes the file, waits until it is on the disk and gives it its name; *writer is gone in any case. On error no file is left, and
 * what had the name still has it. */
DISTMAP_API distmap_status distmap_writer_finish(distmap_writer **writer);
/* The same for several outputs as one: all take their names, or none does. writers[i] may be NULL, and is NULL afterwards. Outputs that
 * are written as they come (standard output, pipes, devices) have only their end left to fail. `flags`: 0, or DISTMAP_FINISH_UNSYNCED. If
 * the process dies meanwhile, or the machine, some may have their names, but each is the old file or the new one, whole. An error that
 * says that a folder could not be written to the disk comes when all have their names. */
DISTMAP_API distmap_status distmap_writers_finish(distmap_writer **writers, int count, unsigned flags);
enum { DISTMAP_FINISH_UNSYNCED = 1 }; /* nobody waits for the disk: after a power failure files may be of zeros, or be the old ones */
/* A file of any bytes, by the same rules. Only distmap_writer_append(), the finish functions and distmap_writer_abort() take it. */
DISTMAP_API distmap_status distmap_writer_open_bytes(const char *path, distmap_writer **writer);
DISTMAP_API distmap_status distmap_writer_append(distmap_writer *writer, const void *data, size_t bytes);
/* Gives up: removes what was written (of a shared writer nothing). NULL and pointers to NULL are fine. */
DISTMAP_API void distmap_writer_abort(distmap_writer **writer);

/* ---- One file by several processes ----
 *
 * NPY and HDF5 are made of pieces (of packed HDF5, chunks) that are made apart. Every process has some slices of the image, and one of
 * them, the root, the writer. How they tell each other what follows is theirs:
 *
 *     each    distmap_pieces_pack()      its slices, as they will lie in the file
 *     root    distmap_writer_place()     from the lengths of all pieces: where each belongs
 *     each    distmap_pieces_put()       puts its own there
 *     root    distmap_writer_finish()    when all are done
 *
 * The file is the same for any number of processes, to the byte. All of them see the folder of the file, which may be on a network. */
typedef struct distmap_pieces distmap_pieces;

/* Slices of a piece (the last ones may be thinner) in a file of that name and form: a process's slices begin and end where pieces
 * do. Other formats are DISTMAP_ERROR_UNSUPPORTED. */
DISTMAP_SIZED distmap_status distmap_pieces_depth(const char *path, const distmap_image_info *info, int64_t *depth);
/* Packs slices [first, first + count) of an image like `info`. Owned by the caller. The pieces of NPY, and of HDF5 that
 * is not packed, are `slices` itself, which is to stay until they are put; those of packed HDF5 are copies. */
DISTMAP_SIZED distmap_status distmap_pieces_pack(const char *path, const distmap_image_info *info, int64_t first,
                                               int64_t count, const void *slices, distmap_pieces **pieces);
/* The length of each, and how many there are. */
DISTMAP_API const uint64_t *distmap_pieces_bytes(const distmap_pieces *pieces, int64_t *count);
/* Takes the lengths of all pieces of the image, in the order of its slices, and tells their places in the file. Once, of a writer
 * that nothing was written to; then all are to be put before the file is finished. */
DISTMAP_API distmap_status distmap_writer_place(distmap_writer *writer, int64_t count, const uint64_t *bytes,
                                                int64_t *offsets);
/* The name under which the file grows, until it is finished; NULL where it is written as it comes (standard output, pipes). */
DISTMAP_API const char *distmap_writer_part(const distmap_writer *writer);
/* Writes the pieces to their places, in the file that grows under the name `part`. */
DISTMAP_API distmap_status distmap_pieces_put(const distmap_pieces *pieces, const char *part, const int64_t *offsets);
/* Frees *pieces and sets it to NULL; NULL and pointers to NULL are fine. */
DISTMAP_API void distmap_pieces_free(distmap_pieces **pieces);

/* ---- The codec table ---- */

typedef struct distmap_format_info {
    const char *name;     /* "png" */
    const char *endings;  /* ".png" or ".tif .tiff" */
    bool reads, writes;
    const char *summary;  /* what of the format is supported, one line */
    bool shares;          /* several processes can write one: distmap_writer_open_shared() */
    bool chunked;         /* in chunks that are files of their own, whose shape is distmap_image_info.chunk */
} distmap_format_info;

/* Rows of the codec table; NULL past the end. Static memory. */
DISTMAP_API const distmap_format_info *distmap_format_get(size_t row);
/* The row of the format that a file of that name is written in, if any: by its ending, or by that of a folder in which it is an
 * array ("vol.zarr/a"). NULL: none. */
DISTMAP_API const distmap_format_info *distmap_format_of(const char *path);

#ifdef __cplusplus
}
#endif

#include "io_sized.h"
#endif
