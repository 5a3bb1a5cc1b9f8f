#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> struct wb_vec3 { T x, y, z; };
template <typename Word, typename T> WB_FN T wb_read_only(const T& place) {
    union { Word words[sizeof(T) / sizeof(Word)]; T whole; } found;
    for (int k = 0; k < int(sizeof(T) / sizeof(Word)); ++k)
        found.words[k] = __ldg((const Word*)&place + k);
    return found.whole;
}
template <int bytes, typename T, int N> WB_FN T& wb_field(const wb_array<T, N>& a, int i) {
    return *(T*)((char*)a.data + i * bytes);
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, T b) {
    return {a.x * b, a.y * b, a.z * b};
}
template <typename T> WB_FN T wb_atomic_add(T* target, T value) { return atomicAdd(target, value); }
template <typename T> WB_FN wb_vec3<T> wb_atomic_add(wb_vec3<T>* target, wb_vec3<T> value) {
    return {wb_atomic_add(&target->x, value.x), wb_atomic_add(&target->y, value.y), wb_atomic_add(&target->z, value.z)};
}
typedef wb_vec3<float> vec3;

extern "C" __global__ void struct_array(
    wb_dims dim,
    wb_array<vec3, 1> bodies_pos,
    wb_array<vec3, 1> bodies_vel,
    wb_array<float, 1> bodies_mass,
    wb_array<int, 1> bodies_id,
    float dt)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    wb_atomic_add(&wb_field<32>(bodies_pos, i), wb_read_only<float>(wb_field<32>(bodies_vel, i)) * dt);
    atomicAdd(&wb_field<32>(bodies_id, i), 1);
}
