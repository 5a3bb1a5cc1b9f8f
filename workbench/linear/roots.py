"""Roots and fixed points of functions that launch kernels, differentiated by the implicit function theorem."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from workbench.api.gradients.transforms import jvp
from workbench.api.narrow import is_float_array
from workbench.api.tapes.tape import Tape
from workbench.errors import LaunchError, NotConverged, must_be
from workbench.linear.krylov import Solve
from workbench.linear.solve import Operator, corrected
from workbench.optim.optimizer import flat
from workbench.runtime.active_observers import observing
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone, zeros_like
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.mapped import differentiated, undifferentiated
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchRecord
from workbench.types import element, float64

Residual = Callable[[array], array]
_HALVINGS = 8
_INEXACT = 1e-3
"""The tolerance of the linear solves of Newton's method: its steps make up for it."""


def tolerance(x: array, tol: float | None) -> float:
    """Return `tol`; if it is None, 1e-10 for an array of float64 and 1e-5 for any other."""
    return tol if tol is not None else 1e-10 if element(x.dtype) == float64 else 1e-5  # type: ignore[arg-type]


def implicit(
    residual: Residual, x: array, *, tol: float | None = None, steps: int = 50, raise_: bool = True
) -> array | tuple[array, float]:
    """Return the root of a function near x, as an array with the derivatives of the root, however it was computed.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def square(x: wb.array[float], a: wb.array[float], r: wb.array[float]):
        ...     i = wb.tid()
        ...     r[i] = x[i] * x[i] - a[i]
        >>> def root(a):
        ...     def residual(x):
        ...         r = wb.zeros_like(x)
        ...         wb.launch(square, len(x), inputs=[x, a], outputs=[r])
        ...         return r
        ...     return wb.implicit(residual, wb.ones(2))
        >>> root(wb.array([4.0, 9.0])).numpy()
        array([2., 3.], dtype=float32)
        >>> wb.grad(lambda a: root(a).sum())(wb.array([4.0, 9.0])).numpy().round(4)   # 1 / (2 √a)
        array([0.25  , 0.1667], dtype=float32)

    A fixed point of g is a root of `lambda x: g(x) - x`. The root is computed by Newton's method with BiCGSTAB, which
    needs products with the Jacobian alone; if x is a root already, by whatever method, nothing is computed. A tape, and
    every transform (`grad`, `jvp`, `hvp`), then see the root as a function of all arrays that the residual reads: a
    derivative is one linear solve, to the same tolerance, and a second derivative one more.

    Args:
        residual: a function of an array like x, and of what it closes over, which launches kernels and returns an array
            like x that is 0 at the root.
        x: where to start; it is not changed, and the root has no derivative by it.
        tol: how small the residual's length is to be, beside the larger of that of x and 1;
            also the linear solves' tolerance. 1e-5 for float32 and 1e-10 for float64 if it is not given.
        steps: the most steps of Newton's method.
        raise_: False returns the pair of x and the residual's length, converged or not.

    Returns:
        The root, a new array; with `raise_=False` the pair of it and the residual's length, a float.

    Raises:
        NotConverged: the residual is larger after all steps, or a linear solve does not converge: the Jacobian is
            singular, say.
        LaunchError: x is no array of floats, or the residual is not like it.
    """
    must_be(residual, Callable, "implicit() takes a function that computes the residual")
    if not is_float_array(x):
        raise LaunchError(f"implicit() starts from an array of floats, not {x!r}.", parameter="x")
    close = tolerance(x, tol)
    with undifferentiated():
        root, left, taken = _newton(residual, clone(x), close, steps)
    if raise_ and not left <= _allowed(root, close):
        raise NotConverged(
            f"Newton's method has not converged in {taken} steps: |residual| is {left:.3g}.",
            advice="Start closer to the root, or give a larger tol; raise_=False returns x and the residual.",
            residual=left,
            steps=taken,
        )
    root = _with_derivatives(root, residual, close) if differentiated() else root
    return root if raise_ else (root, left)


def _with_derivatives(root: array, residual: Residual, tol: float) -> array:
    """Return a copy of a root through which derivatives flow to all arrays that the residual reads.

    The residual is computed once more, at the root. `tol` is the tolerance of the linear solves for derivatives.
    """
    read = _Read()
    with observing(read):
        value = residual(root)
    return corrected(root, value, _Jacobian(residual, root, tol, constants=read.arrays()))


def _newton(residual: Residual, x: array, tol: float, steps: int) -> tuple[array, float, int]:
    """Run Newton's method from x; return where it stopped, the norm of the residual there and the steps taken.

    A step is halved, up to 7 times, until the residual is smaller; where it does not get smaller, the method stops.
    """
    value = _like(residual(x), x)
    left, taken, there = _norm(value), 0, x
    while not left <= _allowed(x, tol) and taken < steps:
        move, taken = _Jacobian(residual, x, _INEXACT, raise_=False).solution(value), taken + 1
        for k in range(_HALVINGS):
            there = x - move * 0.5**k
            value = residual(there)
            if _norm(value) < left or k == _HALVINGS - 1:
                break
        if not _norm(value) < left:
            break
        x, left = there, _norm(value)
    return x, left, taken


class _Jacobian(Operator):
    """Represents the Jacobian of a residual at a point, or its transpose, known only by its products with arrays."""

    def __init__(
        self, residual: Residual, point: array, tol: float, *, across: bool = False, raise_: bool = True,
        constants: Sequence[array] = (),
    ) -> None:  # fmt: skip
        """Store what the products and solves need.

        Args:
            residual: the function whose Jacobian it is.
            point: the array at which it is differentiated.
            tol: the tolerance of solves.
            across: make it the transposed Jacobian.
            raise_: whether it is an error if a solve does not reach `tol`.
            constants: arrays that the residual reads, which must not change until a derivative is taken.
        """
        self.residual, self.point, self.tol, self.across, self.raise_ = residual, point, tol, across, raise_
        self.constants = constants

    def __call__(self, x: array) -> array:
        """Return the product of the Jacobian with x, or of its transpose: a tangent, or an adjoint, of the residual."""
        if not self.across:
            return jvp(self.residual)(self.point, along=x)[1]
        tape = Tape(into_grad=False, only=[self.point])
        with tape:
            value = self.residual(self.point)
        tape.backward(grads={value: x})
        return tape.adjoint_of(self.point)

    def solution(self, b: array) -> array:
        """Solve J x = b by BiCGSTAB from zeros, and return x.

        Raises:
            NotConverged: with `raise_`, if the tolerance is not reached.
        """
        x = zeros_like(b, requires_grad=False)
        most = max(100, 10 * flat(b).size)
        Solve("bicgstab", lambda v, out: (out.copy_(self(v)), None)[1], None, b, x, most).run(self.tol, self.raise_)
        return x

    def turned(self) -> Operator:
        """Return the transposed Jacobian; of a transposed one, the Jacobian itself.

        Its solves raise where they do not converge.
        """
        return _Jacobian(self.residual, self.point, self.tol, across=not self.across, constants=self.constants)


class _Read(Observer):
    """Collects the arrays that launches and copies read while it observes, except those allocated meanwhile."""

    def __init__(self) -> None:
        """Begin with no arrays."""
        self._read: dict[Memory, array] = {}
        self._allocated: set[Memory] = set()

    def arrays(self) -> list[array]:
        """Return the arrays that were read, one per memory."""
        return [a for memory, a in self._read.items() if memory not in self._allocated]

    def allocating(self, memory: Memory, filled: bool) -> None:
        """Note a memory that is allocated meanwhile."""
        self._allocated.add(memory)

    def launching(self, record: LaunchRecord) -> None:
        """Note the arrays that a launch reads."""
        self._read |= {a.memory: a for a in (record.arguments[name] for name in record.reads)}

    def copying(self, target: array, source: array) -> None:
        """Note the array that a copy reads."""
        self._read[source.memory] = source

    adding = copying


def _norm(x: array) -> float:
    """Return the Euclidean norm over all components, which waits for the device."""
    return math.sqrt(float(flat(x).dot(flat(x))))


def _allowed(x: array, tol: float) -> float:
    """Return how large the residual's norm at x may be: `tol` times the larger of |x| and 1."""
    return tol * max(1.0, _norm(x))


def _like(value: object, x: array) -> array:
    """Return the residual `value`.

    Raises:
        LaunchError: it is no array of floats with the shape and type of x.
    """
    if not is_float_array(value) or (value.shape, value.dtype) != (x.shape, x.dtype):
        shown = f"{value.type!r} of shape {value.shape}" if isinstance(value, array) else repr(value)
        raise LaunchError(f"implicit(): the residual is {shown}; x is {x.type!r} of shape {x.shape}.")
    return value
