"""Expressions of a scalar type: each emitter returns text whose value has exactly the wanted type."""

from __future__ import annotations

from functools import partial

from tests.judge.generator.kinds import (
    COMPOSITES,
    FLOATS,
    INTEGERS,
    MEETINGS,
    NUMBERS,
    SIGNED,
    Kind,
    scalar,
)
from tests.judge.generator.table import CONDITIONS, VALUES, draw, row
from tests.judge.generator.writer import INT, Function, Writer

COMMON = ("int32", "float32", "float32", "float64", "int64", "uint8", "int32", "uint32", "int16", "int8", "float16")
MATHS = ("sin", "cos", "exp", "log1p", "tanh", "atan", "erf", "cbrt", "sinh", "expm1", "exp2")
value_row = partial(row, VALUES)
condition_row = partial(row, CONDITIONS)


def value(w: Writer, kind: Kind | str, depth: int = 2, exact: bool = True) -> str:
    """An expression of a scalar type; `exact`: nothing in it may be off by an ulp."""
    wanted = scalar(kind) if isinstance(kind, str) else kind
    if w.profile == "smooth" and wanted.scalar in FLOATS:
        exact = False
    if wanted.scalar == "bool":
        return f"({condition(w, depth)})"
    return str(draw(w, VALUES, wanted, depth, exact))


def any_type(w: Writer) -> str:
    """A scalar type, common ones more often."""
    if w.profile == "smooth":
        return w.pick("float32", "float32", "float64")
    return w.pick(*COMMON) if w.chance(0.8) else w.pick(*NUMBERS)


def literal(w: Writer, kind: str) -> str:
    """A literal that fits the type."""
    if kind in INTEGERS:
        wide = ("1000", "12345") if kind not in ("int8", "uint8") else ("100",)
        return w.pick("0", "1", "2", "3", "5", "7", *wide) if w.chance(0.9) or kind not in SIGNED else "-1"
    if w.profile == "smooth":
        return w.pick("0.5", "1.5", "0.25", "2.0", "0.75", "1.0", "0.1")
    return w.pick("0.5", "1.5", "0.1", "2.0", "3.0", "1e-3", "100.0", "0.0", "1.0", "0.3")


@value_row("a local name", 9)
def _name(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    names = w.locals(kind, exact)
    return w.random.choice(names) if names else None


@value_row("a typed literal", 2)
def _typed_literal(w: Writer, kind: Kind, depth: int, exact: bool) -> str:
    number = literal(w, kind.scalar)
    if kind.scalar in ("int32", "float32") and w.chance(0.5):
        return f"{'int' if kind.scalar == 'int32' else 'float'}({number})"
    return f"{kind.name}({number})"


@value_row("a literal beside a typed operand", 6)
def _literal_beside(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    sign = w.pick("+", "-", "*", "*", "/") if kind.scalar in FLOATS else w.pick("+", "-", "*", "&", "|", "^")
    number = literal(w, kind.scalar)
    if sign == "/":
        number = w.pick("2.0", "3.0", "0.7")
    elif kind.scalar in FLOATS and w.chance(0.3):
        number = w.pick("2", "3")
        w.used.add("an int literal beside a float")
    one = value(w, kind, depth - 1, exact)
    return f"({one} {sign} {number})" if w.chance(0.6) or sign == "/" else f"({number} {sign} {one})"


@value_row("a literal computed from literals", 2)
def _computed_literal(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in FLOATS:
        return None
    made = w.pick("(1.0 / 3.0)", "wb.sqrt(2.0)", "(0.1 + 0.2)", "(2 * 0.35)", "(1 / 3)", "-(0.25 ** 2)")
    return f"({value(w, kind, depth - 1, exact)} {w.pick('*', '+')} {made})"


@value_row("a constant with a name", 2)
def _named_constant(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in FLOATS:
        return None
    return f"({value(w, kind, depth - 1, exact)} {w.pick('*', '-')} wb.{w.pick('pi', 'HALF_PI', 'e')})"


@value_row("a captured Python number", 4)
def _captured(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    whole = kind.scalar in INTEGERS
    same = [n for n, text in w.constants.items() if text.startswith("int" if whole else "float")]
    if not same or w.chance(0.3):
        same = [w.fresh("C")]
        number = w.pick("2", "3", "7") if whole else w.pick("0.1", "0.7", "1.3", "0.5")
        w.constants[same[0]] = "int" if whole else "float"
        w.header.append(f"{same[0]} = {number}")
    sign = w.pick("*", "+", "-")
    return f"({value(w, kind, depth - 1, exact)} {sign} {w.random.choice(same)})"


@value_row("a captured NumPy scalar", 3)
def _captured_scalar(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if kind.scalar in ("bfloat16", "float64"):
        return None  # NumPy has no bfloat16, and its float64 is a Python float, which is weak
    same = [n for n, text in w.constants.items() if text == f"np {kind.scalar}"]
    if not same:
        same = [w.fresh("C")]
        w.constants[same[0]] = f"np {kind.scalar}"
        w.header.append(f"{same[0]} = np.{kind.scalar}({literal(w, kind.scalar)})")
    return w.random.choice(same)


@value_row("a literal from a join, a loop or a ternary, beside a typed operand", 4)
def _weak_name(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    weak = "wb.float32" if kind.scalar in FLOATS else "wb.int32"
    names = [n for n, local in w.names.items() if local.weak and local.kind.name == weak]
    if not names or depth <= 0:
        return None
    return f"({value(w, kind, depth - 1, exact)} {w.pick('*', '+', '-')} {w.random.choice(names)})"


@value_row("a ternary of literals", 2)
def _weak_ternary(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    one, other = literal(w, kind.scalar), literal(w, kind.scalar)
    made = f"({one} if {condition(w, 0)} else {other})"
    if w.chance(0.3):
        made = f"wb.where({condition(w, 0)}, {one}, {other})"
    return f"({value(w, kind, depth - 1, exact)} * {made})"


@value_row("a static value", 1)
def _static(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    whole = kind.scalar in INTEGERS
    made = w.pick("2 + 1", "len('abc')", "max(2, 3)") if whole else w.pick("0.5 * 3", "1.0 / 8", "sum((0.1, 0.2))")
    return f"({value(w, kind, depth - 1, exact)} {w.pick('*', '+')} wb.static({made}))"


@value_row("a scalar parameter", 2)
def _parameter(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    return None if w.function else w.scalar(kind.scalar)


@value_row("a size", 2)
def _size(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    arrays = [name for name, a in w.arrays.items()]
    if kind != INT or not arrays or w.function:
        return None
    name = w.random.choice(arrays)
    axis = w.random.randrange(len(w.arrays[name].shape))
    return f"len({name})" if axis == 0 and w.chance(0.5) else f"{name}.shape[{axis}]"


@value_row("a cast", 4)
def _cast(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    other = "bool" if w.chance(0.1) and kind.scalar in INTEGERS else any_type(w)
    inner = exact or kind.scalar not in FLOATS
    name = kind.name
    if kind.scalar in ("int32", "float32") and w.chance(0.5):
        name = "int" if kind.scalar == "int32" else "float"
    return f"{name}({value(w, other, depth - 1, inner)})"


@value_row("arithmetic of one type", 8)
def _arithmetic(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    sign = w.pick("+", "-", "*", "/") if kind.scalar in FLOATS else w.pick("+", "-", "*")
    one, other = value(w, kind, depth - 1, exact), value(w, kind, depth - 1, exact)
    if sign == "/" and (w.profile == "smooth" or w.chance(0.5)):
        other = f"({w.pick('1.0', '2.0')} + {other} * {other})"
    return f"({one} {sign} {other})"


@value_row("arithmetic of two types", 5, ("exact", "maths"))
def _mixed(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    pairs = MEETINGS[kind.scalar]
    if depth <= 0 or not pairs:
        return None
    a, b = w.random.choice(pairs)
    return f"({value(w, a, depth - 1, exact)} {w.pick('+', '-', '*')} {value(w, b, depth - 1, exact)})"


@value_row("a quotient of two integers", 2, ("exact", "maths"))
def _quotient(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in ("float32", "float64"):
        return None
    type = w.pick("int32", "uint8", "int16") if kind.scalar == "float32" else w.pick("int64", "uint64")
    return f"({value(w, type, depth - 1)} / {value(w, type, depth - 1)})"


@value_row("floor division and remainder", 4, ("exact", "maths"))
def _remainder(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    divisor = value(w, kind, depth - 1) if w.chance(0.5) else literal(w, kind.scalar)
    if w.chance(0.5):
        divisor = w.pick("2", "3", "7") if kind.scalar in INTEGERS else w.pick("2.0", "0.75")
    return f"({value(w, kind, depth - 1)} {w.pick('//', '%')} {divisor})"


@value_row("operators of bits", 3)
def _bits(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in INTEGERS:
        return None
    one, other = value(w, kind, depth - 1), value(w, kind, depth - 1)
    return w.pick(f"({one} {w.pick('&', '|', '^')} {other})", f"(~{one})")


@value_row("shifts", 3)
def _shift(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in INTEGERS:
        return None
    by = w.pick("1", "2", "5") if w.chance(0.6) else value(w, kind, depth - 1)
    return f"({value(w, kind, depth - 1)} {w.pick('<<', '>>')} {by})"


@value_row("a negative", 2)
def _negative(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    return f"(-{value(w, kind, depth - 1, exact)})" if depth > 0 else None


@value_row("a conditional expression", 4)
def _ternary(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    one, other = (value(w, kind, depth - 1, exact) for _ in range(2))
    return f"({one} if {condition(w, depth - 1)} else {other})"


@value_row("where", 2)
def _where(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    one, other = (value(w, kind, depth - 1, exact) for _ in range(2))
    return f"wb.where({condition(w, depth - 1)}, {one}, {other})"


@value_row("min, max, clamp", 4)
def _extrema(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0:
        return None
    one, other = (value(w, kind, depth - 1, exact) for _ in range(2))
    bounds = ("0", "7") if kind.scalar in INTEGERS else ("-1.0", "1.5")
    return w.pick(f"min({one}, {other})", f"wb.max({one}, {other})", f"wb.clamp({one}, {bounds[0]}, {bounds[1]})")


@value_row("abs, sign", 2)
def _abs(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in (*FLOATS, *SIGNED):
        return None
    one = value(w, kind, depth - 1, exact)
    return w.pick(f"abs({one})", f"wb.sign({one})") if exact else f"wb.abs({one})"


@value_row("rounding", 2, ("exact", "maths"))
def _rounding(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in FLOATS:
        return None
    name = w.pick("floor", "ceil", "trunc", "rint", "round", "frac")
    return f"wb.{name}({value(w, kind, depth - 1)})"


@value_row("square root", 2)
def _root(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in FLOATS:
        return None
    one = value(w, kind, depth - 1, exact)
    return f"wb.sqrt({one})" if w.profile != "smooth" else f"wb.sqrt(1.0 + {one} * {one})"


@value_row("a float's class", 1, ("exact",))
def _classified(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in INTEGERS:
        return None
    return f"{kind.name}(wb.{w.pick('isnan', 'isinf', 'isfinite')}({value(w, w.pick(*FLOATS), depth - 1)}))"


@value_row("step, lerp, copysign", 2, ("exact", "maths"))
def _curves(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or kind.scalar not in FLOATS:
        return None
    one, other = (value(w, kind, depth - 1) for _ in range(2))
    return w.pick(f"wb.step({one}, {other})", f"wb.lerp({one}, {other}, 0.25)", f"wb.copysign({one}, {other})")


@value_row("functions of mathematics", 5, ("maths", "smooth"))
def _maths(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or exact or kind.scalar not in ("float32", "float64"):
        return None
    one = value(w, kind, depth - 1, w.profile != "smooth")
    name = w.pick(*MATHS)
    if name in ("exp", "exp2", "sinh", "expm1"):
        one = f"wb.clamp({one}, -2.0, 2.0)"
    return f"wb.{name}(abs({one}))" if name == "log1p" else f"wb.{name}({one})"


@value_row("a power", 2, ("maths", "smooth"))
def _power(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    if depth <= 0 or exact or kind.scalar not in ("float32", "float64"):
        return None
    one = value(w, kind, depth - 1, w.profile != "smooth")
    return w.pick(f"({one} ** 2)", f"({one} ** 3.0)", f"((0.5 + abs({one})) ** 1.5)", f"(abs({one}) ** 0.5)")


@value_row("products of vectors", 2, ("maths", "smooth"))
def _dot(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    from tests.judge.generator.wholes import whole

    same = [c for c in COMPOSITES if c.form == "vector" and c.scalar == kind.scalar]
    if depth <= 0 or exact or kind.scalar not in ("float32", "float64") or not same:
        return None
    shape = w.random.choice(same)
    one, other = whole(w, shape, 1), whole(w, shape, 1)
    return w.pick(f"wb.dot({one}, {other})", f"wb.length({one})", f"wb.length_sq({other})")


@value_row("a call of a func", 5)
def _call(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    fitting = [f for f in w.functions if f.results == (kind,) and (f.exact or not exact) and not f.takes]
    if depth <= 0 or not fitting:
        return None
    function = w.random.choice(fitting)
    return f"{function.name}({arguments(w, function, depth - 1, exact)})"


def arguments(w: Writer, function: Function, depth: int, exact: bool = True) -> str:
    """Arguments for a func: some left to their default, the last perhaps by keyword."""
    from tests.judge.generator.wholes import whole

    count = len(function.parameters)
    if function.defaults and w.chance(0.5):
        w.used.add("a default of a func's parameter")
        count -= 1
    texts = [
        value(w, kind, depth, exact) if kind.form == "scalar" else whole(w, kind, depth)
        for kind in function.parameters[:count]
    ]
    if count > 1 and w.chance(0.2):
        w.used.add("an argument by keyword")
        texts[-1] = f"a{count - 1}={texts[-1]}"
    return ", ".join(texts)


@value_row("a func that takes a func", 2)
def _higher(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    fitting = [f for f in w.functions if f.results == (kind,) and f.takes and (f.exact or not exact)]
    if depth <= 0 or not fitting:
        return None
    function = w.random.choice(fitting)
    return f"{function.name}({function.takes}, {value(w, kind, depth - 1, exact)})"


@value_row("a component, an element or a field of a local name", 6)
def _component(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    parts = [
        (name, path)
        for name, local in w.names.items()
        if local.exact or not exact
        for path in paths(w, local.kind, kind)
    ]
    if not parts:
        return None
    name, path = w.random.choice(parts)
    return name + path


def paths(w: Writer, kind: Kind, wanted: Kind) -> list[str]:
    """Ways from a value of a kind down to a scalar of the wanted kind, drawn anew."""
    if kind.form == "struct":
        return [
            f".{name}{path}"
            for name, part in kind.fields
            for path in ([""] if part == wanted else paths(w, part, wanted))
        ]
    if kind.form == "scalar" or kind.scalar != wanted.scalar:
        return []
    if kind.form == "vector" and len(kind.shape) == 1:
        return [component(w, kind.shape[0])]
    if kind.form == "matrix":
        r, c = kind.shape
        return [f"[{index(w, r)}, {index(w, c)}]", f"[{index(w, r)}]{component(w, c)}"]
    if kind.form == "quaternion":
        return [component(w, 4)]
    return [f".p{component(w, 3)}", f".q{component(w, 4)}"]


def component(w: Writer, length: int) -> str:
    """A component of a vector: by letter, by number, or by an index that only the run knows."""
    if length <= 4 and w.chance(0.5):
        return "." + "xyzw"[w.random.randrange(length)]
    return f"[{index(w, length)}]"


def index(w: Writer, length: int) -> str:
    """An index into so many elements: a number, a negative one, or one that only the run knows."""
    number = w.random.randrange(length)
    if w.chance(0.5):
        return str(number)
    if w.chance(0.3):
        w.used.add("a negative index")
        return str(number - length)
    counters = [n for n, local in w.names.items() if local.kind == INT and not local.mutable and not local.weak]
    w.used.add("an index that only the run knows")
    if counters:
        name = w.random.choice(counters)
        return w.pick(
            f"{name} % {length}",
            f"({name} + {number}) % {length}",
            f"min({name}, {length - 1})" if name in w.indices else f"abs({name}) % {length}",
        )
    return f"{value(w, INT, 0)} % {length}"


@value_row("an element of an array", 9)
def _load(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    from tests.judge.generator.memory import element

    return None if w.function else element(w, kind)


@value_row("a part of an element of an array", 4)
def _part_of_element(w: Writer, kind: Kind, depth: int, exact: bool) -> str | None:
    from tests.judge.generator.memory import element

    fitting = [c for c in (*COMPOSITES, *w.structs.values()) if c.form == "struct" or c.scalar == kind.scalar]
    if w.function or not fitting:
        return None
    whole = w.random.choice(fitting)
    ways = paths(w, whole, kind)
    return element(w, whole) + w.random.choice(ways) if ways else None


def condition(w: Writer, depth: int = 1) -> str:
    """An expression of type bool, exact."""
    return str(draw(w, CONDITIONS, depth))


@condition_row("a comparison", 10)
def _comparison(w: Writer, depth: int) -> str:
    type = any_type(w)
    sign = w.pick("<", "<=", ">", ">=", "==", "!=") if type in INTEGERS else w.pick("<", "<=", ">", ">=", "!=")
    return f"{_compared(w, type, depth)} {sign} {_other(w, type, depth)}"


def _compared(w: Writer, type: str, depth: int) -> str:
    if w.profile == "smooth":
        return smooth_operand(w, type)
    return value(w, type, depth - 1)


def smooth_operand(w: Writer, type: str) -> str:
    """An operand of a condition in a differentiable program: an input, so that no ulp decides."""
    names = w.locals(scalar(type), exact=True)
    if w.function or (names and w.chance(0.5)):
        return w.random.choice(names) if names else f"wb.{type}(0.25)"
    from tests.judge.generator.memory import element

    return element(w, scalar(type))


def _other(w: Writer, type: str, depth: int) -> str:
    return literal(w, type) if w.chance(0.5) else _compared(w, type, depth)


@condition_row("a comparison of two types", 3, ("exact", "maths"))
def _comparison_of_two(w: Writer, depth: int) -> str:
    a, b = w.random.choice(MEETINGS[w.pick("int64", "int32", "float32", "float64", "int16")])
    return f"{value(w, a, depth - 1)} {w.pick('<', '<=', '>', '>=', '==', '!=')} {value(w, b, depth - 1)}"


@condition_row("a chained comparison", 3)
def _chained(w: Writer, depth: int) -> str:
    type = any_type(w)
    low, high = ("1", "7") if type in INTEGERS else ("-0.5", "1.0")
    one, last = _compared(w, type, depth), w.pick(high, _other(w, type, depth))
    return f"{low} {w.pick('<', '<=')} {one} {w.pick('<', '<=', '!=')} {last}"


@condition_row("a test of the thread's index", 4)
def _of_index(w: Writer, depth: int) -> str | None:
    counters = [n for n, local in w.names.items() if local.kind == INT and not local.mutable]
    if not counters:
        return None
    name = w.random.choice(counters)
    return w.pick(f"{name} % 2 == 0", f"{name} > 2", f"{name} % 3 == 1", f"{name} < 5", f"{name} % 5 != 3")


@condition_row("a number as a condition", 2, ("exact", "maths"))
def _truth(w: Writer, depth: int) -> str:
    return (
        f"({value(w, w.pick('int32', 'uint8', 'float32', 'int64'), depth - 1)} != 0)"
        if w.chance(0.3)
        else f"not {value(w, 'int32', depth - 1)}"
    )


@condition_row("and, or, not", 4)
def _logic(w: Writer, depth: int) -> str | None:
    if depth <= 0:
        return None
    one, other = condition(w, depth - 1), condition(w, depth - 1)
    return w.pick(f"({one} and {other})", f"({one} or {other})", f"not ({one})", f"({one} and not ({other}))")


@condition_row("a bool", 2, ("exact", "maths"))
def _bool(w: Writer, depth: int) -> str | None:
    names = w.locals(scalar("bool"))
    if names and (w.function or w.chance(0.6)):
        return w.random.choice(names)
    from tests.judge.generator.memory import element

    return None if w.function else element(w, scalar("bool"))
