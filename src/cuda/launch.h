/* How kernels are launched and what they are made of, for nvcc and for host compilers (tests/emulation) alike.
 *
 *     DM_LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...);
 *     return cudaGetLastError();
 *
 * A launcher is an extern "C" function in the .cu file that returns cudaError_t; the .c file checks it by TRY_CUDA.
 */
#ifndef DISTMAP_CUDA_LAUNCH_H
#define DISTMAP_CUDA_LAUNCH_H

#include "cuda/runtime.h"

#ifdef __CUDACC__
#define DM_LAUNCH(kernel, grid, block, shared, stream, ...) kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define DM_DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]
#else
#define DM_LAUNCH(kernel, grid, block, shared, stream, ...) \
    emulation_launch((grid), (block), (shared), (stream), [=] { kernel(__VA_ARGS__); })
#ifndef __grid_constant__
#define __grid_constant__
#endif
#endif

/* DM_LAUNCH_EARLY, as DM_LAUNCH: the kernel may begin while the one before it on the stream still runs, as soon as each of that
 * one's blocks has called dm_let_next_begin(). What that one writes is there behind dm_wait_for_last(), and what kernels wrote before
 * that one from the beginning. GPUs before compute capability 9.0, and code made for them, begin when all is there. */
#ifdef __CUDACC__
template <class... Parameters, class... Arguments>
static inline void dm_launch_early(void (*kernel)(Parameters...), unsigned grid, unsigned block, size_t shared,
                                   cudaStream_t stream, Arguments... arguments) {
    cudaFuncAttributes made;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared, config.stream = stream;
    config.attrs = &early;
    config.numAttrs = cudaFuncGetAttributes(&made, (const void *)kernel) == cudaSuccess && made.ptxVersion >= 90;
    (void)cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}
#define DM_LAUNCH_EARLY(kernel, grid, block, shared, stream, ...) \
    dm_launch_early(kernel, (grid), (block), (shared), (stream), __VA_ARGS__)
#elif defined(__cplusplus)
#define DM_LAUNCH_EARLY DM_LAUNCH
#endif

/* The same of a kernel whose blocks may wait for blocks of lower numbers: GPUs begin them in that order. */
#ifdef __CUDACC__
#define DM_LAUNCH_IN_ORDER DM_LAUNCH_EARLY
#elif defined(__cplusplus)
#define DM_LAUNCH_IN_ORDER(kernel, grid, block, shared, stream, ...) \
    emulation_launch_in_order((grid), (block), (shared), (stream), [=] { kernel(__VA_ARGS__); })
#endif

/* Before a loop that must be unrolled to keep its arrays in registers, but that host compilers may rather vectorise. */
#ifdef __CUDACC__
#define DM_UNROLL _Pragma("unroll")
#else
#define DM_UNROLL
#endif

/* A function of kernels, and one that is not inlined into its callers, which keeps them short. */
#define DM_DEVICE static __device__ __forceinline__
#ifdef __CUDACC__
#define DM_DEVICE_APART static __device__ __noinline__
#else
#define DM_DEVICE_APART static __attribute__((noinline, unused))
#endif

#ifdef __cplusplus
DM_DEVICE void dm_let_next_begin(void) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
DM_DEVICE void dm_wait_for_last(void) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}
#endif

/* Kernels: asks for the global memory at p, which must be there, to be brought to the caches, or to the L2 cache alone; waits for
 * nothing. */
#ifdef __CUDACC__
DM_DEVICE void dm_prefetch(const void *p) { asm volatile("prefetch.global.L1 [%0];" ::"l"(p)); }
DM_DEVICE void dm_prefetch_far(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
#elif defined(__cplusplus)
static inline void dm_prefetch(const void *p) {
    (void)*(const volatile char *)p;
} /* found by sanitizers if it is not there */
static inline void dm_prefetch_far(const void *p) { dm_prefetch(p); }
#endif

/* Kernels: copies 16 or 4 bytes, aligned so, from global to shared memory while the thread goes on (at once before compute
 * capability 8.0); dm_copies_wait waits for all that the thread asked for, and other threads see them after the next barrier. */
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
DM_DEVICE void dm_copy_16(void *shared, const void *global) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global)
                 : "memory");
}
DM_DEVICE void dm_copy_4(void *shared, const void *global) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global)
                 : "memory");
}
DM_DEVICE void dm_copies_wait(void) { asm volatile("cp.async.wait_all;" ::: "memory"); }
#elif defined(__cplusplus)
DM_DEVICE void dm_copy_16(void *shared, const void *global) { *(float4 *)shared = *(const float4 *)global; }
DM_DEVICE void dm_copy_4(void *shared, const void *global) { *(float *)shared = *(const float *)global; }
DM_DEVICE void dm_copies_wait(void) {}
#endif

/* Kernels: four neighbours to global memory in one access of 16 bytes, which nvcc 13.0 otherwise made four of 4 bytes of
 * where a condition stands before it. */
#ifdef __CUDACC__
DM_DEVICE void dm_store_16(float *global, float a, float b, float c, float d) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(global), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}
#elif defined(__cplusplus)
static inline void dm_store_16(float *global, float a, float b, float c, float d) {
    *(float4 *)global = make_float4(a, b, c, d);
}
#endif

/* Blocks for `count` items, `each` to a block, at most `most`: kernels loop over what is left. */
static inline unsigned dm_blocks(int64_t count, int64_t each, int64_t most) {
    const int64_t blocks = (count + each - 1) / each;
    return (unsigned)(blocks < most ? blocks : most);
}

#endif
