"""The status card of a kernel with link-time products: what is being built, which multiplication is in use."""

from __future__ import annotations

import pytest

from kernel_ext.session import status
from kernel_ext.views.view_data import StatusView
from workbench import events

NAMES = ("16×16×16 f32", "forward", "sm_90", "cuBLASDx")


def after(*found: events.Event) -> StatusView:
    view = StatusView(cell="cell [1]", started=0.0)
    for event in found:
        view = status.advance(view, event)
    return view


@pytest.mark.parametrize(
    ("last", "line"),
    [
        (events.ProductStarted(*NAMES), "being built"),
        (events.ProductBuilt(*NAMES, 9.04, 5_200_000), "built in 9.0 s, 5.2 MB"),
        (events.ProductFailed(*NAMES, "cancelled"), "cancelled"),
    ],
)
def test_a_product_is_one_line_that_says_what_became_of_it(last: events.Event, line: str) -> None:
    other = events.ProductStarted("16×16×16 f32", "adj_a", "sm_90", "cuBLASDx")
    view = after(events.ProductStarted(*NAMES), other, last)
    assert sorted(view.notices) == [
        "cuBLASDx 16×16×16 f32 (adj_a, sm_90): being built",
        f"cuBLASDx 16×16×16 f32 (forward, sm_90): {line}",
    ]


def test_the_row_has_the_link_stages_and_names_the_multiplication() -> None:
    stages = {"products": 9.0, "forward 16×16×16 f32 (built)": 8.9, "spell": 0.01, "nvrtc": 0.1, "link": 2.0}
    done = events.CompileDone("gemm", "forward", "ab" * 32, 11.1, stages, {"matmul": "cuBLASDx", "backend": "cuda"})
    (row,) = after(events.CompileStarted("gemm", "forward", "cuda", "sm_90"), done).rows
    assert [stage.name for stage in row.stages] == list(stages)
    assert row.facts == ("matmul cuBLASDx",)
    assert (
        "matmul generated"
        in after(events.CacheHit("gemm", "forward", "cd" * 32, "memory", 0.001, {"matmul": "generated"})).rows[0].facts
    )
