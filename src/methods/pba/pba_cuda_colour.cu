/* pba/cuda, phase 3: every element's nearest site, from the column's list.
 *
 * Along a column the squared distances to the list's sites first fall and then rise, from one site to the next, and the
 * site where they are least moves towards lower rows as the element does. So elements are coloured from the column's
 * end to its beginning, and each looks on from where the one before it stopped, as long as the next site is nearer or,
 * since it lies in a lower row, as near. m3 threads share a column.
 *
 *   pba+: independent: thread j takes the rows j, j + m3, ... from the end and goes through the list by itself
 *   pba:  by blocks: m3 neighbouring rows at a time; all threads go on from the site of the last of them
 *
 * Source: section "Improvement of PBA to PBA+" (the block colouring method, the new method of phase 3).
 */
#include "methods/pba/pba_cuda.cuh"

/* A list can be no faster than its loads, one after the other. Where it is long, its sites lie near the row that is
 * coloured, and so the rows to come are fetched this far ahead. */
enum { FORESIGHT = 64 };

/* Where a thread stands in the list: its site, the one before that in the list (or the same at the list's beginning),
 * and the word at that one's link, fetched early. */
template <class T> struct cursor {
    int32_t at, before;
    typename T::word word, before_word, ahead;
    typename T::number f, before_f;
};

template <class T, bool Z> DM_DEVICE cursor<T> cursor_at(const pba_work *w, const pba_column<T> *c, int32_t at) {
    cursor<T> k;
    k.at = at;
    k.word = pba_load(c, at);
    k.f = pba_across<T, Z>(w, c, k.word);
    k.before = pba_link<T, Z>(w, k.word);
    k.before_word = pba_load(c, k.before);
    k.before_f = pba_across<T, Z>(w, c, k.before_word);
    k.ahead = pba_load(c, pba_link<T, Z>(w, k.before_word));
    return k;
}

/* Goes on to the site that is nearest to row y; gives its squared distance. */
template <class T, bool Z>
DM_DEVICE typename T::number cursor_move(const pba_work *w, const pba_column<T> *c, cursor<T> *k, int32_t y) {
    typename T::number best = pba_squared<T, Z>(w, k->f, k->at, y);
    while (k->before != k->at) {
        const typename T::number other = pba_squared<T, Z>(w, k->before_f, k->before, y);
        if (other > best)
            break;
        best = other;
        k->at = k->before;
        k->word = k->before_word;
        k->f = k->before_f;
        k->before = pba_link<T, Z>(w, k->word);
        k->before_word = k->ahead;
        k->before_f = pba_across<T, Z>(w, c, k->before_word);
        k->ahead = pba_load(c, pba_link<T, Z>(w, k->before_word));
    }
    return best;
}

/* Where a column's results go: as words to the next axis; or to the outputs, where PLAIN ones (pba_work.plain) take few
 * registers, of which phase 3 has need of all the threads that there is room for. */
template <class T> struct paint {
    int64_t at[DM_NDIM];             /* of the column's first element */
    int64_t batch;                   /* linear index of its volume's first */
    typename T::word *to;            /* NULL: outputs */
    char *value, *site;              /* PLAIN: at the column's first element; NULL: not wanted */
    int64_t value_apart, site_apart; /* bytes */
};

template <class T, bool Z, bool PLAIN>
DM_DEVICE paint<T> paint_make(const pba_work *w, const pba_pass *p, const pba_column<T> *c) {
    paint<T> out = {};
    const int64_t volume = (int64_t)w->nx * w->ny * w->nz;
    const dm_arrays *arrays = &w->elements.arrays;
    dm_element_split(&w->elements, c->first, out.at);
    out.batch = c->first / volume * volume;
    out.to = p->target ? (typename T::word *)p->target + c->first : NULL;
    if (PLAIN) {
        const dm_array *value = arrays->distance.data ? &arrays->distance : &arrays->squared;
        out.value = value->data ? dm_element_address(value, out.at) : NULL;
        out.site = arrays->index.data ? dm_element_address(&arrays->index, out.at) : NULL;
        out.value_apart = value->stride[Z ? 1 : 2];
        out.site_apart = arrays->index.stride[Z ? 1 : 2];
    }
    return out;
}

template <class T, bool Z> DM_DEVICE int64_t site_of(const pba_work *w, const paint<T> *out, const cursor<T> *k) {
    const int64_t row = Z ? (int64_t)k->at * w->ny + pba_site_y<T>(w, k->word) : k->at;
    return out->batch + row * w->nx + pba_site_x<T>(w, k->word);
}

template <class T, bool Z>
DM_DEVICE void paint_plain(const pba_work *w, const paint<T> *out, int32_t y, const cursor<T> *k, uint32_t squared,
                           unsigned *raised) {
    if (!k)
        *raised |= DISTMAP_FLAG_NO_SITE;
    if (out->value && w->elements.arrays.distance.data)
        *(float *)(out->value + y * out->value_apart) =
            k ? dm_unit_distancef(&w->elements.unit, squared) : (float)INFINITY;
    else if (out->value)
        *(uint32_t *)(out->value + y * out->value_apart) = k ? squared : UINT32_MAX;
    if (out->site)
        dm_store_integer(w->elements.arrays.index.dtype, out->site + y * out->site_apart,
                         k ? site_of<T, Z>(w, out, k) : DISTMAP_INDEX_NONE);
}

/* Row y's result; without a site k is NULL. */
template <class T, bool Z, bool PLAIN>
DM_DEVICE void paint_put(const pba_work *w, const pba_column<T> *c, const paint<T> *out, int32_t y, const cursor<T> *k,
                         typename T::number squared, unsigned *raised) {
    if (out->to) {
        out->to[pba_step(c, y)] = k ? pba_with_link<T, Z>(w, k->word, k->at) : pba_none<typename T::word>();
    } else if (PLAIN) {
        paint_plain<T, Z>(w, out, y, k, (uint32_t)squared, raised);
    } else {
        int64_t at[DM_NDIM] = {out->at[0], out->at[1], out->at[2], out->at[3]};
        at[Z ? 1 : 2] += y;
        dm_value value = dm_value_none(&w->elements);
        if (k)
            value.u64 = (uint64_t)squared;
        dm_element_emit(&w->elements, at, value, k ? site_of<T, Z>(w, out, k) : DISTMAP_INDEX_NONE, raised);
    }
}

/* pba+. Block: PBA_COLUMNS columns (or all, if fewer) x m3 threads. Reads two words for each site of the list, in each
 * of m3 threads but together, and writes the outputs, or a word per element. */
template <class T, bool Z, bool PLAIN>
static __global__ void __launch_bounds__(PBA_COLUMNS *PBA_MOST_M3)
    colour(const __grid_constant__ pba_work w, const __grid_constant__ pba_pass p) {
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < p.columns;
         i += (int64_t)gridDim.x * blockDim.x) {
        const pba_column<T> c = pba_column_make<T, Z>(&w, &p, i);
        const paint<T> out = paint_make<T, Z, PLAIN>(&w, &p, &c);
        const int32_t last = p.end[i].last;
        int32_t y = p.length - 1 - (int32_t)threadIdx.y;
        if (last < 0) {
            for (; y >= 0; y -= p.m3)
                paint_put<T, Z, PLAIN>(&w, &c, &out, y, NULL, 0, &raised);
            continue;
        }
        cursor<T> k = cursor_at<T, Z>(&w, &c, last);
        for (; y >= 0; y -= p.m3) {
            dm_prefetch(&c.words[pba_step(&c, y > FORESIGHT ? y - FORESIGHT : 0)]);
            const typename T::number squared = cursor_move<T, Z>(&w, &c, &k, y);
            paint_put<T, Z, PLAIN>(&w, &c, &out, y, &k, squared, &raised);
        }
    }
    dm_raise(&w.elements, raised);
}

/* pba. As above, but a thread starts where the last of the m3 rows before has stopped. */
template <class T, bool Z, bool PLAIN>
static __global__ void __launch_bounds__(PBA_COLUMNS *PBA_MOST_M3)
    colour_blocks(const __grid_constant__ pba_work w, const __grid_constant__ pba_pass p) {
    __shared__ int32_t stopped[PBA_COLUMNS];
    unsigned raised = 0;
    for (int64_t group = blockIdx.x; group * blockDim.x < p.columns; group += gridDim.x) {
        const int64_t i = group * blockDim.x + threadIdx.x;
        const bool active = i < p.columns;
        const pba_column<T> c = pba_column_make<T, Z>(&w, &p, active ? i : 0);
        const paint<T> out = paint_make<T, Z, PLAIN>(&w, &p, &c);
        int32_t start = active ? p.end[i].last : -1;
        const bool any = start >= 0;
        for (int32_t rest = p.length; rest > 0; rest -= p.m3) {
            const int32_t y = rest - 1 - (int32_t)threadIdx.y;
            cursor<T> k = {};
            if (any && y >= 0) {
                k = cursor_at<T, Z>(&w, &c, start);
                const typename T::number squared = cursor_move<T, Z>(&w, &c, &k, y);
                paint_put<T, Z, PLAIN>(&w, &c, &out, y, &k, squared, &raised);
            } else if (active && y >= 0) {
                paint_put<T, Z, PLAIN>(&w, &c, &out, y, NULL, 0, &raised);
            }
            __syncthreads();
            if ((int32_t)threadIdx.y == p.m3 - 1)
                stopped[threadIdx.x] = k.at;
            __syncthreads();
            start = stopped[threadIdx.x];
        }
    }
    dm_raise(&w.elements, raised);
}

template <class T, bool Z, bool PLAIN>
static cudaError_t launch(const pba_work *work, const pba_pass *pass, cudaStream_t stream) {
    const pba_work w = *work;
    const pba_pass p = *pass;
    auto *const kernel = w.blocks ? colour_blocks<T, Z, PLAIN> : colour<T, Z, PLAIN>;
    const dim3 block(dm_blocks(p.columns, 1, PBA_COLUMNS), (unsigned)p.m3);
    DM_LAUNCH(kernel, dm_blocks(p.columns, block.x, PBA_MOST_BLOCKS), block, 0, stream, w, p);
    return cudaGetLastError();
}

cudaError_t pba_colour(const pba_work *w, const pba_pass *p, cudaStream_t stream) {
    if (!w->narrow)
        return p->z ? launch<pba_wide, true, false>(w, p, stream) : launch<pba_wide, false, false>(w, p, stream);
    if (w->plain)
        return p->z ? launch<pba_narrow, true, true>(w, p, stream) : launch<pba_narrow, false, true>(w, p, stream);
    return p->z ? launch<pba_narrow, true, false>(w, p, stream) : launch<pba_narrow, false, false>(w, p, stream);
}
