/* libFuzzer target for centroidal Voronoi diagrams: the input's first bytes become a problem, the rest weights. The answer is a status
 * with a line of text, or sites, each on an element of its own, whose energy never rose; the same ones the second time, and with
 * two threads.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <distmap.h>

#include "fuzz_take.h"

enum { MOST = 2048, STEPS = 8 }; /* elements and steps of what is executed */

/* Mostly a small number, sometimes any. */
static int64_t take_number(struct source *s, int64_t count) {
    const uint64_t value = take(s, 1);
    return value < 240 ? (int64_t)value % count : (int64_t)take(s, 8);
}

static double take_double(struct source *s) {
    const uint64_t kind = take(s, 1);
    if (kind < 240)
        return (double)(kind % 32) / 16;
    const uint64_t bits = take(s, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static distmap_problem take_problem(struct source *s) {
    static const distmap_dtype weights[] = {DISTMAP_BOOL, DISTMAP_UINT8, DISTMAP_UINT16, DISTMAP_UINT32};
    distmap_problem p = {.field = DISTMAP_FIELD_CVT, .ndim = (int)take_number(s, 4)};
    const uint64_t dtype = take(s, 1);
    p.dtype = dtype < 240 ? weights[dtype % 4] : (distmap_dtype)take(s, 1);
    for (int a = 0; a < DISTMAP_MAX_NDIM; a++) {
        p.shape[a] = take_number(s, 40);
        p.spacing[a] = take(s, 1) % 4 ? 0 : take_double(s);
    }
    p.axes = take(s, 1) % 16 ? 0 : (unsigned)take(s, 1);
    p.cvt.points = take_number(s, 60);
    p.cvt.steps = take_number(s, STEPS + 1);
    p.cvt.omega = take_double(s);
    p.cvt.seed = take(s, 8);
    p.cvt.grids = (int)take_number(s, 5);
    p.want = (distmap_outputs){.sites = DISTMAP_INT64, .energies = DISTMAP_FLOAT64};
    if (take(s, 1) % 8 == 0)
        p.want.sites = (distmap_dtype)take(s, 1);
    if (take(s, 1) % 8 == 0)
        p.want.label = (distmap_dtype)(take(s, 1) % 14);
    return p;
}

static void demand_text(distmap_status status) {
    DEMAND(strcmp(distmap_status_name(status), "unknown") != 0);
    DEMAND(status == DISTMAP_OK || (*distmap_error_text() && !strchr(distmap_error_text(), '\n')));
}

struct found {
    int64_t sites[3 * MOST];
    double energies[STEPS + 1];
};

static distmap_status execute(distmap_context *context, const distmap_problem *p, void *weights, struct found *found) {
    const int64_t places[] = {p->cvt.points, p->ndim}, energies[] = {p->cvt.steps + 1};
    const distmap_arrays arrays = {
        .input = distmap_view_make(weights, p->dtype, p->ndim, p->shape),
        .sites = distmap_view_make(found->sites, DISTMAP_INT64, 2, places),
        .energies = distmap_view_make(found->energies, DISTMAP_FLOAT64, 1, energies),
    };
    distmap_plan *plan = NULL;
    distmap_status status = distmap_plan_create(context, p, NULL, &plan);
    if (status == DISTMAP_OK)
        status = distmap_plan_execute(plan, &arrays);
    demand_text(status);
    distmap_plan_destroy(&plan);
    return status;
}

static void demand_sites(const distmap_problem *p, const struct found *found) {
    uint8_t taken[MOST] = {0};
    for (int64_t i = 0; i < p->cvt.points; i++) {
        int64_t element = 0;
        for (int a = 0; a < p->ndim; a++) {
            const int64_t at = found->sites[i * p->ndim + a];
            DEMAND(at >= 0 && at < p->shape[a]);
            element = element * p->shape[a] + at;
        }
        DEMAND(!taken[element]);
        taken[element] = 1;
    }
    for (int64_t i = 0; i < p->cvt.steps; i++)
        DEMAND(found->energies[i + 1] <= found->energies[i] * (1 + 1e-14) &&
               found->energies[i + 1] >= 0); /* but for rounding */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static distmap_context *context[2];
    static struct found found[3];
    for (int i = 0; i < 2 && !context[i]; i++)
        DEMAND(distmap_context_create(&(distmap_context_options){.threads = i + 1}, &context[i]) == DISTMAP_OK);
    struct source s = {data, size};
    const distmap_problem p = take_problem(&s);
    size_t bytes = 0, elements = 1;
    const distmap_status status = distmap_scratch_bytes(context[0], &p, NULL, &bytes);
    demand_text(status);
    if (status != DISTMAP_OK)
        return 0;
    for (int a = 0; a < p.ndim; a++)
        elements = p.shape[a] && elements > MOST ? MOST + 1 : elements * (size_t)p.shape[a];
    if (elements > MOST || p.cvt.steps > STEPS || p.want.label || p.want.sites != DISTMAP_INT64)
        return 0;
    uint8_t *weights = calloc(elements + 1, distmap_dtype_size(p.dtype));
    DEMAND(weights);
    for (size_t i = 0; i < elements * distmap_dtype_size(p.dtype); i++)
        weights[i] = (uint8_t)take(&s, 1);
    memset(found, 0, sizeof found);
    const distmap_status first = execute(context[0], &p, weights, &found[0]);
    if (first == DISTMAP_OK)
        demand_sites(&p, &found[0]);
    for (int i = 1; i < 3; i++) {
        DEMAND(execute(context[i - 1], &p, weights, &found[i]) == first);
        DEMAND(memcmp(&found[i], &found[0], sizeof found[0]) == 0);
    }
    free(weights);
    return 0;
}
