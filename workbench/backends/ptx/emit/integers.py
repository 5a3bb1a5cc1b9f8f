"""Rules for integer and bitwise instructions, comparisons and selections."""

from __future__ import annotations

from workbench.backends.llvm.halves import joined, parts, widened
from workbench.backends.llvm.values import Value, bits_of
from workbench.backends.ptx.emit import floats
from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.library.lanes import LANE_FUNCTIONS
from workbench.backends.ptx.syntax.program import BITS, Group, Instruction, Operand

_FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")


def is_float(i: Instruction) -> bool:
    """Return whether an instruction's type is a float or a packed pair of floats."""
    return i.type in _FLOATS


def _integer(e: Emitter, i: Instruction, *count: int) -> list[Value]:
    """Emit the reads of the operands with the numbers `count`, in the instruction's type; return their values."""
    return [e.read(i.operands[n], i.type) for n in count]


def _out(e: Emitter, i: Instruction, value: Value, type: str = "") -> None:
    """Write a value to the instruction's first operand, in its type or the PTX type `type`."""
    e.write(i.operands[0], value, type or i.type)


def _add(e: Emitter, i: Instruction) -> None:
    """Emit add or sub, of floats, packed 16-bit integers or integers; `.cc` sets the carry."""
    if is_float(i):
        return floats.arithmetic(e, i)
    a, b = _integer(e, i, 1, 2)
    if i.type.endswith("x2"):
        return _out(e, i, joined(*(x.do(i.opcode, y) for x, y in zip(parts(a), parts(b), strict=True))))
    if "sat" in i.modifiers:
        return _out(e, i, a.intrinsic(f"s{i.opcode}.sat", b))
    result = a.do(i.opcode, b)
    if "cc" in i.modifiers:
        e.carry = result.is_("ult", a) if i.opcode == "add" else a.is_("ult", b)
    _out(e, i, result)


def _addc(e: Emitter, i: Instruction) -> None:
    """Emit addc or subc, with the carry in and, for `.cc`, out; raise a BuildError if the block has set none."""
    a, b = _integer(e, i, 1, 2)
    if e.carry is None:
        raise e.unsupported_instruction(f"{i.name} has no carry set before it in its block")
    name = i.opcode[:3]
    carry = e.carry.cast("zext", a.elem)
    first = a.do(name, b)
    result = first.do(name, carry)
    if "cc" in i.modifiers:
        added = first.is_("ult", a), result.is_("ult", first)
        one, two = added if name == "add" else (a.is_("ult", b), first.is_("ult", carry))
        e.carry = one | two
    _out(e, i, result)


def _product(e: Emitter, i: Instruction, a: Value, b: Value) -> Value:
    """Multiply as mul and mad do: return the product's low half or high half (`.hi`), or all of it (`.wide`)."""
    signed = i.type[0] == "s"
    if "wide" in i.modifiers or "hi" in i.modifiers:
        wide = f"i{2 * bits_of(a.elem)}"
        x, y = (v.to(wide, signed) for v in (a, b))
        product = x * y
        if "wide" in i.modifiers:
            return product
        return (product >> bits_of(a.elem)).to(a.elem)
    return a * b


def _mul(e: Emitter, i: Instruction) -> None:
    """Emit mul, of floats or of integers."""
    if is_float(i):
        return floats.arithmetic(e, i)
    a, b = _integer(e, i, 1, 2)
    _out(e, i, _product(e, i, a, b))


def _mad(e: Emitter, i: Instruction) -> None:
    """Emit mad, fma or madc: the product of the first two sources plus the third, plus the carry for madc.

    `.cc` sets the carry. Raise a BuildError for madc if the block has set none.
    """
    if is_float(i):
        return floats.fused(e, i)
    a, b = _integer(e, i, 1, 2)
    product = _product(e, i, a, b)
    c = e.read(i.operands[3], f"{i.type[0]}{bits_of(product.elem)}")
    result = product + c
    if i.opcode == "madc":
        if e.carry is None:
            raise e.unsupported_instruction(f"{i.name} has no carry set before it in its block")
        carry = e.carry.cast("zext", product.elem)
        total = result + carry
        if "cc" in i.modifiers:
            e.carry = result.is_("ult", product) | total.is_("ult", result)
        return _out(e, i, total)
    if "cc" in i.modifiers:
        e.carry = result.is_("ult", product)
    _out(e, i, result)


def _mul24(e: Emitter, i: Instruction) -> None:
    """Emit mul24 or mad24: the low 32 bits of a product of 24-bit integers, or with `.hi` its bits from 16 on.

    For mad24 the third source is added.
    """
    a, b = _integer(e, i, 1, 2)
    shift = "ashr" if i.type[0] == "s" else "lshr"
    # 24 bits, extended by a shift up and back down.
    a, b = ((v << 8).do(shift, 8) for v in (a, b))
    if "hi" in i.modifiers:
        wide = a.to("i64", i.type[0] == "s") * b.to("i64", i.type[0] == "s")
        result = (wide >> 16).to("i32")
    else:
        result = a * b
    if i.opcode == "mad24":
        result = result + e.read(i.operands[3], i.type)
    _out(e, i, result)


def _div(e: Emitter, i: Instruction) -> None:
    """Emit div or rem, of floats or of integers; a divisor of 0 is defined, as on a device."""
    if is_float(i):
        return floats.divide(e, i)
    # A function of the library: LLVM's division by 0 is undefined, and lanes that are switched off may well have one.
    a, b = _integer(e, i, 1, 2)
    _out(e, i, LANE_FUNCTIONS[f"wbe_{i.opcode}_{i.type}"](e.mask, a, b))


def _bitwise(e: Emitter, i: Instruction) -> None:
    """Emit and, or, xor."""
    a, b = _integer(e, i, 1, 2)
    _out(e, i, a.do(i.opcode, b))


def _not(e: Emitter, i: Instruction) -> None:
    """Emit not: all bits flipped."""
    (a,) = _integer(e, i, 1)
    _out(e, i, ~a)


def _cnot(e: Emitter, i: Instruction) -> None:
    """Emit cnot: 1 if the source is 0, else 0."""
    (a,) = _integer(e, i, 1)
    _out(e, i, a.is_("eq", 0).cast("zext", a.elem))


def _shift(e: Emitter, i: Instruction) -> None:
    """Emit shl or shr, where an amount of the width or more shifts all bits out."""
    (a,) = _integer(e, i, 1)
    amount = e.read(i.operands[2], "u32")
    bits = bits_of(a.elem)
    kind = "shl" if i.opcode == "shl" else "ashr" if i.type[0] == "s" else "lshr"
    most = amount.intrinsic("umin", bits - 1 if kind == "ashr" else bits)
    by = most.to(a.elem)
    if kind == "ashr":
        return _out(e, i, a.do(kind, by))
    over = amount.is_("uge", bits)
    safe = by & bits - 1
    _out(e, i, over.choose(0, a.do(kind, safe)))


def _shf(e: Emitter, i: Instruction) -> None:
    """Emit shf: two words are shifted as one; its high word for a shift to the left, its low word to the right."""
    low, high, amount = (e.read(i.operands[n], "b32") for n in (1, 2, 3))
    both = high.cast("zext", "i64") << 32 | low.cast("zext", "i64")
    if "wrap" in i.modifiers:
        amount = amount & 31
    else:
        amount = amount.intrinsic("umin", 32)
    by = amount.cast("zext", "i64")
    if "l" in i.modifiers:
        result = both << by >> 32
    else:
        result = both >> by
    _out(e, i, result.to("i32"))


def _min_max(e: Emitter, i: Instruction) -> None:
    """Emit min or max, of floats, packed 16-bit integers or integers; `.relu` clamps below at 0."""
    if is_float(i):
        return floats.min_max(e, i)
    a, b = _integer(e, i, 1, 2)
    name = f"{i.type[0]}{i.opcode}"
    if i.type.endswith("x2"):
        pairs = zip(parts(a), parts(b), strict=True)
        return _out(e, i, joined(*(x.intrinsic(name, y) for x, y in pairs)))
    result = a.intrinsic(name, b)
    if "relu" in i.modifiers:
        result = result.intrinsic("smax", 0)
    _out(e, i, result)


def _neg(e: Emitter, i: Instruction) -> None:
    """Emit neg or abs, of floats or of integers."""
    if is_float(i):
        return floats.sign(e, i)
    (a,) = _integer(e, i, 1)
    zero = e.number(0, a.elem)
    negative = zero - a
    if i.opcode == "abs":
        negative = a.is_("slt", zero).choose(negative, a)
    _out(e, i, negative)


def _sad(e: Emitter, i: Instruction) -> None:
    """Emit sad: |a - b| + c."""
    a, b, c = _integer(e, i, 1, 2, 3)
    less = a.is_("slt" if i.type[0] == "s" else "ult", b)
    _out(e, i, c + less.choose(b - a, a - b))


def _count(e: Emitter, i: Instruction) -> None:
    """Emit popc, the number of ones, or clz, the number of leading zeros, as u32."""
    (a,) = _integer(e, i, 1)
    if i.opcode == "popc":
        result = a.intrinsic("ctpop")
    else:
        result = a.intrinsic("ctlz", more="i1 false")
    _out(e, i, result.to("i32"), "u32")


def _brev(e: Emitter, i: Instruction) -> None:
    """Emit brev: the bits in reverse order."""
    (a,) = _integer(e, i, 1)
    _out(e, i, a.intrinsic("bitreverse"))


def _bfind(e: Emitter, i: Instruction) -> None:
    """Emit bfind: the position of the highest bit that differs from the sign; -1 if none does.

    With `.shiftamt` it is the amount of a left shift that brings this bit to the top.
    """
    (a,) = _integer(e, i, 1)
    bits = bits_of(a.elem)
    if i.type[0] == "s":
        a = a ^ a.do("ashr", bits - 1)
    leading = a.intrinsic("ctlz", more="i1 false").to("i32")
    result = leading if "shiftamt" in i.modifiers else bits - 1 - leading
    none = a.is_("eq", 0)
    _out(e, i, none.choose(-1, result), "u32")


def _bfe(e: Emitter, i: Instruction) -> None:
    """Emit bfe: `length` bits of a source from the bit `start` on, extended by sign or zeros; 0 for length 0."""
    (a,) = _integer(e, i, 1)
    bits, signed = bits_of(a.elem), i.type[0] == "s"
    wide = "i128" if bits == 64 else "i64"
    start, length = (e.read(i.operands[n], "u32") & 255 for n in (2, 3))
    start = start.intrinsic("umin", bits)
    length = length.intrinsic("umin", bits)
    shifted = a.to(wide, signed).do("ashr" if signed else "lshr", start.to(wide))
    rest = bits_of(wide) - length.to(wide)
    none = length.is_("eq", 0)
    rest = none.choose(0, rest)
    cut = (shifted << rest).do("ashr" if signed else "lshr", rest)
    _out(e, i, none.choose(0, cut.to(a.elem)))


def _bfi(e: Emitter, i: Instruction) -> None:
    """Emit bfi: the second source with `length` of its bits from `start` on replaced by the low bits of the first."""
    a, b = _integer(e, i, 1, 2)
    bits = bits_of(a.elem)
    wide = f"i{2 * bits}"
    start, length = (e.read(i.operands[n], "u32") & 255 for n in (3, 4))
    start = start.intrinsic("umin", bits).to(wide)
    length = length.intrinsic("umin", bits).to(wide)
    field = (1 << length) - 1 << start
    x, y = a.to(wide), b.to(wide)
    placed = x << start & field
    background = y & ~field
    _out(e, i, (placed | background).to(a.elem))


def _bmsk(e: Emitter, i: Instruction) -> None:
    """Emit bmsk: a 32-bit mask of `length` ones from the bit `start` on, both clamped to 32 or wrapped."""
    start, length = _integer(e, i, 1, 2)
    most = e.number(31 if "wrap" in i.modifiers else 32, "i32")
    cut = "and" if "wrap" in i.modifiers else "umin"
    start, length = (n.do(cut, most) if cut == "and" else n.intrinsic(cut, most) for n in (start, length))
    one, start, length = e.number(1, "i64"), start.to("i64"), length.to("i64")
    field = (one << length) - one << start
    _out(e, i, field.to("i32"))


def _prmt(e: Emitter, i: Instruction) -> None:
    """Emit prmt: four bytes of two words, chosen by the nibbles of a third, whose top bit replicates a byte's sign.

    Modes are refused.
    """
    if i.modifiers != ("b32",):
        raise e.unsupported_instruction()
    a, b, c = _integer(e, i, 1, 2, 3)
    both = b.cast("zext", "i64") << 32 | a.cast("zext", "i64")
    result = e.number(0, "i32")
    for n in range(4):
        nibble = c >> 4 * n
        at = ((nibble & 7) << 3).cast("zext", "i64")
        byte = (both >> at).to("i8")
        signs = byte.do("ashr", 7)
        replicate = (nibble & 8).is_("ne", 0)
        chosen = replicate.choose(signs, byte).cast("zext", "i32")
        result = result | chosen << 8 * n if n else chosen
    _out(e, i, result)


def _lop3(e: Emitter, i: Instruction) -> None:
    """Emit lop3: the logical function of three words whose truth table is the immediate; refuse `.BOOL`."""
    a, b, c = _integer(e, i, 1, 2, 3)
    table = i.operands[4]
    bits = getattr(table, "value", None)
    if bits is None or "BOOL" in i.modifiers:
        raise e.unsupported_instruction()
    result: Value = e.number(0, "i32")
    for n in range(8):
        if not bits >> n & 1:
            continue
        terms = [v if n >> k & 1 else ~v for v, k in ((a, 2), (b, 1), (c, 0))]
        result = result | terms[0] & terms[1] & terms[2]
    _out(e, i, result)


def _dp4a(e: Emitter, i: Instruction) -> None:
    """Emit dp4a: the dot product of four signed or unsigned bytes, plus a 32-bit word."""
    first, second = (m for m in i.modifiers if m in BITS)
    a, b = (e.read(i.operands[n], "b32") for n in (1, 2))
    total = e.read(i.operands[3], "b32")
    for n in range(4):
        x, y = ((v >> 8 * n).to("i8").to("i32", t[0] == "s") for v, t in ((a, first), (b, second)))
        total = total + x * y
    _out(e, i, total)


_UNSIGNED = {"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}
_ORDERED = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord", "nan": "uno"}


def comparison(e: Emitter, kind: str, type: str, a: Value, b: Value) -> Value:
    """Compare values of a PTX type; `kind` is PTX's name of the comparison, such as "lt" or "leu". Return an i1."""
    if type in _FLOATS:
        a, b = (widened(v, type) for v in (a, b))
        if kind in _ORDERED:
            return a.is_(f"{_ORDERED[kind]}", b)
        return a.is_(f"u{kind[:-1]}", b)
    if kind in ("eq", "ne"):
        return a.is_(f"{kind}", b)
    return a.is_(f"{_UNSIGNED.get(kind) or ('s' if type[0] == 's' else 'u') + kind}", b)


def _compared(e: Emitter, i: Instruction, type: str) -> Value:
    """Return the comparison, an i1, of the first two sources in a PTX type, as the first modifier names it."""
    kind = i.modifiers[0]
    a, b = (e.read(i.operands[n], type) for n in (1, 2))
    if "ftz" in i.modifiers:
        a, b = floats.flushed(e, a), floats.flushed(e, b)
    return comparison(e, kind, type, a, b)


def _setp(e: Emitter, i: Instruction) -> None:
    """Emit setp: the predicates of a comparison and of its negation, each combined with a third if there is one."""
    if i.type.endswith("x2"):
        raise e.unsupported_instruction()
    first, second = e.pair(i.operands[0])
    result = _compared(e, i, i.type)
    other = ~result
    if len(i.operands) > 3:
        combination = next(m for m in i.modifiers if m in ("and", "or", "xor"))
        by = e.read(i.operands[3], "pred")
        result, other = result.do(combination, by), other.do(combination, by)
    e.write(first, result)
    e.write(second, other)


def _set(e: Emitter, i: Instruction) -> None:
    """Emit set: a comparison, combined with a predicate if there is one, as all ones or 0, or 1.0 or 0.0 for f32."""
    to, of = (m for m in i.modifiers if m in BITS)
    result = _compared(e, i, of)
    more = i.operands[3:]
    if more:
        combination = next(m for m in i.modifiers if m in ("and", "or", "xor"))
        result = result.do(combination, e.read(more[0], "pred"))
    if to == "f32":
        return e.write(i.operands[0], result.cast("uitofp", "float"))
    if to[0] == "f" or (to[0] == "b" and to not in ("b32", "b64")):
        raise e.unsupported_instruction()
    e.write(i.operands[0], result.cast("sext", f"i{BITS[to]}"))


def _selp(e: Emitter, i: Instruction) -> None:
    """Emit selp: the first source where the predicate holds, else the second."""
    a, b = (e.read(i.operands[n], i.type) for n in (1, 2))
    _out(e, i, e.read(i.operands[3], "pred").choose(a, b))


def _slct(e: Emitter, i: Instruction) -> None:
    """Emit slct: the first source where the third, an s32 or f32, is not negative, else the second."""
    to, of = (m for m in i.modifiers if m in BITS)
    a, b, c = e.read(i.operands[1], to), e.read(i.operands[2], to), e.read(i.operands[3], of)
    zero = e.number(0, c.elem) if of == "s32" else e.float(0, c.elem)
    chosen = c.is_("sge" if of == "s32" else "oge", zero)
    e.write(i.operands[0], chosen.choose(a, b))


def _mov(e: Emitter, i: Instruction) -> None:
    """Emit mov, which may pack a vector of registers into one or unpack one into several."""
    to, of = i.operands
    if isinstance(of, Group):
        return _out(e, i, packed(e, of.items, i.type))
    value = e.read(of, i.type)
    if not isinstance(to, Group):
        return _out(e, i, value)
    value = value.bits
    count = len(to.items)
    each = bits_of(value.elem) // count
    for n, item in enumerate(to.items):
        part = value >> n * each if n else value
        e.write(item, part.to(f"i{each}"))


def packed(e: Emitter, items: tuple[Operand, ...], type: str) -> Value:
    """Pack several operands into one value of a PTX type, the first in its lowest bits."""
    type_name, bits = f"i{BITS[type]}", BITS[type] // len(items)
    result: Value | None = None
    for n, item in enumerate(items):
        part = e.read(item, f"b{bits}").bits.to(type_name)
        part = part << n * bits if n else part
        result = part if result is None else result | part
    assert result is not None
    return result


RULES: dict[str, Rule] = {
    "add": _add, "sub": _add, "addc": _addc, "subc": _addc, "mul": _mul, "mad": _mad, "madc": _mad, "fma": _mad,
    "mul24": _mul24, "mad24": _mul24, "div": _div, "rem": _div, "and": _bitwise, "or": _bitwise, "xor": _bitwise,
    "not": _not, "cnot": _cnot, "shl": _shift, "shr": _shift, "shf": _shf, "min": _min_max, "max": _min_max,
    "neg": _neg, "abs": _neg, "sad": _sad, "popc": _count, "clz": _count, "brev": _brev, "bfind": _bfind,
    "bfe": _bfe, "bfi": _bfi, "bmsk": _bmsk, "prmt": _prmt, "lop3": _lop3, "dp4a": _dp4a, "setp": _setp, "set": _set,
    "selp": _selp, "slct": _slct, "mov": _mov,
}  # fmt: skip
