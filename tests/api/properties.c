/* What any distance map obeys, checked on images too large for the definition: mirror images, turned images, shifted sites,
 * added sites, slopes. The seed is printed and DISTMAP_TEST_SEED repeats it. */
#include "../seed.h"
#include "api.h"

#include <math.h>

enum { H = 300, W = 411 };
static const int64_t shape[2] = {H, W};
static uint8_t mask[H * W], other[H * W];
static uint32_t squared[H * W], squared_other[H * W];
static uint32_t seed;

/* Squared distances through views: `mirror` bits turn axes round, `turn` swaps them. */
static void compute(const uint8_t *in, uint32_t *out, int mirror, bool turn) {
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 2, .want.squared = DISTMAP_UINT32};
    distmap_arrays a = {.input = distmap_view_make((void *)in, DISTMAP_UINT8, 2, shape),
                        .squared = distmap_view_make(out, DISTMAP_UINT32, 2, shape)};
    distmap_view *const views[] = {&a.input, &a.squared};
    for (int v = 0; v < 2; v++) {
        const distmap_view plain = *views[v];
        for (int axis = 0; axis < 2; axis++) {
            const int from = turn ? 1 - axis : axis;
            views[v]->shape[axis] = p.shape[axis] = plain.shape[from];
            views[v]->strides[axis] = plain.strides[from];
            if (mirror >> axis & 1) {
                views[v]->data = (char *)views[v]->data + plain.strides[from] * (plain.shape[from] - 1);
                views[v]->strides[axis] = -plain.strides[from];
            }
        }
    }
    assert_int_equal(distmap_transform(&p, &a, NULL), DISTMAP_OK);
}

/* Sites from dense to a single one. */
static const unsigned densities[] = {2, 10, 100, 3000, 40000};

/* The same image seen in a mirror or turned has the same distances. */
static void test_mirrors_and_turns(void **state) {
    (void)state;
    for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
        paint(mask, sizeof mask, densities[d], seed + (uint32_t)d);
        compute(mask, squared, 0, false);
        for (int way = 1; way < 8; way++) {
            compute(mask, squared_other, way & 3, way >> 2);
            assert_memory_equal(squared, squared_other, sizeof squared);
        }
    }
}

/* Sites moved together move their distances along, where nothing leaves the image. */
static void test_translation(void **state) {
    (void)state;
    enum { DY = 17, DX = 70 };
    memset(mask, 1, sizeof mask);
    memset(other, 1, sizeof other);
    uint32_t s = seed;
    for (int k = 0; k < 40; k++) {
        s = s * 1664525u + 1013904223u;
        const int y = (int)((s >> 8) % (H - DY)), x = (int)((s >> 4) % (W - DX));
        mask[y * W + x] = 0;
        other[(y + DY) * W + x + DX] = 0;
    }
    compute(mask, squared, 0, false);
    compute(other, squared_other, 0, false);
    for (int y = 0; y < H - DY; y++)
        assert_memory_equal(&squared[y * W], &squared_other[(y + DY) * W + DX], (W - DX) * sizeof *squared);
}

static void test_added_site(void **state) {
    (void)state;
    paint(mask, sizeof mask, 2000, seed + 9);
    memcpy(other, mask, sizeof mask);
    compute(mask, squared, 0, false);
    const size_t at = (seed * 2654435761u) % sizeof other;
    other[at] = 0;
    compute(other, squared_other, 0, false);
    assert_int_equal(squared_other[at], 0);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const int dy = y - (int)at / W, dx = x - (int)at % W, i = y * W + x;
            const uint32_t to_new = (uint32_t)(dy * dy + dx * dx);
            assert_int_equal(squared_other[i], squared[i] < to_new ? squared[i] : to_new);
        }
}

/* Neighbours' distances differ by at most the step between them, and only sites are at distance zero. */
static void test_slope(void **state) {
    (void)state;
    for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
        paint(mask, sizeof mask, densities[d], seed + 77 + (uint32_t)d);
        mask[seed % sizeof mask] = 0; /* at least one */
        compute(mask, squared, 0, false);
        for (int i = 0; i < H * W; i++) {
            assert_true((squared[i] == 0) == (mask[i] == 0));
            const double here = sqrt(squared[i]);
            if (i % W)
                assert_true(fabs(here - sqrt(squared[i - 1])) <= 1 + 1e-12);
            if (i >= W)
                assert_true(fabs(here - sqrt(squared[i - W])) <= 1 + 1e-12);
        }
    }
}

int main(void) {
    seed = (uint32_t)test_seed();
    print_message("seed %u\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mirrors_and_turns),
        cmocka_unit_test(test_translation),
        cmocka_unit_test(test_added_site),
        cmocka_unit_test(test_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
