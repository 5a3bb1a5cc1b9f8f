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
template <typename T> WB_FN wb_vec3<T> operator-(wb_vec3<T> a, wb_vec3<T> b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, T b) {
    return {a.x * b, a.y * b, a.z * b};
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

extern "C" __global__ void struct_pairs(
    wb_dims dim,
    wb_array<vec3, 1> bodies_pos,
    wb_array<vec3, 1> bodies_vel,
    wb_array<float, 1> bodies_mass,
    wb_array<int, 1> bodies_id,
    wb_array<vec3, 1> f)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    vec3 a_pos = wb_read_only<uint4, 0>(wb_field<vec3, 32, 0, 16>(bodies_pos, i));
    float a_mass = wb_read_only<uint2, 0>(wb_field<float, 32, 24, 16>(bodies_pos, i));
    int a_id = wb_read_only<uint2, 4>(wb_field<int, 32, 28, 16>(bodies_pos, i));
    vec3 total = vec3{0.0f, 0.0f, 0.0f};
    for (int j = 0; j < (int)bodies_pos.shape[0]; ++j) {
        vec3 b_pos = wb_read_only<uint4, 0>(wb_field<vec3, 32, 0, 16>(bodies_pos, j));
        float b_mass = wb_read_only<uint2, 0>(wb_field<float, 32, 24, 16>(bodies_pos, j));
        int b_id = wb_read_only<uint2, 4>(wb_field<int, 32, 28, 16>(bodies_pos, j));
        if (b_id != a_id) {
            vec3 d = b_pos - a_pos;
            float t = a_mass * b_mass / (d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
            vec3 t1 = d * t;
            total = total + t1;
        }
    }
    f.data[i] = total;
}
