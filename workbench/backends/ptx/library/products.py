"""Library functions for matrices: mma.sync by dense products, ldmatrix, stmatrix and movmatrix."""

from __future__ import annotations

from workbench.backends.ptx.library.template import expanded
from workbench.backends.ptx.matrices import PRODUCTS, Product

_ELEMENT = {"f16": "i16", "bf16": "i16", "s8": "i8", "u8": "i8", "tf32": "i32", "f32": "float", "s32": "i32"}
_WIDEN = {
    "f16": "  %h = bitcast i16 %e to half\n  %w = fpext half %h to float\n",
    "bf16": "  %z = zext i16 %e to i32\n  %s = shl i32 %z, 16\n  %w = bitcast i32 %s to float\n",
    "tf32": "  %z = and i32 %e, -8192\n  %w = bitcast i32 %z to float\n",
    "s8": "  %w = sext i8 %e to i32\n",
    "u8": "  %w = zext i8 %e to i32\n",
    "f32": "  %w = fadd float %e, -0.0\n",
    "s32": "  %w = add i32 %e, 0\n",
    "f64": "  %w = fadd double %e, -0.0\n",
}


def _table(name: str, indices: list[int]) -> str:
    """Return the LLVM text of a global constant `@name`, an array of these numbers as i32."""
    return f"@{name} = internal constant [{len(indices)} x i32] [{', '.join(f'i32 {p}' for p in indices)}]\n"


def _spread(name: str, kind: str, wide: str) -> str:
    """Return the LLVM IR of a function that copies a fragment's registers into a dense matrix, widening each element.

    A table, an argument of that function, has the position in the matrix of each register's element.

    Args:
        name: the function's name.
        kind: PTX type of the elements in registers.
        wide: LLVM type of the elements in the matrix.
    """
    element = _ELEMENT.get(kind, "double")
    return f"""
define internal void @{name}(ptr %registers, ptr %dense, ptr %table, i32 %count) {{
entry:
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n.next, %loop ]
  %e.p = getelementptr {element}, ptr %registers, i32 %n
  %e = load {element}, ptr %e.p
{_WIDEN[kind]}  %t.p = getelementptr i32, ptr %table, i32 %n
  %t = load i32, ptr %t.p
  %d.p = getelementptr {wide}, ptr %dense, i32 %t
  store {wide} %w, ptr %d.p
  %n.next = add i32 %n, 1
  %over = icmp eq i32 %n.next, %count
  br i1 %over, label %done, label %loop
done:
  ret void
}}
"""


def _collect(name: str, kind: str, wide: str) -> str:
    """Return the LLVM IR of a function that copies a dense matrix into a fragment's registers.

    Elements are narrowed if they are f16.

    Args:
        name: the function's name.
        kind: PTX type of the elements in registers.
        wide: LLVM type of the elements in the matrix.
    """
    half = kind == "f16"
    element = "half" if half else wide
    narrow = f"  %h = fptrunc {wide} %w to half\n" if half else f"  %h = select i1 true, {wide} %w, {wide} %w\n"
    return f"""
define internal void @{name}(ptr %registers, ptr %dense, ptr %table, i32 %count) {{
entry:
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n.next, %loop ]
  %t.p = getelementptr i32, ptr %table, i32 %n
  %t = load i32, ptr %t.p
  %d.p = getelementptr {wide}, ptr %dense, i32 %t
  %w = load {wide}, ptr %d.p
{narrow}  %e.p = getelementptr {element}, ptr %registers, i32 %n
  store {element} %h, ptr %e.p
  %n.next = add i32 %n, 1
  %over = icmp eq i32 %n.next, %count
  br i1 %over, label %done, label %loop
done:
  ret void
}}
"""


def _wide(p: Product) -> str:
    """Return the LLVM type in which a product is computed: i32 for s32, double for f64, else float."""
    return {"s32": "i32", "f64": "double"}.get(p.c, "float")


def _product(p: Product) -> str:
    """Return the LLVM IR of the function of one form of `mma.sync`, with its tables of indices.

    It copies A, B, C from fragments to dense matrices, and the result D back to C's fragment.
    """
    wide = _wide(p)
    sizes = {"a": p.m * p.k, "b": p.k * p.n, "c": p.m * p.n}
    tables = "".join(_table(f"{p.name}.{x}", getattr(p, f"{x}_places")) for x in "abc")
    row = f"<{p.n} x {wide}>"
    if wide == "i32":
        step = f"  %mul = mul {row} %as, %bs\n  %sum.next = add {row} %sum, %mul\n"
    else:
        kind = "f32" if wide == "float" else "f64"
        step = f"  %sum.next = call {row} @llvm.fma.v{p.n}{kind}({row} %as, {row} %bs, {row} %sum)\n"
    held = {x: len(getattr(p, f"{x}_places")) for x in "abc"}
    calls = "".join(
        f"  call void @spread.{kind}(ptr %{x}, ptr %{x}.d, ptr @{p.name}.{x}, i32 {held[x]})\n"
        for x, kind in (("a", p.a), ("b", p.b), ("c", p.c))
    )
    rooms = "".join(f"  %{x}.d = alloca [{size} x {wide}], align 64\n" for x, size in sizes.items())
    return f"""{tables}
define void @{p.name}(ptr %a, ptr %b, ptr %c) {{
entry:
{rooms}{calls}  br label %rows
rows:
  %i = phi i32 [ 0, %entry ], [ %i.next, %row.done ]
  %c.at = mul i32 %i, {p.n}
  %c.p = getelementptr {wide}, ptr %c.d, i32 %c.at
  %start = load {row}, ptr %c.p, align 8
  %a.at = mul i32 %i, {p.k}
  br label %inner
inner:
  %k = phi i32 [ 0, %rows ], [ %k.next, %inner ]
  %sum = phi {row} [ %start, %rows ], [ %sum.next, %inner ]
  %a.k = add i32 %a.at, %k
  %a.p = getelementptr {wide}, ptr %a.d, i32 %a.k
  %av = load {wide}, ptr %a.p
  %a0 = insertelement {row} poison, {wide} %av, i32 0
  %as = shufflevector {row} %a0, {row} poison, <{p.n} x i32> zeroinitializer
  %b.at = mul i32 %k, {p.n}
  %b.p = getelementptr {wide}, ptr %b.d, i32 %b.at
  %bs = load {row}, ptr %b.p, align 8
{step}  %k.next = add i32 %k, 1
  %k.over = icmp eq i32 %k.next, {p.k}
  br i1 %k.over, label %row.done, label %inner
row.done:
  store {row} %sum.next, ptr %c.p, align 8
  %i.next = add i32 %i, 1
  %over = icmp eq i32 %i.next, {p.m}
  br i1 %over, label %done, label %rows
done:
  call void @collect.{p.c}(ptr %c, ptr %c.d, ptr @{p.name}.c, i32 {sizes["c"]})
  ret void
}}
"""


# Lane l of register n holds the elements (l / 4, l % 4 * 2) and the next of matrix n: of its row, or transposed.
_MATRIX = """
define internal ptr @element(ptr %rows, i32 %matrix, i32 %row, i32 %column) {
  %first = mul i32 %matrix, 8
  %which = add i32 %first, %row
  %at.p = getelementptr i64, ptr %rows, i32 %which
  %at = load i64, ptr %at.p
  %p = inttoptr i64 %at to ptr
  %e = getelementptr i16, ptr %p, i32 %column
  ret ptr %e
}
define internal void @matrix(i32 %mask, <32 x i64> %at, i32 %count, i1 %trans, ptr %registers, i1 %store) {
entry:
  %rows = alloca <32 x i64>, align 64
  %null = ptrtoint ptr @nothing to i64
  %ns = SPLAT i64 %null
  %m = bitcast i32 %mask to <32 x i1>
  %safe = select <32 x i1> %m, <32 x i64> %at, <32 x i64> %ns
  store <32 x i64> %safe, ptr %rows, align 64
  %elements = mul i32 %count, 64
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n.next, %next ]
  %part = and i32 %n, 1
  %l.2 = lshr i32 %n, 1
  %l = and i32 %l.2, 31
  %matrix = lshr i32 %n, 6
  %outer = lshr i32 %l, 2
  %quarter = and i32 %l, 3
  %pair = shl i32 %quarter, 1
  %inner = or i32 %pair, %part
  %row = select i1 %trans, i32 %inner, i32 %outer
  %column = select i1 %trans, i32 %outer, i32 %inner
  %e = call ptr @element(ptr %rows, i32 %matrix, i32 %row, i32 %column)
  %r = getelementptr i16, ptr %registers, i32 %n
  br i1 %store, label %put, label %take
put:
  %v = load i16, ptr %r
  store i16 %v, ptr %e
  br label %next
take:
  %w = load i16, ptr %e
  store i16 %w, ptr %r
  br label %next
next:
  %n.next = add i32 %n, 1
  %over = icmp eq i32 %n.next, %elements
  br i1 %over, label %done, label %loop
done:
  ret void
}
@nothing = internal global [16 x i8] zeroinitializer, align 16
define void @wbe_ldmatrix(i32 %mask, <32 x i64> %at, i32 %count, i1 %trans, ptr %registers) {
  call void @matrix(i32 %mask, <32 x i64> %at, i32 %count, i1 %trans, ptr %registers, i1 false)
  ret void
}
define void @wbe_stmatrix(i32 %mask, <32 x i64> %at, i32 %count, i1 %trans, ptr %registers) {
  call void @matrix(i32 %mask, <32 x i64> %at, i32 %count, i1 %trans, ptr %registers, i1 true)
  ret void
}
define <32 x i32> @wbe_movmatrix(<32 x i32> %v) {
entry:
  %p = alloca <32 x i32>, align 64
  %o = alloca <32 x i32>, align 64
  store <32 x i32> %v, ptr %p, align 64
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n.next, %loop ]
  %row = lshr i32 %n, 3
  %column = and i32 %n, 7
  %c8 = mul i32 %column, 8
  %t = add i32 %c8, %row
  %f.p = getelementptr i16, ptr %p, i32 %t
  %e = load i16, ptr %f.p
  %t.p = getelementptr i16, ptr %o, i32 %n
  store i16 %e, ptr %t.p
  %n.next = add i32 %n, 1
  %over = icmp eq i32 %n.next, 64
  br i1 %over, label %done, label %loop
done:
  %r = load <32 x i32>, ptr %o, align 64
  ret <32 x i32> %r
}
"""


def text() -> str:
    """Return the LLVM IR of the library functions for mma, ldmatrix, stmatrix and movmatrix."""
    kinds = {kind: _wide(p) for p in PRODUCTS.values() for kind in (p.a, p.b, p.c)}
    results = {p.c: _wide(p) for p in PRODUCTS.values()}
    widths = dict.fromkeys((p.n, *row) for p in PRODUCTS.values() for row in _FMA if row[0] == _wide(p))
    heads = "".join(
        f"declare <{n} x {t}> @llvm.fma.v{n}{s}(<{n} x {t}>, <{n} x {t}>, <{n} x {t}>)\n" for n, t, s in widths
    )
    moves = "".join(_spread(f"spread.{k}", k, w) for k, w in kinds.items())
    moves += "".join(_collect(f"collect.{k}", k, w) for k, w in results.items())
    return heads + moves + "".join(map(_product, PRODUCTS.values())) + expanded(_MATRIX)


_FMA = (("float", "f32"), ("double", "f64"))
