"""Stepping: one thread of a kernel, or the lanes of a warp, statement by statement, as plain data.

The kernel is lowered once more with a mark before every statement, and interpreted on copies of the arrays: so all
names are there, also those of numbers without a type and of funcs that were called, and no argument is changed.

Lanes go in step: what each thread of a warp did is put together line by line, as a warp would go (`merged`).
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import msgspec
import numpy as np
from msgspec.structs import replace

from workbench.api.builds.arguments import Dim, as_dims, check, deduce, listed, wrong_count
from workbench.api.builds.bind import wrong_dimensions
from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import must_be_kernel
from workbench.backends.prints import text
from workbench.backends.python import interpret
from workbench.errors import KernelFault, LaunchError
from workbench.frontend.statements.control_flow import Frame as Mark
from workbench.frontend.statements.control_flow import Shown
from workbench.frontend.statements.lower import lower
from workbench.host.narrow import is_list, is_numpy, is_numpy_array
from workbench.ir.ops import END, FRAMES, KIND, PARTS
from workbench.ir.values import Function, Op, array_of
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.structure import spread
from workbench.runtime.device.device import get_device
from workbench.source import Location, Source
from workbench.structs import AnyType

# Arrays of so many elements are shown with their elements.
SMALL = 64
COLUMN = 44
KINDS = {"load": "load", "store": "store", "atomic_add": "add"}


class Access(msgspec.Struct, frozen=True):
    """An element of an array that a statement accessed.

    `kind` is "load", "store", "add", or the name of another atomic operation; `value` was loaded, stored or added.
    """

    kind: str
    array: str
    index: tuple[int, ...]
    value: object

    def __str__(self) -> str:
        return f"{self.kind} {self.array}[{', '.join(map(str, self.index))}] {self.value}"


class Frame(msgspec.Struct, frozen=True):
    """A function being executed: its name, the line that is to run, and the values of its names there."""

    function: str
    line: int
    names: Mapping[str, object]


class Step(msgspec.Struct, frozen=True):
    """The execution of one statement.

    Attributes:
        number: from 0.
        line: as the reader of the cell counts.
        source: the line's text; empty at the end of the kernel.
        stack: the open functions, the kernel first; values are those before the statement.
        accesses: the elements that it loaded and stored, in order.
        printed: what it printed.
        fault: what went wrong in it; empty where nothing did.
    """

    number: int
    line: int
    source: str
    stack: tuple[Frame, ...]
    accesses: tuple[Access, ...] = ()
    printed: str = ""
    fault: str = ""

    @property
    def function(self) -> str:
        """The name of the function that the statement belongs to."""
        return self.stack[-1].function

    @property
    def names(self) -> Mapping[str, object]:
        """The values of that function's names before the statement."""
        return self.stack[-1].names


class Steps(Sequence[Step]):
    """The steps of one thread; `print(steps)` shows them as a table.

    Attributes:
        kernel: its name.
        thread: its index.
        note: says where the steps were cut off; empty if they were not.
        lines: the kernel's own lines, with their numbers as the reader of the cell counts.
    """

    def __init__(
        self,
        kernel: str,
        thread: tuple[int, ...],
        steps: Sequence[Step],
        note: str = "",
        lines: Sequence[tuple[int, str]] = (),
    ) -> None:
        """Hold the steps of one thread, with the attributes of these names."""
        self.kernel = kernel
        self.thread = thread
        self.note = note
        self.lines = tuple(lines)
        self._steps = tuple(steps)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        """Return one step by its position, or a tuple of steps for a slice."""
        return self._steps[index]

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self._steps)

    def __str__(self) -> str:
        rows = [("step", "line", "statement", "names", "memory")]
        before: dict[tuple[int, str], Mapping[str, object]] = {}
        for step in self._steps:
            slot = (len(step.stack), step.function)
            changed = {n: v for n, v in step.names.items() if not _same(v, before.get(slot, {}).get(n, _NONE))}
            before[slot] = step.names
            shown = ", ".join(f"{n}={_brief(v)}" for n, v in changed.items())
            done = "; ".join([*map(str, step.accesses), *([f"prints {step.printed!r}"] if step.printed else [])])
            indent = "  " * (len(step.stack) - 1)
            statement = indent + (step.source.strip() or "(end)")
            rows.append((str(step.number), str(step.line), _cut(statement), shown, done))
            if step.fault:
                rows.append(("", "", _cut("fault: " + step.fault, 400), "", ""))
        widths = [max(len(r[c]) for r in rows if not r[2].startswith("fault: ")) for c in range(4)]
        lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(r, widths, strict=False)), r[4]]).rstrip() for r in rows]
        head = f"{self.kernel}, thread {', '.join(map(str, self.thread))}"
        return "\n".join([head, *lines, *([self.note] if self.note else [])])

    __repr__ = __str__


_NONE = object()


def _same(a: object, b: object) -> bool:
    """Return whether two values of a variable have one type and are equal."""
    return a is b or (
        type(a) is type(b) and (np.array_equal(a, b) if is_numpy_array(a) and is_numpy_array(b) else a == b)
    )


def _brief(value: object) -> str:
    """Return a value's text on one line, cut to 40 characters."""
    return _cut(" ".join(str(value).split()), 40)


def _cut(text: str, width: int = COLUMN) -> str:
    """Return the text, at most `width` characters long: a longer one ends in an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def step(
    kernel: Kernel, dim: Dim, inputs: Sequence[object] = (), outputs: Sequence[object] = (), *,
    thread: int | Sequence[int] = 0, limit: int = 2000,
) -> Steps:  # fmt: skip
    """Run one thread of a kernel statement by statement, on copies: no array is changed.

    Args:
        kernel: what to step through.
        dim: the launch's dimensions.
        inputs: arguments for the first parameters, as for `launch`; NumPy arrays will do.
        outputs: arguments for the rest.
        thread: which thread: its index, or one index for each dimension.
        limit: after how many steps to stop; `note` says so then.

    Returns:
        The steps. A fault (an index out of range, an assert) is in the last one's `fault`, not raised.

    Raises:
        LaunchError: the arguments do not fit, there is no such thread, or the kernel uses tiles.
        KernelSyntaxError, KernelTypeError: the kernel has errors.
    """
    must_be_kernel(kernel, "step()")
    values = listed(kernel, inputs, outputs)
    if len(values) != len(kernel.parameters):
        raise wrong_count(kernel, values)
    specialisation = kernel.specialise(deduce(kernel, values))
    types = specialisation.types
    if specialisation.tiling is not None:
        raise LaunchError(
            f"{kernel.name} uses tiles, so it runs once per block; step() follows one thread.",
            advice="Print values: print(wb.tile_sum(t)).",
        )
    function = lower(kernel.definition, dict(zip(kernel.parameters, types, strict=True)), trace=True).function
    dims = as_dims(dim, kernel.name)
    index = (thread,) if isinstance(thread, int) else tuple(int(i) for i in thread)
    if function.launch_ndim and function.launch_ndim != len(dims):
        raise wrong_dimensions(kernel.name, function.launch_ndim, len(dims))
    arguments = host_arguments(kernel, types, values)
    taken = _Taken(function, limit)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            for operation in interpret.step(function, dims, arguments, index):
                if not taken.see(operation):
                    break
        except KernelFault as fault:
            taken.fault(fault)
    return Steps(kernel.name, index, taken.steps, taken.note, _lines(kernel))


step.__dict__["__wb_builtin__"] = "step"  # in a kernel, `wb.step(edge, x)` is the builtin of that name


def _lines(kernel: Kernel) -> list[tuple[int, str]]:
    """Return the lines of the kernel's definition with their numbers in the cell."""
    node, source = kernel.definition.node, kernel.definition.source
    return [(n + source.line_offset, source.line(n)) for n in range(node.lineno, (node.end_lineno or node.lineno) + 1)]


def host_arguments(kernel: Kernel, types: Sequence[AnyType], values: Sequence[object]) -> list[object]:
    """Return the checked arguments, one for each parameter of the IR; arrays as NumPy copies, structs by field.

    Raises:
        LaunchError: one does not fit its type.
    """
    host = get_device("cpu")
    arguments: list[object] = []
    for name, type, value in zip(kernel.parameters, types, values, strict=True):
        if isinstance(value, array) and value.device != host:
            value = value.to("cpu")
        copied = np.array(value) if is_numpy_array(value) else value
        parts = spread(name, check(kernel, name, type, copied, host)).values()
        arguments += [p.numpy().copy() if isinstance(p, array) else p for p in parts]
    return arguments


class _Taken:
    """Collects the steps of a thread: what an operation does is added to the last step of the statement around it.

    Attributes:
        function: the IR that is interpreted, with a mark before every statement.
        limit: how many steps are collected at most.
        note: says that the limit was reached; empty if it was not.
        steps: those collected so far.
        spans: of each step its statement's source, first and last line.
    """

    def __init__(self, function: Function, limit: int) -> None:
        self.function = function
        self.limit = limit
        self.note = ""
        self.steps: list[Step] = []
        self.spans: list[tuple[Source, int, int]] = []

    def see(self, taken: interpret.Step) -> bool:
        """Note an operation that was interpreted; return False if the limit of steps is reached."""
        op = taken.op
        if op.name == "mark":
            if len(self.steps) == self.limit:
                self.note = f"stopped after {self.limit} steps; step(…, limit=…) goes further"
                return False
            self.begin(op, taken.results)
        elif op.name == "print":
            self.add(op, printed=text(op.attrs[PARTS], taken.operands, [v.type for v in op.operands]))
        elif op.name in KINDS or op.name == "atomic":
            self.add(op, access=_access(op, taken))
        return True

    def begin(self, op: Op, values: Sequence[object]) -> None:
        """Append the step of the statement that a `mark` operation begins, with the variables of its call stack."""
        marks = [m for m in op.attrs[FRAMES] if isinstance(m, Mark)]
        stack = tuple(
            Frame(m.function, m.place.shown_line, {n: _value(p, values) for n, p in m.names.items()}) for m in marks
        )
        location = marks[-1].place
        source = "" if op.attrs[END] else location.source.line(location.line)
        self.steps.append(Step(len(self.steps), location.shown_line, source, stack))
        self.spans.append((location.source, location.line, location.end_line))

    def add(self, op: Op, *, access: Access | None = None, printed: str = "") -> None:
        """Add an access to memory, or printed text, to the step whose statement covers the operation's location."""
        k = self.owner(op.location)
        if k is not None:
            old = self.steps[k]
            accesses = (*old.accesses, access) if access is not None else old.accesses
            self.steps[k] = replace(old, accesses=accesses, printed=old.printed + printed)

    def owner(self, location: Location) -> int | None:
        """Return the number of the last step whose statement covers a location; else of the last step.

        None if there is no step.
        """
        for k in range(len(self.steps) - 1, -1, -1):
            source, first, last = self.spans[k]
            if source is location.source and first <= location.line <= max(first, last):
                return k
        return len(self.steps) - 1 if self.steps else None

    def fault(self, fault: KernelFault) -> None:
        """Mark the last step as the one that faulted."""
        if self.steps:
            self.steps[-1] = replace(self.steps[-1], fault=fault.message)


def _access(op: Op, taken: interpret.Step) -> Access:
    """Return the access of an interpreted load, store or atomic: kind, array, index, and value read or written."""
    target = op.operands[0]
    index = tuple(int(i) for i in taken.operands[1 : 1 + array_of(target).ndim])
    value = taken.results[0] if op.name == "load" else taken.operands[-1]
    return Access(KINDS.get(op.name) or op.attrs[KIND], target.name, index, _plain(value))


def _value(source: object, values: Sequence[object]) -> object:
    """Return a variable's value at a mark: `source` is a constant, a position in `values`, or a list of these."""
    if isinstance(source, Shown):
        return source.value
    if is_list(source):
        return tuple(_value(p, values) for p in source)
    assert isinstance(source, int)
    return _plain(values[source])


def _plain(value: object) -> object:
    """Return a NumPy number as Python's with the digits that its type needs, a vector as a tuple.

    An array of more than `SMALL` elements becomes text; other values are returned unchanged.
    """
    if is_numpy(value) and not is_numpy_array(value):
        number = {"f": float, "c": complex}.get(value.dtype.kind)
        return value.item() if number is None else number(str(value))
    if is_numpy_array(value):
        if value.size > SMALL:
            return f"array of shape {value.shape}"
        return tuple(_plain(v) for v in value)
    return value


Number = float | int | bool | tuple[float, ...]


class Item(msgspec.Struct, frozen=True):
    """A value in each lane of a warp: of a name of the kernel, of an element of an array, or of a cotangent.

    Attributes:
        name: `s`, or its cotangent `adj_s`; of elements `x[]`, or `x.grad[]`.
        values: by lane; None for an inactive one.
        indices: of the element, by lane; None for an inactive lane or a plain name.
        floating: whether a derivative can belong to it.
    """

    name: str
    values: tuple[Number | None, ...]
    indices: tuple[tuple[int, ...] | None, ...] = ()
    floating: bool = True

    def label(self, lane: int) -> str:
        """Return its name for one lane, with the element's index if it has one: `x[3]`."""
        index = self.indices[lane]
        subscript = f"[{', '.join(map(str, index))}]" if index else ""
        return f"{self.name.removesuffix('[]')}{subscript}"

    def text(self, lane: int) -> str:
        """Return its value for one lane; empty for an inactive one."""
        value = self.values[lane]
        return "" if value is None else _shown(value)


def _shown(value: Number) -> str:
    """Return a value as text: floats with six digits, a vector in parentheses."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Moment(msgspec.Struct):
    """An item that is still being collected: values and indices by lane.

    Attributes:
        name, floating: as of `Item`.
        values: by lane.
        indices: of elements, by lane.
        store: whether the values are written to an array.
    """

    name: str
    values: dict[int, Any]
    indices: dict[int, tuple[int, ...]]
    floating: bool = True
    store: bool = False

    def item(self, lanes: int) -> Item:
        """Return the moment's values and indices as an item with one entry for each of `lanes` lanes."""
        values = tuple(_python_value(self.values.get(k)) for k in range(lanes))
        return Item(self.name, values, tuple(self.indices.get(k) for k in range(lanes)), self.floating)


SourceLine = tuple[int, str]
"""A line's number and text."""
Noted = tuple[SourceLine, object, Moment]
"""Line, event (a repeated one begins a new step), and the values."""
SweepStep = tuple[SourceLine, dict[str, Moment]]


def _grouped(noted: list[Noted]) -> Iterator[tuple[SourceLine, list[Moment]]]:
    """Group a thread's moments into steps: yield each line with its moments.

    A step ends where the thread goes to another line, or where an event happens again.
    """
    held: list[Moment] = []
    seen: set[object] = set()
    last: SourceLine | None = None
    for line, what, moment in noted:
        if last is not None and (line != last or what in seen):
            yield last, held
            held, seen = [], set()
        held.append(moment)
        seen.add(what)
        last = line
    if last is not None:
        yield last, held


def merged(lanes: list[list[Noted]], first: Callable[[Iterable[SourceLine]], SourceLine]) -> list[SweepStep]:
    """Merge what each lane noted into the steps of a warp: lanes at the line that `first` chooses advance together."""
    grouped = [list(_grouped(noted)) for noted in lanes]
    at = [0] * len(lanes)
    steps: list[SweepStep] = []
    while waiting := {k: grouped[k][at[k]][0] for k in range(len(lanes)) if at[k] < len(grouped[k])}:
        line = first(waiting.values())
        items: dict[str, Moment] = {}
        for lane in (k for k, p in waiting.items() if p == line):
            for number, moment in enumerate(grouped[lane][at[lane]][1]):
                own = items.setdefault(
                    f"{moment.name} {number}", Moment(moment.name, {}, {}, moment.floating, moment.store)
                )
                own.values[lane] = moment.values[0]
                if moment.indices:
                    own.indices[lane] = moment.indices[0]
            at[lane] += 1
        steps.append((line, items))
    return steps


def rows_of(forward: list[SweepStep], backward: list[SweepStep]) -> Iterator[int]:
    """Yield for each item of the reverse sweep, in order, the number of the forward step that it belongs to.

    In each lane a name is assigned as often as a cotangent comes back for it, in the reverse order; if that does not
    hold in all (a constant has no cotangent), then at one line. If neither holds, or lanes disagree, it is the last
    step at the line.
    """
    steps, events = _by_lane(forward), _by_lane(backward)
    lines = {line: row for row, (line, _) in enumerate(forward)}
    for number, (line, items) in enumerate(backward):
        for m in items.values():
            name = m.name.removeprefix("adj_")
            names = [n for n in (name.replace(".grad[]", "[]"), name.removesuffix(".grad[]")) if (n, None) in steps]
            rows = {_row(steps, events, (names or [name])[0], m.name, line, lane, number) for lane in m.values}
            agreed = len(rows) == 1 and None not in rows
            yield (rows.pop() or 0) if agreed else lines.get(line, max(0, len(forward) - 1 - number))


_Rows = dict[tuple[Any, ...], list[int]]


def _row(steps: _Rows, events: _Rows, name: str, back: str, line: SourceLine, lane: int, number: int) -> int | None:
    """Return the forward step for the cotangent `back` of step `number` in one lane; None if that is ambiguous."""
    for where in ((), (line,)):
        assigned, came = steps.get((name, lane, *where), []), events.get((back, lane, *where), [])
        if assigned and len(assigned) == len(came):
            return assigned[-1 - came.index(number)]
    return None


def _by_lane(steps: list[SweepStep]) -> _Rows:
    """Return the steps that have a name in a lane, by (name, lane), and by (name, lane, line).

    The key (name, None) marks a name that occurs at all.
    """
    rows: _Rows = {}
    for row, (line, items) in enumerate(steps):
        for name, lane in dict.fromkeys((m.name, lane) for m in items.values() for lane in m.values):
            rows[name, None] = []
            rows.setdefault((name, lane), []).append(row)
            rows.setdefault((name, lane, line), []).append(row)
    return rows


def _python_value(value: Any) -> Any:
    """Return a NumPy scalar as a Python number and an array as a tuple of its first 16 elements; None stays None."""
    if is_numpy_array(value):
        return tuple(float(v) for v in value.ravel()[:16])
    return value.item() if hasattr(value, "item") else value
