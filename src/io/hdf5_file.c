/* libhdf5 over dm_input, and over the outputs of the caller's process: a file driver of our own, the lock, and the errors' texts.
 *
 * By a driver pipes are read as from other formats, and a full disk is one error of ours: libhdf5 does not stand writes that
 * fail, which leave objects that can neither be written nor closed. So a write always succeeds for it; the caller's process, which
 * does it, knows the first that did not, and drops what follows.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hdf5.h"

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void dm_hdf5_begin(dm_hdf5_call *call) {
    pthread_mutex_lock(&one_at_a_time);
    H5open();
    call->known = H5Eget_auto2(H5E_DEFAULT, &call->print, &call->user) >= 0;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void dm_hdf5_end(dm_hdf5_call *call) {
    H5Eclear2(H5E_DEFAULT);
    if (call->known)
        H5Eset_auto2(H5E_DEFAULT, call->print, call->user);
    pthread_mutex_unlock(&one_at_a_time);
}

static herr_t take_first(unsigned depth, const H5E_error2_t *error, void *user) {
    if (depth == 0 && error->desc)
        snprintf(user, 200, "%s", error->desc);
    return 0;
}

const char *dm_hdf5_why(char text[200]) {
    strcpy(text, "no reason is given");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, text);
    return text;
}

/* ---- The driver ---- */

/* Under the lock. */
static struct {
    const void *ghost;
    haddr_t *at;
} haunted;

void dm_hdf5_haunt(const void *ghost, haddr_t *at) {
    haunted.ghost = ghost;
    haunted.at = at;
}

typedef struct info {
    dm_input *input; /* one of them */
    const dm_hdf5_output *output;
} info;

typedef struct file {
    H5FD_t base; /* libhdf5's; comes first */
    info info;
    haddr_t eoa, eof; /* the end of what is allocated, and of the file */
} file;

static const char *name_of(const info *i) { return i->input ? i->input->name : i->output->name; }

static H5FD_t *on_open(const char *name, unsigned flags, hid_t access, haddr_t most) {
    (void)flags, (void)most;
    const info *given = H5Pget_driver_info(access);
    /* Links to other files come here too, with the same information. */
    file *f = given && !strcmp(name, name_of(given)) ? calloc(1, sizeof *f) : NULL;
    if (!f)
        return NULL;
    f->info = *given;
    f->eof = (haddr_t)(f->info.input ? f->info.input->size : f->info.output->size);
    return &f->base;
}

static herr_t on_close(H5FD_t *base) {
    free(base);
    return 0;
}

static herr_t on_query(const H5FD_t *base, unsigned long *flags) {
    (void)base;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t on_get_eoa(const H5FD_t *base, H5FD_mem_t kind) {
    (void)kind;
    return ((const file *)base)->eoa;
}

static herr_t on_set_eoa(H5FD_t *base, H5FD_mem_t kind, haddr_t end) {
    (void)kind;
    ((file *)base)->eoa = end;
    return 0;
}

static haddr_t on_get_eof(const H5FD_t *base, H5FD_mem_t kind) {
    (void)kind;
    return ((const file *)base)->eof;
}

void (*dm_hdf5_alive)(size_t bytes);

/* What is allocated and not yet written reads as zeros. */
static herr_t on_read(H5FD_t *base, H5FD_mem_t kind, hid_t transfer, haddr_t at, size_t bytes, void *to) {
    (void)kind, (void)transfer;
    const file *f = (file *)base;
    const int64_t got = f->info.input ? dm_read_at(f->info.input->fd, (int64_t)at, to, bytes)
                                      : dm_hdf5_ask(DM_HDF5_READ, (int64_t)at, to, bytes);
    if (got < 0)
        return -1;
    memset((char *)to + got, 0, bytes - (size_t)got);
    if (dm_hdf5_alive)
        dm_hdf5_alive(bytes);
    return 0;
}

static herr_t on_write(H5FD_t *base, H5FD_mem_t kind, hid_t transfer, haddr_t at, size_t bytes, const void *from) {
    (void)kind, (void)transfer;
    file *f = (file *)base;
    if (!f->info.output)
        return -1;
    if (haunted.ghost && from == haunted.ghost)
        *haunted.at = at;
    else
        dm_hdf5_ask(DM_HDF5_WRITE, (int64_t)at, (void *)from, bytes);
    if (at + bytes > f->eof)
        f->eof = at + bytes;
    return 0;
}

/* A file that is shorter than what is allocated in it counts as truncated when it is read. */
static herr_t on_truncate(H5FD_t *base, hid_t transfer, hbool_t closing) {
    (void)transfer, (void)closing;
    file *f = (file *)base;
    if (f->eoa == f->eof || !f->info.output)
        return 0;
    dm_hdf5_ask(DM_HDF5_CUT, (int64_t)f->eoa, NULL, 0);
    f->eof = f->eoa;
    return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 2)
    .version = H5FD_CLASS_VERSION,
    .value = 600, /* of those that are nobody's */
#endif
    .name = "distmap",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(info),
    .open = on_open,
    .close = on_close,
    .query = on_query,
    .get_eoa = on_get_eoa,
    .set_eoa = on_set_eoa,
    .get_eof = on_get_eof,
    .read = on_read,
    .write = on_write,
    .truncate = on_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

static hid_t open_file(info i, unsigned flags, char why[200]) {
    hid_t opened = -1;
    const hid_t driver = H5FDregister(&driver_class), access = H5Pcreate(H5P_FILE_ACCESS);
    if (driver >= 0 && access >= 0 && H5Pset_driver(access, driver, &i) >= 0)
        opened = flags & H5F_ACC_TRUNC ? H5Fcreate(name_of(&i), flags, H5P_DEFAULT, access)
                                       : H5Fopen(name_of(&i), flags, access);
    dm_hdf5_why(why); /* the next call forgets it */
    if (access >= 0)
        H5Pclose(access);
    if (driver >= 0)
        H5FDunregister(driver);
    return opened;
}

/* libhdf5 1.10 frees the driver with the last that has it, and then calls it to close the file: so a list of properties has it longer. */
herr_t dm_hdf5_close(hid_t opened) {
    const hid_t access = H5Fget_access_plist(opened);
    const herr_t closed = H5Fclose(opened);
    if (access >= 0)
        H5Pclose(access);
    return closed;
}

hid_t dm_hdf5_open_input(dm_input *input, char why[200]) {
    return open_file((info){.input = input}, H5F_ACC_RDONLY, why);
}

hid_t dm_hdf5_open_output(const dm_hdf5_output *output, char why[200]) {
    return open_file((info){.output = output}, output->fresh ? H5F_ACC_TRUNC : H5F_ACC_RDWR, why);
}
