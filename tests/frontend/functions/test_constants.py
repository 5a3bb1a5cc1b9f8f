"""Values known at compile time: static(), enums, namespaces, closures; watched, and in the key."""

from __future__ import annotations

import enum
import math
import types

import numpy as np
import pytest

import workbench as wb
from tests.frontend.errors.test_refusals import under_caret, wrong
from tests.support.checks import meaning
from workbench.api.builds import build
from workbench.errors import KernelTypeError


class Colour(enum.Enum):
    RED = 3
    BLUE = 4.5


class Level(enum.IntEnum):
    HIGH = 2


class Settings:
    n = 3

    class Inner:
        s = np.float64(0.1)


def one(kernel, x=2.0) -> float:
    y = wb.array(np.zeros(1))
    wb.launch(kernel, 1, inputs=[wb.array(np.array([x]))], outputs=[y])
    return float(y.numpy()[0])


def test_enums_classes_and_namespaces():
    space = {
        "Colour": Colour, "Level": Level, "Settings": Settings,
        "ns": types.SimpleNamespace(k=5, v=np.array([1.0, 2.0]), kind=Colour.BLUE),
    }  # fmt: skip
    text = """
        def k(x, y):
            i = tid()
            y[i] = (x[i] + Colour.RED.value * Colour.BLUE + Level.HIGH.value * Settings.n + Settings.Inner.s
                    + ns.k * ns.v[1] + 100.0 * ns.kind)
        """
    got, interpreted = meaning.results(text, np.array([0.0, 1.0]), space)
    assert got.tolist() == interpreted.tolist()
    assert np.allclose(got, np.array([0, 1]) + 13.5 + 6 + 0.1 + 10 + 450)
    kernel = meaning.define(text, space)["k"]
    before = one(kernel)
    space["ns"].k = 6
    assert one(kernel) == before + 2


def test_static_is_what_python_makes_of_it():
    space = {"COEF": [1, 2.5, 3, 4.5], "DEBUG": False, "np": np}
    text = """
        def poly(a, n):
            r = 0.0
            for k in static(range(1, n)):
                if static(k % 2 == 0):
                    continue
                r = r + static(COEF[k] * len(COEF)) * a
            return r

        def k(x, y):
            i = tid()
            if static(DEBUG):
                z = nowhere_defined
            flag = static(not DEBUG)
            T = static(vec2d if len(COEF) > 3 else vec3d)
            v = T(x[i], 1.0) + static(np.array([0.5, 0.25]))
            y[i] = poly(x[i], 4) + (v.x * v.y if flag else nowhere) + static([q * q for q in COEF])[2]
        """
    xs = np.array([0.5, -2.0])
    got, interpreted = meaning.results(text, xs, {**space, "vec2d": wb.vec2d, "vec3d": wb.vec3d})
    assert got.tolist() == interpreted.tolist()
    assert np.allclose(got, 7 * 4 * xs + (xs + 0.5) * 1.25 + 9)


def test_what_static_reads_is_read_again_at_each_launch():
    space = {"TABLE": [1.0, 2.0], "calls": []}
    kernel = meaning.define("def k(x, y):\n    y[0] = x[0] * static(sum(TABLE))\n", space)["k"]
    assert one(kernel) == 6.0
    used = kernel.used
    assert one(kernel) == 6.0
    assert kernel.used is used
    space["TABLE"][1] = 3.0  # in place
    assert one(kernel) == 8.0
    space["TABLE"] = [2.0, 2.0]
    assert one(kernel) == 8.0
    del space["TABLE"]
    with pytest.raises(KernelTypeError, match="NameError"):
        one(kernel)


def test_a_value_of_static_enters_the_key():
    space = {"N": 3}
    text = "@kernel\ndef k(x: array[float64]):\n    x[0] = x[0] * static(N + 1)\n"
    digests = []
    for n in (3, 3, 4, 3.0):
        space["N"] = n
        kernel = meaning.define(text, space)["k"]
        digests.append(build.load(kernel.specialise()).digest)
    assert digests[0] == digests[1] == digests[3]  # 4 and 4.0 beside a float64 are the same constant
    assert digests[2] != digests[0]


def test_two_closures_of_one_func_keep_their_own_constants(tmp_path):
    def scaled(by):
        @wb.func
        def f(a):
            return by * a

        return f

    double, half = scaled(2.0), scaled(0.5)

    @wb.kernel
    def k(x: wb.array[float], y: wb.array[float]):
        i = wb.tid()
        y[i] = double(x[i]) + 100.0 * half(x[i])

    y = wb.zeros(1, float)
    wb.launch(k, 1, inputs=[wb.array(np.array([3.0], np.float32))], outputs=[y])
    assert y.numpy().tolist() == [156.0]


def test_static_and_constant_on_the_host():
    assert wb.static(3) == 3
    assert wb.constant(2.5) == 2.5 and wb.constant(Colour.RED) is Colour.RED
    with pytest.raises(TypeError, match=r"constant\(\) takes a number"):
        wb.constant("text")


@pytest.mark.parametrize(
    ("statement", "place", "sentence"),
    [
        ("z = static(i + 1)", "static(i + 1)", "i is computed by the kernel"),
        ("z = static(1 / 0)", "static(1 / 0)", "ZeroDivisionError"),
        ("z = static(nowhere)", "static(nowhere)", "name 'nowhere' is not defined"),
        ("z = static('text')", "static('text')", "returns a str here"),
        ("z = static({1: 2})", "static({1: 2})", "returns a dict here"),
        ("z = static(None)", "static(None)", "returns None here"),
        ("z = static(1, 2)", "static(1, 2)", "static() takes 1 argument; it got 2"),
        ("z = static(range(10 ** 9))", "static(range(10 ** 9))", "has 1000000000 elements"),
        ("for q in static(range(1000)):\n        z = q", "static(range(1000))", "unrolled, up to 256"),
    ],
)
def test_refused_at_its_place(statement, place, sentence):
    error = wrong(statement)
    assert under_caret(error) == place
    assert sentence in error.render()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("sqrt(2.0)", math.sqrt(2.0)),
        ("1.0 + sin(1.0)", 1.0 + math.sin(1.0)),
        ("pow(2.0, 0.5)", math.sqrt(2.0)),
        ("max(0.1, min(0.2, 0.3), 0.05)", 0.2),
        ("atan2(1.0, radians(30.0))", math.atan2(1.0, math.radians(30.0))),
        ("exp(-C)", math.exp(-0.3)),
    ],
)
def test_a_builtin_of_literals_has_the_digits_of_what_it_meets(text, number):
    k = meaning.define(f"def k(x, y):\n    i = tid()\n    y[i] = x[i] * ({text})\n", {"C": 0.3})["k"]
    assert one(k) == 2.0 * number
    single = wb.zeros(1, dtype=wb.float32)
    wb.launch(k, 1, inputs=[wb.array([2.0], dtype=wb.float32)], outputs=[single])
    assert single.numpy()[0] == np.float32(2.0) * np.float32(number), "a float32 stays one"


def test_literals_are_taken_in_the_number_that_the_rule_says():
    with pytest.raises(KernelTypeError, match=r"log\(\) takes 1 argument; it got 2"):
        meaning.define("def k(x: array[float]):\n    x[tid()] = log(8.0, 2.0)\n")


def test_what_has_no_finite_result_is_left_to_the_kernel():
    k = meaning.define("def k(x, y):\n    i = tid()\n    y[i] = x[i] * log(0.0) + sqrt(-1.0)\n")["k"]
    assert np.isnan(one(k))
    k = meaning.define("def k(x, y):\n    i = tid()\n    y[i] = x[i] * exp(1000.0)\n")["k"]
    assert one(k) == np.inf


@wb.struct
class Gains:
    p: float
    axis: wb.vec3


def gains(p):
    return Gains(p, wb.vec3(1.0, 2.0, 3.0))


FACTOR = 4.0


@wb.kernel
def control(x: wb.array[float], y: wb.array[float]):
    g = wb.static(gains(FACTOR))
    y[0] = g.p * x[0] + g.axis[2]


def test_static_returns_a_struct_which_is_watched(monkeypatch):
    x, y = wb.array([2.0], float), wb.zeros(1)
    wb.launch(control, 1, inputs=[x, y])
    assert y.numpy()[0] == 11
    before = control.used
    wb.launch(control, 1, inputs=[x, y])
    assert control.used is before
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    wb.launch(control, 1, inputs=[x, y])
    assert y.numpy()[0] == 13


def test_what_static_binds_is_read_behind_it():
    class Settings:
        width = 2.0

    names = Settings()
    names.of = Settings()

    def swap():
        names.of = Settings()
        names.of.width = 20.0
        return 1.0

    @wb.kernel
    def widths(out: wb.array[float]):
        before = names.of.width
        out[0] = before + wb.static(swap()) * names.of.width

    out = wb.zeros(1)
    wb.launch(widths, 1, [], [out])
    assert out.numpy()[0] == 22.0
