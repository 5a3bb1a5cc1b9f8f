"""A function for gangs of threads: the loop over full gangs, and the operations of one gang under a mask.

A value is in one of three forms. *Uniform* ones stay scalars, and the scalar handlers emit what computes them.
*Linear* ones are the scalar of the gang's first thread and a distance from thread to thread. All others are *varying*:
one vector for each component, whose text is what the scalar handlers write, widened (`text`). Threads behind the last
full gang are emitted by the scalar emitter.

A gang is one or several *parts*, vectors of `width` threads that fit the registers which the target prefers. Parts go
in step: what varies is emitted for one part after the other, operation by operation, and all share what is uniform, so
nothing waits that need not, and LLVM has no vector to split. A gang may have several rows, each of which has as many
parts: what is the same in all rows is emitted once, so that they load it once, and add to it once.

A block is entered only where a lane of its mask is on, so what is uniform in it may be read as a scalar.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.backends.base import Options
from workbench.backends.cpu.emit.elementwise import emit_builtin
from workbench.backends.cpu.emit.emit_module import HANDLERS, Division, ModuleEmitter
from workbench.backends.cpu.emit.emitter import later
from workbench.backends.cpu.emit.loops import Strips, lone_loops
from workbench.backends.cpu.emit.types import width
from workbench.backends.cpu.gang.text import Distant, Registers, Stack, WideWriter, distant, variants
from workbench.backends.cpu.gang.transposes import struct_loads
from workbench.backends.cpu.gang.width import MASKED, NARROW, Shape, frame
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.backends.llvm.values import Value as LlvmValue
from workbench.backends.llvm.values import numbers, splat, vector
from workbench.ir.ops import LEAD, LOOPS
from workbench.ir.values import Block, Function, Op, Value, carried_params, walk
from workbench.limits import GANG_STEP
from workbench.passes.analysis.divergence import is_divergent, varying_values
from workbench.types import Kind, Scalar, element, int32, int64

if TYPE_CHECKING:
    from workbench.passes.loops.panels import Paneled

INTEGER_DIVISIONS = frozenset({"trunc_div", "trunc_rem"})
RARELY_SLOW = frozenset({"sin", "cos", "tan", "pow"})
"""Functions whose formulas call the C library for some arguments (`maths/approximations`), such as large ones: a lane
that is off may have those in each turn of a loop, when it has left because its value was large."""
DIVISIONS = INTEGER_DIVISIONS | {"fmod"}
LINEAR = frozenset({"add", "sub", "mul", "cast", "neg"})
"""Operations whose integers may be linear, if their operands are."""
each_lane = later("gang.lanes", "each_lane")


class GangEmitter(ModuleEmitter):
    """Emits the operations of a gang: as vectors under a mask, or as scalars where all its threads agree.

    Attributes:
        shape: how many threads gangs have.
        width: lanes of a part of the current gang, which is one vector.
        parts: how many parts the current gang has.
        part: the part that is being emitted.
        rows: how many rows the current gang spans.
        by_row: the values that differ between its rows; empty in functions whose gangs have one.
        masks: for each part, the lanes that are on; empty: all.
        at_border: the current gang is at a border, where indices are negative in some lanes.
        lane: the number, in its gang, of the thread that is being emitted by itself; empty: none is.
        varying: the values that differ between a gang's threads.
        steps: for linear values, the distance from one thread to the next; the first thread's is held as a scalar.
        exact: the linear values that cannot wrap between a gang's threads.
        stored: arrays with the indices at which all lanes have stored before what is being emitted.
        loops: how many loops of a thread are open.
        ahead: loads that were already emitted with another of the same struct.
        of_gangs: the function as gangs run it; single threads run the one it was derived from.
        frame: the bytes of a thread's own arrays in it.
        of_rows: the function as gangs of several rows run it; None: there are none.
        gang_strips: for each function, after how many iterations its loops check whether the launch is to end.
        flat: in gangs of thin rows, accesses to the threads' own elements, or others as far away; by how much, by axis.
        near: there, loads whose elements for all lanes fit a register; the axis of the last index, and its constant.
        flat_first: the linear index of such a gang's first thread.
        indices: for such a gang, by axis, the threads' indices in each part.
        rules: handlers of a gang's operations, where neither a scalar handler nor a widened one serves.
    """

    writer: WideWriter
    rules: Mapping[str, Callable[[Any, Op], None]]

    def __init__(
        self,
        function: Function,
        options: Options,
        maths: Maths,
        half_instructions: bool,
        division: Division,
        shape: Shape,
        of_gangs: Function,
        of_rows: Paneled | None = None,
    ) -> None:
        """Set up for one function; `of_gangs` is that as gangs run it, `of_rows` as those of several rows do."""
        super().__init__(function, options, maths, half_instructions, division)
        self.of_gangs, self.of_rows = of_gangs, of_rows
        functions = dict.fromkeys((function, of_gangs, *([of_rows.function] if of_rows else ())))
        self.gang_strips = {f: Strips(f) for f in functions}
        operations = [op for f in functions for op in walk(f.body)]
        self.innermost = True  # a maths function is called for a gang whatever stands around the call
        self.distant, self.stack, self.shape = Distant(), Stack(self.writer), shape
        self.width, self.parts, self.part, self.rows = shape.lanes, 1, 0, 1
        if maths.bits <= NARROW:  # WebAssembly cannot select it for vectors
            self.writer.apart = frozenset({"llvm.canonicalize"})
        self.masks = [""]
        self.flat: Mapping[Op, tuple[int, ...]] = {}
        self.near: Mapping[Op, tuple[int, int]] = {}
        self.flat_first = ""
        self.indices: dict[int, list[str]] = {}
        self.one_row = False
        self._of_rows = [self._operands]
        self.in_gang, self.at_border, self.lane = False, False, ""
        self.by_row, besides = frozenset[Value](), set[Value]()
        if of_rows:
            self.by_row = varying_values(of_rows.function, axis=-2)
            # What control flow hands on is the same in all rows, or a vector of each.
            structured = [op for op in walk(of_rows.function.body) if op.blocks]
            handed = [v for op in structured for v in (*op.results, *(p for b in op.blocks for p in b.params))]
            besides = self.by_row.intersection(handed)
        self.varying = frozenset[Value]().union(*(varying_values(f, besides=besides) for f in functions))
        self._vectors: list[dict[Value, tuple[str, ...]]] = [{}]
        self.steps: dict[Value, int] = {}
        self.exact: set[Value] = set()
        self._whole: list[dict[Value, str]] = [{}]
        self.loops, self.ahead = 0, set[Op]()
        self.stored: set[tuple[Value, ...]] = set()
        self.frame = max(frame(walk(f.body), self.varying) for f in functions)
        self._handed: dict[Block, Sequence[Value]] = {}
        self._converted: dict[Value, tuple[str, ...]] = {}
        self._initial: dict[Value, tuple[str, ...]] = {}
        self._splats: dict[tuple[str, str], str] = {}
        self._label = ""
        self._used_values = {v for op in operations for v in op.operands}
        self.defined_by = {v: op for op in operations for v in op.results}
        for op in operations:
            if op.name == "if":
                self._handed.update((block, op.results) for block in op.blocks)
            elif op.name in LOOPS:
                body = op.blocks[-1]
                self._handed[body] = carried_params(op)

    def new_writer(self) -> WideWriter:
        """Return a writer that widens the lines of scalar handlers."""
        return WideWriter()

    @cached_property
    def lone(self) -> frozenset[Op]:
        """The loops that threads go through one by one, since they would gather, and the target does that slowly."""
        return frozenset() if self.maths.gathers else lone_loops(self.function) | lone_loops(self.of_gangs)

    @cached_property
    def structs(self) -> Mapping[Op, Sequence[Op]]:
        """Groups of loads of fields of one struct that may be done together, by each group's first load.

        It is empty unless arrays are contiguous.
        """
        functions = dict.fromkeys((self.function, self.of_gangs)) if self.options.contiguous else ()
        return {first: ops for f in functions for first, ops in struct_loads(f).items()}

    # Parts.

    def begin_parts(self, threads: int, lanes: int = 0, rows: int = 1) -> None:
        """Set the size of the gangs that follow.

        Args:
            threads: of a row.
            lanes: of a part, at most; 0: as the function's shape says.
            rows: how many rows a gang spans.
        """
        self.width, self.rows = min(threads, lanes or self.shape.lanes), rows
        self.parts = rows * threads // self.width
        self.masks = [""] * self.parts
        self._vectors = [{} for _ in range(self.parts)]
        self._of_rows = [self._operands, *(dict(self._operands) for _ in range(rows - 1))]
        self._whole = [{} for _ in range(rows)]

    @property
    def row_parts(self) -> int:
        """The number of parts of a row."""
        return self.parts // self.rows

    def each_part(self) -> Iterator[int]:
        """Yield the number of each part while it is the current one, with the scalars of its row.

        The loop has to run to its end.
        """
        return self._each_part(range(self.parts))

    def parts_of(self, op: Op) -> Iterator[int]:
        """Yield the number of each part in which an operation has to be emitted, while it is the current one.

        If its results are the same in all rows, these are the first row's, and the other rows then have its
        results.
        """
        each = self.rows == 1 or not self.by_row.isdisjoint(op.results)
        return self.each_part() if each else self._first_parts(op)

    def _first_parts(self, op: Op) -> Iterator[int]:
        """Yield the number of each part of the first row while it is current; the other rows get its results."""
        count = self.row_parts
        for self.part in range(count):
            yield self.part
        self.part = 0
        for part, result in itertools.product(range(count, self.parts), op.results):
            if result in self._vectors[part % count]:
                self._vectors[part][result] = self._vectors[part % count][result]

    def rows_of(self, op: Op) -> Iterable[int]:
        """Yield the number of each row in which an operation has to be emitted, while its scalars are the current ones.

        It is only 0 if the results are the same in all rows.
        """
        return (0,) if self.rows == 1 or self.by_row.isdisjoint(op.results) else self.each_row()

    def each_row(self) -> Iterator[int]:
        """Yield the number of each row while its first part and its scalars are the current ones."""
        for part in self._each_part(range(0, self.parts, self.row_parts)):
            yield part // self.row_parts

    @contextmanager
    def in_row(self, row: int) -> Iterator[None]:
        """Make the scalars of a row the current ones within the context."""
        self._operands = self._of_rows[row]
        yield
        self._operands = self._of_rows[0]

    @contextmanager
    def alone(self, row: int) -> Iterator[None]:
        """Emit for one row of the gang, as if it were the whole gang, within the context."""
        saved = self.rows, self.parts, self.masks, self._vectors, self._of_rows, self._whole, self.row, self.tids
        if row:
            emit, (*outer, own_row, column) = self.writer.emit, self.tids
            self.row = emit(f"add i64 {self.row}, {emit(f'mul i64 {self.extent}, {row}')}")
            self.tids = (*outer, emit(f"add nsw i32 {own_row}, {row}"), column)
        own = slice(row * self.row_parts, (row + 1) * self.row_parts)
        self.rows, self.parts, self.masks = 1, self.row_parts, self.masks[own]
        self._vectors, self._of_rows, self._whole = self._vectors[own], [self._of_rows[row]], [self._whole[row]]
        self._operands = self._of_rows[0]
        yield
        self.rows, self.parts, self.masks, self._vectors, self._of_rows, self._whole, self.row, self.tids = saved
        self._operands = self._of_rows[0]

    def _each_part(self, parts: Iterable[int]) -> Iterator[int]:
        """Yield each of these parts while it is the current one, with the scalars of its row; then part 0 is again."""
        self.one_row, row_parts = True, self.row_parts
        for self.part in parts:
            self._operands = self._of_rows[self.part // row_parts]
            yield self.part
        self.part, self._operands, self.one_row = 0, self._of_rows[0], False

    @property
    def mask(self) -> str:
        """The mask of the lanes that are on in the current part; empty: all are."""
        return self.masks[self.part]

    @mask.setter
    def mask(self, mask: str) -> None:
        """Set the mask of the lanes that are on in the current part; empty: all are."""
        self.masks[self.part] = mask

    @property
    def vectors(self) -> dict[Value, tuple[str, ...]]:
        """The registers of varying values in the current part."""
        return self._vectors[self.part]

    def of_all_parts(self, value: Value) -> tuple[str, ...]:
        """Return a value's components as vectors, of one part after the other; bools are masks."""
        return tuple(name for _ in self.each_part() for name in self.held(value))

    @property
    def first_lane(self) -> int:
        """The number in its row of the current part's first thread."""
        return self.part % self.row_parts * self.width

    # Values.

    def kind(self, value: Value) -> str:
        """Return the LLVM type of a value's components in registers: vectors, if it varies in a gang."""
        varies = self.in_gang and value in self.varying
        return vector(self.form(value), self.width) if varies else self.scalar_kind(value)

    def form(self, value: Value) -> str:
        """Return the LLVM type of a lane of a varying value between blocks: a bool is a lane of a mask."""
        kind = self.scalar_kind(value)
        return self.mask_lane if kind == "i1" else kind

    def operands(self, value: Value) -> tuple[str, ...]:
        """Return the LLVM operands of a value's components: vectors while text is widened, else scalars.

        While text is widened, constants stay constants.
        """
        vectors = self._vectors[self.part]
        if not self.writer.lanes:
            assert not self.in_gang or value not in vectors, f"%{value.name} varies"
            return super().operands(value)
        kind = self.scalar_kind(value)
        if value in vectors and (kind != "i1" or self.mask_lane == "i1"):
            return vectors[value]
        if value in vectors or value in self.steps:
            return self.vector(value)
        return tuple([x if not x.startswith("%") else self.spread(x, kind) for x in super().operands(value)])

    def slot_element(self, slots: Value, index: str) -> tuple[tuple[str, ...], str]:
        """Locate an element of a thread's slots, among those of the gang where a single lane is emitted.

        Returns:
            The base pointer of each component, and the index of the element from there on.
        """
        if not self.lane or slots not in self.vectors:
            return super().slot_element(slots, index)
        lane, threads = self.writer.emit(f"zext i32 {self.lane} to i64"), self.width * self.parts
        row = self.writer.emit(f"mul i64 {index}, {threads}")
        return self.vectors[slots], self.writer.emit(f"add i64 {row}, {lane}")

    def held(self, value: Value) -> tuple[str, ...]:
        """Return a value's components as vectors of the current part, as they pass between blocks: bools as masks."""
        parts, kind = self.vectors.get(value), self.form(value)
        if parts is None:
            parts = self.vector(value)
            if self.scalar_kind(value) != "i1":
                return parts
            parts = map(self.as_mask, parts)
        return tuple([self.spread(x, kind) if not x.startswith("%") else x for x in parts])

    def vector(self, value: Value) -> tuple[str, ...]:
        """Return a value's components as vectors of the current part, whatever its form; bools as vectors of i1."""
        kind = self.scalar_kind(value)
        if value in self.vectors:
            parts = self.held(value)
            return tuple(map(self.flags, parts)) if kind == "i1" else parts
        lanes, self.writer.lanes = self.writer.lanes, 0
        scalars = super().operands(value)
        step = self.steps.get(value, 0)
        spread = [self.spread(x, kind) for x in scalars]
        if step:
            wide = vector(kind, self.width)
            numbers = self.lane_numbers(kind, step, self.first_lane)
            spread = [self.writer.emit(f"add {wide} {x}, {numbers}") for x in spread]
        self.writer.lanes = lanes
        return tuple(spread)

    def spread(self, scalar: str, kind: str) -> str:
        """Return a vector with a scalar in every lane.

        Args:
            scalar: a register or a constant.
            kind: its LLVM type.
        """
        if not scalar.startswith("%"):
            return splat(kind, scalar)
        w = self.writer
        if (scalar, kind) not in self._in_this_block():
            lanes, w.lanes = w.lanes, 0
            wide = vector(kind, self.width)
            first = w.emit(f"insertelement {wide} poison, {kind} {scalar}, i64 0")
            zeros = f"<{self.width} x i32> zeroinitializer"
            self._splats[scalar, kind] = w.emit(f"shufflevector {wide} {first}, {wide} poison, {zeros}")
            w.lanes = lanes
        return self._splats[scalar, kind]

    def _in_this_block(self) -> dict[tuple[str, str], str]:
        """Return the cache of vectors that the open block has computed; it is emptied when another block is open."""
        if self.writer.label != self._label:
            self._label = self.writer.label
            self._splats.clear()
        return self._splats

    def lane_numbers(self, kind: str, step: int = 1, first: int = 0) -> str:
        """Return a vector constant: `first · step`, `(first + 1) · step`, …, one number for each lane."""
        return numbers(kind, self.width, step, first)

    def typed(self, text: str, kind: str, lanes: int = -1) -> LlvmValue:
        """Return a register or constant as a typed LLVM value; `lanes` is 0 for a scalar, -1 for the gang's vectors."""
        return LlvmValue(self.writer, text, kind, self.width if lanes < 0 else lanes)

    def bind(self, value: Value, operands: Sequence[str]) -> None:
        """Set the operands of a value's components.

        Args:
            value: the value.
            operands: if it varies, its vectors in the current part, or in all parts, one after the other: bools are
                masks, but vectors of i1 while text is widened. If it is uniform, scalars, which hold for the current
                row or for all.
        """
        if self.in_gang and value in self.varying:
            if self.writer.lanes and self.scalar_kind(value) == "i1":
                operands = self._as_masks(operands)
            self.steps.pop(value, None)
            count = width(value.type)
            if len(operands) == count:
                self._vectors[self.part][value] = tuple(operands)
                return
            for part, vectors in enumerate(self._vectors):
                vectors[value] = tuple(operands[part * count : (part + 1) * count])
        else:
            self._bind_scalars(value, operands)

    @property
    def wide_values(self) -> Mapping[Value, str]:
        """For sums of the thread's index and another number, the sum of the current row's first thread in 64 bits.

        No element exists where the sum of 32 bits wraps.
        """
        return self._whole[self.part // self.row_parts]

    def note_whole(self, value: Value, operand: str) -> None:
        """Record a value's register in 64 bits for `wide_values`: in the current row, else in all."""
        for known in (self._whole[self.part // self.row_parts],) if self.one_row else self._whole:
            known[value] = operand

    def _bind_scalars(self, value: Value, operands: Sequence[str]) -> None:
        """Bind a uniform value to its scalars, in the current row, or in all rows if none is current."""
        for known in (self._operands,) if self.one_row else self._of_rows:
            known[value] = tuple(operands)

    def bind_flags(self, value: Value, operands: Sequence[str]) -> None:
        """Set the vectors of a varying value in the current part; `operands` for a bool are vectors of i1."""
        self.bind(value, self._as_masks(operands) if self.scalar_kind(value) == "i1" else operands)

    def _as_masks(self, operands: Sequence[str]) -> Sequence[str]:
        """Return vectors of i1 as masks."""
        lanes, self.writer.lanes = self.writer.lanes, 0
        masks = [self.as_mask(flags) for flags in operands]
        self.writer.lanes = lanes
        return masks

    def bind_linear(self, value: Value, first: str, step: int) -> None:
        """Set a linear value in all parts, by the first thread's register and the distance from thread to thread."""
        for vectors in self._vectors:
            vectors.pop(value, None)
        self.steps[value] = step
        self._bind_scalars(value, (first,))

    def scalars(self, value: Value) -> tuple[str, ...] | None:
        """Return the registers of a uniform value, or of the first lane of a linear one; None for others."""
        return super().operands(value) if value in self._operands or value in self.slots else None

    def scalar_operands(self, value: Value) -> tuple[str, ...]:
        """Return the operands of a uniform value's components, or of the first lane of a linear value."""
        return super().operands(value)

    def uniform(self, value: Value) -> str:
        """Return the operand of a uniform scalar, or of the first lane of a linear one."""
        (operand,) = super().operands(value)
        return operand

    def carried(self, value: Value, into: Value) -> tuple[str, ...]:
        """Return the operands of a value that control flow passes on: vectors of all parts if the receiver varies.

        `convert` has to have emitted these, since no instruction may stand among phis.
        """
        if not self.in_gang or into not in self.varying:
            return super().carried(value, into)
        if value in self.vectors:
            return self.of_all_parts(value)
        return self._initial[value] if value in self._initial else self._converted[value]

    def vector_function(self, name: str, scalar: Scalar) -> tuple[str, int] | None:
        """Return our symbol for a maths function and the number of its calls' attribute group; None: there is none.

        The writer then knows the function's wide forms as well.
        """
        result = super().vector_function(name, scalar)
        if result is not None:
            attribute = next(a for s, a in self._vector_functions.items() if s == result[0])
            self.writer.wide[result[0]] = variants(attribute)
        return result

    # Masks.

    @property
    def mask_kind(self) -> str:
        """The LLVM type of a mask."""
        return vector(self.mask_lane, self.width)

    @property
    def mask_lane(self) -> str:
        """The LLVM type of a lane of a mask: i1 where the target has mask registers, else i32 of all bits or none.

        LLVM packs vectors of i1 into bytes at the end of a block, and where two are joined that were compared
        separately.
        """
        return "i1" if self.maths.bits > MASKED else "i32"

    @property
    def all_on(self) -> str:
        """The mask that is on in all lanes."""
        return splat(self.mask_lane, "-1")

    def as_mask(self, flags: str) -> str:
        """Return a vector of i1, or a constant, as a mask."""
        if not flags.startswith("%"):
            return "-1" if "true" in flags else "0"
        if self.maths.bits > MASKED:
            return flags
        w = self.writer
        known = w.emit(f"freeze {vector('i1', self.width)} {flags}") if self.mask else flags
        wide = w.emit(f"sext {vector('i1', self.width)} {known} to {self.mask_kind}")
        # LLVM would turn integers back into flags: it does not look through a fence, which is no instruction.
        mask = self.fenced(wide, self.mask_lane)
        self._in_this_block()[mask, "flags"] = flags
        return mask

    def flags(self, mask: str) -> str:
        """Return a mask as a vector of i1; the conversion is emitted once in the open block."""
        if self.maths.bits > MASKED:
            return mask
        key = mask, "flags"
        if key not in self._in_this_block():
            lanes, self.writer.lanes = self.writer.lanes, 0
            self._splats[key] = self.writer.emit(f"icmp slt {self.mask_kind} {mask}, zeroinitializer", "flags")
            self.writer.lanes = lanes
        return self._splats[key]

    def both(self, mask: str, condition: str) -> str:
        """Emit the mask of the lanes that are on in `mask` and in which `condition` holds.

        The condition may be poison in lanes that are off, if it is of i1.
        """
        if not mask:
            return condition
        if self.maths.bits <= MASKED:
            return self.writer.emit(f"and {self.mask_kind} {mask}, {condition}", "mask")
        flags = vector("i1", self.width)
        return self.writer.emit(f"select {flags} {mask}, {flags} {condition}, {flags} zeroinitializer", "mask")

    def negated(self, condition: str) -> str:
        """Emit the mask of the lanes in which a condition, which is a mask, does not hold."""
        return self.writer.emit(f"xor {self.mask_kind} {condition}, {self.all_on}")

    def any(self, masks: Sequence[str]) -> str:
        """Emit whether any lane of any part is on, as i1."""
        w, mask = self.writer, masks[0]
        for other in masks[1:]:
            mask = w.emit(f"or {self.mask_kind} {mask}, {other}")
        if self.maths.bits > MASKED:
            return w.emit(f"icmp ne i{self.width} {self.bits(mask)}, 0", "any")
        return self.typed(mask, "i32").reduced("or").is_("ne", 0).text

    def all(self, masks: Sequence[str]) -> str:
        """Emit whether all lanes of all parts are on, as i1."""
        w, mask = self.writer, masks[0]
        for other in masks[1:]:
            mask = w.emit(f"and {self.mask_kind} {mask}, {other}")
        return w.emit(f"icmp eq i{self.width} {self.bits(mask)}, -1", "all")

    def bits(self, mask: str) -> str:
        """Return a mask as an integer with one bit per lane."""
        return self.writer.emit(f"bitcast {vector('i1', self.width)} {self.flags(mask)} to i{self.width}")

    def all_bits(self) -> str:
        """Return the masks of all parts as an integer with one bit per lane; "-1" if all lanes are on."""
        if not self.mask:
            return "-1"
        w, packed_type, total = self.writer, f"i{self.width * self.parts}", ""
        for part, mask in enumerate(self.masks):
            bits = self.bits(mask)
            if self.parts > 1:
                bits = w.emit(f"zext i{self.width} {bits} to {packed_type}")
            if part:
                bits = w.emit(f"or {packed_type} {total}, {w.emit(f'shl {packed_type} {bits}, {part * self.width}')}")
            total = bits
        return total

    def merged(self, mask: str, kind: str, on: str, off: str) -> str:
        """Return a vector with `on` in lanes that are on and `off` in the others.

        Args:
            mask: the mask; empty: all lanes are on.
            kind: LLVM type of a lane.
            on: a vector.
            off: a vector.
        """
        if not mask:
            return on
        wide = vector(kind, self.width)
        return self.writer.emit(f"select {vector('i1', self.width)} {self.flags(mask)}, {wide} {on}, {wide} {off}")

    def chosen(self, masks: Sequence[str], value: Value, on: Sequence[str], off: Sequence[str]) -> list[str]:
        """Return a value's components in all parts: those of `on` in lanes that are on, those of `off` in others.

        All are vectors, of one part after the other; bools are masks.
        """
        count, parts = len(on) // len(masks), []
        for part, mask in enumerate(masks):
            own = slice(part * count, (part + 1) * count)
            parts += self._chosen(mask, value, on[own], off[own])
        return parts

    def _chosen(self, mask: str, value: Value, on: Sequence[str], off: Sequence[str]) -> list[str]:
        """Return a value's components in one part: those of `on` in lanes of the mask, else those of `off`."""
        kind, w = self.form(value), self.writer
        if not mask or self.maths.bits > MASKED:
            return [self.merged(mask, kind, a, b) for a, b in zip(on, off, strict=True)]
        if element(value.type).kind is Kind.BOOL:
            wide, others = self.mask_kind, self.negated(mask)
            first = [w.emit(f"and {wide} {mask}, {part}") for part in on]
            second = [w.emit(f"and {wide} {others}, {part}") for part in off]
            return [w.emit(f"or {wide} {a}, {b}", value.name) for a, b in zip(first, second, strict=True)]
        return [self.fenced(self.merged(mask, kind, a, b), kind) for a, b in zip(on, off, strict=True)]

    def fenced(self, part: str, kind: str) -> str:
        """Return a vector behind a fence that LLVM does not look through; one of a type that has no fence is unchanged.

        LLVM would join the i1 of two choices and pack them. A fence is no machine instruction; LLVM has them for
        floats, and 32- and 64-bit integers pass as such.
        """
        scalar = {"i32": "float", "i64": "double"}.get(kind, kind)
        if scalar not in ("float", "double"):
            return part
        return self.typed(part, kind).cast("bitcast", scalar).intrinsic("arithmetic.fence").cast("bitcast", kind).text

    # Operations.

    def block(self, block: Block) -> None:
        """Emit the operations of a block in order, for a gang or for a single thread."""
        outer, self.distant = self.distant, distant(block)
        if self.in_gang:
            self._gang_block(block)
        elif self.distant.stored or any(self._vectors):
            self._lane_block(block)
        else:
            super().block(block)
        self.distant = outer

    def _lane_block(self, block: Block) -> None:
        """Emit a block for a single thread, of a gang or in a long block, by which values of a gang are not known."""
        for op in block.ops:
            if op.name != "yield":
                self._forget(op)
                self.stack.load_operands(self.distant, op, self._registers)
                super().block(Block((), (op,)))
                self.stack.store_results(self.distant, op, self._registers)

    def _gang_block(self, block: Block) -> None:
        """Emit a block for a gang: operations by their own rules, as scalars if results are uniform, else widened."""
        before, self.stored, rules, spills = self.stored, set(self.stored), self.rules, bool(self.distant.stored)
        for op in block.ops:
            if op.location.line != self._line:
                self.comment(op.location)
            if op.name == "yield":
                self._converted |= self.convert(op.operands, self._handed.get(block, ()))
                continue
            self._forget(op)
            if spills:
                self.stack.load_operands(self.distant, op, self._registers)
            rule = rules.get(op.name)
            if rule is not None:
                rule(self, op)
            elif self.varying.isdisjoint(op.results):
                for _ in self.rows_of(op):
                    HANDLERS.get(op.name, emit_builtin)(self, op)
            elif op.name not in LINEAR or not all([self._linear(op) for _ in self.rows_of(op)]):
                for _ in self.parts_of(op):
                    self.widened(op)
            if spills:
                self.stack.store_results(self.distant, op, self._registers)
        self.stored = before

    def _forget(self, op: Op) -> None:
        """Forget vectors of an operation's results from before, unless it was emitted ahead."""
        for value in op.results if op not in self.ahead else ():
            for known in self._vectors:
                known.pop(value, None)

    def _registers(self, value: Value) -> Iterator[Registers]:
        """Yield where a value's registers are held: the table, their LLVM type, and a key for stack memory.

        The scalar of a linear value is left out.
        """
        if value in self._operands and value not in self.steps:
            for row, known in enumerate(self._of_rows):
                yield known, self.scalar_kind(value), (value, row)
        for part, known in enumerate(self._vectors):
            if value in known:
                yield known, vector(self.form(value), self.width), (value, "part", part)

    def widened(self, op: Op) -> None:
        """Emit an elementwise operation on the vectors of the current part."""
        w, mask = self.writer, self.masks[self.part]
        if mask and op.name in INTEGER_DIVISIONS and self.defined_by.get(op.operands[1], op).name != "where":
            # What the lanes that are off would divide by is not known, but where a choice excludes what cannot be.
            op = op.replace((op.operands[0], self._one_where_off(op.operands[1])))
        elif mask and op.name in RARELY_SLOW:
            op = op.replace(tuple(self._one_where_off(v) if v in self.varying else v for v in op.operands))
        w.lanes = self.width
        HANDLERS.get(op.name, emit_builtin)(self, op)
        w.lanes = 0
        w.settle()

    def _one_where_off(self, value: Value) -> Value:
        """Return a new value: a scalar value's own number in lanes that are on, and 1 in the others."""
        kind, safe = self.scalar_kind(value), Value(value.type, value.name)
        one = splat(kind, "1.0" if element(value.type).kind is Kind.FLOAT else "1")
        self.vectors[safe] = (self.merged(self.mask, kind, self.vector(value)[0], one),)
        return safe

    def _linear(self, op: Op) -> bool:
        """Emit an operation of `LINEAR` on scalars alone if its result is linear or uniform; return whether it was."""
        result, w = op.results[0], self.writer
        kind = self.scalar_kind(result)
        if kind not in ("i32", "i64") or result.type not in (int32, int64):
            return False
        forms = [(self.steps[v] if v in self.steps else None if v in self.vectors else 0) for v in op.operands]
        if None in forms or any([v.type not in (int32, int64) for v in op.operands]):
            return False
        steps = [step or 0 for step in forms]
        firsts = [self.scalar_operands(v)[0] for v in op.operands]
        if op.name == "cast":
            # A sum in 32 bits may wrap from one thread to the next; the thread's own index does not.
            if op.operands[0] not in self.exact or result.type != int64:
                return False
            self.exact.add(result)
            self.bind_linear(result, w.emit(f"sext i32 {firsts[0]} to i64", result.name), steps[0])
            return True
        if op.name == "mul":
            factor = [self.constants.get(v) for v in op.operands]
            known = next((k for k in factor if k is not None), None)
            if known is None or not abs(int(known) * max(steps, key=abs)) <= GANG_STEP:
                return False
            step = int(known) * max(steps, key=abs)
        else:
            step = -steps[0] if op.name == "neg" else steps[0] + (steps[1] if op.name == "add" else -steps[1])
        text = f"sub {kind} 0, {firsts[0]}" if op.name == "neg" else f"{op.name} {kind} {', '.join(firsts)}"
        first = w.emit(text, result.name)
        if step:
            self.bind_linear(result, first, step)
            self._note_wide(op, firsts)
        else:
            spread_value = (self.spread(first, kind),)
            for vectors in self._vectors[self.part : self.part + self.row_parts] if self.one_row else self._vectors:
                vectors[result] = spread_value
            self.steps.pop(result, None)
        return True

    def _note_wide(self, op: Op, firsts: Sequence[str]) -> None:
        """Compute a sum in 64 bits as well, if it is the thread's index and something else.

        Accesses to neighbours of one element share that. Only one arbitrary number may be added to the index, and small
        constants: more could wrap around to an element.
        """
        pairs = list(zip(op.operands, firsts, strict=True))
        if op.name == "add" and op.operands[0] not in self.wide_values:
            pairs.reverse()
        (start, _), (other, more) = pairs if len(pairs) == 2 else (pairs[0], pairs[0])
        if op.name not in ("add", "sub") or op.result.type != int32 or start not in self.wide_values:
            return
        if start in self.exact or abs(int(self.constants.get(other, GANG_STEP))) < GANG_STEP:
            more = more if other in self.constants else self.writer.emit(f"sext i32 {more} to i64")
            self.note_whole(
                op.result, self.writer.emit(f"{op.name} i64 {self.wide_values[start]}, {more}", op.result.name)
            )

    def convert(self, values: Sequence[Value], into: Sequence[Value]) -> dict[Value, tuple[str, ...]]:
        """Emit vectors of values that control flow passes on to varying ones; return them, of all parts, by value.

        Args:
            values: what is passed on.
            into: the values that receive it.
        """
        pairs = zip(values, into, strict=False)
        return {v: self.of_all_parts(v) for v, target in pairs if target in self.varying and v not in self._initial}

    def structured(self, op: Op) -> None:
        """Emit an `if` or a loop in which all threads of a gang go the same way."""
        if op.name == "if":
            HANDLERS["if"](self, op)
            return
        outer = self._initial
        self._initial = outer | self.convert(op.operands[LEAD[op.name] :], carried_params(op))
        self.loops += 1
        HANDLERS[op.name](self, op)
        self.loops -= 1
        self._initial = outer

    def gang_over(self) -> None:
        """End a gang: forget the operands of its values, since single threads have others."""
        self.in_gang = False
        for vectors in self._vectors:
            vectors.clear()
        self._operands = self._of_rows[0]
        self.steps.clear()
        self.exact.clear()
        for known in self._whole:
            known.clear()
        self._converted.clear()
        self.stored.clear()

    def uses(self, op: Op) -> bool:
        """Return whether anything uses a result of an operation."""
        return not self._used_values.isdisjoint(op.results)

    def is_divergent(self, op: Op) -> bool:
        """Return whether threads of a gang may go different ways in an `if` or a loop."""
        return is_divergent(op, self.varying)
