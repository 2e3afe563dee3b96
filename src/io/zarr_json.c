/* JSON files of a Zarr store, by json-c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/zarr.h"

enum { MOST_TEXT = 64 << 20, FIRST_TEXT = 1 << 14, DEEPEST = 64 };

/* The whole file, which grows with what is there rather than by its word. NULL and 0: none; NULL and errno. */
static char *load_text(int folder, const char *file, size_t *bytes) {
    const int fd = openat(folder, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        errno = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
        return NULL;
    }
    char *text = NULL;
    size_t room = 0, used = 0;
    int error = 0;
    for (int64_t got = 1; got > 0 && !error;) {
        room = room ? 4 * room : FIRST_TEXT;
        char *grown = room > MOST_TEXT ? NULL : realloc(text, room + 1);
        if (!grown) {
            error = room > MOST_TEXT ? EFBIG : ENOMEM;
            break;
        }
        text = grown;
        got = dm_read_at(fd, (int64_t)used, text + used, room - used);
        error = got < 0 ? errno : 0;
        used += got > 0 ? (size_t)got : 0;
        got = used < room ? 0 : 1;
    }
    close(fd);
    if (error) {
        free(text);
        errno = error;
        return NULL;
    }
    text[used] = 0;
    *bytes = used;
    return text;
}

/* ---- Whether json-c kept all that it parsed: it drops a member, or an element, that it has no memory for, and says nothing ---- */

typedef struct counts {
    int64_t members, items, containers, empty, nulls;
} counts;

static counts count_text(const char *text, size_t bytes) {
    counts c = {0};
    int64_t commas = 0;
    for (const char *p = text, *end = text + bytes; p < end; p++) {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                p += *p == '\\';
            continue;
        }
        c.members += *p == ':';
        commas += *p == ',';
        c.nulls += p + 1 < end && (*p | 32) == 'n' && (p[1] | 32) == 'u';
        if (*p == '{' || *p == '[') {
            c.containers++;
            const char next = p[1 + strspn(p + 1, " \t\r\n")];
            c.empty += next == '}' || next == ']';
        }
    }
    c.items = commas + c.containers - c.empty;
    return c;
}

static void count_value(json_object *value, counts *c);

static void count_inside(json_object *value, counts *c) {
    if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, name, inner) {
            (void)name;
            count_value(inner, c);
        }
    } else
        for (size_t i = 0; i < json_object_array_length(value); i++)
            count_value(json_object_array_get_idx(value, i), c);
}

static void count_value(json_object *value, counts *c) {
    const bool object = json_object_is_type(value, json_type_object);
    c->nulls += value == NULL;
    if (!object && !json_object_is_type(value, json_type_array))
        return;
    const int64_t length = object ? json_object_object_length(value) : (int64_t)json_object_array_length(value);
    c->containers++;
    c->items += length;
    c->members += object ? length : 0;
    c->empty += length == 0;
    count_inside(value, c);
}

static bool is_whole(const char *text, size_t bytes, json_object *value) {
    const counts want = count_text(text, bytes);
    counts have = {0};
    count_value(value, &have);
    return memcmp(&want, &have, sizeof want) == 0;
}

distmap_status dm_zarr_load(const dm_input *input, int folder, const char *file, json_object **object) {
    *object = NULL;
    size_t bytes;
    char *text = load_text(folder, file, &bytes);
    if (!text)
        return errno ? distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read its %s: %s", input->name, file,
                                         strerror(errno))
                     : DISTMAP_OK;
    json_tokener *tokener = json_tokener_new_ex(DEEPEST);
    json_object *parsed = tokener ? json_tokener_parse_ex(tokener, text, (int)bytes + 1) : NULL;
    distmap_status status = DISTMAP_OK;
    if (!tokener)
        status = dm_no_memory(input->name);
    else if (!json_object_is_type(parsed, json_type_object) || json_tokener_get_error(tokener) != json_tokener_success)
        status = dm_broken(input, "its %s is no JSON object", file);
    else if (!is_whole(text, bytes, parsed))
        status = dm_broken(input, "its %s names a member twice or has comments, or memory is out", file);
    if (tokener)
        json_tokener_free(tokener);
    free(text);
    if (status)
        json_object_put(parsed);
    else
        *object = parsed;
    return status;
}

json_object *dm_zarr_member(json_object *object, const char *name) {
    json_object *found = NULL;
    if (json_object_is_type(object, json_type_object))
        json_object_object_get_ex(object, name, &found);
    return found;
}

const char *dm_zarr_text(json_object *string) {
    return json_object_is_type(string, json_type_string) ? json_object_get_string(string) : "";
}

/* Whether something was lost, for want of memory, of the objects that this thread is making. */
static _Thread_local bool lost;

void dm_json_put(json_object *object, const char *name, json_object *value) {
    if (object && value && json_object_object_add(object, name, value) == 0)
        return;
    lost = true;
    json_object_put(value);
}

void dm_json_put_null(json_object *object, const char *name) {
    lost |= !object || json_object_object_add(object, name, NULL) != 0;
}

void dm_json_append(json_object *array, json_object *value) {
    if (array && value && json_object_array_add(array, value) == 0)
        return;
    lost = true;
    json_object_put(value);
}

char *dm_zarr_finished(json_object *object) {
    char *text = NULL;
    const bool whole = object && !lost;
    lost = false;
    if (whole && asprintf(&text, "%s\n",
                 json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)) < 0)
        text = NULL;
    json_object_put(object);
    return text;
}

json_object *dm_zarr_lengths(int ndim, const int64_t *lengths) {
    json_object *array = json_object_new_array();
    for (int a = 0; a < ndim; a++)
        dm_json_append(array, json_object_new_int64(lengths[a]));
    return array;
}
