#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
WB_FN unsigned int wb_div(unsigned int n, unsigned long long dim) {
    return __umulhi(2U * n, (unsigned int)(dim >> 32)) >> (32 - __clz((int)dim - 1));
}
WB_FN unsigned int wb_mod(unsigned int n, unsigned long long dim) {
    return n - wb_div(n, dim) * (unsigned int)dim;
}
WB_FN long long wb_atomic_add(long long* target, long long value) {
    return (long long)atomicAdd((unsigned long long*)target, (unsigned long long)value);
}
template <typename T> WB_FN T wb_atomic_add_small(T* target, T value) {
    unsigned long long address = (unsigned long long)target;
    unsigned int* word = (unsigned int*)(address & ~3ULL);
    unsigned int shift = 8U * (unsigned int)(address & 3ULL);
    unsigned int mask = (sizeof(T) == 1 ? 0xffU : 0xffffU) << shift;
    unsigned int seen, old = *word;
    do {
        seen = old;
        unsigned int sum = ((seen >> shift) + (unsigned int)value) << shift;
        old = atomicCAS(word, seen, (seen & ~mask) | (sum & mask));
    } while (old != seen);
    return T(old >> shift);
}
WB_FN signed char wb_atomic_add(signed char* target, signed char value) { return wb_atomic_add_small(target, value); }
WB_FN unsigned char wb_atomic_add(unsigned char* target, unsigned char value) { return wb_atomic_add_small(target, value); }
WB_FN short wb_atomic_add(short* target, short value) { return wb_atomic_add_small(target, value); }
WB_FN unsigned short wb_atomic_add(unsigned short* target, unsigned short value) { return wb_atomic_add_small(target, value); }
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif

extern "C" __global__ void histogram(
    wb_dims dim,
    wb_array<unsigned char, 2> image,
    wb_array<int, 1> counts,
    wb_array<long long, 1> sums,
    wb_array<signed char, 1> small)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)(dim.n[0] * dim.n[1])) return;
    int i = (int)wb_div(linear, dim.n[1]);
    int j = (int)wb_mod(linear, dim.n[1]);
    unsigned char pixel = __ldg(&image.data[i * (int)image.shape[1] + j]);
    atomicAdd(&counts.data[int(pixel)], 1);
    long long t = wb_atomic_add(&sums.data[0], (long long)pixel);
    if (t >= 0LL) {
        wb_atomic_add_small(&small.data[int(pixel)], (signed char)3);
    }
}
