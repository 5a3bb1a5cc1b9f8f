"""How compile time grows with a kernel's size: families of programs, forward and adjoint, in CPU seconds.

Sizes double until a kernel takes `ENOUGH` seconds or the family ends (at four times a size that once took seconds, or
where nesting ends). Each build is in a process of its own, after LLVM was warmed, from text to object code, with no
cache. The exponent is the slope of a straight line through the logarithms of sizes and seconds, of builds of at least
`COUNTS` seconds: below, what every kernel costs hides the growth.

Usage: `compile_growth.py [FAMILY ...]`. Families that are named are measured again; the others' results are kept.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from measure import RESULTS, machine

import workbench as wb
from tests.support.kernels.families import FAMILIES, LONG, NESTED, SAME_FOR_ALL, Family
from workbench.api.builds.build import function_of
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.worker.pool import Task

ENOUGH = 5.0
COUNTS = 0.05
LIMIT = 60  # CPU seconds of one build; more is a hang
GOAL = 1.3
KEPT = RESULTS / "compile_growth.json"


@dataclass(frozen=True)
class Curve:
    """One family in one direction: CPU seconds by size, None if a build did not end."""

    group: str
    family: str
    direction: str
    seconds: dict[int, float | None]

    @property
    def exponent(self) -> float | None:
        """The slope; None if fewer than two builds are long enough."""
        points = [(math.log(n), math.log(s)) for n, s in self.seconds.items() if s is not None and s >= COUNTS]
        if len(points) < 2:
            return None
        x, y = (sum(p[k] for p in points) / len(points) for k in (0, 1))
        return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def compiled(text: str, direction: str) -> float:
    """CPU seconds from the text to an object file."""
    started = time.process_time()
    specialisation = wb.build_cell(text, {}, backend="cpu", compile=False).kernels["k"].specialise()
    backend = CpuBackend()
    backend.compile(function_of(specialisation, direction), Options(), backend.target())
    return time.process_time() - started


def here(_: object, task: Task, request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """LLVM in this process, so that its time is counted."""
    return task(request, data, lambda stage: None)


def apart(text: str, direction: str) -> float | None:
    """`compiled` in a process of its own; None if it does not end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        os.write(writing, repr(compiled(text, direction)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return float(found) if found else None


def sizes(family: Family) -> list[int]:
    """From the family's end downwards in halves, smallest first."""
    found = [family.size]
    while found[0] // 2 >= family.smallest:
        found.insert(0, found[0] // 2)
    return found


def curve(group: str, name: str, direction: str) -> Curve:
    """Build until it takes long enough."""
    seconds: dict[int, float | None] = {}
    for size in sizes(FAMILIES[name]):
        taken = seconds[size] = apart(FAMILIES[name].text(size), direction)
        if taken is None or taken >= ENOUGH:
            break
    return Curve(group, name, direction, seconds)


def markdown(curves: list[Curve]) -> str:
    """The table."""
    lines = ["## How compile time grows with a kernel's size", ""]
    lines += ["| | direction | size: CPU seconds | exponent |", "|---|---|---|---|"]
    for one in curves:
        shown = ", ".join(f"{n}: {'no end' if s is None else f'{s:.3f}'}" for n, s in one.seconds.items())
        slope = one.exponent
        lines.append(f"| {one.family} | {one.direction} | {shown} | {'—' if slope is None else f'{slope:.2f}'} |")
    above = [f"{c.family} ({c.direction})" for c in curves if (c.exponent or 0) > GOAL]
    lines += ["", f"Exponents above {GOAL}: {', '.join(above) or 'none'}. A dash: too quick for a slope."]
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
    return "\n".join([*lines, "", facts, ""])


def merged(curves: list[Curve]) -> list[Curve]:
    """The kept curves, with these in the place of theirs."""
    kept = {}
    if KEPT.exists():
        for one in json.loads(KEPT.read_text())["curves"]:
            seconds = {int(n): s for n, s in one["seconds"].items()}
            kept[one["family"], one["direction"]] = Curve(one["group"], one["family"], one["direction"], seconds)
    kept.update({(c.family, c.direction): c for c in curves})
    order = list(FAMILIES)
    return sorted((c for c in kept.values() if c.family in FAMILIES), key=lambda c: order.index(c.family))


def main() -> None:
    """Measure, print the table, and keep it."""
    only = sys.argv[1:]
    if unknown := set(only) - set(FAMILIES):
        sys.exit(f"no such families: {', '.join(sorted(unknown))}; there are: {', '.join(FAMILIES)}")
    cpu.call = here  # type: ignore[attr-defined]  # workers have clocks of their own
    cpu.warm()
    curves = []
    for group, families in (("same for all threads", SAME_FOR_ALL), ("nested", NESTED), ("long", LONG)):
        for name, family in families.items():
            if only and name not in only:
                continue
            for direction in family.directions:
                curves.append(curve(group, name, direction))
                print(f"{name}, {direction}: {curves[-1].seconds}", flush=True)
    curves = merged(curves) if only else curves
    facts = {"machine": machine(), "when": time.strftime("%Y-%m-%d")}
    KEPT.write_text(
        json.dumps({**facts, "curves": [{**asdict(c), "exponent": c.exponent} for c in curves]}, indent=1) + "\n"
    )
    KEPT.with_suffix(".md").write_text(markdown(curves))
    print(markdown(curves))


if __name__ == "__main__":
    main()
