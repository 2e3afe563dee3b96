/* Fuzz target: files that the command leaves for its next run, and reads again. The first byte says which: the ledger of a run out of core,
 * a shard's mark, the plan of a pass, tuned parameters. Each is taken, or is an error of one line, or counts as nothing.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../cli/outofcore/outofcore.h"
#include "../../cli/pass/pass.h"
#include "fuzz_demand.h"

static char folder[100];
static char said[1000];

static void write_file(const char *path, const uint8_t *data, size_t size) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    DEMAND(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void read_ledger(const uint8_t *data, size_t size) {
    static const char heading[] = "distmap 1\nshape 4 6 5\nboot 0123\n";
    struct ledger ledger = {.fd = -1, .scratch_fd = -1, .largest = -1};
    const struct options options = {.quiet = true, .resume = true, .output = "out.npy"};
    snprintf(ledger.state, sizeof ledger.state, "%s/ledger", folder);
    snprintf(ledger.scratch, sizeof ledger.scratch, "%s/scratch", folder);
    write_file(ledger.state, data, size);
    const int status = ledger_open(&ledger, &options, heading);
    DEMAND((status != 0) == (*said != 0));
    DEMAND(ledger.slabs >= 0 && ledger.panels >= 0 && ledger.slabs + ledger.panels <= (int64_t)size);
    if (status == 0) { /* it goes on, and what it adds is read by the next one */
        const int64_t before = ledger.slabs;
        DEMAND(!ledger_mark(&ledger, "slab", 0, 1, 1));
        ledger_close(&ledger, true);
        struct ledger next = {.fd = -1, .scratch_fd = -1, .largest = -1};
        memcpy(next.state, ledger.state, sizeof next.state);
        memcpy(next.scratch, ledger.scratch, sizeof next.scratch);
        DEMAND(ledger_open(&next, &options, heading) == 0 && next.slabs == before + 1);
        ledger = next;
    }
    ledger_close(&ledger, false);
}

static void read_mark(struct state *state, const uint8_t *data, size_t size) {
    char path[PATH_MAX + 64], missing[100] = "";
    snprintf(path, sizeof path, "%s/shard-2", state->folder);
    write_file(path, data, size);
    state->shards = 3;
    DEMAND(state_count(state, missing, sizeof missing) == 0);
    DEMAND(state->done <= 1 && strstr(missing, state->done ? "1, 3" : "1, 2, 3"));
    unlink(path);
}

static void read_plan(struct state *state, const uint8_t *data, size_t size) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/plan.json", state->folder);
    write_file(path, data, size);
    json_object *plan = state_plan(state), *again = state_plan(state);
    if (plan) {
        distmap_problem problem = {0};
        distmap_dtype samples;
        distmap_image_info info = {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {4, 6, 5}};
        struct options options = {0};
        char input[PLAN_INPUT];
        const char *identity;
        double nodata;
        DEMAND((plan_problem("out.npy", plan, &problem, &samples) != 0) == (*said != 0));
        plan_model(plan, &info);
        plan_nodata(plan, &nodata);
        plan_source(plan, &options, input, &identity);
        plan_is_unfinished(plan);
        *said = '\0';
        DEMAND((plan_compare(state->folder, plan, again) != 0) == (*said != 0));
    }
    json_object_put(plan);
    json_object_put(again);
    unlink(path);
}

static void read_tuned(const uint8_t *data, size_t size) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/tuned.json", folder);
    write_file(path, data, size);
    const int fd = open(path, O_RDONLY);
    json_object *root = json_read(fd);
    close(fd);
    const struct place place = {.device = DISTMAP_DEVICE_CPU, .model = "cpu"};
    const distmap_problem problem = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {64, 64}};
    const distmap_method_info *method;
    for (int m = 0; (method = distmap_method_get((size_t)m)); m++) {
        distmap_param params[MAX_LIST];
        const int count = tuned_values(root, &place, method, &problem, params);
        for (int i = 0; i < count; i++) {
            const distmap_param_info *info = param_find(method, params[i].name);
            DEMAND(info && (info->names || (params[i].value >= info->lowest && params[i].value <= info->highest)));
        }
    }
    json_object_put(root);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct state state;
    if (!*folder) {
        snprintf(folder, sizeof folder, "/dev/shm/distmap-fuzz-state-%ld", (long)getpid());
        snprintf(state.folder, sizeof state.folder, "%s", folder);
        DEMAND(mkdir(folder, 0777) == 0);
    }
    if (size == 0)
        return 0;
    *said = '\0';
    messages_keep(said, sizeof said);
    switch (data[0] % 4) {
    case 0: read_ledger(data + 1, size - 1); break;
    case 1: read_mark(&state, data + 1, size - 1); break;
    case 2: read_plan(&state, data + 1, size - 1); break;
    default: read_tuned(data + 1, size - 1); break;
    }
    DEMAND(!strchr(said, '\n') || !strchr(said, '\n')[1]);
    return 0;
}
