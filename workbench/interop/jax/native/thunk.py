"""A kernel's thunk in LLVM IR: it runs small calls without batches itself and leaves all others to the generic handler.

Everything in the description is a constant here, so the checks are a few comparisons. Whatever is not the plain case
(batches, errors, large launches, open recorders, XLA's queries) goes to the generic handler, which defines the
meaning.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from workbench.backends.cpu.systems import floats_text
from workbench.backends.layout import Slot
from workbench.interop.jax.native.abi import CODES, STAGE_EXECUTE, code, types_text
from workbench.interop.jax.native.descriptor import (
    DESCRIPTION,
    OUTDATED,
    REFUSE,
    STOPPED,
    THUNK,
    Description,
    Kind,
    Wire,
    address_of,
    handler_address,
)
from workbench.runtime.native.launcher import install_launcher
from workbench.types import number_type


def thunk_source(description: Description) -> str:
    """Return the LLVM IR of a description's thunk, with names in capitals for addresses of a process (`_LINKED`)."""
    wires = description.wires
    # Faults, fills and accumulators need a loop or a record; only the generic handler has them.
    plain = not description.checked and all(w.kind in (Kind.ARRAY, Kind.SCALAR) and w.fill is None for w in wires)
    body = _Body(description).lines() if plain and wires else ["  br label %generic"]
    return "\n".join(
        [
            types_text(),
            f"@{OUTDATED} = global ptr null",
            f"define ptr @{THUNK}(ptr %frame) {{",
            outdated_first("REFUSE", "asked", "generic"),
            "asked:",
            *body,
            "generic:",
            f"  %answer = tail call ptr HANDLER(ptr %frame, ptr @{DESCRIPTION})",
            "  ret ptr %answer",
            "}",
        ]
    )


def outdated_first(refuse: str, current: str, other: str) -> str:
    """Return the LLVM IR that begins a thunk.

    It jumps to `current` if the kernel is not outdated. Otherwise it returns the error that `refuse` makes, or jumps to
    `other` where XLA asks for something else than a call.
    """
    return f"""
  %outdated = load atomic ptr, ptr @{OUTDATED} acquire, align 8
  %is.current = icmp eq ptr %outdated, null
  br i1 %is.current, label %{current}, label %is.outdated
is.outdated:
  %refusal = call ptr {refuse}(ptr %frame, ptr %outdated)
  %is.other = icmp eq ptr %refusal, null
  br i1 %is.other, label %{other}, label %refused
refused:
  ret ptr %refusal"""


_LINKED = {
    "ENTRY": "declare i32 @{}(ptr, i64, i64, ptr, ptr, ptr)",
    "HANDLER": "declare ptr @{}(ptr, ptr)",
    "LISTENING": "@{} = external global i32",
    "STOP": "@{} = external global ptr",
    "STOPPED": "declare ptr @{}(ptr, ptr)",
    "REFUSE": "declare ptr @{}(ptr, ptr)",
}
"""Addresses that a text names, and how each is declared as a symbol."""


def thunk_text(source: str) -> str:
    """Return the LLVM IR module of a thunk's source: addresses are symbols, so that one object serves all processes."""
    for name, declared in _LINKED.items():
        source = re.sub(rf"(?<= ){name}\b", f"@{_symbol(name)}", source) + "\n" + declared.format(_symbol(name))
    return source + floats_text(platform.machine())


def thunk_imports(entry: int) -> dict[str, int]:
    """Map the symbols of `thunk_text` to addresses in this process, where the kernel's entry is at `entry`."""
    addresses = {
        "ENTRY": entry,
        "HANDLER": handler_address(),
        "LISTENING": address_of("wb_ffi_on"),
        "STOP": install_launcher().stopping.jax,
        "STOPPED": address_of(STOPPED),
        "REFUSE": address_of(REFUSE),
    }
    return {_symbol(name): address for name, address in addresses.items()}


def _symbol(name: str) -> str:
    """Return the linker's symbol of an address that a thunk's source names in capitals."""
    return f"workbench_thunk_{name.lower()}"


@dataclass
class _Body:
    """Emits the LLVM IR of a thunk's plain case; each comparison that fails jumps to the generic handler."""

    description: Description
    rows: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def lines(self) -> list[str]:
        """Return the lines of the plain case: the checks, the parameters, the call of the kernel, its status."""
        wires = self.description.wires
        # Monotonic is enough: a recorder opened just now may miss a call that runs beside it, and orders no memory.
        self._must("i32", self._new("load atomic i32, ptr LISTENING monotonic, align 4"), 0)
        # Volatile: another thread sets the word, and LLVM must not keep an old value.
        self._row("%stop = load volatile ptr, ptr STOP")
        self._must("i32", self._new("load volatile i32, ptr %stop"), 0)
        # An extension in the frame is XLA's question for metadata; no call has one.
        self._must("ptr", self._at("ptr", "%Frame", "%frame", 1), "null")
        self._must("i32", self._at("i32", "%Frame", "%frame", 4), STAGE_EXECUTE)
        self._must("i64", self._at("i64", "%Frame", "%frame", 5, 2), len(self.description.operands()))
        self._must("i64", self._at("i64", "%Frame", "%frame", 6, 2), len(self.description.results()))
        values = sum(w.value >= 0 for w in wires)
        views = sum(1 + 2 * w.view for w in wires if w.view)
        # XLA hands attributes over in the order of their names: dims, values, views. `within`, if any, makes one more
        # and fails here.
        wanted = [0, *([values] if values else []), *([views] if views else [])]
        self._must("i64", self._at("i64", "%Frame", "%frame", 7, 2), len(wanted))
        arrays = [self._attribute(n, size) for n, size in enumerate(wanted)]
        # On the stack: thunks run on many threads of XLA's at once.
        self._row(f"%buffer = alloca i8, i64 {self.description.layout.size}, align 16")
        # Three and four dimensions are rare, and go the generic way.
        points = self._dims(arrays[0][0], arrays[0][1])
        self._fits(points)
        self._parameters(arrays[1][1] if values else "", arrays[-1][1] if views else "")
        # XLA's threads take subnormal numbers for 0.
        self._row("%mode = call i64 @plain_floats()")
        self._row(f"%status = call i32 ENTRY(ptr %buffer, i64 0, i64 {points}, ptr null, ptr %stop, ptr null)")
        self._row("call void @floats_as(i64 %mode)")
        self._row("%fine = icmp eq i32 %status, 0")
        self._row("br i1 %fine, label %over, label %stopped")
        self._row("over:")
        self._row("ret ptr null")
        self._row("stopped:")
        self._row(f"%error = tail call ptr STOPPED(ptr %frame, ptr @{DESCRIPTION})")
        self._row("ret ptr %error")
        return self.rows

    def _row(self, text: str) -> None:
        """Append a line; a label, which ends in a colon, is not indented."""
        self.rows.append(text if text.endswith(":") else f"  {text}")

    def _new(self, text: str) -> str:
        """Append an instruction, and return the new name of its value."""
        name = f"%v{next(self._numbers)}"
        self._row(f"{name} = {text}")
        return name

    def _load(self, type: str, address: str) -> str:
        """Emit a load, and return the value's name."""
        return self._new(f"load {type}, ptr {address}")

    def _at(self, type: str, struct: str, base: str, *path: int) -> str:
        """Emit a load of the field at `path` of the struct at address `base`, and return the value's name."""
        steps = "".join(f", i32 {n}" for n in path)
        return self._load(type, self._new(f"getelementptr {struct}, ptr {base}, i64 0{steps}"))

    def _word(self, base: str, index: int) -> str:
        """Emit a load of the int64 with this index from address `base`, and return the value's name."""
        return self._load("i64", self._new(f"getelementptr i64, ptr {base}, i64 {index}"))

    def _put(self, type: str, value: str, offset: int) -> None:
        """Emit a store of a value into the kernel's parameters, at a byte offset."""
        self._row(f"store {type} {value}, ptr {self._new(f'getelementptr i8, ptr %buffer, i64 {offset}')}")

    def _must(self, type: str, value: str, wanted: object, comparison: str = "eq") -> None:
        """Emit a jump to the generic handler unless `comparison` ("sge", …) holds between `value` and `wanted`."""
        label = f"l{next(self._numbers)}"
        self._row(f"br i1 {self._new(f'icmp {comparison} {type} {value}, {wanted}')}, label %{label}, label %generic")
        self._row(f"{label}:")

    def _attribute(self, number: int, size: int) -> tuple[str, str]:
        """Emit the reading of an attribute of `size` int64 (0: any number); return its length and address."""
        kinds, items = (self._at("ptr", "%Frame", "%frame", 7, n) for n in (3, 5))
        self._must("i32", self._load("i32", self._new(f"getelementptr i32, ptr {kinds}, i64 {number}")), 1)
        array = self._load("ptr", self._new(f"getelementptr ptr, ptr {items}, i64 {number}"))
        self._must("i32", self._at("i32", "%Array", array, 0), CODES["int64"])
        field = self._at("i64", "%Array", array, 1)
        if size:
            self._must("i64", field, size)
        return field, self._at("ptr", "%Array", array, 2)

    def _dims(self, ndim: str, data: str) -> str:
        """Emit the writing of the launch's dimensions, one or two of them; return the value of its number of points."""
        for n in range(1, 4):
            self._put("i64", "1", 8 * n)
        first = self._word(data, 0)
        # A negative size stands for a dimension of an array (symbolic shapes): the generic handler looks it up.
        self._must("i64", first, 0, "sge")
        self._put("i64", first, 0)
        one, two, ready = (f"d{next(self._numbers)}" for _ in range(3))
        self._row(f"br i1 {self._new(f'icmp eq i64 {ndim}, 1')}, label %{one}, label %{two}")
        self._row(f"{two}:")
        self._must("i64", ndim, 2)
        second = self._word(data, 1)
        self._must("i64", second, 0, "sge")
        self._put("i64", second, 8)
        both = self._new(f"mul i64 {first}, {second}")
        # A phi names the blocks that it is reached from, and the last label of this side is whatever `_must` wrote.
        behind = self.rows[-1 - next(n for n, r in enumerate(reversed(self.rows)) if r.endswith(":"))][:-1]
        self._row(f"br label %{ready}")
        self._row(f"{one}:")
        self._row(f"br label %{ready}")
        self._row(f"{ready}:")
        return self._new(f"phi i64 [ {both}, %{behind} ], [ {first}, %{one} ]")

    def _fits(self, points: str) -> None:
        """Emit the check that there are points, and few enough for one thread without a look at whether to stop."""
        self._must("i64", points, 0, "sgt")
        # Beyond the grain threads share the launch; beyond a strip it must look whether to stop.
        self._must("i64", points, min(self.description.grain, self.description.strip), "sle")

    def _parameters(self, values: str, views: str) -> None:
        """Emit the writing of all parameters; `values` and `views`: addresses of attributes, empty for none."""
        offset = 0
        for wire, slot in zip(self.description.wires, self.description.layout.slots, strict=True):
            if wire.value >= 0:
                source = self._new(f"getelementptr i64, ptr {values}, i64 {wire.value}")
                self._bytes(slot.offset, source, wire.type.size)
                continue
            self._buffer(wire, slot, views, offset)
            offset += 1 + 2 * wire.view if wire.view else 0

    def _bytes(self, offset: int, source: str, size: int) -> None:
        """Emit a copy of `size` bytes from address `source` into the kernel's parameters, at a byte offset."""
        target = self._new(f"getelementptr i8, ptr %buffer, i64 {offset}")
        # As bytes: nothing is known of the alignment of XLA's buffers of one element.
        value = self._new(f"load [{size} x i8], ptr {source}, align 1")
        self._row(f"store [{size} x i8] {value}, ptr {target}, align 1")

    def _buffer(self, wire: Wire, slot: Slot, views: str, offset: int) -> None:
        """Emit the reading of one operand, result, or both in one memory."""
        checked = [self._checked(wire, field, n) for field, n in ((5, wire.operand), (6, wire.result)) if n >= 0]
        data, dims = checked[0]
        if len(checked) == 2:  # sizes may differ only where the call is wrong, and then the generic handler says so
            self._must("ptr", data, checked[1][0])
            for axis in range(wire.rank):
                self._must("i64", self._word(dims, axis), self._word(checked[1][1], axis))
        if wire.kind is Kind.SCALAR:
            self._bytes(slot.offset, data, wire.type.size)
        elif wire.view:
            start = self._word(views, offset)
            self._put("ptr", self._new(f"getelementptr i8, ptr {data}, i64 {start}"), slot.offset)
            for n in range(2 * wire.view):
                self._put("i64", self._word(views, offset + 1 + n), slot.offset + 8 + 8 * n)
        else:
            self._put("ptr", data, slot.offset)
            self._shape([self._word(dims, axis) for axis in range(wire.rank)], wire.type.size, slot.offset + 8)

    def _shape(self, sizes: Sequence[str], size: int, offset: int) -> None:
        """Emit the writing of a dense array's sizes, then its strides in bytes, into the parameters.

        Args:
            sizes: the LLVM values of the sizes, as i64.
            size: bytes of an element.
            offset: where they begin in the parameters; each takes eight bytes.
        """
        # JAX's arrays are dense, so strides follow from the sizes.
        stride = str(size)
        for axis in reversed(range(len(sizes))):
            self._put("i64", sizes[axis], offset + 8 * axis)
            self._put("i64", stride, offset + 8 * (len(sizes) + axis))
            if axis:
                stride = self._new(f"mul i64 {stride}, {sizes[axis]}")

    def _checked(self, wire: Wire, field: int, number: int) -> tuple[str, str]:
        """Emit the checks of a buffer's type and rank; return the addresses of its data and of its dimensions.

        `field` is that of %Frame which holds the buffer: 5 for operands, 6 for results.
        """
        items = self._at("ptr", "%Frame", "%frame", field, 4)
        buffer = self._load("ptr", self._new(f"getelementptr ptr, ptr {items}, i64 {number}"))
        self._must("i32", self._at("i32", "%Buffer", buffer, 2), code(number_type(wire.type)))
        self._must("i64", self._at("i64", "%Buffer", buffer, 4), wire.rank + len(wire.inner))
        dims = self._at("ptr", "%Buffer", buffer, 5)
        if wire.inner:
            self._must("i64", self._word(dims, wire.rank), wire.inner[0])
        return self._at("ptr", "%Buffer", buffer, 3), dims
