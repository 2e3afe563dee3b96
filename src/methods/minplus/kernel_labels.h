/* Labels and signed maps: the sites of an element are the elements of any other *kind*. The kind is the label, or the side of
 * the shape.
 *
 * Along one axis let e(p) be the distance from p to the nearest element of another kind on its line, and f(q) the result of the
 * earlier axes for q. The candidate q has the value f(q) + w (p - q)^2 if it is of p's kind, else w (p - q)^2. So
 *
 *     out(p) = min(w e(p)^2, min over all q of f(q) + w (p - q)^2):
 *
 * between p and the nearest boundary all q are of p's kind, and beyond it |p - q| >= e(p), so that the value of q
 * is at least w e(p)^2 for any f(q). The search is that of a mask, with w e(p)^2 as an upper bound (`cap`), and
 * does not depend on kinds.
 *
 * e comes from *turns*: one bit per element and axis, set at a boundary, where the kind differs from that of the previous element. Along
 * slow axes the counters of the vertical phase count from turns instead of sites,
 *
 *     u(p) = turn(p) ? 0 : u(p - 1) + 1,   h(p) = turn(p) ? 0 : h(p + 1) + 1,   e(p) = min(u(p), h(p + 1)) + 1.
 *
 * The background of labels is at distance 0: f = 0 there. It is not a candidate of a far search, since the upper bound includes it.
 */

/* ---- Turns: elements to bits ---- */

#define DEFINE_DIFFER(T)                                                                     \
    static void differ_##T(const void *one, const void *other, size_t n, uint8_t *differs) { \
        const T *a = one, *b = other;                                                        \
        for (size_t i = 0; i < n; i++)                                                       \
            differs[i] = a[i] != b[i];                                                       \
    }
DEFINE_DIFFER(uint8_t)
DEFINE_DIFFER(uint16_t)
DEFINE_DIFFER(uint32_t)
DEFINE_DIFFER(uint64_t)

/* A row's labels, contiguous, in place or copied to `room`; *size is the size of one label. */
static const char *label_row(const mp_job *job, const int64_t at[DM_NDIM], int64_t *room, size_t *size) {
    const dm_array *in = &job->arrays->input;
    *size = distmap_dtype_size(in->dtype);
    if (in->dtype != DISTMAP_BOOL && (in->stride[DM_X] == (int64_t)*size || job->width == 1))
        return dm_row_address(in, at);
    *size = sizeof *room;
    dm_row_integers(in, at, job->width, room);
    return (const char *)room;
}

/* Bits of n elements that differ from those at `other`, from bit `first` on; all other bits are zero. */
static void differ_row(const mp_job *job, const char *row, const char *other, size_t size, size_t first, mp_worker *w,
                       uint64_t *bits) {
    const size_t n = (size_t)job->width - first;
    memset(w->bytes, 0, first);
    uint8_t *differs = w->bytes + first;
    switch (size) {
    case 1: differ_uint8_t(row, other, n, differs); break;
    case 2: differ_uint16_t(row, other, n, differs); break;
    case 4: differ_uint32_t(row, other, n, differs); break;
    default: differ_uint64_t(row, other, n, differs); break;
    }
    pack_bytes(job, w->bytes, 1, 0, bits);
}

/* The same for sides, which are bits already. */
static void differ_sides(const mp_job *job, const uint64_t *row, const uint64_t *other, uint64_t *bits) {
    for (size_t i = 0; i < job->words; i++)
        bits[i] = row[i] ^ other[i];
}

static void turns_of_sides(const mp_job *job, const uint64_t *row, uint64_t *bits) {
    for (size_t i = 0; i < job->words; i++)
        bits[i] = row[i] ^ (row[i] << 1 | (i > 0 ? row[i - 1] >> 63 : row[0] & 1));
    if (job->width % 64) /* the element after the last is none */
        bits[job->words - 1] &= ((uint64_t)1 << job->width % 64) - 1;
}

/* The turns of row `at` along `axis`. */
static uint64_t *turns_at(const mp_job *job, int axis, const int64_t at[DM_NDIM]) {
    const int64_t *shape = job->plan->shape;
    return job->turns[axis] + (size_t)((at[0] * shape[1] + at[1]) * shape[2] + at[2]) * job->words;
}

/* All turns of row y of a plane, and its background. */
static void pack_kinds(const mp_job *job, const mp_plane *plane, int64_t y, mp_worker *w) {
    const size_t row = (size_t)y * job->words;
    const int64_t at[DM_NDIM] = {plane->t, plane->z, plane->y + y, 0};
    const char *labels = NULL;
    size_t size = 0;
    if (job->sides) {
        pack_sites(job, at, (uint64_t *)w->kind[0], w);
        turns_of_sides(job, (uint64_t *)w->kind[0], plane->turns + row);
    } else {
        labels = label_row(job, at, w->kind[0], &size);
        differ_row(job, labels + size, labels, size, 1, w, plane->turns + row);
        if (plane->ground)
            pack_sites(job, at, plane->ground + row, w);
    }
    for (int axis = 0; axis < DM_X; axis++) {
        uint64_t *bits = axis == 2 ? plane->bits + row : job->turns[axis] ? turns_at(job, axis, at) : NULL;
        if (!bits)
            continue;
        if (axis == 2 ? y == 0 : at[axis] == 0) {
            memset(bits, 0, job->words * sizeof *bits);
            continue;
        }
        int64_t before[DM_NDIM] = {at[0], at[1], at[2], 0};
        before[axis]--;
        if (job->sides) {
            pack_sites(job, before, (uint64_t *)w->kind[1], w);
            differ_sides(job, (uint64_t *)w->kind[0], (uint64_t *)w->kind[1], bits);
        } else {
            differ_row(job, labels, label_row(job, before, w->kind[1], &size), size, 0, w, bits);
        }
    }
}

/* ---- Along a row ---- */

static inline uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* w->turn: e of a whole row, from its turns, eight elements at a time. A table gives e from the turns among the eight. From outside come
 * the lengths of the run before and after them, eight more for each group without a turn:
 *
 *     e[8 g + k] = min(near[pattern][k], before + k + 1, after + 8 - k).
 *
 * So eight elements take one dependent addition and selection, for any image. */
static void row_turns(const mp_job *job, mp_worker *w, const uint64_t *turns) {
    static const uint16_t up[32] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8,
                                    1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint16_t down[32] = {8, 7, 6, 5, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1,
                                      8, 7, 6, 5, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1};
    const uint8_t *pattern =
        (const uint8_t *)turns; /* the lowest byte first, on every machine that this is built for */
    const size_t groups = job->padded_width / MP_GROUP;
    const uint16_t(*const near_turn)[MP_GROUP] = (const uint16_t(*)[MP_GROUP])job->near_turn;
    uint16_t *const turn = w->turn, *const before = w->cap,
                    *const after = w->cap + groups; /* w->cap is used later only */
    uint32_t left = MP_NO_COLUMN, right = MP_NO_COLUMN;
    for (size_t g = 0; g < groups; g++) {
        const size_t h = groups - 1 - g;
        const uint16_t *near = near_turn[pattern[g]], first = near_turn[pattern[h]][0];
        memcpy(turn + MP_GROUP * g, near, MP_GROUP * sizeof *near);
        before[g] = (uint16_t)least(left, MP_NO_COLUMN);
        after[h] = (uint16_t)least(right, MP_NO_COLUMN);
        left = least(left + MP_GROUP, near[MP_GROUP - 1]);
        right =
            least(right + MP_GROUP, first - (pattern[h] & 1u)); /* a turn at the group's first element: none of it */
    }
    for (size_t x = 0; x < job->padded_width; x += N16) {
        const V16 from_left = v16_adds(v16_repeat8(before + x / MP_GROUP), v16_load(up));
        const V16 from_right = v16_adds(v16_repeat8(after + x / MP_GROUP), v16_load(down));
        v16_store(turn + x, v16_min(v16_load(turn + x), v16_min(from_left, from_right)));
    }
}

/* Like row_values: advances w->above, and fills w->padded with f and w->cap with the upper bounds from the row's own turns. `below`
 * belongs to the next row. */
static void row_kinds(const mp_job *job, mp_worker *w, const uint64_t *bits, const uint64_t *turns,
                      const uint64_t *ground, const uint16_t *below) {
    const V16 zero = v16_set(0), one = v16_set(1), none = v16_set(0xFFFF), limit = v16_set(job->near_cap);
    const V16 weight_x = v16_set((uint16_t)job->wx2), weight_y = v16_set((uint16_t)job->wy2);
    const V16 most_x = v16_set(job->near_x), most_y = v16_set(job->near_y);
    uint16_t *const f = w->padded + MP_PAD, *const above = w->above, *const cap = w->cap, *const turn = w->turn;
    row_turns(job, w, turns);
    for (size_t x = 0; x < job->padded_width; x += N16) {
        const V16 up = v16_bits(bits, x, zero, v16_adds(v16_load(above + x), one));
        v16_store(above + x, up);
        const V16 g = v16_adds(v16_min(up, v16_load(below + x)), one), e = v16_load(turn + x);
        const V16 value = v16_blend(v16_le(g, most_y), v16_mul(v16_mul(g, g), weight_y), none);
        v16_store(f + x, v16_bits(ground, x, zero, value));
        v16_store(cap + x, v16_min(limit, v16_blend(v16_le(e, most_x), v16_mul(v16_mul(e, e), weight_x), none)));
    }
}

/* Applies the upper bounds to results of far searches, of any size: w->d2 of a whole row. */
static void cap_row(const mp_job *job, mp_worker *w, const uint64_t *ground) {
    const V16 zero = v16_set(0);
    const V32 none = v32_set(MP_NONE), absent = v32_set(MP_NO_COLUMN), weight = v32_set(job->wx2);
    for (size_t x = 0; x < job->padded_width; x += N16) {
        const V16 turn = v16_bits(ground, x, zero, v16_load(w->turn + x));
        for (int half = 0; half < 2; half++) {
            int32_t *d2 = w->d2 + x + (size_t)(half * N32);
            const V32 e = half ? v16_high(turn) : v16_low(turn);
            const V32 cap = v32_blend(v32_eq(e, absent), none, v32_mul(v32_mul(e, e), weight));
            v32_store(d2, v32_min(v32_load(d2), cap));
        }
    }
}

/* ---- Along a slow axis ---- */

/* w->tile_turn: e of N16 lines of a pass, the first of them being element `first` of the inner run at `at`. */
static void line_turns(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, mp_worker *w) {
    const V16 zero = v16_set(0), one = v16_set(1), none = v16_set(0xFFFF);
    const uint64_t *turns = turns_at(job, pass->axis, at);
    const size_t pitch = (size_t)(job->plan->linear[pass->axis] / job->width) * job->words;
    V16 v = none;
    for (int64_t i = pass->n - 1; i >= 0; i--) {
        v16_store(w->tile_turn + i * N16, v);
        v = v16_bits(turns + (size_t)i * pitch, (size_t)first, zero, v16_adds(v, one));
    }
    v = none;
    for (int64_t i = 0; i < pass->n; i++) {
        v = v16_bits(turns + (size_t)i * pitch, (size_t)first, zero, v16_adds(v, one));
        v16_store(w->tile_turn + i * N16, v16_adds(v16_min(v, v16_load(w->tile_turn + i * N16)), one));
    }
}

/* The upper bound of element i of those lines, saturated. */
static inline V16 line_cap(const mp_pass *pass, const mp_worker *w, int64_t i) {
    const V16 e = v16_load(w->tile_turn + i * N16);
    return v16_blend(v16_le(e, v16_set(pass->near)), v16_mul(v16_mul(e, e), v16_set((uint16_t)pass->w2)),
                     v16_set(0xFFFF));
}

/* The result of a far search. */
static inline int32_t capped(int32_t d2, const mp_pass *pass, int32_t e) {
    const int32_t cap = e == MP_NO_COLUMN ? MP_NONE : pass->w2 * e * e;
    return cap < d2 ? cap : d2;
}
