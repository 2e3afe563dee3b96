/* Fuzz target: the tiff reader. See fuzz_read.h. */
#define FORMAT "tiff"
#include "fuzz_read.h"
