"""What a captured graph costs: two forward and two adjoint launches run as one, and capturing a thousand launches."""

from __future__ import annotations

import warp as wp
from measure import Row, Table, clock, take_turns, write

import workbench as wb

ROUNDS = 15
SIZES = {1: 2000, 1000: 1000, 1_000_000: 5}
CAPTURED = 1000


@wb.kernel
def scale(x: wb.array(dtype=float), y: wb.array(dtype=float)):
    """One array from another."""
    i = wb.tid()
    y[i] = 2.0 * x[i] * x[i]


@wp.kernel
def warp_scale(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    """The same for Warp."""
    i = wp.tid()
    y[i] = 2.0 * x[i] * x[i]


def ours(n: int) -> wb.Graph:
    """Forward and adjoint of two launches as a graph."""
    x, y, z = (wb.ones(n, float, device="cpu", requires_grad=True) for _ in range(3))
    with wb.capture() as graph:
        with wb.Tape() as tape:
            wb.launch(scale, n, [x, y])
            wb.launch(scale, n, [y, z])
        tape.backward(grads={z: wb.ones(n, float, device="cpu")})
    return graph


def theirs(n: int) -> wp.Graph:
    """The same for Warp."""
    x, y, z, seed = (wp.ones(n, dtype=float, device="cpu", requires_grad=True) for _ in range(4))
    with wp.ScopedCapture(device="cpu") as capture:
        tape = wp.Tape()
        with tape:
            wp.launch(warp_scale, n, [x, y], device="cpu")
            wp.launch(warp_scale, n, [y, z], device="cpu")
        tape.backward(grads={z: seed})
    return capture.graph


def main() -> None:
    """Time graphs of three sizes and a capture, and write the table."""
    wp.config.quiet = True
    x, y = (wb.ones(1, float, device="cpu") for _ in range(2))
    wx, wy = (wp.ones(1, dtype=float, device="cpu") for _ in range(2))
    wp.launch(warp_scale, 1, [wx, wy], device="cpu")

    def capture() -> None:
        with wb.capture():
            for _ in range(CAPTURED):
                wb.launch(scale, 1, [x, y])

    def warp_capture() -> None:
        with wp.ScopedCapture(device="cpu"):
            for _ in range(CAPTURED):
                wp.launch(warp_scale, 1, [wx, wy], device="cpu")

    table = Table("graph_costs", "Graphs of captured launches, CPU", ROUNDS)
    for n, repeat in SIZES.items():
        graph, other = ours(n), theirs(n)
        cases = {
            "workbench": clock(graph.launch, repeat),
            "warp": clock(lambda other=other: wp.capture_launch(other), repeat),
        }
        table.rows.append(Row(f"2 forward + 2 adjoint over {n:,}", take_turns(cases, ROUNDS)))
    cases = {"workbench": clock(capture), "warp": clock(warp_capture)}
    table.rows.append(Row(f"capture of {CAPTURED} launches", take_turns(cases, ROUNDS)))
    write(table)


if __name__ == "__main__":
    main()
