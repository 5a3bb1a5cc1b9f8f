"""The specification of a link-time product, and which multiplications of tiles have one.

A specification says which multiplication a product performs, and not for which kernel. Two kernels with the same
multiplication share a product, and one kernel's forward product may be another's adjoint product, so the role is not
part of the identity. The symbol's name follows from the identity, so that a text can call a product that is not built
yet.

In each direction a kernel needs the products that its text of that direction calls: the forward text one per
multiplication; the adjoint has adjA += adjC·Bᵀ only if something is differentiated with respect to A, and adjB +=
Aᵀ·adjC only with respect to B. So nothing is built that no text calls.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from workbench.errors import BuildError
from workbench.ir.build import Rewriter, rewrite
from workbench.ir.ops import LINKED
from workbench.ir.values import Function, Op

SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
ROW, COLUMN = "row", "column"
ROLES = ("forward", "adj_a", "adj_b")
_ARCH = re.compile(r"sm_(\d+)([af]?)")
_SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
_WIDE = 16  # bytes that a thread reads at once


@dataclass(frozen=True)
class ProductSpec:
    """A product C(m,n) = A(m,k)·B(k,n) + beta·C by all threads of a block, operands in shared memory.

    Attributes:
        m, n, k: sizes in elements.
        a, b, c: types of the elements; sums are computed in that of C.
        threads: threads of a block, all of which call it.
        arch: the architecture it is for, such as `sm_90`.
        layouts: of A, B, C: "row" or "column" major.
        leading: elements from one row (column) to the next of A, B, C; 0 if there is no gap.
        aligned: whether the operands begin at multiples of 16 bytes.
        tf32: float32 operands are rounded to tf32 before they are multiplied.
        role: one of `ROLES`, for a reader; two specs that differ only in it are equal.

    Raises:
        BuildError: cuBLASDx has no code for this multiplication.
    """

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    threads: int
    arch: str
    layouts: tuple[str, str, str] = (ROW, ROW, ROW)
    leading: tuple[int, int, int] = (0, 0, 0)
    aligned: bool = True
    tf32: bool = False
    role: str = field(default="forward", compare=False)

    def __post_init__(self) -> None:
        """Raise a BuildError if cuBLASDx has no such product."""
        reason = _unfit(self)
        if reason:
            raise BuildError(f"cuBLASDx has no {self.shown} product: {reason}.", log="")

    @property
    def identity(self) -> str:
        """All fields that equality compares, as JSON that is the same in every process."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.compare}
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @property
    def symbol(self) -> str:
        """The name of the product's device function."""
        return f"wb_product_{hashlib.sha256(self.identity.encode()).hexdigest()[:16]}"

    @property
    def shown(self) -> str:
        """A short description for people: `16×32×8 f32`, `64×64×64 f16→f32`."""
        types = _SHORT.get(self.a, self.a)
        result = "" if self.c == self.a else f"→{_SHORT.get(self.c, self.c)}"
        return f"{self.m}×{self.n}×{self.k} {types}{result}{' tf32' if self.tf32 else ''}"

    @property
    def operand_bytes(self) -> int:
        """Bytes of shared memory that A, B and C take together."""
        return sum(count * size for count, size in zip(_extents(self), self.element_bytes, strict=True))

    @property
    def declaration(self) -> str:
        """The C++ declaration for a caller's text; `alpha` and `beta` point to one number of C's type."""
        return f'extern "C" __device__ void {self.symbol}(void* alpha, void* a, void* b, void* beta, void* c);'

    @property
    def element_bytes(self) -> tuple[int, int, int]:
        """Bytes of an element of A, B, C."""
        return SIZES[self.a], SIZES[self.b], SIZES[self.c]

    @property
    def rows(self) -> tuple[int, int, int]:
        """Elements from one row (column) to the next of A, B, C; unlike in `leading`, none is 0."""
        a, b, c = (gap or row for gap, row in zip(self.leading, _dense(self), strict=True))
        return a, b, c

    @property
    def alignment(self) -> tuple[int, int, int]:
        """The alignment in bytes of A, B, C that the code may assume row by row; at least the elements' size.

        For a C of 16 bits it is 8 at most: with 16 some layouts are refused from sm_90 on.
        """
        wide = self.aligned and not any(self.leading)
        pairs = zip(_dense(self), self.element_bytes, strict=True)
        a, b, c = (_WIDE if wide and row * size % _WIDE == 0 else size for row, size in pairs)
        return a, b, min(c, 8) if self.element_bytes[2] == 2 else c

    def as_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` takes."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ProductSpec:
        """Return the spec whose fields `as_json` returned, after a trip through JSON or without it.

        Raises:
            BuildError: cuBLASDx has no code for this multiplication.
        """
        lists: dict[str, Any] = {name: tuple(values[name]) for name in ("layouts", "leading")}
        return cls(**{**values, **lists})

    def compute_capability(self) -> tuple[int, str]:
        """Return the number and the suffix of the architecture: 90 and "a" for `sm_90a`; the suffix may be empty."""
        match = _ARCH.fullmatch(self.arch)
        assert match is not None
        return int(match[1]), match[2]


@dataclass(frozen=True)
class Product:
    """A built product, ready to be linked.

    Attributes:
        spec: what it computes.
        code: LTO-IR with the device function `spec.symbol`.
        metadata: plain values: `builder` (its name), `alignment`, `seconds` (of the build) and `waited` (seconds until
            it was there).
        digest: its key in the cache; empty if it has none.
        where: "built", "memory" or "disk".
    """

    spec: ProductSpec
    code: bytes = field(repr=False)
    metadata: dict[str, Any] = field(default_factory=dict[str, Any], compare=False)
    digest: str = ""
    where: str = field(default="built", compare=False)


def _dense(spec: ProductSpec) -> tuple[int, int, int]:
    """Return the number of elements in a row (of a column-major matrix: a column) of A, B, C."""
    shapes = ((spec.m, spec.k), (spec.k, spec.n), (spec.m, spec.n))
    rows = [shape[1] if layout == ROW else shape[0] for shape, layout in zip(shapes, spec.layouts, strict=True)]
    return rows[0], rows[1], rows[2]


def _extents(spec: ProductSpec) -> tuple[int, int, int]:
    """Return the number of elements that A, B, C span in memory, gaps between rows included."""
    shapes = ((spec.m, spec.k), (spec.k, spec.n), (spec.m, spec.n))
    lines = [shape[0] if layout == ROW else shape[1] for shape, layout in zip(shapes, spec.layouts, strict=True)]
    a, b, c = (count * row for count, row in zip(lines, spec.rows, strict=True))
    return a, b, c


def _unfit(spec: ProductSpec) -> str:
    """Return why cuBLASDx has no such product; empty if it has."""
    types = (spec.a, spec.b, spec.c)
    rules = (
        (all(t in SIZES for t in types), "its elements have to be float16, bfloat16, float32 or float64"),
        (spec.c != "bfloat16", "nothing is added up in bfloat16"),
        (all(SIZES.get(spec.c, 0) >= SIZES.get(t, 0) for t in types), "its result is narrower than its operands"),
        (min(spec.m, spec.n, spec.k) >= 1, "its sizes have to be positive"),
        (1 <= spec.threads <= 1024, "a block has 1 to 1024 threads"),
        (_ARCH.fullmatch(spec.arch) is not None, f"{spec.arch!r} is no architecture such as sm_90"),
        (all(layout in (ROW, COLUMN) for layout in spec.layouts), "a layout is row or column"),
        (not spec.tf32 or spec.a == spec.b == "float32", "tf32 is for float32"),
    )
    wrong = next((reason for holds, reason in rules if not holds), "")
    if wrong:
        return wrong
    tight = [0 < gap < row for gap, row in zip(spec.leading, _dense(spec), strict=True)]
    return "a leading dimension is less than a row" if any(tight) else ""


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
