"""Typed programs by chance: integers of all widths, floats, bools, vectors, loops, branches, funcs, arrays.

Only operations whose result is exact (integers, IEEE sums, products, quotients, roots) are drawn, so every backend must
give the same bits. Threads do not meet: each writes at its own index. What a program assigns keeps its type by a cast.
"""

from __future__ import annotations

from hypothesis import strategies as st

INTS = ("int32", "int64", "uint32", "int8", "uint8", "int16", "uint64")
FLOATS = ("float32", "float64")
INPUTS = {"int32": "a", "uint8": "b", "float32": "f", "float64": "d", "int64": "m"}
OUTPUTS = {"int64": "p", "float32": "q", "float64": "r"}
PARAMETERS = ", ".join(f"{name}: array[{type}]" for type, name in [*INPUTS.items(), *OUTPUTS.items()])
SIGNS = {True: ("+", "-", "*", "//", "%", "&", "|", "^"), False: ("+", "-", "*", "/")}
ELEMENTS = {"vec3": "float32", "vec2i": "int32", "vec3d": "float64"}
Names = dict[str, str]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A cell: some funcs and the kernel `k`."""
    writer = _Writer(draw)
    funcs = [writer.func(n) for n in range(draw(st.integers(0, 2)))]
    body = writer.block({"i": "int32", "n": "int32"}, depth=2, least=4, most=8)
    stores = [f"{name}[i] = {type}({writer.value(writer.names, type, 2)})" for type, name in OUTPUTS.items()]
    rows = ["i = tid()", "n = int32(len(a))", *body, *stores]
    return "\n".join([*funcs, f"def k({PARAMETERS}):", *_indented(rows)])


def _indented(rows: list[str]) -> list[str]:
    return [f"    {row}" for row in rows]


class _Writer:
    """One program being drawn; `names` are those of the kernel's outermost block, `funcs` the types of funcs."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.names: Names = {}
        self.funcs: dict[str, tuple[tuple[str, ...], str]] = {}
        self.count = 0

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def fresh(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def func(self, number: int) -> str:
        """A func of scalars with an early return."""
        types = tuple(self.pick(*INTS, *FLOATS) for _ in range(2))
        result, name = self.pick("int32", "int64", *FLOATS), f"g{number}"
        env = dict(zip("uv", types, strict=True))
        rows = [f"if {self.condition(env)}:", f"    return {result}({self.value(env, result, 1)})"]
        if self.draw(st.booleans()):
            rows = [f"for j in range({self.pick('2', '3')}):", *_indented(rows)]
            rows.append(f"    u = {types[0]}(u + {types[0]}(j))")
        rows.append(f"return {result}({self.value(env, result, 2)})")
        self.funcs[name] = (types, result)
        return "\n".join([f"def {name}(u: {types[0]}, v: {types[1]}):", *_indented(rows)])

    def block(self, names: Names, depth: int, least: int, most: int) -> list[str]:
        env = dict(names)
        rows: list[str] = []
        for _ in range(self.draw(st.integers(least, most))):
            rows += self.statement(env, depth)
        if depth == 2:
            self.names = env
        return rows

    def statement(self, env: Names, depth: int) -> list[str]:
        kinds = ["new", "new", "assign", "assign", "vector", "store"] + ["if", "for", "while"] * (depth > 0)
        kind = self.pick(*kinds)
        scalars = [n for n, t in env.items() if n.startswith("t") and t in (*INTS, *FLOATS)]
        if kind == "assign" and scalars:
            name = self.pick(*scalars)
            return [f"{name} = {env[name]}({self.value(env, env[name], 2)})"]
        if kind == "vector":
            name, type = self.fresh(), self.pick(*ELEMENTS)
            row = f"{name} = {self.vector(env, type)}"
            env[name] = type
            return [row]
        if kind == "store":
            type = self.pick(*OUTPUTS)
            return [f"{OUTPUTS[type]}[i] = {type}({self.value(env, type, 2)})"]
        if kind == "if":
            rows = [f"if {self.condition(env)}:", *_indented(self.block(env, depth - 1, 1, 3))]
            other = ["else:", *_indented(self.block(env, depth - 1, 1, 2))]
            return [*rows, *other] if self.draw(st.booleans()) else rows
        if kind == "for":
            name = self.fresh().replace("t", "j")
            body = self.block({**env, name: "int32"}, depth - 1, 1, 3)
            leave = [f"    if {self.condition({**env, name: 'int32'})}:", f"        {self.pick('break', 'continue')}"]
            span = self.pick("3", "i + 1", "n", "4, 0, -1", "1, n, 2")
            return [f"for {name} in range({span}):", *(leave if self.draw(st.booleans()) else []), *_indented(body)]
        if kind == "while":
            name = self.fresh().replace("t", "w")
            body = self.block({**env, name: "int32"}, depth - 1, 1, 2)
            return [f"{name} = int32(0)", f"while {name} < {self.pick('3', 'n')}:", *_indented([f"{name} += 1", *body])]
        name, type = self.fresh(), self.pick(*INTS, *FLOATS)
        row = f"{name} = {type}({self.value(env, type, 2)})"
        env[name] = type
        return [row]

    def vector(self, env: Names, type: str) -> str:
        element, count = ELEMENTS[type], 2 if type == "vec2i" else 3
        made = f"{type}({', '.join(f'{element}({self.value(env, element, 1)})' for _ in range(count))})"
        same = [n for n, t in env.items() if t == type]
        return f"{self.pick(*same)} {self.pick('+', '-')} {made}" if same and self.draw(st.booleans()) else made

    def condition(self, env: Names) -> str:
        type = self.pick(*INTS, *FLOATS)
        one = f"{self.value(env, type, 1)} {self.pick('<', '>=', '==', '!=')} {self.value(env, type, 1)}"
        if self.draw(st.integers(0, 3)):
            return one
        return f"{one} {self.pick('and', 'or')} not ({self.value(env, 'int32', 1)} > {self.value(env, 'int32', 0)})"

    def value(self, env: Names, type: str, depth: int) -> str:
        """An expression of exactly this type."""
        whole = type in INTS
        deep = ["sign", "sign", "choice", "call", "builtin"] * (depth > 0)
        kind = self.pick("name", "load", "number", "cast", *deep)
        same = [n for n, t in env.items() if t == type]
        if kind == "name" and same:
            return self.pick(*same)
        if kind == "load" and type in INPUTS and "i" in env:
            index = self.pick("i", "0", "(i + 1) % n", "-1", f"abs({self.value(env, 'int32', 0)} % 3)")
            return f"{INPUTS[type]}[{index}]"
        if kind == "cast" and depth:
            other = self.pick(*INTS, *FLOATS)
            return f"{type}({self.value(env, other, depth - 1)})"
        if kind == "choice":
            sides = [self.value(env, type, depth - 1) for _ in range(2)]
            return f"({sides[0]} if {self.condition(env)} else {sides[1]})"
        if kind == "call":
            fitting = [f for f, (_, result) in self.funcs.items() if result == type]
            if fitting:
                name = self.pick(*fitting)
                return f"{name}({', '.join(self.value(env, t, depth - 1) for t in self.funcs[name][0])})"
        if kind == "builtin":
            one, other = (self.value(env, type, depth - 1) for _ in range(2))
            plain = (f"min({one}, {other})", f"max({one}, {other})")
            return self.pick(*plain, *([] if whole else [f"sqrt({one})", f"floor({one})"]))
        if kind == "sign":
            one, other = (self.value(env, type, depth - 1) for _ in range(2))
            return f"({one} {self.pick(*SIGNS[whole])} {other})"
        parts = [n for n, t in env.items() if ELEMENTS.get(t) == type]
        if parts and self.draw(st.booleans()):
            return f"{self.pick(*parts)}.{self.pick('x', 'y')}"
        number = self.pick("0", "1", "2", "7", "100") if whole else self.pick("0.0", "0.5", "-1.25", "3.0", "1e10")
        return f"{type}({number})"
