/* Fuzz target: the XML reader. Whatever the bytes are, events come to an end within as many steps as there are bytes, elements nest,
 * what an event points to lies within the text, and END and FAULT stay.
 */
#include <stdint.h>
#include <string.h>

#include "fuzz_demand.h"
#include "io/xml.h"

static bool lies_within(dm_xml_span span, const char *begin, const char *end) {
    return span.bytes == 0 || (span.at >= begin && span.bytes <= (size_t)(end - span.at));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1); /* of exactly that size, so that a read beyond it is seen */
    DEMAND(text);
    memcpy(text, data, size);
    char *exact = realloc(text, size ? size : 1);
    DEMAND(exact);
    dm_xml xml = dm_xml_begin(exact, size);
    int depth = 0;
    dm_xml_event event = dm_xml_next(&xml);
    for (size_t steps = 0; event != DM_XML_END && event != DM_XML_FAULT; event = dm_xml_next(&xml)) {
        DEMAND(steps++ <= 2 * size + 2);
        char value[16];
        if (event == DM_XML_OPEN) {
            depth++;
            DEMAND(lies_within(xml.name, exact, exact + size) && lies_within(xml.attributes, exact, exact + size));
            dm_xml_is(&xml, "Image");
            if (dm_xml_attribute(&xml, "ID", value, sizeof value))
                DEMAND(memchr(value, 0, sizeof value));
        } else if (event == DM_XML_CLOSE) {
            DEMAND(depth-- > 0);
        } else {
            DEMAND(lies_within(xml.text, exact, exact + size));
        }
    }
    DEMAND(event == DM_XML_FAULT ? xml.fault != NULL : depth == 0);
    DEMAND(dm_xml_line(&xml) >= 1);
    DEMAND(dm_xml_next(&xml) == event);
    free(exact);
    return 0;
}
