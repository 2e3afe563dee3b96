/* thickness/cpu's last stage: paints balls from the largest to the smallest. See thickness_cpu.c. */
#include "operations/thickness_cpu.h"

enum { SLABS = 4 }; /* for each thread, where balls are small */

/* ---- Outputs ---- */

typedef struct slab {
    const th_work *work;
    th_worker *own;
    int64_t from[TH_LAST], to[TH_LAST]; /* along z and y */
    char *out[2];                       /* the volume in the outputs */
    int64_t stride[2][TH_AXES];
} slab;

static void put(char *p, distmap_dtype dtype, uint64_t bits) {
    if (distmap_dtype_size(dtype) == 4) {
        const uint32_t low = (uint32_t)bits;
        memcpy(p, &low, sizeof low);
    } else {
        memcpy(p, &bits, sizeof bits);
    }
}

/* Writes the elements of a word of bits, from element x of a row on. */
static void paint_word(const slab *s, int64_t z, int64_t y, int64_t x, uint64_t word, const th_ink *ink) {
    const dm_arrays *a = s->work->arrays;
    const distmap_dtype dtype[2] = {a->distance.dtype, a->squared.dtype};
    const uint64_t bits[2] = {ink->distance, ink->squared};
    for (int i = 0; i < 2; i++) {
        if (!s->out[i])
            continue;
        const int64_t stride = s->stride[i][TH_LAST];
        char *p = s->out[i] + z * s->stride[i][TH_Z] + y * s->stride[i][TH_Y] + x * stride;
        for (uint64_t rest = word; rest; rest &= rest - 1)
            put(p + __builtin_ctzll(rest) * stride, dtype[i], bits[i]);
    }
}

static th_ink ink_of(const th_work *w, uint64_t key) {
    const dm_arrays *a = w->arrays;
    return (th_ink){a->distance.data ? th_ink_of(&w->v, a->distance.dtype, key, true) : 0,
                    a->squared.data ? th_ink_of(&w->v, a->squared.dtype, key, false) : 0};
}

/* Rows of a smaller ball than before are the same or shorter, and fewer. */
static void shrink_ball(const th_work *w, th_worker *own, uint64_t key) {
    const th_volumes *v = &w->v;
    th_ball *b = &own->ball;
    if (!own->key) {
        const int64_t z = th_extent(v, key, TH_Z), y = th_extent(v, key, TH_Y);
        b->count = 0;
        for (int64_t dz = -z; dz <= z; dz++)
            for (int64_t dy = -y; dy <= y; dy++) {
                b->dz[b->count] = (int32_t)dz;
                b->dy[b->count] = (int32_t)dy;
                b->dx[b->count] = (int32_t)th_reach(v, key, dz, dy);
                b->count += b->dx[b->count] >= 0;
            }
    }
    int64_t count = 0;
    for (int64_t k = 0; k < b->count; k++) {
        int32_t dx = b->dx[k];
        while (dx >= 0 && !th_holds(v, key, b->dz[k], b->dy[k], dx))
            dx--;
        if (dx < 0)
            continue;
        const float z = (float)b->dz[k], y = (float)b->dy[k], x = (float)dx;
        b->dz[count] = b->dz[k];
        b->dy[count] = b->dy[k];
        b->dx[count] = dx;
        b->far2[count++] = w->w2[0] * (z * z) + w->w2[1] * (y * y) + w->w2[2] * (x * x);
    }
    b->count = count;
    own->key = key;
    memset(own->made, 0, sizeof own->made);
}

/* The neighbours that leave least to the ball. */
static void find_neighbours(const th_work *w, int64_t element, const int64_t at[TH_AXES], th_near *near) {
    const th_volumes *v = &w->v;
    const bool inside = at[0] > 0 && at[1] > 0 && at[2] > 0 && at[0] + 1 < v->length[0] && at[1] + 1 < v->length[1] &&
                        at[2] + 1 < v->length[2];
    float *r2 = near->r2;
    for (int64_t dz = -1; dz <= 1; dz++)
        for (int64_t dy = -1; dy <= 1; dy++) {
            const int64_t row = element + (dz * v->length[1] + dy) * v->length[2];
            for (int64_t dx = -1; dx <= 1; dx++, r2++) {
                const bool is = inside || (at[0] + dz >= 0 && at[0] + dz < v->length[0] && at[1] + dy >= 0 &&
                                           at[1] + dy < v->length[1] && at[2] + dx >= 0 && at[2] + dx < v->length[2]);
                *r2 = is ? th_scaled(w, th_key(v->number, w->squares, row + dx)) : 0;
            }
        }
    w->kernels->choose(near);
}

/* Which rows larger neighbours leave to the ball. */
static void find_needed(const th_work *w, th_worker *own, const th_near *n) {
    const th_ball *b = &own->ball;
    const int64_t room = th_padded(b->count);
    const bool keeps = room <= TH_KEPT_ROWS;
    const float *reach[TH_BEST];
    float within[TH_BEST];
    if (n->count == 0) {
        memset(b->needed, 1, (size_t)b->count);
        memset(b->needed + b->count, 0, (size_t)(room - b->count));
        return;
    }
    const float slack = TH_SLACK * (th_scaled(w, own->key) + w->spread);
    for (int i = 0; i < TH_BEST; i++) {
        if (i >= n->count) {
            reach[i] = reach[0];
            within[i] = within[0];
            continue;
        }
        const int at = n->best[i], step[TH_AXES] = {at / 9 - 1, at / 3 % 3 - 1, at % 3 != 1};
        const int slot = keeps ? at / 3 + 9 * step[2] : i;
        float *const reaches = own->reach + slot * room;
        if (!keeps || !own->made[slot])
            w->kernels->measure(b, w->w2, step, reaches);
        own->made[slot] = keeps;
        reach[i] = reaches;
        within[i] = n->r2[at] - slack;
    }
    w->kernels->compare(b, reach, within);
}

static void paint_row(const slab *s, int64_t z, int64_t y, int64_t from, int64_t to, const th_ink *ink) {
    const th_work *w = s->work;
    uint64_t *open = w->bits + (z * w->v.length[TH_Y] + y) * w->words;
    for (int64_t i = from / 64; i <= to / 64; i++) {
        uint64_t word = open[i];
        if (i == from / 64)
            word &= ~(uint64_t)0 << from % 64;
        if (i == to / 64)
            word &= ~(uint64_t)0 >> (63 - to % 64);
        if (!word)
            continue;
        open[i] &= ~word;
        paint_word(s, z, y, i * 64, word, ink);
    }
}

static void paint_ball(const slab *s, const int64_t at[TH_AXES], const th_ink *ink) {
    const th_ball *b = &s->own->ball;
    const int64_t nx = s->work->v.length[TH_LAST];
    for (int64_t k = 0; k < b->count; k += 8) {
        uint64_t eight;
        memcpy(&eight, b->needed + k, sizeof eight);
        for (; eight; eight &= eight - 1) {
            const int64_t row = k + __builtin_ctzll(eight) / 8, z = at[0] + b->dz[row], y = at[1] + b->dy[row];
            if (z < s->from[0] || z >= s->to[0] || y < s->from[1] || y >= s->to[1])
                continue;
            paint_row(s, z, y, th_larger(at[2] - b->dx[row], 0), th_smaller(at[2] + b->dx[row], nx - 1), ink);
        }
    }
}

/* All elements of the shape are open; the others get 0. */
static void open_row(const slab *s, int64_t z, int64_t y) {
    const th_work *w = s->work;
    const int64_t nx = w->v.length[TH_LAST], row = z * w->v.length[TH_Y] + y;
    const th_ink none = {0, 0}; /* the bits of zeros */
    for (int64_t x = 0; x < nx; x += 64) {
        uint64_t word = 0;
        const int64_t n = th_smaller(nx - x, 64);
        for (int64_t i = 0; i < n; i++)
            word |= (uint64_t)(th_key(w->v.number, w->squares, row * nx + x + i) != 0) << i;
        w->bits[row * w->words + x / 64] = word;
        paint_word(s, z, y, x, ~word & ~(uint64_t)0 >> (64 - n), &none);
    }
}

/* What no ball was painted on has its own: one that holds it alone, or, without any site, all. */
static void close_row(const slab *s, int64_t z, int64_t y) {
    const th_work *w = s->work;
    const int64_t row = z * w->v.length[TH_Y] + y;
    for (int64_t i = 0; i < w->words; i++)
        for (uint64_t word = w->bits[row * w->words + i]; word; word &= word - 1) {
            const int64_t element = row * w->v.length[TH_LAST] + i * 64 + __builtin_ctzll(word);
            const th_ink ink = ink_of(w, th_key(w->v.number, w->squares, element));
            paint_word(s, z, y, i * 64, word & (0 - word), &ink);
        }
}

static void paint_slab(const slab *s) {
    const th_work *w = s->work;
    const th_volumes *v = &w->v;
    const int64_t unit = v->elements / v->length[0] / (w->slab_axis == TH_Y ? v->length[1] : 1);
    const int64_t first = s->from[w->slab_axis], behind = s->to[w->slab_axis];
    th_ink ink = {0, 0};
    th_near near = {.count = 0};
    for (int i = 0; i < TH_NEAR; i++) {
        const int z = i / 9 != 1, y = i / 3 % 3 != 1, x = i % 3 != 1;
        if (i < 27 && i != TH_CENTRE)
            near.weight[i] = 1 / sqrtf((z ? w->w2[0] : 0) + (y ? w->w2[1] : 0) + (x ? w->w2[2] : 0));
    }
    s->own->key = 0;
    for (int64_t i = 0, around = -1; i < w->ball_count; i++) {
        const int64_t element = w->balls[i], place = element / unit;
        if (around >= 0 && (place < first - around || place >= behind + around))
            continue;
        const uint64_t key = th_key(v->number, w->squares, element);
        around = th_extent(v, key, w->slab_axis);
        if (place < first - around || place >= behind + around)
            continue;
        if (key != s->own->key) {
            shrink_ball(w, s->own, key);
            ink = ink_of(w, key);
        }
        const int64_t row = element / v->length[2];
        const int64_t at[TH_AXES] = {row / v->length[1], row % v->length[1], element % v->length[2]};
        if (w->filters)
            find_neighbours(w, element, at, &near);
        find_needed(w, s->own, &near);
        paint_ball(s, at, &ink);
    }
}

static void slab_task(void *arg, size_t index, int id) {
    const th_work *w = arg;
    const dm_array *const arrays[2] = {&w->arrays->distance, &w->arrays->squared};
    slab s = {.work = w, .own = &w->workers[id], .to = {w->v.length[0], w->v.length[1]}};
    s.from[w->slab_axis] = (int64_t)index * w->slab_length;
    s.to[w->slab_axis] = th_smaller(s.from[w->slab_axis] + w->slab_length, s.to[w->slab_axis]);
    for (int i = 0; i < 2; i++) {
        s.out[i] = arrays[i]->data ? arrays[i]->data + th_offset(w->plan, &w->v, arrays[i], w->volume) : NULL;
        for (int k = 0; k < TH_AXES; k++)
            s.stride[i][k] = w->v.axis[k] >= 0 ? arrays[i]->stride[w->v.axis[k]] : 0;
    }
    for (int64_t z = s.from[0]; z < s.to[0]; z++)
        for (int64_t y = s.from[1]; y < s.to[1]; y++)
            open_row(&s, z, y);
    paint_slab(&s);
    for (int64_t z = s.from[0]; z < s.to[0]; z++)
        for (int64_t y = s.from[1]; y < s.to[1]; y++)
            close_row(&s, z, y);
}

/* Slabs are some balls thick, or balls would be looked at by several. */
static void set_slabs(th_work *w, uint64_t most) {
    const th_volumes *v = &w->v;
    const int64_t threads = w->plan->context->threads;
    w->slab_axis = v->length[TH_Z] > 1 ? TH_Z : TH_Y;
    const int64_t length = v->length[w->slab_axis];
    const int64_t thick = 4 * (w->ball_count ? th_extent(v, most, w->slab_axis) : 1) + 1;
    const int64_t slabs = th_larger(th_smaller(length / thick, SLABS * threads), th_smaller(threads, length));
    w->slab_length = (length + slabs - 1) / slabs;
    w->slabs = (length + w->slab_length - 1) / w->slab_length;
}

distmap_status th_paint(th_work *w, uint64_t most, double share) {
    set_slabs(w, most);
    return dm_parallel(w->plan, (size_t)w->slabs, slab_task, w, share);
}
