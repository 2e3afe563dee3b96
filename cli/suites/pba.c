/* Cao, Tang, Mohamed, Tan 2010, and its addendum of 2019: the Parallel Banding Algorithm and PBA+, nearest sites of planes and
 * volumes.
 *
 *   Tables 1, 2   which m1, m2, m3 are fastest for PBA and PBA+ on this GPU, at half the elements being sites
 *   Table 3       both at sizes from 512^2 to 32768^2 and 64^3 to 1024^3, 0.01% to 90% of the elements being sites
 *
 * Figure 6 is Table 3 at 50%, and Figure 7 the phases of its 8192^2. The parameters are searched one after the other, by
 * factors of two up and down from those of the paper's GTX 1080 Ti. Without a GPU the table has lower envelopes of parabolas on
 * the CPU instead, which are no method of the paper, but linear in the elements as well.
 */
#include "suite.h"

#include <math.h>
#include <stdio.h>

enum { PBA, PBA_PLUS };

/* m of the GTX 1080 Ti by Tables 1 and 2. Where PBA had not the memory they, and Table 3, have no entry for it: m is 0. */
static const struct size {
    int ndim;
    int64_t side;
    int m[2][3];
} sizes[] = {
    {2, 512, {{16, 32, 16}, {8, 32, 16}}},
    {2, 1024, {{16, 32, 16}, {16, 32, 16}}},
    {2, 2048, {{32, 32, 16}, {32, 32, 8}}},
    {2, 4096, {{64, 32, 8}, {64, 32, 8}}},
    {2, 8192, {{128, 32, 4}, {128, 32, 4}}},
    {2, 16384, {{0}, {128, 32, 4}}},
    {2, 32768, {{0}, {128, 32, 4}}},
    {3, 64, {{1, 1, 4}, {1, 1, 4}}},
    {3, 128, {{1, 1, 2}, {1, 1, 2}}},
    {3, 256, {{1, 1, 2}, {1, 1, 2}}},
    {3, 512, {{1, 1, 2}, {1, 1, 2}}},
    {3, 768, {{0}, {1, 1, 2}}},
    {3, 1024, {{0}, {1, 1, 2}}},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const char *const variants[] = {"pba", "pba+"}, *const rows[] = {"PBA", "PBA+"};

static void write_params(char text[64], int variant, const int m[3]) {
    snprintf(text, 64, "variant=%s,m1=%d,m2=%d,m3=%d", variants[variant], m[0], m[1], m[2]);
}

static int try_params(struct suite *s, int variant, const int m[3], double *seconds) {
    char text[64];
    write_params(text, variant, m);
    return suite_try(s, &(struct suite_cell){"", "", "pba/cuda", .params = text}, seconds);
}

/* The fastest value of m[k], the others held: as long as one twice, then half as large gains 2%. */
static int climb(struct suite *s, int variant, int k, int m[3], double *best) {
    static const int most[] = {256, 256, 32};
    for (int up = 1; up >= 0; up--)
        for (;;) {
            const int before = m[k];
            double seconds;
            m[k] = up ? 2 * before : before / 2;
            if (m[k] < 1 || m[k] > most[k]) {
                m[k] = before;
                break;
            }
            const int status = try_params(s, variant, m, &seconds);
            if (status)
                return status;
            if (seconds > 0.98 * *best) {
                m[k] = before;
                break;
            }
            *best = seconds;
        }
    return 0;
}

static int search(struct suite *s, const struct size *size, int variant) {
    int m[3] = {size->m[variant][0], size->m[variant][1], size->m[variant][2]};
    double best;
    int status = try_params(s, variant, m, &best);
    for (int k = 0; status == 0 && isfinite(best) && k < 3; k++)
        status = climb(s, variant, k, m, &best);
    char params[64];
    write_params(params, variant, m);
    return status ? status
                  : suite_cell(s, &(struct suite_cell){variant ? "Table 2" : "Table 1", rows[variant], "pba/cuda",
                                                       .params = params});
}

static int time_image(struct suite *s, const struct size *size, double density) {
    char column[32], share[32], row[64];
    int status = suite_image(s, suite_side(column, size->ndim, size->side), "random", density, size->ndim, size->side);
    suite_percent(share, density);
    snprintf(row, sizeof row, "%s random, envelopes", share);
    if (status == 0 && !s->gpu)
        status = suite_cell(s, &(struct suite_cell){"Table 3", row, .method = "envelope/cpu"});
    for (int variant = size->m[PBA][0] ? PBA : PBA_PLUS; status == 0 && variant <= PBA_PLUS; variant++) {
        snprintf(row, sizeof row, "%s random, %s", share, rows[variant]);
        char params[32];
        snprintf(params, sizeof params, "variant=%s", variants[variant]);
        status = suite_cell(s, &(struct suite_cell){"Table 3", row, "pba/cuda", .params = params});
        if (status == 0 && density == 0.5)
            status = search(s, size, variant);
    }
    return status;
}

static int run(struct suite *s) {
    static const double densities[] = {0.0001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9};
    int status = 0;
    for (int i = 0; status == 0 && i < SIZES; i += s->quick ? 4 : 1)
        for (size_t d = 0; status == 0 && d < sizeof densities / sizeof *densities; d++)
            status = time_image(s, &sizes[i], densities[d]);
    return status;
}

const struct suite_info suite_pba = {
    .name = "pba",
    .summary = "Cao, Tang, Mohamed, Tan 2010; Zheng, Tan 2019: PBA and PBA+",
    .want.index = DISTMAP_INT32,
    .run = run,
};
