// The native launcher: one call that runs a kernel's entry over a range, on one thread or several. launcher.c is all of
// it.
//
// A range is run in chunks of `grain` threads, and before each one the launcher looks whether the launch is to end.
// Several threads take chunks from one atomic counter; helpers are threads of the system, made for the call: nothing
// outlives it, no fork can break it, and none of them holds the GIL. Where none can be made, the caller does it all.
#pragma once

#include "workbench/backends/cpu/native/stop.h"

enum { MAX_THREADS = 256 };

typedef struct PyObject PyObject;  // opaque: no layout of CPython's is known here

// What the launcher calls of CPython: the stable ABI alone, whose addresses `dispatch.py` passes in this order.
typedef struct Python {
    int64_t (*PyLong_AsLongLong)(PyObject *);
    PyObject *(*PyLong_FromLongLong)(int64_t);
    PyObject *(*PyErr_Occurred)(void);
    int32_t (*PyErr_CheckSignals)(void);
    void (*PyErr_SetString)(PyObject *kind, const char *message);
    void *(*PyEval_SaveThread)(void);
    void (*PyEval_RestoreThread)(void *state);
    char *(*PyBytes_AsString)(PyObject *);
    void (*PyErr_SetNone)(PyObject *kind);
    void (*PyErr_Clear)(void);
    int32_t (*PyGILState_Ensure)(void);
    void (*PyGILState_Release)(int32_t);
    int32_t (*Py_AddPendingCall)(int32_t (*)(void *), void *);
    PyObject *(*PyObject_Call)(PyObject *callable, PyObject *arguments, PyObject *keywords);
    int32_t (*PyObject_IsTrue)(PyObject *);
    void (*Py_DecRef)(PyObject *);
    PyObject *(*PyObject_CallFunction)(PyObject *callable, const char *format, ...);
    PyObject *PyExc_TypeError;
    PyObject *PyExc_KeyboardInterrupt;
} Python;

static Python python;

typedef struct Row {  // a launch
    Entry *entry;
    void *params;
    int64_t total, threads, grain;
    Fault *fault;   // null for code without checks
    int64_t mask;   // the memory that no other launch may change at the same time (memory_locks.c)
    int64_t sums;   // words that a chunk leaves for the end
} Row;
