/* Man, Uda, Ito, Nakano 2011, section 7: the two-step Euclidean distance map at 9216 x 9216.
 *
 *   Table 1         a picture: the CPU, one thread and more, and the five access modes of the GPU; both steps apart
 *   Voronoi map     the same picture: nearest sites instead of distances
 *   Figure 17       VTV-VTV with tiles in shared memory that are padded against conflicts of banks, and that are not
 *   Figures 19-21   sites at random, 0 to 100% of the elements: VH-VH, VTV-VTV and the CPU
 *   Figure 22       sites evenly spread, likewise
 *
 * The paper's picture is a portrait turned black and white; here it is a random field of large regions, and strapwork.
 */
#include "suite.h"

#include <stdio.h>

enum { SIDE = 9216 };

static int table1(struct suite *s, const char *pattern) {
    static const struct suite_cell modes[] = {
        {"Table 1", "VV-HH", "edm/cuda", .params = "mode=vv-hh"},
        {"Table 1", "HH-VV", "edm/cuda", .params = "mode=hh-vv"},
        {"Table 1", "VH-VH", "edm/cuda", .params = "mode=vh-vh"},
        {"Table 1", "HV-HV", "edm/cuda", .params = "mode=hv-hv"},
        {"Table 1", "VTV-VTV", "edm/cuda", .params = "mode=vtv-vtv"},
    };
    static const struct suite_cell others[] = {
        {"Figure 17", "VTV-VTV, padded", "edm/cuda", .params = "mode=vtv-vtv,pad=1"},
        {"Figure 17", "VTV-VTV, not padded", "edm/cuda", .params = "mode=vtv-vtv,pad=0"},
        {"Voronoi map", "CPU", "edm/cpu", .threads = 1, .index = true},
        {"Voronoi map", "VH-VH", "edm/cuda", .params = "mode=vh-vh", .index = true},
        {"Voronoi map", "VTV-VTV", "edm/cuda", .params = "mode=vtv-vtv", .index = true},
    };
    int status = suite_image(s, pattern, pattern, -1, 2, SIDE);
    const int most = distmap_context_threads(s->cpu);
    for (int threads = 1; status == 0 && threads <= most;
         threads = threads < most && 2 * threads > most ? most : 2 * threads) {
        char row[32];
        snprintf(row, sizeof row, threads == 1 ? "CPU" : "CPU, %d threads", threads);
        status = suite_cell(s, &(struct suite_cell){"Table 1", row, "edm/cpu", .threads = threads});
    }
    for (size_t i = 0; status == 0 && i < sizeof modes / sizeof *modes; i++)
        status = suite_cell(s, &modes[i]);
    for (size_t i = 0; status == 0 && i < sizeof others / sizeof *others; i++)
        status = suite_cell(s, &others[i]);
    return status;
}

static int sweep(struct suite *s, const char *figure, const char *pattern, bool with_cpu) {
    static const double densities[] = {0, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
    const struct suite_cell cells[] = {
        {figure, "VH-VH", "edm/cuda", .params = "mode=vh-vh"},
        {figure, "VTV-VTV", "edm/cuda", .params = "mode=vtv-vtv"},
        {"Figure 20", "CPU", "edm/cpu", .threads = 1},
    };
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof densities / sizeof *densities; i++) {
        char column[32];
        status = suite_image(s, suite_percent(column, densities[i]), pattern, densities[i], 2, SIDE);
        const int count = with_cpu ? 3 : 2;
        for (int k = 0; status == 0 && k < count; k++)
            status = suite_cell(s, &cells[k]);
    }
    return status;
}

static int run(struct suite *s) {
    int status = table1(s, "regions");
    if (status == 0)
        status = table1(s, "strapwork");
    if (status == 0)
        status = sweep(s, "Figure 19", "random", true);
    return status ? status : sweep(s, "Figure 22", "even", false);
}

const struct suite_info suite_man_edm = {
    .name = "man-edm",
    .summary = "Man, Uda, Ito, Nakano 2011: proximate points, access modes",
    .want.distance = DISTMAP_FLOAT32,
    .patience = 6, /* one thread, 9216 x 9216, whatever the machine */
    .run = run,
};
