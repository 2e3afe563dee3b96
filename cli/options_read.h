/* Shared by the files of the options: a row of their table, and the readers of its value.
 *
 *     options_table.c   the table: a row for each option and the subcommands that take it
 *     options_read.c    readers of plain values, which store them where the row says
 *     options_own.c     readers of the other ones
 *     options_check.c   which options go together
 *     options.c         from the arguments to all of these, and --help
 */
#ifndef DISTMAP_CLI_OPTIONS_READ_H
#define DISTMAP_CLI_OPTIONS_READ_H

#include <stddef.h>

#include "cli.h"

typedef struct option_row option_row;

/* Reads the value of `option`, "--rho"; NULL where it takes none. 0, or EXIT_USAGE and its line is said. */
typedef int option_reader(const option_row *row, struct options *options, const char *option, const char *text);

struct option_row {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    unsigned commands;
    const char
        *value; /* placeholder; NULL: takes none, as "[SIDE]" does, which join_sides() makes an option of its own of */
    option_reader *read;
    const char *help; /* NULL: not shown */
    /* For readers of plain values. Offsets in struct options, 0: none. */
    size_t at;                /* of what is read */
    size_t given;             /* of a bool that says that it was */
    size_t unit;              /* of a length's unit */
    double lowest, highest;   /* within which numbers lie */
    const char *const *names; /* of choices, from 0 on; ends with NULL */
};

enum { MOST_OPTIONS = 256 }; /* rows */

extern const option_row option_rows[];
extern const int option_count;

/* The stored types: bool; char *; name_list; double (any: infinities and nan too); number_list; int64_t; int; int64_t; an enum; double and
 * its unit. */
option_reader read_flag, read_path, read_names, read_number, read_any, read_numbers, read_integer, read_int, read_bytes,
    read_choice, read_length;

option_reader read_preview, read_sites, read_thresholds, read_metric, read_spacing, read_channel, read_signed,
    read_signed_outside, read_signed_inside, read_shard, read_compress, read_dtype, read_outside, read_percentiles,
    read_suite, read_device, read_method, read_param, read_help, read_version;

/* Refuses options that contradict each other, or miss each other. */
int options_check(const struct options *options);
/* Prints what a subcommand does and which options it takes. */
void options_help(const struct command *command);

#endif
