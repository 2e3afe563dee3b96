/* Parses a JSON text (RFC 8259) to json-c's objects. NaN and Infinity are numbers too, as Python writes them; a repeated name is an error.
 *
 * json-c's own parser (up to 0.16) does not report all failed allocations: if there is no memory for a member's name, the process ends
 * by a signal, and if there is none for a member, it is left out silently, so that the caller takes a default. Objects are therefore made
 * here, by those functions of json-c that report failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"
#include "io/zarr.h"

enum { DEEPEST = 64 }; /* nested objects */

typedef struct parser {
    const char *at, *end; /* *end is 0 */
    int depth;
    char *string; /* room for every string of the text: none becomes longer */
    size_t string_bytes;
} parser;

static dm_json_end parse_value(parser *p, json_object **value);

static void skip_space(parser *p) { p->at += strspn(p->at, " \t\r\n"); }

static bool take(parser *p, char c) {
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_word(parser *p, const char *word) {
    const size_t bytes = strlen(word);
    if (strncmp(p->at, word, bytes) != 0)
        return false;
    p->at += bytes;
    return true;
}

static dm_json_end made(const json_object *value) { return value ? DM_JSON_GOOD : DM_JSON_NO_MEMORY; }

/* ---- Strings ---- */

/* Reads four hexadecimal digits; -1: they are missing. */
static long take_unit(parser *p) {
    long unit = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = *p->at ? strchr(digits, *p->at) : NULL;
        if (!found)
            return -1;
        unit = unit * 16 + (found - digits) % 16;
    }
    return unit;
}

static char *put_utf8(char *to, unsigned long code) {
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[more] | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        *to++ = (char)(0x80 | (code >> 6 * i & 0x3f));
    return to;
}

/* Reads the rest of "\u". Half a surrogate pair becomes U+FFFD. */
static bool take_code(parser *p, char **to) {
    enum { HIGH = 0xd800, LOW = 0xdc00, BEHIND = 0xe000, NONE = 0xfffd };
    long code = take_unit(p);
    if (code >= HIGH && code < LOW && p->at[0] == '\\' && p->at[1] == 'u') {
        const char *before = p->at;
        p->at += 2;
        const long low = take_unit(p);
        if (low >= LOW && low < BEHIND)
            code = 0x10000 + ((code - HIGH) << 10) + (low - LOW);
        else
            p->at = before;
    }
    if (code >= HIGH && code < BEHIND)
        code = NONE;
    if (code >= 0)
        *to = put_utf8(*to, (unsigned long)code);
    return code >= 0;
}

/* Reads the string behind the first quote into p->string. */
static bool take_string(parser *p) {
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *to = p->string;
    while (*p->at != '"') {
        if (p->at == p->end)
            return false;
        if (*p->at != '\\') {
            *to++ = *p->at++;
            continue;
        }
        const char escape = p->at[1], *found = escape ? strchr(escapes, escape) : NULL;
        if (!found && escape != 'u')
            return false;
        p->at += 2;
        if (found)
            *to++ = meant[found - escapes];
        else if (!take_code(p, &to))
            return false;
    }
    p->at++;
    *to = '\0';
    p->string_bytes = (size_t)(to - p->string);
    return true;
}

/* ---- Numbers ---- */

/* Integers beyond 64 bits become the largest one. Other numbers keep their text, and are written unchanged. */
static dm_json_end parse_number(parser *p, json_object **value) {
    const char *begin = p->at, *end = begin + (*begin == '-');
    const size_t digits = strspn(end, "0123456789");
    if (!digits)
        return DM_JSON_BROKEN;
    end += digits;
    if (!strchr(".eE", *end) || !*end) {
        p->at = end;
        errno = 0;
        const long long number = strtoll(begin, NULL, 10);
        *value =
            errno && *begin != '-' ? json_object_new_uint64(strtoull(begin, NULL, 10)) : json_object_new_int64(number);
        return made(*value);
    }
    const double number = dm_number(begin, &end);
    p->at = end;
    char text[64];
    const size_t bytes = (size_t)(end - begin);
    memcpy(text, begin, bytes < sizeof text ? bytes : 0);
    text[bytes < sizeof text ? bytes : 0] = '\0';
    *value = *text ? json_object_new_double_s(number, text) : json_object_new_double(number);
    return made(*value);
}

/* ---- Objects, arrays, and all of them ---- */

static dm_json_end parse_member(parser *p, json_object *object) {
    json_object *value = NULL;
    if (!take(p, '"') || !take_string(p) || strlen(p->string) != p->string_bytes)
        return DM_JSON_BROKEN;
    if (json_object_object_get_ex(object, p->string, NULL))
        return DM_JSON_TWICE;
    char *name = strdup(p->string);
    dm_json_end end = !name ? DM_JSON_NO_MEMORY : take(p, ':') ? parse_value(p, &value) : DM_JSON_BROKEN;
    if (end == DM_JSON_GOOD && json_object_object_add(object, name, value) != 0)
        end = DM_JSON_NO_MEMORY;
    if (end != DM_JSON_GOOD)
        json_object_put(value);
    free(name);
    return end;
}

static dm_json_end parse_item(parser *p, json_object *array) {
    json_object *value = NULL;
    dm_json_end end = parse_value(p, &value);
    if (end == DM_JSON_GOOD && json_object_array_add(array, value) != 0)
        end = DM_JSON_NO_MEMORY;
    if (end != DM_JSON_GOOD)
        json_object_put(value);
    return end;
}

/* Reads the rest behind the first bracket; `holder` is NULL without memory. */
static dm_json_end parse_inside(parser *p, json_object *holder, char last,
                                dm_json_end (*parse)(parser *p, json_object *holder), json_object **value) {
    *value = holder;
    if (!holder)
        return DM_JSON_NO_MEMORY;
    if (take(p, last))
        return DM_JSON_GOOD;
    if (++p->depth > DEEPEST)
        return DM_JSON_BROKEN;
    dm_json_end end;
    do
        end = parse(p, holder);
    while (end == DM_JSON_GOOD && take(p, ','));
    p->depth--;
    return end != DM_JSON_GOOD || take(p, last) ? end : DM_JSON_BROKEN;
}

static dm_json_end parse_value(parser *p, json_object **value) {
    if (take(p, '{'))
        return parse_inside(p, json_object_new_object(), '}', parse_member, value);
    if (take(p, '['))
        return parse_inside(p, json_object_new_array(), ']', parse_item, value);
    if (take(p, '"')) {
        if (!take_string(p))
            return DM_JSON_BROKEN;
        *value = json_object_new_string_len(p->string, (int)p->string_bytes);
        return made(*value);
    }
    if (take_word(p, "null"))
        return DM_JSON_GOOD;
    const bool yes = take_word(p, "true");
    if (yes || take_word(p, "false")) {
        *value = json_object_new_boolean(yes);
        return made(*value);
    }
    const bool minus = take_word(p, "-Infinity");
    if (minus || take_word(p, "Infinity"))
        return made(*value = json_object_new_double(minus ? -INFINITY : INFINITY));
    if (take_word(p, "NaN"))
        return made(*value = json_object_new_double(NAN));
    return parse_number(p, value);
}

dm_json_end dm_json_parse(const char *text, size_t bytes, json_object **value) {
    parser p = {.at = text, .end = text + bytes, .string = malloc(bytes + 1)};
    *value = NULL;
    dm_json_end end = p.string ? parse_value(&p, value) : DM_JSON_NO_MEMORY;
    skip_space(&p);
    if (end == DM_JSON_GOOD && p.at != p.end)
        end = DM_JSON_BROKEN;
    free(p.string);
    if (end != DM_JSON_GOOD) {
        json_object_put(*value);
        *value = NULL;
    }
    return end;
}
