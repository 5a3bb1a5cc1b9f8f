"""CUDA C++ text in double: what a difference quotient needs of a text that was written for float."""

from __future__ import annotations

import re

from msgspec.structs import replace

from workbench.backends.cuda.user_source.preprocess import ExpandedSource
from workbench.backends.cuda.user_source.signature import Signature
from workbench.passes.to_float64 import wide_type

HALVES = frozenset(("cuda_fp16.h", "cuda_bf16.h"))
"""Headers that a text in double does without."""
_HALVES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]cuda_(?:fp16|bf16)\.h[>\"].*$", re.MULTILINE)
_LITERAL = re.compile(
    r"(?P<text>\"(?:\\.|[^\"\\\n])*\")|(?<![\w.])(?P<number>(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)[fF]\b"
)
_SAME = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10 log1p sqrt
cbrt fabs floor ceil trunc rint nearbyint round erf erfc erfinv tgamma lgamma logb pow atan2 hypot fmod fmin fmax
copysign fdim remainder nextafter fma ldexp frexp modf sincos rsqrt rcbrt sinpi cospi normcdf norm3d""".split()
_FAST = "sin cos tan exp exp10 log log2 log10 pow".split()
_ROUNDED = {"fadd": "dadd", "fsub": "dsub", "fmul": "dmul", "fdiv": "ddiv", "fsqrt": "dsqrt", "frcp": "drcp"}
_CASTS = (
    "__float2half", "__float2half_rn", "__half2float", "__float2bfloat16", "__float2bfloat16_rn", "__bfloat162float",
)  # fmt: skip
_MACROS = {
    **{f"{name}f": name for name in _SAME},
    **{f"__{name}f": name for name in _FAST},
    **{f"__{f}_{mode}": f"__{d}_{mode}" for f, d in _ROUNDED.items() for mode in ("rn", "rz", "ru", "rd")},
    "__fdividef(x, y)": "((x) / (y))",
    "__saturatef(x)": "fmin(fmax(x, 0.0), 1.0)",
    **{f"{before}float{n}": f"{before}double{n}" for n in (1, 2, 3, 4) for before in ("", "make_")},
    "float": "double",
    **{f"{name}(x)": "(double)(x)" for name in _CASTS},
}  # fmt: skip
_HEAD = "#pragma nv_diag_suppress 1215, 1444\n"  # double4 is deprecated, for two others that differ in alignment
_HEAD += "typedef double __half, half, __nv_bfloat16, nv_bfloat16;\n"
_HEAD += "".join(f"#define {name} {value}\n" for name, value in _MACROS.items())


def wide_text(source: ExpandedSource) -> ExpandedSource:
    """Return the text with every float a double; lines and columns stay."""
    text = _LITERAL.sub(lambda m: m["text"] or f"{m['number']} ", _HALVES.sub("", source.text))
    return replace(source, text=_HEAD + text, own=())


def wide_signature(signature: Signature) -> Signature:
    """Return the signature with every float a double."""
    parameters = tuple(replace(p, type=wide_type(p.type)) for p in signature.parameters)
    return replace(signature, parameters=parameters)
