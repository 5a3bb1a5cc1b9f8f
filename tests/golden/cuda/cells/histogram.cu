#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename F> WB_FN int wb_to_int32(F x) {
    return x != x ? 0 : x <= F(-2147483648.0) ? (-2147483647 - 1) : x >= F(2147483648.0) ? 2147483647 : (int)x;
}
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif
template <typename T> WB_FN T wb_mod(T a, T b) {
    if (b == T(0)) return a;
    if (T(-1) < T(0) && b == T(-1)) return T(0);
    T r = a % b;
    return (r != T(0) && (r < T(0)) != (b < T(0))) ? r + b : r;
}
template <typename T> WB_FN T wb_mod_float(T b, T r) {
    if (r == T(0)) return copysign(T(0), b);
    return (r < T(0)) != (b < T(0)) ? r + b : r;
}
WB_FN float wb_mod(float a, float b) { return wb_mod_float(b, fmodf(a, b)); }
WB_FN double wb_mod(double a, double b) { return wb_mod_float(b, fmod(a, b)); }
template <typename T> WB_FN T wb_wrap(T i, T n) { return i < T(0) ? i + n : i; }

extern "C" __global__ void histogram(wb_dims dim, wb_array<float, 1> x, wb_array<int, 1> bins)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    atomicAdd(&bins.data[wb_wrap(wb_mod(wb_to_int32(__ldg(&x.data[i]) * 10.0f), (int)bins.shape[0]), (int)bins.shape[0])], 1);
}
