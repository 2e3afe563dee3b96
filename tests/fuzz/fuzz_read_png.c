/* Fuzz target: the png reader. See fuzz_read.h. */
#define FORMAT "png"
#include "fuzz_read.h"
