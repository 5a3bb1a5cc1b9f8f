"""Findings from counts: one per kind and line, each with a sentence of advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from workbench.backends.ptx.counters import Counted, Counts
from workbench.backends.ptx.syntax.program import BITS

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
