/* The papers' tables as programs: `distmap bench --suite NAME`.
 *
 * A suite goes through a paper's images, and for each through the rows of its tables: a *cell* is one method with its
 * parameters on one image. In every cell the production method is timed in turns with the method, and results are checked,
 * most of them to the bit (cell_check.c). A cell that this machine cannot do, or not in reasonable time, is in the report
 * and says why.
 */
#ifndef DISTMAP_CLI_SUITE_H
#define DISTMAP_CLI_SUITE_H

#include "../cli.h"

struct json_object;
struct suite;

/* A row of the table of suites. */
struct suite_info {
    const char *name, *summary;
    distmap_outputs want; /* what the paper's methods give: one output of four bytes per element */
    double patience;      /* a run may take so many times as long as in other suites; 0: 1 */
    int (*run)(struct suite *suite);
};

extern const struct suite_info suite_man_edm, suite_pba, suite_psds, suite_erosion, suite_esf, suite_cluster;

struct suite_cell {
    const char *table;  /* "Table 1" */
    const char *row;    /* as the paper calls it: "VTV-VTV" */
    const char *method; /* "edm/cuda" */
    const char *params; /* "mode=vtv-vtv,..."; NULL: defaults */
    int threads;        /* of the CPU; 0: as many as the run has */
    distmap_metric metric;
    int chamfer[3];
    distmap_esf esf; /* of edge strengths; zeros otherwise */
    bool index;      /* the nearest sites, whatever the suite wants */
    double work; /* of an element, against other cells of the method; 0: 1. How long it takes is predicted with it */
};

/* The time of a method on an image. */
struct suite_time {
    double seconds;     /* the method alone: the median of the runs, of an even number the lower middle one */
    double least, most; /* likewise */
    double wall;        /* the median, from host memory to host memory */
    int runs;
    bool warmed_up;             /* by a run that is not counted */
    struct json_object *phases; /* of the run that `seconds` is of; the runs' own, may be NULL */
};

struct suite {
    const struct options *options;
    const struct suite_info *info;
    struct text_file text; /* -o */
    bool quick, gpu;       /* images are small; there is a GPU to use */
    double cell_seconds;   /* what a single run may take */
    double once_seconds;   /* what takes longer is run once, without a warm-up */
    double runs_seconds;   /* what all runs of a cell take if they are short */
    uint64_t seed;
    struct json_object *cells;
    int timed, not_timed, wrong;
    distmap_context *cpu, *cuda; /* with all threads */
    double deadline;             /* when a run is given up */
    double memory_bytes;         /* of the machine */

    /* The image. */
    char column[64];   /* as the paper calls it */
    char why_not[160]; /* it was not made; "" it was */
    bool blank;        /* it will be made for the first cell that is run on it */
    const char *pattern;
    double density; /* < 0: the pattern has its own */
    distmap_problem problem;
    int64_t elements;
    uint8_t *mask;
    void *result, *reference;

    /* Of edge strengths after steps: the first result of the image, what for, and by which method; "": there is none. */
    void *first;
    distmap_esf first_esf;
    char first_by[64];

    /* Earlier times of methods, for predictions. */
    struct rate {
        char key[128];
        double seconds; /* per element and work */
        bool stopped;   /* after that long */
    } rates[64];
    int rate_count;
};

/* The image on which the next cells run. `density` < 0 where the pattern takes none. With --quick it is small, whatever the side. */
int suite_image(struct suite *s, const char *column, const char *pattern, double density, int ndim, int64_t side);
/* The same with that many points as sites. */
int suite_points(struct suite *s, const char *column, int points, int ndim, int64_t side);
/* Runs, reports. Nonzero when the whole bench must end. */
int suite_cell(struct suite *s, const struct suite_cell *cell);
/* Whether the run's options ask for such a cell: its table, column and row, as "Table 1, 512^2, PBA". */
bool suite_wants(const struct suite *s, const struct suite_cell *cell);
/* Draws the image if that is still to be done. */
void suite_draw(struct suite *s);
/* A few runs of a cell, without checks, production or report: for choosing parameters. `seconds` is infinite where it cannot run. */
int suite_try(struct suite *s, const struct suite_cell *cell, double *seconds);

/* The problem of the image with the cell's metric. */
distmap_problem suite_problem(const struct suite *s, const struct suite_cell *cell);
/* The names of sides and densities in tables: "512^2", "0.01%". */
const char *suite_side(char text[32], int ndim, int64_t side);
const char *suite_percent(char text[32], double density);

#endif
