"""Views that are gone through step by step, as rows, with static fallbacks.

They are one thread through a kernel, the lines and the first warp of a profile, a warp forwards and backwards, a graph.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

import workbench as wb
from kernel_ext.views import html
from workbench import inspect
from workbench.inspect import Access, Drawing, Item, Step, Sweeps

ROWS_OF_TABLE = 200


class NameRow(msgspec.Struct, frozen=True):
    """Represents a name of the function with its value as text.

    `changed`: it is new or another one since the statement before in the same function.
    """

    name: str
    value: str
    changed: bool


class StepRow(msgspec.Struct, frozen=True):
    """Represents the execution of one statement.

    Attributes:
        line: as the reader of the cell counts; `function` and `depth` say in which open function.
        text: the line; empty at the end of the kernel.
        names: values before the statement.
        memory: what it loaded and stored, ready to read.
        printed, fault: what it printed and what went wrong in it.
    """

    line: int
    text: str
    function: str
    depth: int
    names: tuple[NameRow, ...]
    memory: tuple[str, ...]
    printed: str
    fault: str


class StepsView(msgspec.Struct, frozen=True):
    """Represents all statements that a thread ran.

    Attributes:
        kernel, thread: the kernel's name, and the thread's indices.
        note: a remark on the run as a whole; may be empty.
        lines: the lines of its functions: the function's name, the line number, the text.
        rows: one per statement, in the order in which they ran.
    """

    kernel: str
    thread: tuple[int, ...]
    note: str
    lines: tuple[tuple[str, int, str], ...]
    rows: tuple[StepRow, ...]


def steps_view(steps: inspect.Steps) -> StepsView:
    """Return the view of a thread's steps; a name is marked as changed if it is new or has another value.

    That is since the statement before in the same call of the same function.
    """
    before: dict[tuple[int, str], dict[str, str]] = {}
    rows = []
    for step in steps:
        slot = (len(step.stack), step.function)
        now = {name: " ".join(str(value).split()) for name, value in step.names.items()}
        known = before.get(slot, {})
        names = tuple(NameRow(n, v, known.get(n) != v) for n, v in now.items())
        before[slot] = now
        memory = tuple(map(str, step.accesses))
        rows.append(
            StepRow(step.line, step.source, step.function, len(step.stack), names, memory, step.printed, step.fault)
        )
    lines = {(steps.kernel, number): text for number, text in steps.lines}
    for row in rows:
        lines.setdefault((row.function, row.line), row.text)
    order = {name: k for k, name in enumerate(dict.fromkeys(function for function, _ in lines))}
    listed = sorted(lines.items(), key=lambda item: (order[item[0][0]], item[0][1]))
    return StepsView(
        steps.kernel, steps.thread, steps.note, tuple((f, n, text) for (f, n), text in listed if text), tuple(rows)
    )


def steps_html(view: StepsView) -> str:
    """Format the steps as an HTML table, at most `ROWS_OF_TABLE`: the line, names that changed, accesses of memory."""
    head = f"{view.kernel}, thread {', '.join(map(str, view.thread))} · {html.count(len(view.rows), 'step')}"
    rows = [_cells(k, row) for k, row in enumerate(view.rows[:ROWS_OF_TABLE])]
    more = [f"… {len(view.rows) - ROWS_OF_TABLE} more"] if len(view.rows) > ROWS_OF_TABLE else []
    faults = [f"line {row.line}: {row.fault}" for row in view.rows if row.fault]
    notes = [*faults, *more, *([view.note] if view.note else [])]
    table = html.table(("step", "line", "statement", "names", "memory"), rows)
    return html.box(html.line(head), html.folded("steps", table), *map(html.line, notes))


def _cells(number: int, row: StepRow) -> tuple[str, ...]:
    """Return the texts of a step: number, line, statement, names that changed, and what it did to memory or printed."""
    changed = ", ".join(f"{n.name}={n.value}" for n in row.names if n.changed)
    done: list[Any] = [*row.memory, *([f"prints {row.printed!r}"] if row.printed else [])]
    return str(number), str(row.line), row.text.strip() or "(end)", changed, "; ".join(done)


class LineRow(msgspec.Struct, frozen=True):
    """Represents a line of source code with its counts.

    Attributes:
        number, text: of the line.
        share: the fraction, 0 to 1, of what the bars show.
        cells: its counts as text.
        executed: whether it was executed at all.
    """

    number: int
    text: str
    share: float
    cells: tuple[str, ...]
    executed: bool


class AdviceRow(msgspec.Struct, frozen=True):
    """Represents advice on a line: the index of its row, the name of its source, and a sentence."""

    row: int
    where: str
    text: str


class AccessView(msgspec.Struct, frozen=True):
    """Represents an access of the warp to memory.

    Attributes:
        said: a phrase that describes it.
        space: "global" or "shared".
        size: bytes per lane.
        at: where each lane begins, in bytes; -1: it takes no part.
        wasteful: whether it costs more than the least that it could.
    """

    said: str
    space: str
    size: int
    at: tuple[int, ...]
    wasteful: bool


class WarpStep(msgspec.Struct, frozen=True):
    """Represents a step of the warp: the index of its line's row (-1: none), a mask of active lanes, its accesses."""

    row: int
    mask: int
    accesses: tuple[AccessView, ...]


class ProfileView(msgspec.Struct, frozen=True):
    """Represents a profile: its lines with counts, advice, pictures, and the steps of the first warp.

    `start` is the step that is shown first, `ends` whether these are all, `bars` what the bars are fractions of.
    """

    title: str
    notes: tuple[str, ...]
    bars: str
    heads: tuple[str, ...]
    rows: tuple[LineRow, ...]
    total: tuple[str, ...]
    advice: tuple[AdviceRow, ...]
    pictures: tuple[Drawing, ...]
    steps: tuple[WarpStep, ...]
    start: int
    ends: bool


def profile_view(profile: wb.Profile) -> ProfileView:
    """Return the view of a profile, whose first shown step is that of the most wasteful access."""
    heads, table, total = profile.table()
    rows = {(line.number, line.where): index for index, (line, _) in enumerate(table)}
    lines = tuple(
        LineRow(line.number, line.shown, line.share, tuple(cells), line.instructions > 0) for line, cells in table
    )
    advice = tuple(AdviceRow(rows[line.number, line.where], where, text) for line, where, text in profile.advice)
    steps = tuple(_warp_step(step, rows.get((step.number, step.where), -1)) for step in profile.warp)
    worst = profile.worst_access
    start = profile.warp.index(worst[0]) if worst else 0
    return ProfileView(
        profile.title, tuple(profile.notes), profile.bars, tuple(heads), lines, tuple(total), advice,
        profile.drawings(), steps, start, profile.warp_ends,
    )  # fmt: skip


def _warp_step(step: Step, row: int) -> WarpStep:
    """Return the view of a step of a warp; `row`: the index of its line."""
    return WarpStep(row, step.mask, tuple(map(_access_view, step.accesses)))


def _access_view(access: Access) -> AccessView:
    """Return the view of an access, which is marked if it costs more than the least that it could."""
    return AccessView(access.summary, access.space, access.size, access.at, access.cost > access.least)


class ItemView(msgspec.Struct, frozen=True):
    """Represents a value per lane of the warp, each text joined by `|` so that a saved notebook has few lines.

    Attributes:
        name: of the value.
        indices: the element of each lane, of elements of an array; else empty.
        texts: the value of each lane; an empty one is of a lane that is not active.
        floating: whether they are floats.
        when: the step at which it appears.
    """

    name: str
    indices: str
    texts: str
    floating: bool
    when: int


class SweepRow(msgspec.Struct, frozen=True):
    """Represents a step of the forward sweep: its line, what it computed, and the cotangents that come back to it."""

    line: int
    text: str
    items: tuple[ItemView, ...]
    back: tuple[ItemView, ...]


class SweepsView(msgspec.Struct, frozen=True):
    """Represents the view of both sweeps of a warp.

    `turns` are line, text and lowest row of each step of the reverse sweep; `seeds` says with what that begins.
    """

    kernel: str
    threads: tuple[str, ...]
    seeds: str
    note: str
    rows: tuple[SweepRow, ...]
    turns: tuple[tuple[int, str, int], ...]


def sweeps_view(sweeps: Sweeps) -> SweepsView:
    """Return the view of a warp's two sweeps."""
    back: dict[int, list[ItemView]] = {}
    count, turns = len(sweeps.forward), list[tuple[int, str, int]]()
    for k, step in enumerate(sweeps.backward):
        for row, item in step.items:
            back.setdefault(row, []).append(_item(item, count + k))
        turns.append((step.line, step.text, min(row for row, _ in step.items)))
    rows = tuple(
        SweepRow(s.line, s.text, tuple(_item(i, k) for i in s.items), tuple(back.get(k, ())))
        for k, s in enumerate(sweeps.forward)
    )
    names = tuple(", ".join(map(str, thread)) for thread in sweeps.threads)
    return SweepsView(sweeps.kernel, names, sweeps.seeds, sweeps.note, rows, tuple(turns))


def _item(item: Item, when: int) -> ItemView:
    """Return the view of a value or cotangent, its lanes' indices and texts separated by `|`; `when`: its step."""
    lanes = range(len(item.values))
    indices = "|".join("" if i is None else ", ".join(map(str, i)) for i in item.indices)
    own = indices if any(item.indices) else ""
    return ItemView(item.name.removesuffix("[]"), own, "|".join(map(item.text, lanes)), item.floating, when)


def sweeps_html(view: SweepsView) -> str:
    """Format both sweeps as an HTML table: values of the first lane, and the cotangents that came back to them."""
    rows = [(str(row.line), row.text.strip(), _first(row.items), _first(row.back)) for row in view.rows]
    head = (
        f"{view.kernel}, thread {view.threads[0]} of {len(view.threads)} that run forwards and backwards · {view.seeds}"
    )
    table = html.table(("line", "statement", "values, downwards", "cotangents, upwards"), rows)
    return html.box(html.line(head), table, *([html.line(view.note)] if view.note else []))


def _first(items: tuple[ItemView, ...]) -> str:
    """Return the items' values in the first lane, as `x[3] = 1.5`; items without one are left out."""
    shown: list[str] = []
    for item in items:
        index, text = (part.split("|")[0] for part in (item.indices, item.texts))
        if text:
            shown.append(f"{item.name}{f'[{index}]' if index else ''} = {text}")
    return ", ".join(shown)


def sweeps_text(sweeps: Sweeps) -> str:
    """Format both sweeps in ASCII, a line per step."""
    return html.ascii_only(str(sweeps))


MOST_STEPS, MOST_VALUES = 500, 6


def trail_view(graph: wb.Graph) -> dict[str, Any]:
    """Run a graph to its end; return its layout, for the widget `GraphView`, with the first `MOST_STEPS` steps."""
    view: dict[str, Any] = graph.layout()
    opened = any("inside" in node for node in view["nodes"])
    steps: list[dict[str, Any]] = []
    count = 0
    for count, stop in enumerate(inspect.trail(graph), 1):
        if count <= MOST_STEPS:
            steps.append({"index": stop.index if opened else stop.outermost, "said": _said(stop)})
    plural = "node" if len(graph) == 1 else "nodes"
    more = f" · the first {MOST_STEPS} are shown" if count > MOST_STEPS else ""
    title = f"{len(graph)} {plural} on {graph.device} · {html.count(count, 'step')}{more}"
    return {**view, "title": title, "steps": steps}


def _said(stop: inspect.Stop) -> list[tuple[str, str]]:
    """Return terms and texts of a step of a graph: turns of loops, then a condition and what is next, or writes."""
    node = stop.node
    turn = [("turn", ", in ".join(map(str, reversed(stop.turns))))] if stop.turns else []
    if node.bodies:
        condition = getattr(node, "condition", None)
        read = [("condition", _few(condition))] if condition is not None else []
        return [*turn, *read, ("next", f"the graph “{stop.chosen}”" if stop.chosen else "it is over")]
    written = {access.name: access.array for access in node.accesses if access.writes}
    return [*turn, *((f"wrote {name}", _few(value)) for name, value in written.items())]


def _few(value: wb.array) -> str:
    """Format the first `MOST_VALUES` values of an array, and say how many there are if there are more."""
    flat = np.asarray(value.numpy()).reshape(-1)
    values = " ".join(f"{v:.6g}" if isinstance(v, float | np.floating) else str(v) for v in flat[:MOST_VALUES])
    return values if len(flat) <= MOST_VALUES else f"{values} … ({html.count(len(flat), 'value')})"


def trail_text(view: dict[str, Any]) -> str:
    """Format the steps of a graph in ASCII: the title, and a line for each step."""
    rows = [f"{k}: {title}  {'; '.join(parts)}".rstrip() for k, title, parts in _rows(view)]
    return html.ascii_only("\n".join([view["title"], *rows]))


def trail_html(view: dict[str, Any], picture: str) -> str:
    """Format the steps of a graph as a folded HTML table below `picture`, the HTML of the graph."""
    table = html.table(("step", "what", "then"), [(str(k), title, "; ".join(parts)) for k, title, parts in _rows(view)])
    return picture + html.box(html.line(view["title"]), html.folded("steps", table))


def _rows(view: dict[str, Any]) -> list[tuple[int, str, list[str]]]:
    """Return number, title of the node and texts of each step in a view of `trail_view`."""
    nodes = view["nodes"]
    return [
        (k, nodes[step["index"]]["title"], [f"{term} {text}" for term, text in step["said"]])
        for k, step in enumerate(view["steps"])
    ]
