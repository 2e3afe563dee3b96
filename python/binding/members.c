/* Converts structs to mappings and back, by tables of their members. The tables have names only: the compiler supplies offsets, sizes and
 * kinds from the headers. Arrays are lists (several dimensions in one list), structs are mappings, NULL is None. */
#include "binding.h"

/* An array in a controlling expression is a pointer to its elements. */
#define KIND(x) \
    _Generic((x), bool: DMB_BOOL, int: DMB_SIGNED, unsigned: DMB_UNSIGNED, int64_t: DMB_SIGNED, uint64_t: DMB_UNSIGNED, double: DMB_REAL, void *: DMB_POINTER, \
        const char *: DMB_STRING, char *: DMB_TEXT, int *: DMB_SIGNED, const int *: DMB_POINTER, int64_t *: DMB_SIGNED, double *: DMB_REAL,                \
        double (*)[3]: DMB_REAL)
#define SIZE(x) \
    _Generic((x), int *: sizeof(int), int64_t *: sizeof(int64_t), double *: sizeof(double), double (*)[3]: sizeof(double),         \
        default: sizeof(x))
#define OF(name) (((THIS *)0)->name)
#define MEMBER(name) \
    { #name, offsetof(THIS, name), sizeof(OF(name)), SIZE(OF(name)), KIND(OF(name)), NULL }
#define STRUCTURE(name, members) \
    { #name, offsetof(THIS, name), sizeof(OF(name)), sizeof(OF(name)), DMB_PART, members }
#define STRUCTURES(name, members) \
    { #name, offsetof(THIS, name), sizeof(OF(name)), sizeof(*OF(name)), DMB_PART, members }
#define END \
    { 0 }

static size_t count_of(const struct dmb_member *member) { return member->bytes / member->size; }

#define THIS distmap_view
const struct dmb_member dmb_view[] = {MEMBER(data),    MEMBER(dtype), MEMBER(ndim), MEMBER(shape),
                                      MEMBER(strides), MEMBER(space), END};
#undef THIS
#define THIS distmap_arrays
const struct dmb_member dmb_arrays[] = {STRUCTURE(input, dmb_view),    STRUCTURE(payload, dmb_view),
                                        STRUCTURE(distance, dmb_view), STRUCTURE(squared, dmb_view),
                                        STRUCTURE(index, dmb_view),    STRUCTURES(coords, dmb_view),
                                        STRUCTURE(label, dmb_view),    STRUCTURE(strength, dmb_view),
                                        STRUCTURE(mask, dmb_view),     STRUCTURE(within, dmb_view),
                                        STRUCTURE(beyond, dmb_view),   STRUCTURE(other, dmb_view),
                                        STRUCTURE(sites, dmb_view),    STRUCTURE(centroids, dmb_view),
                                        STRUCTURE(energies, dmb_view), END};
#undef THIS
#define THIS distmap_context_options
const struct dmb_member dmb_context_options[] = {MEMBER(device), MEMBER(threads), MEMBER(ordinal), MEMBER(stream), END};
#undef THIS
#define THIS distmap_sites
static const struct dmb_member sites[] = {MEMBER(rule), MEMBER(lo), MEMBER(hi), END};
#undef THIS
#define THIS distmap_outputs
static const struct dmb_member outputs[] = {MEMBER(distance),
                                            MEMBER(squared),
                                            MEMBER(index),
                                            MEMBER(coords),
                                            MEMBER(label),
                                            MEMBER(strength),
                                            MEMBER(mask),
                                            MEMBER(within),
                                            MEMBER(beyond),
                                            MEMBER(sites),
                                            MEMBER(centroids),
                                            MEMBER(energies),
                                            END};
#undef THIS
#define THIS distmap_esf
static const struct dmb_member esf[] = {MEMBER(rho), MEMBER(dt), MEMBER(steps), MEMBER(tolerance), END};
#undef THIS
#define THIS distmap_skeleton
static const struct dmb_member skeleton[] = {MEMBER(pruning), MEMBER(gamma), END};
#undef THIS
#define THIS distmap_morphology
static const struct dmb_member morphology[] = {MEMBER(step), MEMBER(radius), MEMBER(outside), END};
#undef THIS
#define THIS distmap_comparison
static const struct dmb_member comparison[] = {
    MEMBER(other), MEMBER(points), MEMBER(tolerance), MEMBER(percentile_count), MEMBER(percentile), END};
#undef THIS
#define THIS distmap_cvt
static const struct dmb_member cvt[] = {MEMBER(points), MEMBER(steps), MEMBER(omega), MEMBER(seed), MEMBER(grids), END};
#undef THIS
#define THIS distmap_problem
const struct dmb_member dmb_problem[] = {MEMBER(input),
                                         MEMBER(dtype),
                                         MEMBER(ndim),
                                         MEMBER(shape),
                                         MEMBER(axes),
                                         STRUCTURE(sites, sites),
                                         MEMBER(metric),
                                         MEMBER(chamfer),
                                         MEMBER(spacing),
                                         MEMBER(limit),
                                         MEMBER(border),
                                         MEMBER(real),
                                         MEMBER(unit),
                                         MEMBER(payload),
                                         STRUCTURE(want, outputs),
                                         MEMBER(field),
                                         STRUCTURE(esf, esf),
                                         STRUCTURE(skeleton, skeleton),
                                         STRUCTURE(morphology, morphology),
                                         STRUCTURE(comparison, comparison),
                                         STRUCTURE(cvt, cvt),
                                         MEMBER(sign),
                                         MEMBER(surface),
                                         MEMBER(order),
                                         END};
#undef THIS
#define THIS distmap_plan_options
const struct dmb_member dmb_plan_options[] = {MEMBER(method),     MEMBER(scratch), MEMBER(scratch_bytes),
                                              MEMBER(host_views), MEMBER(timed),   END};
#undef THIS
#define THIS distmap_description
const struct dmb_member dmb_description[] = {MEMBER(method),        MEMBER(isa),       MEMBER(threads),
                                             MEMBER(scratch_bytes), MEMBER(integer),   MEMBER(squared_bits),
                                             MEMBER(unit),          MEMBER(multiples), END};
#undef THIS
#define THIS distmap_phase
const struct dmb_member dmb_phase[] = {MEMBER(name), MEMBER(kind), MEMBER(seconds), END};
#undef THIS
#define THIS distmap_convergence
const struct dmb_member dmb_convergence[] = {MEMBER(iterations), MEMBER(residual), END};
#undef THIS
#define THIS distmap_directed
static const struct dmb_member directed[] = {
    MEMBER(points), MEMBER(within), MEMBER(hausdorff), MEMBER(mean), MEMBER(rms), MEMBER(percentile), END};
#undef THIS
#define THIS distmap_agreement
const struct dmb_member dmb_agreement[] = {STRUCTURE(forward, directed),
                                           STRUCTURE(backward, directed),
                                           STRUCTURE(symmetric, directed),
                                           MEMBER(surface_dice),
                                           MEMBER(elements),
                                           MEMBER(common),
                                           MEMBER(dice),
                                           MEMBER(jaccard),
                                           END};
#undef THIS
#define THIS distmap_device_info
const struct dmb_member dmb_device_info[] = {
    MEMBER(name),   MEMBER(memory_bytes), MEMBER(multiprocessors), MEMBER(capability),
    MEMBER(driver), MEMBER(runtime),      MEMBER(shared_bytes),    END};
#undef THIS
#define THIS distmap_method_info
const struct dmb_member dmb_method_info[] = {MEMBER(name),  MEMBER(summary), MEMBER(source), MEMBER(device),
                                             MEMBER(exact), MEMBER(metrics), MEMBER(field),  END};
#undef THIS
#define THIS distmap_param_info
const struct dmb_member dmb_param_info[] = {MEMBER(name),    MEMBER(fallback), MEMBER(lowest),
                                            MEMBER(highest), MEMBER(summary),  END};
#undef THIS
#define THIS distmap_axis
static const struct dmb_member axis[] = {MEMBER(name), MEMBER(unit), MEMBER(type), MEMBER(pitch), END};
#undef THIS
#define THIS distmap_image_info
const struct dmb_member dmb_image_info[] = {MEMBER(format),
                                            MEMBER(dtype),
                                            MEMBER(ndim),
                                            MEMBER(shape),
                                            STRUCTURES(axis, axis),
                                            MEMBER(world_ndim),
                                            MEMBER(matrix),
                                            MEMBER(origin),
                                            MEMBER(world),
                                            MEMBER(crs),
                                            MEMBER(has_nodata),
                                            MEMBER(nodata),
                                            MEMBER(kind),
                                            MEMBER(samples),
                                            MEMBER(sample),
                                            MEMBER(packing),
                                            MEMBER(packing_asked),
                                            MEMBER(chunk),
                                            MEMBER(shard),
                                            MEMBER(zarr_format),
                                            MEMBER(chunk_asked),
                                            MEMBER(shard_asked),
                                            END};
#undef THIS

/* ---- To C --------------------------------------------------------------------------------------------------------------- */

static bool write_integer(const struct dmb_member *member, PyObject *value, void *to) {
    if (member->kind == DMB_BOOL || member->kind == DMB_POINTER) {
        const int truth = PyObject_IsTrue(value);
        void *pointer = member->kind == DMB_POINTER && truth > 0 ? PyLong_AsVoidPtr(value) : NULL;
        memcpy(to, member->kind == DMB_BOOL ? (void *)&(bool){truth > 0} : (void *)&pointer, member->size);
        return !PyErr_Occurred();
    }
    /* The low bytes come first on every machine that the library knows. */
    uint64_t bits = member->kind == DMB_SIGNED ? (uint64_t)PyLong_AsLongLong(value) : PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred())
        return false;
    const unsigned spare = 64 - 8 * (unsigned)member->size;
    if (member->kind == DMB_SIGNED ? (int64_t)(bits << spare) >> spare != (int64_t)bits
                                   : bits << spare >> spare != bits) {
        PyErr_Format(PyExc_OverflowError, "%s is %R, which its type in C cannot hold", member->name, value);
        return false;
    }
    memcpy(to, &bits, member->size);
    return true;
}

static bool write_text(const struct dmb_member *member, PyObject *value, void *to) {
    const char *text = NULL;
    Py_ssize_t length = 0;
    if (value != Py_None && !(text = PyUnicode_AsUTF8AndSize(value, &length)))
        return false;
    if (member->kind == DMB_STRING)
        memcpy(to, &text, sizeof text);
    else if ((size_t)length < member->size)
        memcpy(to, text, (size_t)length);
    else
        PyErr_Format(PyExc_ValueError, "%s is %R, must have at most %zu bytes", member->name, value, member->size - 1);
    return !PyErr_Occurred();
}

static bool write_one(const struct dmb_member *member, PyObject *value, void *to) {
    switch (member->kind) {
    case DMB_PART: return dmb_write(member->part, value, to);
    case DMB_REAL: memcpy(to, &(double){PyFloat_AsDouble(value)}, sizeof(double)); return !PyErr_Occurred();
    case DMB_STRING:
    case DMB_TEXT: return write_text(member, value, to);
    default: return write_integer(member, value, to);
    }
}

static bool write_all(const struct dmb_member *member, PyObject *value, char *to) {
    if (count_of(member) == 1)
        return write_one(member, value, to);
    const Py_ssize_t count = PySequence_Size(value);
    if (count > (Py_ssize_t)count_of(member))
        PyErr_Format(PyExc_OverflowError, "%s has %zd values, C has room for %zu", member->name, count,
                     count_of(member));
    bool right = !PyErr_Occurred();
    for (Py_ssize_t i = 0; right && i < count; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        right = item && write_one(member, item, to + (size_t)i * member->size);
        Py_XDECREF(item);
    }
    return right;
}

static const struct dmb_member *find(const struct dmb_member *members, PyObject *name) {
    while (members->name && PyUnicode_CompareWithASCIIString(name, members->name))
        members++;
    return members;
}

size_t dmb_offset(const struct dmb_member *members, PyObject *name) {
    const struct dmb_member *member = find(members, name);
    return member->name ? member->offset : SIZE_MAX;
}

bool dmb_write(const struct dmb_member *members, PyObject *mapping, void *structure) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(mapping, &at, &key, &value)) {
        const struct dmb_member *member = find(members, key);
        if (!member->name) {
            PyErr_SetObject(PyExc_KeyError, key);
            return false;
        }
        if (!write_all(member, value, (char *)structure + member->offset))
            return false;
    }
    return true;
}

/* ---- From C ------------------------------------------------------------------------------------------------------------- */

static PyObject *read_integer(const struct dmb_member *member, const void *from) {
    const unsigned spare = 64 - 8 * (unsigned)member->size;
    uint64_t bits = 0;
    memcpy(&bits, from, member->size);
    return member->kind == DMB_SIGNED ? PyLong_FromLongLong((int64_t)(bits << spare) >> spare)
                                      : PyLong_FromUnsignedLongLong(bits);
}

static PyObject *read_text(const char *text) {
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *read_one(const struct dmb_member *member, const void *from) {
    switch (member->kind) {
    case DMB_PART: return dmb_read(member->part, from);
    case DMB_BOOL: return PyBool_FromLong(*(const bool *)from);
    case DMB_REAL: return PyFloat_FromDouble(*(const double *)from);
    case DMB_STRING: return read_text(*(const char *const *)from);
    case DMB_TEXT: return read_text(from);
    default: return read_integer(member, from);
    }
}

static PyObject *read_all(const struct dmb_member *member, const char *from) {
    if (count_of(member) == 1)
        return read_one(member, from);
    PyObject *list = PyList_New((Py_ssize_t)count_of(member));
    for (size_t i = 0; list && i < count_of(member); i++) {
        PyObject *item = read_one(member, from + i * member->size);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item))
            Py_CLEAR(list);
    }
    return list;
}

PyObject *dmb_read(const struct dmb_member *members, const void *structure) {
    PyObject *mapping = PyDict_New();
    for (const struct dmb_member *member = members; mapping && member->name; member++) {
        PyObject *value = read_all(member, (const char *)structure + member->offset);
        if (!value || PyDict_SetItemString(mapping, member->name, value))
            Py_CLEAR(mapping);
        Py_XDECREF(value);
    }
    return mapping;
}
