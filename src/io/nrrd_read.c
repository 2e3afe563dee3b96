/* Reading NRRD: the header's lines, then elements as they are, or in one gzip stream, in the same file or another. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/deflate.h"
#include "io/headed.h"
#include "io/nrrd.h"

static bool nrrd_sniff(const uint8_t *head, size_t bytes) { return bytes >= 8 && !memcmp(head, "NRRD000", 7); }

static distmap_status open_elements(distmap_reader *reader, const dm_nrrd *h, int64_t *offset) {
    dm_input elements;
    if (!h->file)
        return DISTMAP_OK;
    if (!strncmp(h->file, "LIST", 4) && (!h->file[4] || isspace((unsigned char)h->file[4])))
        return dm_unsupported(&reader->input, "its elements are in a list of files (data file: LIST); one file is read");
    if (strchr(h->file, '%'))
        return dm_unsupported(&reader->input, "its elements are in many files (data file: %.80s); one file is read", h->file);
    TRY(dm_beside_open(&reader->input, h->file, false, &elements));
    dm_beside_replace(reader, &elements);
    *offset = 0;
    return DISTMAP_OK;
}

static distmap_status skip_lines(dm_input *input, int64_t lines, int64_t *offset) {
    dm_input_seek(input, *offset);
    while (lines) {
        char c;
        size_t got;
        TRY(dm_input_next(input, &c, 1, &got));
        if (!got)
            return dm_broken(input, "truncated: there are fewer lines than its line skip tells");
        lines -= c == '\n';
        ++*offset;
    }
    return DISTMAP_OK;
}

static distmap_status open_with(distmap_reader *reader, const dm_nrrd *h, int64_t offset) {
    distmap_image_info *info = &reader->info;
    const bool packed = !strcmp(h->encoding, "gzip");
    int64_t bytes;
    if (!packed && strcmp(h->encoding, "raw") != 0)
        return dm_unsupported(&reader->input, "its elements are encoded as %.20s; raw and gzip are read", h->encoding);
    info->dtype = h->dtype;
    if (!info->dtype)
        return dm_unsupported(&reader->input, "has elements of type %.40s; integers, float and double are read", h->type);
    if (packed && h->byte_skip < 0)
        return dm_broken(&reader->input, "broken NRRD header: a byte skip of -1 is for raw elements alone");
    TRY(dm_nrrd_take(&reader->input, h, info));
    snprintf(info->stored, sizeof info->stored, "NRRD000%d, %s%s%s%s", h->version, distmap_dtype_name(h->dtype),
             distmap_dtype_size(h->dtype) < 2        ? ""
             : h->swapped != DM_HOST_BIG ? ", big-endian"
                                         : ", little-endian",
             packed ? ", gzip" : "", h->file ? ", in a file of their own" : "");
    TRY(open_elements(reader, h, &offset));
    TRY(skip_lines(&reader->input, h->line_skip, &offset));
    TRY(dm_shape_bytes(reader->input.name, info->ndim, info->shape, distmap_dtype_size(info->dtype), &bytes));
    dm_packing_take(&reader->info, packed ? "gzip" : "none");
    if (!packed) {
        if (h->byte_skip < 0 && bytes <= reader->input.size - offset)
            offset = reader->input.size - bytes;
        if (h->byte_skip > 0 && __builtin_add_overflow(offset, h->byte_skip, &offset))
            return dm_broken(&reader->input, "broken NRRD header: a byte skip of %lld", (long long)h->byte_skip);
        return dm_raw_open(reader, offset, h->swapped, false);
    }
    if (__builtin_add_overflow(bytes, h->byte_skip, &bytes))
        return dm_broken(&reader->input, "absurd size");
    TRY(dm_check_holds(&reader->input, bytes, DM_DEFLATE_RATIO));
    return dm_packed_open(reader, offset, reader->input.size - offset, h->byte_skip,
                          h->swapped && distmap_dtype_size(info->dtype) > 1);
}

static distmap_status nrrd_open(distmap_reader *reader) {
    dm_text text = {0};
    dm_nrrd header;
    distmap_status status = dm_text_load(&reader->input, dm_nrrd_is_last, &text);
    if (!status && text.bytes)
        status = dm_native_add(reader, "nrrd", "header", text.data, text.bytes);
    if (!status)
        status = dm_nrrd_parse(&reader->input, text.data, &header);
    if (!status)
        status = open_with(reader, &header, reader->input.at);
    free(text.data);
    return status;
}

static distmap_status nrrd_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    return (reader->raw.is ? dm_raw_read : dm_packed_read)(reader, first, count, out);
}

static const char *packings(const char *path) {
    (void)path;
    return "none deflate";
}

const dm_codec dm_codec_nrrd = {
    .info = {.name = "nrrd",
             .endings = ".nrrd .nhdr",
             .reads = true,
             .writes = true,
             .summary = "raw and gzip, in one file or two; space, directions, kinds, labels, pairs kept; memory-mapped when raw"},
    .sniff = nrrd_sniff,
    .open = nrrd_open,
    .read = nrrd_read,
    .close = dm_packed_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 1,
    .max_ndim = DISTMAP_MAX_AXES,
    .packings = packings,
    .create = dm_nrrd_create,
    .write = dm_headed_write,
    .finish = dm_nrrd_finish,
    .discard = dm_headed_discard,
};
