/* The parameters of plans: what each is set to, and who set it.
 *
 *     --param names it               given
 *     else the cache has a value     tuned     (see tuned.c)
 *     else                           default
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"

const distmap_param_info *param_find(const distmap_method_info *method, const char *name) {
    for (size_t i = 0; method && i < method->param_count; i++)
        if (strcmp(method->params[i].name, name) == 0)
            return &method->params[i];
    return NULL;
}

bool param_from_name(const distmap_param_info *info, const char *name, int64_t *value) {
    for (*value = info->lowest; info->names && *value <= info->highest; ++*value)
        if (strcmp(info->names[*value - info->lowest], name) == 0)
            return true;
    return false;
}

json_object *param_json(const distmap_param_info *info, int64_t value) {
    return info->names ? json_object_new_string(info->names[value - info->lowest]) : json_object_new_int64(value);
}

/* The place of a parameter among a plan's, or -1. */
static int place_of(const struct settings *settings, const char *name) {
    int i = settings->count - 1;
    while (i >= 0 && strcmp(settings->params[i].name, name) != 0)
        i--;
    return i;
}

json_object *settings_json(const struct settings *settings, const distmap_method_info *method) {
    json_object *all = json_object_new_object();
    for (size_t p = 0; p < method->param_count; p++) {
        const distmap_param_info *info = &method->params[p];
        const int i = place_of(settings, info->name);
        json_object *one = json_object_new_object();
        json_object_object_add(one, "value", param_json(info, i < 0 ? info->fallback : settings->params[i].value));
        json_object_object_add(one, "from",
                               json_object_new_string(i < 0                 ? "default"
                                                      : i < settings->given ? "given"
                                                                            : "tuned"));
        json_object_object_add(all, info->name, one);
    }
    return all;
}

/* ---- Plans ---- */

bool method_accepts(const distmap_context *context, const char *method, const distmap_problem *problem) {
    size_t scratch;
    const distmap_plan_options how = {.method = method};
    return distmap_scratch_bytes(context, problem, &how, &scratch) != DISTMAP_ERROR_UNSUPPORTED;
}

static distmap_status create(distmap_context *context, const char *method, const distmap_problem *problem,
                             const struct settings *settings, distmap_plan **plan) {
    const distmap_plan_options how = {
        .method = method,
        .params = settings->params,
        .param_count = (size_t)settings->count,
        .host_views = true,
    };
    return distmap_plan_create(context, problem, &how, plan);
}

/* Adds what was tuned for this problem and --param does not name; whether there was any. */
static bool add_tuned(const struct options *options, const struct place *place, const distmap_method_info *method,
                      const distmap_problem *problem, struct settings *settings) {
    distmap_param tuned[MAX_LIST];
    const int count = options->no_tuned ? 0 : tuned_find(options, place, method, problem, tuned);
    for (int i = 0; i < count; i++)
        if (place_of(settings, tuned[i].name) < 0)
            settings->params[settings->count++] = tuned[i];
    return settings->count > settings->given;
}

distmap_status plan_make(const struct options *options, distmap_context *context, const struct place *place,
                         const char *method, const distmap_problem *problem, struct settings *settings,
                         distmap_plan **plan) {
    settings->given = settings->count = options->param_count;
    memcpy(settings->params, options->params, (size_t)options->param_count * sizeof *options->params);
    const distmap_method_info *info = distmap_method_find(method);
    distmap_status status = DISTMAP_OK;
    *plan = NULL;
    if (!method) { /* a plan tells whom the library chose */
        if ((status = create(context, NULL, problem, settings, plan)))
            return status;
        distmap_description description;
        distmap_plan_describe(*plan, &description);
        info = distmap_method_find(description.method);
    }
    if (!add_tuned(options, place, info, problem, settings))
        return *plan ? DISTMAP_OK : create(context, method, problem, settings, plan);
    distmap_plan_destroy(plan);
    if (create(context, info->name, problem, settings, plan) == DISTMAP_OK)
        return DISTMAP_OK;
    /* Tuned values take more memory than there is here, say. If it is not their fault, it fails again, and says why. */
    char reason[512];
    snprintf(reason, sizeof reason, "%s", distmap_error_text());
    settings->count = settings->given;
    status = create(context, info->name, problem, settings, plan);
    if (status == DISTMAP_OK)
        say(options, "distmap: the values tuned for %s are not used: %s", info->name, reason);
    return status;
}
