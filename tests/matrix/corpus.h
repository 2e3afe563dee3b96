/* The corpus: patterns of sites for images of any shape and dimension. */
#ifndef TESTS_MATRIX_CORPUS_H
#define TESTS_MATRIX_CORPUS_H

#include "random.h"

struct image {
    int ndim;
    int64_t shape[4];
    int64_t elements;
    uint8_t *site; /* 1 at sites */
};

struct pattern {
    const char *name;
    /* Whether the element at `at` is a site. `knob` is fresh for each image; `r` serves those that draw per element. */
    bool (*is_site)(const struct image *image, const int64_t *at, const uint64_t knob[4], struct rng *r);
};

extern const struct pattern corpus_patterns[];
extern const int corpus_count;

/* Paints pattern number `pattern` into image->site. */
void corpus_paint(int pattern, struct image *image, struct rng *r);

#endif
