/* What the files of libdistmap_mpi share. plan.c makes and runs plans; agree.c lets one rank's error be everyone's; layout.c
 * is the arithmetic of slabs, panels and parts; types.c describes boxes of views to MPI; lines.c finishes whole lines.
 */
#ifndef DISTMAP_MPI_INTERNAL_H
#define DISTMAP_MPI_INTERNAL_H

#include <distmap/mpi.h>

#define TRY(call)                                  \
    do {                                           \
        const distmap_status dmm_status_ = (call); \
        if (dmm_status_ != DISTMAP_OK)             \
            return dmm_status_;                    \
    } while (0)
/* For MPI's own calls. */
#define TRY_MPI(call) TRY(dmm_mpi_status((call), #call))

#define bad(...) distmap_error_set(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

/* ---- agree.c ---- */

/* The status of an MPI call: its error, with the call's name and MPI's words. Local. */
distmap_status dmm_mpi_status(int code, const char *call);

/* Collective. Every rank brings its status, and all return that of the lowest rank that has an error, with its text. `flags`
 * (may be NULL) become those of any rank. */
distmap_status dmm_agree(MPI_Comm comm, distmap_status status, unsigned *flags);

/* Collective. Whether rank 0 was given the same problem and options; says what differs. The answer is this rank's own; an error
 * that it brings stays what it is. */
distmap_status dmm_same(MPI_Comm comm, distmap_status own, const distmap_problem *problem,
                        const distmap_mpi_options *options);

/* ---- layout.c ---- */

struct dmm_slab {
    int64_t first, count; /* slices */
};

/* Part number i of n things that are divided evenly into `parts`: [first, first + count). */
struct dmm_slab dmm_share(int64_t n, int parts, int i);

/* A range of elements along each axis: [lo, hi). */
struct dmm_box {
    int64_t lo[DISTMAP_MAX_NDIM], hi[DISTMAP_MAX_NDIM];
};

/* How the image lies: with two axes at least, so that there is one to divide lines by. */
struct dmm_layout {
    int ndim;
    int64_t shape[DISTMAP_MAX_NDIM]; /* the whole image */
    int axis, cut;
    int size;               /* ranks */
    struct dmm_slab *slabs; /* one for each rank, in the plan's memory */
    int64_t width;          /* of a rank's part of a panel, along `cut`; the last one may be thinner */
    int64_t panels;
};

/* Fills ndim, shape, axis and cut. */
void dmm_layout_make(const distmap_problem *problem, int size, struct dmm_layout *layout);
/* Fills width and panels: about `bytes` for a rank's part, an element of which takes `each`. */
void dmm_layout_panels(struct dmm_layout *layout, size_t bytes, size_t each);
/* Whether the slabs are a partition, in the order of the ranks. */
distmap_status dmm_slabs_check(const struct dmm_layout *layout);

int64_t dmm_box_elements(const struct dmm_layout *layout, const struct dmm_box *box);
/* The lines of a panel that `rank` finishes, whole. */
struct dmm_box dmm_panel_part(const struct dmm_layout *layout, int64_t panel, int rank);
/* What of a box of whole lines lies in the slab of `rank`. */
struct dmm_box dmm_box_in_slab(const struct dmm_layout *layout, struct dmm_box lines, int rank);
/* The next place in a box, over axes [0, axes), the last one fastest. False after the last place. */
bool dmm_box_next(const struct dmm_box *box, int axes, int64_t at[DISTMAP_MAX_NDIM]);
/* What to add to the linear index of a site in the slab of `rank` to make it that of the whole image; `at` names its place
 * along the axes before the slabs'. */
int64_t dmm_index_shift(const struct dmm_layout *layout, int rank, const int64_t at[DISTMAP_MAX_NDIM]);

/* ---- types.c ---- */

enum { DMM_MAX_VIEWS = 3 };

/* Views that travel together: those of one slab, or of a part of a panel. `origin` is the place in the image of their first
 * element. */
struct dmm_views {
    const distmap_view *view[DMM_MAX_VIEWS];
    int count;
    int64_t origin[DISTMAP_MAX_NDIM];
};

/* A committed datatype, relative to MPI_BOTTOM, of all elements of the box in these views, one after the other; MPI_BYTE
 * where there are none. *count is 1, or then 0. */
distmap_status dmm_type_make(const struct dmm_layout *layout, const struct dmm_views *views, const struct dmm_box *box,
                             MPI_Datatype *type, int *count);

/* What each rank is sent and sends in one exchange: dmm_exchange_make() is local and may fail alone, dmm_exchange_run() is
 * collective. */
struct dmm_exchange {
    int *send_counts, *receive_counts, *zeros;
    MPI_Datatype *send, *receive;
};
distmap_status dmm_exchange_allocate(int size, struct dmm_exchange *exchange);
void dmm_exchange_free(struct dmm_exchange *exchange);
/* From slabs to the whole lines of this panel, or back; what stays on its rank aside. */
distmap_status dmm_exchange_make(const struct dmm_layout *layout, int rank, int64_t panel, const struct dmm_views *slab,
                                 const struct dmm_views *lines, bool back, struct dmm_exchange *exchange);
/* And that: a copy. */
void dmm_exchange_own(const struct dmm_layout *layout, int rank, int64_t panel, const struct dmm_views *from,
                      const struct dmm_views *to);
distmap_status dmm_exchange_run(MPI_Comm comm, const struct dmm_exchange *exchange);
/* Frees the datatypes. */
void dmm_exchange_clear(int size, struct dmm_exchange *exchange);

/* ---- lines.c ---- */

/* Whole lines, on their way: a part of a panel. Arrays are row-major, of the part's shape; those that are not needed NULL. */
struct dmm_lines {
    distmap_problem problem; /* of a part of full width */
    distmap_dtype samples;
    size_t bytes; /* scratch of the plans below, and the border's slice */
    struct dmm_finish {
        int64_t width; /* 0: none */
        distmap_plan *finish;
        distmap_plan *squares; /* border with index: squared in a type that does not tell ties apart */
    } plans[2];
    distmap_view sample, payload, distance, squared, index;
    distmap_view exact; /* border with index: squares in the samples' type; may be `squared` itself */
    /* Border with index: what the border alone would give, for a slice of the whole image. */
    distmap_view border_exact, border_distance, border_squared;
    unsigned flags; /* of the last execution */
};

/* The limit to give the core's plans: the problem's, or one that is no limit, since none is farther. */
double dmm_limit(const distmap_problem *problem, distmap_dtype samples);
/* Whether the border along the other axes is left to the lines. */
bool dmm_keeps_border(const distmap_problem *problem, int axis);
/* Bytes that an element of a part takes in a panel's arrays. */
size_t dmm_lines_bytes(const distmap_problem *problem, distmap_dtype samples);
/* `problem` is the whole image's, in the layout's axes. Local, as all of these. */
distmap_status dmm_lines_make(distmap_context *context, const distmap_problem *problem, const struct dmm_layout *layout,
                              int rank, distmap_dtype samples, struct dmm_lines *lines);
void dmm_lines_free(struct dmm_lines *lines);
/* Gives the arrays the shape of this part. */
void dmm_lines_shape(const struct dmm_layout *layout, const struct dmm_box *part, struct dmm_lines *lines);
/* From samples and payloads as they came from the slabs to outputs. */
distmap_status dmm_lines_finish(const struct dmm_layout *layout, const struct dmm_box *part, struct dmm_lines *lines);

#endif
