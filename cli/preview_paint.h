/* The colour of a pixel of a preview, for each kind of picture. */
#ifndef DISTMAP_CLI_PREVIEW_PAINT_H
#define DISTMAP_CLI_PREVIEW_PAINT_H

#include "cli.h"

struct panel {
    int down, across; /* axes of the image; down is -1 for a line, shown as a strip */
    bool flip;        /* the first slice at the bottom */
    int left, width, height;
};

/* Where a pixel lies between elements i and i + 1 of an axis. */
typedef struct between {
    int64_t low, high;
    double part;
} between;

/* The data of a kind of picture, for the functions that colour a pixel. */
struct painter {
    const distmap_view *view, *sites, *index;
    const distmap_problem *problem;
    bool squared;
    bool strengths; /* between 0 and 1, as steep as it comes */
    bool losses;    /* sites that have no label any more are shown, too */
    double largest, step, pitch;
    double unit;                   /* what a step along an axis adds to distances */
    const distmap_view *distances; /* of marks; NULL: they are all alike */
    const double *centroids;
    double radius; /* of dots */
};
typedef uint8_t paint_pixel(const struct painter *painter, const struct panel *panel, between down, between across);

paint_pixel paint_distance, paint_region, paint_mark, paint_dot;

/* The length of the image along an axis, 0 along none. */
static inline double preview_extent(const distmap_problem *problem, int axis) {
    return axis < 0 ? 0 : (double)problem->shape[axis] * problem->spacing[axis];
}

#endif
