"""Stages of a loop's loads: as many as leave room for two blocks; in an adjoint, if no arguments share memory."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.kernels.tile_flows import gemm
from tests.support.kernels.tile_kernels import float16, float32
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cuda.emit import emit_kernel
from workbench.backends.cuda.tiles.placement.arena import blocks_at_once

LARGE = gemm("large", (128, 128, 32), 256, float32)
SMALL = gemm("small", (16, 16, 8), 64, float32)


@pytest.mark.parametrize(("target", "stages"), [("sm_75", 1), ("sm_80", 2), ("sm_86", 1), ("sm_90", 3), ("sm_120", 1)])
def test_an_architecture_s_shared_memory_decides(target: str, stages: int) -> None:
    made = emit_kernel(LARGE.function, Options(), target)
    assert made.shared == stages * 4 * (128 * 36 + 32 * 132)
    assert blocks_at_once(made.shared, target) >= (1 if target == "sm_75" else 2)


@pytest.mark.parametrize("how", [{"dtype": float16}, {"dtype": float32}, {"precision": "tf32"}], ids=str)
def test_a_turn_of_a_large_product_has_one_barrier_and_two_groups_under_way(how: dict[str, Any]) -> None:
    made = emit_kernel(gemm("large", (128, 128, 32), 256, **how).function, Options(), "sm_90")
    text = made.text[made.text.index('extern "C"') :]
    before, _, turn = text.partition("    for (int k = 0;")
    assert before.count("wb_commit();") == 2 and "__syncthreads" not in before
    assert turn.count("wb_arrived_but<1>();") == turn.count("__syncthreads();") == 1
    assert turn.index("wb_arrived_but") < turn.index("__syncthreads") < turn.index("wb_commit") < turn.index("wb_prod")


def test_a_small_product_has_three_stages_wherever_copies_are_asynchronous() -> None:
    found = {t: "wb_arrived_but<1>();" in emit_kernel(SMALL.function, Options(), t).text for t in ("sm_75", "sm_80")}
    assert found == {"sm_75": False, "sm_80": True}


def test_an_adjoint_loads_ahead_where_no_arguments_share_memory() -> None:
    function = adjoint(SMALL.function)
    found = [
        "wb_arrived_but<1>();" in emit_kernel(function, Options(apart=apart), "sm_90").text for apart in (True, False)
    ]
    assert found == [True, False]
