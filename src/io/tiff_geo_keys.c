/* What GeoTIFF's tags mean: where a map's elements are, in which coordinate system.
 *
 *     ModelPixelScale sx sy sz, ModelTiepoint i j k x y z    X = x + (I - i) sx,  Y = y - (J - j) sy
 *     ModelTransformation, 4 x 4                             (X, Y, Z, 1) = M (I, J, K, 1)
 *
 * I counts columns, J rows. Where GTRasterType is "pixel is area", which is also what holds without it, the centre of the first element
 * is at I = J = 0.5; where it is "pixel is point", at 0. The model's matrix is about centres. Of a raster with north above, y's step is
 * negative; its pitch is not. Several tiepoints without a scale are no matrix, and tell no place here.
 *
 * Keys say what X and Y are: metres, feet, ... of a projection, or degrees, which are no lengths.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/tiff_geo.h"

/* Values of a tag, copied since they may lie anywhere; how many there are, which may be more than `room`. */
static size_t values(const distmap_image_info *info, const char *name, size_t size, void *to, size_t room) {
    const distmap_native *native = dm_native_find(info, "geotiff", name);
    if (!native)
        return 0;
    const size_t count = native->bytes / size;
    memcpy(to, native->data, (count < room ? count : room) * size);
    return count;
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
distmap_status dm_geo_check_keys(const distmap_reader *reader) {
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
        return dm_broken(&reader->input, "its GeoKeyDirectory names %u keys, but holds %zu", head[3],
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

const dm_geo_length dm_geo_lengths[] = {{9001, 1, "m"},       {9002, 0.3048, "ft"}, {9003, 1200.0 / 3937, "us-ft"},
                                        {9036, 1000, "km"},   {9030, 1852, "nmi"},  {9093, 1609.344, "mi"},
                                        {9096, 0.9144, "yd"}, {1025, 0.001, "mm"},  {1033, 0.01, "cm"},
                                        {0, 0, NULL}};

/* Projections that EPSG defines in metres; of others without a key nobody knows the unit here. */
static bool is_in_metres(unsigned code) {
    return (code > 32600 && code <= 32660) || (code > 32700 && code <= 32760) || (code >= 25828 && code <= 25838) ||
           (code >= 26901 && code <= 26923) || code == 3857 || code == 3395 || code == 3035 || code == 27700 ||
           code == 2154 || code == 5070;
}

static void take_linear_unit(const distmap_image_info *info, dm_geo *g) {
    const unsigned code = short_key(info, LINEAR_UNITS);
    const double metres = double_key(info, LINEAR_UNIT_SIZE);
    for (int i = 0; dm_geo_lengths[i].name; i++)
        if (code == dm_geo_lengths[i].code ||
            (code == USER_DEFINED && fabs(metres - dm_geo_lengths[i].metres) < 1e-9 * dm_geo_lengths[i].metres) ||
            (!code && dm_geo_lengths[i].code == 9001 && is_in_metres(short_key(info, PROJECTED_TYPE))))
            strcpy(g->unit, dm_geo_lengths[i].name);
}

static void take_crs(const distmap_image_info *info, dm_geo *g) {
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

const char *dm_geo_understand(const distmap_image_info *info, dm_geo *g) {
    double scale[3] = {0}, tie[6] = {0}, m[16] = {0};
    const size_t scales = values(info, "scale", 8, scale, 3), ties = values(info, "tiepoints", 8, tie, 6),
                 cells = values(info, "transformation", 8, m, 16);
    *g = (dm_geo){.degrees = 1};
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
