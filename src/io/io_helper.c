/* The program that the library starts as a child; it is nothing else. It has no codecs but the one that it serves, hence none of the
 * other formats' libraries, which would take longer to load than most files to read. */
#include <stdio.h>

#include "io/codec.h"

const dm_codec *const dm_codecs[] = {NULL};

int main(int argc, char **argv) {
    distmap_io_own_helper(argc, (const char *const *)argv);
    fprintf(stderr, "distmap-io-helper: is started by libdistmap_io, and does nothing else\n");
    return 2;
}
