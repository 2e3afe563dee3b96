/* Fuzz target: the pgm reader. See fuzz_read.h. */
#define FORMAT "pgm"
#include "fuzz_read.h"
