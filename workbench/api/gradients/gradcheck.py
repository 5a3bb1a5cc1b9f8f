"""Is the adjoint right? Compare it with difference quotients, in float64.

The kernel's float64 form is run, so that what is compared is the derivative and not float32's rounding. Each difference
quotient is taken at two step sizes and on both sides: where they disagree the kernel has a kink or a jump there, and
the point says nothing.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import msgspec
import numpy as np

from workbench.api.builds.arguments import Dim, as_block_dim, as_dims, check, deduce, listed, wrong_count
from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import must_be_kernel
from workbench.autodiff import adjoint_names
from workbench.autodiff.reverse_mode import adjoint_at
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.native import dispatch
from workbench.backends.layout import layout
from workbench.cache.native import load_kernel
from workbench.frontend.state.context import Tiling
from workbench.host.narrow import HostArray
from workbench.ir.ops import NAME
from workbench.ir.values import GRADIENT, Function, walk
from workbench.passes.precision import wide_type, widen
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.structure import spread_all
from workbench.runtime.device.device import get_device
from workbench.runtime.launching.record import BLOCK_DIM
from workbench.runtime.native.pack import Packer
from workbench.structs import Absent, AnyType, IndexedArray, Struct, StructArray
from workbench.types import ArrayType, Complex, Type, is_complex, is_float, number_type

STEPS = (1e-5, 5e-6)
SMOOTH = 1e-5
Runner = Callable[[dict[str, HostArray]], None]
"""Runs a kernel on NumPy arrays, by parameter; in place."""


class Point(msgspec.Struct, frozen=True):
    """A compared derivative: that of the weighted sum of outputs by one element of one input.

    Attributes:
        parameter: the input.
        index: of the element.
        adjoint: the derivative that the adjoint gives.
        difference: the central difference quotient.
        error: their difference, relative to the larger of the derivative and the input's typical one.
        line: where the kernel uses the input; empty if it does not.
    """

    parameter: str
    index: tuple[int, ...]
    adjoint: float
    difference: float
    error: float
    line: str


class Verdict(msgspec.Struct, frozen=True):
    """The result of a gradcheck: the worst error, its position, and the points compared.

    Attributes:
        kernel: its name.
        ok: whether derivatives were compared, and every one agrees within the tolerance.
        tolerance: largest error allowed, relative to the larger of the derivative and the input's typical one.
        compared: how many derivatives were compared.
        skipped: how many were left out because the kernel has a kink or a jump there.
        worst: the point with the largest error of each input, the worst first.
    """

    kernel: str
    ok: bool
    tolerance: float
    compared: int
    skipped: int
    worst: tuple[Point, ...]

    def __bool__(self) -> bool:
        """Return whether the adjoint is right, as `ok` says."""
        return self.ok

    def __str__(self) -> str:
        verdict = "right" if self.ok else "WRONG" if self.compared else "no verdict, nothing to compare"
        head = f"gradcheck {self.kernel}: {verdict} ({self.compared} derivatives"
        lines = [
            f"{head}{f', {self.skipped} at kinks left out' if self.skipped else ''}, tolerance {self.tolerance:g})"
        ]
        for p in self.worst:
            index = ", ".join(map(str, p.index))
            lines.append(
                f"  {p.parameter}[{index}]: adjoint {p.adjoint:.9g}, difference {p.difference:.9g}, error {p.error:.1e}"
                f"{f'   ({p.line})' if p.line else ''}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the verdict with a table of the worst elements, for a notebook."""
        rows = "".join(
            f"<tr><td>{escape(p.parameter)}{list(p.index)}</td><td>{p.adjoint:.9g}</td><td>{p.difference:.9g}</td>"
            f"<td>{p.error:.1e}</td><td>{escape(p.line)}</td></tr>"
            for p in self.worst
        )
        head = "".join(f"<th>{h}</th>" for h in ("input", "adjoint", "difference", "error", "where"))
        title = escape(str(self).splitlines()[0])
        return f"<div>{title}</div><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def gradcheck(
    kernel: Kernel, dim: Dim, inputs: Sequence[object], outputs: Sequence[object] = (), *, samples: int = 24,
    tolerance: float = 1e-6, seed: int = 0, block_dim: Any = None, shared: int = 0,
) -> Verdict:  # fmt: skip
    """Compare a kernel's adjoint with difference quotients at the given arguments; nothing of the arguments changes.

    Everything is computed in float64: a CUDA C++ kernel is compiled once more in double and run on the emulated device.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def cubes(x: wb.array[float], y: wb.array[float]):
        ...     i = wb.tid()
        ...     y[i] = x[i] * x[i] * x[i]
        >>> x = wb.array([1.0, 2.0, 3.0])
        >>> bool(wb.gradcheck(cubes, len(x), inputs=[x], outputs=[wb.zeros(3)]))
        True

    Args:
        kernel: what to check.
        dim: the launch's dimensions; blocks, of a kernel of tiles.
        inputs: arguments of the first parameters.
        outputs: arguments of the rest.
        samples: elements of each input that are tried, drawn at random where there are more.
        tolerance: largest relative error.
        seed: of the random weights of the outputs and the random elements.
        block_dim: threads of a block: checks the kernel as `launch_tiled` runs it; of a CUDA C++ kernel as `launch`.
        shared: bytes of dynamic shared memory of a CUDA C++ kernel's block.

    Returns:
        The verdict, which is true if every derivative that was compared agrees.

    Raises:
        NotDifferentiable: the kernel has no right adjoint.
        LaunchError: the arguments do not fit.
    """
    must_be_kernel(kernel, "gradcheck()")
    values = listed(kernel, inputs, outputs)
    if len(values) != len(kernel.parameters):
        raise wrong_count(kernel, values)
    dims = as_dims(dim, kernel.name)
    in_double = kernel.in_double(values, dims, BLOCK_DIM if block_dim is None else block_dim, shared)
    if in_double is not None:
        check = _Check(
            in_double.function,
            values,
            np.random.default_rng(seed),
            in_double.forward,
            in_double.backward,
            in_double.checked,
        )
        return check.verdict(kernel.name, samples, tolerance)
    tiling = None if block_dim is None else Tiling(as_block_dim(block_dim, kernel.name), len(dims))
    specialisation = kernel.specialise(deduce(kernel, values), tiling)
    spread = list(spread_all(_whole_structs(kernel, specialisation.types, values)).values())
    function = widen(specialisation.function)
    hosts = {p.name: _host(p.type, value) for p, value in zip(function.params, spread, strict=True)}
    backward = _Run(adjoint_at(function, dims, hosts, kernel.checkpoints), dims)
    compared = _Check(function, spread, np.random.default_rng(seed), _Run(function, dims), backward)
    return compared.verdict(kernel.name, samples, tolerance)


def _whole_structs(kernel: Kernel, types: Sequence[AnyType], values: Sequence[object]) -> dict[str, object]:
    """Return the arguments by name; structs, arrays of structs, indexed and absent arrays are checked and converted."""
    checked: dict[str, object] = {}
    for name, type, value in zip(kernel.parameters, types, values, strict=True):
        structured = isinstance(type, (Absent, IndexedArray, Struct, StructArray))
        checked[name] = check(kernel, name, type, value, get_device("cpu")) if structured else value
    return checked


class _Quotients(msgspec.Struct, frozen=True):
    """The central difference quotient, and by how much the one-sided ones differ."""

    central: float
    bend: float


def _smooth(coarse: _Quotients, fine: _Quotients, size: float, tolerance: float) -> bool:
    """Return whether two step sizes agree, and the one-sided quotients converge as the step shrinks (not at a kink)."""
    kink = coarse.bend > 1e-4 * size and fine.bend > 0.75 * coarse.bend
    return not kink and abs(coarse.central - fine.central) <= tolerance * size


class _Check:
    """The comparison of a kernel's adjoint with difference quotients, on arguments in float64 on the host."""

    def __init__(
        self,
        function: Function,
        values: Sequence[object],
        random: np.random.Generator,
        forward: Runner,
        backward: Runner,
        checked: frozenset[str] | None = None,
    ) -> None:
        """Copy the arguments to the host in float64, and draw a random weight for each element of each float array.

        Args:
            function: the kernel's IR, every float a double.
            values: one argument per parameter of it.
            random: the source of weights and of the elements to compare.
            forward: runs the kernel.
            backward: runs its adjoint.
            checked: parameters whose derivatives are compared; None: all of floats.
        """
        self.function = function
        self.random = random
        self.names = [p.name for p in function.params]
        self.arguments = {p.name: _host(p.type, v) for p, v in zip(function.params, values, strict=True)}
        self.floats = [p for p in function.params if is_float(p.type) and (checked is None or p.name in checked)]
        self.forward = forward
        self.backward = backward
        self.weights: dict[str, HostArray] = {
            p.name: random.uniform(0.5, 1.5, self.arguments[p.name].shape)
            for p in self.floats
            if isinstance(p.type, ArrayType)
        }

    def loss(self, arguments: dict[str, HostArray]) -> float:
        """Return the weighted sum of all float arrays after a launch on copies of the arguments."""
        run = {n: a.copy() for n, a in arguments.items()}
        self.forward(run)
        return float(sum((w * run[n]).sum() for n, w in self.weights.items()))

    def gradients(self) -> dict[str, HostArray]:
        """Return the gradient of the weighted sum with respect to every float argument, as the adjoint computes it."""
        run = {n: a.copy() for n, a in self.arguments.items()}
        adjoints: dict[str, HostArray] = {}
        names = adjoint_names(self.function.params)
        for p in self.floats:
            shape = (
                self.arguments[p.name].shape if isinstance(p.type, ArrayType) else (1, *self.arguments[p.name].shape)
            )
            adjoints[names[p.name]] = self.weights.get(p.name, np.zeros(shape)) * conjugate_signs(p.type)
        self.backward({**run, **adjoints})
        return {
            p.name: adjoints[names[p.name]].reshape(self.arguments[p.name].shape) * conjugate_signs(p.type)
            for p in self.floats
        }

    def verdict(self, name: str, samples: int, tolerance: float) -> Verdict:
        """Compare the adjoint with difference quotients, at up to `samples` random elements of each float argument."""
        gradients = self.gradients()
        worst: list[Point] = []
        compared = skipped = 0
        for p in self.floats:
            points: list[Point] = []
            scale = float(np.abs(gradients[p.name]).max(initial=0.0))
            for index in self._elements(p.name, samples):
                coarse, fine = (self._quotients(p.name, index, h) for h in STEPS)
                exact = float(gradients[p.name][index])
                size = max(abs(exact), scale, abs(coarse.central), abs(fine.central), 1e-8)
                if not _smooth(coarse, fine, size, max(SMOOTH, tolerance)):
                    skipped += 1
                    continue
                compared += 1
                error = abs(exact - fine.central) / size
                points.append(Point(p.name, index, exact, fine.central, error, self._line(p.name)))
            if points:
                worst.append(max(points, key=lambda q: q.error if q.error == q.error else np.inf))
        worst.sort(key=lambda q: -q.error)
        ok = compared > 0 and all(q.error <= tolerance for q in worst)
        return Verdict(name, ok, tolerance, compared, skipped, tuple(worst))

    def _elements(self, name: str, samples: int) -> list[tuple[int, ...]]:
        """Return the indices of the elements to compare: all of an argument, or `samples` random ones."""
        shape = self.arguments[name].shape
        size = math.prod(shape)
        chosen = range(size) if size <= samples else self.random.choice(size, samples, replace=False)
        return [tuple(int(k) for k in np.unravel_index(i, shape)) for i in chosen]

    def _quotients(self, name: str, index: tuple[int, ...], h: float) -> _Quotients:
        """Return the loss' difference quotients by one element, with a step of `h` · max(1, |element|)."""
        step = h * max(1.0, abs(float(self.arguments[name][index])))
        right, here, left = (self._moved(name, index, k * step) for k in (1, 0, -1))
        return _Quotients((right - left) / (2 * step), abs(right - 2 * here + left) / step)

    def _moved(self, name: str, index: tuple[int, ...], step: float) -> float:
        """Return the loss with `step` added to one element of an argument."""
        moved = {**self.arguments, name: self.arguments[name].copy()}
        moved[name][index] += step
        return self.loss(moved)

    def _line(self, name: str) -> str:
        """Return where the parameter's values are used; empty if they are not.

        That is in the first gradient that the user wrote and that they reach, else at the parameter's first use.
        """
        reached = {p for p in self.function.params if p.name == name}
        for op in walk(self.function.body):
            if not reached.isdisjoint(op.operands):
                gradient = op.attrs.get(GRADIENT)
                locations = [o.location for o in gradient.ops if o.location.line] if gradient is not None else []
                if locations:
                    return f"{locations[-1]}, in the gradient of {op.attrs[NAME]}"
                reached.update(op.results)
        for op in walk(self.function.body):
            if any(v.name == name and v in self.function.params for v in op.operands) and op.location.line:
                return str(op.location)
        return ""


class _Run:
    """An IR function compiled for the CPU; calling it runs it on NumPy arrays, in place."""

    def __init__(self, function: Function, dims: tuple[int, ...]) -> None:
        """Compile the function for launches over these dimensions; it is not stored in the cache."""
        backend = CpuBackend()
        artifact = backend.compile(function, Options(), backend.target())
        self.code = load_kernel(artifact.image, artifact.metadata["entry"])
        self.packer = Packer(layout([(p.name, p.type) for p in function.params]))
        self.params = function.params
        self.dims = dims

    def __call__(self, arguments: dict[str, HostArray]) -> None:
        """Run the function on arguments by parameter, on one core; arrays are changed in place."""
        values: list[object] = []
        for p in self.params:
            a = arguments[p.name]
            if isinstance(p.type, ArrayType):
                real = a.view(p.type.dtype.numpy)[..., 0] if isinstance(p.type.dtype, Complex) else a
                values.append(array(real, p.type.dtype, device="cpu", copy=False))
            elif isinstance(p.type, Complex):
                numbers = a.view(p.type.numpy).reshape(-1).tolist()
                values.append(numbers if p.type.shape else numbers[0])
            else:
                values.append(a.reshape(-1).tolist() if a.ndim else a.item())
        buffer = self.packer.new()
        self.packer.write(buffer, self.dims, values)
        total = math.prod(self.dims)
        if total:
            dispatch.dispatch(self.code.address, ctypes.addressof(buffer), total, 1)


def _host(type: Type, value: object) -> HostArray:
    """Return an argument as a dense NumPy array of the widened type; complex numbers as pairs."""
    host = value.numpy() if isinstance(value, array) else np.asarray(value)
    return in_parts(np.array(host, number_type(wide_type(type)).numpy, order="C"))


def in_parts(host: Any) -> Any:
    """Return complex numbers as pairs of floats, along one more axis; other numbers as they are."""
    return np.array(host, order="C").reshape(*host.shape, 1).view(host.real.dtype) if host.dtype.kind == "c" else host


def conjugate_signs(type: Type) -> Any:
    """Return the factor from a complex gradient to derivatives by both parts: it negates the imaginary ones.

    It is 1 for real types.
    """
    return np.array([1.0, -1.0]) if is_complex(type) else 1.0
