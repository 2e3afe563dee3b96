/* pba/cuda: the Parallel Banding Algorithm, in planes and volumes, as published (pba) and as its authors improved it (pba+).
 *
 *   phase 1: the nearest site of every element within its row, by bands: flood each band, propagate between bands, update
 *   phase 2: of every column, the proximate sites: a stack for each band, then bands merged by two and two
 *   phase 3: every element of the column coloured with its nearest site, from the list
 *   in volumes phases 2 and 3 again, along z
 *
 * m1, m2 and m3 are the bands of phases 1 and 2, and the threads to a column in phase 3. All work is linear in the elements.
 *
 * The variants are sets of choices, each of which can be made by itself:
 *
 *                  pba as printed                          pba+ as printed         variant=pba     variant=pba+
 *     flood        turned: transposes by kernels           coordinates: transposes turned          bits, one per
 *                  of their own                            fused into the sweeps                   element: ours
 *     test         float: of dominance, by quotients       integer: by products    integer         integer
 *     lists        converted: kernels make double lists    (volumes: one band,     carried         carried
 *                  for merging, and single ones again      so none to convert)
 *     colouring    blocks: threads wait for each other     independent             blocks          independent
 *                  after m3 rows
 *
 * The authors go along columns first, rows last, and turn what comes out. Of equally near sites the lowest linear index
 * would then have to be carried along. Here rows come first and the slowest axis last, and the lowest coordinate wins
 * in each phase, which is the tie rule; and since phases 2 and 3 go along y or z with neighbouring columns in
 * neighbouring threads, they read and write memory as it lies: both transposes are in phase 1, and phase 3 writes the
 * outputs.
 *
 * test=float has FP64: the published FP32 cannot tell takeovers apart on images above some 45 a side. Different quotients are
 * at least 1/n^2 apart, and rounding keeps their order; so FP64 decides as integers do as long as the largest squared distance
 * times n^2 is below 2^52, and other problems are refused. Lists are carried where links are written as the stack grows.
 * Textures, which the published pba reads by, make no difference by its authors' own account, and are not here. Nothing is
 * padded, to squares or powers of two or otherwise.
 *
 * Memory per element, with words of 4 bytes (see pba_cuda.h): planes 6 (m2 = 1: 4.2), without flood=bits 8; volumes 8. Bytes
 * moved, pba+ in a plane: phase 1 reads 1 (the mask) and writes 4, phase 2 reads 4 and writes up to 6, phase 3 reads up
 * to 4 and writes the outputs.
 *
 * Source: T.-T. Cao, K. Tang, A. Mohamed, T.-S. Tan, "Parallel Banding Algorithm to Compute Exact Distance Transform
 * with the GPU", I3D 2010; J. Zheng, T.-S. Tan, "Addendum: After A Decade", 2019 (PBA+).
 */
#include "methods/pba/pba_cuda.h"

#include "core/planes.h"

enum { M1, M2, M3, VARIANT, FLOOD, TEST, LISTS, COLOURING, PBA = 0, PBA_PLUS = 1, LEAST_PLANES = 32 };
enum { BY_VARIANT, BITS, COORDINATES, TURNED };
enum { INTEGER, FLOAT };
enum { CARRIED, CONVERTED };
enum { BLOCKS = 1, INDEPENDENT };

static const char *const variant_names[] = {"pba", "pba+"};
static const char *const flood_names[] = {"auto", "bits", "coordinates", "turned"};
static const char *const test_names[] = {"integer", "float"}, *const list_names[] = {"carried", "converted"};
static const char *const colouring_names[] = {"auto", "blocks", "independent"};
static const distmap_param_info params[] = {
    [M1] = {"m1", 0, 0, PBA_MOST_BANDS, "bands of a row in phase 1; 0: by the size", NULL},
    [M2] = {"m2", 0, 0, PBA_MOST_BANDS, "bands of a column in phase 2; 0: by the size", NULL},
    [M3] = {"m3", 0, 0, PBA_MOST_M3, "threads to a column in phase 3; 0: by the size", NULL},
    [VARIANT] = {"variant", PBA_PLUS, PBA, PBA_PLUS, "the algorithm of 2010 or its improvement of 2019", variant_names},
    [FLOOD] = {"flood", BY_VARIANT, BY_VARIANT, TURNED, "what phase 1 floods, and how it is transposed", flood_names},
    [TEST] = {"test", INTEGER, INTEGER, FLOAT, "how dominance is tested", test_names},
    [LISTS] = {"lists", CARRIED, CARRIED, CONVERTED, "how phase 2 gets at links both ways", list_names},
    [COLOURING] = {"colouring", BY_VARIANT, BY_VARIANT, INDEPENDENT, "how threads share a column in phase 3",
                   colouring_names},
};

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* ---- What it accepts ---- */

static const char *refuses(const distmap_plan *plan) {
    const char *why = dm_refuses_all_but_masks(plan);
    if (why)
        return why;
    if (dm_axis_counts(plan, 0))
        return "needs at most three measured axes, the last ones";
    if ((plan->shape[DM_X] > 1 && !plan->measured[DM_X]) ||
        (dm_axis_counts(plan, 1) && plan->shape[2] > 1 && !plan->measured[2]))
        return "needs the last axes to be the measured ones";
    for (int a = 0; a < DM_NDIM; a++)
        if (plan->measured[a] && plan->shape[a] > INT32_MAX - PBA_WORD)
            return "needs fewer than 2^31 - 32 elements along each axis";
    if (plan->params[TEST] == FLOAT)
        for (int a = 1; a < DM_X; a++)
            if (plan->measured[a] && (plan->max2 >> 52 || plan->shape[a] >= 1 << 26 ||
                                      (double)plan->max2 * (double)plan->shape[a] * (double)plan->shape[a] >= 0x1p52))
                return "needs a largest squared distance below 2^52 / n^2, n the longest axis but the last, for "
                       "test=float";
    return NULL;
}

/* ---- Shape ---- */

static int bits_for(int64_t n) {
    int bits = 0;
    while ((int64_t)1 << bits < n)
        bits++;
    return bits;
}

/* Squared distances and planes fit 31 bits, coordinates 32, and all ones are not coordinates. */
static bool is_narrow(const distmap_plan *plan, const struct pba_work *w) {
    const int bits = w->shift_z + bits_for(w->nz);
    const int64_t last = (int64_t)w->nx * w->ny * w->nz;
    return plan->max2 <= INT32_MAX && (int64_t)w->nx * w->ny <= INT32_MAX &&
           (bits < 32 || (bits == 32 && last < (int64_t)1 << 32));
}

static uint64_t pitch2(const distmap_plan *plan, int axis) { return plan->measured[axis] ? plan->w2[axis] : 1; }

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Parameters as given, or by the size. A plane has as many bands as the authors found best on their GPUs (table 2), and on an
 * H200. Volumes and many planes at once have rows enough; columns, where they do not fill a large GPU, are in two bands
 * (4% to 10% faster on an H200 from 64 to 256 a side; four bands gain no more). */
static bool has_many_planes(const struct pba_work *w) { return w->rows / w->ny >= LEAST_PLANES; }

static int64_t longer_side(const struct pba_work *w) { return w->nx > w->ny ? w->nx : w->ny; }

static int64_t row_bands(const distmap_plan *plan, const struct pba_work *w) {
    const int64_t by_size = has_many_planes(w) ? 1 : clamp(longer_side(w) / 64, 8, 256);
    return plan->params[M1] ? plan->params[M1] : by_size;
}

static int64_t column_bands(const distmap_plan *plan, const struct pba_work *w, const struct pba_pass *p) {
    const int64_t of_plane = longer_side(w) > 4096 ? 64 : 32, of_volume = p->columns > 1 << 16 ? 1 : p->length / 32;
    return plan->params[M2] ? plan->params[M2] : has_many_planes(w) ? clamp(of_volume, 1, 2) : of_plane;
}

/* As many threads as a large GPU has room for: each of a column's goes through the whole list. */
static int64_t colours(const distmap_plan *plan, int64_t columns) {
    const int64_t room = 1 << 17;
    return plan->params[M3] ? plan->params[M3] : clamp(room / columns, 2, 16);
}

static bool is_plain(const distmap_outputs *want) {
    const bool distance = !want->distance || (want->distance == DISTMAP_FLOAT32 && !want->squared);
    const bool squared = !want->squared || (want->squared == DISTMAP_UINT32 && !want->distance);
    return distance && squared && !want->coords && !want->label;
}

static void set_shape(const distmap_plan *plan, struct pba_work *w) {
    w->nx = (int32_t)plan->shape[DM_X];
    w->ny = plan->measured[2] ? (int32_t)plan->shape[2] : 1;
    w->nz = dm_axis_counts(plan, 1) ? (int32_t)plan->shape[1] : 1;
    w->rows = plan->elements / w->nx;
    w->shift_y = bits_for(w->nx);
    w->shift_z = w->shift_y + bits_for(w->ny);
    w->narrow = is_narrow(plan, w);
    w->plain = is_plain(&plan->problem.want) && plan->unit.is_one;
    w->blocks = plan->params[COLOURING] ? plan->params[COLOURING] == BLOCKS : plan->params[VARIANT] == PBA;
    w->floats = plan->params[TEST] == FLOAT;
    w->converts = plan->params[LISTS] == CONVERTED;
    for (int a = 0; a < 3; a++)
        w->w2[a] = (int64_t)pitch2(plan, DM_X - a);
    w->flood_length = (int32_t)(divide_up(divide_up(w->nx, row_bands(plan, w)), PBA_WORD) * PBA_WORD);
    w->flood_bands = (int32_t)divide_up(w->nx, w->flood_length);
}

static struct pba_pass make_pass(const distmap_plan *plan, const struct pba_work *w, bool z) {
    struct pba_pass p = {.z = z, .length = z ? w->nz : w->ny, .apart = z ? (int64_t)w->nx * w->ny : w->nx};
    p.columns = plan->elements / p.length;
    p.band = (int32_t)divide_up(p.length, column_bands(plan, w, &p));
    p.bands = (int32_t)divide_up(p.length, p.band);
    const int64_t threads = colours(plan, p.columns);
    p.m3 = threads < p.length ? (int32_t)threads : p.length;
    return p;
}

static int64_t flood_of(const distmap_plan *plan) {
    const int64_t by_variant = plan->params[VARIANT] == PBA ? TURNED : BITS;
    return plan->params[FLOOD] ? plan->params[FLOOD] : by_variant;
}

/* ---- Memory ---- */

/* `words` is where phase 1 ends. `other` serves in turn: bits or turned words in phase 1, links in phase 2, the results
 * of phase 3 along y in a volume, and then `words` has the links along z. `small` has the ends of bands. */
struct layout {
    size_t words, other, small;
};

static size_t largest(size_t a, size_t b) { return a > b ? a : b; }

static struct layout measure(const distmap_plan *plan, const struct pba_work *w) {
    const size_t elements = (size_t)plan->elements, words = elements * (w->narrow ? 4 : 8);
    const size_t bits = (size_t)divide_up(w->nx, PBA_WORD) * (size_t)w->rows * sizeof(uint32_t);
    struct layout l = {.words = words, .small = (size_t)w->flood_bands * (size_t)w->rows * sizeof(struct pba_pair)};
    const bool in_bits = flood_of(plan) == BITS;
    l.other = !in_bits || w->nz > 1 ? words : 0;
    l.other = largest(l.other, in_bits ? bits : 0);
    for (int z = 0; z < (w->nz > 1 ? 2 : 1); z++) {
        const struct pba_pass p = make_pass(plan, w, z);
        if (p.bands > 1)
            l.other = largest(l.other, words / 2);
        l.small = largest(l.small, (size_t)p.bands * (size_t)p.columns * sizeof(struct pba_pair));
    }
    return (struct layout){dm_cuda_round(l.words), dm_cuda_round(l.other), dm_cuda_round(l.small)};
}

static size_t scratch_bytes(const distmap_plan *plan) {
    struct pba_work w = {0};
    set_shape(plan, &w);
    const struct layout l = measure(plan, &w);
    return l.words + l.other + l.small;
}

/* ---- The method ---- */

static distmap_status solve(distmap_plan *plan, const struct pba_work *w, bool z, void *words, void *other,
                            void *target) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct pba_pass p = make_pass(plan, w, z);
    p.words = words;
    p.next = p.bands > 1 ? other : NULL;
    p.end = w->reach; /* phase 1 is done with it */
    p.target = target;
    dm_phase(plan, z ? "phase 2, z" : "phase 2");
    TRY_CUDA(cuda, pba_points(w, &p, cuda->stream));
    dm_phase(plan, z ? "phase 3, z" : "phase 3");
    TRY_CUDA(cuda, pba_colour(w, &p, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct pba_work w = {.elements = dm_elements_make(plan, arrays)};
    set_shape(plan, &w);
    const struct layout l = measure(plan, &w);
    char *words = plan->scratch, *other = words + l.words;
    w.words = words;
    w.turned = w.bits = (void *)other;
    w.reach = (struct pba_pair *)(other + l.other);
    dm_phase(plan, "phase 1");
    if (flood_of(plan) == TURNED)
        TRY_CUDA(cuda, pba_flood_turned(&w, cuda->stream));
    else if (flood_of(plan) == COORDINATES)
        TRY_CUDA(cuda, pba_flood_fused(&w, cuda->stream));
    else
        TRY_CUDA(cuda, pba_flood(&w, cuda->stream));
    if (w.nz == 1)
        return solve(plan, &w, false, words, other, NULL);
    if (w.ny == 1)
        return solve(plan, &w, true, words, other, NULL);
    TRY(solve(plan, &w, false, words, other, other));
    return solve(plan, &w, true, other, words, NULL);
}

const dm_method dm_pba_cuda = {
    .info =
        {
            .name = "pba/cuda",
            .summary =
                "parallel banding: floods along rows, proximate sites of columns in bands, colouring; planes, volumes",
            .source = "Cao, Tang, Mohamed, Tan 2010; Zheng, Tan 2019 (PBA+)",
            .device = "cuda",
            .exact = true,
            .params = params,
            .param_count = sizeof params / sizeof *params,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
