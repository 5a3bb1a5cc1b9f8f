#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
WB_FN unsigned int wb_div(unsigned int n, unsigned long long dim) {
    return __umulhi(2U * n, (unsigned int)(dim >> 32)) >> (32 - __clz((int)dim - 1));
}
WB_FN unsigned int wb_mod(unsigned int n, unsigned long long dim) {
    return n - wb_div(n, dim) * (unsigned int)dim;
}
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif
template <typename T> WB_FN T wb_min(T a, T b) { return a != a || a < b ? a : b; }
template <typename T> WB_FN T wb_max(T a, T b) { return a != a || a > b ? a : b; }

extern "C" __global__ void blur(wb_dims dim, wb_array<float, 2> image, wb_array<float, 2> out, int radius)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)(dim.n[0] * dim.n[1])) return;
    int i = (int)wb_div(linear, dim.n[1]);
    int j = (int)wb_mod(linear, dim.n[1]);
    int h = (int)image.shape[0];
    int w = (int)image.shape[1];
    float s = 0.0f;
    float n = 0.0f;
    for (int di = int(0U - radius); di < int(radius + 1U); ++di) {
        for (int dj = int(0U - radius); dj < int(radius + 1U); ++dj) {
            int y = wb_min(wb_max(0, int(unsigned(i) + di)), h - 1);
            int x = wb_min(wb_max(0, int(unsigned(j) + dj)), w - 1);
            s += __ldg(&image.data[y * (int)image.shape[1] + x]);
            n += 1.0f;
        }
    }
    out.data[i * (int)out.shape[1] + j] = s / n;
}
