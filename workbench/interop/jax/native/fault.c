// How a call that ran ends in an error: a fault of code with checks, or an interrupt.
//
// Each stretch of points has a fault record of its own, so that the batch is known. The call keeps the first and counts
// all. The text is Python's, which knows lines and names: `wb_ffi_explain`, set by faults.py, writes it. It is called
// on the thread that ends the call, and takes the GIL there. Without Python (at exit) the text has the numbers alone.
//
// One device of several must not fail: the others would wait in their next collective, and XLA then ends the process.
// There the text stays with Python, which raises it later (deferred_errors.py). Code that `checkify` follows leaves the records in
// its last result.
#include "handler.h"

typedef void Explain(const Kernel *kernel, const void *buffer, const Fault *fault, int64_t ndim, int64_t axes,
                     const int64_t *sizes, int64_t late, char *text, int64_t bytes);  // no fault: it was stopped

Explain *wb_ffi_explain;
Stop **wb_ffi_stop;  // where the address stands of what to look at; set when this is loaded

static Stop *current_stop(void) {
    return *(Stop *volatile *)wb_ffi_stop;
}

// Add a stretch's record to the call's or the batch's; who finds a count of 0 there is the first.
__attribute__((cold, noinline)) static void note_fault(Call *call, const Fault *own, int64_t batch) {
    Fault *first = call->records != NULL ? &call->records[batch] : &call->fault;
    if (__atomic_fetch_add(&first->count, own->count, __ATOMIC_ACQ_REL) != 0) return;
    first->operation = own->operation;
    first->thread = own->thread;
    __builtin_memcpy(first->values, own->values, sizeof own->values);
    call->fault_batch = batch;
}

// Clear the records of a call that has some.
static Error *bind_records(Frame *frame, Call *call) {
    call->records = NULL;
    if (call->kernel->late != RECORDED) return NULL;
    const Buffer *buffer = result(frame, call->kernel->results - 1);
    int64_t bytes = sizeof(Fault);
    for (int64_t axis = 0; axis < call->axes; axis++) bytes *= call->sizes[axis];
    if (buffer->dtype != DTYPE_INT32 || 4 * elements(buffer) != bytes)
        return REFUSE(frame, "kernel '%s' leaves %lld bytes of faults in its last result; the call has other ones",
                      (int64_t)call->kernel->name, bytes);
    call->records = buffer->data;
    __builtin_memset(call->records, 0, bytes);
    return NULL;
}

__attribute__((cold, noinline)) static Error *explained(Api *api, Call *call) {
    const Kernel *kernel = call->kernel;
    const Fault *fault = &call->fault;
    char text[4096];
    text[0] = 0;
    Explain *explain = __atomic_load_n(&wb_ffi_explain, __ATOMIC_ACQUIRE);
    if (explain != NULL)
        explain(kernel, buffer_of(call), fault, call->ndim, call->axes, call->sizes, kernel->late, text, sizeof text);
    if (kernel->late) return NULL;
    if (text[0] == 0)
        snprintf(text, sizeof text,
                 "kernel '%s': operation %lld faulted in thread %lld; its first value: %lld; faults in all: %lld",
                 kernel->name, fault->operation, fault->thread, fault->values[0], fault->count);
    return error_of(api, text, OUT_OF_RANGE);
}

// The error of a call that is over; null where nothing went wrong.
static Error *fault_error(Api *api, Call *call) {
    return call->fault.count == 0 ? NULL : explained(api, call);
}

// The error of a kernel that was ended; null where it waits for Python.
__attribute__((cold, noinline)) static Error *cancelled(Api *api, const Kernel *kernel) {
    if (kernel->late) {
        Explain *explain = __atomic_load_n(&wb_ffi_explain, __ATOMIC_ACQUIRE);
        if (explain != NULL) explain(kernel, NULL, NULL, 0, 0, NULL, 1, NULL, 0);
        return NULL;
    }
    char text[512];
    snprintf(text, sizeof text, "kernel '%s' was interrupted: its results are half written and cannot be used",
             kernel->name);
    return error_of(api, text, CANCELLED);
}

// For thunks, which run small launches themselves.
__attribute__((cold, noinline)) Error *workbench_stopped(Frame *frame, const Kernel *kernel) {
    return cancelled(frame->api, kernel);
}
