/* Palettes of the previews.
 *
 * Distances: viridis (Stefan van der Walt and Nathaniel Smith, given to the public domain), interpolated between ten of
 * its colours; each tone also blended with the colour of iso-lines, half and fully, so that lines have smooth edges.
 * Signed distances: red below 0, blue above, both darker with the distance; white between them.
 * Regions: hues at golden-ratio steps in OKLCh (Bjorn Ottosson 2020), where equal lightness looks equally light.
 */
#include <math.h>
#include <string.h>

#include "cli.h"

static void set(uint8_t colour[3], double r, double g, double b) {
    const double channels[3] = {r, g, b};
    for (int c = 0; c < 3; c++)
        colour[c] = (uint8_t)(fmin(fmax(channels[c], 0), 1) * 255 + 0.5);
}

static void set_common(uint8_t palette[256][3]) {
    memset(palette, 0, 256 * 3);
    set(palette[COLOUR_GAP], 0.09, 0.09, 0.11);
    set(palette[COLOUR_NO_SITE], 0.5, 0.5, 0.5);
    set(palette[COLOUR_EDGE], 0.13, 0.13, 0.17);
}

static void viridis(double t, double rgb[3]) {
    static const uint8_t stops[10][3] = {{68, 1, 84},    {72, 40, 120},  {62, 74, 137},  {49, 104, 142},
                                         {38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {110, 206, 88},
                                         {181, 222, 43}, {253, 231, 37}};
    const int stop = t >= 1 ? 8 : (int)(t * 9);
    const double part = t * 9 - stop;
    for (int c = 0; c < 3; c++)
        rgb[c] = ((1 - part) * stops[stop][c] + part * stops[stop + 1][c]) / 255;
}

void colours_distance(uint8_t palette[256][3]) {
    set_common(palette);
    for (int level = 0; level < LINE_LEVELS; level++)
        for (int tone = 0; tone < DISTANCE_TONES; tone++) {
            double rgb[3];
            viridis((double)tone / (DISTANCE_TONES - 1), rgb);
            /* Lines are light on the dark half and dark on the light half. */
            const double line = tone < DISTANCE_TONES * 2 / 3 ? 1 : 0;
            const double opacity = 0.45 * level / (LINE_LEVELS - 1);
            for (int c = 0; c < 3; c++)
                rgb[c] += (line - rgb[c]) * opacity;
            set(palette[COLOUR_FIRST + level * DISTANCE_TONES + tone], rgb[0], rgb[1], rgb[2]);
        }
}

static double gamma_encode(double linear) {
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

static void oklch(double lightness, double chroma, double turns, uint8_t colour[3]) {
    const double angle = 6.283185307179586 * turns, a = chroma * cos(angle), b = chroma * sin(angle);
    const double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    set(colour, gamma_encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        gamma_encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        gamma_encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

void colours_grey(uint8_t palette[256][3]) {
    for (int tone = 0; tone < 256; tone++)
        for (int k = 0; k < 3; k++)
            palette[tone][k] = (uint8_t)tone;
}

void colours_regions(uint8_t palette[256][3]) {
    set_common(palette);
    for (int region = 0; region < REGION_COLOURS; region++) {
        const double turns = fmod(region * 0.6180339887498949, 1), lighter = 0.03 * (region % 3 - 1);
        oklch(0.83 + lighter, 0.085, turns, palette[COLOUR_FIRST + region]);
        oklch(0.50 + lighter, 0.125, turns, palette[COLOUR_FIRST + REGION_COLOURS + region]);
    }
}

void colours_signed(uint8_t palette[256][3]) {
    set_common(palette);
    for (int level = 0; level < LINE_LEVELS; level++)
        for (int tone = 0; tone < DISTANCE_TONES; tone++) {
            const double share = 2.0 * tone / (DISTANCE_TONES - 1) - 1, far = fabs(share);
            const double darker = 0.3 * level / (LINE_LEVELS - 1);
            oklch((0.97 - 0.52 * far) * (1 - darker), 0.16 * sqrt(far) * (1 - 0.3 * far), share < 0 ? 0.07 : 0.69,
                  palette[COLOUR_FIRST + level * DISTANCE_TONES + tone]);
        }
}
