/* Planes over ranks: each rank's slab is a window (distmap.h), and no distances are exchanged.
 *
 *     survey    each rank, the first and the last site of each column of its slab, a band of rows at a time
 *     scans     the last site before the slab is the largest last one of the ranks before, the first one after it the least first one of
 *               the ranks behind: MPI_Exscan() in both directions, 4 bytes per column each
 *     window    each rank, its results
 *
 * Scans take log R messages of a row each, whatever the slabs.
 */
#include <limits.h>
#include <stdlib.h>

#include "mpi/internal.h"

enum { BAND_BYTES = 1 << 20 };

distmap_status dmm_windows_find(MPI_Comm comm, const distmap_context *context, const distmap_problem *normal,
                                bool *can) {
    int all = dms_takes_windows(context, normal); /* ranks may have different devices */
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
    *can = all;
    return DISTMAP_OK;
}

distmap_status dmm_windows_make(distmap_context *context, const distmap_problem *normal, struct dms_slab slab,
                                size_t band_bytes, struct dmm_windows *w) {
    distmap_problem window = *normal;
    w->width = normal->shape[1];
    w->slab = slab;
    const int64_t rows = (int64_t)((band_bytes ? band_bytes : BAND_BYTES) / (size_t)(w->width + 1)) + 1;
    w->band = rows < slab.count ? rows : slab.count;
    w->bytes = 4 * (size_t)w->width * sizeof *w->first + (size_t)(w->band * w->width);
    w->first = malloc(w->bytes + 1);
    if (!w->first)
        return distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for %zu bytes for columns", w->bytes);
    w->last = w->first + w->width;
    w->before = w->last + w->width;
    w->after = w->before + w->width;
    w->sites = (uint8_t *)(w->after + w->width);
    if (slab.count == 0 || w->width == 0)
        return DISTMAP_OK;
    const distmap_problem band = dms_survey_of(normal, w->band), rest = dms_survey_of(normal, slab.count % w->band);
    TRY(dms_plan_make(context, &band, &w->survey, &w->bytes));
    if (slab.count % w->band)
        TRY(dms_plan_make(context, &rest, &w->survey_rest, &w->bytes));
    window.window = (distmap_window){slab.first, slab.count};
    return dms_plan_make(context, &window, &w->plan, &w->bytes);
}

distmap_status dmm_windows_reverse(MPI_Comm comm, struct dmm_windows *w) {
    int rank, size;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    TRY_MPI(MPI_Comm_split(comm, 0, size - rank, &w->reverse));
    return DISTMAP_OK;
}

void dmm_windows_free(bool finalised, struct dmm_windows *w) {
    if (!finalised && w->reverse != MPI_COMM_NULL)
        MPI_Comm_free(&w->reverse);
    distmap_plan_destroy(&w->survey);
    distmap_plan_destroy(&w->survey_rest);
    distmap_plan_destroy(&w->plan);
    free(w->first);
}

/* Band number i of the slab: which rows of the image, and which of their elements are sites. */
static distmap_status survey_band(const struct dmm_windows *w, const distmap_view *input, int64_t i,
                                  struct dms_slab *rows) {
    const int64_t from = i * w->band, left = w->slab.count - from, count = left < w->band ? left : w->band;
    distmap_plan *plan = count < w->band ? w->survey_rest : w->survey;
    distmap_arrays arrays = {.input = *input};
    arrays.input.data = (char *)input->data + from * input->strides[0];
    arrays.input.shape[0] = count;
    arrays.within = distmap_view_make(w->sites, DISTMAP_UINT8, 2, arrays.input.shape);
    *rows = (struct dms_slab){w->slab.first + from, count};
    TRY(distmap_plan_execute(plan, &arrays));
    return distmap_plan_wait(plan);
}

/* From the first band on until each column has a site, then from the last one backwards likewise, to where the first way ended: so
 * most bands of most images are not looked at, and none twice. */
distmap_status dmm_windows_survey(const struct dmm_windows *w, const distmap_view *input) {
    const int64_t bands = w->plan ? (w->slab.count + w->band - 1) / w->band : 0;
    struct dms_slab rows;
    int32_t *seen = w->before; /* not known yet */
    int64_t front = 0;
    bool unknown = true;
    dms_survey_begin(w->first, 2 * w->width);
    while (front < bands && unknown) {
        TRY(survey_band(w, input, front++, &rows));
        unknown = dms_survey_rows(w->sites, rows, w->width, false, w->first);
        dms_survey_begin(seen, w->width);
        dms_survey_rows(w->sites, rows, w->width, true, seen);
        dms_survey_merge(w->last, seen, w->width);
    }
    unknown = true;
    dms_survey_begin(seen, w->width);
    for (int64_t i = bands - 1; i >= front && unknown; i--) {
        TRY(survey_band(w, input, i, &rows));
        unknown = dms_survey_rows(w->sites, rows, w->width, true, seen);
    }
    dms_survey_merge(w->last, seen, w->width);
    return DISTMAP_OK;
}

distmap_status dmm_windows_scan(MPI_Comm comm, const struct dmm_windows *w) {
    const int64_t width = w->width;
    dms_survey_begin(w->before, width); /* of the first rank, which gets nothing */
    for (int64_t x = 0; x < width; x++)
        w->first[x] = w->first[x] < 0 ? INT32_MAX : w->first[x];
    for (int64_t x = 0; x < width; x++)
        w->after[x] = INT32_MAX;
    TRY_MPI(MPI_Exscan(w->last, w->before, (int)width, MPI_INT32_T, MPI_MAX, comm));
    TRY_MPI(MPI_Exscan(w->first, w->after, (int)width, MPI_INT32_T, MPI_MIN, w->reverse));
    for (int64_t x = 0; x < width; x++)
        w->after[x] = w->after[x] == INT32_MAX ? -1 : w->after[x];
    return DISTMAP_OK;
}

distmap_status dmm_windows_run(const struct dmm_windows *w, const distmap_arrays *slab, unsigned *flags) {
    if (!w->plan)
        return DISTMAP_OK;
    distmap_arrays arrays = *slab;
    arrays.before = distmap_view_make(w->before, DISTMAP_INT32, 1, &w->width);
    arrays.after = distmap_view_make(w->after, DISTMAP_INT32, 1, &w->width);
    TRY(distmap_plan_execute(w->plan, &arrays));
    TRY(distmap_plan_wait(w->plan));
    *flags |= distmap_plan_flags(w->plan);
    return DISTMAP_OK;
}
