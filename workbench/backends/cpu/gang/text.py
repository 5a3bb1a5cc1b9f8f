"""LLVM IR text of gangs: that of one element rewritten for several side by side, and values that lie on the stack.

**Widened.** An elementwise instruction means the same of a vector as of each of its lanes, so the text that the scalar
handlers write serves both: types become vector types, and constants become constants in every lane. Calls are of
intrinsics on vectors, of our own wide maths functions, of functions of this module that are widened as well, or lane by
lane.

**On the stack** lie values that are used far behind where they were computed. An adjoint computes a thousand values and
then uses them in the reverse order. No target has registers for them, so LLVM would spill them; but to decide which
ones, its register allocator compares what each value meets on its long way, which takes n² steps for n such values.
Here the text spills them: in a long block a value that is not used for an eighth of `DISTANT_OPERATIONS` is stored
where it was computed, and loaded where it is used next. All that is left to allocate is short. The accesses are
volatile, else LLVM would undo them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from workbench.backends.llvm.values import Writer, splat, vector
from workbench.ir.values import Block, Op, Value, walk
from workbench.limits import DISTANT_OPERATIONS
from workbench.types import Kind, Scalar, Vector, element

_WORDS = re.compile(r"([\s(,)])")
"""Separators of the words of an instruction. (A pattern of the words themselves takes 500 calls to compile.)"""
# Plain texts: `re` compiles them where they are first needed, which is not in most processes.
_CALL = r"call (?P<flags>[a-z ]*?)(?P<kind>float|double|half|i\d+) @(?P<name>[\w.$]+)\((?P<args>[^)]*)\)"
_VARIANT = r"N(\d+)v+_[\w.]+\(([\w.]+)\)"


def widened(text: str, lanes: int) -> str:
    """Return LLVM text on scalars as text on vectors; it assumes that registers in it hold vectors."""
    kind, words = "", _WORDS.split(text)
    for k in range(0, len(words), 2):  # every other one is what stands between two
        word, before, behind = words[k], words[k - 1 : k], words[k + 1 : k + 2]
        if word in ("float", "double", "half") or (word[:1] == "i" and word[1:].isdigit()):
            kind = word
            words[k] = vector(kind, lanes)
        elif word[:1] != "%" and before in ([" "], ["("]) and behind != ["("] and is_constant(word):
            words[k] = splat(kind, word)
    return "".join(words)


def is_constant(word: str) -> bool:
    """Return whether a word of LLVM's text is a number or a bool."""
    number = word.removeprefix("-")
    digits = number.translate({ord(sign): "0" for sign in ".+-_"}) if number[:1].isdigit() else ""
    return word in ("true", "false") or digits.isalnum()


def variants(attribute: str) -> dict[int, str]:
    """Return the symbols of the wide functions in a `vector-function-abi-variant` attribute, by number of lanes."""
    return {int(count): symbol for count, symbol in re.findall(_VARIANT, attribute)}


class WideWriter(Writer):
    """A writer of LLVM IR that turns instructions on scalars into ones on vectors while `lanes` is not 0.

    Attributes:
        wide: the symbols of scalar maths functions' wide forms, by scalar symbol and number of lanes.
        apart: intrinsics, without their types, that the target only has for scalars.
    """

    def __init__(self) -> None:
        super().__init__()
        self.wide: dict[str, dict[int, str]] = {}
        self.apart: frozenset[str] = frozenset()
        self._pending: dict[tuple[str, int], None] = {}

    def emit_wide(self, instruction: str, hint: str) -> str:
        """Write an instruction on scalars as one on vectors, or as several; return the register of the result."""
        call = re.match(_CALL, instruction) if instruction.startswith("call ") else None
        if call:
            return self._call(call, hint)
        lanes, self.lanes = self.lanes, 0
        register = self.emit(widened(instruction, lanes), hint)
        self.lanes = lanes
        return register

    def settle(self) -> None:
        """Define the wide forms of this module's functions that were called since the last time.

        Their scalar text has to be declared by now.
        """
        while self._pending:
            name, lanes = self._pending.popitem()[0]
            text = self.declarations[name]
            for callee in set(re.finditer(_CALL, text)):
                self._callee(callee["name"], lanes)
            rows = [widened(self._renamed(row, lanes), lanes) for row in text.split("\n")]
            self.declarations[_name(name, lanes)] = "\n".join(rows)

    def _renamed(self, row: str, lanes: int) -> str:
        """Return a line in which the functions have the names of their wide forms."""
        return re.sub(r"@([\w.$]+)\(", lambda m: f"@{_name(m[1], lanes)}(", row)

    def _callee(self, name: str, lanes: int) -> None:
        """Declare the wide form of an intrinsic, or note that of a function of this module for `settle`."""
        wide = _name(name, lanes)
        if wide in self.declarations:
            return
        if name.startswith("llvm."):
            self.declarations[wide] = widened(self._renamed(self.declarations[name], lanes), lanes)
        else:
            self.declarations[wide] = ""  # so that it is asked for once
            self._pending[name, lanes] = None

    def _call(self, call: re.Match[str], hint: str) -> str:
        """Emit a call's wide form; return its register. Functions without one are called lane by lane."""
        lanes, kind, name = self.lanes, call["kind"], call["name"]
        args = [tuple(arg.strip().split(" ", 1)) for arg in call["args"].split(",")]
        if name in self.wide:
            return self._parts(call, args, hint)
        self.lanes = 0
        try:
            here = name.startswith("wb.") and "noinline" not in self.declarations.get(name, "")
            if here or (name.startswith("llvm.") and name.rpartition(".")[0] not in self.apart):
                if name.startswith("wb."):
                    self._callee(name, lanes)
                else:
                    self._intrinsic(name, kind, [k for k, _ in args], lanes)
                passed = ", ".join(widened(f"{k} {a}", lanes) for k, a in args)
                return self.emit(f"call {call['flags']}{vector(kind, lanes)} @{_name(name, lanes)}({passed})", hint)
            return self._lane_by_lane(call, args, lanes, hint)
        finally:
            self.lanes = lanes

    def _intrinsic(self, name: str, kind: str, kinds: Sequence[str], lanes: int) -> None:
        """Declare the wide form of an LLVM intrinsic, with results of type `kind` and arguments of types `kinds`."""
        taken = ", ".join(vector(k, lanes) for k in kinds)
        self.declare(_name(name, lanes), f"declare {vector(kind, lanes)} @{_name(name, lanes)}({taken})")

    def _parts(self, call: re.Match[str], args: Sequence[tuple[str, ...]], hint: str) -> str:
        """Emit calls of a maths function's wide form, on as many lanes as it takes at a time; return their result."""
        lanes, kind = self.lanes, call["kind"]
        widths = self.wide[call["name"]]
        count = max((n for n in widths if n <= lanes), default=min(widths))
        vector_type = vector(kind, lanes)
        self.lanes = 0
        results = []
        for first in range(0, lanes, count):
            chosen = ", ".join(f"i32 {(first + k) % lanes}" for k in range(count))
            passed = []
            for _, arg in args:
                arg = arg if arg.startswith("%") else splat(kind, arg)
                part = self.emit(f"shufflevector {vector_type} {arg}, {vector_type} poison, <{count} x i32> <{chosen}>")
                passed.append(f"{vector(kind, count)} {part}")
            results.append(self.emit(f"call {vector(kind, count)} @{widths[count]}({', '.join(passed)})", hint))
        result = self.joined(results, kind, count)
        if count > lanes:
            chosen = ", ".join(f"i32 {k}" for k in range(lanes))
            wide = vector(kind, count)
            result = self.emit(f"shufflevector {wide} {result}, {wide} poison, <{lanes} x i32> <{chosen}>", hint)
        self.lanes = lanes
        return result

    def joined(self, parts: Sequence[str], kind: str, count: int) -> str:
        """Join vectors of `count` elements, a power of two of them, into one; `lanes` has to be 0."""
        while len(parts) > 1:
            wide = vector(kind, count)
            order = ", ".join(f"i32 {k}" for k in range(2 * count))
            parts = [
                self.emit(f"shufflevector {wide} {a}, {wide} {b}, <{2 * count} x i32> <{order}>")
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            count *= 2
        return parts[0]

    def _lane_by_lane(self, call: re.Match[str], args: Sequence[tuple[str, ...]], lanes: int, hint: str) -> str:
        """Emit a scalar call for each lane; return a vector of the results."""
        kind, result = call["kind"], "poison"
        for k in range(lanes):
            passed = []
            for one, arg in args:
                if arg.startswith("%"):
                    arg = self.emit(f"extractelement {vector(one, lanes)} {arg}, i64 {k}")
                passed.append(f"{one} {arg}")
            value = self.emit(f"call {call['flags']}{kind} @{call['name']}({', '.join(passed)})")
            result = self.emit(f"insertelement {vector(kind, lanes)} {result}, {kind} {value}, i64 {k}", hint)
        return result


def _name(name: str, lanes: int) -> str:
    """Return the name of the wide form of an intrinsic (`llvm.sqrt.f32`), or of a function of this module."""
    if not name.startswith("llvm."):
        return f"{name}.x{lanes}"
    base, _, suffix = name.rpartition(".")
    return f"{base}.v{lanes}{suffix}"


class Distant(msgspec.Struct, frozen=True):
    """The stores and loads that a block needs for values that are used far behind where they are computed.

    Attributes:
        stored: values to store once they are computed.
        loaded: by operation, those of them to load before it.
        over: by operation, those of them that no later operation loads.
    """

    stored: set[Value] = set()
    loaded: dict[Op, list[Value]] = {}
    over: dict[Op, list[Value]] = {}


def distant(block: Block) -> Distant:
    """Return which of a long block's own values to store, and where to load them; for a shorter one, none."""
    result = Distant()
    if len(block.ops) <= DISTANT_OPERATIONS:
        return result
    used_at: dict[Value, int] = {}
    last_load: dict[Value, Op] = {}
    for at, op in enumerate(block.ops):
        inner = [v for b in op.blocks for o in walk(b) for v in o.operands]
        for value in dict.fromkeys((*op.operands, *inner)):
            if value in used_at:
                if at - used_at[value] > DISTANT_OPERATIONS // 8 and _is_number(value):
                    result.stored.add(value)
                    result.loaded.setdefault(op, []).append(value)
                    last_load[value] = op
                used_at[value] = at
        used_at.update(dict.fromkeys(op.results, at))
    for value, op in last_load.items():
        result.over.setdefault(op, []).append(value)
    return result


def _is_number(value: Value) -> bool:
    """Return whether a value is a scalar or vector of numbers, not of bools."""
    return isinstance(value.type, Scalar | Vector) and element(value.type).kind is not Kind.BOOL


Registers: TypeAlias = tuple[dict[Value, tuple[str, ...]], str, tuple[object, ...]]
"""A table that has a value's registers, their LLVM type, and a key for their stack memory."""
Held: TypeAlias = Callable[[Value], Iterable[Registers]]


class Stack:
    """The stack memory of values that are used far away; it is used again for others after a value's last load.

    Attributes:
        writer: where lines go.
    """

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._free: dict[str, list[str]] = defaultdict(list)
        self._of: dict[tuple[object, ...], str] = {}
        self._count = 0

    def load_operands(self, distant: Distant, op: Op, held: Held) -> None:
        """Emit loads of those operands of an operation that were stored."""
        for value in distant.loaded.get(op, ()):
            over = value in distant.over.get(op, ())
            for operands, kind, key in held(value):
                registers = enumerate(operands[value])
                operands[value] = tuple(
                    [self.load((*key, k), kind, over) if x.startswith("%") else x for k, x in registers]
                )

    def store_results(self, distant: Distant, op: Op, held: Held) -> None:
        """Emit stores of those results of an operation that are used far behind it."""
        for value in filter(distant.stored.__contains__, op.results):
            for operands, kind, key in held(value):
                for k, register in enumerate(operands[value]):
                    if register.startswith("%"):
                        self.store((*key, k), kind, register)

    def store(self, key: tuple[object, ...], kind: str, register: str) -> None:
        """Emit the store of a register.

        Args:
            key: identifies the stored value for `load`.
            kind: its LLVM type.
            register: the register.
        """
        w, free = self.writer, self._free[kind]
        if not free:
            self._count += 1
            free.append(w.once(("distant", self._count), f"alloca {kind}", "distant"))
        self._of[key] = free.pop()
        w.do(f"store volatile {kind} {register}, ptr {self._of[key]}")

    def load(self, key: tuple[object, ...], kind: str, over: bool) -> str:
        """Emit a load of what was stored under `key`; return its register.

        Args:
            key: identifies the stored value.
            kind: its LLVM type.
            over: it is the last load, so the memory is free afterwards.
        """
        address = self._of.pop(key) if over else self._of[key]
        if over:
            self._free[kind].append(address)
        return self.writer.emit(f"load volatile {kind}, ptr {address}")
