/* Images in slabs: what is known of distance maps whose slices are not all in one memory, or not at the same time. Slabs divide
 * the slowest measured axis. First every slice is transformed along all other axes, by itself; then lines along the slowest axis
 * are made whole, a panel of them at a time, and finished. How slabs become panels is the user's affair: ranks send each other
 * messages (src/mpi), one machine goes through a file (cli/outofcore).
 *
 * A plane's slabs can be windows instead (distmap_window): they need to know one site on either side of each column of each other, and no
 * lines are made.
 *
 * On the public API alone. layout.c is the arithmetic of slabs, panels and parts; slices.c poses the slices' problem; lines.c
 * finishes whole lines; kinds.c is for labels and signed maps; windows.c finds what windows must know.
 */
#ifndef DISTMAP_SLABS_SLABS_H
#define DISTMAP_SLABS_SLABS_H

#include <distmap.h>

#define TRY(call)                                  \
    do {                                           \
        const distmap_status dms_status_ = (call); \
        if (dms_status_ != DISTMAP_OK)             \
            return dms_status_;                    \
    } while (0)
#define bad(...) distmap_error_set(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

/* ---- layout.c ---- */

struct dms_slab {
    int64_t first, count; /* slices */
};

/* Part number i of n things that are divided evenly into `parts`: [first, first + count). */
struct dms_slab dms_share(int64_t n, int parts, int i);

/* A range of elements along each axis: [lo, hi). */
struct dms_box {
    int64_t lo[DISTMAP_MAX_NDIM], hi[DISTMAP_MAX_NDIM];
};

/* Which elements of a line are of one kind, and how panels say so (kinds.c). */
enum dms_kinds {
    DMS_NO_KINDS, /* sites are the same for all elements: masks */
    DMS_LABELS,   /* the labels themselves */
    DMS_CHANGES,  /* labels: 1 where the label differs from that of the slice before, else 0 */
    DMS_SIDES,    /* signed maps: 1 in the shape, else 0 */
};

/* The layout of the image: with at least two axes, so that one can divide the lines. */
struct dms_layout {
    int ndim;
    int64_t shape[DISTMAP_MAX_AXES]; /* the whole image */
    int axis, cut;
    enum dms_kinds kinds;
    int size; /* owners of slabs, and of parts of panels: ranks, or those that follow each other on one machine */
    struct dms_slab *slabs; /* one for each of them, in the user's memory */
    int64_t width;          /* of an owner's part of a panel, along `cut`; the last one may be thinner */
    int64_t panels;
};

/* Fills ndim, shape, axis, cut and kinds, for labels DMS_LABELS. */
void dms_layout_make(const distmap_problem *problem, int size, struct dms_layout *layout);
/* Fills width and panels: about `bytes` for an owner's part, an element of which takes `each`. */
void dms_layout_panels(struct dms_layout *layout, size_t bytes, size_t each);
/* Whether the slabs are a partition, in the order of their owners. */
distmap_status dms_slabs_check(const struct dms_layout *layout);

int64_t dms_box_elements(const struct dms_layout *layout, const struct dms_box *box);
/* The lines of a panel that `owner` finishes, whole. */
struct dms_box dms_panel_part(const struct dms_layout *layout, int64_t panel, int owner);
/* The part of a box of whole lines in the slab of `owner`. */
struct dms_box dms_box_in_slab(const struct dms_layout *layout, struct dms_box lines, int owner);
/* The next place in a box, over axes [0, axes), the last one fastest. False after the last place. */
bool dms_box_next(const struct dms_box *box, int axes, int64_t at[DISTMAP_MAX_NDIM]);
/* Adds to `count` indices of sites what makes those of a part into those of the whole; those of no site (negative) stay. */
void dms_indices_shift(void *indices, distmap_dtype dtype, int64_t count, int64_t shift);
/* The difference between the linear index of a site in the whole image and in the slab of `owner`; `at` is its position
 * along the axes before the slabs'. */
int64_t dms_index_shift(const struct dms_layout *layout, int owner, const int64_t at[DISTMAP_MAX_NDIM]);

/* ---- slices.c ---- */

/* Whether maps of this kind are computed in slabs; `where` ends the sentence that says that they are not. */
distmap_status dms_check_kind(const distmap_problem *problem, const char *where);
/* The narrowest exact type of squared distances that the core takes for this problem: what slices give to lines. */
distmap_status dms_find_samples(const distmap_context *context, const distmap_problem *problem, distmap_dtype *samples);
/* The problem with at least two axes, and with defaults for pitches and axes filled in. */
distmap_problem dms_normal_problem(const distmap_problem *problem);
/* A little more than 1: what is dropped beyond a limit on the way may not be missed in the end, whatever distances are rounded to. */
#define DMS_ROOM (1 + 0x1p-20)
/* How far 32 bits reach, counted in units (0: in the pitches' own): N = 2^32 - 2, or with a unit less, so that there is room. */
static inline double dms_most_of_32_bits(double unit) { return unit > 0 ? 65535 : 65535.999988; }
/* The problem with pitches, and `unit` and `real`, as samples count them: squares between passes are whole numbers of a unit that is not. Where
 * that is not needed `unit` stays 0. */
distmap_problem dms_counted(const distmap_problem *problem);
/* `count` slices by themselves, of a problem in normal form. */
distmap_problem dms_slices_of(const distmap_problem *normal, distmap_dtype samples, int axis, int64_t count);
/* A plan for views on the host; *bytes grows by its scratch memory. */
distmap_status dms_plan_make(distmap_context *context, const distmap_problem *problem, distmap_plan **plan,
                             size_t *bytes);

/* ---- windows.c ---- */

/* Whether the core accepts windows of a problem in normal form; its slabs are then windows. */
bool dms_takes_windows(const distmap_context *context, const distmap_problem *normal);
/* Of so many rows, which elements are sites: `within` is 1. */
distmap_problem dms_survey_of(const distmap_problem *normal, int64_t rows);
/* Sets every column to -1: no site found. */
void dms_survey_begin(int32_t *row, int64_t width);
/* The first site (or the last one) among these rows of the image of each column of which none is known yet. `sites`: what
 * dms_survey_of() gives. Whether there are columns left. */
bool dms_survey_rows(const uint8_t *sites, struct dms_slab rows, int64_t width, bool last, int32_t *row);
/* What `by` knows replaces what `row` does. */
void dms_survey_merge(int32_t *row, const int32_t *by, int64_t width);

/* ---- lines.c ---- */

/* The arrays of a part of a panel, row-major, of its shape; those that are not needed have data NULL. */
struct dms_panel {
    distmap_view sample, payload, distance, squared, index;
    distmap_view kind; /* labels, signed maps: by the layout's kinds; row-major like the others */
    void *memory;      /* of all of them; owned where dms_panel_reserve() made it */
};

/* Bytes that an element of a part takes in a panel's arrays. */
size_t dms_lines_bytes(const distmap_problem *problem, const struct dms_layout *layout, distmap_dtype samples);
/* Lays the arrays for parts of this width out in `memory`, and returns how many bytes that takes. NULL: tells these alone. */
size_t dms_panel_lay(const distmap_problem *problem, const struct dms_layout *layout, int64_t width,
                     distmap_dtype samples, void *memory, struct dms_panel *panel);
/* The same in memory of their own. */
distmap_status dms_panel_reserve(const distmap_problem *problem, const struct dms_layout *layout, int64_t width,
                                 distmap_dtype samples, struct dms_panel *panel);
void dms_panel_free(struct dms_panel *panel);
/* Gives the arrays the shape of this part, which is no wider than they were made for. */
void dms_panel_shape(const struct dms_layout *layout, const struct dms_box *part, struct dms_panel *panel);

/* The plans that finish whole lines, in parts of one width, or of two. */
struct dms_lines {
    distmap_problem problem; /* of a part of full width */
    distmap_problem whole;   /* the image's, in normal form */
    double surface;          /* signed: subtracted from distances */
    distmap_dtype samples;
    bool bordered; /* border with index or sign: see lines.c */
    bool parted;   /* border with sign: class 1, the shape, has plans of its own */
    size_t bytes;  /* scratch of the plans below, `exact` and the border's slice */
    struct dms_finish {
        int64_t width; /* 0: none */
        /* Two where the border is a site for class 0 alone. */
        distmap_plan *finish[2];
        distmap_plan *squares[2]; /* bordered: squared in a type that does not tell ties apart */
    } plans[2];
    distmap_view exact; /* bordered: squares in the samples' type, unless the panel's `squared` has it */
    /* Labels and signed maps: class 1 (kinds.c). */
    struct dms_panel other;
    distmap_view other_exact;
    uint8_t *classes; /* unless they are found in the panel's own memory */
    /* Bordered: what the border alone would give, for a slice of the whole image. */
    distmap_view border_exact, border_distance, border_squared;
    unsigned flags; /* of the last execution */
};

/* `problem` is the whole image's, in normal form. `last` is a second width, or the same as `width`. */
distmap_status dms_lines_make(distmap_context *context, const distmap_problem *problem, const struct dms_layout *layout,
                              int64_t width, int64_t last, distmap_dtype samples, struct dms_lines *lines);
/* The bytes that dms_lines_make() would hold for one width, or 0 with the error text set. */
size_t dms_lines_estimate(const distmap_context *context, const distmap_problem *problem,
                          const struct dms_layout *layout, int64_t width, distmap_dtype samples);
void dms_lines_free(struct dms_lines *lines);
/* From samples and payloads as they came from the slabs to outputs. */
distmap_status dms_lines_finish(const struct dms_layout *layout, const struct dms_box *part, struct dms_panel *panel,
                                struct dms_lines *lines);

/* The limit to give the core's plans: the problem's, or one that is no limit, since none is farther. */
double dms_limit(const distmap_problem *problem, distmap_dtype samples);
/* Whether the border along the other axes is left to the lines. */
bool dms_keeps_border(const distmap_problem *problem, int axis);

/* ---- kinds.c ---- */

enum dms_kinds dms_kinds_of(const distmap_problem *problem);
/* The type of what a panel has for each element; NONE for masks. */
distmap_dtype dms_kinds_dtype(const distmap_problem *problem, enum dms_kinds kinds);
/* The distances of a signed map: the problem of two labels, which are the sides. Other problems stay what they are. */
distmap_problem dms_without_sign(const distmap_problem *problem);
/* The mask that gives the sides of a signed map, of elements of that shape: `within` is 1 in the shape. */
distmap_problem dms_sides_of(const distmap_problem *normal, const int64_t shape[DISTMAP_MAX_NDIM]);
/* Fills in what DMS_CHANGES says of labels, row-major. `before` is the slice before them, NULL for the first of the image. */
void dms_find_changes(const distmap_view *labels, const void *before, uint8_t *changes);
/* Divides samples and payloads of a part among `own`, where class 1 gets zeros, and `other`, where class 0 does. */
void dms_classes_divide(const struct dms_layout *layout, const struct dms_box *part, const uint8_t *classes,
                        struct dms_panel *own, struct dms_panel *other);
/* Elements of class 1 become those of `other`, of a type of 4 or 8 bytes. */
void dms_classes_join(const uint8_t *classes, const distmap_view *own, const distmap_view *other);
/* From distances, or squared ones, to a signed map. `shape`: 1 in it, else 0. */
void dms_sign(const distmap_problem *normal, double surface, const uint8_t *shape, const distmap_view *view);
/* The length that the core subtracts from distances to the surface of a signed map. */
distmap_status dms_find_surface(distmap_context *context, const distmap_problem *normal, double *surface);
/* The class of each element, 0 or 1, from what a part of a panel has for it, which for changes and sides may be the same memory. Whether
 * class 1 may have any. */
bool dms_find_classes(const struct dms_layout *layout, const distmap_view *kind, uint8_t *classes);

#endif
