/* esf/cuda, kernel=blocked: several steps of an image to each visit of a tile, row by row, in registers.
 *
 * A warp goes down a strip of 128 columns, four neighbouring ones to a thread, and makes LEVELS steps on the way. With row
 * y of v^0, row y - 1 of v^1 can be made, with that row y - 2 of v^2, and so on, until a row leaves that has made them all:
 *
 *     v^0        row y comes from memory
 *     v^1        row y - 1 is made of v^0's rows y - 2, y - 1, y
 *     v^2        row y - 2 is made of v^1's rows y - 3, y - 2, y - 1
 *     ...
 *     v^LEVELS   row y - LEVELS goes to memory
 *
 * A thread keeps three rows of each, as a ring, and so finds the elements above and below in its own registers; left and
 * right neighbours come by two shuffles for four elements. Nothing is shared, and no warp waits for another: while one waits
 * for memory, the others compute.
 *
 * What is made beside elements that are not there is wrong, and that comes one element farther with each step. A halo takes
 * it up, LEVELS rows above and below the tile and 8 columns on either side, so that rows begin at whole sectors. At the
 * image's border a missing neighbour is the element itself. So it is in an image that goes on as its own mirror image, and
 * such an image stays one, to the bit, because the sum of two neighbours does not depend on their order. So what lies beyond
 * the border is read in the mirror, and steps know of no border.
 *
 * An element costs six operations for a step: three sums, two products and the last sum; and a seventh keeps the shape at
 * 1. Where a >= 0 no v ever falls (esf.h), and on the shape a step comes to 1 at most, because no neighbour exceeds 1. So
 * the larger of v and of what the step makes of it is right for all elements, and the shape need not be read. Where a < 0
 * it goes along with the rows, four bits of each (FALLS). With what the compiler adds these are 8.4. */
#include "methods/esf/esf_cuda.cuh"

enum { COLUMNS = 4, WIDTH = 32 * COLUMNS, HALO = 8, SHORT = 4, LONG = 8 /* steps of a pass, at most */ };
enum { RESIDENT = 12 /* warps on a multiprocessor */, LOWEST = 16, HIGHEST = 128 /* rows of a tile */ };

/* Tiles as high as it takes for them to fill the GPU evenly. */
void ec_plane_tiles(const ec_stage *p, int depth, int multiprocessors, ec_tiles *t) {
    const int64_t strips = p->batches * ((p->nx + WIDTH - 2 * HALO - 1) / (WIDTH - 2 * HALO));
    const int64_t places = (int64_t)RESIDENT * multiprocessors;
    const int64_t turns = (strips * p->ny + places * HIGHEST - 1) / (places * HIGHEST);
    const int64_t each = places * turns > strips ? places * turns / strips : 1;
    int64_t height = (p->ny + each - 1) / each;
    height = height > HIGHEST ? (int64_t)HIGHEST : height;
    height = height < LOWEST ? (int64_t)LOWEST : height;
    ec_tiles_set(p, depth, WIDTH - 2 * HALO, (int)height, 1, t);
}

/* ---- Rows ---- */

/* A thread's part of a row. */
struct part {
    float v[COLUMNS];
};

/* A warp's tile as seen from a thread. */
struct strip {
    const float *from; /* the batch's first row */
    const uint8_t *bits;
    float *to;
    int64_t pitch;
    int width, rows; /* of the image */
    int x, top, end; /* the thread's first column; the tile's rows, [top, end) */
    bool own;        /* the thread's columns are the tile's, not the halo's */
};

/* Where element i of n is found, as the line goes on beyond its ends as its mirror image; and on which side of it the
 * element after it. */
struct mirrored {
    int at, by;
};
DM_DEVICE mirrored mirrored_at(int64_t i, int64_t n) {
    const int64_t there = (i % (2 * n) + 2 * n) % (2 * n);
    return there < n ? mirrored{(int)there, 1} : mirrored{(int)(2 * n - 1 - there), -1};
}

/* What a strip reads next. */
struct reader {
    mirrored row;
    int column[COLUMNS]; /* EDGE: where the thread's elements are found */
};
DM_DEVICE reader reader_at(const strip &s, int row) {
    reader r;
    r.row = mirrored_at(row, s.rows);
    for (int k = 0; k < COLUMNS; k++)
        r.column[k] = mirrored_at(s.x + k, s.width).at;
    return r;
}

/* A row, and four bits of its shape. */
template <bool FALLS, bool EDGE> DM_DEVICE part read_row(const strip &s, reader *r, uint32_t *shape) {
    const float *row = s.from + r->row.at * s.pitch;
    const uint8_t *bits = s.bits + r->row.at * (s.pitch / 8);
    part p;
    *shape = 0;
    if (EDGE) {
        DM_UNROLL
        for (int k = 0; k < COLUMNS; k++) {
            p.v[k] = row[r->column[k]];
            if (FALLS)
                *shape |= (uint32_t)(bits[r->column[k] / 8] >> r->column[k] % 8 & 1) << k;
        }
    } else {
        const float4 v = *(const float4 *)(row + s.x);
        p = part{{v.x, v.y, v.z, v.w}};
        if (FALLS)
            *shape = bits[s.x / 8] >> s.x % 8 & 15;
    }
    const int next = r->row.at + r->row.by;
    if (next >= 0 && next < s.rows)
        r->row.at = next;
    else
        r->row.by = -r->row.by;
    return p;
}

/* ---- Steps ---- */

/* a and dt of each step of a pass; 1 and 0 for steps that it has not, by which every v stays as it is. Where v may fall it may be -0, to
 * which 0 would add up to 0: what such steps gain is made -0, by its sign. */
struct factors {
    float a[LONG], dt[LONG];
    uint32_t sign[LONG];
};

/* A step of the row `mid`, whose shape's bits are the lowest of `shape`. */
template <int AXES, bool FALLS>
DM_DEVICE part step_row(float a, float dt, uint32_t sign, const part &up, const part &mid, const part &down,
                        uint32_t shape) {
    const float left = __shfl_up_sync(EC_WHOLE, mid.v[COLUMNS - 1], 1), right = __shfl_down_sync(EC_WHOLE, mid.v[0], 1);
    part made;
    DM_UNROLL
    for (int k = 0; k < COLUMNS; k++) {
        const float before = k ? mid.v[k ? k - 1 : 0] : left,
                    after = k < COLUMNS - 1 ? mid.v[k < COLUMNS - 1 ? k + 1 : 0] : right;
        const float along = __fadd_rn(before, after);
        const float sum = AXES > 1 ? __fadd_rn(__fadd_rn(up.v[k], down.v[k]), along) : along;
        const float product = __fmul_rn(dt, sum),
                    gained = FALLS ? __uint_as_float(__float_as_uint(product) | sign) : product;
        const float next = __fadd_rn(__fmul_rn(a, mid.v[k]), gained);
        made.v[k] = !FALLS ? fmaxf(mid.v[k], next) : shape >> k & 1 ? 1.0f : next;
    }
    return made;
}

/* Whether anything moves at last. */
template <int AXES, bool FALLS, int LEVELS, bool EDGE> DM_DEVICE bool go_down(const strip &s, const factors &f) {
    part row[LEVELS][3] = {}; /* of each step, in turns */
    uint32_t shape = 0;       /* four bits of each row, the last one's lowest */
    part ahead[3];            /* rows on their way, with their bits */
    uint32_t coming[3], moves = 0;
    reader r = reader_at(s, s.top - LEVELS);
    DM_UNROLL
    for (int turn = 0; turn < 3; turn++)
        ahead[turn] = read_row<FALLS, EDGE>(s, &r, &coming[turn]);
    int y = s.top - 2 * LEVELS; /* of the row that leaves */
    float *to = s.to + y * s.pitch + s.x;
    while (y < s.end) {
        DM_UNROLL
        for (int turn = 0; turn < 3; turn++, y++, to += s.pitch) {
            part v = ahead[turn];
            const uint32_t came = coming[turn];
            ahead[turn] = read_row<FALLS, EDGE>(s, &r, &coming[turn]);
            DM_UNROLL
            for (int i = 0; i < LEVELS; i++) {
                const part made = step_row<AXES, FALLS>(f.a[i], f.dt[i], f.sign[i], row[i][(turn + 1) % 3],
                                                        row[i][(turn + 2) % 3], v, shape >> i * COLUMNS);
                row[i][turn] = v;
                v = made;
            }
            shape = shape << COLUMNS | came;
            if (!s.own || y < s.top || y >= s.end)
                continue;
            dm_store_16(to, v.v[0], v.v[1], v.v[2], v.v[3]);
            DM_UNROLL
            for (int k = 0; k < COLUMNS; k++)
                moves |= __float_as_uint(v.v[k]);
        }
    }
    return moves != 0;
}

/* Grid: a warp to a tile, of which each is a block. Reads 4 bytes per element of tiles and halos, where FALLS 1/8 more;
 * writes 4. Tiles where nothing happens are passed over: both field memories hold what they are worth from the
 * beginning. */
template <int AXES, bool FALLS, int LEVELS>
static __global__ void __launch_bounds__(32, RESIDENT)
    steps_plane(const __grid_constant__ ec_stage p, const __grid_constant__ ec_tiles t,
                const __grid_constant__ factors f, const float *from, float *to, const uint8_t *before,
                uint8_t *after) {
    const int64_t index = blockIdx.x;
    const int lane = (int)threadIdx.x;
    const ec_tile_place at = ec_tile_at(t, index);
    if (ec_flags_around(t, at, before, threadIdx.x) != EC_ALIVE) {
        if (lane == 0)
            after[index] = before[index];
        return;
    }
    const int64_t first = at.batch * p.ny * p.pitch;
    const int left = (int)at.x * t.width - HALO, top = (int)at.y * t.height, x = left + lane * COLUMNS;
    const int rows = (int)p.ny, width = (int)p.nx;
    const strip s = {from + first,
                     (const uint8_t *)p.bits + first / 8,
                     to + first,
                     p.pitch,
                     width,
                     rows,
                     x,
                     top,
                     top + t.height < rows ? top + t.height : rows,
                     x >= left + HALO && x < left + WIDTH - HALO && x < width};
    const bool moved = left < 0 || left + WIDTH > width ? go_down<AXES, FALLS, LEVELS, true>(s, f)
                                                        : go_down<AXES, FALLS, LEVELS, false>(s, f);
    const bool moves = __any_sync(EC_WHOLE, moved);
    if (lane == 0)
        after[index] = (uint8_t)(before[index] | (moves ? EC_MOVES : 0));
}

/* ---- Launches ---- */

template <int AXES, bool FALLS>
static cudaError_t launch(const ec_stage &p, const ec_tiles &t, int pass, int steps, cudaStream_t stream) {
    const float *from = p.field[pass % 2];
    float *to = p.field[(pass + 1) % 2];
    const uint8_t *before = t.flags[pass % 2];
    uint8_t *after = t.flags[(pass + 1) % 2];
    factors f;
    for (int i = 0; i < LONG; i++) {
        f.a[i] = i < steps ? p.a : 1;
        f.dt[i] = i < steps ? p.dt : 0;
        f.sign[i] = i < steps ? 0 : 0x80000000;
    }
    if (steps > SHORT)
        DM_LAUNCH((steps_plane<AXES, FALLS, LONG>), (unsigned)t.count, 32, 0, stream, p, t, f, from, to, before, after);
    else
        DM_LAUNCH((steps_plane<AXES, FALLS, SHORT>), (unsigned)t.count, 32, 0, stream, p, t, f, from, to, before,
                  after);
    return cudaGetLastError();
}

cudaError_t ec_steps_plane(const ec_stage *p, const ec_tiles *t, int pass, int steps, cudaStream_t stream) {
    if (!p->axes) /* no neighbours: v stays the shape */
        return launch<1, false>(*p, *t, pass, 0, stream);
    if (p->axes < 2)
        return p->a < 0 ? launch<1, true>(*p, *t, pass, steps, stream) : launch<1, false>(*p, *t, pass, steps, stream);
    return p->a < 0 ? launch<2, true>(*p, *t, pass, steps, stream) : launch<2, false>(*p, *t, pass, steps, stream);
}
