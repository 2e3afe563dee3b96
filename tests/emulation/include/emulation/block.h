/* CUDA emulation: a launch, and what a kernel sees of its block. Every thread of a block is a fiber; blocks run one after
 * another. A thread runs until it waits at a barrier or in a warp collective. Barriers and collectives that cannot
 * complete, because a thread that they wait for has ended or waits elsewhere, end the process with a text that says which
 * threads wait, and where: like nvcc's, these functions want all threads at the same place. */
#ifndef EMULATION_BLOCK_H
#define EMULATION_BLOCK_H

#include "../cuda_runtime_api.h"

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
enum { warpSize = 32 };

/* The place of a call, for messages: last parameters that callers leave alone. */
struct emulation_site {
    const char *file;
    int line;
};
#define EMULATION_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define EMULATION_HERE (emulation_site{file, line})

/* ---- Launches ---- */

struct emulation_kernel {
    const char *name;
    void (*run)(void *arguments);
    void *arguments;
    bool in_order; /* whether blocks begin in the order of their numbers */
};
/* As a launch does, leaves its error to cudaGetLastError. */
void emulation_launch_kernel(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const emulation_kernel *kernel);

template <class F>
void emulation_launch_named(const char *name, bool in_order, dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                            F body) {
    const emulation_kernel kernel = {name, [](void *arguments) { (*(F *)arguments)(); }, &body, in_order};
    emulation_launch_kernel(grid, block, shared, stream, &kernel);
}
/* emulation_launch(grid, block, shared, stream, [=] { kernel(arguments...); }): every thread calls it. Which kernel it is
 * stays unknown, so that shared memory beyond 48 KB is granted when cudaFuncSetAttribute did so for any kernel. */
#define emulation_launch(grid, block, shared, stream, ...) \
    emulation_launch_named(#__VA_ARGS__, false, grid, block, shared, stream, __VA_ARGS__)
#define emulation_launch_in_order(grid, block, shared, stream, ...) \
    emulation_launch_named(#__VA_ARGS__, true, grid, block, shared, stream, __VA_ARGS__)

/* The block's dynamic shared memory, aligned to 16: exactly as large as the launch said, with garbage in it. */
void *emulation_dynamic_shared(void);
#define DM_DYNAMIC_SHARED(type, name) type *const name = (type *)emulation_dynamic_shared()

/* ---- Barriers of the block; threads that have ended do not count, as on the device ---- */

struct emulation_votes {
    int count, threads; /* nonzero predicates, and all */
};
emulation_votes emulation_barrier(int predicate, emulation_site site);

static inline void __syncthreads(EMULATION_SITE) { emulation_barrier(0, EMULATION_HERE); }
static inline int __syncthreads_count(int predicate, EMULATION_SITE) {
    return emulation_barrier(predicate, EMULATION_HERE).count;
}
static inline int __syncthreads_or(int predicate, EMULATION_SITE) {
    return emulation_barrier(predicate, EMULATION_HERE).count > 0;
}
static inline int __syncthreads_and(int predicate, EMULATION_SITE) {
    const emulation_votes votes = emulation_barrier(predicate, EMULATION_HERE);
    return votes.count == votes.threads;
}

/* Lets other threads of the block run: for loops that wait for a value. Ends the process if nothing else happens. */
void __nanosleep(unsigned nanoseconds);
/* Ends the process. */
void __trap(void) __attribute__((noreturn));

/* One block runs at a time, in one thread: memory is always in order. */
static inline void __threadfence(void) {}
static inline void __threadfence_block(void) {}
static inline void __threadfence_system(void) {}

/* A number drawn from DISTMAP_EMULATION_SEED, or 0 without one. */
uint32_t emulation_draw(void);

#endif
