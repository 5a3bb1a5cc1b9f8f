"""Measure one matrix product, written in many ways, against the plain one.

Every row computes the same product (the triangular ones half of it); results are compared with NumPy's. A row whose
memory order differs (a column of B, or of C, in each thread) is marked; no other should take more than twice the time.

python benchmarks/spellings.py [--rounds N] [spelling …]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from measure import RESULTS, machine, shown

import workbench as wb

SIZE = 256
MATRIX, FLAT = wb.array2d[float], wb.array[float]


@wb.func
def term(a: MATRIX, b: MATRIX, i: int, k: int, j: int) -> float:
    """Return one term of an element."""
    return a[i, k] * b[k, j]


@wb.kernel
def plain(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: plain."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def guarded(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: guarded."""
    i, j = wb.tid()
    if i < c.shape[0] and j < c.shape[1]:
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@wb.kernel
def early_return(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: an early return."""
    i, j = wb.tid()
    if i >= c.shape[0]:
        return
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def early_returns(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: an early return by both indices."""
    i, j = wb.tid()
    if i >= c.shape[0] or j >= c.shape[1]:
        return
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def prints(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a print that never runs."""
    i, j = wb.tid()
    if i < 0:
        print(i)
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def prints_in_loop(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a print in the loop that never runs."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        if k < 0:
            print(i)
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def prints_by_data(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a print that data decides."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    if s > 1.0e9:
        print(s)
    c[i, j] = s


@wb.kernel
def asserts(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: asserts."""
    i, j = wb.tid()
    assert a.shape[1] == b.shape[0]
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    assert s < 1.0e9
    c[i, j] = s


@wb.kernel
def five_loops(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: five loops."""
    i, j = wb.tid()
    n = a.shape[1] // 5
    s = 0.0
    for k in range(n):
        s += a[i, k] * b[k, j]
    for k in range(n, 2 * n):
        s += a[i, k] * b[k, j]
    for k in range(2 * n, 3 * n):
        s += a[i, k] * b[k, j]
    for k in range(3 * n, 4 * n):
        s += a[i, k] * b[k, j]
    for k in range(4 * n, a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def while_loop(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a while."""
    i, j = wb.tid()
    s = 0.0
    k = 0
    while k < a.shape[1]:
        s += a[i, k] * b[k, j]
        k += 1
    c[i, j] = s


@wb.kernel
def downward(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: downward."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1] - 1, -1, -1):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def in_place(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: in place."""
    i, j = wb.tid()
    c[i, j] = 0.0
    for k in range(a.shape[1]):
        c[i, j] += a[i, k] * b[k, j]


@wb.kernel
def row_per_thread(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a row per thread."""
    i = wb.tid()
    for j in range(b.shape[1]):
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@wb.kernel
def row_by_rows(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a row per thread, row by row."""
    i = wb.tid()
    for j in range(b.shape[1]):
        c[i, j] = 0.0
    for k in range(a.shape[1]):
        for j in range(b.shape[1]):
            c[i, j] += a[i, k] * b[k, j]


@wb.kernel
def column_per_thread(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a column per thread."""
    j = wb.tid()
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@wb.kernel
def flat_index(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a flat index."""
    t = wb.tid()
    i = t // c.shape[1]
    j = t % c.shape[1]
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def flat_arrays(a: FLAT, b: FLAT, n: int, c: FLAT):
    """The product: flat arrays."""
    i, j = wb.tid()
    s = 0.0
    for k in range(n):
        s += a[i * n + k] * b[k * n + j]
    c[i * n + j] = s


@wb.kernel
def all_flat(a: FLAT, b: FLAT, n: int, c: FLAT):
    """The product: a flat index, flat arrays."""
    t = wb.tid()
    i = t // n
    j = t - i * n
    s = 0.0
    for k in range(n):
        s += a[i * n + k] * b[k * n + j]
    c[t] = s


@wb.kernel
def swapped(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: swapped axes."""
    j, i = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def transposed(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: the second operand transposed."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[j, k]
    c[i, j] = s


@wb.kernel
def triangular(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: triangular, by rows."""
    i, j = wb.tid()
    s = 0.0
    for k in range(i + 1):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def triangular_columns(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: triangular, by columns."""
    i, j = wb.tid()
    s = 0.0
    for k in range(j + 1):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def wrapped(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: % indices."""
    i, j = wb.tid()
    n = a.shape[1]
    s = 0.0
    for k in range(n):
        s += a[i, k % n] * b[k % n, j % n]
    c[i, j] = s


@wb.kernel
def rotated(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: rotated by %."""
    i, j = wb.tid()
    n = a.shape[1]
    s = 0.0
    for q in range(n):
        k = (q + i) % n
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def clamped(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: clamped indices."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, wb.min(k, a.shape[1] - 1)] * b[k, wb.min(j, b.shape[1] - 1)]
    c[i, j] = s


@wb.kernel
def by_function(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: by a function."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += term(a, b, i, k, j)
    c[i, j] = s


@wb.kernel
def breaks(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: break."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1] + 1):
        if k == a.shape[1]:
            break
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def endless(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: while True."""
    i, j = wb.tid()
    s = 0.0
    k = 0
    while True:
        if k >= a.shape[1]:
            break
        s += a[i, k] * b[k, j]
        k += 1
    c[i, j] = s


@wb.kernel
def skips(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: continue."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        if a[i, k] == 0.0:
            continue
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def constant_range(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a constant range."""
    i, j = wb.tid()
    s = 0.0
    for k in range(SIZE):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def blocked(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: loops in blocks."""
    i, j = wb.tid()
    s = 0.0
    for start in range(0, a.shape[1], 16):
        for k in range(start, start + 16):
            s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def written_out(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: written out."""
    i, j = wb.tid()
    s = 0.0
    for k in range(0, a.shape[1], 4):
        s += a[i, k] * b[k, j]
        s += a[i, k + 1] * b[k + 1, j]
        s += a[i, k + 2] * b[k + 2, j]
        s += a[i, k + 3] * b[k + 3, j]
    c[i, j] = s


@wb.kernel
def strips_of_four(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: four columns per thread."""
    i, q = wb.tid()
    for j in range(4 * q, 4 * q + 4):
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@wb.kernel
def batched(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: a batch of one."""
    n, i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[n * SIZE + i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def split_sum(a: MATRIX, b: MATRIX, c: MATRIX):
    """The product: the sum split among threads."""
    p, i, j = wb.tid()
    n = a.shape[1] // 4
    s = 0.0
    for k in range(p * n, p * n + n):
        s += a[i, k] * b[k, j]
    wb.atomic_add(c, i, j, s)


class Spelling(msgspec.Struct):
    """A kernel and how it is launched.

    Attributes:
        kernel: the kernel.
        dim: of the launch.
        operands: of the product, in its form.
        result: the kernel's product, for NumPy.
        order: memory is read or written in another order than by the plain one.
        half: it does half of the work.
        checks: run with checks.
        clear: the result is cleared before.
    """

    kernel: Any
    dim: Any = (SIZE, SIZE)
    operands: Callable[[np.ndarray, np.ndarray], tuple[Any, ...]] = lambda a, b: (a, b)
    result: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.matmul
    order: bool = False
    half: bool = False
    checks: bool = False
    clear: bool = False


def spread(b: np.ndarray) -> Any:
    """Return a view of every other column of an array, with the elements of `b`."""
    whole = np.zeros((len(b), 2 * len(b)), np.float32)
    whole[:, ::2] = b
    return wb.array(whole)[:, ::2]


def rows_apart(a: np.ndarray) -> Any:
    """Return a view of the first columns of an array, with the elements of `a`."""
    return wb.array(np.pad(a, ((0, 0), (0, 16))))[:, : a.shape[1]]


FLATTENED: dict[str, Any] = {"operands": lambda a, b: (a.reshape(-1), b.reshape(-1), SIZE)}
SPELLINGS = {
    "plain": Spelling(plain),
    "guarded": Spelling(guarded),
    "an early return": Spelling(early_return),
    "an early return by both indices": Spelling(early_returns),
    "a print that never runs": Spelling(prints),
    "a print in the loop that never runs": Spelling(prints_in_loop),
    "a print that data decides": Spelling(prints_by_data),
    "asserts": Spelling(asserts),
    "asserts, with checks": Spelling(asserts, checks=True),
    "with checks": Spelling(plain, checks=True),
    "five loops": Spelling(five_loops),
    "a while": Spelling(while_loop),
    "downward": Spelling(downward),
    "in place": Spelling(in_place),
    "a row per thread": Spelling(row_per_thread, SIZE, order=True),
    "a row per thread, row by row": Spelling(row_by_rows, SIZE, order=True),
    "a column per thread": Spelling(column_per_thread, SIZE),
    "a flat index": Spelling(flat_index, SIZE * SIZE),
    "flat arrays": Spelling(flat_arrays, **FLATTENED),
    "a flat index, flat arrays": Spelling(all_flat, SIZE * SIZE, **FLATTENED),
    "swapped axes": Spelling(swapped, order=True),
    "the second operand transposed": Spelling(transposed, result=lambda a, b: a @ b.T, order=True),
    "operands with gaps between rows": Spelling(plain, operands=lambda a, b: (rows_apart(a), rows_apart(b))),
    "the first operand strided": Spelling(plain, operands=lambda a, b: (spread(a), b)),
    "the second operand strided": Spelling(plain, operands=lambda a, b: (a, spread(b)), order=True),
    "triangular, by rows": Spelling(triangular, result=lambda a, b: np.tril(a) @ b, half=True),
    "triangular, by columns": Spelling(triangular_columns, result=lambda a, b: a @ np.triu(b), half=True),
    "% indices": Spelling(wrapped),
    "rotated by %": Spelling(rotated),
    "clamped indices": Spelling(clamped),
    "by a function": Spelling(by_function),
    "break": Spelling(breaks),
    "while True": Spelling(endless),
    "continue": Spelling(skips),
    "a constant range": Spelling(constant_range),
    "loops in blocks": Spelling(blocked),
    "written out": Spelling(written_out),
    "four columns per thread": Spelling(strips_of_four, (SIZE, SIZE // 4)),
    "a batch of one": Spelling(batched, (1, SIZE, SIZE)),
    "the sum split among threads": Spelling(split_sum, (4, SIZE, SIZE), clear=True),
}


def prepared(name: str, a: np.ndarray, b: np.ndarray) -> Callable[[], object]:
    """Return a call that launches a spelling, after comparing its result with NumPy's."""
    spelling = SPELLINGS[name]
    operands = [wb.array(v) if isinstance(v, np.ndarray) else v for v in spelling.operands(a, b)]
    c = wb.zeros(SIZE * SIZE if spelling.operands is FLATTENED["operands"] else (SIZE, SIZE))

    def call() -> None:
        if spelling.clear:
            c.zero_()
        wb.launch(spelling.kernel, spelling.dim, operands, [c], checks=spelling.checks)

    call()
    np.testing.assert_allclose(c.numpy().reshape(SIZE, SIZE), spelling.result(a, b), rtol=1e-4, err_msg=name)
    return call


def main() -> None:
    """Time all spellings, in turn, and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spellings", nargs="*")
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    draw = np.random.default_rng(3)
    a, b = (draw.random((SIZE, SIZE), np.float32) for _ in range(2))
    names = ["plain", *(n for n in SPELLINGS if n != "plain" and (not asked.spellings or n in asked.spellings))]
    calls = {name: prepared(name, a, b) for name in names}
    least = dict.fromkeys(names, float("inf"))
    for _ in range(asked.rounds):
        for name, call in calls.items():
            started = time.process_time()
            for _ in range(5):
                call()
            least[name] = min(least[name], (time.process_time() - started) / 5)
    lines = ["## One matrix product in many spellings", "", "| | time | × the plain one |", "|---|---|---|"]
    for name, seconds in least.items():
        ratio = seconds / least["plain"] * (2 if SPELLINGS[name].half else 1)
        notes = [note for note in ("order", "half") if getattr(SPELLINGS[name], note)]
        words = {"order": "another memory order", "half": "half of the work, counted"}
        label = name + (f" ({', '.join(words[n] for n in notes)})" if notes else "")
        lines.append(f"| {label} | {shown(seconds)} | {ratio:.2f} |")
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
    note = (
        f"{SIZE}×{SIZE} float32; least processor time of {asked.rounds} rounds in which all took turns, at a load of "
    )
    note += f"{os.getloadavg()[0]:.0f}."
    print("\n".join(lines), flush=True)
    if not asked.spellings:
        (RESULTS / "spellings.md").write_text("\n".join([*lines, "", note, "", facts, ""]))
        kept = {"machine": machine(), "when": time.strftime("%Y-%m-%d"), "rounds": asked.rounds, "seconds": least}
        (RESULTS / "spellings.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
