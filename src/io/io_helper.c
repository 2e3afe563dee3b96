/* The program that the library starts as a child; it is nothing else. */
#include <stdio.h>

#include "distmap/io.h"

int main(int argc, char **argv) {
    distmap_io_own_helper(argc, (const char *const *)argv);
    fprintf(stderr, "distmap-io-helper: is started by libdistmap_io, and does nothing else\n");
    return 2;
}
