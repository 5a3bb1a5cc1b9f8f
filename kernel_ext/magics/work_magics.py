"""Magics that turn the launches of a cell into work to replay or differentiate: records, graphs and tapes.

`%%record`, `%record`, `%replay`, `%%graph`, `%%tape` and `%grad` parse their lines and hand over to plain functions.
"""

from __future__ import annotations

import time
from typing import Any

from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

import workbench as wb
from kernel_ext import expressions
from kernel_ext.magics.options import read_line, refuse
from kernel_ext.output.output_area import LiveViews, show_here
from kernel_ext.refusal import Refusal
from kernel_ext.session import cells, recording
from kernel_ext.session.tracebacks import cell_label
from kernel_ext.values import LARGEST_GRAPH


@magics_class
class RecordMagics(Magics):
    """The magics `%%record`, `%record` and `%replay`."""

    def __init__(self, shell: Any) -> None:
        """Attach to the shell whose cells these magics run."""
        super().__init__(shell)
        self.here = shell
        self.recording = recording.Recording()
        self.live = LiveViews(shell)
        shell.events.register("pre_run_cell", self.recording.cell_begins)
        shell.events.register("post_run_cell", self.recording.cell_ends)

    @magic_arguments()
    @argument("name", nargs="?", default="", metavar="NAME|on|off", help="What to call the record; rec by default.")
    @argument("of", nargs="?", default="", metavar="NAME", help="With off: what to call the record.")
    @argument("-i", "--inputs", action="store_true", help="Keep the arrays' initial contents, for rewind() and save().")
    @argument("-c", "--counter", action="append", default=[], metavar="NAME", help="A number that advances in replays.")
    @argument("-q", "--quiet", action="store_true", help="Show no timeline.")
    @line_cell_magic
    def record(self, line: str, cell: str | None = None) -> None:
        """Record what runs: one cell with `%%record`, cell after cell between `%record on` and `%record off`.

        What wb.record() sees is listed in order: launches, adjoints of tapes, copies, fills, graphs, JAX calls.

        Examples::

            %%record rec --inputs
            simulate(100)

            %%record rec --counter seed
            sweeps(100)

            %record on
            %record off rec
        """
        __tracebackhide__ = True
        args = read_line(RecordMagics.record, line, "%%record" if cell is not None else "%record")
        try:
            if cell is not None:
                self._record_cell(args, line, cell)
            else:
                self._switch(args)
        except Refusal as refusal:
            refuse(refusal)

    @magic_arguments()
    @argument("name", nargs="?", default="rec", metavar="NAME", help="The record; rec by default.")
    @argument(
        "-p",
        dest="values",
        action="append",
        default=[],
        metavar="K=V",
        help="Another scalar or array for K; +N: N more than last.",
    )
    @argument("--only", default="", choices=("forward", "adjoint"), metavar="forward|adjoint",
              help="Only launches of one direction.")  # fmt: skip
    @argument("-k", "--kernel", default="", help="Only launches of one kernel.")
    @argument("--rewind", action="store_true", help="First restore the arrays' initial contents.")
    @argument("-n", "--times", type=int, default=1, help="How often.")
    @line_magic
    def replay(self, line: str) -> None:
        """Run a record again, with the arrays' contents of now.

        Examples::

            %replay rec
            %replay rec -p dt=0.02 --only adjoint
            %replay rec --rewind -n 10
            %replay rec -n 10 -p seed=+20
        """
        args = read_line(RecordMagics.replay, line, "%replay")
        try:
            recorder = recording.find_recorder(args.name, self.here.user_ns)
            values = recording.parse_values(args.values, self.here.user_ns)
            print(recording.replay(recorder, values, args.only, args.kernel, args.rewind, args.times))
        except Refusal as refusal:
            refuse(refusal)

    def show(self, recorder: wb.Recorder, title: str = "record") -> None:
        """Display the timeline of a record."""
        from kernel_ext import show

        self.live.show(title, show.timeline(recorder, title, self.label))

    def label(self, filename: str) -> str:
        """Return the name of a file for people: `cell [4]` for a cell's, any other as it is."""
        return cell_label(self.here, filename).replace("Cell In", "cell ")

    def close(self) -> None:
        """End a recording that goes on, close the live timelines, and remove the hooks around cells."""
        self.live.close()
        if self.recording.recorder is not None:
            self.recording.off()
        self.here.events.unregister("pre_run_cell", self.recording.cell_begins)
        self.here.events.unregister("post_run_cell", self.recording.cell_ends)

    def _record_cell(self, args: Any, line: str, cell: str) -> None:
        """Run the cell under a recorder, bind that to the name (default `rec`), and show its timeline unless `--quiet`.

        Raises:
            Refusal: the name is `on`, `off`, no identifier, or followed by another word.
        """
        __tracebackhide__ = True
        name = args.name or "rec"
        if args.of or name in ("on", "off") or not name.isidentifier():
            raise Refusal(f"%%record takes one name for the record; it got {f'{args.name} {args.of}'.strip()!r}")
        with wb.record(inputs=args.inputs, counter=args.counter) as recorder:
            self.here.user_ns[name] = recorder
            cells.run_below(self.here, f"%%record {line}", cell)
        if not args.quiet:
            self.show(recorder, name)

    def _switch(self, args: Any) -> None:
        """Turn recording across cells on or off, or print whether it is on if there is no name.

        Turning it off binds the record to the name (default `rec`) and shows it unless `--quiet`.

        Raises:
            Refusal: the line says something else.
        """
        if args.name == "on" and not args.of:
            self.recording.on(args.inputs, args.counter)
        elif args.name == "off":
            name = args.of or "rec"
            self.here.user_ns[name] = recorder = self.recording.off()
            if not args.quiet:
                self.show(recorder, name)
        elif not args.name:
            on = self.recording.recorder
            print(f"recording: {len(on)} so far" if on is not None else "not recording; %record on starts it")
        else:
            raise Refusal(f"%record takes on or off [NAME]; it got {f'{args.name} {args.of}'.strip()!r}")


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
                cells.run_below(self.here, f"%%graph {line}", cell)
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
        """Display the picture of a graph; one of at most `LARGEST_GRAPH` nodes is live."""
        if len(graph) > LARGEST_GRAPH:
            display(graph)
        else:
            from kernel_ext import show

            self.live.show(name, show.graph(graph))

    def close(self) -> None:
        """Close the live pictures; their static fallbacks come back."""
        self.live.close()


def replayed(graph: wb.Graph, times: int) -> str:
    """Launch a graph `times` times; return a sentence with the time of one launch, without that of preparing it."""
    graph.prepare()
    wb.synchronize()
    started = time.perf_counter()
    for _ in range(times):
        graph.launch()
    wb.synchronize()
    each = (time.perf_counter() - started) / times
    unit, name = (1e-3, "ms") if each >= 1e-3 else (1e-6, "µs")
    return f"launched {times} times, {each / unit:.3g} {name} each"


@magics_class
class GradientMagics(Magics):
    """The magics `%%tape` and `%grad`."""

    def __init__(self, shell: Any) -> None:
        """Attach to the shell whose cells these magics run."""
        super().__init__(shell)
        self.here = shell

    @magic_arguments()
    @argument("-n", "--name", default="tape", help="What to call the tape; tape by default.")
    @argument("--loss", default="", metavar="NAME", help="After the cell, go backwards from this array of one float.")
    @argument("--checkpoint", type=int, default=0, metavar="N", help="Keep about N copies, and run steps again.")
    @argument("-q", "--quiet", action="store_true", help="Show nothing.")
    @cell_magic
    def tape(self, line: str, cell: str) -> None:
        """Record the cell on a tape, and show what it did and what was kept for gradients.

        Examples::

            %%tape -n tape
            wb.launch(step, n, [x, v, 0.01])

            %%tape --loss loss
            wb.launch(energy, n, [x], [loss])
        """
        from kernel_ext import show

        __tracebackhide__ = True
        args = read_line(GradientMagics.tape, line, "%%tape")
        if not args.name.isidentifier():
            refuse(Refusal(f"%%tape takes a name for the tape; it got {args.name!r}"))
        with wb.Tape(checkpoint=args.checkpoint) as tape:
            self.here.user_ns[args.name] = tape
            cells.run_below(self.here, f"%%tape {line}", cell)
        if args.loss:
            loss = self.here.user_ns.get(args.loss)
            if not isinstance(loss, wb.array):
                refuse(Refusal(f"--loss takes the name of an array; there is no array {args.loss}"))
            tape.backward(loss)
        if not args.quiet:
            show_here(show.tape(tape, args.name, self.here.user_ns))

    @magic_arguments()
    @argument(
        "--wrt", default="", metavar="a,b", help="The arrays to differentiate by; by default, those in the expression."
    )
    @argument(
        "--check", action="store_true", help="Compare with difference quotients: the whole program and each kernel."
    )
    @argument("--memory", action="store_true", help="List what the tape keeps for the gradient, in bytes by kernel.")
    @argument(
        "--checkpoint",
        type=int,
        default=0,
        metavar="N",
        help="Keep about N copies, and run steps again on the way back.",
    )
    @argument("expression", nargs="*", help="An expression that returns an array of one float.")
    @line_magic
    def grad(self, line: str) -> wb.GradientReport | None:
        """Compute the gradient of an expression that launches kernels.

        Examples::

            %grad energy(x) --wrt x
            %grad loss(x, k) --wrt x,k --check
            %grad loss(x, k) --memory --checkpoint 50
        """
        from kernel_ext.views.programs import tape_view

        source, options = tape_view.options_of(line)
        args = read_line(GradientMagics.grad, options, "%grad")
        try:
            call = expressions.expression(source, self.here.user_ns, "%grad")
            wrt = tape_view.arrays_of(args.wrt, source, self.here.user_ns)
        except Refusal as refusal:
            refuse(refusal)
        return wb.gradients_of(
            call, wrt, check=args.check, what=source.strip(), memory=args.memory, checkpoint=args.checkpoint
        )

    def close(self) -> None:
        """Do nothing: these magics leave nothing open."""
