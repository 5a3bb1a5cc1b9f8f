// One call of a kernel from XLA: the attributes, the sizes, the parameters, then the launch. This file includes the
// others, so that all of the handler is one module: `.ci/generate_native.py` makes handler.ll of it.
#include "handler.h"

#include "check.c"
#include "bind.c"
#include "fault.c"
#include "run.c"
#include "cuda.c"
#include "notes.c"
#include "program.c"

typedef struct Attributes {  // sorted by name: dims, then values, views, within, where there are any
    int64_t ndim;
    const int64_t *dims;
    const int64_t *values, *views;
    const Array *conditions;
} Attributes;

// The data of the attribute with this number if it holds so many int64; else null.
static const int64_t *int64_data(Frame *frame, int64_t index, int64_t count) {
    const Array *array = int64_array(frame, index);
    return array != NULL && array->size == count ? array->data : NULL;
}

static bool read_attributes(Frame *frame, const Kernel *kernel, Attributes *found) {
    bool has_values = kernel->values > 0, has_views = kernel->view_words > 0;
    int64_t expected = 1 + has_values + has_views;
    if (frame->attrs.size != expected && frame->attrs.size != expected + 1) return false;
    const Array *dims = int64_array(frame, 0);
    if (dims == NULL || dims->size < 1 || dims->size > MAX_DIMS) return false;
    found->ndim = dims->size;
    found->dims = dims->data;
    found->values = has_values ? int64_data(frame, 1, kernel->values) : NULL;
    found->views = has_views ? int64_data(frame, 1 + has_values, kernel->view_words) : NULL;
    found->conditions = frame->attrs.size > expected ? int64_array(frame, expected) : NULL;
    return !(has_values && found->values == NULL) && !(has_views && found->views == NULL);
}

// Write the launch's dimensions to the buffer and find its batch axes, which result 0 has.
static Error *measure(Frame *frame, Call *call, const Attributes *attributes) {
    const Kernel *kernel = call->kernel;
    int64_t *sizes = (int64_t *)buffer_of(call);
    for (int64_t n = 0; n < MAX_DIMS; n++) sizes[n] = 1;
    call->points = 1;
    for (int64_t n = 0; n < attributes->ndim; n++) {
        int64_t size = attributes->dims[n];
        sizes[n] = size >= 0 ? size : array_size(frame, kernel, size);
        call->points *= sizes[n];
    }
    if (attributes->conditions != NULL && call->points != 0) {
        Error *error = within(frame, kernel, attributes->conditions);
        if (error != NULL) return error;
    }
    const Buffer *lead = result(frame, 0);
    const int64_t *dims = lead->dims;
    int64_t excess = lead->rank - own_rank(&kernel->params[kernel->lead]);
    call->axes = excess > 0 ? excess : 0;
    if (call->axes > MAX_BATCH_AXES)
        return REFUSE(frame, "kernel '%s' was called under %lld nested batch axes; at most %lld work",
                      (int64_t)kernel->name, call->axes, MAX_BATCH_AXES);
    call->total = call->points;
    for (int64_t axis = 0; axis < call->axes; axis++) {
        call->sizes[axis] = dims[axis];
        call->total *= dims[axis];
    }
    return NULL;
}

// Run a bound call on the CPU, with the arithmetic of this thread as it is.
static Error *launch_here(Frame *frame, Call *call, int64_t bytes) {
    const Kernel *kernel = call->kernel;
    Stop *stop = current_stop();
    if (ends(stop)) return cancelled(frame->api, kernel);
    Error *error;
    make_room(call);
    if (call->total > kernel->grain && share(frame, call, bytes, stop, &error)) return error;
    int32_t status = run(call, buffer_of(call), 0, call->total, stop);
    if (status == 0) combine(call, buffer_of(call), stop);
    free(call->sums);
    return status != 0 ? cancelled(frame->api, kernel) : fault_error(frame->api, call);
}

// XLA's threads take subnormal numbers for 0; kernels do not, here as elsewhere.
static Error *launch(Frame *frame, Call *call, int64_t bytes) {
    int64_t mode = plain_floats();
    Error *error = launch_here(frame, call, bytes);
    floats_as(mode);
    return error;
}

static Error *call_kernel(Frame *frame, const void *description) {
    const Kernel *kernel = description;
    bool on_gpu = kernel->grain == ON_GPU;
    if (answer_metadata(frame, on_gpu ? TRAIT_COMMAND_BUFFER : 0) || frame->stage != STAGE_EXECUTE) return NULL;
    if (frame->args.size != kernel->operands || frame->rets.size != kernel->results)
        return REFUSE(frame, "kernel '%s' takes %lld operands and %lld results under XLA; "
                      "the call has other numbers of them",
                      (int64_t)kernel->name, kernel->operands, kernel->results);
    Attributes attributes;
    if (!read_attributes(frame, kernel, &attributes))
        return REFUSE(frame, "kernel '%s' takes the attributes dims (1 to 4 int64) and %lld int64 values, "
                      "%lld of views; not so",
                      (int64_t)kernel->name, kernel->values, kernel->view_words);

    int64_t bytes = sizeof(Call) + kernel->param_count * sizeof(Bound) + kernel->buffer_bytes;
    Call *call = __builtin_alloca_with_align(bytes, 128);
    call->kernel = kernel;
    call->ndim = attributes.ndim;
    call->fault.count = 0;
    Error *error = on_gpu ? enter_stream(frame, kernel, &call->future) : NULL;
    if (error != NULL) return error;
    error = measure(frame, call, &attributes);
    for (int64_t n = 0; n < kernel->param_count && error == NULL; n++)
        error = bind(frame, call, attributes.values, attributes.views, n);
    if (error == NULL) error = bind_records(frame, call);
    if (error == NULL) error = on_gpu ? launch_cuda(frame, call) : launch(frame, call, bytes);
    if (on_gpu) leave_stream(kernel);
    return error;
}

Error *workbench_ffi(Frame *frame, const Kernel *kernel) {
    int32_t noting = __atomic_load_n(&wb_ffi_on, __ATOMIC_RELAXED);
    return noting ? call_noted(frame, kernel, noting, call_kernel) : call_kernel(frame, kernel);
}

// On a GPU never the operands' bytes: they are on the device.
Error *workbench_cuda(Frame *frame, const Kernel *kernel) {
    int32_t noting = __atomic_load_n(&wb_ffi_on, __ATOMIC_RELAXED);
    return noting ? call_noted(frame, kernel, NOTE_CALLS, call_kernel) : call_kernel(frame, kernel);
}

Error *workbench_program(Frame *frame, const Program *program) {
    int32_t noting = __atomic_load_n(&wb_ffi_on, __ATOMIC_RELAXED);
    return noting ? call_noted(frame, program, noting, call_program) : call_program(frame, program);
}

// A call of a kernel that was redefined after its program was compiled: the sentence `text` as the error of the stages
// that run it (on a GPU also of `initialize`, since a command buffer repeats what it queued without `execute`); null
// for other questions, which are the kernel's own.
Error *workbench_outdated_call(Frame *frame, const char *text) {
    if (metadata_asked(frame) != NULL || frame->stage < STAGE_INITIALIZE) return NULL;
    return REFUSE(frame, "%s", (int64_t)text);
}
