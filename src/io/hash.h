/* Numbers for names: FNV-1a, of 64 bits. Two names may have the same one. */
#ifndef DISTMAP_IO_HASH_H
#define DISTMAP_IO_HASH_H

#include <stddef.h>
#include <stdint.h>

#define DM_HASH_START UINT64_C(0xcbf29ce484222325)

/* That of what `hash` is the number of, and then these bytes. */
static inline uint64_t dm_hash(uint64_t hash, const void *data, size_t bytes) {
    for (const unsigned char *p = data; bytes > 0; p++, bytes--)
        hash = (hash ^ *p) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
