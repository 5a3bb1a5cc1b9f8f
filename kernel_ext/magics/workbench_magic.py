"""`%workbench`: housekeeping; parses its line and hands over to plain functions."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from kernel_ext.magics.options import read_line, refuse
from kernel_ext.output import workbench_page
from kernel_ext.output.output_area import forget_session
from kernel_ext.output.session_page import page_parts, session_cells
from kernel_ext.refusal import Refusal
from kernel_ext.session.current_cell import notebook_file
from kernel_ext.session.tracebacks import KernelUsageError
from workbench import inspect

ACTIONS = ("info", "doctor", "wait", "stop", "free", "export")


@magics_class
class HouseMagics(Magics):
    """The magic `%workbench`."""

    def __init__(self, shell: Any, others: tuple[Any, ...]) -> None:
        """Attach to a shell; `others` are the magics whose live pictures `free` closes."""
        super().__init__(shell)
        self.here = shell
        self._others = others

    @magic_arguments()
    @argument("action", nargs="?", default="info", choices=ACTIONS, metavar="|".join(ACTIONS),
              help="What to do; info by default.")  # fmt: skip
    @argument("file", nargs="?", default="", help="With export: the page to write.")
    @line_magic
    def workbench(self, line: str) -> None:
        """Look after Workbench: what is here, what is missing, what goes on.

        info says version, devices, cache and memory. doctor checks driver, NVRTC, architecture, JAX, widgets, cache
        folder and compilers, and says what to install. wait waits for builds in the background, stop ends them. free
        drops outputs and old errors that keep arrays alive. export writes the session as one page: each cell that
        ran with its code, what it printed and its views, and the text between them as the notebook was saved last.

        Examples::

            %workbench doctor
            %workbench wait
            %workbench export session.html
        """
        args = read_line(HouseMagics.workbench, line, "%workbench")
        if (args.action == "export") != bool(args.file):
            wanted = "a file: %workbench export session.html" if args.action == "export" else "nothing more"
            raise KernelUsageError(f"%workbench {args.action} takes {wanted}")
        getattr(self, f"_{args.action}")(args.file)

    def _info(self, _: str) -> None:
        print(workbench_page.information())

    def _doctor(self, _: str) -> None:
        display(inspect.doctor())

    def _wait(self, _: str) -> None:
        print(workbench_page.waited(print))

    def _stop(self, _: str) -> None:
        print(workbench_page.stopped())

    def _free(self, _: str) -> None:
        shell = self.here
        keepers = shell.displayhook, getattr(shell, "last_execution_result", None)
        print(workbench_page.freed((shell.user_ns, shell.user_ns_hidden), keepers, self._close_pictures))

    def _export(self, path: str) -> None:
        try:
            views, above = page_parts(session_cells(self.here), notebook_file())
            print(workbench_page.exported(path, views, self.here.user_ns, above))
        except Refusal as refusal:
            refuse(refusal)

    def _close_pictures(self) -> None:
        for magics in self._others:
            getattr(magics, "live", magics).close()

    def close(self) -> None:
        """Forget what was shown."""
        forget_session()
