/* The machine that the command runs on, and the devices it computes on. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli.h"
#include "commit.h"
#include "json.h"

/* The processor's name as the kernel tells it; on machines where it does not, the architecture's. */
static void name_cpu(char name[128]) {
    struct utsname system;
    snprintf(name, 128, "%s", uname(&system) ? "unknown" : system.machine);
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    char line[512];
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(name, 128, "%.120s", strchr(line, ':') + 2);
            name[strcspn(name, "\n")] = '\0';
            break;
        }
    fclose(file);
}

void machine_look(struct machine *machine) {
    name_cpu(machine->cpu);
    machine->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    machine->memory_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

void json_add_machine(json_object *object) {
    struct machine machine;
    machine_look(&machine);
    json_object *box = json_object_new_object();
    json_object_object_add(box, "cpu", json_object_new_string(machine.cpu));
    json_object_object_add(box, "processors", json_object_new_int(machine.processors));
    json_object_object_add(box, "memory_bytes", json_object_new_int64((int64_t)machine.memory_bytes));
    json_object_object_add(object, "machine", box);
    json_object_object_add(object, "version", json_object_new_string(distmap_version()));
    json_object_object_add(object, "commit", *CLI_COMMIT ? json_object_new_string(CLI_COMMIT) : NULL);
    json_object_object_add(object, "compiler", json_object_new_string(CLI_COMPILER));
}

/* ---- Devices ---- */

distmap_status place_open_on(const struct options *options, distmap_device device, distmap_progress *progress,
                             void *user, struct place *place, distmap_context **context) {
    const bool several = options->ordinal_count > 1;
    const distmap_context_options how = {.device = device,
                                         .ordinal = several ? 0 : options->ordinals[0],
                                         .ordinals = several ? options->ordinals : NULL,
                                         .ordinal_count = several ? options->ordinal_count : 0,
                                         .threads = options->threads,
                                         .progress = progress,
                                         .progress_user = user};
    *place = (struct place){.device = device, .ordinal = options->ordinals[0]};
    const distmap_status status = distmap_context_create(&how, context);
    distmap_device_info info;
    struct machine machine;
    if (status == DISTMAP_OK && device == DISTMAP_DEVICE_CPU) {
        machine_look(&machine);
        snprintf(place->model, sizeof place->model, "%s", machine.cpu);
    } else if (status == DISTMAP_OK && distmap_device_describe(device, options->ordinals[0], &info) == DISTMAP_OK)
        snprintf(place->model, sizeof place->model, "%s", info.name);
    return status;
}

int place_open(const struct options *options, distmap_progress *progress, void *user, struct place *place,
               distmap_context **context) {
    const distmap_method_info *method = distmap_method_find(options->method);
    const bool by_method = !options->device_given && method;
    distmap_device device = options->device;
    if (by_method && strcmp(method->device, "cuda") == 0)
        device = DISTMAP_DEVICE_CUDA;
    if (!options->device_given && !by_method && distmap_device_count(DISTMAP_DEVICE_CUDA) > 0 &&
        place_open_on(options, DISTMAP_DEVICE_CUDA, progress, user, place, context) == DISTMAP_OK)
        return 0;
    return place_open_on(options, device, progress, user, place, context) ? fail_library() : 0;
}
