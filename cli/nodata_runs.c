/* Elements that are ignored where no one part takes their say away: maps of two sides, and of labels.
 *
 * Signed maps. An object's distance goes to the nearest site and a site's to the nearest object, and what is ignored is neither. With
 * the ignored elements among the objects the objects' distances are right, with these among the sites the sites' are: two runs of
 * the same plan, and of each what it has right.
 *
 * Labels. Two labels differ in some bit, and two elements that differ in a bit have different labels. So the nearest element of
 * another label is the nearest of all that differ from it in bit b, over all b:
 *
 *     d(p) = min over b of d(p, { q not ignored: bit b of q is not that of p })
 *
 * which are maps of masks, two for each bit in which any labels differ, whatever the number of labels. Exact, since each is; of
 * equally near sites the first counts, since it is the first of its mask.
 *
 * Labels that shrink. A ball of radius R lies within one label, as far as anything is known, unless it has both values of some bit:
 * unless its centre is in both dilations, of the elements that have the bit and of those that do not. So these centres are found for
 * all labels at once. Eroded labels keep the elements that are such centres; opened ones what lies within R of a centre, wherever that
 * is: it has no other label near.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- What the runs share ---- */

static void *memory_for(const struct options *options, int64_t elements, size_t size) {
    void *memory = malloc((size_t)elements * size + 1);
    if (!memory)
        fail("%s: not enough memory for %lld elements", options->input, (long long)elements);
    return memory;
}

static inline uint64_t bits_at(const void *data, size_t size, int64_t i) {
    switch (size) {
    case 1: return ((const uint8_t *)data)[i];
    case 2: return ((const uint16_t *)data)[i];
    case 4: return ((const uint32_t *)data)[i];
    default: return ((const uint64_t *)data)[i];
    }
}

static uint64_t label_at(const distmap_view *view, int64_t i) {
    const uint64_t bits = bits_at(view->data, distmap_dtype_size(view->dtype), i);
    return view->dtype == DISTMAP_BOOL ? bits != 0 : bits;
}

/* A run whose time and flags are added to those of the runs before. */
static int run_again(struct work *work, const struct options *options, const distmap_arrays *arrays) {
    const double seconds = work->seconds;
    const unsigned flags = work->flags;
    const int status = work_run(work, options, arrays);
    work->seconds += seconds;
    work->flags |= flags;
    return status;
}

/* Parts of what is sought may have no site where the whole has one. */
static void judge_sites(struct job *job, const distmap_view *map) {
    job->work.flags &= ~(unsigned)DISTMAP_FLAG_NO_SITE;
    if (nodata_leaves_none(map, job->source.ignored))
        job->work.flags |= DISTMAP_FLAG_NO_SITE;
}

static int plan_anew(struct work *work, const struct options *options, const distmap_problem *problem) {
    distmap_plan_destroy(&work->plan);
    return work_plan(work, options, problem);
}

/* The outputs of one run, like those of the result; memory of their own. */
struct outputs {
    distmap_view map, index;
    distmap_view squares; /* to tell distances apart that round to the same; data NULL: not needed */
};

static int make_like(distmap_view *view, const struct options *options, const distmap_problem *problem,
                     distmap_dtype dtype) {
    void *data = NULL;
    if (dtype && !(data = memory_for(options, element_count(problem->ndim, problem->shape), distmap_dtype_size(dtype))))
        return EXIT_FAILED;
    if (data)
        *view = distmap_view_make(data, dtype, problem->ndim, problem->shape);
    return 0;
}

static void let_go(struct outputs *outputs) {
    free(outputs->map.data);
    free(outputs->index.data);
    free(outputs->squares.data);
}

static distmap_arrays arrays_of(const struct outputs *outputs, const struct options *options, distmap_view input) {
    distmap_arrays arrays = {.input = input, .index = outputs->index, .squared = outputs->squares};
    *(options->squared ? &arrays.squared : &arrays.distance) = outputs->map;
    return arrays;
}

static void take(const distmap_view *to, const distmap_view *from, int64_t i) {
    const size_t size = distmap_dtype_size(to->dtype);
    if (to->data)
        memcpy((char *)to->data + (size_t)i * size, (const char *)from->data + (size_t)i * size, size);
}

int nodata_refuse(const struct options *options, const char *option) {
    return fail("%s: %s names a value for no data, which %s can ignore in memory only: use --nodata site or object",
                option, options->input, options->labels ? "labels" : "signed maps");
}

/* ---- Signed maps ---- */

int signed_run(struct job *job, const struct options *options, const distmap_arrays *arrays) {
    const distmap_problem *problem = &job->problem;
    const int64_t elements = element_count(problem->ndim, problem->shape);
    const distmap_view *view = &job->source.view, *map = options->squared ? &arrays->squared : &arrays->distance;
    struct outputs other = {0};
    uint8_t *site = memory_for(options, elements, 1);
    int status = site ? 0 : EXIT_FAILED;
    if (status || (status = make_like(&other.map, options, problem, map->dtype)) ||
        (status = make_like(&other.index, options, problem, problem->want.index)) ||
        (status = run_again(&job->work, options, arrays)))
        goto done;
    elements_sites(view->data, view->dtype, (int64_t)distmap_dtype_size(view->dtype), elements, &problem->sites, site);
    const distmap_arrays others = arrays_of(&other, options, *view);
    if ((status = nodata_set(&problem->sites, true, view, job->source.ignored)) ||
        (status = run_again(&job->work, options, &others)) ||
        (status = nodata_set(&problem->sites, false, view, job->source.ignored)))
        goto done;
    for (int64_t i = 0; i < elements; i++)
        if (site[i]) {
            take(map, &other.map, i);
            take(&arrays->index, &other.index, i);
        }
    judge_sites(job, map);
done:
    let_go(&other);
    free(site);
    return status;
}

/* ---- Labels ---- */

/* The bits in which labels of elements that are not ignored differ; from 0 too, with `from_zero`. */
static uint64_t bits_that_differ(const struct source *source, bool from_zero) {
    const int64_t elements = element_count(source->view.ndim, source->view.shape);
    uint64_t some = 0, all = from_zero ? 0 : UINT64_MAX;
    for (int64_t i = 0; i < elements; i++)
        if (!source->ignored[i]) {
            const uint64_t label = label_at(&source->view, i);
            some |= label;
            all &= label;
        }
    return some & ~all;
}

/* 1 at elements that are not ignored and whose bit is `on`. */
static void make_mask(const struct source *source, int bit, bool on, uint8_t *mask) {
    const int64_t elements = element_count(source->view.ndim, source->view.shape);
    for (int64_t i = 0; i < elements; i++)
        mask[i] = !source->ignored[i] && (label_at(&source->view, i) >> bit & 1) == on;
}

/* The problem of one bit. For indices distances are compared by their squares, which do not round. */
static distmap_problem problem_of_bit(const struct job *job, const struct options *options) {
    static const distmap_dtype exact[] = {DISTMAP_UINT32, DISTMAP_UINT64, DISTMAP_FLOAT64};
    distmap_problem problem = job->problem;
    problem.input = DISTMAP_INPUT_MASK;
    problem.dtype = DISTMAP_UINT8;
    problem.sites = (distmap_sites){.rule = DISTMAP_SITES_NONZERO};
    size_t bytes;
    for (int i = 0; i < 3 && options->index && problem.metric == DISTMAP_METRIC_EUCLIDEAN && !options->squared; i++) {
        problem.want.squared = exact[i];
        if (distmap_scratch_bytes(job->work.context, &problem, NULL, &bytes) == DISTMAP_OK)
            break;
    }
    return problem;
}

/* Takes what is nearer than the best so far, of elements whose bit is not `on`; of equals the first site, and the border last. */
static void take_nearer(const struct source *source, int bit, bool on, const struct outputs *best,
                        const struct outputs *found) {
    const distmap_view *key = best->squares.data ? &best->squares : &best->map,
                       *new_key = best->squares.data ? &found->squares : &found->map;
    const int64_t elements = element_count(key->ndim, key->shape);
    const size_t size = distmap_dtype_size(key->dtype), index_size = distmap_dtype_size(best->index.dtype);
    for (int64_t i = 0; i < elements; i++) {
        if (source->ignored[i] || (label_at(&source->view, i) >> bit & 1) == on)
            continue;
        /* floats order as their bits do */
        const uint64_t had = bits_at(key->data, size, i), got = bits_at(new_key->data, size, i);
        if (got < had || (got == had && best->index.data &&
                          bits_at(found->index.data, index_size, i) < bits_at(best->index.data, index_size, i))) {
            take(&best->map, &found->map, i);
            take(&best->index, &found->index, i);
            take(&best->squares, &found->squares, i);
        }
    }
}

/* The background is its own site. */
static void take_background(const struct source *source, const struct outputs *best) {
    const int64_t elements = element_count(source->view.ndim, source->view.shape);
    const size_t size = distmap_dtype_size(best->map.dtype), index_size = distmap_dtype_size(best->index.dtype);
    for (int64_t i = 0; i < elements; i++)
        if (!source->ignored[i] && label_at(&source->view, i) == 0) {
            memset((char *)best->map.data + (size_t)i * size, 0, size);
            if (best->index.data)
                memcpy((char *)best->index.data + (size_t)i * index_size, &i, index_size);
        }
}

int labels_run(struct job *job, const struct options *options, const distmap_arrays *arrays) {
    const distmap_problem problem = problem_of_bit(job, options);
    const struct source *source = &job->source;
    const int64_t elements = element_count(problem.ndim, problem.shape);
    uint64_t bits = bits_that_differ(source, false);
    struct outputs found = {0},
                   best = {.map = options->squared ? arrays->squared : arrays->distance, .index = arrays->index};
    const distmap_dtype squares = options->squared ? DISTMAP_NONE : problem.want.squared;
    uint8_t *mask = memory_for(options, elements, 1);
    int status = mask ? plan_anew(&job->work, options, &problem) : EXIT_FAILED;
    if (status || (status = make_like(&found.map, options, &problem, best.map.dtype)) ||
        (status = make_like(&found.index, options, &problem, problem.want.index)) ||
        (status = make_like(&found.squares, options, &problem, squares)) ||
        (status = make_like(&best.squares, options, &problem, squares)))
        goto done;
    memset(mask, 1, (size_t)elements); /* nothing is found yet */
    nodata_erase(&best.map, mask, RESULT_DISTANCES);
    nodata_erase(&best.squares, mask, RESULT_DISTANCES);
    nodata_erase(&best.index, mask, RESULT_INDICES);
    const distmap_view input = distmap_view_make(mask, DISTMAP_UINT8, problem.ndim, problem.shape);
    const distmap_arrays runs = arrays_of(&found, options, input);
    bits = bits ? bits : 1; /* one label alone: there may be a border */
    for (int bit = 0; bit < 64; bit++)
        for (int on = 0; on < 2 && bits >> bit & 1; on++) {
            make_mask(source, bit, on, mask);
            if ((status = run_again(&job->work, options, &runs)))
                goto done;
            take_nearer(source, bit, on, &best, &found);
        }
    if (job->problem.sites.rule != DISTMAP_SITES_NONE)
        take_background(source, &best);
    judge_sites(job, &best.map);
done:
    free(best.squares.data);
    let_go(&found);
    free(mask);
    return status;
}

/* ---- Labels that shrink ---- */

int labels_shrink(struct job *job, const struct options *options, const distmap_arrays *arrays) {
    distmap_problem problem = problem_of_bit(job, options);
    const struct source *source = &job->source;
    const int64_t elements = element_count(problem.ndim, problem.shape);
    const uint64_t bits = bits_that_differ(source, true);
    const bool beyond = problem.morphology.outside; /* labels go on there, else it is background, which has no bit */
    uint8_t *memory = memory_for(options, elements, 4), *mask = memory, *both = memory + 3 * elements;
    int status = memory ? 0 : EXIT_FAILED;
    if (status)
        return status;
    problem.want = (distmap_outputs){.mask = DISTMAP_UINT8};
    problem.morphology.step = DISTMAP_MORPHOLOGY_DILATE;
    distmap_arrays runs = {.input = distmap_view_make(mask, DISTMAP_UINT8, problem.ndim, problem.shape)};
    memset(both, 0, (size_t)elements);
    for (int bit = 0; bit < 64; bit++) {
        if (!(bits >> bit & 1))
            continue;
        for (int on = 0; on < 2; on++) {
            problem.morphology.outside = !on && !beyond;
            runs.mask = distmap_view_make(memory + (1 + on) * elements, DISTMAP_UINT8, problem.ndim, problem.shape);
            make_mask(source, bit, on, mask);
            if ((status = plan_anew(&job->work, options, &problem)) || (status = run_again(&job->work, options, &runs)))
                goto done;
        }
        for (int64_t i = 0; i < elements; i++)
            both[i] |= memory[elements + i] & memory[2 * elements + i];
    }
    uint8_t *kept = memory + elements;
    for (int64_t i = 0; i < elements; i++)
        mask[i] = kept[i] = !both[i];
    problem.morphology.outside = false;
    runs.mask = distmap_view_make(kept, DISTMAP_UINT8, problem.ndim, problem.shape);
    if (job->problem.morphology.step == DISTMAP_MORPHOLOGY_OPEN &&
        ((status = plan_anew(&job->work, options, &problem)) || (status = run_again(&job->work, options, &runs))))
        goto done;
    const distmap_view *out = &arrays->label;
    const size_t size = distmap_dtype_size(out->dtype), in_size = distmap_dtype_size(source->view.dtype);
    for (int64_t i = 0; i < elements; i++) {
        const double value = element_value((const char *)source->view.data + (size_t)i * in_size, source->view.dtype);
        int64_t label = (int64_t)label_at(&source->view, i);
        label = value < 0 ? label | (in_size < 8 ? -((int64_t)1 << 8 * in_size) : 0) : label; /* with its sign */
        label = kept[i] ? label : 0;
        memcpy((char *)out->data + (size_t)i * size, &label, size);
    }
done:
    free(memory);
    return status;
}
