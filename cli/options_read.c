/* Readers of plain values: what a row says of range and names is checked, and the value stored where it says. */
#include <string.h>

#include "options_read.h"

static void *member(struct options *options, size_t offset) { return (char *)options + offset; }

static void note(const option_row *row, struct options *options) {
    if (row->given)
        *(bool *)member(options, row->given) = true;
}

int read_flag(const option_row *row, struct options *options, const char *option, const char *text) {
    (void)option, (void)text;
    *(bool *)member(options, row->at) = true;
    return 0;
}

int read_path(const option_row *row, struct options *options, const char *option, const char *text) {
    if (*text == '\0')
        return usage("%s: the file name is empty", option);
    *(char **)member(options, row->at) = copy_text(text);
    return 0;
}

int read_names(const option_row *row, struct options *options, const char *option, const char *text) {
    return value_names(option, text, member(options, row->at));
}

int read_number(const option_row *row, struct options *options, const char *option, const char *text) {
    note(row, options);
    return value_number(option, text, row->lowest, row->highest, member(options, row->at));
}

int read_any(const option_row *row, struct options *options, const char *option, const char *text) {
    note(row, options);
    return value_any(option, text, member(options, row->at));
}

int read_numbers(const option_row *row, struct options *options, const char *option, const char *text) {
    return value_numbers(option, text, row->lowest, row->highest, member(options, row->at));
}

static int whole_number(const option_row *row, const char *option, const char *text, int64_t *value) {
    return value_integer(option, text, (int64_t)row->lowest, row->highest < 0x1p63 ? (int64_t)row->highest : INT64_MAX,
                         value);
}

int read_integer(const option_row *row, struct options *options, const char *option, const char *text) {
    note(row, options);
    return whole_number(row, option, text, member(options, row->at));
}

int read_int(const option_row *row, struct options *options, const char *option, const char *text) {
    int64_t value = 0;
    const int status = whole_number(row, option, text, &value);
    *(int *)member(options, row->at) = (int)value;
    return status;
}

int read_bytes(const option_row *row, struct options *options, const char *option, const char *text) {
    return value_bytes(option, text, member(options, row->at));
}

int read_choice(const option_row *row, struct options *options, const char *option, const char *text) {
    int choice = 0;
    const int status = value_choice(option, text, row->names, &choice);
    note(row, options);
    memcpy(member(options, row->at), &choice, sizeof choice); /* any enum */
    return status;
}

int read_length(const option_row *row, struct options *options, const char *option, const char *text) {
    note(row, options);
    return value_length(option, text, row->lowest, member(options, row->at), member(options, row->unit));
}
