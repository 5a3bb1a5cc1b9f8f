"""Generated text whose lines end in `// @ line` of the cell, for reading next to it.

The compiler is given `#line` directives; here they, and the `.loc` of PTX made from such text, become comments, so that
a reader sees one text and a view knows which lines belong together.
"""

from __future__ import annotations

import re

_LINE = re.compile(r'#line (\d+) "/cell/([^"]*)"')
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"/cell/([^"]*)"')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s")


def repeated(text: str) -> str:
    """Return the text with each `#line` directive again before every row that it is for.

    A directive says where the next row is from, and compilers count on from there: of a statement of several rows the
    later ones would be of later lines.
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
    """Return CUDA C++ with `#line` directives, as text with comments.

    Args:
        text: what `emit_cuda(…, lines=True)` returned.
        label: of the source that the lines are of; lines of others get no comment.
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
    """Return PTX with `.loc` directives, as text with comments; arguments as for `marked_cuda`."""
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
    return f"{row}  // @ {at + offset}" if at and row.strip(" \t{}") else row
