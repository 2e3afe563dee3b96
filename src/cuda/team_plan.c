/* Plans of several GPUs: parts, what they exchange, execute and wait.
 *
 * One thread enqueues everything, on all GPUs in turns, and nothing waits for the host. With its own stream, and one for copies to
 * each other GPU, since a single one does not fill the links, GPU q does
 *
 *     stream       wait until its rows are copied no more; begin: make them; event `ready`; for each piece wait until it has
 *                  `arrived` from all, solve it
 *     copies to r  wait for `ready` of q and of r; for each piece write the rows to r, event `arrived`
 *
 * So nobody's rows are made anew while they are copied, nor overwritten while they are used: what r used before lies before its own
 * `ready`.
 */
#include <string.h>

#include "core/use.h"
#include "cuda/team.h"

struct dm_team_plan {
    distmap_plan *part[DISTMAP_MAX_GPUS]; /* NULL: of no elements */
    cudaEvent_t ready[DISTMAP_MAX_GPUS];
    struct {
        cudaStream_t stream; /* of GPU q, which writes */
        cudaEvent_t arrived;
    } copy[DISTMAP_MAX_GPUS][DISTMAP_MAX_GPUS]; /* [r][q] */
};

/* ---- Parts ---- */

static void slab_of(const distmap_plan *plan, int r, int64_t *first, int64_t *count) {
    const int64_t n = plan->rows, size = plan->context->team->count, more = n % size;
    *first = n / size * r + (r < more ? r : more);
    *count = n / size + (r < more);
}

distmap_status dm_team_slab(const distmap_plan *plan, int i, int64_t *first, int64_t *count) {
    if (i < 0 || i >= plan->context->team->count)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "i is %d, but the context has %d GPUs", i, plan->context->team->count);
    slab_of(plan, i, first, count);
    return DISTMAP_OK;
}

/* The plan of GPU r, without memory: all that the problem says is the whole image's but for the rows. */
static void make_part(const distmap_plan *plan, int r, distmap_plan *part) {
    memcpy(part, plan, sizeof *part);
    part->context = plan->context->team->member[r];
    part->team = NULL;
    slab_of(plan, r, &part->first_row, &part->shape[2]);
    part->problem.shape[part->problem.ndim - 2] = part->shape[2];
    part->elements = part->shape[0] * part->shape[1] * part->shape[2] * part->shape[3];
    part->scratch_bytes = part->elements ? part->context->device->scratch_bytes(part) : 0;
}

size_t dm_team_scratch_bytes(const distmap_plan *plan) {
    size_t sum = 0;
    for (int r = 0; r < plan->context->team->count; r++) {
        distmap_plan part;
        make_part(plan, r, &part);
        sum += part.scratch_bytes;
    }
    return sum;
}

static distmap_status reserve_part(distmap_plan *plan, int r) {
    struct dm_team_plan *own = plan->team;
    distmap_context *member = plan->context->team->member[r];
    distmap_plan *part = dm_allocate(member, sizeof *part);
    if (!part)
        return DISTMAP_ERROR_MEMORY;
    make_part(plan, r, part);
    dm_plan_live(part, member);
    own->part[r] = part;
    TRY(member->device->reserve(part, NULL));
    int previous;
    TRY(dm_cuda_enter(member, &previous));
    cudaError_t error = cudaEventCreateWithFlags(&own->ready[r], cudaEventDisableTiming);
    for (int q = 0; q < plan->context->team->count && error == cudaSuccess; q++) {
        error = cudaStreamCreateWithFlags(&own->copy[q][r].stream, cudaStreamNonBlocking);
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&own->copy[q][r].arrived, cudaEventDisableTiming);
    }
    dm_cuda_leave(previous);
    TRY_CUDA(member->cuda, error);
    return DISTMAP_OK;
}

distmap_status dm_team_reserve(distmap_plan *plan, void *scratch) {
    if (scratch)
        return dm_error(DISTMAP_ERROR_UNSUPPORTED, "options.scratch: a plan of several GPUs reserves its own");
    if (plan->timed)
        return dm_error(DISTMAP_ERROR_UNSUPPORTED, "options.timed: a plan of several GPUs has no phases");
    if (plan->elements == 0)
        return DISTMAP_OK;
    struct dm_team_plan *own = dm_allocate(plan->context, sizeof *own);
    if (!own)
        return DISTMAP_ERROR_MEMORY;
    *own = (struct dm_team_plan){0};
    plan->team = own;
    for (int r = 0; r < plan->context->team->count; r++) {
        int64_t first, count;
        slab_of(plan, r, &first, &count);
        if (count)
            TRY(reserve_part(plan, r));
    }
    return DISTMAP_OK;
}

/* For all GPUs to be done, whatever they do. */
static void settle(const distmap_plan *plan) {
    for (int r = 0; r < plan->context->team->count; r++) {
        const distmap_plan *part = plan->team->part[r];
        int previous;
        if (!part || dm_cuda_enter(part->context, &previous) != DISTMAP_OK)
            continue;
        for (int q = 0; q < plan->context->team->count; q++)
            if (plan->team->copy[q][r].stream)
                (void)cudaStreamSynchronize(plan->team->copy[q][r].stream);
        (void)cudaStreamSynchronize(part->context->cuda->stream);
        (void)cudaGetLastError();
        dm_cuda_leave(previous);
    }
}

void dm_team_release(distmap_plan *plan) {
    struct dm_team_plan *own = plan->team;
    if (!own)
        return;
    settle(plan); /* parts read each other */
    for (int r = 0; r < plan->context->team->count; r++) {
        distmap_context *member = plan->context->team->member[r];
        int previous;
        if (own->part[r] && dm_cuda_enter(member, &previous) == DISTMAP_OK) {
            for (int q = 0; q < plan->context->team->count; q++) {
                if (own->copy[q][r].arrived)
                    (void)cudaEventDestroy(own->copy[q][r].arrived);
                if (own->copy[q][r].stream)
                    (void)cudaStreamDestroy(own->copy[q][r].stream);
            }
            if (own->ready[r])
                (void)cudaEventDestroy(own->ready[r]);
            dm_cuda_leave(previous);
        }
        distmap_plan_destroy(&own->part[r]);
    }
    dm_release(plan->context, own, sizeof *own);
}

/* ---- Execute ---- */

/* Whether q is another GPU than r, with rows. */
static bool is_other(const distmap_plan *plan, int r, int q) { return q != r && plan->team->part[q]; }

/* The rows that GPU q has filled, into the same place on GPU r: by a kernel, or where q does not reach r, through the host. */
static distmap_status copy_rows(const distmap_plan *plan, int r, int q, int piece) {
    const distmap_plan *reader = plan->team->part[r], *writer = plan->team->part[q];
    const dm_exchange to = plan->method->spread->exchange(reader, piece),
                      from = plan->method->spread->exchange(writer, piece);
    const size_t before = (size_t)writer->first_row * to.row_bytes, bytes = (size_t)writer->shape[2] * to.row_bytes;
    const cudaStream_t stream = plan->team->copy[r][q].stream;
    if (plan->context->team->reaches[q][r]) {
        TRY_CUDA(writer->context->cuda,
                 dm_team_copy(to.data + before, from.data + before, to.pitch, bytes, to.lines, stream));
        return DISTMAP_OK;
    }
    struct cudaMemcpy3DPeerParms copy = {0};
    copy.srcDevice = writer->context->cuda->ordinal;
    copy.dstDevice = reader->context->cuda->ordinal;
    copy.extent = make_cudaExtent(bytes, (size_t)to.lines, 1);
    copy.srcPtr = make_cudaPitchedPtr(from.data + before, from.pitch, from.pitch, (size_t)to.lines);
    copy.dstPtr = make_cudaPitchedPtr(to.data + before, to.pitch, to.pitch, (size_t)to.lines);
    TRY_CUDA(writer->context->cuda, cudaMemcpy3DPeerAsync(&copy, stream));
    return DISTMAP_OK;
}

/* What callers see of progress is staging: inputs, GPU by GPU, then outputs. A part counts its own from 0 to 1, `in` of them for
 * its inputs. */
static void set_progress(const distmap_plan *plan, distmap_plan *part, double in, bool out) {
    const double before = (double)part->first_row / (double)plan->rows;
    part->progress_span = (double)part->shape[2] / (double)plan->rows;
    part->progress_from = out ? in + before * (1 - in) - part->progress_span * in : before * in;
}

/* What GPU r does in one turn. */
typedef distmap_status turn(distmap_plan *plan, int r, const dm_arrays *arrays, dm_arrays *device, int piece);

static distmap_status turn_begin(distmap_plan *plan, int r, const dm_arrays *arrays, dm_arrays *device, int piece) {
    (void)piece;
    distmap_plan *part = plan->team->part[r];
    struct dm_cuda *cuda = part->context->cuda;
    set_progress(plan, part, r ? plan->team->part[0]->progress_base : 0, false);
    for (int q = 0; q < plan->context->team->count; q++)
        if (is_other(plan, r, q))
            TRY_CUDA(cuda, cudaStreamWaitEvent(cuda->stream, plan->team->copy[q][r].arrived, 0));
    TRY(dm_cuda_upload(part, arrays, device));
    TRY(plan->method->spread->begin(part, device));
    TRY_CUDA(cuda, cudaEventRecord(plan->team->ready[r], cuda->stream));
    return DISTMAP_OK;
}

static distmap_status turn_copies(distmap_plan *plan, int r, const dm_arrays *arrays, dm_arrays *device, int piece) {
    (void)arrays, (void)device, (void)piece;
    struct dm_cuda *cuda = plan->team->part[r]->context->cuda;
    for (int q = 0; q < plan->context->team->count; q++)
        if (is_other(plan, r, q)) {
            TRY_CUDA(cuda, cudaStreamWaitEvent(plan->team->copy[q][r].stream, plan->team->ready[q], 0));
            TRY_CUDA(cuda, cudaStreamWaitEvent(plan->team->copy[q][r].stream, plan->team->ready[r], 0));
        }
    return DISTMAP_OK;
}

static distmap_status turn_send(distmap_plan *plan, int r, const dm_arrays *arrays, dm_arrays *device, int piece) {
    (void)arrays, (void)device;
    struct dm_cuda *cuda = plan->team->part[r]->context->cuda;
    const int count = plan->context->team->count;
    for (int next = 1; next < count; next++) { /* no two begin with the same one */
        const int q = (r + next) % count;
        if (!is_other(plan, r, q))
            continue;
        TRY(copy_rows(plan, q, r, piece));
        TRY_CUDA(cuda, cudaEventRecord(plan->team->copy[q][r].arrived, plan->team->copy[q][r].stream));
    }
    return DISTMAP_OK;
}

static distmap_status turn_piece(distmap_plan *plan, int r, const dm_arrays *arrays, dm_arrays *device, int piece) {
    (void)arrays;
    distmap_plan *part = plan->team->part[r];
    struct dm_cuda *cuda = part->context->cuda;
    for (int q = 0; q < plan->context->team->count; q++)
        if (is_other(plan, r, q))
            TRY_CUDA(cuda, cudaStreamWaitEvent(cuda->stream, plan->team->copy[r][q].arrived, 0));
    return plan->method->spread->solve(part, device, piece);
}

static distmap_status turn_end(distmap_plan *plan, int r, const dm_arrays *arrays, dm_arrays *device, int piece) {
    (void)piece;
    distmap_plan *part = plan->team->part[r];
    set_progress(plan, part, part->progress_base, true);
    if (dm_cuda_any_host(arrays))
        TRY(dm_staging_out(part, arrays, device));
    return dm_cuda_mark_end(part);
}

static distmap_status take_turns(distmap_plan *plan, turn *what, const dm_arrays *arrays, dm_arrays *device,
                                 int piece) {
    for (int r = 0; r < plan->context->team->count; r++) {
        distmap_plan *part = plan->team->part[r];
        int previous;
        if (!part)
            continue;
        TRY(dm_cuda_enter(part->context, &previous));
        const distmap_status status = what(plan, r, &arrays[r], &device[r], piece);
        dm_cuda_leave(previous);
        TRY(status);
    }
    return DISTMAP_OK;
}

static distmap_status enqueue(distmap_plan *plan, const dm_arrays *arrays) {
    dm_arrays device[DISTMAP_MAX_GPUS];
    TRY(take_turns(plan, turn_begin, arrays, device, 0));
    TRY(take_turns(plan, turn_copies, arrays, device, 0));
    const int pieces = plan->method->spread->pieces(plan);
    for (int piece = 0; piece < pieces; piece++) {
        TRY(take_turns(plan, turn_send, arrays, device, piece));
        TRY(take_turns(plan, turn_piece, arrays, device, piece));
    }
    return take_turns(plan, turn_end, arrays, device, 0);
}

/* `arrays` are the slabs', one after another. */
static distmap_status execute_parts(distmap_plan *plan, const dm_arrays *arrays) {
    bool host = false;
    for (int r = 0; r < plan->context->team->count; r++) {
        distmap_plan *part = plan->team->part[r];
        if (!part)
            continue;
        host |= dm_cuda_any_host(&arrays[r]);
        dm_execution_start(part);
        part->cuda->pending = false;
    }
    distmap_status status = enqueue(plan, arrays);
    if (status != DISTMAP_OK) {
        dm_fail(plan, status);
        settle(plan);
        return status;
    }
    return host ? dm_team_wait(plan) : DISTMAP_OK;
}

distmap_status dm_team_execute(distmap_plan *plan, const dm_arrays *arrays) {
    dm_arrays slabs[DISTMAP_MAX_GPUS];
    for (int r = 0; r < plan->context->team->count; r++) {
        int64_t first, count;
        slab_of(plan, r, &first, &count);
        slabs[r] = *arrays;
        for (int i = 0; i < DM_ARRAYS; i++) {
            dm_array *array = dm_array_at(&slabs[r], i);
            array->data = array->data ? array->data + first * array->stride[2] : NULL;
        }
    }
    return execute_parts(plan, slabs);
}

static distmap_status check_slab(const distmap_plan *part, const distmap_arrays *slab, size_t slab_bytes,
                                 dm_arrays *arrays) {
    distmap_arrays room;
    DISTMAP_SIZED_TAKE(slab, room);
    return dm_arrays_check(part, slab, arrays);
}

distmap_status dm_team_execute_slabs(distmap_plan *plan, const distmap_arrays *slabs, size_t slabs_bytes) {
    dm_arrays arrays[DISTMAP_MAX_GPUS];
    if (plan->elements == 0)
        return DISTMAP_OK;
    for (int r = 0; r < plan->context->team->count; r++) {
        const distmap_arrays *slab = (const void *)((const char *)slabs + (size_t)r * slabs_bytes);
        const distmap_status status =
            plan->team->part[r] ? check_slab(plan->team->part[r], slab, slabs_bytes, &arrays[r]) : DISTMAP_OK;
        if (status != DISTMAP_OK) {
            char text[512];
            strncpy(text, distmap_error_text(), sizeof text - 1);
            text[sizeof text - 1] = 0;
            return dm_error(status, "slabs[%d]: %s", r, text);
        }
    }
    dm_execution_start(plan);
    return execute_parts(plan, arrays);
}

distmap_status dm_team_wait(distmap_plan *plan) {
    for (int r = 0; r < plan->context->team->count && plan->team; r++) {
        distmap_plan *part = plan->team->part[r];
        if (!part)
            continue;
        const distmap_status status = dm_cuda_wait(part);
        if (status != DISTMAP_OK)
            dm_fail(plan, status);
        dm_flag(plan, atomic_load(&part->flags));
    }
    return (distmap_status)atomic_load(&plan->failure);
}
