/* json-c, checked: see json.h. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

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
