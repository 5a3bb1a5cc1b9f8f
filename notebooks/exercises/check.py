"""Checks the exercises: runs what was written on data of its own, compares, and says where to look.

Each function takes what an exercise asks for and gives an `Answer`, which shows itself as *right*, or as the first
thing that is not, with a hint. `score()` counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

import workbench as wb

DONE: dict[str, bool] = {}
"""Exercise to whether its last check was right."""


@dataclass(frozen=True)
class Answer:
    """What a check found: `problem` is empty where all is right."""

    name: str
    problem: str = ""
    hint: str = ""

    def __bool__(self) -> bool:
        return not self.problem

    def __repr__(self) -> str:
        if self:
            return f"{self.name}: right"
        return f"{self.name}: not yet. {self.problem}\nHint: {self.hint}"

    def _repr_html_(self) -> str:
        colour, word = ("#1b7837", "right") if self else ("#b2182b", "not yet")
        badge = f'<span style="background:{colour};color:#fff;border-radius:3px;padding:1px 7px">{word}</span>'
        more = f"<div>{escape(self.problem)}</div><div><i>Hint: {escape(self.hint)}</i></div>" if self.problem else ""
        return f"<div>{badge} {escape(self.name)}{more}</div>"


def score(*names: str) -> str:
    """How many of these exercises are right, as a line of boxes."""
    boxes = "".join("■" if DONE.get(name) else "□" for name in names)
    missing = [name for name in names if not DONE.get(name)]
    rest = f"; still open: {', '.join(missing)}" if missing else ""
    return f"{boxes}  {len(names) - len(missing)} of {len(names)} right{rest}"


def _answer(name: str, found: Callable[[], tuple[str, str]]) -> Answer:
    """The answer of a check; an error of the kernel or of its launch is a problem like any other."""
    try:
        problem, hint = found()
    except wb.WorkbenchError as error:
        problem, hint = f"{type(error).__name__}: {error.message}", error.advice or "Read the line that it names."
    DONE[name] = not problem
    return Answer(name, problem, hint)


def _first_difference(got: Any, wanted: np.ndarray, tolerance: float = 1e-4) -> str:
    """The first element that is not as it should be, in a sentence; empty where all are."""
    got = np.asarray(got)
    if got.shape != wanted.shape:
        return f"The result has shape {got.shape}; it should have {wanted.shape}."
    wrong = np.argwhere(~np.isclose(got, wanted, rtol=tolerance, atol=tolerance))
    if not len(wrong):
        return ""
    place = tuple(int(k) for k in wrong[0])
    shown = ", ".join(map(str, place))
    many = f" ({len(wrong)} of {got.size} elements differ)" if got.size > 1 else ""
    return f"Element [{shown}] is {got[place]:.6g}; it should be {wanted[place]:.6g}{many}."


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).uniform(0.1, 1.0, shape).astype(np.float32)


def brighten(kernel: Any) -> Answer:
    """`brighten(picture, gain)` multiplies every pixel."""

    def found() -> tuple[str, str]:
        before = _random(5, 8)
        picture = wb.array(before)
        wb.launch(kernel, picture.shape, [picture, 1.5])
        return _first_difference(
            picture.numpy(), 1.5 * before
        ), "A pixel is read, multiplied by gain, and written back."

    return _answer("brighten", found)


def mirror(kernel: Any) -> Answer:
    """`mirror(picture, mirrored)` turns left and right around."""

    def found() -> tuple[str, str]:
        before = _random(4, 7)
        mirrored = wb.zeros(before.shape)
        wb.launch(kernel, before.shape, [wb.array(before)], [mirrored])
        hint = "The first column comes from the last one, whose number is picture.shape[1] - 1."
        return _first_difference(mirrored.numpy(), before[:, ::-1]), hint

    return _answer("mirror", found)


def smooth(kernel: Any) -> Answer:
    """`smooth(x, y)` takes the mean of an element and its two neighbours; the ends are their own neighbours."""

    def found() -> tuple[str, str]:
        x = _random(32)
        y = wb.zeros(32)
        with wb.checks(True):
            wb.launch(kernel, 32, [wb.array(x)], [y])
        padded = np.pad(x, 1, mode="edge")
        wanted = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
        return _first_difference(y.numpy(), wanted), "max(i - 1, 0) and min(i + 1, n - 1) stay inside."

    return _answer("smooth", found)


def inside(kernel: Any) -> Answer:
    """`inside(points, count)` counts the points in the unit circle."""

    def found() -> tuple[str, str]:
        points = np.random.default_rng(3).uniform(-1, 1, (5000, 2))
        count = wb.zeros(1, dtype=int)
        wb.launch(kernel, len(points), [wb.array(points, dtype=wb.vec2)], [count])
        wanted = np.array([(np.hypot(*points.T) < 1).sum()])
        hint = "Many threads add to one number: atomic_add(count, 0, 1), and only where the length is below 1."
        return _first_difference(count.numpy(), wanted), hint

    return _answer("inside", found)


def fall(kernel: Any) -> Answer:
    """`fall(height, dt, times)` counts the steps until a ball that starts at rest is below 0."""

    def found() -> tuple[str, str]:
        heights = np.array([0.5, 1.0, 20.0], np.float32)
        times = wb.zeros(3)
        wb.launch(kernel, 3, [wb.array(heights), 1e-3], [times])
        hint = "In each turn: v = v - 9.81 * dt, then h = h + v * dt, then t = t + dt."
        return _first_difference(times.numpy(), np.sqrt(2 * heights / 9.81), 5e-3), hint

    return _answer("fall", found)


def slope(kernel: Any, by_hand: Callable[[np.ndarray], np.ndarray]) -> Answer:
    """`by_hand(x)` is the derivative of what `kernel(x, y)` writes to y."""

    def found() -> tuple[str, str]:
        x = np.linspace(0.2, 2.0, 50)
        given = wb.array(x, requires_grad=True)
        y = wb.zeros(50, dtype=wb.float64)
        with wb.Tape() as tape:
            wb.launch(kernel, 50, [given], [y])
        tape.backward(grads={y: np.ones(50)})
        hint = "The chain rule: the slope of exp(u) is exp(u) times that of u, and u is -x·x."
        return _first_difference(by_hand(x), given.grad.numpy(), 1e-6), hint

    return _answer("slope", found)


def loss(kernel: Any) -> Answer:
    """`loss(line, x, y, total)` sums the squares of (line[0] * x + line[1] - y)."""

    def found() -> tuple[str, str]:
        x, y = _random(40), _random(40)[::-1].copy()
        line = wb.array([0.7, -0.2], requires_grad=True)
        total = wb.zeros(1)
        with wb.Tape() as tape:
            wb.launch(kernel, 40, [line, wb.array(x), wb.array(y)], [total])
        difference = (0.7 * x - 0.2 - y).astype(np.float64)
        problem = _first_difference(total.numpy(), np.array([(difference**2).sum()]), 1e-3)
        if problem:
            return problem, "The difference times itself, added to total[0] by every thread."
        tape.backward(total)
        wanted = np.array([(2 * difference * x).sum(), (2 * difference).sum()])
        return _first_difference(line.grad.numpy(), wanted, 1e-3), "The sum is right, but its gradient is not."

    return _answer("loss", found)


def fit(descend: Callable[[wb.array, wb.array], None]) -> Answer:
    """`descend(line, slope)` goes a step downhill."""

    def found() -> tuple[str, str]:
        line = wb.array([1.0, 2.0])
        descend(line, wb.array([10.0, -4.0]))
        moved = line.numpy() - np.array([1.0, 2.0])
        if not moved.any():
            return "The line did not move.", "Launch the kernel, with line, slope and a rate such as 0.01."
        if moved[0] > 0 or moved[1] < 0:
            return f"It moved by {moved}, uphill.", "Downhill is against the slope: subtract."
        ratio = moved[0] / moved[1]
        ok = abs(ratio + 2.5) < 1e-3
        return (
            "" if ok else "The step is not along the slope."
        ), "Both numbers move by the same rate times their slope."

    return _answer("fit", found)


def stable(kernel: Any) -> Answer:
    """`stable(x, y)` is |x|·x written so that its gradient has no NaN at 0."""

    def found() -> tuple[str, str]:
        x = wb.array([-4.0, 0.0, 9.0], requires_grad=True)
        y = wb.zeros(3)
        with wb.Tape() as tape:
            wb.launch(kernel, 3, [x], [y])
        tape.backward(grads={y: np.ones(3)})
        problem = _first_difference(y.numpy(), np.array([2.0, 0.0, 3.0]))
        if problem:
            return problem, "The value is the root of |x|."
        gradient = x.grad.numpy()
        if not np.isfinite(gradient).all():
            return f"The gradient is {gradient}.", "where(x[i] != 0.0, …, …) lets nothing of the other side through."
        return _first_difference(gradient, np.array([-0.25, 0.0, 1 / 6])), "At 0 the slope should be 0."

    return _answer("stable", found)


def _wasteful(profile: wb.Profile) -> str:
    """What the counts object to, in a sentence; empty if there is nothing to save."""
    total = profile.total
    if total.global_sectors > total.global_sectors_least:
        times = total.global_sectors / total.global_sectors_least
        return f"The result is right, with {times:.1f}× the sectors needed. Can you get to 1×?"
    if total.efficiency < 1:
        return f"The result is right, with {total.efficiency:.0%} of the lanes active. Can you get to 100 %?"
    return ""


def columns(kernel: Any) -> Answer:
    """`columns(a, sums)` adds up columns, with neighbouring threads at neighbouring elements."""

    def found() -> tuple[str, str]:
        a, sums = _random(64, 64), wb.zeros(64)
        wb.launch(kernel, 64, [wb.array(a)], [sums])
        problem = _first_difference(sums.numpy(), a.sum(axis=0), 1e-3)
        hint = "Column i has the elements a[0, i], a[1, i], and so on."
        return problem or _wasteful(wb.profile(kernel, 64, [wb.array(a)], [sums])), hint

    return _answer("columns", found)


def four_each(kernel: Any) -> Answer:
    """`four_each(x, threads)` doubles four elements per thread, a warp's neighbouring ones at a time."""

    def found() -> tuple[str, str]:
        before = _random(1024)
        x = wb.array(before)
        wb.launch(kernel, 256, [x, 256])
        problem = _first_difference(x.numpy(), 2 * before)
        hint = "In each turn the threads should take a quarter of the array together: element i of quarter k."
        return problem or _wasteful(wb.profile(kernel, 256, [x, 256])), hint

    return _answer("four_each", found)


def half_and_half(kernel: Any) -> Answer:
    """`half_and_half(x, y)` takes the sine of half of the elements, and no lane waits."""

    def found() -> tuple[str, str]:
        x, y = 0.7 * _random(1024), wb.zeros(1024)  # below pi / 4, where sin itself has no branch
        wb.launch(kernel, 1024, [wb.array(x)], [y])
        sines = np.isclose(y.numpy(), np.sin(x), atol=1e-4)
        rest = np.isclose(y.numpy(), np.exp(x), atol=1e-4)
        if not (sines | rest).all() or sines.sum() != 512:
            return f"{int(sines.sum())} of 1024 elements are sines; it should be half.", "Half of the warps, or of all."
        return _wasteful(wb.profile(kernel, 1024, [wb.array(x)], [y])), "Thread i is in warp i // 32."

    return _answer("half_and_half", found)


def added(kernel: Any) -> Answer:
    """`added(x, total, threads)` makes one atomic addition per thread, and reads neighbouring elements."""

    def found() -> tuple[str, str]:
        x, total = _random(4096), wb.zeros(1)
        wb.launch(kernel, 128, [wb.array(x)], [total, 128])
        problem = _first_difference(total.numpy(), np.array([x.sum()]), 1e-2)
        hint = "Add up x[i + k * threads]."
        return problem or _wasteful(wb.profile(kernel, 128, [wb.array(x)], [total, 128])), hint

    return _answer("added", found)
