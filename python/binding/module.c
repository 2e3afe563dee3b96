/* The module distmap._core: tables of the library, and the functions of the other files. */
#include "binding.h"

static PyObject *version(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyUnicode_FromString(dmb_core.version());
}

/* order(view): its axes in memory, slowest first. */
static PyObject *order(PyObject *module, PyObject *mapping) {
    (void)module;
    distmap_view view = {0};
    int axes[DISTMAP_MAX_AXES];
    if (!dmb_write(dmb_view, mapping, &view))
        return NULL;
    dmb_core.view_order(&view, axes);
    if (view.ndim > DISTMAP_MAX_AXES || view.ndim < 0)
        return PyErr_Format(PyExc_ValueError, "the view has %d axes", view.ndim);
    PyObject *list = PyList_New(view.ndim);
    for (int a = 0; list && a < view.ndim; a++)
        PyList_SetItem(list, a, PyLong_FromLong(axes[a]));
    return list;
}

/* unit(problem): (the unit of its pitches or 0.0, the multiples of it along each axis). */
static PyObject *unit(PyObject *module, PyObject *mapping) {
    (void)module;
    distmap_problem problem = {0};
    double size;
    int64_t multiples[DISTMAP_MAX_AXES];
    if (!dmb_write(dmb_problem, mapping, &problem))
        return NULL;
    const distmap_status status = dmb_core.problem_unit_sized(&problem, sizeof problem, &size, multiples);
    if (status != DISTMAP_OK)
        return dmb_raise(status, dmb_core.error_text());
    PyObject *list = PyList_New(problem.ndim);
    for (int a = 0; list && a < problem.ndim; a++)
        PyList_SetItem(list, a, PyLong_FromLongLong(multiples[a]));
    return Py_BuildValue("dN", size, list);
}

static PyObject *texts(const char *const *names, int64_t count) {
    PyObject *list = PyList_New(names ? (Py_ssize_t)count : 0);
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++)
        PyList_SetItem(list, i, PyUnicode_FromString(names[i]));
    return list;
}

static PyObject *param(const distmap_param_info *info) {
    PyObject *told = dmb_read(dmb_param_info, info), *names = texts(info->names, info->highest - info->lowest + 1);
    if (!told || !names || PyDict_SetItemString(told, "names", names))
        Py_CLEAR(told);
    Py_XDECREF(names);
    return told;
}

/* method(row): its mapping, with "params"; None past the end. */
static PyObject *method(PyObject *module, PyObject *row) {
    (void)module;
    const size_t number = PyLong_AsSize_t(row);
    if (PyErr_Occurred())
        return NULL;
    const distmap_method_info *info = dmb_core.method_get(number);
    if (!info)
        Py_RETURN_NONE;
    PyObject *told = dmb_read(dmb_method_info, info), *params = PyList_New((Py_ssize_t)info->param_count);
    for (size_t i = 0; params && i < info->param_count; i++)
        PyList_SetItem(params, (Py_ssize_t)i, param(&info->params[i]));
    if (!told || !params || PyErr_Occurred() || PyDict_SetItemString(told, "params", params))
        Py_CLEAR(told);
    Py_XDECREF(params);
    return told;
}

static PyObject *device_count(PyObject *module, PyObject *kind) {
    (void)module;
    const long number = PyLong_AsLong(kind);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(dmb_core.device_count((distmap_device)number));
}

/* describe(kind, ordinal): the mapping of a device. */
static PyObject *describe(PyObject *module, PyObject *arguments) {
    (void)module;
    int kind, ordinal;
    distmap_device_info info = {0};
    if (!PyArg_ParseTuple(arguments, "ii", &kind, &ordinal))
        return NULL;
    const distmap_status status = dmb_core.device_describe_sized((distmap_device)kind, ordinal, &info, sizeof info);
    return status == DISTMAP_OK ? dmb_read(dmb_device_info, &info) : dmb_raise(status, dmb_core.error_text());
}

static PyMethodDef functions[] = {{"open_core", dmb_open_core, METH_O, NULL},
                                  {"open_io", dmb_open_io, METH_O, NULL},
                                  {"version", version, METH_NOARGS, NULL},
                                  {"order", order, METH_O, NULL},
                                  {"unit", unit, METH_O, NULL},
                                  {"method", method, METH_O, NULL},
                                  {"device_count", device_count, METH_O, NULL},
                                  {"describe", describe, METH_VARARGS, NULL},
                                  {"scratch_bytes", dmb_scratch_bytes, METH_VARARGS, NULL},
                                  {"start", dmb_start, METH_O, NULL},
                                  {"call", (PyCFunction)(void (*)(void))dmb_call, METH_FASTCALL, NULL},
                                  {"keep", dmb_keep, METH_VARARGS, NULL},
                                  {"kept", dmb_kept, METH_NOARGS, NULL},
                                  {"unlike", dmb_unlike, METH_VARARGS, NULL},
                                  {"many", dmb_many, METH_VARARGS, NULL},
                                  {0}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "distmap._core", NULL, -1, functions, NULL, NULL, NULL, NULL};

static bool add_numbers(PyObject *module) {
    return !PyModule_AddIntConstant(module, "MAX_GPUS", DISTMAP_MAX_GPUS) &&
           !PyModule_AddIntConstant(module, "MAX_AXES", DISTMAP_MAX_AXES) &&
           !PyModule_AddIntConstant(module, "MAX_PERCENTILES", DISTMAP_MAX_PERCENTILES) &&
           !PyModule_AddIntConstant(module, "INDEX_NONE", DISTMAP_INDEX_NONE) &&
           !PyModule_AddIntConstant(module, "INDEX_BORDER", DISTMAP_INDEX_BORDER) &&
           !PyModule_AddIntConstant(module, "FLAG_NO_SITE", DISTMAP_FLAG_NO_SITE) &&
           !PyModule_AddIntConstant(module, "FLAG_NAN", DISTMAP_FLAG_NAN) &&
           !PyModule_AddIntConstant(module, "FLAG_UNREST", DISTMAP_FLAG_UNREST);
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module && !(add_numbers(module) && dmb_add_handles(module) && dmb_add_signatures() && dmb_add_calls() &&
                    dmb_add_files(module)))
        Py_CLEAR(module);
    return module;
}
