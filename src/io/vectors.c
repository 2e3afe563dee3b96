/* See vectors.h. The model's matrix is of space alone: a fourth axis of the world is time, on which no space axis may depend. */
#include <math.h>
#include <string.h>

#include "io/vectors.h"

enum { TIME = DM_VECTOR - 1 };

static distmap_status mixed(const dm_input *input, int axis) {
    return dm_unsupported(input, "axis %d leads through space and time at once", axis);
}

distmap_status dm_vectors_take(const dm_input *input, const dm_vectors *vectors, distmap_image_info *info) {
    int column = 0;
    info->world_ndim = vectors->world_ndim < TIME ? vectors->world_ndim : TIME;
    memcpy(info->origin, vectors->origin, sizeof info->origin);
    for (int a = 0; a < info->ndim; a++) {
        const double *vector = vectors->vector[a];
        const bool in_space = info->axis[a].type == DISTMAP_AXIS_SPACE;
        if (in_space && column == 3)
            return dm_unsupported(input, "has a place in space for more than three axes");
        if (!vectors->has[a]) {
            if (in_space)
                return dm_broken(input, "axis %d of space has no direction", a);
            continue;
        }
        const double *part = in_space ? vector : vector + TIME;
        for (int w = 0; w < vectors->world_ndim; w++)
            if ((w == TIME) == in_space && vector[w] != 0)
                return mixed(input, a);
        if (in_space) {
            for (int w = 0; w < info->world_ndim; w++)
                info->matrix[w][column] = vector[w];
            column++;
        }
        if (!info->axis[a].pitch && (in_space || *part > 0))
            info->axis[a].pitch = dm_pitch_of(part, in_space ? info->world_ndim : 1);
        if (!(info->axis[a].pitch > 0 && isfinite(info->axis[a].pitch)))
            return dm_broken(input, "axis %d has no direction, or one of no length", a);
    }
    if (!column)
        info->world_ndim = 0;
    return DISTMAP_OK;
}

double dm_length_in(double length, const char *from, const char *to) {
    const double ratio = distmap_unit_ratio(from, to);
    return ratio > 0 && ratio < 1 ? length / distmap_unit_ratio(to, from) : length * ratio;
}
