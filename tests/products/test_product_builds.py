"""Builds that fail, hang, crash or are cancelled: one clear error, no process left, nothing kept in part."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from workbench import cache, events
from workbench.backends.cuda.products import workers
from workbench.backends.cuda.products.spec import ProductSpec
from workbench.backends.cuda.products.workers import Builder, build
from workbench.backends.worker import process
from workbench.backends.worker.pool import Job
from workbench.cache.products import find_product, products
from workbench.errors import BuildError, DeviceError
from workbench.work import Work

SPEC = ProductSpec(16, 32, 8, "float32", "float32", "float32", 128, "sm_90")
OTHER = replace(SPEC, m=64)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Every process that is started."""
    found: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def popen(*args: Any, **options: Any) -> Any:
        found.append(real(*args, **options))
        return found[-1]

    monkeypatch.setattr(process.subprocess, "Popen", popen)
    return found


@pytest.fixture
def told() -> Iterator[list[events.Event]]:
    found: list[events.Event] = []
    end = events.subscribe(found.append, events.ProductStarted, events.ProductBuilt, events.ProductFailed)
    yield found
    end()


@pytest.mark.parametrize(
    ("mode", "sentence", "log"),
    [
        ("crash", "crashed (signal 11)", "a last word"),
        ("hang", "did not end within 0 s", ""),
        ("silent", "ended with status 0 and no answer", ""),
        ("cut", "ended with status 0 and no answer", ""),
        ("refuse", "no such product", "what it said"),
    ],
)
def test_a_build_that_fails_is_one_clear_error_and_the_session_lives(
    fake: Callable[..., Any], started: list[Any], told: list[Any], mode: str, sentence: str, log: str
) -> None:
    with pytest.raises(BuildError) as caught:
        products([SPEC], fake(mode).builder, time_limit=0.0 if mode == "hang" else 300.0)
    assert sentence in caught.value.message
    assert caught.value.log == log
    assert all(p.wait(900) is not None for p in started)  # its answer comes before its end
    assert not cache.entries()
    assert [type(e) for e in told] == [events.ProductStarted, events.ProductFailed]
    assert products([SPEC], fake().builder)[0].code, "the next build of the same product works"


def test_an_interrupt_ends_every_process_and_keeps_nothing(
    fake: Callable[..., Any], started: list[Any], told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workers.time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build([SPEC, OTHER], fake("hang").builder, parallel=2)
    assert len(started) == 2
    assert all(p.wait(900) is not None for p in started)  # its answer comes before its end
    assert not cache.entries()
    assert [e.message for e in told if isinstance(e, events.ProductFailed)] == ["cancelled", "cancelled"]


def test_work_that_is_dropped_ends_its_processes(fake: Callable[..., Any], started: list[Any]) -> None:
    seen = threading.Event()
    end = events.subscribe(lambda event: seen.set(), events.ProductStarted)
    try:
        work = Work(products, [SPEC], fake("hang").builder)
        seen.wait()
        work.drop()
        with pytest.raises(RuntimeError, match="dropped"):
            work.result()
    finally:
        end()
    assert [p.poll() is None for p in started] == [False]
    assert find_product(SPEC, fake().builder) is None


def test_what_was_ready_before_a_failure_is_kept(fake: Callable[..., Any]) -> None:
    good, bad = fake(), fake("refuse")
    products([SPEC], good.builder)
    with pytest.raises(BuildError):
        products([SPEC, OTHER], bad.builder)
    assert find_product(SPEC, good.builder) is not None


def test_several_run_at_once_and_each_is_told(
    fake: Callable[..., Any], started: list[Any], told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[int] = []
    real = Job.wait

    def wait(self: Job, seconds: float) -> bool:
        running.append(sum(not job.over for job in jobs))
        jobs.add(self)
        return real(self, seconds)

    jobs: set[Job] = set()
    monkeypatch.setattr(Job, "wait", wait)
    specs = [replace(SPEC, m=8 * n) for n in range(1, 6)]
    found = build(specs, fake().builder, parallel=3)
    assert list(found) and set(found) == set(specs)
    assert 2 <= max(running) <= 3
    assert [type(e) for e in told].count(events.ProductBuilt) == 5


def test_memory_and_cores_bound_how_many_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_THREADS", "8")
    for memory, most in ((1 << 30, 1), (5 << 30, 2), (64 << 30, 3)):
        monkeypatch.setattr(workers, "free_memory", lambda memory=memory: memory)
        assert workers._process_count(3) == most


def test_without_the_builder_the_error_says_what_to_install(fake: Callable[..., Any]) -> None:
    absent = Builder("cuBLASDx", lambda target: "0", lambda: "cuBLASDx needs nvidia-libmathdx-cu13.", ())
    with pytest.raises(DeviceError, match=r"pip install 'kernel-workbench\[mathdx-cu1[23]\]'"):
        products([SPEC], absent)


def test_two_threads_that_need_one_product_build_one(fake: Callable[..., Any]) -> None:
    builder = fake()
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.extend(products([SPEC], builder.builder))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builder.built) == 1
    assert len({p.code for p in found}) == 1 and len(found) == 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"c": "bfloat16", "a": "bfloat16", "b": "bfloat16"}, "nothing is added up in bfloat16"),
        ({"a": "int32", "b": "int32", "c": "int32"}, "its elements have to be"),
        ({"a": "float64", "b": "float64"}, "its result is narrower"),
        ({"m": 0}, "its sizes have to be positive"),
        ({"threads": 2048}, "1 to 1024 threads"),
        ({"arch": "90"}, "is no architecture"),
        ({"layouts": ("row", "up", "row")}, "a layout is row or column"),
        ({"leading": (4, 0, 0)}, "less than a row"),
        ({"a": "float16", "b": "float16", "tf32": True}, "tf32 is for float32"),
    ],
)
def test_a_multiplication_without_a_product_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(BuildError, match=reason):
        replace(SPEC, **change)


def test_alignment_follows_rows() -> None:
    assert SPEC.alignment == (16, 16, 16)
    assert replace(SPEC, k=6).alignment == (4, 16, 16)
    assert replace(SPEC, aligned=False).alignment == (4, 4, 4)
    halves = replace(SPEC, a="float16", b="float16", c="float16")
    assert halves.alignment == (16, 16, 8)
    assert replace(SPEC, leading=(12, 0, 0)).alignment == (4, 4, 4)
    assert replace(SPEC, leading=(12, 0, 0)).rows == (12, 32, 32)


def test_operands_take_so_much_shared_memory() -> None:
    assert SPEC.operand_bytes == 4 * (16 * 8 + 8 * 32 + 16 * 32)
    assert replace(SPEC, leading=(12, 0, 0)).operand_bytes == 4 * (16 * 12 + 8 * 32 + 16 * 32)
