/* A plan on a GPU: its scratch, the check where views lie, execute and wait.
 *
 * Scratch in device memory is, in this order, the method's, the outcome, and with host views a copy of every array.
 *
 * Execute zeroes the outcome, calls the method, and marks the end with an event, all on the caller's stream. It comes back
 * when somebody asks, on a stream of our own after that event. With host views, and when timed, execute itself waits.
 */

#include "cuda/elements.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

/* ---- Memory ---- */

size_t dm_cuda_scratch_bytes(const distmap_plan *plan) {
    return dm_cuda_round(plan->method->scratch_bytes(plan)) + dm_cuda_round(sizeof(dm_outcome)) +
           (plan->host_views ? dm_staging_lay_out(plan, NULL, NULL) : 0);
}

/* The kind of memory of `data`, from the driver. */
static distmap_status look_at(struct dm_cuda *cuda, const void *data, struct cudaPointerAttributes *found) {
    TRY_CUDA(cuda, cudaPointerGetAttributes(found, data));
    return DISTMAP_OK;
}

static bool is_ours(const struct dm_cuda *cuda, const struct cudaPointerAttributes *found) {
    return found->type == cudaMemoryTypeManaged ||
           (found->type == cudaMemoryTypeDevice && found->device == cuda->ordinal);
}

static distmap_status take_scratch(distmap_plan *plan, void *scratch) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct cudaPointerAttributes found;
    if ((uintptr_t)scratch % 256)
        return bad("options.scratch is not aligned to 256 bytes");
    TRY(look_at(cuda, scratch, &found));
    if (!is_ours(cuda, &found))
        return bad("options.scratch is not memory of device cuda:%d", cuda->ordinal);
    plan->scratch = scratch;
    return DISTMAP_OK;
}

static distmap_status allocate_scratch(distmap_plan *plan) {
    struct dm_cuda *cuda = plan->context->cuda;
    const cudaError_t error = cudaMalloc(&plan->scratch, plan->scratch_bytes);
    if (error == cudaErrorMemoryAllocation) {
        size_t free_bytes = 0, all = 0;
        (void)cudaGetLastError();
        plan->scratch = NULL;
        TRY_CUDA(cuda, cudaMemGetInfo(&free_bytes, &all));
        return dm_error(
            DISTMAP_ERROR_MEMORY,
            "the plan needs %zu bytes of device memory%s, but device cuda:%d has %zu free of %zu: split the "
            "problem, or use the CPU",
            plan->scratch_bytes, plan->host_views ? ", copies of the host views among them" : "", cuda->ordinal,
            free_bytes, all);
    }
    TRY_CUDA(cuda, error);
    plan->owns_scratch = true;
    return DISTMAP_OK;
}

/* The layout of the scratch; events, and page-locked memory. */
static distmap_status set_up(distmap_plan *plan) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct dm_cuda_plan *own = plan->cuda;
    char *after = (char *)plan->scratch + dm_cuda_round(plan->method->scratch_bytes(plan));
    own->outcome = (dm_outcome *)after;
    if (plan->host_views) {
        (void)dm_staging_lay_out(plan, after + dm_cuda_round(sizeof(dm_outcome)), &own->copies);
        const size_t largest = dm_cuda_round((size_t)plan->elements * 8);
        own->slot_bytes = largest < DM_SLOT_BYTES ? largest : DM_SLOT_BYTES;
        for (int i = 0; i < DM_SLOTS; i++)
            TRY_CUDA(cuda, cudaEventCreateWithFlags(&own->slot[i], cudaEventDisableTiming));
        TRY_CUDA(cuda, cudaMallocHost((void **)&own->slots, DM_SLOTS * own->slot_bytes));
    }
    TRY_CUDA(cuda, cudaEventCreateWithFlags(&own->done, cudaEventDisableTiming));
    if (plan->timed)
        TRY(dm_marks_make(plan));
    return plan->method->prepare ? plan->method->prepare(plan) : DISTMAP_OK;
}

distmap_status dm_cuda_reserve(distmap_plan *plan, void *scratch) {
    if (plan->elements == 0)
        return DISTMAP_OK;
    plan->cuda = dm_allocate(plan->context, sizeof *plan->cuda);
    if (!plan->cuda)
        return DISTMAP_ERROR_MEMORY;
    *plan->cuda = (struct dm_cuda_plan){0};
    int previous;
    TRY(dm_cuda_enter(plan->context, &previous));
    distmap_status status = scratch ? take_scratch(plan, scratch) : allocate_scratch(plan);
    if (status == DISTMAP_OK)
        status = set_up(plan);
    dm_cuda_leave(previous);
    return status;
}

void dm_cuda_release(distmap_plan *plan) {
    struct dm_cuda_plan *own = plan->cuda;
    int previous;
    if (!own)
        return;
    if (dm_cuda_enter(plan->context, &previous) == DISTMAP_OK) {
        if (own->pending && plan->owns_scratch) /* the caller's is the caller's to keep */
            (void)cudaEventSynchronize(own->done);
        if (plan->method->release)
            plan->method->release(plan);
        if (own->done)
            (void)cudaEventDestroy(own->done);
        for (int i = 0; i < DM_SLOTS; i++)
            if (own->slot[i])
                (void)cudaEventDestroy(own->slot[i]);
        dm_marks_release(plan);
        if (own->slots)
            (void)cudaFreeHost(own->slots);
        if (plan->owns_scratch)
            (void)cudaFree(plan->scratch);
        (void)cudaGetLastError();
        dm_cuda_leave(previous);
    }
    dm_release(plan->context, own, sizeof *own);
}

/* ---- Views ---- */

distmap_status dm_cuda_check_view(const distmap_plan *plan, const char *name, const distmap_view *view) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct cudaPointerAttributes found;
    int previous;
    TRY(dm_cuda_enter(plan->context, &previous)); /* even a question would wake the current GPU up */
    const distmap_status status = look_at(cuda, view->data, &found);
    dm_cuda_leave(previous);
    TRY(status);
    if (view->space == DISTMAP_SPACE_HOST) {
        if (!plan->host_views)
            return bad("arrays.%s lies in host memory: the plan's options must ask for host_views", name);
        if (found.type == cudaMemoryTypeDevice)
            return bad("arrays.%s: space is HOST, but its data lies in a GPU's memory", name);
        return DISTMAP_OK;
    }
    if (!is_ours(cuda, &found))
        return bad("arrays.%s: space is CUDA, but its data lies in %s", name,
                   found.type == cudaMemoryTypeDevice ? "another GPU's memory" : "host memory");
    return DISTMAP_OK;
}

/* ---- Execute ---- */

bool dm_cuda_any_host(const dm_arrays *arrays) {
    bool any = false;
    for (int i = 0; i < DM_ARRAYS; i++) {
        const dm_array *array = dm_array_at((dm_arrays *)arrays, i);
        any |= array->data && array->space == DISTMAP_SPACE_HOST;
    }
    return any;
}

static distmap_status fetch_outcome(distmap_plan *plan) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct dm_cuda_plan *own = plan->cuda;
    own->pending = false;
    TRY_CUDA(cuda, cudaEventSynchronize(own->done));
    TRY_CUDA(cuda,
             cudaMemcpyAsync(cuda->outcome, own->outcome, sizeof *own->outcome, cudaMemcpyDeviceToHost, cuda->side));
    TRY_CUDA(cuda, cudaStreamSynchronize(cuda->side));
    plan->outcome = *cuda->outcome;
    dm_flag(plan, plan->outcome.flags & ~DM_RAISED_VALUE);
    return plan->outcome.flags & DM_RAISED_VALUE ? DISTMAP_ERROR_VALUE : DISTMAP_OK;
}

distmap_status dm_cuda_upload(distmap_plan *plan, const dm_arrays *arrays, dm_arrays *device) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct dm_cuda_plan *own = plan->cuda;
    if (!plan->goes_on && (!plan->method->cleans || !plan->method->cleans(plan)))
        TRY_CUDA(cuda, cudaMemsetAsync(own->outcome, 0, sizeof *own->outcome, cuda->stream));
    dm_staging_replace(plan, arrays, device);
    return dm_cuda_any_host(arrays) ? dm_staging_in(plan, arrays, device) : DISTMAP_OK;
}

distmap_status dm_cuda_mark_end(distmap_plan *plan) {
    struct dm_cuda *cuda = plan->context->cuda;
    TRY_CUDA(cuda, cudaEventRecord(plan->cuda->done, cuda->stream));
    plan->cuda->pending = true;
    return DISTMAP_OK;
}

static distmap_status enqueue(distmap_plan *plan, const dm_arrays *arrays, bool host) {
    struct dm_cuda *cuda = plan->context->cuda;
    enum cudaStreamCaptureStatus capture;
    dm_arrays device;
    TRY_CUDA(cuda, cudaStreamIsCapturing(cuda->stream, &capture));
    if (host && capture != cudaStreamCaptureStatusNone)
        return bad("arrays: views in host memory cannot be captured into a CUDA graph");
    if (plan->timed && capture != cudaStreamCaptureStatusNone)
        return bad("plan: the execution of a timed plan cannot be captured into a CUDA graph");
    TRY(dm_cuda_upload(plan, arrays, &device));
    TRY(dm_phases_run(plan, &device));
    if (host)
        TRY(dm_staging_out(plan, arrays, &device));
    if (capture != cudaStreamCaptureStatusNone)
        return DISTMAP_OK;
    TRY(dm_phases_stop(plan, DISTMAP_OK));
    TRY(dm_cuda_mark_end(plan));
    return host || plan->timed ? fetch_outcome(plan) : DISTMAP_OK;
}

distmap_status dm_cuda_execute(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    int previous;
    TRY(dm_cuda_enter(plan->context, &previous));
    plan->cuda->pending = false;
    plan->cuda->marks = 0;
    const bool host = dm_cuda_any_host(arrays);
    distmap_status status = enqueue(plan, arrays, host);
    if (status == DISTMAP_OK && plan->timed)
        status = dm_marks_read(plan);
    if (status != DISTMAP_OK) {
        dm_fail(plan, status);
        (void)dm_phases_stop(plan, status);
        if (host) /* nothing may still be writing to the caller's memory */
            (void)cudaStreamSynchronize(cuda->stream);
        (void)cudaGetLastError();
    }
    dm_cuda_leave(previous);
    return status;
}

distmap_status dm_cuda_wait(distmap_plan *plan) {
    int previous;
    if (!plan->cuda || !plan->cuda->pending)
        return (distmap_status)atomic_load(&plan->failure);
    TRY(dm_cuda_enter(plan->context, &previous));
    const distmap_status status = fetch_outcome(plan);
    if (status != DISTMAP_OK)
        dm_fail(plan, status);
    dm_cuda_leave(previous);
    return status;
}
