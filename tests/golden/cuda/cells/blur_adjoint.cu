#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
WB_FN unsigned int wb_div(unsigned int n, unsigned long long dim) {
    return __umulhi(2U * n, (unsigned int)(dim >> 32)) >> (32 - __clz((int)dim - 1));
}
WB_FN unsigned int wb_mod(unsigned int n, unsigned long long dim) {
    return n - wb_div(n, dim) * (unsigned int)dim;
}
template <typename T> WB_FN T wb_min(T a, T b) { return a != a || a < b ? a : b; }
template <typename T> WB_FN T wb_max(T a, T b) { return a != a || a > b ? a : b; }

extern "C" __global__ void blur_adjoint(
    wb_dims dim,
    wb_array<float, 2> source,
    wb_array<float, 2> result,
    wb_array<float, 2> adj_source,
    wb_array<float, 2> adj_result)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)(dim.n[0] * dim.n[1])) return;
    int i = (int)wb_div(linear, dim.n[1]);
    int j = (int)wb_mod(linear, dim.n[1]);
    float adj_total = adj_result.data[i * (int)adj_result.shape[1] + j];
    adj_result.data[i * (int)adj_result.shape[1] + j] = 0.0f;
    for (int dy = -1; dy < 2; ++dy) {
        int y = wb_min(wb_max(0, i + dy), (int)source.shape[0] - 1);
        atomicAdd(&adj_source.data[y * (int)adj_source.shape[1] + j], adj_total / 3.0f);
    }
}
