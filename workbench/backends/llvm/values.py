"""LLVM IR text in the making: a writer of one function's lines, and typed values whose operators emit instructions.

Text and not llvmlite's builder objects: a kernel is written in tenths of a millisecond, and what is written is what a
reader of `%inspect` sees. Values are scalars, or vectors with an element per lane. An instruction on a scalar and a
vector takes the scalar in every lane, and Python's numbers are constants of the other operand's type. So one formula
serves the gangs of the CPU, the warps of the emulated GPU, and single numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cache


class Writer:
    """The LLVM IR of one function while it is written.

    Attributes:
        head: the lines that run once, before the loops; `once` adds to them.
        lines: all others.
        declarations: text outside of the function, by name.
        label: the basic block that is open.
        lanes: the number of lanes for which a subclass rewrites instructions; 0: they are written as they are.
    """

    lanes = 0

    def __init__(self) -> None:
        """Begin without lines, with the block `entry` open."""
        self.head: list[str] = []
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self.label = "entry"
        self._known: dict[tuple[object, ...], str] = {}
        self._count = 0

    def name(self, hint: str = "") -> str:
        """Return a new register's name, different from all before; it contains `hint` if that is ASCII."""
        self._count += 1
        hint = hint and hint.replace("[]", "")
        return f"%{hint}.{self._count}" if hint and hint.isascii() else f"%v{self._count}"

    def block_name(self, hint: str) -> str:
        """Return a new basic block's label, different from all before."""
        self._count += 1
        return f"{hint}.{self._count}"

    def emit(self, instruction: str, hint: str = "") -> str:
        """Write an instruction; return the register of its result, whose name contains `hint` as `name` has it."""
        if self.lanes:
            return self.emit_wide(instruction, hint)
        if hint:
            register = self.name(hint)
        else:
            self._count += 1
            register = f"%v{self._count}"
        self.lines.append(f"  {register} = {instruction}")
        return register

    def emit_wide(self, instruction: str, hint: str) -> str:
        """Write an instruction for `lanes` lanes; return the register of its result."""
        raise NotImplementedError

    def do(self, instruction: str) -> None:
        """Write an instruction that has no result."""
        self.lines.append(f"  {instruction}")

    def called(self, result: str, name: str, *arguments: str) -> str:
        """Declare a function, unless it is known, and return the text of a call of it.

        Args:
            result: its LLVM type.
            name: of the function.
            arguments: each with its type in front.
        """
        if name not in self.declarations:
            kinds = ", ".join(a[: a.index(">") + 1] if a.startswith("<") else a.split(" ", 1)[0] for a in arguments)
            self.declare(name, f"declare {result} @{name}({kinds})")
        return f"call {result} @{name}({', '.join(arguments)})"

    def call(self, result: str, name: str, *arguments: str) -> str:
        """Write a call, as of `called`; return the register of its result, "" if it is void."""
        text = self.called(result, name, *arguments)
        if result != "void":
            return self.emit(text)
        self.do(text)
        return ""

    def splat(self, kind: str, constant: str, lanes: int) -> str:
        """Return a vector with a constant of type `kind` in every lane, without its type; here it is a constant."""
        return f"splat ({kind} {constant})"

    def once(self, key: tuple[object, ...], instruction: str, hint: str = "") -> str:
        """Write an instruction into the head, unless this was done for `key` before; return its register."""
        if key not in self._known:
            register = self.name(hint)
            self.head.append(f"  {register} = {instruction}")
            self._known[key] = register
        return self._known[key]

    def define(self, key: tuple[object, ...], operand: str) -> None:
        """Let `once` return an operand for `key`."""
        self._known[key] = operand

    def open(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        """End the open block with a jump."""
        self.lines.append(f"  br label %{label}")

    def branch(self, condition: str, then: str, orelse: str, mark: str = "") -> None:
        """End the open block with a conditional branch; `mark` is LLVM metadata to append."""
        self.lines.append(f"  br i1 {condition}, label %{then}, label %{orelse}{mark}")

    def reserve(self) -> int:
        """Leave a line empty, for a phi whose operands are not known yet; return its number for `fill`."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill(self, line: int, register: str, instruction: str) -> None:
        """Write an instruction, with its result's register, into a line that `reserve` left empty."""
        self.lines[line] = f"  {register} = {instruction}"

    def declare(self, name: str, text: str) -> None:
        """Set the text outside of this function that declares or defines `name`."""
        self.declarations[name] = text


Number = int | float
WIDTH = {"half": 16, "float": 32, "double": 64, "ptr": 64}


def bits_of(kind: str) -> int:
    """Return the width in bits of an LLVM scalar type."""
    return WIDTH.get(kind) or int(kind[1:])


@cache
def vector(kind: str, lanes: int) -> str:
    """Return the LLVM type of a vector of `lanes` elements."""
    return f"<{lanes} x {kind}>"


def suffix(kind: str) -> str:
    """Return how an LLVM intrinsic's name spells a type: `f32`, `i64`, `p0`; `v8f32` for a vector of eight."""
    if kind.startswith("<"):
        count, _, element = kind[1:-1].split()
        return f"v{count}{suffix(element)}"
    return {"half": "f16", "float": "f32", "double": "f64", "ptr": "p0"}.get(kind, kind)


def splat(kind: str, constant: str) -> str:
    """Return LLVM text of a vector constant with a constant in every lane, without its type.

    Text that is such a vector already is returned as it is.
    """
    return constant if constant.startswith("splat") else f"splat ({kind} {constant})"


def constant(value: Number, kind: str) -> str:
    """Return a number as an LLVM constant: a float as the bits of an equal double, an integer wrapped to its width."""
    if kind in ("float", "double", "half"):
        rounded = struct.unpack("f", struct.pack("f", value))[0] if kind == "float" else value
        return f"0x{struct.pack('>d', rounded).hex().upper()}"
    bits = bits_of(kind)
    number = int(value) & (1 << bits) - 1
    if kind == "i1":
        return "true" if number else "false"
    return str(number - (1 << bits) if number >> bits - 1 else number)


def numbers(kind: str, lanes: int, step: int = 1, first: int = 0) -> str:
    """Return a vector constant: `first · step`, `(first + 1) · step`, …, one number for each lane."""
    return f"<{', '.join(f'{kind} {(first + k) * step}' for k in range(lanes))}>"


class Value:
    """An LLVM value. Arithmetic on integers wraps; on floats it is IEEE's.

    Attributes:
        w: writes the instructions.
        text: its register or constant, without a type.
        elem: the LLVM type of a lane.
        lanes: how many lanes it has; 0: it is a scalar.
        type: the LLVM type.
    """

    __slots__ = ("elem", "lanes", "text", "type", "w")

    def __init__(self, w: Writer, text: str, elem: str, lanes: int = 0) -> None:
        self.w, self.text, self.elem, self.lanes = w, text, elem, lanes
        self.type = vector(elem, lanes) if lanes else elem

    def __str__(self) -> str:
        """Return the type and the text, as an LLVM instruction writes an operand."""
        return f"{self.type} {self.text}"

    def new(self, instruction: str, elem: str = "", lanes: int = -1) -> Value:
        """Emit an instruction; return its result.

        Args:
            instruction: its text.
            elem: the type of a lane of the result; "" for this value's.
            lanes: of the result; -1 for this value's.
        """
        return Value(self.w, self.w.emit(instruction), elem or self.elem, self.lanes if lanes < 0 else lanes)

    def like(self, number: Number, elem: str = "") -> Value:
        """Return a number as a scalar constant of this value's element type, or of `elem`."""
        return Value(self.w, constant(number, elem or self.elem), elem or self.elem)

    def spread(self, lanes: int) -> Value:
        """Return a scalar as a vector with it in every lane; a vector as it is."""
        if self.lanes or not lanes:
            return self
        if not self.text.startswith("%"):
            return Value(self.w, self.w.splat(self.elem, self.text, lanes), self.elem, lanes)
        wide = vector(self.elem, lanes)
        first = self.w.emit(f"insertelement {wide} poison, {self}, i32 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.new(f"shufflevector {wide} {first}, {wide} poison, {zeros}", self.elem, lanes)

    def alike(self, *others: Value | Number) -> list[Value]:
        """Return this and other values all as vectors if any of them is one; numbers become constants of its type."""
        values = [self, *(o if isinstance(o, Value) else self.like(o) for o in others)]
        lanes = max(v.lanes for v in values)
        return [v.spread(lanes) for v in values]

    def _pair(self, other: Value | Number) -> tuple[Value, Value]:
        """Return this and another value as `alike` does."""
        other = other if isinstance(other, Value) else self.like(other)
        if self.lanes == other.lanes:
            return self, other
        return self.spread(other.lanes), other.spread(self.lanes)

    # Arithmetic.

    def do(self, verb: str, other: Value | Number) -> Value:
        """Emit an instruction on this value and another one of its element type, such as "udiv" or "ashr"."""
        a, b = self._pair(other)
        return a.new(f"{verb} {a}, {b.text}")

    @property
    def _f(self) -> str:
        """The prefix of arithmetic instructions on this type."""
        return "" if self.elem.startswith("i") else "f"

    def __add__(self, other: Value | Number) -> Value:
        return self.do(f"{self._f}add", other)

    def __sub__(self, other: Value | Number) -> Value:
        return self.do(f"{self._f}sub", other)

    def __rsub__(self, other: Number) -> Value:
        return self.like(other) - self

    def __mul__(self, other: Value | Number) -> Value:
        return self.do(f"{self._f}mul", other)

    def __truediv__(self, other: Value | Number) -> Value:
        return self.do("fdiv", other)

    def __rtruediv__(self, other: Number) -> Value:
        return self.like(other) / self

    def __and__(self, other: Value | Number) -> Value:
        return self.do("and", other)

    def __or__(self, other: Value | Number) -> Value:
        return self.do("or", other)

    def __xor__(self, other: Value | Number) -> Value:
        return self.do("xor", other)

    def __lshift__(self, other: Value | Number) -> Value:
        return self.do("shl", other)

    def __rshift__(self, other: Value | Number) -> Value:
        return self.do("lshr", other)

    def __rlshift__(self, other: Number) -> Value:
        return self.like(other) << self

    def __invert__(self) -> Value:
        return self ^ -1

    def __neg__(self) -> Value:
        return self.new(f"fneg {self}") if self._f else 0 - self

    def __abs__(self) -> Value:
        return self.intrinsic("fabs")

    def is_(self, relation: str, other: Value | Number) -> Value:
        """Emit a comparison, by LLVM's name for it: `eq`, `ult`, `slt`, or of floats `olt`, `uno`, …; return an i1."""
        a, b = self._pair(other)
        return a.new(f"{'f' if self._f else 'i'}cmp {relation} {a}, {b.text}", "i1")

    def choose(self, yes: Value | Number, no: Value | Number) -> Value:
        """Emit a selection: `yes` in lanes where this i1 holds, else `no`; one of them is no number."""
        model = yes if isinstance(yes, Value) else no
        assert isinstance(model, Value)
        first, second = model.alike(*(v if isinstance(v, Value) else model.like(v) for v in (yes, no)))[1:]
        if self.lanes and not first.lanes:
            first, second = first.spread(self.lanes), second.spread(self.lanes)
        return first if first.text == second.text else first.new(f"select {self}, {first}, {second}")

    def intrinsic(self, name: str, *others: Value | Number, more: str = "", elem: str = "") -> Value:
        """Emit a call of an overloaded LLVM intrinsic, such as "fma", on this value and others of its type.

        Args:
            name: without `llvm.` and the suffix for the type.
            others: further arguments.
            more: an argument that is not overloaded, with its type, such as "i1 false".
            elem: the type of a lane of the result; "" for this value's.
        """
        values = self.alike(*others)
        return values[0].called(
            f"llvm.{name}.{suffix(values[0].type)}", *map(str, values), *filter(None, [more]), elem=elem
        )

    def called(self, name: str, *arguments: str, elem: str = "", lanes: int = -1) -> Value:
        """Emit a call of a function with these typed arguments; return its result, as of `new`."""
        lanes, elem = self.lanes if lanes < 0 else lanes, elem or self.elem
        result = vector(elem, lanes) if lanes else elem
        return Value(self.w, self.w.call(result, name, *arguments), elem, lanes)

    def reduced(self, operation: str) -> Value:
        """Emit the reduction of a vector to a scalar, by LLVM's name for it: "or", "umax", …"""
        return self.called(f"llvm.vector.reduce.{operation}.{suffix(self.type)}", str(self), lanes=0)

    def first_on(self) -> Value:
        """Emit the number of a mask's lowest lane that is on; the number of lanes if none is."""
        return self.intrinsic("cttz", more="i1 false")

    # Conversions.

    def cast(self, verb: str, elem: str) -> Value:
        """Emit a conversion of each lane to another type, such as "fpext"; a bitcast to its own type is the value."""
        if verb == "bitcast" and elem == self.elem:
            return self
        to = vector(elem, self.lanes) if self.lanes else elem
        return self.new(f"{verb} {self} to {to}", elem)

    def to(self, elem: str, signed: bool = False) -> Value:
        """Return an integer in another width: truncated, or extended by zeros or, if `signed`, its sign."""
        now, then = bits_of(self.elem), bits_of(elem)
        return self if now == then else self.cast("trunc" if then < now else "sext" if signed else "zext", elem)

    @property
    def bits(self) -> Value:
        """The bits of each lane as an integer of its width."""
        return self.cast("bitcast", f"i{bits_of(self.elem)}")

    @property
    def real(self) -> Value:
        """The float of these bits, of 32 or 64."""
        return self.cast("bitcast", "float" if self.elem == "i32" else "double")

    @property
    def mask(self) -> Value:
        """A vector of i1 as an integer with a bit per lane."""
        return self.new(f"bitcast {self} to i{self.lanes}", f"i{self.lanes}", 0)

    @property
    def flags(self) -> Value:
        """An integer with a bit per lane as a vector of i1."""
        lanes = bits_of(self.elem)
        return self.new(f"bitcast {self} to {vector('i1', lanes)}", "i1", lanes)

    @property
    def pointer(self) -> Value:
        """Addresses as pointers."""
        return self.cast("inttoptr", "ptr")

    def shuffled(self, lanes: Iterable[int], other: Value | None = None) -> Value:
        """Emit the lanes of these numbers, which count on into the vector `other`."""
        order = [f"i32 {k}" for k in lanes]
        second = f"{other or f'{self.type} poison'}"
        return self.new(f"shufflevector {self}, {second}, <{len(order)} x i32> <{', '.join(order)}>", "", len(order))

    def lane(self, number: Value | int) -> Value:
        """Emit the element of a lane."""
        return self.new(f"extractelement {self}, {number if isinstance(number, Value) else f'i32 {number}'}", "", 0)

    # Pointers.

    def at(self, offset: Value | int, unit: str = "i8") -> Value:
        """Emit the address `offset` elements of type `unit` behind a pointer."""
        return self.new(f"getelementptr {unit}, {self}, {offset if isinstance(offset, Value) else f'i64 {offset}'}")

    def load(self, elem: str, lanes: int = 0, flags: str = "", align: int = 0, order: str = "") -> Value:
        """Emit a load from a pointer.

        Args:
            elem: LLVM type of a lane.
            lanes: how many; 0: a scalar.
            flags: "volatile" or "atomic".
            align: the alignment in bytes; 0: the type's.
            order: of an atomic load.
        """
        kind, more = vector(elem, lanes) if lanes else elem, f" {order}" if order else ""
        return self.new(
            f"load {flags}{' ' * bool(flags)}{kind}, {self}{more}{f', align {align}' * bool(align)}", elem, lanes
        )

    def store(self, value: Value, flags: str = "", align: int = 0, order: str = "") -> None:
        """Emit a store to a pointer; for `flags`, `align` and `order` see `load`."""
        more = f" {order}" if order else ""
        self.w.do(f"store {flags}{' ' * bool(flags)}{value}, {self}{more}{f', align {align}' * bool(align)}")

    def update(self, verb: str, value: Value, order: str = "seq_cst") -> Value:
        """Emit an atomic change of memory, such as "add" or "xchg"; return its old value."""
        return value.new(f"atomicrmw {verb} {self}, {value} {order}")

    def exchange(self, expected: Value, new: Value, order: str = "seq_cst") -> tuple[Value, Value]:
        """Emit a compare-and-swap; return the old value, and an i1: whether it was the expected one."""
        pair = self.w.emit(f"cmpxchg {self}, {expected}, {new} {order} {order}")
        kind = f"{{ {new.elem}, i1 }} {pair}"
        return new.new(f"extractvalue {kind}, 0"), new.new(f"extractvalue {kind}, 1", "i1")


# Memory of the lanes of a mask, side by side or at addresses of their own; lanes that are off load 0 and store nothing.


def masked_load(pointer: Value, flags: Value, elem: str, align: int) -> Value:
    """Emit a load of elements side by side.

    Args:
        pointer: the first lane's address.
        flags: which lanes are on, as a vector of i1.
        elem: LLVM type of an element.
        align: of an element, in bytes.
    """
    wide = vector(elem, flags.lanes)
    name, zeros = f"llvm.masked.load.{suffix(wide)}.p0", f"{wide} zeroinitializer"
    return pointer.called(name, str(pointer), f"i32 {align}", str(flags), zeros, elem=elem, lanes=flags.lanes)


def masked_store(pointer: Value, flags: Value, value: Value, align: int) -> None:
    """Emit a store of elements side by side; for `pointer`, `flags` and `align` see `masked_load`."""
    name = f"llvm.masked.store.{suffix(value.type)}.p0"
    pointer.w.call("void", name, str(value), str(pointer), f"i32 {align}", str(flags))


def masked_gather(pointers: Value, flags: Value | None, elem: str, align: int, rest: str = "zeroinitializer") -> Value:
    """Emit a load of an element from each lane's address.

    Args:
        pointers: the addresses.
        flags: which lanes are on, as a vector of i1; None: all.
        elem: LLVM type of an element.
        align: of an element, in bytes.
        rest: the result in lanes that are off.
    """
    lanes = pointers.lanes
    wide, on = vector(elem, lanes), flags or f"{vector('i1', lanes)} {splat('i1', 'true')}"
    name = f"llvm.masked.gather.{suffix(wide)}.v{lanes}p0"
    return pointers.called(name, str(pointers), f"i32 {align}", str(on), f"{wide} {rest}", elem=elem)


def masked_scatter(pointers: Value, flags: Value, value: Value, align: int) -> None:
    """Emit a store of an element to each lane's address, in ascending order; for the arguments see `masked_gather`."""
    name = f"llvm.masked.scatter.{suffix(value.type)}.v{pointers.lanes}p0"
    pointers.w.call("void", name, str(value), str(pointers), f"i32 {align}", str(flags))
