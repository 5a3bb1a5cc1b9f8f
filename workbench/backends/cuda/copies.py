"""Copies, fills and sums of arrays as CUDA kernels: for strided views and for graphs.

The parameters are those of `backends/cpu/native/copies.py`, by value, then how many threads there are, then the bits
of a fill's scalar (if the source's address is 0), so that one description of a copy serves both devices.
"""

from __future__ import annotations

from workbench.backends.cpu.native.copies import LLVM_TYPES

_C_TYPES = {
    "i8": "unsigned char", "i16": "unsigned short", "i32": "unsigned int", "i64": "unsigned long long",
    "float": "float", "double": "double",
}  # fmt: skip

_HEAD = """
struct wb_move { long long w[17]; };

template <typename T, bool add>
__device__ void wb_moved(const wb_move& m, long long total, unsigned long long bits) {
    const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= total) return;
    T* const target = (T*)m.w[0];
    const T* const source = m.w[1] ? (const T*)m.w[1] : (const T*)&bits;
    if (m.w[3]) {
        const T value = source[n * m.w[16]];
        target[n] = add ? (T)(target[n] + value) : value;
        return;
    }
    long long left = n, to = 0, from = 0;
    for (int axis = 3; axis >= 0; --axis) {
        const long long at = left % m.w[4 + axis];
        left /= m.w[4 + axis];
        to += at * m.w[8 + axis];
        from += at * m.w[12 + axis];
    }
    T* const into = (T*)((char*)target + to);
    const T* const out = (const T*)((const char*)source + from);
    for (long long k = 0; k < m.w[2]; ++k) {
        const T value = out[k * m.w[16]];
        into[k] = add ? (T)(into[k] + value) : value;
    }
}
"""

CONDITION = "wb_condition"
"""The kernel that sets the condition of a graph's node from an int32 in device memory."""

_CONDITION = """
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
extern "C" __global__ void wb_condition(unsigned long long handle, const int* value) {
    cudaGraphSetConditional(handle, *value != 0);
}
"""


def entries() -> dict[str, str]:
    """Name to C type of each copy and sum."""
    made = {f"wb_copy_{bits}": _C_TYPES[bits] for bits in ("i8", "i16", "i32", "i64")}
    return made | {f"wb_add_{type}": _C_TYPES[type] for type in sorted(set(LLVM_TYPES.values()))}


def text(entry: str) -> str:
    """The CUDA text with this entry: one of `entries()`, or `CONDITION`."""
    if entry == CONDITION:
        return _CONDITION
    add = "true" if entry.startswith("wb_add") else "false"
    return (
        f'{_HEAD}\nextern "C" __global__ void {entry}'
        "(const wb_move m, const long long total, const unsigned long long bits) {\n"
        f"    wb_moved<{entries()[entry]}, {add}>(m, total, bits);\n}}\n"
    )
