/* Elements without data: those of the value that the file, or --nodata-value, says means nothing.
 *
 * Where sites are told from all else (a mask) such an element is a site, or an object, which is measured like any other element
 * that is no site; or it is ignored: no site, and nothing is told of it. That is the default, since a file that says that there is
 * nothing says neither that there is an object nor that there is none; --nodata site and object are for whoever knows better.
 *
 * An element's part is changed in a copy of the input, to a value that has the part by the rule of sites. What is ignored is
 * remembered, and has no distance in the result. Where there is no distance the result has a value that says so: --fill, or the
 * file's own, as far as the result's type holds it.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- Which elements ---- */

static bool is_float(distmap_dtype dtype) { return dtype == DISTMAP_FLOAT32 || dtype == DISTMAP_FLOAT64; }

/* The value as elements of that type have it. */
static distmap_sites rule_of(double value, distmap_dtype dtype) {
    const double as_stored = dtype == DISTMAP_FLOAT32 && isfinite(value) ? (double)(float)value : value;
    return (distmap_sites){.rule = DISTMAP_SITES_VALUE, .lo = as_stored, .hi = as_stored};
}

static void find_nans(const char *at, distmap_dtype dtype, int64_t stride, int64_t count, uint8_t *found) {
    for (int64_t i = 0; i < count; i++)
        found[i] = is_float(dtype) && isnan(element_value(at + i * stride, dtype));
}

/* The first element of a row, rows being counted in the order of the shape. */
static char *row_at(const distmap_view *view, int64_t row) {
    char *at = view->data;
    for (int a = view->ndim - 2; a >= 0; row /= view->shape[a--])
        at += row % view->shape[a] * view->strides[a];
    return at;
}

int64_t nodata_find(const distmap_view *view, double value, uint8_t *found) {
    const distmap_sites rule = rule_of(value, view->dtype);
    const int last = view->ndim - 1;
    const int64_t width = view->shape[last], rows = element_count(last, view->shape);
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row++) {
        uint8_t *of_row = found + row * width;
        if (isnan(value))
            find_nans(row_at(view, row), view->dtype, view->strides[last], width, of_row);
        else
            elements_sites(row_at(view, row), view->dtype, view->strides[last], width, &rule, of_row);
        for (int64_t i = 0; i < width; i++)
            count += of_row[i];
    }
    return count;
}

/* ---- Their part ---- */

bool element_store(double value, distmap_dtype dtype, void *element) {
    double least, most;
    if (dtype == DISTMAP_FLOAT64)
        return memcpy(element, &value, sizeof value) != NULL;
    if (dtype == DISTMAP_FLOAT32) {
        const float single = (float)value;
        memcpy(element, &single, sizeof single);
        return !isfinite(value) || isfinite(single);
    }
    dtype_limits(dtype, &least, &most);
    if (!(value >= least && value <= most && value == floor(value)) || fabs(value) >= 0x1p63)
        return false;
    const int64_t whole = (int64_t)value; /* the machine's bytes come lowest first */
    memcpy(element, &whole, distmap_dtype_size(dtype));
    return true;
}

static bool is_site(const void *element, distmap_dtype dtype, const distmap_sites *sites) {
    uint8_t site;
    elements_sites(element, dtype, 0, 1, sites, &site);
    return site;
}

/* A value of the type that is a site, or none. */
static bool find_value(distmap_dtype dtype, const distmap_sites *sites, bool site, void *element) {
    const double choices[] = {0,
                              1,
                              sites->lo,
                              sites->hi,
                              ceil(sites->lo),
                              floor(sites->hi),
                              -DBL_MAX,
                              DBL_MAX,
                              ceil(sites->lo) - 1,
                              floor(sites->hi) + 1,
                              -FLT_MAX,
                              FLT_MAX};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (isfinite(choices[i]) && element_store(choices[i], dtype, element) && is_site(element, dtype, sites) == site)
            return true;
    return false;
}

bool nodata_applies(const struct source *source, const struct options *options) {
    return source->info->has_nodata && options->command->bit & (SHAPES | COMPARE);
}

/* Who can have elements that are neither sites nor objects. */
static bool can_ignore(const struct options *options) {
    return options->command->bit & (DISTANCES | COMPARE) && !options->is_signed &&
           !(options->labels && options->command->bit == EDT);
}

bool nodata_ignores(const struct source *source, const struct options *options) {
    return nodata_applies(source, options) && options->nodata == NODATA_IGNORE;
}

int nodata_part(const struct source *source, const struct options *options, const distmap_problem *problem,
                distmap_view *view, const uint8_t *found, int64_t count) {
    const double value = source->info->nodata;
    const distmap_dtype dtype = view->dtype;
    const size_t size = distmap_dtype_size(dtype);
    char text[40], wanted[8] = {0}, own[8] = {0};
    const bool site = options->nodata == NODATA_SITE, ignored = options->nodata == NODATA_IGNORE;
    if (!count)
        return 0;
    if (ignored && !can_ignore(options))
        return fail("%s: %lld elements are no data (%s), which %s%s cannot leave out: say --nodata site or object",
                    source->name, (long long)count, number_text(value, text), options->command->name,
                    options->is_signed ? " --signed"
                    : options->labels  ? " --labels"
                                       : "");
    element_store(value, dtype, own);
    if (isnan(value) ? !site && !ignored : is_site(own, dtype, &problem->sites) == site)
        return 0; /* NaN is no site as it is; but what is ignored is not to be warned of */
    if (!find_value(dtype, &problem->sites, site, wanted))
        return fail("--nodata: of %s no value is %s", distmap_dtype_name(dtype), site ? "a site" : "none");
    const int last = view->ndim - 1;
    const int64_t width = view->shape[last], rows = element_count(last, view->shape);
    for (int64_t row = 0; row < rows; row++) {
        char *at = row_at(view, row);
        for (int64_t i = 0; i < width; i++)
            if (found[row * width + i])
                memcpy(at + i * view->strides[last], wanted, size);
    }
    return 0;
}

/* A row-major copy of the elements, which is the source's own. */
static int own_elements(struct source *source) {
    const distmap_view *from = &source->view;
    const size_t size = distmap_dtype_size(from->dtype);
    const int last = from->ndim - 1;
    const int64_t width = from->shape[last], rows = element_count(last, from->shape);
    if (source->buffer) /* that is one */
        return 0;
    char *copy = malloc((size_t)element_count(from->ndim, from->shape) * size + 1);
    if (!copy)
        return fail("%s: not enough memory for a copy of it", source->name);
    for (int64_t row = 0; row < rows; row++) {
        const char *at = row_at(from, row);
        for (int64_t i = 0; i < width; i++)
            memcpy(copy + (size_t)(row * width + i) * size, at + i * from->strides[last], size);
    }
    source->buffer = copy;
    source->view = distmap_view_make(copy, from->dtype, from->ndim, from->shape);
    return 0;
}

int nodata_apply(struct source *source, const struct options *options, const distmap_problem *problem) {
    int status;
    if (!nodata_applies(source, options))
        return 0;
    const int64_t elements = element_count(source->view.ndim, source->view.shape);
    uint8_t *found = malloc((size_t)elements + 1);
    if (!found)
        return fail("%s: not enough memory", source->name);
    source->nodata_count = elements ? nodata_find(&source->view, source->info->nodata, found) : 0;
    status = source->nodata_count ? own_elements(source) : 0;
    if (status == 0)
        status = nodata_part(source, options, problem, &source->view, found, source->nodata_count);
    if (status || !source->nodata_count || options->nodata != NODATA_IGNORE)
        free(found);
    else
        source->ignored = found;
    return status;
}

/* ---- Results ---- */

/* What says in a result that there is no distance, of either sign; of labels, that there is none. */
static bool is_none(const void *element, distmap_dtype dtype, bool of_labels) {
    static const unsigned char ones[8] = {255, 255, 255, 255, 255, 255, 255, 255}, zeros[8];
    return is_float(dtype) ? isinf(element_value(element, dtype))
                           : memcmp(element, of_labels ? zeros : ones, distmap_dtype_size(dtype)) == 0;
}

void nodata_erase(const distmap_view *result, const uint8_t *ignored, enum result_kind kind) {
    if (!ignored || !result->data)
        return;
    const size_t size = distmap_dtype_size(result->dtype);
    const int64_t elements = element_count(result->ndim, result->shape);
    char none[8];
    memset(none, kind == RESULT_LABELS ? 0 : 255, sizeof none); /* the largest distance, the index -1, label 0 */
    if (is_float(result->dtype))
        element_store(HUGE_VAL, result->dtype, none);
    for (int64_t i = 0; i < elements; i++)
        if (ignored[i])
            memcpy((char *)result->data + (size_t)i * size, none, size);
}

int fill_choose(struct fill *fill, const struct options *options, const distmap_image_info *info, distmap_dtype dtype,
                bool of_labels) {
    double least, most;
    char text[40];
    *fill = (struct fill){.of_labels = of_labels};
    if (!options->fill_given && !info->has_nodata)
        return 0;
    const double value = options->fill_given ? options->fill : info->nodata;
    fill->known = true;
    fill->written = element_store(value, dtype, fill->element);
    if (fill->written) {
        fill->value = isnan(value) ? value : element_value(fill->element, dtype);
        return 0;
    }
    if (options->fill_given)
        return fail("--fill: %s cannot hold %s", distmap_dtype_name(dtype), number_text(value, text));
    dtype_limits(dtype, &least, &most); /* what is there says it too */
    fill->value = of_labels ? 0 : most;
    return 0;
}

void fill_look(const distmap_view *result, const struct fill *fill, uint8_t *none) {
    const size_t size = distmap_dtype_size(result->dtype);
    const int64_t elements = element_count(result->ndim, result->shape);
    for (int64_t i = 0; i < elements; i++)
        none[i] = is_none((const char *)result->data + (size_t)i * size, result->dtype, fill->of_labels);
}

void fill_put(const distmap_view *result, struct fill *fill, const uint8_t *none) {
    if (!fill->written)
        return;
    const size_t size = distmap_dtype_size(result->dtype);
    const int64_t elements = element_count(result->ndim, result->shape);
    char *at = result->data;
    for (int64_t i = 0; i < elements; i++, at += size)
        if (none ? none[i] : is_none(at, result->dtype, fill->of_labels)) {
            memcpy(at, fill->element, size);
            fill->filled++;
        } else {
            fill->alike += memcmp(at, fill->element, size) == 0;
        }
}

void warn_of_fill(const struct options *options, const struct fill *fill) {
    char text[40];
    if (fill->alike)
        warn(options, "fill",
             "%s: %lld elements have the %s %s, which also says that there is none: choose another value by --fill",
             options->output, (long long)fill->alike, fill->of_labels ? "label" : "distance",
             number_text(fill->value, text));
}
