// The launcher's functions as Python functions (dispatch.py): METH_FASTCALL, with `wb_py_row` and `wb_py_steps`
// METH_NOARGS. What an address means is believed.
#include "launcher.h"

void wb_py_link(const Python *table) {
    python = *table;
}

// The arguments as integers, without the one to `skip`; false, with an exception set, where they are others.
static inline bool take(PyObject *const *args, int64_t given, int64_t count, int64_t skip, int64_t *values) {
    if (given != count) {
        python.PyErr_SetString(python.PyExc_TypeError, "wrong number of arguments");
        return false;
    }
    for (int64_t n = 0; n < count; n++)
        if (n != skip) values[n] = python.PyLong_AsLongLong(args[n]);
    return python.PyErr_Occurred() == NULL;
}

// A status as a Python integer; null where the launch was stopped, and an exception is set.
static PyObject *returned_code(int32_t code) {
    if (code != STOPPED) return python.PyLong_FromLongLong(code);
    if (python.PyErr_Occurred() == NULL) python.PyErr_SetNone(python.PyExc_KeyboardInterrupt);
    return NULL;
}

static PyObject *launch_values(const int64_t values[8], void *params) {
    Row row = {(Entry *)values[0], params, values[2], values[3], values[4], (Fault *)values[5], values[6], values[7]};
    return returned_code(launch_freely(&row));
}

PyObject *wb_py_run(PyObject *self, PyObject *const *args, int64_t given) {
    (void)self;
    int64_t values[8];
    return take(args, given, 8, -1, values) ? launch_values(values, (void *)values[1]) : NULL;
}

// The same with the parameters as bytes.
PyObject *wb_py_launch(PyObject *self, PyObject *const *args, int64_t given) {
    (void)self;
    int64_t values[8];
    if (!take(args, given, 8, 1, values)) return NULL;
    char *params = python.PyBytes_AsString(args[1]);
    return params != NULL ? launch_values(values, params) : NULL;
}

PyObject *wb_py_row(PyObject *self, PyObject *unused) {
    (void)unused;
    return returned_code(launch_freely((const Row *)python.PyLong_AsLongLong(self)));
}

// `self` is where the address of a table's steps and their number stand.
PyObject *wb_py_steps(PyObject *self, PyObject *unused) {
    (void)unused;
    const struct {
        const Step *steps;
        int64_t count;
    } *table = (const void *)python.PyLong_AsLongLong(self);
    void *state = python.PyEval_SaveThread();
    Stop *stop = begin();
    int32_t code = run_steps(table->steps, table->count, stop);
    over(stop, code);
    python.PyEval_RestoreThread(state);
    return returned_code(code);
}

// Wait until memory may be changed as a launch may; what is held is left at an address.
PyObject *wb_py_hold(PyObject *self, PyObject *const *args, int64_t given) {
    (void)self;
    int64_t values[2];
    if (!take(args, given, 2, -1, values)) return NULL;
    void *state = python.PyEval_SaveThread();
    Stop *stop = begin();
    int64_t held = hold(values[0], stop);
    over(stop, 0);
    python.PyEval_RestoreThread(state);
    *(int64_t *)values[1] = held < 0 ? 0 : held;
    return returned_code(held < 0 ? STOPPED : 0);
}

PyObject *wb_py_drop(PyObject *self, PyObject *const *args, int64_t given) {
    (void)self;
    int64_t values[1];
    if (!take(args, given, 1, -1, values)) return NULL;
    drop(values[0]);
    return returned_code(0);
}
