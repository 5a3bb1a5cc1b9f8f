"""Conjugate gradients and BiCGSTAB, for any operator. All that a step decides stays on the device, in a few numbers.

CG is that of Hestenes and Stiefel with a preconditioner, BiCGSTAB that of van der Vorst (1992), preconditioned from the
right.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from workbench.api.graphs.capture import capture_while
from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS, TABLE
from workbench.errors import LaunchError, NotConverged
from workbench.optim.optimizer import flat
from workbench.optim.progress import Progress
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros, zeros_like
from workbench.types import element, int32

tid, atomic_add = FORMS["tid"], FORMS["atomic_add"]
sqrt = TABLE["sqrt"]

Apply = Callable[[array, array], None]
"""Writes the product of an operator with the first array to the second."""
PATIENCE = 1.0
"""Seconds after which a solve shows its progress."""
_CHECK = 16
"""Steps on a GPU between two checks of whether the solve is over; further steps change nothing."""
_SCALARS = 10
NOT_POSITIVE = "CG needs a positive definite matrix, and {} is not positive."
USE_BICGSTAB = 'Use method="bicgstab".'


class Solve:
    """Represents a solve of A x = b by an iterative method, "cg" or "bicgstab".

    Attributes:
        steps: the number of steps taken; in a graph it is not counted.
    """

    def __init__(self, method: str, apply: Apply, precondition: Apply | None, b: array, x: array, most: int) -> None:
        """Prepare a solve on the device of `b`; nothing runs before `run`.

        Args:
            method: "cg" or "bicgstab".
            apply: writes the product of A with its first array to its second.
            precondition: the same for the preconditioner, an approximate inverse of A; None: none.
            b: the right-hand side, of floats or vectors of them.
            x: where the iteration starts; it is overwritten with the solution.
            most: the most steps.
        """
        self.apply, self.precondition, self.most, self.steps = apply, precondition, most, 0
        self.b, self.x = b, x
        self.method = method
        kind, self._device = element(b.dtype), b.device
        self.scalars = zeros(_SCALARS, kind, b.device)
        self.going, self.notes = zeros(1, int32, b.device), zeros(2, int32, b.device)
        self.residual = zeros(1, kind, b.device)
        names = ("r", "z", "p", "q") if method == "cg" else ("r", "z", "p", "y", "v", "t", "first")
        self.vectors = {name: zeros_like(b, requires_grad=False) for name in names}
        self._flat = {name: flat(v) for name, v in (*self.vectors.items(), ("b", b), ("x", x))}

    def run(self, tol: float, raise_: bool) -> array:
        """Iterate, writing to x; return |b - A x| / |b| as an array of one element, or |b - A x| where b is 0.

        While a graph is captured, the loop becomes a part of it, and the array has its value after each run.

        Args:
            tol: the value of the result at which to stop.
            raise_: whether it is an error not to get there.

        Raises:
            NotConverged: if `raise_`: the result is larger than `tol` after all steps, or NaN.
            LaunchError: CG met a direction in which the matrix is not positive, or a graph is captured, with `raise_`.
        """
        if any(o.takes for o in OBSERVERS.get()):
            if raise_:
                raise LaunchError(
                    "A solve in a graph cannot raise where it does not converge.",
                    advice="Pass raise_=False: it returns the residual, too.",
                )
            self._start(tol)
            capture_while(self.going, self._step)
            self._launch(_report, 1, self.scalars, self.residual)
            return self.residual
        last = math.inf
        while True:
            self._start(tol)
            self._launch(_report, 1, self.scalars, self.residual)
            left = float(self.residual)
            if left <= tol or self.steps >= self.most or not left < 0.5 * last:
                break
            last = left
            self._iterate()
        if raise_ and not left <= tol:
            if left != left:
                raise NotConverged(
                    "There is a NaN or an infinity in b, x0 or the matrix.", residual=left, steps=self.steps
                )
            raise NotConverged(
                f"The solve has not converged in {self.steps} steps: |b - A x| is {left:.3g} |b|, not {tol:.3g} |b|.",
                advice='Allow more steps or a larger tol, or try method="bicgstab" or preconditioner="jacobi"; with a '
                "singular matrix most b have no solution. raise_=False returns x and the residual.",
                residual=left,
                steps=self.steps,
            )
        return self.residual

    def _start(self, tol: float) -> None:
        """Compute the residual b - A x at the present x, and all that the first step from there needs.

        `tol` is the length of the residual, in parts of that of b, at which the solve is over.
        """
        v = self.vectors
        self.scalars.fill_(0.0)
        self.apply(self.x, v["r"])
        self._launch(_subtract, self._n, self._flat["b"], self._flat["r"], self.scalars)
        direction = "z" if self.method == "cg" else "r"
        if self.method == "cg":
            self._precondition("r", "z")
        else:
            v["first"].copy_(v["r"])
        v["p"].copy_(v[direction])
        self._launch(_dots, self._n, self._flat["r"], self._flat[direction], self._flat["r"], 7, 2, self.scalars)
        self.notes.fill_(0)
        self._launch(_begin, 1, tol, self.most - self.steps, self.scalars, self.going)

    def _iterate(self) -> None:
        """Take steps until the tolerance or the most steps are reached; a long solve shows its progress."""
        left, every = self.most - self.steps + _CHECK, _CHECK if self._device.is_cuda else 1
        shown, started = Progress(left, f"Solve by {self.method.upper()}"), math.inf
        shown.what = "residual"
        with closing(iter(shown)) as steps:
            for k in range(left):
                self._step()
                if k % every < every - 1:
                    continue
                over = not int(self.going)
                if time.monotonic() - started > PATIENCE:
                    _, size, _, residual, *_ = self.scalars.numpy().tolist()
                    step = next(steps)
                    shown.done = min(k + 1, left - _CHECK)
                    shown.total = shown.done if over else left - _CHECK
                    step.report(math.sqrt(residual / (size or 1.0)))
                if over:
                    break
                started = min(started, time.monotonic())  # not before the first step, which may compile
        taken, status = self.notes.numpy().tolist()
        self.steps += taken
        if status:
            what = f"p·A p (or r·M r, of the preconditioner M) of step {self.steps}"
            raise LaunchError(NOT_POSITIVE.format(what), advice=USE_BICGSTAB)

    def _step(self) -> None:
        """Launch one step of the method, which updates x and r and decides on the device whether the solve is over.

        A step after that changes neither.
        """
        v, f, s, going, n = self.vectors, self._flat, self.scalars, self.going, self._n
        if self.method == "cg":
            self.apply(v["p"], v["q"])
            self._launch(_dot, n, f["p"], f["q"], 5, s)
            self._launch(_move, n, s, going, 4, 5, False, f["p"], f["q"], f["x"], f["r"])
            self._precondition("r", "z")
            self._launch(_dots, n, f["r"], f["z"], f["r"], 7, 2, s)
            self._launch(_cg_turn, n, s, going, f["z"], f["p"])
        else:
            self._precondition("p", "y")
            self.apply(v["y"], v["v"])
            self._launch(_dot, n, f["first"], f["v"], 5, s)
            self._launch(_move, n, s, going, 4, 5, True, f["y"], f["v"], f["x"], f["r"])
            self._precondition("r", "z")
            self.apply(v["z"], v["t"])
            self._launch(_dots, n, f["t"], f["r"], f["t"], 8, 9, s)
            self._launch(_move, n, s, going, 8, 9, False, f["z"], f["t"], f["x"], f["r"])
            self._launch(_dots, n, f["first"], f["r"], f["r"], 7, 2, s)
            self._launch(_bi_turn, n, s, going, f["r"], f["v"], f["p"])
        self._launch(_advance, 1, self.method == "cg", self.most - self.steps, s, going, self.notes)

    def _precondition(self, source: str, target: str) -> None:
        """Apply the preconditioner to the vector named `source`, writing that named `target`; without one, copy."""
        if self.precondition is None:
            self.vectors[target].copy_(self.vectors[source])
        else:
            self.precondition(self.vectors[source], self.vectors[target])

    @property
    def _n(self) -> int:
        """The number of floats in b, components counted."""
        return self._flat["b"].size

    def _launch(self, what: Any, n: int, *arguments: Any) -> None:
        """Launch the kernel `what` over `n` threads on the solve's device, without checks."""
        launch(what, n, [*arguments], device=self._device, checks=False)


# The numbers: 0 goal², 1 |b|², 2 |r|² (being summed), 3 |r|², 4 r·z, 5 p·Ap or r0·v, 7 r·z of the next step, 8 t·r,
# 9 t·t.


@kernel
def _subtract(b: array[Any], r: array[Any], s: array[Any]):
    """Compute the residual b - r in r, which holds A x before, and add |b|² to s[1]."""
    i = tid()
    r[i] = b[i] - r[i]
    atomic_add(s, 1, b[i] * b[i])


@kernel
def _dot(x: array[Any], y: array[Any], at: int, s: array[Any]):
    """Add the product x · y to s[at]."""
    i = tid()
    atomic_add(s, at, x[i] * y[i])


@kernel
def _dots(x: array[Any], y: array[Any], z: array[Any], at: int, square: int, s: array[Any]):
    """Add the product x · y to s[at], and z · z to s[square]."""
    i = tid()
    atomic_add(s, at, x[i] * y[i])
    atomic_add(s, square, z[i] * z[i])


@kernel
def _begin(tol: float, most: int, s: array[Any], going: array[int32]):
    """Compute the goal and the first step's numbers from the sums in s.

    going[0] becomes 1 if there is a step to take, else 0.
    """
    s[0] = s.dtype(tol) * s.dtype(tol) * s[1]
    s[3] = s[2]
    s[4] = s[7]
    s[2] = s.dtype(0)
    s[7] = s.dtype(0)
    going[0] = 1 if s[3] > s[0] and most > 0 else 0


@kernel
def _report(s: array[Any], residual: array[Any]):
    """Write |r| / |b| to `residual`, from the squares s[3] and s[1]; |r| where b is 0."""
    residual[0] = sqrt(s[3] / s[1]) if s[1] > 0.0 else sqrt(s[3])


@kernel
def _move(
    s: array[Any], going: array[int32], over: int, under: int, any_sign: bool, p: array[Any], q: array[Any],
    x: array[Any], r: array[Any],
):  # fmt: skip
    """Add s[over] / s[under] times p to x, and subtract as much of q, the product of A and p, from r.

    Nothing changes where the solve is over or the divisor is 0; nor, without `any_sign`, where it is negative.
    """
    i = tid()
    if going[0] != 0 and (s[under] != 0.0 if any_sign else s[under] > 0.0):
        x[i] += s[over] / s[under] * p[i]
        r[i] -= s[over] / s[under] * q[i]


@kernel
def _cg_turn(s: array[Any], going: array[int32], z: array[Any], p: array[Any]):
    """Compute CG's next direction p, from the preconditioned residual z; nothing changes where the solve is over."""
    i = tid()
    if going[0] != 0:
        p[i] = z[i] + s[7] / s[4] * p[i]


@kernel
def _bi_turn(s: array[Any], going: array[int32], r: array[Any], v: array[Any], p: array[Any]):
    """Compute BiCGSTAB's next direction p, which is r where the method has broken down.

    Nothing changes where the solve is over.
    """
    i = tid()
    if going[0] != 0:
        omega = s[8] / s[9]
        beta = s[7] / s[5] / omega
        good = s[5] != 0.0 and s[8] != 0.0 and s[9] > 0.0
        p[i] = r[i] + (beta * (p[i] - omega * v[i]) if good else s.dtype(0))


@kernel
def _advance(cg: bool, most: int, s: array[Any], going: array[int32], notes: array[int32]):
    """Count a step in notes[0], clear the sums for the next one, and set going[0] to 0 where the solve is over.

    That is after `most` steps, at the goal, or where the method has broken down. notes[1] becomes 1 if CG met a
    direction in which the matrix is not positive. Where the solve was over before, only sums are cleared.
    """
    if going[0] != 0:
        notes[0] += 1
        good = (s[5] > 0.0 and s[4] > 0.0) if cg else (s[5] != 0.0 and s[8] != 0.0)
        if cg and (s[5] <= 0.0 or s[4] < 0.0):
            notes[1] = 1
        s[3] = s[2]
        if not good or not (s[2] > s[0]) or notes[0] >= most:
            going[0] = 0
    s[4] = s[7]
    for k in range(5, 10):
        s[k] = s.dtype(0)
    s[2] = s.dtype(0)
