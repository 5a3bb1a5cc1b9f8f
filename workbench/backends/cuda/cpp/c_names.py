"""CUDA C++ words for our types, constants and names.

Every expression in the text has exactly the C++ type of its IR value, so that templates deduce one type and nothing
is promoted in silence; constants keep all their bits.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from workbench.backends.cuda.cpp.halves import half_literal
from workbench.builtins import TABLE
from workbench.types import COMPLEX, MATRICES, QUATERNIONS, TRANSFORMS, VECTORS, ArrayType, Kind, Scalar, Type, Vector

C_TYPES = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float16": "wb_float16", "bfloat16": "wb_bfloat16", "float32": "float", "float64": "double",
}  # fmt: skip
COMPONENTS = "xyzw"

_WIDE_SUFFIX = {"int32": "", "int64": "LL", "uint32": "U", "uint64": "ULL"}
# Never used as names: C++'s words, and what CUDA and the prelude put in every kernel's scope.
_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const
const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false
float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq threadIdx blockIdx blockDim gridDim warpSize assert NAN INFINITY NULL atomicAdd atomicCAS
""".split()
# Functions of CUDA and the C library: a local may hide them, a kernel may not take their name.
_LIBRARY = """
main printf malloc free memcpy memset clock abs min max dim3 int8_t size_t signbit isnan isinf isfinite atomicExch
atomicMin atomicMax float2 float3 float4 double2 double3 double4 int2 int3 int4 labs llabs round lround llround
remainder fma fmaf div ldiv modf frexp ldexp scalbn logb nearbyint fmin fmax fdim tgamma lgamma j0 j1 jn y0 y1 yn
nextafter remquo ilogb sincos sincosf exp10 exp10f sinpi cospi norm norm3d norm4d rnorm normcdf rhypot rcbrt erfinv nan
index gamma signal time random rand srand
""".split()
_CALLED = {b.cuda[:-1] for b in TABLE.values() if b.cuda and b.cuda.endswith("*")}

_OURS = COMPLEX.keys() | VECTORS.keys() | MATRICES.keys() | QUATERNIONS.keys() | TRANSFORMS.keys()
LOCAL_RESERVED = frozenset(_WORDS) | _OURS | _CALLED | {f"{name}f" for name in _CALLED}
RESERVED = LOCAL_RESERVED | frozenset(_LIBRARY) | TABLE.keys()


def c_type(type: Type) -> str:
    """Return the C++ type of a value, or of an array parameter."""
    if isinstance(type, Scalar):
        return C_TYPES[type.name]
    if isinstance(type, Vector):
        return type.name if type.name.isidentifier() else f"{struct(form_of(type))}<{c_type(type.dtype)}>"
    assert isinstance(type, ArrayType)
    return f"wb_array<{c_type(type.dtype)}, {type.ndim}>"


def form_of(type: Vector) -> str:
    """Return the sizes of a vector type's struct as text: "3" for a vector of 3, "4" for a quaternion, "2x3"."""
    sizes = type.parts_shape  # of a complex matrix three, which no struct has
    return "x".join(map(str, sizes)) if len(sizes) < 3 else str(type.length)


def label(form: str) -> str:
    """Return a struct's sizes as part of a C++ name: "3" for "3", "23" for "2x3", "_10x2" for "10x2"."""
    plain = form.replace("x", "")
    return plain if len(plain) == len(form.split("x")) else f"_{form}"


def struct(form: str) -> str:
    """Return the name of the C++ struct template for sizes as text: `wb_vec3` for "3", `wb_mat33` for "3x3"."""
    return f"wb_mat{label(form)}" if "x" in form else f"wb_vec{label(form)}"


def members(form: str) -> list[str]:
    """Return how C++ accesses the components of a struct with these sizes, in row-major order.

    They are `x`, `y`, … for "2" to "4", `c[0]`, … for a longer vector, and `m[0][0]`, `m[0][1]`, … for a matrix.
    """
    sizes = [int(n) for n in form.split("x")]
    if len(sizes) == 2:
        return [f"m[{r}][{c}]" for r in range(sizes[0]) for c in range(sizes[1])]
    return list(COMPONENTS[: sizes[0]]) if sizes[0] <= 4 else [f"c[{n}]" for n in range(sizes[0])]


def cast(type: str, text: str) -> str:
    """Return the C++ cast of `text` (any expression) to a type: `int(a)`; of several words, `(long long)(a)`."""
    return f"{type}({text})" if " " not in type else f"({type})({text})"


def identifier(name: str, taken: frozenset[str] | set[str], default: str = "t") -> str:
    """Return a legal C++ name like `name` that is not in `taken`.

    Characters that C++ does not allow become `_`; a number is appended if the name is taken; `default` begins a name
    that would be empty, reserved, or start with a digit.
    """
    base = re.sub(r"\W|[^\x00-\x7f]", "_", name.replace("[]", "")) or default
    if base.startswith(("__", "wb_")) or not (base[0].isalpha() or base[0] == "_") or base == "_":
        base = f"{default}{base}" if base.startswith("_") else f"{default}_{base}"
    label, n = base, 0
    while label in taken:
        n += 1
        label = f"{base}_{n}" if base[-1].isdigit() else f"{base}{n}"
    return label


def literal(value: Any, type: Scalar | Vector) -> str:
    """Return a constant as C++; what the compiler reads back has the same bits."""
    if isinstance(type, Vector):
        parts = np.asarray(value).reshape(-1).tolist()
        return f"{c_type(type)}{{{', '.join(literal(v, type.dtype) for v in parts)}}}"
    if type.is_half:
        with np.errstate(over="ignore"):
            return half_literal(int(type(value).view(np.uint16)), type)
    if type.kind is Kind.FLOAT:
        with np.errstate(over="ignore"):  # 1e300 as a float32 is infinite
            return _float(type.numpy.type(value), type)
    if type.kind is Kind.BOOL:
        return "true" if value else "false"
    return _integer(int(np.asarray(value).astype(type.numpy)), type)


def _integer(value: int, type: Scalar) -> str:
    """Return the C++ literal of an integer in its type, with a suffix or a cast."""
    suffix = _WIDE_SUFFIX.get(type.name)
    if suffix is None:
        return f"({C_TYPES[type.name]}){value}"
    if value == -(1 << (type.bits - 1)):
        # There is no literal of this value: `-2147483648` is the negative of a longer type's literal.
        return f"({value + 1}{suffix} - 1{suffix})"
    return f"{value}{suffix}"


def _float(value: Any, type: Scalar) -> str:
    """Return the C++ literal of a float32 or float64 with all its bits; NaN and infinity as a cast of their bits."""
    single = type.bits == 32
    suffix = "f" if single else ""
    if np.isnan(value) or np.isinf(value):
        # `NAN` and `INFINITY` live in headers; the bits need none.
        bits = value.view(np.uint32 if single else np.uint64)
        return f"__int_as_float(0x{bits:08x})" if single else f"__longlong_as_double(0x{bits:016x}LL)"
    text = str(value)
    # Some compilers read a decimal as double first: where that would round twice, all bits are written.
    if single and np.float32(float(text)) != value:
        text = float(value).hex()
    return f"{text}{suffix}"
