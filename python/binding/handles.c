/* Contexts and plans as Python objects. A plan keeps a reference to its context, which is therefore destroyed after it. At the end of the
 * process nothing is destroyed: a daemon thread may still use it, and the system takes the memory back. */
#include "binding.h"

#include <pthread.h>
#include <time.h>

PyTypeObject *dmb_context_type, *dmb_plan_type;
static bool leaving;
static unsigned generation;       /* of this process among the children of fork() */
static unsigned long main_thread; /* which handles signals */

static void renew(void) {
    generation++;
    main_thread = PyThread_get_thread_ident();
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static PyObject *raise(distmap_status status) { return dmb_raise(status, dmb_core.error_text()); }

static void let_go(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- Executing ---------------------------------------------------------------------------------------------------------- */

int dmb_ask(void *user, double fraction) {
    static const double SELDOM = 0.04;
    dmb_context *self = user;
    if (self->raised[0] || (self->stop && atomic_load_explicit(self->stop, memory_order_relaxed)))
        return 1;
    if (!self->progress && (!self->released || self->owner != main_thread || now() - self->asked_at < SELDOM))
        return 0;
    if (self->released)
        PyEval_RestoreThread(self->released);
    int answer = PyErr_CheckSignals();
    if (!answer && self->progress) {
        PyObject *told = PyObject_CallFunction(self->progress, "d", fraction);
        answer = told ? PyObject_IsTrue(told) : -1;
        Py_XDECREF(told);
    }
    if (answer < 0)
        PyErr_Fetch(&self->raised[0], &self->raised[1], &self->raised[2]);
    if (self->released)
        self->released = PyEval_SaveThread();
    self->asked_at = now();
    return answer != 0;
}

static bool take_turn(dmb_context *self) {
    if (self->generation != generation) {
        self->turn = PyThread_allocate_lock(); /* the old one is for threads that are not here */
        self->owner = 0;
        self->generation = generation;
    }
    const unsigned long me = PyThread_get_thread_ident();
    if (self->owner == me) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the context is in use by the execution that calls the progress function, which cannot use it"
                        " too: give it a context of its own");
        return false;
    }
    if (!PyThread_acquire_lock(self->turn, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->turn, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    self->owner = me;
    return true;
}

bool dmb_begin(dmb_context *context, PyObject *progress, bool keep_lock) {
    if (!take_turn(context))
        return false;
    context->progress = progress;
    if (!keep_lock) {
        context->asked_at = now();
        context->released = PyEval_SaveThread();
    }
    return true;
}

bool dmb_end(dmb_context *context, distmap_status status, const char *text) {
    if (context->released)
        PyEval_RestoreThread(context->released);
    context->released = NULL;
    context->progress = NULL;
    PyObject *raised[3] = {context->raised[0], context->raised[1], context->raised[2]};
    memset(context->raised, 0, sizeof raised);
    context->owner = 0;
    PyThread_release_lock(context->turn);
    if (raised[0])
        PyErr_Restore(raised[0], raised[1], raised[2]);
    else if (status != DISTMAP_OK)
        dmb_raise(status, text);
    return !PyErr_Occurred();
}

bool dmb_execute(dmb_plan *plan, const distmap_arrays *arrays, PyObject *progress, bool keep_lock) {
    if (!dmb_begin(plan->context, progress, keep_lock))
        return false;
    const distmap_status status = dmb_core.plan_execute_sized(plan->handle, arrays, sizeof *arrays);
    return dmb_end(plan->context, status, dmb_core.error_text());
}

/* ---- Contexts ------------------------------------------------------------------------------------------------------------ */

/* Context(options, ordinals): those of several GPUs, or none. */
static PyObject *context_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)names;
    PyObject *given, *numbers;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyDict_Type, &given, &PyTuple_Type, &numbers))
        return NULL;
    distmap_context_options options = {0};
    if (!dmb_write(dmb_context_options, given, &options))
        return NULL;
    int ordinals[DISTMAP_MAX_GPUS + 1]; /* one too many is the library's to refuse */
    for (Py_ssize_t i = 0; i < PyTuple_Size(numbers) && i <= DISTMAP_MAX_GPUS; i++)
        ordinals[options.ordinal_count++] = (int)PyLong_AsLong(PyTuple_GetItem(numbers, i));
    options.ordinals = options.ordinal_count ? ordinals : NULL;
    dmb_context *self = (dmb_context *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self || PyErr_Occurred())
        return Py_XDECREF((PyObject *)self), NULL;
    self->generation = generation;
    self->turn = PyThread_allocate_lock();
    options.progress = dmb_ask;
    options.progress_user = self;
    const distmap_status status = dmb_core.context_create_sized(&options, sizeof options, &self->handle);
    if (status == DISTMAP_OK && self->turn)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return status == DISTMAP_OK ? PyErr_NoMemory() : raise(status);
}

static void context_free(PyObject *object) {
    dmb_context *self = (dmb_context *)object;
    if (!leaving) {
        dmb_core.context_destroy(&self->handle);
        if (self->turn)
            PyThread_free_lock(self->turn);
    }
    let_go(object);
}

static PyObject *context_set_stream(PyObject *self, PyObject *stream) {
    const distmap_status status =
        dmb_core.context_set_stream(((dmb_context *)self)->handle, stream == Py_None ? NULL : PyLong_AsVoidPtr(stream));
    if (PyErr_Occurred() || status != DISTMAP_OK)
        return PyErr_Occurred() ? NULL : raise(status);
    Py_RETURN_NONE;
}

static PyObject *context_isa(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(dmb_core.context_isa(((dmb_context *)self)->handle));
}

static PyObject *context_threads(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(dmb_core.context_threads(((dmb_context *)self)->handle));
}

bool dmb_is_within(const dmb_context *self) {
    return self->owner == PyThread_get_thread_ident() && self->generation == generation;
}

static PyObject *context_busy(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(dmb_is_within((dmb_context *)self));
}

static PyMethodDef context_methods[] = {{"set_stream", context_set_stream, METH_O, NULL}, {0}};
static PyGetSetDef context_members[] = {{"isa", context_isa, NULL, NULL, NULL},
                                        {"threads", context_threads, NULL, NULL, NULL},
                                        {"busy", context_busy, NULL, NULL, NULL},
                                        {0}};
static PyType_Slot context_slots[] = {{Py_tp_new, context_new},
                                      {Py_tp_dealloc, context_free},
                                      {Py_tp_methods, context_methods},
                                      {Py_tp_getset, context_members},
                                      {0}};
static PyType_Spec context_spec = {"distmap._core.Context", sizeof(dmb_context), 0, Py_TPFLAGS_DEFAULT, context_slots};

/* ---- Plans ----------------------------------------------------------------------------------------------------------------- */

enum { MOST_PARAMS = 64 };

/* The options with the method's parameters, a tuple of (name, value). */
static bool read_options(PyObject *given, PyObject *values, distmap_plan_options *options,
                         distmap_param params[MOST_PARAMS]) {
    if (!dmb_write(dmb_plan_options, given, options))
        return false;
    const Py_ssize_t count = PyTuple_Size(values);
    if (count > MOST_PARAMS)
        PyErr_Format(PyExc_ValueError, "params has %zd values, more than any method has", count);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        long long value;
        if (PyArg_ParseTuple(PyTuple_GetItem(values, i), "sL", &params[i].name, &value))
            params[i].value = value;
    }
    options->params = count ? params : NULL;
    options->param_count = (size_t)count;
    return !PyErr_Occurred();
}

dmb_plan *dmb_make_plan(dmb_context *context, const distmap_problem *problem, const distmap_plan_options *options,
                        PyObject *scratch) {
    dmb_plan *self = (dmb_plan *)((allocfunc)PyType_GetSlot(dmb_plan_type, Py_tp_alloc))(dmb_plan_type, 0);
    if (!self)
        return NULL;
    self->context = (dmb_context *)Py_NewRef((PyObject *)context);
    self->scratch = Py_NewRef(scratch);
    const distmap_status status =
        dmb_core.plan_create_sized(context->handle, problem, sizeof *problem, options, sizeof *options, &self->handle);
    if (status == DISTMAP_OK)
        return self;
    Py_DECREF((PyObject *)self);
    raise(status);
    return NULL;
}

/* Plan(context, problem, options, params, scratch): `scratch` is kept until the plan is destroyed. */
static PyObject *plan_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)type, (void)names;
    PyObject *context, *given, *choices, *values, *scratch;
    if (!PyArg_ParseTuple(arguments, "O!O!O!O!O", dmb_context_type, &context, &PyDict_Type, &given, &PyDict_Type,
                          &choices, &PyTuple_Type, &values, &scratch))
        return NULL;
    distmap_problem problem = {0};
    distmap_plan_options options = {0};
    distmap_param params[MOST_PARAMS];
    if (!dmb_write(dmb_problem, given, &problem) || !read_options(choices, values, &options, params))
        return NULL;
    return (PyObject *)dmb_make_plan((dmb_context *)context, &problem, &options, scratch);
}

static void plan_free(PyObject *object) {
    dmb_plan *self = (dmb_plan *)object;
    if (!leaving)
        dmb_core.plan_destroy(&self->handle);
    Py_XDECREF(self->scratch);
    Py_XDECREF((PyObject *)self->context);
    let_go(object);
}

PyObject *dmb_scratch_bytes(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *context, *given, *choices, *values;
    if (!PyArg_ParseTuple(arguments, "O!O!O!O!", dmb_context_type, &context, &PyDict_Type, &given, &PyDict_Type,
                          &choices, &PyTuple_Type, &values))
        return NULL;
    distmap_problem problem = {0};
    distmap_plan_options options = {0};
    distmap_param params[MOST_PARAMS];
    size_t bytes;
    if (!dmb_write(dmb_problem, given, &problem) || !read_options(choices, values, &options, params))
        return NULL;
    const distmap_status status = dmb_core.scratch_bytes_sized(((dmb_context *)context)->handle, &problem,
                                                               sizeof problem, &options, sizeof options, &bytes);
    return status == DISTMAP_OK ? PyLong_FromSize_t(bytes) : raise(status);
}

/* execute(arrays, progress) */
static PyObject *plan_execute(PyObject *self, PyObject *arguments) {
    PyObject *given, *progress;
    distmap_arrays arrays = {0};
    if (!PyArg_ParseTuple(arguments, "O!O", &PyDict_Type, &given, &progress) ||
        !dmb_write(dmb_arrays, given, &arrays) ||
        !dmb_execute((dmb_plan *)self, &arrays, progress == Py_None ? NULL : progress, false))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *plan_wait(PyObject *self, PyObject *unused) {
    (void)unused;
    distmap_status status;
    Py_BEGIN_ALLOW_THREADS status = dmb_core.plan_wait(((dmb_plan *)self)->handle);
    Py_END_ALLOW_THREADS if (status != DISTMAP_OK) return raise(status);
    Py_RETURN_NONE;
}

static PyObject *plan_flags(PyObject *self, PyObject *unused) {
    (void)unused;
    unsigned flags;
    Py_BEGIN_ALLOW_THREADS flags = dmb_core.plan_flags(((dmb_plan *)self)->handle);
    Py_END_ALLOW_THREADS return PyLong_FromUnsignedLong(flags);
}

static PyObject *plan_describe(PyObject *self, PyObject *unused) {
    (void)unused;
    distmap_description told = {0};
    dmb_core.plan_describe_sized(((dmb_plan *)self)->handle, &told, sizeof told);
    return dmb_read(dmb_description, &told);
}

static PyObject *plan_phases(PyObject *self, PyObject *unused) {
    (void)unused;
    const distmap_plan *plan = ((dmb_plan *)self)->handle;
    PyObject *list = PyList_New(0);
    for (size_t i = 0, count = dmb_core.plan_phase_count(plan); list && i < count; i++) {
        distmap_phase phase = {0};
        const distmap_status status = dmb_core.plan_phase_get_sized(plan, i, &phase, sizeof phase);
        PyObject *told = status == DISTMAP_OK ? dmb_read(dmb_phase, &phase) : raise(status);
        if (!told || PyList_Append(list, told))
            Py_CLEAR(list);
        Py_XDECREF(told);
    }
    return list;
}

static PyObject *plan_convergence(PyObject *self, PyObject *unused) {
    (void)unused;
    distmap_convergence told = {0};
    const distmap_status status = dmb_core.plan_convergence_sized(((dmb_plan *)self)->handle, &told, sizeof told);
    return status == DISTMAP_OK ? dmb_read(dmb_convergence, &told) : raise(status);
}

static PyObject *plan_agreement(PyObject *self, PyObject *unused) {
    (void)unused;
    distmap_agreement told = {0};
    const distmap_status status = dmb_core.plan_agreement_sized(((dmb_plan *)self)->handle, &told, sizeof told);
    return status == DISTMAP_OK ? dmb_read(dmb_agreement, &told) : raise(status);
}

static PyMethodDef plan_methods[] = {
    {"execute", plan_execute, METH_VARARGS, NULL},    {"wait", plan_wait, METH_NOARGS, NULL},
    {"flags", plan_flags, METH_NOARGS, NULL},         {"describe", plan_describe, METH_NOARGS, NULL},
    {"phases", plan_phases, METH_NOARGS, NULL},       {"convergence", plan_convergence, METH_NOARGS, NULL},
    {"agreement", plan_agreement, METH_NOARGS, NULL}, {0}};
static PyType_Slot plan_slots[] = {
    {Py_tp_new, plan_new}, {Py_tp_dealloc, plan_free}, {Py_tp_methods, plan_methods}, {0}};
static PyType_Spec plan_spec = {"distmap._core.Plan", sizeof(dmb_plan), 0, Py_TPFLAGS_DEFAULT, plan_slots};

/* ---- The module's part ------------------------------------------------------------------------------------------------------ */

static PyObject *leave(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    leaving = true;
    Py_RETURN_NONE;
}

static PyMethodDef at_the_end = {"leave", leave, METH_NOARGS, NULL};

/* Whoever imports first may not be the main thread. */
static bool find_main_thread(void) {
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    main_thread = ident ? PyLong_AsUnsignedLong(ident) : 0;
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    return !PyErr_Occurred();
}

bool dmb_add_handles(PyObject *module) {
    dmb_context_type = (PyTypeObject *)PyType_FromSpec(&context_spec);
    dmb_plan_type = (PyTypeObject *)PyType_FromSpec(&plan_spec);
    if (!dmb_context_type || !dmb_plan_type || PyModule_AddType(module, dmb_context_type) ||
        PyModule_AddType(module, dmb_plan_type))
        return false;
    PyObject *exits = PyImport_ImportModule("atexit"), *function = PyCFunction_New(&at_the_end, NULL);
    PyObject *done = exits && function ? PyObject_CallMethod(exits, "register", "O", function) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(function);
    Py_XDECREF(exits);
    if (!done || !find_main_thread())
        return false;
    if (pthread_atfork(NULL, NULL, renew)) {
        PyErr_NoMemory();
        return false;
    }
    return true;
}
