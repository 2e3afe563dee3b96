/* Sites as bits, for kernels that pack rows: 16 elements at a time, from memory in one piece where rows allow it. */
#ifndef DISTMAP_CUDA_SITES_CUH
#define DISTMAP_CUDA_SITES_CUH

#include "cuda/elements.cuh"

/* 8 bytes -> 8 bits, 1 where the byte is zero, times 128. */
DM_DEVICE uint32_t dm_zero_bytes(uint32_t low, uint32_t high) {
    const uint32_t some_low = ((low & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | low; /* bit 7 of a byte: it is not zero */
    const uint32_t some_high = ((high & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | high;
    return __dp4a(~some_high & 0x80808080u, 0x80402010u, __dp4a(~some_low & 0x80808080u, 0x08040201u, 0u));
}

/* Sites among the 16 elements at `from` as bits; see dm_sites_are_plain. */
DM_DEVICE uint32_t dm_sixteen_plain(const dm_elements *e, const char *from) {
    const uint4 v = __ldcs((const uint4 *)from);
    const uint32_t zeros = dm_zero_bytes(v.x, v.y) >> 7 | dm_zero_bytes(v.z, v.w) << 1;
    return e->sites.flip ? ~zeros & 0xFFFF : zeros;
}

/* Sites among 16 elements from x on, x a multiple of 16, as bits. `plain`: see dm_sites_are_plain. Changes at[DM_X]. */
DM_DEVICE uint32_t dm_sixteen_sites(const dm_elements *e, bool plain, int64_t at[DM_NDIM], int64_t x, int64_t width,
                                    unsigned *raised) {
    if (plain && x + 16 <= width) {
        at[DM_X] = x;
        return dm_sixteen_plain(e, dm_element_address(&e->arrays.input, at));
    }
    uint32_t bits = 0;
    for (int i = 0; i < 16 && x + i < width; i++) {
        at[DM_X] = x + i;
        bits |= (uint32_t)dm_element_is_site(e, at, raised) << i;
    }
    return bits;
}

/* Whether rows may be read 16 bytes at a time: bytes side by side, rows at multiples of 16, the sites being the zeros, or
 * all others. */
static inline bool dm_sites_are_plain(const dm_elements *e) {
    const dm_array *input = &e->arrays.input;
    const bool bytes = input->dtype == DISTMAP_BOOL || input->dtype == DISTMAP_UINT8 || input->dtype == DISTMAP_INT8;
    if (!bytes || e->sites.empty || e->sites.first != 0 || e->sites.span != 0 || (uintptr_t)input->data % 16)
        return false;
    for (int a = 0; a < DM_X; a++)
        if (e->shape[a] > 1 && input->stride[a] % 16)
            return false;
    return input->stride[DM_X] == 1 || e->shape[DM_X] == 1;
}

/* The same, and rows are whole sixteens. */
static inline bool dm_rows_are_plain(const dm_elements *e) { return dm_sites_are_plain(e) && e->shape[DM_X] % 16 == 0; }

#endif
