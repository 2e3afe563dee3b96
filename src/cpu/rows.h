/* Rows in and out: the only place that knows every dtype, stride, sites rule, border and limit.
 *
 * A method reads its input by dm_row_sites / dm_row_values / dm_row_integers and hands finished rows to dm_row_emit; it works
 * on contiguous memory of one type in between. `at` names the row: normal-form coordinates, at[DM_X] being the first
 * element of the run.
 */
#ifndef DISTMAP_CPU_ROWS_H
#define DISTMAP_CPU_ROWS_H

#include "core/internal.h"

/* Address of the row's first element. */
static inline char *dm_row_address(const dm_array *array, const int64_t at[DM_NDIM]) {
    char *p = array->data;
    for (int a = 0; a < DM_NDIM; a++)
        p += at[a] * array->stride[a];
    return p;
}

/* site[i] = 1 where element i of the run is a site by the plan's rule, else 0. Raises DISTMAP_FLAG_NAN. */
void dm_row_sites(distmap_plan *plan, const dm_array *input, const int64_t at[DM_NDIM], int64_t count, uint8_t *site);

/* Sampled function: the run's values in the plan's number type, "none" where the sample is none. A negative or too large
 * value calls dm_fail. */
void dm_row_values(distmap_plan *plan, const dm_array *input, const int64_t at[DM_NDIM], int64_t count, void *values);

/* Integer elements of the run (LABELS input, payload), as int64 (uint64 by its bits). */
void dm_row_integers(const dm_array *array, const int64_t at[DM_NDIM], int64_t count, int64_t *values);

/* LABELS and signed maps: each element's kind (its label; 1 or 0 by the side of the shape), and in background[] 1 where it is
 * at distance 0 from itself, else 0. */
void dm_row_kinds(distmap_plan *plan, const dm_array *input, const int64_t at[DM_NDIM], int64_t count, int64_t *kind,
                  uint8_t *background);

/* One row's results, contiguous: `squared` of the plan's number type with its "none" (the distances themselves where the
 * metric is not the Euclidean); `site` the linear index of the
 * nearest site or sample (-1 where none), NULL when the plan wants no sites. Applies limit and border, converts, and
 * stores into every wanted output. `squared` and `site` may be changed. Raises DISTMAP_FLAG_NO_SITE. */
void dm_row_emit(distmap_plan *plan, const dm_arrays *arrays, const int64_t at[DM_NDIM], int64_t count, void *squared,
                 int64_t *site);

/* Signed maps: adds sign and surface to distances and squares of a run that were stored without. Results of dm_row_emit
 * has them already. */
void dm_row_sign(distmap_plan *plan, const dm_arrays *arrays, const int64_t at[DM_NDIM], int64_t count);

/* The same in a method's own buffer; shape[i] is 1 on the shape, as dm_row_sites says. */
void dm_sign_floats(const distmap_plan *plan, const uint8_t *shape, int64_t count, float *distance);

#endif
