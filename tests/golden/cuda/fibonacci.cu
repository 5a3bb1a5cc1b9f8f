struct wb_dims { long long n[4]; };
template <typename T, int N> struct wb_array { T* data; long long shape[N]; long long strides[N]; };
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
#define __ldg(...) (*(__VA_ARGS__))
#endif

extern "C" __global__ void fibonacci(wb_dims dim, wb_array<int, 1> turns, wb_array<float, 1> out)
{
    unsigned int linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (linear >= (unsigned int)dim.n[0]) return;
    int i = (int)linear;
    int t = __ldg(&turns.data[i]);
    float a = 1.0f;
    float b = 2.0f;
    float top = 0.0f;
    for (int n = 0; n < t; ++n) {
        if (a > top) {
            top = a;
        }
        top += a;
        float next = b;
        b = a;
        a = next;
    }
    out.data[i] = a * 100.0f + (b * 10.0f + top);
}
