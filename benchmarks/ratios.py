"""Each ratio to a peer in `results`, beside what it was at a commit: whether something got slower.

python benchmarks/ratios.py [COMMIT]        786ae84 if none is given; `run.py` prints it when all benchmarks have run
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import OURS, RESULTS

BEFORE = "786ae84"
FALL = 0.8
"""Below this share of what it was a ratio is marked: less is noise on these machines."""


def ratios(kept: dict[str, Any]) -> dict[tuple[str, str], float]:
    """A peer's time over ours, by row and peer; of tables (`measure.Table`) and of `workloads.json`."""
    rows = {row["what"]: row["seconds"] for row in kept.get("rows", ())} or kept.get("seconds", {})
    found: dict[tuple[str, str], float] = {}
    for what, seconds in rows.items():
        least = {system: took[0] if isinstance(took, list) else took for system, took in seconds.items()}
        if ours := least.get(OURS):
            found |= {(what, system): took / ours for system, took in least.items() if system != OURS and took}
    return found


def before(commit: str) -> Iterator[tuple[str, dict[tuple[str, str], float]]]:
    """The ratios of each file of results at a commit."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=RESULTS.parents[1], capture_output=True, text=True, check=True
        ).stdout

    for name in git("ls-tree", "--name-only", f"{commit}:benchmarks/results").split():
        if name.endswith(".json"):
            yield name, ratios(json.loads(git("show", f"{commit}:benchmarks/results/{name}")))


def main(commit: str = BEFORE) -> None:
    """Print a row per ratio."""
    print(f"| | peer | {commit} | now | |\n|---|---|---|---|---|")
    for name, old in before(commit):
        path = RESULTS / name
        new = ratios(json.loads(path.read_text())) if path.exists() else {}
        for (what, peer), was in old.items():
            now = new.get((what, peer))
            mark = "" if now is None or now >= FALL * was else "fell"
            shown = "not measured" if now is None else f"{now:.2f}"
            print(f"| {Path(name).stem}: {what} | {peer} | {was:.2f} | {shown} | {mark} |")


if __name__ == "__main__":
    main(*sys.argv[1:2])
