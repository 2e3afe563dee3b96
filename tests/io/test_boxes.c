/* Files that several writers fill by boxes, and boxes read of them, in every format that can: drawn shapes, chunks and orders. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "../seed.h"
#include "support.h"

static uint64_t seed;

static int64_t draw(int64_t n) { return (int64_t)(random_next(&seed) % (uint64_t)n); }

static void draw_image(distmap_image_info *info, const char *ending) {
    const int dtypes = DISTMAP_FLOAT64 - DISTMAP_BOOL + 1;
    *info = (distmap_image_info){.dtype = (distmap_dtype)(DISTMAP_BOOL + draw(dtypes)), .ndim = 1 + (int)draw(4)};
    for (int a = 0; a < info->ndim; a++) {
        info->shape[a] = 1 + draw(info->ndim == 1 ? 300 : 20);
        info->chunk[a] = strcmp(ending, ".npy") == 0 ? 0 : draw(9);
    }
    if (strcmp(ending, ".precomputed") == 0) { /* volumes alone, in nanometres, of some types */
        static const distmap_dtype held[] = {DISTMAP_UINT8, DISTMAP_UINT16, DISTMAP_UINT32, DISTMAP_UINT64,
                                             DISTMAP_FLOAT32};
        *info = (distmap_image_info){.dtype = held[draw(5)], .ndim = 3};
        for (int a = 0; a < 3; a++) {
            info->shape[a] = 1 + draw(20);
            info->chunk[a] = draw(9);
            info->axis[a] = (distmap_axis){.unit = "nm", .pitch = 1 + draw(100)};
        }
    }
}

/* A drawn box, of whole chunks if `whole`, and its elements. */
static void draw_box(const distmap_image_info *info, bool whole, int64_t *first, int64_t *count) {
    for (int a = 0; a < info->ndim; a++) {
        const int64_t unit = whole && info->chunk[a] ? info->chunk[a] : 1, n = (info->shape[a] + unit - 1) / unit;
        first[a] = draw(n + 1);
        const int64_t end = (first[a] + draw(n - first[a] + 1)) * unit;
        first[a] = first[a] * unit < info->shape[a] ? first[a] * unit : info->shape[a];
        count[a] = (end < info->shape[a] ? end : info->shape[a]) - first[a];
    }
}

/* The plain way: element by element. */
static void cut(const distmap_image_info *info, const char *elements, const int64_t *first, const int64_t *count,
                char *box) {
    const size_t size = distmap_dtype_size(info->dtype);
    int64_t total = 1;
    for (int a = 0; a < info->ndim; a++)
        total *= count[a];
    for (int64_t i = 0; i < total; i++) {
        int64_t rest = i, place = 0, stride = 1;
        for (int a = info->ndim - 1; a >= 0; a--) {
            place += (first[a] + rest % count[a]) * stride;
            stride *= info->shape[a];
            rest /= count[a];
        }
        memcpy(box + (size_t)i * size, elements + (size_t)place * size, size);
    }
}

static void fill(distmap_writer *const writers[2], const char *elements, char *box) {
    const distmap_image_info *info = distmap_writer_info(writers[0]);
    int64_t first[DISTMAP_MAX_AXES] = {0}, count[DISTMAP_MAX_AXES];
    for (int i = 0; i < 8; i++) { /* some boxes, some elements more often than once, then all that is left */
        draw_box(info, true, first, count);
        cut(info, elements, first, count, box);
        assert_int_equal(distmap_writer_put(writers[draw(2)], first, count, box), DISTMAP_OK);
    }
    const int axis = (int)draw(info->ndim);
    const int64_t unit = info->chunk[axis] ? info->chunk[axis] : 1 + draw(5);
    memset(first, 0, sizeof first);
    memcpy(count, info->shape, sizeof count);
    for (first[axis] = 0; first[axis] < info->shape[axis]; first[axis] += unit) {
        const int64_t left = info->shape[axis] - first[axis];
        count[axis] = left < unit ? left : unit;
        cut(info, elements, first, count, box);
        assert_int_equal(distmap_writer_put(writers[draw(2)], first, count, box), DISTMAP_OK);
    }
}

static void check_reading(const char *path, const distmap_image_info *info, const char *elements, char *box,
                          char *got) {
    distmap_reader *reader;
    int64_t first[DISTMAP_MAX_AXES], count[DISTMAP_MAX_AXES];
    assert_int_equal(distmap_reader_open(path, &reader), DISTMAP_OK);
    for (int i = 0; i < 8; i++) {
        size_t bytes = distmap_dtype_size(info->dtype);
        draw_box(info, false, first, count);
        for (int a = 0; a < info->ndim; a++)
            bytes *= (size_t)count[a];
        cut(info, elements, first, count, box);
        assert_int_equal(distmap_reader_read_box(reader, first, count, got), DISTMAP_OK);
        assert_memory_equal(got, box, bytes);
    }
    distmap_reader_close(&reader);
}

static void round_trip(const char *ending) {
    char path[32], part[40];
    snprintf(path, sizeof path, "a%s", ending);
    snprintf(part, sizeof part, "a%s.part", ending);
    distmap_image_info info, got;
    draw_image(&info, ending);
    char *elements = make_elements(&info, 7), *box = malloc(info_bytes(&info) + 1),
         *other = malloc(info_bytes(&info) + 1);
    distmap_writer *writers[2];
    for (int w = 0; w < 2; w++)
        if (distmap_writer_open_shared(path, part, &info, &writers[w]))
            fail_msg("%s", distmap_error_text());
    fill(writers, elements, box);
    assert_int_equal(distmap_writer_sync(writers[0]), DISTMAP_OK);
    distmap_writer_leave(&writers[0]);
    distmap_writer_abort(&writers[1]); /* which leaves too */
    assert_int_equal(rename(part, path), 0);
    char *back = read_all(path, 3, &got);
    assert_memory_equal(back, elements, info_bytes(&info));
    check_reading(path, &info, elements, box, other);
    assert_int_equal(count_files(), 1);
    erase(path);
    free(back);
    free(other);
    free(box);
    free(elements);
}

static void test_drawn(void **state) {
    (void)state;
    const distmap_format_info *format;
    const int cases = test_cases(200);
    int formats = 0;
    for (size_t row = 0; (format = distmap_format_get(row)); row++)
        for (int i = 0; format->shares && i < cases; i++) {
            round_trip(format->endings);
            formats += i == 0;
        }
    assert_true(formats >= 1);
}

static void test_rules(void **state) {
    (void)state;
    const distmap_image_info info = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {10, 10}, .chunk = {4, 4}};
    const int64_t two[2] = {2, 0}, all[2] = {10, 10}, some[2] = {4, 10}, none[2] = {0, 0}, far[2] = {7, 0};
    uint8_t elements[100] = {0};
    distmap_writer *writer;
    distmap_reader *reader;
    assert_int_equal(distmap_writer_open_shared("a.tif", "p", &info, &writer), DISTMAP_ERROR_UNSUPPORTED);
    assert_non_null(strstr(distmap_error_text(), "a.tif: several processes cannot write one tiff file; one of .npy"));
    assert_int_equal(distmap_writer_open_shared("a.npy", NULL, &info, &writer), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(distmap_writer_open_shared("a.npy", "p", &info, &writer), DISTMAP_OK);
    assert_int_equal(distmap_writer_put(writer, far, some, elements), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(distmap_writer_put(writer, none, all, NULL), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(distmap_writer_put(writer, two, none, NULL), DISTMAP_OK);
    assert_int_equal(distmap_writer_finish(&writer), DISTMAP_ERROR_ARGUMENT); /* it is left */
    assert_int_equal(count_files(), 1);                                       /* the part */
    erase("p");
    if (is_written("a.zarr")) {
        static const char dead[] = "p/.distmap-0123456789abcdef-0123456789abcdef";
        mkdir("p", 0777);
        save(dead, "a chunk's", 9); /* of a process that was killed: nobody has locked it */
        assert_int_equal(distmap_writer_open_shared("a.zarr", "p", &info, &writer), DISTMAP_OK);
        assert_int_equal(access(dead, F_OK), -1);
        assert_int_equal(distmap_writer_put(writer, two, some, elements), DISTMAP_ERROR_ARGUMENT);
        assert_non_null(strstr(distmap_error_text(), "2 + 4 of axis 0 cut a chunk of 4"));
        distmap_writer_leave(&writer);
        distmap_image_info other = info;
        other.chunk[0] = 5;
        assert_int_equal(distmap_writer_open_shared("a.zarr", "p", &other, &writer), DISTMAP_ERROR_IO);
        assert_non_null(strstr(distmap_error_text(), "p holds another array"));
        erase("p");
    }
    assert_int_equal(write_all("a.tif", &info, elements, 10), DISTMAP_OK);
    assert_int_equal(distmap_reader_open("a.tif", &reader), DISTMAP_OK);
    assert_int_equal(distmap_reader_read_box(reader, none, all, elements), DISTMAP_ERROR_UNSUPPORTED);
    assert_non_null(strstr(distmap_error_text(), "tiff is read by whole slices"));
    distmap_reader_close(&reader);
    erase("a.tif");
    assert_int_equal(count_files(), 0);
}

int main(void) {
    seed = test_seed();
    printf("seed %llu (DISTMAP_TEST_SEED repeats it)\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawn), cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests_name("io.boxes", tests, enter_folder, leave_folder);
}
