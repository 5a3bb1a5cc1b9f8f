"""Which changes of one element by all threads are marked, so that a backend may combine them."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.api.builds.build import ir_of
from workbench.ir.ops import REDUCTION
from workbench.ir.values import walk
from workbench.passes.memory.atomics import reduces, reductions

FLOATS = wb.array(dtype=wb.float32)


def marked(kernel: wb.Kernel, direction: str = "forward", atomic: bool = False) -> list[str]:
    """The arrays whose changes are marked, once per operation."""
    function = ir_of(kernel.specialise().function, direction, atomic, 16)
    return [op.operands[0].name for op in walk(function.body) if op.attrs.get(REDUCTION)]


@wb.kernel
def total(x: FLOATS, o: FLOATS):
    i = wb.tid()
    o[0] += x[i]


@wb.kernel
def guarded(x: FLOATS, k: int, o: FLOATS, hi: FLOATS):
    i = wb.tid()
    if x[i] < 0.0:
        return
    for _ in range(3):
        wb.atomic_add(o, k + 1, x[i])
    wb.atomic_max(hi, -1, x[i])


@wb.kernel
def last_of_rows(x: FLOATS, o: wb.array(dtype=wb.vec3, ndim=2)):
    i = wb.tid()
    wb.atomic_add(o, o.shape[0] - 1, 2, wb.vec3(x[i]))


@wb.kernel
def old_value(x: FLOATS, o: FLOATS):
    i = wb.tid()
    x[i] = wb.atomic_add(o, 0, 1.0)


@wb.kernel
def read_too(x: FLOATS, o: FLOATS):
    i = wb.tid()
    wb.atomic_add(o, 0, x[i] * o[1])


@wb.kernel
def two_kinds(x: FLOATS, o: FLOATS):
    i = wb.tid()
    wb.atomic_add(o, 0, x[i])
    wb.atomic_max(o, 1, x[i])


@wb.kernel
def by_thread(x: FLOATS, o: FLOATS):
    i = wb.tid()
    wb.atomic_add(o, i // 2, x[i])


@wb.kernel
def by_turn(x: FLOATS, o: FLOATS):
    i = wb.tid()
    for k in range(4):
        wb.atomic_add(o, k, x[i])


@wb.kernel
def by_element(x: FLOATS, at: wb.array(dtype=int), o: FLOATS):
    i = wb.tid()
    wb.atomic_add(o, at[0], x[i])


@wb.kernel
def exchanged(x: FLOATS, o: FLOATS):
    i = wb.tid()
    wb.atomic_exch(o, 0, x[i])


@pytest.mark.parametrize(
    ("kernel", "arrays"),
    [(total, ["o"]), (guarded, ["o", "hi"]), (last_of_rows, ["o"])],
    ids=lambda v: getattr(v, "name", None),
)
def test_one_element_for_all_threads_is_marked(kernel: wb.Kernel, arrays: list[str]) -> None:
    assert marked(kernel) == arrays
    assert reduces(kernel.specialise().function)
    assert marked(kernel, atomic=True) == [], "arguments that overlap"


@pytest.mark.parametrize(
    "kernel",
    [old_value, read_too, two_kinds, by_thread, by_turn, by_element, exchanged],
    ids=lambda kernel: kernel.name,
)
def test_other_changes_are_not_marked(kernel: wb.Kernel) -> None:
    assert marked(kernel) == []
    assert not reduces(kernel.specialise().function)


def test_the_adjoint_of_an_element_that_all_threads_read_is_marked() -> None:
    @wb.kernel
    def scaled(x: FLOATS, c: FLOATS, y: FLOATS):
        i = wb.tid()
        y[i] = x[i] * c[0]

    assert marked(scaled, "adjoint") == ["adj_c"]
    assert marked(scaled, "adjoint", atomic=True) == []


def test_a_gradient_that_a_user_wrote_does_not_hide_what_the_forward_code_changes() -> None:
    """`reduces` says what the launcher has to know, so it looks at the code that runs."""

    @wb.func
    def add_to(o: FLOATS, v: wb.float32):
        wb.atomic_add(o, 0, v)
        return v

    @wb.func_grad(add_to)
    def _(o: FLOATS, v: wb.float32, adj: wb.float32):
        wb.adjoint[v] += adj

    @wb.kernel
    def summed(x: FLOATS, y: FLOATS, o: FLOATS):
        i = wb.tid()
        y[i] = add_to(o, x[i])

    assert marked(summed) == ["o"]
    assert reduces(summed.specialise().function)


def test_a_function_without_such_changes_stays_itself() -> None:
    function = by_thread.specialise().function
    assert reductions(function) is function
