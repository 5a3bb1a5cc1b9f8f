"""What `%tune` sweeps: the arguments of a function, a kept launch, or the constants of a kernel.

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
    found = namespace.get(name)
    if is_kernel(found):
        call = _kernel(name, found, axes, run, namespace)
    elif run:
        raise Refusal(f"--run is for a kernel; {name} is {_what(found)}")
    elif isinstance(found, wb.Launch):
        call = _launch(found, axes)
    elif callable(found):
        call = found
    else:
        raise Refusal(f"%tune takes a kernel, a kept launch or a function; {name} is {_what(found)}")
    return wb.sweep(call, axes, repeat=repeat, what=name)


def _what(found: Any) -> str:
    return "not defined" if found is None else its_type(found)


def _launch(launch: wb.Launch, axes: Mapping[str, tuple[Any, ...]]) -> Callable[..., Any]:
    """Runs a copy of the launch with other arguments."""
    _refuse_block_on_cpu(axes, [str(launch.record.loaded.device)])
    kept = wb.Launch(launch.kernel, launch.record)
    unknown = [n for n in axes if n not in (BLOCK, THREADS, "dim") and n not in kept.params]
    if unknown:
        raise Refusal(
            f"the launch of {launch.kernel.name} has no parameter {unknown[0]}; axes are {', '.join(kept.params)}, "
            f"dim, {BLOCK} (CUDA) and {THREADS} (CPU)"
        )

    def call(**values: Any) -> None:
        for axis, value in values.items():
            if axis == BLOCK:
                kept.set_block_dim(value)
            elif axis == "dim":
                kept.set_dim(value)
            elif kept.params[axis] is not value:
                kept.set_param_by_name(axis, value)
        kept.launch()

    return call


def _kernel(
    name: str, kernel: Any, axes: Mapping[str, tuple[Any, ...]], run: str, namespace: dict[str, Any]
) -> Callable[..., Any]:
    """Evaluates the expression with the axes' names in it, and with constants of the kernel in their places."""
    if not run:
        raise Refusal(f'%tune of a kernel needs what launches it: %tune {name} … --run "wb.launch({name}, n, [x])"')
    work = expression(run, namespace, "--run")
    read = set(names_in(run))
    places = {axis: _place(kernel, axis, namespace) for axis in axes if axis not in read and axis != THREADS}
    lost = [axis for axis, place in places.items() if place is None]
    if lost:
        raise Refusal(f"{lost[0]} is neither in the expression nor a constant that {name} captures")
    _refuse_block_on_cpu(axes if BLOCK in read else {}, [d.name for d in wb.get_devices()])

    def call(**values: Any) -> None:
        with ExitStack() as stack:
            for axis, place in places.items():
                stack.enter_context(_put(place, axis, values.pop(axis)))  # type: ignore[arg-type]
            work(**values)

    return call


def _place(kernel: Any, constant: str, namespace: dict[str, Any]) -> dict[str, Any] | None:
    """The dict in which the kernel looks for a name: its cell's own (`-D`), else the notebook's."""
    if constant not in inspect.constants(kernel):
        return None
    own = kernel.definition.scope.own
    return own if constant in own else namespace


def _refuse_block_on_cpu(axes: Mapping[str, Any], devices: list[str]) -> None:
    if BLOCK in axes and devices == ["cpu"]:
        raise Refusal(f"{BLOCK} is the threads of a CUDA block; on the CPU sweep {THREADS}, an argument or a constant")


@contextmanager
def _put(place: dict[str, Any], name: str, value: Any) -> Iterator[None]:
    before = place[name]
    place[name] = value
    try:
        yield
    finally:
        place[name] = before
