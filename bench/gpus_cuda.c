/* distmap_gpus DEPTH HEIGHT WIDTH [ROUNDS]: what several GPUs gain, with slabs in their memories.
 *
 * First the bits: a volume of odd sides from host memory to host memory, distances and indices, by several GPUs and by one. Then
 * for 1, 2, 4, ... GPUs, as many as there are, float32 distances of volumes of uint8, random and balls: rounds from the call to
 * the end on all GPUs, by the host's clock, of which the median counts. Some planes of the result are compared with one GPU's.
 * Needs 9 1/4 bytes of GPU memory per voxel in all, and 64 planes of the host's.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <distmap.h>

enum { MOST_GPUS = 16, MOST_ROUNDS = 100, PERIOD = 64 /* planes, after which the volume comes again */, LOOKS = 5 };

#define CHECK(call)                                                                 \
    do {                                                                            \
        if (call) {                                                                 \
            fprintf(stderr, "distmap_gpus: %s: %s\n", #call, distmap_error_text()); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)
#define CUDA(call)                                                                       \
    do {                                                                                 \
        const cudaError_t error = (call);                                                \
        if (error != cudaSuccess) {                                                      \
            fprintf(stderr, "distmap_gpus: %s: %s\n", #call, cudaGetErrorString(error)); \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static distmap_context *open_gpus(int count) {
    static const int numbers[MOST_GPUS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    distmap_context_options options = {.device = DISTMAP_DEVICE_CUDA};
    distmap_context *context = NULL;
    if (count > 1) {
        options.ordinals = numbers;
        options.ordinal_count = count;
    }
    CHECK(distmap_context_create(&options, &context));
    return context;
}

/* ---- Images ---- */

struct pattern {
    const char *name;
    double density; /* of random sites; 0: balls of radius 20 on a lattice of 64, one in nine voxels within a site */
};
static const struct pattern patterns[] = {{"50%", 0.5}, {"1%", 0.01}, {"0.01%", 0.0001}, {"balls", 0}};

static void paint(const struct pattern *pattern, uint8_t *mask, int64_t depth, int64_t height, int64_t width) {
    uint64_t draw = 0x9e3779b97f4a7c15u;
    const uint32_t below = (uint32_t)(pattern->density * 4294967296.0);
    for (int64_t z = 0; z < depth; z++)
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x++) {
                const int64_t k = z % 64 - 32, j = y % 64 - 32, i = x % 64 - 32;
                draw ^= draw << 13, draw ^= draw >> 7, draw ^= draw << 17;
                *mask++ = below ? (uint32_t)(draw >> 16) >= below
                                : i * i + j * j + k * k <= 400 && (x + 2 * y + 4 * z) % 9 != 0;
            }
}

/* ---- The same bits ---- */

static void compare(int gpus) {
    const int64_t shape[3] = {131, 617, 403};
    const size_t voxels = (size_t)(shape[0] * shape[1] * shape[2]);
    distmap_problem problem = {.dtype = DISTMAP_UINT8,
                               .ndim = 3,
                               .shape = {shape[0], shape[1], shape[2]},
                               .want = {.distance = DISTMAP_FLOAT32, .index = DISTMAP_INT32}};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        for (int indices = 0; indices < 2; indices++) {
            uint8_t *mask = malloc(voxels);
            float *distance[2] = {malloc(voxels * 4), malloc(voxels * 4)};
            int32_t *index[2] = {calloc(voxels, 4), calloc(voxels, 4)};
            if (!mask || !distance[0] || !distance[1] || !index[0] || !index[1])
                exit(1);
            paint(&patterns[k], mask, shape[0], shape[1], shape[2]);
            problem.want.index = indices ? DISTMAP_INT32 : DISTMAP_NONE;
            for (int way = 0; way < 2; way++) {
                distmap_context *context = open_gpus(way ? gpus : 1);
                distmap_plan *plan = NULL;
                distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, 3, shape),
                                         .distance = distmap_view_make(distance[way], DISTMAP_FLOAT32, 3, shape)};
                if (indices)
                    arrays.index = distmap_view_make(index[way], DISTMAP_INT32, 3, shape);
                const distmap_plan_options options = {.method = "minplus/cuda", .host_views = true};
                CHECK(distmap_plan_create(context, &problem, &options, &plan));
                for (int again = 0; again < 2; again++)
                    CHECK(distmap_plan_execute(plan, &arrays));
                distmap_plan_destroy(&plan);
                distmap_context_destroy(&context);
            }
            const bool same =
                memcmp(distance[0], distance[1], voxels * 4) == 0 && memcmp(index[0], index[1], voxels * 4) == 0;
            printf("%d GPUs, 131 x 617 x 403, %-5s %s: %s\n", gpus, patterns[k].name,
                   indices ? "distance, index" : "distance       ", same ? "the bits of one" : "OTHER BITS");
            for (int way = 0; way < 2; way++) {
                free(distance[way]);
                free(index[way]);
            }
            free(mask);
            if (!same)
                exit(1);
        }
}

/* ---- Time ---- */

struct slab {
    int64_t shape[3];
    char *mask, *distance;
};

/* This volume's slab on the current GPU, made of `period`, PERIOD planes of the whole one's in host memory. */
static struct slab slab_make(const distmap_problem *p, int64_t first, int64_t count, const uint8_t *period) {
    struct slab s = {.shape = {p->shape[0], count, p->shape[2]}};
    const size_t plane = (size_t)(count * p->shape[2]);
    CUDA(cudaMalloc((void **)&s.mask, plane * (size_t)p->shape[0]));
    CUDA(cudaMalloc((void **)&s.distance, plane * (size_t)p->shape[0] * 4));
    for (int64_t z = 0; z < p->shape[0]; z++)
        CUDA(cudaMemcpyAsync(s.mask + (size_t)z * plane, period + (z % PERIOD * p->shape[1] + first) * p->shape[2],
                             plane, cudaMemcpyHostToDevice, NULL));
    CUDA(cudaDeviceSynchronize());
    return s;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; `planes` are some of the result's. */
static double race(const distmap_problem *problem, int gpus, int rounds, const uint8_t *period, float *planes) {
    distmap_context *context = open_gpus(gpus);
    distmap_plan *plan = NULL;
    struct slab slab[MOST_GPUS];
    distmap_arrays arrays[MOST_GPUS] = {0};
    int64_t first[MOST_GPUS], count[MOST_GPUS];
    double taken[MOST_ROUNDS];
    CHECK(distmap_plan_create(context, problem, &(distmap_plan_options){.method = "minplus/cuda"}, &plan));
    for (int r = 0; r < gpus; r++) {
        CUDA(cudaSetDevice(r));
        CHECK(distmap_plan_slab(plan, r, &first[r], &count[r]));
        slab[r] = slab_make(problem, first[r], count[r], period);
        arrays[r].input = distmap_view_make(slab[r].mask, DISTMAP_UINT8, 3, slab[r].shape);
        arrays[r].distance = distmap_view_make(slab[r].distance, DISTMAP_FLOAT32, 3, slab[r].shape);
        arrays[r].input.space = arrays[r].distance.space = DISTMAP_SPACE_CUDA;
    }
    CHECK(distmap_plan_execute_slabs(plan, arrays));
    CHECK(distmap_plan_wait(plan));
    for (int i = 0; i < rounds; i++) {
        const double begun = now();
        CHECK(distmap_plan_execute_slabs(plan, arrays));
        CHECK(distmap_plan_wait(plan));
        taken[i] = now() - begun;
    }
    for (int r = 0; r < gpus; r++)
        for (int k = 0; k < LOOKS; k++) {
            const int64_t z = k * (problem->shape[0] - 1) / (LOOKS - 1), width = problem->shape[2];
            CUDA(cudaMemcpy(planes + (k * problem->shape[1] + first[r]) * width,
                            slab[r].distance + z * count[r] * width * 4, (size_t)(count[r] * width * 4),
                            cudaMemcpyDefault));
        }
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    for (int r = 0; r < gpus; r++) {
        CUDA(cudaFree(slab[r].mask));
        CUDA(cudaFree(slab[r].distance));
    }
    qsort(taken, (size_t)rounds, sizeof *taken, by_size);
    return taken[rounds / 2];
}

static void race_all(const distmap_problem *problem, int most, int rounds) {
    const int64_t *shape = problem->shape;
    const size_t look = (size_t)(LOOKS * shape[1] * shape[2]) * sizeof(float);
    const double voxels = (double)shape[0] * (double)shape[1] * (double)shape[2];
    uint8_t *period;
    float *planes[2] = {malloc(look), malloc(look)};
    if (!planes[0] || !planes[1])
        exit(1);
    CUDA(cudaMallocHost((void **)&period, (size_t)(PERIOD * shape[1] * shape[2])));
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        paint(&patterns[k], period, PERIOD, shape[1], shape[2]);
        double alone = 0;
        for (int gpus = 1; gpus <= most; gpus *= 2) {
            const double seconds = race(problem, gpus, rounds, period, planes[gpus > 1]);
            const bool same = gpus == 1 || memcmp(planes[0], planes[1], look) == 0;
            alone = gpus == 1 ? seconds : alone;
            printf(
                "%-6s %d GPUs %9.3f ms  %7.1f GB/s of input and output  %5.2f times one  received by each %.2f GB%s\n",
                patterns[k].name, gpus, 1e3 * seconds, 5e-9 * voxels / seconds, alone / seconds,
                1e-9 * voxels / 4 * (gpus - 1) / gpus, same ? "" : "  OTHER BITS");
            fflush(stdout);
        }
    }
    CUDA(cudaFreeHost(period));
    free(planes[0]);
    free(planes[1]);
}

int main(int argc, char **argv) {
    const int found = distmap_device_count(DISTMAP_DEVICE_CUDA), most = found < MOST_GPUS ? found : MOST_GPUS;
    distmap_problem problem = {.dtype = DISTMAP_UINT8, .ndim = 3, .want.distance = DISTMAP_FLOAT32};
    distmap_device_info info;
    CHECK(distmap_device_describe(DISTMAP_DEVICE_CUDA, 0, &info));
    for (int a = 0; a < 3; a++)
        problem.shape[a] = argc > a + 1 ? atoll(argv[a + 1]) : 512;
    const int rounds = argc > 4 ? atoi(argv[4]) : 9;
    if (rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "distmap_gpus: ROUNDS must be 1 to %d\n", (int)MOST_ROUNDS);
        return 2;
    }
    printf("%d of %s\n", found, info.name);
    for (int gpus = 2; gpus <= most; gpus *= 2)
        compare(gpus);
    printf("%lld x %lld x %lld, median of %d\n", (long long)problem.shape[0], (long long)problem.shape[1],
           (long long)problem.shape[2], rounds);
    race_all(&problem, most, rounds);
    return 0;
}
