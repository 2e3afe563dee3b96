/* What the library's own parts share: a problem in normal form, the plan, a row of the method table.
 *
 * Normal form: every problem has four axes [t][z][y][x], missing leading ones of length 1, so that code for 1-D to 4-D
 * is one. Axis 3 (x) is the last, the fastest in linear order. A *row* is a run along x.
 */
#ifndef DISTMAP_CORE_INTERNAL_H
#define DISTMAP_CORE_INTERNAL_H

#include <pthread.h>

#include "core/comparison.h"
#include "core/metric.h"
#include "core/phases.h"
#include "core/split.h"
#include "core/unit.h"
#include "distmap.h"

/* CUDA sources are C++, which had its own name for this header until C++23. */
#ifdef __cplusplus
#include <atomic>
using std::atomic_int, std::atomic_uint, std::atomic_uintptr_t;
using std::atomic_fetch_or_explicit, std::memory_order_relaxed;
extern "C" {
#else
#include <stdatomic.h>
#endif

enum { DM_NDIM = DISTMAP_MAX_NDIM, DM_X = DM_NDIM - 1, DM_MAX_PARAMS = 8, DM_INNER = 16 };

/* ---- Errors ---- */

/* Sets the calling thread's error text, cut at 511 bytes, and returns `status`. */
distmap_status dm_error(distmap_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define TRY(call)                                 \
    do {                                          \
        const distmap_status try_status = (call); \
        if (try_status != DISTMAP_OK)             \
            return try_status;                    \
    } while (0)

/* ---- The arithmetic of squared distances ---- */

typedef enum dm_number {
    DM_U32, /* "none" is UINT32_MAX; every possible value is below it */
    DM_U64, /* "none" is UINT64_MAX */
    DM_F64, /* "none" is +inf */
} dm_number;

static inline size_t dm_number_size(dm_number number) { return number == DM_U32 ? 4 : 8; }

typedef enum dm_isa { DM_PLAIN, DM_SSE4, DM_NEON, DM_AVX2, DM_AVX512, DM_ISA_COUNT } dm_isa;

/* ---- The sites rule for elements of one dtype (sites.c) ---- */

typedef struct dm_site_test {
    double lo, hi;        /* floats: lo <= x <= hi; a NaN is never a site */
    uint64_t first, span; /* integers, as bit patterns: (x - first) <= span in the element's own width */
    bool empty;           /* integers: no element is inside */
    bool flip;            /* those outside count */
} dm_site_test;

dm_site_test dm_site_test_make(const distmap_sites *sites, distmap_dtype dtype);

/* ---- A view in normal form: four axes, byte strides ---- */

typedef struct dm_array {
    char *data; /* NULL: not wanted */
    distmap_dtype dtype;
    distmap_space space;
    int64_t stride[DM_NDIM];
} dm_array;

typedef struct dm_arrays {
    dm_array input, payload, other, before, after, distance, squared, index, label, strength, within, beyond, mask;
    dm_array coords[DM_NDIM]; /* [a + DM_NDIM - ndim] is the user's axis a; unused leading ones have data NULL */
    /* Of other shapes than the problem's: last axes, [points][ndim] and [steps + 1]. */
    dm_array sites, centroids, energies;
} dm_arrays;

/* ---- Context ---- */

struct dm_pool;
struct dm_device;
struct dm_cuda;
struct dm_team;
struct distmap_context {
    const struct dm_device *device;
    distmap_allocator allocator;
    distmap_executor executor;
    distmap_progress *progress;
    void *progress_user;
    int threads;
    dm_isa isa;
    struct dm_pool *pool; /* NULL: one thread, or the caller's executor */
    struct dm_cuda *cuda; /* the GPU and its stream; NULL on the CPU. Of several GPUs the first one's */
    struct dm_team *team; /* several GPUs; else NULL */
    atomic_uint word;     /* this, and what follows: see use.h */
    atomic_int holders;
    atomic_uintptr_t user;
};

void *dm_allocate(const distmap_context *context, size_t bytes); /* aligned to 64; NULL with the error text set */
void dm_release(const distmap_context *context, void *memory, size_t bytes);

/* ---- Plan ---- */

/* distmap_esf in normal form. */
typedef struct dm_esf {
    int axes;      /* n: measured and longer than 1 */
    double decay;  /* 1/rho^2 */
    double dt, a;  /* of a step, rounded to the output's type; zeros at rest */
    int64_t steps; /* 0: at rest */
    double tolerance;
} dm_esf;

/* What an execution leaves beside its arrays. On a GPU kernels write it. */
typedef struct dm_outcome {
    unsigned flags; /* DISTMAP_FLAG_*; on the CPU they gather in the plan's own */
    int64_t iterations;
    double residual;
    dm_compared compared;
} dm_outcome;

struct dm_method;
struct dm_cuda_plan;
struct dm_team_plan;
struct distmap_plan {
    atomic_uint word; /* see use.h */
    atomic_uintptr_t user;
    distmap_context *context;
    const struct dm_method *method;
    /* As given, with axes and spacing filled in. Where its memory order counts (order.c) it is the problem of the transposed
     * image: its axes are in that order, and so is all that follows. */
    distmap_problem problem;
    int place[DISTMAP_MAX_AXES]; /* of the caller's axes among the problem's; [a] = a where the order does not count */
    dm_split split;              /* of a problem of more axes than these */

    /* The problem in normal form. */
    int64_t shape[DM_NDIM];
    int64_t linear[DM_NDIM]; /* linear-index stride of each axis, in elements */
    int64_t elements;
    /* Along axis 2: rows of the whole image, and the first of the shape[2] rows that this plan has; fewer than all in windows, and
     * where the image is spread over several GPUs. `elements` are those of the plan, `linear`, and what follows, the image's. */
    int64_t rows, first_row;
    bool measured[DM_NDIM]; /* distances run along this axis; the others are batches */
    /* Euclidean metric: what follows is about squared distances. Other metrics: about the distances themselves, which then
     * take the place of squared ones in rows, kernels and limits. */
    dm_number number;
    dm_chamfer chamfer; /* all zero for the Euclidean metric */
    dm_unit unit;       /* of lengths, for DM_U32 and DM_U64: pitches, squared distances and the limit count it */
    uint64_t multiple[DM_NDIM]; /* pitches in the unit, for DM_U32 and DM_U64; 0 where not measured */
    uint64_t w2[DM_NDIM];       /* their squares */
    double w2f[DM_NDIM];        /* the same in FP64; without a unit the squared pitches themselves */
    uint64_t max2;              /* largest geometric squared distance, integers only */
    bool limited;
    uint64_t limit2; /* d2 <= limit2 is within the limit (integers); at most the largest finite value */
    double limit2f;
    bool wants_site;          /* index, coords or label is wanted */
    bool wants_mask;          /* within or beyond is */
    double surface;           /* what signed distances are shortened by */
    dm_esf esf;               /* FIELD_EDGE_STRENGTH; `number` and what follows it mean nothing there */
    dm_comparison comparison; /* FIELD_COMPARISON */

    int64_t params[DM_MAX_PARAMS]; /* in the order of the method's table */

    void *scratch; /* in the device's memory; the method's own part comes first */
    size_t scratch_bytes;
    bool owns_scratch;
    bool host_views, timed; /* as in the options */
    /* Operations: the plans that they are made of, which take turns in the first part of this one's scratch; NULL: no more. */
    distmap_plan *inner[DM_INNER];
    struct dm_cuda_plan *cuda; /* NULL on the CPU, and over several GPUs: */
    struct dm_team_plan *team; /* each has a plan of its own; else NULL */

    /* The execution that is running. */
    atomic_uint flags;
    dm_outcome outcome; /* edge strengths at rest: by the method, or fetched from a GPU */
    atomic_int failure; /* the first distmap_status met by a worker */
    pthread_t caller;
    bool goes_on;         /* a further run of the same execution (split.c): what it finds is added to what there is */
    double progress_base; /* share of the work done by earlier parallel regions */
    double progress_span; /* of the progress that the caller sees, this plan's part: 1, and less for inner plans */
    double progress_from; /* where that part begins: 0, and more for later inner plans */
    double progress_told; /* the share that was told last, and when: seconds */
    double progress_at;
    dm_phases phases;
};

/* Whether an element's sites are the elements of another kind: of another label, or of the other side of a signed map. */
static inline bool dm_by_kind(const distmap_plan *plan) {
    return plan->problem.input == DISTMAP_INPUT_LABELS || plan->problem.sign != DISTMAP_SIGN_NONE;
}

/* How far apart neighbours along each axis are in memory of the plan's own, row-major without gaps: elements. */
static inline void dm_pitches(const distmap_plan *plan, int64_t pitch[DM_NDIM]) {
    pitch[DM_X] = 1;
    for (int a = DM_X; a > 0; a--)
        pitch[a - 1] = pitch[a] * plan->shape[a];
}

/* Length of an axis in the whole image, of whose rows the plan may have some alone. */
static inline int64_t dm_image_length(const distmap_plan *plan, int axis) {
    return axis == 2 ? plan->rows : plan->shape[axis];
}

/* Elements of the whole image: linear indices are below it. */
static inline int64_t dm_image_elements(const distmap_plan *plan) { return plan->linear[0] * plan->shape[0]; }

/* Whether distances along this axis of the normal form differ from 0 at all. */
static inline bool dm_axis_counts(const distmap_plan *plan, int axis) {
    return plan->measured[axis] && dm_image_length(plan, axis) > 1;
}

/* The same place in the memory of several GPUs, each of which has filled some of the image's rows: `lines` runs, `pitch` bytes
 * apart, of `row_bytes` for each row, both multiples of 8 and the same on all. */
typedef struct dm_exchange {
    char *data;
    size_t pitch, row_bytes;
    int64_t lines;
} dm_exchange;

/* A method over several GPUs (cuda/team_plan.c), each of which has some rows of all planes, by a plan of its own. What begin()
 * makes of them is copied to all others, a piece of the work at a time; then solve() takes that piece. All enqueue. */
typedef struct dm_spread {
    const char *(*refuses)(const distmap_plan *plan); /* beyond what the method refuses, and in its way */
    int (*pieces)(const distmap_plan *plan);          /* as many for each of an image's plans */
    distmap_status (*begin)(distmap_plan *plan, const dm_arrays *arrays);
    dm_exchange (*exchange)(const distmap_plan *plan, int piece);
    distmap_status (*solve)(distmap_plan *plan, const dm_arrays *arrays, int piece); /* the last one finishes all */
} dm_spread;

/* A row of the method table. */
typedef struct dm_method {
    distmap_method_info info;
    /* Why this method does not take the plan's problem, as "needs ..."; NULL when it does. The metric is one of its own. A
     * method without this takes every problem of its field and metrics. */
    const char *(*refuses)(const distmap_plan *plan);
    size_t (*scratch_bytes)(const distmap_plan *plan);
    /* Computes all outputs; on a GPU, enqueues that. Views were checked and lie in the device's memory. Elements > 0. */
    distmap_status (*run)(distmap_plan *plan, const dm_arrays *arrays);
    /* What a plan needs beside its scratch, made and freed with it; NULL where that is nothing. */
    distmap_status (*prepare)(distmap_plan *plan);
    void (*release)(distmap_plan *plan);
    /* On a GPU: whether run zeroes the outcome itself, before anything is raised; NULL: that is done for it. It is a launch less. */
    bool (*cleans)(const distmap_plan *plan);
    const dm_spread *spread; /* NULL: one GPU alone */
    bool windows;            /* it takes windows */
} dm_method;

extern const dm_method *const dm_methods[]; /* fastest first, ends with NULL */

/* ---- Device ---- */

/* A row of the device table: what differs from one kind of device to another. */
typedef struct dm_device {
    distmap_device device;
    const char *name; /* as its methods' rows say */
    distmap_space space;
    int (*count)(void);                                                 /* 0: none, and the error text says why */
    distmap_status (*describe)(int ordinal, distmap_device_info *info); /* ordinal is below count() */
    /* The context's share: check ordinals and stream and set the device up; leave nothing behind when failing. */
    distmap_status (*open)(distmap_context *context, const distmap_context_options *options);
    void (*close)(distmap_context *context); /* takes a context that was never opened, too */
    distmap_status (*set_stream)(distmap_context *context, void *stream); /* NULL: it has no streams */
    const char *(*isa)(const distmap_context *context);
    /* The plan's share: all scratch that it needs, the method's and its own; reserve it (`scratch` NULL) or take it. */
    size_t (*scratch_bytes)(const distmap_plan *plan);
    distmap_status (*reserve)(distmap_plan *plan, void *scratch);
    void (*release)(distmap_plan *plan);
    /* Whether execute can use a view with elements: the rules about where memory lies. `name` for the error text. */
    distmap_status (*check_view)(const distmap_plan *plan, const char *name, const distmap_view *view);
    /* Elements > 0. The status of what is complete; `wait` gives that of what was enqueued, and fills plan->flags. */
    distmap_status (*execute)(distmap_plan *plan, const dm_arrays *arrays);
    distmap_status (*wait)(distmap_plan *plan);
    /* Timed plans: what is done or enqueued from here on is plan->phases.phase[number]; -1: the end. When the end has been
     * told, and execute has waited for it, all their seconds are known. */
    distmap_status (*phase)(distmap_plan *plan, int number);
    const struct dm_device *several; /* several of them as one device; NULL: there is no such thing */
    /* Of that: which rows number i of them has, and execute on what each has; NULL elsewhere. */
    distmap_status (*slab)(const distmap_plan *plan, int i, int64_t *first, int64_t *count);
    distmap_status (*execute_slabs)(distmap_plan *plan, const distmap_arrays *slabs, size_t slabs_bytes);
} dm_device;

extern const dm_device *const dm_devices[]; /* those that are built in; ends with NULL */
distmap_status dm_device_find(distmap_device device, const dm_device **found);

/* ---- Parallel regions, progress, failure ---- */

/* Calls task(arg, i, worker) for i in [0, count) on the plan's threads, worker in [0, plan->context->threads). `share` of
 * the whole execution's work, for the progress callback. Stops early when cancelled or when dm_fail was called, and
 * returns that status. */
distmap_status dm_parallel(distmap_plan *plan, size_t count, distmap_task *task, void *arg, double share);

/* For devices: an execution begins, on views that were checked. */
void dm_execution_start(distmap_plan *plan);

/* distmap_plan_execute() for who has the context to himself already: operations, of their inner plans. */
distmap_status dm_plan_execute(distmap_plan *plan, const distmap_arrays *arrays);

/* For tasks of more than some milliseconds, which ask it now and then: whether the execution is to go on; else they return, whatever
 * is left undone. Costs 2 ns, and 30 where there is a progress function; that is called about every 20 ms. */
bool dm_is_wanted(distmap_plan *plan);

/* To be called by a worker that met an error: the first one becomes the execution's status. */
void dm_fail(distmap_plan *plan, distmap_status status);

static inline void dm_flag(distmap_plan *plan, unsigned flags) {
    if (flags)
        atomic_fetch_or_explicit(&plan->flags, flags, memory_order_relaxed);
}

/* ---- Phases of timed plans (phases.c) ---- */

/* `name` is static text; phases of one name and kind are one. Called by the thread that executes, while phases are on. */
void dm_phase_begin(distmap_plan *plan, const char *name, distmap_phase_kind kind);

/* For methods: what is done, or enqueued, from here on is the phase `name`. What was done before the first such word belongs
 * to that phase too, and a method that says none is one phase. */
static inline void dm_phase(distmap_plan *plan, const char *name) {
    if (plan->phases.on)
        dm_phase_begin(plan, name, DISTMAP_PHASE_COMPUTE);
}

/* For phases that are passes along an axis of the normal form. */
extern const char *const dm_axis_names[DM_NDIM];

/* For devices: the execution begins; the method runs; all is done, or enqueued, with this status. */
void dm_phases_start(distmap_plan *plan);
distmap_status dm_phases_run(distmap_plan *plan, const dm_arrays *arrays);
distmap_status dm_phases_stop(distmap_plan *plan, distmap_status status);

/* ---- Pieces of plan creation ---- */

distmap_status dm_problem_check(const distmap_problem *problem, distmap_plan *plan); /* fills the normal form */
/* How many of the unit the pitch of each of the caller's axes is; 0 where that is not measured. */
void dm_multiples(const distmap_plan *plan, int64_t multiples[DISTMAP_MAX_AXES]);
/* That nothing of another field is asked for (fields.c), and what a field's method does: "computes distances". */
distmap_status dm_field_check(const distmap_problem *problem);
const char *dm_field_computes(distmap_field field);
/* The rules of the shape, for up to 8 axes; of the pitches, which are filled in. */
distmap_status dm_shape_check(const distmap_problem *problem);
distmap_status dm_spacing_check(distmap_problem *problem);
/* Problems of more axes than the normal form has (split.c): `part` is what a plan is made for; then its second plan. */
distmap_status dm_split_make(const distmap_problem *problem, dm_split *split, distmap_problem *part);
size_t dm_split_scratch_bytes(const distmap_plan *plan, const distmap_plan_options *options); /* of that; they take turns */
distmap_status dm_split_merge(distmap_plan *plan, const distmap_plan_options *options);
/* The axis of the normal form that the caller's axis `a` is; -1: none. */
int dm_split_place(const dm_split *split, int a);
/* `arrays` are the views as the normal form has them, at the first place of all loops. */
distmap_status dm_split_execute(distmap_plan *plan, const distmap_arrays *views, const dm_arrays *arrays);
/* The plan that did the last execution. */
static inline distmap_plan *dm_plan_ran(const distmap_plan *plan) {
    return plan->split.ran_merged ? plan->split.merged : (distmap_plan *)plan;
}
/* The memory order of the axes (order.c): its rules; whether it changes nothing but the speed; and then the plan in it. */
distmap_status dm_order_check(const distmap_problem *problem);
bool dm_order_counts(const distmap_plan *plan);
void dm_order_take(distmap_plan *plan);
/* Parts of the problem: of edge strengths, of signed maps (fills surface), of skeletons, of morphology, of CVTs. */
distmap_status dm_strength_check(distmap_plan *plan);
distmap_status dm_sign_check(distmap_plan *plan);
distmap_status dm_skeleton_check(const distmap_plan *plan);
distmap_status dm_morphology_check(const distmap_plan *plan);
distmap_status dm_comparison_check(distmap_plan *plan);
/* The greatest number that divides both; the other one of a number and 0. */
static inline uint64_t dm_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
/* Pitches in a unit (unit.c): how a problem's become whole multiples, n[a] of those named by `axes`, at most DM_MOST_MULTIPLE, of one
 * unit; false where they do not. Pitches are positive. */
enum { DM_MOST_MULTIPLE = 1 << 20 };
bool dm_unit_find(const double *pitch, unsigned axes, uint64_t n[DISTMAP_MAX_AXES], dm_unit *unit);
void dm_unit_set_one(dm_unit *unit);
/* The double nearest to the decimal that a pitch stands for. */
double dm_pitch_meant(double pitch);
/* The squared limit for a distance r >= 0, in the plan's arithmetic: d2 <= limit2, or limit2f, is what is given out as at most r. */
void dm_square_limit(const distmap_plan *plan, double r, uint64_t *limit2, double *limit2f);
distmap_status dm_thickness_check(const distmap_plan *plan); /* but for its outputs' types */
distmap_status dm_cvt_check(distmap_plan *plan);
/* Whether any output is asked for. */
bool dm_wants_any(distmap_outputs want);
/* Whether `dtype`, of the output `name`, holds every element of the input. */
distmap_status dm_element_check(const distmap_problem *problem, distmap_dtype dtype, const char *name);
/* Elements around the image, along an axis of the problem, that a ball of the morphology reaches from within. */
int64_t dm_morphology_around(const distmap_plan *plan, int axis);
distmap_status dm_arrays_check(const distmap_plan *plan, const distmap_arrays *arrays, dm_arrays *normal);
/* Of windows (window.c): the rules of the problem, and its rows in the normal form; what `before` and `after` may tell. */
distmap_status dm_window_check(distmap_plan *plan);
distmap_status dm_window_rows_check(const distmap_plan *plan, const dm_arrays *arrays);

static inline bool dm_dtype_is_float(distmap_dtype t) { return t == DISTMAP_FLOAT32 || t == DISTMAP_FLOAT64; }
static inline bool dm_dtype_is_signed(distmap_dtype t) {
    return t == DISTMAP_INT8 || t == DISTMAP_INT16 || t == DISTMAP_INT32 || t == DISTMAP_INT64;
}
/* Largest value of an integer dtype (bool: 1). */
uint64_t dm_dtype_max(distmap_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
