/* distmap/mpi.h: distance maps of images and volumes that are spread over the processes of an MPI communicator, for
 * libdistmap_mpi.
 *
 * The image is cut into *slabs* along its slowest measured axis (problem.axes; the first axis where all are measured): each
 * rank holds some slices, as many as it likes, maybe none, in the order of the ranks. Results are those of one process that
 * holds all, to the bit, for any number of ranks and any slabs; with FP64 spacing, where sites tie by rounding alone, any of
 * them may be given (distmap_problem.spacing).
 *
 * Algorithm: every rank transforms its slices along all axes but the slowest. Then whole lines along the slowest axis are collected,
 * each on one of the ranks, a *panel* of lines at a time. The lower envelope of the slices' results finishes them, and they are sent
 * back (the phases of A. Meijster, J. Roerdink, W. Hesselink, "A general algorithm for computing distance transforms in linear time",
 * 2000). The value of an element crosses the network twice; ranks of one machine copy it through shared memory instead. In planes (two
 * axes, both measured) slabs are windows (distmap_window) if minplus/cpu accepts the problem: each rank then computes its results from
 * the positions of the nearest sites in each column on other ranks, and only 8 bytes for each column cross the network. docs/scale.md
 * has the figures.
 *
 * Each function says whether it is *collective*, called by all ranks of the communicator in the same order, or *local*.
 * The error of one rank is the status of all: distmap_error_text() then names the rank, and the rule. An error of MPI itself
 * is DISTMAP_ERROR_IO with its text; MPI decides whether other ranks can continue.
 *
 * MPI must be initialised, with MPI_THREAD_FUNNELED or more if the context has more than one thread. Only the calling thread
 * uses MPI.
 */
#ifndef DISTMAP_MPI_H
#define DISTMAP_MPI_H

#include <mpi.h>

#include "../distmap.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct distmap_mpi_options {
    size_t panel_bytes; /* memory for one panel of lines, about: it is at least one element thick along the axis that
                           divides it (distmap_mpi_description.cut). Windows: for the rows that are surveyed at once. 0: 4 MiB, which
                           caches hold, of windows 1 MiB. Equal on all ranks */
    int near_ranks;     /* at most so many ranks of a machine, that follow each other in `comm`, share memory, and copy what they have for
                           each other; the rest are messages. 0: all of a machine; 1: none. Equal on all ranks */
    int reserved;       /* 0 */
} distmap_mpi_options;

typedef struct distmap_mpi_plan distmap_mpi_plan;

typedef struct distmap_mpi_description {
    int axis;              /* the axis that slabs divide */
    int cut;               /* the axis that panels divide, and the ranks' parts of them; equal to `axis` in 1-D */
    int64_t panels;        /* how many there are: exchanges forth and back in an execution. Windows: 0 */
    distmap_dtype samples; /* what crosses the network forth: uint32, uint64 or float64 squared distances; int32, rows of sites (windows) */
    size_t scratch_bytes;  /* what this rank's plan holds, see distmap_mpi_plan_create() */
    uint64_t sent_bytes;   /* what this rank sends to others in an execution; windows: to the ranks beside it, MPI may send more */
} distmap_mpi_description;

/* Local. The slab of `rank` if n slices are divided evenly among `size` ranks: *count slices, from *first. */
DISTMAP_API distmap_status distmap_mpi_slab(int64_t n, int size, int rank, int64_t *first, int64_t *count);

/* Collective. Checks the problem, makes the plan. `comm` is duplicated, the context is this rank's own (of any device, with
 * arrays in host memory) and both outlive the plan. `problem` is the whole image's, equal on all ranks: a mask, with or
 * without sign, or labels, with the Euclidean metric, and of the outputs distance, squared and index, which is the linear index in the
 * whole image. This rank holds slices [first, first + count) of the slowest measured axis; `first` does not matter where count is
 * 0. `options` may be NULL.
 *
 * The plan holds, for each element of this rank's slab, the scratch that the core needs for its slices (distmap_plan_options),
 * and 4 (8 with samples of 8 bytes) where neither distance nor squared is an output with elements of that size, which are
 * used as the intermediate memory; and for each element of one panel the core's scratch and what it takes in and gives, which lies in
 * memory shared with the ranks of the machine. With
 * border and index together also a slice of the whole image. Labels and signed maps: for each element of a panel about twice as much,
 * for signed maps also a byte for each element of the slab. Windows: the core's scratch for the slab, 16 bytes for each column, and 1 MiB
 * or a row. No message is larger than this rank's slab divided by the length
 * of the axis `cut`, or than a panel.
 *
 * Owned by the caller. *plan is NULL after an error, on all ranks. */
DISTMAP_SIZED distmap_status distmap_mpi_plan_create(MPI_Comm comm, distmap_context *context,
                                                     const distmap_problem *problem, int64_t first, int64_t count,
                                                     const distmap_mpi_options *options, distmap_mpi_plan **plan);

/* Collective. Computes. `arrays` are this rank's: views of its slab, any strides, in host memory, by the rules of
 * distmap_plan_execute(), which are checked on all ranks before any output is written. Allocates nothing of its own (MPI allocates for
 * its datatypes). The context's progress callback gets each stage separately, from 0 to 1; if it stops one rank
 * it stops all. */
DISTMAP_SIZED distmap_status distmap_mpi_plan_execute(distmap_mpi_plan *plan, const distmap_arrays *arrays);

/* Local. The DISTMAP_FLAG_* that the last execute set on any rank. */
DISTMAP_API unsigned distmap_mpi_plan_flags(const distmap_mpi_plan *plan);
/* Local. */
DISTMAP_SIZED void distmap_mpi_plan_describe(const distmap_mpi_plan *plan, distmap_mpi_description *description);
/* Collective. Frees *plan and sets it to NULL; NULL and pointers to NULL are allowed. After MPI_Finalize() it frees only what is
 * not MPI's. */
DISTMAP_API void distmap_mpi_plan_destroy(distmap_mpi_plan **plan);

/* What is called in place of the functions that take or fill structs which may grow, as distmap/sized.h has it for the core;
 * distmap_mpi_options and distmap_mpi_description are such structs. */
DISTMAP_API distmap_status distmap_mpi_plan_create_sized(MPI_Comm comm, distmap_context *context,
                                                         const distmap_problem *problem, size_t problem_bytes,
                                                         int64_t first, int64_t count,
                                                         const distmap_mpi_options *options, size_t options_bytes,
                                                         distmap_mpi_plan **plan);
DISTMAP_API distmap_status distmap_mpi_plan_execute_sized(distmap_mpi_plan *plan, const distmap_arrays *arrays,
                                                          size_t arrays_bytes);
DISTMAP_API void distmap_mpi_plan_describe_sized(const distmap_mpi_plan *plan, distmap_mpi_description *description,
                                                 size_t description_bytes);

DISTMAP_SIZED distmap_status distmap_mpi_plan_create(MPI_Comm comm, distmap_context *context,
                                                     const distmap_problem *problem, int64_t first, int64_t count,
                                                     const distmap_mpi_options *options, distmap_mpi_plan **plan) {
    return distmap_mpi_plan_create_sized(comm, context, problem, sizeof *problem, first, count, options,
                                         sizeof *options, plan);
}

DISTMAP_SIZED distmap_status distmap_mpi_plan_execute(distmap_mpi_plan *plan, const distmap_arrays *arrays) {
    return distmap_mpi_plan_execute_sized(plan, arrays, sizeof *arrays);
}

DISTMAP_SIZED void distmap_mpi_plan_describe(const distmap_mpi_plan *plan, distmap_mpi_description *description) {
    distmap_mpi_plan_describe_sized(plan, description, sizeof *description);
}

#ifdef __cplusplus
}
#endif
#endif
