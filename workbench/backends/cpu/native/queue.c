// Queue a launch on a GPU, of a kernel or of a graph, from Python (runtime/device/queues.py): in the device's context, whatever is current in the
// thread, and with that current again afterwards.
#include "launcher.h"
#include "queue.h"

typedef struct Device {
    Code (*cuCtxGetCurrent)(uint64_t *context);
    Code (*cuCtxSetCurrent)(uint64_t context);
    uint64_t context;
} Device;

typedef Code LaunchGraph(uint64_t graph, void *stream);

typedef struct Queue {  // what the launches of one kernel or graph have in common
    const Device *device;
    void *launch;  // a LaunchKernel or LaunchGraph
    PyObject *instead;  // of a driver that is written in Python, a function that queues; else null
    uint64_t executable;
    int64_t count;  // of a kernel's parameters, and where each lies in the packed ones; -1 of a graph
    int64_t places[];
} Queue;

// Queue in the device's context. A thread without a context keeps this one, as after any other use of the device.
static Code queue_in_context(const Queue *queue, const Shape *shape, void *stream, void **pointers) {
    const Device *device = queue->device;
    uint64_t before = 0;
    Code code = device->cuCtxGetCurrent(&before);
    bool other = before != device->context;
    if (code == 0 && other) code = device->cuCtxSetCurrent(device->context);
    if (code == 0)
        code = queue->count < 0
                   ? ((LaunchGraph *)queue->launch)(queue->executable, stream)
                   : queue_launch((LaunchKernel *)queue->launch, queue->executable, shape, stream, pointers);
    if (other && before != 0) device->cuCtxSetCurrent(before);
    return code;
}

// (packed parameters, shape, stream, address of a fault record or 0) to the driver's status; `self` is the Queue.
PyObject *wb_py_queue(PyObject *self, PyObject *const *args, int64_t given) {
    if (given != 4) {
        python.PyErr_SetString(python.PyExc_TypeError, "wrong number of arguments");
        return NULL;
    }
    const Queue *queue = (const Queue *)python.PyLong_AsLongLong(self);
    char *params = python.PyBytes_AsString(args[0]);
    const Shape *shape = (const Shape *)python.PyBytes_AsString(args[1]);
    void *stream = (void *)python.PyLong_AsLongLong(args[2]);
    int64_t fault = python.PyLong_AsLongLong(args[3]);
    if (python.PyErr_Occurred() != NULL) return NULL;
    int64_t count = queue->count < 0 ? 0 : queue->count;
    void **pointers = __builtin_alloca_with_align((count + 1) * sizeof(void *), 64);
    point_to(pointers, params, queue->places, count);
    pointers[count] = &fault;  // kernels with checks take it last; others never look
    if (queue->instead != NULL)
        return python.PyObject_CallFunction(queue->instead, "KKK", (uint64_t)shape, (uint64_t)stream,
                                            (uint64_t)pointers);
    void *state = python.PyEval_SaveThread();  // a driver whose queue is full waits
    Code code = queue_in_context(queue, shape, stream, pointers);
    python.PyEval_RestoreThread(state);
    return python.PyLong_FromLongLong(code);
}
