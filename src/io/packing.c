/* How elements are packed, by names that mean the same in all formats: deflate is that of gzip and zlib. */
#include <stdio.h>
#include <string.h>

#include "io/codec.h"

/* The name for what people call it. */
static const char *common_name(const char *name) {
    return !strcmp(name, "gzip") || !strcmp(name, "zlib") ? "deflate" : name;
}

void dm_packing_take(distmap_image_info *info, const char *name) {
    name = common_name(name);
    const size_t bytes = strlen(name) < sizeof info->packing ? strlen(name) : sizeof info->packing - 1;
    memset(info->packing, 0, sizeof info->packing);
    memcpy(info->packing, name, bytes);
}

static bool is_in(const char *list, const char *name) {
    const size_t bytes = strlen(name);
    for (const char *word = list; word; word = strchr(word, ' ')) {
        word += *word == ' ';
        if (!strncmp(word, name, bytes) && (word[bytes] == ' ' || !word[bytes]))
            return true;
    }
    return false;
}

distmap_status dm_packing_choose(const char *path, const dm_codec *codec, distmap_image_info *info) {
    if (!memchr(info->packing, 0, sizeof info->packing))
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info->packing: is not ended by a zero");
    const char *list = codec->packings ? codec->packings(path) : "none", *wanted = common_name(info->packing);
    char first[sizeof info->packing] = "", own[sizeof info->packing] = "";
    for (const char *word = list; word && !*own; word = strchr(word, ' ')) {
        word += *word == ' ';
        const int bytes = (int)strcspn(word, " ");
        if (!*first)
            snprintf(first, sizeof first, "%.*s", bytes, word);
        if (strncmp(word, "none", 4) != 0)
            snprintf(own, sizeof own, "%.*s", bytes, word);
    }
    if (info->packing_asked && !strcmp(wanted, "yes") && *own)
        wanted = own;
    if (info->packing_asked && !is_in(list, wanted))
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: this %s is not packed by %s; %s", path,
                                 codec->info.name, *wanted ? wanted : "\"\"", list);
    if (!info->packing_asked && (!*wanted || strcmp(first, "none") != 0))
        wanted = first;
    else if (!info->packing_asked && !is_in(list, wanted))
        wanted = *own ? own : first;
    char chosen[sizeof info->packing];
    snprintf(chosen, sizeof chosen, "%s", wanted);
    dm_packing_take(info, chosen);
    return DISTMAP_OK;
}
