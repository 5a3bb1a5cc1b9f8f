"""Faults of code with checks, with XLA played through ctypes: every way in which a call can end with one."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.ffi_frames import Refused, Xla, make_plan
from workbench.errors import KernelFault
from workbench.interop.jax.launches.plan import Plan
from workbench.interop.jax.native.abi import OUT_OF_RANGE
from workbench.runtime.deferred_errors import raise_late

pytest.importorskip("jax")
LARGE = 1_000_000
SAID = "x has 4 elements along axis 0; thread ({},) asked for index 4."


@wb.kernel
def pick(x: wb.array[wb.float32], k: wb.array[wb.int32], out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = x[k[i]]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(pick, checks=True)


def arguments(count: int, *bad: int) -> tuple[list[np.ndarray], list[np.ndarray], dict[str, np.ndarray]]:
    k = np.zeros(count, np.int32)
    k[list(bad)] = 4
    x = np.arange(1, 5, dtype=np.float32)
    return [x, k], [np.full(count, -1, np.float32)], {"dims": np.array([count], np.int64)}


def test_a_small_call_ends_with_the_error_and_the_next_is_fine(plan: Plan) -> None:
    xla, (operands, results, attributes) = Xla(), arguments(3, 1)
    with pytest.raises(Refused) as error:
        xla.call(plan.target.thunk(), operands, results, attributes)
    assert error.value.code == OUT_OF_RANGE and SAID.format(1) in str(error.value)
    assert "out[i] = x[k[i]]" in str(error.value)
    assert results[0].tolist() == [1, 0, 1]  # a load outside gives 0, and the rest is done
    operands, results, attributes = arguments(3)
    assert xla.call(plan.target.thunk(), operands, results, attributes) is None
    assert results[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("pool", ["threads", "inline", "refuses"])
def test_a_shared_call_breaks_its_future_once(plan: Plan, pool: str) -> None:
    xla, (operands, results, attributes) = Xla(threads=4, pool=pool), arguments(LARGE, LARGE - 1)
    assert xla.call(plan.target.thunk(), operands, results, attributes) == 77
    ((future, said),) = xla.failed
    assert future == 77 and SAID.format(LARGE - 1) in said and not xla.available
    good = Xla(threads=4, pool=pool)
    operands, results, attributes = arguments(LARGE)
    good.call(plan.target.thunk(), operands, results, attributes)
    assert good.available == [77] and not good.failed


def test_all_threads_count_and_one_is_first(plan: Plan) -> None:
    xla, (operands, results, attributes) = Xla(threads=4, pool="threads"), arguments(LARGE, *range(0, LARGE, 1000))
    xla.call(plan.target.thunk(), operands, results, attributes)
    ((_, said),) = xla.failed
    assert "1000 faults in this launch; this is the first." in said
    assert results[0].sum() == LARGE - 1000


def test_without_a_future_the_caller_gets_it(plan: Plan) -> None:
    xla, (operands, results, attributes) = Xla(4, "threads", futures=False), arguments(LARGE, 5)
    with pytest.raises(Refused, match=r"thread \(5,\)"):
        xla.call(plan.target.thunk(), operands, results, attributes)


def test_the_batch_is_said(plan: Plan) -> None:
    x, k = np.ones((2, 1, 4), np.float32), np.zeros((1, 3, 5), np.int32)
    k[0, 2, 4] = 9
    out = np.zeros((2, 3, 5), np.float32)
    with pytest.raises(
        Refused, match=r"thread \(4,\) asked for index 9\. This was batch \(0, 2\) of jax\.vmap\.  2 faults"
    ):
        Xla().call(plan.target.thunk(), [x, k], [out], {"dims": np.array([5])})


def test_one_device_of_several_leaves_it_to_python(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan.late.name != plan.target.name
    for count in (3, LARGE):
        xla, (operands, results, attributes) = Xla(4, "inline"), arguments(count, 1)
        xla.call(plan.late.thunk(), operands, results, attributes)
        assert not xla.failed and results[0][:3].tolist() == [1, 0, 1]
    assert capsys.readouterr().err.count("KernelFault") == 1
    with pytest.raises(KernelFault, match=r"thread \(1,\) asked for index 4") as error:
        raise_late()
    assert error.value.__notes__ == ["1 more call failed since."]
    raise_late()


def test_code_without_checks_is_its_own_target(plan: Plan) -> None:
    plain = make_plan(pick)
    assert plain.target.name not in (plan.target.name, plain.late.name)
    operands, results, attributes = arguments(3)
    Xla().call(plain.target.thunk(), operands, results, attributes)
    assert results[0].tolist() == [1, 1, 1]
