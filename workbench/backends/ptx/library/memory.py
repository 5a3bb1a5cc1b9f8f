"""Library functions for memory: checked loads and stores of 32 lanes, atomics, asynchronous copies.

A window's first byte and size are multiples of 16, so an aligned access whose first byte is inside is inside.
"""

from __future__ import annotations

from workbench.backends.ptx.library.lanes import lane_function
from workbench.backends.ptx.library.template import expanded

ELEMENTS = ("i8", "i16", "i32", "i64")

_CHECK = """
define i32 @wbe_check(ptr %ctx, i32 %mask, <32 x i64> %at, i64 %first, i64 %size, i32 %bytes, i32 %index) {
  %f = SPLAT i64 %first
  %s = SPLAT i64 %size
  %less = sub i32 %bytes, 1
  %b = zext i32 %less to i64
  %low = SPLAT i64 %b
; One unsigned comparison: what lies before the window wraps to a large offset.
  %off = sub <32 x i64> %at, %f
  %out = icmp uge <32 x i64> %off, %s
  %rest = and <32 x i64> %at, %low
  %mis = icmp ne <32 x i64> %rest, zeroinitializer
  %bad = or <32 x i1> %out, %mis
  %bad.all = bitcast <32 x i1> %bad to i32
  %bad.here = and i32 %bad.all, %mask
  %fine = icmp eq i32 %bad.here, 0
  br i1 %fine, label %good, label %fault
good:
  ret i32 %mask
fault:
  %out.all = bitcast <32 x i1> %out to i32
  %out.here = and i32 %out.all, %mask
  %wild = icmp ne i32 %out.here, 0
  %kind = select i1 %wild, i32 1, i32 2
  %which = select i1 %wild, i32 %out.here, i32 %bad.here
  call void @wbe_fault(ptr %ctx, i32 %kind, i32 %which, <32 x i64> %at, i32 %bytes, i32 %index)
  %left = xor i32 %bad.here, -1
  %ok = and i32 %left, %mask
  ret i32 %ok
}
"""

# Most accesses of a warp are a row in the order of its lanes: a vector access, much cheaper than a gather.
_ROW = """some:
  %m = bitcast i32 %mask to <32 x i1>
  %l = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
  %a = extractelement <32 x i64> %at, i32 %l
  %off = mul i32 %l, BY
  %off.64 = zext i32 %off to i64
  %base = sub i64 %a, %off.64
  %b = SPLAT i64 %base
  %row = add <32 x i64> %b, STEPS
  %in.row = icmp eq <32 x i64> %row, %at
  %row.all = bitcast <32 x i1> %in.row to i32
  %others = xor i32 %mask, -1
  %row.or = or i32 %row.all, %others
  %contiguous = icmp eq i32 %row.or, -1
"""
_ACCESS = """
declare <32 x EL> @llvm.masked.load.v32EL.p0(ptr, i32, <32 x i1>, <32 x EL>)
declare void @llvm.masked.store.v32EL.p0(<32 x EL>, ptr, i32, <32 x i1>)
declare <32 x EL> @llvm.masked.gather.v32EL.v32p0(<32 x ptr>, i32, <32 x i1>, <32 x EL>)
declare void @llvm.masked.scatter.v32EL.v32p0(<32 x EL>, <32 x ptr>, i32, <32 x i1>)

define <32 x EL> @wbe_load_EL(ptr %ctx, i32 %mask, <32 x i64> %at, i64 %first, i64 %size, i32 %index) {
  %ok = call i32 @wbe_check(ptr %ctx, i32 %mask, <32 x i64> %at, i64 %first, i64 %size, i32 BY, i32 %index)
  %r = call <32 x EL> @wbe_gather_EL(i32 %ok, <32 x i64> %at)
  ret <32 x EL> %r
}
define void @wbe_store_EL(ptr %ctx, i32 %mask, <32 x i64> %at, i64 %first, i64 %size, i32 %index, <32 x EL> %value) {
  %ok = call i32 @wbe_check(ptr %ctx, i32 %mask, <32 x i64> %at, i64 %first, i64 %size, i32 BY, i32 %index)
  call void @wbe_scatter_EL(i32 %ok, <32 x i64> %at, <32 x EL> %value)
  ret void
}
define <32 x EL> @wbe_gather_EL(i32 %mask, <32 x i64> %at) {
entry:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %nothing, label %some
nothing:
  ret <32 x EL> zeroinitializer
ROW  br i1 %contiguous, label %line, label %same
line:
  %p = inttoptr i64 %base to ptr
  %r = call <32 x EL> @llvm.masked.load.v32EL.p0(ptr %p, i32 BY, <32 x i1> %m, <32 x EL> zeroinitializer)
  ret <32 x EL> %r
same:
; All lanes read one element, as of what a block shares.
  %as = SPLAT i64 %a
  %eq = icmp eq <32 x i64> %as, %at
  %eq.all = bitcast <32 x i1> %eq to i32
  %eq.or = or i32 %eq.all, %others
  %one = icmp eq i32 %eq.or, -1
  br i1 %one, label %spread, label %gather
spread:
  %ap = inttoptr i64 %a to ptr
  %v = load EL, ptr %ap
  %vs = SPLAT EL %v
  ret <32 x EL> %vs
gather:
  %ps = inttoptr <32 x i64> %at to <32 x ptr>
  %g = call <32 x EL> @llvm.masked.gather.v32EL.v32p0(<32 x ptr> %ps, i32 BY, <32 x i1> %m, <32 x EL> zeroinitializer)
  ret <32 x EL> %g
}
define void @wbe_scatter_EL(i32 %mask, <32 x i64> %at, <32 x EL> %value) {
entry:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %nothing, label %some
nothing:
  ret void
ROW  br i1 %contiguous, label %line, label %scatter
line:
  %p = inttoptr i64 %base to ptr
  call void @llvm.masked.store.v32EL.p0(<32 x EL> %value, ptr %p, i32 BY, <32 x i1> %m)
  ret void
scatter:
  %ps = inttoptr <32 x i64> %at to <32 x ptr>
  call void @llvm.masked.scatter.v32EL.v32p0(<32 x EL> %value, <32 x ptr> %ps, i32 BY, <32 x i1> %m)
  ret void
}
"""

_COPY = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
_COPY_BODY = """  %whole = zext i32 %bytes to i64
  %asked = zext i32 %taken to i64
  %much = icmp ugt i64 %asked, %whole
  %some = select i1 %much, i64 %whole, i64 %asked
  %tp = inttoptr i64 %to to ptr
  %fp = inttoptr i64 %of to ptr
  call void @llvm.memset.p0.i64(ptr %tp, i8 0, i64 %whole, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %tp, ptr %fp, i64 %some, i1 false)"""


def _atomic(name: str, elem: str, body: str, more: tuple[str, ...] = ()) -> str:
    """Return the LLVM IR of a function that checks addresses and runs `body` for each lane: `%p` is the address.

    Args:
        name: the function's name.
        elem: integer type of the element, such as `i32`, and of the old value `%r` that `body` defines.
        body: LLVM text, which reads the operand `%x`.
        more: names of further operands of type `elem`.
    """
    scalars = ["ptr %ctx", "i32 %mask.in", "<32 x i64> %at.in", "i64 %first", "i64 %size", "i32 %index"]
    bytes = int(elem[1:]) // 8
    checked = f"ptr %ctx, i32 %mask.in, <32 x i64> %at.in, i64 %first, i64 %size, i32 {bytes}, i32 %index"
    first = f"""  %mask = call i32 @wbe_check({checked})
  %at.p = alloca <32 x i64>, align 64
  store <32 x i64> %at.in, ptr %at.p, align 64"""
    start = (
        "  %at.l = getelementptr i64, ptr %at.p, i32 %l\n  %at = load i64, ptr %at.l\n  %p = inttoptr i64 %at to ptr\n"
    )
    vectors = [("x", elem), *((name, elem) for name in more)]
    return lane_function(name, elem, scalars, vectors, start + body, first)


def _read_modify(operation: str, elem: str, as_float: str = "") -> str:
    """Return LLVM text that applies an `atomicrmw` to `%p` and `%x`, as floats of type `as_float` if that is named."""
    if not as_float:
        return f"  %r = atomicrmw {operation} ptr %p, {elem} %x seq_cst"
    return f"""  %xf = bitcast {elem} %x to {as_float}
  %rf = atomicrmw {operation} ptr %p, {as_float} %xf seq_cst
  %r = bitcast {as_float} %rf to {elem}"""


_CAS = """  %both = cmpxchg ptr %p, EL %x, EL %y seq_cst seq_cst
  %r = extractvalue { EL, i1 } %both, 0"""

# No processor adds such numbers in memory: compare and exchange until no other thread was in between.
_LOOP = """  %old = load atomic EL, ptr %p seq_cst, align BY
  br label %try
try:
  %seen = phi EL [ %old, %do ], [ %r, %try ]
SUM  %both = cmpxchg ptr %p, EL %seen, EL %new seq_cst seq_cst
  %r = extractvalue { EL, i1 } %both, 0
  %won = extractvalue { EL, i1 } %both, 1
  br i1 %won, label %added, label %try
added:
"""
# A bfloat16 is the upper half of a float; the sum is rounded to even by hand, and a NaN stays one.
_BF16 = """  %aN.32 = zext i16 %aN to i32
  %aN.up = shl i32 %aN.32, 16
  %aN.f = bitcast i32 %aN.up to float
  %bN.32 = zext i16 %bN to i32
  %bN.up = shl i32 %bN.32, 16
  %bN.f = bitcast i32 %bN.up to float
  %sN = fadd float %aN.f, %bN.f
  %iN = bitcast float %sN to i32
  %tN = lshr i32 %iN, 16
  %oN = and i32 %tN, 1
  %uN = add i32 %iN, 32767
  %wN = add i32 %uN, %oN
  %nN = fcmp uno float %sN, %sN
  %zN = lshr i32 %wN, 16
  %cN.32 = select i1 %nN, i32 32767, i32 %zN
  %cN = trunc i32 %cN.32 to i16
"""
_F16 = """  %aN.h = bitcast i16 %aN to half
  %bN.h = bitcast i16 %bN to half
  %aN.f = fpext half %aN.h to float
  %bN.f = fpext half %bN.h to float
  %sN = fadd float %aN.f, %bN.f
  %hN = fptrunc float %sN to half
  %cN = bitcast half %hN to i16
"""
_HALVES = """  %a0 = trunc i32 %seen to i16
  %a1.s = lshr i32 %seen, 16
  %a1 = trunc i32 %a1.s to i16
  %b0 = trunc i32 %x to i16
  %b1.s = lshr i32 %x, 16
  %b1 = trunc i32 %b1.s to i16
ONE  %c0.w = zext i16 %c0 to i32
  %c1.w = zext i16 %c1 to i32
  %c1.u = shl i32 %c1.w, 16
  %new = or i32 %c0.w, %c1.u
"""
_ALONE = """  %a0 = bitcast i16 %seen to i16
  %b0 = bitcast i16 %x to i16
ONE  %new = bitcast i16 %c0 to i16
"""


def _half_add(kind: str) -> str:
    """Return the LLVM IR of an atomic addition of f16, bf16 or packed pairs, by compare and exchange."""
    one = _BF16 if kind.startswith("bf16") else _F16
    if kind.endswith("x2"):
        total, elem = _HALVES.replace("ONE", one.replace("N", "0") + one.replace("N", "1")), "i32"
    else:
        total, elem = _ALONE.replace("ONE", one.replace("N", "0")), "i16"
    body = _LOOP.replace("SUM", total).replace("EL", elem).replace("BY", str(int(elem[1:]) // 8))
    return _atomic(f"wbe_atom_add_{kind}", elem, body)


def _atomics() -> str:
    """Return the LLVM IR of all atomic functions, `wbe_atom_<operation>_<type>`."""
    text: list[str] = []
    for elem in ("i16", "i32", "i64"):
        for name, operation in (("and", "and"), ("or", "or"), ("xor", "xor"), ("exch", "xchg")):
            text.append(_atomic(f"wbe_atom_{name}_{elem}", elem, _read_modify(operation, elem)))
        text.append(_atomic(f"wbe_atom_cas_{elem}", elem, _CAS.replace("EL", elem), ("y",)))
    for elem in ("i32", "i64"):
        text.append(_atomic(f"wbe_atom_add_{elem}", elem, _read_modify("add", elem)))
        for sign, prefix in (("s", ""), ("u", "u")):
            for name in ("min", "max"):
                kind = f"{sign}{elem[1:]}"
                text.append(_atomic(f"wbe_atom_{name}_{kind}", elem, _read_modify(prefix + name, elem)))
    text.append(_atomic("wbe_atom_inc_i32", "i32", _read_modify("uinc_wrap", "i32")))
    text.append(_atomic("wbe_atom_dec_i32", "i32", _read_modify("udec_wrap", "i32")))
    text.append(_atomic("wbe_atom_add_f32", "i32", _read_modify("fadd", "i32", "float")))
    text.append(_atomic("wbe_atom_add_f64", "i64", _read_modify("fadd", "i64", "double")))
    text += [_half_add(kind) for kind in ("f16", "bf16", "f16x2", "bf16x2")]
    return "".join(text)


def text() -> str:
    """Return the LLVM IR of the library functions for memory: checked loads and stores, atomics and copies."""
    access: list[str] = []
    for elem in ELEMENTS:
        by = int(elem[1:]) // 8
        steps = "<" + ", ".join(f"i64 {n * by}" for n in range(32)) + ">"
        access.append(_ACCESS.replace("ROW", _ROW).replace("EL", elem).replace("BY", str(by)).replace("STEPS", steps))
    vectors = [("to", "i64"), ("of", "i64"), ("taken", "i32")]
    scalars = ["i32 %mask", *(f"<32 x {t}> %{n}.all" for n, t in vectors)]
    copy = lane_function("wbe_copy", "", ["i32 %mask"], vectors, _COPY_BODY)
    # The size comes last, after the vectors.
    copy = copy.replace(f"@wbe_copy({', '.join(scalars)})", f"@wbe_copy({', '.join(scalars)}, i32 %bytes)")
    return expanded(_CHECK + "".join(access) + _COPY + copy + _atomics())
