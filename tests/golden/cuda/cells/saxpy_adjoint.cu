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

extern "C" __global__ void saxpy_adjoint(
    wb_dims dim,
    float a,
    wb_array<float, 1> x,
    wb_array<float, 1> y,
    wb_array<float, 1> adj_a,
    wb_array<float, 1> adj_x,
    wb_array<float, 1> adj_y)
{
    long long linear = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (linear >= dim.n[0]) return;
    int i = (int)linear;
    float t = adj_y.data[i];
    float adj_a1 = t * x.data[i];
    adj_x.data[i] = adj_x.data[i] + t * a;
    wb_reduce_add(adj_a.data, adj_a1);
}
