"""The page of traps, run: each wrong program says what the page says, each right one runs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("jax")
PAGE = (Path(__file__).parents[3] / "docs" / "guide" / "jax-traps.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(python setup|python wrong|python right|text)\n(.*?)```", re.S)
SETUP = next(text for kind, text in BLOCK.findall(PAGE) if kind == "python setup")
TRAPS = {
    title: dict(BLOCK.findall(body))
    for title, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)
    if "python wrong" in body
}


def run(text: str, folder: Path) -> None:
    file = folder / "program.py"
    file.write_text(f"{SETUP}\n{text}", encoding="utf-8")
    runpy.run_path(str(file))


@pytest.mark.sample(5)
@pytest.mark.parametrize("title", TRAPS)
def test_the_wrong_program_says_so_and_the_right_one_runs(title: str, tmp_path: Path) -> None:
    blocks = TRAPS[title]
    with pytest.raises(Exception) as error:
        run(blocks["python wrong"], tmp_path)
    assert squeezed(blocks["text"]) in squeezed(str(error.value))
    right = tmp_path / "right"
    right.mkdir()
    run(blocks["python right"], right)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def test_the_page_is_whole() -> None:
    assert len(TRAPS) == 13 and all(set(b) == {"python wrong", "text", "python right"} for b in TRAPS.values())
