/* minplus/cpu on a window (distmap_window in distmap.h): what its columns are told about the rows outside.
 *
 * A column's nearest site above row y of the window is one of the window's, or else the one that `before` tells, y - before rows
 * away: so counters that walk down begin with the distance from the row before the window, and those that walk up likewise. Where
 * counters of 16 bits are not enough, that is in images of more than 65,535 rows, the nearest site is first or last in its column
 * (minplus_wide.c), and again one of the window's if it has any on that side.
 */
#include <string.h>

#include "methods/minplus/minplus.h"

/* -1: none. */
static int64_t row_told(const dm_array *rows, int64_t x) {
    return *(const int32_t *)(rows->data + x * rows->stride[DM_X]);
}

static uint16_t counter(int64_t rows) { return rows < MP_FAR16 ? (uint16_t)rows : MP_FAR16; }

void mp_window_enter(const mp_job *job, const mp_plane *plane) {
    uint16_t *up = plane->up, *down = plane->down + (size_t)(job->blocks - 1) * job->wide;
    memset(up, 0xFF, job->wide * sizeof *up);
    memset(down, 0xFF, job->wide * sizeof *down);
    if (!job->plan->problem.window.count)
        return;
    for (int64_t x = 0; x < job->width; x++) {
        const int64_t before = row_told(&job->arrays->before, x), after = row_told(&job->arrays->after, x);
        up[x] = before < 0 ? MP_FAR16 : counter(job->first_row - 1 - before);
        down[x] = after < 0 ? MP_FAR16 : counter(after - (job->first_row + job->height));
    }
}

uint32_t mp_window_site(const mp_job *job, int64_t x, int end) {
    if (!job->plan->problem.window.count || x >= job->width)
        return MP_NO_SITE;
    const int64_t rows[2] = {row_told(&job->arrays->after, x), row_told(&job->arrays->before, x)};
    return (uint32_t)(rows[end] >= 0 ? rows[end] : rows[!end]); /* -1 is MP_NO_SITE */
}
