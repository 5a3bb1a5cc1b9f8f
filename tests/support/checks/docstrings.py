"""What a machine can see of a public docstring, as complaints: empty for a good one."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MANY = 2
"""Parameters whose meaning may be left to the summary."""
NOTHING = ("None", "NoReturn", "Iterator[None]", "Generator[None]")


@dataclass(frozen=True)
class Member:
    """A public function, method or property."""

    name: str
    function: types.FunctionType
    kind: str

    @property
    def text(self) -> str:
        return inspect.getdoc(self.function) or ""

    @property
    def node(self) -> ast.FunctionDef:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(self.function))))
        assert isinstance(tree.body[0], ast.FunctionDef)
        return tree.body[0]


def members(names: dict[str, Any], packages: tuple[str, ...]) -> Iterator[Member]:
    """The functions among the names, and the public methods and properties of the classes."""
    for name, thing in names.items():
        if not getattr(thing, "__module__", "").startswith(packages):
            continue
        if isinstance(thing, types.FunctionType):
            yield Member(name, thing, "function")
        elif inspect.isclass(thing):
            for attribute, member in vars(thing).items():
                made = _member(f"{name}.{attribute}", member)
                if made is not None and not attribute.startswith("_"):
                    yield made


def _member(name: str, member: Any) -> Member | None:
    if isinstance(member, types.FunctionType):
        return Member(name, member, "method")
    if isinstance(member, classmethod | staticmethod):
        return Member(name, member.__func__, "method")
    if isinstance(member, property):
        return Member(name, member.fget, "property")  # type: ignore[arg-type]
    return None


def complaints(member: Member) -> list[str]:
    """What is missing: a summary, parameters by name, the result, the errors that the body raises itself."""
    text, node = member.text, member.node
    found = []
    summary = text.split("\n\n")[0].strip()
    if not summary or summary[0].islower() or summary[-1] not in ".:":
        found.append("has no summary that is a sentence")
    parameters = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    parameters = [p for p in parameters if p not in ("self", "cls")]
    if len(parameters) > MANY:
        found += [f"does not mention {p}" for p in parameters if not re.search(rf"\b{p}\b", text)]
    if member.kind == "function" and parameters and _returns(node) and not re.search(r"^(Returns|Yields):", text, re.M):
        found.append("does not say what it returns")
    raised = {n for n in _raised(node) if not re.search(rf"\b{n}\b", text.partition("Raises:")[2])}
    return found + [f"does not list {name} under Raises" for name in sorted(raised)]


def _returns(node: ast.FunctionDef) -> bool:
    return node.returns is not None and ast.unparse(node.returns) not in NOTHING


def _raised(node: ast.FunctionDef) -> Iterator[str]:
    """The classes of errors that the body itself makes and raises, but not functions inside it."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        here = waiting.pop()
        if isinstance(here, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(here, ast.Raise) and isinstance(here.exc, ast.Call) and isinstance(here.exc.func, ast.Name):
            if here.exc.func.id[0].isupper() and here.exc.func.id != "AssertionError":
                yield here.exc.func.id
        waiting.extend(ast.iter_child_nodes(here))
