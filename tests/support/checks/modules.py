"""The files of the library and what they import, parsed once for all architecture tests."""

from __future__ import annotations

import ast
import gc
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("workbench", "kernel_ext")


@dataclass(frozen=True)
class Import:
    """One imported module, as a dotted name, with where it stands."""

    module: str
    names: tuple[str, ...]
    line: int
    inside_function: bool
    only_for_types: bool
    by_string: bool = False


@cache
def files(package: str) -> tuple[Path, ...]:
    """The Python files of a folder of the project, in order."""
    return tuple(sorted((ROOT / package).rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    """A file's syntax tree."""
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    gc.freeze()  # a million nodes that stay: each later collection of the process would go through them
    return parsed


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    """All imports of a file."""
    return tuple(imports(tree(path)))


def imports(module: ast.AST) -> list[Import]:
    """All imports of a tree; those of functions and of `if TYPE_CHECKING:` are marked."""
    found: list[Import] = []

    def walk(node: ast.AST, inside: bool, typing: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend(Import(alias.name, (), child.lineno, inside, typing) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                names = tuple(alias.name for alias in child.names)
                found.append(Import("." * child.level + (child.module or ""), names, child.lineno, inside, typing))
            else:
                if (name := _by_string(child)) is not None:
                    found.append(Import(name, (), child.lineno, inside, typing, by_string=True))  # type: ignore[attr-defined]
                is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                is_typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
                walk(child, inside or is_function, typing or is_typing)

    walk(module, False, False)
    return found


def _by_string(node: ast.AST) -> str | None:
    """The module, or the package if the rest is computed, that `import_module("…")` names."""
    if not (isinstance(node, ast.Call) and node.args):
        return None
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called != "import_module":
        return None
    text = node.args[0]
    if isinstance(text, ast.JoinedStr) and text.values and isinstance(text.values[0], ast.Constant):
        return str(text.values[0].value).rpartition(".")[0]
    return text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
