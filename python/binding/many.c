/* One problem on many small arrays of any shapes, on all cores: each thread has a context of one thread, takes the next free array, plans
 * and executes. The calling thread is one of them; between two arrays, and while it waits for the others, it looks for signals and reports
 * progress. */
#include "binding.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { MOST_OUTPUTS = 2, MOST_THREADS = 1024, TEXT_BYTES = 512 };

struct job {
    distmap_problem problem;
    distmap_plan_options options;
    size_t count;
    distmap_view *inputs, *outputs[MOST_OUTPUTS];
    size_t offsets[MOST_OUTPUTS]; /* in distmap_arrays */
    int output_count;
    atomic_size_t next, done;
    atomic_bool stop;
    pthread_mutex_t lock;  /* of what follows */
    pthread_cond_t ended;  /* a thread has */
    int running;           /* threads, beside the caller's */
    distmap_status status; /* of the first failure, and its text */
    char text[TEXT_BYTES];
};

struct worker {
    struct job *job;
    dmb_context *context;
    PyObject *progress;
    bool calls; /* it is the calling thread's */
};

static distmap_status one(const struct job *job, distmap_context *context, size_t i) {
    const distmap_view *input = &job->inputs[i];
    distmap_problem problem = job->problem;
    distmap_arrays arrays = {.input = *input};
    problem.dtype = input->dtype;
    memcpy(problem.shape, input->shape, sizeof problem.shape);
    for (int k = 0; k < job->output_count; k++)
        *(distmap_view *)((char *)&arrays + job->offsets[k]) = job->outputs[k][i];
    dmb_core.view_order(&job->outputs[0][i], problem.order);
    distmap_plan *plan;
    distmap_status status =
        dmb_core.plan_create_sized(context, &problem, sizeof problem, &job->options, sizeof job->options, &plan);
    if (status == DISTMAP_OK)
        status = dmb_core.plan_execute_sized(plan, &arrays, sizeof arrays);
    dmb_core.plan_destroy(&plan);
    return status;
}

static void fail(struct job *job, distmap_status status, size_t i) {
    pthread_mutex_lock(&job->lock);
    if (job->status == DISTMAP_OK && status == DISTMAP_ERROR_CANCELLED)
        snprintf(job->text, TEXT_BYTES, "cancelled by the progress callback; outputs are partly written");
    else if (job->status == DISTMAP_OK)
        snprintf(job->text, TEXT_BYTES, "array %zu: %s", i, dmb_core.error_text());
    if (job->status == DISTMAP_OK)
        job->status = status;
    pthread_mutex_unlock(&job->lock);
    atomic_store(&job->stop, true);
}

/* Within an array the context would tell that array's progress. */
static void ask(const struct worker *self) {
    struct job *job = self->job;
    self->context->progress = self->progress;
    if (dmb_ask(self->context, (double)atomic_load(&job->done) / (double)job->count))
        fail(job, DISTMAP_ERROR_CANCELLED, 0);
    self->context->progress = NULL;
}

static void work(const struct worker *self) {
    struct job *job = self->job;
    size_t i;
    while (!atomic_load_explicit(&job->stop, memory_order_relaxed) &&
           (i = atomic_fetch_add(&job->next, 1)) < job->count) {
        const distmap_status status = one(job, self->context->handle, i);
        if (status != DISTMAP_OK)
            fail(job, status, i);
        atomic_fetch_add(&job->done, 1);
        if (self->calls)
            ask(self);
    }
}

static void *thread(void *argument) {
    const struct worker *self = argument;
    work(self);
    pthread_mutex_lock(&self->job->lock);
    self->job->running--;
    pthread_cond_signal(&self->job->ended);
    pthread_mutex_unlock(&self->job->lock);
    return NULL;
}

/* For the others, which may be at long arrays. */
static void wait_for_others(const struct worker *self) {
    static const long PATIENCE = 20000000; /* nanoseconds */
    struct job *job = self->job;
    pthread_mutex_lock(&job->lock);
    while (job->running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PATIENCE;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (!pthread_cond_timedwait(&job->ended, &job->lock, &until))
            continue;
        pthread_mutex_unlock(&job->lock);
        ask(self);
        pthread_mutex_lock(&job->lock);
    }
    pthread_mutex_unlock(&job->lock);
}

static bool run(struct job *job, PyObject *contexts, PyObject *progress) {
    const int count = (int)PyTuple_Size(contexts);
    struct worker workers[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    for (int k = 0; k < count; k++)
        workers[k] = (struct worker){job, (dmb_context *)PyTuple_GetItem(contexts, k), k ? NULL : progress, k == 0};
    if (!dmb_begin(workers[0].context, NULL, false))
        return false;
    for (int k = 0; k < count; k++)
        workers[k].context->stop = &job->stop;
    int started = 1;
    job->running = count - 1;
    while (started < count && !pthread_create(&threads[started], NULL, thread, &workers[started]))
        started++;
    pthread_mutex_lock(&job->lock);
    job->running -= count - started; /* where no more can be had, those that were do */
    pthread_mutex_unlock(&job->lock);
    work(&workers[0]);
    wait_for_others(&workers[0]);
    for (int k = 1; k < started; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < count; k++)
        workers[k].context->stop = NULL;
    return dmb_end(workers[0].context, job->status, job->text);
}

/* ---- Python's arrays ----------------------------------------------------------------------------------------------------- */

/* unlike(list, writable): the numbers of those that are no arrays of NumPy as the library takes them. */
PyObject *dmb_unlike(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *list;
    int writable;
    if (!PyArg_ParseTuple(arguments, "O!p", &PyList_Type, &list, &writable))
        return NULL;
    PyObject *numbers = PyList_New(0);
    for (Py_ssize_t i = 0; numbers && i < PyList_Size(list); i++) {
        distmap_view view;
        if (dmb_look(PyList_GetItem(list, i), writable, &view))
            continue;
        PyObject *number = PyLong_FromSsize_t(i);
        if (!number || PyList_Append(numbers, number))
            Py_CLEAR(numbers);
        Py_XDECREF(number);
    }
    return numbers;
}

/* Their views, to be freed. NULL: an exception is set. */
static distmap_view *views_of(PyObject *list, bool writable) {
    const Py_ssize_t count = PyList_Size(list);
    distmap_view *views = PyMem_Malloc(((size_t)count + 1) * sizeof *views);
    if (!views)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; views && i < count; i++)
        if (!dmb_look(PyList_GetItem(list, i), writable, &views[i])) {
            PyErr_Format(PyExc_TypeError, "array %zd is not a NumPy array that the library can use", i);
            PyMem_Free(views);
            views = NULL;
        }
    return views;
}

static bool read_outputs(PyObject *outputs, Py_ssize_t count, struct job *job) {
    Py_ssize_t at = 0;
    PyObject *name, *list;
    while (PyDict_Next(outputs, &at, &name, &list)) {
        const int k = job->output_count;
        if (k == MOST_OUTPUTS || !PyList_Check(list) || PyList_Size(list) != count) {
            PyErr_SetString(PyExc_ValueError, "many() takes one or two outputs, as lists as long as the input's");
            return false;
        }
        job->offsets[k] = dmb_offset(dmb_arrays, name);
        if (job->offsets[k] == SIZE_MAX || !(job->outputs[k] = views_of(list, true)))
            return false;
        job->output_count++;
    }
    return job->output_count > 0;
}

/* many(contexts, problem, method, inputs, {name: outputs}, progress): the problem, without shape and type, on each of a list of arrays,
 * into lists of arrays. */
PyObject *dmb_many(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *contexts, *given, *inputs, *outputs, *progress;
    const char *method;
    struct job job = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    if (!PyArg_ParseTuple(arguments, "O!O!zO!O!O", &PyTuple_Type, &contexts, &PyDict_Type, &given, &method,
                          &PyList_Type, &inputs, &PyDict_Type, &outputs, &progress) ||
        !dmb_write(dmb_problem, given, &job.problem))
        return NULL;
    job.options.method = method;
    job.count = (size_t)PyList_Size(inputs);
    job.inputs = views_of(inputs, false);
    const bool done = job.inputs && read_outputs(outputs, (Py_ssize_t)job.count, &job) &&
                      run(&job, contexts, progress == Py_None ? NULL : progress);
    PyMem_Free(job.inputs);
    for (int k = 0; k < job.output_count; k++)
        PyMem_Free(job.outputs[k]);
    if (!done && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "many() needs an output");
    if (!done)
        return NULL;
    Py_RETURN_NONE;
}
