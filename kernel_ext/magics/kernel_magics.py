"""The magics: each parses its line and hands over to a plain function.

`%%kernel` builds a cell, `%%cuda` one of CUDA C++, `%inspect` shows what was made of a kernel, `%cache` shows and
manages the cache. Between `%%kernel` and its card: `session/cells.py` builds the cell's kernels
(`workbench/api/builds/`), its events become a `StatusView` (`session/status.py`), and `output/output_area.py` shows
it as a widget or as static output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display
from traitlets import Bool, Enum, Unicode

from kernel_ext.magics.options import BACKENDS, build_options, cell_options, read_line, refuse
from kernel_ext.output.output_area import Showing, StatusDisplay, show_here, widgets_wanted
from kernel_ext.refusal import Refusal
from kernel_ext.session import cells
from kernel_ext.session.cells import (
    RUNS,
    Built,
    CellOptions,
    CellOrigin,
    Cells,
    CudaOptions,
    Headers,
    Reader,
    reader,
    run_of,
)
from kernel_ext.session.tracebacks import KernelUsageError, cell_label
from kernel_ext.views import html
from kernel_ext.views.kernels import queries
from kernel_ext.views.view_data import InspectView, StatusView
from workbench import get_device, inspect


def _show_cache() -> None:
    """Display the view of the compilation cache in the running cell."""
    from kernel_ext import show

    show_here(show.cache())


_CACHE_ACTIONS = {
    "list": _show_cache,
    "clear": lambda: print(queries.cache_clear()),
    "prune": lambda: print(queries.cache_prune()),
}


@magics_class
class KernelMagics(Magics):
    """The magics `%%kernel`, `%inspect` and `%cache`."""

    widgets = Bool(True, help="Show live status cards; without them every output is static.").tag(config=True)
    backend = Enum(BACKENDS, "auto", help="Where kernels run by default.").tag(config=True)
    annotate = Unicode("", help="Panes that %%kernel shows by default, such as ir,adjoint.").tag(config=True)

    def __init__(self, shell: Any) -> None:
        """Attach to the shell whose cells these magics run."""
        super().__init__(shell)
        self.here = shell
        self.widgets = widgets_wanted()
        self.cells = Cells()
        self.cards: dict[str, Showing] = {}

    @magic_arguments()
    @build_options
    @cell_magic
    def kernel(self, line: str, cell: str) -> Any:
        """Compile the cell's kernels and bind their names.

        Examples::

            %%kernel
            def saxpy(a: float, x: array[float], y: array[float]):
                i = tid()
                y[i] = a * x[i] + y[i]

            %%kernel --grad -D DT=0.01 -a ir,adjoint
            def step(x: array[float], v: array[float]):
                i = tid()
                x[i] = x[i] + DT * v[i]
        """
        args = read_line(KernelMagics.kernel, line, "%%kernel")
        if not cell.strip():
            raise KernelUsageError("the cell below %%kernel is empty; write a def in it")
        namespace = self.here.user_ns
        options = cell_options(args, namespace, self.backend, self.annotate)
        built = self.build(cell, options, self.origin(f"%%kernel {line}", cell, options), args.quiet)
        return built.cell if args.give else None

    @magic_arguments()
    @argument("kernel", metavar="NAME", help="A kernel of this notebook.")
    @argument(
        "panes",
        nargs="*",
        help="Of source, ir, adjoint, tangent, cuda, llvm, ptx, sass, asm, key; source,ir by default. "
        "Or: diff OTHER [PANE], the differences from another kernel.",
    )
    @line_magic
    def inspect(self, line: str) -> None:
        """Show texts of a kernel side by side: its source, IR and code, or the differences from another kernel.

        Examples::

            %inspect saxpy
            %inspect saxpy ir,adjoint
            %inspect saxpy diff saxpy2
        """
        from kernel_ext import show

        args = read_line(KernelMagics.inspect, line, "%inspect")
        try:
            kernel = cells.find_kernel(args.kernel, self.here.user_ns)
            if args.panes[:1] == ["diff"]:
                show_here(show.texts(self._diff(kernel, args.panes[1:])))
                return
            panes = cells.parse_panes(" ".join(args.panes), queries.PANES)
        except Refusal as refusal:
            refuse(refusal)
        show_here(show.source(kernel, panes or ("source", "ir")))

    @magic_arguments()
    @argument("action", nargs="?", default="list", choices=("list", "why", "clear", "prune", "export", "import"),
              help="What to do; list by default.")  # fmt: skip
    @argument("what", nargs="?", default="", help="For why, a kernel; for export and import, a file.")
    @argument(
        "--trust", action="store_true", help="With import: trust the author of the file, which contains machine code."
    )
    @line_magic
    def cache(self, line: str) -> None:
        """Show or tend the cache of compiled kernels.

        Examples::

            %cache
            %cache why saxpy
            %cache export course.wbc
            %cache import course.wbc --trust
        """
        args = read_line(KernelMagics.cache, line, "%cache")
        if args.action in _CACHE_ACTIONS:
            if args.what:
                raise KernelUsageError(f"%cache {args.action} takes no further argument; it got {args.what!r}")
            _CACHE_ACTIONS[args.action]()
        elif not args.what:
            wanted = (
                "a kernel: %cache why saxpy" if args.action == "why" else f"a file: %cache {args.action} course.wbc"
            )
            raise KernelUsageError(f"%cache {args.action} takes {wanted}")
        elif args.action == "why":
            try:
                text = queries.cache_why(cells.find_kernel(args.what, self.here.user_ns))
            except Refusal as refusal:
                refuse(refusal)
            display({"text/plain": text, "text/html": html.box(*map(html.line, text.split("\n")))}, raw=True)
        elif args.action == "export":
            print(queries.cache_export(args.what))
        else:
            print(queries.cache_import(args.what, args.trust))

    def _diff(self, kernel: Any, words: list[str]) -> InspectView:
        """Return the view of how `kernel` differs from another: `words` are its name and a pane (default `ir`).

        Raises:
            Refusal: there is no name, or there are more than two words.
        """
        if not 1 <= len(words) <= 2:
            raise Refusal("%inspect NAME diff takes another kernel, and a pane: %inspect saxpy diff saxpy2 ptx")
        panes = cells.parse_panes(words[1] if len(words) > 1 else "ir", queries.PANES)
        return queries.diff_view(kernel, cells.find_kernel(words[0], self.here.user_ns), panes[0])

    def close(self) -> None:
        """Close the live cards; their static fallbacks come back."""
        for card in self.cards.values():
            card.close()
        self.cards.clear()

    def build(
        self, text: str, options: CellOptions, origin: CellOrigin, quiet: bool, read: Reader | None = None,
        panes: Sequence[str] = (),
    ) -> Built:  # fmt: skip
        """Build a cell's kernels, bind their names in the notebook and show the status card; return the result.

        `read` makes the cell from its text, by default a cell of the kernel language; `panes`: names of the texts
        that the card offers.

        Raises:
            WorkbenchError: the cell is wrong; the card shows its errors.
            KeyboardInterrupt: the user interrupted the build.
        """
        screen = StatusDisplay(live=getattr(self.here, "kernel", None) is not None, quiet=quiet)
        screen.open(StatusView(cell=origin.name), self.widgets, panes)
        # A front end without cell ids: a cell that defines the same names is the same cell run again.
        self._keep(origin.identity or " ".join(cells.defined_names(text)) or origin.name, screen.card)
        last: list[StatusView] = []

        def watch(view: StatusView) -> None:
            last[:] = [view]
            screen.watch(view)

        try:
            built = self.cells.build(text, self.here.user_ns, options, origin, watch, screen.update, read)
        except BaseException as error:
            if last:
                screen.close(last[0])
            if isinstance(error, KeyboardInterrupt):
                message = f"KeyboardInterrupt: {origin.name} was interrupted; its kernels are out of date"
                error.__dict__["_render_traceback_"] = lambda: [message]  # ours is no place to look for the reason
            raise
        if built.work is None:
            screen.close(built.view, built.pane)
        elif not quiet:
            screen.say(f"{', '.join(built.kernels)} compiling in the background; %workbench wait waits for it")
        return built

    def _keep(self, identity: str, card: Showing | None) -> None:
        """Store the live card of the cell `identity` and close its earlier one; None stores none."""
        old = self.cards.pop(identity, None)
        if old is not None:
            old.close()
        if card is not None:
            self.cards[identity] = card

    def origin(self, line: str, cell: str, options: CellOptions) -> CellOrigin:
        """Return the origin of the cell that runs now; store its lines, with the magic's own, for tracebacks."""
        filename = cells.running_file(self.here, cell)
        before = cells.lines_before(self.here, cell)
        # A shell may count on before the cell's code runs, so the file's own number comes first.
        match = re.fullmatch(r"Cell In\[(\d+)\]", cell_label(self.here, filename))
        number = match[1] if match else self.here.execution_count
        cells.keep_lines(self.here, filename, line, cell)
        return CellOrigin(options.name or f"cell [{number}]", filename, before, self._identity(options))

    def _identity(self, options: CellOptions) -> str:
        """Return an identity that a cell keeps when it runs again: its id in the front end, or `-n`; else ""."""
        parent = getattr(self.here, "parent_header", None) or {}
        cell_id = (parent.get("metadata") or {}).get("cellId") if isinstance(parent, dict) else None
        return str(cell_id or options.name or "")


@magics_class
class CudaMagics(Magics):
    """The magic `%%cuda`."""

    run = Enum(RUNS, "device", help="Where %%cuda kernels run by default: device or emulated.").tag(config=True)

    def __init__(self, shell: Any, kernels: KernelMagics) -> None:
        """Attach to the shell whose cells `kernels` builds."""
        super().__init__(shell)
        self.kernels = kernels
        self.headers = Headers()

    @magic_arguments()
    @build_options
    @argument(
        "--run",
        default="",
        metavar="|".join(RUNS),
        help="device: the current device; emulated: the CPU runs what a GPU would.",
    )
    @argument("-I", dest="include", action="append", default=[], metavar="DIR", help="Look for headers in this folder.")
    @argument("--use", action="append", default=[], metavar="NAME", help="Include this header above the cell.")
    @argument("--header", default="", metavar="NAME", help="Save the cell as a header for other cells.")
    @cell_magic
    def cuda(self, line: str, cell: str) -> Any:
        """Compile a cell of CUDA C++; its `__global__` functions become callables.

        Parameters are numbers, CUDA vectors (float3) and pointers to them; a const pointer is only read. A kernel
        NAME_adjoint in the same cell is the gradient of NAME: it takes NAME's parameters and `float* adj_x` for each
        pointer to floats x. Without a GPU the cell is compiled for reading; `--run emulated` makes the CPU run what
        a GPU would, on arrays of the device "emulated" or of NumPy.

        Examples::

            %%cuda --run emulated
            __global__ void saxpy(const float* x, float* y, float a, int n) {
                int i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < n) y[i] += a * x[i];
            }

            saxpy[n](x, y, 2.0, n, block_dim=128)            # n threads in blocks of 128

            %%cuda --header warp.h
            __device__ float warp_sum(float v) {
                for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffff, v, step);
                return v;
            }
        """
        args = read_line(CudaMagics.cuda, line, "%%cuda")
        if not cell.strip():
            raise KernelUsageError("the cell below %%cuda is empty; write a __global__ function in it")
        options = cell_options(args, self.kernels.here.user_ns, self.kernels.backend, self.kernels.annotate)
        origin = self.kernels.origin(f"%%cuda {line}", cell, options)
        try:
            if args.header:
                print(self.headers.save(args.header, cell, origin))
                return None
            run = run_of(args.backend, args.run) or self.run
        except Refusal as refusal:
            refuse(refusal)
        if args.checks and run != "emulated" and not get_device().is_emulated:
            raise KernelUsageError("%%cuda --checks needs --run emulated: Workbench puts no tests into a GPU's code")
        cuda_options = CudaOptions(run, tuple(args.use), tuple(args.include))
        read = reader(cuda_options, self.headers)
        built = self.kernels.build(cell, options, origin, args.quiet, read, inspect.CUDA_PANES)
        return built.cell if args.give else None

    def close(self) -> None:
        """Forget the headers that cells saved."""
        self.headers.sources.clear()
