/* Loads and stores the lines of a slow pass: rows, one per plane, of squared distances or of sites. Planes without a site are not
 * stored in memory.
 */

/* For lines that start at `at`: for each row whether its plane has a site; NULL if that is not known. */
static inline const uint8_t *slow_alive(const mp_pass *pass, const int64_t at[DM_NDIM]) {
    return pass->alive ? pass->alive + at[0] * pass->n : NULL;
}

static inline size_t slow_line_pitch(const mp_pass *pass) {
    return (size_t)(pass->n + 1) * N16;
} /* not a power of two */

/* `count` elements of row `i` of the lines: in place, or in `copy` if they are not contiguous or not whole vectors (then padded with
 * zeros, which are settled at once). Rows are a plane apart, too far for the processor's prefetcher,
 * so a later row is prefetched. */
static const int32_t *slow_row(const mp_store *store, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first,
                               int64_t i, int count, int32_t *copy) {
    enum { AHEAD = 8, LINE = 64 };
    const int64_t step = store->stride[pass->axis];
    const char *from = store->data + first * store->stride[DM_X] + i * step;
    for (int a = 0; a < DM_NDIM; a++)
        from += at[a] * store->stride[a];
    const bool plain = store->stride[DM_X] == 4;
    if (plain && i + AHEAD < pass->n)
        for (int64_t byte = 0; byte < (int64_t)count * 4; byte += LINE)
            __builtin_prefetch(from + AHEAD * step + byte);
    if (plain && count % N16 == 0)
        return (const int32_t *)(const void *)from;
    for (int c = 0; c < count; c++)
        memcpy(copy + c, from + c * store->stride[DM_X], 4);
    memset(copy + count, 0, N16 * sizeof *copy);
    return copy;
}

/* Wide problems: squared distances of a run of elements from their sites, saturated to u16. */
static void slow_squares(const mp_job *job, const int64_t at[DM_NDIM], const int32_t *site, int count, int32_t *d2) {
    int64_t here[DM_NDIM] = {at[0], at[1], at[2], at[3]};
    for (int c = 0; c < count; c++, here[DM_X]++) {
        const uint64_t square =
            (uint32_t)site[c] == MP_NO_SITE ? MP_NO_COLUMN : mp_wide_squared(job->plan, (uint32_t)site[c], here);
        d2[c] = square < MP_NO_COLUMN ? (int32_t)square : MP_NO_COLUMN;
    }
}

/* Squared distances of offsets. */
static inline V32 offset_square(const mp_job *job, V32 offset) {
    const V32 none = v32_set((int32_t)MP_NO_OFFSET);
    if (job->wx2 == 1 && job->wy2 == 1 && job->factor == 1)
        return v32_blend(v32_eq(offset, none), v32_set(MP_NONE), v32_madd(offset, offset));
    const V32 dx = v32_and(offset, v32_set(0xFFFF)), dy = v32_and(offset, v32_set((int32_t)0xFFFF0000));
    const V32 wx2 = v32_set(job->wx2 * job->factor), wy2 = v32_set(job->wy2 * job->factor);
    const V32 square = v32_add(v32_mul(v32_madd(dx, dx), wx2), v32_mul(v32_madd(dy, dy), wy2));
    return v32_blend(v32_eq(offset, none), v32_set(MP_NONE), square);
}

/* The linear index, relative to the element, of a site at `offset` from the element k steps along the pass. */
static inline V32 offset_site(const mp_job *job, const mp_pass *pass, V32 offset, V32 k) {
    const V32 plane = v32_madd(offset, v32_set((int32_t)(job->width << 16 | 1))); /* dy width + dx */
    return v32_add(plane, v32_mul(k, v32_set((int32_t)job->plan->linear[pass->axis])));
}

/* Functions without a payload: every sample is its own site. */
static const int32_t *own_sites(uint32_t own, int count, int32_t *site) {
    for (int c = 0; c < count; c += N32)
        v32_store(site + c, v32_add(v32_set((int32_t)(own + (uint32_t)c)), v32_iota()));
    return site;
}

static void slow_load(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, uint32_t own,
                      int count, mp_worker *w) {
    const size_t pitch = slow_line_pitch(pass);
    const uint8_t *alive = slow_alive(pass, at);
    for (int64_t i = 0; i < pass->n; i++) {
        const int32_t *site = NULL, *d2 = w->d2;
        if (alive && !alive[i]) {
            for (int c = 0; c < count; c += N16) {
                const size_t to = (size_t)(c / N16) * pitch + (size_t)i * N16;
                v16_store(w->tile + to, v16_set(MP_NO_COLUMN));
                for (int half = 0; job->sites && half < N16; half += N32)
                    v32_store(w->tile_site + to + half, v32_set((int32_t)MP_NO_OFFSET));
            }
            continue;
        }
        if (job->sites && job->function && !job->payload_sites)
            site = own_sites(own + (uint32_t)(i * job->plan->linear[pass->axis]), count, (int32_t *)w->found);
        else if (job->sites)
            site = slow_row(&job->site_store, pass, at, first, i, count, (int32_t *)w->found);
        if (job->needs_64_bits) {
            int64_t here[DM_NDIM] = {at[0], at[1], at[2], at[3] + first};
            here[pass->axis] = i;
            slow_squares(job, here, site, count, w->d2);
            memset(w->d2 + count, 0, N16 * sizeof *w->d2);
        } else if (!job->offsets) {
            d2 = slow_row(&job->d2_store, pass, at, first, i, count, w->d2);
        }
        for (int c = 0; c < count; c += N16) {
            const size_t to = (size_t)(c / N16) * pitch + (size_t)i * N16;
            if (job->sites) {
                const V32 low = v32_load(site + c), high = v32_load(site + c + N32);
                v32_store(w->tile_site + to, low);
                v32_store(w->tile_site + to + N32, high);
                if (job->offsets) {
                    v16_store(w->tile + to, v32_narrow(offset_square(job, low), offset_square(job, high)));
                    continue;
                }
            }
            v16_store(w->tile + to, v32_narrow(v32_load(d2 + c), v32_load(d2 + c + N32)));
        }
    }
}

/* A finished row of a slow pass. */
static void slow_emit(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int32_t *d2,
                      const uint32_t *site, int count, mp_worker *w) {
    if (pass->last)
        emit_final(job, w, at, d2, site, (size_t)count);
    else
        emit_between(job, at, d2, job->most, 1, site, (size_t)count);
}
