#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> WB_FN bool wb_more(T i, T stop, T step) {
    return step > T(0) ? i < stop : step < T(0) && i > stop;
}
template <typename T> WB_FN T wb_next(T i, T stop, T step) {
    unsigned long long left = step > T(0) ? (unsigned long long)stop - i : (unsigned long long)i - stop;
    return left > (step > T(0) ? (unsigned long long)step : 0ULL - step) ? T(i + step) : stop;
}
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif

extern "C" __global__ void ranges(
    wb_dims dim,
    wb_array<int, 1> start,
    wb_array<int, 1> stop,
    wb_array<int, 1> step,
    wb_array<int, 2> out)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    int t = __ldg(&start.data[i]);
    int t1 = __ldg(&stop.data[i]);
    int t2 = __ldg(&step.data[i]);
    int s = 0;
    for (int k = t; wb_more(k, t1, t2); k = wb_next(k, t1, t2)) {
        s = int(s * 31U + k);
    }
    out.data[i * (int)out.shape[1] + 0] = s;
    int s1 = 0;
    for (int k = t; k < t1; k = wb_next(k, t1, 3)) {
        s1 = int(s1 * 31U + k);
    }
    out.data[i * (int)out.shape[1] + 1] = s1;
    int s2 = 0;
    for (int k = t; k > t1; k = wb_next(k, t1, -2)) {
        s2 = int(s2 * 31U + k);
    }
    out.data[i * (int)out.shape[1] + 2] = s2;
    int s3 = 0;
    for (int k = t; k > t1; --k) {
        s3 = int(s3 * 31U + k);
    }
    out.data[i * (int)out.shape[1] + 3] = s3;
    int s4 = 0;
    for (int k = t; k < t1; ++k) {
        s4 = int(s4 * 31U + k);
    }
    out.data[i * (int)out.shape[1] + 4] = s4;
}
