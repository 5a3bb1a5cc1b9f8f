// CUDA's words as C++ for the CPU: qualifiers, barriers, warps, atomics, memory.
#define WB_HOST 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __shared__ static __attribute__((section("wb_shared")))
#define printf wb_host::print
#define assert(x) ((x) ? (void)0 : wb_host::failed(#x))
#define __CUDACC__ 1

#define WB_HOST_LINE int line = __builtin_LINE()
#define WB_HOST_FN static inline

namespace wb_host {
WB_HOST_FN void failed(const char* text, WB_HOST_LINE) { trouble(line, "assert(%s) failed", text); }
}

// Barriers and fences.
WB_HOST_FN void __syncthreads(WB_HOST_LINE) { wb_host::barrier(line, 0); }
WB_HOST_FN int __syncthreads_count(int vote, WB_HOST_LINE) { return wb_host::barrier(line, vote); }
WB_HOST_FN int __syncthreads_or(int vote, WB_HOST_LINE) { return wb_host::barrier(line, vote) != 0; }
WB_HOST_FN int __syncthreads_and(int vote, WB_HOST_LINE) { return wb_host::barrier(line, !vote) == 0; }
WB_HOST_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WB_HOST_FN void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WB_HOST_FN void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WB_HOST_FN void __nanosleep(unsigned int) { wb_host::pause(); }
WB_HOST_FN void __trap(WB_HOST_LINE) { wb_host::trouble(line, "__trap() was called"); }
WB_HOST_FN void __brkpt() {}
WB_HOST_FN long long clock64() { static long long ticks; return ++ticks; }
#define clock() ((int)clock64())

// Warps. A lane that is not there gives bytes 0xff.
WB_HOST_FN void __syncwarp(unsigned int mask = 0xffffffffU, WB_HOST_LINE) {
    wb_host::leave(wb_host::meet(mask, 0, line, nullptr, 0));
}
WB_HOST_FN unsigned int __activemask(WB_HOST_LINE) { return wb_host::active(line); }

namespace wb_host {
template <typename T> WB_HOST_FN T from(unsigned int mask, T value, unsigned int source, int line) {
    static_assert(sizeof(T) <= 16, "a shuffle moves up to 16 bytes");
    auto& m = meet(mask, 1, line, (const void*)&value, sizeof(T));
    T got = brought<T>(m, source);
    leave(m);
    return got;
}
template <typename T, typename F> WB_HOST_FN T over(unsigned int mask, int kind, T value, int line, T first, F add) {
    auto& m = meet(mask, kind, line, (const void*)&value, sizeof(T));
    T sum = first;
    for (unsigned int n = 0; n < 32; ++n)
        if (m.arrived >> n & 1) sum = add(sum, brought<T>(m, n), n);
    leave(m);
    return sum;
}
}
template <typename T> WB_HOST_FN T __shfl_sync(unsigned int mask, T value, int source, int width = 32, WB_HOST_LINE) {
    unsigned int own = wb_host::lane(), first = own & ~(unsigned int)(width - 1);
    return wb_host::from(mask, value, first | ((unsigned int)source & (unsigned int)(width - 1)), line);
}
template <typename T>
WB_HOST_FN T __shfl_up_sync(unsigned int mask, T value, unsigned int by, int width = 32, WB_HOST_LINE) {
    unsigned int own = wb_host::lane(), place = own & (unsigned int)(width - 1);
    return wb_host::from(mask, value, place >= by ? own - by : own, line);
}
template <typename T>
WB_HOST_FN T __shfl_down_sync(unsigned int mask, T value, unsigned int by, int width = 32, WB_HOST_LINE) {
    unsigned int own = wb_host::lane(), place = own & (unsigned int)(width - 1);
    return wb_host::from(mask, value, place + by < (unsigned int)width ? own + by : own, line);
}
template <typename T> WB_HOST_FN T __shfl_xor_sync(unsigned int mask, T value, int lanes, int width = 32, WB_HOST_LINE) {
    unsigned int own = wb_host::lane(), other = own ^ (unsigned int)lanes;
    return wb_host::from(mask, value, other < (own & ~(unsigned int)(width - 1)) + (unsigned int)width ? other : own, line);
}
WB_HOST_FN unsigned int __ballot_sync(unsigned int mask, int vote, WB_HOST_LINE) {
    return wb_host::over(mask, 2, (unsigned int)(vote != 0), line, 0U, [](unsigned a, unsigned b, unsigned n) { return a | b << n; });
}
WB_HOST_FN int __any_sync(unsigned int mask, int vote, WB_HOST_LINE) { return __ballot_sync(mask, vote, line) != 0; }
WB_HOST_FN int __all_sync(unsigned int mask, int vote, WB_HOST_LINE) { return __ballot_sync(mask, !vote, line) == 0; }
template <typename T> WB_HOST_FN unsigned int __match_any_sync(unsigned int mask, T value, WB_HOST_LINE) {
    auto& m = wb_host::meet(mask, 3, line, (const void*)&value, sizeof(T));
    unsigned int same = 0;
    for (unsigned int n = 0; n < 32; ++n)
        if (m.arrived >> n & 1 && wb_host::brought<T>(m, n) == value) same |= 1U << n;
    wb_host::leave(m);
    return same;
}
template <typename T> WB_HOST_FN unsigned int __match_all_sync(unsigned int mask, T value, int* all, WB_HOST_LINE) {
    unsigned int same = __match_any_sync(mask, value, line);
    unsigned int every = __ballot_sync(mask, 1, line);
    *all = __all_sync(mask, same == every, line);
    return *all ? every : 0;
}
#define WB_HOST_REDUCE(NAME, T, FIRST, SUM) \
    WB_HOST_FN T __reduce_##NAME##_sync(unsigned int mask, T value, WB_HOST_LINE) { \
        return wb_host::over(mask, 4, value, line, (T)(FIRST), [](T a, T b, unsigned int) -> T { return SUM; }); \
    }
WB_HOST_REDUCE(add, unsigned int, 0, a + b)
WB_HOST_REDUCE(min, unsigned int, 0xffffffffU, a < b ? a : b)
WB_HOST_REDUCE(max, unsigned int, 0, a > b ? a : b)
WB_HOST_REDUCE(and, unsigned int, 0xffffffffU, a & b)
WB_HOST_REDUCE(or, unsigned int, 0, a | b)
WB_HOST_REDUCE(xor, unsigned int, 0, a ^ b)
WB_HOST_REDUCE(add, int, 0, (int)((unsigned int)a + (unsigned int)b))
WB_HOST_REDUCE(min, int, 0x7fffffff, a < b ? a : b)
WB_HOST_REDUCE(max, int, -0x7fffffff - 1, a > b ? a : b)

// Atomics: threads of one launch run one at a time, except under a race detector.
namespace wb_host {
#ifdef WB_HOST_THREADS
template <typename T> static bool replaced(T* p, T& old, T fresh) {
    return __atomic_compare_exchange(p, &old, &fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
template <typename T, typename F> WB_HOST_FN T change(T* p, F f) {
    T old;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    while (!replaced(p, old, (T)f(old))) {}
    return old;
}
#else
template <typename T, typename F> WB_HOST_FN T change(T* p, F f) {
    T old = *p;
    *p = (T)f(old);
    return old;
}
#endif
template <typename T> struct same { typedef T type; };
}
#define WB_HOST_ATOMIC(NAME, T, VALUE) \
    WB_HOST_FN T NAME(T* p, T v) { return wb_host::change(p, [v](T old) -> T { return VALUE; }); } \
    WB_HOST_FN T NAME##_block(T* p, T v) { return NAME(p, v); } \
    WB_HOST_FN T NAME##_system(T* p, T v) { return NAME(p, v); }
#define WB_HOST_ATOMICS(T) \
    WB_HOST_ATOMIC(atomicMin, T, v < old ? v : old) \
    WB_HOST_ATOMIC(atomicMax, T, v > old ? v : old) \
    WB_HOST_ATOMIC(atomicAnd, T, old & v) \
    WB_HOST_ATOMIC(atomicOr, T, old | v) \
    WB_HOST_ATOMIC(atomicXor, T, old ^ v)
WB_HOST_ATOMICS(int)
WB_HOST_ATOMICS(unsigned int)
WB_HOST_ATOMICS(long long)
WB_HOST_ATOMICS(unsigned long long)
WB_HOST_ATOMIC(atomicAdd, float, old + v)
WB_HOST_ATOMIC(atomicAdd, double, old + v)
WB_HOST_ATOMIC(atomicAdd, int, (int)((unsigned int)old + (unsigned int)v))
WB_HOST_ATOMIC(atomicAdd, unsigned int, old + v)
WB_HOST_ATOMIC(atomicAdd, unsigned long long, old + v)
WB_HOST_ATOMIC(atomicSub, int, (int)((unsigned int)old - (unsigned int)v))
WB_HOST_ATOMIC(atomicSub, unsigned int, old - v)
WB_HOST_ATOMIC(atomicExch, int, v)
WB_HOST_ATOMIC(atomicExch, unsigned int, v)
WB_HOST_ATOMIC(atomicExch, unsigned long long, v)
WB_HOST_ATOMIC(atomicExch, float, v)
WB_HOST_ATOMIC(atomicInc, unsigned int, old >= v ? 0 : old + 1)
WB_HOST_ATOMIC(atomicDec, unsigned int, old == 0 || old > v ? v : old - 1)
template <typename T>
WB_HOST_FN T atomicCAS(T* p, typename wb_host::same<T>::type seen, typename wb_host::same<T>::type v) {
    wb_host::pause();  // who spins lets the others go on
    return wb_host::change(p, [=](T old) -> T { return old == seen ? v : old; });
}

// Loads and stores that name a cache.
template <typename T> WB_HOST_FN T __ldg(const T* p) { return *p; }
template <typename T> WB_HOST_FN T __ldcg(const T* p) { return *p; }
template <typename T> WB_HOST_FN T __ldca(const T* p) { return *p; }
template <typename T> WB_HOST_FN T __ldcs(const T* p) { return *p; }
template <typename T> WB_HOST_FN void __stcg(T* p, T value) { *p = value; }
template <typename T> WB_HOST_FN void __stcs(T* p, T value) { *p = value; }
template <typename T> WB_HOST_FN void __stwt(T* p, T value) { *p = value; }

#ifdef WB_HOST_CONDITIONS
extern "C" void cudaGraphSetConditional(unsigned long long h, unsigned int v) { *(unsigned int*)h = v; }
#endif
