// CUDA's maths functions with their overloads for float, by the compiler's own builtins; the C library has the rest.
// No math.h: parsing it takes ten times as long as a small kernel.

#define WB_HOST_1(NAME) \
    extern "C" double NAME(double) noexcept; \
    extern "C" float NAME##f(float) noexcept; \
    WB_HOST_FN float NAME(float x) { return NAME##f(x); }
#define WB_HOST_2(NAME) \
    extern "C" double NAME(double, double) noexcept; \
    extern "C" float NAME##f(float, float) noexcept; \
    WB_HOST_FN float NAME(float x, float y) { return NAME##f(x, y); } \
    WB_HOST_FN double NAME(double x, float y) { return NAME(x, (double)y); } \
    WB_HOST_FN double NAME(float x, double y) { return NAME((double)x, y); }
WB_HOST_1(sin) WB_HOST_1(cos) WB_HOST_1(tan) WB_HOST_1(asin) WB_HOST_1(acos) WB_HOST_1(atan) WB_HOST_1(sinh)
WB_HOST_1(cosh) WB_HOST_1(tanh) WB_HOST_1(asinh) WB_HOST_1(acosh) WB_HOST_1(atanh) WB_HOST_1(exp) WB_HOST_1(exp2)
WB_HOST_1(expm1) WB_HOST_1(log) WB_HOST_1(log2) WB_HOST_1(log10) WB_HOST_1(log1p) WB_HOST_1(sqrt) WB_HOST_1(cbrt)
WB_HOST_1(fabs) WB_HOST_1(floor) WB_HOST_1(ceil) WB_HOST_1(trunc) WB_HOST_1(rint) WB_HOST_1(nearbyint)
WB_HOST_1(round) WB_HOST_1(erf) WB_HOST_1(erfc) WB_HOST_1(tgamma) WB_HOST_1(lgamma) WB_HOST_1(logb)
WB_HOST_2(pow) WB_HOST_2(atan2) WB_HOST_2(hypot) WB_HOST_2(fmod) WB_HOST_2(fmin) WB_HOST_2(fmax)
WB_HOST_2(copysign) WB_HOST_2(fdim) WB_HOST_2(remainder) WB_HOST_2(nextafter)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
WB_HOST_FN float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
WB_HOST_FN float ldexp(float x, int n) { return ldexpf(x, n); }
extern "C" double frexp(double, int*) noexcept;
extern "C" float frexpf(float, int*) noexcept;
extern "C" double modf(double, double*) noexcept;
extern "C" float modff(float, float*) noexcept;
extern "C" void sincos(double, double*, double*) noexcept;
extern "C" void sincosf(float, float*, float*) noexcept;
extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
WB_HOST_FN float abs(float x) { return __builtin_fabsf(x); }
WB_HOST_FN double abs(double x) { return __builtin_fabs(x); }
WB_HOST_FN long long abs(long long x) { return x < 0 ? -x : x; }

WB_HOST_FN double rsqrt(double x) { return 1.0 / sqrt(x); }
WB_HOST_FN float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
WB_HOST_FN float rsqrt(float x) { return rsqrtf(x); }
WB_HOST_FN double rcbrt(double x) { return 1.0 / cbrt(x); }
WB_HOST_FN float rcbrtf(float x) { return (float)(1.0 / cbrt((double)x)); }
WB_HOST_FN double exp10(double x) { return pow(10.0, x); }
WB_HOST_FN float exp10f(float x) { return (float)pow(10.0, (double)x); }
static constexpr double wb_host_pi = 3.14159265358979323846;
WB_HOST_FN double sinpi(double x) { return sin(wb_host_pi * fmod(x, 2.0)); }
WB_HOST_FN double cospi(double x) { return cos(wb_host_pi * fmod(x, 2.0)); }
WB_HOST_FN float sinpif(float x) { return (float)sinpi((double)x); }
WB_HOST_FN float cospif(float x) { return (float)cospi((double)x); }
WB_HOST_FN double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
WB_HOST_FN float normcdff(float x) { return (float)normcdf((double)x); }
WB_HOST_FN float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
WB_HOST_FN double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
template <typename T> WB_HOST_FN T __saturatef(T x) { return x > T(0) ? x < T(1) ? x : T(1) : T(0); }

#define WB_HOST_PAIR(T) \
    WB_HOST_FN constexpr T min(T a, T b) { return b < a ? b : a; } \
    WB_HOST_FN constexpr T max(T a, T b) { return a < b ? b : a; }
WB_HOST_PAIR(int) WB_HOST_PAIR(unsigned int) WB_HOST_PAIR(long) WB_HOST_PAIR(unsigned long) WB_HOST_PAIR(long long)
WB_HOST_PAIR(unsigned long long)
WB_HOST_FN float min(float a, float b) { return fminf(a, b); }
WB_HOST_FN float max(float a, float b) { return fmaxf(a, b); }
WB_HOST_FN double min(double a, double b) { return fmin(a, b); }
WB_HOST_FN double max(double a, double b) { return fmax(a, b); }

template <typename T> WB_HOST_FN bool isnan(T x) { return __builtin_isnan(x); }
template <typename T> WB_HOST_FN bool isinf(T x) { return __builtin_isinf(x); }
template <typename T> WB_HOST_FN bool isfinite(T x) { return __builtin_isfinite(x); }
template <typename T> WB_HOST_FN bool signbit(T x) { return __builtin_signbit(x); }

// The approximate ones are exact here.
WB_HOST_FN float __sinf(float x) { return sinf(x); }
WB_HOST_FN float __cosf(float x) { return cosf(x); }
WB_HOST_FN float __tanf(float x) { return tanf(x); }
WB_HOST_FN float __expf(float x) { return expf(x); }
WB_HOST_FN float __exp10f(float x) { return exp10f(x); }
WB_HOST_FN float __logf(float x) { return logf(x); }
WB_HOST_FN float __log2f(float x) { return log2f(x); }
WB_HOST_FN float __log10f(float x) { return log10f(x); }
WB_HOST_FN float __powf(float x, float y) { return powf(x, y); }
WB_HOST_FN float __fdividef(float x, float y) { return x / y; }
WB_HOST_FN void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
WB_HOST_FN float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
WB_HOST_FN double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
WB_HOST_FN float __fadd_rn(float x, float y) { return x + y; }
WB_HOST_FN float __fsub_rn(float x, float y) { return x - y; }
WB_HOST_FN float __fmul_rn(float x, float y) { return x * y; }
WB_HOST_FN float __fdiv_rn(float x, float y) { return x / y; }
WB_HOST_FN float __fsqrt_rn(float x) { return sqrtf(x); }
WB_HOST_FN float __frcp_rn(float x) { return 1.0f / x; }
WB_HOST_FN float __frsqrt_rn(float x) { return rsqrtf(x); }
WB_HOST_FN double __dadd_rn(double x, double y) { return x + y; }
WB_HOST_FN double __dmul_rn(double x, double y) { return x * y; }

// Bits and conversions.
#define __double_as_longlong(x) __builtin_bit_cast(long long, (double)(x))
#define __longlong_as_double(bits) __builtin_bit_cast(double, (unsigned long long)(bits))
#define __int_as_float(bits) __builtin_bit_cast(float, (unsigned int)(bits))
#define __uint_as_float(bits) __builtin_bit_cast(float, (unsigned int)(bits))
#define __float_as_int(x) __builtin_bit_cast(int, (float)(x))
#define __float_as_uint(x) __builtin_bit_cast(unsigned int, (float)(x))
WB_HOST_FN int __popc(unsigned int x) { return __builtin_popcount(x); }
WB_HOST_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WB_HOST_FN int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
WB_HOST_FN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
WB_HOST_FN int __ffs(int x) { return __builtin_ffs(x); }
WB_HOST_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
WB_HOST_FN unsigned int __brev(unsigned int x) {
    unsigned int y = 0;
    for (int n = 0; n < 32; ++n) y |= (x >> n & 1U) << (31 - n);
    return y;
}
WB_HOST_FN int __mul24(int x, int y) { return (int)((unsigned int)x * (unsigned int)y); }
WB_HOST_FN int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
WB_HOST_FN unsigned int __umulhi(unsigned int x, unsigned int y) {
    return (unsigned int)((unsigned long long)x * y >> 32);
}
WB_HOST_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
WB_HOST_FN unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int by) {
    return (unsigned int)((((unsigned long long)high << 32 | low) << (by & 31)) >> 32);
}
WB_HOST_FN unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int by) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (by & 31));
}
WB_HOST_FN int __float2int_rn(float x) { return (int)rintf(x); }
WB_HOST_FN int __float2int_rd(float x) { return (int)floorf(x); }
WB_HOST_FN int __float2int_ru(float x) { return (int)ceilf(x); }
WB_HOST_FN int __float2int_rz(float x) { return (int)x; }
WB_HOST_FN float __int2float_rn(int x) { return (float)x; }
