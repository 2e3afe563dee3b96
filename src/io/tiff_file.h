/* libtiff over this library's files, and a page of a TIFF as the reader needs it. */
#ifndef DISTMAP_IO_TIFF_FILE_H
#define DISTMAP_IO_TIFF_FILE_H

#include <setjmp.h>
#include <tiffio.h>

#include "io/codec.h"

/* One libtiff handle and what its callbacks need. Errors are caught in `message`, warnings dropped, unless they are about memory. */
typedef struct dm_tiff {
    TIFF *tiff;
    dm_input *input;   /* reading */
    dm_output *output; /* writing */
    int64_t at;
    char message[300]; /* of the first error since it was cleared */
    bool starved;      /* something found no memory */
    bool refused;      /* that was for a tag: libtiff (4.5) has counted one then that it does not hold, and follows an invalid pointer
                        * when it forgets the directory. So the handle is not to be used any more, and not to be closed */
    /* While a directory is read: where to go if something finds no memory, and the entries' count and place. */
    bool catches;
    jmp_buf caught;
    struct {
        bool on;
        uint64_t count;
        int64_t behind;
    } look;
} dm_tiff;

/* Reads the header; there is no current directory yet. */
distmap_status dm_tiff_open_input(dm_tiff *file, dm_input *input);
/* Reads the directory at `offset`, 0: the next one. */
distmap_status dm_tiff_directory(dm_tiff *file, uint64_t offset);
/* The error text of a call that failed while reading. */
distmap_status dm_tiff_failed(dm_tiff *file);
/* `big`: BigTIFF. */
distmap_status dm_tiff_open_output(dm_tiff *file, dm_output *output, bool big);
void dm_tiff_close(dm_tiff *file);
/* ---- Tags that libtiff does not see (tiff_tags.c) ---- */

/* To be called with what libtiff reads at file->at while a directory is read. */
void dm_tiff_hide(dm_tiff *file, void *data, size_t bytes);

/* The entries of the current directory, as they are in the file. */
typedef struct dm_tiff_entries {
    uint8_t *bytes; /* owned */
    uint64_t count;
} dm_tiff_entries;
distmap_status dm_tiff_entries_read(dm_tiff *file, dm_tiff_entries *entries);
void dm_tiff_entries_free(dm_tiff_entries *entries);

typedef struct dm_tiff_tag {
    TIFFDataType type;
    uint64_t count; /* 0: there is no such tag */
    void *data;     /* `count` values, and a 0 behind them. The caller's to free; NULL: no values */
} dm_tiff_tag;
distmap_status dm_tiff_tag_read(dm_tiff *file, const dm_tiff_entries *entries, uint32_t number, dm_tiff_tag *tag);

/* TIFFSetField(), and *refused where it does not take the tag. */
void dm_tiff_set(TIFF *tiff, bool *refused, uint32_t tag, ...);

/* How the samples of every page are to be read. */
typedef enum dm_tiff_colour { DM_TIFF_GREY, DM_TIFF_PALETTE, DM_TIFF_RGB, DM_TIFF_CMYK } dm_tiff_colour;

enum { DM_TIFF_USED = 5 };

typedef struct dm_tiff_page {
    uint32_t width, height;
    uint32_t tile_width, tile_height; /* 0: strips */
    uint16_t bits, samples, format, photometric, planar, compression;
    /* The samples of each pixel that matter: those of the colour, then opacity if there is any. */
    uint16_t used[DM_TIFF_USED];
    int used_count;
    bool alpha;
    uint16_t bands; /* samples that are no colours of one picture: each is an image of its own. 0: there are none */
    dm_tiff_colour colour;
    distmap_dtype dtype;   /* of the elements */
    distmap_sample sample; /* that rows become; the reader's choice, not the file's */
} dm_tiff_page;

/* Reads the current directory's tags and says what cannot be read. `number` is for the error text. */
distmap_status dm_tiff_page_read(dm_tiff *file, int64_t number, dm_tiff_page *page);

/* Turns one row of samples as libtiff gives them into elements. planes[k] is the row of sample used[k] where planes are
 * separate, else planes[0] holds all. `table`: of all palette indices the lumas, then red, green, blue. `file_big`: the file is big-endian. */
void dm_tiff_row(const dm_tiff_page *page, const uint8_t *const planes[], const uint8_t *table, bool file_big,
                 void *out);
/* Whether the row is already the elements, so that dm_tiff_row is not needed. */
bool dm_tiff_row_is_plain(const dm_tiff_page *page);

/* How the pages of a file make one image, by default a volume: by a text in the first page's ImageDescription. */
typedef struct dm_tiff_stack {
    int images;                          /* of which this is the first one; 0: it is alone */
    int64_t times, channels, slices;     /* 0: there is no such axis */
    int64_t *page;                       /* of plane (t, c, z), z fastest; owned. NULL: they come in this order */
    double pitch[2];                     /* of x and y; 0: not told */
    double spacing;                      /* between slices */
    double interval;                     /* between times */
    char unit[3][16], interval_unit[16]; /* of x, y, and slices */
} dm_tiff_stack;

/* The page of plane (t, c, z). */
int64_t dm_tiff_stack_page(const dm_tiff_stack *stack, int64_t plane);

/* ---- ImageJ's text (tiff_text.c) ---- */

typedef struct dm_tiff_text {
    int64_t images, channels, slices, frames; /* 0: not said */
    double spacing;                           /* between slices; 0: not said */
    double interval;                          /* between frames */
    char unit[16], interval_unit[16];
    bool millionths; /* resolutions are cut to them, as ImageJ writes them */
} dm_tiff_text;
/* Whether it is such a text; *parsed is zero if not. */
bool dm_tiff_text_parse(const char *text, dm_tiff_text *parsed);
/* The stack that it tells of, of which there are so many pages. */
distmap_status dm_tiff_text_stack(distmap_reader *reader, const dm_tiff_text *text, int64_t pages,
                                  dm_tiff_stack *stack);
/* Spacing of rows and columns, and the unit, from the resolution tags and the text. */
void dm_tiff_spacing_read(TIFF *tiff, const dm_tiff_text *text, distmap_image_info *info);
void dm_tiff_spacing_write(dm_tiff *file, const distmap_image_info *info);

/* ---- OME-XML (tiff_ome.c) ---- */

bool dm_ome_is(const char *text);
/* The stack that it tells of, and the pitches. `ifd`: the number of each page's directory. */
distmap_status dm_ome_read(distmap_reader *reader, const char *text, const dm_tiff_page *form, int64_t pages,
                           const int64_t *ifd, dm_tiff_stack *stack);
/* Whether such a file is wanted, by its name or since the input is one. */
bool dm_ome_wanted(const distmap_writer *writer);
distmap_status dm_ome_write(const distmap_writer *writer, dm_tiff *file);
/* From a stack's numbers into axes: what both texts have in common. */
distmap_status dm_tiff_stack_pitches(distmap_reader *reader, const dm_tiff_stack *stack, const char *where);

/* ---- GeoTIFF and GDAL's tags (tiff_geo.c) ---- */

/* From the tags of the first page: place, CRS, unit, nodata. The axes must be there. */
distmap_status dm_tiff_geo_read(distmap_reader *reader, dm_tiff *file, const dm_tiff_entries *entries);
/* Whether the image is a map, or comes from a file with such a place. */
bool dm_tiff_geo_is(const distmap_image_info *info);
distmap_status dm_tiff_geo_write(const distmap_writer *writer, dm_tiff *file);
/* What of GDAL's metadata is true of another image of the same place: items of the whole file, none of a band (statistics, scale,
 * unit, name). Into `out`, which has room for as many bytes as came; how many, 0 if none. NULL: only checked. *fault: why it is
 * none, or NULL. */
size_t dm_tiff_geo_metadata(const char *text, size_t bytes, char *out, const char **fault);

/* The name of a compression (tiff_pack.c); "other": nothing that is written. */
const char *dm_tiff_packing(uint16_t compression);
const char *dm_tiff_packings(const char *path);

/* The writing half of the codec, for its row in tiff_read.c. */
distmap_status dm_tiff_create(distmap_writer *writer);
distmap_status dm_tiff_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_tiff_finish(distmap_writer *writer);
void dm_tiff_discard(distmap_writer *writer);

#endif
