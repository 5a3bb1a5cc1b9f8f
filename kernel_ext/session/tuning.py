"""The subjects of `%tune`: the arguments of a function, a stored launch, or the constants of a kernel.

A constant that a kernel captured is swept by changing the name it was read from: the next launch sees that, and
compiles what is not cached. So each value is compiled once, and going back costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import workbench as wb
from kernel_ext.expressions import expression, names_in
from kernel_ext.refusal import Refusal
from kernel_ext.session.cells import is_kernel
from workbench import inspect
from workbench.errors import its_type

BLOCK, THREADS = "block", "threads"
"""Axes of every launch: threads of a CUDA block, threads of the CPU."""


def tuned(
    name: str, axes: Mapping[str, tuple[Any, ...]], run: str, namespace: dict[str, Any], repeat: int = 5
) -> wb.Sweep:
    """Sweep what is called `name`; `run` is the expression that launches it, for a kernel.

    Raises:
        Refusal: there is no such thing, or an axis means nothing to it.
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
    return "not defined" if value is None else its_type(value)


def _launch(launch: wb.Launch, axes: Mapping[str, tuple[Any, ...]]) -> Callable[..., Any]:
    """Return a function that runs a copy of the launch with other arguments."""
    _refuse_block_on_cpu(axes, [str(launch.record.loaded.device)])
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
    """Return a function that evaluates the expression with the axes' names and constants replaced."""
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
    if BLOCK in axes and devices == ["cpu"]:
        raise Refusal(f"{BLOCK} is the threads of a CUDA block; on the CPU sweep {THREADS}, an argument or a constant")


@contextmanager
def _put(scope: dict[str, Any], name: str, value: Any) -> Iterator[None]:
    before = scope[name]
    scope[name] = value
    try:
        yield
    finally:
        scope[name] = before
