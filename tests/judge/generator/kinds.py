"""The types that a program may use, as it writes them, and how two of them meet (the language guide's table)."""

from __future__ import annotations

from dataclasses import dataclass

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
HALVES = ("float16", "bfloat16")
FLOATS = ("float16", "bfloat16", "float32", "float64")
NUMBERS = (*INTEGERS, *FLOATS)
SCALARS = ("bool", *NUMBERS)
BITS = {name: int("".join(filter(str.isdigit, name)) or 1) for name in SCALARS}


@dataclass(frozen=True)
class Kind:
    """A type of the language.

    Attributes:
        name: how source text refers to it.
        form: "scalar", "vector", "matrix", "quaternion", "transform" or "struct".
        scalar: the type of its components; empty for a struct.
        shape: how many components a vector has, or rows and columns.
        fields: of a struct, names and kinds.
    """

    name: str
    form: str
    scalar: str
    shape: tuple[int, ...] = ()
    fields: tuple[tuple[str, Kind], ...] = ()

    @property
    def rows(self) -> Kind:
        """The kind of a matrix's row."""
        return vector(self.shape[1], self.scalar)


_SUFFIXES = {"float32": "", "float64": "d", "float16": "h", "int32": "i", "uint8": "ub", "int16": "s", "int64": "l"}


def scalar(name: str) -> Kind:
    """A scalar type."""
    return Kind(f"wb.{name}", "scalar", name)


def vector(length: int, element: str) -> Kind:
    """A vector type; a length above 4 has a name of the program's own (`ALIASES`)."""
    name = f"wb.vec{length}{_SUFFIXES[element]}" if length <= 4 else f"vec{length}_{element}"
    return Kind(name, "vector", element, (length,))


def matrix(rows: int, columns: int, element: str) -> Kind:
    """A matrix type of 2 to 4 rows and columns."""
    return Kind(f"wb.mat{rows}{columns}{_SUFFIXES[element]}", "matrix", element, (rows, columns))


QUATERNIONS = (Kind("wb.quat", "quaternion", "float32", (4,)), Kind("wb.quatd", "quaternion", "float64", (4,)))
TRANSFORMS = (Kind("wb.transform", "transform", "float32", (7,)), Kind("wb.transformd", "transform", "float64", (7,)))
VECTORS = (
    *(vector(n, e) for n in (2, 3, 4) for e in ("float32", "float64", "int32")),
    vector(3, "float16"), vector(3, "uint8"), vector(2, "int16"), vector(2, "int64"), vector(6, "float32"),
)  # fmt: skip
MATRICES = (
    matrix(2, 2, "float32"), matrix(3, 3, "float32"), matrix(2, 3, "float32"), matrix(3, 2, "float64"),
    matrix(4, 4, "float64"), matrix(2, 2, "float16"),
)  # fmt: skip
ALIASES = {k.name: f"{k.name} = wb.vector({k.shape[0]}, wb.{k.scalar})" for k in VECTORS if k.shape[0] > 4}
"""Definitions of the types that have no name in the library."""
COMPOSITES = (*VECTORS, *MATRICES, *QUATERNIONS, *TRANSFORMS)


def promote(a: str, b: str) -> str | None:
    """The type in which two scalars meet; None if the language refuses to mix them."""
    if a == b:
        return a
    if "bool" in (a, b):
        return b if a == "bool" else a
    floats = sorted({t for t in (a, b) if t in FLOATS}, key=lambda t: -BITS[t])
    if floats:
        return "float32" if len(floats) == 2 and BITS[floats[0]] == BITS[floats[1]] else floats[0]
    if (a in SIGNED) == (b in SIGNED):
        return a if BITS[a] > BITS[b] else b
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    bits = max(BITS[signed], 2 * BITS[unsigned])
    return f"int{bits}" if bits <= 64 else None


MEETINGS: dict[str, tuple[tuple[str, str], ...]] = {
    wanted: tuple((a, b) for a in NUMBERS for b in NUMBERS if promote(a, b) == wanted) for wanted in NUMBERS
}
"""For each type, the pairs of operands that meet in it."""
