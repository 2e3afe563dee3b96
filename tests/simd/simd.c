/* Every vector operation of every instruction set that is compiled in and that the processor has, on random and edge
 * lanes, against what it means lane by lane; guard words show stores beyond their lanes. Needs nothing but the core, so
 * that it runs under an emulator too. */
#define _POSIX_C_SOURCE 200809L
#include "ops.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../matrix/random.h"
#include "../require.h"
#include "cpu/isa.h"

/* ---- What is right ---- */

#define ROW16(name, vector, scalar)                                                         \
    static void want_##name(const struct input *in, struct output *out, unsigned lanes16) { \
        uint16_t *to = (uint16_t *)(out->words + ROOM) + 1;                                 \
        (void)lanes16;                                                                      \
        for (size_t lane = 0; lane < LANES; lane++) {                                       \
            const uint16_t a = in->a16[lane], b = in->b16[lane], c = in->c16[lane];         \
            (void)a, (void)b, (void)c;                                                      \
            to[lane] = (uint16_t)(scalar);                                                  \
        }                                                                                   \
    }
#define ROW32(type, name, scalar)                                                           \
    static void want_##name(const struct input *in, struct output *out, unsigned lanes16) { \
        type *to = (type *)(out->words + ROOM + 1);                                         \
        (void)lanes16;                                                                      \
        for (size_t lane = 0; lane < LANES; lane++) {                                       \
            const int32_t a = in->a[lane], b = in->b[lane], c = in->c[lane];                \
            const float f = in->f[lane], g = in->g[lane];                                   \
            (void)a, (void)b, (void)c, (void)f, (void)g;                                    \
            to[lane] = (type)(scalar);                                                      \
        }                                                                                   \
    }
#define ROW64(name, vector, scalar)                                                         \
    static void want_##name(const struct input *in, struct output *out, unsigned lanes16) { \
        double *to = (double *)(out->words + ROOM);                                         \
        (void)lanes16;                                                                      \
        for (size_t lane = 0; lane < LANES / 2; lane++) {                                   \
            const double x = in->x[lane], y = in->y[lane], z = in->z[lane];                 \
            (void)x, (void)y, (void)z;                                                      \
            to[lane] = (scalar);                                                            \
        }                                                                                   \
    }
#define ROW_I32(name, vector, scalar) ROW32(int32_t, name, scalar)
#define ROW_F32(name, vector, scalar) ROW32(float, name, scalar)
U16_ROWS(ROW16)
I32_ROWS(ROW_I32)
F32_ROWS(ROW_F32)
F64_ROWS(ROW64)

#define ACROSS(name) static void want_##name(const struct input *in, struct output *out, unsigned lanes16)
#define EACH                          \
    size_t lane = ((void)lanes16, 0); \
    lane < LANES;                     \
    lane++

ACROSS(v16_low_high) {
    for (EACH)
        out->words[ROOM + 1 + lane] = in->a16[lane];
}

ACROSS(v16_load_bytes) {
    uint16_t *to = (uint16_t *)(out->words + ROOM) + 1;
    for (EACH)
        to[lane] = in->bytes[lane];
}

ACROSS(v16_store_bytes) {
    uint8_t *to = (uint8_t *)(out->words + ROOM) + 1;
    for (EACH)
        to[lane] = (uint8_t)in->a16[lane];
}

ACROSS(v32_narrow) {
    uint16_t *to = (uint16_t *)(out->words + ROOM) + 1;
    for (EACH)
        to[lane] = (uint32_t)in->a[lane] > 0xFFFF ? 0xFFFF : (uint16_t)in->a[lane];
}

ACROSS(v16_any_gt) {
    for (EACH) {
        uint32_t *to = &out->words[ROOM + lane / lanes16 * lanes16];
        *to = (lane % lanes16 && *to) || in->a16[lane] > in->b16[lane];
    }
}

ACROSS(m32_any) {
    for (EACH) {
        uint32_t *to = &out->words[ROOM + lane / (lanes16 / 2) * (lanes16 / 2)];
        *to = (lane % (lanes16 / 2) && *to) || (in->a[lane] & 15) == 3;
    }
}

ACROSS(m64_any) {
    for (size_t lane = 0, lanes = lanes16 / 4; lane < LANES / 2; lane++) {
        uint32_t *to = &out->words[ROOM + lane / lanes * lanes];
        *to = (lane % lanes && *to) || in->x[lane] < in->y[lane];
    }
}

ACROSS(f64_store_floats) {
    for (size_t lane = ((void)lanes16, 0); lane < LANES / 2; lane++)
        ((float *)(out->words + ROOM + 1))[lane] = (float)in->x[lane];
}

ACROSS(f64_low_high) {
    for (size_t lane = ((void)lanes16, 0); lane < LANES / 2; lane++)
        ((double *)(out->words + ROOM))[lane] = in->a[lane];
}

ACROSS(f64_narrow) {
    for (size_t lane = ((void)lanes16, 0); lane < LANES / 2; lane++)
        out->words[ROOM + 1 + lane] = (uint32_t)(int32_t)lrint(fmin(in->x[lane], 0x1p30));
}

ACROSS(v32_compress) {
    uint32_t *to = out->words + ROOM;
    for (EACH)
        if (in->a[lane] < in->b[lane])
            *to++ = (uint32_t)in->a[lane];
}

ACROSS(v32_stream) {
    for (EACH)
        out->words[ROOM + lane] = (uint32_t)in->a[lane];
}

ACROSS(f32_stream) {
    for (EACH)
        ((float *)(out->words + ROOM))[lane] = (float)in->a[lane];
}

ACROSS(bytes_equal) {
    uint64_t bits[LANES / 64] = {0};
    for (EACH)
        bits[lane / 64] |= (uint64_t)(in->bytes[lane] == in->bytes[lane / 64 * 64]) << lane % 64;
    memcpy(out->words + ROOM, bits, sizeof bits);
}

#define LIST(name, ...) {#name, want_##name},
static const struct op wanted[] = {U16_ROWS(LIST) I32_ROWS(LIST) F32_ROWS(LIST) F64_ROWS(LIST) ACROSS_ROWS(LIST)};
enum { OPS = sizeof wanted / sizeof *wanted };

/* ---- Lanes ---- */

static int32_t random_lane(struct rng *r) {
    static const int32_t edges[] = {0, 1, -1, INT32_MAX, INT32_MIN, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0xFFFE, 1 << 24};
    if (rng_chance(r, 0.3))
        return edges[rng_next(r) % (sizeof edges / sizeof *edges)];
    return (int32_t)(uint32_t)(rng_next(r) >> (32 + rng_next(r) % 31));
}

/* Within what rounds to i32; often ties. */
static float random_real(struct rng *r) {
    static const float edges[] = {0.0f, -0.0f, 0.5f, -0.5f, 1.5f, 2.5f, 0x1p-140f, 0x1p30f, -0x1p30f, 0x1.fffffep22f};
    if (rng_chance(r, 0.3))
        return edges[rng_next(r) % (sizeof edges / sizeof *edges)];
    if (rng_chance(r, 0.3))
        return (float)rng_range(r, -1000, 1000) + 0.5f;
    return (float)(rng_unit(r) - 0.5) * (float)(1u << rng_next(r) % 31);
}

/* Equal ones, infinity, and products and sums whose rounding shows whether they are fused. */
static double random_double(struct rng *r) {
    static const double edges[] = {0, 0.5, 1, 3, 0x1p-300, 0x1.fffffffffffffp200, (double)INFINITY};
    if (rng_chance(r, 0.3))
        return edges[rng_next(r) % (sizeof edges / sizeof *edges)];
    return (rng_unit(r) + 0x1p-20) * (double)(1u << rng_next(r) % 31);
}

struct lanes {
    _Alignas(64) uint16_t u16[3][LANES + 1];
    _Alignas(64) int32_t i32[3][LANES + 1];
    _Alignas(64) float f32[2][LANES + 1];
    _Alignas(64) double f64[3][LANES / 2 + 1];
    _Alignas(64) uint64_t bits[LANES / 64 + 1];
    _Alignas(64) uint8_t bytes[LANES + 1];
};

/* Fills `lanes`; `offset` is 1 where vectors shall be unaligned, else 0. */
static struct input random_input(struct rng *r, struct lanes *lanes, size_t offset) {
    const bool close = rng_chance(r, 0.5); /* a and b mostly equal, or no lane greater */
    const int most = (int)rng_range(r, 0, 255);
    for (size_t i = 0; i <= LANES; i++) {
        for (int k = 0; k < 3; k++) {
            lanes->u16[k][i] = (uint16_t)random_lane(r);
            lanes->i32[k][i] = random_lane(r);
        }
        if (close && !rng_chance(r, 0.03))
            lanes->u16[1][i] = lanes->u16[0][i];
        lanes->f32[0][i] = random_real(r);
        lanes->f32[1][i] = random_real(r);
        lanes->bytes[i] = (uint8_t)rng_range(r, 0, most);
    }
    for (size_t i = 0; i <= LANES / 2; i++)
        for (int k = 0; k < 3; k++)
            lanes->f64[k][i] = random_double(r);
    for (size_t i = 0; i <= LANES / 64; i++)
        lanes->bits[i] = rng_next(r);
    return (struct input){
        .a16 = lanes->u16[0] + offset,
        .b16 = lanes->u16[1] + offset,
        .c16 = lanes->u16[2] + offset,
        .a = lanes->i32[0] + offset,
        .b = lanes->i32[1] + offset,
        .c = lanes->i32[2] + offset,
        .f = lanes->f32[0] + offset,
        .g = lanes->f32[1] + offset,
        .x = lanes->f64[0] + offset,
        .y = lanes->f64[1] + offset,
        .z = lanes->f64[2] + offset,
        .bits = lanes->bits + offset,
        .bytes = lanes->bytes + offset,
        .shift = (int)rng_range(r, 0, 31),
    };
}

/* ---- Instruction sets ---- */

#define ISA(name) extern const struct op_table ops_##name;
OP_ISAS
#undef ISA

static const struct isa_ops {
    const char *name;
    const struct op_table *table;
} isas[] = {
#define ISA(name) {#name, &ops_##name},
    OP_ISAS
#undef ISA
};

static bool processor_has(const char *name) {
    dm_isa isa;
    REQUIRE(setenv("DISTMAP_ISA", name, 1) == 0);
    REQUIRE(dm_isa_choose(&isa) == DISTMAP_OK);
    return strcmp(dm_isa_name(isa), name) == 0;
}

/* Whether one operation gives what it should; tells where not. */
static bool check(const char *isa, const struct op_table *table, size_t i, const struct input *in) {
    static struct output want, got;
    memset(&want, 0xA5, sizeof want);
    memset(&got, 0xA5, sizeof got);
    wanted[i].run(in, &want, table->lanes16);
    table->ops[i].run(in, &got, table->lanes16);
    for (size_t k = 0; k < sizeof want.words / sizeof *want.words; k++)
        if (want.words[k] != got.words[k]) {
            printf("FAILED %s %s: word %zu is %08" PRIx32 ", must be %08" PRIx32 "\n", isa, wanted[i].name, k - ROOM,
                   got.words[k], want.words[k]);
            return false;
        }
    return true;
}

int main(void) {
    enum { ROUNDS = 500 };
    int failed = 0;
    for (size_t s = 0; s < sizeof isas / sizeof *isas; s++) {
        if (!processor_has(isas[s].name)) {
            printf("%s: not on this processor\n", isas[s].name);
            continue;
        }
        struct rng r = {2024};
        bool bad[OPS] = {false};
        for (size_t round = 0; round < ROUNDS; round++) {
            static struct lanes lanes;
            const struct input in = random_input(&r, &lanes, round % 2);
            for (size_t i = 0; i < OPS; i++)
                bad[i] = bad[i] || !check(isas[s].name, isas[s].table, i, &in);
        }
        int wrong = 0;
        for (size_t i = 0; i < OPS; i++)
            wrong += bad[i];
        printf("%s: %d operations, %d wrong\n", isas[s].name, (int)OPS, wrong);
        failed += wrong;
    }
    return failed != 0;
}
