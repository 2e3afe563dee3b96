/* The sizes of this library's public structs, for bindings. See distmap/io_sized.h. */
#include <string.h>

#include "io/codec.h"

static const struct {
    const char *name;
    size_t bytes;
} structs[] = {
    {"distmap_axis", sizeof(distmap_axis)},
    {"distmap_native", sizeof(distmap_native)},
    {"distmap_image_info", sizeof(distmap_image_info)},
    {"distmap_format_info", sizeof(distmap_format_info)},
};

size_t distmap_io_struct_bytes(const char *name) {
    for (size_t i = 0; name && i < sizeof structs / sizeof *structs; i++)
        if (strcmp(name, structs[i].name) == 0)
            return structs[i].bytes;
    return 0;
}
