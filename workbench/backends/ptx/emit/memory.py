"""Rules for loads, stores, atomics, asynchronous copies, fences and mbarrier objects.

Every access goes through the library's function for its width, with the window that it must stay in. That is the one
place for checks of range and alignment, for counters and for the sanitizer. Of mbarrier objects, those that
`cuda::barrier` uses are supported; those that count bytes of bulk copies are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from workbench.backends.llvm.values import Value, bits_of
from workbench.backends.ptx.emit.conversions import window
from workbench.backends.ptx.emit.emitter import Emitter, Rule, width
from workbench.backends.ptx.emit.instrumentation import (
    check_races,
    count_access,
    end_copy_group,
    fence,
    note_order,
    note_read,
    note_write,
    sound_lanes,
    wait_for_copies,
)
from workbench.backends.ptx.emit.values import LANES, stored
from workbench.backends.ptx.emit.waiting import note_change
from workbench.backends.ptx.library.barriers import wbe_mbarrier_arrive
from workbench.backends.ptx.library.memory import ATOMICS, GATHER, LOAD, SCATTER, STORE, wbe_check, wbe_copy
from workbench.backends.ptx.library.races import ATOMIC, ATOMIC_READ, COPY, READ, WRITE
from workbench.backends.ptx.syntax.program import BITS, Immediate, Instruction, Operand, Register, Symbol

_SPACES = ("global", "shared", "local", "const", "param")


class Access(msgspec.Struct, frozen=True):
    """The memory that an instruction accesses.

    Attributes:
        address: generic addresses, of all lanes or one for all.
        first, size: the window [first, first + size) that they must lie in.
        space: the state space; "" if only the address tells.
    """

    address: Value
    first: Value
    size: Value
    space: str = ""


def space_of(i: Instruction) -> str:
    """Return the state space that an instruction names; "" for generic addresses."""
    return next((m.split("::")[0] for m in i.modifiers if m.split("::")[0] in _SPACES), "")


def access(e: Emitter, operand: Operand, space: str) -> Access:
    """Emit the addresses that an operand of a load, a store or an atomic refers to.

    Args:
        e: the emitter.
        operand: an address, `[base + offset]`.
        space: the state space that the instruction names, or "".

    Raises:
        BuildError: the operand is no address.
    """
    base, offset = e.address(operand)
    if isinstance(base, Symbol) and not space:
        space = e.layout.spaces.get(base.name, "param" if base.name in e.parameters else "global")
    if isinstance(base, Immediate):
        at: Value = e.number(base.value + offset, "i64")
    elif isinstance(base, Register) and BITS[base.type] == 32:
        # The sum wraps: compilers take a part of the offset from the register, which may be below zero.
        at = (e.read(base, "u32") + offset).to("i64")
    else:
        at = e.read(base, "u64") + offset if offset else e.read(base, "u64")
    if space == "param":
        # Parameters are read-only bytes of the launch, at the same place for all lanes.
        first = e.word("PARAMS")
        return Access(at + first, first, e.number(-(-e.function.parameter_size // 16) * 16, "i64"), space)
    if space in ("shared", "local"):
        at = at + window(e, space)
    if space == "shared":
        return Access(at, e.word("SHARED"), e.word("SHARED_SIZE"), space)
    return Access(at, e.word("ARENA"), e.word("SIZE"), space)


def _ld(e: Emitter, i: Instruction) -> None:
    """Emit ld or ldu, with its checks and counts; a load of parameters is unchecked. Refuse b128."""
    if i.type == "b128":
        raise e.unsupported_instruction()
    space, kind = space_of(i), i.type
    items = e.group(i.operands[0])
    elem, bytes = f"i{8 * width(kind)}", width(kind)
    source = access(e, i.operands[1], space)
    # The compiler made the offsets of parameters, so these loads need no check.
    if space == "param" and not source.address.lanes:
        for n, item in enumerate(items):
            e.write(item, (source.address + n * bytes).pointer.load(elem, align=1), kind)
        return
    mask = e.executing()
    note_order(e, i)
    check_races(e, mask, source.address, source.space, bytes * len(items), ATOMIC_READ if is_strong(i) else READ)
    # Of a vector load some parts may never be read; the sanitizer must not blame the kernel for those.
    used = [n for n, item in enumerate(items) if isinstance(item, Register) and item.name in e.used]
    values = load(e, mask, source, elem, len(items), used)
    for item, value in zip(items, values, strict=True):
        e.write(item, value, kind)


def load(e: Emitter, mask: Value, source: Access, elem: str, count: int = 1, used: Sequence[int] = (0,)) -> list[Value]:
    """Emit a load of `count` consecutive values per lane, with its checks and counts; return one value for each.

    Args:
        e: the emitter.
        mask: the i32 of the lanes that load.
        source: the memory.
        elem: the LLVM integer type of a value.
        count: values per lane.
        used: numbers of the values that the kernel uses; only those must have been written.
    """
    mask = sound_lanes(e, mask, source.address, source.space, bits_of(elem) // 8 * count)
    count_access(e, mask, source.address, bits_of(elem) // 8 * count)
    if e.sanitizing:
        mask = checked(e, mask, source, bits_of(elem) // 8 * count)
        note_read(e, mask, source.address, source.space, elem, used)
    if count == 1:
        return [LOAD[elem](e.ctx, mask, source.address, source.first, source.size, e.index)]
    # One check for the whole vector: its alignment is that of all its bytes.
    size = bits_of(elem) // 8
    mask = checked(e, mask, source, size * count)
    return [GATHER[elem](mask, source.address + n * size if n else source.address) for n in range(count)]


def checked(e: Emitter, mask: Value, target: Access, size: int) -> Value:
    """Emit the check that lanes' accesses of `size` bytes are aligned and lie in the window; the other lanes fault.

    Return the mask of lanes that pass.
    """
    return wbe_check(e.ctx, mask, target.address, target.first, target.size, size, e.index)


def _st(e: Emitter, i: Instruction) -> None:
    """Emit st, of one value or a vector per lane, with its checks and counts; refuse b128."""
    if i.type == "b128":
        raise e.unsupported_instruction()
    kind = i.type
    items = e.group(i.operands[1])
    elem, size = f"i{8 * width(kind)}", width(kind)
    target = access(e, i.operands[0], space_of(i))
    mask = e.executing()
    values = [e.read(item, kind).bits.to(elem).spread(LANES) for item in items]
    count_access(e, mask, target.address, size * len(items))
    mask = sound_lanes(e, mask, target.address, target.space, size * len(items))
    if e.sanitizing:
        mask = checked(e, mask, target, size * len(items))
    note_write(e, mask, target.address, elem, len(items))
    note_order(e, i)
    # A store counts as progress for threads that wait in a loop.
    note_change(e, "", mask, values[0], ())
    for n, value in enumerate(values):
        at = target.address + n * size if n else target.address
        check_races(e, mask, at, target.space, size, ATOMIC if is_strong(i) else WRITE, value)
    if len(items) == 1:
        STORE[elem](e.ctx, mask, target.address, target.first, target.size, e.index, values[0])
        return
    mask = checked(e, mask, target, size * len(items))
    for n, value in enumerate(values):
        at = target.address + n * size if n else target.address
        SCATTER[elem](mask, at, value)


OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


def atomic_name(operation: str, kind: str) -> str:
    """Return the name of the library's function for an atomic operation on a PTX type; "" if there is none."""
    bits = BITS[kind]
    if operation in ("and", "or", "xor", "exch", "cas"):
        return f"wbe_atom_{operation}_i{bits}" if bits in (16, 32, 64) else ""
    if operation in ("inc", "dec"):
        return f"wbe_atom_{operation}_i32" if kind == "u32" else ""
    if kind in ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64"):
        return f"wbe_atom_{operation}_{kind}" if operation == "add" else ""
    if bits not in (32, 64):
        return ""
    return f"wbe_atom_{operation}_i{bits}" if operation == "add" else f"wbe_atom_{operation}_{kind[0]}{bits}"


def _atom(e: Emitter, i: Instruction) -> None:
    """Emit atom or red, one call per element of a vector, with its checks and counts.

    Raises:
        BuildError: the library has no such operation on this type.
    """
    operands = i.operands if i.opcode == "atom" else (None, *i.operands)
    operation = next((m for m in i.modifiers if m in OPERATIONS), "")
    name = atomic_name(operation, i.type) if operation and i.type in BITS else ""
    vector = any(m in ("v2", "v4", "v8") for m in i.modifiers)
    if not name:
        raise e.unsupported_instruction()
    target = access(e, operands[1], space_of(i))  # type: ignore[arg-type]
    elem = f"i{BITS[i.type]}"
    mask = e.executing()
    items = [e.group(o) for o in operands[2:] if o is not None]  # type: ignore[arg-type]
    results = e.group(operands[0]) if operands[0] is not None else ()
    count_access(e, mask, target.address, width(i.type) * (len(items[0]) if vector else 1), atomic=True)
    mask = sound_lanes(e, mask, target.address, target.space, width(i.type) * (len(items[0]) if vector else 1))
    if e.sanitizing:
        mask = checked(e, mask, target, width(i.type))
        parts = range(len(items[0]) if vector else 1)
        # An exchange hands on what was there, and computes nothing from it.
        if operation == "exch":
            note_write(e, mask, target.address, elem, len(parts))
        else:
            note_read(e, mask, target.address, target.space, elem, parts)
    note_order(e, i)
    check_races(e, mask, target.address, target.space, width(i.type) * (len(items[0]) if vector else 1), ATOMIC)
    for n in range(len(items[0]) if vector else 1):
        at = target.address + n * width(i.type) if n else target.address
        values = [e.read(column[n], i.type).bits.to(elem).spread(LANES) for column in items]
        old = ATOMICS[name](e.ctx, mask, at, target.first, target.size, e.index, *values)
        note_change(e, operation, mask, old, values)
        if results:
            e.write(results[n], old, i.type)


def _cp(e: Emitter, i: Instruction) -> None:
    """Emit a non-bulk `cp.async`, or a wait for one: the copy is done at once; the sanitizer checks that it is awaited.

    Raises:
        BuildError: it is a bulk copy, or has another form that cannot be executed.
    """
    if i.modifiers[:2] == ("async", "mbarrier"):
        return _arrive_for_copies(e, i)
    if i.modifiers[:1] != ("async",) or any("bulk" in m for m in i.modifiers):
        raise e.unsupported_instruction()
    if i.modifiers[1] == "commit_group":
        return end_copy_group(e)
    if i.modifiers[1] in ("wait_group", "wait_all"):
        left = i.operands[0] if i.operands else None
        return wait_for_copies(e, left.value if isinstance(left, Immediate) else 0)
    size = i.operands[2]
    if i.modifiers[1] not in ("ca", "cg") or not isinstance(size, Immediate) or "ignore-src" in i.modifiers:
        raise e.unsupported_instruction()
    to, of = access(e, i.operands[0], "shared"), access(e, i.operands[1], "global")
    taken = (
        e.read(i.operands[3], "u32") if len(i.operands) > 3 and _is_size(i.operands[3]) else e.number(size.value, "i32")
    )
    mask = e.executing()
    count_access(e, mask, to.address, size.value)
    count_access(e, mask, of.address, size.value)
    mask = sound_lanes(e, mask, to.address, to.space, size.value)
    mask = sound_lanes(e, mask, of.address, of.space, size.value)
    check_races(e, mask, to.address, to.space, size.value, COPY)
    mask = checked(e, mask, to, size.value)
    mask = checked(e, mask, of, size.value)
    piece = min(size.value, 8)
    if e.sanitizing:
        full = mask & taken.is_("uge", size.value).spread(LANES).mask
        check_races(e, full, of.address, of.space, size.value, READ)
        note_read(e, full, of.address, of.space, f"i{8 * piece}", range(size.value // piece))
        note_write(e, mask, to.address, f"i{8 * piece}", size.value // piece, copying=True)
    wbe_copy(mask, to.address, of.address, taken, size.value)


def _is_size(operand: Operand) -> bool:
    """Return whether the optional operand of a `cp.async` is a size in bytes, not a cache policy."""
    return isinstance(operand, Immediate) or (isinstance(operand, Register) and stored(operand.type) == "i32")


def _nothing(e: Emitter, i: Instruction) -> None:
    """Emit nothing: prefetch, discard and other hints have no effect here."""


def _fence(e: Emitter, i: Instruction) -> None:
    """Emit fence or membar, always sequentially consistent; refuse fences between proxies."""
    if any("proxy" in m for m in i.modifiers):
        raise e.unsupported_instruction()
    note_order(e, i)
    # One kind of fence for all: CPUs have few, and blocks on several cores do need it.
    e.do("fence seq_cst")


def _nanosleep(e: Emitter, i: Instruction) -> None:
    """Emit the read of nanosleep's operand alone: nothing sleeps."""
    e.read(i.operands[0], "u32")


def is_strong(i: Instruction) -> bool:
    """Return whether a load or store is atomic in the sense of PTX's memory model; `volatile` alone is not."""
    return not {"relaxed", "acquire", "release", "mmio"}.isdisjoint(i.modifiers)


def _mbarrier(e: Emitter, i: Instruction) -> None:
    """Emit an operation on an mbarrier object: init, inval, arrive, arrive_drop, a wait or pending_count.

    Raises:
        BuildError: it is of a cluster, counts bytes, or is not known.
    """
    kind = i.modifiers[0]
    if kind not in _KINDS or "shared::cluster" in i.modifiers or any("tx" in m for m in i.modifiers):
        raise e.unsupported_instruction(f"{i.name} cannot be executed: clusters and bulk copies are not there")
    _KINDS[kind](e, i)


def _object(e: Emitter, i: Instruction, operand: Operand, mask: Value) -> tuple[Access, Value]:
    """Emit the checks of an mbarrier object, 8 bytes; return the access and the mask of lanes for which it is sound."""
    target = access(e, operand, space_of(i))
    return target, checked(e, sound_lanes(e, mask, target.address, target.space, 8), target, 8)


def _init(e: Emitter, i: Instruction) -> None:
    """Emit mbarrier.init: the expected count in both counters of the object, phase 0."""
    at, expected = i.operands
    target, mask = _object(e, i, at, e.executing())
    count = e.read(expected, "u32").to("i64")
    value = count | count << 20
    note_write(e, mask, target.address, "i64")
    SCATTER["i64"](mask, target.address, value)


def _arrive(e: Emitter, i: Instruction) -> None:
    """Emit mbarrier.arrive or arrive_drop, of 1 or a count, and write the state from before to its register."""
    state, at, *count = i.operands
    before = _arrived(e, i, at, e.read(count[0], "u32") if count else e.number(1, "i32"))
    e.write(state, before, "b64")


def _arrived(e: Emitter, i: Instruction, operand: Operand, count: Value) -> Value:
    """Emit an arrival of `count` threads at an mbarrier object; return the object's state from before."""
    target, mask = _object(e, i, operand, e.executing())
    fence(e, gives=True)
    drop = int(i.modifiers[0] == "arrive_drop")
    note_change(e, "", mask, count, ())
    return wbe_mbarrier_arrive(mask, drop, target.address, count)


def _wait(e: Emitter, i: Instruction) -> None:
    """Emit the test whether a phase of an mbarrier object is over: one given by its state, or by its parity."""
    mask = e.executing()
    target = access(e, i.operands[1], space_of(i))
    (now,) = load(e, mask, target, "i64")
    fence(e, gives=False)
    now = now >> 40
    if "parity" in i.modifiers:
        parity = e.read(i.operands[2], "u32").to("i64")
        over = (now & 1).is_("ne", parity)
    else:
        over = now.is_("ne", e.read(i.operands[2], "b64") >> 40)
    e.write(i.operands[0], over)


def _arrive_for_copies(e: Emitter, i: Instruction) -> None:
    """Emit `cp.async.mbarrier.arrive` as an immediate arrival: the thread's copies are done already.

    Without `.noinc` the object also expects one arrival more, so its state does not change.
    """
    if "shared::cluster" in i.modifiers:
        raise e.unsupported_instruction()
    wait_for_copies(e)
    if "noinc" in i.modifiers:
        _arrived(e, i, i.operands[0], e.number(1, "i32"))
    else:
        _object(e, i, i.operands[0], e.executing())


def _pending(e: Emitter, i: Instruction) -> None:
    """Emit mbarrier.pending_count: the low 20 bits of a state."""
    e.write(i.operands[0], e.read(i.operands[1], "b64") & (1 << 20) - 1, "u32")


def _invalid(e: Emitter, i: Instruction) -> None:
    """Emit nothing for `mbarrier.inval`: the object's memory may be used for other things from now on."""


_KINDS: dict[str, Rule] = {
    "init": _init, "inval": _invalid, "arrive": _arrive, "arrive_drop": _arrive, "test_wait": _wait, "try_wait": _wait,
    "pending_count": _pending,
}  # fmt: skip
RULES: dict[str, Rule] = {
    "ld": _ld, "ldu": _ld, "st": _st, "atom": _atom, "red": _atom, "cp": _cp, "prefetch": _nothing,
    "prefetchu": _nothing, "discard": _nothing, "applypriority": _nothing, "membar": _fence, "fence": _fence,
    "nanosleep": _nanosleep, "mbarrier": _mbarrier,
}  # fmt: skip
