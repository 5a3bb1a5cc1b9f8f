"""The type of a tile: a small array of fixed shape that a block of threads owns together (see `design/tiles.md`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeGuard

from workbench.host.narrow import is_tuple
from workbench.types import MAX_NDIM, Aggregate, Scalar, Type, Vector

MOST_ELEMENTS = 2**20
STORAGES = ("register", "shared", "thread")


@dataclass(frozen=True)
class Tile(Aggregate):
    """Represents the type of a tile: element type, shape (1 to 4 sizes, known at compile time) and storage.

    Attributes:
        storage: "register" (spread over the threads of the block), "shared", or "thread": of shape (block_dim,), one
            element a thread, which is what a per-thread value is. Not part of what is compared: it never changes a
            result, and a backend copies where two meet.
    """

    dtype: Scalar | Vector
    shape: tuple[int, ...]
    storage: str = field(default="register", compare=False)

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    @property
    def count(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes of all elements in memory."""
        return self.count * self.dtype.size

    def with_dtype(self, dtype: Scalar | Vector) -> Tile:
        """Return the type of a tile of the same shape with elements of this type."""
        return replace(self, dtype=dtype)

    def __repr__(self) -> str:
        where = "" if self.storage == "register" else f", {self.storage}"
        return f"tile[{self.dtype!r}, {shown(self.shape)}{where}]"


def shown(shape: tuple[int, ...]) -> str:
    """Return a shape as messages write it: `16×32`."""
    return "×".join(map(str, shape))


def is_tile(value: Any) -> TypeGuard[Any]:
    """Return whether an IR value is a tile."""
    return isinstance(getattr(value, "type", None), Tile)


def is_shape(shape: object) -> TypeGuard[tuple[int, ...]]:
    """Return whether a value is a tile's shape: 1 to 4 ints from 1 on, of up to `MOST_ELEMENTS` in all."""
    if not is_tuple(shape) or not 1 <= len(shape) <= MAX_NDIM:
        return False
    sizes = [n for n in shape if type(n) is int and n >= 1]
    return len(sizes) == len(shape) and prod(sizes) <= MOST_ELEMENTS


def contents(type: Type) -> Scalar | Vector:
    """Return the type of a tile's elements; a scalar or vector type itself."""
    dtype = type.dtype if isinstance(type, Tile) else type
    assert isinstance(dtype, (Scalar, Vector))
    return dtype
