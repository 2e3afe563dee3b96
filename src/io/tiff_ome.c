/* OME-TIFF: an XML text in the first page's ImageDescription says which page is which plane of z, channel and time, and how far
 * elements are from each other.
 *
 *     <OME> <Image> <Pixels DimensionOrder="XYZCT" SizeX= SizeY= SizeZ= SizeC= SizeT= PhysicalSizeX= PhysicalSizeXUnit= ...>
 *         <Channel SamplesPerPixel=/> <TiffData IFD= FirstZ= FirstC= FirstT= PlaneCount=> <UUID FileName=/> </TiffData>
 *
 * DimensionOrder has the fastest first. A TiffData is a run of directories from IFD on that are a run of planes in that order.
 * Lengths are in micrometres and times in seconds unless a unit is told. Of several images the first one is taken. SizeC counts
 * samples: a colour picture of three is one channel here, bands are three. The text itself goes along, "ome" "xml", so that a TIFF
 * that is written from it is an OME-TIFF again; it is made anew, as results have other elements.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"
#include "io/xml.h"

enum { Z, C, T, PLACES };

/* A run of planes, as a TiffData tells it. */
typedef struct run {
    int64_t ifd, planes; /* -1: not told */
    int64_t first[PLACES];
} run;

typedef struct ome {
    dm_xml xml;
    distmap_reader *reader;
    int order[PLACES]; /* the fastest first */
    int64_t size_x, size_y, size[PLACES];
    double pitch[3]; /* x y z; 0: not told */
    char unit[3][16];
    double increment;
    char increment_unit[16];
    char uuid[100];
    run *runs;
    int64_t run_count, run_room;
    int images;
    bool has_pixels;
} ome;

bool dm_ome_is(const char *text) {
    if (!text)
        return false;
    if (!strncmp(text, "\xef\xbb\xbf", 3))
        text += 3;
    text += strspn(text, " \t\r\n");
    if (*text != '<')
        return false;
    const char *root = strstr(text, "OME");
    return root && root > text && (root[-1] == '<' || root[-1] == ':') && strchr(" \t\r\n>", root[3]);
}

static distmap_status broken(const ome *o, const char *why) {
    return dm_broken(&o->reader->input, "its OME-XML is broken in line %d: %s", dm_xml_line(&o->xml), why);
}

/* ---- Attributes ---- */

/* A whole number from `least` on; left as it is where there is none. */
static distmap_status take_count(const ome *o, const char *name, int64_t least, int64_t *count) {
    char text[40], *end;
    if (!dm_xml_attribute(&o->xml, name, text, sizeof text))
        return DISTMAP_OK;
    const long long n = strtoll(text, &end, 10);
    if (end == text || *end || n < least || n > INT64_C(1) << 40)
        return dm_broken(&o->reader->input, "its OME-XML has a %s of \"%.30s\"", name, text);
    *count = n;
    return DISTMAP_OK;
}

static distmap_status take_length(const ome *o, const char *name, double *length) {
    char text[60], *end;
    if (!dm_xml_attribute(&o->xml, name, text, sizeof text))
        return DISTMAP_OK;
    *length = strtod(text, &end);
    if (end == text || *end || !(*length > 0 && isfinite(*length)))
        return dm_broken(&o->reader->input, "its OME-XML has a %s of \"%.30s\"; a pitch is finite and above 0", name,
                         text);
    return DISTMAP_OK;
}

/* Lengths in pixels, or in a frame of reference of nobody knows what, have no unit. */
static void take_unit(const ome *o, const char *name, const char *by_default, char unit[16]) {
    char text[40];
    if (!dm_xml_attribute(&o->xml, name, text, sizeof text))
        strcpy(text, by_default);
    *unit = '\0';
    if (strcmp(text, "pixel") != 0 && strcmp(text, "reference frame") != 0)
        dm_unit_take(unit, text);
}

static distmap_status take_order(ome *o) {
    char text[16] = "";
    static const char letters[] = "ZCT";
    bool seen[PLACES] = {false};
    dm_xml_attribute(&o->xml, "DimensionOrder", text, sizeof text);
    bool good = strlen(text) == 5 && !strncmp(text, "XY", 2);
    for (int i = 0; good && i < PLACES; i++) {
        const char *letter = strchr(letters, text[2 + i]);
        good = letter && !seen[letter - letters];
        if (good)
            seen[o->order[i] = (int)(letter - letters)] = true;
    }
    return good ? DISTMAP_OK : broken(o, "a DimensionOrder is XYZCT, XYZTC, XYCTZ, XYCZT, XYTCZ or XYTZC");
}

static distmap_status take_pixels(ome *o) {
    static const char *const sizes[] = {"SizeX", "SizeY", "SizeZ", "SizeC", "SizeT"},
                             *const pitches[] = {"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"},
                             *const units[] = {"PhysicalSizeXUnit", "PhysicalSizeYUnit", "PhysicalSizeZUnit"};
    int64_t *const into[] = {&o->size_x, &o->size_y, &o->size[Z], &o->size[C], &o->size[T]};
    TRY(take_order(o));
    for (int i = 0; i < 5; i++) {
        TRY(take_count(o, sizes[i], 1, into[i]));
        if (!*into[i])
            return dm_broken(&o->reader->input, "its OME-XML has no %s", sizes[i]);
    }
    for (int i = 0; i < 3; i++) {
        TRY(take_length(o, pitches[i], &o->pitch[i]));
        take_unit(o, units[i], "um", o->unit[i]);
    }
    TRY(take_length(o, "TimeIncrement", &o->increment));
    take_unit(o, "TimeIncrementUnit", "s", o->increment_unit);
    o->has_pixels = true;
    return DISTMAP_OK;
}

static distmap_status take_run(ome *o) {
    if (o->run_count == o->run_room) {
        o->run_room = o->run_room ? 2 * o->run_room : 64;
        run *more = realloc(o->runs, (size_t)o->run_room * sizeof *more);
        if (!more)
            return dm_no_memory(o->reader->input.name);
        o->runs = more;
    }
    run *r = &o->runs[o->run_count++];
    *r = (run){.ifd = -1, .planes = -1};
    TRY(take_count(o, "IFD", 0, &r->ifd));
    TRY(take_count(o, "PlaneCount", 0, &r->planes));
    TRY(take_count(o, "FirstZ", 0, &r->first[Z]));
    TRY(take_count(o, "FirstC", 0, &r->first[C]));
    return take_count(o, "FirstT", 0, &r->first[T]);
}

/* ---- Elements ---- */

static distmap_status elsewhere(const ome *o, const char *file) {
    return dm_unsupported(&o->reader->input, "its OME-XML says that planes are in other files%s%.100s%s; %s",
                          *file ? " (" : "", file, *file ? ")" : "", "a file is read that holds all of its planes");
}

static distmap_status take_element(ome *o, bool *in_pixels, char file[200]) {
    if (dm_xml_is(&o->xml, "OME")) {
        dm_xml_attribute(&o->xml, "UUID", o->uuid, sizeof o->uuid);
    } else if (dm_xml_is(&o->xml, "BinaryOnly")) {
        dm_xml_attribute(&o->xml, "MetadataFile", file, 200);
        return dm_unsupported(&o->reader->input, "its OME-XML is in another file (%.100s); that one is to be read",
                              file);
    } else if (dm_xml_is(&o->xml, "Image")) {
        o->images++;
    } else if (dm_xml_is(&o->xml, "Pixels") && o->images <= 1) {
        if (o->has_pixels)
            return broken(o, "an image has two Pixels");
        *in_pixels = true;
        return take_pixels(o);
    } else if (*in_pixels && dm_xml_is(&o->xml, "TiffData")) {
        return take_run(o);
    } else if (*in_pixels && dm_xml_is(&o->xml, "UUID")) {
        *file = '\0';
        dm_xml_attribute(&o->xml, "FileName", file, 200);
    }
    return DISTMAP_OK;
}

/* Whether the text of a UUID, without spaces round it, names another file than this. */
static bool is_another(const ome *o) {
    dm_xml_span t = o->xml.text;
    while (t.bytes && strchr(" \t\r\n", *t.at))
        t.at++, t.bytes--;
    while (t.bytes && strchr(" \t\r\n", t.at[t.bytes - 1]))
        t.bytes--;
    return t.bytes && *o->uuid && (t.bytes != strlen(o->uuid) || memcmp(t.at, o->uuid, t.bytes) != 0);
}

static distmap_status parse(ome *o) {
    bool in_pixels = false, in_uuid = false;
    char file[200] = "";
    for (;;)
        switch (dm_xml_next(&o->xml)) {
        case DM_XML_FAULT: return broken(o, o->xml.fault);
        case DM_XML_END: return o->has_pixels ? DISTMAP_OK : broken(o, "there is no image in it");
        case DM_XML_OPEN:
            TRY(take_element(o, &in_pixels, file));
            in_uuid = in_pixels && dm_xml_is(&o->xml, "UUID");
            break;
        case DM_XML_TEXT:
            if (in_uuid && is_another(o))
                return elsewhere(o, file);
            break;
        case DM_XML_CLOSE:
            in_uuid = false;
            in_pixels &= !dm_xml_is(&o->xml, "Pixels");
            break;
        }
}

/* ---- Planes ---- */

/* The page of a directory, or -1. Pages are all directories as a rule. */
static int64_t page_of(const int64_t *ifd, int64_t pages, int64_t number) {
    int64_t low = 0, high = pages;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (ifd[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pages && ifd[low] == number ? low : -1;
}

static distmap_status place_run(ome *o, const run *r, const int64_t size[PLACES], int64_t samples, int64_t pages,
                                const int64_t *ifd, dm_tiff_stack *stack) {
    const int64_t all = size[Z] * size[C] * size[T];
    int64_t at = 0, stride = 1; /* in DimensionOrder */
    for (int i = 0; i < PLACES; i++) {
        const int p = o->order[i];
        const int64_t first = p == C ? r->first[p] / samples : r->first[p];
        if (first >= size[p])
            return dm_broken(&o->reader->input, "its OME-XML has a TiffData from %c = %lld on, of %lld", "ZCT"[p],
                             (long long)r -> first[p], (long long)o -> size[p]);
        at += first * stride;
        stride *= size[p];
    }
    const int64_t count = r->planes >= 0 ? r->planes : r->ifd >= 0 ? 1 : all - at, from = r->ifd >= 0 ? r->ifd : 0;
    if (count > all - at)
        return dm_broken(&o->reader->input, "its OME-XML has a TiffData of %lld planes, of which %lld are left",
                         (long long)count, (long long)(all - at));
    for (int64_t i = 0; i < count; i++) {
        int64_t place[PLACES], rest = at + i;
        for (int k = 0; k < PLACES; k++) {
            place[o->order[k]] = rest % size[o->order[k]];
            rest /= size[o->order[k]];
        }
        const int64_t page = page_of(ifd, pages, from + i);
        if (page < 0)
            return dm_broken(&o->reader->input, "its OME-XML tells of a plane in page %lld, which is not there",
                             (long long)(from + i + 1));
        stack->page[(place[T] * size[C] + place[C]) * size[Z] + place[Z]] = page;
    }
    return DISTMAP_OK;
}

static distmap_status place_planes(ome *o, const dm_tiff_page *form, int64_t pages, const int64_t *ifd,
                                   dm_tiff_stack *stack) {
    const dm_input *input = &o->reader->input;
    const int64_t samples = form->samples;
    if (o->size_x != form->width || o->size_y != form->height)
        return dm_broken(input, "its OME-XML tells of %lld x %lld pixels, a page has %u x %u", (long long)o->size_x,
                         (long long)o->size_y, form->width, form->height);
    if (o->size[C] % samples)
        return dm_broken(input, "its OME-XML tells of %lld channels, in pages of %lld samples", (long long)o->size[C],
                         (long long)samples);
    const int64_t size[PLACES] = {o->size[Z], o->size[C] / samples, o->size[T]};
    int64_t all;
    if (__builtin_mul_overflow(size[Z], size[C], &all) || __builtin_mul_overflow(all, size[T], &all) || all > pages)
        return dm_broken(input, "its OME-XML tells of %lld slices, %lld channels and %lld times, it holds %lld pages",
                         (long long)o->size[Z], (long long)o->size[C], (long long)o->size[T], (long long)pages);
    if (!(stack->page = malloc((size_t)all * sizeof *stack->page)))
        return dm_no_memory(input->name);
    for (int64_t i = 0; i < all; i++)
        stack->page[i] = -1;
    static const run everything = {.ifd = -1, .planes = -1};
    if (!o->run_count)
        TRY(place_run(o, &everything, size, samples, pages, ifd, stack));
    for (int64_t r = 0; r < o->run_count; r++)
        TRY(place_run(o, &o->runs[r], size, samples, pages, ifd, stack));
    for (int64_t i = 0; i < all; i++)
        if (stack->page[i] < 0)
            return dm_broken(input, "its OME-XML tells no page of the plane z = %lld, c = %lld, t = %lld",
                             (long long)(i % size[Z]), (long long)(i / size[Z] % size[C]),
                             (long long)(i / size[Z] / size[C]));
    stack->times = size[T] > 1 ? size[T] : 0;
    stack->channels = size[C] > 1 ? size[C] : 0;
    stack->slices = size[Z] > 1 ? size[Z] : 0;
    return DISTMAP_OK;
}

distmap_status dm_ome_read(distmap_reader *reader, const char *text, const dm_tiff_page *form, int64_t pages,
                           const int64_t *ifd, dm_tiff_stack *stack) {
    ome *o = calloc(1, sizeof *o);
    if (!o)
        return dm_no_memory(reader->input.name);
    o->xml = dm_xml_begin(text, strlen(text));
    o->reader = reader;
    distmap_status status = parse(o);
    if (!status)
        status = place_planes(o, form, pages, ifd, stack);
    if (!status) {
        stack->pitch[0] = o->pitch[0], stack->pitch[1] = o->pitch[1];
        stack->spacing = o->pitch[2];
        stack->interval = o->increment;
        memcpy(stack->unit, o->unit, sizeof stack->unit);
        memcpy(stack->interval_unit, o->increment_unit, sizeof stack->interval_unit);
    }
    free(o->runs);
    free(o);
    return status;
}

/* ---- Writing ---- */

/* OME's names of elements' types; NULL: it has none. */
static const char *type_name(distmap_dtype dtype) {
    switch (dtype) {
    case DISTMAP_BOOL: return "bit";
    case DISTMAP_FLOAT32: return "float";
    case DISTMAP_FLOAT64: return "double";
    case DISTMAP_INT64:
    case DISTMAP_UINT64: return NULL;
    default: return distmap_dtype_name(dtype);
    }
}

bool dm_ome_wanted(const distmap_writer *writer) {
    return dm_ends_with_any(writer->output.file, ".ome.tif .ome.tiff") ||
           (dm_native_find(&writer->info, "ome", "xml") && type_name(writer->info.dtype));
}

/* OME's name of a unit; NULL: it has none. */
static const char *unit_name(const char *unit, bool of_time) {
    static const char *const lengths = " Ym Zm Em Pm Tm Gm Mm km hm dam m dm cm mm nm pm fm am zm ym thou li ft yd mi "
                                       "ua ly pc pt ",
                             *const times = " Ys Zs Es Ps Ts Gs Ms ks hs das s ds cs ms ns ps fs as zs ys min h d ";
    char word[20];
    if (!strcmp(unit, of_time ? "us" : "um"))
        return of_time ? "\xc2\xb5s" : "\xc2\xb5m";
    if (!of_time && !strcmp(unit, "inch"))
        return "in";
    if (!of_time && !strcmp(unit, "angstrom"))
        return "\xc3\x85";
    snprintf(word, sizeof word, " %s ", unit);
    return *unit && strstr(of_time ? times : lengths, word) ? unit : NULL;
}

struct text {
    char *at;
    size_t used, room;
};

static void add(struct text *to, const char *format, ...) DISTMAP_PRINTF(2, 3);
static void add(struct text *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(to->at + to->used, to->room - to->used, format, args);
    va_end(args);
    to->used += length > 0 ? (size_t)length : 0;
}

/* What OME has no name for becomes micrometres where it is a length, and is a frame of reference of its own where nobody knows. */
static void add_length(struct text *to, char letter, const distmap_axis *axis, const char *unit) {
    if (!(axis->pitch > 0))
        return;
    const double to_um = distmap_unit_ratio(unit, "um");
    const char *name = unit_name(unit, false);
    const double pitch = !name && to_um > 0 ? dm_to_digits(axis->pitch * to_um, 15) : axis->pitch;
    char number[40];
    add(to, " PhysicalSize%c=\"%s\" PhysicalSize%cUnit=\"%s\"", letter, dm_decimal(pitch, number), letter,
        name        ? name
        : to_um > 0 ? "\xc2\xb5m"
        : *unit     ? "reference frame"
                    : "pixel");
}

static void add_pixels(struct text *to, const distmap_image_info *info) {
    char order[6] = "XY", *next = order + 2;
    int64_t size[PLACES] = {1, 1, 1}, planes = 1;
    static const char letters[] = "ZCT";
    int place[DISTMAP_MAX_AXES], axis_of[PLACES] = {-1, -1, -1};
    for (int a = info->ndim - 3; a >= 0; a--) {
        place[a] = info->axis[a].type == DISTMAP_AXIS_TIME ? T : info->axis[a].type == DISTMAP_AXIS_CHANNEL ? C : Z;
        size[place[a]] = info->shape[a];
        axis_of[place[a]] = a;
        planes *= info->shape[a];
        *next++ = letters[place[a]];
    }
    for (int p = 0; p < PLACES; p++)
        if (axis_of[p] < 0)
            *next++ = letters[p];
    add(to, "<Pixels ID=\"Pixels:0\" DimensionOrder=\"%.5s\" Type=\"%s\" SizeX=\"%lld\" SizeY=\"%lld\" SizeZ=\"%lld\"",
        order, type_name(info->dtype), (long long)info->shape[info->ndim - 1], (long long)info->shape[info->ndim - 2],
        (long long)size[Z]);
    add(to, " SizeC=\"%lld\" SizeT=\"%lld\" BigEndian=\"%s\"", (long long)size[C], (long long)size[T],
        DM_HOST_BIG ? "true" : "false");
    const char *unit = distmap_image_unit(info);
    add_length(to, 'X', &info->axis[info->ndim - 1], unit);
    add_length(to, 'Y', &info->axis[info->ndim - 2], unit);
    if (axis_of[Z] >= 0)
        add_length(to, 'Z', &info->axis[axis_of[Z]], unit);
    if (axis_of[T] >= 0 && info->axis[axis_of[T]].pitch > 0) {
        const distmap_axis *t = &info->axis[axis_of[T]];
        const char *name = unit_name(*t->unit ? t->unit : "s", true);
        char number[40];
        if (name)
            add(to, " TimeIncrement=\"%s\" TimeIncrementUnit=\"%s\"", dm_decimal(t->pitch, number), name);
    }
    add(to, ">");
    for (int64_t c = 0; c < size[C]; c++)
        add(to, "<Channel ID=\"Channel:0:%lld\" SamplesPerPixel=\"1\"/>", (long long)c);
    add(to, "<TiffData IFD=\"0\" PlaneCount=\"%lld\"/></Pixels>", (long long)planes);
}

distmap_status dm_ome_write(const distmap_writer *writer, TIFF *tiff) {
    const distmap_image_info *info = &writer->info;
    int64_t channels = 1;
    for (int a = 0; a < info->ndim; a++)
        channels = info->axis[a].type == DISTMAP_AXIS_CHANNEL ? info->shape[a] : channels;
    if (!type_name(info->dtype))
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED,
                                 "%s: OME-TIFF cannot hold %s (it holds integers of 8, 16 and 32 bits, float32, "
                                 "float64 and bool)",
                                 writer->output.name, distmap_dtype_name(info->dtype));
    struct text text = {.room = 2000 + (size_t)channels * 80};
    if (!(text.at = malloc(text.room)))
        return dm_no_memory(writer->output.name);
    add(&text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
        "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
        "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" "
        "Creator=\"distmap %s\"><Image ID=\"Image:0\" Name=\"image\">",
        distmap_version());
    add_pixels(&text, info);
    add(&text, "</Image></OME>");
    TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, text.at);
    free(text.at);
    return DISTMAP_OK;
}
