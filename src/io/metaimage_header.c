/* A MetaImage header to pieces: a table of keys. Those that nobody here understands go by. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "io/convert.h"
#include "io/metaimage.h"
#include "io/vectors.h"

static const struct {
    const char *name;
    distmap_dtype dtype;
} types[] = {{"MET_CHAR", DISTMAP_INT8},       {"MET_UCHAR", DISTMAP_UINT8},         {"MET_SHORT", DISTMAP_INT16},
             {"MET_USHORT", DISTMAP_UINT16},   {"MET_INT", DISTMAP_INT32},           {"MET_UINT", DISTMAP_UINT32},
             {"MET_LONG", DISTMAP_INT32},      {"MET_ULONG", DISTMAP_UINT32},        {"MET_LONG_LONG", DISTMAP_INT64},
             {"MET_FLOAT", DISTMAP_FLOAT32},   {"MET_ULONG_LONG", DISTMAP_UINT64},   {"MET_DOUBLE", DISTMAP_FLOAT64}};

/* ---- Values ---- */

static bool take_bool(const char *value, bool *to) {
    const char first = (char)toupper((unsigned char)*value);
    *to = first == 'T' || first == '1' || first == 'Y';
    return *to || first == 'F' || first == '0' || first == 'N';
}

static bool take_int(const char *value, int64_t least, int64_t most, int64_t *to) {
    return dm_integers(value, to, 1) == 1 && *to >= least && *to <= most;
}

static bool take_type(const char *value, dm_meta *h) {
    h->type = value;
    h->dtype = (distmap_dtype)0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (!strcmp(value, types[t].name))
            h->dtype = types[t].dtype;
    return true;
}

static bool take_unit(const char *value, dm_meta *h) {
    static const char *const known[] = {"mm", "um", "cm"};
    h->unit = "";
    for (int u = 0; u < 3; u++)
        if (!strcmp(value, known[u]))
            h->unit = known[u];
    return true;
}

enum key { SIZE, TYPE, CHANNELS, MSB, PACKED, PACKED_BYTES, BINARY, SKIP, SPACING, ELEMENT_SIZE, MATRIX, OFFSET, UNIT, OBJECT };

static const struct {
    const char *name;
    enum key key;
} keys[] = {
    {"DimSize", SIZE},
    {"ElementType", TYPE},
    {"ElementNumberOfChannels", CHANNELS},
    {"BinaryDataByteOrderMSB", MSB},
    {"ElementByteOrderMSB", MSB},
    {"CompressedData", PACKED},
    {"CompressedDataSize", PACKED_BYTES},
    {"BinaryData", BINARY},
    {"HeaderSize", SKIP},
    {"ElementSpacing", SPACING},
    {"ElementSize", ELEMENT_SIZE},
    {"TransformMatrix", MATRIX},
    {"Rotation", MATRIX},
    {"Orientation", MATRIX},
    {"Offset", OFFSET},
    {"Position", OFFSET},
    {"Origin", OFFSET},
    {"DistanceUnits", UNIT},
    {"ObjectType", OBJECT},
};

/* Lists are checked against the number of axes, which comes first in a file. */
static bool take(dm_meta *h, enum key key, char *value) {
    int64_t number = 0;
    bool flag = false, good = true;
    switch (key) {
    case SIZE: h->has_size = true; return dm_integers(value, h->size, h->ndim) == h->ndim;
    case TYPE: return take_type(value, h);
    case CHANNELS: good = take_int(value, 1, INT16_MAX, &number); h->channels = (int)number; return good;
    case MSB: good = take_bool(value, &flag); h->swapped = flag != DM_HOST_BIG; return good;
    case PACKED: return take_bool(value, &h->packed);
    case PACKED_BYTES: return take_int(value, 0, INT64_MAX, &h->packed_bytes);
    case BINARY: good = take_bool(value, &flag); h->in_text = !flag; return good;
    case SKIP: return take_int(value, -1, INT64_MAX, &h->skip);
    case SPACING: h->has_spacing = true; return dm_numbers(value, h->spacing, h->ndim) == h->ndim;
    case ELEMENT_SIZE: /* of an element itself, and the distance where that is not told */
        if (h->has_spacing)
            return true;
        return dm_numbers(value, h->spacing, h->ndim) == h->ndim;
    case MATRIX: h->has_matrix = true; return dm_numbers(value, h->matrix, h->ndim * h->ndim) == h->ndim * h->ndim;
    case OFFSET: h->has_offset = true; return dm_numbers(value, h->offset, h->ndim) == h->ndim;
    case UNIT: return take_unit(value, h);
    default: return !strcmp(value, "Image");
    }
}

/* The line's key, cut off, and what stands behind the separator; NULL: there is none. */
static char *split(char *line, char **value) {
    char *separator = strpbrk(line, "=:");
    if (!separator)
        return NULL;
    *separator = '\0';
    *value = dm_trim(separator + 1);
    return dm_trim(line);
}

bool dm_meta_is_last(const char *line) {
    static const char key[] = "ElementDataFile";
    if (strncmp(line, key, sizeof key - 1) != 0)
        return false;
    line += sizeof key - 1;
    while (isspace((unsigned char)*line))
        line++;
    return *line == '=' || *line == ':';
}

static distmap_status take_line(const dm_input *input, dm_meta *h, const char *key, char *value) {
    int64_t ndim;
    if (!strcmp(key, "NDims")) {
        if (h->ndim || !take_int(value, 1, INT16_MAX, &ndim))
            return dm_broken(input, "broken MetaImage header: NDims = %.80s", value);
        if (ndim > DM_META_AXES)
            return dm_unsupported(input, "has %lld axes; 1 to %d are read", (long long)ndim, DM_META_AXES);
        h->ndim = (int)ndim;
        return DISTMAP_OK;
    }
    if (!strcmp(key, "ElementDataFile")) {
        h->file = value;
        return DISTMAP_OK;
    }
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (strcmp(key, keys[k].name) != 0)
            continue;
        const bool is_list = keys[k].key == SIZE || keys[k].key == SPACING || keys[k].key == ELEMENT_SIZE ||
                             keys[k].key == MATRIX || keys[k].key == OFFSET;
        if (is_list && !h->ndim)
            return dm_broken(input, "broken MetaImage header: %s comes before NDims", key);
        if (!take(h, keys[k].key, value))
            return dm_broken(input, "broken MetaImage header: %s = %.80s", key, value);
    }
    return DISTMAP_OK;
}

distmap_status dm_meta_parse(const dm_input *input, char *text, dm_meta *h) {
    *h = (dm_meta){.channels = 1, .swapped = DM_HOST_BIG, .unit = ""};
    char *line, *value, *key;
    while ((line = dm_text_line(&text)))
        if ((key = split(line, &value)))
            TRY(take_line(input, h, key, value));
    if (!h->ndim || !h->has_size || !h->type || !h->file)
        return dm_broken(input, "broken MetaImage header: there is no %s",
                         !h->ndim      ? "NDims"
                         : !h->has_size ? "DimSize"
                         : !h->type    ? "ElementType"
                                       : "ElementDataFile");
    for (int i = 0; i < h->ndim; i++)
        if (h->size[i] < 1)
            return dm_broken(input, "broken MetaImage header: axis %d is %lld long", i, (long long)h->size[i]);
    return DISTMAP_OK;
}

/* ---- The model ---- */

distmap_status dm_meta_take(const dm_input *input, const dm_meta *h, distmap_image_info *info) {
    static const char *const names[] = {"x", "y", "z", "t"};
    dm_vectors vectors = {.world_ndim = h->ndim};
    info->ndim = h->ndim + (h->channels > 1);
    for (int i = 0; i < h->ndim; i++) {
        const int a = h->ndim - 1 - i;
        distmap_axis *axis = &info->axis[a];
        info->shape[a] = h->size[i];
        dm_axis_take(axis, names[i]);
        vectors.has[a] = true;
        if (h->spacing[i] || h->has_spacing) {
            if (!(h->spacing[i] > 0 && isfinite(h->spacing[i])))
                return dm_broken(input, "its pitch along axis %d is %g, in ElementSpacing; a pitch is finite and above 0",
                                 a, h->spacing[i]);
            axis->pitch = h->spacing[i];
        }
        for (int w = 0; w < h->ndim; w++)
            vectors.vector[a][w] = (h->has_matrix ? h->matrix[i * h->ndim + w] : i == w) * (axis->pitch ? axis->pitch : 1);
        vectors.origin[i] = h->offset[i];
    }
    if (h->channels > 1) {
        info->shape[h->ndim] = h->channels;
        dm_axis_take(&info->axis[h->ndim], "c");
    }
    dm_unit_take_space(info, h->unit);
    if (!h->has_matrix && !h->has_offset)
        return DISTMAP_OK;
    info->world = DISTMAP_WORLD_LPS;
    return dm_vectors_take(input, &vectors, info);
}
