/* Fuzz target: the pbm reader. See fuzz_read.h. */
#define FORMAT "pbm"
#include "fuzz_read.h"
