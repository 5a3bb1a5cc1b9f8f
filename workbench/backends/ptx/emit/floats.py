"""Rules for floats. f16 and bf16 are computed in float32 and rounded once more, which is exact for + - * / and sqrt."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.emit.values import Value, element
from workbench.backends.ptx.syntax.program import Instruction

ROUNDINGS = ("rn", "rz", "rm", "rp")


def parts(e: Emitter, value: Value) -> list[Value]:
    """Return the low and the high 16 bits of a 32-bit value, as i16."""
    return [e.resize(value, "i16"), e.resize(e.op("lshr", value, e.int(16, "i32")), "i16")]


def joined(e: Emitter, low: Value, high: Value) -> Value:
    """Return two 16-bit values packed in an i32."""
    first, second = (e.cast("zext", e.bits(v), "i32") for v in (low, high))
    return e.op("or", first, e.op("shl", second, e.int(16, "i32")))


def widened(e: Emitter, value: Value, type: str) -> Value:
    """Return a value of PTX type f16 or bf16 as float32; other types as they are."""
    if type == "f16":
        return e.cast("fpext", e.cast("bitcast", value, "half"), "float")
    if type == "bf16":
        return e.cast("bitcast", e.op("shl", e.cast("zext", value, "i32"), e.int(16, "i32")), "float")
    return value


def opaque(e: Emitter, value: Value) -> Value:
    """Return the same number behind an operation that LLVM does not optimise away.

    Without it the sign of a zero may get lost where a comparison chooses the converted number (an LLVM bug).
    """
    return e.intrinsic("llvm.canonicalize", value)


def narrowed(e: Emitter, value: Value, type: str) -> Value:
    """Round a float32 to the nearest value of f16 or bf16, ties to even; for other types return the value as it is."""
    if type == "f16":
        return e.cast("fptrunc", value, "half")
    if type == "bf16":
        bits = e.bits(value)
        up = e.op("and", e.op("lshr", bits, e.int(16, "i32")), e.int(1, "i32"))
        rounded = e.op("lshr", e.op("add", e.op("add", bits, e.int(0x7FFF, "i32")), up), e.int(16, "i32"))
        nan = e.compare("fcmp uno", value, value)
        return e.resize(e.select(nan, e.int(0x7FFF, "i32"), rounded), "i16")
    return value


def to_odd(e: Emitter, value: Value) -> Value:
    """Round a float64 to float32 by rounding to odd: an inexact result has an odd last bit.

    Rounding that result to 16 bits then equals rounding the float64 once.
    """
    near = e.cast("fptrunc", value, "float")
    back = e.cast("fpext", near, "double")
    exact = e.compare("fcmp ueq", back, value)
    bits = e.bits(near)
    away = e.compare("fcmp ogt", e.intrinsic("llvm.fabs", back), e.intrinsic("llvm.fabs", value))
    toward = e.select(away, e.op("sub", bits, e.int(1, "i32")), bits)
    odd = e.op("or", toward, e.int(1, "i32"))
    return e.cast("bitcast", e.select(exact, bits, odd), "float")


def flushed(e: Emitter, value: Value) -> Value:
    """Replace subnormal float32 values by zeros of the same sign; return values of other types as they are."""
    if value.elem != "float":
        return value
    size = e.intrinsic("llvm.fabs", value)
    tiny = e.compare("fcmp olt", size, e.float(0x00800000, "float"))
    return e.select(tiny, e.intrinsic("llvm.copysign", e.float(0, "float"), value), value)


Compute = Callable[[Value], Value] | Callable[[Value, Value], Value] | Callable[[Value, Value, Value], Value]


def compute(e: Emitter, i: Instruction, function: Compute, count: int, double: bool = False) -> None:
    """Emit an instruction that computes `function` of its sources, and write the rounded result.

    16-bit sources are widened to float32; the modifiers `ftz`, `sat` and `relu` are applied.

    Args:
        e: the emitter.
        i: the instruction; its first operand is the destination, and its type is what the result is rounded to.
        function: emits the computation on float32 or float64 values.
        count: how many sources it has.
        double: compute 16-bit types in float64 (a fused multiply-add's product and sum are exact there).
    """
    type = i.type
    values = [e.read(operand, type) for operand in i.operands[1 : 1 + count]]
    if type.endswith("x2"):
        columns = zip(*(parts(e, v) for v in values), strict=True)
        low, high = (_one(e, i, function, list(c), type[:-2], double) for c in columns)
        return e.write(i.operands[0], joined(e, low, high))
    e.write(i.operands[0], _one(e, i, function, values, type, double))


def _one(e: Emitter, i: Instruction, function: Compute, values: list[Value], type: str, double: bool) -> Value:
    """Emit `function` of values of one type, with widening, flush, saturation and relu; return the rounded result."""
    wide = [widened(e, v, type) for v in values]
    if "ftz" in i.modifiers:
        wide = [flushed(e, v) for v in wide]
    double = double and type in ("f16", "bf16")
    result = function(*(e.cast("fpext", v, "double") for v in wide)) if double else function(*wide)
    if double:
        result = to_odd(e, result)
    if "ftz" in i.modifiers:
        result = flushed(e, result)
    if "sat" in i.modifiers:
        result = saturated(e, result)
    if "relu" in i.modifiers:
        result = e.intrinsic("llvm.maximum", result, e.float(0, result.elem))
    return narrowed(e, result, type)


def saturated(e: Emitter, value: Value) -> Value:
    """Clamp a float to [0, 1]; NaN becomes 0."""
    one = e.float(0x3F800000 if value.elem == "float" else 0x3FF0000000000000, value.elem)
    zero = e.float(0, value.elem)
    low = e.select(e.compare("fcmp ogt", value, zero), value, zero)
    return e.select(e.compare("fcmp olt", low, one), low, one)


def rounding(e: Emitter, i: Instruction) -> str:
    """Return the rounding mode that an instruction names; "rn" if it names none."""
    return next((m for m in i.modifiers if m in ROUNDINGS), "rn")


def directed(e: Emitter, near: Value, error: Value, mode: str) -> Value:
    """Round the float64 sum `near + error` to float32 in a direction.

    Args:
        e: the emitter.
        near: the sum rounded to float64.
        error: what that rounding left out; only its sign counts.
        mode: "rm" down, "rp" up, otherwise toward zero.
    """
    value = e.cast("fptrunc", near, "float")
    back = e.cast("fpext", value, "double")
    zero = e.float(0, "double")

    def beyond(name: str) -> Value:
        equal = e.compare("fcmp oeq", back, near)
        side = "olt" if name == "ogt" else "ogt"
        return e.op(
            "or", e.compare(f"fcmp {name}", back, near), e.op("and", equal, e.compare(f"fcmp {side}", error, zero))
        )

    above, below = beyond("ogt"), beyond("olt")
    bits = e.bits(value)
    one = e.int(1, "i32")
    negative = e.compare("icmp slt", bits, e.int(0, "i32"))
    is_zero = e.compare("fcmp oeq", value, e.float(0, "float"))
    down = e.select(negative, e.op("add", bits, one), e.op("sub", bits, one))
    down = e.select(is_zero, e.int(0x80000001, "i32"), down)
    up = e.select(negative, e.op("sub", bits, one), e.op("add", bits, one))
    up = e.select(is_zero, one, up)
    positive = e.compare("fcmp ogt", near, zero)
    if mode == "rm":
        bits = e.select(above, down, bits)
    elif mode == "rp":
        bits = e.select(below, up, bits)
    else:
        lower = e.select(e.op("and", above, positive), down, bits)
        bits = e.select(e.op("and", below, e.op("xor", positive, e.int(1, "i1"))), up, lower)
    return e.cast("bitcast", bits, "float")


def _sum(e: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    """Return a + b in float64, and its rounding error (Knuth's two-sum)."""
    total = e.op("fadd", a, b)
    c = e.op("fsub", total, a)
    error = e.op("fadd", e.op("fsub", a, e.op("fsub", total, c)), e.op("fsub", b, c))
    return total, error


def _in_direction(e: Emitter, i: Instruction, mode: str) -> None:
    """Emit add, sub, mul or fma of float32 values in a directed rounding `mode`; refuse other types."""
    if i.type != "f32":
        raise e.unsupported_instruction()

    def function(*values: Value) -> Value:
        wide = [e.cast("fpext", v, "double") for v in values]
        if i.opcode in ("add", "sub"):
            second = wide[1] if i.opcode == "add" else e.new(f"fneg {wide[1]}", "double", wide[1].lanes)
            total, error = _sum(e, wide[0], second)
        else:
            total, error = e.op("fmul", wide[0], wide[1]), e.float(0, "double")
            if len(wide) > 2:
                total, error = _sum(e, total, wide[2])
        return directed(e, total, error, mode)

    compute(e, i, function, 3 if i.opcode in ("fma", "mad") else 2)


def arithmetic(e: Emitter, i: Instruction) -> None:
    """Emit the add, sub or mul of floats.

    Raises:
        BuildError: it rounds in a direction, and its type is not f32.
    """
    mode = rounding(e, i)
    if mode != "rn":
        return _in_direction(e, i, mode)
    compute(e, i, lambda a, b: e.op(f"f{i.opcode}", a, b), 2)


def fused(e: Emitter, i: Instruction) -> None:
    """Emit fma of floats, or mad, which is the same: a · b + c, rounded once.

    Raises:
        BuildError: it rounds in a direction, and its type is not f32.
    """
    mode = rounding(e, i)
    if mode != "rn":
        return _in_direction(e, i, mode)
    compute(e, i, lambda a, b, c: e.intrinsic("llvm.fma", a, b, c), 3, double=True)


def divide(e: Emitter, i: Instruction) -> None:
    """Emit the div of floats, correctly rounded to nearest even where PTX allows an approximation.

    Raises:
        BuildError: it names another rounding.
    """
    if rounding(e, i) != "rn":
        raise e.unsupported_instruction()
    compute(e, i, lambda a, b: e.op("fdiv", a, b), 2)


def min_max(e: Emitter, i: Instruction) -> None:
    """Emit the min or max of floats: of a number and a NaN the number, or with `.NaN` the NaN.

    Raises:
        BuildError: it has three sources, or `.xorsign`.
    """
    name = f"llvm.{i.opcode}imum" + ("" if "NaN" in i.modifiers else "num")
    if "xorsign" in i.modifiers or len(i.operands) > 3:
        raise e.unsupported_instruction()
    compute(e, i, lambda a, b: e.intrinsic(name, a, b), 2)


def sign(e: Emitter, i: Instruction) -> None:
    """Emit the neg or abs of floats."""
    if i.type in ("bf16", "bf16x2", "f16", "f16x2"):
        value = e.bits(e.read(i.operands[1], i.type))
        signs = 0x8000 if value.elem == "i16" else 0x80008000
        name, bits = ("xor", signs) if i.opcode == "neg" else ("and", ~signs)
        return e.write(i.operands[0], e.op(name, value, e.int(bits, value.elem)))
    if i.opcode == "neg":
        return compute(e, i, lambda a: e.new(f"fneg {a}", a.elem, a.lanes), 1)
    compute(e, i, lambda a: e.intrinsic("llvm.fabs", a), 1)


def _root(e: Emitter, i: Instruction) -> None:
    """Emit sqrt, rounded to nearest also where PTX allows an approximation; refuse directed rounding."""
    if rounding(e, i) != "rn" and "approx" not in i.modifiers:
        raise e.unsupported_instruction()
    compute(e, i, lambda a: e.intrinsic("llvm.sqrt", a), 1)


def _through_double(e: Emitter, value: Value, function: Callable[[Value], Value]) -> Value:
    """Apply a function to a float32 in float64, and round the result to float32; to a float64 apply it directly."""
    if value.elem == "double":
        return function(value)
    return e.cast("fptrunc", function(e.cast("fpext", value, "double")), "float")


def _reciprocal(e: Emitter, i: Instruction) -> None:
    """Emit rcp, correctly rounded, or rsqrt, computed in float64; refuse directed rounding."""
    one = 0x3FF0000000000000

    def function(a: Value) -> Value:
        if i.opcode == "rsqrt":
            return _through_double(e, a, lambda x: e.op("fdiv", e.float(one, "double"), e.intrinsic("llvm.sqrt", x)))
        return e.op("fdiv", e.float(0x3F800000 if a.elem == "float" else one, a.elem), a)

    if rounding(e, i) != "rn":
        raise e.unsupported_instruction()
    compute(e, i, function, 1)


_LIBRARY = {"ex2": "exp2", "lg2": "log2", "sin": "sin", "cos": "cos", "tanh": "tanh"}


def _function(e: Emitter, i: Instruction) -> None:
    """Emit ex2, lg2, sin, cos or tanh by a call of the library's float64 function for the executing lanes."""
    name = f"wbe_{_LIBRARY[i.opcode]}"

    def function(a: Value) -> Value:
        return _through_double(e, a, lambda x: e.lanes_of(name, "double", f"i32 {e.mask}", e.spread(x)))

    compute(e, i, function, 1)


def _copysign(e: Emitter, i: Instruction) -> None:
    """Emit copysign: the magnitude of the second source with the sign of the first."""
    compute(e, i, lambda a, b: e.intrinsic("llvm.copysign", b, a), 2)


def _testp(e: Emitter, i: Instruction) -> None:
    """Emit testp: the predicate whether a float is finite, infinite, a number, not one, normal or subnormal.

    Raises:
        BuildError: it names another class.
    """
    value = e.read(i.operands[1], i.type)
    classes = {"finite": 0x1F8, "infinite": 0x204, "number": 0x3FC, "notanumber": 3, "normal": 0x108, "subnormal": 0x90}
    bits = classes.get(i.modifiers[0])
    if bits is None:
        raise e.unsupported_instruction()
    suffix = f"v32{element(i.type).replace('float', 'f32').replace('double', 'f64')}"
    value = e.spread(value)
    name = f"@llvm.is.fpclass.{suffix}"
    e.declared[name] = f"declare <32 x i1> {name}({value.type}, i32)"
    e.write(i.operands[0], e.new(f"call <32 x i1> {name}({value}, i32 {bits})", "i1"))


RULES: dict[str, Rule] = {
    "sqrt": _root, "rsqrt": _reciprocal, "rcp": _reciprocal, "ex2": _function, "lg2": _function, "sin": _function,
    "cos": _function, "tanh": _function, "copysign": _copysign, "testp": _testp,
}  # fmt: skip
