"""`%%graph`: the cell's launches become a graph; parses its line and hands over to plain functions."""

from __future__ import annotations

import time
from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

import workbench as wb
from kernel_ext.magics.options import read_line, refuse
from kernel_ext.output.output_area import LiveViews
from kernel_ext.refusal import Refusal
from kernel_ext.session import current_cell
from kernel_ext.values import LARGEST_GRAPH


@magics_class
class GraphMagics(Magics):
    """The magic `%%graph`."""

    def __init__(self, shell: Any) -> None:
        """Attach to the shell whose cells this magic runs."""
        super().__init__(shell)
        self.here = shell
        self.live = LiveViews(shell)

    @magic_arguments()
    @argument("-n", "--name", default="g", help="What to call the graph; g by default.")
    @argument("--replay", type=int, default=0, metavar="N", help="Launch it N times and report the time per launch.")
    @argument("--profile", action="store_true", help="Run it once node by node, and show the times.")
    @argument("-q", "--quiet", action="store_true", help="Show no picture.")
    @cell_magic
    def graph(self, line: str, cell: str) -> None:
        """Capture what the cell launches as a graph: nothing runs until the graph is launched.

        Examples::

            %%graph -n steps --replay 1000
            for _ in range(10):
                wb.launch(step, n, [x, v, 0.01])
        """
        __tracebackhide__ = True
        args = read_line(GraphMagics.graph, line, "%%graph")
        try:
            if not args.name.isidentifier() or args.replay < 0:
                raise Refusal(f"%%graph takes a name and a number of launches; it got {line!r}")
            with wb.capture() as captured:
                current_cell.run_below(self.here, f"%%graph {line}", cell)
        except Refusal as refusal:
            refuse(refusal)
        self.here.user_ns[args.name] = captured
        if args.profile:
            captured.profile()
        if args.replay:
            print(replayed(captured, args.replay))
        if not args.quiet:
            self.show(captured, args.name)

    def show(self, graph: wb.Graph, name: str) -> None:
        """Display the picture; a graph that is not too large can be looked through."""
        if len(graph) > LARGEST_GRAPH:
            display(graph)
        else:
            from kernel_ext import show

            self.live.show(name, show.graph(graph))

    def close(self) -> None:
        """Close the live pictures; their static fallbacks come back."""
        self.live.close()


def replayed(graph: wb.Graph, times: int) -> str:
    """Launch a graph so many times; returns a sentence with the time of one, without that of making it ready."""
    graph.prepare()
    wb.synchronize()
    started = time.perf_counter()
    for _ in range(times):
        graph.launch()
    wb.synchronize()
    each = (time.perf_counter() - started) / times
    unit, name = (1e-3, "ms") if each >= 1e-3 else (1e-6, "µs")
    return f"launched {times} times, {each / unit:.3g} {name} each"
