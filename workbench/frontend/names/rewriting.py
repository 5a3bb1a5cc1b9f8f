"""Statements written out as others before they are lowered: `match`, queries of trees, references, rebound names.

**`match`** takes cases of numbers, of tuples of known length, names and guards:

    match n:                    match.1 = n
        case 0 | 1: …           if match.1 == 0 or match.1 == 1: …
        case m if m > 9: …      else: m = match.1; if m > 9: …
        case _: …                     else: …

**Queries**: `for i in bvh_query_aabb(…)` and `while bvh_query_next(query, i)` become a `while` that visits a node in
each round, and does the loop's body where an item is found:

    while query.at < len(query.nodes):
        query.at, query.within, found = bvh_query_next(query, limit)
        if found >= 0:
            i = found
            …

So queries need no stack, differentiate like any loop, and can be left and resumed.

**References**: parameters that a func changes for its caller, `def bump(x: ref[float])`, called as `bump(y[i])`, are
values that go in and come back: such a func returns its references behind its results, and a statement that calls it
assigns them where its arguments came from.

    d = bump(y[i])                  d, y[i] = bump(y[i])

So no later stage knows of references, and gradients are those of the assignments.

**Rebound names**: `randf(state)` rebinds its state, `tile_matmul(a, b, acc)` the tile acc, `n := …` a name. `mark`
finds them and marks the name as one that is assigned there, so that branches and loops carry it; and it notes where a
draw may or may not happen within one expression, which is refused. A statement `svd3(A, U, s, V)`, with names for the
results after the arguments, is read as `U, s, V = svd3(A)`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce

import msgspec

from workbench.builtins.declaration.declare import Form
from workbench.errors import KernelSyntaxError
from workbench.frontend.names.annotate import references
from workbench.frontend.names.python_names import callee
from workbench.frontend.state.definition import Definition, dotted
from workbench.host.narrow import is_list
from workbench.source import blocks_of, located, nodes_of, statements_of, template

BEGIN = (
    *(f"bvh_query_{shape}" for shape in ("aabb", "ray", "sphere", "capsule")),
    *(f"mesh_query_{shape}" for shape in ("aabb", "sphere")),
)
"""Names of the functions that begin a query; the next ones advance it."""
NEXT, MESH_NEXT = "bvh_query_next", "mesh_query_next"
_QUERY = """
while QUERY.at < len(QUERY.nodes):
    QUERY.at, QUERY.within, FOUND = _
    if FOUND >= 0:
        _ = FOUND
"""


def expanded(definition: Definition, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return the statements with loops over queries and each `match` written out; the same object if there is none."""
    nodes = (n for n in statements_of(*body) if isinstance(n, (ast.Match, ast.For, ast.While)))
    if not any(isinstance(n, ast.Match) or _begun(definition, n) or _continued(definition, n) for n in nodes):
        return body
    return _rewritten(copy.deepcopy(list(body)), partial(_written_out, definition))


def _rewritten(block: list[ast.stmt], change: Callable[[ast.stmt], Iterable[ast.stmt]]) -> list[ast.stmt]:
    """Return the statements with which `change` replaces these, inner ones first; nested blocks change in place."""
    new: list[ast.stmt] = []
    for statement in block:
        for part in (statement, *getattr(statement, "cases", ())):
            for inner in blocks_of(part):
                inner[:] = _rewritten(inner, change)
        new += change(statement)
    return new


def _named(definition: Definition, node: ast.AST, names: Sequence[str]) -> bool:
    """Return whether a node calls a form of the language that has one of these names."""
    value = callee(definition, node, names)
    return isinstance(value, Form) and value.name in names


def _begun(definition: Definition, node: ast.AST) -> bool:
    """Return whether a node is a `for` over a query of a tree or mesh."""
    return isinstance(node, ast.For) and _named(definition, node.iter, BEGIN)


def _continued(definition: Definition, node: ast.AST) -> bool:
    """Return whether a node is a `while` whose condition is the next step of a query of a tree or mesh."""
    return isinstance(node, ast.While) and _named(definition, node.test, (NEXT, MESH_NEXT, "mesh_query_aabb_next"))


def _written_out(definition: Definition, node: ast.stmt) -> list[ast.stmt]:
    """Return the statements that a loop over a query or a `match` stands for; any other statement alone.

    Raises:
        KernelSyntaxError: `bvh_query_next` is not given local names, or cannot be seen beside what begins the query.
    """
    if isinstance(node, ast.Match):
        return branches(definition, node)
    at = f".{node.lineno}.{node.col_offset}"
    if isinstance(node, ast.For) and _begun(definition, node):
        query, target, call = f"query{at}", node.target, copy.deepcopy(node.iter)
        assert isinstance(call, ast.Call)
        onward = copy.deepcopy(call.func)
        path = dotted(onward) or ""
        following = MESH_NEXT if path.split(".")[-1].startswith("mesh") else NEXT
        setattr(onward, "attr" if isinstance(onward, ast.Attribute) else "id", following)
        step = ast.Call(onward, [ast.Name(query, ast.Load())], [])
        before: list[ast.stmt] = [ast.Assign([ast.Name(query, ast.Store())], call)]
        if not _named(definition, step, (following,)):
            message = f"The loop needs {following}, which has no meaning here."
            raise KernelSyntaxError(message, advice=f"Import {following}, too.")
    elif isinstance(node, ast.While) and _continued(definition, node):
        step, before = copy.deepcopy(node.test), []
        assert isinstance(step, ast.Call)
        names = [n.id for n in step.args[:2] if isinstance(n, ast.Name)]
        if len(names) != 2:
            raise KernelSyntaxError(f"{NEXT}() takes the local names of a query and of an item.", advice="Name them.")
        query, target = names[0], ast.Name(names[1], ast.Store())
        del step.args[1]
    else:
        return [node]
    for part in (*nodes_of(*before), *nodes_of(step)):
        ast.copy_location(part, node)
    loop = template(_QUERY, node, {"QUERY": query, "FOUND": f"found{at}"})
    advance, branch = loop.body
    advance.value, branch.body[0].targets = step, [target]
    branch.body += node.body
    loop.orelse = node.orelse
    return [*before, loop]


class _Pattern(msgspec.Struct):
    """The tests and bindings of one pattern.

    Attributes:
        unpacked: statements that come before the test; they cannot fail to match.
        tests: all have to hold.
        binds: done where they hold.
    """

    unpacked: list[ast.stmt] = msgspec.field(default_factory=list[ast.stmt])
    tests: list[ast.expr] = msgspec.field(default_factory=list[ast.expr])
    binds: list[ast.stmt] = msgspec.field(default_factory=list[ast.stmt])


def branches(definition: Definition, node: ast.Match) -> list[ast.stmt]:
    """Return the statements that a `match` stands for, its subject evaluated once.

    Raises:
        KernelSyntaxError: a pattern tests a class, a mapping or a length, or binds in one of several alternatives.
    """
    for pattern in nodes_of(*(case.pattern for case in node.cases)):
        named = isinstance(pattern, ast.MatchOr) and any(getattr(n, "name", None) for n in nodes_of(pattern))
        if named or isinstance(pattern, (ast.MatchClass, ast.MatchMapping, ast.MatchStar)):
            message = f"A case in a kernel is not {ast.unparse(pattern)}."  # type: ignore[arg-type]
            advice = "Match numbers, tuples of them, names and _, or use if and elif."
            raise definition.syntax_error(message, advice, pattern)
    subject = f"match.{node.lineno}.{node.col_offset}"
    return [*_set(subject, node.subject, node.subject), *_cases(node.cases, subject)]


def _cases(cases: list[ast.match_case], subject: str) -> list[ast.stmt]:
    """Return nested `if` statements for the cases of a `match`; empty if there are none.

    Args:
        cases: the cases; their nodes are reused.
        subject: the local name that holds the matched value.
    """
    if not cases:
        return []
    case, *others = cases
    pattern = _Pattern()
    _read(case.pattern, subject, pattern)
    before, body, origin = pattern.unpacked, [*pattern.binds, *case.body], case.pattern
    test = reduce(lambda a, b: ast.BoolOp(ast.And(), [a, b]), pattern.tests) if pattern.tests else None
    if case.guard is not None and not (pattern.tests and pattern.binds):
        before, body = [*before, *pattern.binds], case.body
        test = case.guard if test is None else ast.BoolOp(ast.And(), [test, case.guard])
    elif case.guard is not None:  # the names are bound where the pattern matches, whatever the guard says
        assert test is not None
        holds = f"{subject}.{origin.lineno}"
        bind = ast.If(_name(holds), [*pattern.binds, *_set(holds, case.guard, origin)], [])
        before, test = [*before, *_set(holds, test, origin), bind], _name(holds)
    if test is None:
        return [located(s, origin) for s in (*before, *body)]
    return [located(s, origin) for s in (*before, ast.If(test, body, _cases(others, subject)))]


def _read(node: ast.pattern, subject: str, into: _Pattern) -> None:
    """Add to `into` what a pattern tests and binds; `subject` is the local name of the value that it matches."""
    match node:
        case ast.MatchValue(value):
            into.tests.append(ast.Compare(_name(subject), [ast.Eq()], [value]))
        case ast.MatchSingleton(value):
            sign = ast.Is() if value is None else ast.Eq()
            into.tests.append(ast.Compare(_name(subject), [sign], [ast.Constant(value)]))
        case ast.MatchAs(inner, name):
            if inner is not None:
                _read(inner, subject, into)
            if name is not None:
                into.binds += _set(name, _name(subject), node)
        case ast.MatchOr(patterns):
            sides = [_Pattern() for _ in patterns]
            for pattern, side in zip(patterns, sides, strict=True):
                _read(pattern, subject, side)
                into.unpacked += side.unpacked
            if all(side.tests for side in sides):
                tests = [reduce(lambda a, b: ast.BoolOp(ast.And(), [a, b]), side.tests) for side in sides]
                into.tests.append(ast.BoolOp(ast.Or(), tests))
        case ast.MatchSequence(patterns):
            names = [f"{subject}.{node.col_offset}.{k}" for k in range(len(patterns))]
            target = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
            into.unpacked.append(located(ast.Assign([target], _name(subject)), node))
            for pattern, name in zip(patterns, names, strict=True):
                _read(pattern, name, into)
        case _:  # `if`s read the others
            pass


def _name(name: str) -> ast.expr:
    """Return a syntax node that reads a name."""
    return ast.Name(name, ast.Load())


def _set(name: str, value: ast.expr, origin: ast.AST) -> list[ast.stmt]:
    """Return the statement `name = value`, in a list, with the location of `origin`."""
    return [located(ast.Assign([ast.Name(name, ast.Store())], value), origin)]


def returning(definition: Definition, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return a func's statements, changed so that each `return`, and the end, returns its references after its results.

    Those of a func without references are returned as they are.
    """
    names = references(definition)
    if not names:
        return body
    own = copy.deepcopy(list(body))
    end = ast.copy_location(ast.Return(None), own[-1])
    for node in [*statements_of(*own), end]:
        if isinstance(node, ast.Return):
            values = [] if node.value is None else [node.value]
            node.value = located(ast.Tuple([*values, *(ast.Name(n, ast.Load()) for n in names)], ast.Load()), node)
    return own if _has_results(definition) else [*own, end]


def _has_results(definition: Definition) -> bool:
    """Return whether a func returns something besides its references."""
    return any(isinstance(n, ast.Return) and n.value is not None for n in definition.nodes)


def assigning(definition: Definition, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return the statements, with what calls change by reference assigned; the same object if there is no such call.

    Raises:
        KernelSyntaxError: such a call is a part of an expression, or an argument is no name, element or field.
    """
    calls = definition.calls if body is definition.node.body else nodes_of(*body)
    if not any(called(definition, node) for node in calls):
        return body
    return _rewritten(copy.deepcopy(list(body)), partial(_with_references, definition))


def called(definition: Definition, node: ast.AST) -> list[tuple[str, Definition]]:
    """Return the names of the reference parameters of the func that a node calls, each with the func; else empty."""
    value = callee(definition, node)
    return [(name, d) for d in getattr(value, "__wb_definitions__", ())[:1] for name in references(d)]


def _with_references(definition: Definition, node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield a statement with the reference parameters of its call assigned from the call's results; others unchanged.

    Raises:
        KernelSyntaxError: such a call stands inside an expression, has an argument that cannot be assigned, or returns
            nothing where its result is assigned.
    """
    call = getattr(node, "value", None)
    refs = called(definition, call) if isinstance(node, (ast.Expr, ast.Assign, ast.Return)) and call else []
    parts = nodes_of(*(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)))
    for inner in parts:
        if (inner is not call or not refs) and (stray := called(definition, inner)):
            message = f"{stray[0][1].name}() changes {stray[0][0]} of its caller, so it is a statement of its own."
            advice = f"Write result = {ast.unparse(inner)} on a line before."  # type: ignore[arg-type]
            raise definition.syntax_error(message, advice, inner)
    if not refs:
        yield node
        return
    assert isinstance(call, ast.Call)
    call.gives_back = True  # type: ignore[attr-defined]
    targets = [_argument_target(definition, call, name, callee) for name, callee in refs]
    result = f"result.{node.lineno}.{node.col_offset}"
    gives = _has_results(refs[0][1])
    if gives:
        targets.insert(0, ast.Name(result, ast.Store()))
    elif isinstance(node, ast.Assign):
        message, advice = f"{refs[0][1].name}() returns nothing.", "Call it on a line of its own."
        raise definition.syntax_error(message, advice, call)
    yield located(ast.Assign([ast.Tuple(targets, ast.Store())], call), node)
    value = located(ast.Name(result, ast.Load()), call)
    if isinstance(node, ast.Assign):
        node.value = value
        yield node
    elif isinstance(node, ast.Return):
        node.value = value if gives else None
        yield node


def _argument_target(definition: Definition, call: ast.Call, name: str, callee: Definition) -> ast.expr:
    """Return an argument of a call as a target of an assignment.

    Raises:
        KernelSyntaxError: there is none, nothing can be assigned there, or it would be computed twice.
    """
    names = [p.arg for p in callee.parameters]
    arguments = {**dict(zip(names, call.args, strict=False)), **{k.arg: k.value for k in call.keywords}}
    node = arguments.get(name)
    if node is None:
        raise definition.syntax_error(f"{callee.name}() needs an argument for {name}.", "", call)
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or any(
        isinstance(n, ast.Call) for n in nodes_of(node)
    ):
        message = f"{name} of {callee.name}() is a reference; this is no name, element or field that can change."
        advice = "Give the value, or the index of the element, a name on a line before."
        raise definition.syntax_error(message, advice, node)
    target = copy.deepcopy(node)
    target.ctx = ast.Store()
    return target


# Parts of an expression that may be computed or not, or more than once: from which child on, and how to say it.
_CONDITIONAL: dict[tuple[type[ast.AST], str], tuple[int, str]] = {
    (ast.IfExp, "body"): (0, "in one side of a conditional expression"),
    (ast.IfExp, "orelse"): (0, "in one side of a conditional expression"),
    (ast.BoolOp, "values"): (1, "on the right of and/or"),
    (ast.Compare, "comparators"): (1, "in the middle of a chained comparison"),
    (ast.While, "test"): (0, "in the condition of a while"),
    (ast.AugAssign, "target"): (0, "on the left of an augmented assignment"),
    (ast.Assert, "test"): (0, "in an assert"),
    (ast.Assert, "msg"): (0, "in an assert"),
    (ast.GeneratorExp, "elt"): (0, "in a generator expression"),
    (ast.GeneratorExp, "generators"): (0, "in a generator expression"),
    (ast.ListComp, "elt"): (0, "in a comprehension"),
    (ast.ListComp, "generators"): (0, "in a comprehension"),
}


def mark(definition: Definition, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements with each name that a call rebinds marked as assigned there.

    Queries of trees and `match` are written out, and references assigned. The tree that is passed is not changed.
    """
    body = assigning(definition, expanded(definition, body))
    nodes = (*definition.calls, *definition.named) if body is definition.node.body else nodes_of(*body)
    with_results = (_with_results(definition, node) for node in statements_of(*body))
    if not any(_rebound(definition, node) for node in nodes) and not any(with_results):
        return list(body)
    marked = _rewritten(copy.deepcopy(list(body)), lambda node: [_assigned(definition, node)])
    for statement in marked:
        _mark(definition, statement, "")
    return marked


def _assigned(definition: Definition, node: ast.stmt) -> ast.stmt:
    """Return a call statement that names its results after its arguments as an assignment; any other as it is."""
    results = _with_results(definition, node)
    if not results:
        return node
    assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    targets: list[ast.expr] = [ast.copy_location(ast.Name(n.id, ast.Store()), n) for n in results]
    call = ast.copy_location(ast.Call(node.value.func, node.value.args[: -len(results)], []), node)
    target = ast.copy_location(ast.Tuple(targets, ast.Store()), node)
    return ast.copy_location(ast.Assign([target], call), node)


def _with_results(definition: Definition, node: ast.AST) -> list[ast.Name]:
    """Return the names after the arguments of a call statement, to which a library function assigns its results.

    It is empty for any other node.
    """
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or node.value.keywords:
        return []
    form = callee(definition, node.value)
    if not isinstance(form, Form) or form.body is None or form.rebinds is not None:
        return []
    names = [a for a in node.value.args[form.body.__code__.co_argcount :] if isinstance(a, ast.Name)]
    has_results = len(names) > 1 and form.body.__code__.co_argcount + len(names) == len(node.value.args)
    return names if has_results else []


def _mark(definition: Definition, node: ast.AST, parameter: str) -> None:
    """Mark as assigned each name that a call or `:=` in a tree rebinds, in place, and the call or `:=` as `uncertain`.

    Args:
        definition: the definition with the tree.
        node: the root of the tree.
        parameter: where the node is that it may be computed not at all or twice, as messages say it; else empty.
    """
    name = _rebound(definition, node)
    if name is not None:
        name.ctx = ast.Store()
        node.uncertain = parameter  # type: ignore[attr-defined]
    if isinstance(getattr(node, "func", getattr(node, "value", None)), ast.IfExp):
        parameter = parameter or "beside a choice, which is made of two expressions"
    for name, child in ast.iter_fields(node):
        first, here = _CONDITIONAL.get((type(node), name), (0, ""))
        for position, inner in enumerate(child if is_list(child) else [child]):
            if isinstance(inner, ast.AST):
                _mark(definition, inner, (here if position >= first else "") or parameter)


def _rebound(definition: Definition, node: ast.AST) -> ast.Name | None:
    """Return the name that a call or `:=` rebinds; None if there is none."""
    if isinstance(node, ast.NamedExpr):
        return node.target
    if not isinstance(node, ast.Call) or not (node.args or node.keywords):
        return None
    value = callee(definition, node)
    if not isinstance(value, Form) or value.rebinds is None:
        return None
    position, keyword = value.rebinds
    by_keyword = next((k.value for k in node.keywords if k.arg == keyword), None)
    argument = node.args[position] if position < len(node.args) else by_keyword
    return argument if isinstance(argument, ast.Name) else None
