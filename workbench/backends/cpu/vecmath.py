"""Vectorised maths functions: glibc's libmvec, where this machine has it.

LLVM vectorises a loop over threads with `sinf` in it only if it knows a `sinf` of eight arguments. Each scalar function
is a small function of ours that calls the same eight-wide code for one argument, so a result does not depend on where
in a range a thread stands or how the range was split. Errors are below 4 units of the last place (glibc's promise).
"""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import lru_cache

from workbench.ir.values import Function, walk
from workbench.types import Scalar, element

LIBRARY = "libmvec.so.1"
ONE = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt erf erfc"
).split()
TWO = ("pow", "atan2", "hypot")
FUNCTIONS = {**dict.fromkeys(ONE, 1), **dict.fromkeys(TWO, 2)}
LANES = {32: 8, 64: 4}
UNROLLED = 16

PURE = "nounwind willreturn memory(none)"


@lru_cache(maxsize=1)
def library() -> str:
    """What the key says of the library: `libmvec 2.36`, or empty where it is missing or lacks a function."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return ""
    try:
        functions = ctypes.CDLL(LIBRARY)
        for name in FUNCTIONS:
            for bits in LANES:
                getattr(functions, symbol(name, bits))
        return f"libmvec {platform.libc_ver()[1]}"
    except (OSError, AttributeError):
        return ""


def symbol(name: str, bits: int) -> str:
    """The library's AVX2 function (x86-64 vector function ABI)."""
    return f"_ZGVdN{LANES[bits]}{'v' * FUNCTIONS[name]}_{_scalar(name, bits)}"


def worth_it(function: Function) -> bool:
    """Whether the loop over threads can be the innermost one: LLVM unrolls loops of few iterations, no others."""
    constants = {op.result: op.attrs["value"] for op in walk(function.body) if op.name == "const"}
    for op in walk(function.body):
        if op.name == "while":
            return False
        if op.name == "for":
            bounds = [constants.get(v) for v in op.operands[:3]]
            if any(b is None for b in bounds) or not bounds[2] or range(*map(int, bounds))[UNROLLED:]:  # type: ignore[arg-type]
                return False
    return True


def has_wide_data(function: Function) -> bool:
    """Whether 64-bit elements move through memory: then LLVM takes half as many threads at a time."""
    arrays = (op.operands[0].type for op in walk(function.body) if op.name in ("load", "store"))
    return any(element(t).bits == 64 for t in arrays)


def wrapper(name: str, scalar: Scalar, halves: bool) -> tuple[str, str, str]:
    """For one function: what to call, the call's attribute, and the definitions it needs.

    `halves`: give the loop vectoriser a variant with half the lanes too.
    """
    bits, lanes, count = scalar.bits, LANES[scalar.bits], FUNCTIONS[name]
    kind = "float" if bits == 32 else "double"
    ours, theirs = f"wb.{_scalar(name, bits)}", symbol(name, bits)
    wide = f"<{lanes} x {kind}>"
    definitions = [f"declare {wide} @{theirs}({', '.join([wide] * count)}) {PURE}"]
    definitions.append(_one(ours, theirs, kind, lanes, count))
    variants = [f"_ZGVdN{lanes}{'v' * count}_{ours}({theirs})"]
    if halves and bits == 32:
        definitions.append(_half(ours, theirs, kind, lanes, count))
        variants.append(f"_ZGVbN{lanes // 2}{'v' * count}_{ours}({ours}.half)")
    return ours, f'"vector-function-abi-variant"="{",".join(variants)}"', "\n".join(definitions)


def kept(name: str, scalar: Scalar, halves: bool) -> tuple[str, ...]:
    """Symbols that only the loop vectoriser will use: they must outlive the passes before it."""
    extra = (f"wb.{_scalar(name, scalar.bits)}.half",) if halves and scalar.bits == 32 else ()
    return (symbol(name, scalar.bits), *extra)


def _scalar(name: str, bits: int) -> str:
    return name + ("f" if bits == 32 else "")


def _one(ours: str, theirs: str, kind: str, lanes: int, count: int) -> str:
    """The scalar function: all lanes take the argument, the first gives the result."""
    wide = f"<{lanes} x {kind}>"
    rows = [f"define internal {kind} @{ours}({', '.join(f'{kind} %x{n}' for n in range(count))}) noinline {PURE} {{"]
    for n in range(count):
        rows.append(f"  %one{n} = insertelement {wide} poison, {kind} %x{n}, i64 0")
        rows.append(f"  %all{n} = shufflevector {wide} %one{n}, {wide} poison, <{lanes} x i32> zeroinitializer")
    rows.append(f"  %wide = call {wide} @{theirs}({', '.join(f'{wide} %all{n}' for n in range(count))})")
    rows.append(f"  %first = extractelement {wide} %wide, i64 0")
    return "\n".join([*rows, f"  ret {kind} %first", "}"])


def _half(ours: str, theirs: str, kind: str, lanes: int, count: int) -> str:
    """Half the lanes: each argument twice, the lower half of the result."""
    wide, half = f"<{lanes} x {kind}>", f"<{lanes // 2} x {kind}>"
    twice = ", ".join(f"i32 {k % (lanes // 2)}" for k in range(lanes))
    lower = ", ".join(f"i32 {k}" for k in range(lanes // 2))
    rows = [f"define internal {half} @{ours}.half({', '.join(f'{half} %x{n}' for n in range(count))}) {PURE} {{"]
    for n in range(count):
        rows.append(f"  %all{n} = shufflevector {half} %x{n}, {half} poison, <{lanes} x i32> <{twice}>")
    rows.append(f"  %wide = call {wide} @{theirs}({', '.join(f'{wide} %all{n}' for n in range(count))})")
    rows.append(f"  %low = shufflevector {wide} %wide, {wide} poison, <{lanes // 2} x i32> <{lower}>")
    return "\n".join([*rows, f"  ret {half} %low", "}"])
