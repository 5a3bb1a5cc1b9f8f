"""Operations that have no vector form, emitted lane by lane in the order of threads by the scalar handlers."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.backends.cpu.emit.emit_module import HANDLERS
from workbench.backends.cpu.emit.emitter import EIGHT_AT_A_TIME
from workbench.backends.cpu.emit.types import register, width
from workbench.backends.cpu.gang.emitter import GangEmitter
from workbench.backends.llvm.values import vector
from workbench.ir.values import Op, Value, walk
from workbench.limits import GANG_UNROLLED_LANES
from workbench.types import Slots, element, int32

_Parts = dict[Value, tuple[str, ...]]


def each_lane(emitter: GangEmitter, op: Op) -> None:
    """Emit an operation by its scalar handler for each lane that is on, in the order of threads of each row.

    It is emitted once in a loop over lanes, or written out if lanes are few, all are on, and it has no blocks.
    """
    if emitter.rows > 1:
        for row in range(emitter.rows):
            with emitter.alone(row):
                each_lane(emitter, op)
        return
    if emitter.mask or op.blocks or emitter.width * emitter.parts > GANG_UNROLLED_LANES:
        _looped(emitter, op)
        return
    for _ in emitter.each_part():
        _written_out(emitter, op, {v: emitter.vector(v) for v in _varying(emitter, op)})


def _varying(emitter: GangEmitter, op: Op) -> list[Value]:
    """Return the varying values that an operation, and its blocks, take from outside."""
    inside = [o for block in op.blocks for o in walk(block)]
    own = {v for o in (op, *inside) for block in o.blocks for v in block.params}.union(*(o.results for o in inside))
    used = dict.fromkeys(v for o in (op, *inside) for v in o.operands)
    return [v for v in used if v in emitter.varying and v not in own and not isinstance(v.type, Slots)]


def _written_out(emitter: GangEmitter, op: Op, parts_in: _Parts) -> None:
    """Emit an operation once for each lane of the current part, without a loop, and bind its results.

    Args:
        emitter: its block is open.
        op: the operation.
        parts_in: the vectors of the varying values that it uses.
    """
    w, count = emitter.writer, emitter.width
    results = {r: ["poison"] * width(r.type) for r in op.results}
    for lane in range(count):
        scalars: dict[Value, list[str]] = {}
        for v, parts in parts_in.items():
            kind = vector(register(element(v.type)), count)
            scalars[v] = [w.emit(f"extractelement {kind} {part}, i64 {lane}") for part in parts]
        for r, parts in _one(emitter, op, scalars, str(emitter.first_lane + lane)).items():
            kind = register(element(r.type))
            for k, part in enumerate(parts):
                text = f"insertelement {vector(kind, count)} {results[r][k]}, {kind} {part}, i64 {lane}"
                results[r][k] = w.emit(text, r.name)
    for r, vectors in results.items():
        emitter.bind_flags(r, vectors)


def _looped(emitter: GangEmitter, op: Op) -> None:
    """Emit an operation in a loop over the lanes that are on; varying values go through memory.

    Where all are on, linear values are computed: LLVM then knows which rows a loop inside goes through.
    """
    spills, used = _Spills(emitter), _varying(emitter, op)
    kinds = {v: register(element(v.type)) for v in (*used, *op.results)}
    linear = {} if emitter.mask else {v: first for v in used if (first := _linear(emitter, v))}
    addresses = {v: spills.put(v, [emitter.vector(v) for _ in emitter.each_part()]) for v in used if v not in linear}
    outs = {r: spills.put(r, [("",) * width(r.type)] * emitter.parts) for r in op.results}
    loop = _Lanes(emitter)
    scalars = {v: [spills.get(address, kinds[v], loop.lane) for address in cells] for v, cells in addresses.items()}
    scalars |= {v: [_in_lane(emitter, v, first, loop.lane)] for v, first in linear.items()}
    for r, parts in _one(emitter, op, scalars, loop.lane).items():
        for address, part in zip(outs[r], parts, strict=True):
            spills.set(address, kinds[r], loop.lane if r in emitter.varying else "0", part)
    loop.close(EIGHT_AT_A_TIME if op.name == "if" and not emitter.mask else _AS_A_LOOP)
    for _ in emitter.each_part():
        for r, cells in outs.items():
            if r in emitter.varying:
                emitter.bind_flags(r, [spills.vector(address, kinds[r]) for address in cells])
    for r, cells in outs.items():
        if r not in emitter.varying:
            emitter.bind(r, [spills.get(address, kinds[r], "0") for address in cells])


class _Lanes:
    """A loop over the lanes that are on, whose body is emitted after its creation and before `close`.

    Attributes:
        lane: the lane's number, an i32.
    """

    def __init__(self, emitter: GangEmitter) -> None:
        self.emitter, w = emitter, emitter.writer
        self.count = emitter.width * emitter.parts
        self.word = f"i{self.count}" if emitter.mask else "i32"
        self.first = emitter.all_bits() if emitter.mask else "0"
        self.head, self.done, self.before = w.block_name("lane"), w.block_name("lane.end"), w.label
        w.jump(self.head)
        w.open(self.head)
        self.left, self.row = w.name("lane"), w.reserve()
        self.lane = self.left
        if emitter.mask:
            self.lane = w.call(self.word, f"llvm.cttz.{self.word}", f"{self.word} {self.left}", "i1 true")
            if self.count != 32:
                verb = "zext" if self.count < 32 else "trunc"
                self.lane = w.emit(f"{verb} {self.word} {self.lane} to i32", "lane")

    def close(self, wishes: tuple[tuple[str, str], ...]) -> None:
        """End the body, and open the block behind the loop; `wishes` are LLVM's hints for it."""
        w, word, left = self.emitter.writer, self.word, self.left
        if self.emitter.mask:
            following = w.emit(f"and {word} {left}, {w.emit(f'sub {word} {left}, 1')}")
            more = w.emit(f"icmp ne {word} {following}, 0", "more")
        else:
            following = w.emit(f"add nuw nsw i32 {left}, 1")
            more = w.emit(f"icmp ult i32 {following}, {self.count}", "more")
        w.fill(self.row, left, f"phi {word} [ {self.first}, %{self.before} ], [ {following}, %{w.label} ]")
        w.branch(more, self.head, self.done, self.emitter.loop_end(wishes=wishes))
        w.open(self.done)


def _linear(emitter: GangEmitter, value: Value) -> str:
    """Return the first thread's register of an int32 that grows from lane to lane; empty for other values."""
    held = None if value in emitter.vectors or value.type != int32 else emitter.scalars(value)
    return held[0] if held else ""


def _in_lane(emitter: GangEmitter, value: Value, first: str, lane: str) -> str:
    """Emit a linear value in a lane from that in the first one; return its register."""
    flags = "nsw " if value in emitter.exact else ""
    more = emitter.writer.emit(f"mul i32 {lane}, {emitter.steps.get(value, 0)}")
    return emitter.writer.emit(f"add {flags}i32 {first}, {more}", value.name)


_AS_A_LOOP = (("unroll.disable", ""),)


def _one(emitter: GangEmitter, op: Op, scalars: dict[Value, list[str]], lane: str) -> dict[Value, tuple[str, ...]]:
    """Emit an operation for one lane; return the registers of its results.

    Args:
        emitter: its block is open.
        op: the operation.
        scalars: the components of the varying values that it uses, in this lane.
        lane: the lane's number, a register or a constant.
    """
    w, thread = emitter.writer, emitter.thread
    before = {v: emitter.scalars(v) for v in scalars}
    emitter.in_gang, emitter.lane = False, lane
    emitter.thread = w.emit(f"add nsw i32 {thread}, {lane}", "thread")
    for v, parts in scalars.items():
        emitter.bind(v, parts)
    HANDLERS[op.name](emitter, op)
    results = {r: emitter.scalars(r) or () for r in op.results}
    for v, parts_before in before.items():
        if parts_before is not None:
            emitter.bind(v, parts_before)
    emitter.thread, emitter.in_gang, emitter.lane = thread, True, ""
    return results


class _Spills:
    """Stack memory for varying values of all lanes, one array for each component; a bool is a byte in it."""

    def __init__(self, emitter: GangEmitter) -> None:
        self.emitter, self.writer, self.count = emitter, emitter.writer, 0

    def put(self, value: Value, parts: Sequence[Sequence[str]]) -> list[str]:
        """Store a value's components; return the address of each component's array.

        Args:
            value: the value.
            parts: the vectors of its components in each part; an empty string stands for zeros.
        """
        w, kind = self.writer, register(element(value.type))
        memory = "i8" if kind == "i1" else kind
        wide, addresses = vector(memory, self.emitter.width), []
        for components in zip(*parts, strict=True):
            self.count += 1
            type = f"[{len(parts)} x {wide}]"
            addresses.append(w.once(("gang", "lane", self.count, type), f"alloca {type}, align 64", "lanes"))
            for number, component in enumerate(components):
                if kind == "i1" and component:
                    component = w.emit(f"zext {vector(kind, self.emitter.width)} {component} to {wide}")
                at = self._of_part(addresses[-1], memory, number)
                w.do(f"store {wide} {component or 'zeroinitializer'}, ptr {at}")
        return addresses

    def get(self, address: str, kind: str, lane: str) -> str:
        """Emit the load of a lane's scalar of type `kind` from the array at `address`; return its register."""
        memory = "i8" if kind == "i1" else kind
        loaded = self.writer.emit(f"load {memory}, ptr {self._at(address, memory, lane)}")
        return self.writer.emit(f"trunc i8 {loaded} to i1") if kind == "i1" else loaded

    def set(self, address: str, kind: str, lane: str, part: str) -> None:
        """Emit the store of the scalar `part`, of type `kind`, for a lane of the array at `address`."""
        memory = "i8" if kind == "i1" else kind
        part = self.writer.emit(f"zext i1 {part} to i8") if kind == "i1" else part
        self.writer.do(f"store {memory} {part}, ptr {self._at(address, memory, lane)}")

    def vector(self, address: str, kind: str) -> str:
        """Emit the load of the current part's lanes from the array at `address`; return the vector's register."""
        cell = "i8" if kind == "i1" else kind
        memory, at = vector(cell, self.emitter.width), self._of_part(address, cell, self.emitter.part)
        loaded = self.writer.emit(f"load {memory}, ptr {at}")
        if kind != "i1":
            return loaded
        return self.writer.emit(f"trunc {memory} {loaded} to {vector(kind, self.emitter.width)}")

    def _of_part(self, address: str, memory: str, part: int) -> str:
        """Emit the address of a part's vector in an array of lanes; `memory` is the LLVM type of a lane."""
        if not part:
            return address
        return self.writer.emit(f"getelementptr {vector(memory, self.emitter.width)}, ptr {address}, i32 {part}")

    def _at(self, address: str, memory: str, lane: str) -> str:
        """Emit the address of a lane's scalar in an array of lanes; `memory` is its LLVM type."""
        return self.writer.emit(f"getelementptr {memory}, ptr {address}, i32 {lane}")
