"""What a device's code takes for granted, for each launch: 32-bit indices, aligned vectors, arguments apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.on_gpu import DEVICE
from workbench.api.builds import overlaps
from workbench.api.launches import launch
from workbench.backends.cuda import toolkit
from workbench.runtime.arrays import shapes
from workbench.runtime.work import Launch

SMALL = (4, 6)
READ_ONLY = "ld.global.nc" if toolkit.compiler().major >= 13 else "ld.global"
"""How code reads what nothing changes: by CUDA 12 as anything else (`test_cuda_read_only`)."""


@wb.kernel
def transposed(x: wb.array2d[float], y: wb.array2d[float]):
    """Two dimensions, so that indices are divided and multiplied."""
    i, j = wb.tid()
    y[j, i] = x[i, j] + 1.0


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 200 were the first number that 32 bits do not hold: no launch has 2³¹ threads to spare for a test."""
    for module in (shapes, overlaps, launch):
        monkeypatch.setattr(module, "BEYOND_INT32", 200)


def arrays(shape: tuple[int, int]) -> tuple[wb.array, wb.array, np.ndarray]:
    data = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
    return wb.array(data, device=DEVICE), wb.zeros(shape[::-1], device=DEVICE), data.T + 1


def used(run: Callable[[], object]) -> list[bool]:
    """Which code the launches inside had."""
    with wb.record() as rec:
        run()
    return [one.executable.index32 for one in rec.launches]


@pytest.mark.usefixtures("few")
def test_each_launch_has_the_code_that_suits_its_arrays() -> None:
    for shape, short in ((SMALL, True), ((12, 12), False), (SMALL, True), ((12, 12), False)):
        x, y, expected = arrays(shape)
        assert used(lambda x=x, y=y, shape=shape: wb.launch(transposed, shape, [x, y])) == [short]
        np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.usefixtures("few")
def test_the_threads_count_too() -> None:
    @wb.kernel
    def first(x: wb.array[float]):
        i, j = wb.tid()
        if i + j == 0:
            x[0] += 1.0

    x = wb.zeros(1, device=DEVICE)
    for dims, short in (((5, 5), True), ((20, 20), False), ((5, 5), True), ((5, 40), False)):
        assert used(lambda dims=dims: wb.launch(first, dims, [x])) == [short]
        wb.launch(first, dims, [x])  # by the plan of the launch before
    assert x.numpy()[0] == 8.0


@pytest.mark.usefixtures("few")
def test_a_view_reaches_as_far_as_its_strides() -> None:
    x, y, expected = arrays((12, 12))
    assert used(lambda: wb.launch(transposed, (3, 12), [x[::4], y[:, ::4]])) == [False]
    np.testing.assert_array_equal(y.numpy()[:, ::4], expected[:, ::4])


@pytest.mark.usefixtures("few")
def test_it_is_chosen_again_when_a_kept_launch_changes() -> None:
    (x, y, expected), (a, b, large) = arrays(SMALL), arrays((12, 12))
    kept = wb.launch(transposed, SMALL, [x, y], record_cmd=True)
    assert kept is not None and kept.record.executable.index32
    kept.launch()
    np.testing.assert_array_equal(y.numpy(), expected)
    kept.set_params([a, b])
    kept.set_dim((12, 12))
    assert not kept.record.executable.index32
    kept.launch()
    np.testing.assert_array_equal(b.numpy(), large)


@pytest.mark.usefixtures("few")
def test_it_is_chosen_again_when_a_graph_is_updated() -> None:
    x, y, _ = arrays((8, 4))
    a, b, _ = arrays((12, 12))
    with wb.capture() as graph:
        wb.launch(transposed, SMALL[:1] * 2, [x, y])
    graph.launch()

    def launched() -> Launch:
        return next(n for n in graph.walk() if isinstance(n, Launch))

    assert launched().record.executable.index32
    graph.update(0, x=a[:8, :4], y=b[:4, :8])
    assert not launched().record.executable.index32
    graph.launch()
    np.testing.assert_array_equal(b.numpy()[:4, :4], a.numpy()[:4, :4].T + 1)
    graph.update(0, x=x, y=y)
    assert launched().record.executable.index32


@pytest.mark.usefixtures("few")
def test_it_is_chosen_again_when_a_record_runs_on_other_arrays() -> None:
    (x, y, expected), (a, _, large) = arrays(SMALL), arrays((12, 12))
    with wb.record() as rec:
        wb.launch(transposed, SMALL, [x, y])
    for other, short, wanted in ((a[:4, :6], False, large[:6, :4]), (x, True, expected)) * 2:
        assert used(lambda other=other: rec.replay(x=other)) == [short]
        np.testing.assert_array_equal(y.numpy(), wanted)
        y.zero_()
        rec.replay({x: other})  # without a record of it
        np.testing.assert_array_equal(y.numpy(), wanted)
    assert rec.launches[0].executable.index32


@pytest.mark.usefixtures("few")
def test_gradients_are_those_of_either() -> None:
    for shape in (SMALL, (12, 12)):
        x, y, _ = arrays(shape)
        x = wb.array(x.numpy(), device=DEVICE, requires_grad=True)
        with wb.Tape() as tape:
            wb.launch(transposed, shape, [x, y])
        tape.backward(grads={y: np.full(shape[::-1], 2.0, np.float32)})
        np.testing.assert_array_equal(x.grad.numpy(), np.full(shape, 2.0, np.float32))


def test_the_cpu_has_one_code() -> None:
    assert shapes.is_far((3, 2**30), (2**30, 1)) and shapes.is_far((2**31,), (0,))
    assert not shapes.is_far((2, 2**29), (2**29, 1)) and shapes.is_far((2**29, 4), (-4, 2**29))
    x, y = wb.zeros(SMALL), wb.zeros(SMALL[::-1])
    assert used(lambda: wb.launch(transposed, SMALL, [x, y])) == [False]


def test_an_array_of_three_gigabytes() -> None:
    @wb.kernel
    def corners(x: wb.array2d[wb.uint8], seen: wb.array[int]):
        i = wb.tid()
        x[2, x.shape[1] - 1 - i] = wb.uint8(7 + i)
        seen[i] = int(x[2, x.shape[1] - 1 - i])

    x, seen = wb.empty((3, 2**30), wb.uint8, device=DEVICE), wb.zeros(2, int, device=DEVICE)
    assert used(lambda: wb.launch(corners, 2, [x, seen])) == [False]
    assert seen.numpy().tolist() == [7, 8]
    assert x[2, -2:].numpy().tolist() == [8, 7]


@wb.kernel
def doubled(x: wb.array[wb.vec4], y: wb.array[wb.vec4]):
    """Loads and stores 16 bytes per thread."""
    i = wb.tid()
    y[i] = x[i] * 2.0


def test_vectors_are_loaded_whole_where_they_are_aligned() -> None:
    floats = wb.array(np.arange(33, dtype=np.float32), device=DEVICE)
    y = wb.zeros(8, wb.vec4, device=DEVICE)
    for start in (0, 1, 4, 0, 3):
        x = floats[start : start + 28].view(wb.vec4)
        for _ in range(2):
            with wb.record() as rec:
                wb.launch(doubled, 7, [x, y])
            wb.launch(doubled, 7, [x, y])
            assert rec.launches[0].executable.aligned == (start % 4 == 0)
            np.testing.assert_array_equal(y.numpy()[:7].ravel(), 2.0 * np.arange(start, start + 28))
    kept = wb.launch(doubled, 7, [floats[:28].view(wb.vec4), y], record_cmd=True)
    kept.set_param_by_name("x", floats[1:29].view(wb.vec4))
    kept.launch()
    assert not kept.record.executable.aligned
    np.testing.assert_array_equal(y.numpy()[:7].ravel(), 2.0 * np.arange(1, 29))


def test_vectors_are_loaded_whole_or_not_when_arguments_change(tmp_path: Path) -> None:
    """An emulated device refuses 16 bytes at once from elsewhere, so code for other vectors is an error."""
    floats, y = wb.array(np.arange(33, dtype=np.float32), device=DEVICE), wb.zeros(7, wb.vec4, device=DEVICE)
    whole, shifted = (floats[start : start + 28].view(wb.vec4) for start in (0, 1))
    with wb.record() as rec:
        wb.launch(doubled, 7, [whole, y])
    with wb.record(inputs=True) as other:
        wb.launch(doubled, 7, [shifted, y])
    with wb.capture() as graph:
        wb.launch(doubled, 7, [whole, y])
    with wb.capture() as outer:
        graph.launch()
    other.save(tmp_path / "other.wbr")
    loaded = wb.load_record(tmp_path / "other.wbr")
    assert [r.launches[0].executable.aligned for r in (rec, other, loaded)] == [True, False, False]
    for x, start in ((shifted, 1), (whole, 0), (shifted, 1)):
        graph.update(x=x)
        outer.update(x=x)
        for run in (lambda x=x: rec.replay(x=x), lambda x=x: other.replay(x=x), graph.launch, outer.launch):
            y.zero_()
            run()
            np.testing.assert_array_equal(y.numpy().ravel(), 2.0 * np.arange(start, start + 28))
    loaded.replay()
    np.testing.assert_array_equal(loaded.find("y").numpy().ravel(), 2.0 * np.arange(1, 29))


def test_the_ptx_moves_128_bits() -> None:
    text = wb.inspect.ptx(doubled)
    assert text.count(f"{READ_ONLY}.v4.f32") == 1 and text.count("st.global.v4.f32") == 1


def test_a_profile_asks_too_where_the_arrays_are_the_cpus() -> None:
    floats, y = wb.array(np.arange(33, dtype=np.float32)), wb.zeros(7, wb.vec4)
    whole, apart = (
        wb.profile(doubled, 7, [floats[start : start + 28].view(wb.vec4), y], arch="sm_90") for start in (0, 1)
    )
    assert whole.total.instructions < apart.total.instructions
    assert whole.total.bytes == apart.total.bytes == 7 * 32


@wb.kernel
def ahead(x: wb.array[float], y: wb.array[float]):
    """Writes y before it reads x: what it reads depends on whether these share memory."""
    i = wb.tid()
    if i == 0:
        for k in range(1, x.shape[0]):
            y[k] = x[k - 1] + 1.0


def test_what_is_read_only_depends_on_whether_arguments_share_memory() -> None:
    x, y = (wb.zeros(4, device=DEVICE) for _ in range(2))
    for _ in range(2):
        for other, expected in ((y, [0, 1, 1, 1]), (x, [0, 1, 2, 3])):
            x.fill_(0.0)
            for _ in range(2):
                with wb.record() as rec:
                    wb.launch(ahead, 1, [x, other])
                assert rec.launches[0].executable.apart == (other is y)
                wb.launch(ahead, 1, [x, other])  # by the plan of the launch before, if there is one
            np.testing.assert_array_equal(other.numpy(), expected)


def test_it_is_chosen_again_when_an_argument_changes() -> None:
    x, y = (wb.zeros(4, device=DEVICE) for _ in range(2))
    kept = wb.launch(ahead, 1, [x, y], record_cmd=True)
    with wb.record() as rec:
        wb.launch(ahead, 1, [x, y])
    with wb.capture() as graph:
        wb.launch(ahead, 1, [x, y])
    kept.set_param_by_name("y", x)
    graph.update(0, y=x)
    for run in (kept.launch, lambda: rec.replay(y=x), graph.launch):
        x.fill_(0.0)
        run()
        np.testing.assert_array_equal(x.numpy(), [0, 1, 2, 3])
    assert not kept.record.executable.apart


def test_the_read_only_path_is_for_what_nothing_changes() -> None:
    text = wb.inspect.ptx(ahead)
    assert f"{READ_ONLY}.f32" in text
    assert "ld.global.nc" not in wb.inspect.ptx(in_place)


@wb.kernel
def in_place(x: wb.array[float]):
    i = wb.tid()
    x[i] = x[i] + 1.0


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "type", ["vec2", "vec3", "vec4", "vec2h", "vec4h", "vec2d", "mat22", "quat", "bool", "float16"]
)
def test_every_type_is_read_whole_by_it(type: str) -> None:
    made = wb.build_cell(
        f"def moved(x: array[{type}], y: array[{type}]):\n    i = tid()\n    y[i] = x[i]\n", {}, compile=False
    ).kernels["moved"]
    dtype = made.specialise().types[0].dtype
    data = wb.zeros(5, dtype).numpy()
    data.reshape(-1)[:] = np.arange(data.size) % 7
    y = wb.zeros(5, dtype, device=DEVICE)
    wb.launch(made, 5, [wb.array(data, dtype, device=DEVICE), y])
    np.testing.assert_array_equal(y.numpy(), data)


@wb.struct
class Particle:
    """32 bytes, two words of 16."""

    pos: wb.vec3
    mass: float
    vel: wb.vec3
    age: float


@wb.struct
class Cell:
    """72 bytes, words of 8, some of them with gaps."""

    on: bool
    level: wb.int16
    weight: wb.float16
    total: wb.float64
    spot: wb.vec2
    inner: Particle
    code: int


@wb.kernel
def moved(ps: wb.array[Particle], dt: float):
    i = wb.tid()
    p = ps[i]
    v = p.vel - p.pos * (dt / p.mass)
    p.pos = p.pos + v * dt
    p.vel = v
    p.mass = p.mass * 1.5
    p.age = p.age + dt
    ps[i] = p


@wb.kernel
def gathered(ps: wb.array[Particle], cells: wb.array2d[Cell], out: wb.array2d[Cell]):
    i, j = wb.tid()
    c = cells[i, j]
    if c.on:
        c.inner.vel = ps[c.code].vel * ps[c.code].age + c.inner.pos
        c.level = c.level + wb.int16(1)
    c.spot = c.spot * ps[i].mass
    c.total = c.total * wb.float64(c.weight)
    out[i, j] = c


@wb.kernel
def lengths(pos: wb.array[wb.vec3], mass: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = wb.dot(pos[i], pos[i]) * mass[i]


def structs(shape: tuple[int, ...], kind: type, seed: int) -> np.ndarray:
    """Return random structs of small integers, whose sums are exact in any order."""
    random = np.random.default_rng(seed)

    def filled(dtype: np.dtype) -> np.ndarray:
        out = np.zeros(shape, dtype)
        for name in dtype.names or ():
            field = out[name]
            field[...] = filled(field.dtype) if field.dtype.names else random.integers(0, 7, field.shape)
        return out

    return filled(kind.__wb_struct__.numpy)


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 1])
def test_structs_have_the_same_bits_on_every_device(start: int) -> None:
    ps, cells = structs((9,), Particle, 1), structs((5, 7), Cell, 2)
    ps["mass"] += 1
    results = []
    for device in ("cpu", DEVICE):
        a = wb.array(ps, dtype=Particle, device=device, requires_grad=True)
        b = wb.array(cells, dtype=Cell, device=device, requires_grad=True)
        out, y = wb.zeros((5, 7), Cell, device=device, requires_grad=True), wb.zeros(9, device=device)
        with wb.Tape() as tape:
            wb.launch(gathered, (5 - start, 7), [a[start:], b[start:], out[start:]])
        wb.launch(lengths, 9, [a["pos"], a["mass"], y])
        tape.backward(grads={out: wb.array(cells, dtype=Cell, device=device)})
        wb.launch(moved, 9 - start, [a[start:], 0.25])
        results.append([v.numpy() for v in (a, out, y, a.grad, b.grad)])
    for host, here in zip(*results, strict=True):
        assert host.tobytes() == here.tobytes()


def test_neighbouring_fields_are_loaded_and_stored_at_once() -> None:
    text = wb.inspect.ptx(moved)
    assert [text.count(w) for w in ("ld.global.v4", "ld.global.f32", "st.global.v4", "st.global.f32")] == [2, 0, 2, 0]
    a = wb.array(structs((64,), Particle, 1), dtype=Particle)
    counted = wb.profile(moved, 64, [a, 0.25], arch="sm_90")
    assert counted.total.global_sectors == 4 * 64  # of 8 scalars, each in a sector of its own, it was 16
    dtype = Particle.__wb_struct__.numpy
    raw = np.zeros(2112, np.uint8)
    first = -raw.ctypes.data % 16 + 4
    shifted = raw[first : first + 2048].view(dtype)
    shifted[...] = structs((64,), Particle, 1)
    apart = wb.profile(moved, 64, [wb.from_numpy(shifted, dtype=Particle), 0.25], arch="sm_90")
    assert apart.total.global_sectors == 16 * 64
