/* Texts of headers: see text.h. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"

enum { MOST_TEXT = 1 << 20 };

/* ---- Numbers ---- */

static locale_t c_locale;

static void make_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static locale_t locale_of_numbers(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    return c_locale;
}

double dm_number(const char *text, const char **end) {
    const locale_t locale = locale_of_numbers();
    char *stop;
    const double number = locale ? strtod_l(text, &stop, locale) : strtod(text, &stop);
    *end = stop;
    return number;
}

const char *dm_number_text(double number, char text[32]) {
    const locale_t locale = locale_of_numbers(), before = locale ? uselocale(locale) : (locale_t)0;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    if (locale)
        uselocale(before);
    return text;
}

/* The next word's beginning, or NULL behind the last one. */
static const char *next_word(const char *text) {
    while (isspace((unsigned char)*text))
        text++;
    return *text ? text : NULL;
}

/* Whether a number that was read from there up to `end` is all of a word. */
static bool is_word(const char *text, const char *end) {
    return end != text && (!*end || isspace((unsigned char)*end));
}

int dm_numbers(const char *text, double *numbers, int most) {
    int count = 0;
    for (const char *end; (text = next_word(text)); text = end) {
        const double number = dm_number(text, &end);
        if (count == most || !is_word(text, end))
            return -1;
        numbers[count++] = number;
    }
    return count;
}

int dm_integers(const char *text, int64_t *integers, int most) {
    int count = 0;
    for (char *end; (text = next_word(text)); text = end) {
        errno = 0;
        const long long number = strtoll(text, &end, 10);
        if (count == most || errno || !is_word(text, end))
            return -1;
        integers[count++] = number;
    }
    return count;
}

/* ---- Texts that grow ---- */

static bool make_room(dm_text *text, size_t more) {
    if (text->failed)
        return false;
    if (text->bytes + more < text->room)
        return true;
    const size_t room = 2 * (text->bytes + more) + 256;
    char *grown = realloc(text->data, room);
    text->failed = !grown;
    if (!grown)
        return false;
    text->data = grown;
    text->room = room;
    return true;
}

void dm_text_add(dm_text *text, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int bytes = vsnprintf(NULL, 0, format, args);
    if (bytes >= 0 && make_room(text, (size_t)bytes)) {
        vsnprintf(text->data + text->bytes, text->room - text->bytes, format, again);
        text->bytes += (size_t)bytes;
    }
    va_end(again);
    va_end(args);
}

void dm_text_add_numbers(dm_text *text, const double *numbers, int count) {
    char one[32];
    for (int i = 0; i < count; i++)
        dm_text_add(text, " %s", dm_number_text(numbers[i], one));
}

/* ---- Lines ---- */

distmap_status dm_text_load(dm_input *input, bool (*is_last)(const char *line), dm_text *text) {
    size_t line = 0;
    for (;;) {
        char c = 0;
        size_t got;
        TRY(dm_input_next(input, &c, 1, &got));
        if (got && !c)
            return dm_broken(input, "broken header: there is a zero byte in its text");
        if (text->bytes == MOST_TEXT)
            return dm_broken(input, "broken header: it does not end within a mebibyte");
        if (!make_room(text, 2))
            return dm_no_memory(input->name);
        if (got)
            text->data[text->bytes++] = c;
        text->data[text->bytes] = '\0';
        if (got && c != '\n')
            continue;
        char *copy = strdup(text->data + line);
        if (!copy)
            return dm_no_memory(input->name);
        const bool last = is_last(dm_trim(copy));
        free(copy);
        if (!got || last)
            return DISTMAP_OK;
        line = text->bytes;
    }
}

char *dm_text_line(char **rest) {
    char *line = *rest;
    if (!line || !*line)
        return NULL;
    char *end = strchr(line, '\n');
    *rest = end ? end + 1 : line + strlen(line);
    if (end) {
        *end = '\0';
        if (end > line && end[-1] == '\r')
            end[-1] = '\0';
    }
    return line;
}

const char *dm_text_after(const char *line) {
    const char *end = strchr(line, '\n');
    return end && end[1] ? end + 1 : NULL;
}

char *dm_trim(char *text) {
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}
