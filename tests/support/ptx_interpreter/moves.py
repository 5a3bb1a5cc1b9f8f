"""What each instruction does in the interpreter: moves, conversions, memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.ptx_interpreter.arithmetic import TABLE, bits16, enter, flushed, saturated, types_of
from tests.support.ptx_interpreter.lanes import NUMPY, SPACES, UNSIGNED, Lanes, Trap, items, to_bf16
from tests.support.ptx_interpreter.warps import atomic, call
from workbench.backends.ptx.syntax.program import BITS, Instruction, Negated, Register

ROUNDS = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


@enter("mov")
def _mov(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    target, source = i.operands
    bits = BITS[i.type]
    if len(items(target)) > 1:  # one into several
        value = np.broadcast_to(g.bits(source, bits, lanes), lanes.shape).astype(np.uint64)
        part = bits // len(items(target))
        for n, o in enumerate(items(target)):
            found = (value >> np.uint64(n * part)) & np.uint64((1 << part) - 1)
            g.write(o, found, f"b{part}", lanes)
        return
    if len(items(source)) > 1:
        part, value = bits // len(items(source)), np.zeros(lanes.shape, np.uint64)
        for n, o in enumerate(items(source)):
            value = value | (g.bits(o, part, lanes).astype(np.uint64) << np.uint64(n * part))
        g.write(target, value, f"b{bits}", lanes)
        return
    g.write(target, g.read(source, i.type, lanes), i.type, lanes)


@enter("cvta")
def _generic(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    value = g.bits(i.operands[1], 64, lanes)
    space = next((m for m in i.modifiers if m in ("shared", "local")), "")
    if space:
        base = g.bases[space][lanes].astype(np.uint64)
        value = value - base if "to" in i.modifiers else value + base
    g.write(i.operands[0], value, "b64", lanes)


@enter("cvt")
def _convert(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    to, of = types_of(i)[:2]
    if to in ("f16x2", "bf16x2"):
        half = to[:-2]
        high, low = (np.broadcast_to(g.read(o, of, lanes), lanes.shape) for o in i.operands[1:3])
        g.write(i.operands[0], bits16(low, half) | (bits16(high, half) << np.uint32(16)), "b32", lanes)
        return
    value = flushed(i, g.read(i.operands[1], of, lanes))
    if to == "tf32":
        raw = g.bits(i.operands[1], 32, lanes)
        up = np.uint32(0x1000) if "rna" in i.modifiers else np.uint32(0xFFF) + ((raw >> np.uint32(13)) & np.uint32(1))
        g.write(i.operands[0], (raw + up) & np.uint32(0xFFFFE000), "b32", lanes)
        return
    rounding = next((ROUNDS[m] for m in i.modifiers if m in ROUNDS), None)
    floating = value.dtype.kind == "f"
    if floating and rounding is not None:
        value = rounding(value)
    if NUMPY[to] in (np.float16, np.float32, np.float64):
        kept = value.astype(NUMPY[to])
        g.write(i.operands[0], saturated(i, flushed(i, kept)), to, lanes)
        return
    bits, signed = BITS[to], to[0] == "s"
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if floating:
        wide = np.nan_to_num(value.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
        kept = np.where(wide >= high, 0, np.where(wide <= low, 0, wide)).astype(NUMPY[to])
        kept = np.where(wide >= high, NUMPY[to](high), np.where(wide <= low, NUMPY[to](low), kept))
    elif "sat" in i.modifiers:
        kept = np.array([min(max(int(v), low), high) for v in np.broadcast_to(value, lanes.shape)], NUMPY[to])
    else:
        kept = value.astype(NUMPY[to])
    g.write(i.operands[0], kept, to, lanes)


def space_of(i: Instruction) -> str:
    """The state space of an access; "global" stands for generic addresses too."""
    return next((m.split("::")[0] for m in i.modifiers if m.split("::")[0] in SPACES), "global")


@enter("ld", "ldu")
def _ld(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    size, targets = BITS[i.type] // 8, items(i.operands[0])
    at = g.place(i.operands[1], space_of(i), size * len(targets), lanes)
    for n, target in enumerate(targets):
        value = g.load(at + n * size, size)
        g.write(
            target,
            value.view(NUMPY[i.type]) if i.type[0] == "s" else value,
            i.type if i.type[0] == "s" else f"b{8 * size}",
            lanes,
        )


@enter("st")
def _st(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    size, sources = BITS[i.type] // 8, items(i.operands[1])
    at = g.place(i.operands[0], space_of(i), size * len(sources), lanes)
    for n, source in enumerate(sources):
        if isinstance(source, Register) or not isinstance(source, Negated):
            g.store(at + n * size, _stored(g, source, i.type, lanes), size)


def _stored(g: Lanes, source: Any, type: str, lanes: np.ndarray) -> np.ndarray:
    value = np.asarray(g.read(source, type, lanes))
    if type == "bf16":
        return to_bf16(value)
    return np.ascontiguousarray(value).view(UNSIGNED[BITS[type]]).reshape(value.shape)


@enter("cp")
def _copy_async(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    """A copy lands when its thread waits for it, and not before."""
    if "bulk" in i.modifiers or "async" not in i.modifiers:
        raise Trap("unsupported", f"{i.name} is not interpreted")
    if len(i.operands) < 3:
        left = int(g.bits(i.operands[0], 32, lanes)) if i.operands else 0
        if "commit_group" in i.modifiers:
            g.copies.commit(lanes)
        else:
            g.copies.wait(lanes, left, i.modifiers[1])
        return
    size = int(g.bits(i.operands[2], 32, lanes))
    target = g.place(i.operands[0], "shared", size, lanes)
    taken = np.full(lanes.shape, size, np.int64)
    if len(i.operands) > 3:
        taken[:] = g.bits(i.operands[3], 32, lanes)
    there = taken > 0
    source = np.zeros(lanes.shape, np.int64)
    source[there] = g.place(i.operands[1], "global", size, lanes[there])
    found = [np.where(n < taken, g.memory.memory[source + n * there], 0) for n in range(size)]
    g.copies.begin(lanes, target, np.stack(found, axis=1).astype(np.uint8))


@enter("atom", "red")
def _atom(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    atomic(g, i, lanes, space_of(i))


TABLE["call"] = call
