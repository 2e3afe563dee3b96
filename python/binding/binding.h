/* The compiled half of the package: distmap.h and distmap/io.h for Python, by the limited API of Python 3.11, so that one file serves
 * it and every later Python. It knows layouts from the headers alone; names, defaults, checks and texts are Python's. */
#ifndef DISTMAP_BINDING_H
#define DISTMAP_BINDING_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <distmap/io.h>

/* ---- library.c: the shared libraries, opened at run time --------------------------------------------------------------- */

#define DMB_CORE(X)           \
    X(version)                \
    X(struct_bytes)           \
    X(error_text)             \
    X(view_order)             \
    X(problem_unit_sized)     \
    X(device_count)           \
    X(device_describe_sized)  \
    X(context_create_sized)   \
    X(context_destroy)        \
    X(context_set_stream)     \
    X(context_threads)        \
    X(context_isa)            \
    X(method_get)             \
    X(scratch_bytes_sized)    \
    X(plan_create_sized)      \
    X(plan_execute_sized)     \
    X(plan_wait)              \
    X(plan_describe_sized)    \
    X(plan_flags)             \
    X(plan_phase_count)       \
    X(plan_phase_get_sized)   \
    X(plan_convergence_sized) \
    X(plan_agreement_sized)   \
    X(plan_destroy)
#define DMB_IO(X)        \
    X(error_text)        \
    X(io_struct_bytes)   \
    X(io_on_interrupt)   \
    X(reader_open)       \
    X(reader_info)       \
    X(reader_select)     \
    X(reader_sample)     \
    X(reader_read)       \
    X(reader_close)      \
    X(writer_open_sized) \
    X(writer_write)      \
    X(writers_finish)    \
    X(writer_abort)

/* Their functions, once Python has opened them: dmb_core.version() is distmap_version(). */
#define DMB_POINTER(name) __typeof__(distmap_##name) *name;
extern struct dmb_core { DMB_CORE(DMB_POINTER) } dmb_core;
extern struct dmb_io { DMB_IO(DMB_POINTER) } dmb_io;

PyObject *dmb_open_core(PyObject *module, PyObject *path);
PyObject *dmb_open_io(PyObject *module, PyObject *path);

/* Sets the exception of a status, with the library's text. Returns NULL. */
PyObject *dmb_raise(distmap_status status, const char *text);

/* ---- members.c: structures from mappings, and mappings of structures --------------------------------------------------- */

enum dmb_kind { DMB_BOOL, DMB_SIGNED, DMB_UNSIGNED, DMB_REAL, DMB_POINTER, DMB_STRING, DMB_TEXT, DMB_PART };

/* A table of them ends with one without a name. */
struct dmb_member {
    const char *name;
    size_t offset, bytes, size; /* of all of it, and of one element */
    enum dmb_kind kind;
    const struct dmb_member *part; /* of a structure: its members */
};

extern const struct dmb_member dmb_problem[], dmb_arrays[], dmb_view[], dmb_context_options[], dmb_plan_options[],
    dmb_description[], dmb_phase[], dmb_convergence[], dmb_agreement[], dmb_device_info[], dmb_method_info[],
    dmb_param_info[], dmb_image_info[];

/* Sets the members that the mapping names. Texts are borrowed from it. False: an exception is set. */
bool dmb_write(const struct dmb_member *members, PyObject *mapping, void *structure);
/* Where the member of that name lies; SIZE_MAX: there is none. */
size_t dmb_offset(const struct dmb_member *members, PyObject *name);
/* {name: value} of all members: numbers, bool, str or None, lists and mappings. */
PyObject *dmb_read(const struct dmb_member *members, const void *structure);

/* ---- handles.c: contexts and plans --------------------------------------------------------------------------------------- */

/* A context serves one thread at a time. `owner` has the turn, 0 for none; others wait for `turn`. A child of fork() has none of the
 * threads that had it (`generation`). While it executes: the caller's progress function, what it or a signal's handler raised, and the
 * thread state to go back to, NULL where Python's lock was kept. */
typedef struct dmb_context {
    PyObject_HEAD distmap_context *handle;
    PyThread_type_lock turn;
    unsigned long owner;
    unsigned generation;
    PyObject *progress, *raised[3];
    PyThreadState *released;
    double asked_at;
    const atomic_bool *stop; /* of executions that others share; NULL: it is by itself */
} dmb_context;

typedef struct dmb_plan {
    PyObject_HEAD distmap_plan *handle;
    dmb_context *context;
    PyObject *scratch; /* the caller's, or None */
} dmb_plan;

extern PyTypeObject *dmb_context_type, *dmb_plan_type;
/* NULL: an exception is set. `scratch`, the caller's or None, is kept until the plan is destroyed. */
dmb_plan *dmb_make_plan(dmb_context *context, const distmap_problem *problem, const distmap_plan_options *options,
                        PyObject *scratch);
/* Whether this thread is in an execution of the context. */
bool dmb_is_within(const dmb_context *context);
bool dmb_add_handles(PyObject *module);
PyObject *dmb_scratch_bytes(PyObject *module, PyObject *arguments);

/* The library's progress callback of every context, `user`. It runs on the thread that executes, mostly without Python's lock, which is
 * asked for where there is somebody to be told, and on the main thread now and then, so that Ctrl-C acts. */
int dmb_ask(void *user, double fraction);
/* Around an execution: `progress`, NULL for none, is called now and then. `keep_lock`: of Python, for what takes some microseconds.
 * False: an exception is set. */
bool dmb_begin(dmb_context *context, PyObject *progress, bool keep_lock);
bool dmb_end(dmb_context *context, distmap_status status, const char *text);
bool dmb_execute(dmb_plan *plan, const distmap_arrays *arrays, PyObject *progress, bool keep_lock);

/* ---- signature.c ----------------------------------------------------------------------------------------------------------- */

/* The view of an exact numpy.ndarray that the library takes as it is. False, without an exception: it is something else. */
bool dmb_look(PyObject *array, bool writable, distmap_view *view);
/* But for the address. */
bool dmb_alike(const distmap_view *a, const distmap_view *b);
bool dmb_is_number_or_name(PyObject *value);
/* Whether an option can be compared later: nobody changes it, or its copy, in which lists are new ones. `depth`: 0. */
bool dmb_is_plain(PyObject *value, int depth);
PyObject *dmb_copy(PyObject *value);
/* Whether both have the same type and value: 1, 1.0 and True are three different ones. `kept` is plain. */
bool dmb_same(PyObject *kept, PyObject *given);
bool dmb_add_signatures(void);

/* ---- calls.c --------------------------------------------------------------------------------------------------------------- */

bool dmb_add_calls(void);
PyObject *dmb_start(PyObject *module, PyObject *prepare);
PyObject *dmb_call(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *dmb_keep(PyObject *module, PyObject *arguments);
PyObject *dmb_kept(PyObject *module, PyObject *unused);

/* ---- many.c ---------------------------------------------------------------------------------------------------------------- */

PyObject *dmb_unlike(PyObject *module, PyObject *arguments);
PyObject *dmb_many(PyObject *module, PyObject *arguments);

/* ---- files.c ----------------------------------------------------------------------------------------------------------------- */

bool dmb_add_files(PyObject *module);
int dmb_interrupted(void);

#endif
