/* The reader of TIFF between its files: tiff_read.c opens, tiff_planes.c finds what is asked for, tiff_blocks.c and tiff_scanlines.c
 * decode it. */
#ifndef DISTMAP_IO_TIFF_READ_H
#define DISTMAP_IO_TIFF_READ_H

#include "io/tiff_file.h"

enum {
    DM_TIFF_HANDLES = 16,         /* the most threads, and at least DM_TIFF_USED */
    DM_TIFF_HELD_BYTES = 64 << 20 /* of decoded elements that wait for the next call */
};

/* One of libtiff's handles, which one thread uses at a time. */
typedef struct dm_tiff_handle {
    dm_tiff file;
    int64_t page;        /* that it is at; -1: none */
    uint32_t strip_rows; /* of that page */
    uint8_t *block;      /* strips or tiles of as many planes as are decoded together, or one row */
    size_t block_bytes;
    int64_t next; /* scanlines: the row behind the last one that was read there; -1: none was */
    int band;     /* of it */
} dm_tiff_handle;

/* Rows of one page, of one band or several. */
typedef struct dm_tiff_want {
    int64_t page, first, count;
    int band, bands;
    uint8_t *to;
    size_t band_bytes; /* from a band's first row to the next band's, in memory */
} dm_tiff_want;

typedef struct dm_tiff_state {
    dm_tiff_handle handle[DM_TIFF_HANDLES]; /* opened when they are needed, the first at once */
    int workers;
    dm_tiff_page form; /* of every page */
    uint64_t *offsets; /* of the pages' directories */
    int64_t *ifd;      /* the directories' numbers, from 0 on */
    int64_t pages;
    int64_t odd_page;      /* the first one that does not agree with the first, where they end then; 0: all do */
    dm_tiff_page odd_form; /* its */
    uint32_t most_rows;    /* the most rows of any page's strips; of tiles, those of a tile */
    dm_tiff_stack stack;
    size_t row_bytes; /* of samples, in one plane; of tiles, of all in a row */
    bool plain, file_big;
    bool in_one_piece; /* all planes follow each other, from `start` on, page by page */
    int64_t start;
    int64_t end;    /* of the page visited last */
    uint8_t *table; /* palette: lumas of all indices, then red, green, blue */
    /* Decoded, for the next call: `held.to` is owned, NULL: nothing. */
    dm_tiff_want held;
} dm_tiff_state;

bool dm_tiff_same_form(const dm_tiff_page *a, const dm_tiff_page *b);

/* Lengths of axes, and 1 where there is none. */
static inline int64_t dm_at_least_one(int64_t count) { return count > 0 ? count : 1; }
static inline int64_t dm_tiff_bands(const dm_tiff_state *s) { return dm_at_least_one(s->form.bands); }
/* A row of elements. */
static inline size_t dm_tiff_out_bytes(const dm_tiff_state *s) {
    return s->form.width * distmap_dtype_size(s->form.dtype);
}
/* How many planes have to be decoded for one row of elements. */
static inline int dm_tiff_planes(const dm_tiff_state *s) {
    return s->form.planar == PLANARCONFIG_SEPARATE && !s->form.bands ? s->form.used_count : 1;
}

/* ---- tiff_blocks.c ---- */

/* Opens the handle where it is not, and takes it to a page. */
distmap_status dm_tiff_go(distmap_reader *reader, int handle, int64_t page);
/* Sets the number of threads; how many bytes they hold at most. */
size_t dm_tiff_prepare(dm_tiff_state *s);
/* Decodes what is wanted, by all threads. Strips that are wanted in part are decoded whole. */
distmap_status dm_tiff_decode(distmap_reader *reader, const dm_tiff_want *wants, int64_t count);
/* Turns row y of samples into elements. planes[k]: the row of that plane; of what begins at column `x` and has `width` columns. `band`: that
 * planes[0] is of; -1: it has all of them. */
void dm_tiff_emit(const dm_tiff_state *s, const dm_tiff_want *want, const uint8_t *const planes[], int band, int64_t y,
                  uint32_t x, uint32_t width);

/* ---- tiff_scanlines.c: strips that are too large to be held ---- */

bool dm_tiff_is_scanned(const dm_tiff_state *s);
distmap_status dm_tiff_scan(distmap_reader *reader, const dm_tiff_want *want);

/* ---- tiff_planes.c ---- */

/* Whether planes lie in the file in the order in which they are presented. */
bool dm_tiff_in_order(const dm_tiff_state *s);
/* How much is held of the elements for the next call, at most. */
size_t dm_tiff_held_bytes(const dm_tiff_state *s);
distmap_status dm_tiff_read(distmap_reader *reader, int64_t first, int64_t count, void *out);

#endif
