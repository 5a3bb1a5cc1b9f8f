"""Rules for floats. f16 and bf16 are computed in float32 and rounded once more, which is exact for + - * / and sqrt."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.llvm.halves import joined, narrowed, parts, to_odd, widened
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.emit.emitter import Emitter, Rule
from workbench.backends.ptx.library.lanes import LANE_FUNCTIONS
from workbench.backends.ptx.syntax.program import Instruction

ROUNDINGS = ("rn", "rz", "rm", "rp")


def opaque(e: Emitter, value: Value) -> Value:
    """Return the same number behind an operation that LLVM does not optimise away.

    Without it the sign of a zero may get lost where a comparison chooses the converted number (an LLVM bug).
    """
    return value.intrinsic("canonicalize")


def flushed(e: Emitter, value: Value) -> Value:
    """Replace subnormal float32 values by zeros of the same sign; return values of other types as they are."""
    if value.elem != "float":
        return value
    size = value.intrinsic("fabs")
    tiny = size.is_("olt", e.float(0x00800000, "float"))
    return tiny.choose(e.float(0, "float").intrinsic("copysign", value), value)


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
        columns = zip(*(parts(v) for v in values), strict=True)
        low, high = (_one(e, i, function, list(c), type[:-2], double) for c in columns)
        return e.write(i.operands[0], joined(low, high))
    e.write(i.operands[0], _one(e, i, function, values, type, double))


def _one(e: Emitter, i: Instruction, function: Compute, values: list[Value], type: str, double: bool) -> Value:
    """Emit `function` of values of one type, with widening, flush, saturation and relu; return the rounded result."""
    wide = [widened(v, type) for v in values]
    if "ftz" in i.modifiers:
        wide = [flushed(e, v) for v in wide]
    double = double and type in ("f16", "bf16")
    result = function(*(v.cast("fpext", "double") for v in wide)) if double else function(*wide)
    if double:
        result = to_odd(result)
    if "ftz" in i.modifiers:
        result = flushed(e, result)
    if "sat" in i.modifiers:
        result = saturated(e, result)
    if "relu" in i.modifiers:
        result = result.intrinsic("maximum", e.float(0, result.elem))
    return narrowed(result, type)


def saturated(e: Emitter, value: Value) -> Value:
    """Clamp a float to [0, 1]; NaN becomes 0."""
    one = e.float(0x3F800000 if value.elem == "float" else 0x3FF0000000000000, value.elem)
    zero = e.float(0, value.elem)
    low = value.is_("ogt", zero).choose(value, zero)
    return low.is_("olt", one).choose(low, one)


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
    value = near.cast("fptrunc", "float")
    back = value.cast("fpext", "double")
    zero = e.float(0, "double")

    def beyond(name: str) -> Value:
        equal = back.is_("oeq", near)
        side = "olt" if name == "ogt" else "ogt"
        return back.is_(f"{name}", near) | equal & error.is_(f"{side}", zero)

    above, below = beyond("ogt"), beyond("olt")
    bits = value.bits
    one = e.number(1, "i32")
    negative = bits.is_("slt", 0)
    is_zero = value.is_("oeq", e.float(0, "float"))
    down = negative.choose(bits + one, bits - one)
    down = is_zero.choose(0x80000001, down)
    up = negative.choose(bits - one, bits + one)
    up = is_zero.choose(one, up)
    positive = near.is_("ogt", zero)
    if mode == "rm":
        bits = above.choose(down, bits)
    elif mode == "rp":
        bits = below.choose(up, bits)
    else:
        lower = (above & positive).choose(down, bits)
        bits = (below & ~positive).choose(up, lower)
    return bits.cast("bitcast", "float")


def _sum(e: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    """Return a + b in float64, and its rounding error (Knuth's two-sum)."""
    total = a + b
    c = total - a
    error = a - (total - c) + (b - c)
    return total, error


def _in_direction(e: Emitter, i: Instruction, mode: str) -> None:
    """Emit add, sub, mul or fma of float32 values in a directed rounding `mode`; refuse other types."""
    if i.type != "f32":
        raise e.unsupported_instruction()

    def function(*values: Value) -> Value:
        wide = [v.cast("fpext", "double") for v in values]
        if i.opcode in ("add", "sub"):
            second = wide[1] if i.opcode == "add" else -wide[1]
            total, error = _sum(e, wide[0], second)
        else:
            total, error = wide[0] * wide[1], e.float(0, "double")
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
    compute(e, i, lambda a, b: a.do(f"f{i.opcode}", b), 2)


def fused(e: Emitter, i: Instruction) -> None:
    """Emit fma of floats, or mad, which is the same: a · b + c, rounded once.

    Raises:
        BuildError: it rounds in a direction, and its type is not f32.
    """
    mode = rounding(e, i)
    if mode != "rn":
        return _in_direction(e, i, mode)
    compute(e, i, lambda a, b, c: a.intrinsic("fma", b, c), 3, double=True)


def divide(e: Emitter, i: Instruction) -> None:
    """Emit the div of floats, correctly rounded to nearest even where PTX allows an approximation.

    Raises:
        BuildError: it names another rounding.
    """
    if rounding(e, i) != "rn":
        raise e.unsupported_instruction()
    compute(e, i, lambda a, b: a / b, 2)


def min_max(e: Emitter, i: Instruction) -> None:
    """Emit the min or max of floats: of a number and a NaN the number, or with `.NaN` the NaN.

    Raises:
        BuildError: it has three sources, or `.xorsign`.
    """
    name = f"{i.opcode}imum" + ("" if "NaN" in i.modifiers else "num")
    if "xorsign" in i.modifiers or len(i.operands) > 3:
        raise e.unsupported_instruction()
    compute(e, i, lambda a, b: a.intrinsic(name, b), 2)


def sign(e: Emitter, i: Instruction) -> None:
    """Emit the neg or abs of floats."""
    if i.type in ("bf16", "bf16x2", "f16", "f16x2"):
        value = e.read(i.operands[1], i.type).bits
        signs = 0x8000 if value.elem == "i16" else 0x80008000
        name, bits = ("xor", signs) if i.opcode == "neg" else ("and", ~signs)
        return e.write(i.operands[0], value.do(name, bits))
    if i.opcode == "neg":
        return compute(e, i, lambda a: -a, 1)
    compute(e, i, lambda a: a.intrinsic("fabs"), 1)


def _root(e: Emitter, i: Instruction) -> None:
    """Emit sqrt, rounded to nearest also where PTX allows an approximation; refuse directed rounding."""
    if rounding(e, i) != "rn" and "approx" not in i.modifiers:
        raise e.unsupported_instruction()
    compute(e, i, lambda a: a.intrinsic("sqrt"), 1)


def _through_double(e: Emitter, value: Value, function: Callable[[Value], Value]) -> Value:
    """Apply a function to a float32 in float64, and round the result to float32; to a float64 apply it directly."""
    if value.elem == "double":
        return function(value)
    return function(value.cast("fpext", "double")).cast("fptrunc", "float")


def _reciprocal(e: Emitter, i: Instruction) -> None:
    """Emit rcp, correctly rounded, or rsqrt, computed in float64; refuse directed rounding."""
    one = 0x3FF0000000000000

    def function(a: Value) -> Value:
        if i.opcode == "rsqrt":
            return _through_double(e, a, lambda x: e.float(one, "double") / x.intrinsic("sqrt"))
        return e.float(0x3F800000 if a.elem == "float" else one, a.elem) / a

    if rounding(e, i) != "rn":
        raise e.unsupported_instruction()
    compute(e, i, function, 1)


_LIBRARY = {"ex2": "exp2", "lg2": "log2", "sin": "sin", "cos": "cos", "tanh": "tanh"}


def _function(e: Emitter, i: Instruction) -> None:
    """Emit ex2, lg2, sin, cos or tanh by a call of the library's float64 function for the executing lanes."""
    name = f"wbe_{_LIBRARY[i.opcode]}"

    def function(a: Value) -> Value:
        return _through_double(e, a, lambda x: LANE_FUNCTIONS[name](e.mask, x))

    compute(e, i, function, 1)


def _copysign(e: Emitter, i: Instruction) -> None:
    """Emit copysign: the magnitude of the second source with the sign of the first."""
    compute(e, i, lambda a, b: b.intrinsic("copysign", a), 2)


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
    e.write(i.operands[0], value.intrinsic("is.fpclass", more=f"i32 {bits}", elem="i1"))


RULES: dict[str, Rule] = {
    "sqrt": _root, "rsqrt": _reciprocal, "rcp": _reciprocal, "ex2": _function, "lg2": _function, "sin": _function,
    "cos": _function, "tanh": _function, "copysign": _copysign, "testp": _testp,
}  # fmt: skip
