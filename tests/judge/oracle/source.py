"""The source text of a program, prepared for CPython: what the language says of names and literals, and nothing else.

- An assignment copies: names hold values, not references to elements of arrays.
- A literal with a point is one that has no type yet.
- An atomic function whose result is dropped does not read.
- The two values of a ternary have one type, and so has a name before a loop and in each of its iterations.
"""

from __future__ import annotations

import ast
from functools import cache
from types import CodeType

_CARRIED = """
try:
    {name} = __carried__({name}, "{name} {loop}")
except NameError:  # it has no value yet
    pass
"""


class Prepared(ast.NodeTransformer):
    """The rewriting of a module."""

    def __init__(self) -> None:
        self.loops = 0

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = _call("__value__", node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return node
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], _call("__typed__", node.annotation, node.value)), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return _call("__join__", node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        node.iter = _call("__each__", node.iter)
        return self._carrying(node)

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        return self._carrying(node)

    def _carrying(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """The loop with its carried names joined before it, at the start of each iteration, and after it."""
        self.loops += 1
        stored = {
            n.id for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        texts = [_CARRIED.format(name=name, loop=self.loops) for name in sorted(stored)]
        joined = [[ast.copy_location(s, loop) for s in ast.parse("".join(texts)).body] for _ in range(3)]
        loop.body = [*joined[0], *loop.body]
        return [*joined[1], loop, *joined[2]]

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _call("__literal__", node) if type(node.value) is float else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        call = node.value
        if isinstance(call, ast.Call):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name.startswith("atomic_"):
                call.keywords.append(ast.keyword("dropped", ast.Constant(True)))
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), arguments[0])


@cache
def prepared(text: str, name: str) -> CodeType:
    """The code of a program's module."""
    tree = ast.fix_missing_locations(Prepared().visit(ast.parse(text)))
    return compile(tree, f"<oracle: {name}>", "exec", dont_inherit=True)
