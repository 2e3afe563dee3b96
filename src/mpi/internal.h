/* What the files of libdistmap_mpi share. plan.c makes and runs plans; agree.c lets one rank's error be everyone's; types.c
 * describes boxes of views to MPI. The arithmetic of slabs and panels, and what is done to whole lines, are in src/slabs.
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

/* A committed datatype, relative to MPI_BOTTOM, of all elements of the box in these views, one after the other; MPI_BYTE
 * where there are none. *count is 1, or then 0. */
distmap_status dmm_type_make(const struct dms_layout *layout, const struct dmm_views *views, const struct dms_box *box,
                             MPI_Datatype *type, int *count);

/* What each rank is sent and sends in one exchange: dmm_exchange_make() is local and may fail alone, dmm_exchange_run() is
 * collective. */
struct dmm_exchange {
    int *send_counts, *receive_counts, *zeros;
    MPI_Datatype *send, *receive;
};
distmap_status dmm_exchange_allocate(int size, struct dmm_exchange *exchange);
void dmm_exchange_free(struct dmm_exchange *exchange);
/* From slabs to the whole lines of this panel, or back; what stays on its rank aside. */
distmap_status dmm_exchange_make(const struct dms_layout *layout, int rank, int64_t panel, const struct dmm_views *slab,
                                 const struct dmm_views *lines, bool back, struct dmm_exchange *exchange);
/* And that: a copy. */
void dmm_exchange_own(const struct dms_layout *layout, int rank, int64_t panel, const struct dmm_views *from,
                      const struct dmm_views *to);
distmap_status dmm_exchange_run(MPI_Comm comm, const struct dmm_exchange *exchange);
/* Frees the datatypes. */
void dmm_exchange_clear(int size, struct dmm_exchange *exchange);

#endif
