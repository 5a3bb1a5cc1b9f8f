"""Judge programs for as long as one likes: `python -m tests.judge --seconds 3600 --seed 1 --report FILE`.

The collection's programs, each on every path in an order by chance, between the generator's, each on some paths. What
fails is shrunk. The report is written every five minutes, at the end, and after an interrupt.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from random import Random

import workbench as wb
from tests.judge.generated import generated
from tests.judge.paths import PATHS
from tests.judge.program import Program
from tests.judge.programs import PROGRAMS
from tests.judge.shrink import shrink
from tests.judge.verdicts import Verdict, judge

SIZES = (37, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 67, 0)
SHRINKS = 30
"""So many failures are shrunk; the rest are listed."""
EDITS = 250
KINDS = ("right", "wrong", "broken", "refused", "not judged", "not applicable")


@dataclass
class Report:
    """The verdicts so far."""

    seed: int
    begun: float = field(default_factory=time.monotonic)
    programs: set[str] = field(default_factory=set)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Program, str, Verdict, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, program: Program, path: str) -> None:
        """Judge one program on one path."""
        verdict = judge(program, path)
        self.programs.add(program.text)
        self.said[path, verdict.said] += 1
        self.numbers["judged"] += verdict.judged
        self.numbers["left out"] += verdict.left_out
        self.numbers["raced"] += verdict.raced
        self.numbers["threads"] += verdict.threads
        self.numbers["diverged"] += verdict.diverged
        if verdict.said in ("not judged", "refused"):
            self.reasons[f"{verdict.said}: {_first_line(verdict.detail)}"] += 1
        if verdict.bad:
            small = _shrunk(program, path, verdict) if len(self.failures) < SHRINKS else program.text
            self.failures.append((program, path, verdict, small))
            print(f"{program.name}, {path}: {verdict.said}, {verdict.detail[:300]}", flush=True)

    def text(self) -> str:
        """The report as Markdown."""
        paths = [p for p in PATHS if any(self.said[p, kind] for kind in KINDS)]
        rows = [f"| {p} | " + " | ".join(str(self.said[p, kind]) for kind in KINDS) + " |" for p in paths]
        lines = [
            "# Programs against the oracle", "",
            f"{datetime.now():%Y-%m-%d}, commit {_commit()}, Workbench {wb.__version__}, "
            f"Python {sys.version.split()[0]}, {_machine()}.", "",
            *self._counts(), "",
            f"| path | {' | '.join(KINDS)} |", "|---" * (len(KINDS) + 1) + "|", *rows, "",
            f"## Failures: {len(self.failures)}", "",
        ]  # fmt: skip
        for program, path, verdict, small in self.failures:
            title = f"### {program.name}, {path}: {verdict.said}"
            lines += [title, "", _first_line(verdict.detail), "", "```python", small.strip(), "```", ""]
        lines += ["## Most frequent reasons for no verdict", ""]
        lines += [f"- {count} × {reason}" for reason, count in self.reasons.most_common(25)]
        return "\n".join(lines) + "\n"

    def _counts(self) -> list[str]:
        """What ran, how much of it was compared, and what was left out."""
        n = self.numbers
        minutes, cpu = (time.monotonic() - self.begun) / 60, time.process_time() / 60
        others = n["left out"] - n["raced"]
        of = f"{n['threads']:,} threads"
        return [
            f"Seed {self.seed}: {len(self.programs)} programs, {sum(self.said.values())} verdicts in {minutes:.0f} "
            f"minutes ({cpu:.0f} of processor time), {n['judged']:,} numbers compared.", "",
            f"- Threads of gradients that go another way in float64, left out: {n['diverged']:,} of {of} "
            f"({_share(n['diverged'], n['threads'])}).",
            f"- Numbers that depend on the order of threads, left out: {n['raced']:,} "
            f"({_share(n['raced'], n['judged'] + n['left out'])}).",
            f"- Other numbers left out: {others:,} ({_share(others, n['judged'] + n['left out'])}): integers made of "
            "inexact values, derivatives that are not finite, derivatives by what the threads above read.",
        ]  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.2f} %"


def _commit() -> str:
    """The commit of the tree that runs, marked if files differ from it."""
    root = Path(__file__).parents[2]
    command = ["git", "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True).stdout.strip() or "unknown"


def _machine() -> str:
    """The processor and its cores."""
    try:
        names = [
            row.split(":", 1)[1].strip()
            for row in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in row
        ]
    except OSError:
        names = []
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def _first_line(detail: str) -> str:
    rows = [row.strip() for row in detail.splitlines() if row.strip()]
    return " ".join(rows[-2:] if rows and rows[0].startswith("Kernel") else rows[:1])[:200]


def _shrunk(program: Program, path: str, verdict: Verdict) -> str:
    """The program's text with only what fails left."""

    def fails(text: str) -> bool:
        try:
            again = judge(replace(program, text=text), path)
            return again.said == verdict.said and again.detail.split(":")[0][:9] == verdict.detail.split(":")[0][:9]
        except Exception:
            return False

    try:
        return shrink(program.text, fails, EDITS)
    except ValueError:
        return program.text + "\n# It did not fail again.\n"


def work(seed: int) -> Iterator[tuple[Program, str]]:
    """Programs and paths, without end: one of the collection, then one of the generator on some paths."""
    random = Random(seed)
    collection = [(program, path) for program in PROGRAMS.values() for path in PATHS]
    random.shuffle(collection)
    number = seed * 1_000_000
    while True:
        if collection:
            yield collection.pop()
        program = generated(number, random.choice(SIZES))
        some = random.sample(list(PATHS), 4)
        for path in dict.fromkeys(["cpu", *(["tape"] if program.smooth else []), *some]):
            yield program, path
        number += 1


def main() -> None:
    """Judge until the time is over, and write the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.judge", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, default=Path("benchmarks/results/judge.md"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    report = Report(options.seed)
    told = written = time.monotonic()
    try:
        for program, path in work(options.seed):
            if time.monotonic() - report.begun > options.seconds:
                break
            report.add(program, path)
            if time.monotonic() - told > 30:
                told = time.monotonic()
                count, failed = len(report.programs), len(report.failures)
                print(f"{told - report.begun:.0f} s: {count} programs, {failed} failures", flush=True)
            if time.monotonic() - written > 300:
                written = time.monotonic()
                options.report.write_text(report.text())
    except KeyboardInterrupt:
        print("Interrupted.", flush=True)
    options.report.write_text(report.text())
    print(f"{len(report.failures)} failures; {options.report}")


if __name__ == "__main__":
    main()
