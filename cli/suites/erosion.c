/* The distance transform by erosions on GPUs, Table 1: three images at 512 x 512 and 1024 x 1024.
 *
 *   img1   small objects: few erosions
 *   img2   large objects
 *   img3   one far site: as many erosions as the image is wide
 *
 * The paper's rows first; then each kernel as it is here by default (larger tiles, several erosions to a launch), and the same
 * on the CPU. The paper's blocks have 16 x 16 elements and do one erosion.
 */
#include "suite.h"

#include <stdio.h>

static int time_image(struct suite *s, int64_t side, int image) {
    static const char *const patterns[] = {"objects", "regions", "corner"};
    static const struct suite_cell cells[] = {
        {"Table 1", "Eggers-CPU", "eggers/cpu", .threads = 1},
        {"Table 1", "1D-LZ-CPU", "lz/cpu", .threads = 1},
        {"Table 1", "2D-GPU", "erosion/cuda", .params = "kernel=2d,tile=16,steps=1"},
        {"Table 1", "1D-GPU", "erosion/cuda", .params = "kernel=1d,tile=16,steps=1"},
        {"Table 1", "1D-LZ-GPU", "erosion/cuda", .params = "kernel=1d-lz,tile=16,steps=1"},
        {"Table 1", "2D-GPU, default tiles", "erosion/cuda", .params = "kernel=2d"},
        {"Table 1", "1D-GPU, default tiles", "erosion/cuda", .params = "kernel=1d"},
        {"Table 1", "1D-LZ-GPU, default tiles", "erosion/cuda", .params = "kernel=1d-lz"},
        {"Table 1", "2D on the CPU", "erosion/cpu", "kernel=2d", .threads = 1},
        {"Table 1", "1D on the CPU", "erosion/cpu", "kernel=1d", .threads = 1},
        {"Table 1", "1D-LZ on the CPU", "erosion/cpu", "kernel=1d-lz", .threads = 1},
    };
    char column[64], size[32];
    snprintf(column, sizeof column, "%s img%d", suite_side(size, 2, side), image + 1);
    int status = suite_image(s, column, patterns[image], -1, 2, side);
    for (size_t i = 0; status == 0 && i < sizeof cells / sizeof *cells; i++)
        status = suite_cell(s, &cells[i]);
    return status;
}

static int run(struct suite *s) {
    int status = 0;
    for (int64_t side = 512; status == 0 && side <= 1024; side *= 2)
        for (int image = 0; status == 0 && image < 3; image++)
            status = time_image(s, side, image);
    return status;
}

const struct suite_info suite_erosion = {
    .name = "erosion",
    .summary = "distance transform by erosions with structuring functions",
    .want.squared = DISTMAP_UINT32,
    .run = run,
};
