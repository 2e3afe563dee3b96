/* The reader of TIFF between its two files: tiff_read.c opens, tiff_rows.c reads. */
#ifndef DISTMAP_IO_TIFF_READ_H
#define DISTMAP_IO_TIFF_READ_H

#include "io/tiff_file.h"

typedef struct dm_tiff_state {
    dm_tiff planes[DM_TIFF_USED]; /* one handle each; together: the first alone */
    int plane_count;
    int64_t page[DM_TIFF_USED]; /* the page that each handle is at */
    int64_t next[DM_TIFF_USED]; /* strips: the row that follows the last one read there */
    uint32_t strip_rows;
    dm_tiff_page form; /* of every page */
    uint64_t *offsets; /* of the pages' directories */
    int64_t *ifd;      /* the directories' numbers, from 0 on */
    int64_t pages;
    int64_t odd_page;      /* the first one that does not agree with the first, where they end then; 0: all do */
    dm_tiff_page odd_form; /* its */
    dm_tiff_stack stack;
    uint16_t sample;             /* bands in planes of their own: the one that the handle is at */
    uint8_t *rows[DM_TIFF_USED]; /* strips: one row of samples */
    size_t row_bytes;            /* of samples, in one plane */
    bool plain, file_big;
    bool in_one_piece; /* all planes follow each other, from `start` on, page by page */
    int64_t start;
    int64_t end;    /* of the page visited last */
    uint8_t *table; /* palette: lumas of all indices, then red, green, blue */
} dm_tiff_state;

/* The error that libtiff told. */
distmap_status dm_tiff_failed(distmap_reader *reader, dm_tiff *file);
bool dm_tiff_same_form(const dm_tiff_page *a, const dm_tiff_page *b);

/* Lengths of axes, and 1 where there is none. */
static inline int64_t dm_at_least_one(int64_t count) { return count > 0 ? count : 1; }
static inline int64_t dm_tiff_bands(const dm_tiff_state *s) { return dm_at_least_one(s->form.bands); }

/* Whether planes lie in the file in the order in which they are presented. */
bool dm_tiff_in_order(const dm_tiff_state *s);
distmap_status dm_tiff_read(distmap_reader *reader, int64_t first, int64_t count, void *out);

#endif
