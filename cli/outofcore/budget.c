/* How many slabs: so many that what the passes hold at the same time stays within --memory.
 *
 * With E elements in a slab, and two slots for what comes in and what goes out, the first pass holds 2 E times the bytes of an
 * element of the input and of what it gives, and the plan's scratch, which the library states; the second one the same of panels.
 * Smaller slabs than that cost nothing as long as the pieces are large, and let the stages overlap: of N slabs the first is read,
 * and the last written, with nothing beside it.
 */
#include <stdio.h>
#include <string.h>

#include "outofcore.h"

/* Beside the buffers that are counted: the process with its libraries and threads, and what formats hold, such as strips and rows
 * of chunks to be written. Measured would be less, but not the same in each run, and with it the number of slabs. */
enum { OVERHEAD_BYTES = 32 << 20, WANTED_PARTS = 24, SMALL_RUN = 4096 };

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

static void lay_out(struct outofcore *o, int parts) {
    dms_layout_make(&o->job->problem, parts, &o->layout);
    o->layout.panels = 1;
    o->layout.width = dms_share(o->layout.shape[o->layout.cut], parts, 0).count;
    o->line = o->slice / o->layout.shape[o->layout.cut];
}

/* Bytes that the passes hold at most, in that many parts; negative when the library refuses, and says why. */
static double need(struct outofcore *o, int parts) {
    const distmap_plan_options how = {.host_views = true};
    const distmap_problem *p = &o->job->problem;
    lay_out(o, parts);
    const int64_t count = dms_share(o->layout.shape[0], parts, 0).count;
    const double slab = (double)count * (double)o->slice;
    const double given = (double)distmap_dtype_size(p->dtype);
    const double index = (double)distmap_dtype_size(p->want.index);
    const double map = (double)(distmap_dtype_size(p->want.distance) + distmap_dtype_size(p->want.squared));
    const distmap_problem slices = pass_slices(o, count);
    size_t scratch;
    if (distmap_scratch_bytes(o->job->work.context, &slices, &how, &scratch))
        return -1;
    const double out = o->one_pass ? map : (double)distmap_dtype_size(o->samples);
    const double first = PIPELINE_SLOTS * slab * (given + out + index) + (double)scratch;
    if (o->one_pass)
        return first;
    const double panel = (double)o->layout.shape[0] * (double)o->line * (double)o->layout.width;
    const size_t lines = dms_lines_estimate(o->job->work.context, &o->normal, &o->layout, o->layout.width, o->samples);
    if (!lines)
        return -1;
    const double second = PIPELINE_SLOTS * panel * (double)dms_lines_bytes(p, o->samples) + (double)lines;
    const double third = 2 * PIPELINE_SLOTS * slab * (map > index ? map : index);
    const double most = first > second ? first : second;
    return most > third ? most : third;
}

bool budget_runs_are_long(const struct outofcore *o) {
    const struct dms_layout *l = &o->layout;
    int64_t run = l->width * (int64_t)distmap_dtype_size(o->samples);
    for (int a = l->cut + 1; a < l->ndim; a++)
        run *= l->shape[a];
    return o->one_pass || run >= SMALL_RUN;
}

int budget_choose(struct outofcore *o) {
    const int64_t *shape = o->normal.shape;
    int64_t most = shape[0];
    for (int a = 1; a < o->normal.ndim && !o->one_pass; a++)
        most = shape[a] > most ? shape[a] : most;
    const double taken = (double)o->job->source.info->held_bytes + OVERHEAD_BYTES;
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
    lay_out(o, (int)low);
    while (low < WANTED_PARTS && low < most && budget_runs_are_long(o))
        lay_out(o, (int)++low);
    if (low > least_parts && !budget_runs_are_long(o))
        lay_out(o, (int)--low);
    return 0;
}
