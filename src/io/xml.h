/* XML as images carry it: elements, attributes, text. See xml.c. */
#ifndef DISTMAP_IO_XML_H
#define DISTMAP_IO_XML_H

#include <stdbool.h>
#include <stddef.h>

typedef enum dm_xml_event { DM_XML_END, DM_XML_OPEN, DM_XML_CLOSE, DM_XML_TEXT, DM_XML_FAULT } dm_xml_event;

enum { DM_XML_DEPTH = 100 };

typedef struct dm_xml_span {
    const char *at;
    size_t bytes;
} dm_xml_span;

typedef struct dm_xml {
    const char *begin, *at, *end;
    dm_xml_span open[DM_XML_DEPTH]; /* names of the elements that are open */
    int depth;                      /* how many, with the one that opens or closes now */
    bool closes;                    /* the event is an end, after which depth is one less */
    bool empty;                     /* an element without content opened: its end comes next */
    bool had_root;
    dm_xml_span name;       /* OPEN, CLOSE: without a namespace's prefix */
    dm_xml_span attributes; /* OPEN */
    dm_xml_span text;       /* TEXT, as it stands there */
    const char *event;      /* where the event begins */
    const char *fault;      /* FAULT: why */
} dm_xml;

/* `text` stays the caller's. */
dm_xml dm_xml_begin(const char *text, size_t bytes);
/* The next event. END and FAULT come again and again. */
dm_xml_event dm_xml_next(dm_xml *xml);
/* Whether the element's name is this. */
bool dm_xml_is(const dm_xml *xml, const char *name);
/* The value of an attribute of the element that opened, its entities replaced; false: none, or too long. */
bool dm_xml_attribute(const dm_xml *xml, const char *name, char *value, size_t room);
/* The line that the reader is at, from 1 on. */
int dm_xml_line(const dm_xml *xml);

#endif
