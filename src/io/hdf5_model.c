/* What a dataset's attributes say of the image. HDF5 has none of its own, but for the labels of dimensions; these are usual:
 *
 *     DIMENSION_LABELS        names of the axes, as libhdf5's dimension scales and h5py's dims[].label keep them
 *     element_size_um         pitches in micrometres, as ilastik and Fiji write them
 *     resolution, offset      pitches, and the world's place of the first element, as CREMI's and N5's files have them
 *     spacing                 pitches, our own
 *     unit, units             of the last two; N5 has one for each axis
 *
 * Numbers are of all axes, or of the space axes alone.
 */
#include <math.h>
#include <string.h>

#include "io/convert.h"
#include "io/hdf5.h"

static const char microns[] = "element_size_um", labels[] = "DIMENSION_LABELS";

/* How many numbers of that name there are, 0 if they are none of the axes or of those of space. */
static int read_numbers(hid_t dataset, const char *name, const distmap_image_info *info, double *values) {
    if (H5Aexists(dataset, name) <= 0)
        return 0;
    const int in_space = dm_space_axes(info, (int[DISTMAP_MAX_AXES]){0});
    const hid_t attribute = H5Aopen(dataset, name, H5P_DEFAULT), space = H5Aget_space(attribute),
                stored = H5Aget_type(attribute);
    const bool single = H5Tget_class(stored) == H5T_FLOAT && H5Tget_size(stored) <= sizeof(float);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    int count = points == info->ndim || points == in_space ? (int)points : 0;
    if (count && H5Aread(attribute, H5T_NATIVE_DOUBLE, values) < 0)
        count = 0;
    for (int a = 0; single && a < count; a++)
        values[a] = dm_from_float((float)values[a]);
    H5Tclose(stored);
    H5Sclose(space);
    H5Aclose(attribute);
    return count;
}

/* One text, or one for each axis. Whether there is that. */
static bool read_texts(hid_t dataset, const char *name, int ndim, void (*take)(void *user, int i, const char *text),
                       void *user) {
    if (H5Aexists(dataset, name) <= 0)
        return false;
    const hid_t attribute = H5Aopen(dataset, name, H5P_DEFAULT), space = H5Aget_space(attribute),
                stored = H5Aget_type(attribute);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(stored);
    bool good = H5Tget_class(stored) == H5T_STRING && (count == 1 || count == ndim);
    char fixed[DISTMAP_MAX_AXES * 64], text[65], *many[DISTMAP_MAX_AXES] = {0};
    if (good && H5Tis_variable_str(stored) > 0) {
        good = H5Aread(attribute, stored, many) >= 0;
        for (int i = 0; good && i < count; i++) {
            take(user, i, many[i] ? many[i] : "");
            H5free_memory(many[i]);
        }
    } else if ((good = good && size <= 64 && H5Aread(attribute, stored, fixed) >= 0)) {
        for (int i = 0; i < count; i++) {
            memcpy(text, fixed + (size_t)i * size, size);
            text[size] = '\0';
            take(user, i, text);
        }
    }
    H5Tclose(stored);
    H5Sclose(space);
    H5Aclose(attribute);
    return good;
}

static void take_name(void *user, int i, const char *text) {
    distmap_image_info *info = user;
    if (*text)
        dm_axis_take(&info->axis[i], text);
}

/* The first one is of all of space, unless there are others. */
static void take_unit(void *user, int i, const char *text) {
    distmap_image_info *info = user;
    if (i == 0)
        dm_unit_take_space(info, text);
    if (i > 0 || info->axis[0].type != DISTMAP_AXIS_SPACE)
        dm_unit_take(info->axis[i].unit, text);
}

static void take_offset(distmap_image_info *info, hid_t dataset) {
    int axes[DISTMAP_MAX_AXES];
    const int columns = dm_space_axes(info, axes);
    double offset[DISTMAP_MAX_AXES];
    const int count = read_numbers(dataset, "offset", info, offset);
    if (!count || columns > 3)
        return;
    info->world_ndim = columns;
    for (int s = 0; s < columns; s++) { /* the last axis is x */
        info->matrix[columns - 1 - s][s] = distmap_image_pitch(info, axes[s]);
        info->origin[columns - 1 - s] = offset[count == columns ? s : axes[s]];
    }
}

distmap_status dm_hdf5_model_read(distmap_reader *reader, hid_t dataset) {
    static const char *const names[] = {microns, "resolution", "spacing"};
    distmap_image_info *info = &reader->info;
    double pitches[DISTMAP_MAX_AXES];
    int axes[DISTMAP_MAX_AXES], count = 0, row = 0;
    read_texts(dataset, labels, info->ndim, take_name, info);
    while (row < 3 && !(count = read_numbers(dataset, names[row], info, pitches)))
        row++;
    if (row == 3)
        return DISTMAP_OK;
    const int columns = dm_space_axes(info, axes);
    for (int i = 0; i < count; i++)
        TRY(dm_pitch_take(reader, count == columns ? axes[i] : i, pitches[i], names[row]));
    if (row == 0)
        dm_unit_take_space(info, "um");
    else if (!read_texts(dataset, "unit", info->ndim, take_unit, info))
        read_texts(dataset, "units", info->ndim, take_unit, info);
    take_offset(info, dataset);
    return DISTMAP_OK;
}

/* ---- Writing ---- */

static bool put(hid_t dataset, const char *name, hid_t type, int count, const void *values) {
    const hsize_t length = (hsize_t)count;
    const hid_t space = count ? H5Screate_simple(1, &length, NULL) : H5Screate(H5S_SCALAR),
                attribute = H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    H5Sclose(space);
    return attribute >= 0 && H5Aclose(attribute) >= 0 && good;
}

/* Of an image that lies along the world's axes, with the columns of its pitches. */
static bool has_offset(const distmap_image_info *info, double offset[3]) {
    int axes[DISTMAP_MAX_AXES];
    const int columns = dm_space_axes(info, axes);
    if (info->world_ndim != columns || info->world != DISTMAP_WORLD_UNKNOWN)
        return false;
    for (int s = 0; s < columns; s++) {
        for (int w = 0; w < columns; w++)
            if (info->matrix[w][s] != (w == columns - 1 - s ? distmap_image_pitch(info, axes[s]) : 0))
                return false;
        offset[s] = info->origin[columns - 1 - s];
    }
    return true;
}

bool dm_hdf5_model_write(hid_t dataset, const distmap_image_info *info) {
    const char *unit = distmap_image_unit(info), *names[DISTMAP_MAX_AXES];
    distmap_image_info plain = {.ndim = info->ndim};
    double pitches[DISTMAP_MAX_AXES], offset[3];
    bool named = false, told = *unit, good;
    const hid_t text = H5Tcopy(H5T_C_S1);
    good = H5Tset_size(text, H5T_VARIABLE) >= 0 && H5Tset_cset(text, H5T_CSET_UTF8) >= 0;
    dm_axes_name(&plain);
    for (int a = 0; a < info->ndim; a++) {
        names[a] = info->axis[a].name;
        named |= strcmp(names[a], plain.axis[a].name) != 0;
        pitches[a] = distmap_image_pitch(info, a);
        told |= info->axis[a].pitch > 0;
    }
    if (named)
        good = good && put(dataset, labels, text, info->ndim, names);
    if (told && strcmp(unit, "um") == 0)
        good = good && put(dataset, microns, H5T_NATIVE_DOUBLE, info->ndim, pitches);
    else if (told)
        good = good && put(dataset, "spacing", H5T_NATIVE_DOUBLE, info->ndim, pitches) &&
               (!*unit || put(dataset, "unit", text, 0, &unit));
    if (info->world_ndim && has_offset(info, offset))
        good = good && put(dataset, "offset", H5T_NATIVE_DOUBLE, info->world_ndim, offset);
    H5Tclose(text);
    return good;
}
