/* Shared by all parts of the library: a problem in normal form, the plan, a row of the method table.
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
    bool flip;            /* the elements outside are sites instead */
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
    /* These have shapes of their own: [points][ndim] and [steps + 1] in the last axes. */
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
    struct dm_cuda *cuda; /* the GPU and its stream (of several GPUs the first one's); NULL on the CPU */
    struct dm_team *team; /* the device group of several GPUs; else NULL */
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

/* The results of an execution besides its arrays. On a GPU kernels write them. */
typedef struct dm_outcome {
    unsigned flags; /* DISTMAP_FLAG_*; the CPU collects them in the plan's own member */
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
    /* The caller's problem, with axes and spacing filled in. If its memory order is used (order.c), it is the problem of the transposed
     * image: its axes, and all members below, are in that order. */
    distmap_problem problem;
    int place[DISTMAP_MAX_AXES]; /* the caller's axis a is axis place[a] of the problem; a itself if the order is not used */
    dm_split split;              /* of a problem with more than four axes */

    /* The problem in normal form. */
    int64_t shape[DM_NDIM];
    int64_t linear[DM_NDIM]; /* linear-index stride of each axis, in elements */
    int64_t elements;
    /* Along axis 2: the rows of the whole image, and the first of the shape[2] rows of this plan, which are fewer in windows and on
     * several GPUs. `elements` counts those of the plan; `linear`, and all members below, refer to the image. */
    int64_t rows, first_row;
    bool measured[DM_NDIM]; /* distances run along this axis; the others are batches */
    /* Euclidean metric: the next members are about squared distances. Other metrics: about the distances themselves, which then
     * replace squared distances in rows, kernels and limits. */
    dm_number number;
    dm_chamfer chamfer; /* all zero for the Euclidean metric */
    dm_unit unit;       /* DM_U32, DM_U64: the unit of pitches, squared distances and the limit */
    uint64_t multiple[DM_NDIM]; /* pitches in the unit, for DM_U32 and DM_U64; 0 where not measured */
    uint64_t w2[DM_NDIM];       /* their squares */
    double w2f[DM_NDIM];        /* the same in FP64; without a unit the squared pitches themselves */
    uint64_t max2;              /* largest geometric squared distance, integers only */
    bool limited;
    uint64_t limit2; /* d2 <= limit2 is within the limit (integers); at most the largest finite value */
    double limit2f;
    bool wants_site;          /* index, coords or label is wanted */
    bool wants_mask;          /* within or beyond is */
    double surface;           /* subtracted from the distances of signed maps */
    dm_esf esf;               /* FIELD_EDGE_STRENGTH; `number` and what follows it mean nothing there */
    dm_comparison comparison; /* FIELD_COMPARISON */

    int64_t params[DM_MAX_PARAMS]; /* in the order of the method's table */

    void *scratch; /* in the device's memory; the method's own part comes first */
    size_t scratch_bytes;
    bool owns_scratch;
    bool host_views, timed; /* as in the options */
    /* Operations: their inner plans, which use the first part of this plan's scratch one after another; NULL: no more. */
    distmap_plan *inner[DM_INNER];
    struct dm_cuda_plan *cuda; /* one GPU; else NULL */
    struct dm_team_plan *team; /* several GPUs, each with a plan of its own; else NULL */

    /* The execution that is running. */
    atomic_uint flags;
    dm_outcome outcome; /* edge strengths at rest: by the method, or fetched from a GPU */
    atomic_int failure; /* the first distmap_status met by a worker */
    pthread_t caller;
    bool goes_on;         /* a further run of the same execution (split.c): its flags are added to those of the earlier runs */
    double progress_base; /* fraction of the work done by earlier parallel regions */
    double progress_span; /* this plan's part of the progress that the caller sees: 1, less for inner plans */
    double progress_from; /* the start of that part: 0, more for later inner plans */
    double progress_told; /* the fraction that was last reported, */
    double progress_at;   /* and the time of the report, in seconds */
    dm_phases phases;
};

/* Whether an element's sites are the elements of another kind: of another label, or of the other side of a signed map. */
static inline bool dm_by_kind(const distmap_plan *plan) {
    return plan->problem.input == DISTMAP_INPUT_LABELS || plan->problem.sign != DISTMAP_SIGN_NONE;
}

/* The strides, in elements, of memory that the plan owns: row-major without gaps. */
static inline void dm_pitches(const distmap_plan *plan, int64_t pitch[DM_NDIM]) {
    pitch[DM_X] = 1;
    for (int a = DM_X; a > 0; a--)
        pitch[a - 1] = pitch[a] * plan->shape[a];
}

/* Length of an axis in the whole image; the plan may have only some of its rows. */
static inline int64_t dm_image_length(const distmap_plan *plan, int axis) {
    return axis == 2 ? plan->rows : plan->shape[axis];
}

/* Elements of the whole image: linear indices are below it. */
static inline int64_t dm_image_elements(const distmap_plan *plan) { return plan->linear[0] * plan->shape[0]; }

/* Whether distances along this axis of the normal form can differ from 0. */
static inline bool dm_axis_counts(const distmap_plan *plan, int axis) {
    return plan->measured[axis] && dm_image_length(plan, axis) > 1;
}

/* An array that exists in the memory of several GPUs, of which each has filled some of the image's rows: `lines` runs, `pitch` bytes
 * apart, with `row_bytes` for each row; both are multiples of 8 and equal on all GPUs. */
typedef struct dm_exchange {
    char *data;
    size_t pitch, row_bytes;
    int64_t lines;
} dm_exchange;

/* A method over several GPUs (cuda/team_plan.c). Each GPU has some rows of all planes, with a plan of its own. The output of begin() is
 * copied to all other GPUs, one piece at a time; then solve() computes that piece. All functions enqueue. */
typedef struct dm_spread {
    const char *(*refuses)(const distmap_plan *plan); /* in addition to the method's own refuses() */
    int (*pieces)(const distmap_plan *plan);          /* equal for all plans of an image */
    distmap_status (*begin)(distmap_plan *plan, const dm_arrays *arrays);
    dm_exchange (*exchange)(const distmap_plan *plan, int piece);
    distmap_status (*solve)(distmap_plan *plan, const dm_arrays *arrays, int piece); /* the last piece also finishes the rest */
} dm_spread;

/* A row of the method table. */
typedef struct dm_method {
    distmap_method_info info;
    /* Why this method does not accept the plan's problem, as "needs ..."; NULL if it does. The metric was checked before. A
     * method without this function accepts every problem of its field and metrics. */
    const char *(*refuses)(const distmap_plan *plan);
    size_t (*scratch_bytes)(const distmap_plan *plan);
    /* Computes all outputs; on a GPU, enqueues the work. Views were checked and are in the device's memory. Elements > 0. */
    distmap_status (*run)(distmap_plan *plan, const dm_arrays *arrays);
    /* Make and free what a plan needs besides its scratch; may be NULL. */
    distmap_status (*prepare)(distmap_plan *plan);
    void (*release)(distmap_plan *plan);
    /* On a GPU: whether run zeroes the outcome itself, before any flag is raised, which saves a launch; NULL: it does not. */
    bool (*cleans)(const distmap_plan *plan);
    const dm_spread *spread; /* NULL: one GPU only */
    bool windows;            /* accepts windows */
} dm_method;

extern const dm_method *const dm_methods[]; /* fastest first, ends with NULL */

/* ---- Device ---- */

/* A row of the device table: the differences between kinds of devices. */
typedef struct dm_device {
    distmap_device device;
    const char *name; /* as in the rows of its methods */
    distmap_space space;
    int (*count)(void);                                                 /* 0: none, and the error text says why */
    distmap_status (*describe)(int ordinal, distmap_device_info *info); /* ordinal is below count() */
    /* Contexts: check ordinals and stream and set the device up; leave nothing behind after an error. */
    distmap_status (*open)(distmap_context *context, const distmap_context_options *options);
    void (*close)(distmap_context *context); /* also accepts a context that was never opened */
    distmap_status (*set_stream)(distmap_context *context, void *stream); /* NULL: it has no streams */
    const char *(*isa)(const distmap_context *context);
    /* Plans: all the scratch that they need, the method's and the device's own; reserve it (`scratch` NULL) or use the caller's. */
    size_t (*scratch_bytes)(const distmap_plan *plan);
    distmap_status (*reserve)(distmap_plan *plan, void *scratch);
    void (*release)(distmap_plan *plan);
    /* Whether execute can use a view with elements: the rules about memory spaces. `name` for the error text. */
    distmap_status (*check_view)(const distmap_plan *plan, const char *name, const distmap_view *view);
    /* Elements > 0. Returns the status of completed work; `wait` returns that of enqueued work, and fills plan->flags. */
    distmap_status (*execute)(distmap_plan *plan, const dm_arrays *arrays);
    distmap_status (*wait)(distmap_plan *plan);
    /* Timed plans: the work that is done or enqueued from here on belongs to plan->phases.phase[number]; -1: the end. After the end,
     * and when execute has waited for it, the seconds of all phases are known. */
    distmap_status (*phase)(distmap_plan *plan, int number);
    const struct dm_device *several; /* several devices as one; NULL: not supported */
    /* For `several`: the rows of device number i, and execute on the slabs of all; NULL otherwise. */
    distmap_status (*slab)(const distmap_plan *plan, int i, int64_t *first, int64_t *count);
    distmap_status (*execute_slabs)(distmap_plan *plan, const distmap_arrays *slabs, size_t slabs_bytes);
} dm_device;

extern const dm_device *const dm_devices[]; /* those that are built in; ends with NULL */
distmap_status dm_device_find(distmap_device device, const dm_device **found);

/* ---- Parallel regions, progress, failure ---- */

/* Calls task(arg, i, worker) for i in [0, count) on the plan's threads, worker in [0, plan->context->threads). `share` is the fraction
 * of the execution's work, for the progress callback. Stops early when cancelled or when dm_fail was called, and
 * returns that status. */
distmap_status dm_parallel(distmap_plan *plan, size_t count, distmap_task *task, void *arg, double share);

/* For devices: an execution begins, on views that were checked. */
void dm_execution_start(distmap_plan *plan);

/* distmap_plan_execute() for operations, whose outer plan uses the context already: executes an inner plan. */
distmap_status dm_plan_execute(distmap_plan *plan, const distmap_arrays *arrays);

/* Whether the execution should continue. Tasks of more than some milliseconds call it repeatedly and return if it is false, without
 * finishing. Costs 2 ns, 30 with a progress function, which is called about every 20 ms. */
bool dm_is_wanted(distmap_plan *plan);

/* A worker calls it after an error: the first one becomes the execution's status. */
void dm_fail(distmap_plan *plan, distmap_status status);

static inline void dm_flag(distmap_plan *plan, unsigned flags) {
    if (flags)
        atomic_fetch_or_explicit(&plan->flags, flags, memory_order_relaxed);
}

/* ---- Phases of timed plans (phases.c) ---- */

/* `name` is static text; phases of equal name and kind are one phase. The executing thread calls it, while phases are on. */
void dm_phase_begin(distmap_plan *plan, const char *name, distmap_phase_kind kind);

/* For methods: the work that is done or enqueued from here on belongs to the phase `name`. Work before the first call belongs
 * to the first phase too; a method without calls is one phase. */
static inline void dm_phase(distmap_plan *plan, const char *name) {
    if (plan->phases.on)
        dm_phase_begin(plan, name, DISTMAP_PHASE_COMPUTE);
}

/* Names for phases that are passes along an axis of the normal form. */
extern const char *const dm_axis_names[DM_NDIM];

/* For devices: start of the execution; the method's run; end, when everything is done or enqueued, with this status. */
void dm_phases_start(distmap_plan *plan);
distmap_status dm_phases_run(distmap_plan *plan, const dm_arrays *arrays);
distmap_status dm_phases_stop(distmap_plan *plan, distmap_status status);

/* ---- Pieces of plan creation ---- */

distmap_status dm_problem_check(const distmap_problem *problem, distmap_plan *plan); /* fills the normal form */
/* The pitch of each of the caller's axes as a multiple of the unit; 0 for an axis that is not measured. */
void dm_multiples(const distmap_plan *plan, int64_t multiples[DISTMAP_MAX_AXES]);
/* Checks that the problem sets no member of another field (fields.c). The work of a field's methods: "computes distances". */
distmap_status dm_field_check(const distmap_problem *problem);
const char *dm_field_computes(distmap_field field);
/* Checks the shape, of up to 8 axes. Checks the pitches and fills them in. */
distmap_status dm_shape_check(const distmap_problem *problem);
distmap_status dm_spacing_check(distmap_problem *problem);
/* Problems with more axes than the normal form (split.c): `part` is the problem of the plan; then its second plan. */
distmap_status dm_split_make(const distmap_problem *problem, dm_split *split, distmap_problem *part);
size_t dm_split_scratch_bytes(const distmap_plan *plan, const distmap_plan_options *options); /* of the second plan; they take turns */
distmap_status dm_split_merge(distmap_plan *plan, const distmap_plan_options *options);
/* The axis of the normal form for the caller's axis `a`; -1: none. */
int dm_split_place(const dm_split *split, int a);
/* `arrays` are the views in the normal form, at the first place of all loops. */
distmap_status dm_split_execute(distmap_plan *plan, const distmap_arrays *views, const dm_arrays *arrays);
/* The plan that did the last execution. */
static inline distmap_plan *dm_plan_ran(const distmap_plan *plan) {
    return plan->split.ran_merged ? plan->split.merged : (distmap_plan *)plan;
}
/* The memory order of the axes (order.c): checks it; whether it changes only the speed; changes the plan to that order. */
distmap_status dm_order_check(const distmap_problem *problem);
bool dm_order_counts(const distmap_plan *plan);
void dm_order_take(distmap_plan *plan);
/* Checks of the fields: edge strengths, signed maps (fills surface), skeletons, morphology, comparisons. */
distmap_status dm_strength_check(distmap_plan *plan);
distmap_status dm_sign_check(distmap_plan *plan);
distmap_status dm_skeleton_check(const distmap_plan *plan);
distmap_status dm_morphology_check(const distmap_plan *plan);
distmap_status dm_comparison_check(distmap_plan *plan);
/* The greatest common divisor; of a number and 0 the number. */
static inline uint64_t dm_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
/* Pitches in a unit (unit.c): the whole multiples n[a], at most DM_MOST_MULTIPLE, of one unit for the axes named by `axes`; false if
 * there is no such unit. Pitches are positive. */
enum { DM_MOST_MULTIPLE = 1 << 20 };
bool dm_unit_find(const double *pitch, unsigned axes, uint64_t n[DISTMAP_MAX_AXES], dm_unit *unit);
void dm_unit_set_one(dm_unit *unit);
/* The double nearest to the decimal that a pitch stands for. */
double dm_pitch_meant(double pitch);
/* The squared limit for a distance r >= 0, in the plan's arithmetic: d2 <= limit2, or limit2f, if the output is at most r. */
void dm_square_limit(const distmap_plan *plan, double r, uint64_t *limit2, double *limit2f);
distmap_status dm_thickness_check(const distmap_plan *plan); /* except for the types of its outputs */
distmap_status dm_cvt_check(distmap_plan *plan);
/* Whether any output is asked for. */
bool dm_wants_any(distmap_outputs want);
/* Whether `dtype`, of the output `name`, holds every element of the input. */
distmap_status dm_element_check(const distmap_problem *problem, distmap_dtype dtype, const char *name);
/* The elements outside the image, along an axis of the problem, that a ball of the morphology reaches from inside. */
int64_t dm_morphology_around(const distmap_plan *plan, int axis);
distmap_status dm_arrays_check(const distmap_plan *plan, const distmap_arrays *arrays, dm_arrays *normal);
/* Windows (window.c): check the problem and fill its rows in the normal form; check the values of `before` and `after`. */
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
