"""A tape from which some gradients are requested finds those, and makes nothing for the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.ir.values import walk


@wb.kernel
def scaled(a: wb.array[float], b: wb.array[float], c: wb.array[float]):
    i = wb.tid()
    c[i] = a[i] * b[i]


@wb.kernel
def total(c: wb.array[float], d: wb.array[float], loss: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(loss, 0, c[i] * c[i] * d[i])


def product() -> wb.Kernel:
    @wb.kernel
    def product(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
        i, j = wb.tid()
        left = wb.tile_load(a, shape=(4, 4), offset=(i * 4, 0))
        right = wb.tile_load(b, shape=(4, 4), offset=(0, j * 4))
        wb.tile_store(c, wb.tile_matmul(left, right), offset=(i * 4, j * 4))

    return product


@wb.kernel
def squares(c: wb.array2d[float], loss: wb.array[float]):
    i, j = wb.tid()
    wb.atomic_add(loss, 0, c[i, j] * c[i, j])


A, B, D = (np.float32(v) for v in ([1, 2, 3], [4, 5, 6], [0.5, 1, 2]))


def energy(a: wb.array, b: wb.array, d: wb.array) -> wb.array:
    c, loss = wb.zeros(3), wb.zeros(1)
    wb.launch(scaled, 3, inputs=[a, b], outputs=[c])
    wb.launch(total, 3, inputs=[c, d], outputs=[loss])
    return loss


@pytest.mark.parametrize(("number", "expected"), [(0, 2 * A * B * B * D), (1, 2 * A * A * B * D), (2, (A * B) ** 2)])
def test_each_argument_alone(number: int, expected: np.ndarray) -> None:
    found = wb.grad(energy, number)(wb.array(A), wb.array(B), wb.array(D))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_the_gradient_of_a_gradient_by_what_the_gradient_was_not() -> None:
    """∂/∂b Σ ∂e/∂a: the inner adjoint leaves b out, the outer one may not."""

    @wb.kernel
    def add_up(x: wb.array[float], out: wb.array[float]):
        i = wb.tid()
        wb.atomic_add(out, 0, x[i])

    def slope(b: wb.array) -> wb.array:
        out = wb.zeros(1)
        wb.launch(add_up, 3, inputs=[wb.grad(energy, 0)(wb.array(A), b, wb.array(D))], outputs=[out])
        return out

    np.testing.assert_allclose(wb.grad(slope)(wb.array(B)).numpy(), 4 * A * B * D, rtol=1e-6)


def test_an_adjoint_launch_that_leaves_one_out_is_itself_differentiated_by_it() -> None:
    a, b, c = (wb.array(v, requires_grad=True) for v in (A, B, np.zeros(3, np.float32)))
    seed, found, loss = wb.ones(3), wb.zeros(3), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(scaled, 3, inputs=[a, b, c], adjoint=True, adj_inputs=[found, False, seed])
        wb.launch(total, 3, inputs=[found, wb.ones(3)], outputs=[loss])
    tape.backward(loss)
    np.testing.assert_allclose(b.grad.numpy(), 2 * B, rtol=1e-6)


def test_a_value_on_the_way_is_overwritten_by_something_constant() -> None:
    def overwritten(a: wb.array, b: wb.array) -> wb.array:
        c, loss = wb.zeros(3), wb.zeros(1)
        wb.launch(scaled, 3, inputs=[a, b], outputs=[c])
        wb.launch(scaled, 3, inputs=[b, b], outputs=[c])
        wb.launch(total, 3, inputs=[c, a], outputs=[loss])
        return loss

    found = wb.grad(overwritten)(wb.array(A), wb.array(B))
    np.testing.assert_allclose(found.numpy(), B**4, rtol=1e-6)


@pytest.mark.parametrize(("only", "roles"), [("a", ["adj_a"]), ("b", ["adj_b"]), ("ab", ["adj_a", "adj_b"])])
def test_one_side_of_a_matrix_product_is_one_product(
    only: str, roles: list[str], monkeypatch: Any, own_cache: Any
) -> None:
    from workbench.api.builds import build

    made: list[str] = []
    derive = build.function_of

    def watched(*args: Any, **options: Any) -> Any:
        function = derive(*args, **options)
        made[:] = [op.attrs["role"] for op in walk(function.body) if op.name == "tile_matmul"] or made
        return function

    monkeypatch.setattr(build, "function_of", watched)
    rng = np.random.default_rng(0)
    given = {name: wb.array(rng.standard_normal((8, 8)).astype(np.float32)[:, :4] if name == "a" else
                            rng.standard_normal((4, 8)).astype(np.float32)) for name in "ab"}  # fmt: skip
    c, loss = wb.zeros((8, 8)), wb.zeros(1)
    with wb.Tape(only=[given[name] for name in only]) as tape:
        wb.launch_tiled(product(), [2, 2], inputs=[given["a"], given["b"]], outputs=[c], block_dim=32)
        wb.launch(squares, (8, 8), inputs=[c], outputs=[loss])
    tape.backward(loss)
    assert sorted(made) == roles
    a, b = (x.numpy() for x in given.values())
    expected = {"a": 2 * (a @ b) @ b.T, "b": 2 * a.T @ (a @ b)}
    for name in only:
        np.testing.assert_allclose(tape.gradients[given[name]].numpy(), expected[name], rtol=1e-4)
    for name in {"a", "b"} - set(only):
        with pytest.raises(KeyError):
            tape.gradients[given[name]]


@pytest.mark.parametrize(
    "only", [wb.zeros(3), [A], [wb.zeros(3, dtype=int)], 5], ids=["array", "numpy", "ints", "number"]
)
@pytest.mark.parametrize("checkpoint", [0, 3])
def test_what_is_no_list_of_float_arrays_is_refused(only: Any, checkpoint: int) -> None:
    with pytest.raises(wb.LaunchError, match="takes a list of arrays of floats"):
        wb.Tape(only=only, checkpoint=checkpoint)
