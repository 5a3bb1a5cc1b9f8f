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
template <typename T> WB_FN wb_vec3<T> operator-(wb_vec3<T> b) {
    return {-b.x, -b.y, -b.z};
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, wb_vec3<T> b) {
    return {a.x * b.x, a.y * b.y, a.z * b.z};
}
template <typename T> WB_FN wb_vec3<T> operator*(wb_vec3<T> a, T b) {
    return {a.x * b, a.y * b, a.z * b};
}
template <typename T> WB_FN wb_vec3<T> wb_splat3(T s) { return {s, s, s}; }
template <typename T> WB_FN T wb_atomic_add(T* target, T value) { return atomicAdd(target, value); }
template <typename T> WB_FN wb_vec3<T> wb_atomic_add(wb_vec3<T>* target, wb_vec3<T> value) {
    return {wb_atomic_add(&target->x, value.x), wb_atomic_add(&target->y, value.y), wb_atomic_add(&target->z, value.z)};
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
template <typename T> WB_FN void wb_add_together(T* target, T value) {
    unsigned long long address = (unsigned long long)target;
    bool full = __activemask() == 0xffffffffU;
    if (full && __all_sync(0xffffffffU, address == __shfl_sync(0xffffffffU, address, 0))) {
        wb_reduce_add(target, value);
    } else {
        wb_atomic_add(target, value);
    }
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

extern "C" __global__ void struct_pairs_adjoint(
    wb_dims dim,
    wb_array<vec3, 1> bodies_pos,
    wb_array<vec3, 1> bodies_vel,
    wb_array<float, 1> bodies_mass,
    wb_array<int, 1> bodies_id,
    wb_array<vec3, 1> f,
    wb_array<vec3, 1> adj_bodies_pos,
    wb_array<vec3, 1> adj_bodies_vel,
    wb_array<float, 1> adj_bodies_mass,
    wb_array<vec3, 1> adj_f)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    vec3 a_pos = wb_read_only<uint4, 0>(wb_field<vec3, 32, 0, 16>(bodies_pos, i));
    float a_mass = wb_read_only<uint2, 0>(wb_field<float, 32, 24, 16>(bodies_pos, i));
    int a_id = wb_read_only<uint2, 4>(wb_field<int, 32, 28, 16>(bodies_pos, i));
    vec3 adj_total = adj_f.data[i];
    adj_f.data[i] = vec3{0.0f, 0.0f, 0.0f};
    float adj_a_mass = 0.0f;
    vec3 adj_a_pos = vec3{0.0f, 0.0f, 0.0f};
    for (int j = (int)bodies_pos.shape[0] - 1; j > -1; --j) {
        vec3 b_pos = wb_read_only<uint4, 0>(wb_field<vec3, 32, 0, 16>(bodies_pos, j));
        float b_mass = wb_read_only<uint2, 0>(wb_field<float, 32, 24, 16>(bodies_pos, j));
        int b_id = wb_read_only<uint2, 4>(wb_field<int, 32, 28, 16>(bodies_pos, j));
        float adj_a_mass1;
        float adj_b_mass;
        vec3 adj_b_pos;
        vec3 adj_a_pos1;
        if (b_id != a_id) {
            vec3 d = b_pos - a_pos;
            float t = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
            float t1 = a_mass * b_mass / t;
            vec3 t2 = adj_total * d;
            float t3 = (t2.x + t2.y + t2.z) / t;
            vec3 t4 = wb_splat3(-t3 * t1 * 2.0f);
            adj_a_mass1 = t3 * b_mass;
            adj_b_mass = t3 * a_mass;
            adj_b_pos = adj_total * t1 + d * t4;
            adj_a_pos1 = -adj_b_pos;
        } else {
            adj_a_mass1 = 0.0f;
            adj_b_mass = 0.0f;
            adj_b_pos = vec3{0.0f, 0.0f, 0.0f};
            adj_a_pos1 = vec3{0.0f, 0.0f, 0.0f};
        }
        wb_add_together(&wb_field<float, 32, 24, 16>(adj_bodies_pos, j), adj_b_mass);
        wb_add_together(&wb_field<vec3, 32, 0, 16>(adj_bodies_pos, j), adj_b_pos);
        adj_a_mass += adj_a_mass1;
        adj_a_pos = adj_a_pos + adj_a_pos1;
    }
    atomicAdd(&wb_field<float, 32, 24, 16>(adj_bodies_pos, i), adj_a_mass);
    wb_atomic_add(&wb_field<vec3, 32, 0, 16>(adj_bodies_pos, i), adj_a_pos);
}
