"""The trial of one answer on one case: it runs on the emulated device with checks, and its arrays are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import numpy as np

import workbench as wb
from kernel_ext.puzzles.pictures import difference_map
from kernel_ext.puzzles.puzzle import Case

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
