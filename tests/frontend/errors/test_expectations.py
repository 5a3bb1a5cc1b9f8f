"""expect_eq and its kin; and what names of other languages get as an answer."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.devices import on_gpu
from workbench.backends.base import Options
from workbench.backends.python.interpret import run

HEAD = "def k(x: array[float]):\n    i = tid()\n    "
CASES = [
    ("expect_eq(i, 0)", False), ("expect_eq(i, 1)", True), ("expect_neq(x[i], 2.5)", True), ("expect_neq(i, 3)", False),
    ("expect_near(x[i], 2.5)", False), ("expect_near(x[i], 2.6)", True), ("expect_near(x[i], 2.6, 0.2)", False),
    ("expect_near(i, 1, 1)", False), ("expect_eq(vec2(x[i], 1.0), vec2(2.5, 1.0))", False),
    ("expect_eq(vec2(x[i], 1.0), vec2(2.5, 1.5))", True), ("expect_neq(vec2(x[i], 1.0), vec2(2.5, 1.5))", False),
    ("expect_neq(mat22(x[i]), mat22(2.5))", True), ("expect_near(quat(x[i], 0.0, 0.0, 1.0), quat_identity())", True),
    ("expect_near(mat22(x[i]), mat22(2.6), 0.2)", False), ("expect_near(vec2(x[i]), vec2(2.5, 2.6))", True),
]  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize(("body", "faults"), CASES)
def test_a_fault_where_it_does_not_hold(body, faults):
    kernel = meaning.define(HEAD + body)["k"]
    function = kernel.specialise().function
    x = np.array([2.5], np.float32)
    launches = [
        lambda: wb.launch(kernel, 1, inputs=[wb.array(x)], checks=True),
        lambda: run(function, 1, [x], checks=True),
        lambda: on_gpu.run(function, 1, [x], options=Options(checks=True)),
    ]
    for launch in launches:
        if not faults:
            launch()
            continue
        with pytest.raises(wb.KernelFault) as caught:
            launch()
        assert caught.value.location.line == 3
    if faults:  # without a word of checks: what a script's launch says
        with pytest.raises(wb.KernelFault):
            wb.launch(kernel, 1, inputs=[wb.array(x)])
    wb.launch(kernel, 1, inputs=[wb.array(x)], checks=False)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("expect_eq(i)", "expect_eq() needs an argument for b"),
        ("expect_near(i)", "expect_near() needs an argument for b"),
        ("expect_eq(vec2(1.0, 2.0), vec3(1.0, 2.0, 3.0))", "vectors of one type; these are vec2 and vec3"),
        ("expect_near(x[i], 1.0, vec2(1.0, 2.0))", "vectors of one type"),
        ("expect_eq(x, x)", "takes numbers; this is array[float32]"),
        ("x[i] = select(i > 0, 1.0, 2.0)", "Write where(condition, if_true, if_false)"),
        ("x[i] = wb.fma(x[i], 2.0, 1.0)", "Write x * y + z; @wb.kernel(fma=True)"),
        ("breakpoint_()", "not defined"),
        ("m = mesh_query_point(x, x)", "takes a Mesh first; this is array[float32]"),
        ("m = transformation(x, x)", "Use a quat and a vec3"),
        ("m = tile_fft(x)", "takes a tile of vec2"),
    ],
)
def test_refused(body, sentence):
    with pytest.raises(wb.WorkbenchError) as caught:
        meaning.define(HEAD + body, {"wb": wb})
    assert sentence in caught.value.render()
