"""The derivative of every builtin as a table for readers, made from the declarations.

Each adjoint rule is run once on symbols and what it emits is written as an expression. So the table cannot say anything
else than what the adjoint does; a test compares it with `design/derivatives.md`.
"""

from __future__ import annotations

from itertools import product

from workbench.builtins.declaration.declare import TABLE, Builtin
from workbench.builtins.declaration.refs import Ref
from workbench.ir.build import Builder
from workbench.ir.ops import VALUE
from workbench.ir.values import Op, Value
from workbench.types import MATRICES, QUATERNIONS, VECTORS, ArrayType, Type, float64, int32, is_float
from workbench.types import bool as bool_

HEAD = """# Derivatives of the builtins

Generated from the declarations by `tests/support/checks/derivatives.py`; do not edit. c is the cotangent of the result,
r the result. A dash: that operand gets nothing. Rules of scalars hold component by component on vectors. Ties are as in
JAX.

| builtin | what its operands get |
|---|---|
"""
END = "\n**Held by** `tests/builtins/test_derivative_table.py`, `test_adjoints.py`.\n"
SIGNS = {
    "add": "+", "sub": "-", "mul": "·", "div": "/",
    "lt": "<", "le": "≤", "gt": ">", "ge": "≥", "eq": "=", "ne": "≠",
}  # fmt: skip
LONGEST = 150
KINDS: tuple[Type, ...] = (
    float64, VECTORS["vec3d"], QUATERNIONS["quatd"], MATRICES["mat33d"], VECTORS["vec2d"], MATRICES["mat22d"],
    bool_, int32,
)  # fmt: skip


def table() -> str:
    """The table as Markdown."""
    return HEAD + "".join(f"| `{name}` | {derivative(entry)} |\n" for name, entry in sorted(TABLE.items())) + END


def derivative(entry: Builtin) -> str:
    """One builtin's derivative in words and signs."""
    if entry.gradient is None:
        return f"none: {entry.differentiable.removeprefix('no: ') or 'no rule'}"
    for kinds in product(KINDS, repeat=len(entry.params)):
        found = _types(entry, kinds)
        if found is not None:
            return _written(entry, *found)
    return "of no float"


def _types(entry: Builtin, kinds: tuple[Type, ...]) -> tuple[tuple[Type, ...], Type] | None:
    try:
        operands, result = entry.rule(entry.name, list(kinds))
    except Exception:  # what a rule refuses it says by the error of its choice
        return None
    return (tuple(operands), result) if is_float(result) and not isinstance(result, ArrayType) else None


def _written(entry: Builtin, operands: tuple[Type, ...], result: Type) -> str:
    builder = Builder()
    values = [
        Value(result, "c"),
        Value(result, "r"),
        *(Value(t, n) for t, n in zip(operands, entry.params, strict=True)),
    ]
    assert entry.gradient is not None
    given = entry.gradient(*(Ref(builder, v) for v in values))
    made = {v: op for op in builder.body().ops for v in op.results}
    parts = []
    for name, ref in zip(entry.params, given, strict=True):
        text = "–" if ref is None else _text(ref.value, made)
        parts.append(f"{name}: {text if len(text) <= LONGEST else 'a longer expression, see its rule'}")
    return ", ".join(parts) if any(g is not None for g in given) else "0"


def _text(value: Value, made: dict[Value, Op], inner: bool = False) -> str:
    op = made.get(value)
    if op is None:
        return value.name
    if op.name == "const":
        number = op.attrs[VALUE]
        return _number(number[0] if isinstance(number, tuple) else number)
    if op.name in SIGNS:
        a, b = (_text(v, made, True) for v in op.operands)
        text = f"{a} {SIGNS[op.name]} {b}"
        return f"({text})" if inner else text
    parts = [_text(v, made) for v in op.operands]
    if op.name == "neg":
        return f"-{_text(op.operands[0], made, True)}"
    if op.name == "vec" and len(set(parts)) == 1:
        return parts[0]
    if op.name == "extract":
        return f"{_text(op.operands[0], made, True)}[{parts[1]}]"
    text = f"{op.name.rstrip('_')}({', '.join(parts)})"
    return text if len(text) < 4 * LONGEST else "…" * (LONGEST + 1)


def _number(number: float) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)
