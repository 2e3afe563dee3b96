/* Pictures to look at: a palette PNG of a distance map, of Voronoi regions or of sets.
 *
 * An image is one panel; a volume is three, the middle slices across each of its last three axes, side by side. Pixels are
 * square in the units of the spacing; small images are enlarged, large ones sampled down to SIDE pixels. What colour each
 * gets stands in preview_paint.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "preview_paint.h"

enum { SIDE = 2048, SMALL = 800, GAP = 8, STRIP = 48, MAX_PANELS = 3, ISO_LINES = 12 };

struct layout {
    int panels, width, height;
    double pitch;
    struct panel panel[MAX_PANELS];
};

/* ---- Layout ---- */

static int pixels_of(double length, double pitch) { return (int)fmin(fmax(length / pitch + 0.5, 1), SIDE); }

/* Whether rising places along an axis go up in a body, or forwards, which pictures show above. */
static bool runs_up(const distmap_image_info *input, int axis) {
    distmap_image_info model = *input;
    int column = 0;
    if (!distmap_image_turn(&model, DISTMAP_WORLD_RAS))
        return false;
    for (int a = 0; a < axis; a++)
        column += model.axis[a].type == DISTMAP_AXIS_SPACE;
    int main = 0; /* the world's axis that it follows most */
    for (int w = 1; w < model.world_ndim; w++)
        main = fabs(model.matrix[w][column]) > fabs(model.matrix[main][column]) ? w : main;
    return main > 0 && model.axis[axis].type == DISTMAP_AXIS_SPACE && model.matrix[main][column] > 0;
}

static struct layout lay_out(const distmap_problem *problem, const distmap_image_info *input) {
    struct layout it = {.panels = problem->ndim < 3 ? 1 : 3};
    const int last = problem->ndim - 1;
    static const int across_volume[MAX_PANELS][2] = {{1, 0}, {2, 0}, {2, 1}}; /* back from the last axis */
    double width = 0, height = 0, smallest = HUGE_VAL;
    for (int p = 0; p < it.panels; p++) {
        struct panel *panel = &it.panel[p];
        panel->down = it.panels == 1 ? last - 1 : last - across_volume[p][0];
        panel->across = it.panels == 1 ? last : last - across_volume[p][1];
        panel->flip = it.panels == 3 && runs_up(input, panel->down);
        width += preview_extent(problem, panel->across);
        height = fmax(height, preview_extent(problem, panel->down));
    }
    for (int a = problem->ndim > 3 ? last - 2 : 0; a <= last; a++)
        smallest = fmin(smallest, problem->spacing[a]);

    const double longest = fmax(width, height), budget = SIDE - (it.panels - 1) * GAP;
    const double enlarge = fmin(fmax(floor(SMALL * smallest / longest + 0.75), 1), 4);
    it.pitch = fmax(smallest / enlarge, longest / budget);
    for (int p = 0; p < it.panels; p++) {
        struct panel *panel = &it.panel[p];
        panel->left = it.width + (p ? GAP : 0);
        panel->width = pixels_of(preview_extent(problem, panel->across), it.pitch);
        panel->height = panel->down < 0 ? STRIP : pixels_of(preview_extent(problem, panel->down), it.pitch);
        it.width = panel->left + panel->width;
        it.height = panel->height > it.height ? panel->height : it.height;
    }
    return it;
}

static between place(const distmap_problem *problem, int axis, int pixel, double pitch) {
    if (axis < 0)
        return (between){0};
    const double last = (double)(problem->shape[axis] - 1);
    const double at = fmin(fmax((pixel + 0.5) * pitch / problem->spacing[axis] - 0.5, 0), last);
    const int64_t low = (int64_t)at;
    return (between){low, low < problem->shape[axis] - 1 ? low + 1 : low, at - (double)low};
}

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

/* A step of 1, 2 or 5 times a power of ten that makes about ISO_LINES lines. */
static double round_step(double largest) {
    if (!(largest > 0))
        return 1;
    const double raw = largest / ISO_LINES, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
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
    sink->info = (distmap_image_info){.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {it.height, it.width}};
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
