/* Cao, Tang, Mohamed, Tan 2010, and its addendum of 2019: the Parallel Banding Algorithm and PBA+, nearest sites of planes and
 * volumes.
 *
 *   Tables 1, 2   which m1, m2, m3 are fastest for PBA and PBA+ on this GPU, at half the elements being sites
 *   Table 3       both with those at sizes from 512^2 to 32768^2 and 64^3 to 1280^3, 0.01% to 90% of the elements being sites
 *   Ideas         from PBA as it was printed to PBA+ as it was printed, and on to what this project added, one idea at a time
 *
 * PBA has the integer test of dominance in Tables 1 and 3, as the one in floating point is not exact on large images.
 * Figure 6 is Table 3 at 50%, and Figure 7 the phases of its 8192^2. The parameters are searched one after the other, by
 * factors of two up and down from those of the paper's GTX 1080 Ti. Without a GPU the table has lower envelopes of parabolas on
 * the CPU instead, which are no method of the paper, but linear in the elements as well.
 */
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    {3, 1280, {{0}, {1, 1, 2}}}, /* beyond the paper's ten bits to a coordinate */
};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* As printed, but for PBA's test. */
static const char *const variants[] = {"variant=pba,lists=converted", "variant=pba+,flood=coordinates"};
static const char *const rows[] = {"PBA", "PBA+"};

enum { PARAMS = 112 };

static void write_params(char text[PARAMS], const char *choices, const int m[3]) {
    snprintf(text, PARAMS, "m1=%d,m2=%d,m3=%d,%s", m[0], m[1], m[2], choices);
}

static int try_params(struct suite *s, int variant, const int m[3], double *seconds) {
    char text[PARAMS];
    write_params(text, variants[variant], m);
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

/* The best m, which the table gets, and a guess where the table is not wanted. */
static int search(struct suite *s, const struct size *size, int variant, int m[3]) {
    const struct suite_cell wanted = {variant ? "Table 2" : "Table 1", rows[variant], "pba/cuda", .params = NULL};
    memcpy(m, size->m[variant], sizeof size->m[variant]);
    if (!s->gpu)
        return suite_cell(s, &wanted);
    double best;
    int status = try_params(s, variant, m, &best);
    for (int k = 0; status == 0 && isfinite(best) && k < 3; k++)
        status = climb(s, variant, k, m, &best);
    char params[PARAMS];
    write_params(params, variants[variant], m);
    return status ? status
                  : suite_cell(s, &(struct suite_cell){variant ? "Table 2" : "Table 1", rows[variant], "pba/cuda",
                                                       .params = params});
}

static int draw(struct suite *s, const struct size *size, double density) {
    char column[32];
    return suite_image(s, suite_side(column, size->ndim, size->side), "random", density, size->ndim, size->side);
}

static int time_ideas(struct suite *s, const int m[3]) {
    static const struct {
        const char *row, *choices;
    } ideas[] = {
        {"PBA as printed", "variant=pba,test=float,lists=converted"},
        {"+ integer test", "variant=pba,lists=converted"},
        {"+ no conversions of lists", "variant=pba"},
        {"+ fused transposes", "variant=pba,flood=coordinates"},
        {"+ independent colouring: PBA+", "variant=pba+,flood=coordinates"},
        {"+ bits in phase 1: ours", "variant=pba+"},
    };
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof ideas / sizeof *ideas; i++) {
        char params[PARAMS];
        write_params(params, ideas[i].choices, m);
        status = suite_cell(s, &(struct suite_cell){"Ideas", ideas[i].row, "pba/cuda", .params = params});
    }
    return status;
}

static int time_image(struct suite *s, const struct size *size, double density, const int m[2][3]) {
    char share[32], row[64], params[PARAMS];
    int status = draw(s, size, density);
    suite_percent(share, density);
    snprintf(row, sizeof row, "%s random, envelopes", share);
    if (status == 0 && !s->gpu)
        status = suite_cell(s, &(struct suite_cell){"Table 3", row, .method = "envelope/cpu"});
    for (int variant = size->m[PBA][0] ? PBA : PBA_PLUS; status == 0 && variant <= PBA_PLUS; variant++) {
        snprintf(row, sizeof row, "%s random, %s", share, rows[variant]);
        write_params(params, variants[variant], m[variant]);
        status = suite_cell(s, &(struct suite_cell){"Table 3", row, "pba/cuda", .params = params});
    }
    snprintf(row, sizeof row, "%s random, PBA+, bits", share);
    write_params(params, "variant=pba+", m[PBA_PLUS]);
    return status ? status : suite_cell(s, &(struct suite_cell){"Table 3", row, "pba/cuda", .params = params});
}

/* Whether some of the size's cells are wanted, so that the search is worth its time. */
static bool wants_some(struct suite *s, const struct size *size, const double *densities, int count) {
    bool wants = false;
    for (int d = 0; d < count; d++)
        for (int variant = PBA; variant <= PBA_PLUS; variant++) {
            char share[32], row[64];
            snprintf(row, sizeof row, "%s random, %s", suite_percent(share, densities[d]), rows[variant]);
            wants |= suite_wants(s, &(struct suite_cell){"Table 3", row, "pba/cuda", .params = NULL});
        }
    for (int variant = size->m[PBA][0] ? PBA : PBA_PLUS; variant <= PBA_PLUS; variant++)
        wants |= suite_wants(
            s, &(struct suite_cell){variant ? "Table 2" : "Table 1", rows[variant], "pba/cuda", .params = NULL});
    return wants || suite_wants(s, &(struct suite_cell){"Ideas", "", "pba/cuda", .params = NULL});
}

static int time_size(struct suite *s, const struct size *size) {
    static const double densities[] = {0.0001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9};
    enum { DENSITIES = sizeof densities / sizeof *densities };
    const bool has_ideas = (size->ndim == 2 && size->side >= 1024 && size->side <= 4096) || size->side == 256;
    int m[2][3];
    int status = draw(s, size, 0.5);
    if (status == 0 && !wants_some(s, size, densities, DENSITIES))
        return 0;
    memcpy(m, size->m, sizeof m);
    for (int variant = size->m[PBA][0] ? PBA : PBA_PLUS; status == 0 && variant <= PBA_PLUS; variant++)
        status = search(s, size, variant, m[variant]);
    if (status == 0 && has_ideas)
        status = time_ideas(s, m[PBA]);
    for (int d = 0; status == 0 && d < DENSITIES; d++)
        status = time_image(s, size, densities[d], m);
    return status;
}

static int run(struct suite *s) {
    int status = 0;
    for (int i = 0; status == 0 && i < SIZES; i += s->quick ? 4 : 1)
        status = time_size(s, &sizes[i]);
    return status;
}

const struct suite_info suite_pba = {
    .name = "pba",
    .summary = "Cao, Tang, Mohamed, Tan 2010; Zheng, Tan 2019: PBA and PBA+",
    .want.index = DISTMAP_INT32,
    .run = run,
};
