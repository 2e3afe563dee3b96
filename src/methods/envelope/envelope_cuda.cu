/* envelope/cuda's kernels: see envelope_cuda.c. */
#include "cuda/elements.cuh"
#include "methods/envelope/envelope_cuda.h"

/* Elements k of the lists of neighbouring threads lie side by side. */
#define HULL_FUNCTION DM_DEVICE
#define HULL_AT(hull, k) (&(hull)->list[(k) * (hull)->apart])
#include "core/hull.h"

static_assert(sizeof(struct parabola) == ENVELOPE_PARABOLA_BYTES, "lists are measured by this");

enum { MOST_BLOCKS = 1 << 16 };

/* What each element offers by itself: its sample; 0 at the sites and at the labels' background. A thread to an element, in
 * turns. Reads the input, writes 8 or 16 bytes per element. */
static __global__ void __launch_bounds__(ENVELOPE_THREADS) load(const __grid_constant__ struct envelope_work w) {
    const dm_elements *e = &w.elements;
    const int64_t step = (int64_t)gridDim.x * ENVELOPE_THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * ENVELOPE_THREADS + threadIdx.x; i < e->elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(e, i, at);
        dm_value v = dm_value_none(e);
        if (e->input == DISTMAP_INPUT_SAMPLED)
            v = dm_element_value(e, at, &raised);
        else if (dm_element_is_zero(e, at, &raised))
            v.u64 = 0; /* the bits of 0.0 as well */
        ((dm_value *)w.value)[i] = v;
        if (w.site)
            w.site[i] = dm_value_is_none(e, v) ? DISTMAP_INDEX_NONE : i;
    }
    dm_raise(e, raised);
}

/* The line through `at` along `axis`, where at[axis] is 0, whose first element is `first`: its envelope in place. Labels:
 * each run of one label has its own, with the elements beyond its ends as candidates. */
DM_DEVICE void envelope_line(const struct envelope_work *w, int axis, int64_t at[DM_NDIM], int64_t first,
                             struct hull hull, bool f64) {
    const dm_elements *e = &w->elements;
    const bool labels = e->by_kind;
    const int64_t n = e->shape[axis], stride = e->linear[axis];
    union value *value = (union value *)w->value + first;
    int64_t *site = w->site ? w->site + first : NULL;
    union value zero;
    zero.u64 = 0;       /* the bits of 0.0 as well */
    unsigned known = 0; /* what load has raised already */
    hull.from = hull.to = 0;
    if (f64)
        hull.w2.f64 = e->w2f[axis];
    else
        hull.w2.u64 = e->w2[axis];
    for (; hull.to < n; hull.from = hull.to) {
        hull.to = n;
        hull.count = 0;
        if (labels) {
            at[axis] = hull.from;
            const int64_t label = dm_element_kind(e, at, &known);
            const bool background = dm_element_is_zero(e, at, &known);
            for (hull.to = hull.from + 1; hull.to < n; hull.to++) {
                at[axis] = hull.to;
                if (dm_element_kind(e, at, &known) != label)
                    break;
            }
            if (background)
                continue;
            if (hull.from > 0)
                hull_push(&hull, hull.from - 1, zero, first + (hull.from - 1) * stride, f64);
        }
        for (int64_t i = hull.from; i < hull.to; i++)
            if (!is_none(value[i * stride], f64))
                hull_push(&hull, i, value[i * stride], site ? site[i * stride] : -1, f64);
        if (hull.to < n)
            hull_push(&hull, hull.to, zero, first + hull.to * stride, f64);
        hull_fill(&hull, value, site, stride, f64);
    }
}

/* A thread to a line, in turns; lines that are neighbours along x go to neighbouring threads. Reads and writes 8 or 16 bytes
 * per element, and its list. */
static __global__ void __launch_bounds__(ENVELOPE_THREADS)
    step(const __grid_constant__ struct envelope_work w, int axis, int64_t threads) {
    const dm_elements *e = &w.elements;
    const int64_t thread = (int64_t)blockIdx.x * ENVELOPE_THREADS + threadIdx.x;
    if (thread >= threads)
        return;
    struct hull hull;
    hull.list = (struct parabola *)w.lists + thread;
    hull.apart = threads;
    for (int64_t line = thread; line < e->elements / e->shape[axis]; line += threads) {
        int64_t at[DM_NDIM] = {0}, first = 0, rest = line;
        for (int a = DM_X; a >= 0; a--) {
            if (a == axis)
                continue;
            at[a] = rest % e->shape[a];
            rest /= e->shape[a];
            first += at[a] * e->linear[a];
        }
        if (e->number == DM_F64)
            envelope_line(&w, axis, at, first, hull, true);
        else
            envelope_line(&w, axis, at, first, hull, false);
    }
}

/* A thread to an element, in turns. Reads 8 or 16 bytes per element, writes the outputs. */
static __global__ void __launch_bounds__(ENVELOPE_THREADS) emit(const __grid_constant__ struct envelope_work w) {
    const dm_elements *e = &w.elements;
    const int64_t step = (int64_t)gridDim.x * ENVELOPE_THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * ENVELOPE_THREADS + threadIdx.x; i < e->elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(e, i, at);
        dm_element_emit(e, at, ((const dm_value *)w.value)[i], w.site ? w.site[i] : DISTMAP_INDEX_NONE, &raised);
    }
    dm_raise(e, raised);
}

cudaError_t envelope_load(const struct envelope_work *work, cudaStream_t stream) {
    const struct envelope_work w = *work;
    DM_LAUNCH(load, dm_blocks(w.elements.elements, ENVELOPE_THREADS, MOST_BLOCKS), ENVELOPE_THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t envelope_step(const struct envelope_work *work, int axis, int64_t lines, cudaStream_t stream) {
    const struct envelope_work w = *work;
    DM_LAUNCH(step, dm_blocks(lines, ENVELOPE_THREADS, INT32_MAX), ENVELOPE_THREADS, 0, stream, w, axis, lines);
    return cudaGetLastError();
}

cudaError_t envelope_emit(const struct envelope_work *work, cudaStream_t stream) {
    const struct envelope_work w = *work;
    DM_LAUNCH(emit, dm_blocks(w.elements.elements, ENVELOPE_THREADS, MOST_BLOCKS), ENVELOPE_THREADS, 0, stream, w);
    return cudaGetLastError();
}
