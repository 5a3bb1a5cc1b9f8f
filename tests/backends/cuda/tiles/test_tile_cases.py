"""The CUDA text of every operation on tiles, run with warps in shuffled orders, against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.devices.on_gpu import Library
from tests.support.kernels.tile_cases import CASES
from tests.support.kernels.tile_flows import FLOWS
from tests.support.kernels.tile_kernels import Case
from workbench.backends.base import Options
from workbench.backends.python.interpret import run as interpret

SEEDS = (0, 1, 2)
GROUPS = (
    "map", "transpose", "slice", "reshape", "broadcast", "place", "symmetric", "extract", "insert", "reduce", "along",
    "scan", "matmul", "copy",
)  # fmt: skip


def assert_same(case: Case, library: Library, seed: int) -> None:
    """The text gives what the interpreter gives."""
    want = [a.copy() for a in case.arguments]
    with np.errstate(all="ignore"):
        interpret(case.function, case.blocks, want)
    got = [a.copy() for a in case.arguments]
    library.run(case.name, case.blocks, got, seed=seed)
    for param, w, g in zip(case.function.params, want, got, strict=True):
        np.testing.assert_array_equal(g, w, err_msg=f"{case.name}: {param.name}, order {seed}")


# With checks a few suffice: the guards stand in the IR before it is lowered.
@pytest.mark.sample(3)
@pytest.mark.parametrize(("group", "checks"), [*((g, False) for g in GROUPS), ("map", True), ("insert", True)])
def test_every_operation_means_what_the_interpreter_says(group: str, checks: bool) -> None:
    cases = [case for name, case in CASES.items() if name.partition("_")[0].rstrip("3") == group]
    library = Library([c.function for c in cases], Options(checks=checks))
    for case in cases:
        for seed in SEEDS:
            assert_same(case, library, seed)
    assert cases


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FLOWS)
def test_loops_branches_and_effects_mean_what_the_interpreter_says(name: str) -> None:
    case = FLOWS[name]
    library = Library([case.function], Options())
    for seed in range(6):
        assert_same(case, library, seed)
