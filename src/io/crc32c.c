/* CRC-32C: the remainder of the message as a polynomial over GF(2), divided by 0x1edc6f41, bits in the order of their values.
 *
 * Eight bytes at a time by eight tables: table k has what a byte leaves that k more bytes follow, so that a word's bytes are looked
 * up at once, and what they leave is added. Processors with SSE 4.2, or ARM's CRC instructions, have one for a word.
 * Source: Kounavis and Berry, A Systematic Approach to Building High Performance Software-based CRC Generators, 2005.
 */
#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

#include "io/crc32c.h"

enum { REVERSED = (int)0x82f63b78, WORD = 8 };

static uint32_t tables[WORD][256];

static void make_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ (rest & 1 ? (uint32_t)REVERSED : 0);
        tables[0][byte] = rest;
    }
    for (int k = 1; k < WORD; k++)
        for (uint32_t byte = 0; byte < 256; byte++)
            tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 255];
}

static uint32_t plain(uint32_t rest, const uint8_t *data, size_t bytes) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_tables);
    for (; bytes >= WORD; bytes -= WORD, data += WORD) {
        uint32_t next = 0;
        for (int i = 0; i < WORD; i++) {
            const uint32_t byte = data[i] ^ (i < 4 ? rest >> 8 * i & 255 : 0);
            next ^= tables[WORD - 1 - i][byte];
        }
        rest = next;
    }
    for (; bytes; bytes--)
        rest = rest >> 8 ^ tables[0][(rest ^ *data++) & 255];
    return rest;
}

/* By the instruction, where the compiler may use it. */
#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t rest, const uint8_t *data, size_t bytes) {
    uint64_t word, wide = rest;
    for (; bytes >= WORD; bytes -= WORD, data += WORD) {
        memcpy(&word, data, WORD);
        wide = _mm_crc32_u64(wide, word);
    }
    rest = (uint32_t)wide;
    for (; bytes; bytes--)
        rest = _mm_crc32_u8(rest, *data++);
    return rest;
}
static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__ARM_FEATURE_CRC32)
static uint32_t by_instruction(uint32_t rest, const uint8_t *data, size_t bytes) {
    uint64_t word;
    for (; bytes >= WORD; bytes -= WORD, data += WORD) {
        memcpy(&word, data, WORD);
        rest = __crc32cd(rest, word);
    }
    for (; bytes; bytes--)
        rest = __crc32cb(rest, *data++);
    return rest;
}
static int has_instruction(void) { return 1; }
#else
#define by_instruction plain
static int has_instruction(void) { return 0; }
#endif

uint32_t dm_crc32c(const void *data, size_t bytes) {
    return ~(has_instruction() ? by_instruction : plain)(~(uint32_t)0, data, bytes);
}
