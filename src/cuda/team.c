/* Several GPUs as one device: their contexts, and the right to use each other's memory. What is asked of devices without a
 * context is asked of single ones. */
#include <string.h>

#include "cuda/team.h"

static distmap_status check_ordinals(const distmap_context_options *options) {
    if (options->ordinal_count > DISTMAP_MAX_GPUS)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: ordinal_count is %d, must be at most %d",
                        options->ordinal_count, DISTMAP_MAX_GPUS);
    if (options->ordinal)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: ordinal is %d, must be 0 with ordinals",
                        options->ordinal);
    if (options->stream)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: stream must be NULL with ordinals");
    const int found = dm_device_cuda.count();
    if (found == 0)
        return DISTMAP_ERROR_DEVICE;
    for (int i = 0; i < options->ordinal_count; i++) {
        if (options->ordinals[i] < 0 || options->ordinals[i] >= found)
            return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: ordinals[%d] is %d, must be 0 to %d", i,
                            options->ordinals[i], found - 1);
        for (int j = 0; j < i; j++)
            if (options->ordinals[i] == options->ordinals[j])
                return dm_error(DISTMAP_ERROR_ARGUMENT,
                                "context options: ordinals[%d] and ordinals[%d] are both %d, GPUs count once", j, i,
                                options->ordinals[i]);
    }
    return DISTMAP_OK;
}

/* Without this right copies between two GPUs go through the host. It is the process's, and may have been given before. */
static distmap_status let_reach(const distmap_context *one, const distmap_context *other, bool *reaches) {
    int can, previous;
    TRY(dm_cuda_enter(one, &previous));
    cudaError_t error = cudaDeviceCanAccessPeer(&can, one->cuda->ordinal, other->cuda->ordinal);
    *reaches = error == cudaSuccess && can;
    if (*reaches)
        error = cudaDeviceEnablePeerAccess(other->cuda->ordinal, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
        (void)cudaGetLastError();
        error = cudaSuccess;
    }
    dm_cuda_leave(previous);
    TRY_CUDA(one->cuda, error);
    return DISTMAP_OK;
}

static distmap_status open_members(distmap_context *context, const distmap_context_options *options) {
    struct dm_team *team = context->team;
    distmap_context_options own = {.device = DISTMAP_DEVICE_CUDA,
                                   .threads = context->threads,
                                   .executor = context->executor,
                                   .allocator = context->allocator,
                                   .progress = context->progress,
                                   .progress_user = context->progress_user};
    for (int i = 0; i < options->ordinal_count; i++) {
        own.ordinal = options->ordinals[i];
        TRY(distmap_context_create(&own, &team->member[i]));
        team->count++;
        const struct dm_cuda *first = team->member[0]->cuda, *cuda = team->member[i]->cuda;
        if (strcmp(cuda->isa, first->isa) != 0)
            return dm_error(DISTMAP_ERROR_ARGUMENT,
                            "context options: cuda:%d is of %s and cuda:%d of %s: several GPUs must be of one compute "
                            "capability",
                            first->ordinal, first->isa, cuda->ordinal, cuda->isa);
    }
    for (int i = 0; i < team->count; i++)
        for (int j = 0; j < team->count; j++)
            if (i != j)
                TRY(let_reach(team->member[i], team->member[j], &team->reaches[i][j]));
    return DISTMAP_OK;
}

static distmap_status open_context(distmap_context *context, const distmap_context_options *options) {
    TRY(check_ordinals(options));
    context->team = dm_allocate(context, sizeof *context->team);
    if (!context->team)
        return DISTMAP_ERROR_MEMORY;
    *context->team = (struct dm_team){0};
    TRY(open_members(context, options));
    context->cuda = context->team->member[0]->cuda;
    return DISTMAP_OK;
}

static void close_context(distmap_context *context) {
    struct dm_team *team = context->team;
    if (!team)
        return;
    for (int i = team->count; i-- > 0;)
        distmap_context_destroy(&team->member[i]);
    dm_release(context, team, sizeof *team);
}

static distmap_status set_stream(distmap_context *context, void *stream) {
    (void)stream;
    return dm_error(DISTMAP_ERROR_UNSUPPORTED, "context: its %d GPUs work on their default streams",
                    context->team->count);
}

static const char *isa(const distmap_context *context) { return context->cuda->isa; }

static distmap_status check_view(const distmap_plan *plan, const char *name, const distmap_view *view) {
    if (view->space != DISTMAP_SPACE_HOST)
        return dm_error(DISTMAP_ERROR_ARGUMENT,
                        "arrays.%s: over several GPUs whole arrays are to be in host memory, and slabs in the GPUs' go "
                        "to distmap_plan_execute_slabs()",
                        name);
    return dm_cuda_check_view(plan, name, view);
}

const dm_device dm_device_team = {
    .device = DISTMAP_DEVICE_CUDA,
    .name = "cuda",
    .space = DISTMAP_SPACE_HOST,
    .open = open_context,
    .close = close_context,
    .set_stream = set_stream,
    .isa = isa,
    .scratch_bytes = dm_team_scratch_bytes,
    .reserve = dm_team_reserve,
    .release = dm_team_release,
    .check_view = check_view,
    .execute = dm_team_execute,
    .wait = dm_team_wait,
    .slab = dm_team_slab,
    .execute_slabs = dm_team_execute_slabs,
};
