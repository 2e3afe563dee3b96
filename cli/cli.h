/* Shared by the files of the command.
 *
 * A subcommand is a row of the table in main.c; its options are rows of the table in options_table.c. A run goes
 *
 *     options -> source (input file) -> problem -> sinks (output files, opened but nameless) -> plan -> commit
 *
 * and every step returns an exit status: 0 to go on, else what the process ends with, its one line already said.
 */
#ifndef DISTMAP_CLI_H
#define DISTMAP_CLI_H

#include <limits.h>
#include <stdio.h>

#include <distmap.h>
#include <distmap/io.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_WARNED = 3 };

/* ---- Subcommands ---- */

enum {
    EDT = 1,
    VORONOI = 2,
    INFO = 4,
    METHODS = 8,
    DEVICES = 16,
    BENCH = 32,
    TUNE = 64,
    REPORT = 128,
    ESF = 256,
    SKELETON = 512,
    MORPH = 1024,
    COMPARE = 2048,
    THICKNESS = 4096,
    CVT = 8192,
    PASS = 16384,
    ALL = 32767 - REPORT, /* that compute */
    DISTANCES = EDT | VORONOI,
    LENGTHS = DISTANCES | SKELETON | MORPH | THICKNESS, /* in the units of the spacing */
    SHAPES = LENGTHS | ESF,                             /* of sites */
    MAPS = SHAPES | CVT,
    PLANS = MAPS | COMPARE
};

struct options;
struct command {
    const char *name;
    unsigned bit;          /* which rows of the options table it takes */
    const char *arguments; /* "INPUT -o OUTPUT" */
    const char *summary;   /* one line */
    const char *about;     /* paragraphs for --help */
    const char *example;   /* command lines that work in the project's folder */
    int (*run)(const struct options *);
};

extern const struct command command_edt, command_voronoi, command_skeleton, command_thickness, command_morph, command_compare,
    command_cvt, command_esf, command_pass, command_info, command_methods, command_devices, command_bench, command_tune, command_report;

/* ---- Options ---- */

enum { MAX_LIST = 32 };

typedef struct number_list {
    int count;
    double values[MAX_LIST];
} number_list;

/* --spacing: values in order, or by names. */
typedef struct pitch_list {
    int count;
    double values[MAX_LIST];
    char names[MAX_LIST][16]; /* "" in all: in order */
    char unit[16];            /* of all; "": not given */
} pitch_list;

typedef struct name_list {
    int count;
    char *names[MAX_LIST];
} name_list;

struct options {
    const struct command *command;
    char *input, *output, *index, *preview; /* paths; NULL: not given */
    char *other;                            /* compare: the second input */
    char compress[16];                      /* what the output is packed by; "": as the input is */
    distmap_sites sites;
    bool sites_given;
    double threshold;
    bool threshold_given;
    double other_threshold; /* compare: of the second input */
    char *metric_name; /* --metric as given; NULL: euclidean */
    bool squared;      /* the Euclidean metric's squares */
    distmap_metric metric;
    int chamfer[3];
    pitch_list spacing;  /* count 0: the file's */
    int64_t time, channel; /* which one of the file's; -1: all, or the only one */
    distmap_sample sample; /* of a picture, by --channel too; OPEN: not given */
    bool ignore_grid;    /* compare */
    enum nodata { NODATA_IGNORE, NODATA_SITE, NODATA_OBJECT } nodata; /* what elements without data are */
    bool nodata_given, nodata_value_given, fill_given;
    double nodata_value, fill; /* in place of the file's own; where there is no distance */
    bool labels, components, boundaries, border, is_signed;
    enum side { SIDE_OFF_SITES, SIDE_OUTSIDE, SIDE_INSIDE } positive; /* of the objects; goes with is_signed */
    distmap_surface surface; /* goes with is_signed */
    bool surface_given;
    double limit;        /* 0: none */
    char limit_unit[16], radius_unit[16], tolerance_unit[16]; /* of lengths; "": the file's */
    int64_t memory;      /* bytes; 0: as much as it takes */
    char *scratch;       /* folder; NULL: beside the output */
    bool resume, no_sync, verify;
    name_list pass_axes;   /* pass: along which */
    int64_t shard, shards; /* pass: number `shard` of `shards`, from 1 on; 0: not given */
    number_list chunks_of_output, shards_of_output; /* their lengths; count 0: the program chooses */
    int64_t zarr_format;                            /* 0: the program chooses */
    bool distributed;
    distmap_dtype dtype; /* NONE: by the result */
    name_list axes;      /* count 0: all */
    distmap_esf esf;
    bool steady;
    distmap_skeleton skeleton;
    bool gamma_given;
    distmap_morphology morphology;
    bool step_given, radius_given; /* of it */
    distmap_comparison comparison;
    distmap_cvt cvt;
    double dot;                    /* cvt: radius of dots; 0: by the picture's tone */
    bool invert;                   /* cvt */
    bool device_given;             /* else: a GPU if there is one that works and takes the problem */
    distmap_device device;
    int ordinals[DISTMAP_MAX_GPUS], ordinal_count; /* which of the devices of that kind; none: number 0 */
    int threads; /* 0: all */
    char *method;
    name_list settings;             /* --param, as given */
    distmap_param params[MAX_LIST]; /* the same, read; names are those of the settings */
    int param_count;
    bool no_tuned; /* what was tuned is not looked at */
    bool json, quiet, strict;
    number_list sizes, volumes, densities; /* bench, tune */
    name_list patterns, methods;
    bool with_index;
    int repeat;
    char *suite;
    bool quick;           /* bench --suite, tune */
    char *only, *without; /* bench --suite: texts in the names of cells */
    uint64_t seed;
    bool seed_given;
};

extern const char *const pruning_names[], *const points_names[]; /* as options name them */

/* Reads a subcommand's arguments. *help is set when --help or --version was asked for and answered. */
int options_read(const struct command *command, int argc, const char **argv, struct options *options, bool *help);
void options_free(struct options *options);

/* The values of options. Each says what is wrong and returns EXIT_USAGE, or 0. `option` is "--spacing". */
int value_number(const char *option, const char *text, double lowest, double highest, double *value);
/* "cpu", "cuda", "cuda:1", "cuda:0-3", "cuda:0,2" */
int value_device(const char *option, const char *text, struct options *options);
/* "4G", "512M" */
int value_bytes(const char *option, const char *text, int64_t *value);
/* Any number, infinities and nan too. */
int value_any(const char *option, const char *text, double *value);
int value_integer(const char *option, const char *text, int64_t lowest, int64_t highest, int64_t *value);
int value_numbers(const char *option, const char *text, double lowest, double highest, number_list *list);
int value_names(const char *option, const char *text, name_list *list);
/* "5", "5mm": a length, and its unit or "" */
int value_length(const char *option, const char *text, double lowest, double *value, char unit[16]);
/* "2.5,0.7", "z=2.5,x=0.7um" */
int value_pitches(const char *option, const char *text, pitch_list *list);
/* "3/40" */
int value_shard(const char *option, const char *text, int64_t *shard, int64_t *shards);
/* One of `names`, a list that ends with NULL: its place. */
int value_choice(const char *option, const char *text, const char *const *names, int *choice);
int value_sites(const char *option, const char *text, distmap_sites *sites);
/* "squared", "cityblock", "chamfer:3,4" */
int value_metric(const char *option, const char *text, struct options *options);
/* "mode=vv-hh": cuts the text at the first '='; `info` tells which values have names, NULL: none. */
int value_param(const char *option, char *text, const distmap_method_info *info, distmap_param *param);
char *copy_text(const char *text); /* ends the process when memory is out */

/* ---- Messages (stderr) ---- */

int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));  /* one line; EXIT_FAILED, or 128 + signal */
int usage(const char *format, ...) __attribute__((format(printf, 1, 2))); /* one line; EXIT_USAGE */
int fail_library(void);                                                   /* distmap_error_text() */
void say(const struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* unless --quiet */
/* From here on the lines of fail() and usage() are kept in `text` instead of said. */
void messages_keep(char *text, size_t size);
/* Results on stdout count only when they got there: a full disk must not end in status 0. */
int results_flush(int status);

/* ---- Warnings (warnings.c) ---- */

struct source;
struct job;

/* Says it, unless --quiet, and keeps it. `about` is one word, for programs; static text. */
void warn(const struct options *options, const char *about, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* EXIT_WARNED where there was one and --strict is given, else 0. To be asked before an output gets its name. */
int warnings_judge(const struct options *options);
/* Whether anybody would hear of one, so that it is worth a look. */
bool warnings_heard(const struct options *options);
struct json_object *warnings_json(void); /* [{"about": "values", "text": "..."}, ...] */

/* Warnings about degrees, and about a threshold that the type cannot reach. */
void warn_of_header(const struct options *options, const distmap_image_info *info);

/* The first three values that were met, of any type; NaN is none. */
struct values_seen {
    int count;
    uint64_t value[3];
    bool skips; /* one value, which means no data */
    uint64_t skipped;
};

/* None yet; what means no data in the source is not to count. */
struct values_seen values_begin(const struct source *source, const struct options *options);
/* Whether an image is read as a mask without a word on what it means. */
bool values_matter(const struct options *options);
void values_look(const distmap_view *view, struct values_seen *seen); /* adds up */
void warn_of_values(const struct options *options, distmap_dtype dtype, const struct values_seen *seen);

/* ---- Progress, time, signals ---- */

double seconds_now(void);
/* Writing into a closed pipe, or past a file size limit, is an error with a message, not a death. */
void signals_ignore(void);
/* From here on Ctrl-C, SIGTERM and SIGHUP are noted rather than fatal, so that unfinished outputs are removed. */
void signals_catch(void);
int signal_caught(void); /* its number, or 0 */
/* A thread beside the main one that waits for files calls these: a signal interrupts it, too, between the first and the second. */
int signals_reach_me(void);
void signals_leave_me(int place);

/* From now on an input that is cut short while it is mapped ends the run, by an error (cut_short.c). The names stay the caller's. */
void cut_short_watch(const char *input, const char *other);
bool cut_short(void); /* that has happened: all results are nothing */
const char *cut_short_name(void);

/* A bar on a terminal, "reading 42%"; silent with --quiet and elsewhere. `fraction` 0 to 1. */
void progress_begin(const struct options *options, const char *phase);
int progress_step(void *user, double fraction); /* a distmap_progress; nonzero after a signal */
void progress_end(void);

/* ---- Devices and parameters (machine.c, params.c, tuned.c) ---- */

struct place {
    distmap_device device;
    int ordinal;
    char model[256]; /* of the processor or GPU */
};

/* Opens the device that the options name. Without --device a method's name tells it; without either it is a GPU if that can
 * be had, else the CPU. */
int place_open(const struct options *options, distmap_progress *progress, void *user, struct place *place,
               distmap_context **context);
/* Opens one of that kind. */
distmap_status place_open_on(const struct options *options, distmap_device device, distmap_progress *progress,
                             void *user, struct place *place, distmap_context **context);

/* A plan's parameters: those of --param, then what was tuned for the others. */
struct settings {
    distmap_param params[2 * MAX_LIST];
    int given, count;
};

/* Makes a plan of `method` (NULL: the library chooses) and tells its settings. */
distmap_status plan_make(const struct options *options, distmap_context *context, const struct place *place,
                         const char *method, const distmap_problem *problem, struct settings *settings,
                         distmap_plan **plan);
bool method_accepts(const distmap_context *context, const char *method, const distmap_problem *problem);

struct json_object;
/* {"m1": {"value": 32, "from": "tuned"}, ...}: all the method has; from: given, tuned, default. */
struct json_object *settings_json(const struct settings *settings, const distmap_method_info *method);
/* A value, by its name where it has one. */
struct json_object *param_json(const distmap_param_info *info, int64_t value);
const distmap_param_info *param_find(const distmap_method_info *method, const char *name); /* or NULL */
bool param_from_name(const distmap_param_info *info, const char *name, int64_t *value);

/* The values that the cache has for the method on this problem; returns their number. A problem with the file is reported once, and the
 * cache is then empty. */
int tuned_find(const struct options *options, const struct place *place, const distmap_method_info *method,
               const distmap_problem *problem, distmap_param params[MAX_LIST]);
/* The same from what a file holds; < 0: values that the method does not take. */
int tuned_values(struct json_object *root, const struct place *place, const distmap_method_info *method, const distmap_problem *problem,
                 distmap_param params[MAX_LIST]);
/* Whether values can be stored, to be asked before they are searched. */
int tuned_check(void);
/* Stores an entry with what `found` holds, in place of one of the same key. `found` stays the caller's. */
int tuned_store(const struct options *options, const struct place *place, const distmap_method_info *method,
                const distmap_problem *problem, struct json_object *found);
bool tuned_path(char *path); /* PATH_MAX long; false: there is no place for it */

/* ---- The search for the fastest values (search.c) ---- */

struct search {
    const struct options *options;
    distmap_context *context;
    const distmap_method_info *method;
    const distmap_problem *problem;
    const distmap_arrays *arrays; /* one run each */
    int runs, repeats;
    double patience;                 /* seconds: a race is repeated until they have passed too */
    int64_t values[MAX_LIST];        /* found: one per parameter */
    double seconds, default_seconds; /* found: of a run, the geometric mean over `arrays` */
    double deadline, share;          /* the search's own: when a run is given up, what is done of the sweep */
};

int search_run(struct search *search);
int search_watch(void *search, double fraction); /* the context's distmap_progress, its user being the search */

/* ---- The input ---- */

struct source {
    const char *name;
    distmap_reader *reader;
    distmap_image_info model;       /* what the file says, with --spacing over it */
    const distmap_image_info *info; /* this model, the only word on what the image is */
    bool respaced;                  /* by --spacing */
    distmap_view view; /* all elements; data NULL before source_read */
    void *buffer;      /* owned; NULL when the file is mapped */
    double seconds;    /* spent reading */
    char identity[DISTMAP_IDENTITY_BYTES];
    bool by_bytes; /* --verify: the identity is a digest of all bytes */
    int64_t nodata_count; /* elements without data (nodata.c) */
    uint8_t *ignored;     /* 1 at those that are ignored, row-major; owned; NULL: none are */
};

/* And selects --time and --channel. Axes that are no space and 1 long are left out where there are more than plans take. */
int source_open(struct source *source, const struct options *options);
/* "luma, red, green, blue": those of a picture that can be chosen. Returns `names`. */
const char *sample_names(const distmap_image_info *info, char names[64]);
/* All elements into source->view. */
int source_read(struct source *source, const struct options *options);
/* Those of slices [first, first + count). */
int source_read_slices(struct source *source, const struct options *options, int64_t first, int64_t count);
/* The elements band by band, for whoever needs to see them but once: the whole is never held. */
int source_visit(struct source *source, const struct options *options,
                 void (*visit)(const distmap_view *band, void *user), void *user);
/* Keeps what tells the input from another one (distmap_reader_identity(), or distmap_reader_digest()), if that is not known yet; and
 * whether it is still so: an error if not. */
int source_identify(struct source *source);
int source_check_identity(const struct source *source);
void source_drop(struct source *source); /* its elements are not needed any more */
void source_close(struct source *source);
int64_t element_count(int ndim, const int64_t *shape);

/* ---- Conventions (conventions.c) ---- */

/* Whether the sites are the background by default. */
bool sites_are_background(const struct options *options);
/* Whether the objects are the sites, else all other elements. */
bool objects_are_sites(const struct options *options);
/* The table, for --help. */
void print_conventions(void);

/* ---- Elements without data (nodata.c) ---- */

/* Stores a value as an element; false where the type does not hold it. */
bool element_store(double value, distmap_dtype dtype, void *element);
/* Finds the elements of a source that was read that have no data, and gives them the part that the options say. */
int nodata_apply(struct source *source, const struct options *options, const distmap_problem *problem);
/* Whether there may be any; and whether they are ignored then. */
bool nodata_applies(const struct source *source, const struct options *options);
bool nodata_ignores(const struct source *source, const struct options *options);
/* The same of a part of its elements, in memory of their own: found[i] = 1 where element i has no data, row-major, their number;
 * then their part. */
int64_t nodata_find(const distmap_view *view, double value, uint8_t *found);
int nodata_part(const struct source *source, const struct options *options, const distmap_problem *problem, distmap_view *view,
                const uint8_t *found, int64_t count);
/* Says whether there is a value for their part, before anything is done. */
int nodata_check(const struct source *source, const struct options *options, const distmap_problem *problem);
/* Makes all found elements sites, or none. */
int nodata_set(const distmap_sites *sites, bool site, const distmap_view *view, const uint8_t *found);

/* DISTANCES, INDICES, LABELS of sites: where there is none, infinity or the largest value, -1, 0 says it. MARKS: masks, skeletons,
 * strengths, numbers, of which there is none at ignored elements alone. */
enum result_kind { RESULT_DISTANCES, RESULT_INDICES, RESULT_LABELS, RESULT_MARKS };
/* Sets the values of ignored elements in a result, row-major without gaps: no distance, index -1, label 0, no mark. NULL: none are. */
void nodata_erase(const distmap_view *result, const uint8_t *ignored, enum result_kind kind);
/* Whether there is no distance at some element that is not ignored. */
bool nodata_leaves_none(const distmap_view *result, const uint8_t *ignored);
/* Refuses a mask of bools where elements may be ignored. */
int nodata_check_mask(const struct source *source, const struct options *options, distmap_dtype dtype);

/* The value of a result where there is no distance, no label or no data. */
struct fill {
    bool known;   /* by --fill or the file, so that the output says it */
    bool written; /* in place of infinity, the largest value or label 0; else that says it */
    enum result_kind kind;
    double value;
    char element[8];       /* the same in the result's type */
    int64_t filled, alike; /* elements that got it; those that have it as their distance */
};

int fill_choose(struct fill *fill, const struct options *options, const struct source *source, distmap_dtype dtype,
                enum result_kind kind);
/* none[i] = 1 where there is no distance. */
void fill_look(const distmap_view *result, const struct fill *fill, uint8_t *none);
/* Writes it, row-major without gaps, where `none` says so, or where there is no distance (NULL). */
void fill_put(const distmap_view *result, struct fill *fill, const uint8_t *none);
void warn_of_fill(const struct options *options, const struct fill *fill);

/* ---- The problem ---- */

/* The problem that the options state for the file, without outputs wanted. */
int problem_make(const struct options *options, const distmap_image_info *info, distmap_problem *problem);
/* A list of axes, by name or number, as bits. */
int problem_axes(const struct options *options, const char *option, const name_list *names,
                 const distmap_image_info *info, unsigned *axes);
/* Chooses the dtype of the distances wanted, or refuses the one asked for. */
int problem_want_distance(const struct options *options, const distmap_context *context, distmap_problem *problem,
                          distmap_dtype *dtype);
distmap_dtype index_dtype(const distmap_problem *problem);

struct work {
    distmap_context *context;
    struct place place;
    distmap_plan *plan;
    struct settings settings;
    distmap_description description;
    unsigned flags;
    double seconds;
};

int work_begin(struct work *work, const struct options *options);
int work_plan(struct work *work, const struct options *options, const distmap_problem *problem);
int work_run(struct work *work, const struct options *options, const distmap_arrays *arrays);
void work_end(struct work *work);

/* Where elements are ignored (nodata_runs.c): signed maps and the maps of labels; labels that are eroded or opened. */
int signed_run(struct job *job, const struct options *options, const distmap_arrays *arrays);
int labels_run(struct job *job, const struct options *options, const distmap_arrays *arrays);
int labels_shrink(struct job *job, const struct options *options, const distmap_arrays *arrays);
/* The error that says that `option` has no such runs. */
int nodata_refuse(const struct options *options, const char *option);

/* ---- The outputs ---- */

struct sink {
    const char *path; /* NULL: not wanted, and then every call is a no-op */
    distmap_writer *writer;
    distmap_image_info info;
    distmap_view view; /* where to put the result */
    void *buffer;      /* owned; NULL when the file is mapped */
};

/* Refuses outputs that are the input, or each other; needs the file system only. */
int sinks_check(const struct options *options);
/* Says what an output is: what the input is, but for elements, their kind and their value for no data (fill; NULL: none); from then on
 * signals are noted. Of --compress, --chunks, --shards and --zarr-format the index takes what it can. */
int sink_describe(struct sink *sink, const struct options *options, const char *path, const distmap_image_info *input,
                   distmap_dtype dtype, distmap_image_kind kind, const struct fill *fill);
/* And opens it. */
int sink_open(struct sink *sink, const struct options *options, const char *path, const distmap_image_info *input,
              distmap_dtype dtype, distmap_image_kind kind, const struct fill *fill);
/* Writes what lies in the buffer (nothing to do where the file is mapped). */
int sink_write(struct sink *sink, const struct options *options);
/* Gives all files their names, when all are whole and, but for `no_sync`, on the disk; if one fails, all is as it was. */
int sinks_commit(struct sink *const *sinks, int count, bool no_sync);
void sink_close(struct sink *sink);
/* A file, or a folder with all that it holds. */
void remove_all(const char *path);

/* ---- Text files (text_file.c) ---- */

/* Whole or not at all, as sinks are. Errors are told. */
struct text_file {
    FILE *file;
    struct sink sink; /* for sinks_commit(), when the file is closed */
};

int text_file_open(struct text_file *text, const char *path);
int text_file_close(struct text_file *text);
/* Closes it, and gives it its name alone; of a run that was cut off too, which may leave what it has. */
int text_file_finish(struct text_file *text, bool no_sync);
/* Frees the rest of it, at any time. */
void text_file_drop(struct text_file *text);

/* ---- Elements of any type (elements.c) ---- */

/* site[i] = 1 where element i of a run is a site by the rule. */
void elements_sites(const void *first, distmap_dtype dtype, int64_t stride, int64_t count, const distmap_sites *sites,
                    uint8_t *site);

/* How many elements of a view are sites. */
int64_t elements_count_sites(const distmap_view *view, const distmap_sites *sites);

struct statistics {
    double min, max, sum; /* of the elements that are not NaN */
    int64_t count, zeros, nans;
};

struct statistics statistics_make(void);
void elements_count(const distmap_view *view, struct statistics *statistics); /* adds up */
double element_value(const char *at, distmap_dtype dtype); /* rounded, beyond 2^53 */
/* The least and largest value of an integer type. */
void dtype_limits(distmap_dtype dtype, double *least, double *most);
/* The largest squared or plain distance that is not "no site"; -1 when there is none. Row-major, no gaps. */
double elements_largest(const distmap_view *view);
/* The least and largest finite element of floats, 0 taken in; row-major, no gaps. */
void elements_extent(const distmap_view *view, double *least, double *largest);

/* Numbers the connected groups of sites (8 neighbours in 2-D, 26 in 3-D, along the measured axes) 1, 2, ... in the order
 * of their first elements; 0 elsewhere. `numbers`: one uint32 per element, row-major. */
int components_number(const distmap_view *view, const distmap_problem *problem, uint32_t *numbers, int64_t *count);
/* Whether one group holds most of the sites. */
bool components_one_rules(const uint32_t *numbers, int64_t elements, int64_t count);
/* Elements whose next neighbour along one of the `axes` (bits; 0: all) has another label, other than 0, become 0. Row-major,
 * no gaps. */
void boundaries_clear(const distmap_view *labels, unsigned axes);

/* ---- Previews ---- */

struct preview {
    struct sink sink;
    int width, height;
    uint8_t *pixels;
    const distmap_image_info *input;
    const distmap_problem *problem;
    double pitch;    /* world units per pixel */
    double iso_step; /* between iso-lines, for the message */
};

/* Lays the picture out and opens its file. `regions`: by the Voronoi palette, else by distance. */
int preview_open(struct preview *preview, const struct options *options, const distmap_problem *problem,
                 const distmap_image_info *input, bool regions);
int preview_distances(struct preview *preview, const distmap_view *distances, bool squared, double largest);
int preview_strengths(struct preview *preview, const distmap_view *strengths);
/* Elements of `marks` that are not 0, on the shape, which is what are no sites in `sites`. */
int preview_marks(struct preview *preview, const distmap_view *marks, const distmap_view *sites);
/* Elements of `points` that are not 0, by their distances, on the set that the nonzero elements of `other` are. */
int preview_points(struct preview *preview, const distmap_view *points, const distmap_view *distances,
                   const distmap_view *other, double largest);
/* `sites`: the run's input, to show the sites themselves in darker colours. `index`: with data, zones are those of pieces of
 * the sites, cut by a coarse grid, rather than those of labels. */
int preview_regions(struct preview *preview, const distmap_view *labels, const distmap_view *sites,
                    const distmap_view *index);
/* A set, or labels, and the run's input: what was there before is darker, what is no more dark. */
int preview_sets(struct preview *preview, const distmap_view *sets, const distmap_view *before);
/* Dots of `radius`, in elements of the last axis, at the centroids (points x ndim) of the numbered cells, black on white. */
int preview_dots(struct preview *preview, const distmap_view *labels, const double *centroids, double radius);
void preview_close(struct preview *preview);

enum { DISTANCE_TONES = 84, LINE_LEVELS = 3, REGION_COLOURS = 126 };
enum { COLOUR_GAP = 0, COLOUR_NO_SITE = 1, COLOUR_EDGE = 2, COLOUR_FIRST = 3 };
void colours_distance(uint8_t palette[256][3]); /* COLOUR_FIRST + level * DISTANCE_TONES + tone */
void colours_signed(uint8_t palette[256][3]);   /* the same, 0 in the middle */
void colours_grey(uint8_t palette[256][3]);     /* black to white */
void colours_regions(uint8_t palette[256][3]);  /* COLOUR_FIRST + region, + REGION_COLOURS for its sites */

/* ---- A map from file to file (edt, voronoi, esf, morph) ---- */

struct job {
    struct source source;
    distmap_problem problem;
    struct work work;
    struct sink map, index;
    struct text_file text; /* cvt */
    struct preview preview;
    struct fill fill;
    double largest;                  /* of a distance map; < 0: not a distance map */
    bool nowhere;                    /* a distance map without any distance: no element has a site */
    double least;                    /* of a signed map */
    int64_t components;              /* < 0: not counted */
    int64_t sites;                   /* how many elements; < 0: not counted */
    distmap_convergence convergence; /* esf */
    int64_t marked;                  /* skeleton: elements */
    double *energies;                /* cvt: after each step; owned */
    double write_seconds;
    struct {
        int parts; /* slabs; 0: in memory */
        int64_t limit, peak;
    } out_of_core;
    int ranks; /* that shared the work; 0: this process did it */
};

/* Counts the sites of the input, once it is read, and looks whether a mask is one. */
void job_look(struct job *job, const struct options *options);
/* Keeps what elements_largest() tells. */
void job_take_largest(struct job *job, double largest);
/* Warns of what the run met, as NaN and no site; then EXIT_WARNED with --strict. Before outputs get their names. */
int job_judge(const struct job *job, const struct options *options);
/* A whole run, of whose steps `compute` is all but giving everything back. */
int job_run(const struct options *options, int (*compute)(struct job *job, const struct options *options));
/* For what is computed in parts, on the CPU unless a device is named: opens the input and a context, which reports to `progress`, and
 * states the problem, whose map has elements of *dtype. */
int job_state_parts(struct job *job, const struct options *options, distmap_progress *progress, void *user,
                    distmap_dtype *dtype);
/* Plans the problem, opens the outputs (see below) and reads the input. */
int job_begin(struct job *job, const struct options *options, distmap_dtype dtype, bool regions);
/* Of the map that the options ask for. */
distmap_image_kind job_kind(const struct options *options);
enum result_kind job_result(const struct options *options);
/* Opens the outputs that the options name, the map with elements of `dtype`. */
int job_open_outputs(struct job *job, const struct options *options, distmap_dtype dtype, bool regions);
/* Writes what is not written yet, gives all outputs their names, and reports. */
int job_finish(struct job *job, const struct options *options);
void job_close(struct job *job);
/* edt --memory: the whole run, out of core (outofcore/). */
int outofcore_run(const struct options *options);
/* edt --distributed: by distmap-mpi, which takes this process over and gets its arguments (distributed/). Returns after an error
 * alone. */
int distributed_hand_over(const char *what, const char **argv);
/* The largest distance, of either sign. */
double job_farthest(const struct job *job);

/* ---- What an image is, said (model.c) ---- */

/* With as many digits as read back as it. */
const char *number_text(double value, char text[40]);
/* "zyx" */
const char *axes_text(const distmap_image_info *info, char text[160]);
/* "z=2.5, y=0.7, x=0.7 um"; one number where all space axes have one. */
const char *pitch_text(const distmap_image_info *info, char text[320]);
/* "by --spacing", "by the file", "by default" */
const char *pitch_origin(const struct source *source);
/* All of it, for programs, into an object: axes, pitches, units, world, nodata, kind. */
void json_add_model(struct json_object *object, const distmap_image_info *info);
/* The same for people, on stdout, line by line. */
void print_model(const distmap_image_info *info);
/* Reads back what json_add_model() wrote, of a shape that is known: what it does not tell stays. */
void model_from_json(struct json_object *object, distmap_image_info *info);
/* Says axes, pitches, sites and signs of a run, in one line (meaning.c). */
void report_meaning(const struct job *job, const struct options *options);
void json_add_meaning(struct json_object *object, const struct job *job, const struct options *options);
/* "zero", "128..255" */
const char *sites_text(const distmap_sites *sites, char text[96]);

/* One line on stderr and, with --json, an object on stdout. */
void report_give(const struct job *job, const struct options *options);

/* Method, device, threads, parameters and scratch of a run. */
void json_add_work(struct json_object *object, const struct work *work);
/* pitch_unit, of which the pitches are whole multiples, and multiples; nulls where squared distances are FP64. */
void json_add_unit(struct json_object *object, const distmap_problem *problem);
/* "1.4 ms", "12.3 s" */
const char *time_text(double seconds, char *text, size_t size);
struct json_object *json_shape(int ndim, const int64_t *shape);
struct json_object *json_decimal(double value); /* with the fewest digits, from 15 on, that read back as it: 0.65 */
struct json_object *json_number(double value);  /* infinities and NaN, which JSON lacks, as null */
void json_print(struct json_object *object);    /* and lets go of it */
/* Into a text file that is open. */
void json_put(struct json_object *object, FILE *file);
/* "328 x 400" */
const char *shape_text(int ndim, const int64_t *shape, char *text, size_t size);

/* ---- The machine ---- */

struct machine {
    char cpu[128];
    int processors;
    double memory_bytes;
};

void machine_look(struct machine *machine);
void json_add_machine(struct json_object *object); /* and which build this is */

/* ---- Benchmark patterns ---- */

enum { BENCH_LONGEST = 1 << 20 }; /* side */

/* Fills a mask (0 at sites) of ndim axes with a named pattern; false when there is no such pattern. */
bool pattern_fill(const char *name, double density, uint64_t seed, int ndim, const int64_t *shape, uint8_t *mask);
uint64_t pattern_seed(const struct options *options); /* --seed, or a fresh one */
const char *pattern_name(int row);                    /* NULL past the end */
bool pattern_takes_density(const char *name);

/* Calls task(arg, i) for i in [0, count), on all processors. */
void share_out(int64_t count, void (*task)(void *arg, int64_t i), void *arg);

/* ---- The papers' tables (suites/) ---- */

int suite_run(const struct options *options);                   /* bench --suite */
int suite_find(const char *option, const char *name, int *row); /* 0, or says which there are */

#endif
