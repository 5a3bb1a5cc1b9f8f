"""The fragments of mma.sync: which element each register of each lane holds (PTX ISA, "Matrix Fragments")."""

from __future__ import annotations

from functools import cached_property

import msgspec

LANES = 32


class Product(msgspec.Struct, frozen=True, dict=True):
    """A shape and types of `mma.sync`: D = A B + C.

    Attributes:
        m, n, k: A is m×k, B is k×n.
        a, b, c: PTX types of A, of B, and of C and D.
    """

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str

    @property
    def name(self) -> str:
        """The name of the library's function that computes it."""
        return f"wbe_mma_m{self.m}n{self.n}k{self.k}_{self.a}_{self.b}_{self.c}"

    @cached_property
    def a_places(self) -> list[int]:
        """The row-major index in A of each element of its fragment, ordered by register, lane, part of the register."""
        p = _parts(self.a)
        return [row * self.k + column for row, column in self._fragment(p, self.m, self.k)]

    @cached_property
    def b_places(self) -> list[int]:
        """The row-major index in B of each element of its fragment, ordered by register, lane, part."""
        p = _parts(self.b)
        return [row * self.n + column for column, row in self._fragment(p, self.n, self.k)]

    @cached_property
    def c_places(self) -> list[int]:
        """The row-major index in C and D of each element of their fragment, ordered by register, lane, part."""
        p = _parts(self.c)
        registers = self.m * self.n // LANES // p
        per = 2 // p  # registers of a pair of columns
        indices: list[int] = []
        for r in range(registers):
            for lane in range(LANES):
                for part in range(p):
                    row = lane // 4 + 8 * (r // per)
                    indices.append(row * self.n + lane % 4 * 2 + r % per + part)
        return indices

    def _fragment(self, p: int, rows: int, k: int) -> list[tuple[int, int]]:
        """Return the row (of B, the column) and the index along k of each element of a fragment of A or B.

        The elements are ordered by register, lane, part of the register; registers go down the rows by 8 first,
        then along k.

        Args:
            p: elements per register.
            rows: rows of A, or columns of B.
            k: columns of A, or rows of B.
        """
        down = rows // 8
        registers = rows * k // LANES // p
        elements: list[tuple[int, int]] = []
        for r in range(registers):
            for lane in range(LANES):
                for part in range(p):
                    row = lane // 4 + 8 * (r % down)
                    elements.append((row, lane % 4 * p + part + 4 * p * (r // down)))
        return elements


class Fragments(Product, frozen=True, dict=True):
    """A shape and types of `wmma.mma.sync`, D = A B + C, with fragments in the row-major order of the matrix.

    The fragments of f16 matrices A and B fill 8 registers, so some elements are there several times.
    """

    @property
    def name(self) -> str:
        """The name of the library's function that computes it."""
        return f"wbe_w{Product.name.fget(self)[4:]}"  # type: ignore[attr-defined]

    @cached_property
    def a_places(self) -> list[int]:
        """The row-major index in A of each element of its fragment, ordered by register, lane, part."""
        return self._in_order(self.m * self.k, 512 if self.a == "f16" else 0)

    @cached_property
    def b_places(self) -> list[int]:
        """The row-major index in B of each element of its fragment, ordered by register, lane, part."""
        return self._in_order(self.k * self.n, 512 if self.b == "f16" else 0)

    @cached_property
    def c_places(self) -> list[int]:
        """The row-major index in C and D of each element of their fragment, ordered by register, lane, part."""
        return self._in_order(self.m * self.n, 0)

    @staticmethod
    def _in_order(size: int, held: int) -> list[int]:
        """Return the indices 0 to `size` - 1 in order, repeated up to `held` elements if the fragment holds more."""
        return [n % size for n in range(max(size, held))]


def _parts(type: str) -> int:
    """Return how many elements of a PTX type share one register of a fragment."""
    return {"f16": 2, "bf16": 2, "s8": 4, "u8": 4}.get(type, 1)


_HALVES = [Product(16, 8, k, t, t, "f32") for k in (8, 16) for t in ("f16", "bf16")]
_BYTES = [Product(16, 8, k, a, b, "s32") for k in (16, 32) for a in ("s8", "u8") for b in ("s8", "u8")]
_TILES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
PRODUCTS: dict[str, Product] = {
    p.name: p
    for p in (
        *(Fragments(*tile, "f16", "f16", c) for tile in _TILES for c in ("f16", "f32")),
        *(Fragments(*tile, "bf16", "bf16", "f32") for tile in _TILES),
        *(Fragments(*tile, t, t, "s32") for tile in _TILES for t in ("s8", "u8")),
        Fragments(16, 16, 8, "tf32", "tf32", "f32"),
        Fragments(8, 8, 4, "f64", "f64", "f64"),
        *_HALVES,
        *(Product(16, 8, k, "f16", "f16", "f16") for k in (8, 16)),
        *(Product(16, 8, k, "tf32", "tf32", "f32") for k in (4, 8)),
        *_BYTES,
        Product(8, 8, 4, "f64", "f64", "f64"),
        *(Product(16, 8, k, "f64", "f64", "f64") for k in (4, 8, 16)),
    )
}
"""All forms that can be executed, by the name of the library's function."""
