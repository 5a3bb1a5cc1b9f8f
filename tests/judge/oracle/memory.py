"""Arrays of the oracle: elements as cells of numbers, views of them, and who touched which element how."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.judge.oracle.composites import Composite, Scalar, Struct, StructType, Whole
from tests.judge.oracle.numbers import Number
from tests.judge.oracle.run import Current
from tests.judge.oracle.types import INTEGERS, STORED, OutOfRange, is_float

COMMUTING = ({"add", "sub"}, {"min"}, {"max"}, {"and"}, {"or"}, {"xor"}, {"mul"})
"""Operators that several threads may apply to one element in any order."""


@dataclass
class Touched:
    """What threads did with one element."""

    readers: Counter[int] = field(default_factory=Counter)
    writers: set[int] = field(default_factory=set)
    atomics: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    @property
    def racy(self) -> bool:
        """Whether the order of threads matters."""
        readers = {t for t, count in self.readers.items() if count > 0}
        changing = set().union(*self.atomics.values())
        if len(self.writers) > 1 or (self.writers and (readers | changing) - self.writers):
            return True
        if len(changing) < 2:
            return bool(changing and readers - changing)
        return bool(readers) or not any(set(self.atomics) <= kinds for kinds in COMMUTING)

    @property
    def changing(self) -> set[int]:
        """The threads that write or change it."""
        return self.writers.union(*self.atomics.values())

    @property
    def shared(self) -> bool:
        """Whether several threads change it, each atomically."""
        return len(set().union(*self.atomics.values())) > 1


class Memory:
    """The cells behind an array and its views: one number per component or field of each element."""

    def __init__(self, values: np.ndarray[Any, Any], type: Any) -> None:
        self.type = type
        self.leaves: tuple[str, ...] = type.leaves
        axes = len(dtype_of(type).shape)
        self.shape = values.shape[: values.ndim - axes]
        columns = [_column(c, t) for c, t in zip(_spread(values, type), self.leaves, strict=True)]
        self.cells: list[Number] = [
            Number(v, t) for row in zip(*columns, strict=True) for v, t in zip(row, self.leaves, strict=True)
        ]
        self.touched: defaultdict[int, Touched] = defaultdict(Touched)

    def read(self, at: int, element: int) -> Number:
        """One cell, as a number that may be changed in place."""
        result = self.cells[at].copy()
        result.home = (self, at, element)
        return result

    def load(self, type: Any, at: int, element: int) -> Any:
        """An element or a part of it."""
        if isinstance(type, Scalar):
            return self.read(at, element)
        parts = self.cells[at : at + len(type.leaves)]
        if isinstance(type, StructType):
            return Struct(type, type.build(parts)._values, (self, at, element))
        return Whole(type, list(parts), (self, at, element))

    def write(self, at: list[int], values: list[Number], element: int, change: Any = None) -> None:
        """Store numbers, and note who did."""
        touched, thread = self.touched[element], Current.run.thread
        if change is not None and change[0][0] is self and change[0][2] == element:
            touched.readers[thread] -= 1
            touched.atomics[change[1]].add(thread)
        else:
            touched.writers.add(thread)
        for k, value in zip(at, values, strict=True):
            stored = value.to(self.leaves[k % len(self.leaves)])
            stored.q |= Current.run.inexact
            self.cells[k] = stored

    def values(self) -> np.ndarray[Any, Any]:
        """The elements as NumPy holds them."""
        result = np.zeros(self.shape, dtype_of(self.type))
        for k, column in enumerate(_spread(result, self.type)):
            flat = [c.v for c in self.cells[k :: len(self.leaves)]]
            column[...] = np.array(flat, column.dtype).reshape(column.shape)
        return result


def dtype_of(type: Any) -> np.dtype[Any]:
    """The NumPy type of an element."""
    if isinstance(type, StructType):
        return np.dtype([(name, dtype_of(part)) for name, part in type.fields.items()], align=True)
    if isinstance(type, Composite):
        return np.dtype((STORED[type.scalar], type.shape))
    return STORED[type.name]


def _spread(values: np.ndarray[Any, Any], type: Any) -> list[np.ndarray[Any, Any]]:
    """One view per cell of an element. Axes of vectors and matrices are the last ones."""
    if isinstance(type, StructType):
        return [c for name, part in type.fields.items() for c in _spread(values[name], part)]
    if isinstance(type, Composite):
        shape = type.shape if type.form == "matrix" else (len(type.leaves),)
        return [values[(..., *index)] for index in np.ndindex(*shape)]
    return [values]


def spread(values: np.ndarray[Any, Any], type: Any) -> np.ndarray[Any, Any]:
    """The cells of all elements as a list, in the order of `Memory.cells`, in Python's numbers."""
    columns = [_column(c, t) for c, t in zip(_spread(values, type), type.leaves, strict=True)]
    return np.array([v for row in zip(*columns, strict=True) for v in row], object)


def _column(values: np.ndarray[Any, Any], t: str) -> list[Any]:
    flat = values.reshape(-1)
    if t == "bool":
        return [bool(v) for v in flat]
    if t in INTEGERS:
        return [int(v) for v in flat]
    return list(flat.astype(np.float64 if t == "float64" else np.float32))


class Array:
    """An array or a view of one: the numbers of its elements."""

    def __init__(self, memory: Memory, elements: np.ndarray[Any, Any]) -> None:
        self.memory, self.elements = memory, elements

    @property
    def shape(self) -> tuple[Number, ...]:
        return tuple(Number(n, "int32") for n in self.elements.shape)

    @property
    def ndim(self) -> int:
        return self.elements.ndim

    @property
    def size(self) -> Number:
        return Number(self.elements.size, "int32")

    @property
    def dtype(self) -> Any:
        return self.memory.type

    def copy(self) -> Array:
        return self

    def _key(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        return tuple(self._part(p) for p in parts)

    def _part(self, part: Any) -> Any:
        if part is Ellipsis or part is None:
            return part
        if isinstance(part, slice):
            return slice(*(None if p is None else p.__index__() for p in (part.start, part.stop, part.step)))
        return part.__index__()

    def _at(self, key: Any) -> Any:
        try:
            return self.elements[self._key(key)]
        except IndexError as problem:
            raise OutOfRange(str(problem)) from None

    def __getitem__(self, key: Any) -> Any:
        at = self._at(key)
        if isinstance(at, np.ndarray):
            return Array(self.memory, at)
        element = int(at)
        self.memory.touched[element].readers[Current.run.thread] += 1
        return self.memory.load(self.memory.type, element * len(self.memory.leaves), element)

    def __setitem__(self, key: Any, value: Any) -> None:
        at = self._at(key)
        if isinstance(at, np.ndarray):
            raise TypeError("a view is not assigned")
        self.store(int(at), value, getattr(value, "change", None))

    def store(self, element: int, value: Any, change: Any = None) -> None:
        """Assign an element."""
        type, count = self.memory.type, len(self.memory.leaves)
        if isinstance(type, Composite) and not isinstance(value, Whole):
            value = type(value)
        self.memory.write(list(range(element * count, (element + 1) * count)), type.parts(value), element, change)

    def __iter__(self) -> Iterator[Any]:
        for k in range(len(self.elements)):
            yield self[k]

    def __len__(self) -> int:
        return len(self.elements)


def atomic(name: str, combine: Any) -> Any:
    """An atomic function; it returns the old value, unless the program drops it."""

    def call(array: Array, *rest: Any, dropped: bool = False) -> Any:
        count = array.ndim
        if isinstance(rest[0], tuple):
            rest = (*rest[0], *rest[1:])
        index, values = rest[:count], rest[count:]
        element = int(array._at(tuple(index)))
        memory, type = array.memory, array.memory.type
        memory.touched[element].readers[Current.run.thread] += 1
        old = memory.load(type, element * len(memory.leaves), element)
        new = combine(old, *(type.convert(v) if isinstance(type, (Scalar, Composite)) else v for v in values))
        array.store(element, new, (((memory, 0, element), name)))
        if not dropped:
            memory.touched[element].readers[Current.run.thread] += 1
        return old.copy()

    return call


def float_cells(memory: Memory) -> list[int]:
    """The cells that have derivatives."""
    return [k for k in range(len(memory.cells)) if is_float(memory.leaves[k % len(memory.leaves)])]
