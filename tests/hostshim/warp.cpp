// One warp as 32 threads that meet at every shuffle: tries the prelude's sum over a whole warp.
#include <barrier>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct index3 { unsigned int x, y, z; };
static thread_local index3 threadIdx;
static std::barrier meeting(32);
static double slots[32];
static std::mutex memory;
static int touched;
static bool whole;

#define __device__
#define __forceinline__ inline
static unsigned int __activemask() { return whole ? 0xffffffffU : 1U << threadIdx.x % 32; }
template <typename T> static T __shfl_xor_sync(unsigned int, T v, int lanes) {
    unsigned int lane = threadIdx.x % 32;
    slots[lane] = v;
    meeting.arrive_and_wait();
    T other = T(slots[lane ^ lanes]);
    meeting.arrive_and_wait();
    return other;
}
template <typename T> static T atomicAdd(T* p, T v) {
    std::lock_guard<std::mutex> lock(memory);
    ++touched;
    T old = *p;
    *p += v;
    return old;
}

#include PRELUDE

template <typename T> static void run(const char* name, T one) {
    T total = {};
    touched = 0;
    std::vector<std::thread> warp;
    for (unsigned int lane = 0; lane < 32; ++lane)
        warp.emplace_back([&total, one, lane] {
            threadIdx = {lane, 0, 0};
            wb_reduce_add(&total, T(one * T(lane + 1)));
        });
    for (auto& thread : warp) thread.join();
    std::printf("%s %d %g %d\n", name, int(whole), double(total), touched);
}

int main() {
    for (bool all : {true, false}) {
        whole = all;
        run<float>("float", 0.5f);
        run<double>("double", 0.25);
        run<int>("int", 3);
    }
}
