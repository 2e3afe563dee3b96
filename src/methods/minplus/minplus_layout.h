/* The shape of minplus/cpu's work for a plan, and its scratch. */
#ifndef DISTMAP_MINPLUS_LAYOUT_H
#define DISTMAP_MINPLUS_LAYOUT_H

#include "methods/minplus/minplus.h"

typedef struct mp_layout {
    int64_t width, height; /* of a plane */
    int64_t rows;          /* of the image's plane, of which a window has `height` */
    size_t words, wide;
    int64_t blocks, planes;
    bool rows_only;  /* y is a batch axis: planes are single rows */
    bool own_planes; /* each worker solves whole planes by itself */
    int tile_rows;
    int64_t longest; /* of the slow axes */
    int columns;     /* of a slow tile */
    bool slow;
    int function;    /* the axis along which sampled functions are solved, by a slow pass alone; -1: none are */
    bool sites, labels, sides, ground; /* see mp_job, mp_plane */
    bool d2_scratch, site_scratch;
    bool alive;      /* the z pass wants to know which planes have a site */
    bool wide_numbers, tall, offsets; /* see mp_job */
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

/* Squared distance across the measured axes: no result is larger. (Integer spacing; in FP64, which holds all that the
 * method accepts.) */
double mp_largest_squared(const distmap_plan *plan);

/* Whether the input is a function along one axis that a slow pass alone can solve: which axis, or -1. */
int mp_function_axis(const distmap_plan *plan);

/* How many lines the tiles of a slow pass along this axis hold. */
int mp_slow_columns(const distmap_plan *plan, int axis);

/* Whether a ball of the masks that are wanted holds its own centre alone (minplus_self.c), and those masks. */
bool mp_self_alone(const distmap_plan *plan, const mp_ball *ball);
distmap_status mp_self_run(distmap_plan *plan, const dm_arrays *arrays);

/* Hands out the scratch that starts at `base`; NULL: only counts. Returns its size in bytes. */
size_t mp_walk_scratch(const distmap_plan *plan, const mp_layout *l, void *base, mp_scratch *s);

#endif
