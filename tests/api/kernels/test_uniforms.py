"""Values that kernels read by name and that change between launches: an argument more, and no compilation."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pytest

import workbench as wb
from workbench import events
from workbench.errors import KernelTypeError, LaunchError
from workbench.inspect import Uniform

beta = Uniform(2.0, wb.float32)
light = Uniform(wb.vec3(1.0, 2.0, 3.0), wb.vec3)
constant = 4.0


@wb.func
def scaled(a: float):
    return a * beta


@wb.kernel
def add(x: wb.array[float], by: float = 1.0):
    i = wb.tid()
    x[i] += beta + by


@wb.kernel
def through_a_func(x: wb.array[float]):
    i = wb.tid()
    x[i] = scaled(float(i)) + scaled(1.0) + scaled(2.0)


@wb.kernel
def lit(x: wb.array[float], lights: wb.array[wb.vec3]):
    x[wb.tid()] = wb.dot(lights[0], light)


@wb.kernel
def reads_a_constant(x: wb.array[float]):
    x[wb.tid()] = constant


@pytest.fixture(autouse=True)
def values_as_they_were() -> Iterator[None]:
    yield
    globals()["constant"] = 4.0
    beta.set(2.0)
    light.set(wb.vec3(1.0, 2.0, 3.0))


@pytest.fixture
def compiled() -> Iterator[list[events.Event]]:
    found: list[events.Event] = []
    stop = events.subscribe(found.append, events.CompileStarted)
    yield found
    stop()


def test_a_kernel_has_one_parameter_more_whose_default_is_the_uniform(compiled: list[events.Event]) -> None:
    x = wb.zeros(3)
    wb.launch(add, 3, [x])
    assert "beta: float32" in repr(add) and x.numpy().tolist() == [3.0] * 3
    before = len(compiled)
    beta.set(5.0)
    wb.launch(add, 3, [x, 0.5])
    add[3](x)
    assert x.numpy().tolist() == [3.0 + 5.5 + 6.0] * 3 and len(compiled) == before
    wb.launch(add, 3, [x, 0.0, 100.0])
    assert x.numpy().tolist() == [114.5] * 3, "given, it is the argument"


def test_funcs_that_a_kernel_calls_read_it_too(compiled: list[events.Event]) -> None:
    x = wb.zeros(3)
    wb.launch(through_a_func, 3, [x])
    before = len(compiled)
    beta.set(10.0)
    wb.launch(through_a_func, 3, [x])
    assert x.numpy().tolist() == [30.0, 40.0, 50.0] and len(compiled) == before


def test_replays_and_kept_launches_take_its_value_of_then(compiled: list[events.Event]) -> None:
    x, y = wb.zeros(2), wb.zeros(2)
    with wb.record(inputs=True) as rec:
        wb.launch(add, 2, [x, beta])
        wb.launch(add, 2, [x, 2.0])  # another launch's number of the same name stays
        wb.launch(lit, 2, [y, light])
    kept = wb.launch(add, 2, [x, 0.0], record_cmd=True)
    assert x.numpy().tolist() == [8.0] * 2 and y.numpy().tolist() == [14.0] * 2
    assert rec.uniforms == [beta, light] and rec in beta.users and kept in beta.users
    before = len(compiled)
    beta.set(3.0)
    light.set(wb.vec3(1.0, 1.0, 1.0))
    rec.rewind()
    rec.replay()
    assert x.numpy().tolist() == [11.0] * 2 and y.numpy().tolist() == [3.0] * 2
    with wb.record() as seen:  # entry by entry, since somebody looks
        rec.rewind()
        rec.replay()
    assert x.numpy().tolist() == [11.0] * 2 and len(seen) == 3
    kept.launch()
    assert x.numpy().tolist() == [14.0] * 2 and len(compiled) == before
    rec.rewind()
    rec.replay(by=0.0)
    assert x.numpy().tolist() == [6.0] * 2, "a number that is given is that number"


def test_a_name_may_become_one_and_cease_to_be(compiled: list[events.Event]) -> None:
    x = wb.zeros(1)
    wb.launch(reads_a_constant, 1, [x])
    old = wb.launch(reads_a_constant, 1, [x], record_cmd=True)
    globals()["constant"] = Uniform(7.0, wb.float32)
    wb.launch(reads_a_constant, 1, [x])
    assert x.numpy().tolist() == [7.0]
    kept = wb.launch(reads_a_constant, 1, [x], record_cmd=True)
    globals()["constant"].set(8.0)
    kept.launch()
    assert x.numpy().tolist() == [8.0]
    globals()["constant"] = 9.0
    wb.launch(reads_a_constant, 1, [x])
    assert x.numpy().tolist() == [9.0] and repr(reads_a_constant).count("float32") == 1
    kept.launch()
    assert x.numpy().tolist() == [8.0], "a launch that was kept has its own code"
    old.launch()
    assert x.numpy().tolist() == [4.0]


def test_gradients_go_through_it_and_tapes_know_its_value() -> None:
    x = wb.ones(3, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(through_a_func, 3, [y := wb.zeros(3, requires_grad=True)])
        loss = (x * y).sum()
    beta.set(50.0)
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [6.0, 8.0, 10.0]
    assert wb.gradcheck(add, 3, [x]).ok


def test_tools_take_it_as_an_argument() -> None:
    assert wb.step(through_a_func, 3, [wb.zeros(3)], thread=1)
    assert wb.profile(add, 3, [wb.zeros(3)])
    twin = pickle.loads(pickle.dumps(beta))
    assert type(twin) is float and twin == 2.0


def test_in_python_it_is_its_value() -> None:
    numbers = [beta + 1, 1 - beta, beta * 2, 1 / beta, beta**2, beta % 2, -beta, abs(beta), round(beta), float(beta)]
    assert numbers == [3.0, -1.0, 4.0, 0.5, 4.0, 0.0, -2.0, 2.0, 2, 2.0]
    assert beta > 1 and beta == 2.0 and beta != 3.0 and f"{beta:.2f}" == "2.00" and bool(beta)
    assert np.sqrt(beta) == np.sqrt(2.0) and (np.float32([1, 2]) * beta).dtype == np.float32
    assert (light + 1.0).tolist() == [2.0, 3.0, 4.0] and light[2] == 3.0 and len(light) == 3
    assert (wb.ones(2) * beta).numpy().tolist() == [2.0, 2.0]


def test_what_cannot_follow_it_says_so() -> None:
    with pytest.raises(LaunchError, match="reads the slider beta by name, and a JAX program cannot follow it"):
        add.refuse_uniforms()

    @wb.kernel
    def wrong(x: wb.array[int]):
        x[wb.tid()] = beta

    with pytest.raises(KernelTypeError, match="float32"):
        wb.launch(wrong, 1, [wb.zeros(1, dtype=int)])
