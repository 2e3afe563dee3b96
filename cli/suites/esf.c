/* Keles 2016, section 3: edge strengths of images of 4 to 256 MB as float32, 1024 x 1024 to 8192 x 8192.
 *
 *   Table 1    a pattern of lines, 50 steps; its ratios are Figure 8
 *   Table 2    the same, 200 steps
 *   Table 3    large regions that grow with the image, 200 steps; its ratios are Figure 9
 *   Figure 7   all shape, 200 steps: nothing is to be computed
 *   At rest    lines and regions once more, not after steps but at rest, up to 4096 x 4096
 *
 * The paper's lines are a Seljuk pattern, repeated in larger images, here strapwork; its regions a portrait turned black
 * and white, here a random field. rho is 64 as in its Figure 6, dt its 0.2; how long steps take depends on neither. The
 * state at rest is that of rho = 16 to a residual of 1e-5: the larger rho is, the longer over-relaxation takes, but not
 * multigrid. CPU rows have one thread, as in the paper, unless they say otherwise. With --quick there is a fifth of the
 * steps.
 */
#include "suite.h"

#include <stdio.h>

static int time_steps(struct suite *s, const char *table, int64_t steps) {
    const struct suite_cell cells[] = {
        {table, "CPU, every element", "esf/cpu", .params = "kernel=serial", .threads = 1},
        {table, "CPU", "esf/cpu", .params = "kernel=skipping", .threads = 1},
        {table, "CPU, plain", "esf/cpu", .params = "kernel=plain", .threads = 1},
        {table, "CPU, blocked", "esf/cpu", .params = "kernel=blocked", .threads = 1},
        {table, "CPU, blocked, all threads", "esf/cpu", .params = "kernel=blocked"},
        {table, "GPU (SM)", "esf/cuda", .params = "kernel=shared"},
        {table, "GPU (TM)", "esf/cuda", .params = "kernel=texture"},
        {table, "GPU (TM), linear memory", "esf/cuda", .params = "kernel=linear"},
        {table, "GPU, blocked", "esf/cuda", .params = "kernel=blocked"},
    };
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof cells / sizeof *cells; i++) {
        struct suite_cell cell = cells[i];
        cell.esf = (distmap_esf){.rho = 64, .dt = 0.2, .steps = s->quick ? steps / 5 : steps};
        cell.work = (double)cell.esf.steps;
        status = suite_cell(s, &cell);
    }
    return status;
}

static int time_rest(struct suite *s) {
    static const struct suite_cell cells[] = {
        {"At rest", "CPU, multigrid", "esf/cpu", .params = "solver=multigrid"},
        {"At rest", "CPU, over-relaxation", "esf/cpu", .params = "solver=sor"},
        {"At rest", "GPU, multigrid", "esf/cuda", .params = "solver=multigrid"},
        {"At rest", "GPU, over-relaxation", "esf/cuda", .params = "solver=sor"},
    };
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof cells / sizeof *cells; i++) {
        struct suite_cell cell = cells[i];
        cell.esf = (distmap_esf){.rho = 16, .tolerance = 1e-5};
        status = suite_cell(s, &cell);
    }
    return status;
}

static int run(struct suite *s) {
    static const struct {
        const char *table, *image, *pattern;
        double density;
        int64_t steps; /* 0: at rest */
        int64_t most;  /* the largest side */
    } tables[] = {
        {"Table 1", "", "strapwork", -1, 50, 8192},      {"Table 2", "", "strapwork", -1, 200, 8192},
        {"Table 3", "", "regions", -1, 200, 8192},       {"Figure 7", "", "random", 1, 200, 8192},
        {"At rest", " lines", "strapwork", -1, 0, 4096}, {"At rest", " regions", "regions", -1, 0, 4096},
    };
    int status = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int64_t side = 1024; status == 0 && side <= tables[i].most; side *= s->quick ? 8 : 2) {
            char column[32];
            snprintf(column, sizeof column, "%lld MB%s", (long long)(side * side * 4 >> 20), tables[i].image);
            status = suite_image(s, column, tables[i].pattern, tables[i].density, 2, side);
            if (status == 0)
                status = tables[i].steps ? time_steps(s, tables[i].table, tables[i].steps) : time_rest(s);
        }
    return status;
}

const struct suite_info suite_esf = {
    .name = "esf",
    .summary = "Keles 2016: the edge strength function",
    .want.strength = DISTMAP_FLOAT32,
    .patience = 4, /* 200 steps of 256 MB by the serial solver, what all are compared with, are 13.4 * 10^9 values */
    .run = run,
};
