"""A warp forwards and backwards, to step through: values as they are computed, cotangents as they come back."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernel_ext.views import html, units
from workbench.inspect import Item, Sweeps


@dataclass(frozen=True)
class ItemView:
    """A strip of a number per lane (of a vector its length; None: dark), with what is written of each: `labels` and
    `texts` are one per lane. `when` is the step at which it appears."""

    labels: tuple[str, ...]
    values: tuple[float | None, ...]
    texts: tuple[str, ...]
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
    """What is shown of a warp's two sweeps."""
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
    return ItemView(
        tuple(item.label(k) for k in lanes), tuple(_number(v) for v in item.values),
        tuple(item.text(k) for k in lanes), item.floating, when,
    )  # fmt: skip


def _number(value: float | tuple[float, ...] | None) -> float | None:
    if value is None:
        return None
    number = math.hypot(*value) if isinstance(value, tuple) else float(value)
    return float(f"{number:.4g}") if math.isfinite(number) else None


def sweeps_html(view: SweepsView) -> str:
    """The steps as a table: values of the first lane, and what came back to them."""
    rows = [(str(row.line), row.text.strip(), _first(row.items), _first(row.back)) for row in view.rows]
    head = (
        f"{view.kernel}, thread {view.threads[0]} of {len(view.threads)} that run forwards and backwards · {view.seeds}"
    )
    table = html.table(("line", "statement", "values, downwards", "cotangents, upwards"), rows)
    return html.box(html.line(head), table, *([html.line(view.note)] if view.note else []))


def _first(items: tuple[ItemView, ...]) -> str:
    return ", ".join(f"{i.labels[0]} = {i.texts[0]}" for i in items if i.texts[0])


def sweeps_text(sweeps: Sweeps) -> str:
    """Both sweeps, a line per step."""
    return units.ascii_only(str(sweeps))
