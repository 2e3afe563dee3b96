/* The codec table, in the order of src/io/CMakeLists.txt, and nothing else: the child that reads HDF5 has an empty one (io_helper.c), so
 * that it is linked with no other format's library. */
#include "io/codec.h"

#define CODEC(NAME) &dm_codec_##NAME,
const dm_codec *const dm_codecs[] = {DM_CODECS NULL};
