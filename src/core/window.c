/* Windows: some rows of a plane. Two rows of numbers describe the sites of the other rows (distmap.h says why). A method whose first
 * pass runs along columns starts and ends that pass with these numbers; its later passes do not change.
 *
 * Everything about distances refers to the whole image: their width, the limit, indices, the border. The normal form has the window's
 * rows in shape[2] and `elements`, and the image's in `rows`.
 */
#include <string.h>

#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

distmap_status dm_window_check(distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const distmap_window *w = &p->window;
    if (w->first == 0 && w->count == 0)
        return DISTMAP_OK;
    if (p->input != DISTMAP_INPUT_MASK || p->metric != DISTMAP_METRIC_EUCLIDEAN || p->sign != DISTMAP_SIGN_NONE)
        return bad("problem.window needs a mask, the Euclidean metric and no sign");
    if (p->ndim != 2 || p->axes != 3)
        return bad("problem.window needs two axes, both measured");
    if (p->want.coords || p->want.label || plan->wants_mask)
        return bad("problem.window gives distance, squared and index alone");
    if (w->first < 0 || w->count < 1 || w->first > p->shape[0] - w->count)
        return bad("problem.window has %lld rows from %lld on, must be within the %lld of the image",
                   (long long)w->count, (long long)w->first, (long long)p->shape[0]);
    plan->first_row = w->first;
    plan->shape[2] = w->count;
    plan->elements = w->count * p->shape[1];
    return DISTMAP_OK;
}

/* Whether all are -1 or within [from, to). */
static distmap_status check_rows(const char *name, const dm_array *rows, int64_t width, int64_t from, int64_t to) {
    for (int64_t x = 0; x < width; x++) {
        int32_t row;
        memcpy(&row, rows->data + x * rows->stride[DM_X], sizeof row);
        if (row != -1 && (row < from || row >= to))
            return bad("arrays.%s has row %d for column %lld, must be -1 or a row of %lld to %lld", name, (int)row,
                       (long long)x, (long long)from, (long long)to - 1);
    }
    return DISTMAP_OK;
}

distmap_status dm_window_rows_check(const distmap_plan *plan, const dm_arrays *arrays) {
    const distmap_window *w = &plan->problem.window;
    if (!w->count || plan->elements == 0)
        return DISTMAP_OK;
    TRY(check_rows("before", &arrays->before, plan->shape[DM_X], 0, w->first));
    return check_rows("after", &arrays->after, plan->shape[DM_X], w->first + w->count, plan->rows);
}
