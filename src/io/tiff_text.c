/* Spacing and volumes in TIFF, which has neither: by the resolution tags, and by the text that ImageJ writes into the first
 * page's ImageDescription:
 *     ImageJ=1.54f\nimages=48\nchannels=2\nslices=12\nframes=2\nhyperstack=true\nunit=um\nspacing=0.5\nfinterval=3\n
 * Counts that contradict each other, or the pages, are an error. Pages come with channels fastest, then slices, then frames; they are
 * presented as t c z. Lines of which nothing is known here are kept in "imagej" "description", and of them a result gets those that
 * are about its place.
 * Resolution is pixels per centimetre, per inch, or per ImageJ's unit. 72 and 96 dots per inch are what programs write that know
 * nothing, and tell nothing here.
 *
 * A pitch of 0.65 is there as the resolution 1.53846157, in single precision; ImageJ cuts it to millionths, 1.538461. Neither's
 * reciprocal is 0.65, and pitches are exact in all that follows. So the pitch is the decimal of the fewest digits whose resolution
 * is the stored one but for that rounding; where none of up to six digits is, it is the reciprocal to seven.
 */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"

/* The text after "KEY=" at the start of a line; NULL if there is no such line. */
static const char *find(const char *text, const char *key) {
    const size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, length) && line[length] == '=')
            return line + length + 1;
    }
    return NULL;
}

static int64_t find_count(const char *text, const char *key) {
    const char *value = find(text, key);
    const long long n = value ? strtoll(value, NULL, 10) : 0;
    return n > 0 ? n : 0;
}

static void find_unit(const char *text, const char *key, char unit[16]) {
    const char *value = find(text, key);
    const size_t length = value ? strcspn(value, "\r\n") : 0;
    char name[16] = "";
    if (length && length < sizeof name)
        dm_unit_take(unit, memcpy(name, value, length));
}

static double find_length(const char *text, const char *key) {
    const char *value = find(text, key);
    const double length = value ? fabs(strtod(value, NULL)) : 0;
    return isfinite(length) ? length : 0;
}

bool dm_tiff_text_parse(const char *text, dm_tiff_text *parsed) {
    *parsed = (dm_tiff_text){0};
    if (!text || strncmp(text, "ImageJ=", 7) != 0)
        return false;
    parsed->images = find_count(text, "images");
    parsed->channels = find_count(text, "channels");
    parsed->slices = find_count(text, "slices");
    parsed->frames = find_count(text, "frames");
    parsed->spacing = find_length(text, "spacing");
    parsed->interval = find_length(text, "finterval");
    parsed->millionths =
        strncmp(text, "ImageJ=1.11a", 12) != 0; /* which other programs write, and ImageJ has left behind */
    find_unit(text, "unit", parsed->unit);
    if (parsed->interval > 0)
        strcpy(parsed->interval_unit, "s");
    find_unit(text, "tunit", parsed->interval_unit);
    return true;
}

/* ImageJ's pages have channels fastest, then slices, then frames. */
distmap_status dm_tiff_text_stack(distmap_reader *reader, const dm_tiff_text *text, int64_t pages,
                                  dm_tiff_stack *stack) {
    *stack = (dm_tiff_stack){.times = text->frames,
                             .channels = text->channels,
                             .slices = text->slices,
                             .spacing = text->spacing,
                             .interval = text->interval};
    strcpy(stack->interval_unit, text->interval_unit);
    const int64_t c = text->channels ? text->channels : 1, z = text->slices ? text->slices : 1,
                  t = text->frames ? text->frames : 1;
    int64_t product;
    const bool counted = text->channels || text->slices || text->frames;
    if (text->images && text->images != pages)
        return dm_broken(&reader->input, "its ImageJ text names %lld images, but the file has %lld", (long long)text->images,
                         (long long)pages);
    if (counted &&
        (__builtin_mul_overflow(c, z, &product) || __builtin_mul_overflow(product, t, &product) || product != pages))
        return dm_broken(&reader->input,
                         "its ImageJ text names %lld channels, %lld slices and %lld frames, but the file has %lld images",
                         (long long)c, (long long)z, (long long)t, (long long)pages);
    if (!counted && pages > 1)
        stack->slices = pages;
    if (c == 1 || z == 1)
        return DISTMAP_OK;
    if (!(stack->page = malloc((size_t)pages * sizeof *stack->page)))
        return dm_no_memory(reader->input.name);
    for (int64_t plane = 0; plane < pages; plane++)
        stack->page[plane] = (plane / (c * z) * z + plane % z) * c + plane / z % c;
    return DISTMAP_OK;
}

int64_t dm_tiff_stack_page(const dm_tiff_stack *stack, int64_t plane) {
    return stack->page ? stack->page[plane] : plane;
}

/* Of axes in space all get the unit of x, where both are lengths: distances are in one unit. */
static distmap_status take_pitch(distmap_reader *reader, int axis, double pitch, const char *unit, const char *of_x,
                                 const char *where) {
    if (pitch == 0)
        return DISTMAP_OK;
    const double ratio = strcmp(unit, of_x) != 0 ? distmap_unit_ratio(unit, of_x) : 1;
    TRY(dm_pitch_take(reader, axis, ratio > 0 && ratio != 1 ? dm_to_digits(pitch * ratio, 15) : pitch, where));
    dm_unit_take(reader->info.axis[axis].unit, ratio > 0 ? of_x : unit);
    return DISTMAP_OK;
}

distmap_status dm_tiff_stack_pitches(distmap_reader *reader, const dm_tiff_stack *stack, const char *where) {
    distmap_image_info *info = &reader->info;
    const int x = info->ndim - 1, y = x - 1;
    TRY(take_pitch(reader, x, stack->pitch[0], stack->unit[0], stack->unit[0], where));
    TRY(take_pitch(reader, y, stack->pitch[1], stack->unit[1], stack->unit[0], where));
    for (int a = 0; a < y; a++)
        if (info->axis[a].type == DISTMAP_AXIS_TIME)
            TRY(take_pitch(reader, a, stack->interval, stack->interval_unit, stack->interval_unit, where));
        else if (info->axis[a].type == DISTMAP_AXIS_SPACE)
            TRY(take_pitch(reader, a, stack->spacing, stack->unit[2], stack->unit[0], where));
    return DISTMAP_OK;
}

/* per / resolution, as it was before it was stored. */
static double pitch_of(double resolution, double per, bool millionths) {
    const double pitch = per / resolution, rounding = fmax(resolution * FLT_EPSILON, millionths ? 1e-6 : 0);
    for (int digits = 1; digits < 7; digits++) {
        const double decimal = dm_to_digits(pitch, digits);
        if (fabs(per / decimal - resolution) <= rounding)
            return decimal;
    }
    return dm_to_digits(pitch, 7);
}

void dm_tiff_spacing_read(TIFF *tiff, const dm_tiff_text *text, distmap_image_info *info) {
    const bool in_pixels = !strcmp(text->unit, "pixel") || !strcmp(text->unit, "pixels");
    if (*text->unit && !in_pixels)
        dm_unit_take_space(info, text->unit);
    float x = 0, y = 0;
    uint16_t unit = RESUNIT_NONE;
    TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x);
    TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    if (!(x > 0 && y > 0 && isfinite(x) && isfinite(y)))
        return;
    const bool screen = unit == RESUNIT_INCH && x == y && (x == 72 || x == 96);
    /* Of ImageJ's text the unit counts, whatever the tag says; pixels are the unit of who knows none. */
    const bool by_text = *text->unit && (!in_pixels || unit == RESUNIT_NONE);
    const double per = by_text ? 1 : unit == RESUNIT_CENTIMETER ? 10 : unit == RESUNIT_INCH ? 25.4 : 0;
    if (!per || (screen && !by_text))
        return;
    const double dx = pitch_of((double)x, per, text->millionths), dy = pitch_of((double)y, per, text->millionths);
    if (!(dx > 0 && dy > 0 && isfinite(dx) && isfinite(dy)))
        return;
    info->axis[info->ndim - 1].pitch = dx;
    info->axis[info->ndim - 2].pitch = dy;
    if (!by_text)
        dm_unit_take_space(info, "mm");
}

/* ---- Writing ---- */

struct lines {
    char text[2000];
    size_t used;
};

static void add(struct lines *to, const char *format, ...) DISTMAP_PRINTF(2, 3);
static void add(struct lines *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(to->text + to->used, sizeof to->text - to->used, format, args);
    va_end(args);
    if (length > 0 && (size_t)length < sizeof to->text - to->used)
        to->used += (size_t)length;
    to->text[to->used] = '\0';
}

static int64_t length_of(const distmap_image_info *info, distmap_axis_type type) {
    for (int a = 0; a < info->ndim - 2; a++)
        if (info->axis[a].type == type)
            return info->shape[a];
    return 0;
}

/* Lines of the input's own text that are as true of the result. */
static void add_kept(struct lines *to, const distmap_image_info *info) {
    static const char *const kept[] = {"mode", "loop", "xorigin", "yorigin", "zorigin"};
    const distmap_native *was = dm_native_find(info, "imagej", "description");
    for (size_t k = 0; was && k < sizeof kept / sizeof *kept; k++) {
        const char *value = find(was->data, kept[k]); /* its zero was taken with it */
        const size_t length = value ? strcspn(value, "\r\n") : 0;
        if (length && length < 100 && (k || length_of(info, DISTMAP_AXIS_CHANNEL) > 1))
            add(to, "%s=%.*s\n", kept[k], (int)length, value);
    }
}

/* Without "images=": by that, ImageJ and tifffile take all planes to follow the first one with nothing between, and look at no other
 * directory. */
static void add_text(dm_tiff *file, const distmap_image_info *info, double dz, bool spaced) {
    struct lines lines = {.used = 0};
    const int64_t channels = length_of(info, DISTMAP_AXIS_CHANNEL), slices = length_of(info, DISTMAP_AXIS_SPACE),
                  frames = length_of(info, DISTMAP_AXIS_TIME);
    const char *unit = distmap_image_unit(info);
    char number[40];
    add(&lines, "ImageJ=1.11a\n");
    if (channels)
        add(&lines, "channels=%lld\n", (long long)channels);
    if (slices)
        add(&lines, "slices=%lld\n", (long long)slices);
    if (frames)
        add(&lines, "frames=%lld\n", (long long)frames);
    if (channels || frames)
        add(&lines, "hyperstack=true\n");
    for (int a = 0; a < info->ndim; a++)
        if (info->axis[a].type == DISTMAP_AXIS_TIME && info->axis[a].pitch > 0) {
            const double seconds = distmap_unit_ratio(info->axis[a].unit, "s");
            add(&lines, "finterval=%s\n", dm_decimal(info->axis[a].pitch * (seconds > 0 ? seconds : 1), number));
            if (*info->axis[a].unit && !(seconds > 0))
                add(&lines, "tunit=%s\n", info->axis[a].unit);
        }
    if (spaced)
        add(&lines, "unit=%s\nspacing=%s\n", *unit ? unit : "pixel", dm_decimal(dz, number));
    add_kept(&lines, info);
    dm_tiff_set(file->tiff, &file->refused, TIFFTAG_IMAGEDESCRIPTION, lines.text);
}

void dm_tiff_spacing_write(dm_tiff *file, const distmap_image_info *info) {
    const double dy = distmap_image_pitch(info, info->ndim - 2), dx = distmap_image_pitch(info, info->ndim - 1);
    double dz = 1;
    for (int a = 0; a < info->ndim - 2; a++)
        if (info->axis[a].type == DISTMAP_AXIS_SPACE)
            dz = distmap_image_pitch(info, a);
    const bool spaced = dx != 1 || dy != 1 || dz != 1 || *distmap_image_unit(info);
    if (spaced) {
        dm_tiff_set(file->tiff, &file->refused, TIFFTAG_XRESOLUTION, 1 / dx);
        dm_tiff_set(file->tiff, &file->refused, TIFFTAG_YRESOLUTION, 1 / dy);
        dm_tiff_set(file->tiff, &file->refused, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
    }
    if (spaced || info->ndim > 2)
        add_text(file, info, dz, spaced);
}
