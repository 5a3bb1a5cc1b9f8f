"""Stepping: one thread of a kernel, statement by statement, as plain data.

The kernel is lowered once more with a mark before every statement, and interpreted on copies of the arrays: so all
names are there, also those of numbers without a type and of funcs that were called, and no argument is changed.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from typing import overload

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
from workbench.frontend import Frame as Mark
from workbench.frontend import Shown, lower
from workbench.host.narrow import is_list, is_numpy, is_numpy_array
from workbench.ir.attributes import END, FRAMES, KIND, PARTS
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
