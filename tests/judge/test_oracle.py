"""The oracle against what is known without it: Python, NumPy, formulas; and it shares nothing with the product."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.judge import oracle
from tests.judge.oracle.numbers import Number, Weak, typed
from tests.judge.oracle.types import converted, meet, rounded
from tests.judge.program import Program
from tests.judge.programs.building import array, floats, integers, output, program


def cells(p: Program, name: str = "y") -> list[Any]:
    """What an output holds after the oracle's launch."""
    return oracle.run(p).cells[name]


def one(body: str, **arguments: Any) -> Program:
    """A program of 5 threads."""
    return program("one", f"i = wb.tid()\n{body}", arguments, (5,), smooth=True)


def test_it_imports_nothing_of_the_product() -> None:
    for file in (Path(__file__).parent / "oracle").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [a.name for a in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not name.startswith(("workbench", "tests.support", "kernel_ext")), (file.name, name)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("int32", "float16", "float16"), ("int64", "float32", "float32"), ("float16", "bfloat16", "float32"),
        ("uint8", "int8", "int16"), ("uint32", "int32", "int64"), ("bool", "uint16", "uint16"),
        ("float32", "float64", "float64"),
    ],
)  # fmt: skip
def test_two_types_meet(a: str, b: str, wanted: str) -> None:
    assert meet(a, b) == meet(b, a) == wanted


@pytest.mark.parametrize(
    ("value", "source", "t", "wanted"),
    [
        (np.float32(1e20), "float32", "int32", 2**31 - 1), (np.float32(-5.7), "float32", "uint8", 0),
        (np.float64("nan"), "float64", "int64", 0), (300, "int32", "uint8", 44), (200, "uint8", "int8", -56),
        (2**62 + 1, "int64", "float32", np.float32(2**62)), (np.float32(-2.9), "float32", "int8", -2),
    ],
)  # fmt: skip
def test_casts(value: Any, source: str, t: str, wanted: Any) -> None:
    assert converted(value, source, t) == wanted


def test_a_float64_becomes_a_half_in_one_rounding() -> None:
    # By way of float32, this would be a tie, and go down to the even neighbour.
    above_the_tie = 1.0 + 2.0**-8 + 2.0**-40
    assert rounded(np.float64(above_the_tie), "bfloat16") == 1.0 + 2.0**-7
    assert rounded(np.float64(1.0 + 2.0**-11 + 2.0**-40), "float16") == 1.0 + 2.0**-10


def test_a_literal_takes_the_type_that_it_meets() -> None:
    assert (Number(np.float64(1.0), "float64") * Weak(0.1)).v == 0.1
    assert (Weak(0.1) * Number(np.float32(1.0), "float32")).v == np.float32(0.1)
    assert (Number(3, "int8") * 100).v == 44
    assert (Number(3, "int32") * Weak(0.5)).t == "float32"
    assert typed(Weak(0.5), "float16").t == "float16"


@pytest.mark.parametrize("sign", ["//", "%"])
def test_integer_division_is_pythons(sign: str) -> None:
    pairs = [(a, b) for a in (-7, 7, 0, -128) for b in (2, -2, 3)]
    a, b = (np.array(values, np.int32) for values in zip(*pairs, strict=True))
    p = program("division", f"i = wb.tid()\ny[i] = a[i] {sign} b[i]", {
        "a": array(a), "b": array(b), "y": output(12, dtype="wb.int32", held=np.int32)}, (12,))  # fmt: skip
    assert cells(p) == [eval(f"{x} {sign} {y}") for x, y in pairs]


def test_integers_wrap_and_divisions_by_zero_are_defined() -> None:
    p = one("y[i] = x[i] * x[i]\nz[i] = x[i] // (i - i)\nu[i] = x[i] << 40", x=array(np.full(5, 70000, np.int32)),
            y=output(5, dtype="wb.int32", held=np.int32), z=output(5, dtype="wb.int32", held=np.int32),
            u=output(5, dtype="wb.int32", held=np.int32))  # fmt: skip
    outcome = oracle.run(p)
    assert outcome.cells["y"] == [605032704] * 5
    assert outcome.cells["z"] == [-1] * 5
    assert outcome.cells["u"] == [0] * 5
    assert outcome.suspect == {"division", "shift"}


def test_an_assignment_copies() -> None:
    p = one(
        "v = x[i]\nv.x = 7.0\nw = v\nw.y = 9.0\ny[i] = v.y + x[i].x",
        x=array(np.ones((5, 3), np.float32), "wb.vec3"),
        y=output(5),
    )
    assert cells(p) == [2.0] * 5


def test_an_element_that_two_threads_write_is_a_race_and_not_judged() -> None:
    outcome = oracle.run(one("y[0] = x[i]\nz[i] = x[i]", x=floats(5), y=output(2), z=output(5)))
    assert outcome.raced
    assert not outcome.judged["y"][0]
    assert outcome.judged["z"].all()


@pytest.mark.parametrize("body", ["y[0] += x[i]", "wb.atomic_add(y, 0, x[i])", "y[0] -= x[i]"])
def test_a_sum_of_threads_is_no_race_and_its_rounding_has_a_bound(body: str) -> None:
    outcome = oracle.run(one(body, x=floats(5), y=output(2)))
    assert not outcome.raced
    assert 0 < outcome.bounds["y"][0] < 1e-5
    assert outcome.bounds["y"][1] == 0


@pytest.mark.parametrize("body", ["y[0] = y[0] + x[i]", "y[0] += x[i]\nz[i] = y[0]", "y[0] += x[i]\ny[0] *= x[i]"])
def test_what_depends_on_the_order_of_threads_is_a_race(body: str) -> None:
    assert oracle.run(one(body, x=floats(5), y=output(2), z=output(5))).raced


def test_an_index_outside_of_an_array_is_a_fault() -> None:
    assert oracle.run(one("y[i + 3] = x[i]", x=floats(5), y=output(5))).fault == "index"
    assert oracle.run(one("assert x[i] > 5.0\ny[i] = x[i]", x=floats(5), y=output(5))).fault == "assert"


def test_exact_programs_promise_all_bits_and_mathematics_some_ulp() -> None:
    exact = oracle.run(one("y[i] = x[i] * x[i] + 0.1", x=floats(5), y=output(5)))
    maths = oracle.run(one("y[i] = wb.sin(x[i]) * 3.0", x=floats(5), y=output(5)))
    assert not exact.bounds["y"].any()
    assert (maths.bounds["y"] > 0).all()
    assert (maths.bounds["y"] < 1e-5).all()


def test_derivatives_are_those_of_the_formula() -> None:
    p = one("y[i] = wb.exp(wb.sin(x[i])) * x[i] / (1.0 + x[i] * x[i])", x=floats(5, dtype=np.float64),
            y=output(5, dtype="wb.float64", held=np.float64))  # fmt: skip
    x, weights = p.arrays["x"].values, p.cotangents()["y"]

    def f(v: float) -> float:
        return math.exp(math.sin(v)) * v / (1 + v * v)

    wanted = [w * (f(v + 1e-6) - f(v - 1e-6)) / 2e-6 for v, w in zip(x, weights, strict=True)]
    assert oracle.gradient(p).values["x"] == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize(
    ("body", "slope"),
    [("y[i] = min(x[i], 1.0)", 0.5), ("y[i] = wb.max(x[i], x[i])", 1.0), ("y[i] = abs(x[i] - 1.0)", 1.0),
     ("y[i] = wb.clamp(x[i], 1.0, 2.0)", 0.5), ("y[i] = wb.floor(x[i])", 0.0), ("y[i] = x[i] % 0.75", 1.0)],
)  # fmt: skip
def test_derivatives_at_ties(body: str, slope: float) -> None:
    p = one(body, x=array(np.ones(5, np.float32)), y=output(5))
    assert oracle.gradient(p).values["x"] == pytest.approx(slope * p.cotangents()["y"])


def test_a_thread_that_goes_another_way_in_float64_is_left_out() -> None:
    p = one("v = x[i] * 0.1\nif v * 10.0 == x[i]:\n    y[i] = v\nelse:\n    y[i] = v * v", x=floats(5), y=output(5))
    found = oracle.gradient(p)
    assert 0 < found.left_out <= 5
    assert int((~found.judged["x"]).sum()) == found.left_out


def test_random_numbers_are_pcgs() -> None:
    # The first number of O'Neill's pcg_rxs_m_xs_32 after its state 0, by hand.
    p = one("s = wb.rand_init(0)\ny[i] = s", y=output(5, dtype="wb.uint32", held=np.uint32))
    state = 2891336453
    word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737 & 0xFFFFFFFF
    assert cells(p) == [(word >> 22) ^ word] * 5


def test_what_it_does_not_know_is_not_judged() -> None:
    with pytest.raises(oracle.Unsupported, match="svd3"):
        oracle.run(one("a, b, c = wb.svd3(x[i])", x=array(np.zeros((5, 3, 3), np.float32), "wb.mat33")))


def test_integers_of_a_sample_are_numpys() -> None:
    x, y = (integers(40, below=1000, seed=s).values for s in (1, 2))
    p = program("mixed", "i = wb.tid()\nz[i] = (a[i] * b[i] - a[i]) ^ (b[i] >> 2)", {
        "a": array(x), "b": array(y), "z": output(40, dtype="wb.int32", held=np.int32)}, (40,))  # fmt: skip
    assert cells(p, "z") == ((x * y - x) ^ (y >> 2)).tolist()


def test_tangents_are_the_transpose_of_gradients() -> None:
    p = one("y[i] = wb.sin(x[i]) * x[(i + 1) % 5]", x=floats(5), y=output(5))
    x, d = (v.astype(float) for v in (p.arrays["x"].values, p.tangents()["x"]))
    wanted = np.cos(x) * np.roll(x, -1) * d + np.sin(x) * np.roll(d, -1)
    assert oracle.tangent(p).values["y"] == pytest.approx(wanted, rel=1e-7)


def _tiles(body: str, **arguments: Any) -> Program:
    return replace(program("tiles", body, arguments, (2,), smooth=True), block_dim=4, lanes="lane" in body)


def test_tiles_are_values_of_a_block() -> None:
    body = """
    b = wb.tid()
    t = wb.tile_load(x, shape=(2, 3), offset=(b * 2, 1))
    u = t
    u[0, 0] = 9.0
    wb.tile_store(y, t @ t.T, offset=(b * 2, 0))
    z[b] = wb.tile_sum(u)
    """
    p = _tiles(body, x=floats(3, 4), y=output(4, 2), z=output(2))
    x = np.zeros((4, 4), np.float32)
    x[:3] = p.arrays["x"].values
    blocks = [x[k : k + 2, 1:] for k in (0, 2)]
    assert cells(p) == pytest.approx(np.concatenate([t @ t.T for t in blocks]).ravel(), rel=1e-6)
    assert cells(p, "z") == pytest.approx([t.sum() - t[0, 0] + 9 for t in blocks], rel=1e-6)


def test_the_threads_of_a_block_meet_in_a_tile() -> None:
    body = """
    b, lane = wb.tid()
    v = x[b, lane]
    if lane > 1:
        v = v * 2.0
    y[b, lane] = v * wb.tile_sum(wb.tile(v))
    """
    p = _tiles(body, x=floats(2, 4), y=output(2, 4))
    v = p.arrays["x"].values * [1, 1, 2, 2]
    assert cells(p) == pytest.approx((v * v.sum(1, keepdims=True)).ravel(), rel=1e-6)
    w = p.cotangents()["y"].astype(float)
    slope = (w * v.sum(1, keepdims=True) + (w * v).sum(1, keepdims=True)) * [1, 1, 2, 2]
    assert oracle.gradient(p).values["x"] == pytest.approx(slope.ravel(), rel=1e-6)


def test_a_float64_of_numpy_is_weak() -> None:
    p = program(
        "weak", "i = wb.tid()\ny[i] = x[i] * C", {"x": floats(5), "y": output(5)}, (5,), above="C = np.float64(0.1)"
    )
    assert cells(p) == [np.float32(v * np.float32(0.1)) for v in p.arrays["x"].values]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("x[i] if x[i] > 0.0 else 0.1", lambda x, z: x if x > 0 else np.float64(np.float32(0.1))),
        ("0.1 if x[i] > 0.0 else 0.3", lambda x, z: 0.1 if x > 0 else 0.3),
        ("pick(x[i] > 0.0, x[i], 0.1) + 0.0 * pick(x[i] > 0.0, z[i], 0.1)", lambda x, z: max(x, np.float32(0.1))),
        ("pick(x[i] > 0.0, z[i], 0.1)", lambda x, z: z if x > 0 else 0.1),
    ],
    ids=["a_number_or_a_literal", "two_literals", "two_calls", "a_call"],
)  # fmt: skip
def test_a_ternary_has_one_type(choice: str, expected: Any) -> None:
    x, z = np.array([1.5, -2.0, 0.7, -1.0], np.float32), np.array([0.3, 0.7, 1.1, 1.3])
    p = program(
        "ternary", f"i = wb.tid()\na = {choice}\ny[i] = z[i] * a",
        {"x": array(x), "z": array(z), "y": output(4, dtype="wb.float64", held=np.float64)}, (4,),
        above="@wb.func\ndef pick(which, a, b):\n    return a if which else b",
    )  # fmt: skip
    assert cells(p) == [w * np.float64(expected(v, w)) for v, w in zip(x, z, strict=True)]


def test_letters_of_a_local_vector_in_any_order() -> None:
    body = "v = wb.vec4(1.0, 2.0, 3.0, 4.0)\ny[i] = v.xz[1] + 10.0 * v.wy[0] + 100.0 * v.yz[1]"
    assert cells(one(body, y=output(5))) == [343.0] * 5


@pytest.mark.parametrize(("start", "wide"), [("0.0", np.float32), ("0", np.float32), ("x[0]", np.float16)])
def test_a_sum_that_starts_with_a_literal_is_wide(start: str, wide: Any) -> None:
    x = (np.arange(40) * 0.13 + 1.0).astype(np.float16)
    p = program(
        "sum", f"i = wb.tid()\ns = {start}\nfor k in range(1, len(x)):\n    s += x[k]\ny[i] = wb.float32(s)",
        {"x": array(x), "y": output(1)}, (1,),
    )  # fmt: skip
    total = wide(x[0] if start == "x[0]" else 0)
    for v in x[1:]:
        total = wide(total + v)
    assert cells(p) == [np.float32(total)]
