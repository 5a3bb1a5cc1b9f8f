"""Work in a thread: what it gives, how it ends, what a dropped build leaves behind."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

import workbench as wb
from workbench import events
from workbench.backends.base import Options
from workbench.backends.cuda.compile import nvrtc
from workbench.work import Dropped, current, go_on

TEXT = "def twice(x: array[float32]):\n    i = tid()\n    x[i] = 2.0 * x[i]\n"
HERE: ContextVar[int] = ContextVar("here", default=0)


def held() -> tuple[wb.Work[None], threading.Event, threading.Event]:
    """Work that stands still until its second event is set."""
    began, may_end = threading.Event(), threading.Event()

    def stand() -> None:
        began.set()
        may_end.wait()
        go_on()

    return wb.Work(stand, name="stand"), began, may_end


def test_it_gives_what_the_call_gave_in_a_copy_of_the_context() -> None:
    HERE.set(3)
    work = wb.Work(lambda a: (a, HERE.get(), threading.current_thread() is threading.main_thread()), 5)
    assert work.result() == (5, 3, False) and work.done


def test_it_raises_what_the_call_raised() -> None:
    work = wb.Work(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        work.result()


def test_dropped_work_ends_at_its_next_stage() -> None:
    work, began, may_end = held()
    assert began.wait(900) and not work.done and work in wb.Work.running()
    work.drop()
    assert repr(work) == "<Work stand: dropped>"
    may_end.set()
    with pytest.raises(RuntimeError, match="stand was dropped before its end"):
        work.result()
    assert wb.wait() == 0


def test_waiting_is_for_all_that_goes_on_but_oneself() -> None:
    inner = wb.Work(lambda: (current() is None, wb.wait([])))
    assert inner.result() == (False, 0)
    work, began, may_end = held()
    assert began.wait(900)
    waiter = wb.Work(wb.wait)
    may_end.set()
    assert waiter.result() in (0, 1) and work.wait(900)


def test_outside_of_work_nothing_is_dropped() -> None:
    go_on()
    assert current() is None


def test_a_dropped_build_compiles_no_further() -> None:
    seen: list[events.Event] = []
    work: list[wb.Work] = []

    def hear(event: events.Event) -> None:
        seen.append(event)
        current().drop()

    stop = events.subscribe(hear, events.StageDone, events.CompileDone)
    try:
        work.append(wb.Work(lambda: wb.build_cell(TEXT, {}, force=True)))
        with pytest.raises(RuntimeError):
            work[0].result()
    finally:
        stop()
    assert [e.stage for e in seen] == ["parse"]


def test_a_compilation_that_is_dropped_ends() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    text = 'extern "C" __global__ void f(float* x) { x[threadIdx.x] = 1.0f; }'
    assert nvrtc.build(text, Options(), "sm_90", "ptx").image

    def build() -> object:
        current().drop()
        return nvrtc.build(text, Options(), "sm_90", "ptx")

    work = wb.Work(build)
    work.wait()
    assert isinstance(work._problem, Dropped)


def test_force_compiles_what_is_cached_and_says_so() -> None:
    wb.build_cell(TEXT, {})
    misses: list[events.CacheMiss] = []
    stop = events.subscribe(misses.append, events.CacheMiss)
    try:
        wb.build_cell(TEXT, {})
        assert misses == []
        kernel = wb.build_cell(TEXT, {}, force=True).kernels["twice"]
    finally:
        stop()
    assert [m.why for m in misses] == [("recompilation was requested",)]
    x = wb.ones(3)
    wb.launch(kernel, 3, [x])
    assert x.numpy().tolist() == [2, 2, 2]


def test_force_says_so_for_an_architecture_that_is_not_here() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    wb.build_cell(TEXT, {}, backend="cuda", arch="sm_80")
    misses: list[events.CacheMiss] = []
    stop = events.subscribe(misses.append, events.CacheMiss)
    try:
        wb.build_cell(TEXT, {}, backend="cuda", arch="sm_80", force=True)
    finally:
        stop()
    assert [m.why for m in misses] == [("recompilation was requested",)]


def test_an_architecture_that_is_not_here_is_compiled_for_and_kept() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    done: list[events.Event] = []
    stop = events.subscribe(done.append, events.CompileDone, events.CacheHit)
    try:
        for _ in range(2):
            wb.build_cell(TEXT, {}, backend="cuda", arch="sm_80", gradient=True)
    finally:
        stop()
    assert {(type(e).__name__, e.metadata["target"]) for e in done[2:]} == {("CacheHit", "sm_80")}
    assert [e.direction for e in done] == ["forward", "adjoint"] * 2
    assert done[0].metadata["registers"] > 0
    with pytest.raises(wb.DeviceError, match="NVRTC cannot compile for 'sm_1'"):
        wb.build_cell(TEXT, {}, arch="sm_1")


def test_a_cell_checked_first_compiles_when_asked() -> None:
    done: list[events.CompileDone] = []
    stop = events.subscribe(done.append, events.CompileDone, events.CacheHit)
    try:
        cell = wb.build_cell(TEXT.replace("2.0", "2.25"), {}, compile=False)
        assert done == [] and list(cell.kernels) == ["twice"]
        cell.compile()
    finally:
        stop()
    assert len(done) == 1


def test_a_fast_cell_is_launched_fast() -> None:
    kernel = wb.build_cell(TEXT, {}, fast_math=True).kernels["twice"]
    assert wb.launch(kernel, 1, [wb.ones(1)], record_cmd=True).record.options.fast_math
    plain = wb.build_cell(TEXT, {}).kernels["twice"]
    assert not wb.launch(plain, 1, [wb.ones(1)], record_cmd=True).record.options.fast_math
