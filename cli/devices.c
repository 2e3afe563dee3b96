/* distmap devices: what there is to compute on. */
#include <json-c/json.h>
#include <stdio.h>

#include "cli.h"

static int run(const struct options *options) {
    struct machine machine;
    machine_look(&machine);
    distmap_context *context = NULL;
    if (distmap_context_create(NULL, &context))
        return fail_library();
    if (options->json) {
        json_object *list = json_object_new_array(), *cpu = json_object_new_object();
        json_object_object_add(cpu, "name", json_object_new_string("cpu"));
        json_object_object_add(cpu, "model", json_object_new_string(machine.cpu));
        json_object_object_add(cpu, "isa", json_object_new_string(distmap_context_isa(context)));
        json_object_object_add(cpu, "threads", json_object_new_int(distmap_context_threads(context)));
        json_object_object_add(cpu, "memory_bytes", json_object_new_int64((int64_t)machine.memory_bytes));
        json_object_array_add(list, cpu);
        json_print(list);
    } else
        printf("cpu  %s\n     instruction set %s, %d thread%s, %.1f GiB memory\n", machine.cpu,
               distmap_context_isa(context), distmap_context_threads(context),
               distmap_context_threads(context) == 1 ? "" : "s", machine.memory_bytes / 0x1p30);
    distmap_context_destroy(&context);
    return 0;
}

const struct command command_devices = {
    .name = "devices",
    .bit = DEVICES,
    .arguments = "",
    .summary = "the processors to compute on",
    .about = "Lists the devices: processor, the instruction set chosen (the environment variable DISTMAP_ISA caps\n"
             "it: plain, sse4, avx2, avx512, neon), threads and memory.",
    .example = "  distmap devices --json\n",
    .run = run,
};
