/* An NRRD header to pieces: a table of fields. Those about which there is nothing to know here go by.
 *
 * Fields about axes come behind `dimension`, those about space behind `space` or `space dimension`; the format says so, so that lists can be
 * counted at once.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/convert.h"
#include "io/nrrd.h"

/* ---- Values ---- */

static bool is_one_of(const char *value, const char *const *names) {
    for (; *names; names++)
        if (!strcasecmp(value, *names))
            return true;
    return false;
}

static distmap_dtype find_type(const char *value) {
    static const struct {
        distmap_dtype dtype;
        const char *names[8];
    } types[] = {
        {DISTMAP_INT8, {"signed char", "int8", "int8_t"}},
        {DISTMAP_UINT8, {"uchar", "unsigned char", "uint8", "uint8_t"}},
        {DISTMAP_INT16, {"short", "short int", "signed short", "signed short int", "int16", "int16_t"}},
        {DISTMAP_UINT16, {"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"}},
        {DISTMAP_INT32, {"int", "signed int", "int32", "int32_t"}},
        {DISTMAP_UINT32, {"uint", "unsigned int", "uint32", "uint32_t"}},
        {DISTMAP_INT64,
         {"longlong", "long long", "long long int", "signed long long", "signed long long int", "int64", "int64_t"}},
        {DISTMAP_UINT64,
         {"ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"}},
        {DISTMAP_FLOAT32, {"float"}},
        {DISTMAP_FLOAT64, {"double"}},
    };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (is_one_of(value, types[t].names))
            return types[t].dtype;
    return (distmap_dtype)0;
}

static const char *find_encoding(const char *value) {
    static const char *const gzip[] = {"gz", "gzip", NULL}, *const raw[] = {"raw", NULL};
    return is_one_of(value, gzip) ? "gzip" : is_one_of(value, raw) ? "raw" : value;
}

/* "(1,0,0)", where the text goes on; NULL: it is none of so many numbers. */
static const char *take_vector(const char *text, int count, double *vector) {
    while (isspace((unsigned char)*text))
        text++;
    if (*text++ != '(')
        return NULL;
    for (int w = 0; w < count; w++) {
        const char *end;
        vector[w] = dm_number(text, &end);
        if (end == text)
            return NULL;
        while (isspace((unsigned char)*end))
            end++;
        if (*end != (w + 1 < count ? ',' : ')'))
            return NULL;
        text = end + 1;
    }
    return text;
}

static bool is_blank(const char *text) { return !text[strspn(text, " \t")]; }

static bool take_directions(const char *text, dm_nrrd *h) {
    for (int i = 0; i < h->ndim; i++) {
        text += strspn(text, " \t");
        if (!strncasecmp(text, "none", 4)) {
            text += 4;
            continue;
        }
        text = take_vector(text, h->space_ndim, h->vector[i]);
        if (!text)
            return false;
        bool is_nan = true; /* how older files wrote "none" */
        for (int w = 0; w < h->space_ndim; w++)
            is_nan &= isnan(h->vector[i][w]) != 0;
        h->has_vector[i] = !is_nan;
    }
    h->has_directions = true;
    return is_blank(text);
}

static bool take_origin(const char *text, dm_nrrd *h) {
    h->has_origin = true;
    text = take_vector(text, h->space_ndim, h->origin);
    return text && is_blank(text);
}

/* Words between white space, cut apart. */
static bool take_words(char *text, int count, char **words) {
    for (int i = 0; i < count; i++) {
        text += strspn(text, " \t");
        if (!*text)
            return false;
        words[i] = text;
        text += strcspn(text, " \t");
        if (*text)
            *text++ = '\0';
    }
    return is_blank(text);
}

/* Texts in quotes, in which \" is a quote. */
static bool take_quoted(char *text, int count, char **words) {
    for (int i = 0; i < count; i++) {
        text += strspn(text, " \t");
        if (*text++ != '"')
            return false;
        char *to = words[i] = text;
        for (; *text != '"'; *to++ = *text++) {
            if (*text == '\\' && text[1] == '"')
                text++;
            if (!*text)
                return false;
        }
        text++;
        *to = '\0';
    }
    return is_blank(text);
}

static bool take_centers(char *text, dm_nrrd *h) {
    char *words[DISTMAP_MAX_AXES];
    if (!take_words(text, h->ndim, words))
        return false;
    for (int i = 0; i < h->ndim; i++)
        h->center[i] = !strcasecmp(words[i], "cell")   ? DM_NRRD_CELL
                       : !strcasecmp(words[i], "node") ? DM_NRRD_NODE
                                                       : DM_NRRD_UNKNOWN;
    return true;
}

static bool take_endian(const char *value, dm_nrrd *h) {
    const bool big = !strcasecmp(value, "big");
    h->has_endian = true;
    h->swapped = big != DM_HOST_BIG;
    return big || !strcasecmp(value, "little");
}

static bool take_skip(const char *value, int64_t least, int64_t *skip) {
    return dm_integers(value, skip, 1) == 1 && *skip >= least;
}

static const struct {
    const char *name;
    int ndim;
} spaces[] = {{"right-anterior-superior", 3}, {"RAS", 3},
              {"left-anterior-superior", 3},  {"LAS", 3},
              {"left-posterior-superior", 3}, {"LPS", 3},
              {"scanner-xyz", 3},             {"3D-right-handed", 3},
              {"3D-left-handed", 3},          {"right-anterior-superior-time", 4},
              {"RAST", 4},                    {"left-anterior-superior-time", 4},
              {"LAST", 4},                    {"left-posterior-superior-time", 4},
              {"LPST", 4},                    {"scanner-xyz-time", 4},
              {"3D-right-handed-time", 4},    {"3D-left-handed-time", 4}};

static bool take_space(const char *value, dm_nrrd *h) {
    h->space = value;
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
        if (!strcasecmp(value, spaces[s].name))
            h->space_ndim = spaces[s].ndim;
    return h->space_ndim > 0;
}

/* ---- Fields ---- */

enum needs { NOTHING, AXES, SPACE };
enum field { SIZES, TYPE, ENCODING, ENDIAN, LINE_SKIP, BYTE_SKIP, DATA, NAME, DIRECTIONS, ORIGIN, SPACE_UNITS, SPACINGS, LEAST, CENTERS, KINDS, LABELS, UNITS };

static const struct {
    const char *name;
    enum needs needs;
    enum field field;
} fields[] = {
    {"sizes", AXES, SIZES},
    {"type", NOTHING, TYPE},
    {"encoding", NOTHING, ENCODING},
    {"endian", NOTHING, ENDIAN},
    {"lineskip", NOTHING, LINE_SKIP},
    {"byteskip", NOTHING, BYTE_SKIP},
    {"datafile", NOTHING, DATA},
    {"space", NOTHING, NAME},
    {"spacedirections", SPACE, DIRECTIONS},
    {"spaceorigin", SPACE, ORIGIN},
    {"spaceunits", SPACE, SPACE_UNITS},
    {"spacings", AXES, SPACINGS},
    {"axismins", AXES, LEAST},
    {"centers", AXES, CENTERS},
    {"centerings", AXES, CENTERS},
    {"kinds", AXES, KINDS},
    {"labels", AXES, LABELS},
    {"units", AXES, UNITS},
};

static bool take(dm_nrrd *h, enum field field, char *value) {
    switch (field) {
    case SIZES: h->has_size = true; return dm_integers(value, h->size, h->ndim) == h->ndim;
    case TYPE: h->type = value; h->dtype = find_type(value); return true;
    case ENCODING: h->encoding = find_encoding(value); return true;
    case ENDIAN: return take_endian(value, h);
    case LINE_SKIP: return take_skip(value, 0, &h->line_skip);
    case BYTE_SKIP: return take_skip(value, -1, &h->byte_skip);
    case DATA: h->file = value; return true;
    case NAME: return take_space(value, h);
    case DIRECTIONS: return take_directions(value, h);
    case ORIGIN: return take_origin(value, h);
    case SPACE_UNITS: return take_quoted(value, h->space_ndim, h->space_unit);
    case SPACINGS: return dm_numbers(value, h->spacing, h->ndim) == h->ndim;
    case LEAST: return dm_numbers(value, h->least, h->ndim) == h->ndim;
    case CENTERS: return take_centers(value, h);
    case KINDS: return take_words(value, h->ndim, h->kind);
    case LABELS: return take_quoted(value, h->ndim, h->label);
    default: return take_quoted(value, h->ndim, h->unit);
    }
}

bool dm_nrrd_field(const char *line, char field[DM_NRRD_FIELD], const char **value) {
    size_t used = 0;
    const char *colon = strchr(line, ':');
    if (*line == '#' || !colon || colon[1] == '=')
        return false;
    for (; line < colon; line++) {
        if (isspace((unsigned char)*line))
            continue;
        if (used == DM_NRRD_FIELD - 1)
            return false;
        field[used++] = (char)tolower((unsigned char)*line);
    }
    field[used] = '\0';
    *value = colon + 1 + strspn(colon + 1, " \t");
    return true;
}

static distmap_status take_count(const dm_input *input, const char *name, const char *value, int most, int *count) {
    int64_t number;
    if (*count || dm_integers(value, &number, 1) != 1 || number < 1)
        return dm_broken(input, "broken NRRD header: %s: %.80s", name, value);
    if (number > most)
        return dm_unsupported(input, "has a %s of %lld; 1 to %d are read", name, (long long)number, most);
    *count = (int)number;
    return DISTMAP_OK;
}

static distmap_status take_line(const dm_input *input, char *line, dm_nrrd *h) {
    char field[DM_NRRD_FIELD];
    const char *found;
    if (!dm_nrrd_field(line, field, &found))
        return DISTMAP_OK;
    char *value = dm_trim(line + (found - line));
    if (!strcmp(field, "dimension"))
        return take_count(input, "dimension", value, DISTMAP_MAX_AXES, &h->ndim);
    if (!strcmp(field, "spacedimension"))
        return take_count(input, "space dimension", value, DM_VECTOR, &h->space_ndim);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        if (strcmp(field, fields[f].name) != 0)
            continue;
        if (fields[f].needs == AXES && !h->ndim)
            return dm_broken(input, "broken NRRD header: %s comes before dimension", field);
        if (fields[f].needs == SPACE && (!h->space_ndim || !h->ndim))
            return dm_broken(input, "broken NRRD header: %s comes before space or dimension", field);
        if (fields[f].field == NAME && h->space_ndim)
            return dm_broken(input, "broken NRRD header: it has two spaces");
        char shown[81]; /* before it is cut up */
        strncpy(shown, value, sizeof shown - 1);
        shown[sizeof shown - 1] = '\0';
        if (!take(h, fields[f].field, value))
            return dm_broken(input, "broken NRRD header: %s: %s", field, shown);
    }
    return DISTMAP_OK;
}

bool dm_nrrd_is_last(const char *line) { return !*line; }

distmap_status dm_nrrd_parse(const dm_input *input, char *text, dm_nrrd *h) {
    static const char magic[] = "NRRD000";
    *h = (dm_nrrd){0};
    for (int i = 0; i < DISTMAP_MAX_AXES; i++)
        h->spacing[i] = h->least[i] = (double)NAN;
    char *line = dm_text_line(&text);
    if (!line || strncmp(line, magic, sizeof magic - 1) != 0)
        return dm_broken(input, "not an NRRD file");
    h->version = atoi(line + sizeof magic - 1);
    if (h->version < 1 || h->version > 5)
        return dm_unsupported(input, "is of NRRD's version %.20s; 1 to 5 are read", line + 4);
    while ((line = dm_text_line(&text)))
        TRY(take_line(input, line, h));
    if (!h->ndim || !h->has_size || !h->type || !h->encoding)
        return dm_broken(input, "broken NRRD header: there is no %s",
                         !h->ndim       ? "dimension"
                         : !h->has_size ? "sizes"
                         : !h->type     ? "type"
                                        : "encoding");
    for (int i = 0; i < h->ndim; i++)
        if (h->size[i] < 1)
            return dm_broken(input, "broken NRRD header: axis %d is %lld long", i, (long long)h->size[i]);
    if (!h->has_endian && distmap_dtype_size(h->dtype) > 1)
        return dm_broken(input, "broken NRRD header: there is no endian, which %s elements need", h->type);
    return DISTMAP_OK;
}
