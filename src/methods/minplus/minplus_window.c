/* minplus/cpu on a window (distmap_window in distmap.h): the nearest sites of its columns in the rows outside.
 *
 * A column's nearest site above row y is in the window, or else it is the site of `before`, y - before rows
 * away: so downward counters start with the distance from the row before the window, and upward counters likewise. In images of more
 * than 65,535 rows, where 16-bit counters are too short, the nearest site is the first or last of its column
 * (minplus_wide.c), again in the window if it has any on that side.
 */
#include <string.h>

#include "methods/minplus/minplus.h"

/* -1: none. */
static int64_t row_told(const dm_array *rows, int64_t x) {
    return *(const int32_t *)(rows->data + x * rows->stride[DM_X]);
}

static uint16_t counter(int64_t rows) { return rows < MP_NO_COLUMN ? (uint16_t)rows : MP_NO_COLUMN; }

void mp_window_enter(const mp_job *job, const mp_plane *plane) {
    uint16_t *up = plane->up, *down = plane->down + (size_t)(job->blocks - 1) * job->padded_width;
    memset(up, 0xFF, job->padded_width * sizeof *up);
    memset(down, 0xFF, job->padded_width * sizeof *down);
    if (!job->plan->problem.window.count)
        return;
    for (int64_t x = 0; x < job->width; x++) {
        const int64_t before = row_told(&job->arrays->before, x), after = row_told(&job->arrays->after, x);
        up[x] = before < 0 ? MP_NO_COLUMN : counter(job->first_row - 1 - before);
        down[x] = after < 0 ? MP_NO_COLUMN : counter(after - (job->first_row + job->height));
    }
}

uint32_t mp_window_site(const mp_job *job, int64_t x, int end) {
    if (!job->plan->problem.window.count || x >= job->width)
        return MP_NO_SITE;
    const int64_t rows[2] = {row_told(&job->arrays->after, x), row_told(&job->arrays->before, x)};
    return (uint32_t)(rows[end] >= 0 ? rows[end] : rows[!end]); /* -1 is MP_NO_SITE */
}
