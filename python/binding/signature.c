/* The signature of a call, which distinguishes it from other calls: arrays by type, shape and strides, options by type and value. */
#include "binding.h"

enum { DEEPEST = 3 }; /* lists of lists in options */

static PyObject *array_type, *scalar_type, *dtype_type, *struct_name;

/* ---- Arrays -------------------------------------------------------------------------------------------------------------- */

/* The target of NumPy's attribute __array_struct__, as in its manual ("The array interface protocol"). */
struct array_interface {
    int two, nd;
    char typekind;
    int itemsize, flags;
    Py_intptr_t *shape, *strides;
    void *data;
};
enum { ALIGNED = 0x100, NATIVE = 0x200, WRITABLE = 0x400 };

static distmap_dtype dtype_of(char kind, int bytes) {
    const bool wide = bytes <= 8;
    switch (kind) {
    case 'b': return DISTMAP_BOOL;
    case 'i':
        return (distmap_dtype[]){
            0, DISTMAP_INT8, DISTMAP_INT16, 0, DISTMAP_INT32, 0, 0, 0, DISTMAP_INT64}[wide ? bytes : 0];
    case 'u':
        return (distmap_dtype[]){
            0, DISTMAP_UINT8, DISTMAP_UINT16, 0, DISTMAP_UINT32, 0, 0, 0, DISTMAP_UINT64}[wide ? bytes : 0];
    case 'f': return bytes == 4 ? DISTMAP_FLOAT32 : bytes == 8 ? DISTMAP_FLOAT64 : DISTMAP_NONE;
    default: return DISTMAP_NONE;
    }
}

bool dmb_look(PyObject *array, bool writable, distmap_view *view) {
    if ((PyObject *)Py_TYPE(array) != array_type)
        return false;
    PyObject *capsule = PyObject_GetAttr(array, struct_name);
    const struct array_interface *told = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    const int flags = ALIGNED | NATIVE | (writable ? WRITABLE : 0);
    bool known = told && told->nd >= 1 && told->nd <= DISTMAP_MAX_AXES && (told->flags & flags) == flags;
    if (known) {
        *view = (distmap_view){.data = told->data, .dtype = dtype_of(told->typekind, told->itemsize), .ndim = told->nd};
        for (int a = 0; a < told->nd; a++) {
            view->shape[a] = told->shape[a];
            view->strides[a] = told->strides[a];
        }
        known = view->dtype != DISTMAP_NONE;
    }
    Py_XDECREF(capsule);
    PyErr_Clear();
    return known;
}

bool dmb_alike(const distmap_view *a, const distmap_view *b) {
    const size_t bytes = (size_t)a->ndim * sizeof *a->shape;
    return a->dtype == b->dtype && a->ndim == b->ndim && !memcmp(a->shape, b->shape, bytes) &&
           !memcmp(a->strides, b->strides, bytes);
}

/* ---- Options ------------------------------------------------------------------------------------------------------------- */

bool dmb_is_number_or_name(PyObject *value) {
    return PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyUnicode_CheckExact(value);
}

static bool is_sequence(PyObject *value) { return PyTuple_CheckExact(value) || PyList_CheckExact(value); }

bool dmb_is_plain(PyObject *value, int depth) {
    if (!is_sequence(value))
        return value == Py_None || PyBool_Check(value) || dmb_is_number_or_name(value) || PyType_Check(value) ||
               PyObject_TypeCheck(value, (PyTypeObject *)scalar_type) ||
               PyObject_TypeCheck(value, (PyTypeObject *)dtype_type);
    bool plain = depth < DEEPEST;
    for (Py_ssize_t i = 0, count = PySequence_Size(value); plain && i < count; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        plain = item && dmb_is_plain(item, depth + 1);
        Py_XDECREF(item);
    }
    return plain;
}

PyObject *dmb_copy(PyObject *value) {
    if (!is_sequence(value))
        return Py_NewRef(value);
    const Py_ssize_t count = PySequence_Size(value);
    PyObject *list = PyList_New(count), *copy = list;
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        PyList_SetItem(list, i, item ? dmb_copy(item) : Py_NewRef(Py_None));
        Py_XDECREF(item);
    }
    if (list && PyTuple_CheckExact(value)) {
        copy = PyList_AsTuple(list);
        Py_DECREF(list);
    }
    return copy;
}

bool dmb_same(PyObject *kept, PyObject *given) {
    if (kept == given)
        return true;
    if (Py_TYPE(kept) != Py_TYPE(given) || PyType_Check(kept))
        return false;
    if (!is_sequence(kept))
        return PyObject_RichCompareBool(kept, given, Py_EQ) == 1;
    const Py_ssize_t count = PySequence_Size(kept);
    bool equal = PySequence_Size(given) == count;
    for (Py_ssize_t i = 0; equal && i < count; i++) {
        PyObject *a = PySequence_GetItem(kept, i), *b = PySequence_GetItem(given, i);
        equal = a && b && dmb_same(a, b);
        Py_XDECREF(a);
        Py_XDECREF(b);
    }
    return equal;
}

bool dmb_add_signatures(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy)
        return false;
    array_type = PyObject_GetAttrString(numpy, "ndarray");
    scalar_type = PyObject_GetAttrString(numpy, "generic");
    dtype_type = PyObject_GetAttrString(numpy, "dtype");
    struct_name = PyUnicode_InternFromString("__array_struct__");
    Py_DECREF(numpy);
    return !PyErr_Occurred();
}
