/* Plans: choose the method, reserve its scratch, execute. */
#include <math.h>
#include <string.h>

#include "core/internal.h"
#include "core/use.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

static bool is_of_device(const distmap_plan *plan, const dm_method *method) {
    return strcmp(method->info.device, plan->context->device->name) == 0;
}

static bool is_several(const distmap_context *context) { return context->device->execute_slabs; }

/* Why the method does not take the problem; NULL when it does. */
static const char *refusal(const distmap_plan *plan, const dm_method *method) {
    if (method->info.field != plan->problem.field)
        return dm_field_computes(method->info.field);
    const unsigned euclidean = 1u << DISTMAP_METRIC_EUCLIDEAN;
    const unsigned metrics = method->info.metrics ? method->info.metrics : euclidean;
    if (!(metrics >> plan->problem.metric & 1))
        return metrics & euclidean ? "needs the Euclidean metric" : "needs a city-block, chessboard or chamfer metric";
    if (plan->problem.window.count && !method->windows)
        return "needs the whole image, but this problem is a window of it";
    const char *why = method->refuses ? method->refuses(plan) : NULL;
    if (why || !is_several(plan->context))
        return why;
    if (!method->spread)
        return "runs on one GPU, but this context has several";
    if (plan->split.given.ndim)
        return "takes up to four axes over several GPUs";
    return plan->problem.ndim < 2 ? "needs two axes or more over several GPUs" : method->spread->refuses(plan);
}

/* The first exact method that accepts; NULL: none. */
static const dm_method *first_accepting(const distmap_plan *plan) {
    for (size_t i = 0; dm_methods[i]; i++)
        if (dm_methods[i]->info.exact && is_of_device(plan, dm_methods[i]) && !refusal(plan, dm_methods[i]))
            return dm_methods[i];
    return NULL;
}

static distmap_status choose_method(distmap_plan *plan, const char *name) {
    if (name) {
        const distmap_method_info *info = distmap_method_find(name);
        if (!info)
            return bad("options.method is '%s': there is no such method", name);
        for (size_t i = 0; dm_methods[i]; i++)
            if (&dm_methods[i]->info == info)
                plan->method = dm_methods[i];
        if (!is_of_device(plan, plan->method))
            return dm_error(DISTMAP_ERROR_UNSUPPORTED, "method %s runs on the device %s, but this context is for %s",
                            name, info->device, plan->context->device->name);
        const char *why = refusal(plan, plan->method);
        if (why)
            return dm_error(DISTMAP_ERROR_UNSUPPORTED, "method %s %s", name, why);
        return DISTMAP_OK;
    }
    plan->method = first_accepting(plan);
    if (plan->method)
        return DISTMAP_OK;
    return dm_error(DISTMAP_ERROR_UNSUPPORTED, "no method accepts this problem%s",
                    is_several(plan->context) ? " over several GPUs" : "");
}

/* The axes in their memory order, unless the method that was asked for takes them only as they are. Methods that are not exact
 * keep their bits. */
static void take_order(distmap_plan *plan, bool named) {
    if (!dm_order_counts(plan))
        return;
    distmap_plan ordered = *plan;
    dm_order_take(&ordered);
    if (!named)
        ordered.method = first_accepting(&ordered);
    if (ordered.method && ordered.method->info.exact && !(named && refusal(&ordered, ordered.method)))
        *plan = ordered;
}

static distmap_status set_params(distmap_plan *plan, const distmap_plan_options *options) {
    const distmap_method_info *info = &plan->method->info;
    for (size_t k = 0; k < info->param_count; k++)
        plan->params[k] = info->params[k].fallback;
    if (options->param_count && !options->params)
        return bad("options.params is NULL, but param_count is %zu", options->param_count);
    for (size_t i = 0; i < options->param_count; i++) {
        const distmap_param *given = &options->params[i];
        size_t k = 0;
        while (k < info->param_count && (!given->name || strcmp(info->params[k].name, given->name) != 0))
            k++;
        if (k == info->param_count)
            return bad("options.params: method %s has no parameter '%s'", info->name,
                       given->name ? given->name : "NULL");
        if (given->value < info->params[k].lowest || given->value > info->params[k].highest)
            return bad("options.params: %s is %lld, must be %lld to %lld", given->name, (long long)given->value,
                       (long long)info->params[k].lowest, (long long)info->params[k].highest);
        plan->params[k] = given->value;
    }
    return DISTMAP_OK;
}

/* Everything but the scratch. */
static distmap_status prepare(const distmap_context *context, const distmap_problem *problem,
                              const distmap_plan_options *options, distmap_plan *plan) {
    static const distmap_plan_options defaults;
    if (!options)
        options = &defaults;
    TRY(dm_context_check(context));
    *plan = (distmap_plan){.context = (distmap_context *)context,
                           .host_views = options->host_views,
                           .timed = options->timed,
                           .progress_span = 1};
    TRY(dm_problem_check(problem, plan));
    TRY(choose_method(plan, options->method));
    take_order(plan, options->method);
    TRY(set_params(plan, options));
    const char *why = options->param_count ? refusal(plan, plan->method) : NULL; /* which may be about the parameters */
    if (why)
        return dm_error(DISTMAP_ERROR_UNSUPPORTED, "method %s %s", plan->method->info.name, why);
    plan->scratch_bytes = plan->elements ? context->device->scratch_bytes(plan) : 0;
    if (plan->split.given.ndim) {
        const size_t merged = dm_split_scratch_bytes(plan, options);
        plan->scratch_bytes = merged > plan->scratch_bytes ? merged : plan->scratch_bytes;
    }
    return DISTMAP_OK;
}

distmap_status distmap_scratch_bytes_sized(const distmap_context *context, const distmap_problem *problem,
                                           size_t problem_bytes, const distmap_plan_options *options,
                                           size_t options_bytes, size_t *bytes) {
    if (!bytes)
        return bad("bytes is NULL");
    distmap_plan plan;
    distmap_problem problem_room;
    distmap_plan_options options_room;
    DISTMAP_SIZED_TAKE(problem, problem_room);
    DISTMAP_SIZED_TAKE(options, options_room);
    TRY(prepare(context, problem, options, &plan));
    *bytes = plan.scratch_bytes;
    return DISTMAP_OK;
}

distmap_status distmap_arrays_check_sized(const distmap_context *context, const distmap_problem *problem,
                                          size_t problem_bytes, const distmap_plan_options *options,
                                          size_t options_bytes, const distmap_arrays *arrays, size_t arrays_bytes) {
    distmap_plan plan;
    dm_arrays normal;
    distmap_problem problem_room;
    distmap_plan_options options_room;
    distmap_arrays arrays_room;
    DISTMAP_SIZED_TAKE(problem, problem_room);
    DISTMAP_SIZED_TAKE(options, options_room);
    DISTMAP_SIZED_TAKE(arrays, arrays_room);
    TRY(prepare(context, problem, options, &plan));
    return dm_arrays_check(&plan, arrays, &normal);
}

distmap_status distmap_plan_create_sized(distmap_context *context, const distmap_problem *problem, size_t problem_bytes,
                                         const distmap_plan_options *options, size_t options_bytes,
                                         distmap_plan **plan) {
    if (!plan)
        return bad("plan is NULL");
    *plan = NULL;
    distmap_plan made;
    distmap_problem problem_room;
    distmap_plan_options options_room;
    DISTMAP_SIZED_TAKE(problem, problem_room);
    DISTMAP_SIZED_TAKE(options, options_room);
    TRY(prepare(context, problem, options, &made));

    distmap_plan *self = dm_allocate(context, sizeof *self);
    if (!self)
        return DISTMAP_ERROR_MEMORY;
    memcpy(self, &made, sizeof *self);
    dm_plan_live(self, context);
    void *scratch = options ? options->scratch : NULL;
    distmap_status status = DISTMAP_OK;
    if (scratch && options->scratch_bytes < self->scratch_bytes)
        status = bad("options.scratch_bytes is %zu, the plan needs %zu", options->scratch_bytes, self->scratch_bytes);
    else
        status = context->device->reserve(self, scratch);
    if (status == DISTMAP_OK)
        status = dm_split_merge(self, options);
    if (status != DISTMAP_OK)
        distmap_plan_destroy(&self);
    *plan = self;
    return status;
}

/* The texts of what a running execution finds out. */
static distmap_status explain(distmap_status status) {
    if (status == DISTMAP_ERROR_CANCELLED)
        return dm_error(status, "cancelled by the progress callback; outputs are partly written");
    if (status == DISTMAP_ERROR_VALUE)
        return dm_error(status,
                        "arrays.input: a sample is negative or beyond 2^61, or a result does not fit its output's "
                        "dtype; outputs are partly written");
    return status;
}

void dm_execution_start(distmap_plan *plan) {
    atomic_store(&plan->flags, 0);
    plan->outcome = (dm_outcome){0};
    atomic_store(&plan->failure, DISTMAP_OK);
    plan->caller = pthread_self();
    plan->progress_base = plan->progress_told = plan->progress_at = 0;
    dm_phases_start(plan);
}

distmap_status dm_plan_execute(distmap_plan *plan, const distmap_arrays *arrays) {
    dm_arrays normal;
    TRY(dm_arrays_check(plan, arrays, &normal));
    dm_execution_start(plan);
    if (plan->elements == 0)
        return DISTMAP_OK;
    return explain(plan->split.given.ndim ? dm_split_execute(plan, arrays, &normal)
                                          : plan->context->device->execute(plan, &normal));
}

distmap_status distmap_plan_execute_sized(distmap_plan *plan, const distmap_arrays *arrays, size_t arrays_bytes) {
    distmap_arrays room;
    DISTMAP_SIZED_TAKE(arrays, room);
    TRY(dm_use_begin(plan));
    const distmap_status status = dm_plan_execute(plan, arrays);
    dm_use_end(plan);
    return status;
}

distmap_status distmap_plan_execute_slabs_sized(distmap_plan *plan, const distmap_arrays *slabs, size_t slabs_bytes) {
    TRY(dm_plan_check(plan));
    if (!slabs)
        return bad("slabs is NULL");
    distmap_arrays room; /* of one slab, the image; several are taken one by one */
    if (!plan->context->device->execute_slabs)
        DISTMAP_SIZED_TAKE(slabs, room);
    TRY(dm_use_begin(plan));
    const distmap_status status = plan->context->device->execute_slabs
                                      ? explain(plan->context->device->execute_slabs(plan, slabs, slabs_bytes))
                                      : dm_plan_execute(plan, slabs);
    dm_use_end(plan);
    return status;
}

distmap_status distmap_plan_slab(const distmap_plan *plan, int i, int64_t *first, int64_t *count) {
    TRY(dm_plan_check(plan));
    if (!first || !count)
        return bad("%s is NULL", first ? "count" : "first");
    if (plan->context->device->slab)
        return plan->context->device->slab(plan, i, first, count);
    if (i != 0)
        return bad("i is %d, but the context has one device", i);
    const int ndim = plan->problem.ndim;
    *first = plan->first_row;
    if (plan->split.given.ndim)
        *count = plan->split.given.shape[plan->split.given.ndim - 2];
    else
        *count = ndim > 1 ? plan->shape[plan->place[ndim - 2] + DM_NDIM - ndim] : 1;
    return DISTMAP_OK;
}

distmap_status distmap_plan_wait(distmap_plan *plan) {
    TRY(dm_use_begin(plan));
    const distmap_status status = explain(plan->context->device->wait(dm_plan_ran(plan)));
    dm_use_end(plan);
    return status;
}

void distmap_plan_describe_sized(const distmap_plan *plan, distmap_description *description, size_t description_bytes) {
    if (!description || dm_plan_check(plan) != DISTMAP_OK)
        return;
    distmap_description made = {
        .method = plan->method->info.name,
        .isa = distmap_context_isa(plan->context),
        .threads = plan->context->threads,
        .scratch_bytes = plan->scratch_bytes,
        .integer = plan->number != DM_F64,
        .squared_bits = plan->number == DM_U32 ? 32 : 64,
    };
    if (made.integer)
        made.unit = plan->unit.high;
    if (made.integer)
        dm_multiples(plan, made.multiples);
    distmap_sized_fill("description", description, description_bytes, &made, sizeof made);
}

unsigned distmap_plan_flags(const distmap_plan *plan) {
    distmap_plan *self = (distmap_plan *)plan;
    if (dm_use_begin(self) == DISTMAP_OK) {
        self->context->device->wait(dm_plan_ran(self));
        dm_use_end(self);
    }
    return dm_plan_check(self) == DISTMAP_OK ? atomic_load(&dm_plan_ran(self)->flags) : 0;
}

distmap_status distmap_plan_convergence_sized(distmap_plan *plan, distmap_convergence *convergence,
                                              size_t convergence_bytes) {
    TRY(dm_plan_check(plan));
    if (!convergence)
        return bad("convergence is NULL");
    if (plan->problem.field != DISTMAP_FIELD_EDGE_STRENGTH)
        return bad("plan: its problem's field is not EDGE_STRENGTH");
    TRY(distmap_plan_wait(plan));
    const distmap_convergence made = plan->esf.steps
                                         ? (distmap_convergence){plan->esf.steps, NAN}
                                         : (distmap_convergence){plan->outcome.iterations, plan->outcome.residual};
    return distmap_sized_fill("convergence", convergence, convergence_bytes, &made, sizeof made);
}

void distmap_plan_destroy(distmap_plan **plan) {
    if (!plan || !*plan)
        return;
    distmap_plan *self = *plan;
    if (!dm_plan_lives(self))
        return;
    if (dm_plan_is_used(self)) {
        bad("plan: it is in use, and cannot be destroyed");
        return;
    }
    distmap_context *context = self->context;
    distmap_plan_destroy(&self->split.merged);
    dm_plan_end(self);
    context->device->release(self);
    dm_release(context, self, sizeof *self);
    dm_context_release(context);
    *plan = NULL;
}
