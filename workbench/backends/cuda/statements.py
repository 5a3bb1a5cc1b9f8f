"""Blocks of IR as C++ statements, `if`, `for` and `while`, and a thread's slots as local arrays.

A block's yield is a set of assignments made at once (a swap must stay one), put in an order in which none overwrites
what another still reads, with a temporary where they go in a circle.

A thread's slots are in registers where they are small. Registers have no address. An array whose indices are known
while compiling is in them anyway; of another, where the kernel's are small enough together, each access looks at all of
it, which is cheaper than local memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.backends.cuda.cpp import atomics
from workbench.backends.cuda.cpp.c_names import c_type, form_of, members
from workbench.backends.cuda.cpp.cuda_funcs import emit_native
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.expression import ATOM, CppExpr, Expressions
from workbench.backends.cuda.cpp.faults import emit_fault
from workbench.backends.cuda.cpp.pieces import Pieces
from workbench.backends.cuda.tiles.text import STATEMENTS as TOGETHER
from workbench.builtins import TABLE
from workbench.ir.ops import PARTS, PLAIN, UNROLL
from workbench.ir.values import Block, Function, Op, Value, number_of, slots_of, vector_of, walk
from workbench.types import Complex, Kind, Scalar, Vector, element, is_float
from workbench.types import bool as bool_

WORDS = 72
"""The most words of 32 bits that slots may take in registers at once: about those of a state of 16 bytes."""
SLOT_PIECES: Pieces = {
    ("slots",): """\
template <typename T, int N> WB_FN T wb_slot(const T (&slots)[N], int at) {
    T found = slots[0];
#pragma unroll
    for (int k = 1; k < N; ++k) found = k == at ? slots[k] : found;
    return found;
}
template <typename T, int N> WB_FN void wb_keep(T (&slots)[N], int at, T value) {
#pragma unroll
    for (int k = 0; k < N; ++k) slots[k] = k == at ? value : slots[k];
}
"""
}


def slots_in_registers(function: Function) -> frozenset[Value]:
    """Return the function's slots that are accessed as registers; those of inner loops are chosen first.

    A kernel of tiles has none: its indices into slots are literals anyway.
    """
    chosen: set[Value] = set()
    if not function.block_dim:
        _choose(function.body, chosen)
    return frozenset(chosen)


def _choose(block: Block, chosen: set[Value]) -> int:
    """Add the block's slots to `chosen` if they fit in registers next to those of nested blocks.

    Returns:
        The words that the chosen ones need at once.
    """
    words_of = {op.result: _words(op.result) for op in block.ops if op.name == "slots"}
    last = {v: n for n, op in enumerate(block.ops) for o in (op, *_nested(op)) for v in o.operands if v in words_of}
    inner = [max((_choose(b, chosen) for b in op.blocks), default=0) for op in block.ops]
    live, most = 0, 0
    for position, op in enumerate(block.ops):
        live += words_of[op.result] if op.name == "slots" else 0
        most = max(most, live + inner[position])
        live -= sum(words for v, words in words_of.items() if last.get(v) == position)
    if most > WORDS:
        return max(inner)
    chosen.update(words_of)
    return most


def _nested(op: Op) -> Iterator[Op]:
    """Return all operations inside an operation's blocks."""
    return (inner for block in op.blocks for inner in walk(block))


def _words(value: Value) -> int:
    """Return how many 32-bit registers slots take."""
    type = slots_of(value)
    parts = type.dtype.length if isinstance(type.dtype, Vector) else 1
    return type.count * parts * max(1, element(type).bits // 32)


def emit_slots(e: Emitter, op: Op) -> list[str]:
    """Emit the declaration of slots as a local array with a fresh name."""
    type = slots_of(op.result)
    name = e.names[op.result] = e.fresh(op.result.name or "slots")
    e.expressions.require_type(type.dtype)
    return [f"{c_type(type.dtype)} {name}[{type.count}];"]


def emit_slot_read(e: Emitter, op: Op) -> list[str]:
    """Emit a local with the slot's value, which later writes do not change; nothing if the value is not used."""
    if op.result not in e.inlining.uses:
        return []
    slots, index = op.operands
    name, at = e.names[slots], e.expressions.argument(index)
    if slots in e.registers:
        e.expressions.keys.add(("slots",))
        return [f"{e.declare(op.result)} = wb_slot({name}, int({at}));"]
    return [f"{e.declare(op.result)} = {name}[{at}];"]


def emit_slot_write(e: Emitter, op: Op) -> list[str]:
    """Emit an assignment to an element of slots."""
    slots, index, value = op.operands
    name, at, text = e.names[slots], e.expressions.argument(index), e.expressions.argument(value)
    if slots in e.registers:
        e.expressions.keys.add(("slots",))
        return [f"wb_keep({name}, int({at}), {text});"]
    return [f"{name}[{at}] = {text};"]


# The conversion of print() for a number, and the letters of printf() that take a length.
_PLAIN = {Kind.INT: "%lld", Kind.UINT: "%llu", Kind.FLOAT: "%g", Kind.BOOL: "%s"}
_CAST = {Kind.INT: "(long long)", Kind.UINT: "(unsigned long long)", Kind.FLOAT: "(double)"}


def emit_print(e: Emitter, op: Op) -> list[str]:
    """Emit one call of the device's printf, so that a thread's line stays in one piece."""
    expressions, form = e.expressions, ""
    arguments: list[str] = []
    operands = iter(op.operands)
    for part in op.attrs[PARTS]:
        if isinstance(part, str):
            form += part.replace("%", "%%")
            continue
        value = next(operands)
        expressions.require_type(value.type)
        scalar = element(value.type)
        if part[0]:
            letter = part[0][-1]
            form += part[0] if scalar.kind is Kind.FLOAT or letter == "c" else f"{part[0][:-1]}ll{letter}"
            text = _bracketed(expressions, value)
            arguments.append(f"(int){text}" if letter == "c" else _word(text, scalar))
        else:
            form += _shape(value.type, _PLAIN[scalar.kind])
            arguments += _components(expressions, value)
    return [f"printf({', '.join([_quoted(form), *arguments])});"]


def _quoted(text: str) -> str:
    """Return the text as a C string literal; what cannot be printed becomes octal escapes of its UTF-8 bytes."""
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}

    def one(c: str) -> str:
        return c if c.isprintable() else "".join(f"\\{byte:03o}" for byte in c.encode())

    return f'"{"".join(known.get(c, one(c)) for c in text)}"'


def _bracketed(expressions: Expressions, value: Value) -> str:
    """Return the C++ expression of a value in parentheses."""
    return f"({expressions.argument(value)})"


def _shape(type: object, one: str) -> str:
    """Return the printf format of a value whose numbers have the format `one`, with brackets round vectors and rows."""
    one = "(%g%+gj)" if isinstance(type, Complex) else one
    for size in reversed(type.shape if isinstance(type, Vector) else ()):
        one = f"[{', '.join([one] * size)}]"
    return one


def _components(expressions: Expressions, value: Value) -> Iterator[str]:
    """Yield the printf arguments of a value's components, in order; those of bools are "True" or "False"."""
    scalar = element(value.type)
    text = _bracketed(expressions, value)
    parts = [text] if isinstance(value.type, Scalar) else [f"{text}.{m}" for m in members(form_of(value.type))]  # type: ignore[arg-type]
    for part in parts:
        yield f'{part} ? "True" : "False"' if scalar.kind is Kind.BOOL else _word(part, scalar)


def _word(value: str, scalar: Scalar) -> str:
    """Return the value cast to the type that printf() reads; a half, which is a struct, is widened by a function."""
    return f"(double)wb_to_float32({value})" if scalar.is_half else f"{_CAST.get(scalar.kind, '(long long)')}{value}"


INDENT = "    "
SHORT = 32
"""The most operations that a `while` may have to be unrolled twice."""
# What C++ has compound assignment for.
_COMPOUND = frozenset({"add", "sub", "mul", "div"})


def emit_block(e: Emitter, block: Block) -> list[str]:
    """Emit the block's statements except its yield; names declared inside are free again after it."""
    with e.scope():
        return _rows(e, block)


def _rows(e: Emitter, block: Block) -> list[str]:
    """Emit the statements of a block except its yield, each after its `#line` directive if it needs one."""
    rows: list[str] = []
    for op in block.ops:
        if op.name in ("yield", "tid", "lane", "launch_dim") or any(v in e.inlining.inlined for v in op.results):
            continue
        directive = e.directive(op)
        statement = _STATEMENTS.get(op.name, _plain)(e, op)
        rows += ([directive] if directive and statement else []) + statement
    return rows


def _plain(e: Emitter, op: Op) -> list[str]:
    """Emit an operation with one result: a new local, or an assignment to a shared one; nothing if it is not used."""
    if op.result not in e.inlining.uses:
        return []
    text = e.expressions.op(op)
    declared = e.locals.of(op.result) in e.declared
    left = e.declare(op.result)
    if declared and op.name in _COMPOUND and _is_in_place(e, op, left):
        return [f"{left} {TABLE[op.name].operator}= {e.expressions.argument(op.operands[1])};"]
    return [f"{left} = {text.text};"]


def _update(e: Emitter, left: str, value: Value) -> str:
    """Return the rest of a C++ assignment that gives the existing local `left` this value: `= a + b`, or `+= b`."""
    op = e.inlining.definition[value] if value in e.inlining.inlined else None
    if op is not None and op.name in _COMPOUND and _is_in_place(e, op, left):
        return f"{TABLE[op.name].operator}= {e.expressions.argument(op.operands[1])}"
    return f"= {e.expressions.argument(value)}"


def _is_in_place(e: Emitter, op: Op, left: str) -> bool:
    """Return whether `a = a + b` may be written `a += b`.

    `a` has to be the local `left`, and the type a scalar of at least 32 bits whose sum does not have to wrap.
    """
    type = op.result.type
    if not isinstance(type, Scalar) or type.bits < 32:
        return False
    wraps = type.kind is Kind.INT and op not in e.expressions.plain
    return not wraps and e.expressions.of(op.operands[0]) == CppExpr(left, ATOM)


def _insert(e: Emitter, op: Op) -> list[str]:
    """Emit a vector with one component changed.

    It is changed in place if the index is constant and the new value does not read the result's local, unless that is
    the local of the old vector.
    """
    vector, index, value = op.operands
    constant = e.inlining.definition.get(index)
    if constant is None or constant.name != "const":
        return _plain(e, op)
    e.expressions.require_type(op.result.type)
    local = e.locals.of(op.result)
    if local in {e.locals.of(leaf) for leaf in e.inlining.leaves(value)} - {e.locals.of(vector)}:
        return _plain(e, op)
    part, text = e.expressions.argument(vector), e.expressions.argument(value)
    left = e.declare(op.result)
    name = e.name(op.result)
    rows = [] if part == name else [f"{left} = {part};"]
    member = members(form_of(vector_of(op.result)))[int(number_of(constant))]
    return [*rows, f"{name}.{member} = {text};"]


@dataclass(frozen=True)
class _Assignment:
    """An assignment among several that are made at once.

    Attributes:
        name: the local that it changes.
        statement: the text that changes it, which may be an update in place.
        text: the new value.
        type: the local's type in C++.
        reads: the locals that the new value is computed from.
    """

    name: str
    statement: str
    text: str
    type: str
    reads: set[str]


def _assign(e: Emitter, targets: Sequence[Value], values: Sequence[Value]) -> list[str]:
    """Emit assignments to several locals, made at once; new locals come first, since nothing reads them yet."""
    pending: list[_Assignment] = []
    fresh: list[str] = []
    for target, value in zip(targets, values, strict=True):
        text = e.expressions.argument(value)
        if e.locals.of(target) not in e.declared:
            if target in e.inlining.uses or _carried(e, target):
                fresh.append(f"{e.declare(target)} = {text};")
            continue
        reads = {e.name(leaf) for leaf in e.inlining.leaves(value)}
        if text != e.name(target):
            name = e.name(target)
            pending.append(_Assignment(name, f"{name} {_update(e, name, value)};", text, c_type(target.type), reads))
    return fresh + _ordered(e, pending)


def _carried(e: Emitter, target: Value) -> bool:
    """Return whether anything uses one of the values that share the target's local."""
    return any(m in e.inlining.uses for m in e.locals.members(target))


def _ordered(e: Emitter, pending: list[_Assignment]) -> list[str]:
    """Return the lines of assignments made at once, each after those that read the local that it changes.

    A circle of assignments is broken by a temporary. `pending` is emptied.
    """
    rows: list[str] = []
    while pending:
        free = next((p for p in pending if not any(p.name in other.reads for other in pending if other is not p)), None)
        if free is not None:
            pending.remove(free)
            rows.append(free.statement)
            continue
        # A circle: compute the first one's new value into a temporary, so that the others may still read the old one.
        first = pending[0]
        temporary = e.fresh("next")
        rows.append(f"{first.type} {temporary} = {first.text};")
        pending[0] = replace(first, statement=f"{first.name} = {temporary};", reads=set())
    return rows


def _if(e: Emitter, op: Op) -> list[str]:
    """Emit an `if`: a choice `c ? a : b` where that is enough, else a statement with the empty branch left out."""
    (condition,) = op.operands
    then, orelse = op.blocks
    choice = _choice(e, op)
    if choice:
        return choice
    rows: list[str] = []
    for result in op.results:
        if e.locals.of(result) not in e.declared and _carried(e, result):
            rows.append(f"{e.declare(result)};")
    test = e.expressions.of(condition)
    first, second = (_branch(e, op, block) for block in (then, orelse))
    if not first and not second:
        return rows
    if not first:
        return [*rows, f"if (!{test.within(ATOM)}) {{", *indented(second), "}"]
    rows += [f"if ({test.text}) {{", *indented(first)]
    if len(second) > 1 and second[0].startswith("if (") and _is_single_if(second):
        return [*rows, f"}} else {second[0]}", *second[1:]]
    return [*rows, *(["} else {", *indented(second)] if second else []), "}"]


def _branch(e: Emitter, op: Op, block: Block) -> list[str]:
    """Emit a block in a scope of its own, with the assignment of what it yields to the operation's results."""
    with e.scope():
        rows = _rows(e, block)
        rows += _assign(e, op.results, block.yielded)
    e.line = 0
    return rows


_EAGER = frozenset("add sub mul fma neg lt le gt ge eq ne const yield".split())


def _both(e: Emitter, op: Op) -> str:
    """Return `a & b` for `a and b` if b is a few operations on floats, since a branch costs more; else "".

    It is "" if b has integer arithmetic, which may be known not to overflow only if a is true.
    """
    then, orelse = op.blocks
    eager = all(
        inner.name in _EAGER
        and all(v.type == bool_ or is_float(v.type) or inner.name == "const" for v in inner.results)
        for inner in then.ops
    )
    last = e.inlining.definition.get(orelse.yielded[0])
    never = last is not None and last.name == "const" and last.result.type == bool_ and not number_of(last)
    if not eager or not never or len(then.ops) > 8:
        return ""
    a, b = (e.expressions.of(v).within(ATOM) for v in (op.operands[0], then.yielded[0]))
    return f"{a} & {b}" if len(orelse.ops) <= 2 else ""


def _choice(e: Emitter, op: Op) -> list[str]:
    """Emit an `if` as `T x = c ? a : b;`, if its branches are only expressions of one new value; else return []."""
    bare = all(
        inner.name == "yield" or any(v in e.inlining.inlined for v in inner.results)
        for block in op.blocks
        for inner in block.ops
    )
    if len(op.results) != 1 or not bare or e.locals.of(op.results[0]) in e.declared:
        return []
    result = op.results[0]
    if result not in e.inlining.uses:
        return []
    both = _both(e, op)
    if both:
        return [f"{e.declare(result)} = {both};"]
    parts = [e.expressions.of(v).within(4) for v in (op.operands[0], *(b.yielded[0] for b in op.blocks))]
    return [f"{e.declare(result)} = {parts[0]} ? {parts[1]} : {parts[2]};"]


def _for(e: Emitter, op: Op) -> list[str]:
    """Emit a `for`, after the assignment of what it carries in, with the pragma for its unrolling."""
    start, _, _, *init = op.operands
    (body,) = op.blocks
    rows = _assign(e, op.results, init)
    index = body.params[0]
    with e.scope():
        name = e.names[index] = e.fresh(index.name or "k")
        first = e.expressions.argument(start)
        head = f"{c_type(index.type)} {name} = {first}; {_loop_header(e, name, op)}"
        inner = _branch(e, op, body)
    unroll = op.attrs.get(UNROLL)
    pragma = [] if unroll is None else ["#pragma unroll" if unroll else "#pragma unroll 1"]
    return [*rows, *pragma, f"for ({head}) {{", *indented(inner), "}"]


def _loop_header(e: Emitter, name: str, op: Op) -> str:
    """Return the test and the step of a `for`, as C++.

    A step of 1 or -1 cannot overflow; any other one goes by a function that stops at the end exactly.
    """
    stop, step = op.operands[1:3]
    end = e.expressions.of(stop)
    known = e.inlining.definition.get(step)
    size = int(number_of(known)) if known is not None and known.name == "const" else 0
    if op.attrs.get(PLAIN):  # nothing here comes near the end of the type
        return f"{name} < {end.within(12)}; {name} += {size}"
    if size in (1, -1):
        return f"{name} {'<' if size > 0 else '>'} {end.within(12)}; {'++' if size > 0 else '--'}{name}"
    e.expressions.keys.add(("range",))
    stride = e.expressions.argument(step)
    test = f"wb_more({name}, {end.text}, {stride})"
    if size:
        test = f"{name} {'<' if size > 0 else '>'} {end.within(12)}"
    return f"{test}; {name} = wb_next({name}, {end.text}, {stride})"


def _while(e: Emitter, op: Op) -> list[str]:
    """Emit a `while`, as `while (true)` with a break if the condition needs statements."""
    condition, body = op.blocks
    rows = _assign(e, op.results, op.operands)
    with e.scope():
        before = _rows(e, condition)
        test = e.expressions.of(condition.yielded[0])
        inner = _branch(e, op, body)
    # NVRTC unrolls a `for` by itself. Two turns of a short `while` save what moves its carried values round.
    short = sum(len(b.ops) for b in op.blocks) <= SHORT and all(not inner.blocks for inner in body.ops)
    twice = ["#pragma unroll 2"] if short else []
    if not before:
        return [*rows, *twice, f"while ({test.text}) {{", *indented(inner), "}"]
    leave = [*before, f"if (!{test.within(ATOM)}) break;"]
    return [*rows, *twice, "while (true) {", *indented([*leave, *inner]), "}"]


def indented(rows: Sequence[str]) -> list[str]:
    """Return the rows of a block, indented; directives stay at the margin."""
    return [row if row.startswith("#") else INDENT + row for row in rows]


def _is_single_if(rows: Sequence[str]) -> bool:
    """Return whether the rows are one `if` statement."""
    return sum(not row.startswith((INDENT, "}", "#")) for row in rows) == 1 and rows[-1].startswith("}")


_STATEMENTS: dict[str, Callable[[Emitter, Op], list[str]]] = {
    "if": _if,
    "for": _for,
    "while": _while,
    "store": lambda e, op: [f"{atomics.lvalue_of(e, op)} = {e.expressions.argument(op.operands[-1])};"],
    "atomic_add": atomics.emit_change,
    "atomic": atomics.emit_change,
    "atomic_load": atomics.emit_load,
    "atomic_swap": atomics.emit_swap,
    "reduce_add": atomics.emit_change,
    "combine": atomics.emit_combine,
    "fault": emit_fault,
    "native": emit_native,
    "print": emit_print,
    "insert": _insert,
    "slots": emit_slots,
    "slot_read": emit_slot_read,
    "slot_write": emit_slot_write,
    **TOGETHER,
}
