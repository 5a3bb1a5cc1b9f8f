"""Rules for cvt and for addresses between spaces."""

from __future__ import annotations

import re

from workbench.backends.llvm.halves import joined, narrowed, parts, to_odd, widened
from workbench.backends.llvm.values import Value, suffix, vector
from workbench.backends.ptx.emit import floats
from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.emit.values import LANES, stored
from workbench.backends.ptx.syntax.program import BITS, Instruction, Register

_TO_INTEGER = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_FLOATS = ("f16", "bf16", "f32", "f64", "tf32")
_FP8 = {"e4m3x2": (4, 0x7E), "e5m2x2": (5, 0x7B)}
"""By type, the bits of the exponent and the code of the greatest finite value.

The code after that one is infinity in e5m2, and NaN in e4m3.
"""
_FP8_NAN = 0x7F
_SMALL = re.compile(r"u?e\d+m\d+(x\d)?")


def _cvt(e: Emitter, i: Instruction) -> None:
    """Emit cvt between integers, floats, packed pairs of floats and pairs of fp8, with its rounding and saturation.

    Raises:
        BuildError: it packs, rounds stochastically, or has another small type than fp8 pairs.
    """
    types = [m for m in i.modifiers if m in BITS or _SMALL.fullmatch(m)]
    small = [t for t in types if t not in BITS]
    if len(types) != 2 or not set(small) <= set(_FP8) or "pack" in i.modifiers or "rs" in i.modifiers:
        raise e.unsupported_instruction()
    to, of = types
    if small:
        return _from_fp8(e, i, of, to) if of in _FP8 else _to_fp8(e, i, of, to)
    if to.endswith("x2"):
        high, low = (e.read(i.operands[n], of) for n in (1, 2))
        return e.write(i.operands[0], joined(*(_between(e, i, v, of, to[:-2]) for v in (low, high))))
    value = e.read(i.operands[1], of)
    if of in _FLOATS and to in _FLOATS:
        result = _between(e, i, value, of, to)
    elif of in _FLOATS:
        result = _to_integer(e, i, value, of, to)
    elif to in _FLOATS:
        result = _from_integer(e, i, value, of, to)
    else:
        result = _integer(e, i, value, of, to)
    register = i.operands[0]
    # Into a wider register an integer goes with its sign.
    wider = isinstance(register, Register) and BITS[register.type] > BITS[to] and to[0] == "s"
    if wider and isinstance(register, Register):
        result = result.to(stored(register.type), signed=True)
    e.write(register, result, to)


def _integer(e: Emitter, i: Instruction, value: Value, of: str, to: str) -> Value:
    """Emit the conversion of an integer from PTX type `of` to type `to`, clamped with `.sat`, else wrapped."""
    if "sat" in i.modifiers:
        bits, signed = BITS[to], to[0] == "s"
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        wide = value.to("i128" if BITS[of] == 64 and of[0] == "u" else "i64", of[0] == "s")
        value = wide.intrinsic("smin", high).intrinsic("smax", low)
    return value.to(f"i{BITS[to]}", of[0] == "s")


def _to_integer(e: Emitter, i: Instruction, value: Value, of: str, to: str) -> Value:
    """Emit the conversion of a float to an integer, rounded as the instruction names and clamped to the type's range.

    NaN becomes 0, or the sign's bit alone for 64 bits. Raise a BuildError if no rounding is named.
    """
    value = widened(value, of)
    if "ftz" in i.modifiers:
        value = floats.flushed(e, value)
    mode = next((m for m in i.modifiers if m in _TO_INTEGER), "")
    if not mode:
        raise e.unsupported_instruction(f"{i.name} names no rounding")
    signed = to[0] == "s"
    rounded = value if mode == "rzi" else value.intrinsic(_TO_INTEGER[mode])
    bits = BITS[to]
    elem = f"i{bits}"
    kind = vector(elem, LANES) if rounded.lanes else elem
    name = f"llvm.fpto{'s' if signed else 'u'}i.sat.{suffix(kind)}.{suffix(rounded.type)}"
    result = rounded.called(name, str(rounded), elem=elem)
    if bits == 64:  # NaN is 0 for 32 bits and less, the sign's bit alone for 64 bits
        nan = rounded.is_("uno", rounded)
        result = nan.choose(1 << 63, result)
    return result


def _from_integer(e: Emitter, i: Instruction, value: Value, of: str, to: str) -> Value:
    """Emit the conversion of an integer to a float, rounded once.

    Raises:
        BuildError: 64 bits with a directed rounding or to 16 bits, or a directed rounding to 16 bits.
    """
    name = "sitofp" if of[0] == "s" else "uitofp"
    mode = floats.rounding(e, i)
    if mode != "rn":
        if to == "f64" and BITS[of] <= 32:
            return value.cast(name, "double")
        if to != "f32" or BITS[of] > 32:
            raise e.unsupported_instruction()
        return floats.directed(e, value.cast(name, "double"), e.float(0, "double"), mode)
    if to == "f64":
        return value.cast(name, "double")
    if to == "f32":
        return value.cast(name, "float")
    if BITS[of] == 64:
        raise e.unsupported_instruction()
    return narrowed(to_odd(value.cast(name, "double")), to)


def _between(e: Emitter, i: Instruction, value: Value, of: str, to: str) -> Value:
    """Emit the conversion of a float of PTX type `of` to a float type `to`; return the result.

    The instruction's modifiers add rounding to integers, flush of subnormals, saturation and relu.

    Raises:
        BuildError: it rounds in a direction to bf16, other than toward zero.
    """
    rounding = next((m for m in i.modifiers if m in _TO_INTEGER), "")
    if "ftz" in i.modifiers:
        value = floats.flushed(e, value)
    wide = widened(value, of)
    if rounding:
        wide = wide.intrinsic(_TO_INTEGER[rounding])
    if "sat" in i.modifiers:
        wide = floats.saturated(e, wide)
    if "relu" in i.modifiers:
        wide = wide.intrinsic("maximum", e.float(0, wide.elem))
    mode = floats.rounding(e, i)
    if to == "f64":
        return wide if of == "f64" else floats.opaque(e, wide).cast("fpext", "double")
    if to == "tf32":
        return _tf32(e, i, wide, mode)
    if of == "f64":
        if to == "f32" and mode != "rn":
            wide = floats.directed(e, wide, e.float(0, "double"), mode)
        else:
            wide = floats.opaque(e, wide).cast("fptrunc", "float") if to == "f32" else to_odd(wide)
    if to == "f32":
        return floats.flushed(e, wide) if "ftz" in i.modifiers else wide
    if mode == "rz" and to == "bf16":
        bits = (wide.bits >> 16).to("i16")
        nan = wide.is_("uno", wide)
        return nan.choose(0x7FFF, bits)
    if mode != "rn" and not (of == to):
        return _half_directed(e, wide, to, mode)
    return narrowed(wide, to)


def _to_fp8(e: Emitter, i: Instruction, of: str, to: str) -> None:
    """Emit the conversion of two floats to two fp8 numbers, rounded to nearest even.

    A number that is too large becomes the greatest finite value.
    """
    if of == "f32":
        low, high = (e.read(i.operands[n], of) for n in (2, 1))
    elif of in ("f16x2", "bf16x2"):
        low, high = (widened(v, of[:-2]) for v in parts(e.read(i.operands[1], of)))
    else:
        raise e.unsupported_instruction()
    first, second = (_fp8_code(e, i, v, *_FP8[to]) for v in (low, high))
    packed = first | second << 8
    e.write(i.operands[0], packed.to("i16"))


def _fp8_code(e: Emitter, i: Instruction, value: Value, exponent: int, most: int) -> Value:
    """Encode a float32 as the eight bits of an fp8 number, in an i32.

    Args:
        e: the emitter.
        i: the instruction; `relu` clamps negative numbers to 0.
        value: the float32.
        exponent: bits of the fp8 exponent.
        most: the code of the greatest finite value, to which larger numbers are clamped.
    """
    if "relu" in i.modifiers:
        value = value.intrinsic("maximum", e.float(0, "float"))
    mantissa, bias = 7 - exponent, (1 << exponent - 1) - 1
    size = value.intrinsic("fabs")
    # Adding a number whose last bit is the least subnormal's rounds as the hardware does, to even.
    steady = e.float(127 + 23 + 1 - bias - mantissa << 23, "float")
    small = (size + steady).bits - steady.bits
    cut = 23 - mantissa
    bits = size.bits
    odd = bits >> cut & 1
    rounded = bits + ((1 << cut - 1) - 1) + odd
    large = (rounded >> cut) - (127 - bias << mantissa)
    is_small = size.is_("olt", e.float(127 + 1 - bias << 23, "float"))
    code = is_small.choose(small, large).intrinsic("umin", most)
    sign = value.bits >> 24 & 0x80
    return value.is_("uno", value).choose(_FP8_NAN, code | sign)


def _from_fp8(e: Emitter, i: Instruction, of: str, to: str) -> None:
    """Emit the conversion of two fp8 numbers to f16x2 or bf16x2, which is exact.

    Raises:
        BuildError: the result has another type.
    """
    if to not in ("f16x2", "bf16x2"):
        raise e.unsupported_instruction()
    exponent, most = _FP8[of]
    packed = e.read(i.operands[1], "b16").to("i32")
    low, high = (_fp8_value(e, packed >> shift, exponent, most) for shift in (0, 8))
    e.write(i.operands[0], joined(*(_between(e, i, v, "f32", to[:-2]) for v in (low, high))))


def _fp8_value(e: Emitter, code: Value, exponent: int, most: int) -> Value:
    """Decode the fp8 number in the last eight bits of an i32 to a float32; the inverse of `_fp8_code`."""
    # A float16 with the same bits of exponent and mantissa is a power of two away: its bias is 15.
    size, bias = code & 0x7F, (1 << exponent - 1) - 1
    half = (size << exponent + 3).to("i16").cast("bitcast", "half")
    value = half.cast("fpext", "float") * e.float(127 + 15 - bias << 23, "float")
    sign = (code & 0x80) << 24
    signed = (value.bits | sign).cast("bitcast", "float")
    nan = size.is_("ugt", most + (exponent == 5))
    return nan.choose(e.float(0x7FFFFFFF, "float"), signed)


def _half_directed(e: Emitter, value: Value, to: str, mode: str) -> Value:
    """Round a float32 to float16 in a direction: "rz" toward zero, "rm" down, "rp" up.

    Raises:
        BuildError: `to` is not "f16".
    """
    if to != "f16":
        raise e.unsupported_instruction()
    near = value.cast("fptrunc", "half")
    back = near.cast("fpext", "float")
    bits = near.bits
    away = back.intrinsic("fabs").is_("ogt", value.intrinsic("fabs"))
    short = back.intrinsic("fabs").is_("olt", value.intrinsic("fabs"))
    negative = value.bits.is_("slt", 0)
    inward, outward = bits - 1, bits + 1
    if mode == "rz":
        bits = away.choose(inward, bits)
    else:
        grows = negative if mode == "rm" else ~negative
        bits = grows.choose(short.choose(outward, bits), away.choose(inward, bits))
    return bits.cast("bitcast", "half")


def _tf32(e: Emitter, i: Instruction, value: Value, mode: str) -> Value:
    """Round a float32 to ten bits of mantissa: ties away from zero (`.rna`), ties to even, or toward zero ("rz")."""
    bits = value.bits
    if "rna" in i.modifiers:
        rounded = bits + 0x1000
    elif mode == "rz":
        rounded = bits
    else:
        up = bits >> 13 & 1
        rounded = bits + 0xFFF + up
    special = (bits & 0x7F800000).is_("eq", 0x7F800000)
    return special.choose(bits, rounded) & 0xFFFFE000


def window(e: Emitter, space: str) -> Value:
    """Return the base address of a state space: a generic address is this plus the address within the space.

    It is 0 for spaces other than shared and local.
    """
    if space == "shared":
        return e.word("SHARED")
    if space == "local":
        return e.value("%local", "i64", LANES)
    return e.number(0, "i64")


def _cvta(e: Emitter, i: Instruction) -> None:
    """Emit cvta: add the base address of the state space, or subtract it with `.to`; refuse parameters."""
    space = next((m for m in i.modifiers if m.split("::")[0] in ("global", "shared", "local", "const", "param")), "")
    if space == "param":
        raise e.unsupported_instruction()
    value = e.read(i.operands[1], "u64")
    result = value.do("sub" if "to" in i.modifiers else "add", window(e, space.split("::")[0]))
    e.write(i.operands[0], result, "u64")


def _isspacep(e: Emitter, i: Instruction) -> None:
    """Emit isspacep: test whether a generic address lies in shared or local memory, or in neither for global.

    Other spaces never hold it.
    """
    space = i.modifiers[0].split("::")[0]
    value = e.read(i.operands[1], "u64")

    def within(name: str) -> Value:
        first = window(e, name)
        size = e.word(f"{name.upper()}_SIZE")
        return (value - first).is_("ult", size)

    if space in ("shared", "local"):
        return e.write(i.operands[0], within(space))
    if space != "global":
        return e.write(i.operands[0], e.number(0, "i1"))
    other = within("shared") | within("local")
    e.write(i.operands[0], ~other)


def _szext(e: Emitter, i: Instruction) -> None:
    """Emit szext: extend the low bits of a 32-bit value, as many as the second source says, by sign or by zeros."""
    value = e.read(i.operands[1], i.type)
    bits = e.read(i.operands[2], "u32")
    by = bits.intrinsic("umin", 32) if "clamp" in i.modifiers else bits & 31
    rest = (32 - by).cast("zext", "i64")
    wide = value.cast("zext", "i64") << 32 << rest
    cut = wide.do("ashr" if i.type[0] == "s" else "lshr", rest)
    e.write(i.operands[0], (cut >> 32).to("i32"))


RULES: dict[str, Rule] = {"cvt": _cvt, "cvta": _cvta, "isspacep": _isspacep, "szext": _szext}
