"""Statements written out as others: `match`, and loops over what a query of a tree finds.

`for i in bvh_query_aabb(…)` and `while bvh_query_next(query, i)` become a `while` that visits a node in each round, and
does the loop's body where an item is found:

    while query.at < len(query.nodes):
        query.at, query.within, found = bvh_query_next(query, limit)
        if found >= 0:
            i = found
            …

So queries need no stack, differentiate as any loop does, and may be left and gone on with. `match` takes cases of
numbers, of tuples of known length, names and guards:

    match n:                    match.1 = n
        case 0 | 1: …           if match.1 == 0 or match.1 == 1: …
        case m if m > 9: …      else: m = match.1; if m > 9: …
        case _: …                     else: …
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from functools import reduce

import msgspec

from workbench.builtins.declaration.declare import Form
from workbench.errors import KernelSyntaxError
from workbench.frontend.names.python_names import usable_in_kernel
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.reads import dotted
from workbench.source import blocks_of, nodes_of, parsed, statements_of

BEGIN = (
    "bvh_query_aabb",
    "bvh_query_ray",
    "bvh_query_sphere",
    "bvh_query_capsule",
    "mesh_query_aabb",
    "mesh_query_sphere",
)
NEXT, MESH_NEXT = "bvh_query_next", "mesh_query_next"
TEXT = """
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
    return _statements(definition, copy.deepcopy(list(body)))


def _statements(definition: Definition, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements with queries and `match` written out at any depth; nested blocks are changed in place."""
    for statement in body:
        for part in (statement, *getattr(statement, "cases", ())):
            for block in blocks_of(part):
                block[:] = _statements(definition, block)
    return [new for old in body for new in _loop(definition, old)]


def _named(definition: Definition, node: ast.AST, names: Sequence[str]) -> bool:
    """Return whether a node calls a form of the language that has one of these names."""
    path = dotted(node.func) if isinstance(node, ast.Call) else None
    value = definition.read(path, usable_in_kernel) if path is not None and path.split(".")[-1] in names else None
    return isinstance(value, Form) and value.name in names


def _begun(definition: Definition, node: ast.AST) -> bool:
    """Return whether a node is a `for` over a query of a tree or mesh."""
    return isinstance(node, ast.For) and _named(definition, node.iter, BEGIN)


def _continued(definition: Definition, node: ast.AST) -> bool:
    """Return whether a node is a `while` whose condition is the next step of a query of a tree or mesh."""
    return isinstance(node, ast.While) and _named(definition, node.test, (NEXT, MESH_NEXT, "mesh_query_aabb_next"))


def _loop(definition: Definition, node: ast.stmt) -> list[ast.stmt]:
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
        step, before = (
            ast.Call(onward, [ast.Name(query, ast.Load())], []),
            [ast.Assign([ast.Name(query, ast.Store())], call)],
        )
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
    (loop,) = copy.deepcopy(parsed(TEXT).body)
    assert isinstance(loop, ast.While)
    for part in (*nodes_of(loop), *nodes_of(*before), *nodes_of(step)):
        ast.copy_location(part, node)
    advance, branch = loop.body
    assert isinstance(advance, ast.Assign) and isinstance(branch, ast.If) and isinstance(branch.body[0], ast.Assign)
    for part in nodes_of(loop):
        if isinstance(part, ast.Name):
            part.id = {"QUERY": query, "FOUND": f"found{at}"}.get(part.id, part.id)
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
            raise KernelSyntaxError(message, definition.locate(pattern), advice, definition.name)
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
        return _placed([*before, *body], origin)
    return _placed([*before, ast.If(test, body, _cases(others, subject))], origin)


def _read(node: ast.pattern, subject: str, into: _Pattern) -> None:
    """Add to `into` what a pattern tests and binds; `subject` is the local name of what it is matched with."""
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
            into.unpacked += _placed([ast.Assign([target], _name(subject))], node)
            for pattern, name in zip(patterns, names, strict=True):
                _read(pattern, name, into)
        case _:  # `if`s read the others
            pass


def _name(name: str) -> ast.expr:
    """Return a syntax node that reads a name."""
    return ast.Name(name, ast.Load())


def _set(name: str, value: ast.expr, origin: ast.AST) -> list[ast.stmt]:
    """Return the statement `name = value`, in a list, with the location of `origin`."""
    return _placed([ast.Assign([ast.Name(name, ast.Store())], value)], origin)


def _placed(statements: list[ast.stmt], origin: ast.AST) -> list[ast.stmt]:
    """Set the location of each node that has none to that of `origin`, in place; return the statements."""
    for inner in nodes_of(*statements):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, origin)
    return statements
