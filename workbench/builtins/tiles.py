"""Names of the language that work on tiles: small arrays of fixed shape that a block of threads owns together.

A shape is an int or 1 to 4 of them, known at compile time. `a` is an array, or a row of one (`x[i]`), where it is
loaded from or stored to, else a tile. Offsets count elements and are the same for the whole block. Each refuses what
does not fit (`KernelTypeError`) at its line, with both shapes.
"""

from __future__ import annotations

from workbench.builtins.declaration.declare import form

_SHARED = 'storage is "register" (spread over the threads of the block) or "shared"; it never changes a result.'
_BOUNDS = "bounds_check=False says that nothing lies outside: faster, and with checks a fault."

tile_zeros = form('tile_zeros(shape, dtype=float, storage="register")', f"A tile of zeros. {_SHARED}")
tile_ones = form('tile_ones(shape, dtype=float, storage="register")', f"A tile of ones. {_SHARED}")
tile_full = form(
    'tile_full(shape, value, dtype=…, storage="register")',
    "A tile with one value everywhere: a number or vector that is the same for the whole block.",
)
tile_arange = form(
    'tile_arange(start, stop, step, dtype=int, storage="register")',
    "A tile of the numbers of Python's range(…), which are known at compile time.",
)
tile_load = form(
    'tile_load(a, shape, offset=0, storage="register", bounds_check=True)',
    "The elements of an array from `offset` on, as a tile of as many dimensions; what lies outside of the array is 0. "
    + _BOUNDS,
)
tile_store = form(
    "tile_store(a, t, offset=0, bounds_check=True)",
    "Write a tile to an array from `offset` on; what lies outside of the array is left out. " + _BOUNDS,
)
tile_atomic_add = form(
    "tile_atomic_add(a, t, offset=0, bounds_check=True)",
    "Add a tile to an array from `offset` on, safely against other blocks; gives the old elements.",
)
tile_load_indexed = form(
    'tile_load_indexed(a, indices, shape, offset=0, axis=0, storage="register")',
    "As tile_load, but element k along an axis is that with the number indices[k], counted from `offset`: a gather.",
)
tile_store_indexed = form(
    "tile_store_indexed(a, indices, t, offset=0, axis=0)",
    "As tile_store, but element k along an axis goes to the place indices[k], counted from `offset`: a scatter.",
)
tile_atomic_add_indexed = form(
    "tile_atomic_add_indexed(a, indices, t, offset=0, axis=0)",
    "As tile_atomic_add, but element k along an axis is added at the place indices[k], counted from `offset`.",
)
tile_map = form(
    "tile_map(func, t, …)",
    "The func (or builtin) of the elements of tiles of one shape; of several results, several tiles. The func may do "
    "what a thread may do: branch, loop, load, store. Numbers beside the tiles are the same for all elements.",
)
tile_sum = form(
    "tile_sum(a, axis=None)",
    "The sum of all elements (a number of the block), or along an axis (a tile without that axis). Floats are added by "
    "halves, so the order never varies.",
)
tile_min = form("tile_min(a, axis=None)", "The least element, or those along an axis; of a NaN, that.")
tile_max = form("tile_max(a, axis=None)", "The greatest element, or those along an axis; of a NaN, that.")
tile_argmin = form(
    "tile_argmin(a, axis=None)", "The place of the first least element, in row-major order, or along an axis; int32."
)
tile_argmax = form("tile_argmax(a, axis=None)", "The place of the first greatest element, as tile_argmin.")
tile_reduce = form(
    "tile_reduce(func, a, axis=None)",
    "All elements, or those along an axis, combined by a func of two that is associative and commutative.",
)
tile_scan = form(
    'tile_scan(a, kind="sum", exclusive=False)',
    "Running sums (or minima or maxima) along the last axis; exclusive: of what comes before each element.",
)
tile_scan_inclusive = form("tile_scan_inclusive(a)", "Running sums along the last axis.")
tile_scan_exclusive = form("tile_scan_exclusive(a)", "Sums of what comes before each element along the last axis.")
tile_scan_max_inclusive = form("tile_scan_max_inclusive(a)", "Running maxima along the last axis.")
tile_scan_min_inclusive = form("tile_scan_min_inclusive(a)", "Running minima along the last axis.")
tile_matmul = form(
    "tile_matmul(a, b, acc, precision=None)",
    "The product of tiles of M×K and K×N of one float type; with acc, of M×N, added to it: the name acc is rebound. "
    "Also written a @ b. Floats of 16 bits are summed as float32, and acc may be float32. "
    'precision="tf32" lets a GPU round float32 to 11 bits first (tensor cores).',
    rebinds=(2, "out"),
)
block_dim = form("block_dim()", "How many threads a block has: a number known at compile time.")
tile_view = form(
    "tile_view(t, offset, shape=…)",
    "The part of a tile from `offset` on; without a shape the row (or element) at that offset. Where bounds are known "
    "while compiling, also t[0:8, 4]; a number alone, t[i, j], is the element, the same for the whole block.",
)
tile_assign = form(
    "tile_assign(dst, src, offset=0)",
    "Put a tile into another from `offset` on: the name dst is rebound; also t[…] = u.",
    rebinds=(0, "dst"),
)
tile_scatter_add = form(
    "tile_scatter_add(t, i, …, value, has_value)",
    "Add the values of those threads that have one to elements of a tile, where several threads may have the same "
    "element: a histogram. The name t is rebound.",
    rebinds=(0, "t"),
)
tile_scatter_masked = form(
    "tile_scatter_masked(t, i, …, value, has_value)",
    "Put the values of those threads that have one into a tile, of two at one element the later thread's: the name t "
    "is rebound.",
    rebinds=(0, "t"),
)
tile_extract = form("tile_extract(t, i, …)", "One element, the same for the whole block; also t[i, …].")
tile_broadcast = form(
    "tile_broadcast(a, shape)", "The tile repeated along sizes of 1 and new leading dimensions, as NumPy."
)
tile_reshape = form("tile_reshape(a, shape)", "The same elements in row-major order; one size may be -1.")
tile_squeeze = form("tile_squeeze(a, axis=…)", "The tile without its sizes of 1, or without those of the axes.")
tile_transpose = form("tile_transpose(a, axes=…)", "The tile with its axes in reverse, or in the order given; a.T.")
tile_astype = form("tile_astype(a, dtype)", "The elements in another type, as a cast.")
tile = form(
    "tile(x, preserve_type=False)",
    "The threads' values of x as a tile with one element per thread. Of a vector each component is a row, with "
    "preserve_type=True each element a vector.",
)
untile = form(
    "untile(a)", "The elements of a tile as values of the threads: element k is thread k's; of several rows, a vector."
)
