/* Checks a problem against the rules of distmap.h and brings it into normal form: four axes, squared pitches or the costs of
 * steps, the width of (squared) distances, the (squared) limit.
 *
 * Width. Pitches become whole multiples of a unit where they have one (core/unit.h). Along an axis of n elements and multiple w
 * the largest offset contributes w^2 (n-1)^2; their sum over the measured axes, max2, bounds every geometric squared distance.
 * Below 2^32 - 1 numbers are u32, up to 2^61 u64. Beyond that, and where there is no unit, they are FP64. Metrics other than the
 * Euclidean have distances in place of their squares, and max2 is the length of the shortest walk from corner to corner.
 */
#include <math.h>
#include <string.h>

#include "core/internal.h"

static const uint64_t largest_u64 = (uint64_t)1 << 61;

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

static bool is_dtype(distmap_dtype t) { return distmap_dtype_size(t) > 0; }

distmap_status dm_shape_check(const distmap_problem *p) {
    if (p->ndim < 1 || p->ndim > DISTMAP_MAX_AXES)
        return bad("problem.ndim is %d, must be 1 to %d", p->ndim, DISTMAP_MAX_AXES);
    int64_t elements = 1; /* of the axes that are not empty: no product of some of them overflows either */
    for (int a = 0; a < p->ndim; a++) {
        if (p->shape[a] < 0 || p->shape[a] > INT32_MAX)
            return bad("problem.shape[%d] is %lld, must be 0 to 2^31 - 1", a, (long long)p->shape[a]);
        if (p->shape[a] > 0 &&
            (__builtin_mul_overflow(elements, p->shape[a], &elements) || elements > (int64_t)1 << 56))
            return bad("problem.shape: more than 2^56 elements in all");
    }
    if (p->axes >> p->ndim)
        return bad("problem.axes is 0x%x, names an axis beyond ndim %d", p->axes, p->ndim);
    return DISTMAP_OK;
}

static distmap_status check_input(const distmap_problem *p) {
    if (!is_dtype(p->dtype))
        return bad("problem.dtype is %d, must be a dtype", (int)p->dtype);
    switch (p->input) {
    case DISTMAP_INPUT_MASK: break;
    case DISTMAP_INPUT_LABELS:
        if (dm_dtype_is_float(p->dtype))
            return bad("problem.dtype is %s, labels need an integer type", distmap_dtype_name(p->dtype));
        break;
    case DISTMAP_INPUT_SAMPLED:
        if (p->sites.rule != DISTMAP_SITES_ZERO)
            return bad("problem.sites has no meaning for a sampled function, must stay zero");
        break;
    default: return bad("problem.input is %d, must be MASK, LABELS or SAMPLED", (int)p->input);
    }
    if (p->payload != DISTMAP_NONE) {
        if (p->input != DISTMAP_INPUT_SAMPLED)
            return bad("problem.payload needs a sampled input");
        if (p->payload != DISTMAP_INT32 && p->payload != DISTMAP_INT64)
            return bad("problem.payload is %s, must be int32 or int64",
                       is_dtype(p->payload) ? distmap_dtype_name(p->payload) : "no dtype");
        if (!p->want.index)
            return bad("problem.payload needs problem.want.index, which gives it out");
    }
    return DISTMAP_OK;
}

static distmap_status check_sites(const distmap_problem *p) {
    const distmap_sites *s = &p->sites;
    switch (s->rule) {
    case DISTMAP_SITES_ZERO:
    case DISTMAP_SITES_NONZERO: break;
    case DISTMAP_SITES_NONE:
        if (p->input != DISTMAP_INPUT_LABELS)
            return bad("problem.sites.rule NONE is for labels");
        break;
    case DISTMAP_SITES_VALUE:
        if (isnan(s->lo))
            return bad("problem.sites.lo is NaN");
        break;
    case DISTMAP_SITES_RANGE:
        if (!(s->lo <= s->hi))
            return bad("problem.sites: lo %g and hi %g must be numbers with lo <= hi", s->lo, s->hi);
        break;
    default: return bad("problem.sites.rule is %d, unknown", (int)s->rule);
    }
    return DISTMAP_OK;
}

/* The pitches in the plan's problem: checked, 1 for 0, and replaced by the double nearest to their decimal (core/unit.h). */
distmap_status dm_spacing_check(distmap_problem *p) {
    for (int a = 0; a < p->ndim; a++) {
        double *w = &p->spacing[a];
        if (*w == 0)
            *w = 1;
        if (!(*w > 0) || isinf(*w))
            return bad("problem.spacing[%d] is %g, must be positive and finite", a, *w);
        if (*w * *w < 1e-290 || *w * *w > 1e290)
            return bad("problem.spacing[%d] is %g, its square leaves FP64's range", a, *w);
        if (*w != floor(*w))
            *w = dm_pitch_meant(*w);
    }
    if (p->unit != 0 && p->input != DISTMAP_INPUT_SAMPLED)
        return bad("problem.unit is %g, must stay zero where the input is no sampled function", p->unit);
    return p->unit == 0 || (p->unit > 0 && !isinf(p->unit))
               ? DISTMAP_OK
               : bad("problem.unit is %g, must be positive and finite, or 0 for 1", p->unit);
}

/* Fills multiple and unit; false if the pitches have no unit. Integer samples are in the squared unit already: their pitches
 * must be whole, and problem.unit is the unit. */
static bool find_unit(distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    uint64_t multiple[DISTMAP_MAX_AXES] = {0};
    if (p->real)
        return false;
    if (p->input != DISTMAP_INPUT_SAMPLED) {
        if (!dm_unit_find(p->spacing, p->axes, multiple, &plan->unit))
            return false;
    } else if (dm_dtype_is_float(p->dtype)) {
        return false;
    } else {
        const double unit = p->unit == 0 ? 1 : p->unit;
        uint64_t once[DISTMAP_MAX_AXES];
        for (int a = 0; a < p->ndim; a++) {
            if (p->axes >> a & 1 && (p->spacing[a] != floor(p->spacing[a]) || p->spacing[a] > DM_MOST_MULTIPLE))
                return false;
            multiple[a] = (uint64_t)p->spacing[a];
        }
        if (!dm_unit_find(&unit, 1, once, &plan->unit))
            return false;
        if (p->unit != 0)
            plan->unit.whole = 1; /* integer squares count it */
    }
    for (int n = 0; n < DM_NDIM; n++)
        plan->multiple[n] = plan->measured[n] ? multiple[n + p->ndim - DM_NDIM] : 0;
    return true;
}

/* Fills spacing, unit, multiple, number, w2, max2. */
static distmap_status set_spacing(distmap_plan *plan) {
    distmap_problem *p = &plan->problem;
    TRY(dm_spacing_check(p));
    bool integer = find_unit(plan);
    uint64_t to_border = UINT64_MAX; /* least over the axes of the largest distance to the border */
    double largest = 0;
    bool wide = false;
    plan->max2 = 0;
    for (int n = 0; n < DM_NDIM; n++) {
        if (!plan->measured[n])
            continue;
        const double pitch = p->spacing[n + p->ndim - DM_NDIM];
        const uint64_t far = plan->shape[n] > 0 ? (uint64_t)(plan->shape[n] - 1) : 0, middle = far / 2 + 1;
        plan->w2f[n] = pitch * pitch;
        largest += plan->w2f[n] * (double)(far * far);
        plan->w2[n] = integer ? plan->multiple[n] * plan->multiple[n] : 0;
        if (integer && middle * middle < to_border / plan->w2[n])
            to_border = middle * middle * plan->w2[n];
        uint64_t term;
        wide |= __builtin_mul_overflow(far * far, plan->w2[n], &term) || term > largest_u64;
        plan->max2 = wide ? 0 : plan->max2 + term;
        wide |= plan->max2 > largest_u64;
    }
    if (wide && p->input == DISTMAP_INPUT_SAMPLED)
        return bad("problem.spacing: squared distances would pass 2^61; scale the pitches down");
    integer = integer && !wide;
    if (!integer && p->unit != 0)
        return bad("problem.unit is %g: needs integer samples, whole pitches, and a decimal of 1e-18 to 1e18", p->unit);
    if (!integer && largest > 1e300)
        return bad("problem.spacing: squared distances would leave FP64's range; scale the pitches down");
    /* The border is farther than any site can be where every measured axis has one element. */
    if (p->border && to_border > plan->max2)
        plan->max2 = to_border;
    plan->number = !integer ? DM_F64 : plan->max2 < UINT32_MAX ? DM_U32 : DM_U64;
    for (int n = 0; n < DM_NDIM; n++) {
        if (plan->number == DM_F64)
            plan->w2[n] = plan->multiple[n] = 0;
        else if (plan->measured[n])
            plan->w2f[n] = (double)plan->w2[n];
    }
    if (plan->number == DM_F64) {
        plan->max2 = 0;
        dm_unit_set_one(&plan->unit);
    }
    return DISTMAP_OK;
}

static distmap_status check_weights(const int w[3], int axes) {
    for (int i = 0; i < 3; i++)
        if (w[i] < 0 || w[i] > UINT16_MAX)
            return bad("problem.chamfer[%d] is %d, must be 0 to 65535", i, w[i]);
    const int a = w[0], b = w[1], c = w[2];
    if (axes > 3)
        return bad("problem.metric CHAMFER takes one to three measured axes, not %d", axes);
    if (a < 1)
        return bad("problem.chamfer: the first weight must be at least 1");
    if (axes == 3 && !(b <= 2 * a && b <= c && a + c <= 2 * b))
        return bad("problem.chamfer is %d, %d, %d: three axes need b <= 2a, b <= c and a + c <= 2b", a, b, c);
    if (axes < 3 && c == 0 && !(a <= b && b <= 2 * a))
        return bad("problem.chamfer is %d, %d: needs a <= b <= 2a", a, b);
    if (axes < 3 && c > 0 && !(2 * a <= c && 3 * b <= 2 * c && c <= a + b))
        return bad("problem.chamfer is %d, %d, %d: needs 2a <= c, 3b <= 2c and c <= a + b", a, b, c);
    return DISTMAP_OK;
}

/* Fills chamfer: zero for the Euclidean metric. */
static distmap_status set_metric(distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const int *w = p->chamfer;
    int axes = 0;
    for (int n = 0; n < DM_NDIM; n++)
        axes += plan->measured[n];
    switch (p->metric) {
    case DISTMAP_METRIC_EUCLIDEAN: break;
    case DISTMAP_METRIC_CITYBLOCK: plan->chamfer = (dm_chamfer){.step = {0, 1, 2, 3, 4}}; break;
    case DISTMAP_METRIC_CHESSBOARD: plan->chamfer = (dm_chamfer){.step = {0, 1, 1, 1, 1}}; break;
    case DISTMAP_METRIC_CHAMFER:
        TRY(check_weights(w, axes));
        plan->chamfer.step[1] = (uint32_t)w[0];
        plan->chamfer.step[2] = (uint32_t)w[1];
        *(axes == 3 ? &plan->chamfer.step[3] : &plan->chamfer.knight) = (uint32_t)w[2];
        break;
    default: return bad("problem.metric is %d, unknown", (int)p->metric);
    }
    if (p->metric != DISTMAP_METRIC_CHAMFER && (w[0] || w[1] || w[2]))
        return bad("problem.chamfer has no meaning for this metric, must stay zero");
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN && p->input != DISTMAP_INPUT_MASK)
        return bad("problem.metric needs a mask input where it is not EUCLIDEAN");
    return DISTMAP_OK;
}

/* Fills number and max2 for metrics other than the Euclidean. */
static distmap_status set_steps(distmap_plan *plan) {
    distmap_problem *p = &plan->problem;
    for (int a = 0; a < p->ndim; a++) {
        if (p->spacing[a] != 0 && p->spacing[a] != 1)
            return bad("problem.spacing[%d] is %g, must be 1 where problem.metric is not EUCLIDEAN", a, p->spacing[a]);
        p->spacing[a] = 1;
    }
    uint64_t corner[DM_NDIM] = {0}, to_border = UINT64_MAX;
    for (int n = 0; n < DM_NDIM; n++) {
        if (!plan->measured[n])
            continue;
        corner[n] = plan->shape[n] > 0 ? (uint64_t)(plan->shape[n] - 1) : 0;
        const uint64_t outside = plan->chamfer.step[1] * (corner[n] / 2 + 1);
        to_border = outside < to_border ? outside : to_border;
    }
    for (int n = 0; n < DM_NDIM; n++)
        plan->multiple[n] = plan->measured[n];
    plan->max2 = dm_chamfer_length(&plan->chamfer, corner);
    if (p->border && to_border > plan->max2)
        plan->max2 = to_border;
    plan->number = plan->max2 < UINT32_MAX ? DM_U32 : DM_U64;
    return DISTMAP_OK;
}

/* Whether the rounded distance of a squared distance is at most r, as a float if `single`. */
static bool is_within(const distmap_plan *plan, uint64_t squared, double r, bool single) {
    return single ? (double)dm_unit_distancef(&plan->unit, squared) <= r : dm_unit_distance(&plan->unit, squared) <= r;
}
static bool is_within_f64(uint64_t bits, double r, bool single) {
    double squared;
    memcpy(&squared, &bits, sizeof squared);
    return (single ? (double)(float)sqrt(squared) : sqrt(squared)) <= r;
}

/* The largest squared distance within r. Distances increase with squares, so bisection finds it, between bounds that rounding to
 * floats (2^-24) cannot leave. For doubles it bisects their bits, which increase with the values. */
static uint64_t largest_within(const distmap_plan *plan, double r, bool single) {
    const double about = r / plan->unit.high * (r / plan->unit.high);
    if (!(about < 0x1p61))
        return UINT64_MAX - 1;
    uint64_t within = (uint64_t)(about * (1 - 0x1p-20)), beyond = (uint64_t)(about * (1 + 0x1p-20)) + 2;
    while (beyond - within > 1) {
        const uint64_t middle = within + (beyond - within) / 2;
        *(is_within(plan, middle, r, single) ? &within : &beyond) = middle;
    }
    return within;
}

static double largest_within_f64(double r, bool single) {
    const double about = r * r;
    if (!(about >= 0x1p-1000 && about < 0x1p1000))
        return about;
    const double low = about * (1 - 0x1p-20), high = about * (1 + 0x1p-20);
    uint64_t within, beyond;
    memcpy(&within, &low, sizeof low);
    memcpy(&beyond, &high, sizeof high);
    while (beyond - within > 1) {
        const uint64_t middle = within + (beyond - within) / 2;
        *(is_within_f64(middle, r, single) ? &within : &beyond) = middle;
    }
    double squared;
    memcpy(&squared, &within, sizeof squared);
    return squared;
}

void dm_square_limit(const distmap_plan *plan, double r, uint64_t *limit2, double *limit2f) {
    const bool single = plan->problem.want.distance == DISTMAP_FLOAT32;
    if (!dm_is_euclidean(&plan->chamfer)) {
        *limit2f = r;
        *limit2 = r < 0x1p61 ? (uint64_t)r : UINT64_MAX - 1;
    } else {
        *limit2f = plan->number == DM_F64 ? largest_within_f64(r, single) : INFINITY;
        *limit2 = plan->number == DM_F64 ? UINT64_MAX - 1 : largest_within(plan, r, single);
    }
    if (plan->number == DM_U32 && *limit2 > UINT32_MAX - 1)
        *limit2 = UINT32_MAX - 1;
}

static distmap_status set_limit(distmap_plan *plan) {
    const double r = plan->problem.limit;
    plan->limited = r != 0;
    if (!plan->limited)
        return DISTMAP_OK;
    if (!(r > 0))
        return bad("problem.limit is %g, must be positive, or 0 for none", r);
    dm_square_limit(plan, r, &plan->limit2, &plan->limit2f);
    return DISTMAP_OK;
}

/* Sampled functions: the largest sample, at most the limit, adds to the geometry; u32 only if the largest sum fits. A limit that was
 * cut to the range of u32 is no bound. */
static distmap_status widen_for_samples(distmap_plan *plan) {
    const bool bounded = plan->limited && plan->limit2 < UINT32_MAX - 1;
    const uint64_t top = dm_dtype_max(plan->problem.dtype);
    if (plan->problem.input != DISTMAP_INPUT_SAMPLED || plan->number != DM_U32 ||
        (bounded && plan->limit2 < top ? plan->limit2 : top) < UINT32_MAX - plan->max2)
        return DISTMAP_OK;
    plan->number = DM_U64;
    return set_limit(plan);
}

static distmap_status check_distance(const distmap_plan *plan, uint64_t most) {
    const distmap_dtype dtype = plan->problem.want.distance;
    if (!dtype || dtype == DISTMAP_FLOAT32 || dtype == DISTMAP_FLOAT64)
        return DISTMAP_OK;
    if (dm_is_euclidean(&plan->chamfer))
        return bad("problem.want.distance must be float32 or float64");
    if (!is_dtype(dtype) || dtype == DISTMAP_BOOL)
        return bad("problem.want.distance must be an integer type, float32 or float64");
    if (dm_dtype_max(dtype) <= most)
        return bad("problem.want.distance is %s, too small for the largest value %llu: use a wider type",
                   distmap_dtype_name(dtype), (unsigned long long)most);
    return DISTMAP_OK;
}

distmap_status dm_element_check(const distmap_problem *p, distmap_dtype dtype, const char *name) {
    if (!is_dtype(dtype) || dm_dtype_is_float(dtype))
        return bad("problem.want.%s must be an integer type", name);
    if (dm_dtype_is_float(p->dtype) || dm_dtype_max(dtype) < dm_dtype_max(p->dtype) ||
        (dm_dtype_is_signed(p->dtype) && !dm_dtype_is_signed(dtype)))
        return bad("problem.want.%s is %s, cannot hold the input's %s: use %s", name, distmap_dtype_name(dtype),
                   distmap_dtype_name(p->dtype),
                   dm_dtype_is_float(p->dtype) ? "an integer input" : distmap_dtype_name(p->dtype));
    return DISTMAP_OK;
}

static bool is_mask_type(distmap_dtype t) { return t == DISTMAP_BOOL || t == DISTMAP_UINT8; }

static distmap_status check_masks(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const distmap_outputs *w = &p->want;
    if ((w->within || w->beyond) && !plan->limited)
        return bad("problem.want.%s needs problem.limit", w->within ? "within" : "beyond");
    if (w->within && !is_mask_type(w->within))
        return bad("problem.want.within must be bool or uint8");
    if (w->beyond && p->input == DISTMAP_INPUT_LABELS)
        return dm_element_check(p, w->beyond, "beyond");
    if (w->beyond && !is_mask_type(w->beyond))
        return bad("problem.want.beyond must be bool or uint8");
    return DISTMAP_OK;
}

static distmap_status check_outputs(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const distmap_outputs *w = &p->want;
    if (!dm_wants_any(*w))
        return bad("problem.want names no output");
    const uint64_t most = plan->limited && plan->limit2 < plan->max2 ? plan->limit2 : plan->max2;
    TRY(check_distance(plan, most));
    if (w->squared && !dm_is_euclidean(&plan->chamfer))
        return bad("problem.want.squared needs the Euclidean metric: ask for distance, which is a whole number here");
    if (w->squared == DISTMAP_UINT32 || w->squared == DISTMAP_UINT64) {
        uint64_t value;
        if (plan->number == DM_F64 || plan->unit.whole == 0)
            return bad(
                "problem.want.squared is %s, but this problem's spacing or samples are not integers: use float64",
                distmap_dtype_name(w->squared));
        if (__builtin_mul_overflow(most, plan->unit.whole, &value))
            return bad("problem.want.squared is %s, too small for the largest value: use float64",
                       distmap_dtype_name(w->squared));
        if (w->squared == DISTMAP_UINT32 && value >= UINT32_MAX)
            return bad("problem.want.squared is uint32, too small for the largest value %llu: use uint64",
                       (unsigned long long)value);
    } else if (w->squared && !dm_dtype_is_float(w->squared)) {
        return bad("problem.want.squared must be uint32, uint64, float32 or float64");
    }
    if (w->index && w->index != DISTMAP_INT32 && w->index != DISTMAP_INT64)
        return bad("problem.want.index must be int32 or int64");
    if (w->index == DISTMAP_INT32 && plan->elements > (int64_t)INT32_MAX + 1 && !p->payload)
        return bad("problem.want.index is int32, too small for %lld elements: use int64", (long long)plan->elements);
    if (w->index == DISTMAP_INT32 && p->payload == DISTMAP_INT64)
        return bad("problem.want.index is int32, too small for an int64 payload: use int64");
    if (w->coords) {
        if (w->coords != DISTMAP_INT16 && w->coords != DISTMAP_INT32 && w->coords != DISTMAP_INT64)
            return bad("problem.want.coords must be int16, int32 or int64");
        for (int a = 0; a < p->ndim; a++)
            if ((uint64_t)p->shape[a] > dm_dtype_max(w->coords) + 1)
                return bad("problem.want.coords is %s, too small for axis %d of %lld elements: use int32",
                           distmap_dtype_name(w->coords), a, (long long)p->shape[a]);
        if (p->payload)
            return bad("problem.want.coords has no meaning with a payload: ask for index");
    }
    if (w->label) {
        if (p->input == DISTMAP_INPUT_SAMPLED)
            return bad("problem.want.label needs a mask or label input");
        TRY(dm_element_check(p, w->label, "label"));
    }
    return check_masks(plan);
}

distmap_status dm_problem_check(const distmap_problem *problem, distmap_plan *plan) {
    if (!problem)
        return bad("problem is NULL");
    plan->problem = *problem;
    distmap_problem *p = &plan->problem;
    if (p->ndim > DM_NDIM)
        TRY(dm_split_make(problem, &plan->split, p));
    TRY(dm_shape_check(p));
    TRY(dm_order_check(p));
    TRY(check_input(p));
    TRY(check_sites(p));
    TRY(dm_field_check(p));
    if (p->axes == 0)
        p->axes = (1u << p->ndim) - 1;

    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        plan->place[a] = a;
    plan->elements = 1;
    for (int n = DM_NDIM - 1; n >= 0; n--) {
        const int a = n - (DM_NDIM - p->ndim);
        plan->shape[n] = a >= 0 ? p->shape[a] : 1;
        plan->measured[n] = a >= 0 && (p->axes >> a & 1);
        plan->linear[n] = plan->elements;
        plan->elements *= plan->shape[n];
    }
    plan->rows = plan->shape[2];
    if (p->field == DISTMAP_FIELD_EDGE_STRENGTH)
        return dm_strength_check(plan);
    TRY(set_metric(plan));
    dm_unit_set_one(&plan->unit);
    TRY(dm_is_euclidean(&plan->chamfer) ? set_spacing(plan) : set_steps(plan));
    TRY(dm_sign_check(plan));
    TRY(set_limit(plan));
    TRY(widen_for_samples(plan));
    if (p->field == DISTMAP_FIELD_SKELETON)
        return dm_skeleton_check(plan);
    if (p->field == DISTMAP_FIELD_MORPHOLOGY)
        return dm_morphology_check(plan);
    if (p->field == DISTMAP_FIELD_COMPARISON)
        return dm_comparison_check(plan);
    if (p->field == DISTMAP_FIELD_THICKNESS)
        TRY(dm_thickness_check(plan));
    if (p->field == DISTMAP_FIELD_CVT)
        return dm_cvt_check(plan);
    TRY(check_outputs(plan));
    plan->wants_site = p->want.index || p->want.coords || p->want.label;
    plan->wants_mask = p->want.within || p->want.beyond;
    return dm_window_check(plan);
}

void dm_multiples(const distmap_plan *plan, int64_t multiples[DISTMAP_MAX_AXES]) {
    const distmap_problem *p = &plan->problem;
    memset(multiples, 0, DISTMAP_MAX_AXES * sizeof *multiples);
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        const int n = plan->split.given.ndim ? dm_split_place(&plan->split, a)
                      : a < p->ndim          ? plan->place[a] + DM_NDIM - p->ndim
                                             : -1;
        multiples[a] = n >= 0 ? (int64_t)plan->multiple[n] : 0;
    }
}

distmap_status distmap_problem_unit_sized(const distmap_problem *problem, size_t problem_bytes, double *unit,
                                          int64_t multiples[DISTMAP_MAX_AXES]) {
    if (!unit || !multiples)
        return bad("%s is NULL", unit ? "multiples" : "unit");
    distmap_plan plan = {.problem = {0}};
    distmap_problem room;
    DISTMAP_SIZED_TAKE(problem, room);
    TRY(dm_problem_check(problem, &plan));
    *unit = plan.number == DM_F64 ? 0 : plan.unit.high;
    dm_multiples(&plan, multiples);
    return DISTMAP_OK;
}
