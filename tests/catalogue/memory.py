"""Arrays read and written in one thread, in place, through loops, by atomics. Bodies as in `loops`."""

from __future__ import annotations

MEMORY: dict[str, str] = {
    "in place": "x[i] = sin(x[i])",
    "in place, scaled": "x[i] *= y[i]",
    "in place, divided": "x[i] /= y[i] + a",
    "in place, to a power": "x[i] = x[i] ** 3.0 * a",
    "in place, twice": "x[i] = x[i] * x[i]\nx[i] = sin(x[i])",
    "in place, thrice": "x[i] *= a\nx[i] *= x[i]\nx[i] /= y[i]",
    "read, then overwritten": "t = x[i]\ny[i] = t * t\nx[i] = 0.0 * a",
    "read after it was written": "y[i] = x[i] * x[i]\nt = y[i]\ny[i] = t * t * t",
    "written by a branch": "if x[i] > 0.9:\n    x[i] = x[i] * x[i]\ny[i] = x[i] * x[i]",
    "written by both branches": """if x[i] > 0.9:
    y[i] = y[i] * x[i]
else:
    y[i] = sin(y[i])
y[i] = y[i] * y[i]""",
    "exchanged": "t = x[i]\nx[i] = y[i] * t\ny[i] = t",
    "added to, then used": "y[i] += x[i] * a\nx[i] = y[i] * y[i]",
    "used, then added to": "x[i] = y[i] * y[i]\ny[i] += x[i] * a",
    "an index that is overwritten": "j = at[i]\nat[i] = 0\ny[i] = x[j] * x[j]",
    "an integer that decides, overwritten": "if at[i] > 0:\n    y[i] = x[i] * x[i]\nat[i] = at[i] - 1",
    "two elements of a thread": "y[2 * i] = sin(y[2 * i]) * y[2 * i + 1]\ny[2 * i + 1] = x[i] * a",
    "two elements, overwritten in turn": "t = y[2 * i]\ny[2 * i] = y[2 * i + 1] * t\ny[2 * i + 1] = t * t * y[2 * i]",
    "a row": "w[i, 0] = w[i, 1] * w[i, 2]\nw[i, 1] = w[i, 0] * w[i, 2]\nw[i, 2] = w[i, 1] * a",
    "a vector element": "p[i] = cross(p[i], p[i] * x[i] + p[i])\ny[i] = dot(p[i], p[i])",
    "a vector element's component": "v = p[i]\nv.x = v.x * v.y\np[i] = v\ny[i] = p[i].x * p[i].z",
    "an element updated in a loop": "for j in range(n):\n    y[i] = sin(y[i]) + x[j]",
    "an element scaled in a loop": "for j in range(n):\n    y[i] *= x[j]",
    "an element summed up in a loop": "for j in range(n):\n    y[i] += x[j] * x[i]",
    "an element added to with itself": "for j in range(n):\n    y[i] += x[j] * y[i]",
    "set before the loop": "y[i] = 1.0 * a\nfor j in range(n):\n    y[i] = y[i] * x[j]",
    "used after the loop": "for j in range(n):\n    y[i] = y[i] * x[j] + a\nw[i, 0] = y[i] * y[i]",
    "in a nested loop": """for j in range(n):
    for k in range(j):
        y[i] = y[i] * x[k] + a
    y[i] = y[i] * 0.5""",
    "in a while": "c = 0\nwhile c < n and y[i] < 3.0:\n    y[i] = y[i] * y[i] + x[c]\n    c += 1",
    "until the element is large": "while y[i] < 6.0:\n    y[i] = y[i] * 1.5 + x[i]",
    "by a branch in a loop": "for j in range(n):\n    if x[j] > 0.8:\n        y[i] = y[i] * x[j]",
    "and left early": "for j in range(n):\n    y[i] = y[i] * x[j] + 0.5\n    if y[i] > 1.5:\n        break",
    "with continue": "for j in range(n):\n    if j % 2 == 0:\n        continue\n    y[i] = y[i] * y[i] + x[j]",
    "a row in a loop": """for j in range(n):
    w[i, 0] = w[i, 1] * 0.9
    w[i, 1] = sin(w[i, 0]) + w[i, 2]
    w[i, 2] *= x[j]""",
    "ping-pong of two elements": """for j in range(n):
    if j % 2 == 0:
        w[i, 1] = sin(w[i, 0]) * x[j]
    else:
        w[i, 0] = cos(w[i, 1]) + a
y[i] = w[i, 0] * w[i, 1]""",
    "ping-pong of two arrays": """for j in range(n):
    y[i] = x[i] * 0.5 + a
    x[i] = y[i] * y[i]""",
    "an integer element as state": """at[i] = 1
s = x[i]
for j in range(n):
    s = s * x[at[i]] + a
    at[i] = (at[i] * 3) % 5
y[i] = s""",
    "a vector element in a loop": """for j in range(n):
    p[i] = cross(p[i], vec3d(x[j], a, 1.0)) * 0.5
y[i] = p[i].x * p[i].y""",
    "an update that the branch may skip": """for j in range(n):
    if j > i:
        y[i] = y[i] * y[i] * 0.5 + x[j]
    else:
        y[i] = y[i] + a""",
    "out of range when it is not run": """for j in range(at[i] - 2):
    y[i + 100] = y[i + 100] * 2.0
x[i] = x[i] * x[i]""",
    "rows written in a loop": "for j in range(n):\n    w[i, j] = x[j] * x[j] * a",
    "rows scaled in a loop": "for j in range(n):\n    w[i, j] = w[i, j] * w[i, j] * x[j]",
    "rows from other rows": "for j in range(n):\n    w[i, j] = sin(x[j]) * y[i]\ny[i] = y[i] * y[i]",
    "read behind the store": "for j in range(n):\n    t = x[j] * a\n    w[i, j] = t\n    w[i, j] = w[i, j] * t",
    "atomic sum": "atomic_add(y, 0, x[i] * x[i])",
    "atomic sum in a loop": "for j in range(n):\n    atomic_add(y, j % 2, x[i] * x[j])",
    "atomic sum of a carried value": """s = x[i]
for j in range(n):
    s = s * x[j] + a
    atomic_add(y, at[i], s * s)""",
    "atomic difference": "atomic_sub(y, 0, x[i] * x[i] * a)",
    "atomic counter beside": "if x[i] > 0.9:\n    atomic_add(count, 0, 1)\n    y[i] = x[i] * x[i]",
    "atomic counter in a loop": """s = x[i]
for j in range(n):
    s = s * x[j] + a
    if s > 1.0:
        atomic_add(count, 1, 1)
y[i] = s""",
    "atomic maximum of integers": "atomic_max(count, 0, int(x[i] * 10.0))\ny[i] = x[i] * x[i]",
    "histogram": "for j in range(n):\n    atomic_add(y, int(x[j] * 2.0), x[j] * x[i])",
    "gather": "for j in range(n):\n    y[i] += x[at[j % 3]] * x[at[j % 3]]",
    "stencil": "y[i + 1] = x[i] * x[i + 1] + x[i + 2] * a",
    "stencil of two kinds": "if i == 0:\n    y[i] = x[i] * x[i]\nelse:\n    y[i] = x[i - 1] * x[i] * x[i + 1]",
}

# What is refused, and what the sentence says.
REFUSED: dict[str, tuple[str, str]] = {
    "prefix product in a thread": ("for j in range(1, n):\n    w[i, j] = w[i, j - 1] * w[i, j]", "w is overwritten"),
    "insertion sort in a thread": (
        """for j in range(1, n):
    k = j
    while k > 0 and w[i, k - 1] > w[i, k]:
        t = w[i, k]
        w[i, k] = w[i, k - 1]
        w[i, k - 1] = t
        k -= 1
y[i] = w[i, 2] * w[i, 3]""",
        "w is overwritten",
    ),
    "compaction by a counter": ("k = atomic_add(count, 0, 1)\ny[k] = x[i] * x[i]", "old value"),
    "atomic maximum": ("atomic_max(y, 0, x[i] * a)", "atomic_max"),
}
