/* distmap: exact distance maps at memory speed.
 *
 * A distance map gives, for every element of an image or volume, the distance to the nearest *site*. Other fields that are computed
 * from sites are edge strengths, skeletons, morphology, comparisons, local thickness and centroidal Voronoi diagrams. This header is
 * the whole public interface of the core library. The flow is
 *
 *     view -> problem -> plan -> execute
 *
 * A view describes memory that you own. A problem says what to compute. A plan binds one method to one problem and holds
 * its scratch memory; it is made once and executed many times, and executing allocates nothing.
 *
 * Contracts of every exact method, instruction set, thread count and device:
 *
 *  1. Exact. Where the pitches are whole multiples of a decimal unit, such as 0.65 or 2.5 x 0.7 x 0.7, squared distances are exact
 *     integers times the squared unit: unsigned 32 bits wide where the problem's largest possible integer fits, else 64 bits. Outputs
 *     are rounded once. With any other spacing squared distances are FP64, by one formula (see distmap_problem.spacing). Distances
 *     of the other metrics are exact integers. Bits agree everywhere.
 *  2. Ties. Among several nearest sites the one with the lowest linear index (row-major, slowest axis first) is given.
 *  3. No site. An element without a site (none in its batch, or none within the limit) gets +inf in floating-point
 *     outputs, the type's largest value in integer outputs, index -1, label 0, within 0; DISTMAP_FLAG_NO_SITE is then set.
 *  4. Sites are the elements equal to zero, unless distmap_problem.sites says otherwise.
 *  5. Any shape: 1 to 8 axes, of which up to 4 are measured, any strides, axes of length 1, empty arrays, more than 2^31 elements.
 *     A problem names the axes to measure; the others are batches. Batches are never inferred.
 *  6. Memory is stated: distmap_scratch_bytes() returns it before planning; the caller may supply it.
 *  7. Errors are a status, and distmap_error_text() names the argument and the rule that it broke. The library never
 *     prints and never exits. Arguments are checked before any output is written. An execution that was cancelled, or that
 *     met a bad value in a sampled function, may leave outputs partly written, and its status says so.
 *  8. Threads. Contexts are independent: plans of different contexts may run concurrently. One context, and the plans
 *     made from it, serve one thread at a time. A forked child may use contexts and plans that it inherited, even those that another
 *     thread was executing during the fork, except contexts of a GPU. See "Misuse" below.
 *  9. Streams. A plan of a GPU's context enqueues its work on the context's stream and returns if all views are in device memory: no
 *     allocation, no synchronisation. Views in host memory are staged, if the plan was made for it
 *     (distmap_plan_options.host_views); execute then returns when the outputs are complete, as it does for timed plans.
 * 10. Progress and cancel: one callback, called during execute by the thread that called execute. (GPU: with host views.) On the
 *     CPU every method calls it at least every 0.2 s.
 *
 * Misuse of contexts and plans returns DISTMAP_ERROR_ARGUMENT, and does no harm:
 *
 *   - an execution, a wait or a change of stream while the context is in use, by another thread or by the execution from which
 *     the call comes (through a progress callback, or an executor's task);
 *   - any use of a plan whose context was destroyed first. The context's memory stays until its last plan is destroyed;
 *     distmap_context_destroy() sets the error text;
 *   - the destruction of a plan in use: distmap_plan_destroy() sets the error text and leaves *plan as it is;
 *   - any use of a destroyed handle, as long as its memory was not reused.
 *
 * Plans may be made and destroyed while another thread uses their context, if the allocator allows concurrent calls.
 *
 * C17 and C++17. Functions return DISTMAP_OK (zero) or an error; structs are zero-initialised for defaults. Later versions add members
 * only to the ends of structs, and a program works with later versions of the library: docs/compatibility.md.
 */
#ifndef DISTMAP_H
#define DISTMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(DISTMAP_BUILD) && defined(__GNUC__)
#define DISTMAP_API __attribute__((visibility("default")))
#else
#define DISTMAP_API
#endif

/* Functions that take or fill structs which may grow: in the header, where they tell the library how large these are here. */
#define DISTMAP_SIZED static inline

#ifdef __GNUC__
#define DISTMAP_PRINTF(text, arguments) __attribute__((format(printf, text, arguments)))
#else
#define DISTMAP_PRINTF(text, arguments)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DISTMAP_VERSION "0.2.0"
#define DISTMAP_MAX_NDIM 4  /* measured axes of a problem; its other axes are batches */
#define DISTMAP_MAX_AXES 8  /* axes of a problem, of a view, of an image */
#define DISTMAP_MAX_GPUS 16 /* of one context */

/* ---- Status ------------------------------------------------------------------------------------------------------ */

typedef enum distmap_status {
    DISTMAP_OK = 0,
    DISTMAP_ERROR_ARGUMENT,    /* an argument breaks a rule that this header states */
    DISTMAP_ERROR_MEMORY,      /* an allocation failed */
    DISTMAP_ERROR_UNSUPPORTED, /* the named method or device does not do this */
    DISTMAP_ERROR_CANCELLED,   /* the progress callback asked to stop; outputs are partly written */
    DISTMAP_ERROR_VALUE,       /* a sampled function holds a negative or too large value; outputs are partly written */
    DISTMAP_ERROR_IO,          /* (satellite libraries) the system refused to read or write; the text has its reason */
    DISTMAP_ERROR_FORMAT,      /* (satellite libraries) a file's contents are broken or of an unknown kind */
    DISTMAP_ERROR_DEVICE,      /* no driver, driver too old, no GPU, or the GPU failed. The text says which, and whether
                                  the context is lost: then every later call on it returns this */
} distmap_status;

/* The version of the library that is running, as "0.2.0". Static text. */
DISTMAP_API const char *distmap_version(void);

/* A short static name: "ok", "argument", "memory", ... */
DISTMAP_API const char *distmap_status_name(distmap_status status);

/* The error of the calling thread's last failed call: one line without a newline that names the argument and the
 * rule. Valid until that thread's next failing call; "" before the first. */
DISTMAP_API const char *distmap_error_text(void);

/* For satellite libraries: sets the calling thread's error text, printf-like, cut at 511 bytes, and returns `status`. */
DISTMAP_API distmap_status distmap_error_set(distmap_status status, const char *format, ...) DISTMAP_PRINTF(2, 3);

/* ---- Views ------------------------------------------------------------------------------------------------------- */

typedef enum distmap_dtype {
    DISTMAP_NONE = 0, /* "not wanted" where an output's type is named */
    DISTMAP_BOOL,     /* one byte; any nonzero byte counts as 1 */
    DISTMAP_INT8,
    DISTMAP_UINT8,
    DISTMAP_INT16,
    DISTMAP_UINT16,
    DISTMAP_INT32,
    DISTMAP_UINT32,
    DISTMAP_INT64,
    DISTMAP_UINT64,
    DISTMAP_FLOAT32,
    DISTMAP_FLOAT64,
} distmap_dtype;

/* Bytes of one element; 0 for DISTMAP_NONE and for values outside the enumeration. */
DISTMAP_API size_t distmap_dtype_size(distmap_dtype dtype);
/* "uint8", "float32", ...; "none" for DISTMAP_NONE; NULL outside the enumeration. Static text. */
DISTMAP_API const char *distmap_dtype_name(distmap_dtype dtype);
/* The dtype with that name; DISTMAP_NONE when there is none. */
DISTMAP_API distmap_dtype distmap_dtype_from_name(const char *name);

typedef enum distmap_space {
    DISTMAP_SPACE_HOST = 0,
    DISTMAP_SPACE_CUDA, /* device (or managed) memory of the GPU of the context that executes */
} distmap_space;

/* Memory that the caller owns. The address of element (i0, i1, ...) is data + i0*strides[0] + i1*strides[1] + ... bytes. Axes are
 * slowest first by convention. Strides may be negative or zero on inputs; `data` is the address of element (0, 0, ...).
 * Rules: ndim 1 to 8, shape >= 0, data and strides multiples of the element's alignment, elements of an output distinct
 * in memory, outputs disjoint from inputs and from each other. Inputs are only read. */
typedef struct distmap_view {
    void *data;
    distmap_dtype dtype;
    int ndim;
    int64_t shape[DISTMAP_MAX_AXES];
    int64_t strides[DISTMAP_MAX_AXES]; /* bytes */
    distmap_space space;               /* where `data` lies */
} distmap_view;

/* A view of row-major (C order) host memory without gaps. The caller keeps `data`. */
DISTMAP_API distmap_view distmap_view_make(void *data, distmap_dtype dtype, int ndim, const int64_t *shape);

/* The order of the view's axes in memory, slowest first, for distmap_problem.order: by the sizes of their strides; axes with equal
 * strides keep their order; axes of length 1 or stride 0 come first. Zeros for a view whose ndim is not 1 to 8. */
DISTMAP_API void distmap_view_order(const distmap_view *view, int order[DISTMAP_MAX_AXES]);

/* ---- Context: device, threads, memory, progress -------------------------------------------------------------------- */

/* Called repeatedly during execute with the fraction done, 0 to 1, which never decreases. A nonzero result asks to stop. */
typedef int distmap_progress(void *user, double fraction);

/* Memory for contexts and plans: `allocate` returns NULL when no memory is left. The alignment is a power of two. */
typedef struct distmap_allocator {
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *memory, size_t bytes);
    void *user;
} distmap_allocator;

/* Threads supplied by the caller: `run` calls task(arg, index, worker) once for every index in [0, count), in any order
 * and concurrently as it likes, and returns when all are done. `worker` is in [0, workers); no two calls that overlap in
 * time share a worker number. */
typedef void distmap_task(void *arg, size_t index, int worker);
typedef struct distmap_executor {
    int workers;
    void (*run)(void *user, size_t count, distmap_task *task, void *arg);
    void *user;
} distmap_executor;

typedef enum distmap_device {
    DISTMAP_DEVICE_CPU = 0,
    DISTMAP_DEVICE_CUDA, /* an NVIDIA GPU. Builds without CUDA, and machines without driver or GPU, say so */
} distmap_device;

typedef struct distmap_device_info {
    char name[256];
    size_t memory_bytes; /* of the device; this and all that follows: 0 for the CPU */
    int multiprocessors;
    int capability[2];         /* compute capability: {9, 0} */
    int driver[2], runtime[2]; /* CUDA versions: what the driver supports, what this library was built with: {13, 0} */
    size_t shared_bytes;       /* shared memory that a block may have: 232,448 */
} distmap_device_info;

/* The number of usable devices of that kind, which are numbered from 0; 1 for the CPU. If it is 0, distmap_error_text() says
 * why: built without CUDA, no driver, a driver too old, no GPU. */
DISTMAP_API int distmap_device_count(distmap_device device);
/* Describes device number `ordinal` of that kind. */
DISTMAP_SIZED distmap_status distmap_device_describe(distmap_device device, int ordinal, distmap_device_info *info);

typedef struct distmap_context_options {
    distmap_device device;
    int threads;                 /* 0: as many as the process may use; else 1 to 1024. Ignored with an executor */
    distmap_executor executor;   /* run == NULL: the library's own threads */
    distmap_allocator allocator; /* allocate == NULL: the C library's. Host memory only */
    distmap_progress *progress;  /* NULL: none */
    void *progress_user;
    int ordinal;       /* which device of its kind; 0 on the CPU */
    int ordinal_count; /* CUDA: how many `ordinals`, up to DISTMAP_MAX_GPUS. 0: there is `ordinal` alone */
    void *stream;      /* CUDA: a cudaStream_t of that GPU, kept by the caller as long as the context uses it; NULL: the default
                          stream. NULL on the CPU */
    const int *ordinals; /* CUDA: the numbers of several GPUs, to be one device (distmap_plan_execute_slabs()), all of one compute
                            capability; `ordinal` and `stream` stay zero then. Read here */
} distmap_context_options;

typedef struct distmap_context distmap_context;

/* Makes a context; `options` NULL means all defaults. Owned by the caller; destroy it after its plans. The environment
 * variable DISTMAP_ISA (plain, sse4, avx2, avx512, neon) limits the instruction set; it is read here. */
DISTMAP_SIZED distmap_status distmap_context_create(const distmap_context_options *options, distmap_context **context);
/* Frees *context, as soon as it has no more plans, and sets it to NULL. NULL and pointers to NULL are allowed. */
DISTMAP_API void distmap_context_destroy(distmap_context **context);
/* From now on the context's plans enqueue on this stream (see distmap_context_options.stream). CUDA contexts only. Executions of one
 * plan share its scratch: the caller must order those on different streams. */
DISTMAP_API distmap_status distmap_context_set_stream(distmap_context *context, void *stream);
/* The threads that the context's plans use (on a GPU: for staging), and the name of the instruction set: "avx2", on a GPU "sm_90". */
DISTMAP_API int distmap_context_threads(const distmap_context *context);
DISTMAP_API const char *distmap_context_isa(const distmap_context *context);

/* ---- Problem --------------------------------------------------------------------------------------------------------- */

typedef enum distmap_input {
    DISTMAP_INPUT_MASK = 0, /* any dtype; sites by the sites rule. NaN is never a site (DISTMAP_FLAG_NAN) */
    DISTMAP_INPUT_LABELS, /* integers or bool; an element's sites are the elements of any other label. Elements that the
                               sites rule selects (by default label 0, the background) are at distance 0, from themselves */
    DISTMAP_INPUT_SAMPLED, /* squared distances f to start from, f >= 0: out(p) = min over q of f(q) + |p - q|^2. NaN, +inf
                               or an integer type's largest value: q offers nothing. Integers beyond 2^61, and negative
                               values, end execute with DISTMAP_ERROR_VALUE. Float samples make the arithmetic FP64 */
} distmap_input;

/* In C sites are the elements equal to zero, unless another rule is given. In the command and the Python package the default depends
 * on the operation. The background is zero (or below the command's --threshold), the objects are all other elements:
 *
 *     command                    Python                             sites           result
 *     edt, pass                  edt, feature_transform, chamfer    the background  distances, 0 on the background
 *     edt --signed, or inside    edt(signed=True)                   the background  positive inside the objects
 *     edt --signed outside       signed_distance                    the background  negative inside the objects, as in ITK
 *     skeleton, thickness        skeleton, local_thickness          the background  of the objects
 *     voronoi                    expand_labels                      the objects     spread from them
 *     esf                        esf                                the objects     1 on them
 *     morph                      dilate, erode, opening, closing    the objects     a set
 *     compare                    compare                            the objects     two sets
 */
typedef enum distmap_sites_rule {
    DISTMAP_SITES_ZERO = 0, /* elements equal to zero (LABELS: the background) */
    DISTMAP_SITES_NONZERO,
    DISTMAP_SITES_VALUE, /* equal to lo */
    DISTMAP_SITES_RANGE, /* lo <= element <= hi; infinities allowed */
    DISTMAP_SITES_NONE,  /* LABELS only: no background, every label counts alike */
} distmap_sites_rule;

typedef struct distmap_sites {
    distmap_sites_rule rule;
    double lo, hi; /* compared exactly with elements of any type; not NaN, lo <= hi */
} distmap_sites;

/* The distance between two elements. d0 >= d1 >= ... >= 0 are the absolute components of their offset along the measured axes, sorted.
 * All metrics but the Euclidean are lengths of shortest paths from element to element: whole numbers. They
 * need a mask, and spacing 1 (or 0). */
typedef enum distmap_metric {
    DISTMAP_METRIC_EUCLIDEAN = 0,
    DISTMAP_METRIC_CITYBLOCK,  /* d0 + d1 + ...: steps along one axis at a time */
    DISTMAP_METRIC_CHESSBOARD, /* d0: steps to any of the 3^n - 1 neighbours */
    DISTMAP_METRIC_CHAMFER,    /* steps weighted by distmap_problem.chamfer; one to three measured axes */
} distmap_metric;

/* Signed maps of masks: the elements that the sites rule selects are the *shape*. An element of the shape gets the distance to
 * the nearest element outside the shape, any other element the distance to the nearest element of the shape, and the distances on one
 * of the two sides are negative. The outputs index, coords and label also refer to the nearest element of the other side. */
typedef enum distmap_sign {
    DISTMAP_SIGN_NONE = 0, /* no signed map */
    DISTMAP_SIGN_OUTSIDE, /* positive outside the shape, negative in it, as signed distance functions are in geometry */
    DISTMAP_SIGN_INSIDE,  /* positive in the shape, negative outside it */
} distmap_sign;

/* The surface to which a signed map measures. */
typedef enum distmap_surface {
    DISTMAP_SURFACE_CENTRE = 0, /* from the centre of the nearest element of the other side: |d| is a pitch or more */
    DISTMAP_SURFACE_HALF,       /* from half-way between the two sides: |d| - h, h half of the smallest pitch among the
                                   measured axes. So the map passes through zero between neighbours of different sides, and
                                   rises by one pitch from the one to the other where that axis has the smallest. In the
                                   output's type: h is rounded to it, and so is the difference */
} distmap_surface;

/* A window: rows [first, first + count) of an image, for images that do not fit into memory. The problem is that of the whole
 * image, and so are the results, to the bit; the views have `count` rows instead of shape[0]. Only the nearest site on either
 * side of the window in each column matters, because every site beyond it is farther from every row of the window. So there are two
 * more inputs, int32 of one axis with shape[1] elements: the row of the last site before the window (arrays.before), and of the first
 * site after it (arrays.after), as rows of the image; -1 where there is none.
 *
 * For masks of two axes, both measured, in the Euclidean metric, without sign, with the outputs distance, squared and
 * index (of the whole image). It needs a method that solves columns first: minplus/cpu. */
typedef struct distmap_window {
    int64_t first, count; /* within shape[0]; zeros: the whole image */
} distmap_window;

/* The dtypes of the wanted outputs; DISTMAP_NONE (zero): not wanted. At least one is needed. */
typedef struct distmap_outputs {
    distmap_dtype
        distance; /* float32, float64: u sqrt(N) rounded once, see distmap_problem.spacing. Metrics other than the
                               Euclidean: the whole number itself, as float32, float64 (correctly rounded), or any integer
                               type that holds values above the largest possible one, for "no site" */
    distmap_dtype
        squared;          /* uint32, uint64, float32, float64; an integer type must hold the largest possible value, and
                               needs pitches whose unit is a whole number (see spacing). Euclidean metric only */
    distmap_dtype index;  /* int32, int64: the nearest site's linear index in the input's shape, row-major */
    distmap_dtype coords; /* int16, int32, int64: one plane per axis of the input, its coordinate of the nearest site */
    distmap_dtype label;  /* any integer type that holds the input's: its element at the nearest site (not for SAMPLED).
                               FIELD_MORPHOLOGY: the label that is left or has grown to there, else 0.
                               FIELD_CVT: the number of the site whose cell it is in, any integer type that holds it */
    distmap_dtype strength; /* FIELD_EDGE_STRENGTH, and nothing else there: float32, on the CPU float64 too */
    distmap_dtype mask; /* FIELD_SKELETON, FIELD_MORPHOLOGY: bool or uint8, 1 on the skeleton, or in the set, else 0 */
    /* Masks, which need a limit. Where nothing else is wanted no distances are kept, and often none are found. */
    distmap_dtype within; /* bool, uint8: 1 where a site lies within the limit, else 0 */
    distmap_dtype
        beyond; /* the opposite, bool or uint8: 1 where none does. LABELS: there the element itself, its label, in
                               any integer type that holds the input's, else 0 */
    /* FIELD_CVT, see distmap_cvt. */
    distmap_dtype sites;     /* int32, int64: where the sites stand */
    distmap_dtype centroids; /* float64: the centroids of their cells */
    distmap_dtype energies;  /* float64: the energy after each step */
    distmap_dtype reserved[4]; /* for outputs to come: DISTMAP_NONE */
} distmap_outputs;

/* The field that is computed from the sites. */
typedef enum distmap_field {
    DISTMAP_FIELD_DISTANCE = 0,
    DISTMAP_FIELD_EDGE_STRENGTH, /* see distmap_esf */
    DISTMAP_FIELD_SKELETON,      /* see distmap_skeleton */
    DISTMAP_FIELD_MORPHOLOGY,    /* see distmap_morphology */
    DISTMAP_FIELD_COMPARISON,    /* see distmap_comparison */
    DISTMAP_FIELD_THICKNESS,     /* see below */
    DISTMAP_FIELD_CVT,           /* see distmap_cvt */
} distmap_field;

/* FIELD_EDGE_STRENGTH: the edge strength function v of a shape, which is the sites of a mask. v is 1 on the shape and decreases
 * over lengths of about rho elements. It is the solution of
 *
 *     dv/dt = (Laplacian - 1/rho^2) v,    v = 1 on the shape,    dv/dn = 0 at the image's border
 *
 * from v = 0 elsewhere (S. Tari, J. Shah, H. Pien 1997; H. Y. Keles, "Acceleration of the Edge Strength Function on GPU
 * Using CUDA", 2016, equations 1 to 3), after a number of explicit steps or at rest. One to three measured axes, spacing 1
 * (or 0). n is the number of measured axes longer than 1, T the type of the output, and an element's neighbour beyond the
 * border is the element itself.
 *
 * Steps: each step computes all v at once, operation by operation in T, at elements outside the shape:
 *
 *     v' = a v + dt s,    a = 1 - dt c,    c = 2n + 1/(rho rho)
 *     s = (y- + y+) + (x- + x+), then + (z- + z+) with three axes; with one, x- + x+    x the last of the n axes, z the first
 *
 * dt is rounded to T, a comes from that in FP64 and is rounded to T; products and sums are rounded one by one, never fused.
 * So all methods and devices give the same bits. Where a >= 0 (dt up to 1/c), 0 <= v <= 1 and v never decreases from step to
 * step. After k steps v is 0 at elements more than k steps along axes away.
 *
 * At rest: at every element outside the shape the residual, evaluated in T,
 *
 *     r = ((y- - v) + (y+ - v)) + ((x- - v) + (x+ - v)) - v/rho^2,    likewise with one and three axes
 *
 * is at most `tolerance` in absolute value (rounding hides up to 5e-7 of it with float32, 1e-15 with float64). Then v is
 * within rho^2 tolerance of the solution. Methods, devices and versions agree only within that; one method gives the same
 * bits with any number of threads and every instruction set.
 *
 * Without a shape in its batch v is 0, and DISTMAP_FLAG_NO_SITE is set. */
typedef struct distmap_esf {
    double rho;    /* 1e-15 to 1e15 elements */
    double dt;     /* > 0 and below the limit of stability 2 / (4m + 1/rho^2), m measured axes: 2 / (8 + 1/rho^2) in an
                         image; 0: 1 / (2m + 1), 0.2 in an image, or, where this is not below the limit (rho below
                         0.71), 1 / (2m + 1/rho^2). Zero at rest */
    int64_t steps; /* > 0: so many explicit steps; 0: the state at rest */
    double tolerance; /* at rest: at least 1e-6 with float32, 1e-14 with float64; 0: 1e-5 and 1e-10. Zero with steps */
} distmap_esf;

/* FIELD_SKELETON: the Euclidean skeleton of a shape by the integer medial axis (W. H. Hesselink, J. B. T. M. Roerdink,
 * "Euclidean skeletons of digital image and volume data in linear time by the integer medial axis transform", IEEE
 * Transactions on Pattern Analysis and Machine Intelligence 30(12), 2008). The sites are the background, all other
 * elements the shape, in up to three measured axes. With a border the outside of the image is background, too.
 *
 * Let p' be the site nearest to p, by rule 2. Let p, in the shape, and q be neighbours along one measured axis. p is on the
 * skeleton if p' and q' are neither the same nor neighbours, and
 *
 *     D > T    and    <p' - q', p' + q' - p - q> >= 0        D = |p' - q'|^2
 *
 * The second condition says that the middle of p' and q' is on the side of p. p is always inside the image; with a border q may be
 * outside, and is then its own nearest site. Among several nearest elements outside, the first in the order of their coordinates
 * counts. T prunes:
 *
 *     SQUARE_ROOT  h |s| + 2 <p - q, p' - q'> + C h^2    s = (p - p') + (q - q'), h the least pitch along the measured
 *                                                        axes, C = 3/2 with three of them, else 1
 *     LINEAR       gamma^2 |s|^2     keeps elements that span an angle at their sites, at any size: gamma of about 0.5 to 1
 *     CONSTANT     gamma^2           keeps elements whose sites are farther than gamma apart
 *
 * All lengths are in the unit u of the pitches, where they have one (see distmap_problem.spacing): D, h^2 and |s|^2 are then
 * integers, and the gamma of CONSTANT, a length, is gamma / u, rounded. All terms are computed in FP64, each product and sum
 * rounded separately, axes in their order: exactly below 2^53 where gamma in that unit is an integer. So bits agree everywhere.
 *
 * Without a site in its batch nothing is on the skeleton, and DISTMAP_FLAG_NO_SITE is set.
 *
 * Outputs: mask; distance (float32 or float64): on the skeleton the distance to the nearest site, 0 elsewhere. */
typedef enum distmap_pruning {
    DISTMAP_PRUNING_SQUARE_ROOT = 0,
    DISTMAP_PRUNING_LINEAR,
    DISTMAP_PRUNING_CONSTANT,
} distmap_pruning;

typedef struct distmap_skeleton {
    distmap_pruning pruning;
    double gamma; /* >= 0 and finite: LINEAR, a ratio; CONSTANT, a length. 0: no pruning. Zero with SQUARE_ROOT */
} distmap_skeleton;

/* FIELD_MORPHOLOGY: dilation, erosion, opening and closing of a set by Euclidean balls B of any real radius R. The set X is the
 * sites of a mask. With distances |p - q| in the unit of the spacing,
 *
 *     DILATE  p such that |p - q| <= R for some q of X
 *     ERODE   p such that all q with |p - q| <= R are in X: the complement of the dilation of the complement
 *     OPEN    the dilation of the erosion: the union of the balls within X
 *     CLOSE   the erosion of the dilation: the elements that no ball outside X covers
 *
 * q is any element of the infinite space along the measured axes. `outside` says whether the elements beyond the image are in X; by
 * default they are not, so that erosion also starts from the border of the image. Opening and closing are those of the infinite image,
 * which is not cut off between the two steps. J. Serra, "Image Analysis and Mathematical
 * Morphology", 1982, chapter 2.
 *
 * With labels (input LABELS; 0 is the background, and sites must stay zero): DILATE gives background elements within R of a label the
 * nearest label, by rule 2 (labels expand). ERODE turns elements with another label or background within R into background.
 * OPEN opens each label by itself. (Closings of several labels could overlap.) `outside` means that every label continues beyond the
 * image; only ERODE allows it.
 *
 * |p - q| <= R is decided as for distmap_problem.limit: the distance, rounded to float64, is at most R. So the ball whose R is the
 * float64 distance of an element includes that element. Output: `mask`, with labels `label`. DISTMAP_FLAG_NO_SITE is never set. Memory:
 * none per element for one step with sites that are zero, or nonzero, in an integer image; else one byte, or one label where
 * labels are opened; for CLOSE without `outside`, and OPEN with it, two bytes for each element of the image enlarged by R. */
typedef enum distmap_morphology_step {
    DISTMAP_MORPHOLOGY_DILATE = 0,
    DISTMAP_MORPHOLOGY_ERODE,
    DISTMAP_MORPHOLOGY_OPEN,
    DISTMAP_MORPHOLOGY_CLOSE,
} distmap_morphology_step;

typedef struct distmap_morphology {
    distmap_morphology_step step;
    double radius; /* R >= 0, finite; 0: the element alone */
    bool outside;  /* what lies outside the image is of the set */
} distmap_morphology;

/* FIELD_COMPARISON: how far two sets A and B are from each other. A is the sites of the mask arrays.input, B those of
 * arrays.other, by the same rule. The *points* of a set are all its elements, or only its surface: the elements with a neighbour along
 * an axis that is not in the set (the outside of the image is in no set). d(p, B) is the distance
 * from p to the nearest point of B, in the unit of the spacing.
 *
 *     directed, from A to B    the distribution of d(p, B) over the points p of A: its largest value (the directed Hausdorff
 *                              distance), mean, root mean square, percentiles, and how many are within a tolerance
 *     symmetric                both directions together, see distmap_agreement
 *
 * D. P. Huttenlocher, G. A. Klanderman, W. J. Rucklidge, "Comparing Images Using the Hausdorff Distance", IEEE Transactions on
 * Pattern Analysis and Machine Intelligence 15(9), 1993; A. A. Taha, A. Hanbury, "Metrics for evaluating 3D medical image
 * segmentation: analysis, selection, and tool", BMC Medical Imaging 15:29, 2015. All points have equal weight, whatever area of the
 * surface they represent.
 *
 * Distances are those of distmap_problem.spacing, rounded to float64; those of at most the tolerance are within it.
 * A percentile q of n sorted values v is v[k] + (v[k + 1] - v[k]) f with k + f = (n - 1) (q / 100), as numpy.percentile
 * computes it by default, to the bit. Sums are exact, in 128 bits; only with pitches in ratios of 2^20 and
 * more can lower bits be cut off. A mean is the sum of those distances, divided by n. A root mean square is u sqrt(S / n), with S
 * the sum of the integers N (without a unit sqrt(S / n), with S the sum of squared distances), each operation rounded. So bits agree
 * everywhere.
 *
 * All axes are measured, and there are no outputs: distmap_plan_agreement() has the results. If only one of the sets has
 * points, distances from it are +inf, distances from the other set NaN, and symmetric distances +inf.
 * If neither has points, all are NaN. Both cases set DISTMAP_FLAG_NO_SITE. Memory: 4 bytes per element for squared distances of 32
 * bits, else 8; one more for surfaces; and what one map takes. */
typedef enum distmap_points {
    DISTMAP_POINTS_SURFACE = 0, /* elements with a neighbour along an axis outside the set */
    DISTMAP_POINTS_SET,         /* all elements of the set */
} distmap_points;

#define DISTMAP_MAX_PERCENTILES 16

typedef struct distmap_comparison {
    distmap_dtype other; /* of arrays.other; NONE: as the input */
    distmap_points points;
    double tolerance;                           /* >= 0 and finite */
    int percentile_count;                       /* up to DISTMAP_MAX_PERCENTILES; 0: one, the 95th */
    double percentile[DISTMAP_MAX_PERCENTILES]; /* 0 to 100 */
} distmap_comparison;

/* FIELD_THICKNESS: the local thickness of a shape, the diameter of the largest ball within it that holds the element (T.
 * Hildebrand, P. Ruegsegger, "A new method for the model-independent assessment of thickness in three-dimensional images",
 * Journal of Microscopy 185(1), 1997). The sites of a mask are the background, all other elements the shape, in one to three
 * measured axes. With a border the outside of the image is background, too.
 *
 * Let R^2(c) be the squared distance of c to the nearest site. The thickness at p is, over all elements c of its batch,
 *
 *     t(p) = 2 max { R(c) : |p - c|^2 < R^2(c) }
 *
 * with open balls, which hold no site; 0 on sites. Thus t(p) is at least twice the distance at p.
 *
 * Both squares are exact integers in the unit of the pitches, where they have one, else by the formula of FP64 (see
 * distmap_problem.spacing). So an element exactly on the surface of a ball is outside it, whatever the unit.
 *
 * Outputs: distance (float32 or float64), t: twice R, rounded as distances are; squared (any of its types), R^2 of the largest
 * ball, rounded as squared distances are. A batch without a site has no largest ball: rule 3. Fewer than 2^32 elements in a
 * batch. Memory: 4 bytes per element (8 where squares need more than 32 bits), as much again, on the CPU for a batch alone, and
 * what distances take; on the CPU at least 4 for each of a batch, 1/8 in rows of whole 64 bits, and for each thread up to 12 for
 * each of a batch and 40 MB, but at least 80 kB and 32 for each row of a batch. */

/* FIELD_CVT: a centroidal Voronoi diagram: N sites, each at the centroid of the elements that are nearest to it, weighted by the
 * input, whose elements are weights w >= 0 (T.-T. Cao, K. Tang, A. Mohamed, T.-S. Tan, "Parallel Banding Algorithm to Compute
 * Exact Distance Transform with the GPU", I3D 2010, section on applications; Q. Du, V. Faber, M. Gunzburger, "Centroidal
 * Voronoi Tessellations", SIAM Review 41(4), 1999). Each site is at an element, no two at the same one. With s(p) the site
 * nearest to p, by rule 2, the steps reduce the energy
 *
 *     E = sum over all p of w(p) |p - s(p)|^2,    in the unit of the spacing.
 *
 * A step (S. Lloyd 1982) computes all cells, the weight W and centroid c = sum of w(p) p / W of each, and moves all sites at
 * once. Along each axis let u = c - s be the offset of the centroid, in elements. The site moves towards c by
 *
 *     the whole number nearest to omega |u| (in FP64, ties to even), if it is then nearer to c; else by
 *     the whole number nearest to |u| (ties to the smaller): to the element nearest to c, or not at all.
 *
 * If several sites would move to one element, the one with the lowest number does and the others stay. A site without weight in its
 * cell stays. Since a site moves nearer to its centroid or stays, E never increases, with any omega (src/operations/cvt.h has the proof).
 *
 * The start. Coarser grids are made from the image by adding the weights of 2, 4 or 8 neighbours, repeatedly. The first grid is the
 * coarsest that has 8 elements with weight for each site, or the image. Its elements are visited in linear order. With C the sum of the
 * weights up to and including an element, the element gets the next site, number k, when
 *
 *     C > floor(k S / N) + r mod (floor((k + 1) S / N) - floor(k S / N))      S the sum of all weights
 *
 * or when as many sites are missing as elements with weight remain. r is output k of the generator splitmix64 (G. Steele, D.
 * Lea, C. Flood 2014) with `seed`. All steps are made on each grid; then the sites, with coordinates doubled, start on the finer grid.
 *
 * All sums are integers; all bits agree on every device, with any number of threads. Where the pitches have a unit (see
 * distmap_problem.spacing) E is the exact integer sum of w N, rounded, times the squared unit, rounded: exact where the pitches are
 * whole numbers and E < 2^53. With other spacing it is fma(w0^2, Q0, fma(w1^2, Q1, w2^2 Q2)) of exact sums along the axes, each rounded.
 *
 * Input: kind MASK, with elements bool, uint8, uint16 or uint32 (scale floats to integers); one to three
 * axes, all of them measured. At least as many elements as points must have weight, and S times the longest side must be below 2^62;
 * else execute fails before any output is written (DISTMAP_ERROR_ARGUMENT). On a GPU execute waits for the
 * start; it cannot be captured into a graph. Memory: 8 bytes per element, 12 beyond 2^31, for the grids up to 8/3 more in
 * 2-D (8 in 1-D, 8/7 in 3-D), and the nearest-site plan's; 52 bytes per point. */
typedef struct distmap_cvt {
    int64_t points; /* N: 1 to the number of elements, below 2^31 - 1 */
    int64_t steps;  /* 0 to 2^20, on every grid; 0: the start itself */
    double omega;   /* above 0 and below 2; 0: 1. Above 1: over-relaxation, which needs fewer steps */
    uint64_t seed;
    int grids; /* at most so many, 1 to 16; 0: 16. 1: the image alone */
} distmap_cvt;

typedef struct distmap_problem {
    distmap_input input;
    distmap_dtype dtype; /* of the input */
    /* 1 to 8, of which at most 4 are measured. More than 4 axes are for the fields DISTANCE, SKELETON, MORPHOLOGY and THICKNESS, and not
     * for several GPUs. Batches that are adjacent in memory in all arrays, as in arrays without gaps, are computed in one run; others in
     * one run for each place along the shortest axes. For arrays in GPU memory, execution refuses `coords`, and also `index`
     * unless batches come before the measured axes and are computed in one run. `order` is ignored. */
    int ndim;
    int64_t shape[DISTMAP_MAX_AXES];
    unsigned axes; /* bit a set: measure along axis a; the others are batches. 0: all axes */
    distmap_sites sites;
    distmap_metric metric;
    /* METRIC_CHAMFER: weights {a, b, c}, at most 65535; zeros otherwise. A step along one axis costs a > 0, a diagonal one,
     * along two axes at once, b. c is, with three measured axes, the cost of a step along all three; with one or two, that
     * of a knight's step, two along one axis and one along the other, or 0 for none. The distance is
     *
     *     {a, b}                  a (d0 - d1) + b d1
     *     {a, b, c}, one or two   a (d0 - 2 d1) + c d1 where d0 >= 2 d1,  c (d0 - d1) + b (2 d1 - d0) elsewhere
     *     {a, b, c}, three axes   a (d0 - d1) + b (d1 - d2) + c d2
     *
     * which is the length of the shortest walk, and a norm, exactly where no step can be replaced by cheaper ones and the
     * steps that bound a cone are the cheapest within it. So the weights must satisfy
     *
     *     {a, b}                  a <= b <= 2a
     *     {a, b, c}, one or two   2a <= c,  3b <= 2c,  c <= a + b
     *     {a, b, c}, three axes   b <= 2a,  b <= c,  a + c <= 2b
     *
     * City-block and chessboard are {1, 2} and {1, 1}; usual ones are {2, 3}, {3, 4}, {5, 7, 11} and, in 3-D, {3, 4, 5}. */
    int chamfer[3];
    /* Element pitch along each axis, > 0 and finite; 0 means 1.
     *
     * A pitch means the shortest decimal that reads back as it, as float64 or, where its value is exactly a float32 and that is
     * shorter, as float32: 0.7 and 0.7f both mean 0.7. Where the measured pitches are whole multiples n_a, at most 2^20, of one
     * decimal unit u, and sum n_a^2 (shape_a - 1)^2 is at most 2^61, the squared distance is u^2 N with the exact integer
     * N = sum n_a^2 d_a^2. So 0.65, 0.65 are 1 : 1 of unit 0.65, and 2.5, 0.7, 0.7 are 25 : 7 : 7 of unit 0.1. Ties are equal N.
     * Outputs are rounded once, to nearest, ties to even: distances are u sqrt(N), squared distances u^2 N for the decimal u.
     *
     * Other pitches are FP64: D2 = fma(w0^2, d0^2, fma(w1^2, d1^2, ... wn^2 * dn^2)), innermost the last axis, d exact integer
     * offsets, w the double nearest to the decimal, minimised axis by axis from the last to the first. Distances are sqrt(D2),
     * rounded to float64 and then to the output's type. Where those products are exact the tie rule holds; elsewhere sites whose
     * D2 round to the same value are ties, and any of them may be given. */
    double spacing[DISTMAP_MAX_AXES];
    /* > 0: elements farther than this have no site (rule 3); work shrinks with it where the metric is the Euclidean. 0: none. In
     * the unit of the spacing. An element is within the limit where its distance, rounded to the type of `want.distance` (float64
     * where no distance is wanted), is at most the limit; of a signed map that is the distance before it is shortened. */
    double limit;
    bool
        border; /* what lies just outside the image along the measured axes counts as sites too. An element nearer to it
                     than to any site gets index DISTMAP_INDEX_BORDER and label 0; at equal distance the site inside wins */
    /* Squared distances are FP64 even where the pitches have a unit: for parts, along some axes, of an image whose pitches have none. */
    bool real;
    distmap_dtype
        payload; /* SAMPLED with index output: int32 or int64, the site that each sample stands for, given out in
                              place of the sample's own linear index; ties by the samples' indices. DISTMAP_NONE: no payload */
    distmap_outputs want;
    distmap_field
        field; /* EDGE_STRENGTH takes a mask, without metric, limit and border; SKELETON one without metric and limit;
                            MORPHOLOGY a mask or labels, COMPARISON masks, without these; THICKNESS a mask, without metric and
                            limit; CVT weights, without these */
    distmap_esf esf;               /* FIELD_EDGE_STRENGTH; zeros otherwise */
    distmap_skeleton skeleton;     /* FIELD_SKELETON; zeros otherwise */
    distmap_morphology morphology; /* FIELD_MORPHOLOGY; zeros otherwise */
    distmap_comparison comparison; /* FIELD_COMPARISON; zeros otherwise */
    distmap_cvt cvt;               /* FIELD_CVT; zeros otherwise */
    /* Signed maps: MASK input, Euclidean metric. Where all of a batch is on one side, or the other side is beyond the limit,
     * there is no site (rule 3): +inf or -inf by the element's own side. With a border, what lies outside the image counts as
     * of the shape: it is a site for the elements outside the shape alone. Squared distances, float32 or float64 here, get
     * signs too, with SURFACE_CENTRE. */
    distmap_sign sign;
    distmap_surface surface; /* zero without sign */
    distmap_window window;   /* zeros: the whole image */
    /* SAMPLED by integers, all measured pitches whole: what they count. Samples and pitches are N and n_a in the words of `spacing`,
     * and this is u: distances, floating-point squares and the limit are in the unit of u, integer squares are N. 0: 1. So the
     * transform of an image in parts, by squares between them, is that of the whole. */
    double unit;
    /* The order of the axes in memory, slowest first, by their numbers, each once: {2, 1, 0} for volumes in Fortran order, and
     * what distmap_view_order() says of a view; of several that differ take an output, since writing across memory costs more
     * than reading. Zeros: not told, as they are numbered. It is about speed alone: arrays may have any strides whatever it says,
     * and all bits, ties and flags stay what they are.
     *
     * It counts where the arithmetic is integer and no site is asked for: of DISTANCE (any kind of input, metric, sign, and
     * masks), MORPHOLOGY (but for labels that are dilated), COMPARISON and THICKNESS, on the CPU and on one GPU, for the whole
     * image. Elsewhere it is passed over, since ties go by the axes' numbers (rule 2), and FP64 by a formula from the last axis to
     * the first. Arrays in another order than the axes' take longer there: nearest sites from Fortran order to C order about
     * twice, to Fortran order five times as long and more as from C to C. */
    int order[DISTMAP_MAX_AXES];
} distmap_problem;

/* The unit u of a problem's measured pitches and the multiples n_a (see distmap_problem.spacing); the multiple of an axis that is not
 * measured is 0. *unit and all multiples are 0 where squared distances are FP64, and 1 where the metric is not the Euclidean.
 * The problem is checked. */
DISTMAP_SIZED distmap_status distmap_problem_unit(const distmap_problem *problem, double *unit,
                                                  int64_t multiples[DISTMAP_MAX_AXES]);

#define DISTMAP_INDEX_NONE (-1)   /* also every coordinate of it */
#define DISTMAP_INDEX_BORDER (-2) /* also every coordinate of it */

/* The inputs and outputs of an execution. Views that the problem does not want stay zero. Shapes equal the problem's, except for the
 * last five and for the rows of a window; dtypes are those that the problem names. */
typedef struct distmap_arrays {
    distmap_view input;
    distmap_view payload;
    distmap_view distance;
    distmap_view squared;
    distmap_view index;
    distmap_view coords[DISTMAP_MAX_AXES]; /* one per axis, slowest first */
    distmap_view label;
    distmap_view strength;
    distmap_view mask;
    distmap_view within, beyond;
    distmap_view other;         /* an input: FIELD_COMPARISON, the second mask */
    distmap_view before, after; /* inputs: of a window, what is told about the other rows */
    /* FIELD_CVT */
    distmap_view sites;     /* points x ndim: coordinates, in elements */
    distmap_view centroids; /* points x ndim: in elements; the site itself where its cell has no weight */
    distmap_view energies;  /* steps + 1: at the start on the image's own grid, and after each step on it */
} distmap_arrays;

/* ---- Methods --------------------------------------------------------------------------------------------------------- */

typedef struct distmap_param_info {
    const char *name;
    int64_t fallback, lowest, highest; /* default and range */
    const char *summary;
    const char *const *names; /* of the values, lowest first, where they are choices; NULL where they are numbers */
} distmap_param_info;

typedef struct distmap_method_info {
    const char *name;    /* "minplus/cpu" */
    const char *summary; /* one line */
    const char *source;  /* paper or text, section */
    const char *device;  /* "cpu", "cuda" */
    bool exact;
    const distmap_param_info *params;
    size_t param_count;
    unsigned metrics;    /* bit m set: it takes distmap_metric m; 0: the Euclidean alone */
    distmap_field field; /* what it computes */
} distmap_method_info;

/* The method table, fastest first. Static memory. NULL past the end. */
DISTMAP_API const distmap_method_info *distmap_method_get(size_t row);
/* The row with that name, or NULL. */
DISTMAP_API const distmap_method_info *distmap_method_find(const char *name);

/* ---- Plans ----------------------------------------------------------------------------------------------------------- */

typedef struct distmap_param {
    const char *name;
    int64_t value;
} distmap_param;

typedef struct distmap_plan_options {
    const char *method;          /* NULL: the first exact one of the context's device that accepts the problem */
    bool host_views; /* CUDA: execute also takes views in host memory, mixed as you like. The plan then holds room for a
                        copy of every array in device memory (in its scratch), and up to 16 MiB of page-locked host
                        memory. What the caller has page-locked is copied from and to directly. Ignored on the CPU */
    bool timed; /* execute takes the time of its phases, see distmap_plan_phase_get(). CUDA: it then returns when all is
                        complete, whatever the views, and cannot be captured into a graph */
    const distmap_param *params; /* the method's own parameters; unnamed ones keep their defaults */
    size_t param_count;
    void
        *scratch; /* NULL: the plan allocates its own. Else at least distmap_scratch_bytes() bytes, aligned to 64 (CUDA:
                      device memory, aligned to 256), kept by the caller until the plan is destroyed; CUDA: and until its work
                      is complete, for which destroying the plan does not wait then */
    size_t scratch_bytes;
} distmap_plan_options;

typedef struct distmap_plan distmap_plan;

typedef struct distmap_description {
    const char *method; /* its name in the table */
    const char *isa;    /* instruction set */
    int threads;
    size_t scratch_bytes;
    bool integer;     /* integer arithmetic; false: FP64 */
    int squared_bits; /* 32 or 64: the width of squared distances (other metrics: of distances) */
    double unit;      /* as distmap_problem_unit() tells */
    int64_t multiples[DISTMAP_MAX_AXES];
} distmap_description;

/* The bytes of scratch that a plan for this problem needs, in the device's memory. `options` may be NULL; its scratch
 * members are ignored. */
DISTMAP_SIZED distmap_status distmap_scratch_bytes(const distmap_context *context, const distmap_problem *problem,
                                                   const distmap_plan_options *options, size_t *bytes);

/* Whether a plan for this problem would execute on these views: only the checks of distmap_plan_execute(). For
 * libraries that execute several plans, and leave all outputs unchanged after an error. */
DISTMAP_SIZED distmap_status distmap_arrays_check(const distmap_context *context, const distmap_problem *problem,
                                                  const distmap_plan_options *options, const distmap_arrays *arrays);

/* Checks the problem, chooses the method, reserves the scratch. Owned by the caller; destroy before the context. */
DISTMAP_SIZED distmap_status distmap_plan_create(distmap_context *context, const distmap_problem *problem,
                                                 const distmap_plan_options *options, distmap_plan **plan);
/* Computes. Every rule about views is checked first; allocates nothing. On a CUDA context with only device views the work
 * is enqueued; wait for it by the stream, an event, or distmap_plan_wait(). It may be captured into a CUDA graph, about which
 * distmap_plan_wait() and _flags() then say nothing. */
DISTMAP_SIZED distmap_status distmap_plan_execute(distmap_plan *plan, const distmap_arrays *arrays);
/* Waits until the last execute is complete and returns its status (a bad value in a sampled function, a failure of the GPU), which
 * execute itself returns where it does not merely enqueue. */
DISTMAP_API distmap_status distmap_plan_wait(distmap_plan *plan);
DISTMAP_SIZED void distmap_plan_describe(const distmap_plan *plan, distmap_description *description);
/* The DISTMAP_FLAG_* that the last execute set. Waits until it is complete. */
DISTMAP_API unsigned distmap_plan_flags(const distmap_plan *plan);

/* Several GPUs as one device. The image is cut into slabs of rows, along the last axis but one, one for each GPU in the order of
 * the context's ordinals. Each GPU packs its rows into bits, receives the packed rows of the others, 1/4 byte per element, and computes
 * the results of its own rows. All bits are those of one GPU.
 *
 * The problem must be a mask of two axes or more that minplus/cuda accepts, with the outputs distance (float32) or squared (uint32), and
 * index (the linear index in the whole image), without a border. Other problems, timed plans and scratch from the caller are
 * errors. Memory of each GPU: 1/4 byte for each element of the whole image and, for volumes, 4 for each element of its slab;
 * distmap_scratch_bytes() and the description give the sum. Peer access is enabled between GPUs that can read each other's memory, for
 * the whole process (cudaDeviceEnablePeerAccess); between others the driver copies through the host. Each GPU works on its default
 * stream; the work cannot be captured into a graph.
 *
 * distmap_plan_execute() takes whole arrays, in host memory (host_views). This function takes slabs: one distmap_arrays for each GPU, of
 * the problem's shape except for the rows, in that GPU's memory or, with host_views, in host memory. The arrays of GPUs without rows
 * are ignored. It returns as distmap_plan_execute() does. A context of one device has one slab, the image. */
DISTMAP_SIZED distmap_status distmap_plan_execute_slabs(distmap_plan *plan, const distmap_arrays *slabs);
/* The slab of the context's GPU number i: `count` rows, maybe none, from `first` on. */
DISTMAP_API distmap_status distmap_plan_slab(const distmap_plan *plan, int i, int64_t *first, int64_t *count);

typedef enum distmap_phase_kind {
    DISTMAP_PHASE_COMPUTE = 0,
    DISTMAP_PHASE_TRANSFER, /* CUDA: views in host memory, to the device or back */
} distmap_phase_kind;

/* A stage of a method, or a transfer. A stage that runs several times in an execution is one phase, with the total time.
 * Phases follow each other without gaps: the phases of one kind add up to the time of the method, or of the transfers. CPU: by a
 * monotonic clock; CUDA: by events on the context's stream, to about a microsecond. */
typedef struct distmap_phase {
    const char *name; /* static text: "step 1", "search", "upload"; "compute" where a method does not divide its work */
    distmap_phase_kind kind;
    double seconds;
} distmap_phase;

/* The number of phases of the last execute of a timed plan: 0 before the first execute, after one that failed or had no elements, and
 * for plans that are not timed. */
DISTMAP_API size_t distmap_plan_phase_count(const distmap_plan *plan);
/* Phase number i, in the order in which the phases began. */
DISTMAP_SIZED distmap_status distmap_plan_phase_get(const distmap_plan *plan, size_t i, distmap_phase *phase);

/* The convergence of the last execute's edge strengths. */
typedef struct distmap_convergence {
    int64_t iterations; /* steps; at rest: cycles or sweeps of the method, 0 where it had nothing to do */
    double residual;    /* at rest: the largest |r|, see distmap_esf; NaN after steps, which do not compute it */
} distmap_convergence;

/* Waits for the last execute to be complete. FIELD_EDGE_STRENGTH only. */
DISTMAP_SIZED distmap_status distmap_plan_convergence(distmap_plan *plan, distmap_convergence *convergence);

/* The distances from the points of one set to the nearest points of the other. */
typedef struct distmap_directed {
    int64_t points;                             /* from which distances were taken */
    int64_t within;                             /* of these, those no farther than the tolerance */
    double hausdorff, mean, rms;                /* the largest, the average, the root mean square */
    double percentile[DISTMAP_MAX_PERCENTILES]; /* as the problem asks for them; 0 beyond */
} distmap_directed;

/* The results of the last execute. Symmetric: hausdorff and percentiles are the larger of both directions, mean and rms are over the
 * points of both, points and within are sums. */
typedef struct distmap_agreement {
    distmap_directed forward, backward, symmetric; /* from A to B, from B to A */
    double surface_dice; /* symmetric.within / symmetric.points: the surface Dice coefficient at the tolerance */
    int64_t elements[2]; /* of A, of B */
    int64_t common;      /* of both */
    double dice,
        jaccard; /* 2 |A and B| / (|A| + |B|), |A and B| / |A or B|; NaN where both are empty, as surface_dice is */
} distmap_agreement;

/* Waits for the last execute to be complete. FIELD_COMPARISON only. */
DISTMAP_SIZED distmap_status distmap_plan_agreement(distmap_plan *plan, distmap_agreement *agreement);
/* Frees *plan and sets it to NULL. NULL and pointers to NULL are allowed. A plan in use is left as it is. */
DISTMAP_API void distmap_plan_destroy(distmap_plan **plan);

enum {
    DISTMAP_FLAG_NO_SITE = 1, /* at least one element has no site (rule 3) */
    DISTMAP_FLAG_NAN = 2,     /* the input holds a NaN, which is not a site */
    DISTMAP_FLAG_UNREST =
        4, /* edge strengths did not come to rest within the tolerance: distmap_convergence.residual */
};

/* ---- In one call ----------------------------------------------------------------------------------------------------- */

/* Context, plan, execute and destroy in one call, with defaults, on the CPU. If the problem names no order of its axes in memory, the
 * order of an output is used. `flags` may be NULL. */
DISTMAP_SIZED distmap_status distmap_transform(const distmap_problem *problem, const distmap_arrays *arrays,
                                               unsigned *flags);

/* The common case: `mask` has ndim axes of `shape`, row-major, one byte per element, zero at the sites; `distance` has
 * as many floats. */
DISTMAP_API distmap_status distmap_edt(const uint8_t *mask, int ndim, const int64_t *shape, float *distance);

#ifdef __cplusplus
}
#endif

#include "distmap/sized.h"
#endif
