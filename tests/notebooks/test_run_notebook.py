"""The runner that the notebooks' tests stand on, on notebooks of a few cells that need no Workbench kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import run_notebook
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def write(path: Path, *cells: str) -> Path:
    nbformat.write(new_notebook(cells=[new_markdown_cell("# t"), *map(new_code_cell, cells)]), path)
    return path


@pytest.mark.slow
def test_runs_every_cell_and_reports_progress(tmp_path: Path, need) -> None:
    need("nbclient")
    seen: list[tuple[int, int]] = []
    path = write(tmp_path / "three.ipynb", "x = 20", "x + 1", "get_ipython().execution_count")
    result = run_notebook.run(path, lambda number, count, cell, seconds: seen.append((number, count)))
    code = [cell for cell in result.notebook.cells if cell.cell_type == "code"]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert code[1].outputs[0].data["text/plain"] == "21"
    assert [cell.execution_count for cell in code] == [1, 2, 3]
    assert len(result.notebook.cells) == 4, "the unseen cells stayed in the notebook"
    assert "execution" not in code[0].metadata


@pytest.mark.slow
def test_a_cell_that_raises_stops_the_run(tmp_path: Path, need) -> None:
    need("nbclient")
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        run_notebook.run(write(tmp_path / "bad.ipynb", "1 / 0"))


@pytest.mark.slow
def test_a_cell_tagged_to_raise_shows_its_error_and_the_run_goes_on(tmp_path: Path, need) -> None:
    need("nbclient")
    path = write(tmp_path / "meant.ipynb", "1 / 0", "2 + 2")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].metadata["tags"] = ["raises-exception"]
    nbformat.write(notebook, path)
    code = run_notebook.run(path).notebook.cells[1:]
    assert code[0].outputs[0].ename == "ZeroDivisionError"
    assert code[1].outputs[0].data["text/plain"] == "4"


def test_the_page_fetches_nothing() -> None:
    html = run_notebook.page(new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell("1")]))
    assert "Title" in html
    assert 'src="http' not in html and 'href="http' not in html


def test_the_table_counts_what_was_compiled_and_hit() -> None:
    events = [
        {"event": "CompileDone", "kernel": "blur", "direction": "forward", "seconds": 0.0125},
        {"event": "CacheHit", "kernel": "blur", "direction": "forward", "where": "memory", "seconds": 1e-5},
        {"event": "CacheHit", "kernel": "blur", "direction": "adjoint", "where": "disk", "seconds": 1e-3},
    ]
    text = run_notebook.table(run_notebook.Run(new_notebook(), {0: 1.25}, events, "right"))
    assert "blur forward  compiled   12.5 ms" in text
    assert "kernels compiled  1" in text
    assert "cache hits        2  (1 memory, 1 disk)" in text
    assert "gradient check    right" in text
