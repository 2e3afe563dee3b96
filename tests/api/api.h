/* What the tests of the API share: cmocka, a small problem with its arrays, reproducible images. */
#ifndef TESTS_API_API_H
#define TESTS_API_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <distmap.h>

enum { HEIGHT = 37, WIDTH = 53, PIXELS = HEIGHT * WIDTH };

static const int64_t small_shape[2] = {HEIGHT, WIDTH};

/* A mask of 37 x 53 bytes to float distances. */
static inline distmap_problem small_problem(void) {
    return (distmap_problem){
        .dtype = DISTMAP_UINT8, .ndim = 2, .shape = {HEIGHT, WIDTH}, .want.distance = DISTMAP_FLOAT32};
}

/* The same shape's edge strengths, after some steps. */
static inline distmap_problem strength_problem(void) {
    distmap_problem p = small_problem();
    p.want = (distmap_outputs){.strength = DISTMAP_FLOAT32};
    p.field = DISTMAP_FIELD_EDGE_STRENGTH;
    p.esf = (distmap_esf){.rho = 8, .steps = 5};
    return p;
}

static inline distmap_arrays small_arrays(const uint8_t *mask, float *distance) {
    return (distmap_arrays){.input = distmap_view_make((void *)mask, DISTMAP_UINT8, 2, small_shape),
                            .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 2, small_shape)};
}

/* The small problem as that method takes it, and its arrays: another metric, or another field. */
static inline distmap_problem small_problem_of(const distmap_method_info *info) {
    if (info->field == DISTMAP_FIELD_EDGE_STRENGTH)
        return strength_problem();
    distmap_problem p = small_problem();
    p.field = info->field; /* a skeleton's distances are floats, too */
    if (info->field == DISTMAP_FIELD_MORPHOLOGY) {
        p.want = (distmap_outputs){.mask = DISTMAP_UINT8};
        p.morphology = (distmap_morphology){.step = DISTMAP_MORPHOLOGY_CLOSE, .radius = 3};
    }
    if (info->field == DISTMAP_FIELD_COMPARISON)
        p.want = (distmap_outputs){0};
    if (info->field == DISTMAP_FIELD_CVT) {
        p.want = (distmap_outputs){.label = DISTMAP_INT32};
        p.cvt = (distmap_cvt){.points = 9, .steps = 2};
    }
    if (info->metrics && !(info->metrics & 1u << DISTMAP_METRIC_EUCLIDEAN))
        p.metric = DISTMAP_METRIC_CHESSBOARD;
    return p;
}

static inline distmap_arrays small_arrays_of(const distmap_method_info *info, distmap_arrays a) {
    if (info->field == DISTMAP_FIELD_EDGE_STRENGTH) {
        a.strength = a.distance;
        a.distance = (distmap_view){0};
    }
    if (info->field == DISTMAP_FIELD_MORPHOLOGY) {
        a.mask = distmap_view_make(a.distance.data, DISTMAP_UINT8, 2, small_shape);
        a.mask.space = a.distance.space;
        a.distance = (distmap_view){0};
    }
    if (info->field == DISTMAP_FIELD_COMPARISON) {
        a.other = a.input;
        a.distance = (distmap_view){0};
    }
    if (info->field == DISTMAP_FIELD_CVT) {
        a.label = a.distance;
        a.label.dtype = DISTMAP_INT32;
        a.distance = (distmap_view){0};
    }
    return a;
}

/* What the phases of a method are called that papers measure phase by phase; tables are made of these. */
typedef struct known_phases {
    const char *method, *names[5]; /* up to NULL */
    distmap_param param;           /* no name: defaults */
    bool at_rest;                  /* edge strengths at rest, not after steps */
} known_phases;

/* The small problem has those phases and no others; `a` are its arrays, as those of a distance. */
static inline void check_known_phases(distmap_context *context, const known_phases *known, const distmap_arrays *a) {
    const distmap_method_info *info = distmap_method_find(known->method);
    const distmap_arrays own = small_arrays_of(info, *a);
    distmap_problem p = small_problem_of(info);
    if (known->at_rest)
        p.esf = (distmap_esf){.rho = p.esf.rho};
    distmap_plan *plan = NULL;
    const distmap_plan_options options = {
        .method = known->method, .timed = true, .params = &known->param, .param_count = known->param.name != NULL};
    assert_int_equal(distmap_plan_create(context, &p, &options, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &own), DISTMAP_OK);
    size_t count = 0;
    for (; known->names[count]; count++) {
        distmap_phase phase;
        assert_int_equal(distmap_plan_phase_get(plan, count, &phase), DISTMAP_OK);
        assert_string_equal(phase.name, known->names[count]);
    }
    assert_int_equal(distmap_plan_phase_count(plan), count);
    distmap_plan_destroy(&plan);
}

/* The first row of the method table, from `row` on, that is one of the CPU. */
static inline size_t cpu_method(size_t row) {
    while (distmap_method_get(row) && strcmp(distmap_method_get(row)->device, "cpu") != 0)
        row++;
    return row;
}

/* About one element in `every` is a site, the same ones for the same seed. */
static inline void paint(uint8_t *mask, size_t count, unsigned every, uint32_t seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        mask[i] = (seed >> 8) % every != 0;
    }
}

#endif
