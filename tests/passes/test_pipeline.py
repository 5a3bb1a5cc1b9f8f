"""The lists of passes are what real kernels go through, and no code runs those passes beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.modules import ROOT, files, imports_of
from workbench.api.builds import build
from workbench.backends.base import Options
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cuda.emit import emit_cuda
from workbench.backends.python import interpret
from workbench.frontend.state.context import Tiling
from workbench.ir.values import Function
from workbench.passes import pipeline


@wb.kernel
def scaled(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    i = wb.tid()
    assert x[i] > 0.0
    y[i] += 2.0 * x[i]


@wb.kernel
def summed(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    i = wb.tid()
    t = wb.tile_load(x, shape=64, offset=i * 64)
    wb.tile_store(y, wb.tile_sum(t), offset=i)


CHECKED = Options(checks=True)
LOWERED_FOR_LLVM = [
    "write_out",
    "load_forwarding",
    "dead_stores",
    "sink_stores",
    "lower_tiles",
    "halves",
    "counted",
    "counters",
    "peel_boundaries",
    "early_exits",
    "divisors",
    "scalar_expansion",
    "expand",
]
DERIVED = {
    "forward": ["strip_custom_gradients", "demote_atomics", "atomic", "reductions", "by_component"],
    "adjoint": [
        *("strip_asserts", "strip_prints", "early_exits"),
        *(
            "fold",
            "demote_atomics",
            "promote",
            "load_forwarding",
            "dead_stores",
            "dce_derivative",
        ),  # HOISTED: no branch
        *("dce_derivative", "recompute", "dce_derivative"),
        *("unchanged", "fold", "promote", "dce_derivative"),
    ],
    "tangent": [
        *("recompute", "dce", "fold", "dce"),
        *("strip_custom_gradients", "demote_atomics", "atomic", "reductions", "by_component"),
    ],
}
DERIVED["finite"] = ["finite_checks", *DERIVED["forward"]]
DERIVED["accesses"] = ["strip_asserts", "strip_prints", *DERIVED["forward"]]
DERIVED["adjoint tangent"] = [*DERIVED["adjoint"], *DERIVED["tangent"]]
DERIVED["tangent adjoint"] = ["recompute", "dce", "fold", "dce", *DERIVED["adjoint"], "reductions", "by_component"]
DERIVED["adjoint"] += ["reductions", "by_component"]


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names of the passes as they run, in a process that has lowered nothing."""
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    names: list[str] = []
    real = pipeline.apply

    def noted(name: str, step: Callable[[Function], Function], function: Function) -> Function:
        after = real(name, step, function)
        names.append(name)
        return after

    monkeypatch.setattr(pipeline, "apply", noted)
    return names


def test_source_code_becomes_ir_by_the_list(passed: list[str]) -> None:
    @wb.kernel
    def alone(x: wb.array[wb.float32]):
        x[wb.tid()] = 1.0

    alone.specialise()
    assert passed == ["weak_literals", "fold", "added_products", "refuse_endless", "dce"]


@pytest.mark.parametrize("direction", DERIVED)
def test_a_direction_takes_the_passes_of_its_steps(direction: str, passed: list[str]) -> None:
    specialisation = scaled.specialise()
    passed.clear()
    build.function_of(specialisation, direction)
    assert passed == DERIVED[direction]


def test_arguments_that_overlap_keep_their_atomic_adds(passed: list[str]) -> None:
    specialisation = scaled.specialise()
    passed.clear()
    build.function_of(specialisation, "forward", atomic=True)
    assert passed == ["strip_custom_gradients", "atomic", "by_component"]


@pytest.mark.parametrize(
    ("emit", "options", "names"),
    [
        (emit_llvm, Options(), ["atomic", "number_prints", "strip_asserts", *LOWERED_FOR_LLVM]),
        (emit_llvm, CHECKED, ["atomic", "number_prints", "bounds_checks", *LOWERED_FOR_LLVM]),
        (emit_cuda, Options(), ["atomic", "strip_asserts", "halves", "accumulate", "expand", "dce"]),
        (emit_cuda, CHECKED, ["atomic", "halves", "accumulate", "bounds_checks", "expand", "dce"]),
    ],
)
def test_an_adjoint_goes_to_a_backend_by_the_list(
    emit: Callable[..., str], options: Options, names: list[str], passed: list[str]
) -> None:
    function = build.function_of(scaled.specialise(), "adjoint")
    passed.clear()
    emit(function, options)
    assert passed == names


def test_tiles_for_cuda_have_a_list_of_their_own(passed: list[str]) -> None:
    function = build.function_of(summed.specialise(tiling=Tiling(64)), "adjoint")
    passed.clear()
    emit_cuda(function, Options())
    assert passed == ["atomic", "strip_asserts", "halves", "combine", "expand", "dce"]


@pytest.mark.parametrize(("checks", "names"), [(True, ["bounds_checks"]), (False, [])])
def test_the_interpreter_adds_checks_on_request(checks: bool, names: list[str], passed: list[str]) -> None:
    function = scaled.specialise().function
    passed.clear()
    y = np.zeros(2, np.float32)
    interpret.run(function, 2, [np.ones(2, np.float32), y], checks=checks)
    assert passed == names
    assert y.tolist() == [2, 2]


def test_a_key_of_forward_code_alone_is_without_the_users_gradients(passed: list[str]) -> None:
    @wb.func
    def square(v: float):
        return v * v

    @wb.func_grad(square)
    def adj_square(v: float, adj: float):
        wb.adjoint[v] += 2.0 * v * adj

    @wb.kernel
    def squared(x: wb.array[wb.float32], y: wb.array[wb.float32]):
        i = wb.tid()
        y[i] = square(x[i])

    specialisation, backend = squared.specialise(), build.backend_for("cpu")
    passed.clear()
    build.key_of(specialisation, "adjoint", Options(), backend, "x86-64", False)
    assert passed == []
    build.key_of(specialisation, "forward", Options(), backend, "x86-64", False)
    assert passed == ["strip_custom_gradients"]


def test_a_pass_that_is_not_of_the_stage_is_refused() -> None:
    stage = r"\('weak_literals', 'fold', 'added_products', 'refuse_endless', 'dce'\)"
    with pytest.raises(AssertionError, match=rf"\['unroll'\] are not in {stage}"):
        pipeline.run(pipeline.LOWERED, scaled.specialise().function, unroll=False)


def test_passes_run_from_the_lists_alone() -> None:
    listed = {step.__name__ for step in pipeline.PASSES.values()}
    beside = [
        f"{path.relative_to(ROOT)}:{item.line} imports {name}"
        for path in files("workbench")
        if not path.is_relative_to(ROOT / "workbench/passes")
        for item in imports_of(path)
        if item.module.startswith("workbench.passes.")
        for name in listed & set(item.names)
    ]
    # With settings: handed to `run`; and prints are taken out of what JAX launches.
    assert [row.partition(":")[0] for row in beside] == [
        "workbench/autodiff/instrumented.py",  # prune
        *["workbench/autodiff/residuals.py"] * 2,  # prune, prune_derivative
        *["workbench/autodiff/reverse_mode.py"] * 3,
        "workbench/backends/cpu/emit/emit_module.py",  # guard
        "workbench/backends/cpu/emit/emit_module.py",  # lower_tiles
        "workbench/frontend/functions/inline.py",
        "workbench/interop/jax/launches/prints.py",
    ], "\n".join(beside)
