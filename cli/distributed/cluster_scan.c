/* The scans of cluster_scan.h: strips, segments, messages. */
#include "cluster_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAR = CLUSTER_FAR };

static void *reserve(size_t bytes) {
    void *memory = malloc(bytes + 1);
    if (!memory) {
        fprintf(stderr, "distmap: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static int64_t rows_of(const struct cluster_image *m, int64_t strip) {
    const int64_t left = m->height - strip * m->alpha;
    return left < m->alpha ? left : m->alpha;
}
static int *row_of(const struct cluster_image *m, int64_t strip, int64_t i) { /* -1 to its rows */
    return m->memory + (strip / m->size * (m->alpha + 2) + i + 1) * m->pitch + 1;
}

struct cluster_image cluster_image_make(MPI_Comm comm, int64_t height, int64_t width, int64_t alpha, int64_t beta,
                                        int a, int b) {
    struct cluster_image m = {
        .height = height, .width = width, .alpha = alpha, .beta = beta, .a = a, .b = b, .comm = comm};
    MPI_Comm_rank(comm, &m.rank);
    MPI_Comm_size(comm, &m.size);
    m.strips = (height + alpha - 1) / alpha;
    m.pitch = width + 2;
    const int64_t own = (m.strips + m.size - 1) / m.size, blocks = (width + alpha - 2) / beta + 1;
    m.memory = reserve((size_t)(own * (alpha + 2) * m.pitch) * sizeof *m.memory);
    m.request = reserve((size_t)(own * blocks) * sizeof *m.request);
    return m;
}

void cluster_image_free(struct cluster_image *m) {
    free(m->memory);
    free(m->request);
}

/* One voxel of some 500 is a site, whoever asks. */
static bool is_site(int64_t y, int64_t x) {
    const uint32_t mixed = ((uint32_t)y * 2654435761u) ^ ((uint32_t)x * 2246822519u);
    return (mixed ^ mixed >> 15) * 3266489917u >> 23 == 0;
}

static void paint(const struct cluster_image *m) {
    for (int64_t s = m->rank; s < m->strips; s += m->size)
        for (int64_t i = -1; i <= m->alpha; i++)
            for (int64_t x = -1; x <= m->width; x++) {
                const bool inside = i >= 0 && i < rows_of(m, s) && x >= 0 && x < m->width;
                row_of(m, s, i)[x] = inside && is_site(s * m->alpha + i, x) ? 0 : FAR;
            }
}

/* ---- One scan ---- */

/* Columns [*from, *to) of a strip's last row that its block k finishes; a strip of `rows`. */
static void segment_of(const struct cluster_image *m, int64_t rows, int64_t k, int64_t *from, int64_t *to) {
    const int64_t first = k * m->beta - (rows - 1), last = first + m->beta;
    *from = first < 0 ? 0 : first;
    *to = last < m->width ? last : m->width;
}
static int64_t blocks_of(const struct cluster_image *m, int64_t rows) { return (m->width + rows - 2) / m->beta + 1; }

/* Where column x of the turned image's row i lies; `turn` is 1 or -1. */
static int *place(const struct cluster_image *m, int64_t strip, int64_t i, int64_t x, int turn) {
    return turn > 0 ? row_of(m, strip, i) + x : row_of(m, strip, rows_of(m, strip) - 1 - i) + m->width - 1 - x;
}

static void scan_block(const struct cluster_image *m, int64_t strip, int64_t k, int turn) {
    const int64_t up = -m->pitch * turn;
    for (int64_t i = 0; i < rows_of(m, strip); i++) {
        const int64_t first = k * m->beta - i, last = first + m->beta;
        const int64_t from = first < 0 ? 0 : first, to = last < m->width ? last : m->width;
        int *d = place(m, strip, i, from, turn);
        for (int64_t x = from; x < to; x++, d += turn) {
            int least = *d;
            const int ways[] = {d[up - turn] + m->b, d[up] + m->a, d[up + turn] + m->b, d[-turn] + m->a};
            for (int w = 0; w < 4; w++)
                least = ways[w] < least ? ways[w] : least;
            *d = least;
        }
    }
}

/* A segment is the same memory on both sides; turned, its last column comes first. */
static int *segment_start(const struct cluster_image *m, int64_t strip, int64_t i, int64_t from, int64_t to, int turn) {
    return place(m, strip, i, turn > 0 ? from : to - 1, turn);
}

/* The last row of the strip above, from the rank that has it, as far as column `need`; returns how far it is known. */
static int64_t fetch(const struct cluster_image *m, int64_t strip, int64_t above, int64_t *segment, int64_t known,
                     int64_t need, int turn) {
    if (m->size == 1) {
        memcpy(row_of(m, strip, turn > 0 ? -1 : rows_of(m, strip)), row_of(m, above, turn > 0 ? m->alpha - 1 : 0),
               (size_t)m->width * sizeof(int));
        return m->width;
    }
    while (known < need) {
        int64_t from, to;
        segment_of(m, rows_of(m, above), (*segment)++, &from, &to);
        if (from >= to)
            continue;
        MPI_Recv(segment_start(m, strip, -1, from, to, turn), (int)(to - from), MPI_INT, (int)(above % m->size),
                 (int)above, m->comm, MPI_STATUS_IGNORE);
        known = to;
    }
    return known;
}

static void scan(const struct cluster_image *m, int turn) {
    const int64_t first = turn > 0 ? 0 : m->strips - 1;
    int requests = 0;
    for (int64_t n = 0; n < m->strips; n++) {
        const int64_t s = first + n * turn, above = s - turn, below = s + turn, rows = rows_of(m, s);
        int64_t known = 0, segment = 0;
        if (s % m->size != m->rank)
            continue;
        for (int64_t k = 0; k < blocks_of(m, rows); k++) {
            const int64_t need = (k + 1) * m->beta + 1;
            if (n > 0 && known < m->width)
                known = fetch(m, s, above, &segment, known, need < m->width ? need : m->width, turn);
            scan_block(m, s, k, turn);
            int64_t from, to;
            segment_of(m, rows, k, &from, &to);
            if (from < to && below >= 0 && below < m->strips && m->size > 1)
                MPI_Isend(segment_start(m, s, rows - 1, from, to, turn), (int)(to - from), MPI_INT,
                          (int)(below % m->size), (int)s, m->comm, &m->request[requests++]);
        }
    }
    MPI_Waitall(requests, m->request, MPI_STATUSES_IGNORE);
}

/* ---- The race ---- */

static int by_size(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

void cluster_race(struct cluster_image *m, double seconds[CLUSTER_ROUNDS]) {
    for (int round = -1; round < CLUSTER_ROUNDS; round++) {
        paint(m);
        MPI_Barrier(m->comm);
        const double begun = MPI_Wtime();
        scan(m, 1);
        scan(m, -1);
        MPI_Barrier(m->comm);
        seconds[round < 0 ? 0 : round] = MPI_Wtime() - begun;
    }
    qsort(seconds, CLUSTER_ROUNDS, sizeof *seconds, by_size);
}

static void check(distmap_status status) {
    if (status == DISTMAP_OK)
        return;
    fprintf(stderr, "distmap: %s\n", distmap_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

uint32_t *cluster_reference(const struct cluster_image *m, double *seconds) {
    const size_t pixels = (size_t)(m->height * m->width);
    const int64_t shape[] = {m->height, m->width};
    const distmap_problem problem = {.dtype = DISTMAP_UINT8,
                                     .ndim = 2,
                                     .shape = {m->height, m->width},
                                     .metric = DISTMAP_METRIC_CHAMFER,
                                     .chamfer = {m->a, m->b},
                                     .want.distance = DISTMAP_UINT32};
    uint8_t *mask = reserve(pixels);
    uint32_t *distance = reserve(pixels * sizeof *distance);
    for (int64_t y = 0; y < m->height; y++)
        for (int64_t x = 0; x < m->width; x++)
            mask[y * m->width + x] = !is_site(y, x);
    const distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, 2, shape),
                                   .distance = distmap_view_make(distance, DISTMAP_UINT32, 2, shape)};
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    check(distmap_context_create(&(distmap_context_options){.threads = 1}, &context));
    check(distmap_plan_create(context, &problem, &(distmap_plan_options){.method = "chamfer/cpu"}, &plan));
    *seconds = 1e30;
    for (int round = 0; round < CLUSTER_ROUNDS; round++) {
        const double begun = MPI_Wtime();
        check(distmap_plan_execute(plan, &arrays));
        const double taken = MPI_Wtime() - begun;
        *seconds = taken < *seconds ? taken : *seconds;
    }
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    free(mask);
    return distance;
}

bool cluster_is_same(const struct cluster_image *m, const uint32_t *wanted) {
    int *row = reserve((size_t)m->width * sizeof *row), same = 1;
    for (int64_t s = 0; s < m->strips; s++)
        for (int64_t i = 0; i < rows_of(m, s); i++) {
            const int owner = (int)(s % m->size);
            if (m->rank == owner && owner != 0)
                MPI_Send(row_of(m, s, i), (int)m->width, MPI_INT, 0, 0, m->comm);
            if (m->rank != 0)
                continue;
            if (owner != 0)
                MPI_Recv(row, (int)m->width, MPI_INT, owner, 0, m->comm, MPI_STATUS_IGNORE);
            else
                memcpy(row, row_of(m, s, i), (size_t)m->width * sizeof *row);
            for (int64_t x = 0; x < m->width; x++)
                same &= (row[x] >= FAR ? UINT32_MAX : (uint32_t)row[x]) == wanted[(s * m->alpha + i) * m->width + x];
        }
    MPI_Bcast(&same, 1, MPI_INT, 0, m->comm);
    free(row);
    return same;
}
