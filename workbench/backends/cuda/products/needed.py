"""Which products a kernel needs, in one direction, for those who want it now: never one more.

A forward use needs one a multiplication. An adjoint needs adjA += adjC·Bᵀ where somebody differentiates by A, and
adjB += Aᵀ·adjC where somebody does by B. In IR the adjoint holds just those multiplications already, so its own
operations are counted; `products_needed` answers before there is an adjoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.backends.cuda.products.spec import COLUMN, ROW, ProductSpec
from workbench.errors import BuildError
from workbench.ir.rewrite import map_blocks, replace_body
from workbench.ir.values import Block, Function, Op

OPERATION = "tile_matmul"
ACCUMULATED = ("float32", "float64")
BOTH = frozenset("ab")


@dataclass(frozen=True)
class Wanted:
    """What a caller asks a kernel for.

    Attributes:
        direction: "forward" or "adjoint".
        operands: of each multiplication, those that are differentiated by: "a", "b".
        enable_backward: the kernel's (or its module's) option; False: there is no adjoint to ask for.
    """

    direction: str = "forward"
    operands: frozenset[str] = BOTH
    enable_backward: bool = True


def products_needed(forward: Iterable[ProductSpec], wanted: Wanted) -> tuple[ProductSpec, ...]:
    """The products of a kernel with these forward multiplications, each once.

    An adjoint is counted without the forward product: it multiplies forwards only where it needs that result again,
    which its IR says.
    """
    if wanted.direction == "forward":
        return tuple(dict.fromkeys(forward))
    if not wanted.enable_backward:
        return ()
    found: dict[ProductSpec, None] = {}
    for spec in forward:
        found |= dict.fromkeys(adjoint_of(spec, operand) for operand in sorted(wanted.operands))
    return tuple(found)


def adjoint_of(spec: ProductSpec, operand: str) -> ProductSpec:
    """The product that adds to the adjoint of an operand: adjA += adjC·Bᵀ, adjB += Aᵀ·adjC.

    The adjoint of C has the type of the operands, as its tile has; it is added up in the accumulator's type.
    """
    (a_layout, b_layout, c_layout), (lda, ldb, ldc) = spec.layouts, spec.leading
    if operand == "a":
        sizes, layouts, leading = (spec.m, spec.k, spec.n), (c_layout, flipped(b_layout), a_layout), (ldc, ldb, lda)
    else:
        sizes, layouts, leading = (spec.k, spec.n, spec.m), (flipped(a_layout), c_layout, b_layout), (lda, ldc, ldb)
    m, n, k = sizes
    return replace(spec, m=m, n=n, k=k, layouts=layouts, leading=leading, role=f"adj_{operand}")


def flipped(layout: str) -> str:
    """The layout that a transposed matrix is read with."""
    return COLUMN if layout == ROW else ROW


def for_linking(function: Function, target: str) -> Function:
    """The function with the attribute `linked`, the architecture, on each multiplication that a product may do.

    A tile of 16-bit results is added up in float32, which no tile of its own holds: those stay generated.
    """
    return replace_body(function, _marked(function.body, target))


def _marked(block: Block, target: str) -> Block:
    ops = []
    for op in block.ops:
        if op.name == OPERATION and repr(op.result.type.dtype) in ACCUMULATED:  # type: ignore[union-attr]
            op = Op(op.name, op.operands, op.results, {**op.attrs, "linked": target}, op.blocks, op.location)
        ops.append(map_blocks(op, lambda inner: _marked(inner, target)))
    return Block(block.params, tuple(ops))


def arrangement(steps: tuple[int, int], shape: tuple[int, int]) -> tuple[str, int] | None:
    """Layout and leading dimension of a matrix with these steps along rows and columns; None where it has neither.

    A single row or column counts as row-major.
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
    """The product of A (m, k) and B (k, n) that lie so; None where cuBLASDx has none.

    Args:
        sizes: m, n, k.
        types: of the operands' and of the result's elements.
        steps: of A and B along rows and columns.
        threads, target, aligned, tf32, role: as in `ProductSpec`.
    """
    m, n, k = sizes
    operand, result = types
    a, b = arrangement(steps[0], (m, k)), arrangement(steps[1], (k, n))
    if a is None or b is None:
        return None
    try:
        return ProductSpec(
            m, n, k, operand, operand, result, threads, target, (a[0], b[0], ROW), (a[1], b[1], 0), aligned,
            tf32, role,
        )  # fmt: skip
    except BuildError:
        return None
