/* chamfer/cpu's sweeps. With R a row's own distances, a plane is
 *
 *     down   D[y] = min(R[y], D[y - 1] + a, D[y - 1][x +- 1] + b)                              y rising
 *     up     U[y] = min(D[y], U[y + 1] + a, U[y + 1][x +- 1] + b)                              y falling
 *
 * and with knight's steps c also D[y - 1][x +- 2] + c and D[y - 2][x +- 1] + c. U is the distance. Rows hold no dependency
 * within themselves, so all this is vectors across columns. A slower axis is the same once more: a slab looks at the one
 * before it, at all rows and columns a step may come from, first forwards, then backwards.
 *
 * Why it is exact: the steps of a shortest walk can be taken in any order. In the order of axes, x first, those that stay in
 * the row come first (R), then those that stay in the plane but leave the row, all of them in one direction, down or up,
 * then those that leave the plane. U starts from D, not from R: every lane is the length of some walk, so that does no harm.
 *
 * "Down" and "up" may change parts, and in different rows: a plane that all workers share has two halves. The upper one goes
 * down first, the lower one up; then each has what the other needs to go back from the middle. So two workers do no more
 * than one. More of them go by bands of rows, and share each half's band by strips of columns. Within H rows a walk crosses
 * at most H columns (2 H with knights): a strip computes as many more on either side, for itself, and keeps only its own.
 * Where rows begin inside the image, the distance of the element outside is found beforehand (`ends`).
 */
#include "methods/chamfer/chamfer_sweep.h"

#include <string.h>

#include "cpu/rows.h"

static void place(const ch_job *job, int64_t volume, int64_t row, int64_t at[DM_NDIM]) {
    const ch_layout *l = job->layout;
    const int64_t *shape = job->plan->shape;
    bool slow[DM_NDIM] = {false};
    at[DM_X] = 0;
    for (int j = 0; j < l->slow_count; j++) {
        const int a = l->slow[j];
        slow[a] = true;
        at[a] = row % shape[a];
        row /= shape[a];
    }
    for (int a = DM_X - 1; a >= 0; a--)
        if (!slow[a]) {
            at[a] = volume % shape[a];
            volume /= shape[a];
        }
}

char *ch_row(const ch_job *job, char *lanes, int64_t row) {
    return lanes + ((size_t)row * job->layout->pitch + CH_PAD) * job->layout->lane_size;
}

static char *column(const ch_job *job, char *row, int64_t x) { return row + x * (int64_t)job->layout->lane_size; }

static uint64_t cost(const ch_job *job, uint32_t step) { return (uint64_t)step << ch_lane_shift(job->layout->lane); }

/* ---- In and out ---- */

void ch_begin(const ch_job *job, ch_worker *w, int64_t volume, int64_t row, const ch_columns *columns,
              const uint64_t *ends, char *lanes) {
    const ch_layout *l = job->layout;
    const int64_t n = columns->to - columns->from;
    int64_t at[DM_NDIM];
    place(job, volume, row, at);
    at[DM_X] = columns->from;
    dm_row_sites(job->plan, &job->arrays->input, at, n, w->site);
    const size_t groups = ((size_t)n + CH_UNIT - 1) / CH_UNIT * (CH_UNIT / CH_GROUP);
    memset(w->site + n, 0, groups * CH_GROUP - (size_t)n);
    const ch_start start = {
        .site = w->site,
        .groups = groups,
        .near = job->memory.near,
        .before = w->before,
        .after = w->after,
        .pattern = w->pattern,
        .left = ends ? ends[0] : l->cap,
        .right = ends ? ends[1] : l->cap,
        .step = cost(job, job->plan->chamfer.step[1]),
        .cap = l->cap,
        .index = (uint32_t)(row * l->width + columns->from),
        .along = l->along,
    };
    job->rows->start(&start, lanes);
}

/* Where the volume's elements do not lie side by side: indices in it become indices in the image. */
static void spread_indices(const ch_job *job, int64_t volume, int64_t count, int64_t *index) {
    const distmap_plan *plan = job->plan;
    for (int64_t x = 0; x < count; x++) {
        if (index[x] < 0)
            continue;
        int64_t at[DM_NDIM];
        place(job, volume, index[x] / job->layout->width, at);
        at[DM_X] = index[x] % job->layout->width;
        index[x] = 0;
        for (int a = 0; a < DM_NDIM; a++)
            index[x] += at[a] * plan->linear[a];
    }
}

/* Keys as dm_row_emit takes them. */
static void split_keys(const ch_job *job, ch_worker *w, int64_t volume, int64_t count, const uint64_t *key) {
    const ch_layout *l = job->layout;
    const uint64_t most = l->most;
    uint32_t *narrow = w->squared;
    uint64_t *wide = w->squared;
    for (int64_t x = 0; x < count; x++)
        w->index[x] = key[x] >> 32 > most ? DISTMAP_INDEX_NONE : (int64_t)(key[x] & UINT32_MAX);
    if (job->plan->number == DM_U32)
        for (int64_t x = 0; x < count; x++)
            narrow[x] = key[x] >> 32 > most ? UINT32_MAX : (uint32_t)(key[x] >> 32);
    else
        for (int64_t x = 0; x < count; x++)
            wide[x] = key[x] >> 32 > most ? UINT64_MAX : key[x] >> 32;
    if (l->volumes > 1)
        spread_indices(job, volume, count, w->index);
}

static void widen(const ch_job *job, ch_worker *w, int64_t count, const char *lanes) {
    const ch_layout *l = job->layout;
    uint32_t *narrow = w->squared;
    uint64_t *wide = w->squared;
    for (int64_t x = 0; x < count; x++) {
        const uint32_t distance = l->lane == CH_U16 ? ((const uint16_t *)lanes)[x] : ((const uint32_t *)lanes)[x];
        if (job->plan->number == DM_U32)
            narrow[x] = distance > l->most ? UINT32_MAX : distance;
        else
            wide[x] = distance > l->most ? UINT64_MAX : distance;
    }
}

void ch_finish(const ch_job *job, ch_worker *w, int64_t volume, int64_t row, int64_t first, int64_t end,
               const char *lanes) {
    distmap_plan *plan = job->plan;
    int64_t at[DM_NDIM];
    place(job, volume, row, at);
    at[DM_X] = first;
    if (job->quick) {
        float *out = (float *)dm_row_address(&job->arrays->distance, at);
        int64_t *index = plan->wants_site ? (int64_t *)dm_row_address(&job->arrays->index, at) : NULL;
        const size_t n = (size_t)(end - first);
        const uint32_t most = (uint32_t)job->layout->most;
        if (index ? job->rows->emit_sites(lanes, n, most, job->stream, out, index)
                  : job->rows->emit(lanes, n, most, job->stream, out))
            dm_flag(plan, DISTMAP_FLAG_NO_SITE);
        return;
    }
    if (job->layout->lane == CH_KEY)
        split_keys(job, w, volume, end - first, (const uint64_t *)lanes);
    else
        widen(job, w, end - first, lanes);
    dm_row_emit(plan, job->arrays, at, end - first, w->squared, plan->wants_site ? w->index : NULL);
}

/* ---- One row from another ---- */

/* Steps along `axes` axes, x aside, and along x as well; those that cheaper ones make up for are left out. */
static void look(const ch_job *job, char *row, const char *from, size_t n, int axes) {
    const uint32_t *step = job->plan->chamfer.step;
    const bool straight = axes == 1 || step[axes] < step[axes - 1] + step[1];
    const bool diagonal = job->layout->along && axes < DM_NDIM && step[axes + 1] < step[axes] + step[1];
    if (diagonal)
        job->rows->diagonal(row, from, n, cost(job, step[axes]), cost(job, step[axes + 1]));
    else if (straight)
        job->rows->straight(row, from, n, cost(job, step[axes]));
}

static void look_in_plane(const ch_job *job, char *row, const char *one, const char *two, size_t n) {
    look(job, row, one, n, 1);
    const uint32_t knight = job->plan->chamfer.knight;
    if (knight && job->layout->along)
        job->rows->knights(row, one, two, n, cost(job, knight));
}

/* ---- Planes ---- */

ch_band ch_whole(const ch_job *job, int64_t volume, int64_t plane) {
    const ch_layout *l = job->layout;
    const int64_t height = job->plan->shape[l->slow[0]];
    return (ch_band){
        .volume = volume, .plane = plane, .end = height, .columns = {0, l->width, 0, l->width}, .strip = -1, .way = 1};
}

/* A row on its way becomes one in memory: the band's own columns, and the pad beyond where they end the row. */
static void keep(const ch_job *job, const ch_columns *c, char *row, char *ring) {
    const ch_layout *l = job->layout;
    const int64_t first = c->first == 0 ? -CH_PAD : c->first;
    const int64_t end = c->end == l->width ? (int64_t)(l->groups * CH_GROUP) + CH_PAD : c->end;
    const size_t bytes = (size_t)(end - first) * l->lane_size;
    char *to = column(job, row, first), *from = column(job, ring, first - c->from);
    if (job->stream)
        job->rows->put(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/* The last site of [from, end), the first one; -1: none. */
static int64_t last_site(const uint8_t *site, int64_t from, int64_t end) {
    for (uint64_t eight; end - from >= 8; end -= 8) {
        memcpy(&eight, site + end - 8, sizeof eight);
        if (eight)
            break;
    }
    while (end > from && !site[end - 1])
        end--;
    return end > from ? end - 1 : -1;
}
static int64_t first_site(const uint8_t *site, int64_t from, int64_t end) {
    const uint8_t *found = end > from ? memchr(site + from, 1, (size_t)(end - from)) : NULL;
    return found ? found - site : -1;
}

/* The lane of an element so far from a site of its row. */
static uint64_t end_lane(const ch_job *job, int64_t row, int64_t site, int64_t distance) {
    const ch_layout *l = job->layout;
    const uint64_t lane = (uint64_t)distance * cost(job, job->plan->chamfer.step[1]);
    if (site < 0 || (uint64_t)distance > l->most || lane > l->cap)
        return l->cap;
    return lane + (l->lane == CH_KEY ? (uint64_t)(row * l->width + site) : 0);
}

void ch_find_ends(const ch_job *job, ch_worker *w, int64_t volume, int64_t row) {
    const ch_layout *l = job->layout;
    uint64_t(*ends)[2] = job->memory.ends + row * l->strips;
    int64_t at[DM_NDIM], last = -1, first = -1;
    place(job, volume, row, at);
    dm_row_sites(job->plan, &job->arrays->input, at, l->width, w->site);
    for (int64_t s = 0, seen = 0; s < l->strips; s++) {
        const int64_t from = ch_strip(l, s).from, found = last_site(w->site, seen, from);
        last = found < 0 ? last : found;
        ends[s][0] = end_lane(job, row, last, from - 1 - last);
        seen = from;
    }
    for (int64_t s = l->strips - 1, seen = l->width; s >= 0; s--) {
        const int64_t to = ch_strip(l, s).to, found = first_site(w->site, to, seen);
        first = found < 0 ? first : found;
        ends[s][1] = end_lane(job, row, first, first - to);
        seen = to;
    }
}

/* The two rows before row y on the sweep's way, as far as the plane has them. */
typedef struct rows_before {
    char *row[2];
    bool any;
} rows_before;

static rows_before before(const ch_job *job, const ch_worker *w, char *lanes, const ch_band *band, int64_t y) {
    const int64_t height = job->plan->shape[job->layout->slow[0]];
    const int64_t edge = band->way > 0 ? band->first - 1 : band->end; /* the nearest row before the band */
    rows_before result = {.any = y != (band->way > 0 ? 0 : height - 1)};
    for (int i = 0; i < 2; i++) {
        const int64_t from = y - (i + 1) * band->way;
        const bool inside = from >= band->first && from < band->end;
        if (from < 0 || from >= height)
            result.row[i] = job->memory.none;
        else if (inside && !band->in_place)
            result.row[i] = w->ring[from % 3];
        else if (!inside && band->beyond)
            result.row[i] = column(job, band->beyond[(edge - from) * band->way], band->columns.from);
        else
            result.row[i] = column(job, ch_row(job, lanes, band->plane * height + from), band->columns.from);
    }
    return result;
}

/* Row number i of a band on the sweep's way. */
static int64_t row_of(const ch_band *band, int64_t i) { return band->way > 0 ? band->first + i : band->end - 1 - i; }

enum { SOME = 32 }; /* rows from one question whether to go on to the next */

void ch_sweep_first(const ch_job *job, ch_worker *w, char *lanes, const ch_band *band) {
    const ch_columns *c = &band->columns;
    const int64_t start = band->plane * job->plan->shape[job->layout->slow[0]];
    for (int64_t i = 0; i < band->end - band->first && (i % SOME || dm_is_wanted(job->plan)); i++) {
        const int64_t y = row_of(band, i);
        char *kept = ch_row(job, lanes, start + y), *row = band->in_place ? kept : w->ring[y % 3];
        const uint64_t *ends =
            band->strip < 0 ? NULL : job->memory.ends[(start + y) * job->layout->strips + band->strip];
        ch_begin(job, w, band->volume, start + y, c, ends, row);
        const rows_before from = before(job, w, lanes, band, y);
        if (from.any)
            look_in_plane(job, row, from.row[0], from.row[1], (size_t)(c->to - c->from));
        if (!band->in_place)
            keep(job, c, kept, row);
    }
    job->rows->settle();
}

void ch_sweep_second(const ch_job *job, ch_worker *w, char *lanes, const ch_band *band) {
    const ch_layout *l = job->layout;
    const ch_columns *c = &band->columns;
    const int64_t start = band->plane * job->plan->shape[l->slow[0]], count = band->end - band->first;
    const size_t n = (size_t)(c->to - c->from);
    for (int64_t i = 0; i < count && (i % SOME || dm_is_wanted(job->plan)); i++) {
        const int64_t y = row_of(band, i);
        char *kept = column(job, ch_row(job, lanes, start + y), c->from);
        char *row = band->in_place ? kept : w->ring[y % 3];
        if (!band->in_place)
            memcpy(row - CH_PAD * l->lane_size, kept - CH_PAD * l->lane_size, (n + 2 * CH_PAD) * l->lane_size);
        const rows_before from = before(job, w, lanes, band, y);
        if (from.any)
            look_in_plane(job, row, from.row[0], from.row[1], n);
        if (!band->in_place)
            ch_finish(job, w, band->volume, start + y, c->first, c->end, column(job, row, c->first - c->from));
        if (band->leave && count - i <= 2)
            keep(job, c, band->leave[count - 1 - i], row);
    }
    job->rows->settle();
}

/* ---- Slabs ---- */

/* Knight's steps between two slow axes, x not being measured: slabs are rows of a plane, so to speak. */
static void look_by_knights(const ch_job *job, char *lanes, char *row, int64_t start, int64_t at, int64_t y, int back) {
    const ch_layout *l = job->layout;
    const int64_t *shape = job->plan->shape, height = shape[l->slow[0]], slabs = shape[l->slow[1]];
    const int64_t aside[] = {-2, 2, -1, 1}, beyond[] = {1, 1, 2, 2};
    for (int i = 0; i < 4; i++) {
        const int64_t from = y + aside[i], slab = at + back * beyond[i];
        if (from >= 0 && from < height && slab >= 0 && slab < slabs)
            job->rows->straight(row, ch_row(job, lanes, start + back * beyond[i] * height + from), (size_t)l->width,
                                cost(job, job->plan->chamfer.knight));
    }
}

void ch_slab_row(const ch_job *job, ch_worker *w, char *lanes, int64_t volume, int axis, int64_t outer, int64_t at,
                 int64_t inner, int back, bool finish) {
    const ch_layout *l = job->layout;
    const int64_t *shape = job->plan->shape;
    int64_t slab = 1, length[2] = {1, 1}, place_in[2] = {0, 0}, rest = inner;
    for (int j = 0; j < axis; j++) {
        length[j] = shape[l->slow[j]];
        place_in[j] = rest % length[j];
        rest /= length[j];
        slab *= length[j];
    }
    const int64_t start = (outer * shape[l->slow[axis]] + at) * slab;
    char *row = ch_row(job, lanes, start + inner);
    for (int64_t i = -1; back && i <= 1; i++)
        for (int64_t j = -1; j <= 1; j++) {
            const int64_t y = place_in[0] + i, z = place_in[1] + j;
            if (y >= 0 && y < length[0] && z >= 0 && z < length[1])
                look(job, row, ch_row(job, lanes, start + back * slab + z * length[0] + y), (size_t)l->width,
                     1 + (i != 0) + (j != 0));
        }
    if (back && job->plan->chamfer.knight)
        look_by_knights(job, lanes, row, start, at, inner, back);
    if (finish)
        ch_finish(job, w, volume, start + inner, 0, l->width, row);
}
