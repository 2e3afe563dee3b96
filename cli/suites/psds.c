/* Zhu and Shyu, section 4: the parallel shortest distance scan at 6144 x 6144.
 *
 *   Tables 1, 2   10 to 90 and 100 to 900 points: the scan, enumeration on the GPU and on the CPU, and the two-pass scan on
 *                 the CPU, with all the masks of the paper's section 2: Rosenfeld and Pfaltz's, one thread, as the paper's;
 *                 beside it this project's row-first sweeps (chamfer/cpu), with one thread and all
 *   Figure 12     blocks of 256 threads, more and more of them
 *   Figure 13     6144 blocks, of more and more threads
 *
 * The figures do not say how many points their image has; here it is 100.
 */
#include "suite.h"

#include <stdio.h>

enum { SIDE = 6144 };

static int time_points(struct suite *s, const char *table, int points) {
    const struct suite_cell cells[] = {
        {table, "PSDS", "psds/cuda", .params = "blocks=6144,threads=768"},
        {table, "enumeration, GPU", "brute/cuda", .params = "sites=texture,list=host", .work = points},
        {table, "enumeration, GPU, device's list", "brute/cuda", .params = "sites=texture", .work = points},
        {table, "enumeration, GPU, shared", "brute/cuda", .params = "sites=shared", .work = points},
        {table, "two-pass, city-block", "raster/cpu", .threads = 1, .metric = DISTMAP_METRIC_CITYBLOCK},
        {table, "two-pass, chessboard", "raster/cpu", .threads = 1, .metric = DISTMAP_METRIC_CHESSBOARD},
        {table, "two-pass, 2-3", "raster/cpu", .threads = 1, .metric = DISTMAP_METRIC_CHAMFER, .chamfer = {2, 3}},
        {table, "two-pass, 3-4", "raster/cpu", .threads = 1, .metric = DISTMAP_METRIC_CHAMFER, .chamfer = {3, 4}},
        {table, "two-pass, 5-7", "raster/cpu", .threads = 1, .metric = DISTMAP_METRIC_CHAMFER, .chamfer = {5, 7}},
        {table, "sweeps, 3-4, one thread", "chamfer/cpu", .threads = 1, .metric = DISTMAP_METRIC_CHAMFER,
         .chamfer = {3, 4}},
        {table, "sweeps, 3-4, all threads", "chamfer/cpu", .metric = DISTMAP_METRIC_CHAMFER, .chamfer = {3, 4}},
        {table, "sweeps, 3-4, GPU", "chamfer/cuda", .metric = DISTMAP_METRIC_CHAMFER, .chamfer = {3, 4}},
    };
    char column[32];
    snprintf(column, sizeof column, "%d", points);
    int status = suite_points(s, column, points, 2, SIDE);
    if (status == 0 && !s->gpu)
        status = suite_cell(s, &(struct suite_cell){table, "PSDS on the CPU", .method = "psds/cpu"});
    for (size_t i = 0; status == 0 && i < sizeof cells / sizeof *cells; i++)
        status = suite_cell(s, &cells[i]);
    for (int threads = 1; status == 0 && threads >= 0; threads--) /* last: minutes */
        status = suite_cell(
            s, &(struct suite_cell){table, threads ? "enumeration, CPU, one thread" : "enumeration, CPU, all threads",
                                    .method = "brute/cpu", .threads = threads, .work = points});
    return status;
}

static int sweep(struct suite *s, const char *figure, const char *param, const char *fixed, const int *values,
                 int count) {
    int status = 0;
    for (int i = 0; status == 0 && i < count; i++) {
        char row[32], params[64];
        snprintf(row, sizeof row, "%s=%d", param, values[i]);
        snprintf(params, sizeof params, "%s,%s", row, fixed);
        status = suite_cell(s, &(struct suite_cell){figure, row, "psds/cuda", .params = params});
    }
    return status;
}

static int run(struct suite *s) {
    static const int blocks[] = {8, 16, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096, 6144};
    static const int threads[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    int status = 0;
    for (int unit = 10; unit <= 100; unit *= 10)
        for (int points = unit; status == 0 && points <= 9 * unit; points += s->quick ? 4 * unit : unit)
            status = time_points(s, unit == 10 ? "Table 1" : "Table 2", points);
    if (status == 0)
        status = suite_points(s, "100", 100, 2, SIDE);
    if (status == 0)
        status = sweep(s, "Figure 12", "blocks", "threads=256", blocks, sizeof blocks / sizeof *blocks);
    return status ? status : sweep(s, "Figure 13", "threads", "blocks=6144", threads, sizeof threads / sizeof *threads);
}

const struct suite_info suite_psds = {
    .name = "psds",
    .summary = "Zhu and Shyu: the parallel shortest distance scan",
    .want.distance = DISTMAP_FLOAT32,
    .patience = 60, /* 900 points by enumeration, one thread: 3.4 * 10^10 distances */
    .run = run,
};
