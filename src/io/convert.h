/* Samples to elements: luma, bits, byte order. */
#ifndef DISTMAP_IO_CONVERT_H
#define DISTMAP_IO_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "distmap/io.h"

/* Rec. 601: 0.299 R + 0.587 G + 0.114 B in 16-bit fixed point, rounded; the weights add up to 65536, so that grey stays
 * itself, for samples of 8 and 16 bits alike. */
static inline uint32_t dm_luma(uint32_t red, uint32_t green, uint32_t blue) {
    return (red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16;
}

/* One sample of a colour, by distmap_sample; alpha is not 0 where there is none. */
static inline uint32_t dm_sample_of(int sample, uint32_t red, uint32_t green, uint32_t blue, uint32_t alpha) {
    return sample == DISTMAP_SAMPLE_RED     ? red
           : sample == DISTMAP_SAMPLE_GREEN ? green
           : sample == DISTMAP_SAMPLE_BLUE  ? blue
           : sample == DISTMAP_SAMPLE_ALPHA ? alpha
           : alpha                          ? dm_luma(red, green, blue)
                                            : 0;
}

/* Bits, the first in the highest place of the first byte, to bytes of 0 and 1 and back. `invert` is 0 or 1. */
void dm_bits_expand(const uint8_t *bits, size_t count, unsigned invert, uint8_t *bytes);
void dm_bits_pack(const uint8_t *bytes, size_t count, unsigned invert, uint8_t *bits); /* nonzero counts as 1 */

/* The number in `depth` bits (at most 64) from bit `at` on, the highest first. */
uint64_t dm_sample(const uint8_t *bits, size_t at, unsigned depth);

/* Turns the byte order of `count` elements of `size` bytes (1, 2, 4, 8). */
void dm_swap(void *elements, size_t count, size_t size);

enum { DM_HOST_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* The shortest decimal number that is this float: 0.7 for 0.7f, not 0.699999988. Files that keep spacing as floats were
 * written from such numbers. */
double dm_from_float(float value);
/* The value rounded to so many significant decimal digits: for numbers that a reader computes, whose last places are noise. */
double dm_to_digits(double value, int digits);
/* The shortest decimal that reads back as this value, for files whose numbers are text. Returns `text`. */
const char *dm_decimal(double value, char text[40]);

#endif
