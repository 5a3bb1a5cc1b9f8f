"""The link-time product for a multiplication of tiles, if there is one.

In each direction a kernel needs the products that its text of that direction calls: the forward text one per
multiplication; the adjoint has adjA += adjC·Bᵀ only if something is differentiated with respect to A, and adjB +=
Aᵀ·adjC only with respect to B. So nothing is built that no text calls.
"""

from __future__ import annotations

from workbench.backends.cuda.products.spec import COLUMN, ROW, ProductSpec
from workbench.errors import BuildError
from workbench.ir.attributes import LINKED
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op

OPERATION = "tile_matmul"
ACCUMULATED = ("float32", "float64")


def multiplies(function: Function) -> bool:
    """Return whether the function multiplies tiles anywhere in its body."""
    return OPERATION in function.body.op_names


def for_linking(function: Function, target: str) -> Function:
    """Return the function with the attribute `linked`, the target, on multiplications for link-time products.

    Only multiplications whose result is float32 or float64 are marked: a result of 16 bits is added up in float32,
    for which there is no tile.
    """

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        linked = op.name == OPERATION and repr(op.result.type.dtype) in ACCUMULATED  # type: ignore[union-attr]
        return (op.replace(attrs={**op.attrs, LINKED: target}),) if linked else None

    return rewrite(function, change)


def arrangement(steps: tuple[int, int], shape: tuple[int, int]) -> tuple[str, int] | None:
    """Return the layout and the leading dimension of a matrix in memory; None if neither rows nor columns are dense.

    A single row or column counts as row-major. The leading dimension is 0 if there is no gap.

    Args:
        steps: elements from one row to the next, and from one column to the next.
        shape: rows and columns.
    """
    (down, across), (rows, columns) = steps, shape
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return ROW, 0 if rows == 1 or down == columns else down
    if (down == 1 or rows == 1) and (across >= rows or columns == 1):
        return COLUMN, 0 if columns == 1 or across == rows else across
    return None


def product_spec(
    sizes: tuple[int, int, int], types: tuple[str, str], steps: tuple[tuple[int, int], tuple[int, int]],
    threads: int, target: str, *, aligned: bool, tf32: bool, role: str,
) -> ProductSpec | None:  # fmt: skip
    """Return the specification of the product of A (m, k) and B (k, n) in memory; None if cuBLASDx has none.

    It has none if neither the rows nor the columns of A or B are dense.

    Args:
        sizes: m, n, k.
        types: of the operands' and of the result's elements.
        steps: of A and B along rows and columns, in elements.
        threads: of a block.
        target: the architecture.
        aligned: the operands begin at multiples of 16 bytes.
        tf32: float32 operands are rounded to tf32 first.
        role: "forward", "adj_a" or "adj_b", for a reader.
    """
    m, n, k = sizes
    operand, result = types
    a, b = arrangement(steps[0], (m, k)), arrangement(steps[1], (k, n))
    if a is None or b is None:
        return None
    try:
        return ProductSpec(
            m, n, k, operand, operand, result, threads, target, (a[0], b[0], ROW), (a[1], b[1], 0), aligned, tf32, role
        )
    except BuildError:
        return None
