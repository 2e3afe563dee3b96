/* Connected groups of sites, numbered 1, 2, ... in the order of their first elements.
 *
 * Two scans with union-find (Rosenfeld and Pfaltz 1966; roots are the lowest numbers, paths are halved): the first gives
 * every site a provisional number and joins it with the neighbours that come before it, diagonals included; the second
 * replaces provisional numbers by those of the groups. Along axes that are not measured nothing is connected.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { N = DISTMAP_MAX_NDIM, X = N - 1, MAX_BEFORE = 13, ROWS_A_STEP = 64 };

typedef struct scan {
    int64_t shape[N], stride[N]; /* four axes, missing leading ones of length 1 */
    bool measured[N];
    uint32_t *parent;
    size_t count, capacity; /* provisional numbers 0 (none) to count - 1 */
} scan;

static uint32_t root_of(scan *s, uint32_t number) {
    while (s->parent[number] != number)
        number = s->parent[number] = s->parent[s->parent[number]];
    return number;
}

static uint32_t join(scan *s, uint32_t a, uint32_t b) {
    if (a == 0 || a == b)
        return b;
    a = root_of(s, a);
    b = root_of(s, b);
    if (a < b)
        return s->parent[b] = a;
    return s->parent[a] = b;
}

/* A fresh provisional number, or 0 when memory or numbers are out. */
static uint32_t fresh(scan *s) {
    if (s->count == s->capacity) {
        const size_t capacity = s->capacity * 2;
        uint32_t *larger = s->count <= UINT32_MAX / 2 ? realloc(s->parent, capacity * sizeof *larger) : NULL;
        if (!larger)
            return 0;
        s->parent = larger;
        s->capacity = capacity;
    }
    s->parent[s->count] = (uint32_t)s->count;
    return (uint32_t)s->count++;
}

/* The rows before this one that touch it: offsets in elements of the numbers array, at most 13 of them in 4-D. */
static int rows_before(const scan *s, const int64_t at[N], int64_t offsets[MAX_BEFORE]) {
    int count = 0;
    for (int code = 0; code < 13; code++) { /* (dt, dz, dy) below (0, 0, 0), each -1 to 1 */
        const int step[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
        int64_t offset = 0;
        bool there = true;
        for (int a = 0; a < X; a++) {
            const int64_t i = at[a] + step[a];
            there = there && (step[a] == 0 || (s->measured[a] && i >= 0 && i < s->shape[a]));
            offset = offset * s->shape[a] + step[a];
        }
        if (there)
            offsets[count++] = offset * s->shape[X];
    }
    return count;
}

static bool number_row(scan *s, const int64_t at[N], const uint8_t *site, uint32_t *row) {
    int64_t before[MAX_BEFORE];
    const int befores = rows_before(s, at, before);
    const bool along = s->measured[X];
    for (int64_t x = 0; x < s->shape[X]; x++) {
        uint32_t number = 0;
        if (site[x]) {
            if (along && x > 0)
                number = row[x - 1];
            for (int b = 0; b < befores; b++) {
                const uint32_t *other = row + before[b] + x;
                if (*other) /* those beside it are joined with it already */
                    number = join(s, number, *other);
                else if (along) {
                    if (x > 0 && other[-1])
                        number = join(s, number, other[-1]);
                    if (x + 1 < s->shape[X] && other[1])
                        number = join(s, number, other[1]);
                }
            }
            if (number == 0 && (number = fresh(s)) == 0)
                return false;
        }
        row[x] = number;
    }
    return true;
}

static int number_all(scan *s, const distmap_view *view, const distmap_sites *sites, uint8_t *site, uint32_t *numbers) {
    const double elements = (double)element_count(N, s->shape);
    int64_t at[N] = {0};
    uint32_t *row = numbers;
    for (at[0] = 0; at[0] < s->shape[0]; at[0]++)
        for (at[1] = 0; at[1] < s->shape[1]; at[1]++)
            for (at[2] = 0; at[2] < s->shape[2]; at[2]++, row += s->shape[X]) {
                const char *first = view->data;
                for (int a = 0; a < X; a++)
                    first += at[a] * s->stride[a];
                elements_sites(first, view->dtype, s->stride[X], s->shape[X], sites, site);
                if (!number_row(s, at, site, row))
                    return fail("not enough memory to number the connected groups of sites");
                if (at[2] % ROWS_A_STEP == 0 && progress_step(NULL, (double)(row - numbers) / elements))
                    return fail("interrupted");
            }
    return 0;
}

int components_number(const distmap_view *view, const distmap_problem *problem, uint32_t *numbers, int64_t *count) {
    scan s = {.count = 1, .capacity = 1024};
    const int missing = N - view->ndim;
    for (int a = 0; a < N; a++) {
        s.shape[a] = a < missing ? 1 : view->shape[a - missing];
        s.stride[a] = a < missing ? 0 : view->strides[a - missing];
        s.measured[a] = a >= missing && (problem->axes == 0 || problem->axes & 1U << (a - missing));
    }
    const int64_t elements = element_count(N, s.shape);
    *count = 0;
    if (elements == 0)
        return 0;

    uint8_t *site = malloc((size_t)s.shape[X]);
    s.parent = malloc(s.capacity * sizeof *s.parent);
    int status = 0;
    if (!site || !s.parent) {
        status = fail("not enough memory to number the connected groups of sites");
        goto out;
    }
    s.parent[0] = 0;
    status = number_all(&s, view, &problem->sites, site, numbers);
    if (status)
        goto out;

    /* A root is lower than all that point to it, so one rising pass makes final numbers in order. */
    uint32_t last = 0;
    for (size_t i = 1; i < s.count; i++)
        s.parent[i] = s.parent[i] == i ? ++last : s.parent[s.parent[i]];
    for (int64_t i = 0; i < elements; i++)
        numbers[i] = s.parent[numbers[i]];
    *count = last;
out:
    free(s.parent);
    free(site);
    return status;
}

bool components_one_rules(const uint32_t *numbers, int64_t elements, int64_t count) {
    int64_t *sizes = calloc((size_t)count + 1, sizeof *sizes), sites = 0, largest = 0;
    if (!sizes)
        return false;
    for (int64_t i = 0; i < elements; i++)
        sizes[numbers[i]]++;
    for (int64_t i = 1; i <= count; i++) {
        sites += sizes[i];
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    free(sizes);
    return largest > sites / 4 * 3;
}
