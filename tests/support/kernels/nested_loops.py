"""Kernels with more loops than a pass takes at once: which of them it takes must not be left to chance."""

_CONVOLUTION = """\
def k(x: array3d[float32], w: array4d[float32], y: array3d[float32]):
    o, i, j = tid()
    s = float32(0)
    for c in range(w.shape[1]):
        for u in range(3):
            for v in range(3):
                s += x[c, i + u, j + v] * w[o, c, u, v]
    y[o, i, j] = s * s
"""
_TWO = """\
def k(x: array3d[float32], w: array4d[float32], y: array3d[float32]):
    o, i, j = tid()
    s = float32(0)
    for c in range(w.shape[1]):
        for u in range(3):
            for v in range(3):
                s += x[c, i + u, j + v] * w[o, c, u, v]
    t = float32(0)
    for d in range(w.shape[1]):
        for p in range(3):
            for q in range(3):
                t += abs(x[d, i + p, j + q] - s) * w[o, d, p, q]
    y[o, i, j] = s + t
"""
NESTED = {"nested: a convolution": _CONVOLUTION, "nested: two in a row": _TWO}
