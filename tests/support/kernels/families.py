"""Families of kernels: one text for each size, whose compile time should grow with the size and no faster.

Each was once exponential, or grew with its square: see `benchmarks/compile_growth.py`, which measures them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HEAD = "def k(x: array[float], c: array[float], y: array[float]):\n    i = tid()\n"


@dataclass(frozen=True)
class Family:
    """Texts by size.

    Attributes:
        text: the cell of a size; its kernel is `k`.
        size: four times the size that took seconds, or as near as Python's nesting or the language's allows.
        smallest: where measuring begins.
        directions: what can be built.
    """

    text: Callable[[int], str]
    size: int
    smallest: int = 8
    directions: tuple[str, ...] = ("forward", "adjoint")


def lines(count: int, *statements: str, indent: int = 4) -> str:
    """The statements, again and again."""
    return "".join(" " * indent + s + "\n" for _ in range(count) for s in statements)


def loop(count: int, *statements: str) -> str:
    """A loop over a constant range: LLVM writes out short ones."""
    return f"    for j in range({count}):\n" + lines(1, *statements, indent=8)


def steps(first: str, *statements: str, last: str = "y[i] = v * x[i]", before: str = "") -> Callable[[int], str]:
    """`first`, the statements n times in a row, `last`; `before` are other definitions."""
    return lambda n: before + HEAD + lines(1, first) + lines(n, *statements) + lines(1, last)


def turns(signature: str, first: tuple[str, ...], *statements: str, last: str) -> Callable[[int], str]:
    """As `steps`, as a loop."""
    return lambda n: f"def k({signature}):\n" + lines(1, *first) + loop(n, *statements) + lines(1, last)


def _elif(n: int) -> str:
    sides = "".join(f"    elif v > {999 - j}.0:\n        v = v * {j}.0 + v * v\n" for j in range(n))
    return HEAD + "    v = x[i]\n    if v > 1000.0:\n        v = v * v\n" + sides + "    y[i] = v\n"


def _nested_ifs(n: int) -> str:
    levels = ((" " * (4 + j), j) for j in range(n))
    sides = "".join(f"{gap}if v > {j}.0:\n{gap} v = v * 1.5 + {j}.0 * v * v\n" for gap, j in levels)
    return HEAD + "    v = x[i]\n" + sides + "    y[i] = v\n"


def _used_at_each_level(n: int) -> str:
    levels = [" " * (4 + j) for j in range(n)]
    down = "".join(
        f"{gap}if v > {j}.0:\n{gap} w{j} = v * v\n{gap} v = v * 1.5 + {j}.0\n" for j, gap in enumerate(levels)
    )
    up = "".join(f"{levels[j]} v = v * w{j}\n" for j in reversed(range(n)))
    return HEAD + "    v = x[i]\n" + down + up + "    y[i] = v\n"


def _steps_in_steps(n: int) -> str:
    head = "def k(x: array[float], m: int, y: array[float]):\n    i = tid()\n    v = x[i]\n"
    loops = "".join(f"{' ' * (4 + j)}for j{j} in range(m):\n{' ' * (5 + j)}v = v * v + {j}.0\n" for j in range(n))
    return head + loops + "    y[i] = v\n"


def _loops_in_a_row(n: int) -> str:
    head = "def k(x: array[float], m: int, y: array[float]):\n    i = tid()\n    v = x[i]\n"
    loops = "".join(f"    for j in range(m):\n        v = v * v + {j}.5\n" for j in range(n))
    return head + loops + "    y[i] = v\n"


def _vectors(*body: str) -> Callable[[int], str]:
    head = "def k(x: array[vec3], c: array[vec3], y: array[vec3]):\n    i = tid()\n    v = x[i]\n    w = c[i]\n"
    return lambda n: head + lines(n, *body) + "    y[i] = v\n"


def _vectors_in_ifs(n: int) -> str:
    head = "def k(x: array[vec3], c: array[vec3], y: array[vec3]):\n    i = tid()\n    v = c[0]\n    w = c[1]\n"
    sides = "".join(f"    if i > {j}:\n        v = cross(v, w) + v\n        w = w * dot(v, w)\n" for j in range(n))
    return head + sides + "    y[i] = v\n"


def _in_ifs(dtype: str, statement: str) -> Callable[[int], str]:
    """A statement in ifs of which each decides the next: jump threading makes a nest of them."""
    head = HEAD.replace("float", dtype) + "    v = c[0]\n"
    return lambda n: head + "".join(f"    if i > {j}:\n        {statement}\n" for j in range(n)) + "    y[i] = v\n"


def _tiles(n: int) -> str:
    head = "def k(x: array[float], c: array[float], y: array[float]):\n    i = tid()\n"
    first = "    t = tile_load(x, shape=32, offset=i * 32)\n    u = tile_load(c, shape=32, offset=i * 32)\n"
    return head + first + lines(n, "t = t * u + t") + "    tile_store(y, t, offset=i * 32)\n"


def _breaks(n: int) -> str:
    body = "".join(f"        if v > {100 + j}.0:\n            break\n        v = v * 1.01 + {j}.0\n" for j in range(n))
    head = "def k(x: array[float], m: int, y: array[float]):\n    i = tid()\n    v = x[i]\n"
    return head + "    for j in range(m):\n" + body + "    y[i] = v\n"


def _funcs(n: int) -> str:
    first = "def f0(v: float):\n    return v * v\n"
    others = (f"def f{d}(v: float):\n    return f{d - 1}(v) + f{d - 1}(v * 0.5)\n" for d in range(1, n + 1))
    return first + "".join(others) + HEAD + f"    y[i] = f{n}(x[i])\n"


def _sums(n: int) -> str:
    text = "def k(x: array[float], m: int, y: array[float]):\n    i = tid()\n    s0 = 0\n"
    for d in range(1, n + 1):
        text += f"{' ' * (3 + d)}for j{d} in range(m):\n{' ' * (4 + d)}s{d} = 0\n"
    text += f"{' ' * (4 + n)}s{n} += x[i]\n"
    for d in range(n, 0, -1):
        text += f"{' ' * (4 + d)}s{d - 1} += s{d}\n"
    return text + "    y[i] = s0\n"


def _rolling(n: int) -> str:
    head = HEAD + "".join(f"    v{j} = x[i + {j}]\n" for j in range(8))
    body = "".join(f"    v{j % 8} = v{j % 8} * v{(j * 5 + 3) % 8} + v{(j * 3 + 1) % 8}\n" for j in range(n))
    return head + body + "    y[i] = v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7\n"


def _ifs(n: int) -> str:
    return HEAD + "    v = x[i]\n" + "".join(
        f"    if v > {j}.5:\n        v = v * 0.5 + {j}.0\n" for j in range(n)
    ) + "    y[i] = v\n"  # fmt: skip


LOGISTIC = "v = v * (1.0 - v)"
X_Y = "x: array[float], y: array[float]"
X_N_Y = "x: array[float], n: int, y: array[float]"
STRUCT = "@struct\nclass P:\n    a: float\n    b: float\n"
_LORENZ = (
    "da = 10.0 * (b - a)", "db = a * (28.0 - z) - b", "dz = a * b - 2.6 * z",
    "a = a + da * 0.01", "b = b + db * 0.01", "z = z + dz * 0.01",
)  # fmt: skip
_LEGENDRE = ("p2 = ((2.0 * float(j) + 3.0) * t * p1 - p0) / (float(j) + 2.0)", "p0 = p1", "p1 = p2")
_EXTREMES = "v = max(v * v, min(v, v))"
_FIBONACCI = ("t = a + b", "a = b", "b = t")

SAME_FOR_ALL = {
    "logistic map, lines": Family(steps("v = c[0]", LOGISTIC), 96),
    "logistic map, loop": Family(turns(X_Y, ("i = tid()", "v = x[0]"), LOGISTIC, last="y[i] = x[i] * v"), 96),
    "of loaded factors": Family(turns(X_Y, ("v = 0.3",), "v = x[j] * v * (1.0 - v)", last="y[0] = v"), 128),
    "of factors at remainders": Family(
        turns(X_N_Y, ("i = tid()", "v = 0.3"), "v = x[j % n] * 2.0 * v * (1.0 - v)", last="y[i] = v"), 128
    ),
    "quaternion squared": Family(
        turns("x: array[quat], y: array[quat]", ("q = x[0]",), "q = q * q", last="y[tid()] = q"), 32
    ),
    "matrix squared": Family(
        turns("x: array[mat22], y: array[mat22]", ("q = x[0]",), "q = q @ q", last="y[tid()] = q"), 48
    ),
    "Lorenz system": Family(turns(X_Y, ("a = x[0]", "b = x[1]", "z = x[2]"), *_LORENZ, last="y[0] = a + b + z"), 64),
    "Legendre polynomials": Family(
        turns(X_Y, ("i = tid()", "t = x[0]", "p0 = 1.0", "p1 = t"), *_LEGENDRE, last="y[i] = p1"), 96
    ),
    "two states": Family(
        turns(X_Y, ("a = x[0]", "b = x[1]"), "t = a * b * 0.5", "b = a * b + 0.1", "a = t", last="y[tid()] = a + b"), 64
    ),
    "Fibonacci": Family(turns(X_Y, ("a = x[0]", "b = x[1]"), *_FIBONACCI, last="y[tid()] = a"), 160),
    "Fibonacci of ints": Family(
        turns("x: array[int], y: array[int]", ("a = x[0]", "b = x[1]"), *_FIBONACCI, last="y[tid()] = a"),
        128, directions=("forward",),
    ),
    "largest and least": Family(
        turns(X_N_Y, ("v = x[0]",), "v = max(v * v, x[j % n]) - min(v, 0.5)", last="y[0] = v"), 32
    ),
    "in an if": Family(lambda n: HEAD + "    v = 0.5\n    if x[i] > 0.0:\n        v = c[0]\n"
                       + lines(n, LOGISTIC, indent=8) + "    y[i] = v\n", 96),
    "in a func": Family(steps("v = c[0]", "v = f(v)", before="def f(v: float):\n    return v * (1.0 - v)\n"), 96),
    "in a struct": Family(
        lambda n: STRUCT + "def k(x: array[float], c: array[P], y: array[float]):\n    i = tid()\n    p = c[0]\n"
        + lines(n, "p.a = p.a * p.b", "p.b = p.b + p.a * p.b") + "    y[i] = p.a * x[i]\n", 96,
    ),
    "in a while": Family(
        lambda n: HEAD + f"    v = c[0]\n    j = 0\n    while j < {n}:\n        v = v * (1.0 - v)\n        j += 1\n"
        "    y[i] = v * x[i]\n", 96,
    ),
    "in a row": Family(
        lambda n: "def k(x: array(dtype=float, ndim=2), y: array(dtype=float, ndim=2)):\n    i, j = tid()\n"
        "    v = x[i, 0]\n" + lines(n, LOGISTIC) + "    y[i, j] = v * x[i, j]\n", 96,
    ),
    "in an inner loop": Family(
        lambda n: "def k(x: array[float], m: int, y: array(dtype=float, ndim=2)):\n    i = tid()\n"
        "    for j in range(m):\n        v = x[i]\n" + lines(n, LOGISTIC, indent=8) + "        y[i, j] = v\n", 96,
    ),
    "vectors in ifs": Family(_vectors_in_ifs, 60, 6),
    "quaternions in ifs": Family(_in_ifs("quat", "v = v * v"), 128),
    "largest and least in ifs": Family(_in_ifs("float", _EXTREMES), 128),
    "in ifs in a loop": Family(
        turns(X_Y, ("i = tid()", "v = x[0]"), f"if i > j:\n{' ' * 12}{_EXTREMES}", last="y[i] = v"), 64
    ),
}  # fmt: skip
"""Chains that start from an element that is the same for all threads."""

NESTED = {
    "elif": Family(_elif, 160, 16),
    "ifs in ifs": Family(_nested_ifs, 90, 16),
    "ifs in ifs, values used": Family(_used_at_each_level, 44, 11),
    "breaks": Family(_breaks, 128),
    "funcs that call twice": Family(_funcs, 52, 4),
    "sums in sums": Family(_sums, 20, 4),
    "steps in steps": Family(_steps_in_steps, 8, 2),
}

LONG = {
    "one variable": Family(steps("v = x[i]", "v = v * 1.0001 + x[i]"), 3200, 100),
    "two variables": Family(steps("v = x[i]\n    w = c[i]", "v = v * w + 1.0", "w = w * 0.5 + v"), 800, 50),
    "eight variables": Family(_rolling, 1600, 100),
    "diamonds": Family(steps("v = x[i]", "a = v * 2.0", "b = v + 1.0", "v = a * b"), 1000, 50),
    "ifs in a row": Family(_ifs, 1600, 50),
    "loops in a row": Family(_loops_in_a_row, 32, 4),
    "ints": Family(
        lambda n: (
            HEAD.replace("float", "int")
            + "    v = x[i]\n"
            + "    w = c[i]\n"
            + lines(n, "v = v * w + 1", "w = w ^ v")
            + "    y[i] = v\n"
        ),
        1600,
        100,
        directions=("forward",),
    ),
    "vectors": Family(_vectors("v = cross(v, w) + v"), 200, 25),
    "vectors, scaled": Family(_vectors("v = v * dot(v, w)"), 200, 25),
    "tiles": Family(_tiles, 48, 6),
}

FAMILIES = SAME_FOR_ALL | NESTED | LONG
