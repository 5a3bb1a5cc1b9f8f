"""Augmented assignments to elements of arrays: parts, operators and element types, against NumPy, by many threads."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench.types import SCALARS, Matrix, Vector

MANY = 3000
INTEGERS = [n for n in SCALARS if n.startswith(("int", "uint"))]
FLOATS = [n for n in SCALARS if "float" in n]
DEVICES = ["cpu", pytest.param("emulated", marks=pytest.mark.slow)]
# Operators in which the order of the threads does not matter, with a step that stays exact in every type.
COMMUTING = {"+=": "1", "-=": "1", "^=": "1 << i % 7", "|=": "1 << i % 7", "&=": "1 << i % 7"}
PARTS = {
    "v[0].x": ("vec3", (0,)), "v[0][i % 3 - 3]": ("vec3", None), "v[0][1]": ("vec3", (1,)), "v[-1].z": ("vec3", (2,)),
    "m[0][1, 2]": ("mat33", (1, 2)), "m[0][i % 3][1]": ("mat33", None), "m[0][i % 3, 1]": ("mat33", None),
    "q[0].w": ("quat", (3,)), "t[0].p.y": ("transform", (1,)), "t[0].q.x": ("transform", (3,)),
    "t[0].p[i % 3]": ("transform", None), "m[0:][0][2, 0]": ("mat33", (2, 0)),
}  # fmt: skip


def launched(text: str, name: str, device: str, *arrays: Any, dim: int = MANY) -> list[np.ndarray]:
    kernel = define(text)[name]
    given = [wb.array(a, device=device) if isinstance(a, np.ndarray) else a for a in arrays]
    wb.launch(kernel, dim, inputs=given, device=device)
    return [a.numpy() for a in given]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("part", PARTS)
def test_sums_of_a_part_lose_nothing(part: str, device: str) -> None:
    type, where = PARTS[part]
    array = wb.zeros(1, dtype=getattr(wb, type), device=device)
    (found,) = launched(f"def k({part[0]}):\n    i = tid()\n    {part} += 2.0\n    {part} -= 1.0\n", "k", device, array)
    if where is not None:
        assert found[0][where] == MANY
    assert found.sum() == MANY


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_sums_of_rows_and_of_parts_of_transforms(device: str) -> None:
    m, t = (wb.zeros(1, dtype=d, device=device) for d in (wb.mat33, wb.transform))
    text = "def k(m, t):\n    m[0][1] += vec3(1.0, 2.0, 3.0)\n    t[0].p -= vec3(1.0, 0.0, 2.0)\n"
    rows, parts = launched(text, "k", device, m, t)
    assert rows[0].tolist() == [[0, 0, 0], [MANY, 2 * MANY, 3 * MANY], [0, 0, 0]]
    assert parts[0].tolist() == [-MANY, 0, -2 * MANY, 0, 0, 0, 0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", ["scalar", "component", "vector"])
@pytest.mark.parametrize("name", INTEGERS)
def test_operators_that_commute_on_integers(name: str, form: str, device: str) -> None:
    dtype, start = np.dtype(name), 0x55
    for sign, step in COMMUTING.items():
        type = SCALARS[name] if form == "scalar" else Vector(3, SCALARS[name])
        array = wb.full(1, start, dtype=SCALARS[name], device=device) if form == "scalar" else wb.array(
            np.full((1, 3), start, dtype), dtype=type, device=device
        )  # fmt: skip
        part = {"scalar": "y[0]", "component": "y[0].y", "vector": "y[0]"}[form]
        value = f"wb_type({step})" if form != "vector" or sign not in ("+=", "-=") else "wb_vector(wb_type(1))"
        value = value.replace("wb_type", "y.dtype" if form == "scalar" else f"{name}")
        value = value.replace(f"wb_vector({name}(1))", "y.dtype(" + ", ".join([f"{name}(1)"] * 3) + ")")
        (found,) = launched(f"def k(y):\n    i = tid()\n    {part} {sign} {value}\n", "k", device, array, dim=130)
        want = np.full(1, start, dtype)
        apply = {"+=": operator.add, "-=": operator.sub, "^=": operator.xor, "|=": operator.or_, "&=": operator.and_}
        for i in range(130):
            want = apply[sign](want, np.array([eval(step, {"i": i})]).astype(dtype))
        changed = found.reshape(-1) if form != "component" else found.reshape(-1)[1:2]
        assert (changed == want).all(), (sign, found, want)
        if form == "component":
            assert found.reshape(-1)[[0, 2]].tolist() == np.full(2, start, dtype).tolist()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FLOATS)
def test_products_and_quotients_of_floats(name: str, device: str) -> None:
    """Powers of two: exact in every order."""
    text = (
        "def k(y, v, m):\n    i = tid()\n    f = y.dtype(2.0) if i % 2 == 0 else y.dtype(0.5)\n"
        "    y[0] *= f\n    y[1] /= f\n    v[0].y *= f\n    v[1] /= f\n    m[0][i // 2 % 2, 1] *= f\n"
        "    m[0][0, 0] += f\n"
    )
    scalar = SCALARS[name]
    y = wb.array(np.full(2, 3, np.float32).astype(scalar.numpy), dtype=scalar, device=device)
    v = wb.array(np.full((2, 3), 3, np.float32).astype(scalar.numpy), dtype=Vector(3, scalar), device=device)
    m = wb.array(np.full((1, 2, 2), 3, np.float32).astype(scalar.numpy), dtype=Matrix(4, scalar, 2), device=device)
    arrays = [a.astype(np.float64) for a in launched(text, "k", device, y, v, m, dim=8)]
    assert arrays[0].tolist() == [3, 3]
    assert arrays[1].tolist() == [[3, 3, 3], [3, 3, 3]]
    assert arrays[2].tolist() == [[[13, 3], [3, 3]]]


OF_BOTH = ["*=", "//=", "%=", "**=", "+=", "-="]
OF_INTEGERS = [*OF_BOTH, "<<=", ">>=", "|=", "&=", "^="]
OF_FLOATS = [*OF_BOTH, "/="]


@pytest.mark.parametrize(
    ("name", "sign"),
    [(name, sign) for name in ("int8", "uint16", "int32", "uint64") for sign in OF_INTEGERS]
    + [(name, sign) for name in ("float16", "float32", "float64") for sign in OF_FLOATS],
)
@pytest.mark.parametrize("target", ["y[0]", "y[i]"])
def test_one_thread_gets_what_python_computes(sign: str, name: str, target: str) -> None:
    """The atomic form and the plain one, of an element that is the thread's own."""
    value = "2" if sign == "**=" else "y.dtype(3)"
    (found,) = launched(
        f"def k(y):\n    i = tid()\n    {target} {sign} {value}\n", "k", "cpu", np.full(1, 7, name), dim=1
    )
    scope = {"y": np.full(1, 7, name), "v": np.dtype(name).type(2 if sign == "**=" else 3)}
    exec(f"y[0] {sign} v", scope)
    assert found.tobytes() == scope["y"].tobytes()  # type: ignore[attr-defined]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_bits_of_one_word(device: str) -> None:
    (word,) = launched("def k(y):\n    y[0] |= 1 << tid()\n", "k", device, np.zeros(1, np.int32), dim=30)
    assert word[0] == 2**30 - 1


@wb.struct
class Body:
    ok: wb.bool
    small: wb.int8
    half: wb.float16
    vel: wb.vec3
    m: wb.mat22


@wb.kernel
def fields(b: wb.array[Body]):
    i = wb.tid()
    b[0].ok |= i == 77
    b[0].small ^= wb.int8(1 << i % 7)
    b[0].half += 1.0
    b[0].vel.z += 1.0
    b[0].m[i % 2, 1] += 1.0
    b[0].m[i % 2] += wb.vec2(1.0, 0.0)


@pytest.mark.parametrize("device", ["cpu", pytest.param("emulated", marks=pytest.mark.slow)])
def test_fields_of_structs(device: str) -> None:
    b = wb.zeros(1, dtype=Body, device=device)
    wb.launch(fields, 1400, inputs=[b], device=device)
    found = b.numpy()[0]
    assert (bool(found["ok"]), int(found["small"]), float(found["half"])) == (True, 0, 1400)
    assert found["vel"].tolist() == [0, 0, 1400]
    assert found["m"].tolist() == [[700, 700], [700, 700]]


@wb.struct
class Small:
    a: wb.int8
    b: wb.bool
    h: wb.float16
    v: wb.vec3


@wb.kernel
def apart(v: wb.array[wb.vec3], s: wb.array[Small], m: wb.array[wb.mat22], h: wb.array[wb.vec3h]):
    i = wb.tid()
    k = i // 4
    if i % 4 == 0:
        s[k].a = wb.int8(3)
        v[k].x = 1.0
        m[k][0, 0] = 1.0
        h[k].x = wb.float16(1.0)
    elif i % 4 == 1:
        s[k].b = True
        v[k].y = 2.0
        m[k][0, 1] = 2.0
        h[k].y = wb.float16(2.0)
    elif i % 4 == 2:
        s[k].h = wb.float16(4.0)
        v[k].z = 3.0
        m[k][1] = wb.vec2(3.0, 4.0)
        h[k].z = wb.float16(3.0)
    else:
        s[k].v.y = 5.0


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_threads_that_write_different_parts_of_one_element(device: str) -> None:
    n = 25_000 if device == "cpu" else 500
    arrays = [wb.zeros(n, dtype=d, device=device) for d in (wb.vec3, Small, wb.mat22, wb.vec3h)]
    wb.launch(apart, 4 * n, inputs=arrays, device=device)
    v, s, m, h = (a.numpy() for a in arrays)
    assert (v[:, 1:] == [2, 3]).all()
    assert (s["a"] == 3).all()
    assert s["b"].all()
    assert (s["h"] == 4).all()
    assert (s["v"] == [0, 5, 0]).all()
    assert (m == [[1, 2], [3, 4]]).all()
    assert (h == [1, 2, 3]).all()


@wb.func
def mutate(v: wb.array[wb.vec3]) -> float:
    v[0].x = 10.0
    return 2.0


@wb.kernel
def update(v: wb.array[wb.vec3]):
    v[0].x += mutate(v)


@wb.kernel
def multiply(v: wb.array[wb.vec3]):
    v[0].x *= mutate(v)


@pytest.mark.parametrize(("kernel", "want"), [(update, 5), (multiply, 6)])
def test_the_target_is_read_before_the_right_side_writes_it(kernel: wb.Kernel, want: float) -> None:
    v = wb.array(np.array([[3, 0, 0]], np.float32), dtype=wb.vec3)
    wb.launch(kernel, 1, inputs=[v])
    assert v.numpy()[0, 0] == want


@wb.func
def counted(c: wb.array[wb.int32]) -> int:
    return wb.atomic_add(c, 0, 1)


@pytest.mark.parametrize("target", ["y[counted(c)]", "v[0][counted(c)]", "v[0].x"])
@pytest.mark.parametrize("sign", ["+=", "*=", "**="])
def test_an_index_is_computed_once(target: str, sign: str) -> None:
    names = {"counted": counted}
    kernel = define(f"def k(y, v, c):\n    {target} {sign} 2\n", names)["k"]
    y, v, c = wb.full(3, 3.0), wb.array(np.full((1, 3), 3, np.float32), dtype=wb.vec3), wb.zeros(1, dtype=int)
    wb.launch(kernel, 1, inputs=[y, v, c])
    want = {"+=": 5, "*=": 6, "**=": 9}[sign]
    assert (y if target[0] == "y" else v).numpy().reshape(-1).tolist() == [want, 3, 3]
    assert c.numpy()[0] == target.count("counted")


def test_arguments_that_overlap_are_changed_atomically() -> None:
    text = "def k(x, y):\n    i = tid()\n    x[i] *= 2.0\n    y[i] *= 2.0\n"
    memory = wb.ones(100_001)
    wb.launch(define(text)["k"], 100_000, inputs=[memory[:-1], memory[1:]])
    assert memory.numpy().tolist() == [2.0, *[4.0] * 99_999, 2.0]


@pytest.mark.parametrize("sign", ["+=", "-="])
def test_bools_have_no_sum(sign: str) -> None:
    with pytest.raises(wb.WorkbenchError, match="bool"):
        launched(f"def k(y):\n    y[0] {sign} True\n", "k", "cpu", np.zeros(1, bool), dim=1)


@wb.kernel
def pairs(y: wb.array[float], v: wb.array[wb.vec3]):
    i = wb.tid()
    y[i // 2] *= 2.0
    v[i // 2].x *= 2.0
    v[i // 2].y += 2.0


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_checks_see_no_race_and_see_bounds(device: str) -> None:
    y, v = wb.ones(4, device=device), wb.ones(4, dtype=wb.vec3, device=device)
    wb.launch(pairs, 8, inputs=[y, v], device=device, checks=True)
    assert y.numpy().tolist() == [4] * 4
    assert v.numpy().tolist() == [[4, 5, 1]] * 4
    with pytest.raises(wb.WorkbenchError, match=r"y has 4 elements along axis 0; thread \(8,\) asked for index 4"):
        wb.launch(pairs, 9, inputs=[y, v], device=device, checks=True)
        y.numpy()


@wb.kernel
def tiled(x: wb.array2d[float], y: wb.array[float], m: wb.array[wb.mat22]):
    a = wb.tile_load(x[wb.tid()], shape=32)
    y[0] *= 2.0
    m[0][0, 1] *= 2.0
    m[0][1, 1] += wb.tile_sum(a)[0]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_block_changes_an_element_once(device: str) -> None:
    x, y, m = wb.ones((4, 32), device=device), wb.ones(1, device=device), wb.ones(1, dtype=wb.mat22, device=device)
    wb.launch_tiled(tiled, 4, inputs=[x, y, m], block_dim=32, device=device)
    assert y.numpy()[0] == 16
    assert m.numpy().tolist() == [[[1, 16], [1, 129]]]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", ["int32", "uint32", "int64", "uint64"])
def test_bits_that_threads_share_are_changed_in_one_step(name: str, device: str) -> None:
    """The operand may be of another type, as for a plain assignment; NumPy folds the same bits."""
    bits = np.random.default_rng(3).integers(0, 2**31, MANY).astype(np.int32)
    start = np.array([5, 2**31 - 1, 9, 1], np.dtype(name))
    text = "def k(y, x):\n    i = tid()\n    y[0] |= x[i]\n    y[1] &= ~x[i]\n    y[2] ^= x[i]\n    y[3] |= 6\n"
    found, _ = launched(text.replace("x[i]", f"{name}(x[i])"), "k", device, start, bits)
    wide = bits.astype(name)
    folded = [np.bitwise_or.reduce(wide), np.bitwise_and.reduce(~wide), np.bitwise_xor.reduce(wide)]
    assert found.tolist() == [start[0] | folded[0], start[1] & folded[1], start[2] ^ folded[2], 7]


def test_bits_of_words_need_no_loop() -> None:
    @wb.kernel
    def k(y: wb.array[wb.int32], x: wb.array[wb.int32]):
        y[x[0]] |= x[wb.tid()]

    assert "cmpxchg" not in wb.inspect.llvm(k)
    assert "atomicOr" in wb.inspect.cuda(k)


def test_a_float_is_refused_as_an_operand_of_bits() -> None:
    with pytest.raises(wb.WorkbenchError, match=r"\|"):
        launched("def k(y, x):\n    y[0] |= x[tid()]\n", "k", "cpu", np.zeros(1, np.int32), np.zeros(4, np.float32))
