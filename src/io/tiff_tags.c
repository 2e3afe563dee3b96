/* Tags of a directory that are read here and not by libtiff.
 *
 * libtiff (4.5) makes a field of its own for each tag that it does not know, and ends the process if that finds no memory. So it sees only
 * the tags by which it finds and decodes strips and tiles, and the resolution; each other one is given to it as a tag that it passes over.
 * This is done where it reads the entries of a directory: behind their count, all in one call.
 *
 * If another version of libtiff reads them in another way, it sees them all, and nothing else changes.
 */
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"

enum { PASSED_OVER = 288 /* FreeOffsets, which libtiff ignores */, MOST_ENTRIES = 65535 };

static size_t count_bytes(const dm_tiff *file) { return TIFFIsBigTIFF(file->tiff) ? 8 : 2; }
static size_t entry_bytes(const dm_tiff *file) { return TIFFIsBigTIFF(file->tiff) ? 20 : 12; }

/* The number of `size` bytes, in the file's byte order. */
static uint64_t number_at(const dm_tiff *file, const uint8_t *from, size_t size) {
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number = number << 8 | from[TIFFIsBigEndian(file->tiff) ? i : size - 1 - i];
    return number;
}

/* ---- Hiding ---- */

static bool is_shown(uint64_t tag) {
    static const uint16_t first_last[][2] = {
        {254, 259},                 /* kind, size, bits, compression */
        {262, 262},                 /* photometric */
        {266, 266},                 /* order of bits */
        {270, 270},                 /* description */
        {273, 273},     {277, 279}, /* strips, samples */
        {282, 284},                 /* resolution, planes */
        {292, 293},     {296, 296}, /* fax, unit of resolution */
        {317, 317},     {320, 328}, /* predictor, palette, tiles, fax */
        {332, 332},     {334, 334}, /* inks */
        {338, 339},     {347, 347}, /* extra samples, format, JPEG's tables */
        {512, 532},                 /* old JPEG, YCbCr */
        {32995, 32998},             /* as samples were told before 338 and 339, and depth */
        {37439, 37439},             /* SGI's LogLuv */
        {50674, 50674},             /* LERC */
    };
    for (size_t i = 0; i < sizeof first_last / sizeof *first_last; i++)
        if (tag >= first_last[i][0] && tag <= first_last[i][1])
            return true;
    return false;
}

void dm_tiff_hide(dm_tiff *file, void *data, size_t bytes) {
    uint8_t *entries = data;
    if (bytes == count_bytes(file)) {
        file->look.count = number_at(file, entries, bytes);
        file->look.behind = file->at + (int64_t)bytes;
    } else if (file->at == file->look.behind && bytes % entry_bytes(file) == 0 &&
               bytes / entry_bytes(file) == file->look.count) {
        for (uint64_t i = 0; i < file->look.count; i++, entries += entry_bytes(file)) {
            if (is_shown(number_at(file, entries, 2)))
                continue;
            const bool big = TIFFIsBigEndian(file->tiff);
            entries[big ? 0 : 1] = PASSED_OVER >> 8;
            entries[big ? 1 : 0] = PASSED_OVER & 0xff;
        }
        file->look.on = false;
    }
}

/* ---- Reading ---- */

distmap_status dm_tiff_entries_read(dm_tiff *file, dm_tiff_entries *entries) {
    uint8_t head[8];
    const int64_t at = (int64_t)TIFFCurrentDirOffset(file->tiff);
    *entries = (dm_tiff_entries){0};
    TRY(dm_input_at(file->input, at, head, count_bytes(file)));
    const uint64_t count = number_at(file, head, count_bytes(file));
    if (count > MOST_ENTRIES)
        return dm_broken(file->input, "broken TIFF: a directory has %llu tags", (unsigned long long)count);
    entries->bytes = malloc(count * entry_bytes(file) + 1);
    if (!entries->bytes)
        return dm_no_memory(file->input->name);
    entries->count = count;
    const distmap_status status =
        dm_input_at(file->input, at + (int64_t)count_bytes(file), entries->bytes, count * entry_bytes(file));
    if (status)
        dm_tiff_entries_free(entries);
    return status;
}

void dm_tiff_entries_free(dm_tiff_entries *entries) {
    free(entries->bytes);
    *entries = (dm_tiff_entries){0};
}

/* The values of the entry, which are in it where they fit. */
static distmap_status read_values(dm_tiff *file, const uint8_t *entry, dm_tiff_tag *tag) {
    const size_t word = TIFFIsBigTIFF(file->tiff) ? 8 : 4, size = (size_t)TIFFDataWidth(tag->type);
    const uint8_t *value = entry + 4 + word;
    uint64_t bytes;
    if (!size || !tag->count)
        return DISTMAP_OK;
    if (__builtin_mul_overflow(tag->count, size, &bytes) || bytes > (uint64_t)file->input->size)
        return dm_broken(file->input, "broken TIFF: a tag has %llu values", (unsigned long long)tag->count);
    tag->data = malloc(bytes + 1);
    if (!tag->data)
        return dm_no_memory(file->input->name);
    char *data = tag->data;
    data[bytes] = '\0';
    if (bytes <= word)
        memcpy(data, value, bytes);
    else
        TRY(dm_input_at(file->input, (int64_t)(number_at(file, value, word) & INT64_MAX), data, bytes));
    if (TIFFIsBigEndian(file->tiff) != DM_HOST_BIG)
        dm_swap(data, tag->count, size);
    tag->count += tag->type == TIFF_ASCII && data[bytes - 1];
    return DISTMAP_OK;
}

distmap_status dm_tiff_tag_read(dm_tiff *file, const dm_tiff_entries *entries, uint32_t number, dm_tiff_tag *tag) {
    *tag = (dm_tiff_tag){0};
    for (uint64_t i = 0; i < entries->count; i++) {
        const uint8_t *entry = entries->bytes + i * entry_bytes(file);
        if (number_at(file, entry, 2) != number)
            continue;
        tag->type = (TIFFDataType)number_at(file, entry + 2, 2);
        tag->count = number_at(file, entry + 4, TIFFIsBigTIFF(file->tiff) ? 8 : 4);
        const distmap_status status = read_values(file, entry, tag);
        if (status) {
            free(tag->data);
            tag->data = NULL;
        }
        return status;
    }
    return DISTMAP_OK;
}
