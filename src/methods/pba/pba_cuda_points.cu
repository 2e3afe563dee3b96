/* pba/cuda, phase 2: the proximate sites of every column.
 *
 * In a column at (x, .) each row y has one candidate, the site that phase 1 found in it, at squared distance f across
 * the column. With h = f + w y^2, a candidate b between a and c (y_a < y_b < y_c) is nearest nowhere in the column,
 * *dominated*, if
 *
 *     (h_b - h_a) (y_c - y_b) >= (h_c - h_b) (y_b - y_a),
 *
 * the paper's integer test: in y, b takes over from a no sooner than c from b. Where that is one point, a, b and c are
 * equally near to it, and a is what the rule about ties wants. What is left is a list of rows in which takeovers rise
 * strictly.
 *
 * Every band of a column makes its own list, as a stack: a candidate that comes in from below pops those that it and
 * the one under them dominate. Links to lower rows lie in the words themselves. Then bands are merged by two and two:
 * only at the seam can candidates be dominated, so the upper list loses some of its end and the lower one some of its
 * beginning, in turn, until neither does. Going forward through the lower list takes links to higher rows, for which
 * there is an array of their own. The paper makes those by a kernel before merging (`make_double`) and makes
 * single lists again by one after it (`make_single`): lists=converted. With lists=carried they are written as the stack
 * grows, and the seam is closed in the words, so that phase 3 finds one list from the column's end back to its beginning.
 *
 * Time O(n) per column: a candidate enters and leaves once. Exact: integers throughout.
 */
#include "methods/pba/pba_cuda.cuh"

/* A candidate: its row, h, and the row before it in the list (its own row: none). */
template <class T> struct node {
    int32_t at, link;
    typename T::number h;
};

template <class T, bool Z> DM_DEVICE node<T> node_at(const pba_work *w, const pba_column<T> *c, int32_t at) {
    const typename T::word v = pba_load(c, at);
    node<T> n;
    n.at = at;
    n.link = pba_link<T, Z>(w, v);
    n.h = pba_squared<T, Z>(w, pba_across<T, Z>(w, c, v), 0, at);
    return n;
}

/* The floats are the paper's first test: where b takes over from a, twice its row, and c from b. */
template <class T> DM_DEVICE bool dominated(bool floats, const node<T> *a, const node<T> *b, const node<T> *c) {
    typedef typename T::product product;
    if (floats)
        return (double)(b->h - a->h) / (b->at - a->at) >= (double)(c->h - b->h) / (c->at - b->at);
    return (product)(b->h - a->h) * (c->at - b->at) >= (product)(c->h - b->h) * (b->at - a->at);
}

/* A thread to a column's band. Grid: columns, bands. Reads a word per element, writes a word, and a link towards higher
 * rows where there are several bands, for each candidate that comes onto the stack; reads one for each that leaves it. */
template <class T, bool Z>
static __global__ void __launch_bounds__(PBA_THREADS)
    points(const __grid_constant__ pba_work w, const __grid_constant__ pba_pass p) {
    typedef typename T::word word;
    const int32_t band = (int32_t)blockIdx.y, from = band * p.band;
    const int32_t to = p.length - from < p.band ? p.length : from + p.band;
    for (int64_t i = (int64_t)blockIdx.x * PBA_THREADS + threadIdx.x; i < p.columns;
         i += (int64_t)gridDim.x * PBA_THREADS) {
        const pba_column<T> c = pba_column_make<T, Z>(&w, &p, i);
        typename T::link *next = p.next ? (typename T::link *)p.next + c.first : NULL;
        int32_t first = -1;
        node<T> last = {-1, -1, 0}, under = {-1, -1, 0}; /* the top of the stack, and what is under it */
        word ahead = pba_load(&c, from); /* of the row that comes next: fetched while this one is dealt with */
        for (int32_t at = from; at < to; at++) {
            const word v = ahead;
            ahead = pba_load(&c, at + 1 < to ? at + 1 : at);
            if (v == pba_none<word>())
                continue;
            node<T> made;
            made.at = at;
            made.h = pba_squared<T, Z>(&w, pba_across<T, Z>(&w, &c, v), 0, at);
            while (last.at != first && dominated<T>(w.floats, &under, &last, &made)) {
                last = under;
                if (last.at != first)
                    under = node_at<T, Z>(&w, &c, last.link);
            }
            if (first < 0) {
                first = at;
                made.link = at;
            } else {
                made.link = last.at;
                if (next && !w.converts)
                    next[pba_step(&c, last.at)] = (typename T::link)at;
            }
            c.words[pba_step(&c, at)] = pba_with_link<T, Z>(&w, v, made.link);
            under = last;
            last = made;
        }
        p.end[pba_place(band, p.columns, i)] = {first, last.at};
    }
}

/* A thread to a column's pair of lists, which take `bands` bands each and have their ends at their first bands. Grid:
 * columns, pairs. Reads 16 bytes of ends, and a word or two for each candidate that goes; writes 8 bytes of ends, a
 * word and a link. */
template <class T, bool Z>
static __global__ void __launch_bounds__(PBA_THREADS)
    merge(const __grid_constant__ pba_work w, const __grid_constant__ pba_pass p, int32_t bands) {
    const int32_t low = (int32_t)blockIdx.y * 2 * bands, high = low + bands;
    for (int64_t i = (int64_t)blockIdx.x * PBA_THREADS + threadIdx.x; i < p.columns;
         i += (int64_t)gridDim.x * PBA_THREADS) {
        pba_pair *const end = &p.end[pba_place(low, p.columns, i)];
        const pba_pair a = *end, b = p.end[pba_place(high, p.columns, i)];
        if (b.first < 0)
            continue;
        if (a.first < 0) {
            *end = b;
            continue;
        }
        const pba_column<T> c = pba_column_make<T, Z>(&w, &p, i);
        typename T::link *next = (typename T::link *)p.next + c.first;
        node<T> last = node_at<T, Z>(&w, &c, a.last), first = node_at<T, Z>(&w, &c, b.first);
        for (bool changed = true; changed;) {
            changed = false;
            while (last.at != a.first) {
                const node<T> under = node_at<T, Z>(&w, &c, last.link);
                if (!dominated<T>(w.floats, &under, &last, &first))
                    break;
                last = under;
                changed = true;
            }
            while (first.at != b.last) {
                const node<T> over = node_at<T, Z>(&w, &c, next[pba_step(&c, first.at)]);
                if (!dominated<T>(w.floats, &last, &first, &over))
                    break;
                first = over;
                changed = true;
            }
        }
        c.words[pba_step(&c, first.at)] = pba_with_link<T, Z>(&w, pba_load(&c, first.at), last.at);
        next[pba_step(&c, last.at)] = (typename T::link)first.at;
        *end = {a.first, b.last};
    }
}

/* A thread to a column's band. Grid: columns, bands. Goes through the list by its links and writes those the other way. */
template <class T, bool Z>
static __global__ void __launch_bounds__(PBA_THREADS)
    make_double(const __grid_constant__ pba_work w, const __grid_constant__ pba_pass p) {
    for (int64_t i = (int64_t)blockIdx.x * PBA_THREADS + threadIdx.x; i < p.columns;
         i += (int64_t)gridDim.x * PBA_THREADS) {
        const pba_column<T> c = pba_column_make<T, Z>(&w, &p, i);
        const pba_pair end = p.end[pba_place((int32_t)blockIdx.y, p.columns, i)];
        typename T::link *next = (typename T::link *)p.next + c.first;
        for (int32_t at = end.last; at != end.first;) {
            const int32_t before = pba_link<T, Z>(&w, pba_load(&c, at));
            next[pba_step(&c, before)] = (typename T::link)at;
            at = before;
        }
    }
}

/* A thread to a column. Goes through the merged list by the links towards higher rows and writes those in the words,
 * which hold them already: double lists are kept in the words and beside them. */
template <class T, bool Z>
static __global__ void __launch_bounds__(PBA_THREADS)
    make_single(const __grid_constant__ pba_work w, const __grid_constant__ pba_pass p) {
    for (int64_t i = (int64_t)blockIdx.x * PBA_THREADS + threadIdx.x; i < p.columns;
         i += (int64_t)gridDim.x * PBA_THREADS) {
        const pba_column<T> c = pba_column_make<T, Z>(&w, &p, i);
        const pba_pair end = p.end[i];
        const typename T::link *next = (const typename T::link *)p.next + c.first;
        for (int32_t at = end.first; at != end.last;) {
            const int32_t after = next[pba_step(&c, at)];
            c.words[pba_step(&c, after)] = pba_with_link<T, Z>(&w, pba_load(&c, after), at);
            at = after;
        }
    }
}

template <class T, bool Z> static cudaError_t launch(const pba_work *work, const pba_pass *pass, cudaStream_t stream) {
    const pba_work w = *work;
    const pba_pass p = *pass;
    const unsigned blocks = dm_blocks(p.columns, PBA_THREADS, PBA_MOST_BLOCKS);
    auto *const make = points<T, Z>;
    auto *const join = merge<T, Z>;
    auto *const to_double = make_double<T, Z>;
    auto *const to_single = make_single<T, Z>;
    DM_LAUNCH(make, dim3(blocks, (unsigned)p.bands), PBA_THREADS, 0, stream, w, p);
    if (w.converts && p.bands > 1)
        DM_LAUNCH(to_double, dim3(blocks, (unsigned)p.bands), PBA_THREADS, 0, stream, w, p);
    for (int32_t bands = 1; bands < p.bands; bands *= 2) {
        const int32_t pairs = (p.bands + bands - 1) / (2 * bands); /* those that have a second list */
        DM_LAUNCH(join, dim3(blocks, (unsigned)pairs), PBA_THREADS, 0, stream, w, p, bands);
    }
    if (w.converts && p.bands > 1)
        DM_LAUNCH(to_single, dim3(blocks), PBA_THREADS, 0, stream, w, p);
    return cudaGetLastError();
}

cudaError_t pba_points(const pba_work *w, const pba_pass *p, cudaStream_t stream) {
    if (w->narrow)
        return p->z ? launch<pba_narrow, true>(w, p, stream) : launch<pba_narrow, false>(w, p, stream);
    return p->z ? launch<pba_wide, true>(w, p, stream) : launch<pba_wide, false>(w, p, stream);
}
