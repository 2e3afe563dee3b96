/* Structs of programs that were compiled with another version of the header: shorter or longer than the library's own, which has
 * the same members as far as both go (distmap/sized.h).
 */
#include <string.h>

#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

#define ROW(name) \
    { "distmap_" #name, sizeof(distmap_##name) }
static const struct {
    const char *name;
    size_t bytes;
} structs[] = {
    ROW(view),        ROW(allocator),    ROW(executor), ROW(device_info), ROW(context_options), ROW(sites),
    ROW(window),      ROW(outputs),      ROW(esf),      ROW(skeleton),    ROW(morphology),      ROW(comparison),
    ROW(cvt),         ROW(problem),      ROW(arrays),   ROW(param_info),  ROW(method_info),     ROW(param),
    ROW(description), ROW(plan_options), ROW(phase),    ROW(convergence), ROW(directed),        ROW(agreement),
};

/* A member that is added later may not lie where those who know nothing of it have padding, which holds anything. */
#define ENDS_WITH(name, last)                                                                                      \
    _Static_assert(sizeof(distmap_##name) == offsetof(distmap_##name, last) + sizeof(((distmap_##name *)0)->last), \
                   "distmap_" #name " ends with padding")
ENDS_WITH(context_options, ordinals);
ENDS_WITH(problem, order);
ENDS_WITH(arrays, energies);
ENDS_WITH(plan_options, scratch_bytes);
ENDS_WITH(device_info, shared_bytes);
ENDS_WITH(description, multiples);
ENDS_WITH(phase, seconds);
ENDS_WITH(convergence, residual);
ENDS_WITH(agreement, jaccard);

size_t distmap_struct_bytes(const char *name) {
    for (size_t i = 0; name && i < sizeof structs / sizeof *structs; i++)
        if (strcmp(name, structs[i].name) == 0)
            return structs[i].bytes;
    return 0;
}

static bool is_zero(const char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (from[i])
            return false;
    return true;
}

distmap_status distmap_sized_take(const char *name, const void *given, size_t bytes, void *room, size_t known,
                                  const void **taken) {
    *taken = given;
    if (!given)
        return DISTMAP_OK;
    if (bytes == 0)
        return bad("%s_bytes is 0, must be the size of the struct", name);
    if (bytes > known && !is_zero((const char *)given + known, bytes - known))
        return bad("%s has members that this library, version %s, does not know: %zu bytes of %zu are known, and those "
                   "beyond are not zero. It needs a newer library",
                   name, DISTMAP_VERSION, known, bytes);
    if (bytes < known) {
        memcpy(room, given, bytes);
        memset((char *)room + bytes, 0, known - bytes);
        *taken = room;
    }
    return DISTMAP_OK;
}

distmap_status distmap_sized_fill(const char *name, void *filled, size_t bytes, const void *own, size_t known) {
    if (!filled)
        return bad("%s is NULL", name);
    if (bytes == 0)
        return bad("%s_bytes is 0, must be the size of the struct", name);
    memcpy(filled, own, bytes < known ? bytes : known);
    if (bytes > known)
        memset((char *)filled + known, 0, bytes - known);
    return DISTMAP_OK;
}
