struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif

extern "C" __global__ void branches_adjoint(
    wb_dims dim,
    wb_array<float, 1> x,
    wb_array<float, 1> y,
    wb_array<float, 1> adj_x,
    wb_array<float, 1> adj_y)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    float t = __ldg(&x.data[i]);
    float t1;
    if (t < 0.0f) {
        adj_y.data[i] = 0.0f;
        t1 = 0.0f;
    } else {
        bool t2 = t > 1.0f;
        float r = t2 ? t / 2.0f : t * t;
        float t3 = adj_y.data[i];
        adj_y.data[i] = 0.0f;
        float adj_r = t3 * (0.5f / sqrtf(r + 1.0f));
        if (t2) {
            t1 = adj_r / 2.0f;
        } else {
            float t4 = adj_r * t;
            t1 = t4 + t4;
        }
    }
    adj_x.data[i] = adj_x.data[i] + t1;
}
