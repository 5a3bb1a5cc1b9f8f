"""`%%tape` and `%grad`: each parses its line and hands over to plain functions."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

import workbench as wb
from kernel_ext import expressions
from kernel_ext.magics.options import read_line, refuse
from kernel_ext.output.output_area import show_here
from kernel_ext.refusal import Refusal
from kernel_ext.session import current_cell


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
            current_cell.run_below(self.here, f"%%tape {line}", cell)
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

        text, options = tape_view.options_of(line)
        args = read_line(GradientMagics.grad, options, "%grad")
        try:
            call = expressions.expression(text, self.here.user_ns, "%grad")
            wrt = tape_view.arrays_of(args.wrt, text, self.here.user_ns)
        except Refusal as refusal:
            refuse(refusal)
        return wb.gradients_of(
            call, wrt, check=args.check, what=text.strip(), memory=args.memory, checkpoint=args.checkpoint
        )

    def close(self) -> None:
        """Do nothing: these magics leave nothing open."""
