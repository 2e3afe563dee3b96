/* minplus/cuda: squared distances and sites from memory into all outputs, for those that the searches do not store. */
#include "methods/minplus/minplus_cuda.cuh"

/* Grid: any; threads take elements in turn. */
static __global__ void __launch_bounds__(256)
    emit(const __grid_constant__ dm_elements e, const int32_t *__restrict__ squared, const int32_t *__restrict__ site) {
    unsigned raised = 0;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < e.elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(&e, i, at);
        dm_value v;
        v.u64 = squared[i] == MC_NOTHING ? UINT64_MAX : (uint64_t)squared[i];
        dm_element_emit(&e, at, v, site ? site[i] : DISTMAP_INDEX_NONE, &raised);
    }
    dm_raise(&e, raised);
}

cudaError_t mc_emit(const dm_elements *e, const int32_t *squared, const int32_t *site, int multiprocessors,
                    cudaStream_t stream) {
    DM_LAUNCH(emit, dm_blocks(e->elements, 256, multiprocessors * 32), 256, 0, stream, *e, squared, site);
    return cudaGetLastError();
}
