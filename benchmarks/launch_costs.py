"""What a launch costs beyond its kernel: a kernel over one element, launched many times in a row."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import warp as wp
from measure import Row, Table, clock, take_turns, write

import workbench as wb

ROUNDS = 15
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


def taped(api: Any, kernel: Any, arrays: list[Any], seed: Any) -> Callable[[], None]:
    """One tape: each array from the one before it, then backwards."""

    def run() -> None:
        tape = api.Tape()
        with tape:
            for source, target in itertools.pairwise(arrays):
                api.launch(kernel, dim=1, inputs=[2.0, source], outputs=[target], device="cpu")
        tape.backward(grads={arrays[-1]: seed})

    return run


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
            "workbench": clock(lambda: wb.launch(touch, dim=1, inputs=[2.0, x], outputs=[y], device="cpu"), REPEAT),
            "warp": clock(lambda: wp.launch(warp_touch, dim=1, inputs=[2.0, wx], outputs=[wy], device="cpu"), REPEAT),
        },
        "Launch.launch()": {"workbench": clock(ours.launch, REPEAT), "warp": clock(theirs.launch, REPEAT)},
    }
    replay = clock(record.replay, 20)
    rows[f"one of {RECORDED} launches in a replay"] = {"workbench": lambda: replay() / RECORDED}
    for count in (1, 20):
        made = [wb.zeros(1, dtype=wb.float32, device="cpu", requires_grad=True) for _ in range(count + 1)]
        others = [wp.zeros(1, dtype=float, device="cpu", requires_grad=True) for _ in range(count + 1)]
        rows[f"{count} on a tape, forward and backward"] = {
            "workbench": clock(taped(wb, touch, made, x), REPEAT // 10),
            "warp": clock(taped(wp, warp_touch, others, wx), REPEAT // 10),
        }
    table = Table("launch_costs", "Cost of a launch over one element, CPU", ROUNDS)
    table.rows = [Row(what, take_turns(cases, ROUNDS)) for what, cases in rows.items()]
    write(table)


if __name__ == "__main__":
    main()
