"""Loops of every shape. Bodies of a kernel (x, y, w, p, at, count, a, n); see `test_catalogue.py` for the arguments."""

from __future__ import annotations

LOOPS: dict[str, str] = {
    "product": "s = 1.0 * a\nfor j in range(n):\n    s *= x[j]\ny[i] = s",
    "product of a static range": "s = 1.0 * a\nfor j in range(4):\n    s *= x[j] + x[i]\ny[i] = s",
    "static range too long to write out": "s = x[i]\nfor j in range(700):\n    s = sin(s) * 0.9 + 0.1 * a\ny[i] = s",
    "trip count 0": "s = x[i] * a\nfor j in range(n - n):\n    s = s * s\ny[i] = s * s",
    "trip count 1": "s = x[i] * a\nfor j in range(n - 5):\n    s = s * s\ny[i] = s * s",
    "trip count from an array": "s = x[i]\nfor j in range(at[i]):\n    s = s * x[j] + a\ny[i] = s",
    "trip count from a float": "s = x[i]\nfor j in range(int(x[i] * 3.0)):\n    s = s * s + x[j]\ny[i] = s",
    "more iterations than slots": "s = x[i]\nfor j in range(n * 7):\n    s = s * 0.5 + sin(s) * x[j % 6]\ny[i] = s",
    "a step": "s = x[i]\nfor j in range(0, n, 2):\n    s = s * x[j] + a\ny[i] = s",
    "a step that misses the end": "s = x[i]\nfor j in range(0, n, 4):\n    s = s * x[j] + a\ny[i] = s",
    "downwards": "s = x[i]\nfor j in range(n - 1, -1, -1):\n    s = s * x[j] + a\ny[i] = s",
    "downwards by three": "s = x[i]\nfor j in range(n - 1, 0, -3):\n    s = s * x[j] + a\ny[i] = s",
    "a step from an array": "s = x[i]\nfor j in range(0, n, at[i] + 1):\n    s = s * x[j] + a\ny[i] = s",
    "unsigned index": "s = x[i]\nfor j in range(uint32(1), uint32(n), uint32(2)):\n    s = s * x[int(j)] + a\ny[i] = s",
    "64-bit index": "s = x[i]\nfor j in range(int64(n)):\n    s = s * x[j] + a\ny[i] = s",
    "the index as a float": "s = x[i]\nfor j in range(n):\n    s = s * (1.0 + 0.1 * float64(j)) * a\ny[i] = s",
    "while on a value": "s = x[i]\nwhile s < 9.0:\n    s = s * 1.7 + a\ny[i] = s * s",
    "while that never runs": "s = x[i] + 20.0\nwhile s < 9.0:\n    s = s * s\ny[i] = s * a",
    "while with a counter": "s = x[i]\nc = 0\nwhile c < n:\n    s = s * x[c] + a\n    c += 1\ny[i] = s",
    "while that doubles its counter": """s = x[i]
c = 1
while c < 100:
    s = s * 0.7 + sin(s * float64(c) * 0.02)
    c *= 2
y[i] = s""",
    "while on two conditions": """s = x[i]
c = 0
while c < n and s < 4.0:
    s = s * s * 0.8 + x[c]
    c += 1
y[i] = s * float64(c)""",
    "Newton's square root": """s = 1.0 * a
while abs(s * s - x[i]) > 1e-13:
    s = 0.5 * (s + x[i] / s)
y[i] = s""",
    "break on a value": """s = x[i]
for j in range(n):
    s = s * x[j] + 0.4
    if s > 1.6:
        break
y[i] = s * s""",
    "break before the update": """s = x[i]
for j in range(n):
    if s > 1.6:
        break
    s = s * x[j] + 0.6
y[i] = s * s""",
    "break of a while": """s = x[i]
while True:
    s = s * 1.3 + a
    if s > 8.0:
        break
y[i] = s * s""",
    "break from two places": """s = x[i]
for j in range(n):
    if s > 5.0:
        break
    s = s * s * 0.6 + x[j]
    if s < 0.1:
        break
    s = s * a
y[i] = s""",
    "continue": """s = x[i]
for j in range(n):
    if s > 1.2:
        s = s * 0.4
        continue
    s = s * s + x[j]
y[i] = s * s""",
    "continue in a while": """s = x[i]
c = 0
while c < n:
    c += 1
    if c % 2 == 0:
        continue
    s = s * x[c - 1] + a
y[i] = s""",
    "else of a loop that ends": """s = x[i]
for j in range(n):
    s = s * x[j]
    if s > 50.0:
        break
else:
    s = s * s + a
y[i] = s""",
    "else of a loop that is left": """s = x[i]
for j in range(n):
    s = s * 1.5 + x[j]
    if s > 2.5:
        break
else:
    s = s * 100.0
y[i] = s * s""",
    "else of a while": """s = x[i]
while s < 3.0:
    s = s * s + 1.0
else:
    s = sin(s)
y[i] = s""",
    "return in a loop": """s = x[i]
for j in range(n):
    s = s * x[j] + 0.5
    if s > 1.5:
        y[i] = s * s
        return
y[i] = sin(s)""",
    "return in a nested loop": """s = x[i]
for j in range(n):
    for k in range(3):
        s = s * x[k] + 0.4 * a
        if s > 1.45:
            y[i] = s * s
            return
y[i] = sin(s)""",
    "return before a loop": """if i == 1:
    y[i] = x[i] * x[i]
    return
s = x[i]
for j in range(n):
    s = s * x[j] + a
y[i] = s""",
    "nested": """s = x[i]
for j in range(n):
    for k in range(j):
        s = s * 0.9 + x[k] * s * 0.1
y[i] = s""",
    "nested three deep": """s = x[i]
for j in range(3):
    for k in range(n - 3):
        for l in range(j + k):
            s = sin(s) + 0.2 * x[l] * s
y[i] = s""",
    "inner state starts anew": """s = 1.0 * a
for j in range(n):
    t = x[j]
    for k in range(j + 1):
        t = t * x[k]
    s = s + t * s
y[i] = s""",
    "inner bounds from outer state": """s = x[i]
c = 1
for j in range(n):
    for k in range(c):
        s = s * 0.8 + sin(s) * x[k]
    c = (c * 2 + 1) % 5
y[i] = s""",
    "break of the inner loop alone": """s = x[i]
for j in range(n):
    for k in range(n):
        s = s * 1.1 + x[k] * 0.3
        if s > 2.0:
            break
    s = s * 0.4
y[i] = s * s""",
    "while in for": """s = x[i]
for j in range(n):
    t = s
    while t > 0.3:
        t = sin(t) * 0.7
    s = s + t * x[j]
y[i] = s""",
    "for in while": """s = x[i]
while s < 20.0:
    for j in range(3):
        s = s + x[j] * s
y[i] = s""",
    "two loops in turn": """s = x[i]
for j in range(n):
    s = s * x[j] + a
for j in range(n):
    s = sin(s) + x[j]
y[i] = s""",
    "a loop in a branch": """s = x[i]
if i > 0:
    for j in range(n):
        s = s * x[j] + a
y[i] = s * s""",
    "a loop in both branches": """s = x[i]
if s > 0.9:
    for j in range(n):
        s = s * x[j] + a
else:
    while s < 5.0:
        s = s * s + 1.0
y[i] = s * s""",
    "branches in a loop": """s = x[i]
for j in range(n):
    if s > 1.0:
        s = s * x[j]
    elif s > 0.5:
        s = sin(s) + x[j]
    else:
        s = s * s + a
y[i] = s""",
    "sum": "s = 0.0 * a\nfor j in range(n):\n    s += sin(x[j]) * a\ny[i] = s * s",
    "linear recurrence": "s = x[0]\nfor j in range(n):\n    s = 0.5 * s + x[j] * x[i]\ny[i] = s * s",
    "last one wins": "s = 1.0 * a\nfor j in range(n):\n    s = x[j] * x[j]\ny[i] = s",
    "a value that stays until late": """s = x[i]
t = x[0]
for j in range(n):
    s = s * t + a
    if j == 4:
        t = s * 0.5
y[i] = s""",
    "maximum": "s = x[0]\nfor j in range(n):\n    s = max(s, x[j])\ny[i] = s * a",
    "minimum by a branch": "s = x[0]\nfor j in range(1, n):\n    if x[j] < s:\n        s = x[j]\ny[i] = s * s",
    "index of the maximum": """m = 0
for j in range(1, n):
    if x[j] > x[m]:
        m = j
y[i] = x[m] * x[m] * a""",
}
