/* The images of the large check and their closed forms.
 *
 * Few sites: the minimum over them, written out. A lattice of pitch p: along each axis by itself, the distance from i to
 * the nearest multiple of p that lies inside, r = i mod p or p - r. Squared distances stay below 2^53, so doubles hold
 * them exactly, and min vectorises.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "large.h"

int64_t image_rows(const image *m) {
    int64_t rows = 1;
    for (int a = 0; a < m->ndim - 1; a++)
        rows *= m->shape[a];
    return rows;
}

int64_t image_elements(const image *m) { return image_rows(m) * m->shape[m->ndim - 1]; }

/* Coordinates of the row along all axes but the last. */
static void row_place(const image *m, int64_t row, int64_t at[DISTMAP_MAX_NDIM]) {
    for (int a = m->ndim - 2; a >= 0; a--) {
        at[a] = row % m->shape[a];
        row /= m->shape[a];
    }
}

static double to_multiple(int64_t i, int64_t n, int64_t pitch) {
    const int64_t r = i % pitch;
    return (double)(i - r + pitch < n && pitch - r < r ? pitch - r : r);
}

void image_row(const image *m, int64_t row, uint8_t *out) {
    const int last = m->ndim - 1;
    int64_t at[DISTMAP_MAX_NDIM];
    row_place(m, row, at);
    memset(out, 0, (size_t)m->shape[last]);
    bool on = true;
    for (int a = 0; m->pitch && a < last; a++)
        on = on && at[a] % m->pitch == 0;
    for (int64_t x = 0; m->pitch && on && x < m->shape[last]; x += m->pitch)
        out[x] = 1;
    for (int i = 0; i < m->count; i++)
        if (memcmp(at, m->site[i], (size_t)last * sizeof *at) == 0)
            out[m->site[i][last]] = (uint8_t)(i + 1);
}

/* work[x] = the least squared distance over sites 0..i of the row's elements; label, where wanted, follows it. */
static void take_site(const image *m, const int64_t at[], int i, double *work, uint8_t *label) {
    const int last = m->ndim - 1;
    const int64_t width = m->shape[last], place = m->site[i][last];
    double across = 0;
    for (int a = 0; a < last; a++)
        across += (double)(at[a] - m->site[i][a]) * (double)(at[a] - m->site[i][a]);
    for (int64_t x = 0; x < width; x++) {
        const double d = (double)(x - place), d2 = across + d * d;
        if (label && (i == 0 || d2 < work[x]))
            label[x] = (uint8_t)(i + 1);
        work[x] = i > 0 && work[x] < d2 ? work[x] : d2;
    }
}

void expect_distance(const image *m, int64_t row, float *out, double *work) {
    const int64_t width = m->shape[m->ndim - 1];
    int64_t at[DISTMAP_MAX_NDIM];
    row_place(m, row, at);
    if (m->pitch) {
        double across = 0;
        for (int a = 0; a < m->ndim - 1; a++)
            across += pow(to_multiple(at[a], m->shape[a], m->pitch), 2);
        for (int64_t first = 0; first < width; first += m->pitch) { /* to_multiple along x, without its divisions */
            const int64_t end = first + m->pitch < width ? first + m->pitch : width;
            for (int64_t x = first; x < end; x++) {
                const double before = (double)(x - first), after = (double)(first + m->pitch - x);
                const double d = end < width && after < before ? after : before;
                work[x] = across + d * d;
            }
        }
    } else {
        for (int i = 0; i < m->count; i++)
            take_site(m, at, i, work, NULL);
    }
    for (int64_t x = 0; x < width; x++)
        out[x] = sqrtf((float)work[x]);
}

void expect_label(const image *m, int64_t row, uint8_t *out, double *work) {
    int64_t at[DISTMAP_MAX_NDIM];
    row_place(m, row, at);
    if (m->pitch)
        memset(out, 1, (size_t)m->shape[m->ndim - 1]);
    for (int i = 0; i < m->count; i++)
        take_site(m, at, i, work, out);
}

/* Says where element x of the row lies, in a line begun by the caller. */
static void print_place(const image *m, int64_t row, int64_t x) {
    int64_t at[DISTMAP_MAX_NDIM];
    row_place(m, row, at);
    for (int a = 0; a < m->ndim - 1; a++)
        printf("%" PRId64 ", ", at[a]);
    printf("%" PRId64 "): ", x);
}

int same_distance(const image *m, int64_t row, const float *got, const float *want) {
    const int64_t width = m->shape[m->ndim - 1];
    if (memcmp(got, want, (size_t)width * sizeof *got) == 0)
        return 1;
    int64_t x = 0;
    while (memcmp(got + x, want + x, sizeof *got) == 0)
        x++;
    printf("    wrong distance at (");
    print_place(m, row, x);
    printf("got %.9g, want %.9g\n", got[x], want[x]);
    return 0;
}

int same_label(const image *m, int64_t row, const uint8_t *got, const uint8_t *want) {
    const int64_t width = m->shape[m->ndim - 1];
    if (memcmp(got, want, (size_t)width) == 0)
        return 1;
    int64_t x = 0;
    while (got[x] == want[x])
        x++;
    printf("    wrong label at (");
    print_place(m, row, x);
    printf("got %u, want %u\n", got[x], want[x]);
    return 0;
}
