/* Elements without data, by passes. The first pass gives them their part as it reads them. What is ignored has squared distances like
 * all others, which the last pass needs for the elements around; so that takes away what is told of ignored elements at the end, and
 * reads the first pass's input once more to find them, by the boxes that it works on. Where the first pass gives the result, it does
 * both. */
#include <stdlib.h>
#include <string.h>

#include "pass.h"

static bool gives_result(const struct pass *p) { return p->last || p->steps.one_pass; }

static const struct source *source_of(const struct pass *p) { return p->last ? &p->gaps : &p->source; }

static bool applies(const struct pass *p) {
    const struct source *source = source_of(p);
    return source->info && nodata_applies(source, p->options);
}

static int64_t elements_of_place(const struct pass *p) {
    return element_count(p->problem.ndim, p->problem.shape) / p->problem.shape[p->divided];
}

/* The last pass finds them by boxes, which not every format has. */
static int check_boxes(const struct pass *p) {
    const int64_t first[DISTMAP_MAX_AXES] = {0}, count[DISTMAP_MAX_AXES] = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t element[2];
    if (element_count(p->problem.ndim, p->problem.shape) == 0 ||
        distmap_reader_read_box(p->source.reader, first, count, element) == DISTMAP_OK)
        return 0;
    return fail("%s: names a value for no data, which pass cannot ignore in a %s file (distmap edt can): use "
                "--nodata site or object",
                p->options->input, p->source.info->format);
}

int gaps_check(struct pass *p) {
    const int status = nodata_check(&p->source, p->options, &p->problem);
    return status || !nodata_ignores(&p->source, p->options) ? status : check_boxes(p);
}

int gaps_open(struct pass *p) {
    struct options first = *p->options;
    const char *input = NULL;
    if (!plan_gaps(p->before, &first, &input))
        return 0;
    first.input = (char *)input;
    const int status = source_open(&p->gaps, &first);
    if (status)
        return status;
    const distmap_image_info *info = p->gaps.info;
    if (info->dtype != p->problem.dtype || info->ndim != p->problem.ndim ||
        memcmp(info->shape, p->problem.shape, (size_t)info->ndim * sizeof *info->shape) != 0)
        return fail("%s: is not the input of the first pass of %s", input, p->options->input);
    return 0;
}

/* Squares do not say what the first pass's input has for no data; its plan does. */
int gaps_choose_fill(struct pass *p, distmap_dtype map) {
    if (gives_result(p)) {
        struct source source = p->source;
        distmap_image_info info = *source.info;
        source.info = &info;
        info.has_nodata |= p->last && plan_nodata(p->before, &info.nodata);
        return fill_choose(&p->fill, p->options, &source, map, RESULT_DISTANCES);
    }
    return p->options->fill_given ? fail("--fill: belongs to the last pass; the first pass writes squared distances") : 0;
}

double gaps_bytes(const struct pass *p, int64_t places) {
    const double elements = (double)places * (double)elements_of_place(p) * PIPELINE_SLOTS;
    return applies(p) ? elements * (double)(1 + (p->last ? distmap_dtype_size(p->problem.dtype) : 0)) : 0;
}

distmap_status gaps_hold(struct pass *p, int64_t places) {
    for (int slot = 0; slot < PIPELINE_SLOTS && applies(p); slot++) {
        TRY(steps_hold((char **)&p->ignored[slot], places * elements_of_place(p), 1));
        if (p->last)
            TRY(steps_hold(&p->again[slot], places * elements_of_place(p), distmap_dtype_size(p->problem.dtype)));
    }
    return DISTMAP_OK;
}

void gaps_let_go(struct pass *p) {
    for (int slot = 0; slot < PIPELINE_SLOTS; slot++) {
        free(p->ignored[slot]);
        free(p->again[slot]);
        p->ignored[slot] = NULL;
        p->again[slot] = NULL;
    }
}

static distmap_view view_of(const struct pass *p, void *data, distmap_dtype dtype, int64_t places) {
    int64_t count[DISTMAP_MAX_NDIM];
    memcpy(count, p->problem.shape, sizeof count);
    count[p->divided] = places;
    return distmap_view_make(data, dtype, p->problem.ndim, count);
}

distmap_status gaps_fetch(struct pass *p, const int64_t *first, const int64_t *count, int slot) {
    if (!applies(p) || !count[p->divided])
        return DISTMAP_OK;
    const distmap_dtype dtype = p->problem.dtype;
    distmap_view view = view_of(p, p->last ? p->again[slot] : p->steps.in[slot], dtype, count[p->divided]);
    if (p->last)
        TRY(distmap_reader_read_box(p->gaps.reader, first, count, view.data));
    const int64_t found = nodata_find(&view, source_of(p)->info->nodata, p->ignored[slot]);
    if (!p->last)
        nodata_part(&p->source, p->options, &p->problem, &view, p->ignored[slot], found); /* as nodata_check() saw */
    return DISTMAP_OK;
}

void gaps_finish(struct pass *p, int64_t places, int slot) {
    if (!gives_result(p) || !places)
        return;
    const struct sink *const sinks[] = {&p->map, &p->index};
    const uint8_t *ignored = applies(p) && nodata_ignores(source_of(p), p->options) ? p->ignored[slot] : NULL;
    for (int r = 0; r < 2; r++) {
        if (!sinks[r]->path)
            continue;
        void *data = p->last ? steps_panel_result(&p->steps.panel[slot], r)->data : p->steps.out[slot][r];
        const distmap_view view = view_of(p, data, sinks[r]->info.dtype, places);
        nodata_erase(&view, ignored, r ? RESULT_INDICES : RESULT_DISTANCES);
        if (r == 0 && ignored)
            p->steps.largest[slot] = elements_largest(&view);
        if (r == 0)
            fill_put(&view, &p->fill, NULL);
    }
}
