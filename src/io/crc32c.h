/* CRC-32C (Castagnoli), as of RFC 3720. */
#ifndef DISTMAP_IO_CRC32C_H
#define DISTMAP_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t dm_crc32c(const void *data, size_t bytes);

#endif
