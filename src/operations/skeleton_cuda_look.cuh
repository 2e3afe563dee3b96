/* skeleton/cuda: what a warp makes of a step's indices: every element's offset from its site, and which pairs of neighbours may be
 * on the skeleton. */
#ifndef DISTMAP_OPERATIONS_SKELETON_CUDA_LOOK_CUH
#define DISTMAP_OPERATIONS_SKELETON_CUDA_LOOK_CUH

#include "operations/skeleton_cuda_brick.cuh"

static constexpr unsigned ALL = ~0u; /* lanes */

/* ---- Indices ---- */

/* The first element of the step's plane, counted from the first plane's. */
template <int AXES, typename T> DM_DEVICE T plane_of(const sk_work &w, const brick<AXES, T> &b, int step) {
    if constexpr (AXES == 3)
        return between(b.first[0] + step, (T)w.rule.length[0] - 1) * (T)w.linear[0];
    return 0;
}

template <int AXES, typename T>
DM_DEVICE void read_rows(const sk_work &w, const brick<AXES, T> &b, const part<AXES, T> &p, int step,
                         T index[held<AXES>()]) {
    const T plane = plane_of<AXES, T>(w, b, step);
#pragma unroll
    for (int row = 0; row < held<AXES>(); row++)
        index[row] = ((const T *)w.index)[p.element[row] + plane];
}

/* Whether all that the warp has of a step are sites. */
template <int AXES, typename T>
DM_DEVICE bool is_background(const sk_work &w, const brick<AXES, T> &b, const part<AXES, T> &p, int step,
                             const T index[held<AXES>()]) {
    const T plane = plane_of<AXES, T>(w, b, step);
    bool is = true;
#pragma unroll
    for (int row = 0; row < held<AXES>(); row++)
        is = is && index[row] == p.element[row] + plane;
    return __all_sync(ALL, is);
}

/* ---- Offsets ---- */

/* A whole number of up to 2^22 either way: added to 1.5 2^23 it is that float's last bits. */
DM_DEVICE float whole(int i) { return __int_as_float((int)(0x4B400000u + (unsigned)i)) - 12582912.0f; }

/* Rare, and long. */
static __device__ __attribute__((noinline)) sk_point leave_far(const sk_rule *r, sk_point e) {
    sk_leave(r, &e);
    return e;
}

/* The site of an element that is nearest to the border. */
template <int AXES, typename T> DM_DEVICE void leave(const sk_work &w, const T at[AXES], T site[AXES]) {
    sk_point e = {};
#pragma unroll
    for (int k = 0; k < AXES; k++)
        e.at[k] = at[k];
    e = leave_far(&w.rule, e);
#pragma unroll
    for (int k = 0; k < AXES; k++)
        site[k] = (T)e.site[k];
}

/* With a border: elements outside are sites. */
template <int AXES, typename T> DM_DEVICE void heed_border(const sk_work &w, const T at[AXES], T index, T site[AXES]) {
    if (!is_inside<AXES, T>(w, at)) {
#pragma unroll
        for (int k = 0; k < AXES; k++)
            site[k] = at[k];
    } else if (index == DISTMAP_INDEX_BORDER) {
        leave<AXES, T>(w, at, site);
    }
}

/* Beyond 2^22, where filters are not, they are not looked at. PLAIN: w.plain. */
template <int AXES, typename T, bool PLAIN>
DM_DEVICE void find_offsets(const sk_work &w, const brick<AXES, T> &b, int step, const T index[held<AXES>()],
                            float offset[held<AXES>()][AXES]) {
#pragma unroll
    for (int row = 0; row < held<AXES>(); row++) {
        const T element = index[row] - b.base;
        T at[AXES], site[AXES];
        find_place<AXES, T>(b, step, row, threadIdx.x % LANES, at);
        split<AXES, T, PLAIN>(w, element < 0 ? 0 : element, site); /* without any site all have the same */
        if (!PLAIN && w.rule.border)
            heed_border<AXES, T>(w, at, index[row], site);
#pragma unroll
        for (int k = 0; k < AXES; k++)
            offset[row][k] = whole((int)(at[k] - site[k]));
    }
}

/* ---- Pairs ---- */

/* Whether sk_judge may say that e and the next element along axis k are marked because of each other. Squares in units of h^2. The
 * square root's rule is about |u|^2 - 2 <q - e, p' - q'> = |u|^2 + 2 <g, u> = |v|^2 - |g|^2. */
template <int AXES, bool EQUAL, bool ROOT>
DM_DEVICE bool may_mark(const sk_work &w, const float e[AXES], const float q[AXES], int k) {
    float apart = 0, d = 0, ss = 0;
#pragma unroll
    for (int i = 0; i < AXES; i++) {
        const float u = q[i] - e[i] - (!ROOT && i == k ? 1.0f : 0.0f), s = q[i] + e[i];
        apart += fabsf(u);
        d = fmaf(EQUAL ? u : w.w2[i] * u, u, d);
        ss = fmaf(EQUAL ? s : w.w2[i] * s, s, ss);
    }
    /* Said by what it is not, so that overflows pass as well. */
    if (ROOT) {
        const float rest = fmaf(d, 1 + (float)SK_SLACK, -w.less[k]);
        return !(rest < 0) && !(rest * rest < ss);
    }
    d *= 1 + (float)SK_SLACK;
    return apart > 1 && !(d < w.least) && !(d < w.gamma2 * ss);
}

/* All pairs of a step, and, in volumes, of the plane before with it. */
template <int AXES, bool EQUAL, bool ROOT>
DM_DEVICE unsigned look(const sk_work &w, const float before[rows<AXES>()][AXES],
                        const float offset[held<AXES>()][AXES]) {
    constexpr int ROWS = rows<AXES>();
    unsigned passed = 0;
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        float right[AXES];
#pragma unroll
        for (int i = 0; i < AXES; i++)
            right[i] = __shfl_down_sync(ALL, offset[row][i], 1);
        passed |= (unsigned)may_mark<AXES, EQUAL, ROOT>(w, offset[row], right, AXES - 1) << ((AXES - 1) * ROWS + row);
        if constexpr (AXES >= 2)
            passed |= (unsigned)may_mark<AXES, EQUAL, ROOT>(w, offset[row], offset[row + 1], AXES - 2)
                      << ((AXES - 2) * ROWS + row);
        if constexpr (AXES == 3)
            passed |= (unsigned)may_mark<AXES, EQUAL, ROOT>(w, before[row], offset[row], 0) << row;
    }
    return passed;
}

#endif
