"""Products of matrices in a block: operands in shared memory, and a rectangle of the result for each thread.

The generated function is for one shape and for the strides of its operands, so a transpose costs nothing. On sm_80
and later, 16-bit floats are multiplied by `mma.sync`, and float32 too if the product asks for TF32. Everything else
uses fused multiply-add, with 16-bit floats in float32.
"""

from __future__ import annotations

import msgspec

from workbench.backends.cuda.cpp.c_names import C_TYPES
from workbench.backends.cuda.cpp.pieces import Key
from workbench.backends.cuda.products.needed import product_spec
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.backends.cuda.tiles import fragments
from workbench.backends.cuda.tiles.elements import shape_of
from workbench.backends.cuda.tiles.fragments import Operand, loops, times
from workbench.backends.cuda.tiles.lower import Lowering
from workbench.backends.cuda.tiles.placement.layouts import MMA_COLUMNS, MMA_ROWS, Spread
from workbench.backends.cuda.tiles.placement.locations import InRegisters
from workbench.backends.cuda.tiles.placement.plan import product_layout
from workbench.ir.attributes import LINKED, PRECISION, PRODUCT, ROLE, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.values import Op, dtype_of
from workbench.types import Kind, Scalar, element, float32


class Product(msgspec.Struct, frozen=True):
    """The multiplication that one generated C++ function does.

    Attributes:
        layout: which thread has which elements of the result.
        inner: the number of terms of a sum.
        dtype, result: types of the operands' and of the result's elements.
        a, b: steps along rows and columns of the operands, in elements.
        registers: the result is in registers.
        pitch: elements from one row of the result to the next, in shared memory.
        aligned: both operands begin at multiples of 16 bytes.
        adds: the product is added to what the result holds.
        precision: "tf32" or empty.
        linked: the link-time product that is called instead (`design/products.md`), or None.
    """

    layout: Spread
    inner: int
    dtype: Scalar
    result: Scalar
    a: tuple[int, int]
    b: tuple[int, int]
    registers: bool
    pitch: int
    aligned: bool
    adds: bool
    precision: str = ""
    linked: ProductSpec | None = None

    @property
    def sum_type(self) -> Scalar:
        """The type in which sums are computed."""
        return float32 if self.dtype.is_half else self.dtype

    @property
    def mma(self) -> str:
        """The name in `fragments.MMA` of the operands' type, for products that are done by `mma.sync`."""
        return self.dtype.name if self.dtype.is_half else "tf32"

    @property
    def name(self) -> str:
        """The name of the generated C++ function, apart from a number; functions of one shape share it."""
        shape = f"{self.layout.rows}x{self.layout.columns}x{self.inner}"
        return f"wb_product_{shape}"


def tile_matmul(low: Lowering, op: Op) -> None:
    """Lower a multiplication of tiles to a `product` operation, which adds to its result if it has an accumulator.

    The accumulator is first copied to the result, unless they share storage.
    """
    b, (left, right, *acc) = low.builder, op.operands
    if acc:
        # The function adds to what the result holds; usually the two share their storage and nothing is copied.
        low.copies([(op.result, acc[0])])
    target, sources = low.location_of(op.result), [low.in_shared(left), low.in_shared(right)]
    if isinstance(target, InRegisters):
        layout, storage = target.layout, target.slots
        assert isinstance(layout, Spread)
    else:
        layout, storage = product_layout(op, low.threads), target.region.slots
    steps: list[tuple[int, int]] = []
    operands = [storage]
    for source, turned in zip(sources, (op.attrs[TRANSPOSE_A], op.attrs[TRANSPOSE_B]), strict=True):
        # A transposed operand is the same memory with its two steps swapped.
        down, across = source.steps
        steps.append((across, down) if turned else (down, across))
        operands += [source.region.slots, source.offset if source.offset is not None else b.const(0)]
    inner = shape_of(left)[0 if op.attrs[TRANSPOSE_A] else 1]
    dtype, result = (element(dtype_of(v)) for v in (left, op.result))
    precision = op.attrs.get(PRECISION) or ""
    held = isinstance(target, InRegisters)
    # Linked code takes addresses in shared memory; registers have none.
    aligned = all(s.aligned for s in sources)
    linked = None if held else _linked(op, inner, (steps[0], steps[1]), aligned, low)
    pitch = layout.columns if held else target.steps[0]  # type: ignore[union-attr]
    multiplication = Product(
        layout, inner, dtype, result, steps[0], steps[1], held, pitch, aligned, bool(acc), precision, linked
    )
    reads = [use for s in sources for use in s.uses("read", "any")]
    who = layout.who if linked is None else "any"
    # cuBLASDx reads and writes the result as it likes, so the share of a thread is not known to be ours.
    low.touch(*reads, *target.uses("write", who), *(target.uses("read", who) if linked else ()))
    b.emit("product", operands, (), {PRODUCT: multiplication})


def product_of(op: Op) -> Product:
    """Return the multiplication that a `product` operation calls."""
    multiplication = op.attrs[PRODUCT]
    assert isinstance(multiplication, Product)
    return multiplication


def _linked(
    op: Op, inner: int, steps: tuple[tuple[int, int], tuple[int, int]], aligned: bool, low: Lowering
) -> ProductSpec | None:
    """Return the link-time product to call in place of generated code.

    It is None if none is requested or cuBLASDx has none.
    """
    target = op.attrs.get(LINKED)
    if not target:
        return None
    rows, columns = shape_of(op.result)
    types = [repr(element(v.type.dtype)) for v in (op.operands[0], op.result)]  # type: ignore[union-attr]
    return product_spec(
        (rows, columns, inner), (types[0], types[1]), steps, low.threads, target,
        aligned=aligned, tf32=op.attrs.get(PRECISION) == "tf32", role=op.attrs[ROLE],
    )  # fmt: skip


def _call(product: Product, name: str, spec: ProductSpec) -> str:
    """Return the C++ function `name` that calls a link-time product."""
    operand, result = C_TYPES[product.dtype.name], C_TYPES[product.result.name]
    return f"""\
// {spec.shown} by cuBLASDx, linked in
{spec.declaration}
static __device__ __forceinline__ void {name}({result}* c, const {operand}* a, const {operand}* b)
{{
    {result} one = 1, beta = {int(product.adds)};
    {spec.symbol}(&one, ({operand}*)a, ({operand}*)b, &beta, c);
}}
"""


def function(product: Product, name: str) -> str:
    """Return the C++ function `name` of a product, with the parameters `(c, a, b)`, `c` being the result."""
    if product.linked is not None:
        return _call(product, name, product.linked)
    c, total = C_TYPES[product.dtype.name], product.layout.registers
    result = C_TYPES[product.result.name]
    target = f"{result} (&c)[{total}]" if product.registers else f"{result}* c"
    rows = [
        f"// {product.layout.rows}×{product.layout.columns} = a (steps {product.a[0]}, {product.a[1]})"
        f" · b (steps {product.b[0]}, {product.b[1]}), {product.inner} products a sum",
        f"static __device__ __forceinline__ void {name}({target}, const {c}* a, const {c}* b)",
        "{",
        "    int lane = threadIdx.x;",
    ]
    # No barrier stands inside the function, so threads without a part may leave it.
    if product.layout.used < product.layout.threads:
        rows.append(f"    if (lane >= {product.layout.used}) return;")
    rows.append(f"    {C_TYPES[product.sum_type.name]} sum[{total}];")
    rows += _over(product, _begin(product))
    if product.layout.fragments:
        rows += [
            # Decided by the preprocessor: the same text serves every architecture.
            "#if __CUDA_ARCH__ >= 800",
            *_fragments(product),
            "#else",
            *_plain(product),
            "#endif",
        ]
    else:
        rows += _plain(product)
    rows += _over(product, [f"{_element(product)} = {_cast('sum[at]', product.sum_type, product.result)};"])
    return "\n".join([*rows, "}", ""])


def _over(product: Product, body: list[str]) -> list[str]:
    """Return a C++ loop over the thread's own elements; `at` is the index of each, `i` and `j` its row and column.

    The latter are there only if the result is in shared memory.
    """
    layout = product.layout
    # Unrolled, so that `sum` and `c` stay in registers: an array indexed at run time goes to local memory.
    rows = ["#pragma unroll", f"    for (int at = 0; at < {layout.registers}; ++at) {{"]
    if not product.registers:
        rows += [
            f"        int i = {layout.row('lane', f'at / {layout.own_columns}')};",
            f"        int j = {layout.column('lane', f'at % {layout.own_columns}')};",
        ]
        tests = [t for t in (_test("i", layout, True), _test("j", layout, False)) if t]
        if tests:
            rows.append(f"        if ({' && '.join(tests)})")
            body = ["    " + row for row in body]
    return [*rows, *(f"        {row}" for row in body), "    }"]


def _begin(product: Product) -> list[str]:
    """Return the C++ that sets the thread's sum at `at` to 0, or to the result's element if the product adds to it."""
    start = _cast(_element(product), product.result, product.sum_type) if product.adds else "0"
    return [f"sum[at] = {start};"]


def _element(product: Product) -> str:
    """Return the C++ lvalue of the result's element: a register at `at`, or shared memory at row `i`, column `j`."""
    return "c[at]" if product.registers else f"c[i * {product.pitch} + j]"


def _cast(text: str, source: Scalar, target: Scalar) -> str:
    """Return the C++ conversion of a text between two types; the text itself if they are equal."""
    if source == target:
        return text
    return f"wb_to_{target.name}({text})"


def _test(name: str, layout: Spread, rows: bool) -> str:
    """Return the C++ test that the row or column `name` is one of the matrix; empty if all that threads have are."""
    size, groups = (layout.rows, layout.down) if rows else (layout.columns, layout.across)
    # If the groups divide the size, every thread's rows are inside and no test is written.
    unit = (MMA_ROWS if rows else MMA_COLUMNS) if layout.fragments else 1
    return f"{name} < {size}" if size % (groups * unit) else ""


def _plain(product: Product) -> list[str]:
    """Return a C++ loop over k with fused multiply-adds of a column of `a` and a row of `b`."""
    layout, wide = product.layout, C_TYPES[product.sum_type.name]
    rows = [
        f"    for (int k = 0; k < {product.inner}; ++k) {{",
        f"        {wide} x[{layout.own_rows}], y[{layout.own_columns}];",
    ]
    for name, count, index, test, steps in (
        ("x", layout.own_rows, layout.row("lane", "n"), _test("i", layout, True), (*product.a, "i", "k", "a")),
        ("y", layout.own_columns, layout.column("lane", "n"), _test("i", layout, False), (*product.b, "k", "i", "b")),
    ):
        outer, inner, first, second, operand = steps
        # Outside of the matrix a thread multiplies zeros: its sums are never stored, and the loop below needs no test.
        read = _cast(f"{operand}[{times(first, outer)} + {times(second, inner)}]", product.dtype, product.sum_type)
        rows += [
            "#pragma unroll",
            f"        for (int n = 0; n < {count}; ++n) {{",
            f"            int i = {index};",
            f"            {name}[n] = {f'{test} ? {read} : {wide}(0)' if test else read};",
            "        }",
        ]
    here = "sum[at]"
    x, y = f"x[at / {layout.own_columns}]", f"y[at % {layout.own_columns}]"
    rows += [
        "#pragma unroll",
        f"        for (int at = 0; at < {layout.registers}; ++at) {here} = {_fused(product.sum_type, x, y, here)};",
        "    }",
    ]
    return rows


def _fused(dtype: Scalar, x: str, y: str, z: str) -> str:
    """Return the C++ of x * y + z in a type: fused for floats, wrapping for integers."""
    if dtype.kind is Kind.FLOAT:
        return f"{'fmaf' if dtype.bits == 32 else 'fma'}({x}, {y}, {z})"
    # Integers wrap: signed ones are multiplied as unsigned ones.
    wide = "unsigned long long" if dtype.bits == 64 else "unsigned int"
    return f"({C_TYPES[dtype.name]})(({wide}){x} * ({wide}){y} + ({wide}){z})"


def _fragments(product: Product) -> list[str]:
    """Return the C++ of a product by `mma.sync`."""
    layout, half = product.layout, product.dtype.is_half
    (a_across, a_along), (b_along, b_across) = product.a, product.b
    a = Operand("a", a_across, a_along, layout.rows, _test("i", layout, True), product.aligned, half)
    b = Operand("b", b_across, b_along, layout.columns, _test("i", layout, False), product.aligned, half)
    return loops(layout, product.inner, a, b, product.mma)


def keys(product: Product) -> set[Key]:
    """Return the keys of the prelude's pieces that a product needs."""
    keys: set[Key] = {("half", t.name) for t in (product.dtype, product.result) if t.is_half}
    if product.layout.fragments and product.linked is None:
        keys |= fragments.keys(product.mma)
    return keys
