/* Reading MetaImage: the header's lines, then elements as they are, or in one zlib stream, in the same file or another. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/convert.h"
#include "io/deflate.h"
#include "io/headed.h"
#include "io/metaimage.h"

/* Any first line of such a header, and a key that every one of them has; comments may be long. */
static bool meta_sniff(const uint8_t *head, size_t bytes) {
    static const char *const starts[] = {"ObjectType", "NDims", "Comment", "ObjectSubType", "Name", "ID"};
    char text[DM_SNIFF_BYTES + 1];
    memcpy(text, head, bytes);
    text[bytes] = '\0';
    const char *at = text;
    for (size_t s = 0; s < sizeof starts / sizeof *starts && at == text; s++)
        if (!strncmp(text, starts[s], strlen(starts[s])))
            at += strlen(starts[s]);
    while (at > text && (*at == ' ' || *at == '\t'))
        at++;
    return at > text && (*at == '=' || *at == ':') && (strstr(text, "NDims") || strstr(text, "ObjectType"));
}

static distmap_status open_elements(distmap_reader *reader, const dm_meta *h, int64_t *offset) {
    dm_input elements;
    if (!strcasecmp(h->file, "LOCAL"))
        return DISTMAP_OK;
    if (!strncmp(h->file, "LIST", 4) && (!h->file[4] || isspace((unsigned char)h->file[4])))
        return dm_unsupported(&reader->input, "its elements are in a list of files (ElementDataFile = LIST); one file is read");
    if (strchr(h->file, '%'))
        return dm_unsupported(&reader->input, "its elements are in many files (ElementDataFile = %.80s); one file is read",
                              h->file);
    TRY(dm_beside_open(&reader->input, h->file, false, &elements));
    dm_beside_replace(reader, &elements);
    *offset = 0;
    return DISTMAP_OK;
}

static distmap_status open_stream(distmap_reader *reader, const dm_meta *h, int64_t offset, int64_t bytes) {
    const dm_input *input = &reader->input;
    const int64_t there = input->size - offset, packed = h->packed_bytes ? h->packed_bytes : there;
    if (there < 0 || packed > there)
        return dm_broken(input, "truncated: its header states %lld compressed bytes, but %lld follow", (long long)packed,
                         (long long)(there < 0 ? 0 : there));
    TRY(dm_check_holds(input, bytes, DM_DEFLATE_RATIO));
    return dm_packed_open(reader, offset, packed, 0, h->swapped);
}

static distmap_status open_with(distmap_reader *reader, const dm_meta *h, int64_t offset) {
    distmap_image_info *info = &reader->info;
    int64_t bytes;
    if (h->in_text)
        return dm_unsupported(&reader->input, "its elements are decimals (BinaryData = False); binary ones are read");
    info->dtype = h->dtype;
    if (!info->dtype)
        return dm_unsupported(&reader->input, "has elements of type %.40s; integers, MET_FLOAT and MET_DOUBLE are read",
                              h->type);
    TRY(dm_meta_take(&reader->input, h, info));
    snprintf(info->stored, sizeof info->stored, "%s, %s%s%s", distmap_dtype_name(h->dtype),
             h->swapped != DM_HOST_BIG ? "big-endian" : "little-endian", h->packed ? ", zlib" : "",
             strcasecmp(h->file, "LOCAL") != 0 ? ", in a file of their own" : "");
    TRY(open_elements(reader, h, &offset));
    TRY(dm_shape_bytes(reader->input.name, info->ndim, info->shape, distmap_dtype_size(info->dtype), &bytes));
    if (h->skip < 0 && !h->packed && bytes <= reader->input.size - offset)
        offset = reader->input.size - bytes;
    if (h->skip > 0 && __builtin_add_overflow(offset, h->skip, &offset))
        return dm_broken(&reader->input, "broken MetaImage header: HeaderSize = %lld", (long long)h->skip);
    dm_packing_take(&reader->info, h->packed ? "zlib" : "none");
    return h->packed ? open_stream(reader, h, offset, bytes) : dm_raw_open(reader, offset, h->swapped, false);
}

static distmap_status meta_open(distmap_reader *reader) {
    dm_text text = {0};
    dm_meta header;
    distmap_status status = dm_text_load(&reader->input, dm_meta_is_last, &text);
    if (!status && text.bytes)
        status = dm_native_add(reader, "metaimage", "header", text.data, text.bytes);
    if (!status)
        status = dm_meta_parse(&reader->input, text.data, &header);
    if (!status)
        status = open_with(reader, &header, reader->input.at);
    free(text.data);
    return status;
}

static distmap_status meta_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    return (reader->raw.is ? dm_raw_read : dm_packed_read)(reader, first, count, out);
}

static const char *packings(const char *path) {
    (void)path;
    return "none deflate";
}

const dm_codec dm_codec_metaimage = {
    .info = {.name = "metaimage",
             .endings = ".mha .mhd",
             .reads = true,
             .writes = true,
             .summary = "MetaImage, plain and zlib, in one file or two; directions, origin kept; memory-mapped when plain"},
    .sniff = meta_sniff,
    .open = meta_open,
    .read = meta_read,
    .close = dm_packed_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 2,
    .max_ndim = DM_META_AXES + 1,
    .packings = packings,
    .create = dm_meta_create,
    .write = dm_headed_write,
    .finish = dm_meta_finish,
    .discard = dm_headed_discard,
};
