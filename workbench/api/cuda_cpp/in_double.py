"""A CUDA C++ kernel in double on the emulated device: what gradcheck needs of a text that was written for float.

The text is compiled once more with `float` as a macro for `double`, and its float functions as their double ones, so
that a difference quotient has the digits it needs; the adjoint is compiled in the same way, so it is the text's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.api.builds.arguments import deduce_pointer
from workbench.api.cuda_cpp.build import Program
from workbench.api.kernels.kernel import Kernel
from workbench.api.narrow import HostArray
from workbench.backends.cuda.user_source.in_double import HALVES, wide_signature, wide_text
from workbench.backends.cuda.user_source.signature import Signature
from workbench.errors import DeviceError
from workbench.ir.values import Function
from workbench.passes.to_float64 import wide_type


def wide_program(program: Program, signatures: Sequence[Signature]) -> Program:
    """Return the program with every float a double; `signatures` are its kernels'.

    Raises:
        DeviceError: it includes a header of CUDA's that is written for float.
    """
    foreign = next((name for name in program.source.own if name not in HALVES), "")
    if foreign:
        raise DeviceError(
            f"gradcheck compiles CUDA C++ in double precision, and cannot do so with {foreign}.",
            advice="Check a text without it.", function=program.name,
        )  # fmt: skip
    kernels = tuple(map(wide_signature, signatures))
    return Program(wide_text(program.source), kernels, program.defines, typed=True)


class WideText:
    """A kernel and its gradient in double.

    Attributes:
        function: its parameters, every float a double.
        checked: parameters whose derivative the gradient gives.
    """

    def __init__(
        self, kernel: Kernel, wide: Mapping[str, Any], signature: Signature, gradient: Signature, values: Sequence[Any],
        options: tuple[Any, ...],
    ) -> None:  # fmt: skip
        """A kernel of a text.

        Args:
            kernel: as it was written.
            wide: the kernels of the text in double.
            signature, gradient: of the kernel and its gradient.
            values: one argument per parameter of the kernel.
            how: the launch's dimensions, threads of a block and bytes of shared memory.
        """
        types = tuple(
            deduce_pointer(kernel, p.name, p.type, value) if p.pointer else p.type
            for p, value in zip(signature.parameters, values, strict=True)
        )
        self.function: Function = kernel.specialise([wide_type(t) for t in types]).function
        names = {p.name for p in gradient.parameters}
        self.checked = frozenset(p.name for p in self.function.params if f"adj_{p.name}" in names)
        self._wide, self._how = wide, options
        self._signature, self._gradient = signature, gradient

    def forward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the kernel; arrays are changed in place."""
        self._run(self._signature, arguments)

    def backward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the gradient."""
        self._run(self._gradient, arguments)

    def _run(self, signature: Signature, arguments: Mapping[str, np.ndarray[Any, Any]]) -> None:
        args = [arguments[p.name] if p.pointer else arguments[p.name].tolist() for p in signature.parameters]
        dims, block_dim, shared = self._how
        self._wide[signature.name][list(dims)](*args, block_dim=block_dim, shared=shared)
