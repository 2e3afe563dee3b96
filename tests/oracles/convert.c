/* convert IN OUT [C,C,...[/S,S,...]]: a file in another format, element by element as the library reads it, for what compares it with others'.
 *
 * IN is read by bands of a few slices, and must give the same by boxes, of formats that have them. Numbers are the lengths of OUT's
 * chunks, and of its shards. Prints the spacing and the unit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distmap/io.h"

enum { BAND = 5, BOXES = 6 };

static int failed(void) {
    fprintf(stderr, "%s\n", distmap_error_text());
    return 1;
}

static size_t elements_of(const distmap_image_info *info, const int64_t *count) {
    size_t elements = 1;
    for (int a = 0; a < info->ndim; a++)
        elements *= (size_t)count[a];
    return elements;
}

/* A box of the elements, one by one. */
static int same_box(const distmap_image_info *info, const char *all, const int64_t *first, const int64_t *count,
                    const char *box) {
    const size_t size = distmap_dtype_size(info->dtype), elements = elements_of(info, count);
    for (size_t i = 0; i < elements; i++) {
        size_t rest = i, place = 0, stride = 1;
        for (int a = info->ndim - 1; a >= 0; a--) {
            place += ((size_t)first[a] + rest % (size_t)count[a]) * stride;
            rest /= (size_t)count[a];
            stride *= (size_t)info->shape[a];
        }
        if (memcmp(box + i * size, all + place * size, size) != 0)
            return 0;
    }
    return 1;
}

static int check_boxes(distmap_reader *reader, const char *all) {
    const distmap_image_info *info = distmap_reader_info(reader);
    const size_t bytes = elements_of(info, info->shape) * distmap_dtype_size(info->dtype);
    char *box = malloc(bytes + 1);
    int good = box != NULL;
    for (int i = 0; good && i < BOXES; i++) {
        int64_t first[DISTMAP_MAX_AXES], count[DISTMAP_MAX_AXES];
        for (int a = 0; a < info->ndim; a++) {
            first[a] = info->shape[a] ? rand() % info->shape[a] : 0;
            count[a] = info->shape[a] ? 1 + rand() % (info->shape[a] - first[a]) : 0;
        }
        const distmap_status status = distmap_reader_read_box(reader, first, count, box);
        if (status == DISTMAP_ERROR_UNSUPPORTED)
            break;
        if (status)
            failed();
        good = !status && same_box(info, all, first, count, box);
        if (!good)
            fprintf(stderr, "a box is not what the bands were\n");
    }
    free(box);
    return good;
}

static void take_lengths(const char *text, int ndim, int64_t *lengths) {
    for (int a = 0; *text && *text != '/' && a < ndim; a++, text += strcspn(text, ",/"), text += *text == ',')
        lengths[a] = atoll(text);
}

static int convert(distmap_reader *reader, const char *out, const char *chunks) {
    const distmap_image_info *info = distmap_reader_info(reader);
    const size_t slice = info->shape[0] ? elements_of(info, info->shape) / (size_t)info->shape[0] : 0;
    const size_t slice_bytes = slice * distmap_dtype_size(info->dtype);
    char *all = malloc((size_t)info->shape[0] * slice_bytes + 1);
    distmap_image_info form = *info;
    distmap_writer *writer = NULL;
    int status = all ? 0 : 1;
    for (int64_t i = 0; !status && i < info->shape[0]; i += BAND) {
        const int64_t left = info->shape[0] - i;
        if (distmap_reader_read(reader, i, left < BAND ? left : BAND, all + (size_t)i * slice_bytes))
            status = failed();
    }
    if (!status && !check_boxes(reader, all))
        status = 1;
    memset(form.chunk, 0, sizeof form.chunk);
    memset(form.shard, 0, sizeof form.shard);
    take_lengths(chunks, info->ndim, form.chunk);
    if (strchr(chunks, '/'))
        take_lengths(strchr(chunks, '/') + 1, info->ndim, form.shard);
    if (!status && (distmap_writer_open(out, &form, &writer) || distmap_writer_write(writer, info->shape[0], all) ||
                    distmap_writer_finish(&writer)))
        status = failed();
    distmap_writer_abort(&writer);
    for (int a = 0; !status && a < info->ndim; a++)
        printf("%.17g ", distmap_image_pitch(info, a));
    if (!status)
        printf("%s\n", distmap_image_unit(info));
    free(all);
    return status;
}

int main(int argc, char **argv) {
    distmap_reader *reader;
    if (argc < 3 || distmap_reader_open(argv[1], &reader))
        return argc < 3 ? 2 : failed();
    const char *seed = getenv("SEED");
    srand(seed ? (unsigned)atoi(seed) : 1);
    const int status = convert(reader, argv[2], argc > 3 ? argv[3] : "");
    distmap_reader_close(&reader);
    return status;
}
