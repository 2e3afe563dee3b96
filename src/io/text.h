/* Headers that a person can read: lines of keys and values, numbers in decimals. MetaImage, NRRD, ROS maps.
 *
 * Numbers have a point, whatever the program's locale.
 */
#ifndef DISTMAP_IO_TEXT_H
#define DISTMAP_IO_TEXT_H

#include "io/codec.h"

/* A text that grows; zeros at first. */
typedef struct dm_text {
    char *data; /* ends with a zero byte; NULL: empty. To be freed */
    size_t bytes, room;
    bool failed; /* memory was out, and the text is not whole */
} dm_text;

void dm_text_add(dm_text *text, const char *format, ...) DISTMAP_PRINTF(2, 3);
/* `count` numbers, a space before each. */
void dm_text_add_numbers(dm_text *text, const double *numbers, int count);
/* The shortest decimal number that is this one. Returns `text`. */
const char *dm_number_text(double number, char text[32]);

/* The file's lines up to one for which `is_last`, or the end of the file; the input then stands behind it. A text of more than a
 * mebibyte, or with a zero byte, is an error. */
distmap_status dm_text_load(dm_input *input, bool (*is_last)(const char *line), dm_text *text);
/* The next line, which is cut from the text; NULL: none is left. */
char *dm_text_line(char **rest);
/* Without the white space at both ends, which is cut. */
char *dm_trim(char *text);
/* The numbers that make up the text, between white space; how many, or -1 where it is something else or more than `most`. */
int dm_numbers(const char *text, double *numbers, int most);
int dm_integers(const char *text, int64_t *integers, int most);
/* The number at the text's beginning, and where it ends; `text` itself where there is none. */
double dm_number(const char *text, const char **end);

/* ---- beside.c: a header's elements in a file of their own, in its folder or below it ---- */

/* Opens the file that the header names, for messages under the header's name. `may_be_absolute`: elsewhere too. */
distmap_status dm_beside_open(const dm_input *header, const char *file, bool may_be_absolute, dm_input *elements);
/* The path of such a file, checked; the caller frees it. */
distmap_status dm_beside_path(const dm_input *header, const char *file, bool may_be_absolute, char **path);
/* Elements take the header's place as the reader's input. */
void dm_beside_replace(distmap_reader *reader, dm_input *elements);
/* Makes the file for the elements of a header that is written: the header's name with another ending. `name` (owned by the caller)
 * is what the header calls it. */
distmap_status dm_beside_create(const dm_output *header, const char *ending, dm_output *elements, char **name);

#endif
