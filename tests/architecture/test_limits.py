"""Numbers that a program can stand on either side of are rows of `workbench/limits.py`, and nowhere else."""

from __future__ import annotations

import ast

import pytest

from tests.support.checks.modules import ROOT, tree
from workbench import limits

FOLDERS = ("ir", "frontend", "passes", "autodiff", "backends/cpu")
FACTS = {
    # Layouts, file formats and instruction sets: other numbers would be wrong, not slower.
    "backends/cpu/elf.py": None,
    "backends/cpu/jit.py": None,
    "backends/cpu/native/": None,
    "backends/cpu/maths/": None,
    "backends/cpu/machine.py": None,
    # Named states of an analysis, and dimensions of a launch.
    "autodiff/analysis/linearity.py": {"NOTHING", "FIXED", "LINEAR"},
    "autodiff/gather/flat.py": {"TOTAL"},
    # Bits of registers of the instruction sets that LLVM makes code for.
    "backends/cpu/gang/width.py": {"NARROW", "MASKED"},
    "backends/cpu/compile.py": {"LEVEL", "GATHERS"},
    "backends/cpu/emit/combine.py": {"_BYTES", "_ALIGNMENT"},
    # The ends of int32, the sides of a block of a transposition, and the words of a message.
    "passes/analysis/intervals.py": {"LEAST", "MOST"},
    "backends/cpu/emit/tiles/transpose.py": {"SIDES"},
    "frontend/state/paths.py": {"len(text) <= 40"},
    # Cells of structs, and the unit of a register within which targets interleave.
    "backends/cpu/gang/transposes.py": {"FIELD_BYTES", "UNIT"},
    # How exactly a literal is expected, in a message.
    "frontend/expressions/messages.py": {"TOLERANCE"},
}
"""By file or folder: the constants that are no limits; None for all of a folder."""
INLINE = {
    # A range takes up to three numbers, a launch up to four dimensions, a swizzle up to four letters.
    *range(-1, 5),
    # Bits of types.
    *(8, 16, 32, 64),
}
"""Numbers that comparisons may hold, beside powers of two that bound a type."""


def _value(node: ast.expr) -> object:
    """Return the number that an expression of literals has, or None."""
    try:
        return eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
    except Exception:
        return None


def _constants(module: ast.Module) -> list[tuple[int, str]]:
    """Return line and name of each number that a module, or a class in it, names."""
    named = []
    for node in ast.walk(module):
        body = node.body if isinstance(node, ast.Module | ast.ClassDef) else []
        for statement in body:
            target = statement.target if isinstance(statement, ast.AnnAssign) else None
            targets = statement.targets if isinstance(statement, ast.Assign) else [target] if target else []
            value = getattr(statement, "value", None)
            number = None if value is None else _value(value)
            numbers = number if isinstance(number, tuple) else (number,)
            for name in (n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)):
                if name.id.isupper() and all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
                    named.append((statement.lineno, name.id))
    return named


def _thresholds(module: ast.Module) -> list[tuple[int, str]]:
    """Return line and text of each comparison with a number that bounds no type."""
    inline = []
    for node in ast.walk(module):
        if isinstance(node, ast.Compare) and any(isinstance(o, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for o in node.ops):
            numbers = [n for part in (node.left, *node.comparators) if isinstance(n := _value(part), int | float)]
            if any(n not in INLINE and abs(n) not in (2**31, 2**53, 2**63) for n in numbers):
                inline.append((node.lineno, ast.unparse(node)))
    return inline


def _exempt(path: str, name: str) -> bool:
    return any(path.startswith(start) and (names is None or name in names) for start, names in FACTS.items())


@pytest.mark.parametrize("folder", FOLDERS)
def test_limits_stand_in_the_table(folder: str) -> None:
    outside = [
        f"workbench/{name}:{line} {constant}"
        for path in sorted((ROOT / "workbench" / folder).rglob("*.py"))
        for name in [path.relative_to(ROOT / "workbench").as_posix()]
        for line, constant in (*_constants(tree(path)), *_thresholds(tree(path)))
        if not _exempt(name, constant)
    ]
    assert not outside, "\n".join(("a row of workbench/limits.py is missing for", *outside))


def test_constants_and_comparisons_are_seen() -> None:
    module = ast.parse(
        "MOST = 2**10\n_FEW: int = 7\nNAME = 'x'\nclass A:\n    SIDES = (8, 4)\ndef f(x):\n    return len(x) > 18"
    )
    assert [name for _, name in _constants(module)] == ["MOST", "_FEW", "SIDES"]
    assert _thresholds(module) == [(7, "len(x) > 18")]


def test_each_row_says_what_it_limits() -> None:
    rows = limits.table()
    kinds = {limits.SLOWER, limits.OTHER, limits.REFUSED, limits.BOUNDED, limits.COST}
    assert all(row.unit and row.beyond in kinds for row in rows.values())
    assert all(row.within or row.beyond == limits.COST for row in rows.values())


def test_each_row_is_used_by_name() -> None:
    texts = [p.read_text() for p in (ROOT / "workbench").rglob("*.py") if p.name != "limits.py"]
    unused = [name for name in limits.table() if not any(name in text for text in texts)]
    assert not unused, unused
