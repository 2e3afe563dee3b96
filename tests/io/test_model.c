/* What files say beside their elements: the model's own rules, selections of every format, NIfTI's two matrices. NIfTI beside nibabel
 * and SimpleITK: oracle_nifti.py. */
#define _GNU_SOURCE
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

static uint64_t seed;

static int64_t draw(int64_t count) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)count);
}

static double draw_real(void) { return (double)draw(2000001) / 1e5 - 10; }

/* ---- Rules ---- */

static const distmap_image_info volume = {.dtype = DISTMAP_UINT8,
                                          .ndim = 3,
                                          .shape = {3, 4, 5},
                                          .axis = {{"z", "mm", 0, 2}, {"y", "mm", 0, 1}, {"x", "mm", 0, 0.5}},
                                          .world_ndim = 3,
                                          .matrix = {{0, 0, 0.5}, {0, 1, 0}, {2, 0, 0}},
                                          .origin = {10, 20, 30},
                                          .world = DISTMAP_WORLD_RAS};

static void refused(const distmap_image_info *info, const char *text) {
    distmap_writer *writer = NULL;
    assert_int_equal(distmap_writer_open("a.npy", info, &writer), DISTMAP_ERROR_ARGUMENT);
    if (!strstr(distmap_error_text(), text))
        fail_msg("\"%s\" does not say \"%s\"", distmap_error_text(), text);
    assert_null(writer);
    assert_int_equal(count_files(), 0);
}

static void test_rules(void **state) {
    (void)state;
    distmap_image_info bad = volume;
    bad.axis[1].pitch = NAN;
    refused(&bad, "the pitch of axis 1 (y) is nan; a pitch is finite and above 0");
    bad = volume;
    bad.axis[2].pitch = -0.5;
    refused(&bad, "the pitch of axis 2 (x) is -0.5");
    bad = volume;
    strcpy(bad.axis[2].name, "y");
    refused(&bad, "two axes are named y");
    bad = volume;
    bad.axis[0].type = (distmap_axis_type)9;
    refused(&bad, "axis 0 (z) is of no type");
    bad = volume;
    bad.world_ndim = 2;
    refused(&bad, "3 space axes in a world of 2");
    bad = volume;
    bad.matrix[1][1] = 0;
    refused(&bad, "singular");
    bad = volume;
    bad.matrix[0][1] = bad.matrix[0][2], bad.matrix[1][1] = 1e-9;
    refused(&bad, "singular");
    bad = volume;
    bad.origin[1] = INFINITY;
    refused(&bad, "not finite");
}

static void test_turn(void **state) {
    (void)state;
    distmap_image_info info = volume;
    assert_true(distmap_image_turn(&info, DISTMAP_WORLD_LPS));
    assert_true(info.origin[0] == -10 && info.origin[1] == -20 && info.origin[2] == 30);
    assert_true(info.matrix[0][2] == -0.5 && info.matrix[1][1] == -1 && info.matrix[2][0] == 2 &&
                !signbit(info.matrix[0][0]));
    assert_true(distmap_image_same_grid(&volume, &info, NULL, 0));
    assert_true(distmap_image_turn(&info, DISTMAP_WORLD_RAS));
    assert_memory_equal(&info, &volume, sizeof info);
    assert_false(distmap_image_turn(&info, DISTMAP_WORLD_PROJECTED));
    info.world = DISTMAP_WORLD_UNKNOWN;
    assert_false(distmap_image_turn(&info, DISTMAP_WORLD_RAS));
    distmap_image_set_pitch(&info, 0, 3);
    assert_true(info.matrix[2][0] == 3 && info.axis[0].pitch == 3 && info.origin[2] == 30);
}

static void differs(const distmap_image_info *b, const char *want) {
    char text[300];
    if (distmap_image_same_grid(&volume, b, text, sizeof text) || strcmp(text, want) != 0)
        fail_msg("\"%s\", not \"%s\"", text, want);
}

static void test_same_grid(void **state) {
    (void)state;
    distmap_image_info b = volume;
    b.axis[0].pitch = 2.1;
    differs(&b, "z has a pitch of 2.1 mm, not 2 mm");
    b.axis[0].pitch = 2000;
    strcpy(b.axis[0].unit, "um");
    assert_true(distmap_image_same_grid(&volume, &b, NULL, 0));
    strcpy(b.axis[0].unit, "furlong");
    differs(&b, "z has a pitch of 2000 furlong, not 2 mm");
    b = volume;
    b.origin[2] = 31;
    differs(&b, "element (0, 0, 0) lies at (10, 20, 31), not at (10, 20, 30)");
    b.origin[2] = 30.0001;
    assert_true(distmap_image_same_grid(&volume, &b, NULL, 0));
    b = volume;
    b.matrix[0][0] = 0.01;
    differs(&b, "element (2, 0, 0) lies at (10.02, 20, 34), not at (10, 20, 34)");
    b = volume;
    b.world = DISTMAP_WORLD_PROJECTED;
    differs(&b, "its world is projected, not RAS");
    b.world_ndim = 0;
    assert_true(distmap_image_same_grid(&volume, &b, NULL, 0));
    b = volume;
    b.shape[1] = 7;
    differs(&b, "y is 7 long, not 4");
    b = volume;
    b.axis[0].type = DISTMAP_AXIS_TIME;
    b.world_ndim = 0;
    assert_false(distmap_image_same_grid(&volume, &b, NULL, 0));
}

static void test_units(void **state) {
    (void)state;
    assert_true(distmap_unit_ratio("mm", "um") == 1000 && distmap_unit_ratio("um", "mm") == 0.001);
    assert_true(distmap_unit_ratio("nm", "um") * 40 == 0.04 && distmap_unit_ratio("inch", "mm") == 25.4);
    assert_true(distmap_unit_ratio("mm", "s") == 0 && distmap_unit_ratio("x", "mm") == 0 &&
                distmap_unit_ratio("x", "x") == 1);
}

/* ---- Selections ---- */

/* What is selected along some axes is what lies there, in every format that holds five axes or fewer, read in bands. */
static void test_select(void **state) {
    (void)state;
    const distmap_format_info *format;
    for (size_t row = 0; (format = distmap_format_get(row)); row++) {
        char path[64];
        snprintf(path, sizeof path, "image%.*s", (int)strcspn(format->endings, " "), format->endings);
        for (int round = 0; round < 40; round++) {
            distmap_image_info info = {.dtype = DISTMAP_UINT16, .ndim = 3 + round % 3};
            static const distmap_axis axes[] = {{.name = "c", .type = DISTMAP_AXIS_CHANNEL},
                                                {.name = "t", .type = DISTMAP_AXIS_TIME},
                                                {.name = "z", .pitch = 2},
                                                {.name = "y"},
                                                {.name = "x"}};
            for (int a = 0; a < info.ndim; a++) {
                info.shape[a] = 2 + draw(4);
                info.axis[a] = axes[5 - info.ndim + a];
            }
            uint16_t *elements = make_elements(&info, 1 + round);
            distmap_status status = format->writes ? write_all(path, &info, elements, 2) : DISTMAP_ERROR_UNSUPPORTED;
            distmap_reader *reader = NULL;
            if (status) {
                assert_int_equal(status, DISTMAP_ERROR_UNSUPPORTED);
                free(elements);
                continue;
            }
            assert_int_equal(distmap_reader_open(path, &reader), DISTMAP_OK);
            int64_t at[5] = {-1, -1, -1, -1, -1}, strides[5];
            for (int a = info.ndim - 1, s = 1; a >= 0; s *= (int)info.shape[a--])
                strides[a] = s;
            const distmap_image_info *shown = distmap_reader_info(reader);
            /* A format may have an order of its own (TIFF: t c): axes are what their names say. */
            if (!strcmp(shown->axis[0].name, "t") && !strcmp(info.axis[0].name, "c")) {
                const int64_t first[2] = {info.shape[0], strides[0]};
                info.shape[0] = info.shape[1], strides[0] = strides[1];
                info.shape[1] = first[0], strides[1] = first[1];
            }
            for (int n = 1 + (int)draw(2); n > 0; n--) {
                const int axis = (int)draw(shown->ndim);
                int a = 0;
                for (int free = -1; at[a] >= 0 || ++free < axis; a++)
                    ;
                at[a] = draw(info.shape[a]);
                assert_int_equal(distmap_reader_select(reader, axis, at[a]), DISTMAP_OK);
            }
            int64_t slice = 1, next = 0, base = 0, free_strides[5];
            int free_axes = 0;
            for (int a = 0; a < info.ndim; a++) {
                base += at[a] < 0 ? 0 : at[a] * strides[a];
                if (at[a] < 0)
                    free_strides[free_axes++] = strides[a];
            }
            assert_int_equal(shown->ndim, free_axes);
            for (int a = 1; a < free_axes; a++)
                slice *= shown->shape[a];
            const distmap_view map = distmap_reader_map(reader);
            uint16_t *got = malloc((size_t)(2 * slice) * sizeof *got);
            for (int64_t first = 0; first < shown->shape[0]; first += 2) {
                const int64_t count = first + 2 < shown->shape[0] ? 2 : shown->shape[0] - first;
                assert_int_equal(distmap_reader_read(reader, first, count, got), DISTMAP_OK);
                for (int64_t i = 0; i < count * slice; i++, next++) {
                    int64_t place = base, rest = next, in_map = 0;
                    for (int a = free_axes - 1; a >= 0; rest /= shown->shape[a--]) {
                        place += rest % shown->shape[a] * free_strides[a];
                        in_map += map.data ? rest % shown->shape[a] * map.strides[a] : 0;
                    }
                    if (got[i] != elements[place] || (map.data && *(uint16_t *)((char *)map.data + in_map) != got[i]))
                        fail_msg("%s, seed %llu: element %lld of a selection", path, (unsigned long long)seed,
                                 (long long)next);
                }
            }
            assert_int_equal(distmap_reader_select(reader, 9, 0), DISTMAP_ERROR_ARGUMENT);
            if (shown->ndim > 1)
                assert_int_equal(distmap_reader_select(reader, 0, shown->shape[0]), DISTMAP_ERROR_ARGUMENT);
            free(got);
            free(elements);
            distmap_reader_close(&reader);
            erase(path);
        }
    }
    assert_int_equal(count_files(), 0);
}

/* Along an axis of space the place in the world moves. */
static void test_select_place(void **state) {
    (void)state;
    const uint8_t elements[60] = {0};
    assert_int_equal(write_all("a.nii", &volume, elements, 3), DISTMAP_OK);
    distmap_reader *reader = NULL;
    assert_int_equal(distmap_reader_open("a.nii", &reader), DISTMAP_OK);
    assert_int_equal(distmap_reader_select(reader, 0, 2), DISTMAP_OK);
    const distmap_image_info *info = distmap_reader_info(reader);
    assert_true(info->ndim == 2 && info->world_ndim == 3 && info->origin[2] == 34 && info->origin[0] == 10);
    assert_true(info->matrix[1][0] == 1 && info->matrix[0][1] == 0.5 && info->matrix[2][0] == 0);
    distmap_reader_close(&reader);
    erase("a.nii");
}

/* ---- Worlds in NIfTI ---- */

/* Any rotation, mirrored or not, comes back from quaternion and matrix, of three axes and of two. */
static void test_nifti_world(void **state) {
    (void)state;
    for (int round = 0; round < 300; round++) {
        distmap_image_info info = volume, got;
        double q[4], length = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = round < 20 ? (double)(draw(3) - 1) : draw_real();
            length += q[i] * q[i];
        }
        if (!(length > 0))
            continue;
        for (int i = 0; i < 4; i++)
            q[i] /= sqrt(length);
        const double a = q[0], b = q[1], c = q[2], d = q[3],
                     r[3][3] = {{a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
                                {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
                                {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - c * c - b * b}};
        const int mirror = (int)draw(2);
        for (int w = 0; w < 3; w++) {
            for (int s = 0; s < 3; s++)
                info.matrix[w][s] = r[w][2 - s] * info.axis[s].pitch * (s == 0 && mirror ? -1 : 1);
            info.origin[w] = draw_real();
        }
        info.world = draw(2) ? DISTMAP_WORLD_LPS : DISTMAP_WORLD_RAS;
        const uint8_t elements[60] = {0};
        assert_int_equal(write_all("a.nii", &info, elements, 3), DISTMAP_OK);
        free(read_all("a.nii", 3, &got));
        char text[300];
        if (!distmap_image_same_grid(&info, &got, text, sizeof text))
            fail_msg("round %d: sform: %s", round, text);
        size_t bytes;
        uint8_t *file = load("a.nii", &bytes);
        assert_int_equal(file[252], 1); /* the qform is there too, and is the same once the sform is not */
        memset(file + 254, 0, 2);
        save("a.nii", file, bytes);
        free(read_all("a.nii", 3, &got));
        /* The file has b, c, d as floats, and a is the root of what they leave of 1: close to half a turn hardly a digit of it is left. */
        float part[3];
        memcpy(part, file + 256, sizeof part);
        const double left = 1 - ((double)part[0] * part[0] + (double)part[1] * part[1] + (double)part[2] * part[2]);
        const bool is_blurred = round >= 20 && left < 1e-4;
        if (!is_blurred && !distmap_image_same_grid(&info, &got, text, sizeof text))
            fail_msg("round %d: qform: %s", round, text);
        free(file);
        /* One slice of it. */
        info.ndim = 2;
        memmove(info.shape, info.shape + 1, 2 * sizeof *info.shape);
        memmove(info.axis, info.axis + 1, 2 * sizeof *info.axis);
        for (int w = 0; w < 3; w++) {
            info.matrix[w][0] = info.matrix[w][1];
            info.matrix[w][1] = info.matrix[w][2];
        }
        assert_int_equal(write_all("a.nii", &info, elements, 4), DISTMAP_OK);
        free(read_all("a.nii", 4, &got));
        if (!distmap_image_same_grid(&info, &got, text, sizeof text))
            fail_msg("round %d: of two axes: %s", round, text);
    }
    erase("a.nii");
}

/* A pair of files, plain and gzipped elements, and what is missing of it. */
static void test_nifti_pair(void **state) {
    (void)state;
    distmap_image_info got;
    size_t bytes;
    uint8_t *elements = make_elements(&volume, 7);
    assert_int_equal(write_all("a.nii", &volume, elements, 3), DISTMAP_OK);
    uint8_t *file = load("a.nii", &bytes);
    memcpy(file + 344, "ni1", 4);
    memset(file + 108, 0, 4);
    save("b.hdr", file, 348);
    distmap_reader *reader = NULL;
    assert_int_equal(distmap_reader_open("b.hdr", &reader), DISTMAP_ERROR_FORMAT);
    assert_non_null(strstr(distmap_error_text(), "b.hdr: there is no b.img beside it"));
    save("b.img", file + 352, bytes - 352);
    uint8_t *back = read_all("b.hdr", 2, &got);
    assert_memory_equal(back, elements, 60);
    assert_true(distmap_image_same_grid(&volume, &got, NULL, 0));
    free(back);
    save("b.img", file + 352, bytes - 353);
    assert_int_equal(distmap_reader_open("b.hdr", &reader), DISTMAP_ERROR_FORMAT);
    assert_non_null(strstr(distmap_error_text(), "b.img: truncated"));
    save("b.nii", file, 348);
    assert_int_equal(distmap_reader_open("b.nii", &reader), DISTMAP_ERROR_FORMAT);
    free(file), free(elements);
    remove("a.nii"), remove("b.hdr"), remove("b.img"), remove("b.nii");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),       cmocka_unit_test(test_turn),       cmocka_unit_test(test_same_grid),
        cmocka_unit_test(test_units),       cmocka_unit_test(test_select),     cmocka_unit_test(test_select_place),
        cmocka_unit_test(test_nifti_world), cmocka_unit_test(test_nifti_pair),
    };
    const char *given = getenv("DISTMAP_TEST_SEED");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    printf("seed %llu\n", (unsigned long long)seed);
    return cmocka_run_group_tests_name("io.model", tests, enter_folder, leave_folder);
}
