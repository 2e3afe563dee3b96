/* What HDF5's types and attributes mean here.
 *
 * Elements: integers of 1, 2, 4 and 8 bytes and floats, of any byte order; bool as h5py keeps it, an enumeration FALSE = 0,
 * TRUE = 1 over int8. Spacing: `element_size_um` as ilastik and Fiji write it, else our own `spacing` and `unit`.
 */
#include <math.h>
#include <string.h>

#include "io/convert.h"
#include "io/hdf5.h"

/* ---- Elements ---- */

static hid_t native(distmap_dtype dtype) {
    switch (dtype) {
    case DISTMAP_BOOL:
    case DISTMAP_INT8: return H5T_NATIVE_INT8;
    case DISTMAP_UINT8: return H5T_NATIVE_UINT8;
    case DISTMAP_INT16: return H5T_NATIVE_INT16;
    case DISTMAP_UINT16: return H5T_NATIVE_UINT16;
    case DISTMAP_INT32: return H5T_NATIVE_INT32;
    case DISTMAP_UINT32: return H5T_NATIVE_UINT32;
    case DISTMAP_INT64: return H5T_NATIVE_INT64;
    case DISTMAP_UINT64: return H5T_NATIVE_UINT64;
    case DISTMAP_FLOAT32: return H5T_NATIVE_FLOAT;
    case DISTMAP_FLOAT64: return H5T_NATIVE_DOUBLE;
    default: return -1;
    }
}

hid_t dm_hdf5_type(distmap_dtype dtype) {
    if (dtype != DISTMAP_BOOL)
        return H5Tcopy(native(dtype));
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    const int8_t values[] = {0, 1};
    H5Tenum_insert(type, "FALSE", &values[0]);
    H5Tenum_insert(type, "TRUE", &values[1]);
    return type;
}

static distmap_dtype integer_dtype(hid_t type) {
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    switch (H5Tget_size(type)) {
    case 1: return is_signed ? DISTMAP_INT8 : DISTMAP_UINT8;
    case 2: return is_signed ? DISTMAP_INT16 : DISTMAP_UINT16;
    case 4: return is_signed ? DISTMAP_INT32 : DISTMAP_UINT32;
    case 8: return is_signed ? DISTMAP_INT64 : DISTMAP_UINT64;
    default: return DISTMAP_NONE;
    }
}

static bool is_bool(hid_t type) {
    const hid_t same = dm_hdf5_type(DISTMAP_BOOL);
    const bool is = H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 && H5Tequal(type, same) > 0;
    H5Tclose(same);
    return is;
}

distmap_dtype dm_hdf5_dtype(hid_t stored, hid_t *type) {
    distmap_dtype dtype = DISTMAP_NONE;
    *type = -1;
    if (H5Tget_class(stored) == H5T_INTEGER)
        dtype = integer_dtype(stored);
    else if (H5Tget_class(stored) == H5T_FLOAT)
        dtype = H5Tget_size(stored) <= 4 ? DISTMAP_FLOAT32 : H5Tget_size(stored) == 8 ? DISTMAP_FLOAT64 : DISTMAP_NONE;
    else if (H5Tget_class(stored) == H5T_ENUM) {
        const hid_t base = H5Tget_super(stored);
        dtype = is_bool(stored) ? DISTMAP_BOOL : integer_dtype(base);
        H5Tclose(base);
    }
    if (dtype)
        *type = dm_hdf5_type(dtype);
    return dtype;
}

/* ---- Spacing ---- */

static const char microns[] = "element_size_um";

/* Whether there are so many numbers of that name. */
static bool read_numbers(hid_t dataset, const char *name, int count, double *values) {
    if (H5Aexists(dataset, name) <= 0)
        return false;
    const hid_t attribute = H5Aopen(dataset, name, H5P_DEFAULT), space = H5Aget_space(attribute),
                stored = H5Aget_type(attribute);
    const bool single = H5Tget_class(stored) == H5T_FLOAT && H5Tget_size(stored) <= sizeof(float);
    const bool good =
        H5Sget_simple_extent_npoints(space) == count && H5Aread(attribute, H5T_NATIVE_DOUBLE, values) >= 0;
    for (int a = 0; good && single && a < count; a++)
        values[a] = dm_from_float((float)values[a]);
    H5Tclose(stored);
    H5Sclose(space);
    H5Aclose(attribute);
    return good;
}

static void read_unit(hid_t dataset, distmap_image_info *info) {
    if (H5Aexists(dataset, "unit") <= 0)
        return;
    const hid_t attribute = H5Aopen(dataset, "unit", H5P_DEFAULT);
    const hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const bool is_text = H5Tget_class(stored) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1;
    char fixed[64] = "", *text = NULL;
    if (is_text && H5Tis_variable_str(stored) > 0) {
        if (H5Aread(attribute, stored, &text) >= 0 && text)
            dm_unit_take_space(info, text);
        H5free_memory(text);
    } else if (is_text && H5Tget_size(stored) < sizeof fixed && H5Aread(attribute, stored, fixed) >= 0) {
        dm_unit_take_space(info, fixed);
    }
    H5Sclose(space);
    H5Tclose(stored);
    H5Aclose(attribute);
}

distmap_status dm_hdf5_spacing_read(distmap_reader *reader, hid_t dataset) {
    distmap_image_info *info = &reader->info;
    double pitches[DISTMAP_MAX_AXES];
    const bool in_microns = read_numbers(dataset, microns, info->ndim, pitches);
    if (in_microns)
        dm_unit_take_space(info, "um");
    else if (read_numbers(dataset, "spacing", info->ndim, pitches))
        read_unit(dataset, info);
    else
        return DISTMAP_OK;
    for (int a = 0; a < info->ndim; a++)
        TRY(dm_pitch_take(reader, a, pitches[a], in_microns ? microns : "spacing"));
    return DISTMAP_OK;
}

static bool put(hid_t dataset, const char *name, hid_t type, hid_t space, const void *value) {
    const hid_t attribute = H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    return attribute >= 0 && H5Aclose(attribute) >= 0 && good;
}

bool dm_hdf5_spacing_write(hid_t dataset, const distmap_image_info *info) {
    const char *unit = distmap_image_unit(info);
    const bool in_microns = strcmp(unit, "um") == 0;
    const hsize_t axes = (hsize_t)info->ndim;
    double pitches[DISTMAP_MAX_AXES];
    bool told = *unit;
    for (int a = 0; a < info->ndim; a++) {
        pitches[a] = distmap_image_pitch(info, a);
        told |= info->axis[a].pitch > 0;
    }
    if (!told)
        return true;
    const hid_t row = H5Screate_simple(1, &axes, NULL), one = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tset_cset(text, H5T_CSET_UTF8);
    bool good = put(dataset, in_microns ? microns : "spacing", H5T_NATIVE_DOUBLE, row, pitches);
    if (*unit && !in_microns)
        good = good && put(dataset, "unit", text, one, &unit);
    H5Tclose(text);
    H5Sclose(one);
    H5Sclose(row);
    return good;
}
