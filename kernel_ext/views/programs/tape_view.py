"""The view of what a tape did and kept, and its static fallback; and what `%grad` reads from its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

import workbench as wb
from kernel_ext.expressions import names_in
from kernel_ext.refusal import Refusal
from kernel_ext.views import html
from workbench import inspect

_OPTION = r"--(?:(?:wrt|checkpoint)(?:=|\s+)\S+|check|memory)"
_TRAILING = re.compile(rf"^(?P<text>.*?)(?P<options>(?:\s+{_OPTION})*)\s*$", re.DOTALL)
_LEADING = re.compile(rf"^\s*(?P<options>(?:{_OPTION}\s+)*)(?P<text>.*)$", re.DOTALL)
MOST_ROWS = 60


class TapeRow(msgspec.Struct, frozen=True):
    """Represents the steps of a tape of one type, or the launches of one kernel, as a row of texts.

    Attributes:
        kind: what they are: "launch", "copy", "add", "fill", "function", ….
        name: the kernel of launches; else empty.
        times: how many steps there are.
        size: the dimensions of the first, `64×64`.
        changes: the parameters that it writes.
        kept: number and bytes of the copies for its gradient, or what is recomputed instead; empty if neither.
    """

    kind: str
    name: str
    times: int
    size: str
    changes: str
    kept: str


class TapeView(msgspec.Struct, frozen=True):
    """Represents the view of a tape: its steps by kind, copies, gradients and memory.

    Attributes:
        title: what people call the tape.
        steps: how many there are.
        rows: a row for the steps of each kind, and of launches of each kernel, in the order of the first of each.
        kept: the number of copies, and the bytes of all of them.
        memory: the most bytes at once, and those without checkpoints; None if the tape has none.
        gradients: name, shape and norm of the gradients there are.
    """

    title: str
    steps: int
    rows: tuple[TapeRow, ...]
    kept: tuple[int, int]
    gradients: tuple[tuple[str, str, str], ...] = ()
    memory: tuple[int, int] | None = None


def tape_view(tape: wb.Tape, title: str = "tape", namespace: Mapping[str, Any] | None = None) -> TapeView:
    """Return the view of a tape, with the gradients of the namespace's public arrays; without a namespace none."""
    memory = inspect.tape_memory(tape)
    again = {row.kernel: row.nbytes for row in memory.rows} if memory.recomputes else {}
    copied: dict[str, list[int]] = {}
    for snapshot in tape.snapshots:
        copied.setdefault(snapshot.kernel, []).append(snapshot.nbytes)
    rows = []
    for group in inspect.tape_steps(tape):
        copies = copied.get(group.name, []) if group.kind == "launch" else []
        memory_text = f"{html.count(len(copies), 'copy')}, {html.size(sum(copies))}" if copies else ""
        if again.get(group.name) and group.kind == "launch":
            memory_text = f"recomputed: {html.size(again[group.name])}"
        size = "×".join(map(str, group.dim))
        rows.append(TapeRow(group.kind, group.name, group.times, size, ", ".join(group.changes), memory_text))
    gradients = _gradients(tape, namespace or {})
    numbers = (memory.peak, memory.plain) if memory.recomputes else None
    return TapeView(title, len(tape), tuple(rows), (len(tape.snapshots), tape.nbytes), gradients, numbers)


def tape_picture(tape: wb.Tape, view: TapeView, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tape's steps as a dict of nodes and edges that the widget `GraphView` draws, with a title and advice.

    Arrays are called by their public names in the namespace.
    """
    names = {
        id(value.memory): name
        for name, value in namespace.items()
        if isinstance(value, wb.array) and not name.startswith("_")
    }
    picture = inspect.tape_graph(tape, lambda value: names.get(id(value.memory), ""))
    shown = len(picture["nodes"])
    cut = f"the first {shown} are drawn" if shown < view.steps else ""
    picture["title"] = " · ".join(part for part in (headline(view), cut) if part)
    picture["advice"] = "Choose a step to see what is kept for its gradient, and why."
    return picture


def _gradients(tape: wb.Tape, namespace: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """Return name, shape and norm of each gradient of a public array in the namespace, without the seeds."""
    rows, seeds = [], list(tape.seeds)
    for name, value in namespace.items():
        if (
            isinstance(value, wb.array)
            and not name.startswith("_")
            and value.memory in tape.adjoints
            and not any(value is s for s in seeds)
        ):
            gradient = tape.gradients[value]
            norm = float((gradient.numpy().astype("float64") ** 2).sum()) ** 0.5
            rows.append((name, "×".join(map(str, value.shape)), f"{norm:.6g}"))
    return tuple(rows)


def headline(view: TapeView) -> str:
    """Return a line on the tape: its name, its steps, and what is stored for gradients."""
    copies, size = view.kept
    copied = f"{html.count(copies, 'copy')} kept, {html.size(size)}" if copies else "nothing had to be kept"
    if view.memory is not None:
        peak, plain = map(html.size, view.memory)
        copied += f", {peak} at most; {plain} without checkpoints"
    return f"{view.title}: {html.count(view.steps, 'step')}, {copied}"


_HEADS = ("what", "name", "times", "threads", "changes", "kept for its gradient")
_GRADIENT_HEADS = ("gradient of", "shape", "norm")


def _cells(view: TapeView) -> list[tuple[str, ...]]:
    """Return the texts of the first `MOST_ROWS` rows of a tape's view, a tuple for each."""
    return [(r.kind, r.name, str(r.times), r.size, r.changes, r.kept) for r in view.rows[:MOST_ROWS]]


def tape_text(view: TapeView) -> str:
    """Format the tape as lines of ASCII."""
    lines = [headline(view), *html.text_table([_HEADS, *_cells(view)])]
    if view.gradients:
        lines += html.text_table([_GRADIENT_HEADS, *view.gradients])
    return html.ascii_only("\n".join(lines))


def tape_html(view: TapeView, picture: dict[str, Any] | None = None) -> str:
    """Format the tape as static HTML: tables of its steps and gradients, above them the picture if it is not too large.

    A picture of more than `MOST_ROWS` nodes, or of none, is left out.
    """
    gradients = html.table(_GRADIENT_HEADS, view.gradients) if view.gradients else ""
    drawn = ""
    if picture is not None and 0 < len(picture["nodes"]) <= MOST_ROWS:
        drawn = html.svg_image(inspect.tape_svg(picture, headline(view)), tape_text(view))
    return html.box(html.line(headline(view)), drawn, html.table(_HEADS, _cells(view)), gradients)


def options_of(line: str) -> tuple[str, str]:
    """Return the expression on `%grad`'s line and its options, which may come before it or after it."""
    first = _LEADING.match(line)
    assert first is not None
    last = _TRAILING.match(first["text"])
    assert last is not None
    return last["text"], f"{first['options']} {last['options']}".strip()


def arrays_of(wrt: str, text: str, namespace: Mapping[str, Any]) -> dict[str, wb.array]:
    """Return the arrays to differentiate by: those named, else the expression's, else those that require a gradient.

    Raises:
        Refusal: a name is not an array of floats, or there is none.
    """
    if wrt:
        names = [name.strip() for name in wrt.split(",") if name.strip()]
        strange = [name for name in names if not _is_float_array(namespace.get(name))]
        if strange:
            raise Refusal(f"--wrt takes names of arrays of floats; {strange[0]} is none")
        return {name: namespace[name] for name in names}
    try:
        read = names_in(text)
    except SyntaxError:
        read = []  # the expression is refused where it is compiled, with its own sentence
    arrays = {name: namespace[name] for name in read if _is_float_array(namespace.get(name))}
    if not arrays:
        wanted = [n for n, v in namespace.items() if not n.startswith("_") and _is_float_array(v) and v.requires_grad]
        arrays = {name: namespace[name] for name in wanted}
    if not arrays:
        raise Refusal("the expression contains no array of floats; name the arrays: --wrt x,k")
    return arrays


def _is_float_array(value: Any) -> bool:
    """Return whether the value is a Workbench array of floats."""
    return isinstance(value, wb.array) and wb.types.is_float(value.dtype)
