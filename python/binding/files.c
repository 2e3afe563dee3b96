/* Image files: readers and writers of libdistmap_io as Python objects, and the metadata of files as mappings. */
#include "binding.h"

static PyTypeObject *reader_type;

typedef struct reader {
    PyObject_HEAD distmap_reader *handle;
} reader;

static PyObject *raise(distmap_status status) { return dmb_raise(status, dmb_io.error_text()); }

/* The library calls it after each signal that interrupted a wait for a pipe or a lock. Whether a handler raised; the exception is then this
 * thread's. Handlers run in the main thread only. */
int dmb_interrupted(void) {
    const PyGILState_STATE state = PyGILState_Ensure();
    const bool raised = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return raised;
}

static PyObject *answer(distmap_status status) {
    if (PyErr_Occurred())
        return NULL;
    if (status != DISTMAP_OK)
        return raise(status);
    Py_RETURN_NONE;
}

static PyObject *reader_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)names;
    const char *path;
    if (!PyArg_ParseTuple(arguments, "y", &path))
        return NULL;
    reader *self = (reader *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    distmap_status status;
    Py_BEGIN_ALLOW_THREADS status = dmb_io.reader_open(path, &self->handle);
    Py_END_ALLOW_THREADS if (status == DISTMAP_OK) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return answer(status);
}

static void reader_free(PyObject *object) {
    reader *self = (reader *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->handle)
        dmb_io.reader_close(&self->handle);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* The mapping of distmap_image_info, and "native": [(family, name, bytes), ...]. */
static PyObject *reader_info(PyObject *self, PyObject *unused) {
    (void)unused;
    const distmap_image_info *info = dmb_io.reader_info(((reader *)self)->handle);
    PyObject *told = dmb_read(dmb_image_info, info), *natives = PyList_New(0);
    for (int i = 0; natives && i < info->native_count; i++) {
        const distmap_native *native = &info->native[i];
        PyObject *one =
            Py_BuildValue("ssy#", native->family, native->name, (const char *)native->data, (Py_ssize_t)native->bytes);
        if (!one || PyList_Append(natives, one))
            Py_CLEAR(natives);
        Py_XDECREF(one);
    }
    if (!told || !natives || PyDict_SetItemString(told, "native", natives))
        Py_CLEAR(told);
    Py_XDECREF(natives);
    return told;
}

static PyObject *reader_select(PyObject *self, PyObject *arguments) {
    int axis;
    long long place;
    if (!PyArg_ParseTuple(arguments, "iL", &axis, &place))
        return NULL;
    return answer(dmb_io.reader_select(((reader *)self)->handle, axis, place));
}

static PyObject *reader_sample(PyObject *self, PyObject *sample) {
    const long number = PyLong_AsLong(sample);
    return PyErr_Occurred() ? NULL : answer(dmb_io.reader_sample(((reader *)self)->handle, (distmap_sample)number));
}

/* read(address): all slices, to there. */
static PyObject *reader_read(PyObject *self, PyObject *address) {
    distmap_reader *handle = ((reader *)self)->handle;
    void *out = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred())
        return NULL;
    distmap_status status;
    Py_BEGIN_ALLOW_THREADS status = dmb_io.reader_read(handle, 0, dmb_io.reader_info(handle)->shape[0], out);
    Py_END_ALLOW_THREADS return answer(status);
}

enum { MOST_NATIVES = 256 };

/* The contents of a list of (family, name, bytes), borrowed from it. */
static bool read_natives(PyObject *list, distmap_native natives[MOST_NATIVES], int *count) {
    const Py_ssize_t all = PyList_Size(list);
    for (*count = 0; *count < all && *count < MOST_NATIVES; ++*count) {
        Py_ssize_t bytes;
        distmap_native *native = &natives[*count];
        if (!PyArg_ParseTuple(PyList_GetItem(list, *count), "ssy#", &native->family, &native->name, &native->data,
                              &bytes))
            return false;
        native->bytes = (size_t)bytes;
    }
    return true;
}

/* write_file(path, info, natives, address, sync): the whole image, in C order from there. */
static PyObject *write_file(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path;
    PyObject *given, *list, *address;
    int sync;
    distmap_native natives[MOST_NATIVES];
    distmap_image_info info = {.native = natives};
    if (!PyArg_ParseTuple(arguments, "yO!O!Op", &path, &PyDict_Type, &given, &PyList_Type, &list, &address, &sync) ||
        !dmb_write(dmb_image_info, given, &info) || !read_natives(list, natives, &info.native_count))
        return NULL;
    const void *slices = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred())
        return NULL;
    distmap_writer *writer = NULL;
    distmap_status status;
    PyThreadState *released = PyEval_SaveThread();
    status = dmb_io.writer_open_sized(path, &info, sizeof info, &writer);
    if (status == DISTMAP_OK && info.shape[0])
        status = dmb_io.writer_write(writer, info.shape[0], slices);
    if (status == DISTMAP_OK)
        status = dmb_io.writers_finish(&writer, 1, sync ? 0 : DISTMAP_FINISH_UNSYNCED);
    PyEval_RestoreThread(released);
    PyObject *result = answer(status);
    if (writer)
        dmb_io.writer_abort(&writer);
    return result;
}

static PyMethodDef reader_methods[] = {{"info", reader_info, METH_NOARGS, NULL},
                                       {"select", reader_select, METH_VARARGS, NULL},
                                       {"sample", reader_sample, METH_O, NULL},
                                       {"read", reader_read, METH_O, NULL},
                                       {0}};
static PyType_Slot reader_slots[] = {
    {Py_tp_new, reader_new}, {Py_tp_dealloc, reader_free}, {Py_tp_methods, reader_methods}, {0}};
static PyType_Spec reader_spec = {"distmap._core.Reader", sizeof(reader), 0, Py_TPFLAGS_DEFAULT, reader_slots};
static PyMethodDef functions[] = {{"write_file", write_file, METH_VARARGS, NULL}, {0}};

bool dmb_add_files(PyObject *module) {
    reader_type = (PyTypeObject *)PyType_FromSpec(&reader_spec);
    return reader_type && !PyModule_AddType(module, reader_type) && !PyModule_AddFunctions(module, functions);
}
