/* Elements without data, by passes. The first pass gives them their part as it reads them. What is ignored has squared distances like
 * all others, which the last pass needs for the elements around; so that takes away what is told of ignored elements at the end, and
 * reads the first pass's input once more to find them, by the boxes that it works on. Where the first pass gives the result, it does
 * both. The last pass reads that input too where it is of labels or sides, which panels need (src/slabs/kinds.c). */
#include <stdlib.h>
#include <string.h>

#include "pass.h"

static bool gives_result(const struct pass *p) { return p->last || p->steps.one_pass; }

static const struct source *source_of(const struct pass *p) { return p->last ? &p->gaps : &p->source; }

static const struct options *options_of(const struct pass *p) { return p->last ? &p->first : p->options; }

static bool applies(const struct pass *p) {
    const struct source *source = source_of(p);
    return source->info && nodata_applies(source, options_of(p));
}

/* Whether panels get labels or sides. */
static bool has_kinds(const struct pass *p) { return dms_kinds_of(&p->problem) != DMS_NO_KINDS && !p->steps.one_pass; }

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
    if (p->problem.input == DISTMAP_INPUT_LABELS || p->problem.sign)
        return fail(
            "%s: the last pass of %s reads the input in pieces, which a %s file does not allow (distmap edt --memory "
            "needs none)",
            p->options->input, p->problem.sign ? "a signed map" : "labels", p->source.info->format);
    return fail("%s: names a value for no data, which pass cannot ignore in a %s file (distmap edt can): use "
                "--nodata site or object",
                p->options->input, p->source.info->format);
}

int gaps_check(struct pass *p) {
    const int status = nodata_check(&p->source, p->options, &p->problem);
    const bool ignores = nodata_ignores(&p->source, p->options), kinds = dms_kinds_of(&p->problem) != DMS_NO_KINDS;
    if (!status && ignores && kinds)
        return nodata_refuse(p->options, "pass");
    return status || (!ignores && !kinds) ? status : check_boxes(p);
}

/* Kinds that do not belong to the squares would give wrong distances. */
static int check_same(struct pass *p, const char *identity) {
    const int status = source_identify(&p->gaps);
    if (status || strcmp(p->gaps.identity, identity) == 0)
        return status;
    return fail("%s: has changed since the first pass of %s: %s then, %s now", p->gaps.name, p->options->input,
                identity, p->gaps.identity);
}

int gaps_open(struct pass *p) {
    const char *identity = NULL;
    p->first = *p->options;
    if (!plan_source(p->before, &p->first, p->first_input, &identity))
        return 0;
    p->first.input = p->first_input;
    const int status = source_open(&p->gaps, &p->first);
    if (status)
        return status;
    const distmap_image_info *info = p->gaps.info;
    if (info->dtype != p->problem.dtype || info->ndim != p->problem.ndim ||
        memcmp(info->shape, p->problem.shape, (size_t)info->ndim * sizeof *info->shape) != 0)
        return fail("%s: is not the input of the first pass of %s", p->first_input, p->options->input);
    return dms_kinds_of(&p->problem) != DMS_NO_KINDS ? check_same(p, identity) : 0;
}

int gaps_end(const struct pass *p) { return *p->gaps.identity ? source_check_identity(&p->gaps) : 0; }

/* Squares do not say what the first pass's input has for no data; its plan does. */
int gaps_choose_fill(struct pass *p, distmap_dtype map) {
    if (gives_result(p)) {
        struct source source = p->source;
        distmap_image_info info = *source.info;
        source.info = &info;
        info.has_nodata |= p->last && plan_nodata(p->before, &info.nodata);
        return fill_choose(&p->fill, p->options, &source, map, RESULT_DISTANCES);
    }
    return p->options->fill_given ? fail("--fill: belongs to the last pass; the first pass writes squared distances")
                                  : 0;
}

double gaps_bytes(const struct pass *p, int64_t places) {
    const double elements = (double)places * (double)elements_of_place(p) * PIPELINE_SLOTS;
    return applies(p) ? elements * (double)(1 + (p->last && !has_kinds(p) ? distmap_dtype_size(p->problem.dtype) : 0))
                      : 0;
}

distmap_status gaps_hold(struct pass *p, int64_t places) {
    for (int slot = 0; slot < PIPELINE_SLOTS && applies(p); slot++) {
        TRY(steps_hold((char **)&p->ignored[slot], places * elements_of_place(p), 1));
        if (p->last && !has_kinds(p))
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
    const bool kinds = has_kinds(p);
    if (!count[p->divided] || !(applies(p) || (p->last && kinds)))
        return DISTMAP_OK;
    void *data = !p->last               ? p->steps.in[slot]
                 : !kinds               ? p->again[slot]
                 : p->steps.reads_image ? p->steps.image[slot]
                                        : p->steps.panel[slot].kind.data;
    distmap_view view = view_of(p, data, p->problem.dtype, count[p->divided]);
    if (p->last)
        TRY(distmap_reader_read_box(p->gaps.reader, first, count, view.data));
    if (!applies(p))
        return DISTMAP_OK;
    const int64_t found = nodata_find(&view, source_of(p)->info->nodata, p->ignored[slot]);
    if (!p->last || kinds) /* as nodata_check() saw */
        nodata_part(source_of(p), options_of(p), &p->problem, &view, p->ignored[slot], found);
    return DISTMAP_OK;
}

void gaps_finish(struct pass *p, int64_t places, int slot) {
    if (!gives_result(p) || !places)
        return;
    const struct sink *const sinks[] = {&p->map, &p->index};
    const uint8_t *ignored = applies(p) && nodata_ignores(source_of(p), options_of(p)) ? p->ignored[slot] : NULL;
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
