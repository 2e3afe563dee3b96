/* Launches, and the scheduler of a block's threads. A thread runs until it waits; a barrier opens when all threads that
 * have not ended stand at it, a warp collective when the last lane of its mask arrives. When nobody can run and somebody
 * waits, the kernel is wrong. */
#include "device.h"
#include "fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { READY, AT_BARRIER, IN_COLLECTIVE, ENDED };

struct thread {
    fiber own;
    uint3 index;
    state now;
    bool napped;
    int predicate;    /* of the barrier */
    const char *what; /* the function that it waits in, and where that was called */
    emulation_site site;
    unsigned mask; /* of the collective, with the value given, and those received */
    uint64_t value, received[warpSize];
};

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

static thread threads[DEVICE_THREADS];
static thread *current; /* NULL outside of kernels */
static int thread_count, live, waiting;
static emulation_votes votes;
static unsigned in_collective[DEVICE_THREADS / warpSize]; /* a bit for each lane of each warp */
static const emulation_kernel *kernel;
static void *dynamic_shared;
static size_t dynamic_shared_bytes;

/* Where __shared__ variables lie; the linker sets both ends, or neither if there are none. */
extern char __start_emulation_shared[] __attribute__((weak));
extern char __stop_emulation_shared[] __attribute__((weak));

/* ---- Mistakes of kernels ---- */

static void print_thread(const thread *t) {
    fprintf(stderr, "  thread (%u, %u, %u) ", t->index.x, t->index.y, t->index.z);
    if (t->now == ENDED)
        fprintf(stderr, "has ended\n");
    else if (t->now == IN_COLLECTIVE)
        fprintf(stderr, "waits in %s, mask 0x%08x, at %s:%d\n", t->what, t->mask, t->site.file, t->site.line);
    else
        fprintf(stderr, "waits in %s at %s:%d\n", t->what, t->site.file, t->site.line);
}

static void __attribute__((noreturn)) stop(const char *rule) {
    fprintf(stderr, "emulation: launch %s, block (%u, %u, %u) of (%u, %u, %u) threads: %s\n", kernel->name, blockIdx.x,
            blockIdx.y, blockIdx.z, blockDim.x, blockDim.y, blockDim.z, rule);
    /* One line for each run of threads that are alike. */
    for (int i = 0; i < thread_count; i++) {
        const thread *t = threads + i, *before = t - 1;
        if (i == 0 || t->now != before->now ||
            (t->now != ENDED && (t->site.line != before->site.line || t->mask != before->mask)))
            print_thread(t);
    }
    abort();
}

void __trap(void) { stop("__trap"); }

/* ---- Waiting ---- */

static void leave(void) {
    fiber_leave();
    threadIdx = current->index;
}

static void wait_in(const char *what, state now, emulation_site site) {
    current->what = what;
    current->site = site;
    current->now = now;
}

emulation_votes emulation_barrier(int predicate, emulation_site site) {
    wait_in("__syncthreads", AT_BARRIER, site);
    current->mask = 0;
    current->predicate = predicate != 0;
    waiting++;
    leave();
    return votes;
}

/* All who live stand at the barrier. */
static void open_barrier(void) {
    const emulation_site *first = NULL;
    votes = {0, live};
    for (int i = 0; i < thread_count; i++) {
        thread *t = threads + i;
        if (t->now != AT_BARRIER)
            continue;
        first = first ? first : &t->site;
        if (t->site.line != first->line)
            stop("threads wait at different barriers");
        votes.count += t->predicate;
    }
    for (int i = 0; i < thread_count; i++)
        if (threads[i].now == AT_BARRIER)
            threads[i].now = READY;
    waiting = 0;
}

unsigned emulation_lane(void) { return (unsigned)(current - threads) % warpSize; }
static thread *warp_of(const thread *t) { return threads + (t - threads) / warpSize * warpSize; }

unsigned emulation_present(unsigned mask) {
    const int lanes = thread_count - (int)(warp_of(current) - threads);
    return lanes < warpSize ? mask & ((1u << lanes) - 1) : mask;
}
unsigned __activemask(void) {
    unsigned mask = 0;
    for (int lane = 0; lane < warpSize && warp_of(current) + lane < threads + thread_count; lane++)
        mask |= (unsigned)(warp_of(current)[lane].now != ENDED) << lane;
    return mask;
}

/* Whether all lanes of the current one's collective have come: those `here` wait in one. */
static bool complete(const thread *warp, unsigned here, unsigned present) {
    if ((here & present) != present)
        return false;
    for (int lane = 0; lane < warpSize; lane++)
        if (present >> lane & 1 && warp[lane].mask != current->mask)
            return false;
    for (int lane = 0; lane < warpSize; lane++) {
        const thread *t = warp + lane;
        if (!(present >> lane & 1) || (t->what == current->what && t->site.line == current->site.line))
            continue;
        /* __syncwarp may be called at different places, the others may not */
        if (strcmp(t->what, current->what) != 0 || strcmp(t->what, "__syncwarp") != 0)
            stop("lanes of one mask wait in different warp collectives");
    }
    return true;
}

const uint64_t *emulation_exchange(const char *what, unsigned mask, uint64_t value, emulation_site site) {
    thread *const warp = warp_of(current);
    const unsigned present = emulation_present(mask);
    wait_in(what, IN_COLLECTIVE, site);
    current->mask = mask;
    current->value = value;
    if (!(mask >> emulation_lane() & 1))
        stop("a thread calls a warp collective whose mask does not name it");
    unsigned *const here = &in_collective[(warp - threads) / warpSize];
    *here |= 1u << emulation_lane();
    if (!complete(warp, *here, present)) {
        leave(); /* until the last one comes */
        return current->received;
    }
    *here &= ~present;
    uint64_t values[warpSize];
    for (int lane = 0; lane < warpSize; lane++)
        values[lane] = present >> lane & 1 ? warp[lane].value : 0xa5a5a5a5a5a5a5a5u;
    for (int lane = 0; lane < warpSize; lane++)
        if (present >> lane & 1) {
            memcpy(warp[lane].received, values, sizeof values);
            warp[lane].now = READY;
        }
    return current->received;
}

void __nanosleep(unsigned) {
    current->napped = true;
    leave();
}

void *emulation_dynamic_shared(void) { return dynamic_shared; }

/* ---- Running a block ---- */

static void thread_main(void) {
    fiber_started();
    for (;;) { /* once per block */
        kernel->run(kernel->arguments);
        current->now = ENDED;
        live--;
        leave();
    }
}

/* Numbers 0 to n - 1 in a drawn order: first + i * step (mod n), step having no factor in common with n. */
struct order {
    uint64_t n, first, step;
};
static order draw_order(uint64_t n) {
    const uint32_t drawn = emulation_draw();
    order o = {n, drawn % n, 1};
    if (drawn) {
        uint64_t a, b;
        o.step = 1 + emulation_draw() % n;
        do { /* the next number that Euclid finds coprime */
            o.step++;
            for (a = n, b = o.step; b;) {
                const uint64_t rest = a % b;
                a = b;
                b = rest;
            }
        } while (a != 1);
    }
    return o;
}
static uint64_t at(const order &o, uint64_t i) {
    const uint64_t place = o.first + i * o.step; /* most n are powers of two, and divisions are slow */
    return o.n & (o.n - 1) ? place % o.n : place & (o.n - 1);
}

/* Runs a warp until none of its lanes can; returns whether any thread came further than a nap. */
static bool run_warp(thread *warp, int lanes) {
    bool any = false;
    for (bool again = true; again; any |= again) {
        const order o = draw_order(warpSize);
        again = false;
        for (int i = 0; i < warpSize; i++) {
            const int lane = (int)at(o, (uint64_t)i);
            if (lane >= lanes || warp[lane].now != READY)
                continue;
            current = warp + lane;
            current->napped = false;
            threadIdx = current->index;
            fiber_enter(&current->own);
            again |= !current->napped;
        }
    }
    return any;
}

static void run_block(void) {
    const int warps = (thread_count + warpSize - 1) / warpSize;
    int idle = 0;
    live = thread_count;
    waiting = 0;
    memset(in_collective, 0, sizeof in_collective);
    for (int i = 0; i < thread_count; i++) {
        threads[i].now = READY;
        threads[i].index = make_uint3((unsigned)i % blockDim.x, (unsigned)i / blockDim.x % blockDim.y,
                                      (unsigned)i / blockDim.x / blockDim.y);
    }
    const int garbage = 0xa5 ^ (int)(emulation_draw() & 255);
    memset(dynamic_shared, garbage, dynamic_shared_bytes);
    if (__start_emulation_shared)
        memset(__start_emulation_shared, garbage, (size_t)(__stop_emulation_shared - __start_emulation_shared));
    while (live > 0) {
        bool any = false;
        const order o = draw_order((uint64_t)warps);
        for (int i = 0; i < warps; i++) {
            const int first = (int)at(o, (uint64_t)i) * warpSize;
            any |= run_warp(threads + first, min(warpSize, thread_count - first));
        }
        if (live > 0 && waiting == live)
            open_barrier();
        else if (live > 0 && !any) {
            bool naps = false;
            for (int i = 0; i < thread_count; i++)
                naps |= threads[i].now == READY;
            if (!naps)
                stop("threads wait for others that never come");
            if (++idle > 100000)
                stop("threads sleep and nothing else happens");
        }
    }
    current = NULL;
}

static cudaError_t check(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    int device;
    const uint64_t count = (uint64_t)block.x * block.y * block.z;
    if (stream_check(stream, &device) != cudaSuccess || device != device_current())
        return cudaErrorInvalidResourceHandle;
    if (count == 0 || block.x > DEVICE_THREADS || block.y > DEVICE_THREADS || block.z > 64 || count > DEVICE_THREADS)
        return cudaErrorInvalidConfiguration;
    if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    return shared > function_shared(NULL) ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    const cudaError_t error = check(grid, block, shared, stream);
    if (error != cudaSuccess || device_launch_faults())
        return error;
    gridDim = grid;
    blockDim = block;
    thread_count = (int)(block.x * block.y * block.z);
    for (int i = 0; i < thread_count; i++)
        if (!threads[i].own.sp && !fiber_create(&threads[i].own, thread_main))
            return cudaErrorLaunchOutOfResources;
    dynamic_shared_bytes = shared;
    if (posix_memalign(&dynamic_shared, 16, shared) != 0)
        return cudaErrorLaunchOutOfResources;
    memory_open opened(device_current());
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    const order o = kernel->in_order ? order{blocks, 0, 1} : draw_order(blocks);
    for (uint64_t i = 0; i < o.n; i++) {
        const uint64_t number = at(o, i);
        blockIdx = make_uint3((unsigned)(number % grid.x), (unsigned)(number / grid.x % grid.y),
                              (unsigned)(number / grid.x / grid.y));
        run_block();
    }
    free(dynamic_shared);
    dynamic_shared = NULL;
    return cudaSuccess;
}

void emulation_launch_kernel(dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                             const emulation_kernel *launched) {
    device_lock lock(device_mutex);
    const cudaError_t ready = device_ready();
    kernel = launched;
    device_result(ready != cudaSuccess ? ready : launch(grid, block, shared, stream));
}
