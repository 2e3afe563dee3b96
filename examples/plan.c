/* Many volumes of one shape: make a plan once, execute it for each. The voxels are 2.5 mm apart along z and 1 mm along y
 * and x, sites are the voxels above zero, and each voxel gets its distance and the place of its nearest site.
 *
 * cc plan.c $(pkg-config --cflags --libs distmap) && ./a.out
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <distmap.h>

enum { DEPTH = 20, HEIGHT = 30, WIDTH = 40, VOXELS = DEPTH * HEIGHT * WIDTH, FRAMES = 3 };

int main(void) {
    const int64_t shape[] = {DEPTH, HEIGHT, WIDTH};
    const distmap_context_options options = {.threads = 2};
    const distmap_problem problem = {
        .dtype = DISTMAP_UINT16,
        .ndim = 3,
        .shape = {DEPTH, HEIGHT, WIDTH},
        .sites = {.rule = DISTMAP_SITES_NONZERO},
        .spacing = {2.5, 1, 1},
        .want = {.distance = DISTMAP_FLOAT32, .index = DISTMAP_INT32},
    };
    uint16_t *volume = calloc(VOXELS, sizeof *volume);
    float *distance = malloc(VOXELS * sizeof *distance);
    int32_t *nearest = malloc(VOXELS * sizeof *nearest);
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    int result = 1;

    if (volume == NULL || distance == NULL || nearest == NULL)
        goto end;
    if (distmap_context_create(&options, &context) != DISTMAP_OK)
        goto error;
    if (distmap_plan_create(context, &problem, NULL, &plan) != DISTMAP_OK)
        goto error;

    /* The plan knows shapes and types; the memory is named at each execution, and may change from one to the next. */
    const distmap_arrays arrays = {
        .input = distmap_view_make(volume, DISTMAP_UINT16, 3, shape),
        .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 3, shape),
        .index = distmap_view_make(nearest, DISTMAP_INT32, 3, shape),
    };
    const int corner = VOXELS - 1;
    for (int frame = 0; frame < FRAMES; frame++) {
        volume[frame * HEIGHT * WIDTH] = 1; /* one more site each time: the corner of slice number `frame` */
        if (distmap_plan_execute(plan, &arrays) != DISTMAP_OK)
            goto error;
        const int32_t site = nearest[corner];
        printf("frame %d: the far corner is %.3f mm from its nearest site, (%" PRId32 ", %" PRId32 ", %" PRId32 ")\n",
               frame, distance[corner], site / (HEIGHT * WIDTH), site / WIDTH % HEIGHT, site % WIDTH);
        if (site != frame * HEIGHT * WIDTH)
            goto end;
    }
    result = 0;
    goto end;

error:
    fprintf(stderr, "plan: %s\n", distmap_error_text());
end:
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    free(nearest);
    free(distance);
    free(volume);
    return result;
}
