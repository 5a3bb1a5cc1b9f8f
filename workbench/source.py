"""Sources of kernel text, and locations in them.

A `Source` is one cell or file. Its `label` comes from its content alone, so that nothing built from a cell depends on
the process that ran it (ipykernel names a cell's file after its process id); its `name` is what people read.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any, cast

import msgspec


def parsed(text: str) -> ast.Module:
    """Return `ast.parse(text)`.

    Parsing is repeated once if a thread that parses at the same time disturbs it (see `workbench.weak`).

    Raises:
        SyntaxError: it is not Python.
        RecursionError: it is nested too deeply.
    """
    try:
        try:
            return ast.parse(text)
        except SystemError:
            return ast.parse(text)
    except MemoryError:  # what Python's parser raises where its stack is full, whatever memory there is
        raise RecursionError("the text is nested too deeply for Python's parser") from None


class Source(msgspec.Struct, frozen=True, dict=True):
    """Represents the text of one cell or file.

    Attributes:
        text: the whole text, unstripped.
        name: what people call it: `cell [4]`, `blur.py`, `<text>`.
        filename: what Python calls it (for `linecache` and for finding it again); never part of a key.
        line_offset: added to a line of `text` when it is shown (1 for a cell whose first line is a magic).
    """

    text: str
    name: str = "<text>"
    filename: str = "<text>"
    line_offset: int = 0

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines, without line ends."""
        return self.text.splitlines()

    @cached_property
    def is_ascii(self) -> bool:
        """Return whether the text is ASCII, so that a column in bytes is one in characters."""
        return self.text.isascii()

    @cached_property
    def label(self) -> str:
        """Twelve hexadecimal digits of a hash of the text: the same in every process."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    def line(self, number: int) -> str:
        """Return line `number` (from 1) of the text; empty if there is none."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""


def nodes_of(*trees: ast.AST) -> list[ast.AST]:
    """Return the nodes of syntax trees, in `ast.walk`'s order and a third of its time, without `Load()` and `Add()`."""
    nodes = list(trees)
    for node in nodes:  # which grows
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, list):
                nodes += [p for p in cast("list[object]", part) if isinstance(p, ast.AST)]
            elif isinstance(part, ast.AST) and part._fields:
                nodes.append(part)
    return nodes


def located(node: Any, origin: ast.AST) -> Any:
    """Set the location of nodes of a syntax tree that have none to that of another node, in place; return the tree."""
    for inner in nodes_of(node):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, origin)
    return node


def template(text: str, origin: ast.AST, names: Mapping[str, str]) -> Any:
    """Return the one statement of a text, at the location of a node, with these names in place of its own."""
    (statement,) = copy.deepcopy(parsed(text).body)
    for node in nodes_of(statement):
        ast.copy_location(node, origin)
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return statement


def statements_of(*trees: ast.AST) -> list[ast.AST]:
    """Return syntax trees and the statements in them, with `except` and `case`, in `ast.walk`'s order."""
    statements = list(trees)
    for node in statements:  # which grows
        for name in _lists_of(type(node)):
            if isinstance(part := getattr(node, name, None), list):  # the body of a lambda is none
                statements += part
    return statements


@cache
def _lists_of(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a class of nodes that may hold lists of statements."""
    return tuple(name for name in ("body", "handlers", "orelse", "finalbody", "cases") if name in kind._fields)


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements in a statement or a `case`: its body and `else`, not `except` and `finally`."""
    for name in ("body", "orelse"):
        if isinstance(block := getattr(node, name, None), list):
            yield cast("list[ast.stmt]", block)


class Location(msgspec.Struct, frozen=True, gc=False):
    """Represents a span of a source: lines from 1 (0: unknown), columns from 0 (in characters), end exclusive."""

    source: Source
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @property
    def shown_line(self) -> int:
        """The number of the line in the cell or file as its reader counts it."""
        return self.line + self.source.line_offset

    def __str__(self) -> str:
        return f"{self.source.name}, line {self.shown_line}"

    def excerpt(self) -> str:
        """Return the line and, below it, carets under the span."""
        text = self.source.line(self.line)
        end = self.end_column if self.end_line == self.line else len(text)
        width = max(1, min(end, len(text)) - self.column)
        return f"{text}\n{' ' * self.column}{'^' * width}"


UNKNOWN = Location(Source("", "generated code", "<generated>"), 0)
