"""Copies, fills and sums of arrays as native entries, called as kernels are: for graphs, which run without Python.

`entry(params, begin, end, fault)` handles elements [begin, end) in row-major order. An element is `count` scalars side
by side. Params are 64-bit words: target, source, count, dense (1: both lie densely), sizes[4], target strides[4],
source strides[4] (bytes), step of the source's scalars where all is dense. A fill is a copy whose source has steps of
0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from workbench.backends.cpu.jit import CpuCode, load_symbols

WORDS = 17
LLVM_TYPES = {
    "bool": "i8", "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16", "int32": "i32", "uint32": "i32",
    "int64": "i64", "uint64": "i64", "float32": "float", "float64": "double",
}  # fmt: skip
"""Types that sums have; the rounding of 16-bit floats needs a library that not all systems have."""

_LOOP = """
define i32 @NAME(ptr noalias %params, i64 %begin, i64 %end, ptr %fault) #0 {
start:
LOADS
  %is.dense = icmp ne i64 %w3, 0
  %target = inttoptr i64 %w0 to ptr
  %source = inttoptr i64 %w1 to ptr
  br i1 %is.dense, label %dense, label %strided
dense:
  %first = mul i64 %begin, %w2
  %last = mul i64 %end, %w2
  br label %dense.head
dense.head:
  %d = phi i64 [ %first, %dense ], [ %d.next, %dense.body ]
  %d.more = icmp slt i64 %d, %last
  br i1 %d.more, label %dense.body, label %done
dense.body:
  %d.to = getelementptr inbounds TYPE, ptr %target, i64 %d
  %d.place = mul i64 %d, %w16
  %d.from = getelementptr inbounds TYPE, ptr %source, i64 %d.place
  %d.value = load TYPE, ptr %d.from, align 1
DENSE
  store TYPE %d.result, ptr %d.to, align 1
  %d.next = add i64 %d, 1
  br label %dense.head
strided:
  br label %outer
outer:
  %n = phi i64 [ %begin, %strided ], [ %n.next, %outer.next ]
  %n.more = icmp slt i64 %n, %end
  br i1 %n.more, label %place, label %done
place:
PLACES
  %to = getelementptr i8, ptr %target, i64 %to.offset
  %from = getelementptr i8, ptr %source, i64 %from.offset
  br label %inner
inner:
  %k = phi i64 [ 0, %place ], [ %k.next, %inner.body ]
  %k.more = icmp slt i64 %k, %w2
  br i1 %k.more, label %inner.body, label %outer.next
inner.body:
  %s.to = getelementptr inbounds TYPE, ptr %to, i64 %k
  %s.place = mul i64 %k, %w16
  %s.from = getelementptr inbounds TYPE, ptr %from, i64 %s.place
  %s.value = load TYPE, ptr %s.from, align 1
STRIDED
  store TYPE %s.result, ptr %s.to, align 1
  %k.next = add i64 %k, 1
  br label %inner
outer.next:
  %n.next = add i64 %n, 1
  br label %outer
done:
  ret i32 0
}
"""


def _loads() -> str:
    rows = []
    for k in range(WORDS):
        rows.append(f"  %w{k}.at = getelementptr inbounds i64, ptr %params, i64 {k}")
        rows.append(f"  %w{k} = load i64, ptr %w{k}.at")
    return "\n".join(rows)


def _places() -> str:
    """The byte offsets of element %n, from the last axis to the first."""
    rows, left = [], "%n"
    for axis in (3, 2, 1, 0):
        rows.append(f"  %i{axis} = urem i64 {left}, %w{4 + axis}")
        rows.append(f"  %left{axis} = udiv i64 {left}, %w{4 + axis}")
        left = f"%left{axis}"
    for side, base in (("to", 8), ("from", 12)):
        total = "0"
        for axis in range(4):
            rows.append(f"  %{side}.{axis} = mul i64 %i{axis}, %w{base + axis}")
            rows.append(f"  %{side}.sum{axis} = add i64 {total}, %{side}.{axis}")
            total = f"%{side}.sum{axis}"
        rows.append(f"  %{side}.offset = add i64 {total}, 0")
    return "\n".join(rows)


def _body(prefix: str, place: str, type: str, add: bool) -> str:
    if not add:
        return f"  %{prefix}.result = bitcast {type} %{prefix}.value to {type}"
    op = "fadd" if type in ("float", "double") else "add"
    old = f"  %{prefix}.old = load {type}, ptr {place}, align 1\n"
    return old + f"  %{prefix}.result = {op} {type} %{prefix}.old, %{prefix}.value"


def copy_name(size: int) -> str:
    """The symbol of the copy of scalars of so many bytes."""
    return f"wb_copy_i{8 * size}"


def add_name(dtype: str) -> str | None:
    """The symbol of the sum of scalars of a type; None where there is none."""
    return f"wb_add_{LLVM_TYPES[dtype]}" if dtype in LLVM_TYPES else None


def _names() -> list[str]:
    return [*(copy_name(size) for size in (1, 2, 4, 8)), *sorted({f"wb_add_{type}" for type in LLVM_TYPES.values()})]


def text() -> str:
    """The LLVM IR of all entries."""
    parts = []
    for name in _names():
        kind, type = name.split("_")[1:]
        body = _LOOP.replace("NAME", name).replace("LOADS", _loads()).replace("PLACES", _places())
        body = body.replace("DENSE", _body("d", "%d.to", type, kind == "add"))
        parts.append(body.replace("STRIDED", _body("s", "%s.to", type, kind == "add")).replace("TYPE", type))
    return "\n".join([*parts, "attributes #0 = { nounwind }"])


@functools.cache
def entries(image: Callable[[str, str], bytes]) -> dict[str, int]:
    """Symbol to address, for this process; `image(name, text)` gives the object file of LLVM text."""
    return _loaded(image).addresses


@functools.cache
def _loaded(image: Callable[[str, str], bytes]) -> CpuCode:
    return load_symbols(image("wb_moves", text()), _names())
