"""Lines of product code without blank lines, comments, docstrings and generated files, by package.

python .ci/count_lines.py [FOLDER]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

PACKAGES = ("workbench", "kernel_ext")
COMMENTS = {".ll": ";", ".hpp": "//", ".js": "//", ".css": "/*"}
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def python_lines(text: str) -> int:
    """Lines with code: those that hold a token besides comments, layout and docstrings."""
    strings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            strings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - strings)


def other_lines(text: str, comment: str) -> int:
    """Lines that are neither blank nor only a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith(comment) for line in text.splitlines())


def main(root: Path) -> None:
    """Print the count of each package and language."""
    counts: Counter[str] = Counter()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if path.suffix != ".py" and path.suffix not in COMMENTS:
                continue
            text = path.read_text(encoding="utf-8")
            lines = python_lines(text) if path.suffix == ".py" else other_lines(text, COMMENTS[path.suffix])
            counts[f"{package} {path.suffix}"] += lines
    for name, lines in sorted(counts.items()):
        print(f"{lines:7,} {name}")
    print(f"{counts.total():7,} in all")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]))
