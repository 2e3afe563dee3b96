/* Intrinsics against definitions in wide integers on the host, on drawn words with many small and extreme ones. The same
 * on a GPU says that the definitions are the device's: nvcc -arch=sm_90 -fmad=false tests/emulation/intrinsics_cuda.cu. */
#include "check_cuda.h"

#include <math.h>
#include <stdint.h>

enum { INPUTS = 3000 };
typedef long long wide;

static wide least(wide a, wide b) { return a < b ? a : b; }
static wide most(wide a, wide b) { return a > b ? a : b; }

/* ---- Rows of words: the device's expression in the words a, b, c; lanes of so many bits, signed or not; the definition
 * in lanes x, y, z, of which the lowest bits are kept ---- */

#define COMPARE_ROWS(ROW, name, bits, is_signed, suffix, operator) \
    ROW(__vset##name##suffix(a, b), bits, is_signed, x operator y) \
    ROW(__vcmp##name##suffix(a, b), bits, is_signed, x operator y ? -1 : 0)

#define LANE_ROWS(ROW, bits, suffix)                                                                    \
    ROW(__vadd##suffix(a, b), bits, 0, x + y)                                                           \
    ROW(__vsub##suffix(a, b), bits, 0, x - y)                                                           \
    ROW(__vaddus##suffix(a, b), bits, 0, least(x + y, (1 << bits) - 1))                                 \
    ROW(__vsubus##suffix(a, b), bits, 0, most(x - y, 0))                                                \
    ROW(__vaddss##suffix(a, b), bits, 1, least(most(x + y, -(1 << (bits - 1))), (1 << (bits - 1)) - 1)) \
    ROW(__vsubss##suffix(a, b), bits, 1, least(most(x - y, -(1 << (bits - 1))), (1 << (bits - 1)) - 1)) \
    ROW(__vminu##suffix(a, b), bits, 0, least(x, y))                                                    \
    ROW(__vmaxu##suffix(a, b), bits, 0, most(x, y))                                                     \
    ROW(__vmins##suffix(a, b), bits, 1, least(x, y))                                                    \
    ROW(__vmaxs##suffix(a, b), bits, 1, most(x, y))                                                     \
    ROW(__vabsdiffu##suffix(a, b), bits, 0, llabs(x - y))                                               \
    ROW(__vabsdiffs##suffix(a, b), bits, 1, llabs(x - y))                                               \
    ROW(__vavgu##suffix(a, b), bits, 0, (x + y + 1) / 2)                                                \
    ROW(__vhaddu##suffix(a, b), bits, 0, (x + y) / 2)                                                   \
    ROW(__vneg##suffix(a), bits, 1, -x)                                                                 \
    ROW(__vnegss##suffix(a), bits, 1, least(-x, (1 << (bits - 1)) - 1))                                 \
    ROW(__vabs##suffix(a), bits, 1, llabs(x))                                                           \
    ROW(__vabsss##suffix(a), bits, 1, least(llabs(x), (1 << (bits - 1)) - 1))                           \
    COMPARE_ROWS(ROW, eq, bits, 0, suffix, ==)                                                          \
    COMPARE_ROWS(ROW, ne, bits, 0, suffix, !=)                                                          \
    COMPARE_ROWS(ROW, ltu, bits, 0, suffix, <)                                                          \
    COMPARE_ROWS(ROW, leu, bits, 0, suffix, <=)                                                         \
    COMPARE_ROWS(ROW, gtu, bits, 0, suffix, >)                                                          \
    COMPARE_ROWS(ROW, geu, bits, 0, suffix, >=)                                                         \
    COMPARE_ROWS(ROW, lts, bits, 1, suffix, <)                                                          \
    COMPARE_ROWS(ROW, les, bits, 1, suffix, <=)                                                         \
    COMPARE_ROWS(ROW, gts, bits, 1, suffix, >)                                                          \
    COMPARE_ROWS(ROW, ges, bits, 1, suffix, >=)

/* The sum x + y, which wraps, of a type's lanes. */
#define DPX_ROWS(ROW, type, bits, is_signed, T)                                      \
    ROW((unsigned)__vimin3_##type(a, b, c), bits, is_signed, least(least(x, y), z))  \
    ROW((unsigned)__vimax3_##type(a, b, c), bits, is_signed, most(most(x, y), z))    \
    ROW((unsigned)__viaddmin_##type(a, b, c), bits, is_signed, least((T)(x + y), z)) \
    ROW((unsigned)__viaddmax_##type(a, b, c), bits, is_signed, most((T)(x + y), z))
#define RELU_ROWS(ROW, type, bits, T)                                                        \
    ROW((unsigned)__vimin_##type##_relu(a, b), bits, 1, most(least(x, y), 0))                \
    ROW((unsigned)__vimax_##type##_relu(a, b), bits, 1, most(most(x, y), 0))                 \
    ROW((unsigned)__vimin3_##type##_relu(a, b, c), bits, 1, most(least(least(x, y), z), 0))  \
    ROW((unsigned)__vimax3_##type##_relu(a, b, c), bits, 1, most(most(most(x, y), z), 0))    \
    ROW((unsigned)__viaddmin_##type##_relu(a, b, c), bits, 1, most(least((T)(x + y), z), 0)) \
    ROW((unsigned)__viaddmax_##type##_relu(a, b, c), bits, 1, most(most((T)(x + y), z), 0))

/* Functions that tell the winner: their value, and the predicates, in a half (or the word) each. */
#define WINNER_ROWS(ROW, which, pick, operator)                                               \
    ROW(value2(__vib##which##_s16x2, a, b), 16, 1, pick(x, y))                                \
    ROW(value2(__vib##which##_u16x2, a, b), 16, 0, pick(x, y))                                \
    ROW(winners2(__vib##which##_s16x2, a, b), 16, 1, x operator y)                            \
    ROW(winners2(__vib##which##_u16x2, a, b), 16, 0, x operator y)                            \
    ROW((p1 = 0, (unsigned)__vib##which##_s32((int)a, (int)b, &p1)), 32, 1, pick(x, y))       \
    ROW((p1 = 0, __vib##which##_u32(a, b, &p1)), 32, 0, pick(x, y))                           \
    ROW((p1 = 0, __vib##which##_s32((int)a, (int)b, &p1), (unsigned)p1), 32, 1, x operator y) \
    ROW((p1 = 0, __vib##which##_u32(a, b, &p1), (unsigned)p1), 32, 0, x operator y)
#define value2(function, a, b) (p1 = p2 = 0, function(a, b, &p1, &p2))
#define winners2(function, a, b) (p1 = p2 = 0, function(a, b, &p1, &p2), (unsigned)p1 << 16 | (unsigned)p2)

/* Whole words: the definition may name a, b and c as unsigned 64-bit numbers, and s, their lowest bits. */
#define WORD_ROWS(ROW)                                                                                                 \
    ROW(__byte_perm(a, b, c), 32, 0,                                                                                   \
        byte_of(x, y, z) | byte_of(x, y, z >> 4) << 8 | byte_of(x, y, z >> 8) << 16 | byte_of(x, y, z >> 12) << 24)    \
    ROW(__funnelshift_l(a, b, c), 32, 0, (wide)((unsigned long long)(y << 32 | x) << z % 32 >> 32))                    \
    ROW(__funnelshift_r(a, b, c), 32, 0, (wide)((unsigned long long)(y << 32 | x) >> z % 32))                          \
    ROW(__funnelshift_lc(a, b, c), 32, 0, z >= 32 ? x : (wide)((unsigned long long)(y << 32 | x) << z >> 32))          \
    ROW(__funnelshift_rc(a, b, c), 32, 0, z >= 32 ? y : (wide)((unsigned long long)(y << 32 | x) >> z))                \
    ROW(__umulhi(a, b), 32, 0, (wide)((unsigned long long)x * (unsigned long long)y >> 32))                            \
    ROW((unsigned)__mulhi((int)a, (int)b), 32, 1, x *y >> 32)                                                          \
    ROW((unsigned)(__umul64hi((unsigned long long)a << 32, b)), 32, 0,                                                 \
        (wide)((unsigned long long)x * (unsigned long long)y >> 32))                                                   \
    ROW(__usad(a, b, c), 32, 0, llabs(x - y) + z)                                                                      \
    ROW(__sad((int)a, (int)b, c), 32, 1, llabs(x - y) + z)                                                             \
    ROW((unsigned)__popc(a), 32, 0, count_bits(x))                                                                     \
    ROW((unsigned)__popcll((unsigned long long)a << 32 | b), 32, 0, count_bits(x) + count_bits(y))                     \
    ROW((unsigned)__clz((int)a), 32, 0, 32 - length(x))                                                                \
    ROW((unsigned)__clzll((long long)((unsigned long long)a << 32 | b)), 32, 0, x ? 32 - length(x) : 64 - length(y))   \
    ROW((unsigned)__ffs((int)a), 32, 0, length(x & -x))                                                                \
    ROW((unsigned)__ffsll((long long)((unsigned long long)a << 32 | b)), 32, 0,                                        \
        y   ? length(y & -y)                                                                                           \
        : x ? 32 + length(x & -x)                                                                                      \
            : 0)                                                                                                       \
    ROW(__brev(a), 32, 0, reverse(x))                                                                                  \
    ROW((unsigned)(__brevll((unsigned long long)a << 32 | b) >> 32), 32, 0, reverse(y))                                \
    ROW(__vsadu2(a, b), 32, 0, llabs(x % 65536 - y % 65536) + llabs(x / 65536 - y / 65536))                            \
    ROW(__vsadu4(a, b), 32, 0,                                                                                         \
        llabs(x % 256 - y % 256) + llabs(x / 256 % 256 - y / 256 % 256) + llabs(x / 65536 % 256 - y / 65536 % 256) +   \
            llabs(x / 16777216 - y / 16777216))                                                                        \
    ROW(__dp4a(a, b, c), 32, 0,                                                                                        \
        z + (x & 255) * (y & 255) + (x >> 8 & 255) * (y >> 8 & 255) + (x >> 16 & 255) * (y >> 16 & 255) +              \
            (x >> 24) * (y >> 24))                                                                                     \
    ROW((unsigned)__dp4a((int)a, (int)b, (int)c), 32, 1,                                                               \
        z + (int8_t)x * (int8_t)y + (int8_t)(x >> 8) * (int8_t)(y >> 8) + (int8_t)(x >> 16) * (int8_t)(y >> 16) +      \
            (x >> 24) * (y >> 24))                                                                                     \
    ROW(__dp2a_lo(a, b, c), 32, 0, z + (x & 65535) * (y & 255) + (x >> 16) * (y >> 8 & 255))                           \
    ROW(__dp2a_hi(a, b, c), 32, 0, z + (x & 65535) * (y >> 16 & 255) + (x >> 16) * (y >> 24))                          \
    ROW((unsigned)__dp2a_lo((int)a, (int)b, (int)c), 32, 1, z + (int16_t)x * (int8_t)y + (x >> 16) * (int8_t)(y >> 8)) \
    ROW((unsigned)__dp2a_hi((int)a, (int)b, (int)c), 32, 1,                                                            \
        z + (int16_t)x * (int8_t)(y >> 16) + (x >> 16) * (y >> 24))                                                    \
    ROW((unsigned)min((int)a, (int)b), 32, 1, least(x, y))                                                             \
    ROW((unsigned)max((int)a, (int)b), 32, 1, most(x, y))                                                              \
    ROW(min(a, b), 32, 0, least(x, y))                                                                                 \
    ROW(max((int)a, b), 32, 0, most(x, y))

#define ROWS(ROW)                         \
    LANE_ROWS(ROW, 16, 2)                 \
    LANE_ROWS(ROW, 8, 4)                  \
    DPX_ROWS(ROW, s16x2, 16, 1, int16_t)  \
    DPX_ROWS(ROW, u16x2, 16, 0, uint16_t) \
    DPX_ROWS(ROW, s32, 32, 1, int32_t)    \
    DPX_ROWS(ROW, u32, 32, 0, uint32_t)   \
    RELU_ROWS(ROW, s16x2, 16, int16_t)    \
    RELU_ROWS(ROW, s32, 32, int32_t)      \
    WINNER_ROWS(ROW, min, least, <=)      \
    WINNER_ROWS(ROW, max, most, >=)       \
    WORD_ROWS(ROW)

static wide byte_of(wide x, wide y, wide selector) { return (selector & 4 ? y : x) >> 8 * (selector & 3) & 255; }
static wide length(wide x) { return x ? 1 + length(x >> 1) : 0; }
static wide count_bits(wide x) { return x ? (x & 1) + count_bits(x >> 1) : 0; }
static wide reverse(wide x) {
    wide reversed = 0;
    for (int bit = 0; bit < 32; bit++)
        reversed |= (x >> bit & 1) << (31 - bit);
    return reversed;
}

struct row {
    const char *name;
    int bits, is_signed;
    wide (*define)(wide x, wide y, wide z);
};
#define TABLE_ROW(call, bits, is_signed, definition) \
    {#call, bits, is_signed, [](wide x, wide y, wide z) -> wide { return (void)x, (void)y, (void)z, (definition); }},
static const row rows[] = {ROWS(TABLE_ROW)};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static __global__ void run_rows(const uint4 *in, unsigned *out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= INPUTS)
        return;
    const unsigned a = in[i].x, b = in[i].y, c = in[i].z;
    bool p1, p2;
    unsigned *to = out + i * ROW_COUNT;
#define RUN_ROW(call, bits, is_signed, definition) *to++ = (call);
    ROWS(RUN_ROW)
}

static wide lane_of(unsigned word, int shift, const row *r) {
    const wide value = word >> shift & (unsigned)((1ll << r->bits) - 1);
    return r->is_signed && value >> (r->bits - 1) ? value - (1ll << r->bits) : value;
}

/* Words whose parts are small, extreme or anything; sometimes equal to another. */
static unsigned draw_word(unsigned other) {
    const unsigned x = check_draw();
    switch (check_draw() % 8) {
    case 0: return x & 0x00030003;
    case 1: return x | 0x7f807f80;
    case 2: return (x & 0x00010001) + 0x7fff8000;
    case 3: return x >> check_draw() % 32;
    case 4: return other;
    default: return x;
    }
}

static void check_words(void) {
    static uint4 in[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        in[i].x = draw_word(0);
        in[i].y = draw_word(in[i].x);
        in[i].z = draw_word(in[i].y);
    }
    unsigned *out = (unsigned *)calloc((size_t)INPUTS * ROW_COUNT, sizeof *out);
    uint4 *device_in = check_to_device(in, INPUTS);
    unsigned *device_out = check_to_device(out, (size_t)INPUTS * ROW_COUNT);
    DM_LAUNCH(run_rows, (INPUTS + 127) / 128, 128, 0, NULL, device_in, device_out);
    check_to_host(out, device_out, (size_t)INPUTS * ROW_COUNT);
    for (int i = 0; i < INPUTS; i++)
        for (int k = 0; k < ROW_COUNT; k++) {
            const row *r = rows + k;
            unsigned want = 0;
            for (int shift = 0; shift < 32; shift += r->bits) {
                const wide lane =
                    r->define(lane_of(in[i].x, shift, r), lane_of(in[i].y, shift, r), lane_of(in[i].z, shift, r));
                want |= (unsigned)(lane & ((1ll << r->bits) - 1)) << shift;
            }
            CHECK(out[i * ROW_COUNT + k] == want, "%s of %08x %08x %08x: %08x, not %08x", r->name, in[i].x, in[i].y,
                  in[i].z, out[i * ROW_COUNT + k], want);
        }
    CUDA(cudaFree(device_in));
    CUDA(cudaFree(device_out));
    free(out);
}

/* ---- Floating point: the device's expression and the host's, in f, g > 0, and the integer n ---- */

#define FLOAT_ROWS(ROW)                                              \
    ROW(__fadd_rn(f, g), f + g)                                      \
    ROW(__fsub_rn(f, g), f - g)                                      \
    ROW(__fmul_rn(f, g), f *g)                                       \
    ROW(__fdiv_rn(f, g), f / g)                                      \
    ROW(__frcp_rn(f), 1 / f)                                         \
    ROW(__fsqrt_rn(f), sqrtf(f))                                     \
    ROW(__fmaf_rn(f, g, f), fmaf(f, g, f))                           \
    ROW(__frsqrt_rn(f), (float)(1 / sqrtl((long double)f)))          \
    ROW(__dadd_rn(f, g), (double)f + g)                              \
    ROW(__dmul_rn(f, 1 / 3.), f *(1 / 3.))                           \
    ROW(__dsqrt_rn(f), sqrt((double)f))                              \
    ROW(__fma_rn(f, g, 1 / 3.), fma(f, g, 1 / 3.))                   \
    ROW(__double2float_rn(f / 3.), (float)(f / 3.))                  \
    ROW(__uint2float_rn((unsigned)n), (float)(unsigned)n)            \
    ROW(__int2float_rn((int)n), (float)(int)n)                       \
    ROW(__ull2float_rn(n), (float)n)                                 \
    ROW(__ull2double_rn(n), (double)n)                               \
    ROW(__ll2double_rn((long long)n), (double)(long long)n)          \
    ROW(__uint_as_float(__float_as_uint(f)), f)                      \
    ROW(__longlong_as_double(__double_as_longlong(f / 3.)), f / 3.)  \
    ROW(__float2int_rn(f), clamped(rint(f), 0x7fffffff))             \
    ROW(__float2uint_rz(f), clamped(floor(f), 0xffffffff))           \
    ROW(__double2int_rz(-(double)f), -clamped(floor(f), 0x80000000)) \
    ROW(__double2uint_rn(-(double)f), 0)

static double clamped(double x, double highest) { return x < highest ? x : highest; }

struct float_row {
    const char *name;
    double (*define)(float f, float g, unsigned long long n);
};
#define FLOAT_TABLE_ROW(call, definition) \
    {#call, [](float f, float g, unsigned long long n) -> double { return (void)f, (void)g, (void)n, (definition); }},
static const float_row float_rows[] = {FLOAT_ROWS(FLOAT_TABLE_ROW)};
enum { FLOAT_ROW_COUNT = sizeof float_rows / sizeof *float_rows };

static __global__ void run_float_rows(const float2 *in, const unsigned long long *numbers, double *out,
                                      float2 *inexact) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= INPUTS)
        return;
    const float2 pair = __ldg(in + i);
    const float f = pair.x, g = pair.y;
    const unsigned long long n = __ldcs(numbers + i);
    double *to = out + i * FLOAT_ROW_COUNT;
#define RUN_FLOAT_ROW(call, definition) *to++ = (call);
    FLOAT_ROWS(RUN_FLOAT_ROW)
    __stcs(inexact + i, make_float2(rsqrtf(f), __fdividef(f, g)));
}

static void check_floats(void) {
    static float2 in[INPUTS];
    static unsigned long long numbers[INPUTS];
    static float2 inexact[INPUTS];
    for (int i = 0; i < INPUTS; i++) { /* 2^-20 to 2^44 */
        in[i].x = ldexpf(1 + (float)(check_draw() >> 9) * 0x1p-23f, (int)(check_draw() % 64) - 20);
        in[i].y = ldexpf(1 + (float)(check_draw() >> 9) * 0x1p-23f, (int)(check_draw() % 64) - 20);
        numbers[i] = ((unsigned long long)check_draw() << 32 | check_draw()) >> check_draw() % 64;
    }
    double *out = (double *)calloc((size_t)INPUTS * FLOAT_ROW_COUNT, sizeof *out);
    float2 *device_in = check_to_device(in, INPUTS);
    unsigned long long *device_numbers = check_to_device(numbers, INPUTS);
    float2 *device_inexact = check_to_device(inexact, INPUTS);
    double *device_out = check_to_device(out, (size_t)INPUTS * FLOAT_ROW_COUNT);
    DM_LAUNCH(run_float_rows, (INPUTS + 127) / 128, 128, 0, NULL, device_in, device_numbers, device_out,
              device_inexact);
    check_to_host(out, device_out, (size_t)INPUTS * FLOAT_ROW_COUNT);
    check_to_host(inexact, device_inexact, INPUTS);
    for (int i = 0; i < INPUTS; i++) {
        for (int k = 0; k < FLOAT_ROW_COUNT; k++) {
            const double got = out[i * FLOAT_ROW_COUNT + k];
            const double want = float_rows[k].define(in[i].x, in[i].y, numbers[i]);
            CHECK(got == want, "%s of %a, %a, %llu: %a, not %a", float_rows[k].name, in[i].x, in[i].y, numbers[i], got,
                  want);
        }
        const double root = inexact[i].x, quotient = inexact[i].y, f = in[i].x, g = in[i].y;
        CHECK(fabs(root * sqrt(f) - 1) < 3 * 0x1p-24, "rsqrtf of %a: %a", f, root);
        CHECK(fabs(quotient * (g / f) - 1) < 5 * 0x1p-24, "__fdividef of %a and %a: %a", f, g, quotient);
    }
    CUDA(cudaFree(device_in));
    CUDA(cudaFree(device_numbers));
    CUDA(cudaFree(device_inexact));
    CUDA(cudaFree(device_out));
    free(out);
}

int main(void) {
    check_begin();
    check_words();
    check_floats();
    return check_end();
}
