/* What the checks share: failures, drawn numbers, copies to the device and back. */
#ifndef EMULATION_CHECK_CUDA_H
#define EMULATION_CHECK_CUDA_H

#include "cuda/launch.h"

#include "../seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

#define CHECK(condition, ...)                                               \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                   \
            fputc('\n', stderr);                                            \
            if (++check_failures > 20)                                      \
                exit(1);                                                    \
        }                                                                   \
    } while (0)
#define CHECK_CUDA(call, expected)                                                            \
    do {                                                                                      \
        const cudaError_t check_error = (call);                                               \
        CHECK(check_error == (expected), "%s gave %s", #call, cudaGetErrorName(check_error)); \
    } while (0)
#define CUDA(call) CHECK_CUDA(call, cudaSuccess)

/* xorshift, seeded by DISTMAP_TEST_SEED or the clock; the seed is printed, and given to the emulation if there is none. */
static unsigned long long check_state;

static inline unsigned check_draw(void) {
    check_state ^= check_state << 13;
    check_state ^= check_state >> 7;
    check_state ^= check_state << 17;
    return (unsigned)(check_state >> 16);
}

static inline void check_begin(void) {
    char text[32];
    check_state = test_seed();
    snprintf(text, sizeof text, "%llu", check_state);
    setenv("DISTMAP_EMULATION_SEED", text, 0);
    printf("DISTMAP_TEST_SEED=%s DISTMAP_EMULATION_SEED=%s\n", text, getenv("DISTMAP_EMULATION_SEED"));
    for (int i = 0; i < 8; i++) /* small seeds start with small numbers */
        check_draw();
}

static inline int check_end(void) {
    if (check_failures)
        fprintf(stderr, "%d checks failed\n", check_failures);
    return check_failures != 0;
}

/* Device memory, filled from the host; and back. Freed by the caller. */
template <class T> static T *check_to_device(const T *from, size_t count) {
    T *to = NULL;
    CUDA(cudaMalloc(&to, count * sizeof(T)));
    CUDA(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}
template <class T> static void check_to_host(T *to, const T *from, size_t count) {
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost));
}

#endif
