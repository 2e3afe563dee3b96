/* Blocks and warps: barriers, votes, shuffles, reductions, atomics, shared memory, each against a loop on the host. Also to
 * be run on a GPU: nvcc -arch=sm_90 tests/emulation/block_cuda.cu. */
#include "check_cuda.h"

enum { MOST = 1024, BLOCKS = 37 };

/* ---- An inclusive scan of each block's numbers, with a barrier on either side of every step ---- */

static __global__ void __launch_bounds__(MOST) block_scan(const unsigned *in, unsigned *out) {
    __shared__ unsigned sums[MOST];
    const unsigned t = threadIdx.x, base = blockIdx.x * blockDim.x;
    sums[t] = in[base + t];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        const unsigned before = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    out[base + t] = sums[t];
}

/* The same by shuffles in warps; the warps' sums lie in dynamic shared memory. */
static __global__ void __launch_bounds__(MOST) warp_scan(const unsigned *in, unsigned *out) {
    DM_DYNAMIC_SHARED(unsigned, sums);
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = in[i];
    for (int step = 1; step < 32; step *= 2) {
        const unsigned before = __shfl_up_sync(0xffffffffu, sum, step);
        sum += lane >= (unsigned)step ? before : 0;
    }
    if (lane == 31 || threadIdx.x == blockDim.x - 1)
        sums[warp] = sum;
    __syncthreads();
    for (unsigned w = 0; w < warp; w++)
        sum += sums[w];
    out[i] = sum;
}

static void check_scans(unsigned threads) {
    const size_t count = (size_t)threads * BLOCKS;
    unsigned *in = (unsigned *)malloc(count * 4), *out = (unsigned *)malloc(count * 4);
    for (size_t i = 0; i < count; i++)
        in[i] = check_draw();
    unsigned *device_in = check_to_device(in, count), *device_out = check_to_device(in, count);
    for (int form = 0; form < 2; form++) {
        CUDA(cudaMemset(device_out, 0, count * 4));
        if (form == 0)
            DM_LAUNCH(block_scan, BLOCKS, threads, 0, NULL, device_in, device_out);
        else
            DM_LAUNCH(warp_scan, BLOCKS, threads, (threads + 31) / 32 * sizeof(unsigned), NULL, device_in, device_out);
        check_to_host(out, device_out, count);
        unsigned sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum = (i % threads ? sum : 0) + in[i];
            CHECK(out[i] == sum, "form %d, %u threads, element %zu: %u, not %u", form, threads, i, out[i], sum);
        }
    }
    CUDA(cudaFree(device_in));
    CUDA(cudaFree(device_out));
    free(in);
    free(out);
}

/* ---- What each lane gets from each collective ---- */

enum { RESULTS = 22 };

static __global__ void collectives(const unsigned *in, unsigned long long *out) {
    const unsigned t = threadIdx.x, lane = t % 32, all = 0xffffffffu, even = 0x55555555u;
    const unsigned x = in[t];
    unsigned long long r[RESULTS];
    r[0] = __ballot_sync(all, x & 1);
    r[1] = __any_sync(all, x % 64 == 0);
    r[2] = __all_sync(all, x % 64 != 0);
    r[3] = __shfl_sync(all, x, lane * 5 + 3, 4);
    r[4] = __shfl_up_sync(all, x, 3, 16);
    r[5] = __shfl_down_sync(all, x, 2, 8);
    r[6] = __shfl_xor_sync(all, x, 5, 8);
    r[7] = __shfl_xor_sync(all, x, 12, 8);
    r[8] = __shfl_sync(all, ((unsigned long long)x << 32) + t, 7);
    r[9] = (unsigned long long)__double_as_longlong(__shfl_down_sync(all, (double)x, 1));
    r[10] = __match_any_sync(all, x % 8);
    r[11] = __reduce_add_sync(all, x);
    r[12] = __reduce_min_sync(all, x);
    r[13] = __reduce_max_sync(all, x);
    r[14] = (unsigned)__reduce_min_sync(all, (int)x);
    r[15] = (unsigned)__reduce_max_sync(all, (int)x);
    r[16] = __reduce_and_sync(all, x | 0xff);
    r[17] = __reduce_or_sync(all, x & 0xff00);
    r[18] = 0;
    if (lane % 2 == 0) /* half of the lanes */
        r[18] = __ballot_sync(even, x & 1) + ((unsigned long long)__reduce_add_sync(even, x) << 32);
    __syncwarp();
    r[19] = (unsigned)__syncthreads_count(x % 3 == 0);
    r[20] = __syncthreads_or(x == in[5]) != 0;
    r[21] = __syncthreads_and(x != in[5]) != 0;
    for (int k = 0; k < RESULTS; k++)
        out[t * RESULTS + k] = r[k];
}

static void check_collectives(void) {
    enum { THREADS = 96 };
    unsigned in[THREADS];
    unsigned long long out[THREADS * RESULTS];
    memset(out, 0, sizeof out);
    for (int i = 0; i < THREADS; i++)
        in[i] = check_draw();
    unsigned *device_in = check_to_device(in, THREADS);
    unsigned long long *device_out = check_to_device(out, THREADS * RESULTS);
    DM_LAUNCH(collectives, 1, THREADS, 0, NULL, device_in, device_out);
    check_to_host(out, device_out, THREADS * RESULTS);
    int thirds = 0;
    for (int i = 0; i < THREADS; i++)
        thirds += in[i] % 3 == 0;
    for (int t = 0; t < THREADS; t++) {
        const int lane = t % 32;
        const unsigned *w = in + t - lane;
        unsigned long long want[RESULTS] = {0};
        unsigned sum = 0, even_sum = 0, even_votes = 0, least = ~0u, most = 0, every = ~0u, some = 0;
        int least_signed = 0x7fffffff, most_signed = -0x7fffffff - 1;
        want[2] = 1;
        for (int k = 0; k < 32; k++) {
            want[0] |= (unsigned long long)(w[k] & 1) << k;
            want[1] |= w[k] % 64 == 0;
            want[2] &= w[k] % 64 != 0;
            want[10] |= (unsigned long long)(w[k] % 8 == w[lane] % 8) << k;
            sum += w[k];
            even_sum += k % 2 ? 0 : w[k];
            even_votes |= k % 2 ? 0 : (w[k] & 1) << k;
            least = w[k] < least ? w[k] : least;
            most = w[k] > most ? w[k] : most;
            least_signed = (int)w[k] < least_signed ? (int)w[k] : least_signed;
            most_signed = (int)w[k] > most_signed ? (int)w[k] : most_signed;
            every &= w[k] | 0xff;
            some |= w[k] & 0xff00;
        }
        const double next = w[lane < 31 ? lane + 1 : lane];
        want[3] = w[lane / 4 * 4 + (lane * 5 + 3) % 4];
        want[4] = w[lane % 16 >= 3 ? lane - 3 : lane];
        want[5] = w[lane % 8 < 6 ? lane + 2 : lane];
        want[6] = w[lane ^ 5];
        want[7] = w[(lane ^ 12) / 8 > lane / 8 ? lane : lane ^ 12]; /* only groups before its own are in reach */
        want[8] = ((unsigned long long)w[7] << 32) + (unsigned)(t - lane + 7);
        memcpy(&want[9], &next, 8);
        want[11] = sum, want[12] = least, want[13] = most;
        want[14] = (unsigned)least_signed, want[15] = (unsigned)most_signed, want[16] = every, want[17] = some;
        want[18] = lane % 2 ? 0 : even_votes + ((unsigned long long)even_sum << 32);
        want[19] = (unsigned)thirds, want[20] = 1, want[21] = 0;
        for (int k = 0; k < RESULTS; k++)
            CHECK(out[t * RESULTS + k] == want[k], "thread %d, result %d: %llx, not %llx", t, k, out[t * RESULTS + k],
                  want[k]);
    }
    CUDA(cudaFree(device_in));
    CUDA(cudaFree(device_out));
}

/* ---- Atomics: a histogram in shared memory, then in global; all kinds; a ticket for the last block ---- */

enum { BINS = 61 };

static __global__ void histogram(const unsigned *in, unsigned n, unsigned *bins, unsigned *ticket, unsigned *last_sum) {
    __shared__ unsigned own[BINS];
    __shared__ bool last;
    for (unsigned k = threadIdx.x; k < BINS; k += blockDim.x)
        own[k] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i] % BINS], 1u);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < BINS; k += blockDim.x)
        atomicAdd(&bins[k], own[k]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last)
        for (unsigned k = threadIdx.x; k < BINS; k += blockDim.x)
            atomicAdd(last_sum, bins[k]);
}

static __global__ void atomics(unsigned *u, int *s, unsigned long long *l) {
    const unsigned t = threadIdx.x;
    atomicMin(&u[0], t + 7);
    atomicMax(&u[1], t);
    atomicOr(&u[2], 1u << t % 32);
    atomicAnd(&u[3], ~(1u << t % 32));
    atomicXor(&u[4], t);
    atomicCAS(&u[5], t == 9 ? 0u : 1000u, 5u);
    atomicMin(&s[0], -(int)t);
    atomicMax(&s[1], (int)t - 50);
    atomicAdd(&s[2], -1);
    atomicMin(&l[0], (1ull << 40) + t);
    atomicMax(&l[1], (unsigned long long)t << 33);
    atomicAdd(&l[2], 1ull << 32);
    atomicCAS(&l[3], 0ull, ~0ull);
}

static void check_atomics(void) {
    enum { N = 10000 };
    static unsigned in[N];
    unsigned zero[BINS + 2] = {0}, want[BINS] = {0}, got[BINS + 2];
    for (int i = 0; i < N; i++) {
        in[i] = check_draw();
        want[in[i] % BINS]++;
    }
    unsigned *device_in = check_to_device(in, N), *bins = check_to_device(zero, BINS + 2);
    DM_LAUNCH(histogram, 13, 96, 0, NULL, device_in, N, bins, bins + BINS, bins + BINS + 1);
    check_to_host(got, bins, BINS + 2);
    for (int k = 0; k < BINS; k++)
        CHECK(got[k] == want[k], "bin %d: %u, not %u", k, got[k], want[k]);
    CHECK(got[BINS + 1] == N, "the last block saw %u", got[BINS + 1]);
    CUDA(cudaFree(device_in));
    CUDA(cudaFree(bins));

    unsigned u[6] = {~0u, 0, 0, ~0u, 0, 0};
    int s[3] = {0, -1000, 5};
    unsigned long long l[4] = {~0ull, 0, 0, 0};
    unsigned *device_u = check_to_device(u, 6);
    int *device_s = check_to_device(s, 3);
    unsigned long long *device_l = check_to_device(l, 4);
    DM_LAUNCH(atomics, 1, 64, 0, NULL, device_u, device_s, device_l);
    check_to_host(u, device_u, 6);
    check_to_host(s, device_s, 3);
    check_to_host(l, device_l, 4);
    CHECK(u[0] == 7 && u[1] == 63 && u[2] == ~0u && u[3] == 0 && u[4] == 0 && u[5] == 5, "unsigned atomics");
    CHECK(s[0] == -63 && s[1] == 13 && s[2] == -59, "int atomics: %d %d %d", s[0], s[1], s[2]);
    CHECK(l[0] == 1ull << 40 && l[1] == 63ull << 33 && l[2] == 64ull << 32 && l[3] == ~0ull, "64-bit atomics");
    CUDA(cudaFree(device_u));
    CUDA(cudaFree(device_s));
    CUDA(cudaFree(device_l));
}

/* ---- Shape: every thread of a 3-D grid of 3-D blocks once ---- */

static __global__ void mark(unsigned *counts) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    counts[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] += 1;
}

static void check_shape(void) {
    enum { N = 3 * 4 * 5 * 6 * 7 * 2 };
    static unsigned counts[N];
    memset(counts, 0, sizeof counts);
    unsigned *device = check_to_device(counts, N);
    DM_LAUNCH(mark, dim3(3, 4, 5), dim3(6, 7, 2), 0, NULL, device);
    check_to_host(counts, device, N);
    for (int i = 0; i < N; i++)
        CHECK(counts[i] == 1, "element %d was met %u times", i, counts[i]);
    CUDA(cudaFree(device));
}

int main(void) {
    check_begin();
    const unsigned sizes[] = {1, 31, 32, 33, 100, 256, 1000, MOST};
    for (unsigned threads : sizes)
        check_scans(threads);
    check_collectives();
    check_atomics();
    check_shape();
    return check_end();
}
