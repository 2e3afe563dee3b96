/* The colours of previews, pixel by pixel.
 *
 * Distances are interpolated between elements. With the map's slope (one per unit, almost everywhere; with weights, as many times
 * more as a step costs) |d - k step| / (slope pitch) is how many pixels away iso-line k is, which gives lines of even width with
 * smooth edges.
 */
#include "preview_paint.h"

#include <math.h>
#include <string.h>

enum { PIECES = 10 };

/* The address of a panel's element (0, 0): the middle of the axes that it does not show. */
static const char *panel_origin(const struct panel *panel, const distmap_view *view) {
    const char *at = view->data;
    for (int a = 0; a < view->ndim; a++)
        if (a != panel->down && a != panel->across)
            at += view->shape[a] / 2 * view->strides[a];
    return at;
}

static const char *at_element(const char *origin, const struct panel *panel, const distmap_view *view, int64_t down,
                              int64_t across) {
    return origin + across * view->strides[panel->across] + (panel->down < 0 ? 0 : down * view->strides[panel->down]);
}

/* ---- Distances ---- */

static double distance_at(const struct painter *painter, const char *at) {
    double value = HUGE_VAL;
    switch (painter->view->dtype) {
    case DISTMAP_FLOAT32: value = *(const float *)at; break;
    case DISTMAP_FLOAT64: value = *(const double *)at; break;
    case DISTMAP_UINT16: value = *(const uint16_t *)at == UINT16_MAX ? HUGE_VAL : *(const uint16_t *)at; break;
    case DISTMAP_UINT32: value = *(const uint32_t *)at == UINT32_MAX ? HUGE_VAL : *(const uint32_t *)at; break;
    case DISTMAP_UINT64: value = *(const uint64_t *)at == UINT64_MAX ? HUGE_VAL : (double)*(const uint64_t *)at; break;
    default: break;
    }
    return painter->squared ? copysign(sqrt(fabs(value)), value) : value;
}

/* How fast the map rises within the picture, per unit: of distances 1 almost everywhere, less where the nearest site is out
 * of a slice, or on a ridge; with city-block distances up to the root of 2. Not below a half, so that lines do not break on
 * ridges. */
static double slope(const struct painter *painter, const struct panel *panel, double a, double b, double c, double d) {
    const double *spacing = painter->problem->spacing;
    const double across = (b - a + d - c) / (2 * spacing[panel->across]);
    const double down = panel->down < 0 ? 0 : (c - a + d - b) / (2 * spacing[panel->down]);
    if (painter->strengths)
        return fmax(hypot(across, down), 1e-9);
    const distmap_problem *problem = painter->problem;
    const double most = problem->sign ? 2 : problem->metric == DISTMAP_METRIC_EUCLIDEAN ? 1 : sqrt(2);
    return painter->unit * fmin(fmax(hypot(across, down) / painter->unit, 0.5), most);
}

uint8_t paint_distance(const struct painter *painter, const struct panel *panel, between down, between across) {
    const distmap_view *view = painter->view;
    const char *origin = panel_origin(panel, view);
    const double a = distance_at(painter, at_element(origin, panel, view, down.low, across.low));
    const double b = distance_at(painter, at_element(origin, panel, view, down.low, across.high));
    const double c = distance_at(painter, at_element(origin, panel, view, down.high, across.low));
    const double d = distance_at(painter, at_element(origin, panel, view, down.high, across.high));
    double value = (1 - down.part) * ((1 - across.part) * a + across.part * b) +
                   down.part * ((1 - across.part) * c + across.part * d);
    if (!isfinite(value)) /* infinity takes part, perhaps times 0: the nearest element counts */
        value = down.part < 0.5 ? (across.part < 0.5 ? a : b) : (across.part < 0.5 ? c : d);
    if (!isfinite(value))
        return COLOUR_NO_SITE;
    const bool is_signed = painter->problem->sign;
    const double of_largest = painter->largest > 0 ? fmin(value / painter->largest, 1) : 0;
    const double share = is_signed ? (1 + fmax(of_largest, -1)) / 2 : of_largest;
    const double line = nearbyint(value / painter->step);
    const double from_line = fabs(value - line * painter->step) / (painter->pitch * slope(painter, panel, a, b, c, d));
    /* What needs no line: the sites, and the plain of strength 1; thickness is all plains. A signed map is 0 along the shape's outline. */
    const bool is_end = (line < 0.5 && !is_signed) || (painter->strengths && line * painter->step > 0.999) ||
                        painter->problem->field == DISTMAP_FIELD_THICKNESS;
    const double cover = is_end ? 0 : fmin(fmax(1.1 - from_line, 0), 1);
    const int level = (int)(cover * (LINE_LEVELS - 1) + 0.5), tone = (int)(share * (DISTANCE_TONES - 1) + 0.5);
    return (uint8_t)(COLOUR_FIRST + level * DISTANCE_TONES + tone);
}

/* ---- Regions ---- */

static uint64_t label_at(const distmap_view *view, const char *at) {
    uint64_t value = 0; /* the label's bits: only equality matters (little end first) */
    memcpy(&value, at, distmap_dtype_size(view->dtype));
    return value;
}

/* The piece that a site belongs to: sites are cut by a grid of PIECES along the longest side. */
static uint64_t piece_of(const distmap_problem *problem, int64_t site) {
    double longest = 0;
    for (int a = 0; a < problem->ndim; a++)
        longest = fmax(longest, preview_extent(problem, a));
    uint64_t piece = 0;
    for (int a = problem->ndim - 1; a >= 0; a--) {
        const double at = (double)(site % problem->shape[a]) * problem->spacing[a];
        piece = piece * (PIECES + 1) + (uint64_t)(at * PIECES / longest);
        site /= problem->shape[a];
    }
    return piece + 1;
}

static int colour_of(uint64_t label) {
    label = (label ^ label >> 30) * 0xbf58476d1ce4e5b9; /* splitmix64's finish: neighbours' numbers differ by little */
    label = (label ^ label >> 27) * 0x94d049bb133111eb;
    return (int)((label ^ label >> 31) % REGION_COLOURS);
}

uint8_t paint_region(const struct painter *painter, const struct panel *panel, between down, between across) {
    const distmap_view *view = painter->view, *sites = painter->sites, *index = painter->index;
    const int64_t row = down.part < 0.5 ? down.low : down.high, column = across.part < 0.5 ? across.low : across.high;
    uint64_t label = label_at(view, at_element(panel_origin(panel, view), panel, view, row, column));
    if (label == 0 && !painter->losses)
        return COLOUR_NO_SITE;
    uint8_t site;
    elements_sites(at_element(panel_origin(panel, sites), panel, sites, row, column), sites->dtype, 0, 1,
                   &painter->problem->sites, &site);
    if (label == 0)
        return site ? COLOUR_EDGE : COLOUR_NO_SITE;
    if (index->data) {
        if (site)
            return COLOUR_EDGE;
        const char *at = at_element(panel_origin(panel, index), panel, index, row, column);
        label = piece_of(painter->problem, index->dtype == DISTMAP_INT32 ? *(const int32_t *)at : *(const int64_t *)at);
    }
    return (uint8_t)(COLOUR_FIRST + colour_of(label) + (site ? REGION_COLOURS : 0));
}

/* ---- Marks ---- */

/* Elements i to j of an axis that a pixel covers, at least the nearest one. */
static void covered(const struct painter *painter, int axis, between at, int64_t *first, int64_t *last) {
    *first = *last = at.part < 0.5 ? at.low : at.high;
    if (axis < 0)
        return;
    const int64_t half = (int64_t)(painter->pitch / painter->problem->spacing[axis] / 2) +
                         (painter->distances && painter->problem->ndim < 3),
                  end = painter->problem->shape[axis] - 1;
    *first = *first > half ? *first - half : 0;
    *last = *last + half < end ? *last + half : end;
}

/* Marks are thin: one within a pixel colours it, of several the farthest; in planes, with distances, beside it too. */
uint8_t paint_mark(const struct painter *painter, const struct panel *panel, between down, between across) {
    const distmap_view *view = painter->view, *sites = painter->sites;
    const size_t size = distmap_dtype_size(view->dtype);
    const char *origin = panel_origin(panel, view);
    int64_t top, bottom, left, right;
    double farthest = -1;
    covered(painter, panel->down, down, &top, &bottom);
    covered(painter, panel->across, across, &left, &right);
    for (int64_t y = top; y <= bottom; y++)
        for (int64_t x = left; x <= right; x++) {
            uint64_t bits = 0;
            memcpy(&bits, at_element(origin, panel, view, y, x), size);
            if (!bits)
                continue;
            if (!painter->distances)
                return COLOUR_FIRST + DISTANCE_TONES - 1;
            const distmap_view *distances = painter->distances;
            const char *at = at_element(panel_origin(panel, distances), panel, distances, y, x);
            farthest = fmax(farthest, *(const float *)at);
        }
    if (farthest >= 0) /* the darkest tones are too near the ground's */
        return (uint8_t)(COLOUR_FIRST + DISTANCE_TONES * (0.35 + 0.64 * fmin(farthest / painter->largest, 1)));
    uint8_t site;
    elements_sites(at_element(panel_origin(panel, sites), panel, sites, (top + bottom) / 2, (left + right) / 2),
                   sites->dtype, 0, 1, &painter->problem->sites, &site);
    return site ? COLOUR_FIRST : painter->distances ? COLOUR_GAP : COLOUR_FIRST + DISTANCE_TONES / 3;
}

/* ---- Dots ---- */

/* The dot of the pixel's own cell, its edge one pixel wide; other axes are cut through their middle element. */
uint8_t paint_dot(const struct painter *painter, const struct panel *panel, between down, between across) {
    const distmap_problem *problem = painter->problem;
    const int64_t row = down.part < 0.5 ? down.low : down.high, column = across.part < 0.5 ? across.low : across.high;
    const int32_t number =
        *(const int32_t *)at_element(panel_origin(panel, painter->view), panel, painter->view, row, column);
    double square = 0;
    for (int a = 0; a < problem->ndim; a++) {
        const double at = a == panel->down     ? (double)down.low + down.part
                          : a == panel->across ? (double)across.low + across.part
                                               : (double)(problem->shape[a] / 2);
        const double apart = problem->spacing[a] * (at - painter->centroids[number * problem->ndim + a]);
        square += apart * apart;
    }
    const double covered = 0.5 + (painter->radius - sqrt(square)) / painter->pitch;
    return (uint8_t)(255 - 255 * fmin(fmax(covered, 0), 1));
}
