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
template <typename T> WB_FN wb_vec3<T> operator+(wb_vec3<T> a, wb_vec3<T> b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <typename T> WB_FN wb_vec3<T> operator-(wb_vec3<T> a, wb_vec3<T> b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, T b) {
    return {a.x * b, a.y * b, a.z * b};
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
    vec3 a_pos = wb_read_only<float>(wb_field<32>(bodies_pos, i));
    float a_mass = __ldg(&wb_field<32>(bodies_mass, i));
    int a_id = __ldg(&wb_field<32>(bodies_id, i));
    vec3 total = vec3{0.0f, 0.0f, 0.0f};
    for (int j = 0; j < (int)bodies_pos.shape[0]; ++j) {
        vec3 b_pos = wb_read_only<float>(wb_field<32>(bodies_pos, j));
        float b_mass = __ldg(&wb_field<32>(bodies_mass, j));
        int b_id = __ldg(&wb_field<32>(bodies_id, j));
        if (b_id != a_id) {
            vec3 d = b_pos - a_pos;
            float t = a_mass * b_mass / (d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
            vec3 t1 = d * t;
            total = total + t1;
        }
    }
    f.data[i] = total;
}
