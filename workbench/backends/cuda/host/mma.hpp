// `mma.sync` of a warp on the CPU: the lanes' fragments are put together to matrices as the PTX ISA lays them out
// ("Matrix fragments for mma.m16n8k16", "… mma.m16n8k8"), multiplied, and each lane takes its part.
namespace wb_host {
struct FragmentA { unsigned int at[4]; };
struct FragmentB { unsigned int at[2]; };

static float of_float16(unsigned int bits) {
    unsigned int sign = (bits & 0x8000U) << 16, exponent = bits >> 10 & 31U, rest = bits & 0x3ffU;
    if (exponent == 0) {
        float small = (float)rest * 5.9604644775390625e-08f;
        return sign ? -small : small;
    }
    return __builtin_bit_cast(float, sign | (exponent == 31 ? 255U : exponent + 112U) << 23 | rest << 13);
}
static float of_bfloat16(unsigned int bits) { return __builtin_bit_cast(float, bits << 16); }
static float of_tf32(unsigned int bits) { return __builtin_bit_cast(float, bits & 0xffffe000U); }

// What every lane has put down under this mask; all lanes take part.
template <typename T> static void gather(T (&all)[32], const T& own, int line) {
    auto& m = meet(0xffffffffU, 1, line, (const void*)&own, sizeof(T));
    for (unsigned int n = 0; n < 32; ++n) all[n] = brought<T>(m, n);
    leave(m);
}

template <int K, typename F>
static void multiply(float* c, float* d, const unsigned int (&a)[4], const unsigned int (&b)[2], F number, int line) {
    FragmentA left[32];
    FragmentB right[32];
    gather(left, FragmentA{a[0], a[1], a[2], a[3]}, line);
    gather(right, FragmentB{b[0], b[1]}, line);
    float x[16][K], y[K][8];
    constexpr int packed = K / 8;  // numbers in a register
    for (int source = 0; source < 32; ++source) {
        int group = source >> 2, thread = source & 3;
        for (int i = 0; i < 4 * packed; ++i) {
            int row = (packed == 2 ? (i < 2 || (i >= 4 && i < 6)) : i % 2 == 0) ? group : group + 8;
            int column = packed == 2 ? thread * 2 + (i & 1) + (i < 4 ? 0 : 8) : thread + (i < 2 ? 0 : 4);
            x[row][column] = number(left[source].at[i / packed] >> (packed == 2 ? 16 * (i & 1) : 0) & (packed == 2 ? 0xffffU : ~0U));
        }
        for (int i = 0; i < 2 * packed; ++i) {
            int row = packed == 2 ? thread * 2 + (i & 1) + (i < 2 ? 0 : 8) : thread + 4 * i;
            y[row][group] = number(right[source].at[i / packed] >> (packed == 2 ? 16 * (i & 1) : 0) & (packed == 2 ? 0xffffU : ~0U));
        }
    }
    unsigned int own = lane();
    for (int i = 0; i < 4; ++i) {
        int row = i < 2 ? own >> 2 : (own >> 2) + 8, column = (own & 3) * 2 + (i & 1);
        float& sum = i < 2 ? c[i] : d[i - 2];
        for (int k = 0; k < K; ++k) sum += x[row][k] * y[k][column];
    }
}
}
#define WB_HOST_MMA(NAME, K) \
    namespace wb_host { \
    static inline void mma_##NAME(float* c, float* d, const unsigned int (&a)[4], const unsigned int (&b)[2], WB_HOST_LINE) { \
        multiply<K>(c, d, a, b, of_##NAME, line); \
    } \
    }
WB_HOST_MMA(float16, 16)
WB_HOST_MMA(bfloat16, 16)
WB_HOST_MMA(tf32, 8)
