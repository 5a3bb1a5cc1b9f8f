// Devices, contexts and memory.
#pragma once
#include "streams.h"

inline int known(int device) {
    expect(device >= 0 && device < driver.devices, "there is no device of this number", INVALID_DEVICE);
    return device;
}

extern "C" {

Result cuInit(uint32_t flags) {
    std::lock_guard<std::recursive_mutex> lock(driver.mutex);
    driver.started = true;
    return flags == 0 ? OK : INVALID_VALUE;
}

Result cuDriverGetVersion(int *version) {
    *version = driver.version;
    return OK;
}

Result cuDeviceGetCount(int *count) {
    return call(__func__, false, [&] { *count = driver.devices; });
}

Result cuDeviceGet(int *device, int ordinal) {
    return call(__func__, false, [&] {
        if (ordinal < 0 || ordinal >= driver.devices) throw Answer{INVALID_DEVICE};  // how programs count devices
        *device = ordinal;
    });
}

Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    return call(__func__, false, [&] {
        known(device);
        // By the numbers of CUdevice_attribute: those of an H100, and 1 for what is there or not.
        static const std::map<int, int> values = {
            {1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, INT32_MAX}, {6, 65535}, {7, 65535}, {8, 49152}, {10, 32},
            {12, 65536}, {16, 132}, {31, 0}, {39, 2048}, {40, 3}, {81, 233472}, {97, 232448}, {106, 32}, {111, 1024},
        };
        auto found = values.find(attribute);
        *value = attribute == 75   ? driver.capability / 10
                 : attribute == 76 ? driver.capability % 10
                                   : found == values.end() ? 1 : found->second;
    });
}

Result cuDeviceGetName(char *name, int size, int device) {
    return call(__func__, false, [&] {
        known(device);
        snprintf(name, size, "Stand-in %d", device);
    });
}

Result cuDeviceGetUuid_v2(char *uuid, int device) {
    return call(__func__, false, [&] { memset(uuid, known(device) + 1, 16); });
}

Result cuDeviceTotalMem_v2(uint64_t *bytes, int device) {
    return call(__func__, false, [&] {
        known(device);
        *bytes = driver.memory;
    });
}

Result cuDeviceCanAccessPeer(int *can, int device, int peer) {
    return call(__func__, false, [&] { *can = known(device) != known(peer); });
}

Result cuDevicePrimaryCtxRetain(const void **context, int device) {
    return call(__func__, false, [&] {
        known(device);
        if (driver.contexts[device] == nullptr) driver.contexts[device] = driver.make<Context>(device);
        driver.retained[device]++;
        *context = driver.contexts[device];
    });
}

// As `cuCtxSetCurrent`: work in it is the device's, and its handles are those of all of the device's contexts.
Result cuCtxCreate_v2(const void **context, uint32_t flags, int device) {
    return call(__func__, false, [&] {
        current.push_back(driver.make<Context>(known(device)));
        *context = current.back();
    });
}

Result cuDevicePrimaryCtxRelease_v2(int device) {
    return call(__func__, false, [&] {
        expect(driver.retained[known(device)] > 0, "the primary context is not retained", INVALID_CONTEXT);
        driver.retained[device]--;
    });
}

Result cuDevicePrimaryCtxGetState(int device, uint32_t *flags, int *active) {
    return call(__func__, false, [&] {
        *flags = 0;
        *active = driver.retained[known(device)] > 0;
    });
}

Result cuCtxSetCurrent(const void *context) {
    return call(__func__, false, [&] {
        Context *found = context == nullptr ? nullptr : driver.as<Context>(context);
        if (current.empty()) current.push_back(found);
        current.back() = found;
    });
}

Result cuCtxGetCurrent(const void **context) {
    return call(__func__, false, [&] { *context = current.empty() ? nullptr : current.back(); });
}

Result cuCtxPushCurrent_v2(const void *context) {
    return call(__func__, false, [&] { current.push_back(driver.as<Context>(context)); });
}

Result cuCtxPopCurrent_v2(const void **context) {
    return call(__func__, false, [&] {
        expect(!current.empty(), "no context is current in this thread", INVALID_CONTEXT);
        if (context != nullptr) *context = current.back();
        current.pop_back();
    });
}

Result cuCtxGetDevice(int *device) {
    return call(__func__, true, [&] { *device = here(); });
}

Result cuCtxGetId(const void *context, uint64_t *id) {
    return call(__func__, false, [&] { *id = 1 + driver.as<Context>(context)->device; });
}

Result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return call(__func__, true, [&] {
        *least = 0;
        *greatest = -5;
    });
}

Result cuCtxSynchronize(void) {
    return call(__func__, true, [&] {
        unsafe("waiting for the device");
        flush();
    });
}

}  // extern "C"

// Memory.

inline Address take_memory(uint64_t bytes, Memory kind, int device) {
    expect(bytes > 0, "an allocation of no bytes");
    if (kind != PINNED && driver.held[device] + bytes > driver.memory) throw Answer{OUT_OF_MEMORY};
    void *memory = nullptr;
    if (driver.executes) {
        memory = (void *)driver.execute.alloc(kind == PINNED ? -1 : device, bytes);
    } else if (posix_memalign(&memory, 512, bytes) == 0) {
        memset(memory, 0xCD, bytes < 4096 ? bytes : 4096);  // what is never written is not zero by luck
    }
    if (memory == nullptr) throw Answer{OUT_OF_MEMORY};
    driver.blocks[(Address)memory] = {bytes, kind, device};
    if (kind != PINNED) driver.held[device] += bytes;
    driver.live[kind == PINNED ? "pinned memory" : "memory"]++;
    return (Address)memory;
}

inline void give_memory(Address address, std::initializer_list<Memory> kinds) {
    auto found = driver.blocks.find(address);
    expect(found != driver.blocks.end(), "no allocation begins here, or it was freed");
    bool fits = false;
    for (Memory kind : kinds) fits |= kind == found->second.kind;
    expect(fits, "memory of another kind is freed by another function");
    if (found->second.kind != PINNED) driver.held[found->second.device] -= found->second.bytes;
    driver.live[found->second.kind == PINNED ? "pinned memory" : "memory"]--;
    driver.blocks.erase(found);
    if (driver.executes)
        driver.execute.release(address);
    else
        free((void *)address);
}

inline const Block *block_at(Address address) {
    auto next = driver.blocks.upper_bound(address);
    if (next == driver.blocks.begin()) return nullptr;
    --next;
    return address < next->first + next->second.bytes ? &next->second : nullptr;
}

inline void reaches(Address address, uint64_t bytes) {
    auto next = driver.blocks.upper_bound(address);
    expect(next != driver.blocks.begin(), "the address is in no allocation");
    --next;
    expect(address + bytes <= next->first + next->second.bytes, "the bytes are not all in one allocation");
}

extern "C" {

Result cuDeviceGetMemPool(const void **pool, int device) {
    return call(__func__, false, [&] {
        if (driver.pools[known(device)] == nullptr) driver.pools[device] = driver.make<Pool>(device);
        *pool = driver.pools[device];
    });
}

Result cuDeviceGetDefaultMemPool(const void **pool, int device) {
    return cuDeviceGetMemPool(pool, device);
}

Result cuMemPoolGetAttribute(const void *pool, int attribute, uint64_t *value) {
    return call(__func__, false, [&] {
        driver.as<Pool>(pool);
        *value = 0;
    });
}

Result cuMemPoolSetAttribute(const void *pool, int attribute, const void *value) {
    return call(__func__, false, [&] { driver.as<Pool>(pool); });
}

Result cuMemPoolTrimTo(const void *pool, uint64_t bytes) {
    return call(__func__, false, [&] { driver.as<Pool>(pool); });
}

typedef struct {
    int type, device, flags;
} Access;

Result cuMemPoolSetAccess(const void *pool, const Access *wanted, uint64_t count) {
    return call(__func__, false, [&] {
        Pool *found = driver.as<Pool>(pool);
        for (uint64_t n = 0; n < count; n++) {
            expect(wanted[n].type == 1, "access is of devices");
            known(wanted[n].device);
            expect(wanted[n].flags == 0 || wanted[n].flags == 3, "access is none, or reading and writing");
            expect(wanted[n].device != found->device || wanted[n].flags == 3, "a device keeps access to its own pool");
            found->access[wanted[n].device] = wanted[n].flags;
            if (driver.executes) driver.execute.allow(found->device, wanted[n].device, wanted[n].flags);
        }
    });
}

Result cuMemPoolGetAccess(int *flags, const void *pool, const int *location) {
    return call(__func__, false, [&] {
        Pool *found = driver.as<Pool>(pool);
        expect(location[0] == 1, "access is of devices");
        *flags = known(location[1]) == found->device ? 3 : found->access[location[1]];
    });
}

Result cuMemAllocFromPoolAsync(Address *address, uint64_t bytes, const void *pool, const void *stream) {
    return call(__func__, true, [&] {
        Pool *found = driver.as<Pool>(pool);
        expect(queue(stream).capture == nullptr, "the stand-in captures no allocations", NOT_SUPPORTED);
        *address = take_memory(bytes, POOL_MEMORY, found->device);
    });
}

Result cuMemAllocAsync(Address *address, uint64_t bytes, const void *stream) {
    return call(__func__, true, [&] {
        expect(queue(stream).capture == nullptr, "the stand-in captures no allocations", NOT_SUPPORTED);
        *address = take_memory(bytes, POOL_MEMORY, here());
    });
}

Result cuMemFreeAsync(Address address, const void *stream) {
    return call(__func__, true, [&] {
        expect(queue(stream).capture == nullptr, "the stand-in captures no frees", NOT_SUPPORTED);
        give_memory(address, {POOL_MEMORY, DEVICE_MEMORY});
    });
}

Result cuMemAlloc_v2(Address *address, uint64_t bytes) {
    return call(__func__, true, [&] {
        unsafe("allocating at once");
        *address = take_memory(bytes, DEVICE_MEMORY, here());
    });
}

Result cuMemFree_v2(Address address) {
    return call(__func__, true, [&] {
        unsafe("freeing at once");
        give_memory(address, {POOL_MEMORY, DEVICE_MEMORY});
    });
}

Result cuMemHostAlloc(Address *address, uint64_t bytes, uint32_t flags) {
    return call(__func__, true, [&] {
        unsafe("allocating pinned memory");
        expect((flags & ~7u) == 0, "unknown flags");
        *address = take_memory(bytes, PINNED, here());
    });
}

Result cuMemFreeHost(Address address) {
    return call(__func__, true, [&] {
        unsafe("freeing pinned memory");
        give_memory(address, {PINNED});
    });
}

Result cuMemGetInfo_v2(uint64_t *free, uint64_t *total) {
    return call(__func__, true, [&] {
        *total = driver.memory;
        *free = driver.memory - driver.held[here()];
    });
}

Result cuMemcpyHtoD_v2(Address to, const void *from, uint64_t bytes) {
    return call(__func__, true, [&] {
        unsafe("copying at once");
        queue(nullptr);
        reaches(to, bytes);
        memcpy((void *)to, from, bytes);
        flush();
    });
}

Result cuMemcpyDtoH_v2(void *to, Address from, uint64_t bytes) {
    return call(__func__, true, [&] {
        unsafe("copying at once");
        queue(nullptr);
        reaches(from, bytes);
        memcpy(to, (const void *)from, bytes);
        flush();
    });
}

Result cuMemcpyAsync(Address to, Address from, uint64_t bytes, const void *stream) {
    return call(__func__, true, [&] {
        expect(block_at(to) != nullptr || block_at(from) != nullptr, "neither address is memory of a device");
        if (block_at(to) != nullptr) reaches(to, bytes);
        if (block_at(from) != nullptr) reaches(from, bytes);
        put(stream, [=] { memmove((void *)to, (const void *)from, bytes); });
    });
}

Result cuMemcpyDtoDAsync_v2(Address to, Address from, uint64_t bytes, const void *stream) {
    return call(__func__, true, [&] {
        reaches(to, bytes);
        reaches(from, bytes);
        put(stream, [=] { memmove((void *)to, (const void *)from, bytes); });
    });
}

}  // extern "C"

// Fill `height` rows of `width` elements.
template <class T> void fill(Address to, uint64_t pitch, T value, uint64_t width, uint64_t height, const void *stream) {
    expect(to % sizeof(T) == 0 && pitch % sizeof(T) == 0, "the address or the pitch is not aligned");
    expect(width > 0 && height > 0, "a fill of nothing");
    expect(height == 1 || pitch >= width * sizeof(T), "rows overlap");
    reaches(to, pitch * (height - 1) + width * sizeof(T));
    put(stream, [=] {
        for (uint64_t y = 0; y < height; y++)
            for (uint64_t x = 0; x < width; x++) ((T *)(to + y * pitch))[x] = value;
    });
}

extern "C" {

Result cuMemsetD8Async(Address to, uint8_t value, uint64_t count, const void *stream) {
    return call(__func__, true, [&] { fill(to, 0, value, count, 1, stream); });
}

Result cuMemsetD16Async(Address to, uint16_t value, uint64_t count, const void *stream) {
    return call(__func__, true, [&] { fill(to, 0, value, count, 1, stream); });
}

Result cuMemsetD32Async(Address to, uint32_t value, uint64_t count, const void *stream) {
    return call(__func__, true, [&] { fill(to, 0, value, count, 1, stream); });
}

Result cuMemsetD2D32Async(Address to, uint64_t pitch, uint32_t value, uint64_t width, uint64_t height,
                          const void *stream) {
    return call(__func__, true, [&] { fill(to, pitch, value, width, height, stream); });
}

Result cuPointerGetAttribute(void *value, int attribute, Address address) {
    return call(__func__, true, [&] {
        const Block *found = block_at(address);
        if (found == nullptr) throw Answer{INVALID_VALUE};  // how programs ask whether memory is CUDA's
        if (attribute == 2) *(int *)value = found->kind == PINNED ? 1 : 2;
        else if (attribute == 9) *(int *)value = found->device;
        else if (attribute == 3) *(Address *)value = address;
        else refuse(NOT_SUPPORTED, "the stand-in does not know this attribute of a pointer");
    });
}

Result cuPointerGetAttributes(uint32_t count, const int *attributes, void **values, Address address) {
    return call(__func__, false, [&] {
        const Block *found = block_at(address);
        for (uint32_t n = 0; n < count; n++) {
            int type = found == nullptr ? 0 : found->kind == PINNED ? 1 : 2;
            if (attributes[n] == 2) *(int *)values[n] = type;
            else if (attributes[n] == 9) *(int *)values[n] = found == nullptr ? -2 : found->device;
            else if (attributes[n] == 8) *(int *)values[n] = 0;
            else if (attributes[n] == 3) *(Address *)values[n] = found == nullptr ? 0 : address;
            else refuse(NOT_SUPPORTED, "the stand-in does not know this attribute of a pointer");
        }
    });
}

}  // extern "C"
