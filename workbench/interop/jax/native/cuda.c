// The handler of a kernel on a GPU: XLA gives a stream and device buffers, and the same binding as on the CPU is
// followed by one launch, or one per batch (one_launch.py). XLA may run `execute` only while it records a command buffer, and repeat what it
// queued; so nothing there waits, allocates or loads. The code is loaded in `initialize`, which XLA runs before,
// outside of any.
#include "handler.h"
#include "workbench/backends/cpu/native/queue.h"

typedef struct Driver {  // cuda.py has the same list
    Code (*cuLibraryLoadData)(uint64_t *library, const void *image, void *, void *, uint32_t, void *, void *, uint32_t);
    Code (*cuLibraryGetKernel)(uint64_t *kernel, uint64_t library, const char *name);
    Code (*cuLibraryUnload)(uint64_t library);
    Code (*cuKernelGetFunction)(uint64_t *function, uint64_t kernel);
    LaunchKernel *cuLaunchKernel;
    Code (*cuMemsetD8Async)(void *data, uint8_t value, uint64_t count, void *stream);
    Code (*cuMemsetD16Async)(void *data, uint16_t value, uint64_t count, void *stream);
    Code (*cuMemsetD32Async)(void *data, uint32_t value, uint64_t count, void *stream);
    Code (*cuMemsetD2D32Async)(void *data, uint64_t pitch, uint32_t value, uint64_t width, uint64_t height,
                               void *stream);
    Code (*cuMemcpyDtoDAsync)(void *to, const void *from, uint64_t bytes, void *stream);
    Code (*cuGetErrorName)(Code code, const char **name);
    Code (*cuCtxGetDevice)(int32_t *device);
    Code (*cuKernelSetAttribute)(int32_t attribute, int32_t value, uint64_t kernel, int32_t device);
    Code (*cuStreamGetCtx)(void *stream, void **context);
    Code (*cuCtxPushCurrent)(void *context);
    Code (*cuCtxPopCurrent)(void **context);
} Driver;

enum { MAX_DYNAMIC_SHARED = 8 };  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

typedef struct Loaded {
    uint64_t kernel;   // the CUkernel, which serves all devices
    uint64_t devices;  // a bit for each device that has it
} Loaded;

typedef struct Cuda {  // a GPU kernel's entry
    const Driver *driver;
    const void *image;  // the cubin
    const char *entry;
    int64_t block_threads, block_points;
    Loaded *loaded;
    const int64_t *places;  // where each parameter lies in the buffer, the dims first
    int64_t shared;         // bytes of dynamic shared memory of a block
} Cuda;

// INVALID_ARGUMENT with the kernel's name and the driver's name of its error.
__attribute__((cold, noinline)) static Error *refuse_cuda(Frame *frame, const Kernel *kernel, const char *format,
                                                          Code code) {
    const char *name = "an error without a name";
    ((const Cuda *)kernel->entry)->driver->cuGetErrorName(code, &name);
    return REFUSE(frame, format, (int64_t)kernel->name, (int64_t)name, code);
}

static const char *const CANNOT_LOAD = "kernel '%s': the CUDA driver does not load its code: %s (%lld)";
static const char *const NO_CONTEXT = "kernel '%s': the CUDA driver does not make its stream's context current: %s (%lld)";
static const char *const CANNOT_QUEUE = "kernel '%s': the CUDA driver refuses to queue it: %s (%lld)";

// Put the frame's stream there and make its context current, since XLA promises none on the thread that calls;
// `leave_stream` brings back what was current. XLA's error if it has no stream.
static Error *enter_stream(Frame *frame, const Kernel *kernel, void **stream) {
    StreamGet arguments = {.struct_size = STRUCT_SIZE(StreamGet, stream), .ctx = frame->ctx};
    Error *error = ask(frame->api, XLA_FFI_Stream_Get, &arguments);
    if (error != NULL) return error;
    const Driver *driver = ((const Cuda *)kernel->entry)->driver;
    void *context;
    Code code = driver->cuStreamGetCtx(*stream = arguments.stream, &context);
    if (code == 0) code = driver->cuCtxPushCurrent(context);
    return code == 0 ? NULL : refuse_cuda(frame, kernel, NO_CONTEXT, code);
}

static void leave_stream(const Kernel *kernel) {
    void *left;
    ((const Cuda *)kernel->entry)->driver->cuCtxPopCurrent(&left);
}

// The number of the frame's device; -1 if XLA is too old to say it.
static int32_t device_ordinal(Frame *frame) {
    Api *api = frame->api;
    if (api->struct_size <= (int64_t)offsetof(Api, functions[XLA_FFI_DeviceOrdinal_Get])) return -1;
    DeviceOrdinalGet arguments = {.struct_size = STRUCT_SIZE(DeviceOrdinalGet, device_ordinal), .ctx = frame->ctx};
    return failed(api, ask(api, XLA_FFI_DeviceOrdinal_Get, &arguments)) ? -1 : arguments.device_ordinal;
}

static bool is_ready(const Cuda *cuda, int32_t device) {
    return device >= 0 && __atomic_load_n(&cuda->loaded->devices, __ATOMIC_ACQUIRE) >> (device & 63) & 1;
}

// Load the cubin; where two threads do, one keeps its own.
__attribute__((noinline)) static Error *load_kernel(Frame *frame, const Kernel *kernel, const Cuda *cuda) {
    uint64_t library, handle, none = 0;
    Code code = cuda->driver->cuLibraryLoadData(&library, cuda->image, NULL, NULL, 0, NULL, NULL, 0);
    if (code == 0) code = cuda->driver->cuLibraryGetKernel(&handle, library, cuda->entry);
    if (code != 0) return refuse_cuda(frame, kernel, CANNOT_LOAD, code);
    if (!__atomic_compare_exchange_n(&cuda->loaded->kernel, &none, handle, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        cuda->driver->cuLibraryUnload(library);
    return NULL;
}

// Load the code if this process has not, and make it ready on a device, whose context is current.
static Error *make_ready(Frame *frame, const Kernel *kernel, const Cuda *cuda, int32_t device) {
    if (__atomic_load_n(&cuda->loaded->kernel, __ATOMIC_ACQUIRE) == 0) {
        Error *error = load_kernel(frame, kernel, cuda);
        if (error != NULL) return error;
    }
    Code code = device < 0 ? cuda->driver->cuCtxGetDevice(&device) : 0;
    if (code == 0 && is_ready(cuda, device)) return NULL;
    uint64_t handle = __atomic_load_n(&cuda->loaded->kernel, __ATOMIC_ACQUIRE);
    uint64_t function;  // asked for, because lazy loading would otherwise load at the first launch
    if (code == 0) code = cuda->driver->cuKernelGetFunction(&function, handle);
    if (code == 0 && cuda->shared != 0) {
        int32_t current;
        code = cuda->driver->cuCtxGetDevice(&current);
        if (code == 0)
            code = cuda->driver->cuKernelSetAttribute(MAX_DYNAMIC_SHARED, (int32_t)cuda->shared, handle, current);
    }
    if (code != 0) return refuse_cuda(frame, kernel, CANNOT_LOAD, code);
    __atomic_fetch_or(&cuda->loaded->devices, (uint64_t)1 << (device & 63), __ATOMIC_RELEASE);
    return NULL;
}

// XLA's stage `initialize`: load the code once per process, and make it ready once per device.
Error *workbench_cuda_initialize(Frame *frame, const Kernel *kernel) {
    if (answer_metadata(frame, TRAIT_COMMAND_BUFFER) || frame->stage != STAGE_INITIALIZE) return NULL;
    const Cuda *cuda = kernel->entry;
    int32_t device = device_ordinal(frame);
    if (is_ready(cuda, device)) return NULL;
    void *stream;
    Error *error = enter_stream(frame, kernel, &stream);
    if (error != NULL) return error;
    error = make_ready(frame, kernel, cuda, device);
    leave_stream(kernel);
    return error;
}

// Queue one launch per batch.
static Error *launch_cuda(Frame *frame, Call *call) {
    const Kernel *kernel = call->kernel;
    const Cuda *cuda = kernel->entry;
    uint64_t handle = __atomic_load_n(&cuda->loaded->kernel, __ATOMIC_ACQUIRE);
    if (handle == 0)
        return REFUSE(frame, "kernel '%s': XLA runs it on a GPU before it was initialised", (int64_t)kernel->name);
    char *buffer = buffer_of(call);
    int64_t count = kernel->param_count + 1;
    void **pointers = __builtin_alloca_with_align(count * sizeof(void *), 64);
    point_to(pointers, buffer, cuda->places, count);
    uint64_t grid = (uint64_t)(call->points + cuda->block_points - 1) / (uint64_t)cuda->block_points;
    if (grid > INT32_MAX)
        return REFUSE(frame, "kernel '%s': %lld blocks are more than one launch can have (%lld)",
                      (int64_t)kernel->name, (int64_t)grid, INT32_MAX);
    Shape shape = {{(uint32_t)grid, 1, 1}, {(uint32_t)cuda->block_threads, 1, 1}, (uint32_t)cuda->shared};
    for (int64_t at = 0, batch = 0; at < call->total; at += call->points, batch++) {
        point(call, buffer, batch);
        Code code = queue_launch(cuda->driver->cuLaunchKernel, handle, &shape, call->future, pointers);
        if (code != 0) return refuse_cuda(frame, kernel, CANNOT_QUEUE, code);
    }
    return NULL;
}

// Queue a fill of device memory with a pattern of 1, 2, 4 or 8 bytes.
static Error *fill_cuda(Call *call, Frame *frame, void *data, int64_t bytes, int64_t pattern, int64_t width) {
    const Driver *driver = ((const Cuda *)call->kernel->entry)->driver;
    void *stream = call->future;
    uint64_t count = (uint64_t)bytes / (uint64_t)width;
    if (count == 0) return NULL;
    Code code;
    if (width == 1) {
        code = driver->cuMemsetD8Async(data, (uint8_t)pattern, count, stream);
    } else if (width == 2) {
        code = driver->cuMemsetD16Async(data, (uint16_t)pattern, count, stream);
    } else if (width == 4) {
        code = driver->cuMemsetD32Async(data, (uint32_t)pattern, count, stream);
    } else if ((uint32_t)pattern == (uint32_t)(pattern >> 32)) {  // zero, with which every gradient begins
        code = driver->cuMemsetD32Async(data, (uint32_t)pattern, 2 * count, stream);
    } else {  // the low words of all, then the high ones: rows of one word, 8 bytes apart
        code = driver->cuMemsetD2D32Async(data, 8, (uint32_t)pattern, 1, count, stream);
        if (code == 0)
            code = driver->cuMemsetD2D32Async((char *)data + 4, 8, (uint32_t)(pattern >> 32), 1, count, stream);
    }
    return code == 0 ? NULL : refuse_cuda(frame, call->kernel, CANNOT_QUEUE, code);
}

// Queue a copy of device memory.
static Error *copy_cuda(Call *call, Frame *frame, void *to, const void *from, int64_t bytes) {
    if (bytes == 0) return NULL;
    Code code = ((const Cuda *)call->kernel->entry)->driver->cuMemcpyDtoDAsync(to, from, bytes, call->future);
    return code == 0 ? NULL : refuse_cuda(frame, call->kernel, CANNOT_QUEUE, code);
}
