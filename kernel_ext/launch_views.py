"""Pictures of one launch: its counts line by line, its threads, a warp forwards and backwards. `show` offers them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

import workbench as wb
from kernel_ext.output.renderable import Shown
from kernel_ext.refusal import Refusal, must_be
from kernel_ext.views import html
from kernel_ext.views.programs import step_view, threads_view
from kernel_ext.views.view_data import as_data
from workbench import inspect


def profile(profile: wb.Profile) -> Shown:
    """Show what `wb.profile` counted, line by line, with pictures; a live view steps through the first warp.

    Args:
        profile: what `wb.profile` returned.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: it is something else.
    """
    must_be(profile, wb.Profile, "profile() takes what wb.profile returned")
    view = step_view.profile_view(profile)
    return Shown("profile_view", view, html.ascii_only(str(profile)), profile._repr_html_())


def threads(
    kernel: Any, dim: Any, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (), *, first: int = 0, **options: Any
) -> Shown:
    """Show which thread of a launch does what: the grid, who touches which element, each block step by step.

        show.threads(blur, n, [x], [y], block_dim=64)

    The launch runs on copies of its arrays on the emulated device: no GPU is needed, and nothing is changed.

    Args:
        kernel: what to run.
        dim: threads along 1 to 4 dimensions, as for `wb.launch`.
        inputs, outputs: arguments, as for `wb.launch`.
        first: the first block that is followed, if they are too many; a live view can choose another one.
        options: `adjoint`, `arch`, `block_dim` and `tiled`, as for `wb.profile`.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        LaunchError, DeviceError, BuildError, NotDifferentiable: as `workbench.inspect.threads`.
    """

    def follow(block: int) -> inspect.Threads:
        return inspect.threads(kernel, dim, inputs, outputs, first=block, **options)

    return followed(follow(first), lambda block: threads_view.threads_view(follow(block)))


def threads_of(value: Any) -> _Followed | None:
    """Look up the last launch that was given an array; nothing runs before the result is called.

    Args:
        value: the array.

    Returns:
        A function that follows that launch's threads: from the number of a first block to a dict with `view`,
        as `threads` shows it, and `parameter`, which was the array; or with `said`, why they are not known.
        None if no launch is noted that was given the array.
    """
    last = inspect.last_launch_with(value)
    return None if last is None else _Followed(last, last.parameter(value))


def steps(steps: inspect.Steps | wb.Graph | wb.Recorder | wb.Tape, at: int = 0) -> Shown:
    """Go through a thread statement by statement, or through a graph, record or tape node by node.

        show.steps(wb.step(heights, 6, [t], [y], thread=3))
        show.steps(graph)

    A graph, record or tape runs once, on its arrays' contents of now; branches and loops show what their conditions
    held and which turn it is, every other node what it wrote.

    Args:
        steps: what `wb.step` returned, or work to run.
        at: the step of a thread that is shown first; -1 is the last one.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: it is something else.
        KernelFault: a launch met a fault.
    """
    wanted = inspect.Steps | wb.Graph | wb.Recorder | wb.Tape
    must_be(steps, wanted, "steps() takes what wb.step returned, a graph, a record or a tape")
    if not isinstance(steps, inspect.Steps):
        if isinstance(steps, wb.Graph):
            steps.must_be_complete()
        graph = inspect.graph_of(steps, "a run")
        picture = graph._repr_mimebundle_()["text/html"]
        trail = step_view.trail_view(graph)
        return Shown("graph_view", trail, step_view.trail_text, lambda view: step_view.trail_html(view, picture))
    view = step_view.steps_view(steps)
    return Shown("stepper", view, lambda _: html.ascii_only(str(steps)), step_view.steps_html, at=at)


def fault(error: wb.KernelFault, what: str = "steps") -> Shown:
    """Show the thread in which the last launch failed, statement by statement up to the fault, or all threads.

    The launch runs again on copies of its arrays as they are now.

    Args:
        error: what the launch raised.
        what: "steps" or "threads".

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: the thread is not known, or an array of the launch is no longer there.
    """
    last = error.__dict__.get("_launch") or inspect.last_launch()
    arguments = last.arguments if last is not None else None
    if last is None or arguments is None or not error.thread:
        raise Refusal("the launch that failed, or its thread, is no longer known; run it again")
    if what == "steps" and not error.block:
        return steps(wb.step(last.kernel, last.dim, arguments, thread=error.thread), at=-1)

    def follow(block: int) -> inspect.Threads:
        return inspect.threads(last.kernel, last.dim, arguments, first=block, block_dim=last.block_dim)

    trace = follow(0)
    each = math.prod(trace.block)
    if error.block:  # of the emulated device: a place in its block
        block, within = error.block[0], error.thread[0]
    else:
        block, within = divmod(int(np.ravel_multi_index(error.thread, trace.dim)), each)
    if what == "steps":
        thread = tuple(map(int, np.unravel_index(block * each + within, trace.dim)))
        return steps(wb.step(last.kernel, last.dim, arguments, thread=thread), at=-1)
    if block >= trace.blocks:
        trace = follow(block)
    return followed(trace, lambda block: threads_view.threads_view(follow(block)), (block, within))


class _Followed(msgspec.Struct, frozen=True):
    """Represents a launch whose threads can be followed later, and the parameter that an array was in it."""

    last: inspect.LastLaunch
    parameter: str

    def __call__(self, block: int) -> dict[str, Any]:
        """Follow the launch's threads from a block on; return `view` and `parameter`, or `said`, why not."""
        last, arguments = self.last, self.last.arguments
        if arguments is None:
            return {"said": f"An array of the launch of {last.kernel.name} is no longer there."}
        try:
            trace = inspect.threads(
                last.kernel, last.dim, arguments, block_dim=last.block_dim, tiled=last.tiled, first=block
            )
        except wb.WorkbenchError as error:
            return {"said": error.message}
        return {"view": as_data(threads_view.threads_view(trace)), "parameter": self.parameter}


def followed(
    threads: inspect.Threads,
    follow: Callable[[int], threads_view.ThreadsView] | None = None,
    at: tuple[int, int] | None = None,
) -> Shown:
    """Show threads that `workbench.inspect.threads` has followed.

    Args:
        threads: what the threads did.
        follow: gives the view from another block on, for launches with more blocks than are followed.
        at: the thread that a live view points at when it opens: its block, and its number within it.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """
    view = threads_view.threads_view(threads)
    return Shown(
        "threads_view",
        view,
        lambda _: threads_view.threads_text(threads),
        lambda _: threads_view.threads_html(threads),
        follow=follow,
        at=at,
    )


def backward(kernel: Any, dim: Any, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (), *, warp: int = 0) -> Shown:
    """Show a warp of a kernel forwards and then backwards: values fill in, then cotangents come back for them.

        show.backward(wave, n, [u], [v])

    Kernel and adjoint are interpreted on copies: no GPU is needed, and nothing is changed. The reverse sweep begins
    with the `.grad` of arrays that have one, else with ones for what the warp wrote.

    Args:
        kernel: a kernel without tiles.
        dim: the launch's dimensions.
        inputs, outputs: arguments, as for `wb.launch`.
        warp: which 32 threads.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        LaunchError, NotDifferentiable, KernelFault: as `workbench.inspect.sweeps`.
    """
    return both_ways(inspect.sweeps(kernel, dim, inputs, outputs, warp=warp))


def both_ways(sweeps: inspect.Sweeps) -> Shown:
    """Show a warp of a kernel forwards and then backwards, as `workbench.inspect.sweeps` followed it.

    Args:
        sweeps: a warp's two sweeps.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """
    view = step_view.sweeps_view(sweeps)
    return Shown("sweeps_view", view, lambda _: step_view.sweeps_text(sweeps), step_view.sweeps_html)
