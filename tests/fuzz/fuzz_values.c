/* Fuzz target: the values of the command's options. The first byte says which reader, the rest is the text; a reader takes it, or says
 * why not.
 */
#include <float.h>
#include <string.h>

#include "../../cli/cli.h"
#include "fuzz_demand.h"

enum { READERS = 9 };

static int read_text(int reader, char *text) {
    struct options options = {0};
    number_list numbers = {0};
    name_list names = {0};
    pitch_list pitches = {0};
    distmap_sites sites = {0};
    int64_t a = 0, b = 0;
    double value = 0;
    char unit[16] = "";
    int status = 0;
    switch (reader) {
    case 0: status = value_device("--device", text, &options); break;
    case 1: status = value_bytes("--memory", text, &a); break;
    case 2: status = value_integer("--steps", text, 1, 100, &a); break;
    case 3: status = value_numbers("--percentiles", text, 0, 100, &numbers); break;
    case 4:
        status = value_names("--methods", text, &names);
        for (int i = 0; i < names.count; i++)
            free(names.names[i]);
        break;
    case 5: status = value_length("--limit", text, 0, &value, unit); break;
    case 6: status = value_pitches("--spacing", text, &pitches); break;
    case 7: status = value_shard("--shard", text, &a, &b); break;
    case 8: status = value_sites("--sites", text, &sites); break;
    default:
        status = value_metric("--metric", text, &options);
        free(options.metric_name);
        break;
    }
    if (status == 0 && reader == 1)
        DEMAND(a >= 1);
    if (status == 0 && reader == 7)
        DEMAND(1 <= a && a <= b);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    char said[400] = "", *text = calloc(1, size);
    DEMAND(text);
    memcpy(text, data + 1, size - 1);
    messages_keep(said, sizeof said);
    const int status = read_text(data[0] % (READERS + 1), text);
    DEMAND((status != 0) == (*said != 0));
    free(text);
    return 0;
}
