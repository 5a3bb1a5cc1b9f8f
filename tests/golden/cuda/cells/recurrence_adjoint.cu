#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> WB_FN void wb_reduce_add(T* target, T value) {
    if (__activemask() == 0xffffffffU) {
        for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
        if (threadIdx.x % 32 == 0) atomicAdd(target, value);
    } else {
        atomicAdd(target, value);
    }
}

extern "C" __global__ void recurrence_adjoint(
    wb_dims dim,
    wb_array<float, 1> x,
    float decay,
    wb_array<float, 1> y,
    wb_array<float, 1> adj_x,
    wb_array<float, 1> adj_decay,
    wb_array<float, 1> adj_y)
{
    long long linear = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (linear >= dim.n[0]) return;
    int i = (int)linear;
    float adj_s = adj_y.data[i];
    adj_y.data[i] = 0.0f;
    float adj_decay1 = 0.0f;
    for (int q = (int)x.shape[0] - 1; q > -1; --q) {
        float adj_decay2 = adj_s * x.data[q];
        atomicAdd(&adj_x.data[q], adj_s * decay);
        adj_s *= 0.5f;
        adj_decay1 += adj_decay2;
    }
    wb_reduce_add(adj_decay.data, adj_decay1);
}
