/* Slabs of a plane as windows (distmap.h): all that one must know of the others is, of each column, the last site before it and the first
 * one after it. So slabs are surveyed first, each by itself: the first and the last site of each of its columns.
 *
 * Which elements are sites is the core's to say: those that are within half a pitch of one.
 */
#include <math.h>
#include <string.h>

#include "slabs/slabs.h"

enum { WORD = 8, STRIP = 1 << 13 };

bool dms_takes_windows(const distmap_context *context, const distmap_problem *normal) {
    const distmap_plan_options how = {.host_views = true};
    distmap_problem p = *normal;
    size_t scratch;
    p.window = (distmap_window){0, 1};
    return distmap_scratch_bytes(context, &p, &how, &scratch) == DISTMAP_OK;
}

distmap_problem dms_survey_of(const distmap_problem *normal, int64_t rows) {
    return (distmap_problem){.dtype = normal->dtype,
                             .ndim = 2,
                             .shape = {rows, normal->shape[1]},
                             .sites = normal->sites,
                             .spacing = {normal->spacing[0], normal->spacing[1]},
                             .limit = fmin(normal->spacing[0], normal->spacing[1]) / 2,
                             .want.within = DISTMAP_UINT8};
}

void dms_survey_begin(int32_t *row, int64_t width) { memset(row, -1, (size_t)width * sizeof *row); }

static uint64_t word_at(const uint8_t *bytes, int64_t n) {
    uint64_t word = 0;
    if (n >= WORD)
        memcpy(&word, bytes, WORD);
    else
        memcpy(&word, bytes, (size_t)n);
    return word;
}

/* One end of columns [0, n), of those whose site is not known yet. They are looked at WORD at a time (the first one in the lowest byte:
 * both architectures have it so). Whether some are still unknown. */
static bool find_ends(const uint8_t *sites, struct dms_slab rows, int64_t width, int64_t n, bool last, int32_t *row) {
    uint64_t known[STRIP / WORD] = {0};
    int64_t missing = 0;
    for (int64_t x = 0; x < n; x++) {
        known[x / WORD] |= (uint64_t)(row[x] >= 0) << x % WORD * 8;
        missing += row[x] < 0;
    }
    for (int64_t i = 0; i < rows.count && missing; i++) {
        const int64_t y = last ? rows.count - 1 - i : i;
        for (int64_t x = 0; x < n; x += WORD) {
            uint64_t here = word_at(sites + y * width + x, n - x) & ~known[x / WORD];
            known[x / WORD] |= here;
            for (; here; here &= here - 1, missing--)
                row[x + __builtin_ctzll(here) / 8] = (int32_t)(rows.first + y);
        }
    }
    return missing;
}

bool dms_survey_rows(const uint8_t *sites, struct dms_slab rows, int64_t width, bool last, int32_t *row) {
    bool unknown = false;
    for (int64_t x = 0; x < width; x += STRIP)
        unknown |= find_ends(sites + x, rows, width, width - x < STRIP ? width - x : STRIP, last, row + x);
    return unknown;
}

void dms_survey_merge(int32_t *row, const int32_t *by, int64_t width) {
    for (int64_t x = 0; x < width; x++)
        row[x] = by[x] >= 0 ? by[x] : row[x];
}
