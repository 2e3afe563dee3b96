/* The cache of tuned parameters: $XDG_CACHE_HOME/distmap/tuned.json, or ~/.cache/distmap/tuned.json.
 *
 *     {"format": 1, "entries": [{"device": "NVIDIA H200", "version": "0.1.0", "method": "pba/cuda", "axes": 2,
 *                                "size_class": 22, "params": {"m1": 32, "variant": "pba+"}, ...}]}
 *
 * An entry counts for problems on that model of device, by that version of the library, with as many measured axes (those
 * of length 1 aside). Its size class is the logarithm of its elements to base 2, rounded. Of several the one with the class
 * nearest to the problem's logarithm counts, the smaller of two; none counts whose class is more than 4 away, 16 times as
 * many elements. Batches, whose slices are what was tuned for but whose number was not, keep the defaults.
 *
 * Whatever is wrong with the file is told once and is no failure: without it there are the defaults.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"

enum { FORMAT = 1, FARTHEST = 4 };

/* ---- The file ---- */

/* A cache home that is no absolute path does not count, by the rules of XDG. */
bool tuned_path(char *path) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool own = cache && *cache == '/';
    if (!own && !(home && *home))
        return false;
    return snprintf(path, PATH_MAX, "%s%s/distmap/tuned.json", own ? cache : home, own ? "" : "/.cache") < PATH_MAX;
}

static void complain(const struct options *options, const char *path, const char *what) {
    static bool told;
    if (!told)
        say(options, "distmap: %s: %s; ignored", path, what);
    told = true;
}

static json_object *entries_of(json_object *root) {
    json_object *format, *entries;
    return json_object_object_get_ex(root, "format", &format) && json_object_get_int64(format) == FORMAT &&
                   json_object_object_get_ex(root, "entries", &entries) && json_object_is_type(entries, json_type_array)
               ? entries
               : NULL;
}

/* The content of the file, owned by the caller; NULL if there is none, or it cannot be parsed. */
static json_object *read_file(const struct options *options, const char *path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            complain(options, path, strerror(errno));
        return NULL;
    }
    json_object *root = json_read(fd);
    close(fd);
    if (root && json_object_is_type(root, json_type_object) && entries_of(root))
        return root;
    complain(options, path, "it is no file of tuned values");
    json_object_put(root);
    return NULL;
}

/* ---- Keys ---- */

struct key {
    const char *device, *method;
    int axes;
    double size; /* log2 of the elements */
};

static bool make_key(const struct place *place, const distmap_method_info *method, const distmap_problem *problem,
                     struct key *key) {
    *key = (struct key){.device = place->model, .method = method->name};
    for (int a = 0; a < problem->ndim; a++) {
        const bool measured = !problem->axes || problem->axes >> a & 1;
        if (problem->shape[a] < 1 || (problem->shape[a] > 1 && !measured))
            return false;
        key->axes += problem->shape[a] > 1;
        key->size += log2((double)problem->shape[a]);
    }
    return true;
}

static bool holds_text(json_object *entry, const char *name, const char *text) {
    json_object *value;
    return json_object_object_get_ex(entry, name, &value) && json_object_is_type(value, json_type_string) &&
           strcmp(json_object_get_string(value), text) == 0;
}

static bool get_number(json_object *entry, const char *name, int *number) {
    json_object *value;
    const bool good = json_object_object_get_ex(entry, name, &value) && json_object_is_type(value, json_type_int);
    *number = good ? json_object_get_int(value) : 0;
    return good;
}

/* Whether the entry is one of that device, version, method and number of axes; then also its size class. */
static bool is_of(json_object *entry, const struct key *key, int *size_class) {
    int axes;
    return json_object_is_type(entry, json_type_object) && holds_text(entry, "device", key->device) &&
           holds_text(entry, "version", distmap_version()) && holds_text(entry, "method", key->method) &&
           get_number(entry, "axes", &axes) && axes == key->axes && get_number(entry, "size_class", size_class);
}

static json_object *nearest(json_object *entries, const struct key *key) {
    json_object *found = NULL;
    int found_class = 0, size_class;
    for (size_t i = 0; i < json_object_array_length(entries); i++) {
        json_object *entry = json_object_array_get_idx(entries, i);
        if (!is_of(entry, key, &size_class))
            continue;
        const double way = fabs(size_class - key->size), found_way = fabs(found_class - key->size);
        if (way <= FARTHEST && (!found || way < found_way || (way == found_way && size_class < found_class))) {
            found = entry;
            found_class = size_class;
        }
    }
    return found;
}

/* ---- Looking up ---- */

static bool read_value(const distmap_param_info *info, json_object *value, int64_t *number) {
    if (info && info->names)
        return json_object_is_type(value, json_type_string) &&
               param_from_name(info, json_object_get_string(value), number);
    *number = json_object_get_int64(value);
    return info && json_object_is_type(value, json_type_int) && *number >= info->lowest && *number <= info->highest;
}

/* An entry's values, or -1 where one is none that the method takes. */
static int read_values(json_object *entry, const distmap_method_info *method, distmap_param params[MAX_LIST]) {
    json_object *values;
    int count = 0;
    if (!json_object_object_get_ex(entry, "params", &values) || !json_object_is_type(values, json_type_object))
        return -1;
    json_object_object_foreach(values, name, value) {
        const distmap_param_info *info = param_find(method, name);
        if (count == MAX_LIST || !read_value(info, value, &params[count].value))
            return -1;
        params[count++].name = info->name;
    }
    return count;
}

int tuned_values(json_object *root, const struct place *place, const distmap_method_info *method, const distmap_problem *problem,
                 distmap_param params[MAX_LIST]) {
    struct key key;
    json_object *entries = root && json_object_is_type(root, json_type_object) ? entries_of(root) : NULL;
    json_object *entry = entries && make_key(place, method, problem, &key) ? nearest(entries, &key) : NULL;
    return entry ? read_values(entry, method, params) : 0;
}

int tuned_find(const struct options *options, const struct place *place, const distmap_method_info *method,
               const distmap_problem *problem, distmap_param params[MAX_LIST]) {
    static json_object *root; /* read once, and kept until the process ends */
    static bool looked;
    char path[PATH_MAX];
    if (!method->param_count || !tuned_path(path))
        return 0;
    if (!looked)
        root = read_file(options, path);
    looked = true;
    const int count = tuned_values(root, place, method, problem, params);
    if (count < 0)
        complain(options, path, "it holds values that a method does not take");
    return count < 0 ? 0 : count;
}

/* ---- Storing ---- */

/* The folder, made with its parents where they are missing, and locked: two who store at a time do it in turn. */
static int open_folder(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    *strrchr(folder, '/') = '\0';
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        flock(fd, LOCK_EX); /* where the file system has no locks, we go without */
    return fd;
}

int tuned_check(void) {
    char path[PATH_MAX];
    if (!tuned_path(path))
        return fail("there is no folder for tuned values: XDG_CACHE_HOME is not an absolute path, and HOME is not set");
    const int folder = open_folder(path);
    if (folder < 0)
        return fail("%s: cannot write: %s", path, strerror(errno));
    struct text_file text = {0};
    const int status = text_file_open(&text, path);
    text_file_drop(&text);
    close(folder);
    return status;
}

/* All entries but those that `key` and `size_class` name. */
static json_object *others(json_object *root, const struct key *key, int size_class) {
    json_object *kept = json_object_new_array(), *entries = root ? entries_of(root) : NULL;
    int other;
    for (size_t i = 0; entries && i < json_object_array_length(entries); i++) {
        json_object *entry = json_object_array_get_idx(entries, i);
        if (!is_of(entry, key, &other) || other != size_class)
            json_object_array_add(kept, json_object_get(entry));
    }
    return kept;
}

int tuned_store(const struct options *options, const struct place *place, const distmap_method_info *method,
                const distmap_problem *problem, struct json_object *found) {
    struct key key;
    char path[PATH_MAX];
    if (!make_key(place, method, problem, &key) || !tuned_path(path))
        return fail("cannot store tuned values for a problem with an empty axis or a batch");
    const int folder = open_folder(path), size_class = (int)lround(key.size);
    if (folder < 0)
        return fail("%s: cannot write: %s", path, strerror(errno));
    json_object *root = read_file(options, path), *entries = others(root, &key, size_class);
    json_object *entry = json_object_new_object(), *whole = json_object_new_object();
    json_object_object_add(entry, "device", json_object_new_string(key.device));
    json_object_object_add(entry, "version", json_object_new_string(distmap_version()));
    json_object_object_add(entry, "method", json_object_new_string(key.method));
    json_object_object_add(entry, "axes", json_object_new_int(key.axes));
    json_object_object_add(entry, "size_class", json_object_new_int(size_class));
    json_object_object_foreach(found, name, value) { json_object_object_add(entry, name, json_object_get(value)); }
    json_object_array_add(entries, entry);
    json_object_object_add(whole, "format", json_object_new_int(FORMAT));
    json_object_object_add(whole, "entries", entries);
    struct text_file text = {0};
    int status = text_file_open(&text, path);
    if (status == 0) {
        json_put(whole, text.file);
        status = text_file_finish(&text, false);
    }
    text_file_drop(&text);
    json_object_put(whole);
    json_object_put(root);
    close(folder);
    return status;
}
