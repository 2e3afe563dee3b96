/* Repeated calls. A call is identified by its signature: the function, the types, shapes and strides of its arrays, and its options. The
 * first one goes through Python, which checks everything and leaves the problem here. A later one with the same signature finds the problem
 * with a plan, made for this thread, and executes it: two array examinations, a comparison of some 20 pointers, and the library. A call
 * that differs in shapes and strides only finds the *pattern*, the problem without them, and makes its plan from that.
 *
 * Each thread has a table of at most SETS x WAYS calls and BYTES bytes; the least recently used call is replaced. */
#include "binding.h"

enum { SETS = 128, WAYS = 8, MOST_OPTIONS = 24, MOST_OUTPUTS = 2 };
static const size_t BYTES = 16 << 20, PLAN_BYTES = 16 << 10; /* of a plan's own structures, about */
static const size_t MOST_KEPT = 1 << 20; /* bytes of scratch; plans with more are made for a call alone */
static const int64_t TINY =
    4096; /* elements; a call with at most so many takes about as long as releasing and taking Python's lock */

struct output {
    size_t offset;   /* in distmap_arrays */
    PyObject *dtype; /* of a new array; NULL: the caller's */
};

struct known {
    PyObject *maker, *options[MOST_OPTIONS];
    Py_ssize_t option_count;
    distmap_view input, out; /* of a pattern without shapes and strides; out.ndim 0: none */
    dmb_context *context;
    distmap_problem problem;
    PyObject *method; /* its name, or None */
    struct output outputs[MOST_OUTPUTS];
    int output_count;
    bool follows; /* new arrays lie in memory as the input, else in C order */
    bool quick;   /* the time depends on the number of elements alone */
    /* For the signature; of a pattern NULL. */
    dmb_plan *plan;
    PyObject *shape; /* of new arrays in C order; NULL: as the input */
    bool keep_lock;
    size_t bytes;
    uint64_t used;
};

struct table {
    struct known *sets[SETS][WAYS];
    size_t bytes;
    uint64_t clock;
};

static PyObject *empty, *empty_like, *shape_name, *table_name, *prepare;

/* ---- The table ------------------------------------------------------------------------------------------------------------- */

static void unfit(struct known *known) {
    Py_XDECREF((PyObject *)known->plan);
    Py_XDECREF(known->shape);
    known->plan = NULL;
    known->shape = NULL;
}

static void release(struct known *known) {
    unfit(known);
    Py_XDECREF(known->maker);
    for (Py_ssize_t i = 0; i < known->option_count; i++)
        Py_XDECREF(known->options[i]);
    for (int i = 0; i < known->output_count; i++)
        Py_XDECREF(known->outputs[i].dtype);
    Py_XDECREF(known->method);
    Py_XDECREF((PyObject *)known->context);
    PyMem_Free(known);
}

static void forget(struct table *table, struct known **slot) {
    struct known *known = *slot;
    if (!known)
        return;
    *slot = NULL;
    table->bytes -= known->bytes;
    release(known);
}

static void forget_all(struct table *table) {
    for (int set = 0; set < SETS; set++)
        for (int way = 0; way < WAYS; way++)
            forget(table, &table->sets[set][way]);
}

static void end_table(PyObject *capsule) {
    struct table *table = PyCapsule_GetPointer(capsule, NULL);
    forget_all(table);
    PyMem_Free(table);
}

/* This thread's, which ends with it. NULL: there is none yet; or, if it is to be made, no memory. */
static struct table *table_of_thread(bool make) {
    PyObject *mine = PyThreadState_GetDict(), *capsule = mine ? PyDict_GetItem(mine, table_name) : NULL;
    if (capsule || !make || !mine)
        return capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    struct table *table = PyMem_Calloc(1, sizeof *table);
    capsule = table ? PyCapsule_New(table, NULL, end_table) : NULL;
    if (!capsule || PyDict_SetItem(mine, table_name, capsule)) {
        if (!capsule)
            PyMem_Free(table);
        table = NULL;
    }
    Py_XDECREF(capsule);
    PyErr_Clear();
    return table;
}

struct signature {
    PyObject *maker, *const *options;
    Py_ssize_t option_count;
    distmap_view input, out;
};

static uint64_t mixed(uint64_t hash, uint64_t value) { return (hash ^ value ^ hash >> 29) * 0x9e3779b97f4a7c15u; }

static uint64_t mixed_view(uint64_t hash, const distmap_view *view) {
    hash = mixed(hash, (uint64_t)view->dtype << 8 | (uint64_t)view->ndim);
    for (int a = 0; a < view->ndim; a++)
        hash = mixed(mixed(hash, (uint64_t)view->shape[a]), (uint64_t)view->strides[a]);
    return hash;
}

static struct known **set_of(struct table *table, const struct signature *call) {
    uint64_t hash = mixed_view(mixed_view((uintptr_t)call->maker, &call->input), &call->out);
    for (Py_ssize_t i = 0; i < call->option_count; i++)
        if (dmb_is_number_or_name(call->options[i]))
            hash = mixed(hash, (uint64_t)PyObject_Hash(call->options[i]));
    return table->sets[hash >> 57];
}
_Static_assert(SETS == 1 << (64 - 57), "a set for each value of the hash's first bits");

static bool is_of(const struct known *known, const struct signature *call) {
    if (!known || known->maker != call->maker || known->option_count != call->option_count ||
        !dmb_alike(&known->input, &call->input) || !dmb_alike(&known->out, &call->out) || dmb_is_within(known->context))
        return false;
    for (Py_ssize_t i = 0; i < call->option_count; i++)
        if (!dmb_same(known->options[i], call->options[i]))
            return false;
    return true;
}

static struct known *find(struct table *table, const struct signature *call) {
    struct known **set = set_of(table, call);
    for (int way = 0; way < WAYS; way++)
        if (is_of(set[way], call)) {
            set[way]->used = ++table->clock;
            return set[way];
        }
    return NULL;
}

static void insert(struct table *table, const struct signature *call, struct known *known) {
    if (table->bytes + known->bytes > BYTES)
        forget_all(table);
    struct known **set = set_of(table, call), **slot = set;
    for (int way = 1; way < WAYS && *slot; way++)
        if (!set[way] || set[way]->used < (*slot)->used)
            slot = &set[way];
    forget(table, slot);
    *slot = known;
    known->used = ++table->clock;
    table->bytes += known->bytes;
}

/* ---- From a pattern to a plan ------------------------------------------------------------------------------------------------ */

static struct signature pattern_of(const struct signature *call) {
    struct signature pattern = *call;
    pattern.input = (distmap_view){.dtype = call->input.dtype, .ndim = call->input.ndim};
    pattern.out = (distmap_view){.dtype = call->out.dtype, .ndim = call->out.ndim};
    return pattern;
}

static struct known *copy_for(const struct known *pattern, const struct signature *call) {
    struct known *copy = PyMem_Malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *pattern;
    copy->input = call->input;
    copy->out = call->out;
    Py_INCREF(copy->maker);
    for (Py_ssize_t i = 0; i < copy->option_count; i++)
        Py_INCREF(copy->options[i]);
    for (int i = 0; i < copy->output_count; i++)
        Py_XINCREF(copy->outputs[i].dtype);
    Py_INCREF(copy->method);
    Py_INCREF((PyObject *)copy->context);
    return copy;
}

/* The number of elements; 0 too where it is beyond 2^31, for which index outputs have another type. */
static int64_t elements_of(const distmap_view *view) {
    int64_t elements = 1;
    for (int a = 0; a < view->ndim; a++)
        if (__builtin_mul_overflow(elements, view->shape[a], &elements) || elements > INT32_MAX)
            return 0;
    return elements;
}

/* The order in memory of the array by which to go, the caller's output or the input, and whether it is C's. */
static bool is_in_order(const struct signature *call, int order[DISTMAP_MAX_AXES]) {
    const distmap_view *leads = call->out.ndim ? &call->out : &call->input;
    dmb_core.view_order(leads, order);
    for (int a = 1; a < leads->ndim; a++)
        if (order[a - 1] > order[a])
            return false;
    return true;
}

/* Whether an array like the input has the input's order: NumPy sees strides of 0 otherwise. */
static bool has_order(const distmap_view *view) {
    for (int a = 0; a < view->ndim; a++)
        if (view->strides[a] == 0 && view->shape[a] > 1)
            return false;
    return true;
}

/* Makes the plan for the signature. False: the call is Python's, which says why if it is wrong. */
static bool fit(struct known *known, const struct signature *call, PyObject *input) {
    const distmap_view *in = &call->input, *out = &call->out;
    const int64_t elements = elements_of(in);
    const bool makes = known->outputs[known->output_count - 1].dtype != NULL,
               in_order = is_in_order(call, known->problem.order);
    if (elements == 0 || (out->ndim && (out->ndim != in->ndim || memcmp(out->shape, in->shape, sizeof in->shape))) ||
        (makes && known->follows && !in_order && (out->ndim || !has_order(in))))
        return false;
    memcpy(known->problem.shape, in->shape, sizeof in->shape);
    const distmap_plan_options options = {
        .method = known->method == Py_None ? NULL : PyUnicode_AsUTF8AndSize(known->method, NULL)};
    known->plan = dmb_make_plan(known->context, &known->problem, &options, Py_None);
    known->shape = in_order || !known->follows ? PyObject_GetAttr(input, shape_name) : NULL;
    known->keep_lock = known->quick && elements <= TINY;
    if (!known->plan || PyErr_Occurred())
        unfit(known);
    PyErr_Clear();
    return known->plan;
}

/* The call with its plan, kept if it takes little memory; *mine: it was not. NULL: the call is Python's. */
static struct known *fitted(struct table *table, const struct signature *call, PyObject *input, struct known **mine) {
    struct known *known = find(table, call);
    if (known && known->plan)
        return known;
    const struct signature general = pattern_of(call);
    const struct known *pattern = known ? known : find(table, &general);
    struct known *made = pattern ? copy_for(pattern, call) : NULL;
    if (made && !fit(made, call, input)) {
        release(made);
        return NULL;
    }
    if (!made)
        return NULL;
    distmap_description told = {0};
    dmb_core.plan_describe_sized(made->plan->handle, &told, sizeof told);
    made->bytes = told.scratch_bytes + PLAN_BYTES;
    if (told.scratch_bytes <= MOST_KEPT)
        insert(table, call, made);
    else
        *mine = made;
    return made;
}

/* ---- A call ------------------------------------------------------------------------------------------------------------------ */

static bool is_call(PyObject *input, PyObject *out, struct signature *call) {
    call->out = (distmap_view){0};
    return call->option_count <= MOST_OPTIONS && dmb_look(input, false, &call->input) &&
           (out == Py_None || dmb_look(out, true, &call->out));
}

static PyObject *made(const struct known *known, const struct output *output, PyObject *input) {
    PyObject *arguments = PyTuple_Pack(2, known->shape ? known->shape : input, output->dtype);
    PyObject *array = arguments ? PyObject_Call(known->shape ? empty : empty_like, arguments, NULL) : NULL;
    Py_XDECREF(arguments);
    return array;
}

static PyObject *execute(const struct known *known, const struct signature *call, PyObject *input, PyObject *out,
                         PyObject *progress) {
    distmap_arrays arrays = {.input = call->input};
    PyObject *results[MOST_OUTPUTS] = {NULL}, *result = NULL;
    const int count = known->output_count;
    const bool keep_lock = known->keep_lock;
    bool right = true;
    for (int i = 0; right && i < count; i++) {
        const struct output *output = &known->outputs[i];
        distmap_view *view = (distmap_view *)((char *)&arrays + output->offset);
        results[i] = output->dtype ? made(known, output, input) : Py_NewRef(out);
        if (!output->dtype)
            *view = call->out;
        else if ((right = results[i] != NULL) && !(right = dmb_look(results[i], true, view)))
            PyErr_NoMemory(); /* a new array of NumPy's is one that the library can use */
    }
    dmb_plan *plan =
        (dmb_plan *)Py_NewRef((PyObject *)known->plan); /* a signal's handler may push the call out of the table */
    right = right && dmb_execute(plan, &arrays, progress, keep_lock);
    Py_DECREF((PyObject *)plan);
    if (right)
        result = count == 1 ? Py_NewRef(results[0]) : PyTuple_Pack(2, results[0], results[1]);
    for (int i = 0; i < count; i++)
        Py_XDECREF(results[i]);
    return result;
}

/* call(maker, progress, input, out, *options): of a signature that is not known, prepare(maker, progress, input, out, *options). */
PyObject *dmb_call(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    enum { FIXED = 4 };
    if (count < FIXED) {
        PyErr_SetString(PyExc_TypeError, "call() takes a maker, progress, an input, an output and options");
        return NULL;
    }
    PyObject *progress = arguments[1], *input = arguments[2], *out = arguments[3];
    struct signature call = {.maker = arguments[0], .options = arguments + FIXED, .option_count = count - FIXED};
    struct table *table = table_of_thread(false);
    if (table && is_call(input, out, &call)) {
        struct known *mine = NULL;
        const struct known *known = fitted(table, &call, input, &mine);
        PyErr_Clear(); /* of comparisons */
        if (known) {
            PyObject *result = execute(known, &call, input, out, progress == Py_None ? NULL : progress);
            if (mine)
                release(mine);
            return result;
        }
    }
    PyObject *all = PyTuple_New(count), *result = NULL;
    for (Py_ssize_t i = 0; all && i < count; i++)
        PyTuple_SetItem(all, i, Py_NewRef(arguments[i]));
    if (all)
        result = PyObject_Call(prepare, all, NULL);
    Py_XDECREF(all);
    return result;
}

/* (name, dtype): dtype None: the caller's array. */
static bool read_output(PyObject *given, struct output *output) {
    PyObject *name, *dtype;
    if (!PyArg_ParseTuple(given, "OO", &name, &dtype))
        return false;
    output->offset = dmb_offset(dmb_arrays, name);
    output->dtype = dtype == Py_None ? NULL : Py_NewRef(dtype);
    return output->offset != SIZE_MAX;
}

/* keep(maker, input, out, options, context, problem, method, outputs, general, follows, quick): what later calls of this signature, and,
 * if it is general, of other shapes and strides, are to do. `outputs`: one or two, of which the first may be the caller's. Passed over for
 * arrays and options that call() cannot know again. */
PyObject *dmb_keep(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *maker, *input, *out, *options, *context, *problem, *method, *outputs, *given[MOST_OPTIONS];
    int general, follows, quick;
    if (!PyArg_ParseTuple(arguments, "OOOO!O!O!OO!ppp", &maker, &input, &out, &PyTuple_Type, &options, dmb_context_type,
                          &context, &PyDict_Type, &problem, &method, &PyTuple_Type, &outputs, &general, &follows,
                          &quick))
        return NULL;
    struct signature call = {.maker = maker, .options = given, .option_count = PyTuple_Size(options)};
    struct table *table = table_of_thread(true);
    const Py_ssize_t output_count = PyTuple_Size(outputs);
    if (!table || !is_call(input, out, &call) || !dmb_is_plain(options, 0) || output_count < 1 ||
        output_count > MOST_OUTPUTS)
        Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < call.option_count; i++)
        given[i] = PyTuple_GetItem(options, i);
    if (general)
        call = pattern_of(&call);

    struct known *known = PyMem_Calloc(1, sizeof *known);
    if (!known)
        return PyErr_NoMemory();
    *known = (struct known){.maker = Py_NewRef(maker),
                            .option_count = call.option_count,
                            .input = call.input,
                            .out = call.out,
                            .context = (dmb_context *)Py_NewRef(context),
                            .method = Py_NewRef(method),
                            .output_count = (int)output_count,
                            .follows = follows,
                            .quick = quick,
                            .bytes = sizeof *known};
    for (Py_ssize_t i = 0; i < call.option_count; i++)
        known->options[i] = dmb_copy(given[i]);
    bool right = dmb_write(dmb_problem, problem, &known->problem);
    for (int i = 0; right && i < known->output_count; i++)
        right = read_output(PyTuple_GetItem(outputs, i), &known->outputs[i]);
    if (right)
        insert(table, &call, known);
    else
        release(known);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* kept(): how many calls of this thread are, and their bytes. */
PyObject *dmb_kept(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    struct table *table = table_of_thread(false);
    Py_ssize_t count = 0;
    for (int set = 0; table && set < SETS; set++)
        for (int way = 0; way < WAYS; way++)
            count += table->sets[set][way] != NULL;
    return Py_BuildValue("nn", count, (Py_ssize_t)(table ? table->bytes : 0));
}

/* start(prepare): what call() does with signatures that are not known. */
PyObject *dmb_start(PyObject *module, PyObject *function) {
    (void)module;
    Py_XDECREF(prepare);
    prepare = Py_NewRef(function);
    Py_RETURN_NONE;
}

bool dmb_add_calls(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy)
        return false;
    empty = PyObject_GetAttrString(numpy, "empty");
    empty_like = PyObject_GetAttrString(numpy, "empty_like");
    shape_name = PyUnicode_InternFromString("shape");
    table_name = PyUnicode_InternFromString("distmap.calls");
    Py_DECREF(numpy);
    return !PyErr_Occurred();
}
