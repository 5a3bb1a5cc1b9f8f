// CUDA's vector types: float2, make_float2, … with CUDA's sizes and alignments.
#define WB_HOST_VECTORS(T, NAME, A2, A4) \
    struct NAME##1 { T x; }; \
    struct __attribute__((aligned(A2))) NAME##2 { T x, y; }; \
    struct NAME##3 { T x, y, z; }; \
    struct __attribute__((aligned(A4))) NAME##4 { T x, y, z, w; }; \
    WB_HOST_MAKE(T, NAME)
#define WB_HOST_MAKE(T, NAME) \
    WB_HOST_FN NAME##1 make_##NAME##1(T x) { return {x}; } \
    WB_HOST_FN NAME##2 make_##NAME##2(T x, T y) { return {x, y}; } \
    WB_HOST_FN NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; } \
    WB_HOST_FN NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
WB_HOST_VECTORS(signed char, char, 2, 4)
WB_HOST_VECTORS(unsigned char, uchar, 2, 4)
WB_HOST_VECTORS(short, short, 4, 8)
WB_HOST_VECTORS(unsigned short, ushort, 4, 8)
WB_HOST_VECTORS(int, int, 8, 16)
WB_HOST_VECTORS(long long, longlong, 16, 16)
WB_HOST_VECTORS(unsigned long long, ulonglong, 16, 16)
WB_HOST_VECTORS(float, float, 8, 16)
WB_HOST_VECTORS(double, double, 16, 16)
struct uint1 { unsigned int x; };
struct __attribute__((aligned(8))) uint2 { unsigned int x, y; };
struct __attribute__((aligned(16))) uint4 { unsigned int x, y, z, w; };
WB_HOST_MAKE(unsigned int, uint)
