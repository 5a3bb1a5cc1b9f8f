// What the CUDA text needs of CUDA, as plain C++: one thread after the other, no header.
#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __double_as_longlong(x) __builtin_bit_cast(long long, (double)(x))
#define __int_as_float(bits) __builtin_bit_cast(float, (unsigned int)(bits))
#define __float_as_int(x) __builtin_bit_cast(int, (float)(x))
#define __double_as_longlong(x) __builtin_bit_cast(long long, (double)(x))
#define __longlong_as_double(bits) __builtin_bit_cast(double, (unsigned long long)(bits))

struct wb_shim_index { unsigned int x, y, z; };
extern "C" int printf(const char*, ...);
static wb_shim_index threadIdx, blockIdx, blockDim, gridDim;

static inline float atomicAdd(float* p, float v) { float old = *p; *p = old + v; return old; }
static inline double atomicAdd(double* p, double v) { double old = *p; *p = old + v; return old; }
static inline int atomicAdd(int* p, int v) { int old = *p; *p = (int)((unsigned int)old + (unsigned int)v); return old; }
static inline unsigned int atomicAdd(unsigned int* p, unsigned int v) { unsigned int old = *p; *p = old + v; return old; }
static inline unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) {
    unsigned long long old = *p;
    *p = old + v;
    return old;
}
template <typename T> static inline T wb_shim_change(T* p, T v) { T old = *p; *p = v; return old; }
#define WB_SHIM_ATOMICS(T) \
    static inline T atomicCAS(T* p, T seen, T v) { return wb_shim_change(p, *p == seen ? v : *p); } \
    static inline T atomicExch(T* p, T v) { return wb_shim_change(p, v); } \
    static inline T atomicMin(T* p, T v) { return wb_shim_change(p, v < *p ? v : *p); } \
    static inline T atomicMax(T* p, T v) { return wb_shim_change(p, v > *p ? v : *p); } \
    static inline T atomicAnd(T* p, T v) { return wb_shim_change(p, *p & v); } \
    static inline T atomicOr(T* p, T v) { return wb_shim_change(p, *p | v); } \
    static inline T atomicXor(T* p, T v) { return wb_shim_change(p, *p ^ v); }
WB_SHIM_ATOMICS(int)
WB_SHIM_ATOMICS(unsigned int)
WB_SHIM_ATOMICS(unsigned long long)
static inline float atomicExch(float* p, float v) { return wb_shim_change(p, v); }
static inline long long atomicMin(long long* p, long long v) { return wb_shim_change(p, v < *p ? v : *p); }
static inline long long atomicMax(long long* p, long long v) { return wb_shim_change(p, v > *p ? v : *p); }

// Threads do not meet here, so no warp is ever whole: the shuffle below is never taken.
static inline unsigned int __activemask() { return 1U << (threadIdx.x % 32); }
template <typename T> static inline T __shfl_xor_sync(unsigned int, T v, int) { return v; }
