/* Elements without data: those of the value that the file, or --nodata-value, says means nothing.
 *
 * Where sites are told from all else (a mask) such an element is a site, or an object, which is measured like any other element
 * that is no site; or it is ignored: no site, and nothing is told of it. That is the default, since a file that says that there is
 * nothing says neither that there is an object nor that there is none; --nodata site and object are for whoever knows better.
 *
 * An element's part is changed in a copy of the input, to a value that has the part by the rule of sites. Ignored elements get the
 * part by which they have no say: no site of a map, nor of a shape's background or of a set that grows, but of a set that is eroded,
 * so that it is not eroded from there. Signed maps and labels, where no one part is such, take several runs (nodata_runs.c).
 *
 * What is ignored is remembered, and has nothing of its own in the result. There, and where there is no distance, the result has a
 * value that says so: --fill, or the file's own, as far as the result's type holds it.
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
    return source->info->has_nodata && options->command->bit & (SHAPES | COMPARE | CVT | PASS);
}

bool nodata_ignores(const struct source *source, const struct options *options) {
    return nodata_applies(source, options) && options->nodata == NODATA_IGNORE;
}

/* Whether ignored elements have no say as sites: in a set, whose sites are its elements, where it is eroded or opened. Zeros are sites
 * of labels and of weights: a background that labels may grow into, weights that draw no point. */
static bool ignored_are_sites(const struct options *options) {
    const distmap_morphology_step step = options->morphology.step;
    return options->command->bit == CVT ||
           (options->command->bit == MORPH &&
            (options->labels || step == DISTMAP_MORPHOLOGY_ERODE || step == DISTMAP_MORPHOLOGY_OPEN));
}

int nodata_set(const distmap_sites *sites, bool site, const distmap_view *view, const uint8_t *found) {
    const size_t size = distmap_dtype_size(view->dtype);
    char wanted[8] = {0};
    if (!find_value(view->dtype, sites, site, wanted))
        return fail("--nodata: %s has no value that is %s", distmap_dtype_name(view->dtype),
                    site ? "a site" : "not a site");
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

int nodata_part(const struct source *source, const struct options *options, const distmap_problem *problem,
                distmap_view *view, const uint8_t *found, int64_t count) {
    const double value = source->info->nodata;
    char own[8] = {0};
    const bool ignored = options->nodata == NODATA_IGNORE,
               site = ignored ? ignored_are_sites(options) : options->nodata == NODATA_SITE;
    if (!count)
        return 0;
    element_store(value, view->dtype, own);
    if (options->nodata == NODATA_OBJECT && problem->input == DISTMAP_INPUT_LABELS &&
        is_site(own, view->dtype, &problem->sites))
        return fail("--nodata object: %s has 0 for no data, but 0 is the background of labels", source->name);
    if (isnan(value) ? !site && !ignored : is_site(own, view->dtype, &problem->sites) == site)
        return 0; /* NaN is no site as it is; but what is ignored is not to be warned of */
    return nodata_set(&problem->sites, site, view, found);
}

int nodata_check(const struct source *source, const struct options *options, const distmap_problem *problem) {
    int64_t element[2] = {0}; /* of any type */
    const int64_t one[DISTMAP_MAX_NDIM] = {1, 1, 1, 1};
    distmap_view view = distmap_view_make(element, problem->dtype, problem->ndim, one);
    const uint8_t found = 1;
    return nodata_applies(source, options) ? nodata_part(source, options, problem, &view, &found, 1) : 0;
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

/* The value in a result that means no distance, of either sign, or no label. Marks have no such value. */
static bool is_none(const void *element, distmap_dtype dtype, enum result_kind kind) {
    static const unsigned char ones[8] = {255, 255, 255, 255, 255, 255, 255, 255}, zeros[8];
    return kind == RESULT_MARKS ? false
           : is_float(dtype)    ? isinf(element_value(element, dtype))
                                : memcmp(element, kind == RESULT_LABELS ? zeros : ones, distmap_dtype_size(dtype)) == 0;
}

void nodata_erase(const distmap_view *result, const uint8_t *ignored, enum result_kind kind) {
    if (!ignored || !result->data)
        return;
    const size_t size = distmap_dtype_size(result->dtype);
    const int64_t elements = element_count(result->ndim, result->shape);
    const bool zero = kind == RESULT_LABELS || kind == RESULT_MARKS;
    char none[8];
    memset(none, zero ? 0 : 255, sizeof none); /* the largest distance, the index -1, label 0, no mark */
    if (is_float(result->dtype) && !zero)
        element_store(HUGE_VAL, result->dtype, none);
    for (int64_t i = 0; i < elements; i++)
        if (ignored[i])
            memcpy((char *)result->data + (size_t)i * size, none, size);
}

bool nodata_leaves_none(const distmap_view *result, const uint8_t *ignored) {
    const size_t size = distmap_dtype_size(result->dtype);
    const int64_t elements = element_count(result->ndim, result->shape);
    for (int64_t i = 0; i < elements; i++)
        if (!ignored[i] && is_none((const char *)result->data + (size_t)i * size, result->dtype, RESULT_DISTANCES))
            return true;
    return false;
}

int nodata_check_mask(const struct source *source, const struct options *options, distmap_dtype dtype) {
    if (dtype != DISTMAP_BOOL || !nodata_ignores(source, options))
        return 0;
    return fail("--dtype: bool has no value for no data, which %s has; use uint8, or --nodata site or object",
                source->name);
}

int fill_choose(struct fill *fill, const struct options *options, const struct source *source, distmap_dtype dtype,
                enum result_kind kind) {
    const distmap_image_info *info = source->info;
    double least, most;
    char text[40];
    *fill = (struct fill){.kind = kind};
    if (kind == RESULT_MARKS && !nodata_ignores(source, options))
        return options->fill_given ? fail("--fill: no element of %s is ignored", source->name) : 0;
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
    if (is_float(dtype))
        fill->value = HUGE_VAL;
    else {
        dtype_limits(dtype, &least, &most);
        fill->value = kind == RESULT_LABELS ? 0 : most;
    }
    fill->written = kind == RESULT_MARKS; /* else what is there says it */
    if (fill->written)
        element_store(fill->value, dtype, fill->element);
    return 0;
}

void fill_look(const distmap_view *result, const struct fill *fill, uint8_t *none) {
    const size_t size = distmap_dtype_size(result->dtype);
    const int64_t elements = element_count(result->ndim, result->shape);
    for (int64_t i = 0; i < elements; i++)
        none[i] = is_none((const char *)result->data + (size_t)i * size, result->dtype, fill->kind);
}

void fill_put(const distmap_view *result, struct fill *fill, const uint8_t *none) {
    if (!fill->written)
        return;
    const size_t size = distmap_dtype_size(result->dtype);
    const int64_t elements = element_count(result->ndim, result->shape);
    char *at = result->data;
    for (int64_t i = 0; i < elements; i++, at += size)
        if (none ? none[i] : is_none(at, result->dtype, fill->kind)) {
            memcpy(at, fill->element, size);
            fill->filled++;
        } else {
            fill->alike += memcmp(at, fill->element, size) == 0;
        }
}

void warn_of_fill(const struct options *options, const struct fill *fill) {
    static const char *const nouns[] = {"distance", "index", "label", "value"};
    char text[40];
    if (fill->alike)
        warn(options, "fill",
             "%s: %lld elements have the %s %s, which also stands for none: choose another value by --fill",
             options->command->bit == CVT ? options->index : options->output, (long long)fill->alike, nouns[fill->kind],
             number_text(fill->value, text));
}
