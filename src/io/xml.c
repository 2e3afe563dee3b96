/* A reader of the XML that image files carry (OME-XML, GDAL's metadata): one pass over the text, no copy, no tree.
 *
 * It is written here rather than taken from a library because all that these need is elements, attributes and their nesting; what
 * makes XML large and dangerous, document types with entities of their own, is refused. Texts are UTF-8 or ASCII, and well formed:
 * tags are nested, attributes quoted and each there once, entities known, one root.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/xml.h"

dm_xml dm_xml_begin(const char *text, size_t bytes) {
    if (bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        text += 3, bytes -= 3;
    return (dm_xml){.begin = text, .at = text, .end = text + bytes};
}

static dm_xml_event fault(dm_xml *xml, const char *why) {
    xml->fault = why;
    return DM_XML_FAULT;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           c == '_' || c == ':' || c == '-' || c == '.';
}

static bool starts(const dm_xml *xml, const char *with) {
    const size_t length = strlen(with);
    return (size_t)(xml->end - xml->at) >= length && !memcmp(xml->at, with, length);
}

static bool skip_past(dm_xml *xml, const char *mark) {
    const size_t length = strlen(mark);
    for (; (size_t)(xml->end - xml->at) >= length; xml->at++)
        if (!memcmp(xml->at, mark, length)) {
            xml->at += length;
            return true;
        }
    return false;
}

static const char *after_name(const char *at, const char *end) {
    while (at < end && is_name(*at))
        at++;
    return at;
}

static const char *after_space(const char *at, const char *end) {
    while (at < end && is_space(*at))
        at++;
    return at;
}

/* ---- Entities ---- */

/* Those that every XML has, and numbers: how many bytes of UTF-8 are put `to`, and behind it (*from); 0: it is none. */
static size_t replace(const char **from, const char *end, char to[4]) {
    static const struct {
        const char *name;
        char c;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const size_t length = strlen(known[k].name);
        if ((size_t)(end - *from) >= length && !memcmp(*from, known[k].name, length)) {
            *from += length;
            *to = known[k].c;
            return 1;
        }
    }
    if (end - *from < 4 || (*from)[1] != '#')
        return 0;
    const bool hex = (*from)[2] == 'x';
    uint32_t code = 0;
    const char *at = *from + (hex ? 3 : 2), *first = at;
    for (; at < end && *at != ';' && at - first < 8; at++) {
        const char c = *at;
        const int digit = c >= '0' && c <= '9'          ? c - '0'
                          : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : hex && c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                        : -1;
        if (digit < 0)
            return 0;
        code = code * (hex ? 16 : 10) + (uint32_t)digit;
    }
    if (at == first || at == end || *at != ';' || !code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    *from = at + 1;
    const size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = bytes - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(lead[bytes] | code);
    return bytes;
}

static bool entities_known(dm_xml_span span) {
    char c[4];
    for (const char *at = span.at, *end = at + span.bytes; at < end;)
        if (*at != '&')
            at++;
        else if (!replace(&at, end, c))
            return false;
    return true;
}

/* ---- Tags ---- */

/* One attribute from `at` on; what follows it, or NULL where it is none. */
static const char *take_attribute(const char *at, const char *end, dm_xml_span *name, dm_xml_span *value) {
    const char *behind = after_name(at, end);
    *name = (dm_xml_span){at, (size_t)(behind - at)};
    at = after_space(behind, end);
    if (!name->bytes || at == end || *at != '=')
        return NULL;
    at = after_space(at + 1, end);
    if (at == end || (*at != '"' && *at != '\''))
        return NULL;
    const char *closing = memchr(at + 1, *at, (size_t)(end - at - 1));
    if (!closing)
        return NULL;
    *value = (dm_xml_span){at + 1, (size_t)(closing - at - 1)};
    return closing + 1;
}

static bool same(dm_xml_span a, dm_xml_span b) { return a.bytes == b.bytes && !memcmp(a.at, b.at, a.bytes); }

static bool is_twice(const dm_xml *xml, dm_xml_span name) {
    dm_xml_span other, value;
    const char *at = after_space(xml->attributes.at, name.at);
    for (; at < name.at; at = after_space(at, name.at)) {
        at = take_attribute(at, name.at, &other, &value);
        if (!at || same(other, name))
            return true;
    }
    return false;
}

static dm_xml_span without_prefix(dm_xml_span name) {
    const char *colon = memchr(name.at, ':', name.bytes);
    return colon ? (dm_xml_span){colon + 1, name.bytes - (size_t)(colon + 1 - name.at)} : name;
}

static dm_xml_event open_tag(dm_xml *xml) {
    const char *behind = after_name(xml->at + 1, xml->end);
    const dm_xml_span name = {xml->at + 1, (size_t)(behind - xml->at - 1)};
    if (!name.bytes)
        return fault(xml, "a < begins no tag");
    if (!xml->depth && xml->had_root)
        return fault(xml, "it has a second root");
    if (xml->depth == DM_XML_DEPTH)
        return fault(xml, "it is nested too deeply");
    xml->attributes = (dm_xml_span){behind, 0};
    int count = 0;
    const char *at = after_space(behind, xml->end);
    while (at < xml->end && *at != '>' && *at != '/') {
        dm_xml_span attribute, value;
        const char *next = take_attribute(at, xml->end, &attribute, &value);
        if (!next || memchr(value.at, '<', value.bytes))
            return fault(xml, "a tag is broken");
        if (!entities_known(value))
            return fault(xml, "an entity is not known");
        if (++count > 100 || is_twice(xml, attribute))
            return fault(xml, "an attribute is there twice");
        at = after_space(next, xml->end);
    }
    xml->attributes.bytes = (size_t)(at - behind);
    xml->empty = at < xml->end && *at == '/';
    at += xml->empty;
    if (at == xml->end || *at != '>')
        return fault(xml, "it ends within a tag");
    xml->at = at + 1;
    xml->had_root = true;
    xml->open[xml->depth++] = name;
    xml->name = without_prefix(name);
    return DM_XML_OPEN;
}

static dm_xml_event close_tag(dm_xml *xml) {
    const char *behind = after_name(xml->at + 2, xml->end), *at = after_space(behind, xml->end);
    const dm_xml_span name = {xml->at + 2, (size_t)(behind - xml->at - 2)};
    if (at == xml->end || *at != '>')
        return fault(xml, "it ends within a tag");
    if (!xml->depth || !same(name, xml->open[xml->depth - 1]))
        return fault(xml, "a tag is closed that is not the last one open");
    xml->at = at + 1;
    xml->name = without_prefix(name);
    xml->closes = true;
    return DM_XML_CLOSE;
}

static dm_xml_event text(dm_xml *xml) {
    const char *next = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
    xml->text = (dm_xml_span){xml->at, (size_t)((next ? next : xml->end) - xml->at)};
    xml->at += xml->text.bytes;
    if (!entities_known(xml->text))
        return fault(xml, "an entity is not known");
    return DM_XML_TEXT;
}

dm_xml_event dm_xml_next(dm_xml *xml) {
    if (xml->fault)
        return DM_XML_FAULT;
    xml->depth -= xml->closes;
    xml->closes = false;
    if (xml->empty) {
        xml->empty = false;
        xml->closes = true;
        return DM_XML_CLOSE;
    }
    for (;;) {
        if (!xml->depth) { /* zeros at the end are padding */
            while (xml->at < xml->end && (is_space(*xml->at) || (xml->had_root && !*xml->at)))
                xml->at++;
        }
        xml->event = xml->at;
        if (xml->at == xml->end)
            return xml->depth || !xml->had_root ? fault(xml, "it ends before its last tag") : DM_XML_END;
        if (starts(xml, "<!--")) {
            xml->at += 4;
            if (!skip_past(xml, "-->"))
                return fault(xml, "it ends within a comment");
        } else if (starts(xml, "<?")) {
            if (!skip_past(xml, "?>"))
                return fault(xml, "it ends within a declaration");
        } else if (xml->depth && starts(xml, "<![CDATA[")) {
            xml->at += 9;
            xml->text.at = xml->at;
            if (!skip_past(xml, "]]>"))
                return fault(xml, "it ends within CDATA");
            xml->text.bytes = (size_t)(xml->at - 3 - xml->text.at);
            return DM_XML_TEXT;
        } else if (starts(xml, "<!")) {
            return fault(xml, "it has a document type, which is not read");
        } else if (starts(xml, "</")) {
            return close_tag(xml);
        } else if (*xml->at == '<') {
            return open_tag(xml);
        } else if (!xml->depth) {
            return fault(xml, "there is text outside its root");
        } else {
            return text(xml);
        }
    }
}

bool dm_xml_is(const dm_xml *xml, const char *name) {
    return xml->name.bytes == strlen(name) && !memcmp(xml->name.at, name, xml->name.bytes);
}

bool dm_xml_attribute(const dm_xml *xml, const char *name, char *value, size_t room) {
    const char *at = xml->attributes.at, *end = at + xml->attributes.bytes;
    dm_xml_span found, raw;
    for (at = after_space(at, end); at < end; at = after_space(at, end)) {
        if (!(at = take_attribute(at, end, &found, &raw)))
            return false;
        if (found.bytes != strlen(name) || memcmp(found.at, name, found.bytes) != 0)
            continue;
        size_t used = 0;
        for (const char *from = raw.at; from < raw.at + raw.bytes;) {
            char c[4] = {*from};
            const size_t bytes = *from == '&' ? replace(&from, raw.at + raw.bytes, c) : (from++, 1);
            if (!bytes || used + bytes >= room)
                return false;
            memcpy(value + used, c, bytes);
            used += bytes;
        }
        value[used] = '\0';
        return true;
    }
    return false;
}

int dm_xml_line(const dm_xml *xml) {
    int line = 1;
    for (const char *p = xml->begin; p < xml->at; p++)
        line += *p == '\n';
    return line;
}
