/* What the tests of files share: see support.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <ftw.h>
#include <unistd.h>

#include "support.h"

static char folder[64];

int enter_folder(void **state) {
    (void)state;
    /* In memory where that can be: nothing is to wait for a disk. */
    snprintf(folder, sizeof folder, "%s/distmap-io-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static void for_each_file(void (*act)(const char *name, int *count), int *count) {
    DIR *d = opendir(".");
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            act(e->d_name, count);
    closedir(d);
}

static void count_one(const char *name, int *count) {
    (void)name;
    ++*count;
}

static int remove_it(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

void erase(const char *path) {
    static const char *const pairs[][2] = {{".hdr", ".img"},  {".mhd", ".raw"},     {".mhd", ".zraw"},
                                           {".nhdr", ".raw"}, {".nhdr", ".raw.gz"}, {".yaml", ".pgm"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const size_t ending = strlen(pairs[i][0]), stem = strlen(path) > ending ? strlen(path) - ending : 0;
        if (strcmp(path + stem, pairs[i][0]) != 0)
            continue;
        char elements[256];
        snprintf(elements, sizeof elements, "%.*s%s", (int)stem, path, pairs[i][1]);
        remove(elements);
    }
    nftw(path, remove_it, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_one(const char *name, int *count) {
    (void)count;
    erase(name);
}

int count_files(void) {
    int count = 0;
    for_each_file(count_one, &count);
    return count;
}

int leave_folder(void **state) {
    (void)state;
    for_each_file(remove_one, NULL);
    return chdir("/") || rmdir(folder);
}

uint8_t *load(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

void save(const char *path, const void *data, size_t bytes) {
    remove(path); /* to truncate a file that exists makes some file systems wait for the disk */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

size_t info_bytes(const distmap_image_info *info) {
    size_t bytes = distmap_dtype_size(info->dtype);
    for (int a = 0; a < info->ndim; a++)
        bytes *= (size_t)info->shape[a];
    return bytes;
}

distmap_sample read_sample = DISTMAP_SAMPLE_OPEN;

void *read_all(const char *path, int64_t band, distmap_image_info *info) {
    distmap_reader *reader = NULL;
    if (distmap_reader_open(path, &reader))
        fail_msg("%s", distmap_error_text());
    if (read_sample && distmap_reader_info(reader)->samples)
        assert_int_equal(distmap_reader_sample(reader, read_sample), DISTMAP_OK);
    *info = *distmap_reader_info(reader);
    const size_t bytes = info_bytes(info);
    char *out = malloc(bytes + 1);
    assert_non_null(out);
    for (int64_t first = 0; first < info->shape[0]; first += band) {
        const int64_t count = info->shape[0] - first < band ? info->shape[0] - first : band;
        if (distmap_reader_read(reader, first, count, out + (size_t)first * (bytes / (size_t)info->shape[0])))
            fail_msg("%s", distmap_error_text());
    }
    distmap_reader_close(&reader);
    assert_null(reader);
    return out;
}

void *make_elements(const distmap_image_info *info, uint64_t seed) {
    const size_t bytes = info_bytes(info), size = distmap_dtype_size(info->dtype);
    uint8_t *data = malloc(bytes + 8);
    assert_non_null(data);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(random_next(&seed) >> 32);
    for (size_t i = 0; i < bytes / size; i++)
        if (info->dtype == DISTMAP_BOOL)
            data[i] &= 1;
        else if (info->dtype == DISTMAP_FLOAT32)
            ((float *)data)[i] = (float)(int64_t)random_next(&seed);
        else if (info->dtype == DISTMAP_FLOAT64)
            ((double *)data)[i] = (double)(int64_t)random_next(&seed);
    return data;
}

bool is_written(const char *path) {
    const distmap_format_info *format;
    for (size_t row = 0; (format = distmap_format_get(row)); row++)
        if (format->writes && strstr(format->endings, strchr(path, '.')))
            return true;
    return false;
}

distmap_status write_all(const char *path, const distmap_image_info *info, const void *elements, int64_t band) {
    distmap_writer *writer = NULL;
    distmap_status status = distmap_writer_open(path, info, &writer);
    const size_t slice = info->shape[0] ? info_bytes(info) / (size_t)info->shape[0] : 0;
    for (int64_t first = 0; !status && first < info->shape[0]; first += band) {
        const int64_t count = info->shape[0] - first < band ? info->shape[0] - first : band;
        status = distmap_writer_write(writer, count, (const char *)elements + (size_t)first * slice);
    }
    if (status) {
        distmap_writer_abort(&writer);
        return status;
    }
    status = distmap_writer_finish(&writer);
    assert_null(writer);
    return status;
}

distmap_status read_broken(const char *path) {
    distmap_reader *reader = NULL;
    distmap_status status = distmap_reader_open(path, &reader);
    if (!status) {
        const distmap_image_info *info = distmap_reader_info(reader);
        size_t slice = distmap_dtype_size(info->dtype);
        for (int a = 1; a < info->ndim; a++)
            slice *= (size_t)info->shape[a];
        char *out = slice < 64 << 20 ? malloc(slice + 1) : NULL;
        for (int64_t i = 0; out && !status && slice && i < info->shape[0] && i < 10000; i++)
            status = distmap_reader_read(reader, i, 1, out);
        free(out);
    } else {
        assert_null(reader);
    }
    distmap_reader_close(&reader);
    if (status) {
        const char *text = distmap_error_text();
        if (strncmp(text, path, strlen(path)) != 0 || text[strlen(path)] != ':' || strchr(text, '\n') ||
            strlen(text) < strlen(path) + 10 || strstr(text, ": :") || strstr(text, "<fd:"))
            fail_msg("not one clear line that begins with the file's name: %s", text);
        assert_true(status == DISTMAP_ERROR_FORMAT || status == DISTMAP_ERROR_UNSUPPORTED ||
                    status == DISTMAP_ERROR_IO);
    }
    return status;
}
