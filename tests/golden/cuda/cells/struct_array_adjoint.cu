#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> struct wb_vec3 { T x, y, z; };
template <int bytes, typename T, int N> WB_FN T& wb_field(const wb_array<T, N>& a, long long i) {
    return *(T*)((char*)a.data + i * bytes);
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
template <typename T> WB_FN void wb_reduce_add(T* target, T value) {
    if (__activemask() == 0xffffffffU) {
        for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
        if (threadIdx.x % 32 == 0) atomicAdd(target, value);
    } else {
        atomicAdd(target, value);
    }
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
    long long linear = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (linear >= dim.n[0]) return;
    int i = (int)linear;
    vec3 t = wb_field<32>(adj_bodies_pos, i);
    vec3 t1 = t * wb_field<32>(bodies_vel, i);
    wb_field<32>(adj_bodies_vel, i) = wb_field<32>(adj_bodies_vel, i) + t * dt;
    float adj_dt1 = t1.x + t1.y + t1.z;
    wb_reduce_add(adj_dt.data, adj_dt1);
}
