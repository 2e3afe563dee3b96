/* thickness/cpu: the rows of a ball, kept by its size and by where its best neighbour is.
 *
 * A row is wholly in the ball of a larger neighbour at v if its element q that is farthest from v is, |q - v|^2 < R^2(c').
 * So rows are listed in falling order of that distance, and R^2(c') tells where those end that the neighbour may not hold: mostly
 * after a few. Rows with less than R^2, which any larger neighbour holds, are not listed at all. As shape and distances are
 * the same to both sides, one list does for the neighbours at (+-v_z, +-v_y, +-v_x).
 *
 * The order comes from counting: distances fall into buckets, and rows are looked at by whole ones, which are some too many, never too
 * few. With pitches of 1 and radii up to 17 each bucket is one whole number. */
#include "operations/thickness_cpu.h"

enum {
    MOST_ROWS = 1 << 22,
    LEAST_BITS = 8,
    MOST_BITS = 14,
    ENOUGH = 4 /* times asked for: then a list is worth while */
};

/* All rows of one ball have to find room. */
th_lists th_lists_for(const th_volumes *v) {
    const int64_t most = (2 * v->length[TH_Z] - 1) * (2 * v->length[TH_Y] - 1) + TH_PAD;
    th_lists l = {.room = th_larger(most, th_smaller(MOST_ROWS, v->elements / 4)), .bits = LEAST_BITS};
    while (l.bits < MOST_BITS && (int64_t)64 << l.bits < v->elements)
        l.bits++;
    return l;
}

void th_lists_clear(th_lists *l) {
    memset(l->key, 0, sizeof *l->key << l->bits);
    l->rows = 0;
    l->count = 0;
}

static th_rows rows_of(const th_lists *l, const th_list *list, int64_t count) {
    return (th_rows){count, l->place + list->first, l->dx + list->first, list->extent};
}

static void add_row(const th_packing *p, th_lists *l, int64_t dz, int64_t dy, int64_t dx) {
    l->place[l->rows] = (uint32_t)(dz + p->z) << p->shift | (uint32_t)(dy + p->y);
    l->dx[l->rows++] = (int32_t)dx;
}

/* All rows, in no order. They get shorter with their distance from the middle; each stands for those on all sides. */
static void add_all(const th_work *w, th_lists *l, uint64_t key, th_list *list) {
    const th_volumes *v = &w->v;
    const int64_t most_z = th_extent(v, key, TH_Z), most_y = th_extent(v, key, TH_Y);
    int64_t extent[TH_AXES] = {0, 0, 0};
    list->first = l->rows;
    for (int64_t dz = 0; dz <= most_z; dz++) {
        int64_t dx = th_reach(v, key, dz, 0);
        for (int64_t dy = 0; dy <= most_y; dy++) {
            while (dx >= 0 && !th_holds(v, key, dz, dy, dx))
                dx--;
            if (dx < 0)
                break;
            for (int side = 0; side < 4; side++)
                if (!(side & 1 && dz == 0) && !(side & 2 && dy == 0))
                    add_row(&w->packing, l, side & 1 ? -dz : dz, side & 2 ? -dy : dy, dx);
            extent[TH_Z] = dz;
            extent[TH_Y] = th_larger(extent[TH_Y], dy);
            extent[TH_LAST] = th_larger(extent[TH_LAST], dx);
        }
    }
    for (int k = 0; k < TH_AXES; k++)
        list->extent[k] = (int32_t)extent[k];
    list->count = l->rows - list->first;
    l->rows += TH_PAD;
}

/* Behind the list its rows' buckets, for now. Rows of no bucket, which any larger neighbour holds, come to stand there too. */
static void add_sorted(const th_work *w, th_lists *l, uint64_t key, const th_list *all, th_list *list) {
    const float r2 = (float)th_real(w->v.number, key) * w->scale, *w2 = w->w2;
    const float apart2 = (list->kind & 1 ? w2[0] : 0) + (list->kind & 2 ? w2[1] : 0) + (list->kind & 4 ? w2[2] : 0);
    const float most = (r2 + apart2 + 2 * sqrtf(r2 * apart2)) * (1 + TH_SLACK);
    int32_t next[TH_BUCKETS + 2] = {0}, *bucket = l->dx + l->rows + all->count;
    list->first = l->rows;
    list->top = ceilf(most);
    list->least = r2 * (1 - TH_SLACK);
    list->per_unit = fminf(1, TH_BUCKETS / (most - list->least + 2));
    const th_rows rows = rows_of(l, all, all->count);
    w->kernels->sort(&rows, &w->packing, w2, list, bucket);
    for (int64_t i = 0; i < rows.count; i++)
        next[1 + bucket[i]]++;
    for (int i = 0; i < TH_BUCKETS; i++)
        list->end[i] = next[i + 1] += next[i];
    for (int64_t i = 0; i < rows.count; i++) {
        const int64_t to = list->first + next[bucket[i]]++;
        l->place[to] = rows.place[i];
        l->dx[to] = rows.dx[i];
    }
    memcpy(list->extent, all->extent, sizeof list->extent);
    list->count = list->end[TH_BUCKETS - 1];
    l->rows += list->count + TH_PAD;
}

/* The list's place, empty and not yet made where it is new. */
static th_list *list_at(th_lists *l, uint64_t key, int kind) {
    uint64_t at = (key + (uint64_t)kind) * 0x9E3779B97F4A7C15 >> (64 - l->bits);
    while (l->key[at] && (l->key[at] != key || l->list[at].kind != kind))
        at = (at + 1) & (((uint64_t)1 << l->bits) - 1);
    if (!l->key[at]) {
        l->key[at] = key;
        l->list[at].kind = kind;
        l->list[at].count = l->list[at].uses = 0;
        l->count++;
    }
    return &l->list[at];
}

/* Rows in falling order where they have been asked for often enough, and found room; else all. */
th_rows th_rows_of(const th_work *w, th_lists *l, uint64_t key, const th_near *near, float slack) {
    if (l->count + 2 > 1 << (l->bits - 1))
        th_lists_clear(l);
    th_list *list = list_at(l, key, th_class_of(near));
    if (list->kind && list->uses == ENOUGH) {
        const float bucket = (list->top - (near->r2[near->best[0]] - slack)) * list->per_unit;
        return rows_of(l, list, bucket < 0 ? 0 : bucket < TH_BUCKETS ? list->end[(int)bucket] : list->count);
    }
    th_list *all = list->kind ? list_at(l, key, 0) : list;
    if (!all->count) {
        const int64_t bound = (2 * th_extent(&w->v, key, TH_Z) + 1) * (2 * th_extent(&w->v, key, TH_Y) + 1) + TH_PAD;
        if (l->rows + bound > l->room) {
            th_lists_clear(l);
            all = list_at(l, key, 0);
        }
        add_all(w, l, key, all);
    } else if (list->kind && ++list->uses == ENOUGH) {
        if (l->rows + 2 * all->count + TH_PAD > l->room)
            list->uses--;
        else
            add_sorted(w, l, key, all, list);
    }
    return rows_of(l, all, all->count);
}
