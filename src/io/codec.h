/* A codec: what reads or writes one file format. One row in the table of codec_table.c, one file or a read/write pair here.
 *
 * The public functions (reader.c, writer.c) check arguments, find the row and keep the count of slices; a codec sees only
 * what it can hold. Its open functions fill reader->info or start the file, its state hangs on `state` and is freed by its
 * close function, which is called after a failed open too.
 */
#ifndef DISTMAP_IO_CODEC_H
#define DISTMAP_IO_CODEC_H

#include <stdarg.h>

#include "io/file.h"

#define TRY(call)                                 \
    do {                                          \
        const distmap_status try_status = (call); \
        if (try_status != DISTMAP_OK)             \
            return try_status;                    \
    } while (0)

typedef struct dm_codec dm_codec;

/* Elements [first, first + count) along each axis, of an array of DISTMAP_MAX_AXES: leading axes have length 1. */
typedef struct dm_box {
    int64_t first[DISTMAP_MAX_AXES], count[DISTMAP_MAX_AXES];
} dm_box;

struct distmap_reader {
    const dm_codec *codec;
    dm_input input;
    distmap_image_info info; /* what the file holds; zero at first, filled by the codec */
    int64_t slice_elements;  /* of one slice of its slowest axis; set after the codec's open */
    size_t slice_bytes;
    /* The presented image: `info` without the axes along which one index is selected (select.c). */
    distmap_image_info shown;
    int64_t selected[DISTMAP_MAX_AXES]; /* along each axis of `info`: the place; -1: all */
    bool selects;                       /* any */
    char *held;                         /* one slice of `info`, of formats without boxes; owned */
    int64_t held_slice;
    bool has_header;     /* the elements are in another file than the one that was named, which is `input` then */
    struct stat header;  /* of the one that was named */
    distmap_native *native; /* what info.native is in; owned, with what it points to (model.c) */
    /* Elements that lie in the file as they are (raw.c). */
    struct {
        bool is;
        int64_t offset; /* of the first element in the file */
        bool swapped;   /* in the other byte order */
        bool fortran;   /* first axis fastest */
    } raw;
    void *state;
};

struct distmap_writer {
    const dm_codec *codec;
    dm_output output;
    dm_output beside; /* the elements, where they have a file beside their header's; opened by the codec */
    distmap_image_info info;
    const uint8_t (*palette)[3]; /* during the codec's open only; NULL: none */
    int64_t slice_elements;
    size_t slice_bytes;
    int64_t done;       /* slices written */
    int64_t raw_offset; /* > 0: elements lie from here on as they are, so that the file can be mapped */
    void *map;
    size_t map_bytes;
    bool shared; /* with other processes, so that what is there is not ours to remove */
    bool placed; /* elements are put into the file by the caller, or by boxes, rather than written in order */
    void *state;
};

struct distmap_pieces {
    char *name; /* of the file, for messages */
    int64_t count;
    uint64_t *bytes;
    void **data; /* each owned, unless lent */
    bool lent;
};

struct dm_codec {
    distmap_format_info info;
    /* Reading. `head` is the file's first `bytes` bytes, at most DM_SNIFF_BYTES. */
    bool (*sniff)(const uint8_t *head, size_t bytes);
    bool by_name; /* what `sniff` recognises is read only where the name says that it is such a file */
    distmap_status (*open)(distmap_reader *reader);
    bool (*sniff_folder)(int folder); /* for a format that is a folder, in place of sniff; may be NULL, as sniff may */
    distmap_status (*read)(distmap_reader *reader, int64_t first, int64_t count, void *out); /* count > 0 */
    distmap_status (*read_box)(distmap_reader *reader, const dm_box *box, void *out); /* not empty. May be NULL */
    /* reader->info.sample has been set to one of info.samples. May be NULL: what is read goes by it anyway. */
    distmap_status (*sample)(distmap_reader *reader);
    void (*close)(distmap_reader *reader); /* may be NULL */
    /* Writing. */
    unsigned holds; /* bit d: elements of distmap_dtype d */
    int min_ndim, max_ndim;
    bool holds_empty, holds_palette, holds_datasets;
    bool holds_shards;  /* and versions: distmap_image_info.zarr_format */
    bool is_plain;  /* what is written lies in the file as it is */
    bool is_folder; /* what is written is a folder */
    /* Of a folder: the one that takes its name at the end, `path` or what that is in. The caller frees it. */
    distmap_status (*target)(const char *path, char **target);
    distmap_status (*create)(distmap_writer *writer);
    distmap_status (*write)(distmap_writer *writer, int64_t count, const void *slices); /* count > 0 */
    distmap_status (*put)(distmap_writer *writer, const dm_box *box,
                          const void *elements);      /* not empty. Where info.shares */
    distmap_status (*finish)(distmap_writer *writer);                                   /* may be NULL */
    /* When names are taken, all NULL or none. The folder that is locked meanwhile, "a/b/", the caller's; NULL: no memory. What depends
     * on what others did since the writer was opened, before the output's own name is taken. And names beyond that one. */
    char *(*home)(const distmap_writer *writer);
    distmap_status (*arrive)(distmap_writer *writer, const dm_commit *commit);
    distmap_status (*take)(distmap_writer *writer, dm_commit *commit);
    void (*discard)(distmap_writer *writer); /* frees the state, if there is one; after finish too */
    /* The compressions of a file of that name: "none deflate", the default first. NULL: none. */
    const char *(*packings)(const char *path);
    /* By several processes; NULL where the format is written in one piece. `depth` is at least 1. `pack` gets whole pieces, and at
     * least one element; it fills in all but the name, also before it fails. */
    int64_t (*depth)(const distmap_image_info *info);
    distmap_status (*pack)(const distmap_image_info *info, int64_t count, const void *slices, distmap_pieces *pieces);
    distmap_status (*place)(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets);
};

enum { DM_SNIFF_BYTES = 1024 };

extern const dm_codec *const dm_codecs[]; /* ends with NULL */

/* Whether the format may be used: DISTMAP_FORMATS in the environment, where it is set, lists those that may. Else an error, which
 * says of `name` that it is such a file. */
distmap_status dm_codec_allowed(const dm_codec *codec, const char *name);

/* The codecs. */
extern const dm_codec dm_codec_npy, dm_codec_png, dm_codec_tiff, dm_codec_jpeg, dm_codec_pgm, dm_codec_pbm,
    dm_codec_ppm, dm_codec_nifti, dm_codec_metaimage, dm_codec_nrrd, dm_codec_ros_map, dm_codec_hdf5, dm_codec_zarr,
    dm_codec_precomputed;

/* Whether `name` ends with `ending`, or with one of a list such as ".tif .tiff", whatever the case. */
bool dm_ends_with(const char *name, const char *ending);
bool dm_ends_with_any(const char *name, const char *endings);
/* Whether a folder in the path does. */
bool dm_lies_in_any(const char *path, const char *endings);

/* The codec whose ending the name has, or a folder that it is in, or NULL. */
const dm_codec *dm_codec_of_name(const char *file);
/* The codec that writes a file of that name and form, or why there is none. Checks both. */
distmap_status dm_codec_choose(const char *path, const distmap_image_info *info, const dm_codec **codec);
/* Frees the codec's state and the mapping (writer.c). */
void dm_writer_release(distmap_writer *writer);

/* Takes "FILE:/DATASET" apart: copies of the whole and of the file's name, which the caller frees, also after an error; *dataset
 * points into the first one, or is NULL. */
distmap_status dm_name_take(const char *path, char **name, char **file, const char **dataset);

/* ---- What an image is (model.c, geometry.c) ---- */

/* Sets a unit by its usual short name: "um" for micrometer or micron. It is shown to people: a long one, or one with control
 * characters, is none. */
void dm_unit_take(char unit[16], const char *text);
/* Of all space axes. */
void dm_unit_take_space(distmap_image_info *info, const char *text);
/* Sets an axis's name, and its type by that name: "t" or "time", "c" or "channel". Names that cannot be shown, or are long, are none. */
void dm_axis_take(distmap_axis *axis, const char *name);
/* Sets the pitch of an axis to what the file says in `where`, or says that it is no pitch. */
distmap_status dm_pitch_take(distmap_reader *reader, int axis, double pitch, const char *where);
/* The length of a direction vector as a pitch: rounded to 7 digits, since the last ones are noise. */
double dm_pitch_of(const double *vector, int count);
/* Sets what elements are packed by, of which gzip and zlib are deflate. */
void dm_packing_take(distmap_image_info *info, const char *name);
/* Chooses what is written in a file of that name from what info->packing wants. */
distmap_status dm_packing_choose(const char *path, const dm_codec *codec, distmap_image_info *info);
/* Names the axes that have no name. */
void dm_axes_name(distmap_image_info *info);
/* Whether the axes come in an order such as "otczyx", other, time, channel and space, of which any may be left out. For formats in
 * which places have a meaning. */
bool dm_axes_follow(const distmap_image_info *info, const char *order);
/* "NAME: tiff holds axes t z y x in this order, not w z y x; .npy .zarr hold any" */
distmap_status dm_axes_refused(const distmap_writer *writer, const char *order);
/* Which rule of distmap_image_info is broken, into `text`; or false. */
bool dm_image_fault(const distmap_image_info *info, char *text, size_t bytes);
/* Takes the axis away, of which `place` is left. */
void dm_image_drop_axis(distmap_image_info *info, int axis, int64_t place);
/* Space axes in the order of `shape`, into `axes`: how many. */
int dm_space_axes(const distmap_image_info *info, int axes[DISTMAP_MAX_AXES]);
/* Adds a copy of the data to what the reader tells as native. */
distmap_status dm_native_add(distmap_reader *reader, const char *family, const char *name, const void *data,
                             size_t bytes);
/* NULL where there is none. */
const distmap_native *dm_native_find(const distmap_image_info *info, const char *family, const char *name);
/* Makes what *info points to its own, or says that memory is out; and frees that. */
distmap_status dm_image_own(distmap_image_info *info, const char *name);
void dm_image_disown(distmap_image_info *info);

/* Bits of distmap_image_info.samples. */
enum {
    DM_SAMPLES_RGB = 1 << DISTMAP_SAMPLE_LUMA | 1 << DISTMAP_SAMPLE_RED | 1 << DISTMAP_SAMPLE_GREEN | 1 << DISTMAP_SAMPLE_BLUE,
    DM_SAMPLES_ALPHA = 1 << DISTMAP_SAMPLE_ALPHA,
    DM_SAMPLES_PALETTE = DM_SAMPLES_RGB | 1 << DISTMAP_SAMPLE_INDEX,
};

/* ---- A selection (select.c) ---- */

/* Box `box` of what is presented, of formats that are read by boxes and of others. */
distmap_status dm_select_read(distmap_reader *reader, const dm_box *box, void *out);
/* The part of a view of all of the file's elements that is presented. */
distmap_view dm_select_view(const distmap_reader *reader, char *data, const int64_t strides[DISTMAP_MAX_AXES]);

/* Appends `word` to a list in `text`, which has room for `size` bytes. */
void dm_append(char *text, size_t size, const char *separator, const char *word);

/* ---- Errors: "NAME: text" ---- */

distmap_status dm_broken(const dm_input *input, const char *format, ...) DISTMAP_PRINTF(2, 3);      /* _FORMAT */
distmap_status dm_unsupported(const dm_input *input, const char *format, ...) DISTMAP_PRINTF(2, 3); /* _UNSUPPORTED */
distmap_status dm_no_memory(const char *name);
/* Whether a system call that failed is to be made again: a signal interrupted it, and nobody asked to stop (input.c). */
bool dm_goes_on(void);

/* ---- Sizes: nothing is believed that the file cannot hold ---- */

/* Sets *bytes = product of the shape times `element_bytes`, or says that the size is absurd. */
distmap_status dm_shape_bytes(const char *name, int ndim, const int64_t *shape, size_t element_bytes, int64_t *bytes);
/* Refuses `bytes` of decoded data if the file, growing by at most `ratio` when decoded, is too small for it. */
distmap_status dm_check_holds(const dm_input *input, int64_t bytes, int64_t ratio);

enum { DM_DEFLATE_RATIO = 1032 + 1 }; /* a 258-byte match in two bits is the best that deflate can do */

/* ---- NumPy's names of element types: '<f4' ---- */

/* NONE where there is none. *swapped: they are in the other byte order. */
distmap_dtype dm_numpy_dtype(const char *name, bool *swapped);
void dm_numpy_name(distmap_dtype dtype, char name[8]);

/* ---- Boxes (boxes.c) ---- */

/* The box as the caller gave it, checked against the shape; `what` are the arguments' names. */
distmap_status dm_box_take(const distmap_image_info *info, const int64_t *first, const int64_t *count, dm_box *box);
/* Whole slices of the first axis. */
dm_box dm_box_of_slices(const distmap_image_info *info, int64_t first, int64_t count);
/* How many elements it has, and whether none. */
int64_t dm_box_elements(const dm_box *box);
bool dm_box_empty(const dm_box *box);
/* The box as runs that lie in one piece in the whole array: of *run elements, `call` for each, which gets its first element's place in
 * the array and in the box. */
distmap_status dm_box_runs(const distmap_image_info *info, const dm_box *box,
                           distmap_status (*call)(void *user, int64_t from, int64_t to, int64_t run), void *user);

/* ---- Slices for formats in chunks (chunks.c) ---- */

void dm_chunk_choose(const distmap_image_info *info, int64_t chunk[DISTMAP_MAX_AXES]);

typedef struct dm_rows {
    int64_t row;    /* slices of a row of chunks */
    char *gathered; /* those that make no row yet; freed by the codec */
    int64_t waiting;
    int64_t done; /* slices that `put` has had */
} dm_rows;

/* What writes slices, which lie behind those that are written: a box of whole ones, as for dm_codec.put. */
typedef distmap_status dm_rows_put(distmap_writer *writer, const dm_box *box, const void *slices);

/* `count` slices into `put`, by whole rows; the rest at the end. */
distmap_status dm_rows_write(distmap_writer *writer, dm_rows *rows, int64_t count, const void *slices,
                             dm_rows_put *put);
distmap_status dm_rows_end(distmap_writer *writer, dm_rows *rows, dm_rows_put *put);
/* Makes room for `count` pieces, whose lengths are the caller's to fill in. */
distmap_status dm_pieces_reserve(distmap_pieces *pieces, int64_t count);
/* Frees all but the name. */
void dm_pieces_clear(distmap_pieces *pieces);
/* Elements of a slice of the slowest axis. */
int64_t dm_slice_elements(const distmap_image_info *info);

/* ---- Elements that lie in the file as they are (raw.c) ---- */

/* Checks that the file holds them and sets reader->raw. reader->info must be filled. */
distmap_status dm_raw_open(distmap_reader *reader, int64_t offset, bool swapped, bool fortran);
distmap_status dm_raw_read(distmap_reader *reader, int64_t first, int64_t count, void *out);
distmap_status dm_raw_read_box(distmap_reader *reader, const dm_box *box, void *out);
distmap_status dm_raw_put(distmap_writer *writer, const dm_box *box, const void *elements);
distmap_view dm_raw_map(distmap_reader *reader);
/* Such a file by several processes: one piece each. */
int64_t dm_raw_depth(const distmap_image_info *info);
distmap_status dm_raw_pack(const distmap_image_info *info, int64_t count, const void *slices, distmap_pieces *pieces);
distmap_status dm_raw_place(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets);

#endif
