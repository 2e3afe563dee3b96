/* json-c, checked: see json.h. */
#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#undef json_object_object_add
#undef json_object_array_add

static bool lost;

bool json_lost(void) { return lost; }

json_object *json_made(json_object *value) {
    lost |= !value;
    return value;
}

int json_member(json_object *object, const char *name, json_object *value) {
    lost |= !object || json_object_object_add(object, name, value) != 0;
    return lost ? -1 : 0;
}

int json_item(json_object *array, json_object *value) {
    lost |= !array || json_object_array_add(array, value) != 0;
    return lost ? -1 : 0;
}

enum { MOST = 16 << 20, DEEPEST = 32 };

/* All of `text`, but for spaces behind it. */
static json_object *parse(const char *text, size_t bytes) {
    json_tokener *tokener = json_tokener_new_ex(DEEPEST);
    json_object *value =
        tokener ? json_tokener_parse_ex(tokener, text, (int)bytes + 1) : NULL; /* and the 0 behind it */
    if (value && (json_tokener_get_error(tokener) != json_tokener_success ||
                  strspn(text + json_tokener_get_parse_end(tokener), " \t\r\n") + json_tokener_get_parse_end(tokener) !=
                      bytes)) {
        json_object_put(value);
        value = NULL;
    }
    if (tokener)
        json_tokener_free(tokener);
    return value;
}

json_object *json_read(int fd) {
    struct stat info;
    if (fstat(fd, &info))
        return NULL;
    errno = 0;
    const size_t bytes = (size_t)info.st_size;
    char *text = S_ISREG(info.st_mode) && info.st_size <= MOST ? calloc(1, bytes + 1) : NULL;
    json_object *value = text && pread(fd, text, bytes, 0) == (ssize_t)bytes ? parse(text, bytes) : NULL;
    free(text);
    return value;
}

/* Without memory json-c leaves out parts of a text, silently: so the text is written twice. */
const char *json_text(json_object *object, int style) {
    if (lost)
        return NULL;
    const char *text = json_object_to_json_string_ext(object, style);
    char *once = text ? strdup(text) : NULL;
    text = once ? json_object_to_json_string_ext(object, style) : NULL;
    lost = !text || strcmp(once, text) != 0;
    free(once);
    return lost ? NULL : text;
}
