/* Axes, units and what goes with an image unread: the part of the model that is no geometry. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/codec.h"

/* ---- Units ---- */

/* value * 10^exponent metres or seconds. The first name of a size is the short one that is kept. */
static const struct unit {
    const char *name;
    char of; /* l: length, t: time */
    double value;
    int exponent;
} units[] = {
    /* clang-format off */
    {"m", 'l', 1, 0}, {"meter", 'l', 1, 0}, {"metre", 'l', 1, 0}, {"km", 'l', 1, 3}, {"kilometer", 'l', 1, 3},
    {"cm", 'l', 1, -2}, {"centimeter", 'l', 1, -2}, {"mm", 'l', 1, -3}, {"millimeter", 'l', 1, -3},
    {"um", 'l', 1, -6}, {"\xc2\xb5m", 'l', 1, -6}, {"\xce\xbcm", 'l', 1, -6}, {"\xb5m", 'l', 1, -6},
    {"\\u00B5m", 'l', 1, -6}, {"micron", 'l', 1, -6}, {"microns", 'l', 1, -6}, {"micrometer", 'l', 1, -6},
    {"micrometre", 'l', 1, -6}, {"nm", 'l', 1, -9}, {"nanometer", 'l', 1, -9}, {"pm", 'l', 1, -12},
    {"picometer", 'l', 1, -12}, {"angstrom", 'l', 1, -10}, {"\xc3\x85", 'l', 1, -10}, {"dm", 'l', 1, -1},
    {"dam", 'l', 1, 1}, {"hm", 'l', 1, 2}, {"Mm", 'l', 1, 6}, {"Gm", 'l', 1, 9}, {"Tm", 'l', 1, 12},
    {"Pm", 'l', 1, 15}, {"Em", 'l', 1, 18}, {"Zm", 'l', 1, 21}, {"Ym", 'l', 1, 24}, {"fm", 'l', 1, -15},
    {"am", 'l', 1, -18}, {"zm", 'l', 1, -21}, {"ym", 'l', 1, -24}, {"inch", 'l', 254, -4}, {"in", 'l', 254, -4},
    {"ft", 'l', 3048, -4}, {"foot", 'l', 3048, -4}, {"us-ft", 'l', 1200.0 / 3937, 0}, {"yd", 'l', 9144, -4},
    {"yard", 'l', 9144, -4}, {"mi", 'l', 1609344, -3}, {"mile", 'l', 1609344, -3}, {"nmi", 'l', 1852, 0},
    {"thou", 'l', 254, -7}, {"li", 'l', 254.0 / 12, -4}, {"pt", 'l', 254.0 / 72, -4}, {"ua", 'l', 149597870700, 0},
    {"ly", 'l', 9460730472580800, 0}, {"pc", 'l', 3.0856775814913673, 16}, {"s", 't', 1, 0}, {"sec", 't', 1, 0},
    {"second", 't', 1, 0}, {"ms", 't', 1, -3}, {"msec", 't', 1, -3}, {"millisecond", 't', 1, -3}, {"us", 't', 1, -6},
    {"\xc2\xb5s", 't', 1, -6}, {"\xce\xbcs", 't', 1, -6}, {"microsecond", 't', 1, -6}, {"min", 't', 60, 0},
    {"minute", 't', 60, 0}, {"h", 't', 3600, 0}, {"hour", 't', 3600, 0}, {"d", 't', 86400, 0}, {"day", 't', 86400, 0},
    {"ns", 't', 1, -9}, {"ps", 't', 1, -12}, {"fs", 't', 1, -15}, {"as", 't', 1, -18}, {"zs", 't', 1, -21},
    {"ys", 't', 1, -24}, {"ds", 't', 1, -1}, {"cs", 't', 1, -2}, {"das", 't', 1, 1}, {"hs", 't', 1, 2},
    {"ks", 't', 1, 3}, {"Ms", 't', 1, 6}, {"Gs", 't', 1, 9}, {"Ts", 't', 1, 12}, {"Ps", 't', 1, 15},
    {"Es", 't', 1, 18}, {"Zs", 't', 1, 21}, {"Ys", 't', 1, 24},
    /* clang-format on */
};
enum { UNITS = sizeof units / sizeof *units };

static const struct unit *find_unit(const char *name) {
    for (int u = 0; u < UNITS; u++)
        if (!strcmp(units[u].name, name))
            return &units[u];
    return NULL;
}

double distmap_unit_ratio(const char *from, const char *to) {
    if (!from || !to)
        return 0;
    if (!strcmp(from, to))
        return 1;
    const struct unit *a = find_unit(from), *b = find_unit(to);
    if (!a || !b || a->of != b->of)
        return 0;
    const int power = a->exponent - b->exponent;
    const double value = a->value / b->value;
    return power < 0 ? value / pow(10, -power) : value * pow(10, power);
}

/* Whether people can be shown it, in `room` bytes with the zero at the end. */
static bool is_shown(const char *text, size_t room) {
    if (strlen(text) >= room)
        return false;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

void dm_unit_take(char unit[16], const char *text) {
    const struct unit *known = find_unit(text);
    for (int u = 0; known && u < UNITS; u++)
        if (units[u].of == known->of && units[u].value == known->value && units[u].exponent == known->exponent) {
            text = units[u].name;
            break;
        }
    if (is_shown(text, 16))
        strcpy(unit, text);
}

void dm_unit_take_space(distmap_image_info *info, const char *text) {
    for (int a = 0; a < info->ndim; a++)
        if (info->axis[a].type == DISTMAP_AXIS_SPACE)
            dm_unit_take(info->axis[a].unit, text);
}

const char *distmap_image_unit(const distmap_image_info *info) {
    for (int a = info ? info->ndim - 1 : -1; a >= 0; a--)
        if (info->axis[a].type == DISTMAP_AXIS_SPACE && *info->axis[a].unit)
            return info->axis[a].unit;
    return "";
}

/* ---- Axes ---- */

void dm_axis_take(distmap_axis *axis, const char *name) {
    static const struct {
        const char *name;
        distmap_axis_type type;
    } known[] = {{"t", DISTMAP_AXIS_TIME},
                 {"time", DISTMAP_AXIS_TIME},
                 {"c", DISTMAP_AXIS_CHANNEL},
                 {"channel", DISTMAP_AXIS_CHANNEL},
                 {"band", DISTMAP_AXIS_CHANNEL}};
    if (!is_shown(name, sizeof axis->name) || strchr(name, ',') || strchr(name, '='))
        return;
    strcpy(axis->name, name);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(name, known[k].name))
            axis->type = known[k].type;
}

static bool is_named(const distmap_image_info *info, const char *name) {
    for (int a = 0; a < info->ndim; a++)
        if (!strcmp(info->axis[a].name, name))
            return true;
    return false;
}

void dm_axes_name(distmap_image_info *info) {
    static const char letters[] = "pqrsvwzyx"; /* t and c would say more than is known */
    /* A file may name two axes alike. */
    for (int a = 1; a < info->ndim; a++)
        for (int b = 0; b < a; b++)
            if (!strcmp(info->axis[a].name, info->axis[b].name))
                *info->axis[a].name = '\0';
    for (int a = 0; a < info->ndim; a++) {
        if (*info->axis[a].name)
            continue;
        char name[16] = {letters[sizeof letters - 1 - (size_t)(info->ndim - a)]};
        if (is_named(info, name))
            snprintf(name, sizeof name, "axis%d", a);
        strcpy(info->axis[a].name, name);
    }
}

bool dm_axes_follow(const distmap_image_info *info, const char *order) {
    static const char *const letters[] = {[DISTMAP_AXIS_SPACE] = "xyz",
                                          [DISTMAP_AXIS_TIME] = "t",
                                          [DISTMAP_AXIS_CHANNEL] = "c",
                                          [DISTMAP_AXIS_OTHER] = "o"};
    for (int a = 0; a < info->ndim; a++) {
        const char *found = strpbrk(order, letters[info->axis[a].type]);
        if (!found)
            return false;
        order = found + 1;
    }
    return true;
}

distmap_status dm_axes_refused(const distmap_writer *writer, const char *order) {
    char names[DISTMAP_MAX_AXES * 17] = "", instead[64] = "";
    for (int a = 0; a < writer->info.ndim; a++)
        dm_append(names, sizeof names, " ", writer->info.axis[a].name);
    for (size_t row = 0; dm_codecs[row]; row++)
        if (dm_codecs[row]->info.writes && dm_codecs[row]->max_ndim == DISTMAP_MAX_AXES)
            dm_append(instead, sizeof instead, " ", dm_codecs[row]->info.endings);
    return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: %s holds axes %s in this order, not %s; %s can",
                             writer->output.name, writer->codec->info.name, order, names, instead);
}

int dm_space_axes(const distmap_image_info *info, int axes[DISTMAP_MAX_AXES]) {
    int count = 0;
    for (int a = 0; a < info->ndim; a++)
        if (info->axis[a].type == DISTMAP_AXIS_SPACE)
            axes[count++] = a;
    return count;
}

const char *distmap_image_axes(const distmap_image_info *info, char *text, size_t bytes) {
    bool letters = true;
    for (int a = 0; a < info->ndim; a++)
        letters &= strlen(info->axis[a].name) == 1;
    if (bytes)
        *text = '\0';
    for (int a = 0; bytes && a < info->ndim; a++)
        dm_append(text, bytes, letters ? "" : ",", info->axis[a].name);
    return text;
}

/* ---- What only one family of formats understands ---- */

distmap_status dm_native_add(distmap_reader *reader, const char *family, const char *name, const void *data,
                             size_t bytes) {
    distmap_image_info *info = &reader->info;
    distmap_native *more = realloc(reader->native, ((size_t)info->native_count + 1) * sizeof *more);
    void *copy = malloc(bytes + 1);
    if (more)
        info->native = reader->native = more;
    if (!more || !copy) {
        free(copy);
        return dm_no_memory(reader->input.name);
    }
    memcpy(copy, data, bytes);
    more[info->native_count++] = (distmap_native){.family = family, .name = name, .data = copy, .bytes = bytes};
    return DISTMAP_OK;
}

const distmap_native *dm_native_find(const distmap_image_info *info, const char *family, const char *name) {
    for (int i = 0; i < info->native_count; i++)
        if (!strcmp(info->native[i].family, family) && !strcmp(info->native[i].name, name))
            return &info->native[i];
    return NULL;
}

/* One block: the list, then texts and data. */
distmap_status dm_image_own(distmap_image_info *info, const char *name) {
    const distmap_native *from = info->native;
    const size_t list = (size_t)info->native_count * sizeof *from, crs = info->crs ? strlen(info->crs) + 1 : 0;
    size_t bytes = list + crs + 1;
    for (int i = 0; i < info->native_count; i++)
        bytes += strlen(from[i].family) + strlen(from[i].name) + 2 + from[i].bytes;
    distmap_native *to = malloc(bytes);
    if (!to)
        return dm_no_memory(name);
    char *rest = (char *)to + list;
    if (info->crs)
        info->crs = memcpy(rest, info->crs, crs);
    rest += crs;
    for (int i = 0; i < info->native_count; i++) {
        to[i] = from[i];
        to[i].family = strcpy(rest, from[i].family);
        rest += strlen(rest) + 1;
        to[i].name = strcpy(rest, from[i].name);
        rest += strlen(rest) + 1;
        to[i].data = from[i].bytes ? memcpy(rest, from[i].data, from[i].bytes) : rest;
        rest += from[i].bytes;
    }
    info->native = to;
    return DISTMAP_OK;
}

void dm_image_disown(distmap_image_info *info) {
    free((void *)info->native);
    info->native = NULL;
    info->native_count = 0;
    info->crs = NULL;
}
