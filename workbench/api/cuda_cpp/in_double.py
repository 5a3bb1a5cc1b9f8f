"""A CUDA C++ kernel in double on the CPU: what gradcheck needs of a text that was written for float.

The text is compiled once more with `float` as a macro for `double`, and its float functions as their double ones, so
that a difference quotient has the digits it needs; the adjoint is compiled in the same way, so it is the text's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workbench.api.builds.arguments import deduce_pointer
from workbench.api.cuda_cpp import build
from workbench.api.cuda_cpp.build import HOST, Program
from workbench.api.kernels.kernel import Kernel
from workbench.api.narrow import HostArray
from workbench.backends.cuda.host.code import HostCode
from workbench.backends.cuda.host.run import launch_host
from workbench.backends.cuda.user_source.signature import Signature
from workbench.ir.values import Function
from workbench.passes.to_float64 import wide_type
from workbench.runtime.launching.geometry import Block
from workbench.types import ArrayType, element


class WideText:
    """A kernel and its gradient in double.

    Attributes:
        function: its parameters, every float a double.
        checked: parameters whose derivative the gradient gives.
    """

    def __init__(
        self, kernel: Kernel, program: Program, signature: Signature, gradient: Signature, values: Sequence[object],
        dims: tuple[int, ...], block: Block,
    ) -> None:  # fmt: skip
        self._signature, self._gradient = signature, gradient
        types = tuple(
            deduce_pointer(kernel, p.name, p.type, value) if p.pointer else p.type
            for p, value in zip(signature.parameters, values, strict=True)
        )
        self.function: Function = kernel.specialise([wide_type(t) for t in types]).function
        given = {p.name for p in gradient.parameters}
        self.checked = frozenset(p.name for p in self.function.params if f"adj_{p.name}" in given)
        _, entry = build.find(replace(program, wide=True), HOST)
        self._code = HostCode(entry.image)
        self._grid, self._block = block.grid(dims), block
        self._types = {p.name: p.type for p in self.function.params}

    def forward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the kernel; arrays are changed in place."""
        self._run(self._signature, arguments)

    def backward(self, arguments: Mapping[str, HostArray]) -> None:
        """Run the gradient."""
        self._run(self._gradient, arguments)

    def _run(self, signature: Signature, arguments: Mapping[str, HostArray]) -> None:
        packed = [arguments[p.name] if p.pointer else self._bytes(p.name, arguments) for p in signature.parameters]
        shared = 2 * self._block.shared  # of floats, twice as many bytes
        launch_host(self._code, signature.name, packed, self._grid, self._block.sizes, shared, self._block.seed)

    def _bytes(self, name: str, arguments: Mapping[str, HostArray]) -> bytes:
        type = self._types[name]
        assert not isinstance(type, ArrayType)
        return np.asarray(arguments[name], element(type).numpy).tobytes()
