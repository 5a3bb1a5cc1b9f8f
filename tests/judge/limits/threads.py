"""Families whose size is counted where threads go in groups, by rows, or inside of a border."""

from __future__ import annotations

import numpy as np

from tests.judge.limits.building import floats, indented, integers, output, program, straight, whole
from tests.judge.program import Array, Program

ROWS = 70
"""Threads: more than a group, and not a multiple of one."""
COLUMNS = 19


def _rows(name: str, body: list[str], threads: int = ROWS, columns: int = COLUMNS, smooth: bool = True) -> Program:
    """A thread for each row."""
    return program(name, indented(["i = wb.tid()", "a = x[i, 0]", "v = 0.5", *body]),
                   {"x": floats(threads, columns), "y": output(threads)}, threads, smooth=smooth)  # fmt: skip


LOOP = "for j in range(x.shape[1]):"
SUM = "    v = v * 0.5 + x[i, j]"


def added_body(n: int) -> Program:
    """A body of n additions to elements that threads share."""
    rows = ["i = wb.tid()", "k = i % 5", "v = x[i]", *["wb.atomic_add(y, k, v)"] * n]
    return program("added body", indented(rows), {"x": floats(9), "y": output(5)}, 9, smooth=True)


def row_loops(n: int) -> Program:
    """Loops along a row, n of them one after the other."""
    rows = [row for k in range(n) for row in (LOOP, f"    v = v * 0.5 + x[i, j] * {k + 1}.0")]
    return _rows("row loops", [*rows, "y[i] = v"], columns=7)


def row_values(n: int) -> Program:
    """A loop along a row that carries n scalars."""
    names = [f"v{k}" for k in range(n)]
    rows = [*(f"{v} = 0.{k % 9}" for k, v in enumerate(names)), LOOP, "    u = x[i, j]"]
    rows += [f"    {v} = {v} * 0.5 + u * {k % 7 + 1}.0" for k, v in enumerate(names)]
    return _rows("row values", [*rows, "y[i] = " + " + ".join(names)], columns=5)


def row_threads(n: int) -> Program:
    """n threads that each go along a row."""
    return _rows("row threads", [LOOP, SUM, "y[i] = v"], threads=n)


def shared_weights(n: int) -> Program:
    """n threads that multiply rows by the same weights, whose adjoint adds up all threads."""
    rows = ["i = wb.tid()", "v = 0.0", LOOP, "    v = v + x[i, j] * w[j]", "y[i] = v * v"]
    arguments = {"x": floats(n, 7), "w": floats(7, seed=3), "y": output(n)}
    return program("shared weights", indented(rows), arguments, n, smooth=True)


def plane_rows(n: int) -> Program:
    """n rows of threads that go along the same columns: a product of matrices."""
    return _plane(
        "plane rows", ["u = 0.0", "for k in range(x.shape[1]):", "    u = u + x[i, k] * w[k, j]", "y[i, j] = u"], n
    )


def _plane(name: str, body: list[str], rows: int) -> Program:
    arguments = {"x": floats(rows, 3), "w": floats(3, 33, seed=5), "y": output(rows, 33)}
    return program(name, indented(["i, j = wb.tid()", *body]), arguments, (rows, 33), smooth=True)


def plane_columns(n: int) -> Program:
    """Rows of n threads that go along the same columns."""
    body = ["u = 0.0", "for k in range(x.shape[1]):", "    u = u + x[i, k] * w[k, j]", "y[i, j] = u"]
    arguments = {"x": floats(5, 3), "w": floats(3, n, seed=5), "y": output(5, n)}
    return program("plane columns", indented(["i, j = wb.tid()", *body]), arguments, (5, n), smooth=True)


def plane_values(n: int) -> Program:
    """A product of matrices whose threads carry so many sums that two rows of a group, 16 threads each, are n bytes."""
    return plane_carried(n // 128)


def plane_carried(n: int) -> Program:
    """A product of matrices whose threads carry n sums."""
    names = [f"u{k}" for k in range(n)]
    rows = [*(f"{u} = 0.0" for u in names), "for k in range(x.shape[1]):"]
    rows += [f"    {u} = {u} + x[i, k] * w[k, j] * {k + 1}.0" for k, u in enumerate(names)]
    return _plane("plane values", [*rows, "y[i, j] = " + " + ".join(names)], 5)


def plane_sums(n: int) -> Program:
    """A product of matrices with 64 / n sums, so that groups of n threads add to one element of an adjoint."""
    names = [f"u{k}" for k in range(64 // n)]
    rows = [*(f"{u} = 0.0" for u in names), "for k in range(x.shape[1]):"]
    rows += [f"    {u} = {u} * 0.5 + x[i, k] * w[k, j] * {k + 1}.0" for k, u in enumerate(names)]
    return _plane("plane sums", [*rows, "y[i, j] = " + " + ".join(names)], 5)


def plane_body(n: int) -> Program:
    """A product of matrices with a body of n operations."""
    rows = ["v = 0.0", "for k in range(x.shape[1]):", "    a = x[i, k] * w[k, j]"]
    return _plane("plane body", [*rows, *(f"    {row}" for row in straight(n).splitlines()), "y[i, j] = v"], 5)


def known_row(n: int) -> Program:
    """A known range of n iterations along a row."""
    return _rows("known row", [f"for j in range({n}):", SUM, "y[i] = v"], columns=n + 1)


def known_nest(n: int) -> Program:
    """A known nest of n operations."""
    body = ["for j in range(10):", "    a = x[i, j]", f"    for k in range({n // 30 - 1}):", "        v = v * 0.75 + a"]
    return _rows("known nest", [*body, "y[i] = v"])


def component_loop(n: int) -> Program:
    """A loop over the components of a vector that is n operations when it is written out."""
    body = ["c = wb.vec4(0.5, 1.5, -2.0, 0.25)", "v = x[i, 0]", "for p in range(4):"]
    body += [*(f"    {row}" for row in straight(n // 4).splitlines()), "    v = v + c[p]", "y[i] = v"]
    return _rows("component loop", body)


def decided_nest(n: int) -> Program:
    """A nest whose counters decide, whose inner loops become known and grow the program by about n operations."""
    body = ["for p in range(16):", "    for q in range(p + 1):", "        if q != 7:"]
    body += [f"            {row}" for row in straight(n // 128).splitlines()]
    return _rows("decided nest", [*body, "y[i] = v"], smooth=False)


def row_length(n: int) -> Program:
    """Rows of n elements."""
    return _rows("row length", [LOOP, SUM, "y[i] = v"], columns=n)


def rows_copied(n: int) -> Program:
    """Rows of n elements, read and written along the row."""
    body = ["i = wb.tid()", "s = wb.float32(0.0)", LOOP, "    s += x[i, j]", "    y[i, j] = s * 0.5"]
    return program("rows copied", indented(body), {"x": floats(ROWS, n), "y": output(ROWS, n)}, ROWS, smooth=True)


def columns_mapped(n: int) -> Program:
    """Threads of which n lie along the last axis of the arrays, and the first one of the launch."""
    body = ["j, i = wb.tid()", "y[i, j] = x[i, j] * 0.5 + wb.float32(j)"]
    return program(
        "columns mapped", indented(body), {"x": floats(ROWS, n), "y": output(ROWS, n)}, (n, ROWS), smooth=True
    )


def rows_mapped(n: int) -> Program:
    """Rows of n elements, each computed by itself."""
    body = ["i = wb.tid()", LOOP, "    y[i, j] = x[i, j] * 0.5 + wb.float32(j)"]
    return program("rows mapped", indented(body), {"x": floats(ROWS, n), "y": output(ROWS, n)}, ROWS, smooth=True)


def row_functions(n: int) -> Program:
    """Rows of n elements, of which two loops compute one function."""
    body = ["i = wb.tid()", "s = wb.float32(0.0)", LOOP, "    s += wb.sin(x[i, j])", LOOP]
    body += ["    y[i, j] = s * wb.sin(x[i, j])"]
    return program("row functions", indented(body), {"x": floats(17, n), "y": output(17, n)}, 17, smooth=True)


def inner_rows(n: int) -> Program:
    """Two loops over the rows of an array, of which each sums up the same n products of a row."""
    inner = ["    r = wb.float32(0.0)", f"    for c in range({n}):", "        r += x[i, c] * x[t, c]"]
    body = ["i = wb.tid()", "s = wb.float32(0.0)", "for t in range(5):", *inner, "    s += r"]
    body += ["for t in range(5):", *inner, "    y[i, t] = s * r"]
    return program("inner rows", indented(body), {"x": floats(17, n), "y": output(17, 5)}, 17, smooth=True)


def loaded_start(n: int) -> Program:
    """A loop whose counter starts at a loaded index, which may be negative, with a body of n operations."""
    body = ["i = wb.tid()", "v = 0.5", "for j in range(at[i], at[i] + 4):", "    a = x[j]"]
    body += [f"    {row}" for row in straight(n).splitlines()]
    at = integers(ROWS, below=40)
    arguments = {"x": floats(50), "at": Array(at.values - np.int32(20), at.dtype), "y": output(ROWS)}
    return program("loaded start", indented([*body, "y[i] = v"]), arguments, ROWS, smooth=True)


def bordered_body(n: int) -> Program:
    """A stencil with clamps and n operations."""
    rows = ["i = wb.tid()", "v = x[max(i - 1, 0)]", "a = x[min(i + 1, x.shape[0] - 1)]", *straight(n).splitlines()]
    return program(
        "bordered body", indented([*rows, "y[i] = v"]), {"x": floats(ROWS), "y": output(ROWS)}, ROWS, smooth=True
    )


def bordered_plane(n: int) -> Program:
    """A stencil in a plane with wraps, conditions and n operations."""
    rows = ["i, j = wb.tid()", "h = x.shape[0]", "w = x.shape[1]", "v = x[(i + 1) % h, j]"]
    rows += [
        "a = x[i, (j - 1 + w) % w]",
        "if i > 0 and j < w - 1:",
        "    a = a + x[i - 1, j + 1]",
        *straight(n).splitlines(),
        "y[i, j] = v",
    ]
    return program("bordered plane", indented(rows), {"x": floats(5, 37), "y": output(5, 37)}, (5, 37), smooth=True)


def border(n: int) -> Program:
    """A border of n threads at each end, in launches about as long."""
    rows = ["i = wb.tid()", f"if i < {n}:", "    y[i] = -x[i]", f"elif i >= x.shape[0] - {n}:", "    y[i] = x[i] * 2.0"]
    rows += ["else:", f"    y[i] = x[i - {n}] + x[i + {n}]"]
    return program(
        "border", indented(rows), {"x": floats(2 * n + 41), "y": output(2 * n + 41)}, 2 * n + 41, smooth=True
    )


def clamped_border(n: int) -> Program:
    """Clamps to a literal bound n."""
    rows = ["i = wb.tid()", f"y[i] = x[max(i, {n})] - x[min(i, {n})] + x[max(i - {n}, 0)]"]
    return program("clamped border", indented(rows), {"x": floats(n + 90), "y": output(n + 90)}, n + 90, smooth=True)


def rotated_body(n: int) -> Program:
    """A loop over a row that is rotated, with n operations behind the division."""
    return _rotated("rotated body", n, 35)


def rotated_row(n: int) -> Program:
    """A loop over a rotated row of n elements."""
    return _rotated("rotated row", 1, n)


def _rotated(name: str, operations: int, width: int) -> Program:
    body = ["v = 0.0", "for k in range(x.shape[1]):", "    a = x[i, (j + k) % x.shape[1]] + w[i, k]"]
    steps = "v = v * 0.75", "v = v + a", "v = v - 0.25"  # each of which is one instruction
    body += [f"    {steps[k % 3]}" for k in range(operations)]
    arguments = {"x": floats(5, width), "w": floats(5, width, seed=5), "y": output(5, width)}
    return program(name, indented(["i, j = wb.tid()", *body, "y[i, j] = v"]), arguments, (5, width), smooth=True)


def flattened_body(n: int) -> Program:
    """A launch over i // w and i % w with n operations."""
    return _flattened("flattened body", n, 12, 9)


def flattened_row(n: int) -> Program:
    """A flattened launch whose rows have n threads, as a number and as an argument."""
    return _flattened("flattened row", 3, n, 9)


def flattened_literal(n: int) -> Program:
    """A flattened launch whose rows have a literal number of threads."""
    judged = _flattened("flattened literal", 3, n, 9)
    return type(judged)(judged.name, judged.text.replace("// w", f"// {n}").replace("% w", f"% {n}"), judged.dim,
                        judged.arguments, smooth=True)  # fmt: skip


def _flattened(name: str, operations: int, width: int, height: int) -> Program:
    rows = ["i = wb.tid()", "r = i // w", "c = i % w", "v = x[r, c]", "a = x[r, max(c - 1, 0)]",
            "if r > 0:", "    a = x[r - 1, c]", *straight(operations).splitlines(), "y[r, c] = v"]  # fmt: skip
    arguments = {"x": floats(height, width), "w": whole(width), "y": output(height, width)}
    return program(name, indented(rows), arguments, height * width, smooth=True)


def gathering_loop(n: int) -> Program:
    """A loop that loads by index, with n operations for each element."""
    rows = [
        LOOP,
        "    a = w[at[i, j]]",
        "    v = v + a",
        *(f"    {row}" for row in straight(n).splitlines()),
        "y[i] = v",
    ]
    text = indented(["i = wb.tid()", "v = 0.5", *[r.replace("x.shape", "at.shape") for r in rows]])
    arguments = {"w": floats(50), "at": integers(ROWS, 11, below=50), "y": output(ROWS)}
    return program("gathering loop", text, arguments, ROWS, smooth=True)


def maths_loop(n: int) -> Program:
    """A known range of n iterations around functions of mathematics."""
    body = [f"for j in range({n}):", "    v = wb.sin(v + float(j) * 0.125) + wb.exp(-a * a)", "y[i] = v"]
    return _rows("maths loop", body, threads=37)


def byte_threads(n: int) -> Program:
    """n threads that store bytes alone."""
    arguments = {"x": integers(n, below=99), "y": output(n, dtype="uint8")}
    return program("byte threads", "i = wb.tid()\ny[i] = wb.uint8(x[i] * 2)", arguments, n)


def distant_elements(n: int) -> Program:
    """Threads whose elements lie n apart."""
    x = floats(17 * n)
    return program("distant elements", f"i = wb.tid()\ny[i] = x[i * {n}] * 2.0", {"x": x, "y": output(17)}, 17)


def branch_body(n: int) -> Program:
    """A side of an `if` of n operations."""
    rows = ["i = wb.tid()", "v = x[i]", "if v > 0.5:", *(["    v = v * 0.75", "    v = v + 0.5"] * n)[:n], "y[i] = v"]
    return program("branch body", indented(rows), {"x": floats(37), "y": output(37)}, 37)


def thin_rows(n: int) -> Program:
    """Rows of n threads that go along another array, too."""
    body = "i, j = wb.tid()\ny[i, j] = x[i, j] * w[j] + 1.0"
    return program("thin rows", body, {"x": floats(19, n), "w": floats(n, seed=3), "y": output(19, n)}, (19, n))


def thin_body(n: int) -> Program:
    """Thin rows of threads of n operations."""
    rows = ["i, j = wb.tid()", "v = x[i, j]", *(["v = v * 0.75", "v = v + 0.5"] * n)[:n], "y[i, j] = v"]
    return program("thin body", indented(rows), {"x": floats(19, 5), "y": output(19, 5)}, (19, 5))


def vector_elements(n: int) -> Program:
    """Elements of n scalars."""
    above = f"V = wb.vector({n}, wb.float32)"
    x = floats(37, n)
    arguments = {"x": Array(x.values, "V"), "y": Array(np.zeros((37, n), np.float32), "V", True)}
    return program(
        "vector elements", "i = wb.tid()\nv = x[i]\ny[i] = v * 2.0 + x[0]", arguments, 37, above, smooth=True
    )


def vector_operations(n: int) -> Program:
    """Elements of nine scalars, with n operations for each."""
    above = "V = wb.vector(9, wb.float32)"
    x = floats(37, 9)
    arguments = {"x": Array(x.values, "V"), "y": Array(np.zeros((37, 9), np.float32), "V", True)}
    steps = [("v = v * 0.75", "v = v + a", "v = v - a * 0.5")[k % 3] for k in range(n)]
    body = indented(["i = wb.tid()", "v = x[i]", "a = x[0]", *steps, "y[i] = v"])
    return program("vector operations", body, arguments, 37, above, smooth=True)
