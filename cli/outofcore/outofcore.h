/* distmap edt --memory: maps of images that do not fit in memory, exact all the same.
 *
 *     pass 1   slabs of the slowest axis, one after the other: each slice's squared distances along all other axes, into a
 *              scratch file
 *     pass 2   panels, whole lines along the slowest axis: the lower envelope of what the slices gave, into the result
 *     pass 3   only where the format wants its slices in order, or panels are so narrow that their runs in the result are too
 *              short: from the scratch file, where they lie like what they are made from, into the result
 *
 * The mathematics is that of ranks that hold slabs (src/slabs); here slabs and panels follow each other in time, and a file takes
 * the messages' place. In it each panel lies in one piece, slice by slice: a slab is written in as many pieces as there are
 * panels, a panel read in one. An element is read once and written twice by passes 1 and 2, and once more read.
 *
 * A plane needs no squares in between: its slabs are windows (distmap.h), each of which gives the result when it is known which
 * site of each column is the last before it, and which the first after it:
 *
 *     survey   slab after slab: the first and the last site of each column, 8 bytes per column and slab in the scratch file
 *     result   slab after slab once more
 *
 * The input is read twice and the result written once, in order, whatever the format: 6 bytes per element of a mask of bytes
 * instead of 13. Where the slowest axis is not measured slices are problems of their own, and the result comes at once.
 *
 * budget.c chooses how many slabs; ledger.c keeps what is done for another run; storage.c moves pieces between memory and
 * files; steps.c is what is done to a slab and to a panel; pipeline.c lets disks and processors work at the same time; passes.c is
 * the course of things by way of squares, direct.c that of slabs which give the result, windows.c the survey; run.c the
 * subcommand's part.
 */
#ifndef DISTMAP_CLI_OUTOFCORE_OUTOFCORE_H
#define DISTMAP_CLI_OUTOFCORE_OUTOFCORE_H

#include "steps.h"

/* ---- ledger.c ---- */

enum { PATHS = 4096, HEADING = 16384 };

/* The ledger: the finished work, in a file that outlives the run: a heading that describes the problem, then a line for every slab and
 * panel. Scratch and ledger are beside each other; the process with the ledger's lock owns both. */
struct ledger {
    char state[PATHS], scratch[PATHS];
    int fd, scratch_fd; /* < 0: closed */
    bool goes_on;       /* with what another run has left */
    int64_t slabs, panels;
    unsigned flags; /* of all of these */
    double largest, least;
};

/* Locks the ledger. With --resume it goes on with one that is there, which must be of the same problem. */
int ledger_open(struct ledger *ledger, const struct options *options, const char *heading);
/* Forgets what another run has done. */
int ledger_begin_anew(struct ledger *ledger, const char *heading);
/* Gives a file of this run its size, or looks whether it still has it: one that was cut since would read as zeros. */
int ledger_size(struct ledger *ledger, int fd, const char *name, int64_t bytes);
/* Opens the scratch file, of that many bytes. */
int ledger_reserve(struct ledger *ledger, int64_t bytes);
distmap_status ledger_mark(struct ledger *ledger, const char *kind, unsigned flags, double largest, double least);
/* Closes; `keep`: leaves both files for another run. */
void ledger_close(struct ledger *ledger, bool keep);
/* "FOLDER/.distmap-NAME.ENDING" for an output, beside it where folder is NULL. */
int ledger_path(const char *output, const char *folder, const char *ending, char path[PATHS]);

/* ---- storage.c ---- */

/* `count` runs of `run` bytes: one behind the other in one place, `stride` bytes apart in the other. */
struct runs {
    int64_t count;
    size_t run, stride;
};

distmap_status storage_read(int fd, const char *name, int64_t at, void *to, size_t bytes);
distmap_status storage_write(int fd, const char *name, int64_t at, const void *from, size_t bytes);
/* From memory with strides to one piece of the file, and back. */
distmap_status storage_collect(int fd, const char *name, int64_t at, const char *from, const struct runs *runs);
distmap_status storage_deal(int fd, const char *name, int64_t at, char *to, const struct runs *runs);
/* From one piece of memory to a file with strides. */
distmap_status storage_scatter(int fd, const char *name, int64_t at, const char *from, const struct runs *runs);

/* ---- The run ---- */

struct outofcore {
    const struct options *options;
    struct job *job;
    struct steps steps;
    struct result {
        struct sink *sink;
        bool is_index;
        int fd;         /* of the file itself, or of the scratch file */
        int64_t offset; /* of the first element in it */
        bool in_order;  /* it is written from the scratch file, slice by slice */
    } results[STEPS_OUTPUTS];
    int result_count;
    int64_t payload_at, kinds_at; /* in the scratch file, behind the samples */
    struct ledger ledger;
    int64_t looked, sites; /* slabs of the input that were looked at, from the first on, and the sites in them */
    struct values_seen seen;
    uint8_t *ignored[PIPELINE_SLOTS]; /* of what is in steps.in, 1 at elements that are ignored; NULL: none can be */
    char *again[PIPELINE_SLOTS];      /* the input's slab, read once more to find these; by the pass that copies */
    double copied_largest;            /* of a map with elements that are ignored, which the pass that copies sees */
    struct result *copied;            /* by the pass that is under way */
};

/* Chooses the number of slabs and panels, and so the layout. */
int budget_choose(struct outofcore *o);
/* Whether panels consist of runs in the image that are worth a call each. */
bool budget_runs_are_long(const struct outofcore *o);
/* Bytes of memory that this process had at most. */
int64_t memory_peak(void);

/* All passes that are not done. */
int passes_run(struct outofcore *o);
/* One of them, from item `first` on: an item for each slab or panel. */
distmap_status passes_run_one(struct outofcore *o, const char *name, int64_t first, struct pipeline stages);
/* Stages, of an `outofcore`: a slab of the input; what is done to it. */
pipeline_stage passes_fetch_slab, passes_work_slab;

/* ---- ignored.c ---- */

/* Whether elements may be ignored, so that results are written in order. */
bool ignored_any(const struct outofcore *o);
/* Bytes that a pass over slabs of so many slices holds for it. */
double ignored_bytes(const struct outofcore *o, int64_t count, bool copying);
distmap_status ignored_hold(struct outofcore *o, bool copying);
void ignored_let_go(struct outofcore *o);
/* Finds the elements without data of a slab, and gives them their part: how many. */
int64_t ignored_take(struct outofcore *o, char *elements, int64_t count, int slot);
/* Of a slab's map or sites: takes away what is told of ignored elements, and puts the value for no distance. Returns the largest
 * distance, where any may be ignored. */
double ignored_finish(struct outofcore *o, char *elements, distmap_dtype dtype, int64_t count, int slot, bool is_index);

/* ---- direct.c ---- */

/* Slabs that give the result. */
distmap_status direct_run(struct outofcore *o);

/* ---- windows.c ---- */

/* Bytes of scratch file that windows need, and of memory that the survey holds for slabs of that many rows; negative when the
 * library refuses, and says why. */
int64_t windows_bytes(const struct outofcore *o);
double windows_survey_bytes(const struct outofcore *o, int64_t rows);
/* The sites that slabs need from each other. */
distmap_status windows_survey(struct outofcore *o);
/* A stage of direct.c: what slab `item` must know of the others, into the slot's columns. */
distmap_status windows_fetch_columns(struct outofcore *o, int64_t item, int slot);

#endif
