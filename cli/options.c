/* The options of all subcommands: one table, of which each subcommand takes its rows.
 *
 * popt finds the options in the arguments; a row's reader checks the value and stores it. An option given twice is an
 * error rather than a silent last word, except --param, which adds up.
 */
#include <float.h>
#include <math.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct option_row {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    unsigned commands;
    const char
        *value; /* placeholder; NULL: takes none, as "[SIDE]" does, which join_sides() makes an option of its own of */
    int (*read)(struct options *options, const char *option, const char *text);
    const char *help; /* NULL: not shown */
} option_row;

/* ---- Readers ---- */

static int read_path(char **path, const char *option, const char *text) {
    if (*text == '\0')
        return usage("%s: the file name is empty", option);
    *path = copy_text(text);
    return 0;
}
static int read_output(struct options *o, const char *option, const char *text) {
    return read_path(&o->output, option, text);
}
static int read_index(struct options *o, const char *option, const char *text) {
    return read_path(&o->index, option, text);
}
static int read_preview(struct options *o, const char *option, const char *text) {
    const size_t length = strlen(text);
    if (length < 4 || strcmp(text + length - 4, ".png") != 0)
        return usage("%s: '%s' must end in .png", option, text);
    return read_path(&o->preview, option, text);
}
static int read_sites(struct options *o, const char *option, const char *text) {
    o->sites_given = true;
    return value_sites(option, text, &o->sites);
}
static int read_threshold(struct options *o, const char *option, const char *text) {
    o->threshold_given = true;
    return value_number(option, text, -HUGE_VAL, HUGE_VAL, &o->threshold);
}
static int read_thresholds(struct options *o, const char *option, const char *text) {
    number_list list = {0};
    const int status = value_numbers(option, text, -HUGE_VAL, HUGE_VAL, &list);
    if (status == 0 && list.count > 2)
        return usage("%s: %d of them, there are two files", option, list.count);
    o->threshold_given = true;
    o->threshold = list.values[0];
    o->other_threshold = list.values[list.count - 1];
    return status;
}
static int read_metric(struct options *o, const char *option, const char *text) {
    return value_metric(option, text, o);
}
static int read_spacing(struct options *o, const char *option, const char *text) {
    return value_pitches(option, text, &o->spacing);
}
static int read_time(struct options *o, const char *option, const char *text) {
    return value_integer(option, text, 0, INT64_MAX, &o->time);
}
static int read_channel(struct options *o, const char *option, const char *text) {
    for (int s = DISTMAP_SAMPLE_LUMA; distmap_sample_name((distmap_sample)s); s++)
        if (strcmp(text, distmap_sample_name((distmap_sample)s)) == 0) {
            o->sample = (distmap_sample)s;
            return 0;
        }
    if (*text && !strchr("0123456789+-", *text))
        return usage("%s: '%s' is none of luma, red, green, blue, alpha, and no number", option, text);
    return value_integer(option, text, 0, INT64_MAX, &o->channel);
}
static int read_ignore_grid(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->ignore_grid = true;
    return 0;
}
static int take_signed(struct options *o, enum side positive) {
    if (o->is_signed)
        return usage("--signed is given twice");
    o->is_signed = true;
    o->positive = positive;
    return 0;
}
static int read_nodata(struct options *o, const char *option, const char *text) {
    static const char *const names[] = {"ignore", "site", "object", NULL};
    int choice = 0;
    const int status = value_choice(option, text, names, &choice);
    o->nodata_given = true;
    o->nodata = (enum nodata)choice;
    return status;
}
static int read_nodata_value(struct options *o, const char *option, const char *text) {
    o->nodata_value_given = true;
    return value_any(option, text, &o->nodata_value);
}
static int read_fill(struct options *o, const char *option, const char *text) {
    o->fill_given = true;
    return value_any(option, text, &o->fill);
}
static int read_signed(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    return take_signed(o, SIDE_OFF_SITES);
}
static int read_signed_outside(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    return take_signed(o, SIDE_OUTSIDE);
}
static int read_signed_inside(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    return take_signed(o, SIDE_INSIDE);
}
static int read_surface(struct options *o, const char *option, const char *text) {
    const bool half = strcmp(text, "half") == 0;
    if (!half && strcmp(text, "centre") != 0)
        return usage("%s: '%s' is no surface; centre and half are", option, text);
    o->surface = half ? DISTMAP_SURFACE_HALF : DISTMAP_SURFACE_CENTRE;
    o->surface_given = true;
    return 0;
}
static int read_limit(struct options *o, const char *option, const char *text) {
    return value_length(option, text, DBL_MIN, &o->limit, o->limit_unit);
}
static int read_memory(struct options *o, const char *option, const char *text) {
    return value_bytes(option, text, &o->memory);
}
static int read_scratch(struct options *o, const char *option, const char *text) {
    return read_path(&o->scratch, option, text);
}
static int read_resume(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->resume = true;
    return 0;
}
static int read_pass_axes(struct options *o, const char *option, const char *text) {
    return value_names(option, text, &o->pass_axes);
}
static int read_shard(struct options *o, const char *option, const char *text) {
    return value_shard(option, text, &o->shard, &o->shards);
}
static int read_chunks(struct options *o, const char *option, const char *text) {
    return value_numbers(option, text, 1, 1 << 30, &o->chunks);
}
static int read_distributed(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->distributed = true;
    return 0;
}
static int read_dtype(struct options *o, const char *option, const char *text) {
    o->dtype = distmap_dtype_from_name(text);
    return o->dtype ? 0 : usage("%s: '%s' is no element type; float32, float64, uint32, uint64 are", option, text);
}
static int read_axes(struct options *o, const char *option, const char *text) {
    return value_names(option, text, &o->axes);
}
static int read_rho(struct options *o, const char *option, const char *text) {
    return value_number(option, text, DBL_MIN, DBL_MAX, &o->esf.rho);
}
static int read_steps(struct options *o, const char *option, const char *text) {
    return value_integer(option, text, 1, INT64_MAX, &o->esf.steps);
}
static int read_steady(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->steady = true;
    return 0;
}
static int read_dt(struct options *o, const char *option, const char *text) {
    return value_number(option, text, DBL_MIN, DBL_MAX, &o->esf.dt);
}
static int read_tolerance(struct options *o, const char *option, const char *text) {
    return value_number(option, text, DBL_MIN, DBL_MAX, &o->esf.tolerance);
}
const char *const pruning_names[] = {"square-root", "linear", "constant", NULL};

static int read_pruning(struct options *o, const char *option, const char *text) {
    int choice = 0;
    const int status = value_choice(option, text, pruning_names, &choice);
    o->skeleton.pruning = (distmap_pruning)choice;
    return status;
}
static int read_gamma(struct options *o, const char *option, const char *text) {
    o->gamma_given = true;
    return value_number(option, text, 0, 1e15, &o->skeleton.gamma);
}
static int read_op(struct options *o, const char *option, const char *text) {
    static const char *const names[] = {"dilate", "erode", "open", "close", NULL};
    int step = 0;
    o->step_given = true;
    const int status = value_choice(option, text, names, &step);
    o->morphology.step = (distmap_morphology_step)step;
    return status;
}
static int read_radius(struct options *o, const char *option, const char *text) {
    o->radius_given = true;
    return value_length(option, text, 0, &o->morphology.radius, o->radius_unit);
}
static int read_points(struct options *o, const char *option, const char *text) {
    return value_integer(option, text, 1, INT32_MAX - 1, &o->cvt.points);
}
static int read_moves(struct options *o, const char *option, const char *text) {
    return value_integer(option, text, 0, 1 << 20, &o->cvt.steps);
}
static int read_omega(struct options *o, const char *option, const char *text) {
    return value_number(option, text, DBL_MIN, nextafter(2, 0), &o->cvt.omega);
}
static int read_grids(struct options *o, const char *option, const char *text) {
    int64_t value = 0;
    const int status = value_integer(option, text, 1, 16, &value);
    o->cvt.grids = (int)value;
    return status;
}
static int read_dot(struct options *o, const char *option, const char *text) {
    return value_number(option, text, DBL_MIN, DBL_MAX, &o->dot);
}
static int read_invert(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->invert = true;
    return 0;
}
static int read_outside(struct options *o, const char *option, const char *text) {
    static const char *const names[] = {"background", "set", NULL};
    int choice = 0;
    const int status = value_choice(option, text, names, &choice);
    o->morphology.outside = choice;
    return status;
}
const char *const points_names[] = {"surface", "set", NULL};

static int read_compared(struct options *o, const char *option, const char *text) {
    int choice = 0;
    const int status = value_choice(option, text, points_names, &choice);
    o->comparison.points = (distmap_points)choice;
    return status;
}
static int read_within(struct options *o, const char *option, const char *text) {
    return value_length(option, text, 0, &o->comparison.tolerance, o->tolerance_unit);
}
static int read_percentiles(struct options *o, const char *option, const char *text) {
    number_list list = {0};
    const int status = value_numbers(option, text, 0, 100, &list);
    if (status == 0 && list.count > DISTMAP_MAX_PERCENTILES)
        return usage("%s: %d of them, at most %d", option, list.count, DISTMAP_MAX_PERCENTILES);
    o->comparison.percentile_count = list.count;
    memcpy(o->comparison.percentile, list.values, sizeof o->comparison.percentile);
    return status;
}
static int read_labels(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->labels = true;
    return 0;
}
static int read_components(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->components = true;
    return 0;
}
static int read_boundaries(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->boundaries = true;
    return 0;
}
static int read_border(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->border = true;
    return 0;
}
static int read_with_index(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->with_index = true;
    return 0;
}
/* There is nothing to tune on one element. */
static double least_side(const struct options *o) { return o->command->bit == TUNE ? 2 : 1; }
static int read_sizes(struct options *o, const char *option, const char *text) {
    return value_numbers(option, text, least_side(o), BENCH_LONGEST, &o->sizes);
}
static int read_volumes(struct options *o, const char *option, const char *text) {
    return value_numbers(option, text, least_side(o), 1 << 14, &o->volumes);
}
static int read_densities(struct options *o, const char *option, const char *text) {
    return value_numbers(option, text, 0, 1, &o->densities);
}
static int read_patterns(struct options *o, const char *option, const char *text) {
    return value_names(option, text, &o->patterns);
}
static int read_methods(struct options *o, const char *option, const char *text) {
    return value_names(option, text, &o->methods);
}
static int read_repeat(struct options *o, const char *option, const char *text) {
    int64_t value = 0;
    const int status = value_integer(option, text, 1, 1000, &value);
    o->repeat = (int)value;
    return status;
}
static int read_suite(struct options *o, const char *option, const char *text) {
    int row;
    o->suite = copy_text(text);
    return suite_find(option, text, &row);
}
static int read_quick(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->quick = true;
    return 0;
}
static int read_no_tuned(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->no_tuned = true;
    return 0;
}
static int read_seed(struct options *o, const char *option, const char *text) {
    int64_t value = 0;
    const int status = value_integer(option, text, 0, INT64_MAX, &value);
    o->seed = (uint64_t)value;
    o->seed_given = true;
    return status;
}
static int read_device(struct options *o, const char *option, const char *text) {
    o->device_given = strcmp(text, "auto") != 0;
    const int status = o->device_given ? value_device(option, text, o) : 0;
    if (status == 0 && o->ordinal_count > 1 && o->command->bit & (BENCH | TUNE))
        return usage("%s: %s measures one GPU", option, o->command->name);
    return status;
}
static int read_threads(struct options *o, const char *option, const char *text) {
    int64_t value = 0;
    const int status = value_integer(option, text, 1, 1024, &value);
    o->threads = (int)value;
    return status;
}
static int read_method(struct options *o, const char *option, const char *text) {
    if (!distmap_method_find(text))
        return usage("%s: there is no method '%s'; 'distmap methods' lists them", option, text);
    o->method = copy_text(text);
    return 0;
}
static int read_param(struct options *o, const char *option, const char *text) {
    if (o->settings.count == MAX_LIST)
        return usage("%s: more than %d of them", option, (int)MAX_LIST);
    o->settings.names[o->settings.count++] = copy_text(text);
    return 0;
}
static int read_json(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->json = true;
    return 0;
}
static int read_quiet(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->quiet = true;
    return 0;
}
static int read_strict(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    o->strict = true;
    return 0;
}
static void print_help(const struct command *command); /* from the table below */

static int read_help(struct options *o, const char *option, const char *text) {
    (void)option, (void)text;
    print_help(o->command);
    return 0;
}
static int read_version(struct options *o, const char *option, const char *text) {
    (void)o, (void)option, (void)text;
    printf("distmap %s\n", distmap_version());
    return 0;
}

/* ---- The table ---- */

static const option_row rows[] = {
    {"axis", 0, PASS, "AXES", read_pass_axes,
     "what this pass goes along, as in 1,2 or y,x: in the first all measured axes but the slowest, in the last that"},
    {"shard", 0, PASS, "I/N", read_shard, "which part of the pass to do: 1/N to N/N"},
    {"output", 'o', PASS, "OUT", read_output, "what all shards write: .npy, .zarr or .precomputed"},
    {"output", 'o', MAPS, "OUT", read_output, "where the result goes; its ending tells the format, - is stdout (NPY)"},
    {"output", 'o', BENCH, "OUT.json", read_output, "write the results as JSON"},
    {"output", 'o', REPORT, "OUT.html", read_output, "where the page goes"},
    {"rho", 0, ESF, "R", read_rho, "length over which strengths fall off, in elements"},
    {"steps", 0, ESF, "N", read_steps, "make N explicit steps"},
    {"steady", 0, ESF, NULL, read_steady, "compute the state at rest instead"},
    {"dt", 0, ESF, "D", read_dt, "length of a step (default 0.2 in an image, 1/7 in a volume)"},
    {"tolerance", 0, ESF, "T", read_tolerance, "largest residual at rest (default 1e-5; 1e-10 with --dtype float64)"},
    {"op", 0, MORPH, "OP", read_op, "dilate, erode, open or close"},
    {"radius", 0, MORPH, "R", read_radius,
     "of the ball, in the unit of the spacing, or in one that follows, as in 5mm; what is at distance R, as float64, is within"},
    {"outside", 0, MORPH, "WHAT", read_outside, "what lies outside the image: background (default) or set"},
    {"sites", 0, DISTANCES | PASS, "SITES", read_sites,
     "elements to measure from: zero, nonzero, VALUE, LO..HI (either end may be left out)"},
    {"sites", 0, SKELETON | THICKNESS, "SITES", read_sites,
     "the background's elements: zero (default), nonzero, VALUE, LO..HI (either end may be left out)"},
    {"sites", 0, MORPH, "SITES", read_sites,
     "the set's elements: nonzero (default), zero, VALUE, LO..HI (either end may be left out)"},
    {"points", 0, COMPARE, "POINTS", read_compared,
     "distances are those of the masks' surface elements (surface, default), or of all (set)"},
    {"tolerance", 0, COMPARE, "T", read_within, "for the surface Dice: distances of at most T, in the file's unit or as in 2mm, as float64 (default 0)"},
    {"percentiles", 0, COMPARE, "P,...", read_percentiles, "of the distances, 0 to 100 (default 95)"},
    {"sites", 0, COMPARE, "SITES", read_sites,
     "the masks' elements: nonzero (default), zero, VALUE, LO..HI (either end may be left out)"},
    {"sites", 0, ESF, "SITES", read_sites,
     "the shape's elements: nonzero (default), zero, VALUE, LO..HI (either end may be left out)"},
    {"threshold", 0, COMPARE, "T[,T]", read_thresholds,
     "the foreground is what is >= T, of B by the second one, instead of what is not 0; not of files of bools"},
    {"points", 0, CVT, "N", read_points, "how many points"},
    {"steps", 0, CVT, "N", read_moves, "Lloyd's steps on each grid (default 30)"},
    {"omega", 0, CVT, "W", read_omega,
     "how far points go towards the centroids, above 0 and below 2 (default 1); more than 1: over-relaxation"},
    {"grids", 0, CVT, "N", read_grids, "at most so many grids (default 16; 1: no coarser ones)"},
    {"invert", 0, CVT, NULL, read_invert, "small values are dense: weights are the largest value less each"},
    {"labels", 0, CVT, "OUT", read_index, "also write the number of the nearest point for every element, from 0 on"},
    {"radius", 0, CVT, "R", read_dot,
     "of the dots in .svg and preview, in elements (default: they cover half as much as the weights)"},
    {"seed", 0, CVT, "N", read_seed, "of the start (default 0)"},
    {"threshold", 0, SHAPES | PASS, "T", read_threshold, "the foreground is what is >= T, instead of what is not 0"},
    {"metric", 0, EDT, "METRIC", read_metric, "euclidean (default), squared, cityblock, chessboard or chamfer:A,B[,C]"},
    {"metric", 0, PASS, "METRIC", read_metric, "of the last pass: euclidean (default) or squared"},
    {"pruning", 0, SKELETON, "RULE", read_pruning,
     "which branches are left out: square-root (default), linear, constant"},
    {"gamma", 0, SKELETON, "G", read_gamma, "how many: linear, a ratio of about 0.5 to 1; constant, a length"},
    {"spacing", 0, LENGTHS | COMPARE | CVT | PASS, "W,W[,W]", read_spacing,
     "element pitch by axes' names, as in z=1,y=0.325,x=0.325um, or per axis, slowest first, or one for all, as "
     "decimals: 0.65 is exact; default: the file's"},
    {"axes", 0, SHAPES | PASS, "AXES", read_axes,
     "measure along these axes only, as in y,x or 1,2; each slice for itself; default: all of space"},
    {"time", 0, PLANS | PASS | INFO, "N", read_time, "take time N of the file alone, from 0 on"},
    {"channel", 0, PLANS | PASS | INFO, "C", read_channel,
     "take channel C of the file alone: a number, from 0 on, or of a picture in colour red, green, blue, alpha or "
     "luma, of which\n"
     "                           one must be chosen; a picture by a palette is its indices unless one is"},
    {"nodata", 0, DISTANCES | COMPARE, "WHAT", read_nodata,
     "what elements without data are: ignore (default: no site, and nothing is told of them), site, or object (no "
     "site, but\n"
     "                           measured)"},
    {"nodata", 0, SHAPES & ~DISTANCES, "WHAT", read_nodata,
     "what elements without data are: site (by --sites) or object (all else); without it there must be none"},
    {"nodata-value", 0, SHAPES | COMPARE, "V", read_nodata_value,
     "the value that means no data, nan too (default: what the file says)"},
    {"fill", 0, DISTANCES | THICKNESS, "V", read_fill,
     "what OUT gets where there is no distance, or no label (default: the file's value for no data, else infinity, the "
     "type's\n"
     "                           largest value, label 0)"},
    {"ignore-grid", 0, COMPARE, NULL, read_ignore_grid, "compare element by element, though the files' grids differ"},
    {"labels", 0, EDT, NULL, read_labels, "measure to the nearest element of another label; 0 is background"},
    {"labels", 0, MORPH, NULL, read_labels, "dilate, erode or open each label; 0 is background"},
    {"labels", 0, VORONOI, NULL, read_labels, "OUT gets the input's value at the nearest site"},
    {"components", 0, VORONOI, NULL, read_components, "OUT gets the number of the nearest connected group of sites"},
    {"signed", 0, EDT, "[SIDE]", read_signed,
     "sites get distances too, to the nearest element that is none, as negative numbers; or positive is what is "
     "outside\n"
     "                           the objects (outside: negative inside, as in ITK), or inside them (inside)"},
    {"signed-outside", 0, EDT, NULL, read_signed_outside, NULL},
    {"signed-inside", 0, EDT, NULL, read_signed_inside, NULL},
    {"surface", 0, EDT, "SURFACE", read_surface,
     "with --signed: from elements of the other side (centre, default), or half-way before them (half)"},
    {"boundaries", 0, VORONOI, NULL, read_boundaries,
     "OUT gets 0 where the next element along an axis is of another region"},
    {"border", 0, DISTANCES | PASS, NULL, read_border, "what lies just outside the image counts as sites too"},
    {"border", 0, SKELETON | THICKNESS, NULL, read_border, "what lies outside the image is background too"},
    {"limit", 0, DISTANCES | PASS, "R", read_limit,
     "look no farther than R, in the file's unit or as in 5mm, a distance of R itself included; elements beyond have no site"},
    {"index", 0, DISTANCES, "OUT", read_index,
     "also write the linear index of the nearest site (-1: none, -2: border)"},
    {"dtype", 0, EDT, "DTYPE", read_dtype,
     "float32, float64; with other metrics uint32, uint64 too, and uint16 but for squared"},
    {"index", 0, PASS, "OUT", read_index,
     "also write the index of the nearest site: in both passes or none, into another file"},
    {"dtype", 0, PASS, "DTYPE", read_dtype, "of the last pass: float32, float64; squared: uint32, uint64 too"},
    {"chunks", 0, PASS, "C,C[,C]", read_chunks,
     "lengths of a .zarr's chunks, slowest axis first, or one for all (default: the input's, else about 2^18 "
     "elements)"},
    {"memory", 0, PASS, "SIZE", read_memory,
     "hold at most SIZE (4G, 512M); by default about 1G, or what one row of chunks takes"},
    {"dtype", 0, SKELETON, "DTYPE", read_dtype,
     "uint8 (default) or bool: 1 on the skeleton; float32, float64: the distance to the background there"},
    {"dtype", 0, THICKNESS, "DTYPE", read_dtype, "float32 (default) or float64"},
    {"dtype", 0, MORPH, "DTYPE", read_dtype,
     "bool (default) or uint8; of labels any integer type, default: the input's"},
    {"dtype", 0, ESF, "DTYPE", read_dtype, "float32 (default) or float64"},
    {"dtype", 0, VORONOI, "DTYPE", read_dtype, "any integer type; default: the input's, int32 for components"},
    {"preview", 0, PLANS, "OUT.png", read_preview, "also make a picture to look at"},
    {"suite", 0, BENCH, "NAME", read_suite, "the tables of a paper: man-edm, pba, psds, erosion or esf"},
    {"quick", 0, BENCH, NULL, read_quick, "with --suite: fewer and small images, seconds instead of minutes"},
    {"sizes", 0, BENCH | TUNE, "N,...", read_sizes, "sides of square images (default 1024,4096)"},
    {"volumes", 0, BENCH, "N,...", read_volumes, "sides of cubic volumes (default 128)"},
    {"volumes", 0, TUNE, "N,...", read_volumes, "sides of cubic volumes (default 256)"},
    {"densities", 0, BENCH, "P,...", read_densities,
     "shares of sites for random, even and points (default 0.0001,0.01,0.5)"},
    {"densities", 0, TUNE, "P,...", read_densities,
     "shares of sites in random masks, which count alike (default 0.0001,0.01,0.5)"},
    {"patterns", 0, BENCH, "NAME,...", read_patterns,
     "random, even, points, corner, lattice, diagonal, circle, parabola, blobs, regions, objects, strapwork\n"
     "                           (default: all)"},
    {"methods", 0, BENCH, "NAME,...", read_methods, "methods to time (default: the exact ones, brute force aside)"},
    {"index", 0, BENCH, NULL, read_with_index, "compute nearest-site indices too"},
    {"repeat", 0, BENCH, "N", read_repeat, "runs of each, of which the fastest counts (default 3)"},
    {"repeat", 0, TUNE, "N", read_repeat, "runs of what comes near the fastest, in turns (default 7 and 0.3 s)"},
    {"quick", 0, TUNE, NULL, read_quick, "images of 1024 alone, one density, 3 runs, unless options say otherwise"},
    {"seed", 0, BENCH | TUNE, "N", read_seed, "seed of the patterns (default: a fresh one, which is printed)"},
    {"memory", 0, EDT, "SIZE", read_memory, "work out of core: hold at most SIZE (4G, 512M), of an image of any size"},
    {"scratch", 0, EDT, "DIR", read_scratch,
     "with --memory: the folder for intermediate results (default: the output's)"},
    {"resume", 0, EDT, NULL, read_resume, "with --memory: go on with what a run that was cut off has done"},
    {"distributed", 0, EDT, NULL, read_distributed,
     "under mpirun: each of its processes reads, transforms and writes a slab of the image; on the CPU, or with\n"
     "                           --device cuda the processes of a machine take turns with its GPUs"},
    {"device", 0, PLANS | TUNE, "DEVICE", read_device,
     "auto (a GPU if there is one; default), cpu, cuda or cuda:N, or several: cuda:0-3, cuda:0,2; 'distmap devices'\n"
     "                           lists them"},
    {"device", 0, BENCH, "DEVICE", read_device, "cpu (default), or cuda, cuda:N: from host memory to host memory"},
    {"threads", 0, PLANS | BENCH | TUNE | PASS, "N", read_threads, "use N threads (default: all processors)"},
    {"method", 0, PLANS, "NAME", read_method, "use this method; 'distmap methods' lists them"},
    {"method", 0, TUNE, "NAME", read_method, "tune this method (default: all of the device that have parameters)"},
    {"param", 0, PLANS | BENCH, "K=V", read_param, "set a parameter of the method; may be given again"},
    {"param", 0, TUNE, "K=V", read_param, "hold a parameter of the method at this value; may be given again"},
    {"no-tuned", 0, PLANS | BENCH, NULL, read_no_tuned, "use defaults, not what 'distmap tune' stored"},
    {"json", 0, ALL, NULL, read_json, "print the results as JSON on stdout"},
    {"strict", 0, PLANS, NULL, read_strict, "take a warning for an error: status 3, and nothing is written"},
    {"quiet", 'q', ALL | REPORT, NULL, read_quiet, "say nothing but errors"},
    {"help", 'h', ALL | REPORT, NULL, read_help, "print this text"},
    {"version", 0, ALL | REPORT, NULL, read_version, "print the version"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void print_help(const struct command *command) {
    printf("Usage: distmap %s %s%s[options]\n%s\n\nOptions:\n", command->name, command->arguments,
           *command->arguments ? " " : "", command->about);
    for (int i = 0; i < ROWS; i++)
        if (rows[i].commands & command->bit && rows[i].help) {
            char spelling[64];
            snprintf(spelling, sizeof spelling, "%c%c%s--%s%s%s", rows[i].letter ? '-' : ' ',
                     rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ", " : "  ", rows[i].name,
                     rows[i].value ? " " : "", rows[i].value ? rows[i].value : "");
            printf("  %-24s %s\n", spelling, rows[i].help);
        }
    if (command->bit & (SHAPES | COMPARE | PASS))
        print_conventions();
    printf("\nExample:\n%s", command->example);
}

/* ---- Reading ---- */

static int check_esf(const struct options *o) {
    if (o->esf.rho == 0)
        return usage("esf: --rho R is missing");
    if (!o->steady && !o->esf.steps)
        return usage("esf: --steps N or --steady is missing");
    if (o->steady && o->esf.steps)
        return usage("--steps and --steady contradict each other");
    if (o->steady && o->esf.dt != 0)
        return usage("--dt goes with --steps: the state at rest does not depend on it");
    if (!o->steady && o->esf.tolerance != 0)
        return usage("--tolerance goes with --steady: steps are made whatever comes of them");
    return 0;
}

static int check_skeleton(const struct options *o) {
    if (o->gamma_given && o->skeleton.pruning == DISTMAP_PRUNING_SQUARE_ROOT)
        return usage("--gamma goes with --pruning linear or constant");
    if (!o->gamma_given && o->skeleton.pruning != DISTMAP_PRUNING_SQUARE_ROOT)
        return usage("--pruning %s needs --gamma G", pruning_names[o->skeleton.pruning]);
    return 0;
}

static int check_morph(const struct options *o) {
    if (!o->step_given)
        return usage("morph: --op dilate, erode, open or close is missing");
    if (!o->radius_given)
        return usage("morph: --radius R is missing");
    if (o->labels && o->morphology.step == DISTMAP_MORPHOLOGY_CLOSE)
        return usage("--labels goes with --op dilate, erode or open");
    if (o->labels && o->sites_given)
        return usage("--sites and --labels contradict each other: the background of labels is 0");
    return 0;
}

static int check_compare(const struct options *o) {
    if (!o->input)
        return usage("compare: the input files are missing; see distmap compare --help");
    if (!o->other)
        return usage("compare: two files are needed, a mask and one to compare it with");
    if (o->threshold_given && o->sites_given && o->sites.rule != DISTMAP_SITES_ZERO &&
        o->sites.rule != DISTMAP_SITES_NONZERO)
        return usage("--threshold goes with --sites zero or nonzero: which side of it the masks are on");
    if (o->sites_given && o->sites.rule == DISTMAP_SITES_NONE)
        return usage("--sites none goes with edt --labels: no label is background");
    return sinks_check(o);
}

static int check_cvt(const struct options *o) {
    static const char *const endings[] = {".npy", ".csv", ".svg"};
    if (o->cvt.points == 0)
        return usage("cvt: --points N is missing");
    bool known = strcmp(o->output, "-") == 0;
    for (int i = 0; i < 3; i++)
        known |= strlen(o->output) > 4 && strcmp(o->output + strlen(o->output) - 4, endings[i]) == 0;
    return known ? 0 : usage("-o %s: points go to .npy, .csv or .svg", o->output);
}

/* What is computed in slabs, because of `option`. */
static int check_slabs(const struct options *o, const char *option, const char *alone) {
    if (o->labels || o->is_signed || o->metric != DISTMAP_METRIC_EUCLIDEAN)
        return usage("%s goes with masks and --metric euclidean or squared: %s are computed %s alone", option,
                     o->labels      ? "labels"
                     : o->is_signed ? "signed maps"
                                    : "other metrics",
                     alone);
    if (o->preview || o->method)
        return usage("%s and --%s contradict each other", option, o->preview ? "preview" : "method");
    return 0;
}

static int check_distributed(const struct options *o) {
    if (!o->distributed)
        return 0;
    if (o->fill_given)
        return usage("--distributed and --fill contradict each other: infinity is written");
    if (o->strict)
        return usage("--distributed and --strict contradict each other: processes see parts of the image");
    if (o->memory)
        return usage("--distributed and --memory contradict each other: each process holds its slab");
    if (strcmp(o->input, "-") == 0)
        return usage("--distributed needs an input that every process can read, not standard input");
    if (strcmp(o->output, "-") == 0 || (o->index && strcmp(o->index, "-") == 0))
        return usage("--distributed needs outputs that every process can write to, not standard output");
    return check_slabs(o, "--distributed", "by one process");
}

static int check_memory(const struct options *o) {
    if (!o->memory)
        return o->scratch  ? usage("--scratch goes with --memory")
               : o->resume ? usage("--resume goes with --memory")
                           : 0;
    const int status = check_slabs(o, "--memory", "in memory");
    if (status)
        return status;
    if (o->device_given && o->device != DISTMAP_DEVICE_CPU)
        return usage("--memory goes with --device cpu: disks, not processors, are what it waits for");
    if (o->resume && strcmp(o->input, "-") == 0)
        return usage("--resume needs an input that can be read again, not standard input");
    if (o->resume && strcmp(o->output, "-") == 0)
        return usage("--resume needs an output with a name, not standard output");
    return 0;
}

static int check_pass(const struct options *o) {
    if (!o->pass_axes.count)
        return usage("pass: --axis AXES is missing");
    if (!o->shards)
        return usage("pass: --shard I/N is missing");
    if (o->metric != DISTMAP_METRIC_EUCLIDEAN)
        return usage("pass: --metric is euclidean or squared: other metrics are computed in memory alone");
    if (strcmp(o->input, "-") == 0 || strcmp(o->output, "-") == 0 || (o->index && strcmp(o->index, "-") == 0))
        return usage("pass: files that several processes read and write have names");
    return 0;
}

/* Options that contradict each other, or miss each other. Each line of this list is one rule. */
static int check_together(const struct options *o) {
    if (o->command->bit & (PLANS | TUNE) && o->settings.count && !o->method)
        return usage("--param needs --method: parameters belong to one method");
    if (o->command->bit & (MAPS | PASS)) {
        if (!o->input)
            return usage("%s: the input file is missing; see distmap %s --help", o->command->name, o->command->name);
        if (!o->output)
            return usage("%s: -o OUTPUT is missing", o->command->name);
        if (o->threshold_given && o->labels)
            return usage("--threshold and --labels contradict each other: a threshold makes a mask of the image");
        if (o->is_signed && o->labels)
            return usage("--signed and --labels contradict each other: labels have no two sides");
        if (o->surface_given && !o->is_signed)
            return usage("--surface goes with --signed");
        if (o->surface && o->squared)
            return usage("--surface half and --metric squared contradict each other");
        if (o->is_signed && o->metric != DISTMAP_METRIC_EUCLIDEAN)
            return usage("--signed goes with --metric euclidean or squared");
        if (o->labels && o->components)
            return usage("--labels and --components contradict each other");
        if (o->threshold_given && o->sites_given && o->sites.rule != DISTMAP_SITES_ZERO &&
            o->sites.rule != DISTMAP_SITES_NONZERO)
            return usage("--threshold goes with --sites zero or nonzero: which side of it the sites are on");
        if (o->sites_given && o->sites.rule == DISTMAP_SITES_NONE && !(o->labels && o->command->bit == EDT))
            return usage("--sites none goes with edt --labels: no label is background");
        const bool to_stdout = strcmp(o->output, "-") == 0;
        if (to_stdout && o->json)
            return usage("-o - and --json contradict each other: both write to stdout");
        if (o->index && strcmp(o->index, "-") == 0 && (to_stdout || o->json))
            return usage("--index - and %s contradict each other: both write to stdout", o->json ? "--json" : "-o -");
        int status = o->command->bit == ESF        ? check_esf(o)
                     : o->command->bit == SKELETON ? check_skeleton(o)
                     : o->command->bit == MORPH    ? check_morph(o)
                     : o->command->bit == CVT      ? check_cvt(o)
                     : o->command->bit == EDT      ? check_distributed(o)
                     : o->command->bit == PASS     ? check_pass(o)
                                                   : 0;
        status = status || o->command->bit != EDT ? status : check_memory(o);
        return status ? status : sinks_check(o);
    }
    if (o->command->bit == COMPARE)
        return check_compare(o);
    if (o->command->bit == REPORT && !o->output)
        return usage("report: -o OUT.html is missing");
    if (o->command->bit == BENCH && o->quick && !o->suite)
        return usage("--quick goes with --suite");
    if (o->suite && (o->sizes.count || o->volumes.count || o->densities.count || o->patterns.count ||
                     o->methods.count || o->settings.count || o->with_index || o->repeat))
        return usage("--suite says what is measured: it goes with --device, --threads, --seed, --quick and -o alone");
    if (o->command->bit == INFO && !o->input)
        return usage("info: the file is missing; see distmap info --help");
    return 0;
}

/* Parameters are read last: which values have names is known with the method. */
static int read_settings(struct options *o) {
    const char *method = o->method ? o->method : o->methods.count == 1 ? o->methods.names[0] : NULL;
    for (int i = 0; i < o->settings.count; i++) {
        const int status = value_param("--param", o->settings.names[i], distmap_method_find(method), &o->params[i]);
        if (status)
            return status;
        o->param_count++;
    }
    return 0;
}

static int read_all(poptContext context, struct options *options, bool *help) {
    bool given[ROWS] = {false};
    int found;
    while ((found = poptGetNextOpt(context)) > 0) {
        const option_row *row = &rows[found - 1];
        char *text = poptGetOptArg(context);
        char option[32];
        snprintf(option, sizeof option, "--%s", row->name);
        int status = 0;
        if (!text && row->value && *row->value != '[')
            status = fail("out of memory");
        else if (given[found - 1] && row->read != read_param)
            status = usage("%s is given twice", option);
        else
            status = row->read(options, option, text);
        free(text);
        if (status)
            return status;
        given[found - 1] = true;
        if (row->read == read_help || row->read == read_version) {
            *help = true;
            return 0;
        }
    }
    if (found < -1) {
        const char *bad = poptBadOption(context, POPT_BADOPTION_NOALIAS);
        if (found == POPT_ERROR_BADOPT)
            return usage("%s: there is no option %s; see distmap %s --help", options->command->name, bad,
                         options->command->name);
        return usage("%s: %s", bad, poptStrerror(found));
    }
    const bool takes_input = options->command->bit & (PLANS | PASS | INFO | REPORT);
    const char *argument;
    while ((argument = poptGetArg(context))) {
        if (!takes_input)
            return usage("%s takes no argument, but got '%s'", options->command->name, argument);
        const bool is_other = options->command->bit == COMPARE && options->input && !options->other;
        if (options->input && !is_other)
            return usage(options->command->bit == COMPARE ? "%s takes two inputs, but got another after '%s': '%s'"
                                                          : "%s takes one input, but got '%s' and '%s'",
                         options->command->name, options->input, argument);
        if (*argument == '\0')
            return usage("%s: the input file's name is empty", options->command->name);
        *(is_other ? &options->other : &options->input) = copy_text(argument);
    }
    const int status = check_together(options);
    return status ? status : read_settings(options);
}

/* popt has no value that may be left out: "--signed outside" and "--signed=outside" become an option of their own. Returns the new
 * count of words. */
static int join_sides(int argc, const char **argv, const char **words) {
    static const char *const sides[] = {"outside", "inside"}, *const joined[] = {"--signed-outside", "--signed-inside"};
    int count = 0;
    for (int i = 0; i < argc; i++) {
        const bool alone = strcmp(argv[i], "--signed") == 0, same = strncmp(argv[i], "--signed=", 9) == 0;
        const char *side = same ? argv[i] + 9 : alone && i + 1 < argc ? argv[i + 1] : "";
        words[count] = argv[i];
        for (int s = 0; s < 2; s++)
            if (strcmp(side, sides[s]) == 0) {
                words[count] = joined[s];
                i += alone;
                break;
            }
        count++;
    }
    words[count] = NULL;
    return count;
}

int options_read(const struct command *command, int argc, const char **argv, struct options *options, bool *help) {
    *options = (struct options){.command = command, .cvt.steps = 30, .time = -1, .channel = -1};
    struct poptOption table[ROWS + 1];
    int count = 0;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].commands & command->bit)
            table[count++] =
                (struct poptOption){.longName = rows[i].name,
                                    .shortName = rows[i].letter,
                                    .argInfo = rows[i].value && *rows[i].value != '[' ? POPT_ARG_STRING : POPT_ARG_NONE,
                                    .val = i + 1};
    table[count] = (struct poptOption)POPT_TABLEEND;
    const char **words = malloc(((size_t)argc + 1) * sizeof *words);
    poptContext context = words ? poptGetContext("distmap", join_sides(argc, argv, words), words, table, 0) : NULL;
    const int status = context ? read_all(context, options, help) : fail("out of memory");
    poptFreeContext(context);
    free(words);
    return status;
}

static void free_names(name_list *list) {
    for (int i = 0; i < list->count; i++)
        free(list->names[i]);
}

void options_free(struct options *o) {
    free_names(&o->settings);
    free_names(&o->methods);
    free_names(&o->patterns);
    free_names(&o->axes);
    free_names(&o->pass_axes);
    free(o->metric_name);
    free(o->suite);
    free(o->method);
    free(o->preview);
    free(o->scratch);
    free(o->index);
    free(o->output);
    free(o->other);
    free(o->input);
}
