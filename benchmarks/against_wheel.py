"""Rows of `workloads.py` with this tree's Workbench and with another one's: what a change made slower.

Each runs in a process of its own, that checks every result and then answers one request after the other; the two take
turns, so that what else the machine does meets both. What counts is the least processor time of all threads. A program
that one of the two refuses, or gets wrong, stands in the table as that.

python benchmarks/against_wheel.py [PATH] [--commit C] [--rounds N] [row …]

PATH is a wheel, or a folder into which one was installed (`pip install --no-deps --target FOLDER WHEEL`). Without it a
wheel of the commit is built from the history: 5715333a, unless another is given. Rows are named as in `workloads.py`;
those that are named replace their rows of the table.
With `WORKBENCH_CPU`, both compile for that level of the CPU, and the table has it in its name.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from measure import RESULTS, machine, shown

TREE = Path(__file__).resolve().parents[1]
REFERENCE = "5715333a"
LEAST = 0.02
"""Seconds that a sample takes at least: a short call is repeated, as the system counts another core's time by ticks."""
Pair = tuple[dict[str, Any], dict[str, Any]]


def serve() -> None:
    """Answer the parent's requests, a line of JSON for each, until there are none.

    {"subject": 3, "names": []} builds the rows of a subject and answers with the state of each.
    {"row": name, "times": 5} answers with the processor seconds of a call, the mean of five.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import workloads

    import workbench

    print(json.dumps([workbench.__file__, len(workloads.SUBJECTS)]), file=answers, flush=True)
    calls: dict[str, Any] = {}
    for request in map(json.loads, sys.stdin):
        if "row" in request:
            call, started = calls[request["row"]], time.process_time()
            for _ in range(request["times"]):
                call()
            print((time.process_time() - started) / request["times"], file=answers, flush=True)
            continue
        calls.clear()
        states: dict[str, Any] = {}
        for program in workloads.SUBJECTS[request["subject"]]():
            for gradient in (False, True):
                states |= prepared(workloads, program, gradient, request["names"], calls)
        print(json.dumps(states), file=answers, flush=True)


def prepared(workloads: Any, program: Any, gradient: bool, names: list[str], calls: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a program's row: the seconds of its call, or what is wrong with it; `calls` gets the call."""

    def wanted(name: str) -> bool:
        chosen = not names or name.startswith(tuple(names))
        return chosen and name.startswith("gradient: ") == gradient

    states: dict[str, Any] = {}
    title = f"gradient: {program.name}" if gradient else program.name
    try:
        for load in program.workloads(wanted, alone=True):
            call = load.calls["workbench"]
            if workloads.wrong(load, "workbench", call):
                states[load.name] = "wrong"
                continue
            started = time.perf_counter()
            call()
            states[load.name], calls[load.name] = time.perf_counter() - started, call
    except Exception as error:  # the other version's refusals are of any type
        states[title] = f"refused: {type(error).__name__} {' '.join(str(error).split())[:160]}"
    return states


class Child:
    """A process that runs rows with the Workbench in a folder, and with a cache of its own."""

    def __init__(self, folder: Path, cache: str) -> None:
        paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "WORKBENCH_CACHE": cache}
        command = [sys.executable, __file__, "--serve"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)
        imported, self.subjects = self.answer()
        if folder.resolve() not in Path(imported).resolve().parents:
            raise SystemExit(f"{folder} has no package `workbench`: {imported} was imported instead")

    def answer(self) -> Any:
        """Return the next answer."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a process of the comparison ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, **request: Any) -> Any:
        """Return the answer to a request."""
        assert self.process.stdin is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return self.answer()

    def close(self) -> None:
        """End the process, which has no more to answer."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def installed(path: Path | None, commit: str, scratch: Path) -> Path:
    """Return the folder that has the other version: `path`, or where its wheel, or a commit's, has been installed."""
    if path is not None and path.is_dir():
        return path
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    if path is None:
        text = subprocess.run(["git", "-C", TREE, "archive", commit], check=True, capture_output=True).stdout
        tarfile.open(fileobj=io.BytesIO(text)).extractall(scratch / "source", filter="data")
        subprocess.run([*pip, "wheel", "--no-deps", "-w", scratch, scratch / "source"], check=True)
        (path,) = scratch.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", scratch / "other", path], check=True)
    return scratch / "other"


def compared(children: tuple[Child, Child], names: list[str], rounds: int) -> dict[str, Pair]:
    """Return what each of the two said of each row: its state, and its samples."""
    rows: dict[str, Pair] = {}
    for subject in range(children[0].subjects):
        ours, theirs = (child.ask(subject=subject, names=names) for child in children)
        for name in dict.fromkeys([*ours, *theirs]):
            states = ours.get(name, "refused"), theirs.get(name, "refused")
            pair: Pair = {"state": states[0], "samples": []}, {"state": states[1], "samples": []}
            longest = max((s for s in states if not isinstance(s, str)), default=0.0)
            times = max(1, round(LEAST / max(longest, 1e-6)))
            for turn in range(rounds):
                for k in (0, 1) if turn % 2 else (1, 0):
                    if not isinstance(states[k], str):
                        pair[k]["samples"].append(children[k].ask(row=name, times=times))
            rows[name] = pair
            print(line(name, pair), flush=True)
    return rows


def line(name: str, pair: Pair) -> str:
    """Return a row of the table: both times, and how many times as fast this tree is."""
    least = [min(side["samples"], default=None) for side in pair]
    cells = [side["state"].replace("|", "\\|") if t is None else shown(t) for side, t in zip(pair, least, strict=True)]
    ratio = f"{least[1] / least[0]:.2f}×" if None not in least else ""
    return f"| {name} | {' | '.join(cells)} | {ratio} |"


HEAD = ("## This tree against ", "", "| | this tree | the other | × as fast |", "|---|---|---|---|")


def main() -> None:
    """Compare, and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="[PATH] row")
    parser.add_argument("--commit", default=REFERENCE)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    if given.serve:
        serve()
        return
    names, path = given.rows, None
    if names and Path(names[0]).exists():
        path, *names = Path(names[0]), *names[1:]
    other = str(path or given.commit)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder = installed(path, given.commit, scratch)
        ours, theirs = Child(TREE, str(scratch / "our_cache")), Child(folder, str(scratch / "their_cache"))
        stack.callback(ours.close)
        stack.callback(theirs.close)
        print("\n".join((HEAD[0] + other, *HEAD[1:])), flush=True)
        rows = compared((ours, theirs), names, given.rounds)
    name = "_".join(filter(None, ("against_wheel", os.environ.get("WORKBENCH_CPU"))))
    write(name, other, given.rounds, rows, again=bool(names))


def write(name: str, other: str, rounds: int, rows: dict[str, Pair], again: bool) -> None:
    """Write the table `results/<name>`: with `again`, the rows replace those of the table that is there."""
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text()) if again and path.exists() else {}
    if before.get("other") == other and before["machine"] == machine():
        rows, rounds = {**before["rows"], **rows}, min(rounds, before["rounds"])
    note = f"Least processor time of all threads over {rounds} rounds or more, in which two processes took turns. "
    note += "A gradient is a run forward and backward. Other work ran beside."
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
    lines = [*HEAD, *(line(name, pair) for name, pair in rows.items()), "", note, "", facts, ""]
    lines[0] += other
    kept = {"machine": machine(), "when": time.strftime("%Y-%m-%d"), "other": other, "rounds": rounds, "rows": rows}
    path.write_text(json.dumps(kept, indent=1) + "\n")
    path.with_suffix(".md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
