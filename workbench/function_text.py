"""The source code of a Python function, found by file and line and compared with the code object that Python compiled.

A file may be saved while the program runs, text may be executed under the name of another file, and cell magics compile
text under names that no file has. So a `def` counts as a function's text only if compiling it again, in the same
circumstances, yields the same names, constants and bytecode; then it also counts where it has moved.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dis
import inspect
import linecache
import os
import re
import symtable
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from importlib.machinery import SourceFileLoader
from importlib.util import decode_source
from itertools import pairwise
from types import CodeType
from typing import Any, NamedTuple, cast

from workbench.errors import KernelSyntaxError
from workbench.host.narrow import is_tuple
from workbench.source import Source, nodes_of, parsed

_FLAGS = sum(getattr(__future__, name).compiler_flag for name in ("barry_as_FLUFL", "annotations"))
"""The compiler flags of `from __future__` that still change the code of a function."""
_LITERALS = (bool, int, float, complex, str, bytes, type(None), type(...), CodeType, tuple, frozenset)


class Text(NamedTuple):
    """Represents a `def` and the text around it.

    Attributes:
        node: its syntax tree; line numbers are those of `source`.
        source: the whole file or cell.
        block: the lines that alone make `node` what it is.
        first: the line of `source` where `block` begins.
    """

    node: ast.FunctionDef
    source: Source
    block: str
    first: int


def text_of(function: Callable[..., Any], source: str | None = None) -> Text:
    """Return the `def` that Python compiled to the function's code.

    Args:
        function: a function of Python.
        source: the text to look in; None: the file, or the notebook's cells.

    Raises:
        KernelSyntaxError: there is no text, or none that compiles to this code.
    """
    code, file = function.__code__, function.__code__.co_filename
    if source is not None:
        text = _search(code, _Read(Source(source, shown_name(file), file)))
        if text is None or not _same_header(text.node, function):
            raise KernelSyntaxError(
                f"The source code given for {code.co_name} has no def {code.co_name} that compiles to it.",
                advice="Pass the source code it was made from.",
            )
        return text
    changed = error = None
    for read in _texts(function):
        try:
            text = _search(code, read)
        except KernelSyntaxError as wrong:
            error, text = wrong, None
        if text is not None and _same_header(text.node, function):
            return text
        changed = changed or (read.source if os.path.exists(file) else None)
    if changed is not None and (text := _as_loaded(function)) is not None:
        return text
    if error is not None and "nested" in error.message:
        raise error
    if changed is not None:
        raise KernelSyntaxError(
            f"{changed.name} has changed since it was imported: the {code.co_name} in it is not what Python compiled.",
            advice="Reload it (importlib.reload); for text that exec ran, write wb.kernel(function, source=text).",
        )
    raise KernelSyntaxError(
        f"The source code of {code.co_name} cannot be found.", advice="Pass it: wb.kernel(function, source=text)."
    )


def shown_name(filename: str) -> str:
    """Return the name of a file for people: `cell [4]` or `this cell` for a cell, else the file's base name."""
    number = re.search(r"<ipython-input-(\d+)-", filename)
    if number:
        return f"cell [{number[1]}]"
    return "this cell" if "ipykernel_" in filename else os.path.basename(filename)


class _Read:
    """Represents a source text and what its functions share: a module of n funcs is parsed once, not n times."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines, with line ends."""
        return self.source.text.splitlines(keepends=True)

    @cached_property
    def imports(self) -> list[str]:
        """The words of the text's import statements, without parsing it."""
        return re.findall(r"\w+", " ".join(re.findall(r"^(?:from\s.*\s)?import\s(.*)", self.source.text, re.MULTILINE)))

    @cached_property
    def imported(self) -> list[str]:
        """The names that the text imports at its top level, from its symbol table."""
        table = symtable.symtable(self.source.text, self.source.filename, "exec")
        return [s.get_name() for s in table.get_symbols() if s.is_imported()]

    @cached_property
    def defs(self) -> dict[str, list[ast.FunctionDef]]:
        """Every `def` in the text, by name; a user copies a node before lowering, which notes things at nodes.

        Raises:
            SyntaxError: it is not Python.
            RecursionError: it is nested too deeply.
        """
        named: dict[str, list[ast.FunctionDef]] = {}
        for node in nodes_of(parsed(self.source.text)):
            if isinstance(node, ast.FunctionDef):
                named.setdefault(node.name, []).append(node)
        return named


_last: tuple[list[str], _Read] | None = None
"""The lines of the file that was read last, as `linecache` has them, and the text that they make."""


def _texts(function: Callable[..., Any]) -> Iterator[_Read]:
    """Yield the texts that may contain the function: the file as `linecache` has it, the file, then cells."""
    global _last
    file, before = function.__code__.co_filename, ""
    for again in (False, True):  # what is remembered may be nearer to what was compiled than the file is
        if again:
            linecache.checkcache(file)
        lines = linecache.getlines(file, function.__globals__)
        known = _last
        if known is None or known[0] is not lines or known[1].source.filename != file:
            known = _last = lines, _Read(Source("".join(lines), shown_name(file), file))
        text = known[1].source.text
        if text and text != before:
            yield known[1]
        before = text
    yield from map(_Read, _cells(function.__code__))


def _cells(code: CodeType) -> Iterator[Source]:
    """Yield the text below cell magics (`%%time`), which compile it under a name without text, newest first."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    history: list[str] = getattr(getattr(shell, "history_manager", None), "input_hist_raw", [])
    for number in range(len(history) - 1, 0, -1):
        above = re.match(r"(?:[ \t]*(?:%%.*)?\n)*", history[number])
        if above and "%%" in above[0] and code.co_name in history[number]:
            text = shell.transform_cell(history[number][above.end() :])
            yield Source(text, f"cell [{number}]", code.co_filename, above[0].count("\n"))


def _search(code: CodeType, read: _Read) -> Text | None:
    """Return the `def` in a text that compiles to the code: the one at the code's line, else the nearest of its name.

    None if no `def` does.

    Raises:
        KernelSyntaxError: the text is not Python, or is nested too deeply.
    """
    # Python compiles `name.attribute()` to other code where the text imports the name; mostly the words find those.
    text = _at_line(code, read.source, read.lines)
    if text is not None and _compiles_to(text.node, code, read.imports):
        return text
    try:
        defs, imported = read.defs.get(code.co_name, []), read.imported
    except SyntaxError as error:
        raise KernelSyntaxError(f"The source code of {code.co_name} is not Python: {error.msg}.") from None
    except RecursionError:
        advice = "Give parts of its expressions names of their own."
        raise KernelSyntaxError(f"The source code of {code.co_name} is nested too deeply.", advice=advice) from None
    for node in sorted(defs, key=lambda n: abs(_begin(n) - code.co_firstlineno)):
        # %%timeit puts the text into a function, where no import counts; a given text may lack its imports.
        if any(_compiles_to(node, code, names) for names in (imported, [], code.co_names)):
            block = "".join(read.lines[_begin(node) - 1 : node.end_lineno])
            return Text(copy.deepcopy(node), read.source, block, _begin(node))
    return None


def _as_loaded(function: Callable[..., Any]) -> Text | None:
    """Return the `def` that the module's own loader compiles to the code, if it rewrites what it loads; else None."""
    code = function.__code__
    loader = cast(Any, function.__globals__.get("__loader__"))
    if getattr(type(cast(object, loader)), "source_to_code", None) in (None, SourceFileLoader.source_to_code):
        return None
    try:
        data = loader.get_data(code.co_filename)
        compiled = loader.source_to_code(data, code.co_filename)
        source = Source(decode_source(data), shown_name(code.co_filename), code.co_filename)
        tree = parsed(source.text)
    except (OSError, SyntaxError, RecursionError):
        return None
    if not any(one.co_firstlineno == code.co_firstlineno and _key(one) == _key(code) for one in _codes(compiled)):
        return None
    defs = (n for n in nodes_of(tree) if isinstance(n, ast.FunctionDef) and n.name == code.co_name)
    node = next((n for n in defs if _begin(n) == code.co_firstlineno), None)
    lines = source.text.splitlines(keepends=True)
    return node and Text(node, source, "".join(lines[_begin(node) - 1 : node.end_lineno]), _begin(node))


def _codes(module: CodeType) -> list[CodeType]:
    """Return a code object and those nested in it, outer ones first."""
    codes = [module]
    for one in codes:  # which grows
        codes += [c for c in one.co_consts if isinstance(c, CodeType)]
    return codes


def _at_line(code: CodeType, source: Source, lines: list[str]) -> Text | None:
    """Return the `def` at the code's own line, for which only its block is parsed.

    None if there is no `def` of the code's name, or its block cannot be told by indentation.
    """
    start = code.co_firstlineno - 1
    if start >= len(lines) or not lines[start].lstrip().startswith(("@", "def ")):
        return None
    indent, end, inside = len(lines[start]) - len(lines[start].lstrip()), start, False
    for number in range(start, len(lines)):
        text = lines[number].lstrip()
        if not text or text.startswith("#"):
            continue
        if len(lines[number]) - len(text) <= indent:
            if inside and not text.startswith(")"):
                break
            inside = inside or text.startswith("def ")
        end = number + 1
    block = "".join(lines[start:end])
    try:
        tree = parsed(f"if 1:\n{block}" if indent else block)
    except (SyntaxError, RecursionError):
        return None  # a string or brackets reach further left than the def
    around = tree.body[0]
    body = around.body if indent and isinstance(around, ast.If) else tree.body
    node = body[0]
    if len(body) != 1 or not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return None
    ast.increment_lineno(node, start - bool(indent))
    return Text(node, source, block, start + 1)


def _begin(node: ast.FunctionDef) -> int:
    """Return the line where Python says that the function begins: its first decorator's."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _compiles_to(node: ast.FunctionDef, code: CodeType, imports: Iterable[str]) -> bool:
    """Return whether Python compiles the `def` to this code, possibly changed by pytest or coverage."""
    used = {name for one in _codes(code) for name in (*one.co_names, *one.co_varnames, *one.co_freevars)}
    imports = {*imports} & used
    same = _compiled(node, code, imports, -1)
    if same is None or _key(same) == _key(code):
        return same is not None
    # pytest rewrites asserts, and coverage inserts probes: they leave names and constants that no text can have.
    names = (*code.co_names, *code.co_varnames)
    if all(name.isidentifier() for name in names) and all(isinstance(c, _LITERALS) for c in code.co_consts):
        return False
    bare = _compiled(node, code, imports, 1)
    rewritten, shift = iter(_instructions(code, 0)), code.co_firstlineno - _begin(node)
    return (
        bare is not None
        and all(step in rewritten for step in _instructions(bare, shift))
        and _lines(code, 0) <= _lines(same, shift)
        and {_constant(c) for c in same.co_consts} <= {_constant(c) for c in code.co_consts}
        and {*same.co_names, *same.co_varnames} <= {*names}
    )


def _same_header(node: ast.FunctionDef, function: Callable[..., Any]) -> bool:
    """Return whether the `def` has the function's defaults (if literals) and annotations (if kept as text)."""
    values = function.__defaults__ or ()
    if len(values) != len(node.args.defaults):
        return False
    for default, value in zip(node.args.defaults, values, strict=True):
        try:
            literal = ast.literal_eval(default)
        except (ValueError, TypeError):
            continue  # the names in it mean what they mean by now
        if _constant(literal) != _constant(value):
            return False
    if not function.__code__.co_flags & __future__.annotations.compiler_flag:
        return True
    annotations = function.__annotations__
    written = {a.arg: a.annotation for a in (*node.args.posonlyargs, *node.args.args) if a.annotation is not None}
    return all(
        not isinstance(annotations.get(name), str)
        or ast.dump(parsed(annotations[name]).body[0].value) == ast.dump(annotation)  # type: ignore[attr-defined]
        for name, annotation in written.items()
    )


def _compiled(node: ast.FunctionDef, code: CodeType, imports: set[str], optimize: int) -> CodeType | None:
    """Return the code of the `def`, compiled where the names that `code` takes from around it are a function's.

    A class around it only mangles names (`__x`), and the nearest one counts. None if it does not compile so.
    """
    around: Any = node
    path = code.co_qualname.split(".")
    classes = [name for name, below in pairwise(path) if "<locals>" not in (name, below)]
    span: dict[str, Any] = {"lineno": node.lineno, "col_offset": 0, "end_lineno": node.lineno, "end_col_offset": 0}
    if classes:
        around = ast.ClassDef(classes[-1], [], [], [node], [], **span)
        around.type_params = []
    args = ast.arguments([], [ast.arg(n, **span) for n in code.co_freevars], None, [], [], None, [])
    # What the outer function binds is a global in the code, as in an overload that calls its own name.
    bare = [n for n in (classes[-1] if classes else node.name,) if n in code.co_names]
    body: list[ast.stmt] = [*([ast.Global(bare, **span)] if bare else []), around]
    outer: Any = ast.FunctionDef("<around>", args, body, [], **span)
    outer.type_params = []
    known = [ast.Import([ast.alias(name, **span)], **span) for name in sorted(imports)]
    try:
        module = compile(
            ast.Module([*known, outer], []),
            code.co_filename,
            "exec",
            code.co_flags & _FLAGS,
            dont_inherit=True,
            optimize=optimize,
        )
    except (SyntaxError, ValueError, RecursionError):
        return None
    # A class may have the same name.
    named = (c for c in _codes(module) if c.co_name == code.co_name and c.co_flags & inspect.CO_OPTIMIZED)
    return next(named, None)


def _key(code: CodeType) -> tuple[object, ...]:
    """Return a key of what the code does, equal for equal code at other lines."""
    return (
        code.co_name, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & 0xC,
        code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_exceptiontable,
        *map(_constant, code.co_consts),
    )  # fmt: skip


def _constant(value: object) -> object:
    """Return a key of a constant that tells 0.0 from -0.0 and 1 from True."""
    if isinstance(value, CodeType):
        return _key(value)
    if is_tuple(value):
        return tuple, tuple(map(_constant, value))
    if isinstance(value, frozenset):
        return frozenset, frozenset(map(_constant, cast("frozenset[object]", value)))
    return type(value), repr(value) if isinstance(value, (float, complex)) else value


_CONTROL = {
    "CACHE", "NOP", "RESUME", "EXTENDED_ARG", "COPY", "SWAP", "PUSH_NULL", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL",
    "RETURN_VALUE", "RETURN_CONST", "POP_TOP", "KW_NAMES",
}  # fmt: skip
"""Instructions that depend on those beside them, and that `_instructions` leaves out."""


def _instructions(code: CodeType, shift: int) -> list[tuple[object, ...]]:
    """Return what the code loads, stores and computes, each with its line plus `shift`; without control flow."""
    steps: list[tuple[object, ...]] = []
    for step in dis.get_instructions(code):
        line = (step.positions.lineno or 0) + shift if step.positions else 0
        if step.opname in _CONTROL or "JUMP" in step.opname or step.argval is None:
            continue
        if "_FAST" in step.opname:  # one instruction for two locals, where they stand side by side
            steps += [(line, name) for name in (step.argval if is_tuple(step.argval) else (step.argval,))]
        elif step.opname == "LOAD_CONST":
            steps.append((line, *(_constant(c) for c in [step.argval] if not isinstance(c, CodeType))))
        else:
            steps.append((line, step.opname, step.argval if step.opcode not in dis.hasjrel else None))
    return steps


def _lines(code: CodeType, shift: int) -> set[int]:
    """Return the lines that have code, each plus `shift`."""
    return {line + shift for *_, line in code.co_lines() if line}
