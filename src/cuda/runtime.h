/* Shared by the CUDA files: the runtime's header, a context's GPU, the GPU part of a plan, error handling.
 *
 * A method sees of this: plan->context->cuda (stream and the GPU's measures), plan->cuda->outcome, whose flags also stand in
 * dm_elements, and TRY_CUDA. Its run() is called with the GPU current and enqueues on the stream, nothing more.
 */
#ifndef DISTMAP_CUDA_RUNTIME_H
#define DISTMAP_CUDA_RUNTIME_H

#include <cuda_runtime.h>
#include <sys/types.h>

#include "core/internal.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dm_cuda {
    int ordinal;
    cudaStream_t stream; /* the caller's: all work of plans goes here */
    cudaStream_t side;   /* our own, to fetch outcomes without waiting for the caller's later work */
    cudaEvent_t probe;   /* recorded on a stream to learn whether it is one of this GPU */
    dm_outcome *outcome; /* page-locked: the copy of a plan's outcome */
    pid_t owner;         /* CUDA does not survive a fork */
    bool lost;           /* a fault that ends the GPU's use by this process */
    int multiprocessors;
    size_t shared_bytes; /* shared memory that one block may ask for */
    char isa[32];        /* "sm_90" */
};

/* Pieces of scratch start at multiples of 256 bytes. */
enum { DM_CUDA_UNIT = 256 };
static inline size_t dm_cuda_round(size_t bytes) { return (bytes + DM_CUDA_UNIT - 1) & ~(size_t)(DM_CUDA_UNIT - 1); }

/* Transfers of host views go through page-locked memory in turns, see staging.c. */
enum { DM_SLOTS = 4, DM_SLOT_BYTES = 4 << 20 };

struct dm_cuda_plan {
    dm_outcome *outcome; /* device: flags that kernels raise, and results that they leave; zeroed for each run */
    cudaEvent_t done;    /* the last execute */
    bool pending;        /* its outcome was not fetched yet */
    dm_arrays copies;    /* host views: the arrays in device memory, row-major without gaps; data NULL otherwise */
    char *slots;         /* host views: page-locked memory, DM_SLOTS of slot_bytes */
    size_t slot_bytes;
    cudaEvent_t slot[DM_SLOTS];     /* the transfer that uses it */
    unsigned next;                  /* slot */
    cudaEvent_t mark[DM_MAX_MARKS]; /* timed: where phases begin; the last one used, where all ends */
    int marked[DM_MAX_MARKS];       /* the phase; -1: the end */
    int marks;
    cudaTextureObject_t texture; /* of a method that reads by one, else 0 */
    cudaArray_t array;           /* of such a method, where the texture is not over scratch, else NULL */
};

/* Makes the context's GPU the calling thread's current one, and back. Refuses contexts that are lost or were inherited. */
distmap_status dm_cuda_enter(const distmap_context *context, int *previous);
void dm_cuda_leave(int previous);

/* The status and text for a failed call, such as "cudaMemcpyAsync(...)"; the text has its name. Clears the error where that can
 * be done, else marks the context as lost. `cuda` may be NULL. */
distmap_status dm_cuda_error(struct dm_cuda *cuda, cudaError_t error, const char *call);

#define TRY_CUDA(cuda, call)                                \
    do {                                                    \
        const cudaError_t try_error = (call);               \
        if (try_error != cudaSuccess)                       \
            return dm_cuda_error((cuda), try_error, #call); \
    } while (0)

/* ---- The plan's share (plan.c) ---- */

size_t dm_cuda_scratch_bytes(const distmap_plan *plan);
distmap_status dm_cuda_reserve(distmap_plan *plan, void *scratch);
void dm_cuda_release(distmap_plan *plan);
distmap_status dm_cuda_check_view(const distmap_plan *plan, const char *name, const distmap_view *view);
distmap_status dm_cuda_execute(distmap_plan *plan, const dm_arrays *arrays);
distmap_status dm_cuda_wait(distmap_plan *plan);
/* Parts of execute. Whether any array lies in host memory; a clean outcome, and host inputs on their way into `device`, which is
 * `arrays` with the plan's copies in place of host views; the event that wait waits for. */
bool dm_cuda_any_host(const dm_arrays *arrays);
distmap_status dm_cuda_upload(distmap_plan *plan, const dm_arrays *arrays, dm_arrays *device);
distmap_status dm_cuda_mark_end(distmap_plan *plan);

/* ---- Timed plans (marks.c) ---- */

distmap_status dm_marks_make(distmap_plan *plan);
void dm_marks_release(distmap_plan *plan);
distmap_status dm_cuda_phase(distmap_plan *plan, int number);
/* The seconds of all phases, once the end is reached. */
distmap_status dm_marks_read(distmap_plan *plan);

/* ---- Staging (staging.c) ---- */

/* Device memory for the copies of all arrays of the plan's problem; lays them out from `base` (NULL: only measures). */
size_t dm_staging_lay_out(const distmap_plan *plan, char *base, dm_arrays *copies);
/* Host inputs into their copies, and copies into host outputs. `device` is `arrays` with the copies in place of host views.
 * After dm_staging_out the last transfers may still be under way. */
void dm_staging_replace(const distmap_plan *plan, const dm_arrays *arrays, dm_arrays *device);
distmap_status dm_staging_in(distmap_plan *plan, const dm_arrays *arrays, const dm_arrays *device);
distmap_status dm_staging_out(distmap_plan *plan, const dm_arrays *arrays, const dm_arrays *device);

/* The members of dm_arrays by number, inputs first. */
enum { DM_ARRAY_COORDS = 11, DM_ARRAYS = DM_ARRAY_COORDS + DM_NDIM, DM_ARRAY_INPUTS = 3 };
static inline dm_array *dm_array_at(dm_arrays *arrays, int i) {
    dm_array *const members[] = {&arrays->input,   &arrays->payload, &arrays->other, &arrays->distance,
                                 &arrays->squared, &arrays->index,   &arrays->label, &arrays->strength,
                                 &arrays->within,  &arrays->beyond,  &arrays->mask};
    return i < DM_ARRAY_COORDS ? members[i] : &arrays->coords[i - DM_ARRAY_COORDS];
}

#ifdef __cplusplus
}
#endif
#endif
