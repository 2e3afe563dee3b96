/* JSON texts: drawn ones mean what json-c's own parser takes them for, and what is none is refused. */
#define _GNU_SOURCE
#include <string.h>

#include "../seed.h"
#include "io/zarr.h"
#include "support.h"

static uint64_t seed;

static json_object *draw(int depth) {
    static const char *const texts[] = {
        "", "plain", "a \"quoted\" \\ / one", "tab\tline\n\r\b\f", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\x01"};
    static const double numbers[] = {0, -0.0, 1.5, 1e300, -2.5e-300, 0.1, 1e20};
    const uint64_t number = random_next(&seed);
    json_object *holder;
    switch (number >> 32 & (depth < 5 ? 7 : 3)) {
    case 0: return json_object_new_string(texts[number % 6]);
    case 1:
        return number & 1 ? json_object_new_int64((int64_t)(number << 20))
                          : json_object_new_double(numbers[number % 7]);
    case 2: return json_object_new_boolean(number & 1);
    case 3: return number & 1 ? NULL : json_object_new_uint64(UINT64_MAX - number % 3);
    case 4:
    case 5:
        holder = json_object_new_array();
        for (uint64_t i = number % 4; i > 0; i--)
            json_object_array_add(holder, draw(depth + 1));
        return holder;
    default:
        holder = json_object_new_object();
        for (uint64_t i = number % 5; i > 0; i--) {
            char name[8];
            snprintf(name, sizeof name, "n %d\"", (int)i);
            json_object_object_add(holder, name, draw(depth + 1));
        }
        return holder;
    }
}

static void test_drawn(void **state) {
    (void)state;
    seed = test_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int c = test_cases(3000); c > 0; c--) {
        json_object *value = draw(0), *ours = NULL;
        const char *text =
            json_object_to_json_string_ext(value, c % 2 ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN);
        json_object *theirs = json_tokener_parse(text);
        assert_int_equal(dm_json_parse(text, strlen(text), &ours), DM_JSON_GOOD);
        if (!json_object_equal(ours, theirs))
            fail_msg("%s is %s", text, json_object_to_json_string(ours));
        assert_string_equal(json_object_to_json_string(ours), json_object_to_json_string(theirs));
        /* Cut anywhere, it is none, but for numbers. */
        const size_t cut = strlen(text) > 1 && strchr("[{\"", *text) ? 1 + random_next(&seed) % (strlen(text) - 1) : 0;
        char *part = strndup(text, cut);
        json_object *none = NULL;
        if (cut)
            assert_int_equal(dm_json_parse(part, cut, &none), DM_JSON_BROKEN);
        free(part);
        json_object_put(value);
        json_object_put(ours);
        json_object_put(theirs);
    }
}

static void test_texts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        dm_json_end end;
        const char *means;
    } cases[] = {
        {" [ 1 , -0, 2.50, 1e5, NaN, -Infinity ] \n", DM_JSON_GOOD, "[1,0,2.50,1e5,NaN,-Infinity]"},
        {"\"\\u00e4\\u20AC\\ud83d\\ude00\\ud83dx\\udc00\"", DM_JSON_GOOD,
         "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx\xef\xbf\xbd\""},
        {"[99999999999999999999, -99999999999999999999]", DM_JSON_GOOD, "[18446744073709551615,-9223372036854775808]"},
        {"{\"a\": 1, \"a\": 2}", DM_JSON_TWICE, NULL},
        {"{\"a\\u0000b\": 1}", DM_JSON_BROKEN, NULL},
        {"[1,]", DM_JSON_BROKEN, NULL},
        {"{\"a\": 1,}", DM_JSON_BROKEN, NULL},
        {"{a: 1}", DM_JSON_BROKEN, NULL},
        {"[1] 2", DM_JSON_BROKEN, NULL},
        {"[1 2]", DM_JSON_BROKEN, NULL},
        {"\"\\x\"", DM_JSON_BROKEN, NULL},
        {"\"\\u12g4\"", DM_JSON_BROKEN, NULL},
        {"/* */ 1", DM_JSON_BROKEN, NULL},
        {"-", DM_JSON_BROKEN, NULL},
        {"tru", DM_JSON_BROKEN, NULL},
        {"", DM_JSON_BROKEN, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_object *value = NULL;
        const dm_json_end end = dm_json_parse(cases[i].text, strlen(cases[i].text), &value);
        if (end != cases[i].end)
            fail_msg("%s: %d, not %d", cases[i].text, (int)end, (int)cases[i].end);
        if (cases[i].means)
            assert_string_equal(json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE), cases[i].means);
        else
            assert_null(value);
        json_object_put(value);
    }
    char deep[201] = "";
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    json_object *value = NULL;
    assert_int_equal(dm_json_parse(deep, sizeof deep - 1, &value), DM_JSON_BROKEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawn), cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests_name("io.json", tests, NULL, NULL);
}
