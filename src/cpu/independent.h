/* Before plain loops that compilers are to make vectors of: no value that a turn reads was written by an earlier one. */
#ifndef DISTMAP_CPU_INDEPENDENT_H
#define DISTMAP_CPU_INDEPENDENT_H

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif
