/* Fuzz target: the nifti reader. See fuzz_read.h. */
#define FORMAT "nifti"
#include "fuzz_read.h"
