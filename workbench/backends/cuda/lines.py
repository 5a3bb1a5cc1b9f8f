"""The lines that generated text is from: for reading next to the cell, and as numbers of IR operations.

Text for reading ends its lines in `// @ line` of the cell. The compiler is given `#line` directives; here they, and
the `.loc` of PTX made from such text, become comments, so that a reader sees one text and a view knows which lines
belong together.
"""

from __future__ import annotations

import re

from workbench.deep import with_deep_stack
from workbench.ir.build import replace_body
from workbench.ir.values import Block, Function, Op, number_ops
from workbench.source import Location, Source

_LINE = re.compile(r'#line (\d+) "/cell/([^"]*)"')
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"/cell/([^"]*)"')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s")


def repeated(text: str) -> str:
    """Return the text with each `#line` directive repeated before every row that it applies to.

    Compilers count on from a directive, so that the later rows of a statement would be of later lines.
    """
    rows: list[str] = []
    directive = ""
    for row in text.split("\n"):
        if _LINE.match(row):
            directive = row
        elif row.startswith("}"):
            directive = ""
        elif directive and rows and rows[-1] != directive:
            rows.append(directive)
        rows.append(row)
    return "\n".join(rows)


def marked_cuda(text: str, label: str, offset: int) -> str:
    """Return CUDA C++ with its `#line` directives replaced by comments at the ends of rows, `// @ line`.

    Args:
        text: what `emit_cuda(…, lines=True)` returned.
        label: of the source whose lines are shown; lines of others get no comment.
        offset: lines of the cell before that source.
    """
    rows: list[str] = []
    at = 0
    for row in text.split("\n"):
        directive = _LINE.match(row)
        if directive:
            at = int(directive[1]) if directive[2] == label else 0
        elif row.startswith("}"):
            rows.append(row)
            at = 0
        else:
            rows.append(_marked(row, at, offset))
    return "\n".join(rows)


def marked_ptx(text: str, label: str, offset: int) -> str:
    """Return PTX with its `.loc` directives replaced by comments, `// @ line`, and without `.file` directives.

    Args:
        text: PTX of `emit_cuda(…, lines=True)`.
        label: of the source whose lines are shown; lines of others get no comment.
        offset: lines of the cell before that source.
    """
    files = {m[1] for m in map(_FILE.match, text.split("\n")) if m and m[2] == label}
    rows: list[str] = []
    at = 0
    for row in text.split("\n"):
        directive = _LOC.match(row)
        if directive:
            at = int(directive[2]) if directive[1] in files else 0
        elif not row.lstrip().startswith(".file"):
            rows.append(_marked(row, 0 if row.startswith(("$", "}", ".")) else at, offset))
    return "\n".join(rows)


def _marked(row: str, at: int, offset: int) -> str:
    """Return a row with the comment `// @ line` if `at` is a line and the row has more than braces."""
    return f"{row}  // @ {at + offset}" if at and row.strip(" \t{}") else row


NUMBERS = Source("")


@with_deep_stack
def lines_by_operation(function: Function) -> Function:
    """Return the function with each operation's number as its line, so that cached code contains no line of a cell.

    A comment above a kernel moves its lines and nothing else: the code is found in the cache, and the numbers are
    turned into lines with the IR of the open cell (as for faults, `design/faults.md`).
    """
    numbers = number_ops(function)

    def block(old: Block) -> Block:
        return Block(old.params, tuple(changed(op) for op in old.ops))

    def changed(op: Op) -> Op:
        blocks = tuple(map(block, op.blocks))
        return Op(op.name, op.operands, op.results, op.attrs, blocks, Location(NUMBERS, numbers[op]))

    return replace_body(function, block(function.body))
