/* Rows of one GPU into the memory of another, by a kernel of the one that has them.
 *
 * Lines of 8-byte words, some KiB each: 128 threads to a line, four words on the way in each, so that a warp's stores are runs of
 * 256 bytes. By themselves the copy engines are faster (387 GB/s into each of four H200, to 330). But while searches are under way
 * they hold four GPUs to 2.4 times the speed of one if they write, 2.9 if they read, where this has 3.3 (2048^3, half of it
 * sites). With 48 blocks to a pair instead of 16 searches have so much less that all takes 8% longer.
 */
#include "cuda/launch.h"
#include "cuda/team.h"

enum { BLOCKS = 16, THREADS = 512, TO_LINE = 128, AT_ONCE = 4 };

/* Grid: BLOCKS, which take turns with the lines; reads and writes 8 bytes per word. */
static __global__ void __launch_bounds__(THREADS)
    copy_lines(uint2 *to, const uint2 *from, int64_t pitch, int32_t words, int64_t lines) {
    const int32_t place = (int)threadIdx.x % TO_LINE, group = (int)threadIdx.x / TO_LINE;
    for (int64_t line = (int64_t)blockIdx.x * (THREADS / TO_LINE) + group; line < lines;
         line += gridDim.x * (THREADS / TO_LINE))
        for (int32_t first = place; first < words; first += TO_LINE * AT_ONCE) {
            uint2 v[AT_ONCE];
            DM_UNROLL
            for (int k = 0; k < AT_ONCE; k++)
                if (first + k * TO_LINE < words)
                    v[k] = from[line * pitch + first + k * TO_LINE];
            DM_UNROLL
            for (int k = 0; k < AT_ONCE; k++)
                if (first + k * TO_LINE < words)
                    to[line * pitch + first + k * TO_LINE] = v[k];
        }
}

cudaError_t dm_team_copy(void *to, const void *from, size_t pitch, size_t bytes, int64_t lines, cudaStream_t stream) {
    DM_LAUNCH(copy_lines, BLOCKS, THREADS, 0, stream, (uint2 *)to, (const uint2 *)from,
              (int64_t)(pitch / sizeof(uint2)), (int32_t)(bytes / sizeof(uint2)), lines);
    return cudaGetLastError();
}
