/* The emulated runtime API: streams and events. Work is done when it is asked for, so they are only names, and checked. */
#include "device.h"

#include <set>
#include <time.h>

struct CUstream_st {
    int device;
};
struct CUevent_st {
    int device;
    bool timed, recorded;
    timespec at;
};

static std::set<cudaStream_t> streams;
static std::set<cudaEvent_t> events;

void streams_reset(void) {
    for (cudaStream_t stream : streams)
        delete stream;
    for (cudaEvent_t event : events)
        delete event;
    streams.clear();
    events.clear();
}

cudaError_t stream_check(cudaStream_t stream, int *device) {
    const bool by_number = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
    if (!by_number && !streams.count(stream))
        return cudaErrorInvalidResourceHandle;
    if (device)
        *device = by_number ? device_current() : stream->device;
    return cudaSuccess;
}

static cudaError_t create_stream(cudaStream_t *stream, unsigned flags) {
    if (!stream || flags > cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    *stream = new CUstream_st{device_current()};
    streams.insert(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { DEVICE_CALL(create_stream(stream, cudaStreamDefault)); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    DEVICE_CALL(create_stream(stream, flags));
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
    DEVICE_CALL(create_stream(stream, flags));
}

static cudaError_t destroy_stream(cudaStream_t stream) {
    if (!streams.erase(stream))
        return cudaErrorInvalidResourceHandle;
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { DEVICE_CALL(destroy_stream(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { DEVICE_CALL(stream_check(stream, NULL)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { DEVICE_CALL(stream_check(stream, NULL)); }
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    DEVICE_CALL(device ? stream_check(stream, device) : cudaErrorInvalidValue);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    if (status)
        *status = cudaStreamCaptureStatusNone;
    DEVICE_CALL(status ? stream_check(stream, NULL) : cudaErrorInvalidValue);
}

static cudaError_t call_host(cudaStream_t stream, cudaHostFn_t function, void *user) {
    const cudaError_t error = function ? stream_check(stream, NULL) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        function(user);
    return error;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user) {
    DEVICE_CALL(call_host(stream, function, user));
}

/* ---- Events ---- */

static cudaError_t create_event(cudaEvent_t *event, unsigned flags) {
    if (!event || flags & ~(cudaEventBlockingSync | cudaEventDisableTiming))
        return cudaErrorInvalidValue;
    *event = new CUevent_st{device_current(), !(flags & cudaEventDisableTiming), false, {0, 0}};
    events.insert(*event);
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { DEVICE_CALL(create_event(event, cudaEventDefault)); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) { DEVICE_CALL(create_event(event, flags)); }

static cudaError_t event_check(cudaEvent_t event) {
    return events.count(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

static cudaError_t destroy_event(cudaEvent_t event) {
    if (!events.erase(event))
        return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { DEVICE_CALL(destroy_event(event)); }

/* An event is recorded on streams of its own device alone. */
static cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
    int device;
    if (event_check(event) != cudaSuccess || stream_check(stream, &device) != cudaSuccess || device != event->device)
        return cudaErrorInvalidResourceHandle;
    event->recorded = true;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { DEVICE_CALL(record(event, stream)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { DEVICE_CALL(event_check(event)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { DEVICE_CALL(event_check(event)); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    DEVICE_CALL(flags                               ? cudaErrorInvalidValue
                : event_check(event) != cudaSuccess ? cudaErrorInvalidResourceHandle
                                                    : stream_check(stream, NULL));
}

static cudaError_t elapsed(float *milliseconds, cudaEvent_t a, cudaEvent_t b) {
    if (!milliseconds)
        return cudaErrorInvalidValue;
    for (cudaEvent_t event : {a, b})
        if (event_check(event) != cudaSuccess || !event->timed || !event->recorded)
            return cudaErrorInvalidResourceHandle;
    *milliseconds = (float)((b->at.tv_sec - a->at.tv_sec) * 1e3 + (b->at.tv_nsec - a->at.tv_nsec) * 1e-6);
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    DEVICE_CALL(elapsed(milliseconds, start, end));
}
