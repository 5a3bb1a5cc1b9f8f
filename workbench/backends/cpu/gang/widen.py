"""LLVM IR text of one element rewritten for several side by side.

An elementwise instruction means the same of a vector as of each of its lanes, so the text that the scalar handlers
write serves both: types become vector types, and constants become constants in every lane. Calls are of intrinsics on
vectors, of our own wide maths functions, of functions of this module that are widened as well, or lane by lane.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.backends.llvm.values import Writer, splat, vector

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
