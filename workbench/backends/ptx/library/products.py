"""Library functions for matrices: mma.sync by dense products, ldmatrix, stmatrix and movmatrix."""

from __future__ import annotations

from workbench.backends.llvm.functions import Bit, Int, Ints, LlvmFunction, Longs, Ptr, Variable, count, define
from workbench.backends.llvm.halves import narrowed, widened
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.library.words import zeros
from workbench.backends.ptx.matrices import PRODUCTS, Product

_ELEMENT = {"f16": "i16", "bf16": "i16", "s8": "i8", "u8": "i8", "tf32": "i32", "f32": "float", "s32": "i32"}


def _wide(p: Product) -> str:
    """Return the LLVM type in which a product is computed: i32 for s32, double for f64, else float."""
    return {"s32": "i32", "f64": "double"}.get(p.c, "float")


def _widened(value: Value, kind: str) -> Value:
    """Return an element of a PTX type in the type in which products of it are computed."""
    if kind == "tf32":
        return (value & -8192).cast("bitcast", "float")
    return value.to("i32", signed=kind == "s8") if kind in ("s8", "u8") else widened(value, kind)


def _spread(kind: str, wide: str) -> LlvmFunction:
    """Return the function that copies a fragment's registers into a dense matrix, widening each element.

    A table has the position in the matrix of each register's element.

    Args:
        kind: PTX type of the elements in registers.
        wide: LLVM type of the elements in the matrix.
    """
    element = _ELEMENT.get(kind, "double")

    def body(registers: Ptr, dense: Ptr, table: Ptr, size: Int) -> None:
        with count(size) as n:
            value = _widened(registers.at(n, element).load(element), kind)
            dense.at(table.at(n, "i32").load("i32"), wide).store(value)

    return LlvmFunction(body, f"spread.{kind}", head="define internal")


def _collect(kind: str, wide: str) -> LlvmFunction:
    """Return the function that copies a dense matrix into a fragment's registers; the inverse of `_spread`."""
    element = "half" if kind == "f16" else wide

    def body(registers: Ptr, dense: Ptr, table: Ptr, size: Int) -> None:
        with count(size) as n:
            value = dense.at(table.at(n, "i32").load("i32"), wide).load(wide)
            registers.at(n, element).store(narrowed(value, kind))

    return LlvmFunction(body, f"collect.{kind}", head="define internal")


_SPREAD = {kind: _spread(kind, _wide(p)) for p in PRODUCTS.values() for kind in (p.a, p.b, p.c)}
_COLLECT = {p.c: _collect(p.c, _wide(p)) for p in PRODUCTS.values()}


def _product(p: Product) -> LlvmFunction:
    """Return the function of one form of `mma.sync`.

    It copies A, B, C from fragments to dense matrices, and the result D back to C's fragment.
    """
    wide = _wide(p)

    def body(a: Ptr, b: Ptr, c: Ptr) -> None:
        w, dense, sizes = a.w, list[Value](), (p.m * p.k, p.k * p.n, p.m * p.n)
        tables = [
            (f"{p.name}.{x}", indices) for x, indices in zip("abc", (p.a_places, p.b_places, p.c_places), strict=True)
        ]
        for registers, kind, size, (name, indices) in zip((a, b, c), (p.a, p.b, p.c), sizes, tables, strict=True):
            numbers = ", ".join(f"i32 {n}" for n in indices)
            w.declare(name, f"@{name} = internal constant [{len(indices)} x i32] [{numbers}]")
            dense.append(Value(w, w.once((name,), f"alloca [{size} x {wide}], align 64"), "ptr"))
            _SPREAD[kind](registers, dense[-1], Value(w, f"@{name}", "ptr"), len(indices))
        with count(a.like(p.m, "i32")) as row:
            result = dense[2].at(row * p.n, wide)
            total = Variable(result.load(wide, p.n, align=8))
            with count(row.like(p.k)) as k:
                left = dense[0].at(row * p.k + k, wide).load(wide).spread(p.n)
                right = dense[1].at(k * p.n, wide).load(wide, p.n, align=8)
                so_far = total.get()
                total.set(left * right + so_far if wide == "i32" else left.intrinsic("fma", right, so_far))
            result.store(total.get(), align=8)
        _COLLECT[p.c](c, dense[2], Value(w, f"@{tables[2][0]}", "ptr"), sizes[2])

    return LlvmFunction(body, p.name)


def _matrices(name: str, stores: bool) -> LlvmFunction:
    """Return `wbe_ldmatrix` or `wbe_stmatrix`, which move 8x8 matrices between memory and registers.

    Lane l of register n holds the elements (l / 4, l % 4 * 2) and the next of matrix n: of its row, or transposed.
    """

    def body(mask: Int, at: Longs, matrices: Int, transposed: Bit, registers: Ptr) -> None:
        mask.w.declare("nothing", "@nothing = internal global [16 x i8] zeroinitializer, align 16")
        nothing = Value(mask.w, "@nothing", "ptr").cast("ptrtoint", "i64")
        rows = Variable(mask.flags.choose(at, nothing))
        with count(matrices * 64) as n:
            lane = n >> 1 & 31
            outer, inner = lane >> 2, (lane & 3) << 1 | n & 1
            row, column = transposed.choose(inner, outer), transposed.choose(outer, inner)
            element = rows.lane((n >> 6) * 8 + row).pointer.at(column, "i16")
            register = registers.at(n, "i16")
            target, source = (element, register) if stores else (register, element)
            target.store(source.load("i16"))

    return LlvmFunction(body, name)


@define
def wbe_movmatrix(value: Ints) -> Ints:
    """Return the transpose of an 8x8 matrix of 16-bit elements."""
    of, to = Variable(value).address, Variable(zeros(value, "i32"))
    with count(value.like(64)) as n:
        to.address.at(n, "i16").store(of.at((n & 7) * 8 + (n >> 3), "i16").load("i16"))
    return to.get()


FUNCTIONS = [
    *_SPREAD.values(), *_COLLECT.values(), *map(_product, PRODUCTS.values()), _matrices("wbe_ldmatrix", False),
    _matrices("wbe_stmatrix", True), wbe_movmatrix,
]  # fmt: skip
MATRICES = {function.name: function for function in FUNCTIONS}
"""The functions by name."""
