"""`%bench`, `%profile` and `%tune`: each parses its line and hands over to a plain function."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

import workbench as wb
from kernel_ext import expressions
from kernel_ext.expressions import expression, names_in
from kernel_ext.magics.options import read_line, refuse
from kernel_ext.output.output_area import show_here
from kernel_ext.refusal import Refusal
from kernel_ext.session.cells import is_kernel
from workbench import inspect
from workbench.errors import its_type

BLOCK, THREADS = "block", "threads"
"""Axes of every launch: threads of a CUDA block, threads of the CPU."""


def tuned(
    name: str, axes: Mapping[str, tuple[Any, ...]], run: str, namespace: dict[str, Any], repeat: int = 5
) -> wb.Sweep:
    """Sweep what `name` is bound to over the axes; `run` is the expression that launches it, for a kernel.

    Raises:
        Refusal: it is nothing that can be swept, or an axis means nothing to it.
        LaunchError: no combination can be launched.
    """
    subject = namespace.get(name)
    if is_kernel(subject):
        call = _kernel(name, subject, axes, run, namespace)
    elif run:
        raise Refusal(f"--run is for a kernel; {name} is {_what(subject)}")
    elif isinstance(subject, wb.Launch):
        call = _launch(subject, axes)
    elif callable(subject):
        call = subject
    else:
        raise Refusal(f"%tune takes a kernel, a kept launch or a function; {name} is {_what(subject)}")
    return wb.sweep(call, axes, repeat=repeat, what=name)


def _what(value: Any) -> str:
    """Return the type of a value in words, for an error; `not defined` for None."""
    return "not defined" if value is None else its_type(value)


def _launch(launch: wb.Launch, axes: Mapping[str, tuple[Any, ...]]) -> Callable[..., Any]:
    """Return a function that runs a copy of the launch with other arguments, dimensions or block size.

    Raises:
        Refusal: an axis is none of these.
    """
    _refuse_block_on_cpu(axes, [str(launch.record.executable.device)])
    copy = wb.Launch(launch.kernel, launch.record)
    unknown = [n for n in axes if n not in (BLOCK, THREADS, "dim") and n not in copy.params]
    if unknown:
        raise Refusal(
            f"the launch of {launch.kernel.name} has no parameter {unknown[0]}; axes are {', '.join(copy.params)}, "
            f"dim, {BLOCK} (CUDA) and {THREADS} (CPU)"
        )

    def call(**values: Any) -> None:
        for axis, value in values.items():
            if axis == BLOCK:
                copy.set_block_dim(value)
            elif axis == "dim":
                copy.set_dim(value)
            elif copy.params[axis] is not value:
                copy.set_param_by_name(axis, value)
        copy.launch()

    return call


def _kernel(
    name: str, kernel: Any, axes: Mapping[str, tuple[Any, ...]], run: str, namespace: dict[str, Any]
) -> Callable[..., Any]:
    """Return a function that evaluates the expression `run` with the axes' names and constants replaced.

    Raises:
        Refusal: there is no expression, or an axis is neither in it nor a constant of the kernel.
    """
    if not run:
        raise Refusal(f'%tune of a kernel needs what launches it: %tune {name} … --run "wb.launch({name}, n, [x])"')
    work = expression(run, namespace, "--run")
    read = set(names_in(run))
    scopes = {axis: _scope_of(kernel, axis, namespace) for axis in axes if axis not in read and axis != THREADS}
    lost = [axis for axis, scope in scopes.items() if scope is None]
    if lost:
        raise Refusal(f"{lost[0]} is neither in the expression nor a constant that {name} captures")
    _refuse_block_on_cpu(axes if BLOCK in read else {}, [d.name for d in wb.get_devices()])

    def call(**values: Any) -> None:
        with ExitStack() as stack:
            for axis, scope in scopes.items():
                stack.enter_context(_put(scope, axis, values.pop(axis)))  # type: ignore[arg-type]
            work(**values)

    return call


def _scope_of(kernel: Any, constant: str, namespace: dict[str, Any]) -> dict[str, Any] | None:
    """Return the dict in which the kernel looks up a constant: its cell's (`-D`) or the notebook's; None if in none."""
    if constant not in inspect.constants(kernel):
        return None
    own = kernel.definition.scope.own
    return own if constant in own else namespace


def _refuse_block_on_cpu(axes: Mapping[str, Any], devices: list[str]) -> None:
    """Raise a Refusal if `block` is among the axes and the CPU is the only device."""
    if BLOCK in axes and devices == ["cpu"]:
        raise Refusal(f"{BLOCK} is the threads of a CUDA block; on the CPU sweep {THREADS}, an argument or a constant")


@contextmanager
def _put(scope: dict[str, Any], name: str, value: Any) -> Iterator[None]:
    """Bind `name` to `value` in `scope` within a `with` block; its value, which must exist, is restored after it."""
    before = scope[name]
    scope[name] = value
    try:
        yield
    finally:
        scope[name] = before


@magics_class
class MeasureMagics(Magics):
    """The magics `%bench`, `%profile`, `%fault` and `%tune`."""

    def __init__(self, shell: Any) -> None:
        """Attach to the shell whose names the expressions read."""
        super().__init__(shell)
        self.here = shell

    @magic_arguments()
    @argument("-n", "--number", type=int, default=0, help="Calls per round; by default, chosen automatically.")
    @argument("-r", "--repeat", type=int, default=7, help="Rounds; 7 by default.")
    @argument("-o", "--output", action="store_true", help="Return the result, to keep it: r = %%bench -o …")
    @argument("-p", dest="axes", action="append", default=[], metavar="NAME=VALUES",
              help="Sweep a name in the expression: m=64,128 or m=32..1024:x2; repeat for each name.")  # fmt: skip
    @argument("expression", nargs="*", help="What to time; a vs b: two by turns.")
    @line_magic
    def bench(self, line: str) -> wb.Bench | wb.Comparison | wb.Sweep | None:
        """Time an expression that launches kernels, and compare it with what this machine can do.

        The options come first; all after them is the expression. Bytes and operations are counted; a copy and a kernel
        of multiplications and additions are the ceilings; CUDA is timed by events of the device.

        Examples::

            %bench wb.launch(saxpy, n, [2.0, x, y])
            %bench wb.launch(old, n, [x]) vs wb.launch(new, n, [x])
            %bench -p "m=64..1024:x2" -r 3 product(m)
        """
        options, source = split(line)
        args = read_line(MeasureMagics.bench, options, "%bench")
        try:
            call, *others = (
                expressions.expression(part, self.here.user_ns, "%bench") for part in re.split(r"\s+vs\s+", source)
            )
            axes = expressions.axes(args.axes, self.here.user_ns, "-p")
            if args.number < 0 or args.repeat < 1:
                raise Refusal(f"%bench takes -n from 0 and -r from 1; it got {args.number} and {args.repeat}")
            if len(others) > 1 or (others and axes):
                raise Refusal("%bench compares two expressions, without -p: %bench old(x) vs new(x)")
        except Refusal as refusal:
            refuse(refusal)
        if others:
            what = tuple(part.strip() for part in re.split(r"\s+vs\s+", source))
            compared = wb.compare(call, others[0], number=args.number, repeat=args.repeat, what=(what[0], what[1]))
            return _output(compared, args.output)
        settings = {"number": args.number, "repeat": args.repeat, "what": source.strip()}
        result = wb.sweep(call, axes, **settings) if axes else wb.bench(call, **settings)
        return _output(result, args.output)

    @magic_arguments()
    @argument("-a", "--arch", default="sm_90", help="The architecture to compile for; sm_90 by default.")
    @argument("-o", "--output", action="store_true", help="Return the profile, to keep it: p = %%profile -o …")
    @argument("expression", nargs="*", help="What launches the kernels.")
    @line_magic
    def profile(self, line: str) -> wb.Profile | list[wb.Profile] | None:
        """Count what a GPU would do with the launches of an expression, line by line; no GPU is needed.

        The expression runs as ever; its launches are counted on copies of their arrays, each before it runs. Counts are
        of memory sectors, bank conflicts, divergence and atomics, never times.

        Examples::

            %profile wb.launch(blur, n, [x], [y])
            %profile -a sm_80 step(x)
        """
        options, source = split(line)
        args = read_line(MeasureMagics.profile, options, "%profile")
        try:
            results = inspect.profiles(expressions.expression(source, self.here.user_ns, "%profile"), args.arch)
            if not results:
                raise Refusal(f"%profile counts launches; {source.strip()} launched nothing")
        except Refusal as refusal:
            refuse(refusal)
        if args.output:
            return results[0] if len(results) == 1 else results
        for one in results:
            display(one)
        return None

    @magic_arguments()
    @argument("what", nargs="?", default="steps", choices=("steps", "threads"), metavar="steps|threads",
              help="One thread statement by statement, or all; steps by default.")  # fmt: skip
    @line_magic
    def fault(self, line: str) -> None:
        """Show the thread in which a launch has just failed: its statements up to the fault, or what all threads do.

        The launch runs again on copies of its arrays as they are now.

        Examples::

            %fault
            %fault threads
        """
        from kernel_ext import launch_views

        args = read_line(MeasureMagics.fault, line, "%fault")
        error = getattr(sys, "last_value", None)
        if not isinstance(error, wb.KernelFault):
            refuse(Refusal("%fault is for the cell after a launch that failed; the last error is another one"))
        try:
            shown = launch_views.fault(error, args.what)
        except Refusal as refusal:
            refuse(refusal)
        show_here(shown)

    @magic_arguments()
    @argument("name", metavar="NAME", help="A kernel, a launch made with record_cmd=True, or a function of the axes.")
    @argument(
        "axes",
        nargs="+",
        metavar="PARAM=VALUES",
        help="block=32..1024:x2, N=4,8: a parameter, an argument, a constant, threads.",
    )
    @argument("--run", default="", metavar="EXPR", help="With a kernel: the expression that launches it.")
    @argument("-r", "--repeat", type=int, default=5, help="Rounds for each combination; 5 by default.")
    @argument("-o", "--output", action="store_true", help="Return the sweep, to keep it.")
    @line_magic
    def tune(self, line: str) -> wb.Sweep | None:
        """Time a kernel for every combination of some values, and say which is fastest.

        One axis is drawn as a line, two as a map of colours. A constant that the kernel captures is compiled in: each
        of its values is compiled once and stays in the cache.

        Examples::

            %tune blur UNROLL=1,2,4,8 threads=1,2 --run "wb.launch(blur, n, [x, y])"
            %tune step block=32..1024:x2
        """
        args = read_line(MeasureMagics.tune, line, "%tune")
        try:
            axes = expressions.axes(args.axes, self.here.user_ns, "%tune")
            result = tuned(args.name, axes, expressions.unquoted(args.run), self.here.user_ns, max(1, args.repeat))
        except Refusal as refusal:
            refuse(refusal)
        return _output(result, args.output)

    def close(self) -> None:
        """Do nothing: these magics leave nothing open."""


def _output(result: Any, output: bool) -> Any:
    """Return `result` if the user requested a return value (`output`); otherwise display it and return None."""
    if output:
        return result
    display(result)
    return None


def split(line: str, flags: tuple[str, ...] = ("-o", "--output"), joined: str = "-") -> tuple[str, str]:
    """Return a line's options and the expression after them, which may hold quotes and dashes of its own.

    Args:
        line: what stands after the magic.
        flags: options without a value.
        joined: what options begin with.
    """
    rest, options = line.strip(), []
    while rest.startswith(joined) and not rest[1:2].isdigit():
        word, _, rest = rest.partition(" ")
        options.append(word)
        rest = rest.lstrip()
        if word not in flags and "=" not in word and rest:
            quote = rest[0] if rest[0] in "\"'" else ""
            end = rest.find(quote, 1) + 1 if quote else (rest.find(" ") + 1 or len(rest) + 1) - 1
            options.append(rest[:end])
            rest = rest[end:].lstrip()
    return " ".join(options), rest
