"""Programs by chance that read, overwrite and read again the thread's own elements in branches and early exits."""

from __future__ import annotations

import random

TYPES = ("float32", "float64", "int32", "int64", "int16", "float16")
ARRAYS = ("y", "z", "w")


def branch_program(seed: int) -> str:
    """Return the text of a kernel `k(x, y, z, w)` of arrays of one type; every thread stays at its own index."""
    return _Writer(random.Random(seed)).program(TYPES[seed % len(TYPES)])


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.type = ""
        self.names: list[str] = []

    def program(self, type: str) -> str:
        self.type, self.names = type, ["v", "t", "u"]
        arrays = ", ".join(f"{name}: array[{type}]" for name in ("x", *ARRAYS))
        head = [f"def k({arrays}):", "    i = tid()", "    v = x[i]", "    t = -v", f"    u = {type}(1)"]
        rows = [row for _ in range(self.rng.randint(2, 4)) for row in self.statement(2)]
        tail = [f"{name}[i] = {value}" for name, value in zip(ARRAYS[:2], ("t", "u"), strict=True)]
        return "\n".join([*head, *("    " + row for row in (*rows, *tail))])

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def value(self) -> str:
        name = self.pick(*self.names, *(f"{a}[i]" for a in ARRAYS))
        return name if self.rng.random() < 0.6 else f"{name} {self.pick('+', '-', '*')} {self.pick(*self.names)}"

    def block(self, depth: int) -> list[str]:
        return ["    " + row for _ in range(self.rng.randint(1, 3)) for row in self.statement(depth)]

    def condition(self) -> str:
        return (
            f"{self.pick('v', 't', 'x[i]')} {self.pick('<', '>', '<=', '>=')} {self.type}({self.pick('0', '1', '-1')})"
        )

    def statement(self, depth: int) -> list[str]:
        kind = self.pick("name", "store", "swap", *("if", "elif", "for", "return") * (depth > 0))
        array, name = self.pick(*ARRAYS), self.pick("t", "u")
        if kind == "name":
            return [f"{name} = {self.type}({self.value()})"]
        if kind == "store":
            return [f"{array}[i] = {self.type}({self.value()})"]
        if kind == "swap":
            return [f"{name} = {array}[i]", f"{array}[i] = v"]
        if kind == "for":
            return [f"for j in range({self.pick('2', '3', '17')}):", *self.block(depth - 1)]
        rows = [f"if {self.condition()}:", *self.block(depth - 1)]
        if kind == "return":
            return [*rows, "    return"]
        if kind == "elif":
            rows += [f"elif {self.condition()}:", *self.block(depth - 1)]
        return [*rows, "else:", *self.block(depth - 1)] if self.rng.random() < 0.5 else rows
