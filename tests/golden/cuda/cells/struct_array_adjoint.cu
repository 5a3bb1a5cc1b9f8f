#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> struct wb_vec3 { T x, y, z; };
template <typename T, int bytes, int at, int aligned, typename F, int N>
WB_FN T& wb_field(const wb_array<F, N>& a, int i) {
    return *(T*)((char*)__builtin_assume_aligned((char*)a.data + i * bytes, aligned) + at);
}
template <typename T> WB_FN wb_vec3<T> operator+(wb_vec3<T> a, wb_vec3<T> b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, wb_vec3<T> b) {
    return {a.x * b.x, a.y * b.y, a.z * b.z};
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, T b) {
    return {a.x * b, a.y * b, a.z * b};
}
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
template <typename Word, int before = 0, typename T> WB_FN T wb_read_only(const T& place) {
    Word words[(before + sizeof(T) + sizeof(Word) - 1) / sizeof(Word)];
    for (int k = 0; k < int(sizeof(words) / sizeof(Word)); ++k)
        words[k] = __ldg((const Word*)((const char*)&place - before) + k);
    T whole;
    memcpy(&whole, (const char*)words + before, sizeof(T));
    return whole;
}
typedef wb_vec3<float> vec3;

extern "C" __global__ void struct_array_adjoint(
    wb_dims dim,
    wb_array<vec3, 1> bodies_pos,
    wb_array<vec3, 1> bodies_vel,
    wb_array<float, 1> bodies_mass,
    wb_array<int, 1> bodies_id,
    float dt,
    wb_array<vec3, 1> adj_bodies_pos,
    wb_array<vec3, 1> adj_bodies_vel,
    wb_array<float, 1> adj_bodies_mass,
    wb_array<float, 1> adj_dt)
{
    double adj_dt_sum = -0.0;
    bool adj_dt_sum_any = false;
    for (unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x; linear < (unsigned int)dim.n[0]; linear += gridDim.x * blockDim.x) {
        int i = (int)linear;
        vec3 t = wb_read_only<uint4, 0>(wb_field<vec3, 32, 0, 16>(adj_bodies_pos, i));
        vec3 t1 = t * wb_read_only<float>(wb_field<vec3, 32, 12, 16>(bodies_pos, i));
        wb_field<vec3, 32, 12, 16>(adj_bodies_pos, i) = wb_field<vec3, 32, 12, 16>(adj_bodies_pos, i) + t * dt;
        float adj_dt1 = t1.x + t1.y + t1.z;
        adj_dt_sum += double(adj_dt1);
        adj_dt_sum_any = true;
    }
    if (wb_block_add(adj_dt_sum, adj_dt_sum_any)) atomicAdd(&adj_dt.data[0], (float)adj_dt_sum);
}
