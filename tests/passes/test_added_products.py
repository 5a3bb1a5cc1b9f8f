"""`acc += tile_matmul(a, b)` is the product with an accumulator, where it stands beside its product."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ir.data import show
from workbench.ir.values import walk


def kernel(turn: str, before: str = "", dtype: str = "float16") -> wb.Kernel:
    """C = A·B by steps along K; `turn` adds a step's product to `acc`."""
    text = f"""
def gemm(A: array2d[{dtype}], B: array2d[{dtype}], C: array2d[float]):
    i, j = tid()
    acc = wb.tile_zeros((16, 16), dtype=float)
    {before or "pass"}
    for k in range(A.shape[1] // 8):
        a = wb.tile_load(A, (16, 8), offset=(i * 16, k * 8))
        b = wb.tile_load(B, (8, 16), offset=(k * 8, j * 16))
        {turn}
    wb.tile_store(C, acc, offset=(i * 16, j * 16))
"""
    return wb.build_cell(text, {"wb": wb}, compile=False).kernels["gemm"]


def run(made: wb.Kernel) -> np.ndarray:
    random = np.random.default_rng(3)
    a, b = (wb.array(random.uniform(-1, 1, s), dtype=wb.float16) for s in ((16, 40), (40, 16)))
    c = wb.zeros((16, 16))
    wb.launch_tiled(made, (1, 1), [a, b, c], block_dim=32)
    return c.numpy()


def accumulators(made: wb.Kernel) -> list[int]:
    """How many operands each product has: three with an accumulator."""
    return [len(op.operands) for op in walk(made.used.function.body) if op.name == "tile_matmul"]


@pytest.mark.parametrize(
    "turn",
    ["acc += wb.tile_matmul(a, b)", "acc = wb.tile_matmul(a, b) + acc", "p = wb.tile_matmul(a, b); acc = acc + p"],
)
def test_a_product_that_is_added_is_the_accumulator_s(turn: str) -> None:
    plain, added = kernel("wb.tile_matmul(a, b, acc)"), kernel(turn)
    np.testing.assert_array_equal(run(plain), run(added))
    assert accumulators(added) == accumulators(plain) == [3]
    assert len(show(added.used.function).splitlines()) == len(show(plain.used.function).splitlines())


@pytest.mark.parametrize(
    ("turn", "before"),
    [
        ("p = wb.tile_matmul(a, b); acc += p; acc += p", ""),
        ("acc -= wb.tile_matmul(a, b)", ""),
        ("acc += p", "p = wb.tile_matmul(wb.tile_load(A, (16, 8)), wb.tile_load(B, (8, 16)))"),
    ],
)
def test_other_products_stay_as_they_are(turn: str, before: str) -> None:
    made = kernel(turn, before)
    run(made)
    assert accumulators(made) == [2]


def test_the_gradient_keeps_no_tile() -> None:
    made = kernel("acc += wb.tile_matmul(a, b)", dtype="float")
    a, b = wb.ones((16, 24), requires_grad=True), wb.ones((24, 16), requires_grad=True)
    c = wb.zeros((16, 16), requires_grad=True)
    with wb.Tape() as tape:
        wb.launch_tiled(made, (1, 1), [a, b, c], block_dim=32)
    tape.backward(grads={c: wb.ones((16, 16))})
    assert (a.grad.numpy() == 16).all() and (b.grad.numpy() == 16).all()
