#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
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
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif

extern "C" __global__ void saxpy_adjoint(
    wb_dims dim,
    float a,
    wb_array<float, 1> x,
    wb_array<float, 1> y,
    wb_array<float, 1> adj_a,
    wb_array<float, 1> adj_x,
    wb_array<float, 1> adj_y)
{
    double adj_a_sum = -0.0;
    bool adj_a_sum_any = false;
    for (unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x; linear < (unsigned int)dim.n[0]; linear += gridDim.x * blockDim.x) {
        int i = (int)linear;
        float t = __ldg(&adj_y.data[i]);
        float adj_a1 = t * __ldg(&x.data[i]);
        adj_x.data[i] = adj_x.data[i] + t * a;
        adj_a_sum += double(adj_a1);
        adj_a_sum_any = true;
    }
    if (wb_block_add(adj_a_sum, adj_a_sum_any)) atomicAdd(&adj_a.data[0], (float)adj_a_sum);
}
