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

extern "C" __global__ void particles(wb_dims dim, wb_array<vec3, 1> x, wb_array<vec3, 1> v, wb_array<float, 1> energy)
{
    const float DT = 0.01f;
    const vec3 G = vec3{0.0f, -9.8f, 0.0f};
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    vec3 v1 = v.data[i] + G * DT;
    vec3 x1 = x.data[i] + v1 * DT;
    if (x1.y < 0.0f) {
        x1.y = vec3{0.0f, 0.0f, 0.0f}.x;
        v1.y = -v1.y;
    }
    x.data[i] = x1;
    v.data[i] = v1;
    float t = (v1.x * v1.x + v1.y * v1.y + v1.z * v1.z) * 0.5f;
    float t1 = x1.y * v1.z - x1.z * v1.y;
    float t2 = x1.z * v1.x - x1.x * v1.z;
    float t3 = x1.x * v1.y - x1.y * v1.x;
    energy.data[i] = t + sqrtf(t1 * t1 + t2 * t2 + t3 * t3);
}
