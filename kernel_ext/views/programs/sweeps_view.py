"""A warp forwards and backwards, to step through: values as they are computed, cotangents as they come back."""

from __future__ import annotations

from dataclasses import dataclass

from kernel_ext.views import html, units
from workbench.inspect import Item, Sweeps


@dataclass(frozen=True)
class ItemView:
    """A value per lane, joined by `|` so that a saved notebook has two lines of them: `texts` (empty: dark), and for
    elements of an array their `indices`. `when` is the step at which it appears."""

    name: str
    indices: str
    texts: str
    floating: bool
    when: int


@dataclass(frozen=True)
class SweepRow:
    """A step of the forward sweep: its line, what it computed, and the cotangents that come back to it."""

    line: int
    text: str
    items: tuple[ItemView, ...]
    back: tuple[ItemView, ...]


@dataclass(frozen=True)
class SweepsView:
    """Both sweeps: `turns` are line, text and lowest row of the steps of the reverse sweep, after the forward ones."""

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
    lanes = range(len(item.values))
    indices = "|".join("" if i is None else ", ".join(map(str, i)) for i in item.indices)
    own = indices if any(item.indices) else ""
    return ItemView(item.name.removesuffix("[]"), own, "|".join(map(item.text, lanes)), item.floating, when)


def sweeps_html(view: SweepsView) -> str:
    """Format the steps as a table: values of the first lane, and what came back to them."""
    rows = [(str(row.line), row.text.strip(), _first(row.items), _first(row.back)) for row in view.rows]
    head = (
        f"{view.kernel}, thread {view.threads[0]} of {len(view.threads)} that run forwards and backwards · {view.seeds}"
    )
    table = html.table(("line", "statement", "values, downwards", "cotangents, upwards"), rows)
    return html.box(html.line(head), table, *([html.line(view.note)] if view.note else []))


def _first(items: tuple[ItemView, ...]) -> str:
    shown: list[str] = []
    for item in items:
        index, text = (part.split("|")[0] for part in (item.indices, item.texts))
        if text:
            shown.append(f"{item.name}{f'[{index}]' if index else ''} = {text}")
    return ", ".join(shown)


def sweeps_text(sweeps: Sweeps) -> str:
    """Format both sweeps, a line per step."""
    return units.ascii_only(str(sweeps))
