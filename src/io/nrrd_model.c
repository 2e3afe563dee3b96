/* Turns an NRRD header into a model, and a model into a header.
 *
 * With directions, an axis that has one is of space, and one without ("none") is what its kind says. A space of four dimensions has time
 * for the fourth. LAS, which the model does not know, is turned to RAS when read, and back when a file is written that came from one. Without
 * directions, spacings and axis mins give a place in an unknown world, elements being cells unless `centers` says node.
 *
 * A file of this format that the image came from is followed: its kinds, and lines that nobody here understands.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/convert.h"
#include "io/nrrd.h"

/* ---- Spaces ---- */

static const struct space {
    const char *name, *abbreviation;
    distmap_world world;
    bool mirrored; /* x leads the other way than in the world */
} spaces[] = {
    {"right-anterior-superior", "RAS", DISTMAP_WORLD_RAS, false},
    {"left-anterior-superior", "LAS", DISTMAP_WORLD_RAS, true},
    {"left-posterior-superior", "LPS", DISTMAP_WORLD_LPS, false},
    {"scanner-xyz", "", DISTMAP_WORLD_UNKNOWN, false},
    {"3D-right-handed", "", DISTMAP_WORLD_UNKNOWN, false},
    {"3D-left-handed", "", DISTMAP_WORLD_UNKNOWN, false},
};
enum { SPACES = sizeof spaces / sizeof *spaces };

/* With or without "-time", or T. */
static const struct space *find_space(const char *name) {
    for (int s = 0; name && s < SPACES; s++) {
        const size_t full = strlen(spaces[s].name), brief = strlen(spaces[s].abbreviation);
        if (!strncasecmp(name, spaces[s].name, full) && (!name[full] || !strcasecmp(name + full, "-time")))
            return &spaces[s];
        if (brief && !strncasecmp(name, spaces[s].abbreviation, brief) &&
            (!name[brief] || !strcasecmp(name + brief, "T")))
            return &spaces[s];
    }
    return NULL;
}

static void mirror(distmap_image_info *info) {
    info->origin[0] = 0 - info->origin[0]; /* 0 has no sign */
    for (int s = 0; s < 3; s++)
        info->matrix[0][s] = 0 - info->matrix[0][s];
}

/* ---- Reading ---- */

static distmap_axis_type type_of_kind(const char *kind, distmap_axis_type unknown) {
    static const char *const channels[] = {
        "list",       "vector",   "covariant-vector", "normal",    "stub",      "scalar",
        "2-vector",   "3-color",  "RGB-color",        "HSV-color", "XYZ-color", "4-color",
        "RGBA-color", "3-vector", "3-gradient",       "3-normal",  "4-vector",  "point"};
    static const char *const others[] = {"complex", "quaternion"};
    if (!strcasecmp(kind, "time"))
        return DISTMAP_AXIS_TIME;
    for (size_t k = 0; k < sizeof channels / sizeof *channels; k++)
        if (!strcasecmp(kind, channels[k]))
            return DISTMAP_AXIS_CHANNEL;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (!strcasecmp(kind, others[k]))
            return DISTMAP_AXIS_OTHER;
    return strcasestr(kind, "matrix") ? DISTMAP_AXIS_OTHER : unknown;
}

static bool leads_to_time(const dm_nrrd *h, int i) {
    return h->has_vector[i] && h->space_ndim == DM_VECTOR && h->vector[i][0] == 0 && h->vector[i][1] == 0 &&
           h->vector[i][2] == 0;
}

static void take_axis(const dm_nrrd *h, int i, distmap_axis *axis, int *column) {
    static const char *const names[] = {"x", "y", "z"};
    const char *kind = h->kind[i] ? h->kind[i] : "";
    axis->type = leads_to_time(h, i) ? DISTMAP_AXIS_TIME
                 : h->has_vector[i]  ? DISTMAP_AXIS_SPACE
                 : h->has_directions ? type_of_kind(kind, DISTMAP_AXIS_OTHER)
                                     : type_of_kind(kind, DISTMAP_AXIS_SPACE);
    const distmap_axis_type type = axis->type;
    const bool is_certain = h->has_vector[i] || type != (h->has_directions ? DISTMAP_AXIS_OTHER : DISTMAP_AXIS_SPACE);
    if (h->label[i] && *h->label[i])
        dm_axis_take(axis, h->label[i]);
    if (is_certain)
        axis->type = type;
    const int number = axis->type == DISTMAP_AXIS_SPACE ? (*column)++ : 0;
    if (!*axis->name && axis->type == DISTMAP_AXIS_SPACE && number < 3)
        strcpy(axis->name, names[number]);
    else if (!*axis->name && axis->type <= DISTMAP_AXIS_CHANNEL)
        strcpy(axis->name, axis->type == DISTMAP_AXIS_TIME ? "t" : axis->type == DISTMAP_AXIS_CHANNEL ? "c" : "");
    if (h->unit[i])
        dm_unit_take(axis->unit, h->unit[i]);
}

/* Spacings where there are no directions, from axis mins on. */
static void take_mins(const dm_nrrd *h, distmap_image_info *info) {
    int axes[DISTMAP_MAX_AXES];
    const int columns = dm_space_axes(info, axes);
    bool told = columns >= 1 && columns <= 3;
    for (int s = 0; s < columns && told; s++)
        told = info->axis[axes[s]].pitch > 0 && isfinite(h->least[info->ndim - 1 - axes[s]]);
    if (!told)
        return;
    info->world_ndim = columns;
    for (int s = 0; s < columns; s++) {
        const int i = info->ndim - 1 - axes[s], w = columns - 1 - s;
        const double pitch = info->axis[axes[s]].pitch;
        info->matrix[w][s] = pitch;
        info->origin[w] = h->least[i] + (h->center[i] == DM_NRRD_NODE ? 0 : pitch / 2);
    }
}

static void take_space_unit(const dm_nrrd *h, distmap_image_info *info) {
    const int count = h->space_ndim < 3 ? h->space_ndim : 3;
    for (int w = 0; w < count; w++)
        if (!h->space_unit[w] || strcmp(h->space_unit[w], h->space_unit[0]) != 0)
            return;
    if (count)
        dm_unit_take_space(info, h->space_unit[0]);
}

distmap_status dm_nrrd_take(const dm_input *input, const dm_nrrd *h, distmap_image_info *info) {
    dm_vectors vectors = {.world_ndim = h->space_ndim};
    int column = 0;
    info->ndim = h->ndim;
    for (int i = 0; i < h->ndim; i++) {
        const int a = h->ndim - 1 - i;
        info->shape[a] = h->size[i];
        take_axis(h, i, &info->axis[a], &column);
        if (!isnan(h->spacing[i]) && !h->has_vector[i]) {
            if (!(h->spacing[i] > 0 && isfinite(h->spacing[i])))
                return dm_broken(input, "its pitch along axis %d is %g, in spacings; a pitch is finite and above 0", a,
                                 h->spacing[i]);
            info->axis[a].pitch = h->spacing[i];
        }
        vectors.has[a] = h->has_vector[i];
        memcpy(vectors.vector[a], h->vector[i], sizeof h->vector[i]);
    }
    take_space_unit(h, info);
    memcpy(vectors.origin, h->origin, sizeof h->origin);
    if (!h->has_directions) {
        take_mins(h, info);
        return DISTMAP_OK;
    }
    TRY(dm_vectors_take(input, &vectors, info));
    const struct space *space = find_space(h->space);
    if (!space || !info->world_ndim)
        return DISTMAP_OK;
    info->world = space->world;
    info->crs = space->world == DISTMAP_WORLD_UNKNOWN ? space->name : NULL;
    if (space->mirrored)
        mirror(info);
    return DISTMAP_OK;
}

/* ---- Writing ---- */

static const char *type_name(distmap_dtype dtype) {
    static const char *const names[] = {
        [DISTMAP_BOOL] = "uint8",    [DISTMAP_INT8] = "int8",     [DISTMAP_UINT8] = "uint8",
        [DISTMAP_INT16] = "int16",   [DISTMAP_UINT16] = "uint16", [DISTMAP_INT32] = "int32",
        [DISTMAP_UINT32] = "uint32", [DISTMAP_INT64] = "int64",   [DISTMAP_UINT64] = "uint64",
        [DISTMAP_FLOAT32] = "float", [DISTMAP_FLOAT64] = "double"};
    return names[dtype];
}

static void add_quoted(dm_text *text, const char *word) {
    dm_text_add(text, " \"");
    for (; *word; word++)
        dm_text_add(text, *word == '"' ? "\\%c" : "%c", *word);
    dm_text_add(text, "\"");
}

static void add_vector(dm_text *text, const double *vector, int count) {
    char number[32];
    for (int w = 0; w < count; w++)
        dm_text_add(text, "%s%s", w ? "," : " (", dm_number_text(vector[w], number));
    dm_text_add(text, ")");
}

/* The same axes as the header's that the image came with. */
static bool same_axes(const dm_nrrd *was, const distmap_image_info *info) {
    if (was->ndim != info->ndim)
        return false;
    for (int i = 0; i < was->ndim; i++)
        if (was->size[i] != info->shape[info->ndim - 1 - i])
            return false;
    return true;
}

static void add_kinds(dm_text *text, const dm_nrrd *was, bool same, const distmap_image_info *info) {
    dm_text_add(text, "kinds:");
    for (int i = 0; i < info->ndim; i++) {
        const distmap_axis_type type = info->axis[info->ndim - 1 - i].type;
        const char *kind = type == DISTMAP_AXIS_SPACE  ? "domain"
                           : type == DISTMAP_AXIS_TIME ? "time"
                           : i                         ? "list"
                                                       : "vector";
        if (same && was->kind[i] &&
            type_of_kind(was->kind[i],
                         was->has_directions && !was->has_vector[i] ? DISTMAP_AXIS_OTHER : DISTMAP_AXIS_SPACE) == type)
            kind = was->kind[i];
        dm_text_add(text, " %s", kind);
    }
    dm_text_add(text, "\n");
}

/* Space, directions, origin. `was` tells whether time is a dimension of the space, and its name. */
static void add_place(dm_text *text, const dm_nrrd *was, distmap_image_info *info) {
    const struct space *space = info->crs ? find_space(info->crs) : NULL, *before = find_space(was->space);
    const bool has_time = was->space_ndim == DM_VECTOR && info->world_ndim == 3;
    const int ndim = has_time ? DM_VECTOR : info->world_ndim;
    for (int s = 0; s < SPACES && !space; s++)
        if (info->world != DISTMAP_WORLD_UNKNOWN && spaces[s].world == info->world && !spaces[s].mirrored)
            space = &spaces[s];
    if (before && before->mirrored && info->world == DISTMAP_WORLD_RAS) {
        space = before;
        mirror(info);
    }
    if (space && info->world_ndim == 3 && (!has_time || was->space))
        dm_text_add(text, "space: %s%s\nspace directions:", space->name, has_time ? "-time" : "");
    else
        dm_text_add(text, "space dimension: %d\nspace directions:", ndim);
    int column = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    for (int a = info->ndim - 1; a >= 0; a--) {
        double vector[DM_VECTOR] = {0};
        const bool in_space = info->axis[a].type == DISTMAP_AXIS_SPACE;
        column -= in_space;
        for (int w = 0; w < info->world_ndim && in_space; w++)
            vector[w] = info->matrix[w][column];
        if (has_time && info->axis[a].type == DISTMAP_AXIS_TIME)
            vector[DM_VECTOR - 1] = distmap_image_pitch(info, a);
        else if (!in_space) {
            dm_text_add(text, " none");
            continue;
        }
        add_vector(text, vector, ndim);
    }
    const double origin[DM_VECTOR] = {info->origin[0], info->origin[1], info->origin[2], was->origin[DM_VECTOR - 1]};
    dm_text_add(text, "\nspace origin:");
    add_vector(text, origin, ndim);
    dm_text_add(text, "\n");
    if (!*distmap_image_unit(info))
        return;
    dm_text_add(text, "space units:");
    for (int w = 0; w < ndim; w++)
        add_quoted(text, w < 3 ? distmap_image_unit(info) : "");
    dm_text_add(text, "\n");
}

/* Pitches and units of axes without a direction. */
static void add_pitches(dm_text *text, const distmap_image_info *info, bool time_has_vector) {
    bool has_pitch = false, has_unit = false;
    bool own[DISTMAP_MAX_AXES];
    for (int a = 0; a < info->ndim; a++) {
        const distmap_axis_type type = info->axis[a].type;
        own[a] = !info->world_ndim || (type != DISTMAP_AXIS_SPACE && !(type == DISTMAP_AXIS_TIME && time_has_vector));
        has_pitch |= own[a] && info->axis[a].pitch > 0;
        has_unit |= (own[a] || type == DISTMAP_AXIS_TIME) && *info->axis[a].unit;
    }
    if (has_pitch) {
        dm_text_add(text, "spacings:");
        for (int a = info->ndim - 1; a >= 0; a--) {
            char number[32];
            dm_text_add(text, " %s",
                        own[a] && info->axis[a].pitch > 0 ? dm_number_text(info->axis[a].pitch, number) : "nan");
        }
        dm_text_add(text, "\n");
    }
    if (has_unit) {
        dm_text_add(text, "units:");
        for (int a = info->ndim - 1; a >= 0; a--)
            add_quoted(text, own[a] || info->axis[a].type == DISTMAP_AXIS_TIME ? info->axis[a].unit : "");
        dm_text_add(text, "\n");
    }
}

/* Lines of the old header that still hold: pairs, comments, and of fields what says nothing about values of elements. */
static void follow_lines(dm_text *text, const char *old, bool same, bool same_space) {
    for (const char *line = dm_text_after(old); line && *line != '\n' && *line != '\r'; line = dm_text_after(line)) {
        const size_t length = strcspn(line, "\r\n");
        char field[DM_NRRD_FIELD];
        const char *value, *colon = strchr(line, ':');
        const bool is_pair = colon && colon < line + length && colon[1] == '=';
        const bool is_field = !is_pair && colon && colon < line + length && dm_nrrd_field(line, field, &value);
        const bool follows =
            is_pair || *line == '#' || (is_field && !strcmp(field, "content")) ||
            (is_field && same &&
             (!strcmp(field, "thicknesses") || !strcmp(field, "centers") || !strcmp(field, "centerings"))) ||
            (is_field && same_space && !strcmp(field, "measurementframe"));
        if (follows)
            dm_text_add(text, "%.*s\n", (int)length, line);
    }
}

distmap_status dm_nrrd_make(const distmap_writer *writer, dm_text *text, bool *packed) {
    distmap_image_info info = writer->info, old_info = {0};
    const dm_input messages = {.name = writer->output.name};
    const distmap_native *native = dm_native_find(&info, "nrrd", "header");
    dm_nrrd was = {0};
    char *cut = native ? calloc(1, native->bytes + 1) : NULL, *old = native ? calloc(1, native->bytes + 1) : NULL;
    bool comes_with = false;
    if (native && (!cut || !old)) {
        free(cut), free(old);
        return dm_no_memory(writer->output.name);
    }
    if (native) {
        memcpy(cut, native->data, native->bytes);
        memcpy(old, native->data, native->bytes);
        comes_with = !dm_nrrd_parse(&messages, cut, &was) && !dm_nrrd_take(&messages, &was, &old_info);
    }
    const bool same = comes_with && same_axes(&was, &info),
               same_space = comes_with && old_info.world_ndim == info.world_ndim && old_info.world == info.world;
    if (!same_space) /* nothing of it is to be followed */
        was.space = NULL, was.space_ndim = 0, was.origin[DM_VECTOR - 1] = 0;
    const bool time_has_vector = was.space_ndim == DM_VECTOR && info.world_ndim == 3;
    *packed = strcmp(info.packing, "none") != 0;
    dm_text_add(text, "NRRD0005\ntype: %s\ndimension: %d\n", type_name(info.dtype), info.ndim);
    if (info.world_ndim)
        add_place(text, &was, &info);
    dm_text_add(text, "sizes:");
    for (int a = info.ndim - 1; a >= 0; a--)
        dm_text_add(text, " %lld", (long long)info.shape[a]);
    dm_text_add(text, "\n");
    add_pitches(text, &info, time_has_vector);
    add_kinds(text, &was, same, &info);
    dm_text_add(text, "labels:");
    for (int a = info.ndim - 1; a >= 0; a--)
        add_quoted(text, info.axis[a].name);
    dm_text_add(text, "\n");
    if (distmap_dtype_size(info.dtype) > 1)
        dm_text_add(text, "endian: %s\n", DM_HOST_BIG ? "big" : "little");
    dm_text_add(text, "encoding: %s\n", *packed ? "gzip" : "raw");
    if (comes_with)
        follow_lines(text, old, same, same_space);
    free(cut);
    free(old);
    return text->failed ? dm_no_memory(writer->output.name) : DISTMAP_OK;
}
