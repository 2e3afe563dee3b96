/* Pictures to look at: a palette PNG of a distance map, of Voronoi regions or of sets.
 *
 * An image is one panel; a volume is three, the middle slices across each of its last three axes, side by side. Pixels are
 * square in the units of the spacing; small images are enlarged, large ones sampled down to SIDE pixels. Distances are
 * interpolated between elements. With the map's slope (one per unit, almost everywhere; with weights, as many times more as a
 * step costs) |d - k step| / (slope pitch) is how many pixels away iso-line k is, which gives lines of even width with smooth
 * edges.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { SIDE = 2048, SMALL = 800, GAP = 8, STRIP = 48, MAX_PANELS = 3, ISO_LINES = 12, PIECES = 10 };

struct panel {
    int down, across; /* axes of the image; down is -1 for a line, shown as a strip */
    bool flip;        /* the first slice at the bottom */
    int left, width, height;
};

struct layout {
    int panels, width, height;
    double pitch;
    struct panel panel[MAX_PANELS];
};

/* ---- Layout ---- */

static double extent(const distmap_problem *problem, int axis) {
    return axis < 0 ? 0 : (double)problem->shape[axis] * problem->spacing[axis];
}

static int pixels_of(double length, double pitch) { return (int)fmin(fmax(length / pitch + 0.5, 1), SIDE); }

static struct layout lay_out(const distmap_problem *problem, const distmap_image_info *input) {
    struct layout it = {.panels = problem->ndim < 3 ? 1 : 3};
    const int last = problem->ndim - 1;
    static const int across_volume[MAX_PANELS][2] = {{1, 0}, {2, 0}, {2, 1}}; /* back from the last axis */
    double width = 0, height = 0, smallest = HUGE_VAL;
    for (int p = 0; p < it.panels; p++) {
        struct panel *panel = &it.panel[p];
        panel->down = it.panels == 1 ? last - 1 : last - across_volume[p][0];
        panel->across = it.panels == 1 ? last : last - across_volume[p][1];
        panel->flip = it.panels == 3 && strcmp(input->format, "nifti") == 0; /* its axes run upwards and forwards */
        width += extent(problem, panel->across);
        height = fmax(height, extent(problem, panel->down));
    }
    for (int a = problem->ndim > 3 ? last - 2 : 0; a <= last; a++)
        smallest = fmin(smallest, problem->spacing[a]);

    const double longest = fmax(width, height), budget = SIDE - (it.panels - 1) * GAP;
    const double enlarge = fmin(fmax(floor(SMALL * smallest / longest + 0.75), 1), 4);
    it.pitch = fmax(smallest / enlarge, longest / budget);
    for (int p = 0; p < it.panels; p++) {
        struct panel *panel = &it.panel[p];
        panel->left = it.width + (p ? GAP : 0);
        panel->width = pixels_of(extent(problem, panel->across), it.pitch);
        panel->height = panel->down < 0 ? STRIP : pixels_of(extent(problem, panel->down), it.pitch);
        it.width = panel->left + panel->width;
        it.height = panel->height > it.height ? panel->height : it.height;
    }
    return it;
}

/* ---- Sampling ---- */

/* Where a pixel lies between elements i and i + 1 of an axis. */
typedef struct between {
    int64_t low, high;
    double part;
} between;

static between place(const distmap_problem *problem, int axis, int pixel, double pitch) {
    if (axis < 0)
        return (between){0};
    const double last = (double)(problem->shape[axis] - 1);
    const double at = fmin(fmax((pixel + 0.5) * pitch / problem->spacing[axis] - 0.5, 0), last);
    const int64_t low = (int64_t)at;
    return (between){low, low < problem->shape[axis] - 1 ? low + 1 : low, at - (double)low};
}

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

/* What a kind of picture does for a pixel. */
struct painter {
    const distmap_view *view, *sites, *index;
    const distmap_problem *problem;
    bool squared;
    bool strengths; /* between 0 and 1, as steep as it comes */
    bool losses;    /* sites that have no label any more are shown, too */
    double largest, step, pitch;
    double unit; /* what a step along an axis adds to distances */
    const distmap_view *distances; /* of marks; NULL: they are all alike */
    const double *centroids;
    double radius; /* of dots */
};
typedef uint8_t paint_pixel(const struct painter *painter, const struct panel *panel, between down, between across);

static void paint_all(struct preview *preview, const struct painter *painter, paint_pixel *paint) {
    const struct layout it = lay_out(preview->problem, preview->input);
    memset(preview->pixels, COLOUR_GAP, (size_t)it.width * (size_t)it.height);
    for (int p = 0; p < it.panels; p++) {
        const struct panel *panel = &it.panel[p];
        const int top = (it.height - panel->height) / 2;
        for (int r = 0; r < panel->height && !signal_caught(); r++) {
            const int row = panel->flip ? panel->height - 1 - r : r;
            const between down = place(preview->problem, panel->down, row, it.pitch);
            uint8_t *line = preview->pixels + (size_t)(top + r) * (size_t)it.width + panel->left;
            for (int c = 0; c < panel->width; c++)
                line[c] = paint(painter, panel, down, place(preview->problem, panel->across, c, it.pitch));
        }
    }
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

static uint8_t paint_distance(const struct painter *painter, const struct panel *panel, between down, between across) {
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

/* A step of 1, 2 or 5 times a power of ten that makes about ISO_LINES lines. */
static double round_step(double largest) {
    if (!(largest > 0))
        return 1;
    const double raw = largest / ISO_LINES, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
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
        longest = fmax(longest, extent(problem, a));
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

static uint8_t paint_region(const struct painter *painter, const struct panel *panel, between down, between across) {
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

/* Thin dark lines where two zones meet (not along the sites, whose outline shows anyway). */
static void draw_edges(struct preview *preview) {
    const int width = preview->width, height = preview->height;
    for (int r = 0; r < height; r++)
        for (int c = 0; c < width; c++) {
            uint8_t *pixel = preview->pixels + (size_t)r * (size_t)width + c;
            const uint8_t right = c + 1 < width ? pixel[1] : *pixel, below = r + 1 < height ? pixel[width] : *pixel;
            const uint8_t zones = COLOUR_FIRST + REGION_COLOURS;
            const bool zone = *pixel >= COLOUR_FIRST && *pixel < zones;
            if (zone && ((right != *pixel && right >= COLOUR_FIRST && right < zones) ||
                         (below != *pixel && below >= COLOUR_FIRST && below < zones)))
                *pixel = COLOUR_EDGE;
        }
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
static uint8_t paint_mark(const struct painter *painter, const struct panel *panel, between down, between across) {
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
static uint8_t paint_dot(const struct painter *painter, const struct panel *panel, between down, between across) {
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

/* ---- The file ---- */

int preview_open(struct preview *preview, const struct options *options, const distmap_problem *problem,
                 const distmap_image_info *input, bool regions) {
    if (!options->preview)
        return 0;
    if (element_count(problem->ndim, problem->shape) == 0)
        return fail("--preview: %s has no elements to show", options->input);
    preview->problem = problem;
    preview->input = input;
    const struct layout it = lay_out(problem, input);
    preview->width = it.width;
    preview->height = it.height;
    preview->pitch = it.pitch;
    preview->pixels = malloc((size_t)it.width * (size_t)it.height);
    if (!preview->pixels)
        return fail("%s: not enough memory", options->preview);
    uint8_t palette[256][3];
    (problem->field == DISTMAP_FIELD_CVT ? colours_grey
     : regions                           ? colours_regions
     : problem->sign                     ? colours_signed
                                         : colours_distance)(palette);
    struct sink *sink = &preview->sink;
    sink->path = options->preview;
    sink->info = (distmap_image_info){
        .dtype = DISTMAP_UINT8, .ndim = 2, .shape = {it.height, it.width}, .spacing = {1, 1}, .axes = "yx"};
    signals_catch();
    return distmap_writer_open_palette(sink->path, &sink->info, (const uint8_t(*)[3])palette, &sink->writer)
               ? fail_library()
               : 0;
}

static int write_pixels(struct preview *preview) {
    if (signal_caught())
        return fail("interrupted");
    return distmap_writer_write(preview->sink.writer, preview->height, preview->pixels) ? fail_library() : 0;
}

int preview_distances(struct preview *preview, const distmap_view *distances, bool squared, double largest) {
    if (!preview->pixels)
        return 0;
    struct painter painter = {
        .view = distances, .problem = preview->problem, .squared = squared, .pitch = preview->pitch};
    const bool weighted = preview->problem->metric == DISTMAP_METRIC_CHAMFER;
    painter.unit = weighted ? preview->problem->chamfer[0] : 1;
    painter.largest = squared ? sqrt(largest) : largest;
    painter.step = preview->iso_step = fmax(round_step(painter.largest), 3 * preview->pitch * painter.unit);
    paint_all(preview, &painter, paint_distance);
    return write_pixels(preview);
}

int preview_strengths(struct preview *preview, const distmap_view *strengths) {
    if (!preview->pixels)
        return 0;
    const struct painter painter = {.view = strengths,
                                    .problem = preview->problem,
                                    .strengths = true,
                                    .pitch = preview->pitch,
                                    .largest = 1,
                                    .step = preview->iso_step = 0.1};
    paint_all(preview, &painter, paint_distance);
    return write_pixels(preview);
}

int preview_points(struct preview *preview, const distmap_view *points, const distmap_view *distances,
                   const distmap_view *other, double largest) {
    if (!preview->pixels)
        return 0;
    const struct painter painter = {.view = points,
                                    .sites = other,
                                    .distances = distances,
                                    .problem = preview->problem,
                                    .pitch = preview->pitch,
                                    .largest = largest > 0 ? largest : 1};
    paint_all(preview, &painter, paint_mark);
    return write_pixels(preview);
}

int preview_marks(struct preview *preview, const distmap_view *marks, const distmap_view *sites) {
    return preview_points(preview, marks, NULL, sites, 0);
}

int preview_regions(struct preview *preview, const distmap_view *labels, const distmap_view *sites,
                    const distmap_view *index) {
    if (!preview->pixels)
        return 0;
    const struct painter painter = {.view = labels, .sites = sites, .index = index, .problem = preview->problem};
    paint_all(preview, &painter, paint_region);
    draw_edges(preview);
    return write_pixels(preview);
}

int preview_sets(struct preview *preview, const distmap_view *sets, const distmap_view *before) {
    if (!preview->pixels)
        return 0;
    const distmap_view by_label = {0};
    const struct painter painter = {
        .view = sets, .sites = before, .index = &by_label, .problem = preview->problem, .losses = true};
    paint_all(preview, &painter, paint_region);
    return write_pixels(preview);
}

int preview_dots(struct preview *preview, const distmap_view *labels, const double *centroids, double radius) {
    if (!preview->pixels)
        return 0;
    const distmap_problem *problem = preview->problem;
    const struct painter painter = {.view = labels,
                                    .problem = problem,
                                    .pitch = preview->pitch,
                                    .centroids = centroids,
                                    .radius = radius * problem->spacing[problem->ndim - 1]};
    paint_all(preview, &painter, paint_dot);
    return write_pixels(preview);
}

void preview_close(struct preview *preview) {
    sink_close(&preview->sink);
    free(preview->pixels);
    preview->pixels = NULL;
}
