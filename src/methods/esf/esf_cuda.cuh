/* Device functions of esf/cuda's kernels. */
#ifndef DISTMAP_ESF_CUDA_CUH
#define DISTMAP_ESF_CUDA_CUH

#include "cuda/launch.h"
#include "methods/esf/esf_cuda.h"

#define EC_WHOLE 0xFFFFFFFFu /* all lanes of a warp */

/* v' = a v + dt s, each operation rounded by itself whatever the compiler is told. */
DM_DEVICE float ec_next(const ec_stage &p, float v, float sum) {
    return __fadd_rn(__fmul_rn(p.a, v), __fmul_rn(p.dt, sum));
}

/* ---- Tiles of kernel=blocked ---- */

struct ec_tile_place {
    int64_t x, y, z, batch;
};
DM_DEVICE ec_tile_place ec_tile_at(const ec_tiles &t, int64_t index) {
    ec_tile_place at;
    at.x = index % t.x;
    at.y = index / t.x % t.y;
    at.z = index / t.x / t.y % t.zs;
    at.batch = index / t.x / t.y / t.zs;
    return at;
}

/* Of lanes of a warp, together. */
DM_DEVICE unsigned ec_flags_of_warp(unsigned own) {
    return (__any_sync(EC_WHOLE, own & EC_MOVES) ? EC_MOVES : 0) | (__any_sync(EC_WHOLE, own & EC_FREE) ? EC_FREE : 0);
}

/* Of a tile and those around it. */
DM_DEVICE unsigned ec_flags_around(const ec_tiles &t, const ec_tile_place &at, const uint8_t *flags, unsigned lane) {
    const int64_t x = at.x + lane % 3 - 1, y = at.y + lane / 3 % 3 - 1, z = at.z + lane / 9 - 1;
    unsigned own = 0;
    if (lane < 27 && x >= 0 && x < t.x && y >= 0 && y < t.y && z >= 0 && z < t.zs)
        own = flags[((at.batch * t.zs + z) * t.y + y) * t.x + x];
    return ec_flags_of_warp(own);
}

#endif
