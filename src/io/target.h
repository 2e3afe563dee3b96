/* Which file an output's name means (target.c). */
#ifndef DISTMAP_IO_TARGET_H
#define DISTMAP_IO_TARGET_H

#include "io/file.h"

/* Sets output->target (replaces, was), a regular file or a name where none is yet; or for what is written as it comes output->fd. */
distmap_status dm_target_find(dm_output *output, bool standard);
/* Gives the open file the mode, owner, access list and user's attributes of the file that it will replace, as far as permitted. */
void dm_target_hand_on(const dm_output *output);

#endif
