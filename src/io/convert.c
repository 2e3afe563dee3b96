/* Samples to elements: see convert.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"

void dm_bits_expand(const uint8_t *bits, size_t count, unsigned invert, uint8_t *bytes) {
    const uint8_t flip = invert ? 0xff : 0;
    for (size_t i = 0; i < count / 8; i++) {
        const unsigned b = bits[i] ^ flip;
        for (int k = 0; k < 8; k++)
            bytes[8 * i + (size_t)k] = b >> (7 - k) & 1;
    }
    for (size_t i = count / 8 * 8; i < count; i++)
        bytes[i] = (bits[i / 8] ^ flip) >> (7 - i % 8) & 1;
}

void dm_bits_pack(const uint8_t *bytes, size_t count, unsigned invert, uint8_t *bits) {
    for (size_t i = 0; i < count; i += 8) {
        unsigned b = 0;
        for (size_t k = 0; k < 8 && i + k < count; k++)
            b |= (unsigned)((bytes[i + k] != 0) ^ invert) << (7 - k);
        bits[i / 8] = (uint8_t)b;
    }
}

uint64_t dm_sample(const uint8_t *bits, size_t at, unsigned depth) {
    uint64_t sample = 0;
    while (depth) {
        const unsigned inside = at % 8, take = depth < 8 - inside ? depth : 8 - inside;
        sample = sample << take | (bits[at / 8] >> (8 - inside - take) & ((1u << take) - 1));
        at += take;
        depth -= take;
    }
    return sample;
}

void dm_swap(void *elements, size_t count, size_t size) {
    char *p = elements;
#define SWAP(bits)                                      \
    for (size_t i = 0; i < count; i++, p += bits / 8) { \
        uint##bits##_t v;                               \
        memcpy(&v, p, sizeof v);                        \
        v = __builtin_bswap##bits(v);                   \
        memcpy(p, &v, sizeof v);                        \
    }
    if (size == 2)
        SWAP(16)
    else if (size == 4)
        SWAP(32)
    else if (size == 8)
        SWAP(64)
#undef SWAP
}

double dm_from_float(float value) {
    char text[40];
    for (int digits = 6; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            return strtod(text, NULL);
    }
    return (double)value;
}

double dm_to_digits(double value, int digits) {
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return strtod(text, NULL); /* in the locale that wrote it */
}

const char *dm_decimal(double value, char text[40]) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}
