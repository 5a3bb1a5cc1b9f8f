"""`%workbench`: housekeeping; parses its line and hands over to plain functions."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display
from msgspec.structs import replace

import workbench as wb
from kernel_ext.magics.options import read_line, refuse
from kernel_ext.output.output_area import forget_session
from kernel_ext.output.renderable import Shown
from kernel_ext.output.session_page import page_parts, session_cells
from kernel_ext.refusal import Refusal
from kernel_ext.session.cells import is_kernel, notebook_file
from kernel_ext.session.tracebacks import KernelUsageError
from kernel_ext.views import html
from kernel_ext.views.kernels import queries
from kernel_ext.views.view_data import PaneView, StatusView
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
        """Print version, devices and cache, arrays in memory, checks and the CPU."""
        print(information())

    def _doctor(self, _: str) -> None:
        """Display the report on what Workbench can use on this machine."""
        display(inspect.doctor())

    def _wait(self, _: str) -> None:
        """Wait for the builds in the background, and print what is awaited and their number."""
        print(waited(print))

    def _stop(self, _: str) -> None:
        """End the builds in the background at their next stage, and print their names."""
        print(stopped())

    def _free(self, _: str) -> None:
        """Close live views, drop outputs that keep arrays alive, and print a sentence on it."""
        shell = self.here
        keepers = shell.displayhook, getattr(shell, "last_execution_result", None)
        print(freed((shell.user_ns, shell.user_ns_hidden), keepers, self._close_pictures))

    def _export(self, path: str) -> None:
        """Write the session's views as one HTML page to `path`, and print a sentence on it or the refusal."""
        try:
            views, above = page_parts(session_cells(self.here), notebook_file())
            print(exported(path, views, self.here.user_ns, above))
        except Refusal as refusal:
            refuse(refusal)

    def _close_pictures(self) -> None:
        """Close the live views and cards of all other magics."""
        for magics in self._others:
            getattr(magics, "live", magics).close()

    def close(self) -> None:
        """Forget what cells showed in this session."""
        forget_session()


OUTPUT = re.compile(r"_{1,3}|_\d+")
"""Names under which a shell keeps outputs."""
_LISTED = 5
"""Names that `free` lists of those that hold arrays."""


def information() -> str:
    """Return lines of text on version, devices and cache, on arrays in memory, checks and the CPU."""
    sizes = ", ".join(f"{name} {html.size(count)}" for name, count in sorted(inspect.held().items())) or "none"
    checks = "on" if wb.set_checks(wb.set_checks(True)) else "off"
    return "\n".join(
        (
            queries.greeting(),
            f"arrays held     {sizes}",
            f"checks          {checks} where a launch says nothing",
            f"CPU             {inspect.cpu_target()}, {html.count(inspect.cpu_threads(), 'thread')}",
        )
    )


def exported(path: str, views: Sequence[Shown], namespace: Mapping[str, Any], above: Sequence[str] = ()) -> str:
    """Write a session's views as one page; return a sentence on it.

    A cell's card offers the present texts of its kernels.

    Args:
        path: the file.
        views: what was shown, in order.
        namespace: where the kernels are; those that went, or are stale, have no texts.
        above: HTML above each view, and below the last one.

    Raises:
        Refusal: nothing was shown yet, or the file cannot be written.
    """

    def texts(shown: Shown) -> list[PaneView]:
        names = shown.view.kernels if isinstance(shown.view, StatusView) else ()
        kernels = {name: namespace[name] for name in names if is_kernel(namespace.get(name))}
        return [replace(t, kernel=name) for name, kernel in kernels.items() for t in queries.kept_views(kernel)]

    from kernel_ext.output.html_export import write_page

    return write_page(path, "Workbench session", views, texts, above=above)


def waited(progress: Callable[[str], None]) -> str:
    """Wait for the builds in the background; return a sentence with their number.

    Before, `progress` is called with a sentence that names them, if there are any. An interrupt ends the waiting
    and not the builds.
    """
    names = [work.name for work in wb.Work.running()]
    if names:
        progress(f"waiting for {', '.join(names)}")
    return f"{html.count(wb.wait(), 'build')} in the background" + (" done" if names else ": nothing to wait for")


def stopped() -> str:
    """End the builds in the background at their next stage; return a sentence that names them."""
    works = wb.Work.running()
    for work in works:
        work.drop()
    return f"ended {', '.join(w.name for w in works)}" if works else "nothing is being built in the background"


def freed(spaces: Sequence[dict[str, Any]], keepers: Sequence[Any], close: Callable[[], None]) -> str:
    """Drop values that keep arrays alive without a name of the user's, such as outputs; return a sentence on it.

    Args:
        spaces: the user's names and the shell's hidden ones; of the outputs in them (`Out`, `_`, `_3`) ours go.
        keepers: objects of the shell that keep outputs as attributes.
        close: closes live pictures.
    """
    # What may keep a lot of memory alive.
    types = wb.array, wb.Recorder, wb.Graph, wb.Tape, wb.Launch, wb.LaunchPair, Shown
    before = sum(inspect.held().values())
    for names in spaces:
        outputs = names.get("Out", {})
        for key in [k for k, value in outputs.items() if isinstance(value, types)]:
            del outputs[key]
        for name in [n for n, value in names.items() if OUTPUT.fullmatch(n) and isinstance(value, types)]:
            names[name] = ""
    for keeper in keepers:
        for name in ("_", "__", "___", "result"):
            if isinstance(getattr(keeper, name, None), types):
                setattr(keeper, name, "")
    for name in ("last_exc", "last_value", "last_traceback"):
        if hasattr(sys, name):
            setattr(sys, name, None)
    close()
    gc.collect()
    after = sum(inspect.held().values())
    named = {id(a): (name, a.nbytes) for name, a in spaces[0].items() if isinstance(a, wb.array) and name[0] != "_"}
    largest = sorted(named.values(), key=lambda item: -item[1])[:_LISTED]
    by = ", ".join(f"{name} {html.size(count)}" for name, count in largest)
    rest = " and by what is shown, recorded or in other objects" if sum(c for _, c in named.values()) < after else ""
    return (
        f"freed {html.size(max(0, before - after))} of arrays; {html.size(after)} are held"
        + (f", by {by}" + (", …" if len(named) > _LISTED else "") if by else "")
        + rest
    )
