"""Tiles of the oracle: arrays of numbers that a block computes as a whole, and what each of its threads has.

A block is one run of the kernel. Where threads have values of their own, it is one run per thread: they meet at
`wb.tile`, and what a block does once is done by the first.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from tests.judge.oracle.composites import OPERATORS, Scalar, Whole, each, inexact_sum
from tests.judge.oracle.maths import larger, smaller
from tests.judge.oracle.memory import Array, atomic
from tests.judge.oracle.numbers import Number, inexact, typed
from tests.judge.oracle.run import Current
from tests.judge.oracle.types import Unsupported, is_float

FLOAT32, INT32 = Scalar("float32"), Scalar("int32")
ADD = atomic("add", lambda old, v: old + v)


class Tile:
    """Elements of one type in a shape; assigned, it is copied."""

    __array_ufunc__ = None

    def __init__(self, cells: np.ndarray[Any, Any]) -> None:
        self.cells = cells

    @classmethod
    def of(cls, shape: Any, element: Callable[[tuple[int, ...]], Any]) -> Tile:
        """A tile of so many elements, each from its index."""
        sizes = _sizes(shape)
        cells = np.empty(sizes, object)
        for at in np.ndindex(*sizes):
            cells[at] = element(at)
        return cls(cells)

    def copy(self) -> Tile:
        return Tile(self.cells.copy())

    @property
    def shape(self) -> tuple[int, ...]:
        return self.cells.shape

    @property
    def ndim(self) -> int:
        return self.cells.ndim

    @property
    def dtype(self) -> Any:
        first = self.cells.flat[0]
        return first.type if isinstance(first, Whole) else Scalar(first.t)

    @property
    def T(self) -> Tile:
        return Tile(self.cells.T.copy())

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, key: Any) -> Any:
        found = self.cells[_key(key)]
        return Tile(found.copy()) if isinstance(found, np.ndarray) else found.copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        at, type = _key(key), self.dtype
        if isinstance(value, Tile):
            self.cells[at] = value.cells
        elif isinstance(self.cells[at], np.ndarray):
            self.cells[at] = np.full(self.cells[at].shape, type.convert(value), object)
        else:
            self.cells[at] = type.convert(value)

    def __matmul__(self, other: Tile) -> Tile:
        return matmul(self, other)

    def __neg__(self) -> Tile:
        return mapped(lambda v: -v)(self)

    __hash__ = None  # type: ignore[assignment]


def _key(key: Any) -> Any:
    def part(p: Any) -> Any:
        if isinstance(p, slice):
            return slice(*(None if v is None else v.__index__() for v in (p.start, p.stop, p.step)))
        return p.__index__()

    return tuple(map(part, key)) if isinstance(key, tuple) else part(key)


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(n.__index__() for n in shape) if isinstance(shape, (tuple, list)) else (shape.__index__(),)


def mapped(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is applied by element where a tile is among its arguments."""

    def call(*values: Any, **named: Any) -> Any:
        tiles = [v for v in values if isinstance(v, Tile)]
        if not tiles:
            return f(*values, **named)
        if any(t.shape != tiles[0].shape for t in tiles):
            raise Unsupported("tiles of two shapes")
        return Tile.of(tiles[0].shape, lambda at: f(*(v.cells[at] if isinstance(v, Tile) else v for v in values)))

    return call


def _operators() -> None:
    names = {name: OPERATORS[name] for name in OPERATORS}
    for name, operation in names.items():
        forward = mapped(operation)
        setattr(Tile, f"__{name}__", lambda a, b, f=forward: f(a, b))
        setattr(Tile, f"__r{name}__", lambda a, b, f=forward: f(b, a))
    comparisons: dict[str, Callable[[Any, Any], Any]] = {
        "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
        "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    }  # fmt: skip
    for name, comparison in comparisons.items():
        forward = mapped(comparison)
        setattr(Tile, f"__{name}__", lambda a, b, f=forward: f(a, b))


_operators()


def _offsets(offset: Any, count: int) -> tuple[int, ...]:
    given = _sizes(offset)
    return given * count if len(given) == 1 and count > 1 and given == (0,) else given


def _inside(array: Array, shape: tuple[int, ...], offset: Any) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The tile's indices that lie inside of the array, and the array's."""
    first = _offsets(offset, len(shape))
    for at in product(*map(range, shape)):
        index = tuple(f + k for f, k in zip(first, at, strict=True))
        if all(0 <= k < n for k, n in zip(index, array.elements.shape, strict=True)):
            yield at, index


def load(array: Array, shape: Any, offset: Any = 0, **_: Any) -> Tile:
    """A part of an array; 0 where it reaches outside."""
    type = array.memory.type
    result = Tile.of(shape, lambda at: type())
    for at, index in _inside(array, result.shape, offset):
        result.cells[at] = array[index].copy()
    return result


def _as_tile(value: Any) -> Tile:
    return value if isinstance(value, Tile) else Tile.of(1, lambda at: value)


def store(array: Array, value: Any, offset: Any = 0, **_: Any) -> None:
    """Store what lies inside of the array."""
    tile = _as_tile(value)
    for at, index in _inside(array, tile.shape, offset) if Current.run.lane == 0 else ():
        array[index] = tile.cells[at]


def add(array: Array, value: Any, offset: Any = 0, **_: Any) -> None:
    """Add what lies inside of the array."""
    tile = _as_tile(value)
    for at, index in _inside(array, tile.shape, offset) if Current.run.lane == 0 else ():
        ADD(array, *index, tile.cells[at], dropped=True)


def _total(values: Sequence[Any]) -> Any:
    if isinstance(values[0], Whole):
        return values[0].type(*(inexact_sum([v.parts[k] for v in values]) for k in range(len(values[0].parts))))
    return inexact_sum(list(values))


def _rows(tile: Tile, axis: int) -> Iterator[tuple[tuple[int, ...], list[Any]]]:
    """The elements along an axis, for each index of the other axes."""
    moved = np.moveaxis(tile.cells, axis, -1)
    for at in np.ndindex(*moved.shape[:-1]):
        yield at, list(moved[at])


def reduction(combine: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
    """A number from all elements, or a tile from those along an axis."""

    def call(tile: Tile, axis: Any = None) -> Any:
        if axis is None or tile.ndim == 1:
            return combine(list(tile.cells.flat))
        rows = dict(_rows(tile, axis.__index__()))
        shape = tuple(np.delete(np.array(tile.shape), axis.__index__()))
        return Tile.of(shape, lambda at: combine(rows[at]))

    return call


def _chain(f: Callable[[Any, Any], Any]) -> Callable[[Sequence[Any]], Any]:
    def combine(values: Sequence[Any]) -> Any:
        result = values[0]
        for v in values[1:]:
            result = each(f, result, v)
        return result

    return combine


def _first_of(f: Callable[[Any, Any], Any]) -> Callable[[Sequence[Any]], Number]:
    return lambda values: Number(
        next(k for k, v in enumerate(values) if v.v == _chain(f)(values).v), "int32", any(v.q for v in values)
    )


def reduce(f: Callable[[Any, Any], Any], tile: Tile, axis: Any = None) -> Any:
    """By a function whose order is free."""

    def combine(values: Sequence[Any]) -> Any:
        result = _chain(f)(values)
        if is_float(result.t):
            result.v, result.q = inexact(float(result.v), result.t, len(values)), True
        return result

    return reduction(combine)(tile, axis)


def scan(combine: Callable[[Sequence[Any]], Any], exclusive: bool = False) -> Callable[[Tile], Tile]:
    """Along the last axis."""

    def call(tile: Tile) -> Tile:
        rows = dict(_rows(tile, -1))

        def element(at: tuple[int, ...]) -> Any:
            *outer, k = at
            before = rows[tuple(outer)][: k + (not exclusive)]
            return combine(before) if before else tile.dtype()

        return Tile.of(tile.shape, element)

    return call


def matmul(a: Tile, b: Tile, into: Tile | None = None) -> Tile | None:
    """A product, in float32 at least; added to the third."""
    t = "float32" if a.dtype.name in ("float16", "bfloat16") else a.dtype.name

    def element(at: tuple[int, ...]) -> Any:
        r, c = at
        terms = [typed(x, t) * typed(y, t) for x, y in zip(a.cells[r], b.cells[:, c], strict=True)]
        return inexact_sum(terms if into is None else [*terms, typed(into.cells[at], t)])

    result = Tile.of((a.shape[0], b.shape[1]), element)
    if into is None:
        return mapped(Scalar(a.dtype.name))(result)
    into.cells = mapped(Scalar(into.dtype.name))(result).cells
    return None


def _filled(value: Any) -> Callable[..., Tile]:
    return lambda shape, dtype=FLOAT32, **_: Tile.of(shape, lambda at: _scalar(dtype)(value))


def _scalar(dtype: Any) -> Any:
    return dtype if hasattr(dtype, "leaves") else Scalar({"float": "float32", "int": "int32"}[dtype.__name__])


def _full(shape: Any, value: Any, dtype: Any = None, **_: Any) -> Tile:
    return Tile.of(shape, lambda at: _scalar(dtype)(value) if dtype is not None else typed(value, "float32"))


def _arange(*bounds: Any, dtype: Any = None) -> Tile:
    if all(isinstance(b, int) for b in bounds):
        numbers: Any = range(*bounds)
        return Tile.of(len(numbers), lambda at: _scalar(dtype or INT32)(numbers[at[0]]))
    start, stop, step = (0.0, *map(float, bounds), 1.0) if len(bounds) == 1 else (*map(float, bounds), 1.0)[:3]
    kind = _scalar(dtype or FLOAT32)
    return Tile.of(math.ceil((stop - start) / step), lambda at: kind(at[0]) * kind(step) + kind(start))


def _diagonal(tile: Tile, values: Tile) -> Tile:
    return Tile.of(tile.shape, lambda at: tile.cells[at] + values.cells[at[0]] if at[0] == at[1] else tile.cells[at])


def _assign(target: Tile, source: Tile, offset: Any = 0) -> None:
    first = _offsets(offset, source.ndim)
    target.cells[tuple(slice(f, f + n) for f, n in zip(first, source.shape, strict=True))] = source.cells


def _view(tile: Tile, offset: Any, shape: Any) -> Tile:
    return Tile(tile.cells[tuple(slice(f, f + n) for f, n in zip(_sizes(offset), _sizes(shape), strict=True))].copy())


def _broadcast(value: Any, shape: Any) -> Tile:
    return Tile(np.broadcast_to(_as_tile(value).cells, _sizes(shape)).copy())


class Lanes:
    """The threads of a block that have values of their own: they run in turns, each up to the next meeting."""

    def __init__(self, count: int) -> None:
        self.values: list[Any] = [None] * count
        self._turn = [threading.Semaphore(0) for _ in range(count)]
        self._problem: BaseException | None = None

    def run(self, body: Callable[[], None]) -> None:
        """Run the body once for each thread.

        Raises:
            BaseException: what the first of them raised.
        """
        run, first = Current.run, Current.run.thread * len(self._turn)

        def lane(k: int) -> None:
            self._enter(k, first)
            try:
                if not self._problem:
                    body()
            except BaseException as problem:
                self._problem = self._problem or problem
            if k + 1 < len(self._turn):
                self._turn[k + 1].release()

        threads = [threading.Thread(target=lane, args=(k,)) for k in range(len(self._turn))]
        run.lanes = self
        for thread in threads:
            thread.start()
        self._turn[0].release()
        for thread in threads:
            thread.join()
        run.lanes, run.lane = None, 0
        if self._problem:
            raise self._problem

    def _enter(self, k: int, first: int) -> None:
        self._turn[k].acquire()
        Current.run.lane, Current.run.thread, Current.run.inexact = k, first + k, False

    def meet(self, value: Any) -> Tile:
        """The values of all threads."""
        k, here, thread, inexact_ = Current.run.lane, self.values, Current.run.thread, Current.run.inexact
        here[k] = value
        count = len(here)
        if k + 1 == count:
            self.values = [None] * count
        self._turn[(k + 1) % count].release()
        self._enter(k, thread - k)
        Current.run.inexact = inexact_
        if self._problem:
            raise self._problem
        return Tile.of(count, lambda at: here[at[0]])


def tile(value: Any) -> Tile:
    """The values that the threads of the block have."""
    return Current.run.lanes.meet(value) if Current.run.lanes else Tile.of(1, lambda at: value)


NAMES: dict[str, Any] = {
    "tile_load": load, "tile_store": store, "tile_atomic_add": add, "tile_zeros": _filled(0), "tile_ones": _filled(1),
    "tile_full": _full, "tile_arange": _arange, "tile_sum": reduction(_total),
    "tile_min": reduction(_chain(smaller)), "tile_max": reduction(_chain(larger)),
    "tile_argmin": reduction(_first_of(smaller)), "tile_argmax": reduction(_first_of(larger)), "tile_reduce": reduce,
    "tile_scan": scan(_total), "tile_scan_inclusive": scan(_total), "tile_scan_exclusive": scan(_total, True),
    "tile_scan_max_inclusive": scan(_chain(larger)), "tile_scan_min_inclusive": scan(_chain(smaller)),
    "tile_matmul": matmul, "tile_transpose": lambda t: t.T, "tile_view": _view, "tile_broadcast": _broadcast,
    "tile_reshape": lambda t, shape: Tile(t.cells.reshape(_sizes(shape)).copy()),
    "tile_squeeze": lambda t, axis=None: Tile(t.cells.squeeze(axis).copy()), "tile_assign": _assign,
    "tile_diag_add": _diagonal,
    "tile_astype": lambda t, dtype: mapped(_scalar(dtype))(t), "tile_extract": lambda t, *at: t[at],
    "tile_map": lambda f, *values: mapped(f)(*values), "tile": tile,
    "untile": lambda t: t.cells[Current.run.lane].copy(), "mul": OPERATORS["mul"], "add": OPERATORS["add"],
    "block_dim": lambda: Current.run.block_dim,
}  # fmt: skip
