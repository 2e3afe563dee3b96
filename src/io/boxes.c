/* Boxes of elements: checked, and taken apart into runs. */
#include "io/codec.h"

/* Of one element: for the axes that the image lacks. */
static dm_box unit_box(void) {
    dm_box box = {{0}, {0}};
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        box.count[a] = 1;
    return box;
}

distmap_status dm_box_take(const distmap_image_info *info, const int64_t *first, const int64_t *count, dm_box *box) {
    const int lead = DISTMAP_MAX_AXES - info->ndim;
    if (!first || !count)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "first, count: must not be NULL");
    *box = unit_box();
    for (int a = 0; a < info->ndim; a++) {
        if (first[a] < 0 || count[a] < 0 || first[a] > info->shape[a] || count[a] > info->shape[a] - first[a])
            return distmap_error_set(DISTMAP_ERROR_ARGUMENT,
                                     "first, count: %lld + %lld are not within the %lld places of axis %d",
                                     (long long)first[a], (long long)count[a], (long long)info->shape[a], a);
        box->first[lead + a] = first[a];
        box->count[lead + a] = count[a];
    }
    return DISTMAP_OK;
}

dm_box dm_box_of_slices(const distmap_image_info *info, int64_t first, int64_t count) {
    const int lead = DISTMAP_MAX_AXES - info->ndim;
    dm_box box = unit_box();
    for (int a = 0; a < info->ndim; a++)
        box.count[lead + a] = info->shape[a];
    box.first[lead] = first;
    box.count[lead] = count;
    return box;
}

int64_t dm_box_elements(const dm_box *box) {
    int64_t elements = 1;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        elements *= box->count[a];
    return elements;
}

bool dm_box_empty(const dm_box *box) { return dm_box_elements(box) == 0; }

/* Axes that the box has whole, from the last one on, make the runs longer. */
distmap_status dm_box_runs(const distmap_image_info *info, const dm_box *box,
                           distmap_status (*call)(void *user, int64_t from, int64_t to, int64_t run), void *user) {
    int64_t shape[DISTMAP_MAX_AXES], stride[DISTMAP_MAX_AXES];
    const int lead = DISTMAP_MAX_AXES - info->ndim;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        shape[a] = a < lead ? 1 : info->shape[a - lead];
    stride[DISTMAP_MAX_AXES - 1] = 1;
    for (int a = DISTMAP_MAX_AXES - 1; a > 0; a--)
        stride[a - 1] = stride[a] * shape[a];
    int axis = DISTMAP_MAX_AXES - 1; /* along which the runs are, and what lies behind it is whole */
    while (axis > 0 && box->count[axis] == shape[axis])
        axis--;
    const int64_t run = box->count[axis] * stride[axis];
    int64_t at[DISTMAP_MAX_AXES] = {0}, to = 0;
    for (int a = axis; a >= 0; to += run) {
        int64_t from = box->first[axis] * stride[axis];
        for (int b = 0; b < axis; b++)
            from += (box->first[b] + at[b]) * stride[b];
        TRY(call(user, from, to, run));
        for (a = axis - 1; a >= 0 && ++at[a] == box->count[a]; a--)
            at[a] = 0;
    }
    return DISTMAP_OK;
}
