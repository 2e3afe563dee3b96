/* Readers of options that are more than a value for a member: those with rules, names or lists of their own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "options_read.h"

int read_preview(const option_row *row, struct options *o, const char *option, const char *text) {
    const size_t length = strlen(text);
    if (length < 4 || strcmp(text + length - 4, ".png") != 0)
        return usage("%s: '%s' must end in .png", option, text);
    return read_path(row, o, option, text);
}

int read_sites(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    o->sites_given = true;
    return value_sites(option, text, &o->sites);
}

int read_thresholds(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    number_list list = {0};
    const int status = value_numbers(option, text, -HUGE_VAL, HUGE_VAL, &list);
    if (status)
        return status;
    if (list.count > 2)
        return usage("%s: %d values given, but there are two files", option, list.count);
    o->threshold_given = true;
    o->threshold = list.values[0];
    o->other_threshold = list.values[list.count - 1];
    return 0;
}

int read_metric(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    return value_metric(option, text, o);
}

int read_spacing(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    return value_pitches(option, text, &o->spacing);
}

int read_channel(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    for (int s = DISTMAP_SAMPLE_LUMA; distmap_sample_name((distmap_sample)s); s++)
        if (strcmp(text, distmap_sample_name((distmap_sample)s)) == 0) {
            o->sample = (distmap_sample)s;
            return 0;
        }
    if (*text && !strchr("0123456789+-", *text))
        return usage("%s: '%s' is not a number or one of luma, red, green, blue, alpha", option, text);
    return value_integer(option, text, 0, INT64_MAX, &o->channel);
}

static int take_signed(struct options *o, enum side positive) {
    if (o->is_signed)
        return usage("--signed is given twice");
    o->is_signed = true;
    o->positive = positive;
    return 0;
}

int read_signed(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row, (void)option, (void)text;
    return take_signed(o, SIDE_OFF_SITES);
}

int read_signed_outside(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row, (void)option, (void)text;
    return take_signed(o, SIDE_OUTSIDE);
}

int read_signed_inside(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row, (void)option, (void)text;
    return take_signed(o, SIDE_INSIDE);
}

int read_shard(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    return value_shard(option, text, &o->shard, &o->shards);
}

int read_compress(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    if (!*text || strlen(text) >= sizeof o->compress)
        return usage("%s: '%s' is not a compression; use yes, none, deflate, zstd, lzw or blosc", option, text);
    strcpy(o->compress, text);
    return 0;
}

int read_dtype(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    o->dtype = distmap_dtype_from_name(text);
    return o->dtype ? 0 : usage("%s: '%s' is not an element type; use float32, float64, uint32, uint64, ...", option, text);
}

int read_outside(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    static const char *const names[] = {"background", "set", NULL};
    int choice = 0;
    const int status = value_choice(option, text, names, &choice);
    o->morphology.outside = choice;
    return status;
}

int read_percentiles(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    number_list list = {0};
    const int status = value_numbers(option, text, 0, 100, &list);
    if (status == 0 && list.count > DISTMAP_MAX_PERCENTILES)
        return usage("%s: %d values given, at most %d are allowed", option, list.count, DISTMAP_MAX_PERCENTILES);
    o->comparison.percentile_count = list.count;
    memcpy(o->comparison.percentile, list.values, sizeof o->comparison.percentile);
    return status;
}

int read_suite(const option_row *row, struct options *o, const char *option, const char *text) {
    int found;
    (void)row;
    o->suite = copy_text(text);
    return suite_find(option, text, &found);
}

int read_device(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    o->device_given = strcmp(text, "auto") != 0;
    const int status = o->device_given ? value_device(option, text, o) : 0;
    if (status == 0 && o->ordinal_count > 1 && o->command->bit & (BENCH | TUNE))
        return usage("%s: %s measures one GPU", option, o->command->name);
    return status;
}

int read_method(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    if (!distmap_method_find(text))
        return usage("%s: there is no method '%s'; 'distmap methods' lists them", option, text);
    o->method = copy_text(text);
    return 0;
}

int read_param(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row;
    if (o->settings.count == MAX_LIST)
        return usage("%s: given more than %d times", option, (int)MAX_LIST);
    o->settings.names[o->settings.count++] = copy_text(text);
    return 0;
}

int read_help(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row, (void)option, (void)text;
    options_help(o->command);
    return 0;
}

int read_version(const option_row *row, struct options *o, const char *option, const char *text) {
    (void)row, (void)o, (void)option, (void)text;
    printf("distmap %s\n", distmap_version());
    return 0;
}
