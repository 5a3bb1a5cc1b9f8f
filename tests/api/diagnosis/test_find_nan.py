"""Where the first NaN or infinity is made: in a program by `find_nan`, in a gradient by `explain_grad`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench.errors import KernelFault


@wb.struct
class Ball:
    radius: float
    place: wb.vec3


@wb.kernel
def orbit(x: wb.array[float], y: wb.array[float], dt: float):
    i = wb.tid()
    v = x[i]
    for _ in range(4):
        v = v + dt / (v - 3.0)
    y[i] = v * 2.0
    x[i] = x[i] + 1.0


@wb.kernel
def logs(x: wb.array[float], out: wb.array[float]):
    t = wb.log(x[wb.tid()])
    out[0] += t


@wb.kernel
def differences(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] - x[0]


@wb.kernel
def masked(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = wb.where(x[i] > 0.0, 1.0 / x[i], wb.inf)
    if i == 1:
        y[i] = wb.inf


@wb.kernel
def sums(x: wb.array[wb.float16], y: wb.array[wb.float16]):
    y[0] += x[wb.tid()]


@wb.kernel
def directions(p: wb.array[Ball], q: wb.array[wb.vec3]):
    i = wb.tid()
    q[i] = p[i].place / p[i].radius


@wb.kernel
def tiled(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    t = wb.tile_load(x, shape=4, offset=i * 4)
    wb.tile_store(y, wb.tile_map(wb.log, t), offset=i * 4)


def lines(count: int, wrong: int) -> np.ndarray:
    data = np.ones(count, np.float32)
    data[wrong] = -1.0
    return data


def orbits() -> None:
    x, y = wb.array([0.0, 1.0, 2.0, 5.0]), wb.zeros(4)
    for _ in range(3):
        wb.launch(orbit, 4, [x, y, 1.0])


# What runs; the line's text, the thread, what the message says.
BIRTHS: dict[str, tuple[Callable[[], Any], str, tuple[int, ...], str]] = {
    "in a loop, of what is changed in place": (
        orbits, "v = v + dt / (v - 3.0)", (2,), "infinity: / of 1 and 0 gives inf",
    ),
    "in one of many threads that add": (
        lambda: wb.launch(logs, 60_000, [wb.array(lines(60_000, 41_234)), wb.zeros(1)]),
        "t = wb.log(x[wb.tid()])", (41_234,), r"NaN: log\(\) of -1 gives nan",
    ),
    "of an infinity that was loaded": (
        lambda: wb.launch(differences, 2, [wb.array([np.inf, np.inf]), wb.zeros(2)]),
        "y[i] = x[i] - x[0]", (0,), "NaN: - of inf and inf gives nan",
    ),
    "of structs and vectors": (
        lambda: wb.launch(directions, 3, [wb.zeros(3, Ball), wb.zeros(3, wb.vec3)]),
        "q[i] = p[i].place / p[i].radius", (0,), "NaN: / of",
    ),
    "of tiles": (
        lambda: wb.launch_tiled(tiled, 2, [wb.array([1.0, 2, 3, 4, 5, 6, 0, 8]), wb.zeros(8)], block_dim=4),
        "wb.tile_store(y, wb.tile_map(wb.log, t), offset=i * 4)", (1,), "infinity: tile_map",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BIRTHS)
def test_the_first_one_stops_the_program_at_its_line(name: str) -> None:
    call, line, thread, message = BIRTHS[name]
    call()  # says nothing of itself
    with pytest.raises(KernelFault, match=message) as caught, wb.find_nan():
        call()
    assert caught.value.thread == thread
    place = caught.value.location
    assert place is not None and place.source.line(place.line).strip() == line


def test_what_no_kernel_has_made_may_be_infinite():
    x, y = wb.array([1.0, 0.0, 2.0]), wb.zeros(3)
    with wb.find_nan():
        wb.launch(masked, 3, [x, y])
        wb.launch(masked, 3, [y, x])
    assert np.isinf(y.numpy()).sum() == 1
    with wb.find_nan(infinities=False):
        wb.launch(logs, 1, [wb.zeros(1), wb.zeros(1)])


def test_sums_that_overflow_and_nans_that_come_from_outside():
    x, y = wb.array([60000.0, 60000.0], wb.float16), wb.zeros(1, wb.float16)
    with pytest.raises(KernelFault, match=r"elements of y NaN or infinite.* their sum overflows"), wb.find_nan():
        wb.launch(sums, 2, [x, y])
    with pytest.raises(KernelFault, match="x holds a NaN before differences runs"), wb.find_nan():
        wb.launch(differences, 2, [wb.array([np.nan, 1.0]), wb.zeros(2)])


def test_launches_are_done_and_seen_by_others_and_arrays_are_as_without():
    x, out = wb.array([1.0, -1.0], requires_grad=True), wb.zeros(1)
    with wb.Tape() as tape, pytest.raises(KernelFault), wb.find_nan():
        wb.launch(logs, 2, [x, out])
    assert len(tape) == 1 and np.isnan(out.numpy()).all() and x.version == 0 and out.version == 1
    kept = wb.launch(logs, 2, [x, out], record_cmd=True)
    with pytest.raises(KernelFault, match="log"), wb.find_nan():
        out.zero_()
        kept.launch()
    with wb.capture() as graph:
        wb.launch(logs, 2, [x, out])
    with pytest.raises(KernelFault, match="log"), wb.find_nan():
        out.zero_()
        graph.launch()


# Gradients.

GRADIENT = """
@kernel
def k(x: array[{kind}], loss: array[float]):
    i = tid()
    {body}
"""
ROOT = "loss[0] += sqrt({0})"
# dtype and body of the kernel; state, cause, line of the body (0: the first), message.
INFINITE: dict[str, tuple[str, str, tuple[str, str, int, str]]] = {
    "a scalar": (
        "float", ROOT.format("x[i]"), ("infinite", "infinite", 0, r"sqrt\(\) is infinite at .* 4 of 4 are infinite"),
    ),
    "a quotient": (
        "float", "t = 2.0 * x[i]\n    loss[0] += 1.0 / t", ("infinite", "infinite", 1, "derivative of / is infinite"),
    ),
    "a vector": (
        "vec3", f"v = x[i]\n    {ROOT.format('v[1]')} + v[0]",
        ("infinite", "infinite", 1, r"sqrt\(\).* 4 of 12 are infinite"),
    ),
    "a matrix": ("mat22", ROOT.format("x[i][1, 0]"), ("infinite", "infinite", 0, r"sqrt\(\).* 4 of 16 are inf")),
    "a struct": ("Ball", f"{ROOT.format('x[i].radius')} + x[i].place[1]", ("infinite", "infinite", 0, r"sqrt\(\)")),
    "doubles": ("float64", "loss[0] += float(sqrt(x[i]))", ("infinite", "infinite", 0, r"sqrt\(\)")),
    "halves": ("bfloat16", "loss[0] += float(log(x[i]))", ("infinite", "infinite", 0, r"log\(\)")),
    "with NaN and 0": (
        "float", "if i == 0:\n        loss[0] += sqrt(x[i]) * x[i]\n    elif i < 3:\n        " + ROOT.format("x[i]"),
        ("nan", "infinite", 1, r"sqrt\(\) is infinite or NaN .* 2 of 4 are infinite"),
    ),
    "in a loop": (
        "float", "s = 0.0\n    for n in range(5):\n        s = s + log(x[i] + float(n))\n    loss[0] += s",
        ("infinite", "infinite", 2, r"log\(\)"),
    ),
    "a sum that overflows": (
        "float", "loss[0] += x[0] * 3.0e38",
        ("infinite", "overflow", -1, "sums of gradients overflow.* 1 of 4 is infinite"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INFINITE)
def test_an_infinite_gradient_is_explained(name: str) -> None:
    kind, body, (state, cause, line, message) = INFINITE[name]
    kernel = meaning.define(GRADIENT.format(kind=kind, body=body), {"Ball": Ball})["k"]
    x, loss = (
        wb.zeros(4, {"Ball": Ball, "float": float}.get(kind) or getattr(wb, kind), requires_grad=True),
        wb.zeros(1),
    )
    with wb.Tape() as tape:
        wb.launch(kernel, 4, [x, loss])
    tape.backward(loss)
    found = wb.explain_grad(tape, x)
    assert (found.state, found.cause) == (state, cause) and found.kernel == "k", found
    assert re.search(message, found.message), found.message
    assert found.text == (body.splitlines()[line].strip() if line >= 0 else "")
    assert found.advice and f"gradient {state}" in str(found)


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def grow(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = wb.exp(x[i])


@wb.kernel
def product(x: wb.array[float], y: wb.array[float], loss: wb.array[float]):
    i = wb.tid()
    loss[0] += x[i] * y[i]


@wb.kernel
def gather(x: wb.array[float], index: wb.array[int], loss: wb.array[float]):
    i = wb.tid()
    loss[0] += wb.sqrt(x[index[i]])


def test_values_and_seeds_that_are_infinite_already():
    x, y, loss = wb.array([1.0, np.inf], requires_grad=True), wb.zeros(2), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(square, 2, [x, y])
    tape.backward(grads={y: 1.0})
    found = wb.explain_grad(tape, x)
    assert (found.state, found.cause) == ("infinite", "value") and "x holds an infinity before square" in found.message
    x[1] = 90.0
    with wb.Tape() as tape:
        wb.launch(grow, 2, [x, y])
        wb.launch(product, 2, [x, y, loss])
    tape.backward(loss)
    found = wb.explain_grad(tape, x)
    assert (found.state, found.cause, found.launch) == ("infinite", "value", 0), found
    assert "exp() of 90 gives inf in thread (1,)" in found.message
    with wb.Tape() as tape:
        wb.launch(square, 2, [x, y])
    tape.backward(grads={y: np.array([np.inf, 0.0])})
    found = wb.explain_grad(tape, x)
    assert (found.state, found.cause) == ("infinite", "lost") and "started from is infinite" in found.message


def test_the_thread_is_found_among_many():
    n = 50_000
    data = np.ones(n, np.float32)
    data[123] = 0.0
    index = wb.array(np.arange(n, dtype=np.int32)[::-1].copy())
    x, loss = wb.array(data, requires_grad=True), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(gather, n, [x, index, loss])
    tape.backward(loss)
    found = wb.explain_grad(tape, x)
    assert found.state == "infinite" and "sqrt" in found.message
    assert found.text == "loss[0] += wb.sqrt(x[index[i]])"
