/* The shared libraries, opened at run time. _library.py names the files, so that one binding works with the library of a wheel, of a build
 * and of the tests. The headers give the types of the functions. */
#include "binding.h"

#include <dlfcn.h>
#include <stdio.h>

struct dmb_core dmb_core;
struct dmb_io dmb_io;

static void *opened(PyObject *path) {
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    void *library = dlopen(PyBytes_AsString(bytes), RTLD_NOW | RTLD_LOCAL);
    Py_DECREF(bytes);
    if (!library)
        PyErr_SetString(PyExc_ImportError, dlerror());
    return library;
}

/* Structures of this header that Python lays out. Those that grow may be larger in the library (distmap/sized.h). */
struct layout {
    const char *name;
    size_t bytes;
    bool grows;
};
#define FIXED(name) \
    { "distmap_" #name, sizeof(distmap_##name), false }
#define GROWING(name) \
    { "distmap_" #name, sizeof(distmap_##name), true }
static const struct layout core_layouts[] = {FIXED(view),
                                             FIXED(allocator),
                                             FIXED(executor),
                                             FIXED(sites),
                                             FIXED(window),
                                             FIXED(outputs),
                                             FIXED(esf),
                                             FIXED(skeleton),
                                             FIXED(morphology),
                                             FIXED(comparison),
                                             FIXED(cvt),
                                             FIXED(param_info),
                                             FIXED(param),
                                             FIXED(directed),
                                             GROWING(device_info),
                                             GROWING(context_options),
                                             GROWING(problem),
                                             GROWING(arrays),
                                             GROWING(method_info),
                                             GROWING(plan_options),
                                             GROWING(description),
                                             GROWING(phase),
                                             GROWING(convergence),
                                             GROWING(agreement),
                                             {0}};
static const struct layout io_layouts[] = {FIXED(axis), FIXED(native), GROWING(image_info), {0}};

/* False, with an ImportError: the library's structures are not those of this binding. */
static bool fits(const struct layout *layouts, size_t (*bytes_of)(const char *name)) {
    for (; layouts->name; layouts++) {
        const size_t theirs = bytes_of(layouts->name);
        if (theirs == layouts->bytes || (layouts->grows && theirs > layouts->bytes))
            continue;
        PyErr_Format(PyExc_ImportError, "%s has %zu bytes in it, this package expects %zu", layouts->name, theirs,
                     layouts->bytes);
        return false;
    }
    return true;
}

/* Three numbers with dots between them, so that later versions are larger. */
static long rank_of(const char *version) {
    int part[3] = {0, 0, 0};
    sscanf(version, "%d.%d.%d", &part[0], &part[1], &part[2]);
    return (part[0] * 1000L + part[1]) * 1000L + part[2];
}

/* Asked before the functions of this version are looked for. */
static bool is_recent(void *library) {
    const char *(*version)(void);
    *(void **)&version = dlsym(library, "distmap_version");
    const char *told = version ? version() : "0.0.0";
    if (rank_of(told) >= rank_of(DISTMAP_VERSION))
        return true;
    PyErr_Format(PyExc_ImportError, "it is version %s, this package expects %s or newer", told, DISTMAP_VERSION);
    return false;
}

/* False, with an ImportError in the loader's words. */
#define FIND(name)                                                      \
    if (!(*(void **)&found->name = dlsym(library, "distmap_" #name))) { \
        PyErr_SetString(PyExc_ImportError, dlerror());                  \
        return false;                                                   \
    }

static bool find_core(void *library, struct dmb_core *found) {
    if (!is_recent(library))
        return false;
    DMB_CORE(FIND)
    return fits(core_layouts, found->struct_bytes);
}

static bool find_io(void *library, struct dmb_io *found) {
    DMB_IO(FIND)
    return fits(io_layouts, found->io_struct_bytes);
}

PyObject *dmb_open_core(PyObject *module, PyObject *path) {
    (void)module;
    struct dmb_core found;
    void *library = opened(path);
    if (!library)
        return NULL;
    if (!find_core(library, &found)) {
        dlclose(library);
        return NULL;
    }
    dmb_core = found;
    Py_RETURN_NONE;
}

PyObject *dmb_open_io(PyObject *module, PyObject *path) {
    (void)module;
    struct dmb_io found;
    void *library = opened(path);
    if (!library)
        return NULL;
    if (!find_io(library, &found)) {
        dlclose(library);
        return NULL;
    }
    found.io_on_interrupt(dmb_interrupted);
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
