"""Rules for integer and bitwise instructions, comparisons and selections."""

from __future__ import annotations

from workbench.backends.ptx.emit import floats
from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.emit.values import WIDTH, Value
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
        parts = [e.op(i.opcode, x, y) for x, y in zip(floats.parts(e, a), floats.parts(e, b), strict=True)]
        return _out(e, i, floats.joined(e, *parts))
    if "sat" in i.modifiers:
        return _out(e, i, e.intrinsic(f"llvm.s{i.opcode}.sat", a, b))
    result = e.op(i.opcode, a, b)
    if "cc" in i.modifiers:
        e.carry = e.compare("icmp ult", *((result, a) if i.opcode == "add" else (a, b)))
    _out(e, i, result)


def _addc(e: Emitter, i: Instruction) -> None:
    """Emit addc or subc, with the carry in and, for `.cc`, out; raise a BuildError if the block has set none."""
    a, b = _integer(e, i, 1, 2)
    if e.carry is None:
        raise e.unsupported_instruction(f"{i.name} has no carry set before it in its block")
    name = i.opcode[:3]
    carry = e.cast("zext", e.carry, a.elem)
    first = e.op(name, a, b)
    result = e.op(name, first, carry)
    if "cc" in i.modifiers:
        one = e.compare("icmp ult", *((first, a) if name == "add" else (a, b)))
        two = e.compare("icmp ult", *((result, first) if name == "add" else (first, carry)))
        e.carry = e.op("or", one, two)
    _out(e, i, result)


def _product(e: Emitter, i: Instruction, a: Value, b: Value) -> Value:
    """Multiply as mul and mad do: return the product's low half or high half (`.hi`), or all of it (`.wide`)."""
    signed = i.type[0] == "s"
    if "wide" in i.modifiers or "hi" in i.modifiers:
        wide = f"i{2 * WIDTH[a.elem]}"
        x, y = (e.resize(v, wide, signed) for v in (a, b))
        product = e.op("mul", x, y)
        if "wide" in i.modifiers:
            return product
        return e.resize(e.op("lshr", product, e.int(WIDTH[a.elem], wide)), a.elem)
    return e.op("mul", a, b)


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
    c = e.read(i.operands[3], f"{i.type[0]}{WIDTH[product.elem]}")
    result = e.op("add", product, c)
    if i.opcode == "madc":
        if e.carry is None:
            raise e.unsupported_instruction(f"{i.name} has no carry set before it in its block")
        carry = e.cast("zext", e.carry, product.elem)
        total = e.op("add", result, carry)
        if "cc" in i.modifiers:
            e.carry = e.op("or", e.compare("icmp ult", result, product), e.compare("icmp ult", total, result))
        return _out(e, i, total)
    if "cc" in i.modifiers:
        e.carry = e.compare("icmp ult", result, product)
    _out(e, i, result)


def _mul24(e: Emitter, i: Instruction) -> None:
    """Emit mul24 or mad24: the low 32 bits of a product of 24-bit integers, or with `.hi` its bits from 16 on.

    For mad24 the third source is added.
    """
    a, b = _integer(e, i, 1, 2)
    shift = "ashr" if i.type[0] == "s" else "lshr"
    # 24 bits, extended by a shift up and back down.
    a, b = (e.op(shift, e.op("shl", v, e.int(8, "i32")), e.int(8, "i32")) for v in (a, b))
    if "hi" in i.modifiers:
        wide = e.op("mul", *(e.resize(v, "i64", i.type[0] == "s") for v in (a, b)))
        result = e.resize(e.op("lshr", wide, e.int(16, "i64")), "i32")
    else:
        result = e.op("mul", a, b)
    if i.opcode == "mad24":
        result = e.op("add", result, e.read(i.operands[3], i.type))
    _out(e, i, result)


def _div(e: Emitter, i: Instruction) -> None:
    """Emit div or rem, of floats or of integers; a divisor of 0 is defined, as on a device."""
    if is_float(i):
        return floats.divide(e, i)
    # A function of the library: LLVM's division by 0 is undefined, and lanes that are switched off may well have one.
    a, b = (e.spread(v) for v in _integer(e, i, 1, 2))
    _out(e, i, e.lanes_of(f"wbe_{i.opcode}_{i.type}", a.elem, f"i32 {e.mask}", a, b))


def _bitwise(e: Emitter, i: Instruction) -> None:
    """Emit and, or, xor."""
    a, b = _integer(e, i, 1, 2)
    _out(e, i, e.op(i.opcode, a, b))


def _not(e: Emitter, i: Instruction) -> None:
    """Emit not: all bits flipped."""
    (a,) = _integer(e, i, 1)
    _out(e, i, e.op("xor", a, e.int(-1, a.elem)))


def _cnot(e: Emitter, i: Instruction) -> None:
    """Emit cnot: 1 if the source is 0, else 0."""
    (a,) = _integer(e, i, 1)
    _out(e, i, e.cast("zext", e.compare("icmp eq", a, e.int(0, a.elem)), a.elem))


def _shift(e: Emitter, i: Instruction) -> None:
    """Emit shl or shr, where an amount of the width or more shifts all bits out."""
    (a,) = _integer(e, i, 1)
    amount = e.read(i.operands[2], "u32")
    bits = WIDTH[a.elem]
    kind = "shl" if i.opcode == "shl" else "ashr" if i.type[0] == "s" else "lshr"
    most = e.intrinsic("llvm.umin", amount, e.int(bits - 1 if kind == "ashr" else bits, "i32"))
    by = e.resize(most, a.elem)
    if kind == "ashr":
        return _out(e, i, e.op(kind, a, by))
    over = e.compare("icmp uge", amount, e.int(bits, "i32"))
    safe = e.op("and", by, e.int(bits - 1, a.elem))
    _out(e, i, e.select(over, e.int(0, a.elem), e.op(kind, a, safe)))


def _shf(e: Emitter, i: Instruction) -> None:
    """Emit shf: two words are shifted as one; its high word for a shift to the left, its low word to the right."""
    low, high, amount = (e.read(i.operands[n], "b32") for n in (1, 2, 3))
    both = e.op("or", e.op("shl", e.cast("zext", high, "i64"), e.int(32, "i64")), e.cast("zext", low, "i64"))
    if "wrap" in i.modifiers:
        amount = e.op("and", amount, e.int(31, "i32"))
    else:
        amount = e.intrinsic("llvm.umin", amount, e.int(32, "i32"))
    by = e.cast("zext", amount, "i64")
    if "l" in i.modifiers:
        result = e.op("lshr", e.op("shl", both, by), e.int(32, "i64"))
    else:
        result = e.op("lshr", both, by)
    _out(e, i, e.resize(result, "i32"))


def _min_max(e: Emitter, i: Instruction) -> None:
    """Emit min or max, of floats, packed 16-bit integers or integers; `.relu` clamps below at 0."""
    if is_float(i):
        return floats.min_max(e, i)
    a, b = _integer(e, i, 1, 2)
    name = f"llvm.{i.type[0]}{i.opcode}"
    if i.type.endswith("x2"):
        pairs = zip(floats.parts(e, a), floats.parts(e, b), strict=True)
        return _out(e, i, floats.joined(e, *(e.intrinsic(name, x, y) for x, y in pairs)))
    result = e.intrinsic(name, a, b)
    if "relu" in i.modifiers:
        result = e.intrinsic("llvm.smax", result, e.int(0, a.elem))
    _out(e, i, result)


def _neg(e: Emitter, i: Instruction) -> None:
    """Emit neg or abs, of floats or of integers."""
    if is_float(i):
        return floats.sign(e, i)
    (a,) = _integer(e, i, 1)
    zero = e.int(0, a.elem)
    negative = e.op("sub", zero, a)
    if i.opcode == "abs":
        negative = e.select(e.compare("icmp slt", a, zero), negative, a)
    _out(e, i, negative)


def _sad(e: Emitter, i: Instruction) -> None:
    """Emit sad: |a - b| + c."""
    a, b, c = _integer(e, i, 1, 2, 3)
    less = e.compare("icmp slt" if i.type[0] == "s" else "icmp ult", a, b)
    _out(e, i, e.op("add", c, e.select(less, e.op("sub", b, a), e.op("sub", a, b))))


def _count(e: Emitter, i: Instruction) -> None:
    """Emit popc, the number of ones, or clz, the number of leading zeros, as u32."""
    (a,) = _integer(e, i, 1)
    if i.opcode == "popc":
        result = e.intrinsic("llvm.ctpop", a)
    else:
        result = e.intrinsic("llvm.ctlz", a, more="i1 false")
    _out(e, i, e.resize(result, "i32"), "u32")


def _brev(e: Emitter, i: Instruction) -> None:
    """Emit brev: the bits in reverse order."""
    (a,) = _integer(e, i, 1)
    _out(e, i, e.intrinsic("llvm.bitreverse", a))


def _bfind(e: Emitter, i: Instruction) -> None:
    """Emit bfind: the position of the highest bit that differs from the sign; -1 if none does.

    With `.shiftamt` it is the amount of a left shift that brings this bit to the top.
    """
    (a,) = _integer(e, i, 1)
    bits = WIDTH[a.elem]
    if i.type[0] == "s":
        a = e.op("xor", a, e.op("ashr", a, e.int(bits - 1, a.elem)))
    leading = e.resize(e.intrinsic("llvm.ctlz", a, more="i1 false"), "i32")
    result = leading if "shiftamt" in i.modifiers else e.op("sub", e.int(bits - 1, "i32"), leading)
    none = e.compare("icmp eq", a, e.int(0, a.elem))
    _out(e, i, e.select(none, e.int(-1, "i32"), result), "u32")


def _bfe(e: Emitter, i: Instruction) -> None:
    """Emit bfe: `length` bits of a source from the bit `start` on, extended by sign or zeros; 0 for length 0."""
    (a,) = _integer(e, i, 1)
    bits, signed = WIDTH[a.elem], i.type[0] == "s"
    wide = "i128" if bits == 64 else "i64"
    start, length = (e.op("and", e.read(i.operands[n], "u32"), e.int(255, "i32")) for n in (2, 3))
    start = e.intrinsic("llvm.umin", start, e.int(bits, "i32"))
    length = e.intrinsic("llvm.umin", length, e.int(bits, "i32"))
    shifted = e.op("ashr" if signed else "lshr", e.resize(a, wide, signed), e.resize(start, wide))
    rest = e.op("sub", e.int(WIDTH[wide], wide), e.resize(length, wide))
    none = e.compare("icmp eq", length, e.int(0, "i32"))
    rest = e.select(none, e.int(0, wide), rest)
    cut = e.op("ashr" if signed else "lshr", e.op("shl", shifted, rest), rest)
    _out(e, i, e.select(none, e.int(0, a.elem), e.resize(cut, a.elem)))


def _bfi(e: Emitter, i: Instruction) -> None:
    """Emit bfi: the second source with `length` of its bits from `start` on replaced by the low bits of the first."""
    a, b = _integer(e, i, 1, 2)
    bits = WIDTH[a.elem]
    wide = f"i{2 * bits}"
    start, length = (e.op("and", e.read(i.operands[n], "u32"), e.int(255, "i32")) for n in (3, 4))
    start = e.resize(e.intrinsic("llvm.umin", start, e.int(bits, "i32")), wide)
    length = e.resize(e.intrinsic("llvm.umin", length, e.int(bits, "i32")), wide)
    field = e.op("shl", e.op("sub", e.op("shl", e.int(1, wide), length), e.int(1, wide)), start)
    x, y = e.resize(a, wide), e.resize(b, wide)
    placed = e.op("and", e.op("shl", x, start), field)
    background = e.op("and", y, e.op("xor", field, e.int(-1, wide)))
    _out(e, i, e.resize(e.op("or", placed, background), a.elem))


def _bmsk(e: Emitter, i: Instruction) -> None:
    """Emit bmsk: a 32-bit mask of `length` ones from the bit `start` on, both clamped to 32 or wrapped."""
    start, length = _integer(e, i, 1, 2)
    most = e.int(31 if "wrap" in i.modifiers else 32, "i32")
    cut = "and" if "wrap" in i.modifiers else "llvm.umin"
    start, length = (e.op(cut, n, most) if cut == "and" else e.intrinsic(cut, n, most) for n in (start, length))
    one, start, length = e.int(1, "i64"), e.resize(start, "i64"), e.resize(length, "i64")
    field = e.op("shl", e.op("sub", e.op("shl", one, length), one), start)
    _out(e, i, e.resize(field, "i32"))


def _prmt(e: Emitter, i: Instruction) -> None:
    """Emit prmt: four bytes of two words, chosen by the nibbles of a third, whose top bit replicates a byte's sign.

    Modes are refused.
    """
    if i.modifiers != ("b32",):
        raise e.unsupported_instruction()
    a, b, c = _integer(e, i, 1, 2, 3)
    both = e.op("or", e.op("shl", e.cast("zext", b, "i64"), e.int(32, "i64")), e.cast("zext", a, "i64"))
    result = e.int(0, "i32")
    for n in range(4):
        nibble = e.op("lshr", c, e.int(4 * n, "i32"))
        at = e.cast("zext", e.op("shl", e.op("and", nibble, e.int(7, "i32")), e.int(3, "i32")), "i64")
        byte = e.resize(e.op("lshr", both, at), "i8")
        signs = e.op("ashr", byte, e.int(7, "i8"))
        replicate = e.compare("icmp ne", e.op("and", nibble, e.int(8, "i32")), e.int(0, "i32"))
        chosen = e.cast("zext", e.select(replicate, signs, byte), "i32")
        result = e.op("or", result, e.op("shl", chosen, e.int(8 * n, "i32"))) if n else chosen
    _out(e, i, result)


def _lop3(e: Emitter, i: Instruction) -> None:
    """Emit lop3: the logical function of three words whose truth table is the immediate; refuse `.BOOL`."""
    a, b, c = _integer(e, i, 1, 2, 3)
    table = i.operands[4]
    bits = getattr(table, "value", None)
    if bits is None or "BOOL" in i.modifiers:
        raise e.unsupported_instruction()
    result: Value = e.int(0, "i32")
    for n in range(8):
        if not bits >> n & 1:
            continue
        terms = [v if n >> k & 1 else e.op("xor", v, e.int(-1, "i32")) for v, k in ((a, 2), (b, 1), (c, 0))]
        result = e.op("or", result, e.op("and", e.op("and", terms[0], terms[1]), terms[2]))
    _out(e, i, result)


def _dp4a(e: Emitter, i: Instruction) -> None:
    """Emit dp4a: the dot product of four signed or unsigned bytes, plus a 32-bit word."""
    first, second = (m for m in i.modifiers if m in BITS)
    a, b = (e.read(i.operands[n], "b32") for n in (1, 2))
    total = e.read(i.operands[3], "b32")
    for n in range(4):
        x, y = (
            e.resize(e.resize(e.op("lshr", v, e.int(8 * n, "i32")), "i8"), "i32", t[0] == "s")
            for v, t in ((a, first), (b, second))
        )
        total = e.op("add", total, e.op("mul", x, y))
    _out(e, i, total)


_UNSIGNED = {"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}
_ORDERED = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord", "nan": "uno"}


def comparison(e: Emitter, kind: str, type: str, a: Value, b: Value) -> Value:
    """Compare values of a PTX type; `kind` is PTX's name of the comparison, such as "lt" or "leu". Return an i1."""
    if type in _FLOATS:
        a, b = (floats.widened(e, v, type) for v in (a, b))
        if kind in _ORDERED:
            return e.compare(f"fcmp {_ORDERED[kind]}", a, b)
        return e.compare(f"fcmp u{kind[:-1]}", a, b)
    if kind in ("eq", "ne"):
        return e.compare(f"icmp {kind}", a, b)
    return e.compare(f"icmp {_UNSIGNED.get(kind) or ('s' if type[0] == 's' else 'u') + kind}", a, b)


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
    other = e.op("xor", result, e.int(1, "i1"))
    if len(i.operands) > 3:
        combination = next(m for m in i.modifiers if m in ("and", "or", "xor"))
        by = e.read(i.operands[3], "pred")
        result, other = e.op(combination, result, by), e.op(combination, other, by)
    e.write(first, result)
    e.write(second, other)


def _set(e: Emitter, i: Instruction) -> None:
    """Emit set: a comparison, combined with a predicate if there is one, as all ones or 0, or 1.0 or 0.0 for f32."""
    to, of = (m for m in i.modifiers if m in BITS)
    result = _compared(e, i, of)
    more = i.operands[3:]
    if more:
        combination = next(m for m in i.modifiers if m in ("and", "or", "xor"))
        result = e.op(combination, result, e.read(more[0], "pred"))
    if to == "f32":
        return e.write(i.operands[0], e.cast("uitofp", result, "float"))
    if to[0] == "f" or (to[0] == "b" and to not in ("b32", "b64")):
        raise e.unsupported_instruction()
    e.write(i.operands[0], e.cast("sext", result, f"i{BITS[to]}"))


def _selp(e: Emitter, i: Instruction) -> None:
    """Emit selp: the first source where the predicate holds, else the second."""
    a, b = (e.read(i.operands[n], i.type) for n in (1, 2))
    _out(e, i, e.select(e.read(i.operands[3], "pred"), a, b))


def _slct(e: Emitter, i: Instruction) -> None:
    """Emit slct: the first source where the third, an s32 or f32, is not negative, else the second."""
    to, of = (m for m in i.modifiers if m in BITS)
    a, b, c = e.read(i.operands[1], to), e.read(i.operands[2], to), e.read(i.operands[3], of)
    zero = e.int(0, c.elem) if of == "s32" else e.float(0, c.elem)
    chosen = e.compare("icmp sge" if of == "s32" else "fcmp oge", c, zero)
    e.write(i.operands[0], e.select(chosen, a, b))


def _mov(e: Emitter, i: Instruction) -> None:
    """Emit mov, which may pack a vector of registers into one or unpack one into several."""
    to, of = i.operands
    if isinstance(of, Group):
        return _out(e, i, packed(e, of.items, i.type))
    value = e.read(of, i.type)
    if not isinstance(to, Group):
        return _out(e, i, value)
    value = e.bits(value)
    count = len(to.items)
    each = WIDTH[value.elem] // count
    for n, item in enumerate(to.items):
        part = e.op("lshr", value, e.int(n * each, value.elem)) if n else value
        e.write(item, e.resize(part, f"i{each}"))


def packed(e: Emitter, items: tuple[Operand, ...], type: str) -> Value:
    """Pack several operands into one value of a PTX type, the first in its lowest bits."""
    type_name, bits = f"i{BITS[type]}", BITS[type] // len(items)
    result: Value | None = None
    for n, item in enumerate(items):
        part = e.resize(e.bits(e.read(item, f"b{bits}")), type_name)
        part = e.op("shl", part, e.int(n * bits, type_name)) if n else part
        result = part if result is None else e.op("or", result, part)
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
