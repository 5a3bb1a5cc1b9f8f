"""Copies, fills and sums of arrays as CUDA kernels: for strided views and for graphs.

The parameters are those of `backends/cpu/native/copies.py`, by value, then how many threads there are, then the bits
of a fill's scalar (if the source's address is 0), so that one description of a copy serves both devices. With fewer
than 2^31 threads each size has its multiplier in the upper half (`backends/layout.py`), so that nothing is divided.
"""

from __future__ import annotations

from workbench.backends.cpu.native.copies import LLVM_TYPES

_C_TYPES = {
    "i8": "unsigned char",
    "i16": "unsigned short",
    "i32": "unsigned int",
    "i64": "unsigned long long",
    "float": "float",
    "double": "double",
}

_HEAD = """
struct wb_move { long long w[17]; };

template <typename T, bool add>
__device__ __forceinline__ void wb_one(T* into, const T* out, unsigned long long bits) {
    const T value = out ? *out : (T)bits;
    *into = add ? (T)(*into + value) : value;
}

template <typename T, bool add, bool few>
__device__ __forceinline__ void wb_moved(const wb_move& m, long long n, unsigned long long bits) {
    T* into = (T*)m.w[0];
    const T* out = (const T*)m.w[1];
    if (m.w[3]) {
        wb_one<T, add>(into + n, out ? out + n * m.w[16] : out, bits);
        return;
    }
    long long to = 0, from = 0;
    #pragma unroll
    for (int axis = 3; axis >= 0; --axis) {
        long long left, at;
        if (few) {
            const unsigned int size = (unsigned int)m.w[4 + axis], by = (unsigned long long)m.w[4 + axis] >> 32;
            left = __umulhi(2U * (unsigned int)n, by) >> (32 - __clz((int)size - 1));
            at = (unsigned int)n - (unsigned int)left * size;
        } else {
            left = n / m.w[4 + axis];
            at = n - left * m.w[4 + axis];
        }
        n = left;
        to += at * m.w[8 + axis];
        from += at * m.w[12 + axis];
    }
    into = (T*)((char*)into + to);
    out = out ? (const T*)((const char*)out + from) : out;
    #pragma unroll 1
    for (long long k = 0; k < m.w[2]; ++k) wb_one<T, add>(into + k, out ? out + k * m.w[16] : out, bits);
}
"""

CONDITION = "wb_condition"
"""The kernel that sets the condition of a graph's conditional node from an int32 in device memory.

Its third parameter says when the condition holds: 1 for nonzero, 0 for zero.
"""

_CONDITION = """
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
extern "C" __global__ void wb_condition(unsigned long long handle, const int* value, int holds) {
    cudaGraphSetConditional(handle, (*value != 0) == holds);
}
"""


FAR = "_far"
"""The suffix of kernels for 2^31 threads and more, which divide."""


def entries() -> dict[str, str]:
    """Return the C type of the elements of each copy and sum kernel, by the kernel's name.

    Each has a second kernel, whose name ends in `FAR`.
    """
    types = {f"wb_copy_{bits}": _C_TYPES[bits] for bits in ("i8", "i16", "i32", "i64")}
    return types | {f"wb_add_{type}": _C_TYPES[type] for type in sorted(set(LLVM_TYPES.values()))}


def text(entry: str) -> str:
    """Return the CUDA C++ of one kernel: an entry of `entries()`, with the suffix `FAR` or without, or `CONDITION`."""
    if entry == CONDITION:
        return _CONDITION
    few = "false" if entry.endswith(FAR) else "true"
    add = "true" if entry.startswith("wb_add") else "false"
    return (
        f'{_HEAD}\nextern "C" __global__ void {entry}'
        "(const wb_move m, const long long total, const unsigned long long bits) {\n"
        "    const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n    if (n >= total) return;\n"
        f"    wb_moved<{entries()[entry.removesuffix(FAR)]}, {add}, {few}>(m, n, bits);\n}}\n"
    )
