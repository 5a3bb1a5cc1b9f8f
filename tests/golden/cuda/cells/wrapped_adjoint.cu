#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> WB_FN T wb_wrap(T i, T n) { return i < T(0) ? i + n : i; }

extern "C" __global__ void wrapped_adjoint(
    wb_dims dim,
    wb_array<float, 1> x,
    wb_array<float, 1> y,
    wb_array<float, 1> adj_x,
    wb_array<float, 1> adj_y)
{
    const float SCALE = 2.5f;
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    int t = wb_wrap(-1 - i, (int)y.shape[0]);
    float t1 = adj_y.data[t];
    adj_y.data[t] = 0.0f;
    atomicAdd(&adj_x.data[wb_wrap(i - 1, (int)x.shape[0])], t1 * SCALE);
}
