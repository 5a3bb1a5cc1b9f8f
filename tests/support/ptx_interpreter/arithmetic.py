"""What each instruction does in the interpreter: arithmetic, bits, comparisons."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tests.support.ptx_interpreter.lanes import NUMPY, UNSIGNED, Lanes, Trap, items, to_bf16
from tests.support.ptx_interpreter.warps import WARPS
from workbench.backends.ptx.syntax.program import BITS, Instruction

Do = Callable[[Lanes, Instruction, np.ndarray], None]
TABLE: dict[str, Do] = dict(WARPS)
NOTHING = (
    "membar",
    "fence",
    "prefetch",
    "prefetchu",
    "nanosleep",
    "brkpt",
    "griddepcontrol",
    "applypriority",
    "discard",
)


def enter(*names: str) -> Callable[[Do], Do]:
    """Put a function into the table for these opcodes."""

    def kept(do: Do) -> Do:
        TABLE.update(dict.fromkeys(names, do))
        return do

    return kept


def flushed(i: Instruction, value: Any) -> Any:
    """With `.ftz`, what is less than normal is 0."""
    if "ftz" not in i.modifiers or value.dtype != np.float32:
        return value
    return np.where(np.abs(value) < np.float32(2.0**-126), np.copysign(np.float32(0), value), value)


def saturated(i: Instruction, value: Any) -> Any:
    """With `.sat`, a float from 0 to 1."""
    if "sat" in i.modifiers and value.dtype.kind == "f":
        return np.where(np.isnan(value), value.dtype.type(0), np.clip(value, 0, 1)).astype(value.dtype)
    return value


def elementwise(i: Instruction, f: Callable[..., Any], g: Lanes, lanes: np.ndarray, type: str = "") -> None:
    """Apply a function to the operands after the first; two halves each of a packed type."""
    type = type or i.type
    if type in ("f16x2", "bf16x2"):
        half = type[:-2]
        parts = [_halves(g.read(o, type, lanes), half) for o in i.operands[1:]]
        low, high = (np.broadcast_to(flushed(i, f(*(p[n] for p in parts))), lanes.shape) for n in (0, 1))
        g.write(i.operands[0], bits16(low, half) | (bits16(high, half) << np.uint32(16)), "b32", lanes)
        return
    values = [flushed(i, g.read(o, type, lanes)) for o in i.operands[1:]]
    g.write(i.operands[0], saturated(i, flushed(i, np.asarray(f(*values)))), type, lanes)


def _halves(packed: np.ndarray, half: str) -> tuple[Any, Any]:
    words = packed.astype(np.uint32)
    parts = [(words & np.uint32(0xFFFF)).astype(np.uint16), (words >> np.uint32(16)).astype(np.uint16)]
    if half == "bf16":
        first, second = ((p.astype(np.uint32) << np.uint32(16)).view(np.float32) for p in parts)
    else:
        first, second = (np.ascontiguousarray(p).view(np.float16).reshape(p.shape) for p in parts)
    return first, second


def bits16(value: np.ndarray, half: str) -> np.ndarray:
    """Floats as the low 16 bits of words."""
    if half == "bf16":
        return to_bf16(value).astype(np.uint32)
    return np.ascontiguousarray(value.astype(np.float16)).view(np.uint16).astype(np.uint32)


def _simple(name: str, f: Callable[..., Any]) -> None:
    TABLE[name] = lambda g, i, lanes: elementwise(i, f, g, lanes)


def _least(a: Any, b: Any) -> Any:
    return np.fmin(a, b) if a.dtype.kind != "f" else np.where(_below(a, b) | np.isnan(b), a, b)


def _greatest(a: Any, b: Any) -> Any:
    return np.fmax(a, b) if a.dtype.kind != "f" else np.where(_below(b, a) | np.isnan(b), a, b)


def _below(a: Any, b: Any) -> Any:
    """Less, where -0 is less than 0."""
    return (a < b) | ((a == b) & np.signbit(a) & ~np.signbit(b))


for _name, _f in {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "cnot": lambda a: (a == 0).astype(a.dtype),
    "neg": lambda a: -a if a.dtype.kind == "f" else (np.zeros_like(a) - a),
    "abs": np.abs,
    "sqrt": np.sqrt,
    "copysign": lambda a, b: np.copysign(b, a),
    "min": _least,
    "max": _greatest,
    "rem": lambda a, b: np.where(b == 0, ~np.zeros_like(a), np.fmod(a, np.where(b == 0, 1, b).astype(b.dtype))),
    "rcp": lambda a: (1 / a.astype(np.float64)).astype(a.dtype) if a.dtype != np.float64 else 1 / a,
    "rsqrt": lambda a: (1 / np.sqrt(a.astype(np.longdouble))).astype(a.dtype),
    "ex2": lambda a: np.exp2(a.astype(np.float64)).astype(a.dtype),
    "lg2": lambda a: np.log2(a.astype(np.float64)).astype(a.dtype),
    "sin": lambda a: np.sin(a.astype(np.float64)).astype(a.dtype),
    "cos": lambda a: np.cos(a.astype(np.float64)).astype(a.dtype),
    "tanh": lambda a: np.tanh(a.astype(np.float64)).astype(a.dtype),
}.items():
    _simple(_name, _f)
for _name in NOTHING:
    TABLE[_name] = lambda g, i, lanes: None


@enter("add", "sub", "addc", "subc")
def _add(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    minus, carried = i.opcode.startswith("sub"), i.opcode.endswith("c")
    if "cc" not in i.modifiers and not carried:
        if "sat" in i.modifiers and i.type == "s32":
            a, b = (g.read(o, "s32", lanes).astype(np.int64) for o in i.operands[1:])
            g.write(i.operands[0], np.clip(a - b if minus else a + b, -(2**31), 2**31 - 1), "s32", lanes)
            return
        elementwise(i, (lambda a, b: a - b) if minus else (lambda a, b: a + b), g, lanes)
        return
    bits = BITS[i.type]
    a, b = (np.broadcast_to(g.bits(o, bits, lanes), lanes.shape).astype(object) for o in i.operands[1:])
    carry = g.carry[lanes].astype(object) if carried else 0
    # What is kept of a subtraction is its borrow.
    whole = a - b - carry if minus else a + b + carry
    low = np.array([int(w) % (1 << bits) for w in whole], np.uint64)
    if "cc" in i.modifiers:
        g.carry[lanes] = np.array([int(w) < 0 or int(w) >= 1 << bits for w in whole], np.uint64)
    g.write(i.operands[0], low.astype(UNSIGNED[bits]), f"u{bits}", lanes)


def _product(g: Lanes, i: Instruction, lanes: np.ndarray) -> tuple[Any, str]:
    """The product, and the type of what it is."""
    type = i.type
    a, b = (flushed(i, g.read(o, type, lanes)) for o in i.operands[1:3])
    if type[0] in "fb" and type[1:] not in ("8", "16", "32", "64"):
        return a * b, type
    bits = BITS[type]
    if "wide" in i.modifiers:
        wide = f"{type[0]}{2 * bits}"
        return a.astype(NUMPY[wide]) * b.astype(NUMPY[wide]), wide
    if "24" in "".join(i.modifiers) or "hi" in i.modifiers:
        if "hi" not in i.modifiers or "mul24" in i.opcode:
            raise Trap("unsupported", f"{i.name} is not interpreted")
        x, y = (np.broadcast_to(v, lanes.shape).astype(object) for v in (a, b))
        high = [(int(p) >> bits) % (1 << bits) for p in x * y]
        return np.array(high, np.uint64).astype(UNSIGNED[bits]).view(NUMPY[type]), type
    return a * b, type


@enter("mul", "mad")
def _mul(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    if i.type in ("f16x2", "bf16x2") and i.opcode == "mul":
        elementwise(i, lambda a, b: a * b, g, lanes)
        return
    if i.opcode == "mad" and i.type in ("f32", "f64"):
        _fma(g, i, lanes)
        return
    value, type = _product(g, i, lanes)
    if i.opcode == "mad":
        value = value + g.read(i.operands[3], type, lanes)
    g.write(i.operands[0], saturated(i, flushed(i, np.asarray(value))), type, lanes)


@enter("madc")
def _madc(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    raise Trap("unsupported", f"{i.name} is not interpreted")


@cache
def _fma64() -> Any:
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.fma.restype, library.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return np.vectorize(library.fma, otypes=[np.float64])


def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    if a.dtype == np.float64:
        return _fma64()(a, b, c)
    x, y, z = (v.astype(np.float64) for v in (a, b, c))
    product = x * y  # exact
    total = product + z
    part = total - product
    error = (product - (total - part)) + (z - part)
    # Rounded to odd in between, it is rounded to nearest once in the end.
    even = (np.ascontiguousarray(total).view(np.uint64).reshape(total.shape) & np.uint64(1)) == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    odd = np.where((error != 0) & np.isfinite(error) & even, np.nextafter(total, toward), total)
    if a.dtype == np.float16:
        return odd.astype(np.float16)
    return odd.astype(np.float32)


@enter("fma")
def _fma(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    if i.type not in ("bf16", "bf16x2"):
        elementwise(i, fma, g, lanes)
        return
    # Rounded to odd at 24 bits, then to 8.
    elementwise(i, lambda a, b, c: a.astype(np.float64) * b + c, g, lanes)


@enter("div")
def _div(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    def divided(a: Any, b: Any) -> Any:
        if a.dtype.kind == "f":
            return a / b
        safe = np.where(b == 0, 1, b).astype(b.dtype)
        quotient = a // safe
        if a.dtype.kind == "i":
            quotient = quotient + ((quotient < 0) & (quotient * safe != a)).astype(a.dtype)
        return np.where(b == 0, ~np.zeros_like(a), quotient)

    elementwise(i, divided, g, lanes)


@enter("shl", "shr")
def _shift(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    type = i.type
    bits = BITS[type]
    a, n = g.read(i.operands[1], type, lanes), g.bits(i.operands[2], 32, lanes).astype(np.int64)
    few = np.minimum(n, bits - 1).astype(a.dtype)
    if i.opcode == "shl":
        value = np.where(n < bits, a << few, a.dtype.type(0))
    else:
        value = np.where(n < bits, a >> few, a >> a.dtype.type(bits - 1) if type[0] == "s" else a.dtype.type(0))
    g.write(i.operands[0], value, type, lanes)


@enter("shf")
def _funnel(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    low, high, n = (g.bits(o, 32, lanes).astype(np.uint64) for o in i.operands[1:])
    n = np.minimum(n, 32) if "clamp" in i.modifiers else n & np.uint64(31)
    both = (high << np.uint64(32)) | low
    value = both >> n if "r" in i.modifiers else (both << n) >> np.uint64(32)
    g.write(i.operands[0], value & np.uint64(0xFFFFFFFF), "b32", lanes)


@enter("clz", "popc", "brev", "bfind")
def _count(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    bits = BITS[i.type]
    value = np.broadcast_to(g.bits(i.operands[1], bits, lanes), lanes.shape)
    text = [f"{int(v):0{bits}b}" for v in value]
    if i.opcode == "clz":
        found = [bits - len(t.lstrip("0")) for t in text]
    elif i.opcode == "popc":
        found = [t.count("1") for t in text]
    elif i.opcode == "brev":
        g.write(i.operands[0], np.array([int(t[::-1], 2) for t in text], np.uint64), f"b{bits}", lanes)
        return
    else:
        flip = i.type[0] == "s"
        marks = [t.find("0" if flip and t[0] == "1" else "1") for t in text]
        found = [0xFFFFFFFF if m < 0 else m if "shiftamt" in i.modifiers else bits - 1 - m for m in marks]
    g.write(i.operands[0], np.array(found, np.uint64), "u32", lanes)


@enter("bfe", "bfi")
def _field(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    bits = BITS[i.type]
    *values, position, length = i.operands[1:]
    p, n = (np.minimum(g.bits(o, 32, lanes).astype(np.int64) & 255, 64) for o in (position, length))
    a = [np.broadcast_to(g.bits(v, bits, lanes), lanes.shape) for v in values]
    p, n = np.broadcast_to(p, lanes.shape), np.broadcast_to(n, lanes.shape)
    out, every = [], (1 << bits) - 1
    for k in range(len(lanes)):
        mask = ((1 << int(n[k])) - 1) << int(p[k]) & every
        if i.opcode == "bfi":
            out.append(int(a[1][k]) & ~mask | (int(a[0][k]) << int(p[k])) & mask)
            continue
        found = (int(a[0][k]) & mask) >> int(p[k])
        top = min(int(p[k]) + int(n[k]) - 1, bits - 1)
        if i.type[0] == "s" and n[k] and (int(a[0][k]) >> top) & 1:
            found |= every & ~((1 << (top - int(p[k]) + 1)) - 1)
        out.append(found)
    g.write(i.operands[0], np.array(out, np.uint64), f"b{bits}", lanes)


@enter("prmt")
def _permute(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    if i.modifiers != ("b32",):
        raise Trap("unsupported", f"{i.name} is not interpreted")
    low, high, how = (g.bits(o, 32, lanes).astype(np.uint64) for o in i.operands[1:])
    both, value = (high << np.uint64(32)) | low, np.zeros(lanes.shape, np.uint64)
    for n in range(4):
        chosen = how >> np.uint64(4 * n)
        byte = (both >> ((chosen & np.uint64(7)) * np.uint64(8))) & np.uint64(0xFF)
        byte = np.where(chosen & np.uint64(8), np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0)), byte)
        value = value | (byte << np.uint64(8 * n))
    g.write(i.operands[0], value, "b32", lanes)


@enter("lop3")
def _lop3(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    a, b, c = (g.bits(o, 32, lanes) for o in i.operands[1:4])
    table, value = int(g.bits(i.operands[4], 32, lanes)), np.zeros(lanes.shape, np.uint32)
    for n in range(8):
        if table >> n & 1:
            value = value | ((a if n & 4 else ~a) & (b if n & 2 else ~b) & (c if n & 1 else ~c))
    g.write(i.operands[0], value, "b32", lanes)


def types_of(i: Instruction) -> list[str]:
    """The types among its modifiers, in order."""
    return [m for m in i.modifiers if m in BITS]


_COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip


def _compared(g: Lanes, i: Instruction, lanes: np.ndarray) -> Any:
    how, type = i.modifiers[0], i.type
    a, b = (flushed(i, g.read(o, type, lanes)) for o in i.operands[1:3])
    floating = a.dtype.kind == "f"
    unordered = np.isnan(a) | np.isnan(b) if floating else np.False_
    if how in ("num", "nan"):
        return ~unordered if how == "num" else unordered
    if how in _COMPARE:
        return _COMPARE[how](a, b) & ~unordered
    return _COMPARE[how[:-1]](a, b) | unordered


@enter("setp", "set")
def _setp(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    value = _compared(g, i, lanes)
    other: Any = None
    for third in i.operands[3:]:
        other = g.read(third, "pred", lanes)
    combine = next((m for m in i.modifiers if m in ("and", "or", "xor")), "")

    def joined(v: Any) -> Any:
        return v if other is None else v & other if combine == "and" else v | other if combine == "or" else v ^ other

    if i.opcode == "set":
        to = types_of(i)[0]
        yes: Any = np.float32(1) if to[0] == "f" else 0xFFFFFFFF
        g.write(i.operands[0], np.where(joined(value), yes, yes * 0).astype(NUMPY[to]), to, lanes)
        return
    first, *others = items(i.operands[0])
    g.write(first, joined(value), "pred", lanes)
    for other_one in others:
        g.write(other_one, joined(~value), "pred", lanes)


@enter("selp", "slct")
def _select(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    if i.opcode == "slct":
        raise Trap("unsupported", f"{i.name} is not interpreted")
    holds = g.read(i.operands[3], "pred", lanes)
    g.write(i.operands[0], np.where(holds, *(g.read(o, i.type, lanes) for o in i.operands[1:3])), i.type, lanes)


@enter("testp")
def _testp(g: Lanes, i: Instruction, lanes: np.ndarray) -> None:
    tests: dict[str, Any] = {"finite": np.isfinite, "infinite": np.isinf, "notanumber": np.isnan}
    tests["number"] = lambda v: ~np.isnan(v)
    value = g.read(i.operands[1], i.type, lanes)
    if i.modifiers[0] not in tests:
        raise Trap("unsupported", f"{i.name} is not interpreted")
    g.write(i.operands[0], tests[i.modifiers[0]](value), "pred", lanes)
