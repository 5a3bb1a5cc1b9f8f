"""What the wheel's own modules (`warp.sparse`, `warp.fem`, `warp.optim.linear`) rest on."""

from __future__ import annotations

import ast
import ctypes

import numpy as np
import pytest
import scipy.sparse

import workbench.compat.warp as wp
from workbench.compat.warp.modules import internals, natives


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
    natives.from_triplets(
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
    natives.transposed(
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
    natives.transposed(
        2, 2, 3, pointer(offsets), None, pointer(stored), pointer(to), pointer(counts), pointer(columns),
        pointer(blocks), pointer(status),
    )  # fmt: skip
    assert (status.tolist(), counts.tolist(), columns[1]) == ([1], [0, 1], 0)


def test_native_algorithms_are_those_of_numpy():
    call, rng = natives.calls(), np.random.default_rng(2)
    v = wp.array(rng.integers(0, 9, (7, 3)), dtype=wp.vec3i)
    sums = wp.zeros(7, dtype=wp.vec3i)
    call["wp_array_scan_int_host"](v.ptr, sums.ptr, 7, 12, 12, 3, True)
    assert sums.numpy().tolist() == np.cumsum(v.numpy(), axis=0).tolist()
    keys, places = wp.array([3.0, -1.0, 3.0, 0.0], dtype=wp.float32), wp.array([0, 1, 2, 3], dtype=wp.int32)
    call["wp_radix_sort_pairs_float_device"](keys.ptr, places.ptr, 4, 0, 32, 4)
    assert places.numpy().tolist() == np.argsort([3.0, -1.0, 3.0, 0.0], stable=True).tolist()
    x, y, out = wp.array(rng.normal(size=6), dtype=float), wp.array(rng.normal(size=6), dtype=float), wp.zeros(1)
    call["wp_array_inner_float_host"](x.ptr, y.ptr, out.ptr, 3, 8, 8, 1)
    np.testing.assert_allclose(out.numpy()[0], x.numpy()[::2] @ y.numpy()[::2], rtol=1e-5)
    call["wp_array_sum_float_host"](x.ptr, out.ptr, 3, 8, 1)
    np.testing.assert_allclose(out.numpy()[0], x.numpy()[::2].sum(), rtol=1e-5)


def test_neighbours_have_different_colours_and_colours_are_balanced():
    rng, call, colors = np.random.default_rng(5), natives.calls(), wp.zeros(30, dtype=wp.int32)
    edges = wp.array(np.array([e for e in rng.integers(0, 30, (60, 2)) if e[0] != e[1]]), dtype=wp.int32)
    number, reached = call["wp_graph_coloring"](30, edges, 0, colors), ctypes.c_int(0)
    before = np.bincount(colors.numpy(), minlength=number)
    ratio = call["wp_balance_coloring"](30, edges, number, 1.1, 30, colors, ctypes.byref(reached))
    sizes, found = np.bincount(colors.numpy(), minlength=number), colors.numpy()
    assert (found[edges.numpy()[:, 0]] != found[edges.numpy()[:, 1]]).all()
    assert ratio == sizes.max() / sizes.min() < before.max() / before.min()


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
