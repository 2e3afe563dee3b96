/* distmap pass: one pass of the separable transform, over one shard of a file. Any number of processes, on any machines that see the
 * files, do the shards of a pass, in any order, at any time and as often as they like.
 *
 *     first pass   IN -> squared distances along all measured axes but the slowest;   shards are ranges of that one
 *     last pass    these -> the map: lines along the slowest axis, finished;          shards are ranges of another axis
 *
 * The mathematics is that of ranks and of work out of core (src/slabs). A shard begins and ends between chunks, so that no two
 * write the same chunk. Nothing is ever read that another shard of the same pass writes, so that shards need no order; and what a
 * shard writes depends on its input alone, so that writing it twice, or at the same time, gives the same file.
 *
 * problem.c says what is computed; gaps.c is about elements without data, labels and signed maps; plan.c is what all shards of a pass
 * must agree on; state.c is who has done what; run.c the course of things.
 */
#ifndef DISTMAP_CLI_PASS_PASS_H
#define DISTMAP_CLI_PASS_PASS_H

#include <limits.h>

#include "../outofcore/steps.h"
#include "../json.h"

/* ---- plan.c ---- */

/* The plan with which all shards of a pass agree, as a JSON object: written beside the output by the first of them, compared by the others,
 * and read by the next pass. */

enum { PLAN_INPUT = 2 * PATH_MAX }; /* bytes for a file and a dataset in it */

struct pass;
/* The plan of this run; the caller's. */
json_object *plan_make_first(const struct pass *pass);
json_object *plan_make_last(const struct pass *pass, json_object *first);
/* The problem that the first pass stated, without the outputs of the last. */
int plan_problem(const char *file, json_object *plan, distmap_problem *problem, distmap_dtype *samples);
/* What its input was, over what the file between the passes says, which may hold less. */
void plan_model(json_object *plan, distmap_image_info *info);
/* The value for no data of the input that a plan is of, if it has one. */
bool plan_nodata(json_object *plan, double *value);
/* Whether the last pass reads the input of the first pass too, since elements of it are ignored, or for their kinds; then this input, its
 * identity, and into `options` which part of it was taken. */
bool plan_source(json_object *plan, struct options *options, char input[PLAN_INPUT], const char **identity);
/* Whether there is something left to do behind the pass of this plan. */
bool plan_is_unfinished(json_object *plan);
/* Whether both are of the same run; else says where they differ. `folder` is where `there` comes from. */
int plan_compare(const char *folder, json_object *there, json_object *here);

/* ---- state.c ---- */

/* The contents of a shard's mark, or of all of them together. */
struct mark {
    unsigned flags;
    double largest;
    int64_t bytes[STEPS_OUTPUTS]; /* of each part that is a file, from its opening on */
};

/* For an output mid.npy, which the shards know under the name mid.npy.part until all are done:
 *     mid.npy.pass/plan.json   the plan
 *     mid.npy.pass/shard-3     shard 3 is done, and what it met
 * The folder outlives the pass: the next one reads the plan, and a shard that comes again sees that it is done. */
struct state {
    char output[PATH_MAX], part[PATH_MAX + 8], folder[PATH_MAX + 8];
    int64_t shards;
    int64_t done;     /* of them, when last counted */
    struct mark told; /* by all that are done */
};

/* The names alone. */
int state_name(struct state *state, const char *output);
/* The plan that is there, or NULL. */
json_object *state_plan(const struct state *state);
/* Makes the folder with this plan, or finds it there. *whole: all is done, and the output has its name. */
int state_begin(struct state *state, json_object *plan, bool *whole);
/* Removes the part of an output that has its name. */
void state_tidy(const struct state *state);
bool state_has(const struct state *state, int64_t shard);
int state_mark(const struct state *state, int64_t shard, const struct mark *mark);
/* Counts those that are done; `missing` (may be NULL) is filled with the numbers of others, as a text. */
int state_count(struct state *state, char *missing, size_t size);
/* Gives a part its name when all is done, unless it has it already. */
int state_take_name(const char *part, const char *output);
/* Keeps what the output is, once it has its name; and whether it is still that. */
int state_keep_output(const struct state *state);
int state_check_output(const struct state *state);

/* ---- run.c ---- */

enum { PASS_AXES = 80 }; /* bytes for the names of axes */

struct pass {
    const struct options *options;
    struct source source, sites; /* of the last pass both, squares and indices; else `sites` is nothing */
    struct source gaps;   /* of the last pass: the first one's input, for elements that are ignored, and for kinds */
    struct options first; /* of that input */
    char first_input[PLAN_INPUT];
    uint8_t *ignored[PIPELINE_SLOTS]; /* 1 at elements of a piece that have no data; NULL: none can have */
    char *again[PIPELINE_SLOTS];      /* the piece of `gaps` */
    struct fill fill;                 /* of the result */
    distmap_problem problem;
    struct work work;
    struct steps steps;
    struct sink map, index;
    struct state state, index_state; /* of the second one only the names are used */
    json_object *plan, *before;      /* this pass's; that of the pass before, or NULL */
    unsigned axes;                   /* along which this pass goes */
    bool last;                       /* it finishes lines, rather than transforming slices */
    int divided;                     /* the axis that shards are ranges of */
    struct dms_slab share;           /* places along it that this shard has */
    int64_t piece;                   /* of which so many are done at a time */
    int64_t pieces;
    struct mark mark;
};

/* ---- gaps.c ---- */

/* The first pass says what cannot be done before anything is; the last one opens what the first one read, if it left elements out. */
int gaps_check(struct pass *pass);
int gaps_open(struct pass *pass);
/* Whether that input is still the same behind the work. */
int gaps_end(const struct pass *pass);
/* The value of the result where there is no distance. */
int gaps_choose_fill(struct pass *pass, distmap_dtype map);
/* Memory for pieces of so many places: how much, taken, given back. */
double gaps_bytes(const struct pass *pass, int64_t places);
distmap_status gaps_hold(struct pass *pass, int64_t places);
void gaps_let_go(struct pass *pass);
/* Finds the elements without data of a piece; in the first pass, whose piece was read, gives them their part. */
distmap_status gaps_fetch(struct pass *pass, const int64_t *first, const int64_t *count, int slot);
/* Takes away what a piece of the result tells of ignored elements, and puts the value for no distance. */
void gaps_finish(struct pass *pass, int64_t places, int slot);

/* ---- problem.c ---- */

/* Opens the inputs, states the problem, and what of it this pass does; sets the map's element type. */
int pass_problem(struct pass *pass, distmap_dtype *map);
/* "y,x" */
const char *pass_axes_text(const struct pass *pass, unsigned axes, char text[PASS_AXES]);

#endif
