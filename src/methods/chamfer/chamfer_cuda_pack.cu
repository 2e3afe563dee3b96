/* chamfer/cuda: rows of elements into bits, and how far it is from every 32 of them to the nearest site on either side. */
#include "cuda/sites.cuh"
#include "methods/chamfer/chamfer_cuda.h"

enum { WARPS = 4, MOST_BLOCKS = 1 << 16 };

#define WHOLE 0xFFFFFFFFu /* all lanes of a warp */

/* A warp takes a row, 32 words at a time, a word to a lane: there with the last site before each word, and back with the
 * first one after it, which a ballot tells the lane of.
 * Grid: blocks of WARPS warps, which take rows in turn. Reads each element once, writes 3/8 byte per element, and reads the
 * bits again. */
static __global__ void __launch_bounds__(WARPS * 32)
    pack(const __grid_constant__ dm_elements e, const __grid_constant__ cc_stage p, bool plain) {
    const int lane = (int)threadIdx.x % 32;
    const int64_t rows = p.planes * p.height, at_once = (int64_t)gridDim.x * WARPS;
    unsigned raised = 0;
    for (int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; row < rows; row += at_once) {
        int64_t at[DM_NDIM];
        dm_element_split(&e, row * p.width, at);
        const int64_t start = row * p.words;
        int64_t last = -1; /* site */
        for (int64_t from = 0; from < p.words; from += 32) {
            const int64_t word = from + lane;
            uint32_t bits = 0;
            if (word < p.words)
                bits = dm_sixteen_sites(&e, plain, at, word * 32, p.width, &raised) |
                       dm_sixteen_sites(&e, plain, at, word * 32 + 16, p.width, &raised) << 16;
            const int64_t own = bits ? word * 32 + 31 - __clz((int)bits) : -1;
            const unsigned some = __ballot_sync(WHOLE, bits != 0), before = some & ((1u << lane) - 1);
            const int64_t other = __shfl_sync(WHOLE, own, before ? 31 - __clz((int)before) : 0);
            const int64_t site = before ? other : last;
            if (word < p.words) {
                p.bits[start + word] = bits;
                p.left[start + word] = site < 0 ? CC_NO_SITE : (uint32_t)(word * 32 - site);
            }
            const int64_t newest = __shfl_sync(WHOLE, own, some ? 31 - __clz((int)some) : 0);
            last = some ? newest : last;
        }
        int64_t first = -1;
        for (int64_t from = (p.words - 1) / 32 * 32; from >= 0; from -= 32) {
            const int64_t word = from + lane;
            const uint32_t bits = word < p.words ? p.bits[start + word] : 0;
            const int64_t own = bits ? word * 32 + __ffs((int)bits) - 1 : -1;
            const unsigned some = __ballot_sync(WHOLE, bits != 0), after = lane < 31 ? some >> (lane + 1) : 0;
            const int64_t other = __shfl_sync(WHOLE, own, after ? lane + __ffs((int)after) : 0);
            const int64_t site = after ? other : first;
            if (word < p.words)
                p.right[start + word] = site < 0 ? CC_NO_SITE : (uint32_t)(site - word * 32 - 31);
            const int64_t newest = __shfl_sync(WHOLE, own, some ? __ffs((int)some) - 1 : 0);
            first = some ? newest : first;
        }
    }
    dm_raise(&e, raised);
}

cudaError_t cc_pack(const dm_elements *e, const cc_stage *p, cudaStream_t stream) {
    DM_LAUNCH(pack, dm_blocks(p->planes * p->height, WARPS, MOST_BLOCKS), WARPS * 32, 0, stream, *e, *p,
              dm_sites_are_plain(e));
    return cudaGetLastError();
}
