"""The functions behind the cell magics: build a cell's kernels, bind them, notify a watcher.

Scripts, other notebooks and tests call these; nothing here knows IPython. A session of cells remembers which kernels
came from which cell, so that running a cell again replaces them and a cell that fails leaves none that looks current.

A cell of CUDA C++ (`%%cuda`) is read with its options and headers. A header is a cell that others include. The session
keeps it, so a cell that uses it is compiled with its latest text.

Of the cell that is running there are its text as it was typed, the file that its code carries, and the notebook's.
"""

from __future__ import annotations

import ast
import difflib
import linecache
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec

import workbench as wb
from kernel_ext.refusal import Refusal
from kernel_ext.session import status
from kernel_ext.views.kernels import queries
from kernel_ext.views.view_data import PaneView, StatusView
from workbench import Func, events
from workbench.errors import NotDifferentiable, its_type
from workbench.source import Source

Watcher = Callable[[StatusView], None]
T = TypeVar("T")
Reader = Callable[[str, dict[str, Any], "CellOptions", "CellOrigin"], Any]


class CellOptions(msgspec.Struct, frozen=True):
    """Represents the options of a `%%kernel` line.

    Attributes:
        name: what to call the cell instead of its number.
        backend: "auto", "cpu" or "cuda".
        constants: names and values that the kernels may use.
        panes: texts to show at once for each kernel.
        gradient: compile the adjoints too.
        fast_math: allow reassociation and approximate maths.
        checks: test bounds, asserts, integer divisions and shifts; None: as the session does.
        arch: "native", or a GPU architecture that is compiled for as well.
        force: compile even what is cached.
        background: bind the names when the cell has been read and checked, and compile in a thread.
        fma: contract `a * b + c`; None: as the kernels or the environment say.
    """

    name: str = ""
    backend: str = "auto"
    constants: tuple[tuple[str, Any], ...] = ()
    panes: tuple[str, ...] = ()
    gradient: bool = False
    fast_math: bool = False
    checks: bool | None = None
    arch: str = "native"
    force: bool = False
    background: bool = False
    fma: bool | None = None


class CellOrigin(msgspec.Struct, frozen=True):
    """Represents the origin of a cell's text.

    Attributes:
        name: what people call it: `cell [4]`.
        filename: its name in Python's tracebacks.
        line_offset: lines of the cell before its kernel text.
        identity: the same for each run of the same cell; empty if the front end gives none.
    """

    name: str
    filename: str
    line_offset: int = 1
    identity: str = ""


class Built(msgspec.Struct, frozen=True):
    """Represents a cell that was built.

    Attributes:
        view: the last view of its status.
        kernels: by name.
        cell: the library's object for the cell: a `Cell`, or a `CudaModule`.
        work: the compilation that goes on in the background; None if all is done.
        arch: the GPU architecture that it was compiled for as well.
    """

    view: StatusView
    kernels: dict[str, Any]
    cell: Any = None
    work: Any = None
    arch: str = queries.NATIVE

    def pane(self, kernel: str, name: str) -> PaneView:
        """Return the text called `name` about one of the kernels, such as "ir"."""
        return queries.pane_views(self.kernels[kernel], (name,), self.arch)[0]


class Cells:
    """Represents the kernel cells of one session: which kernels and funcs the last run of each cell defined."""

    def __init__(self) -> None:
        """Start a session in which no cell has run."""
        self._defined: dict[str, dict[str, Any]] = {}

    def build(
        self, text: str, namespace: dict[str, Any], options: CellOptions, origin: CellOrigin, watch: Watcher,
        ended: Watcher | None = None, read: Reader | None = None,
    ) -> Built:  # fmt: skip
        """Build the kernels of `text` and bind their names in `namespace`; `read` makes the cell from the text.

        `watch` gets a view after each event, from the thread that published it, and the last one too. The build runs in
        a thread of its own, so that an interrupt is answered at once: the build is dropped, and what it makes until its
        next stage is for the cache alone. With `options.background`, `ended` gets the last view from that thread.

        Raises:
            WorkbenchError: the cell is wrong; nothing is bound, and the kernels it stood for are stale.
            KeyboardInterrupt: the user interrupted it; nothing is bound either.
        """
        fold = _Fold(StatusView(cell=origin.name, started=time.time()), watch)
        work = wb.Work(fold.owned(lambda: (read or _read)(text, namespace, options, origin)), name=origin.name)
        try:
            cell = work.result()
        except BaseException as error:
            work.drop()
            self._fail(text, namespace, origin)
            fold.end(status.fail(fold.view, error))
            raise
        fold.owned(lambda: cell.bind(namespace))()
        self._replace(origin, cell.names)
        kernels = dict(cell.kernels)
        if options.background:
            rest = wb.Work(fold.owned(lambda: _compile(cell, options, origin, fold, ended)), name=origin.name)
            return Built(fold.view, kernels, cell, rest, options.arch)
        return Built(fold.end(_finished(fold, cell, options)), kernels, cell, arch=options.arch)

    def _replace(self, origin: CellOrigin, defined: dict[str, Any]) -> None:
        """Mark as stale what only the cell's earlier run defined; store what it defines now if it has an identity."""
        for name, old in self._defined.get(origin.identity, {}).items():
            if name not in defined:
                old.mark_stale(f"{origin.name} was run again and no longer defines {name}.")
        if origin.identity:
            self._defined[origin.identity] = {name: value for name, value in defined.items() if _can_be_stale(value)}

    def _fail(self, text: str, namespace: dict[str, Any], origin: CellOrigin) -> None:
        """Mark as stale what the cell's earlier run defined, and what the namespace has under names of its text."""
        old = dict(self._defined.get(origin.identity, {}))
        old |= {name: namespace[name] for name in defined_names(text) if _can_be_stale(namespace.get(name))}
        for name, value in old.items():
            value.mark_stale(f"{origin.name}, which defines {name}, no longer compiles.")


def _read(text: str, namespace: dict[str, Any], options: CellOptions, origin: CellOrigin) -> Any:
    """Build a cell of kernels with these options; with `background` only read and check it."""
    return wb.build_cell(
        text,
        namespace,
        name=origin.name,
        filename=origin.filename,
        line_offset=origin.line_offset,
        backend=options.backend,
        gradient=options.gradient,
        fast_math=options.fast_math,
        checks=options.checks,
        constants=dict(options.constants) or None,
        arch=options.arch,
        force=options.force,
        compile=not options.background,
        fma=options.fma,
    )


def _compile(cell: Any, options: CellOptions, origin: CellOrigin, fold: _Fold, ended: Watcher | None) -> None:
    """Compile a cell in the background, and report how that ended; if it failed, its kernels become stale."""
    try:
        cell.compile()
    except BaseException as error:
        outcome = "failed" if isinstance(error, Exception) else "was ended"
        for kernel in cell.kernels.values():
            kernel.mark_stale(f"the compilation of {origin.name} in the background {outcome}.")
        view = status.fail(fold.view, error)
    else:
        view = _finished(fold, cell, options)
    fold.end(view)
    if ended is not None:
        ended(view)


def _finished(fold: _Fold, cell: Any, options: CellOptions) -> StatusView:
    """Return the view of a cell whose build succeeded, with the panes that the options ask for."""
    panes = [
        pane for kernel in cell.kernels.values() for pane in queries.pane_views(kernel, options.panes, options.arch)
    ]
    return status.finish(fold.view, cell.kernels, panes)


def is_building() -> bool:
    """Return whether a cell is being built; its card then shows notices and compilations."""
    return any(isinstance(subscriber, _Fold) for subscriber, _ in events.SUBSCRIBERS)


class _Fold:
    """Folds the events of one build into a view; safe to call from several threads, silent once ended."""

    _owners: ClassVar[dict[int, _Fold]] = {}  # thread to the build that it works for

    def __init__(self, view: StatusView, watch: Watcher) -> None:
        """Begin with `view`; from now on each event of the build makes a new one, with which `watch` is called."""
        self.view = view
        self._watch = watch
        self._lock = threading.RLock()
        self._ended = False
        self._unsubscribe = events.subscribe(self, *status.WATCHED)

    def owned(self, call: Callable[[], T]) -> Callable[[], T]:
        """Wrap `call` so that its thread works for this build while it runs: other builds get no events of it."""

        def run() -> T:
            thread = threading.get_ident()
            self._owners[thread] = self
            try:
                return call()
            finally:
                self._owners.pop(thread, None)

        return run

    def __call__(self, event: events.Event) -> None:
        """Update the view by an event and notify the watcher; ignore events of threads that work for another build."""
        if self._owners.get(threading.get_ident(), self) is not self:
            return
        with self._lock:
            if not self._ended:
                self.view = status.advance(self.view, event)
                self._watch(self.view)

    def end(self, view: StatusView) -> StatusView:
        """Take no more events, notify the watcher of the last view, and return that."""
        self._unsubscribe()
        with self._lock:
            self.view, self._ended = view, True
            self._watch(view)
        return view


def defined_names(text: str) -> tuple[str, ...]:
    """Return the names that a cell's top-level `def`s or `__global__` functions bind, even if it does not parse."""
    if "__global__" in text:
        return tuple(re.findall(r"__global__[^;{}(]*?(\w+)\s*\(", text))
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return tuple(re.findall(r"^def\s+(\w+)", text, re.MULTILINE))
    return tuple(node.name for node in body if isinstance(node, ast.FunctionDef))


def is_kernel(value: Any) -> bool:
    """Return whether `value` is a kernel; only its class is looked at, so that no property of a user's object runs."""
    return _can_be_stale(value) and not isinstance(value, Func)


def _can_be_stale(value: Any) -> bool:
    """Return whether `value` is a kernel, a func or another object with `mark_stale`."""
    return callable(getattr(type(value), "mark_stale", None))


def find_kernel(name: str, namespace: dict[str, Any]) -> Any:
    """Return the kernel called `name` in `namespace`.

    Raises:
        Refusal: there is none; the message names the nearest, or all.
    """
    candidate = namespace.get(name)
    if is_kernel(candidate):
        return candidate
    known = sorted(key for key, value in namespace.items() if is_kernel(value) and not key.startswith("_"))
    near = difflib.get_close_matches(name, known, 1)
    what = f"{name} is {its_type(candidate)}, not a kernel" if name in namespace else f"there is no kernel {name}"
    advice = (
        f"did you mean {near[0]}?"
        if near
        else f"kernels here: {', '.join(known)}"
        if known
        else "no cell has defined one yet"
    )
    raise Refusal(f"{what}; {advice}")


def parse_constants(items: Iterable[str], namespace: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Parse `K=V` items into names and values; V is a Python expression over `namespace`.

    Raises:
        Refusal: an item is not of that form, or its expression fails.
    """
    constants = []
    for item in items:
        name, equals, expression = item.partition("=")
        if not (equals and name.isidentifier() and expression.strip()):
            raise Refusal(f"-D takes NAME=VALUE, such as -D DT=0.01; it got {item!r}")
        try:
            constants.append((name, eval(expression, dict(namespace))))
        except Exception as error:
            raise Refusal(f"-D {item}: the value does not evaluate ({type(error).__name__}: {error})") from None
    return tuple(constants)


def parse_panes(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Parse comma- or space-separated pane names.

    Raises:
        Refusal: a name is not a pane.
    """
    names = tuple(dict.fromkeys(re.split(r"[,\s]+", text.strip()))) if text.strip() else ()
    for name in names:
        if name not in known:
            raise Refusal(f"there is no pane {name!r}; the panes are {', '.join(known)}")
    return names


RUNS = ("device", "emulated")


class CudaOptions(msgspec.Struct, frozen=True):
    """Represents the options of a `%%cuda` line besides those of `%%kernel`.

    Attributes:
        run: "device" or "emulated".
        use: headers to include above the cell.
        include: folders of other headers.
    """

    run: str = "device"
    use: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


class Headers(msgspec.Struct):
    """Holds the cells of a session that others include, by name."""

    sources: dict[str, Source] = msgspec.field(default_factory=dict)

    def save(self, name: str, text: str, origin: CellOrigin) -> str:
        """Store a cell under a name; return a sentence on what was stored.

        Raises:
            Refusal: the cell defines a kernel: that would be in every cell that includes it.
        """
        if "__global__" in text:
            raise Refusal(f"--header {name}: the cell has a __global__ function; headers hold __device__ functions")
        again = "replaced" if name in self.sources else "saved"
        self.sources[name] = Source(text, origin.name, origin.filename, origin.line_offset)
        return f'header {name} {again} · %%cuda --use {name}, or #include "{name}"'


def run_of(backend: str, run: str) -> str:
    """Return where the cell's kernels run, "device" or "emulated"; empty if neither option says it.

    `-b cuda` and `--run device` mean the same.

    Raises:
        Refusal: they contradict each other, or CUDA C++ cannot run there.
    """
    if run == "host" or backend == "cpu":
        option = f"--run {run}" if run == "host" else f"-b {backend}"
        raise Refusal(f"{option}: CUDA C++ runs on a GPU or on the emulated device; write --run emulated")
    if run not in ("", *RUNS):
        raise Refusal(f"--run {run}: write --run {' or --run '.join(RUNS)}")
    wanted = "device" if backend == "cuda" else ""
    if wanted and run and wanted != run:
        raise Refusal(f"-b {backend} and --run {run} contradict each other; leave one out")
    return run or wanted


def reader(cuda_options: CudaOptions, headers: Headers) -> Reader:
    """Return the function that makes a CUDA C++ module from a cell's text, with these options and headers."""

    def read(text: str, namespace: dict[str, Any], options: CellOptions, origin: CellOrigin) -> Any:
        module = wb.cuda_module(
            text,
            name=origin.name,
            filename=origin.filename,
            line_offset=origin.line_offset,
            run=cuda_options.run,
            arch=options.arch,
            defines=dict(options.constants),
            use=cuda_options.use,
            headers=headers.sources,
            include=cuda_options.include,
            fast_math=options.fast_math,
            force=options.force,
            compile=False,
        )
        module.checks = options.checks
        for kernel in module.kernels.values():
            kernel.checks = options.checks
        if options.gradient:
            _need_gradients(module)
        if not options.background:
            module.compile()
        return module

    return read


def _need_gradients(module: wb.CudaModule) -> None:
    """Raise NotDifferentiable if a kernel of the module has no matching `…_adjoint` kernel."""
    for name, kernel in module.kernels.items():
        if f"{name}_adjoint" not in module.kernels and not name.endswith("_adjoint"):
            raise NotDifferentiable(
                f"--grad asks for gradients, and {name} has none.",
                kernel.place,
                f"Write a kernel {name}_adjoint in this cell, or leave --grad out.",
                name,
            )


def whole_cell(shell: Any, cell: str) -> str:
    """Return the cell as it was typed, its magic's line included; empty if the shell does not say."""
    typed = getattr(shell.history_manager, "input_hist_raw", None) or [""]
    return typed[-1] + ("\n" if cell.endswith("\n") and not typed[-1].endswith("\n") else "")


def notebook_file() -> Path | None:
    """Return the file of the running notebook, which Jupyter's servers name to kernels that they start; else None."""
    name = os.environ.get("JPY_SESSION_NAME", "")
    return Path(name) if name.endswith(".ipynb") else None


def running_file(shell: Any, cell: str) -> str:
    """Return the file name in the running cell's code; with no cell on the stack, the one IPython would give."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is shell.user_global_ns and frame.f_code.co_name == "<module>":
            return frame.f_code.co_filename
        frame = frame.f_back
    return shell.compile.cache(cell, shell.execution_count)


def lines_before(shell: Any, cell: str) -> int:
    """Return the number of lines of the typed cell before `cell`: its magic's, and empty ones above; 1 if unknown."""
    typed = whole_cell(shell, cell)
    return typed[: -len(cell)].count("\n") if typed.endswith(cell) else 1


def keep_lines(shell: Any, filename: str, line: str, cell: str) -> None:
    """Store the typed cell in `linecache` under `filename`, its code's, so that tracebacks show the reader's lines."""
    typed = whole_cell(shell, cell)
    lines = (typed if typed.endswith(cell) else f"{line}\n{cell}").splitlines(keepends=True)
    linecache.cache[filename] = (sum(map(len, lines)), None, lines, filename)


def run_below(shell: Any, line: str, cell: str) -> None:
    """Run the lines below a magic's `line` under the cell's own file and line numbers.

    The last one may be a value, which is shown unless a semicolon ends it, as in every cell.
    """
    __tracebackhide__ = True  # of an error of the cell's own, the reader sees the cell's lines
    filename = running_file(shell, cell)
    keep_lines(shell, filename, line, cell)
    tree = ast.parse(shell.transform_cell(cell), filename)
    ast.increment_lineno(tree, lines_before(shell, cell))
    shown = tree.body and isinstance(tree.body[-1], ast.Expr) and not cell.rstrip().endswith(";")
    last = [tree.body.pop()] if shown else []
    for code in (compile(tree, filename, "exec"), compile(ast.Interactive(last), filename, "single")):
        exec(code, shell.user_global_ns, shell.user_ns)
