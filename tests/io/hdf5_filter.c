/* A filter for HDF5 that is a library of its own: it turns all bits, and asks libhdf5 about the elements, as compressors do. */
#include <H5PLextern.h>

#include "hdf5_filter.h"

/* Called when a dataset is made. */
static herr_t prepare(hid_t made, hid_t type, hid_t space) {
    (void)made, (void)space;
    return H5Tget_size(type) ? 0 : -1;
}

static size_t turn(unsigned flags, size_t count, const unsigned *values, size_t bytes, size_t *room, void **data) {
    (void)flags, (void)count, (void)values, (void)room;
    unsigned major, minor, release;
    if (H5get_libversion(&major, &minor, &release) < 0)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)*data)[i] ^= 255;
    return bytes;
}

static const H5Z_class2_t filter = {
    .version = H5Z_CLASS_T_VERS,
    .id = TEST_FILTER,
    .encoder_present = 1,
    .decoder_present = 1,
    .name = "turned",
    .set_local = prepare,
    .filter = turn,
};

__attribute__((visibility("default"))) H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }
__attribute__((visibility("default"))) const void *H5PLget_plugin_info(void) { return &filter; }
