"""Launches that fault: the session lives on, the place is the cell's of now, and every way to launch reports it."""

from __future__ import annotations

import re
import textwrap
from contextlib import suppress

import numpy as np
import pytest

import workbench as wb
from tests.frontend.meaning.test_meaning_of_statements import BODIES, FLOATS, INTS
from tests.support.kernels.fault_cases import CASES, kernel_of
from workbench import events, inspect
from workbench.backends.base import Options
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cuda.emit import emit_cuda
from workbench.runtime.launching import execute

SHIFTED = "def k(x: array[float], y: array[float], n: int):\n    i = tid()\n    y[i] = x[i + n] * 2.0\n"


@pytest.fixture
def arrays():
    return wb.array(np.arange(4, dtype=np.float32), requires_grad=True), wb.zeros(4, float, requires_grad=True)


def cell(text: str = SHIFTED, **options):
    return wb.build_cell(text, {}, **options).kernels["k"]


def test_the_session_and_the_arrays_live_on(arrays):
    x, y = arrays
    k = cell()
    before = y.version
    with pytest.raises(wb.KernelFault, match="asked for index 4"):
        wb.launch(k, 4, [x, y, 1], checks=True)
    assert y.numpy().tolist() == [2, 4, 6, 0] and y.version == before + 1
    wb.launch(k, 4, [x, y, 0], checks=True)
    assert y.numpy().tolist() == [0, 2, 4, 6]


def test_a_hit_from_the_cache_reports_the_line_of_now(arrays):
    x, y = arrays
    cell(checks=True)
    hits = []
    stop = events.subscribe(hits.append, events.CacheHit, events.CacheMiss)
    try:
        moved = cell(f"\n\n# moved\n{SHIFTED.replace('y[i] =', 'y[i] = 1.0 *')}".replace("1.0 * ", ""), checks=True)
    finally:
        stop()
    assert [type(e) for e in hits] == [events.CacheHit]
    with pytest.raises(wb.KernelFault) as caught:
        wb.launch(moved, 4, [x, y, 2])
    assert caught.value.location.line == 6
    assert "x[i + n]" in caught.value.location.source.line(6)


def test_the_only_thread_that_faults_is_found_on_any_core(arrays, monkeypatch):
    monkeypatch.setattr(execute, "cpu_threads", lambda: 4)
    n = 3_000_000
    places = np.arange(n, dtype=np.int32)
    places[1_234_567] = n
    k = cell("def k(p: array[int], y: array[int]):\n    i = tid()\n    y[p[i]] = i\n")
    y = wb.zeros(n, int)
    with pytest.raises(wb.KernelFault) as caught:
        wb.launch(k, n, [wb.array(places), y], checks=True)
    assert (caught.value.thread, caught.value.values, caught.value.count) == ((1_234_567,), (n,), 1)
    expected = np.arange(n)
    expected[1_234_567] = 0
    assert np.array_equal(y.numpy(), expected)


def test_of_many_faults_on_many_cores_one_is_told_whole(monkeypatch):
    monkeypatch.setattr(execute, "cpu_threads", lambda: 4)
    k = cell("def k(x: array2d[float]):\n    i, j = tid()\n    x[i, j + 1000] = 1.0\n")
    with pytest.raises(wb.KernelFault) as caught:
        wb.launch(k, (2000, 1000), [wb.zeros((10, 10), float)], checks=True)
    (i, j), values = caught.value.thread, caught.value.values
    assert caught.value.count == 2_000_000 and values == (i, j + 1000)


def test_an_adjoint_faults_at_the_line_of_the_forward_kernel(arrays):
    x, y = arrays
    with pytest.raises(wb.KernelFault, match=r"x has 4 elements along axis 0; thread \(3,\)") as caught:
        wb.launch(cell(), 4, [x, y, 1], adjoint=True, adj_inputs=[None, wb.ones(4, float)], checks=True)
    assert caught.value.location.line == 3 and caught.value.function == "k"
    assert x.grad.numpy().tolist() == [0, 2, 2, 2]


def test_a_tape_walks_back_with_the_checks_of_its_launches(arrays):
    x, y = arrays
    seen = []
    stop = events.subscribe(lambda e: seen.append(e.record.executable), events.Launched)
    try:
        with wb.Tape() as tape, wb.checks():
            wb.launch(cell(), 4, [x, y, 0])
        tape.backward(grads={y: np.ones(4)})
    finally:
        stop()
    assert [(r.direction, r.checked) for r in seen] == [("forward", True), ("adjoint", True)]
    assert x.grad.numpy().tolist() == [2, 2, 2, 2]


def test_kept_and_recorded_launches_fault_each_time(arrays):
    x, y = arrays
    kept = wb.launch(cell(), 4, [x, y, 1], record_cmd=True, checks=True)
    with wb.record() as recorder, pytest.raises(wb.KernelFault):
        kept.launch()
    for again in (kept.launch, recorder.replay, recorder[0].launch):
        with pytest.raises(wb.KernelFault, match="index 4"):
            again()
    kept.set_param_by_name("n", 0)
    kept.launch()
    assert kept.record.executable.checked and y.numpy().tolist() == [0, 2, 4, 6]
    recorder.replay(n=0)


def checked(kernel, **options) -> bool:
    x, y = wb.ones(4, float), wb.zeros(4, float)
    return wb.launch(kernel, 2, [x, y, 0], record_cmd=True, **options).record.executable.checked


def test_who_decides():
    k = cell()
    assert not checked(k) and checked(k, checks=True)
    with wb.checks():
        assert checked(k) and not checked(k, checks=False) and not checked(cell(checks=False))
        with wb.checks(False):
            assert not checked(k)
    before = wb.set_checks(True)
    try:
        assert before is False and checked(k) and not checked(cell(checks=False))
    finally:
        wb.set_checks(before)
    assert checked(cell(checks=True)) and not checked(cell(checks=True), checks=False)


def test_without_checks_the_code_is_what_it_was():
    text = CASES["assert"].text
    plain = re.sub(r" *assert.*\n", "", text)
    with_assert, without = (cell(t).specialise().function for t in (text, plain))
    for emit in (emit_llvm, emit_cuda):
        rows = [re.sub(r"^ *; line .*\n", "", emit(f, Options()), flags=re.M) for f in (with_assert, without)]
        assert rows[0] == rows[1] and "wb_fault" not in rows[0]
        assert "wb_fault" in emit(without, Options(checks=True))


def test_an_assert_has_no_part_in_the_gradient():
    text = "def k(x: array[float], y: array[float]):\n    i = tid()\n    assert x[i] < 3.0\n    y[i] = x[i] * x[i]\n"
    x, y = wb.array(np.array([2.0, 4.0], np.float32), requires_grad=True), wb.zeros(2, float)
    wb.launch(cell(text), 2, [x], [y], adjoint=True, adj_outputs=[wb.ones(2, float)], checks=True)
    assert x.grad.numpy().tolist() == [4, 8]


def test_asserts_that_always_hold_are_gone():
    text = 'def k(y: array[float]):\n    assert 1 < 2, "arithmetic"\n    assert True\n    y[tid()] = 1.0\n'
    assert "assert" not in inspect.ir(cell(text))
    wb.launch(cell(text), 1, [wb.zeros(1, float)], checks=True)


def test_every_case_is_silent_without_checks():
    for name in ("assert", "quotient", "remainder", "shift", "negative shift", "step", "component"):
        case = CASES[name]
        args = [wb.array(a) if isinstance(a, np.ndarray) else a for a in case.args]
        wb.launch(kernel_of(case), case.dim, args, checks=False)


def test_the_way_to_a_device(need, monkeypatch, arrays):
    need("nvrtc")
    from tests.support.devices import mock_device

    with mock_device.device(monkeypatch):
        device = "cuda:0"
        x, y = wb.ones(4, float, device=device), wb.zeros(4, float, device=device)
        k = cell()
        wb.launch(k, 4, [x, y, 1], checks=True)
        with pytest.raises(wb.KernelFault, match=r"thread \(3,\) asked for index 4"):
            wb.synchronize(device)
        wb.launch(k, 4, [x, y, 0], checks=True)
        assert y.numpy().tolist() == [2, 2, 2, 2]


@pytest.mark.sample(1)
@pytest.mark.parametrize("share", range(4))
def test_what_does_not_fault_is_what_it_was_without_checks(share):
    for name, (kind, body) in list(BODIES.items())[share::4]:
        text = f"def k(x, y):\n    i = tid()\n    v = x[i]\n{textwrap.indent(body, '    ')}\n    y[i] = r\n"
        x = INTS if kind == "int" else FLOATS
        given, expected, got = (wb.array(a) for a in (x, np.zeros_like(x), np.zeros_like(x)))
        k = cell(text)
        wb.launch(k, x.size, [given, expected])
        with suppress(wb.KernelFault):
            wb.launch(k, x.size, [given, got], checks=True)
        assert np.array_equal(got.numpy(), expected.numpy()), name


def test_sums_over_threads_are_the_same_with_checks(arrays):
    x, y = arrays
    text = "def k(a: float, x: array[float], y: array[float]):\n    i = tid()\n    y[i] = a * x[i]\n"
    totals = []
    for on in (False, True):
        total = wb.zeros(1, float)
        given = [total, wb.zeros(4, float), wb.ones(4, float)]
        wb.launch(cell(text), 4, [2.0, x, y], adjoint=True, adj_inputs=given, checks=on)
        totals.append(total.numpy()[0])
    assert totals == [6, 6]


def test_captured_numbers_count_as_what_they_are():
    text = "def k(x: array[float], y: array[float], z: array[int]):\n    i = tid()\n    y[i] = x[i + N]\n"
    text += "    z[i] = i // D\n"
    x, y, z = wb.ones(4, float), wb.zeros(4, float), wb.zeros(4, int)
    space = {"N": np.int32(1), "D": np.int32(2)}
    k = wb.build_cell(text, space).kernels["k"]
    wb.launch(k, 3, [x, y, z], checks=True)
    space["D"] = np.int32(0)
    with pytest.raises(wb.KernelFault, match="computed 0 // 0") as caught:
        wb.launch(k, 3, [x, y, z], checks=True)
    assert caught.value.count == 3
    with pytest.raises(wb.KernelFault, match="asked for index 4"):
        wb.launch(wb.build_cell(text, {**space, "D": 3}).kernels["k"], 4, [x, y, z], checks=True)
