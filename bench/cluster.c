/* distmap_cluster [HEIGHT WIDTH [ALPHA BETA [A B]]]: chamfer distances by two scans on a cluster, in parallelogram blocks (S. J.
 * Shyu, T. W. Chou, T. L. Chia, "Distance Transformation in Parallel", Journal of Informatics & Electronics, 2006; the scans are
 * A. Rosenfeld's and J. Pfaltz's, 1968), by mpiexec with as many ranks as wanted. It prints the time of one rank and of all, and
 * compares their bits with chamfer/cpu.
 *
 *     d(i, j) = min(d(i, j), d(i - 1, j - 1) + b, d(i - 1, j) + a, d(i - 1, j + 1) + b, d(i, j - 1) + a)
 *
 * forwards, and the same backwards, which is forwards in the image turned by 180 degrees. Strips of ALPHA rows go to the ranks in
 * turns. Row i of a strip's block k is columns [k BETA - i, (k + 1) BETA - i): so slanted, that it needs nothing to the right
 * of it from its own strip, and of the strip above it only the last row, as far as column (k + 1) BETA. That row comes in
 * segments, one for each block of the strip above, and so all ranks are at work once the first blocks have passed them. Small
 * blocks let the next rank begin sooner, large ones take fewer messages.
 */
#include <limits.h>
#include <string.h>

#include <distmap.h>

#include "ranks.h"

enum { FAR = 1 << 30, ROUNDS = 5, MOST = 64 };

struct image {
    int64_t height, width, alpha, beta;
    int a, b;
    MPI_Comm comm;
    int rank, size;
    int64_t strips; /* of all ranks; strip s is on rank s % size */
    int64_t pitch;  /* of a row, with a column on either side */
    int *memory;    /* this rank's strips: alpha rows, with one above and one below */
    MPI_Request *request;
};

static int64_t rows_of(const struct image *m, int64_t strip) {
    const int64_t left = m->height - strip * m->alpha;
    return left < m->alpha ? left : m->alpha;
}
static int *row_of(const struct image *m, int64_t strip, int64_t i) { /* -1 to its rows */
    return m->memory + (strip / m->size * (m->alpha + 2) + i + 1) * m->pitch + 1;
}

static struct image image_make(MPI_Comm comm, int64_t height, int64_t width, int64_t alpha, int64_t beta, int a,
                               int b) {
    struct image m = {.height = height, .width = width, .alpha = alpha, .beta = beta, .a = a, .b = b, .comm = comm};
    MPI_Comm_rank(comm, &m.rank);
    MPI_Comm_size(comm, &m.size);
    m.strips = (height + alpha - 1) / alpha;
    m.pitch = width + 2;
    const int64_t own = (m.strips + m.size - 1) / m.size, blocks = (width + alpha - 2) / beta + 1;
    m.memory = reserve((size_t)(own * (alpha + 2) * m.pitch) * sizeof *m.memory);
    m.request = reserve((size_t)(own * blocks) * sizeof *m.request);
    return m;
}

static void image_free(struct image *m) {
    free(m->memory);
    free(m->request);
}

/* One voxel of some 500 is a site, whoever asks. */
static bool is_site(int64_t y, int64_t x) {
    const uint32_t mixed = ((uint32_t)y * 2654435761u) ^ ((uint32_t)x * 2246822519u);
    return (mixed ^ mixed >> 15) * 3266489917u >> 23 == 0;
}

static void paint(const struct image *m) {
    for (int64_t s = m->rank; s < m->strips; s += m->size)
        for (int64_t i = -1; i <= m->alpha; i++)
            for (int64_t x = -1; x <= m->width; x++) {
                const bool inside = i >= 0 && i < rows_of(m, s) && x >= 0 && x < m->width;
                row_of(m, s, i)[x] = inside && is_site(s * m->alpha + i, x) ? 0 : FAR;
            }
}

/* ---- One scan ---- */

/* Columns [*from, *to) of a strip's last row that its block k finishes; a strip of `rows`. */
static void segment_of(const struct image *m, int64_t rows, int64_t k, int64_t *from, int64_t *to) {
    const int64_t first = k * m->beta - (rows - 1), last = first + m->beta;
    *from = first < 0 ? 0 : first;
    *to = last < m->width ? last : m->width;
}
static int64_t blocks_of(const struct image *m, int64_t rows) { return (m->width + rows - 2) / m->beta + 1; }

/* Where column x of the turned image's row i lies; `turn` is 1 or -1. */
static int *place(const struct image *m, int64_t strip, int64_t i, int64_t x, int turn) {
    return turn > 0 ? row_of(m, strip, i) + x : row_of(m, strip, rows_of(m, strip) - 1 - i) + m->width - 1 - x;
}

static void scan_block(const struct image *m, int64_t strip, int64_t k, int turn) {
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
static int *segment_start(const struct image *m, int64_t strip, int64_t i, int64_t from, int64_t to, int turn) {
    return place(m, strip, i, turn > 0 ? from : to - 1, turn);
}

/* The last row of the strip above, from the rank that has it, as far as column `need`; returns how far it is known. */
static int64_t fetch(const struct image *m, int64_t strip, int64_t above, int64_t *segment, int64_t known, int64_t need,
                     int turn) {
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

static void scan(const struct image *m, int turn) {
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

/* The least of some rounds, from all ready to all done. */
static double race(struct image *m) {
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        paint(m);
        MPI_Barrier(m->comm);
        const double begun = MPI_Wtime();
        scan(m, 1);
        scan(m, -1);
        MPI_Barrier(m->comm);
        const double taken = MPI_Wtime() - begun;
        best = taken < best ? taken : best;
    }
    return best;
}

static void check(distmap_status status) {
    if (status == DISTMAP_OK)
        return;
    fprintf(stderr, "distmap_cluster: %s\n", distmap_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* What chamfer/cpu says, one process, one thread: made by rank 0. */
static uint32_t *reference(const struct image *m, double *seconds) {
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
    for (int round = 0; round < ROUNDS; round++) {
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

/* Whether the strips of all ranks are what rank 0 knows; the same answer on all. */
static bool is_same(const struct image *m, const uint32_t *wanted) {
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

int main(int argc, char **argv) {
    static const int64_t usual[][2] = {{16, 256}, {32, 128}, {32, 256}, {32, 512}, {64, 256}, {128, 256}, {128, 1024}};
    int64_t numbers[6] = {3840, 3840, 0, 0, 3, 4};
    int rank, size, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 6 && i + 1 < argc; i++)
        numbers[i] = atoll(argv[i + 1]);
    const int64_t height = numbers[0], width = numbers[1];
    const int a = (int)numbers[4], b = (int)numbers[5], tried = numbers[2] ? 1 : (int)(sizeof usual / sizeof *usual);
    if (height < 1 || width < 1 || width > INT_MAX || numbers[2] < 0 || (numbers[2] && numbers[3] < 1) || a < 1 ||
        b < a || b > 2 * a || (height + width) * b >= FAR) {
        if (rank == 0)
            fprintf(stderr, "usage: distmap_cluster [HEIGHT WIDTH [ALPHA BETA [A B]]], A <= B <= 2 A\n");
        MPI_Finalize();
        return 2;
    }
    struct image one = {.height = height, .width = width, .a = a, .b = b};
    uint32_t *wanted = NULL;
    double by_library = 0, alone = 0;
    if (rank == 0) {
        wanted = reference(&one, &by_library);
        one = image_make(MPI_COMM_SELF, height, width, height, width + height, a, b);
        alone = race(&one);
        failed = !is_same(&one, wanted);
        image_free(&one);
        printf("%lld x %lld, weights %d %d: two scans by one rank %.1f ms%s, chamfer/cpu by one thread %.1f ms\n",
               (long long)height, (long long)width, a, b, 1e3 * alone, failed ? ", OTHER BITS" : "", 1e3 * by_library);
    }
    meet();
    for (int i = 0; i < tried; i++) {
        const int64_t alpha = numbers[2] ? numbers[2] : usual[i][0], beta = numbers[2] ? numbers[3] : usual[i][1];
        struct image m = image_make(MPI_COMM_WORLD, height, width, alpha, beta, a, b);
        const double seconds = race(&m);
        const bool same = is_same(&m, wanted);
        failed |= !same;
        if (rank == 0)
            printf("%d ranks, blocks of %lld x %lld: %.1f ms, %.2f times one rank%s\n", size, (long long)alpha,
                   (long long)beta, 1e3 * seconds, alone / seconds, same ? "" : ", OTHER BITS");
        image_free(&m);
    }
    free(wanted);
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
