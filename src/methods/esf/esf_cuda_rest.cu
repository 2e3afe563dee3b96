/* esf/cuda, the state at rest: the parts of a cycle, a thread to an element: for volumes, for lines, and for over-
 * relaxation. esf_rest.c says what they compute. Blocks have 128 elements of a row; each kernel says what it reads and
 * writes. */
#include "methods/esf/esf_cuda_rest.cuh"

enum { THREADS = 128 };

/* A thread's element. */
struct place {
    int64_t batch, z, y, x, at; /* at: in field memory */
    bool inside;
};

DM_DEVICE place
place_of(const ec_level &l) { /* blocks are counted in 32 bits, whose divisions are several times faster */
    const uint32_t across = (uint32_t)((l.nx + THREADS - 1) / THREADS), row = blockIdx.x / across;
    const uint32_t plane = row / (uint32_t)l.ny, batch = plane / (uint32_t)l.nz;
    place p;
    p.x = (int64_t)(blockIdx.x - row * across) * THREADS + threadIdx.x;
    p.at = row * l.pitch + p.x;
    p.y = row - plane * (uint32_t)l.ny;
    p.z = plane - batch * (uint32_t)l.nz;
    p.batch = batch;
    p.inside = p.x < l.nx;
    return p;
}

static unsigned blocks_of(const ec_level *l) {
    return (unsigned)(l->batches * l->nz * l->ny * ((l->nx + THREADS - 1) / THREADS));
}

/* The neighbours' sum less v for each, and how many there are. */
DM_DEVICE float differences(const ec_level &l, const place &p, const float *v, int *degree) {
    const float mid = v[p.at];
    const bool left = p.x > 0, right = p.x + 1 < l.nx;
    float sum = ((left ? v[p.at - 1] : mid) - mid) + ((right ? v[p.at + 1] : mid) - mid);
    *degree = left + right;
    if (l.axes > 1) {
        const bool up = p.y > 0, down = p.y + 1 < l.ny;
        sum = (((up ? v[p.at - l.pitch] : mid) - mid) + ((down ? v[p.at + l.pitch] : mid) - mid)) + sum;
        *degree += up + down;
    }
    if (l.axes > 2) {
        const bool back = p.z > 0, front = p.z + 1 < l.nz;
        const int64_t plane = l.ny * l.pitch;
        sum = sum + (((back ? v[p.at - plane] : mid) - mid) + ((front ? v[p.at + plane] : mid) - mid));
        *degree += back + front;
    }
    return sum;
}

DM_DEVICE float remains(const ec_level &l, const place &p, const float *v, int *degree) {
    const float sum = differences(l, p, v, degree), mid = v[p.at];
    if (!l.d)
        return mid == 1 ? 0 : sum - l.decay * mid;
    return (sum - l.d[p.at] * mid) - l.f[p.at];
}

/* Reads 4 bytes per element, on coarser levels 12; writes 2. */
static __global__ void __launch_bounds__(THREADS)
    relax(const __grid_constant__ ec_level l, int colour, float omega, ec_stop stop) {
    const place p = place_of(l);
    const int64_t parity = l.axes > 1 ? p.x + p.y + p.z : p.x;
    if (!p.inside || ((parity + colour) & 1) || ec_stopped(stop))
        return;
    float *v = l.v[0];
    int degree;
    const float r = remains(l, p, v, &degree), mid = v[p.at];
    if (l.d)
        v[p.at] = mid + r / ((float)degree + l.d[p.at]);
    else if (mid != 1)
        v[p.at] = ec_held(mid + omega * (r / ((float)degree + l.decay)));
}

/* Reads 4 bytes per element, on coarser levels 12; writes 4, or none. */
static __global__ void __launch_bounds__(THREADS)
    residual(const __grid_constant__ ec_level l, unsigned *largest, ec_stop stop) {
    if (ec_stopped(stop))
        return;
    const place p = place_of(l);
    int degree;
    const float r = p.inside ? remains(l, p, l.v[0], &degree) : 0;
    if (p.inside && l.v[1])
        l.v[1][p.at] = r;
    if (largest)
        ec_largest(fabsf(r), largest);
}

/* The next level's elements: what `from` is worth there, times scale. Reads 4 bytes per element of this level, several
 * times. */
DM_DEVICE float gathered(const ec_level &l, const place &cell, const float *from, float scale) {
    const ec_parts z = ec_parts_of(cell.z, l.nz, l.halve_z), y = ec_parts_of(cell.y, l.ny, l.halve_y),
                   x = ec_parts_of(cell.x, l.nx, l.halve_x);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (z.weight[k] == 0 || y.weight[j] == 0)
                continue;
            const float *row = from + ((cell.batch * l.nz + z.first + k) * l.ny + y.first + j) * l.pitch + x.first;
            float along = 0;
#pragma unroll
            for (int i = 0; i < 4; i++)
                along += x.weight[i] != 0 ? x.weight[i] * row[i] : 0;
            sum += z.weight[k] * y.weight[j] * along;
        }
    return scale * sum;
}

static __global__ void __launch_bounds__(THREADS)
    gather(const __grid_constant__ ec_level l, const __grid_constant__ ec_level next, float *to, float scale,
           ec_stop stop) {
    const place cell = place_of(next);
    if (cell.inside && !ec_stopped(stop))
        to[cell.at] = gathered(l, cell, l.v[1], scale);
}

/* Reads 4 bytes per element, writes 4. */
static __global__ void __launch_bounds__(THREADS) pins(const __grid_constant__ ec_level l) {
    const place p = place_of(l);
    if (!p.inside)
        return;
    const float *v = l.v[0];
    float q = l.d ? l.d[p.at] : l.decay;
    if (!l.d) {
        q += (float)((p.x > 0 && v[p.at - 1] == 1) + (p.x + 1 < l.nx && v[p.at + 1] == 1));
        if (l.axes > 1)
            q += (float)((p.y > 0 && v[p.at - l.pitch] == 1) + (p.y + 1 < l.ny && v[p.at + l.pitch] == 1));
        if (l.axes > 2)
            q +=
                (float)((p.z > 0 && v[p.at - l.ny * l.pitch] == 1) + (p.z + 1 < l.nz && v[p.at + l.ny * l.pitch] == 1));
        q = v[p.at] == 1 ? 0 : q;
    }
    l.v[1][p.at] = q / (1 + EC_SOFTNESS * q);
}

/* Reads 4 bytes per element, and of the next level's several times; writes 4. */
static __global__ void __launch_bounds__(THREADS)
    finer(const __grid_constant__ ec_level l, const __grid_constant__ ec_level next, ec_stop stop) {
    const place p = place_of(l);
    if (!p.inside || ec_stopped(stop))
        return;
    const ec_pair z = ec_pair_of(p.z, l.nz, l.halve_z), y = ec_pair_of(p.y, l.ny, l.halve_y),
                  x = ec_pair_of(p.x, l.nx, l.halve_x);
    const float *e = next.v[0] + p.batch * next.nz * next.ny * next.pitch;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const float *row = e + (z.at[k] * next.ny + y.at[j]) * next.pitch;
            sum += z.weight[k] * y.weight[j] * (x.weight[0] * row[x.at[0]] + x.weight[1] * row[x.at[1]]);
        }
    const float v = l.v[0][p.at];
    l.v[0][p.at] = l.d ? v + sum : v == 1 ? 1 : ec_held(v + sum);
}

/* One thread. */
static __global__ void judge(const unsigned *largest, int64_t count, int64_t first, int64_t each, unsigned tolerance,
                             dm_outcome *outcome) {
    int64_t look = 0;
    while (look < count - 1 && largest[look] > tolerance)
        look++;
    outcome->iterations = first + look * each;
    outcome->residual = (double)__uint_as_float(largest[look]);
    if (largest[look] > tolerance)
        outcome->flags |= DISTMAP_FLAG_UNREST;
}

/* ---- Launches ---- */

cudaError_t ec_relax(const ec_level *level, int colour, float omega, ec_stop stop, cudaStream_t stream) {
    const ec_level l = *level;
    DM_LAUNCH(relax, blocks_of(level), THREADS, 0, stream, l, colour, omega, stop);
    return cudaGetLastError();
}

cudaError_t ec_residual(const ec_level *level, unsigned *largest, ec_stop stop, cudaStream_t stream) {
    const ec_level l = *level;
    DM_LAUNCH(residual, blocks_of(level), THREADS, 0, stream, l, largest, stop);
    return cudaGetLastError();
}

cudaError_t ec_coarser(const ec_level *level, const ec_level *coarse, ec_stop stop, cudaStream_t stream) {
    const ec_level l = *level, next = *coarse;
    DM_LAUNCH(gather, blocks_of(coarse), THREADS, 0, stream, l, next, next.f, -ec_edge_scale(level), stop);
    return cudaGetLastError();
}

cudaError_t ec_pins(const ec_level *level, const ec_level *coarse, cudaStream_t stream) {
    const ec_level l = *level, next = *coarse;
    const ec_stop never = {NULL, 0};
    DM_LAUNCH(pins, blocks_of(level), THREADS, 0, stream, l);
    DM_LAUNCH(gather, blocks_of(coarse), THREADS, 0, stream, l, next, next.d, ec_edge_scale(level), never);
    return cudaGetLastError();
}

cudaError_t ec_finer(const ec_level *level, const ec_level *coarse, ec_stop stop, cudaStream_t stream) {
    const ec_level l = *level, next = *coarse;
    DM_LAUNCH(finer, blocks_of(level), THREADS, 0, stream, l, next, stop);
    return cudaGetLastError();
}

cudaError_t ec_judge(const unsigned *largest, int64_t count, int64_t first, int64_t each, unsigned tolerance,
                     dm_outcome *outcome, cudaStream_t stream) {
    DM_LAUNCH(judge, 1, 1, 0, stream, largest, count, first, each, tolerance, outcome);
    return cudaGetLastError();
}
