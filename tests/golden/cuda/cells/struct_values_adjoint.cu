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
template <typename T> WB_FN void wb_reduce_add(T* target, T value) {
    if (__activemask() == 0xffffffffU) {
        for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
        if (threadIdx.x % 32 == 0) atomicAdd(target, value);
    } else {
        atomicAdd(target, value);
    }
}
template <typename T> WB_FN void wb_reduce_add(wb_vec3<T>* target, wb_vec3<T> value) {
    wb_reduce_add(&target->x, value.x);
    wb_reduce_add(&target->y, value.y);
    wb_reduce_add(&target->z, value.z);
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
    long long linear = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (linear >= dim.n[0]) return;
    int i = (int)linear;
    vec3 c_pos = x.data[i];
    vec3 c_vel = b_vel;
    for (int k = 0; k < 4; ++k) {
        c_pos = c_pos + c_vel * dt;
    }
    vec3 t = adj_x.data[i];
    adj_x.data[i] = vec3{0.0f, 0.0f, 0.0f};
    vec3 adj_c_pos = t * b_mass;
    vec3 t1 = t * c_pos;
    bool t2 = true;
    vec3 adj_c_vel = vec3{0.0f, 0.0f, 0.0f};
    float adj_dt1 = 0.0f;
    for (int k = 3; k > -1; --k) {
        vec3 t3 = adj_c_pos * dt;
        vec3 t4 = adj_c_pos * b_vel;
        adj_c_vel = adj_c_vel + vec3{t2 ? t3.x : 0.0f, t2 ? t3.y : 0.0f, t2 ? t3.z : 0.0f};
        float adj_dt2 = (t2 ? t4.x : 0.0f) + (t2 ? t4.y : 0.0f) + (t2 ? t4.z : 0.0f);
        adj_dt1 += adj_dt2;
    }
    adj_x.data[i] = adj_x.data[i] + adj_c_pos;
    wb_reduce_add(adj_b_vel.data, adj_c_vel);
    float adj_b_mass1 = t1.x + t1.y + t1.z;
    wb_reduce_add(adj_b_mass.data, adj_b_mass1);
    wb_reduce_add(adj_dt.data, adj_dt1);
}
