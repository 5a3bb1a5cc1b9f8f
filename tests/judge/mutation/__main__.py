"""The run: draw mutants, find the battery items that reach each, run them, and write the report."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tests.judge.mutation.battery import Item, items, saved
from tests.judge.mutation.mutants import FOLDERS, KINDS, Mutant, compiles, described, mutants

ROOT = Path(__file__).parents[3]
REASONS = Path(__file__).parent / "reasons.json"
COPIED = ("workbench", "tests")
BUDGET = 40.0
"""Processor time of a mutant that no item kills; if it runs out, the report says so."""
ALIVE = ("survived", "out of time")
VERDICTS = ("wrong", "refused", "crash", "hang", *ALIVE)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.judge.mutation")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, default=Path("mutation.md"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    arguments = parser.parse_args()
    run = Run(arguments.report.with_suffix(""), arguments.jobs)
    run.learn()
    run.load()
    run.draw(arguments.count, arguments.seed, arguments.only)
    run.go()
    reasons = json.loads(REASONS.read_text()) if REASONS.exists() else {}
    arguments.report.write_text(report(run, arguments.seed, reasons))
    print(arguments.report.read_text())


def drawn(seed: int, only: str = "") -> Iterator[Mutant]:
    """Mutants that compile, in an order by chance, spread over folders as their code is."""
    everything = [m for m in mutants(ROOT) if only in m.name]
    random.Random(seed).shuffle(everything)
    return (m for m in everything if compiles(m.applied((ROOT / m.file).read_bytes())))


class Server:
    """A copy of the tree and the process that runs items on it."""

    def __init__(self, items: Path, imported: bool = False) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="tree-", dir=items.parent))
        for folder in COPIED:
            # Copies, not links: one more link to a source is a change of it for every process that watches ours.
            shutil.copytree(ROOT / folder, self.root / folder, ignore=_other)
        env = os.environ | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.judge.mutation.server", str(items), *(["import"] if imported else [])],
            env=env, cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to a request."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(request | {"root": str(self.root)}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def mutate(self, mutant: Mutant) -> None:
        """Put the fault into the copy."""
        path = self.root / mutant.file
        source = path.read_bytes()
        path.unlink()
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()
        path.write_bytes(mutant.applied(source))

    def restore(self, mutant: Mutant) -> None:
        """Take the fault out again."""
        path = self.root / mutant.file
        path.unlink()
        shutil.copy2(ROOT / mutant.file, path)

    def close(self) -> None:
        """End the process and remove the copy."""
        self.process.communicate()
        shutil.rmtree(self.root, ignore_errors=True)


def _other(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name.endswith(".pyc.tmp")}


@dataclass
class Run:
    """One run: its items, its mutants, and what became of each.

    An interrupted run goes on where it was: the folder has an item with its answers per file, and a row per mutant.

    Attributes:
        folder: of what is learned and logged.
        jobs: how many mutants run at once.
        mutants: those whose line some item reaches.
        beyond: those that were drawn between them, whose line none reaches.
    """

    folder: Path
    jobs: int
    mutants: list[Mutant] = field(default_factory=list)
    beyond: list[Mutant] = field(default_factory=list)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    reach: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    _files: dict[str, Path] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def objects(self) -> Path:
        """The folder of machine code that mutants share."""
        return self.folder / "objects"

    def learn(self) -> None:
        """Have the oracle answer for every item, and trace which lines of the compiler it runs."""
        self.objects.mkdir(parents=True, exist_ok=True)
        self._files = dict(self._named(items()))
        (self.folder / "items").mkdir(exist_ok=True)
        waiting = [name for name, file in self._files.items() if not file.with_suffix(".json").exists()]
        random.Random(0).shuffle(waiting)
        everything = items()
        numbers = {item.name: number for number, item in enumerate(everything)}
        queue: Queue[int] = Queue()
        for name in waiting:
            queue.put(numbers[name])
        if waiting:
            (self.folder / "unlearned").write_bytes(pickle.dumps(everything))
            self._work(lambda server: self._learn(server, queue, everything), "unlearned", imported=True)

    def _named(self, everything: list[Item]) -> Iterator[tuple[str, Path]]:
        for item in everything:
            yield item.name, self.folder / "items" / hashlib.sha256(pickle.dumps(item)).hexdigest()

    def load(self) -> None:
        """Take the items that are learned."""
        self.items, self.reach = [], {}
        for _, file in self._named(items()):
            facts = file.with_suffix(".json")
            answer = json.loads(facts.read_text()) if facts.exists() else {}
            if not answer.get("cases"):
                continue
            for name, lines in answer["lines"].items():
                for line in lines:
                    self.reach.setdefault(name, {}).setdefault(line, []).append(len(self.items))
            self.items.append(saved(file))
        (self.folder / "battery").write_bytes(pickle.dumps(self.items))

    def _learn(self, server: Server, queue: Queue[int], everything: list[Item]) -> None:
        for number in _taken(queue):
            name = everything[number].name
            file = self._files[name].resolve()
            answer = server.ask(learn=number, to=str(file), objects=str(self.objects.resolve()))
            file.with_suffix(".json").write_text(json.dumps(answer))
            said = f"{answer['verdict']} {answer.get('cases', '')} {answer.get('said', '')}"
            print(f"{queue.qsize()} to learn; {name}: {said}, {answer['cpu']:.1f} s", flush=True)

    def draw(self, count: int, seed: int, only: str) -> None:
        """Draw so many mutants whose lines are reached."""
        self.mutants, self.beyond = [], []
        for mutant in drawn(seed, only):
            if len(self.mutants) == count:
                break
            reached = self.reach.get(mutant.file, {}).get(mutant.line)
            (self.mutants if reached else self.beyond).append(mutant)

    def go(self) -> None:
        """Run the mutants that the log does not have, and those that lived, on the items that they have not seen."""
        log = self.folder / "log"
        if log.exists():
            self.results = {row["name"]: row for row in map(json.loads, log.read_text().splitlines())}
        queue: Queue[tuple[Mutant, list[int]]] = Queue()
        for mutant in self.mutants:
            row = self.results.get(mutant.name, {"verdict": ALIVE[0], "seen": []})
            numbers = [n for n in self.ordered(mutant) if self.items[n].name not in row["seen"]]
            if row["verdict"] in ALIVE and numbers:
                queue.put((mutant, numbers))
        self._work(lambda server: self._mutants(server, queue), "battery")

    def _work(self, work: Callable[[Server], None], items: str, imported: bool = False) -> None:
        def job() -> None:
            server = Server((self.folder / items).resolve(), imported)
            try:
                work(server)
            finally:
                server.close()

        threads = [threading.Thread(target=job, daemon=True) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _mutants(self, server: Server, queue: Queue[tuple[Mutant, list[int]]]) -> None:
        for mutant, numbers in _taken(queue):
            before = self.results.get(mutant.name, {})
            server.mutate(mutant)
            answer = server.ask(items=numbers, budget=BUDGET, objects=str(self.objects.resolve()), file=mutant.file)
            server.restore(mutant)
            seen = [self.items[n].name for n in numbers[: answer["ran"]]]
            answer["seen"] = [*before.get("seen", []), *seen]
            answer["changed"] = answer.get("changed", 0) + before.get("changed", 0)
            self._done(mutant, answer | {"reached": len(self.ordered(mutant))})

    def ordered(self, mutant: Mutant) -> list[int]:
        """The items that reach a mutant's line: first those that run much of its file and cost little."""
        lines = self.reach[mutant.file]
        depth = Counter(n for numbers in lines.values() for n in numbers)
        return sorted(lines[mutant.line], key=lambda n: (self.items[n].cost / depth[n], n))

    def _done(self, mutant: Mutant, answer: dict[str, Any]) -> None:
        before, after = described(ROOT, mutant)
        row = {"name": mutant.name, "before": before, "after": after, **answer}
        with self._lock:
            self.results[mutant.name] = row
            with (self.folder / "log").open("a") as file:
                file.write(json.dumps(row) + "\n")
            done = [self.results[m.name] for m in self.mutants if m.name in self.results]
            alive = sum(r["verdict"] in ALIVE for r in done)
            print(
                f"{len(done)}/{len(self.mutants)} {alive} alive  {answer['verdict']:11} {answer.get('cpu', 0):5.1f} s  "
                f"{mutant.file}:{mutant.line} {mutant.kind} ({answer['item']})", flush=True,
            )  # fmt: skip


def _taken(queue: Queue[Any]) -> Iterator[Any]:
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return


def report(run: Run, seed: int, reasons: dict[str, str] | None = None) -> str:
    """The report, in Markdown.

    Args:
        run: after its mutants.
        seed: of the mutants.
        reasons: why a survivor changes no number, by what it makes of its line.
    """
    reasons = reasons or {}
    rows = [(m, run.results[m.name]) for m in run.mutants if m.name in run.results]
    alive = [(m, r) for m, r in rows if r["verdict"] in ALIVE]
    same = [(m, r) for m, r in alive if _why(r, reasons)]
    killed, count = len(rows) - len(alive), max(1, len(rows))
    text = [
        "# Mutation of the compiler", "",
        f"{datetime.now():%Y-%m-%d}, seed {seed}: {len(rows)} mutants in lines that the battery reaches, against "
        f"{len(run.items)} items of it ({sum(len(i.cases) for i in run.items)} programs on paths, with the oracle's "
        "answers).", "",
        f"- killed: {killed} ({100 * killed / count:.1f} %)",
        f"- alive: {len(alive)}; {len(same)} of them change no number, for the reasons below. Of the "
        f"{len(rows) - len(same)} others {100 * killed / max(1, len(rows) - len(same)):.1f} % are killed.",
        f"- drawn between them, and not run: {len(run.beyond)} in lines that no item reaches", "",
    ]  # fmt: skip
    for title, key, names in (
        ("folder", lambda m: m.folder, FOLDERS), ("kind", lambda m: m.kind, KINDS),
    ):  # fmt: skip
        text += [f"| {title} | mutants | {' | '.join(VERDICTS)} |", "|---" * (2 + len(VERDICTS)) + "|"]
        for name in names:
            some = [r["verdict"] for m, r in rows if key(m) == name]
            text.append(f"| {name} | {len(some)} | " + " | ".join(str(some.count(v)) for v in VERDICTS) + " |")
        text.append("")
    text += [
        "## Alive",
        "",
        "Items that reach the line; LLVM IR of theirs that the fault changed; why it changes no number.",
        "",
    ]
    for mutant, row in sorted(alive, key=lambda pair: pair[0].name):
        ran = f"{len(row['seen'])} items, {row['changed']} changed"
        text += [
            f"- `{mutant.file}:{mutant.line}` ({mutant.kind}): {ran}. {_why(row, reasons) or '**Not explained.**'}",
            f"  - `{row['before']}`", f"  - `{row['after']}`",
        ]  # fmt: skip
    text += ["", "## Not reached", ""]
    text += [f"- `{mutant.file}:{mutant.line}` ({mutant.kind})" for mutant in sorted(run.beyond, key=lambda m: m.name)]
    return "\n".join([*text, ""])


def _why(row: dict[str, Any], reasons: dict[str, str]) -> str:
    return reasons.get(f"{row['before']} -> {row['after']}", "")


if __name__ == "__main__":
    main()
