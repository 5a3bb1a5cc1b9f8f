"""Structs in kernels: what they mean, on the CPU, by the interpreter, and as CUDA text run on the host."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from tests.support.kernels import structs
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.passes.pipeline import RUNNABLE, run


@pytest.fixture(scope="module")
def kernels() -> dict[str, tuple[wb.Kernel, dict[str, Any]]]:
    """All kernels, launched once so that their types are known."""
    made = {label: structs.kernel(body) for label, body in structs.BODIES.items()}
    for k, names in made.values():
        structs.on_cpu(k, names)
    return made


@pytest.mark.sample(45)
@pytest.mark.parametrize("step", [1, 2, -1], ids=["dense", "apart", "backwards"])
@pytest.mark.parametrize("label", structs.BODIES)
def test_a_launch_means_what_the_interpreter_means(kernels, label, step):
    k, names = kernels[label]
    ps, x = structs.on_cpu(k, names, step)
    wanted_ps, wanted_x = structs.expected(k, names)
    assert _alike(ps, wanted_ps)
    assert np.allclose(x, wanted_x, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("contiguous", [True, False], ids=["dense", "strided"])
def test_the_cuda_text_means_it_too(kernels, need, contiguous):
    need("nvrtc")
    functions = [replace(k.used.function, name=f"k{n}") for n, (k, _) in enumerate(kernels.values())]
    library = Library(functions, Options(contiguous=contiguous))
    for n, (label, (k, names)) in enumerate(kernels.items()):
        ps, x = structs.on_gpu(library, f"k{n}", k, names)
        wanted_ps, wanted_x = structs.expected(k, names)
        assert _alike(ps, wanted_ps), label
        assert np.allclose(x, wanted_x, rtol=1e-6), label


def test_the_cuda_text_compiles(kernels):
    pytest.importorskip("cuda.bindings.nvrtc")
    for label in ("add to components", "joined by a branch", "func gives a struct"):
        function = run(RUNNABLE, kernels[label][0].used.function)
        for target in ("sm_75", "sm_120"):
            assert CudaBackend().compile(function, Options(), target).image


def _alike(a: Any, b: Any) -> bool:
    return all(
        _alike(a[n], b[n]) if a[n].dtype.names else np.allclose(a[n], b[n], rtol=1e-6, atol=1e-6) for n in a.dtype.names
    )


def test_the_element_before_it_was_overwritten_is_kept(kernels):
    k, names = kernels["element to a name"]
    before = structs.arguments(names)[0]["pos"][:, 0].copy()
    ps, x = structs.on_cpu(k, names)
    assert np.array_equal(x, before) and (ps["pos"] == 9).all()


def test_fields_that_are_not_used_are_not_loaded(kernels):
    function = kernels["fields of an element"][0].used.function
    read = {op.operands[0].name for op in function.body.ops if op.name == "load"}
    assert read == {"ps[].pos", "ps[].body.mass", "ps[].age"}


def test_one_field_written_leaves_the_others_alone(kernels):
    function = kernels["write a field"][0].used.function
    assert [op.operands[0].name for op in function.body.ops if op.name == "store"] == ["ps[].pos", "ps[].body.id"]


def test_a_struct_with_arrays_as_parameter():
    names = define(
        """
        @struct
        class Grid:
            cells: array2d[float]
            origin: vec2
            count: int

        @func
        def at(g: Grid, i: int, j: int):
            return g.cells[i, j] + g.origin.x

        def k(g: Grid, y: array[float]):
            i = tid()
            h = g
            h.count = 7
            y[i] = at(h, i, 0) + float(h.count + g.count) + float(h.cells.shape[1])
            h.cells[i, 1] = 5.0
            h.cells[i, 0] += 1.0
        """
    )
    cells = wb.array(np.arange(6, dtype=np.float32).reshape(3, 2))
    g = names["Grid"](cells=cells, origin=(10, 0), count=1)
    y = wb.zeros(3)
    wb.launch(names["k"], 3, inputs=[g, y])
    assert y.numpy().tolist() == [20.0, 22.0, 24.0]
    assert cells.numpy().tolist() == [[1, 5], [3, 5], [5, 5]]


def test_an_array_of_structs_inside_a_struct():
    names = define(
        """
        @struct
        class P:
            x: float
            n: int

        @struct
        class World:
            ps: array(dtype=P)
            scale: float

        def k(w: World):
            i = tid()
            w.ps[i].x = w.ps[i].x * w.scale + float(w.ps[-1].n)
        """
    )
    ps = wb.array([names["P"](1.0, 2), names["P"](3.0, 4)], dtype=names["P"])
    wb.launch(names["k"], 2, inputs=[names["World"](ps, 10.0)])
    assert ps.numpy()["x"].tolist() == [14.0, 34.0]


def test_arrays_of_structs_of_several_dimensions():
    names = define(
        """
        @struct
        class P:
            x: float
            v: vec3d

        def k(ps: array3d[P], out: array3d[float]):
            i, j, l = tid()
            ps[i, j, l].v.y = double(ps[i, j, -1 - l].x)
            out[i, j, l] = ps[i, j, l].x + float(ps.shape[2])
        """,
        {"double": wb.float64},
    )
    host = np.zeros((2, 3, 4), names["P"].__wb_struct__.numpy)
    host["x"] = np.arange(24).reshape(2, 3, 4)
    for ps in (wb.array(host, names["P"]), wb.array(host, names["P"])[::-1, :, ::-1], wb.array(host.T, names["P"])):
        out = wb.zeros(ps.shape)
        before = ps.numpy().copy()
        wb.launch(names["k"], ps.shape, inputs=[ps, out])
        assert np.array_equal(ps.numpy()["v"][..., 1], before["x"][..., ::-1])
        assert np.array_equal(out.numpy(), before["x"] + ps.shape[2])


def test_generic_parameters_take_structs():
    names = define(
        """
        @struct
        class P:
            x: float

        @struct
        class Q:
            x: float
            w: vec2

        def k(p, qs: array(dtype=Any), y: array[float]):
            i = tid()
            y[i] = p.x + qs[i].x
        """,
        {},
    )
    P, Q, y = names["P"], names["Q"], wb.zeros(2)
    for p, qs in ((P(1.0), wb.zeros(2, dtype=Q)), (Q(2.0), wb.zeros(2, dtype=P))):
        qs["x"] = np.float32([10, 20])
        wb.launch(names["k"], 2, inputs=[p, qs, y])
        assert y.numpy().tolist() == [10 + p.x, 20 + p.x]


def test_map_over_structs():
    names = define(
        """
        @struct
        class P:
            x: float
            n: int

        @func
        def grown(p: P, by: float):
            p.x += by
            return p, p.n
        """
    )
    ps = wb.array([names["P"](1.0, 2), names["P"](3.0, 4)], dtype=names["P"])
    out, n = wb.map(names["grown"], ps, 0.5)
    assert out.numpy().tolist() == [(1.5, 2), (3.5, 4)] and n.numpy().tolist() == [2, 4]
    assert ps.numpy()["x"].tolist() == [1.0, 3.0]


def test_a_fault_names_the_array_of_structs():
    names = define(
        "@struct\nclass P:\n    a: int\n    x: float\n\ndef k(ps: array(dtype=P)):\n    i = tid()\n    ps[i].x = 1.0\n"
    )
    ps = wb.zeros(3, dtype=names["P"])
    with pytest.raises(wb.KernelFault, match=r"ps has 3 elements along axis 0; thread \(3,\) asked for index 3"):
        wb.launch(names["k"], 5, inputs=[ps], checks=True)
    assert ps.numpy()["x"].tolist() == [1, 1, 1]


def test_structs_are_values_on_the_host():
    P = define("@struct\nclass B:\n    m: float\n@struct\nclass P:\n    v: vec2\n    b: B\n    k: int\n")["P"]
    p = P((1, 2), k=3)
    q = copy.copy(p)
    b = p.b
    q.v[0] = 9.0
    q.b = b
    b.m = 5.0
    assert (p.v.tolist(), q.v.tolist(), p.b.m, q.b.m) == ([1, 2], [9, 2], 5.0, 0.0)
    assert repr(p) == "P(v=[1.0, 2.0], b=B(m=5.0), k=3)"
    assert p == P((1, 2), b, 3) and p != q and p != 3
    assert p.numpy()["v"].tolist() == [1, 2]
