/* How many slabs: so many that what the passes hold at the same time stays within --memory.
 *
 * With E elements in a slab, and two slots for what comes in and what goes out, the first pass holds 2 E times the bytes of an
 * element of the input and of what it gives, and the plan's scratch, which the library states; the second one the same of panels.
 * Smaller slabs than that cost nothing as long as the pieces are large, and let the stages overlap: of N slabs the first is read,
 * and the last written, with nothing beside it. Windows are best while they fit a cache, since what is computed is copied to the
 * system's cache next: about 2^21 elements, but a block of 64 rows for each thread.
 *
 * A slab that begins within a row of the input's chunks unpacks them once more. So slabs are whole rows of chunks where memory allows it,
 * and there are no more slabs than rows.
 */
#include <stdio.h>
#include <string.h>

#include "outofcore.h"

enum { WANTED_PARTS = 24, SMALL_RUN = 4096, BLOCK_ROWS = 64, WINDOW = 1 << 21 };

int64_t memory_peak(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = 0;
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %lld", &kib);
    if (file)
        fclose(file);
    return kib * 1024;
}

/* Bytes that the passes hold at most, in that many parts; negative when the library refuses, and says why. */
static double need(struct outofcore *o, int parts) {
    struct steps *s = &o->steps;
    const distmap_outputs *want = &s->normal.want;
    steps_lay_out(s, parts);
    const int64_t count = steps_slab_at(s, 0).count;
    double first = steps_slab_bytes(s, count);
    first += first < 0 ? 0 : ignored_bytes(o, count, false);
    if (first >= 0 && s->windows) {
        double survey = windows_survey_bytes(o, count);
        survey += survey < 0 ? 0 : ignored_bytes(o, count, false);
        return survey < 0 || survey > first ? survey : first;
    }
    if (first < 0 || s->one_pass)
        return first;
    const double second = steps_panel_bytes(s, s->layout.width);
    if (second < 0)
        return -1;
    const double index = (double)distmap_dtype_size(want->index);
    const double map = (double)(distmap_dtype_size(want->distance) + distmap_dtype_size(want->squared));
    const double third = 2 * PIPELINE_SLOTS * (double)count * (double)s->slice * (map > index ? map : index) +
                         ignored_bytes(o, count, true);
    const double most = first > second ? first : second;
    return most > third ? most : third;
}

bool budget_runs_are_long(const struct outofcore *o) {
    const struct dms_layout *l = &o->steps.layout;
    int64_t run = l->width * (int64_t)distmap_dtype_size(o->steps.samples);
    for (int a = l->cut + 1; a < l->ndim; a++)
        run *= l->shape[a];
    return o->steps.one_pass || run >= SMALL_RUN;
}

static int64_t wanted_parts(const struct outofcore *o) {
    const int64_t blocks = (int64_t)distmap_context_threads(o->job->work.context) * BLOCK_ROWS;
    const int64_t few = (WINDOW + o->steps.slice - 1) / o->steps.slice, rows = few > blocks ? few : blocks;
    const int64_t parts = o->steps.windows ? (o->steps.layout.shape[0] + rows - 1) / rows : 0;
    if (!o->steps.windows && o->steps.grain > 1)
        return steps_units(&o->steps) < WANTED_PARTS ? steps_units(&o->steps) : WANTED_PARTS;
    return parts > WANTED_PARTS ? parts : WANTED_PARTS;
}

int budget_choose(struct outofcore *o) {
    const int64_t *shape = o->steps.normal.shape;
    int64_t most = shape[0];
    for (int a = 1; a < o->steps.normal.ndim && !o->steps.one_pass; a++)
        most = shape[a] > most ? shape[a] : most;
    const double taken = (double)o->job->source.info->held_bytes + STEPS_OVERHEAD;
    const double room = (double)o->options->memory - taken;
    /* The least number that fits is in here, if any does. */
    int64_t low = 1, high = most > INT32_MAX ? INT32_MAX : most;
    const double least = need(o, (int)high);
    if (least < 0)
        return fail_library();
    if (least > room)
        return fail("--memory: %lld MiB are too little for %s: %.0f MiB are needed",
                    (long long)(o->options->memory >> 20), o->options->input, (least + taken) / 0x1p20 + 1);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (need(o, (int)middle) <= room)
            high = middle;
        else
            low = middle + 1;
    }
    const int64_t least_parts = low;
    steps_lay_out(&o->steps, (int)low);
    while (low < wanted_parts(o) && low < most && budget_runs_are_long(o))
        steps_lay_out(&o->steps, (int)++low);
    if (low > least_parts && !budget_runs_are_long(o))
        steps_lay_out(&o->steps, (int)--low);
    return 0;
}
