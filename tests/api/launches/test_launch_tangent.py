"""Launching tangents: on all backends, with its own artifact and key, with what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench import events, inspect
from workbench.api.builds import build
from workbench.backends.base import Options
from workbench.backends.python.interpret import run
from workbench.errors import LaunchError, NotDifferentiable

TEXT = """
@kernel
def k(x: array[float], a: float, v: vec3, y: array[float], n: int):
    i = tid()
    s = x[i]
    c = 0
    while s < 3.0 and c < n:
        if c % 2 == 0:
            s = s * a + sin(x[i])
        s += v[c % 3] * 0.25
        c += 1
    atomic_add(y, i % 2, s)
    x[i] = s * normalize(v).y
"""


def test_all_backends_agree(need) -> None:
    need("nvrtc")
    kernel = define(TEXT)["k"]
    random = np.random.default_rng(0)
    x, dx = (random.uniform(0.2, 0.9, 64).astype(np.float32) for _ in range(2))
    y, dy = (random.uniform(0.2, 0.9, 2).astype(np.float32) for _ in range(2))
    v, dv = np.array([0.3, 0.6, 0.2], np.float32), np.array([0.5, -1.0, 0.25], np.float32)
    names = [p.name for p in build.function_of(kernel.specialise(), "tangent").params]
    assert names == ["x", "a", "v", "y", "n", "tan_x", "tan_a", "tan_v", "tan_y"]
    given = [wb.array(p) for p in (x, y, dx, dy)]
    wb.launch_tangent(
        kernel, 64, inputs=[given[0], 1.5, v], outputs=[given[1], 9],
        tan_inputs=[given[2], 0.5, dv], tan_outputs=[given[3]],
    )  # fmt: skip
    function = build.function_of(kernel.specialise(), "tangent")
    for go in (
        lambda args: run(function, 64, args),
        lambda args: Library([function], Options()).run("k_tangent", 64, args),
    ):
        args = [x.copy(), np.float32(1.5), v, y.copy(), 9, dx.copy(), np.float32(0.5), dv, dy.copy()]
        go(args)
        for mine, wanted in zip(given, (args[0], args[3], args[5], args[8]), strict=True):
            np.testing.assert_allclose(mine.numpy(), wanted, rtol=2e-5)


def test_zero_where_none_is_given() -> None:
    kernel = define(
        "@kernel\ndef k(x: array[float], a: float, y: array[float]):\n    i = tid()\n    y[i] = x[i] * a\n"
    )["k"]
    x, y, dy = wb.array([1.0, 2.0]), wb.zeros(2), wb.zeros(2)
    wb.launch_tangent(kernel, 2, inputs=[x, 3.0], outputs=[y], tan_inputs=[None, 2.0], tan_outputs=[dy])
    assert y.numpy().tolist() == [3, 6] and dy.numpy().tolist() == [2, 4]
    wb.launch_tangent(kernel, 2, inputs=[x, 3.0], outputs=[y], tan_outputs=[dy])
    assert dy.numpy().tolist() == [0, 0]


def test_arrays_that_overlap() -> None:
    kernel = define("@kernel\ndef k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] += x[i] * x[i]\n")["k"]
    x, dx = wb.array([1.0, 2.0]), wb.array([1.0, 1.0])
    wb.launch_tangent(kernel, 2, inputs=[x], outputs=[x], tan_inputs=[dx], tan_outputs=[dx])
    assert x.numpy().tolist() == [2, 6] and dx.numpy().tolist() == [3, 5]


def test_an_artifact_of_its_own_made_when_asked() -> None:
    kernel = define("@kernel\ndef k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = 7.125 * x[i]\n")["k"]
    x, y = wb.ones(2), wb.zeros(2)
    seen: list[str] = []
    stop = events.subscribe(lambda e: seen.append(e.direction), events.CacheMiss, events.CacheHit)
    try:
        wb.launch(kernel, 2, inputs=[x], outputs=[y])
        wb.launch_tangent(kernel, 2, inputs=[x], outputs=[y])
        wb.launch_tangent(kernel, 2, inputs=[x], outputs=[y])
    finally:
        stop()
    assert seen == ["tangent"]
    keys = {inspect.key(kernel, d).splitlines()[-1] for d in ("forward", "adjoint", "tangent", "adjoint tangent")}
    assert len(keys) == 4


def test_its_texts_can_be_looked_at() -> None:
    kernel = define("@kernel\ndef k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = x[i] * x[i]\n")["k"]
    assert "store %tan_y" in inspect.panes(kernel, ("tangent",))["tangent"]
    assert "@ 4" in inspect.tangent(kernel, lines=True)
    assert "tan_x" in inspect.cuda(kernel, "tangent") and "tan_adj_x" in inspect.cuda(kernel, "adjoint tangent")


REFUSED = {
    "shape": (dict(tan_inputs=[np.ones(3, np.float32)]), "tan_x has shape"),
    "type": (dict(tan_inputs=[wb.zeros(2, int)]), "tan_x is array"),
    "too many": (dict(tan_outputs=[None, None, None]), "more tangents than arguments"),
    "of an integer": (dict(tan_outputs=[None, 1]), "n is int32 and has no tangent"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    kernel = define("@kernel\ndef k(x: array[float], y: array[float], n: int):\n    y[tid()] = x[n]\n")["k"]
    options, message = REFUSED[name]
    y = wb.zeros(2)
    with pytest.raises(LaunchError, match=message):
        wb.launch_tangent(kernel, 2, inputs=[wb.ones(2)], outputs=[y, 1], **options)
    assert y.numpy().tolist() == [0, 0]


def test_no_tangent_nothing_runs() -> None:
    kernel = define("@kernel\ndef k(x: array[float], y: array[float]):\n    atomic_max(y, 0, x[tid()])\n")["k"]
    y = wb.zeros(1)
    with pytest.raises(NotDifferentiable, match="atomic_max on y has no tangent"):
        wb.launch_tangent(kernel, 2, inputs=[wb.ones(2)], outputs=[y])
    assert y.numpy().tolist() == [0]
