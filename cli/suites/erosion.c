/* The distance transform by erosions on GPUs, Table 1: three images at 512 x 512 and 1024 x 1024.
 *
 *   img1   small objects: few erosions
 *   img2   large objects
 *   img3   one far site: as many erosions as the image is wide
 *
 * The paper's rows have its own configuration: blocks of 16 x 16, one function to a launch, the host looks after each whether
 * something changed, all of the image every time, and 1D-LZ's columns on the CPU. Then that with one thing changed at a time,
 * the kernels as they are here by default, and the same on the CPU.
 */
#include "suite.h"

#include <stdio.h>

#define PAPER "tile=16,steps=1,skip=0,stop=host"

static int time_image(struct suite *s, int64_t side, int image) {
    static const char *const patterns[] = {"objects", "regions", "corner"};
    static const struct suite_cell cells[] = {
        {"Table 1", "Eggers-CPU", "eggers/cpu", .threads = 1},
        {"Table 1", "1D-LZ-CPU", "lz/cpu", .threads = 1},
        {"Table 1", "2D-GPU", "erosion/cuda", .params = "kernel=2d," PAPER},
        {"Table 1", "1D-GPU", "erosion/cuda", .params = "kernel=1d," PAPER},
        {"Table 1", "1D-LZ-GPU", "erosion/cuda", .params = "kernel=1d-lz,columns=cpu," PAPER},
        {"Ideas", "2D-GPU, 16 x 1 + 1 x 16", "erosion/cuda", .params = "kernel=2d,split=1," PAPER},
        {"Ideas", "1D-LZ-GPU, columns on the GPU", "erosion/cuda", .params = "kernel=1d-lz,columns=gpu," PAPER},
        {"Ideas", "2D-GPU, counted launches", "erosion/cuda", .params = "kernel=2d,tile=16,steps=1,skip=0"},
        {"Ideas", "1D-GPU, counted launches", "erosion/cuda", .params = "kernel=1d,tile=16,steps=1,skip=0"},
        {"Ideas", "2D-GPU, skipping", "erosion/cuda", .params = "kernel=2d,tile=16,steps=1,stop=host"},
        {"Ideas", "1D-GPU, skipping", "erosion/cuda", .params = "kernel=1d,tile=16,steps=1,stop=host"},
        {"Ideas", "2D-GPU, larger tiles", "erosion/cuda", .params = "kernel=2d,skip=0,stop=host"},
        {"Ideas", "1D-GPU, larger tiles", "erosion/cuda", .params = "kernel=1d,skip=0,stop=host"},
        {"Ideas", "2D-GPU, all of it", "erosion/cuda", .params = "kernel=2d"},
        {"Ideas", "1D-GPU, all of it", "erosion/cuda", .params = "kernel=1d"},
        {"Ideas", "1D-LZ-GPU, all of it", "erosion/cuda", .params = "kernel=1d-lz"},
        {"On the CPU", "2D on the CPU", "erosion/cpu", "kernel=2d", .threads = 1},
        {"On the CPU", "1D on the CPU", "erosion/cpu", "kernel=1d", .threads = 1},
        {"On the CPU", "1D-LZ on the CPU", "erosion/cpu", "kernel=1d-lz", .threads = 1},
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
