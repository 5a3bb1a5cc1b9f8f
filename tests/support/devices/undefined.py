"""What C++ leaves undefined in the arithmetic of generated CUDA C++: g++ compiles it as a loop, under UBSan.

Only C++ shows it: PTX and LLVM IR wrap, whatever the text promises to a compiler that folds `a + 1 > a`.
"""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.base import Options
from workbench.backends.cuda.cpp.c_names import c_type
from workbench.backends.cuda.emit import emit_cuda, entry_name
from workbench.backends.layout import layout
from workbench.ir import Function
from workbench.runtime.native.pack import dims_piece
from workbench.types import ArrayType, element

FLAGS = ("-x", "c++", "-std=c++17", "-O1", "-fno-strict-aliasing", "-w")
SANITIZE = ("-fsanitize=signed-integer-overflow,float-cast-overflow,integer-divide-by-zero", "-fno-sanitize-recover")
HEAD = """
#include <cstdio>
#include <cmath>
#include <cstring>
#include <type_traits>
#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __restrict__
#define __launch_bounds__(n)
struct uint3 { unsigned x, y, z; };
static uint3 threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim{1, 1, 1}, gridDim{1, 1, 1};
template <class T> T wrapping(T a, T b) {  // CUDA's atomic integers wrap: that is no overflow of the text
    if constexpr (std::is_integral_v<T>) return T((unsigned long long)a + (unsigned long long)b);
    else return a + b;
}
template <class T> T atomicAdd(T* p, T v) { T old = *p; *p = wrapping(old, v); return old; }
template <class T> T atomicCAS(T* p, T expected, T v) { T old = *p; if (old == expected) *p = v; return old; }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
inline int __clz(int a) { return a ? __builtin_clz(a) : 32; }
template <class T> T __ldg(const T* p) { return *p; }
using std::min; using std::max;
"""
MAIN = """
int main(int count, char** names) {{
    static char data[1 << 20];
    FILE* file = fopen(names[1], "rb");
    fread(data, 1, sizeof data, file);
    {patches}
    for (unsigned i = 0; i < {threads}; i++) {{ blockIdx.x = i; {name}({arguments}); }}
}}
"""


def undefined(function: Function, dim: int | Sequence[int], args: Sequence[Any]) -> str:
    """What UBSan says of a launch; empty if it says nothing.

    Args:
        function: a kernel.
        dim: threads, or so many along each axis.
        args: an array or a number per parameter.
    """
    plan = layout([(p.name, p.type) for p in function.params])
    dims = tuple(dim) if isinstance(dim, Sequence) else (dim,)
    data = bytearray(dims_piece(dims, Options().index32).ljust(plan.size, b"\0"))
    patches, tail = [], b""
    for slot, arg in zip(plan.slots, args, strict=True):
        if isinstance(slot.type, ArrayType):
            piece = np.array([0, *arg.shape, *arg.strides], np.int64).tobytes()
            patches.append(f"*(char**)(data + {slot.offset}) = data + {plan.size + len(tail)};")
            tail += arg.tobytes().ljust(-(-arg.nbytes // 16) * 16, b"\0")
        else:
            piece = np.asarray(arg, element(slot.type).numpy).tobytes()
        data[slot.offset : slot.offset + len(piece)] = piece
    types = ["wb_dims", *(c_type(p.type) for p in function.params)]
    offsets = [0, *(slot.offset for slot in plan.slots)]
    arguments = ", ".join(f"*({t}*)(data + {at})" for t, at in zip(types, offsets, strict=True))
    text = HEAD + re.sub(r'extern "C" ', "", emit_cuda(function, Options()))
    text += MAIN.format(
        patches=" ".join(patches), threads=math.prod(dims), name=entry_name(function), arguments=arguments
    )
    with tempfile.TemporaryDirectory(prefix="workbench-ubsan-") as folder:
        program, given = Path(folder) / "program", Path(folder) / "data"
        given.write_bytes(bytes(data) + tail)
        command = ["g++", *FLAGS, *SANITIZE, "-o", str(program), "-"]
        built = subprocess.run(command, input=text, capture_output=True, text=True)
        assert built.returncode == 0, built.stderr[:2000]
        done = subprocess.run([program, given], capture_output=True, text=True)
        assert done.returncode == 0 or "runtime error" in done.stderr, done
        return done.stderr
