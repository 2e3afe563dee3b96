/* Where an image lies: pitches, the matrix from places of elements to the world, and whether two images lie in the same one.
 *
 * Columns of the matrix belong to the space axes in the order of the shape, rows to the world's x, y, z.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/codec.h"
#include "io/convert.h"

enum { PITCH_DIGITS = 7 };
static const double pitch_tolerance = 1e-6; /* relative */
static const double place_tolerance = 1e-3; /* elements, at a corner: what single precision leaves of them */
static const double least_volume = 1e-6;    /* of the box that unit vectors along the columns span */

double dm_pitch_of(const double *vector, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += vector[i] * vector[i];
    return dm_to_digits(sqrt(sum), PITCH_DIGITS);
}

distmap_status dm_pitch_take(distmap_reader *reader, int axis, double pitch, const char *where) {
    if (!(pitch > 0 && isfinite(pitch)))
        return dm_broken(&reader->input, "its pitch along axis %d is %g, in %s; a pitch is finite and above 0", axis,
                         pitch, where);
    reader->info.axis[axis].pitch = pitch;
    return DISTMAP_OK;
}

double distmap_image_pitch(const distmap_image_info *info, int axis) {
    return info && axis >= 0 && axis < info->ndim && info->axis[axis].pitch > 0 ? info->axis[axis].pitch : 1;
}

/* The matrix's column of an axis; -1: it has none. */
static int column_of(const distmap_image_info *info, int axis) {
    int column = 0;
    for (int a = 0; a < axis; a++)
        column += info->axis[a].type == DISTMAP_AXIS_SPACE;
    return info->axis[axis].type == DISTMAP_AXIS_SPACE && info->world_ndim > 0 ? column : -1;
}

void distmap_image_set_pitch(distmap_image_info *info, int axis, double pitch) {
    if (!info || axis < 0 || axis >= info->ndim)
        return;
    const int column = column_of(info, axis);
    const double stretch = pitch / distmap_image_pitch(info, axis);
    for (int w = 0; column >= 0 && w < info->world_ndim && stretch != 1; w++)
        info->matrix[w][column] *= stretch;
    info->axis[axis].pitch = pitch;
}

bool distmap_image_turn(distmap_image_info *info, distmap_world world) {
    if (!info || !info->world_ndim)
        return false;
    const bool bodies = (info->world == DISTMAP_WORLD_RAS || info->world == DISTMAP_WORLD_LPS) &&
                        (world == DISTMAP_WORLD_RAS || world == DISTMAP_WORLD_LPS);
    if (!bodies || info->world == world)
        return info->world == world;
    for (int w = 0; w < 2; w++) {
        info->origin[w] = 0 - info->origin[w]; /* 0 has no sign */
        for (int s = 0; s < 3; s++)
            info->matrix[w][s] = 0 - info->matrix[w][s];
    }
    info->world = world;
    return true;
}

void dm_image_drop_axis(distmap_image_info *info, int axis, int64_t place) {
    const int column = column_of(info, axis);
    for (int w = 0; column >= 0 && w < info->world_ndim; w++) {
        info->origin[w] += info->matrix[w][column] * (double)place;
        for (int s = column; s < 3; s++)
            info->matrix[w][s] = s < 2 ? info->matrix[w][s + 1] : 0;
    }
    for (int a = axis; a < info->ndim - 1; a++) {
        info->shape[a] = info->shape[a + 1];
        info->axis[a] = info->axis[a + 1];
        info->chunk[a] = info->chunk[a + 1];
        info->shard[a] = info->shard[a + 1];
    }
    info->ndim--;
    info->shape[info->ndim] = info->chunk[info->ndim] = info->shard[info->ndim] = 0;
    info->axis[info->ndim] = (distmap_axis){0};
    if (column >= 0 && dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0}) == 0)
        info->world_ndim = 0;
}

/* ---- Rules ---- */

/* Of unit vectors along the columns: length, area or volume of the box between them. */
static double spread_of(const distmap_image_info *info, int columns) {
    double c[3][3] = {{0}};
    for (int s = 0; s < columns; s++) {
        double length = 0;
        for (int w = 0; w < info->world_ndim; w++)
            length = hypot(length, info->matrix[w][s]);
        if (!(length > 0))
            return 0;
        for (int w = 0; w < info->world_ndim; w++)
            c[s][w] = info->matrix[w][s] / length;
    }
    if (columns == 1)
        return 1;
    const double cross[3] = {c[0][1] * c[1][2] - c[0][2] * c[1][1], c[0][2] * c[1][0] - c[0][0] * c[1][2],
                             c[0][0] * c[1][1] - c[0][1] * c[1][0]};
    return columns == 2 ? hypot(hypot(cross[0], cross[1]), cross[2])
                        : fabs(cross[0] * c[2][0] + cross[1] * c[2][1] + cross[2] * c[2][2]);
}

static bool world_fault(const distmap_image_info *info, char *text, size_t bytes) {
    const int columns = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    if (info->world_ndim < 0 || info->world_ndim > 3 || columns > info->world_ndim)
        return snprintf(text, bytes, "it has %d space axes in a world of %d", columns, info->world_ndim) > 0;
    for (int w = 0; w < info->world_ndim; w++) {
        bool finite = isfinite(info->origin[w]);
        for (int s = 0; s < columns; s++)
            finite &= isfinite(info->matrix[w][s]);
        if (!finite)
            return snprintf(text, bytes, "its place in the world is not finite") > 0;
    }
    if (!(spread_of(info, columns) > least_volume))
        return snprintf(text, bytes, "the matrix of its place in the world is singular") > 0;
    return false;
}

bool dm_image_fault(const distmap_image_info *info, char *text, size_t bytes) {
    for (int a = 0; a < info->ndim; a++) {
        const distmap_axis *axis = &info->axis[a];
        if (!memchr(axis->name, 0, sizeof axis->name) || !memchr(axis->unit, 0, sizeof axis->unit))
            return snprintf(text, bytes, "name and unit of axis %d must end with a zero byte", a) > 0;
        if (!(axis->pitch >= 0 && isfinite(axis->pitch)))
            return snprintf(text, bytes, "the pitch of axis %d (%s) is %g; a pitch is finite and above 0", a,
                            axis->name, axis->pitch) > 0;
        if (axis->type < DISTMAP_AXIS_SPACE || axis->type > DISTMAP_AXIS_OTHER)
            return snprintf(text, bytes, "axis %d (%s) is of no type", a, axis->name) > 0;
        for (int b = 0; b < a; b++)
            if (*axis->name && !strcmp(axis->name, info->axis[b].name))
                return snprintf(text, bytes, "two axes are named %s", axis->name) > 0;
    }
    return info->world_ndim != 0 && world_fault(info, text, bytes);
}

/* ---- The same grid ---- */

struct difference {
    char *text;
    size_t bytes;
};

static bool differ(const struct difference *to, const char *format, ...) DISTMAP_PRINTF(2, 3);
static bool differ(const struct difference *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (to->text)
        vsnprintf(to->text, to->bytes, format, args);
    va_end(args);
    return false;
}

static bool same_shape(const distmap_image_info *a, const distmap_image_info *b, const struct difference *to) {
    if (a->ndim != b->ndim)
        return differ(to, "it has %d axes, not %d", b->ndim, a->ndim);
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] != b->shape[i])
            return differ(to, "%s is %lld long, not %lld", a->axis[i].name, (long long)b->shape[i],
                          (long long)a->shape[i]);
        if (a->axis[i].type != b->axis[i].type)
            return differ(to, "axis %d is %s, not %s: one is of space, one is not", i, b->axis[i].name,
                          a->axis[i].name);
    }
    return true;
}

static bool same_pitch(const distmap_axis *a, const distmap_axis *b, const struct difference *to) {
    if (!(a->pitch > 0 && b->pitch > 0))
        return true;
    const double ratio = *a->unit && *b->unit ? distmap_unit_ratio(b->unit, a->unit) : 1;
    if (ratio > 0 && fabs(b->pitch * ratio - a->pitch) <= pitch_tolerance * a->pitch)
        return true;
    return differ(to, "%s has a pitch of %.9g%s%s, not %.9g%s%s", a->name, b->pitch, *b->unit ? " " : "", b->unit,
                  a->pitch, *a->unit ? " " : "", a->unit);
}

/* At the corners, since what lies between them cannot differ more. */
static bool same_places(const distmap_image_info *a, const distmap_image_info *b, double ratio,
                        const struct difference *to) {
    int axes[DISTMAP_MAX_AXES];
    const int columns = dm_space_axes(a, axes);
    double least = HUGE_VAL;
    for (int s = 0; s < columns; s++) {
        double length = 0;
        for (int w = 0; w < a->world_ndim; w++)
            length = hypot(length, a->matrix[w][s]);
        least = fmin(least, length);
    }
    for (unsigned corner = 0; corner < 1u << columns; corner++) {
        double of_a[3] = {0}, of_b[3] = {0}, apart = 0;
        long long at[3] = {0};
        for (int w = 0; w < a->world_ndim; w++) {
            of_a[w] = a->origin[w];
            of_b[w] = b->origin[w];
            for (int s = 0; s < columns; s++) {
                at[s] = corner >> s & 1 ? a->shape[axes[s]] - 1 : 0;
                of_a[w] += a->matrix[w][s] * (double)at[s];
                of_b[w] += b->matrix[w][s] * (double)at[s];
            }
            of_b[w] *= ratio;
            apart = hypot(apart, of_a[w] - of_b[w]);
        }
        if (apart <= place_tolerance * least)
            continue;
        char place[80] = "";
        for (int s = 0; s < columns; s++)
            snprintf(place + strlen(place), sizeof place - strlen(place), "%s%lld", s ? ", " : "", at[s]);
        return differ(to, "element (%s) lies at (%.9g, %.9g, %.9g), not at (%.9g, %.9g, %.9g)", place, of_b[0], of_b[1],
                      of_b[2], of_a[0], of_a[1], of_a[2]);
    }
    return true;
}

static const char *world_name(distmap_world world) {
    static const char *const names[] = {"unknown", "RAS", "LPS", "projected", "geographic"};
    return names[world];
}

static bool same_world(const distmap_image_info *a, const distmap_image_info *b, const struct difference *to) {
    if (!a->world_ndim || !b->world_ndim)
        return true;
    distmap_image_info turned = {0}; /* as much as every version of the struct has, and turning needs */
    memcpy(&turned, b, offsetof(distmap_image_info, crs));
    distmap_image_turn(&turned, a->world);
    if (turned.world != a->world)
        return differ(to, "its world is %s, not %s", world_name(b->world), world_name(a->world));
    if (a->crs && b->crs && strcmp(a->crs, b->crs) != 0)
        return differ(to, "its coordinate system is %.100s, not %.100s", b->crs, a->crs);
    if (a->world_ndim != b->world_ndim)
        return differ(to, "its world has %d axes, not %d", b->world_ndim, a->world_ndim);
    const char *unit_a = distmap_image_unit(a), *unit_b = distmap_image_unit(b);
    const double ratio = *unit_a && *unit_b ? distmap_unit_ratio(unit_b, unit_a) : 1;
    return ratio > 0 ? same_places(a, &turned, ratio, to) : differ(to, "its unit is %s, not %s", unit_b, unit_a);
}

bool distmap_image_same_grid(const distmap_image_info *a, const distmap_image_info *b, char *text, size_t bytes) {
    const struct difference to = {.text = bytes ? text : NULL, .bytes = bytes};
    if (!a || !b)
        return differ(&to, "there is no image");
    if (!same_shape(a, b, &to))
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (!same_pitch(&a->axis[i], &b->axis[i], &to))
            return false;
    return same_world(a, b, &to);
}
