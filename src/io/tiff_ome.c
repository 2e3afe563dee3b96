/* OME-TIFF: an XML text in the first page's ImageDescription says which page is which plane of z, channel and time, and how far
 * elements are from each other.
 *
 *     <OME> <Image> <Pixels DimensionOrder="XYZCT" SizeX= SizeY= SizeZ= SizeC= SizeT= PhysicalSizeX= PhysicalSizeXUnit= ...>
 *         <Channel SamplesPerPixel=/> <TiffData IFD= FirstZ= FirstC= FirstT= PlaneCount=> <UUID FileName=/> </TiffData>
 *
 * DimensionOrder has the fastest first. A TiffData is a run of directories from IFD on that are a run of planes in that order.
 * Lengths are in micrometres and times in seconds unless a unit is told. Of several images the first one is taken. SizeC counts
 * samples: a colour picture of three is one channel here, bands are three. The text itself goes along, "ome" "xml", so that a TIFF
 * that is written from it is an OME-TIFF again (tiff_ome_write.c).
 */
#include <math.h>
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
            return dm_broken(&o->reader->input, "its OME-XML names a plane in page %lld, which is not there",
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
        return dm_broken(input, "its OME-XML names %lld x %lld pixels, a page has %u x %u", (long long)o->size_x,
                         (long long)o->size_y, form->width, form->height);
    if (o->size[C] % samples)
        return dm_broken(input, "its OME-XML names %lld channels, in pages of %lld samples", (long long)o->size[C],
                         (long long)samples);
    const int64_t size[PLACES] = {o->size[Z], o->size[C] / samples, o->size[T]};
    int64_t all;
    if (__builtin_mul_overflow(size[Z], size[C], &all) || __builtin_mul_overflow(all, size[T], &all) || all > pages)
        return dm_broken(input, "its OME-XML names %lld slices, %lld channels and %lld times, but the file has %lld pages",
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
            return dm_broken(input, "its OME-XML names no page for the plane z = %lld, c = %lld, t = %lld",
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
        stack->images = o->images;
        memcpy(stack->unit, o->unit, sizeof stack->unit);
        memcpy(stack->interval_unit, o->increment_unit, sizeof stack->interval_unit);
    }
    free(o->runs);
    free(o);
    return status;
}
