"""Loads and stores of a gang: side by side where the address is linear, else lane by lane.

Lanes that are off read nothing and write nothing: they are under a mask, or at memory that no thread has. The result of
a masked load passes through a `freeze`, for LLVM 22 moves a select of a masked load behind a store (`emit/loops`).
Addresses are computed without `nsw` and `inbounds`: an index of a lane that is off may have any value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from workbench.backends.cpu.emit import memory as scalar_memory
from workbench.backends.cpu.emit.emit_module import HANDLERS
from workbench.backends.cpu.emit.types import memory, width
from workbench.backends.cpu.gang.emitter import GangEmitter, each_lane
from workbench.backends.cpu.gang.transposes import FIELD_BYTES, starts, transposed
from workbench.backends.cpu.gang.width import MASKED, NARROW
from workbench.backends.llvm.values import Value as LlvmValue
from workbench.backends.llvm.values import masked_gather, masked_load, masked_store, splat, vector
from workbench.ir.values import Op, Value, array_of, component_of, indices_of
from workbench.limits import GANG_COMPONENTS, GANG_FIELDS_LEAST, GANG_INTERLEAVED_LANES, GANG_ROW_COMPONENTS_LEAST
from workbench.types import Kind, Scalar, element, int32

PERMUTED = {
    8: ("llvm.x86.avx2.permps", "llvm.x86.avx2.permd"),
    16: ("llvm.x86.avx512.permvar.sf.512", "llvm.x86.avx512.permvar.si.512"),
}
"""By the number of lanes, what puts a register's floats, or integers, in the order of a vector of their numbers."""


class Sum(msgspec.Struct, frozen=True):
    """An i64 for each lane: lane n has `first` + n · `step`, and its lane of `each` is added.

    Attributes:
        first: a constant or a register, the same in all lanes.
        step: a constant or a register.
        each: a vector of i64; empty: nothing is added.
    """

    first: str = "0"
    step: str = "0"
    each: str = ""


def emit_load(emitter: GangEmitter, op: Op) -> None:
    """Emit a load of a gang: a scalar where all lanes agree, else by the access that suits how the elements lie.

    Several fields of one struct are loaded together.
    """
    if emitter.varying.isdisjoint(op.results):
        for _ in emitter.rows_of(op):
            HANDLERS[op.name](emitter, op)
        return
    if op in emitter.ahead:
        emitter.ahead.remove(op)
        return
    if op not in emitter.structs and (wraps := _wraps(emitter, op)):
        _where_not_negative(emitter, op, wraps, emit_load)
        return
    scalar, count = element(op.result.type), width(op.result.type)
    fields = [o for o in emitter.structs.get(op, ()) if not emitter.varying.isdisjoint(o.results)]
    if len(fields) >= GANG_FIELDS_LEAST and emitter.rows == 1:
        for _ in emitter.each_part():
            _Where(emitter, op).fields(fields)
        emitter.ahead.update(fields[1:])
        return
    near, where = None if emitter.mask else emitter.near.get(op), None
    for _ in emitter.parts_of(op):
        if where is None or not where.of_all_parts:
            where = _Where(emitter, op)
        parts = [where.permuted(memory(scalar), op, *near)] if near else where.loaded(memory(scalar), count)
        if scalar.kind is Kind.BOOL:
            kind = vector("i8", emitter.width)
            parts = [emitter.writer.emit(f"icmp ne {kind} {part}, zeroinitializer", op.result.name) for part in parts]
        emitter.bind_flags(op.result, parts)


def emit_store(emitter: GangEmitter, op: Op) -> None:
    """Emit a store of a gang. Where several lanes store to one element, the highest lane is last."""
    if wraps := _wraps(emitter, op):
        _where_not_negative(emitter, op, wraps, emit_store)
        return
    value = op.operands[-1]
    where = _Where(emitter, op)
    if where.is_uniform():
        _store_last(emitter, op)
        return
    again = op.operands[:-1] in emitter.stored and bool(where.consecutive(width(value.type)))
    if not emitter.mask:
        emitter.stored.add(op.operands[:-1])
    for part in emitter.each_part():
        if part and not where.of_all_parts:
            where = _Where(emitter, op)
        _store_part(emitter, op, where, again)


def _wraps(emitter: GangEmitter, op: Op) -> list[Op]:
    """Return the `wrap_index`es without which an access is linear; none if it is linear, or is not without them.

    That is the one of the last index; in gangs of thin rows those of all indices that may be negative.
    """
    wraps = [emitter.defined_by.get(v) for v in indices_of(op)]
    if op in emitter.flat:
        pairs = zip(wraps, emitter.flat[op], strict=True)
        return [w for w, offset in pairs if w is not None and w.name == "wrap_index" and offset < 0]
    wrap = wraps[-1] if not emitter.at_border else None
    if wrap is None or wrap.name != "wrap_index" or wrap.operands[0] not in emitter.steps:
        return []
    return [wrap] if emitter.varying.isdisjoint(wrap.operands[1:]) else []


def _where_not_negative(
    emitter: GangEmitter, op: Op, wraps: Sequence[Op], emit: Callable[[GangEmitter, Op], None]
) -> None:
    """Emit an access twice: side by side where no lane has a negative index, else lane by lane.

    Args:
        emitter: its block is open.
        op: the access.
        wraps: what `_wraps` returns for it.
        emit: emits it with other indices.
    """
    w, indices = emitter.writer, {wrap.result: wrap.operands[0] for wrap in wraps}
    beside, apart, join = (w.block_name(hint) for hint in ("beside", "apart", "accessed"))
    flat, last = emitter.flat, 1 + len(indices_of(op))
    none = _no_lane_negative(emitter, indices.values()) if op in flat else _none_negative(emitter, wraps[0].operands[0])
    w.branch(none, beside, apart, ", !prof !1")
    arms: list[tuple[str, list[tuple[str, ...]]]] = []
    for label in (beside, apart):
        w.open(label)
        if label is beside:
            plain = op.replace((op.operands[0], *(indices.get(v, v) for v in op.operands[1:last]), *op.operands[last:]))
            if op in flat:
                emitter.flat = {plain: flat[op]}
            emit(emitter, plain)
        elif op in flat:
            emitter.flat = {}
            emit(emitter, op)
        else:
            _apart(emitter, op, wraps[0])
        arms.append((w.label, [emitter.of_all_parts(v) for v in op.results]))
        emitter.flat = flat
        w.jump(join)
    w.open(join)
    for n, result in enumerate(op.results):
        kind, rows = vector(emitter.form(result), emitter.width), [""] * len(arms[0][1][n])
        for end, values in arms:
            rows = [f"{row}, [ {part}, %{end} ]" for row, part in zip(rows, values[n], strict=True)]
        emitter.bind(result, [w.emit(f"phi {kind} {row[2:]}", result.name) for row in rows])


def _apart(emitter: GangEmitter, op: Op, wrap: Op) -> None:
    """Emit an access lane by lane. Its wrapped index is computed here, since the branch is seldom taken."""
    before = [emitter.vectors[wrap.result] for _ in emitter.each_part()]
    for _ in emitter.parts_of(wrap):
        emitter.widened(wrap)
    each_lane(emitter, op)
    for part in emitter.each_part():
        emitter.vectors[wrap.result] = before[part]


def _no_lane_negative(emitter: GangEmitter, indices: Iterable[Value]) -> str:
    """Emit whether none of these varying indices is negative in any lane that is on."""
    w, kind, negative = emitter.writer, vector("i32", emitter.width), list[str]()
    for index in indices:
        for _ in emitter.each_part():
            (lanes,) = emitter.vector(index)
            flags = emitter.as_mask(w.emit(f"icmp slt {kind} {lanes}, zeroinitializer"))
            negative.append(emitter.both(emitter.mask, flags))
    return w.emit(f"xor i1 {emitter.any(negative)}, true")


def _none_negative(emitter: GangEmitter, index: Value) -> str:
    """Emit whether a linear int32 or int64 index is negative, or wraps, in no lane of any row."""
    w, all_inside = emitter.writer, ""
    across = emitter.steps[index] * (emitter.width * emitter.row_parts - 1)
    for _ in emitter.each_row() if index in emitter.by_row else (0,):
        first = emitter.wide_values.get(index) or scalar_memory.wide_index(emitter, index)
        for end in (first, w.emit(f"add i64 {first}, {across}")):
            inside = w.emit(f"icmp ult i64 {end}, {2**31 if index.type == int32 else 2**63}")
            all_inside = w.emit(f"and i1 {all_inside}, {inside}") if all_inside else inside
    return all_inside


def _store_part(emitter: GangEmitter, op: Op, where: _Where, again: bool) -> None:
    """Emit the current part's store.

    Args:
        emitter: its block is open.
        op: the store.
        where: its addresses in this part.
        again: all lanes have stored to these elements before, so lanes that are off may store what is there.
    """
    scalar, components = element(op.operands[-1].type), emitter.vector(op.operands[-1])
    if scalar.kind is Kind.BOOL:
        flags, kind = vector("i1", emitter.width), vector("i8", emitter.width)
        components = tuple(emitter.writer.emit(f"zext {flags} {part} to {kind}") for part in components)
    mask = emitter.mask
    if mask and again:
        # All lanes have stored to their elements before, so those that are off may store what is there.
        emitter.mask = ""
        kind, before = memory(scalar), where.loaded(memory(scalar), len(components))
        components = tuple(emitter.merged(mask, kind, part, old) for part, old in zip(components, before, strict=True))
    where.store(memory(scalar), components)
    emitter.mask = mask


def add_contiguous(emitter: GangEmitter, op: Op) -> bool:
    """Emit an addition to elements that lie side by side, without atomics, if it is one.

    That is in code for one core, where no two lanes have one element, but for 16-bit floats and where a mask would make
    the access slow.

    Returns:
        Whether it was emitted.
    """
    value, w = op.operands[-1], emitter.writer
    scalar, count = element(value.type), width(value.type)
    if not emitter.one_core or scalar.is_half or one_by_one(emitter, scalar):
        return False
    if not _Where(emitter, op).consecutive(count):
        return False
    verb, wide = "fadd" if scalar.kind is Kind.FLOAT else "add", vector(memory(scalar), emitter.width)
    terms = [emitter.vector(value) for _ in emitter.each_part()]
    if emitter.rows > 1 and emitter.by_row.isdisjoint(op.operands[1:-1]):
        terms = _added_up(emitter, f"{verb} {wide}", terms)
    for part in emitter.each_part():
        if part >= len(terms):  # a generator that is left early would leave its part the current one
            continue
        where = _Where(emitter, op)
        old = where.loaded(memory(scalar), count)
        total = [w.emit(f"{verb} {wide} {a}, {b}") for a, b in zip(old, terms[part], strict=True)]
        where.store(memory(scalar), tuple(total))
        emitter.bind(op.result, old)
    return True


def rows(emitter: GangEmitter, op: Op) -> tuple[str, str]:
    """Locate an access in all lanes.

    Returns:
        Its address in the gang's first lane and the bytes from lane to lane; or, if the distances differ, the address
            of memory that holds the addresses of all lanes, and an empty string.
    """
    w, where = emitter.writer, _Where(emitter, op)
    if not where.offset.each:
        return where.pointer(), where.offset.step
    count = emitter.width * emitter.parts
    addresses = w.once(("gang", "rows", count), f"alloca {vector('ptr', count)}, align 64", "rows")
    for _ in emitter.each_part():
        at = w.emit(f"getelementptr ptr, ptr {addresses}, i64 {emitter.first_lane}")
        w.do(f"store {vector('ptr', emitter.width)} {_Where(emitter, op).pointers(0)}, ptr {at}, align 8")
    return addresses, ""


def _added_up(emitter: GangEmitter, add: str, terms: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Add up what all rows add to the same elements, the first half of the rows to the second, until one row is left.

    Args:
        emitter: its block is open.
        add: LLVM's instruction with its type.
        terms: the vectors of the components in each part.
    """
    while len(terms) > emitter.row_parts:
        half = len(terms) // 2
        terms = [
            tuple(emitter.writer.emit(f"{add} {x}, {y}") for x, y in zip(a, b, strict=True))
            for a, b in zip(terms[:half], terms[half:], strict=True)
        ]
    return terms


def one_by_one(emitter: GangEmitter, scalar: Scalar) -> bool:
    """Return whether a mask is on and the target has no masked access to scalars of this type."""
    return bool(emitter.mask) and (scalar.size < 4 or emitter.maths.bits <= NARROW)


def is_bad_under_mask(emitter: GangEmitter, op: Op) -> bool:
    """Return whether an access is much slower under a mask than without.

    That is so for elements of several scalars or of small ones, and on targets with vectors of only NARROW bits.
    """
    type = array_of(op.operands[0])
    several = bool(type.pitch) or (component_of(op) is None and width(type.dtype) > 1)
    return several or element(type.dtype).size < 4 or emitter.maths.bits <= NARROW


def _store_last(emitter: GangEmitter, op: Op) -> None:
    """Emit a scalar store of the value in the highest lane that is on."""
    if emitter.rows > 1:
        for row in range(emitter.rows):
            with emitter.alone(row):
                _store_last(emitter, op)
        return
    value = op.operands[-1]
    if value in emitter.varying:
        last = Value(value.type, "last")
        emitter.bind(last, _last_lane(emitter, value))
        op = op.replace((*op.operands[:-1], last))
    HANDLERS["store"](emitter, op)


def _last_lane(emitter: GangEmitter, value: Value) -> list[str]:
    """Return a value's components in the highest lane that is on."""
    w, kind, word = emitter.writer, emitter.scalar_kind(value), f"i{emitter.width}"
    wide, result = vector(kind, emitter.width), list[str]()
    for part in emitter.each_part():
        if not emitter.mask:
            if part == emitter.parts - 1:
                lane = f"i32 {emitter.width - 1}"
                result = [w.emit(f"extractelement {wide} {c}, {lane}") for c in emitter.vector(value)]
            continue
        bits = emitter.bits(emitter.mask)
        above = emitter.typed(bits, word, 0).intrinsic("ctlz", more="i1 true").text
        lane = w.emit(f"sub {word} {emitter.width - 1}, {above}", "last")
        own = [w.emit(f"extractelement {wide} {c}, {word} {lane}") for c in emitter.vector(value)]
        if part:  # another part may have no lane that is on: what it has then is not read
            some = w.emit(f"icmp ne {word} {bits}, 0", "any")
            own = [w.emit(f"select i1 {some}, {kind} {a}, {kind} {b}") for a, b in zip(own, result, strict=True)]
        result = own
    return result


class _Where:
    """The addresses of an access in all lanes, in bytes from an array's beginning.

    Attributes:
        array: the array, of type `type`.
        scalar: the type of an element's components.
        component: the index of the one component that is accessed; None: the whole element is.
        pitch: bytes from element to element of a contiguous array.
        offset: the address, as bytes behind the array's first element.
        of_all_parts: that holds for every part of the gang: no lane has an offset of its own, and there is one row.
    """

    def __init__(self, emitter: GangEmitter, op: Op) -> None:
        self.emitter, self.writer = emitter, emitter.writer
        self.array = op.operands[0]
        self.type = array_of(self.array)
        self.scalar = element(self.type.dtype)
        self.component = component_of(op)
        self.pitch = self.type.pitch or width(self.type.dtype) * self.scalar.size
        self.offset = self._offset(op)
        if self.component is not None:
            self.offset = self._plus(self.offset, self._times(self._index(self.component), str(self.scalar.size)))
        self.of_all_parts = not self.offset.each and emitter.rows == 1

    def _offset(self, op: Op) -> Sum:
        """Return the offset of an access's element in bytes, without that of a component."""
        if op in self.emitter.flat:
            return self._times(Sum(self._flat_first(self.emitter.flat[op]), "1"), str(self.pitch))
        indices = [self._index(v) for v in op.operands[1 : 1 + self.type.ndim]]
        return (self._dense if self.emitter.options.contiguous else self._strided)(indices)

    def _flat_first(self, offsets: Sequence[int]) -> str:
        """Return the linear index of the first lane's element, whose indices are the thread's plus these constants."""
        more = str(offsets[0])
        for axis, offset in enumerate(offsets[1:], 1):
            size = scalar_memory.launch_dim(self.emitter, axis)
            more = self._scalar("add", self._scalar("mul", more, size), str(offset))
        return self._scalar("add", self.emitter.flat_first, more)

    def is_uniform(self) -> bool:
        """Return whether all lanes access the same address."""
        return not self.offset.each and self.offset.step == "0"

    def loaded(self, kind: str, count: int) -> list[str]:
        """Emit the loads of an element's components in all lanes; return a vector for each component.

        Args:
            kind: LLVM type of a component in memory.
            count: how many components there are.
        """
        form = self._form(count)
        if self._by_rows(form, count):
            return self._load_rows(kind, count)
        if form == 1:
            return [self._load_vector(kind, self.pointer(), self.emitter.width)]
        if form:
            return self._load_interleaved(kind, count)
        if self.emitter.maths.gathers and self.scalar.size >= 4:
            return [self._gather(kind, k * self.scalar.size) for k in range(count)]
        return self._loads(kind, count)

    def permuted(self, kind: str, op: Op, axis: int, constant: int) -> str:
        """Emit the loads of all lanes as one, of elements side by side that it puts in order (`Thin.near`).

        Args:
            kind: LLVM type of an element.
            op: the load.
            axis: the last index is the thread's along this axis, plus a constant. Along the last one all threads of a
                row are in the gang, along the first one lanes ascend by at most 1.
            constant: that constant.
        """
        emitter, w, lanes = self.emitter, self.writer, self.emitter.width
        wide, first = vector("i32", lanes), "0"

        def repeated(lane: int) -> str:
            """Emit a vector with a lane of the index in every lane."""
            return w.emit(f"shufflevector {wide} {index}, {wide} poison, {wide} {splat('i32', str(lane))}")

        index = w.emit(f"sub {wide} {emitter.vector(indices_of(op)[-1])[0]}, {splat('i32', str(constant))}")
        if axis:
            length = w.emit(f"trunc i64 {scalar_memory.launch_dim(emitter, axis)} to i32")
            last = emitter.spread(w.emit(f"sub i32 {length}, 1"), "i32")
        else:
            first = w.emit(f"sext i32 {w.emit(f'extractelement {wide} {index}, i64 0')} to i64")
            index = w.emit(f"sub {wide} {index}, {repeated(0)}")
            last = repeated(lanes - 1)
        there = w.emit(f"icmp ule {wide} {emitter.lane_numbers('i32')}, {last}")
        address = w.emit(f"getelementptr {kind}, ptr {self.pointer(constant * self.scalar.size)}, i64 {first}")
        loaded = masked_load(emitter.typed(address, "ptr", 0), emitter.typed(there, "i1"), kind, self.scalar.size)
        name = PERMUTED[lanes][kind != "float"]
        return w.call(vector(kind, lanes), name, str(loaded), f"{wide} {index}")

    def store(self, kind: str, parts: tuple[str, ...]) -> None:
        """Emit the stores of an element's components in the lanes that are on.

        Of lanes that store to one element the highest is last.

        Args:
            kind: LLVM type of a component in memory.
            parts: a vector for each component.
        """
        form = self._form(len(parts))
        if self._by_rows(form, len(parts)):
            self._store_rows(kind, parts)
        elif form == 1:
            self._store_vector(kind, parts[0], self.pointer(), self.emitter.width)
        elif form:
            self._store_interleaved(kind, parts)
        else:
            self._scatter(kind, parts)

    # Addresses.

    def _index(self, value: Value) -> Sum:
        """Return an index in 64 bits: linear over the lanes if it is uniform or linear, else as a vector."""
        emitter, w = self.emitter, self.writer
        if value in emitter.vectors:
            w.lanes = emitter.width
            each = scalar_memory.wide_index(emitter, value)
            w.lanes = 0
            return Sum(each=each)
        first = emitter.wide_values.get(value) or scalar_memory.wide_index(emitter, value)
        return Sum(first, str(emitter.steps.get(value, 0)))

    def _dense(self, indices: list[Sum]) -> Sum:
        """Return the offset in bytes of an element of a contiguous array."""
        offset = indices[0]
        for axis, index in enumerate(indices[1:], 1):
            size = scalar_memory.size(self.emitter, self.array, axis)
            offset = self._plus(self._times(offset, size), index)
        return self._times(offset, str(self.pitch))

    def _strided(self, indices: list[Sum]) -> Sum:
        """Return the offset in bytes of an element by the array's strides."""
        offset = Sum()
        for axis, index in enumerate(indices):
            stride = scalar_memory.stride(self.emitter, self.array, axis)
            offset = self._plus(offset, self._times(index, stride))
        return offset

    def _times(self, a: Sum, factor: str) -> Sum:
        """Multiply a number of each lane by an i64 scalar; return the products."""
        each = a.each and self._wide("mul", a.each, self.emitter.spread(factor, "i64"))
        return Sum(self._scalar("mul", a.first, factor), self._scalar("mul", a.step, factor), each)

    def _plus(self, a: Sum, b: Sum) -> Sum:
        """Add two numbers of each lane; return the results."""
        each = self._wide("add", a.each, b.each) if a.each and b.each else a.each or b.each
        return Sum(self._scalar("add", a.first, b.first), self._scalar("add", a.step, b.step), each)

    def _wide(self, verb: str, a: str, b: str) -> str:
        """Emit an instruction on vectors of i64; return its register."""
        return self.writer.emit(f"{verb} {vector('i64', self.emitter.width)} {a}, {b}")

    def _scalar(self, verb: str, a: str, b: str) -> str:
        """Return a + b ("add") or a · b ("mul") of i64 operands; no instruction is emitted if constants decide it."""
        if a[0] == "%":
            a, b = b, a
        if a[0] != "%":
            if b[0] != "%":
                return str(int(a) * int(b) if verb == "mul" else int(a) + int(b))
            if a == "0":
                return "0" if verb == "mul" else b
            if a == "1" and verb == "mul":
                return b
        return self.writer.emit(f"{verb} i64 {b}, {a}")

    def pointer(self, more: int = 0) -> str:
        """Return the address in the current part's first lane, `more` bytes behind that of the access.

        A part of the offset that is a vector (`Sum.each`) is left out.
        """
        base, first = scalar_memory.data(self.emitter, self.array), self._scalar("add", self.offset.first, str(more))
        first = self._scalar("add", first, self._scalar("mul", self.offset.step, str(self.emitter.first_lane)))
        return self.writer.emit(f"getelementptr i8, ptr {base}, i64 {first}")

    def pointers(self, more: int) -> str:
        """Return a vector of the addresses in all lanes, `more` bytes behind those of the access."""
        w, emitter, wide = self.writer, self.emitter, vector("i64", self.emitter.width)
        steps = self.offset.each
        if self.offset.step != "0":
            numbers = emitter.lane_numbers("i64")
            linear = w.emit(f"mul {wide} {emitter.spread(self.offset.step, 'i64')}, {numbers}")
            steps = self._wide("add", steps, linear) if steps else linear
        return w.emit(f"getelementptr i8, ptr {self.pointer(more)}, {wide} {steps}")

    def consecutive(self, count: int) -> int:
        """Return `count` if the lanes' elements, of `count` scalars each, lie side by side in memory; otherwise 0.

        It is 0 too where all lanes together would access more than GANG_INTERLEAVED_LANES scalars.
        """
        if self.offset.each or self.offset.step != str(count * self.scalar.size):
            return 0
        return count if count * self.emitter.width <= GANG_INTERLEAVED_LANES else 0

    # Accesses.

    def _form(self, count: int) -> int:
        """Return `count` if the lanes' elements, of that many scalars each, are accessed as one vector; else 0.

        It is 0 if they do not lie side by side, or are better accessed lane by lane because of a mask: on targets
        without mask registers, elements of several components.
        """
        several = self.emitter.maths.bits <= MASKED and count > 1
        apart = self.emitter.mask and (several or one_by_one(self.emitter, self.scalar))
        return 0 if apart else self.consecutive(count)

    def _load_vector(self, kind: str, pointer: str, count: int) -> str:
        """Emit a load of `count` scalars side by side, under the mask; those of lanes that are off are 0."""
        w, wide, align = self.writer, vector(kind, count), self.scalar.size
        if not self.emitter.mask:
            return w.emit(f"load {wide}, ptr {pointer}, align {align}", self.array.name)
        loaded = masked_load(self.emitter.typed(pointer, "ptr", 0), self._flags(count), kind, align)
        return w.emit(f"freeze {loaded}", self.array.name)

    def _store_vector(self, kind: str, value: str, pointer: str, count: int) -> None:
        """Emit a store of `count` scalars side by side, under the mask."""
        stored, address = self.emitter.typed(value, kind, count), self.emitter.typed(pointer, "ptr", 0)
        if self.emitter.mask:
            masked_store(address, self._flags(count), stored, self.scalar.size)
        else:
            address.store(stored, align=self.scalar.size)

    def _flags(self, count: int) -> LlvmValue:
        """Return the mask as i1, with each lane repeated so that there are `count` of them."""
        flags = self.emitter.typed(self.emitter.flags(self.emitter.mask), "i1")
        return flags if count == flags.lanes else flags.shuffled(k // (count // flags.lanes) for k in range(count))

    def _by_rows(self, form: int, count: int) -> bool:
        """Return whether each lane's element is accessed as vectors, of which blocks are transposed in registers."""
        return count >= (GANG_ROW_COMPONENTS_LEAST if form else GANG_COMPONENTS) and self.scalar.size in (4, 8)

    def _side(self, count: int) -> int:
        """Return how many lanes, and scalars of each, a block has: as a register of at most 32 bytes holds."""
        most = min(count, self.emitter.width, min(self.emitter.maths.bits, MASKED) // 8 // self.scalar.size)
        return 1 << (most.bit_length() - 1)

    def _load_rows(self, kind: str, count: int) -> list[str]:
        """Load each lane's element as vectors and transpose them; return a vector over the lanes per component."""
        side = self._side(count)
        columns = self._columns(kind, 0, starts(range(count), count, side), side)
        return [columns[k] for k in range(count)]

    def _columns(self, kind: str, more: int, begins: Sequence[int], side: int) -> dict[int, str]:
        """Load parts of each lane's element and transpose them; return a vector over the lanes for each scalar.

        Args:
            kind: LLVM type of a scalar.
            more: bytes from the address of the access to the element's beginning.
            begins: the numbers of the scalars at which parts begin.
            side: how many scalars a part has.

        Returns:
            The vectors by the scalar's number in the element.
        """
        w, address, row, size = self.writer, self._each_pointer(more), vector(kind, side), self.scalar.size
        parts: dict[int, list[str]] = {}
        for first in range(0, self.emitter.width, side):
            addresses = [address(first + k) for k in range(side)]
            group: dict[int, str] = {}
            for at in begins:
                here = [w.emit(f"getelementptr {kind}, ptr {p}, i64 {at}") if at else p for p in addresses]
                rows = [w.emit(f"load {row}, ptr {p}, align {size}", self.array.name) for p in here]
                group |= dict(enumerate(transposed(w.emit, kind, size, rows), at))
            for k, column in group.items():
                parts.setdefault(k, []).append(column)
        return {k: w.joined(columns, kind, side) for k, columns in parts.items()}

    def fields(self, ops: Sequence[Op]) -> None:
        """Load several fields of each lane's struct together, and bind the results of these loads."""
        first = array_of(scalar_memory.together(self.emitter, self.array)).offset
        cells = {op: (array_of(op.operands[0]).offset - first) // FIELD_BYTES for op in ops}
        wanted = sorted(k + n for op, k in cells.items() for n in range(width(op.result.type)))
        count = self.pitch // FIELD_BYTES
        side = self._side(count)
        columns = self._columns("i32", first - self.type.offset, starts(wanted, count, side), side)
        for op, k in cells.items():
            kind = vector(memory(element(op.result.type)), self.emitter.width)
            own = [columns[k + n] for n in range(width(op.result.type))]
            if not kind.endswith("i32>"):
                wide = vector("i32", self.emitter.width)
                own = [self.writer.emit(f"bitcast {wide} {c} to {kind}", op.result.name) for c in own]
            self.emitter.bind_flags(op.result, own)

    def _store_rows(self, kind: str, parts: tuple[str, ...]) -> None:
        """Transpose the components `parts`, vectors over the lanes, and store each lane's element as vectors."""
        w, count, lanes = self.writer, len(parts), self.emitter.width
        side, address = self._side(count), self._each_pointer(0, stores=True)
        wide, row = vector(kind, lanes), vector(kind, side)
        for first in range(0, lanes, side):
            order, columns = ", ".join(f"i32 {first + k}" for k in range(side)), parts
            if side < lanes:
                text = f"{wide} poison, <{side} x i32> <{order}>"
                columns = tuple(w.emit(f"shufflevector {wide} {part}, {text}") for part in parts)
            addresses = [address(first + k) for k in range(side)]
            begins = starts(range(count), count, side)
            blocks = [(at, transposed(w.emit, kind, self.scalar.size, columns[at : at + side])) for at in begins]
            for k, p in enumerate(addresses):
                for at, rows in blocks:
                    here = w.emit(f"getelementptr {kind}, ptr {p}, i64 {at}") if at else p
                    w.do(f"store {row} {rows[k]}, ptr {here}, align {self.scalar.size}")

    def _load_interleaved(self, kind: str, count: int) -> list[str]:
        """Load all lanes' elements, side by side, as one vector; return a vector over the lanes per component."""
        w, lanes = self.writer, self.emitter.width
        wide = vector(kind, count * lanes)
        loaded = self._load_vector(kind, self.pointer(), count * lanes)
        orders = [", ".join(f"i32 {count * lane + k}" for lane in range(lanes)) for k in range(count)]
        return [w.emit(f"shufflevector {wide} {loaded}, {wide} poison, <{lanes} x i32> <{o}>") for o in orders]

    def _store_interleaved(self, kind: str, parts: tuple[str, ...]) -> None:
        """Store all lanes' elements, side by side, as one vector of the interleaved components `parts`."""
        w, lanes, count = self.writer, self.emitter.width, len(parts)
        power = 1 << (count - 1).bit_length()
        joined = w.joined([*parts, *["poison"] * (power - count)], kind, lanes)
        order = ", ".join(f"i32 {k * lanes + lane}" for lane in range(lanes) for k in range(count))
        wide = vector(kind, power * lanes)
        value = w.emit(f"shufflevector {wide} {joined}, {wide} poison, <{count * lanes} x i32> <{order}>")
        self._store_vector(kind, value, self.pointer(), count * lanes)

    def _gather(self, kind: str, more: int) -> str:
        """Emit a gather of a scalar of each lane, `more` bytes behind the access; those of lanes that are off are 0."""
        emitter = self.emitter
        flags = self._flags(emitter.width) if emitter.mask else None
        loaded = masked_gather(emitter.typed(self.pointers(more), "ptr"), flags, kind, self.scalar.size)
        return self.writer.emit(f"freeze {loaded}", self.array.name) if flags else loaded.text

    def _loads(self, kind: str, count: int) -> list[str]:
        """Emit a scalar load for each lane and component, faster on targets with slow gathers; return vectors."""
        w, results = self.writer, ["poison"] * count
        wide, address = vector(kind, self.emitter.width), self._each_pointer(0)
        for lane in range(self.emitter.width):
            at = address(lane)
            for k, result in enumerate(results):
                here = w.emit(f"getelementptr {kind}, ptr {at}, i64 {k}") if k else at
                one = w.emit(f"load {kind}, ptr {here}, align {self.scalar.size}")
                results[k] = w.emit(f"insertelement {wide} {result}, {kind} {one}, i64 {lane}", self.array.name)
        return results

    def _each_pointer(self, more: int, stores: bool = False) -> Callable[[int], str]:
        """Return a function that emits the address in a lane.

        In lanes that are off that is memory of the gang's own, which no access of a thread reaches.

        Args:
            more: bytes to add to the address of the access.
            stores: the memory is written to.
        """
        w, lanes, emitter = self.writer, self.emitter.width, self.emitter
        nowhere = self._nowhere(stores, more) if emitter.mask else ""
        if self.offset.each:
            addresses, kind = self.pointers(more), vector("ptr", lanes)
            if nowhere:
                flags = f"{vector('i1', lanes)} {emitter.flags(emitter.mask)}"
                addresses = w.emit(f"select {flags}, {kind} {addresses}, {kind} {emitter.spread(nowhere, 'ptr')}")
            return lambda lane: w.emit(f"extractelement {kind} {addresses}, i64 {lane}")
        first, step = self.pointer(more), self.offset.step
        bits = emitter.bits(emitter.mask) if nowhere else ""

        def at(lane: int) -> str:
            """Emit the address in a lane; if the lane is off, that of memory of our own."""
            address = w.emit(f"getelementptr i8, ptr {first}, i64 {self._scalar('mul', step, str(lane))}")
            if not nowhere:
                return address
            on = w.emit(f"icmp ne i{lanes} {w.emit(f'and i{lanes} {bits}, {1 << lane}')}, 0", "on")
            return w.emit(f"select i1 {on}, ptr {address}, ptr {nowhere}, !unpredictable !{{}}")

        return at

    def _nowhere(self, stores: bool, more: int) -> str:
        """Return an address for lanes that are off, in memory of our own.

        Args:
            stores: it is written to, so the memory is the thread's; else it is constant.
            more: bytes behind an element's beginning.
        """
        w, bytes = self.writer, (self.pitch + 63) // 64 * 64
        if stores:
            address = w.once(("gang", "nowhere", bytes), f"alloca [{bytes} x i8], align 64", "nowhere")
        else:
            address = f"@wb.nowhere{bytes}"
            text = f"{address} = internal constant [{bytes} x i8] zeroinitializer, align 64"
            w.declare(f"wb.nowhere{bytes}", text)
        return w.emit(f"getelementptr i8, ptr {address}, i64 {(more + self.type.offset) % bytes}")

    def _scatter(self, kind: str, parts: tuple[str, ...]) -> None:
        """Emit a scalar store per component of each lane, in ascending order; lanes that are off store elsewhere."""
        w, lanes = self.writer, self.emitter.width
        wide, address = vector(kind, lanes), self._each_pointer(0, stores=True)
        for lane in range(lanes):
            at = address(lane)
            for k, part in enumerate(parts):
                one = w.emit(f"extractelement {wide} {part}, i64 {lane}")
                here = w.emit(f"getelementptr {kind}, ptr {at}, i64 {k}") if k else at
                w.do(f"store {kind} {one}, ptr {here}, align {self.scalar.size}")
