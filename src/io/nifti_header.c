/* NIfTI-1 and NIfTI-2 headers: 348 and 540 bytes, told apart, and their byte order, by that number at their beginning.
 *
 * The structs are libnifti's. Its functions are not used: they read whole images at once, print on standard error, and
 * trust what broken files say.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <nifti/nifti1.h>
#include <nifti/nifti2.h>

#include "io/convert.h"
#include "io/nifti.h"

enum { SIZE_1 = sizeof(struct nifti_1_header), SIZE_2 = sizeof(struct nifti_2_header), EXTENDER = 4 };
enum { MARK_1 = 344, MARK_2 = 4 }; /* where the mark is */
_Static_assert(SIZE_1 == 348 && SIZE_2 == 540, "the headers are as they lie in the file");

static const struct {
    int datatype;
    distmap_dtype dtype;
} types[] = {
    {DT_UINT8, DISTMAP_UINT8},     {DT_INT16, DISTMAP_INT16},     {DT_INT32, DISTMAP_INT32},
    {DT_FLOAT32, DISTMAP_FLOAT32}, {DT_FLOAT64, DISTMAP_FLOAT64}, {DT_INT8, DISTMAP_INT8},
    {DT_UINT16, DISTMAP_UINT16},   {DT_UINT32, DISTMAP_UINT32},   {DT_INT64, DISTMAP_INT64},
    {DT_UINT64, DISTMAP_UINT64},   {DT_UINT8, DISTMAP_BOOL},
};
enum { TYPES = sizeof types / sizeof *types };

int dm_nifti_datatype(distmap_dtype dtype) {
    for (int t = 0; t < TYPES; t++)
        if (types[t].dtype == dtype)
            return types[t].datatype;
    return 0;
}

distmap_dtype dm_nifti_dtype(int datatype) {
    for (int t = 0; t < TYPES; t++)
        if (types[t].datatype == datatype)
            return types[t].dtype;
    return DISTMAP_NONE;
}

/* 1 or 2, negative in the other byte order; 0: neither. */
static int version_of(const uint8_t *start, size_t bytes) {
    uint32_t size;
    if (bytes < SIZE_1)
        return 0;
    memcpy(&size, start, sizeof size);
    const uint32_t turned = __builtin_bswap32(size);
    if (size == SIZE_1 || turned == SIZE_1)
        return size == SIZE_1 ? 1 : -1;
    if (bytes >= SIZE_2 && (size == SIZE_2 || turned == SIZE_2))
        return size == SIZE_2 ? 2 : -2;
    return 0;
}

bool dm_nifti_is(const uint8_t *start, size_t bytes) {
    const int version = version_of(start, bytes);
    return version && !memcmp(start + (version * version == 1 ? MARK_1 : MARK_2), "n", 1);
}

/* Turns a member, or each element of an array, to the host's byte order. */
#define FIX(member) FIX_EACH(&(member), 1, sizeof(member))
#define FIX_ALL(array) FIX_EACH(array, sizeof(array) / sizeof *(array), sizeof *(array))
#define FIX_EACH(place, count, size) (header->swapped ? dm_swap(place, count, size) : (void)0)

/* A float of the file as an offset; NaN and absurd ones become -1. */
static int64_t offset_of(double value) { return value >= 0 && value < 1e15 ? (int64_t)value : -1; }

/* A float as the decimal that was meant. */
static double meant(float value) { return isfinite(value) ? dm_from_float(value) : (double)value; }

/* The members that both versions have by the same names; NUMBER turns one of theirs to a double. */
#define TAKE(h, NUMBER)                                                                             \
    do {                                                                                            \
        FIX_ALL((h).dim), FIX_ALL((h).pixdim), FIX((h).datatype), FIX((h).vox_offset);              \
        FIX((h).scl_slope), FIX((h).scl_inter), FIX((h).qform_code), FIX((h).sform_code);           \
        FIX((h).quatern_b), FIX((h).quatern_c), FIX((h).quatern_d);                                 \
        FIX((h).qoffset_x), FIX((h).qoffset_y), FIX((h).qoffset_z);                                 \
        FIX_ALL((h).srow_x), FIX_ALL((h).srow_y), FIX_ALL((h).srow_z);                              \
        FIX((h).toffset), FIX((h).slice_duration), FIX((h).slice_start), FIX((h).slice_end);        \
        FIX((h).intent_code), FIX((h).intent_p1), FIX((h).intent_p2), FIX((h).intent_p3);           \
        for (int a = 0; a < 8; a++) {                                                               \
            header->dim[a] = (h).dim[a];                                                            \
            header->pixdim[a] = NUMBER((h).pixdim[a]);                                              \
        }                                                                                           \
        for (int a = 0; a < 4; a++) {                                                               \
            header->srow[0][a] = NUMBER((h).srow_x[a]);                                             \
            header->srow[1][a] = NUMBER((h).srow_y[a]);                                             \
            header->srow[2][a] = NUMBER((h).srow_z[a]);                                             \
        }                                                                                           \
        header->quatern[0] = (double)(h).quatern_b, header->qoffset[0] = NUMBER((h).qoffset_x);     \
        header->quatern[1] = (double)(h).quatern_c, header->qoffset[1] = NUMBER((h).qoffset_y);     \
        header->quatern[2] = (double)(h).quatern_d, header->qoffset[2] = NUMBER((h).qoffset_z);     \
        header->datatype = (h).datatype;                                                            \
        header->slope = (double)(h).scl_slope, header->inter = (double)(h).scl_inter;               \
        header->qform = (h).qform_code, header->sform = (h).sform_code;                             \
        header->toffset = (double)(h).toffset, header->slice_duration = (double)(h).slice_duration; \
        header->slice_start = (h).slice_start, header->slice_end = (h).slice_end;                   \
        header->slice_code = (h).slice_code, header->dim_info = (h).dim_info;                       \
        header->intent = (h).intent_code;                                                           \
        header->intent_p[0] = (double)(h).intent_p1;                                                \
        header->intent_p[1] = (double)(h).intent_p2;                                                \
        header->intent_p[2] = (double)(h).intent_p3;                                                \
        memcpy(header->intent_name, (h).intent_name, sizeof(h).intent_name);                        \
        memcpy(header->descrip, (h).descrip, sizeof(h).descrip);                                    \
        memcpy(header->aux_file, (h).aux_file, sizeof(h).aux_file);                                 \
    } while (0)

static void take_1(const uint8_t *start, dm_nifti *header) {
    struct nifti_1_header h;
    memcpy(&h, start, sizeof h);
    TAKE(h, meant);
    header->units = h.xyzt_units;
    header->offset = offset_of((double)h.vox_offset);
}

static void take_2(const uint8_t *start, dm_nifti *header) {
    struct nifti_2_header h;
    memcpy(&h, start, sizeof h);
    TAKE(h, (double));
    FIX(h.xyzt_units), FIX(h.slice_code);
    header->units = h.xyzt_units;
    header->slice_code = h.slice_code;
    header->offset = h.vox_offset;
}

bool dm_nifti_reread(const void *start, size_t bytes, dm_nifti *header) {
    const int version = version_of(start, bytes);
    *header = (dm_nifti){.version = version < 0 ? -version : version, .swapped = version < 0};
    if (version)
        (header->version == 1 ? take_1 : take_2)(start, header);
    return version;
}

distmap_status dm_nifti_parse(const dm_input *input, const uint8_t *start, size_t bytes, dm_nifti *header) {
    if (!dm_nifti_reread(start, bytes, header))
        return dm_broken(input, "not a NIfTI file, or its header is cut off");
    char mark[4];
    memcpy(mark, start + (header->version == 1 ? MARK_1 : MARK_2), sizeof mark);
    header->pair = !memcmp(mark, header->version == 1 ? "ni1" : "ni2", 3);
    if (!header->pair && memcmp(mark, header->version == 1 ? "n+1" : "n+2", 3) != 0)
        return dm_broken(input, "broken NIfTI header: it lacks its mark");
    const int64_t least = header->pair ? 0 : header->version == 1 ? SIZE_1 : SIZE_2;
    if (header->offset == 0 && !header->pair)
        header->offset = least + EXTENDER;
    if (header->offset < least)
        return dm_broken(input, "broken NIfTI header: elements are said to begin inside it");
    if (header->dim[0] < 1 || header->dim[0] > 7)
        return dm_broken(input, "broken NIfTI header: %lld axes", (long long)header->dim[0]);
    for (int a = 1; a <= header->dim[0]; a++)
        if (header->dim[a] < 1)
            return dm_broken(input, "broken NIfTI header: axis %d is %lld long", a, (long long)header->dim[a]);
    return DISTMAP_OK;
}

/* The members that both versions have by the same names. */
#define FILL(h)                                                           \
    do {                                                                  \
        (h).sizeof_hdr = sizeof(h);                                       \
        for (int a = 0; a < 8; a++) {                                     \
            (h).dim[a] = (__typeof__((h).dim[0]))f.dim[a];                \
            (h).pixdim[a] = (__typeof__((h).pixdim[0]))f.pixdim[a];       \
        }                                                                 \
        for (int a = 0; a < 4; a++) {                                     \
            (h).srow_x[a] = (__typeof__((h).srow_x[0]))f.srow[0][a];      \
            (h).srow_y[a] = (__typeof__((h).srow_x[0]))f.srow[1][a];      \
            (h).srow_z[a] = (__typeof__((h).srow_x[0]))f.srow[2][a];      \
        }                                                                 \
        (h).quatern_b = (__typeof__((h).quatern_b))f.quatern[0];          \
        (h).quatern_c = (__typeof__((h).quatern_b))f.quatern[1];          \
        (h).quatern_d = (__typeof__((h).quatern_b))f.quatern[2];          \
        (h).qoffset_x = (__typeof__((h).quatern_b))f.qoffset[0];          \
        (h).qoffset_y = (__typeof__((h).quatern_b))f.qoffset[1];          \
        (h).qoffset_z = (__typeof__((h).quatern_b))f.qoffset[2];          \
        (h).qform_code = (__typeof__((h).qform_code))f.qform;             \
        (h).sform_code = (__typeof__((h).qform_code))f.sform;             \
        (h).toffset = (__typeof__((h).toffset))f.toffset;                 \
        (h).slice_duration = (__typeof__((h).toffset))f.slice_duration;   \
        (h).slice_start = (__typeof__((h).slice_start))f.slice_start;     \
        (h).slice_end = (__typeof__((h).slice_end))f.slice_end;           \
        (h).slice_code = (__typeof__((h).slice_code))f.slice_code;        \
        (h).dim_info = (char)f.dim_info;                                  \
        (h).intent_code = (__typeof__((h).intent_code))f.intent;          \
        (h).intent_p1 = (__typeof__((h).intent_p1))f.intent_p[0];         \
        (h).intent_p2 = (__typeof__((h).intent_p1))f.intent_p[1];         \
        (h).intent_p3 = (__typeof__((h).intent_p1))f.intent_p[2];         \
        memcpy((h).intent_name, f.intent_name, sizeof(h).intent_name);    \
        memcpy((h).descrip, f.descrip, sizeof(h).descrip);                \
        memcpy((h).aux_file, f.aux_file, sizeof(h).aux_file);             \
        (h).datatype = (int16_t)dm_nifti_datatype(info->dtype);           \
        (h).bitpix = (int16_t)(8 * distmap_dtype_size(info->dtype));      \
        (h).scl_slope = 1;                                                \
        (h).vox_offset = (__typeof__((h).vox_offset))(pair ? 0 : *bytes); \
        (h).xyzt_units = (__typeof__((h).xyzt_units))f.units;             \
        memcpy(start, &(h), sizeof(h));                                   \
    } while (0)

distmap_status dm_nifti_make(const distmap_writer *writer, bool pair, uint8_t start[DM_NIFTI_START], size_t *bytes) {
    const distmap_image_info *info = &writer->info;
    dm_nifti f;
    TRY(dm_nifti_fill(writer, &f));
    bool short_axes = true; /* NIfTI-1 has 16 bits for an axis */
    for (int a = 0; a < 8; a++)
        short_axes &= f.dim[a] <= INT16_MAX;
    memset(start, 0, DM_NIFTI_START);
    if (short_axes && f.version != 2) {
        struct nifti_1_header h = {.magic = "n+1", .regular = 'r'};
        h.magic[1] = pair ? 'i' : '+';
        *bytes = SIZE_1 + EXTENDER;
        FILL(h);
    } else {
        struct nifti_2_header h = {.magic = {'n', pair ? 'i' : '+', '2', 0, '\r', '\n', 0x1a, '\n'}};
        *bytes = SIZE_2 + EXTENDER;
        FILL(h);
    }
    return DISTMAP_OK;
}
