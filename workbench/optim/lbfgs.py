"""L-BFGS: a quasi-Newton step from the last few changes of the gradient, and a line search.

The two-loop recursion is that of Nocedal and Wright, Numerical Optimization (2006), algorithm 7.4; the line search
halves an interval until the weak Wolfe conditions hold (Lewis and Overton, 2013).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.api.tapes.tape import Tape
from workbench.errors import LaunchError, must_be
from workbench.optim.optimizer import Optimizer
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone
from workbench.types import element

Arrays = list[array]
DECREASE, CURVATURE = 1e-4, 0.9
"""The Wolfe conditions: the share of the slope's decrease that a step must reach, and of the slope that may remain."""


class LBFGS(Optimizer):
    """L-BFGS: few, expensive steps, for smooth losses without noise.

        optimizer = wb.optim.LBFGS([x])
        for step in wb.optim.progress(30):
            step.report(optimizer.step(loss))

    where `loss()` computes the loss from the parameters as they are then. The history lies next to the parameters; the
    products of its vectors are read back, so a step cannot be captured in a graph.
    """

    def __init__(self, params: Sequence[array] | array, *, history: int = 10, evaluations: int = 25) -> None:
        """Make an optimiser of these parameters.

        Args:
            params: dense arrays of floats, or of vectors of floats, each with requires_grad=True.
            history: how many changes of the gradient are kept.
            evaluations: the most evaluations of the loss in one step.

        Raises:
            LaunchError: a parameter is not an array as `params` describes.
        """
        super().__init__(params)
        for k, x in enumerate(self.params):
            if x.grad is None:
                raise LaunchError(
                    f"Parameter {k} has no gradient.", parameter="params", advice="Make it with requires_grad=True."
                )
        self.history, self.evaluations = history, evaluations
        self._changes: list[tuple[Arrays, Arrays]] = []

    def step(self, loss: Callable[[], array]) -> float:
        """Lower the loss along one direction.

        Args:
            loss: a function without arguments that launches what computes the loss, and returns it: an array of one
                element. It is called several times, each time under a tape.

        Returns:
            The loss after the step. Where no lower one was found, the parameters are as they were and the history is
            empty: the next step starts from the gradient alone.

        Raises:
            LaunchError: a tape, a recorder or a capture is open, or the loss has no gradient.
        """
        must_be(loss, Callable, "LBFGS.step() takes a function that computes the loss")
        if OBSERVERS.get():
            raise LaunchError(
                "LBFGS.step() decides on the host what it runs: it cannot be recorded or captured.",
                advice="Call it outside of the `with`.",
            )
        start = [clone(x) for x in self.flat]
        value, slope = self._evaluate(loss)
        direction = [-d for d in self._scaled(slope)]
        along = _dot(direction, slope)
        if not along < 0.0:  # the history misleads, or the slope is 0
            self._changes.clear()
            direction, along = [-g for g in slope], -_dot(slope, slope)
        length = 1.0 if self._changes else min(1.0, 1.0 / (math.sqrt(-along) or 1.0))
        accepted = self._search(loss, start, direction, value, along, length) if along < 0.0 else None
        self.steps += 1
        if accepted is None:
            _assign(self.flat, start)
            self._changes.clear()
            return value
        value, after = accepted
        moved = [x - s for x, s in zip(self.flat, start, strict=True)]
        turned = [b - a for b, a in zip(after, slope, strict=True)]
        if _dot(moved, turned) > 1e-10 * _dot(turned, turned):
            self._changes = [*self._changes, (moved, turned)][-self.history :]
        return value

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return all that the next step depends on besides parameters and options, as NumPy arrays by name.

        They are the number of steps, and of each parameter the changes of it and of its gradient, a row each.
        """
        histories = {
            f"{name}{k}": np.array(
                [change[side][k].numpy() for change in self._changes], element(x.dtype).numpy
            ).reshape(-1, x.size)
            for side, name in enumerate(("moved", "turned"))
            for k, x in enumerate(self.flat)
        }
        return super().state() | histories

    def restore(self, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Continue from a state that `state` returned; of a longer history only the newest changes are taken."""
        super().restore(state)

        def rows(name: str, change: int) -> Arrays:
            return [array(state[f"{name}{k}"][change], device=x.device) for k, x in enumerate(self.flat)]

        count = len(state["moved0"])
        self._changes = [(rows("moved", c), rows("turned", c)) for c in range(count)][-self.history :]

    def fits(self, name: str, saved: tuple[int, ...], expected: tuple[int, ...]) -> bool:
        """Return whether a saved array's shape is accepted; the length of a history may differ."""
        return saved[1:] == expected[1:] if name.startswith(("moved", "turned")) else saved == expected

    def _evaluate(self, loss: Callable[[], array]) -> tuple[float, Arrays]:
        """Run the loss on a new tape and return its value with copies of the gradients, one for each parameter."""
        self.zero_grad()
        with Tape() as tape:
            result = loss()
        tape.backward(result)
        return float(result), [clone(g) for g in self.gradients(None)]

    def _scaled(self, slope: Arrays) -> Arrays:
        """Return the gradient times an estimate of the inverse Hessian; without a history `slope` itself."""
        left, shares = slope, list[float]()
        for moved, turned in reversed(self._changes):
            share = _dot(moved, left) / _dot(moved, turned)
            left = _plus(left, -share, turned)
            shares.append(share)
        if self._changes:
            moved, turned = self._changes[-1]
            scale = _dot(moved, turned) / _dot(turned, turned)
            left = [x * scale for x in left]
        for (moved, turned), share in zip(self._changes, reversed(shares), strict=True):
            left = _plus(left, share - _dot(turned, left) / _dot(moved, turned), moved)
        return left

    def _search(
        self, loss: Callable[[], array], start: Arrays, direction: Arrays, value: float, along: float, length: float
    ) -> tuple[float, Arrays] | None:
        """Look for a step along a direction that meets the weak Wolfe conditions; leave the parameters there.

        Args:
            loss: computes the loss from the parameters.
            start: the parameters before the step.
            direction: that of the step.
            value: the loss at the start.
            along: its slope along the direction, which is negative.
            length: that of the first step tried, in parts of the direction.

        Returns:
            Loss and gradient after the step. If no step tried meets both conditions, those of the last one that lowered
            the loss enough. None if there is none: the parameters are then those of the last one tried.
        """
        low, high, best = 0.0, math.inf, None
        for _ in range(self.evaluations):
            _assign(self.flat, _plus(start, length, direction))
            loss_there, slope = self._evaluate(loss)
            if not loss_there <= value + DECREASE * length * along:  # too high, or NaN
                high = length
            else:
                best = (length, loss_there, slope)
                if _dot(slope, direction) >= CURVATURE * along:
                    return loss_there, slope
                low = length
            length = 2.0 * low if high == math.inf else 0.5 * (low + high)
        if best is None:
            return None
        _assign(self.flat, _plus(start, best[0], direction))
        return best[1:]


def _dot(left: Arrays, right: Arrays) -> float:
    """Return the inner product of two lists of arrays, the sum over all pairs; it waits for the device."""
    return sum(float(a.dot(b)) for a, b in zip(left, right, strict=True))


def _plus(left: Arrays, factor: float, right: Arrays) -> Arrays:
    """Return left + factor · right, array by array, in new arrays."""
    return [a + b * factor for a, b in zip(left, right, strict=True)]


def _assign(to: Arrays, values: Arrays) -> None:
    """Copy the values into the arrays `to`."""
    for x, v in zip(to, values, strict=True):
        x.copy_(v)
