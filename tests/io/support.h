/* What the tests of files share: a folder of their own, bytes in and out, images to write. */
#ifndef TESTS_IO_SUPPORT_H
#define TESTS_IO_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "distmap/io.h"

/* Makes an empty folder and goes there; removes it with all that it holds. For cmocka's group set-up and tear-down. */
int enter_folder(void **state);
int leave_folder(void **state);
/* Names in the current folder. */
int count_files(void);

/* Removes a file, of a header and its elements both, or a folder with all that it holds. */
void erase(const char *path);

/* A whole file in memory; the caller frees it. */
uint8_t *load(const char *path, size_t *bytes);
void save(const char *path, const void *data, size_t bytes);

/* xorshift64*: the same numbers everywhere. */
uint64_t random_next(uint64_t *state);

/* Chosen in what follows where elements have several samples; OPEN: what a reader begins with. */
extern distmap_sample read_sample;
/* A file's elements, read in bands of `band` slices; the caller frees them. Sets *info. */
void *read_all(const char *path, int64_t band, distmap_image_info *info);
size_t info_bytes(const distmap_image_info *info);
/* Elements for an image of that form: random bits, bool as 0 and 1, floats finite. The caller frees them. */
void *make_elements(const distmap_image_info *info, uint64_t seed);
/* Whether this build writes files of that name: HDF5 may be left out. */
bool is_written(const char *path);
/* Writes them in bands. */
distmap_status write_all(const char *path, const distmap_image_info *info, const void *elements, int64_t band);

/* Reads all of a file that may be broken. A failure must leave one clear line with the file's name in front. */
distmap_status read_broken(const char *path);

#endif
