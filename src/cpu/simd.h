/* One vocabulary of vector operations for every instruction set, so that a kernel is written once.
 *
 * A kernel's .c file sets the compiler's flags (CMake) and this header picks the vocabulary by them. V16 holds N16 lanes
 * of u16, V32 and F32 hold N32 = N16 / 2 lanes of i32 and float, F64 N64 = N16 / 4 lanes of double; M16, M32 and M64 are lane
 * masks. Loads and stores take any alignment, *_stream stores need that of a whole vector. 16-bit lanes compare as unsigned, 32-bit
 * lanes as signed; adds saturates, mul keeps the low half, narrow saturates u32 to u16, low and high widen the first and second half.
 * v16_load_bytes widens N16 bytes, v16_store_bytes keeps the low byte of each lane.
 * v32_madd multiplies the signed halves of each lane and adds the two products. v16_bits(words, lane, a, b) takes a where
 * bit `lane + i` of the bit row is set, else b. v16_repeat8(p) has p[0] in its first 8 lanes, p[1] in the next 8, and so
 * on. v32_compress packs the chosen lanes to the front of a whole stored vector. f32_bits and f32_of_bits change the type alone.
 * f64_low and f64_high convert the halves of a V32, f64_narrow rounds two vectors to one. f64_fma rounds once everywhere,
 * f64_store_floats rounds to floats. Where SIMD_FUSED is defined f32_fma is a b + c and f32_fms a b - c, rounded once.
 */
#ifndef DISTMAP_CPU_SIMD_H
#define DISTMAP_CPU_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(DM_SIMD_PLAIN) /* where the architecture itself has a vector set: NEON */
#include "cpu/simd/plain.h"
#elif defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "cpu/simd/avx512.h"
#elif defined(__AVX2__)
#include "cpu/simd/avx2.h"
#elif defined(__SSE4_2__)
#include "cpu/simd/sse4.h"
#elif defined(__AARCH64EL__)
#include "cpu/simd/neon.h"
#else
#include "cpu/simd/plain.h"
#endif

#endif
