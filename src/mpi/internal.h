/* Shared by the files of libdistmap_mpi. plan.c makes and runs plans; agree.c lets one rank's error be everyone's; types.c
 * describes boxes of views to MPI, and copies them; near.c lets ranks of one machine copy without it; windows.c
 * is all of it for planes. The arithmetic of slabs and panels, and what is done to whole lines, are in src/slabs.
 */
#ifndef DISTMAP_MPI_INTERNAL_H
#define DISTMAP_MPI_INTERNAL_H

#include <distmap/mpi.h>

#include "slabs/slabs.h"

/* For MPI's own calls. */
#define TRY_MPI(call) TRY(dmm_mpi_status((call), #call))

/* ---- agree.c ---- */

/* The status of an MPI call: its error, with the call's name and MPI's words. Local. */
distmap_status dmm_mpi_status(int code, const char *call);

/* Collective. Every rank brings its status, and all return that of the lowest rank that has an error, with its text. `flags`
 * (may be NULL) become those of any rank. */
distmap_status dmm_agree(MPI_Comm comm, distmap_status status, unsigned *flags);

/* Collective. Whether rank 0 was given the same problem and options; says what differs. The answer is this rank's own; an error
 * that it brings stays what it is. */
distmap_status dmm_same(MPI_Comm comm, distmap_status own, const distmap_problem *problem,
                        const distmap_mpi_options *options);

/* ---- types.c ---- */

enum { DMM_MAX_VIEWS = 3 };

/* Views that travel together: those of one slab, or of a part of a panel. `origin` is the place in the image of their first
 * element. */
struct dmm_views {
    const distmap_view *view[DMM_MAX_VIEWS];
    int count;
    int64_t origin[DISTMAP_MAX_NDIM];
};

void dmm_views_add(struct dmm_views *views, const distmap_view *view); /* unless its data is NULL */

/* A committed datatype, relative to MPI_BOTTOM, of all elements of the box in these views, one after the other; MPI_BYTE
 * where there are none. *count is 1, or then 0. */
distmap_status dmm_type_make(const struct dms_layout *layout, const struct dmm_views *views, const struct dms_box *box,
                             MPI_Datatype *type, int *count);

/* The data that each rank receives and sends in one exchange: dmm_exchange_make() is local and may fail alone, dmm_exchange_run() is
 * collective. */
struct dmm_exchange {
    int *send_counts, *receive_counts, *zeros;
    MPI_Datatype *send, *receive;
};
distmap_status dmm_exchange_allocate(int size, struct dmm_exchange *exchange);
void dmm_exchange_free(struct dmm_exchange *exchange);
/* From slabs to the whole lines of this panel, or back; but not between this rank and those that are `near`, one flag for each. */
distmap_status dmm_exchange_make(const struct dms_layout *layout, int rank, const bool *near, int64_t panel,
                                 const struct dmm_views *slab, const struct dmm_views *lines, bool back,
                                 struct dmm_exchange *exchange);
distmap_status dmm_exchange_run(MPI_Comm comm, const struct dmm_exchange *exchange);
/* Frees the datatypes. */
void dmm_exchange_clear(int size, struct dmm_exchange *exchange);
/* Copies the elements of a box from views to views of the same types. */
void dmm_copy(const struct dms_layout *layout, const struct dms_box *box, const struct dmm_views *from,
              const struct dmm_views *to);

/* ---- windows.c ---- */

/* A rank's slab of a plane, as a window. */
struct dmm_windows {
    struct dms_slab slab;
    int64_t width, band;                      /* of the plane; rows that are surveyed at once */
    distmap_plan *survey, *survey_rest;       /* of a band, and of what is left; NULL: nothing */
    distmap_plan *plan;                       /* of the window; NULL: no elements */
    int32_t *first, *last, *before, *after;   /* of each column; one piece of memory, with: */
    uint8_t *sites;                           /* of a band */
    MPI_Comm reverse;                         /* the ranks in the opposite order */
    size_t bytes;
};
/* Collective. Whether the core takes windows of the problem, on every rank. */
distmap_status dmm_windows_find(MPI_Comm comm, const distmap_context *context, const distmap_problem *normal, bool *can);
/* Local: plans and memory. A band has about so many elements, 0: 2^20. */
distmap_status dmm_windows_make(distmap_context *context, const distmap_problem *normal, struct dms_slab slab,
                                size_t band_bytes, struct dmm_windows *windows);
/* Collective. */
distmap_status dmm_windows_reverse(MPI_Comm comm, struct dmm_windows *windows);
/* Collective, before MPI ends; after that it frees what is not MPI's. */
void dmm_windows_free(bool finalised, struct dmm_windows *windows);
/* The steps of an execution: local, collective, local. */
distmap_status dmm_windows_survey(const struct dmm_windows *windows, const distmap_view *input);
distmap_status dmm_windows_scan(MPI_Comm comm, const struct dmm_windows *windows);
distmap_status dmm_windows_run(const struct dmm_windows *windows, const distmap_arrays *slab, unsigned *flags);

/* ---- near.c ---- */

enum { DMM_NAME = 48 };

/* The ranks whose memory this one sees, and so theirs: of one machine, itself among them. Each has the arrays of its part
 * of a panel where all of them reach them. */
struct dmm_near {
    MPI_Comm comm;
    bool *is; /* for each rank */
    struct dms_panel
        *panel;         /* for each rank: its arrays, as this process sees them; nothing of those that are not near */
    bool all;           /* everyone is: nothing is left to messages */
    size_t each, bytes; /* of a rank's arrays; of this rank's, which has none if it has no lines */
    char (*names)[DMM_NAME]; /* of memory, while it is made known */
};
/* Collective; the result is this rank's own. The near ranks: at most `most` ranks to each other, 0: all of a machine. */
distmap_status dmm_near_find(MPI_Comm comm, int size, int most, struct dmm_near *near);
/* Collective, and agreed on. Makes the arrays, for parts as wide as the layout's. */
distmap_status dmm_near_allocate(MPI_Comm comm, const distmap_problem *problem, const struct dms_layout *layout,
                                 int rank, distmap_dtype samples, struct dmm_near *near);
/* Collective, before MPI ends; after that it frees what is not MPI's. */
void dmm_near_free(int size, bool finalised, struct dmm_near *near);
/* Gives all near arrays the shapes of their parts of this panel. */
void dmm_near_shape(const struct dms_layout *layout, int64_t panel, struct dmm_near *near);
/* The arrays of a part, as they are received (`in`) and as they are sent. */
void dmm_near_views(const struct dms_panel *panel, const struct dms_box *part, struct dmm_views *in,
                    struct dmm_views *out);
/* From this rank's slab to the near ranks' parts, and back. When: see near.c. */
void dmm_near_put(const struct dms_layout *layout, int rank, int64_t panel, const struct dmm_views *slab,
                  const struct dmm_near *near);
void dmm_near_take(const struct dms_layout *layout, int rank, int64_t panel, const struct dmm_views *slab,
                   const struct dmm_near *near);
/* Before and after the arrays are used by their rank. */
void dmm_near_sync(void);

#endif
