"""Products of matrices in a block: operands in shared memory, the result where it is, each thread its rows × columns.

The function is written for one shape, and for the steps in memory of its operands, so a transpose costs nothing. Floats
of 16 bits are multiplied by `mma.sync` on sm_80 and later, float32 so only where the product asks for TF32; elsewhere
by fused multiply-add, 16 bits in float32.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.backends.cuda.cpp.c_names import C_TYPES
from workbench.backends.cuda.cpp.pieces import Key, Pieces
from workbench.backends.cuda.products.needed import product_spec
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.backends.cuda.tiles.elements import shape_of
from workbench.backends.cuda.tiles.lower import Lowering
from workbench.backends.cuda.tiles.placement.layouts import MMA_COLUMNS, MMA_ROWS, Spread
from workbench.backends.cuda.tiles.placement.places import InRegisters, InShared
from workbench.backends.cuda.tiles.placement.plan import product_layout
from workbench.ir.attributes import LINKED, PRECISION, PRODUCT, ROLE, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.values import Op
from workbench.types import Kind, Scalar, element, float32


@dataclass(frozen=True)
class Product:
    """What one function multiplies.

    Attributes:
        layout: which thread has which elements of the result.
        inner: the length of the sums.
        dtype, result: types of the operands' and of the result's elements.
        a, b: steps along rows and columns of the operands, in elements.
        registers: the result is in registers.
        adds: to what the result holds.
        precision: "tf32", or nothing.
        linked: the link-time product that does it (`design/products.md`), or None.
    """

    layout: Spread
    inner: int
    dtype: Scalar
    result: Scalar
    a: tuple[int, int]
    b: tuple[int, int]
    registers: bool
    adds: bool
    precision: str = ""
    linked: ProductSpec | None = None

    @property
    def sum_type(self) -> Scalar:
        """The type in which it adds."""
        return float32 if self.dtype.is_half else self.dtype

    @property
    def name(self) -> str:
        """What it is called in a text."""
        shape = f"{self.layout.rows}x{self.layout.columns}x{self.inner}"
        return f"wb_product_{shape}"


def tile_matmul(low: Lowering, op: Op) -> None:
    """The call; what it adds to is copied to the result first, where it is not there already."""
    b, (left, right, *acc) = low.builder, op.operands
    if acc:
        # The function adds to what the result holds; usually the two share their storage and nothing is copied.
        low.copies([(op.result, acc[0])], op)
    target, sources = low.place(op.result), [low.place(left), low.place(right)]
    assert all(isinstance(s, InShared) for s in sources)
    if isinstance(target, InRegisters):
        layout, storage = target.layout, target.slots
        assert isinstance(layout, Spread)
    else:
        layout, storage = product_layout(op, low.threads), target.region.slots
    steps, operands = [], [storage]
    for source, turned in zip(sources, (op.attrs[TRANSPOSE_A], op.attrs[TRANSPOSE_B]), strict=True):
        assert isinstance(source, InShared)
        # A transposed operand is the same memory with its two steps swapped.
        steps.append(source.steps[::-1] if turned else source.steps)
        operands += [source.region.slots, source.offset if source.offset is not None else b.const(0)]
    inner = shape_of(left)[0 if op.attrs[TRANSPOSE_A] else 1]
    dtype, result = (element(v.type.dtype) for v in (left, op.result))  # type: ignore[union-attr]
    precision = op.attrs.get(PRECISION) or ""
    held = isinstance(target, InRegisters)
    # Linked code takes addresses in shared memory; registers have none.
    linked = None if held else _linked(op, inner, (steps[0], steps[1]), all(s.offset is None for s in sources), low)  # type: ignore[union-attr]
    made = Product(layout, inner, dtype, result, steps[0], steps[1], held, bool(acc), precision, linked)
    reads = [use for s in sources for use in s.uses("read", "any")]
    who = layout.who if linked is None else "any"
    # cuBLASDx reads and writes the result as it likes, so the share of a thread is not known to be ours.
    low.touch(*reads, *target.uses("write", who), *(target.uses("read", who) if linked else ()))
    b.emit("product", operands, (), {PRODUCT: made})


def product_of(op: Op) -> Product:
    """What the function of a `product` multiplies."""
    made = op.attrs[PRODUCT]
    assert isinstance(made, Product)
    return made


def _linked(
    op: Op, inner: int, steps: tuple[tuple[int, int], tuple[int, int]], aligned: bool, low: Lowering
) -> ProductSpec | None:
    """The product that is called in place of generated code, if one is requested and there can be one."""
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
    """The function `name` that calls a link-time product."""
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
    """The function `name`: `(result, a, b)`."""
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
            # Decided by the preprocessor: the same text serves the host and every architecture.
            "#if defined(WB_HOST) || __CUDA_ARCH__ >= 800",
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
    """A loop over the thread's own elements, `at` the number of each."""
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
    start = _cast(_element(product), product.result, product.sum_type) if product.adds else "0"
    return [f"sum[at] = {start};"]


def _element(product: Product) -> str:
    return "c[at]" if product.registers else f"c[i * {product.layout.columns} + j]"


def _cast(text: str, source: Scalar, target: Scalar) -> str:
    if source == target:
        return text
    return f"wb_to_{target.name}({text})"


def _test(name: str, layout: Spread, rows: bool) -> str:
    """Whether a row or a column is one of the matrix; nothing where all are."""
    size, groups = (layout.rows, layout.down) if rows else (layout.columns, layout.across)
    # If the groups divide the size, every thread's rows are inside and no test is written.
    unit = (MMA_ROWS if rows else MMA_COLUMNS) if layout.fragments else 1
    return f"{name} < {size}" if size % (groups * unit) else ""


def _plain(product: Product) -> list[str]:
    """One column of `a` and one row of `b` after the other, fused multiply-add."""
    layout, wide = product.layout, C_TYPES[product.sum_type.name]
    rows = [
        f"    for (int k = 0; k < {product.inner}; ++k) {{",
        f"        {wide} x[{layout.own_rows}], y[{layout.own_columns}];",
    ]
    for name, count, place, test, steps in (
        ("x", layout.own_rows, layout.row("lane", "n"), _test("i", layout, True), (*product.a, "i", "k", "a")),
        ("y", layout.own_columns, layout.column("lane", "n"), _test("i", layout, False), (*product.b, "k", "i", "b")),
    ):
        outer, inner, first, second, operand = steps
        # Outside of the matrix a thread multiplies zeros: its sums are never stored, and the loop below needs no test.
        read = _cast(f"{operand}[{_at(first, outer)} + {_at(second, inner)}]", product.dtype, product.sum_type)
        rows += [
            "#pragma unroll",
            f"        for (int n = 0; n < {count}; ++n) {{",
            f"            int i = {place};",
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


def _at(index: str, step: int) -> str:
    return index if step == 1 else f"{index} * {step}"


def _fused(dtype: Scalar, x: str, y: str, z: str) -> str:
    if dtype.kind is Kind.FLOAT:
        return f"{'fmaf' if dtype.bits == 32 else 'fma'}({x}, {y}, {z})"
    # Integers wrap: signed ones are multiplied as unsigned ones.
    wide = "unsigned long long" if dtype.bits == 64 else "unsigned int"
    return f"({C_TYPES[dtype.name]})(({wide}){x} * ({wide}){y} + ({wide}){z})"


def _fragments(product: Product) -> list[str]:
    """Fragments of 16 × 8 by `mma.sync`, 16 (TF32: 8) products at once."""
    layout, half = product.layout, product.dtype.is_half
    # The k of m16n8k16 and m16n8k8: how many products one instruction adds up.
    depth = 16 if half else 8
    down, across = layout.own_rows // 2, layout.own_columns // 2
    loads = ("a", down, 4, 2), ("b", across, 2, 1)
    rows = [
        f"    for (int k = 0; k < {product.inner}; k += {depth}) {{",
        f"        unsigned int x[{down}][4], y[{across}][2];",
    ]
    for operand, count, registers, sides in loads:
        left = operand == "a"
        name, steps = ("x", product.a) if left else ("y", product.b)
        place = layout.row("lane", f"(2 * n + r % {sides})") if left else _b_column(layout)
        part = f"r / {sides}"
        inside = _whole(layout, left, product.inner, depth)
        across_step, along_step = steps if left else steps[::-1]
        rows += [
            "#pragma unroll",
            f"        for (int n = 0; n < {count}; ++n)",
            "#pragma unroll",
            f"            for (int r = 0; r < {registers}; ++r) {{",
            f"                int i = {place};",
        ]
        rows += _pair(product, operand, f"{name}[n][r]", part, across_step, along_step, inside)
        rows.append("            }")
    rows += [
        "#pragma unroll",
        f"        for (int i = 0; i < {down}; ++i)",
        "#pragma unroll",
        f"            for (int j = 0; j < {across}; ++j) {{",
        f"                float* s = sum + 2 * i * {layout.own_columns} + 2 * j;",
        f"                wb_mma_{product.dtype.name if half else 'tf32'}(s, s + {layout.own_columns}, x[i], y[j]);",
        "            }",
        "    }",
    ]
    return rows


def _b_column(layout: Spread) -> str:
    return f"(lane / 32 % {layout.across} + n * {layout.across}) * {MMA_COLUMNS} + lane % 32 / 4"


def _whole(layout: Spread, left: bool, inner: int, depth: int) -> tuple[str, str]:
    """Tests of the row or column, and of the place along the sum; empty where they always hold."""
    return _test("i", layout, left), f"p < {inner}" if inner % depth else ""


def _pair(
    product: Product, operand: str, target: str, part: str, across: int, along: int, tests: tuple[str, str]
) -> list[str]:
    """One register of a fragment: two neighbours along the sum, or one number of TF32."""
    indent = " " * 16
    if not product.dtype.is_half:
        test = " && ".join(t for t in tests if t)
        read = f"wb_tf32({operand}[{_at('i', across)} + {_at('p', along)}])"
        rows = [f"int p = k + lane % 4 + {part} * 4;", f"{target} = {f'{test} ? {read} : 0U' if test else read};"]
        return [indent + row for row in rows]
    rows = [f"int p = k + lane % 4 * 2 + {part} * 8;"]
    reads = []
    # Two 16-bit numbers per register, neighbours along the sum; the lower index in the lower half.
    for extra in ("", " + 1"):
        at = f"{_at('i', across)} + {_at(f'(p{extra})' if extra and along != 1 else f'p{extra}', along)}"
        test = " && ".join(t for t in (tests[0], tests[1].replace("p", f"p{extra}", 1) if tests[1] else "") if t)
        read = f"(unsigned int){operand}[{at}].bits"
        reads.append(f"({test} ? {read} : 0U)" if test else read)
    rows.append(f"{target} = {reads[0]} | {reads[1]} << 16;")
    return [indent + row for row in rows]


MMA = {
    "float16": ("m16n8k16", "f16"),
    "bfloat16": ("m16n8k16", "bf16"),
    "tf32": ("m16n8k8", "tf32"),
}


def mma_piece(name: str) -> str:
    """The instruction: `c += a · b` of one fragment, the rows of `c` in two pairs."""
    shape, word = MMA[name]
    return f"""\
WB_FN void wb_mma_{name}(float* c, float* d, const unsigned int (&a)[4], const unsigned int (&b)[2]) {{
#ifdef WB_HOST
    wb_host::mma_{name}(c, d, a, b);
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.{shape}.row.col.f32.{word}.{word}.f32 "
        "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(d[0]), "+f"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}}
"""


TF32 = """\
WB_FN unsigned int wb_tf32(float x) {
#if defined(WB_HOST)
    return ((unsigned int)__float_as_int(x) + 0x1000U) & 0xffffe000U;
#elif __CUDA_ARCH__ >= 800
    unsigned int bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
#else
    return 0U;
#endif
}
"""

PIECES: Pieces = {("tf32",): TF32, **{("mma", name): mma_piece(name) for name in MMA}}


def keys(product: Product) -> set[Key]:
    """What the prelude must hold."""
    found: set[Key] = {("half", t.name) for t in (product.dtype, product.result) if t.is_half}
    if product.layout.fragments and product.linked is None:
        found |= {("mma", product.dtype.name)} if product.dtype.is_half else {("mma", "tf32"), ("tf32",)}
    return found
