"""LLVM values of a warp: one scalar for all lanes, or a vector of 32; and the writer of their instructions."""

from __future__ import annotations

import msgspec

from workbench.backends.ptx.syntax.program import BITS, Instruction, unsupported

LANES = 32
FLOATS = {"f16": "half", "f32": "float", "f64": "double"}
WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "half": 16, "float": 32, "double": 64}


def element(type: str) -> str:
    """Return the LLVM type in which one lane computes with a PTX type; bf16 and packed types are integers."""
    return FLOATS.get(type) or ("i1" if type == "pred" else f"i{BITS[type]}")


def stored(type: str) -> str:
    """Return the LLVM type of one lane of a register of a PTX type; 16-bit floats are stored as integers."""
    return {"f32": "float", "f64": "double"}.get(type) or ("i1" if type == "pred" else f"i{BITS[type]}")


class Value(msgspec.Struct, frozen=True):
    """An LLVM value.

    Attributes:
        text: its name or constant, without a type.
        elem: the LLVM type of one lane.
        lanes: it is a vector with an element per lane; otherwise a scalar that all lanes share.
    """

    text: str
    elem: str
    lanes: bool = True

    @property
    def type(self) -> str:
        """The LLVM type: a vector of 32 elements, or the element type."""
        return f"<{LANES} x {self.elem}>" if self.lanes else self.elem

    def __str__(self) -> str:
        """Return the type and the text, as an LLVM instruction writes an operand."""
        return f"{self.type} {self.text}"


class Writer:
    """Writes one function's LLVM instructions, in order.

    Attributes:
        version: the PTX version, for messages of errors.
        rows: the lines so far.
        declared: declarations of the functions that are called, by name.
        instruction: the PTX instruction that is being translated, for messages of errors.
    """

    def __init__(self, version: tuple[int, int]) -> None:
        self.version = version
        self.rows: list[str] = []
        self.declared: dict[str, str] = {}
        self._count = 0
        self.instruction = Instruction("", (), ())

    def unsupported_instruction(self, what: str = "") -> Exception:
        """Return an error saying that the current PTX instruction cannot be executed; `what` replaces its message."""
        i = self.instruction
        return unsupported(what or f"The instruction {i.name} cannot be executed", i.line, self.version)

    def row(self, text: str) -> None:
        """Append a line with an LLVM instruction."""
        self.rows.append("  " + text)

    def name(self) -> str:
        """Return a new name for an LLVM value."""
        self._count += 1
        return f"%v{self._count}"

    def new(self, text: str, elem: str, lanes: bool = True) -> Value:
        """Emit an LLVM instruction that has a result; return the result.

        Args:
            text: the instruction.
            elem: the type of one lane of the result.
            lanes: whether the result is a vector.
        """
        name = self.name()
        self.rows.append(f"  {name} = {text}")
        return Value(name, elem, lanes)

    def int(self, value: int, elem: str) -> Value:
        """Return an integer constant of an LLVM type, wrapped to its width."""
        bits = WIDTH[elem]
        value &= (1 << bits) - 1
        if elem == "i1":
            return Value("true" if value else "false", elem, False)
        return Value(str(value - (1 << bits) if value >> (bits - 1) else value), elem, False)

    def float(self, bits: int, elem: str) -> Value:
        """Emit a float constant of an LLVM type, given by its bit pattern; return it as a scalar."""
        return self.new(f"bitcast i{WIDTH[elem]} {bits} to {elem}", elem, False)

    def spread(self, value: Value) -> Value:
        """Return a value as a vector: a scalar is repeated in all lanes."""
        if value.lanes:
            return value
        if not value.text.startswith("%"):
            return Value(f"splat ({value.elem} {value.text})", value.elem)
        vector = f"<{LANES} x {value.elem}>"
        first = self.name()
        self.row(f"{first} = insertelement {vector} poison, {value.elem} {value.text}, i32 0")
        return self.new(f"shufflevector {vector} {first}, {vector} poison, <{LANES} x i32> zeroinitializer", value.elem)

    def broadcast(self, *values: Value) -> tuple[Value, ...]:
        """Return the values all as vectors if any of them is one; otherwise as they are."""
        if any(v.lanes for v in values):
            return tuple(self.spread(v) for v in values)
        return values

    def op(self, name: str, a: Value, b: Value) -> Value:
        """Emit an LLVM binary instruction such as "add" or "fmul"; the result is a vector if either value is one."""
        a, b = self.broadcast(a, b)
        return self.new(f"{name} {a}, {b.text}", a.elem, a.lanes)

    def compare(self, name: str, a: Value, b: Value) -> Value:
        """Emit an LLVM comparison, such as "icmp slt" or "fcmp olt"; return an i1.

        It is a vector of them if either value is a vector.
        """
        a, b = self.broadcast(a, b)
        return self.new(f"{name} {a}, {b.text}", "i1", a.lanes)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """Emit a choice, lane by lane: `a` where the condition holds, else `b`; return the result."""
        condition, a, b = self.broadcast(condition, a, b)
        if a.text == b.text:
            return a
        return self.new(f"select {condition}, {a}, {b}", a.elem, a.lanes)

    def cast(self, name: str, value: Value, elem: str) -> Value:
        """Emit an LLVM conversion of each lane to type `elem`, such as "zext" or "fptosi"; return the result."""
        if value.elem == elem and name == "bitcast":
            return value
        to = f"<{LANES} x {elem}>" if value.lanes else elem
        return self.new(f"{name} {value} to {to}", elem, value.lanes)

    def resize(self, value: Value, elem: str, signed: bool = False) -> Value:
        """Return an integer as the LLVM type `elem`: truncated, or extended by zeros or, if `signed`, its sign."""
        now, then = WIDTH[value.elem], WIDTH[elem]
        if now == then:
            return value
        return self.cast("trunc" if then < now else "sext" if signed else "zext", value, elem)

    def intrinsic(self, name: str, *arguments: Value, elem: str = "", more: str = "") -> Value:
        """Emit a call of an overloaded LLVM intrinsic; return its result.

        Args:
            name: without the suffix for the type, such as "llvm.fma".
            arguments: values; all become vectors if one is.
            elem: the type of one lane of the result; "" for that of the first argument.
            more: further arguments as text, such as "i1 false".
        """
        values = self.broadcast(*arguments)
        elem = elem or values[0].elem
        lanes = values[0].lanes
        suffix = {"float": "f32", "double": "f64", "half": "f16"}.get(elem, elem)
        full = f"@{name}.v{LANES}{suffix}" if lanes else f"@{name}.{suffix}"
        result = f"<{LANES} x {elem}>" if lanes else elem
        extra = [t.split()[0] for t in more.split(",") if t]
        self.declared[full] = f"declare {result} {full}({', '.join([*(v.type for v in values), *extra])})"
        return self.new(f"call {result} {full}({', '.join([*map(str, values), *filter(None, [more])])})", elem, lanes)

    def call(self, name: str, result: str, *arguments: str | Value) -> str:
        """Emit a call of a library function; arguments are values, or text that begins with a type.

        Return the name of the result, or "" if `result` is "void".
        """
        listed = ", ".join(map(str, arguments))
        kinds = ", ".join(str(a.type) if isinstance(a, Value) else _kind(a) for a in arguments)
        self.declared[f"@{name}"] = f"declare {result} @{name}({kinds})"
        if result == "void":
            self.row(f"call void @{name}({listed})")
            return ""
        name_of_result = self.name()
        self.row(f"{name_of_result} = call {result} @{name}({listed})")
        return name_of_result

    def lanes_of(self, name: str, elem: str, *arguments: str | Value) -> Value:
        """Emit a call of a library function that returns a vector with an element of type `elem` per lane."""
        return Value(self.call(name, f"<{LANES} x {elem}>", *arguments), elem)


def _kind(text: str) -> str:
    """Return the LLVM type at the start of an argument's text."""
    return text[: text.index(">") + 1] if text.startswith("<") else text.split()[0]
