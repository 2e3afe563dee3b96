/* The codec table, and nothing else: the child that reads HDF5 has an empty one (io_helper.c), so that it is linked with no other
 * format's library. */
#include "io/codec.h"

const dm_codec *const dm_codecs[] = {
    &dm_codec_npy,  &dm_codec_png,         &dm_codec_tiff,      &dm_codec_jpeg, &dm_codec_pgm,     &dm_codec_pbm,
    &dm_codec_ppm,  &dm_codec_nifti,       &dm_codec_metaimage, &dm_codec_nrrd, &dm_codec_ros_map,
#ifdef DISTMAP_HAVE_HDF5
    &dm_codec_hdf5,
#endif
#ifdef DISTMAP_HAVE_ZARR
    &dm_codec_zarr, &dm_codec_precomputed,
#endif
    NULL,
};
