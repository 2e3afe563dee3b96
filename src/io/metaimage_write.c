/* Writing MetaImage: .mha in one file, .mhd with its elements in NAME.raw (or .zraw), plain, or packed by zlib where that is asked
 * for, or the image came from a packed file.
 *
 * ITK takes lengths for millimetres, so that every unit of length is turned into them. A file that the image came from is followed: its
 * numbers are written again to the last bit where they still say the same, and its other keys with them, but for those about values of elements.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/headed.h"
#include "io/metaimage.h"
#include "io/vectors.h"

enum { SIZE_DIGITS = 20 };
static const double same_pitch = 1e-6; /* relative: of a pitch and its column's length */

/* ---- The header ---- */

/* Keys that are written from the model, and those that are about other elements than these. */
static bool is_followed(const char *key) {
    static const char *const others[] = {"ObjectType",
                                         "NDims",
                                         "BinaryData",
                                         "BinaryDataByteOrderMSB",
                                         "ElementByteOrderMSB",
                                         "CompressedData",
                                         "CompressedDataSize",
                                         "CompressionLevel",
                                         "TransformMatrix",
                                         "Rotation",
                                         "Orientation",
                                         "Offset",
                                         "Position",
                                         "Origin",
                                         "CenterOfRotation",
                                         "AnatomicalOrientation",
                                         "DistanceUnits",
                                         "ElementSpacing",
                                         "ElementSize",
                                         "DimSize",
                                         "HeaderSize",
                                         "SequenceID",
                                         "ElementMin",
                                         "ElementMax",
                                         "ElementNumberOfChannels",
                                         "ElementToIntensityFunctionSlope",
                                         "ElementToIntensityFunctionOffset",
                                         "ElementType",
                                         "ElementDataFile"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(key, others[i]))
            return false;
    return true;
}

/* The value of a key of the old header, or NULL; freed by the caller. */
static char *value_of(const char *text, const char *key) {
    const size_t bytes = strlen(key);
    for (const char *line = text; line; line = dm_text_after(line)) {
        const char *rest = line + bytes;
        if (strncmp(line, key, bytes) != 0 || !strchr(" \t=:", *rest))
            continue;
        rest += strspn(rest, " \t=:");
        char *value = malloc(strlen(rest) + 1);
        if (value)
            snprintf(value, strlen(rest) + 1, "%.*s", (int)strcspn(rest, "\r\n"), rest);
        return value;
    }
    return NULL;
}

static void follow_keys(dm_text *text, const char *old) {
    for (const char *line = old; line; line = dm_text_after(line)) {
        const size_t length = strcspn(line, "\r\n"), key = strcspn(line, " \t=:");
        char name[64];
        if (key >= sizeof name || key == length || !strpbrk(line, "=:") || strcspn(line, "=:") >= length)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)key, line);
        if (is_followed(name))
            dm_text_add(text, "%.*s\n", (int)length, line);
    }
}

/* Columns as unit vectors and spacings. Axes of the world beyond the file's must not be needed. */
static bool fill_place(dm_meta *h, const distmap_image_info *info, double ratio) {
    int column = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    if (!column || info->world_ndim < column)
        return false;
    const int columns = column;
    for (int w = columns; w < info->world_ndim; w++)
        for (int s = 0; s < columns; s++)
            if (info->matrix[w][s] != 0)
                return false;
    for (int i = 0; i < h->ndim; i++)
        for (int w = 0; w < h->ndim; w++)
            h->matrix[i * h->ndim + w] = i == w;
    for (int i = 0; i < columns; i++) {
        double length = 0;
        const int s = --column;
        for (int w = 0; w < columns; w++)
            length = hypot(length, info->matrix[w][s]);
        length *= ratio;
        if (fabs(length - h->spacing[i]) > same_pitch * h->spacing[i])
            h->spacing[i] = length; /* the place counts */
        for (int w = 0; w < columns; w++)
            h->matrix[i * h->ndim + w] = info->matrix[w][s] * ratio / h->spacing[i];
        h->offset[i] = info->origin[i] * ratio;
    }
    return true;
}

/* Whether the header that the image came with says what the model says. */
static bool agrees(const dm_input *messages, const dm_meta *was, const distmap_image_info *info) {
    distmap_image_info old = {0};
    if (was->ndim + (was->channels > 1) != info->ndim || dm_meta_take(messages, was, &old) ||
        old.world_ndim != info->world_ndim || old.world != info->world ||
        strcmp(distmap_image_unit(&old), distmap_image_unit(info)) != 0)
        return false;
    for (int a = 0; a < info->ndim; a++)
        if (old.axis[a].type != info->axis[a].type || old.axis[a].pitch != info->axis[a].pitch)
            return false;
    for (int w = 0; w < info->world_ndim; w++)
        if (old.origin[w] != info->origin[w] || memcmp(old.matrix[w], info->matrix[w], sizeof old.matrix[w]) != 0)
            return false;
    return true;
}

static const char *type_name(distmap_dtype dtype) {
    static const char *const names[] = {
        [DISTMAP_BOOL] = "MET_UCHAR",    [DISTMAP_INT8] = "MET_CHAR",       [DISTMAP_UINT8] = "MET_UCHAR",
        [DISTMAP_INT16] = "MET_SHORT",   [DISTMAP_UINT16] = "MET_USHORT",   [DISTMAP_INT32] = "MET_INT",
        [DISTMAP_UINT32] = "MET_UINT",   [DISTMAP_INT64] = "MET_LONG_LONG", [DISTMAP_UINT64] = "MET_ULONG_LONG",
        [DISTMAP_FLOAT32] = "MET_FLOAT", [DISTMAP_FLOAT64] = "MET_DOUBLE"};
    return names[dtype];
}

/* Sizes and pitches, where any is told; how many millimetres the model's unit is. */
static double fill_axes(dm_meta *h, const distmap_image_info *info) {
    const char *unit = distmap_image_unit(info);
    const double ratio = distmap_unit_ratio(unit, "mm");
    h->unit = ratio > 0 ? "mm" : "";
    for (int i = 0; i < h->ndim; i++) {
        const int a = h->ndim - 1 - i;
        const distmap_axis *axis = &info->axis[a];
        const double pitch = distmap_image_pitch(info, a),
                     in_mm = dm_length_in(pitch, *axis->unit ? axis->unit : unit, "mm");
        h->size[i] = info->shape[a];
        h->spacing[i] = axis->type == DISTMAP_AXIS_SPACE && in_mm > 0 ? in_mm : pitch;
        h->has_spacing |= axis->pitch > 0;
    }
    return ratio > 0 ? ratio : 1;
}

static void print(dm_text *text, const dm_meta *h, distmap_dtype dtype) {
    dm_text_add(text, "ObjectType = Image\nNDims = %d\nBinaryData = True\nBinaryDataByteOrderMSB = %s\n", h->ndim,
                DM_HOST_BIG ? "True" : "False");
    if (h->has_matrix) {
        dm_text_add(text, "TransformMatrix =");
        dm_text_add_numbers(text, h->matrix, h->ndim * h->ndim);
        dm_text_add(text, "\nOffset =");
        dm_text_add_numbers(text, h->offset, h->ndim);
        dm_text_add(text, "\n");
    }
    if (*h->unit)
        dm_text_add(text, "DistanceUnits = %s\n", h->unit);
    if (h->has_spacing || h->has_matrix) {
        dm_text_add(text, "ElementSpacing =");
        dm_text_add_numbers(text, h->spacing, h->ndim);
        dm_text_add(text, "\n");
    }
    dm_text_add(text, "DimSize =");
    for (int i = 0; i < h->ndim; i++)
        dm_text_add(text, " %lld", (long long)h->size[i]);
    if (h->channels > 1)
        dm_text_add(text, "\nElementNumberOfChannels = %d", h->channels);
    dm_text_add(text, "\nElementType = %s\n", type_name(dtype));
}

distmap_status dm_meta_make(const distmap_writer *writer, dm_text *text, bool *packed) {
    distmap_image_info info = writer->info;
    const dm_input messages = {.name = writer->output.name};
    const distmap_native *native = dm_native_find(&info, "metaimage", "header");
    dm_meta h = {.channels = 1}, was = {0};
    char *old = NULL, *cut = NULL, *orientation = NULL;
    const bool has_channels = info.axis[info.ndim - 1].type == DISTMAP_AXIS_CHANNEL;
    if (!dm_axes_follow(&info, "tzyxc") ||
        (info.axis[0].type == DISTMAP_AXIS_TIME && info.ndim - has_channels < DM_META_AXES))
        return dm_axes_refused(writer, "(t) z y x (c), a time with all three of them,");
    h.ndim = info.ndim - has_channels;
    if (has_channels && info.shape[h.ndim] > INT16_MAX)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: metaimage holds at most %d channels, not %lld",
                                 writer->output.name, INT16_MAX, (long long)info.shape[h.ndim]);
    h.channels = has_channels ? (int)info.shape[h.ndim] : 1;
    const double ratio = fill_axes(&h, &info);
    h.has_matrix = distmap_image_turn(&info, DISTMAP_WORLD_LPS) && fill_place(&h, &info, ratio);
    if (native) {
        old = calloc(1, native->bytes + 1);
        cut = calloc(1, native->bytes + 1);
        if (!old || !cut) {
            free(old), free(cut);
            return dm_no_memory(writer->output.name);
        }
        memcpy(old, native->data, native->bytes);
        memcpy(cut, native->data, native->bytes);
    }
    const bool comes_with = native && dm_meta_parse(&messages, cut, &was) == DISTMAP_OK;
    if (comes_with && agrees(&messages, &was, &info)) {
        h.unit = was.unit;
        memcpy(h.spacing, was.spacing, sizeof h.spacing);
        memcpy(h.matrix, was.matrix, sizeof h.matrix);
        memcpy(h.offset, was.offset, sizeof h.offset);
        h.has_matrix = was.has_matrix;
        orientation = value_of(old, "AnatomicalOrientation");
    }
    *packed = strcmp(info.packing, "none") != 0;
    print(text, &h, info.dtype);
    if (orientation)
        dm_text_add(text, "AnatomicalOrientation = %s\n", orientation);
    if (comes_with)
        follow_keys(text, old);
    free(orientation);
    free(cut);
    free(old);
    return text->failed ? dm_no_memory(writer->output.name) : DISTMAP_OK;
}

/* ---- The files ---- */

typedef struct state {
    dm_headed files;
    int64_t size_at; /* where in the header the packed bytes are to stand */
} state;

/* The last lines: how elements are packed, where they are. Only when they are there is it known how many bytes they take. */
static distmap_status end_header(distmap_writer *writer, state *s, dm_text *text, bool packed) {
    char *name = NULL;
    if (packed) {
        dm_text_add(text, "CompressedData = True\nCompressedDataSize = ");
        s->size_at = (int64_t)text->bytes;
        dm_text_add(text, "%*s\n", SIZE_DIGITS, "");
    }
    if (dm_ends_with(writer->output.file, ".mhd"))
        TRY(dm_headed_part(writer, packed ? ".zraw" : ".raw", &name));
    dm_text_add(text, "ElementDataFile = %s\n", name ? name : "LOCAL");
    free(name);
    return dm_headed_begin(writer, text, packed, false);
}

distmap_status dm_meta_create(distmap_writer *writer) {
    state *s = writer->state = calloc(1, sizeof *s);
    dm_text text = {0};
    bool packed = false;
    if (!s)
        return dm_no_memory(writer->output.name);
    distmap_status status = dm_meta_make(writer, &text, &packed);
    if (!status)
        status = end_header(writer, s, &text, packed);
    free(text.data);
    return status;
}

distmap_status dm_meta_finish(distmap_writer *writer) {
    const state *s = writer->state;
    int64_t packed;
    TRY(dm_headed_end(writer, &packed));
    if (s->files.stream) {
        char size[SIZE_DIGITS + 1];
        const int digits = snprintf(size, sizeof size, "%lld", (long long)packed);
        return dm_output_write_at(&writer->output, s->size_at, size, (size_t)digits);
    }
    return DISTMAP_OK;
}
