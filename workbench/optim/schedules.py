"""Schedules: functions from the number of the step, from 0, to the learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable

Schedule = Callable[[int], float]


def exponential(start: float, factor: float) -> Schedule:
    """Return a rate that is multiplied by `factor` after every step.

        wb.optim.SGD([x], lr=wb.optim.exponential(0.1, 0.99))

    Args:
        start: the rate of the first step.
        factor: the ratio of one step's rate to that of the step before.

    Returns:
        A function of the step's number.
    """
    return lambda step: start * factor**step


def cosine(start: float, steps: int, end: float = 0.0) -> Schedule:
    """Return a rate that falls from `start` to `end` along half a cosine, and stays there.

        wb.optim.Adam([x], lr=wb.optim.cosine(0.1, 200))

    Args:
        start: the rate of the first step.
        steps: after how many steps the rate is `end`.
        end: the last rate.

    Returns:
        A function of the step's number.

    Raises:
        ValueError: `steps` is not positive.
    """
    if steps < 1:
        raise ValueError(f"cosine() takes a positive number of steps, not {steps}")
    return lambda step: end + (start - end) * 0.5 * (1.0 + math.cos(math.pi * min(step / steps, 1.0)))


def warmup(steps: int, then: float | Schedule) -> Schedule:
    """Return a rate that rises evenly to that of another schedule, which begins after it.

        wb.optim.Adam([x], lr=wb.optim.warmup(10, wb.optim.cosine(0.1, 190)))

    Args:
        steps: how many steps it takes.
        then: the rate after that, or its schedule, which counts from 0 there.

    Returns:
        A function of the step's number.

    Raises:
        ValueError: `steps` is not positive.
    """
    if steps < 1:
        raise ValueError(f"warmup() takes a positive number of steps, not {steps}")
    after: Schedule = then if callable(then) else lambda step: then
    return lambda step: after(0) * (step + 1) / steps if step < steps else after(step - steps)
