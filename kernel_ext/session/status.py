"""Events in, status view out.

Each event makes a new view from the old one, so what the card shows can be tested as a list of values, and a lost or
late event can at worst leave a row as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from kernel_ext.views import html
from kernel_ext.views.view_data import ErrorRow, KernelRow, PaneView, StageRow, StatusView
from workbench import events
from workbench.errors import CellErrors, WorkbenchError

SPEAKS_FIRST = ("failed", "compiling", "recompiled", "compiled", "disk hit", "memory hit")
"""The state of a cell is the first of these that one of its rows has."""

_FACTS = (
    ("registers", "{} regs"),
    ("stack", "{} B local"),
    ("spill_stores", "{} spill"),
    ("shared", "{} B shared"),
    ("matmul", "matmul {}"),
    ("checks", "checks"),
    ("order", "order of sums {}"),
    ("unvectorised", "not vectorised: {}"),
)


def advance(view: StatusView, event: events.Event) -> StatusView:
    """Return the status view after an event; events of kinds that are not shown leave it as it is."""
    handler = _HANDLERS.get(type(event))
    return _headed(handler(view, event)) if handler else view


def finish(view: StatusView, kernels: Iterable[str], panes: Iterable[PaneView] = ()) -> StatusView:
    """Return the view of a cell whose build is over, without rows of other kernels that were built meanwhile."""
    names = tuple(kernels)
    rows = tuple(r for r in view.rows if r.kernel in names)
    rows = tuple(replace(r, state="compiled") if r.state == "compiling" else r for r in rows)
    return _headed(replace(view, rows=rows, kernels=names, panes=tuple(panes), state="ready"))


def fail(view: StatusView, error: BaseException) -> StatusView:
    """Return the view of a cell that could not be built, with a row for each error."""
    rows = tuple(replace(r, state="failed") if r.state == "compiling" else r for r in view.rows)
    return _headed(replace(view, rows=rows, errors=error_rows(error), state="failed"))


def error_rows(error: BaseException) -> tuple[ErrorRow, ...]:
    """Return rows for an error: one for each error in `CellErrors`, in their order, else a single one."""
    if isinstance(error, CellErrors):
        return tuple(row for each in error.errors for row in error_rows(each))
    if isinstance(error, WorkbenchError):
        line = error.location.shown_line if error.location and error.location.line else 0
        return (ErrorRow(type(error).__name__, line, f"{error.message}  {error.advice}".rstrip()),)
    return (ErrorRow(type(error).__name__, 0, str(error) or _WORDLESS.get(type(error), type(error).__name__)),)


_WORDLESS: dict[type[BaseException], str] = {KeyboardInterrupt: "interrupted"}


def headline(view: StatusView) -> str:
    """Return the line on a cell's build by the view's state: what happened, to which kernels, how long it took."""
    return _LINES[view.state](view)


def _headed(view: StatusView) -> StatusView:
    """Return the view with the state that its rows say, unless it has failed, and the headline of that state."""
    states = {r.state for r in view.rows}
    if view.state != "failed":
        fallback = "ready" if view.state == "ready" else "compiling"
        view = replace(view, state=next((s for s in SPEAKS_FIRST if s in states), fallback))
    return replace(view, headline=headline(view))


def _change(view: StatusView, kernel: str, direction: str, edit: Callable[[KernelRow], KernelRow]) -> StatusView:
    """Return the view with the row of a kernel and direction replaced by `edit` of it; a new row comes last."""
    rows = list(view.rows)
    for i, row in enumerate(rows):
        if (row.kernel, row.direction) == (kernel, direction):
            rows[i] = edit(row)
            break
    else:
        rows.append(edit(KernelRow(kernel, direction)))
    return replace(view, rows=tuple(rows))


def _started(view: StatusView, event: Any) -> StatusView:
    """Return the view with the kernel's row compiling, for the event's backend and target."""

    def edit(row: KernelRow) -> KernelRow:
        return replace(row, state="compiling", backend=event.backend, target=event.target)

    return _change(view, event.kernel, event.direction, edit)


def _stage(view: StatusView, event: Any) -> StatusView:
    """Return the view with a finished stage, and its seconds, appended to the kernel's row."""

    def edit(row: KernelRow) -> KernelRow:
        return replace(row, stages=(*row.stages, StageRow(event.stage, event.seconds)))

    return _change(view, event.kernel, event.direction, edit)


def _hit(view: StatusView, event: Any) -> StatusView:
    """Return the view with the kernel's row a cache hit, in memory or on disk, with the artifact's key and facts."""

    def edit(row: KernelRow) -> KernelRow:
        return replace(
            row,
            state=f"{event.where} hit",
            key=event.key,
            seconds=event.seconds,
            facts=_facts(event.metadata),
            built=event.metadata.get("built"),
            backend=event.metadata.get("backend", row.backend),
            target=event.metadata.get("target", row.target),
        )

    return _change(view, event.kernel, event.direction, edit)


def _miss(view: StatusView, event: Any) -> StatusView:
    """Return the view with the key in the kernel's row, and why the cache has no artifact for it."""
    return _change(view, event.kernel, event.direction, lambda row: replace(row, key=event.key, why=tuple(event.why)))


def _done(view: StatusView, event: Any) -> StatusView:
    """Return the view with the kernel's row compiled (recompiled if it has reasons), with key, times and facts."""

    def edit(row: KernelRow) -> KernelRow:
        stages = tuple(StageRow(name, spent) for name, spent in event.stages.items()) or row.stages
        return replace(
            row,
            state="recompiled" if row.why else "compiled",
            key=event.key,
            seconds=event.seconds,
            stages=stages,
            facts=_facts(event.metadata),
            backend=event.metadata.get("backend", row.backend),
            target=event.metadata.get("target", row.target),
        )

    return _change(view, event.kernel, event.direction, edit)


def _failed(view: StatusView, event: Any) -> StatusView:
    """Return the view failed, as are the kernel's rows that were compiling, with the event's errors appended."""
    rows = tuple(
        replace(r, state="failed") if r.kernel == event.kernel and r.state == "compiling" else r for r in view.rows
    )
    errors = tuple(row for error in event.errors for row in error_rows(error))
    return replace(view, rows=rows, errors=(*view.errors, *errors), state="failed")


def _problem(view: StatusView, event: Any) -> StatusView:
    """Return the view with one more notice, on a problem of the cache and its path."""
    return replace(view, notices=(*view.notices, f"cache: {event.message} ({event.path})"))


def _outdated(view: StatusView, event: Any) -> StatusView:
    """Return the view with a phrase on how many compiled JAX functions hold old versions of which kernels."""
    hold = "holds" if event.programs == 1 else "hold"
    what = f"the old {event.kernels[0]}" if len(event.kernels) == 1 else f"old versions of {', '.join(event.kernels)}"
    return replace(view, outdated=f"{html.count(event.programs, 'compiled JAX function')} {hold} {what}")


def _product(view: StatusView, event: Any) -> StatusView:
    """Return the view with a notice on the state of a link-time product, in place of an earlier one on it."""
    name = f"{event.builder} {event.product} ({event.role}, {event.target}): "
    state = {
        events.ProductStarted: lambda: "being built",
        events.ProductBuilt: lambda: f"built in {html.seconds(event.seconds)}, {html.size(event.bytes)}",
        events.ProductFailed: lambda: event.message,
    }[type(event)]()
    return replace(view, notices=(*(n for n in view.notices if not n.startswith(name)), name + state))


_HANDLERS: dict[type[events.Event], Callable[[StatusView, Any], StatusView]] = {
    events.CompileStarted: _started,
    events.StageDone: _stage,
    events.CacheHit: _hit,
    events.CacheMiss: _miss,
    events.CompileDone: _done,
    events.CompileFailed: _failed,
    events.CacheProblem: _problem,
    events.Notice: lambda view, event: replace(view, notices=(*view.notices, event.message)),
    events.Remark: lambda view, event: replace(view, remarks=(*view.remarks, event.message)),
    events.Outdated: _outdated,
    events.ProductStarted: _product,
    events.ProductBuilt: _product,
    events.ProductFailed: _product,
}
WATCHED = tuple(_HANDLERS)
"""The events that change a view."""


def _facts(metadata: dict[str, Any]) -> tuple[str, ...]:
    """Return an artifact's metadata in words, such as `32 regs`, in the order of `_FACTS`, without 0 bytes."""
    values = ((metadata[name], form) for name, form in _FACTS if name in metadata)
    return tuple(form.format(value) for value, form in values if value or " B " not in form)


def _names(rows: Iterable[KernelRow]) -> str:
    """Return the names of the rows' kernels: `saxpy 5f2a0d32`, with its key, for one, `saxpy, blur` for several."""
    forward = {r.kernel: r.key for r in reversed(tuple(rows))}
    names = list(reversed(forward))
    return " ".join((names[0], forward[names[0]][:8])).strip() if len(names) == 1 else ", ".join(names)


def _directions(rows: tuple[KernelRow, ...]) -> str:
    """Return the seconds of each direction in words; empty if the rows have only one direction."""
    spent: dict[str, float] = {}
    for row in rows:
        spent[row.direction] = spent.get(row.direction, 0.0) + row.seconds
    parts = [f"{name} {html.seconds(total)}" for name, total in spent.items()]
    return ", ".join(parts) if len(parts) > 1 else ""


def _join(*parts: str) -> str:
    """Return the parts that are not empty, with ` · ` between."""
    return " · ".join(p for p in parts if p)


def _compiled_line(view: StatusView) -> str:
    """Return the headline of kernels that were compiled: their names, the time and facts."""
    built = tuple(r for r in view.rows if r.state == "compiled")
    return _join(f"compiled {_names(built)}", *_tail(view, built))


def _recompiled_line(view: StatusView) -> str:
    """Return the headline of kernels that were compiled again: the first reason, how many more, the time and facts."""
    built = tuple(r for r in view.rows if r.state in ("compiled", "recompiled"))
    first, *others = dict.fromkeys(w for r in built for w in r.why)
    more = f" and {len(others)} more" if others else ""
    return _join(f"recompiled: {first}{more}", *_tail(view, built))


def _tail(view: StatusView, built: tuple[KernelRow, ...]) -> tuple[str, ...]:
    """Return the end of a headline as parts, some empty: total time, times by direction, facts of a lone row, hits."""
    hits = sum(r.state.endswith("hit") for r in view.rows)
    reported = ", ".join(built[0].facts) if len(built) == 1 else ""
    total = html.seconds(sum(r.seconds for r in built))
    return total, _directions(built), reported, html.count(hits, "cache hit") if hits else ""


def _hit_line(view: StatusView) -> str:
    """Return the headline of cache hits: where, the time, and for those on disk how long ago the oldest was built."""
    spent = sum(r.seconds for r in view.rows)
    where = "disk" if view.state == "disk hit" else "memory"
    built = [r.built for r in view.rows if r.built is not None]
    ago = f", built {html.age(view.started - min(built))}" if built and where == "disk" else ""
    checked = "checks" if any("checks" in r.facts for r in view.rows) else ""
    return _join("cache hit", f"{where} {html.seconds(spent)}{ago}", checked)


def _ready_line(view: StatusView) -> str:
    """Return the headline of kernels that were read and checked, and compile when they are launched."""
    if not view.kernels:
        return "ready"
    them = "they compile at their" if len(view.kernels) > 1 else "it compiles at its"
    return _join(f"ready {', '.join(view.kernels)}", f"{them} first launch")


_LINES: dict[str, Callable[[StatusView], str]] = {
    "failed": lambda view: _join("failed", html.count(len(view.errors), "error") if view.errors else ""),
    "compiling": lambda view: f"compiling {', '.join(dict.fromkeys(r.kernel for r in view.rows))}".rstrip(),
    "recompiled": _recompiled_line,
    "compiled": _compiled_line,
    "disk hit": _hit_line,
    "memory hit": _hit_line,
    "ready": _ready_line,
}
