/* distmap, the command: picks the subcommand, reads its options, runs it.
 *
 * Exit status: 0 done; 1 it failed; 2 the command line is wrong; 3 there was a warning, and --strict; 128 + n after signal n.
 */
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

#include "cli.h"
#include "json.h"

static const struct command *const commands[] = {
    &command_edt, &command_voronoi, &command_skeleton, &command_thickness, &command_morph,   &command_compare, &command_cvt,
    &command_esf, &command_pass,    &command_info,     &command_methods,   &command_devices, &command_bench,   &command_tune,
    &command_report,
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(void) {
    printf("Usage: distmap SUBCOMMAND [INPUT] [-o OUTPUT] [options]\n"
           "Exact Euclidean distance maps of images and volumes.\n\nSubcommands:\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
    print_conventions();
    printf("\nOptions and an example of each: distmap SUBCOMMAND --help\n\nFile formats:\n");
    const distmap_format_info *format;
    for (size_t row = 0; (format = distmap_format_get(row)); row++)
        printf("  %-6s %-5s %s (%s)\n", format->name,
               format->reads && format->writes ? "r/w"
               : format->reads                 ? "read"
                                               : "write",
               format->summary, format->endings);
}

static int unknown(const char *name) {
    char names[256] = "";
    for (int i = 0; i < COMMANDS; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", commands[i]->name);
    return name ? usage("there is no subcommand '%s'; there are %s", name, names)
                : usage("a subcommand is needed: %s", names);
}

int main(int argc, const char **argv) {
    distmap_io_own_helper(argc, argv);
    signals_ignore();
    if (argc < 2)
        return unknown(NULL);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help();
        return results_flush(0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("distmap %s\n", distmap_version());
        return results_flush(0);
    }
    /* Before options are checked, so that of several processes not each says what is wrong with them. */
    if (strcmp(argv[1], command_edt.name) == 0)
        for (int i = 2; i < argc; i++)
            if (strcmp(argv[i], "--distributed") == 0)
                return distributed_hand_over("--distributed", argv);
    if (strcmp(argv[1], command_bench.name) == 0)
        for (int i = 2; i < argc; i++)
            if (strcmp(argv[i], "--suite=cluster") == 0 ||
                (i > 2 && strcmp(argv[i], "cluster") == 0 && strcmp(argv[i - 1], "--suite") == 0))
                return distributed_hand_over("--suite cluster", argv);
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0) {
            struct options options;
            bool answered = false;
            int status = options_read(commands[i], argc - 1, argv + 1, &options, &answered);
            if (status == 0)
                distmap_io_set_threads(options.threads);
            cut_short_watch(options.input, options.other);
            if (status == 0 && !answered)
                status = commands[i]->run(&options);
            if (cut_short()) {
                __fpurge(stdout); /* results of zeros */
                status = status ? status : fail("interrupted");
            }
            if (status == 0 && json_lost())
                status = fail("out of memory: no JSON is printed");
            options_free(&options);
            return results_flush(status);
        }
    return unknown(argv[1]);
}
