"""Rules for cvt and for addresses between spaces."""

from __future__ import annotations

import re

from workbench.backends.ptx.emit import floats
from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.emit.values import Value, stored
from workbench.backends.ptx.syntax.program import BITS, Instruction, Register

_TO_INTEGER = {"rni": "llvm.roundeven", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}
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
        return e.write(i.operands[0], floats.joined(e, *(_between(e, i, v, of, to[:-2]) for v in (low, high))))
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
        result = e.resize(result, stored(register.type), signed=True)
    e.write(register, result, to)


def _integer(e: Emitter, i: Instruction, value: Value, of: str, to: str) -> Value:
    """Emit the conversion of an integer from PTX type `of` to type `to`, clamped with `.sat`, else wrapped."""
    if "sat" in i.modifiers:
        bits, signed = BITS[to], to[0] == "s"
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        wide = e.resize(value, "i128" if BITS[of] == 64 and of[0] == "u" else "i64", of[0] == "s")
        value = e.intrinsic("llvm.smax", e.intrinsic("llvm.smin", wide, e.int(high, wide.elem)), e.int(low, wide.elem))
    return e.resize(value, f"i{BITS[to]}", of[0] == "s")


def _to_integer(e: Emitter, i: Instruction, value: Value, of: str, to: str) -> Value:
    """Emit the conversion of a float to an integer, rounded as the instruction names and clamped to the type's range.

    NaN becomes 0, or the sign's bit alone for 64 bits. Raise a BuildError if no rounding is named.
    """
    value = floats.widened(e, value, of)
    if "ftz" in i.modifiers:
        value = floats.flushed(e, value)
    mode = next((m for m in i.modifiers if m in _TO_INTEGER), "")
    if not mode:
        raise e.unsupported_instruction(f"{i.name} names no rounding")
    signed = to[0] == "s"
    rounded = value if mode == "rzi" else e.intrinsic(_TO_INTEGER[mode], value)
    bits = BITS[to]
    name = f"llvm.fpto{'s' if signed else 'u'}i.sat"
    elem = f"i{bits}"
    rounded = e.spread(rounded)
    suffix = {"float": "f32", "double": "f64"}[rounded.elem]
    full = f"@{name}.v32{elem}.v32{suffix}"
    e.declared[full] = f"declare <32 x {elem}> {full}({rounded.type})"
    result = e.new(f"call <32 x {elem}> {full}({rounded})", elem)
    if bits == 64:  # NaN is 0 for 32 bits and less, the sign's bit alone for 64 bits
        nan = e.compare("fcmp uno", rounded, rounded)
        result = e.select(nan, e.int(1 << 63, elem), result)
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
            return e.cast(name, value, "double")
        if to != "f32" or BITS[of] > 32:
            raise e.unsupported_instruction()
        return floats.directed(e, e.cast(name, value, "double"), e.float(0, "double"), mode)
    if to == "f64":
        return e.cast(name, value, "double")
    if to == "f32":
        return e.cast(name, value, "float")
    if BITS[of] == 64:
        raise e.unsupported_instruction()
    return floats.narrowed(e, floats.to_odd(e, e.cast(name, value, "double")), to)


def _between(e: Emitter, i: Instruction, value: Value, of: str, to: str) -> Value:
    """Emit the conversion of a float of PTX type `of` to a float type `to`; return the result.

    The instruction's modifiers add rounding to integers, flush of subnormals, saturation and relu.

    Raises:
        BuildError: it rounds in a direction to bf16, other than toward zero.
    """
    rounding = next((m for m in i.modifiers if m in _TO_INTEGER), "")
    if "ftz" in i.modifiers:
        value = floats.flushed(e, value)
    wide = floats.widened(e, value, of)
    if rounding:
        wide = e.intrinsic(_TO_INTEGER[rounding], wide)
    if "sat" in i.modifiers:
        wide = floats.saturated(e, wide)
    if "relu" in i.modifiers:
        wide = e.intrinsic("llvm.maximum", wide, e.float(0, wide.elem))
    mode = floats.rounding(e, i)
    if to == "f64":
        return wide if of == "f64" else e.cast("fpext", floats.opaque(e, wide), "double")
    if to == "tf32":
        return _tf32(e, i, wide, mode)
    if of == "f64":
        if to == "f32" and mode != "rn":
            wide = floats.directed(e, wide, e.float(0, "double"), mode)
        else:
            wide = e.cast("fptrunc", floats.opaque(e, wide), "float") if to == "f32" else floats.to_odd(e, wide)
    if to == "f32":
        return floats.flushed(e, wide) if "ftz" in i.modifiers else wide
    if mode == "rz" and to == "bf16":
        bits = e.resize(e.op("lshr", e.bits(wide), e.int(16, "i32")), "i16")
        nan = e.compare("fcmp uno", wide, wide)
        return e.select(nan, e.int(0x7FFF, "i16"), bits)
    if mode != "rn" and not (of == to):
        return _half_directed(e, wide, to, mode)
    return floats.narrowed(e, wide, to)


def _to_fp8(e: Emitter, i: Instruction, of: str, to: str) -> None:
    """Emit the conversion of two floats to two fp8 numbers, rounded to nearest even.

    A number that is too large becomes the greatest finite value.
    """
    if of == "f32":
        low, high = (e.read(i.operands[n], of) for n in (2, 1))
    elif of in ("f16x2", "bf16x2"):
        low, high = (floats.widened(e, v, of[:-2]) for v in floats.parts(e, e.read(i.operands[1], of)))
    else:
        raise e.unsupported_instruction()
    first, second = (_fp8_code(e, i, v, *_FP8[to]) for v in (low, high))
    packed = e.op("or", first, e.op("shl", second, e.int(8, "i32")))
    e.write(i.operands[0], e.resize(packed, "i16"))


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
        value = e.intrinsic("llvm.maximum", value, e.float(0, "float"))
    mantissa, bias = 7 - exponent, (1 << exponent - 1) - 1
    size = e.intrinsic("llvm.fabs", value)
    # Adding a number whose last bit is the least subnormal's rounds as the hardware does, to even.
    steady = e.float(127 + 23 + 1 - bias - mantissa << 23, "float")
    small = e.op("sub", e.bits(e.op("fadd", size, steady)), e.bits(steady))
    cut = 23 - mantissa
    bits = e.bits(size)
    odd = e.op("and", e.op("lshr", bits, e.int(cut, "i32")), e.int(1, "i32"))
    rounded = e.op("add", e.op("add", bits, e.int((1 << cut - 1) - 1, "i32")), odd)
    large = e.op("sub", e.op("lshr", rounded, e.int(cut, "i32")), e.int(127 - bias << mantissa, "i32"))
    is_small = e.compare("fcmp olt", size, e.float(127 + 1 - bias << 23, "float"))
    code = e.intrinsic("llvm.umin", e.select(is_small, small, large), e.int(most, "i32"))
    sign = e.op("and", e.op("lshr", e.bits(value), e.int(24, "i32")), e.int(0x80, "i32"))
    return e.select(e.compare("fcmp uno", value, value), e.int(_FP8_NAN, "i32"), e.op("or", code, sign))


def _from_fp8(e: Emitter, i: Instruction, of: str, to: str) -> None:
    """Emit the conversion of two fp8 numbers to f16x2 or bf16x2, which is exact.

    Raises:
        BuildError: the result has another type.
    """
    if to not in ("f16x2", "bf16x2"):
        raise e.unsupported_instruction()
    exponent, most = _FP8[of]
    packed = e.resize(e.read(i.operands[1], "b16"), "i32")
    low, high = (_fp8_value(e, e.op("lshr", packed, e.int(shift, "i32")), exponent, most) for shift in (0, 8))
    e.write(i.operands[0], floats.joined(e, *(_between(e, i, v, "f32", to[:-2]) for v in (low, high))))


def _fp8_value(e: Emitter, code: Value, exponent: int, most: int) -> Value:
    """Decode the fp8 number in the last eight bits of an i32 to a float32; the inverse of `_fp8_code`."""
    # A float16 with the same bits of exponent and mantissa is a power of two away: its bias is 15.
    size, bias = e.op("and", code, e.int(0x7F, "i32")), (1 << exponent - 1) - 1
    half = e.cast("bitcast", e.resize(e.op("shl", size, e.int(exponent + 3, "i32")), "i16"), "half")
    value = e.op("fmul", e.cast("fpext", half, "float"), e.float(127 + 15 - bias << 23, "float"))
    sign = e.op("shl", e.op("and", code, e.int(0x80, "i32")), e.int(24, "i32"))
    signed = e.cast("bitcast", e.op("or", e.bits(value), sign), "float")
    nan = e.compare("icmp ugt", size, e.int(most + (exponent == 5), "i32"))
    return e.select(nan, e.float(0x7FFFFFFF, "float"), signed)


def _half_directed(e: Emitter, value: Value, to: str, mode: str) -> Value:
    """Round a float32 to float16 in a direction: "rz" toward zero, "rm" down, "rp" up.

    Raises:
        BuildError: `to` is not "f16".
    """
    if to != "f16":
        raise e.unsupported_instruction()
    near = e.cast("fptrunc", value, "half")
    back = e.cast("fpext", near, "float")
    bits = e.bits(near)
    away = e.compare("fcmp ogt", e.intrinsic("llvm.fabs", back), e.intrinsic("llvm.fabs", value))
    short = e.compare("fcmp olt", e.intrinsic("llvm.fabs", back), e.intrinsic("llvm.fabs", value))
    negative = e.compare("icmp slt", e.bits(value), e.int(0, "i32"))
    inward, outward = e.op("sub", bits, e.int(1, "i16")), e.op("add", bits, e.int(1, "i16"))
    if mode == "rz":
        bits = e.select(away, inward, bits)
    else:
        grows = negative if mode == "rm" else e.op("xor", negative, e.int(1, "i1"))
        bits = e.select(grows, e.select(short, outward, bits), e.select(away, inward, bits))
    return e.cast("bitcast", bits, "half")


def _tf32(e: Emitter, i: Instruction, value: Value, mode: str) -> Value:
    """Round a float32 to ten bits of mantissa: ties away from zero (`.rna`), ties to even, or toward zero ("rz")."""
    bits = e.bits(value)
    if "rna" in i.modifiers:
        rounded = e.op("add", bits, e.int(0x1000, "i32"))
    elif mode == "rz":
        rounded = bits
    else:
        up = e.op("and", e.op("lshr", bits, e.int(13, "i32")), e.int(1, "i32"))
        rounded = e.op("add", e.op("add", bits, e.int(0xFFF, "i32")), up)
    special = e.compare("icmp eq", e.op("and", bits, e.int(0x7F800000, "i32")), e.int(0x7F800000, "i32"))
    return e.op("and", e.select(special, bits, rounded), e.int(0xFFFFE000, "i32"))


def window(e: Emitter, space: str) -> Value:
    """Return the base address of a state space: a generic address is this plus the address within the space.

    It is 0 for spaces other than shared and local.
    """
    if space == "shared":
        return e.word("SHARED")
    if space == "local":
        return Value("%local", "i64")
    return e.int(0, "i64")


def _cvta(e: Emitter, i: Instruction) -> None:
    """Emit cvta: add the base address of the state space, or subtract it with `.to`; refuse parameters."""
    space = next((m for m in i.modifiers if m.split("::")[0] in ("global", "shared", "local", "const", "param")), "")
    if space == "param":
        raise e.unsupported_instruction()
    value = e.read(i.operands[1], "u64")
    result = e.op("sub" if "to" in i.modifiers else "add", value, window(e, space.split("::")[0]))
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
        return e.compare("icmp ult", e.op("sub", value, first), size)

    if space in ("shared", "local"):
        return e.write(i.operands[0], within(space))
    if space != "global":
        return e.write(i.operands[0], e.int(0, "i1"))
    other = e.op("or", within("shared"), within("local"))
    e.write(i.operands[0], e.op("xor", other, e.int(1, "i1")))


def _szext(e: Emitter, i: Instruction) -> None:
    """Emit szext: extend the low bits of a 32-bit value, as many as the second source says, by sign or by zeros."""
    value = e.read(i.operands[1], i.type)
    bits = e.read(i.operands[2], "u32")
    by = (
        e.intrinsic("llvm.umin", bits, e.int(32, "i32"))
        if "clamp" in i.modifiers
        else e.op("and", bits, e.int(31, "i32"))
    )
    rest = e.cast("zext", e.op("sub", e.int(32, "i32"), by), "i64")
    wide = e.op("shl", e.op("shl", e.cast("zext", value, "i64"), e.int(32, "i64")), rest)
    cut = e.op("ashr" if i.type[0] == "s" else "lshr", wide, rest)
    e.write(i.operands[0], e.resize(e.op("lshr", cut, e.int(32, "i64")), "i32"))


RULES: dict[str, Rule] = {"cvt": _cvt, "cvta": _cvta, "isspacep": _isspacep, "szext": _szext}
