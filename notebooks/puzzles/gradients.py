"""The puzzles of `3-gradients.ipynb`: what each asks, hints, and a solution. Try first."""

from __future__ import annotations

import numpy as np

from kernel_ext.puzzles import Arrow, Boxes, Case, Course, Picture, Puzzle

Random = np.random.Generator


def numbers(random: Random, *shape: int) -> np.ndarray:
    """Numbers from -2 to 2, float32."""
    return random.uniform(-2, 2, shape).astype(np.float32)


def _square(random: Random) -> Case:
    n = int(random.integers(70, 200))
    x, a, g = numbers(random, n), numbers(random, n), numbers(random, n)
    return Case(
        -(-n // 64) * 64, {"x": x, "a": a, "y": np.zeros(n, np.float32), "n": n}, {"y": a * x * x},
        upstream={"y": g}, gradients={"x": 2 * a * x * g, "a": x * x * g},
    )  # fmt: skip


square = Puzzle(
    "square", _square,
    hints=("adj_y[i] is how much the loss grows with y[i]. How much does y[i] grow with x[i], and with a[i]?",
           "Add, do not assign: x may be used elsewhere, too. And y[i] is overwritten here, so what was in y[i] before "
           "has no influence: adj_y[i] becomes 0.",
           "adj_x[i] += 2.0f * a[i] * x[i] * adj_y[i]; adj_a[i] += x[i] * x[i] * adj_y[i]; adj_y[i] = 0.0f;"),
    solution="""
__global__ void square(const float* x, const float* a, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] * x[i] * x[i];
}

__global__ void square_adjoint(const float* x, const float* a, int n, float* adj_x, float* adj_a, float* adj_y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = adj_y[i];
    adj_x[i] += 2.0f * a[i] * x[i] * g;
    adj_a[i] += x[i] * x[i] * g;
    adj_y[i] = 0.0f;
}
""",
    goals=("sectors",),
    picture=Picture(
        "Forward, x and a make y; backwards, adj_y goes to adj_x and adj_a",
        (Boxes("x", (3,)), Boxes("a", (2,), (0, 2)), Boxes("y", (18,), (4, 1), above=True),
         Boxes("adj_y", (1,), (8, 1)), Boxes("adj_x", (12,), (12, 0), above=True),
         Boxes("adj_a", (9,), (12, 2), above=True)),
        (Arrow((0, 0, 0), (2, 0, 0)), Arrow((1, 0, 0), (2, 0, 0)), Arrow((3, 0, 0), (4, 0, 0), red=True),
         Arrow((3, 0, 0), (5, 0, 0), red=True)),
        ((1.7, 3.2, "y = a x x"), (7, 3.2, "times 2 a x, and x x")),
    ),
)  # fmt: skip


def _steps(random: Random) -> Case:
    n = int(random.integers(70, 200))
    x, g = numbers(random, n), numbers(random, n - 1)
    gradient = np.zeros(n, np.float32)
    gradient[1:] += g
    gradient[:-1] -= g
    return Case(
        -(-n // 64) * 64, {"x": x, "y": np.zeros(n - 1, np.float32), "n": n}, {"y": np.diff(x)},
        upstream={"y": g}, gradients={"x": gradient},
    )  # fmt: skip


steps = Puzzle(
    "steps", _steps,
    hints=("The given adjoint has a thread per y, which scatters to two x. Let a thread per x gather from two y.",
           "x[i] is in y[i - 1], with a plus, and in y[i], with a minus; not both exist at the ends.",
           "g = 0; if i > 0, add adj_y[i - 1]; if i < n - 1, subtract adj_y[i]; then adj_x[i] += g."),
    solution="""
__global__ void steps(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) y[i] += x[i + 1] - x[i];
}

__global__ void steps_adjoint(int n, float* adj_x, float* adj_y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = 0.0f;
    if (i > 0) g += adj_y[i - 1];
    if (i < n - 1) g -= adj_y[i];
    adj_x[i] += g;
}
""",
    goals=("atomics", "instructions"),
    picture=Picture(
        "What the forward kernel gathers, its adjoint scatters; written per x, it gathers too",
        (Boxes("x", (1, 4, 2, 7)), Boxes("y", (3, -2, 5), (0.5, 1.8)),
         Boxes("adj_y", (1, 10, 100), (7.5, 0)),
         Boxes("adj_x", (-1, -9, -90, 100), (7, 1.8), marked=frozenset({(0, 1)}))),
        (*(Arrow((0, 0, c), (1, 0, c), red=True) for c in range(3)),
         *(Arrow((0, 0, c + 1), (1, 0, c)) for c in range(3)),
         Arrow((2, 0, 0), (3, 0, 1)), Arrow((2, 0, 1), (3, 0, 1), red=True)),
        ((7, 3.2, "1 - 10 = -9: one thread, no atomics"),),
    ),
)  # fmt: skip


def _roots(random: Random) -> Case:
    a = random.uniform(0.2, 3.0, int(random.integers(64, 200))).astype(np.float32)
    g = numbers(random, len(a))
    return Case(
        len(a), {"a": a, "r": np.zeros(len(a), np.float32)}, {"r": np.sqrt(a)},
        upstream={"r": g}, gradients={"a": g / (2 * np.sqrt(a))},
    )  # fmt: skip


roots = Puzzle(
    "roots", _roots,
    hints=("The derived adjoint goes back through all twelve rounds. But what the loop finds obeys r * r = a.",
           "From r * r = a follows 2 r dr = da: the rounds do not matter, only where they end.",
           "@func_grad(root), then def root_grad(a: float, adj_r: float): adjoint[a] += adj_r / (2.0 * root(a))"),
    solution="""
@func
def root(a: float) -> float:
    r = 1.0
    for k in range(12):
        r = 0.5 * (r + a / r)
    return r


@func_grad(root)
def root_grad(a: float, adj_r: float):
    adjoint[a] += adj_r / (2.0 * root(a))


def roots(a: array[float], r: array[float]):
    i = tid()
    r[i] = root(a[i])
""",
    goals=("instructions",),
    picture=Picture(
        "Twelve rounds forward; backwards, the equation that the result obeys needs one step",
        (Boxes("a", (2,), (0, 1)), Boxes("", (1.5, 1.42, "…", 1.41), (2, 1)), Boxes("r", (1.41,), (7.5, 1), above=True),
         Boxes("adj_a", (0.35,), (0, 3)), Boxes("adj_r", (1,), (7.5, 3), above=True)),
        (Arrow((0, 0, 0), (1, 0, 0)), Arrow((1, 0, 3), (2, 0, 0)), Arrow((4, 0, 0), (3, 0, 0), red=True)),
        ((2, 0.5, "rounds of (r + a / r) / 2"), (2.5, 2.9, "adj_r / (2 r)")),
    ),
)  # fmt: skip

course = Course(square, steps, roots)
check, hint, score, show = course.tools
