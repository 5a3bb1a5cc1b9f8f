"""Products by `mma.sync`: fragments of 16 × 8, read from shared memory by `ldmatrix` if the operand's layout allows it.

Source: PTX ISA, "Matrix fragments for mma.m16n8k16", "… mma.m16n8k8" and "ldmatrix". The order of k within a fragment
is free as long as both operands share it: TF32 that is not read by `ldmatrix` takes neighbours along k in turns,
which spreads rows of an odd number of 16 bytes over all banks.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.backends.cuda.cpp.pieces import Key, Pieces
from workbench.backends.cuda.tiles.placement.layouts import MMA_COLUMNS, MMA_ROWS, Spread
from workbench.backends.cuda.tiles.placement.pitches import CHUNK


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

PIECES: Pieces = {("matrices",): MATRICES, ("tf32",): TF32, **{("mma", name): mma_piece(name) for name in MMA}}


def keys(dtype: str) -> set[Key]:
    """Return the keys of the prelude's pieces that products of a type in `MMA` need."""
    return {("matrices",), ("mma", dtype), *([("tf32",)] if dtype == "tf32" else [])}
