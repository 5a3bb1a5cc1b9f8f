"""The plain functions under `%%kernel`: what a cell binds, what it makes stale, what a watcher sees."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from kernel_ext.refusal import Refusal
from kernel_ext.session import cells
from kernel_ext.session.cells import CellOptions, CellOrigin, Cells
from kernel_ext.views.kernels import queries
from kernel_ext.views.view_data import StatusView
from workbench import events
from workbench.errors import KernelTypeError

GOOD = "def saxpy(a):\n    return a\n"
BAD = "def saxpy(a):\n    return nope\n"
PLACE = CellOrigin("cell [4]", "<cell>", 1, "id-1")


def build(
    session: Cells, text: str, namespace: dict[str, Any], place: CellOrigin = PLACE, **options: Any
) -> tuple[cells.Built, list[StatusView]]:
    seen: list[StatusView] = []
    return session.build(text, namespace, CellOptions(**options), place, seen.append), seen


def test_a_cell_is_built_with_its_options_and_bound(library) -> None:
    namespace: dict[str, Any] = {"x": 1}
    built, seen = build(Cells(), GOOD, namespace, backend="cpu", gradient=True, constants=(("DT", 0.5),))
    assert namespace["saxpy"] is built.kernels["saxpy"]
    asked = library.calls[0][1]
    assert asked == {
        "text": GOOD, "name": "cell [4]", "filename": "<cell>", "line_offset": 1, "backend": "cpu", "gradient": True,
        "fast_math": False, "checks": None, "constants": {"DT": 0.5}, "arch": "native", "force": False, "compile": True,
        "fma": None,
    }  # fmt: skip
    assert [v.state for v in seen] == ["compiling", "compiling", "compiling", "compiled", "compiled"]
    assert seen[-1] is built.view and built.view.kernels == ("saxpy",)


def test_the_same_text_again_is_a_hit(library) -> None:
    session = Cells()
    build(session, GOOD, {})
    built, _ = build(session, GOOD, {})
    assert built.view.headline == "cache hit · memory 12 µs"


def test_panes_asked_for_are_in_the_view_and_others_come_when_asked(library) -> None:
    built, _ = build(Cells(), GOOD, {}, panes=("source", "ir"))
    assert [(p.kernel, p.name) for p in built.view.panes] == [("saxpy", "source"), ("saxpy", "ir")]
    assert built.pane("saxpy", "ptx").text == "ptx of saxpy <&>"
    assert [names for what, (_, names) in library.calls[1:] if what == "panes"] == [("source",), ("ir",), ("ptx",)]


def test_the_source_pane_counts_as_the_cell_does(library) -> None:
    built, _ = build(Cells(), "\n" + GOOD, {}, panes=("source",))
    assert built.view.panes[0].first_line == 3, "a magic's line and an empty one stand above"


def test_a_pane_that_cannot_be_made_holds_the_reason(library) -> None:
    built, _ = build(Cells(), GOOD, {})
    assert built.pane("saxpy", "adjoint").text == "NotDifferentiable\nsaxpy overwrites y."


def test_a_failing_cell_binds_nothing_and_its_old_kernels_are_stale(library) -> None:
    session, namespace = Cells(), {}
    build(session, GOOD + "def other(a):\n    return a\n", namespace)
    before = dict(namespace)
    seen: list[StatusView] = []
    with pytest.raises(KernelTypeError):
        session.build(BAD, namespace, CellOptions(), PLACE, seen.append)
    assert namespace == before
    reason = "cell [4], which defines saxpy, no longer compiles."
    assert namespace["saxpy"].stale == reason
    assert "which defines other" in namespace["other"].stale
    assert seen[-1].headline == "failed · 1 error"


def test_a_failing_cell_without_identity_makes_the_names_it_defines_stale(library) -> None:
    session, namespace, nowhere = Cells(), {}, CellOrigin("cell [4]", "<cell>")
    build(session, GOOD, namespace, nowhere)
    build(session, "def other(a):\n    return a\n", namespace, nowhere)
    with pytest.raises(KernelTypeError):
        session.build(BAD, namespace, CellOptions(), nowhere, lambda view: None)
    assert namespace["saxpy"].stale and not namespace["other"].stale


def test_a_corrected_cell_gives_fresh_kernels(library) -> None:
    session, namespace = Cells(), {}
    build(session, GOOD, namespace)
    with pytest.raises(KernelTypeError):
        session.build(BAD, namespace, CellOptions(), PLACE, lambda view: None)
    build(session, GOOD, namespace)
    assert not namespace["saxpy"].stale


def test_running_a_cell_again_retires_what_it_no_longer_defines(library) -> None:
    session, namespace = Cells(), {}
    build(session, GOOD, namespace)
    old = namespace["saxpy"]
    build(session, "def renamed(a):\n    return a\n", namespace)
    assert "no longer defines saxpy." in old.stale
    assert not namespace["renamed"].stale


def test_another_cell_leaves_them_alone(library) -> None:
    session, namespace = Cells(), {}
    build(session, GOOD, namespace)
    build(session, "def other(a):\n    return a\n", namespace, CellOrigin("cell [5]", "<cell5>", 1, "id-2"))
    assert not namespace["saxpy"].stale


def test_nobody_listens_after_the_build(library) -> None:
    session = Cells()
    _, seen = build(session, GOOD, {})
    with pytest.raises(KernelTypeError):
        session.build(BAD, {}, CellOptions(), PLACE, seen.append)
    count = len(seen)
    events.publish(events.CompileStarted("late", "forward", "cpu", "x"))
    assert len(seen) == count
    assert not events.listening(events.CompileStarted)


def test_events_of_several_threads_meet_in_one_view(library, monkeypatch) -> None:
    whole = library.build_cell

    def build_cell(text: str, namespace: dict[str, Any], **options: Any) -> Any:
        def publish(name: str) -> None:
            for _ in range(50):
                events.publish(events.StageDone(name, "forward", "s", 0.1))

        threads = [threading.Thread(target=publish, args=(name,)) for name in ("saxpy", "blur")]
        [t.start() for t in threads]
        [t.join() for t in threads]
        return whole(text + "def blur(a):\n    return a\n", namespace, **options)

    monkeypatch.setattr(library, "build_cell", build_cell)
    monkeypatch.setattr(library, "_publish", lambda name, text: None)
    built, _ = build(Cells(), GOOD, {})
    assert {row.kernel: len(row.stages) for row in built.view.rows} == {"saxpy": 50, "blur": 50}


def test_names_are_found_even_where_the_text_does_not_parse() -> None:
    assert cells.defined_names("def a():\n    pass\n\ndef b(:\n") == ("a", "b")
    assert cells.defined_names("def a():\n    def inner(): pass\nx = 1") == ("a",)


def test_a_kernel_is_found_or_the_nearest_named(library) -> None:
    namespace: dict[str, Any] = {"np": threading, "x": 3}
    with pytest.raises(Refusal, match="there is no kernel saxpy; no cell has defined one yet"):
        cells.find_kernel("saxpy", namespace)
    build(Cells(), GOOD, namespace)
    assert cells.find_kernel("saxpy", namespace) is namespace["saxpy"]
    for name, message in {
        "saxpi": "there is no kernel saxpi; did you mean saxpy?",
        "blur": "there is no kernel blur; kernels here: saxpy",
        "x": "x is an int, not a kernel; kernels here: saxpy",
    }.items():
        with pytest.raises(Refusal) as refused:
            cells.find_kernel(name, namespace)
        assert str(refused.value) == message


def test_looking_for_kernels_runs_no_property_of_the_user() -> None:
    class Trap:
        @property
        def mark_stale(self) -> None:
            raise AssertionError("asked")

    assert not cells.is_kernel(Trap())


def test_constants_are_expressions_over_the_namespace() -> None:
    namespace = {"h": 0.25}
    assert cells.parse_constants(["DT=0.01", "N=2**4", "HALF=h/2"], namespace) == (
        ("DT", 0.01),
        ("N", 16),
        ("HALF", 0.125),
    )
    assert list(namespace) == ["h"]


@pytest.mark.parametrize("item", ["DT", "=3", "1x=2", "DT="])
def test_a_constant_of_another_form_is_refused(item: str) -> None:
    with pytest.raises(Refusal, match="NAME=VALUE"):
        cells.parse_constants([item], {})


def test_a_constant_that_does_not_evaluate_says_why() -> None:
    with pytest.raises(Refusal, match=r"-D DT=zz: the value does not evaluate \(NameError: name 'zz' is not defined\)"):
        cells.parse_constants(["DT=zz"], {})


def test_panes_are_a_list_of_known_names() -> None:
    known = ("source", "ir", "ptx")
    assert cells.parse_panes("ir, source ir", known) == ("ir", "source")
    assert cells.parse_panes("", known) == ()
    with pytest.raises(Refusal, match="no pane 'sass'; the panes are source, ir, ptx"):
        cells.parse_panes("ir,sass", known)


def test_the_cache_view_has_ages_and_the_one_used_last_first(library) -> None:
    view = queries.cache_view()
    assert [row.name for row in view.entries] == ["<young>", "old"]
    assert 98 < view.entries[0].built < 200
    assert queries.cache_view(entries=False).entries == ()


def test_tending_the_cache_says_what_went(library) -> None:
    assert queries.cache_prune() == "removed 2 modules; kept 70 kB"
    assert queries.cache_export("b.wbc") == "wrote 10 modules to b.wbc"
    assert queries.cache_import("a.wbc", trust=True) == "took 3 modules from a.wbc"
    assert queries.cache_import("a.wbc") == "took 0 modules from a.wbc · Nothing was taken: add --trust."
    assert queries.cache_clear() == "removed 10 modules, 70 kB"


def test_why_a_kernel_was_compiled(library) -> None:
    kernel = build(Cells(), GOOD, {})[0].kernels["saxpy"]
    assert queries.cache_why(kernel) == "constant DT: 0.01 → 0.02"
    library.reasons = ()
    assert "no part of its key has changed" in queries.cache_why(kernel)
