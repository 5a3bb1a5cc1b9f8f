"""`%%record`, `%record` and `%replay`: each parses its line and hands over to a plain function."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

import workbench as wb
from kernel_ext.magics.options import read_line, refuse
from kernel_ext.output.output_area import LiveViews
from kernel_ext.refusal import Refusal
from kernel_ext.session import current_cell, recording
from kernel_ext.session.tracebacks import cell_label


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
        """Display the timeline."""
        from kernel_ext import show

        self.live.show(title, show.timeline(recorder, title, self.label))

    def label(self, filename: str) -> str:
        """Return the name of a file for people: `Cell In[4]` of a cell."""
        return cell_label(self.here, filename).replace("Cell In", "cell ")

    def close(self) -> None:
        """End a recording that goes on, close the live timelines, and listen no more."""
        self.live.close()
        if self.recording.recorder is not None:
            self.recording.off()
        self.here.events.unregister("pre_run_cell", self.recording.cell_begins)
        self.here.events.unregister("post_run_cell", self.recording.cell_ends)

    def _record_cell(self, args: Any, line: str, cell: str) -> None:
        __tracebackhide__ = True
        name = args.name or "rec"
        if args.of or name in ("on", "off") or not name.isidentifier():
            raise Refusal(f"%%record takes one name for the record; it got {f'{args.name} {args.of}'.strip()!r}")
        with wb.record(inputs=args.inputs, counter=args.counter) as recorder:
            self.here.user_ns[name] = recorder
            current_cell.run_below(self.here, f"%%record {line}", cell)
        if not args.quiet:
            self.show(recorder, name)

    def _switch(self, args: Any) -> None:
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
