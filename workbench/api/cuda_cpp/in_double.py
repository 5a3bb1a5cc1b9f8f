"""A CUDA C++ kernel in double on the emulated device: what gradcheck needs of a text that was written for float.

The text is compiled once more with `float` as a macro for `double`, and its float functions as their double ones, so
that a difference quotient has the digits it needs; the adjoint is compiled in the same way, so it is the text's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from workbench.api.builds.arguments import deduce_pointer
from workbench.api.cuda_cpp.build import Program
from workbench.api.kernels.kernel import Kernel
from workbench.backends.cuda.user_source.preprocess import ExpandedSource
from workbench.backends.cuda.user_source.signature import Signature
from workbench.errors import DeviceError
from workbench.host.narrow import HostArray
from workbench.ir.values import Function
from workbench.passes.precision import wide_type


def wide_program(program: Program, signatures: Sequence[Signature]) -> Program:
    """Return the program with every float a double; `signatures` are its kernels'.

    Raises:
        DeviceError: it includes a header of CUDA's, other than those for half precision, that is written for float.
    """
    foreign = next((name for name in program.source.own if name not in HALVES), "")
    if foreign:
        raise DeviceError(
            f"gradcheck compiles CUDA C++ in double precision, and cannot do so with {foreign}.",
            advice="Check a text without it.",
            function=program.name,
        )
    kernels = tuple(map(wide_signature, signatures))
    return Program(wide_text(program.source), kernels, program.defines, typed=True)


class WideText:
    """A CUDA C++ kernel and its gradient, compiled in double precision, for gradcheck.

    Attributes:
        function: an IR function with the kernel's parameters, every float a double; its body says nothing.
        checked: names of the parameters whose derivatives the gradient computes.
    """

    def __init__(
        self,
        kernel: Kernel,
        wide: Mapping[str, Any],
        signature: Signature,
        gradient: Signature,
        values: Sequence[Any],
        options: tuple[Any, ...],
    ) -> None:
        """Wrap a kernel of a text in double.

        Args:
            kernel: as it was written.
            wide: the kernels of the text in double.
            signature, gradient: of the kernel and its gradient.
            values: one argument per parameter of the kernel.
            options: the launch's dimensions, threads of a block and bytes of shared memory.
        """
        types = tuple(
            deduce_pointer(kernel, p.name, p.type, value) if p.pointer else p.type
            for p, value in zip(signature.parameters, values, strict=True)
        )
        self.function: Function = kernel.specialise([wide_type(t) for t in types]).function
        names = {p.name for p in gradient.parameters}
        self.checked = frozenset(p.name for p in self.function.params if f"adj_{p.name}" in names)
        self._wide, self._launch_options = wide, options
        self._signature, self._gradient = signature, gradient

    def forward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the kernel; arrays are changed in place."""
        self._run(self._signature, arguments)

    def backward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the gradient; adjoint arrays are changed in place."""
        self._run(self._gradient, arguments)

    def _run(self, signature: Signature, arguments: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Launch the kernel or gradient with this signature on the emulated device; arrays are changed in place."""
        args = [arguments[p.name] if p.pointer else arguments[p.name].tolist() for p in signature.parameters]
        dims, block_dim, shared = self._launch_options
        self._wide[signature.name][list(dims)](*args, block_dim=block_dim, shared=shared)


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
}
_HEAD = "".join(
    (
        "#pragma nv_diag_suppress 1215, 1444\n",  # double4 is deprecated, for two others that differ in alignment
        "typedef double __half, half, __nv_bfloat16, nv_bfloat16;\n",
        *(f"#define {name} {value}\n" for name, value in _MACROS.items()),
    )
)


def wide_text(source: ExpandedSource) -> ExpandedSource:
    """Return the text with every float a double, after a head of macros; its own lines stay one by one."""
    text = _LITERAL.sub(lambda m: m["text"] or f"{m['number']} ", _HALVES.sub("", source.text))
    return replace(source, text=_HEAD + text, own=())


def wide_signature(signature: Signature) -> Signature:
    """Return the signature with every float a double."""
    parameters = tuple(replace(p, type=wide_type(p.type)) for p in signature.parameters)
    return replace(signature, parameters=parameters)
