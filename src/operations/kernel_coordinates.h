/* skeleton/cpu's kernels for one type of coordinates. A template: define T, and NAME(x), a name of its own for it. */
#define I int32_t
#define SPLIT NAME(split_32)
#include "operations/kernel_split.h"
#undef I
#undef SPLIT
#define I int64_t
#define SPLIT NAME(split_64)
#include "operations/kernel_split.h"
#undef I
#undef SPLIT

#include "operations/kernel_filter.h"
