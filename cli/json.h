/* json-c with checks: a failed allocation is recorded, so that no JSON is printed in part. The functions keep their names: those that can
 * fail are macros over themselves. A value that could not be added is not freed, since the caller may still fill it.
 */
#ifndef DISTMAP_CLI_JSON_H
#define DISTMAP_CLI_JSON_H

#include <json-c/json.h>
#include <stdbool.h>

/* Whether anything was lost. */
bool json_lost(void);
/* The content of the file, the caller's. NULL: it cannot be read (errno), or is no JSON of at most 16 MiB and 32 levels (0). */
json_object *json_read(int fd);
/* The object as text, which is the object's; NULL where anything was lost. */
const char *json_text(json_object *object, int style);

json_object *json_made(json_object *value);
int json_member(json_object *object, const char *name, json_object *value);
int json_item(json_object *array, json_object *value);

#define json_object_new_object() json_made(json_object_new_object())
#define json_object_new_array() json_made(json_object_new_array())
#define json_object_new_string(text) json_made(json_object_new_string(text))
#define json_object_new_boolean(value) json_made(json_object_new_boolean(value))
#define json_object_new_int(value) json_made(json_object_new_int(value))
#define json_object_new_int64(value) json_made(json_object_new_int64(value))
#define json_object_new_double(value) json_made(json_object_new_double(value))
#define json_object_new_double_s(value, text) json_made(json_object_new_double_s(value, text))
#define json_object_object_add(object, name, value) json_member(object, name, value)
#define json_object_array_add(array, value) json_item(array, value)

#endif
