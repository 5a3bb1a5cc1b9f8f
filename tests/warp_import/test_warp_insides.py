"""What the wheel's own modules (`warp.sparse`, `warp.fem`, `warp.optim.linear`) rest on."""

from __future__ import annotations

import ast
import ctypes

import numpy as np
import pytest
import scipy.sparse

import workbench as wb
import workbench.compat.warp as wp
from workbench.compat.warp.modules import internals, sparse_calls
from workbench.compat.warp.modules.whole_arrays import array_cast


def pointer(x):
    return None if x is None else ctypes.cast(x.ctypes.data, ctypes.POINTER(ctypes.c_int32))


def ints(*values):
    return np.array(values, np.int32)


def test_triplets_become_the_matrix_that_scipy_makes():
    rng = np.random.default_rng(4)
    row, column = rng.integers(-1, 6, 40).astype(np.int32), rng.integers(0, 5, 40).astype(np.int32)
    values = rng.normal(size=40).astype(np.float32)
    values[::7] = -0.0
    offsets, stored, ends, grouped = (np.zeros(n, np.int32) for n in (6, 40, 40, 40))
    sparse_calls.from_triplets(
        1, 4, 5, 5, 40, None, pointer(row), pointer(column), pointer(values), 0x7FFFFFFF, False,
        pointer(ends), pointer(grouped), pointer(offsets), None, pointer(stored),
    )  # fmt: skip
    used = (row >= 0) & (row < 5) & (values != 0.0)
    wanted = scipy.sparse.coo_array((values[used], (row[used], column[used])), (5, 5)).tocsr()
    assert offsets.tolist() == wanted.indptr.tolist()
    assert stored[: wanted.nnz].tolist() == wanted.indices.tolist()
    starts = [0, *ends[: wanted.nnz - 1]]
    sums = [values[grouped[a:b]].sum() for a, b in zip(starts, ends[: wanted.nnz], strict=True)]
    np.testing.assert_allclose(sums, wanted.data, rtol=1e-5)


@pytest.mark.parametrize("padded", [False, True])
def test_the_transpose_is_scipy_s(padded):
    matrix = scipy.sparse.random_array((4, 6), density=0.5, rng=np.random.default_rng(1)).tocsr()
    wanted = matrix.T.tocsr()
    offsets, stored = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    to = np.arange(0, 35, 5, dtype=np.int32) if padded else np.zeros(7, np.int32)
    counts, status = (np.zeros(6, np.int32), ints(0)) if padded else (None, None)
    columns, blocks = np.full(30, -1, np.int32), np.zeros(30, np.int32)
    sparse_calls.transposed(
        4, 6, matrix.nnz, pointer(offsets), None, pointer(stored), pointer(to), pointer(counts), pointer(columns),
        pointer(blocks), pointer(status),
    )  # fmt: skip
    for row in range(6):
        own = slice(to[row], to[row] + counts[row] if padded else to[row + 1])
        right = slice(wanted.indptr[row], wanted.indptr[row + 1])
        assert columns[own].tolist() == wanted.indices[right].tolist()
        assert matrix.data[blocks[own]].tolist() == wanted.data[right].tolist()
    assert status is None or status[0] == 0


def test_a_row_without_room_is_told():
    offsets, stored = ints(0, 2, 3), ints(0, 1, 0)
    to, counts, columns, blocks, status = ints(0, 1, 2), ints(0, 0), ints(-1, -1), ints(0, 0), ints(0)
    sparse_calls.transposed(
        2, 2, 3, pointer(offsets), None, pointer(stored), pointer(to), pointer(counts), pointer(columns),
        pointer(blocks), pointer(status),
    )  # fmt: skip
    assert (status.tolist(), counts.tolist(), columns[1]) == ([1], [0, 1], 0)


def test_a_cast_of_whole_arrays_has_a_gradient():
    x = wb.array([1.5, -2.0, 3.0], wb.float64, requires_grad=True)
    y, loss = wb.zeros(3, wb.float32, requires_grad=True), wb.zeros(1, wb.float32, requires_grad=True)

    @wp.kernel
    def squares(y: wp.array(dtype=float), loss: wp.array(dtype=float)):
        wp.atomic_add(loss, 0, y[wp.tid()] * y[wp.tid()])

    with wp.Tape() as tape:
        array_cast(x, y)
        wp.launch(squares, 3, inputs=[y], outputs=[loss])
    tape.backward(loss)
    assert y.numpy().tolist() == [1.5, -2.0, 3.0]
    assert x.grad.numpy().tolist() == [3.0, -4.0, 6.0]


def test_an_array_at_a_known_address_is_a_part_of_that_memory():
    x = wp.zeros(6, dtype=wp.float32)
    part = wp.array(ptr=x.ptr, shape=(2,), strides=(12,), dtype=wp.vec3)
    part.fill_(2.0)
    assert x.numpy().tolist() == [2.0] * 6
    assert part.memory is x.memory


class Twice(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.Constant(node.value * 2)


def test_functions_and_structs_are_made_by_calls():
    def shifted(x: wp.Float):
        return x + 1.5

    module = wp.get_module("made")
    func = wp.Function(func=shifted, key="shifted_twice", namespace="", module=module, code_transformers=[Twice()])
    assert (module.functions["shifted_twice"], func.key, func.func) == (func, "shifted_twice", shifted)

    class Empty:
        pass

    class Pair:
        first: wp.float32
        second: wp.float32

    made = internals.OWN["Struct"](key="Pair_f32", cls=Pair, module=module)
    assert list(made.vars) == ["first", "second"]
    assert list(internals.OWN["Struct"](key="Empty_f32", cls=Empty, module=module).vars) == []
    pair, other = made(), made()
    other.first, other.second = 2.0, 3.0
    pair.assign(other)

    @wp.kernel
    def k(p: made, y: wp.array(dtype=float)):
        y[wp.tid()] = func(p.first * p.second)

    y = wp.zeros(1, dtype=float)
    wp.launch(k, 1, inputs=[pair], outputs=[y])
    assert y.numpy().tolist() == [9.0]


def test_a_name_that_a_path_leaves_unbound_has_some_value():
    @wp.kernel
    def k(x: wp.array(dtype=int), y: wp.array(dtype=int)):
        i = wp.tid()
        if x[i] > 2:
            n = x[i] * 10
        if x[i] > 2:
            y[i] = n

    y = wp.zeros(3, dtype=int)
    wp.launch(k, 3, inputs=[wp.array([1, 3, 4], dtype=int)], outputs=[y])
    assert y.numpy().tolist() == [0, 30, 40]
