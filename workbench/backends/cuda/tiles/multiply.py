"""Products of matrices in a block: operands in shared memory, and a rectangle of the result for each thread.

The generated function is for one shape and for the strides of its operands, so a transpose costs nothing. On sm_80 and
later, 16-bit floats are multiplied by `mma.sync`, and float32 too if the product asks for TF32. Everything else uses
fused multiply-add, with 16-bit floats in float32.

Fragments of `mma.sync` are of 16 × 8, read from shared memory by `ldmatrix` if the operand's layout allows it. Source:
PTX ISA, "Matrix fragments for mma.m16n8k16", "… mma.m16n8k8" and "ldmatrix". The order of k within a fragment is free
as long as both operands share it: TF32 that is not read by `ldmatrix` takes neighbours along k in turns, which spreads
rows of an odd number of 16 bytes over all banks.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from workbench.backends.cuda.cpp.c_names import C_TYPES
from workbench.backends.cuda.cpp.pieces import Key, Pieces
from workbench.backends.cuda.products.spec import ProductSpec, product_spec
from workbench.backends.cuda.tiles.elements import shape_of
from workbench.backends.cuda.tiles.lower import Lowering
from workbench.backends.cuda.tiles.placement.layouts import MMA_COLUMNS, MMA_ROWS, Spread
from workbench.backends.cuda.tiles.placement.locations import InRegisters
from workbench.backends.cuda.tiles.placement.pitches import CHUNK
from workbench.backends.cuda.tiles.placement.plan import product_layout
from workbench.ir.ops import LINKED, PRECISION, PRODUCT, ROLE, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.values import Op, dtype_of
from workbench.types import Kind, Scalar, element, float32


@dataclass(frozen=True)
class Operand:
    """The left or right operand of a product, in shared memory.

    Attributes:
        name: "a" (left) or "b" (right).
        across, along: elements from one row (of `b`: column) of the result to the next, and from one k to the next.
        size: rows of `a`, or columns of `b`.
        test: the C++ test that the row or column `i` is one of the matrix; empty if all are.
        aligned: it begins at a multiple of 16 bytes.
        half: its elements are halves; else float32 to be rounded to TF32.
    """

    name: str
    across: int
    along: int
    size: int
    test: str
    aligned: bool
    half: bool

    @property
    def wide(self) -> int:
        """The number of elements in 16 bytes."""
        return CHUNK // (2 if self.half else 4)

    def is_matrix_readable(self, inner: int) -> bool:
        """Return whether `ldmatrix` can read the operand, in a product whose sums have `inner` terms."""
        if not self.aligned or inner % (2 * self.wide):
            return False
        if self.along == 1:
            return self.across % self.wide == 0
        # Turned over while it is read, which `ldmatrix` does with elements of 16 bits alone.
        return self.half and self.across == 1 and self.along % self.wide == 0 and self.size % self.wide == 0

    def is_interleaved(self, inner: int) -> bool:
        """Return whether a thread should read interleaved elements along k instead of two neighbours.

        `inner` is the number of terms of a sum.
        """
        return not self.half and not self.is_matrix_readable(inner) and self.along // 4 % 2 == 1


def loops(layout: Spread, inner: int, a: Operand, b: Operand, dtype: str) -> list[str]:
    """Emit the C++ of a product: loops that add to the thread's elements in `sum`.

    Args:
        layout: which thread has which elements of the result.
        inner: the number of terms of a sum.
        a, b: the operands.
        dtype: a name in `MMA`.
    """
    # The k of m16n8k16 and m16n8k8: how many products one instruction adds up.
    depth = 16 if a.half else 8
    down, across = layout.own_rows // 2, layout.own_columns // 2
    interleaved = a.is_interleaved(inner) and b.is_interleaved(inner)
    reads = [
        _matrices(layout, o) if o.is_matrix_readable(inner) else _single(layout, inner, o, interleaved) for o in (a, b)
    ]
    return [
        "    int thread = lane % 32, warp = lane / 32;",
        f"    for (int k = 0; k < {inner}; k += {depth}) {{",
        f"        unsigned int x[{down}][4], y[{across}][2];",
        *(f"        {row}" for rows in reads for row in rows),
        "#pragma unroll",
        f"        for (int i = 0; i < {down}; ++i)",
        "#pragma unroll",
        f"            for (int j = 0; j < {across}; ++j) {{",
        f"                float* s = sum + 2 * i * {layout.own_columns} + 2 * j;",
        f"                wb_mma_{dtype}(s, s + {layout.own_columns}, x[i], y[j]);",
        "            }",
        "    }",
    ]


def _matrices(layout: Spread, operand: Operand) -> list[str]:
    """Emit the loading of fragments by `ldmatrix`: a thread gives the address of one row of one of four matrices."""
    left, wide = operand.name == "a", operand.wide
    count = (layout.own_rows if left else layout.own_columns) // 2
    groups = f"warp / {layout.across}" if left else f"warp % {layout.across}"
    if left:
        # The matrices of `a`: rows, 8 rows on, then both further along k.
        first, along = f"({groups} + n * {layout.down}) * {MMA_ROWS} + thread / 8 % 2 * 8", "thread / 16"
    else:
        # Of `b`: further along k, then the same of the warp's next 8 columns.
        first, along = f"({groups} + (2 * n + thread / 16) * {layout.across}) * {MMA_COLUMNS}", "thread / 8 % 2"
    if operand.along == 1:
        first, last = f"{first} + thread % 8", operand.size - 1
        offset = f"i * {operand.across} + k + {along} * {wide}"
    else:
        last = operand.size - wide
        offset = f"(k + {along} * {wide} + thread % 8) * {operand.along} + i"
    # Beyond the matrix it reads what is there: those sums are never stored.
    first = f"min({first}, {last})" if operand.test else first
    turned = "false" if operand.along == 1 else "true"

    def read(targets: str) -> list[str]:
        return [f"    int i = {first};", f"    wb_matrices<{turned}>({targets}, {operand.name} + {offset});"]

    name = "x" if left else "y"
    if left:
        rows = ["#pragma unroll", f"for (int n = 0; n < {count}; ++n) {{"]
        rows += [*read("x[n][0], x[n][1], x[n][2], x[n][3]"), "}"]
    else:
        rows = ["#pragma unroll", f"for (int n = 0; n < {count // 2}; ++n) {{"]
        rows += [*read("y[2 * n][0], y[2 * n][1], y[2 * n + 1][0], y[2 * n + 1][1]"), "}"]
        if count % 2:
            rows += ["{", f"    int n = {count // 2};", *read("y[2 * n][0], y[2 * n][1]"), "}"]
    if not operand.half:
        registers = 4 if left else 2
        rows += ["#pragma unroll", f"for (int n = 0; n < {count * registers}; ++n) {{"]
        rows += [f"    unsigned int& bits = {name}[n / {registers}][n % {registers}];"]
        rows += ["    bits = wb_tf32(__int_as_float((int)bits));", "}"]
    return rows


def _single(layout: Spread, inner: int, operand: Operand, interleaved: bool) -> list[str]:
    """Emit the loading of fragments, register by register: two halves next to each other along k, or one TF32."""
    left = operand.name == "a"
    name, sides, registers = ("x", 2, 4) if left else ("y", 1, 2)
    count = (layout.own_rows if left else layout.own_columns) // 2
    row = layout.row("lane", "(2 * n + r % 2)") if left else _b_column(layout)
    rows = [
        "#pragma unroll",
        f"for (int n = 0; n < {count}; ++n)",
        "#pragma unroll",
        f"    for (int r = 0; r < {registers}; ++r) {{",
        f"        int i = {row};",
    ]
    part, end = f"r / {sides}", inner % (16 if operand.half else 8) != 0

    def at(p: str) -> str:
        return f"{operand.name}[{times('i', operand.across)} + {times(p, operand.along)}]"

    def inside(p: str) -> str:
        return " && ".join(t for t in (operand.test, f"{p} < {inner}" if end else "") if t)

    def read(p: str, value: str) -> str:
        return f"({inside(p)} ? {value} : 0U)" if inside(p) else value

    if operand.half:
        low, high = (read(p, f"(unsigned int){at(p)}.bits") for p in ("p", "(p + 1)"))
        rows += [f"        int p = k + thread % 4 * 2 + {part} * 8;"]
        rows += [f"        {name}[n][r] = {low} | {high} << 16;", "    }"]
        return rows
    step = f"thread % 4 * 2 + {part}" if interleaved else f"thread % 4 + {part} * 4"
    number = f"wb_tf32({at('p')})"
    return [*rows, f"        int p = k + {step};", f"        {name}[n][r] = {read('p', number)};", "    }"]


def _b_column(layout: Spread) -> str:
    """Return the C++ expression of the column that this thread reads of fragment `n` of the right operand."""
    return f"(warp % {layout.across} + n * {layout.across}) * {MMA_COLUMNS} + thread / 4"


def times(index: str, step: int) -> str:
    """Return the C++ product of an index and a step; the index alone for a step of 1."""
    return index if step == 1 else f"{index} * {step}"


MMA = {
    "float16": ("m16n8k16", "f16"),
    "bfloat16": ("m16n8k16", "bf16"),
    "tf32": ("m16n8k8", "tf32"),
}


def mma_piece(name: str) -> str:
    """Return the C++ function of one `mma.sync`, which adds a · b to a fragment.

    The rows of the fragment are in two pairs, `c` and `d`.
    """
    shape, word = MMA[name]
    return f"""\
WB_FN void wb_mma_{name}(float* c, float* d, const unsigned int (&a)[4], const unsigned int (&b)[2]) {{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.{shape}.row.col.f32.{word}.{word}.f32 "
        "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(d[0]), "+f"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}}
"""


TF32 = """\
WB_FN unsigned int wb_tf32(float x) {
#if __CUDA_ARCH__ >= 800
    unsigned int bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
#else
    return 0U;
#endif
}
"""

# `volatile` and "memory": it must not move over a barrier, though it writes nothing.
MATRICES = """\
template <bool turned>
WB_FN void wb_matrices(unsigned int& x, unsigned int& y, unsigned int& z, unsigned int& w, const void* row) {
    unsigned int at = (unsigned int)__cvta_generic_to_shared(row);
    if (turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at) : "memory");
}
template <bool turned> WB_FN void wb_matrices(unsigned int& x, unsigned int& y, const void* row) {
    unsigned int at = (unsigned int)__cvta_generic_to_shared(row);
    if (turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
            : "=r"(x), "=r"(y) : "r"(at) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
            : "=r"(x), "=r"(y) : "r"(at) : "memory");
}
"""

PRODUCT_PIECES: Pieces = {("matrices",): MATRICES, ("tf32",): TF32, **{("mma", name): mma_piece(name) for name in MMA}}


def fragment_keys(dtype: str) -> set[Key]:
    """Return the keys of the prelude's pieces that products of a type in `MMA` need."""
    return {("matrices",), ("mma", dtype), *([("tf32",)] if dtype == "tf32" else [])}


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
        """The name in `MMA` of the operands' type, for products that are done by `mma.sync`."""
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
        keys |= fragment_keys(product.mma)
    return keys
