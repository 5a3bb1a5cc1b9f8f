#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> struct wb_vec3 { T x, y, z; };
template <typename T, int bytes, int at, int aligned, typename F, int N>
WB_FN T& wb_field(const wb_array<F, N>& a, int i) {
    return *(T*)((char*)__builtin_assume_aligned((char*)a.data + i * bytes, aligned) + at);
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, T b) {
    return {a.x * b, a.y * b, a.z * b};
}
template <typename T> WB_FN T wb_atomic_add(T* target, T value) { return atomicAdd(target, value); }
template <typename T> WB_FN wb_vec3<T> wb_atomic_add(wb_vec3<T>* target, wb_vec3<T> value) {
    return {wb_atomic_add(&target->x, value.x), wb_atomic_add(&target->y, value.y), wb_atomic_add(&target->z, value.z)};
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
    wb_atomic_add(&wb_field<vec3, 32, 0, 16>(bodies_pos, i), wb_read_only<float>(wb_field<vec3, 32, 12, 16>(bodies_pos, i)) * dt);
    atomicAdd(&wb_field<int, 32, 28, 16>(bodies_pos, i), 1);
}
