"""Kernels that are plain Python: Python itself runs the same text, and the numbers are the same; so are slopes."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning

X = np.array([-2.05, -1.1, -0.55, 0.3, 0.9, 1.7, 3.1])
# Statements of a kernel that reads x[i] and sets y[i]; where the slope does not exist at X, none is here.
BODIES = {
    "early exits": """
        a = x[i]
        if a < -1.5:
            y[i] = -a
            return
        for j in range(10):
            if a > 4.0: break
            if j % 3 == 1: continue
            a = a*1.5 + 0.25
        y[i] = a""",
    "a loop takes the thread's name": """
        x2 = x[i]
        i2 = i
        for i in range(3):
            x2 = x2*x2*0.5 + float64(i)
        y[i2] = x2""",
    "names of builtins": """
        sin = x[i]*2.0
        max = sin + 1.0
        y[i] = max*sin""",
    "chained comparisons": """
        a = x[i]
        y[i] = a if -1.0 <= a < 1.0 < a + 2.0 else (2.0*a if not a > 0.0 else a*a)""",
    "floors of integers": """
        n = int(x[i]*3.7)
        m = i - 3
        y[i] = float64(n // 3)*100.0 + float64(n % 3)*10.0 + float64(m // -2) + float64(m % -2)*0.1 + x[i]""",
    "floors of floats": "y[i] = x[i] % 0.75 + (x[i] // 0.75)*10.0 + (x[i] % -0.75)*100.0",
    "bits": """
        n = i*37 - 100
        y[i] = x[i]*float64((n & 29) + (n | 6) + (n ^ -5) + (n >> 2) + (n << 3) + (~n))""",
    "tuples change places": """
        a, b, c = x[i], 1.0, 2.0
        for j in range(5):
            a, b, c = b, c + a*0.5, a - b
        (a, b), c = (c, a), b
        y[i] = a + 10.0*b + 100.0*c""",
    "while and else": """
        a = x[i]
        n = 0
        while n < 5:
            a = a*1.3 + 0.1
            n += 1
            if a > 3.0: break
        else:
            a = -a
        y[i] = a + float64(n)""",
    "steps down": """
        s = 0.0
        for j in range(i, -4, -2): s = s*0.5 + float64(j)*x[i]
        for j in range(3, i): s += 1.0
        y[i] = s""",
    "a range's end and name change inside": """
        s = 0.0
        n = i
        for j in range(n):
            n = 100
            j = j*2
            s += float64(j)*x[i]
        y[i] = s + float64(n)""",
    "in place": """
        y[i] = x[i]
        y[i] *= y[i]
        y[i] = y[i] + x[i]*y[i]""",
    "from the end": "y[-1 - i] = x[i]*x[-1] + x[i - len(x)]",
    "parts": """
        v = x[1:-1]
        w = x[::-1]
        s = 0.0
        for j in range(len(v)): s += v[j]*w[j]
        y[i] = s + w[i] + v[-1] + x[2:100][0] + float64(len(x[9:]))""",
    "breaks of two loops": """
        s = 0.0
        for a in range(4):
            for b in range(4):
                if a*b > i: break
                if (a + b) % 2 == 0: continue
                s += x[i]*float64(a - b)
            else:
                s += 0.125
                continue
            if a == 2: break
            s *= 1.5
        y[i] = s""",
    "operators in place": """
        a = x[i]
        a += 2.0; a *= a; a -= 0.5; a /= 3.0
        n = i + 5
        n //= 2; n %= 3; n <<= 2; n |= 1; n ^= 3; n **= 2
        y[i] = a + float64(n)""",
    "enumerate and zip": """
        s = 0.0
        for n, w in enumerate((0.5, 1.5, 2.5)): s += float64(n)*w*x[i]
        for a, b in zip((1.0, 2.0), (3.0, 4.0)): s += a*b
        y[i] = s""",
    "powers": "y[i] = x[i]**3 + abs(x[i])**0.5 + 2.0**x[i] + x[i]**-2 + x[i]**0",
    "an integer that becomes a float": """
        s = 0
        for j in range(3): s = s + x[i]
        y[i] = s*i + i/2 + 3""",
    "a loop that only a return ends": "y[i] = first(x[i])",
    "results of several returns": """
        p, q = pair(x[i])
        y[i] = p + 10.0*q + pair(q=0.5, a=x[i])[0]""",
    "cases of a match": """
        s = 0.0
        for j in range(4):
            match i - j:
                case 0 | 5: s += x[i]
                case 1:
                    if j == 2: break
                    continue
                case m if m < 0: s += float64(m)*x[i]*x[i]
                case 2 as m: s *= float64(m)
                case other: s -= float64(other)
        match (i % 2, i % 3):
            case (0, n) if n > 0: s += 1.5*float64(n)*x[i]
            case (1, 2): s -= x[i]
            case (_, 0): pass
            case (a, b):
                y[i] = s*x[i] + float64(a*10 + b)
                return
        y[i] = s""",
    "a tuple's rest, and a choice of tuples": """
        first, *rest, last = (x[i], 2.0, 3.0, 4.0) if i % 2 == 0 else (1.0, x[i], x[i]*x[i], 5.0)
        *none, a, b = first, last
        y[i] = first + 10.0*rest[0]*rest[1] + 100.0*last*a*b + float64(len(none) + len(rest))""",
    "choices of funcs and arrays": """
        y[i] = (first if i % 2 == 0 else abs)(x[i])
        s = 0.0
        for j in range(3): s += (x if j > 1 else x[2:])[j]
        y[i] += s*x[i]""",
    "tuples in branches and loops": """
        p = (x[i], 1)
        q = ((0.5, i), x[i]*x[i])
        for j in range(4):
            if j > i: p = (p[1], p[0])
            else: p = pair(p[0]*0.5)
            (a, n), b = q
            q = ((b*0.5, n + 1), a)
            if n > 6: break
        for j in range(3): r = (x[j], j)
        s, p = r[0]*float64(r[1]), (p[0] + r[0], p[1])
        y[i] = s + p[0] + 10.0*p[1] + q[0][0]*q[1] + float64(q[0][1])""",
    "parts of arrays in branches and loops": """
        v = x[1:5]
        if i % 2 == 0: v = x[i // 2:i]
        w = x[i:] if i < 3 else x[:i]
        s = 0.0
        while len(w) > 1:
            h = len(w) // 2
            s += w[0]*w[h]
            w = w[h:] if x[i] > 0.0 else w[:h]
        for j in range(3):
            s = s*0.5 + float64(len(v))*w[-1]
            for a in v: s += a*x[i]
            v = x[j:2*j + 1]
        y[i] = s""",
    "and, or of numbers": """
        n = i and 5 or i + 2
        a = x[i] if i and x[i] > 0.0 else 0.25
        b = x[i]*float64(i - 3) or 1.5
        b *= x[i] > 0.0 and 0.1 or 0.7
        while n and x[n % 7] > -3.0: n -= 1
        y[i] = a*float64(n or 3) + b*float64((i > 3) or 2*i)""",
    "what tuples add up to": """
        s = sum(x[j]*w for j, w in enumerate((0.5, 0.25, 2.0))) + sum((x[i], i, 2), 0.5)
        s += sum(x[a]*x[b]*0.1 for a in range(5) if a % 2 == 0 for b in range(a))
        if any(v > x[i] for v in (x[0], x[4])) and not all((i, x[i])): s *= 2.0
        t = tuple(j*x[i] for j in range(3)) + (1.0,)*2
        a, *b = t[1::2]
        y[i] = s*max(t) + a*b[0] + min(t) + float64(len(t))""",
    "operators of tuples": """
        t = (x[i], 0.1, 3)
        s = t[i % 3] + (0.1, 0.7)[i % 2 - 1]*t[-1]
        if (i % 2, (i, 2)) == (1, (3, 2)): s += 10.0
        if (i, 1) != (2, 1) and i*3 in range(2, 20, 4): s += 100.0
        q, r = divmod(2*i - 5, 3)
        a, b = divmod(x[i], 0.75)
        y[i] = s + float64(q*10 + r) + a*b + pow(x[i], 3) + float64(pow(i, 2))""",
    "arrays beside arrays": """
        s, least = 0.0, float('inf')
        for j, (a, w) in enumerate(zip(x, (0.5, 0.1, 2.0, 1.0)), 1): s += a*w*float64(j)
        for a, b, j in zip(x[1:], x[::-1], range(3, i + 9, 2)):
            if j > 9: break
            s = s*0.5 + a*b*float64(j)
        for a in reversed(x):
            s = s*0.25 + a
            least = min(least, a*x[i])
        y[i] = s + least""",
    "names in expressions": """
        s = (a := x[i]*2.0) + (b := a + 1.0)*a*b
        for j in range(3):
            if (s := s*0.5 + x[j]) > 1.0: s = s*0.5
        if (n := i % 3) == 0: y[i] = s
        elif (m := n*2) == 2: y[i] = s*float64(m) + x[i]
        else: y[i] = s*float64(n)""",
    "orders of tuples": """
        a: float64
        a, s = 0.5, 0.0
        if (i, a) < (3, x[i]): s += 1.0
        if (2, x[i], 1) >= (i, 0.3): s += 2.0
        if (1, (i, 2.0)) <= (1, (4, x[i])) < (2,): s += 4.0
        if (i,) > (i, x[i]) or (x[i], 1) <= (x[i], 1): s += 8.0
        y[i] = s*x[i]""",
    "what math knows of numbers": """
        s = x[i]*float64(math.comb(5, 2) + math.factorial(3)) + math.prod((x[i], 2, 1.5, i))
        y[i] = s + float64(math.prod(())) + math.prod(x[j] for j in range(3))""",
    "a list whose elements are assigned": """
        a = [float64(0.0)]*6
        a[-1] = x[i]
        for j in range(5): a[j] = x[j]*a[j - 1] + 0.1
        for j in range(4):
            for m in range(5):
                if a[m] > a[m + 1]: a[m], a[m + 1] = a[m + 1], a[m]
        y[i] = a[i % 6] + sum(a)*0.1 + max(a)*min(a[1:4]) + float64(len(a))""",
    "lists that only are read": """
        w, s = (0.0, 0.0), 1.0
        taps = [0.25, 0.5, x[i]]
        moves = [(0, 1), (1, -1), [2, 2]]
        for j in range(3): s += taps[j]*x[(i + j) % 5]
        for a, b in moves: s = s*0.5 + float64(b)*x[a]
        twice = [v*2.0 for v in taps]
        for j, t in enumerate(twice): s += t*float64(j)
        y[i] = s + sum(taps) + (10.0 if i in [1, 3] else 0.0)""",
    "lists of lists": """
        grid = [[float64(0.0)]*3 for _ in range(4)]
        turn = [[float64(0.6), -0.8], [0.8, 0.6]]
        for a in range(4):
            for b in range(3): grid[a][b] += x[a]*x[b] + float64(a - b)
        grid[i % 4][i % 3] *= 2.0
        r = [float64(0.0), float64(0.0)]
        for a in range(2):
            for b in range(2): r[a] += turn[a][b]*grid[b][i % 3]
        y[i] = r[0]*r[1] + grid[3][2] + float64(len(grid)*10 + len(grid[0]))""",
    "min and max of one element": """
        a = [x[i]]
        y[i] = max(a)*min((x[i] + 1.0,)) + float64(max((i, 3)[1:]))""",
    "parts of lists": """
        a = [float64(0.0)]*5
        for j in range(len(a)): a[j] = x[j]*float64(j)
        a[i % 5] += sum(a[1:])*max(a[:3]) + a[2:][1]
        rows = [[1, 2, 3], [4, 5, 6]]
        both = rows[0][:2] + rows[1][1:]
        y[i] = sum(a) + float64(len(both)*10 + both[i % 4])""",
    "a list as a stack": """
        stack = [float64(0.0)]*8
        top, n, s = 0, i + 3, 0.0
        while n > 0:
            stack[top] = float64(n % 2)*x[i]
            top += 1
            n //= 2
        while top > 0:
            top -= 1
            s = s*1.5 + stack[top]
        y[i] = s""",
    "lists by way of a branch": """
        a = [1.0, x[i]]
        if i > 2: a = [x[i], 3.0]
        else: a[0] = x[0]*2.0
        y[i] = a[0]*a[i % 2]""",
    "defaults that are funcs, tuples and bools": "y[i] = scaled(x[i]) + scaled(x[i], (0.5, 4.0), up=False)",
}
FUNCS = """
def first(a: float64):
    while True:
        if a > 50.0: return a
        if a < 1.0: return -a
        a = a*2.0
def pair(a: float64, q: float64 = 3.0):
    if a < 0.0: return -a, a*a
    s = 0.0
    for j in range(4):
        if a*float64(j) > q: return s, float64(j)
        s += a
    return s, 9.0
def scaled(a: float64, by=(2.0, 0.25), how=first, up=True):
    b = how(a)*by[1]
    return b*by[0] if up else b - by[0]
"""


class Numbers(list[float]):
    """A list whose parts are views enough: they are only read."""

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Numbers(found) if isinstance(index, slice) else found


class Annotation:
    def __class_getitem__(cls, item: object) -> object:
        return item


def by_python(text: str) -> np.ndarray[Any, Any]:
    x, y = Numbers(X.tolist()), [0.0] * len(X)
    names: dict[str, Any] = {"float64": float, "array": Annotation, "math": math}
    exec(text, names)
    for thread in range(len(X)):
        names["tid"] = lambda here=thread: here
        names["k"](x, y)
    return np.array(y)


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", BODIES)
def test_numbers_and_slopes_are_pythons(name: str) -> None:
    body = textwrap.indent(textwrap.dedent(BODIES[name]).strip("\n"), "    ")
    text = f"{FUNCS}def k(x: array[float64], y: array[float64]):\n    i = tid()\n{body}\n"
    y, interpreted = meaning.results(text, X, {"math": math})
    np.testing.assert_allclose(y, by_python(text), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(interpreted, y, rtol=1e-13, atol=1e-13)
    kernel, weights, step = meaning.define(text, {"math": math})["k"], np.cos(np.arange(len(X))), 1e-6

    def total(at: np.ndarray[Any, Any]) -> float:
        out = wb.zeros(len(X), wb.float64)
        wb.launch(kernel, len(X), inputs=[wb.array(at)], outputs=[out])
        return float(out.numpy() @ weights)

    x, out = wb.array(X, requires_grad=True), wb.zeros(len(X), wb.float64)
    with wb.Tape() as tape:
        wb.launch(kernel, len(X), inputs=[x], outputs=[out])
    tape.backward(grads={out: weights})
    moves = np.eye(len(X)) * step
    slopes = [(total(X + move) - total(X - move)) / (2 * step) for move in moves]
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-5, atol=1e-6)
