// __half and __nv_bfloat16: 16 bits that compute in float, rounded to nearest even after each operation.
struct __half {
    unsigned short bits;
    __half() = default;
    __half(float x) { bits = round(x); }
    __half(double x) : __half((float)x) {}
    __half(int x) : __half((float)x) {}
    operator float() const {
        unsigned int sign = (unsigned int)(bits & 0x8000) << 16, rest = bits & 0x7fff;
        if (rest >= 0x7c00) return __uint_as_float(sign | 0x7f800000U | rest << 13);
        if (rest < 0x400) return (sign ? -1.0f : 1.0f) * (float)rest * 5.9604644775390625e-8f;
        return __uint_as_float(sign | ((rest << 13) + 0x38000000U));
    }
    static unsigned short round(float x) {
        unsigned int b = __float_as_uint(x), sign = b >> 16 & 0x8000, rest = b & 0x7fffffff;
        if (rest > 0x7f800000U) return (unsigned short)(sign | 0x7fff);
        if (rest >= 0x477ff000U) return (unsigned short)(sign | 0x7c00);
        if (rest < 0x38800000U) return (unsigned short)(sign | (unsigned int)rintf(__uint_as_float(rest) * 16777216.0f));
        return (unsigned short)(sign | (rest - 0x38000000U + 0xfff + (rest >> 13 & 1)) >> 13);
    }
};
struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    __nv_bfloat16(float x) { bits = round(x); }
    __nv_bfloat16(double x) : __nv_bfloat16((float)x) {}
    __nv_bfloat16(int x) : __nv_bfloat16((float)x) {}
    operator float() const { return __uint_as_float((unsigned int)bits << 16); }
    static unsigned short round(float x) {
        unsigned int b = __float_as_uint(x);
        if ((b & 0x7fffffff) > 0x7f800000U) return 0x7fff;
        return (unsigned short)((b + 0x7fff + (b >> 16 & 1)) >> 16);
    }
};
typedef __half half;
typedef __nv_bfloat16 nv_bfloat16;
#define WB_HOST_HALVES(T) \
    WB_HOST_FN T operator+(T a, T b) { return T((float)a + (float)b); } \
    WB_HOST_FN T operator-(T a, T b) { return T((float)a - (float)b); } \
    WB_HOST_FN T operator*(T a, T b) { return T((float)a * (float)b); } \
    WB_HOST_FN T operator/(T a, T b) { return T((float)a / (float)b); } \
    WB_HOST_FN T operator-(T a) { return T(-(float)a); } \
    WB_HOST_FN T& operator+=(T& a, T b) { return a = a + b; } \
    WB_HOST_FN T& operator-=(T& a, T b) { return a = a - b; } \
    WB_HOST_FN T& operator*=(T& a, T b) { return a = a * b; } \
    WB_HOST_FN bool operator<(T a, T b) { return (float)a < (float)b; } \
    WB_HOST_FN bool operator>(T a, T b) { return (float)a > (float)b; } \
    WB_HOST_FN bool operator==(T a, T b) { return (float)a == (float)b; } \
    WB_HOST_FN T __hadd(T a, T b) { return a + b; } \
    WB_HOST_FN T __hsub(T a, T b) { return a - b; } \
    WB_HOST_FN T __hmul(T a, T b) { return a * b; } \
    WB_HOST_FN T __hfma(T a, T b, T c) { return T(fmaf((float)a, (float)b, (float)c)); } \
    WB_HOST_FN T __hmax(T a, T b) { return T(fmaxf((float)a, (float)b)); } \
    WB_HOST_FN T __hmin(T a, T b) { return T(fminf((float)a, (float)b)); } \
    WB_HOST_ATOMIC(atomicAdd, T, old + v)
WB_HOST_HALVES(__half)
WB_HOST_HALVES(__nv_bfloat16)
WB_HOST_FN __half __float2half(float x) { return __half(x); }
WB_HOST_FN __half __float2half_rn(float x) { return __half(x); }
WB_HOST_FN float __half2float(__half x) { return (float)x; }
WB_HOST_FN __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
WB_HOST_FN float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
