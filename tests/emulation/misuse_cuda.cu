/* Wrong kernels must be found: each runs in a child process, which has to end by itself, saying what was wrong. And a
 * missing barrier must show as a wrong result under some order of threads. Only of the emulation. */
#include "check_cuda.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static __global__ void barrier_half(void) {
    if (threadIdx.x < 32 || threadIdx.x == 63)
        __syncthreads();
    else
        __ballot_sync(0xffffffffu, 1);
}
static __global__ void barrier_elsewhere(void) {
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads();
}
static __global__ void lane_ended(void) {
    if (threadIdx.x == 3)
        return;
    __shfl_sync(0xffffffffu, (int)threadIdx.x, 0);
}
static __global__ void lane_not_named(void) { __ballot_sync(0xfffffffeu, 1); }
static __global__ void lanes_elsewhere(void) {
    if (threadIdx.x < 16)
        __any_sync(0xffffffffu, 1);
    else
        __reduce_add_sync(0xffffffffu, 1u);
}
static __global__ void masks_differ(void) { __ballot_sync(threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u, 1); }
static __global__ void waits_forever(volatile int *flag) {
    while (*flag == 0)
        __nanosleep(100);
}
static __global__ void traps(void) { __trap(); }
static __global__ void overruns_dynamic(void) {
    DM_DYNAMIC_SHARED(int, buffer);
    buffer[blockDim.x + threadIdx.x] = 1;
}
static __global__ void overruns_global(int *p) { p[blockDim.x + threadIdx.x] = 1; }

static int *device_zero;

static void run_half(void) { DM_LAUNCH(barrier_half, 1, 64, 0, NULL); }
static void run_elsewhere(void) { DM_LAUNCH(barrier_elsewhere, 1, 64, 0, NULL); }
static void run_ended(void) { DM_LAUNCH(lane_ended, 1, 64, 0, NULL); }
static void run_not_named(void) { DM_LAUNCH(lane_not_named, 1, 32, 0, NULL); }
static void run_lanes_elsewhere(void) { DM_LAUNCH(lanes_elsewhere, 1, 32, 0, NULL); }
static void run_masks_differ(void) { DM_LAUNCH(masks_differ, 1, 32, 0, NULL); }
static void run_forever(void) { DM_LAUNCH(waits_forever, 1, 32, 0, NULL, device_zero); }
static void run_trap(void) { DM_LAUNCH(traps, 1, 1, 0, NULL); }
static void run_dynamic(void) { DM_LAUNCH(overruns_dynamic, 1, 32, 32 * sizeof(int), NULL); }
static void run_global(void) { DM_LAUNCH(overruns_global, 1, 1, 0, NULL, device_zero); }
static void run_host(void) { *(volatile int *)device_zero = 1; }

static const struct {
    void (*run)(void);
    const char *says;
    bool asan; /* found by the address sanitizer alone */
} misuses[] = {
    {run_half, "launch [=] { barrier_half(); }, block (0, 0, 0) of (64, 1, 1) threads: threads wait for others", false},
    {run_elsewhere, "threads wait at different barriers", false},
    {run_ended, "thread (3, 0, 0) has ended", false},
    {run_not_named, "does not name it", false},
    {run_lanes_elsewhere, "wait in different warp collectives", false},
    {run_masks_differ, "masks_differ", false},
    {run_forever, "threads sleep and nothing else happens", false},
    {run_trap, "__trap", false},
    {run_dynamic, "heap-buffer-overflow", true},
    {run_global, "heap-buffer-overflow", true},
    {run_host, "use-after-poison", true},
};

static void check_misuse(size_t row) {
    int ends[2], status = 0;
    char text[4096];
    size_t length = 0;
    if (pipe(ends) != 0)
        abort();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        misuses[row].run();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    CHECK(status != 0, "misuse %zu was not found", row);
    CHECK(strstr(text, misuses[row].says), "misuse %zu should say \"%s\", says: %s", row, misuses[row].says, text);
}

/* ---- A reversal within a block that lacks its barrier ---- */

static __global__ void reverse(int *out, bool wait) {
    __shared__ int numbers[64];
    numbers[threadIdx.x] = (int)(threadIdx.x + 1000 * blockIdx.x);
    if (wait)
        __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = numbers[63 - threadIdx.x];
}

static int wrong_results(bool wait) {
    enum { N = 5 * 64 };
    static int out[N];
    int *device = check_to_device(out, N), wrong = 0;
    DM_LAUNCH(reverse, 5, 64, 0, NULL, device, wait);
    check_to_host(out, device, N);
    CUDA(cudaFree(device));
    for (int i = 0; i < N; i++)
        wrong += out[i] != 63 - i % 64 + 1000 * (i / 64);
    return wrong;
}

int main(void) {
    check_begin();
    const int zero = 0;
    device_zero = check_to_device(&zero, 1);
#ifdef EMULATION_ASAN
    const bool asan = true;
#else
    const bool asan = false;
#endif
    for (size_t row = 0; row < sizeof misuses / sizeof *misuses; row++)
        if (asan || !misuses[row].asan)
            check_misuse(row);
    CHECK(wrong_results(true) == 0, "with its barrier the reversal is right");
    CHECK(wrong_results(false) > 0, "the missing barrier was not seen");
    setenv("DISTMAP_EMULATION_SEED", "0", 1);
    CHECK(wrong_results(false) > 0, "the missing barrier was not seen in ascending order");
    CUDA(cudaFree(device_zero));
    return check_end();
}
