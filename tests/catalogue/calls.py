"""Funcs with loops, called in loops. Whole cells with a kernel `k` of the same parameters as in `loops`."""

from __future__ import annotations

HEAD = (
    "def k(x: array[float64], y: array[float64], w: array2d[float64], p: array[vec3d], at: array[int32], "
    "count: array[int32], a: float64, n: int32):\n    i = tid()\n"
)

# The funcs, and the body of the kernel.
CALLS: dict[str, tuple[str, str]] = {
    "a func with a loop": (
        "def power(u: float64, m: int32):\n    r = u\n    for j in range(m):\n        r = r * u\n    return r\n",
        "y[i] = power(x[i], n) * a",
    ),
    "a func with a loop, in a loop": (
        "def power(u: float64, m: int32):\n    r = u\n    for j in range(m):\n        r = r * u\n    return r\n",
        "s = x[i]\nfor q in range(n):\n    s = power(sin(s) * 0.9, q) + x[q] * 0.3\ny[i] = s",
    ),
    "a func with a while, in a while": (
        "def halved(u: float64):\n    r = u\n    while r > 1.0:\n        r = sin(r) * 0.8\n    return r\n",
        "s = x[i]\nwhile s < 6.0:\n    s = s * 1.5 + halved(s) * a\ny[i] = s",
    ),
    "a func that returns early": (
        """def first(u: float64, m: int32):
    r = u
    for j in range(m):
        r = r * 1.3 + 0.1 * u
        if r > 2.0:
            return r * r
    return r
""",
        "s = 0.0 * a\nfor q in range(n):\n    s = s * 0.5 + first(x[q], 4)\ny[i] = s",
    ),
    "two results": (
        "def turn(u: float64, v: float64, c: float64):\n    return u * cos(c) - v * sin(c), u * sin(c) + v * cos(c)\n",
        "u = x[i]\nv = 1.0 * a\nfor q in range(n):\n    u, v = turn(u, v, x[q] * u)\ny[i] = u * v",
    ),
    "a func that reads an array": (
        """def weighed(x: array[float64], u: float64, m: int32):
    s = u
    for j in range(m):
        s = s * x[j] + u
    return s
""",
        "s = x[i]\nfor q in range(3):\n    s = weighed(x, s * 0.5, n)\ny[i] = s * a",
    ),
    "a func that writes an array": (
        "def put(y: array[float64], i: int32, u: float64):\n    for j in range(3):\n        y[i] = y[i] * u + 0.1\n",
        "put(y, i, x[i])\nw[i, 0] = y[i] * a",
    ),
    "a func in a condition": (
        """def far(u: float64, m: int32):
    r = u
    for j in range(m):
        r = r + u * r * 0.1
    return r > 3.0
""",
        "s = x[i]\nwhile not far(s, n):\n    s = s * 1.2 + a * 0.3\ny[i] = s * s",
    ),
}
