"""`@wb.kernel(checkpoints=…)`: in the adjoint's key and text alone, and never in the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench import inspect
from workbench.api.builds.build import function_of
from workbench.api.builds.keys import key_of
from workbench.api.gradients.gradcheck import gradcheck
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.ir.values import walk
from workbench.types import Slots

ASKED = (2, 4, 24, 64)


def text(decorator: str) -> str:
    return f"""
{decorator}
def drift(x: array[float64], n: int32, y: array[float64]):
    i = tid()
    s = x[i]
    for j in range(n):
        s = sin(s) * 1.1 + 0.3 * x[i]
    y[i] = s
"""


def drift(asked: int | None = None) -> Any:
    """The kernel with so many checkpoints."""
    return meaning.define(text("@kernel" if asked is None else f"@kernel(checkpoints={asked})"))["drift"]


def gradient(kernel: Any) -> np.ndarray:
    x, y = wb.array(np.linspace(0.2, 1.4, 7), requires_grad=True), wb.zeros(7, wb.float64)
    with wb.Tape() as tape:
        wb.launch(kernel, 7, inputs=[x, 90], outputs=[y])
    tape.backward(grads={y: wb.array(np.ones(7))})
    return x.grad.numpy()


def digest(kernel: Any, direction: str) -> str:
    return key_of(kernel.specialise(), direction, Options(), CpuBackend(), "x86-64-v3", False).digest


def test_only_the_adjoints_key_depends_on_it() -> None:
    kernels = [drift(n) for n in ASKED]
    assert len({digest(k, "forward") for k in kernels}) == len({digest(k, "tangent") for k in kernels}) == 1
    for direction in ("adjoint", "tangent adjoint", "adjoint tangent"):
        assert len({digest(k, direction) for k in kernels}) == len(ASKED)
    assert digest(drift(), "adjoint") == digest(drift(16), "adjoint")
    assert "checkpoints" not in inspect.key(kernels[0])
    (line,) = [s for s in inspect.key(kernels[0], "adjoint").splitlines() if s.startswith("checkpoints")]
    assert line.split() == ["checkpoints", "2"]


@pytest.mark.parametrize("asked", ASKED)
def test_the_adjoint_keeps_so_many_states(asked: int) -> None:
    kernel = drift(asked)
    counts = {
        v.type.count
        for op in walk(function_of(kernel.specialise(), "adjoint").body)
        for v in op.results
        if isinstance(v.type, Slots)
    }
    # Beside starts of chunks, the states of one chunk; of a chunk of more than one, also the state in use counts.
    starts, chunk = (asked, 1) if asked < 16 else (asked - 9, 8)
    assert counts == {starts, chunk}
    assert f"slots[{starts}, " in inspect.adjoint(kernel)
    assert gradcheck(kernel, 3, [np.linspace(0.2, 1.4, 3), 40], [np.zeros(3)], samples=3)


def test_gradients_do_not_depend_on_it() -> None:
    plain = gradient(drift())
    assert np.all(plain != 0)
    for asked in ASKED:
        np.testing.assert_array_equal(gradient(drift(asked)), plain)


def test_from_python_and_in_a_cell() -> None:
    @wb.kernel(checkpoints=3)
    def decay(x: wb.array[wb.float64], n: wb.int32, y: wb.array[wb.float64]):
        i = wb.tid()
        s = x[i]
        for _j in range(n):
            s = wb.cos(s)
        y[i] = s

    assert "slots[3, " in inspect.adjoint(decay)
    assert drift(5).checkpoints == 5


@pytest.mark.parametrize("asked", [0, 1, 1025, -4, 2.5, True, "many"])
def test_refused(asked: Any) -> None:
    with pytest.raises(wb.KernelTypeError, match="drift requests checkpoints=") as caught:
        meaning.define(text(f"@kernel(checkpoints={asked!r})"))
    assert "from 2 to 1024" in caught.value.render()
    assert caught.value.location is not None


CARRIED = """
@kernel(checkpoints={slots})
def relax(x: array[float64], n: int32, y: array[float64]):
    i = tid()
    u = x[i]
    j = 0
    while j < n:
        u = u / (1.0 + 1e-6 * u)
        j += 1
    y[i] = u
"""


@pytest.mark.parametrize("slots", [24, 256])
def test_a_million_steps(slots: int) -> None:
    """1/u grows by 1e-6 a step, so u(n) = x / (1 + 1e-6 n x) and du/dx = 1 / (1 + 1e-6 n x)^2."""
    kernel = meaning.define(CARRIED.format(slots=slots))["relax"]
    assert f"slots[{slots - 9}, " in inspect.adjoint(kernel)
    start, n = np.array([0.4, 1.7]), 1_000_000
    x, y = wb.array(start, requires_grad=True), wb.zeros(2, wb.float64)
    with wb.Tape() as tape:
        wb.launch(kernel, 2, inputs=[x, n], outputs=[y])
    tape.backward(grads={y: wb.array(np.ones(2))})
    np.testing.assert_allclose(y.numpy(), start / (1 + 1e-6 * n * start), rtol=1e-10)
    np.testing.assert_allclose(x.grad.numpy(), 1 / (1 + 1e-6 * n * start) ** 2, rtol=1e-9)
