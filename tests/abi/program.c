/* A program that uses the structs that grow, as programs do: zeros for what it does not name. With -DNEWER their headers have a member
 * `later`, which the library does not know. See programs.sh. */
#include <distmap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 4, WIDTH = 5 };

static void check(distmap_status status) {
    if (status == DISTMAP_OK)
        return;
    fprintf(stderr, "%s\n", distmap_error_text());
    exit(1);
}

#ifdef NEWER
/* The library refuses an unknown member, and names the argument. */
static void refused(distmap_status status, const char *argument) {
    if (status != DISTMAP_ERROR_ARGUMENT || strncmp(distmap_error_text(), argument, strlen(argument)) != 0 ||
        !strstr(distmap_error_text(), "has members that this library")) {
        fprintf(stderr, "want an error about %s, got %d: %s\n", argument, (int)status, distmap_error_text());
        exit(1);
    }
}

static void ask_for_more(distmap_context *context, distmap_problem problem, distmap_arrays arrays, distmap_plan *plan) {
    distmap_context_options where = {.later = {0, 0, 1}};
    distmap_plan_options how = {.later = {1}};
    distmap_context *no_context;
    distmap_plan *no_plan;
    refused(distmap_context_create(&where, &no_context), "options");
    refused(distmap_plan_create(context, &problem, &how, &no_plan), "options");
    problem.later[1] = 1;
    refused(distmap_plan_create(context, &problem, NULL, &no_plan), "problem");
    refused(distmap_transform(&problem, &arrays, NULL), "problem");
    arrays.later[0] = 1;
    refused(distmap_plan_execute(plan, &arrays), "arrays");
    refused(distmap_plan_execute_slabs(plan, &arrays), "slabs");
}
#endif

int main(void) {
    uint8_t mask[HEIGHT * WIDTH];
    float distance[HEIGHT * WIDTH];
    int32_t rows[HEIGHT * WIDTH], columns[HEIGHT * WIDTH];
    memset(mask, 1, sizeof mask);
    mask[0] = 0;
    const distmap_context_options where = {.threads = 1};
    const distmap_problem problem = {.dtype = DISTMAP_UINT8,
                                     .ndim = 2,
                                     .shape = {HEIGHT, WIDTH},
                                     .want = {.distance = DISTMAP_FLOAT32, .coords = DISTMAP_INT32}};
    const distmap_plan_options how = {.method = "brute/cpu", .timed = true};
    const distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, 2, problem.shape),
                                   .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 2, problem.shape),
                                   .coords = {distmap_view_make(rows, DISTMAP_INT32, 2, problem.shape),
                                              distmap_view_make(columns, DISTMAP_INT32, 2, problem.shape)}};
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    check(distmap_context_create(&where, &context));
    check(distmap_plan_create(context, &problem, &how, &plan));
    check(distmap_plan_execute(plan, &arrays));
    check(distmap_plan_execute_slabs(plan, &arrays));

    /* The library fills nothing behind the end of this program's struct. */
    struct {
        distmap_description told;
        char behind[64];
    } description;
    struct {
        distmap_phase told;
        char behind[64];
    } phase;
    memset(&description, 0x55, sizeof description);
    memset(&phase, 0x55, sizeof phase);
    distmap_plan_describe(plan, &description.told);
    check(distmap_plan_phase_get(plan, 0, &phase.told));
    for (size_t i = 0; i < sizeof description.behind; i++)
        if (description.behind[i] != 0x55 || phase.behind[i] != 0x55)
            return 1;
#ifdef NEWER
    ask_for_more(context, problem, arrays, plan);
    if (description.told.later[0] != 0 || description.told.later[2] != 0 || phase.told.later[1] != 0)
        return 1;
#endif
    printf("%s, %d bits, unit %g, %s\n", description.told.method, description.told.squared_bits, description.told.unit,
           phase.told.name);
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        printf("distance %g to (%d, %d)\n", (double)distance[i], (int)rows[i], (int)columns[i]);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    return 0;
}
