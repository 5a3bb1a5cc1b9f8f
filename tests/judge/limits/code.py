"""Families whose size is counted where code is written for LLVM: sums, loops, chains, tiles, launches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.judge.limits.building import answered, floats, indented, output, program, straight, whole
from tests.judge.program import Array, Program
from workbench.limits import COMBINED_OPERATIONS

XY = {"x": floats(37), "y": output(37)}


def sums(n: int) -> Program:
    """n sums over all threads."""
    rows = ["i = wb.tid()", "v = x[i]", *(f"s[{k}] += v * {k % 7 + 1}.0" for k in range(n))]
    return program("sums", indented(rows), {"x": floats(67), "s": output(n)}, 67, smooth=True)


def integer_sums(n: int) -> Program:
    """n sums, largest and least of integers over all threads: all bits are promised."""
    third = n // 3
    rows = ["i = wb.tid()", "u = wb.int32(x[i] * 100.0)", *(f"s[{k}] += u * {k + 1}" for k in range(n - 2 * third))]
    rows += [f"wb.atomic_max(high, {k}, u - {k})\nwb.atomic_min(low, {k}, u + {k})" for k in range(third)]
    arguments = {"x": floats(67), **{name: output(n, dtype="int32") for name in ("s", "high", "low")}}
    return program("integer sums", "\n".join(rows), arguments, 67)


def vector_sum(n: int) -> Program:
    """Sums of n scalars: most of them components of vectors of 13."""
    x, count, rest = floats(67, 13), n // 13, n % 13
    rows = ["i = wb.tid()", *(f"s[{k}] += x[i] * {k + 1}.0" for k in range(count))]
    rows += [f"t[{k}] += x[i][{k}]" for k in range(rest)]
    arguments = {
        "x": replace(x, dtype="V"),
        "s": Array(np.zeros((count + 1, 13), np.float32), "V", True),
        "t": output(13),
    }
    return program("vector sum", indented(rows), arguments, 67, "V = wb.vector(13, wb.float32)", smooth=True)


def sum_body(n: int) -> Program:
    """A sum of n operations of each thread."""
    rows = ["i = wb.tid()", "v = x[i]", "a = x[0]", *straight(n).splitlines(), "s[0] += v"]
    return program("sum body", indented(rows), {"x": floats(67), "s": output(1)}, 67, smooth=True)


def sum_threads(n: int) -> Program:
    """n threads that add to one element, and to one of integers, with too many operations to be written for groups."""
    rows = ["i = wb.tid()", "v = x[i]", *["v = v * 0.75 + x[i]"] * COMBINED_OPERATIONS]
    rows += ["s[0] += v", "c[0] += i * 3 + 1"]
    return program(
        "sum threads", indented(rows), {"x": floats(n), "s": output(1), "c": output(1, dtype="int32")}, n, smooth=True
    )


def sum_bytes(n: int) -> Program:
    """Sums whose buffers would be n bytes for 512 threads."""
    return sums(max(1, n // (8 * 512)))


def loop_iterations(n: int) -> Program:
    """One thread in a loop of n iterations."""
    body = "s = wb.uint32(7)\nfor j in range(m):\n    s += wb.uint32(j ^ 5) * wb.uint32(3)\ny[0] = s"
    judged = program("loop iterations", body, {"m": whole(n), "y": output(1, dtype="uint32")}, 1)

    def right() -> dict[str, np.ndarray[tuple[int], np.dtype[np.uint32]]]:
        total = int(np.sum(np.arange(n, dtype=np.int64) ^ 5)) * 3 + 7
        return {"y": np.array([total % 2**32], np.uint32)}

    return answered(judged, right)


def nested_iterations(n: int) -> Program:
    """One thread in a nest of n iterations that leaves its inner loop."""
    outer = max(1, n // 64)
    body = """
    s = wb.uint32(7)
    for j in range(m):
        for k in range(80):
            if k == 64:
                break
            s += wb.uint32(j ^ k)
    y[0] = s
    """
    judged = program("nested iterations", body, {"m": whole(outer), "y": output(1, dtype="uint32")}, 1)

    def right() -> dict[str, np.ndarray[tuple[int], np.dtype[np.uint32]]]:
        total = sum(int(np.sum(np.arange(outer, dtype=np.int64) ^ k)) for k in range(64))
        return {"y": np.array([(total + 7) % 2**32], np.uint32)}

    return answered(judged, right)


def inner_loops(n: int) -> Program:
    """A loop around n loops of unknown length."""
    rows = ["i = wb.tid()", "v = x[i]", "for j in range(m):"]
    rows += [
        row for k in range(n) for row in (f"    for k{k} in range(m + {k % 3}):", f"        v = v * 0.5 + {k % 5}.0")
    ]
    return program("inner loops", indented([*rows, "y[i] = v"]), {**XY, "m": whole(2)}, 37, smooth=True)


def loops(n: int) -> Program:
    """n loops of unknown length one after the other."""
    rows = ["i = wb.tid()", "v = x[i]"]
    rows += [row for k in range(n) for row in (f"for j in range(m + {k % 3}):", f"    v = v * 0.5 + {k % 5}.0")]
    return program("loops", indented([*rows, "y[i] = v"]), {**XY, "m": whole(2)}, 37, smooth=True)


def nest(n: int) -> Program:
    """Loops in one another, n deep, with a condition that does not change in them."""
    rows = ["i = wb.tid()", "v = x[i]", *(f"{'    ' * k}for j{k} in range(m):" for k in range(n))]
    deep = "    " * n
    rows += [
        f"{deep}if x[0] > {0.5}:",
        f"{deep}    v = v * 0.5 + 1.0",
        f"{deep}else:",
        f"{deep}    v = v * 0.75 - float(j{n - 1})",
    ]
    return program("nest", indented([*rows, "y[i] = v"]), {**XY, "m": whole(2 if n < 8 else 1)}, 37, smooth=True)


def vector_body(n: int) -> Program:
    """A body of n operations with vectors among them."""
    x = floats(9, 3)
    rows = ["i = wb.tid()", "p = x[i]", "v = p[0]", "a = p[1]", *straight(n).splitlines(), "y[i] = p * v"]
    arguments = {"x": Array(x.values, "wb.vec3"), "y": Array(np.zeros((9, 3), np.float32), "wb.vec3", True)}
    return program("vector body", indented(rows), arguments, 9)


def long_body(n: int) -> Program:
    """A body of n operations and a loop."""
    rows = [
        "i = wb.tid()",
        "v = x[i]",
        "a = x[0]",
        "for j in range(m):",
        "    v = v * 0.5 + float(j)",
        *straight(n).splitlines(),
    ]
    return program("long body", indented([*rows, "y[i] = v"]), {"x": floats(9), "y": output(9), "m": whole(3)}, 9)


def there_and_back(n: int) -> Program:
    """A straight line of n operations, of which a half is used in the reverse order by the other half."""
    count = n // 4
    rows = ["i = wb.tid()", "v0 = x[i]", *(f"v{k + 1} = v{k} * 0.5 + x[i]" for k in range(count)), "s = v0"]
    rows += [f"s = s * 0.5 + v{k}" for k in reversed(range(count))]
    rows += ["s = s + v0"] * (n % 4)
    return program("there and back", indented([*rows, "y[i] = s"]), XY, 37)


def repeating(n: int) -> Program:
    """A loop of a thread of n operations, all on an element that is the same in each turn."""
    rows = ["i = wb.tid()", "for j in range(m):", "    v = x[i]", *["    v = v * (1.0 - v)"] * (n // 2)]
    rows += [*["    v = v + v"] * (n % 2), "    y[i, j] = v"]
    return program("repeating", indented(rows), {"x": floats(9), "y": output(9, 37), "m": whole(37)}, 9)


def threads(n: int) -> Program:
    """A launch of n threads."""
    arguments = {"x": floats(n), "y": output(n)}
    judged = program("threads", "i = wb.tid()\ny[i] = x[i] * 2.0 + 1.0", arguments, n)
    return answered(judged, lambda: {"y": arguments["x"].values * np.float32(2) + np.float32(1)})


def wrapped_block(n: int) -> Program:
    """A tile of one element for each of a block's n threads."""
    body = f"""
    b, t = wb.tid()
    v = wb.tile(float(t) * 0.5, preserve_type=False)
    wb.tile_store(y, v, offset=b * {n})
    """
    judged = program("block", body, {"y": output(2 * n)}, 2)
    return answered(judged, lambda: {"y": np.tile(np.arange(n, dtype=np.float32) / 2, 2)}, block_dim=n)


def tile_operations(n: int) -> Program:
    """n operations on tiles."""
    rows = [
        "b = wb.tid()",
        "t = wb.tile_load(x, shape=32, offset=b * 32)",
        "u = wb.tile_load(c, shape=32, offset=b * 32)",
    ]
    rows += [("t = t * u", "t = t + u", "t = t - u")[k % 3] for k in range(n)]
    arguments = {"x": floats(64), "c": floats(64, seed=3), "y": output(64)}
    judged = program("tile operations", indented([*rows, "wb.tile_store(y, t, offset=b * 32)"]), arguments, 2)

    def right() -> dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]]:
        t, u = arguments["x"].values, arguments["c"].values
        for k in range(n):
            t = (t * u, t + u, t - u)[k % 3]
        return {"y": t}

    return answered(judged, right, bound=1e-6, block_dim=32)


def tile_bytes(n: int) -> Program:
    """A tile of floats that takes n bytes, read twice."""
    body = f"""
    t = wb.tile_load(x, shape={n // 4})
    wb.tile_store(y, t * 2.0)
    wb.tile_store(z, t + t * t)
    """
    v = floats(n // 4)
    judged = program("tile bytes", body, {"x": v, "y": output(n // 4), "z": output(n // 4)}, 1)
    return answered(judged, lambda: {"y": v.values * 2, "z": v.values + v.values**2}, bound=1e-6, block_dim=32)


def tile_sum(n: int) -> Program:
    """A sum over a tile of n elements, and the tile in reverse."""
    body = f"""
    t = wb.tile_load(x, shape={n})
    wb.tile_store(y, t * t)
    s[0] = wb.tile_sum(t * t)
    """
    arguments = {"x": floats(n), "y": output(n), "s": output(1)}
    judged = program("tile sum", body, arguments, 1)
    squares = arguments["x"].values ** 2
    total = np.array([squares.astype(np.float64).sum()], np.float32)
    return answered(judged, lambda: {"y": squares, "s": total}, bound=1e-6, block_dim=32)


def product(n: int) -> Program:
    """A product of tiles whose rows have n elements."""
    body = f"""
    l = wb.tile_load(a, shape=(5, 7))
    r = wb.tile_load(b, shape=(7, {n}))
    acc = wb.tile_zeros(shape=(5, {n}), dtype=wb.float32)
    wb.tile_matmul(l, r, acc)
    wb.tile_store(y, acc)
    """
    a, b = (np.random.default_rng(n).integers(-9, 9, shape).astype(np.float32) for shape in ((5, 7), (7, n)))
    arguments = {"a": Array(a, "wb.float32"), "b": Array(b, "wb.float32"), "y": output(5, n)}
    judged = program("product", body, arguments, 1)
    return answered(judged, lambda: {"y": a @ b}, block_dim=32)
