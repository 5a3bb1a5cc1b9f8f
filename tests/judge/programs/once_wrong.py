"""Programs of a kind that once gave wrong numbers without a word. Each is a few lines of what a user wrote."""

from __future__ import annotations

import numpy as np

from tests.judge.program import Array, Overlap, Program, Scalar
from tests.judge.programs.building import array, floats, integers, output, program

TWO = {"x": floats(37), "y": output(37)}
WIDE = {"x": floats(37, dtype=np.float64), "y": output(37, dtype="wb.float64", held=np.float64)}


def _in_out(*shape: int, seed: int = 3, dtype: str = "", high: float = 2.0) -> Array:
    return array(floats(*shape, seed=seed, high=high).values, dtype, output=True)


def _chain(links: int) -> str:
    rows = ["i = wb.tid()", "if i == 0:", "    y[i] = 1.0"]
    for k in range(1, links):
        rows += [f"elif i == {k}:", f"    y[i] = {k}.5 * x[i]"]
    return "\n".join([*rows, "else:", "    y[i] = -x[i]"])


BRANCHES: list[Program] = [
    program(
        "an element read and overwritten in a branch",
        """
        i = wb.tid()
        v = x[i]
        prev = v
        if v > 0.0:
            prev = best[i]
            best[i] = v
        old[i] = prev
        """,
        {"x": floats(37), "best": _in_out(37), "old": output(37)}, (37,),
    ),
    program(
        "a function in three pieces",
        """
        i = wb.tid()
        v = x[i]
        if v > 1.0:
            y[i] = v
        elif v > 0.0:
            y[i] = 2.0 * v
        else:
            y[i] = v * v
        """,
        TWO, (37,), smooth=True,
    ),
    program(
        "an element taken where a condition holds",
        """
        i = wb.tid()
        p = -1
        if x[i] % 2 == 0:
            p = y[i]
            y[i] = x[i]
        o[i] = p
        """,
        {
            "x": integers(67, below=9), "y": array(integers(67, below=50, seed=2).values, output=True),
            "o": output(67, dtype="wb.int32", held=np.int32),
        }, (67,),
    ),
    program(
        "pieces with early returns",
        """
        i = wb.tid()
        v = x[i]
        if v > 1.4:
            y[i] = v * 1.0
            return
        if v > 0.7:
            y[i] = v * 1.5
            return
        if v > 0.0:
            y[i] = v * 2.0
            return
        y[i] = v * v
        """,
        WIDE, (37,), smooth=True,
    ),
    *(program(f"a chain of {n} links", _chain(n), TWO, (37,), smooth=True) for n in (15, 16, 17, 18, 35)),
]  # fmt: skip

LITERALS: list[Program] = [
    program(f"a literal through {name}", f"i = wb.tid()\n{body}", WIDE, (37,), above=above)
    for name, body, above in (
        ("a branch", "a = 0.1\nif i > 5:\n    a = 0.3\ny[i] = x[i] * a", ""),
        ("a loop", "b = 0.1\nfor q in range(3):\n    b = b * 1.1\ny[i] = x[i] * b", ""),
        ("a ternary", "y[i] = x[i] * (0.1 if x[i] > 0.0 else 0.3)", ""),
        ("where", "y[i] = x[i] * wb.where(x[i] > 0.0, 0.1, 0.3)", ""),
        ("clamp", "y[i] = x[i] * wb.clamp(0.7, 0.1, 0.3)", ""),
        ("a while", "e = 0.0\nwhile e < 0.35:\n    e = e + 0.1\ny[i] = x[i] * e", ""),
        (
            "a func",
            "y[i] = x[i] * weight(x[i] > 0.0)",
            "@wb.func\ndef weight(c: bool):\n    if c:\n        return 0.1\n    return 0.3\n",
        ),
        ("nested ternaries", "y[i] = x[i] + (0.1 if i > 3 else (0.2 if i > 1 else 0.7))", ""),
    )
]

MATRIX = Array(np.zeros((1, 3, 3), np.float32), "wb.mat33", output=True)
NESTED = """
@wb.struct
class Body:
    p: wb.vec3
    m: wb.mat22


@wb.struct
class Car:
    body: Body
    mass: float
"""
CAR = np.dtype(
    [("body", np.dtype([("p", "<f4", 3), ("m", "<f4", (2, 2))], align=True)), ("mass", "<f4")], align=True
)  # fmt: skip
SHARED: list[Program] = [
    program(f"threads that share {name}", f"i = wb.tid()\n{body}", arguments, (64,), above=above)
    for name, body, arguments, above in (
        ("an element of a matrix", "m[0][1, 2] += 1.0", {"m": MATRIX}, ""),
        ("a row of a matrix", "m[0][1] += wb.vec3(1.0, 2.0, 3.0)", {"m": MATRIX}, ""),
        ("a component of a row", "m[0][2].y -= 1.0", {"m": MATRIX}, ""),
        ("a whole matrix", "m[0] += wb.mat33(1.0)", {"m": MATRIX}, ""),
        (
            "the position of a transform", "t[0].p += wb.vec3(1.0, 0.0, 2.0)",
            {"t": Array(np.zeros((1, 7), np.float32), "wb.transform", True)}, "",
        ),
        (
            "a part of a nested struct", "c[0].body.p.y += 1.0",
            {"c": Array(np.zeros(1, CAR), "Car", True)}, NESTED,
        ),
        (
            "a matrix in a nested struct", "c[0].body.m[1, 0] += 2.0",
            {"c": Array(np.zeros(1, CAR), "Car", True)}, NESTED,
        ),
        *(
            (
                f"a word and {sign}", f"y[0] {sign} {value}",
                {"y": Array(np.array([start], np.int32), "wb.int32", True)}, "",
            )
            for sign, value, start in (
                ("|=", "1 << (i % 30)", 0), ("&=", "~(1 << (i % 30))", -1), ("^=", "i", 5), ("*=", "3", 1),
            )
        ),
        (
            "a byte and |=", "y[i % 3] |= wb.uint8(1 << (i % 8))",
            {"y": Array(np.zeros(3, np.uint8), "wb.uint8", True)}, "",
        ),
    )
]  # fmt: skip

ORDER: list[Program] = [
    program(
        "an augmented assignment whose right side changes its target",
        "i = wb.tid()\nv[i].x += changed(v, i)\ny[i] += other(y, i)",
        {"v": Array(floats(5, 3).values, "wb.vec3", True), "y": _in_out(5, seed=4)}, (5,),
        above="""
        @wb.func
        def changed(v: wb.array[wb.vec3], i: int):
            v[i].x = 10.0
            return 2.0

        @wb.func
        def other(y: wb.array[float], i: int):
            y[i] = 10.0
            return 2.0
        """,
    ),
    program(
        "a loop's counter after its loop",
        "t = wb.tid()\ni = 7\nfor i in range(n):\n    y[t] += 100.0\ny[t] += float(i)",
        {"y": output(3), "n": Scalar(3, "int")}, (3,),
    ),
    program(
        "a component changed beside negative zeros",
        "i = wb.tid()\nv[i].x += 1.0",
        {"v": Array(np.full((5, 3), -0.0, np.float32), "wb.vec3", True)}, (5,),
    ),
    program(
        "an element through a func, again and again",
        "i = wb.tid()\n" + "y[i] = f(y[i])\n" * 12,
        {"y": _in_out(37)}, (37,),
        above="@wb.func\ndef f(v: float):\n    return v * 0.5 + 1.0\n",
    ),
    program(
        "a row from the row before",
        "i = wb.tid()\nfor t in range(3):\n    x[t + 1, i] = x[t, i] * 1.5 + x[0, i]",
        {"x": _in_out(4, 17)}, (17,),
    ),
    program(
        "the sign of zero in a choice",
        "i = wb.tid()\na = x[i]\ny[i] = wb.float64(0.0) if a < 0.0 else wb.float64(a)",
        {
            "x": array(np.array([-0.0, 0.0, 1.0, -1.0] * 10, np.float32)),
            "y": output(40, dtype="wb.float64", held=np.float64),
        },
        (40,),
    ),
]  # fmt: skip

SERIAL = """
for k in range(n):
    y[k] = 2.0
    wb.atomic_add(sums, 0, x[k])
    y[n] = sums[0]
"""
SHIFTED = """
for k in range(40):
    y[k] = x[k] * 2.0 + y[k]
"""
RUNNING = """
i = wb.tid()
s = wb.float32(0.0)
for k in range(x.shape[1]):
    s += x[i, k] * 0.5
    y[i, k] = s
"""
OVERLAPPING: list[Program] = [
    program(
        "one thread whose sum lies behind its elements", SERIAL,
        {
            "x": Array(np.ones(21, np.float32), "wb.float32", True), "y": Overlap("x", 0, 21),
            "sums": Overlap("x", 20, 1), "n": Scalar(20, "int"),
        }, (1,),
    ),
    program("rows that are summed up in place", RUNNING, {"x": _in_out(40, 25), "y": Overlap("x", 0, 40)}, (40,)),
    *(
        program(f"one thread that writes {shift} behind what it reads", SHIFTED,
                {"x": _in_out(60), "y": Overlap("x", shift, 60 - shift)}, (1,))
        for shift in (1, 4, 7)
    ),
    program(
        "elements that are read and written by other names", "i = wb.tid()\nv = x[i]\ny[i] = v * v\nz[i] += x[i]",
        {"x": _in_out(67), "y": Overlap("x", 0, 67), "z": Overlap("y", 0, 67)}, (67,),
    ),
]  # fmt: skip

CONSTANTS: list[Program] = [
    program(
        "a constant that arrays of several types take", "i = wb.tid()\ny[i] = C\nz[i] = C\nh[i] = C\ny[i] += x[i] * C",
        {
            "x": floats(37), "y": output(37), "z": output(37, dtype="wb.float64", held=np.float64),
            "h": output(37, dtype="wb.float16", held=np.float16),
        }, (37,), above="C = 0.1",
    ),
    program(
        "an integer constant beside integers and floats", "i = wb.tid()\ny[i] = n[i] // C\nz[i] = n[i] / C + C",
        {
            "n": integers(37, below=99), "y": output(37, dtype="wb.int32", held=np.int32),
            "z": output(37),
        }, (37,), above="C = 7",
    ),
]  # fmt: skip

HALVES = [
    program(
        "halves beside an element that all threads change",
        "i = wb.tid()\nh[i] = 3.0 * x[i]\nwb.atomic_and(s, -4, n[i] >> 2)\nwb.atomic_max(s, -1, n[i])",
        {
            "x": floats(37, dtype=np.float16), "n": integers(37, below=999),
            "s": array(np.full(5, 2**31 - 1, np.int32), output=True),
            "h": output(37, dtype="wb.float16", held=np.float16),
        }, (37,),
    ),
]  # fmt: skip

EMULATED = [*SHARED, *CONSTANTS, *HALVES]
"""Those that were wrong on GPUs alone."""
ONCE_WRONG = [*CONSTANTS, *HALVES, *OVERLAPPING, *BRANCHES, *LITERALS, *SHARED, *ORDER]
