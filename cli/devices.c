/* distmap devices: what there is to compute on. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"

/* Why there is no GPU, without the device's name, which stands before it. */
static const char *reason(void) {
    static const char prefix[] = "device cuda: ";
    const char *text = distmap_error_text();
    return strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
}

static void add_versions(json_object *object, const char *name, const int version[2]) {
    char text[32];
    snprintf(text, sizeof text, "%d.%d", version[0], version[1]);
    json_object_object_add(object, name, json_object_new_string(text));
}

/* Whether minplus/cuda runs on a GPU, as an open one alone can tell; else why not. */
static bool minplus_runs(int ordinal, char *why, size_t size) {
    const distmap_problem problem = {
        .dtype = DISTMAP_UINT8, .ndim = 2, .shape = {64, 64}, .want = {.distance = DISTMAP_FLOAT32}};
    const distmap_context_options where = {.device = DISTMAP_DEVICE_CUDA, .ordinal = ordinal};
    const distmap_plan_options how = {.method = "minplus/cuda"};
    distmap_context *context = NULL;
    size_t scratch;
    const bool runs = distmap_context_create(&where, &context) == DISTMAP_OK &&
                      distmap_scratch_bytes(context, &problem, &how, &scratch) == DISTMAP_OK;
    snprintf(why, size, "%s", runs ? "" : distmap_error_text());
    distmap_context_destroy(&context);
    return runs;
}

/* Each GPU, into the list if there is one, else in print; or that there is none. */
static int give_gpus(json_object *list) {
    const int count = distmap_device_count(DISTMAP_DEVICE_CUDA);
    if (count == 0 && list) {
        json_object *none = json_object_new_object();
        json_object_object_add(none, "name", json_object_new_string("cuda"));
        json_object_object_add(none, "missing", json_object_new_string(reason()));
        json_object_array_add(list, none);
    } else if (count == 0)
        printf("cuda none: %s\n", reason());
    for (int i = 0; i < count; i++) {
        distmap_device_info gpu;
        if (distmap_device_describe(DISTMAP_DEVICE_CUDA, i, &gpu))
            return fail_library();
        char why[256];
        const bool runs = minplus_runs(i, why, sizeof why);
        if (!list) {
            printf("cuda:%d  %s\n     compute capability %d.%d, %d multiprocessors, %.1f GiB memory, driver for CUDA "
                   "%d.%d\n     %zu KiB of shared memory to a block, %s%s\n",
                   i, gpu.name, gpu.capability[0], gpu.capability[1], gpu.multiprocessors,
                   (double)gpu.memory_bytes / 0x1p30, gpu.driver[0], gpu.driver[1], gpu.shared_bytes >> 10,
                   runs ? "minplus/cuda runs" : "minplus/cuda does not run: ", why);
            continue;
        }
        char name[24];
        snprintf(name, sizeof name, "cuda:%d", i);
        json_object *object = json_object_new_object();
        json_object_object_add(object, "name", json_object_new_string(name));
        json_object_object_add(object, "model", json_object_new_string(gpu.name));
        add_versions(object, "capability", gpu.capability);
        add_versions(object, "driver_cuda", gpu.driver);
        add_versions(object, "runtime_cuda", gpu.runtime);
        json_object_object_add(object, "multiprocessors", json_object_new_int(gpu.multiprocessors));
        json_object_object_add(object, "memory_bytes", json_object_new_int64((int64_t)gpu.memory_bytes));
        json_object_object_add(object, "shared_bytes", json_object_new_int64((int64_t)gpu.shared_bytes));
        json_object_object_add(object, "minplus_cuda", json_object_new_boolean(runs));
        if (!runs)
            json_object_object_add(object, "minplus_cuda_missing", json_object_new_string(why));
        json_object_array_add(list, object);
    }
    return 0;
}

static int run(const struct options *options) {
    struct machine machine;
    machine_look(&machine);
    distmap_context *context = NULL;
    if (distmap_context_create(NULL, &context))
        return fail_library();
    json_object *list = options->json ? json_object_new_array() : NULL;
    if (list) {
        json_object *cpu = json_object_new_object();
        json_object_object_add(cpu, "name", json_object_new_string("cpu"));
        json_object_object_add(cpu, "model", json_object_new_string(machine.cpu));
        json_object_object_add(cpu, "isa", json_object_new_string(distmap_context_isa(context)));
        json_object_object_add(cpu, "threads", json_object_new_int(distmap_context_threads(context)));
        json_object_object_add(cpu, "memory_bytes", json_object_new_int64((int64_t)machine.memory_bytes));
        json_object_array_add(list, cpu);
    } else
        printf("cpu  %s\n     instruction set %s, %d thread%s, %.1f GiB memory\n", machine.cpu,
               distmap_context_isa(context), distmap_context_threads(context),
               distmap_context_threads(context) == 1 ? "" : "s", machine.memory_bytes / 0x1p30);
    distmap_context_destroy(&context);
    const int status = give_gpus(list);
    if (list)
        json_print(list);
    return status;
}

const struct command command_devices = {
    .name = "devices",
    .bit = DEVICES,
    .arguments = "",
    .summary = "the processors and GPUs to compute on",
    .about =
        "Lists the devices: the processor with its instruction set (the environment variable DISTMAP_ISA limits\n"
        "it: plain, sse4, avx2, avx512, neon), threads and memory; and each GPU by its name for --device, with the\n"
        "shared memory of a block, and whether minplus/cuda, the fastest method, runs there; or why there is no GPU.",
    .example = "  distmap devices --json\n",
    .run = run,
};
