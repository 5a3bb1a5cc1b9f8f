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
from workbench.ir.values import Block, Function, Op, walk

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


def specs_of(function: Function, target: str) -> tuple[ProductSpec, ...]:
    """The products of a function's multiplications of tiles, each once; what cuBLASDx has no code for is not in it."""
    found = (_spec(op, function.block_dim, target) for op in walk(function.body) if op.name == OPERATION)
    return tuple(dict.fromkeys(spec for spec in found if spec is not None))


def with_products(function: Function, target: str) -> Function:
    """The function with the attribute `product`, a ProductSpec, on each multiplication that is to be linked."""
    return replace_body(function, _marked(function.body, function.block_dim, target))


def products_in(function: Function) -> tuple[ProductSpec, ...]:
    """The products that `with_products` put in, each once."""
    return tuple(dict.fromkeys(op.attrs["product"] for op in walk(function.body) if "product" in op.attrs))


def _marked(block: Block, threads: int, target: str) -> Block:
    ops = []
    for op in block.ops:
        spec = _spec(op, threads, target) if op.name == OPERATION else None
        if spec is not None:
            op = Op(op.name, op.operands, op.results, {**op.attrs, "product": spec}, op.blocks, op.location)
        ops.append(map_blocks(op, lambda inner: _marked(inner, threads, target)))
    return Block(block.params, tuple(ops))


def _spec(op: Op, threads: int, target: str) -> ProductSpec | None:
    """The product of an operation, or None: 16-bit results are added up in float32, which no tile of theirs holds."""
    a, b, result = (value.type for value in (*op.operands[:2], op.result))
    turned = op.attrs["transpose_a"], op.attrs["transpose_b"]
    m, n = result.shape  # type: ignore[union-attr]  (a tile, as `ir.verify` says)
    k = a.shape[0 if turned[0] else 1]  # type: ignore[union-attr]
    left, right, out = (repr(t.dtype) for t in (a, b, result))  # type: ignore[union-attr]
    if out not in ACCUMULATED:
        return None
    layouts = (COLUMN if turned[0] else ROW, COLUMN if turned[1] else ROW, ROW)
    try:
        return ProductSpec(m, n, k, left, right, out, threads, target, layouts=layouts, role=op.attrs["role"])
    except BuildError:
        return None
