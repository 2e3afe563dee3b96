/* A tile of a slow pass: lines from the stores between stages, each by the narrowest search that fits, to the stores or outputs. */

/* Lines [first, first + count) of the inner run that starts at `at`, from the stores to the stores or to the outputs. */
static void slow_tile(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, int count,
                      mp_worker *w) {
    enum { SKIP_LINES = 3 };
    if (job->real) {
        real_slow_tile(job, pass, at, first, count, w);
        return;
    }
    int64_t base = 0;
    for (int a = 0; a < DM_NDIM; a++)
        base += at[a] * job->plan->linear[a];
    if (few_solve(job, pass, at, first, (uint32_t)(base + first), count, w))
        return;
    slow_load(job, pass, at, first, (uint32_t)(base + first), count, w);
    w->wide_row = true;
    int skip = 0; /* lines beside lines that did not fit 16 bits */
    for (int c = 0; c < count; c += N16) {
        const size_t line = (size_t)(c / N16) * slow_line_pitch(pass);
        const uint16_t *lines = w->tile + line;
        const int32_t *sites = job->sites ? w->tile_site + line : NULL;
        const uint32_t own = (uint32_t)(base + first + c);
        if (job->labels)
            line_turns(job, pass, at, first + c, w);
        const int here = count - c < N16 ? count - c : N16;
        bool done = false;
        if (!skip)
            done = job->sites ? slow_near_sites(job, pass, lines, sites, own, c, w) : slow_near(job, pass, lines, c, w);
        skip = done ? 0 : skip ? skip - 1 : SKIP_LINES;
        if (!done && !slow_full(job, pass, at, first, sites, own, c, here, w))
            slow_far(job, pass, at, first, sites, own, c, here, w);
    }
    int64_t to[DM_NDIM];
    memcpy(to, at, sizeof to);
    to[DM_X] += first;
    for (int64_t i = 0; i < pass->n; i++) {
        to[pass->axis] = i;
        slow_emit(job, pass, to, w->tile_d2 + i * pass->columns,
                  job->sites ? (const uint32_t *)w->tile_found + i * pass->columns : NULL, count, w);
    }
    stream_fence();
}
