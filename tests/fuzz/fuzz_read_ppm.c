/* Fuzz target: the ppm reader. See fuzz_read.h. */
#define FORMAT "ppm"
#include "fuzz_read.h"
