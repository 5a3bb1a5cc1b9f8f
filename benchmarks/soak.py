"""Thousands of random cells in one notebook kernel, each number checked, and what is left in memory.

python benchmarks/soak.py [actions] [seed]
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from measure import Row, Table, write

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.kernel_ext.soak import SETUP, Soak, kernel, plain

WARM = 300
"""Actions before memory is first read: each kind has run by then."""


def soaked(actions: int, seed: int) -> tuple[Soak, list[float]]:
    """Run the actions; the soak, and megabytes after each tenth of them."""
    with kernel() as notebook:
        soak = Soak(notebook, random.Random(seed))
        soak.begin()
        marks = []
        for number in range(WARM + actions):
            if number >= WARM and (number - WARM) % max(1, actions // 10) == 0:
                marks.append(notebook.megabytes())
                print(f"{number - WARM:6} actions, {marks[-1]:.1f} MB", flush=True)
            soak.step()
        marks.append(notebook.megabytes())
        return soak, marks


def control(actions: int, seed: int) -> list[float]:
    """As many plain cells in a kernel with the same imports."""
    chance = random.Random(seed)
    with kernel(SETUP) as notebook:
        marks = []
        for number in range(WARM + actions):
            if number == WARM:
                marks.append(notebook.megabytes())
            notebook.run(plain(number, chance))
        return [*marks, notebook.megabytes()]


def main() -> None:
    """Write the table; fails where a number was wrong or a cell hung."""
    actions, seed = (int(a) for a in (*sys.argv[1:], *("5000", "1")[len(sys.argv) - 1 :]))
    soak, marks = soaked(actions, seed)
    quiet = control(actions, seed)
    grown, alone = marks[-1] - marks[0], quiet[-1] - quiet[0]
    table = Table("soak", f"{actions} random cells in one notebook kernel, no number wrong", 1)
    done = ", ".join(f"{name} {count}" for name, count in soak.done.most_common())
    note = f"memory {marks[0]:.0f} MB, then {marks[-1]:.0f}: {grown:+.1f} MB; plain cells {alone:+.1f} MB; {done}"
    table.rows.append(Row("the slowest action", {"workbench": soak.slowest}, note))
    write(table)


if __name__ == "__main__":
    main()
