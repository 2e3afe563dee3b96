/* All kernels of minplus/cpu for one instruction set. A minplus_ISA.c defines MP_TABLE, the name of its table, and
 * includes this; CMake gives that file its compiler flags. Built and tested for plain C, SSE4.2, AVX2, AVX-512, NEON. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/lengths.h"
#include "cpu/rows.h"
#include "cpu/simd.h"
#include "methods/minplus/minplus.h"

#include "methods/minplus/kernel_pack.h"
#include "methods/minplus/kernel_labels.h"
#include "methods/minplus/kernel_vertical.h"
#include "methods/minplus/kernel_near.h"
#include "methods/minplus/kernel_far.h"
#include "methods/minplus/kernel_roots.h"
#include "methods/minplus/kernel_emit.h"
#include "methods/minplus/kernel_ball.h"
#include "methods/minplus/kernel_lines.h"
#include "methods/minplus/kernel_real.h"
#include "methods/minplus/kernel_real_far.h"
#include "methods/minplus/kernel_real_plane.h"
#include "methods/minplus/kernel_plane.h"
#include "methods/minplus/kernel_few.h"
#include "methods/minplus/kernel_slow.h"
#include "methods/minplus/kernel_slow_full.h"
#include "methods/minplus/kernel_slow_tile.h"

const mp_kernels MP_TABLE = {
    .pack_block = pack_block,
    .carry = carry,
    .solve_block = solve_block,
    .slow_tile = slow_tile,
    .ball_tile = ball_tile,
    .real_lanes = REAL_LANES,
    .real_tile = real_tile,
    .real_row = real_row,
    .real_far = real_far_line,
    .real_roots = real_roots,
};
