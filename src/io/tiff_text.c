/* Spacing and volumes in TIFF, which has neither: by the resolution tags, and by the text that ImageJ writes into the first
 * page's ImageDescription:
 *     ImageJ=1.54f\nimages=24\nslices=12\nframes=2\nhyperstack=true\nunit=um\nspacing=0.5\n
 * Resolution is pixels per centimetre, per inch, or per ImageJ's unit. 72 and 96 dots per inch are what programs write that know
 * nothing, and tell nothing here.
 *
 * A pitch of 0.65 is there as the resolution 1.53846157, in single precision; ImageJ cuts it to millionths, 1.538461. Neither's
 * reciprocal is 0.65, and pitches are exact in all that follows. So the pitch is the decimal of the fewest digits whose resolution
 * is the stored one but for that rounding; where none of up to six digits is, it is the reciprocal to seven.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"

/* What follows "KEY=" at a line's beginning; NULL if there is no such line. */
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

void dm_tiff_text_parse(const char *text, dm_tiff_text *parsed) {
    *parsed = (dm_tiff_text){0};
    if (!text || strncmp(text, "ImageJ=", 7) != 0)
        return;
    parsed->images = find_count(text, "images");
    parsed->slices = find_count(text, "slices");
    parsed->frames = find_count(text, "frames");
    const char *value = find(text, "spacing");
    const double spacing = value ? fabs(strtod(value, NULL)) : 0;
    if (isfinite(spacing))
        parsed->spacing = spacing;
    parsed->millionths =
        strncmp(text, "ImageJ=1.11a", 12) != 0; /* which other programs write, and ImageJ has left behind */
    value = find(text, "unit");
    const size_t length = value ? strcspn(value, "\n") : 0;
    char unit[16] = "";
    if (length && length < sizeof unit)
        dm_unit_take(parsed->unit, memcpy(unit, value, length));
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
    if (info->ndim > 2 && info->axis[info->ndim - 3].type == DISTMAP_AXIS_SPACE && text->spacing > 0)
        info->axis[info->ndim - 3].pitch = text->spacing;
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

void dm_tiff_spacing_write(TIFF *tiff, const distmap_image_info *info, int64_t pages) {
    const double dy = distmap_image_pitch(info, info->ndim - 2), dx = distmap_image_pitch(info, info->ndim - 1);
    const bool deep = info->ndim > 2 && info->axis[info->ndim - 3].type == DISTMAP_AXIS_SPACE;
    const double dz = deep ? distmap_image_pitch(info, info->ndim - 3) : 1;
    const char *unit = distmap_image_unit(info);
    const bool spaced = dx != 1 || dy != 1 || dz != 1 || *unit;
    if (spaced) {
        TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 1 / dx);
        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 1 / dy);
        TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
    }
    if (!spaced && info->ndim == 2)
        return;
    char text[300];
    int used = snprintf(text, sizeof text, "ImageJ=1.11a\nimages=%lld\n", (long long)pages);
    if (deep)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "slices=%lld\n", (long long)info->shape[info->ndim - 3]);
    if (info->axis[0].type == DISTMAP_AXIS_TIME)
        used += snprintf(text + used, sizeof text - (size_t)used, "frames=%lld\nhyperstack=true\n",
                         (long long)info->shape[0]);
    if (spaced)
        snprintf(text + used, sizeof text - (size_t)used, "unit=%s\nspacing=%.17g\n", *unit ? unit : "pixel", dz);
    TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, text);
}
