/* What the parts of the emulation's library share: the lock, errors, knobs, and who owns what. */
#ifndef EMULATION_DEVICE_H
#define EMULATION_DEVICE_H

#include <mutex>

#include "include/cuda_runtime.h"

enum : size_t {
    DEVICE_SHARED = 48 << 10,        /* dynamic shared memory that every kernel may have */
    DEVICE_SHARED_OPTIN = 227 << 10, /* and with cudaFuncSetAttribute, where the environment says nothing else; */
    DEVICE_SHARED_OWN = 1 << 10,     /* what a block has of a multiprocessor's besides */
};
enum { DEVICE_THREADS = 1024, DEVICE_THREADS_SM = 2048, DEVICE_BLOCKS_SM = 32, DEVICE_SMS = 4 };

/* One call at a time, and a launch is one call. Recursive, for host functions that are called from a stream. */
extern std::recursive_mutex device_mutex;
typedef std::lock_guard<std::recursive_mutex> device_lock;

/* The number in an environment variable, or `fallback` if there is none. */
unsigned long long device_knob(const char *name, unsigned long long fallback);

/* Stores the error for cudaGetLastError, and gives it back. */
cudaError_t device_result(cudaError_t error);
/* What every call must ask first: no driver, no device, a fault. A fault that was pending is known from here on. */
cudaError_t device_ready(void);
/* Counts a launch; true: it is the one that faults. */
bool device_launch_faults(void);
int device_current(void);
/* Whether kernels of a device may use the memory of another, or its own. */
bool device_reaches(int device, int memory);
/* Starts emulation_draw's numbers anew if the seed in the environment is another one. */
void device_seed(void);

/* The usual frame of a call: lock, standing, then the call's own result. */
#define DEVICE_CALL(expression)                                            \
    do {                                                                   \
        device_lock lock(device_mutex);                                    \
        const cudaError_t ready = device_ready();                          \
        return device_result(ready != cudaSuccess ? ready : (expression)); \
    } while (0)

/* cudaSuccess if the stream exists; *device (unless NULL) is the one it belongs to. */
cudaError_t stream_check(cudaStream_t stream, int *device);
/* They free everything and check nothing. */
void streams_reset(void);
void memory_reset(void);
/* The largest dynamic shared memory that the kernel may have; NULL: that any kernel may. */
size_t function_shared(const void *kernel);

/* While there is none, device memory is closed: the address sanitizer tells of host code that touches it. Kernels, copies
 * and the like open it: kernels that of their own device, and of those that it was given access to. */
enum { ALL_DEVICES = -1 };
struct memory_open {
    explicit memory_open(int device = ALL_DEVICES);
    ~memory_open();
};
#endif
