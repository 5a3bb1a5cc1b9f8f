"""Saved gradients by some arguments: the file says which were left out, and what names none there are is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.records.archive import pack, unpack
from workbench.runtime.records.saved import read


@wb.kernel
def paired(a: wb.array[float], b: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(y, 0, a[i] * b[i] + a[i])


def paired_sum(a: wb.array, b: wb.array) -> wb.array:
    y = wb.zeros(1)
    wb.launch(paired, dim=a.shape, inputs=[a, b], outputs=[y])
    return y


def saved(folder: Path) -> Path:
    """A file with the gradient by the first of two arguments, in which the second one's adjoint array is itself."""
    a, b = wb.array([1.0, 2.0, 3.0]), wb.array([4.0, 5.0, 6.0])
    with wb.record(inputs=True) as rec:
        slope = wb.grad(paired_sum)(a, b)
    np.testing.assert_array_equal(slope.numpy(), [5, 6, 7])
    rec.save(folder / "one.wbr")
    return folder / "one.wbr"


@pytest.mark.parametrize("trust", [False, True])
def test_a_gradient_by_one_argument_comes_back(trust: bool, tmp_path: Path) -> None:
    again = wb.load_record(saved(tmp_path), trust=trust)
    again.replay()
    entries: list[Any] = list(again)
    (adjoint,) = [e.record for e in entries if e.kind == "adjoint"]
    assert adjoint.arguments["adj_a"].numpy().tolist() == [5, 6, 7]
    assert adjoint.arguments["b"].numpy().tolist() == [4, 5, 6]


@pytest.mark.parametrize("constant", [[3], [-1], [True], "b", None, {}])
def test_parameters_that_are_none_are_refused(constant: Any, tmp_path: Path) -> None:
    told, members = unpack(saved(tmp_path).read_bytes())
    told = json.loads(json.dumps(told))
    (options,) = [e["options"] for e in told["entries"] if "constant" in e.get("options", {})]
    options["constant"] = constant
    with pytest.raises(wb.RecordError, match=r"no parameter|improper options"):
        read(pack(told, members))
