/* For targets that make a problem of the input's first bytes: the bytes in turn, as numbers. */
#ifndef DISTMAP_TESTS_FUZZ_TAKE_H
#define DISTMAP_TESTS_FUZZ_TAKE_H

#include <stdint.h>

#include "fuzz_demand.h"

struct source {
    const uint8_t *data;
    size_t size;
};

/* The next bytes, the first one highest; when there are none left, fewer. */
static inline uint64_t take(struct source *s, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && s->size > 0; i++, s->size--)
        value = value << 8 | *s->data++;
    return value;
}

#endif
