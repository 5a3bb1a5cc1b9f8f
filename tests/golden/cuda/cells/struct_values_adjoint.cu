#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> struct wb_vec3 { T x, y, z; };
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

extern "C" __global__ void struct_values_adjoint(
    wb_dims dim,
    wb_array<vec3, 1> x,
    vec3 b_pos,
    vec3 b_vel,
    float b_mass,
    int b_id,
    float dt,
    wb_array<vec3, 1> adj_x,
    wb_array<vec3, 1> adj_b_pos,
    wb_array<vec3, 1> adj_b_vel,
    wb_array<float, 1> adj_b_mass,
    wb_array<float, 1> adj_dt)
{
    double adj_b_vel_sum[] = {-0.0, -0.0, -0.0};
    bool adj_b_vel_sum_any = false;
    double adj_b_mass_sum = -0.0;
    bool adj_b_mass_sum_any = false;
    double adj_dt_sum = -0.0;
    bool adj_dt_sum_any = false;
    for (unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x; linear < (unsigned int)dim.n[0]; linear += gridDim.x * blockDim.x) {
        int i = (int)linear;
        vec3 c_pos = wb_read_only<float>(x.data[i]);
        for (int k = 0; k < 4; ++k) {
            c_pos = c_pos + b_vel * dt;
        }
        vec3 t = adj_x.data[i];
        adj_x.data[i] = vec3{0.0f, 0.0f, 0.0f};
        vec3 adj_c_pos = t * b_mass;
        vec3 t1 = t * c_pos;
        vec3 adj_c_vel = vec3{0.0f, 0.0f, 0.0f};
        float adj_dt1 = 0.0f;
        for (int k = 0; k < 4; ++k) {
            vec3 t2 = adj_c_pos * b_vel;
            adj_c_vel = adj_c_vel + adj_c_pos * dt;
            float adj_dt2 = t2.x + t2.y + t2.z;
            adj_dt1 += adj_dt2;
        }
        adj_x.data[i] = adj_x.data[i] + adj_c_pos;
        vec3 change = adj_c_vel;
        adj_b_vel_sum[0] += double(change.x);
        adj_b_vel_sum[1] += double(change.y);
        adj_b_vel_sum[2] += double(change.z);
        adj_b_vel_sum_any = true;
        float adj_b_mass1 = t1.x + t1.y + t1.z;
        adj_b_mass_sum += double(adj_b_mass1);
        adj_b_mass_sum_any = true;
        adj_dt_sum += double(adj_dt1);
        adj_dt_sum_any = true;
    }
    if (wb_block_add(adj_b_vel_sum[0], adj_b_vel_sum_any)) atomicAdd(&adj_b_vel.data[0].x, (float)adj_b_vel_sum[0]);
    if (wb_block_add(adj_b_vel_sum[1], adj_b_vel_sum_any)) atomicAdd(&adj_b_vel.data[0].y, (float)adj_b_vel_sum[1]);
    if (wb_block_add(adj_b_vel_sum[2], adj_b_vel_sum_any)) atomicAdd(&adj_b_vel.data[0].z, (float)adj_b_vel_sum[2]);
    if (wb_block_add(adj_b_mass_sum, adj_b_mass_sum_any)) atomicAdd(&adj_b_mass.data[0], (float)adj_b_mass_sum);
    if (wb_block_add(adj_dt_sum, adj_dt_sum_any)) atomicAdd(&adj_dt.data[0], (float)adj_dt_sum);
}
