"""Reads of the world around a kernel's text, noted so that launches and processes can read it again.

A launch compares what is *watched*: the values that the code was made with. Another process that finds the lowering in
the cache reads again all that was *found*, and watches the same.

Only two things are ever read: a name in a definition's scope, and an attribute of what a name means. Whatever looks at
more than that (a call of the user's Python in `static(…)`) says so by `mark_incomplete`: then nothing is known of the
kernel without lowering it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

import msgspec

Usable: TypeAlias = Callable[[Any], bool]

GIVEN = "given"
"""In the place of `usable`: what Python gave to a parameter's annotation when it made the function."""
DEFAULT = "default"
"""In the place of `usable`: the value of a parameter's default."""
_READABLE = (
    ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.BinOp, ast.BitOr, ast.keyword, ast.expr_context,
)  # fmt: skip


class Reader(Protocol):
    """A definition, as far as names are read in its scope."""

    @property
    def library(self) -> bool:
        """Return whether it is a part of Workbench, whose names mean the same as long as its code is the same."""
        ...

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The annotations that Python evaluated."""
        ...

    def read(self, path: str, usable: Usable) -> Any:
        """Return the present meaning of a dotted name."""
        ...


class Dependency(msgspec.Struct, frozen=True):
    """A value of the user's namespace that each launch compares, and how to read it again.

    Attributes:
        definition, path: a name of the definition's scope, dotted or not.
        reevaluate: computes a value to compare with `value` by ==, where `path` is no name (the text of a `static(…)`).
        paths: names (`math.pi`) that alone decide what `reevaluate` computes, where they mean numbers; None: not known.
        place: a mapping and a key under which it holds the value, where looking there says the same as `reevaluate`.
        known: names of the kernel that a `static(…)` reads, with their values.
    """

    definition: Any
    path: str
    value: Any
    reevaluate: Callable[[], Any] | None = None
    place: tuple[Mapping[Any, Any], Any] | None = None
    paths: tuple[str, ...] | None = None
    known: Mapping[str, Any] = {}


class Reads:
    """The names that one lowering read.

    Attributes:
        watched: what each launch looks at again, by definition and path.
        entries: in order: where (a definition, or an object for its attribute), how a definition's scope was asked
            (None for an attribute), the name, and what it meant.
        refused: why this does not say all; empty if it does.
    """

    def __init__(self) -> None:
        """Begin with no reads, of which nothing is missing."""
        self.entries: dict[tuple[int, Usable | str | None, str], tuple[Any, Usable | str | None, str, Any]] = {}
        self.refused = ""
        self.watched: dict[tuple[int, str], Dependency] = {}


NOTED: ContextVar[Reads | None] = ContextVar("what the lowering under way has read", default=None)


@contextmanager
def noting() -> Generator[Reads]:
    """Note what is read inside the context."""
    reads = Reads()
    before = NOTED.set(reads)
    try:
        yield reads
    finally:
        NOTED.reset(before)


def name(definition: Reader, usable: Usable | str, identifier: str, value: Any) -> None:
    """Note, for the lowering under way, what a name of a definition's scope means; nothing for the library.

    `usable` is how the scope was asked.
    """
    noted = NOTED.get()
    if noted is not None and not definition.library:
        noted.entries.setdefault((id(definition), usable, identifier), (definition, usable, identifier, value))


def given_annotation(definition: Reader, parameter: str) -> Any:
    """Note and return the value of a parameter's annotation, or of the result's, `return`, as Python evaluated it."""
    value = definition.annotations[parameter]
    name(definition, GIVEN, parameter, value)
    return value


def attribute(base: Any, attr: str, value: Any) -> Any:
    """Note, for the lowering under way, the value of an object's attribute, and return the value."""
    noted = NOTED.get()
    if noted is not None:
        noted.entries.setdefault((id(base), None, attr), (base, None, attr, value))
    return value


def watch(watched: Dependency, key: str = "") -> None:
    """Have each launch look whether a value is what it was; `key` tells values of one path apart."""
    noted = NOTED.get()
    if noted is not None:
        noted.watched.setdefault((id(watched.definition), key or watched.path), watched)


def mark_incomplete(reason: str) -> None:
    """Mark the reads of the current lowering as incomplete, for this reason; an earlier reason stays."""
    noted = NOTED.get()
    if noted is not None:
        noted.refused = noted.refused or reason


def expression(definition: Reader, node: ast.AST, usable: Usable, known: Collection[str] = ()) -> None:
    """Note what an expression of Python reads that is about to be evaluated; names in `known` are not the scope's."""
    if NOTED.get() is not None and not definition.library and not _readable(definition, node, usable, known):
        mark_incomplete(f"what {ast.unparse(node)} reads is not known")


def _readable(definition: Reader, node: ast.AST, usable: Usable, known: Collection[str]) -> bool:
    """Return whether all that evaluating a Python expression reads can be noted, and note it.

    Args:
        definition: the definition whose scope it is evaluated in.
        node: the expression.
        usable: whether a value counts as the meaning of a name.
        known: names that are not the scope's.
    """
    path = dotted(node)
    if path is None:
        if isinstance(node, ast.Call) and not _is_ours(definition, node.func, usable):
            return False
        parts = ast.iter_child_nodes(node)
        return isinstance(node, _READABLE) and all(_readable(definition, part, usable, known) for part in parts)
    if path.partition(".")[0] in known:
        return "." not in path
    definition.read(path, usable)
    return True


def _is_ours(definition: Reader, function: ast.expr, usable: Usable) -> bool:
    """Return whether a function of Workbench's own is called, whose arguments show all that is read."""
    path = dotted(function)
    value = definition.read(path, usable) if path is not None else None
    return (getattr(value, "__module__", None) or "").partition(".")[0] == "workbench"


def dotted(node: ast.AST) -> str | None:
    """Return the text of a name, or of attributes of one; None of anything else."""
    attrs: list[str] = []
    while isinstance(node, ast.Attribute):
        attrs.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(attrs)]) if isinstance(node, ast.Name) else None
