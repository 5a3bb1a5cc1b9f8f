"""What stands above the kernel: structs, funcs of all sorts, constants."""

from __future__ import annotations

from functools import partial

from tests.judge.generator.kinds import FLOATS, MATRICES, VECTORS, Kind, scalar
from tests.judge.generator.table import DEFINITIONS, row
from tests.judge.generator.values import any_type, condition, value
from tests.judge.generator.wholes import constructor, whole
from tests.judge.generator.writer import Function, Writer, indented

definition_row = partial(row, DEFINITIONS)


def struct(w: Writer, nested: bool = False) -> Kind:
    """A struct of the program, an existing one or a new one."""
    same = [s for s in w.structs.values() if any(f.form == "struct" for _, f in s.fields) == nested]
    if same:
        return w.random.choice(same)
    floats = w.profile == "smooth"
    first = scalar("float32" if floats else w.pick("int32", "float32", "float64", "uint8"))
    vectors = [v for v in VECTORS if v.scalar in ("float32", "float64", *(() if floats else ("int32",)))]
    parts = [first, w.random.choice(vectors), scalar(w.pick("float32", "float64"))]
    if w.chance(0.4):
        parts.append(w.random.choice([m for m in MATRICES if m.scalar != "float16"]))
    if nested:
        parts.insert(w.random.randrange(len(parts)), struct(w))
    name = w.fresh("S")
    fields = tuple((f"f{k}", part) for k, part in enumerate(parts))
    kind = Kind(name, "struct", "", (), fields)
    w.header += ["", "", "@wb.struct", f"class {name}:", *(f"    {n}: {k.name}" for n, k in fields)]
    w.structs[name] = kind
    return kind


@definition_row("a struct", 3, ("exact", "maths"))
def _struct(w: Writer) -> list[str]:
    return [struct(w).name]


@definition_row("a nested struct", 2, ("exact", "maths"))
def _nested(w: Writer) -> list[str]:
    return [struct(w, nested=True).name]


def _define(w: Writer, signature: str, body: list[str], function: Function) -> list[str]:
    """Put a func above the kernel and into the writer's table."""
    w.header += ["", "", "@wb.func", f"def {function.name}({signature}):", *indented(body)]
    w.functions.append(function)
    return body


def _body(inside: Writer, count: int = 2) -> list[str]:
    from tests.judge.generator.statements import statements

    return statements(inside, count, depth=1)


def _signature(parameters: dict[str, Kind], default: str = "") -> str:
    texts = [f"{name}: {kind.name}" for name, kind in parameters.items()]
    if default:
        texts[-1] += f" = {default}"
    return ", ".join(texts)


@definition_row("a func", 6)
def _func(w: Writer) -> list[str]:
    kinds = [scalar(any_type(w)) for _ in range(w.random.choice((1, 2, 2, 3)))]
    parameters = {f"a{k}": kind for k, kind in enumerate(kinds)}
    result = scalar(any_type(w))
    inside = w.inside(parameters)
    body = [*_body(inside), f"return {value(inside, result, 2)}"]
    last = kinds[-1].scalar
    default = ("0.5" if last in FLOATS else "3") if len(kinds) > 1 and w.chance(0.4) else ""
    function = Function(w.fresh("f"), tuple(kinds), (result,), int(bool(default)), exact=w.profile == "exact")
    return _define(w, _signature(parameters, default), body, function)


@definition_row("a func that returns early", 5)
def _early(w: Writer) -> list[str]:
    kind, other = scalar(any_type(w)), scalar(any_type(w))
    parameters = {"a0": kind, "a1": other}
    inside = w.inside(parameters)
    body: list[str] = []
    for _ in range(w.random.choice((1, 1, 2, 3))):
        body += [f"if {condition(inside)}:", f"    return {value(inside, kind, 1)}"]
        body += _body(inside, 1)
    body.append(f"return {value(inside, kind, 2)}")
    return _define(
        w, _signature(parameters), body, Function(w.fresh("f"), (kind, other), (kind,), exact=w.profile == "exact")
    )


@definition_row("a func that returns from a loop", 3)
def _from_loop(w: Writer) -> list[str]:
    kind = scalar(any_type(w))
    parameters = {"a0": kind, "a1": scalar("int32")}
    inside = w.inside(parameters)
    inside.bind("j", scalar("int32"), mutable=False)
    body = [f"for j in range({w.pick('3', 'a1 % 5', 'min(a1, 4)')}):"]
    body += indented([f"if {condition(inside)}:", f"    return {value(inside, kind, 1)}"])
    body += indented([f"a0 = {kind.name}({value(inside, kind, 1)})"])
    del inside.names["j"]
    body.append(f"return {value(inside, kind, 1)}")
    return _define(
        w,
        _signature(parameters),
        body,
        Function(w.fresh("f"), (kind, scalar("int32")), (kind,), exact=w.profile == "exact"),
    )


@definition_row("a func of several results", 3)
def _several(w: Writer) -> list[str]:
    kinds = tuple(scalar(any_type(w)) for _ in range(2))
    results = tuple(scalar(any_type(w)) for _ in range(w.random.choice((2, 3))))
    parameters = {f"a{k}": kind for k, kind in enumerate(kinds)}
    inside = w.inside(parameters)
    body = [*_body(inside, 1), "return " + ", ".join(value(inside, r, 2) for r in results)]
    return _define(w, _signature(parameters), body, Function(w.fresh("f"), kinds, results, exact=w.profile == "exact"))


@definition_row("a func of a vector or a matrix", 3)
def _of_whole(w: Writer) -> list[str]:
    floats = [v for v in (*VECTORS, *MATRICES) if v.scalar in ("float32", "float64") or w.profile != "smooth"]
    kind = w.random.choice(floats)
    parameters = {"a0": kind, "a1": scalar(kind.scalar)}
    inside = w.inside(parameters)
    body = [*_body(inside, 1), f"return {whole(inside, kind, 2)}"]
    return _define(
        w,
        _signature(parameters),
        body,
        Function(w.fresh("f"), (kind, scalar(kind.scalar)), (kind,), exact=w.profile == "exact"),
    )


@definition_row("a func that changes its copy of a struct", 2, ("exact", "maths"))
def _of_struct(w: Writer) -> list[str]:
    kind = struct(w, nested=w.chance(0.3))
    parameters = {"a0": kind}
    inside = w.inside(parameters)
    changed = [
        f"a0.{name} = {constructor(inside, part, 1) if part.form != 'scalar' else value(inside, part, 1)}"
        for name, part in kind.fields[:1]
        if part.form != "struct"
    ]
    body = [*changed, f"return {w.pick('a0', whole(inside, kind, 2))}"]
    return _define(w, "a0: " + kind.name, body, Function(w.fresh("f"), (kind,), (kind,), exact=w.profile == "exact"))


@definition_row("a func without annotations", 2)
def _generic(w: Writer) -> list[str]:
    kind = scalar(
        w.pick("float32", "float64") if w.profile == "smooth" else w.pick("float32", "float64", "int32", "int64")
    )
    body = [f"return a0 * a1 {w.pick('+', '-')} {w.pick('a0', '2', 'a1')}"]
    return _define(w, "a0, a1", body, Function(w.fresh("f"), (kind, kind), (kind,)))


@definition_row("a func for any type of number", 2)
def _any(w: Writer) -> list[str]:
    kind = scalar(w.pick("float32", "float64", "float16") if w.profile != "smooth" else w.pick("float32", "float64"))
    annotation = w.pick("wb.Float", "wb.Scalar", "Any")
    w.any_used |= annotation == "Any"
    body = [w.pick('"""Twice and a half."""', "pass"), f"b = a0 * {w.pick('2.5', 'type(a0)(3)')}", "return b + a0"]
    return _define(w, f"a0: {annotation}", body, Function(w.fresh("f"), (kind,), (kind,)))


@definition_row("a func with versions", 2)
def _versions(w: Writer) -> list[str]:
    name, rows = w.fresh("f"), []
    for type in ("float32", "float64") if w.profile == "smooth" else ("float32", "int32"):
        kind = scalar(type)
        inside = w.inside({"a0": kind})
        rows = [f"return {value(inside, kind, 2)}"]
        _define(w, f"a0: {kind.name}", rows, Function(name, (kind,), (kind,), exact=w.profile == "exact"))
    return rows


@definition_row("a func that takes a func", 2)
def _higher(w: Writer) -> list[str] | None:
    ones = [
        f
        for f in w.functions
        if len(f.parameters) == 1 and f.parameters == f.results and not f.takes and f.parameters[0].form == "scalar"
    ]
    if not ones:
        one = scalar(any_type(w))
        inside = w.inside({"a0": one})
        ones = [Function(w.fresh("f"), (one,), (one,), exact=w.profile == "exact")]
        _define(w, f"a0: {one.name}", [f"return {value(inside, one, 2)}"], ones[0])
    taken = w.random.choice(ones)
    kind = taken.parameters[0]
    body = [f"return {w.pick('g(g(a0))', 'g(a0)', 'g(a0) + g(a0)' if kind.scalar in FLOATS else 'g(a0) - a0')}"]
    return _define(w, "g, a0", body, Function(w.fresh("f"), (kind,), (kind,), exact=taken.exact, takes=taken.name))


@definition_row("a captured tuple", 2)
def _tuple(w: Writer) -> list[str] | None:
    name = w.fresh("T")
    floats = w.profile == "smooth" or w.chance(0.5)
    numbers = ", ".join(
        w.pick("0.5", "0.1", "2.0", "1.25") if floats else w.pick("1", "2", "5", "9")
        for _ in range(w.random.choice((2, 3, 5)))
    )
    w.header.append(f"{name} = ({numbers})")
    w.constants[name] = "tuple of floats" if floats else "tuple of ints"
    return [name]
