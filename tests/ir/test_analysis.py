"""What the analysis says of indices, against CPython: it runs each kernel for every thread and notes the indices.

The kernels are written by chance. Affine forms must have the values of the indices; what is called disjoint, uniform or
equal must be that in every thread and iteration.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest

import workbench as wb
from workbench.api.kernels.kernel import kernel
from workbench.ir.analysis import Access, Analysis, Atom, Form, Sizes
from workbench.ir.values import Function, Op, Value, array_of

LAUNCH, SIZE, NUMBER = (4, 3), 11, 2


class Noted(NamedTuple):
    """An access as CPython makes it: which in the text, by which thread, in which iteration, at which index."""

    number: int
    thread: tuple[int, ...]
    counter: int
    index: int


class Recorder:
    """An array that notes indices, counted from the end if they are negative."""

    def __init__(self, notes: list[Noted], scope: dict[str, Any]) -> None:
        self.notes, self.scope, self.shape = notes, scope, (SIZE,)

    def __getitem__(self, at: tuple[int, int, int]) -> float:
        number, counter, index = at
        index += SIZE if index < 0 else 0
        self.notes.append(Noted(number, self.scope["thread"], counter, index))
        return 0.0

    def __setitem__(self, at: tuple[int, int, int], value: float) -> None:
        self[at]


def index(chosen: random.Random, depth: int = 2) -> str:
    """An expression of thread indices, the loop's counter, a parameter and a size."""
    if depth == 0 or chosen.random() < 0.15:
        return chosen.choice(["i", "j", "k", "n", "i", "j", "k", "x.shape[0]", str(chosen.randint(-3, 4))])
    one, other = index(chosen, depth - 1), index(chosen, depth - 1)
    return chosen.choice(
        [
            f"({one} + {other})", f"({one} + {chosen.randint(-3, 3)})", f"({one} - {other})",
            f"({one} * {chosen.randint(-2, 3)})", f"({chosen.randint(2, 4)} * {one})", f"(-{one})",
            f"({one} % {chosen.randint(2, 4)})", f"({one} % x.shape[0])", f"max({one}, 0)",
            f"min({one}, x.shape[0] - 1)", f"({one} // 2)", f"({one} if i > {chosen.randint(0, 2)} else {other})",
        ]
    )  # fmt: skip


def program(chosen: random.Random) -> list[str]:
    """The indices of four accesses: of one store and three loads, some alike."""
    indices = [index(chosen) for _ in range(3)]
    return [*indices, chosen.choice([*indices, f"({indices[0]} + 1)", f"(2 * {indices[1]})"])]


def run_by_python(indices: list[str]) -> list[Noted]:
    """All accesses of a launch."""
    notes: list[Noted] = []
    scope: dict[str, Any] = {"n": NUMBER}
    scope["x"] = Recorder(notes, scope)
    code = compile("\n".join(f"x[{m}, k, {at}]" for m, at in enumerate(indices)), "indices", "exec")
    for thread in product(*map(range, LAUNCH)):
        for k in range(1, 4):
            scope.update(thread=thread, i=thread[0], j=thread[1], k=k)
            exec(code, scope)
    return notes


def function_of(indices: list[str]) -> Function:
    """The kernel with these accesses, the first of which is a store."""
    first, *rest = indices
    text = (
        "def k(x: wb.array[float], n: int):\n    i, j = wb.tid()\n    for k in range(1, 4):\n"
        f"        x[{first}] = {' + '.join(f'x[{at}]' for at in rest)}\n"
    )
    scope: dict[str, Any] = {"wb": wb}
    exec(text, scope)
    return kernel(scope["k"], source=text).specialise().function


class Machine:
    """The value of an affine form for one thread, with operations that are not affine as CPython computes them."""

    def __init__(self, analysis: Analysis, note: Noted) -> None:
        self.analysis, self.note = analysis, note

    def of(self, form: Form) -> int:
        return form.constant + sum(n * self.atom(atom) for atom, n in form.terms.items())

    def atom(self, atom: Atom) -> int:
        known = {"shape": SIZE, "number": NUMBER, "tid": self.note.thread[atom.axis] if atom.kind == "tid" else 0}
        return known[atom.kind] if atom.kind in known else self.value(atom.value)

    def value(self, value: Value | None) -> int:
        assert value is not None
        if value in self.analysis.counters:
            return self.note.counter
        op = self.analysis.defs[value]
        if op.name == "if":
            side = op.blocks[0 if self.holds(op.operands[0]) else 1]
            return self.of(self.analysis.form(side.yielded[op.results.index(value)]))
        if op.name == "where":
            return self.of(self.analysis.form(op.operands[1 if self.holds(op.operands[0]) else 2]))
        a, b = (self.of(self.analysis.form(v)) for v in op.operands)
        rules = {"mod": lambda: a % b, "floordiv": lambda: a // b, "min": lambda: min(a, b), "max": lambda: max(a, b),
                 "wrap_index": lambda: a + b if a < 0 else a, "mul": lambda: a * b}  # fmt: skip
        return rules[op.name]()

    def holds(self, condition: Value) -> bool:
        op = self.analysis.defs[condition]
        a, b = (self.of(self.analysis.form(v)) for v in op.operands)
        return {"gt": a > b, "lt": a < b, "le": a <= b, "ge": a >= b}[op.name]


def accesses_in_order(analysis: Analysis, indices: list[str]) -> dict[int, Access]:
    """The accesses by their number in the text: loads come before the store."""
    every = [a for a in analysis.accesses() if a.op.name in ("load", "store")]
    assert len(every) == len(indices)
    return {(0 if a.op.name == "store" else n + 1): a for n, a in enumerate(every)}


def programs(seed: int, count: int) -> Iterator[tuple[list[str], Analysis, dict[int, Access], list[Noted]]]:
    chosen = random.Random(seed)
    for _ in range(count):
        indices = program(chosen)
        analysis = Analysis(function_of(indices))
        try:
            accesses = accesses_in_order(analysis, indices)
        except AssertionError:
            continue  # two of the loads were one
        yield indices, analysis, accesses, run_by_python(indices)


@pytest.mark.parametrize("seed", range(3))
def test_forms_have_the_values_of_indices(seed: int) -> None:
    affine = 0
    for indices, analysis, accesses, notes in programs(seed, 30):
        for note in notes:
            form = analysis.form(accesses[note.number].indices[0])
            affine += all(atom.kind != "value" or atom.value in analysis.counters for atom in form.terms)
            assert Machine(analysis, note).of(form) == note.index, indices[note.number]
    assert affine > 500


@pytest.mark.parametrize("seed", range(3))
def test_remainders_written_out_differ_by_multiples_of_their_divisor(seed: int) -> None:
    """Of x % 3 no more is claimed than that it is x plus a multiple of 3: so all claims hold modulo that multiple."""
    claims = 0
    for indices, analysis, accesses, notes in programs(seed, 50):
        for note in notes:
            form = analysis.congruent(analysis.form(accesses[note.number].indices[0]))
            multiples = [n for atom, n in form.terms.items() if atom.kind == "multiple"]
            plain = Form(form.constant, {a: n for a, n in form.terms.items() if a.kind != "multiple"})
            if len(multiples) == 1:
                claims += 1
                assert (Machine(analysis, note).of(plain) - note.index) % multiples[0] == 0, indices[note.number]
    assert claims > 50


def disjoint(analysis: Analysis, one: Op, other: Op, launch: Sizes | None = None) -> bool:
    """Whether two threads never touch one element by these accesses; None: in any launch."""
    axes = tuple(range(analysis.function.launch_ndim)) or None
    return not analysis.dependence(one, other, axes).exists(launch)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_disjoint_no_two_threads_touch(seed: int) -> None:
    proved = refuted = 0
    for indices, analysis, accesses, notes in programs(seed, 40):
        sizes = Sizes(LAUNCH, {"x": (SIZE,)}, {"n": NUMBER})
        inside = [note for note in notes if 0 <= note.index < SIZE]
        for m, access in accesses.items():
            mine = [note for note in inside if note.number == 0]
            theirs = [note for note in inside if note.number == m]
            meet = any(a.index == b.index and a.thread != b.thread for a in mine for b in theirs)
            for launch in (None, sizes):
                apart = disjoint(analysis, accesses[0].op, access.op, launch)
                assert not (apart and meet), (indices[0], indices[m], launch)
                proved, refuted = proved + apart, refuted + meet
    assert refuted > 50
    assert proved > 5


def test_elements_that_only_one_thread_touches_are_proved() -> None:
    sizes = Sizes(LAUNCH, {"x": (30,)}, {"n": 12})
    cases = {
        ("3 * i + j", "3 * i + j"): False,  # without the sizes: j could be 3
        ("2 * i", "2 * i + 1"): True,
        ("i % 2", "(i + 1) % 2 + 2"): False,
        ("4 * j + 2 * (k % 2)", "4 * i + 2 * k + 1"): True,
        ("2 * (i + j)", "2 * (i + 3 * j) + 1"): True,
    }
    for (one, other), proved in cases.items():
        analysis = Analysis(function_of([one, other]))
        store, load = (a for _, a in sorted(accesses_in_order(analysis, [one, other]).items()))
        assert disjoint(analysis, store.op, load.op) is proved, (one, other)
    # n threads apart: only the launch can say so.
    analysis = Analysis(function_of(["i", "i + n"]))
    store, load = (a for _, a in sorted(accesses_in_order(analysis, ["i", "i + n"]).items()))
    assert not disjoint(analysis, store.op, load.op)
    assert disjoint(analysis, store.op, load.op, sizes)


@pytest.mark.parametrize("seed", range(3))
def test_uniform_values_are_the_same_in_all_threads_and_iterations(seed: int) -> None:
    claims = 0
    for indices, analysis, accesses, notes in programs(seed, 30):
        for number, access in accesses.items():
            if analysis.uniform(access.indices[0]):
                claims += 1
                assert len({note.index for note in notes if note.number == number}) == 1, indices[number]
    assert claims > 3


@pytest.mark.parametrize("seed", range(3))
def test_values_with_one_representative_are_equal(seed: int) -> None:
    claims = 0
    for indices, analysis, accesses, notes in programs(seed, 30):
        by_place = {(note.number, note.thread, note.counter): note.index for note in notes}
        for m, n in product(accesses, repeat=2):
            one, other = (analysis.representatives[accesses[number].indices[0]] for number in (m, n))
            if m < n and one is other:
                claims += 1
                assert all(at == by_place[n, *rest] for (number, *rest), at in by_place.items() if number == m), indices
    assert claims > 3


def test_accesses_know_their_branches_and_loops() -> None:
    text = (
        "def k(x: wb.array[float], n: int):\n    i = wb.tid()\n    if i > 0:\n        for k in range(n):\n"
        "            if not (k > 3 or i < 2):\n                x[i] = 1.0\n    else:\n        x[0] = 2.0\n"
    )
    scope: dict[str, Any] = {"wb": wb}
    exec(text, scope)
    analysis = Analysis(kernel(scope["k"], source=text).specialise().function)
    inner, outer = analysis.accesses()
    assert array_of(inner.op.operands[0]).ndim == 1
    assert [op.name for op in inner.loops] == ["for"] and not outer.loops

    def implied(access: Access) -> list[tuple[str, str | int]]:
        every = [c for condition, holds in access.guards for c in analysis.implied(condition, holds)]
        return [(name, analysis.number(right) or 0) for name, _, right in every]

    assert implied(inner) == [("gt", 0), ("le", 3), ("ge", 2)]
    assert implied(outer) == [("le", 0)]


@pytest.mark.parametrize("bits", ["wb.uint32", "wb.uint64"])
def test_an_unsigned_difference_that_is_widened_is_no_affine_form(bits: str) -> None:
    """uint32(i) - 1 is 2**32 - 1 for i = 0; as an int64 it is not i - 1."""
    text = f"def k(x: wb.array[float]):\n    i = wb.tid()\n    x[wb.int64({bits}(i) - {bits}(1))] = 1.0\n"
    scope: dict[str, Any] = {"wb": wb}
    exec(text, scope)
    analysis = Analysis(kernel(scope["k"], source=text).specialise().function)
    (access,) = analysis.accesses()
    form, _ = analysis.index(access.indices[0])
    affine = form == Form(-1, {Atom("tid"): 1})
    assert affine is (bits == "wb.uint64")  # 64 bits are not widened: they wrap to -1 again
