"""Kernels whose code is counted beside Warp's (`cuda_code.py`): each text is both programs' but for `wp.`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A kernel: its text, the launch's dimensions, and how its arguments are made of a random generator."""

    text: str
    dims: tuple[int, ...]
    shapes: tuple[Any, ...]
    """Of each argument its shape (floats), a number, or a tuple ("int", shape, below); vectors: ("vec3", shape)."""


def _grid(name: str, body: str) -> str:
    return f"def {name}(u: array2d[float], out: array2d[float]):\n    i, j = tid()\n{body}"


CASES = {
    "saxpy": Case("def saxpy(a: float, x: array[float], y: array[float]):\n    i = tid()\n    y[i] = a * x[i] + y[i]\n",
                  (1 << 14,), (2.0, (1 << 14,), (1 << 14,))),
    "gather": Case("def gather(x: array[float], k: array[int], y: array[float]):\n    i = tid()\n    y[i] = x[k[i]]\n",
                   (1 << 14,), ((1 << 14,), ("int", (1 << 14,), 1 << 14), (1 << 14,))),
    "copy4": Case("def copy4(x: array[vec4], y: array[vec4]):\n    i = tid()\n    y[i] = x[i] * 2.0\n",
                  (1 << 13,), (("vec4", (1 << 13,)), ("vec4", (1 << 13,)))),
    "axpy2d": Case("def axpy2d(a: float, u: array2d[float], out: array2d[float]):\n    i, j = tid()\n"
                   "    out[i, j] = a * u[i, j] + out[i, j]\n", (128, 128), (0.5, (128, 128), (128, 128))),
    "stencil": Case(_grid("stencil", """    if i > 0 and i < u.shape[0] - 1 and j > 0 and j < u.shape[1] - 1:
        out[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
"""), (128, 128), ((128, 128), (128, 128))),
    "blur": Case(_grid("blur", """    s = float(0.0)
    n = float(0.0)
    for di in range(-2, 3):
        for dj in range(-2, 3):
            a = i + di
            b = j + dj
            if a >= 0 and a < u.shape[0] and b >= 0 and b < u.shape[1]:
                s += u[a, b]
                n += 1.0
    out[i, j] = s / n
"""), (128, 128), ((128, 128), (128, 128))),
    "heat3d": Case("""def heat3d(u: array3d[float], out: array3d[float], k: float):
    i, j, l = tid()
    if i > 0 and i < u.shape[0] - 1 and j > 0 and j < u.shape[1] - 1 and l > 0 and l < u.shape[2] - 1:
        around = u[i - 1, j, l] + u[i + 1, j, l] + u[i, j - 1, l] + u[i, j + 1, l] + u[i, j, l - 1] + u[i, j, l + 1]
        out[i, j, l] = u[i, j, l] + k * (around - 6.0 * u[i, j, l])
""", (24, 24, 32), ((24, 24, 32), (24, 24, 32), 0.1)),
    "nbody": Case("""def nbody(p: array[vec3], f: array[vec3]):
    i = tid()
    total = vec3(0.0, 0.0, 0.0)
    for j in range(p.shape[0]):
        d = p[j] - p[i]
        r = dot(d, d) + 0.01
        total += d * (1.0 / (r * sqrt(r)))
    f[i] = total
""", (256,), (("vec3", (256,)), ("vec3", (256,)))),
    "poly": Case("""def poly(x: array[float], y: array[float], terms: int):
    i = tid()
    v = float(0.0)
    for k in range(terms):
        v = v * x[i] + 0.5
    y[i] = v
""", (1 << 12,), ((1 << 12,), (1 << 12,), 64)),
    "matvec": Case("""def matvec(m: array2d[float], x: array[float], y: array[float]):
    i = tid()
    s = float(0.0)
    for j in range(m.shape[1]):
        s += m[i, j] * x[j]
    y[i] = s
""", (512,), ((512, 64), (64,), (512,))),
    "sum": Case("def sum(x: array[float], y: array[float]):\n    i = tid()\n    atomic_add(y, 0, x[i] * x[i])\n",
                (1 << 20,), ((1 << 20,), (1,))),
    "histogram": Case("def histogram(k: array[int], y: array[int]):\n    i = tid()\n    atomic_add(y, k[i], 1)\n",
                      (1 << 14,), (("int", (1 << 14,), 256), ("int", (256,), 1))),
    "maths": Case("""def maths(x: array[float], y: array[float]):
    i = tid()
    y[i] = sin(x[i]) * exp(x[i]) + sqrt(abs(x[i]) + 1.0)
""", (1 << 13,), ((1 << 13,), (1 << 13,))),
    "norms": Case("def norms(p: array[vec3], y: array[float]):\n    i = tid()\n    y[i] = length(p[i])\n",
                  (1 << 12,), (("vec3", (1 << 12,)), (1 << 12,))),
    "transposed": Case("def transposed(u: array2d[float], out: array2d[float]):\n    i, j = tid()\n"
                       "    out[j, i] = u[i, j]\n", (64, 96), ((64, 96), (96, 64))),
    "clamped": Case("def clamped(x: array[float], y: array[float]):\n    i = tid()\n"
                    "    y[i] = max(0.25, min(x[i], 0.75))\n", (1 << 12,), ((1 << 12,), (1 << 12,))),
    "softplus": Case("def softplus(x: array[float], y: array[float]):\n    i = tid()\n"
                     "    y[i] = log(1.0 + exp(x[i]))\n", (1 << 12,), ((1 << 12,), (1 << 12,))),
    "dots": Case("def dots(x: array[float], y: array[float], out: array[float]):\n    i = tid()\n"
                 "    atomic_add(out, 0, x[i] * y[i])\n", (1 << 17,), ((1 << 17,), (1 << 17,), (1,))),
    "scatter": Case("def scatter(x: array[float], k: array[int], y: array[float]):\n    i = tid()\n"
                    "    atomic_add(y, k[i], x[i])\n", (1 << 12,),
                    ((1 << 12,), ("int", (1 << 12,), 1 << 12), (1 << 12,))),
    "integrate": Case("""def integrate(p: array[vec3], v: array[vec3], f: array[vec3], q: array[vec3], dt: float):
    i = tid()
    w = v[i] + f[i] * dt
    q[i] = p[i] + w * dt
""", (1 << 12,), (*(("vec3", (1 << 12,)),) * 4, 0.01)),
    "rotate": Case("""def rotate(p: array[vec3], a: array[vec3], out: array[vec3]):
    i = tid()
    k = normalize(a[i])
    c = cos(0.3)
    s = sin(0.3)
    out[i] = p[i] * c + cross(k, p[i]) * s + k * (dot(k, p[i]) * (1.0 - c))
""", (1 << 12,), (("vec3", (1 << 12,)),) * 3),
    "spring": Case("""def spring(p: array[vec3], a: array[int], b: array[int], rest: array[float], f: array[vec3]):
    i = tid()
    d = p[b[i]] - p[a[i]]
    l = length(d) + 0.001
    g = d * (10.0 * (l - rest[i]) / l)
    atomic_add(f, a[i], g)
    atomic_add(f, b[i], g * (0.0 - 1.0))
""", (1 << 12,), (("vec3", (1024,)), ("int", (1 << 12,), 1024),
                 ("int", (1 << 12,), 1024), (1 << 12,), ("vec3", (1024,)))),
    "rows": Case("""def rows(m: array2d[float], y: array[float]):
    i = tid()
    s = float(0.0)
    for j in range(m.shape[1]):
        s += m[i, j] * m[i, j]
    y[i] = s
""", (512,), ((512, 64), (512,))),
    "matmul": Case("""def matmul(a: array2d[float], b: array2d[float], c: array2d[float]):
    i, j = tid()
    s = float(0.0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s
""", (64, 64), ((64, 32), (32, 64), (64, 64))),
    "slopes": Case("""def slopes(u: array2d[float], out: array2d[float]):
    i, j = tid()
    n = u.shape[0]
    m = u.shape[1]
    a = u[(i + 1) % n, j] - u[(i + n - 1) % n, j]
    b = u[i, (j + 1) % m] - u[i, (j + m - 1) % m]
    out[i, j] = sqrt(a * a + b * b + 0.01)
""", (64, 64), ((64, 64), (64, 64))),
    "wave": Case("""def wave(u: array2d[float], old: array2d[float], out: array2d[float], c: float):
    i, j = tid()
    if i > 0 and i < u.shape[0] - 1 and j > 0 and j < u.shape[1] - 1:
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
        out[i, j] = 2.0 * u[i, j] - old[i, j] + c * around
""", (64, 64), ((64, 64), (64, 64), (64, 64), 0.1)),
    "taps": Case("""def taps(x: array[float], w: array[float], y: array[float]):
    i = tid()
    s = float(0.0)
    for k in range(5):
        j = i + k - 2
        if j >= 0 and j < x.shape[0]:
            s += w[k] * x[j]
    y[i] = s
""", (1 << 12,), ((1 << 12,), (5,), (1 << 12,))),
    "interpolate": Case("""def interpolate(t: array[float], x: array[float], y: array[float]):
    i = tid()
    at = x[i] * 254.0
    k = int(floor(at))
    f = at - float(k)
    y[i] = t[k] * (1.0 - f) + t[k + 1] * f
""", (1 << 12,), ((256,), (1 << 12,), (1 << 12,))),
    "mandelbrot": Case("""def mandelbrot(x: array[float], y: array[float], out: array[int]):
    i = tid()
    a = float(0.0)
    b = float(0.0)
    n = int(0)
    while n < 50 and a * a + b * b < 4.0:
        t = a * a - b * b + x[i] * 2.0 - 1.5
        b = 2.0 * a * b + y[i]
        a = t
        n += 1
    out[i] = n
""", (1 << 12,), ((1 << 12,), (1 << 12,), ("int", (1 << 12,), 1))),
    "logistic": Case("""def logistic(x: array[float], y: array[float]):
    i = tid()
    v = x[i]
    for k in range(8):
        v = 3.7 * v * (1.0 - v)
    y[i] = v
""", (1 << 12,), ((1 << 12,), (1 << 12,))),
    "bounce": Case("""def bounce(p: array[vec3], v: array[vec3], q: array[vec3], dt: float):
    i = tid()
    w = p[i] + v[i] * dt
    if w[1] < 0.5:
        w = vec3(w[0], 1.0 - w[1], w[2])
    q[i] = w
""", (1 << 12,), (("vec3", (1 << 12,)), ("vec3", (1 << 12,)), ("vec3", (1 << 12,)), 0.01)),
    "roots": Case("""def roots(a: array[float], b: array[float], y: array[float]):
    i = tid()
    d = b[i] * b[i] - 0.3 * a[i]
    if d > 0.0:
        y[i] = (sqrt(d) - b[i]) / (2.0 * a[i] + 0.1)
    else:
        y[i] = 0.0
""", (1 << 12,), ((1 << 12,), (1 << 12,), (1 << 12,))),
    "scan_rows": Case("""def scan_rows(m: array2d[float], out: array2d[float]):
    i = tid()
    s = float(0.0)
    for j in range(m.shape[1]):
        s += m[i, j]
        out[i, j] = s
""", (512,), ((512, 32), (512, 32))),
    "quads": Case("""def quads(x: array[float], y: array[float]):
    i = tid()
    y[i] = x[4 * i] * x[4 * i + 1] + x[4 * i + 2] * x[4 * i + 3]
""", (1 << 12,), ((1 << 14,), (1 << 12,))),
}  # fmt: skip
