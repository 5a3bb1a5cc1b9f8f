"""The bound of a launch: the published rate of a GPU that it meets first, by counts; no prediction of time.

Memory: the bytes of the sectors, by the memory's bandwidth. Instructions: four schedulers of a multiprocessor issue one
warp instruction per cycle each. Shared memory: a multiprocessor serves one wavefront per cycle. Atomics: an element
takes one update per cycle, and a multiprocessor hands on one per cycle. Where the blocks do not fill the GPU once, no
rate is met: what takes time then is latency, which counts do not have.
"""

from __future__ import annotations

import msgspec

from workbench.backends.ptx.counters import Counts
from workbench.errors import DeviceError

SCHEDULERS = 4
"""Of a multiprocessor; each issues at most one warp instruction per cycle (CUDA C++ Programming Guide, "Compute
Capability 7.x" to "12.x": architecture)."""
WAVEFRONTS = 1
"""Of shared memory per cycle and multiprocessor: 32 banks of 4 bytes (CUDA C++ Programming Guide, "Shared Memory")."""
UPDATES = 1
"""Atomic operations on one element per cycle (NVIDIA Kepler GK110 white paper; not published since)."""

ATOMICS = 1
"""Atomic operations of a multiprocessor per cycle, on any elements: NVIDIA publishes none, so this is an assumption, of
the order of one 32-byte sector per cycle, which is what caches take from a multiprocessor at the least."""


class Rates(msgspec.Struct, frozen=True):
    """The rates that NVIDIA publishes for a GPU.

    Attributes:
        gpu: its name.
        arch: what is compiled for it: `sm_90`.
        bandwidth: of its memory, bytes per second.
        units: multiprocessors.
        clock: boost clock, cycles per second.
        fp32: operations on float32 per second without tensor cores; a fused multiply-add is two.
        source: where that is published.
    """

    gpu: str
    arch: str
    bandwidth: float
    units: int
    clock: float
    fp32: float
    source: str


RATES = (
    Rates("T4", "sm_75", 320e9, 40, 1.59e9, 8.1e12, "Turing architecture white paper, appendix on the T4"),
    Rates("A100 80 GB SXM", "sm_80", 2039e9, 108, 1.41e9, 19.5e12, "A100 data sheet; A100 white paper"),
    Rates("A100 40 GB SXM", "sm_80", 1555e9, 108, 1.41e9, 19.5e12, "A100 data sheet; A100 white paper"),
    Rates("A10", "sm_86", 600e9, 72, 1.695e9, 31.2e12, "A10 data sheet; A10 product brief (clock)"),
    Rates("RTX 3090", "sm_86", 936e9, 82, 1.695e9, 35.6e12, "GA102 architecture white paper"),
    Rates("Jetson AGX Orin 64 GB", "sm_87", 204.8e9, 16, 1.3e9, 5.3e12, "Jetson AGX Orin technical brief"),
    Rates("L4", "sm_89", 300e9, 58, 2.04e9, 30.3e12, "L4 data sheet; L4 product brief (clock)"),
    Rates("RTX 4090", "sm_89", 1008e9, 128, 2.52e9, 82.6e12, "Ada architecture white paper"),
    Rates("H100 SXM", "sm_90", 3350e9, 132, 1.98e9, 66.9e12, "H100 data sheet; H100 white paper"),
    Rates("H200 SXM", "sm_90", 4800e9, 132, 1.98e9, 66.9e12, "H200 data sheet; the multiprocessors of an H100"),
    Rates("RTX 5090", "sm_120", 1792e9, 170, 2.407e9, 104.8e12, "RTX Blackwell architecture white paper"),
)
"""The first of an architecture is meant if no GPU is named. Where a data sheet has no clock, the one here agrees with
its rate of float32 arithmetic (`fp32 = 2 × lanes × units × clock`). NVIDIA publishes neither the multiprocessors nor
the clock of a B200 or B300, so they have no row."""


class Bound(msgspec.Struct, frozen=True):
    """The limit that a launch would meet first on a GPU.

    Attributes:
        by: "memory", "instructions", "shared memory" or "atomics".
        gpu: the GPU whose published rates these are.
        cycles: the least cycles by each of these.
        cached: the cycles of memory if each sector came from memory once, and from caches after that.
        sure: it is the same with and without caches.
        rates: those rates, with their source.
        blocks: of the launch.
        wave: blocks that the GPU runs at once; with fewer, latency bounds the launch, and `by` is the rate met first.
    """

    by: str
    gpu: str
    cycles: dict[str, float]
    cached: float
    sure: bool
    rates: Rates
    blocks: int = 0
    wave: int = 0

    @property
    def is_latency(self) -> bool:
        """Return whether the blocks do not fill the GPU once, so that latency bounds the launch."""
        return self.blocks < self.wave

    def __str__(self) -> str:
        worst = self.cycles[self.by]
        others = ", ".join(f"{n} {_share(c / worst)} of that" for n, c in self.cycles.items() if n != self.by and c)
        unless = "" if self.sure else ", unless caches keep what is read again"
        limit = f"{self.by} on {self.gpu} by its published rates{unless}{f' ({others})' if others else ''}"
        if not self.is_latency:
            return limit
        few = f"{self.blocks:,} block{'' if self.blocks == 1 else 's'}, where {self.gpu} runs {self.wave:,} at once"
        return f"latency: {few}; with more blocks {limit}"


def _share(value: float) -> str:
    """Return a share as a percentage; "less than 1%" for a small one."""
    return f"{value:.0%}" if value >= 0.01 else "less than 1%"


def rates_of(arch: str, gpu: str | None = None) -> Rates | None:
    """Return the published rates of a GPU of an architecture: the one named, else the first; None if there is none.

    Raises:
        DeviceError: no GPU of this name and architecture has a row in `RATES`.
    """
    matches = [rates for rates in RATES if rates.arch == arch]
    if gpu is None:
        return matches[0] if matches else None
    for rates in matches:
        if rates.gpu == gpu:
            return rates
    known = ", ".join(rates.gpu for rates in matches) or "none"
    raise DeviceError(f"There are no published rates of a {gpu!r} of {arch} here.", advice=f"Those known: {known}.")


def bound(
    counts: Counts, touched: int, hottest: int, rates: Rates | None, blocks: int = 0, resident: int = 0
) -> Bound | None:
    """Return what bounds a launch; None without published rates, or if nothing was executed.

    Args:
        counts: of the launch.
        touched: distinct sectors of global memory.
        hottest: the most atomic operations on one element.
        rates: of the GPU.
        blocks: of the launch.
        resident: blocks that a multiprocessor runs at once.
    """
    if rates is None or not counts.instructions:
        return None
    per_cycle = rates.bandwidth / rates.clock
    rest = {
        "instructions": counts.instructions / (SCHEDULERS * rates.units),
        "shared memory": counts.shared_wavefronts / (WAVEFRONTS * rates.units),
        "atomics": max(hottest / UPDATES, counts.atomics / (ATOMICS * rates.units)),
    }
    cycles = {"memory": 32 * counts.global_sectors / per_cycle, **rest}
    cached = {"memory": 32 * min(touched, counts.global_sectors) / per_cycle, **rest}
    by = max(cycles, key=lambda n: cycles[n])
    agreed = by == max(cached, key=lambda n: cached[n])
    return Bound(by, rates.gpu, cycles, cached["memory"], agreed, rates, blocks, resident * rates.units)
