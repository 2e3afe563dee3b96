/* Staging: copies host views through slots of page-locked memory, one after another.
 *
 * The GPU copies from and to page-locked memory only, at the bus's full speed and without our help. So each array moves in
 * chunks through DM_SLOTS slots of such memory: while one chunk is on the bus, the context's threads copy the next ones
 * between the view (any strides) and their slots. In device memory the array is row-major without gaps. A view that is
 * itself page-locked and without gaps needs no slots.
 */
#include <string.h>

#include "cuda/runtime.h"

enum { PIECE_BYTES = 256 << 10 }; /* what one task copies */

/* ---- Layout ---- */

size_t dm_staging_lay_out(const distmap_plan *plan, char *base, dm_arrays *copies) {
    const distmap_problem *p = &plan->problem;
    const distmap_dtype dtypes[] = {p->dtype,        p->payload,     p->comparison.other, p->want.distance,
                                    p->want.squared, p->want.index,  p->want.label,       p->want.strength,
                                    p->want.within,  p->want.beyond, p->want.mask};
    int64_t pitch[DM_NDIM];
    size_t end = 0;
    dm_pitches(plan, pitch);
    for (int i = 0; i < DM_ARRAYS; i++) {
        const int axis = i - DM_ARRAY_COORDS;
        const distmap_dtype dtype = axis < 0 ? dtypes[i] : axis >= DM_NDIM - p->ndim ? p->want.coords : DISTMAP_NONE;
        if (!dtype)
            continue;
        const int64_t size = (int64_t)distmap_dtype_size(dtype);
        if (base) {
            dm_array *copy = dm_array_at(copies, i);
            *copy = (dm_array){.data = base + end, .dtype = dtype, .space = DISTMAP_SPACE_CUDA};
            for (int a = 0; a < DM_NDIM; a++)
                copy->stride[a] = plan->shape[a] > 1 ? pitch[a] * size : 0;
        }
        end += dm_cuda_round((size_t)(plan->elements * size));
    }
    return end;
}

void dm_staging_replace(const distmap_plan *plan, const dm_arrays *arrays, dm_arrays *device) {
    *device = *arrays;
    for (int i = 0; i < DM_ARRAYS; i++) {
        dm_array *array = dm_array_at(device, i);
        if (array->data && array->space == DISTMAP_SPACE_HOST)
            *array = *dm_array_at(&plan->cuda->copies, i);
    }
}

/* ---- Between a strided view and memory without gaps ---- */

/* A view as lines: the last axes that follow each other at one stride are one. */
struct lines {
    char *data;
    size_t size; /* of an element */
    int64_t length, stride;
    int outer; /* axes beyond, slowest first */
    int64_t shape[DM_NDIM], strides[DM_NDIM];
};

static struct lines lines_of(const distmap_plan *plan, const dm_array *array) {
    struct lines l = {.data = array->data, .size = distmap_dtype_size(array->dtype), .length = 1};
    int a = DM_X;
    for (; a >= 0; a--) {
        if (plan->shape[a] == 1)
            continue;
        if (l.length == 1)
            l.stride = array->stride[a];
        else if (array->stride[a] != l.length * l.stride)
            break;
        l.length *= plan->shape[a];
    }
    if (l.length == 1)
        l.stride = (int64_t)l.size;
    for (int b = 0; b <= a; b++)
        if (plan->shape[b] > 1) {
            l.shape[l.outer] = plan->shape[b];
            l.strides[l.outer++] = array->stride[b];
        }
    return l;
}

static bool is_dense(const struct lines *l) { return l->outer == 0 && l->stride == (int64_t)l->size; }

#define COPY_RUN(T)                                      \
    for (int64_t i = 0; i < count; i++)                  \
        if (out)                                         \
            *(T *)(view + i * stride) = ((T *)dense)[i]; \
        else                                             \
            ((T *)dense)[i] = *(T *)(view + i * stride); \
    break

static void copy_run(char *view, int64_t stride, size_t size, int64_t count, char *dense, bool out) {
    if (stride == (int64_t)size) {
        memcpy(out ? view : dense, out ? dense : view, (size_t)count * size);
        return;
    }
    switch (size) {
    case 1: COPY_RUN(uint8_t);
    case 2: COPY_RUN(uint16_t);
    case 4: COPY_RUN(uint32_t);
    default: COPY_RUN(uint64_t);
    }
}

struct piece_work {
    const struct lines *lines;
    int64_t first, count; /* elements of the chunk */
    int64_t piece;        /* elements to a task */
    char *slot;
    bool out; /* from the slot to the view */
};

static void copy_piece(void *arg, size_t index, int worker) {
    (void)worker;
    const struct piece_work *w = arg;
    const struct lines *l = w->lines;
    int64_t done = (int64_t)index * w->piece;
    const int64_t end = done + w->piece < w->count ? done + w->piece : w->count;
    while (done < end) {
        const int64_t at = (w->first + done) % l->length;
        int64_t line = (w->first + done) / l->length;
        const int64_t run = l->length - at < end - done ? l->length - at : end - done;
        char *view = l->data + at * l->stride;
        for (int a = l->outer - 1; a >= 0; a--) {
            view += line % l->shape[a] * l->strides[a];
            line /= l->shape[a];
        }
        copy_run(view, l->stride, l->size, run, w->slot + done * (int64_t)l->size, w->out);
        done += run;
    }
}

/* ---- Transfers ---- */

struct transfer {
    distmap_plan *plan;
    struct lines lines;
    char *device;
    int64_t each, chunks; /* elements to a chunk */
    double share;         /* of all that is staged, for the progress callback */
    bool out;
};

static int64_t chunk_count(const struct transfer *t, int64_t chunk) {
    const int64_t left = t->plan->elements - chunk * t->each;
    return left < t->each ? left : t->each;
}

static distmap_status copy_chunk(const struct transfer *t, int64_t chunk, char *slot) {
    const int64_t count = chunk_count(t, chunk), piece = PIECE_BYTES / (int64_t)t->lines.size;
    struct piece_work work = {&t->lines, chunk * t->each, count, piece, slot, t->out};
    return dm_parallel(t->plan, (size_t)((count + piece - 1) / piece), copy_piece, &work,
                       t->share * (double)count / (double)t->plan->elements);
}

static distmap_status send_chunk(const struct transfer *t, int64_t chunk, char *slot, cudaEvent_t event) {
    struct dm_cuda *cuda = t->plan->context->cuda;
    char *device = t->device + chunk * t->each * (int64_t)t->lines.size;
    const size_t bytes = (size_t)chunk_count(t, chunk) * t->lines.size;
    TRY_CUDA(cuda, cudaMemcpyAsync(t->out ? slot : device, t->out ? device : slot, bytes,
                                   t->out ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, cuda->stream));
    TRY_CUDA(cuda, cudaEventRecord(event, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status upload(const struct transfer *t) {
    struct dm_cuda_plan *own = t->plan->cuda;
    for (int64_t chunk = 0; chunk < t->chunks; chunk++) {
        const unsigned slot = own->next++ % DM_SLOTS;
        char *memory = own->slots + slot * own->slot_bytes;
        TRY_CUDA(t->plan->context->cuda, cudaEventSynchronize(own->slot[slot]));
        TRY(copy_chunk(t, chunk, memory));
        TRY(send_chunk(t, chunk, memory, own->slot[slot]));
    }
    return DISTMAP_OK;
}

/* Chunk i is asked for when chunk i - DM_SLOTS has left their slot. */
static distmap_status download(const struct transfer *t) {
    struct dm_cuda_plan *own = t->plan->cuda;
    const unsigned first = own->next;
    own->next += (unsigned)(t->chunks % DM_SLOTS);
    for (int64_t chunk = 1 - DM_SLOTS; chunk < t->chunks; chunk++) {
        const int64_t ahead = chunk + DM_SLOTS - 1;
        if (ahead < t->chunks) {
            const unsigned slot = (unsigned)((first + ahead) % DM_SLOTS);
            TRY_CUDA(t->plan->context->cuda, cudaEventSynchronize(own->slot[slot]));
            TRY(send_chunk(t, ahead, own->slots + slot * own->slot_bytes, own->slot[slot]));
        }
        if (chunk >= 0) {
            const unsigned slot = (unsigned)((first + chunk) % DM_SLOTS);
            TRY_CUDA(t->plan->context->cuda, cudaEventSynchronize(own->slot[slot]));
            TRY(copy_chunk(t, chunk, own->slots + slot * own->slot_bytes));
        }
    }
    return DISTMAP_OK;
}

static distmap_status move(distmap_plan *plan, const dm_array *host, const dm_array *device, double share, bool out) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct transfer t = {
        .plan = plan, .lines = lines_of(plan, host), .device = device->data, .share = share, .out = out};
    struct cudaPointerAttributes found;
    TRY_CUDA(cuda, cudaPointerGetAttributes(&found, host->data));
    if (found.type == cudaMemoryTypeHost && is_dense(&t.lines)) {
        TRY_CUDA(cuda, cudaMemcpyAsync(out ? host->data : device->data, out ? device->data : host->data,
                                       (size_t)plan->elements * t.lines.size,
                                       out ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, cuda->stream));
        return DISTMAP_OK;
    }
    t.each = (int64_t)(plan->cuda->slot_bytes / t.lines.size);
    t.chunks = (plan->elements + t.each - 1) / t.each;
    return out ? download(&t) : upload(&t);
}

/* Arrays [from, to) that lie in host memory. */
static distmap_status move_all(distmap_plan *plan, const dm_arrays *arrays, const dm_arrays *device, int from, int to) {
    double total = 0;
    for (int i = 0; i < DM_ARRAYS; i++) {
        const dm_array *array = dm_array_at((dm_arrays *)arrays, i);
        if (array->data && array->space == DISTMAP_SPACE_HOST)
            total += (double)distmap_dtype_size(array->dtype);
    }
    for (int i = from; i < to; i++) {
        const dm_array *array = dm_array_at((dm_arrays *)arrays, i);
        if (array->data && array->space == DISTMAP_SPACE_HOST)
            TRY(move(plan, array, dm_array_at((dm_arrays *)device, i), (double)distmap_dtype_size(array->dtype) / total,
                     from > 0));
    }
    return DISTMAP_OK;
}

distmap_status dm_staging_in(distmap_plan *plan, const dm_arrays *arrays, const dm_arrays *device) {
    if (plan->phases.on)
        dm_phase_begin(plan, "upload", DISTMAP_PHASE_TRANSFER);
    return move_all(plan, arrays, device, 0, DM_ARRAY_INPUTS);
}

distmap_status dm_staging_out(distmap_plan *plan, const dm_arrays *arrays, const dm_arrays *device) {
    if (plan->phases.on)
        dm_phase_begin(plan, "download", DISTMAP_PHASE_TRANSFER);
    return move_all(plan, arrays, device, DM_ARRAY_INPUTS, DM_ARRAYS);
}
