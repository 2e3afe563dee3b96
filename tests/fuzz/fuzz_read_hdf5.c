/* Fuzz target: the hdf5 reader. See fuzz_read.h. Beyond what the sanitizers see, nothing that libhdf5 opened for us may stay open.
 *
 * libhdf5 itself forgets memory and crashes on some such files; tools/fuzz.sh tells these from what is ours.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "io/hdf5.h"

#define FORMAT "hdf5"
#define ENDING ".h5"
#define AFTER_EACH check_closed
static void check_closed(void);
#include "fuzz_read.h"

/* Not by a child, in which the fuzzer would see nothing. */
__attribute__((constructor)) static void work_here(void) { dm_hdf5_in_process = true; }

static void check_closed(void) {
    static const H5I_type_t kinds[] = {H5I_FILE,    H5I_GROUP, H5I_DATATYPE,   H5I_DATASPACE,
                                       H5I_DATASET, H5I_ATTR,  H5I_GENPROP_LST};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static hsize_t own[KINDS]; /* of libhdf5, from the beginning */
    static int known;
    for (int k = 0; k < KINDS; k++) {
        hsize_t count = 0; /* before there is anything of a kind, libhdf5 does not know it */
        if (H5Itype_exists(kinds[k]) > 0)
            H5Inmembers(kinds[k], &count);
        if (!known)
            own[k] = count;
        else if (count > own[k]) {
            fprintf(stderr, "of libhdf5's kind %d %d stay open\n", (int)kinds[k], (int)(count - own[k]));
            abort();
        }
    }
    known = 1;
}
