/* Fuzz target: the nrrd reader. See fuzz_read.h. */
#define FORMAT "nrrd"
#include "fuzz_read.h"
