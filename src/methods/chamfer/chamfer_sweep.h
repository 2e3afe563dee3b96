/* chamfer/cpu's job, and its sweeps over planes and slabs. */
#ifndef DISTMAP_CHAMFER_SWEEP_H
#define DISTMAP_CHAMFER_SWEEP_H

#include "methods/chamfer/chamfer_layout.h"

typedef struct ch_job {
    distmap_plan *plan;
    const dm_arrays *arrays;
    const ch_rows *rows;
    const ch_layout *layout;
    ch_memory memory;
    bool quick;  /* float32 distances in rows without gaps are all that is wanted, with sites int64 indices too */
    bool stream; /* rows go past the cache, to memory and out of it */
} ch_job;

/* Rows `first` to `end` of a plane (a volume's rows along its fastest slow axis), and columns of them. */
typedef struct ch_band {
    int64_t volume, plane;
    int64_t first, end;
    ch_columns columns;
    int strip;           /* < 0: whole rows */
    int way;             /* of this sweep: 1 down, -1 up */
    char *const *beyond; /* second sweep: the two rows before the band, nearest first; NULL: as they lie in memory */
    char *const *leave;  /* second sweep: the next band's `beyond`; NULL: none comes */
    bool in_place;       /* rows grow in memory, for slabs; else in the ring, and from the second sweep they go out */
} ch_band;

/* A whole plane as one band. */
ch_band ch_whole(const ch_job *job, int64_t volume, int64_t plane);
/* From the input, one way; then from what that left, the other way. */
void ch_sweep_first(const ch_job *job, ch_worker *w, char *lanes, const ch_band *band);
void ch_sweep_second(const ch_job *job, ch_worker *w, char *lanes, const ch_band *band);

/* What lies outside the strips of row `row`, before and after them: memory.ends. */
void ch_find_ends(const ch_job *job, ch_worker *w, int64_t volume, int64_t row);

/* A row of slab `at` along slow axis number `axis` > 0 looks at the slab `at + back` (-1, 1, 0: none); `finish`: it then
 * goes out. `outer` counts the slower axes' places, `inner` the faster ones'. */
void ch_slab_row(const ch_job *job, ch_worker *w, char *lanes, int64_t volume, int axis, int64_t outer, int64_t at,
                 int64_t inner, int back, bool finish);

/* The volume's row that `begin`s from the input alone, whole, and what goes out of it. */
char *ch_row(const ch_job *job, char *lanes, int64_t row);
void ch_begin(const ch_job *job, ch_worker *w, int64_t volume, int64_t row, const ch_columns *columns,
              const uint64_t *ends, char *lanes);
void ch_finish(const ch_job *job, ch_worker *w, int64_t volume, int64_t row, int64_t first, int64_t end,
               const char *lanes);

#endif
