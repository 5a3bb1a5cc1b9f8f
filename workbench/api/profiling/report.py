"""The result of `wb.profile`: counts, findings with advice, and its text.

Findings follow from the counts: one per kind and line, each with a sentence of advice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import msgspec

from workbench.api.measurement.chart import image
from workbench.api.profiling.bound import Bound, bound, rates_of
from workbench.api.profiling.pictures import Drawing, lanes_of, occupied, roofline
from workbench.api.profiling.warp import Access, Step
from workbench.backends.ptx.counters import Counted, Counts
from workbench.backends.ptx.syntax.program import BITS
from workbench.runtime.launching.occupancy import Occupancy

SECTORS, WAVEFRONTS, IDLE, CONFLICTS = 1.5, 1.2, 0.75, 0.25
"""From so many times the least, below such an efficiency, from such a share of atomics on, it is worth a sentence."""
LEAST = 0.02
"""The share of the launch's instructions below which idle lanes are not worth one."""


class Finding(msgspec.Struct, frozen=True):
    """A finding about a line: an inefficient access or branch, and what to do about it.

    Attributes:
        kind: "sectors", "wavefronts", "divergence" or "atomics".
        factor: how many times the least possible it takes.
        cost: the share of the launch's sectors, wavefronts, instructions or atomics that is wasted.
        text: a sentence.
    """

    kind: str
    factor: float
    cost: float
    text: str


def findings(counted: Sequence[Counted], own: Counts, total: Counts) -> tuple[Finding, ...]:
    """Return the findings about a line's instructions, the worst first.

    Args:
        counted: the line's instructions.
        own: their counts together.
        total: the launch's counts.
    """
    results = [*_sectors(counted, own, total), *_wavefronts(counted, own, total), *_idle(own, total)]
    results += _atomics(own, total)
    return tuple(sorted(results, key=lambda f: -f.cost))


def _sectors(counted: Sequence[Counted], own: Counts, total: Counts) -> Iterator[Finding]:
    """Yield a finding if a line moves many more sectors of global memory than its accesses need.

    Args:
        counted: the line's instructions.
        own: their counts together.
        total: the launch's counts.
    """
    least = own.global_sectors_least
    if not least or own.global_sectors < SECTORS * least:
        return
    worst = max(counted, key=lambda c: c.counts.global_sectors - c.counts.global_sectors_least)
    size, factor = _size(worst), own.global_sectors / least
    spaced = worst.spacing
    accesses = sum(c.spacing == spaced for c in counted if c.counts.global_sectors)
    where = "scattered addresses" if spaced is None else f"stride {spaced / size:g}"
    advice = "let neighbouring threads read neighbouring elements"
    if worst.instruction.opcode not in ("ld", "ldu", "cp"):
        advice = "let neighbouring threads write neighbouring elements"
    if spaced is not None and accesses > 1 and 1 < abs(spaced) // size <= accesses:
        advice = "keep each component in an array of its own, or rely on the cache for the rest of each sector"
    if spaced is not None and abs(spaced) == size:
        where, advice = "gaps left by idle lanes", "let the threads of a warp take the same branch"
    cost = (own.global_sectors - least) / max(total.global_sectors, 1)
    yield Finding("sectors", factor, cost, f"{where}: {factor:.1f}× the sectors needed; {advice}")


def _size(one: Counted) -> int:
    """Return the bytes that an instruction accesses per lane, by its last type modifier; 4 if it has none."""
    kinds = [m for m in one.instruction.modifiers if m in BITS]
    return max(BITS[kinds[-1]] // 8, 1) if kinds else 4


def _wavefronts(counted: Sequence[Counted], own: Counts, total: Counts) -> Iterator[Finding]:
    """Yield a finding if bank conflicts cost a line many more wavefronts of shared memory than it needs."""
    least = own.shared_wavefronts_least
    if not least or own.shared_wavefronts < WAVEFRONTS * least:
        return
    factor = own.shared_wavefronts / least
    worst = max(counted, key=lambda c: c.counts.shared_wavefronts - c.counts.shared_wavefronts_least)
    spaced = worst.shared_spacing
    where = "bank conflicts" if spaced is None else f"bank conflicts, {abs(spaced)} bytes between lanes"
    cost = (own.shared_wavefronts - least) / max(total.shared_wavefronts, 1)
    advice = "make rows of shared memory one element longer, or tiles of another shape"
    yield Finding("wavefronts", factor, cost, f"{where}: {factor:.1f}× the wavefronts needed; {advice}")


def _idle(own: Counts, total: Counts) -> Iterator[Finding]:
    """Yield a finding if a line has few active lanes and a large enough share of the launch's instructions."""
    share = own.instructions / max(total.instructions, 1)
    if own.efficiency >= IDLE or share < LEAST:
        return
    yield Finding(
        "divergence",
        1 / max(own.efficiency, 1 / 32),
        share * (1 - own.efficiency),
        f"{own.efficiency * 32:.1f} of 32 lanes active; let the threads of a warp take the same branch",
    )


def _atomics(own: Counts, total: Counts) -> Iterator[Finding]:
    """Yield a finding if the lanes of a warp often update the same element in a line."""
    if not own.atomics or own.atomic_conflicts < CONFLICTS * own.atomics:
        return
    distinct = own.atomics - own.atomic_conflicts
    factor = own.atomics / max(distinct, 1)
    yield Finding(
        "atomics",
        factor,
        own.atomic_conflicts / total.atomics,
        f"{factor:.1f} lanes of a warp update the same element; add within the block first, then once per block",
    )


COLUMNS = (
    ("instructions", "instr"), ("efficiency", "lanes"), ("global_sectors", "sectors"), ("shared_wavefronts", "waves"),
    ("atomics", "atomics"), ("atomic_conflicts", "same"), ("barriers", "barriers"), ("flops", "flops"),
)  # fmt: skip
"""The columns of the text and the card: attribute and heading; of sectors and wavefronts also how many times
the least they are."""
_GLOBAL = "l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum"
NSIGHT = {
    "instr": "smsp__inst_executed.sum",
    "lanes": "smsp__thread_inst_executed_per_inst_executed.pct",
    "sectors": _GLOBAL,
    "waves": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "flops": "smsp__sass_thread_inst_executed_op_{fadd,fmul,ffma}_pred_on.sum",
}
"""Nsight Compute's metrics of these columns; of `flops` an ffma counts twice. The others have no metric by lanes."""


class Line(Counts, frozen=True):
    """The counts of one line of the cell.

    Attributes:
        number: the line, as the reader of the cell counts.
        text: the line.
        where: the name of its source, if that is not the kernel's: of a function in another cell.
        findings: what is worth a sentence, the worst first.
        share: of what bounds the launch, from 0 to 1.
    """

    number: int = 0
    text: str = ""
    where: str = ""
    findings: tuple[Finding, ...] = ()
    share: float = 0.0

    @property
    def shown(self) -> str:
        """The text, with the name of its source if that is not the kernel's."""
        return f"{self.text}{f'   # {self.where}' if self.where else ''}"


@dataclass(frozen=True, repr=False)
class Profile:
    """A prediction of what a GPU does with a launch: counts of its PTX, never times.

    Attributes:
        kernel: its name.
        direction: "forward" or "adjoint".
        dim: the launch's dimensions.
        arch: the architecture that the PTX and the registers are of.
        grid, block: blocks, and threads of a block, along x, y, z.
        total: the counts of the launch.
        lines: by line of the kernel's cell; the thread index and the launch's test of its size are the `def` line's.
        elsewhere: lines of functions in other cells.
        registers: of a thread, from the cubin that NVRTC makes.
        spills: bytes per thread that the compiler keeps in local memory because registers do not suffice.
        shared_bytes: of a block, static and dynamic.
        fits: how many blocks a multiprocessor holds at once, and what limits that.
        touched: distinct 32-byte sectors of global memory.
        hottest: the most atomic operations on one element.
        bound: what it would meet first on a named GPU; None if no rates are published for `arch`.
        sampled: blocks that ran, if they were not all: then counts are scaled from those.
        source: the kernel's lines by number.
        warp: what the first warp does, step by step: active lanes, and where each reads and writes.
        warp_ends: whether these are all of its steps.
        contraction: the share of the instructions that `fma=True` would save; 0 if the kernel has it, or if it is not
            bound by instructions.
        best_block: the threads of a block that `block_dim=None` takes, and how much larger the occupancy is with them.
        local_bytes: of local memory per thread: spills, and arrays that are not in registers.
        order: a sentence on what `deterministic=True` costs, or that it would fix the order of sums; else empty.
    """

    kernel: str
    direction: str
    dim: tuple[int, ...]
    arch: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    total: Counts
    lines: Mapping[int, Line]
    elsewhere: tuple[Line, ...]
    registers: int
    spills: int
    shared_bytes: int
    fits: Occupancy
    touched: int
    hottest: int
    bound: Bound | None
    sampled: int | None = None
    source: Mapping[int, str] = field(default_factory=dict[int, str], repr=False)
    warp: tuple[Step, ...] = field(default=(), repr=False)
    warp_ends: bool = True
    contraction: float = 0.0
    best_block: tuple[int, float] = (0, 0.0)
    local_bytes: int = 0
    order: str = ""

    @property
    def occupancy(self) -> float:
        """The share of a multiprocessor's warps that can be active, from 0 to 1."""
        return self.fits.share

    @property
    def limited_by(self) -> str:
        """The limit of the occupancy: "threads", "blocks", "registers" or "shared memory"."""
        return self.fits.limited_by

    def bound_on(self, gpu: str) -> Bound | None:
        """Return the bound of the launch on another GPU of this architecture; None if nothing was executed.

        Args:
            gpu: its name, such as "RTX 4090" for `sm_89`.

        Raises:
            DeviceError: its rates are not known here; the message names those that are.
        """
        rates = rates_of(self.arch, gpu)
        return bound(self.total, self.touched, self.hottest, rates, math.prod(self.grid), self.fits.blocks)

    @property
    def findings(self) -> list[tuple[Line, Finding]]:
        """All findings with their lines, the worst first."""
        pairs = [(line, f) for line in (*self.lines.values(), *self.elsewhere) for f in line.findings]
        return sorted(pairs, key=lambda pair: -pair[1].cost)

    @property
    def title(self) -> str:
        """The launch in a phrase."""
        name = self.kernel if self.direction == "forward" else f"{self.kernel} ({self.direction})"
        return (
            f"{name}: {_many(self.grid, 'block')} of {_many(self.block, 'thread')} over {_sizes(self.dim)}, "
            f"for {self.arch}"
        )

    @property
    def notes(self) -> list[str]:
        """Sentences on the launch as a whole."""
        blocks = self.grid[0] * self.grid[1] * self.grid[2]
        notes = ["Counts of PTX instructions run on the CPU; no times, no caches."]
        if self.sampled is not None:
            notes.append(f"Sampled: {self.sampled:,} of {blocks:,} blocks ran; counts are scaled to all of them.")
        local = f"{self.local_bytes:,} bytes of local memory, " if self.local_bytes else ""
        notes.append(
            f"{self.registers} registers per thread, {local}{self.spills} bytes spilled, {self.shared_bytes:,} bytes "
            f"of shared memory per block; occupancy {self.occupancy:.0%}, limited by {self.limited_by}."
        )
        size, gain = self.best_block
        if gain >= WORTH:
            notes.append(f"block_dim=None takes {size} threads per block: occupancy {self.occupancy + gain:.0%}.")
        if self.bound is not None:
            notes.append(f"Bound by {self.bound}.")
        else:
            notes.append(f"No published rates of a GPU of {self.arch} are at hand to say what bounds it.")
        notes += [self.order] if self.order else []
        heads = self.table()[0]
        named = "; ".join(f"{head} is {NSIGHT[head]}" for head in heads if head in NSIGHT)
        notes += [f"In Nsight Compute, {named}."] if named else []
        if self.contraction >= WORTH:
            notes.append(
                f"fma=True would save {self.contraction:.0%} of the instructions: a product and a sum are rounded once."
            )
        return notes

    def rows(self) -> list[Line]:
        """Return each line of the kernel in order, also those without code; then lines elsewhere."""
        known = {n: Line(number=n, text=text) for n, text in self.source.items()} | dict(self.lines)
        return [*(known[n] for n in sorted(known)), *self.elsewhere]

    def table(self) -> tuple[list[str], list[tuple[Line, list[str]]], list[str]]:
        """Return headings of the counts that are not all zero, the lines' counts as text, and the launch's."""
        rows = self.rows()
        shown = [column for column in COLUMNS if any(cell(line, column[0]) for line in (self.total, *rows))]
        total = [cell(self.total, name) for name, _ in shown]
        return [title for _, title in shown], [(r, [cell(r, name) for name, _ in shown]) for r in rows], total

    @property
    def bars(self) -> str:
        """The heading of the counts of which each line's share is shown: those of what bounds the launch."""
        return SHARES[self.bound.by if self.bound else "instructions"]

    @property
    def advice(self) -> list[tuple[Line, str, str]]:
        """The findings as text: line, where, sentence; the worst first."""
        return [(line, f"line {line.number}{_of(line)}", f"{finding.text}.") for line, finding in self.findings]

    def drawings(self) -> tuple[Drawing, ...]:
        """Return the roofline, if rates are published, and the occupancy."""
        roof = () if self.bound is None else (roofline(self.total, self.touched, self.bound),)
        return (*roof, occupied(self.fits))

    @property
    def worst_access(self) -> tuple[Step, Access] | None:
        """The first warp's most wasteful access with its step, else its first; None if it has none."""
        accesses = [(step, access) for step in self.warp for access in step.accesses]
        return max(accesses, key=lambda pair: pair[1].cost - pair[1].least, default=None)

    def __str__(self) -> str:
        heads, rows, total = self.table()
        head = ["line", *heads, ""]
        body = [[str(line.number), *cells, f"  {line.shown}"] for line, cells in rows]
        body.append(["all", *total, ""])
        widths = [max(len(row[k]) for row in (head, *body)) for k in range(len(head) - 1)]
        table = [
            "  ".join([*(c.rjust(w) for c, w in zip(row[:-1], widths, strict=True)), row[-1]]).rstrip()
            for row in (head, *body)
        ]
        advice = [f"{where}: {text}" for _, where, text in self.advice]
        return "\n".join([self.title, *self.notes, "", *table, *([""] if advice else []), *advice])

    def _repr_html_(self) -> str:
        """Return the profile as a card for a notebook: notes, advice, pictures, and counts beside each line."""
        heads, rows, total = self.table()
        lines = [(r, str(r.number), r.shown, r.share, cells) for r, cells in rows]
        lines.append((line_of(self.total), "all", "", 1.0, total))
        advice = [(where, text) for _, where, text in self.advice]
        pictures, worst = list(self.drawings()), self.worst_access
        if worst is not None:
            pictures.append(lanes_of(worst[1]))
        return card_html(self.title, self.notes, advice, heads, lines, self.bars, pictures)

    __repr__ = __str__


WORTH = 0.02
"""The share of instructions saved, or of occupancy gained, from which on it is worth a sentence."""
SHARES = {"memory": "sectors", "instructions": "instr", "atomics": "atomics", "shared memory": "waves"}
"""The counts that lines have a share of, by what bounds the launch."""


def cell(counts: Counts, name: str) -> str:
    """Return a count as the tables show it; empty if there is nothing to say."""
    if name == "efficiency":
        return f"{counts.efficiency:.0%}" if counts.instructions else ""
    value, least = getattr(counts, name), getattr(counts, f"{name}_least", 0)
    times = f" {value / least:.1f}×" if least and f"{value / least:.1f}" != "1.0" else ""
    return f"{value:,}{times}" if value else ""


def line_of(counts: Counts, **more: Any) -> Line:
    """Return a line with these counts; `more` are its other fields."""
    values: dict[str, Any] = msgspec.structs.asdict(counts)
    return Line(**values, **more)


def _of(line: Line) -> str:
    """Return " of NAME" for a line of another source than the kernel's, else ""."""
    return f" of {line.where}" if line.where else ""


def _many(sizes: tuple[int, ...], what: str) -> str:
    """Return sizes with a noun, which is in the singular for one: "2 × 2 blocks"."""
    return f"{_sizes(sizes)} {what}{'' if math.prod(sizes) == 1 else 's'}"


def _sizes(sizes: tuple[int, ...]) -> str:
    """Return sizes as text, "8 × 4", without sizes of 1 at the end."""
    used = sizes
    while len(used) > 1 and used[-1] == 1:
        used = used[:-1]
    return " × ".join(f"{n:,}" for n in used)


_MONO = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:var(--jp-code-font-size,13px)"
_LINE = "var(--jp-border-color2,rgba(128,128,128,0.35))"
_NUMBER = "text-align:right;padding:1px 10px 1px 0;white-space:nowrap"
_SOURCE = "text-align:left;padding:1px 8px 1px 0;white-space:pre-wrap;overflow-wrap:anywhere;min-width:14em"
_BAR = "display:inline-block;height:9px;background-color:"
_HEAT = "#4393c3"
_WORST = "#d6604d"
_FULL = 64
"""Pixels of a bar of the whole."""


def card_html(
    title: str, notes: Sequence[str], advice: Sequence[tuple[str, str]], heads: Sequence[str],
    rows: Sequence[tuple[Counts, str, str, float, Sequence[str]]], bars: str, pictures: Sequence[Drawing] = (),
) -> str:  # fmt: skip
    """Return the card of a profile: HTML with inline styles that an untrusted notebook keeps.

    Args:
        title: the launch.
        notes: sentences on the whole; the first one says what the numbers are.
        advice: where and what, the worst first.
        heads: headings of the numbers.
        rows: of each line its counts, number, text, share of the bar from 0 to 1, and numbers; the last is the total.
        bars: what the bars are shares of.
        pictures: below the table.
    """
    listed = "".join(
        f'<div style="padding:1px 0"><b>{escape(where)}</b> {escape(text)}</div>' for where, text in advice
    )
    worst = max((share for _, _, _, share, _ in rows[:-1]), default=0.0)
    body = "".join(_row(row, worst, last=row is rows[-1]) for row in rows)
    head = "".join(f'<th style="{_NUMBER};font-weight:normal;opacity:0.7">{escape(h)}</th>' for h in heads)
    table = (
        f'<div style="overflow-x:auto;max-width:100%"><table style="border-collapse:collapse;{_MONO}"><thead><tr>'
        f'<th style="{_NUMBER};font-weight:normal;opacity:0.7">line</th>'
        f'<th style="text-align:left;font-weight:normal;opacity:0.7;padding-right:8px">{escape(bars)}</th>'
        f'{head}<td style="{_SOURCE}"></td></tr></thead><tbody>{body}</tbody></table></div>'
    )
    box = '<span style="display:inline-block;vertical-align:top;max-width:100%;margin-right:4px">'
    drawn = "".join(f"{box}{image(picture.svg(), picture.title)}</span>" for picture in pictures)
    about = "".join(f'<div style="opacity:0.75">{escape(note)}</div>' for note in notes)
    return f'<div style="padding:2px 0"><div style="padding-bottom:2px"><b>{escape(title)}</b></div>{about}' + (
        f'<div style="padding:6px 0">{listed}</div>{table}<div style="padding-top:6px">{drawn}</div></div>'
    )


def _row(row: tuple[Counts, str, str, float, Sequence[str]], worst: float, last: bool) -> str:
    """Return the HTML row of a line: number, bar of its share, counts and source text.

    Args:
        row: counts, line number, source text, share and the numbers to show.
        worst: the largest share, whose bar has another colour.
        last: whether it is the row of totals, without a bar.
    """
    counts, number, text, share, numbers = row
    colour = _WORST if share and share == worst and not last else _HEAT
    width = round(_FULL * share)
    bar = f'<span style="{_BAR}{colour};width:{max(width, 1)}px"></span>' if share and not last else ""
    faint = "" if counts.instructions else ";opacity:0.55"
    above = f";border-top:1px solid {_LINE}" if last else ""
    cells = "".join(f'<td style="{_NUMBER}{above}">{escape(n)}</td>' for n in numbers)
    return (
        f'<tr><td style="{_NUMBER}{above};opacity:0.7">{escape(number)}</td>'
        f'<td style="text-align:left;min-width:{_FULL + 8}px{above}">{bar}</td>'
        f'{cells}<td style="{_SOURCE}{above}{faint}">{escape(text)}</td></tr>'
    )
