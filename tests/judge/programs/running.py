"""What a loop carries and its gradient needs no history of: running extremes in every spelling, flags, permutations.

Rows have ties (whole numbers), zeros of both signs, infinities, and NaNs that a spelling takes, keeps or passes over;
loops may have no turn.
"""

from __future__ import annotations

import numpy as np

from tests.judge.program import Argument, Program
from tests.judge.programs.building import array, floats, integers, output, program

SPELLINGS: dict[str, str] = {
    "max": "m = wb.max(m, x[i, j])",
    "max, the other way round": "m = wb.max(x[i, j], m)",
    "min": "m = wb.min(m, x[i, j])",
    "max of a product": "m = wb.max(m, x[i, j] * x[i, j] - x[i, 0])",
    "where above": "m = wb.where(x[i, j] > m, x[i, j], m)",
    "where not below": "m = wb.where(x[i, j] >= m, x[i, j], m)",
    "where it stays above": "m = wb.where(m > x[i, j], m, x[i, j])",
    "where it stays at least": "m = wb.where(m >= x[i, j], m, x[i, j])",
    "where below": "m = wb.where(x[i, j] < m, x[i, j], m)",
    "if above": "if x[i, j] > m:\n    m = x[i, j]",
    "if not above": "if not x[i, j] > m:\n    m = m + 0.0 * 0.0\nelse:\n    m = x[i, j]",
    "if it does not stay": "if m >= x[i, j]:\n    pass\nelse:\n    m = x[i, j]",
    "some turns": "if j % 3 != 1:\n    m = wb.max(m, x[i, j])",
    "some turns by data": "if x[i, j] < 1.5:\n    m = wb.max(m, x[i, j])",
    "both": "m = wb.max(m, x[i, j])\nm = wb.where(x[j, i] > m, x[j, i], m)",
    "looked at": "m = wb.max(m, x[i, j])\nv = v + m * x[i, j]",
    "looked at before": "v = v + m * 0.5\nm = wb.max(m, x[i, j])",
    "and the least": "m = wb.max(m, x[i, j])\nv = wb.min(v, x[i, j])",
    "its place": "if x[i, j] > m:\n    m = x[i, j]\n    v = x[j, i] * 3.0",
    "its place, by where": "c = x[i, j] > m\nm = wb.where(c, x[i, j], m)\nv = wb.where(c, x[j, i], v)",
    "the others' place": "if x[i, j] > m:\n    m = x[i, j]\nelse:\n    v = x[j, i] * 3.0",
    "how often": "if x[i, j] > m:\n    m = x[i, j]\n    v = v + x[j, i]",
    "inner loops": "for u in range(n):\n    m = wb.max(m, x[j, u] * x[i, j])",
    "inner loops, of some": "for u in range(j):\n    if x[j, u] > m:\n        m = x[j, u]",
    "reset": "m = wb.max(m, x[i, j])\nif j == 4:\n    m = x[i, 1]",
    "then added to": "m = wb.max(m, x[i, j]) + 0.125",
}  # fmt: skip
HEADS = {
    "": "for j in range(n):",
    ", down": "for j in range(n - 1, -1, -1):",
    ", by steps": "for j in range(0, n, 2):",
}

_random = np.random.default_rng(5)
_whole = _random.integers(-2, 3, (12, 12)).astype(np.float32)
_whole[_whole == 0] *= np.where(_random.random((_whole == 0).sum()) < 0.5, -1, 1)
_odd = _whole.copy()
_odd[2, 3], _odd[4, 11], _odd[5, 0], _odd[6, 7], _odd[7, 2] = np.inf, -np.inf, np.inf, -np.inf, np.inf
_nans = _whole.copy()
_nans[1, 0], _nans[2, 11], _nans[3, 5], _nans[4, 5], _nans[4, 6] = (np.nan,) * 5
_nans[8] = [2, 1, np.nan, 0, -1, -2, -1, -3, -2, -1, -4, -1]  # the last maximum is less than the first value


def _running(name: str, turn: str, head: str, values: np.ndarray, empty: bool = False) -> Program:
    arguments: dict[str, Argument] = {"x": array(values), "y": output(len(values))}
    lines = "\n".join("    " + line for line in turn.splitlines())
    start = f"i = wb.tid()\nn = {'i - i' if empty else 'x.shape[1]'}\nm = x[i, 0]\nv = x[i, 1]\n"
    text = f"{start}{head}\n{lines}\ny[i] = m * 0.5 + m * m * 0.25 + v\n"
    return program(name, text, arguments, (len(values),), smooth=True)


def _flag(name: str, text: str) -> Program:
    arguments: dict[str, Argument] = {"x": floats(12, 12), "y": output(12)}
    return program(f"flag, {name}", ("i = wb.tid()\nn = x.shape[1]\n", text), arguments, (12,), smooth=True)


FLAGS: dict[str, str] = {
    "first match": """
        v = x[i, 0] * 0.5
        for j in range(n):
            if x[i, j] > 0.5:
                v = x[i, j] * x[j, i]
                break
        y[i] = v
    """,
    "first match, with a flag": """
        v = x[i, 0] * 0.5
        found = False
        for j in range(n):
            if x[i, j] > 0.5 and not found:
                v = x[i, j] * x[j, i]
                found = True
        y[i] = v
    """,
    "until it is cleared": """
        v = x[i, 0]
        active = True
        for j in range(n - 1, -1, -1):
            if active:
                v = v + x[i, j] * x[i, j]
            active = active and x[i, j] < 1.0
        y[i] = v
    """,
    "while": """
        v = x[i, 0]
        j = 0
        done = False
        m = x[i, 0]
        while j < n and not done:
            m = wb.max(m, x[i, j])
            v = v + x[i, j] * x[i, j]
            done = done or x[i, j] > 1.0
            j += 1
        y[i] = v * m
    """,
    "a known range that is left": """
        v = x[i, 0]
        m = x[i, 1]
        for j in range(24):
            v = v * 0.75 + x[i, j % n] * v
            m = wb.max(m, v)
            if v > 1.0:
                break
        y[i] = v * m
    """,
    "sums in a flagged row": """
        v = x[i, 0]
        seen = x[i, 1] > 0.0
        for j in range(n):
            v = v + wb.where(seen, x[i, j] * x[j, i], x[i, j])
            seen = seen or x[j, i] > 0.5
        y[i] = v
    """,
}
ADDED: list[Program] = [
    program(
        "a store that a later turn overwrites", """
        i = wb.tid()
        for j in range(x.shape[1]):
            y[i, j // 2] = x[i, j] * x[i, j]
        """, {"x": floats(9, 12), "y": output(9, 6)}, (9,), smooth=True,
    ),
    program(
        "stores counted from the end", """
        i = wb.tid()
        for j in range(-6, 6):
            y[i, j] = x[i, j + 6] * x[i, j + 6]
        """, {"x": floats(9, 12), "y": output(9, 6)}, (9,), smooth=True,
    ),
    program(
        "sums of what turns read before", """
        i = wb.tid()
        s = x[i, 0]
        for j in range(1, x.shape[1]):
            s = s + x[i, j] * x[i, j - 1]
            y[i, j] = s * x[i, j]
        """, {"x": floats(9, 12), "y": output(9, 12)}, (9,), smooth=True,
    ),
    program(
        "rows by number", """
        i = wb.tid()
        for j in range(e.shape[1]):
            y[i, j] = e[k[i], j] * e[k[i], 0]
        """, {"e": floats(5, 6), "k": integers(9, below=5), "y": output(9, 6)}, (9,), smooth=True,
    ),
    program(
        "turned planes", """
        i, j = wb.tid()
        h = f.shape[1]
        w = f.shape[2]
        a = f[0, (i + 1) % h, j]
        b = f[1, i, (j + w - 1) % w]
        c = f[2, (i + h - 2) % h, (j + 3) % w]
        g[0, i, j] = a * b
        g[1, i, j] = b * c + a
        """, {"f": floats(3, 7, 9), "g": output(2, 7, 9)}, (7, 9), smooth=True,
    ),
    program(
        "turned planes, more threads", """
        i = wb.tid()
        h = f.shape[1]
        g[i] = f[0, (i + 1) % h] * f[1, (i + 3) % h] * f[1, (i + 3) % h]
        """, {"f": floats(2, 7), "g": output(16)}, (16,), smooth=True,
    ),
    program(
        "one plane turned twice", """
        i = wb.tid()
        h = f.shape[0]
        g[i] = f[(i + 1) % h] * f[(i + 3) % h]
        """, {"f": floats(7), "g": output(7)}, (7,), smooth=True,
    ),
]  # fmt: skip
RUNNING: list[Program] = [
    *(
        _running(f"running {name}{how}", turn, head, _whole)
        for name, turn in SPELLINGS.items()
        for how, head in HEADS.items()
    ),
    *(
        _running(f"running {name}, infinities", turn, HEADS[""], _odd)
        for name, turn in SPELLINGS.items()
        if name not in ("max of a product", "inner loops")  # whose tangents meet 0 · inf
    ),
    *(_running(f"running {name}, NaNs", turn, HEADS[""], _nans) for name, turn in SPELLINGS.items()),
    *(_running(f"running {name}, no turn", turn, HEADS[""], _whole, True) for name, turn in SPELLINGS.items()),
    *(_flag(name, text) for name, text in FLAGS.items()),
    *ADDED,
]  # fmt: skip
