/* The problem of a pass: from the options in the first pass, from the plan in the last; and checks of its input and axes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pass.h"

const char *pass_axes_text(const struct pass *p, unsigned axes, char text[PASS_AXES]) {
    *text = '\0';
    for (int a = 0; a < p->problem.ndim; a++)
        if (axes >> a & 1)
            snprintf(text + strlen(text), PASS_AXES - strlen(text), "%s%s", *text ? "," : "",
                     p->source.info->axis[a].name);
    return text;
}

/* The pass before, if IN is the result of one that leaves something to do; it must be whole. */
static int find_before(struct pass *p) {
    struct state before = {0};
    const char *input = p->options->input;
    char missing[256];
    if (distmap_path_file_bytes(input) < strlen(input))
        return 0;
    const int status = state_name(&before, input);
    if (status)
        return status;
    p->before = state_plan(&before);
    p->last = p->before && plan_is_unfinished(p->before);
    if (p->last && access(before.output, F_OK) == 0) {
        state_tidy(&before); /* before the identity of the input is taken, since this changes it */
        return state_check_output(&before);
    }
    if (!p->last)
        return 0;
    json_object *shards = NULL;
    json_object_object_get_ex(p->before, "shards", &shards);
    before.shards = json_object_get_int64(shards);
    if (before.shards < 1 || before.shards > 1 << 24)
        return fail("%s/plan.json: is not the plan of a pass", before.folder);
    const int counted = state_count(&before, missing, sizeof missing);
    if (counted)
        return counted;
    if (before.done < before.shards)
        return fail("%s: the first pass is not complete: %lld shards, %lld missing: %s", input,
                    (long long)before.shards, (long long)(before.shards - before.done), missing);
    return fail("%s: all shards of the first pass are done, but the file has not been renamed: run any of them again",
                input);
}

/* The last pass has a second input where the first had a second output. */
static int open_inputs(struct pass *p) {
    const struct options *options = p->options;
    json_object *index = NULL;
    int status = source_open(&p->source, options);
    if (status || !p->last)
        return status;
    plan_model(p->before, &p->source.model);
    json_object_object_get_ex(p->before, "index", &index);
    if (!index != !options->index)
        return fail("--index: must be in both passes or in neither; the first pass of %s had %s", options->input,
                    index ? "it" : "none");
    if (!index)
        return 0;
    struct options other = *options;
    other.input = (char *)json_object_get_string(index);
    return source_open(&p->sites, &other);
}

/* Options that the plan has said. */
static int check_last(const struct options *o) {
    const char *given = o->sites_given                 ? "--sites"
                        : o->threshold_given           ? "--threshold"
                        : o->spacing.count             ? "--spacing"
                        : o->axes.count                ? "--axes"
                        : o->time >= 0                 ? "--time"
                        : o->channel >= 0 || o->sample ? "--channel"
                        : o->nodata_given              ? "--nodata"
                        : o->nodata_value_given        ? "--nodata-value"
                        : o->border                    ? "--border"
                        : o->limit > 0                 ? "--limit"
                        : o->labels                    ? "--labels"
                        : o->is_signed                 ? "--signed"
                                                       : NULL;
    return given ? fail("%s: belongs to the first pass, which made %s", given, o->input) : 0;
}

static bool same_form(const distmap_image_info *info, const distmap_problem *problem, distmap_dtype dtype) {
    return info->dtype == dtype && info->ndim == problem->ndim &&
           memcmp(info->shape, problem->shape, (size_t)info->ndim * sizeof *info->shape) == 0;
}

static int make_problem(struct pass *p) {
    const struct options *options = p->options;
    int status;
    if (!p->last)
        return (status = problem_make(options, p->source.info, &p->problem)) ? status : gaps_check(p);
    if ((status = check_last(options)) ||
        (status = plan_problem(options->input, p->before, &p->problem, &p->steps.samples)))
        return status;
    if ((status = gaps_open(p)))
        return status;
    if (!same_form(p->source.info, &p->problem, p->steps.samples) ||
        (p->sites.info && !same_form(p->sites.info, &p->problem, index_dtype(&p->problem))))
        return fail("%s: does not match the plan beside it", options->input);
    return 0;
}

static int check_axes(struct pass *p) {
    const distmap_image_info *info = p->source.info;
    const unsigned measured = p->steps.normal.axes, wanted = p->last ? 1 : measured & ~1U;
    char got[PASS_AXES], want[PASS_AXES];
    const int status = problem_axes(p->options, "--axis", &p->options->pass_axes, info, &p->axes);
    if (status)
        return status;
    pass_axes_text(p, wanted, want);
    if (p->axes == wanted)
        return 0;
    return p->last
               ? fail("--axis: the last pass of %s is along %s, not %s", p->options->input, want,
                      pass_axes_text(p, p->axes, got))
               : fail("--axis: the first pass of %s goes along %s, all measured axes but %s, whose slices it divides",
                      p->options->input, want, info->axis[0].name);
}

int pass_problem(struct pass *p, distmap_dtype *map) {
    const struct options *options = p->options;
    distmap_problem *problem = &p->problem;
    int status;
    if ((status = find_before(p)) || (status = open_inputs(p)) || (status = make_problem(p)))
        return status;
    if (place_open_on(options, DISTMAP_DEVICE_CPU, steps_watch, &p->steps, &p->work.place, &p->work.context))
        return fail_library();
    if ((status = problem_want_distance(options, p->work.context, problem, map)))
        return status;
    if (options->index)
        problem->want.index = index_dtype(problem);
    if (problem->ndim < 2 || (problem->axes && !(problem->axes & ~1U)))
        return fail("%s: two passes need two measured axes; use distmap edt", options->input);
    if (element_count(problem->ndim, problem->shape) == 0)
        return fail("%s: has no elements", options->input);
    steps_begin(&p->steps, options, &p->work, problem);
    p->steps.kinds = dms_kinds_of(problem);
    p->steps.reads_image = p->last && p->steps.kinds == DMS_SIDES;
    if (dms_check_kind(problem, "in shards") ||
        (!p->last && dms_find_samples(p->work.context, problem, &p->steps.samples)))
        return fail_library();
    if ((status = check_axes(p)))
        return status;
    if (!p->last && !p->steps.one_pass && (options->squared || options->dtype))
        return fail("%s: belongs to the last pass; the first pass writes squared distances as %s",
                    options->dtype ? "--dtype" : "--metric", distmap_dtype_name(p->steps.samples));
    steps_lay_out(&p->steps, (int)options->shards);
    p->divided = p->last ? p->steps.layout.cut : 0;
    if (!p->last && !p->steps.one_pass)
        *map = p->steps.samples;
    return 0;
}
