/* The machine that the command runs on. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli.h"

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
