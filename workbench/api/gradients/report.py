"""The gradient of a program that runs launches, told in numbers, and checked two ways.

First along a random direction through the whole program, in the arrays' own precision: the derivative that the tape
gives against difference quotients of two step sizes, which say themselves how far they can be trusted. Then each kernel
alone in float64, as `gradcheck` does, which finds errors of a millionth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, cast

import msgspec
import numpy as np

from workbench.api.gradients.gradcheck import Verdict, conjugate_signs, gradcheck, in_parts
from workbench.api.narrow import is_float_array
from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.summary import TapeMemory, tape_memory
from workbench.api.tapes.tape import Tape
from workbench.errors import LaunchError, WorkbenchError, its_type, must_be
from workbench.host.narrow import HostArray
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone
from workbench.types import Scalar, element

STEPS = {2: 6e-2, 4: 4e-3, 8: 2e-5}
"""Bytes of a float to the relative step: about the cube root of its precision."""
TOLERANCE = 1e-2
FEW, LARGE = 4, 100_000
"""Elements tried of each input of a kernel with arrays larger than `LARGE`."""
MOST_KERNELS = 12


class GradientRow(msgspec.Struct, frozen=True):
    """A gradient in numbers.

    Attributes:
        name: of the array that it belongs to.
        shape: of the gradient; complex numbers are pairs.
        norm: Euclidean, of the finite elements.
        largest: the finite element of the largest magnitude.
        index: of that element.
        zeros: how many elements are 0.
        strange: how many elements are NaN or infinite.
    """

    name: str
    shape: tuple[int, ...]
    norm: float
    largest: float
    index: tuple[int, ...]
    zeros: int
    strange: int


class Direction(msgspec.Struct, frozen=True):
    """The derivative along a random direction of one input, from the tape and from difference quotients.

    Attributes:
        name: the input.
        tape: what the tape's gradient gives.
        quotient: what difference quotients of the program give.
        doubt: how far the quotients may be wrong themselves.
        verdict: "right", "WRONG", or "no verdict" if they agree and the doubt exceeds half of the derivative.
    """

    name: str
    tape: float
    quotient: float
    doubt: float
    verdict: str


@dataclass(frozen=True, eq=False)
class GradientReport(Mapping[str, array]):
    """Gradients by name (`report["x"]`), in numbers, and what checks found.

    Attributes:
        what: the program.
        value: its value.
        gradients: name to array.
        rows: the gradients in numbers.
        directions: the checks of the whole program; empty without.
        kernels: the checks of its kernels; empty without.
        notes: what could not be checked, and why.
        memory: what the tape kept, by kernel; None if it was not asked for.
    """

    what: str
    value: float
    gradients: Mapping[str, array]
    rows: tuple[GradientRow, ...]
    directions: tuple[Direction, ...] = ()
    kernels: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()
    memory: TapeMemory | None = None

    @property
    def ok(self) -> bool:
        """Return whether no check found a gradient wrong, nor one that is NaN or infinite."""
        wrong = any(d.verdict == "WRONG" for d in self.directions) or any(k.compared and not k for k in self.kernels)
        return not wrong and not any(r.strange for r in self.rows)

    def __getitem__(self, name: str) -> array:
        """Return the gradient of this name."""
        return self.gradients[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the gradients."""
        return iter(self.gradients)

    def __len__(self) -> int:
        """Return the number of gradients."""
        return len(self.gradients)

    def tables(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        """Return titles with tables of text; the first row of each table holds its column heads."""
        tables = [("", [("d/d", "shape", "norm", "largest", "at", "zeros", "NaN or inf"), *map(_row, self.rows)])]
        if self.directions:
            heads = ("along a random", "tape", "difference", "may be off by", "")
            rows = [
                (f"direction of {d.name}", f"{d.tape:.6g}", f"{d.quotient:.6g}", f"{d.doubt:.1g}", d.verdict)
                for d in self.directions
            ]
            tables.append(("the whole program, in the arrays' precision", [heads, *rows]))
        if self.kernels:
            heads = ("kernel", "verdict", "compared", "worst", "error")
            tables.append(("each kernel alone, in float64", [heads, *map(_verdict, self.kernels)]))
        if self.memory is not None:
            tables.append((self.memory.summary(), self.memory.table()))
        return tables

    def __str__(self) -> str:
        lines = [f"{self.what} = {self.value:.9g}"]
        for title, rows in self.tables():
            widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
            lines += [title] if title else []
            lines += ["  " + "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the report's value, tables and notes for a notebook."""
        cell = "text-align:left;padding:1px 12px 1px 0"
        parts = [f"<div><b>{escape(self.what)} = {self.value:.9g}</b></div>"]
        for title, (head, *rows) in self.tables():
            tags = ["th" if h else "td" for h in head]
            heads = "".join(f'<{t} style="{cell}">{escape(h)}</{t}>' for t, h in zip(tags, head, strict=True))
            body = "".join("<tr>" + "".join(f'<td style="{cell}">{escape(c)}</td>' for c in r) + "</tr>" for r in rows)
            parts.append(
                f"<div>{escape(title)}</div><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
            )
        return "".join([*parts, *(f"<div>{escape(note)}</div>" for note in self.notes)])


def _row(row: GradientRow) -> tuple[str, ...]:
    """Return the cells of a gradient's row in the report's table, as text."""
    index = ", ".join(map(str, row.index))
    return (
        row.name, "×".join(map(str, row.shape)), f"{row.norm:.6g}", f"{row.largest:.6g}", f"[{index}]",
        str(row.zeros), str(row.strange),
    )  # fmt: skip


def _verdict(verdict: Verdict) -> tuple[str, ...]:
    """Return the cells of a gradcheck verdict's row: kernel, answer, elements compared, worst element and its error."""
    worst = verdict.worst[0] if verdict.worst else None
    worst_index = f"{worst.parameter}[{', '.join(map(str, worst.index))}]" if worst else ""
    answer = "right" if verdict.ok else "WRONG" if verdict.compared else "no verdict"
    return verdict.kernel, answer, str(verdict.compared), worst_index, f"{worst.error:.1e}" if worst else ""


def gradients_of(
    call: Callable[[], array], wrt: Mapping[str, array], *, check: bool = False, what: str = "", seed: int = 0,
    memory: bool = False, checkpoint: int = 0,
) -> GradientReport:  # fmt: skip
    """Return the gradient of the float that `call` returns with respect to the arrays of `wrt`; `check` verifies it.

        >>> import workbench as wb
        >>> @wb.kernel
        ... def squares(x: wb.array[float], out: wb.array[float]):
        ...     wb.atomic_add(out, 0, x[wb.tid()] * x[wb.tid()])
        >>> def energy():
        ...     out = wb.zeros(1)
        ...     wb.launch(squares, len(x), inputs=[x], outputs=[out])
        ...     return out
        >>> x = wb.array([1.0, 2.0])
        >>> wb.gradients_of(energy, {"x": x})["x"].numpy()
        array([2., 4.], dtype=float32)

    Args:
        call: launches kernels and returns an array of one float. With `check` it runs again, on changed contents of the
            arrays of `wrt`, which are put back.
        wrt: name to array of floats.
        check: compare with difference quotients, of the whole program and of each kernel.
        what: the program's name in the report.
        seed: of the random directions and elements.
        memory: list the bytes that the tape stored, by kernel.
        checkpoint: as of `Tape`; copies that the tape stores at most, about; 0: all.

    Returns:
        Gradients by name, each of the shape and dtype of its array, and the results of the checks.

    Raises:
        LaunchError: an array holds no floats, or the result is not a single float that a launch has written.
        NotDifferentiable: a kernel has no right adjoint.
    """
    must_be(call, Callable, "gradients_of() takes a function that launches kernels")
    must_be(wrt, Mapping, "gradients_of() takes its arrays by name", advice='Write {"x": x}.')
    for name, value in wrt.items():
        if not is_float_array(value):
            raise LaunchError(f"{name} is not an array of floats, so it has no gradient.", parameter=name)
    before = {name: clone(value) for name, value in wrt.items()} if check else {}
    tape = Tape(into_grad=False, checkpoint=checkpoint, only=tuple(wrt.values()))
    with tape:
        result = call()
    _refuse_others(result, what or "The call")
    tape.backward(result)
    gradients = {name: clone(tape.adjoint_of(value)) for name, value in wrt.items()}
    value = float(result)
    rows = tuple(_numbers(name, gradient.numpy()) for name, gradient in gradients.items())
    memory_rows = tape_memory(tape) if memory else None
    if not check:
        return GradientReport(what or "value", value, gradients, rows, memory=memory_rows)
    kernels, notes = _kernels(tape, seed)
    directions, more = _directions(call, wrt, before, gradients, value, np.random.default_rng(seed))
    return GradientReport(what or "value", value, gradients, rows, directions, kernels, (*notes, *more), memory_rows)


def _refuse_others(result: object, what: str) -> None:
    """Raise a LaunchError unless the result is an array of one scalar; `what` names the function in the message."""
    if not isinstance(result, array) or result.size != 1 or not isinstance(result.dtype, Scalar):
        if result is None:
            shown, advice = "nothing", "Give a function that launches and returns the array of one float that it fills."
        else:
            known = isinstance(result, array)
            shown = f"{result.type!r} of shape {result.shape}" if known else its_type(result)
            advice = "Sum it in a kernel."
        raise LaunchError(f"{what} returns {shown}; a gradient is of one float.", advice=advice)


def _numbers(name: str, gradient: HostArray) -> GradientRow:
    """Return a gradient's row: norm and largest of its finite numbers, and the counts of zeros and of NaN or inf."""
    host = np.asarray(in_parts(gradient), np.float64)
    finite = np.where(np.isfinite(host), np.abs(host), -1.0)
    at = np.unravel_index(int(finite.argmax()), host.shape) if host.size else ()
    index = tuple(int(k) for k in at)
    strange = int(host.size - np.isfinite(host).sum())
    norm = float(np.linalg.norm(host[np.isfinite(host)]))
    largest = float(host[index]) if host.size else 0.0
    return GradientRow(name, host.shape, norm, largest, index, int((host == 0).sum()), strange)


def _kernels(tape: Tape, seed: int) -> tuple[tuple[Verdict, ...], tuple[str, ...]]:
    """Run gradcheck on kernels of the tape, with the present contents of their arrays.

    Returns:
        The verdicts, of at most MOST_KERNELS kernels; and notes on those that could not be checked.
    """
    launches = {s.record.kernel: s.record for s in reversed(tape.steps) if isinstance(s, LaunchStep)}
    verdicts: list[Verdict] = []
    notes: list[str] = []
    for name, record in list(launches.items())[:MOST_KERNELS]:
        kernel = record.specialisation.kernel
        if record.direction != "forward" or set(record.arguments) != set(kernel.parameters):
            notes.append(f"{name} takes structs or is a derivative itself: check it with wb.gradcheck.")
            continue
        values = [record.arguments[n] for n in kernel.parameters]
        large = max((v.size for v in values if isinstance(v, array)), default=0) > LARGE
        try:
            verdicts.append(gradcheck(kernel, record.dim, values, samples=FEW if large else 24, seed=seed))
        except WorkbenchError as error:
            notes.append(f"{name} could not be checked alone: {error.message}")
    return tuple(verdicts), tuple(notes)


def _directions(
    call: Callable[[], array],
    wrt: Mapping[str, array],
    before: Mapping[str, array],
    gradients: Mapping[str, array],
    value: float,
    random: np.random.Generator,
) -> tuple[tuple[Direction, ...], tuple[str, ...]]:
    """Compare the derivative along a random direction of each input with difference quotients of the whole program.

    Args:
        call: runs the program and returns its value.
        wrt: the inputs by name; their contents are changed, and put back.
        before: copies of the inputs.
        gradients: those of the tape.
        value: of the program at the inputs.
        random: the source of directions.

    Returns:
        The comparisons; and a note instead of them if the value is NaN or a second run returns another one.
    """

    def at(name: str = "", offset: object = None) -> float:
        for other, content in before.items():
            wrt[other].copy_(content)
        if name:
            moved = before[name].numpy()
            moved = moved + np.asarray(offset).view(moved.dtype).reshape(moved.shape)
            wrt[name].copy_(array(moved, wrt[name].dtype, device=wrt[name].device))
        return float(call())

    try:
        again = at()
        if math.isnan(value) or math.isnan(again):
            return (), (
                "The value is NaN, so there is nothing to compare: `with wb.find_nan():` stops where it is made.",
            )
        if not math.isclose(again, value, rel_tol=1e-5, abs_tol=1e-30):
            return (), (
                f"A second run returns {again:.9g}: it changes what it reads, so it cannot be compared as a whole.",
            )
        return tuple(_direction(name, at, before[name], gradients[name], value, random) for name in wrt), ()
    finally:
        for name, content in before.items():
            wrt[name].copy_(content)


def _direction(
    name: str, at: Callable[..., float], start: array, gradient: array, value: float, random: np.random.Generator
) -> Direction:
    """Compare a gradient with difference quotients of the program along one random direction.

    Args:
        name: of the array that is moved.
        at: returns the program's value with an offset added to the array of a name.
        start: the array before the program ran.
        gradient: the gradient by it.
        value: of the program, which bounds the rounding.
        random: the source of the direction.
    """
    host: HostArray = in_parts(start.numpy())
    size = element(start.dtype).size
    typical = float(np.sqrt(np.mean(np.square(host, dtype=np.float64)))) or 1.0
    slope: Any = np.asarray(in_parts(gradient.numpy()), np.float64) * conjugate_signs(gradient.type)
    signs: Any = random.choice((-1.0, 1.0), host.shape)
    # Half of the signs are the gradient's own, so that what is compared does not cancel to nothing.
    shape: tuple[int, ...] = host.shape
    own: Any = np.sign(slope)
    along = typical * cast("HostArray", np.where((random.random(shape) < 0.5) & (slope != 0), own, signs))
    predicted = float((slope * along).sum())
    step = STEPS[size]

    def quotient(h: float) -> float:
        offset = (h * along).astype(host.dtype)
        return (at(name, offset) - at(name, -offset)) / (2 * h)

    coarse, fine = quotient(step), quotient(step / 2)
    best = fine + (fine - coarse) / 3
    doubt = abs(fine - coarse) + 8 * float(np.finfo(host.dtype).eps) * abs(value) / step
    scale = max(abs(predicted), abs(best), 1e-30)
    if abs(predicted - best) <= doubt + TOLERANCE * scale:
        verdict = "right" if doubt <= 0.5 * scale else "no verdict"
    else:
        verdict = "WRONG"
    return Direction(name, predicted, best, doubt, verdict)
