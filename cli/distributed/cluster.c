/* mpirun -n R distmap bench --suite cluster: the two-pass scan on a cluster, 3840 x 3840, which the paper on shortest distance
 * scans cites (cluster_scan.h), by 1, 2, 4, ... and R of the ranks, with blocks of several sizes.
 *
 * Ranks that wait for others' turns sleep, so that they take no processor from those that work. A row says whether there are more
 * ranks than processors: then its time tells nothing of the method.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../json.h"
#include "cluster_scan.h"
#include "distributed.h"

enum { SIDE = 3840, SMALL = 480, WEIGHT_A = 3, WEIGHT_B = 4 };

struct suite {
    const struct options *options;
    struct text_file text;
    json_object *cells;
    int64_t side;
    uint32_t *wanted; /* rank 0 */
    double alone;     /* one rank, the whole image as one block */
    int wrong, here;
};

/* Until all ranks are there. */
static void meet(void) {
    const struct timespec pause = {.tv_nsec = 200000};
    MPI_Request request;
    int done;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        nanosleep(&pause, NULL);
}

static void add_cell(struct suite *s, const struct cluster_image *m, const double seconds[CLUSTER_ROUNDS], bool whole,
                     bool same) {
    char row[64], column[32], params[64];
    const double median = seconds[CLUSTER_ROUNDS / 2];
    const bool crowded = s->here > (int)sysconf(_SC_NPROCESSORS_ONLN) && m->size > (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int64_t shape[] = {s->side, s->side};
    snprintf(params, sizeof params, "alpha=%lld,beta=%lld", (long long)m->alpha, (long long)m->beta);
    if (whole)
        snprintf(row, sizeof row, "sequential");
    else
        snprintf(row, sizeof row, "%d ranks, %lld x %lld", m->size, (long long)m->alpha, (long long)m->beta);
    snprintf(column, sizeof column, "%lld^2", (long long)s->side);
    json_object *cell = json_object_new_object();
    json_object_object_add(cell, "table", json_object_new_string("Cluster"));
    json_object_object_add(cell, "row", json_object_new_string(row));
    json_object_object_add(cell, "column", json_object_new_string(column));
    json_object_object_add(cell, "method", json_object_new_string("two scans by ranks"));
    json_object_object_add(cell, "params", json_object_new_string(params));
    json_object_object_add(cell, "ranks", json_object_new_int(m->size));
    json_object_object_add(cell, "oversubscribed", json_object_new_boolean(crowded));
    json_object_object_add(cell, "shape", json_shape(2, shape));
    json_object_object_add(cell, "state", json_object_new_string(same ? "timed" : "wrong"));
    json_object_object_add(cell, "reason", NULL);
    json_object_object_add(cell, "seconds", json_object_new_double(median));
    json_object_object_add(cell, "least_seconds", json_object_new_double(seconds[0]));
    json_object_object_add(cell, "most_seconds", json_object_new_double(seconds[CLUSTER_ROUNDS - 1]));
    json_object_object_add(cell, "runs", json_object_new_int(CLUSTER_ROUNDS));
    json_object_object_add(cell, "warmed_up", json_object_new_boolean(true));
    json_object_object_add(cell, "phases", json_object_new_object());
    json_object_object_add(cell, "checked_against", json_object_new_string("chamfer/cpu"));
    json_object_object_add(cell, "speed_up", json_object_new_double(s->alone / median));
    json_object_array_add(s->cells, cell);
    s->wrong += !same;
    if (!s->options->json && !s->options->quiet)
        printf("%-24s %10.3f ms: %.2f x%s%s\n", row, median * 1e3, s->alone / median,
               crowded ? ", more ranks than processors" : "", same ? "" : "  WRONG");
}

/* By the first `count` ranks; the others go on. */
static void measure(struct suite *s, int count, int64_t alpha, int64_t beta, bool whole) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, ranks_own() < count ? 0 : MPI_UNDEFINED, ranks_own(), &comm);
    if (comm != MPI_COMM_NULL) {
        double seconds[CLUSTER_ROUNDS];
        struct cluster_image m = cluster_image_make(comm, s->side, s->side, alpha, beta, WEIGHT_A, WEIGHT_B);
        cluster_race(&m, seconds);
        const bool same = cluster_is_same(&m, s->wanted);
        if (whole)
            s->alone = seconds[CLUSTER_ROUNDS / 2];
        if (ranks_own() == 0)
            add_cell(s, &m, seconds, whole, same);
        cluster_image_free(&m);
        MPI_Comm_free(&comm);
    }
    meet();
}

static void measure_all(struct suite *s) {
    static const int64_t blocks[][2] = {{16, 256}, {32, 128}, {32, 256}, {32, 512}, {64, 256}, {128, 256}, {128, 1024}};
    const int ranks = ranks_count();
    double by_library;
    if (ranks_own() == 0) {
        const struct cluster_image one = {.height = s->side, .width = s->side, .a = WEIGHT_A, .b = WEIGHT_B};
        s->wanted = cluster_reference(&one, &by_library);
    }
    meet();
    measure(s, 1, s->side, 2 * s->side, true);
    for (int count = 1; count <= ranks; count = count < ranks && 2 * count > ranks ? ranks : 2 * count)
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            measure(s, count, blocks[i][0], blocks[i][1], false);
    free(s->wanted);
}

static json_object *report(const struct suite *s, double seconds) {
    json_object *object = json_object_new_object();
    char date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    json_object_object_add(object, "suite", json_object_new_string("cluster"));
    json_object_object_add(object, "quick", json_object_new_boolean(s->options->quick));
    json_object_object_add(object, "whole", json_object_new_boolean(true));
    json_object_object_add(object, "date", json_object_new_string(date));
    json_add_machine(object);
    json_object_object_add(object, "gpu", NULL);
    json_object_object_add(object, "isa", json_object_new_string("plain C"));
    json_object_object_add(object, "threads", json_object_new_int(1));
    json_object_object_add(object, "ranks", json_object_new_int(ranks_count()));
    json_object_object_add(object, "took_seconds", json_object_new_double(seconds));
    json_object_object_add(object, "timed", json_object_new_int((int)json_object_array_length(s->cells)));
    json_object_object_add(object, "not_timed", json_object_new_int(0));
    json_object_object_add(object, "wrong", json_object_new_int(s->wrong));
    json_object_object_add(object, "cells", json_object_get(s->cells));
    return object;
}

static int give(struct suite *s, double seconds) {
    json_object *object = report(s, seconds);
    int status = 0;
    if (s->options->output) {
        json_put(object, s->text.file);
        status = text_file_finish(&s->text, s->options->no_sync);
    }
    if (s->options->json)
        json_print(object);
    else
        json_object_put(object);
    if (status == 0 && s->wrong)
        status = fail("%d cells are wrong", s->wrong);
    return status;
}

int cluster_run(const struct options *options) {
    struct suite s = {.options = options, .side = options->quick ? SMALL : SIDE, .cells = json_object_new_array()};
    int status = 0;
    if (options->only || options->without)
        status = usage("--suite cluster: it does not take --only and --without");
    if (status == 0 && ranks_own() == 0 && options->output)
        status = text_file_open(&s.text, options->output);
    status = ranks_agree(status);
    if (status == 0) {
        ranks_here(&s.here);
        const double began = MPI_Wtime();
        measure_all(&s);
        if (ranks_own() == 0)
            status = give(&s, MPI_Wtime() - began);
        status = ranks_agree(status);
    }
    text_file_drop(&s.text);
    json_object_put(s.cells);
    return status;
}
