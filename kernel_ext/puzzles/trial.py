"""A puzzle, the trial of an answer on its cases, and its counts against the solution's.

A puzzle is launches with known results, hints, a solution, and the counts that answers are graded by. An answer is
tried on one case at a time: it runs on the emulated device with checks, and its arrays are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

import numpy as np

import workbench as wb
from kernel_ext.puzzles.pictures import Picture, difference_map

DIFFERENCES = 1e-4
"""The default tolerance of numbers, relative and absolute."""


class Wrong(Exception):
    """Raised for an answer that is not right; its text says why. A puzzle's `examine` may raise it."""


@dataclass(frozen=True)
class Case:
    """Represents a launch that an answer is tested with, and its expected results.

    Attributes:
        dim: threads along 1 to 4 dimensions, or blocks if `tiled`.
        arguments: NumPy arrays, Workbench arrays (for dtypes that NumPy has not) and numbers by parameter, in the
            kernel's order. The launch gets copies. An output that begins as NaN is "not written" as long as it is that.
        wanted: what arrays should hold afterwards, by parameter.
        block_dim: threads of a block.
        tiled: launch blocks, as `wb.launch_tiled` does.
        upstream: the gradient of each output, by parameter; then the adjoint is launched, too.
        gradients: what the gradients of inputs should be, by parameter.
        tolerance: how far a number may be off, relative and absolute.
        verify: more to test: takes the arrays by parameter and raises `Wrong`.
    """

    dim: int | tuple[int, ...]
    arguments: Mapping[str, Any]
    wanted: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    block_dim: int | tuple[int, ...] = 64
    tiled: bool = False
    upstream: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    gradients: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    tolerance: float = DIFFERENCES
    verify: Callable[[Mapping[str, np.ndarray]], None] | None = None


@dataclass(frozen=True)
class Puzzle:
    """Represents a puzzle: its task, tests, hints, solution and goals.

    Attributes:
        name: the name of the kernel, or function, that answers it.
        case: makes a case from random numbers; it is called with different ones.
        examine: tests an answer before any case; raises `Wrong`.
        hints: from a nudge to almost the answer.
        solution: a cell's text without its magic; what an answer costs is compared with it.
        goals: counts that should be no more than the solution's: "sectors", "wavefronts", "atomics", "hottest",
            "instructions", "barriers", "lanes".
        picture: the task, drawn.
    """

    name: str
    case: Callable[[np.random.Generator], Case] | None = None
    examine: Callable[[Any], None] | None = None
    hints: tuple[str, ...] = ()
    solution: str = ""
    goals: tuple[str, ...] = ()
    picture: Picture | None = None

    @property
    def cuda(self) -> bool:
        """Return whether the solution is CUDA C++."""
        return "__global__" in self.solution

    def solved(self) -> Any:
        """Build the solution, and return it as a kernel.

        Raises:
            WorkbenchError: the solution does not compile.
        """
        text = self.solution.strip() + "\n"
        if self.cuda:
            return wb.cuda_module(text, run="emulated")[self.name]
        return wb.build_cell(text, {}).kernels[self.name]


LINE = re.compile(r"in line (\d+)")


@dataclass(frozen=True)
class Mistake:
    """Represents a mistake in an answer.

    Attributes:
        text: a sentence or two.
        excerpt: the lines it is about, with their numbers.
        picture: HTML of where an output is wrong.
    """

    text: str
    excerpt: tuple[str, ...] = ()
    picture: str = ""


def device() -> str:
    """Return "emulated", or "cpu" if NVRTC is not installed: then there are neither races nor counts."""
    try:
        return str(wb.get_device("emulated"))
    except wb.WorkbenchError:
        return "cpu"


def prepared(case: Case, where: str) -> dict[str, Any]:
    """Return the case's arguments by parameter, arrays copied to the device `where`."""
    copies: dict[str, Any] = {}
    for name, value in case.arguments.items():
        if isinstance(value, np.ndarray):
            copies[name] = wb.array(value, device=where, requires_grad=name in case.gradients)
        elif isinstance(value, wb.array):
            copies[name] = wb.array(
                value.numpy(), dtype=value.dtype, device=where, requires_grad=name in case.gradients
            )
        else:
            copies[name] = value
    return copies


def mistake_in(kernel: Any, case: Case) -> Mistake | None:
    """Run the answer on a case and compare; return the first mistake, None if all is right.

    Raises:
        WorkbenchError: the kernel or its adjoint does not compile, is not launched as asked, or is at fault.
        Wrong: the case's own test says so.
    """
    where = device()
    arguments = prepared(case, where)
    with wb.checks(True):
        if case.gradients:
            with wb.Tape() as tape:
                _launch(kernel, case, arguments)
            tape.backward(grads={arguments[name]: np.asarray(g) for name, g in case.upstream.items()})
        else:
            _launch(kernel, case, arguments)
        wb.synchronize(where)
    held = {name: value.numpy() for name, value in arguments.items() if isinstance(value, wb.array)}
    for name, wanted in case.wanted.items():
        if mistake := _difference(kernel, case, name, held[name], wanted):
            return mistake
    for name, wanted in case.gradients.items():
        gradient = arguments[name].grad
        got = np.zeros_like(wanted) if gradient is None else gradient.numpy()
        if mistake := compare(f"{name}.grad", got, wanted, case.tolerance):
            return mistake
    if case.verify is not None:
        case.verify(held)
    return None


def _launch(kernel: Any, case: Case, arguments: Mapping[str, Any]) -> None:
    """Launch the kernel over the case's dimensions with these arguments, as a tiled launch if the case says so."""
    launch: Callable[..., Any] = wb.launch_tiled if case.tiled else wb.launch
    launch(kernel, case.dim, list(arguments.values()), block_dim=case.block_dim)


def compare(name: str, got: Any, wanted: np.ndarray, tolerance: float = 1e-4) -> Mistake | None:
    """Return a mistake that names the first wrong element, with a map of all of them; None if all are right.

    A wrong shape, or something that is no numbers, is a mistake too.

    Args:
        name: what to call the array.
        got: the numbers of the answer.
        wanted: those that are right.
        tolerance: how far they may be apart, relative and absolute.
    """
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.dtype.kind not in "biuf":
        return Mistake(f"{name} is {got!r:.40}; it should be numbers.")
    if got.shape != wanted.shape:
        return Mistake(f"{name} has shape {got.shape}; it should have {wanted.shape}.")
    wrong = ~np.isclose(got, wanted, rtol=tolerance, atol=tolerance)
    if not wrong.any():
        return None
    position = tuple(int(k) for k in np.argwhere(wrong)[0])
    many = f" ({wrong.sum()} of {got.size} elements differ)" if got.size > 1 else ""
    shown_index = ", ".join(map(str, position))
    text = f"{name}[{shown_index}] is {got[position]:.6g}; it should be {wanted[position]:.6g}{many}."
    return Mistake(text, picture=difference_map(wrong, name) if got.size > 1 else "")


def _difference(kernel: Any, case: Case, name: str, got: np.ndarray, wanted: np.ndarray) -> Mistake | None:
    """Return `compare`'s mistake for an array, None if there is none, in better words where more is known.

    It names the thread that wrote the first wrong element, or says that elements were not written.
    """
    mistake = compare(name, got, wanted, case.tolerance)
    if mistake is None or got.shape != wanted.shape:
        return mistake
    position = tuple(np.argwhere(~np.isclose(got, wanted, rtol=case.tolerance, atol=case.tolerance))[0])
    before = case.arguments[name]
    if (
        isinstance(before, np.ndarray)
        and before.dtype.kind == "f"
        and np.isnan(before[position])
        and np.isnan(got[position])
    ):
        index = ", ".join(map(str, position))
        missing = int(np.isnan(got).sum())
        if missing == got.size and _is_written(kernel, case, name):
            return Mistake(
                f"{name} is NaN everywhere. It was before the launch, and NaN plus a number is NaN: assign to it."
            )
        if missing == got.size:
            return Mistake(f"{name} was not written: all {missing} elements are as before the launch.")
        rest = f", nor were {missing - 1} others of {got.size}" if missing > 1 else ""
        return Mistake(f"{name}[{index}] was not written{rest}.", picture=mistake.picture)
    return Mistake(mistake.text + _writer(kernel, case, name, position, got), mistake.excerpt, mistake.picture)


def _is_written(kernel: Any, case: Case, name: str) -> bool:
    """Return whether the first warp writes the array at all; False if that is not known, without NVRTC."""
    if device() == "cpu":
        return False
    return any(
        access.array == name and access.kind != "read"
        for step in profile_of(kernel, case).warp
        for access in step.accesses
    )


def _writer(kernel: Any, case: Case, name: str, index: tuple[int, ...], got: np.ndarray) -> str:
    """Return a sentence on the thread that wrote an element; empty if that is not known, as beyond the first warp."""
    if case.tiled or device() == "cpu" or got.ndim != np.ndim(case.arguments[name]):
        return ""
    byte = int(np.ravel_multi_index(index, got.shape)) * got.itemsize
    profile = profile_of(kernel, case)
    for step in reversed(profile.warp):
        for access in step.accesses:
            if access.array == name and access.kind == "write" and byte in access.at:
                return f" Thread {_thread(access.at.index(byte), case)} wrote it in line {step.number}."
    return ""


def _thread(lane: int, case: Case) -> str:
    """Return a thread of the first block as text: its number, or its indices in several dimensions."""
    sizes = case.block_dim if isinstance(case.block_dim, tuple) else case.dim
    if isinstance(sizes, int):
        return str(lane)
    return str(tuple(int(k) for k in np.unravel_index(lane, sizes)))


def profile_of(kernel: Any, case: Case) -> wb.Profile:
    """Return the profile of the case's launch; of its adjoint if the puzzle is about gradients."""
    arguments = list(prepared(case, "emulated").values())
    adjoint = bool(case.gradients)
    return wb.profile(kernel, case.dim, arguments, block_dim=case.block_dim, tiled=case.tiled, adjoint=adjoint)


def explained(error: wb.WorkbenchError) -> Mistake:
    """Return an error of the answer as a mistake, with the lines of source code that it names."""
    text = " ".join(part for part in (error.message, error.advice) if part)
    location = error.location
    if location is None or not location.line:
        return Mistake(text)
    source = location.source
    numbers = sorted({location.shown_line, *map(int, LINE.findall(error.message))})
    rows = dedent("\n".join(source.line(n - source.line_offset) for n in numbers)).split("\n")
    excerpt = tuple(f"{n:3} | {row}" for n, row in zip(numbers, rows, strict=True))
    return Mistake(f"Line {location.shown_line}: {text}", excerpt)


ENOUGH = 1.1
"""Times the solution's count that an answer may have."""


@dataclass(frozen=True)
class Count:
    """Represents a count that answers are graded by: how to read it from a profile, and its name in sentences."""

    of: Callable[[wb.Profile], int]
    words: str


COUNTS = {
    "sectors": Count(lambda p: p.total.global_sectors, "sectors"),
    "wavefronts": Count(lambda p: p.total.shared_wavefronts, "passes over shared memory"),
    "atomics": Count(lambda p: p.total.atomics, "atomic operations"),
    "hottest": Count(lambda p: p.hottest, "atomic operations on one element"),
    "instructions": Count(lambda p: p.total.instructions, "instructions"),
    "barriers": Count(lambda p: p.total.barriers, "waits at barriers"),
    "lanes": Count(lambda p: 32 * p.total.instructions - p.total.threads, "idle lanes"),
}


def graded(mine: wb.Profile, solution: wb.Profile, goals: Sequence[str]) -> tuple[bool, str]:
    """Return whether an answer's counts are at most `ENOUGH` times the solution's, and a sentence on that.

    If they are not, the sentence is on the count that is the furthest off.

    Args:
        mine: the profile of the answer.
        solution: that of the solution, of the same launch.
        goals: names of counts.
    """
    sentences: list[tuple[float, str]] = []
    for goal in goals:
        count = COUNTS[goal]
        had, best = count.of(mine), count.of(solution)
        if best:
            ratio = had / best
            sentences.append(
                (ratio, f"{ratio:.1f}× the {count.words} needed ({had:,} for {best:,}). Can you get to 1×?")
            )
        elif had:
            sentences.append((float("inf"), f"{had:,} {count.words}, where none is needed. Can you do without?"))
    worst, sentence = max(sentences, default=(1.0, ""))
    if worst > ENOUGH:
        return False, sentence
    *words, last = (COUNTS[goal].words for goal in goals)
    return True, f"no more {', '.join(words)}{' or ' * bool(words)}{last} than needed."
