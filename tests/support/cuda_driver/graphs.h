// Code, launches and graphs.
#pragma once
#include "devices.h"

// Refuse an image that the driver does not load: machine code of a newer CUDA or another architecture, newer PTX.
inline std::string image_of(const char *data) {
    if (memcmp(data, "\177ELF", 4) == 0) {
        uint8_t abi = data[8];  // from 8 on CUDA 13's, with the architecture in the next byte of the flags
        uint32_t flags = *(const uint32_t *)(data + 0x30);
        int made_for = abi >= 8 ? flags >> 8 & 0xff : flags & 0xff;
        expect(abi < 8 || driver.version >= 13000, "a cubin of CUDA 13, which a driver for CUDA 12 does not know",
               INVALID_IMAGE);
        if (made_for / 10 != driver.capability / 10 || made_for > driver.capability)
            refuse(NO_BINARY_FOR_GPU, "the cubin is for sm_" + std::to_string(made_for));
        uint64_t end = *(const uint64_t *)(data + 0x28) +
                       (uint64_t)*(const uint16_t *)(data + 0x3a) * *(const uint16_t *)(data + 0x3c);
        uint64_t programs = *(const uint64_t *)(data + 0x20) +
                            (uint64_t)*(const uint16_t *)(data + 0x36) * *(const uint16_t *)(data + 0x38);
        return std::string(data, end > programs ? end : programs);
    }
    std::string text(data);
    size_t at = text.find(".version ");
    expect(at != std::string::npos, "neither a cubin nor PTX", INVALID_IMAGE);
    expect(atof(text.c_str() + at + 9) < 9 || driver.version >= 13000, "PTX of CUDA 13", UNSUPPORTED_PTX_VERSION);
    return text;
}

extern "C" {

Result cuLibraryLoadData(const void **library, const void *image, void *, void *, uint32_t, void *, void *, uint32_t) {
    return call(__func__, false, [&] {
        std::string text = image_of((const char *)image);
        int64_t module = driver.executes ? driver.execute.load(text.c_str()) : 0;
        expect(module >= 0, "the executor cannot execute this code", INVALID_IMAGE);
        Library *made = driver.make<Library>(0);
        made->image = text;
        made->module = module;
        *library = made;
    });
}

Result cuLibraryUnload(const void *library) {
    return call(__func__, false, [&] { driver.drop<Library>(library); });
}

Result cuLibraryGetKernel(const void **kernel, const void *library, const char *name) {
    return call(__func__, false, [&] {
        Library *found = driver.as<Library>(library);
        bool elf = found->image[0] == '\177';
        std::string symbol = (elf ? ".text." : ".entry ") + std::string(name) + (elf ? std::string(1, '\0') : "(");
        expect(found->image.find(symbol) != std::string::npos, "the code has no such kernel", NOT_FOUND);
        Kernel *made = driver.make<Kernel>(0);
        made->library = found;
        made->name = name;
        if (driver.executes) {
            uint64_t sizes[65] = {0};
            made->number = driver.execute.kernel(found->module, name, sizes);
            expect(made->number >= 0, "the executor cannot execute this kernel", INVALID_IMAGE);
            for (int n = 0; sizes[n] != 0; n++) made->sizes.push_back(sizes[n]);
        }
        *kernel = made;
    });
}

}  // extern "C"

inline Kernel *live_kernel(const void *handle) {
    Kernel *found = driver.is<Function>(handle) ? driver.as<Function>(handle)->kernel : driver.as<Kernel>(handle);
    expect(found->library->live, "the kernel's library was unloaded", INVALID_HANDLE);
    return found;
}

extern "C" {

Result cuKernelGetFunction(const void **function, const void *kernel) {
    return call(__func__, true, [&] {
        Function *made = driver.make<Function>(here());
        made->kernel = driver.as<Kernel>(kernel);
        *function = made;
    });
}

Result cuKernelGetLibrary(const void **library, const void *kernel) {
    return call(__func__, false, [&] { *library = driver.as<Kernel>(kernel)->library; });
}

Result cuKernelSetAttribute(int attribute, int value, const void *kernel, int device) {
    return call(__func__, false, [&] {
        Kernel *found = driver.as<Kernel>(kernel);
        expect(attribute == 8 || attribute == 9, "this attribute cannot be set");
        expect(attribute == 9 || (value >= 0 && value <= 232448), "more shared memory than a block can have");
        if (attribute == 8) found->shared[known(device)] = value;
    });
}

Result cuKernelGetAttribute(int *value, int attribute, const void *kernel, int device) {
    return call(__func__, false, [&] {
        driver.as<Kernel>(kernel);
        known(device);
        *value = attribute == 0 ? 1024 : 16;
    });
}

Result cuKernelGetParamInfo(const void *kernel, uint64_t index, uint64_t *offset, uint64_t *size) {
    return call(__func__, false, [&] {
        Kernel *found = driver.as<Kernel>(kernel);
        if (index >= found->sizes.size()) throw Answer{INVALID_VALUE};  // how programs count parameters
        uint64_t at = 0;
        for (uint64_t n = 0; n < index; n++) at = (at + found->sizes[n] + 7) / 8 * 8;
        *offset = at;
        if (size != nullptr) *size = found->sizes[index];
    });
}

Result cuFuncGetAttribute(int *value, int attribute, const void *function) {
    return call(__func__, true, [&] {
        live_kernel(function);
        *value = attribute == 0 ? 1024 : 16;
    });
}

}  // extern "C"

// Refuse a launch that no device takes; copy its parameters if their sizes are known.
inline void check(Launch &launch, void **values, void **extra) {
    const uint32_t *g = launch.grid, *b = launch.block;
    expect(g[0] > 0 && g[1] > 0 && g[2] > 0 && g[0] <= INT32_MAX && g[1] <= 65535 && g[2] <= 65535, "the grid");
    expect(b[0] > 0 && b[1] > 0 && b[2] > 0 && b[2] <= 64 && (uint64_t)b[0] * b[1] * b[2] <= 1024, "the block");
    int allowed = launch.kernel->shared[here()];
    expect(launch.shared <= 49152 || (int)launch.shared <= allowed, "more shared memory than the kernel was allowed");
    expect(extra == nullptr, "the stand-in takes parameters by their addresses alone", NOT_SUPPORTED);
    launch.values.clear();
    expect(launch.kernel->sizes.empty() || values != nullptr, "the kernel has parameters, the launch has none");
    for (size_t n = 0; n < launch.kernel->sizes.size(); n++) {
        expect(values[n] != nullptr, "the address of a parameter is null");
        launch.values.emplace_back((const char *)values[n], launch.kernel->sizes[n]);
    }
}

inline void run(const Launch &launch) {
    driver.launches++;
    if (!driver.executes) return;
    const uint32_t shape[7] = {launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                               launch.block[2], launch.shared};
    std::vector<const void *> values;
    for (const auto &value : launch.values) values.push_back(value.data());
    driver.execute.flush();  // a driver's printf shows up with the next launch, too
    Result status = driver.execute.run(launch.kernel->number, here(), shape, values.data());
    if (status != OK) driver.broken[here()] = status;
}

extern "C" {

Result cuLaunchKernel(const void *kernel, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
                      uint32_t shared, const void *stream, void **values, void **extra) {
    return call(__func__, true, [&] {
        Launch launch = {live_kernel(kernel), {gx, gy, gz}, {bx, by, bz}, shared, {}};
        check(launch, values, extra);
        Stream &place = queue(stream);
        if (place.capture == nullptr) {
            run(launch);
            return;
        }
        Node *node = captured(place);
        node->kernel = true;
        node->launch = launch;
    });
}

// Graphs.

typedef struct {
    const void *function;
    uint32_t grid[3], block[3], shared;
    void **values, **extra;
    const void *kernel, *context;
} KernelParams;

typedef struct {
    int type, reserved[3];
    const void *condition;
    int kind;
    uint32_t size;
    const void **bodies;
    const void *context;
} ConditionParams;

}  // extern "C"

inline Node *node_after(const void *graph, const void *const *after, uint64_t count) {
    Graph *found = driver.as<Graph>(graph);
    expect(count == 0 || after != nullptr, "dependencies without an address");
    for (uint64_t n = 0; n < count; n++) {
        expect(driver.as<Node>(after[n])->graph == found, "a dependency is a node of another graph");
        for (uint64_t m = 0; m < n; m++) expect(after[m] != after[n], "a dependency is named twice");
    }
    return add_node(found);
}

inline Launch launch_of(const KernelParams *params) {
    if (params->function != nullptr && !driver.is<Function>(params->function))
        refuse(INVALID_HANDLE, "func takes a CUfunction; a CUkernel goes into kern");
    Launch made = {live_kernel(params->function != nullptr ? params->function : params->kernel),
                   {params->grid[0], params->grid[1], params->grid[2]},
                   {params->block[0], params->block[1], params->block[2]},
                   params->shared,
                   {}};
    if (params->context != nullptr) driver.as<Context>(params->context);
    check(made, params->values, params->extra);
    return made;
}

void drop_graph(Graph *graph) {
    for (Node *node : graph->nodes) {
        for (Graph *body : node->bodies) drop_graph(body);
        driver.drop<Node>(node);
    }
    driver.drop<Graph>(graph);
}

inline std::vector<Node *> copies(const Graph *graph) {  // the nodes of another graph, as they are now
    std::vector<Node *> made;
    for (const Node *node : graph->nodes) {
        Node *copy = driver.make<Node>(node->device);
        *(copy) = *node;
        copy->bodies.clear();
        for (const Graph *body : node->bodies) {
            Graph *inner = driver.make<Graph>(body->device);
            inner->body = true;
            inner->nodes = copies(body);
            copy->bodies.push_back(inner);
        }
        made.push_back(copy);
    }
    return made;
}

extern "C" {

Result cuGraphCreate(const void **graph, uint32_t flags) {
    return call(__func__, true, [&] {
        expect(flags == 0, "unknown flags");
        *graph = driver.make<Graph>(here());
    });
}

Result cuGraphDestroy(const void *graph) {
    return call(__func__, false, [&] {
        Graph *found = driver.as<Graph>(graph);
        expect(!found->body, "the body of a node is destroyed by itself");
        drop_graph(found);
    });
}

Result cuGraphAddKernelNode_v2(const void **node, const void *graph, const void *const *after, uint64_t count,
                               const KernelParams *params) {
    return call(__func__, true, [&] {
        Launch launch = launch_of(params);
        Node *made = node_after(graph, after, count);
        made->kernel = true;
        made->launch = launch;
        *node = made;
    });
}

struct Copy3D {  // CUDA_MEMCPY3D
    struct Side {
        uint64_t x, y, z, lod;
        uint32_t type, unused;
        void *host;
        Address device;
        void *array, *reserved;
        uint64_t pitch, height;
    } from, to;
    uint64_t width, height, depth;
};
struct FillParams {  // CUDA_MEMSET_NODE_PARAMS
    Address to;
    uint64_t pitch;
    uint32_t value, size;
    uint64_t width, height;
};

Result cuGraphAddMemcpyNode(const void **node, const void *graph, const void *const *after, uint64_t count,
                            const Copy3D *params, const void *context) {
    return call(__func__, true, [&] {
        Address from = params->from.device, to = params->to.device;
        uint64_t bytes = params->width;
        expect(params->from.type == 2 && params->to.type == 2 && params->height == 1 && params->depth == 1, "the copy");
        reaches(from, bytes);
        reaches(to, bytes);
        Node *made = node_after(graph, after, count);
        made->work = [=] { memmove((void *)to, (const void *)from, bytes); };
        *node = made;
    });
}

Result cuGraphAddMemsetNode(const void **node, const void *graph, const void *const *after, uint64_t count,
                            const FillParams *params, const void *context) {
    return call(__func__, true, [&] {
        FillParams fill = *params;
        expect(fill.size == 1 || fill.size == 2 || fill.size == 4, "the size of an element");
        expect(fill.to % fill.size == 0 && fill.height == 1 && fill.width > 0, "the fill");
        reaches(fill.to, fill.width * fill.size);
        Node *made = node_after(graph, after, count);
        made->work = [=] {
            for (uint64_t n = 0; n < fill.width; n++) memcpy((char *)fill.to + n * fill.size, &fill.value, fill.size);
        };
        *node = made;
    });
}

Result cuGraphAddEmptyNode(const void **node, const void *graph, const void *const *after, uint64_t count) {
    return call(__func__, true, [&] { *node = node_after(graph, after, count); });
}

Result cuGraphAddChildGraphNode(const void **node, const void *graph, const void *const *after, uint64_t count,
                                const void *child) {
    return call(__func__, true, [&] {
        Graph *found = driver.as<Graph>(child);
        for (const Node *inner : found->nodes)
            expect(inner->condition == nullptr, "a child graph with a conditional node", NOT_SUPPORTED);
        Node *made = node_after(graph, after, count);
        Graph *copy = driver.make<Graph>(here());
        copy->body = true;
        copy->nodes = copies(found);
        made->bodies = {copy};
        *node = made;
    });
}

Result cuGraphConditionalHandleCreate(const void **handle, const void *graph, const void *context, uint32_t first,
                                      uint32_t flags) {
    return call(__func__, true, [&] {
        driver.as<Context>(context);
        expect(flags <= 1, "unknown flags");
        Condition *made = driver.make<Condition>(here());
        made->graph = driver.as<Graph>(graph);
        made->first = made->value = first;
        made->assigns = flags == 1;
        *handle = made;
    });
}

Result cuGraphAddNode_v2(const void **node, const void *graph, const void *const *after, const void *edges,
                         uint64_t count, ConditionParams *params) {
    return call(__func__, true, [&] {
        expect(edges == nullptr, "the stand-in knows no data of edges", NOT_SUPPORTED);
        expect(params->type == 13, "the stand-in adds conditional nodes here alone", NOT_SUPPORTED);
        Condition *condition = driver.as<Condition>(params->condition);
        Graph *found = driver.as<Graph>(graph);
        expect(condition->graph == found, "the condition is another graph's");
        expect(!condition->used, "the condition is of another node already");
        expect(params->kind == 0 || params->kind == 1, "the stand-in knows if and while", NOT_SUPPORTED);
        expect(params->size == 1 || (params->size == 2 && params->kind == 0), "how many bodies the node has");
        expect(params->size == 1 || driver.version >= 12080, "an else needs a driver for CUDA 12.8");
        driver.as<Context>(params->context);
        Node *made = node_after(graph, after, count);
        condition->used = true;
        made->condition = condition;
        made->type = params->kind;
        for (uint32_t n = 0; n < params->size; n++) {
            made->bodies.push_back(driver.make<Graph>(here()));
            made->bodies.back()->body = true;
        }
        params->bodies = (const void **)made->bodies.data();
        *node = made;
    });
}

Result cuGraphAddNode(const void **node, const void *graph, const void *const *after, uint64_t count,
                      ConditionParams *params) {
    return cuGraphAddNode_v2(node, graph, after, nullptr, count, params);
}

}  // extern "C"

inline std::vector<Step> steps_of(const Graph *graph) {
    std::vector<Step> made;
    for (const Node *node : graph->nodes) {
        expect(!node->kernel || node->launch.kernel->library->live, "the library of a node was unloaded",
               INVALID_HANDLE);
        made.push_back({*node, {}});
        for (const Graph *body : node->bodies) made.back().bodies.push_back(steps_of(body));
    }
    return made;
}

inline void run_steps(const std::vector<Step> &steps) {
    for (const Step &step : steps) {
        Condition *condition = step.node.condition;
        if (step.node.kernel) run(step.node.launch);
        if (step.node.work) step.node.work();
        if (condition == nullptr)
            for (const auto &body : step.bodies) run_steps(body);
        else if (step.node.type == 1)
            while (condition->value != 0) run_steps(step.bodies[0]);
        else if (condition->value != 0)
            run_steps(step.bodies[0]);
        else if (step.bodies.size() == 2)
            run_steps(step.bodies[1]);
    }
}

inline void assign_conditions(const std::vector<Step> &steps) {
    for (const Step &step : steps) {
        if (step.node.condition != nullptr && step.node.condition->assigns)
            step.node.condition->value = step.node.condition->first;
        for (const auto &body : step.bodies) assign_conditions(body);
    }
}

extern "C" {

Result cuGraphInstantiateWithFlags(const void **executable, const void *graph, uint64_t flags) {
    return call(__func__, true, [&] {
        Graph *found = driver.as<Graph>(graph);
        std::vector<Step> steps = steps_of(found);
        Executable *made = driver.make<Executable>(here());
        made->steps = std::move(steps);
        for (size_t n = 0; n < found->nodes.size(); n++) made->place[found->nodes[n]] = n;
        *executable = made;
    });
}

Result cuGraphLaunch(const void *executable, const void *stream) {
    return call(__func__, true, [&] {
        Executable *found = driver.as<Executable>(executable);
        expect(found->device == here(), "the graph is of another device than the current context", INVALID_CONTEXT);
        expect(queue(stream).capture == nullptr, "the stand-in captures no graphs", NOT_SUPPORTED);
        assign_conditions(found->steps);
        run_steps(found->steps);
    });
}

Result cuGraphExecDestroy(const void *executable) {
    return call(__func__, false, [&] { driver.drop<Executable>(executable); });
}

Result cuGraphExecKernelNodeSetParams_v2(const void *executable, const void *node, const KernelParams *params) {
    return call(__func__, true, [&] {
        Executable *found = driver.as<Executable>(executable);
        auto place = found->place.find(driver.as<Node>(node));
        // The manual does not promise it for nodes in bodies, so a program has to be ready for this answer.
        if (place == found->place.end()) throw Answer{INVALID_VALUE};
        expect(found->steps[place->second].node.kernel, "the node is no launch of a kernel");
        found->steps[place->second].node.launch = launch_of(params);
    });
}

}  // extern "C"
