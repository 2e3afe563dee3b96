/* thickness/cpu's last stage: balls raise what is in them, and the outputs are stored. See thickness_cpu.c. */
#include "operations/thickness_cpu.h"

enum { SLABS = 4 /* for each thread, where balls are small */, TILE_ROWS = 32, MANY = 1 << 20 /* elements raised */ };

/* ---- Painting ---- */

typedef struct slab {
    const th_work *work;
    th_worker *own;
    th_canvas canvas;
    th_near near;
    int64_t raised; /* about so many elements since it was asked whether to go on */
    bool stopped;
} slab;

/* The neighbours that leave least to the ball. */
static void find_neighbours(slab *s, int64_t element, const int64_t at[TH_AXES]) {
    const th_work *w = s->work;
    const int64_t *n = w->v.length;
    const bool inside = at[0] > 0 && at[1] > 0 && at[2] > 0 && at[0] + 1 < n[0] && at[1] + 1 < n[1] && at[2] + 1 < n[2];
    float *r2 = s->near.r2;
    for (int64_t dz = -1; dz <= 1; dz++)
        for (int64_t dy = -1; dy <= 1; dy++, r2 += 3) {
            const float *row = w->scaled + element + (dz * n[1] + dy) * n[2];
            if (inside) {
                memcpy(r2, row - 1, 3 * sizeof *r2);
                continue;
            }
            const bool is = at[0] + dz >= 0 && at[0] + dz < n[0] && at[1] + dy >= 0 && at[1] + dy < n[1];
            for (int64_t dx = -1; dx <= 1; dx++)
                r2[dx + 1] = is && at[2] + dx >= 0 && at[2] + dx < n[2] ? row[dx] : 0;
        }
    w->kernels->choose(&s->near);
}

static void paint_ball(slab *s, int64_t element, uint64_t key) {
    const th_work *w = s->work;
    if (w->filters)
        find_neighbours(s, element, s->canvas.at);
    const float slack = TH_SLACK * (s->near.r2[TH_CENTRE] + w->spread);
    const th_rows rows = th_rows_of(w, &s->own->lists, key, &s->near, slack);
    if (rows.count)
        w->kernels->paint[w->width](&s->canvas, &rows, &s->near, slack, key);
    s->raised += rows.count * (rows.extent[TH_LAST] + 16);
    if (s->raised > MANY) {
        s->stopped = !dm_is_wanted(w->plan);
        s->raised = 0;
    }
}

/* The balls about 64 elements of a row. */
static void paint_balls(slab *s, int64_t z, int64_t y, int64_t word) {
    const th_work *w = s->work;
    const th_volumes *v = &w->v;
    const int64_t row = z * v->length[1] + y, place = w->slab_axis == TH_Z ? z : y;
    const int64_t first = s->canvas.from[w->slab_axis], last = s->canvas.to[w->slab_axis] - 1;
    const int64_t apart = place < first ? first - place : place > last ? place - last : 0;
    for (uint64_t bits = w->bits[row * w->words + word]; bits && !s->stopped; bits &= bits - 1) {
        const int64_t x = word * 64 + __builtin_ctzll(bits), element = row * v->length[2] + x;
        const uint64_t key = th_key(v->number, w->squares, element);
        const bool reaches = w->slab_axis == TH_Z ? th_holds(v, key, apart, 0, 0) : th_holds(v, key, 0, apart, 0);
        if (key <= v->least || !reaches)
            continue;
        memcpy(s->canvas.at, (int64_t[TH_AXES]){z, y, x}, sizeof s->canvas.at);
        paint_ball(s, element, key);
    }
}

/* ---- Outputs ---- */

static void put(char *p, distmap_dtype dtype, uint64_t bits) {
    if (dtype == DISTMAP_FLOAT32 || dtype == DISTMAP_UINT32) {
        const uint32_t low = (uint32_t)bits;
        memcpy(p, &low, sizeof low);
    } else {
        memcpy(p, &bits, sizeof bits);
    }
}

static uint64_t grown(const th_work *w, int64_t i) {
    return w->width == TH_16 ? ((const uint16_t *)(const void *)w->largest)[i] : th_key(w->v.number, w->largest, i);
}

/* Thickness has plains: what a square becomes is mostly what the last one became. */
static void store_row(const th_work *w, const dm_array *out, bool thickness, int64_t z, int64_t y) {
    const th_volumes *v = &w->v;
    const int64_t at[TH_AXES] = {z, y, 0}, row = z * v->length[1] + y, stride = out->stride[v->axis[TH_LAST]];
    char *p = out->data + th_offset(w->plan, v, out, w->volume);
    for (int k = 0; k < TH_LAST; k++)
        p += v->axis[k] >= 0 ? at[k] * out->stride[v->axis[k]] : 0;
    uint64_t last = 0, bits = 0; /* 0 becomes the bits of 0 */
    for (int64_t x = 0; x < v->length[TH_LAST]; x++) {
        const uint64_t key = grown(w, row * v->length[TH_LAST] + x);
        if (key != last)
            bits = th_ink_of(v, out->dtype, last = key, thickness);
        put(p + x * stride, out->dtype, bits);
    }
}

static void slab_task(void *arg, size_t index, int id) {
    const th_work *w = arg;
    const th_volumes *v = &w->v;
    slab s = {.work = w, .own = &w->workers[id]};
    th_canvas *c = &s.canvas;
    *c = (th_canvas){.squares = w->largest, .packing = w->packing, .to = {v->length[0], v->length[1]}};
    memcpy(c->length, v->length, sizeof c->length);
    memcpy(c->w2, w->w2, sizeof c->w2);
    for (int i = 0; i < 27; i++) {
        const float apart2 =
            (th_step(i, 0) ? w->w2[0] : 0) + (th_step(i, 1) ? w->w2[1] : 0) + (th_step(i, 2) ? w->w2[2] : 0);
        s.near.weight[i] = i != TH_CENTRE ? 1 / sqrtf(apart2) : 0;
        s.near.tie[i] = w->ties && i < TH_CENTRE ? s.near.weight[i] / 4 : 0; /* less than any rise is worth */
    }
    const int a = w->slab_axis;
    c->from[a] = (int64_t)index * w->slab_length;
    c->to[a] = th_smaller(c->from[a] + w->slab_length, v->length[a]);
    c->end = ((c->to[0] - 1) * v->length[1] + c->to[1]) * v->length[2];
    int64_t from[TH_LAST] = {0, 0}, to[TH_LAST] = {v->length[0], v->length[1]};
    from[a] = th_larger(c->from[a] - w->around, 0);
    to[a] = th_smaller(c->to[a] + w->around, v->length[a]);
    for (int64_t tile = from[1]; tile < to[1]; tile += TILE_ROWS)
        for (int64_t word = 0; word < w->words; word++)
            for (int64_t z = from[0]; z < to[0]; z++)
                for (int64_t y = tile; y < th_smaller(tile + TILE_ROWS, to[1]); y++)
                    paint_balls(&s, z, y, word);
    for (int64_t z = c->from[0]; z < c->to[0] && !s.stopped; z++)
        for (int64_t y = c->from[1]; y < c->to[1]; y++) {
            if (w->arrays->distance.data)
                store_row(w, &w->arrays->distance, true, z, y);
            if (w->arrays->squared.data)
                store_row(w, &w->arrays->squared, false, z, y);
        }
}

/* Slabs are some balls thick, or balls would be looked at by several. */
static void set_slabs(th_work *w) {
    const int64_t threads = w->plan->context->threads;
    float most = 0;
    for (int i = 0; i < threads; i++)
        most = w->workers[i].most > most ? w->workers[i].most : most;
    w->slab_axis = w->v.length[TH_Z] > 1 ? TH_Z : TH_Y;
    const int64_t length = w->v.length[w->slab_axis];
    const double around = sqrt((double)most / (double)w->w2[w->slab_axis]) * (1 + 1e-5) + 1;
    w->around = around < (double)length ? (int64_t)around : length;
    const int64_t slabs = th_larger(th_smaller(length / (4 * w->around), SLABS * threads), th_smaller(threads, length));
    w->slab_length = (length + slabs - 1) / slabs;
    w->slabs = (length + w->slab_length - 1) / w->slab_length;
}

distmap_status th_paint(th_work *w, double share) {
    set_slabs(w);
    return dm_parallel(w->plan, (size_t)w->slabs, slab_task, w, share);
}
