/* Headers of text, and JSON, that are broken in one way each: one line that names the file and the rule, before anything is reserved. Each comes
 * from a good one, which must be read, by one change. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "support.h"

typedef struct change {
    const char *from, *to; /* what is put in the place of a piece of the good text */
    const char *error;     /* NULL: it is still good */
} change;

/* The good text with a change, and its elements behind it. */
static void save_changed(const char *path, const char *good, const change *c, size_t elements) {
    char text[2000];
    const char *at = strstr(good, c->from);
    assert_non_null(at);
    const int bytes = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, c->to, at + strlen(c->from));
    memset(text + bytes, 1, elements);
    save(path, text, (size_t)bytes + elements);
}

static void check_changes(const char *path, const char *read, const char *good, size_t elements, const change *changes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        save_changed(path, good, &changes[i], elements);
        const distmap_status status = read_broken(read);
        if (!changes[i].error != !status || (status && !strstr(distmap_error_text(), changes[i].error)))
            fail_msg("%s with \"%s\" in place of \"%s\": %s", path, changes[i].to, changes[i].from, status ? distmap_error_text() : "is read");
    }
}
#define CHECK(path, read, good, elements, changes) check_changes(path, read, good, elements, changes, sizeof(changes) / sizeof *(changes))

static void test_metaimage(void **state) {
    (void)state;
    static const char good[] = "ObjectType = Image\nNDims = 3\nTransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = 1 2 3\nCompressedData = False\n"
                               "HeaderSize = 0\nBinaryData = True\nElementSpacing = 1 2 3\nDimSize = 2 3 4\nElementNumberOfChannels = 1\n"
                               "ElementType = MET_SHORT\nElementDataFile = LOCAL\n";
    static const change changes[] = {
        {"DimSize", "DimSize", NULL},
        {" = Image", ": Image", NULL},
        {"1 0 0 0 1 0 0 0 1", "0 1 0 1 0 0 0 0 1", NULL},
        {"Object", "Comment = of some kind\r\nObject", NULL},
        {"MET_SHORT", "MET_SHORT_ARRAY", "has elements of type MET_SHORT_ARRAY"},
        {"MET_SHORT", "MET_DOUBLE", "its header states 192 bytes of elements, but 48 follow"},
        {"DimSize = 2 3 4", "DimSize = 2 3 400000000", "truncated"},
        {"DimSize = 2 3 4", "DimSize = 9223372036854775807 9223372036854775807 4", "absurd size"},
        {"DimSize = 2 3 4", "DimSize = 2 3 0", "axis 2 is 0 long"},
        {"DimSize = 2 3 4", "DimSize = 2 3 -4", "axis 2 is -4 long"},
        {"DimSize = 2 3 4", "DimSize = 2 3", "DimSize = 2 3"},
        {"DimSize = 2 3 4", "DimSize = 2 3 4 5", "DimSize = 2 3 4 5"},
        {"DimSize = 2 3 4\n", "", "there is no DimSize"},
        {"NDims = 3", "NDims = 5", "has 5 axes; 1 to 4 are read"},
        {"NDims = 3", "NDims = x", "NDims = x"},
        {"ElementType = MET_SHORT\n", "", "there is no ElementType"},
        {"ElementDataFile = LOCAL\n", "", "there is no ElementDataFile"},
        {"1 2 3\nDim", "1 nan 3\nDim", "pitch along axis 1 is nan"},
        {"1 2 3\nDim", "1 2 -3\nDim", "pitch along axis 0 is -3"},
        {"1 2 3\nDim", "1,2 2 3\nDim", "ElementSpacing = 1,2 2 3"},
        {"1 0 0 0 1 0 0 0 1", "1 0 0 1 0 0 0 0 1", "singular"},
        {"1 0 0 0 1 0 0 0 1", "inf 0 0 0 1 0 0 0 1", "not finite"},
        {"Offset = 1 2 3", "Offset = 1 nan 3", "not finite"},
        {"1 0 0 0 1 0 0 0 1", "1 0 0 0 1 0 0 0", "TransformMatrix"},
        {"CompressedData = False", "CompressedData = True", "broken"},
        {"CompressedData = False", "CompressedData = True\nCompressedDataSize = 49", "states 49 compressed bytes, but 48 follow"},
        {"CompressedData = False", "CompressedData = maybe", "CompressedData = maybe"},
        {"BinaryData = True", "BinaryData = False", "decimals (BinaryData = False)"},
        {"HeaderSize = 0", "HeaderSize = 9223372036854775807", "HeaderSize"},
        {"HeaderSize = 0", "HeaderSize = 1", "47 follow"},
        {"HeaderSize = 0", "HeaderSize = -1", NULL},
        {"Channels = 1", "Channels = 2", "states 96 bytes"},
        {"Channels = 1", "Channels = 0", "ElementNumberOfChannels = 0"},
        {"LOCAL", "LIST", "list of files"},
        {"LOCAL", "slice%03d.raw 1 4 1", "in many files"},
        {"LOCAL", "../elements.raw", "must not contain .."},
        {"LOCAL", "a/../../elements.raw", "must not contain .."},
        {"LOCAL", "/etc/hostname", "must be relative to its own folder"},
        {"LOCAL", "nowhere.raw", "cannot read its elements, in nowhere.raw"},
        {"LOCAL", ".", "which is not a file"},
        {"LOCAL", "apart.raw", "truncated"},
        {"LOCAL", "", "names no file"},
    };
    save("apart.raw", "123", 3);
    CHECK("a.mha", "a.mha", good, 48, changes);
}

static void test_nrrd(void **state) {
    (void)state;
    static const char good[] = "NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 2 3 4\n"
                               "space directions: (1,0,0) (0,1,0) (0,0,1)\nkinds: domain domain domain\nendian: little\nencoding: raw\n"
                               "space origin: (1,2,3)\n\n";
    static const change changes[] = {
        {"short", "short", NULL},
        {"left-posterior-superior", "LaS", NULL},
        {"space directions", "Space Directions", NULL},
        {"(0,1,0) (0", "( 0 , 1 ,0)   (0", NULL},
        {"NRRD0004", "NRRD0006", "version"},
        {"short", "block", "has elements of type block"},
        {"short", "double", "192 bytes of elements, but 48 follow"},
        {"dimension: 3", "dimension: 9", "has a dimension of 9; 1 to 8 are read"},
        {"dimension: 3", "dimension: 0", "dimension: 0"},
        {"dimension: 3\n", "", "comes before dimension"},
        {"sizes: 2 3 4", "sizes: 2 3", "sizes: 2 3"},
        {"sizes: 2 3 4", "sizes: 2 3 0", "axis 2 is 0 long"},
        {"sizes: 2 3 4", "sizes: 2 3 9999999999", "truncated"},
        {"sizes: 2 3 4", "sizes: 9223372036854775807 9223372036854775807 4", "absurd size"},
        {"sizes: 2 3 4\n", "", "there is no sizes"},
        {"left-posterior-superior", "somewhere", "space: somewhere"},
        {"space: left-posterior-superior\n", "", "comes before space"},
        {"space: left", "space dimension: 3\nspace: left", "it has two spaces"},
        {"(0,1,0)", "(0,1)", "spacedirections"},
        {"(0,1,0)", "(0,1,0", "spacedirections"},
        {"(0,1,0)", "(0,x,0)", "spacedirections"},
        {"(0,1,0)", "(2,0,0)", "singular"},
        {"(0,1,0)", "(0,0,0)", "no direction, or one of no length"},
        {"(0,1,0)", "(0,inf,0)", "no direction, or one of no length"},
        {"(1,2,3)", "(1,nan,3)", "not finite"},
        {"(1,2,3)", "1,2,3", "spaceorigin"},
        {"endian: little\n", "", "there is no endian"},
        {"little", "middle", "endian: middle"},
        {"encoding: raw\n", "", "there is no encoding"},
        {"encoding: raw", "encoding: bzip2", "encoded as bzip2; raw and gzip are read"},
        {"encoding: raw", "encoding: hex", "encoded as hex"},
        {"encoding: raw", "encoding: gzip", "broken"},
        {"encoding: raw", "encoding: gzip\nbyte skip: -1", "for raw elements alone"},
        {"encoding: raw", "encoding: raw\nbyte skip: 1", "47 follow"},
        {"encoding: raw", "encoding: raw\nbyte skip: -1", NULL},
        {"encoding: raw", "encoding: raw\nbyte skip: 9223372036854775807", "byte skip"},
        {"encoding: raw", "encoding: raw\nline skip: 5", "fewer lines"},
        {"kinds: domain", "kinds: domain domain", "kinds"},
        {"kinds: domain domain domain", "labels: \"a\" \"b\" c", "labels"},
        {"kinds: domain domain domain", "labels: \"a\" \"b\" \"c", "labels"},
        {"space directions: (1,0,0) (0,1,0) (0,0,1)", "spacings: 1 -1 1", "pitch along axis 1 is -1"},
        {"space directions: (1,0,0) (0,1,0) (0,0,1)", "spacings: 1 0 1", "pitch along axis 1 is 0"},
        {"space origin", "data file: LIST\nspace origin", "list of files"},
        {"space origin", "data file: s%02d.raw 0 3 1\nspace origin", "in many files"},
        {"space origin", "datafile: ../a.raw\nspace origin", "must not contain .."},
        {"space origin", "datafile: /etc/hostname\nspace origin", "must be relative to its own folder"},
        {"space origin", "datafile: apart.raw\nspace origin", "truncated"},
        {"space origin", "datafile: nowhere.raw\nspace origin", "nowhere.raw"},
    };
    save("apart.raw", "123", 3);
    CHECK("a.nrrd", "a.nrrd", good, 48, changes);
}

static void test_ros_map(void **state) {
    (void)state;
    static const char good[] = "image: map.pgm\nresolution: 0.05\norigin: [1.0, -2, 0.5]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.2\n";
    static const change changes[] = {
        {"0.65", "0.65 # why not", NULL},
        {"map.pgm", "\"map.pgm\"", NULL},
        {"[1.0, -2, 0.5]", "\n  - 1\n  - 2\n  - 0", NULL},
        {"free_thresh: 0.2\n", "mode: raw\nof_others: true\n", NULL},
        {"map.pgm", "\"map.pgm", "image: \"map.pgm"},
        {"map.pgm", "nowhere.pgm", "nowhere.pgm"},
        {"map.pgm", "../map.pgm", "must not contain .."},
        {"map.pgm", "a.yaml", "is a ROS map, not a picture of one"},
        {"map.pgm", "line.npy", "has 1 axes, not 2"},
        {"map.pgm", "broken.pgm", "truncated"},
        {"image: map.pgm\n", "image:\n", "image: "},
        {"0.05", "0", "resolution: 0"},
        {"0.05", "-1", "resolution: -1"},
        {"0.05", "nan", "resolution: nan"},
        {"0.05", "inf", "resolution: inf"},
        {"0.05", "5 cm", "resolution: 5 cm"},
        {"resolution: 0.05\n", "", "there is no resolution"},
        {"origin: [1.0, -2, 0.5]\n", "", "there is no origin"},
        {"[1.0, -2, 0.5]", "[1.0, -2]", "origin"},
        {"[1.0, -2, 0.5]", "[1.0, nan, 0.5]", "origin"},
        {"[1.0, -2, 0.5]", "[1.0, -2, 0.5", "origin"},
        {"[1.0, -2, 0.5]", "\n  - 1\n  - 2", "origin"},
        {"negate: 0", "negate: 2", "negate: 2"},
        {"0.65", "1.5", "occupied_thresh: 1.5"},
        {"free_thresh: 0.2", "mode: other", "mode: other"},
        {"free_thresh: 0.2", "resolution: 0.05", "for the second time"},
        {"free_thresh: 0.2", "just words", "lines of \"key: value\" are read"},
        {"free_thresh: 0.2", "inner:\n  key: 1", "lines of \"key: value\" are read"},
    };
    save("map.pgm", "P5\n2 2\n255\nabcd", 15);
    save("broken.pgm", "P5\n2 2\n255\na", 12);
    const distmap_image_info line = {.dtype = DISTMAP_UINT8, .ndim = 1, .shape = {3}};
    assert_int_equal(write_all("line.npy", &line, "abc", 1), DISTMAP_OK);
    CHECK("a.yaml", "a.yaml", good, 0, changes);
}

static void test_precomputed(void **state) {
    (void)state;
    static const char good[] = "{\"data_type\": \"uint16\", \"num_channels\": 1, \"type\": \"image\", \"scales\": [{\"key\": \"k\", \"size\": [4, 3, 2],"
                               " \"resolution\": [8, 8, 40], \"chunk_sizes\": [[4, 4, 4]], \"encoding\": \"raw\", \"voxel_offset\": [0, 0, 0]}]}";
    static const change changes[] = {
        {"raw", "raw", NULL},
        {"[4, 3, 2]", "[4, 3, 20]", NULL}, /* chunks that are not there are zeros; but the one that is there is too small */
        {"[0, 0, 0]", "[1, 0, 0]", NULL},
        {"uint16", "float64", "data_type is float64"},
        {"uint16", "uint8", "chunk 0-4_0-3_0-2 has 48 bytes; 24 are needed"},
        {"raw", "compressed_segmentation", "scale k is encoded as compressed_segmentation; raw is read"},
        {"raw", "jpeg", "encoded as jpeg"},
        {"\"raw\"", "\"raw\", \"sharding\": {}", "scale k is sharded"},
        {"\"k\"", "\"../k\"", "is not within its folder"},
        {"\"k\"", "\"\"", "is not within its folder"},
        {"\"num_channels\": 1", "\"num_channels\": 0", "num_channels"},
        {"[4, 3, 2]", "[4, 3]", "size of a scale"},
        {"[4, 3, 2]", "[4, 3, 0]", "size of a scale"},
        {"[4, 3, 2]", "[4, 3, 2.5]", "size of a scale"},
        {"[4, 3, 2]", "[9000000000000000, 9000000000000000, 9000000000000000]", "absurd size"},
        {"[8, 8, 40]", "[8, 8, 0]", "resolution of a scale"},
        {"[8, 8, 40]", "[8, 8, 1e999]", "resolution of a scale"},
        {"[[4, 4, 4]]", "[[4, 4, 0]]", "chunk_sizes of a scale"},
        {"[[4, 4, 4]]", "[]", "chunk_sizes of a scale"},
        {"[0, 0, 0]", "[0, 0, \"0\"]", "voxel_offset of a scale"},
        {"\"scales\": [", "\"scales\": [], \"others\": [", "there are no scales"},
        {"}]}", "}]", "info"},
    };
    assert_int_equal(mkdir("vol", 0777), 0);
    assert_int_equal(mkdir("vol/k", 0777), 0);
    const char elements[48] = {1};
    save("vol/k/0-4_0-3_0-2", elements, sizeof elements);
    CHECK("vol/info", "vol", good, 0, changes);
    save("vol/k/0-4_0-3_0-2", elements, 47);
    check_changes("vol/info", "vol", good, 0, &(change){"raw", "raw", "has 47 bytes; 48 are needed"}, 1);
    rename("vol/k/0-4_0-3_0-2", "vol/k/0-4_0-3_0-2.gz");
    check_changes("vol/info", "vol", good, 0, &(change){"raw", "raw", "chunk 0-4_0-3_0-2.gz is broken"}, 1);
    rename("vol/k/0-4_0-3_0-2.gz", "vol/k/0-4_0-3_0-2.br");
    check_changes("vol/info", "vol", good, 0, &(change){"raw", "raw", "brotli"}, 1);
    check_changes("vol/info", "vol/k", good, 0, &(change){"\"k\"", "\"other\"", "is no scale of its volume, which has other"}, 1);
}

/* What cannot be written is refused before a file is there. */
static void test_writing(void **state) {
    (void)state;
    static const struct {
        const char *path;
        distmap_image_info info;
        const char *error;
    } cases[] = {
        {"a.yaml", {.dtype = DISTMAP_FLOAT32, .ndim = 2, .shape = {2, 2}}, "it holds uint8"},
        {"a.yaml", {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {2, 2}}, "in no unit of length"},
        {"a.yaml", {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {2, 2}, .axis = {{.unit = "m", .pitch = 1}, {.unit = "m", .pitch = 2}}}, "pitches differ"},
        {"a.yaml", {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {2, 2}, .axis = {{.unit = "m", .pitch = 1}, {.unit = "m", .pitch = 1}}, .world_ndim = 2, .matrix = {{0, 1}, {1, 0}}}, "do not lie so"},
        {"a.mha", {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {2, 2, 2}, .axis = {{.type = DISTMAP_AXIS_CHANNEL}}}, "holds axes"},
        {"a.mhd", {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {2, 2, 2}, .axis = {{.type = DISTMAP_AXIS_TIME}}}, "holds axes"},
        {"100%.mhd", {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {2, 2}}, "has a %"},
        {"a.precomputed", {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {2, 2, 2}}, "in no unit of length"},
        {"a.precomputed", {.dtype = DISTMAP_FLOAT64, .ndim = 3, .shape = {2, 2, 2}}, "cannot hold float64"},
        {"a.precomputed/k", {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {2, 2, 2}}, "is written whole"},
        {"taken.mhd", {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {2, 2}}, "taken.raw, which exists already"},
    };
    save("taken.raw", "abc", 3);
    const int before = count_files();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        distmap_writer *writer = NULL;
        if (strstr(cases[i].path, "precomputed") && !is_written(cases[i].path))
            continue;
        const distmap_status status = distmap_writer_open(cases[i].path, &cases[i].info, &writer);
        if (!status || !strstr(distmap_error_text(), cases[i].error) || strncmp(distmap_error_text(), cases[i].path, strlen(cases[i].path)) != 0)
            fail_msg("%s: %s, not %s", cases[i].path, status ? distmap_error_text() : "is written", cases[i].error);
        assert_null(writer);
        assert_int_equal(count_files(), before);
    }
}

static void test_chunked(void **state) {
    if (is_written("a.precomputed"))
        test_precomputed(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metaimage), cmocka_unit_test(test_nrrd), cmocka_unit_test(test_ros_map),
        cmocka_unit_test(test_chunked),   cmocka_unit_test(test_writing),
    };
    return cmocka_run_group_tests_name("io.headers", tests, enter_folder, leave_folder);
}
