"""Families whose size is counted by the front end: statements, calls, literals, sequences."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from tests.judge.limits.building import Values, answered, floats, indented, integers, output, program, straight, whole
from tests.judge.program import Array, Program

THREADS = 9
XY = {"x": floats(THREADS), "y": output(THREADS)}


def static_sequence(n: int) -> Program:
    """A constant sequence of n elements."""
    body = "i = wb.tid()\nt = wb.static(T)\ny[i] = x[i] * float(t[0]) + float(t[-1])"
    return program("static sequence", body, XY, THREADS, f"T = tuple(range(3, {n + 3}))")


def sequence(n: int) -> Program:
    """A loop over a tuple of n elements."""
    body = "i = wb.tid()\nv = x[i]\nfor c in T:\n    v = v * 0.5 + c\ny[i] = v"
    return program("sequence", body, XY, THREADS, f"T = tuple(0.25 * (k % 7) for k in range({n}))")


def changing_types(n: int) -> Program:
    """A loop in which a name takes n types, one after the other: a func returns the next longer vector."""
    lengths = range(2, n + 2)
    above = [f"V{k} = wb.vector({k}, wb.float32)" for k in lengths]
    names = ["wb.int32", *(f"V{k}" for k in lengths), f"V{n + 1}"]
    for before, after in pairwise(names):
        above += ["", "@wb.func", f"def f(v: {before}):", f"    return {after}(0.5)", ""]
    body = f"i = wb.tid()\nv = 0\nfor j in range(3):\n    v = f(v)\ny[i] = v[{n}] * x[i]"
    judged = program("changing types", body, XY, THREADS, "\n".join(above))
    return answered(judged, lambda: {"y": XY["x"].values * np.float32(0.5)})


def waiting_types(n: int) -> Program:
    """A loop in which n names wait for each other's types: the last is a float in the first iteration."""
    names = [f"v{k}" for k in range(n)]
    rows = [f"{v} = 1" for v in names]
    rows += [f"for j in range({n + 3}):"]
    rows += [f"    {a} = {b}" for a, b in pairwise(names)] + [f"    {names[-1]} = x[i] + float(j)"]
    return program("waiting types", indented(["i = wb.tid()", *rows, "y[i] = float(v0) * 2.0"]), XY, THREADS)


def literal(n: int) -> Program:
    """A literal of n bits times a float64."""
    arguments = {"x": floats(THREADS, dtype=np.float64), "y": output(THREADS, dtype="float64")}
    judged = program("literal", f"i = wb.tid()\ny[i] = x[i] * {2 ** (n - 1) + 2 ** (n // 2)}", arguments, THREADS)
    factor = float(2 ** (n - 1) + 2 ** (n // 2)) if n <= 1023 else np.nan
    return answered(judged, lambda: {"y": arguments["x"].values * factor})


def integer_power(n: int) -> Program:
    """An integer power by a literal: it wraps as the products do."""
    x = integers(THREADS, below=9)
    body = f"i = wb.tid()\ny[i] = (x[i] - 4) ** {n}\nz[i] = wb.int64(x[i] - 4) ** {n}"
    arguments = {"x": x, "y": output(THREADS, dtype="int32"), "z": output(THREADS, dtype="int64")}
    powers = [(int(v) - 4) ** n for v in x.values]

    def right() -> Values:
        return {
            name: np.array([_wrapped(p, bits) for p in powers], f"int{bits}") for name, bits in (("y", 32), ("z", 64))
        }

    return answered(program("integer power", body, arguments, THREADS), right)


def _wrapped(value: int, bits: int) -> int:
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def float_power(n: int) -> Program:
    """A power of a float by a literal, and its derivative; products round once for each doubling of the exponent."""
    x = floats(THREADS)
    x = replace(x, values=(x.values / 16 + np.sign(x.values)).astype(np.float32))
    body = f"i = wb.tid()\ny[i] = x[i] ** {n}\nz[i] = x[i] ** -{n}"
    judged = program("float power", body, {"x": x, "y": output(THREADS), "z": output(THREADS)}, THREADS, smooth=True)
    exact = x.values.astype(np.float64)
    return answered(judged, lambda: {"y": exact**n, "z": exact**-n}, bound=1e-5)


def left_loop(n: int) -> Program:
    """A `for` of n iterations that threads leave at different ones."""
    stop = integers(THREADS, below=n + 3)
    stop.values[0], stop.values[-1] = 0, n - 1
    body = f"""
    i = wb.tid()
    v = x[i]
    last = -1
    for j in range({n}):
        if j == stop[i]:
            break
        v = v * 0.75 + float(j)
        last = j
    else:
        v = -v
    y[i] = v + float(last)
    """
    return program("left loop", body, {"x": floats(THREADS), "stop": stop, "y": output(THREADS)}, THREADS, smooth=True)


def _selectors(n: int) -> dict[str, Any]:
    at = np.unique([0, 1, n - 2, n - 1, n, n + 1, n // 2, 15, 16, 17]).astype(np.int32)
    at = at[at >= 0]
    x = floats(len(at))
    return {"x": x, "s": Array(at, "wb.int32"), "y": output(len(at))}


def exits(n: int) -> Program:
    """A func of n branches that return."""
    rows = [row for k in range(n) for row in (f"if s == {k}:", f"    return v * {k}.5", f"v = v + {k % 3}.25")]
    func = "@wb.func\ndef f(v: wb.float32, s: wb.int32):\n" + indented([*rows, "return -v"], 1)
    arguments = _selectors(n)
    body = "i = wb.tid()\ny[i] = f(x[i], s[i])"
    return program("exits", body, arguments, arguments["x"].values.shape, func, smooth=True)


def chain(n: int) -> Program:
    """An `elif` chain of n links."""
    return _chain("chain", n, [])


def returning_chain(n: int) -> Program:
    """An `elif` chain of n links, of which every other one returns."""
    return _chain("returning chain", n, ["    return"])


def _chain(name: str, n: int, end: list[str]) -> Program:
    rows = ["i = wb.tid()", "v = x[i]", "if s[i] == 0:", "    v = v * v"]
    for k in range(1, n):
        rows += [f"elif s[i] == {k}:", *([f"    v = v * {k}.5"] if k % 2 else [f"    y[i] = {k}.5 * v", *end])]
    arguments = _selectors(n)
    body = indented([*rows, "else:", "    v = -v", "y[i] = y[i] + v + 1.0"])
    return program(name, body, arguments, arguments["x"].values.shape, smooth=True)


def continues(n: int) -> Program:
    """A loop with n branches that leave an iteration, or the loop."""
    rows = ["i = wb.tid()", "v = x[i]", "for j in range(4):"]
    for k in range(n):
        rows += [f"    if s[i] + j == {k}:", f"        v = v * 0.5 + {k % 5}.0"]
        rows += ["        break" if k % 4 == 3 else "        continue", f"    v = v + {k % 3}.25"]
    arguments = _selectors(n)
    return program("continues", indented([*rows, "y[i] = v"]), arguments, arguments["x"].values.shape, smooth=True)


def calls(n: int) -> Program:
    """A func that is called n times with arguments of the same types."""
    func = "@wb.func\ndef f(v: wb.float32, a: wb.float32, s: int):\n" + straight(20, 1)
    func += "    if s > 1:\n        return v * a\n    return v - a\n"
    rows = ["i = wb.tid()", "v = x[i]", "a = x[0]", *(f"v = f(v, a, i % {k % 4 + 1})" for k in range(n)), "y[i] = v"]
    return program("calls", indented(rows), XY, THREADS, func, smooth=True)


def nested_calls(n: int) -> Program:
    """A chain of n funcs, each of which calls the next."""
    funcs = [
        f"@wb.func\ndef f{k}(v: wb.float32):\n    return {f'f{k - 1}(v) * 0.5 + {k % 7}.0' if k else 'v + v'}\n\n"
        for k in range(n)
    ]
    judged = program("nested calls", f"i = wb.tid()\ny[i] = f{n - 1}(x[i])", XY, THREADS, "\n".join(funcs))

    def right() -> Values:
        v = XY["x"].values * np.float32(2)
        for k in range(1, n):
            v = v * np.float32(0.5) + np.float32(k % 7)
        return {"y": v}

    return answered(judged, right, bound=1e-6)


def called_body(n: int) -> Program:
    """A func of n operations that is called five times."""
    func = "@wb.func\ndef f(v: wb.float32, a: wb.float32):\n" + straight(n, 1) + "    return v\n"
    return program("called body", "i = wb.tid()\nv = x[i]\na = x[0]\n" + "v = f(v, a)\n" * 5 + "y[i] = v", XY, THREADS,
                   func, smooth=True)  # fmt: skip


def _checked(name: str, rows: list[str], threads: int, x: int, **more: Any) -> Program:
    return program(name, indented(rows), {"x": floats(x), **more, "y": output(threads)}, threads)


def _faulty(judged: Program) -> Program:
    """Return the program as one that has no meaning without checks."""
    return replace(judged, notes={"fault": True})


def checked_body(n: int) -> Program:
    """A body of n operations that loads and stores."""
    return _checked("checked body", ["i = wb.tid()", "v = x[i]", "a = x[i + 1]", *straight(n).splitlines(), "y[i] = v"],
                    THREADS, THREADS + 1)  # fmt: skip


def faulty_body(n: int) -> Program:
    """A body of n operations, in loops, before an index out of range."""
    inner = max(1, n // 512)
    rows = ["i = wb.tid()", "v = x[i]", "a = v", "s = 0", *(f"{'    ' * k}for j{k} in range(8):" for k in range(3))]
    rows += ["            s = s + j2", *(f"            {row}" for row in straight(inner).splitlines()), "y[i + s] = v"]
    return _faulty(_checked("faulty body", rows, 3, 3))


def faulty_loop(n: int) -> Program:
    """A loop whose nth iteration asks for an index out of range."""
    rows = ["i = wb.tid()", "v = x[i]", f"for j in range({n}):", f"    v = v + x[i + j + {4 - n}]", "y[i] = v"]
    return _faulty(_checked("faulty loop", rows, 2, 4))


def faulty_indices(n: int) -> Program:
    """An array of n dimensions, of whose indices the last is out of range."""
    x = floats(*[2] * n)
    rows = ["i = wb.tid()", f"y[i] = x[{', '.join(['i'] * (n - 1) + ['i + 1'])}]"]
    return _faulty(program("faulty indices", indented(rows), {"x": x, "y": output(2)}, 2))


def bounded_index(n: int) -> Program:
    """An index that n operations stand between and the loop's counter."""
    rows = ["i = wb.tid()", "v = x[i]", "for j in range(m):", "    k = j"]
    rows += [f"    k = {('k + i', 'max(k, 0)', 'k - i', 'min(k, 99)')[k % 4]}" for k in range(n)]
    return _checked("bounded index", [*rows, "    v = v * 0.5 + x[k]", "y[i] = v"], THREADS, 40, m=whole(7))
