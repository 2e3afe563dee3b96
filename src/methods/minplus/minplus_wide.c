/* minplus/cpu beyond 31 bits: problems whose largest squared distance does not fit i32 lanes, or with axes beyond
 * the range of u16 counters.
 *
 * Such problems carry sites between stages instead of squared distances: a u32 linear index has four bytes,
 * and d2 is computed from it, in 64 bits, where it is needed. Near searches are unchanged, since the values that they settle are
 * small. A far search whose values might not fit is done here, line by line, by the lower envelope of parabolas:
 *
 *     start(i, j) = the smallest integer x with f_j + w (x - p_j)^2 < f_i + w (x - p_i)^2,   p_i < p_j,
 *
 * one floored division. A new candidate j removes those whose start it reaches. Every candidate enters and leaves once, so a line
 * takes linear time. A candidate wins only if it is strictly better, so the leftmost wins ties. Along rows the tie rule wants the
 * lowest row first; f is then f 2^ROW_BITS + row, with w 2^ROW_BITS: the order is the same, and no two rows tie.
 * Values stay below 2^62 (refuses() in minplus_cpu.c).
 */
#include "cpu/rows.h"
#include "methods/minplus/minplus.h"

enum { ROW_BITS = 18 };

typedef mp_parabola parabola;

static int64_t start_of(const parabola *i, const parabola *j, int64_t w2) {
    const int64_t above = (j->f + w2 * j->at * j->at) - (i->f + w2 * i->at * i->at);
    const int64_t slope = 2 * w2 * (j->at - i->at);
    return above / slope + (above % slope >= 0); /* floor + 1 */
}

/* Adds a candidate to the envelope; returns the new count. */
static size_t push(parabola *list, size_t count, parabola j, int64_t first, int64_t w2) {
    j.start = first;
    while (count > 0) {
        j.start = start_of(&list[count - 1], &j, w2);
        if (j.start > list[count - 1].start)
            break;
        count--;
    }
    if (count == 0)
        j.start = first;
    list[count] = j;
    return count + 1;
}

uint64_t mp_wide_squared(const distmap_plan *plan, uint32_t site, const int64_t at[DM_NDIM]) {
    uint64_t sum = 0;
    for (int a = DM_X; a >= 0; a--) {
        const uint32_t length = (uint32_t)dm_image_length(plan, a);
        const int64_t d = (int64_t)(site % length) - at[a];
        site /= length;
        sum += plan->w2[a] * (uint64_t)(d * d);
    }
    return sum;
}

/* If the u16 counters of a tall plane say "none", the column's first or last site may still be 65,535 rows or more away.
 * (Only one of them can be on the near side: planes have at most 131,070 rows.) Distance, or -1; *row is the site's. */
static int64_t column_distance(const mp_job *job, const mp_worker *w, const mp_plane *plane, const uint16_t *below,
                               int64_t x, int64_t y, int64_t *row) {
    const uint16_t up = w->above[x], down = below[x], g = up <= down ? up : down;
    if (g != MP_NO_COLUMN) {
        *row = up <= down ? y - g : y + g;
        return g;
    }
    if (!job->tall || plane->first_site[x] == MP_NO_SITE)
        return -1;
    *row = plane->last_site[x] < y ? (int64_t)plane->last_site[x] : (int64_t)plane->first_site[x];
    return *row < y ? y - *row : *row - y;
}

void mp_wide_row(const mp_job *job, mp_worker *w, const mp_plane *plane, const uint16_t *below, int64_t y,
                 uint32_t start, int64_t first, int64_t last, int64_t from, int64_t to) {
    const int64_t width = job->width, w2 = (int64_t)job->wx2 << ROW_BITS;
    w->wide_row = true;
    size_t count = 0;
    for (int64_t x = from; x < to && x < width; x++) {
        int64_t row;
        const int64_t g = column_distance(job, w, plane, below, x, y, &row);
        if (g >= 0)
            count = push(w->envelope, count, (parabola){(job->wy2 * g * g << ROW_BITS) + row, x, 0}, first, w2);
    }
    size_t i = 0;
    for (int64_t x = first; x < last && x < width; x++) {
        while (i + 1 < count && w->envelope[i + 1].start <= x)
            i++;
        const parabola *p = &w->envelope[i];
        const int64_t row = p->f & ((1 << ROW_BITS) - 1);
        w->found[x] = count ? start + (uint32_t)(row * width + p->at) : MP_NO_SITE;
    }
}

void mp_wide_line(const mp_job *job, const mp_pass *pass, const int64_t lane[DM_NDIM], const int32_t *sites,
                  size_t site_pitch, mp_worker *w, int32_t *found, size_t found_pitch) {
    int64_t at[DM_NDIM] = {lane[0], lane[1], lane[2], lane[3]};
    size_t count = 0;
    for (int64_t i = 0; i < pass->n; i++) {
        const uint32_t site = (uint32_t)sites[(size_t)i * site_pitch];
        at[pass->axis] = i;
        if (site != MP_NO_SITE)
            count =
                push(w->envelope, count, (parabola){(int64_t)mp_wide_squared(job->plan, site, at), i, 0}, 0, pass->w2);
    }
    size_t best = 0;
    for (int64_t i = 0; i < pass->n; i++) {
        while (best + 1 < count && w->envelope[best + 1].start <= i)
            best++;
        found[(size_t)i * found_pitch] = count ? sites[(size_t)w->envelope[best].at * site_pitch] : (int32_t)MP_NO_SITE;
    }
}

void mp_wide_emit(const mp_job *job, mp_worker *w, const int64_t at[DM_NDIM], const uint32_t *site, size_t n) {
    distmap_plan *plan = job->plan;
    int64_t here[DM_NDIM] = {at[0], at[1], at[2] + plan->first_row, at[3]};
    uint32_t *narrow = (uint32_t *)w->wide_squared;
    for (size_t x = 0; x < n; x++, here[DM_X]++) {
        const bool none = site[x] == MP_NO_SITE;
        const uint64_t d2 = none ? UINT64_MAX : mp_wide_squared(plan, site[x], here);
        if (plan->number == DM_U32)
            narrow[x] = none ? UINT32_MAX : (uint32_t)d2;
        else
            w->wide_squared[x] = d2;
        w->site[x] = none ? DISTMAP_INDEX_NONE : (int64_t)site[x];
    }
    dm_row_emit(plan, job->arrays, at, (int64_t)n, w->wide_squared, plan->wants_site ? w->site : NULL);
}
