#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> WB_FN T wb_atomic_add(T* target, T value) { return atomicAdd(target, value); }
template <typename T> WB_FN T wb_join_add(T a, T b) { return a + b; }
template <typename T> WB_FN bool wb_block_add(T& value, bool any) {
    __shared__ T warps[32];
    if (!__syncthreads_or(any)) return false;
    unsigned int lane = threadIdx.x % 32U, warp = threadIdx.x / 32U, left = blockDim.x - 32U * warp;
    unsigned int lanes = left < 32U ? left : 32U, mask = 0xffffffffU >> (32U - lanes);
    #pragma unroll 1
    for (unsigned int step = 16U; step > 0U; step /= 2U) {
        T other = __shfl_down_sync(mask, value, step);
        if (lane + step < lanes) value = wb_join_add(value, other);
    }
    if (lane == 0U) warps[warp] = value;
    __syncthreads();
    if (threadIdx.x != 0U) return false;
    #pragma unroll 1
    for (unsigned int n = 1U; 32U * n < blockDim.x; ++n) value = wb_join_add(value, warps[n]);
    return true;
}
template <typename T> WB_FN void wb_reduce_add(T* target, T value) {
    if (__activemask() == 0xffffffffU) {
        for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
        if (threadIdx.x % 32 == 0) atomicAdd(target, value);
    } else {
        atomicAdd(target, value);
    }
}
template <typename T> WB_FN void wb_add_together(T* target, T value) {
    unsigned long long address = (unsigned long long)target;
    bool full = __activemask() == 0xffffffffU;
    if (full && __all_sync(0xffffffffU, address == __shfl_sync(0xffffffffU, address, 0))) {
        wb_reduce_add(target, value);
    } else {
        wb_atomic_add(target, value);
    }
}
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif

extern "C" __global__ void recurrence_adjoint(
    wb_dims dim,
    wb_array<float, 1> x,
    float decay,
    wb_array<float, 1> y,
    wb_array<float, 1> adj_x,
    wb_array<float, 1> adj_decay,
    wb_array<float, 1> adj_y)
{
    double adj_decay_sum = -0.0;
    bool adj_decay_sum_any = false;
    for (unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x; linear < (unsigned int)dim.n[0]; linear += gridDim.x * blockDim.x) {
        int i = (int)linear;
        float adj_s = adj_y.data[i];
        adj_y.data[i] = 0.0f;
        float adj_decay1 = 0.0f;
        for (int q = (int)x.shape[0] - 1; q > -1; --q) {
            float adj_decay2 = adj_s * __ldg(&x.data[q]);
            wb_add_together(&adj_x.data[q], adj_s * decay);
            adj_s *= 0.5f;
            adj_decay1 += adj_decay2;
        }
        adj_decay_sum += double(adj_decay1);
        adj_decay_sum_any = true;
    }
    if (wb_block_add(adj_decay_sum, adj_decay_sum_any)) atomicAdd(&adj_decay.data[0], (float)adj_decay_sum);
}
