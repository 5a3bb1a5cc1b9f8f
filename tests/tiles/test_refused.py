"""What kernels of tiles refuse: one clear error at the cell's line, with both shapes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

HEAD = """
@wb.kernel
def k(x: wb.array2d[float], v: wb.array[float]):
    i, j, lane = wb.tid()
    t = wb.tile_load(x, shape=(4, 8))
    u = wb.tile_zeros((8, 4))
    h = wb.tile_zeros((8, 4), dtype=wb.int16)
"""
# statement, text under the caret, part of the sentence or of the advice
REFUSED = [
    ("w = t + u", "t + u", "+ takes tiles of one shape; these are 4×8 and 8×4"),
    ("w = wb.tile_matmul(t, t)", "wb.tile_matmul(t, t)", "M×K and K×N; these are 4×8 and 4×8"),
    ("w = t @ t", "t @ t", "M×K and K×N"),
    ("w = wb.tile_matmul(t, h)", "wb.tile_matmul(t, h)", "tiles of floats; these have float32 and int16"),
    ("wb.tile_matmul(t, u, t)", "wb.tile_matmul(t, u, t)", "adds a product of 4×4"),
    ("w = wb.tile_load(x, shape=4)", "wb.tile_load(x, shape=4)", "with 2 dimensions together with a tile of shape 4"),
    ("w = wb.tile_load(x, shape=(4, i))", "wb.tile_load(x, shape=(4, i))", "known at compile time"),
    ("w = wb.tile_load(x, shape=(0, 4))", "wb.tile_load(x, shape=(0, 4))", "0×4"),
    ("w = wb.tile_load(x[1:3], shape=2)", "wb.tile_load(x[1:3], shape=2)", "with 2 dimensions together with shape 2"),
    ("w = wb.tile_load(t, shape=(2, 2))", "wb.tile_load(t, shape=(2, 2))", "takes an array"),
    ("w = wb.tile_load(x, shape=(2, 2), offset=(lane, 0))", None, "one number for the whole block"),
    ("wb.tile_store(v, t)", "wb.tile_store(v, t)", "brings v with 1 dimension together"),
    ("wb.tile_store(x, wb.tile_ones((2, 2), dtype=wb.float64))", None, "is float32; the value is float64"),
    ("w = wb.tile_sum(t, axis=2)", "wb.tile_sum(t, axis=2)", "axis 2 of a tile of shape 4×8"),
    ("w = wb.tile_reshape(t, shape=(5, 5))", None, "has 32 elements, to 5×5"),
    ("w = wb.tile_broadcast(t, shape=(8, 8))", None, "bring a tile of shape 4×8 to 8×8"),
    ("w = wb.tile_view(t, offset=(0, 0), shape=(5, 2))", None, "shape 5×2 of a tile of shape 4×8"),
    ("w = t[4, 0]", "4", "Index 4 is out of bounds"),
    ("w = t[0, 0, 0]", None, "no 3 dimensions"),
    ("t[0] = wb.tile_zeros(4)", None, "shape 4 does not fit a part of shape 8"),
    ("w = wb.tile_full(4, 1.0, storage='global')", None, 'storage="register" or storage="shared"'),
    ("w = wb.tile_zeros(4, size=3)", None, "size is not a parameter of wb.tile_zeros()"),
    ("w = wb.untile(t)", None, "one element for each of the"),
    ("if t[0, 0] > t:\n        w = 1", None, "one number for the whole block"),
    ("for q in range(lane):\n        t += 1.0", None, "one number for the whole block"),
    ("v[lane] = wb.tile_sum(wb.tile(v[lane])) + t", None, ""),
    ("w = wb.tile_fft(t)", None, "takes a tile of vec2"),
    ("w = wb.tile_cholesky(t)", None, "takes a square tile of floats"),
    ("w = wb.tile_lower_solve(t, t)", None, "takes a square tile of floats"),
    ("w = wb.tile_map(3, t)", None, "takes a func or a builtin first"),
    ("w = wb.tile_scan(t, 'mean')", None, "'sum', 'min', 'max'"),
    ("w = wb.tile_zeros((1024, 2048))", None, "1048576 elements"),
    ("x[0, 0] = t", None, "An element of x is float32; this is a tile of shape 4×8.  tile_store"),
    ("v[0] += t", None, "An element of v is float32; this is a tile of shape 4×8"),
    ("wb.atomic_add(v, 0, t)", "wb.atomic_add", "An element of v is float32; this is a tile of shape 4×8"),
    ("v[lane] = t", None, "An element of v is float32; this is a tile of shape 4×8"),
    ("w = v[t]", None, "so indices are the same for the whole block; this one is a tile"),
    ("w = wb.tile(v)", "wb.tile(v)", "takes a value of each thread; this is array[float32].  Of an array: tile_load."),
    ("w = wb.tile_extract(t, 1)", "wb.tile_extract", "takes an index for each dimension of 4×8; it got 1."),
    ("w = wb.tile_view(t, offset=(3, 0), shape=(2, 8))", None, "elements 3 to 4 along axis 0 of a tile of shape 4×8"),
    ("wb.tile_assign(t, wb.tile_ones((1, 2)), offset=(0, 7))", None, "elements 7 to 8 along axis 1 of a tile"),
    ("w = wb.tile_zeros(4, dtype=wb.mat22) @ wb.tile_zeros(4, dtype=wb.vec2)", None, "Multiply elements by tile_map"),
    ("w = wb.tile_sum(t > 0.0)", "wb.tile_sum", "Count with tile_astype(a, int)."),
]


def define(body: str) -> wb.Kernel:
    space = {"wb": wb}
    text = HEAD + f"    {body}\n    wb.tile_store(x, t)\n"
    exec(text.replace("@wb.kernel\n", ""), space)
    return wb.kernel(space["k"], source=text.replace("@wb.kernel\n", ""))  # type: ignore[arg-type]


@pytest.mark.parametrize(("body", "caret", "sentence"), REFUSED)
def test_refused(body: str, caret: str | None, sentence: str) -> None:
    kernel = define(body)
    x, v = np.zeros((8, 8), np.float32), np.zeros(64, np.float32)
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.launch_tiled(kernel, dim=[1, 1], inputs=[x, v], block_dim=64)
    assert sentence in caught.value.render()
    place = caught.value.location
    assert place is not None and place.line >= 7
    if caret is not None:
        assert place.source.line(place.line)[place.column :].startswith(caret)


def test_names_of_dimensions() -> None:
    kernel = define("w = 1")
    x, v = np.zeros((8, 8), np.float32), np.zeros(64, np.float32)
    with pytest.raises(wb.WorkbenchError, match="this asks for 3"):
        wb.launch_tiled(kernel, dim=[1], inputs=[x, v])
    with pytest.raises(wb.WorkbenchError, match=r"over threads of 1 dimension.* this asks for 3"):
        wb.launch(kernel, dim=256, inputs=[x, v])


@wb.kernel
def by_blocks(x: wb.array[float]):
    i = wb.tid()
    wb.tile_store(x, wb.tile_load(x, shape=8, offset=i * 8) + 1.0, offset=i * 8)


def test_a_kernel_by_blocks_launched_over_threads() -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(wb.KernelTypeError, match=r"offset of tile_load.* differs between the threads") as caught:
        wb.launch(by_blocks, dim=64, inputs=[x], block_dim=8)
    assert "Over blocks tid() is the block's: wb.launch_tiled" in caught.value.render()


@wb.struct
class Body:
    mass: float


@wb.kernel
def of_a_field(bodies: wb.array[Body], y: wb.array[float]):
    wb.tile_store(y, wb.tile_load(bodies.mass, shape=4))


def test_the_field_of_all_structs_is_no_array() -> None:
    with pytest.raises(wb.KernelSyntaxError, match="bodies is an array of structs, so it has no mass") as caught:
        wb.launch_tiled(of_a_field, dim=[1], inputs=[wb.zeros(4, Body), np.zeros(4, np.float32)])
    assert "Write bodies[i].mass." in caught.value.render()


LOST = ["r[1] = 7.0", "r += wb.tile_ones(4)", "wb.tile_assign(r, wb.tile_ones(2), 0)"]


@pytest.mark.parametrize("change", LOST)
def test_a_func_that_changes_its_own_copy_of_a_tile(change: str) -> None:
    text = f"def put(r: Any):\n    {change}\ndef k(x: array[float]):\n    i = tid()\n    t = tile_zeros(4)\n"
    text += "    put(t)\n    tile_store(x, t)\n"
    with pytest.raises(wb.KernelTypeError, match="r is put's own copy, and nothing reads it after this change"):
        wb.build_cell(text, {"wb": wb})


def test_a_part_of_a_tile_that_is_changed_and_whose_whole_is_read_on_the_same_line() -> None:
    text = "def k(x: array[float]):\n    i = tid()\n    t = tile_zeros((2, 4))\n    r = t[0]\n"
    with pytest.raises(wb.KernelTypeError, match="r is a part of t, and tiles are values"):
        wb.build_cell(text + "    r[1] = 7.0; tile_store(x, t[1])\n", {})
