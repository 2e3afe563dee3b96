/* JSON files of a Zarr store, as json-c objects. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/zarr.h"

enum { MOST_TEXT = 64 << 20, FIRST_TEXT = 1 << 14 };

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

distmap_status dm_zarr_load(const dm_input *input, int folder, const char *file, json_object **object) {
    *object = NULL;
    size_t bytes;
    char *text = load_text(folder, file, &bytes);
    if (!text)
        return errno ? distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read its %s: %s", input->name, file,
                                         strerror(errno))
                     : DISTMAP_OK;
    const dm_json_end end = dm_json_parse(text, bytes, object);
    free(text);
    if (end == DM_JSON_NO_MEMORY)
        return dm_no_memory(input->name);
    if (end == DM_JSON_TWICE)
        return dm_broken(input, "its %s has two members with the same name", file);
    if (end == DM_JSON_GOOD && json_object_is_type(*object, json_type_object))
        return DISTMAP_OK;
    json_object_put(*object);
    *object = NULL;
    return dm_broken(input, "its %s is not a JSON object", file);
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

json_object *dm_json_own(const char *text) {
    json_object *value = NULL;
    return dm_json_parse(text, strlen(text), &value) == DM_JSON_GOOD ? value : NULL;
}

static bool is_number(json_object *value) {
    return json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
}

/* Like json_object_equal(), but NaN equals NaN, and 2 equals 2.0. */
static bool same(json_object *a, json_object *b) {
    if (is_number(a) && is_number(b) && !json_object_equal(a, b)) {
        const double x = json_object_get_double(a), y = json_object_get_double(b);
        return x == y || (isnan(x) && isnan(y));
    }
    bool good = json_object_get_type(a) == json_object_get_type(b);
    if (good && json_object_is_type(a, json_type_object)) {
        good = json_object_object_length(a) == json_object_object_length(b);
        json_object_object_foreach(a, name, value) {
            json_object *other = NULL;
            good = good && json_object_object_get_ex(b, name, &other) && same(value, other);
        }
        return good;
    }
    if (good && json_object_is_type(a, json_type_array)) {
        const size_t length = json_object_array_length(a);
        good = length == json_object_array_length(b);
        for (size_t i = 0; good && i < length; i++)
            good = same(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i));
        return good;
    }
    return good && json_object_equal(a, b);
}

static const char *written(json_object *object) {
    return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* Without memory json-c leaves out parts of a text, white space too, silently: so the text is read and written again. */
static bool says(const char *text, json_object *object) {
    json_object *again = dm_json_own(text);
    const char *twice = again && same(again, object) ? written(again) : NULL;
    const bool whole = twice && strcmp(text, twice) == 0;
    json_object_put(again);
    return whole;
}

char *dm_zarr_finished(json_object *object) {
    const char *once = object && !lost ? written(object) : NULL;
    char *text = NULL;
    lost = false;
    if (once && says(once, object) && asprintf(&text, "%s\n", once) < 0)
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
