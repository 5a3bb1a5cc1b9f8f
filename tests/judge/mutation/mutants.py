"""The faults: where in the compiler's source each can stand, and the text that it puts there.

Left out by rule: what cannot change a number that a program computes.

- strings, messages, annotations, decorators, `__repr__`, places in the source code (`location`), notices;
- refusals: assertions, `raise`, and conditions of the front end of which nothing follows but a refusal. Whether a text
  that is wrong is refused is asked by tests of refusals, not by right programs;
- constants in capitals (limits and thresholds, which have tests of their own), and functions that estimate a cost;
- files that serve something else (`ELSEWHERE`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDERS = ("workbench/frontend", "workbench/passes", "workbench/autodiff", "workbench/backends/cpu")
KINDS = ("comparison", "operator", "swapped operands", "dropped statement", "constant", "negated condition", "and/or")

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Mod: "//", ast.LShift: ">>", ast.RShift: "<<",
    ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)
FRONT_END = "workbench/frontend/"
ELSEWHERE = {
    "workbench/backends/cpu/native/stopping.py": "interrupts",
    "workbench/backends/cpu/emit/loops.py": "interrupts, and what LLVM would take minutes for",
    "workbench/frontend/names/lost_values.py": "warnings",
    "workbench/frontend/state/warp_notices.py": "notices of what Warp means otherwise",
}
"""Files whose faults change no number that a kernel computes, and what they are for."""
_COSTS = re.compile(r"cost|price|estimate|heav|cheap|weigh|score|budget")
_SPEAKS = {
    "error",
    "type_error",
    "syntax_error",
    "refuse",
    "warn",
    "print",
    "describe",
    "shown",
    "placed",
    "note",
    "notice",
}
"""Calls whose arguments are messages."""
_WORDS = {"advice", "message", "what", "said", "plural", "hint", "words", "label", "names"}
"""Names of messages and of labels for readers."""


@dataclass(frozen=True)
class Mutant:
    """One fault.

    Attributes:
        file: the path of the file, from the root of the tree.
        line: the line on which the changed text begins.
        kind: one of `KINDS`.
        start: where the changed text begins, in bytes of the file.
        end: where it ends.
        text: what stands there instead.
    """

    file: str
    line: int
    kind: str
    start: int
    end: int
    text: str

    @property
    def folder(self) -> str:
        """The folder of `FOLDERS` that it is in."""
        return next(folder for folder in FOLDERS if self.file.startswith(folder + "/"))

    @property
    def name(self) -> str:
        """A name that stays the same from run to run."""
        return f"{self.file}:{self.line}:{self.start}:{self.kind}"

    def applied(self, source: bytes) -> bytes:
        """The file's text with the fault in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


@cache
def mutants(root: Path) -> list[Mutant]:
    """All faults, in the order of their files and lines."""
    return [
        mutant
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
        if not _COSTS.search(path.stem) and path.relative_to(root).as_posix() not in ELSEWHERE
        for mutant in of_file(path.relative_to(root).as_posix(), path.read_bytes())
    ]


def of_file(name: str, source: bytes) -> list[Mutant]:
    """All faults of a file."""
    finder = _Finder(name, source)
    finder.visit(ast.parse(source))
    return [m for m in finder.mutants if m.applied(source) != source]


def compiles(source: bytes) -> bool:
    """Whether Python can read a text."""
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


class _Finder(ast.NodeVisitor):
    """Collects the faults of a file."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.mutants: list[Mutant] = []
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _add(self, kind: str, node: ast.expr | ast.stmt, text: str) -> None:
        self.mutants.append(Mutant(self.file, node.lineno, kind, *self._span(node), text))

    def _between(self, kind: str, left: ast.expr, right: ast.expr, sign: str) -> None:
        """Another sign between two operands, whatever brackets stand there."""
        start, end = self._span(left)[1], self._span(right)[0]
        between = self.source[start:end].decode()
        code = re.match(
            r"(?P<before>[\s)\\]*)(?P<sign>not\s+in|is\s+not|[a-z]+|[^\s(\w]+)(?P<after>.*)", between, re.DOTALL
        )
        if code and "#" not in between:
            line = left.end_lineno or left.lineno
            self.mutants.append(Mutant(self.file, line, kind, start, end, f"{code['before']}{sign}{code['after']}"))

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            self._between("comparison", left, right, _COMPARISONS[type(op)])
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        sign = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between("and/or", left, right, sign)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in _OPERATORS and not _is_text(node.left) and not _is_text(node.right):
            self._between("operator", node.left, node.right, _OPERATORS[type(node.op)])
        if isinstance(node.op, _ORDERED) and not _is_text(node.left):
            start, end = self._span(node.left)[1], self._span(node.right)[0]
            sign = self.source[start:end].decode()
            if "#" not in sign and sign.count("(") == sign.count(")") == 0:
                self._add("swapped operands", node, f"{self._text(node.right)}{sign}{self._text(node.left)}")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if self.file.startswith(FRONT_END) and _only_refuses(node):
            return
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        if not (_is_sentence(node.body) or _is_sentence(node.orelse)):
            self._negate(node.test)
            self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Constant):
            self._add("negated condition", test, f"(not ({self._text(test)}))")

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add("constant", node, str(not node.value))
        elif isinstance(node.value, int):
            self._add("constant", node, f"({node.value} + 1)" if node.value != 1 else "0")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and not _speaks(node.value):
            self._add("dropped statement", node, "pass")
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add("dropped statement", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        if any(name.strip("_").isupper() for name in names) and isinstance(
            node.value, (ast.Constant, ast.BinOp, ast.UnaryOp)
        ):
            return  # a limit
        if names and _WORDS.issuperset(names):
            return
        if any(isinstance(t, ast.Attribute) and t.attr == "location" for t in node.targets):
            return
        if all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in node.targets):
            self._add("dropped statement", node, "pass")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        if node.value is not None and not name.strip("_").isupper():
            self.visit(node.value)

    def visit_Break(self, node: ast.Break) -> None:
        self._add("dropped statement", node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add("dropped statement", node, "pass")

    def visit_keyword(self, node: ast.keyword) -> None:
        """`strict=` of `zip` checks the compiler itself; others are messages."""
        if node.arg != "strict" and node.arg not in _WORDS:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """A refusal: what it says changes no number."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """A check of the compiler itself."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Python before 3.12 does not say where the parts stand."""

    def visit_Call(self, node: ast.Call) -> None:
        if _speaks(node):
            return
        plain = [a for a in node.args if not isinstance(a, ast.Starred)]
        if len(plain) == len(node.args) == 2 and not any(
            isinstance(a, (ast.Constant, ast.JoinedStr, ast.GeneratorExp)) for a in plain
        ):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called not in ("isinstance", "getattr", "hasattr", "cast", "max", "min", "zip"):
                start, middle, end = self._span(plain[0]), self._span(plain[1])[0], self._span(plain[1])[1]
                comma = self.source[start[1] : middle].decode()
                if "#" not in comma and "(" not in comma and ")" not in comma:
                    text = f"{self._text(plain[1])}{comma}{self._text(plain[0])}"
                    self.mutants.append(Mutant(self.file, plain[0].lineno, "swapped operands", start[0], end, text))
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in ("__repr__", "__str__") or _COSTS.search(node.name):
            return
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)


def _only_refuses(node: ast.If) -> bool:
    """Whether nothing follows of a condition but a refusal."""
    *_, last = node.body
    value = last.value if isinstance(last, (ast.Expr, ast.Return)) else None
    refuses = isinstance(last, ast.Raise) or (isinstance(value, ast.Call) and _speaks(value))
    plain = all(isinstance(n, (ast.Assign, ast.Expr, ast.Raise, ast.Return)) for n in node.body)
    return refuses and plain and not node.orelse


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_sentence(node: ast.expr) -> bool:
    """Whether it is a text for readers: it begins as a sentence or an article does."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return any(re.match(r"[A-Z][a-z]+ |an? |the |, ", text) for text in texts)


def _speaks(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _SPEAKS or name.endswith("Error")


def described(root: Path, mutant: Mutant) -> Iterator[str]:
    """The line before and after, for a reader."""
    source = (root / mutant.file).read_bytes()
    for text in (source, mutant.applied(source)):
        lines = text.decode().splitlines()
        yield lines[mutant.line - 1].strip() if mutant.line <= len(lines) else ""
