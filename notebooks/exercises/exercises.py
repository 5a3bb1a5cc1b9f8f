"""What the exercises ask for, with a hint and a solution each. Try first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import workbench as wb
from kernel_ext.puzzles import Case, Course, Puzzle, Wrong

Random = np.random.Generator


def numbers(random: Random, *shape: int) -> np.ndarray:
    """Numbers from 0.1 to 1, float32."""
    return random.uniform(0.1, 1.0, shape).astype(np.float32)


def unwritten(*shape: int) -> np.ndarray:
    """An output before the launch."""
    return np.full(shape, np.nan, np.float32)


def _brighten(random: Random) -> Case:
    picture = numbers(random, 5, int(random.integers(6, 20)))
    return Case(picture.shape, {"picture": picture, "gain": 1.5}, {"picture": 1.5 * picture})


brighten = Puzzle(
    "brighten", _brighten,
    hints=("A pixel is read, multiplied by gain, and written back.",),
    solution="""
def brighten(picture: array2d[float], gain: float):
    i, j = tid()
    picture[i, j] = gain * picture[i, j]
""",
)  # fmt: skip


def _mirror(random: Random) -> Case:
    picture = numbers(random, 4, int(random.integers(6, 20)))
    arguments = {"picture": picture, "mirrored": unwritten(*picture.shape)}
    return Case(picture.shape, arguments, {"mirrored": picture[:, ::-1]})


mirror = Puzzle(
    "mirror", _mirror,
    hints=("The first column comes from the last one, whose number is picture.shape[1] - 1.",),
    solution="""
def mirror(picture: array2d[float], mirrored: array2d[float]):
    i, j = tid()
    column = picture.shape[1] - 1 - j
    mirrored[i, j] = picture[i, column]
""",
)  # fmt: skip


def _smooth(random: Random) -> Case:
    x = numbers(random, int(random.integers(20, 90)))
    padded = np.pad(x, 1, mode="edge")
    wanted = {"y": (padded[:-2] + padded[1:-1] + padded[2:]) / 3}
    return Case(len(x), {"x": x, "y": unwritten(len(x))}, wanted)


smooth = Puzzle(
    "smooth", _smooth,
    hints=("max(i - 1, 0) and min(i + 1, n - 1) stay inside.",),
    solution="""
def smooth(x: array[float], y: array[float]):
    i = tid()
    left = max(i - 1, 0)
    right = min(i + 1, x.shape[0] - 1)
    y[i] = (x[left] + x[i] + x[right]) / 3.0
""",
)  # fmt: skip


def _inside(random: Random) -> Case:
    points = random.uniform(-1, 1, (int(random.integers(1000, 2000)), 2))
    count = {"count": np.array([(np.hypot(*points.T) < 1).sum()])}
    return Case(len(points), {"points": wb.array(points, dtype=wb.vec2), "count": np.zeros(1, np.int32)}, count)


inside = Puzzle(
    "inside", _inside,
    hints=("Many threads add to one number: atomic_add(count, 0, 1), and only where the length is below 1.",),
    solution="""
def inside(points: array[vec2], count: array[int]):
    i = tid()
    if length(points[i]) < 1.0:
        atomic_add(count, 0, 1)
""",
)  # fmt: skip


def _fall(random: Random) -> Case:
    heights = random.uniform(0.5, 20.0, 3).astype(np.float32)
    wanted = {"times": np.sqrt(2 * heights / 9.81)}
    return Case(3, {"height": heights, "dt": 1e-3, "times": unwritten(3)}, wanted, tolerance=5e-3)


fall = Puzzle(
    "fall", _fall,
    hints=("In each turn: v = v - 9.81 * dt, then h = h + v * dt, then t = t + dt.",),
    solution="""
def fall(height: array[float], dt: float, times: array[float]):
    i = tid()
    h = height[i]
    v = 0.0
    t = 0.0
    while h > 0.0:
        v = v - 9.81 * dt
        h = h + v * dt
        t = t + dt
    times[i] = t
""",
)  # fmt: skip


def _by_hand(found: Callable[[np.ndarray], np.ndarray]) -> None:
    bell = wb.build_cell(
        "def bell(x: array[float64], y: array[float64]):\n    i = tid()\n    y[i] = exp(-x[i] * x[i])", {}
    )
    at = np.linspace(0.2, 2.0, 50)
    x, y = wb.array(at, requires_grad=True), wb.zeros(50, dtype=wb.float64)
    with wb.Tape() as tape:
        wb.launch(bell.kernels["bell"], 50, [x], [y])
    tape.backward(grads={y: np.ones(50)})
    got = np.asarray(found(at))
    if got.shape != at.shape or got.dtype.kind != "f":
        raise Wrong("by_hand(x) should return a number for each x.")
    wrong = np.flatnonzero(~np.isclose(got, x.grad.numpy(), atol=1e-6))
    if len(wrong):
        raise Wrong(f"At {at[wrong[0]]:.2f} it is {got[wrong[0]]:.6g}; the adjoint has {x.grad.numpy()[wrong[0]]:.6g}.")


by_hand = Puzzle(
    "by_hand", examine=_by_hand,
    hints=("The chain rule: the slope of exp(u) is exp(u) times that of u, and u is -x·x.",),
    solution="""
def by_hand(x):
    return -2 * x * np.exp(-x * x)
""",
)  # fmt: skip


def _loss(random: Random) -> Case:
    x, y = numbers(random, 40), numbers(random, 40)
    off = (0.7 * x - 0.2 - y).astype(np.float64)
    line = np.array([0.7, -0.2], np.float32)
    return Case(
        40, {"line": line, "x": x, "y": y, "total": np.zeros(1, np.float32)}, {"total": np.array([(off**2).sum()])},
        upstream={"total": np.ones(1, np.float32)},
        gradients={"line": np.array([(2 * off * x).sum(), (2 * off).sum()])}, tolerance=1e-3,
    )  # fmt: skip


loss = Puzzle(
    "loss", _loss,
    hints=("The difference times itself, added to total[0] by every thread.",),
    solution="""
def loss(line: array[float], x: array[float], y: array[float], total: array[float]):
    i = tid()
    difference = line[0] * x[i] + line[1] - y[i]
    total[0] += difference * difference
""",
)  # fmt: skip


def _descend(found: Callable[[wb.array, wb.array], None]) -> None:
    line = wb.array([1.0, 2.0])
    found(line, wb.array([10.0, -4.0]))
    moved = line.numpy() - np.array([1.0, 2.0])
    if not moved.any():
        raise Wrong("The line did not move. Launch the kernel, with line, slope and a rate such as 0.01.")
    if moved[0] > 0 or moved[1] < 0:
        raise Wrong(f"It moved by {moved}, uphill. Downhill is against the slope: subtract.")
    if abs(moved[0] / moved[1] + 2.5) > 1e-3:
        raise Wrong("The step is not along the slope: both numbers should move by the same rate times their slope.")


descend = Puzzle(
    "descend", examine=_descend,
    hints=("The new number is the old one less rate times its slope.",),
    solution="""
def descend_kernel(line: array[float], slope: array[float], rate: float):
    k = tid()
    line[k] = line[k] - rate * slope[k]
""",
)  # fmt: skip


def _stable(random: Random) -> Case:
    x = np.array([-4.0, 0.0, 9.0], np.float32)
    return Case(
        3, {"x": x, "y": np.zeros(3, np.float32)}, {"y": np.array([2.0, 0.0, 3.0])},
        upstream={"y": np.ones(3, np.float32)}, gradients={"x": np.array([-0.25, 0.0, 1 / 6])},
    )  # fmt: skip


stable = Puzzle(
    "stable", _stable,
    hints=("where(x[i] != 0.0, …, …) lets nothing of the other side through.",),
    solution="""
def stable(x: array[float], y: array[float]):
    i = tid()
    y[i] = where(x[i] != 0.0, sqrt(abs(x[i])), 0.0)
""",
)  # fmt: skip


def _columns(random: Random) -> Case:
    a = numbers(random, 64, 64)
    return Case(64, {"a": a, "sums": unwritten(64)}, {"sums": a.sum(axis=0)}, tolerance=1e-3)


columns = Puzzle(
    "columns", _columns, goals=("sectors",),
    hints=("Column i has the elements a[0, i], a[1, i], and so on.",),
    solution="""
def columns(a: array2d[float], sums: array[float]):
    i = tid()
    s = 0.0
    for k in range(a.shape[0]):
        s = s + a[k, i]
    sums[i] = s
""",
)  # fmt: skip


def _four_each(random: Random) -> Case:
    x = numbers(random, 1024)
    return Case(256, {"x": x, "threads": 256}, {"x": 2 * x})


four_each = Puzzle(
    "four_each", _four_each, goals=("sectors",),
    hints=("In each turn the threads should take a quarter of the array together: element i of quarter k.",),
    solution="""
def four_each(x: array[float], threads: int):
    i = tid()
    for k in range(4):
        j = i + k * threads
        x[j] = 2.0 * x[j]
""",
)  # fmt: skip


def _half_and_half(random: Random) -> Case:
    x = 0.7 * numbers(random, 1024)  # below pi / 4, where sin itself has no branch

    def verify(held: Mapping[str, np.ndarray]) -> None:
        sines = np.isclose(held["y"], np.sin(x), atol=1e-4)
        rest = np.isclose(held["y"], np.exp(x), atol=1e-4)
        if not (sines | rest).all() or sines.sum() != 512:
            raise Wrong(f"{int(sines.sum())} of 1024 elements are sines; it should be half of them.")

    return Case(1024, {"x": x, "y": unwritten(1024)}, verify=verify)


half_and_half = Puzzle(
    "half_and_half", _half_and_half, goals=("lanes", "instructions"),
    hints=("Thread i is in warp i // 32.",),
    solution="""
def half_and_half(x: array[float], y: array[float]):
    i = tid()
    if (i // 32) % 2 == 0:
        y[i] = sin(x[i])
    else:
        y[i] = exp(x[i])
""",
)  # fmt: skip


def _added(random: Random) -> Case:
    x = numbers(random, 4096)
    arguments = {"x": x, "total": np.zeros(1, np.float32), "threads": 128}
    return Case(128, arguments, {"total": np.array([x.sum()])}, tolerance=1e-2)


added = Puzzle(
    "added", _added, goals=("sectors", "atomics"),
    hints=("Add up x[i + k * threads].",),
    solution="""
def added(x: array[float], total: array[float], threads: int):
    i = tid()
    s = 0.0
    for k in range(32):
        s = s + x[i + k * threads]
    atomic_add(total, 0, s)
""",
)  # fmt: skip

kernels = Course(brighten, mirror, smooth, inside, fall)
gradients = Course(by_hand, loss, descend, stable)
memory = Course(columns, four_each, half_and_half, added)
