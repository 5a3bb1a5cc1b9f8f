"""Runs a notebook without a screen and reports what happened: `python notebooks/run_notebook.py [NOTEBOOK]`.

`make tour` calls it: one line per cell while it runs, a page to open afterwards (build/<name>.html, nothing in it is
fetched), and a short table of what Workbench did. `--save` writes the outputs back into the notebook, without widget
state, which is how notebooks are committed. The tests run the notebooks through `run`, too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from traitlets.config import Config

HERE = Path(__file__).parent
BUILD = HERE.parent / "build"
FETCHED_BY_PAGES = ("require_js_url", "jquery_url", "mathjax_url", "mermaid_js_url", "jupyter_widgets_base_url")
LEFT_OUT = ("application/vnd.jupyter.widget-view+json",)

# Run in the notebook's kernel, unseen: what Workbench did, and the last gradient check of the cells.
LISTEN = """
def _listen():
    import workbench.events as events
    seen = []
    return seen, events.subscribe(seen.append, events.CompileDone, events.CacheHit, events.Replayed)
_seen, _stop = _listen()
"""
TELL = """
def _tell():
    import json
    _stop()
    def plain(event):
        found = {name: getattr(event, name) for name in event.__struct_fields__}
        return {name: value for name, value in found.items() if isinstance(value, (str, int, float))}
    rows = [{"event": type(e).__name__, **plain(e)} for e in _seen]
    check = globals().get("check")
    verdict = str(check).strip().splitlines()[:1] if hasattr(check, "ok") else []
    print(json.dumps({"events": rows, "check": verdict}))
_tell()
"""

Progress = Callable[[int, int, NotebookNode, float], None]


@dataclass(frozen=True)
class Run:
    """A notebook that was run: the notebook with its outputs, seconds per code cell, and what Workbench reported."""

    notebook: NotebookNode
    seconds: dict[int, float]
    events: list[dict[str, Any]] = field(default_factory=list)
    check: str = ""


def run(
    path: Path, progress: Progress | None = None, timeout: int = 900, widgets: bool = False,
    notebook: NotebookNode | None = None,
) -> Run:  # fmt: skip
    """Run all cells of the notebook at `path`, in its folder, in a fresh kernel.

    Args:
        path: the notebook.
        progress: called after each code cell with its number, the number of cells, the cell and its seconds.
        timeout: seconds a cell, or the start of the kernel, may take.
        widgets: show live cards, too; without a browser only their static twins can be seen.
        notebook: what to run in place of what the file holds.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised.
    """
    notebook = notebook or nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        startup_timeout=timeout,
        kernel_name="python3",
        store_widget_state=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": path.parent}},
    )
    cells = [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    seconds: dict[int, float] = {}
    with client.setup_kernel(env={**os.environ, "WORKBENCH_WIDGETS": "1" if widgets else "0"}):
        _unseen(client, LISTEN)
        for number, index in enumerate(cells, 1):
            started = time.perf_counter()
            client.execute_cell(notebook.cells[index], index)
            seconds[index] = time.perf_counter() - started
            if progress is not None:
                progress(number, len(cells), notebook.cells[index], seconds[index])
        told = json.loads(_unseen(client, TELL))
    return Run(_clean(notebook), seconds, told["events"], " ".join(told["check"]))


def _unseen(client: NotebookClient, code: str) -> str:
    """Run `code` in the kernel as a cell that is not kept; what it printed."""
    cells = client.nb.cells
    cell = nbformat.v4.new_code_cell(code)
    cells.append(cell)
    try:
        client.execute_cell(cell, len(cells) - 1, store_history=False)
    finally:
        cells.pop()
    return "".join(out.get("text", "") for out in cell.outputs)


def _clean(notebook: NotebookNode) -> NotebookNode:
    """Take away what changes with every run or only a live kernel understands: times and widget views."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            for kind in LEFT_OUT:
                output.get("data", {}).pop(kind, None)
    return notebook


def page(notebook: NotebookNode) -> str:
    """The notebook as one HTML page that needs no network."""
    exporter = HTMLExporter(config=Config({"HTMLExporter": {"embed_images": True}}))
    for url in FETCHED_BY_PAGES:
        if exporter.has_trait(url):
            setattr(exporter, url, "")
    return exporter.from_notebook_node(notebook)[0]


def table(result: Run) -> str:
    """The short table that `make tour` ends with."""
    rows = [("kernel", "how", "time")]
    hits = {"memory": 0, "disk": 0}
    for event in result.events:
        name = f"{event.get('kernel', '')} {event.get('direction', '')}".strip()
        if event["event"] == "CompileDone":
            rows.append((name, "compiled", f"{event['seconds'] * 1e3:.1f} ms"))
        elif event["event"] == "CacheHit":
            hits[event["where"]] = hits.get(event["where"], 0) + 1
            if event["where"] == "disk":
                rows.append((name, "from disk", f"{event['seconds'] * 1e3:.1f} ms"))
    compiled = sum(how == "compiled" for _, how, _ in rows)
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = ["  ".join((row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2]))) for row in rows]
    lines += ["", f"kernels compiled  {compiled}"]
    lines += [f"cache hits        {sum(hits.values())}  ({', '.join(f'{n} {where}' for where, n in hits.items())})"]
    lines += [f"gradient check    {result.check.removeprefix('gradcheck ') or 'not made'}"]
    lines += [f"seconds           {sum(result.seconds.values()):.1f}"]
    return "\n".join(lines)


def _line(number: int, count: int, cell: NotebookNode, seconds: float) -> None:
    rows = [row for row in cell.source.splitlines() if row.strip()]
    print(f"[{number:2}/{count}] {seconds:6.2f} s  {rows[0][:80] if rows else ''}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 where every cell ran."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("notebook", nargs="?", type=Path, default=HERE / "00-tour.ipynb")
    parser.add_argument("--save", action="store_true", help="write the outputs back into the notebook")
    options = parser.parse_args(arguments)
    try:
        result = run(options.notebook, _line)
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return 1
    if options.save:
        nbformat.write(result.notebook, options.notebook)
    BUILD.mkdir(exist_ok=True)
    html = BUILD / f"{options.notebook.stem.lstrip('0123456789-')}.html"
    html.write_text(page(result.notebook), encoding="utf-8")
    print(f"\n{table(result)}\npage              {html.relative_to(HERE.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
