// What the CUDA text needs of CUDA, as plain C++: one thread after the other, no header.
#define __global__
#define __device__
#define __forceinline__ inline
#define __int_as_float(bits) __builtin_bit_cast(float, (unsigned int)(bits))
#define __longlong_as_double(bits) __builtin_bit_cast(double, (unsigned long long)(bits))

struct wb_shim_index { unsigned int x, y, z; };
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
static inline unsigned int atomicCAS(unsigned int* p, unsigned int seen, unsigned int v) {
    unsigned int old = *p;
    if (old == seen) *p = v;
    return old;
}

// Threads do not meet here, so no warp is ever whole: the shuffle below is never taken.
static inline unsigned int __activemask() { return 1U << (threadIdx.x % 32); }
template <typename T> static inline T __shfl_xor_sync(unsigned int, T v, int) { return v; }
