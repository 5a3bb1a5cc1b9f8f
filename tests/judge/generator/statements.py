"""Statements: assignments of all sorts, branches, loops and ways out of them."""

from __future__ import annotations

from functools import partial

from tests.judge.generator.kinds import COMPOSITES, FLOATS, INTEGERS, Kind, scalar
from tests.judge.generator.memory import element, operand, subscript
from tests.judge.generator.table import STATEMENTS, draw, row
from tests.judge.generator.values import any_type, arguments, condition, literal, value
from tests.judge.generator.writer import INT, Writer, indented

statement_row = partial(row, STATEMENTS)


def statements(w: Writer, count: int, depth: int) -> list[str]:
    """So many statements, fewer once the program is long."""
    rows: list[str] = []
    for _ in range(count):
        if w.budget <= 0 and rows:
            break
        new = draw(w, STATEMENTS, depth)
        assert isinstance(new, list)
        w.budget -= len(new)
        rows += new
    return rows


def body(w: Writer, depth: int, loop: bool = False) -> list[str]:
    """The lines of a nested block."""
    with w.block(loop):
        return indented(statements(w, w.random.choice((1, 1, 2, 2, 3)), depth - 1))


def _exact(w: Writer) -> bool:
    return w.profile == "exact" or (w.profile == "maths" and w.chance(0.5))


@statement_row("a new name", 10)
def _new(w: Writer, depth: int) -> list[str]:
    kind, name, exact = scalar(any_type(w)), w.fresh(), _exact(w)
    rows = [f"{name} = {value(w, kind, 3, exact)}"]
    w.bind(name, kind, exact)
    return rows


@statement_row("a new name of a vector, matrix or struct", 5)
def _new_whole(w: Writer, depth: int) -> list[str]:
    kinds = [
        k for k in (*COMPOSITES, *w.structs.values()) if w.profile != "smooth" or k.scalar in ("float32", "float64")
    ]
    results = [f.results[0] for f in w.functions if f.results[0].form != "scalar"]
    kind, name = w.random.choice(results if results and w.chance(0.6) else kinds), w.fresh()
    rows = [f"{name} = {operand(w, kind, 2)}"]
    w.bind(name, kind)
    return rows


@statement_row("an annotated assignment", 2)
def _annotated(w: Writer, depth: int) -> list[str]:
    kind, name = scalar(any_type(w)), w.fresh()
    text = literal(w, kind.scalar) if w.chance(0.4) else value(w, kind, 2, _exact(w))
    rows = [f"{name}: {kind.name} = {text}"]
    w.bind(name, kind, w.profile == "exact")
    return rows


@statement_row("a bool with a name", 2)
def _bool(w: Writer, depth: int) -> list[str]:
    name = w.fresh()
    rows = [f"{name} = {condition(w, 2)}"]
    if rows[0].startswith(f"{name} = not ") or any(s in rows[0] for s in ("<", ">", "==", "!=")):
        w.bind(name, scalar("bool"), mutable=False)
    return rows


@statement_row("an assignment to a name again", 8)
def _again(w: Writer, depth: int) -> list[str] | None:
    names = [n for n, local in w.names.items() if local.mutable and not local.weak]
    if not names:
        return None
    name = w.random.choice(names)
    local = w.names[name]
    return [f"{name} = {operand(w, local.kind, 2, local.exact)}"]


@statement_row("an augmented assignment of a name", 5)
def _augmented(w: Writer, depth: int) -> list[str] | None:
    names = [
        n
        for n, local in w.names.items()
        if local.mutable and not local.weak and local.kind.scalar in (*FLOATS, *INTEGERS)
    ]
    names = [n for n in names if w.names[n].kind.form == "scalar"]
    if not names:
        return None
    name = w.random.choice(names)
    local = w.names[name]
    sign = w.pick(
        "+=", "-=", "*=", *(("//=", "%=", "|=", "&=", "^=", "<<=") if local.kind.scalar in INTEGERS else ("/=",))
    )
    if sign in ("//=", "%=", "<<="):
        return [f"{name} {sign} {w.pick('2', '3', '5')}"]
    if sign == "/=":
        return [f"{name} {sign} {w.pick('2.0', '3.0', '0.7')}"]
    return [f"{name} {sign} {literal(w, local.kind.scalar) if w.chance(0.3) else value(w, local.kind, 2, local.exact)}"]


@statement_row("a chained assignment", 1)
def _chained(w: Writer, depth: int) -> list[str]:
    kind, one, other = scalar(any_type(w)), w.fresh(), w.fresh()
    rows = [f"{one} = {other} = {value(w, kind, 2)}"]
    for name in (one, other):
        w.bind(name, kind, w.profile != "smooth")
    return rows


@statement_row("a tuple assignment", 3)
def _tuple(w: Writer, depth: int) -> list[str]:
    kind = scalar(any_type(w))
    names = w.locals(kind, mutable=True)
    if len(names) > 1 and w.chance(0.6):
        one, other = w.random.sample(names, 2)
        if w.names[one] == w.names[other]:
            w.used.add("a swap of names")
            return [f"{one}, {other} = {other}, {one}"]
    one, other = w.fresh(), w.fresh()
    second = scalar(any_type(w))
    rows = [f"{one}, {other} = {value(w, kind, 2)}, {value(w, second, 2)}"]
    w.bind(one, kind, w.profile != "smooth")
    w.bind(other, second, w.profile != "smooth")
    return rows


@statement_row("several results of a func, unpacked", 3)
def _unpacked(w: Writer, depth: int) -> list[str] | None:
    fitting = [f for f in w.functions if len(f.results) > 1]
    if not fitting:
        return None
    function = w.random.choice(fitting)
    names = [w.fresh() for _ in function.results]
    rows = [f"{', '.join(names)} = {function.name}({arguments(w, function, 2)})"]
    for name, kind in zip(names, function.results, strict=True):
        w.bind(name, kind, function.exact)
    return rows


@statement_row("an unpacked vector", 1)
def _unpacked_vector(w: Writer, depth: int) -> list[str] | None:
    fitting = [
        (n, local)
        for n, local in w.names.items()
        if local.kind.form in ("vector", "quaternion") and local.kind.shape[0] <= 4
    ]
    if not fitting:
        return None
    name, local = w.random.choice(fitting)
    names = [w.fresh() for _ in range(local.kind.shape[0])]
    for each in names:
        w.bind(each, scalar(local.kind.scalar), local.exact)
    return [f"{', '.join(names)} = {name}"]


@statement_row("a literal with a name that a branch changes", 3)
def _weak_join(w: Writer, depth: int) -> list[str]:
    floats = w.profile == "smooth" or w.chance(0.7)
    name, numbers = w.fresh("w"), ("0.1", "0.3", "0.7", "1.1") if floats else ("1", "2", "3", "5")
    rows = [f"{name} = {w.pick(*numbers)}"]
    way = w.pick("if", "elif", "for", "while")
    if way == "if":
        rows += [f"if {condition(w)}:", f"    {name} = {w.pick(*numbers)}"]
    elif way == "elif":
        rows += [
            f"if {condition(w)}:",
            f"    {name} = {w.pick(*numbers)}",
            f"elif {condition(w)}:",
            f"    {name} = {w.pick(*numbers)} {w.pick('*', '+')} {w.pick(*numbers)}",
        ]
    elif way == "for":
        rows += [
            f"for {w.fresh('j')} in range({w.pick('2', '3')}):",
            f"    {name} = {name} {w.pick('*', '+')} {w.pick(*numbers)}",
        ]
    else:
        rows += [
            f"while {name} < {w.pick('2.0', '1.5') if floats else w.pick('6', '9')}:",
            f"    {name} = {name} + {w.pick('0.3', '0.7') if floats else '2'}",
        ]
    w.used.add(f"a literal through {way}")
    w.bind(name, scalar("float32" if floats else "int32"), weak=True)
    return rows


@statement_row("a literal that a loop gives its type", 3)
def _accumulator(w: Writer, depth: int) -> list[str]:
    kind, name, counter = scalar(any_type(w)), w.fresh(), w.fresh("j")
    start = "0" if kind.scalar in INTEGERS or w.chance(0.5) else w.pick("0.0", "1.0", "0.1")
    rows = [f"{name} = {start}", f"for {counter} in range({_span(w)}):"]
    with w.block(loop=True):
        w.bind(counter, INT, mutable=False)
        rows.append(f"    {name} {w.pick('+=', '+=', '-=')} {value(w, kind, 2, _exact(w))}")
    if "range(" in rows[1] and not rows[1].endswith(("range(3):", "range(4):")):
        return [*rows, f"{name} = {kind.name}({name})"] if _bind(w, name, kind) else rows
    _bind(w, name, kind)
    return rows


def _bind(w: Writer, name: str, kind: Kind) -> bool:
    w.bind(name, kind, exact=w.profile == "exact")
    return True


def _span(w: Writer) -> str:
    """The arguments of a range of few steps."""
    counters = [n for n, local in w.names.items() if local.kind == INT and not local.mutable and not local.weak]
    some = w.random.choice(counters) if counters else "2"
    fixed = ("3", "4", "1, 4", "0, 6, 2", "4, 0, -1", "3, -1, -1", "5, 1, -2", "0")
    runtime = (f"{some} % 4", f"{some} % 3 + 1", f"1, {some} % 5", f"{some} % 4, -1, -1", f"0, min(abs({some}), 5), 2")
    w.used.add("a range")
    return w.pick(*fixed, *runtime)


@statement_row("a branch", 8)
def _if(w: Writer, depth: int) -> list[str] | None:
    if depth <= 0:
        return None
    rows = [f"if {condition(w, 2)}:", *body(w, depth)]
    if w.chance(0.5):
        w.used.add("else")
        rows += ["else:", *body(w, depth)]
    return rows


@statement_row("a chain of elif", 4)
def _elif(w: Writer, depth: int) -> list[str] | None:
    if depth <= 0:
        return None
    rows = [f"if {condition(w)}:", *body(w, depth)]
    for _ in range(w.random.choice((1, 1, 2, 3))):
        rows += [f"elif {condition(w)}:", *body(w, depth)]
    return [*rows, "else:", *body(w, depth)] if w.chance(0.6) else rows


@statement_row("a long chain of elif", 1)
def _long_elif(w: Writer, depth: int) -> list[str] | None:
    if w.function or depth < 2 or w.loops:
        return None
    links = w.random.choice((7, 15, 16, 17, 18, 33))
    kind = scalar(any_type(w))
    target = subscript(w, w.array(kind, "own", 0))
    tested = w.random.choice(w.indices)
    rows = [f"if {tested} == 0:", f"    {target} = {value(w, kind, 1)}"]
    for k in range(1, links):
        number = literal(w, kind.scalar)
        rows += [
            f"elif {tested} == {k}:",
            f"    {target} = {kind.name}({number})" if k % 5 else f"    {target} = {value(w, kind, 1)}",
        ]
    return [*rows, "else:", f"    {target} = {kind.name}(1)"]


@statement_row("a branch per piece of a function", 4)
def _pieces(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    kind = scalar(any_type(w))
    name, target = element(w, kind), subscript(w, w.array(kind, "own", 0))
    local = w.fresh()
    w.bind(local, kind)
    links = w.random.choice((2, 3, 4))
    tests = [f"{local} > {1 if kind.scalar in INTEGERS else 1.0}", f"{local} > 0", f"{local} == 0", f"{local} != 2"]
    rows = [f"{local} = {name}"]
    for k in range(links):
        rows += [f"{'elif' if k else 'if'} {tests[k]}:", f"    {target} = {value(w, kind, 2)}"]
    return [*rows, "else:", f"    {target} = {local} * {local}"]


@statement_row("a for loop", 7)
def _for(w: Writer, depth: int) -> list[str] | None:
    if depth <= 0 or w.loops >= 3:
        return None
    name = w.fresh("j")
    rows = [f"for {name} in range({_span(w)}):"]
    with w.block():
        w.bind(name, INT, mutable=False)
        lines = _way_out(w) if w.chance(0.35) else []
        rows += [*indented(lines), *body(w, depth, loop=True)]
        if w.chance(0.2):
            rows += indented(_way_out(w))
    if any("break" in line for line in rows) and w.chance(0.4):
        w.used.add("else of a for loop")
        rows += ["else:", *body(w, depth)]
    return rows


def _way_out(w: Writer) -> list[str]:
    word = w.pick("break", "continue")
    w.used.add(word)
    return [f"if {condition(w)}:", f"    {word}"]


@statement_row("a while loop", 4)
def _while(w: Writer, depth: int) -> list[str] | None:
    if depth <= 0 or w.loops >= 3:
        return None
    name, step = w.fresh("k"), w.pick("1", "1", "2")
    limit = w.pick("3", "5", f"{w.random.choice(w.indices)} % 4" if w.indices else "4")
    rows = [f"{name} = {w.pick('0', 'int(0)', 'wb.int32(1)')}", f"while {name} < {limit}:", f"    {name} += {step}"]
    with w.block():
        w.bind(name, INT, mutable=False)
        lines = _way_out(w) if w.chance(0.35) else []
        rows += [*indented(lines), *body(w, depth, loop=True)]
    if any("break" in line for line in lines) and w.chance(0.4):
        w.used.add("else of a while loop")
        rows += ["else:", *body(w, depth)]
    return rows


@statement_row("a while loop that only a break ends", 2)
def _while_true(w: Writer, depth: int) -> list[str] | None:
    if depth <= 0 or w.loops >= 3:
        return None
    name = w.fresh("k")
    rows = [f"{name} = int(0)", "while True:", f"    {name} += 1"]
    with w.block():
        w.bind(name, INT, mutable=False)
        rows += [f"    if {name} > {w.pick('2', '4')}{w.pick('', ' or ' + condition(w, 0))}:", "        break"]
        rows += body(w, depth, loop=True)
    return rows


@statement_row("a loop over a tuple", 2)
def _over_tuple(w: Writer, depth: int) -> list[str] | None:
    if depth <= 0 or w.loops >= 2:
        return None
    kind, name = scalar(any_type(w)), w.fresh("e")
    tuples = [n for n, text in w.constants.items() if text.startswith("tuple")]
    if tuples and w.chance(0.5):
        chosen = w.random.choice(tuples)
        floats = w.constants[chosen] == "tuple of floats"
        w.used.add("a loop over a captured tuple")
        rows = [f"for {name} in {chosen}:"]
        with w.block():
            w.bind(name, scalar("float32" if floats else "int32"), mutable=False, weak=True)
            return rows + body(w, depth)
    texts = [value(w, kind, 1) for _ in range(w.random.choice((2, 3)))]
    if w.chance(0.4):
        w.used.add("enumerate")
        counter = w.fresh("j")
        rows = [f"for {counter}, {name} in enumerate(({', '.join(texts)})):"]
    elif w.chance(0.3):
        w.used.add("zip")
        counter = w.fresh("e")
        rows = [f"for {counter}, {name} in zip(({', '.join(value(w, kind, 0) for _ in texts)}), ({', '.join(texts)})):"]
    else:
        counter, rows = "", [f"for {name} in ({', '.join(texts)}):"]
    with w.block():
        w.bind(name, kind, w.profile != "smooth", mutable=False)
        if counter.startswith("e"):
            w.bind(counter, kind, w.profile != "smooth", mutable=False)
        return rows + body(w, depth)


@statement_row("a loop over a vector", 1)
def _over_vector(w: Writer, depth: int) -> list[str] | None:
    fitting = [(n, local) for n, local in w.names.items() if local.kind.form == "vector"]
    if depth <= 0 or not fitting or w.loops >= 2:
        return None
    source, local = w.random.choice(fitting)
    name = w.fresh("e")
    with w.block():
        w.bind(name, scalar(local.kind.scalar), local.exact and w.profile != "smooth", mutable=False)
        return [f"for {name} in {source}:", *body(w, depth)]


@statement_row("a loop over a row of an array", 2)
def _over_row(w: Writer, depth: int) -> list[str] | None:
    if depth <= 0 or w.function or len(w.indices) > 1 or w.loops >= 2:
        return None
    kind, name = scalar(any_type(w)), w.fresh("e")
    array = w.array(kind, "in", 1)
    with w.block():
        w.bind(name, kind, mutable=False)
        at = "i" if isinstance(w.arrays[array].shape[0], str) else f"i % {w.arrays[array].shape[0]}"
        return [f"for {name} in {array}[{at}]:", *body(w, depth, loop=True)]


@statement_row("a view of a row", 3)
def _view(w: Writer, depth: int) -> list[str] | None:
    if w.function or len(w.indices) > 1:
        return None
    kind, view, name = scalar(any_type(w)), w.fresh("r"), w.fresh()
    array = w.array(kind, "in", w.random.choice((1, 2)))
    shape = w.arrays[array].shape
    at = "i" if isinstance(shape[0], str) else f"i % {shape[0]}"
    size = int(shape[-1])
    if len(shape) == 3:
        middle = w.random.randrange(int(shape[1]))
        rows = [
            w.pick(
                f"{view} = {array}[{at}, {middle}]",
                f"{view} = {array}[{at}][{middle}, :]",
                f"{view} = {array}[{at}, :, {w.random.randrange(size)}]",
            )
        ]
        size = int(shape[1]) if ":, " in rows[0] else size
    else:
        rows = [w.pick(f"{view} = {array}[{at}]", f"{view} = {array}[{at}, :]", f"{view} = {array}[{at}, ::-1]")]
    w.bind(name, kind)
    return [
        *rows,
        f"{name} = {view}[{w.random.randrange(size)}] {w.pick('+', '*')} {view}[{w.random.randrange(-size, 0)}]",
    ]


@statement_row("an early return", 4)
def _return(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    with w.block():
        before = statements(w, 1, 0) if w.chance(0.6) else []
    w.used.add("return in a loop" if w.loops else "return")
    return [f"if {condition(w)}:", *indented([*before, "return"])]


@statement_row("random numbers", 2, ("exact", "maths"))
def _random(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    state = w.fresh("state")
    rows = [f"{state} = wb.rand_init({w.pick('7', '42')}, {w.random.choice(w.indices)})"]
    draws = {
        "uint32": f"wb.randu({state})",
        "int32": f"wb.randi({state}, {w.pick('0, 10', '-5, 5')})",
        "float32": f"wb.randf({state})",
    }
    for _ in range(w.random.choice((1, 2, 3))):
        kind, name = w.pick(*draws), w.fresh()
        rows.append(f"{name} = {draws[kind]}")
        w.bind(name, scalar(kind))
    return rows


@statement_row("an assertion that holds", 1)
def _assert(w: Writer, depth: int) -> list[str] | None:
    return None if w.function else [f"assert {w.random.choice(w.indices)} >= 0{w.pick('', ', ' + repr('an index'))}"]


@statement_row("pass", 1)
def _pass(w: Writer, depth: int) -> list[str]:
    return ["pass"]


@statement_row("a search in a sorted row", 1, ("exact", "maths"))
def _search(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    name = w.fresh()
    w.arrays.setdefault("sorted_", _sorted(w))
    rows = [f"{name} = wb.lower_bound(sorted_, {value(w, 'float32', 1)})"]
    w.bind(name, INT)
    return rows


def _sorted(w: Writer):
    from tests.judge.generator.writer import ArrayParameter

    return ArrayParameter(scalar("float32"), (7,), "sorted")
