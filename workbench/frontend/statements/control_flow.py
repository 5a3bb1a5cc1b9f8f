"""Statements, and lists of them: one function lowers each kind, and what may leave a list becomes structured branches.

A list of statements is lowered to its end. If an `if` in it may leave the list (`return`; in a loop also `break` and
`continue`) and only one side reaches what follows, that side goes on with it. If both may, what follows is lowered
once, behind a flag: whether nothing has left yet. So IR, autodiff and backends know structured `if`, `for` and `while`
only.

A statement with an error is reported and skipped, with the names it would have bound poisoned, so that one cell's
errors all come at once and none comes twice.

For stepping, marks in the IR of a lowering that is never compiled show every name's value at each statement. A mark's
operands are the values of all names in all open functions; the rest (numbers that have no type yet, functions, parts of
arrays) is known at compile time and stands in its attribute. Names with a dot are ours and left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.errors import WorkbenchError
from workbench.frontend.expressions import calls, lvalues, sequences
from workbench.frontend.expressions.expression_table import expression
from workbench.frontend.names import python_names
from workbench.frontend.names.annotate import convert_result, parameter_type
from workbench.frontend.names.python_names import REFUSED
from workbench.frontend.state import operands, paths
from workbench.frontend.state.coerce import describe, joined_if, truth, usable
from workbench.frontend.state.context import Context, Env, Syntax
from workbench.frontend.state.paths import Branches, Idle, LoopNode, Next, Skip
from workbench.frontend.statements import iterate, loops
from workbench.frontend.tiles import elementwise, slicing
from workbench.frontend.values import structs, views
from workbench.frontend.values.structs import gather
from workbench.ir.ops import END, FRAMES, MESSAGE
from workbench.ir.values import Block, Value
from workbench.source import Location, located
from workbench.structs import AnyType, Struct
from workbench.types import ArrayType, Type
from workbench.types import bool as bool_


class Shown(msgspec.Struct, frozen=True):
    """A name's value as text or number, where it is known at compile time."""

    value: object


# How to find a name's value: among the mark's operands, a value known now, or a tuple of those.
Place = int | Shown | tuple["Place", ...]


class Frame(msgspec.Struct, frozen=True):
    """An open function: its location and its names.

    Attributes:
        function: its name.
        place: the location of what runs in it now.
        names: for each local name how its value is found.
    """

    function: str
    place: Location
    names: Mapping[str, Place]


def mark(context: Context, statement: ast.stmt | None) -> None:
    """Emit a mark with the values of all names before a statement, or at the kernel's end (None), if requested."""
    if not context.shared.trace or context.definition.library or (statement is not None and _is_flag(statement)):
        return
    values: list[Value] = []
    frames: list[Frame] = []
    current: Context | None = context
    node: ast.AST | None = statement
    while current is not None:
        shown = [n for n in current.env if not _is_hidden(n, current.env)]
        named = {n: _shown_operand(_recomposed(current.env, n), values) for n in shown}
        location = current.definition.locate(node or current.definition.node)
        location = location if node is not None else replace(location, line=location.end_line, column=0)
        known = {n: p for n, p in named.items() if p is not None}
        frames.append(Frame(current.definition.name, location, known))
        current, node = current.caller, current.caller.node if current.caller is not None else None
    frames.reverse()
    attrs: dict[str, object] = {FRAMES: tuple(frames), END: statement is None}
    context.builder.emit("mark", values, [v.type for v in values], attrs)


def _is_hidden(name: str, env: Env) -> bool:
    """Return whether a name is one of our own, which have a dot; a struct's fields have one too, and are shown."""
    root = env.get(name.split(".")[0])
    return "." in name and not (isinstance(root, operands.Parts) and isinstance(root.type, Struct))


def _recomposed(env: Env, name: str) -> operands.Operand:
    """Return what a name means, a tuple or a part of an array as one."""
    operand = env[name]
    return (
        gather(env, name) if isinstance(operand, operands.Parts) and not isinstance(operand.type, Struct) else operand
    )


def _is_flag(statement: ast.stmt) -> bool:
    """Return whether a statement only assigns names of ours, such as a flag that stands for a `break`."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return bool(targets) and all(isinstance(t, ast.Name) and "." in t.id for t in targets)


def _shown_operand(operand: operands.Operand, values: list[Value]) -> Place | None:
    """Return what a trace shows of a name's operand; None if it is nothing to show.

    Args:
        operand: the operand.
        values: the operands of the `mark` so far; IR values are appended.

    Returns:
        The position of an IR value in `values`, a `Shown` text or number, or a tuple of these for a tuple.
    """
    if isinstance(operand, Value):
        values.append(operand)
        return len(values) - 1
    if isinstance(operand, operands.Literal):
        return Shown(operand.value)
    if isinstance(operand, tuple):
        parts = [_shown_operand(o, values) for o in operand]
        return tuple(p if p is not None else Shown("?") for p in parts)
    if isinstance(operand, operands.Static):
        return Shown(operand.value if isinstance(operand.value, bool) else operand.path)
    if isinstance(operand, operands.Elements):
        return Shown("an array of structs")
    return Shown(f"a part of {operand.array.name}") if isinstance(operand, operands.View) else None


def _assign(context: Context, node: ast.Assign) -> None:
    """Lower `a = b = value`, also `i, j = tid()`, which takes as many indices as there are names."""
    count = len(node.targets[0].elts) if isinstance(node.targets[0], ast.Tuple) else 1
    result = _thread_indices(context, node.value, count) if count > 1 else None
    own = node.targets[0].id if isinstance(node.targets[0], ast.Name) and not node.targets[1:] else ""
    if own and sequences.is_display(node.value):
        with context.at(node.value):
            result = sequences.list_of(context, own, node.value)
    if result is None:
        result = expression(context, node.value)
    if result == () and isinstance(node.value, ast.Call) and not isinstance(node.targets[0], ast.Name):
        with context.at(node.value):  # not at the target, which takes numbers
            usable(context, result)
    for target in node.targets:
        lvalues.assign(context, target, result)


def _thread_indices(context: Context, node: ast.expr, count: int) -> operands.Operand | None:
    """Lower the value of `i, j = tid()` to `count` indices; None of any other value."""
    if not isinstance(node, ast.Call) or node.args:
        return None
    callee = expression(context, node.func)
    if isinstance(callee, operands.Static) and python_names.callee_name(callee.value) == "tid":
        with context.at(node):
            return calls.thread_index(context, node, count)
    return None


def _annotated(context: Context, node: ast.AnnAssign) -> None:
    """Lower `name: type = value`, with the value converted to that type; without a value nothing is emitted.

    Raises:
        KernelSyntaxError: the target is no name.
        KernelTypeError: the annotation is no type, or the value does not fit it.
    """
    if not isinstance(node.target, ast.Name):
        raise context.syntax_error("Only a name takes an annotation in a kernel.")
    if node.value is None:
        return  # to Python it says no more than that the name is the function's own
    wanted = _annotation(context, node.annotation)
    result = expression(context, node.value)
    if wanted is not None:
        result = structs.fitted(context, result, wanted, node.target.id)
    lvalues.assign(context, node.target, result)


def _annotation(context: Context, node: ast.expr) -> AnyType | None:
    """Return the type that a local annotation stands for; None if it is generic.

    Raises:
        KernelTypeError: it is no type.
    """
    operand = expression(context, node)
    if not isinstance(operand, operands.Static):
        raise context.type_error(f"{ast.unparse(node)} is not a type.")
    return parameter_type(operand.value, ast.unparse(node), context.builder.location, context.definition.name)


def _expression(context: Context, node: ast.Expr) -> None:
    """Lower a statement that is an expression, such as a call; a docstring emits nothing.

    Raises:
        KernelSyntaxError: it computes a value, and is no call.
    """
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return
    result = expression(context, node.value)
    if not isinstance(node.value, ast.Call) and isinstance(result, (Value, operands.Static)):
        equal = isinstance(node.value, ast.Compare) and isinstance(node.value.ops[0], ast.Eq)
        advice = "Write = to assign: == compares." if equal else "Assign it to a name."
        raise context.syntax_error("This line computes a value and discards it.", advice)


def _pass(context: Context, node: ast.Pass) -> None:
    """Lower `pass`, which emits nothing."""
    return


def _assert(context: Context, node: ast.Assert) -> None:
    """Emit the assertion, which only code with checks tests; nothing for one that always holds."""
    message = node.msg
    if message is not None and not (isinstance(message, ast.Constant) and isinstance(message.value, str)):
        with context.at(message):
            message = "The message of an assert is a plain string."
            raise context.syntax_error(message, "Leave values out: a KernelFault shows what was compared.")
    if isinstance(node.test, ast.Tuple):
        raise context.syntax_error(
            "This assert tests a tuple, which always holds.", 'Write assert condition, "message".'
        )
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        if condition:
            return
        condition = context.builder.const(False, bool_)
    text = message.value if isinstance(message, ast.Constant) else ""
    with context.at(node.test):
        context.builder.emit("assert", (condition,), (), {MESSAGE: text})


RESULT = "The returned value"
FALLS_THROUGH = "no return yet"
Statements = Sequence[ast.stmt]


class BodyResult(msgspec.Struct, frozen=True):
    """The end of statements: reached, returned, or left.

    Attributes:
        value: what they return; pending where no `return` was reached, and in a loop, where names hold that.
        goes_on: whether what follows them is reached: known now, or a bool that the run computes.
        env: the names at their end; None: those before.
    """

    value: operands.Operand | None
    goes_on: bool | Value = False
    env: Env | None = None


MORE = BodyResult(operands.PENDING, True)
"""Statements that others follow."""
LAST = BodyResult(operands.PENDING)
"""Statements behind whose end nothing asks whether it was reached, as in the body of a loop."""
FUNCTION = BodyResult(None)
"""Statements whose end is the function's."""


def body(context: Context, statements: Statements) -> operands.Operand | None:
    """Lower a function's statements to the end or to a `return`; what comes after a `return` is unreachable."""
    return _run(context, statements, FUNCTION).value


def _loop_body(context: Context, statements: Statements) -> None:
    """Lower a loop's body; its end is that of an iteration, at which the function returns nothing."""
    _run(context, statements, LAST)


def _run(context: Context, statements: Statements, end: BodyResult) -> BodyResult:
    """Lower statements, in groups, and return how they end: `end`, where a path comes to the end of all."""
    groups = paths.in_groups(statements)
    ended = MORE
    for number, group in enumerate(groups, 1):
        last = end if number == len(groups) else MORE
        if ended.goes_on is True:
            ended = _group(context, group, last)
        elif ended.goes_on is not False:
            ended = _rest(context, ended, group, last)
    return ended


def _group(context: Context, statements: Statements, end: BodyResult) -> BodyResult:
    """Lower a group of statements, of which so few leave that branches may nest; return how they end.

    Where a path comes to the end of all, that is `end`.
    """
    for position, node in enumerate(statements):
        if type(node) in paths.PLAIN:
            guarded(context, [node], statement)
        elif isinstance(node, LoopNode):
            following = _loop(context, node)
            if following:
                return _run(context, [*following, *statements[position + 1 :]], end)
        elif isinstance(node, ast.If) and paths.leaves(node):
            rest = statements[position + 1 :]
            ended = guarded(context, [node, *rest], lambda context, node, r=rest: _branch(context, node, r, end))
            return ended or (LAST if context.loops or not paths.returns_inside(node) else BodyResult(operands.POISON))
        elif not context.loops and isinstance(node, (ast.Break, ast.Continue)):
            guarded(context, [node], _refuse_outside)
        elif paths.leaves(node):
            return _way_out(context, node)
        else:
            guarded(context, [node], statement)
    if end is FUNCTION and context.caller is None:
        mark(context, None)
    return end


def guarded(context: Context, statements: Statements, lower: Callable[[Context, Any], Any]) -> Any:
    """Lower statements by `lower`, and return what that returns.

    Of an error, None is returned: it is noted, and the names that the statements bind are poisoned, so that their uses
    report nothing.

    Args:
        context: where.
        statements: the statement whose location it has, and those that are lowered with it.
        lower: lowers them; called with the context and the first statement.
    """
    before = context.go(statements[0])
    try:
        if context.shared.trace:
            mark(context, statements[0])
        return lower(context, statements[0])
    except operands.AlreadyReported:
        pass
    except WorkbenchError as error:
        context.shared.errors.append(context.placed(error))
    finally:
        context.back(before)
    for name in paths.assigned(statements):
        bound = context.env.get(name)
        if bound is None or not (
            views.is_array(bound) or isinstance(bound, operands.Elements)
        ):  # x[i] = … does not bind x
            context.env[name] = operands.POISON
    return None


def statement(context: Context, node: ast.stmt) -> None:
    """Lower one statement that leaves nothing.

    Raises:
        WorkbenchError, AlreadyReported: what is wrong with it.
    """
    lower = LOWER.get(type(node))
    if lower is None:
        message, advice = REFUSED.get(type(node), (f"{type(node).__name__} is not in the kernel language.", ""))
        raise context.syntax_error(message, advice)
    if context.shared.tiling is None:
        lower(context, node)
        return
    for part in (parts := elementwise.split(context, node)):
        statement(context, part)
    if parts:
        return
    node, names_ = elementwise.hoisted(context, node)
    if elementwise.wants_lifting(context, node):
        elementwise.statement(context, node, lower)
    else:
        lower(context, node)
    for name in names_:
        del context.env[name]


def _refuse_outside(context: Context, node: ast.Break | ast.Continue) -> None:
    """Raise the KernelSyntaxError for a `break` or `continue` that is in no loop."""
    word = type(node).__name__.lower()
    raise context.syntax_error(f"This {word} is in no loop.", "To leave the function, write return.")


def _way_out(context: Context, node: ast.stmt) -> BodyResult:
    """Lower a statement that leaves those around it, such as `return` or `break`; return how it ends."""
    if isinstance(node, ast.Return):
        value = _returned(context, node)
        if not context.loops:
            return BodyResult(value)
        _store_returned(context, node, value)
    if isinstance(node, (ast.Return, ast.Break)):
        out_of = "function" if isinstance(node, ast.Return) or getattr(node, "returns", False) else "loop"
        context.loops[-1].leaving(context.env, out_of)
        _set_flag(context, context.loops[-1].exit_flag or "", True, node)
    elif isinstance(node, ast.Continue):
        context.loops[-1].leaving(context.env, "iteration")
    return MORE if isinstance(node, Next) else LAST


def _set_flag(context: Context, name: str, value: bool, origin: ast.AST) -> None:
    """Bind the local name of a flag to a bool constant, located at `origin`."""
    with context.at(origin):
        context.env[name] = context.builder.const(value, bool_)


def _store_returned(context: Context, node: ast.Return, value: operands.Operand | None) -> None:
    """Store the values of a `return` in a loop under the names of the function's values, and set their flag."""
    if paths.shape_of(node) != context.returning:
        with context.at(node):
            message = "This return inside a loop returns a different number of values than the one before."
            advice = "Return the same number of values everywhere, written out."
            context.shared.errors.append(context.syntax_error(message, advice))
    elif isinstance(value, operands.Poison):
        context.env.update((name, value) for name in context.results)
    elif value is not None:
        lvalues.assign(context, located(_values(context, ast.Store()), node), value)
    _set_flag(context, paths.RETURNED, True, node)


def _values(context: Context, use: ast.expr_context) -> Any:
    """Return the expression of the names of the function's values; None if it returns nothing."""
    names: list[ast.expr] = [ast.Name(n, use) for n in context.results]
    return (names[0] if names else None) if context.returning < 1 else ast.Tuple(names, use)


def _loop(context: Context, node: LoopNode) -> list[ast.stmt]:
    """Lower a loop, and return the statements that follow: its `else`, and the `return` of what it has returned."""
    flag = paths.exit_flag(node)
    if paths.returns(node) and not context.loops:
        context.returning = paths.shape(node)
        _set_flag(context, paths.RETURNED, False, node)
        context.env.update(dict.fromkeys(context.results, operands.PENDING))
    if flag is not None:
        _set_flag(context, flag, False, node)
    guarded(context, [node], lambda context, node: statement(context, paths.bare(node) if node.orelse else node))
    if not paths.returns(node):
        return paths.after(node, [])
    exit_: Any = ast.Break() if context.loops else ast.Return(_values(context, ast.Load()))
    exit_.returns = True
    return paths.after(node, [located(exit_, node)])


def _branch(context: Context, node: ast.If, rest: Statements, end: BodyResult) -> BodyResult:
    """Lower an `if` and the statements `rest` that follow it; return how all of them end."""
    if context.loops and paths.leaves(node) and elementwise.wants_lifting(context, node.test):
        return _per_thread(context, [node, *rest], end)
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        return _run(context, [*(node.body if condition else node.orelse), *rest], end)
    if not rest or paths.all_end(node.body) or paths.all_end(node.orelse):
        return _parted(context, condition, ([*node.body, *rest], [*node.orelse, *rest]), node.test, end)
    ended = _parted(context, condition, (node.body, node.orelse), node.test, MORE)
    if isinstance(ended.goes_on, bool):
        return _run(context, rest, end) if ended.goes_on else ended
    return _rest(context, ended, rest, end)


def _rest(context: Context, ended: BodyResult, rest: Statements, end: BodyResult) -> BodyResult:
    """Lower statements behind the flag that says whether those before them were left; return how all of them end.

    `ended` is the end of those before, whose `goes_on` is the flag.
    """
    assert isinstance(ended.goes_on, Value)
    test = "the loop was not left" if context.loops else "no return was reached"
    return _parted(context, ended.goes_on, (rest, BodyResult(ended.value)), test, end, (False, True))


def _chain(context: Context, links: Statements) -> None:
    """Lower a long chain of `elif`, as a list, in groups: one does not nest in that before, but stands behind a flag.

    Each group begins with the names before the chain. Where none of its links is taken, these are left to the next one.
    """
    start, names, ended = dict(context.env), paths.assigned(links), MORE
    groups = paths.in_groups(links)
    for number, group in enumerate(groups, 1):
        taken = BodyResult(operands.PENDING, env=dict(context.env))
        context.env.clear()
        context.env.update(start)
        group, end = ([*group, Next()], MORE) if number < len(groups) else (group, LAST)
        if isinstance(ended.goes_on, Value):
            test = "none of the conditions before holds"
            ended = _parted(context, ended.goes_on, (group, taken), test, end, (False, False), names)
        else:
            ended = _run(context, group, end)
        if ended.goes_on is False:
            return


def _per_thread(context: Context, statements: Statements, end: BodyResult) -> BodyResult:
    """Lower an `if` of which threads of a block take different sides, with what follows it, in one map over threads.

    Raises:
        KernelTypeError: they would leave the loop, or what follows works on tiles.
    """
    node: Any = ast.copy_location(ast.Module(list(statements), []), statements[0])
    if end is MORE or paths.breaks(statements) or not elementwise.wants_lifting(context, node):
        raise paths.at_different_times(context)
    elementwise.statement(context, node, lambda context, node: _loop_body(context, node.body))
    return end


def _parted(
    context: Context,
    condition: Value,
    sides: tuple[Statements | BodyResult, ...],
    test: ast.expr | str,
    end: BodyResult,
    left: tuple[bool, bool] | None = None,
    names: Sequence[str] = (),
) -> BodyResult:
    """Lower both sides of an `if`, a `BodyResult` having nothing to do; merge them, and return how they end.

    Args:
        context: where; its names become those behind the `if`.
        condition: of the `if`.
        sides: the statements where it holds, and where it does not.
        test: the condition as messages show it.
        end: what it means to come to the end of the statements.
        left: the sides that leave; None: those that their statements show.
        names: those that the sides may bind; empty: those that their statements do.
    """
    before = context.env
    ended: list[BodyResult] = []
    envs: list[Env] = []
    blocks: list[Block] = []
    flag = paths.denied(test)
    statements = [s for side in sides if not isinstance(side, BodyResult) for s in side]
    leaving = left is not None or any(map(paths.leaves, statements))
    constants = {b: context.builder.const(b, bool_) for b in (False, True)} if leaving and end is MORE else {}
    for number, side in enumerate(sides):
        context.env = dict(before)
        if flag and number == 1:
            context.env.update(
                (n, o.value) for n, o in before.items() if isinstance(o, operands.Unset) and o.bound_if == flag
            )
        with context.builder.block() as opened:
            ended.append(side if isinstance(side, BodyResult) else _run(context, side, end))
        returned = ended[-1].goes_on is False and ended[-1].value is not operands.PENDING
        envs.append({} if returned else ended[-1].env or context.env)
        blocks.append(opened.block)
    context.env = before
    branches = Branches()
    if any(envs):
        names = [*(names or paths.assigned(statements)), *(_flags(context) if leaving else [])]
        touched = structs.with_fields([n for n in names if n in envs[0] or n in envs[1]], *envs)
        gone = [not e or _all_leave(side) for e, side in zip(envs, sides, strict=True)]
        if isinstance(sides[1], list) and any(isinstance(s, Idle) for s in sides[1]):
            left = False, True
        branches = paths.branch_values(context, touched, envs, test, left or (gone[0], gone[1]))
    goes_on = [e.goes_on for e in ended]
    known = goes_on[0] if goes_on[0] is goes_on[1] else None
    if known is None:
        a, b = (constants[g] if isinstance(g, bool) else g for g in goes_on)
        branches.to_join[FALLS_THROUGH] = a, b
    form, leaves_ = _merged(context, ended[0].value, ended[1].value, branches)
    _join(context, condition, blocks, branches)
    reached = known if known is not None else branches.after.pop(FALLS_THROUGH)
    parts = [branches.after.pop(leaf) if isinstance(leaf, str) else leaf for leaf in leaves_]
    context.env.update(branches.after)
    assert isinstance(reached, (bool, Value))
    return BodyResult(structs.rebuilt(form, parts) if form and form is not operands.PENDING else form, reached)


def _flags(context: Context) -> list[str]:
    """Return the names that ways out of the innermost loop set."""
    return [context.loops[-1].exit_flag or "", paths.RETURNED, *context.results] if context.loops else []


def _all_leave(side: Statements | BodyResult) -> bool:
    """Return whether a side leaves the statements around it; the end of a link does not."""
    last = next((s for s in side if paths.ends(s)), None) if not isinstance(side, BodyResult) else None
    return last is not None and not isinstance(last, Skip)


def _join(context: Context, condition: Value, blocks: Sequence[Block], branches: Branches) -> None:
    """Emit the `if` whose blocks yield what has to be joined, and put the results into `branches.after`."""
    types: dict[str, Type] = {}
    for name, pair in branches.to_join.items():
        try:
            type = paths.joined_type(context, name, *pair)
            assert type is not None and not isinstance(type, ArrayType)
            types[name] = type
        except WorkbenchError as error:
            branches.after[name] = operands.PENDING if name in branches.unset else operands.POISON
            if paths.is_part(name):  # of a tuple that may be another one before it is read
                branches.after[name] = operands.Unset(error.message)
            elif name not in branches.unset:  # else it is not read
                context.shared.errors.append(error)
    labels = ["" if " " in n else n for n in types]
    pairs = [branches.to_join[n] for n in types]
    results = joined_if(context, condition, blocks, pairs, list(types.values()), labels)
    for name, result in zip(types, results, strict=True):
        branches.after[name] = result
        for operand in branches.to_join[name]:
            slicing.follow(context, operand, result)
    for name, reason in branches.unset.items():
        value = branches.after[name]
        branches.after[name] = value if isinstance(value, operands.Unset) else operands.Unset(reason, value)


def _if(context: Context, node: ast.If) -> None:
    """Lower an `if`; a chain of more than `NESTED_EXITS` `elif`s is lowered link by link, without nesting."""
    links = paths.as_list(node)
    if links:
        _chain(context, links)
    else:
        _branch(context, node, (), MORE)


LOWER: dict[type[ast.stmt], Callable[[Context, Any], None]] = {
    ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: lvalues.augment, ast.Expr: _expression,
    ast.Pass: _pass, ast.Assert: _assert, ast.If: _if, ast.For: iterate.for_loop, ast.While: loops.while_loop,
}  # fmt: skip


def _returned(context: Context, node: ast.Return) -> operands.Operand | None:
    """Lower the value of a `return`, in the func's annotated type; None without a value, `POISON` after an error."""
    with context.at(node):
        mark(context, node)
    if node.value is None:
        return None
    try:
        with context.at(node):
            return convert_result(context, expression(context, node.value))
    except operands.AlreadyReported:
        return operands.POISON
    except WorkbenchError as error:
        context.shared.errors.append(context.placed(error))
        return operands.POISON


def _merged(
    context: Context, a: operands.Operand | None, b: operands.Operand | None, branches: Branches
) -> tuple[operands.Operand | None, list[operands.Operand | str]]:
    """Merge the results of two paths leaf by leaf: return one side's form, and for each leaf itself or its merged name.

    Raises:
        KernelTypeError: they return different numbers of values, different structs, or arrays.
    """
    if a is b is operands.PENDING:
        return operands.PENDING, [operands.PENDING]
    flat = [[] if side is None else structs.flatten(side) for side in (a, b)]
    if any(isinstance(o, operands.Poison) for side in flat for o in side):
        return operands.POISON, [operands.POISON]
    if isinstance(a, operands.Pending) or isinstance(b, operands.Pending):
        form, width = (b, len(flat[1])) if isinstance(a, operands.Pending) else (a, len(flat[0]))
        flat = [[o] * width if isinstance(o, operands.Pending) else side for o, side in zip((a, b), flat, strict=True)]
    elif not (context.inside or context.of_expression) and any(flat):  # a kernel: that it returns anything is the error
        return (a, [*flat[0]]) if flat[0] else (b, [*flat[1]])
    else:
        form = _alike(context, a, b)
    parts: list[operands.Operand | str] = []
    for number, (left, right) in enumerate(zip(*flat, strict=True)):
        known = left if isinstance(right, operands.Pending) else right
        apart = not paths.is_same(left, right)
        if not apart or ((left is operands.PENDING or right is operands.PENDING) and paths.stays(known)):
            parts.append(known)
            continue
        if any(views.is_array(o) or isinstance(o, operands.Elements) for o in (left, right)):
            message = f"{context.definition.name} returns an array on a path that depends on a condition."
            raise context.type_error(message, "Return its elements, or let the caller choose between them.")
        name = f"{RESULT} {number}"
        branches.to_join[name] = _known(context, left), _known(context, right)
        parts.append(name)
    return form, parts


def _alike(context: Context, a: operands.Operand | None, b: operands.Operand | None) -> operands.Operand | None:
    """Return the form of what two paths return: one side, which stands for both.

    Raises:
        KernelTypeError: they return different numbers of values, or values of two forms.
    """
    shapes = [len(side) if isinstance(side, tuple) else int(side is not None) for side in (a, b)]
    name = context.definition.name
    if shapes[0] != shapes[1]:
        c, d = (f"{n} value{'s' * (n != 1)}" if n else "nothing" for n in shapes)
        message = f"{name} returns {c} on one path and {d} on another."
        raise context.type_error(message, "End each path with a return of the same number of values.")
    if a is not None and b is not None and structs.form(a) != structs.form(b):
        shown_ = [", ".join(map(describe, side if isinstance(side, tuple) else (side,))) for side in (a, b)]
        raise context.type_error(f"{name} returns {shown_[0]} on one path and {shown_[1]} on the other.")
    return a


def _known(context: Context, operand: operands.Operand) -> operands.Operand:
    """Return an operand as a literal or IR value; a pending one stays pending."""
    return operand if isinstance(operand, operands.Pending) else usable(context, operand)


SYNTAX = Syntax(expression, body, _loop_body)
