/* Fuzz target: the npy reader. See fuzz_read.h. */
#define FORMAT "npy"
#include "fuzz_read.h"
