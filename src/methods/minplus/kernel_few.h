/* A slow pass with only a few planes that have a site: every element tries all of these planes, in 32 bits. The surroundings of a small
 * object then need neither steps, most of which would find nothing, nor candidate lists. 3 instructions per N32
 * elements and plane, with sites 6.
 */

enum { FEW_PLANES = 12 };

/* The current rows of these planes, one after another: values, and with sites their linear indices. */
typedef struct few_rows {
    int count;
    int64_t plane[FEW_PLANES];
    int32_t *value, *site;
} few_rows;

/* Lists the planes, if they are few enough: their rows must fit the memory of the tile. */
static bool few_find(const mp_pass *pass, const int64_t at[DM_NDIM], mp_worker *w, few_rows *rows) {
    const uint8_t *alive = slow_alive(pass, at);
    *rows = (few_rows){.value = (int32_t *)(void *)w->tile, .site = w->tile_site};
    for (int64_t i = 0; alive && i < pass->n; i++) {
        if (!alive[i])
            continue;
        if (rows->count == FEW_PLANES || 2 * (rows->count + 1) > pass->n)
            return false;
        rows->plane[rows->count++] = i;
    }
    return alive;
}

/* Copies the rows, because results overwrite them. `own` is the linear index of the lines' first elements. */
static void few_load(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, uint32_t own,
                     int count, const few_rows *rows, mp_worker *w) {
    for (int r = 0; r < rows->count; r++) {
        const int64_t i = rows->plane[r];
        const V32 here = v32_add(v32_set((int32_t)(own + (uint32_t)(i * job->plan->linear[pass->axis]))), v32_iota());
        const int32_t *d2 = NULL, *site = NULL;
        if (job->sites)
            site = slow_row(&job->site_store, pass, at, first, i, count, (int32_t *)w->found);
        if (!job->offsets)
            d2 = slow_row(&job->d2_store, pass, at, first, i, count, w->d2);
        for (int c = 0; c < count; c += N32) {
            const int to = r * pass->columns + c;
            V32 from = v32_set(0);
            if (job->sites)
                from = v32_load(site + c);
            v32_store(rows->value + to, job->offsets ? offset_square(job, from) : v32_load(d2 + c));
            if (job->offsets)
                from = v32_add(v32_add(here, v32_set(c)), offset_site(job, pass, from, v32_set(0)));
            if (job->sites)
                v32_store(rows->site + to, from);
        }
    }
}

/* Row i. Among equal values the lowest plane wins. */
static inline ALWAYS void few_row(const mp_pass *pass, const few_rows *rows, int64_t i, int count, bool sites,
                                  mp_worker *w) {
    const int planes = rows->count, pitch = pass->columns;
    int32_t cost[FEW_PLANES];
    for (int r = 0; r < planes; r++)
        cost[r] = (int32_t)(pass->w2 * (rows->plane[r] - i) * (rows->plane[r] - i));
    for (int c = 0; c < count; c += N32) {
        const int32_t *from = rows->value + c, *from_site = sites ? rows->site + c : NULL;
        V32 best = v32_set(MP_NONE), site = v32_set((int32_t)MP_NO_SITE);
        for (int r = 0; r < planes; r++, from += pitch) {
            const V32 value = v32_min(v32_load(from), v32_set(MP_NONE - cost[r]));
            const V32 here = v32_add(value, v32_set(cost[r])); /* MP_NONE at most */
            if (sites) {
                site = v32_blend(v32_lt(here, best), v32_load(from_site), site);
                from_site += pitch;
            }
            best = v32_min(best, here);
        }
        v32_store(w->tile_d2 + c, best);
        if (sites)
            v32_store(w->tile_found + c, site);
    }
}

/* Returns whether the planes were few enough; the tile is then finished. */
static bool few_solve(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, uint32_t own,
                      int count, mp_worker *w) {
    few_rows rows;
    if (!few_find(pass, at, w, &rows))
        return false;
    few_load(job, pass, at, first, own, count, &rows, w);
    int64_t to[DM_NDIM] = {at[0], at[1], at[2], at[3] + first};
    for (int64_t i = 0; i < pass->n; i++) {
        to[pass->axis] = i;
        if (job->sites)
            few_row(pass, &rows, i, count, true, w);
        else
            few_row(pass, &rows, i, count, false, w);
        slow_emit(job, pass, to, w->tile_d2, job->sites ? (const uint32_t *)w->tile_found : NULL, count, w);
    }
    stream_fence();
    return true;
}
