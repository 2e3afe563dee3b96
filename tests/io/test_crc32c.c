/* CRC-32C: known sums, and that tables and instruction agree at every length and place. */
#include "../seed.h"
#include "io/crc32c.c"
#include "support.h"

static void test_known(void **state) {
    (void)state;
    uint8_t bytes[32];
    assert_int_equal(dm_crc32c("123456789", 9), 0xe3069283); /* and RFC 3720, B.4 */
    assert_int_equal(dm_crc32c(memset(bytes, 0, 32), 32), 0x8a9136aa);
    assert_int_equal(dm_crc32c(memset(bytes, 0xff, 32), 32), 0x62a8ab43);
    assert_int_equal(dm_crc32c(bytes, 0), 0);
}

static void test_both_ways(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    uint8_t bytes[600];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)random_next(&seed);
    for (size_t first = 0; first < 9; first++)
        for (size_t count = 0; count + first <= sizeof bytes; count++)
            assert_int_equal(~plain(~0u, bytes + first, count), dm_crc32c(bytes + first, count));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_both_ways)};
    return cmocka_run_group_tests_name("io.crc32c", tests, NULL, NULL);
}
