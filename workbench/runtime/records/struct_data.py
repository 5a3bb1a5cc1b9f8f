"""Element types as JSON values and back: those of the IR, and structs, which the IR does not know.

A struct's layout follows from its fields, so names and types are all that is written, and all that has to be believed.
"""

from __future__ import annotations

from typing import Any

from workbench.ir.data import read_type, type_data
from workbench.ir.json_values import Malformed
from workbench.structs import Struct
from workbench.types import Scalar, Vector, element

MOST_FIELDS, MOST_DEPTH = 1000, 16


def element_data(dtype: Scalar | Vector | Struct) -> Any:
    """Return an element type as JSON values.

    Raises:
        Unwritable: it cannot be represented.
    """
    if not isinstance(dtype, Struct):
        return type_data(dtype)
    return ["struct", dtype.name, [[f.name, element_data(f.type)] for f in dtype.fields]]  # type: ignore[arg-type]


def read_element(data: Any, depth: int = 0) -> Scalar | Vector | Struct:
    """Return the element type that `element_data` wrote; `depth` counts the structs around it.

    Raises:
        Malformed: the data is none.
    """
    match data:
        case ["struct", str() as name, [*fields]] if name.isidentifier() and depth < MOST_DEPTH:
            if not 1 <= len(fields) <= MOST_FIELDS:
                raise Malformed(f"the struct {name[:80]} with {len(fields)} fields")
            named = [_field(field, depth) for field in fields]
            if len({label for label, _ in named}) < len(named):
                raise Malformed(f"the struct {name[:80]} with a field twice")
            return Struct.of(name, named)  # type: ignore[arg-type]
        case _:
            pass
    type_ = read_type(data)
    if not isinstance(type_, (Scalar, Vector)):
        raise Malformed("an array of arrays")
    return type_


def _field(data: Any, depth: int) -> tuple[str, Scalar | Vector | Struct]:
    """Return a struct field's name and type; raise `Malformed` for anything else. `depth` is that of nested structs."""
    match data:
        case [str() as label, form] if label.isidentifier() and not label.startswith("__"):
            return label, read_element(form, depth + 1)
        case _:
            raise Malformed("a struct with an improper field")


def element_alignment(dtype: Scalar | Vector | Struct) -> int:
    """Return the number of bytes that an element's address must be a multiple of."""
    return dtype.alignment if isinstance(dtype, Struct) else element(dtype).size
