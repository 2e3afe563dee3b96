/* Fuzz target: the jpeg reader. See fuzz_read.h. */
#define FORMAT "jpeg"
#include "fuzz_read.h"
