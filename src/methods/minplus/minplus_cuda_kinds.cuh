/* What minplus/cuda's kernels know of kinds (minplus_cuda.h): elements of one kind or another, bands, caps.
 *
 * As on the CPU (kernel_labels.h) a search knows nothing of kinds. Along one line let e(p) be how far the next element of
 * another kind is; then
 *
 *     out(p) = min(w e(p)^2, min over all q of f(q) + w (p - q)^2),
 *
 * whatever f says, and about whichever kind, beyond it. So w e^2 is the result's *cap*. An element beside one of another kind
 * is a *rim*, and in a run of one kind the rims are the ends that are not the image's: if the nearest rim is g away, e = g + 1.
 */
#ifndef DISTMAP_MINPLUS_CUDA_KINDS_CUH
#define DISTMAP_MINPLUS_CUDA_KINDS_CUH

#include "methods/minplus/minplus_cuda.cuh"

/* ---- Kinds ---- */

/* Where kinds come from: the side of the shape, by bytes or however else it is told, or labels of so many bytes. */
enum { MC_SIDES, MC_SIDES_1, MC_LABEL_1, MC_LABEL_2, MC_LABEL_4, MC_LABEL_8 };

static inline int mc_source_of(const dm_elements *e) {
    const size_t size = distmap_dtype_size(e->arrays.input.dtype);
    if (e->sign)
        return size == 1 && !e->sites.empty ? MC_SIDES_1 : MC_SIDES;
    return size == 1 ? MC_LABEL_1 : size == 2 ? MC_LABEL_2 : size == 4 ? MC_LABEL_4 : MC_LABEL_8;
}

/* The kind of the element at address `at`. But for MC_SIDES without a branch, so that many loads can be under way. */
template <int SOURCE> DM_DEVICE auto mc_kind(const dm_elements &e, const char *at, unsigned *raised) {
    if constexpr (SOURCE == MC_SIDES)
        return (uint32_t)dm_address_is_site(&e, at, raised);
    else if constexpr (SOURCE == MC_SIDES_1)
        return (uint32_t)(((uint8_t)(*(const uint8_t *)at - e.sites.first) <= e.sites.span) != e.sites.flip);
    else if constexpr (SOURCE == MC_LABEL_1)
        return (uint32_t)(e.arrays.input.dtype == DISTMAP_BOOL ? *at != 0 : *(const uint8_t *)at);
    else if constexpr (SOURCE == MC_LABEL_2)
        return (uint32_t) * (const uint16_t *)at;
    else if constexpr (SOURCE == MC_LABEL_4)
        return *(const uint32_t *)at;
    else
        return *(const uint64_t *)at;
}

/* Rims among 32 elements of a line. A *turn* is an element of another kind than the one before it: both are rims. `next`: the one after
 * the last is a turn. */
DM_DEVICE uint32_t mc_rims(uint32_t turns, uint32_t next) { return turns | turns >> 1 | next << 31; }

/* ---- Bands ---- */

/* Where the band of row y of a plane has column x. */
DM_DEVICE int64_t mc_band_at(const mc_stage &p, int64_t plane, int32_t y, int32_t x) {
    return (plane * p.bands + y / 32) * p.groups * MC_GROUP + x;
}

/* A group's columns of a band, by number: of all planes, their bands, and groups of these. `y` is the first row. */
typedef struct mc_tract {
    uint32_t plane;
    int32_t group, y;
} mc_tract;

DM_DEVICE mc_tract mc_tract_at(const mc_stage &p, uint32_t number) {
    const uint32_t band = number / (uint32_t)p.groups, plane = band / (uint32_t)p.bands;
    const mc_tract made = {plane, (int32_t)(number - band * (uint32_t)p.groups),
                           (int32_t)(band - plane * (uint32_t)p.bands) * 32};
    return made;
}

DM_DEVICE uint2 mc_across(const mc_stage &p, int64_t band_at) { return ((const uint2 *)p.across)[band_at]; }
DM_DEVICE uint32_t mc_ground(const mc_stage &p, int64_t band_at) { return p.ground ? p.ground[band_at] : 0; }

/* A distance from a surface; bit 0 of `negative` says on which side. `none` is set where it is beyond the limit. */
DM_DEVICE void mc_store_signed(const mc_stage &p, char *to, uint32_t d2, float root, uint32_t negative, bool *none) {
    const bool beyond = d2 > p.most;
    *none |= beyond;
    const float distance = (beyond ? (float)INFINITY : root) - p.surface;
    __stcs((float *)to, negative & 1 ? -distance : distance);
}

/* Two columns of a band, as the near search holds them: best[i] = min(wy2 e^2, MC_SURE) of row i, in halves. */
DM_DEVICE void mc_caps(const mc_stage &p, const uint2 across[2], uint32_t best[32]) {
    const uint32_t step = 0x00010001u, most = 4096; /* beyond any cap; more would overflow on the way */
    /* Rows 0 .. 15 of both columns, and 16 .. 31. */
    const uint32_t rims[2] = {__byte_perm(across[0].x, across[1].x, 0x5410),
                              __byte_perm(across[0].x, across[1].x, 0x7632)};
    uint32_t g = min(across[0].y & 0xFFFF, most) | min(across[1].y & 0xFFFF, most) << 16;
#pragma unroll
    for (int i = 0; i < 32; i++) {
        g = (g + step) & ~((rims[i / 16] >> i % 16 & step) * 0xFFFF);
        best[i] = g;
    }
    g = min(across[0].y >> 16, most) | min(across[1].y >> 16, most) << 16;
#pragma unroll
    for (int i = 31; i >= 0; i--) {
        g = (g + step) & ~((rims[i / 16] >> i % 16 & step) * 0xFFFF);
        /* 142^2 is beyond MC_SURE, and times the largest pitch below 2^32. */
        const uint32_t e = mc_min(mc_min(best[i], g) + step, 142 * step), low = e & 0xFFFF, high = e >> 16;
        best[i] = min((uint32_t)p.wy2 * (low * low), (uint32_t)MC_SURE) |
                  min((uint32_t)p.wy2 * (high * high), (uint32_t)MC_SURE) << 16;
    }
}
static_assert(142 * 142 >= MC_SURE, "so that caps are beyond it where they are cut");

/* The same on the ground: 0. */
DM_DEVICE void mc_clear(const uint32_t ground[2], uint32_t best[32]) {
#pragma unroll
    for (int i = 0; i < 32; i++)
        best[i] &= (ground[0] >> i & 1 ? 0 : 0xFFFFu) | (ground[1] >> i & 1 ? 0 : 0xFFFF0000u);
}

#endif
