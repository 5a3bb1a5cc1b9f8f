"""Names of tiles that are written in the language: factors, solves, sorting, Fourier transforms, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define

N = 5
TEXTS = {
    "cholesky": (
        "a: array2d[float64], l: array2d[float64]",
        f"tile_store(l, tile_cholesky(tile_load(a, shape=({N}, {N}))))",
    ),
    "solve": (
        "a: array2d[float64], b: array2d[float64], x: array2d[float64]",
        f"l = tile_cholesky(tile_load(a, shape=({N}, {N})))\n    "
        f"tile_store(x, tile_cholesky_solve(l, tile_load(b, shape=({N}, 2))))",
    ),
    "triangles": (
        "a: array2d[float64], v: array[float64], x: array[float64], y: array[float64], d: array[float64]",
        f"t = tile_load(a, shape=({N}, {N}))\n    c = tile_load(v, shape={N})\n    x_ = tile_lower_solve(t, c)\n    "
        "tile_store(x, x_)\n    tile_store(y, tile_upper_solve(t, c))\n    d[0] = tile_dot(x_, c)",
    ),
    "sort": (
        "k: array[float64], v: array[float64], x: array[float64], y: array[float64]",
        f"a, b = tile_sort(tile_load(k, shape={N}), tile_load(v, shape={N}))\n    "
        "tile_store(x, a)\n    tile_store(y, b)",
    ),
    "fft": (
        "x: array2d[vec2d], y: array2d[vec2d], z: array2d[vec2d]",
        "t = tile_load(x, shape=(2, 6))\n    tile_store(y, tile_fft(t))\n    tile_store(z, tile_ifft(t * t))",
    ),
}


def kernel(name: str) -> Any:
    head, body = TEXTS[name]
    return define(f"def k({head}):\n    {body}\n")["k"]


def inputs(name: str) -> list[np.ndarray]:
    random = np.random.default_rng(4)
    m = random.normal(size=(N, N))
    matrix = m @ m.T + N * np.eye(N)
    given = {
        "cholesky": [matrix], "solve": [matrix, random.normal(size=(N, 2))], "triangles": [m + 3 * np.eye(N), m[0]],
        "sort": [m[0], m[1]], "fft": [random.normal(size=(2, 6, 2))],
    }  # fmt: skip
    return given[name]


def outputs(name: str, device: str = "cpu") -> list[Any]:
    made = {
        "cholesky": [(N, N)], "solve": [(N, 2)], "triangles": [N, N, 1], "sort": [N, N], "fft": [(2, 6), (2, 6)]
    }  # fmt: skip
    return [wb.zeros(shape, wb.vec2d if name == "fft" else wb.float64, device) for shape in made[name]]


def expected(name: str, given: list[np.ndarray]) -> list[np.ndarray]:
    if name == "cholesky":
        return [np.linalg.cholesky(given[0])]
    if name == "solve":
        return [np.linalg.solve(*given)]
    if name == "triangles":
        lower = np.linalg.solve(np.tril(given[0]), given[1])
        return [lower, np.linalg.solve(np.triu(given[0]), given[1]), np.array([lower @ given[1]])]
    if name == "sort":
        order = np.argsort(given[0])
        return [given[0][order], given[1][order]]
    z = given[0][..., 0] + 1j * given[0][..., 1]
    inverse = np.fft.ifft(given[0][..., 0] ** 2 + 1j * given[0][..., 1] ** 2)
    return [np.stack([f.real, f.imag], -1) for f in (np.fft.fft(z), inverse)]


def launched(name: str, device: str, seed: float = 0.0) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The results on a device, and the gradients of their sum."""
    kind = wb.vec2d if name == "fft" else None
    arrays = [wb.array(a, kind, device=device, requires_grad=True) for a in inputs(name)]
    made = outputs(name, device)
    with wb.Tape() as tape:
        wb.launch_tiled(kernel(name), [1], inputs=arrays, outputs=made, block_dim=32, device=device)
    tape.backward(grads=dict.fromkeys(made, 1.0))
    return [a.numpy() for a in made], [a.grad.numpy() for a in arrays]


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", TEXTS)
def test_the_numbers_are_numpys(name: str) -> None:
    made = outputs(name)
    kind = wb.vec2d if name == "fft" else None
    wb.launch_tiled(kernel(name), [1], inputs=[wb.array(a, kind) for a in inputs(name)], outputs=made, block_dim=32)
    for ours, theirs in zip(made, expected(name, inputs(name)), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_gradients_are_right(name: str) -> None:
    kind = wb.vec2d if name == "fft" else None
    arrays = [wb.array(a, kind) for a in inputs(name)]
    verdict = wb.gradcheck(kernel(name), [1], arrays, outputs(name), block_dim=32)
    assert verdict.ok and verdict.compared > sum(a.size for a in inputs(name)), str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_the_emulated_device_gives_the_same(name: str) -> None:
    for here, there in zip(launched(name, "cpu"), launched(name, "emulated"), strict=True):
        for a, b in zip(here, there, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_nan_is_sorted_last_and_equal_keys_keep_their_order() -> None:
    keys = np.array([np.nan, 2, -np.inf, 2, np.nan])
    made = outputs("sort")
    wb.launch_tiled(kernel("sort"), [1], inputs=[wb.array(keys), wb.array(np.arange(5.0))], outputs=made, block_dim=32)
    assert np.array_equal(made[0].numpy(), np.sort(keys), equal_nan=True)
    assert made[1].numpy().tolist() == [2, 1, 3, 0, 4]


TWICE = "@func\ndef twice(t: tile[float, 2, 3]):\n    return t * 2.0\n\n"


def test_a_tile_as_an_annotation() -> None:
    load = "    tile_store(x, twice(tile_load(x, shape=(2, 3))))\n"
    k = define(f"{TWICE}@kernel\ndef k(x: array2d[float]):\n{load}")["k"]
    x = wb.ones((2, 3))
    wb.launch_tiled(k, [1], inputs=[x], block_dim=32)
    assert (x.numpy() == 2).all() and repr(wb.tile[float, 2, 3]) == "tile[float32, 2×3]"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            f"{TWICE}@kernel\ndef k(x: array2d[float]):\n    tile_store(x, twice(tile_load(x, shape=(3, 3))))\n",
            "t of twice() is tile[float32, 2×3]; the argument is tile[float32, 3×3]",
        ),
        ("def k(x: tile[float, 4]):\n    i = tid()\n", "a kernel takes arrays.  Take an array, and load it"),
        ("def k(x: tile[float]):\n    i = tid()\n", "a tile's is tile[float, 4, 4]"),
        (
            "def k(x: array2d[float]):\n    t = tile_cholesky(tile_load(x, shape=(2, 3)))\n",
            "takes a square tile of floats",
        ),
        (
            "def k(x: array2d[int]):\n    t = tile_cholesky(tile_load(x, shape=(2, 2)))\n",
            "takes a square tile of floats",
        ),
        (
            "def k(x: array2d[float]):\n    u = tile_lower_solve(tile_load(x, shape=(2, 2)), tile_zeros(3))\n",
            "takes a tile with as many rows",
        ),
        ("def k(x: array2d[float]):\n    t = tile_sort(tile_load(x, shape=(2, 2)))\n", "takes a tile of one dimension"),
        ("def k(x: array2d[float]):\n    t = tile_fft(tile_load(x, shape=(2, 2)))\n", "takes a tile of vec2"),
        (
            "def k(x: array[float]):\n    t = tile_dot(tile_load(x, shape=2), tile_load(x, shape=3))\n",
            "of one shape and type",
        ),
    ],
)
def test_refused(text: str, sentence: str) -> None:
    with pytest.raises(wb.WorkbenchError) as caught:
        define(text)
    assert sentence in caught.value.render()
