/* check_large [COMMAND [FOLDER]]: images and volumes of more than 2^31 elements, with axes beyond 65,536.
 *
 * Every element of every result is compared with its closed form, to the bit. Each case runs in a child process, so that
 * its peak memory is its own; the peak must stay within what is stated: input, outputs and distmap_scratch_bytes(). With
 * COMMAND, the command is run on a 32768 x 32768 file in FOLDER (default: TMPDIR or /tmp) as well.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "large.h"

#define GB 1e9
#define SLACK 64e6 /* the program itself, thread stacks, rows in work */

/* Corners, ends of the long axis, and places between, in rising linear order. */
#define SITES_IMAGE(h, w)                                                                                    \
    {                                                                                                        \
        {0, 5}, {(h) / 7, (w)-1}, {(h) / 2, (w) / 3}, {(h) / 2, (w) / 3 + 2}, {(h)-2, 0}, { (h) - 1, (w)-1 } \
    }
#define SITES_VOLUME(d, h, w)                                                                   \
    {                                                                                           \
        {0, 0, 3}, {(d) / 5, (h)-1, (w) / 2}, {(d) / 2, (h) / 2, (w) / 3}, {(d)-1, 0, (w)-1}, { \
            (d) - 1, (h)-1, (w)-1                                                               \
        }                                                                                       \
    }

typedef struct large_case {
    const char *name;
    bool label; /* the nearest site's label, which needs its index, instead of the distance */
    image m;
} large_case;

static const large_case cases[] = {
    {"image, few sites", false, {2, {70000, 30000}, 0, 6, SITES_IMAGE(70000, 30000)}},
    {"image, long rows", false, {2, {30000, 70000}, 0, 6, SITES_IMAGE(30000, 70000)}},
    {"image, lattice of 97", false, {2, {70000, 30000}, 97, 0, {{0}}}},
    {"image, lattice of 5", false, {2, {30000, 70000}, 5, 0, {{0}}}},
    {"image, labels", true, {2, {70000, 30000}, 0, 6, SITES_IMAGE(70000, 30000)}},
    {"volume, long z", false, {3, {70000, 200, 160}, 0, 5, SITES_VOLUME(70000, 200, 160)}},
    {"volume, long y", false, {3, {200, 70000, 160}, 0, 5, SITES_VOLUME(200, 70000, 160)}},
    {"volume, long x", false, {3, {160, 200, 70000}, 0, 5, SITES_VOLUME(160, 200, 70000)}},
    {"volume, lattice of 7", false, {3, {200, 70000, 160}, 7, 0, {{0}}}},
};

double memory_available(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double kib = 0;
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lf", &kib) != 1)
        ;
    if (file)
        fclose(file);
    return kib > 0 ? kib * 1024 : HUGE_VAL;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Compares the whole result. */
static int check_rows(const large_case *c, const void *result) {
    const int64_t width = c->m.shape[c->m.ndim - 1];
    double *work = malloc((size_t)width * sizeof *work);
    void *want = malloc((size_t)width * sizeof(float));
    int good = work != NULL && want != NULL;
    for (int64_t row = 0; good && row < image_rows(&c->m); row++) {
        if (c->label) {
            expect_label(&c->m, row, want, work);
            good = same_label(&c->m, row, (const uint8_t *)result + row * width, want);
        } else {
            expect_distance(&c->m, row, want, work);
            good = same_distance(&c->m, row, (const float *)result + row * width, want);
        }
    }
    free(want);
    free(work);
    return good;
}

/* Runs in the child. Tells its memory need through `stated`. */
static int run_case(const large_case *c, double *stated) {
    const image *m = &c->m;
    const int64_t elements = image_elements(m), width = m->shape[m->ndim - 1];
    const distmap_dtype out = c->label ? DISTMAP_UINT8 : DISTMAP_FLOAT32;
    distmap_problem problem = {.dtype = DISTMAP_UINT8, .ndim = m->ndim, .sites = {.rule = DISTMAP_SITES_NONZERO}};
    memcpy(problem.shape, m->shape, sizeof m->shape);
    *(c->label ? &problem.want.label : &problem.want.distance) = out;

    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    uint8_t *input = NULL;
    void *result = NULL;
    size_t scratch = 0;
    int good = 0;
    if (distmap_context_create(NULL, &context) != DISTMAP_OK ||
        distmap_scratch_bytes(context, &problem, NULL, &scratch) != DISTMAP_OK)
        goto error;
    const double bytes = (double)elements * (double)(1 + distmap_dtype_size(out));
    *stated = bytes + (double)scratch;
    printf("    %.2f G elements; stated: %.2f GB with %.2f of scratch (%.3f bytes per element)\n",
           (double)elements / GB, *stated / GB, (double)scratch / GB, (double)scratch / (double)elements);
    if (*stated + SLACK > memory_available()) {
        printf("    needs more memory than the %.2f GB that are free\n", memory_available() / GB);
        goto end;
    }
    input = malloc((size_t)elements);
    result = malloc((size_t)elements * distmap_dtype_size(out));
    if (!input || !result) {
        printf("    no memory for input and output\n");
        goto end;
    }
    for (int64_t row = 0; row < image_rows(m); row++)
        image_row(m, row, input + row * width);
    if (distmap_plan_create(context, &problem, NULL, &plan) != DISTMAP_OK)
        goto error;

    distmap_arrays arrays = {.input = distmap_view_make(input, DISTMAP_UINT8, m->ndim, m->shape)};
    *(c->label ? &arrays.label : &arrays.distance) = distmap_view_make(result, out, m->ndim, m->shape);
    const double start = now();
    if (distmap_plan_execute(plan, &arrays) != DISTMAP_OK)
        goto error;
    distmap_description description;
    distmap_plan_describe(plan, &description);
    printf("    %.2f s (%s, %s, %d threads)\n", now() - start, description.method, description.isa,
           description.threads);
    if (distmap_plan_flags(plan) != 0)
        printf("    unexpected flags %u\n", distmap_plan_flags(plan));
    else
        good = check_rows(c, result);
    goto end;

error:
    printf("    %s\n", distmap_error_text());
end:
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    free(result);
    free(input);
    return good;
}

/* One case in a child of its own; 1 when it failed. */
static int check_case(const large_case *c) {
    int channel[2];
    double stated = 0;
    printf("%s\n", c->name);
    fflush(stdout);
    if (pipe(channel) != 0)
        return 1;
    const pid_t child = fork();
    if (child == 0) {
        const int good = run_case(c, &stated);
        fflush(stdout);
        _exit(write(channel[1], &stated, sizeof stated) == sizeof stated && good ? 0 : 1);
    }
    close(channel[1]);
    int status = -1;
    struct rusage usage = {0};
    if (child > 0)
        wait4(child, &status, 0, &usage);
    const int told = read(channel[0], &stated, sizeof stated) == sizeof stated;
    close(channel[0]);
    const double peak = 1024.0 * (double)usage.ru_maxrss;
    if (child < 0 || !told || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("    FAILED%s\n", WIFSIGNALED(status) ? " by a signal" : "");
        return 1;
    }
    printf("    peak %.2f GB: %s\n", peak / GB, peak <= stated + SLACK ? "as stated" : "FAILED, more than stated");
    return peak > stated + SLACK;
}

int main(int argc, char **argv) {
    const char *folder = getenv("TMPDIR");
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        failures += check_case(&cases[i]);
    if (argc > 1)
        failures += check_command(argv[1], argc > 2 ? argv[2] : folder ? folder : "/tmp");
    printf(failures ? "large: %d FAILED\n" : "large: all right\n", failures);
    return failures != 0;
}
