"""The table of operations against the pages that explain it and the code that makes operations."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.architecture.test_floors import FLOORS
from tests.frontend.functions.test_golden_texts import KERNELS, NO_FLOATS
from tests.frontend.functions.test_golden_texts import function as golden_function
from tests.support.checks import meaning
from tests.support.checks.modules import ROOT, files, tree
from workbench.autodiff import adjoint
from workbench.builtins import TABLE
from workbench.interop.jax.values.access import read_before_written
from workbench.ir import Builder, Function, Value, ops, tiles, values
from workbench.ir.ops import DECLARED, OPERATIONS, ROWS, Attribute, Dialect, Operation
from workbench.ir.values import read_arrays, walk, written_arrays
from workbench.passes.checks.bounds_checks import guard
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
    apart = ("workbench/backends/cpu/", "workbench/backends/ptx/")  # they write LLVM's operations
    return [path for path in paths if not any(a in path.as_posix() for a in apart)]


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
    assert names | {*ROWS} >= OPERATIONS.keys()  # those of rows are made by one function, by name


def test_attributes_are_those_of_the_row() -> None:
    wrong = [
        f"{name}: {key.value}"
        for name, call in calls()
        for attrs in call.args[1:]
        if isinstance(attrs, ast.Dict) and name in OPERATIONS
        for key in attrs.keys
        if key is not None and attribute(key) not in OPERATIONS[name].attrs.replace("?", "").split()
    ]
    assert not wrong


def attribute(key: ast.expr) -> str | None:
    """The name of the attribute that is a key of a dict: `SHAPE`, `ops.SHAPE`."""
    name = key.attr if isinstance(key, ast.Attribute) else getattr(key, "id", "")
    return getattr(ops, name, getattr(values, name, None))


def test_every_attribute_of_the_table_is_declared_and_no_other() -> None:
    listed = {name for row in OPERATIONS.values() for name in row.attrs.replace("?", "").split()}
    assert listed == DECLARED.keys() and all(name == str(attribute) for name, attribute in DECLARED.items())
    for name in listed - {"gradient", "replay", "derive", "func"}:
        assert getattr(ops, name.upper()) is DECLARED[name]


@pytest.mark.parametrize(
    ("attribute", "right", "wrong"),
    [
        (ops.AXIS, 0, (True, 1.0, "0", np.int64(0))),
        (ops.BOUNDS, False, (0, "False", np.bool_(False))),
        (ops.SHAPE, (4, 4), ([4, 4], (4, 4.0), 4)),
        (ops.INPUTS, ("a",), ("a", (1,))),
        (values.GRADIENT, values.Block(), ((), "yield")),
    ],
)
def test_an_attribute_takes_values_of_its_type(attribute: Attribute[Any], right: Any, wrong: tuple[Any, ...]) -> None:
    assert attribute.takes(right)
    assert not [value for value in wrong if attribute.takes(value)]


def test_an_attribute_is_its_name() -> None:
    assert ops.SHAPE.of((2,)) == {"shape": (2,)} and {"shape": 1}[ops.SHAPE] == 1
    assert pickle.loads(pickle.dumps({ops.SHAPE: 1})) == copy.deepcopy({ops.SHAPE: 1}) == {"shape": 1}


TILES = """
def k(x: array2d[float], y: array[float]):
    t = tile_load(x, shape=(4, 4))
    tile_atomic_add(y, tile_sum(tile_matmul(t, t * 2.0), axis=0))
"""


@pytest.mark.parametrize("name", [*KERNELS, "tiles"])
def test_operations_have_the_attributes_and_blocks_of_their_row(name: str) -> None:
    f = golden_function(name) if name in KERNELS else meaning.define(TILES)["k"].specialise().function
    directions = [f] if name in NO_FLOATS else [f, adjoint(f)]
    for op in (op for made in directions for op in walk(guard(made).body) if op.name not in TABLE):
        row = OPERATIONS[op.name]
        attrs, blocks = row.attrs.split(), row.blocks.split(", ") if row.blocks else []
        assert {a for a in attrs if not a.endswith("?")} <= op.attrs.keys() <= {a.rstrip("?") for a in attrs}, op.name
        assert len([b for b in blocks if not b.endswith("?")]) <= len(op.blocks) <= len(blocks), op.name
        assert row.dialect is not Dialect.LOWERED, op.name


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
    assert ops.EFFECTS - ops.READS == {"store", "tile_store", "row_store"}
    assert ops.READS - ops.EFFECTS == ops.LOADS == {"load", "atomic_load", "tile_load", "row_load"}
    additions = {"atomic_add", "reduce_add", "tile_atomic_add", "add_pair", "add_product", "row_add", "row_total"}
    assert additions == ops.ADDITIONS
    assert not ops.PURE & (ops.READS | ops.LASTING | ops.STRUCTURED | ops.SLOT_WRITES)
