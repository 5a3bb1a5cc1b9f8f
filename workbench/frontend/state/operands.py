"""The forms of an expression while it is lowered: an IR value, a literal without a type, a tuple, or a Python object.

Literals stay weak until they meet a typed value, so `2 * x[i]` has the type of `x[i]` and `s = 0` before a loop takes
the type that the loop gives to `s`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from workbench.errors import KernelTypeError
from workbench.ir.values import Value, array_of
from workbench.limits import LITERAL_BITS
from workbench.structs import Struct, StructArray
from workbench.types import ArrayType


class Literal(msgspec.Struct, frozen=True, gc=False):
    """A number of Python without a type yet; `captured` is its name in the user's namespace if it came from there."""

    value: Any
    captured: str | None = None

    def __post_init__(self) -> None:
        """Raise KernelTypeError for an int of more than `LITERAL_BITS` bits."""
        if isinstance(self.value, int) and self.value.bit_length() > LITERAL_BITS:
            raise too_large()

    @property
    def is_float(self) -> bool:
        """True if the literal was written as a float or as a complex number, False if as an integer."""
        return isinstance(self.value, (float, complex))

    @property
    def is_complex(self) -> bool:
        """True if the literal is a complex number."""
        return isinstance(self.value, complex)


def too_large() -> KernelTypeError:
    """Return the error for an integer literal of more than `LITERAL_BITS` bits."""
    return KernelTypeError(f"An integer of more than {LITERAL_BITS} bits is too large for a kernel.")


class Static(msgspec.Struct, frozen=True):
    """A Python object known at compile time: a builtin, a type, a func, a module; `path` is how the user wrote it."""

    value: Any
    path: str


class Pending:
    """A placeholder for a value that nothing reads: it joins with a value of any type, and is a 0 in the IR."""


PENDING = Pending()


class Unset(msgspec.Struct, frozen=True):
    """A name that has no value on some path; reading it is an error with this reason.

    Attributes:
        value: what it is on the paths that have set it, where a loop hands that on (see `state/paths.py`).
        bound_if: a flag: where that is set, the name is `value`.
    """

    reason: str
    value: Operand = PENDING
    bound_if: str | None = None


class Axis(msgspec.Struct, frozen=True):
    """A dimension of a view: element k is the array's `start + k * step` (int64); `length` is None for all of it.

    With a `table`, an array of indices, these say which of its elements there are, and those are the array's indices.
    """

    start: Value | None = None
    step: int = 1
    length: Value | None = None
    table: Value | None = None


class View(msgspec.Struct, frozen=True):
    """A part of an array, `a[i]` or `a[1:n, ::2]`: for each of the array's dimensions an index, or what is left of it.

    Attributes:
        array: what it is a part of.
        subscripts: one for each dimension of the array.
        name: what the user calls it.
    """

    array: Value
    subscripts: tuple[Value | Axis, ...]
    name: str = ""

    @property
    def type(self) -> ArrayType:
        """The type that an array with the view's dimensions and elements has."""
        type = array_of(self.array)
        return ArrayType(type.dtype, self.ndim, wide=type.wide)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len([p for p in self.subscripts if isinstance(p, Axis)])


class Bundle(msgspec.Struct, frozen=True, eq=False):
    """A struct: one operand for each field of its type."""

    type: Struct
    fields: tuple[Operand, ...]


class Row(msgspec.Struct, frozen=True):
    """The form of a tuple whose elements have names of their own, `p.0e`."""

    count: int

    def __repr__(self) -> str:
        """Return the form in words for a message: "a tuple of 3"."""
        return f"a tuple of {self.count}"


class Window(msgspec.Struct, frozen=True):
    """The form of a part of an array whose indices, starts and lengths have names of their own, `v.0i`.

    Attributes:
        array: what it is a part of.
        axes: for each dimension of the array None where it has an index, else an `Axis` without values, and whether it
            has a length.
        name: what the user calls it.
    """

    array: Value
    axes: tuple[tuple[Axis, bool] | None, ...]
    name: str

    def __repr__(self) -> str:
        """Return the form in words for a message: "a part of x"."""
        return f"a part of {self.array.name}"


class Parts(msgspec.Struct, frozen=True):
    """Stands for a value composed of others, and holds its type alone.

    Each part is a value under a name of its own, as a struct's field is under `p.x`.
    """

    type: Struct | Row | Window


class Elements(msgspec.Struct, frozen=True, eq=False):
    """An array of structs, or of one nested struct of each: for each field an array, or `Elements`.

    Attributes:
        type: of the array.
        name: as messages call it.
        fields: by position; arrays of the kernel's parameters.
        subscripts: what of the arrays is left, as in a `View`; None for all of it.
    """

    type: StructArray
    name: str
    fields: tuple[Value | Elements, ...]
    subscripts: tuple[Value | Axis, ...] | None = None


class Element(msgspec.Struct, frozen=True, eq=False):
    """An element of an array of structs that is not loaded yet: a field of it may be all that is needed."""

    array: Elements
    indices: tuple[Value, ...]


def counted(count: int, what: str = "argument") -> str:
    """Return a count for a message: 1 argument, 2 arguments."""
    return f"{count} {what}{'s' * (count != 1)}"


class Poison:
    """The value of an expression that was already reported: using it adds no further error."""


POISON = Poison()


Struct_: TypeAlias = "Bundle | Parts | Elements | Element"
Operand: TypeAlias = "Value | Literal | Static | View | tuple[Operand, ...] | Struct_ | Unset | Poison | Pending"


def value_of(operand: Operand) -> Value:
    """Return an operand that is known to be a value."""
    assert isinstance(operand, Value)
    return operand


def literal_of(operand: Operand) -> Literal:
    """Return an operand that is known to be a literal."""
    assert isinstance(operand, Literal)
    return operand


class AlreadyReported(Exception):
    """Raised when a poisoned value is used: unwinds to the statement, reports nothing."""
