/* The command from file to file on a 32768 x 32768 image: every element of the result, and the peak memory, which must
 * stay within input, output and scratch (nothing is held twice). The files go through the io library by bands.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <distmap/io.h>

#include "large.h"

enum { SIDE = 32768 };

static const image picture = {2, {SIDE, SIDE}, 0, 4, {{0, SIDE - 1}, {9, 9}, {SIDE / 2, 77}, {SIDE - 1, SIDE / 2}}};

static int write_picture(const char *path) {
    static uint8_t row[SIDE];
    const distmap_image_info info = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}};
    distmap_writer *writer = NULL;
    distmap_status status = distmap_writer_open(path, &info, &writer);
    for (int64_t y = 0; status == DISTMAP_OK && y < SIDE; y++) {
        image_row(&picture, y, row);
        status = distmap_writer_write(writer, 1, row);
    }
    if (status == DISTMAP_OK)
        status = distmap_writer_finish(&writer);
    else
        distmap_writer_abort(&writer);
    if (status != DISTMAP_OK)
        printf("    %s\n", distmap_error_text());
    return status == DISTMAP_OK;
}

static int check_result(const char *path) {
    static float got[SIDE], want[SIDE];
    static double work[SIDE];
    distmap_reader *reader = NULL;
    distmap_status status = distmap_reader_open(path, &reader);
    int good = status == DISTMAP_OK;
    if (good) {
        const distmap_image_info *info = distmap_reader_info(reader);
        good = info->dtype == DISTMAP_FLOAT32 && info->ndim == 2 && info->shape[0] == SIDE && info->shape[1] == SIDE;
        if (!good)
            printf("    the result is not a float32 image of the input's shape\n");
    }
    for (int64_t y = 0; good && y < SIDE; y++) {
        status = distmap_reader_read(reader, y, 1, got);
        expect_distance(&picture, y, want, work);
        good = status == DISTMAP_OK && same_distance(&picture, y, got, want);
    }
    if (status != DISTMAP_OK)
        printf("    %s\n", distmap_error_text());
    distmap_reader_close(&reader);
    return good;
}

/* What the command may hold: input, output, scratch, and some room for itself. */
static double allowed(void) {
    const distmap_problem problem = {
        .dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}, .want = {.distance = DISTMAP_FLOAT32}};
    distmap_context *context = NULL;
    size_t scratch = 0;
    if (distmap_context_create(NULL, &context) == DISTMAP_OK)
        distmap_scratch_bytes(context, &problem, NULL, &scratch);
    distmap_context_destroy(&context);
    return 5.0 * SIDE * SIDE + (double)scratch + 64e6;
}

static int check_format(const char *command, const char *folder, const char *ending) {
    char input[512], output[512];
    int good = 0;
    printf("command, 32768 x 32768, %s\n", ending);
    fflush(stdout);
    if (snprintf(input, sizeof input, "%s/input.%s", folder, ending) >= (int)sizeof input ||
        snprintf(output, sizeof output, "%s/output.%s", folder, ending) >= (int)sizeof output)
        return 1;
    if (write_picture(input)) {
        const pid_t child = fork();
        if (child == 0) {
            execl(command, command, "edt", input, "-o", output, "--sites", "nonzero", (char *)NULL);
            perror(command);
            _exit(127);
        }
        int status = -1;
        struct rusage usage = {0};
        if (child > 0)
            wait4(child, &status, 0, &usage);
        const double peak = 1024.0 * (double)usage.ru_maxrss;
        const int fits = peak <= allowed();
        printf("    peak %.2f GB of %.2f allowed%s\n", peak / 1e9, allowed() / 1e9, fits ? "" : ": FAILED");
        good = child > 0 && status == 0 && fits && check_result(output);
    }
    unlink(input);
    unlink(output);
    if (!good)
        printf("    FAILED\n");
    return !good;
}

int check_command(const char *command, const char *folder) {
    char work[400];
    if (snprintf(work, sizeof work, "%s/distmap-large-XXXXXX", folder) >= (int)sizeof work || !mkdtemp(work)) {
        printf("command: no folder for files under %s: FAILED\n", folder);
        return 1;
    }
    const int failures = check_format(command, work, "npy") + check_format(command, work, "tif");
    rmdir(work);
    return failures;
}
