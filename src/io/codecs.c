/* Which codec a name means, and the small things that every codec uses: names' endings, error texts, size checks. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/codec.h"

const distmap_format_info *distmap_format_get(size_t row) {
    for (size_t i = 0; dm_codecs[i]; i++)
        if (i == row)
            return &dm_codecs[i]->info;
    return NULL;
}

static bool lists(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list + strspn(list, ", "); *at; at += strspn(at, ", ")) {
        const size_t word = strcspn(at, ", ");
        if (word == length && !strncasecmp(at, name, length))
            return true;
        at += word;
    }
    return false;
}

distmap_status dm_codec_allowed(const dm_codec *codec, const char *name) {
    const char *list = getenv("DISTMAP_FORMATS");
    if (!list || lists(list, codec->info.name))
        return DISTMAP_OK;
    return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: is %s, which DISTMAP_FORMATS does not list (%.200s)", name,
                             codec->info.name, list);
}

const dm_codec *dm_codec_of_name(const char *file) {
    for (size_t row = 0; dm_codecs[row]; row++)
        if (dm_ends_with_any(file, dm_codecs[row]->info.endings))
            return dm_codecs[row];
    for (size_t row = 0; dm_codecs[row]; row++)
        if (dm_codecs[row]->is_folder && dm_lies_in_any(file, dm_codecs[row]->info.endings))
            return dm_codecs[row];
    return NULL;
}

const distmap_format_info *distmap_format_of(const char *path) {
    char *file = path ? strndup(path, distmap_path_file_bytes(path)) : NULL;
    const dm_codec *codec = file ? dm_codec_of_name(file) : NULL;
    free(file);
    return codec ? &codec->info : NULL;
}

bool dm_ends_with(const char *name, const char *ending) {
    const size_t n = strlen(name), e = strlen(ending);
    return n > e && !strcasecmp(name + n - e, ending);
}

void dm_append(char *text, size_t size, const char *separator, const char *word) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? separator : "", word);
}

/* Texts may quote the file, which must not break the line. */
static distmap_status set(distmap_status status, const dm_input *input, const char *format, va_list args) {
    char text[400];
    vsnprintf(text, sizeof text, format, args);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    return distmap_error_set(status, "%s: %s", input->name, text);
}

distmap_status dm_broken(const dm_input *input, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const distmap_status status = set(DISTMAP_ERROR_FORMAT, input, format, args);
    va_end(args);
    return status;
}

distmap_status dm_unsupported(const dm_input *input, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const distmap_status status = set(DISTMAP_ERROR_UNSUPPORTED, input, format, args);
    va_end(args);
    return status;
}

distmap_status dm_no_memory(const char *name) {
    return distmap_error_set(DISTMAP_ERROR_MEMORY, "%s: out of memory", name);
}

distmap_status dm_shape_bytes(const char *name, int ndim, const int64_t *shape, size_t element_bytes, int64_t *bytes) {
    /* Empty axes must not hide absurd ones: the rest of the shape is multiplied all the same. */
    bool empty = false, absurd = false;
    *bytes = (int64_t)element_bytes;
    for (int a = 0; a < ndim; a++) {
        empty |= shape[a] == 0;
        absurd |= shape[a] < 0 || __builtin_mul_overflow(*bytes, shape[a] ? shape[a] : 1, bytes);
    }
    if (absurd)
        return distmap_error_set(DISTMAP_ERROR_FORMAT, "%s: absurd size: more than 2^63 bytes", name);
    if (empty)
        *bytes = 0;
    return DISTMAP_OK;
}

int64_t dm_slice_elements(const distmap_image_info *info) {
    int64_t elements = 1;
    for (int a = 1; a < info->ndim; a++)
        elements *= info->shape[a];
    return elements;
}

distmap_status dm_check_holds(const dm_input *input, int64_t bytes, int64_t ratio) {
    if (bytes / ratio > input->size)
        return dm_broken(input,
                         "truncated, or a false size: its header states %lld bytes of elements, but the file has %lld",
                         (long long)bytes, (long long)input->size);
    return DISTMAP_OK;
}
