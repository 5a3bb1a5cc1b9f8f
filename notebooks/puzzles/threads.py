"""The puzzles of `1-threads.ipynb`: what each asks, hints, and a solution. Try first."""

from __future__ import annotations

import numpy as np

from kernel_ext.puzzles import Arrow, Boxes, Case, Course, Picture, Puzzle

Random = np.random.Generator


def numbers(random: Random, *shape: int) -> np.ndarray:
    """Numbers from -2 to 2, float32."""
    return random.uniform(-2, 2, shape).astype(np.float32)


def unwritten(*shape: int) -> np.ndarray:
    """An output before the launch."""
    return np.full(shape, np.nan, np.float32)


def downwards(start: int, end: int, columns: range) -> tuple[Arrow, ...]:
    """An arrow in each column from one row of boxes to another."""
    return tuple(Arrow((start, 0, c), (end, 0, c)) for c in columns)


def _fahrenheit(random: Random) -> Case:
    x = 20 * numbers(random, int(random.integers(40, 200)))
    return Case(len(x), {"celsius": x, "result": unwritten(len(x))}, {"result": 1.8 * x + 32}, tolerance=1e-3)


fahrenheit = Puzzle(
    "fahrenheit", _fahrenheit,
    hints=(
        "tid() is the number of the thread; i is the one element that this thread is responsible for.",
        "Read celsius[i], compute, and assign to result[i].",
        "result[i] = 1.8 * celsius[i] + 32.0",
    ),
    solution="""
def fahrenheit(celsius: array[float], result: array[float]):
    i = tid()
    result[i] = 1.8 * celsius[i] + 32.0
""",
    goals=("sectors",),
    picture=Picture(
        "A thread per element: thread i reads celsius[i] and writes result[i]",
        (Boxes("celsius", ("0", "10", "20", "30", "37")), Boxes("thread", range(5), (0, 1.6), round=True),
         Boxes("result", ("32", "50", "68", "86", "98.6"), (0, 3.2))),
        downwards(0, 1, range(5)) + downwards(1, 2, range(5)),
    ),
)  # fmt: skip


def _mix(random: Random) -> Case:
    n, share = int(random.integers(40, 200)), float(np.float32(random.uniform(0.1, 0.9)))
    a, b = numbers(random, n), numbers(random, n)
    return Case(n, {"a": a, "b": b, "share": share, "result": unwritten(n)}, {"result": share * a + (1 - share) * b})


mix = Puzzle(
    "mix", _mix,
    hints=("A thread may read from as many arrays as it likes, at the same index.",
           "What is not a's share is b's: 1.0 - share.",
           "result[i] = share * a[i] + (1.0 - share) * b[i]"),
    solution="""
def mix(a: array[float], b: array[float], share: float, result: array[float]):
    i = tid()
    result[i] = share * a[i] + (1.0 - share) * b[i]
""",
    goals=("sectors",),
    picture=Picture(
        "Thread i reads a[i] and b[i] and writes result[i], here with a share of 0.25",
        (Boxes("a", (8, 4, 0, 4)), Boxes("b", (0, 4, 8, 8), (6, 0)), Boxes("thread", range(4), (3, 1.7), round=True),
         Boxes("result", (2, 4, 6, 7), (3, 3.4))),
        tuple(Arrow((k, 0, 2), (2, 0, 2), red=k == 1) for k in (0, 1)) + downwards(2, 3, range(2, 3)),
        ((8, 2.2, "share = 0.25"),),
    ),
)  # fmt: skip


def _guarded(random: Random) -> Case:
    n = int(random.integers(70, 120))
    x = numbers(random, n)
    return Case(-(-n // 64) * 64, {"x": x, "squares": unwritten(n)}, {"squares": x * x})


guarded = Puzzle(
    "guarded", _guarded,
    hints=("Which threads have no element? Those whose i is not below the number of elements.",
           "len(x) is the number of elements.",
           "Put the assignment under `if i < len(x):`"),
    solution="""
def guarded(x: array[float], squares: array[float]):
    i = tid()
    if i < len(x):
        squares[i] = x[i] * x[i]
""",
    goals=("sectors",),
    picture=Picture(
        "Eight threads and five elements: the last three threads must not touch anything",
        (Boxes("thread", range(8), round=True, warned=frozenset({(0, 5), (0, 6), (0, 7)})),
         Boxes("x", (3, 1, 2, 5, 4), (0, 1.7)), Boxes("squares", (9, 1, 4, 25, 16), (0, 3.4))),
        downwards(0, 1, range(5)) + downwards(1, 2, range(5)),
        ((5.2, 2.2, "nothing here"),),
    ),
)  # fmt: skip


def _table(random: Random) -> Case:
    rows, columns = numbers(random, int(random.integers(5, 40))), numbers(random, int(random.integers(33, 70)))
    shape = len(rows), len(columns)
    wanted = {"products": rows[:, None] * columns}
    return Case(shape, {"rows": rows, "columns": columns, "products": unwritten(*shape)}, wanted)


table = Puzzle(
    "table", _table,
    hints=("With a launch of two dimensions, tid() has two indices: i, j = tid().",
           "Row i of the table needs rows[i]; column j needs columns[j].",
           "products[i, j] = rows[i] * columns[j]"),
    solution="""
def table(rows: array[float], columns: array[float], products: array2d[float]):
    i, j = tid()
    products[i, j] = rows[i] * columns[j]
""",
    goals=("sectors",),
    picture=Picture(
        "Element (i, j) of a table is rows[i] times columns[j]",
        (Boxes("rows", ([2], [3], [5]), (0, 1.5), marked=frozenset({(1, 0)})),
         Boxes("columns", (1, 10, 7, 4), (3, 0), marked=frozenset({(0, 2)})),
         Boxes("", ([2, 20, 14, 8], [3, 30, 21, 12], [5, 50, 35, 20]), (3, 1.5), marked=frozenset({(1, 2)}))),
        (Arrow((0, 1, 0), (2, 1, 0)), Arrow((1, 0, 2), (2, 0, 2))),
        ((7.4, 3, "thread (1, 2)"),),
    ),
)  # fmt: skip


def _flip(random: Random) -> Case:
    x = numbers(random, int(random.integers(40, 200)))
    return Case(len(x), {"x": x}, {"x": x[::-1].copy()})


flip = Puzzle(
    "flip", _flip,
    hints=("If each thread reads its partner and writes its own element, a partner may have written already.",
           "Let one thread of each pair do the work of both, and the other nothing.",
           "For i < len(x) // 2: read x[i] and x[len(x) - 1 - i] into two names, then write both."),
    solution="""
def flip(x: array[float]):
    i = tid()
    j = len(x) - 1 - i
    if i < j:
        left = x[i]
        x[i] = x[j]
        x[j] = left
""",
    goals=("sectors",),
    picture=Picture(
        "An array is turned around in place",
        (Boxes("before", (1, 2, 3, 4, 5, 6)), Boxes("after", (6, 5, 4, 3, 2, 1), (0, 2.6))),
        tuple(Arrow((0, 0, k), (1, 0, 5 - k), red=k in (1, 4)) for k in (0, 5, 1, 4)),
        ((6.6, 1.8, "the same memory"),),
    ),
)  # fmt: skip


def _curvature(random: Random) -> Case:
    shape = int(random.integers(5, 30)), int(random.integers(5, 50))
    u = numbers(random, *shape)
    around = np.pad(u, 1)
    wanted = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:] - 4 * u
    return Case(shape, {"u": u, "bend": unwritten(*shape)}, {"bend": wanted})


curvature = Puzzle(
    "curvature", _curvature,
    hints=("Add up the neighbours that are there, one after the other, each under an `if`.",
           "There is a neighbour above if i > 0, and one below if i < u.shape[0] - 1.",
           "total = -4.0 * u[i, j]; if i > 0: total += u[i - 1, j]; and so on for three more; bend[i, j] = total"),
    solution="""
def curvature(u: array2d[float], bend: array2d[float]):
    i, j = tid()
    total = -4.0 * u[i, j]
    if i > 0:
        total += u[i - 1, j]
    if i < u.shape[0] - 1:
        total += u[i + 1, j]
    if j > 0:
        total += u[i, j - 1]
    if j < u.shape[1] - 1:
        total += u[i, j + 1]
    bend[i, j] = total
""",
    goals=("sectors",),
    picture=Picture(
        "The curvature at a point is the sum of its four neighbours less four times itself; outside of the array is 0",
        (Boxes("u", ([1, 2, 0, 3], [4, 5, 1, 0], [2, 2, 6, 1]), marked=frozenset({(0, 1), (1, 0), (1, 2), (2, 1)}),
               warned=frozenset({(1, 1)})),
         Boxes("bend", ([2, -2, 6, -12], [-8, -11, 7, 5], [-4, 5, -20, 2]), (7, 0), warned=frozenset({(1, 1)}),
               above=True)),
        (Arrow((0, 1, 3), (1, 1, 0)),),
        ((0, 3.6, "2 + 4 + 1 + 2 - 4 * 5 = -11"),),
    ),
)  # fmt: skip


def _chunks(random: Random) -> Case:
    n = int(random.integers(900, 1200))
    x = np.abs(numbers(random, n))
    threads = -(-n // 8)
    return Case(threads, {"x": x, "roots": unwritten(n), "threads": threads}, {"roots": np.sqrt(x)})


chunks = Puzzle(
    "chunks", _chunks,
    hints=("A loop with k in range(8); in each round the thread takes an element j. Not all j exist.",
           "8 * i + k is right. But then neighbouring threads are 8 elements, a whole sector, apart.",
           "In round k all threads together should take neighbours: j = i + k * threads."),
    solution="""
def chunks(x: array[float], roots: array[float], threads: int):
    i = tid()
    for k in range(8):
        j = i + k * threads
        if j < len(x):
            roots[j] = sqrt(x[j])
""",
    goals=("sectors",),
    picture=Picture(
        "Few threads and many elements: each thread takes several, not all of which exist",
        (Boxes("thread", range(4), (2, 0), round=True), Boxes("x", [*"abcdefghij"], (0, 1.8)),
         Boxes("roots", [*"√√√√√√√√√√"], (0, 3.2))),
        (Arrow((0, 0, 0), (1, 0, 2)), Arrow((0, 0, 3), (1, 0, 7))),
        ((6.4, 0.5, "Which thread takes which?"),),
    ),
)  # fmt: skip


def _lookup(random: Random) -> Case:
    palette, n = numbers(random, int(random.integers(5, 20))), int(random.integers(40, 150))
    index = random.integers(-1, len(palette), n).astype(np.int32)
    wanted = {"colour": np.where(index < 0, 0, palette[index])}
    return Case(n, {"palette": palette, "index": index, "colour": unwritten(n)}, wanted)


lookup = Puzzle(
    "lookup", _lookup,
    hints=("An element may be read at an index that comes from another array.",
           "An index of -1 counts from the end, as in Python: it is no fault, but it is the wrong element.",
           "Test index[i] first; where it is negative, write 0.0."),
    solution="""
def lookup(palette: array[float], index: array[int], colour: array[float]):
    i = tid()
    k = index[i]
    if k >= 0:
        colour[i] = palette[k]
    else:
        colour[i] = 0.0
""",
    goals=("sectors",),
    picture=Picture(
        "colour[i] is palette[index[i]], or 0 where the index is -1",
        (Boxes("index", (2, 0, -1, 2, 1), warned=frozenset({(0, 2)})), Boxes("palette", (0.5, 0.7, 0.9), (1, 1.9)),
         Boxes("colour", (0.9, 0.5, 0, 0.9, 0.7), (0, 3.8), warned=frozenset({(0, 2)}))),
        (Arrow((0, 0, 1), (1, 0, 0)), Arrow((1, 0, 0), (2, 0, 1)), Arrow((0, 0, 3), (1, 0, 2)),
         Arrow((1, 0, 2), (2, 0, 3))),
        ((5.3, 0.5, "-1: none"), (5.3, 4.3, "so 0")),
    ),
)  # fmt: skip


def _histogram(random: Random) -> Case:
    n, bins = int(random.integers(200, 400)), int(random.integers(4, 12))
    index = random.integers(0, bins, n).astype(np.int32)
    wanted = {"counts": np.bincount(index, minlength=bins)}
    return Case(n, {"index": index, "counts": np.zeros(bins, np.int32)}, wanted)


histogram = Puzzle(
    "histogram", _histogram,
    hints=("Two threads that read 5, add 1 and write 6 have counted once, not twice.",
           "An atomic operation reads, adds and writes in one step.",
           "atomic_add(counts, index[i], 1)"),
    solution="""
def histogram(index: array[int], counts: array[int]):
    i = tid()
    atomic_add(counts, index[i], 1)
""",
    goals=("atomics", "sectors"),
    picture=Picture(
        "How often does each number occur? Several threads add to one element",
        (Boxes("index", (1, 0, 1, 3, 1, 0)), Boxes("counts", (2, 3, 0, 1), (1, 2.4), marked=frozenset({(0, 1)}))),
        tuple(Arrow((0, 0, k), (1, 0, v), red=v == 1) for k, v in enumerate((1, 0, 1, 3, 1, 0))),
    ),
)  # fmt: skip

course = Course(fahrenheit, mix, guarded, table, flip, curvature, chunks, lookup, histogram)
check, hint, score, show = course.tools
