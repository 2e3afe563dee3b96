/* Fuzz target: the metaimage reader. See fuzz_read.h. */
#define FORMAT "metaimage"
#include "fuzz_read.h"
