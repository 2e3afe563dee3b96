/* What the parts of the large check share: images whose distance maps have a closed form, and how they are compared. */
#ifndef LARGE_H
#define LARGE_H

#include <stdint.h>
#include <stdio.h>

#include <distmap.h>

enum { MAX_SITES = 8 };

/* Elements are 0, sites 1 and more (so the sites rule is "nonzero"). Either some single sites, number i holding the
 * value i + 1, in rising linear order; or, with pitch > 0, a lattice of ones at all multiples of pitch. */
typedef struct image {
    int ndim;
    int64_t shape[DISTMAP_MAX_NDIM];
    int64_t pitch;
    int count;
    int64_t site[MAX_SITES][DISTMAP_MAX_NDIM];
} image;

int64_t image_elements(const image *m);
int64_t image_rows(const image *m); /* runs along the last axis */

/* Row number `row` of the image itself, of its distance map (sqrt of the least squared distance, float32) and of the
 * labels of the nearest sites (ties: the lowest linear index). `work` takes a row of doubles. */
void image_row(const image *m, int64_t row, uint8_t *out);
void expect_distance(const image *m, int64_t row, float *out, double *work);
void expect_label(const image *m, int64_t row, uint8_t *out, double *work);

/* Prints the first difference between two rows, if any, and returns whether there was none. Bits are compared. */
int same_distance(const image *m, int64_t row, const float *got, const float *want);
int same_label(const image *m, int64_t row, const uint8_t *got, const uint8_t *want);

/* Bytes of memory that the system could give out now. */
double memory_available(void);

/* The command, from file to file, on a 32768 x 32768 image: results and peak memory. Returns the number of failures. */
int check_command(const char *command, const char *folder);

#endif
