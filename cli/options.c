/* The options of a subcommand: its rows of the table in options_table.c, read from the arguments.
 *
 * popt finds the options in the arguments; a row's reader checks the value and stores it. An option given twice is an
 * error rather than a silent last word, except --param, which adds up.
 */
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options_read.h"

/* ---- Help ---- */

void options_help(const struct command *command) {
    printf("Usage: distmap %s %s%s[options]\n%s\n\nOptions:\n", command->name, command->arguments,
           *command->arguments ? " " : "", command->about);
    for (int i = 0; i < option_count; i++)
        if (option_rows[i].commands & command->bit && option_rows[i].help) {
            char spelling[64];
            snprintf(spelling, sizeof spelling, "%c%c%s--%s%s%s", option_rows[i].letter ? '-' : ' ',
                     option_rows[i].letter ? option_rows[i].letter : ' ', option_rows[i].letter ? ", " : "  ",
                     option_rows[i].name, option_rows[i].value ? " " : "",
                     option_rows[i].value ? option_rows[i].value : "");
            printf("  %-24s %s\n", spelling, option_rows[i].help);
        }
    if (command->bit & (SHAPES | COMPARE | PASS))
        print_conventions();
    printf("\nExample:\n%s", command->example);
}

/* ---- Reading ---- */

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
    bool given[MOST_OPTIONS] = {false};
    int found;
    while ((found = poptGetNextOpt(context)) > 0) {
        const option_row *row = &option_rows[found - 1];
        char *text = poptGetOptArg(context);
        char option[32];
        snprintf(option, sizeof option, "--%s", row->name);
        int status = 0;
        if (!text && row->value && *row->value != '[')
            status = fail("out of memory");
        else if (given[found - 1] && row->read != read_param)
            status = usage("%s is given twice", option);
        else
            status = row->read(row, options, option, text);
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
    const int status = options_check(options);
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
    struct poptOption table[MOST_OPTIONS + 1];
    int count = 0;
    for (int i = 0; i < option_count; i++)
        if (option_rows[i].commands & command->bit)
            table[count++] = (struct poptOption){
                .longName = option_rows[i].name,
                .shortName = option_rows[i].letter,
                .argInfo = option_rows[i].value && *option_rows[i].value != '[' ? POPT_ARG_STRING : POPT_ARG_NONE,
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
    free(o->only);
    free(o->without);
    free(o->method);
    free(o->preview);
    free(o->scratch);
    free(o->index);
    free(o->output);
    free(o->other);
    free(o->input);
}
