"""Rules for mbarrier objects, as `cuda::barrier` uses them; those that count bytes of bulk copies are refused."""

from __future__ import annotations

from workbench.backends.ptx.emit import memory
from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.emit.memory import Access, access, checked, load, space_of
from workbench.backends.ptx.emit.sanitizing import fence, note_write, sound_lanes, wait_for_copies
from workbench.backends.ptx.emit.values import Value
from workbench.backends.ptx.emit.waiting import note_change
from workbench.backends.ptx.syntax.program import Instruction, Operand


def _mbarrier(e: Emitter, i: Instruction) -> None:
    kind = i.modifiers[0]
    if kind not in _KINDS or "shared::cluster" in i.modifiers or any("tx" in m for m in i.modifiers):
        raise e.refuse(f"{i.name} cannot be executed: clusters and bulk copies are not there")
    _KINDS[kind](e, i)


def _object(e: Emitter, i: Instruction, operand: Operand, mask: str) -> tuple[Access, str]:
    target = access(e, operand, space_of(i))
    return target, checked(e, sound_lanes(e, mask, target.address, target.space, 8), target, 8)


def _init(e: Emitter, i: Instruction) -> None:
    at, expected = i.operands
    target, mask = _object(e, i, at, e.executing())
    count = e.spread(e.resize(e.read(expected, "u32"), "i64"))
    value = e.op("or", count, e.op("shl", count, e.int(20, "i64")))
    note_write(e, mask, target.address, "i64")
    e.call("wbe_scatter_i64", "void", f"i32 {mask}", e.spread(target.address), value)


def _arrive(e: Emitter, i: Instruction) -> None:
    state, at, *count = i.operands
    before = _arrived(e, i, at, e.read(count[0], "u32") if count else e.int(1, "i32"))
    e.write(state, before, "b64")


def _arrived(e: Emitter, i: Instruction, operand: Operand, count: Value) -> Value:
    """Count arrivals at an object; return its state before."""
    target, mask = _object(e, i, operand, e.executing())
    fence(e, gives=True)
    drop = f"i32 {int(i.modifiers[0] == 'arrive_drop')}"
    note_change(e, "", mask, count, ())
    args = (e.spread(target.address), e.spread(count))
    return e.lanes_of("wbe_mbarrier_arrive", "i64", f"i32 {mask}", drop, *args)


def _wait(e: Emitter, i: Instruction) -> None:
    """Test whether the phase of a state, or of a parity, is over."""
    mask = e.executing()
    target = access(e, i.operands[1], space_of(i))
    (now,) = load(e, mask, target, "i64")
    fence(e, gives=False)
    now = e.op("lshr", now, e.int(40, "i64"))
    if "parity" in i.modifiers:
        parity = e.resize(e.read(i.operands[2], "u32"), "i64")
        over = e.compare("icmp ne", e.op("and", now, e.int(1, "i64")), parity)
    else:
        over = e.compare("icmp ne", now, e.op("lshr", e.read(i.operands[2], "b64"), e.int(40, "i64")))
    e.write(i.operands[0], over)


def _copy(e: Emitter, i: Instruction) -> None:
    """Emit the arrival of `cp.async.mbarrier.arrive` at once: the thread's copies are done already.

    Without `.noinc` the object expects one arrival more for it, so nothing changes.
    """
    if i.modifiers[:2] != ("async", "mbarrier"):
        return memory.RULES["cp"](e, i)
    if "shared::cluster" in i.modifiers:
        raise e.refuse()
    wait_for_copies(e)
    if "noinc" in i.modifiers:
        _arrived(e, i, i.operands[0], e.int(1, "i32"))
    else:
        _object(e, i, i.operands[0], e.executing())


def _pending(e: Emitter, i: Instruction) -> None:
    e.write(i.operands[0], e.op("and", e.read(i.operands[1], "b64"), e.int((1 << 20) - 1, "i64")), "u32")


def _invalid(e: Emitter, i: Instruction) -> None:
    """Emit nothing: the object's memory may be used for other things from now on."""


_KINDS: dict[str, Rule] = {
    "init": _init, "inval": _invalid, "arrive": _arrive, "arrive_drop": _arrive, "test_wait": _wait, "try_wait": _wait,
    "pending_count": _pending,
}  # fmt: skip
RULES: dict[str, Rule] = {"mbarrier": _mbarrier, "cp": _copy}
