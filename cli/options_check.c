/* Options that contradict each other, or miss each other. */
#include <string.h>

#include "options_read.h"

static int check_esf(const struct options *o) {
    if (o->esf.rho == 0)
        return usage("esf: --rho R is missing");
    if (!o->steady && !o->esf.steps)
        return usage("esf: --steps N or --steady is missing");
    if (o->steady && o->esf.steps)
        return usage("--steps and --steady contradict each other");
    if (o->steady && o->esf.dt != 0)
        return usage("--dt needs --steps: the state at rest does not depend on the length of a step");
    if (!o->steady && o->esf.tolerance != 0)
        return usage("--tolerance needs --steady: with --steps the number of steps is fixed");
    return 0;
}

static int check_skeleton(const struct options *o) {
    if (o->gamma_given && o->skeleton.pruning == DISTMAP_PRUNING_SQUARE_ROOT)
        return usage("--gamma needs --pruning linear or constant");
    if (!o->gamma_given && o->skeleton.pruning != DISTMAP_PRUNING_SQUARE_ROOT)
        return usage("--pruning %s needs --gamma G", pruning_names[o->skeleton.pruning]);
    return 0;
}

static int check_morph(const struct options *o) {
    if (!o->step_given)
        return usage("morph: --op dilate, erode, open or close is missing");
    if (!o->radius_given)
        return usage("morph: --radius R is missing");
    if (o->labels && o->morphology.step == DISTMAP_MORPHOLOGY_CLOSE)
        return usage("--labels needs --op dilate, erode or open");
    if (o->labels && o->sites_given)
        return usage("--sites and --labels contradict each other: the background of labels is 0");
    return 0;
}

static int check_compare(const struct options *o) {
    if (!o->input)
        return usage("compare: the input files are missing; see distmap compare --help");
    if (!o->other)
        return usage("compare: the second input file is missing");
    if (o->threshold_given && o->sites_given && o->sites.rule != DISTMAP_SITES_ZERO &&
        o->sites.rule != DISTMAP_SITES_NONZERO)
        return usage("--threshold needs --sites zero (below T) or nonzero (all else), not another rule");
    if (o->sites_given && o->sites.rule == DISTMAP_SITES_NONE)
        return usage("--sites none needs edt --labels: it means that no label is background");
    return sinks_check(o);
}

static int check_cvt(const struct options *o) {
    static const char *const endings[] = {".npy", ".csv", ".svg"};
    if (o->cvt.points == 0)
        return usage("cvt: --points N is missing");
    bool known = strcmp(o->output, "-") == 0;
    for (int i = 0; i < 3; i++)
        known |= strlen(o->output) > 4 && strcmp(o->output + strlen(o->output) - 4, endings[i]) == 0;
    return known ? 0 : usage("-o %s: points go to .npy, .csv or .svg", o->output);
}

/* The rules of computation in slabs, because of `option`. */
static int check_slabs(const struct options *o, const char *option, const char *alone) {
    if (o->metric != DISTMAP_METRIC_EUCLIDEAN)
        return usage("%s needs --metric euclidean or squared: other metrics are computed %s only", option, alone);
    if (o->preview || o->method)
        return usage("%s and --%s contradict each other", option, o->preview ? "preview" : "method");
    return 0;
}

static int check_distributed(const struct options *o) {
    if (!o->distributed)
        return 0;
    if (o->strict)
        return usage("--distributed and --strict contradict each other: each process sees a part of the image");
    if (o->memory)
        return usage("--distributed and --memory contradict each other: each process holds its slab");
    if (strcmp(o->input, "-") == 0)
        return usage("--distributed needs an input that every process can read, not standard input");
    if (strcmp(o->output, "-") == 0 || (o->index && strcmp(o->index, "-") == 0))
        return usage("--distributed needs outputs that every process can write to, not standard output");
    return check_slabs(o, "--distributed", "by one process");
}

static int check_memory(const struct options *o) {
    if (!o->memory)
        return o->scratch  ? usage("--scratch needs --memory")
               : o->resume ? usage("--resume needs --memory")
                           : 0;
    const int status = check_slabs(o, "--memory", "in memory");
    if (status)
        return status;
    if (o->device_given && o->device != DISTMAP_DEVICE_CPU)
        return usage("--memory needs --device cpu: it waits for disks, not processors");
    if (o->shards_of_output.count)
        return usage("--memory and --shards contradict each other: a row of shards may take more than the memory");
    if (o->resume && strcmp(o->input, "-") == 0)
        return usage("--resume needs an input that can be read again, not standard input");
    if (o->resume && strcmp(o->output, "-") == 0)
        return usage("--resume needs an output with a name, not standard output");
    return 0;
}

static int check_pass(const struct options *o) {
    if (!o->pass_axes.count)
        return usage("pass: --axis AXES is missing");
    if (!o->shards)
        return usage("pass: --shard I/N is missing");
    if (o->metric != DISTMAP_METRIC_EUCLIDEAN)
        return usage("pass: --metric must be euclidean or squared: other metrics are computed in memory only");
    if (strcmp(o->input, "-") == 0 || strcmp(o->output, "-") == 0 || (o->index && strcmp(o->index, "-") == 0))
        return usage("pass: '-' (a pipe) is not supported");
    return 0;
}

/* Each line of this list is one rule. */
int options_check(const struct options *o) {
    if (o->command->bit & (PLANS | TUNE) && o->settings.count && !o->method)
        return usage("--param needs --method: parameters belong to one method");
    if (o->command->bit & (MAPS | PASS)) {
        if (!o->input)
            return usage("%s: the input file is missing; see distmap %s --help", o->command->name, o->command->name);
        if (!o->output)
            return usage("%s: -o OUTPUT is missing", o->command->name);
        if (o->threshold_given && o->labels)
            return usage("--threshold and --labels contradict each other: a threshold makes a mask of the image");
        if (o->is_signed && o->labels)
            return usage("--signed and --labels contradict each other: labels have no inside and outside");
        if (o->surface_given && !o->is_signed)
            return usage("--surface needs --signed");
        if (o->surface && o->squared)
            return usage("--surface half and --metric squared contradict each other");
        if (o->is_signed && o->metric != DISTMAP_METRIC_EUCLIDEAN)
            return usage("--signed needs --metric euclidean or squared");
        if (o->labels && o->components)
            return usage("--labels and --components contradict each other");
        if (o->threshold_given && o->sites_given && o->sites.rule != DISTMAP_SITES_ZERO &&
            o->sites.rule != DISTMAP_SITES_NONZERO)
            return usage("--threshold needs --sites zero (below T) or nonzero (all else), not another rule");
        if (o->sites_given && o->sites.rule == DISTMAP_SITES_NONE && !(o->labels && o->command->bit & (EDT | PASS)))
            return usage("--sites none needs edt --labels: it means that no label is background");
        const bool to_stdout = strcmp(o->output, "-") == 0;
        if (to_stdout && o->json)
            return usage("-o - and --json contradict each other: both write to stdout");
        if (o->index && strcmp(o->index, "-") == 0 && (to_stdout || o->json))
            return usage("--index - and %s contradict each other: both write to stdout", o->json ? "--json" : "-o -");
        int status = o->command->bit == ESF        ? check_esf(o)
                     : o->command->bit == SKELETON ? check_skeleton(o)
                     : o->command->bit == MORPH    ? check_morph(o)
                     : o->command->bit == CVT      ? check_cvt(o)
                     : o->command->bit == EDT      ? check_distributed(o)
                     : o->command->bit == PASS     ? check_pass(o)
                                                   : 0;
        status = status || o->command->bit != EDT ? status : check_memory(o);
        return status ? status : sinks_check(o);
    }
    if (o->command->bit == COMPARE)
        return check_compare(o);
    if (o->command->bit == REPORT && !o->output)
        return usage("report: -o OUT.html is missing");
    if (o->command->bit == BENCH && o->quick && !o->suite)
        return usage("--quick needs --suite");
    if (o->command->bit == BENCH && (o->only || o->without) && !o->suite)
        return usage("%s needs --suite", o->only ? "--only" : "--without");
    if (o->suite && (o->sizes.count || o->volumes.count || o->densities.count || o->patterns.count ||
                     o->methods.count || o->settings.count || o->with_index || o->repeat))
        return usage("--suite chooses what is measured: it allows --device, --threads, --seed, --only, --without, --quick and "
                     "-o only");
    if (o->command->bit == INFO && !o->input)
        return usage("info: the file is missing; see distmap info --help");
    return 0;
}
