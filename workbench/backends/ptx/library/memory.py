"""Library functions for memory: checked loads and stores of 32 lanes, atomics, asynchronous copies.

A window's first byte and size are multiples of 16, so an aligned access whose first byte is inside is inside.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.llvm.functions import (
    Int,
    Ints,
    Lanes,
    LlvmFunction,
    Long,
    Longs,
    Ptr,
    Variable,
    define,
    each_lane,
    leave,
    repeat,
    when,
)
from workbench.backends.llvm.halves import joined, narrowed, parts, widened
from workbench.backends.llvm.values import Value, bits_of, masked_gather, masked_load, masked_scatter, masked_store
from workbench.backends.ptx.library.faults import wbe_fault
from workbench.backends.ptx.library.words import LANES, lane_numbers, zeros

ELEMENTS = ("i8", "i16", "i32", "i64")
Change = Callable[..., Value]
"""Changes memory: takes an address and operands, returns the old value."""


@define
def wbe_check(ctx: Ptr, mask: Int, at: Longs, first: Long, size: Long, bytes: Int, index: Int) -> Int:
    """Return the lanes of a mask whose access is aligned and lies in a window; for others a fault."""
    # One unsigned comparison: what lies before the window wraps to a large offset.
    outside = (at - first).is_("uge", size)
    bad = (outside | (at & (bytes - 1).to("i64")).is_("ne", 0)).mask & mask
    with when(bad.is_("eq", 0)):
        leave(ctx.w, mask)
    wild = outside.mask & mask
    some = wild.is_("ne", 0)
    wbe_fault(ctx, some.choose(some.like(1, "i32"), some.like(2, "i32")), some.choose(wild, bad), at, bytes, index)
    return ~bad & mask


def _row(mask: Value, at: Value, size: int) -> tuple[Value, Value, Value]:
    """Emit where lane 0 would be if lanes were a row in their order, and whether they are; and the first address.

    Most accesses of a warp are one: a vector access, much cheaper than a gather.
    """
    lane = mask.first_on()
    address = at.lane(lane)
    base = address - (lane * size).to("i64")
    in_row = (lane_numbers(at, "i64", size) + base).is_("eq", at).mask
    return base.pointer, (in_row | ~mask).is_("eq", -1), address


def _gather(elem: str) -> LlvmFunction:
    """Return `wbe_gather_*`, an unchecked load."""
    size = bits_of(elem) // 8

    def body(mask: Int, at: Longs) -> Lanes:
        with when(mask.is_("eq", 0)):
            leave(mask.w, zeros(mask, elem))
        base, is_row, address = _row(mask, at, size)
        with when(is_row):
            leave(mask.w, masked_load(base, mask.flags, elem, size))
        # All lanes read one element, as of what a block shares.
        with when((at.is_("eq", address).mask | ~mask).is_("eq", -1)):
            leave(mask.w, address.pointer.load(elem).spread(LANES))
        return masked_gather(at.pointer, mask.flags, elem, size)

    return LlvmFunction(body, f"wbe_gather_{elem}", elem)


def _scatter(elem: str) -> LlvmFunction:
    """Return `wbe_scatter_*`, an unchecked store."""
    size = bits_of(elem) // 8

    def body(mask: Int, at: Longs, value: Lanes) -> None:
        with when(mask.is_("eq", 0)):
            leave(mask.w)
        base, is_row, _ = _row(mask, at, size)
        with when(is_row):
            masked_store(base, mask.flags, value, size)
            leave(mask.w)
        masked_scatter(at.pointer, mask.flags, value, size)

    return LlvmFunction(body, f"wbe_scatter_{elem}", elem)


GATHER = {elem: _gather(elem) for elem in ELEMENTS}
SCATTER = {elem: _scatter(elem) for elem in ELEMENTS}


def _load(elem: str) -> LlvmFunction:
    """Return `wbe_load_*`, a checked load."""

    def body(ctx: Ptr, mask: Int, at: Longs, first: Long, size: Long, index: Int) -> Lanes:
        return GATHER[elem](wbe_check(ctx, mask, at, first, size, bits_of(elem) // 8, index), at)

    return LlvmFunction(body, f"wbe_load_{elem}", elem)


def _store(elem: str) -> LlvmFunction:
    """Return `wbe_store_*`, a checked store."""

    def body(ctx: Ptr, mask: Int, at: Longs, first: Long, size: Long, index: Int, value: Lanes) -> None:
        SCATTER[elem](wbe_check(ctx, mask, at, first, size, bits_of(elem) // 8, index), at, value)

    return LlvmFunction(body, f"wbe_store_{elem}", elem)


LOAD = {elem: _load(elem) for elem in ELEMENTS}
STORE = {elem: _store(elem) for elem in ELEMENTS}


@define
def wbe_copy(mask: Int, to: Longs, of: Longs, taken: Ints, bytes: Int) -> None:
    """Copy for each lane `taken` of its bytes, and fill the rest with zeros."""
    size = bytes.to("i64")
    with each_lane(mask, to, of, taken) as (_, target, source, some):
        target, source, some = target.pointer, source.pointer, some.to("i64").intrinsic("umin", size)
        mask.w.call("void", "llvm.memset.p0.i64", str(target), "i8 0", str(size), "i1 false")
        mask.w.call("void", "llvm.memcpy.p0.p0.i64", str(target), str(source), str(some), "i1 false")


def _atomic(name: str, elem: str, change: Change) -> LlvmFunction:
    """Return `wbe_atom_*`, which checks addresses and changes memory lane by lane; it returns the old values."""

    def body(ctx: Ptr, mask: Int, at: Longs, first: Long, size: Long, index: Int, value: Lanes) -> Lanes:
        return _changed(change, (ctx, mask, at, first, size, bits_of(elem) // 8, index), value)

    def swap(ctx: Ptr, mask: Int, at: Longs, first: Long, size: Long, index: Int, value: Lanes, new: Lanes) -> Lanes:
        return _changed(change, (ctx, mask, at, first, size, bits_of(elem) // 8, index), value, new)

    return LlvmFunction(swap if "_cas_" in name else body, name, elem)


def _changed(change: Change, access: tuple[Value | int, ...], *values: Value) -> Value:
    """Emit a check of the access, with `wbe_check`'s arguments, and changes lane by lane; return the old values."""
    mask, at = wbe_check(*access), access[2]
    assert isinstance(at, Value)
    out = Variable(zeros(at, values[0].elem))
    with each_lane(mask, at, *values) as (lane, address, *operands):
        out.set_lane(lane, change(address.pointer, *operands))
    return out.get()


def _update(verb: str, kind: str = "") -> Change:
    """Return a change by an instruction of LLVM, on floats of LLVM type `kind` if that is named."""

    def change(pointer: Value, value: Value) -> Value:
        return pointer.update(verb, value.cast("bitcast", kind) if kind else value).bits

    return change


def _swap(pointer: Value, expected: Value, new: Value) -> Value:
    """Emit a compare-and-swap; return the old value."""
    return pointer.exchange(expected, new)[0]


def _half_add(kind: str) -> LlvmFunction:
    """Return the atomic addition of f16, bf16 or packed pairs, which no processor has in memory.

    It compares and exchanges until no other thread was in between.
    """
    one, elem = kind.removesuffix("x2"), "i32" if kind.endswith("x2") else "i16"

    def total(a: Value, b: Value) -> Value:
        return narrowed(widened(a, one) + widened(b, one), one).bits

    def change(pointer: Value, value: Value) -> Value:
        seen = Variable(pointer.load(elem, flags="atomic", order="seq_cst", align=bits_of(elem) // 8))
        with repeat(pointer.w) as loop:
            now = seen.get()
            if elem == "i16":
                new = total(now, value)
            else:
                new = joined(*(total(a, b) for a, b in zip(parts(now), parts(value), strict=True)))
            previous, won = pointer.exchange(now, new)
            seen.set(previous)
            loop.leave_if(won)
        return seen.get()

    return _atomic(f"wbe_atom_add_{kind}", elem, change)


def _atomics() -> list[LlvmFunction]:
    """Return all atomic functions, `wbe_atom_<operation>_<type>`."""
    changes: dict[str, tuple[str, Change]] = {}
    for elem in ("i16", "i32", "i64"):
        changes |= {f"{name}_{elem}": (elem, _update(name)) for name in ("and", "or", "xor")}
        changes |= {f"exch_{elem}": (elem, _update("xchg")), f"cas_{elem}": (elem, _swap)}
    for elem in ("i32", "i64"):
        changes[f"add_{elem}"] = elem, _update("add")
        for sign, prefix in (("s", ""), ("u", "u")):
            changes |= {f"{n}_{sign}{elem[1:]}": (elem, _update(prefix + n)) for n in ("min", "max")}
    changes |= {"inc_i32": ("i32", _update("uinc_wrap")), "dec_i32": ("i32", _update("udec_wrap"))}
    changes |= {"add_f32": ("i32", _update("fadd", "float")), "add_f64": ("i64", _update("fadd", "double"))}
    functions = [_atomic(f"wbe_atom_{name}", *change) for name, change in changes.items()]
    return functions + [_half_add(kind) for kind in ("f16", "bf16", "f16x2", "bf16x2")]


ATOMICS = {function.name: function for function in _atomics()}
FUNCTIONS = [
    wbe_check, *GATHER.values(), *SCATTER.values(), *LOAD.values(), *STORE.values(), wbe_copy, *ATOMICS.values(),
]  # fmt: skip
