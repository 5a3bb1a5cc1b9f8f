"""Medians of things run in turn, in one process, and the tables made of them.

A time on a shared machine says little alone; two times taken in turn, minute by minute, give a ratio that holds. So
every case of a row runs once per round, and a row reports its medians and their ratios to Workbench's.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
OURS = "workbench"
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
PEERS = ("warp-lang", "numba", "taichi", "triton", "jax", "numpy", "llvmlite", "nvidia-cuda-nvrtc")


@dataclass(frozen=True)
class Row:
    """What was timed, and the median seconds of each system that did it."""

    what: str
    seconds: Mapping[str, float]
    note: str = ""


@dataclass
class Table:
    """Rows under a title; `rounds` is how often each case ran, `figure` what is shown of these runs."""

    name: str
    title: str
    rounds: int
    rows: list[Row] = field(default_factory=list)
    figure: str = "Medians"


def clock(
    work: Callable[[], object], repeat: int = 1, timer: Callable[[], float] = time.perf_counter
) -> Callable[[], float]:
    """A case: the seconds of one call of `work`, as the mean of `repeat` calls in a row; `timer` reads the clock."""

    def timed() -> float:
        started = timer()
        for _ in range(repeat):
            work()
        return (timer() - started) / repeat

    return timed


def take_turns(cases: Mapping[str, Callable[[], float]], rounds: int, warm: int = 1) -> dict[str, float]:
    """The median of each case over `rounds` rounds in which all cases run one after the other.

    Args:
        cases: name -> a call that gives seconds.
        rounds: rounds that count.
        warm: rounds before those.
    """
    seen: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(warm + rounds):
        for name, case in cases.items():
            seconds = case()
            if turn >= warm:
                seen[name].append(seconds)
    return {name: statistics.median(times) for name, times in seen.items()}


def shown(seconds: float) -> str:
    """A time with three figures and its unit."""
    unit, name = next(((u, n) for u, n in UNITS if seconds >= u), UNITS[-1])
    return f"{seconds / unit:.3g} {name}"


def markdown(table: Table) -> str:
    """The table as Markdown: Workbench's time, then each peer's with its ratio to that."""
    peers = list(dict.fromkeys(name for row in table.rows for name in row.seconds if name != OURS))
    lines = [f"## {table.title}", "", "| | " + " | ".join([OURS, *peers]) + " |", "|---" * (len(peers) + 2) + "|"]
    for row in table.rows:
        ours = row.seconds.get(OURS)
        cells = [row.what + (f" ({row.note})" if row.note else ""), shown(ours) if ours is not None else "—"]
        for peer in peers:
            theirs = row.seconds.get(peer)
            ratio = f" ({theirs / ours:.2f}×)" if theirs is not None and ours else ""
            cells.append(shown(theirs) + ratio if theirs is not None else "—")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(
        [*lines, "", f"{table.figure} of {table.rounds} rounds; × is that system's time over Workbench's.", ""]
    )


def machine() -> dict[str, object]:
    """What the numbers depend on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts: dict[str, object] = {"system": platform.platform(), "cores": cores, "python": platform.python_version()}
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            row.split(":", 1)[1].strip() for row in cpuinfo.read_text().splitlines() if row.startswith("model name")
        ]
        facts["processor"] = names[0] if names else ""
    for peer in PEERS:
        try:
            facts[peer] = importlib.metadata.version(peer)
        except importlib.metadata.PackageNotFoundError:
            facts[peer] = None
    return facts


def write(table: Table) -> None:
    """Print the table and keep it as results/<name>.json and .md."""
    RESULTS.mkdir(exist_ok=True)
    kept = {"machine": machine(), "when": time.strftime("%Y-%m-%d"), **asdict(table)}
    (RESULTS / f"{table.name}.json").write_text(json.dumps(kept, indent=1) + "\n")
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
    (RESULTS / f"{table.name}.md").write_text(f"{markdown(table)}\n{facts}\n")
    print(markdown(table), flush=True)
