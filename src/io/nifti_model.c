/* Turns a NIfTI header into a model, and a model into a header.
 *
 * The file's axes go x, y, z, t, c, ... fastest first: the shape is turned round. Its world is RAS+, told by two matrices:
 *
 *     sform   rows of the matrix itself
 *     qform   R diag(pixdim 1 to 3), R a rotation by a quaternion, its last column negative where pixdim[0] is -1
 *
 * each with a code above 0 for the space that it leads to (1 scanner, 2 aligned, 3 Talairach, 4 MNI, 5 template). The sform is the
 * model's matrix where there is one, else the qform. The header itself goes along as it is, "nifti" "header": a file of this format
 * that is written from it gets both matrices, codes, units and texts again, as long as the model still says the same. Where that
 * is not so, the matrix is written as the sform, and as the qform too if a rotation and the pitches make it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <nifti/nifti1.h>

#include "io/nifti.h"

enum { SCANNER = NIFTI_XFORM_SCANNER_ANAT, LABEL = NIFTI_INTENT_LABEL };
static const double square_enough =
    1e-4; /* cosines between the columns of a qform, and its lengths against the pitches */

/* ---- Quaternions ---- */

static void from_quaternion(const dm_nifti *h, double matrix[3][3]) {
    double b = h->quatern[0], c = h->quatern[1], d = h->quatern[2], a = 1 - (b * b + c * c + d * d);
    if (a < 1e-7) { /* half a turn; roundings may have made them longer than 1 */
        const double length = sqrt(b * b + c * c + d * d);
        a = 0;
        b /= length, c /= length, d /= length;
    } else {
        a = sqrt(a);
    }
    const double r[3][3] = {{a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
                            {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
                            {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - c * c - b * b}};
    for (int w = 0; w < 3; w++)
        for (int i = 0; i < 3; i++)
            matrix[w][i] = r[w][i] * (h->pixdim[i + 1] ? h->pixdim[i + 1] : 1) * (i == 2 && h->pixdim[0] < 0 ? -1 : 1);
}

/* Of a proper rotation: the largest of a, b, c, d is taken as a root, since it is the least rounded. */
static void to_quaternion(const double r[3][3], double quatern[3]) {
    const double four[4] = {1 + r[0][0] + r[1][1] + r[2][2], 1 + r[0][0] - r[1][1] - r[2][2],
                            1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2]};
    int largest = 0;
    for (int i = 1; i < 4; i++)
        largest = four[i] > four[largest] ? i : largest;
    const double root = sqrt(four[largest]) / 2, rest = 1 / (4 * root);
    const double minus[3] = {r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]}; /* 4 a b, 4 a c, 4 a d */
    const double plus[3] = {r[1][2] + r[2][1], r[0][2] + r[2][0], r[0][1] + r[1][0]};  /* 4 c d, 4 b d, 4 b c */
    double q[4];
    for (int i = 0; i < 3; i++)
        q[i + 1] = largest == 0 ? minus[i] * rest : largest == i + 1 ? root : plus[4 - largest - i] * rest;
    const double a = largest == 0 ? root : minus[largest - 1] * rest;
    for (int i = 0; i < 3; i++)
        quatern[i] = a < 0 ? -q[i + 1] : q[i + 1];
}

/* ---- Reading ---- */

/* Three space axes, or fewer, come first in the file; how many dimensions an image has, and which are left out. */
static int take_axes(distmap_image_info *info, const dm_nifti *h) {
    static const char *const names[] = {"", "x", "y", "z", "t", "c", "u", "v"};
    /* Axes past the third that are 1 long are the format's habit, not the image's. */
    int axes = (int)h->dim[0];
    while (axes > 3 && h->dim[axes] == 1)
        axes--;
    info->ndim = axes;
    for (int a = 0; a < axes; a++) {
        distmap_axis *axis = &info->axis[a];
        info->shape[a] = h->dim[axes - a];
        dm_axis_take(axis, names[axes - a]);
        if (axes - a > 5)
            axis->type = DISTMAP_AXIS_OTHER;
    }
    return axes;
}

static void take_units(distmap_image_info *info, const dm_nifti *h) {
    static const char *const lengths[8] = {"", "m", "mm", "um", "", "", "", ""}, *const times[8] = {
                                                                                     "",   "s",   "ms",    "us",
                                                                                     "Hz", "ppm", "rad/s", ""};
    dm_unit_take_space(info, lengths[h->units & 7]);
    for (int a = 0; a < info->ndim; a++)
        if (info->ndim - a == 4) {
            strcpy(info->axis[a].unit, times[h->units >> 3 & 7]);
            if ((h->units >> 3 & 7) > 3) /* a spectrum */
                info->axis[a].type = DISTMAP_AXIS_OTHER;
        }
}

/* Columns in the order of the shape, slowest axis first. */
static void take_world(distmap_image_info *info, const dm_nifti *h) {
    double matrix[3][3];
    const int columns = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    info->world_ndim = h->sform > 0 || h->qform > 0 ? 3 : 0;
    if (!info->world_ndim)
        return;
    info->world = DISTMAP_WORLD_RAS;
    if (h->sform <= 0)
        from_quaternion(h, matrix);
    for (int w = 0; w < 3; w++) {
        for (int s = 0; s < columns; s++)
            info->matrix[w][s] = h->sform > 0 ? h->srow[w][columns - 1 - s] : matrix[w][columns - 1 - s];
        info->origin[w] = h->sform > 0 ? h->srow[w][3] : h->qoffset[w];
    }
}

static bool take_pitches(distmap_image_info *info, const dm_nifti *h, int *wrong) {
    int column = 0;
    for (int a = 0; a < info->ndim; a++) {
        const double pitch = h->pixdim[info->ndim - a];
        const bool in_space = info->axis[a].type == DISTMAP_AXIS_SPACE;
        const int s = in_space ? column++ : -1;
        if (pitch > 0 && isfinite(pitch)) {
            info->axis[a].pitch = pitch;
        } else if (pitch == 0 && (!in_space || info->shape[a] == 1)) {
            continue;
        } else if (pitch == 0 && h->sform > 0) {
            const double vector[3] = {info->matrix[0][s], info->matrix[1][s], info->matrix[2][s]};
            info->axis[a].pitch = dm_pitch_of(vector, 3);
        } else {
            *wrong = info->ndim - a;
            return false;
        }
    }
    return true;
}

static void take_kind(distmap_image_info *info, const dm_nifti *h) {
    info->kind = h->intent == LABEL ? DISTMAP_KIND_LABELS : DISTMAP_KIND_UNKNOWN;
}

distmap_status dm_nifti_take(distmap_reader *reader, const dm_nifti *h) {
    int wrong = 0;
    take_axes(&reader->info, h);
    take_units(&reader->info, h);
    take_world(&reader->info, h);
    if (!take_pitches(&reader->info, h, &wrong))
        return dm_broken(&reader->input, "its pixdim[%d] is %g; a pitch is finite and above 0", wrong,
                         h->pixdim[wrong]);
    take_kind(&reader->info, h);
    return DISTMAP_OK;
}

/* ---- Writing ---- */

/* Places in the file of the image's axes: in dim[], from 1 on. Axes of space come first, then time, channels, others. */
static bool place_axes(const distmap_image_info *info, int place[DISTMAP_MAX_AXES]) {
    int next = 1;
    bool is_other = false;
    if (!dm_axes_follow(info, "ooctzyx"))
        return false;
    for (int a = info->ndim - 1; a >= 0; a--) {
        const distmap_axis_type type = info->axis[a].type;
        const bool spectrum =
            type == DISTMAP_AXIS_OTHER && next <= 4 && !is_other && strcmp(info->axis[a].unit, "Hz") == 0;
        const int least = type == DISTMAP_AXIS_SPACE              ? 1
                          : type == DISTMAP_AXIS_TIME || spectrum ? 4
                          : type == DISTMAP_AXIS_CHANNEL          ? 5
                                                                  : 6;
        is_other |= type == DISTMAP_AXIS_OTHER;
        place[a] = next > least ? next : least;
        next = place[a] + 1;
    }
    return next <= 8;
}

/* The unit of space that NIfTI has, and how many of it the model's is. */
static int space_unit(const char *unit, double *ratio) {
    static const struct {
        const char *name;
        int code;
    } known[] = {{"mm", NIFTI_UNITS_MM}, {"um", NIFTI_UNITS_MICRON}, {"m", NIFTI_UNITS_METER}};
    *ratio = 1;
    for (int k = 0; k < 3; k++)
        if (!strcmp(unit, known[k].name))
            return known[k].code;
    const int k = !strcmp(unit, "nm") || !strcmp(unit, "pm") || !strcmp(unit, "angstrom") ? 1 : 0;
    *ratio = distmap_unit_ratio(unit, known[k].name);
    if (*ratio > 0)
        return known[k].code;
    *ratio = 1;
    return NIFTI_UNITS_UNKNOWN;
}

static int time_unit(const char *unit) {
    static const char *const times[8] = {"", "s", "ms", "us", "Hz", "ppm", "rad/s", ""};
    for (int t = 1; t < 7; t++)
        if (!strcmp(unit, times[t]))
            return t << 3;
    return 0;
}

/* Columns x, y, z of the matrix; a missing one stands upright on the others and is 1 long. */
static void file_matrix(const distmap_image_info *info, double ratio, double m[3][4]) {
    const int columns = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    memset(m, 0, 12 * sizeof(double));
    for (int w = 0; w < info->world_ndim; w++) {
        for (int s = 0; s < columns; s++)
            m[w][columns - 1 - s] = info->matrix[w][s] * ratio;
        m[w][3] = info->origin[w] * ratio;
    }
    for (int i = columns; i < 3; i++) {
        double best = 0;
        for (int w = 0; w < 3; w++) { /* what of the world's axis w is in no other column */
            double v[3] = {w == 0, w == 1, w == 2}, length = 0;
            for (int j = 0; j < i; j++) {
                double dot = 0, square = 0;
                for (int k = 0; k < 3; k++) {
                    dot += v[k] * m[k][j];
                    square += m[k][j] * m[k][j];
                }
                for (int k = 0; k < 3; k++)
                    v[k] -= dot / square * m[k][j];
            }
            for (int k = 0; k < 3; k++)
                length = hypot(length, v[k]);
            for (int k = 0; k < 3 && length > best + square_enough; k++)
                m[k][i] = v[k] / length;
            best = length > best + square_enough ? length : best;
        }
    }
}

/* Whether the matrix is a rotation times the pitches: then it is the qform. */
static bool fill_qform(dm_nifti *h, const double m[3][4]) {
    double r[3][3];
    for (int i = 0; i < 3; i++) {
        const double length = hypot(hypot(m[0][i], m[1][i]), m[2][i]);
        if (!(fabs(length - h->pixdim[i + 1]) <= square_enough * h->pixdim[i + 1]))
            return false;
        for (int w = 0; w < 3; w++)
            r[w][i] = m[w][i] / length;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (fabs(r[0][i] * r[0][j] + r[1][i] * r[1][j] + r[2][i] * r[2][j]) > square_enough)
            return false;
    }
    const double turn = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                        r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                        r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    h->pixdim[0] = turn < 0 ? -1 : 1;
    for (int w = 0; w < 3; w++)
        r[w][2] *= h->pixdim[0];
    to_quaternion(r, h->quatern);
    for (int w = 0; w < 3; w++)
        h->qoffset[w] = m[w][3];
    return true;
}

static void fill_world(dm_nifti *h, const distmap_image_info *info, double ratio, int code) {
    double m[3][4];
    file_matrix(info, ratio, m);
    h->sform = code;
    memcpy(h->srow, m, sizeof m);
    h->qform = fill_qform(h, m) ? code : 0;
}

/* Whether the header that the image came with says what the model says. */
static bool agrees(const distmap_image_info *info, const dm_nifti *was) {
    distmap_image_info old = {.ndim = info->ndim};
    memcpy(old.axis, info->axis, sizeof old.axis);
    take_world(&old, was);
    if (old.world_ndim != info->world_ndim || old.world != info->world)
        return false;
    const int columns = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    for (int w = 0; w < old.world_ndim; w++) {
        bool same = old.origin[w] == info->origin[w];
        for (int s = 0; s < columns; s++)
            same &= old.matrix[w][s] == info->matrix[w][s];
        if (!same)
            return false;
    }
    return true;
}

/* Texts, and what only means something beside the same axes. */
static void follow(dm_nifti *h, const distmap_image_info *info, const dm_nifti *was) {
    memcpy(h->descrip, was->descrip, sizeof h->descrip);
    memcpy(h->aux_file, was->aux_file, sizeof h->aux_file);
    h->dim_info = was->dim_info;
    if (h->dim[0] < 4) /* of a time that there is not */
        h->units |= was->units & 0x38;
    for (int i = (int)h->dim[0] + 1; i < 8; i++)
        h->pixdim[i] = was->pixdim[i];
    if (info->ndim >= 4) {
        h->toffset = was->toffset;
        h->slice_duration = was->slice_duration;
        h->slice_start = was->slice_start, h->slice_end = was->slice_end, h->slice_code = was->slice_code;
    }
    if (info->kind == (was->intent == LABEL ? DISTMAP_KIND_LABELS : DISTMAP_KIND_UNKNOWN)) {
        h->intent = was->intent;
        memcpy(h->intent_p, was->intent_p, sizeof h->intent_p);
        memcpy(h->intent_name, was->intent_name, sizeof h->intent_name);
    }
}

static void follow_world(dm_nifti *h, const dm_nifti *was) {
    h->qform = was->qform, h->sform = was->sform;
    memcpy(h->quatern, was->quatern, sizeof h->quatern);
    memcpy(h->qoffset, was->qoffset, sizeof h->qoffset);
    memcpy(h->srow, was->srow, sizeof h->srow);
    h->pixdim[0] = was->pixdim[0];
}

distmap_status dm_nifti_fill(const distmap_writer *writer, dm_nifti *h) {
    distmap_image_info info = writer->info;
    int place[DISTMAP_MAX_AXES];
    double ratio;
    dm_nifti was;
    *h = (dm_nifti){.dim = {1, 1, 1, 1, 1, 1, 1, 1}, .pixdim = {1, 1, 1, 1, 1, 1, 1, 1}};
    if (!place_axes(&info, place))
        return dm_axes_refused(writer, "(others) c t z y x");
    const distmap_native *native = dm_native_find(&info, "nifti", "header");
    const bool comes_with = native && dm_nifti_reread(native->data, native->bytes, &was);
    h->units = space_unit(distmap_image_unit(&info), &ratio);
    for (int a = 0; a < info.ndim; a++) {
        const bool in_space = info.axis[a].type == DISTMAP_AXIS_SPACE;
        const double own =
            in_space && *info.axis[a].unit ? distmap_unit_ratio(info.axis[a].unit, distmap_image_unit(&info)) : 1;
        h->dim[place[a]] = info.shape[a];
        h->pixdim[place[a]] = distmap_image_pitch(&info, a) * (in_space ? ratio * (own > 0 ? own : 1) : 1);
        h->units |= place[a] == 4 ? time_unit(info.axis[a].unit) : 0;
        h->dim[0] = place[a] > h->dim[0] ? place[a] : h->dim[0];
    }
    snprintf(h->descrip, sizeof h->descrip, "distmap %s", distmap_version());
    h->intent = info.kind == DISTMAP_KIND_LABELS ? LABEL : 0;
    if (comes_with) {
        h->version = was.version;
        follow(h, &info, &was);
    }
    if (comes_with && ratio == 1 && agrees(&info, &was))
        follow_world(h, &was);
    else if (distmap_image_turn(&info, DISTMAP_WORLD_RAS))
        fill_world(h, &info, ratio,
                   !comes_with     ? SCANNER
                   : was.sform > 0 ? was.sform
                   : was.qform > 0 ? was.qform
                                   : SCANNER);
    return DISTMAP_OK;
}
