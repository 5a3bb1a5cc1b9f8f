"""Strips of the lanes' own rows (`passes/loops/row_strips`), transposed between memory and slots in registers.

A block is eight lanes by eight elements. Full ones are vectors as they are; of others, and where lanes are off, only
the elements that there are, are accessed, under a mask. Lanes go in ascending order, so of several that have one row
the highest is last.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from workbench.backends.cpu.emit.types import memory
from workbench.backends.cpu.gang.emitter import GangEmitter
from workbench.backends.cpu.gang.memory import rows
from workbench.backends.cpu.gang.transposes import row_sums, transposed
from workbench.backends.llvm.values import suffix, vector
from workbench.ir.ops import STEP
from workbench.ir.values import Op
from workbench.limits import PREFETCH_BYTES, TRANSPOSED_BLOCK
from workbench.types import Kind, Scalar, element


def emit_row(emitter: GangEmitter, op: Op) -> None:
    """Emit a call of the function that moves lanes' rows between memory and slots, and defines it if it is new."""
    slots, (first, step) = op.operands[-2], rows(emitter, op)
    variant = bool(step), op.attrs[STEP] > 0
    text = _CodeWriter(op.name, element(slots.type), emitter.width, emitter.parts, *variant)
    (address,) = emitter.vectors[slots]
    _call(emitter, text, f"ptr {first}, i64 {step or 0}, ptr {address}, i32 {emitter.uniform(op.operands[-1])}")


def emit_total(emitter: GangEmitter, op: Op) -> None:
    """Emit a call of the function that sums over the lanes of a block, pairwise, and adds the sums to a row.

    Other lanes, and those that are off, were taken into account before (`slot_total`).
    """
    slots, (first, _) = op.operands[-2], rows(emitter, op)
    text = _Total(op.name, element(slots.type), emitter.width, emitter.parts, emitter.one_core)
    (address,) = emitter.vectors[slots]
    _call(emitter, text, f"ptr {first}, i64 0, ptr {address}, i32 {emitter.uniform(op.operands[-1])}")


def _call(emitter: GangEmitter, text: _CodeWriter, operands: str) -> None:
    """Emit a call of a function that moves or sums strips; define it, and declare what it calls, if it is new."""
    w = emitter.writer
    if text.name not in w.declarations:
        w.declare(text.name, text.function())
        for name, declaration in text.intrinsics.items():
            w.declare(name, declaration)
    w.do(f"call void @{text.name}({operands}, i64 {_on(emitter)})")


def _on(emitter: GangEmitter) -> str:
    """Return an i64 with a bit for each lane of the gang that is on; "-1" if all are."""
    w, result = emitter.writer, "0"
    if not emitter.mask:
        return "-1"
    for part in emitter.each_part():
        bits = emitter.bits(emitter.mask)
        bits = w.emit(f"zext i{emitter.width} {bits} to i64", "on") if emitter.width < 64 else bits
        bits = w.emit(f"shl i64 {bits}, {emitter.first_lane}") if part else bits
        result = w.emit(f"or i64 {result}, {bits}", "on") if part else bits
    return result


class _CodeWriter:
    """Writes an LLVM function that moves lanes' rows between memory and slots.

    Its parameters are: rows, step, slots, count, and the lanes that are on.

    Attributes:
        name: of the function.
        threads: of a gang.
        side: lanes, and elements, of a block.
        intrinsics: declarations of the LLVM intrinsics that it calls, by name.
    """

    def __init__(self, operation: str, scalar: Scalar, lanes: int, parts: int, *variant: bool) -> None:
        """Describe the function.

        Args:
            operation: "row_load", "row_store" or "row_add".
            scalar: the type of the elements.
            lanes: of a part.
            parts: of the gang.
            *variant: whether rows lie at equal distances, and whether they are read upwards.
        """
        self.operation, self.threads, self.variant = operation, lanes * parts, variant
        self.name = ".".join(map(str, ("wb", operation, scalar, lanes, parts, *map(int, variant))))
        self.side = min(lanes, TRANSPOSED_BLOCK)
        self.kind, self.size, self.floats = memory(scalar), scalar.size, scalar.kind is Kind.FLOAT
        self.vector, self.flags = vector(self.kind, self.side), vector("i1", self.side)
        self.verb = "fadd" if self.floats else "add"
        self.intrinsics: dict[str, str] = {}
        self.count = 0

    def function(self) -> str:
        """Return the text of the function: a loop over blocks of lanes, and in it one over blocks of elements."""
        side, flags = self.side, self.flags
        return "\n".join([
            self._head(), "entry:", "  %some = icmp sgt i32 %count, 0", "  br i1 %some, label %group, label %exit",
            "group:", "  %lane = phi i64 [ 0, %entry ], [ %lane.next, %group.end ]",
            "  %shifted = lshr i64 %on, %lane", f"  %bits = trunc i64 %shifted to i{side}",
            f"  %flags = bitcast i{side} %bits to {flags}", f"  %all = icmp eq i{side} %bits, -1",
            f"  %own = getelementptr {self.kind}, ptr %slots, i64 %lane", "  br label %block",
            "block:", "  %first = phi i32 [ 0, %group ], [ %first.next, %block.end ]",
            "  %left = sub i32 %count, %first", f"  %enough = icmp sge i32 %left, {side}",
            "  %full = and i1 %enough, %all", "  %at = zext i32 %first to i64",
            "  br i1 %full, label %whole, label %part.block",
            "whole:", *self._block(False), "  br label %block.end",
            "part.block:", *self._there(), *self._block(True), "  br label %block.end",
            *self._block_end("group.end"),
            "group.end:", f"  %lane.next = add i64 %lane, {side}",
            f"  %lanes.more = icmp ult i64 %lane.next, {self.threads}",
            "  br i1 %lanes.more, label %group, label %exit",
            "exit:", "  ret void", "}",
        ])  # fmt: skip

    def _head(self) -> str:
        """Return the first line of the function."""
        parameters = "ptr %rows, i64 %step, ptr %slots, i32 %count, i64 %on"
        return f"define internal void @{self.name}({parameters}) noinline nounwind {{"

    def _there(self) -> list[str]:
        """Return lines that compute `%there`: which elements of a block exist."""
        kind, numbers = vector("i32", self.side), ", ".join(f"i32 {k}" for k in range(self.side))
        return [
            f"  %l = insertelement {kind} poison, i32 %left, i32 0",
            f"  %lefts = shufflevector {kind} %l, {kind} poison, {kind} zeroinitializer",
            f"  %there = icmp slt {kind} <{numbers}>, %lefts",
        ]

    def _block_end(self, after: str) -> list[str]:
        """Return the lines that go to the next block of elements, or to the label `after` if there is none."""
        return [
            "block.end:",
            f"  %first.next = add i32 %first, {self.side}",
            "  %more = icmp slt i32 %first.next, %count",
            f"  br i1 %more, label %block, label %{after}",
        ]

    def _emit(self, lines: list[str], text: str) -> str:
        """Append an instruction to the lines; return the register of its result."""
        self.count += 1
        lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def _block(self, masked: bool) -> list[str]:
        """Return the lines that move one block, masked if it may be incomplete."""
        lines: list[str] = []
        addresses = list(self._row_addresses(lines))
        masks = [self._mask(lines, k) if masked else "" for k in range(self.side)]
        if not masked:
            for index in addresses:
                self._prefetch(lines, index)
        if self.operation == "row_load":
            parts = [self._load(lines, index, mask) for index, mask in zip(addresses, masks, strict=True)]
            for k, part in enumerate(self._transposed(lines, parts)):
                self._store(lines, part, self._slot(lines, k), "")
            return lines
        parts = [self._load(lines, self._slot(lines, k), "") for k in range(self.side)]
        for part, index, mask in zip(self._transposed(lines, parts), addresses, masks, strict=True):
            if self.operation == "row_add":
                old = self._load(lines, index, mask)
                part = self._emit(lines, f"{self.verb} {self.vector} {old}, {part}")
            self._store(lines, part, index, mask)
        return lines

    def _row_addresses(self, lines: list[str]) -> Iterator[str]:
        """Yield the address at which a block begins in each lane's row."""
        for k in range(self.side):
            number = self._emit(lines, f"add i64 %lane, {k}")
            if self.variant[0]:
                bytes = self._emit(lines, f"mul i64 {number}, %step")
                row = self._emit(lines, f"getelementptr i8, ptr %rows, i64 {bytes}")
            else:
                address = self._emit(lines, f"getelementptr ptr, ptr %rows, i64 {number}")
                row = self._emit(lines, f"load ptr, ptr {address}")
            yield self._emit(lines, f"getelementptr {self.kind}, ptr {row}, i64 %at")

    def _slot(self, lines: list[str], k: int, own: str = "%own") -> str:
        """Emit the address of the current block's element `k` in the slots of a block of lanes."""
        start = self._emit(lines, f"getelementptr [{self.threads} x {self.kind}], ptr {own}, i64 %at")
        return self._emit(lines, f"getelementptr {self.kind}, ptr {start}, i64 {k * self.threads}")

    def _prefetch(self, lines: list[str], address: str) -> None:
        """Emit a prefetch ahead of an address: the CPU by itself does not read so many rows ahead."""
        name = "llvm.prefetch.p0"
        self.intrinsics[name] = f"declare void @{name}(ptr, i32, i32, i32)"
        ahead = self._emit(
            lines, f"getelementptr i8, ptr {address}, i64 {PREFETCH_BYTES if self.variant[1] else -PREFETCH_BYTES}"
        )
        write = int(self.operation != "row_load")
        lines.append(f"  call void @{name}(ptr {ahead}, i32 {write}, i32 2, i32 1)")

    def _mask(self, lines: list[str], lane: int) -> str:
        """Return the mask of the elements of a lane's row to access: those that exist, or none if the lane is off."""
        on = self._emit(lines, f"extractelement {self.flags} %flags, i64 {lane}")
        return self._emit(lines, f"select i1 {on}, {self.flags} %there, {self.flags} zeroinitializer")

    def _load(self, lines: list[str], address: str, mask: str) -> str:
        """Emit a load of one side of a block, masked if `mask` is not empty: then other elements are 0."""
        if not mask:
            return self._emit(lines, f"load {self.vector}, ptr {address}, align {self.size}")
        name = f"llvm.masked.load.v{self.side}{suffix(self.kind)}.p0"
        self.intrinsics[name] = f"declare {self.vector} @{name}(ptr, i32, {self.flags}, {self.vector})"
        passed = f"ptr {address}, i32 {self.size}, {self.flags} {mask}, {self.vector} zeroinitializer"
        return self._emit(lines, f"call {self.vector} @{name}({passed})")

    def _store(self, lines: list[str], part: str, address: str, mask: str) -> None:
        """Emit a store of one side of a block, masked if `mask` is not empty."""
        if not mask:
            lines.append(f"  store {self.vector} {part}, ptr {address}, align {self.size}")
            return
        name = f"llvm.masked.store.v{self.side}{suffix(self.kind)}.p0"
        self.intrinsics[name] = f"declare void @{name}({self.vector}, ptr, i32, {self.flags})"
        passed = f"{self.vector} {part}, ptr {address}, i32 {self.size}, {self.flags} {mask}"
        lines.append(f"  call void @{name}({passed})")

    def _transposed(self, lines: list[str], parts: list[str]) -> list[str]:
        """Emit the transposition of a block of vectors in registers; return the vectors."""
        return transposed(partial(self._emit, lines), self.kind, self.size, parts)


class _Total(_CodeWriter):
    """Writes an LLVM function that adds up what lanes add to one row.

    `variant` says whether the code runs on one core.
    """

    def function(self) -> str:
        """Return the text of the function: a loop over blocks of elements, in which all lanes are summed."""
        block: list[str] = []
        terms = [self._load(block, self._slot(block, k, "%slots"), "") for k in range(self.side)]
        sums, _ = row_sums(partial(self._emit, block), self.verb, self.kind, self.size, terms, self.side)
        block.append(f"  %place = getelementptr {self.kind}, ptr %rows, i64 %at")
        (plain,) = self.variant
        (self._add_plainly if plain else self._add)(block, sums)
        return "\n".join([
            self._head(), "entry:", f"  %sums = alloca {self.vector}, align 64",
            "  %some = icmp sgt i32 %count, 0", "  br i1 %some, label %block, label %exit",
            "block:", "  %first = phi i32 [ 0, %entry ], [ %first.next, %block.end ]",
            "  %left = sub i32 %count, %first", "  %at = zext i32 %first to i64", *self._there(), *block,
            *self._block_end("exit"), "exit:", "  ret void", "}",
        ])  # fmt: skip

    def _add_plainly(self, lines: list[str], total: str) -> None:
        """Emit the addition of the sums to the row as one masked vector, which is not atomic."""
        old = self._load(lines, "%place", "%there")
        self._store(lines, self._emit(lines, f"{self.verb} {self.vector} {old}, {total}"), "%place", "%there")
        lines.append("  br label %block.end")

    def _add(self, lines: list[str], total: str) -> None:
        """Emit the addition of the sums to the row, one element after the other and atomically."""
        self.intrinsics["llvm.smin.i32"] = "declare i32 @llvm.smin.i32(i32, i32)"
        lines += [
            f"  store {self.vector} {total}, ptr %sums, align 64",
            f"  %few = call i32 @llvm.smin.i32(i32 %left, i32 {self.side})",
            "  br label %each",
            "each:",
            "  %n = phi i32 [ 0, %block ], [ %n.next, %each ]",
            f"  %sum.at = getelementptr {self.kind}, ptr %sums, i32 %n",
            f"  %sum = load {self.kind}, ptr %sum.at",
            f"  %to.at = getelementptr {self.kind}, ptr %place, i32 %n",
            f"  %old = atomicrmw {self.verb} ptr %to.at, {self.kind} %sum monotonic",
            "  %n.next = add i32 %n, 1",
            "  %others = icmp slt i32 %n.next, %few",
            "  br i1 %others, label %each, label %block.end",
        ]
