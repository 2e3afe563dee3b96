/* The parameters of erosions mean what they say: tiles and rounds of a plane that is longer than a region are those that were
 * asked for, whatever the passes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "../seed.h"
#include "methods/erosion/erosion_tiles.h"

static uint64_t state;

static int64_t draw(int64_t least, int64_t most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (int64_t)((state >> 33) % (uint64_t)(most - least + 1));
}

static struct erosion_pass pass_of(int64_t height, int64_t width, enum erosion_axes axes, int64_t tile, int64_t steps) {
    const distmap_plan plan = {
        .shape = {1, 1, height, width}, .rows = height, .measured = {false, false, true, true}, .w2 = {0, 0, 1, 1}};
    return erosion_pass_make(&plan, axes, tile, steps);
}

static void check_axis(const struct erosion_pass *p, int axis, int64_t tile, int64_t halo) {
    assert_int_equal(p->tile[axis], tile);
    assert_int_equal(p->halo[axis], halo);
}

static void test_as_asked(void **unused) {
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        const int64_t tile = draw(1, 64), steps = draw(1, 16), longer = tile + 2 * EROSION_DEEP * steps + 1;
        const int64_t height = draw(longer, 3000), width = draw(longer, 3000);
        struct erosion_pass p = pass_of(height, width, EROSION_ALONG_BOTH, tile, steps);
        assert_int_equal(p.steps, steps);
        check_axis(&p, 0, tile, steps);
        check_axis(&p, 1, tile, steps);
        for (int along = 0; along < 2; along++) {
            p = pass_of(height, width, along ? EROSION_ALONG_X : EROSION_ALONG_Y, tile, steps);
            assert_int_equal(p.steps, steps);
            check_axis(&p, along, tile, EROSION_DEEP * steps);
            check_axis(&p, !along, EROSION_LINES, 0);
        }
    }
}

/* Blocks of 16 x 16, one function of 3 x 3 or 1 x 16 to a launch. */
static void test_paper(void **unused) {
    (void)unused;
    struct erosion_pass p = pass_of(512, 1024, EROSION_ALONG_BOTH, 16, 1);
    check_axis(&p, 0, 16, 1);
    check_axis(&p, 1, 16, 1);
    assert_int_equal(p.area, 20 * 20); /* the 18 x 18 elements that it reads, and a frame of "none" */
    assert_int_equal(p.rounds, 1023);
    p = pass_of(512, 1024, EROSION_ALONG_X, 16, 1);
    check_axis(&p, 0, 16, 0);
    check_axis(&p, 1, 16, 8);
    assert_int_equal(p.rounds, 128);
}

/* A block may have 48 KiB without asking. One line takes no more than lines of both axes do, although a tile along it is longer. */
static void test_one_line(void **unused) {
    (void)unused;
    for (int along = 0; along < 2; along++) {
        const struct erosion_pass p = pass_of(along ? 1 : 65536, along ? 65536 : 1, EROSION_ALONG_BOTH, 64, 6);
        assert_true(2 * p.area * (int64_t)sizeof(uint64_t) <= 48 << 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_asked), cmocka_unit_test(test_paper),
                                       cmocka_unit_test(test_one_line)};
    state = test_seed();
    printf("DISTMAP_TEST_SEED=%" PRIu64 "\n", state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
