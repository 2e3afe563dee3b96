/* The shared libraries, opened at run time: which file is Python's to say (_library.py), so that one binding serves the library of a
 * wheel, of a build and of the tests. The types of the functions are the headers'. */
#include "binding.h"

#include <dlfcn.h>

struct dmb_core dmb_core;
struct dmb_io dmb_io;

/* ImportError with the loader's text. */
static PyObject *refused(void *library) {
    PyErr_SetString(PyExc_ImportError, dlerror());
    if (library)
        dlclose(library);
    return NULL;
}

static void *opened(PyObject *path) {
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    void *library = dlopen(PyBytes_AsString(bytes), RTLD_NOW | RTLD_LOCAL);
    Py_DECREF(bytes);
    return library ? library : (void *)refused(NULL);
}

#define FIND(name)                                                   \
    if (!(*(void **)&found.name = dlsym(library, "distmap_" #name))) \
        return refused(library);

PyObject *dmb_open_core(PyObject *module, PyObject *path) {
    (void)module;
    void *library = opened(path);
    if (!library)
        return NULL;
    struct dmb_core found;
    DMB_CORE(FIND)
    dmb_core = found;
    Py_RETURN_NONE;
}

PyObject *dmb_open_io(PyObject *module, PyObject *path) {
    (void)module;
    void *library = opened(path);
    if (!library)
        return NULL;
    struct dmb_io found;
    DMB_IO(FIND)
    dmb_io = found;
    Py_RETURN_NONE;
}

PyObject *dmb_raise(distmap_status status, const char *text) {
    PyObject *const kinds[] = {
        [DISTMAP_ERROR_ARGUMENT] = PyExc_ValueError, [DISTMAP_ERROR_VALUE] = PyExc_ValueError,
        [DISTMAP_ERROR_FORMAT] = PyExc_ValueError,   [DISTMAP_ERROR_MEMORY] = PyExc_MemoryError,
        [DISTMAP_ERROR_IO] = PyExc_OSError,          [DISTMAP_ERROR_UNSUPPORTED] = PyExc_NotImplementedError,
    };
    PyObject *kind = (size_t)status < sizeof kinds / sizeof *kinds ? kinds[status] : NULL;
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (message)
        PyErr_SetObject(kind ? kind : PyExc_RuntimeError, message);
    Py_XDECREF(message);
    return NULL;
}
