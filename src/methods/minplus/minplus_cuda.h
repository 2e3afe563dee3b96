/* minplus/cuda: what its host side and its kernels share.
 *
 * The transform runs in stages, as minplus/cpu does: one solves every (y, x) plane, one more brings in the z axis. Both solve
 * `planes` of rows, along columns:
 *
 *     d2(y, x) = min over rows j of f(j, x) + w (y - j)^2
 *
 * In the plane stage f is wx2 g^2, g being the distance to the nearest site of the same row, which comes from *entries*: an
 * entry says all about 32 pixels of a row in 8 bytes. A *strip* is the 32 columns of an entry: its entries lie side by side,
 * row after row. In the z stage f is the result of the plane stage, from memory.
 *
 * A *group* is four strips, the width of a tile of the near search with sites in volumes; a *unit* is MC_UNIT rows of a strip:
 * what the far searches solve.
 *
 * Labels and signed maps: sites are the elements of another *kind*. *Rims*, which lie beside such an element on their line, take
 * the place of sites in entries, and there are entries *across* rows, too, for each *band* of 32 (minplus_cuda_kinds.cuh).
 */
#ifndef DISTMAP_MINPLUS_CUDA_H
#define DISTMAP_MINPLUS_CUDA_H

#include "cuda/elements.h"

enum {
    MC_NONE = 0xFFFF,       /* distance to a site that is not there */
    MC_NOTHING = INT32_MAX, /* the same of squared distances */
    MC_GROUP = 128,         /* columns of a group */
    MC_SURE = 20000, /* squared distances below this fit 16-bit lanes, whatever the near search adds on the way */
    MC_CORNER_WEIGHT = 1024, /* largest squared pitch along y for corners in large planes (minplus_cuda_corners.cu) */
    MC_WEIGHT = 2500,        /* largest squared pitch along x: then MC_SURE is reached without overflow */
    MC_UNROLLED = 8,         /* the first steps of the near search */
    MC_REACH = 24,           /* steps of the near search that every tile can take */
    MC_KEYS = 28,            /* those that keys of 16 bits can take, */
    MC_KEY_CLAMPS = 4,       /* with squares clamped so often */
    MC_KEY_MOST = 1023,      /* squared distances in these keys */
    MC_STRIDE = 64,          /* how far hard tiles go at first, */
    MC_WIDE = 136,           /* and then, */
    MC_LESS_WIDE = 120,      /* or with less shared memory, */
    MC_LESS_SITES = 112,     /* or so, with sites, */
    MC_LEAST_WIDE = 96,      /* or, with sites, the least, */
    MC_SOON = 48,            /* unless brackets take what is farther */
    MC_UNIT = 64,            /* rows of a unit, */
    MC_FILL = 16,            /* and of a quarter of one */
    MC_ROUNDS = 2,           /* of the corner search */
    MC_DIRECT_ROWS = 32,     /* of a block of the direct search */
    MC_SPAN = 128,           /* rows between points of the bracket search */
    MC_POINT_ROWS = 1024,    /* from the first to the last of a block's points, at most, */
    MC_MOST_POINT_ROWS = 4096, /* and rows that they are queried by */
    MC_TILE_ROWS = 128,      /* of a tile of the near search, at most, */
    MC_TALL_ROWS = 256,      /* but of a tall one */
    MC_MOST_UNITS = 768,     /* of a column: squared distances are below 2^31 */
    MC_PLANE_THREADS = 256,  /* of a block of the far search of planes, */
    MC_Z_THREADS = 512,      /* and of the z stage's, of which fewer find room at once, */
    MC_Z_FEWER = 256,        /* or, with less shared memory, so many, for more values */
    MC_TEAM_BYTES = 1728,    /* its shared memory for every 16 threads, */
    MC_UNIT_BYTES = 4416,    /* for a unit, */
    MC_STATIC_BYTES = 5120,  /* and, at most, what is not asked for, */
    MC_Z_STATIC = 1024,      /* in the z stage, */
    MC_TILE_STATIC = 2048,   /* and of the near search */
    MC_DIRECT_BYTES = 72 << 10, /* shared memory of a block of the direct search, */
    MC_POINT_BYTES = 28 << 10,  /* and of one for points, */
    MC_POINT_ROW_BYTES = 12,    /* and for each row */
};

/* The first of the steps that each of the clamps of keys is for, and what follows the last; 0: a pixel's own row. */
#define MC_KEY_FROM \
    { 0, 14, 20, 25, MC_KEYS + 1 }

/* Shared memory that a block may have, all told. MC_FULL_BYTES are enough for every search. With MC_LESS_BYTES (compute
 * capability 8.6, 8.9, 12.0) some tiles of the near search go less far, and the z stage's far search has room for fewer values;
 * with MC_LEAST_BYTES (7.5) there is no direct search either. */
enum { MC_LEAST_BYTES = 64 << 10, MC_LESS_BYTES = 99 << 10, MC_FULL_BYTES = 112 << 10 };

#define MC_NO_OFFSET 0x80008000u

/* Why the near search leaves a unit open: there is hardly a site in sight; or its steps did not settle it. */
typedef enum mc_left { MC_BLIND, MC_DEEP } mc_left;

/* Of rows of a strip: more than it has. */
enum { MC_MANY = 1 << 30 };

/* What the near search tells of a unit of planes of middle size: how many of its rows it is done with, and its open quarters times
 * this. */
enum { MC_FINISHED_OPEN = 2 * MC_UNIT };

/* Marks of a stage: whether any unit is left for each of these reasons; how many pieces of strips are taken; of each
 * round of the corner search, how many units are shared, and how many blocks know whether theirs is. */
enum { MC_TAKEN = 2, MC_SHARED, MC_DECIDED = MC_SHARED + MC_ROUNDS, MC_MARKS = MC_DECIDED + MC_ROUNDS };

/* How a stage gives sites: not, as linear indices, or as what the z stage starts from, dy << 16 | dx in 16 bits each. */
typedef enum mc_sites { MC_SITES_NONE, MC_SITES_INT32, MC_SITES_INT64, MC_SITES_OFFSET } mc_sites;

typedef struct mc_entry {
    uint32_t bits;  /* bit i: pixel i is a site */
    uint16_t left;  /* from the pixel before the first to the nearest site at or before it */
    uint16_t right; /* from the pixel after the last to the nearest site at or after it */
} mc_entry;

/* A point: of all columns of a strip, among which rows the winners of one row are, and how far at most, squared. */
typedef struct mc_point {
    uint16_t first, last;
    int32_t farthest;
} mc_point;

/* What numbers below 2^31 are divided by, and how (mc_over()): division takes 20 instructions, and blocks begin with several. */
typedef struct mc_divisor {
    uint32_t by, times, shift;
} mc_divisor;

/* With 2^shift the next power of two and times = 2^(31 + shift) / by, rounded up by e < by: n times / 2^(31 + shift) is too large by
 * n e / 2^(31 + shift) / by < 1 / by. */
static inline mc_divisor mc_divisor_of(int64_t by) {
    mc_divisor made = {(uint32_t)by, 0, 0};
    while (((int64_t)1 << made.shift) < by)
        made.shift++;
    made.times = (uint32_t)(((UINT64_C(1) << (31 + made.shift)) + (uint64_t)by - 1) / (uint64_t)by);
    return made;
}

/* 4-byte elements of planes: plane q's element (y, x) lies at data + q / inner * stride[0] + q % inner * stride[1] +
 * y * stride[2] + x * stride[3] bytes. There are fewer than 2^31 rows. */
typedef struct mc_rows {
    char *data;
    mc_divisor inner;
    int64_t stride[4];
} mc_rows;

/* A stage, by value to kernels. */
typedef struct mc_stage {
    int64_t planes;
    int32_t width, height;
    /* Plane stage: `rows` rows have entries, from `low` on. These are 0 and `height`, but for images spread over several GPUs:
     * rows 0 .. height are what this one solves, and the others' are around them. */
    int32_t low, rows;
    int32_t groups, strips; /* of a row */
    int32_t units;          /* of a column */
    mc_divisor by_strips, by_units;
    int32_t wx2, wy2;     /* squared pitch along rows (plane stage), and along columns */
    float per_wx2;        /* 1 / wx2 */
    float apart[2];       /* by how much distances of neighbours in a column, and in a row, differ at most: their pitch */
    mc_entry *entries;    /* [plane][strip][row], row 0's; as many strips as groups have */
    mc_rows source;       /* z stage: int32 squared distances, with sites offsets; NULL in the plane stage */
    int32_t source_w2[2]; /* squared pitches of dy and dx in offsets */
    uint8_t *alive;       /* [plane of (y, x)], volumes: whether it has a site; those without stay unwritten */
    mc_rows target;       /* results; with sites data may be NULL */
    bool squared;         /* as int32, times `factor`, else as float their roots, or distances */
    bool in_unit;         /* in the unit of the pitches, which is not 1 */
    bool large;           /* squared distances may be 2^24 or more */
    uint32_t factor;
    float root_high, root_low, root_lower; /* the unit squared, as in dm_unit */
    double square_high, square_low;
    uint32_t most;                  /* results above are none */
    uint32_t nothing;               /* which is stored as this, if squared */
    uint16_t clamp;                 /* smallest g with wx2 g^2 >= MC_SURE */
    uint16_t done[MC_REACH + 2];    /* what is settled before step k: values up to wy2 k^2, below MC_SURE */
    uint32_t cost[MC_UNROLLED + 1]; /* wy2 k^2, at most MC_SURE, in both halves */
    /* For keys of rows k below and k above: wy2 k^2 << 6 | (32 -+ k), in both halves; what squares are clamped to from each of the
     * steps MC_KEY_FROM on; what comes out below key_sure is exact (minplus_cuda_near_sites.cu). */
    uint32_t key[2][MC_KEYS + 1], key_clamp[MC_KEY_CLAMPS];
    uint32_t key_sure;
    /* Kinds. Bands of 32 rows: one element for a column of a band, at mc_band_at(). */
    int32_t rim;        /* how far beyond a rim the other kind begins: 1; without kinds 0 */
    int32_t bands;      /* of a column */
    mc_entry *across;   /* NULL: without kinds */
    uint32_t *along;    /* [plane][row][strip of groups]: rims along rows, as bits. Plane stage */
    uint32_t *ground;   /* bit i: row i is of the background. Plane stage of labels */
    uint32_t *negative; /* bit i: row i's result is. Last stage of signed maps that store distances */
    float surface;      /* what those are shortened by */
    unsigned *flags;    /* of the plan */
    mc_sites sites;
    mc_rows site;
    int64_t linear[3];   /* how far apart in linear index outer planes, inner planes and rows are, */
    int64_t index_first; /* from the first plane's row 0 on */
    /* Direct search. */
    int32_t row_bits; /* that hold a row, from `low` on */
    /* Far searches: */
    uint32_t *any_open; /* [MC_MARKS] */
    uint8_t *left;      /* [plane][strip][2]: whether the strip has blind units, and deep ones */
    uint8_t *open;      /* [plane][strip][unit]: its open quarters, bits 1 << q; a whole number of words */
    /* by corners, or in the z stage by brackets, where height is all rows, */
    bool brackets, mixed; /* whether at all; only strips with deep units; */
    bool whole;           /* brackets by integers: squared distances may be 2^24 or more */
    /* by corners in other planes, if no more of a strip's rows are open; 0: not at all, */
    int32_t few;
    uint32_t *open_rows; /* [plane][strip]: how many are, MC_MANY if the corner search leaves some. If few */
    int32_t spans;       /* of a column */
    mc_divisor by_spans;
    mc_point *points;   /* [plane][strip][spans + 1]. z stage */
    uint32_t *finished; /* [plane][strip][unit]: what the near search tells of it. If not mixed */
    uint32_t *
        shared; /* units that blocks share, numbers from 1 on; a round's from its first unit's place on. If not mixed */
    int32_t resident; /* blocks that take work in turn: twice those that find room, or more */
    /* and by strips. */
    int32_t parts, part_units, blocks; /* blocks take pieces of strips, part_units units of `parts` to a strip */
    int32_t column_bytes;              /* shared memory of a block */
    int32_t value_rows;                /* z stage: so many rows of a strip find room there */
    uint32_t fall[MC_FILL];            /* 2 wy2 i, in both halves, where that fits */
    uint16_t *list;                    /* [block][list_pitch]: its rows, counted from `low` */
    int64_t list_pitch;
    int32_t column_threads; /* of a block */
} mc_stage;

#ifdef __cplusplus
extern "C" {
#endif
/* Rows of elements into entries; `clear` words from p->any_open on become zero, and so does the outcome, unless NULL. */
cudaError_t mc_pack(const dm_elements *e, const mc_stage *p, int64_t clear, dm_outcome *outcome, cudaStream_t stream);
/* Which planes have a site, p->alive, when all rows' entries are there. */
cudaError_t mc_find_alive(const mc_stage *p, cudaStream_t stream);
/* Kinds: all that p has of bands, and rims along rows, from the stage's elements. */
cudaError_t mc_pack_kinds(const dm_elements *e, const mc_stage *p, const mc_rows *input, cudaStream_t stream);
/* Of that the rims and sides of a signed map, if its elements can be read 16 bytes at a time. */
void mc_find_sides(const dm_elements *e, const mc_stage *p, const mc_rows *input, cudaStream_t stream);
/* Results, where a near search can tell them; what it leaves open. Without sites, and with them. */
cudaError_t mc_near(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_near_small(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_near_middle(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_near_whole(const mc_stage *p, cudaStream_t stream); /* z stage, without kinds */
cudaError_t mc_near_kinds(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_near_sites(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_near_sites_tall(const mc_stage *p, cudaStream_t stream);
/* The same for blocks with less shared memory than MC_FULL_BYTES, and than MC_LESS_BYTES. */
cudaError_t mc_near_less(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_near_kinds_less(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_near_sites_less(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_near_sites_least(const mc_stage *p, cudaStream_t stream);
/* All results of small planes. */
cudaError_t mc_direct(const mc_stage *p, cudaStream_t stream);
/* What was left open: of planes unit by unit, */
cudaError_t mc_corners(const mc_stage *p, cudaStream_t stream);
/* in the z stage by brackets, first the points and then the spans between them, */
cudaError_t mc_points(const mc_stage *p, cudaStream_t stream);
cudaError_t mc_spans(const mc_stage *p, cudaStream_t stream);
/* or by strips. */
cudaError_t mc_far(const mc_stage *p, cudaStream_t stream);
/* Squared distances and, unless NULL, sites, one after another in linear order, into all outputs. */
cudaError_t mc_emit(const dm_elements *e, const int32_t *squared, const int32_t *site, int multiprocessors,
                    cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
