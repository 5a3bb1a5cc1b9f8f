"""The notebooks are the documentation, so they run here, and what is committed is what a reader will see.

`nbclient` alone is not enough: a magic that prints a UsageError leaves no `error` output, so streams are read as well.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import run_notebook
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[2] / "notebooks"
IN_EVERY_RUN = ("00", "03", "07")
NOTEBOOKS = [
    pytest.param(path, id=path.stem, marks=[] if path.stem[:2] in IN_EVERY_RUN else pytest.mark.slow)
    for path in sorted(FOLDER.glob("*.ipynb"))
]


def problems(notebook: NotebookNode) -> list[str]:
    """What a reader should not find in a notebook."""
    found = ["the notebook carries widget state"] if "widgets" in notebook.metadata else []
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()):
            found += [f"cell {index}: {problem}" for problem in output_problems(output)]
    return found


def output_problems(output: NotebookNode) -> list[str]:
    """What is wrong with one output of a cell."""
    if output.output_type == "error":
        return [f"{output.ename}: {output.evalue}"]
    if output.output_type == "stream":
        text = output.text
        return [f"printed on stderr: {text.strip()}"] if output.name == "stderr" or "UsageError" in text else []
    kinds = set(output.data)
    if "text/plain" not in kinds:
        return ["an output without text/plain"]
    rich = {kind for kind in kinds if kind == "text/html" or kind.startswith("application/vnd.jupyter.widget")}
    return ["a widget without text/html"] if rich and "text/html" not in kinds else []


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_the_notebook_runs_clean(path: Path, need) -> None:
    for tool in ("nbclient", "skimage", "jax"):
        need(tool)
    result = run_notebook.run(path, widgets=True)
    assert problems(result.notebook) == []
    html = run_notebook.page(result.notebook)
    assert 'src="http' not in html and '<link rel="stylesheet" href="http' not in html


@pytest.mark.parametrize("path", [pytest.param(p.values[0], id=p.id) for p in NOTEBOOKS])
def test_the_committed_notebook_is_clean(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert problems(notebook) == []
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), (
        "run it with --save before committing"
    )
    assert not any("transient" in cell.metadata or "execution" in cell.metadata for cell in code)


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ({"output_type": "error", "ename": "E", "evalue": "v", "traceback": []}, "E: v"),
        ({"output_type": "stream", "name": "stderr", "text": "UsageError: no"}, "printed on stderr: UsageError: no"),
        ({"output_type": "display_data", "data": {"text/html": "x"}, "metadata": {}}, "an output without text/plain"),
        (
            {
                "output_type": "display_data",
                "data": {"text/plain": "w", "application/vnd.jupyter.widget-view+json": {}},
                "metadata": {},
            },
            "a widget without text/html",
        ),
    ],
)
def test_a_problem_is_found(output: dict, problem: str) -> None:
    assert output_problems(nbformat.from_dict(output)) == [problem]
