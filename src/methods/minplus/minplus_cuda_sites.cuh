/* minplus/cuda: what the near search with sites stores, from a strip's keys.
 *
 * A key is d2 << bits | (k + middle), d2 the squared distance and k how many rows up the site lies. In the plane stage it
 * then lies g columns away, wx2 g^2 = d2 - wy2 k^2, on the side that a bit of its row tells; in the z stage, where the offset
 * in memory at row y + k says. Roots, g and signs are made in floats, whose mantissas hold these numbers exactly.
 *
 * What is wanted most has a form of its own, without branches and with what is read for AT_ONCE rows asked for before the
 * first of it is needed. Keys move through the first AT_ONCE registers, for code of so many rows: where all 32 were written out,
 * warps waited for instructions. Per pixel: 34 instructions for distance and index, 27 for an offset.
 */
#ifndef DISTMAP_MINPLUS_CUDA_SITES_CUH
#define DISTMAP_MINPLUS_CUDA_SITES_CUH

#include "methods/minplus/minplus_cuda_tile_kind.cuh"

/* What is wanted most: int32 indices, of a plane or of a volume, with distances or without, and offsets for the z stage; all side
 * by side along x, and without a limit that could be passed. */
typedef enum mc_form { MC_PLANE, MC_VOLUME, MC_OFFSETS } mc_form;

/* Keys: of 16 bits in pairs, for columns x and x + 16, or of 32 for one column. */
template <bool PAIRED> struct mc_keys;
template <> struct mc_keys<true> {
    enum { COLUMNS = 2, BITS = 6, MIDDLE = 32 };
    DM_DEVICE uint32_t row(uint32_t pair, int column) { return (column ? pair >> 16 : pair) % (1 << BITS); }
    /* 2^23 + (d2 << BITS), brought down. */
    DM_DEVICE float d2(uint32_t pair, int column) {
        const uint32_t key = __byte_perm(pair & 0xFFC0FFC0, 0x4B000000, column ? 0x7632 : 0x7610);
        return fmaf(__uint_as_float(key), 1.0f / (1 << BITS), -8388608.0f / (1 << BITS));
    }
};
template <> struct mc_keys<false> {
    enum { COLUMNS = 1, BITS = 16, MIDDLE = 256 };
    DM_DEVICE uint32_t row(uint32_t key, int) { return key % (1 << BITS); }
    DM_DEVICE float d2(uint32_t key, int) { return mc_float(key >> BITS); }
};

/* A strip's results, from row y and column x on. */
template <mc_form FORM, bool PAIRED>
DM_DEVICE void store_form(const mc_stage &p, const tile &t, int32_t y, int32_t x, const uint32_t best[STRIP]) {
    typedef mc_keys<PAIRED> keys;
    enum { COLUMNS = keys::COLUMNS, AT_ONCE = 8 / COLUMNS, MIDDLE = keys::MIDDLE };
    const int32_t rows = mc_forget(p.height - y);
    if (rows <= 0)
        return;
    const uint32_t signed_zero = 0x4B400000; /* 1.5 * 2^23: from there, mantissas count up and down */
    const mc_place at = mc_place_of(p, t.plane);
    char *site = mc_forget(at.site + y * p.site.stride[2] + (int64_t)x * 4);
    const bool distances = FORM != MC_OFFSETS && p.target.data;
    char *target = distances ? mc_forget(at.target + y * p.target.stride[2] + (int64_t)x * 4) : site;
    /* The plane's rows, from MIDDLE before the strip's first on, as rows are counted in keys. */
    const uint32_t *lefts = t.lefts + x % TILE_COLUMNS / 32 * HELD + WIDE + (y - t.y0) - MIDDLE;
    const char *source[COLUMNS];
    if (FORM == MC_VOLUME)
        for (int c = 0; c < COLUMNS; c++) /* what lies beyond the image reads what can be read */
            source[c] =
                mc_forget(at.source + (y - MIDDLE) * p.source.stride[2] + (int64_t)min(x + 16 * c, p.width - 1) * 4);
    const uint32_t source_pitch = (uint32_t)p.source.stride[2]; /* of planes below 2^15 x 2^15 */
    const uint32_t last = (uint32_t)(MIDDLE + rows - 1);
    const uint32_t linear = (uint32_t)p.linear[2], across = (uint32_t)p.linear[1];
    const int64_t to_site = p.site.stride[2], to_target = distances ? p.target.stride[2] : to_site;
    uint32_t index = (uint32_t)at.index + (uint32_t)(y - MIDDLE) * linear + (uint32_t)x;
    const float wy = __fsqrt_rn((float)p.wy2), middle_wy = wy * MIDDLE;
    uint32_t coming[STRIP];
#pragma unroll
    for (int i = 0; i < STRIP; i++)
        coming[i] = best[i];
#pragma unroll 1
    for (int start = 0; start < STRIP; start += AT_ONCE) {
        const int32_t left = rows - start;
        uint32_t seen[AT_ONCE][COLUMNS]; /* of the site: its row's bits, or its offset */
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const uint32_t k = keys::row(coming[i], c);
                if (FORM == MC_VOLUME)
                    seen[i][c] =
                        *(const uint32_t *)(source[c] + (uint64_t)__viaddmin_u32(k, start + i, last) * source_pitch);
                else
                    seen[i][c] = lefts[start + i + (int)k];
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const uint32_t k = keys::row(coming[i], c);
                const float d2 = keys::d2(coming[i], c);
                uint32_t from; /* the site's place less that of row y + k, column x */
                if (FORM == MC_VOLUME) {
                    from = (uint32_t)((int32_t)seen[i][c] >> 16) * across + (uint32_t)(int16_t)seen[i][c];
                } else {
                    const float dy = fmaf((float)k, wy, -middle_wy);
                    const uint32_t g = __float_as_uint(mc_near_root(fmaf(-dy, dy, d2) * p.per_wx2));
                    const uint32_t sign = seen[i][c] << (31 - 16 * c - x % 32) & 0x80000000;
                    from = __float_as_uint(__uint_as_float(g ^ sign) + __uint_as_float(signed_zero)) - signed_zero;
                }
                const bool inside = i < left && x + 16 * c < p.width;
                if (FORM == MC_OFFSETS) {
                    if (inside)
                        __stcg((unsigned *)(site + 64 * c), __byte_perm(from, k - MIDDLE, 0x5410));
                    continue;
                }
                /* Made here, or there would be a branch around making them. */
                const uint32_t root = mc_forget(__float_as_uint(mc_root(d2)));
                const uint32_t linear_index = mc_forget(index + 16 * c + k * linear + from);
                if (inside && distances)
                    __stcs((unsigned *)(target + 64 * c), root);
                if (inside)
                    __stcs((unsigned *)(site + 64 * c), linear_index);
            }
            if (FORM != MC_OFFSETS)
                target = mc_forget(target + to_target);
            site = mc_forget(site + to_site);
            index += linear;
        }
        move_up<AT_ONCE>(coming);
    }
}

/* The same with any strides, types and limit, a row at a time. */
template <bool PAIRED>
DM_DEVICE void store_any(const mc_stage &p, const tile &t, int32_t y, int32_t x, const uint32_t best[STRIP]) {
    typedef mc_keys<PAIRED> keys;
    const mc_place at = mc_place_of(p, t.plane);
    const int32_t rows = min(mc_forget(p.height - y), (int32_t)STRIP);
    uint32_t coming[STRIP];
#pragma unroll
    for (int i = 0; i < STRIP; i++)
        coming[i] = best[i];
    bool none = false;
#pragma unroll 1
    for (int32_t row = y; row < y + rows; row++) {
        char *target = at.target + row * p.target.stride[2], *site = at.site + row * p.site.stride[2];
#pragma unroll
        for (int c = 0; c < keys::COLUMNS; c++) {
            const int32_t here = x + 16 * c;
            const float d2 = keys::d2(coming[0], c);
            if (here < p.width)
                mc_store_site(p, at, target + here * p.target.stride[3], site + here * p.site.stride[3], row, here,
                              (uint32_t)d2, (int32_t)keys::row(coming[0], c) - keys::MIDDLE,
                              mc_distance(p, (uint32_t)d2), &none);
        }
        move_up<1>(coming);
    }
    mc_raise(p, none);
}

/* A strip's results, the first column being x. */
template <bool SLOW, bool PAIRED>
DM_DEVICE void store_strip(const mc_stage &p, const tile &t, int32_t y, int32_t x, const uint32_t best[STRIP]) {
    const bool dense = (!p.target.data || (p.target.stride[3] == 4 && !p.squared && !p.in_unit)) &&
                       p.site.stride[3] == 4 && p.sites == MC_SITES_INT32 && p.most >= MC_SURE;
    if (dense)
        store_form<SLOW ? MC_VOLUME : MC_PLANE, PAIRED>(p, t, y, x, best);
    else if (!SLOW && !p.target.data && p.sites == MC_SITES_OFFSET)
        store_form<MC_OFFSETS, PAIRED>(p, t, y, x, best);
    else
        store_any<PAIRED>(p, t, y, x, best);
}

#endif
