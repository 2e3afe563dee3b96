/* Option values: numbers, lists, sites. Every text must be used up, and every number must lie in its range. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

char *copy_text(const char *text) {
    char *copy = strdup(text);
    if (!copy) {
        perror("distmap");
        exit(EXIT_FAILED);
    }
    return copy;
}

static bool parse(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && !isnan(*value) && text[0] != ' ';
}

int value_number(const char *option, const char *text, double lowest, double highest, double *value) {
    if (!parse(text, value))
        return usage("%s: '%s' is not a number", option, text);
    if (*value >= lowest && *value <= highest)
        return 0;
    if (lowest == DBL_MIN && highest == DBL_MAX)
        return usage("%s: %s is out of range, must be positive and finite", option, text);
    if (lowest == DBL_MIN)
        return usage("%s: %s is out of range, must be above 0 and below %g", option, text, highest);
    if (highest == DBL_MAX)
        return usage("%s: %s is out of range, must be finite and at least %g", option, text, lowest);
    return usage("%s: %s is out of range, must be %g to %g", option, text, lowest, highest);
}

int value_any(const char *option, const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end > text && !*end && *text != ' ' ? 0 : usage("%s: '%s' is not a number", option, text);
}

int value_integer(const char *option, const char *text, int64_t lowest, int64_t highest, int64_t *value) {
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end || text[0] == ' ')
        return usage("%s: '%s' is not a whole number", option, text);
    if (errno || number < lowest || number > highest)
        return usage("%s: %s is out of range, must be %lld to %lld", option, text, (long long)lowest,
                     (long long)highest);
    *value = number;
    return 0;
}

int value_bytes(const char *option, const char *text, int64_t *value) {
    static const char units[] = "KMGT";
    char *end;
    const double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || text[0] == ' ' || !(number > 0) || (*end && (!unit || end[1])))
        return usage("%s: '%s' is not a size such as 4G, 512M or 100000", option, text);
    const double bytes = ldexp(number, unit ? 10 * (int)(unit - units + 1) : 0);
    if (bytes > 0x1p62)
        return usage("%s: %s is out of range, must be below 2^62 bytes", option, text);
    *value = bytes < 1 ? 1 : (int64_t)bytes;
    return 0;
}

int value_shard(const char *option, const char *text, int64_t *shard, int64_t *shards) {
    char first[24] = "";
    const size_t length = strcspn(text, "/");
    if (length >= sizeof first || text[length] != '/')
        return usage("%s: '%s' is not I/N, as in 3/40 for shard 3 of 40", option, text);
    memcpy(first, text, length);
    const int status = value_integer(option, text + length + 1, 1, 1 << 24, shards);
    return status ? status : value_integer(option, first, 1, *shards, shard);
}

int value_names(const char *option, const char *text, name_list *list) {
    const char *rest = text;
    for (bool more = true; more;) {
        const size_t length = strcspn(rest, ",");
        if (length == 0)
            return usage("%s: '%s' has an empty item", option, text);
        if (list->count == MAX_LIST)
            return usage("%s: more than %d items", option, (int)MAX_LIST);
        char *name = copy_text(rest);
        name[length] = '\0';
        list->names[list->count++] = name;
        more = rest[length] == ',';
        rest += length + 1;
    }
    return 0;
}

int value_numbers(const char *option, const char *text, double lowest, double highest, number_list *list) {
    name_list names = {0};
    int status = value_names(option, text, &names);
    for (int i = 0; i < names.count; i++) {
        if (status == 0)
            status = value_number(option, names.names[i], lowest, highest, &list->values[list->count++]);
        free(names.names[i]);
    }
    return status;
}

/* Where a unit begins behind a number, letters to the end; NULL where there is none, or something else. */
static char *unit_of(char *text) {
    char *end;
    strtod(text, &end);
    bool is_unit = end > text && *end;
    for (const char *p = end; *p; p++)
        is_unit = is_unit && (isalpha((unsigned char)*p) || (unsigned char)*p >= 128);
    return is_unit ? end : NULL;
}

int value_length(const char *option, const char *text, double lowest, double *value, char unit[16]) {
    char *copy = copy_text(text), *end = unit_of(copy);
    int status = end && strlen(end) >= 16 ? usage("%s: '%s' is not a unit", option, end) : 0;
    if (end && status == 0) {
        strcpy(unit, end);
        *end = '\0';
    }
    if (status == 0)
        status = value_number(option, copy, lowest, DBL_MAX, value);
    free(copy);
    return status;
}

/* [NAME=]VALUE[UNIT] */
static int add_pitch(const char *option, char *text, pitch_list *list) {
    char *equals = strchr(text, '='), *value = equals ? equals + 1 : text, *end;
    const int place = list->count++;
    if (equals) {
        *equals = '\0';
        if (equals == text || strlen(text) >= sizeof list->names[place])
            return usage("%s: '%s' is not the name of an axis", option, text);
        strcpy(list->names[place], text);
    }
    for (int i = 0; i < place; i++)
        if (!*list->names[i] != !equals)
            return usage("%s: name all axes or none", option);
        else if (equals && strcmp(list->names[i], text) == 0)
            return usage("%s: axis '%s' is named twice", option, text);
    if ((end = unit_of(value))) {
        if (strlen(end) >= sizeof list->unit || (*list->unit && strcmp(list->unit, end) != 0))
            return usage("%s: '%s' is a second unit, or not a unit; all axes have one unit", option, end);
        strcpy(list->unit, end);
        *end = '\0';
    }
    return value_number(option, value, DBL_MIN, DBL_MAX, &list->values[place]);
}

int value_pitches(const char *option, const char *text, pitch_list *list) {
    name_list items = {0};
    int status = value_names(option, text, &items);
    for (int i = 0; i < items.count; i++) {
        status = status ? status : add_pitch(option, items.names[i], list);
        free(items.names[i]);
    }
    return status;
}

/* "3" or "0-3", which is changed. */
static int add_gpus(const char *option, char *text, struct options *options) {
    int64_t first, last;
    char *dash = *text ? strchr(text + 1, '-') : NULL;
    if (dash)
        *dash = '\0';
    int status = value_integer(option, text, 0, INT32_MAX, &first);
    if (status == 0)
        status = dash ? value_integer(option, dash + 1, first, INT32_MAX, &last) : 0;
    if (status)
        return status;
    last = dash ? last : first;
    if (last - first >= DISTMAP_MAX_GPUS - options->ordinal_count)
        return usage("%s: more than %d GPUs", option, DISTMAP_MAX_GPUS);
    for (int64_t i = first; i <= last; i++)
        options->ordinals[options->ordinal_count++] = (int)i;
    return 0;
}

int value_device(const char *option, const char *text, struct options *options) {
    const bool cuda = strncmp(text, "cuda", 4) == 0 && (text[4] == '\0' || text[4] == ':');
    if (!cuda && strcmp(text, "cpu") != 0)
        return usage("%s: '%s' is not a device; use auto, cpu, cuda, cuda:N, or several: cuda:0-3, cuda:0,2",
                     option, text);
    options->device = cuda ? DISTMAP_DEVICE_CUDA : DISTMAP_DEVICE_CPU;
    options->ordinal_count = options->ordinals[0] = 0;
    name_list items = {0};
    int status = cuda && text[4] ? value_names(option, text + 5, &items) : 0;
    for (int i = 0; i < items.count; i++) {
        status = status ? status : add_gpus(option, items.names[i], options);
        free(items.names[i]);
    }
    return status;
}

int value_choice(const char *option, const char *text, const char *const *names, int *choice) {
    char known[128] = "";
    for (int i = 0; names[i]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *choice = i;
            return 0;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", names[i]);
    }
    return usage("%s: '%s' is not one of %s", option, text, known);
}

/* zero, nonzero, none, VALUE, LO..HI, LO.., ..HI */
int value_sites(const char *option, const char *text, distmap_sites *sites) {
    static const struct {
        const char *name;
        distmap_sites_rule rule;
    } rules[] = {{"zero", DISTMAP_SITES_ZERO}, {"nonzero", DISTMAP_SITES_NONZERO}, {"none", DISTMAP_SITES_NONE}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(text, rules[i].name) == 0) {
            *sites = (distmap_sites){.rule = rules[i].rule};
            return 0;
        }
    const char *dots = strstr(text, "..");
    if (!dots) {
        *sites = (distmap_sites){.rule = DISTMAP_SITES_VALUE};
        if (!parse(text, &sites->lo))
            return usage("%s: '%s' is not one of zero, nonzero, none, VALUE, LO..HI", option, text);
        return 0;
    }
    *sites = (distmap_sites){.rule = DISTMAP_SITES_RANGE, .lo = -HUGE_VAL, .hi = HUGE_VAL};
    char *low = copy_text(text);
    low[dots - text] = '\0';
    const bool good = (*low == '\0' || parse(low, &sites->lo)) && (dots[2] == '\0' || parse(dots + 2, &sites->hi)) &&
                      strlen(text) > 2;
    free(low);
    if (!good)
        return usage("%s: '%s' is not a range LO..HI of two numbers", option, text);
    if (sites->lo > sites->hi)
        return usage("%s: the range %s is empty, LO must not exceed HI", option, text);
    return 0;
}

/* Weights are whole numbers; which of them go together is for the library to say. */
static int chamfer_weights(const char *option, const char *text, int weights[3]) {
    name_list items = {0};
    int status = value_names(option, text, &items);
    if (status == 0 && (items.count < 2 || items.count > 3))
        status = usage("%s: chamfer takes two or three weights, as in chamfer:3,4 or chamfer:5,7,11", option);
    for (int i = 0; i < items.count; i++) {
        int64_t weight = 0;
        if (status == 0 && (status = value_integer(option, items.names[i], 1, UINT16_MAX, &weight)) == 0)
            weights[i] = (int)weight;
        free(items.names[i]);
    }
    return status;
}

int value_metric(const char *option, const char *text, struct options *options) {
    static const struct {
        const char *name;
        distmap_metric metric;
        bool squared;
    } metrics[] = {{"euclidean", DISTMAP_METRIC_EUCLIDEAN, false},
                   {"squared", DISTMAP_METRIC_EUCLIDEAN, true},
                   {"cityblock", DISTMAP_METRIC_CITYBLOCK, false},
                   {"chessboard", DISTMAP_METRIC_CHESSBOARD, false}};
    options->metric_name = copy_text(text);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strcmp(text, metrics[i].name) == 0) {
            options->metric = metrics[i].metric;
            options->squared = metrics[i].squared;
            return 0;
        }
    if (strncmp(text, "chamfer:", 8) != 0)
        return usage("%s: '%s' is not a metric; use euclidean, squared, cityblock, chessboard or chamfer:A,B[,C]", option,
                     text);
    options->metric = DISTMAP_METRIC_CHAMFER;
    return chamfer_weights(option, text + 8, options->chamfer);
}

int value_param(const char *option, char *text, const distmap_method_info *info, distmap_param *param) {
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return usage("%s: '%s' is not NAME=VALUE", option, text);
    *equals = '\0';
    param->name = text;
    const distmap_param_info *row = param_find(info, text);
    if (!row || !row->names)
        return value_integer(option, equals + 1, INT64_MIN, INT64_MAX, &param->value);
    if (param_from_name(row, equals + 1, &param->value))
        return 0;
    return usage("%s: %s is '%s'; 'distmap methods' lists its values", option, text, equals + 1);
}
