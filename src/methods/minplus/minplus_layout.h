/* The dimensions of minplus/cpu's work for a plan, and its scratch. */
#ifndef DISTMAP_MINPLUS_LAYOUT_H
#define DISTMAP_MINPLUS_LAYOUT_H

#include "methods/minplus/minplus.h"

typedef struct mp_layout {
    int64_t width, height; /* of a plane */
    int64_t rows;          /* of the image's plane; a window has only `height` of them */
    size_t words, padded_width;
    int64_t blocks, planes;
    bool rows_only;  /* y is a batch axis: planes are single rows */
    bool own_planes; /* each worker solves whole planes by itself */
    int tile_rows;
    int64_t longest; /* of the slow axes */
    int columns;     /* of a slow tile */
    bool slow;
    int function;    /* sampled functions: the axis of their single slow pass; -1: the input is none */
    bool sites, labels, sides, ground; /* see mp_job, mp_plane */
    bool d2_scratch, site_scratch;
    bool real;       /* see mp_job */
    bool alive;      /* the z pass needs to know which planes have a site */
    bool needs_64_bits, tall, offsets; /* see mp_job */
    mp_ball ball;
} mp_layout;

typedef struct mp_scratch {
    mp_worker *workers;
    mp_worker shared; /* bits and carries of the plane that all workers share */
    uint8_t *alive;
    void *d2, *site;
    uint64_t *turns[2];
    uint16_t (*near_turn)[MP_GROUP];
} mp_scratch;

mp_layout mp_lay_out(const distmap_plan *plan);

/* The squared distance across the measured axes, which no result exceeds. (Integer spacing; in FP64, which is exact for all that the
 * method accepts.) */
double mp_largest_squared(const distmap_plan *plan);

/* The axis of a sampled function that a single slow pass can solve, or -1. */
int mp_function_axis(const distmap_plan *plan);

/* Whether the planes of a mask can be solved in FP64 (kernel_real_plane.h). */
bool mp_real_planes(const distmap_plan *plan);

/* The number of lines in a tile of a slow pass along this axis. */
int mp_slow_columns(const distmap_plan *plan, int axis);

/* Whether the radius of wanted masks is below every pitch, so that a ball holds only its centre; and the masks then (minplus_self.c). */
bool mp_self_alone(const distmap_plan *plan, const mp_ball *ball);
distmap_status mp_self_run(distmap_plan *plan, const dm_arrays *arrays);

/* Divides the scratch that starts at `base`; NULL: only counts. Returns its size in bytes. */
size_t mp_walk_scratch(const distmap_plan *plan, const mp_layout *l, void *base, mp_scratch *s);

#endif
