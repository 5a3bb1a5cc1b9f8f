#define WB_FN static __device__ __forceinline__
struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
template <typename T> struct wb_vec3 { T x, y, z; };
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
template <typename T> WB_FN wb_vec3<T> operator/(wb_vec3<T> a, wb_vec3<T> b) {
    return {a.x / b.x, a.y / b.y, a.z / b.z};
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

extern "C" __global__ void particles_adjoint(
    wb_dims dim,
    wb_array<vec3, 1> p,
    wb_array<vec3, 1> f,
    wb_array<vec3, 1> adj_p,
    wb_array<vec3, 1> adj_f)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    vec3 adj_total = adj_f.data[i];
    adj_f.data[i] = vec3{0.0f, 0.0f, 0.0f};
    vec3 t = vec3{0.0f, 0.0f, 0.0f};
    bool t1 = false;
    for (int j = 0; j < (int)p.shape[0]; ++j) {
        vec3 d = wb_read_only<float>(p.data[j]) - wb_read_only<float>(p.data[i]);
        float t2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
        vec3 t3 = wb_splat3(t2);
        vec3 t4 = adj_total / t3;
        vec3 t5 = -t4 * (d / t3);
        vec3 t6 = wb_splat3((t5.x + t5.y + t5.z) * 2.0f);
        vec3 adj_d = t4 + d * t6;
        wb_add_together(&adj_p.data[j], adj_d);
        t = t + -adj_d;
        t1 = true;
    }
    if (t1) {
        wb_atomic_add(&adj_p.data[i], t);
    }
}
