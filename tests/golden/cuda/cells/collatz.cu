#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif
template <typename T> WB_FN T wb_floordiv(T a, T b) {
    if (b == T(0)) return T(-1);
    if (T(-1) < T(0) && b == T(-1)) return T(0) - a;
    T q = a / b;
    return (a % b != T(0) && (a < T(0)) != (b < T(0))) ? q - T(1) : q;
}
template <typename T> WB_FN T wb_floordiv_float(T a, T b, T r) {
    if (b == T(0)) return a / b;
    T q = (a - r) / b;
    if (r != T(0) && (r < T(0)) != (b < T(0))) q -= T(1);
    if (q == T(0)) return copysign(T(0), a / b);
    T f = floor(q);
    return q - f > T(0.5) ? f + T(1) : f;
}
WB_FN float wb_floordiv(float a, float b) { return wb_floordiv_float(a, b, fmodf(a, b)); }
WB_FN double wb_floordiv(double a, double b) { return wb_floordiv_float(a, b, fmod(a, b)); }
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

extern "C" __global__ void collatz(wb_dims dim, wb_array<int, 1> start, wb_array<int, 1> steps)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    int n = __ldg(&start.data[i]);
    int k = 0;
    bool break_5 = false;
    while (true) {
        bool t = break_5 ? false : n != 1;
        if (!t) break;
        if (wb_mod(n, 2) == 0) {
            n = wb_floordiv(n, 2);
        } else {
            n = int(3U * n + 1U);
        }
        k = int(k + 1U);
        if (k >= 1000) {
            break_5 = true;
        }
    }
    steps.data[i] = k;
}
