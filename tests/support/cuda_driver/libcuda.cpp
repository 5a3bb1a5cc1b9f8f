// The stand-in's functions by name and version, and what tests ask of it (stand_in.py).
//
// By environment: STANDIN_VERSION (13000), STANDIN_DEVICES (1), STANDIN_ARCH (90), STANDIN_MEMORY (bytes of a device);
// STANDIN_REPORT is a file to which the report is written when the process ends.
#include "graphs.h"

Driver &driver = *new Driver;
thread_local std::vector<Context *> current;
thread_local std::string why;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text == nullptr ? otherwise : atol(text);
}

Driver::Driver() {
    version = (int)number("STANDIN_VERSION", version);
    devices = (int)number("STANDIN_DEVICES", devices);
    capability = (int)number("STANDIN_ARCH", capability);
    memory = (uint64_t)number("STANDIN_MEMORY", (long)memory);
    contexts.resize(devices);
    retained.resize(devices);
    pools.resize(devices);
    broken.resize(devices);
    held.resize(devices);
    for (int device = 0; device < devices; device++) {
        legacy.push_back(std::make_unique<Stream>());
        legacy.back()->device = device;
        legacy.back()->legacy = true;
    }
}

static const char *name_of(Result code) {
    static const std::map<Result, const char *> names = {
        {OK, "CUDA_SUCCESS"}, {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}, {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"}, {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
        {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"}, {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
        {NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"}, {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
        {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
        {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
        {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
        {CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
        {CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
        {CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
        {CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    };
    auto found = names.find(code);
    return found == names.end() ? nullptr : found->second;
}

extern "C" {

Result cuGetErrorName(Result code, const char **name) {
    *name = name_of(code);
    return *name == nullptr ? INVALID_VALUE : OK;
}

// In place of NVIDIA's sentence on the status: what was wrong with this thread's last refused call.
Result cuGetErrorString(Result code, const char **text) {
    *text = why.empty() ? name_of(code) : why.c_str();
    return *text == nullptr ? INVALID_VALUE : OK;
}

Result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);

Result cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // extern "C"

struct Row {
    const char *name;
    int version;  // of CUDA, from which on this function has the name
    void *function;
};
#define ROW(name, version) {#name, version, (void *)name}
#define ROW2(name, version) {#name, version, (void *)name##_v2}

static const Row ROWS[] = {
    ROW(cuInit, 2000), ROW(cuDriverGetVersion, 2020), ROW(cuGetErrorName, 6000), ROW(cuGetErrorString, 6000),
    ROW(cuGetProcAddress, 11030), ROW2(cuGetProcAddress, 12000),
    ROW(cuDeviceGetCount, 2000), ROW(cuDeviceGet, 2000), ROW(cuDeviceGetAttribute, 2000), ROW(cuDeviceGetName, 2000),
    ROW2(cuDeviceGetUuid, 11040), ROW2(cuDeviceTotalMem, 3020), ROW(cuDeviceCanAccessPeer, 4000),
    ROW(cuDevicePrimaryCtxRetain, 7000), ROW2(cuDevicePrimaryCtxRelease, 11000),
    ROW(cuDevicePrimaryCtxGetState, 7000), ROW(cuCtxSetCurrent, 4000), ROW(cuCtxGetCurrent, 4000),
    ROW2(cuCtxCreate, 3020), ROW2(cuCtxPushCurrent, 4000), ROW2(cuCtxPopCurrent, 4000), ROW(cuCtxGetDevice, 2000), ROW(cuCtxGetId, 12000),
    ROW(cuCtxGetStreamPriorityRange, 5050), ROW(cuCtxSynchronize, 2000),
    ROW(cuDeviceGetMemPool, 11020), ROW(cuDeviceGetDefaultMemPool, 11020), ROW(cuMemPoolGetAttribute, 11020),
    ROW(cuMemPoolSetAttribute, 11020), ROW(cuMemPoolTrimTo, 11020), ROW(cuMemPoolSetAccess, 11020),
    ROW(cuMemPoolGetAccess, 11020), ROW(cuMemAllocFromPoolAsync, 11020), ROW(cuMemAllocAsync, 11020),
    ROW(cuMemFreeAsync, 11020), ROW2(cuMemAlloc, 3020), ROW2(cuMemFree, 3020), ROW(cuMemHostAlloc, 2020),
    ROW(cuMemFreeHost, 2000), ROW2(cuMemGetInfo, 3020), ROW2(cuMemcpyHtoD, 3020), ROW2(cuMemcpyDtoH, 3020),
    ROW(cuMemcpyAsync, 4000), ROW2(cuMemcpyDtoDAsync, 3020), ROW(cuMemsetD8Async, 3020), ROW(cuMemsetD16Async, 3020),
    ROW(cuMemsetD32Async, 3020), ROW(cuMemsetD2D32Async, 3020), ROW(cuPointerGetAttribute, 4000),
    ROW(cuPointerGetAttributes, 7000),
    ROW(cuStreamCreate, 2000), ROW(cuStreamCreateWithPriority, 5050), ROW2(cuStreamDestroy, 4000),
    ROW(cuStreamQuery, 2000), ROW(cuStreamSynchronize, 2000), ROW(cuStreamGetPriority, 5050),
    ROW(cuStreamGetFlags, 5050), ROW(cuStreamGetCtx, 9020), ROW(cuStreamGetDevice, 12080), ROW(cuStreamGetId, 12000),
    ROW(cuStreamWaitEvent, 3020), ROW(cuStreamIsCapturing, 10000), ROW2(cuStreamBeginCapture, 10010),
    ROW(cuStreamEndCapture, 10000), ROW(cuEventCreate, 2000), ROW2(cuEventDestroy, 4000), ROW(cuEventRecord, 2000),
    ROW(cuEventQuery, 2000), ROW(cuEventSynchronize, 2000), ROW(cuEventElapsedTime, 2000),
    ROW2(cuEventElapsedTime, 12080),
    ROW(cuLibraryLoadData, 12000), ROW(cuLibraryUnload, 12000), ROW(cuLibraryGetKernel, 12000),
    ROW(cuKernelGetFunction, 12000), ROW(cuKernelGetLibrary, 12050), ROW(cuKernelSetAttribute, 12000),
    ROW(cuKernelGetAttribute, 12000), ROW(cuKernelGetParamInfo, 12040), ROW(cuFuncGetAttribute, 2020),
    ROW(cuLaunchKernel, 4000), ROW(cuGraphCreate, 10000), ROW(cuGraphDestroy, 10000),
    ROW2(cuGraphAddKernelNode, 12000), ROW(cuGraphAddEmptyNode, 10000), ROW(cuGraphAddMemcpyNode, 10000), ROW(cuGraphAddMemsetNode, 10000),
    ROW(cuGraphAddChildGraphNode, 10000),
    ROW(cuGraphConditionalHandleCreate, 12030), ROW(cuGraphAddNode, 12020), ROW2(cuGraphAddNode, 12030),
    {"cuGraphInstantiate", 12000, (void *)cuGraphInstantiateWithFlags}, ROW(cuGraphInstantiateWithFlags, 11040),
    ROW(cuGraphLaunch, 10000), ROW(cuGraphExecDestroy, 10000), ROW2(cuGraphExecKernelNodeSetParams, 12000),
};

static std::string quoted(const std::string &text) {
    std::string made = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') made += '\\';
        made += c;
    }
    return made + "\"";
}

static std::string report() {
    std::lock_guard<std::recursive_mutex> lock(driver.mutex);
    std::string live, bytes, refused, contexts;
    for (const auto &kind : driver.live)
        live += (live.empty() ? "" : ", ") + quoted(kind.first) + ": " + std::to_string(kind.second);
    for (const auto &one : driver.refused) refused += (refused.empty() ? "" : ", ") + quoted(one);
    for (int device = 0; device < driver.devices; device++) {
        bytes += (device == 0 ? "" : ", ") + std::to_string(driver.held[device]);
        if (driver.contexts[device] != nullptr)
            contexts += (contexts.empty() ? "" : ", ") + std::to_string(device);
    }
    return "{\"live\": {" + live + "}, \"bytes\": [" + bytes + "], \"contexts\": [" + contexts + "], \"refused\": [" +
           refused + "], \"launches\": " + std::to_string(driver.launches) + "}";
}

extern "C" {

Result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t, int *status) {
    const Row *best = nullptr;
    int first = 0, newest = version < driver.version ? version : driver.version;
    for (const Row &row : ROWS) {
        if (strcmp(row.name, name) != 0) continue;
        if (row.version <= newest && (best == nullptr || row.version > best->version)) best = &row;
        if (first == 0 || row.version < first) first = row.version;
    }
    *function = best == nullptr ? nullptr : best->function;
    // CU_GET_PROC_ADDRESS_SUCCESS, _SYMBOL_NOT_FOUND, _VERSION_NOT_SUFFICIENT.
    if (status != nullptr) *status = best != nullptr ? 0 : first == 0 || first > driver.version ? 1 : 2;
    return best == nullptr ? NOT_FOUND : OK;
}

// What tests ask: the report as JSON; it is forgotten which calls were refused. Returns its length.
int64_t standin_report(char *text, int64_t size) {
    std::string made = report();
    if ((int64_t)made.size() < size) {
        memcpy(text, made.c_str(), made.size() + 1);
        std::lock_guard<std::recursive_mutex> lock(driver.mutex);
        driver.refused.clear();
    }
    return (int64_t)made.size();
}

void standin_execute(const Executor *executor) {
    driver.execute = *executor;
    driver.executes = true;
}

// A kernel that sets the condition of a graph.
int32_t standin_set_condition(const void *handle, uint32_t value) {
    return call("cudaGraphSetConditional", false, [&] { driver.as<Condition>(handle)->value = value; });
}

}  // extern "C"

__attribute__((destructor)) static void at_end() {
    const char *path = getenv("STANDIN_REPORT");
    FILE *file = path == nullptr ? nullptr : fopen(path, "w");
    if (file == nullptr) return;
    std::string text = report();
    fwrite(text.data(), 1, text.size(), file);
    fclose(file);
}
