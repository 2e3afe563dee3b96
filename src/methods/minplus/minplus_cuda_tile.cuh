/* Shared by the kernels of the near searches: a tile of two or four strips, with its rows and those around it in shared memory as pairs
 * of squares, the values of columns x and x + 16 in the halves of a word. With sites also a bit per pixel for the side of the
 * site. A file that includes this defines STRIP, the rows of a warp, a multiple of 8, and whether it computes SITES, and
 * has KINDS. minplus_cuda_tile_rows.cuh loads the rows. */
#ifndef DISTMAP_MINPLUS_CUDA_TILE_CUH
#define DISTMAP_MINPLUS_CUDA_TILE_CUH

#include "methods/minplus/minplus_cuda.cuh"

#ifndef MC_TILE_WIDE /* minplus_cuda_near_middle.cu has less */
#define MC_TILE_WIDE MC_WIDE
#endif
#ifndef MC_TILE_BYTES /* of shared memory that the GPU's blocks may have */
#define MC_TILE_BYTES MC_FULL_BYTES
#endif
#ifndef MC_DOWN /* minplus_cuda_near_sites.cu has its own */
#define MC_DOWN 4
#define MC_WORDS 2
#endif
#ifndef MC_TILES_AT_ONCE /* blocks of a multiprocessor, by its shared memory, which four narrow ones fit into */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define MC_TILES_AT_ONCE (256 / THREADS)
#else
#define MC_TILES_AT_ONCE (512 / THREADS)
#endif
#endif

enum {
    LISTS = !SITES && !KINDS, /* of a sparse tile's sites */
    WORDS = MC_WORDS,         /* entries of a row: a tile's strips */
    HALVES = WORDS / 2,       /* 64 columns each, for a warp */
    TILE_COLUMNS = WORDS * 32,
    THREADS = MC_DOWN * HALVES * 32,
    ROWS = MC_DOWN * STRIP,             /* of a tile */
    LOW = ROWS < MC_TILE_ROWS,          /* of which less is known of the density of its sites */
    REACH = SITES ? MC_KEYS : MC_REACH, /* rows around it that every tile loads, */
    Z_REACH = MC_REACH,                 /* and in the z stage, where they take more */
    SPREAD = ROWS + 2 * REACH,
    Z_SPREAD = ROWS + 2 * Z_REACH,
    WIDE = MC_TILE_WIDE,                              /* how far hard tiles go */
    HELD = ROWS + 2 * WIDE,                           /* rows of the shared memory, at most */
    PITCH = HALVES * 33,                              /* words of a row of the shared memory */
    TASKS = (SPREAD * WORDS + THREADS - 1) / THREADS, /* entries of a thread */
    SEGMENT = 8,                                      /* steps between tests beyond MC_REACH */
};

/* Where the pair (half, lane) of a row lies in shared memory. The rows that a warp spreads at once, sixteen of two entries or eight of
 * four, fall into different banks: rows are one or two apart there, halves one, and the words of a half sixteen. */
DM_DEVICE int place_of(int row, int half, int lane) { return row * PITCH + half * 33 + lane; }

/* The first column of a lane's pair. */
DM_DEVICE int32_t column_of(int32_t strip, int half, int lane) {
    return strip * 32 + half * 64 + lane / 16 * 32 + lane % 16;
}

/* Which rows and which half of a tile a warp has. */
DM_DEVICE int strip_of(int warp) { return warp / HALVES * STRIP; }
DM_DEVICE int half_of(int warp) { return warp % HALVES; }

/* Eight rows of an entry come after eight of another. */
DM_DEVICE int task_row(unsigned task) { return (int)(task / (8 * WORDS) * 8 + task % 8); }
DM_DEVICE int task_word(unsigned task) { return (int)(task / 8 % WORDS); }

/* What a block works on. */
typedef struct tile {
    const uint2 *entries; /* plane stage: of the first strip */
    const char *source;   /* z stage: of the plane, */
    const uint8_t *alive; /* and which of its rows have been written */
    int64_t plane;
    int32_t strip, y0; /* the first */
    uint32_t *squares; /* [HELD][PITCH] */
    uint32_t
        *lefts; /* [WORDS][HELD], with sites in the plane stage: bit i: pixel i of the entry has its site on the left */
} tile;

/* Where lane's pairs lie in the strip of a warp: that of the strip's row r is r * PITCH on. */
DM_DEVICE const uint32_t *lane_rows(const tile &t, int warp, int lane) {
    return t.squares + place_of(WIDE + strip_of(warp), half_of(warp), lane);
}

DM_DEVICE uint32_t larger_half(uint32_t word) { return max(word & 0xFFFF, word >> 16); }

/* The largest values of a thread's words, in halves. */
template <int COUNT> DM_DEVICE uint32_t most_in(const uint32_t best[COUNT]) {
    uint32_t most = best[0];
#pragma unroll
    for (int i = 1; i < COUNT; i++)
        most = __vmaxu2(most, best[i]);
    return most;
}
DM_DEVICE uint32_t largest(const uint32_t best[STRIP]) { return larger_half(most_in<STRIP>(best)); }

/* The least of eight pairs. */
DM_DEVICE uint32_t least_of(const uint32_t f[8]) {
    return mc_min3(mc_min3(f[0], f[1], f[2]), mc_min3(f[3], f[4], f[5]), mc_min(f[6], f[7]));
}

/* The cost of step k, in both halves. */
DM_DEVICE uint32_t cost_of(const mc_stage &p, int32_t k) {
    return min((uint32_t)(p.wy2 * k * k), (uint32_t)MC_SURE) * 0x00010001u;
}

/* Which of the halves of a lane's pairs are columns of the image; whether a strip has rows or, in any lane, columns beyond it. */
DM_DEVICE uint32_t inside_of(const mc_stage &p, int32_t x) {
    return (x < p.width ? 0xFFFFu : 0) | (x + 16 < p.width ? 0xFFFF0000u : 0);
}
DM_DEVICE bool is_cut(const mc_stage &p, int32_t y, uint32_t inside) {
    return __any_sync(MC_WHOLE, y + STRIP > p.height || inside != MC_WHOLE);
}

/* Drops the first COUNT of what is coming of a strip; the others move up: a loop goes through the same registers then, for short
 * code. */
template <int COUNT> DM_DEVICE void move_up(uint32_t coming[STRIP]) {
#pragma unroll
    for (int i = COUNT; i < STRIP; i++)
        coming[i - COUNT] = coming[i];
}

/* Bytes of shared memory. */
enum { TILE_BYTES = HELD * (PITCH + SITES * WORDS) * 4 };
static_assert(TILE_BYTES + MC_TILE_STATIC <= MC_TILE_BYTES, "minplus_cuda.c asks the GPU for this");

/* The tiles of a plane, down and across; how many there are. By `down` the near search divides: with a multiplication it had 3 %
 * more instructions, to copy registers. */
typedef struct tiling {
    uint32_t down;
    mc_divisor across;
} tiling;
static inline tiling tiling_of(const mc_stage &p) {
    const tiling made = {(uint32_t)(p.height + ROWS - 1) / ROWS, mc_divisor_of((p.strips + WORDS - 1) / WORDS)};
    return made;
}
static inline unsigned tiles_of(const mc_stage &p, const tiling &t) {
    return (unsigned)p.planes * t.down * t.across.by;
}

/* Where a tile's rows lie in the shared memory. */
DM_DEVICE void set_memory(tile *t, uint32_t *squares) { t->squares = squares, t->lefts = squares + HELD * PITCH; }

/* A block's: tiles of a plane column by column. */
DM_DEVICE tile tile_at(const mc_stage &p, uint32_t block, const tiling &tiles, uint32_t *squares) {
    const uint32_t column = block / tiles.down;
    const mc_divided across = mc_divide(column, tiles.across);
    tile t;
    t.plane = across.whole;
    t.strip = (int32_t)across.rest * WORDS;
    t.y0 = (int32_t)(block - column * tiles.down) * ROWS;
    t.entries = mc_entries(p, t.plane, t.strip);
    t.source = p.source.data ? mc_row(p.source, t.plane, 0) : NULL;
    t.alive = p.source.data ? mc_alive(p, t.plane) : NULL;
    set_memory(&t, squares);
    return t;
}

#endif
