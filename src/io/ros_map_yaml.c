/* The YAML of a ROS map. It is one flat mapping of eight keys whose values are numbers, words and one list of three numbers, which is all that
 * map_saver, nav2 and people write; so it is read by hand here, and whatever YAML has beside that is an error rather than another library.
 *
 *     key: value      a comment begins with # at the start of a line or behind white space; "value" and 'value'
 *     origin: [x, y, yaw]
 *     origin:
 *       - x           or with the dashes below the key
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/ros_map.h"

/* Cuts a comment off: from a # at the beginning or behind white space, outside of quotes. */
static void cut_comment(char *line) {
    char quote = '\0';
    for (char *c = line; *c; c++) {
        if (quote ? *c == quote : *c == '"' || *c == '\'')
            quote = quote ? '\0' : *c;
        else if (!quote && *c == '#' && (c == line || isspace((unsigned char)c[-1]))) {
            *c = '\0';
            return;
        }
    }
}

/* Without quotes. NULL: they do not end where the value does. */
static char *unquote(char *value) {
    const size_t bytes = strlen(value);
    const char quote = *value;
    if (quote != '"' && quote != '\'')
        return value;
    if (bytes < 2 || value[bytes - 1] != quote || strchr(value + 1, quote) != value + bytes - 1)
        return NULL;
    value[bytes - 1] = '\0';
    return value + 1;
}

static bool take_number(const char *value, double least, double most, double *number) {
    return dm_numbers(value, number, 1) == 1 && *number >= least && *number <= most;
}

/* "[x, y, yaw]" */
static bool take_list(char *value, double list[3]) {
    const size_t bytes = strlen(value);
    if (bytes < 2 || *value != '[' || value[bytes - 1] != ']')
        return false;
    value[bytes - 1] = '\0';
    int commas = 0;
    for (char *c = ++value; *c; c++)
        if (*c == ',') {
            *c = ' ';
            commas++;
        }
    return commas == 2 && dm_numbers(value, list, 3) == 3 && isfinite(list[0]) && isfinite(list[1]) && isfinite(list[2]);
}

static bool take_mode(const char *value, const char **mode) {
    static const char *const modes[] = {"trinary", "scale", "raw"};
    for (int m = 0; m < 3; m++)
        if (!strcmp(value, modes[m]))
            return *mode = modes[m], true;
    return false;
}

/* negate: 0, 1, false, true */
static bool take_negate(const char *value, int64_t *negate) {
    if (!strcasecmp(value, "true") || !strcasecmp(value, "false"))
        return *negate = !strcasecmp(value, "true"), true;
    return dm_integers(value, negate, 1) == 1 && (*negate == 0 || *negate == 1);
}

enum key { IMAGE, RESOLUTION, ORIGIN, NEGATE, OCCUPIED, FREE, MODE, KEYS };
static const char *const keys[KEYS] = {"image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh", "mode"};

static bool take(dm_ros_map *map, enum key key, char *value) {
    if (key != ORIGIN)
        value = unquote(value);
    if (!value)
        return false;
    switch (key) {
    case IMAGE: map->image = value; return *value;
    case RESOLUTION: return take_number(value, 0, HUGE_VAL, &map->resolution) && map->resolution > 0 && isfinite(map->resolution);
    case ORIGIN: return take_list(value, map->origin);
    case NEGATE: return take_negate(value, &map->negate);
    case OCCUPIED: return take_number(value, 0, 1, &map->occupied);
    case FREE: return take_number(value, 0, 1, &map->free);
    default: return take_mode(value, &map->mode);
    }
}

/* The numbers of a list of lines "- x", which follow its key; false: there are not three. */
static bool take_dashes(char **rest, double list[3]) {
    int count = 0;
    for (char *line = dm_text_line(rest); line; line = dm_text_line(rest)) {
        cut_comment(line);
        line = dm_trim(line);
        if (!*line)
            continue;
        if (line[0] != '-' || !isspace((unsigned char)line[1]) || dm_numbers(line + 1, &list[count], 1) != 1 || !isfinite(list[count]))
            return false;
        if (++count == 3)
            return true;
    }
    return false;
}

distmap_status dm_ros_parse(const dm_input *input, char *text, dm_ros_map *map) {
    bool there[KEYS] = {false};
    *map = (dm_ros_map){.occupied = 0.65, .free = 0.196, .mode = "trinary"};
    for (char *line = dm_text_line(&text); line; line = dm_text_line(&text)) {
        const bool indented = isspace((unsigned char)*line);
        cut_comment(line);
        line = dm_trim(line);
        if (!*line || !strcmp(line, "---") || !strcmp(line, "..."))
            continue;
        char *colon = strchr(line, ':');
        if (indented || !colon || (colon[1] && !isspace((unsigned char)colon[1])))
            return dm_broken(input, "broken YAML of a ROS map: %.80s; lines of \"key: value\" are read", line);
        *colon = '\0';
        char *value = dm_trim(colon + 1);
        for (int k = 0; k < KEYS; k++) {
            if (strcmp(dm_trim(line), keys[k]) != 0)
                continue;
            char shown[81];
            strncpy(shown, value, sizeof shown - 1);
            shown[sizeof shown - 1] = '\0';
            const bool is_good = k == ORIGIN && !*value ? take_dashes(&text, map->origin) : take(map, (enum key)k, value);
            if (there[k] || !is_good)
                return dm_broken(input, "broken YAML of a ROS map: %s: %s%s", keys[k], shown, there[k] ? ", for the second time" : "");
            there[k] = true;
        }
    }
    for (int k = IMAGE; k <= ORIGIN; k++)
        if (!there[k])
            return dm_broken(input, "broken YAML of a ROS map: there is no %s", keys[k]);
    return DISTMAP_OK;
}
