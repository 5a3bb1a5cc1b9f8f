"""SGD and Adam: one launch steps all parameters of a device.

The kernel is written for the number of parameters: thread i steps element i of each of them.
"""

# The bodies of funcs are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from workbench.api.kernels.func import Func, func
from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS, TABLE
from workbench.errors import LaunchError
from workbench.frontend.state.definition import Definition, Scope
from workbench.optim.optimizer import Optimizer
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import copy, ones, zeros_like
from workbench.runtime.device.device import Device
from workbench.source import Source
from workbench.types import float64

MOST = 16
"""Parameters of one launch: a kernel for hundreds of them would take seconds to compile."""
sqrt = TABLE["sqrt"]


@func
def _sgd(w, g, v, rate, powers, momentum, decay, nesterov):
    """Return the new parameter and velocity of an SGD step, from parameter w, gradient g and velocity v.

    `rate` is the learning rate; `powers` is not used.
    """
    t = type(w)
    g = g + t(decay) * w
    v = t(momentum) * v + g
    step = g + t(momentum) * v if nesterov > 0.0 else v
    return w - t(rate) * step, v


@func
def _adam(w, g, m, v, rate, powers, beta1, beta2, eps, decay):
    """Return the new parameter and both moments of an AdamW step; `powers` are the betas to the steps so far."""
    t = type(w)
    m = t(beta1) * m + t(1.0 - beta1) * g
    v = t(beta2) * v + t(1.0 - beta2) * g * g
    of_mean, of_square = t(1.0 - powers[0] * beta1), t(1.0 - powers[1] * beta2)
    step = (m / of_mean) / (sqrt(v / of_square) + t(eps))
    return w - t(rate) * (step + t(decay) * w), m, v


@cache
def kernel_of(rule: Func, params: int, states: int, options: int) -> Kernel:
    """Return the kernel that steps `params` parameters by one rule, on one device.

    Args:
        rule: returns the new values of an element and of its states.
        params: how many parameters it steps.
        states: how many arrays of state the rule has for each parameter.
        options: how many numbers the rule takes besides the learning rate, at least two.
    """
    named = [f"o{k}" for k in range(options)]
    names, lines = list[str](), list[str]()
    for k in range(params):
        carried = [f"w{k}", *(f"s{k}_{s}" for s in range(states))]
        names += [carried[0], f"g{k}", *carried[1:]]
        written = ", ".join(f"{n}[i]" for n in carried)
        read = ", ".join([f"w{k}[i]", f"g{k}[i]", *(f"{n}[i]" for n in carried[1:]), "rate", "powers", *named])
        lines.append(f"    if i < len(w{k}):\n        {written} = rule({read})\n")
    typed = ", ".join(f"{n}: number" for n in ["rate", *named])
    text = (
        f"def step{rule.name}({typed}, powers, following, {', '.join(names)}):\n    i = tid()\n{''.join(lines)}"
        "    if i < 2:\n        following[i] = powers[i] * (o0 if i == 0 else o1)\n"
    )
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    scope = Scope(own={"rule": rule, "tid": FORMS["tid"], "number": float64})
    source = Source(text, f"the kernel of {rule.name.strip('_')}")
    return Kernel(Definition(node.name, node, source, scope, written=(text, 1)))


class _Stepper(Optimizer):
    """The base of optimisers whose rule looks at one element at a time.

    Attributes:
        lr: the learning rate, or a function from the step's number, from 0, to it.
    """

    def __init__(
        self,
        params: Sequence[array] | array,
        lr: float | Callable[[int], float],
        rule: Func,
        states: int,
        options: tuple[float, ...],
    ) -> None:
        """Allocate the states, zeros, and group the parameters into launches: by device, at most `MOST` each.

        Args:
            params: dense arrays of floats, or of vectors of floats.
            lr: the learning rate, or a function from the step's number to it.
            rule: a func that returns the new values of an element and of its states.
            states: how many arrays of state each parameter has.
            options: numbers that the rule takes besides the learning rate.

        Raises:
            LaunchError: a parameter is not an array as `params` describes.
        """
        super().__init__(params)
        self.lr = lr
        self._rule, self._options = rule, options
        self._states = [[zeros_like(x, requires_grad=False) for _ in range(states)] for x in self.flat]
        devices: dict[Device, list[int]] = {}
        for k, x in enumerate(self.params):
            devices.setdefault(x.device, []).append(k)
        self._groups = [g[i : i + MOST] for g in devices.values() for i in range(0, len(g), MOST)]
        self._powers = [ones(2, float64, device=self.params[g[0]].device) for g in self._groups]
        self._following = [ones(2, float64, device=p.device) for p in self._powers]

    def step(self, grads: Sequence[array] | array | None = None) -> None:
        """Change every parameter by one step; gradients stay as they are.

        Args:
            grads: a gradient for each parameter, of its shape and dtype; None takes each parameter's `.grad`.

        Raises:
            LaunchError: a gradient is missing or does not fit, or a schedule is to be captured in a graph; nothing has
                changed.
        """
        gradients = self.gradients(grads)
        if callable(self.lr) and any(o.takes for o in OBSERVERS.get()):
            raise LaunchError(
                "A captured graph would repeat one value of the schedule.",
                parameter="lr",
                advice="Give lr a number, or call step() outside of the capture.",
            )
        rate = float(self.lr(self.steps) if callable(self.lr) else self.lr)
        for group, powers, following in zip(self._groups, self._powers, self._following, strict=True):
            arrays = [a for k in group for a in (self.flat[k], gradients[k], *self._states[k])]
            kernel = kernel_of(self._rule, len(group), len(self._states[0]), len(self._options))
            most = max(2, *(self.flat[k].size for k in group))
            launch(kernel, most, [rate, *self._options, powers, following, *arrays], device=powers.device, checks=False)
            copy(powers, following)
        self.steps += 1

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return all that the next step depends on besides parameters and options, as NumPy arrays by name."""
        states = {f"state{k}_{s}": np.array(v.numpy()) for k, all in enumerate(self._states) for s, v in enumerate(all)}
        powers = {f"powers{k}": np.array(p.numpy()) for k, p in enumerate(self._powers)}
        return super().state() | states | powers

    def restore(self, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Continue from a state that `state` returned; its names and shapes are not checked."""
        super().restore(state)
        for k, all in enumerate(self._states):
            for s, v in enumerate(all):
                v[...] = state[f"state{k}_{s}"]
        for k, p in enumerate(self._powers):
            p[...] = state[f"powers{k}"]


class SGD(_Stepper):
    """Gradient descent, with momentum on request: v = momentum·v + g; x = x - lr·v.

        optimizer = wb.optim.SGD([x], lr=0.1, momentum=0.9)
        optimizer.step()

    All parameters of a device are stepped by one launch (of 16 parameters at most).
    """

    def __init__(
        self, params: Sequence[array] | array, lr: float | Callable[[int], float] = 0.001, *, momentum: float = 0.0,
        weight_decay: float = 0.0, nesterov: bool = False,
    ) -> None:  # fmt: skip
        """Make an optimiser of these parameters.

        Args:
            params: dense arrays of floats, or of vectors of floats, on any devices.
            lr: the learning rate, or a function from the step's number, from 0, to it (see `cosine`).
            momentum: the share of the last step's direction that is kept, from 0 to below 1.
            weight_decay: this times the parameter is added to its gradient.
            nesterov: look ahead along the momentum (Sutskever et al., 2013).

        Raises:
            LaunchError: a parameter is not an array as `params` describes.
        """
        super().__init__(params, lr, _sgd, 1, (momentum, weight_decay, float(nesterov)))


class Adam(_Stepper):
    """Adam: steps scaled by running means of each gradient and its square (Kingma and Ba, 2015).

        optimizer = wb.optim.Adam([weights, bias], lr=0.01)
        optimizer.step()

    All parameters of a device are stepped by one launch (of 16 parameters at most). The means lie next to the
    parameters, and so does the count of steps, so that a captured graph counts on.
    """

    def __init__(
        self, params: Sequence[array] | array, lr: float | Callable[[int], float] = 0.001, *,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        """Make an optimiser of these parameters.

        Args:
            params: dense arrays of floats, or of vectors of floats, on any devices.
            lr: the learning rate, or a function from the step's number, from 0, to it (see `cosine`).
            betas: how much of the running mean of the gradient, and of its square, a step keeps.
            eps: added to the root of the mean square.
            weight_decay: lr times this times the parameter is subtracted from it, which is AdamW (Loshchilov and
                Hutter, 2019).

        Raises:
            LaunchError: a parameter is not an array as `params` describes.
        """
        super().__init__(params, lr, _adam, 2, (*betas, eps, weight_decay))


Schedule = Callable[[int], float]


def exponential(start: float, factor: float) -> Schedule:
    """Return a schedule of the learning rate, which is multiplied by `factor` after every step.

        wb.optim.SGD([x], lr=wb.optim.exponential(0.1, 0.99))

    Args:
        start: the rate of the first step.
        factor: the ratio of one step's rate to that of the step before.

    Returns:
        A function from the step's number, from 0, to the rate.
    """
    return lambda step: start * factor**step


def cosine(start: float, steps: int, end: float = 0.0) -> Schedule:
    """Return a schedule of the learning rate, which falls from `start` to `end` along half a cosine, and stays there.

        wb.optim.Adam([x], lr=wb.optim.cosine(0.1, 200))

    Args:
        start: the rate of the first step.
        steps: after how many steps the rate is `end`.
        end: the last rate.

    Returns:
        A function from the step's number, from 0, to the rate.

    Raises:
        ValueError: `steps` is not positive.
    """
    if steps < 1:
        raise ValueError(f"cosine() takes a positive number of steps, not {steps}")
    return lambda step: end + (start - end) * 0.5 * (1.0 + math.cos(math.pi * min(step / steps, 1.0)))


def warmup(steps: int, then: float | Schedule) -> Schedule:
    """Return a schedule of the learning rate, which rises evenly to that of another schedule, and then follows that.

        wb.optim.Adam([x], lr=wb.optim.warmup(10, wb.optim.cosine(0.1, 190)))

    Args:
        steps: how many steps it rises for.
        then: the rate after that, or its schedule, which counts from 0 there.

    Returns:
        A function from the step's number, from 0, to the rate.

    Raises:
        ValueError: `steps` is not positive.
    """
    if steps < 1:
        raise ValueError(f"warmup() takes a positive number of steps, not {steps}")
    after: Schedule = then if callable(then) else lambda step: then
    return lambda step: after(0) * (step + 1) / steps if step < steps else after(step - steps)
