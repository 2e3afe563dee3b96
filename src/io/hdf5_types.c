/* What HDF5's types mean here: integers of 1, 2, 4 and 8 bytes and floats, of any byte order; bool as h5py keeps it, an
 * enumeration FALSE = 0, TRUE = 1 over int8.
 */
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
