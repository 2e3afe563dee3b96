/* Boxes of views as MPI datatypes, and the exchange of one panel.
 *
 * A view is nested vectors, one for each axis, of any strides; a box of it begins somewhere. Several views that travel together
 * are one structure of absolute addresses, so that a panel is one message from each rank to each other. Counts are lengths of
 * axes (below 2^31), and displacements MPI_Aint: no offset in bytes is ever an int, as those of MPI_Alltoallw itself are.
 */
#include <stdlib.h>

#include "mpi/internal.h"

/* The nested vectors of a box's shape in one view. */
static distmap_status nest(const struct dmm_layout *l, const distmap_view *view, const struct dmm_box *box,
                           MPI_Datatype *type) {
    TRY_MPI(MPI_Type_contiguous((int)distmap_dtype_size(view->dtype), MPI_BYTE, type));
    for (int a = l->ndim - 1; a >= 0; a--) {
        MPI_Datatype inner = *type;
        const int code =
            MPI_Type_create_hvector((int)(box->hi[a] - box->lo[a]), 1, (MPI_Aint)view->strides[a], inner, type);
        MPI_Type_free(&inner);
        TRY_MPI(code);
    }
    return DISTMAP_OK;
}

distmap_status dmm_type_make(const struct dmm_layout *l, const struct dmm_views *views, const struct dmm_box *box,
                             MPI_Datatype *type, int *count) {
    static const int ones[DMM_MAX_VIEWS] = {1, 1, 1};
    MPI_Datatype nested[DMM_MAX_VIEWS] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};
    MPI_Aint place[DMM_MAX_VIEWS] = {0};
    int made = 0;
    *type = MPI_BYTE;
    *count = 0;
    if (dmm_box_elements(l, box) == 0)
        return DISTMAP_OK;
    distmap_status status = DISTMAP_OK;
    for (; made < views->count; made++) {
        const distmap_view *view = views->view[made];
        char *first = view->data;
        for (int a = 0; a < l->ndim; a++)
            first += (box->lo[a] - views->origin[a]) * view->strides[a];
        status = nest(l, view, box, &nested[made]);
        if (status != DISTMAP_OK)
            break;
        MPI_Get_address(first, &place[made]);
    }
    MPI_Datatype all = MPI_BYTE;
    if (status == DISTMAP_OK)
        status = dmm_mpi_status(MPI_Type_create_struct(made, ones, place, nested, &all), "MPI_Type_create_struct");
    if (status == DISTMAP_OK) {
        status = dmm_mpi_status(MPI_Type_commit(&all), "MPI_Type_commit");
        if (status == DISTMAP_OK) {
            *type = all;
            *count = 1;
        } else {
            MPI_Type_free(&all);
        }
    }
    while (made > 0)
        MPI_Type_free(&nested[--made]);
    return status;
}

/* ---- Exchanges ---- */

distmap_status dmm_exchange_allocate(int size, struct dmm_exchange *e) {
    const size_t n = (size_t)size;
    *e = (struct dmm_exchange){.send_counts = calloc(n, sizeof(int)),
                               .receive_counts = calloc(n, sizeof(int)),
                               .zeros = calloc(n, sizeof(int)),
                               .send = calloc(n, sizeof(MPI_Datatype)),
                               .receive = calloc(n, sizeof(MPI_Datatype))};
    if (!e->send_counts || !e->receive_counts || !e->zeros || !e->send || !e->receive)
        return distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for the lists of %d ranks", size);
    return DISTMAP_OK;
}

void dmm_exchange_free(struct dmm_exchange *e) {
    free(e->send_counts);
    free(e->receive_counts);
    free(e->zeros);
    free(e->send);
    free(e->receive);
    *e = (struct dmm_exchange){0};
}

distmap_status dmm_exchange_make(const struct dmm_layout *l, int rank, int64_t panel, const struct dmm_views *slab,
                                 const struct dmm_views *lines, bool back, struct dmm_exchange *e) {
    const struct dmm_box own = dmm_panel_part(l, panel, rank);
    for (int r = 0; r < l->size; r++) {
        const struct dmm_box theirs_here = dmm_box_in_slab(l, dmm_panel_part(l, panel, r), rank);
        const struct dmm_box ours_there = dmm_box_in_slab(l, own, r);
        TRY(dmm_type_make(l, slab, &theirs_here, back ? &e->receive[r] : &e->send[r],
                          back ? &e->receive_counts[r] : &e->send_counts[r]));
        TRY(dmm_type_make(l, lines, &ours_there, back ? &e->send[r] : &e->receive[r],
                          back ? &e->send_counts[r] : &e->receive_counts[r]));
    }
    return DISTMAP_OK;
}

distmap_status dmm_exchange_run(MPI_Comm comm, const struct dmm_exchange *e) {
    TRY_MPI(MPI_Alltoallw(MPI_BOTTOM, e->send_counts, e->zeros, e->send, MPI_BOTTOM, e->receive_counts, e->zeros,
                          e->receive, comm));
    return DISTMAP_OK;
}

void dmm_exchange_clear(int size, struct dmm_exchange *e) {
    for (int r = 0; r < size; r++) {
        if (e->send_counts[r])
            MPI_Type_free(&e->send[r]);
        if (e->receive_counts[r])
            MPI_Type_free(&e->receive[r]);
        e->send_counts[r] = e->receive_counts[r] = 0;
    }
}
