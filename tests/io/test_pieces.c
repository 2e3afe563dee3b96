/* One file by several processes: the bytes that one would write, for any division; what is refused; places beyond 2^32; full disks.
 * The processes are played one after the other.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../seed.h"
#include "support.h"

static uint64_t seed;

static int64_t draw(int64_t low, int64_t high) {
    return low + (int64_t)(random_next(&seed) % (uint64_t)(high - low + 1));
}

static void expect(distmap_status got, distmap_status want, const char *words) {
    if (got != want || !strstr(distmap_error_text(), words))
        fail_msg("status %d, want %d; \"%s\" should say \"%s\"", (int)got, (int)want, distmap_error_text(), words);
}

enum { MOST = 7 };

struct group {
    int size;
    distmap_pieces *pieces[MOST];
    int64_t count[MOST], total;
    uint64_t *bytes;
    int64_t *offset;
};

/* Packs the elements in drawn slabs, some of them empty. */
static distmap_status pack(const char *path, const distmap_image_info *info, const char *elements, struct group *g) {
    const int64_t slices = info->shape[0];
    const int64_t slice = slices ? (int64_t)info_bytes(info) / slices : 0;
    int64_t depth, first = 0;
    *g = (struct group){.size = (int)draw(1, MOST)};
    distmap_status status = distmap_pieces_depth(path, info, &depth);
    for (int p = 0; p < g->size && !status; p++) {
        int64_t count = draw(0, 3) ? draw(0, slices / depth) * depth : 0;
        count = p == g->size - 1 || count > slices - first ? slices - first : count;
        status = distmap_pieces_pack(path, info, first, count, elements + first * slice, &g->pieces[p]);
        distmap_pieces_bytes(g->pieces[p], &g->count[p]);
        g->total += g->count[p];
        first += count;
    }
    g->bytes = calloc((size_t)g->total + 1, sizeof *g->bytes);
    g->offset = calloc((size_t)g->total + 1, sizeof *g->offset);
    for (int64_t p = 0, at = 0; p < g->size && !status; at += g->count[p++])
        if (g->count[p])
            memcpy(g->bytes + at, distmap_pieces_bytes(g->pieces[p], NULL), (size_t)g->count[p] * sizeof *g->bytes);
    return status;
}

/* The last process comes first. */
static distmap_status put(const struct group *g, const char *part) {
    distmap_status status = DISTMAP_OK;
    for (int64_t p = g->size - 1, at = g->total; p >= 0 && !status; p--) {
        at -= g->count[p];
        status = distmap_pieces_put(g->pieces[p], part, g->offset + at);
    }
    return status;
}

static void release(struct group *g) {
    for (int p = 0; p < g->size; p++)
        distmap_pieces_free(&g->pieces[p]);
    free(g->bytes);
    free(g->offset);
}

static distmap_status write_together(const char *path, const distmap_image_info *info, const void *elements) {
    distmap_writer *writer = NULL;
    struct group g;
    distmap_status status = pack(path, info, elements, &g);
    if (!status)
        status = distmap_writer_open(path, info, &writer);
    if (!status)
        status = distmap_writer_place(writer, g.total, g.bytes, g.offset);
    if (!status)
        status = put(&g, distmap_writer_part(writer));
    if (!status)
        status = distmap_writer_finish(&writer);
    distmap_writer_abort(&writer);
    release(&g);
    return status;
}

static distmap_image_info draw_form(int round) {
    static const int longest[] = {0, 900000, 900, 90, 30};
    distmap_image_info info = {.dtype = (distmap_dtype)draw(DISTMAP_BOOL, DISTMAP_FLOAT64),
                               .ndim = round % 4 + 1,
                               .axis = {{.pitch = 2, .unit = "mm"}, {.pitch = 0.5}, {.pitch = 1}, {.pitch = 3}}};
    for (int a = 0; a < info.ndim; a++)
        info.shape[a] = draw(round % 11 ? 1 : 0, longest[info.ndim]);
    info.packing_asked = draw(0, 1);
    strcpy(info.packing, info.packing_asked ? "none" : "");
    return info;
}

static void test_same_bytes(void **state) {
    (void)state;
    static const char *const endings[] = {"npy", "h5", "h5:/deep/one"};
    for (int round = 0; round < (is_written("a.h5") ? 36 : 12); round++) {
        const char *ending = endings[is_written("a.h5") ? round / 4 % 3 : 0];
        const distmap_image_info info = draw_form(round);
        void *elements = make_elements(&info, random_next(&seed));
        char one[40], many[40], file[40];
        snprintf(one, sizeof one, "one.%s", ending);
        snprintf(many, sizeof many, "many.%s", ending);
        snprintf(file, sizeof file, "%.*s", (int)strcspn(many, ":"), many);
        if (write_all(one, &info, elements, draw(1, 9) + info.shape[0] / 9) || write_together(many, &info, elements))
            fail_msg("%s", distmap_error_text());
        size_t want_bytes, got_bytes;
        snprintf(one, sizeof one, "one.%.*s", (int)strcspn(ending, ":"), ending);
        uint8_t *want = load(one, &want_bytes), *got = load(file, &got_bytes);
        if (want_bytes != got_bytes || memcmp(want, got, want_bytes) != 0)
            fail_msg("%s of %d axes, %lld slices of %s: another file: %zu bytes, %zu", many, info.ndim,
                     (long long)info.shape[0], distmap_dtype_name(info.dtype), got_bytes, want_bytes);
        free(got), free(want), free(elements);
        remove(one), remove(file);
    }
    assert_int_equal(count_files(), 0);
}

static void test_rules(void **state) {
    (void)state;
    const distmap_image_info info = {.dtype = DISTMAP_FLOAT32, .ndim = 2, .shape = {5, 3}};
    const float elements[15] = {0};
    const uint64_t bytes[2] = {24, 36};
    int64_t depth, offset[2];
    distmap_pieces *pieces = NULL;
    distmap_writer *writer = NULL;
    expect(distmap_pieces_depth("a.png", &info, &depth), DISTMAP_ERROR_UNSUPPORTED, "png cannot hold");
    expect(distmap_pieces_depth("a.tif", &info, &depth), DISTMAP_ERROR_UNSUPPORTED,
           "several processes cannot write one tiff file");
    expect(distmap_pieces_depth("a.npy", &info, NULL), DISTMAP_ERROR_ARGUMENT, "depth");
    expect(distmap_pieces_depth(NULL, &info, &depth), DISTMAP_ERROR_ARGUMENT, "path");
    expect(distmap_pieces_pack("a.npy", &info, 4, 2, elements, &pieces), DISTMAP_ERROR_ARGUMENT, "first, count");
    expect(distmap_pieces_pack("a.npy", &info, 0, 2, NULL, &pieces), DISTMAP_ERROR_ARGUMENT, "slices");
    expect(distmap_pieces_pack("a.npy", &info, 0, 2, elements, NULL), DISTMAP_ERROR_ARGUMENT, "pieces");
    if (is_written("a.h5")) {
        const distmap_image_info deep = {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {70, 2, 2}};
        assert_int_equal(distmap_pieces_depth("a.h5", &deep, &depth), DISTMAP_OK);
        assert_int_equal(depth, 64);
        expect(distmap_pieces_pack("a.h5", &deep, 0, 63, elements, &pieces), DISTMAP_ERROR_ARGUMENT, "whole pieces");
        expect(distmap_pieces_pack("a.h5", &deep, 6, 64, elements, &pieces), DISTMAP_ERROR_ARGUMENT, "whole pieces");
        assert_int_equal(distmap_writer_open("a.h5", &deep, &writer), DISTMAP_OK);
        expect(distmap_writer_place(writer, 1, bytes, offset), DISTMAP_ERROR_ARGUMENT, "1 pieces, the image has 2");
        distmap_writer_abort(&writer);
    }
    expect(distmap_writer_place(NULL, 0, NULL, NULL), DISTMAP_ERROR_ARGUMENT, "writer");
    assert_int_equal(distmap_writer_open("a.tif", &info, &writer), DISTMAP_OK);
    expect(distmap_writer_place(writer, 2, bytes, offset), DISTMAP_ERROR_UNSUPPORTED, "one tiff file");
    distmap_writer_abort(&writer);
    assert_int_equal(distmap_writer_open("/dev/null", &info, &writer), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(symlink("/dev/null", "null.npy"), 0);
    assert_int_equal(distmap_writer_open("null.npy", &info, &writer), DISTMAP_OK);
    assert_null(distmap_writer_part(writer));
    expect(distmap_writer_place(writer, 2, bytes, offset), DISTMAP_ERROR_UNSUPPORTED, "not a regular file");
    distmap_writer_abort(&writer);
    remove("null.npy");
    assert_int_equal(distmap_writer_open("a.npy", &info, &writer), DISTMAP_OK);
    expect(distmap_writer_place(writer, 1, bytes, offset), DISTMAP_ERROR_ARGUMENT, "not the image's 60 bytes");
    expect(distmap_writer_place(writer, 2, (uint64_t[]){24, 37}, offset), DISTMAP_ERROR_ARGUMENT, "60 bytes");
    expect(distmap_writer_place(writer, 2, (uint64_t[]){UINT64_MAX, 61}, offset), DISTMAP_ERROR_ARGUMENT, "60 bytes");
    expect(distmap_writer_place(writer, 2, NULL, offset), DISTMAP_ERROR_ARGUMENT, "bytes");
    expect(distmap_writer_place(writer, -1, bytes, offset), DISTMAP_ERROR_ARGUMENT, "count");
    assert_int_equal(distmap_writer_place(writer, 2, bytes, offset), DISTMAP_OK);
    assert_int_equal(offset[1] - offset[0], 24);
    expect(distmap_writer_place(writer, 2, bytes, offset), DISTMAP_ERROR_ARGUMENT, "already");
    expect(distmap_writer_write(writer, 1, elements), DISTMAP_ERROR_ARGUMENT, "too many");
    expect(distmap_pieces_put(NULL, "x", offset), DISTMAP_ERROR_ARGUMENT, "pieces");
    assert_int_equal(distmap_pieces_pack("a.npy", &info, 0, 2, elements, &pieces), DISTMAP_OK);
    expect(distmap_pieces_put(pieces, NULL, offset), DISTMAP_ERROR_ARGUMENT, "part");
    expect(distmap_pieces_put(pieces, "none", offset), DISTMAP_ERROR_IO, "a.npy: cannot open its temporary file none");
    distmap_pieces_free(&pieces);
    distmap_pieces_free(&pieces);
    distmap_pieces_free(NULL);
    distmap_writer_abort(&writer);
    assert_int_equal(count_files(), 0);
}

/* An image of 2^42 bytes: nothing of it is written. */
static void test_far_places(void **state) {
    (void)state;
    const int64_t slice = INT64_C(1) << 22;
    const distmap_image_info info = {.dtype = DISTMAP_FLOAT64, .ndim = 3, .shape = {1 << 17, 1 << 12, 1 << 10}};
    const uint64_t bytes[] = {(uint64_t)(slice * 8) * 100000, (uint64_t)(slice * 8) * 31071, (uint64_t)(slice * 8)};
    int64_t offset[3];
    distmap_writer *writer = NULL;
    assert_int_equal(distmap_writer_open("far.npy", &info, &writer), DISTMAP_OK);
    assert_int_equal(distmap_writer_place(writer, 3, bytes, offset), DISTMAP_OK);
    assert_true(offset[1] - offset[0] == slice * 8 * 100000 && offset[2] - offset[0] == slice * 8 * 131071);
    distmap_writer_abort(&writer);
    distmap_pieces *pieces = NULL; /* its memory is not looked at */
    int64_t count;
    assert_int_equal(distmap_pieces_pack("far.npy", &info, 100000, 31071, "", &pieces), DISTMAP_OK);
    assert_true(distmap_pieces_bytes(pieces, &count)[0] == bytes[1] && count == 1);
    distmap_pieces_free(&pieces);
}

static void test_full_disk(void **state) {
    (void)state;
    const distmap_image_info info = {.dtype = DISTMAP_FLOAT32, .ndim = 3, .shape = {100, 40, 60}};
    void *elements = make_elements(&info, 5);
    struct rlimit old, limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (int k = 0; k < 10; k++) {
        const char *path = k % 2 && is_written("a.h5") ? "a.h5" : "a.npy";
        limit = old;
        limit.rlim_cur = (rlim_t)k * 60000;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const distmap_status status = write_together(path, &info, elements);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        expect(status, DISTMAP_ERROR_IO, "cannot write: File too large");
        assert_int_equal(count_files(), 0);
    }
    free(elements);
}

int main(void) {
    seed = test_seed();
    printf("seed %llu (DISTMAP_TEST_SEED repeats it)\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_far_places),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests_name("io.pieces", tests, enter_folder, leave_folder);
}
