"""`warp.types`: the types, makers of types, and questions about them."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench import types
from workbench.compat.warp.kinds import matrix, number_type, quaternion, transformation, vector
from workbench.structs import Struct, StructArray, as_element
from workbench.tiles import Tile
from workbench.types import Kind, Matrix, Quaternion, Scalar, Transform, Vector

ARRAYS = (types.ArrayType, StructArray, wb.array)


def __getattr__(name: str) -> Any:
    """Return the object of this name in Workbench's `types`, else in `workbench`; or raise AttributeError."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(types, name, None) or getattr(wb, name)


def normal(spec: Any) -> Any:
    """Return the language's type that `spec` means; `spec` itself if it means none."""
    try:
        return as_element(spec)
    except TypeError:
        return spec


def type_size(dtype: Any) -> int:
    """Return the number of scalars in a value of the type; 1 of a type that is no vector or matrix."""
    kind = normal(dtype)
    return kind.length if isinstance(kind, Vector) else 1


def type_size_in_bytes(dtype: Any) -> int:
    """Return the number of bytes of a value of the type."""
    return normal(dtype).size


def types_equal(a: Any, b: Any, match_generic: bool = False) -> bool:
    """Return whether two types, or two lists of types, are the same.

    With `match_generic`, an open type such as `Any` equals each type that it accepts.
    """
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(types_equal(x, y, match_generic) for x, y in zip(a, b, strict=True))
    one, two = normal(a), normal(b)
    if match_generic and Any in (one, two):
        return True
    if match_generic and (hasattr(one, "accepts") or hasattr(two, "accepts")):
        return one == two or (one.accepts(two) if hasattr(one, "accepts") else two.accepts(one))
    return type(one) is type(two) and one == two


def _of_value(question: Any) -> Any:
    """Return a function that answers a question about types for the type of a value; False of an array."""

    def ask(value: Any) -> bool:
        if isinstance(value, (bool, int, float)):
            return question(type(value))
        kind = getattr(value, "type", None) or getattr(value, "__wb_struct__", None) or getattr(value, "dtype", None)
        return kind is not None and not isinstance(value, wb.array) and question(kind)

    return ask


_CLASSES: dict[str, Any] = {
    "scalar": Scalar, "matrix": Matrix, "quaternion": Quaternion, "transformation": Transform, "composite": Vector,
    "value": (Scalar, Vector), "struct": Struct,
}  # fmt: skip
QUESTIONS: dict[str, Any] = {
    **{name: (lambda t, kinds=kinds: isinstance(normal(t), kinds)) for name, kinds in _CLASSES.items()},
    "vector": lambda t: type(normal(t)) is Vector,
    "float": lambda t: getattr(normal(t), "kind", None) is Kind.FLOAT,
    "int": lambda t: getattr(normal(t), "kind", None) in (Kind.INT, Kind.UINT),
    "array": lambda t: isinstance(t, ARRAYS),
    "tile": lambda t: isinstance(t, Tile),
}
type_repr, matches_array_class = (lambda dtype: repr(normal(dtype))), isinstance
globals().update({f"type_is_{name}": question for name, question in QUESTIONS.items()})
globals().update({f"is_{name}": _of_value(question) for name, question in QUESTIONS.items()})
globals().update(is_array=lambda value: isinstance(value, wb.array), is_tile=lambda value: False, array=wb.array)
scalar_types = [number_type(t) for t in types.SCALARS.values() if t.kind is not Kind.BOOL]
float_types = [t for t in scalar_types if t.kind is Kind.FLOAT]
int_types = [t for t in scalar_types if t.kind is not Kind.FLOAT]
vector_types = [*types.VECTORS.values(), *types.MATRICES.values(), *types.QUATERNIONS.values()]
np_dtype_to_warp_type = {t.numpy: number_type(t) for t in types.SCALARS.values() if t.name != "bfloat16"}
__all__ = ["matrix", "quaternion", "transformation", "type_size", "types_equal", "vector"]
