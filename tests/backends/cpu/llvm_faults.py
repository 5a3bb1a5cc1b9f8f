"""Faults of LLVM that give wrong numbers, end the compiler or let it run for ever, and what is emitted instead.

One row each. `test_llvm_faults` runs each reproducer on the installed LLVM, as it is and with
the remedy: once a fault is mended there, the test says that the remedy may go.

A reproducer defines `void @reproducer(ptr %x, ptr %y, ptr %z, i64 %n)`: it reads n numbers at x, reads or changes n
numbers at y, and writes n numbers of at most 8 bytes at z.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from workbench.backends.cpu.machine import WRONG_COMPARED_HALVES, WRONG_SIGNS


class Fault(msgspec.Struct, frozen=True):
    """A fault of LLVM: the reproducer and the remedy.

    Attributes:
        name: a few words.
        issues: numbers of issues of llvm/llvm-project, if there are any.
        first: the first release of LLVM that is known to have it.
        remedy: what the backend does about it, and where.
        reproducer: returns LLVM IR that is compiled wrongly; long ones are built only for the test.
        dtype: of the numbers at x and y.
        needs: the CPU feature without which it does not show; empty if it always does.
        beside: features that are taken away before it shows; empty if none are.
        without: features whose absence is the remedy; empty if it is other text.
        instead: text in the reproducer, and what the remedy emits in its place.
        tuning: options of the pipeline with which it shows, beside those of `compile`.
        remedy_tuning: options of the pipeline that are the remedy; empty if it is other text.
        crash: words of the message with which LLVM ends the process; empty if it does not.
        seconds: processor time that the reproducer exceeds and the remedy does not; 0 if it is not about time.
        triple: of the other system for which it shows; empty for this one.
        assembly: words of the assembly text that are the fault, where the code cannot be run here.
    """

    name: str
    issues: tuple[int, ...]
    first: int
    remedy: str
    reproducer: Callable[[], str]
    dtype: str
    needs: str = ""
    beside: str = ""
    without: str = ""
    instead: tuple[str, str] = ("", "")
    tuning: dict[str, Any] = {}
    remedy_tuning: dict[str, Any] = {}
    crash: str = ""
    seconds: int = 0
    triple: str = ""
    assembly: str = ""


def _loop(source: str, target: str, body: str, join: str, entry: str = "") -> str:
    """Return a reproducer: a loop over elements of type `source`, whose result %r of type `target` goes to z."""
    return f"""\
declare float @llvm.canonicalize.f32(float)
declare i32 @llvm.umax.i32(i32, i32)
define void @reproducer(ptr noalias %x, ptr noalias %y, ptr noalias %z, i64 %n) {{
entry:
{entry}  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %x.i = getelementptr inbounds {source}, ptr %x, i64 %i
  %y.i = getelementptr inbounds {source}, ptr %y, i64 %i
  %z.i = getelementptr inbounds {target}, ptr %z, i64 %i
  %v = load {source}, ptr %x.i
{body}
end:
{join}
  store {target} %r, ptr %z.i
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret void
}}
!0 = distinct !{{!0}}
"""


def _same_for_all(load: str) -> str:
    """Return a reproducer in which 60 lines double the paths from a number that is the same for all elements."""
    lines = [load]
    for k in range(60):
        lines += [f"  %rest{k} = fsub float 1.0, %v{k}", f"  %v{k + 1} = fmul float %v{k}, %rest{k}"]
    # Another array than z may be the same memory, so the load stays in the loop.
    text = _loop("float", "float", "\n".join([*lines, "  br label %end"]), "  %r = fmul float %v, %v60")
    return text.replace("noalias ", "")


def _chain(lines: int, cut: str) -> str:
    """Return a reproducer: a row of operations, in which `cut` stands behind every 128th."""
    body = ["  %b = load i32, ptr %y.i", "  %a0 = add i32 %v, 0"]
    for k in range(lines):
        body += [f"  %m{k} = mul i32 %a{k}, %b", f"  %c{k} = xor i32 %m{k}, {2 * k + 1}"]
        body += [(cut if k % 64 == 63 else "  %a{1} = or i32 %c{0}, 0").format(k, k + 1)]
    entry = """\
  %at = alloca i32
  store volatile i32 0, ptr %at
  %zero = load volatile i32, ptr %at
"""
    return _loop("i32", "i32", "\n".join([*body, "  br label %end"]), f"  %r = add i32 %a{lines}, 0", entry)


def _loops_in_a_row(count: int) -> str:
    """Return a reproducer: so many loops of unknown length in the loop over elements."""
    body = ["  %u0 = fadd float %v, 0.0", "  br label %before0"]
    for k in range(count):
        body += [
            f"before{k}:",
            f"  br label %inner{k}",
            f"inner{k}:",
            f"  %j{k} = phi i64 [ 0, %before{k} ], [ %k{k}, %inner{k} ]",
            f"  %old{k} = phi float [ %u{k}, %before{k} ], [ %new{k}, %inner{k} ]",
            f"  %at{k} = getelementptr inbounds float, ptr %x, i64 %j{k}",
            f"  %read{k} = load float, ptr %at{k}",
            f"  %product{k} = fmul float %old{k}, %read{k}",
            f"  %new{k} = fadd float %product{k}, 1.0",
            f"  %k{k} = add nuw nsw i64 %j{k}, 1",
            f"  %on{k} = icmp ult i64 %k{k}, %turns",
            f"  br i1 %on{k}, label %inner{k}, label %after{k}",
            f"after{k}:",
            f"  %u{k + 1} = phi float [ %new{k}, %inner{k} ]",
            f"  br label %before{k + 1}",
        ]
    body += [f"before{count}:", "  br label %end"]
    return _loop(
        "float", "float", "\n".join(body), f"  %r = fadd float %u{count}, 0.0", "  %turns = load i64, ptr %y\n"
    )


def _nests(count: int, depth: int) -> str:
    """Return a reproducer: nests of loops, each with a condition that no loop changes."""
    rows = ["define void @reproducer(ptr noalias %x, ptr noalias %y, ptr noalias %z, i64 %n) {", "entry:"]
    for d in range(depth):
        rows += [f"  %f{d} = getelementptr inbounds i32, ptr %y, i64 {d}", f"  %flag{d} = load i32, ptr %f{d}"]
        rows += [f"  %c{d} = icmp sgt i32 %flag{d}, 0"]
    rows += ["  br label %in0.0"]
    for k in range(count):
        before = f"out{k - 1}.0" if k else "entry"
        for d in range(depth):
            name = f"{k}.{d}"
            inner = f"in{k}.{d + 1}" if d + 1 < depth else f"out{name}"
            rows += [
                f"in{name}:",
                f"  %i{name} = phi i64 [ 0, %{before} ], [ %next{name}, %out{name} ]",
                f"  br i1 %c{d}, label %then{name}, label %else{name}",
                f"then{name}:",
                f"  %at{name} = getelementptr inbounds i32, ptr %z, i64 %i{name}",
                f"  %old{name} = load i32, ptr %at{name}",
                f"  %new{name} = add i32 %old{name}, {d + 1}",
                f"  store i32 %new{name}, ptr %at{name}",
                f"  br label %else{name}",
                f"else{name}:",
                f"  br label %{inner}",
            ]
            before = f"else{name}"
        for d in reversed(range(depth)):
            name = f"{k}.{d}"
            outer = f"out{k}.{d - 1}" if d else f"in{k + 1}.0"
            rows += [
                f"out{name}:",
                f"  %next{name} = add nuw nsw i64 %i{name}, 1",
                f"  %more{name} = icmp ult i64 %next{name}, 2",
                f"  br i1 %more{name}, label %in{name}, label %{outer}",
            ]
    return "\n".join([*rows, f"in{count}.0:", "  ret void", "}"]) + "\n"


_MINIMUM = """\
define void @reproducer(ptr %x, ptr %y, ptr %z, i64 %n) {
  %v = load <4 x float>, ptr %x
  %w = load <4 x float>, ptr %y
  %c = fcmp olt <4 x float> %v, %w
  %r = select <4 x i1> %c, <4 x float> %v, <4 x float> %w
  store <4 x float> %r, ptr %z
  ret void
}
"""
_SIGNS = """\
define void @reproducer(ptr %x, ptr %y, ptr %z, i64 %n) {
  %v = load <32 x i16>, ptr %x
  %w = load <32 x i16>, ptr %y
  %less = icmp slt <32 x i16> %v, %w
  %more = icmp sgt <32 x i16> %v, %w
  %minus = sext <32 x i1> %less to <32 x i8>
  %plus = zext <32 x i1> %more to <32 x i8>
  %r = or <32 x i8> %minus, %plus
  store <32 x i8> %r, ptr %z
  ret void
}
"""


def _quotients() -> str:
    """Return a reproducer that rounds quotients of pairs of integers down, and writes -x to y."""
    rows = ["%i = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    for array in "xyz":
        rows += [
            f"%{array}.0 = getelementptr inbounds [2 x i32], ptr %{array}, i64 %i",
            f"%{array}.1 = getelementptr inbounds i32, ptr %{array}.0, i64 1",
        ]
    rows += [f"%{name}{k} = load i32, ptr %{array}.{k}" for name, array in ("ax", "by") for k in (0, 1)]
    for k in (0, 1):
        rows += [
            f"%zero{k} = icmp eq i32 %b{k}, 0",
            f"%minus{k} = icmp eq i32 %b{k}, -1",
            f"%least{k} = icmp eq i32 %a{k}, -2147483648",
            f"%wraps{k} = and i1 %minus{k}, %least{k}",
            f"%unsafe{k} = or i1 %zero{k}, %wraps{k}",
            f"%d{k} = select i1 %unsafe{k}, i32 1, i32 %b{k}",
            f"%q{k} = sdiv i32 %a{k}, %d{k}",
            f"%r{k} = srem i32 %a{k}, %d{k}",
            f"%inexact{k} = icmp ne i32 %r{k}, 0",
            f"%sign.a{k} = icmp slt i32 %a{k}, 0",
            f"%sign.d{k} = icmp slt i32 %d{k}, 0",
            f"%signs{k} = xor i1 %sign.a{k}, %sign.d{k}",
            f"%down{k} = and i1 %inexact{k}, %signs{k}",
            f"%below{k} = sub i32 %q{k}, 1",
            f"%floor{k} = select i1 %down{k}, i32 %below{k}, i32 %q{k}",
        ]
    rows += [f"store i32 %floor{k}, ptr %z.{k}" for k in (0, 1)]
    for k in (0, 1):
        rows += [f"%negative{k} = sub i32 0, %a{k}", f"store i32 %negative{k}, ptr %y.{k}"]
    rows += [
        "%next = add nuw nsw i64 %i, 1",
        "%more = icmp ult i64 %next, %pairs",
        "br i1 %more, label %loop, label %done",
    ]
    return "\n".join([
        "define void @reproducer(ptr noalias %x, ptr noalias %y, ptr noalias %z, i64 %n) {",
        "entry:", "%pairs = lshr i64 %n, 1", "br label %loop", "loop:", *rows, "done:", "ret void", "}",
    ]) + "\n"  # fmt: skip


FAULTS = (
    Fault(
        name="a masked load moves behind a store",
        issues=(215453, 160522),
        first=22,
        remedy="`emit/loops`: what an `if` reads from memory that the function changes is frozen",
        reproducer=lambda: _loop(
            "float",
            "float",
            """\
  %c = fcmp ogt float %v, 0.0
  br i1 %c, label %then, label %end
then:
  %old = load float, ptr %y.i
  store float %v, ptr %y.i
  br label %end""",
            "  %r = phi float [ %v, %loop ], [ %old, %then ]",
        ),
        dtype="float32",
        needs="avx2",
        instead=("%old = load float, ptr %y.i", "%read = load float, ptr %y.i\n  %old = freeze float %read"),
    ),
    Fault(
        name="the sign of zero is lost where a comparison with 0 chooses between 0 and a conversion",
        issues=(157254,),
        first=18,
        remedy="`backends/zero_signs`: such conversions go through `llvm.canonicalize`, for NVRTC through PTX",
        reproducer=lambda: _loop(
            "float",
            "double",
            """\
  %c = fcmp olt float %v, 0.0
  %d = fpext float %v to double
  br label %end""",
            "  %r = select i1 %c, double 0.0, double %d",
        ),
        dtype="float32",
        instead=(
            "%d = fpext float %v to double",
            "%w = call float @llvm.canonicalize.f32(float %v)\n  %d = fpext float %w to double",
        ),
    ),
    Fault(
        name="a sign mask is taken from the wrong lanes: VPMOV*2M and KMOV become VMOVMSK",
        issues=(174871, 191304, 198220),
        first=22,
        remedy="`machine.miscompiled`: AVX-512DQ and BW are not used",
        reproducer=lambda: _quotients(),
        dtype="int32",
        needs="avx512dq",
        without=WRONG_SIGNS,
    ),
    Fault(
        name="a comparison of float16 cannot be selected for AVX-512VL without BW",
        issues=(),
        first=22,
        remedy="`compile.features_for`: code that converts float16 does without VL, too",
        reproducer=lambda: _loop(
            "half",
            "i8",
            """\
  %w = load half, ptr %y.i
  %a = fpext half %v to float
  %b = fpext half %w to float
  %c = fcmp olt float %a, %b
  br label %end""",
            "  %r = zext i1 %c to i8",
        ),
        dtype="float16",
        needs="avx512vl",
        beside="-avx512dq,-avx512bw",
        without=WRONG_COMPARED_HALVES,
        crash="Cannot select",
    ),
    Fault(
        name="the sign of a difference of 16-bit integers cannot be selected without AVX-512BW",
        issues=(),
        first=22,
        remedy="`compile._generate`: a text on which LLVM crashes is compiled again without its passes, which make the"
        " `llvm.scmp` that it cannot select",
        reproducer=lambda: _SIGNS,
        dtype="int16",
        needs="avx512dq",
        beside="-avx512dq,-avx512bw",
        remedy_tuning={"speed_level": 0, "loop_vectorization": False, "slp_vectorization": False},
        crash="Unexpected operand type",
    ),
    Fault(
        name="a conversion to bfloat16 loses subnormal numbers",
        issues=(138424, 221052),
        first=18,
        remedy="`emit/halves`: bfloat16 is converted by operations on integers, never by `fptrunc`",
        reproducer=lambda: _loop(
            "float",
            "bfloat",
            """\
  %narrow = fptrunc float %v to bfloat
  br label %end""",
            "  %r = select i1 true, bfloat %narrow, bfloat 0.0",
        ),
        dtype="float32",
        needs="avx512bf16",
        instead=(
            "%narrow = fptrunc float %v to bfloat",
            """\
%bits = bitcast float %v to i32
  %high = lshr i32 %bits, 16
  %odd = and i32 %high, 1
  %up = add i32 %odd, 32767
  %sum = add i32 %bits, %up
  %rounded = lshr i32 %sum, 16
  %word = trunc i32 %rounded to i16
  %narrow = bitcast i16 %word to bfloat""",
        ),
    ),
    Fault(
        name="a minimum becomes WebAssembly's relaxed one, which may give any number beside a NaN",
        issues=(177814, 177968),
        first=22,
        remedy="`machine.cpu_of`: LLVM does not hear of relaxed SIMD; the page writer puts its instructions",
        reproducer=lambda: _MINIMUM,
        dtype="float32",
        triple="wasm32-unknown-unknown",
        beside="+simd128,+relaxed-simd",
        without="-relaxed-simd",
        assembly="relaxed_min",
    ),
    Fault(
        name="the loop vectoriser walks every path from a number that is the same in all turns: 2ⁿ",
        issues=(),
        first=22,
        remedy="`emit/loops`: such loads are frozen, and loops over threads are none of LLVM's to vectorise",
        reproducer=lambda: _same_for_all("  %v0 = load float, ptr %y"),
        dtype="float32",
        instead=("%v0 = load float, ptr %y", "%same = load float, ptr %y\n  %v0 = freeze float %same"),
        seconds=2,
    ),
    Fault(
        name="the loop vectoriser walks them again to interleave: 2ⁿ",
        issues=(),
        first=22,
        remedy="`emit/loops`: such loops have an interleave count of 1",
        reproducer=lambda: _same_for_all("  %same = load float, ptr %y\n  %v0 = freeze float %same"),
        dtype="float32",
        instead=("!{!0}", '!{!0, !1}\n!1 = !{!"llvm.loop.interleave.count", i32 1}'),
        tuning={"loop_interleaving": True},
        seconds=2,
    ),
    Fault(
        name="the loop vectoriser walks to the beginning of a chain from each of its operations: n²",
        issues=(),
        first=22,
        remedy="threads are vectors in the text: only a thread's own loops are LLVM's to vectorise",
        reproducer=lambda: _chain(5500, "  %a{1} = call i32 @llvm.umax.i32(i32 %c{0}, i32 0)"),
        dtype="int32",
        instead=("i32 0)", "i32 %zero)"),
        tuning={"slp_vectorization": False},
        seconds=7,
    ),
    Fault(
        name="each loop that is unrolled has the loop around it analysed again: n²",
        issues=(),
        first=22,
        remedy="`compile._tuning`, `emit/structured`: among many loops none is unrolled",
        reproducer=lambda: _loops_in_a_row(480),
        dtype="float32",
        tuning={"loop_unrolling": True, "loop_interleaving": True},
        remedy_tuning={"loop_unrolling": False, "loop_interleaving": True},
        seconds=4,
    ),
    Fault(
        name="a nest of loops is copied for each value of each condition that does not change in it",
        issues=(),
        first=22,
        remedy="`compile._tuning`: O2, which does not do that, for more than three loops in one another",
        reproducer=lambda: _nests(6, 10),
        dtype="int32",
        remedy_tuning={"speed_level": 2},
        seconds=2,
    ),
)
"""All that we know of."""
