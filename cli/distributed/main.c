/* distmap-mpi: what `distmap edt --distributed` becomes. Its arguments are the command's. */
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
    if (status == 0 && !answered && !options.distributed)
        status = usage("distmap-mpi is started by 'distmap edt --distributed' only");
    status = ranks_agree(status);
    if (status == 0 && !answered)
        status = distributed_run(&options);
    options_free(&options);
    return ranks_end(results_flush(status));
}
