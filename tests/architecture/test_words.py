"""Plain words: how docstrings open, what predicates may do, and names that say nothing, in the rooms that are done.

A room is added to `ROOMS` when its docstrings and names were gone through; CONTRIBUTING.md has the rules.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.checks.modules import ROOT, tree

ROOMS = ("kernel_ext", "workbench")
RIDDLES = frozenset(
    "He How It Its One She That These They This Those What When Where Whether Which Who Whose Why".split()
)
"""A docstring that opens with one of these is a clause: it neither says what a function does nor what a class is."""
FRAGMENTS = frozenset("A All An At By Every For From In No Of Off On The With".split())
"""A function's docstring that opens with one of these names a result or a parameter in place of what is done."""
LANGUAGE = "workbench/builtins"
"""Decorated functions here are words of the kernel language, whose docstrings are its documentation."""
DEMANDS = frozenset(
    "add build check collect compile create emit find get load make note put read set take write".split()
)
"""Verbs that promise an effect or a result other than True or False."""
CHANGES = frozenset("add append clear discard extend insert pop popitem remove setdefault update".split())
"""Methods of containers that change them."""
VAGUE = frozenset(
    "alike asked facts found given how kept lies made meets place places said thing things told went whole".split()
)
"""Names of local variables and parameters that do not say what the value is."""
PUBLIC = {
    ("kernel_ext/show.py", "said"),
    ("kernel_ext/views/kernels/queries.py", "said"),
    ("workbench/api/cuda_cpp/kernel.py", "how"),
    ("workbench/builtins/declaration/declare.py", "whole"),
}
"""Parameters that are passed by name from outside of the room."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(room: str) -> Iterator[tuple[str, Definition]]:
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(tree(path)):
            if isinstance(node, Definition):
                yield path.relative_to(ROOT).as_posix(), node


def summary(node: Definition) -> str:
    return (ast.get_docstring(node) or "").split("\n\n")[0]


def is_property(node: Definition) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def opening(node: Definition, path: str = "") -> str:
    """Return the first word of a docstring that opens as a riddle; a property may say whether something holds."""
    first = summary(node).split()[:1]
    word = first[0].strip(".,:") if first else ""
    if isinstance(node, ast.ClassDef) or is_property(node) or (path.startswith(LANGUAGE) and node.decorator_list):
        return word if word in RIDDLES - {"Whether"} or (word == "Whether" and not is_property(node)) else ""
    return word if word in RIDDLES | FRAGMENTS or word.startswith("`") else ""


def other_docstrings(room: str) -> Iterator[tuple[str, int, str]]:
    """Yield path, line and text of each module's docstring and of each string that documents the assignment above."""
    for path in sorted((ROOT / room).rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), 1, ast.get_docstring(tree(path)) or ""
        for node in ast.walk(tree(path)):
            body = getattr(node, "body", None)
            for above, below in itertools.pairwise(body if isinstance(body, list) else ()):
                if isinstance(above, ast.Assign | ast.AnnAssign) and isinstance(below, ast.Expr):
                    if isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
                        yield path.relative_to(ROOT).as_posix(), below.lineno, below.value.value


def fault_of_predicate(node: Definition) -> str:
    """Return what is wrong with a function that answers yes or no: its name, or that it changes what it was given."""
    named = node.name.lstrip("_").startswith(("is_", "has_"))
    if isinstance(node, ast.ClassDef) or not (named or summary(node).startswith("Return whether ")):
        return ""
    if (verb := node.name.lstrip("_").split("_")[0]) in DEMANDS:
        return f"is called {verb}"
    if node.returns is None or ast.unparse(node.returns) != "bool":
        return ""
    parameters = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    changed = [root for root in map(_changed, ast.walk(node)) if root in parameters - {"self"}]
    return f"changes {changed[0]}" if changed else ""


def _changed(node: ast.AST) -> str:
    """Return the name at the root of what a statement changes in place; empty if it changes nothing."""
    place: ast.AST | None = None
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        place = node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
        place = node.func
    while isinstance(place, ast.Attribute | ast.Subscript):
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""


def vague_names(path: Path) -> Iterator[tuple[int, str]]:
    for function in ast.walk(tree(path)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.arg) and node.arg in VAGUE:
                    yield node.lineno, node.arg
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE:
                    yield node.lineno, node.id


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_open_with_what_is_done_or_what_a_class_is(room: str) -> None:
    riddles = [f"{path}:{d.lineno} {d.name}: {summary(d)}" for path, d in definitions(room) if opening(d, path)]
    others = ((f"{path}:{line} {text}", text.split()[:1]) for path, line, text in other_docstrings(room))
    riddles += [shown for shown, first in others if RIDDLES.intersection(first)]
    assert not riddles, "\n".join(riddles)


@pytest.mark.parametrize("room", ROOMS)
def test_predicates_are_named_for_their_answer_and_change_nothing(room: str) -> None:
    wrong = [f"{path}:{d.lineno} {d.name} {fault}" for path, d in definitions(room) if (fault := fault_of_predicate(d))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", ROOMS)
def test_names_say_what_the_value_is(room: str) -> None:
    vague = []
    for path in sorted((ROOT / room).rglob("*.py")):
        shown = path.relative_to(ROOT).as_posix()
        vague += [f"{shown}:{line} {name}" for line, name in vague_names(path) if (shown, name) not in PUBLIC]
    assert not vague, "\n".join(dict.fromkeys(vague))


def _definition(text: str) -> Definition:
    (node,) = ast.parse(text).body
    assert isinstance(node, Definition)
    return node


def test_riddles_and_predicates_with_effects_are_noticed() -> None:
    assert opening(_definition('def f():\n    """What it is."""')) == "What"
    assert not opening(_definition('@property\ndef f():\n    """Whether it is full."""'))
    assert opening(_definition('def f():\n    """The sum."""')) == "The"
    assert not opening(_definition('class Sum:\n    """The sum."""'))
    assert opening(_definition('class Walk:\n    """One walk."""')) == "One"
    check = _definition('def check(x) -> bool:\n    """Return whether x fits."""')
    assert fault_of_predicate(check) == "is called check"
    for change in ("x.seen = True", "del x.parts[0]", "x.parts.append(1)"):
        predicate = _definition(f'def is_full(x) -> bool:\n    """Return whether x is full."""\n    {change}')
        assert fault_of_predicate(predicate) == "changes x"
    assert not fault_of_predicate(_definition("def is_full(x) -> bool:\n    parts = x.parts\n    return bool(parts)"))


def test_the_glossary_lists_at_most_25_words() -> None:
    rows = [row for row in (ROOT / "design" / "glossary.md").read_text().splitlines() if row.startswith("| ")]
    words = [row.split("|")[1].strip() for row in rows[1:]]
    assert len(words) <= 25, f"the glossary has {len(words)} words"
    assert words == sorted(set(words))
