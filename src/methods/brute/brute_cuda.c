/* brute/cuda: the definition itself, on the GPU: the oracle for sizes where the CPU's takes too long.
 *
 *     squared(p) = min over candidates q of p's batch of f(q) + |p - q|^2,    of equal ones the q with the lowest index
 *
 * One kernel collects the candidates (sites, samples that offer something, or all elements of a label image), in any order;
 * one compares every element with every candidate of its batch. See brute_cpu.c for why FP64 agrees with the others.
 *
 * sites=texture is the enumeration of Zhu and Shyu (section 3.4): a list of the sites' coordinates, bound to texture memory, a
 * block to a row, and every thread fetches every site; with list=host the CPU makes the list, as theirs does. By default
 * blocks share tiles of candidates in shared memory, which the device lists.
 *
 * Time O(elements * candidates). Memory: 16 bytes per element, with list=host 17.
 */
#include "methods/brute/brute_cuda.h"

#include <string.h>

enum { SITES, LIST };
enum { SHARED, TEXTURE };
enum { BY_DEVICE, BY_HOST };
enum { TEXTURE_UNIT = 512, MOST_TEXELS = 1 << 27 }; /* of a texture over linear memory */

static const char *const places[] = {"shared", "texture"}, *const makers[] = {"device", "host"};
static const distmap_param_info params[] = {
    [SITES] = {"sites", SHARED, SHARED, TEXTURE, "where threads read the sites", places},
    [LIST] = {"list", BY_DEVICE, BY_DEVICE, BY_HOST, "sites=texture: who lists them", makers},
};

static const char *refuses(const distmap_plan *plan) {
    if (plan->params[SITES] != TEXTURE)
        return NULL;
    if (plan->problem.input != DISTMAP_INPUT_MASK || plan->problem.sign || plan->number == DM_F64)
        return "needs a mask, a map without sign and pitches with a unit for sites=texture";
    return plan->elements > MOST_TEXELS ? "needs at most 2^27 elements for sites=texture" : NULL;
}

static int64_t batches(const distmap_plan *plan) {
    int64_t count = 1;
    for (int a = 0; a < DM_NDIM; a++)
        count *= plan->measured[a] ? 1 : plan->shape[a];
    return count;
}

static size_t count_bytes(const distmap_plan *plan) {
    return dm_cuda_round((size_t)batches(plan) * sizeof(unsigned long long));
}

static size_t list_bytes(const distmap_plan *plan) {
    return dm_cuda_round((size_t)plan->elements * sizeof(struct brute_candidate));
}

static bool is_listed_by_host(const distmap_plan *plan) {
    return plan->params[SITES] == TEXTURE && plan->params[LIST] == BY_HOST;
}

/* The list comes first, where the texture lies. */
static size_t scratch_bytes(const distmap_plan *plan) {
    const size_t marks = is_listed_by_host(plan) ? (size_t)plan->elements : 0;
    return TEXTURE_UNIT + list_bytes(plan) + count_bytes(plan) + marks;
}

static char *list_of(const distmap_plan *plan) {
    char *p = plan->scratch;
    return p + (TEXTURE_UNIT - (uintptr_t)p % TEXTURE_UNIT) % TEXTURE_UNIT;
}

/* ---- sites=texture ---- */

static distmap_status copy(const distmap_plan *plan, void *to, const void *from, size_t bytes,
                           enum cudaMemcpyKind kind) {
    struct dm_cuda *cuda = plan->context->cuda;
    TRY_CUDA(cuda, cudaMemcpyAsync(to, from, bytes, kind, cuda->stream));
    TRY_CUDA(cuda, cudaStreamSynchronize(cuda->stream));
    return DISTMAP_OK;
}

static int64_t batch_of(const distmap_plan *plan, const int64_t at[DM_NDIM]) {
    int64_t batch = 0;
    for (int a = 0; a < DM_NDIM; a++)
        if (!plan->measured[a])
            batch = batch * plan->shape[a] + at[a];
    return batch;
}

static void add_site(const distmap_plan *plan, int64_t linear, int64_t each, struct brute_listed *list,
                     unsigned long long *count) {
    int64_t at[DM_NDIM], rest = linear;
    for (int a = DM_X; a >= 0; a--) {
        at[a] = rest % plan->shape[a];
        rest /= plan->shape[a];
    }
    const int64_t batch = batch_of(plan, at);
    struct brute_listed *to = &list[batch * each + (int64_t)count[batch]++];
    for (int a = 0; a < DM_NDIM; a++)
        to->at[a] = (int32_t)at[a];
}

/* With one batch no more than its sites goes back, with several all. */
static distmap_status send_list(const struct brute_work *w, const distmap_plan *plan, const struct brute_listed *list,
                                const unsigned long long *count) {
    const size_t listed = (size_t)(w->batches > 1 ? plan->elements : (int64_t)count[0]);
    if (listed)
        TRY(copy(plan, w->listed, list, listed * sizeof *list, cudaMemcpyHostToDevice));
    return copy(plan, w->count, count, (size_t)w->batches * sizeof *count, cudaMemcpyHostToDevice);
}

static distmap_status mark_sites(const distmap_plan *plan, const struct brute_work *w) {
    struct dm_cuda *cuda = plan->context->cuda;
    TRY_CUDA(cuda, brute_mark(w, cuda->stream));
    return DISTMAP_OK;
}

/* The sites in raster order, by the CPU, from marks that the device made of the input. */
static distmap_status list_by_host(distmap_plan *plan, const struct brute_work *w) {
    struct dm_cuda *cuda = plan->context->cuda;
    const size_t marks = dm_cuda_round((size_t)plan->elements), list = list_bytes(plan);
    const size_t bytes = marks + list + (size_t)w->batches * sizeof *w->count;
    enum cudaStreamCaptureStatus capture;
    TRY_CUDA(cuda, cudaStreamIsCapturing(cuda->stream, &capture));
    if (capture != cudaStreamCaptureStatusNone)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "plan: brute/cuda waits for the device with list=host, so it cannot be "
                                                "captured into a CUDA graph");
    char *const host = dm_allocate(plan->context, bytes);
    if (!host)
        return DISTMAP_ERROR_MEMORY;
    unsigned long long *const count = (unsigned long long *)(host + marks + list);
    dm_phase(plan, "list, copies");
    distmap_status status = mark_sites(plan, w);
    if (status == DISTMAP_OK)
        status = copy(plan, host, w->marks, (size_t)plan->elements, cudaMemcpyDeviceToHost);
    if (status == DISTMAP_OK) {
        dm_phase(plan, "list");
        memset(count, 0, (size_t)w->batches * sizeof *count);
        for (int64_t i = 0; i < plan->elements; i++)
            if (host[i])
                add_site(plan, i, w->batch_elements, (struct brute_listed *)(host + marks), count);
        dm_phase(plan, "list, copies");
        status = send_list(w, plan, (struct brute_listed *)(host + marks), count);
    }
    dm_release(plan->context, host, bytes);
    return status;
}

static distmap_status run_texture(distmap_plan *plan, const struct brute_work *work) {
    struct dm_cuda *cuda = plan->context->cuda;
    if (is_listed_by_host(plan)) {
        TRY(list_by_host(plan, work));
    } else {
        dm_phase(plan, "list");
        TRY_CUDA(cuda, brute_list(work, cuda->stream));
    }
    dm_phase(plan, "search");
    TRY_CUDA(cuda, brute_search_texture(work, plan->cuda->texture, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status prepare(distmap_plan *plan) {
    if (plan->params[SITES] != TEXTURE)
        return DISTMAP_OK;
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear};
    resource.res.linear.devPtr = list_of(plan);
    resource.res.linear.desc = (struct cudaChannelFormatDesc){32, 32, 32, 32, cudaChannelFormatKindSigned};
    resource.res.linear.sizeInBytes = (size_t)plan->elements * sizeof(struct brute_listed);
    const struct cudaTextureDesc how = {.readMode = cudaReadModeElementType};
    TRY_CUDA(plan->context->cuda, cudaCreateTextureObject(&plan->cuda->texture, &resource, &how, NULL));
    return DISTMAP_OK;
}

static void release(distmap_plan *plan) {
    if (!plan->cuda->texture)
        return;
    if (plan->cuda->pending)
        (void)cudaEventSynchronize(plan->cuda->done);
    (void)cudaDestroyTextureObject(plan->cuda->texture);
}

/* ---- The method ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const struct brute_work work = {
        .elements = dm_elements_make(plan, arrays),
        .batches = batches(plan),
        .batch_elements = plan->elements / batches(plan),
        .candidates = (struct brute_candidate *)list_of(plan),
        .listed = (struct brute_listed *)list_of(plan),
        .count = (unsigned long long *)(list_of(plan) + list_bytes(plan)),
        .marks = (uint8_t *)(list_of(plan) + list_bytes(plan) + count_bytes(plan)),
    };
    dm_phase(plan, "collect");
    TRY_CUDA(cuda, cudaMemsetAsync(work.count, 0, count_bytes(plan), cuda->stream));
    if (plan->params[SITES] == TEXTURE)
        return run_texture(plan, &work);
    TRY_CUDA(cuda, brute_collect(&work, cuda->stream));
    dm_phase(plan, "search");
    TRY_CUDA(cuda, brute_search(&work, cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_brute_cuda = {
    .info =
        {
            .name = "brute/cuda",
            .summary = "every element against every site: the definition, for checking the others",
            .source = "the definition of the distance map",
            .device = "cuda",
            .exact = true,
            .metrics = DM_EVERY_METRIC,
            .params = params,
            .param_count = sizeof params / sizeof *params,
        },
    .refuses = refuses,
    .prepare = prepare,
    .release = release,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
