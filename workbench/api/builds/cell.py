"""A cell: text with several `def`s, made kernels and funcs together or not at all."""

from __future__ import annotations

import ast
import builtins
import io
import itertools
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from symtable import symtable
from typing import Any

from workbench.api.builds import build
from workbench.api.kernels.editions import note_bindings
from workbench.api.kernels.func import Func, attach, with_text
from workbench.api.kernels.kernel import Kernel
from workbench.api.kernels.struct import struct_of_node
from workbench.backends.base import Options
from workbench.errors import (
    CellErrors,
    DeviceError,
    KernelSyntaxError,
    KernelTypeError,
    WorkbenchError,
    its_type,
    must_be,
)
from workbench.events import CompileFailed, Remark, publish
from workbench.frontend.names.annotate import evaluated_defaults, value_in
from workbench.frontend.names.lost_values import lost_value
from workbench.frontend.names.python_names import reread, usable_in_kernel
from workbench.frontend.state.definition import MISSING, Definition, Scope
from workbench.passes.checks.bounds_checks import shared_stores
from workbench.runtime.device.device import get_device
from workbench.runtime.launching.checks import checks_wanted
from workbench.source import Location, Source, parsed

NATIVE = "native"
"""The architecture of the device that is here."""
CUSTOMS = {"func_grad": "gradient", "func_replay": "replay"}


@dataclass(frozen=True)
class Ahead:
    """The target that a cell's kernels are compiled for before their first launch.

    Attributes:
        backend: "auto", "cpu" or "cuda".
        gradient: whether adjoints are compiled too.
        options: of the code.
        arch: "native", or a GPU architecture such as "sm_90" that is compiled for as well.
        force: compile even what is cached.
        fma: whether kernels whose own decorator does not say contract `a * b + c`; None: as `WORKBENCH_FMA` says.
    """

    backend: str = "auto"
    gradient: bool = False
    options: Options = field(default_factory=Options)
    arch: str = NATIVE
    force: bool = False
    fma: bool | None = None

    def __post_init__(self) -> None:
        """Check the backend.

        Raises:
            DeviceError: it is not "auto", "cpu" or "cuda".
        """
        if self.backend not in ("auto", "cpu", "cuda"):
            raise DeviceError(f'backend is "auto", "cpu" or "cuda", not {self.backend!r}.')


KERNEL_OPTIONS = ("checkpoints", "matmul", "enable_backward", "fma")
"""The options of a kernel that its decorator in a cell may set."""


@dataclass(frozen=True, repr=False)
class Cell:
    """The kernels, funcs and structs that a cell defines.

    Attributes:
        source: its text.
        kernels: by name.
        funcs: by name: decorated ones, those that return a value, and those that another def of the cell calls.
        structs: the classes under `@struct`, by name.
        constants: numbers, vectors, types and tuples of them that its text assigns above the defs, by name.
        ahead: the target and options that `compile` compiles for; None: the defaults of `Ahead`.
        scope: the names that its text sees.
        remarks: what its reader should know: a name defined twice, a name of Python's own, a lost value.
    """

    source: Source
    kernels: dict[str, Kernel] = field(default_factory=dict[str, Kernel])
    funcs: dict[str, Func] = field(default_factory=dict[str, Func])
    structs: dict[str, type] = field(default_factory=dict[str, type])
    constants: dict[str, object] = field(default_factory=dict[str, object])
    ahead: Ahead | None = None
    scope: Scope = field(default_factory=Scope)
    remarks: list[str] = field(default_factory=list[str])

    @property
    def names(self) -> dict[str, object]:
        """The names that the cell adds to the namespace, with their values."""
        return {**self.constants, **self.structs, **self.funcs, **self.kernels}

    def bind(self, namespace: dict[str, object]) -> None:
        """Add what the cell defines to the namespace; report which kernels of other cells use it from now on.

        From then on the cell's own kernels, too, look names up in the namespace, as all others do.

            cell = wb.build_cell(text, globals())
            cell.bind(globals())

        Args:
            namespace: the one that the cell was read with.
        """
        rebind(self.names, namespace, self.source.name)
        self.scope.defined.clear()

    def __repr__(self) -> str:
        return f"<{self.source.name}: {', '.join(self.names)}>"

    def compile(self) -> None:
        """Compile the cell's kernels for the target that was requested, or load them from the cache.

        Generic kernels wait for their first launch.

        Raises:
            WorkbenchError: a compiler refused, a kernel has no right adjoint, or there is no such device.
        """
        ahead = self.ahead or Ahead()
        here = ahead.backend != "cuda" or ahead.arch == NATIVE
        device = get_device(None if ahead.backend == "auto" else ahead.backend) if here else None
        directions = ("forward", "adjoint") if ahead.gradient else ("forward",)
        kernels = [k.specialise() for k in self.kernels.values() if not k.is_generic]
        wanted = list(itertools.product(kernels, directions))
        if device is not None and not ahead.force and len(wanted) > 1:
            for specialisation, direction in wanted:  # side by side
                build.ahead(specialisation, direction, ahead.options, device)
        try:
            for specialisation, direction in wanted:
                if device is not None:
                    build.load(specialisation, direction, ahead.options, device, force=ahead.force)
                if ahead.arch != NATIVE:
                    build.compile_for(specialisation, direction, ahead.options, ahead.arch, ahead.force)
        except BaseException:
            for specialisation in kernels:
                specialisation.drop_builds()
            raise


def build_cell(
    text: str, namespace: Mapping[str, object], *, name: str = "cell", filename: str = "<cell>", line_offset: int = 0,
    backend: str = "auto", gradient: bool = False, fast_math: bool = False, checks: bool | None = None,
    constants: Mapping[str, object] | None = None, arch: str = NATIVE, force: bool = False, compile: bool = True,
    language: Mapping[str, object] | None = None, fma: bool | None = None,
) -> Cell:  # fmt: skip
    """Read a cell and build its kernels; generic ones are built by their first launch.

    Args:
        text: the cell: constants (`DT = 0.01`), and `def`s with or without decorators; a `def` is a func where it
            returns a value or is called by another one, else a kernel.
        namespace: the user's names, read now and checked again at each launch. `Cell.bind`, or an `update` with
            `Cell.names`, adds the cell's own.
        name: what people call the cell: `cell [4]`.
        filename: what Python calls it.
        line_offset: lines above the text that belong to the cell as its reader counts.
        backend: "auto", "cpu" or "cuda": what is built now.
        gradient: build the adjoints too.
        fast_math: build with approximate maths; launches of the cell's kernels use that.
        checks: whether the cell's kernels test bounds, asserts, integer divisions and shifts where a launch says
            nothing; None leaves it to the launch and to the default.
        constants: names and numbers that the cell sees before the namespace.
        arch: "native", or a GPU architecture such as "sm_90" that is compiled for as well (alone with backend "cuda"):
            needs NVRTC and no GPU.
        force: compile even what is cached.
        compile: False only reads and checks the cell; `Cell.compile()` does the rest, in another thread say. A launch
            that comes before its end waits for it.
        language: names that need no import; the caller's, all of the language in a notebook cell.
        fma: contract `a * b + c` in kernels whose own decorator does not say; None: as `WORKBENCH_FMA` says.

    Raises:
        WorkbenchError: what is wrong with the cell; several at once as `CellErrors`. Nothing is built then.
    """
    must_be(text, str, "build_cell() takes the text of a cell")
    must_be(namespace, Mapping, "build_cell() takes the names that the cell sees", advice="Write globals(), or {}.")
    source = Source(text, name, filename, line_offset)
    try:
        ahead = Ahead(backend, gradient, Options(checks=checks_wanted(checks), fast_math=fast_math), arch, force, fma)
        cell = _read(source, namespace, dict(constants or {}), language or {}, ahead)
        for kernel in cell.kernels.values():
            kernel.checks = checks if checks is not None else kernel.checks
            kernel.fast_math = fast_math
        _check(cell)
        for remark in (*cell.remarks, *_shared(cell)):
            publish(Remark(remark))
        if compile:
            cell.compile()
    except WorkbenchError as error:
        errors = error.errors if isinstance(error, CellErrors) else (error,)
        publish(CompileFailed(name, errors))
        raise
    return cell


def _read(
    source: Source,
    namespace: Mapping[str, object],
    constants: dict[str, object],
    language: Mapping[str, object],
    ahead: Ahead,
) -> Cell:
    """Return the cell of a source text: its constants, structs, kernels and funcs, all defined.

    Raises:
        KernelSyntaxError: it is not Python, or is nested too deeply.
        CellErrors: statements that a cell cannot hold, or all errors of its definitions together.
    """
    try:
        tree = parsed(source.text)
        symtable(source.text, "<cell>", "exec")  # two parameters of one name, and what else is no matter of grammar
        refuse_includes(source)
    except SyntaxError as error:
        refuse_cuda_cpp(source)
        line, column = error.lineno or 1, max(0, (error.offset or 1) - 1)
        raise KernelSyntaxError(
            f"This is not Python: {error.msg}.", Location(source, line, column, line, column + 1)
        ) from None
    except RecursionError:
        advice = "Give parts of its expressions names of their own."
        raise KernelSyntaxError("This cell is nested too deeply.", Location(source, 1, 0, 1, 0), advice) from None
    strays = [n for n in tree.body if not _belongs(n)]
    if strays or not any(isinstance(n, (ast.FunctionDef, ast.ClassDef)) for n in tree.body):
        raise CellErrors.of(_stray_error(source, n) for n in strays or [tree])
    nodes = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    scope = Scope(own=dict(constants), user=namespace, language=language)
    cell = Cell(source, ahead=ahead, scope=scope)
    for node in tree.body:
        if (name := _assigned(node)) and name not in constants:  # what the cell's options set goes first
            cell.constants[name] = value = _constant(source, scope, name, node)
            scope.defined.define(name, value, namespace)
    # Each has defaults of its own, filled when the defs above it mean something.
    definitions = [Definition(n.name, n, source, scope, defaults={}, written=_written(source, n)) for n in nodes]
    called = {name for definition in definitions for name in _reads(definition)}
    errors: list[WorkbenchError] = []
    for node in (n for n in tree.body if isinstance(n, ast.ClassDef)):
        try:
            class_ = cell.structs[node.name] = struct_of_node(node, source, scope)
            scope.defined.define(node.name, class_, namespace)
        except WorkbenchError as error:
            errors.append(error)
    if errors:
        raise CellErrors.of(errors)
    for definition in definitions:
        try:
            definition.defaults.update(evaluated_defaults(definition.node, source, scope))
            _define(cell, definition, called)
        except WorkbenchError as error:
            errors.append(error)
    if errors:
        raise CellErrors.of(errors)
    return cell


def _define(cell: Cell, definition: Definition, called: set[str]) -> None:
    """Add the func or kernel that a def defines to the cell.

    Remarks say that a name is defined twice or hides one of Python's own, or that a kernel loses a value.
    """
    node, name = definition.node, definition.name
    before = cell.names.get(name)
    custom, native = _custom(node), _native(definition)
    defined: Func | Kernel
    if native is not None:
        defined = native
    elif custom is not None:
        defined = Func(definition)
        attach(_decorated(definition, custom), definition, CUSTOMS[custom[0]])
    elif _is_func(definition, called):
        defined = Func(definition).beside(cell.funcs.get(name))
    else:
        defined = Kernel(definition, **{"fma": (cell.ahead or Ahead()).fma, **_kernel_options(definition)})
    if isinstance(defined, Func):
        cell.funcs[name] = defined
        cell.kernels.pop(name, None)
    else:
        cell.kernels[name] = defined
        cell.funcs.pop(name, None)
    definition.scope.defined.define(name, defined, definition.scope.user)
    if isinstance(defined, Kernel) and (lost := lost_value(definition)):
        cell.remarks.append(f"{lost[0]}: {lost[1]}")
    versions = len(defined.__wb_definitions__) if isinstance(defined, Func) else 1
    if before is not None and versions == 1:
        cell.remarks.append(f"{name} is defined twice in this cell; the last one counts")
    if name in vars(builtins) and before is None:
        cell.remarks.append(f"{name} hides Python's own {name} in this notebook; `del {name}` brings that back")


def _written(source: Source, node: ast.FunctionDef) -> tuple[str, int]:
    """Return the text of a def with its decorators, and the line, counted from 1, on which `def` is.

    ("", 0) if the cell has a character that does not end a line for both `str.splitlines` and Python's parser.
    """
    if any(c in source.text for c in _OTHER_ENDS):
        return "", 0
    first = min(n.lineno for n in (node, *node.decorator_list))
    return "\n".join(source.text.split("\n")[first - 1 : node.end_lineno]), node.lineno - first + 1


_OTHER_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters that end a line for `str.splitlines` or for Python's parser, and not for both alike."""


def _reads(definition: Definition) -> set[str]:
    """Return the names that a def reads from outside: neither its own name nor its parameters and locals."""
    names = [n for n in definition.nodes if isinstance(n, ast.Name)]
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    parameters = {a.arg for a in definition.nodes if isinstance(a, ast.arg)}
    return {n.id for n in names} - stored - parameters - {definition.name}


def _is_struct(node: ast.stmt) -> bool:
    """Return whether a statement is a class whose only decorator is `struct`."""
    if not isinstance(node, ast.ClassDef) or len(node.decorator_list) != 1:
        return False
    return ast.unparse(node.decorator_list[0]).split(".")[-1].removesuffix("()") == "struct"


def _belongs(node: ast.stmt) -> bool:
    """Return whether a statement may stand in a cell: a def, a struct, an assignment to a name, or a string."""
    return isinstance(node, ast.FunctionDef) or _is_struct(node) or _is_docstring(node) or bool(_assigned(node))


def _assigned(node: ast.stmt) -> str:
    """Return the name that `DT = 0.01` or `DT: float = 0.01` binds; empty for another statement."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    target = node.target if isinstance(node, ast.AnnAssign) and node.value is not None else target
    return target.id if isinstance(target, ast.Name) else ""


def _constant(source: Source, scope: Scope, name: str, node: ast.stmt) -> object:
    """Return the value of a constant of the cell.

    Raises:
        KernelTypeError: it cannot be evaluated, or is nothing that a kernel can read.
    """
    location = _whole_line(source, node)
    assert isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
    value = value_in(scope, node.value, location, f"The constant {name}")
    if not usable_in_kernel(value):
        advice = "A kernel cell holds defs and the constants that they read; make it in a cell of its own."
        raise KernelTypeError(f"{name} is {its_type(value)}, which is no constant of a kernel.", location, advice)
    return value


def _whole_line(source: Source, node: ast.AST) -> Location:
    """Return the location from a node's first column to the end of its first line."""
    line = getattr(node, "lineno", 1)
    return Location(source, line, getattr(node, "col_offset", 0), line, len(source.line(line)))


def _is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is a string literal alone, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _stray_error(source: Source, node: ast.AST) -> WorkbenchError:
    """Return the error for a statement that no cell may hold; for a module, that the cell defines nothing."""
    location = _whole_line(source, node)
    if isinstance(node, ast.Module):
        return KernelSyntaxError("This cell defines nothing.", location, "Write at least one def.")
    if isinstance(node, ast.ClassDef):
        advice = "Write @struct above it, or move it to a cell of its own."
        return KernelSyntaxError(f"The class {node.name} in a kernel cell is not a struct.", location, advice)
    return KernelSyntaxError(
        "A kernel cell holds only defs and constants.", location, "Move this line to a cell of its own."
    )


def _custom(node: ast.FunctionDef) -> tuple[str, ast.expr] | None:
    """Return the decorator's name and its argument if a def is a gradient or a replay (`@func_grad(f)`); else None."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args:
            word = ast.unparse(decorator.func).split(".")[-1]
            if word in CUSTOMS:
                return word, decorator.args[0]
    return None


def _kernel_options(definition: Definition) -> dict[str, object]:
    """Return the options written in `@kernel(checkpoints=…, matmul=…, enable_backward=…, fma=…)`, by name."""
    calls = [d for d in definition.node.decorator_list if isinstance(d, ast.Call)]
    named = [k for c in calls if ast.unparse(c.func).split(".")[-1] == "kernel" for k in c.keywords]
    return {k.arg: _literal(definition, "kernel", k.value) for k in named if k.arg in KERNEL_OPTIONS}


def _native(definition: Definition) -> Func | None:
    """Return the func of a def whose decorator holds CUDA text (`@func_native(…)`); None for another def."""
    for decorator in definition.node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).split(".")[-1] == "func_native":
            literals = [_literal(definition, "func_native", a) for a in decorator.args]
            return with_text(
                definition,
                *literals,
                **{k.arg: _literal(definition, "func_native", k.value) for k in decorator.keywords if k.arg},
            )
    return None


def _literal(definition: Definition, word: str, node: ast.expr) -> Any:
    """Return the value of an argument in the decorator `word`: a literal, or what a name in the cell's scope means.

    Raises:
        KernelSyntaxError: it is neither.
    """
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _decorated(definition, (word, node))


def _decorated(definition: Definition, custom: tuple[str, ast.expr]) -> Any:
    """Return the value of the name that is the argument of a decorator, which `custom` gives as (decorator, argument).

    Raises:
        KernelSyntaxError: there is no such name.
    """
    word, node = custom
    path = ast.unparse(node)
    value = reread(definition, path) if path.replace(".", "").isidentifier() else MISSING
    if value is MISSING:
        raise KernelSyntaxError(f"@{word} does not find {path}.", definition.locate(node), "Define the func above.")
    return value


def _is_func(definition: Definition, called: set[str]) -> bool:
    """Return whether a def is a func: by its decorator; undecorated, if the cell calls it or it returns a value."""
    words = {ast.unparse(d).split(".")[-1].split("(")[0] for d in definition.node.decorator_list}
    if words & {"kernel", "func"}:
        return "func" in words
    return definition.name in called or any(_returns_a_value(s) for s in definition.node.body)


def _returns_a_value(node: ast.AST) -> bool:
    """Return whether a statement, or one nested in it, returns a value from the function that it belongs to.

    Functions and classes defined inside it do not count.
    """
    if isinstance(node, ast.Return):
        return node.value is not None
    inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr))
    return not inside and any(_returns_a_value(n) for n in ast.iter_child_nodes(node))


def _shared(cell: Cell) -> Iterator[str]:
    """Yield a remark for each store by which all threads write one element, so that one value remains by chance."""
    for kernel in cell.kernels.values():
        if not kernel.is_generic and kernel.used is not None:
            for op in shared_stores(kernel.used.function):
                line = op.location.shown_line if op.location.line else 0
                yield (
                    f"{kernel.name}, line {line}: all threads write one element of {op.operands[0].name}, and one of "
                    "them stays; += adds all of them up"
                )


def _check(cell: Cell) -> None:
    """Infer the types of every kernel that is not generic, before any is compiled.

    Raises:
        WorkbenchError: the error of a kernel; several as `CellErrors`.
    """
    errors: list[WorkbenchError] = []
    for kernel in cell.kernels.values():
        try:
            if not kernel.is_generic:
                kernel.specialise()
        except WorkbenchError as error:
            errors += error.errors if isinstance(error, CellErrors) else (error,)
    if errors:
        raise CellErrors.of(errors)


_INCLUDE = re.compile(r"#\s*include\s*[<\"]")
_CPP = re.compile(r"\s*(#\s*include\b|#\s*define\b|(extern\s+\"C\"\s+)?__(global|device)__\s)")


def refuse_cuda_cpp(source: Source) -> None:
    """Refuse a text that is no Python and has a line of CUDA C++.

    Raises:
        KernelSyntaxError: it has one.
    """
    for number, line in enumerate(source.lines, 1):
        if match := _CPP.match(line):
            raise _error(source, number, match.start(1))


def refuse_includes(source: Source) -> None:
    """Refuse an `#include`, which Python takes for a comment, in a text that is Python.

    Raises:
        KernelSyntaxError: there is one.
    """
    if _INCLUDE.search(source.text) is None:
        return
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and _INCLUDE.match(token.string):
            raise _error(source, *token.start)


def _error(source: Source, line: int, column: int) -> KernelSyntaxError:
    """Return the error for CUDA C++ in a Python cell, located from this line and column to the end of the line."""
    location = Location(source, line, column, line, len(source.line(line)))
    advice = "Begin the cell with %%cuda, or pass the text to wb.cuda_module."
    return KernelSyntaxError("This is CUDA C++; kernels here are written in Python.", location, advice)


def rebind(names: Mapping[str, object], namespace: dict[str, object], cell: str) -> None:
    """Add a cell's names to the namespace; report which other kernels there use one whose meaning this changes.

    Builds in the background of kernels that these names meant before are cancelled.

    Args:
        names: the names, with their new values.
        namespace: changed in place.
        cell: the cell's name.
    """
    for replaced in [namespace.get(name) for name in names]:
        if isinstance(replaced, Kernel):
            replaced.drop_builds()
    namespace.update(names)
    note_bindings(namespace, cell)
    others = {id(k): k for k in list(namespace.values()) if isinstance(k, Kernel) and names.get(k.name) is not k}
    for kernel in others.values():
        for name in kernel.outdated_by(names, namespace):
            what = "calls this" if isinstance(names[name], Func) else "uses this"
            publish(Remark(f"{kernel.name} ({kernel.place.source.name}) now {what} {name}"))
