"""A profile to look at: lines with their counts, what to do about them, pictures, the first warp step by step."""

from __future__ import annotations

from dataclasses import dataclass

import workbench as wb
from workbench.inspect import Access, Drawing, Step


@dataclass(frozen=True)
class LineRow:
    """A line of source code; `share` is from 0 to 1 of what the bars show, `cells` are its counts as text."""

    number: int
    text: str
    share: float
    cells: tuple[str, ...]
    executed: bool


@dataclass(frozen=True)
class AdviceRow:
    """A finding: the index of its row, where, and a sentence."""

    row: int
    where: str
    text: str


@dataclass(frozen=True)
class AccessView:
    """An access of the warp: a phrase, "global" or "shared", bytes per lane, where each lane begins (-1: nowhere)."""

    said: str
    space: str
    size: int
    at: tuple[int, ...]
    wasteful: bool


@dataclass(frozen=True)
class WarpStep:
    """A step of the warp at a line: the index of its row, a mask of the active lanes, and its accesses."""

    row: int
    mask: int
    accesses: tuple[AccessView, ...]


@dataclass(frozen=True)
class ProfileView:
    """A profile; `start` is the step that is shown first, `ends` whether these are all,
    `bars` what the bars are shares of."""

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
    """Return the view of a profile."""
    heads, table, total = profile.table()
    rows = {(line.number, line.where): index for index, (line, _) in enumerate(table)}
    lines = tuple(
        LineRow(line.number, line.shown, line.share, tuple(cells), line.instructions > 0) for line, cells in table
    )
    advice = tuple(AdviceRow(rows[line.number, line.where], where, text) for line, where, text in profile.advice)
    steps = tuple(_step(step, rows.get((step.number, step.where), -1)) for step in profile.warp)
    worst = profile.worst_access
    start = profile.warp.index(worst[0]) if worst else 0
    return ProfileView(
        profile.title, tuple(profile.notes), profile.bars, tuple(heads), lines, tuple(total), advice,
        profile.drawings(), steps, start, profile.warp_ends,
    )  # fmt: skip


def _step(step: Step, row: int) -> WarpStep:
    return WarpStep(row, step.mask, tuple(map(_access, step.accesses)))


def _access(access: Access) -> AccessView:
    return AccessView(access.summary, access.space, access.size, access.at, access.cost > access.least)
