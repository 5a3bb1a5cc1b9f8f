"""LLVM functions from the formulas of `approximations.py`: the scalar one, and the wide ones the vectoriser may take.

All mean the same to the last bit, so a result does not depend on where in a range a thread stands. Where a formula does
not hold, the scalar asks the C library and a wide one asks the scalar, lane by lane. They are compiled once for a
machine, not with each kernel: a cell with a sine in it compiles as quickly as one without.
"""

from __future__ import annotations

from workbench.backends.cpu.maths.approximations import arguments, body
from workbench.backends.cpu.maths.names import symbol

PURE = "nounwind willreturn memory(none)"


def declared(name: str, bits: int, count: int = 1) -> str:
    """Return the declaration that a kernel's module needs."""
    kind = _kind(bits, count)
    return f"declare {kind} @{symbol(name, bits, count)}({', '.join([kind] * arguments(name))}) {PURE}"


def module(name: str, bits: int, counts: tuple[int, ...]) -> str:
    """Return the LLVM module of a math function's scalar and vector variants; rare arguments go to the C library."""
    return "\n".join(definitions(name, bits, counts).values()) + "\n"


def definitions(name: str, bits: int, counts: tuple[int, ...], fused: bool = True) -> dict[str, str]:
    """Return the definitions of a function, scalar and wide, by symbol: callees first."""
    needs: dict[str, str] = {}
    texts = {symbol(name, bits): _scalar(name, bits, needs, fused)}
    texts |= {symbol(name, bits, count): _wide(name, bits, count, needs, fused) for count in counts}
    return needs | texts


def _kind(bits: int, count: int) -> str:
    one = "float" if bits == 32 else "double"
    return one if count == 1 else f"<{count} x {one}>"


def _head(name: str, bits: int, count: int) -> tuple[str, str]:
    """Return the first line of a function, and its parameters."""
    kind = _kind(bits, count)
    params = ", ".join(f"{kind} %x{n}" for n in range(arguments(name)))
    return f"define {kind} @{symbol(name, bits, count)}({params}) {PURE} {{", params


def _scalar(name: str, bits: int, needs: dict[str, str], fused: bool) -> str:
    lanes, answer = body(name, bits, 1, fused)
    needs |= lanes.declarations
    head, params = _head(name, bits, 1)
    if not fused:  # in the kernel's module, where the vectoriser has to see the call
        head = head.replace(PURE, f"noinline {PURE}")
    rows, kind = [head, *lanes.rows], lanes.kind
    if answer.rare is None:
        return "\n".join([*rows, f"  ret {kind} {answer.value.name}", "}"])
    library = name + ("f" if bits == 32 else "")
    needs[library] = f"declare {kind} @{library}({', '.join([kind] * arguments(name))}) {PURE}"
    rows += [
        f"  br i1 {answer.rare.name}, label %rare, label %common",
        "rare:",
        f"  %asked = call {kind} @{library}({params})",
        f"  ret {kind} %asked",
        "common:",
        f"  ret {kind} {answer.value.name}",
        "}",
    ]
    return "\n".join(rows)


def _wide(name: str, bits: int, count: int, needs: dict[str, str], fused: bool) -> str:
    lanes, answer = body(name, bits, count, fused)
    needs |= lanes.declarations
    rows, kind = [_head(name, bits, count)[0], *lanes.rows], lanes.kind
    if answer.rare is None:
        return "\n".join([*rows, f"  ret {kind} {answer.value.name}", "}"])
    either = f"llvm.vector.reduce.or.v{count}i1"
    needs[either] = f"declare i1 @{either}({lanes.flag_kind})"
    rows += [
        f"  %some = call i1 @{either}({lanes.flag_kind} {answer.rare.name})",
        "  br i1 %some, label %rare, label %common",
        "common:",
        f"  ret {kind} {answer.value.name}",
        *_lane_by_lane(name, bits, count),
        "}",
    ]
    return "\n".join(rows)


def _lane_by_lane(name: str, bits: int, count: int) -> list[str]:
    n, kind, one = arguments(name), _kind(bits, count), _kind(bits, 1)
    rows = ["rare:", *(f"  %p{k} = alloca {kind}" for k in range(n)), f"  %out = alloca {kind}"]
    rows += [f"  store {kind} %x{k}, ptr %p{k}" for k in range(n)]
    rows += ["  br label %lane", "lane:", "  %k = phi i64 [ 0, %rare ], [ %next, %lane ]"]
    for k in range(n):
        rows += [f"  %a{k} = getelementptr {one}, ptr %p{k}, i64 %k", f"  %l{k} = load {one}, ptr %a{k}"]
    return [
        *rows,
        f"  %r = call {one} @{symbol(name, bits)}({', '.join(f'{one} %l{k}' for k in range(n))})",
        f"  %to = getelementptr {one}, ptr %out, i64 %k",
        f"  store {one} %r, ptr %to",
        "  %next = add nuw i64 %k, 1",
        f"  %more = icmp ult i64 %next, {count}",
        "  br i1 %more, label %lane, label %end",
        "end:",
        f"  %all = load {kind}, ptr %out",
        f"  ret {kind} %all",
    ]
