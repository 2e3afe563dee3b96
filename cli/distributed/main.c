/* distmap-mpi: what `distmap edt --distributed` and `distmap bench --suite cluster` become. Its arguments are the command's. */
#include <string.h>

#include "distributed.h"

int main(int argc, char **argv) {
    struct options options = {0};
    bool answered = false;
    distmap_io_own_helper(argc, (const char *const *)argv);
    signals_ignore();
    ranks_begin(&argc, &argv);
    int status = 0;
    if (argc > 1 && strcmp(argv[1], command_edt.name) == 0)
        status = options_read(&command_edt, argc - 1, (const char **)argv + 1, &options, &answered);
    const bool benches = argc > 1 && strcmp(argv[1], command_bench.name) == 0;
    if (benches)
        status = options_read(&command_bench, argc - 1, (const char **)argv + 1, &options, &answered);
    if (status == 0 && !answered && benches && !(options.suite && strcmp(options.suite, "cluster") == 0))
        status = usage("distmap-mpi is started by 'distmap bench --suite cluster' only");
    if (status == 0 && !answered && !benches && !options.distributed)
        status = usage("distmap-mpi is started by 'distmap edt --distributed' only");
    status = ranks_agree(status);
    if (status == 0 && !answered)
        status = benches ? cluster_run(&options) : distributed_run(&options);
    options_free(&options);
    return ranks_end(results_flush(status));
}
