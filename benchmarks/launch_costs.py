"""What a launch costs beyond its kernel: a kernel over one element, launched many times in a row."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import warp as wp
from measure import Row, Table, clock, take_turns, write

import workbench as wb

ROUNDS = 9
REPEAT = 2000
RECORDED = 1000


@wb.kernel
def touch(a: float, x: wb.array(dtype=float), y: wb.array(dtype=float)):
    """The smallest kernel with a scalar and two arrays."""
    i = wb.tid()
    y[i] = a * x[i]


@wp.kernel
def warp_touch(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    """The same for Warp."""
    i = wp.tid()
    y[i] = a * x[i]


FLOATS, WARPS, PAIR, SCALE = wb.array(dtype=float), wp.array(dtype=float), (1.0, 2.0), 2.0


@wb.struct
class Held:
    """A number and an array."""

    scale: float
    x: FLOATS


@wp.struct
class WarpHeld:
    """The same for Warp."""

    scale: float
    x: WARPS


@wb.kernel
def with_struct(held: Held, y: FLOATS):
    """The smallest kernel with a struct."""
    i = wb.tid()
    y[i] = held.scale * held.x[i]


@wp.kernel
def warp_with_struct(held: WarpHeld, y: wp.array(dtype=float)):
    """The same for Warp."""
    i = wp.tid()
    y[i] = held.scale * held.x[i]


@wp.kernel
def warp_along(v: wp.vec3, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    """A vector by value, for Warp."""
    i = wp.tid()
    y[i] = v[0] * x[i]


def timed(work: Callable[[], object], repeat: int) -> Callable[[], float]:
    """A case in processor time: the machines are shared."""
    return clock(work, repeat, time.process_time)


def taped(api: Any, kernel: Any, arrays: list[Any], seed: Any) -> Callable[[], None]:
    """One tape: each array from the one before it, then backwards."""

    def run() -> None:
        tape = api.Tape()
        with tape:
            for source, target in itertools.pairwise(arrays):
                api.launch(kernel, dim=1, inputs=[2.0, source], outputs=[target], device="cpu")
        tape.backward(grads={arrays[-1]: seed})

    return run


def captures() -> dict[str, dict[str, Callable[[], object]]]:
    """Launches of kernels that capture, and of structs and vectors, by what they have."""
    scale = 2.0

    @wb.kernel
    def enclosed(x: FLOATS, y: FLOATS):
        i = wb.tid()
        y[i] = scale * x[i]

    @wb.kernel
    def paired(x: FLOATS, y: FLOATS):
        i = wb.tid()
        y[i] = PAIR[1] * x[i]

    @wb.kernel
    def known(x: FLOATS, y: FLOATS):
        i = wb.tid()
        y[i] = wb.static(3.0 * SCALE) * x[i]

    @wb.kernel
    def along(v: wb.vec3, x: FLOATS, y: FLOATS):
        i = wb.tid()
        y[i] = v[0] * x[i]

    x, y = wb.ones(1, device="cpu"), wb.zeros(1, device="cpu")
    wx, wy = wp.ones(1, dtype=float, device="cpu"), wp.zeros(1, dtype=float, device="cpu")
    held, theirs = Held(scale=2.0, x=x), WarpHeld()
    theirs.scale, theirs.x = 2.0, wx
    vector, warps = wb.vec3(1.0, 2.0, 3.0), wp.vec3(1.0, 2.0, 3.0)
    return {
        "of a closure": {"workbench": lambda: wb.launch(enclosed, 1, [x], [y], device="cpu")},
        "of a captured tuple": {"workbench": lambda: wb.launch(paired, 1, [x], [y], device="cpu")},
        "with static()": {"workbench": lambda: wb.launch(known, 1, [x], [y], device="cpu")},
        "with a struct": {
            "workbench": lambda: wb.launch(with_struct, 1, [held], [y], device="cpu"),
            "warp": lambda: wp.launch(warp_with_struct, dim=1, inputs=[theirs], outputs=[wy], device="cpu"),
        },
        "with a vector": {
            "workbench": lambda: wb.launch(along, 1, [vector, x], [y], device="cpu"),
            "warp": lambda: wp.launch(warp_along, dim=1, inputs=[warps, wx], outputs=[wy], device="cpu"),
        },
        "zeros(4)": {"workbench": lambda: wb.zeros(4, device="cpu"), "warp": lambda: wp.zeros(4, device="cpu")},
        "x.numpy()": {"workbench": x.numpy, "warp": wx.numpy},
    }


def of_function(x: wb.array) -> tuple[Callable[[], object], Callable[[], object]]:
    """`wb.grad` of a function with one launch, and the same tape by hand."""

    def loss(x: wb.array) -> wb.array:
        y = wb.zeros(1, device="cpu")
        wb.launch(touch, 1, [2.0, x], [y], device="cpu")
        return y

    def by_hand() -> object:
        tape = wb.Tape(into_grad=False, only=[x])
        with tape:
            result = loss(x)
        tape.backward(result)
        return tape.gradients[x]

    gradient = wb.grad(loss)
    return lambda: gradient(x), by_hand


def main() -> None:
    """Time the three ways to launch, and tapes, and write the table."""
    wp.config.quiet = True
    x, y = wb.ones(1, dtype=wb.float32, device="cpu"), wb.zeros(1, dtype=wb.float32, device="cpu")
    wx, wy = wp.ones(1, dtype=float, device="cpu"), wp.zeros(1, dtype=float, device="cpu")
    ours = wb.launch(touch, dim=1, inputs=[2.0, x], outputs=[y], device="cpu", record_cmd=True)
    theirs = wp.launch(warp_touch, dim=1, inputs=[2.0, wx], outputs=[wy], device="cpu", record_cmd=True)
    with wb.record() as record:
        for _ in range(RECORDED):
            wb.launch(touch, dim=1, inputs=[2.0, x], outputs=[y], device="cpu")

    rows = {
        "launch(kernel, …)": {
            "workbench": timed(lambda: wb.launch(touch, dim=1, inputs=[2.0, x], outputs=[y], device="cpu"), REPEAT),
            "warp": timed(lambda: wp.launch(warp_touch, dim=1, inputs=[2.0, wx], outputs=[wy], device="cpu"), REPEAT),
        },
        "Launch.launch()": {"workbench": timed(ours.launch, REPEAT), "warp": timed(theirs.launch, REPEAT)},
    }
    replay = timed(record.replay, 20)
    rows[f"one of {RECORDED} launches in a replay"] = {"workbench": lambda: replay() / RECORDED}
    for count in (1, 2, 20, 200):
        made = [wb.zeros(1, dtype=wb.float32, device="cpu", requires_grad=True) for _ in range(count + 1)]
        others = [wp.zeros(1, dtype=float, device="cpu", requires_grad=True) for _ in range(count + 1)]
        rows[f"{count} on a tape, forward and backward"] = {
            "workbench": timed(taped(wb, touch, made, x), max(2, REPEAT // 10 // count)),
            "warp": timed(taped(wp, warp_touch, others, wx), max(2, REPEAT // 10 // count)),
        }
    for what, systems in captures().items():
        rows[what] = {name: timed(call, REPEAT) for name, call in systems.items()}
    whole, by_hand = of_function(wb.ones(1, device="cpu"))
    rows["wb.grad(f)(x) of one launch"] = {"workbench": timed(whole, REPEAT // 10)}
    rows["the same tape by hand"] = {"workbench": timed(by_hand, REPEAT // 10)}
    table = Table("launch_costs", "Processor time of a launch over one element, CPU; the machine was loaded", ROUNDS)
    table.rows = [Row(what, take_turns(cases, ROUNDS)) for what, cases in rows.items()]
    write(table)


if __name__ == "__main__":
    main()
