/* Fill values: numbers and booleans, "NaN" and infinities, and a float's bits as "0x7fc00000" (version 3; a NaN has many). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/zarr.h"

/* Stores the number as a T; whether it is the same then. */
#define FILL(T, number) (memcpy(form->fill, &(T){(T)(number)}, sizeof(T)), (T)(number) == (number))

static bool take_whole(json_object *value, dm_zarr *form) {
    const int64_t whole = json_object_get_int64(value); /* each the nearest one */
    const uint64_t natural = json_object_get_uint64(value);
    switch (form->dtype) {
    case DISTMAP_BOOL: return FILL(uint8_t, whole != 0);
    case DISTMAP_INT8: return FILL(int8_t, whole);
    case DISTMAP_UINT8: return FILL(uint8_t, whole);
    case DISTMAP_INT16: return FILL(int16_t, whole);
    case DISTMAP_UINT16: return FILL(uint16_t, whole);
    case DISTMAP_INT32: return FILL(int32_t, whole);
    case DISTMAP_UINT32: return FILL(uint32_t, whole);
    case DISTMAP_INT64: return FILL(int64_t, whole) && (whole < 0 || natural == (uint64_t)whole);
    default: return FILL(uint64_t, natural) && whole >= 0;
    }
}
#undef FILL

static bool take_bits(const char *text, dm_zarr *form) {
    const size_t digits = 2 * form->size;
    if (strlen(text) != 2 + digits || strspn(text + 2, "0123456789abcdefABCDEF") != digits)
        return false;
    const uint64_t bits = strtoull(text + 2, NULL, 16);
    memcpy(form->fill, form->size == 4 ? (const void *)&(uint32_t){(uint32_t)bits} : &bits, form->size);
    return true;
}

static void take_number(double number, dm_zarr *form) {
    const float rounded = (float)number;
    memcpy(form->fill, form->dtype == DISTMAP_FLOAT32 ? (const void *)&rounded : &number, form->size);
}

static bool take_text(const char *text, dm_zarr *form) {
    static const struct {
        const char *text;
        double number;
    } words[] = {{"NaN", (double)NAN}, {"Infinity", HUGE_VAL}, {"-Infinity", -HUGE_VAL}};
    if (strncmp(text, "0x", 2) == 0)
        return take_bits(text, form);
    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i].text) == 0)
            return take_number(words[i].number, form), true;
    return false;
}

bool dm_zarr_take_fill(json_object *value, dm_zarr *form) {
    const bool is_float = form->dtype == DISTMAP_FLOAT32 || form->dtype == DISTMAP_FLOAT64;
    const double number = json_object_get_double(value);
    form->filled = value != NULL;
    if (!value)
        return true;
    if (json_object_is_type(value, json_type_string))
        return is_float && take_text(json_object_get_string(value), form);
    if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_boolean) &&
        !json_object_is_type(value, json_type_double))
        return false;
    if (is_float)
        return take_number(number, form), true;
    if (json_object_is_type(value, json_type_double) && !(fabs(number) < 0x1p53 && number == trunc(number)))
        return false; /* 3.0 is a whole number too */
    return take_whole(value, form);
}
