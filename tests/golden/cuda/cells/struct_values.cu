#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> struct wb_vec3 { T x, y, z; };
template <typename T> WB_FN wb_vec3<T> operator+(wb_vec3<T> a, wb_vec3<T> b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, T b) {
    return {a.x * b, a.y * b, a.z * b};
}
typedef wb_vec3<float> vec3;

extern "C" __global__ void struct_values(wb_dims dim, wb_array<vec3, 1> x, vec3 b_pos, vec3 b_vel, float b_mass, int b_id, float dt)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    vec3 c_pos = x.data[i];
    vec3 c_vel = b_vel;
    for (int k = 0; k < 4; ++k) {
        c_pos = c_pos + c_vel * dt;
    }
    x.data[i] = c_pos * b_mass;
}
