/* Boxes of views as MPI datatypes, and the exchange of one panel.
 *
 * A view is nested vectors, one for each axis, of any strides; a box of it begins somewhere. Several views that travel together
 * are one structure of absolute addresses, so that a panel is one message from each rank to each other. Counts are lengths of
 * axes (below 2^31), and displacements MPI_Aint: no offset in bytes is ever an int, as those of MPI_Alltoallw itself are.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

void dmm_views_add(struct dmm_views *views, const distmap_view *view) {
    if (view->data)
        views->view[views->count++] = view;
}

/* Where the element at this place of the image lies in view number i. */
static char *place_of(const struct dms_layout *l, const struct dmm_views *views, int i, const int64_t *at) {
    char *place = views->view[i]->data;
    for (int a = 0; a < l->ndim; a++)
        place += (at[a] - views->origin[a]) * views->view[i]->strides[a];
    return place;
}

/* The nested vectors of a box's shape in one view. */
static distmap_status nest(const struct dms_layout *l, const distmap_view *view, const struct dms_box *box,
                           MPI_Datatype *type) {
    TRY_MPI(MPI_Type_contiguous((int)distmap_dtype_size(view->dtype), MPI_BYTE, type));
    for (int a = l->ndim - 1; a >= 0; a--) {
        const MPI_Aint stride = (MPI_Aint)view->strides[a];
        MPI_Datatype inner = *type;
        int code = MPI_SUCCESS;
        /* Open MPI 4 takes a vector of bytes with this stride for a contiguous one, unless that is their extent. */
        if (stride == -1) {
            code = MPI_Type_create_resized(inner, 0, stride, type);
            MPI_Type_free(&inner);
            TRY_MPI(code);
            inner = *type;
        }
        code = MPI_Type_create_hvector((int)(box->hi[a] - box->lo[a]), 1, stride, inner, type);
        MPI_Type_free(&inner);
        TRY_MPI(code);
    }
    return DISTMAP_OK;
}

distmap_status dmm_type_make(const struct dms_layout *l, const struct dmm_views *views, const struct dms_box *box,
                             MPI_Datatype *type, int *count) {
    static const int ones[DMM_MAX_VIEWS] = {1, 1, 1};
    MPI_Datatype nested[DMM_MAX_VIEWS] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};
    MPI_Aint place[DMM_MAX_VIEWS] = {0};
    int made = 0;
    *type = MPI_BYTE;
    *count = 0;
    if (dms_box_elements(l, box) == 0)
        return DISTMAP_OK;
    distmap_status status = DISTMAP_OK;
    for (; made < views->count; made++) {
        status = nest(l, views->view[made], box, &nested[made]);
        if (status != DISTMAP_OK)
            break;
        MPI_Get_address(place_of(l, views, made, box->lo), &place[made]);
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
    for (size_t i = 0; i < n; i++)
        e->send[i] = e->receive[i] = MPI_BYTE; /* MPI wants types of nothing too */
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

distmap_status dmm_exchange_make(const struct dms_layout *l, int rank, const bool *near, int64_t panel,
                                 const struct dmm_views *slab, const struct dmm_views *lines, bool back,
                                 struct dmm_exchange *e) {
    const struct dms_box own = dms_panel_part(l, panel, rank);
    for (int r = 0; r < l->size; r++) {
        if (near[r])
            continue;
        const struct dms_box theirs_here = dms_box_in_slab(l, dms_panel_part(l, panel, r), rank);
        const struct dms_box ours_there = dms_box_in_slab(l, own, r);
        TRY(dmm_type_make(l, slab, &theirs_here, back ? &e->receive[r] : &e->send[r],
                          back ? &e->receive_counts[r] : &e->send_counts[r]));
        TRY(dmm_type_make(l, lines, &ours_there, back ? &e->send[r] : &e->receive[r],
                          back ? &e->send_counts[r] : &e->receive_counts[r]));
    }
    return DISTMAP_OK;
}

void dmm_copy(const struct dms_layout *l, const struct dms_box *box, const struct dmm_views *from,
              const struct dmm_views *to) {
    if (dms_box_elements(l, box) == 0)
        return;
    const int x = l->ndim - 1;
    const int64_t run = box->hi[x] - box->lo[x];
    for (int i = 0; i < from->count; i++) {
        const int64_t size = (int64_t)distmap_dtype_size(from->view[i]->dtype);
        const int64_t step = from->view[i]->strides[x], step_to = to->view[i]->strides[x];
        int64_t at[DISTMAP_MAX_NDIM];
        memcpy(at, box->lo, sizeof at);
        do {
            const char *source = place_of(l, from, i, at);
            char *target = place_of(l, to, i, at);
            if (step == size && step_to == size)
                memcpy(target, source, (size_t)(run * size));
            else
                for (int64_t k = 0; k < run; k++)
                    memcpy(target + k * step_to, source + k * step, (size_t)size);
        } while (dms_box_next(box, x, at));
    }
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
