"""The options of cell magics that build kernels, and how a magic reads its line.

`%%kernel` and `%%cuda` share the letters, which are Cython's and timeit's where those have them.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic import Magics
from IPython.core.magic_arguments import argument, parse_argstring

from kernel_ext.refusal import Refusal
from kernel_ext.session import cells
from kernel_ext.session.cells import CellOptions
from kernel_ext.session.tracebacks import KernelUsageError
from kernel_ext.views.kernels import queries

Magic = TypeVar("Magic", bound=Callable[..., Any])
BACKENDS = ("auto", "cpu", "cuda")

_BUILD = (
    argument("-n", "--name", default="", help="Call the cell NAME instead of its number."),
    argument("-b", "--backend", default="", choices=BACKENDS, help="Where the kernels run."),
    argument("--arch", default="native", metavar="native|sm_XX", help="Also compile for this GPU, present or not."),
    argument("-D", dest="constants", action="append", default=[], metavar="K=V", help="A constant for the kernels."),
    argument(
        "-a", "--annotate", nargs="?", const="source,ir", default="", metavar="PANES",
        help="Show panes of each kernel: source, ir, adjoint, tangent, cuda, llvm, ptx, sass, asm, key.",
    ),
    argument("--grad", action="store_true", help="Compile the adjoints too, not only when first needed."),
    argument("-f", "--force", action="store_true", help="Compile even what is cached."),
    argument("-q", "--quiet", action="store_true", help="Show nothing unless there is an error."),
    argument("-r", "--return", dest="give", action="store_true", help="Return the built cell as the cell's value."),
    argument("--bg", action="store_true", help="Compile in the background; a launch waits for what it needs."),
    argument(
        "--checks", dest="checks", action="store_true", default=None,
        help="Test bounds, asserts, integer divisions and shifts, as notebooks do anyway; "
        "of CUDA C++, with --run emulated only, what the emulated device can see: accesses, races, barriers.",
    ),
    argument("--no-checks", dest="checks", action="store_false", help="Check nothing, for the last bit of speed."),
    argument("--fast-math", action="store_true", help="Allow reassociation and approximate maths."),
    argument("--fma", action="store_true", default=None, help="Contract a * b + c: rounded once, on every device."),
)  # fmt: skip


def build_options(magic: Magic) -> Magic:
    """Decorate a magic with the options `_BUILD`, between `@magic_arguments()` and `@cell_magic`."""
    for option in reversed(_BUILD):
        magic = option(magic)
    return magic


def read_line(magic: Any, line: str, shown: str) -> Any:
    """Return the arguments of a magic's line; `shown` is the magic as it is written.

    Raises:
        KernelUsageError: the line does not fit; the message says what and where the options are listed.
    """
    try:
        return parse_argstring(magic, line)
    except UsageError as error:
        raise KernelUsageError(f"{shown}: {error}{_near(magic, str(error))}; {shown}? shows the options") from None


def _near(magic: Any, message: str) -> str:
    """Return the clause ` (did you mean --x?)` for an error on an unknown option; empty if no option is near.

    `message` is argparse's, which names the unknown one.
    """
    word = message.removeprefix("unrecognized arguments: ").split()[0]
    known = ["--help"] + [option for action in magic.parser._actions for option in action.option_strings]
    near = difflib.get_close_matches(word.partition("=")[0], known, 1) if word.startswith("--") else []
    return f" (did you mean {near[0]}?)" if near else ""


def with_help(magics: Magics) -> Magics:
    """Replace, in place, each magic by one that prints its help if its line asks for that; return `magics`.

    A line asks by `--help` anywhere, or by `-h` as its first word.
    """
    for kind, names in magics.magics.items():
        for name, magic in names.items():
            names[name] = _asked(magic, "%%" if kind == "cell" else "%")
    return magics


def body_for_help(magics: Sequence[Magics]) -> Callable[[list[str]], list[str]]:
    """Return an input transformer that adds an empty line to a lone `%%kernel --help`, which needs a cell."""
    names = {f"%%{name}" for each in magics for name in each.magics["cell"]}

    def transform(lines: list[str]) -> list[str]:
        words = lines[0].split() if len(lines) == 1 else []
        return [*lines, "\n"] if words[:1] and words[0] in names and _wants_help(words[1:]) else lines

    return transform


def _wants_help(words: list[str]) -> bool:
    """Return whether `--help` is among the words, or `-h` the first of them."""
    return "--help" in words or words[:1] == ["-h"]


def _asked(magic: Callable[..., Any], signs: str) -> Callable[..., Any]:
    """Return `magic` wrapped so that it prints its help, and does nothing else, if its line asks for that.

    `signs` is `%` or `%%`, as in the help's usage.
    """

    @functools.wraps(magic)
    def answered(line: str, *cell: str) -> Any:
        __tracebackhide__ = True
        if not _wants_help(line.split()):
            return magic(line, *cell)
        print(help_text(magic, signs))
        return None

    return answered


def help_text(magic: Callable[..., Any], signs: str) -> str:
    """Return a magic's description, examples and options; `signs` are those that it is called with."""
    text = inspect.cleandoc(magic.__doc__ or "").removeprefix("::").lstrip()
    return signs + text.removeprefix("%")


def cell_options(args: Any, namespace: dict[str, Any], backend: str = "auto", panes: str = "") -> CellOptions:
    """Return the options of a cell from the parsed arguments of its line; `backend` and `panes` are the defaults.

    Raises:
        KernelUsageError: a constant cannot be evaluated, or a pane does not exist.
    """
    try:
        constants = cells.parse_constants(args.constants, namespace)
        texts = cells.parse_panes(args.annotate or panes, queries.PANES)
    except Refusal as refusal:
        refuse(refusal)
    return CellOptions(
        args.name, args.backend or backend, constants, texts, args.grad, args.fast_math, args.checks, args.arch,
        args.force, args.bg, args.fma,
    )  # fmt: skip


def refuse(refusal: Refusal) -> NoReturn:
    """Raise a plain function's refusal as the magic's error."""
    raise KernelUsageError(str(refusal)) from None
