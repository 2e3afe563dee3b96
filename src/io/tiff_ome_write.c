/* The OME-XML of what is written: one image, its pages in the order in which planes come, which DimensionOrder tells. It is made anew
 * where the input was an OME-TIFF, as results have other elements; length, order and units are those of the model.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"

enum { Z, C, T, PLACES };

/* OME's names of elements' types; NULL: it has none. */
static const char *type_name(distmap_dtype dtype) {
    switch (dtype) {
    case DISTMAP_BOOL: return "bit";
    case DISTMAP_FLOAT32: return "float";
    case DISTMAP_FLOAT64: return "double";
    case DISTMAP_INT64:
    case DISTMAP_UINT64: return NULL;
    default: return distmap_dtype_name(dtype);
    }
}

bool dm_ome_wanted(const distmap_writer *writer) {
    return dm_ends_with_any(writer->output.file, ".ome.tif .ome.tiff") ||
           (dm_native_find(&writer->info, "ome", "xml") && type_name(writer->info.dtype));
}

/* OME's name of a unit; NULL: it has none. */
static const char *unit_name(const char *unit, bool of_time) {
    static const char *const lengths = " Ym Zm Em Pm Tm Gm Mm km hm dam m dm cm mm nm pm fm am zm ym thou li ft yd mi "
                                       "ua ly pc pt ",
                             *const times = " Ys Zs Es Ps Ts Gs Ms ks hs das s ds cs ms ns ps fs as zs ys min h d ";
    char word[20];
    if (!strcmp(unit, of_time ? "us" : "um"))
        return of_time ? "\xc2\xb5s" : "\xc2\xb5m";
    if (!of_time && !strcmp(unit, "inch"))
        return "in";
    if (!of_time && !strcmp(unit, "angstrom"))
        return "\xc3\x85";
    snprintf(word, sizeof word, " %s ", unit);
    return *unit && strstr(of_time ? times : lengths, word) ? unit : NULL;
}

struct text {
    char *at;
    size_t used, room;
};

static void add(struct text *to, const char *format, ...) DISTMAP_PRINTF(2, 3);
static void add(struct text *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(to->at + to->used, to->room - to->used, format, args);
    va_end(args);
    to->used += length > 0 ? (size_t)length : 0;
}

/* What OME has no name for becomes micrometres where it is a length, and is a frame of reference of its own where nobody knows. */
static void add_length(struct text *to, char letter, const distmap_axis *axis, const char *unit) {
    if (!(axis->pitch > 0))
        return;
    const double to_um = distmap_unit_ratio(unit, "um");
    const char *name = unit_name(unit, false);
    const double pitch = !name && to_um > 0 ? dm_to_digits(axis->pitch * to_um, 15) : axis->pitch;
    char number[40];
    add(to, " PhysicalSize%c=\"%s\" PhysicalSize%cUnit=\"%s\"", letter, dm_decimal(pitch, number), letter,
        name        ? name
        : to_um > 0 ? "\xc2\xb5m"
        : *unit     ? "reference frame"
                    : "pixel");
}

static void add_pixels(struct text *to, const distmap_image_info *info) {
    char order[6] = "XY", *next = order + 2;
    int64_t size[PLACES] = {1, 1, 1}, planes = 1;
    static const char letters[] = "ZCT";
    int place[DISTMAP_MAX_AXES], axis_of[PLACES] = {-1, -1, -1};
    for (int a = info->ndim - 3; a >= 0; a--) {
        place[a] = info->axis[a].type == DISTMAP_AXIS_TIME ? T : info->axis[a].type == DISTMAP_AXIS_CHANNEL ? C : Z;
        size[place[a]] = info->shape[a];
        axis_of[place[a]] = a;
        planes *= info->shape[a];
        *next++ = letters[place[a]];
    }
    for (int p = 0; p < PLACES; p++)
        if (axis_of[p] < 0)
            *next++ = letters[p];
    add(to, "<Pixels ID=\"Pixels:0\" DimensionOrder=\"%.5s\" Type=\"%s\" SizeX=\"%lld\" SizeY=\"%lld\" SizeZ=\"%lld\"",
        order, type_name(info->dtype), (long long)info->shape[info->ndim - 1], (long long)info->shape[info->ndim - 2],
        (long long)size[Z]);
    add(to, " SizeC=\"%lld\" SizeT=\"%lld\" BigEndian=\"%s\"", (long long)size[C], (long long)size[T],
        DM_HOST_BIG ? "true" : "false");
    const char *unit = distmap_image_unit(info);
    add_length(to, 'X', &info->axis[info->ndim - 1], unit);
    add_length(to, 'Y', &info->axis[info->ndim - 2], unit);
    if (axis_of[Z] >= 0)
        add_length(to, 'Z', &info->axis[axis_of[Z]], unit);
    if (axis_of[T] >= 0 && info->axis[axis_of[T]].pitch > 0) {
        const distmap_axis *t = &info->axis[axis_of[T]];
        const char *name = unit_name(*t->unit ? t->unit : "s", true);
        char number[40];
        if (name)
            add(to, " TimeIncrement=\"%s\" TimeIncrementUnit=\"%s\"", dm_decimal(t->pitch, number), name);
    }
    add(to, ">");
    for (int64_t c = 0; c < size[C]; c++)
        add(to, "<Channel ID=\"Channel:0:%lld\" SamplesPerPixel=\"1\"/>", (long long)c);
    add(to, "<TiffData IFD=\"0\" PlaneCount=\"%lld\"/></Pixels>", (long long)planes);
}

distmap_status dm_ome_write(const distmap_writer *writer, dm_tiff *file) {
    const distmap_image_info *info = &writer->info;
    int64_t channels = 1;
    for (int a = 0; a < info->ndim; a++)
        channels = info->axis[a].type == DISTMAP_AXIS_CHANNEL ? info->shape[a] : channels;
    if (!type_name(info->dtype))
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED,
                                 "%s: OME-TIFF cannot hold %s (it holds integers of 8, 16 and 32 bits, float32, "
                                 "float64 and bool)",
                                 writer->output.name, distmap_dtype_name(info->dtype));
    struct text text = {.room = 2000 + (size_t)channels * 80};
    if (!(text.at = malloc(text.room)))
        return dm_no_memory(writer->output.name);
    add(&text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
        "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
        "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" "
        "Creator=\"distmap %s\"><Image ID=\"Image:0\" Name=\"image\">",
        distmap_version());
    add_pixels(&text, info);
    add(&text, "</Image></OME>");
    dm_tiff_set(file->tiff, &file->refused, TIFFTAG_IMAGEDESCRIPTION, text.at);
    free(text.at);
    return DISTMAP_OK;
}
