"""Strips of the lanes' own rows, transposed between memory and slots in blocks of registers (`rows`).

A block is eight lanes by eight elements. Full ones are vectors as they are; of others, and where lanes are off, only
the elements that there are, are accessed, under a mask. Lanes go in ascending order, so of several that have one row
the highest is last.
"""

from __future__ import annotations

from workbench.backends.cpu.gang.emitter import GangEmitter
from workbench.backends.cpu.gang.memory import pointers
from workbench.backends.cpu.gang.widen import suffix, vector
from workbench.backends.cpu.text.values import memory
from workbench.ir.values import Op
from workbench.limits import PREFETCH_BYTES
from workbench.types import Kind, Scalar, element


def emit_row(emitter: GangEmitter, op: Op) -> None:
    """Call the function that transposes such rows: it is defined once for each operation and type."""
    w, lanes, slots = emitter.writer, emitter.width, op.operands[-2]
    scalar, count = element(slots.type), emitter.uniform(op.operands[-1])
    name = f"wb.{op.name}.{scalar}.{lanes}"
    if name not in w.declarations:
        text = _Text(op.name, scalar, lanes)
        w.declare(name, text.function(name))
        for intrinsic, declaration in text.intrinsics.items():
            w.declare(intrinsic, declaration)
    kind = vector("ptr", lanes)
    rows = w.once(("gang", "rows", kind), f"alloca {kind}, align 64", "rows")
    for _ in emitter.each_part():
        w.do(f"store {kind} {pointers(emitter, op)}, ptr {rows}, align 64")
        on = "-1"
        if emitter.mask:
            on = emitter.bits(emitter.mask)
            on = w.emit(f"zext i{lanes} {on} to i64", "on") if lanes < 64 else on
        (place,) = emitter.vectors[slots]
        w.do(f"call void @{name}(ptr {rows}, ptr {place}, i32 {count}, i64 {on})")


class _Text:
    """The lines of a function `(rows, slots, count, mask of lanes)`."""

    def __init__(self, name: str, scalar: Scalar, lanes: int) -> None:
        self.name, self.lanes, self.side = name, lanes, min(lanes, 8)
        self.kind, self.size, self.floats = memory(scalar), scalar.size, scalar.kind is Kind.FLOAT
        self.vector, self.flags = vector(self.kind, self.side), vector("i1", self.side)
        self.intrinsics: dict[str, str] = {}
        self.count = 0

    def function(self, name: str) -> str:
        """All of it: blocks of lanes in a loop, in it blocks of elements."""
        side, flags, lanes = self.side, self.flags, self.lanes
        steps = ", ".join(f"i32 {k}" for k in range(side))
        lines = [
            f"define internal void @{name}(ptr %rows, ptr %slots, i32 %count, i64 %mask) noinline nounwind {{",
            "entry:", "  %some = icmp sgt i32 %count, 0", "  br i1 %some, label %group, label %exit",
            "group:", "  %lane = phi i64 [ 0, %entry ], [ %lane.next, %group.end ]",
            "  %shifted = lshr i64 %mask, %lane", f"  %bits = trunc i64 %shifted to i{side}",
            f"  %on = bitcast i{side} %bits to {flags}", f"  %all = icmp eq i{side} %bits, -1",
            "  br label %block",
            "block:", "  %first = phi i32 [ 0, %group ], [ %first.next, %block.end ]",
            "  %left = sub i32 %count, %first", f"  %enough = icmp sge i32 %left, {side}",
            "  %full = and i1 %enough, %all", "  %at = zext i32 %first to i64",
            "  br i1 %full, label %whole, label %part",
            "whole:", *self._block(False), "  br label %block.end",
            "part:", f"  %l = insertelement <{side} x i32> poison, i32 %left, i32 0",
            f"  %lefts = shufflevector <{side} x i32> %l, <{side} x i32> poison, <{side} x i32> zeroinitializer",
            f"  %there = icmp slt <{side} x i32> <{steps}>, %lefts",
            *self._block(True), "  br label %block.end",
            "block.end:", f"  %first.next = add i32 %first, {side}", "  %more = icmp slt i32 %first.next, %count",
            "  br i1 %more, label %block, label %group.end",
            "group.end:", f"  %lane.next = add i64 %lane, {side}", f"  %lanes.more = icmp ult i64 %lane.next, {lanes}",
            "  br i1 %lanes.more, label %group, label %exit",
            "exit:", "  ret void", "}",
        ]  # fmt: skip
        return "\n".join(lines)

    def _emit(self, lines: list[str], text: str) -> str:
        self.count += 1
        lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def _block(self, masked: bool) -> list[str]:
        """One block, from lane and element on."""
        lines: list[str] = []
        places = [self._place(lines, k) for k in range(self.side)]
        masks = [self._mask(lines, k) if masked else "" for k in range(self.side)]
        if self.name == "row_load":
            for place in () if masked else places:
                self._prefetch(lines, place)
            parts = [self._load(lines, place, mask) for place, mask in zip(places, masks, strict=True)]
            for k, part in enumerate(self._transposed(lines, parts)):
                self._store(lines, part, self._slot(lines, k), "")
            return lines
        parts = [self._load(lines, self._slot(lines, k), "") for k in range(self.side)]
        for part, place, mask in zip(self._transposed(lines, parts), places, masks, strict=True):
            if self.name == "row_add":
                old, verb = self._load(lines, place, mask), "fadd" if self.floats else "add"
                part = self._emit(lines, f"{verb} {self.vector} {old}, {part}")
            self._store(lines, part, place, mask)
        return lines

    def _place(self, lines: list[str], lane: int) -> str:
        number = self._emit(lines, f"add i64 %lane, {lane}")
        row = self._emit(lines, f"load ptr, ptr {self._emit(lines, f'getelementptr ptr, ptr %rows, i64 {number}')}")
        return self._emit(lines, f"getelementptr {self.kind}, ptr {row}, i64 %at")

    def _slot(self, lines: list[str], k: int) -> str:
        start = self._emit(lines, f"getelementptr [{self.lanes} x {self.kind}], ptr %slots, i64 %at, i64 %lane")
        return self._emit(lines, f"getelementptr {self.kind}, ptr {start}, i64 {k * self.lanes}")

    def _prefetch(self, lines: list[str], place: str) -> None:
        """So many rows at a time are more than the CPU reads ahead by itself."""
        name = "llvm.prefetch.p0"
        self.intrinsics[name] = f"declare void @{name}(ptr, i32, i32, i32)"
        ahead = self._emit(lines, f"getelementptr i8, ptr {place}, i64 {PREFETCH_BYTES}")
        lines.append(f"  call void @{name}(ptr {ahead}, i32 0, i32 2, i32 1)")

    def _mask(self, lines: list[str], lane: int) -> str:
        """The elements of a lane's row that there are."""
        on = self._emit(lines, f"extractelement {self.flags} %on, i64 {lane}")
        return self._emit(lines, f"select i1 {on}, {self.flags} %there, {self.flags} zeroinitializer")

    def _load(self, lines: list[str], place: str, mask: str) -> str:
        if not mask:
            return self._emit(lines, f"load {self.vector}, ptr {place}, align {self.size}")
        name = f"llvm.masked.load.v{self.side}{suffix(self.kind)}.p0"
        self.intrinsics[name] = f"declare {self.vector} @{name}(ptr, i32, {self.flags}, {self.vector})"
        passed = f"ptr {place}, i32 {self.size}, {self.flags} {mask}, {self.vector} zeroinitializer"
        return self._emit(lines, f"call {self.vector} @{name}({passed})")

    def _store(self, lines: list[str], part: str, place: str, mask: str) -> None:
        if not mask:
            lines.append(f"  store {self.vector} {part}, ptr {place}, align {self.size}")
            return
        name = f"llvm.masked.store.v{self.side}{suffix(self.kind)}.p0"
        self.intrinsics[name] = f"declare void @{name}({self.vector}, ptr, i32, {self.flags})"
        passed = f"{self.vector} {part}, ptr {place}, i32 {self.size}, {self.flags} {mask}"
        lines.append(f"  call void @{name}({passed})")

    def _transposed(self, lines: list[str], parts: list[str]) -> list[str]:
        """Exchange neighbouring elements of neighbouring vectors, then pairs, then fours."""
        step, numbers = 1, range(self.side)
        while step < self.side:
            low = [k if not k & step else k - step + self.side for k in numbers]
            high = [k + step if not k & step else k + self.side for k in numbers]
            parts = [
                self._shuffled(lines, parts[k & ~step], parts[k | step], high if k & step else low) for k in numbers
            ]
            step *= 2
        return parts

    def _shuffled(self, lines: list[str], a: str, b: str, order: list[int]) -> str:
        lanes = ", ".join(f"i32 {k}" for k in order)
        return self._emit(lines, f"shufflevector {self.vector} {a}, {self.vector} {b}, <{self.side} x i32> <{lanes}>")
