"""`match` as the `if` and `elif` that it means: cases of numbers, of tuples of known length, names and guards.

match n:                    match.1 = n
    case 0 | 1: …           if match.1 == 0 or match.1 == 1: …
    case m if m > 9: …      else: m = match.1; if m > 9: …
    case _: …                     else: …
"""

from __future__ import annotations

import ast
from functools import reduce

import msgspec

from workbench.errors import KernelSyntaxError
from workbench.frontend.state.definition import Definition
from workbench.source import nodes_of


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
    """Add what a pattern tests and binds of the subject."""
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
    return ast.Name(name, ast.Load())


def _set(name: str, value: ast.expr, origin: ast.AST) -> list[ast.stmt]:
    return _placed([ast.Assign([ast.Name(name, ast.Store())], value)], origin)


def _placed(statements: list[ast.stmt], origin: ast.AST) -> list[ast.stmt]:
    for inner in nodes_of(*statements):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, origin)
    return statements
