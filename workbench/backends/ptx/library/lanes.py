"""Library functions that go lane by lane: shuffles, matches, reductions, divisions and mathematics."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.backends.ptx.library.template import expanded

LANES = 32
SIGNED = ("s16", "s32", "s64")
UNSIGNED = ("u16", "u32", "u64")
MATHS = ("exp2", "log2", "sin", "cos", "tanh")


def lane_function(
    name: str, result: str, scalars: Sequence[str], vectors: Sequence[tuple[str, str]], body: str, first: str = ""
) -> str:
    """Return the LLVM IR of a function that runs `body` once for each lane that is set in its parameter `%mask`.

    Args:
        name: the function's name.
        result: element type of the vector that it returns, 0 in other lanes; `body` defines `%r`. "": returns nothing.
        scalars: parameters with types, such as "ptr %ctx".
        vectors: names and element types of vector parameters; `body` reads the current lane `%l` of each by its name.
        body: LLVM text; it may have several blocks, the last of which must lack its terminator.
        first: text before the loop over lanes.
    """
    parameters = ", ".join([*scalars, *(f"<{LANES} x {elem}> %{v}.all" for v, elem in vectors)])
    kind = f"<{LANES} x {result}>" if result else "void"
    rows = [f"define {kind} @{name}({parameters}) {{", "entry:"]
    if result:
        rows += [f"  %out = alloca {kind}, align 64", f"  store {kind} zeroinitializer, ptr %out, align 64"]
    # Through memory once: reading a lane by a variable number would store the whole vector each time.
    for v, elem in vectors:
        rows += [f"  %{v}.p = alloca <{LANES} x {elem}>, align 64"]
        rows += [f"  store <{LANES} x {elem}> %{v}.all, ptr %{v}.p, align 64"]
    rows += [first, "  br label %head", "head:", "  %l = phi i32 [ 0, %entry ], [ %l.next, %next ]"]
    rows += ["  %bit = shl i32 1, %l", "  %on = and i32 %mask, %bit", "  %runs = icmp ne i32 %on, 0"]
    rows += ["  br i1 %runs, label %do, label %next", "do:"]
    for v, elem in vectors:
        rows += [f"  %{v}.l = getelementptr {elem}, ptr %{v}.p, i32 %l", f"  %{v} = load {elem}, ptr %{v}.l"]
    rows.append(body)
    if result:
        rows += [f"  %r.l = getelementptr {result}, ptr %out, i32 %l", f"  store {result} %r, ptr %r.l"]
    rows += ["  br label %next", "next:", "  %l.next = add i32 %l, 1", f"  %over = icmp eq i32 %l.next, {LANES}"]
    rows += ["  br i1 %over, label %done, label %head", "done:"]
    rows += [f"  %all = load {kind}, ptr %out, align 64", f"  ret {kind} %all"] if result else ["  ret void"]
    return "\n".join([*rows, "}", ""])


def _divisions() -> str:
    """Return the LLVM IR of `wbe_div_*` and `wbe_rem_*` for signed and unsigned integers, defined for every divisor."""
    text: list[str] = []
    for kind in SIGNED + UNSIGNED:
        bits = kind[1:]
        for name, zero in (("div", "-1"), ("rem", "%a")):
            # What LLVM leaves undefined and a device does not: by 0 all bits are set or the dividend is left, and
            # the least number by -1 wraps to itself, as by 1.
            body = f"""  %none = icmp eq i{bits} %b, 0
  %least = icmp eq i{bits} %a, {-(1 << (int(bits) - 1))}
  %minus = icmp eq i{bits} %b, -1
  %wraps = and i1 %least, %minus
  %unsafe = {"or i1 %none, %wraps" if kind[0] == "s" else "or i1 %none, false"}
  %by = select i1 %unsafe, i{bits} 1, i{bits} %b
  %q = {kind[0]}{name} i{bits} %a, %by
  %r = select i1 %none, i{bits} {zero}, i{bits} %q"""
            vectors = [("a", f"i{bits}"), ("b", f"i{bits}")]
            text.append(lane_function(f"wbe_{name}_{kind}", f"i{bits}", ["i32 %mask"], vectors, body))
    return "".join(text)


def _maths() -> str:
    """Return the LLVM IR of `wbe_exp2` and the like, which call the C library's float64 function per lane."""
    text = [f"declare double @{name}(double)\n" for name in MATHS]
    for name in MATHS:
        body = f"  %r = call double @{name}(double %x)"
        text.append(lane_function(f"wbe_{name}", "double", ["i32 %mask"], [("x", "double")], body))
    return "".join(text)


_PERMUTE = """
define <32 x i32> @wbe_permute(<32 x i32> %v, <32 x i32> %from) {
  %p = alloca <32 x i32>, align 64
  store <32 x i32> %v, ptr %p, align 64
  %bases = SPLAT ptr %p
  %at = getelementptr i32, <32 x ptr> %bases, <32 x i32> %from
  %r = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(
      <32 x ptr> %at, i32 4, <32 x i1> splat (i1 true), <32 x i32> poison)
  ret <32 x i32> %r
}
define i32 @wbe_first(i32 %mask, <32 x i32> %v) {
  %l = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
; 32 for no lane.
  %safe = and i32 %l, 31
  %r = extractelement <32 x i32> %v, i32 %safe
  ret i32 %r
}
define <32 x i32> @wbe_match(<32 x i64> %value, <32 x i32> %here) {
entry:
  %vp = alloca <32 x i64>, align 64
  %hp = alloca <32 x i32>, align 64
  %op = alloca <32 x i32>, align 64
  store <32 x i64> %value, ptr %vp, align 64
  store <32 x i32> %here, ptr %hp, align 64
  br label %loop
loop:
  %l = phi i32 [ 0, %entry ], [ %l.next, %loop ]
  %v.l = getelementptr i64, ptr %vp, i32 %l
  %v = load i64, ptr %v.l
  %all = SPLAT i64 %v
  %same = icmp eq <32 x i64> %all, %value
  %bits = bitcast <32 x i1> %same to i32
  %h.l = getelementptr i32, ptr %hp, i32 %l
  %h = load i32, ptr %h.l
  %r = and i32 %bits, %h
  %o.l = getelementptr i32, ptr %op, i32 %l
  store i32 %r, ptr %o.l
  %l.next = add i32 %l, 1
  %over = icmp eq i32 %l.next, 32
  br i1 %over, label %done, label %loop
done:
  %out = load <32 x i32>, ptr %op, align 64
  ret <32 x i32> %out
}
"""


def _reductions() -> str:
    """Return the LLVM IR of `wbe_redux_*`: per lane, the reduction of `%value` over the lanes in its mask `%here`."""
    text: list[str] = []
    kinds = {"add": ("add", 0), "and": ("and", -1), "or": ("or", 0), "xor": ("xor", 0)}
    kinds |= {"umin": ("umin", -1), "umax": ("umax", 0), "smin": ("smin", 2**31 - 1), "smax": ("smax", -(2**31))}
    for name, (operation, neutral) in kinds.items():
        text.append(f"""
declare i32 @llvm.vector.reduce.{operation}.v32i32(<32 x i32>)
define <32 x i32> @wbe_redux_{name}(<32 x i32> %value, <32 x i32> %here) {{
entry:
  %hp = alloca <32 x i32>, align 64
  %op = alloca <32 x i32>, align 64
  store <32 x i32> %here, ptr %hp, align 64
  br label %loop
loop:
  %l = phi i32 [ 0, %entry ], [ %l.next, %loop ]
  %h.l = getelementptr i32, ptr %hp, i32 %l
  %h = load i32, ptr %h.l
  %m = bitcast i32 %h to <32 x i1>
  %v = select <32 x i1> %m, <32 x i32> %value, <32 x i32> splat (i32 {neutral})
  %r = call i32 @llvm.vector.reduce.{operation}.v32i32(<32 x i32> %v)
  %o.l = getelementptr i32, ptr %op, i32 %l
  store i32 %r, ptr %o.l
  %l.next = add i32 %l, 1
  %over = icmp eq i32 %l.next, 32
  br i1 %over, label %done, label %loop
done:
  %out = load <32 x i32>, ptr %op, align 64
  ret <32 x i32> %out
}}
""")
    return "".join(text)


def text() -> str:
    """Return the LLVM IR of the library functions that go lane by lane: division, mathematics, shuffles, reductions."""
    return _divisions() + _maths() + expanded(_PERMUTE) + _reductions()
