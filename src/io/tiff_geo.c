/* GeoTIFF: where a map's elements are, in which coordinate system; and GDAL's tags, its value for no data and its metadata.
 *
 *     ModelPixelScale sx sy sz, ModelTiepoint i j k x y z    X = x + (I - i) sx,  Y = y - (J - j) sy
 *     ModelTransformation, 4 x 4                             (X, Y, Z, 1) = M (I, J, K, 1)
 *
 * I counts columns, J rows. Where GTRasterType is "pixel is area", which is also what holds without it, the centre of the first element
 * is at I = J = 0.5; where it is "pixel is point", at 0. The model's matrix is about centres. Of a raster with north above, y's step is
 * negative; its pitch is not. Several tiepoints without a scale are no matrix, and tell no place here.
 *
 * Keys say what X and Y are: metres, feet, ... of a projection, or degrees, which are no lengths. All tags go along as they are,
 * "geotiff" and "gdal", and are written again; only where the image has another place than they tell (another pitch, say) the
 * place is written anew.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"
#include "io/xml.h"

enum {
    SCALE = 33550,
    TIEPOINTS = 33922,
    TRANSFORMATION = 34264,
    KEYS = 34735,
    KEY_DOUBLES = 34736,
    KEY_TEXTS = 34737,
    GDAL_METADATA = 42112,
    GDAL_NODATA = 42113,
};

/* GeoKeys, and what their values mean. */
enum {
    MODEL_TYPE = 1024,
    RASTER_TYPE = 1025,
    CITATION = 1026,
    GEOGRAPHIC_TYPE = 2048,
    GEOGRAPHIC_CITATION = 2049,
    ANGULAR_UNITS = 2054,
    PROJECTED_TYPE = 3072,
    PROJECTED_CITATION = 3073,
    LINEAR_UNITS = 3076,
    LINEAR_UNIT_SIZE = 3077,
    PROJECTED = 1,
    GEOGRAPHIC = 2,
    POINT = 2,
    USER_DEFINED = 32767,
};

static const struct tag {
    uint32_t number;
    TIFFDataType type;
    size_t size; /* of a value */
    const char *family, *name, *title;
} tags[] = {
    {SCALE, TIFF_DOUBLE, 8, "geotiff", "scale", "ModelPixelScale"},
    {TIEPOINTS, TIFF_DOUBLE, 8, "geotiff", "tiepoints", "ModelTiepoint"},
    {TRANSFORMATION, TIFF_DOUBLE, 8, "geotiff", "transformation", "ModelTransformation"},
    {KEYS, TIFF_SHORT, 2, "geotiff", "keys", "GeoKeyDirectory"},
    {KEY_DOUBLES, TIFF_DOUBLE, 8, "geotiff", "key_doubles", "GeoDoubleParams"},
    {KEY_TEXTS, TIFF_ASCII, 1, "geotiff", "key_texts", "GeoAsciiParams"},
    {GDAL_METADATA, TIFF_ASCII, 1, "gdal", "metadata", "GDAL_METADATA"},
};
enum { TAGS = sizeof tags / sizeof *tags };

/* What the tags say. */
typedef struct geo {
    bool is_placed, is_point;
    double x[3], y[3]; /* X = x[0] + x[1] column + x[2] row, of centres; Y likewise */
    double scale_z, z;
    distmap_world world;
    double degrees; /* of which an angular unit is so many */
    char unit[16], crs[200];
} geo;

/* ---- Tags as they are ---- */

/* Values of a tag, copied since they may lie anywhere; how many there are, which may be more than `room`. */
static size_t values(const distmap_image_info *info, const char *name, size_t size, void *to, size_t room) {
    const distmap_native *native = dm_native_find(info, "geotiff", name);
    if (!native)
        return 0;
    const size_t count = native->bytes / size;
    memcpy(to, native->data, (count < room ? count : room) * size);
    return count;
}

static distmap_status take_tags(distmap_reader *reader, TIFF *tiff) {
    for (int t = 0; t < TAGS; t++) {
        const TIFFField *field = TIFFFindField(tiff, tags[t].number, TIFF_ANY);
        uint32_t count = 0;
        const void *data = NULL;
        if (!field || !TIFFFieldPassCount(field) || !TIFFGetField(tiff, tags[t].number, &count, &data) || !data ||
            !count)
            continue;
        if (TIFFFieldDataType(field) != tags[t].type)
            return dm_broken(&reader->input, "its tag %s is of type %d, not %d", tags[t].title,
                             (int)TIFFFieldDataType(field), (int)tags[t].type);
        TRY(dm_native_add(reader, tags[t].family, tags[t].name, data, count * tags[t].size));
    }
    return DISTMAP_OK;
}

/* ---- Keys ---- */

typedef struct key {
    uint16_t id, location, count, at;
} key;

static bool find_key(const distmap_image_info *info, uint16_t id, key *found) {
    const distmap_native *native = dm_native_find(info, "geotiff", "keys");
    for (size_t k = 1; native && k < native->bytes / sizeof *found; k++) {
        memcpy(found, (const char *)native->data + k * sizeof *found, sizeof *found);
        if (found->id == id)
            return true;
    }
    return false;
}

/* A key's number; 0: there is none. */
static unsigned short_key(const distmap_image_info *info, uint16_t id) {
    key k;
    return find_key(info, id, &k) && !k.location ? k.at : 0;
}

static double double_key(const distmap_image_info *info, uint16_t id) {
    const distmap_native *native = dm_native_find(info, "geotiff", "key_doubles");
    key k;
    double value = 0;
    if (native && find_key(info, id, &k) && k.location == KEY_DOUBLES && native->bytes / sizeof value > k.at)
        memcpy(&value, (const char *)native->data + k.at * sizeof value, sizeof value);
    return value;
}

/* Without the bar at its end, and as much as can be shown. */
static bool text_key(const distmap_image_info *info, uint16_t id, char *text, size_t room) {
    const distmap_native *native = dm_native_find(info, "geotiff", "key_texts");
    key k;
    if (!native || !find_key(info, id, &k) || k.location != KEY_TEXTS || k.at >= native->bytes)
        return false;
    size_t length = k.count < native->bytes - k.at ? k.count : native->bytes - k.at, used = 0;
    const char *from = (const char *)native->data + k.at;
    while (length && (from[length - 1] == '|' || !from[length - 1]))
        length--;
    for (size_t i = 0; i < length && used + 1 < room; i++)
        if ((unsigned char)from[i] >= ' ' && from[i] != 127)
            text[used++] = from[i];
    text[used] = '\0';
    return used > 0;
}

/* That each key is there, and its values in their tag. */
static distmap_status check_keys(const distmap_reader *reader) {
    const distmap_native *native = dm_native_find(&reader->info, "geotiff", "keys"),
                         *doubles = dm_native_find(&reader->info, "geotiff", "key_doubles"),
                         *texts = dm_native_find(&reader->info, "geotiff", "key_texts");
    if (!native)
        return DISTMAP_OK;
    uint16_t head[4] = {0};
    memcpy(head, native->data, native->bytes < sizeof head ? native->bytes : sizeof head);
    if (native->bytes < sizeof head || head[0] != 1)
        return dm_broken(&reader->input, "its GeoKeyDirectory is of version %u; 1 is read", head[0]);
    if (native->bytes / sizeof(key) - 1 < head[3])
        return dm_broken(&reader->input, "its GeoKeyDirectory tells of %u keys, it holds %zu", head[3],
                         native->bytes / sizeof(key) - 1);
    for (size_t i = 1; i <= head[3]; i++) {
        key k;
        memcpy(&k, (const char *)native->data + i * sizeof k, sizeof k);
        const size_t there = k.location == KEY_DOUBLES ? doubles ? doubles->bytes / sizeof(double) : 0
                             : k.location == KEY_TEXTS ? texts ? texts->bytes : 0
                             : k.location == KEYS      ? native->bytes / 2
                                                       : SIZE_MAX;
        if (k.location && ((size_t)k.at > there || k.count > there - k.at))
            return dm_broken(&reader->input, "its GeoKey %u is not within the tag that it points to", k.id);
    }
    return DISTMAP_OK;
}

/* ---- What they mean ---- */

static const struct {
    unsigned code;
    double metres;
    const char *name;
} lengths[] = {{9001, 1, "m"},       {9002, 0.3048, "ft"}, {9003, 1200.0 / 3937, "us-ft"},
               {9036, 1000, "km"},   {9030, 1852, "nmi"},  {9093, 1609.344, "mi"},
               {9096, 0.9144, "yd"}, {1025, 0.001, "mm"},  {1033, 0.01, "cm"}};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Projections that EPSG defines in metres; of others without a key nobody knows the unit here. */
static bool is_in_metres(unsigned code) {
    return (code > 32600 && code <= 32660) || (code > 32700 && code <= 32760) || (code >= 25828 && code <= 25838) ||
           (code >= 26901 && code <= 26923) || code == 3857 || code == 3395 || code == 3035 || code == 27700 ||
           code == 2154 || code == 5070;
}

static void take_linear_unit(const distmap_image_info *info, geo *g) {
    const unsigned code = short_key(info, LINEAR_UNITS);
    const double metres = double_key(info, LINEAR_UNIT_SIZE);
    for (int i = 0; i < LENGTHS; i++)
        if (code == lengths[i].code ||
            (code == USER_DEFINED && fabs(metres - lengths[i].metres) < 1e-9 * lengths[i].metres) ||
            (!code && lengths[i].code == 9001 && is_in_metres(short_key(info, PROJECTED_TYPE))))
            strcpy(g->unit, lengths[i].name);
}

static void take_crs(const distmap_image_info *info, geo *g) {
    static const double pi = 3.14159265358979323846;
    const unsigned type = short_key(info, MODEL_TYPE), projected = short_key(info, PROJECTED_TYPE),
                   geographic = short_key(info, GEOGRAPHIC_TYPE), angle = short_key(info, ANGULAR_UNITS);
    g->world = type == PROJECTED || (!type && projected)     ? DISTMAP_WORLD_PROJECTED
               : type == GEOGRAPHIC || (!type && geographic) ? DISTMAP_WORLD_GEOGRAPHIC
                                                             : DISTMAP_WORLD_UNKNOWN;
    g->degrees = 1;
    const unsigned code = g->world == DISTMAP_WORLD_PROJECTED ? projected : geographic;
    if (g->world == DISTMAP_WORLD_PROJECTED)
        take_linear_unit(info, g);
    if (g->world == DISTMAP_WORLD_GEOGRAPHIC) {
        g->degrees = angle == 9101 ? 180 / pi : angle == 9105 || angle == 9106 ? 0.9 : 1;
        strcpy(g->unit, "deg");
    }
    if (g->world != DISTMAP_WORLD_UNKNOWN && code && code != USER_DEFINED)
        snprintf(g->crs, sizeof g->crs, "EPSG:%u", code);
    else if (!(g->world == DISTMAP_WORLD_PROJECTED && text_key(info, PROJECTED_CITATION, g->crs, sizeof g->crs)) &&
             !text_key(info, CITATION, g->crs, sizeof g->crs))
        text_key(info, GEOGRAPHIC_CITATION, g->crs, sizeof g->crs);
}

/* Which rule the tags break; NULL: none. */
static const char *understand(const distmap_image_info *info, geo *g) {
    double scale[3] = {0}, tie[6] = {0}, m[16] = {0};
    const size_t scales = values(info, "scale", 8, scale, 3), ties = values(info, "tiepoints", 8, tie, 6),
                 cells = values(info, "transformation", 8, m, 16);
    *g = (geo){.degrees = 1};
    take_crs(info, g);
    g->is_point = short_key(info, RASTER_TYPE) == POINT;
    const double centre = g->is_point ? 0 : 0.5;
    if (scales && ties) {
        if (scales < 2 || ties < 6)
            return "its ModelPixelScale or ModelTiepoint has too few numbers";
        if (!(scale[0] > 0 && scale[1] > 0 && isfinite(scale[0]) && isfinite(scale[1])))
            return "its ModelPixelScale is no pitch, which is finite and above 0";
        g->x[1] = scale[0];
        g->y[2] = -scale[1];
        g->x[0] = tie[3] + (centre - tie[0]) * scale[0];
        g->y[0] = tie[4] - (centre - tie[1]) * scale[1];
        g->scale_z = scales > 2 && isfinite(scale[2]) ? fabs(scale[2]) : 0;
        g->z = tie[5];
        g->is_placed = true;
    } else if (cells) {
        if (cells < 16)
            return "its ModelTransformation has less than 16 numbers";
        g->x[1] = m[0], g->x[2] = m[1];
        g->y[1] = m[4], g->y[2] = m[5];
        g->x[0] = m[3] + centre * (m[0] + m[1]);
        g->y[0] = m[7] + centre * (m[4] + m[5]);
        g->scale_z = isfinite(m[10]) ? fabs(m[10]) : 0;
        g->z = m[11];
        g->is_placed = true;
    }
    for (int i = 0; i < 3; i++) {
        g->x[i] *= g->degrees;
        g->y[i] *= g->degrees;
        if (!isfinite(g->x[i]) || !isfinite(g->y[i]) || !isfinite(g->z))
            return "its place in the world is not finite";
    }
    return NULL;
}

/* ---- Reading ---- */

static distmap_status take_nodata(distmap_reader *reader, TIFF *tiff) {
    uint32_t count = 0;
    const char *data = NULL;
    char text[64], *end;
    const TIFFField *field = TIFFFindField(tiff, GDAL_NODATA, TIFF_ANY);
    if (!field || !TIFFFieldPassCount(field) || !TIFFGetField(tiff, GDAL_NODATA, &count, &data) || !data || !count)
        return DISTMAP_OK;
    if (TIFFFieldDataType(field) != TIFF_ASCII)
        return dm_broken(&reader->input, "its tag GDAL_NODATA is no text");
    snprintf(text, sizeof text, "%.*s", (int)(count < sizeof text ? count : sizeof text - 1), data);
    const double value = strtod(text, &end);
    if (end == text || end[strspn(end, " \t\r\n")])
        return dm_broken(&reader->input, "its tag GDAL_NODATA is no number");
    reader->info.has_nodata = true;
    reader->info.nodata = value;
    return DISTMAP_OK;
}

/* Pages of a map are no heights, unless the file has a scale for them. */
static void take_pages(distmap_image_info *info, const geo *g) {
    if (info->ndim < 3 || dm_native_find(info, "imagej", "description") || dm_native_find(info, "ome", "xml"))
        return;
    distmap_axis *axis = &info->axis[info->ndim - 3];
    if (axis->type != DISTMAP_AXIS_SPACE || g->scale_z > 0)
        return;
    strcpy(axis->name, "page");
    axis->type = DISTMAP_AXIS_OTHER;
}

static distmap_status take_place(distmap_reader *reader, const geo *g) {
    distmap_image_info *info = &reader->info;
    const int x = info->ndim - 1, y = x - 1;
    take_pages(info, g);
    int columns = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    info->world = g->world;
    info->world_ndim = columns;
    memset(info->matrix, 0, sizeof info->matrix);
    info->origin[0] = g->x[0], info->origin[1] = g->y[0], info->origin[2] = 0;
    info->matrix[0][columns - 1] = g->x[1], info->matrix[1][columns - 1] = g->y[1];
    info->matrix[0][columns - 2] = g->x[2], info->matrix[1][columns - 2] = g->y[2];
    const double along_x[2] = {g->x[1], g->y[1]}, along_y[2] = {g->x[2], g->y[2]};
    TRY(dm_pitch_take(reader, x, g->y[1] != 0 ? dm_pitch_of(along_x, 2) : fabs(g->x[1]), "its GeoTIFF tags"));
    TRY(dm_pitch_take(reader, y, g->x[2] != 0 ? dm_pitch_of(along_y, 2) : fabs(g->y[2]), "its GeoTIFF tags"));
    if (columns == 3) {
        const double scale = g->scale_z > 0 ? g->scale_z : distmap_image_pitch(info, y - 1);
        info->matrix[2][0] = info->axis[y - 1].pitch = scale;
        info->origin[2] = g->z;
    }
    for (int a = 0; a < info->ndim; a++)
        if (info->axis[a].type == DISTMAP_AXIS_SPACE)
            strcpy(info->axis[a].unit, g->unit);
    return DISTMAP_OK;
}

distmap_status dm_tiff_geo_read(distmap_reader *reader, TIFF *tiff) {
    TRY(take_nodata(reader, tiff));
    TRY(take_tags(reader, tiff));
    TRY(check_keys(reader));
    const distmap_native *metadata = dm_native_find(&reader->info, "gdal", "metadata");
    const char *fault = NULL;
    if (metadata)
        dm_tiff_geo_metadata(metadata->data, metadata->bytes, NULL, &fault);
    if (fault)
        return dm_broken(&reader->input, "its tag GDAL_METADATA is broken XML: %s", fault);
    geo g;
    fault = understand(&reader->info, &g);
    if (fault)
        return dm_broken(&reader->input, "%s", fault);
    if (g.is_placed)
        TRY(take_place(reader, &g));
    if (!*g.crs)
        return DISTMAP_OK;
    TRY(dm_native_add(reader, "geotiff", "crs", g.crs, strlen(g.crs) + 1));
    reader->info.crs = dm_native_find(&reader->info, "geotiff", "crs")->data;
    return DISTMAP_OK;
}

size_t dm_tiff_geo_metadata(const char *text, size_t bytes, char *out, const char **fault) {
    dm_xml xml = dm_xml_begin(text, bytes);
    size_t used = 0;
    const char *begin = NULL;
    char word[40];
    *fault = NULL;
    for (;;)
        switch (dm_xml_next(&xml)) {
        case DM_XML_FAULT: *fault = xml.fault; return 0;
        case DM_XML_END: return used;
        case DM_XML_TEXT: break;
        case DM_XML_OPEN:
            if (xml.depth == 2)
                begin = dm_xml_is(&xml, "Item") && !dm_xml_attribute(&xml, "sample", word, sizeof word) &&
                                !dm_xml_attribute(&xml, "role", word, sizeof word)
                            ? xml.event
                            : NULL;
            break;
        case DM_XML_CLOSE:
            if (xml.depth == 2 && begin && out) {
                memcpy(out + used, begin, (size_t)(xml.at - begin));
                used += (size_t)(xml.at - begin);
            }
            break;
        }
}

/* ---- Writing ---- */

bool dm_tiff_geo_is(const distmap_image_info *info) {
    for (int t = 0; t < TAGS; t++)
        if (!strcmp(tags[t].family, "geotiff") && dm_native_find(info, "geotiff", tags[t].name))
            return true;
    return info->world == DISTMAP_WORLD_PROJECTED || info->world == DISTMAP_WORLD_GEOGRAPHIC;
}

/* libtiff must know tags before it sets them, and forgets them with each directory. */
static void declare(TIFF *tiff) {
    static const TIFFFieldInfo fields[] = {
        {SCALE, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"ModelPixelScale"},
        {TIEPOINTS, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"ModelTiepoint"},
        {TRANSFORMATION, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"ModelTransformation"},
        {KEYS, -1, -1, TIFF_SHORT, FIELD_CUSTOM, true, true, (char *)"GeoKeyDirectory"},
        {KEY_DOUBLES, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, true, true, (char *)"GeoDoubleParams"},
        {KEY_TEXTS, -1, -1, TIFF_ASCII, FIELD_CUSTOM, true, false, (char *)"GeoAsciiParams"},
        {GDAL_METADATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, true, false, (char *)"GDAL_METADATA"},
        {GDAL_NODATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, true, false, (char *)"GDAL_NODATA"},
    };
    TIFFMergeFieldInfo(tiff, fields, sizeof fields / sizeof *fields);
}

/* A native block as a tag, as it was. */
static distmap_status put(const distmap_writer *writer, TIFF *tiff, const struct tag *tag) {
    const distmap_native *native = dm_native_find(&writer->info, tag->family, tag->name);
    if (!native || !native->bytes)
        return DISTMAP_OK;
    char *copy = malloc(native->bytes + 1); /* aligned, and with a zero behind it */
    if (!copy)
        return dm_no_memory(writer->output.name);
    memcpy(copy, native->data, native->bytes);
    copy[native->bytes] = '\0';
    if (tag->type == TIFF_ASCII)
        TIFFSetField(tiff, tag->number, copy);
    else
        TIFFSetField(tiff, tag->number, (int)(native->bytes / tag->size), copy);
    free(copy);
    return DISTMAP_OK;
}

/* The model's place in the tags' unit, of centres, if it has any of a map. */
static bool place_of(const distmap_image_info *info, const geo *was, geo *g) {
    const int columns = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    if (info->world_ndim < 2 || columns < 2 || info->world != was->world)
        return false;
    *g = *was;
    const double known = *was->unit ? distmap_unit_ratio(distmap_image_unit(info), was->unit) : 1;
    const double ratio = known > 0 ? known : 1;
    const double *const rows[2] = {info->matrix[0], info->matrix[1]};
    for (int w = 0; w < 2; w++) {
        double *to = w ? g->y : g->x;
        to[0] = info->origin[w] * ratio;
        to[1] = rows[w][columns - 1] * ratio;
        to[2] = rows[w][columns - 2] * ratio;
    }
    g->scale_z = columns == 3 ? fabs(info->matrix[2][0]) * ratio : was->scale_z;
    g->z = columns == 3 ? info->origin[2] * ratio : was->z;
    return true;
}

static void put_place(TIFF *tiff, const geo *g) {
    const double centre = g->is_point ? 0 : 0.5;
    double x[3], y[3];
    for (int i = 0; i < 3; i++) {
        x[i] = g->x[i] / g->degrees;
        y[i] = g->y[i] / g->degrees;
    }
    const double left = x[0] - centre * (x[1] + x[2]), top = y[0] - centre * (y[1] + y[2]);
    if (x[2] == 0 && y[1] == 0 && x[1] > 0 && y[2] < 0) {
        const double scale[3] = {x[1], -y[2], g->scale_z}, tie[6] = {0, 0, 0, left, top, g->z};
        TIFFSetField(tiff, SCALE, 3, scale);
        TIFFSetField(tiff, TIEPOINTS, 6, tie);
    } else {
        const double m[16] = {x[1], x[2], 0, left, y[1], y[2], 0, top, 0, 0, g->scale_z, g->z, 0, 0, 0, 1};
        TIFFSetField(tiff, TRANSFORMATION, 16, m);
    }
}

/* Keys of a coordinate system that another format told by its EPSG code. */
static void put_keys(TIFF *tiff, const distmap_image_info *info) {
    const bool projected = info->world == DISTMAP_WORLD_PROJECTED;
    unsigned code = 0, unit = 0;
    if (info->crs && sscanf(info->crs, "EPSG:%5u", &code) != 1)
        code = 0;
    for (int i = 0; i < LENGTHS; i++)
        if (projected && !strcmp(distmap_image_unit(info), lengths[i].name))
            unit = lengths[i].code;
    const uint16_t keys[20] = {1,
                               1,
                               0,
                               (uint16_t)(unit ? 4 : 3),
                               MODEL_TYPE,
                               0,
                               1,
                               projected ? PROJECTED : GEOGRAPHIC,
                               RASTER_TYPE,
                               0,
                               1,
                               1,
                               projected ? PROJECTED_TYPE : GEOGRAPHIC_TYPE,
                               0,
                               1,
                               (uint16_t)(code && code < USER_DEFINED ? code : USER_DEFINED),
                               LINEAR_UNITS,
                               0,
                               1,
                               (uint16_t)unit};
    TIFFSetField(tiff, KEYS, unit ? 20 : 16, keys);
}

static bool same_place(const geo *a, const geo *b) {
    return a->is_placed && !memcmp(a->x, b->x, sizeof a->x) && !memcmp(a->y, b->y, sizeof a->y) &&
           a->scale_z == b->scale_z && a->z == b->z;
}

distmap_status dm_tiff_geo_write(const distmap_writer *writer, TIFF *tiff) {
    const distmap_image_info *info = &writer->info;
    declare(tiff);
    const distmap_native *metadata = dm_native_find(info, "gdal", "metadata");
    if (metadata) {
        static const char head[] = "<GDALMetadata>", tail[] = "</GDALMetadata>\n";
        const char *fault;
        char *text = malloc(metadata->bytes + sizeof head + sizeof tail);
        if (!text)
            return dm_no_memory(writer->output.name);
        const size_t begin = strlen(strcpy(text, head)),
                     kept = dm_tiff_geo_metadata(metadata->data, metadata->bytes, text + begin, &fault);
        strcpy(text + begin + kept, tail);
        if (kept)
            TIFFSetField(tiff, GDAL_METADATA, text);
        free(text);
    }
    if (info->has_nodata) {
        char text[40];
        TIFFSetField(tiff, GDAL_NODATA, isnan(info->nodata) ? "nan" : dm_decimal(info->nodata, text));
    }
    if (!dm_tiff_geo_is(info))
        return DISTMAP_OK;
    geo was, now;
    const bool has_keys = dm_native_find(info, "geotiff", "keys") != NULL;
    if (understand(info, &was))
        was = (geo){.degrees = 1}; /* a caller's own blocks */
    if (!has_keys)
        was.world = info->world;
    const bool placed = place_of(info, &was, &now), as_it_was = !placed || same_place(&was, &now);
    for (int t = 0; t < TAGS; t++) {
        const bool of_keys = tags[t].number >= KEYS, of_place = !of_keys;
        if (!strcmp(tags[t].family, "geotiff") && (of_keys || (of_place && as_it_was && info->world == was.world)))
            TRY(put(writer, tiff, &tags[t]));
    }
    if (!as_it_was)
        put_place(tiff, &now);
    if (!has_keys && info->world != DISTMAP_WORLD_UNKNOWN)
        put_keys(tiff, info);
    return DISTMAP_OK;
}
