/* minplus/cpu, masks within a radius below every pitch: a site reaches only itself, so the mask is the sites. Surveys of slabs
 * use it (src/slabs/windows.c). One pass over the elements, in runs that fit the first-level cache.
 */
#include <string.h>

#include "cpu/rows.h"
#include "methods/minplus/minplus_layout.h"

enum { RUN = 4096, ROWS = 16 };

struct self {
    distmap_plan *plan;
    const dm_arrays *arrays;
    int64_t rows;
};

bool mp_self_alone(const distmap_plan *plan, const mp_ball *ball) {
    bool alone = ball->on;
    for (int a = 0; a < DM_NDIM; a++) {
        const bool counts =
            dm_axis_counts(plan, a) || (plan->measured[a] && plan->problem.border); /* the border is a pitch away */
        alone = alone && (!counts || (uint64_t)ball->limit2 < plan->w2[a]);
    }
    return alone;
}

static void store(const dm_array *mask, const int64_t at[DM_NDIM], const uint8_t *site, int64_t n, uint8_t flip) {
    char *to = mask->data ? dm_row_address(mask, at) : NULL;
    const int64_t stride = mask->stride[DM_X];
    if (to && stride == 1)
        for (int64_t x = 0; x < n; x++)
            to[x] = (char)(site[x] ^ flip);
    else if (to)
        for (int64_t x = 0; x < n; x++)
            to[x * stride] = (char)(site[x] ^ flip);
}

static void rows_task(void *arg, size_t index, int worker) {
    (void)worker;
    const struct self *s = arg;
    const int64_t *shape = s->plan->shape, first = (int64_t)index * ROWS;
    for (int64_t row = first; row < first + ROWS && row < s->rows; row++)
        for (int64_t x = 0; x < shape[DM_X]; x += RUN) {
            const int64_t at[DM_NDIM] = {row / (shape[1] * shape[2]), row / shape[2] % shape[1], row % shape[2], x};
            const int64_t n = shape[DM_X] - x < RUN ? shape[DM_X] - x : RUN;
            uint8_t site[RUN];
            dm_row_sites(s->plan, &s->arrays->input, at, n, site);
            store(&s->arrays->within, at, site, n, 0);
            store(&s->arrays->beyond, at, site, n, 1);
            dm_flag(s->plan, memchr(site, 0, (size_t)n) ? DISTMAP_FLAG_NO_SITE : 0);
        }
}

distmap_status mp_self_run(distmap_plan *plan, const dm_arrays *arrays) {
    struct self self = {plan, arrays, plan->elements / plan->shape[DM_X]};
    dm_phase(plan, "sites");
    return dm_parallel(plan, (size_t)((self.rows + ROWS - 1) / ROWS), rows_task, &self, 1.0);
}
