"""Which multiplications of a function are linked, read from its IR."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.backends.cuda.products.needed import (
    Wanted,
    products_in,
    products_needed,
    specs_of,
    with_products,
)
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.ir.values import Block, Function, Op, Value
from workbench.tiles import Tile
from workbench.types import Scalar, float16, float32, float64, int32


def matmul(a: tuple[int, int], b: tuple[int, int], dtype: Scalar, out: Scalar | None = None, **attrs: Any) -> Op:
    """One multiplication of tiles of these shapes, as they lie."""
    m = a[1] if attrs.get("transpose_a") else a[0]
    n = b[0] if attrs.get("transpose_b") else b[1]
    operands = Value(Tile(dtype, a)), Value(Tile(dtype, b))
    facts = {"transpose_a": False, "transpose_b": False, "role": "forward", **attrs}
    return Op("tile_matmul", operands, (Value(Tile(out or dtype, (m, n))),), facts)


def function(*ops: Op) -> Function:
    return Function("f", (), Block((), ops), block_dim=64)


def test_transposed_operands_are_column_major() -> None:
    f = function(
        matmul((8, 16), (8, 32), float32, transpose_a=True), matmul((8, 16), (32, 16), float32, transpose_b=True)
    )
    first, second = specs_of(f, "sm_90")
    assert (first.m, first.n, first.k, first.layouts) == (16, 32, 8, ("column", "row", "row"))
    assert (second.m, second.n, second.k, second.layouts) == (8, 32, 16, ("row", "column", "row"))


def test_multiplications_in_loops_and_equal_ones_are_found_once() -> None:
    inner = Block((), (matmul((8, 16), (16, 32), float32), Op("yield")))
    f = function(matmul((8, 16), (16, 32), float32), Op("for", blocks=(inner,)))
    assert specs_of(f, "sm_80") == (ProductSpec(8, 32, 16, "float32", "float32", "float32", 64, "sm_80"),)
    marked = with_products(f, "sm_80")
    assert products_in(marked) == specs_of(f, "sm_80")
    assert marked.body.ops[1].blocks[0].ops[0].attrs["product"].threads == 64


@pytest.mark.parametrize(
    ("dtype", "out", "linked"),
    [
        (float16, None, False),
        (float16, float32, True),
        (float32, None, True),
        (float64, None, True),
        (int32, None, False),
    ],
)
def test_what_cannot_be_linked_stays_generated(dtype: Scalar, out: Scalar | None, linked: bool) -> None:
    f = function(matmul((8, 16), (16, 32), dtype, out))
    assert len(specs_of(f, "sm_90")) == linked
    assert len(products_in(with_products(f, "sm_90"))) == linked


def test_the_plan_and_the_adjoints_own_operations_ask_for_the_same() -> None:
    forward = function(matmul((8, 16), (16, 32), float32))
    planned = products_needed(specs_of(forward, "sm_90"), Wanted("adjoint"))
    adjoint = function(
        matmul((8, 32), (16, 32), float32, transpose_b=True, role="adj_a"),
        matmul((8, 16), (8, 32), float32, transpose_a=True, role="adj_b"),
    )
    assert specs_of(adjoint, "sm_90") == planned
    assert [s.role for s in planned] == ["adj_a", "adj_b"]
