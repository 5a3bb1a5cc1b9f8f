"""What the card says is a value made from events: each state, each line, no clock and no browser."""

from __future__ import annotations

import pytest

from kernel_ext.session import status
from kernel_ext.views import html
from kernel_ext.views.view_data import StatusView
from workbench import events
from workbench.errors import CellErrors, KernelTypeError, NotDifferentiable
from workbench.source import Location, Source

KEY = "5f2a0d32" + "0" * 56
STAGES = {"parse": 0.001, "emit": 0.008}
START = StatusView("cell [4]", started=1_000_000.0)


def fold(*happened: events.Event, kernels: tuple[str, ...] = ("saxpy",)) -> StatusView:
    view = START
    for event in happened:
        view = status.advance(view, event)
    return status.finish(view, kernels)


def compiled(kernel: str, direction: str, seconds: float, *why: str) -> list[events.Event]:
    return [
        events.CompileStarted(kernel, direction, "cpu", "znver3"),
        events.CacheMiss(kernel, direction, KEY, why),
        events.CompileDone(kernel, direction, KEY, seconds, STAGES),
    ]


def test_while_it_compiles_the_stages_grow() -> None:
    first = status.advance(START, events.CompileStarted("saxpy", "forward", "cpu", "znver3"))
    second = status.advance(first, events.StageDone("saxpy", "forward", "parse", 0.001))
    assert (first.state, first.headline) == ("compiling", "compiling saxpy")
    assert [s.name for s in second.rows[0].stages] == ["parse"]
    assert first.rows[0].stages == (), "a view never changes once made"


@pytest.mark.parametrize(
    ("happened", "state", "line"),
    [
        (
            compiled("saxpy", "forward", 0.009) + compiled("saxpy", "adjoint", 0.005),
            "compiled",
            "compiled saxpy 5f2a0d32 · 14 ms · forward 9.0 ms, adjoint 5.0 ms",
        ),
        (compiled("saxpy", "forward", 0.009), "compiled", "compiled saxpy 5f2a0d32 · 9.0 ms"),
        ([events.CacheHit("saxpy", "forward", KEY, "memory", 12e-6)], "memory hit", "cache hit · memory 12 µs"),
        (
            [events.CacheHit("saxpy", "forward", KEY, "disk", 0.0011, {"built": START.started - 2 * 86400 - 5})],
            "disk hit",
            "cache hit · disk 1.1 ms, built 2 d ago",
        ),
        (
            compiled("saxpy", "forward", 0.009, "constant DT 0.01 → 0.02"),
            "recompiled",
            "recompiled: constant DT 0.01 → 0.02 · 9.0 ms",
        ),
        ([], "ready", "ready saxpy · it compiles at its first launch"),
    ],
)
def test_the_line_of_each_state(happened: list[events.Event], state: str, line: str) -> None:
    view = fold(*happened)
    assert (view.state, view.headline) == (state, line)
    assert view.headline.startswith(view.lead) and view.rest in view.headline


def test_one_compiled_kernel_speaks_for_a_cell_of_hits() -> None:
    hit = events.CacheHit("blur", "forward", KEY, "memory", 12e-6)
    view = fold(hit, *compiled("saxpy", "forward", 0.009), kernels=("blur", "saxpy"))
    assert view.headline == "compiled saxpy 5f2a0d32 · 9.0 ms · 1 cache hit"


def test_a_disk_hit_after_a_start_is_a_hit() -> None:
    start = events.CompileStarted("saxpy", "forward", "cpu", "znver3")
    view = fold(start, events.CacheHit("saxpy", "forward", KEY, "disk", 0.001))
    assert view.state == "disk hit"
    assert view.rows[0].target == "znver3"


def test_what_others_build_meanwhile_is_not_shown() -> None:
    view = fold(*compiled("other", "forward", 0.5), *compiled("saxpy", "forward", 0.009))
    assert [row.kernel for row in view.rows] == ["saxpy"]


@pytest.mark.parametrize(("stack", "shown"), [(0, "24 regs, 0 spill"), (400, "24 regs, 400 B local, 0 spill")])
def test_registers_and_local_memory_are_read_from_the_metadata(stack: int, shown: str) -> None:
    facts = {"registers": 24, "stack": stack, "spill_stores": 0, "shared": 0, "backend": "cuda"}
    done = events.CompileDone("f", "forward", KEY, 0.02, STAGES, facts)
    assert fold(done, kernels=("f",)).headline.endswith(shown)


def test_a_failed_cell_lists_its_errors_by_line() -> None:
    source = Source("a\nb\nc", "cell [4]", "f", 1)
    errors = [
        NotDifferentiable("This overwrites y.", Location(source, 2)),
        KernelTypeError("i is int32.", Location(source, 1), "Write float(i)."),
    ]
    running = status.advance(START, events.CompileStarted("saxpy", "forward", "cpu", "znver3"))
    view = status.fail(running, CellErrors.of(errors))
    assert (view.state, view.headline) == ("failed", "failed · 2 errors")
    assert [(e.line, e.message) for e in view.errors] == [
        (2, "i is int32.  Write float(i)."),
        (3, "This overwrites y."),
    ]
    assert view.rows[0].state == "failed"


def test_a_fault_of_our_own_is_shown_as_one_error() -> None:
    view = status.fail(START, RuntimeError("no"))
    assert view.headline == "failed · 1 error"
    assert view.errors[0].kind == "RuntimeError" and view.errors[0].line == 0


def test_notices_are_kept() -> None:
    view = fold(events.Notice("sin is yours"), events.CacheProblem("/c", "the folder cannot be written"))
    assert view.notices == ("sin is yours", "cache: the folder cannot be written (/c)")


def test_other_events_change_nothing() -> None:
    assert status.advance(START, events.Replayed(3, 0.1)) is START


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12e-6, "12 µs"),
        (1.1e-3, "1.1 ms"),
        (0.0099, "9.9 ms"),
        (0.014, "14 ms"),
        (0.6, "0.6 s"),
        (0, "0 µs"),
        (3e-7, "300 ns"),
    ],
)
def test_durations_have_two_digits(value: float, text: str) -> None:
    assert html.seconds(value) == text


def test_sizes_ages_and_counts() -> None:
    assert [html.size(n) for n in (12, 84_000, 1_200_000, 3_000_000_000)] == ["12 B", "84 kB", "1.2 MB", "3.0 GB"]
    assert [html.age(s) for s in (5, 61, 7200, 2.5 * 86400)] == ["just now", "1 min ago", "2 h ago", "2 d ago"]
    assert [html.count(n, "entry") for n in (1, 2)] == ["1 entry", "2 entries"]
    assert html.ascii_only("12 µs · a → b").isascii()
