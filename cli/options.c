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
    const char *value; /* placeholder; NULL: takes none */
    int (*read)(struct options *options, const char *option, const char *text);
    const char *help;
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
static int read_metric(struct options *o, const char *option, const char *text) {
    return value_metric(option, text, o);
}
static int read_spacing(struct options *o, const char *option, const char *text) {
    return value_numbers(option, text, DBL_MIN, DBL_MAX, &o->spacing);
}
static int read_signed(struct options *o, const char *option, const char *text) {
    (void)o, (void)text;
    return usage("%s: signed distances are not in this version", option);
}
static int read_limit(struct options *o, const char *option, const char *text) {
    return value_number(option, text, DBL_MIN, DBL_MAX, &o->limit);
}
static int read_dtype(struct options *o, const char *option, const char *text) {
    o->dtype = distmap_dtype_from_name(text);
    return o->dtype ? 0 : usage("%s: '%s' is no element type; float32, float64, uint32, uint64 are", option, text);
}
static int read_axes(struct options *o, const char *option, const char *text) {
    return value_names(option, text, &o->axes);
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
static int read_sizes(struct options *o, const char *option, const char *text) {
    return value_numbers(option, text, 1, BENCH_LONGEST, &o->sizes);
}
static int read_volumes(struct options *o, const char *option, const char *text) {
    return value_numbers(option, text, 1, 1 << 14, &o->volumes);
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
static int read_seed(struct options *o, const char *option, const char *text) {
    int64_t value = 0;
    const int status = value_integer(option, text, 0, INT64_MAX, &value);
    o->seed = (uint64_t)value;
    o->seed_given = true;
    return status;
}
static int read_device(struct options *o, const char *option, const char *text) {
    o->device_given = strcmp(text, "auto") != 0;
    return o->device_given ? value_device(option, text, &o->device, &o->ordinal) : 0;
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
    {"output", 'o', MAPS, "OUT", read_output, "where the result goes; its ending tells the format, - is stdout (NPY)"},
    {"output", 'o', BENCH, "OUT.json", read_output, "write the results as JSON"},
    {"sites", 0, MAPS, "SITES", read_sites,
     "elements to measure from: zero, nonzero, VALUE, LO..HI (either end may be left out)"},
    {"threshold", 0, MAPS, "T", read_threshold, "the foreground is what is >= T, instead of what is not 0"},
    {"metric", 0, EDT, "METRIC", read_metric, "euclidean (default), squared, cityblock, chessboard or chamfer:A,B[,C]"},
    {"spacing", 0, MAPS, "W,W[,W]", read_spacing,
     "element pitch per axis, slowest first, or one for all; default: the file's"},
    {"axes", 0, MAPS, "AXES", read_axes, "measure along these axes only, as in y,x or 1,2; each slice for itself"},
    {"labels", 0, EDT, NULL, read_labels, "measure to the nearest element of another label; 0 is background"},
    {"labels", 0, VORONOI, NULL, read_labels, "OUT gets the input's value at the nearest site"},
    {"components", 0, VORONOI, NULL, read_components, "OUT gets the number of the nearest connected group of sites"},
    {"signed", 0, EDT, NULL, read_signed, NULL},
    {"border", 0, MAPS, NULL, read_border, "what lies just outside the image counts as sites too"},
    {"limit", 0, MAPS, "R", read_limit, "look no farther than R; elements beyond have no site"},
    {"index", 0, MAPS, "OUT", read_index, "also write the linear index of the nearest site (-1: none, -2: border)"},
    {"dtype", 0, EDT, "DTYPE", read_dtype,
     "float32, float64; with other metrics uint32, uint64 too, and uint16 but for squared"},
    {"dtype", 0, VORONOI, "DTYPE", read_dtype, "any integer type; default: the input's, int32 for components"},
    {"preview", 0, MAPS, "OUT.png", read_preview, "also make a picture to look at"},
    {"sizes", 0, BENCH, "N,...", read_sizes, "sides of square images (default 1024,4096)"},
    {"volumes", 0, BENCH, "N,...", read_volumes, "sides of cubic volumes (default 128)"},
    {"densities", 0, BENCH, "P,...", read_densities,
     "shares of sites for the pattern 'random' (default 0.0001,0.01,0.5)"},
    {"patterns", 0, BENCH, "NAME,...", read_patterns,
     "random, corner, lattice, diagonal, circle, parabola, blobs (default: all)"},
    {"methods", 0, BENCH, "NAME,...", read_methods, "methods to time (default: the exact ones, brute force aside)"},
    {"index", 0, BENCH, NULL, read_with_index, "compute nearest-site indices too"},
    {"repeat", 0, BENCH, "N", read_repeat, "runs of each, of which the fastest counts (default 3)"},
    {"seed", 0, BENCH, "N", read_seed, "seed of the patterns (default: a fresh one, which is printed)"},
    {"device", 0, MAPS, "DEVICE", read_device,
     "auto (a GPU if there is one; default), cpu, cuda or cuda:N; 'distmap devices' lists them"},
    {"device", 0, BENCH, "DEVICE", read_device, "cpu (default), or cuda, cuda:N: from host memory to host memory"},
    {"threads", 0, MAPS | BENCH, "N", read_threads, "use N threads (default: all processors)"},
    {"method", 0, MAPS, "NAME", read_method, "use this method; 'distmap methods' lists them"},
    {"param", 0, MAPS | BENCH, "K=V", read_param, "set a parameter of the method; may be given again"},
    {"json", 0, ALL, NULL, read_json, "print the results as JSON on stdout"},
    {"quiet", 'q', ALL, NULL, read_quiet, "say nothing but errors"},
    {"help", 'h', ALL, NULL, read_help, "print this text"},
    {"version", 0, ALL, NULL, read_version, "print the version"},
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
    printf("\nExample:\n%s", command->example);
}

/* ---- Reading ---- */

/* Options that contradict each other, or miss each other. Each line of this list is one rule. */
static int check_together(const struct options *o) {
    if (o->command->bit & MAPS) {
        if (!o->input)
            return usage("%s: the input file is missing; see distmap %s --help", o->command->name, o->command->name);
        if (!o->output)
            return usage("%s: -o OUTPUT is missing", o->command->name);
        if (o->threshold_given && o->labels)
            return usage("--threshold and --labels contradict each other: a threshold makes a mask of the image");
        if (o->labels && o->components)
            return usage("--labels and --components contradict each other");
        if (o->threshold_given && o->sites_given && o->sites.rule != DISTMAP_SITES_ZERO &&
            o->sites.rule != DISTMAP_SITES_NONZERO)
            return usage("--threshold goes with --sites zero or nonzero: which side of it the sites are on");
        if (o->sites_given && o->sites.rule == DISTMAP_SITES_NONE && !(o->labels && o->command->bit == EDT))
            return usage("--sites none goes with edt --labels: no label is background");
        if (o->settings.count && !o->method)
            return usage("--param needs --method: parameters belong to one method");
        const bool to_stdout = strcmp(o->output, "-") == 0;
        if (to_stdout && o->json)
            return usage("-o - and --json contradict each other: both write to stdout");
        if (o->index && strcmp(o->index, "-") == 0 && (to_stdout || o->json))
            return usage("--index - and %s contradict each other: both write to stdout", o->json ? "--json" : "-o -");
        return sinks_check(o);
    }
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
        if (given[found - 1] && row->read != read_param)
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
    const bool takes_input = options->command->bit & (MAPS | INFO);
    const char *argument;
    while ((argument = poptGetArg(context))) {
        if (!takes_input)
            return usage("%s takes no argument, but got '%s'", options->command->name, argument);
        if (options->input)
            return usage("%s takes one input, but got '%s' and '%s'", options->command->name, options->input, argument);
        if (*argument == '\0')
            return usage("%s: the input file's name is empty", options->command->name);
        options->input = copy_text(argument);
    }
    const int status = check_together(options);
    return status ? status : read_settings(options);
}

int options_read(const struct command *command, int argc, const char **argv, struct options *options, bool *help) {
    *options = (struct options){.command = command};
    struct poptOption table[ROWS + 1];
    int count = 0;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].commands & command->bit)
            table[count++] = (struct poptOption){.longName = rows[i].name,
                                                 .shortName = rows[i].letter,
                                                 .argInfo = rows[i].value ? POPT_ARG_STRING : POPT_ARG_NONE,
                                                 .val = i + 1};
    table[count] = (struct poptOption)POPT_TABLEEND;
    poptContext context = poptGetContext("distmap", argc, argv, table, 0);
    if (!context)
        return fail("out of memory");
    const int status = read_all(context, options, help);
    poptFreeContext(context);
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
    free(o->metric_name);
    free(o->method);
    free(o->preview);
    free(o->index);
    free(o->output);
    free(o->input);
}
