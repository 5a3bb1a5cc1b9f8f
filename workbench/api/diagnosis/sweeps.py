"""A warp of a kernel forwards and then backwards: the values that it computes, and the cotangents that come back.

Both the kernel and its adjoint are interpreted on copies of the arrays. The adjoint's own names (`adj_s` of `s`) and
the lines of its operations say what belongs to what.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from workbench.api.builds.arguments import Dim, as_dims, deduce
from workbench.api.builds.build import function_of
from workbench.api.diagnosis.stepper import Item, Moment, Noted, SourceLine, SweepStep, host_arguments, merged, rows_of
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.autodiff.adjoint_signature import adjoint_names, adjoint_type
from workbench.backends.python import interpret
from workbench.errors import LaunchError, its_type
from workbench.host.narrow import is_numpy_array
from workbench.ir.ops import EFFECTS
from workbench.ir.values import Function, Op, Value, walk
from workbench.runtime.arrays.array import array
from workbench.types import ArrayType, is_float

LANES = 32
ROWS = 200
"""Steps of the forward sweep that are kept."""
OPERATIONS = 400_000
"""Operations that are interpreted at most, of all lanes: some seconds."""


class Forward(msgspec.Struct, frozen=True):
    """A step of the forward sweep: its line as the reader of the cell counts, the line's text, and what it computed."""

    line: int
    text: str
    items: tuple[Item, ...]


class Backward(msgspec.Struct, frozen=True):
    """A step of the reverse sweep.

    Attributes:
        line: as the reader of the cell counts.
        text: of the line.
        items: the cotangents that came back, each with the index of the forward step that it belongs to.
    """

    line: int
    text: str
    items: tuple[tuple[int, Item], ...]


class Sweeps(msgspec.Struct, frozen=True):
    """Both sweeps of a warp; `print` lists them, a notebook steps through them.

    Attributes:
        kernel: its name.
        threads: the thread of each lane.
        forward: steps in their order.
        backward: steps in theirs: the last lines come first.
        seeds: which arrays began the reverse sweep, in words.
        note: says what was cut off.
    """

    kernel: str
    threads: tuple[tuple[int, ...], ...]
    forward: tuple[Forward, ...]
    backward: tuple[Backward, ...]
    seeds: str
    note: str = ""

    def __str__(self) -> str:
        lines = [
            f"{self.kernel}, {len(self.threads)} threads forwards and backwards, values of the first · {self.seeds}"
        ]
        for mark, steps in ((">", self.forward), ("<", self.backward)):
            for step in steps:
                items = [item if isinstance(item, Item) else item[1] for item in step.items]
                shown = ", ".join(f"{i.label(0)} = {i.text(0)}" for i in items if i.text(0))
                lines.append(f"{mark} {step.line:4}  {step.text.strip()[:60]:60}  {shown}".rstrip())
        return "\n".join([*lines, *([self.note] if self.note else [])])

    __repr__ = __str__


def sweeps(
    kernel: Kernel, dim: Dim, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (), *, warp: int = 0
) -> Sweeps:
    """Run a warp of a kernel and then of its adjoint, on copies: no array is changed.

    The reverse sweep begins with the `.grad` of arrays that have one, else with ones for the arrays that the warp
    wrote and zeros for the others. What comes back to an array is what this warp adds to it.

    Args:
        kernel: a kernel without tiles.
        dim: the launch's dimensions.
        inputs: arguments for the first parameters, as for `wb.launch`; NumPy arrays will do.
        outputs: arguments for the rest.
        warp: which 32 threads, in the order in which the launch numbers them.

    Returns:
        The steps of both sweeps.

    Raises:
        LaunchError: the arguments do not fit, there is no such warp, or it does too much to be interpreted.
        NotDifferentiable: the kernel has no right adjoint.
        KernelFault: an index is out of range, or an assert fails.

    Example:
        >>> print(workbench.inspect.sweeps(square, 4, [x], [y]))
        square, 4 threads forwards and backwards, values of the first · y.grad begins as 1
        >    4      y[i] = x[i] * x[i]      x[0] = 3, y[0] = 9
        <    4      y[i] = x[i] * x[i]      y.grad[0] = 1, x.grad[0] = 6
    """
    values = [*inputs, *outputs]
    specialisation = _differentiable(kernel, values)
    dims = as_dims(dim, kernel.name)
    threads = _threads(kernel, dims, warp)
    args = host_arguments(kernel, specialisation.types, values)
    function = specialisation.function
    backwards = function_of(specialisation, "adjoint")
    source, line = kernel.definition.source, kernel.definition.node.lineno
    home = line + source.line_offset, source.line(line)
    begun: list[Any] = [a.copy() if is_numpy_array(a) else a for a in args]
    with contextlib.redirect_stdout(io.StringIO()):
        budget = iter(range(OPERATIONS))
        forward = merged([list(_forward(function, dims, begun, t, budget)) for t in threads], first=min)
        written = {i.name for _, items in forward for i in items.values() if i.store}
        adjoints, seeds = _seeds(kernel, function, args, values, written)
        lanes = [list(_backward(backwards, function, dims, [*args, *adjoints], t, budget, home)) for t in threads]
        if next(budget, None) is None:
            raise LaunchError(
                f"{kernel.name}: these {len(threads)} threads do more than {OPERATIONS:,} operations.",
                advice="Take a smaller problem: the picture is of steps.",
            )
        backward = merged(lanes, first=max)
    return _result(kernel, threads, _with_numbers(home, function, args, forward, len(threads)), backward, seeds)


def _differentiable(kernel: Any, values: Sequence[Any]) -> Specialisation:
    """Return a kernel's specialisation for its arguments.

    Raises:
        LaunchError: it is no kernel, uses tiles, or takes another number of arguments.
    """
    if not isinstance(kernel, Kernel):
        raise LaunchError(f"A kernel is run both ways; this is {its_type(kernel)}.")
    if len(values) != len(kernel.parameters):
        raise LaunchError(f"{kernel.name} takes {len(kernel.parameters)} arguments; {len(values)} were given.")
    specialisation = kernel.specialise(deduce(kernel, values))
    if specialisation.tiling is not None:
        raise LaunchError(
            f"{kernel.name} uses tiles, so it runs once per block; both sweeps are followed thread by thread."
        )
    return specialisation


def _threads(kernel: Kernel, dims: tuple[int, ...], warp: int) -> list[tuple[int, ...]]:
    """Return the indices of a warp's threads in a launch; raise a LaunchError if there is no such warp."""
    count = math.prod(dims)
    if not 0 <= warp * LANES < count:
        raise LaunchError(
            f"{kernel.name} has no warp {warp}: the launch has {-(-count // LANES)}.",
            parameter="warp",
            advice="Give a number from 0.",
        )
    numbers = range(warp * LANES, min(count, (warp + 1) * LANES))
    return [tuple(int(i) for i in np.unravel_index(n, dims)) for n in numbers]


def _steps(
    function: Function, dims: tuple[int, ...], args: list[Any], thread: tuple[int, ...], budget: Iterator[int]
) -> Iterator[interpret.Step]:
    """Yield a thread's interpreted operations, without branches and loops themselves, until `budget` is used up."""
    taken = interpret.step(function, dims, args, thread)
    yield from (step for step, _ in zip(taken, budget, strict=False) if not step.op.blocks)


def _line_of(op: Op) -> SourceLine:
    """Return the number, as shown to the user, and the text of an operation's line."""
    return op.location.shown_line, op.location.source.line(op.location.line)


def _index(taken: interpret.Step, type: ArrayType) -> tuple[int, ...]:
    """Return the element's index of an access to an array of this type; empty for `reduce_add`."""
    return tuple(int(i) for i in taken.operands[1 : 1 + type.ndim]) if taken.op.name != "reduce_add" else ()


def _forward(
    function: Function, dims: tuple[int, ...], args: list[Any], thread: tuple[int, ...], budget: Iterator[int]
) -> Iterator[Noted]:
    """Yield what a thread computes for names of the kernel, and reads from and writes to arrays, one moment each."""
    for taken in _steps(function, dims, args, thread, budget):
        op = taken.op
        type = op.operands[0].type if op.operands else None
        if isinstance(type, ArrayType) and (op.name == "load" or op.name in EFFECTS):
            value = taken.results[0] if op.name == "load" else taken.operands[-1]
            floating = is_float(type)
            yield (
                _line_of(op),
                op,
                _moment(op.operands[0].name, value, floating, _index(taken, type), op.name != "load"),
            )
        for result, value in zip(op.results, taken.results, strict=True):
            if result.name and not isinstance(result.type, ArrayType):
                yield _line_of(op), (op, result), _moment(result.name, value, is_float(result.type))


def _moment(name: str, value: Any, floating: bool, index: tuple[int, ...] | None = None, store: bool = False) -> Moment:
    """Return a moment with one lane's value; with an index it is of an array's element, and its name ends in "[]"."""
    return Moment(
        name if index is None else f"{name}[]", {0: value}, {} if index is None else {0: index}, floating, store
    )


def _backward(
    adjoint: Function,
    function: Function,
    dims: tuple[int, ...],
    args: list[Any],
    thread: tuple[int, ...],
    budget: Iterator[int],
    home: SourceLine,
) -> Iterator[Noted]:
    """Yield the cotangents that a thread computes for names, reads from gradients and adds to them, one moment each.

    Cotangents of elements that are 0 are left out.
    """
    arrays = {adj: name for name, adj in adjoint_names(function.params).items()}
    names = {f"adj_{name}" for name in _names(function)}
    sums: dict[Value, tuple[tuple[Value, ...], tuple[Any, ...]]] = {}
    loads: dict[Value, str] = {}
    for taken in _steps(adjoint, dims, args, thread, budget):
        op = taken.op
        if op.name == "add":
            sums[op.result] = op.operands, taken.operands
        array_name = arrays.get(op.operands[0].name) if op.operands else None
        type = op.operands[0].type if op.operands else None
        if array_name is not None and isinstance(type, ArrayType):
            if op.name == "load":
                loads[op.result] = array_name
            value = _added(op, taken, array_name, sums, loads)
            if value is not None and np.any(value):
                line = home if op.name == "reduce_add" else _line_of(op)
                yield line, op, _moment(f"{array_name}.grad", value, True, _index(taken, type), op.name != "load")
        if op.results and op.result.name in names and not isinstance(op.result.type, ArrayType):
            yield _line_of(op), op.result.name, _moment(op.result.name, taken.results[0], True)


def _names(function: Function) -> set[str]:
    """Return the names of the function's parameters and of its operations' results."""
    return {v.name for op in walk(function.body) for v in op.results if v.name} | {p.name for p in function.params}


def _added(
    op: Op,
    taken: interpret.Step,
    name: str,
    sums: dict[Value, tuple[tuple[Value, ...], tuple[Any, ...]]],
    loads: dict[Value, str],
) -> Any:
    """Return the value that an access to a gradient reads, or adds to it; None for a store that adds nothing."""
    if op.name == "load":
        return taken.results[0]
    operands, values = sums.get(op.operands[-1], ((), ()))
    if op.name == "store":
        old = [k for k, v in enumerate(operands) if loads.get(v) == name]
        return values[1 - old[0]] if old else None
    return taken.operands[-1]


def _seeds(
    kernel: Kernel, function: Function, args: Sequence[Any], values: Sequence[Any], written: set[str]
) -> tuple[list[Any], str]:
    """Return the adjoint arrays that the reverse sweep begins with, and in words which of them are not 0."""
    grads = {n: v.grad for n, v in zip(kernel.parameters, values, strict=True) if isinstance(v, array)}
    adjoints: list[Any] = []
    notes: list[str] = []
    for param, value in zip(function.params, args, strict=True):
        if not is_float(param.type):
            continue
        own = grads.get(param.name)
        if not isinstance(param.type, ArrayType):
            element = adjoint_type(param.type).dtype
            adjoints.append(np.zeros((1, *element.shape), element.numpy))
        elif own is not None and np.any(own.numpy()):
            adjoints.append(np.array(own.numpy()))
            notes.append(f"{param.name}.grad begins as it is")
        elif f"{param.name}[]" in written:
            adjoints.append(np.ones_like(value))
            notes.append(f"{param.name}.grad begins as 1")
        else:
            adjoints.append(np.zeros_like(value))
    return adjoints, "; ".join(notes) or "nothing begins it"


def _with_numbers(
    home: SourceLine, function: Function, args: Sequence[Any], forward: list[SweepStep], lanes: int
) -> list[SweepStep]:
    """Return the steps after an additional one that shows the float parameters; unchanged if there are none."""
    params = zip(function.params, args, strict=True)
    numbers = {p.name: a for p, a in params if is_float(p.type) and not isinstance(p.type, ArrayType)}
    if not numbers:
        return forward
    items = {n: Moment(n, dict.fromkeys(range(lanes), a), {}) for n, a in numbers.items()}
    return [(home, items), *forward]


def _result(
    kernel: Kernel, threads: list[tuple[int, ...]], forward: list[SweepStep], backward: list[SweepStep], seeds: str
) -> Sweeps:
    """Return the sweeps of a warp, cut to the first `ROWS` forward steps and the cotangents that come back to those."""
    count = len(threads)
    rows = rows_of(forward, backward)
    shown = forward[:ROWS]
    back: list[Backward] = []
    for (line, text), items in backward:
        own = [(row, m.item(count)) for m in items.values() if (row := next(rows)) < ROWS]
        if own:
            back.append(Backward(line, text, tuple(own)))
    note = (
        f"These are the first {ROWS} of {len(forward)} steps, and what comes back to them."
        if len(shown) < len(forward)
        else ""
    )
    steps = tuple(Forward(*at, tuple(m.item(count) for m in items.values())) for at, items in shown)
    return Sweeps(kernel.name, tuple(threads), steps, tuple(back), seeds, note)
