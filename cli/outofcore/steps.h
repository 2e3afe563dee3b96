/* How a slab and a panel are computed, wherever they come from and go to: the scratch file of one machine (passes.c), or files
 * that many processes write together (../pass).
 *
 * A slab is some slices of the first axis: each slice's squared distances along all other measured axes. A panel is some places of
 * another axis, `layout.cut`, whole along the first one: the lower envelope of what the slices gave. Indices are those of the
 * whole image from the first step on. Two slots hold what comes in and what goes out, for the stages of a pipeline.
 */
#ifndef DISTMAP_CLI_OUTOFCORE_STEPS_H
#define DISTMAP_CLI_OUTOFCORE_STEPS_H

#include "../cli.h"
#include "pipeline.h"
#include "slabs/slabs.h"

enum {
    STEPS_OUTPUTS = 2, /* a map, and its sites */
    /* Beside the buffers that are counted: the process with its libraries and threads, and what formats hold, such as strips and
     * rows of chunks to be written. Measured would be less, but not the same in each run, and with it the number of slabs. */
    STEPS_OVERHEAD = 32 << 20
};

struct steps {
    const struct options *options;
    struct work *work;
    distmap_problem normal; /* of the whole image */
    distmap_dtype samples;  /* of the squares between slabs and panels */
    bool one_pass; /* slabs give the result: the first axis is not measured, so that slices are problems of their own, or ... */
    bool windows;  /* ... they are windows of a plane (distmap_window) */
    struct dms_layout layout;
    enum dms_kinds kinds; /* what panels get (slabs.h) */
    bool reads_image;     /* panels find their sides in the image itself, which the caller puts into `image` */
    int64_t grain; /* slices of a row of the input's chunks, each of which is unpacked for every slab that has a part of it; or 0 */
    int64_t slice,
        line; /* elements of a slice of the first axis, and of a panel's share of it where the panel's width is 1 */

    /* The pass that is under way. */
    char *in[PIPELINE_SLOTS], *out[PIPELINE_SLOTS][STEPS_OUTPUTS]; /* of slabs */
    uint8_t *kind[PIPELINE_SLOTS];    /* of slabs: labels that change, or sides; NULL: panels get labels, or nothing */
    char *edge;                       /* labels that change: the slice before the next slab */
    char *image[PIPELINE_SLOTS];      /* of panels: see reads_image */
    distmap_plan *sides;              /* of a slab or panel */
    int64_t sides_count;              /* which has so many places */
    int32_t *columns[PIPELINE_SLOTS]; /* of windows, two rows: what is told about each column (windows.c) */
    struct dms_panel panel[PIPELINE_SLOTS];
    struct dms_lines lines;
    struct dms_slab planned; /* that the plan is for; so it is for others of as many slices, unless they are windows */
    unsigned flags[PIPELINE_SLOTS];
    double largest[PIPELINE_SLOTS], least[PIPELINE_SLOTS]; /* `least`: of signed maps */
    int64_t first, items, item;
};

/* Sets normal, slice, one_pass and kinds, which slabs give to panels. The problem's wanted outputs are known; the layout is the caller's to
 * make. */
void steps_begin(struct steps *steps, const struct options *options, struct work *work, const distmap_problem *problem);
/* Sets the cut and what follows from it, for that many parts. */
void steps_lay_out(struct steps *steps, int parts);

/* Slabs are windows from now on, if the core takes windows of this problem. */
void steps_try_windows(struct steps *steps);

/* How many pieces slabs can consist of, so that no row of chunks is unpacked twice. */
int64_t steps_units(const struct steps *steps);
/* Slab number i of those that were laid out; the first one has as many slices as any. */
struct dms_slab steps_slab_at(const struct steps *steps, int64_t i);
/* The problem of a slab. */
distmap_problem steps_slices(const struct steps *steps, struct dms_slab slab);
/* Bytes that a pass over such slabs or panels holds: two slots and scratch. Negative when the library refuses, and says why. */
double steps_slab_bytes(const struct steps *steps, int64_t count);
double steps_panel_bytes(const struct steps *steps, int64_t width);

/* Memory for slabs or panels up to that size, until steps_let_go(). */
distmap_status steps_hold_slabs(struct steps *steps, int64_t count);
distmap_status steps_hold_panels(struct steps *steps, int64_t width);
/* Whether slabs need `edge`, the slice before the first of them, from the caller, unless that is the image's first slab. */
bool steps_wants_edge(const struct steps *steps);
distmap_status steps_hold_columns(struct steps *steps, int slot);
distmap_status steps_hold(char **memory, int64_t elements, size_t size);
void steps_let_go(struct steps *steps);

/* Items [first, end) through the pipeline, with progress under that name. */
distmap_status steps_run(struct steps *steps, const char *name, struct pipeline pipeline);
/* Notes which item is at work; an error after a signal. */
distmap_status steps_item(struct steps *steps, int64_t item);
/* A context's progress callback, its user being the struct. */
int steps_watch(void *user, double fraction);

/* The plan of a slab's problem: the last one, if it will do. */
distmap_status steps_plan(struct steps *steps, const distmap_problem *problem, struct dms_slab slab);
/* From in[slot] to out[slot], and from panel[slot] to panel[slot]; flags[slot] and largest[slot] tell about the result. */
distmap_status steps_slab(struct steps *steps, int64_t item, int slot, struct dms_slab slab);
distmap_status steps_panel(struct steps *steps, int64_t item, int slot, struct dms_slab panel);
/* The array of a panel that is the map, or its sites. */
distmap_view *steps_panel_result(struct dms_panel *panel, bool is_index);

#endif
