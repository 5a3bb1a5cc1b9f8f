"""The table of operations against the pages that explain it and the code that makes operations."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.modules import ROOT, files, tree
from tests.architecture.test_floors import FLOORS
from workbench.builtins import TABLE
from workbench.interop.jax.values.access import read_before_written
from workbench.ir import Builder, Function, Value, ops, tiles, values
from workbench.ir.ops import OPERATIONS, Dialect, Operation
from workbench.ir.values import read_arrays, written_arrays
from workbench.types import ArrayType, float32

MAKERS = ("Op", "emit", "one", "op")
"""Functions whose first argument, or the one after a context, is the name of an operation."""


def on_page(row: Operation) -> str:
    return (tiles if row.dialect is Dialect.TILE else values).__doc__ or ""


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.name)
def test_its_page_has_each_operation_in_this_form(row: Operation) -> None:
    line = re.search(rf"^    {row.name} +(\(.*)$", on_page(row), re.MULTILINE)
    assert line is not None and line[1].startswith(row.form), f"{row.name} {row.form}"
    assert line[1] == row.form or line[1][len(row.form)] == " "


def test_the_pages_have_no_other_operations() -> None:
    told = re.findall(r"^    (\w+) +\(.*\) -> ", f"{values.__doc__}\n{tiles.__doc__}", re.MULTILINE)
    assert sorted(told) == sorted(OPERATIONS)


@cache
def calls() -> tuple[tuple[str, ast.Call], ...]:
    """The calls that make an operation by name."""
    return tuple(
        (name, node)
        for path in makers()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and node.args and called(node.func) in MAKERS
        for name in filter(None, (written(argument, constants(tree(path))) for argument in node.args[:2]))
    )


def makers() -> list[Path]:
    """The files that hold IR; the CPU backend's text is LLVM's."""
    folders = [folder for folder in FLOORS if (ROOT / "workbench" / folder).is_dir() and folder != "interop"]
    paths = [path for folder in folders for path in files(f"workbench/{folder}")]
    return [path for path in paths if "workbench/backends/cpu/" not in path.as_posix()]


def written(argument: ast.expr, names: dict[str, str]) -> str:
    if isinstance(argument, ast.Name):
        return names.get(argument.id, "")
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else ""


def constants(module: ast.Module) -> dict[str, str]:
    """The module's names of strings."""
    return {
        target.id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_the_code_makes_operations_of_the_table_and_all_of_them() -> None:
    names = {name for name, _ in calls()}
    assert names <= OPERATIONS.keys() | TABLE.keys()
    assert names >= OPERATIONS.keys()


def test_attributes_are_those_of_the_row() -> None:
    wrong = [
        f"{name}: {key.value}"
        for name, call in calls()
        for attrs in call.args[1:]
        if isinstance(attrs, ast.Dict) and name in OPERATIONS
        for key in attrs.keys
        if isinstance(key, ast.Constant) and key.value not in OPERATIONS[name].attrs.replace("?", "").split()
    ]
    assert not wrong


def test_the_code_asks_for_no_other_names() -> None:
    asked = {
        constant.value
        for path in makers()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Compare) and ast.unparse(node.left) in ("op.name", "inner.name", "o.name")
        for constant in ast.walk(node)
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    }
    assert asked and asked <= OPERATIONS.keys() | TABLE.keys()


def test_what_adds_to_an_array_reads_it_whoever_asks() -> None:
    total = Value(ArrayType(float32), "total")
    b = Builder()
    b.emit("reduce_add", (total, b.const(1.0, float32)))
    f = Function("f", (total,), b.body())
    assert read_arrays(f) == written_arrays(f) == read_before_written(f) == {"total"}


def test_each_operation_with_an_effect_says_what_it_reads() -> None:
    assert ops.EFFECTS - ops.READS == {"store", "tile_store"}
    assert ops.READS - ops.EFFECTS == ops.LOADS == {"load", "tile_load"}
    assert ops.ADDITIONS == {"atomic_add", "reduce_add", "tile_atomic_add"}
    assert not ops.PURE & (ops.READS | ops.LASTING | ops.STRUCTURED | ops.SLOT_WRITES)
