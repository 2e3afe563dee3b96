/* GeoTIFF's tags and GDAL's, its value for no data and its metadata, in and out.
 *
 * All go along as they are, blocks of "geotiff" and "gdal", and are written again; only where the image has another place than they
 * tell (another pitch, say) the place is written anew. tiff_geo_keys.c has what they mean.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_geo.h"
#include "io/xml.h"

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

/* ---- Reading ---- */

static distmap_status add_tag(distmap_reader *reader, const struct tag *known, const dm_tiff_tag *tag) {
    if (!tag->count || !tag->data)
        return DISTMAP_OK;
    if (tag->type != known->type)
        return dm_broken(&reader->input, "its tag %s is of type %d, not %d", known->title, (int)tag->type,
                         (int)known->type);
    return dm_native_add(reader, known->family, known->name, tag->data, tag->count * known->size);
}

static distmap_status add_nodata(distmap_reader *reader, const dm_tiff_tag *tag) {
    if (!tag->count || !tag->data)
        return DISTMAP_OK;
    if (tag->type != TIFF_ASCII)
        return dm_broken(&reader->input, "its tag GDAL_NODATA is no text");
    char text[64], *end;
    snprintf(text, sizeof text, "%s", (const char *)tag->data);
    const double value = strtod(text, &end);
    if (end == text || end[strspn(end, " \t\r\n")])
        return dm_broken(&reader->input, "its tag GDAL_NODATA is no number");
    reader->info.has_nodata = true;
    reader->info.nodata = value;
    return DISTMAP_OK;
}

static distmap_status take_tags(distmap_reader *reader, dm_tiff *file, const dm_tiff_entries *entries) {
    dm_tiff_tag tag;
    distmap_status status = dm_tiff_tag_read(file, entries, GDAL_NODATA, &tag);
    if (!status)
        status = add_nodata(reader, &tag);
    free(tag.data);
    for (int t = 0; t < TAGS && !status; t++) {
        status = dm_tiff_tag_read(file, entries, tags[t].number, &tag);
        if (!status)
            status = add_tag(reader, &tags[t], &tag);
        free(tag.data);
    }
    return status;
}

/* Pages of a map are no heights, unless the file has a scale for them. */
static void take_pages(distmap_image_info *info, const dm_geo *g) {
    if (info->ndim < 3 || dm_native_find(info, "imagej", "description") || dm_native_find(info, "ome", "xml"))
        return;
    distmap_axis *axis = &info->axis[info->ndim - 3];
    if (axis->type != DISTMAP_AXIS_SPACE || g->scale_z > 0)
        return;
    strcpy(axis->name, "page");
    axis->type = DISTMAP_AXIS_OTHER;
}

static distmap_status take_place(distmap_reader *reader, const dm_geo *g) {
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

distmap_status dm_tiff_geo_read(distmap_reader *reader, dm_tiff *file, const dm_tiff_entries *entries) {
    TRY(take_tags(reader, file, entries));
    TRY(dm_geo_check_keys(reader));
    const distmap_native *metadata = dm_native_find(&reader->info, "gdal", "metadata");
    const char *fault = NULL;
    if (metadata)
        dm_tiff_geo_metadata(metadata->data, metadata->bytes, NULL, &fault);
    if (fault)
        return dm_broken(&reader->input, "its tag GDAL_METADATA is broken XML: %s", fault);
    dm_geo g;
    fault = dm_geo_understand(&reader->info, &g);
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
static void declare(dm_tiff *file) {
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
    if (TIFFMergeFieldInfo(file->tiff, fields, sizeof fields / sizeof *fields))
        file->refused = true;
}

/* A native block as a tag, as it was. */
static distmap_status put(const distmap_writer *writer, dm_tiff *file, const struct tag *tag) {
    const distmap_native *native = dm_native_find(&writer->info, tag->family, tag->name);
    if (!native || !native->bytes)
        return DISTMAP_OK;
    char *copy = malloc(native->bytes + 1); /* aligned, and with a zero behind it */
    if (!copy)
        return dm_no_memory(writer->output.name);
    memcpy(copy, native->data, native->bytes);
    copy[native->bytes] = '\0';
    if (tag->type == TIFF_ASCII)
        dm_tiff_set(file->tiff, &file->refused, tag->number, copy);
    else
        dm_tiff_set(file->tiff, &file->refused, tag->number, (int)(native->bytes / tag->size), copy);
    free(copy);
    return DISTMAP_OK;
}

/* The model's place in the tags' unit, of centres, if it has any of a map. */
static bool place_of(const distmap_image_info *info, const dm_geo *was, dm_geo *g) {
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

static void put_place(dm_tiff *file, const dm_geo *g) {
    const double centre = g->is_point ? 0 : 0.5;
    double x[3], y[3];
    for (int i = 0; i < 3; i++) {
        x[i] = g->x[i] / g->degrees;
        y[i] = g->y[i] / g->degrees;
    }
    const double left = x[0] - centre * (x[1] + x[2]), top = y[0] - centre * (y[1] + y[2]);
    if (x[2] == 0 && y[1] == 0 && x[1] > 0 && y[2] < 0) {
        const double scale[3] = {x[1], -y[2], g->scale_z}, tie[6] = {0, 0, 0, left, top, g->z};
        dm_tiff_set(file->tiff, &file->refused, SCALE, 3, scale);
        dm_tiff_set(file->tiff, &file->refused, TIEPOINTS, 6, tie);
    } else {
        const double m[16] = {x[1], x[2], 0, left, y[1], y[2], 0, top, 0, 0, g->scale_z, g->z, 0, 0, 0, 1};
        dm_tiff_set(file->tiff, &file->refused, TRANSFORMATION, 16, m);
    }
}

/* Keys of a coordinate system that another format told by its EPSG code. */
static void put_keys(dm_tiff *file, const distmap_image_info *info) {
    const bool projected = info->world == DISTMAP_WORLD_PROJECTED;
    unsigned code = 0, unit = 0;
    if (info->crs && sscanf(info->crs, "EPSG:%5u", &code) != 1)
        code = 0;
    for (int i = 0; dm_geo_lengths[i].name; i++)
        if (projected && !strcmp(distmap_image_unit(info), dm_geo_lengths[i].name))
            unit = dm_geo_lengths[i].code;
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
    dm_tiff_set(file->tiff, &file->refused, KEYS, unit ? 20 : 16, keys);
}

static bool same_place(const dm_geo *a, const dm_geo *b) {
    return a->is_placed && !memcmp(a->x, b->x, sizeof a->x) && !memcmp(a->y, b->y, sizeof a->y) &&
           a->scale_z == b->scale_z && a->z == b->z;
}

distmap_status dm_tiff_geo_write(const distmap_writer *writer, dm_tiff *file) {
    const distmap_image_info *info = &writer->info;
    declare(file);
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
            dm_tiff_set(file->tiff, &file->refused, GDAL_METADATA, text);
        free(text);
    }
    if (info->has_nodata) {
        char text[40];
        dm_tiff_set(file->tiff, &file->refused, GDAL_NODATA,
                    isnan(info->nodata) ? "nan" : dm_decimal(info->nodata, text));
    }
    if (!dm_tiff_geo_is(info))
        return DISTMAP_OK;
    dm_geo was, now;
    const bool has_keys = dm_native_find(info, "geotiff", "keys") != NULL;
    if (dm_geo_understand(info, &was))
        was = (dm_geo){.degrees = 1}; /* a caller's own blocks */
    if (!has_keys)
        was.world = info->world;
    const bool placed = place_of(info, &was, &now), as_it_was = !placed || same_place(&was, &now);
    for (int t = 0; t < TAGS; t++) {
        const bool of_keys = tags[t].number >= KEYS, of_place = !of_keys;
        if (!strcmp(tags[t].family, "geotiff") && (of_keys || (of_place && as_it_was && info->world == was.world)))
            TRY(put(writer, file, &tags[t]));
    }
    if (!as_it_was)
        put_place(file, &now);
    if (!has_keys && info->world != DISTMAP_WORLD_UNKNOWN)
        put_keys(file, info);
    return DISTMAP_OK;
}
