struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif

extern "C" __global__ void dynamic_loop_adjoint(
    wb_dims dim,
    wb_array<float, 2> x,
    wb_array<float, 1> y,
    wb_array<float, 2> adj_x,
    wb_array<float, 1> adj_y)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    float adj_s = adj_y.data[i];
    adj_y.data[i] = 0.0f;
    for (int j = 0; j < (int)x.shape[1]; ++j) {
        adj_x.data[i * (int)adj_x.shape[1] + j] = adj_x.data[i * (int)adj_x.shape[1] + j] + adj_s * cosf(__ldg(&x.data[i * (int)x.shape[1] + j]));
    }
}
