"""Pages: the README is short and its example runs, design notes are short, and every link leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_and_its_forces_are_right(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([row for row in example.splitlines() if row.strip()]) <= 20
    program = tmp_path / "example.py"
    program.write_text(example)
    result = subprocess.run([sys.executable, "-W", "error", program], capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr
    numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", result.stdout)]
    assert abs(numbers[0] - 0.5 * 100 * 10 * 0.2**2) < 1e-3
    assert abs(numbers[1] - 20) < 1e-2 and abs(numbers[-1] + 20) < 1e-2
    assert all(abs(force) < 1e-2 for force in numbers[2:-1])


def test_a_newcomer_reads_it_in_five_minutes() -> None:
    assert len(README.splitlines()) <= 150
    assert len(re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "", README))) <= 5 * 250


def test_design_notes_are_short() -> None:
    long = {}
    for page in (ROOT / "design").glob("*.md"):
        rows = page.read_text("utf-8").splitlines()
        wide = [row for row in rows if len(row) > 135 and not row.startswith("|")]
        if len(rows) > 150 or wide:
            long[page.stem] = len(rows), wide
    assert not long, long


def test_each_design_note_names_the_tests_that_hold_it() -> None:
    tests = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*") if path.is_file()}
    known = (
        {Path(path).name for path in tests} | tests | {parent.as_posix() for t in tests for parent in Path(t).parents}
    )
    unheld = {}
    for page in sorted((ROOT / "design").glob("*.md")):
        named = re.findall(r"`([^`]+)`", page.read_text("utf-8").partition("\n**Held by** ")[2])
        missing = [name for name in named if name not in known]
        if page.stem != "README" and (not named or missing):
            unheld[page.stem] = missing
    assert not unheld, unheld


def test_links_and_pictures_are_there() -> None:
    pages = (ROOT / "README.md", ROOT / "notebooks/README.md", *(ROOT / "design").glob("*.md"))
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([\w./-]+)[)#]", page.read_text("utf-8"))]
    missing = [(page.name, link) for page, link in links if not (page.parent / link).exists()]
    assert len(links) > 50 and not missing, missing


def test_the_comparisons_figures_are_those_of_the_results_it_names() -> None:
    section = README.partition("## Why this, and not")[2].partition("\n## ")[0]
    tables = [(ROOT / target).read_text(encoding="utf-8") for target in re.findall(r"\]\(([^)#]+)\)", section)]
    figures = re.findall(r"\d+\.\d+×", section)
    measured = {figure for table in tables for figure in re.findall(r"\d+\.\d+×", table)}
    assert figures and not set(figures) - measured
