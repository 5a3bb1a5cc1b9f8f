"""What the interpreter does for instructions of a warp, atomics, and the functions that the device provides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.ptx_interpreter.lanes import NUMPY, UNSIGNED, Lanes, Trap, items, to_bf16
from workbench.backends.ptx.printf import formatted, text_at
from workbench.backends.ptx.syntax.program import BITS, Address, Group, Instruction, Sink, Symbol

WARPS: dict[str, Callable[[Lanes, Instruction, np.ndarray], None]] = {}
_HOW = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


def _enter(do: Callable[[Lanes, Instruction, np.ndarray], None]) -> Callable[[Lanes, Instruction, np.ndarray], None]:
    WARPS[do.__name__.removeprefix("_")] = do
    return do


@_enter
def _activemask(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    g.write(i.operands[0], g.mask(lanes)[lanes >> 5], "b32", lanes)


@_enter
def _shfl(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    kind, target = i.modifiers[1], items(i.operands[0])
    lane = lanes & 31
    b, c = (g.bits(o, 32, lanes).astype(np.int64) for o in i.operands[2:4])
    b, clamp, segment = b & 31, c & 31, (c >> 8) & 31
    most = (lane & segment) | (clamp & ~segment)
    least = lane & segment
    j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": least | (b & ~segment)}[kind]
    holds = j >= most if kind == "up" else j <= most
    everywhere = np.zeros(g.count, np.uint32)
    everywhere[lanes] = g.bits(i.operands[1], 32, lanes)
    source = np.where(holds, (lanes & ~31) + j, lanes)
    g.write(target[0], everywhere[np.clip(source, 0, g.count - 1)], "b32", lanes)
    if len(target) > 1:
        g.write(target[1], np.broadcast_to(holds, lanes.shape), "pred", lanes)


def _of_mask(g: Lanes, i: Instruction, lanes: np.ndarray) -> np.ndarray:
    return np.broadcast_to(g.bits(i.operands[-1], 32, lanes), lanes.shape) & g.mask(lanes)[lanes >> 5]


@_enter
def _vote(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    holds = np.broadcast_to(g.read(i.operands[1], "pred", lanes), lanes.shape)
    there = _of_mask(g, i, lanes)
    yes = g.mask(lanes[holds])[lanes >> 5] & there
    kind = next(m for m in i.modifiers if m in ("ballot", "all", "any", "uni"))
    value = {"ballot": yes, "all": yes == there, "any": yes != 0, "uni": (yes == 0) | (yes == there)}[kind]
    g.write(i.operands[0], value, "b32" if kind == "ballot" else "pred", lanes)


@_enter
def _match(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    bits = BITS[i.type]
    value = np.broadcast_to(g.bits(i.operands[1], bits, lanes), lanes.shape)
    there, found = _of_mask(g, i, lanes), np.zeros(lanes.shape, np.uint32)
    for k, (lane, v) in enumerate(zip(lanes, value, strict=True)):
        same = lanes[(lanes >> 5 == lane >> 5) & (value == v)]
        found[k] = np.bitwise_or.reduce(np.uint32(1) << (same & 31).astype(np.uint32)) & there[k]
    if "any" in i.modifiers:
        g.write(i.operands[0], found, "b32", lanes)
        return
    every, targets = found == there, items(i.operands[0])
    g.write(targets[0], np.where(every, there, 0), "b32", lanes)
    if len(targets) > 1:
        g.write(targets[1], every, "pred", lanes)


@_enter
def _redux(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    how: Any = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or}
    f = {**how, "xor": np.bitwise_xor}[next(m for m in i.modifiers if m in (*how, "xor"))]
    value = np.broadcast_to(g.read(i.operands[1], i.type, lanes), lanes.shape)
    result = np.zeros(lanes.shape, NUMPY[i.type])
    for warp in np.unique(lanes >> 5):
        of = lanes >> 5 == warp
        result[of] = f.reduce(value[of])
    g.write(i.operands[0], result, i.type, lanes)


@_enter
def _bar(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    """`bar.warp.sync`: whoever is here has met."""


@_enter
def _ldmatrix(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    if "b16" not in i.modifiers or "m8n8" not in i.modifiers:
        raise Trap("unsupported", f"{i.name} is not interpreted")
    targets = items(i.operands[0])
    warps = lanes.reshape(-1, 32)
    # Only the lanes that name a row have an address that counts.
    rows = warps[:, : 8 * len(targets)].reshape(-1)
    at = g.place(i.operands[1], "shared", 16, rows).reshape(len(warps), len(targets), 8)
    lane = np.arange(32)
    for n, target in enumerate(targets):
        matrix = np.stack([g.load(at[:, n] + 2 * k, 2) for k in range(8)], axis=2)  # warp, row, column
        if "trans" in i.modifiers:
            matrix = matrix.transpose(0, 2, 1)
        low, high = (matrix[:, lane // 4, 2 * (lane % 4) + k].astype(np.uint32) for k in (0, 1))
        g.write(target, (low | (high << np.uint32(16))).reshape(-1), "b32", warps.reshape(-1))


def _pieces(value: np.ndarray, type: str) -> np.ndarray:
    """The elements of 32-bit registers of shape (warps, 32), as (warps, 32, elements)."""
    if type == "f16":
        return value.view(np.float16).reshape(*value.shape, 2).astype(np.float64)
    if type == "bf16":
        halves = value.view(np.uint16).reshape(*value.shape, 2).astype(np.uint32)
        return (halves << np.uint32(16)).view(np.float32).astype(np.float64)
    if type == "tf32":
        return (value & np.uint32(0xFFFFE000)).view(np.float32)[..., None].astype(np.float64)
    return value.view(np.int8 if type == "s8" else np.uint8).reshape(*value.shape, 4).astype(np.float64)


@_enter
def _mma(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    """D = A B + C, computed in double and rounded once: a tensor core's order of sums is not documented."""
    shape = next(m for m in i.modifiers if m.startswith("m") and "n8k" in m)
    k, types = int(shape.partition("k")[2]), [m for m in i.modifiers if m in BITS]
    if not shape.startswith("m16") or types[1] not in ("f16", "bf16", "tf32", "s8", "u8") or types[0] == "f16":
        raise Trap("unsupported", f"{i.name} is not interpreted")
    warps = lanes.reshape(-1, 32)
    lane = np.arange(32)
    row, quad = lane // 4, lane % 4
    per = {"f16": 2, "bf16": 2, "tf32": 1}.get(types[1], 4)
    half = 4 * per

    def registers(operand: Any) -> list[np.ndarray]:
        found = [np.broadcast_to(g.bits(o, 32, lanes), lanes.shape) for o in items(operand)]
        return [np.ascontiguousarray(v).reshape(-1, 32) for v in found]

    a, b = np.zeros((len(warps), 16, k)), np.zeros((len(warps), k, 8))
    column = (per * quad)[:, None] + np.arange(per)
    for n, value in enumerate(registers(i.operands[1])):
        a[:, (row + 8 * (n % 2))[:, None], column + half * (n // 2)] = _pieces(value, types[1])
    for n, value in enumerate(registers(i.operands[2])):
        b[:, column + half * n, row[:, None]] = _pieces(value, types[2])
    kind = np.int32 if types[0] == "s32" else np.float32
    c = np.zeros((len(warps), 16, 8))
    for n, value in enumerate(registers(i.operands[3])):
        c[:, row + 8 * (n // 2), 2 * quad + n % 2] = value.view(kind)
    d = c + a @ b
    for n, target in enumerate(items(i.operands[0])):
        part = d[:, row + 8 * (n // 2), 2 * quad + n % 2]
        part = part.astype(np.int64).astype(np.int32) if kind is np.int32 else part.astype(np.float32)
        g.write(target, np.ascontiguousarray(part).view(np.uint32).reshape(-1), "b32", lanes)


def atomic(g: Lanes, i: Instruction, lanes: np.ndarray, space: str) -> None:
    """One lane after the other."""
    operands = i.operands if i.opcode == "atom" else (Sink(), *i.operands)
    how, type = next(m for m in i.modifiers if m in _HOW), i.type
    if type in ("f16x2", "bf16x2") or len(items(operands[2])) > 1:
        raise Trap("unsupported", f"{i.name} is not interpreted")
    size = BITS[type] // 8
    at = g.place(operands[1], space, size, lanes) // size
    view = g.memory.memory.view(UNSIGNED[8 * size] if type == "bf16" else NUMPY[type])
    given = [np.broadcast_to(g.read(o, type, lanes), lanes.shape) for o in operands[2:4]]
    f: Any = {"add": np.add, "min": np.fmin, "max": np.fmax, "and": np.bitwise_and, "or": np.bitwise_or}
    f = {**f, "xor": np.bitwise_xor}.get(how)
    if isinstance(operands[0], Sink) and f is not None and type != "bf16":
        f.at(view, at, given[0])
        return
    old = np.zeros(lanes.shape, view.dtype)
    for n, place in enumerate(at):
        old[n] = now = view[place]
        view[place] = _changed(how, f, now, [v[n] for v in given], type)
    if type == "bf16":
        g.write(operands[0], old, "b16", lanes)
    else:
        g.write(operands[0], old, type, lanes)


def _changed(how: str, f: Any, now: Any, given: list[Any], type: str) -> Any:
    if type == "bf16":
        wide = (np.asarray(now, np.uint32) << np.uint32(16)).view(np.float32)
        return to_bf16(np.asarray(f(wide, given[0])))
    if f is not None:
        return f(now, given[0])
    if how == "exch":
        return given[0]
    if how == "cas":
        return given[1] if now == given[0] else now
    if how == "inc":
        return type_one(0, now) if now >= given[0] else now + type_one(1, now)
    return given[0] if now == 0 or now > given[0] else now - type_one(1, now)


def type_one(value: int, like: Any) -> Any:
    """A number of the type of another."""
    return like.dtype.type(value)


# Functions that the device provides.


def call(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    """One of them: `flow`'s kernels call nothing else."""
    returns, name, arguments = i.operands
    assert isinstance(name, Symbol) and isinstance(arguments, Group) and isinstance(returns, Group)
    bits = {"vprintf": (64, 64), "cudaGraphSetConditional": (64, 32), "__assertfail": (64, 64, 32, 64, 64)}[name.name]
    values = []
    for operand, width in zip(arguments.items, bits, strict=True):
        assert isinstance(operand, Symbol)
        values.append(g.load(g.place(Address(operand), "local", width // 8, lanes), width // 8))
    if name.name == "cudaGraphSetConditional":
        for handle, value in zip(*values, strict=True):
            g.memory.set_condition(int(handle), int(value))
    elif name.name == "__assertfail":
        message, file, line, function, _ = (v[0] for v in values)
        place = f"{text_at(g.memory, int(file))}:{int(line)}: {text_at(g.memory, int(function))}"
        said = f"Assertion `{text_at(g.memory, int(message))}` failed"
        raise Trap("assert", f"{g.who(lanes[0])}: {place}: {said}")
    else:
        for text, at in zip(*values, strict=True):
            g.memory.write(formatted(int(text), int(at), g.memory).encode())
    for result in returns.items:
        assert isinstance(result, Symbol)
        g.store(g.place(Address(result), "local", 4, lanes), np.zeros(lanes.shape, np.uint32), 4)
