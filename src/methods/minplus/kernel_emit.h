/* Writes finished rows: roots, indices, or the store between stages. */

/* Writes n elements made by `make(x)` N32 at a time (reading up to N32 - 1 beyond n), with whole aligned vectors past the
 * cache when `stream` is set. */
#define EMIT_ROW(type, out, n, stream, store_op, stream_op, make)                \
    do {                                                                         \
        type part[N32];                                                          \
        const size_t vector = sizeof(type) * N32;                                \
        size_t i = (vector - (uintptr_t)(out) % vector) % vector / sizeof(type); \
        i = i < (n) ? i : (n);                                                   \
        if (i) {                                                                 \
            store_op(part, make(0));                                             \
            memcpy(out, part, i * sizeof(type));                                 \
        }                                                                        \
        if (stream)                                                              \
            for (; i + N32 <= (n); i += N32)                                     \
                stream_op((out) + i, make(i));                                   \
        else                                                                     \
            for (; i + N32 <= (n); i += N32)                                     \
                store_op((out) + i, make(i));                                    \
        if (i < (n)) {                                                           \
            store_op(part, make(i));                                             \
            memcpy((out) + i, part, ((n)-i) * sizeof(type));                     \
        }                                                                        \
    } while (0)

static inline F32 root(V32 d2, V32 most, F32 square) {
    return f32_blend(v32_lt(most, d2), f32_set(INFINITY), f32_sqrt(f32_mul(f32_signed(d2), square)));
}

static void emit_words(const mp_job *job, const int32_t *values, int32_t *out, size_t n) {
#define MAKE(x) v32_load(values + (x))
    EMIT_ROW(int32_t, out, n, job->stream, v32_store, v32_stream, MAKE);
#undef MAKE
}

/* How the distances of a row are computed. */
typedef enum rooting { PLAIN_ROOTS, UNIT_ROOTS, GENERAL_ROOTS } rooting;

/* Properties of a row's values. */
typedef struct row_facts {
    uint32_t bits; /* all numbers with a site, ORed: none of them is larger */
    bool none;     /* a value is above `most`: it has no site */
} row_facts;

static bool any_none(const mp_job *job, const int32_t *d2, size_t n) {
    const V32 most = v32_set(job->most);
    size_t x = 0;
    bool any = false;
    for (; x + N32 <= n; x += N32)
        any |= m32_any(v32_lt(most, v32_load(d2 + x)));
    for (; x < n; x++)
        any |= d2[x] > job->most;
    return any;
}

/* Usually one comparison: if all values ORed are at most `most`, every value is. */
static row_facts facts_of(const mp_job *job, const int32_t *d2, size_t n) {
    int32_t bits = 0;
    for (size_t x = 0; x < n; x++)
        bits |= d2[x];
    if (bits <= job->most || !any_none(job, d2, n))
        return (row_facts){(uint32_t)bits, false};
    bits = 0;
    for (size_t x = 0; x < n; x++)
        bits |= d2[x] > job->most ? 0 : d2[x];
    return (row_facts){(uint32_t)bits, true};
}

static rooting rooting_of(const mp_job *job, row_facts row) {
    const dm_unit *unit = &job->plan->unit;
    const bool known = job->all_floats && (unit->is_one || unit->exact_below == 0); /* whatever the row holds */
    const uint32_t bits = known ? 0 : row.bits;
    if (bits < unit->exact_below)
        return PLAIN_ROOTS;
#ifdef SIMD_FUSED
    if (bits < DM_UNIT_EXACT_FLOAT && unit->root_high > 0)
        return UNIT_ROOTS;
#endif
    return GENERAL_ROOTS;
}

/* By the general path of all methods, through a buffer in the cache. */
static void general_roots(const mp_job *job, mp_worker *w, const int32_t *d2, float *made, size_t n) {
    uint32_t *squared = (uint32_t *)w->squared;
    if (job->plan->number == DM_U64) { /* a row of a wide problem, all of whose squares are small */
        for (size_t x = 0; x < n; x++)
            w->wide_squared[x] = d2[x] > job->most ? UINT64_MAX : (uint64_t)d2[x];
        dm_lengths(job->plan, DM_DISTANCE, w->wide_squared, (int64_t)n, DISTMAP_FLOAT32, made);
        return;
    }
    for (size_t x = 0; x < n; x++)
        squared[x] = d2[x] > job->most ? UINT32_MAX : (uint32_t)d2[x];
    dm_lengths(job->plan, DM_DISTANCE, squared, (int64_t)n, DISTMAP_FLOAT32, made);
}

#ifdef SIMD_FUSED
static void emit_in_unit(const mp_job *job, const int32_t *d2, float *out, size_t n, bool some_none) {
    const dm_unit *unit = &job->plan->unit;
    const unit_square u = square_of(unit);
    const V32 most = v32_set(job->most), sure = v32_set(UNIT_SURE);
    V32 least = sure;
#define MAKE_ALL(x) unit_roots(u, d2 + (x), &least)
#define MAKE_SOME(x) f32_blend(v32_lt(most, v32_load(d2 + (x))), f32_set(INFINITY), MAKE_ALL(x))
    if (some_none)
        EMIT_ROW(float, out, n, job->stream, f32_store, f32_stream, MAKE_SOME);
    else
        EMIT_ROW(float, out, n, job->stream, f32_store, f32_stream, MAKE_ALL);
#undef MAKE_ALL
#undef MAKE_SOME
    if (!m32_any(v32_lt(least, sure)))
        return;
    for (size_t x = 0; x < n; x += N32) {
        V32 here = sure;
        unit_roots(u, d2 + x, &here);
        if (m32_any(v32_lt(here, sure)))
            for (size_t i = x; i < x + N32 && i < n; i++)
                out[i] = d2[i] > job->most ? INFINITY : dm_unit_distancef(unit, (uint32_t)d2[i]);
    }
}
#endif

static void emit_distance(const mp_job *job, mp_worker *w, const int32_t *d2, float *out, size_t n, row_facts row) {
    const V32 most = v32_set(job->most);
    const rooting how = rooting_of(job, row);
    if (how == GENERAL_ROOTS) {
        float *made = (float *)w->site; /* no row's sites are needed now */
        general_roots(job, w, d2, made, n);
        emit_words(job, (const int32_t *)made, (int32_t *)out, n);
        return;
    }
#ifdef SIMD_FUSED
    if (how == UNIT_ROOTS) {
        emit_in_unit(job, d2, out, n, row.none);
        return;
    }
#endif
    const F32 square = f32_set(job->plan->unit.root_high); /* u^2 */
#define MAKE_ALL(x) f32_sqrt(f32_mul(f32_signed(v32_load(d2 + (x))), square))
#define MAKE_SOME(x) root(v32_load(d2 + (x)), most, square)
    if (row.none)
        EMIT_ROW(float, out, n, job->stream, f32_store, f32_stream, MAKE_SOME);
    else
        EMIT_ROW(float, out, n, job->stream, f32_store, f32_stream, MAKE_ALL);
#undef MAKE_ALL
#undef MAKE_SOME
}

/* d2 as uint32 squares, or sites as int32 indices; none is -1, which is the largest uint32. */
static void emit_integers(const mp_job *job, const int32_t *d2, const int32_t *values, int32_t *out, size_t n,
                          bool none) {
    if (!none) {
        emit_words(job, values, out, n);
        return;
    }
    const V32 most = v32_set(job->most), minus = v32_set(-1);
#define MAKE(x) v32_blend(v32_lt(most, v32_load(d2 + (x))), minus, v32_load(values + (x)))
    EMIT_ROW(int32_t, out, n, job->stream, v32_store, v32_stream, MAKE);
#undef MAKE
}

/* The distances of a signed map: roots get their signs while they are in the cache. */
static void emit_signed(const mp_job *job, mp_worker *w, const int64_t at[DM_NDIM], const int32_t *d2, float *out,
                        size_t n, row_facts row) {
    const V32 most = v32_set(job->most);
    float *made = (float *)w->site;
    if (rooting_of(job, row) == PLAIN_ROOTS)
        for (size_t x = 0; x < n; x += N32)
            f32_store(made + x, root(v32_load(d2 + x), most, f32_set(job->plan->unit.root_high)));
    else
        general_roots(job, w, d2, made, n);
    dm_row_sites(job->plan, &job->arrays->input, at, (int64_t)n, w->bytes);
    dm_sign_floats(job->plan, w->bytes, (int64_t)n, made);
    emit_words(job, (const int32_t *)made, (int32_t *)out, n);
}

/* A row of a mask: 1 where d2 is at most `most`, or, `beyond`, where it is more. */
static void emit_mask(const mp_job *job, const int32_t *d2, uint8_t *out, size_t n, bool beyond) {
    const int32_t most = job->most;
    for (size_t x = 0; x < n; x++)
        out[x] = (d2[x] > most) == beyond;
}

/* A final row, or run of a row, from at: d2, and the sites' linear indices (u32; NULL where not wanted). */
static void emit_final(const mp_job *job, mp_worker *w, const int64_t at[DM_NDIM], const int32_t *d2,
                       const uint32_t *site, size_t n) {
    distmap_plan *plan = job->plan;
    const dm_arrays *out = job->arrays;
    if (job->needs_64_bits && (w->wide_row || job->emit_general)) {
        mp_wide_emit(job, w, at, site, n);
        return;
    }
    site = plan->wants_site ? site : NULL;
    if (job->emit_general) {
        uint32_t *squared = (uint32_t *)w->squared;
        for (size_t x = 0; x < n; x++)
            squared[x] = d2[x] > job->most ? UINT32_MAX : (uint32_t)d2[x];
        if (site)
            for (size_t x = 0; x < n; x++)
                w->site[x] = d2[x] > job->most ? -1 : (int64_t)site[x];
        dm_row_emit(plan, out, at, (int64_t)n, squared, site ? w->site : NULL);
        return;
    }
    const row_facts row = facts_of(job, d2, n);
    if (row.none)
        dm_flag(plan, DISTMAP_FLAG_NO_SITE);
    float *distance = out->distance.data ? (float *)dm_row_address(&out->distance, at) : NULL;
    if (distance && plan->problem.sign)
        emit_signed(job, w, at, d2, distance, n, row);
    else if (distance)
        emit_distance(job, w, d2, distance, n, row);
    if (out->squared.data)
        emit_integers(job, d2, d2, (int32_t *)dm_row_address(&out->squared, at), n, row.none);
    if (out->within.data)
        emit_mask(job, d2, (uint8_t *)dm_row_address(&out->within, at), n, false);
    if (out->beyond.data)
        emit_mask(job, d2, (uint8_t *)dm_row_address(&out->beyond, at), n, true);
    if (!site)
        return;
    if (out->index.dtype == DISTMAP_INT32) {
        emit_integers(job, d2, (const int32_t *)site, (int32_t *)dm_row_address(&out->index, at), n, row.none);
    } else {
        int64_t *index = (int64_t *)dm_row_address(&out->index, at);
        for (size_t x = 0; x < n; x++)
            index[x] = d2[x] > job->most ? -1 : (int64_t)site[x];
    }
}

/* A run of a row into the stores between stages, multiplied by `factor`; values beyond `most` become none. */
static void emit_between(const mp_job *job, const int64_t at[DM_NDIM], int32_t *d2, int32_t most, int32_t factor,
                         const uint32_t *site, size_t n) {
    if ((most < MP_NONE - 1 || factor != 1) && !job->needs_64_bits && !job->offsets)
        for (size_t x = 0; x < n; x += N32) {
            const V32 v = v32_load(d2 + x);
            v32_store(d2 + x, v32_blend(v32_lt(v32_set(most), v), v32_set(MP_NONE), v32_mul(v, v32_set(factor))));
        }
    const void *values[2] = {job->needs_64_bits || job->offsets ? NULL : d2, site};
    const mp_store *stores[2] = {&job->d2_store, &job->site_store};
    for (int i = 0; i < 2; i++) {
        if (!values[i])
            continue;
        const mp_store *s = stores[i];
        char *to = s->data + at[0] * s->stride[0] + at[1] * s->stride[1] + at[2] * s->stride[2] + at[3] * s->stride[3];
        if (s->stride[DM_X] == 4)
            emit_words(job, values[i], (int32_t *)to, n);
        else
            for (size_t x = 0; x < n; x++)
                memcpy(to + (int64_t)x * s->stride[DM_X], (const int32_t *)values[i] + x, 4);
    }
}
