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
    return version && !memcmp(start + (version * version == 1 ? 344 : 4), "n", 1);
}

/* Turns a member, or each element of an array, to the host's byte order. */
#define FIX(member) FIX_EACH(&(member), 1, sizeof(member))
#define FIX_ALL(array) FIX_EACH(array, sizeof(array) / sizeof *(array), sizeof *(array))
#define FIX_EACH(place, count, size) (header->swapped ? dm_swap(place, count, size) : (void)0)

/* A float of the file as an offset; NaN and absurd ones become -1. */
static int64_t offset_of(double value) { return value >= 0 && value < 1e15 ? (int64_t)value : -1; }

static void take_1(const uint8_t *start, dm_nifti *header, char magic[4]) {
    struct nifti_1_header h;
    memcpy(&h, start, sizeof h);
    memcpy(magic, h.magic, 4);
    FIX_ALL(h.dim), FIX_ALL(h.pixdim);
    FIX(h.datatype), FIX(h.vox_offset), FIX(h.scl_slope), FIX(h.scl_inter);
    for (int a = 0; a < 8; a++) {
        header->dim[a] = h.dim[a];
        header->pixdim[a] = isfinite(h.pixdim[a]) ? dm_from_float(h.pixdim[a]) : 0;
    }
    header->datatype = h.datatype;
    header->units = h.xyzt_units;
    header->offset = offset_of((double)h.vox_offset);
    header->slope = (double)h.scl_slope;
    header->inter = (double)h.scl_inter;
}

static void take_2(const uint8_t *start, dm_nifti *header, char magic[4]) {
    struct nifti_2_header h;
    memcpy(&h, start, sizeof h);
    memcpy(magic, h.magic, 4);
    FIX_ALL(h.dim), FIX_ALL(h.pixdim);
    FIX(h.datatype), FIX(h.vox_offset), FIX(h.scl_slope), FIX(h.scl_inter), FIX(h.xyzt_units);
    memcpy(header->dim, h.dim, sizeof header->dim);
    memcpy(header->pixdim, h.pixdim, sizeof header->pixdim);
    header->datatype = h.datatype;
    header->units = h.xyzt_units;
    header->offset = h.vox_offset;
    header->slope = h.scl_slope;
    header->inter = h.scl_inter;
}

distmap_status dm_nifti_parse(const dm_input *input, const uint8_t *start, size_t bytes, dm_nifti *header) {
    const int version = version_of(start, bytes);
    *header = (dm_nifti){.version = version < 0 ? -version : version, .swapped = version < 0};
    if (!version)
        return dm_broken(input, "not a NIfTI file, or its header is cut off");
    char magic[4];
    (header->version == 1 ? take_1 : take_2)(start, header, magic);
    if (!memcmp(magic, "ni", 2))
        return dm_unsupported(input, "is the header of a .hdr and .img pair; single .nii files are read");
    if (memcmp(magic, header->version == 1 ? "n+1" : "n+2", 3) != 0)
        return dm_broken(input, "broken NIfTI header: it lacks its mark");
    const int64_t least = header->version == 1 ? SIZE_1 : SIZE_2;
    if (header->offset == 0)
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

static int unit_code(const char *unit) {
    return !strcmp(unit, "m")    ? NIFTI_UNITS_METER
           : !strcmp(unit, "mm") ? NIFTI_UNITS_MM
           : !strcmp(unit, "um") ? NIFTI_UNITS_MICRON
                                 : NIFTI_UNITS_UNKNOWN;
}

/* The members that both versions have, by the same names. Axes of the file: fastest first. */
#define FILL(h)                                                                       \
    do {                                                                              \
        (h).sizeof_hdr = sizeof(h);                                                   \
        for (int a = 0; a < 8; a++)                                                   \
            (h).dim[a] = 1, (h).pixdim[a] = 1;                                        \
        (h).dim[0] = (__typeof__((h).dim[0]))info->ndim;                              \
        for (int a = 0; a < info->ndim; a++) {                                        \
            (h).dim[info->ndim - a] = (__typeof__((h).dim[0]))info->shape[a];         \
            (h).pixdim[info->ndim - a] = (__typeof__((h).pixdim[0]))info->spacing[a]; \
        }                                                                             \
        (h).datatype = (int16_t)dm_nifti_datatype(info->dtype);                       \
        (h).bitpix = (int16_t)(8 * distmap_dtype_size(info->dtype));                  \
        (h).scl_slope = 1;                                                            \
        (h).vox_offset = (__typeof__((h).vox_offset))*bytes;                          \
        (h).xyzt_units = (char)unit_code(info->unit);                                 \
        snprintf((h).descrip, sizeof(h).descrip, "distmap %s", distmap_version());    \
        memcpy(start, &(h), sizeof(h));                                               \
    } while (0)

void dm_nifti_make(const distmap_image_info *info, uint8_t start[DM_NIFTI_START], size_t *bytes) {
    bool short_axes = true; /* NIfTI-1 has 16 bits for an axis */
    for (int a = 0; a < info->ndim; a++)
        short_axes &= info->shape[a] <= INT16_MAX;
    memset(start, 0, DM_NIFTI_START);
    if (short_axes) {
        struct nifti_1_header h = {.magic = "n+1", .regular = 'r'};
        *bytes = SIZE_1 + EXTENDER;
        FILL(h);
    } else {
        struct nifti_2_header h = {.magic = {'n', '+', '2', 0, '\r', '\n', 0x1a, '\n'}};
        *bytes = SIZE_2 + EXTENDER;
        FILL(h);
    }
}
