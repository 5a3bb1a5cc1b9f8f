// What the stand-in for libcuda.so.1 holds: handles of a kind, contexts of threads, memory, captures, graphs.
//
// Handles are addresses of objects that are never given out again. Work is done when it is queued, so order is never
// wrong here; what is checked is whether a driver would take each call: kinds of handles, current contexts, capture
// rules, sizes, ranges of memory, the driver's version.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using Result = int32_t;
using Address = uint64_t;

enum : Result {
    OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201, NO_BINARY_FOR_GPU = 209, UNSUPPORTED_PTX_VERSION = 222, INVALID_HANDLE = 400,
    NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901,
    CAPTURE_UNMATCHED = 903, CAPTURE_UNJOINED = 904, CAPTURE_IMPLICIT = 906, CAPTURE_WRONG_THREAD = 908,
};

struct Refused {  // noted in the report
    Result status;
    std::string why;
};
struct Answer {  // a status that is no fault of the caller's
    Result status;
};

[[noreturn]] inline void refuse(Result status, const std::string &why) {
    throw Refused{status, why};
}
inline void expect(bool holds, const char *why, Result status = INVALID_VALUE) {
    if (!holds) refuse(status, why);
}

// Objects behind handles.

struct Object {
    int device = 0;
    bool live = true;
    virtual ~Object() = default;
};
struct Context : Object {
    static constexpr const char *kind = "context";
};
struct Pool : Object {
    static constexpr const char *kind = "memory pool";
    std::map<int, int> access;  // by device, what it may: 0 or 3
};
struct Stream;
struct Graph;
struct Capture {
    Stream *origin;
    int mode;
    std::thread::id thread;
    Graph *graph;
    bool spoiled = false;
    std::set<Stream *> joined;
};
struct Stream : Object {
    static constexpr const char *kind = "stream";
    uint32_t flags = 0;
    int priority = 0;
    bool legacy = false;
    std::shared_ptr<Capture> capture;
    std::map<const Object *, long> seen;  // of the capture: by stream, how much work comes before what is next here
};
struct Event : Object {
    static constexpr const char *kind = "event";
    uint32_t flags = 0;
    bool recorded = false;
    double moment = 0;
    std::shared_ptr<Capture> capture;
    std::map<const Object *, long> seen;
};
struct Library : Object {
    static constexpr const char *kind = "library";
    std::string image;
    int64_t module = 0;  // of the executor
};
struct Kernel : Object {
    static constexpr const char *kind = "kernel (CUkernel)";
    Library *library = nullptr;
    std::string name;
    std::map<int, int> shared;  // by device, bytes of dynamic shared memory that were allowed
    std::vector<uint64_t> sizes;
    int64_t number = 0;  // of the executor
};
struct Function : Object {
    static constexpr const char *kind = "function (CUfunction)";
    Kernel *kernel = nullptr;
};
struct Launch {
    Kernel *kernel = nullptr;
    uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared = 0;
    std::vector<std::string> values;  // copies of the parameters, if an executor knows their sizes
};
struct Condition : Object {
    static constexpr const char *kind = "condition";
    Graph *graph = nullptr;
    bool used = false;
    uint32_t first = 0, value = 0;
    bool assigns = false;
};
struct Node : Object {
    static constexpr const char *kind = "graph node";
    Graph *graph = nullptr;
    bool kernel = false;
    Launch launch;
    std::function<void()> work;                 // a captured copy or fill
    Condition *condition = nullptr;
    int type = -1;                              // of the condition: 0 if, 1 while
    std::vector<Graph *> bodies;                // of the condition, or the child graph
};
struct Graph : Object {
    static constexpr const char *kind = "graph";
    std::vector<Node *> nodes;  // each after what it depends on
    bool body = false;
};
struct Step {  // a node as it was when its graph was instantiated
    Node node;
    std::vector<std::vector<Step>> bodies;
};
struct Executable : Object {
    static constexpr const char *kind = "executable graph";
    std::vector<Step> steps;
    std::unordered_map<const Node *, size_t> place;  // of the nodes outside of bodies
};

enum Memory { DEVICE_MEMORY, POOL_MEMORY, PINNED };
struct Block {
    uint64_t bytes;
    Memory kind;
    int device;
};

// Executes kernels, and has the memory that they see (stand_in.py); without one nothing runs and memory is the process's.
struct Executor {
    uint64_t (*alloc)(int32_t device, uint64_t bytes);  // device -1: pinned memory; 0 if there is none left
    void (*release)(uint64_t address);
    int64_t (*load)(const char *image);  // PTX; -1 if it cannot be executed
    int64_t (*kernel)(int64_t module, const char *name, uint64_t *sizes);  // sizes of 64 parameters, ended by 0
    int32_t (*run)(int64_t kernel, int32_t device, const uint32_t *shape, const void *const *values);
    void (*allow)(int32_t owner, int32_t peer, int32_t flags);  // who may reach whose memory
    void (*flush)();                                            // write what kernels have printed
};

struct Driver {
    std::recursive_mutex mutex;
    bool started = false;
    int version = 13000, devices = 1, capability = 90;
    uint64_t memory = 8ull << 30;
    std::unordered_map<const void *, std::unique_ptr<Object>> objects;
    std::vector<Context *> contexts;  // of each device that was used, else null
    std::vector<int> retained;
    std::vector<Pool *> pools;
    std::vector<std::unique_ptr<Stream>> legacy;
    std::vector<Result> broken;
    std::vector<uint64_t> held;
    std::map<Address, Block> blocks;
    std::set<std::shared_ptr<Capture>> captures;
    std::map<std::string, long> live;
    std::vector<std::string> refused;
    long launches = 0;
    Executor execute{};
    bool executes = false;

    Driver();
    template <class T> T *make(int device) {
        auto made = std::make_unique<T>();
        T *object = made.get();
        object->device = device;
        objects[object] = std::move(made);
        live[T::kind]++;
        return object;
    }
    template <class T> T *as(const void *handle) {
        auto found = objects.find(handle);
        T *object = found == objects.end() ? nullptr : dynamic_cast<T *>(found->second.get());
        if (object == nullptr) refuse(INVALID_HANDLE, std::string("the handle is of no ") + T::kind);
        if (!object->live) refuse(INVALID_HANDLE, std::string("this ") + T::kind + " was given back");
        return object;
    }
    template <class T> bool is(const void *handle) {
        auto found = objects.find(handle);
        return found != objects.end() && found->second->live && dynamic_cast<T *>(found->second.get()) != nullptr;
    }
    template <class T> void drop(const void *handle) {
        as<T>(handle)->live = false;
        live[T::kind]--;
    }
};

extern Driver &driver;  // never destroyed: the report is written when the process ends
extern thread_local std::vector<Context *> current;  // the stack of this thread's contexts
extern thread_local std::string why;

inline int here() {
    return current.back()->device;
}

// A call of the driver: under its lock, in a current context unless it needs none, refusals as statuses.
template <class Body> Result call(const char *name, bool context, Body body) {
    std::lock_guard<std::recursive_mutex> lock(driver.mutex);
    why.clear();
    try {
        if (!driver.started) refuse(NOT_INITIALIZED, "cuInit was not called");
        if (context) {
            if (current.empty() || current.back() == nullptr)
                refuse(INVALID_CONTEXT, "no context is current in this thread");
            if (!current.back()->live) refuse(INVALID_CONTEXT, "the current context was given back");
            if (driver.broken[here()] != OK) return driver.broken[here()];
        }
        body();
        return OK;
    } catch (const Refused &refused) {
        why = refused.why;
        driver.refused.push_back(std::string(name) + ": " + refused.why);
        return refused.status;
    } catch (const Answer &answer) {
        return answer.status;
    }
}
